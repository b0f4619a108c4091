//! Row ticks as the user sees them: exclusive access that remembers being used.
//!
//! A component with `track = "row"` keeps, for each row, when it was added and when it was last changed.
//! [`Mut`] is what `&mut T` yields for such a component: reading through it leaves no trace, the first
//! write sets the row's tick.

use std::fmt;
use std::ops::{Deref, DerefMut};

pub use phalanx_store::Tick;

use crate::component::Queryable;

/// Exclusive access to one row of a component with row ticks.
pub struct Mut<'a, T> {
    value: &'a mut T,
    changed: &'a mut Tick,
    now: Tick,
}

impl<'a, T> Mut<'a, T> {
    /// Access to `value`, whose tick of change is `changed`; writing sets it to `now`.
    #[inline]
    pub fn new(value: &'a mut T, changed: &'a mut Tick, now: Tick) -> Self {
        Self { value, changed, now }
    }

    /// When the row was last changed.
    pub fn last_changed(&self) -> Tick {
        *self.changed
    }

    /// Marks the row as changed now.
    pub fn set_changed(&mut self) {
        *self.changed = self.now;
    }

    /// Writes without leaving a trace.
    pub fn bypass_change_detection(&mut self) -> &mut T {
        self.value
    }

    /// Writes, and marks the row, only if the value differs. Returns whether it did.
    pub fn set_if_neq(&mut self, value: T) -> bool
    where
        T: PartialEq,
    {
        if *self.value == value {
            return false;
        }
        **self = value;
        true
    }

    /// The plain reference; marks the row as changed.
    pub fn into_inner(self) -> &'a mut T {
        *self.changed = self.now;
        self.value
    }
}

impl<T> Deref for Mut<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for Mut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        *self.changed = self.now;
        self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Mut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Shared access to one row of a component with row ticks, which also tells how new the row is.
pub struct Ref<'a, T: Queryable> {
    value: T::Ref<'a>,
    added: Tick,
    changed: Tick,
    since: Tick,
}

impl<'a, T: Queryable> Ref<'a, T> {
    pub(crate) fn new(value: T::Ref<'a>, added: Tick, changed: Tick, since: Tick) -> Self {
        Self { value, added, changed, since }
    }

    /// Whether the component came after the query's moment.
    pub fn is_added(&self) -> bool {
        self.added.is_after(self.since)
    }

    /// Whether the row was written, or came, after the query's moment.
    pub fn is_changed(&self) -> bool {
        self.changed.is_after(self.since)
    }

    /// When the row was last written.
    pub fn last_changed(&self) -> Tick {
        self.changed
    }

    /// When the component came.
    pub fn added(&self) -> Tick {
        self.added
    }

    /// The plain access.
    pub fn into_inner(self) -> T::Ref<'a> {
        self.value
    }
}

impl<'a, T: Queryable> Deref for Ref<'a, T> {
    type Target = T::Ref<'a>;

    fn deref(&self) -> &T::Ref<'a> {
        &self.value
    }
}
