//! The store's own doubts: every invariant that can be looked up, looked up.
//!
//! Model tests call [`Store::check`] after each step. It is slow and complete; nothing else uses it.

#![forbid(unsafe_code)]

use crate::location::{EntityLocation, Row, TableId};
use crate::store::Store;

impl Store {
    /// Verifies the invariants that connect directory, tables and column index.
    ///
    /// # Errors
    /// Says which one does not hold.
    pub fn check(&self) -> Result<(), String> {
        self.entities.check()?;
        self.check_sets()?;
        self.check_cursors()?;
        let mut rows = 0;
        for at in 0..self.tables.len() {
            rows += self.check_table(TableId::from_index(at))?;
        }
        let placed = self.entities.len() - self.entities.rowless_len();
        if rows != placed {
            return Err(format!("tables hold {rows} rows, but {placed} entities have one"));
        }
        for (column, column_cells) in self.cells.declared() {
            if column_cells.len() != self.tables.len() {
                return Err(format!(
                    "I4: column {column} covers {} of {} tables",
                    column_cells.len(),
                    self.tables.len()
                ));
            }
            for (at, cell) in column_cells.iter().enumerate() {
                let has = self.tables[at].ids().any(|id| id.index() == column);
                if has == cell.is_absent() {
                    return Err(format!("I4: column {column} and table {at} disagree on presence"));
                }
            }
        }
        if self.cells.shared().iter().any(|cell| !cell.is_absent()) {
            return Err("I4: the cells of unknown columns have one".into());
        }
        Ok(())
    }

    /// Puts the free slot `index` forward to a generation, so that tests reach the end of the counter.
    ///
    /// # Panics
    /// When the slot is alive, retired or not there, or the generation would go back.
    #[doc(hidden)]
    pub fn set_free_generation_for_tests(&mut self, index: u32, generation: u32) {
        self.entities.flush();
        assert!(self.entities.iter().all(|entity| entity.index() != index), "slot {index} is alive");
        self.entities.set_generation_for_tests(index, generation + 1);
    }

    fn check_table(&self, id: TableId) -> Result<usize, String> {
        let (table, len) = (&self.tables[id.index()], self.table_len(id));
        let capacity = self.table_capacity(id);
        if len > capacity || (!table.live && len > 0) {
            return Err(format!("I2: table {id:?} has {len} rows in a capacity of {capacity}"));
        }
        for column in table.columns.iter() {
            let cell = self.cell(column.id, id).ok_or_else(|| format!("I4: no cells for {:?}", column.id))?;
            if cell.data != column.data() {
                return Err(format!("I3: the cell of {:?} does not mirror table {id:?}", column.id));
            }
            if !column.data().addr().is_multiple_of(column.of.layout.align().max(64)) {
                return Err(format!("I3: {:?} in table {id:?} is not aligned", column.id));
            }
        }
        if table.is_set {
            return Ok(0);
        }
        for (row, &entity) in self.table_entities(id).iter().enumerate() {
            let location = EntityLocation { table: id, row: Row::from_index(row) };
            if self.entities.locate(entity) != Some(location) {
                return Err(format!(
                    "I5: {entity} stands at {location:?} but is found at {:?}",
                    self.entities.locate(entity)
                ));
            }
        }
        Ok(len)
    }
}
