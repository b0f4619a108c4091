//! What is being announced, outermost first: each the cause of the next.
//!
//! Causes lie in places that are kept, so that noting one more is a store. There are never more places than events may be
//! the cause of one another; causes beyond that, of which only the hooks hear that keep the world in agreement with
//! itself, are kept apart.

use phalanx_store::Entity;

use super::{Lifecycle, Reactions};
use crate::registry::ComponentId;

/// How many events may be the cause of one another, unless it is set.
const LIMIT: usize = 64;

/// Why handlers run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    pub(super) kind: CauseKind,
    /// The entity that changes; a placeholder for other events.
    pub(super) entity: Entity,
}

/// What it is that handlers run for.
#[derive(Clone, Copy, Debug)]
pub(super) enum CauseKind {
    /// A change.
    Change(Lifecycle, ComponentId),
    /// An event of this type that a program triggered.
    Event(&'static str),
}

impl Cause {
    /// An event of this type that a program triggered.
    pub(super) fn event(name: &'static str) -> Self {
        Self { kind: CauseKind::Event(name), entity: Entity::PLACEHOLDER }
    }
}

/// What is being announced.
pub(super) struct Chain {
    /// Places for causes, of which the first are in use. No more than the limit, unless it was lowered while more were in use.
    places: Vec<Cause>,
    used: usize,
    /// Causes beyond the limit.
    beyond: Vec<Cause>,
    limit: usize,
    /// The chain in which commands were queued that a panic left behind.
    noted: Vec<Cause>,
}

impl Default for Chain {
    fn default() -> Self {
        Self { places: Vec::new(), used: 0, beyond: Vec::new(), limit: LIMIT, noted: Vec::new() }
    }
}

impl Chain {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Whether there are no more causes than the limit allows.
    pub(super) fn is_within_limit(&self) -> bool {
        self.beyond.is_empty()
    }

    /// Whether one more is within the limit.
    pub(super) fn has_room(&self) -> bool {
        self.used < self.limit
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Causes that are in use stay where they are, so that each is popped as it was pushed.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.places.truncate(limit.max(self.used));
    }

    pub(super) fn push(&mut self, cause: Cause) {
        if let Some(place) = self.vacant_place() {
            *place = cause;
            self.used += 1;
        } else if self.has_room() {
            self.places.push(cause);
            self.used += 1;
        } else {
            self.beyond.push(cause);
        }
    }

    pub(super) fn pop(&mut self) {
        if self.beyond.pop().is_none() {
            self.pop_within_limit();
        }
    }

    /// As `pop`, of a cause that was within the limit.
    #[inline(always)]
    pub(super) fn pop_within_limit(&mut self) {
        self.used -= 1;
    }

    /// The place of the next cause, if there is one already. What is put there counts when it is taken into use.
    #[inline(always)]
    pub(super) fn vacant_place(&mut self) -> Option<&mut Cause> {
        if self.has_room() { self.places.get_mut(self.used) } else { None }
    }

    /// Takes the vacant place into use.
    #[inline(always)]
    pub(super) fn occupy(&mut self) {
        self.used += 1;
    }

    fn len(&self) -> usize {
        self.used + self.beyond.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Cause> {
        self.places[..self.used].iter().chain(&self.beyond)
    }
}

impl Reactions {
    /// How many causes there are.
    pub(crate) fn chain_depth(&self) -> usize {
        self.chain.len()
    }

    /// Takes note of the chain, in which commands were queued that are left behind.
    pub(crate) fn note_chain(&mut self) {
        self.chain.noted = self.chain.iter().copied().collect();
    }

    /// Goes on with the chain that was noted, as far as to this depth.
    pub(crate) fn lengthen_chain(&mut self, depth: usize) {
        while self.chain.len() < depth {
            let noted = self.chain.noted.get(self.chain.len()).copied();
            self.chain.push(noted.unwrap_or(Cause::event("what a panic left behind")));
        }
    }

    /// Goes back to this depth.
    pub(crate) fn shorten_chain(&mut self, depth: usize) {
        while self.chain.len() > depth {
            self.chain.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_lowered_in_a_chain_holds_for_what_comes_after() {
        let mut chain = Chain::default();
        (0..3).for_each(|_| chain.push(Cause::event("outer")));
        chain.set_limit(1);
        assert!(chain.vacant_place().is_none() && !chain.has_room());
        (0..3).for_each(|_| chain.pop_within_limit());
        assert!(chain.is_empty() && chain.is_within_limit());
        chain.push(Cause::event("first"));
        chain.push(Cause::event("second"));
        assert!(!chain.is_within_limit());
        chain.pop();
        chain.pop();
        assert!(chain.is_empty() && chain.is_within_limit());
    }
}
