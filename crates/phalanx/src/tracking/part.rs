//! A part of a value, to be written as the value: what `map_unchanged` gives.
//!
//! A part has no tracking of its own, and may be of any type: it keeps the stamp of the whole, and marks that when it is
//! written. Reading leaves no trace.

use std::fmt;
use std::ops::{Deref, DerefMut};

use phalanx_store::{RowTicks, Stamp, Tick, Tracking};

use super::{Mut, Tracked};

/// Exclusive access to a part of a component or resource; writing it marks the whole as changed.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Position {
///     x: f32,
///     y: f32,
/// }
///
/// let mut world = World::new();
/// let entity = world.spawn(Position { x: 1.0, y: 2.0 }).id();
/// let mut x = world.get_mut::<Position>(entity).unwrap().map_unchanged(|position| &mut position.x);
/// assert!(x.set_if_neq(3.0));
/// assert_eq!(world.get::<Position>(entity).unwrap().x, 3.0);
/// ```
pub struct MutPart<'a, U: ?Sized, K: Tracking> {
    value: &'a mut U,
    stamp: Stamp<'a, K>,
}

impl<'a, T: Tracked> Mut<'a, T> {
    /// Access to a part of the value, which is marked when the part is written.
    pub fn map_unchanged<U: ?Sized>(self, f: impl FnOnce(&mut T) -> &mut U) -> MutPart<'a, U, T::Track> {
        MutPart { value: f(self.value), stamp: self.stamp }
    }

    /// As [`Mut::map_unchanged`], for a part that may be missing.
    pub fn filter_map_unchanged<U: ?Sized>(
        self,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Option<MutPart<'a, U, T::Track>> {
        Some(MutPart { value: f(self.value)?, stamp: self.stamp })
    }

    /// As [`Mut::map_unchanged`], for a part that may be missing, with a reason.
    ///
    /// # Errors
    /// When the function returns one.
    pub fn try_map_unchanged<U: ?Sized, E>(
        self,
        f: impl FnOnce(&mut T) -> Result<&mut U, E>,
    ) -> Result<MutPart<'a, U, T::Track>, E> {
        Ok(MutPart { value: f(self.value)?, stamp: self.stamp })
    }

    /// Access to what the value refers to, which marks the value when it is written.
    pub fn as_deref_mut(&mut self) -> MutPart<'_, T::Target, T::Track>
    where
        T: DerefMut,
    {
        self.reborrow().map_unchanged(|value| &mut **value)
    }
}

impl<'a, U: ?Sized, K: Tracking> MutPart<'a, U, K> {
    /// Marks the whole as changed now.
    pub fn set_changed(&mut self) {
        self.stamp.mark();
    }

    /// Writes without leaving a trace.
    pub fn bypass_change_detection(&mut self) -> &mut U {
        self.value
    }

    /// The plain reference; marks the whole as changed.
    pub fn into_inner(mut self) -> &'a mut U {
        self.stamp.mark();
        self.value
    }

    /// Access to a part of the part.
    pub fn map_unchanged<V: ?Sized>(self, f: impl FnOnce(&mut U) -> &mut V) -> MutPart<'a, V, K> {
        MutPart { value: f(self.value), stamp: self.stamp }
    }

    /// Writes, and marks the whole, only if the part differs. Returns whether it did.
    pub fn set_if_neq(&mut self, value: U) -> bool
    where
        U: PartialEq + Sized,
    {
        let differs = *self.value != value;
        if differs {
            **self = value;
        }
        differs
    }
}

impl<U: ?Sized> MutPart<'_, U, RowTicks> {
    /// Whether the whole came after the system's last run, or after the query's moment.
    pub fn is_added(&self) -> bool {
        self.stamp.added().is_after(self.stamp.since())
    }

    /// Whether the whole came or was written after the system's last run, or after the query's moment.
    pub fn is_changed(&self) -> bool {
        self.stamp.changed().is_after(self.stamp.since())
    }

    /// When the whole was last written.
    pub fn last_changed(&self) -> Tick {
        self.stamp.changed()
    }
}

impl<U: ?Sized, K: Tracking> Deref for MutPart<'_, U, K> {
    type Target = U;

    fn deref(&self) -> &U {
        self.value
    }
}

impl<U: ?Sized, K: Tracking> DerefMut for MutPart<'_, U, K> {
    fn deref_mut(&mut self) -> &mut U {
        self.stamp.mark();
        self.value
    }
}

impl<U: fmt::Debug + ?Sized, K: Tracking> fmt::Debug for MutPart<'_, U, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mut").field(&&*self.value).finish()
    }
}
