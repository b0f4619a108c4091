//! One value of a column, by entity: for tools, which reach values through ids alone.
//!
//! Where the value is, in the entity's table or in the set of the column, is found without its type; only the last
//! step is generic, so that a program with many types compiles little of it. Writing marks the block of the row.
//!
//! An [`ErasedColumn`] lends values as `dyn Any`, with nothing generic but the step from an address to that.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Range;

use crate::column::ColumnCell;
use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::location::TableId;
use crate::store::Store;
use crate::tick::Tick;

/// A column whose values are lent without their type.
#[derive(Clone, Copy, Debug)]
pub struct ErasedColumn {
    id: AnyColId,
    size: usize,
    /// From the address of a value, with its type again.
    erase: fn(*mut u8) -> *mut dyn Any,
    marks: bool,
    changed: Option<ColId<Tick>>,
}

fn erase<T: 'static>(value: *mut u8) -> *mut dyn Any {
    value.cast::<T>()
}

impl ErasedColumn {
    /// The column of `T`, the writing of which leaves no ticks.
    pub fn of<T: Send + Sync + 'static>(id: ColId<T>) -> Self {
        Self { id: id.any(), size: size_of::<T>(), erase: erase::<T>, marks: false, changed: None }
    }

    /// The same column, where what is written marks its block, and comes with a tick in the column of these ticks.
    #[must_use]
    pub fn marking(self, marks: bool, changed: Option<ColId<Tick>>) -> Self {
        Self { marks, changed, ..self }
    }

    /// The column.
    pub fn id(&self) -> AnyColId {
        self.id
    }

    /// Whether none of its columns is among these.
    pub(crate) fn is_apart_from(&self, columns: &[AnyColId]) -> bool {
        let is_among = |id: AnyColId| columns.contains(&id);
        !is_among(self.id) && !self.changed.is_some_and(|changed| is_among(changed.any()))
    }
}

/// Some rows of a column, lent without its type.
#[derive(Clone, Copy, Debug)]
pub struct ErasedRows<'s> {
    data: *mut u8,
    len: usize,
    column: ErasedColumn,
    of: PhantomData<&'s Store>,
}

impl<'s> ErasedRows<'s> {
    /// The value in a row, which counts from the first of these.
    ///
    /// # Panics
    /// When there are not so many rows.
    pub fn get(&self, row: usize) -> &'s dyn Any {
        assert!(row < self.len, "row {row} is out of bounds: there are {}", self.len);
        // SAFETY: the rows are those of a column of this type, in range and initialised (I1, I2, I11), as `erased_rows` found,
        // and the store is borrowed shared for `'s`. `size` is that of the type (I1).
        unsafe { &*(self.column.erase)(self.data.add(row * self.column.size)) }
    }
}

