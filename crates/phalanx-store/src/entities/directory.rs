//! What of the directory an image keeps: everything that does not follow from the rows of tables.
//!
//! Entities with rows are found again by their rows. The others are listed: free slots in the order in which they will be
//! used, entities without rows, and slots that are used up. All slots are one of these.

use super::{Entities, FIRST, NONE, Slot, USED_UP};
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::sync::with_mut;
use crate::tick::Tick;

/// The slots of a directory that are not in a row.
#[derive(PartialEq, Eq)]
pub(crate) struct Directory {
    slots: u32,
    free: Vec<Entity>,
    rowless: Vec<Entity>,
    retired: Vec<u32>,
    changes: u64,
    /// By slot, if they were kept.
    spawn_ticks: Option<Vec<Tick>>,
}

impl Directory {
    /// The bytes of the lists.
    pub(crate) fn bytes(&self) -> usize {
        let ticks = self.spawn_ticks.as_deref().unwrap_or_default();
        let lists = size_of_val(self.free.as_slice()) + size_of_val(self.rowless.as_slice());
        lists + self.retired.len() * 4 + size_of_val(ticks)
    }
}

impl Entities {
    /// Lists the slots that are not in a row. Nothing may be reserved.
    pub(crate) fn directory(&self) -> Directory {
        let retired = (0..).zip(&self.slots).filter(|(_, slot)| slot.is_retired()).map(|(index, _)| index);
        Directory {
            slots: self.slots(),
            free: self.free_list().collect(),
            rowless: self.rowless().copied().collect(),
            retired: retired.take(self.retired as usize).collect(),
            changes: self.changes,
            spawn_ticks: self.spawn_ticks_image(),
        }
    }

    /// Whether no entity died, or came to be without a row, since the directory was listed, or restored: where no
    /// owner of a row changed either, all slots are as they were. Only for the directory of the store's base: the count
    /// goes back when another one is restored.
    pub(crate) fn is_as_in(&self, directory: &Directory) -> bool {
        self.changes == directory.changes && !self.needs_flush()
    }

    /// Puts all slots back that are listed.
    ///
    /// # Safety
    /// The lists are of this directory, at an earlier moment. The caller [places](Entities::place) all entities that had rows
    /// then, but for those that are where they were, and takes all others out of tables and sets, before anything else is
    /// done (I5, I10).
    pub(crate) unsafe fn restore(&mut self, directory: &Directory) {
        let Directory { slots, free, rowless, retired, changes, spawn_ticks } = directory;
        self.slots.resize(*slots as usize, Slot { table: TableId::DEAD, link: Entity::new(NONE, FIRST) });
        for (at, entity) in free.iter().enumerate() {
            let next = free.get(at + 1).map_or(NONE, |next| next.index());
            let link = Entity::new(next, entity.raw_generation());
            self.slots[entity.index() as usize] = Slot { table: TableId::DEAD, link };
        }
        for entity in rowless {
            let location = EntityLocation::new(TableId::ROWLESS, Row::new(entity.index()));
            self.slots[entity.index() as usize] = Slot::new(location, entity.raw_generation());
        }
        for &index in retired {
            self.slots[index as usize] = Slot { table: TableId::DEAD, link: Entity::new(NONE, USED_UP) };
        }
        with_mut(&mut self.reserved, |reserved| *reserved = 0);
        self.set_head(free.first().map_or(NONE, |first| first.index()));
        let count = |list: usize| u32::try_from(list).expect("there are fewer than 2^32 slots");
        (self.free, self.rowless, self.retired) =
            (count(free.len()), count(rowless.len()), count(retired.len()));
        self.changes = *changes;
        self.restore_spawn_ticks(spawn_ticks.as_deref());
    }

    /// Records that an entity lives, with this row: for the store alone.
    ///
    /// # Safety
    /// The entity has that row, of a table, and no other, before anything else is done (I5).
    #[inline]
    pub(crate) unsafe fn place(&mut self, entity: Entity, location: EntityLocation) {
        self.slots[entity.index() as usize] = Slot::new(location, entity.raw_generation());
    }
}
