//! Images: the whole state of a store, copied block by block, and how a store becomes what it was.
//!
//! ```text
//!   image     tables ─▶ table image ─▶ owners  [block, block, ..]     1,024 entities each
//!                                      columns [block, block, ..]     the values of the same rows
//!             directory: the free list, entities without rows          groups: terms and lengths
//!   the next  tables ─▶ the same, or a new one that shares the blocks which were not written
//! ```
//!
//! The store remembers the image that it was last equal to, its *base*. Taking or restoring one makes it the base and
//! sets the clock to a tick that nothing carries yet; so what carries an older tick is as it is in the base (I15), and is
//! shared. No tick is ever compared with one of another branch: which of two blocks is newer is never asked, only
//! whether they are the same block. Where rows are is not stored: locations and pages follow from the owners.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use blocks::Blocks;
use column::Block;
pub use column::ColumnCopy;
pub use read::SharedRows;
pub use restore::{Leftovers, NotRestored, Restoring, Rewritten};

use crate::column::BLOCK_ROWS;
use crate::column_id::AnyColId;
use crate::entities::Directory;
use crate::entity::Entity;
use crate::location::TableId;
use crate::sets::GroupsImage;
use crate::store::{Store, fresh_stamp};
use crate::table_columns::TableShape;
use crate::tick::Tick;

mod blocks;
mod column;
mod read;
mod restore;
mod stats;
mod ticks;

pub use stats::ImageStats;

/// How the columns of a store are copied, by column.
#[derive(Clone, Default)]
pub struct Copies(Vec<Option<ColumnCopy>>);

impl Copies {
    /// Says how a column is copied.
    pub fn set(&mut self, copy: ColumnCopy) {
        let at = copy.id.index();
        if self.0.len() <= at {
            self.0.resize_with(at + 1, || None);
        }
        self.0[at] = Some(copy);
    }

    fn get(&self, column: AnyColId) -> Option<&ColumnCopy> {
        self.0.get(column.index())?.as_ref()
    }
}

/// The state of a store at one moment.
pub struct Image {
    /// Whose it is.
    store: u64,
    /// Differs between images.
    stamp: u64,
    /// What is written after the image was taken carries this tick, or a later one; what is in it, an earlier one.
    tick: Tick,
    /// By table.
    tables: Vec<Option<Arc<TableImage>>>,
    free_tables: Vec<(TableId, Option<TableShape>)>,
    directory: Arc<Directory>,
    groups: Arc<GroupsImage>,
    stats: ImageStats,
}

/// The rows of one table.
struct TableImage {
    /// Which table it was: ids are used again.
    serial: u64,
    shape: Option<TableShape>,
    is_set: bool,
    len: usize,
    /// By block. Shared as a whole where no row came, went or moved: most checkpoints only find other values.
    owners: Arc<Vec<Arc<[Entity]>>>,
    owner_ticks: Vec<Tick>,
    columns: Vec<ColumnImage>,
    /// The columns without memory.
    tags: Vec<TagImage>,
    holes: Vec<u32>,
}

impl TableImage {
    /// How many rows are no holes.
    fn values(&self) -> usize {
        self.len - self.holes.len()
    }
}

/// A column whose values have no bytes to be kept.
struct TagImage {
    id: AnyColId,
    /// Its one tick.
    tick: Tick,
    /// One value, and the function by which a restore makes more of it; none where values are `Copy`, or there are none.
    sample: Option<(ColumnCopy, Arc<Block>)>,
}

struct ColumnImage {
    id: AnyColId,
    /// Whether its values have a size, and so each block a tick.
    sized: bool,
    /// Nothing where there are no rows and no way to copy them.
    copy: Option<ColumnCopy>,
    blocks: Blocks,
    ticks: Vec<Tick>,
}

impl ColumnImage {
    fn is_tracked(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.tracked)
    }

    fn ops(&self) -> &dyn column::Ops {
        &*self.copy.as_ref().expect("a column with rows has a way to be copied").ops
    }
}

/// A column that has no way to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCopy {
    /// The column.
    pub column: AnyColId,
}

/// How many rows of `len` are in a block.
fn rows_in(len: usize, block: usize) -> usize {
    len.saturating_sub(block * BLOCK_ROWS).min(BLOCK_ROWS)
}

