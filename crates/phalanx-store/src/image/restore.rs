//! How a store becomes what an image says, in three steps.
//!
//! ```text
//!   prepare   copies of the values that will be needed: the user's code, which may panic; nothing has changed
//!   commit    memory is exchanged, directory and pages follow from the owners: nothing of the user's, nothing that fails
//!   leftovers what was in the store and is not any more: dropped by the caller, when everything is valid again
//! ```
//!
//! A block that was not written since the base, and is the same block in the image, stays as it is.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::column::Block;
use super::ticks::Written;
use super::{BLOCK_ROWS, Image, TableImage, rows_in};
use crate::column_id::{AnyColId, ColumnType};
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::panics::FirstPanic;
use crate::rows::AnyValues;
use crate::sorting;
use crate::store::Store;
use crate::table::Table;
use crate::tick::Tick;

/// Why an image cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRestored {
    /// The image is of another store.
    OtherStore,
}

impl fmt::Display for NotRestored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the image was taken of another store")
    }
}

impl std::error::Error for NotRestored {}

/// Where the values of a block come from that are not there already.
enum Source {
    /// From the image's block, as bytes.
    Bytes,
    /// From copies, which are moved.
    Fresh(Box<dyn AnyValues>),
}

/// A block of a column that a restore writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The table, as it is after the restore.
    pub table: TableId,
    /// The column.
    pub column: AnyColId,
    /// The block.
    pub block: usize,
}

/// What happens to one table.
struct Plan {
    target: Option<Arc<TableImage>>,
    /// Whether the table of the image is there.
    stays: bool,
    /// Whether the table was last equal to this very image of it: what has an older tick is as it is there, and so is its
    /// tick (I15).
    is_base: bool,
    /// By block of the image: whether the owners are there already.
    same_owners: Vec<bool>,
    /// By column of the image: the blocks that have to be written, in order.
    columns: Vec<Vec<(usize, Source)>>,
}

/// A store whose restore is prepared: all copies are made, and nothing is changed yet.
#[must_use = "nothing is restored without `commit`"]
pub struct Restoring<'s> {
    store: &'s mut Store,
    image: Arc<Image>,
    plans: Vec<Plan>,
}

