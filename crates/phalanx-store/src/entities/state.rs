//! The directory as a plain value: for saving a world, and for making the same one again.
//!
//! [`DirectoryState`] says of every slot whether it is alive, free or retired, and with which generation, and lists the
//! free slots in the order in which they will be used. [`Entities::from_state`] takes nothing on trust: what does
//! not make a valid directory is refused with the reason. All living entities are rowless then; rows come later, by the
//! usual ways. So nothing here can break what the store promises about locations.

#![forbid(unsafe_code)]

use std::fmt;
use std::num::NonZeroU32;

use super::reserve::parts;
use super::{Entities, FIRST, NONE, Slot, USED_UP};
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::store::Store;
use crate::sync::{AtomicU32, Ordering};

/// What stands in one slot of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// An entity with this generation is alive.
    Alive(u32),
    /// The slot is free, and its next entity will have this generation.
    Free(u32),
    /// All generations are used up.
    Retired,
}

/// Every slot of a directory, and the free ones in the order in which they will be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryState {
    /// By index.
    pub slots: Vec<SlotState>,
    /// Indices of free slots, the next one to be used first.
    pub free: Vec<u32>,
}

/// Why slots and free list are no directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectoryError {
    /// More slots than the directory may have.
    TooMany {
        /// The largest number of slots.
        limit: u32,
    },
    /// A slot with a generation that no entity can have.
    Generation {
        /// The slot.
        index: u32,
    },
    /// The free list names a slot that is not free, does not exist, or was named before.
    NotFree {
        /// The slot.
        index: u32,
    },
    /// A free slot that the free list lacks.
    Unlisted {
        /// The slot.
        index: u32,
    },
    /// The store has slots already.
    InUse,
}

impl fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { limit } => write!(f, "more than {limit} entity slots"),
            Self::Generation { index } => {
                write!(f, "slot {index} has a generation that no entity can have")
            }
            Self::NotFree { index } => {
                write!(f, "the free list names slot {index}, which is not free, or was named before")
            }
            Self::Unlisted { index } => write!(f, "slot {index} is free, but not in the free list"),
            Self::InUse => write!(f, "there are entity slots already"),
        }
    }
}

impl std::error::Error for DirectoryError {}

impl Entities {
    /// The directory as a plain value. Ids that are reserved count as alive.
    pub fn directory_state(&self) -> DirectoryState {
        let head = self.head.load(Ordering::Relaxed);
        let (first, fresh) = parts(self.reserved.load(Ordering::Relaxed));
        let mut slots: Vec<SlotState> = self.slots.iter().map(|slot| slot.state()).collect();
        let mut next = first.unwrap_or(head);
        while next != head {
            let link = self.slots[next as usize].link;
            slots[next as usize] = SlotState::Alive(link.generation());
            next = link.index();
        }
        slots.extend((0..fresh).map(|_| SlotState::Alive(0)));
        let mut free = Vec::new();
        while next != NONE {
            free.push(next);
            next = self.slots[next as usize].link.index();
        }
        DirectoryState { slots, free }
    }

    /// The ids that the next `count` entities will get, as long as no entity dies before; fewer where the limit is near.
    pub fn next_ids(&self, count: usize) -> Vec<Entity> {
        let mut ids = Vec::new();
        let mut next = self.head.load(Ordering::Relaxed);
        while ids.len() < count && next != NONE {
            let link = self.slots[next as usize].link;
            ids.push(Entity::new(next, link.raw_generation()));
            next = link.index();
        }
        let (_, fresh) = parts(self.reserved.load(Ordering::Relaxed));
        let first = self.slots() + fresh;
        let room = (self.limit - first) as usize;
        let new = (first..self.limit).take(room.min(count - ids.len()));
        ids.extend(new.map(|index| Entity::new(index, FIRST)));
        ids
    }

    /// A directory with these slots, which never has more than `limit`. Living entities are rowless.
    ///
    /// # Errors
    /// When the slots and the free list do not fit together.
    pub fn from_state(directory: &DirectoryState, limit: u32) -> Result<Self, DirectoryError> {
        let count = u32::try_from(directory.slots.len()).ok().filter(|&count| count <= limit);
        let count = count.ok_or(DirectoryError::TooMany { limit })?;
        let mut slots = Vec::with_capacity(directory.slots.len());
        let (mut retired, mut rowless, mut unlisted) = (0, 0, 0);
        for (index, &state) in (0..count).zip(&directory.slots) {
            let generation = |generation: u32| {
                let raw = generation.checked_add(1).and_then(NonZeroU32::new);
                raw.filter(|&raw| raw != USED_UP).ok_or(DirectoryError::Generation { index })
            };
            slots.push(match state {
                SlotState::Alive(alive) => {
                    rowless += 1;
                    Slot::new(EntityLocation::new(TableId::ROWLESS, Row::new(index)), generation(alive)?)
                }
                SlotState::Free(next) => {
                    unlisted += 1;
                    // Not in the list yet: it leads to itself, as no slot of a list does.
                    Slot { table: TableId::DEAD, link: Entity::new(index, generation(next)?) }
                }
                SlotState::Retired => {
                    retired += 1;
                    Slot { table: TableId::DEAD, link: Entity::new(NONE, USED_UP) }
                }
            });
        }
        let (free, mut head) = (unlisted, NONE);
        for &index in directory.free.iter().rev() {
            let slot = slots.get_mut(index as usize).filter(|slot| slot.is_unlisted(index));
            let slot = slot.ok_or(DirectoryError::NotFree { index })?;
            slot.link = Entity::new(head, slot.link.raw_generation());
            head = index;
            unlisted -= 1;
        }
        if unlisted > 0 {
            let index = (0..count).zip(&slots).find(|(index, slot)| slot.is_unlisted(*index));
            return Err(DirectoryError::Unlisted { index: index.map_or(0, |(index, _)| index) });
        }
        let head = AtomicU32::new(head);
        Ok(Self { slots, head, free, retired, rowless, ..Self::with_limit(limit) })
    }
}

