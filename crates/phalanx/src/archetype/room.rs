//! How many archetypes a world keeps that no entity has.
//!
//! An archetype takes memory for each of its components, whether it has entities or not, and an entity that gets
//! thousands of components one by one passes through as many archetypes. Beyond a limit, those without entities are
//! dropped when the next change begins, and not before that many components came again: what the work costs is paid
//! for by what was created. An archetype that has to be made a second time raises the limit by its own size, so a world
//! that goes round among many archetypes soon keeps them all.
//!
//! Nothing here depends on time or on addresses: equal worlds drop equal archetypes.

use hashbrown::HashSet;

use crate::pool::PoolId;
use crate::signature::Signature;

/// How many components archetypes have together before any is dropped; some 64 MB, where each has one column.
const ALWAYS: usize = 1 << 18;

/// How large archetypes are, and how large they may become.
#[derive(Clone)]
pub(super) struct Room {
    /// The components of all archetypes; one counts as often as there are archetypes with it.
    used: usize,
    limit: usize,
    /// What was dropped for want of room, and has not come again.
    dropped: HashSet<(PoolId, u64)>,
    /// The components of archetypes that came again.
    returned: usize,
}

impl Room {
    pub(super) fn new() -> Self {
        Self { used: 0, limit: ALWAYS, dropped: HashSet::new(), returned: 0 }
    }

    /// Whether archetypes without entities should go.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        self.used > self.limit
    }

    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Notes that an archetype was created.
    pub(super) fn take(&mut self, pool: PoolId, signature: &Signature, fingerprint: u64) {
        let size = signature.len();
        self.used += size;
        if self.dropped.remove(&(pool, fingerprint)) {
            self.returned += size;
            self.limit += size;
        }
    }

    /// Notes that an archetype was dropped.
    pub(super) fn give(&mut self, signature: &Signature) {
        self.used -= signature.len();
    }

    /// Notes that it was dropped for want of room.
    pub(super) fn miss(&mut self, pool: PoolId, fingerprint: u64) {
        self.dropped.insert((pool, fingerprint));
    }

    /// Sets the limit anew, after archetypes were dropped for want of room: as much again may come.
    pub(super) fn renew(&mut self) {
        self.limit = ALWAYS.max(2 * self.used) + self.returned;
    }
}
