//! The edges between archetypes, worked out once and then read.
//!
//! Each archetype has, per kind of change, an array indexed by bundle (or component): following a known
//! edge is an array read, then the store's copies. Nothing is computed, hashed or allocated. Only where thousands of
//! components would make arrays that are nearly empty, the few edges behind their end are found by hash.

use hashbrown::HashMap;
use phalanx_store::{Edge, TableId};

use super::ArchetypeId;
use crate::pool::PoolId;

/// The kind of a change, and with it what its index counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Values of a bundle come.
    Insert,
    /// What is there of a bundle goes, and is returned or dropped, without listeners.
    Remove,
    /// The same with listeners: found only by the announcement.
    RemoveHeard,
    /// Everything but a bundle is dropped.
    Retain,
    /// A run-time component comes with zero values; indexed by component.
    InsertZeroed,
    /// A component is dropped; indexed by component.
    Drop,
    /// A bundle is dropped, for whole tables.
    DropBundle,
}

const KINDS: usize = 7;

/// Below which index edges are found without a hash: of an archetype's array, at most a page.
const NEAR: usize = 1024;

/// All edges found so far.
#[derive(Default)]
pub(crate) struct Edges {
    /// `edges[kind][archetype][index]` is a position in `found` plus one.
    edges: [Vec<Vec<u32>>; KINDS],
    /// The edges whose index is behind the end of their archetype's array.
    far: HashMap<(Kind, ArchetypeId, usize), usize>,
    /// From an archetype to another pool, with a bundle; explicit and rare, so found by hash.
    migrations: HashMap<(ArchetypeId, PoolId, usize), usize>,
    found: Vec<Edge>,
    /// The edge that was asked for last, per kind: changes come in runs of equal ones.
    last: [Last; KINDS],
    computed: u64,
    /// How often all edges were forgotten.
    cleared: u64,
}

#[derive(Clone, Copy)]
struct Last {
    table: TableId,
    index: usize,
    position: usize,
}

impl Default for Last {
    fn default() -> Self {
        // There are no edges from where the dead are.
        Self { table: TableId::DEAD, index: 0, position: 0 }
    }
}

impl Edges {
    #[inline]
    pub(crate) fn position(&self, kind: Kind, from: ArchetypeId, index: usize) -> Option<usize> {
        match self.edges[kind as usize].get(from.index()).and_then(|edges| edges.get(index)) {
            Some(0) => None,
            Some(at) => Some(*at as usize - 1),
            None => self.far_position(kind, from, index),
        }
    }

    #[cold]
    #[inline(never)]
    fn far_position(&self, kind: Kind, from: ArchetypeId, index: usize) -> Option<usize> {
        if index < NEAR { None } else { self.far.get(&(kind, from, index)).copied() }
    }

    /// As [`Edges::position`], for the archetype of a table, quickly when the same was asked before.
    #[inline(always)]
    pub(crate) fn leaving_table(
        &mut self,
        kind: Kind,
        table: TableId,
        index: usize,
        archetype: impl FnOnce(TableId) -> ArchetypeId,
    ) -> Option<&Edge> {
        let position = self.position_leaving(kind, table, index, archetype)?;
        self.found.get(position)
    }

    /// The position of that edge.
    #[inline(always)]
    pub(crate) fn position_leaving(
        &mut self,
        kind: Kind,
        table: TableId,
        index: usize,
        archetype: impl FnOnce(TableId) -> ArchetypeId,
    ) -> Option<usize> {
        if let Some(position) = self.last_position(kind, table, index) {
            return Some(position);
        }
        let position = self.position(kind, archetype(table), index)?;
        self.last[kind as usize] = Last { table, index, position };
        Some(position)
    }

    /// The position of the edge that was asked for last, if it is this one.
    #[inline(always)]
    pub(crate) fn last_position(&self, kind: Kind, table: TableId, index: usize) -> Option<usize> {
        let last = self.last[kind as usize];
        (last.table == table && last.index == index).then_some(last.position)
    }

    #[inline]
    pub(crate) fn at(&self, position: usize) -> &Edge {
        &self.found[position]
    }

    pub(crate) fn add(&mut self, kind: Kind, from: ArchetypeId, index: usize, edge: Edge) -> usize {
        self.computed += 1;
        let edges = &mut self.edges[kind as usize];
        if edges.len() <= from.index() {
            edges.resize_with(from.index() + 1, Vec::new);
        }
        let edges = &mut edges[from.index()];
        self.found.push(edge);
        if index >= NEAR {
            self.far.insert((kind, from, index), self.found.len() - 1);
            return self.found.len() - 1;
        }
        if edges.len() <= index {
            edges.resize(index + 1, 0);
        }
        edges[index] = u32::try_from(self.found.len()).expect("fewer than 2^32 edges");
        self.found.len() - 1
    }

    /// The edge from an archetype to another pool, with a bundle.
    pub(crate) fn migration(&self, from: ArchetypeId, to: PoolId, bundle: usize) -> Option<usize> {
        self.migrations.get(&(from, to, bundle)).copied()
    }

    pub(crate) fn add_migration(
        &mut self,
        from: ArchetypeId,
        to: PoolId,
        bundle: usize,
        edge: Edge,
    ) -> usize {
        self.computed += 1;
        self.found.push(edge);
        self.migrations.insert((from, to, bundle), self.found.len() - 1);
        self.found.len() - 1
    }

    /// The bytes of the arrays that lead to edges, and of the edges behind their ends.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let arrays = self.edges.iter().flatten().map(|edges| edges.capacity() * size_of::<u32>());
        arrays.sum::<usize>() + self.far.allocation_size()
    }

    /// How many edges were worked out so far, the forgotten ones included.
    pub(crate) fn computed(&self) -> u64 {
        self.computed
    }

    /// How often all edges were forgotten: edges kept elsewhere compare it.
    pub(crate) fn cleared(&self) -> u64 {
        self.cleared
    }

    /// Forgets all edges.
    pub(crate) fn clear(&mut self) {
        self.cleared += 1;
        self.edges = Default::default();
        self.far.clear();
        self.migrations.clear();
        self.found.clear();
        self.last = Default::default();
    }
}
