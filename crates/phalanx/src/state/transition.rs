//! How states change: the schedule, its sets, and the systems that it has for each state.
//!
//! All of them have the world to themselves: they run other schedules, and no system runs beside them. Each looks for
//! what changed in the messages of its state, so that a state which stays costs a few look-ups per frame.

use std::marker::PhantomData;

use phalanx_derive::{Message, ScheduleLabel, SystemSet};

use super::resources::take_next;
use super::source::add_sets;
use super::{ComputedStates, FreelyMutableState, PreviousState, State, StateSet, States, SubStates, scoped};
use crate::messages::Cursor;
use crate::schedule::{ConfigureSystems, IntoSetConfigs, Schedule};
use crate::system::{Local, MessageReader};
use crate::world::World;

/// The schedule that runs when a state gets this value.
#[derive(ScheduleLabel, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OnEnter<S: States>(pub S);

/// The schedule that runs when a state loses this value.
#[derive(ScheduleLabel, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OnExit<S: States>(pub S);

/// The schedule that runs when a state loses one value and gets the other, between `OnExit` and `OnEnter`.
#[derive(ScheduleLabel, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OnTransition<S: States> {
    /// The value that the state had.
    pub exited: S,
    /// The value that it has now.
    pub entered: S,
}

/// The schedule in which states change. The app runs it before `PreStartup` and after `PreUpdate`.
#[derive(ScheduleLabel, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StateTransition;

/// A change of a state, written when it happens.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateTransitionEvent<S: States> {
    /// The value that the state had; `None` if it did not exist.
    pub exited: Option<S>,
    /// The value that it has now; `None` if it does not exist any more.
    pub entered: Option<S>,
    /// Whether `OnExit` and `OnEnter` run though both are the same.
    pub allow_same_state_transitions: bool,
}

impl<S: States> StateTransitionEvent<S> {
    /// Whether the state is exited and entered.
    pub(super) fn is_felt(&self) -> bool {
        self.allow_same_state_transitions || self.exited != self.entered
    }
}

/// The steps of [`StateTransition`], in order.
#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
pub enum StateTransitionSystems {
    /// States get their new values.
    DependentTransitions,
    /// [`OnExit`] runs, for states that depend on others first.
    ExitSchedules,
    /// [`OnTransition`] runs.
    TransitionSchedules,
    /// [`OnEnter`] runs, for states that depend on others last.
    EnterSchedules,
}