impl Slot {
    fn state(self) -> SlotState {
        match self.table {
            TableId::DEAD if self.is_retired() => SlotState::Retired,
            TableId::DEAD => SlotState::Free(self.link.generation()),
            _ => SlotState::Alive(self.link.generation()),
        }
    }

    /// Whether it waits to be put into the free list. A slot of the list never leads to itself.
    fn is_unlisted(self, index: u32) -> bool {
        self.table == TableId::DEAD && self.link.index() == index
    }
}

impl Store {
    /// Gives an empty store these entities, all of them without rows.
    ///
    /// # Errors
    /// When the store has had an entity before, or the slots and the free list do not fit together. Nothing has
    /// changed then.
    pub fn load_entities(&mut self, directory: &DirectoryState) -> Result<(), DirectoryError> {
        if self.entities.slots() > 0 || self.entities.needs_flush() {
            return Err(DirectoryError::InUse);
        }
        let mut entities = Entities::from_state(directory, self.entities.limit)?;
        // A checkpoint from before is not how it is now.
        entities.changes = self.entities.changes + 1;
        entities.take_over_spawn_ticks(&mut self.entities);
        self.entities = entities;
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn history() -> Entities {
        let mut entities = Entities::new();
        let ids: Vec<Entity> = (0..9).map(|_| entities.alloc().expect("there is room")).collect();
        for at in [3, 7, 1, 5] {
            entities.free_alone(ids[at]);
        }
        let last = entities.alloc().expect("there is room");
        entities.free_alone(last);
        let retiring = entities.set_generation_for_tests(8, u32::MAX - 1);
        entities.free_alone(retiring);
        entities
    }

    // Hazard 81.
    #[test]
    fn the_next_ids_are_those_of_the_original() {
        let mut original = history();
        let directory = original.directory_state();
        let mut again = Entities::from_state(&directory, u32::MAX).expect("a valid directory");
        again.check().expect("valid");
        assert_eq!(again.directory_state(), directory);
        assert_eq!((again.len(), again.retired_len(), again.free_len()), (4, 1, 4));
        let foreseen = again.next_ids(100);
        for id in foreseen {
            assert_eq!(again.alloc(), Ok(id));
            assert_eq!(original.alloc(), Ok(id));
        }
    }

    #[test]
    fn reserved_ids_count_as_alive() {
        let mut original = history();
        let reserved: Vec<Entity> = (0..6).map(|_| original.reserve().expect("there is room")).collect();
        assert_eq!(original.next_ids(1)[0].index(), original.slots() + 2);
        let directory = original.directory_state();
        original.flush();
        assert_eq!(original.directory_state(), directory);
        let again = Entities::from_state(&directory, u32::MAX).expect("a valid directory");
        assert!(reserved.iter().all(|&id| again.contains(id)));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let good = history().directory_state();
        let refused = |change: &dyn Fn(&mut DirectoryState)| {
            let mut bad = good.clone();
            change(&mut bad);
            Entities::from_state(&bad, 20).map(|_| ()).expect_err("not a directory")
        };
        let first = good.free[0];
        assert_eq!(refused(&|bad| bad.free.push(first)), DirectoryError::NotFree { index: first });
        assert_eq!(refused(&|bad| bad.free[0] = 0), DirectoryError::NotFree { index: 0 });
        assert_eq!(refused(&|bad| bad.free[0] = 8), DirectoryError::NotFree { index: 8 });
        assert_eq!(refused(&|bad| bad.free[0] = 99), DirectoryError::NotFree { index: 99 });
        assert_eq!(refused(&|bad| bad.free.truncate(3)), DirectoryError::Unlisted { index: good.free[3] });
        for state in [SlotState::Alive(u32::MAX - 1), SlotState::Alive(u32::MAX)] {
            assert_eq!(refused(&|bad| bad.slots[0] = state), DirectoryError::Generation { index: 0 });
        }
        assert_eq!(
            refused(&|bad| bad.slots.resize(21, SlotState::Retired)),
            DirectoryError::TooMany { limit: 20 }
        );
        let mut store = Store::new();
        store.load_entities(&good).expect("an empty store");
        assert_eq!(store.load_entities(&good), Err(DirectoryError::InUse));
    }
}
