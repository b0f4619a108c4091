//! The naive world: what each entity has in an ordered map, and the documented order as plain vectors.
//!
//! It knows nothing of queries, columns or caches. Tables are listed as they came; a row that leaves is replaced
//! by the last one, as the documentation says.

use std::collections::BTreeMap;

use phalanx::prelude::{Entity, Tick};

/// The components, by number; a set of them is a set of bits.
pub const HEALTH: usize = 0;
pub const POSITION: usize = 1;
pub const NAME: usize = 2;
pub const ARMOUR: usize = 3;
pub const LABEL: usize = 4;
pub const FROZEN: usize = 5;
pub const BOSS: usize = 6;
pub const SLOT: usize = 7;
/// Registered at run time: a tag, and a component with one field.
pub const MARK: usize = 8;
pub const COUNT: usize = 9;
pub const KINDS: usize = 10;

/// What one entity has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    pub has: u32,
    pub values: [u32; KINDS],
    pub added: [Tick; KINDS],
    pub changed: [Tick; KINDS],
}

impl Entry {
    pub fn has(&self, kind: usize) -> bool {
        self.has & (1 << kind) != 0
    }
}

/// The entities with one set of components, in the order of their rows.
struct Table {
    has: u32,
    rows: Vec<Entity>,
}

#[derive(Default)]
pub struct Naive {
    entries: BTreeMap<Entity, Entry>,
    tables: Vec<Table>,
    pub dead: Vec<Entity>,
}

impl Naive {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn entry(&self, entity: Entity) -> Option<&Entry> {
        self.entries.get(&entity)
    }

    /// All living entities in the documented order.
    pub fn in_order(&self) -> Vec<Entity> {
        let rows = self.tables.iter().flat_map(|table| table.rows.iter().copied());
        let mut rowless: Vec<Entity> =
            self.entries.iter().filter(|(_, entry)| entry.has == 0).map(|(&entity, _)| entity).collect();
        rowless.sort_unstable_by_key(|entity| entity.index());
        rows.chain(rowless).collect()
    }

    /// The tables that have rows, in order, with their sets of components.
    pub fn tables(&self) -> impl Iterator<Item = (u32, &[Entity])> {
        let tables = self.tables.iter().map(|table| (table.has, table.rows.as_slice()));
        tables.filter(|(_, rows)| !rows.is_empty())
    }

    /// The entities with exactly these components, in the order of their rows.
    pub fn with_exactly(&self, has: u32) -> Vec<Entity> {
        if has == 0 {
            return self.in_order().into_iter().filter(|entity| self.entries[entity].has == 0).collect();
        }
        self.tables.iter().filter(|table| table.has == has).flat_map(|table| table.rows.clone()).collect()
    }

    pub fn spawn(&mut self, entity: Entity, parts: &[(usize, u32)], now: Tick) {
        self.entries.insert(entity, Entry::default());
        self.insert(entity, parts, now);
    }

    /// Inserts components, all in one move.
    pub fn insert(&mut self, entity: Entity, parts: &[(usize, u32)], now: Tick) {
        let had = self.entries[&entity].has;
        for &(kind, value) in parts {
            self.write(entity, kind, value, now);
        }
        self.relocate(entity, had);
    }

    /// Removes what there is of a set of components, in one move.
    pub fn remove(&mut self, entity: Entity, kinds: &[usize]) {
        let entry = self.entries.get_mut(&entity).expect("alive");
        let had = entry.has;
        for kind in kinds {
            entry.has &= !(1 << kind);
        }
        self.relocate(entity, had);
    }

    /// Writes a component where it is, or where the entity will get it.
    pub fn write(&mut self, entity: Entity, kind: usize, value: u32, now: Tick) {
        let entry = self.entries.get_mut(&entity).expect("alive");
        if !entry.has(kind) {
            entry.has |= 1 << kind;
            entry.added[kind] = now;
        }
        entry.values[kind] = value;
        entry.changed[kind] = now;
    }

    pub fn despawn(&mut self, entity: Entity) {
        let entry = self.entries.get_mut(&entity).expect("alive");
        let had = std::mem::take(&mut entry.has);
        self.relocate(entity, had);
        self.entries.remove(&entity);
        self.dead.push(entity);
        if self.dead.len() > 20 {
            self.dead.remove(0);
        }
    }

    pub fn clear(&mut self) {
        for entity in self.in_order() {
            self.despawn(entity);
        }
    }

    /// Forgets the tables that have no rows, and returns how many.
    pub fn drop_empty(&mut self) -> usize {
        let before = self.tables.len();
        self.tables.retain(|table| !table.rows.is_empty());
        before - self.tables.len()
    }

    /// Makes a table, if there is none, without giving it rows.
    pub fn make_table(&mut self, has: u32) -> &mut Vec<Entity> {
        let at = self.tables.iter().position(|table| table.has == has);
        let at = at.unwrap_or_else(|| {
            self.tables.push(Table { has, rows: Vec::new() });
            self.tables.len() - 1
        });
        &mut self.tables[at].rows
    }

    /// Moves the row of an entity whose set of components was `had`.
    fn relocate(&mut self, entity: Entity, had: u32) {
        let has = self.entries[&entity].has;
        if had == has {
            return;
        }
        if has != 0 {
            self.make_table(has).push(entity);
        }
        if had != 0 {
            let rows = self.make_table(had);
            let row = rows.iter().position(|&other| other == entity).expect("it has a row");
            rows.swap_remove(row);
        }
    }
}
