//! Systems and parameters that leave the world as it is.
//!
//! What a system uses is known when it is initialized, and that is what schedules go by. The traits say the same to the
//! compiler, for code that takes only systems that read. What a parameter keeps for itself (`Local`) or for later
//! (`Commands`) does not count, as in bevy.

use std::marker::PhantomData;

use phalanx_store::{Entities, Tick};

use super::combine::{Map, Pipe, WithInput};
use super::failed::ParamError;
use super::function::{FunctionSystem, SystemParamFunction};
use super::input::{SystemIn, SystemInput};
use super::param::{
    Deferred, FilteredResources, If, Index, Local, MessageReader, NonSendMarker, OrderedIndex,
    ParallelCommands, ParamSet, ParamTuple, Populated, PopulatedMessageReader, RemovedComponents, Res,
    Single, StaticSystemParam, SystemBuffer, SystemChangeTick, SystemName, SystemParam,
};
use super::traits::System;
use super::tuples::for_each_params;
use crate::archetype::Archetypes;
use crate::component::{AnyComponent, Component};
use crate::messages::{Message, Messages};
use crate::query::{Query, QueryFilter, ReadOnlyQueryData};
use crate::registry::Components;
use crate::resources::Resource;
use crate::world::{Commands, FromWorld, NonSend, World};

/// A parameter that writes nothing in the world while its system runs. `#[derive(SystemParam)]` makes a struct one whose
/// fields are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter that only reads",
    label = "may write",
    note = "parameters that only read are `Query` over data without `&mut`, `Res`, `Local`, `MessageReader`, `Commands`, `&World`, and `Option`s, tuples and `#[derive(SystemParam)]` structs of them"
)]
pub trait ReadOnlySystemParam: SystemParam {}

/// A system that writes nothing in the world while it runs: all of its parameters are [`ReadOnlySystemParam`]s.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// fn ask<S: ReadOnlySystem<In = (), Out = u32>>(world: &mut World, mut system: S) -> u32 {
///     system.initialize(world).unwrap();
///     system.run_readonly((), world).unwrap()
/// }
///
/// let mut world = World::new();
/// world.spawn_batch([Health(1), Health(2)]);
/// let sum = |healths: Query<&Health>| healths.iter().map(|health| health.0).sum();
/// assert_eq!(ask(&mut world, IntoSystem::into_system(sum)), 3);
/// ```
pub trait ReadOnlySystem: System {
    /// Runs on a world that others may read meanwhile. What it recorded waits for [`System::apply`]; what was written
    /// since the world's tick last advanced counts as changed in the next run, too.
    ///
    /// # Errors
    /// When a parameter cannot be had; then the system did nothing.
    ///
    /// # Panics
    /// When the system is not initialized, or does itself.
    fn run_readonly(&mut self, input: SystemIn<'_, Self>, world: &World) -> Result<Self::Out, ParamError> {
        self.update(world);
        // The tick cannot be advanced here: writes that come later may carry it, and must not be missed.
        let now = Tick::new(world.read_change_tick().get().saturating_sub(1));
        self.run(input, &world.share_read(), now)
    }
}

impl<Marker: 'static, F> ReadOnlySystem for FunctionSystem<Marker, F> where
    F: SystemParamFunction<Marker, Param: ReadOnlySystemParam>
{
}
impl<A: ReadOnlySystem, B: ReadOnlySystem> ReadOnlySystem for Pipe<A, B> where
    for<'i> B::In: SystemInput<Inner<'i> = A::Out>
{
}
impl<S: ReadOnlySystem, T, F: FnMut(S::Out) -> T + Send + 'static> ReadOnlySystem for Map<S, F> {}
impl<S: ReadOnlySystem, T: Send + 'static> ReadOnlySystem for WithInput<S, T> where
    for<'i> S::In: SystemInput<Inner<'i> = &'i mut T>
{
}

impl<D: ReadOnlyQueryData, F: QueryFilter> ReadOnlySystemParam for Query<'_, '_, D, F> {}
impl<D, F> ReadOnlySystemParam for Single<'_, '_, D, F>
where
    D: ReadOnlyQueryData + 'static,
    F: QueryFilter + 'static,
{
}
impl<D, F> ReadOnlySystemParam for Populated<'_, '_, D, F>
where
    D: ReadOnlyQueryData + 'static,
    F: QueryFilter + 'static,
{
}
impl<R: Resource> ReadOnlySystemParam for Res<'_, R> {}
impl<M: Message> ReadOnlySystemParam for Res<'_, Messages<M>> {}
impl<M: Message> ReadOnlySystemParam for MessageReader<'_, '_, M> {}
impl<M: Message> ReadOnlySystemParam for PopulatedMessageReader<'_, '_, M> {}
impl<T: AnyComponent> ReadOnlySystemParam for RemovedComponents<'_, '_, T> {}
impl<T: FromWorld + Send + 'static> ReadOnlySystemParam for Local<'_, T> {}
impl<B: SystemBuffer> ReadOnlySystemParam for Deferred<'_, B> {}
impl<R: 'static> ReadOnlySystemParam for NonSend<'_, R> {}
impl<P: ReadOnlySystemParam> ReadOnlySystemParam for Option<P> {}
impl<P: ReadOnlySystemParam> ReadOnlySystemParam for Result<P, ParamError> {}
impl<P: ReadOnlySystemParam> ReadOnlySystemParam for If<P> {}
impl<P: ReadOnlySystemParam> ReadOnlySystemParam for Vec<P> {}
impl<T: ParamTuple + ReadOnlySystemParam> ReadOnlySystemParam for ParamSet<'_, '_, T> where Self: SystemParam {}
impl<C: Component> ReadOnlySystemParam for Index<'_, C> where Self: SystemParam {}
impl<C: Component> ReadOnlySystemParam for OrderedIndex<'_, C> where Self: SystemParam {}
impl<T: ?Sized> ReadOnlySystemParam for PhantomData<T> {}
impl<P: ReadOnlySystemParam + 'static> ReadOnlySystemParam for StaticSystemParam<'_, '_, P> {}
impl ReadOnlySystemParam for NonSendMarker {}
impl ReadOnlySystemParam for SystemName {}
impl ReadOnlySystemParam for SystemChangeTick {}
impl ReadOnlySystemParam for Commands<'_, '_> {}
impl ReadOnlySystemParam for ParallelCommands<'_, '_> {}
impl ReadOnlySystemParam for FilteredResources<'_, '_> {}
impl ReadOnlySystemParam for &World {}
impl ReadOnlySystemParam for &Archetypes {}
impl ReadOnlySystemParam for &Components {}
impl ReadOnlySystemParam for &Entities {}

macro_rules! read_only_tuple {
    ($(($name:ident $at:tt))*) => {
        impl<$($name: ReadOnlySystemParam),*> ReadOnlySystemParam for ($($name,)*) {}
    };
}
for_each_params!(read_only_tuple);