impl Store {
    /// Copies the whole state, but for blocks that were not written since the last image was taken or restored, which
    /// are shared. Moves the clock on by one.
    ///
    /// A panic of the user's code that copies values leaves the store as it was.
    ///
    /// # Errors
    /// When a column has rows and no way to be copied.
    pub fn image(&mut self, copies: &Copies) -> Result<Arc<Image>, NoCopy> {
        self.entities.flush();
        let old = self.base.clone();
        let base = old.as_deref();
        let mut stats = ImageStats::default();
        let mut tables = Vec::with_capacity(self.tables.len());
        let mut moved = false;
        for at in 0..self.tables.len() {
            let table = TableId::from_index(at);
            if !self.tables[at].live {
                tables.push(None);
                continue;
            }
            let before = base.and_then(|base| Some((base.tables.get(at)?.as_ref()?, base.tick)));
            let before = before.filter(|(before, _)| before.serial == self.tables[at].serial);
            if let Some((before, since)) =
                before.filter(|&(before, since)| self.is_as_in(table, before, since))
            {
                debug_assert!(self.owners_are(table, before), "I15: {table:?} changed without a mark");
                let _ = since;
                stats.shared_blocks += before.columns.iter().map(|column| column.blocks.len()).sum::<usize>();
                tables.push(Some(Arc::clone(before)));
                continue;
            }
            let image = self.table_image(
                table,
                copies,
                before.map(|(before, since)| (&**before, since)),
                &mut stats,
            )?;
            moved |= before.is_none_or(|(before, _)| !same_owners(&image, before));
            tables.push(Some(Arc::new(image)));
        }
        moved |= base.is_none_or(|base| base.tables.len() > tables.len());
        let known = base.filter(|base| !moved && self.entities.is_as_in(&base.directory));
        debug_assert!(
            known.is_none_or(|base| *base.directory == self.entities.directory()),
            "I15: slots changed without a trace"
        );
        let directory = known.map(|base| Arc::clone(&base.directory));
        let directory = directory.unwrap_or_else(|| Arc::new(self.entities.directory()));
        let groups = Arc::new(self.groups_image());
        let tick = self.advance_tick();
        let free_tables = self.free_tables.clone();
        let (store, stamp) = (self.id, fresh_stamp());
        let image = Arc::new(Image { store, stamp, tick, tables, free_tables, directory, groups, stats });
        self.base = Some(Arc::clone(&image));
        // It may have values, whose drop is the user's code: what is returned would leak if that panicked later.
        drop(old);
        Ok(image)
    }

    /// The image that the store was last equal to.
    pub fn base(&self) -> Option<&Arc<Image>> {
        self.base.as_ref()
    }

    /// Whether nothing of a table was written since its image.
    fn is_as_in(&self, table: TableId, image: &TableImage, since: Tick) -> bool {
        let len = self.table_len(table);
        let blocks = 0..len.div_ceil(BLOCK_ROWS);
        len == image.len
            && image.tags.iter().all(|tag| self.tag_tick(table, tag.id) == tag.tick)
            && blocks.clone().all(|block| self.owners_tick(table, block) < since)
            && image.columns.iter().all(|column| {
                let cell = self.cell(column.id, table);
                // SAFETY: the table is that of the image, so the cell is that of its column (I4), and these blocks begin
                // within its rows (I3).
                let old =
                    |block| cell.is_some_and(|cell| unsafe { cell.block_tick(block, column.sized) } < since);
                (len == 0 || column.is_tracked()) && blocks.clone().all(old)
            })
            && self.tables[table.index()].holes == image.holes
    }

    /// Whether a table has the owners of its image: what an image without new ticks rests on.
    fn owners_are(&self, table: TableId, image: &TableImage) -> bool {
        let mut blocks = self.table_entities(table).chunks(BLOCK_ROWS);
        blocks.len() == image.owners.len() && image.owners.iter().all(|owners| blocks.next() == Some(owners))
    }

