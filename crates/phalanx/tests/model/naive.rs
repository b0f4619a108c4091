//! The world as a child would build it: a map from entities to maps from components to values.
//!
//! It shares no idea with the real one but the documented behaviour, and that includes which id comes next:
//! the slot freed last is used first, then new ones; after a clear, slots are used from the lowest upwards.
//! Every change notes the entity down in `touched`, so that the comparison knows where to look.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::Entity;
use phalanx::tracking::Tick;

use crate::parts::{Cell, Key, requirements};

pub type Cells = BTreeMap<Key, Cell>;

/// What happens to components that the entity has already.
#[derive(Clone, Copy, PartialEq)]
pub enum Existing {
    Replace,
    Keep,
}

pub struct Naive {
    pub entities: BTreeMap<Entity, Cells>,
    /// Reserved, and not alive before the next flush.
    pub pending: Vec<Entity>,
    pub touched: BTreeSet<Entity>,
    pub died: Vec<Entity>,
    pub now: Tick,
    /// What commands that were recorded by commands will spawn.
    pub last: Vec<Vec<(Key, Cell)>>,
    /// The generation of each slot.
    slots: Vec<u32>,
    /// A stack of free slots.
    free: Vec<u32>,
}

impl Naive {
    pub fn new(now: Tick) -> Self {
        Self {
            entities: BTreeMap::new(),
            pending: Vec::new(),
            touched: BTreeSet::new(),
            died: Vec::new(),
            now,
            last: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub fn is_alive(&self, entity: Entity) -> bool {
        self.entities.contains_key(&entity)
    }

    pub fn free_slots(&self) -> usize {
        self.free.len()
    }

    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// How many texts the real world holds.
    pub fn texts(&self) -> usize {
        self.entities.values().flat_map(BTreeMap::values).map(Cell::texts).sum()
    }

    /// The entities with each set of components that some entity has.
    pub fn archetypes(&self) -> BTreeMap<Vec<Key>, Vec<Entity>> {
        let mut archetypes = BTreeMap::<Vec<Key>, Vec<Entity>>::new();
        for (&entity, cells) in &self.entities {
            archetypes.entry(cells.keys().copied().collect()).or_default().push(entity);
        }
        archetypes
    }

    fn next_id(&mut self) -> Entity {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(0);
            u32::try_from(self.slots.len() - 1).expect("a small world")
        });
        let generation = u64::from(self.slots[index as usize]) + 1;
        Entity::from_bits((generation << 32) | u64::from(index)).expect("a generation is not zero")
    }

    pub fn spawn(&mut self, cells: Vec<(Key, Cell)>) -> Entity {
        let entity = self.next_id();
        self.entities.insert(entity, Cells::new());
        self.insert(entity, cells, Existing::Replace);
        entity
    }

    pub fn reserve(&mut self) -> Entity {
        let entity = self.next_id();
        self.pending.push(entity);
        entity
    }

    /// Brings reserved entities to life.
    pub fn wake(&mut self) {
        for entity in std::mem::take(&mut self.pending) {
            self.entities.insert(entity, Cells::new());
            self.touched.insert(entity);
        }
    }

    /// Changes the components of an entity. False when it is dead.
    fn change(&mut self, entity: Entity, change: impl FnOnce(&mut Cells, Tick)) -> bool {
        self.touched.insert(entity);
        self.entities.get_mut(&entity).map(|cells| change(cells, self.now)).is_some()
    }

    pub fn insert(&mut self, entity: Entity, brought: Vec<(Key, Cell)>, existing: Existing) -> bool {
        self.change(entity, |cells, now| {
            let mut wave: Vec<Key> = brought.iter().map(|(key, _)| *key).collect();
            let mut met: BTreeSet<Key> = wave.iter().copied().collect();
            for (key, cell) in brought {
                if existing == Existing::Replace || !cells.contains_key(&key) {
                    cells.insert(key, cell.stamped(now));
                }
            }
            // Nearest first; what is there stays, and still asks for what it requires.
            while !wave.is_empty() {
                let mut required: Vec<_> = wave.drain(..).flat_map(requirements).collect();
                required.retain(|(key, _)| met.insert(*key));
                for (key, cell) in required {
                    wave.push(key);
                    cells.entry(key).or_insert_with(|| cell.stamped(now));
                }
            }
        })
    }

    pub fn remove(&mut self, entity: Entity, keys: &[Key]) -> bool {
        self.change(entity, |cells, _| cells.retain(|key, _| !keys.contains(key)))
    }

    pub fn retain(&mut self, entity: Entity, keys: &[Key]) -> bool {
        // What stays keeps what it requires.
        let mut kept: BTreeSet<Key> = keys.iter().copied().collect();
        let mut wave = keys.to_vec();
        while let Some(key) = wave.pop() {
            wave.extend(requirements(key).into_iter().map(|(key, _)| key).filter(|key| kept.insert(*key)));
        }
        self.change(entity, |cells, _| cells.retain(|key, _| kept.contains(key)))
    }

    /// Takes all of `keys`, or nothing.
    pub fn take(&mut self, entity: Entity, keys: &[Key]) -> Option<Cells> {
        let cells = self.entities.get_mut(&entity)?;
        if !keys.iter().all(|key| cells.contains_key(key)) {
            return None;
        }
        self.touched.insert(entity);
        Some(keys.iter().filter_map(|key| cells.remove_entry(key)).collect())
    }

    pub fn set(&mut self, entity: Entity, key: Key, cell: Cell) {
        self.change(entity, |cells, _| {
            cells.insert(key, cell);
        });
    }

    /// False when the entity is dead. A change of the world brings reserved ids to life first.
    pub fn despawn(&mut self, entity: Entity) -> bool {
        self.wake();
        self.touched.insert(entity);
        let alive = self.entities.remove(&entity).is_some();
        if alive {
            self.slots[entity.index() as usize] += 1;
            self.free.push(entity.index());
            self.died.push(entity);
        }
        alive
    }

    pub fn clear(&mut self) {
        self.wake();
        for entity in std::mem::take(&mut self.entities).into_keys() {
            self.touched.insert(entity);
            self.slots[entity.index() as usize] += 1;
            self.died.push(entity);
        }
        self.free = (0..u32::try_from(self.slots.len()).expect("a small world")).rev().collect();
    }
}
