//! The states that another one depends on, as a type: a state, an optional one, or a tuple of these.
//!
//! A change of a source is seen by its messages, each of them once. Which state comes before which in the schedule
//! follows from the types, so a cycle of states does not compile.

use super::transition::{ApplyTransition, StateTransitionEvent};
use super::{EnterSchedules, ExitSchedules, State, StateTransitionSystems, States, TransitionSchedules};
use crate::messages::Cursor;
use crate::schedule::{IntoSetConfigs, Schedule};
use crate::world::World;

/// States that another one depends on: a state, `Option` of one, or a tuple of up to 8 of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a state nor a tuple of states",
    note = "a source is a state, `Option` of a state, or a tuple of up to 8 of these"
)]
pub trait StateSet: Sized + 'static {
    /// The depth of all of them together.
    const SET_DEPENDENCY_DEPTH: usize;
    /// Whether it is one state.
    #[doc(hidden)]
    const IS_SINGLE: bool;
    /// What was seen of their changes.
    #[doc(hidden)]
    type Seen: Clone + Default + Send + 'static;

    /// Whether one of them changed since this was last evaluated.
    #[doc(hidden)]
    fn changed(world: &World, seen: &mut Self::Seen) -> bool;
    /// Their values; `None` when one that must exist does not.
    #[doc(hidden)]
    fn values(world: &World) -> Option<Self>;
    /// Orders the steps of `T` after or before those of each source.
    #[doc(hidden)]
    fn order<T: States>(schedule: &mut Schedule);
}

/// One of the states of a set.
#[doc(hidden)]
pub trait Source: Sized + 'static {
    /// The state itself.
    type State: States;

    /// What is handed on of it; `None` when it must exist and does not.
    fn of(state: Option<&State<Self::State>>) -> Option<Self>;
}

impl<S: States> Source for S {
    type State = S;

    fn of(state: Option<&State<S>>) -> Option<S> {
        state.map(|state| state.0.clone())
    }
}

impl<S: States> Source for Option<S> {
    type State = S;

    fn of(state: Option<&State<S>>) -> Option<Self> {
        Some(state.map(|state| state.0.clone()))
    }
}

impl<S: Source> StateSet for S {
    const SET_DEPENDENCY_DEPTH: usize = S::State::DEPENDENCY_DEPTH;
    const IS_SINGLE: bool = true;
    type Seen = Cursor<StateTransitionEvent<S::State>>;

    fn changed(world: &World, seen: &mut Self::Seen) -> bool {
        let Some(messages) = world.messages() else { return false };
        let any = messages.unread(seen) > 0;
        *seen = messages.get_cursor_current();
        any
    }

    fn values(world: &World) -> Option<S> {
        S::of(world.get_resource())
    }

    fn order<T: States>(schedule: &mut Schedule) {
        schedule.configure_sets((
            ApplyTransition::<T>::default().after(ApplyTransition::<S::State>::default()),
            ExitSchedules::<T>::default().before(ExitSchedules::<S::State>::default()),
            EnterSchedules::<T>::default().after(EnterSchedules::<S::State>::default()),
        ));
    }
}

/// Puts the steps of a state into the sets of all states.
pub(super) fn add_sets<T: States>(schedule: &mut Schedule) {
    schedule.configure_sets((
        ApplyTransition::<T>::default().in_set(StateTransitionSystems::DependentTransitions),
        ExitSchedules::<T>::default().in_set(StateTransitionSystems::ExitSchedules),
        TransitionSchedules::<T>::default().in_set(StateTransitionSystems::TransitionSchedules),
        EnterSchedules::<T>::default().in_set(StateTransitionSystems::EnterSchedules),
    ));
}

macro_rules! state_sets {
    ($($part:ident $at:tt)*) => {
        impl<$($part: Source),*> StateSet for ($($part,)*) {
            const SET_DEPENDENCY_DEPTH: usize = 0 $(+ $part::State::DEPENDENCY_DEPTH)*;
            const IS_SINGLE: bool = false;
            type Seen = ($(<$part as StateSet>::Seen,)*);

            fn changed(world: &World, seen: &mut Self::Seen) -> bool {
                // All are evaluated, so that each change is seen once.
                false $(| <$part as StateSet>::changed(world, &mut seen.$at))*
            }
            fn values(world: &World) -> Option<Self> {
                Some(($(<$part as StateSet>::values(world)?,)*))
            }
            fn order<T: States>(schedule: &mut Schedule) {
                $(<$part as StateSet>::order::<T>(schedule);)*
            }
        }
    };
}
state_sets!(A 0);
state_sets!(A 0 B 1);
state_sets!(A 0 B 1 C 2);
state_sets!(A 0 B 1 C 2 D 3);
state_sets!(A 0 B 1 C 2 D 3 E 4);
state_sets!(A 0 B 1 C 2 D 3 E 4 F 5);
state_sets!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
state_sets!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
