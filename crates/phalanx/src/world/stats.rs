//! What a world holds and what it costs.
//!
//! Counting walks all archetypes and allocates names: it is for tools, tests and a look now and then, not for
//! every frame.

use std::fmt;

use phalanx_store::{SetGroupId, SetId};

use super::World;
use crate::archetype::ArchetypeId;
use crate::pool::{PoolId, PoolRecord, Strategy};
use crate::registry::{ComponentId, ComponentInfo};

/// The memory of one column of an archetype.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnStats {
    /// The component's name.
    pub component: String,
    /// The field's name; empty for a whole component, `added` or `changed` for row ticks.
    pub field: String,
    /// The bytes allocated.
    pub bytes: usize,
}

/// The size of one archetype.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchetypeStats {
    /// The archetype.
    pub id: ArchetypeId,
    /// How many entities it has.
    pub entities: usize,
    /// How many entities it has room for.
    pub capacity: usize,
    /// The bytes allocated for its rows, entity ids included.
    pub bytes: usize,
    /// Its columns; tags take no memory and are listed with zero bytes.
    pub columns: Vec<ColumnStats>,
}

/// The size of one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// The pool.
    pub id: PoolId,
    /// Its name.
    pub name: &'static str,
    /// How the records of its tables keep columns.
    pub strategy: Strategy,
    /// How many entities it has.
    pub entities: usize,
    /// Its archetypes, in order of creation.
    pub archetypes: Vec<ArchetypeId>,
    /// The bytes of the records of tables, beside `archetypes`; rows are not counted.
    pub record_bytes: Vec<usize>,
    /// The bytes of the masks that queries of the pool read.
    pub mask_bytes: usize,
}

/// The size of one sparse set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetStats {
    /// The component's name.
    pub component: String,
    /// How many entities are in the set.
    pub entities: usize,
    /// How many rows of a stable set are holes.
    pub holes: usize,
    /// How many pages of 1,024 entity indices are allocated.
    pub pages: usize,
    /// The bytes of pages and of the list of pages.
    pub page_bytes: usize,
    /// The bytes of the rows, entity ids included.
    pub row_bytes: usize,
}

/// One group, and how many entities are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupStats {
    /// The components whose sets it orders.
    pub owned: Vec<String>,
    /// The components that it only guarantees.
    pub guaranteed: Vec<String>,
    /// The components that its members lack.
    pub without: Vec<String>,
    /// How many entities are in the group.
    pub entities: usize,
}

/// The size of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorldStats {
    /// Living entities.
    pub entities: usize,
    /// Slots that the next entities will use again.
    pub free_slots: usize,
    /// Slots whose generations are used up.
    pub retired_slots: usize,
    /// Bytes of the entity directory.
    pub directory_bytes: usize,
    /// Bytes of the arrays that let queries find columns.
    pub index_bytes: usize,
    /// How often a single entity went from one archetype to another so far.
    pub moves: u64,
    /// How often an edge between two archetypes had to be worked out; repeated changes do not raise it.
    pub edges_computed: u64,
    /// How often a handle was out of date, and the directory was asked.
    pub handle_repairs: u64,
    /// How many queries were prepared for calls such as [`World::view`].
    pub prepared_queries: usize,
    /// How many different filters these queries have; each has one list of matches.
    pub prepared_filters: usize,
    /// All archetypes, the empty one included.
    pub archetypes: Vec<ArchetypeStats>,
    /// The sparse sets of components, in order of registration.
    pub sets: Vec<SetStats>,
    /// The groups, in order of creation.
    pub groups: Vec<GroupStats>,
    /// The pools in order of registration, `General` first.
    pub pools: Vec<PoolStats>,
}

impl WorldStats {
    /// All bytes counted here.
    pub fn bytes(&self) -> usize {
        let rows: usize = self.archetypes.iter().map(|archetype| archetype.bytes).sum();
        let sets: usize = self.sets.iter().map(|set| set.page_bytes + set.row_bytes).sum();
        let pools = self.pools.iter().map(|pool| pool.mask_bytes + pool.record_bytes.iter().sum::<usize>());
        rows + sets + pools.sum::<usize>() + self.directory_bytes + self.index_bytes
    }
}

impl World {
    /// Counts entities, archetypes and bytes.
    pub fn stats(&self) -> WorldStats {
        let entities = self.store.entities();
        let (queries, filters) = self.queries.count();
        WorldStats {
            moves: self.store.moves(),
            edges_computed: self.archetypes.edges.computed(),
            handle_repairs: self.store.location_repairs(),
            prepared_queries: queries,
            prepared_filters: filters,
            entities: entities.len(),
            free_slots: entities.free_len(),
            retired_slots: entities.retired_len(),
            directory_bytes: entities.bytes(),
            index_bytes: self.store.index_bytes(),
            archetypes: self.archetypes.iter().map(|id| self.archetype_stats(id)).collect(),
            sets: self.components.iter().filter_map(|info| self.set_stats(info)).collect(),
            groups: self.groups.iter().filter_map(|(id, _)| self.group_stats(id)).collect(),
            pools: self.archetypes.pools().iter().map(|pool| self.pool_stats(pool)).collect(),
        }
    }

