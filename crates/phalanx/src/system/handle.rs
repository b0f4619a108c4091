//! Registered systems that go with their last handle.
//!
//! A handle knows no world. The last copy leaves the number of its system in a list that the world's registered systems
//! share with it, and these look there when one is registered or run.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::registered::SystemId;

/// The numbers of systems whose last handle was dropped.
pub(super) type Unused = Arc<Mutex<Vec<u64>>>;

/// Holds a registered system: the world forgets it after the last copy of its handle is dropped, when the next system is
/// registered or run.
///
/// ```
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let handle = world.register_tracked_system(|In(n): In<u32>| n * 2);
/// let id = handle.id();
/// assert_eq!(world.run_system_with(id, 4).unwrap(), 8);
/// drop(handle);
/// assert!(world.run_system_with(id, 4).is_err());
/// ```
pub struct SystemHandle<I = (), O = ()> {
    id: SystemId<I, O>,
    held: Arc<Held>,
}

struct Held {
    number: u64,
    unused: Unused,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner).push(self.number);
    }
}

impl<I, O> SystemHandle<I, O> {
    pub(super) fn new(id: SystemId<I, O>, number: u64, unused: &Unused) -> Self {
        Self { id, held: Arc::new(Held { number, unused: Arc::clone(unused) }) }
    }

    /// The system's id, which holds nothing.
    pub fn id(&self) -> SystemId<I, O> {
        self.id
    }
}

impl<I, O> Clone for SystemHandle<I, O> {
    fn clone(&self) -> Self {
        Self { id: self.id, held: Arc::clone(&self.held) }
    }
}

impl<I, O> PartialEq for SystemHandle<I, O> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl<I, O> Eq for SystemHandle<I, O> {}

impl<I, O> fmt::Debug for SystemHandle<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SystemHandle").field(&self.held.number).finish()
    }
}

impl<I, O> From<&SystemHandle<I, O>> for SystemId<I, O> {
    fn from(handle: &SystemHandle<I, O>) -> Self {
        handle.id
    }
}