macro_rules! sets_of_a_state {
    ($($(#[$doc:meta])* $vis:vis $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
        $vis struct $name<S: States>(PhantomData<S>);

        impl<S: States> Default for $name<S> {
            fn default() -> Self {
                Self(PhantomData)
            }
        }
    )*};
}

sets_of_a_state! {
    /// The set in which [`OnExit`] of a state runs.
    pub ExitSchedules
    /// The set in which [`OnTransition`] of a state runs.
    pub TransitionSchedules
    /// The set in which [`OnEnter`] of a state runs.
    pub EnterSchedules
    /// The set in which a state gets its value.
    pub(super) ApplyTransition
}

/// The last change of a state since this was last asked; for the [`pipe`](crate::system::IntoSystem::pipe) of a system
/// in [`StateTransition`].
pub fn last_transition<S: States>(
    mut changes: MessageReader<'_, '_, StateTransitionEvent<S>>,
) -> Option<StateTransitionEvent<S>> {
    changes.read().last().cloned()
}

/// The same, of the world, if the state is exited and entered.
pub(super) fn last_felt<S: States>(
    world: &World,
    seen: &mut Cursor<StateTransitionEvent<S>>,
) -> Option<StateTransitionEvent<S>> {
    let changes = world.messages::<StateTransitionEvent<S>>()?;
    changes.read(seen).last().filter(|change| change.is_felt()).cloned()
}

/// Orders the steps of all states.
pub(super) fn order_steps(schedule: &mut Schedule) {
    schedule.configure_sets(
        (
            StateTransitionSystems::DependentTransitions,
            StateTransitionSystems::ExitSchedules,
            StateTransitionSystems::TransitionSchedules,
            StateTransitionSystems::EnterSchedules,
        )
            .chain(),
    );
}

/// Adds a state that depends on no other.
pub(super) fn add_root<S: FreelyMutableState>(schedule: &mut Schedule) {
    add_steps::<S>(schedule);
    schedule.add_systems(change_root::<S>.in_set(ApplyTransition::<S>::default()));
}

/// Adds a state that exists while others have certain values.
pub(super) fn add_sub<S: SubStates>(schedule: &mut Schedule) {
    add_steps::<S>(schedule);
    S::SourceStates::order::<S>(schedule);
    schedule.add_systems(change_sub::<S>.in_set(ApplyTransition::<S>::default()));
}

/// Adds a state that follows from others.
pub(super) fn add_computed<S: ComputedStates>(schedule: &mut Schedule) {
    add_steps::<S>(schedule);
    S::SourceStates::order::<S>(schedule);
    schedule.add_systems(change_computed::<S>.in_set(ApplyTransition::<S>::default()));
}

fn add_steps<S: States>(schedule: &mut Schedule) {
    add_sets::<S>(schedule);
    schedule.add_systems((
        run_exit::<S>.in_set(ExitSchedules::<S>::default()),
        run_transition::<S>.in_set(TransitionSchedules::<S>::default()),
        run_enter::<S>.in_set(EnterSchedules::<S>::default()),
    ));
    scoped::add_systems::<S>(schedule);
}

fn change_root<S: FreelyMutableState>(world: &mut World) {
    if let Some((next, again)) = take_next::<S>(world)
        && world.contains_resource::<State<S>>()
    {
        change(world, Some(next), again);
    }
}

fn change_sub<S: SubStates>(world: &mut World, mut seen: Local<'_, <S::SourceStates as StateSet>::Seen>) {
    let changed = S::SourceStates::changed(world, &mut seen);
    let next = take_next::<S>(world);
    if !changed && next.is_none() {
        return;
    }
    let current = world.get_resource::<State<S>>().map(|state| state.0.clone());
    let first = match changed {
        true => S::SourceStates::values(world).and_then(S::should_exist),
        false => current.clone(),
    };
    let (next, again) = next.map_or((None, false), |(next, again)| (Some(next), again));
    change(world, first.map(|first| next.or(current).unwrap_or(first)), again);
}

fn change_computed<S: ComputedStates>(
    world: &mut World,
    mut seen: Local<'_, <S::SourceStates as StateSet>::Seen>,
) {
    if S::SourceStates::changed(world, &mut seen) {
        let value = S::SourceStates::values(world).and_then(S::compute);
        change(world, value, S::SourceStates::IS_SINGLE && S::ALLOW_SAME_STATE_TRANSITIONS);
    }
}

/// Gives a state a value, or takes it away, and tells of it.
fn change<S: States>(world: &mut World, value: Option<S>, allow_same_state_transitions: bool) {
    let exited = match (world.get_resource_mut::<State<S>>(), &value) {
        (Some(state), Some(entered)) if state.0 == *entered => Some(entered.clone()),
        (Some(mut state), Some(entered)) => {
            let entered = entered.clone();
            Some(std::mem::replace(&mut state.0, entered))
        }
        (Some(_), None) => world.remove_resource::<State<S>>().map(|state| state.0),
        (None, Some(entered)) => {
            let state = State(entered.clone());
            world.insert_resource(state);
            None
        }
        (None, None) => return,
    };
    match exited.clone() {
        Some(exited) => drop(world.insert_resource(PreviousState(exited))),
        None => drop(world.remove_resource::<PreviousState<S>>()),
    }
    world.write_message(StateTransitionEvent { exited, entered: value, allow_same_state_transitions });
}

fn run_exit<S: States>(world: &mut World, mut seen: Local<'_, Cursor<StateTransitionEvent<S>>>) {
    if let Some(exited) = last_felt(world, &mut seen).and_then(|change| change.exited) {
        // Without systems there is no such schedule.
        let _ = world.try_run_schedule(OnExit(exited));
    }
}

fn run_transition<S: States>(world: &mut World, mut seen: Local<'_, Cursor<StateTransitionEvent<S>>>) {
    let changes = world.messages::<StateTransitionEvent<S>>();
    let Some(change) = changes.and_then(|changes| changes.read(&mut seen).last()) else { return };
    if let (Some(exited), Some(entered)) = (change.exited.clone(), change.entered.clone()) {
        let _ = world.try_run_schedule(OnTransition { exited, entered });
    }
}

fn run_enter<S: States>(world: &mut World, mut seen: Local<'_, Cursor<StateTransitionEvent<S>>>) {
    if let Some(entered) = last_felt(world, &mut seen).and_then(|change| change.entered) {
        let _ = world.try_run_schedule(OnEnter(entered));
    }
}
