//! Rows whose new columns are filled one by one, by values whose types only their owners know.
//!
//! Commands that were recorded for one entity leave values of several bundles, each with a type of its own. The edge
//! names the columns, and a function is given each of them to write. It must write it, with a value of the column's
//! type; where it does not, or panics, the row does not count and the entity stands where it stood.

use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::plan::Edge;
use crate::store::Store;
use crate::table_columns::Column;

/// A column that waits for the value of one row.
pub struct OpenColumn<'f> {
    column: &'f Column,
    row: usize,
    wanted: AnyColId,
    filled: &'f mut bool,
}

impl OpenColumn<'_> {
    /// Offers a column to be written.
    ///
    /// # Safety
    /// The column is that of a table that lives, with the id `wanted` and room for the row, which holds nothing yet; or it
    /// stands for a tag of the table.
    ///
    /// # Panics
    /// When `fill` leaves the column open.
    pub(crate) unsafe fn offer(
        column: &Column,
        row: usize,
        wanted: AnyColId,
        fill: impl FnOnce(OpenColumn<'_>),
    ) {
        let mut filled = false;
        fill(OpenColumn { column, row, wanted, filled: &mut filled });
        assert!(filled, "a column of {} was left open", wanted.type_name());
    }

    /// Writes the value.
    ///
    /// # Panics
    /// When the column has another id.
    pub fn fill<T: Send + Sync + 'static>(self, id: ColId<T>, value: T) {
        assert!(id.any() == self.wanted, "a value of {} for another column", std::any::type_name::<T>());
        *self.filled = true;
        if self.column.is_real() {
            // SAFETY: the promise of `offer`, which alone makes these: the column holds `T`, since it has the id (I1), and
            // there is room for the row (I3), which holds nothing yet (I2).
            unsafe { self.column.data().cast::<T>().add(self.row).write(value) };
        }
    }
}

impl Store {
    /// Takes an entity along an edge of [`Store::fill_edge`]. `fill` is given each of the edge's columns to write, with
    /// its position among them. False when the entity is dead or stands elsewhere.
    ///
    /// # Panics
    /// When the edge is stale, and when `fill` panics or leaves a column open: the entity stands where it stood, and
    /// what was written is leaked.
    pub fn insert_filled(
        &mut self,
        entity: Entity,
        edge: &Edge,
        mut fill: impl FnMut(usize, OpenColumn<'_>),
    ) -> bool {
        self.expect_fill_edge(edge);
        let location = self.entities.locate(entity).filter(|location| location.table == edge.source);
        let Some(location) = location else { return false };
        let columns = &edge.filled;
        let write = |row| {
            for (at, (column, &wanted)) in edge.slots.iter().zip(columns).enumerate() {
                // SAFETY: the edge is fresh while it is followed, so its target lives, and the column is the one that is
                // wanted, by the same order of both lists (I7). There is room for the row (I3), which holds nothing yet (I2).
                unsafe { OpenColumn::offer(column, row, wanted, |open| fill(at, open)) };
            }
        };
        // SAFETY: the edge is fresh, as was checked above, and the entity stands at its source (I5). Each column that
        // the edge names is written, or `write` panics (I7).
        unsafe { self.relocate(entity, location.row.index(), edge, write) };
        true
    }
}
