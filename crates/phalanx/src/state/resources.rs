//! The resources of a state: its value, the one before, and the one to come.
//!
//! Systems read `State` and write `NextState`; the change itself is made in `transition`, when the app says so.

use std::ops::Deref;

use phalanx_derive::Resource;

use super::{FreelyMutableState, States};
use crate::names::short_type;
use crate::world::{FromWorld, World};

/// The value of a state. There is none while a state that depends on others does not exist.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Menu,
///     Game,
/// }
///
/// fn show(screen: Res<State<Screen>>) {
///     match screen.get() {
///         Screen::Menu => println!("press any key"),
///         Screen::Game => println!("fight"),
///     }
/// }
/// ```
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
#[resource(added = "how_to_add::<S>")]
#[cfg_attr(feature = "serde", resource(saving = "super::saving::state::<S>"))]
pub struct State<S: States>(pub(super) S);

impl<S: States> State<S> {
    /// A state with this value. `App::insert_state` and `App::init_state` do it for you.
    pub fn new(state: S) -> Self {
        Self(state)
    }

    /// The value.
    pub fn get(&self) -> &S {
        &self.0
    }
}

impl<S: States + FromWorld> FromWorld for State<S> {
    fn from_world(world: &mut World) -> Self {
        Self(S::from_world(world))
    }
}

impl<S: States> PartialEq<S> for State<S> {
    fn eq(&self, other: &S) -> bool {
        self.0 == *other
    }
}

impl<S: States> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

/// What to do when a world has no such state, in words.
fn how_to_add<S: States>() -> String {
    let state = short_type::<S>();
    if S::DEPENDENCY_DEPTH == 1 {
        return format!("add it with `app.init_state::<{state}>()`");
    }
    format!(
        "`{state}` depends on other states, and exists while they have certain values; it is added with \
         `app.add_sub_state` or `app.add_computed_state`"
    )
}

/// The value that a state had before it last changed. There is none before the first change.
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", resource(saving = "super::saving::previous::<S>"))]
pub struct PreviousState<S: States>(pub(super) S);

impl<S: States> PreviousState<S> {
    /// The value.
    pub fn get(&self) -> &S {
        &self.0
    }
}

impl<S: States> Deref for PreviousState<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

/// The value that a state gets when states change next.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Menu,
///     Game,
/// }
///
/// fn begin(mut next: ResMut<NextState<Screen>>) {
///     next.set(Screen::Game);
/// }
///
/// let mut app = App::new();
/// app.init_state::<Screen>();
/// app.add_systems(Update, begin);
/// app.step(0.1);
/// app.step(0.1); // states change after `PreUpdate`
/// assert_eq!(*app.world().resource::<State<Screen>>(), Screen::Game);
/// ```
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
#[resource(added = "how_to_add::<S>")]
#[cfg_attr(feature = "serde", resource(saving = "super::saving::next::<S>"))]
pub enum NextState<S: FreelyMutableState> {
    /// The state stays.
    #[default]
    Unchanged,
    /// The state is exited and entered, also when it has this value.
    Pending(S),
    /// The state is exited and entered unless it has this value.
    PendingIfDifferent(S),
}

impl<S: FreelyMutableState> NextState<S> {
    /// Sets the value. If it is the one that the state has, `OnExit` and `OnEnter` run all the same. Of several calls
    /// in a frame the last one counts.
    pub fn set(&mut self, state: S) {
        *self = Self::Pending(state);
    }

    /// As [`set`](Self::set), but nothing happens if the state has this value. After `set` with the same value it does
    /// nothing.
    pub fn set_if_different(&mut self, state: S) {
        if !matches!(self, Self::Pending(pending) if *pending == state) {
            *self = Self::PendingIfDifferent(state);
        }
    }

    /// Forgets what was set: the state stays.
    pub fn reset(&mut self) {
        *self = Self::Unchanged;
    }
}

/// Takes the next value, if one is set, and whether it is entered though it is the same. Counts as a change of
/// `NextState` only then.
pub(super) fn take_next<S: FreelyMutableState>(world: &mut World) -> Option<(S, bool)> {
    let mut next = world.get_resource_mut::<NextState<S>>()?;
    if *next == NextState::Unchanged {
        return None;
    }
    match std::mem::take(&mut *next) {
        NextState::Pending(state) => Some((state, true)),
        NextState::PendingIfDifferent(state) => Some((state, false)),
        NextState::Unchanged => None,
    }
}
