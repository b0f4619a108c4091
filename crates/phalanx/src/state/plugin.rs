//! States of an app: how they are added, and set by commands.
//!
//! The first state makes the schedule in which states change, and the app runs it from then on. A state is added once;
//! adding it again changes nothing, or gives it another first value (`insert_state`).

use std::any::TypeId;
use std::collections::HashSet;
use std::fmt;

use phalanx_derive::Resource;

use super::transition::{self, StateTransition};
use super::{
    ComputedStates, FreelyMutableState, NextState, OnEnter, OnExit, State, StateTransitionEvent, States,
    SubStates,
};
use crate::app::{App, Plugin};
use crate::messages::Message;
use crate::names::short_type_name;
use crate::schedule::{Schedule, ScheduleLabel};
use crate::tracking::Mut;
use crate::world::{Commands, FromWorld, World};

/// Which states were added, whether they exist at the moment or not. Neither a value nor a channel of a state tells: a
/// sub-state comes and goes, and systems that read a channel make it.
#[derive(Resource, Default)]
#[resource(checkpoint = "skip", digest = "skip")]
pub struct KnownStates(HashSet<TypeId>);

impl KnownStates {
    pub(super) fn contains<S: States>(&self) -> bool {
        self.0.contains(&TypeId::of::<S>())
    }
}

/// Makes the schedule in which states change. Adding a state does it, too: the plugin is there for programs that name
/// it.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatesPlugin;

impl Plugin for StatesPlugin {
    fn build(&self, app: &mut App) {
        app.prepare_transitions();
    }
}

impl App {
    /// Adds a state with its first value, unless the app has it. Its `OnEnter` runs before `PreStartup`; a value that the
    /// world has already, as one that was loaded, stays and is not entered.
    pub fn init_state<S: FreelyMutableState + FromWorld>(&mut self) -> &mut Self {
        if !self.world().contains_resource::<State<S>>() {
            let first = S::from_world(self.world_mut());
            return self.insert_state(first);
        }
        self.add_transitions::<S>(transition::add_root::<S>);
        self.init_resource::<NextState<S>>()
    }

    /// Adds a state with this value; one that the app has gets it without being exited. Its `OnEnter` runs when states
    /// change next.
    pub fn insert_state<S: FreelyMutableState>(&mut self, state: S) -> &mut Self {
        self.insert_resource(State::new(state.clone()));
        if !self.add_transitions::<S>(transition::add_root::<S>) {
            self.world_mut().messages_mut::<StateTransitionEvent<S>>().clear();
        }
        // Also where the systems are there: a restored world may be of a time before the state.
        self.init_resource::<NextState<S>>();
        self.tell_first(Some(state))
    }

    /// Adds a state that exists while others have certain values, unless the app has it.
    pub fn add_sub_state<S: SubStates>(&mut self) -> &mut Self {
        self.register_checkpoint_of_local::<<S::SourceStates as super::StateSet>::Seen>();
        if self.add_transitions::<S>(transition::add_sub::<S>) {
            self.tell_first::<S>(None);
        }
        self.init_resource::<NextState<S>>()
    }

    /// Adds a state that follows from others, unless the app has it.
    pub fn add_computed_state<S: ComputedStates>(&mut self) -> &mut Self {
        self.register_checkpoint_of_local::<<S::SourceStates as super::StateSet>::Seen>();
        if self.add_transitions::<S>(transition::add_computed::<S>) {
            self.tell_first::<S>(None);
        }
        self
    }

    /// Drops all messages of a type when a state loses this value.
    pub fn clear_messages_on_exit<M: Message>(&mut self, state: impl States) -> &mut Self {
        self.add_systems(OnExit(state), clear_messages::<M>)
    }

    /// Drops all messages of a type when a state gets this value.
    pub fn clear_messages_on_enter<M: Message>(&mut self, state: impl States) -> &mut Self {
        self.add_systems(OnEnter(state), clear_messages::<M>)
    }

    fn prepare_transitions(&mut self) {
        if self.set_transitions(StateTransition.label()) {
            self.edit_schedule(StateTransition, transition::order_steps);
        }
    }

    /// Adds the systems of a state; false if they are there already.
    fn add_transitions<S: States>(&mut self, add: fn(&mut Schedule)) -> bool {
        self.register_checkpoint_of_local::<crate::messages::Cursor<StateTransitionEvent<S>>>();
        if !self.world_mut().get_resource_or_init::<KnownStates>().0.insert(TypeId::of::<S>()) {
            return false;
        }
        self.add_message::<StateTransitionEvent<S>>();
        self.prepare_transitions();
        self.edit_schedule(StateTransition, add);
        true
    }

    /// Tells of the first value of a state.
    fn tell_first<S: States>(&mut self, entered: Option<S>) -> &mut Self {
        let first = StateTransitionEvent { exited: None, entered, allow_same_state_transitions: true };
        self.world_mut().write_message(first);
        self
    }
}

fn clear_messages<M: Message>(world: &mut World) {
    world.messages_mut::<M>().clear();
}

impl Commands<'_, '_> {
    /// Sets a state, when the commands are applied; see [`NextState::set`].
    pub fn set_state<S: FreelyMutableState>(&mut self, state: S) {
        self.queue(move |world: &mut World| next::<S>(world).map(|mut next| next.set(state)));
    }

    /// As [`set_state`](Self::set_state), unless the state has this value then; see
    /// [`NextState::set_if_different`].
    pub fn set_state_if_different<S: FreelyMutableState>(&mut self, state: S) {
        self.queue(move |world: &mut World| next::<S>(world).map(|mut next| next.set_if_different(state)));
    }
}

fn next<S: FreelyMutableState>(world: &mut World) -> Result<Mut<'_, NextState<S>>, NoSuchState> {
    world.get_resource_mut().ok_or(NoSuchState::of::<S>())
}

/// The app has no such state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoSuchState {
    /// The type of the state.
    pub state: &'static str,
}

impl NoSuchState {
    pub(super) fn of<S: States>() -> Self {
        Self { state: std::any::type_name::<S>() }
    }
}

impl fmt::Display for NoSuchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, short) = (self.state, short_type_name(self.state));
        write!(
            f,
            "there is no state `{state}`: add it with `app.init_state::<{short}>()`, or with `app.add_sub_state` if it depends on others"
        )
    }
}

impl std::error::Error for NoSuchState {}
