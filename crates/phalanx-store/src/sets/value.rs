//! One value of one entity in a set, straight through the page: what upkeep that runs with every change asks for.
//!
//! A fetch of the same column does as much, after it has worked out which sets it concerns, as a query needs it.

use std::marker::PhantomData;

use super::{SparseSet, Store};
use crate::column::ColumnCell;
use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::location::TableId;
use crate::tick::Tick;

impl Store {
    /// The table of the set of a column, and the row of an entity there; `None` when the entity is not in the set.
    #[inline(always)]
    fn place_in_set(&self, column: AnyColId, entity: Entity) -> Option<(TableId, usize)> {
        let set = &self.sets[self.set_of(column)?.index()];
        Some((set.table, set.find(entity)?))
    }

    /// # Safety
    /// The table is one of this store.
    #[inline(always)]
    unsafe fn set_cell(&self, column: AnyColId, table: TableId) -> &ColumnCell {
        // SAFETY: every column has a cell per table (I4).
        unsafe { &*self.column_cells(column).add(table.index()) }
    }

    /// Reads the value of an entity in the set of a column; `None` when it is not in the set.
    #[inline]
    pub fn set_value<T: Send + Sync + 'static>(&self, column: ColId<T>, entity: Entity) -> Option<&T> {
        let (table, row) = self.place_in_set(column.any(), entity)?;
        // SAFETY: the table is that of the column's set, so it has the column (I10), of this type (I1). The page led to the
        // row, which is in range, initialised and no hole (I2, I10, I11). Nothing is written while the store is shared (I8).
        unsafe { Some(&*self.set_cell(column.any(), table).data.cast::<T>().add(row)) }
    }

    /// Lends the value of an entity in the set of a column to be written, and notes that in the ticks of its block, and in
    /// the column `changed` if one is named; `None` when the entity is not in the set.
    ///
    /// # Panics
    /// When `changed` is no column of the same set, or the same column.
    #[inline]
    pub fn set_value_mut<T: Send + Sync + 'static>(
        &mut self,
        column: ColId<T>,
        changed: Option<ColId<Tick>>,
        entity: Entity,
    ) -> Option<&mut T> {
        self.set_values(column, changed)?.into_mut(entity)
    }

    /// The values in the set of a column, to be asked for one by one; `None` when the column is that of no set.
    ///
    /// # Panics
    /// When `changed` is no column of the same set, or the same column.
    #[inline]
    pub fn set_values<T: Send + Sync + 'static>(
        &mut self,
        column: ColId<T>,
        changed: Option<ColId<Tick>>,
    ) -> Option<SetValues<'_, T>> {
        let set = &self.sets[self.set_of(column.any())?.index()];
        // SAFETY: the table of a set is one of this store (I10).
        let cell = |column: AnyColId| unsafe { self.set_cell(column, set.table) };
        let values = cell(column.any());
        let changed = changed.map(|changed| {
            let fits = !cell(changed.any()).is_absent() && changed.any() != column.any();
            assert!(fits, "the ticks of rows stand beside their values");
            cell(changed.any())
        });
        Some(SetValues { set, values, changed, now: self.tick, lends: PhantomData })
    }
}

/// The values of one column of a set, while the store is borrowed exclusively: where they are is found once.
pub struct SetValues<'s, T> {
    set: &'s SparseSet,
    values: &'s ColumnCell,
    changed: Option<&'s ColumnCell>,
    now: Tick,
    lends: PhantomData<&'s mut T>,
}

impl<'s, T: Send + Sync + 'static> SetValues<'s, T> {
    /// Whether an entity is in the set.
    #[inline]
    pub fn has(&self, entity: Entity) -> bool {
        self.set.find(entity).is_some()
    }

    /// As [`Store::set_value_mut`].
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut T> {
        // SAFETY: the value is lent while this is borrowed exclusively, so that nothing else is (I6).
        unsafe { self.lend(entity) }
    }

    /// As [`SetValues::get_mut`], for as long as the store is borrowed.
    #[inline]
    fn into_mut(self, entity: Entity) -> Option<&'s mut T> {
        // SAFETY: nothing else is lent any more, since this is used up (I6).
        unsafe { self.lend(entity) }
    }

    /// # Safety
    /// As long as the value is used, nothing else is lent.
    #[inline(always)]
    unsafe fn lend<'a>(&self, entity: Entity) -> Option<&'a mut T>
    where
        's: 'a,
    {
        let row = self.set.find(entity)?;
        // SAFETY: the cells are those of the set's table, which has both columns (I10; of the ticks it was asked), of these types
        // (I1), with room for the marks of its rows (I3). The page points to the row, which is in range, initialised
        // and no hole (I2, I10, I11). The store is borrowed exclusively for `'s`, and this alone lends from it (I6),
        // one value at a time, as the caller says.
        unsafe {
            if let Some(changed) = self.changed {
                changed.mark_single(row, true, self.now);
                changed.data.cast::<Tick>().add(row).write(self.now);
            }
            self.values.mark_single(row, size_of::<T>() > 0, self.now);
            Some(&mut *self.values.data.cast::<T>().add(row))
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::column_id::ColCell;
    use crate::values::{Col, Existing};

    static VALUE: ColCell<u32> = ColCell::new();
    static CHANGED: ColCell<Tick> = ColCell::new();
    static OTHER: ColCell<Tick> = ColCell::new();

    #[test]
    fn values_of_sets_are_read_and_written_by_entity() {
        let mut store = Store::new();
        let set = store.declare_set(&[VALUE.id().any(), CHANGED.id().any()]);
        store.declare_set(&[OTHER.id().any()]);
        let ids = (VALUE.id(), CHANGED.id());
        let plan = store.set_plan::<(Col<u32>, Col<Tick>)>(set, ids).expect("these are its columns");
        let [a, b] = [(); 2].map(|()| store.spawn_rowless().expect("there is room"));
        let values = (Col(7), Col(store.tick()));
        assert!(store.set_insert(&plan, ids, a, values, Existing::Replace).is_ok());
        store.advance_tick();
        assert_eq!((store.set_value(VALUE.id(), a), store.set_value(VALUE.id(), b)), (Some(&7), None));
        *store.set_value_mut(VALUE.id(), Some(CHANGED.id()), a).expect("it is in the set") += 1;
        assert_eq!(store.set_value(VALUE.id(), a), Some(&8));
        assert_eq!(store.set_value(CHANGED.id(), a), Some(&store.tick()));
        assert!(store.set_value_mut(VALUE.id(), Some(CHANGED.id()), b).is_none());
        let write = AssertUnwindSafe(|| store.set_value_mut(VALUE.id(), Some(OTHER.id()), a).is_some());
        assert!(catch_unwind(write).is_err(), "the ticks of another set");
        let write = AssertUnwindSafe(|| store.set_value_mut(CHANGED.id(), Some(CHANGED.id()), a).is_some());
        assert!(catch_unwind(write).is_err(), "the value itself");
        store.despawn(a);
        assert_eq!(store.set_value(VALUE.id(), a), None);
        store.check().expect("consistent");
    }
}
