//! System parameters: what a function may ask for.
//!
//! A parameter has a state that lives with the system, a guard that holds its flags during one run, and an item,
//! which borrows the guard: whatever a function gets ends before the flag is given back. The state is lent
//! shared, so that a guard can be dropped and taken again (`ParamSet`); what changes in it is in cells.
//!
//! Parameters know the session, not the schedule.

pub use about::{SystemChangeTick, SystemName};
pub use cascade::Cascade;
pub use deferred::{Deferred, SystemBuffer};
pub use filtered_resources::{
    FilteredResources, FilteredResourcesBuilder, FilteredResourcesMut, FilteredResourcesMutBuilder,
    FilteredResourcesMutParamBuilder, FilteredResourcesParamBuilder, ResourceFetchError,
};
pub use generic::StaticSystemParam;
pub use index::{Index, OrderedIndex};
pub use local::Local;
pub use message::{MessageReader, MessageWriter};
pub use mutator::{MessageMutator, PopulatedMessageReader};
pub use non_send::NonSendMarker;
pub use optional::If;
pub use parallel_commands::ParallelCommands;
pub use reactive::Reactive;
pub use removed::{RemovalId, RemovedComponents};
pub use resource::{Res, ResMut};
pub use set::{ParamSet, ParamTuple};
pub use single::{Populated, Single};

use super::failed::ParamError;
use super::kept::StateVisitor;
use super::meta::{Run, SystemMeta};
use super::tuples::for_each_params;
use crate::world::{SharedWorld, World};

mod about;
mod cascade;
mod channel;
mod commands;
mod deferred;
mod filtered_resources;
mod generic;
mod index;
mod list;
mod local;
mod message;
mod mutator;
mod non_send;
mod optional;
mod parallel_commands;
mod query;
mod reactive;
mod removed;
mod resource;
mod set;
mod single;
mod structure;
mod whole;

/// Something that a system can have as a parameter.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(f32);
/// # #[derive(Resource, Default)] struct Score(u32);
/// #[derive(SystemParam)]
/// struct Scoring<'w, 's> {
///     score: ResMut<'w, Score>,
///     healths: Query<'w, 's, &'static Health>,
/// }
///
/// fn score(mut scoring: Scoring) {
///     scoring.score.0 += scoring.healths.count() as u32;
/// }
///
/// let mut world = World::new();
/// world.init_resource::<Score>();
/// world.spawn(Health(1.0));
/// world.run_system_once(score).unwrap();
/// assert_eq!(world.resource::<Score>().0, 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a system",
    label = "not a system parameter",
    note = "parameters are `Query`, `Res`, `ResMut`, `Commands`, `MessageReader`, `MessageWriter`, `Local`, `ParamSet`, `Single`, `Populated`, `&World`, `Option`s and tuples of them, and `#[derive(SystemParam)]` structs",
    note = "`&mut World` stands first and makes the system exclusive; `In` stands first in a system that is given something, by `other.pipe(this)`"
)]
pub trait SystemParam {
    /// What lives with the system.
    type State: Send + 'static;
    /// What holds the flags during a run.
    type Guard<'w>;
    /// What the function gets.
    type Item<'g>;

    /// Whether `check` can fail, or something is recorded or kept from run to run. Where it is false, `check`,
    /// `is_available`, `apply`, `discard` and `visit_state` are not called, and not compiled for each system.
    #[doc(hidden)]
    const ACTIVE: bool = true;

    /// Makes the state, and declares what the parameter uses.
    fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State;
    /// Catches up with archetypes and components that came or went.
    fn update(state: &mut Self::State, world: &World) {
        let _ = (state, world);
    }
    /// Takes the flags.
    fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w>;
    /// Whether the item can be had; asked after `lock` and before `item`.
    ///
    /// # Errors
    /// When it cannot: the system is not run then, and the error goes to the error handler.
    #[inline]
    fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
        let _ = guard;
        Ok(())
    }
    /// Whether the item can be had, without a reason.
    #[inline]
    fn is_available(guard: &mut Self::Guard<'_>) -> bool {
        Self::check(guard).is_ok()
    }
    /// What the function gets.
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g>;
    /// Hands what was recorded to the world.
    fn apply(state: &mut Self::State, world: &mut World) {
        let _ = (state, world);
    }
    /// Forgets what was recorded.
    fn discard(state: &mut Self::State) {
        let _ = state;
    }
    /// Shows what is kept from run to run, for checkpoints.
    fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
        let _ = (state, visitor);
    }
}

macro_rules! param_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: SystemParam),*> SystemParam for ($($name,)*) {
            type State = ($($name::State,)*);
            type Guard<'w> = ($($name::Guard<'w>,)*);
            type Item<'g> = ($($name::Item<'g>,)*);

            const ACTIVE: bool = false $(|| $name::ACTIVE)*;

            fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State {
                ($($name::init(world, meta),)*)
            }
            fn update(state: &mut Self::State, world: &World) {
                $($name::update(&mut state.$at, world);)*
            }
            #[inline]
            fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
                ($($name::lock(&state.$at, world, run),)*)
            }
            #[inline]
            fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
                $(if $name::ACTIVE {
                    $name::check(&mut guard.$at)?;
                })*
                Ok(())
            }
            #[inline]
            fn is_available(guard: &mut Self::Guard<'_>) -> bool {
                $(if $name::ACTIVE && !$name::is_available(&mut guard.$at) {
                    return false;
                })*
                true
            }
            #[inline]
            fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g> {
                ($($name::item(&mut guard.$at),)*)
            }
            fn apply(state: &mut Self::State, world: &mut World) {
                $(if $name::ACTIVE {
                    $name::apply(&mut state.$at, world);
                })*
            }
            fn discard(state: &mut Self::State) {
                $(if $name::ACTIVE {
                    $name::discard(&mut state.$at);
                })*
            }
            fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
                $(if $name::ACTIVE {
                    $name::visit_state(&mut state.$at, visitor);
                })*
            }
        }
    };
}
for_each_params!(param_tuple);
