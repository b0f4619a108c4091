//! Conditions about states.
//!
//! A state that does not exist fails all of them, and none of them fails without it.

use super::{State, States};
use crate::system::Res;

/// Whether a state has this value.
pub fn in_state<S: States>(state: S) -> impl FnMut(Option<Res<'_, State<S>>>) -> bool + Clone {
    move |current| current.is_some_and(|current| *current == state)
}

/// Whether a state exists: it was added, and, if it depends on others, these have such values.
pub fn state_exists<S: States>(current: Option<Res<'_, State<S>>>) -> bool {
    current.is_some()
}

/// Whether a state exists and got a new value since the condition was last evaluated.
pub fn state_changed<S: States>(current: Option<Res<'_, State<S>>>) -> bool {
    current.is_some_and(|current| current.is_changed())
}