    fn table_image(
        &self,
        table: TableId,
        copies: &Copies,
        before: Option<(&TableImage, Tick)>,
        stats: &mut ImageStats,
    ) -> Result<TableImage, NoCopy> {
        let (record, len) = (&self.tables[table.index()], self.table_len(table));
        let blocks = len.div_ceil(BLOCK_ROWS);
        let entities = self.table_entities(table);
        let owner_ticks: Vec<Tick> = (0..blocks).map(|block| self.owners_tick(table, block)).collect();
        let same_rows = |block: usize| {
            let (before, since) = before?;
            let owners = before.owners.get(block)?;
            (owners.len() == rows_in(len, block) && owner_ticks[block] < since).then_some(owners)
        };
        let owners = entities.chunks(BLOCK_ROWS).enumerate().map(|(block, rows)| match same_rows(block) {
            Some(owners) => {
                debug_assert!(**owners == *rows, "I15: block {block} of {table:?} changed without a mark");
                Arc::clone(owners)
            }
            None => {
                stats.copied_bytes += size_of_val(rows);
                Arc::from(rows)
            }
        });
        let same = |&(before, since): &(&TableImage, Tick)| {
            before.len == len && owner_ticks.iter().all(|&tick| tick < since)
        };
        let owners = match before.filter(same) {
            Some((before, _)) => {
                debug_assert!(
                    self.owners_are(table, before),
                    "I15: rows of {table:?} changed without a mark"
                );
                Arc::clone(&before.owners)
            }
            None => Arc::new(owners.collect()),
        };
        let tags = self.tag_images(table, copies, before.map(|(before, _)| before))?;
        let mut columns = Vec::with_capacity(record.columns.len());
        for column in record.columns.iter() {
            let copy = copies.get(column.id);
            let cell = self.cell(column.id, table).expect("a table's column has a cell");
            // SAFETY: the table has the column (I4), and these blocks begin within its rows (I3).
            let tick = |block| unsafe { cell.block_tick(block, column.size > 0) };
            let ticks: Vec<Tick> = (0..blocks).map(tick).collect();
            let known =
                before.and_then(|(before, _)| before.columns.iter().find(|known| known.id == column.id));
            let known = known.filter(|_| copy.is_some_and(|copy| copy.tracked));
            let since = before.map_or(Tick::ZERO, |(_, since)| since);
            let is_same = |block: usize| same_rows(block).is_some() && ticks[block] < since;
            let capture = |block: usize| {
                let start = block * BLOCK_ROWS;
                let rows = start..start + rows_in(len, block);
                let copied = copy.ok_or(NoCopy { column: column.id })?.ops.capture(self, table, rows);
                stats.copied_blocks += 1;
                stats.copied_bytes += copied.bytes;
                Ok(copied)
            };
            let (taken, shared) = Blocks::new(blocks, known.map(|known| &known.blocks), is_same, capture)?;
            stats.shared_blocks += shared;
            let sized = column.size > 0;
            columns.push(ColumnImage { id: column.id, sized, copy: copy.cloned(), blocks: taken, ticks });
        }
        Ok(TableImage {
            serial: record.serial,
            shape: record.shape.clone(),
            is_set: record.is_set,
            len,
            owners,
            owner_ticks,
            columns,
            tags,
            holes: record.holes.clone(),
        })
    }

    /// Values of tags are no bytes to be copied, but a restore brings as many of them as there were: the image has one of each,
    /// from which they are made then, unless they are `Copy`.
    fn tag_images(
        &self,
        table: TableId,
        copies: &Copies,
        before: Option<&TableImage>,
    ) -> Result<Vec<TagImage>, NoCopy> {
        let tags = self.tables[table.index()].tags.iter();
        // Looked for only where there is a tag.
        let row = || self.table_entities(table).iter().position(|&entity| entity != Entity::PLACEHOLDER);
        let sample = |at: usize, id| {
            let Some(row) = row() else { return Ok(None) };
            let copy = copies.get(id).ok_or(NoCopy { column: id })?;
            if copy.ops.is_bytes() {
                return Ok(None);
            }
            let known = before.and_then(|before| before.tags.get(at)?.sample.as_ref());
            let block = match known {
                Some((_, block)) => Arc::clone(block),
                None => Arc::new(copy.ops.capture(self, table, row..row + 1)),
            };
            Ok(Some((copy.clone(), block)))
        };
        let image = |(at, &id)| Ok(TagImage { id, tick: self.tag_tick(table, id), sample: sample(at, id)? });
        tags.enumerate().map(image).collect()
    }

    /// A place for a number about the values of a block, which is the same as long as they are: where nothing was written
    /// since the base, in the base's block.
    pub fn block_note(&self, table: TableId, column: AnyColId, block: usize) -> Option<&OnceLock<u64>> {
        let base = self.base.as_deref()?;
        let known = base.tables.get(table.index())?.as_ref()?;
        if known.serial != self.tables[table.index()].serial || block >= known.owners.len() {
            return None;
        }
        let rows = rows_in(self.table_len(table), block);
        let of = known.columns.iter().find(|known| known.id == column)?;
        let cell = self.cell(column, table)?;
        let same = rows > 0
            && rows == known.owners[block].len()
            && of.is_tracked()
            && self.owners_tick(table, block) < base.tick
            // SAFETY: the table is that of the base, so the cell is that of its column (I4); it has rows in the block (I3).
            && unsafe { cell.block_tick(block, of.sized) } < base.tick;
        same.then(|| &of.blocks.get(block).expect("a block of the base").note)
    }

    fn tag_tick(&self, table: TableId, tag: AnyColId) -> Tick {
        self.cell(tag, table).map_or(Tick::ZERO, |cell| Tick::new(cell.tick.load(Ordering::Relaxed)))
    }

    fn owners_tick(&self, table: TableId, block: usize) -> Tick {
        self.rows_tick(table, block).expect("the block begins within the table's rows")
    }
}

/// Whether two images of a table share all blocks of owners.
fn same_owners(image: &TableImage, before: &TableImage) -> bool {
    let mut pairs = image.owners.iter().zip(before.owners.iter());
    Arc::ptr_eq(&image.owners, &before.owners)
        || image.owners.len() == before.owners.len() && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
}

impl Image {
    /// A number that no other image of the process has.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The tick from which on things are newer than the image.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// What taking the image copied, and what it shares with the one before.
    pub fn stats(&self) -> ImageStats {
        self.stats
    }
}
