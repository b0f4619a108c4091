//! The columns of one table: where they stand, and how much memory that takes.
//!
//! A [`Column`] says where the rows of a column are. It stands in the record of its table, at an address that never
//! changes, so that plans reach the rows with one load; the record lives as long as the table, or a plan that leads
//! there. How columns stand in a record is the table's *shape*:
//!
//! ```text
//!   packed   | A | C |                       the columns that are there (General)
//!   inline   | A | - | C | - | ..            all that the pool declares, in place
//!   boxed    | * | 0 | * | 0 | ..            one pointer per column that the pool declares
//!              '▶ | A |  '▶ | C |            allocated for those that are there
//! ```
//!
//! All three keep a list of the columns that are there, in ascending order of their ids; loops use that.

use std::collections::HashSet;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock};

use crate::column::{self, copy_value, swap_values};
use crate::column_id::{AnyColId, ColCell, ColumnType};
use crate::panics::FirstPanic;
use crate::sorting;
use crate::steps;

/// A column as its table sees it. Public only because sealed traits name it.
#[doc(hidden)]
pub struct Column {
    /// Null where the shape has room for a column that the table lacks.
    data: AtomicPtr<u8>,
    pub(crate) size: usize,
    pub(crate) drop: Option<unsafe fn(*mut u8, usize)>,
    pub(crate) of: &'static ColumnType,
    pub(crate) id: AnyColId,
    kind: Kind,
}

/// What a plan finds for a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A column of the table.
    Column,
    /// The table has the column, which has no memory.
    Tag,
    /// The table lacks the column.
    Absent,
}

/// What stands for all tags, and for all columns that a table lacks.
static TAG_AND_ABSENT: LazyLock<[Column; 2]> = LazyLock::new(|| {
    static NOTHING: ColCell<()> = ColCell::new();
    let nothing = |kind| Column { kind, ..Column::new(NOTHING.id().any(), true) };
    [nothing(Kind::Tag), nothing(Kind::Absent)]
});

impl Column {
    fn new(id: AnyColId, present: bool) -> Self {
        let of = id.column_type();
        let data = if present { column::dangling(of) } else { ptr::null_mut() };
        let (data, size) = (AtomicPtr::new(data), of.layout.size());
        Self { data, size, drop: of.drop, of, id, kind: Kind::Column }
    }

    /// Whether the table lacks the column.
    #[inline(always)]
    pub(crate) fn is_absent(&self) -> bool {
        self.kind == Kind::Absent
    }

    /// Whether this is a column of the table, and no tag.
    #[inline(always)]
    pub(crate) fn is_real(&self) -> bool {
        self.kind == Kind::Column
    }

    /// Where the rows are. Relaxed: it changes only while the store is borrowed exclusively.
    #[inline(always)]
    pub(crate) fn data(&self) -> *mut u8 {
        self.data.load(Ordering::Relaxed)
    }

    /// The rows, to be moved.
    #[inline(always)]
    pub(crate) fn rows(&self) -> ColumnRows {
        ColumnRows { data: self.data(), size: self.size }
    }

    /// Drops the values of some rows, all of them though some panic.
    ///
    /// # Safety
    /// The rows are within the column's memory and hold initialised values, which nothing else refers to, now or later.
    pub(crate) unsafe fn drop_rows(&self, first: usize, count: usize, panics: &mut FirstPanic) {
        if let Some(drop) = self.drop {
            // SAFETY: forwarded: the rows are within the column's memory (I3), and their values are of its type (I1); nothing
            // else will drop or read them.
            panics.guard(|| unsafe { drop(self.data().add(first * self.size), count) });
        }
    }
}

/// Where the rows of a column are, and how large each is.
#[derive(Clone, Copy)]
pub(crate) struct ColumnRows {
    data: *mut u8,
    size: usize,
}

impl ColumnRows {
    /// Copies the value of a row over that of another one, which may be in another column of the same type.
    ///
    /// # Safety
    /// The column has the row `from`, and the other one, which is of the same type, room for the row `to`; they are not the
    /// same. Neither column got other memory since its rows were asked for. Afterwards only one of them counts as
    /// initialised.
    #[inline(always)]
    pub(crate) unsafe fn copy(self, from: usize, into: Self, to: usize) {
        steps::count(1);
        // SAFETY: forwarded: both are within the columns' memory, each of this size, and apart (I3).
        unsafe { copy_value(self.data.add(from * self.size), into.data.add(to * self.size), self.size) };
    }

