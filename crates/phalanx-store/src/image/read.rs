//! Reading the rows of an image, block by block, without copying them.
//!
//! A block never changes, and lives as long as an image or a [`SharedRows`] has it: so a caller that wants the values of a
//! moment for longer takes a reference count, and the store goes on.

#![forbid(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use super::column::Block;
use super::{ColumnImage, Image, TableImage};
use crate::column_id::ColId;
use crate::entity::Entity;
use crate::location::TableId;

/// The values of one column in one block of an image: up to 1,024, for the rows that are no holes.
pub struct SharedRows<T> {
    block: Arc<Block>,
    kind: PhantomData<fn() -> T>,
}

impl<T> Clone for SharedRows<T> {
    fn clone(&self) -> Self {
        Self { block: Arc::clone(&self.block), kind: PhantomData }
    }
}

impl<T: Send + Sync + 'static> Deref for SharedRows<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.block.rows().expect("the type was asked for when the rows were taken")
    }
}

impl Image {
    fn table(&self, table: TableId) -> Option<&TableImage> {
        self.tables.get(table.index())?.as_deref()
    }

    /// How many blocks a table has; 0 where the image has no such table.
    pub fn block_count(&self, table: TableId) -> usize {
        self.table(table).map_or(0, |table| table.owners.len())
    }

    /// The entities of a block, in the order of its rows. Holes, which have no values, are left out.
    pub fn block_entities(&self, table: TableId, block: usize) -> impl Iterator<Item = Entity> + '_ {
        let rows = self.table(table).and_then(|table| table.owners.get(block));
        rows.into_iter().flat_map(|rows| rows.iter()).copied().filter(|&entity| entity != Entity::PLACEHOLDER)
    }

    /// The values of a column in a block, shared with the image; `None` where the table lacks the column or the block.
    pub fn block_rows<T: Send + Sync + 'static>(
        &self,
        table: TableId,
        column: ColId<T>,
        block: usize,
    ) -> Option<SharedRows<T>> {
        let is_it = |known: &&ColumnImage| known.id == column.any();
        let block = self.table(table)?.columns.iter().find(is_it)?.blocks.get(block)?;
        block.rows::<T>()?;
        Some(SharedRows { block: Arc::clone(block), kind: PhantomData })
    }
}