impl Store {
    /// Copies all that is needed to become what the image says. A panic of the user's code leaves the store as it was.
    ///
    /// # Errors
    /// When the image is another store's.
    pub fn prepare_restore(&mut self, image: &Arc<Image>) -> Result<Restoring<'_>, NotRestored> {
        if image.store != self.id {
            return Err(NotRestored::OtherStore);
        }
        // Tables are never given up, so there are as many as the image has, or more.
        let plans = (0..self.tables.len()).map(|at| self.plan_table(at, image)).collect();
        Ok(Restoring { store: self, image: Arc::clone(image), plans })
    }

    fn plan_table(&self, at: usize, image: &Image) -> Plan {
        let Some(target) = image.tables.get(at).and_then(Option::as_ref) else {
            return Plan {
                target: None,
                stays: false,
                is_base: false,
                same_owners: Vec::new(),
                columns: Vec::new(),
            };
        };
        let (table, record) = (TableId::from_index(at), &self.tables[at]);
        let stays = record.live && record.serial == target.serial;
        let there = if stays { self.table_len(table) - record.holes.len() } else { 0 };
        for (copy, sample) in target.tags.iter().filter_map(|tag| tag.sample.as_ref()) {
            // Nothing is left of them until rows count that have them.
            copy.ops.make(sample, target.values().saturating_sub(there));
        }
        let base = self.base.as_deref().filter(|_| stays);
        let known = base.and_then(|base| Some((base.tables.get(at)?.as_ref()?, base.tick)));
        let known = known.filter(|(known, _)| known.serial == target.serial);
        let len = self.table_len(table);
        let all_shared =
            known.is_some_and(|(known, _)| len == target.len && Arc::ptr_eq(&known.owners, &target.owners));
        let is_base = len == target.len && known.is_some_and(|(known, _)| Arc::ptr_eq(known, target));
        let same = |block: usize| {
            let (known, since) = known?;
            let is_old = || self.owners_tick(table, block) < since;
            if all_shared {
                return is_old().then_some(());
            }
            let shared = Arc::ptr_eq(known.owners.get(block)?, &target.owners[block]);
            let rows = rows_in(len, block) == target.owners[block].len();
            (shared && rows && is_old()).then_some(())
        };
        let same_owners: Vec<bool> = (0..target.owners.len()).map(|block| same(block).is_some()).collect();
        let columns = target.columns.iter().enumerate().map(|(position, column)| {
            let cell = self.cell(column.id, table);
            let is_same = |block: usize| {
                // The table may be shorter by now: only where the owners are the same does the block begin within its rows.
                if !same_owners[block] {
                    return None;
                }
                let ((known, since), cell) = (known?, cell?);
                let shared = is_base || known.columns.get(position)?.blocks.shares(&column.blocks, block);
                // SAFETY: the table is that of the image, so the cell is that of its column (I4), and the table has the rows
                // of the block (I3).
                let is_old =
                    || column.is_tracked() && unsafe { cell.block_tick(block, column.sized) } < since;
                (shared && is_old()).then_some(())
            };
            // What is the same is not looked at: most blocks are, and each lies elsewhere in memory.
            let source = |block: usize| {
                let taken: &Block = column.blocks.get(block).expect("one of its blocks");
                match column.ops().bytes(taken) {
                    Some(_) => Source::Bytes,
                    None => Source::Fresh(column.ops().fresh(taken)),
                }
            };
            let written = (0..column.blocks.len()).filter(|&block| is_same(block).is_none());
            written.map(|block| (block, source(block))).collect()
        });
        let columns = columns.collect();
        Plan { target: Some(Arc::clone(target)), stays, is_base, same_owners, columns }
    }
}

impl Restoring<'_> {
    /// The blocks of columns that will get other values than they have, or other rows.
    pub fn rewritten(&self) -> Vec<Rewritten> {
        let plans = self.plans.iter().enumerate();
        let columns =
            plans.filter_map(|(at, plan)| Some((TableId::from_index(at), plan.target.as_ref()?, plan)));
        let columns = columns.flat_map(|(table, target, plan)| {
            target.columns.iter().zip(&plan.columns).map(move |(column, sources)| (table, column.id, sources))
        });
        let blocks = columns.flat_map(|(table, column, sources)| {
            sources.iter().map(move |&(block, _)| Rewritten { table, column, block })
        });
        blocks.collect()
    }

    /// Makes the store what the image says. What was in it before, and is not any more, is returned, to be dropped.
    pub fn commit(self) -> Leftovers {
        let Self { store, image, plans } = self;
        let mut leftovers = Leftovers::default();
        store.close_cursors();
        let mut moved = false;
        for (at, plan) in plans.iter().enumerate().filter(|(_, plan)| !plan.stays) {
            let dropped = store.tables[at].live && !store.tables[at].is_set;
            leftovers.tables_changed |= plan.target.is_some() || dropped;
            // SAFETY: where there were rows, the directory is restored below, and places all entities anew (I5). A table that
            // the image has, and which is not there, is no set's: what had its id is dropped, with its memory (I3, I4).
            unsafe {
                moved |= store.empty_table(TableId::from_index(at), &mut leftovers);
                if let Some(target) = &plan.target {
                    store.create_table(TableId::from_index(at), target);
                }
            }
        }
        let same = |plan: &Plan| plan.same_owners.iter().all(|same| *same);
        let lens = |at: usize| store.table_len(TableId::from_index(at));
        moved |= plans.iter().enumerate().any(|(at, plan)| {
            !same(plan) || plan.target.as_ref().is_some_and(|target| target.len != lens(at))
        });
        moved |= store.base.as_deref().is_none_or(|base| !Arc::ptr_eq(&base.directory, &image.directory));
        if moved || !store.entities.is_as_in(&image.directory) {
            // SAFETY: every slot is listed, or that of an entity in a row of the image (I15), which is placed below or stands
            // there already.
            unsafe { store.entities.restore(&image.directory) };
        }
        for (at, plan) in plans.into_iter().enumerate() {
            let Plan { target: Some(target), is_base, same_owners, columns, .. } = plan else { continue };
            // SAFETY: the table is there, with the columns of the image, whose blocks hold as many values of the
            // columns' types as there are owners in them. Blocks that are said to be the same were not written since the
            // base, which shares them with the image (I15). The directory has the slots of the image.
            unsafe {
                let written = is_base.then(|| Written::of(&same_owners, &columns));
                store.fill_table(TableId::from_index(at), &target, &same_owners, columns, &mut leftovers);
                store.restore_ticks(TableId::from_index(at), &target, written.as_ref());
            };
        }
        store.restore_free_tables(&image);
        // SAFETY: all rows are as they were when the image was taken (I15).
        unsafe { store.restore_groups(&image.groups) };
        // The old base may have the last copies of values: they go with what is left over.
        leftovers.base = store.base.take();
        store.set_tick(image.tick);
        store.base = Some(image);
        leftovers
    }
}

