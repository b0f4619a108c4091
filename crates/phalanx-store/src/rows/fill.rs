//! Rows whose new columns are filled one by one, by values whose types only their owners know.
//!
//! Commands that were recorded for one entity leave values of several bundles, each with a type of its own. The edge
//! names the columns, and a function is given each of them to write. It must write it, with a value of the column's
//! type; where it does not, or panics, the row does not count and the entity stands where it stood.

use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::headers::ColumnRef;
use crate::plan::Edge;
use crate::store::Store;

/// A column that waits for the value of one row.
pub struct OpenColumn<'f> {
    column: ColumnRef,
    row: usize,
    wanted: AnyColId,
    filled: &'f mut bool,
}

impl OpenColumn<'_> {
    /// Writes the value.
    ///
    /// # Panics
    /// When the column has another id.
    pub fn fill<T: Send + Sync + 'static>(self, id: ColId<T>, value: T) {
        assert!(id.any() == self.wanted, "a value of {} for another column", std::any::type_name::<T>());
        *self.filled = true;
        // SAFETY: the edge is fresh while it is followed, so its target lives (I7).
        if let Some(column) = unsafe { self.column.header() } {
            // SAFETY: the column holds `T`, since it has the id (I1), and there is room for the row (I3), which holds nothing
            // yet (I2).
            unsafe { column.data.cast::<T>().add(self.row).write(value) };
        }
    }
}

impl Store {
    /// Takes an entity along an edge of [`Store::fill_edge`]. `fill` is given each of the edge's columns to write, with
    /// its position among them. False when the entity is dead or stands elsewhere.
    ///
    /// # Panics
    /// When the edge is stale, and when `fill` panics or leaves a column open: the entity stands where it stood, and what
    /// was written is leaked.
    pub fn insert_filled(
        &mut self,
        entity: Entity,
        edge: &Edge,
        mut fill: impl FnMut(usize, OpenColumn<'_>),
    ) -> bool {
        self.expect_fill_edge(edge);
        let place = self.entities.locate(entity).filter(|place| place.table == edge.source);
        let Some(place) = place else { return false };
        let columns = &edge.filled;
        self.relocate(entity, place.row.index(), edge, |row| {
            for (at, (&column, &wanted)) in edge.slots.iter().zip(columns).enumerate() {
                let mut filled = false;
                fill(at, OpenColumn { column, row, wanted, filled: &mut filled });
                assert!(filled, "a column of {} was left open", wanted.type_name());
            }
        });
        true
    }
}
