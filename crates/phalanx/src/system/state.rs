//! Parameters outside of a system, and systems whose parameters are built by hand.
//!
//! A [`SystemState`] keeps what parameters keep between runs and lends them to a closure. A [`SystemParamBuilder`] makes
//! that state where a parameter needs more than its type says: the first value of a `Local`, the length of a list.

use phalanx_store::Tick;

use super::failed::ParamError;
use super::function::{FunctionSystem, SystemParamFunction};
use super::meta::{Run, SystemMeta};
use super::param::{Local, SystemParam};
use super::traits::Mode;
use crate::world::World;

/// The state of parameters, to be used without a system.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
/// #[derive(Resource)]
/// struct Total(u32);
///
/// let mut world = World::new();
/// world.insert_resource(Total(0));
/// world.spawn_batch([Health(1), Health(2)]);
/// let mut state = SystemState::<(Query<&Health>, ResMut<Total>)>::new(&mut world);
/// let sum = state.get_mut(&mut world, |(healths, mut total)| {
///     total.0 = healths.iter().map(|health| health.0).sum();
///     total.0
/// });
/// assert_eq!(sum.unwrap(), 3);
/// ```
pub struct SystemState<P: SystemParam> {
    state: P::State,
    meta: SystemMeta,
    world: u64,
    last_run: Tick,
}

impl<P: SystemParam> SystemState<P> {
    /// The state of parameters for a world.
    ///
    /// # Panics
    /// When two of the parameters conflict; both are named.
    #[track_caller]
    pub fn new(world: &mut World) -> Self {
        Self::built(world, P::init)
    }

    #[track_caller]
    fn built(world: &mut World, init: impl FnOnce(&mut World, &mut SystemMeta) -> P::State) -> Self {
        let mut meta = SystemMeta::new("SystemState".to_owned());
        let state = init(world, &mut meta);
        if let Some(conflict) = meta.checked() {
            panic!("{conflict}");
        }
        Self { state, meta, world: world.id(), last_run: Tick::ZERO }
    }

    /// What the parameters use.
    pub fn meta(&self) -> &SystemMeta {
        &self.meta
    }

    /// Lends the parameters to a function, and applies what they recorded when it returns.
    ///
    /// # Errors
    /// When one of them cannot be had; the function is not called then.
    ///
    /// # Panics
    /// When the state was made for another world.
    #[track_caller]
    pub fn get_mut<R>(
        &mut self,
        world: &mut World,
        f: impl FnOnce(P::Item<'_>) -> R,
    ) -> Result<R, ParamError> {
        let out = self.lend(world, f);
        self.apply(world);
        world.flush();
        out
    }

    /// As [`SystemState::get_mut`]; what was recorded waits for [`SystemState::apply`].
    ///
    /// # Errors
    /// When one of them cannot be had; the function is not called then.
    ///
    /// # Panics
    /// When the state was made for another world.
    #[track_caller]
    pub fn lend<R>(&mut self, world: &mut World, f: impl FnOnce(P::Item<'_>) -> R) -> Result<R, ParamError> {
        assert!(
            self.world == world.id(),
            "this `SystemState` was made for another world: make one with `SystemState::new(&mut world)`"
        );
        P::update(&mut self.state, world);
        let now = world.store.advance_tick();
        let out = {
            let session = match Mode::of(self.meta.access()) {
                Mode::Reading => world.share_read(),
                _ => world.share(),
            };
            let run = Run { name: self.meta.name(), now, since: self.last_run };
            let mut guard = P::lock(&self.state, &session, run);
            match P::check(&mut guard) {
                Ok(()) => Ok(f(P::item(&mut guard))),
                Err(error) => Err(error),
            }
        };
        world.store.advance_tick();
        self.last_run = now;
        out
    }

    /// Hands what was recorded to the world, which applies it at its next flush.
    pub fn apply(&mut self, world: &mut World) {
        P::apply(&mut self.state, world);
    }

    /// A system with these parameters, in this state.
    pub fn build_system<Marker, F>(self, function: F) -> FunctionSystem<Marker, F>
    where
        Marker: 'static,
        F: SystemParamFunction<Marker, Param = P>,
    {
        FunctionSystem::with_state(function, self.state, self.meta)
    }
}

/// Something that makes the state of a parameter.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn count(mut runs: Local<u32>) -> u32 {
///     *runs += 1;
///     *runs
/// }
///
/// let mut world = World::new();
/// let system = (LocalBuilder(10),).build_state(&mut world).build_system(count);
/// assert_eq!(world.run_system_once(system).unwrap(), 11);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot build the parameter `{P}`",
    note = "`ParamBuilder` builds any parameter, `LocalBuilder(value)` a `Local`, a tuple of builders a tuple, and a `Vec` of builders a `Vec`"
)]
pub trait SystemParamBuilder<P: SystemParam>: Sized {
    /// Makes the state, and declares what the parameter uses.
    fn build(self, world: &mut World, meta: &mut SystemMeta) -> P::State;

    /// The state of the parameter alone, from which systems are made.
    ///
    /// # Panics
    /// When two of its parts conflict.
    #[track_caller]
    fn build_state(self, world: &mut World) -> SystemState<P> {
        SystemState::built(world, |world, meta| self.build(world, meta))
    }
}

/// Builds any parameter as it is built without a builder.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParamBuilder;

impl<P: SystemParam> SystemParamBuilder<P> for ParamBuilder {
    fn build(self, world: &mut World, meta: &mut SystemMeta) -> P::State {
        P::init(world, meta)
    }
}

/// Builds a `Local` with this first value.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalBuilder<T>(pub T);

impl<'s, T: crate::world::FromWorld + Send + 'static> SystemParamBuilder<Local<'s, T>> for LocalBuilder<T> {
    fn build(self, _: &mut World, _: &mut SystemMeta) -> <Local<'s, T> as SystemParam>::State {
        self.0.into()
    }
}

impl<P: SystemParam, B: SystemParamBuilder<P>> SystemParamBuilder<Vec<P>> for Vec<B> {
    fn build(self, world: &mut World, meta: &mut SystemMeta) -> Vec<P::State> {
        self.into_iter().map(|builder| builder.build(world, meta)).collect()
    }
}

/// A tuple of builders, with the parameters that they build.
macro_rules! builder_tuple {
    ($(($param:ident $builder:ident $at:tt))*) => {
        impl<$($param: SystemParam, $builder: SystemParamBuilder<$param>),*>
            SystemParamBuilder<($($param,)*)> for ($($builder,)*)
        {
            fn build(self, world: &mut World, meta: &mut SystemMeta) -> ($($param::State,)*) {
                ($(self.$at.build(world, meta),)*)
            }
        }
    };
}
builder_tuple!((P0 B0 0));
builder_tuple!((P0 B0 0)(P1 B1 1));
builder_tuple!((P0 B0 0)(P1 B1 1)(P2 B2 2));
builder_tuple!((P0 B0 0)(P1 B1 1)(P2 B2 2)(P3 B3 3));
builder_tuple!((P0 B0 0)(P1 B1 1)(P2 B2 2)(P3 B3 3)(P4 B4 4));
builder_tuple!((P0 B0 0)(P1 B1 1)(P2 B2 2)(P3 B3 3)(P4 B4 4)(P5 B5 5));
builder_tuple!((P0 B0 0)(P1 B1 1)(P2 B2 2)(P3 B3 3)(P4 B4 4)(P5 B5 5)(P6 B6 6));
builder_tuple!((P0 B0 0)(P1 B1 1)(P2 B2 2)(P3 B3 3)(P4 B4 4)(P5 B5 5)(P6 B6 6)(P7 B7 7));
