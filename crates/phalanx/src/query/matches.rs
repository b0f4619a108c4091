//! The archetypes that match a filter, found once and shared by all queries that ask for the same.
//!
//! Catching up reads the journal: created archetypes are tested and put in their place, dropped ones leave.
//! Only after sleeping through more than the journal keeps is everything matched afresh.

use super::condition::Filter;
use crate::archetype::{ArchetypeId, Archetypes, Change, Cursor};

/// The archetypes that match a filter: pool by pool, in order of creation.
#[derive(Clone, Debug)]
pub(crate) struct Matches {
    filter: Filter,
    archetypes: Vec<ArchetypeId>,
    cursor: Cursor,
}

impl Matches {
    pub(crate) fn new(filter: Filter, archetypes: &Archetypes) -> Self {
        let found = filter.find(archetypes);
        Self { filter, archetypes: found, cursor: archetypes.cursor() }
    }

    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The empty archetype stands for entities without a row.
    pub(crate) fn archetypes(&self) -> &[ArchetypeId] {
        &self.archetypes
    }

    #[inline]
    pub(crate) fn is_current(&self, archetypes: &Archetypes) -> bool {
        self.cursor == archetypes.cursor()
    }

    /// Whether these are the matches of another world.
    pub(crate) fn is_foreign(&self, archetypes: &Archetypes) -> bool {
        !archetypes.made(self.cursor)
    }

    pub(crate) fn catch_up(&mut self, archetypes: &Archetypes) {
        let Some(changes) = archetypes.changes_since(self.cursor) else {
            *self = Self::new(std::mem::take(&mut self.filter), archetypes);
            return;
        };
        self.cursor = archetypes.cursor();
        let mut created = false;
        for change in changes {
            match *change {
                Change::Dropped(id) => self.archetypes.retain(|&known| known != id),
                // An id that was dropped since shows the signature of its next life; the entry of that life, which
                // follows, puts it in its place.
                Change::Created(id) => {
                    self.archetypes.retain(|&known| known != id);
                    if archetypes.contains(id) && self.filter.admits(id, archetypes) {
                        self.archetypes.push(id);
                        created = true;
                    }
                }
            }
        }
        if created {
            // Now that all of them live: nearly sorted already, unless a pool got its first archetypes late.
            self.archetypes.sort_by_key(|&id| archetypes.home(id));
        }
    }
}
