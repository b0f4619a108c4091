//! The holes of stable sets, for complete descriptions of a set.
//!
//! In which order holes were left decides which one the next value fills, so digests and saves need the list itself.

#![forbid(unsafe_code)]

use super::SetId;
use crate::store::Store;

impl Store {
    /// The rows of a set that are holes, in the order they were left: the last is filled first.
    pub fn set_hole_rows(&self, id: SetId) -> &[u32] {
        &self.tables[self.set(id).table.index()].holes
    }
}