    /// Exchanges the values of two rows.
    ///
    /// # Safety
    /// The column has both rows, which differ, and did not get other memory since its rows were asked for.
    #[inline(always)]
    pub(crate) unsafe fn swap(self, a: usize, b: usize) {
        steps::count(2);
        // SAFETY: forwarded: both are within the column's memory, and apart (I3).
        unsafe { swap_values(self.data.add(a * self.size), self.data.add(b * self.size), self.size) };
    }
}

/// Where the columns of a pool's tables stand.
///
/// Made once per pool, and given to each of its tables. A column that is declared again has its first place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    columns: Arc<[AnyColId]>,
    boxed: bool,
}

impl TableShape {
    /// All columns of the declared components in the table's record: reached without a further pointer, and paid for by
    /// all.
    pub fn inline(components: &[&[AnyColId]]) -> Self {
        Self::new(components, false)
    }

    /// One pointer per column of the declared components in the table's record; columns are allocated for those it has.
    pub fn boxed(components: &[&[AnyColId]]) -> Self {
        Self::new(components, true)
    }

    /// Whether this is the other shape, and not one that only looks like it.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.columns, &other.columns) && self.boxed == other.boxed
    }

    /// Whether the shape has a place for the column.
    pub(crate) fn declares(&self, id: AnyColId) -> bool {
        self.columns.contains(&id)
    }

    fn new(components: &[&[AnyColId]], boxed: bool) -> Self {
        // None twice, where a column is declared twice: nothing would fill the second (I2).
        let mut declared = HashSet::new();
        let columns = components.iter().copied().flatten().copied();
        let with_memory = columns.filter(|&id| !id.is_virtual() && declared.insert(id));
        Self { columns: with_memory.collect(), boxed }
    }
}

/// The columns of a table, which stay where they are: what is in a record is neither moved nor written, but for data pointers.
enum Record {
    Flat(Box<[Column]>),
    Boxed(Box<[Option<Box<Column>>]>),
}

impl Record {
    /// The columns `ids`, in ascending order, in a record of this shape.
    fn new(ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        let column = |&id: &AnyColId| Column::new(id, ids.binary_search(&id).is_ok());
        match shape {
            None => Self::Flat(ids.iter().map(|&id| Column::new(id, true)).collect()),
            Some(shape) if shape.boxed => {
                let boxed = |id| Some(Box::new(column(id))).filter(|column| !column.data().is_null());
                Self::Boxed(shape.columns.iter().map(boxed).collect())
            }
            Some(shape) => Self::Flat(shape.columns.iter().map(column).collect()),
        }
    }

    /// Every column for which there is room, whether the table has it or not.
    fn columns(&self) -> impl Iterator<Item = &Column> {
        let (flat, boxed): (&[Column], &[Option<Box<Column>>]) = match self {
            Self::Flat(columns) => (columns, &[]),
            Self::Boxed(columns) => (&[], columns),
        };
        flat.iter().chain(boxed.iter().flatten().map(|column| &**column))
    }

    fn bytes(&self) -> usize {
        let pointers = if let Self::Boxed(columns) = self { size_of_val(&**columns) } else { 0 };
        self.columns().count() * size_of::<Column>() + pointers
    }
}

