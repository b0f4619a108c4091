//! How states are saved, with `#[states(save)]`: the value, the one before, and the one to come.
//!
//! A loaded state was entered before it was saved: no `OnEnter` and no `OnExit` runs for it, also not for the value with
//! which the app began. A value that was set and not entered yet is entered when the app starts.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FreelyMutableState, NextState, PreviousState, State, StateTransitionEvent, States};
use crate::resources::{ResourceSaving, SavedAs};
use crate::world::World;

/// How the resources of one state are written and read.
#[derive(Clone, Copy, Debug)]
pub struct StateSaving {
    state: ResourceSaving,
    previous: ResourceSaving,
    next: Option<ResourceSaving>,
}

impl StateSaving {
    /// For states with `#[states(save)]`.
    #[doc(hidden)]
    pub fn of<S: FreelyMutableState + Serialize + DeserializeOwned>(
        name: fn() -> Cow<'static, str>,
        version: u32,
    ) -> Self {
        let next = ResourceSaving::through::<NextState<S>>(name, ".next", version);
        Self { next: Some(next), ..Self::computed::<S>(name, version) }
    }

    /// For a computed state, which has no derive: what its [`saving`](super::ComputedStates::saving) returns.
    pub fn computed<S: States + Serialize + DeserializeOwned>(
        name: fn() -> Cow<'static, str>,
        version: u32,
    ) -> Self {
        Self {
            state: ResourceSaving::through::<State<S>>(name, "", version),
            previous: ResourceSaving::through::<PreviousState<S>>(name, ".previous", version),
            next: None,
        }
    }

    /// How each of the resources is saved.
    pub(crate) fn all(&self) -> impl Iterator<Item = ResourceSaving> {
        [self.state, self.previous].into_iter().chain(self.next)
    }
}

/// How `State<S>` is saved.
pub(super) fn state<S: States>() -> Option<ResourceSaving> {
    S::saving().map(|saving| saving.state)
}

/// How `PreviousState<S>` is saved.
pub(super) fn previous<S: States>() -> Option<ResourceSaving> {
    S::saving().map(|saving| saving.previous)
}

/// How `NextState<S>` is saved.
pub(super) fn next<S: FreelyMutableState>() -> Option<ResourceSaving> {
    S::saving().and_then(|saving| saving.next)
}

impl<S: States + Serialize + DeserializeOwned> SavedAs for State<S> {
    type Saved = S;

    fn to_saved(&self) -> S {
        self.0.clone()
    }

    fn from_saved(saved: S) -> Result<Self, String> {
        Ok(Self(saved))
    }

    fn loaded(world: &mut World) {
        if world.messages::<StateTransitionEvent<S>>().is_some() {
            world.messages_mut::<StateTransitionEvent<S>>().clear();
        }
    }
}

impl<S: States + Serialize + DeserializeOwned> SavedAs for PreviousState<S> {
    type Saved = S;

    fn to_saved(&self) -> S {
        self.0.clone()
    }

    fn from_saved(saved: S) -> Result<Self, String> {
        Ok(Self(saved))
    }
}

impl<S: FreelyMutableState + Serialize + DeserializeOwned> SavedAs for NextState<S> {
    /// The value, and whether the state is entered though it has it.
    type Saved = Option<(S, bool)>;

    fn to_saved(&self) -> Option<(S, bool)> {
        match self {
            Self::Unchanged => None,
            Self::Pending(state) => Some((state.clone(), true)),
            Self::PendingIfDifferent(state) => Some((state.clone(), false)),
        }
    }

    fn from_saved(saved: Option<(S, bool)>) -> Result<Self, String> {
        Ok(match saved {
            None => Self::Unchanged,
            Some((state, true)) => Self::Pending(state),
            Some((state, false)) => Self::PendingIfDifferent(state),
        })
    }
}