impl Store {
    /// Moves all rows of a table away, and drops the table unless it is a set's. True if there were rows.
    ///
    /// # Safety
    /// The caller tells the directory what becomes of their entities, before anything else is done (I5).
    unsafe fn empty_table(&mut self, table: TableId, leftovers: &mut Leftovers) -> bool {
        let at = table.index();
        if !self.tables[at].live {
            return false;
        }
        let had_rows = self.table_len(table) > 0;
        let owners = self.table_entities(table).to_vec();
        for column in self.tables[at].columns.iter().filter(|column| column.drop.is_some()) {
            for run in full_runs(&owners, 0, !self.tables[at].holes.is_empty()) {
                // SAFETY: the rows are initialised (I2, I11), and are not part of the table from now on.
                unsafe { leftovers.take(column.of, column.data(), run) };
            }
        }
        self.metas[at].len = 0;
        self.tables[at].holes.clear();
        if self.tables[at].is_set {
            // SAFETY: the table has no rows any more (I10).
            unsafe { self.unset_all(table, &owners) };
            self.set_ticks(table, |_| 0..usize::MAX, |_, _| Tick::ZERO);
        } else {
            self.drop_table(table);
        }
        had_rows
    }

    /// Makes the table of an image anew, without rows, where there is none.
    ///
    /// # Safety
    /// There is no table with this id, and its meta has no memory.
    unsafe fn create_table(&mut self, table: TableId, target: &TableImage) {
        let columns = target.columns.iter().map(|column| column.id);
        let mut ids: Vec<_> = columns.chain(target.tags.iter().map(|tag| tag.id)).collect();
        sorting::sort(&mut ids);
        debug_assert!(!target.is_set, "sets live as long as their store");
        let record = Table::new(&ids, target.shape.as_ref());
        self.tables[table.index()] = Table { serial: target.serial, ..record };
        self.set_up(table);
    }

