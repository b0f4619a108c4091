//! What happened to the set of archetypes, in order, so that kept queries can catch up and observers can be told.
//!
//! A query remembers a [`Cursor`]; when it equals the journal's end, nothing happened, and that comparison
//! is all a run costs. The journal forgets old entries when they outnumber what they describe: a query
//! that slept through that matches afresh.

use std::sync::atomic::{AtomicU64, Ordering};

use super::ArchetypeId;
use phalanx_store::sorting;

static NEXT_JOURNAL: AtomicU64 = AtomicU64::new(1);

/// Something that happened to the set of archetypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The archetype was created.
    Created(ArchetypeId),
    /// The archetype was dropped; its id may be created again.
    Dropped(ArchetypeId),
}

/// How much of which journal a query has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    journal: u64,
    seen: u64,
}

pub(super) struct Journal {
    /// Differs between the journals of all worlds, so that a query notices when it meets another world.
    id: u64,
    changes: Vec<Change>,
    /// How many entries were forgotten before the first one.
    forgotten: u64,
    /// The living archetypes in order of creation.
    living: Vec<ArchetypeId>,
    /// What observers are to be told, if there are any: none of it is forgotten.
    followed: Option<Vec<Change>>,
}

impl Journal {
    pub(super) fn new() -> Self {
        let id = NEXT_JOURNAL.fetch_add(1, Ordering::Relaxed);
        Self { id, changes: Vec::new(), forgotten: 0, living: Vec::new(), followed: None }
    }

    pub(super) fn created(&mut self, id: ArchetypeId) {
        self.living.push(id);
        self.record(Change::Created(id));
    }

    /// Notes that an archetype was dropped; [`Journal::retain`] is next.
    pub(super) fn dropped(&mut self, id: ArchetypeId) {
        self.record(Change::Dropped(id));
    }

    /// Keeps the living ones, once for all that were dropped.
    pub(super) fn retain(&mut self, lives: impl Fn(ArchetypeId) -> bool) {
        self.living.retain(|&id| lives(id));
    }

    /// Lets every cursor start afresh.
    pub(super) fn forget(&mut self) {
        self.forgotten += self.changes.len() as u64 + 1;
        self.changes.clear();
    }

    /// Begins anew with other archetypes: cursors start afresh.
    pub(super) fn restart(&mut self, living: Vec<ArchetypeId>) {
        self.forget();
        self.living = living;
    }

    /// Begins or ends to keep what happens for observers.
    pub(super) fn follow(&mut self, follows: bool) {
        if follows != self.followed.is_some() {
            self.followed = follows.then(Vec::new);
        }
    }

    /// What happened since observers were told.
    pub(super) fn followed(&mut self) -> Option<&mut Vec<Change>> {
        self.followed.as_mut()
    }

    fn record(&mut self, change: Change) {
        if let Some(followed) = &mut self.followed {
            followed.push(change);
        }
        self.changes.push(change);
        let kept = self.living.len() * 2 + 64;
        if self.changes.len() > kept * 2 {
            let old = self.changes.len() - kept;
            self.changes.drain(..old);
            self.forgotten += old as u64;
        }
    }

    #[inline]
    pub(super) fn end(&self) -> Cursor {
        Cursor { journal: self.id, seen: self.forgotten + self.changes.len() as u64 }
    }

    /// Whether the cursor is one of this journal.
    pub(super) fn made(&self, cursor: Cursor) -> bool {
        cursor.journal == self.id
    }

    pub(super) fn since(&self, cursor: Cursor) -> Option<&[Change]> {
        if !self.made(cursor) {
            return None;
        }
        let seen = usize::try_from(cursor.seen.checked_sub(self.forgotten)?).ok()?;
        self.changes.get(seen..)
    }

    pub(super) fn check(&self, existing: impl Iterator<Item = ArchetypeId>) -> Result<(), String> {
        let mut living = self.living.clone();
        sorting::sort(&mut living);
        if living.iter().copied().eq(existing) {
            Ok(())
        } else {
            Err("the journal lost count of the living".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_sees_what_came_after_it_and_nothing_twice() {
        let mut journal = Journal::new();
        journal.created(ArchetypeId(0));
        let cursor = journal.end();
        assert_eq!(journal.since(cursor), Some(&[][..]));
        journal.created(ArchetypeId(1));
        journal.dropped(ArchetypeId(1));
        journal.retain(|id| id != ArchetypeId(1));
        let news = [Change::Created(ArchetypeId(1)), Change::Dropped(ArchetypeId(1))];
        assert_eq!(journal.since(cursor), Some(&news[..]));
        assert_eq!(journal.living, [ArchetypeId(0)]);
    }

    #[test]
    fn the_journal_stays_small_and_tells_sleepers_to_start_afresh() {
        let mut journal = Journal::new();
        let sleeper = journal.end();
        for _ in 0..10_000 {
            journal.created(ArchetypeId(1));
            journal.dropped(ArchetypeId(1));
            journal.retain(|id| id != ArchetypeId(1));
        }
        assert!(journal.changes.len() < 1_000);
        assert_eq!(journal.since(sleeper), None);
        assert_eq!(journal.since(journal.end()), Some(&[][..]));
    }

    #[test]
    fn a_cursor_of_another_journal_must_start_afresh() {
        let (journal, other) = (Journal::new(), Journal::new());
        assert_ne!(journal.end(), other.end());
        assert_eq!(journal.since(other.end()), None);
        assert_eq!(journal.since(Cursor::default()), None);
    }
}
