//! Archetypes: which sets of components exist, and the table of each.
//!
//! ```text
//!   signatures  [ {}, {Pos}, {Pos, Vel}, .. ]     matching reads only these
//!   tables      [ --,   t2,      t3,     .. ]     index for index beside them
//!   holders     Pos ─▶ [1, 2], Vel ─▶ [2]         component to archetypes: start from the rarest
//!   journal     created 1, created 2, dropped 1   what a kept query has not seen yet
//! ```
//!
//! A set has one archetype, found by hash and then by comparison. Archetype 0 is the empty set, whose
//! entities have no row. Ids of dropped archetypes are given again; the journal tells in which order that
//! happened. The ways between archetypes are in `transitions`.

use hashbrown::HashTable;
use phalanx_store::{AnyColId, Edge, Store, TableId};

use crate::registry::{ComponentId, Components};
use crate::signature::Signature;

pub use journal::{Change, Cursor};
pub(crate) use transitions::{Kind, Transitions};

mod journal;
mod transitions;

/// The id of an archetype in one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArchetypeId(u32);

impl ArchetypeId {
    /// The archetype of entities without components.
    pub const EMPTY: Self = Self(0);

    /// The id as an array position.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 archetypes"))
    }
}

/// All archetypes of one world.
pub struct Archetypes {
    signatures: Vec<Signature>,
    /// Beside `signatures`; [`TableId::DEAD`] for dropped archetypes, whose signature is empty.
    tables: Vec<TableId>,
    /// Indexed by table.
    by_table: Vec<ArchetypeId>,
    by_signature: HashTable<ArchetypeId>,
    /// Indexed by component: the archetypes that have it, in order of creation.
    holders: Vec<Vec<ArchetypeId>>,
    free: Vec<ArchetypeId>,
    journal: journal::Journal,
    pub(crate) transitions: Transitions,
}

impl Archetypes {
    pub(crate) fn new() -> Self {
        let mut archetypes = Self {
            signatures: Vec::new(),
            tables: Vec::new(),
            by_table: vec![ArchetypeId::EMPTY; TableId::ROWLESS.index() + 1],
            by_signature: HashTable::new(),
            holders: Vec::new(),
            free: Vec::new(),
            journal: journal::Journal::new(),
            transitions: Transitions::default(),
        };
        archetypes.insert(Signature::empty(), TableId::ROWLESS);
        archetypes
    }

    /// How many archetypes exist, the empty one included.
    pub fn len(&self) -> usize {
        self.signatures.len() - self.free.len()
    }

