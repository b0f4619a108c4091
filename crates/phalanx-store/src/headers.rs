//! The column headers of one table: where they stand, and how much memory that takes.
//!
//! A header says where a column's rows are. Its address never changes while the table lives, so plans keep
//! [`ColumnRef`]s and reach a column with one load. Where headers stand is the table's *shape*:
//!
//! ```text
//!   packed   | A | C |                       the columns that are there (General)
//!   inline   | A | - | C | - | ..            all that the pool declares, in place
//!   boxed    | * | 0 | * | 0 | ..            one pointer per component that the pool declares
//!              '▶ | A |  '▶ | C |            allocated for those that are there
//! ```
//!
//! All three keep a list of the columns that are there, in ascending order of their ids; loops use that.

use std::collections::HashSet;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::column;
use crate::column_id::{AnyColId, ColumnType};

/// A column as its table sees it. Public only because sealed traits name it.
#[doc(hidden)]
pub struct TableColumn {
    /// Null where the shape has room for a column that the table lacks.
    pub(crate) data: *mut u8,
    pub(crate) size: usize,
    pub(crate) drop: Option<unsafe fn(*mut u8, usize)>,
    pub(crate) of: &'static ColumnType,
    pub(crate) id: AnyColId,
}

impl TableColumn {
    fn new(id: AnyColId, present: bool) -> Self {
        let of = id.column_type();
        let data = if present { column::dangling(of) } else { ptr::null_mut() };
        Self { data, size: of.layout.size(), drop: of.drop, of, id }
    }
}

/// The header of a column in one table, for as long as that table lives; or that it is a tag, or absent.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnRef(*mut TableColumn);

impl ColumnRef {
    /// The table lacks the column.
    pub(crate) const ABSENT: Self = Self(ptr::null_mut());
    /// The table has the column, which has no memory.
    pub(crate) const TAG: Self = Self(NonNull::dangling().as_ptr());

    #[inline(always)]
    pub(crate) fn is_absent(self) -> bool {
        self.0.is_null()
    }

    /// The header, unless the column is absent or a tag.
    ///
    /// # Safety
    /// The table lives, and its headers are not being changed.
    #[inline(always)]
    pub(crate) unsafe fn header<'a>(self) -> Option<&'a TableColumn> {
        if self == Self::ABSENT || self == Self::TAG {
            return None;
        }
        // SAFETY: forwarded: a header stands where it is until its table is dropped (I3).
        Some(unsafe { &*self.0 })
    }

    /// The column's data.
    ///
    /// # Safety
    /// The table lives and has the column, with memory.
    #[inline(always)]
    pub(crate) unsafe fn data(self) -> *mut u8 {
        // SAFETY: forwarded (I3).
        unsafe { (*self.0).data }
    }

    /// The size of the column's values.
    ///
    /// # Safety
    /// As for [`ColumnRef::data`].
    #[inline(always)]
    pub(crate) unsafe fn size(self) -> usize {
        // SAFETY: forwarded (I3).
        unsafe { (*self.0).size }
    }
}

/// Where the headers of a pool's tables stand: one group of columns per declared component.
///
/// Made once per pool, and given to each of its tables. A column that is declared again has its first place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    groups: Groups,
    boxed: bool,
}

type Groups = Arc<[Box<[AnyColId]>]>;

impl TableShape {
    /// All declared headers in the table's record: reached without a further pointer, and paid for by all.
    pub fn inline(groups: &[&[AnyColId]]) -> Self {
        Self::new(groups, false)
    }

    /// One pointer per declared component in the table's record; headers are allocated for those it has.
    pub fn boxed(groups: &[&[AnyColId]]) -> Self {
        Self::new(groups, true)
    }

    /// Whether this is the other shape, and not one that only looks like it.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.groups, &other.groups) && self.boxed == other.boxed
    }

    /// Whether the shape has a place for the column.
    pub(crate) fn declares(&self, id: AnyColId) -> bool {
        self.groups.iter().any(|group| group.contains(&id))
    }

    fn new(groups: &[&[AnyColId]], boxed: bool) -> Self {
        // A header for each column, and no second one for a column that is declared twice: nothing would fill it (I2).
        let mut declared = HashSet::new();
        let with_memory = |group: &&[AnyColId]| {
            let columns = group.iter().copied().filter(|column| !column.is_virtual());
            columns.filter(|&column| declared.insert(column)).collect::<Box<[_]>>()
        };
        Self { groups: groups.iter().map(with_memory).collect(), boxed }
    }
}

/// A run of headers at a fixed address, whose length its owner knows. Raw, because plans point into it.
struct Block(NonNull<TableColumn>);

impl Block {
    fn new(ids: &[AnyColId], there: &[AnyColId]) -> Self {
        let headers: Box<[_]> = ids.iter().map(|id| TableColumn::new(*id, there.contains(id))).collect();
        Self(NonNull::from(Box::leak(headers)).cast())
    }

    /// # Safety
    /// `len` is the number of ids that the block was made for.
    unsafe fn refs(&self, len: usize) -> impl Iterator<Item = ColumnRef> {
        let first = self.0.as_ptr();
        // SAFETY: forwarded.
        (0..len).map(move |at| ColumnRef(unsafe { first.add(at) }))
    }

    /// # Safety
    /// As for `refs`; the block is not used again.
    unsafe fn free(&mut self, len: usize) {
        let headers = ptr::slice_from_raw_parts_mut(self.0.as_ptr(), len);
        // SAFETY: forwarded: this is the box that was leaked in `new`.
        drop(unsafe { Box::from_raw(headers) });
    }
}