#[cfg(test)]
std::thread_local! {
    /// How many columns were looked at to find one by its id.
    pub(crate) static COMPARED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Where a column stands: in a record, or among those that are none.
#[derive(Clone, Copy)]
pub(crate) struct ColumnPlace(NonNull<Column>);

// SAFETY: locally: stands for a shared reference to a column, which is `Sync`: written through atomics alone.
unsafe impl Send for ColumnPlace {}
// SAFETY: locally: a shared one gives what a copy gives, which may be sent.
unsafe impl Sync for ColumnPlace {}

impl ColumnPlace {
    fn new(column: &Column) -> Self {
        Self(NonNull::from(column))
    }

    /// # Safety
    /// The record of the column lives for `'a`.
    #[inline(always)]
    unsafe fn get<'a>(self) -> &'a Column {
        // SAFETY: forwarded: columns stay where they are in their record (I3), and are written through atomics alone.
        unsafe { self.0.as_ref() }
    }
}

/// Columns of one record, which lives as long as this.
#[derive(Clone, Default)]
pub(crate) struct ColumnList {
    list: Box<[ColumnPlace]>,
    /// `None` where there are no columns.
    record: Option<Arc<Record>>,
}

impl ColumnList {
    #[inline(always)]
    pub(crate) fn iter(&self) -> Columns<'_> {
        Columns { list: self.list.iter() }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Where the first column stands.
    pub(crate) fn first(&self) -> Option<ColumnPlace> {
        self.list.first().copied()
    }

    /// As `iter`, where it need not be asked whether there is another column.
    ///
    /// # Safety
    /// There are as many columns.
    #[inline(always)]
    pub(crate) unsafe fn exactly(&self, len: usize) -> Columns<'_> {
        // SAFETY: forwarded: this is the number of columns.
        unsafe { std::hint::assert_unchecked(self.list.len() == len) };
        self.iter()
    }

    /// The column at a position of the list.
    #[inline(always)]
    pub(crate) fn at(&self, position: u16) -> &Column {
        // SAFETY: the list is borrowed, and keeps the record of its columns alive (I3).
        unsafe { self.list[usize::from(position)].get() }
    }
}

/// Columns of two records, pair by pair; both live as long as this.
pub(crate) struct ColumnPairs {
    list: Box<[(ColumnPlace, ColumnPlace)]>,
    _records: [Option<Arc<Record>>; 2],
}

impl ColumnPairs {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Column, &Column)> {
        // SAFETY: the pairs are borrowed, and keep the records of both columns alive (I3).
        self.list.iter().map(|(one, other)| unsafe { (one.get(), other.get()) })
    }
}

/// How the columns of two tables differ.
pub(crate) struct Comparison {
    /// Those that both have.
    pub(crate) shared: ColumnPairs,
    /// Those of the first table that the second one lacks.
    pub(crate) left: ColumnList,
    /// Those of the second table that the first one lacks.
    pub(crate) new: ColumnList,
}

/// Columns of one record, one by one.
#[doc(hidden)]
#[derive(Clone)]
pub struct Columns<'a> {
    list: std::slice::Iter<'a, ColumnPlace>,
}

impl<'a> Columns<'a> {
    /// One column alone.
    ///
    /// # Safety
    /// The record of the column lives for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn one(place: &'a ColumnPlace) -> Self {
        Self { list: std::slice::from_ref(place).iter() }
    }
}

impl<'a> Iterator for Columns<'a> {
    type Item = &'a Column;

    #[inline(always)]
    fn next(&mut self) -> Option<&'a Column> {
        // SAFETY: the list is borrowed for `'a`, and keeps the record of its columns alive (I3); of a place that is no list's,
        // the caller of `one` promised as much.
        self.list.next().map(|place| unsafe { place.get() })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.list.size_hint()
    }
}

impl ExactSizeIterator for Columns<'_> {}

/// The columns with memory of one table, in ascending order of their ids.
pub(crate) struct TableColumns {
    all: ColumnList,
}

impl std::ops::Deref for TableColumns {
    type Target = ColumnList;

    #[inline(always)]
    fn deref(&self) -> &ColumnList {
        &self.all
    }
}

impl TableColumns {
    /// The columns `ids`, in ascending order, none of them a tag. The shape declares each.
    pub(crate) fn new(ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        let record = Arc::new(Record::new(ids, shape));
        let mut there: Vec<&Column> = record.columns().filter(|column| !column.data().is_null()).collect();
        sorting::sort_by_key(&mut there, |column| column.id);
        let list = there.into_iter().map(ColumnPlace::new).collect();
        Self { all: ColumnList { list, record: Some(record) } }
    }

    /// Where a column stands in the list.
    pub(crate) fn position(&self, id: AnyColId) -> Option<usize> {
        let compare = |place: &ColumnPlace| {
            #[cfg(test)]
            COMPARED.set(COMPARED.get() + 1);
            // SAFETY: the list is borrowed, and keeps the record of its columns alive (I3).
            unsafe { place.get() }.id.cmp(&id)
        };
        self.all.list.binary_search_by(compare).ok()
    }

