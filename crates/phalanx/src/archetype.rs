//! Archetypes: the sets of components that entities have, each with a table of its own.
//!
//! Entities with the same table components, in the same pool, share an archetype; adding or removing such a component moves
//! the entity's row to another one. Sparse components do not count. A program needs archetypes only to look at what a world
//! is made of ([`World::archetypes`](crate::World::archetypes)), or to change all entities of one at once.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Component)]
//! struct Health(f32);
//!
//! let mut world = World::new();
//! let id = world.register_component::<Health>();
//! world.spawn(Health(10.0));
//! assert_eq!(world.archetypes().with_component(id).len(), 1);
//! ```

//   signatures  [ {}, {Pos}, {Pos, Vel}, .. ]     matching reads only these
//   tables      [ --,   t2,      t3,     .. ]     index for index beside them
//   homes       [ General, General, Orcs, .. ]    whose it is, and the how-many-th it was
//   holders     Pos ─▶ [1, 2], Vel ─▶ [2]         component to archetypes: start from the rarest
//   journal     created 1, created 2, dropped 1   what a kept query has not seen yet
//
// A set has one archetype per pool: in General found by hash and then by comparison, elsewhere by its mask.
// Archetype 0 is General's empty set, whose entities have no row; in other pools every entity has one. Ids of
// dropped archetypes are given again; the journal tells in which order that happened. The edges between
// archetypes, which stay within a pool, are in `archetype/edges`.

use hashbrown::HashTable;
use phalanx_store::{AnyColId, Edge, Store, TableId};

use crate::pool::{PoolId, Pools, pooled};
use crate::registry::{ComponentId, Components};
use crate::signature::Signature;
use crate::steps;

pub(crate) use edges::{Edges, Kind};
pub(crate) use image::ArchetypesImage;
pub use journal::{Change, Cursor};

mod edges;
mod image;
mod journal;
mod room;

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

/// The hash by which General's archetypes are found.
fn hash_of(signature: &Signature) -> u64 {
    #[cfg(test)]
    if tests::ALL_ALIKE.get() {
        return 7;
    }
    signature.fingerprint()
}

/// All archetypes of one world.
pub struct Archetypes {
    signatures: Vec<Signature>,
    /// Beside `signatures`; [`TableId::DEAD`] for dropped archetypes, whose signature is empty.
    tables: Vec<TableId>,
    /// Beside `signatures`.
    homes: Vec<Home>,
    /// Indexed by table.
    by_table: Vec<ArchetypeId>,
    /// Indexed by table: the pool of its archetype, and General where there is none.
    pool_by_table: Vec<PoolId>,
    /// Indexed by table: whether a component of its archetype has listeners.
    heard_by_table: Vec<bool>,
    /// The components with listeners.
    heard: Signature,
    by_signature: HashTable<ArchetypeId>,
    /// Indexed by component: the archetypes that have it, in the order of queries.
    holders: Vec<Vec<ArchetypeId>>,
    free: Vec<ArchetypeId>,
    journal: journal::Journal,
    pools: Pools,
    /// How many archetypes were created so far.
    created: u64,
    room: room::Room,
    pub(crate) edges: Edges,
}

/// The place of an archetype in the order of queries: by pool, then by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Home {
    pool: PoolId,
    born: u64,
}

