//! The store's own doubts: every invariant that can be looked up, looked up.
//!
//! Model tests call [`Store::check`] after each step. It is slow and complete; nothing else uses it.

use crate::place::{Place, Row, TableId};
use crate::store::Store;

impl Store {
    /// Verifies the invariants that connect directory, tables and lanes.
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
        for (column, lane) in self.lanes.declared() {
            if lane.len() != self.tables.len() {
                return Err(format!(
                    "I4: lane {column} covers {} of {} tables",
                    lane.len(),
                    self.tables.len()
                ));
            }
            for (at, cell) in lane.iter().enumerate() {
                let has = self.tables[at].ids().any(|id| id.index() == column);
                if has == cell.data.is_null() {
                    return Err(format!("I4: lane {column} and table {at} disagree on presence"));
                }
            }
        }
        if self.lanes.shared().iter().any(|cell| !cell.data.is_null()) {
            return Err("I4: the lane of unknown columns has one".into());
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
            return Err(format!("I2: table {id:?} has {len} rows in {capacity} places"));
        }
        for column in table.columns.iter() {
            let cell = self.cell(column.id, id).ok_or_else(|| format!("I4: no lane for {:?}", column.id))?;
            if cell.data != column.data {
                return Err(format!("I3: the lane of {:?} does not mirror table {id:?}", column.id));
            }
            if !column.data.addr().is_multiple_of(column.of.layout.align().max(64)) {
                return Err(format!("I3: {:?} in table {id:?} is not aligned", column.id));
            }
        }
        if table.is_set {
            return Ok(0);
        }
        for (row, &entity) in self.table_entities(id).iter().enumerate() {
            let place = Place { table: id, row: Row::from_index(row) };
            if self.entities.locate(entity) != Some(place) {
                return Err(format!(
                    "I5: {entity} stands at {place:?} but is found at {:?}",
                    self.entities.locate(entity)
                ));
            }
        }
        Ok(len)
    }
}
