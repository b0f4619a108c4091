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
//! All three keep a list of the columns that are there, in ascending order of their ids; loops use that. All of it lies
//! in the store's [`Slab`], so that the columns of small tables lie together.

use std::collections::HashSet;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::column;
use crate::column_id::{AnyColId, ColumnType};
use crate::slab::{Slab, Word};

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
#[derive(Clone, Copy)]
struct Block(NonNull<TableColumn>);

const WORDS: usize = size_of::<TableColumn>() / size_of::<Word>();
// A record is made of words: headers, references to them, and pointers.
const _: () = assert!(size_of::<TableColumn>().is_multiple_of(size_of::<Word>()));
const _: () = assert!(align_of::<TableColumn>() == align_of::<Word>());
const _: () =
    assert!(size_of::<ColumnRef>() == size_of::<Word>() && align_of::<ColumnRef>() == align_of::<Word>());
const _: () = assert!(size_of::<Option<Block>>() == size_of::<Word>());

impl Block {
    /// Headers of `ids`, those of the columns that are `there`, in ascending order, with data.
    fn new(slab: &mut Slab<Word>, ids: &[AnyColId], there: &[AnyColId]) -> Self {
        let first = slab.take(ids.len() * WORDS).cast::<TableColumn>();
        for (at, id) in ids.iter().enumerate() {
            // SAFETY: locally: the piece has room for a header per id.
            unsafe { first.add(at).write(TableColumn::new(*id, there.binary_search(id).is_ok())) };
        }
        Self(first)
    }

    /// # Safety
    /// `len` is the number of ids that the block was made for.
    unsafe fn refs(self, len: usize) -> impl Iterator<Item = ColumnRef> {
        let first = self.0.as_ptr();
        // SAFETY: forwarded.
        (0..len).map(move |at| ColumnRef(unsafe { first.add(at) }))
    }

    /// # Safety
    /// As for `refs`; the block was made in the slab and is not used again.
    unsafe fn free(self, slab: &mut Slab<Word>, len: usize) {
        // SAFETY: forwarded.
        unsafe { slab.give(self.0.cast(), len * WORDS) };
    }
}

enum Memory {
    /// Headers side by side, and their number.
    Flat(Block, usize),
    /// Beside the groups, a block for each of which a column is there.
    Boxed(Piece<Option<Block>>, Groups),
}

impl Memory {
    fn new(slab: &mut Slab<Word>, ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        match shape {
            None => Self::Flat(Block::new(slab, ids, ids), ids.len()),
            Some(shape) if shape.boxed => {
                let blocks: Vec<Option<Block>> = shape
                    .groups
                    .iter()
                    .map(|group| {
                        group
                            .iter()
                            .any(|id| ids.binary_search(id).is_ok())
                            .then(|| Block::new(slab, group, ids))
                    })
                    .collect();
                Self::Boxed(Piece::new(slab, &blocks), shape.groups.clone())
            }
            Some(shape) => {
                let declared: Vec<AnyColId> = shape.groups.iter().flatten().copied().collect();
                Self::Flat(Block::new(slab, &declared, ids), declared.len())
            }
        }
    }

    /// The blocks that are allocated, and their lengths.
    fn blocks(&self) -> Vec<(Block, usize)> {
        match self {
            Self::Flat(block, len) => vec![(*block, *len)],
            Self::Boxed(blocks, groups) => {
                // SAFETY: the piece is given back together with the memory (I3).
                let pairs = unsafe { blocks.get() }.iter().zip(groups.iter());
                pairs.filter_map(|(block, group)| Some(((*block)?, group.len()))).collect()
            }
        }
    }

    /// Every place of the shape that is allocated, whether its column is there or not.
    fn places(&self) -> Vec<ColumnRef> {
        // SAFETY: the lengths are those of the blocks' ids (I3).
        self.blocks().into_iter().flat_map(|(block, len)| unsafe { block.refs(len) }).collect()
    }
}

/// A slice in a slab, of values that are words.
struct Piece<T> {
    first: NonNull<T>,
    len: usize,
}

impl<T: Copy> Piece<T> {
    const EMPTY: Self = Self { first: NonNull::dangling(), len: 0 };

    fn new(slab: &mut Slab<Word>, values: &[T]) -> Self {
        const { assert!(size_of::<T>() == size_of::<Word>() && align_of::<T>() <= align_of::<Word>()) };
        let (first, len) = (slab.take(values.len()).cast::<T>(), values.len());
        // SAFETY: locally: the piece has a word per value, and nothing else uses it.
        unsafe { first.copy_from_nonoverlapping(NonNull::from(values).cast(), len) };
        Self { first, len }
    }