impl Archetypes {
    pub(crate) fn new() -> Self {
        let mut archetypes = Self {
            signatures: Vec::new(),
            tables: Vec::new(),
            homes: Vec::new(),
            by_table: vec![ArchetypeId::EMPTY; TableId::ROWLESS.index() + 1],
            pool_by_table: vec![PoolId::GENERAL; TableId::ROWLESS.index() + 1],
            heard_by_table: vec![false; TableId::ROWLESS.index() + 1],
            heard: Signature::empty(),
            by_signature: HashTable::new(),
            holders: Vec::new(),
            free: Vec::new(),
            journal: journal::Journal::new(),
            pools: Pools::new(),
            created: 0,
            room: room::Room::new(),
            edges: Edges::default(),
        };
        archetypes.insert(PoolId::GENERAL, Signature::empty(), TableId::ROWLESS);
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

    /// The edge from a table, if it is known.
    #[inline]
    pub(crate) fn edge(&mut self, kind: Kind, table: TableId, index: usize) -> Option<&Edge> {
        self.edges.leaving_table(kind, table, index, |table| self.by_table[table.index()])
    }

    /// The number of the edge from a table, if it is known.
    #[inline]
    pub(crate) fn edge_position(&mut self, kind: Kind, table: TableId, index: usize) -> Option<usize> {
        self.edges.position_leaving(kind, table, index, |table| self.by_table[table.index()])
    }

    /// General's archetype with exactly these components, if it exists.
    pub fn find(&self, signature: &Signature) -> Option<ArchetypeId> {
        self.by_signature.find(hash_of(signature), |id| self.signatures[id.index()] == *signature).copied()
    }

    /// A pool's archetype with exactly these components, if it exists.
    pub fn find_in(&self, pool: PoolId, signature: &Signature) -> Option<ArchetypeId> {
        if pool == PoolId::GENERAL {
            return self.find(signature);
        }
        self.pools.get(pool)?.find(signature)
    }

    /// The pools of the world.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    pub(crate) fn pools_mut(&mut self) -> &mut Pools {
        &mut self.pools
    }

    /// The pool that an archetype belongs to.
    #[inline]
    pub fn pool_of(&self, id: ArchetypeId) -> PoolId {
        self.homes.get(id.index()).map_or(PoolId::GENERAL, |home| home.pool)
    }

    /// Whether the rows of a table belong to a pool: one array read.
    #[inline(always)]
    pub(crate) fn table_is_in(&self, table: TableId, pool: PoolId) -> bool {
        self.pools_by_table().get(table.index()) == Some(&pool)
    }

    /// Whose rows each table has.
    #[inline(always)]
    pub(crate) fn pools_by_table(&self) -> &[PoolId] {
        &self.pool_by_table
    }

    /// Whether a component of the rows of a table has listeners: one array read.
    #[inline(always)]
    pub(crate) fn table_is_heard(&self, table: TableId) -> bool {
        self.heard_by_table[table.index()]
    }

    /// Tells all archetypes which components have listeners.
    pub(crate) fn set_heard(&mut self, heard: Signature) {
        self.heard = heard;
        let living: Vec<ArchetypeId> = self.iter().collect();
        living.into_iter().for_each(|id| self.index_table(id));
    }

    /// Notes whose rows the table of an archetype has, and whether they have listeners.
    fn index_table(&mut self, id: ArchetypeId) {
        let table = self.tables[id.index()].index();
        if self.by_table.len() <= table {
            self.by_table.resize(table + 1, ArchetypeId::EMPTY);
            self.pool_by_table.resize(table + 1, PoolId::GENERAL);
            self.heard_by_table.resize(table + 1, false);
        }
        self.by_table[table] = id;
        self.pool_by_table[table] = self.homes[id.index()].pool;
        self.heard_by_table[table] = self.signatures[id.index()].overlaps(&self.heard);
    }

    /// Where an archetype stands in the order of queries.
    pub(crate) fn home(&self, id: ArchetypeId) -> Home {
        self.homes[id.index()]
    }

    /// How many archetypes were created before this one.
    #[cfg(feature = "serde")]
    pub(crate) fn age(&self, id: ArchetypeId) -> u64 {
        self.homes[id.index()].born
    }

