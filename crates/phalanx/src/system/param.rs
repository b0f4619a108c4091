//! System parameters: what a function may ask for.
//!
//! A parameter has a state that lives with the system, a guard that holds its flags during one run, and an item,
//! which borrows the guard: whatever a function gets ends before the flag is given back. The state is lent
//! shared, so that a guard can be dropped and taken again (`ParamSet`); what changes in it is in cells.
//!
//! Parameters know the session, not the schedule.

pub use local::Local;
pub use message::{MessageReader, MessageWriter};
pub use resource::{Res, ResMut};
pub use set::{ParamSet, ParamTuple};

use super::failed::ParamError;
use super::meta::{Run, SystemMeta};
use crate::world::{SharedWorld, World};

mod commands;
mod local;
mod message;
mod query;
mod resource;
mod set;
mod whole;

/// Something that a system can have as a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a system",
    label = "not a system parameter",
    note = "parameters are `Query`, `Res`, `ResMut`, `Commands`, `MessageReader`, `MessageWriter`, `Local`, `ParamSet`, `&World`, tuples of them, and `#[derive(SystemParam)]` structs"
)]
pub trait SystemParam {
    /// What lives with the system.
    type State: Send + 'static;
    /// What holds the flags during a run.
    type Guard<'w>;
    /// What the function gets.
    type Item<'g>;

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
    fn check(guard: &Self::Guard<'_>) -> Result<(), ParamError> {
        let _ = guard;
        Ok(())
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
}

macro_rules! param_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: SystemParam),*> SystemParam for ($($name,)*) {
            type State = ($($name::State,)*);
            type Guard<'w> = ($($name::Guard<'w>,)*);
            type Item<'g> = ($($name::Item<'g>,)*);

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
            fn check(guard: &Self::Guard<'_>) -> Result<(), ParamError> {
                $($name::check(&guard.$at)?;)*
                Ok(())
            }
            #[inline]
            fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g> {
                ($($name::item(&mut guard.$at),)*)
            }
            fn apply(state: &mut Self::State, world: &mut World) {
                $($name::apply(&mut state.$at, world);)*
            }
            fn discard(state: &mut Self::State) {
                $($name::discard(&mut state.$at);)*
            }
        }
    };
}
phalanx_store::for_each_tuple!(param_tuple);