    /// # Safety
    /// The piece was not freed, and its slab lives.
    #[inline(always)]
    unsafe fn get(&self) -> &[T] {
        // SAFETY: forwarded: `new` wrote as many values, which do not change.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }

    /// # Safety
    /// The piece was made in the slab and is not used again.
    unsafe fn free(self, slab: &mut Slab<Word>) {
        // SAFETY: forwarded.
        unsafe { slab.give(self.first.cast(), self.len) };
    }
}

#[cfg(test)]
std::thread_local! {
    /// How many columns were looked at to find one by its id.
    pub(crate) static COMPARED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The columns with memory of one table, in the slab of its store, which outlives the table.
pub(crate) struct Headers {
    memory: Memory,
    /// The columns that are there, in ascending order of their ids.
    list: Piece<ColumnRef>,
}

impl Headers {
    /// Headers of the columns `ids`, none of them a tag. Those that the shape does not declare have no place in it.
    ///
    /// # Safety
    /// The slab lives as long as the headers, or as a [`ColumnRef`] of them is used.
    pub(crate) unsafe fn new(slab: &mut Slab<Word>, ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        let memory = Memory::new(slab, ids, shape);
        // SAFETY: the headers were made just now (I3), and nothing else refers to them.
        let there = |column: &ColumnRef| unsafe { !column.data().is_null() };
        let mut list: Vec<ColumnRef> = memory.places().into_iter().filter(there).collect();
        // SAFETY: as above.
        list.sort_by_key(|column| unsafe { (*column.0).id });
        Self { memory, list: Piece::new(slab, &list) }
    }

    /// No columns, and no memory.
    pub(crate) fn none() -> Self {
        Self { memory: Memory::Flat(Block(NonNull::dangling()), 0), list: Piece::EMPTY }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// It is that of the slab, and no [`ColumnRef`] of the table is used again.
    pub(crate) unsafe fn free(self, slab: &mut Slab<Word>) {
        for (block, len) in self.memory.blocks() {
            // SAFETY: the length is that of the block's ids (I3); the rest is the caller's.
            unsafe { block.free(slab, len) };
        }
        // SAFETY: forwarded.
        unsafe {
            if let Memory::Boxed(blocks, _) = self.memory {
                blocks.free(slab);
            }
            self.list.free(slab);
        }
    }

    /// The columns that are there, to be kept by plans.
    #[inline(always)]
    pub(crate) fn refs(&self) -> &[ColumnRef] {
        // SAFETY: the slab lives as long as the headers, which are not freed (I3).
        unsafe { self.list.get() }
    }

    /// The column at a position of the list.
    #[inline(always)]
    pub(crate) fn at(&self, position: u16) -> &TableColumn {
        // SAFETY: the list refers to headers of this table (I3), which change only under `&mut self`.
        unsafe { &*self.refs()[usize::from(position)].0 }
    }

    /// Where a column stands in the list.
    pub(crate) fn position(&self, id: AnyColId) -> Option<usize> {
        self.refs()
            .binary_search_by(|column| {
                #[cfg(test)]
                COMPARED.set(COMPARED.get() + 1);
                // SAFETY: as for `at`; the list is in ascending order.
                unsafe { (*column.0).id }.cmp(&id)
            })
            .ok()
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TableColumn> {
        // SAFETY: as for `at`.
        self.refs().iter().map(|column| unsafe { &*column.0 })
    }

    /// Gives every column that is there new data.
    pub(crate) fn set_data(&mut self, mut data: impl FnMut(&TableColumn) -> *mut u8) {
        for column in self.refs() {
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
            Memory::Boxed(blocks, _) => blocks.len * size_of::<Word>(),
        };
        headers + pointers + self.list.len * size_of::<Word>()
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
        let mut slab = Slab::new();
        for shape in [None, Some(TableShape::inline(&groups)), Some(TableShape::boxed(&groups))] {
            // SAFETY: locally: the slab lives longer.
            let headers = unsafe { Headers::new(&mut slab, &there, shape.as_ref()) };
            assert_eq!(headers.refs().len(), 4);
            assert!(headers.iter().map(|column| column.id).eq(there));
            assert!(headers.iter().all(|column| !column.data.is_null()));
            // SAFETY: locally: the headers are not used again.
            unsafe { headers.free(&mut slab) };
        }
    }

    // Z-017, Z-019: no pointer is followed from one header to the next.
    #[test]
    fn headers_of_an_inline_record_stand_side_by_side_where_they_were_declared() {
        let ids = ids(60);
        let groups: Vec<&[AnyColId]> = ids.chunks(1).collect();
        let mut slab = Slab::new();
        // SAFETY: locally: the slab lives longer.
        let headers = unsafe { Headers::new(&mut slab, &ids[7..9], Some(&TableShape::inline(&groups))) };
        let places: Vec<usize> = headers.memory.places().iter().map(|column| column.0.addr()).collect();
        assert_eq!(places.len(), 60);
        assert!(places.iter().enumerate().all(|(at, place)| *place == places[0] + at * 40), "{places:?}");
        assert_eq!(headers.refs().iter().map(|column| column.0.addr()).collect::<Vec<_>>(), places[7..9]);
        // A boxed record has a pointer for each, and headers where they fit in.
        // SAFETY: as above.
        let boxed = unsafe { Headers::new(&mut slab, &ids[7..9], Some(&TableShape::boxed(&groups))) };
        assert_eq!(boxed.memory.places().len(), 2);
    }

    #[test]
    fn a_boxed_record_of_few_among_many_is_less_than_a_quarter_of_an_inline_one() {
        let ids = ids(60);
        let groups: Vec<&[AnyColId]> = ids.chunks(1).collect();
        let mut slab = Slab::new();
        // SAFETY: locally: the slab lives longer.
        let mut bytes =
            |shape: TableShape| unsafe { Headers::new(&mut slab, &ids[7..9], Some(&shape)) }.bytes();
        assert!(bytes(TableShape::boxed(&groups)) * 4 < bytes(TableShape::inline(&groups)));
    }
}