    /// How these columns differ from those of another table: both stand in ascending order, and are walked together.
    pub(crate) fn compare(&self, other: &Self) -> Comparison {
        let (mut shared, mut left, mut new) = (Vec::with_capacity(self.len()), Vec::new(), Vec::new());
        let (mut ours, mut theirs) = (self.iter().peekable(), other.iter().peekable());
        loop {
            #[cfg(test)]
            COMPARED.set(COMPARED.get() + 1);
            let ahead = |one: Option<&&Column>, than: Option<&&Column>| match (one, than) {
                (Some(one), Some(than)) => one.id < than.id,
                (one, _) => one.is_some(),
            };
            if let Some(column) = ours.next_if(|one| ahead(Some(one), theirs.peek())) {
                left.push(ColumnPlace::new(column));
            } else if let Some(column) = theirs.next_if(|one| ahead(Some(one), ours.peek())) {
                new.push(ColumnPlace::new(column));
            } else if let (Some(one), Some(other)) = (ours.next(), theirs.next()) {
                shared.push((ColumnPlace::new(one), ColumnPlace::new(other)));
            } else {
                break;
            }
        }
        let list =
            |list: Vec<ColumnPlace>, of: &Self| ColumnList { list: list.into(), record: of.record.clone() };
        Comparison {
            shared: ColumnPairs {
                list: shared.into(),
                _records: [self.record.clone(), other.record.clone()],
            },
            left: list(left, self),
            new: list(new, other),
        }
    }

    /// Where columns stand, for plans; `is_tag` tells of those without memory whether the table has them.
    pub(crate) fn select(&self, ids: &[AnyColId], is_tag: impl Fn(AnyColId) -> bool) -> ColumnList {
        let [tag, absent] = &*TAG_AND_ABSENT;
        let place = |&id: &AnyColId| match self.position(id) {
            Some(at) => self.all.list[at],
            None => ColumnPlace::new(if is_tag(id) { tag } else { absent }),
        };
        ColumnList { list: ids.iter().map(place).collect(), record: self.all.record.clone() }
    }

    /// Gives every column that is there new data.
    ///
    /// # Safety
    /// It is memory for the capacity that the table has when the store is used next, with the values of all rows, and the
    /// cells of the columns are set (I2, I3).
    pub(crate) unsafe fn set_data(&mut self, mut data: impl FnMut(&Column) -> *mut u8) {
        self.all.iter().for_each(|column| column.data.store(data(column), Ordering::Relaxed));
    }

    /// The bytes of the table's record: what its shape takes, whatever its rows.
    pub(crate) fn bytes(&self) -> usize {
        self.all.record.as_deref().map_or(0, Record::bytes) + size_of_val(&*self.all.list)
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
            let headers = TableColumns::new(&there, shape.as_ref());
            assert_eq!(headers.len(), 4);
            assert!(headers.iter().map(|column| column.id).eq(there));
            assert!(headers.iter().all(|column| !column.data().is_null()));
        }
    }

    // Z-017, Z-019: no pointer is followed from one column to the next.
    #[test]
    fn headers_of_an_inline_record_stand_side_by_side_where_they_were_declared() {
        let ids = ids(60);
        let groups: Vec<&[AnyColId]> = ids.chunks(1).collect();
        let headers = TableColumns::new(&ids[7..9], Some(&TableShape::inline(&groups)));
        let locations: Vec<usize> = headers
            .record
            .as_deref()
            .expect("not empty")
            .columns()
            .map(|column| ptr::from_ref(column).addr())
            .collect();
        assert_eq!(locations.len(), 60);
        assert!(
            locations.iter().enumerate().all(|(at, location)| *location == locations[0] + at * 40),
            "{locations:?}"
        );
        assert_eq!(
            headers.list.iter().map(|place| place.0.addr().get()).collect::<Vec<_>>(),
            locations[7..9]
        );
        // A boxed record has a pointer for each, and columns where they fit in.
        let boxed = TableColumns::new(&ids[7..9], Some(&TableShape::boxed(&groups)));
        assert_eq!(boxed.record.as_deref().expect("not empty").columns().count(), 2);
    }

    #[test]
    fn a_boxed_record_of_few_among_many_is_less_than_a_quarter_of_an_inline_one() {
        let ids = ids(60);
        let groups: Vec<&[AnyColId]> = ids.chunks(1).collect();
        let bytes = |shape: TableShape| TableColumns::new(&ids[7..9], Some(&shape)).bytes();
        assert!(bytes(TableShape::boxed(&groups)) * 4 < bytes(TableShape::inline(&groups)));
    }
}