    /// Never true: the empty archetype always exists.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All archetypes, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = ArchetypeId> + '_ {
        (0..self.signatures.len()).map(ArchetypeId::from_index).filter(|&id| self.contains(id))
    }

    /// Whether the archetype exists.
    pub fn contains(&self, id: ArchetypeId) -> bool {
        self.tables.get(id.index()).is_some_and(|&table| table != TableId::DEAD)
    }

    /// The components of an archetype; none for one that does not exist.
    pub fn signature(&self, id: ArchetypeId) -> &Signature {
        self.signatures.get(id.index()).unwrap_or(&self.signatures[0])
    }

    /// The table of an archetype's rows.
    pub fn table(&self, id: ArchetypeId) -> Option<TableId> {
        self.tables.get(id.index()).copied().filter(|&table| table != TableId::DEAD)
    }

    /// The archetype whose rows are in a table.
    #[inline]
    pub(crate) fn of_table(&self, table: TableId) -> ArchetypeId {
        self.by_table[table.index()]
    }

    /// The way from a table, if it is known.
    #[inline]
    pub(crate) fn way(&mut self, kind: Kind, table: TableId, index: usize) -> Option<&Edge> {
        self.transitions.from_table(kind, table, index, |table| self.by_table[table.index()])
    }

    /// The archetype with exactly these components, if it exists.
    pub fn find(&self, signature: &Signature) -> Option<ArchetypeId> {
        self.by_signature
            .find(signature.fingerprint(), |id| self.signatures[id.index()] == *signature)
            .copied()
    }

    /// The archetypes that have a component, in order of creation.
    pub fn with_component(&self, id: ComponentId) -> &[ArchetypeId] {
        self.holders.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// The archetypes that have all of `include`, none of `exclude` and, unless it is empty, one of `any_of`,
    /// in order of creation.
    ///
    /// Only the archetypes of the rarest component of `include` are looked at.
    pub fn matching(&self, include: &Signature, exclude: &Signature, any_of: &Signature) -> Vec<ArchetypeId> {
        let matches = |id: &ArchetypeId| {
            let signature = &self.signatures[id.index()];
            signature.contains(include)
                && !signature.overlaps(exclude)
                && (any_of.is_empty() || signature.overlaps(any_of))
        };
        match include.iter().map(|id| self.with_component(id)).min_by_key(|holders| holders.len()) {
            Some(rarest) => rarest.iter().copied().filter(matches).collect(),
            None => self.in_order().filter(matches).collect(),
        }
    }

    /// All archetypes in order of creation.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = ArchetypeId> + '_ {
        self.journal.living().iter().copied()
    }

    /// What happened since a cursor was last brought up to date; `None` when it must start afresh.
    pub fn changes_since(&self, cursor: Cursor) -> Option<&[Change]> {
        self.journal.since(cursor)
    }

    /// Whether a cursor came from these archetypes, rather than from another world's.
    pub(crate) fn made(&self, cursor: Cursor) -> bool {
        self.journal.made(cursor)
    }

    /// The present end of the journal.
    #[inline]
    pub fn cursor(&self) -> Cursor {
        self.journal.end()
    }

    pub(crate) fn get_or_create(
        &mut self,
        signature: Signature,
        components: &Components,
        store: &mut Store,
    ) -> ArchetypeId {
        match self.find(&signature) {
            Some(id) => id,
            None => {
                let columns: Vec<AnyColId> =
                    signature.iter().flat_map(|id| components.info(id).columns()).copied().collect();
                let table = store.new_table(&columns);
                self.insert(signature, table)
            }
        }
    }

    fn insert(&mut self, signature: Signature, table: TableId) -> ArchetypeId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.signatures.push(Signature::empty());
            self.tables.push(TableId::DEAD);
            ArchetypeId::from_index(self.signatures.len() - 1)
        });
        for component in &signature {
            if self.holders.len() <= component.index() {
                self.holders.resize_with(component.index() + 1, Vec::new);
            }
            self.holders[component.index()].push(id);
        }
        if self.by_table.len() <= table.index() {
            self.by_table.resize(table.index() + 1, ArchetypeId::EMPTY);
        }
        self.by_table[table.index()] = id;
        let signatures = &mut self.signatures;
        let fingerprint = signature.fingerprint();
        signatures[id.index()] = signature;
        self.by_signature.insert_unique(fingerprint, id, |id| signatures[id.index()].fingerprint());
        self.tables[id.index()] = table;
        self.journal.created(id);
        id
    }

    /// Drops the archetypes without rows, but for the empty one. Returns how many.
    pub(crate) fn drop_empty(&mut self, store: &mut Store) -> usize {
        let before = self.len();
        for at in 1..self.signatures.len() {
            let id = ArchetypeId::from_index(at);
            if self.tables[at] == TableId::DEAD || !store.drop_table(self.tables[at]) {
                continue;
            }
            let signature = std::mem::take(&mut self.signatures[at]);
            for component in &signature {
                self.holders[component.index()].retain(|&holder| holder != id);
            }
            if let Ok(entry) = self.by_signature.find_entry(signature.fingerprint(), |&known| known == id) {
                entry.remove();
            }
            self.by_table[self.tables[at].index()] = ArchetypeId::EMPTY;
            self.tables[at] = TableId::DEAD;
            self.journal.dropped(id);
            self.free.push(id);
        }
        let dropped = before - self.len();
        if dropped > 0 {
            // Edges carry the store's old stamp; those that are still needed are made again on first use.
            self.transitions.clear();
        }
        dropped
    }

    /// Verifies that the parallel arrays, the index and the tables agree.
    ///
    /// # Errors
    /// Says what does not.
    pub fn check(&self, components: &Components, store: &Store) -> Result<(), String> {
        for id in self.iter() {
            let signature = self.signature(id);
            if self.find(signature) != Some(id) {
                return Err(format!("{id:?} is not found by its signature"));
            }
            let table = self.tables[id.index()];
            if self.of_table(table) != id {
                return Err(format!("{id:?} and its table do not point at each other"));
            }
            for component in components.iter().filter(|component| !component.is_sparse()) {
                let listed = self.with_component(component.id()).contains(&id);
                let stored = component.columns().iter().all(|&column| store.table_has(table, column));
                let has = signature.has(component.id());
                if listed != has || stored != has {
                    return Err(format!(
                        "{id:?} and `{}`: in signature {has}, index {listed}, table {stored}",
                        component.name()
                    ));
                }
            }
        }
        self.journal.check(self.iter())
    }
}
