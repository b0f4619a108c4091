//! Many rows at once, whose columns come one after the other: what loading a saved table does.
//!
//! The values of each column were read before, into a vector of its own. Here they are moved behind the end of the table,
//! a copy of bytes per column, and then all rows count. Everything that can fail comes before the first value is moved.

use std::any::type_name;

use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::plan::Edge;
use crate::store::Store;

/// The values of one column for rows to come, whatever their type.
pub struct ColumnRows {
    id: AnyColId,
    values: Box<dyn AnyValues>,
}

impl ColumnRows {
    /// The values of a column, one per row.
    pub fn new<T: Send + Sync + 'static>(id: ColId<T>, values: Vec<T>) -> Self {
        Self { id: id.any(), values: Box::new(values) }
    }
}

/// A vector whose type its column knows, to be moved there.
pub(crate) trait AnyValues {
    fn len(&self) -> usize;
    fn type_name(&self) -> &'static str;
    fn data(&self) -> *const u8;
    /// Forgets the values.
    ///
    /// # Safety
    /// They were moved elsewhere.
    unsafe fn moved(&mut self);
}

impl<T> AnyValues for Vec<T> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }

    fn data(&self) -> *const u8 {
        self.as_ptr().cast()
    }

    unsafe fn moved(&mut self) {
        // SAFETY: forwarded: the values were moved away; an empty vector holds none.
        unsafe { self.set_len(0) };
    }
}

impl Store {
    /// Brings entities without a row to the target of an edge of [`Store::fill_edge`], one row each, in their order
    /// behind the rows that are there. `columns` are those of the edge, in its order, with a value for each entity.
    ///
    /// # Panics
    /// When the edge is stale, does not lead from [`TableId::ROWLESS`] to a table, or has other columns; when a column has
    /// another number of values; when an entity is dead, has a row, or is named twice. Nothing has changed then.
    pub fn insert_columns(&mut self, entities: &[Entity], edge: &Edge, mut columns: Vec<ColumnRows>) {
        self.expect_fill_edge(edge);
        assert!(
            edge.source == TableId::ROWLESS && edge.target != TableId::ROWLESS && edge.inits.is_empty(),
            "rows that come at once follow an edge from nowhere to a table, which makes no values"
        );
        assert!(
            columns.iter().map(|column| column.id).eq(edge.filled.iter().copied()),
            "rows that come at once have the columns of their edge"
        );
        for column in &columns {
            let (count, of) = (column.values.len(), column.values.type_name());
            assert!(count == entities.len(), "{count} values of {of} for {} rows", entities.len());
        }
        let (table, first) = (edge.target, self.table_len(edge.target));
        let rows = u32::try_from(entities.len()).expect("a table holds fewer than 2^32 rows");
        self.make_room(table, entities.len());
        // SAFETY: there is room for as many rows from `first` on (I3), which hold nothing yet, are filled next, and count then
        // (I2, I5). The edge is fresh, so its target lives, and each of its columns is that of the id that was asked for above
        // (I7), of whose type the values are (I1), which belong to the rows from now on.
        unsafe {
            self.place_rowless(entities, table, first);
            // Values of tags have no place: they are dropped with `columns`, when all is in order again.
            for (column, given) in edge.slots.iter().zip(&mut columns).filter(|(column, _)| column.is_real())
            {
                let to = column.data().add(first * column.size);
                given.values.data().copy_to_nonoverlapping(to, entities.len() * column.size);
                given.values.moved();
            }
            self.push_rows(table, rows);
        }
        self.moves += u64::from(rows);
    }

    /// Notes that entities without a row have those from `first` on.
    ///
    /// # Panics
    /// When an entity is dead or has a row; then none of them has another one than before.
    ///
    /// # Safety
    /// There is room for the rows, which the caller fills and lets count before anything else is done (I2, I5).
    unsafe fn place_rowless(&mut self, entities: &[Entity], table: TableId, first: usize) {
        for (at, &entity) in entities.iter().enumerate() {
            let location = self.entities.locate(entity).map(|location| location.table);
            if location != Some(TableId::ROWLESS) {
                for &placed in &entities[..at] {
                    let back = EntityLocation { table: TableId::ROWLESS, row: Row::from_index(0) };
                    // SAFETY: the entity was alive and had no row before this call (I5).
                    unsafe { self.entities.set_location(placed.index(), back) };
                }
                panic!("{entity} is dead, has a row, or is named twice");
            }
            let row = first + at;
            // SAFETY: forwarded: the caller made room for the row (I3), which is the entity's from now on (I5).
            unsafe {
                self.owner_at(table, row).write(entity);
                let location = EntityLocation { table, row: Row::from_index(row) };
                self.entities.set_location(entity.index(), location);
            }
        }
    }
}
