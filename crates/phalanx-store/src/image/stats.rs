//! What an image cost, and how much memory images hold together.
//!
//! Blocks are shared between images, so memory is counted by block: a caller that adds up several images
//! says for each block whether it was counted before.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{Image, TableImage};

/// What taking an image copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageStats {
    /// Blocks of columns that were copied.
    pub copied_blocks: usize,
    /// Blocks of columns that are shared with the image before.
    pub shared_blocks: usize,
    /// The bytes of what was copied, entity ids included.
    pub copied_bytes: usize,
}

impl Image {
    /// The bytes of blocks for whose address `is_new` says so.
    pub fn bytes_beyond(&self, is_new: &mut dyn FnMut(usize) -> bool) -> usize {
        let tables = self.tables.iter().flatten().filter(|table| is_new(Arc::as_ptr(table).addr()));
        let tables: Vec<&Arc<TableImage>> = tables.collect();
        let mut bytes = 0;
        for table in tables {
            for owners in table.owners.iter().filter(|owners| is_new(Arc::as_ptr(owners).addr())) {
                bytes += size_of_val::<[_]>(owners);
            }
            for block in table.columns.iter().flat_map(|column| column.blocks.iter()) {
                if is_new(Arc::as_ptr(block).addr()) {
                    bytes += block.bytes + size_of_val::<super::column::Block>(block);
                }
            }
        }
        if is_new(Arc::as_ptr(&self.directory).addr()) {
            bytes += self.directory.bytes();
        }
        bytes
    }
}
