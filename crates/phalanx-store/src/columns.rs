//! Whole columns of one table, by id: for tools, tests and queries built at run time.
//!
//! The typed id is the check: a column can only be had as the type it holds (I1). Writing marks all blocks of the
//! column.

use crate::column::BLOCK_ROWS;
use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::place::TableId;
use crate::store::Store;
use crate::tick::Tick;

impl Store {
    /// The entities of a table's rows; empty when there is no such table.
    pub fn table_entities(&self, table: TableId) -> &[Entity] {
        if self.table_len(table) == 0 {
            return &[];
        }
        // SAFETY: each row of a table has its entity (I5); the store is borrowed.
        unsafe { std::slice::from_raw_parts(self.owner_at(table, 0), self.table_len(table)) }
    }

    /// A column of a table; `None` when the table lacks it.
    pub fn column<T: Send + Sync + 'static>(&self, table: TableId, id: ColId<T>) -> Option<&[T]> {
        let cell = self.cell(id.any(), table).filter(|cell| !cell.data.is_null())?;
        // SAFETY: the column holds `T` (I1), all rows are initialised (I2), and the store is borrowed.
        Some(unsafe { std::slice::from_raw_parts(cell.data.cast::<T>(), self.table_len(table)) })
    }

    /// A column of a table, to be written; `None` when the table lacks it. Marks all its blocks.
    pub fn column_mut<T: Send + Sync + 'static>(&mut self, table: TableId, id: ColId<T>) -> Option<&mut [T]> {
        let len = self.table_len(table);
        let cell = self.cell(id.any(), table).filter(|cell| !cell.data.is_null())?;
        if len > 0 {
            // SAFETY: the table has the column, and the rows are in range (I3).
            unsafe { cell.mark(0, len, size_of::<T>() > 0, self.tick) };
        }
        // SAFETY: as for `column`; the store is borrowed exclusively.
        Some(unsafe { std::slice::from_raw_parts_mut(cell.data.cast::<T>(), len) })
    }

    /// When a block of a column was last written through a query; `None` without such a column or block.
    pub fn column_tick(&self, table: TableId, id: AnyColId, block: usize) -> Option<Tick> {
        let cell = self.cell(id, table).filter(|cell| !cell.data.is_null())?;
        if !self.has_block(table, block) {
            return None;
        }
        // SAFETY: the block begins within the table's rows (I3).
        Some(unsafe { cell.block_tick(block, id.column_type().layout.size() > 0) })
    }

    /// When rows of a block last came, went, moved or were overwritten by an insert.
    pub fn rows_tick(&self, table: TableId, block: usize) -> Option<Tick> {
        if !self.has_block(table, block) {
            return None;
        }
        // SAFETY: the block begins within the table's rows (I3), and entities have a size.
        Some(unsafe { self.heads[table.index()].owners.block_tick(block, true) })
    }

    /// Whether a block begins within a table's rows. No product of `block`, which may be any number.
    fn has_block(&self, table: TableId, block: usize) -> bool {
        block < self.table_len(table).div_ceil(BLOCK_ROWS)
    }
}