    fn pool_stats(&self, pool: &PoolRecord) -> PoolStats {
        let tables = pool.archetypes().iter().filter_map(|&id| self.archetypes.table(id));
        let rowless = if pool.id() == PoolId::GENERAL { self.store.entities().rowless_len() } else { 0 };
        PoolStats {
            id: pool.id(),
            name: pool.name(),
            strategy: pool.strategy(),
            entities: rowless + tables.clone().map(|table| self.store.table_len(table)).sum::<usize>(),
            archetypes: pool.archetypes().to_vec(),
            record_bytes: tables.map(|table| self.store.record_bytes(table)).collect(),
            mask_bytes: pool.mask_bytes(),
        }
    }

    fn group_stats(&self, id: SetGroupId) -> Option<GroupStats> {
        let terms = self.store.group_terms(id).ok()?;
        let name = |id: ComponentId| self.components.info(id).name().to_owned();
        let in_sets = |sets: &[SetId]| -> Vec<String> {
            sets.iter()
                .filter_map(|set| self.set_components.get(set.index()).copied().flatten())
                .map(name)
                .collect()
        };
        let mut without = in_sets(&terms.without_sets);
        let in_tables =
            |info: &&ComponentInfo| info.columns().first().is_some_and(|first| terms.without.contains(first));
        without.extend(self.components.iter().filter(in_tables).map(|info| info.name().to_owned()));
        Some(GroupStats {
            owned: in_sets(&terms.owned),
            guaranteed: in_sets(&terms.seen),
            without,
            entities: self.store.group_len(id).ok()?,
        })
    }

    fn set_stats(&self, info: &ComponentInfo) -> Option<SetStats> {
        let set = self.set_of(info.id())?;
        let table = self.store.set_table(set);
        let columns: usize =
            info.columns().iter().map(|&column| self.store.column_bytes(table, column)).sum();
        Some(SetStats {
            component: info.name().to_owned(),
            entities: self.store.set_len(set),
            holes: self.store.set_holes(set),
            pages: self.store.set_pages(set),
            page_bytes: self.store.set_page_bytes(set),
            row_bytes: self.store.owner_bytes(table) + columns,
        })
    }

    fn archetype_stats(&self, id: ArchetypeId) -> ArchetypeStats {
        let table = self.archetypes.table(id).expect("listed archetypes exist");
        let mut columns = Vec::new();
        for component in self.archetypes.signature(id).iter().map(|id| self.components.info(id)) {
            let names = component
                .fields()
                .iter()
                .map(super::super::registry::FieldInfo::name)
                .chain(["added", "changed"]);
            for (&column, field) in component.columns().iter().zip(names) {
                columns.push(ColumnStats {
                    component: component.name().to_owned(),
                    field: field.to_owned(),
                    bytes: self.store.column_bytes(table, column),
                });
            }
        }
        let entities = if id == ArchetypeId::EMPTY {
            self.store.entities().rowless_len()
        } else {
            self.store.table_len(table)
        };
        ArchetypeStats {
            id,
            entities,
            capacity: self.store.table_capacity(table),
            bytes: self.store.owner_bytes(table) + columns.iter().map(|column| column.bytes).sum::<usize>(),
            columns,
        }
    }
}

impl fmt::Display for WorldStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, bytes) = (self.archetypes.len(), self.bytes());
        writeln!(
            f,
            "{} entities in {count} archetypes, {bytes} bytes, {} free slots",
            self.entities, self.free_slots
        )?;
        for archetype in self.archetypes.iter().filter(|archetype| archetype.entities > 0) {
            let mut names: Vec<&str> =
                archetype.columns.iter().map(|column| column.component.as_str()).collect();
            names.dedup();
            writeln!(
                f,
                "  {:>10} x {{{}}}: {} bytes",
                archetype.entities,
                names.join(", "),
                archetype.bytes
            )?;
        }
        for pool in self.pools.iter().filter(|pool| pool.id != PoolId::GENERAL) {
            let (count, records) = (pool.archetypes.len(), pool.record_bytes.iter().sum::<usize>());
            writeln!(
                f,
                "  {:>10} in pool {} ({:?}): {count} archetypes, {records} bytes of records",
                pool.entities, pool.name, pool.strategy
            )?;
        }
        Ok(())
    }
}