    /// The archetypes that have a component: pool by pool, in order of creation.
    pub fn with_component(&self, id: ComponentId) -> &[ArchetypeId] {
        self.holders.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// The archetypes that have all of `include`, none of `exclude` and, unless it is empty, one of `any_of`:
    /// pool by pool, in order of creation.
    ///
    /// Only the archetypes of the rarest component of `include` are looked at.
    pub fn matching(&self, include: &Signature, exclude: &Signature, any_of: &Signature) -> Vec<ArchetypeId> {
        let matches = |id: &ArchetypeId| {
            steps::count();
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

    /// All archetypes, pool by pool, in order of creation.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = ArchetypeId> + '_ {
        self.pools.iter().flat_map(|pool| pool.archetypes().iter().copied())
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

    /// Begins or ends to keep what happens to the set for observers.
    pub(crate) fn follow(&mut self, follows: bool) {
        self.journal.follow(follows);
    }

    /// What observers are to be told; `None` when none do.
    pub(crate) fn followed(&mut self) -> Option<&mut Vec<Change>> {
        self.journal.followed()
    }

    /// Lets all queries match afresh when they are used next.
    pub(crate) fn match_afresh(&mut self) {
        self.journal.forget();
    }

    pub(crate) fn get_or_create(
        &mut self,
        pool: PoolId,
        signature: Signature,
        components: &Components,
        store: &mut Store,
    ) -> ArchetypeId {
        if let Some(id) = self.find_in(pool, &signature) {
            self.pools.record_mut(pool).remember(id);
            return id;
        }
        let mut columns: Vec<AnyColId> =
            signature.iter().flat_map(|id| components.info(id).columns()).copied().collect();
        let table = if pool == PoolId::GENERAL {
            store.new_table(&columns)
        } else {
            let record = self.pools.record(pool);
            columns.extend([pooled().any(), record.tag()]);
            store.new_table_shaped(record.shape(), &columns)
        };
        self.insert(pool, signature, table)
    }

    fn insert(&mut self, pool: PoolId, signature: Signature, table: TableId) -> ArchetypeId {
        let home = Home { pool, born: self.created };
        self.created += 1;
        let id = self.free.pop().unwrap_or_else(|| {
            self.signatures.push(Signature::empty());
            self.tables.push(TableId::DEAD);
            self.homes.push(home);
            ArchetypeId::from_index(self.signatures.len() - 1)
        });
        self.homes[id.index()] = home;
        for component in &signature {
            if self.holders.len() <= component.index() {
                self.holders.resize_with(component.index() + 1, Vec::new);
            }
            let holders = &mut self.holders[component.index()];
            // The youngest comes last, unless its pool is older than another one.
            match holders.last() {
                Some(last) if self.homes[last.index()] > home => {
                    let at = holders.partition_point(|holder| self.homes[holder.index()] < home);
                    holders.insert(at, id);
                }
                _ => holders.push(id),
            }
        }
        self.pools.record_mut(pool).add(id, &signature);
        let signatures = &mut self.signatures;
        let fingerprint = hash_of(&signature);
        self.room.take(pool, &signature, fingerprint);
        signatures[id.index()] = signature;
        if pool == PoolId::GENERAL {
            self.by_signature.insert_unique(fingerprint, id, |id| hash_of(&signatures[id.index()]));
        }
        self.tables[id.index()] = table;
        self.index_table(id);
        self.journal.created(id);
        id
    }

    /// Whether there are so many archetypes that those without rows should go.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.room.is_short()
    }

    /// Drops the archetypes without rows, but for the empty one. Returns how many.
    pub(crate) fn drop_empty(&mut self, store: &mut Store) -> usize {
        let crowded = self.is_crowded();
        // The components of those that are dropped.
        let mut lost = vec![false; self.holders.len()];
        let before = self.len();
        for at in 1..self.signatures.len() {
            let (id, table) = (ArchetypeId::from_index(at), self.tables[at]);
            if table == TableId::DEAD || !store.drop_table(table) {
                continue;
            }
            let signature = std::mem::take(&mut self.signatures[at]);
            for component in &signature {
                steps::count();
                lost[component.index()] = true;
            }
            let fingerprint = hash_of(&signature);
            if let Ok(entry) = self.by_signature.find_entry(fingerprint, |&known| known == id) {
                entry.remove();
            }
            self.by_table[table.index()] = ArchetypeId::EMPTY;
            self.pool_by_table[table.index()] = PoolId::GENERAL;
            self.heard_by_table[table.index()] = false;
            self.tables[at] = TableId::DEAD;
            self.journal.dropped(id);
            self.room.give(&signature);
            if crowded {
                self.room.miss(self.homes[at].pool, fingerprint);
            }
            self.free.push(id);
        }
        let dropped = before - self.len();
        if dropped > 0 {
            // Each list once, however many leave it.
            let tables = &self.tables;
            let lives = |id: ArchetypeId| {
                steps::count();
                tables[id.index()] != TableId::DEAD
            };
            for (holders, _) in self.holders.iter_mut().zip(lost).filter(|(_, lost)| *lost) {
                holders.retain(|&id| lives(id));
            }
            self.pools.retain(lives);
            self.journal.retain(lives);
            // Edges carry the store's old stamp; those that are still needed are made again on first use.
            self.edges.clear();
            self.pools.forget_edges();
        }
        if crowded {
            self.room.renew();
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
            if self.find_in(self.pool_of(id), signature) != Some(id) {
                return Err(format!("{id:?} is not found by its signature"));
            }
            let table = self.tables[id.index()];
            if self.of_table(table) != id {
                return Err(format!("{id:?} and its table do not point at each other"));
            }
            if !self.table_is_in(table, self.pool_of(id)) {
                return Err(format!("{id:?} and its table are in different pools"));
            }
            if self.table_is_heard(table) != signature.overlaps(&self.heard) {
                return Err(format!("{id:?} and its table differ in whether there are listeners"));
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
        if self.room.used() != self.iter().map(|id| self.signature(id).len()).sum() {
            return Err("the archetypes lost count of their components".into());
        }
        if !self.pools.iter().all(|pool| pool.archetypes().is_sorted_by_key(|&id| self.home(id))) {
            return Err("the archetypes of a pool are not in order of creation".into());
        }
        self.pools.check(|id| self.signature(id).clone())?;
        self.journal.check(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::schema::Schema;
    use crate::signature::Signature;

    std::thread_local! {
        /// Whether all sets of components have the same hash.
        pub(super) static ALL_ALIKE: Cell<bool> = const { Cell::new(false) };
    }

    // O-118.
    #[test]
    fn sets_with_equal_hashes_are_told_apart_by_their_components() {
        ALL_ALIKE.set(true);
        let mut components = crate::registry::Components::default();
        let ids: Vec<_> = (0..6)
            .map(|at| {
                components.register_schema(Schema::new(format!("alike {at}"))).expect("the name is free")
            })
            .collect();
        let sets: Vec<Signature> = (0..1_usize << ids.len())
            .map(|bits| ids.iter().copied().filter(|id| bits & (1 << id.index()) != 0).collect())
            .collect();
        let (mut archetypes, mut store) = (super::Archetypes::new(), phalanx_store::Store::new());
        let general = crate::pool::PoolId::GENERAL;
        let mut create =
            |set: &Signature| archetypes.get_or_create(general, set.clone(), &components, &mut store);
        let made: Vec<_> = sets.iter().map(&mut create).collect();
        let again: Vec<_> = sets.iter().map(create).collect();
        assert_eq!(made, again);
        assert_eq!(archetypes.len(), sets.len());
        for (set, &id) in sets.iter().zip(&made) {
            assert_eq!((archetypes.find(set), archetypes.signature(id)), (Some(id), set));
        }
        assert_eq!(archetypes.drop_empty(&mut store), sets.len() - 1);
        assert!(sets[1..].iter().all(|set| archetypes.find(set).is_none()));
    }
}