enum Memory {
    /// Headers side by side, and their number.
    Flat(Block, usize),
    Boxed(Box<[Option<Block>]>, Groups),
}

impl Memory {
    fn new(ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        match shape {
            None => Self::Flat(Block::new(ids, ids), ids.len()),
            Some(shape) if shape.boxed => {
                let block = |group: &[AnyColId]| {
                    group.iter().any(|id| ids.contains(id)).then(|| Block::new(group, ids))
                };
                let blocks = shape.groups.iter().map(|group| block(group)).collect();
                Self::Boxed(blocks, shape.groups.clone())
            }
            Some(shape) => {
                let declared: Vec<AnyColId> = shape.groups.iter().flatten().copied().collect();
                Self::Flat(Block::new(&declared, ids), declared.len())
            }
        }
    }

    /// Every place of the shape that is allocated, whether its column is there or not.
    fn places(&self) -> Vec<ColumnRef> {
        match self {
            // SAFETY: the number is that of the block's ids (I3).
            Self::Flat(block, len) => unsafe { block.refs(*len) }.collect(),
            Self::Boxed(blocks, groups) => {
                let pairs = blocks.iter().zip(groups.iter());
                let allocated = pairs.filter_map(|(block, group)| Some((block.as_ref()?, group.len())));
                // SAFETY: each block was made for the group beside it (I3).
                allocated.flat_map(|(block, len)| unsafe { block.refs(len) }).collect()
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match self {
            // SAFETY: the number is that of the block's ids (I3), and the memory is given up.
            Self::Flat(block, len) => unsafe { block.free(*len) },
            Self::Boxed(blocks, groups) => {
                for (block, group) in blocks.iter_mut().zip(groups.iter()) {
                    if let Some(block) = block {
                        // SAFETY: the block was made for the group beside it (I3), and is given up.
                        unsafe { block.free(group.len()) };
                    }
                }
            }
        }
    }
}

/// The columns with memory of one table.
pub(crate) struct Headers {
    memory: Memory,
    /// The columns that are there, in ascending order of their ids.
    list: Box<[ColumnRef]>,
}

impl Headers {
    /// Headers of the columns `ids`, none of them a tag. Those that the shape does not declare have no place in it.
    pub(crate) fn new(ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        let memory = Memory::new(ids, shape);
        let mut headers = Self { memory, list: Box::new([]) };
        // SAFETY: the headers were made just now (I3), and nothing else refers to them.
        let there = |column: &ColumnRef| unsafe { !column.data().is_null() };
        let mut list: Vec<ColumnRef> = headers.memory.places().into_iter().filter(there).collect();
        // SAFETY: as above.
        list.sort_by_key(|column| unsafe { (*column.0).id });
        headers.list = list.into();
        headers
    }

    /// The columns that are there, to be kept by plans.
    pub(crate) fn refs(&self) -> &[ColumnRef] {
        &self.list
    }

    /// The column at a position of the list.
    #[inline(always)]
    pub(crate) fn at(&self, position: u16) -> &TableColumn {
        // SAFETY: the list refers to headers that this owns (I3), which change only under `&mut self`.
        unsafe { &*self.list[usize::from(position)].0 }
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TableColumn> {
        // SAFETY: as for `at`.
        self.list.iter().map(|column| unsafe { &*column.0 })
    }

    /// Gives every column that is there new data.
    pub(crate) fn set_data(&mut self, mut data: impl FnMut(&TableColumn) -> *mut u8) {
        for column in &self.list {
            // SAFETY: as for `at`; no reference to a header is alive now but the one lent to `data`, which has ended
            // when the field is written.
            unsafe {
                let moved = data(&*column.0);
                (*column.0).data = moved;
            }
        }
    }

    /// The bytes of the table's record: what its shape takes, whatever its rows.
    pub(crate) fn bytes(&self) -> usize {
        let headers = self.memory.places().len() * size_of::<TableColumn>();
        let pointers = match &self.memory {
            Memory::Flat(..) => 0,
            Memory::Boxed(blocks, _) => size_of_val(&**blocks),
        };
        headers + pointers + size_of_val(&*self.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column_id::ColId;

    fn ids(count: u32) -> Vec<AnyColId> {
        (0..count).map(|at| ColId::<f32>::named(&format!("header {at}")).any()).collect()
    }

    #[test]
    fn every_shape_lists_the_columns_that_are_there() {
        let ids = ids(60);
        let groups: Vec<&[AnyColId]> = ids.chunks(2).collect();
        let there = [ids[2], ids[3], ids[58], ids[59]];
        for shape in [None, Some(TableShape::inline(&groups)), Some(TableShape::boxed(&groups))] {
            let headers = Headers::new(&there, shape.as_ref());
            assert_eq!(headers.refs().len(), 4);
            assert!(headers.iter().map(|column| column.id).eq(there));
            assert!(headers.iter().all(|column| !column.data.is_null()));
        }
    }

    #[test]
    fn a_boxed_record_of_few_among_many_is_less_than_a_quarter_of_an_inline_one() {
        let ids = ids(60);
        let groups: Vec<&[AnyColId]> = ids.chunks(1).collect();
        let bytes = |shape: TableShape| Headers::new(&ids[7..9], Some(&shape)).bytes();
        assert!(bytes(TableShape::boxed(&groups)) * 4 < bytes(TableShape::inline(&groups)));
    }
}
