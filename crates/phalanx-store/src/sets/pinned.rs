//! A sparse set at one address, so that plans can point at it.
//!
//! The store owns its sets and drops them with itself (I10). Everything else reaches a set through the store, by number;
//! a plan, which is asked for each value that comes or goes, keeps the address.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::SparseSet;

/// A sparse set, owned, that stays where it is.
pub(crate) struct PinnedSet(NonNull<SparseSet>);

// SAFETY: locally: owns a set, which is `Send` and `Sync`.
unsafe impl Send for PinnedSet {}
// SAFETY: locally: a shared one gives a shared set.
unsafe impl Sync for PinnedSet {}

impl PinnedSet {
    pub(super) fn new(set: SparseSet) -> Self {
        Self(NonNull::from(Box::leak(Box::new(set))))
    }

    /// Where the set is, as long as its store lives.
    pub(super) fn address(&self) -> SetAddress {
        SetAddress(self.0)
    }
}

impl Drop for PinnedSet {
    fn drop(&mut self) {
        // SAFETY: locally: made from a box, and dropped once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Deref for PinnedSet {
    type Target = SparseSet;

    #[inline(always)]
    fn deref(&self) -> &SparseSet {
        // SAFETY: the set is borrowed as this is, and plans reach it only while the store is borrowed exclusively (I10).
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for PinnedSet {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut SparseSet {
        // SAFETY: the set is borrowed as this is, and plans reach it only while the store is borrowed exclusively (I10).
        unsafe { self.0.as_mut() }
    }
}

/// Where a set of some store is.
#[derive(Clone, Copy)]
pub(super) struct SetAddress(NonNull<SparseSet>);

// SAFETY: locally: only a number, until a caller says which store is borrowed.
unsafe impl Send for SetAddress {}
// SAFETY: locally: only a number, as for `Send`.
unsafe impl Sync for SetAddress {}

impl SetAddress {
    /// Of no set.
    pub(super) fn none() -> Self {
        Self(NonNull::dangling())
    }

    /// The set.
    ///
    /// # Safety
    /// The store of the set is borrowed exclusively for `'s`, and nothing else of it that is used meanwhile is the set.
    #[inline(always)]
    pub(super) unsafe fn get_mut<'s>(self) -> &'s mut SparseSet {
        // SAFETY: forwarded: the set lives as long as its store, at this address (I10).
        unsafe { &mut *self.0.as_ptr() }
    }
}