    /// Gives a table the rows of its image.
    ///
    /// # Safety
    /// The table is there, with the columns of the image, and each block of the image holds as many values of its
    /// column's type as the block of owners has entities, holes left out. The owners of a block that `same_owners` says
    /// so of, and the values of a block without a [`Source`], stand in the table already. The directory has a slot for each owner; it
    /// gets the rows here, and all other entities from the caller.
    unsafe fn fill_table(
        &mut self,
        table: TableId,
        target: &TableImage,
        same_owners: &[bool],
        columns: Vec<Vec<(usize, Source)>>,
        leftovers: &mut Leftovers,
    ) {
        let (at, len) = (table.index(), self.table_len(table));
        self.make_room(table, target.len.saturating_sub(len));
        let had_holes = !self.tables[at].holes.is_empty();
        let before = self.table_entities(table).to_vec_unless(same_owners, len == target.len);
        for (column, mut sources) in target.columns.iter().zip(columns) {
            let position = self.tables[at].position(column.id).expect("the table has the image's columns");
            let position = u16::try_from(position).expect("a table has fewer than 65,535 columns");
            let there = self.tables[at].columns.at(position);
            let data = there.data();
            if there.drop.is_some() {
                let owners = before.as_deref().unwrap_or_else(|| self.table_entities(table));
                let blocks = len.div_ceil(BLOCK_ROWS);
                let overwritten = sources.iter().map(|&(block, _)| block).filter(|&block| block < blocks);
                for block in overwritten.chain(column.blocks.len()..blocks) {
                    let start = block * BLOCK_ROWS;
                    for run in full_runs(&owners[start..start + rows_in(len, block)], start, had_holes) {
                        // SAFETY: the rows are initialised (I2, I11), and are overwritten or cut off below.
                        unsafe { leftovers.take(there.of, data, run) };
                    }
                }
            }
            for (block, source) in &mut sources {
                let block = *block;
                let (from, count) = match source {
                    Source::Bytes => {
                        let taken = column.blocks.get(block).expect("a source is that of a block");
                        column.ops().bytes(taken).expect("asked before")
                    }
                    Source::Fresh(fresh) => (fresh.data(), fresh.len()),
                };
                let mut next = 0;
                // SAFETY: the block holds `count` values of the column's type (I1, I15), at least as many as are read; the rows
                // are within the capacity (I3), and their old values were moved away, or have no drop glue. Values with drop
                // glue come from copies that are forgotten then: they are the column's from now on (I2).
                unsafe {
                    for run in full_runs(&target.owners[block], block * BLOCK_ROWS, !target.holes.is_empty())
                    {
                        assert!(next + run.len() <= count, "a block has a value for each of its entities");
                        let (from, to) = (from.add(next * there.size), data.add(run.start * there.size));
                        ptr::copy_nonoverlapping(from, to, run.len() * there.size);
                        next += run.len();
                    }
                    if let Source::Fresh(fresh) = source {
                        fresh.moved();
                    }
                }
            }
        }
        let is_set = self.tables[at].is_set;
        if is_set {
            let old = before.as_deref().unwrap_or_default();
            let gone =
                (0..old.len()).filter(|row| !same_owners.get(row / BLOCK_ROWS).is_some_and(|same| *same));
            let gone: Vec<Entity> = gone.map(|row| old[row]).collect();
            // SAFETY: the rows get other owners, which are noted below (I10).
            unsafe { self.unset_all(table, &gone) };
        }
        self.metas[at].len = Row::from_index(target.len).get();
        self.tables[at].holes.clone_from(&target.holes);
        for (block, owners) in target.owners.iter().enumerate().filter(|(block, _)| !same_owners[*block]) {
            // SAFETY: the rows are within the capacity (I3), for which there was room made above, and are the entities' (I5), as
            // they were when the image was taken (I15): no other table of the image has them, and only those of sets have
            // holes (I11), whose owners are as alive as they were then (I10).
            unsafe {
                for (row, &entity) in (block * BLOCK_ROWS..).zip(owners.iter()) {
                    self.owner_at(table, row).write(entity);
                    if !is_set {
                        self.entities.place(entity, EntityLocation::new(table, Row::from_index(row)));
                    }
                }
                if is_set {
                    self.set_entries(table, block * BLOCK_ROWS, owners);
                }
            }
        }
    }

    /// The ids of tables that the image does not know come after those that it knows to be free.
    fn restore_free_tables(&mut self, image: &Image) {
        let mut free = std::mem::take(&mut self.free_tables);
        free.retain(|(id, _)| id.index() >= image.tables.len());
        sorting::sort_by_key(&mut free, |(id, _)| std::cmp::Reverse(*id));
        free.extend(image.free_tables.iter().cloned());
        self.free_tables = free;
    }
}

