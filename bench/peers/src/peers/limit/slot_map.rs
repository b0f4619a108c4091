//! The least a world can be: ids with a generation, slots that lead to dense rows, rows that close their gaps.

/// Index and generation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Id {
    index: u32,
    generation: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    generation: u32,
    /// The row, or the next free slot.
    row: u32,
}

const NONE: u32 = u32::MAX;

/// Values by id.
pub struct SlotMap<T> {
    slots: Vec<Slot>,
    free: u32,
    ids: Vec<Id>,
    rows: Vec<T>,
}

impl<T> SlotMap<T> {
    pub fn with_capacity(capacity: usize) -> Self {
        let (slots, ids) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        Self { slots, free: NONE, ids, rows: Vec::with_capacity(capacity) }
    }

    #[inline]
    pub fn insert(&mut self, value: T) -> Id {
        let row = self.rows.len() as u32;
        let id = if self.free == NONE {
            self.slots.push(Slot { generation: 1, row });
            Id { index: self.slots.len() as u32 - 1, generation: 1 }
        } else {
            let slot = &mut self.slots[self.free as usize];
            let id = Id { index: self.free, generation: slot.generation };
            self.free = std::mem::replace(&mut slot.row, row);
            id
        };
        self.ids.push(id);
        self.rows.push(value);
        id
    }

    #[inline]
    pub fn remove(&mut self, id: Id) -> Option<T> {
        let slot = self.slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        let row = std::mem::replace(&mut slot.row, self.free);
        slot.generation += 1;
        self.free = id.index;
        self.ids.swap_remove(row as usize);
        if let Some(moved) = self.ids.get(row as usize) {
            self.slots[moved.index as usize].row = row;
        }
        Some(self.rows.swap_remove(row as usize))
    }

    #[inline]
    pub fn get(&self, id: Id) -> Option<&T> {
        let slot = self.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        self.rows.get(slot.row as usize)
    }

    #[inline]
    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        self.rows.get_mut(slot.row as usize)
    }

    pub fn rows(&self) -> &[T] {
        &self.rows
    }
}