impl Store {
    /// Some rows of a column, as [`Store::column_rows`], without its type.
    pub fn erased_rows(
        &self,
        table: TableId,
        column: ErasedColumn,
        rows: Range<usize>,
    ) -> Option<ErasedRows<'_>> {
        let cell = self.whole_cell(column.id, table, &rows)?;
        // SAFETY: the table has the column, as `whole_cell` found (I4), and these rows (I3); `size` is that of its type (I1).
        let data = unsafe { cell.data.add(rows.start * column.size) };
        Some(ErasedRows { data, len: rows.len(), column, of: PhantomData })
    }

    /// The value of a column for an entity, as [`Store::value`], without its type.
    pub fn erased(&self, entity: Entity, column: ErasedColumn) -> Option<&dyn Any> {
        let (.., value) = self.erased_place(entity, column)?;
        // SAFETY: the value is initialised, of its type, and lies in the store, which is borrowed shared (I1, I2).
        Some(unsafe { &*value })
    }

    /// As [`Store::erased`], to be written; it counts as written.
    pub fn erased_mut(&mut self, entity: Entity, column: ErasedColumn) -> Option<&mut dyn Any> {
        // SAFETY: the store is borrowed exclusively for as long as the value is lent, so that nothing else uses it, or its
        // tick (I8).
        unsafe { self.erased_unchecked(entity, column, self.tick).map(|value| &mut *value) }
    }

    /// The value of a column for an entity, which counts as written at `now`.
    ///
    /// # Safety
    /// Nothing else uses the tick of the entity meanwhile, where the column has one.
    pub(crate) unsafe fn erased_unchecked(
        &self,
        entity: Entity,
        column: ErasedColumn,
        now: Tick,
    ) -> Option<*mut dyn Any> {
        let (cell, row, value) = self.erased_place(entity, column)?;
        // SAFETY: the cell is that of a table with the column and the row (I3, I4). A column of ticks holds ticks (I1), and the row
        // has one where it has a value (I2), which nothing else uses, as the caller promises.
        unsafe {
            if column.marks {
                cell.mark_single(row, column.size > 0, now);
            }
            if let Some(changed) = column.changed {
                let (table, row) = self.place_of(entity, column.id)?;
                let cell = self.whole_cell(changed.any(), table, &(row..row + 1))?;
                cell.mark_single(row, true, now);
                cell.data.cast::<Tick>().add(row).write(now);
            }
        }
        Some(value)
    }

    /// Where the value of a column is: its cell, its row, and the value itself, which is initialised.
    fn erased_place(
        &self,
        entity: Entity,
        column: ErasedColumn,
    ) -> Option<(&ColumnCell, usize, *mut dyn Any)> {
        let (table, row) = self.place_of(entity, column.id)?;
        let cell = self.whole_cell(column.id, table, &(row..row + 1))?;
        // SAFETY: the table has the column, as `whole_cell` found (I4), and the row, which is in range and no hole (I3, I11);
        // `size` is that of its type (I1).
        let value = unsafe { cell.data.add(row * column.size) };
        Some((cell, row, (column.erase)(value)))
    }

    /// The value of a column for an entity, from its table or from the column's set. `None` when the entity is dead or
    /// lacks the column.
    pub fn value<T: Send + Sync + 'static>(&self, entity: Entity, id: ColId<T>) -> Option<&T> {
        let (table, row) = self.place_of(entity, id.any())?;
        match self.column_rows(table, id, row..row + 1) {
            Some([value]) => Some(value),
            _ => None,
        }
    }

    /// As [`Store::value`], to be written. Marks the block of the row.
    pub fn value_mut<T: Send + Sync + 'static>(&mut self, entity: Entity, id: ColId<T>) -> Option<&mut T> {
        let (table, row) = self.place_of(entity, id.any())?;
        let cell = self.whole_cell(id.any(), table, &(row..row + 1))?;
        // SAFETY: the table has the column, as `whole_cell` found (I4), which holds `T` (I1), and the row, which is in range and
        // no hole (I3, I11): its value is initialised (I2). The store is borrowed exclusively for as long as the value is.
        unsafe {
            cell.mark_single(row, size_of::<T>() > 0, self.tick);
            Some(&mut *cell.data.cast::<T>().add(row))
        }
    }

    /// As [`Store::value_mut`], of a column of tables: it is not looked for among the sets.
    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    pub fn row_value_mut<T: Send + Sync + 'static>(
        &mut self,
        entity: Entity,
        id: ColId<T>,
    ) -> Option<&mut T> {
        let Some((cell, row)) = self.row_cell(entity, id.any()) else { return None };
        // SAFETY: the cell is that of the entity's table, which has the column (I4), which holds `T` (I1), and the row, which
        // is the entity's and initialised (I2, I5). The store is borrowed exclusively for as long as the value is.
        unsafe {
            cell.mark_single(row, size_of::<T>() > 0, self.tick);
            Some(&mut *cell.data.cast::<T>().add(row))
        }
    }

    /// The cell of a column in an entity's table, if that has it, and the entity's row.
    #[inline(never)]
    fn row_cell(&self, entity: Entity, id: AnyColId) -> Option<(&ColumnCell, usize)> {
        let location = self.locate(entity)?;
        let cell = self.cell(id, location.table).filter(|cell| !cell.is_absent())?;
        Some((cell, location.row.index()))
    }

    /// The table and row that would hold an entity's value of a column; `None` when the entity is dead, or not in the
    /// column's set.
    pub fn place_of(&self, entity: Entity, id: AnyColId) -> Option<(TableId, usize)> {
        match self.set_of(id) {
            None => self.locate(entity).map(|location| (location.table, location.row.index())),
            Some(set) => Some((self.set_table(set), self.set_row(set, entity)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tick::Tick;
    use crate::values::Col;

    #[test]
    fn a_value_is_found_in_table_or_set_and_only_its_block_is_marked() {
        let (own, sparse) = (ColId::<u32>::named("value.own"), ColId::<String>::named("value.sparse"));
        let mut store = Store::new();
        store.declare(own.any());
        let set = store.declare_set(&[sparse.any()]);
        let table = store.new_table(&[own.any()]);
        let edge = store.insert_edge::<Col<u32>>(TableId::ROWLESS, table, own, &[]).expect("it fits");
        let entities: Vec<Entity> =
            (0..2000_u32).map(|n| store.spawn(&edge, Col(n)).expect("there is room")).collect();
        let init = crate::plan::Init::new(sparse, |_| Col("a".to_owned()));
        assert_eq!(store.set_insert_made(set, entities[7], &[init]), Ok(true));

        let now = store.advance_tick();
        assert_eq!(store.value(entities[1500], own), Some(&1500));
        *store.value_mut(entities[1500], own).expect("it is there") = 9;
        assert_eq!(store.value(entities[1500], own), Some(&9));
        assert_eq!(store.column_tick(table, own.any(), 1), Some(now));
        assert!(store.column_tick(table, own.any(), 0).is_some_and(|tick: Tick| tick < now));

        store.value_mut(entities[7], sparse).expect("it is in the set").push('b');
        assert_eq!(store.value(entities[7], sparse).map(String::as_str), Some("ab"));
        assert_eq!(store.value(entities[8], sparse), None);
        store.despawn(entities[7]);
        assert_eq!(store.value(entities[7], own), None);
        assert!(store.value_mut(entities[7], sparse).is_none());
        store.check().expect("the store is consistent");
    }

    #[test]
    fn an_erased_value_counts_as_written_as_its_column_says() {
        let (own, ticks) = (ColId::<u32>::named("erased.own"), ColId::<Tick>::named("erased.ticks"));
        let mut store = Store::new();
        let table = store.new_table(&[own.any(), ticks.any()]);
        let ids = (own, ticks);
        let edge = store.insert_edge::<(Col<u32>, Col<Tick>)>(TableId::ROWLESS, table, ids, &[]);
        let edge = edge.expect("it fits");
        let spawned = store.tick();
        let entity = store.spawn(&edge, (Col(3_u32), Col(spawned))).expect("there is room");
        let plain = ErasedColumn::of(own);
        let block = |store: &Store| store.column_tick(table, own.any(), 0);

        let now = store.advance_tick();
        let before = block(&store);
        assert!(store.erased(entity, plain).is_some_and(|value| value.downcast_ref() == Some(&3_u32)));
        assert!(store.erased_mut(entity, plain).is_some_and(|value| value.is::<u32>()));
        assert_eq!((block(&store), store.value(entity, ticks)), (before, Some(&spawned)));

        let marking = plain.marking(true, Some(ticks));
        let value = store.erased_mut(entity, marking).and_then(|value| value.downcast_mut());
        *value.expect("it is there") = 4_u32;
        assert_eq!((block(&store), store.value(entity, ticks)), (Some(now), Some(&now)));
        assert_eq!(store.value(entity, own), Some(&4));

        // What is left out is not lent, neither the values nor their ticks.
        for except in [[own.any()], [ticks.any()]] {
            assert!(!marking.is_apart_from(&except));
        }
        let cell = store.entity_cell(entity).expect("it is alive");
        assert!(cell.peek().erased(marking).is_some() && cell.into_erased_mut(marking).is_some());
        store.despawn(entity);
        assert!(store.erased_mut(entity, marking).is_none());
    }
}
