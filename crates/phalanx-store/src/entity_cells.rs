//! Different entities of a store, each read and written for itself.
//!
//! ```text
//!   &mut Store ──▶ EntityCell 7v0   get::<A>() -> &A     get_mut::<B>() -> &mut B
//!              └─▶ EntityCell 9v2   ..                    rows of their own, so both live at once
//! ```
//!
//! The store is borrowed exclusively for as long as any of the cells lives, so its structure stands still. Cells of one
//! borrow are of different entities, and these have different rows. A cell stays on its thread; the ticks of a block,
//! which are those of many rows, are atomic all the same.

use std::marker::PhantomData;

use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::fetch::{Fetch, ReadFetch};
use crate::location::TableId;
use crate::prepared::find_alias;
use crate::store::Store;

/// One entity of a store that is borrowed for several of them.
pub struct EntityCell<'s> {
    store: &'s Store,
    entity: Entity,
    /// Neither `Send` nor `Sync`.
    on_thread: PhantomData<*mut ()>,
}

impl Store {
    /// A cell for one entity; `None` when it is dead.
    pub fn entity_cell(&mut self, entity: Entity) -> Option<EntityCell<'_>> {
        self.entities.contains(entity).then_some(EntityCell { store: self, entity, on_thread: PhantomData })
    }

    /// A cell for each entity.
    ///
    /// # Errors
    /// An entity that is dead, or is named twice.
    pub fn entity_cells(&mut self, entities: &[Entity]) -> Result<Vec<EntityCell<'_>>, CellError> {
        let mut sorted = entities.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CellError::Repeated(pair[0]));
        }
        if let Some(&dead) = entities.iter().find(|&&entity| !self.entities.contains(entity)) {
            return Err(CellError::Dead(dead));
        }
        let store = &*self;
        let cell = |&entity: &Entity| EntityCell { store, entity, on_thread: PhantomData };
        Ok(entities.iter().map(cell).collect())
    }
}

/// Why there are no cells for a list of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellError {
    /// This one is dead.
    Dead(Entity),
    /// This one is named twice.
    Repeated(Entity),
}

impl<'s> EntityCell<'s> {
    /// The entity.
    #[inline]
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// The table that the entity is in.
    pub fn table(&self) -> TableId {
        let location = self.store.locate(self.entity);
        location.expect("the store is borrowed, so the entity is alive").table
    }

    /// Whether the entity has a value in this column, of its table or of a set.
    pub fn has_column(&self, column: AnyColId) -> bool {
        match self.store.set_of(column) {
            Some(set) => self.store.set_row(set, self.entity).is_some(),
            None => self.store.table_has(self.table(), column),
        }
    }

    /// The same cell for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> EntityCell<'_> {
        EntityCell { store: self.store, entity: self.entity, on_thread: PhantomData }
    }

    /// Reads columns of the entity. `None` when it lacks one that is not optional.
    #[inline]
    pub fn get<F: ReadFetch>(&self, ids: F::Ids) -> Option<F::Item<'_>> {
        // SAFETY: the item borrows the cell, so nothing of its entity is written meanwhile; other cells of the borrow
        // are of other entities, which have other rows (I5, I10), and the store is borrowed exclusively for all of them.
        unsafe { self.store.get_unchecked::<F>(self.entity, ids) }
    }

    /// As [`EntityCell::get`], for as long as the cell would have lived.
    #[inline]
    pub fn into_get<F: ReadFetch>(self, ids: F::Ids) -> Option<F::Item<'s>> {
        // SAFETY: as for `get`; the cell is gone, so nothing of its entity is written any more.
        unsafe { self.store.get_unchecked::<F>(self.entity, ids) }
    }

    /// Reads and writes columns of the entity. `None` when it lacks one that is not optional, or they alias each other.
    #[inline]
    pub fn get_mut<F: Fetch>(&mut self, ids: F::Ids) -> Option<F::Item<'_>> {
        self.reborrow().into_get_mut::<F>(ids)
    }

    /// As [`EntityCell::get_mut`], for as long as the cell would have lived.
    #[inline]
    pub fn into_get_mut<F: Fetch>(self, ids: F::Ids) -> Option<F::Item<'s>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the cell is gone, or borrowed exclusively by the caller, so this is the only item of its entity, and no
        // two parts of it alias (I6); other cells of the borrow are of other entities, which have other rows (I5, I10),
        // and the store is borrowed exclusively for all of them. Ticks of blocks, which are those of many rows, are atomic.
        unsafe { self.store.get_unchecked::<F>(self.entity, ids) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn cells_are_of_different_living_entities() {
        let mut store = Store::new();
        let a = store.spawn_rowless().expect("there is room");
        let b = store.spawn_rowless().expect("there is room");
        assert_eq!(store.entity_cells(&[a, b, a]).err(), Some(CellError::Repeated(a)));
        assert_eq!(store.entity_cells(&[a, b]).map(|cells| cells.len()), Ok(2));
        store.despawn(b);
        assert_eq!(store.entity_cells(&[a, b]).err(), Some(CellError::Dead(b)));
        assert!(store.entity_cell(b).is_none());
        assert_eq!(store.entity_cell(a).map(|cell| cell.entity()), Some(a));
    }
}
