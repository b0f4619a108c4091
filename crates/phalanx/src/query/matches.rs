//! The archetypes that match a filter, found once and shared by all queries that ask for the same.
//!
//! Catching up reads the journal: archetypes that were created are tested and put in their place. When one was
//! dropped, or more happened than the journal keeps, everything is matched afresh: then the tables of a query have to
//! be admitted anew as well.

use super::condition::Filter;
use crate::archetype::{ArchetypeId, Archetypes, Change, Cursor};
use crate::steps;

/// The archetypes that match a filter: pool by pool, in order of creation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matches {
    filter: Filter,
    archetypes: Vec<ArchetypeId>,
    cursor: Cursor,
}

/// What catching up did.
#[must_use]
pub(crate) enum Caught {
    /// These archetypes match, too; those that matched before still do.
    Added(Vec<ArchetypeId>),
    /// All matches were found anew.
    Afresh,
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

    pub(crate) fn catch_up(&mut self, archetypes: &Archetypes) -> Caught {
        let changes = archetypes.changes_since(self.cursor);
        let Some(created) = changes.and_then(only_created) else {
            self.renew(archetypes);
            return Caught::Afresh;
        };
        self.cursor = archetypes.cursor();
        let added: Vec<ArchetypeId> = created.filter(|&id| self.filter.admits(id, archetypes)).collect();
        added.iter().for_each(|&id| self.insert(id, archetypes));
        Caught::Added(added)
    }

    /// Finds all matches anew.
    pub(crate) fn renew(&mut self, archetypes: &Archetypes) {
        *self = Self::new(std::mem::take(&mut self.filter), archetypes);
    }

    /// Adds an archetype that matches, in its place.
    pub(crate) fn insert(&mut self, id: ArchetypeId, archetypes: &Archetypes) {
        let home = archetypes.home(id);
        let at = self.archetypes.partition_point(|&known| {
            steps::count();
            archetypes.home(known) < home
        });
        self.archetypes.insert(at, id);
    }
}

/// The archetypes that were created, when none was dropped: ids of dropped ones are given again.
pub(crate) fn only_created(changes: &[Change]) -> Option<impl Iterator<Item = ArchetypeId>> {
    let id = |change: &Change| match *change {
        Change::Created(id) => Some(id),
        Change::Dropped(_) => None,
    };
    changes.iter().all(|change| id(change).is_some()).then(|| changes.iter().filter_map(id))
}
