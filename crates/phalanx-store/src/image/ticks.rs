//! The ticks of a table that becomes what its image says.
//!
//! Where the table was last equal to the very same image, only the blocks that were written since have other ticks
//! (I15): in most restores these are few, and the others are not looked at.

use std::sync::atomic::Ordering;

use super::{BLOCK_ROWS, TableImage};
use crate::column::ColumnCell;
use crate::location::TableId;
use crate::store::Store;
use crate::tick::Tick;

/// The blocks that a restore writes, in order.
pub(super) struct Written {
    owners: Vec<usize>,
    columns: Vec<Vec<usize>>,
}

impl Written {
    pub(super) fn of<S>(same_owners: &[bool], columns: &[Vec<(usize, S)>]) -> Self {
        let owners = same_owners.iter().enumerate().filter(|(_, same)| !**same).map(|(block, _)| block);
        let blocks = |sources: &Vec<(usize, S)>| sources.iter().map(|(block, _)| *block).collect();
        Self { owners: owners.collect(), columns: columns.iter().map(blocks).collect() }
    }

    /// Those of the owners, or of a column by its place in the image.
    fn of_column(&self, column: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        column.map_or(&self.owners, |column| &self.columns[column]).iter().copied()
    }
}

impl Store {
    /// Gives a table the ticks of its image: those of the written blocks, or of all.
    pub(super) fn restore_ticks(&mut self, table: TableId, target: &TableImage, written: Option<&Written>) {
        let tick = |column: Option<usize>, block: usize| match column {
            None => target.owner_ticks.get(block).copied().unwrap_or_default(),
            Some(column) => target.columns[column].ticks.get(block).copied().unwrap_or_default(),
        };
        match written {
            None => self.set_ticks(table, |_| 0..usize::MAX, tick),
            Some(written) => {
                // Rows that came behind the end and went again left marks there.
                let beyond = target.owners.len()..usize::MAX;
                self.set_ticks(table, |column| written.of_column(column).chain(beyond.clone()), tick);
            }
        }
        for tag in &target.tags {
            let cell = self.cell(tag.id, table).expect("a table's tag has a cell");
            cell.tick.store(tag.tick.get(), Ordering::Relaxed);
        }
    }

    /// Sets the ticks of blocks of a table: of the owners, and of each column by its place in the image. Blocks come in
    /// ascending order; those behind the capacity are none.
    pub(super) fn set_ticks<B: Iterator<Item = usize>>(
        &mut self,
        table: TableId,
        blocks: impl Fn(Option<usize>) -> B,
        tick: impl Fn(Option<usize>, usize) -> Tick,
    ) {
        let end = self.table_capacity(table).div_ceil(BLOCK_ROWS);
        let write = |cell: &ColumnCell, sized: bool, column: Option<usize>| {
            cell.tick.store(tick(column, 0).get(), Ordering::Relaxed);
            for block in blocks(column).take_while(|&block| sized && block < end) {
                // SAFETY: the cell is that of a column of the table, whose values have a size, and the block begins within the
                // capacity (I3).
                let before = unsafe { cell.tick_of(block * BLOCK_ROWS) };
                before.store(tick(column, block).get(), Ordering::Relaxed);
            }
        };
        write(&self.metas[table.index()].owners, true, None);
        for (position, column) in self.tables[table.index()].columns.iter().enumerate() {
            let cell = self.cell(column.id, table).expect("a table's column has a cell");
            write(cell, column.size > 0, Some(position));
        }
    }
}
