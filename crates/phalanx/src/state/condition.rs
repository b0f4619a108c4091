//! Conditions about states.
//!
//! A state that does not exist at the moment fails all of them. One that was never added does, too, and each condition warns
//! of it once; [`state_exists`] is for programs in which it may be missing.

use super::plugin::{KnownStates, NoSuchState};
use super::{State, States};
use crate::system::{Local, Res};
use crate::world::{AnyError, Result, Severity};

/// Whether a state has this value.
///
/// # Errors
/// Once, of [`Severity::Warning`], when the app has no such state: it was never added. The condition is false, and that one
/// time so is a condition that is made of it, as `not(in_state(..))`.
pub fn in_state<S: States>(
    state: S,
) -> impl FnMut(Option<Res<'_, State<S>>>, Option<Res<'_, KnownStates>>) -> Result<bool> + Clone {
    let mut told = false;
    move |current, known| match current {
        Some(current) => Ok(*current == state),
        None => missing::<S>(known, &mut told),
    }
}

/// Whether a state exists: it was added, and, if it depends on others, these have such values.
pub fn state_exists<S: States>(current: Option<Res<'_, State<S>>>) -> bool {
    current.is_some()
}

/// Whether a state exists and got a new value since the condition was last asked.
///
/// # Errors
/// Once, of [`Severity::Warning`], when the app has no such state: it was never added. The condition is false.
pub fn state_changed<S: States>(
    current: Option<Res<'_, State<S>>>,
    known: Option<Res<'_, KnownStates>>,
    mut told: Local<'_, bool>,
) -> Result<bool> {
    match current {
        Some(current) => Ok(current.is_changed()),
        None => missing::<S>(known, &mut told),
    }
}

/// What holds of a state that does not exist.
fn missing<S: States>(known: Option<Res<'_, KnownStates>>, told: &mut bool) -> Result<bool> {
    let is_known = known.is_some_and(|known| known.contains::<S>());
    if is_known || std::mem::replace(told, true) {
        return Ok(false);
    }
    Err(AnyError::new(Severity::Warning, NoSuchState::of::<S>()))
}
