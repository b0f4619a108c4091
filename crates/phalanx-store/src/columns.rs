//! Whole columns of one table, by id: for tools, tests and queries built at run time.
//!
//! The typed id is the check: a column can only be had as the type it holds (I1). Writing marks all blocks of the
//! column.

use std::ops::Range;

use crate::column::{BLOCK_ROWS, ColumnCell};
use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::location::TableId;
use crate::store::Store;
use crate::table::TableMeta;
use crate::tick::Tick;

impl Store {
    /// The entities of a table's rows; empty when there is no such table.
    pub fn table_entities(&self, table: TableId) -> &[Entity] {
        self.metas.get(table.index()).map_or(&[], TableMeta::entities)
    }

    /// Those of some rows of a table that are no holes.
    #[doc(hidden)]
    pub fn full_rows(&self, table: TableId, rows: Range<usize>) -> Vec<usize> {
        let owners = self.table_entities(table);
        rows.filter(|&row| owners[row] != Entity::PLACEHOLDER).collect()
    }

    /// A column of a table; `None` when the table lacks it, or is that of a set with holes.
    pub fn column<T: Send + Sync + 'static>(&self, table: TableId, id: ColId<T>) -> Option<&[T]> {
        self.column_rows(table, id, 0..self.table_len(table))
    }

    /// Some rows of a column; `None` when the table lacks the column or a row, or a row is a hole.
    pub fn column_rows<T: Send + Sync + 'static>(
        &self,
        table: TableId,
        id: ColId<T>,
        rows: Range<usize>,
    ) -> Option<&[T]> {
        let cell = self.whole_cell(id.any(), table, &rows)?;
        // SAFETY: the column holds `T` (I1), these rows are in range and initialised (I2, I11), and the store is
        // borrowed.
        Some(unsafe { std::slice::from_raw_parts(cell.data.cast::<T>().add(rows.start), rows.len()) })
    }

    /// A column of a table, to be written; `None` as for [`Store::column`]. Marks all its blocks.
    pub fn column_mut<T: Send + Sync + 'static>(&mut self, table: TableId, id: ColId<T>) -> Option<&mut [T]> {
        let len = self.table_len(table);
        let cell = self.whole_cell(id.any(), table, &(0..len))?;
        // SAFETY: the table has the column (I4), of this type (I1), and these rows, none a hole (I2, I3, I11); the store is
        // borrowed exclusively.
        unsafe {
            if len > 0 {
                cell.mark(0, len, size_of::<T>() > 0, self.tick);
            }
            Some(std::slice::from_raw_parts_mut(cell.data.cast::<T>(), len))
        }
    }

    /// The cell of a column in a table that has it, and these rows, none of them a hole.
    pub(crate) fn whole_cell(
        &self,
        id: AnyColId,
        table: TableId,
        rows: &Range<usize>,
    ) -> Option<&ColumnCell> {
        let cell = self.cell(id, table).filter(|cell| !cell.is_absent())?;
        let owners = self.table_entities(table).get(rows.clone())?;
        let whole = self.tables[table.index()].holes.is_empty() || !owners.contains(&Entity::PLACEHOLDER);
        whole.then_some(cell)
    }

    /// When a block of a column was last written through a query; `None` without such a column or block.
    pub fn column_tick(&self, table: TableId, id: AnyColId, block: usize) -> Option<Tick> {
        let cell = self.cell(id, table).filter(|cell| !cell.is_absent())?;
        if !self.has_block(table, block) {
            return None;
        }
        // SAFETY: the table has the column, whose cell is not null (I4), and the block begins within its rows (I3).
        Some(unsafe { cell.block_tick(block, id.column_type().layout.size() > 0) })
    }

    /// Marks a block of a column as written now. False without such a column or block.
    pub fn mark_block(&mut self, table: TableId, id: AnyColId, block: usize) -> bool {
        let Some(cell) = self.cell(id, table).filter(|cell| !cell.is_absent()) else { return false };
        if !self.has_block(table, block) {
            return false;
        }
        // SAFETY: the table has the column, whose cell is not null (I4), and the first row of the block is one of its rows
        // (I3).
        unsafe { cell.mark(block * BLOCK_ROWS, 1, id.column_type().layout.size() > 0, self.tick) };
        true
    }

    /// When rows of a block last came, went, moved or were overwritten by an insert.
    pub fn rows_tick(&self, table: TableId, block: usize) -> Option<Tick> {
        if !self.has_block(table, block) {
            return None;
        }
        // SAFETY: the block begins within the table's rows (I3), and entities have a size.
        Some(unsafe { self.metas[table.index()].owners.block_tick(block, true) })
    }

    /// Whether a block begins within a table's rows. No product of `block`, which may be any number.
    fn has_block(&self, table: TableId, block: usize) -> bool {
        block < self.table_len(table).div_ceil(BLOCK_ROWS)
    }
}