/// The runs of rows that are no holes; the first owner is that of row `start`. Without holes the owners are not looked at:
/// they would be a third more memory to read.
fn full_runs(owners: &[Entity], start: usize, holes: bool) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut next = 0;
    std::iter::from_fn(move || {
        let is_hole = |entity: &Entity| *entity == Entity::PLACEHOLDER;
        let rest = &owners[next..];
        let skipped = if holes { rest.iter().take_while(|entity| is_hole(entity)).count() } else { 0 };
        let rest = &rest[skipped..];
        let run = if holes { rest.iter().take_while(|entity| !is_hole(entity)).count() } else { rest.len() };
        let from = next + skipped;
        next = from + run;
        (run > 0).then_some(start + from..start + next)
    })
}

trait OwnersBefore {
    /// The owners, to be kept while rows are overwritten; `None` when all stay.
    fn to_vec_unless(&self, same: &[bool], same_len: bool) -> Option<Vec<Entity>>;
}

impl OwnersBefore for [Entity] {
    fn to_vec_unless(&self, same: &[bool], same_len: bool) -> Option<Vec<Entity>> {
        let all = same_len && same.iter().all(|same| *same);
        (!all).then(|| self.to_vec())
    }
}

/// Values that are no part of a store any more.
#[derive(Default)]
#[must_use = "the values are dropped when this is"]
pub struct Leftovers {
    rows: Vec<RawRows>,
    /// The image from which the store was known to differ little.
    base: Option<Arc<Image>>,
    /// Whether tables were dropped or made: edges and queries are stale then.
    pub tables_changed: bool,
}

impl Leftovers {
    /// Moves rows of a column out.
    ///
    /// # Safety
    /// The rows of the data are initialised values of the type, which nothing uses any more.
    unsafe fn take(&mut self, of: &'static ColumnType, data: *mut u8, rows: Range<usize>) {
        let size = of.layout.size();
        let taken = RawRows::new(of, rows.len());
        // SAFETY: forwarded: the rows are in range; the memory was made for as many values of the type, and is new.
        unsafe {
            ptr::copy_nonoverlapping(data.add(rows.start * size), taken.data.as_ptr(), rows.len() * size);
        };
        self.rows.push(taken);
    }

    /// Drops the values, all of them though some panic.
    pub fn drop_all(mut self, panics: &mut FirstPanic) {
        self.rows.drain(..).for_each(|rows| panics.guard(|| drop(rows)));
        panics.guard(|| drop(self.base.take()));
    }
}

/// Values of one type in memory of their own, which are dropped with it.
struct RawRows {
    of: &'static ColumnType,
    data: NonNull<u8>,
    layout: Layout,
    len: usize,
}

impl RawRows {
    fn new(of: &'static ColumnType, len: usize) -> Self {
        let bytes = of.layout.size() * len;
        let layout = Layout::from_size_align(bytes, of.layout.align()).expect("no more than a column has");
        let data = if bytes == 0 {
            NonNull::new(ptr::without_provenance_mut(layout.align())).expect("alignments are not zero")
        } else {
            // SAFETY: locally: the layout has a size.
            NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
        };
        Self { of, data, layout, len }
    }
}

impl Drop for RawRows {
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        if let Some(glue) = self.of.drop {
            // SAFETY: `Leftovers::take` moved as many values of the type here (I1), which nothing else drops or reads.
            panics.guard(|| unsafe { glue(self.data.as_ptr(), self.len) });
        }
        if self.layout.size() > 0 {
            // SAFETY: locally: the memory was allocated with this layout.
            unsafe { dealloc(self.data.as_ptr(), self.layout) };
        }
        panics.resume_unless_panicking();
    }
}
