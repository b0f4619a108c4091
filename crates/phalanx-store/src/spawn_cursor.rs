//! Spawn cursors: where the next row of a bundle goes, found once for many spawns.
//!
//! Following an edge asks, for each entity, whether the edge is fresh and where the rows of each column are. A spawn
//! cursor keeps the answers for one bundle, and asking for them again is one comparison:
//!
//! ```text
//!   line   | key: bundle and values | table | exit | data pointers of the values' columns |
//! ```
//!
//! A line is found by its key, among a fixed number of them, so that opening a cursor allocates nothing and bundles
//! that take turns keep theirs. A cursor is open while its line has its key; whatever would make a line wrong takes the
//! key away (I12). Where no cursor is open, or something must grow first, the edge is followed instead.
//!
//! The store does not know what a bundle is: the key is a type of the caller's, beside the values.

use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::mem::{MaybeUninit, needs_drop};

use crate::entities::Entities;
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::plan::Edge;
use crate::sorting;
use crate::store::Store;
use crate::table::TableMeta;
use crate::table_columns::Column;
use crate::tick::Tick;
use crate::values::Values;

/// How many cursors can be open at once.
const LINES: usize = 64;
/// For how many pointers a line has room: bundles with more columns are spawned along edges.
const POINTERS: usize = 16;
/// After how many refusals a bundle gets a line that another one has: two that share it do not take it from each other
/// in every spawn.
const PATIENCE: u32 = 16;

/// The key of a line without a cursor.
struct Closed;

type Pointers = MaybeUninit<[*mut u8; POINTERS]>;

#[derive(Clone, Copy)]
struct Line {
    key: TypeId,
    table: TableId,
    /// The same, if entities can leave through the cursor, too; else nowhere.
    exit: TableId,
    /// How often another bundle wanted the line.
    refused: u32,
    /// Written as the `Values::Pointers` of the key's values.
    pointers: Pointers,
    /// Lists the columns' data, for checks.
    list: unsafe fn(&Pointers, &mut Vec<*mut u8>),
}

impl Line {
    fn closed() -> Self {
        Self {
            key: TypeId::of::<Closed>(),
            table: TableId::NOWHERE,
            exit: TableId::NOWHERE,
            refused: 0,
            pointers: MaybeUninit::uninit(),
            list: |_, _| {},
        }
    }

    fn is_open(&self) -> bool {
        self.key != TypeId::of::<Closed>()
    }

    /// # Safety
    /// The line has a key with the values `V`.
    #[inline(always)]
    unsafe fn pointers<V: Values>(&self) -> V::Pointers {
        // SAFETY: forwarded: `open_cursor` wrote them as this type, for which it found room and alignment, when it wrote the
        // key (I12).
        unsafe { self.pointers.as_ptr().cast::<V::Pointers>().read() }
    }
}

/// # Safety
/// The pointers were written as those of `V`.
unsafe fn list<V: Values>(pointers: &Pointers, out: &mut Vec<*mut u8>) {
    // SAFETY: forwarded: they are a value of this type.
    V::data(unsafe { pointers.as_ptr().cast::<V::Pointers>().read() }, out);
}

/// The spawn cursors of a store.
pub(crate) struct SpawnCursors {
    lines: Box<[Line; LINES]>,
}

impl SpawnCursors {
    pub(crate) fn new() -> Self {
        // Not by value: the lines would be written elsewhere first, and copied with the room for their pointers.
        let lines = vec![Line::closed(); LINES].into_boxed_slice();
        let Ok(lines) = lines.try_into() else { unreachable!("there are as many lines as were asked for") };
        Self { lines }
    }

    #[inline(always)]
    fn line<K: 'static, V: Values>(&self) -> &Line {
        &self.lines[position(key::<K, V>())]
    }

    /// The line of a key, if its cursor is open.
    #[inline(always)]
    fn find<K: 'static, V: Values>(&self) -> Option<&Line> {
        let line = self.line::<K, V>();
        (line.key == key::<K, V>()).then_some(line)
    }

    /// Closes the cursors of a table.
    pub(crate) fn close(&mut self, table: TableId) {
        for line in self.lines.iter_mut().filter(|line| line.table == table) {
            *line = Line::closed();
        }
    }

    pub(crate) fn close_all(&mut self) {
        self.lines.fill(Line::closed());
    }
}

#[inline(always)]
fn key<K: 'static, V: Values>() -> TypeId {
    TypeId::of::<(K, V)>()
}

/// Where the line of a key is. Type ids are hashes already: any bits of one will do.
#[inline(always)]
fn position(key: TypeId) -> usize {
    struct Bits(u64);
    impl Hasher for Bits {
        #[inline(always)]
        fn finish(&self) -> u64 {
            self.0
        }
        #[inline(always)]
        fn write(&mut self, bytes: &[u8]) {
            self.0 = bytes.iter().fold(self.0, |bits, &byte| (bits << 8) | u64::from(byte));
        }
        #[inline(always)]
        fn write_u64(&mut self, bits: u64) {
            self.0 = bits;
        }
    }
    let mut bits = Bits(0);
    key.hash(&mut bits);
    usize::try_from(bits.0 % LINES as u64).expect("a remainder is smaller than its divisor")
}

/// A row of a cursor's table that an entity is about to get: nothing has to grow for it.
pub struct VacantRow<'s, V: Values> {
    entities: &'s mut Entities,
    meta: &'s mut TableMeta,
    now: &'s Tick,
    /// Its key has the values `V`.
    line: &'s Line,
    values: PhantomData<fn(V)>,
}

impl<V: Values> VacantRow<'_, V> {
    /// The present moment.
    #[inline(always)]
    pub fn now(&self) -> Tick {
        *self.now
    }

    /// Whether optional values are exactly those that the table has columns for.
    #[inline(always)]
    pub fn fits(&self, values: &V) -> bool {
        // SAFETY: `Store::spawn_row` found the line by a key with the values `V` (I12).
        values.fits_at(unsafe { self.line.pointers::<V>() })
    }

    /// As [`Store::spawn`].
    ///
    /// # Panics
    /// When the values do not [fit](VacantRow::fits).
    #[inline(always)]
    pub fn spawn(self, values: V) -> Entity {
        assert!(self.fits(&values), "optional values must be there exactly where the table has columns");
        let Self { entities, meta, now, line, .. } = self;
        let row = meta.len;
        // SAFETY: `Store::spawn_row` found that the directory is prompt and that the meta, which is that of the line's
        // table, has room; the key of the line has these values, so the pointers are those of all columns of that table
        // (I12), which are borrowed since. There is room for the row (I3), which holds nothing yet (I2), and in which each
        // column has its value then, because the values fit: it is the entity's (I5).
        unsafe {
            let entity = entities.alloc_prompt(EntityLocation::new(line.table, Row::new(row)));
            // Not before: there may be many of them, and registers are few.
            values.write(line.pointers::<V>(), row as usize);
            meta.push_row(row, entity, *now);
            entity
        }
    }
}

impl Store {
    /// Opens the spawn cursor of a bundle `K`, so that [`Store::spawn_row`] finds the rows at the end of the edge.
    ///
    /// It stays open until one of the table's columns moves, the table is dropped, a set is declared, another bundle
    /// needs the place, or [`Store::close_cursors`] is called. False when there is none: the edge does more than to
    /// bring values into rows, has too many columns, or another bundle has the place.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn open_cursor<K: 'static, V: Values>(&mut self, edge: &Edge) -> bool {
        self.expect_edge::<V>(edge, false);
        let fits = size_of::<V::Pointers>() <= size_of::<Pointers>()
            && align_of::<V::Pointers>() <= align_of::<Pointers>();
        let spawns = edge.source == TableId::ROWLESS && edge.target.has_rows() && edge.inits.is_empty();
        if !fits || !spawns || self.entities.keeps_spawn_ticks() {
            return false;
        }
        // SAFETY: the edge is for `V`, as was checked above (I7).
        let pointers = unsafe { edge.pointers::<V>() };
        if !V::are_whole(pointers) {
            return false;
        }
        let key = key::<K, V>();
        let line = &mut self.cursors.lines[position(key)];
        if line.is_open() && line.key != key && line.refused < PATIENCE {
            line.refused += 1;
            return false;
        }
        // Entities may be in sets as well.
        let exit = if self.sets.is_empty() { edge.target } else { TableId::NOWHERE };
        let refused = if line.key == key { line.refused } else { 0 };
        *line = Line { key, table: edge.target, exit, refused, list: list::<V>, ..Line::closed() };
        // SAFETY: locally: the line has room for the pointers, whose size and alignment were compared above.
        unsafe { line.pointers.as_mut_ptr().cast::<V::Pointers>().write(pointers) };
        true
    }

    /// Whether the spawn cursor of a bundle is open.
    #[inline]
    pub fn has_cursor<K: 'static, V: Values>(&self) -> bool {
        self.cursors.find::<K, V>().is_some()
    }

    /// Closes all spawn cursors: for callers that change what spawning a bundle means.
    pub fn close_cursors(&mut self) {
        self.cursors.close_all();
    }

    /// The row for the next entity of a bundle. `None` when its cursor is not open, or something must grow first: both
    /// happen when the edge is followed.
    #[inline(always)]
    pub fn spawn_row<K: 'static, V: Values>(&mut self) -> Option<VacantRow<'_, V>> {
        let line = self.cursors.find::<K, V>()?;
        // SAFETY: the table of an open cursor lives (I12), so it has a meta (I4).
        let meta = unsafe { self.metas.get_unchecked_mut(line.table.index()) };
        if !meta.has_room() || !self.entities.is_prompt() {
            return None;
        }
        Some(VacantRow { entities: &mut self.entities, meta, now: &self.tick, line, values: PhantomData })
    }

    /// As [`Store::despawn`], for an entity in the table of a bundle's cursor. False, and nothing happens, when the
    /// cursor is not open, the entity is not there, or has more than a row without drop glue, or ids are reserved.
    #[inline(always)]
    pub fn despawn_as<K: 'static, V: Values>(&mut self, entity: Entity) -> bool {
        // Values that have to be dropped go on the ordinary way, which bears several panics.
        if needs_drop::<V::Old>() {
            return false;
        }
        let Some(line) = self.cursors.find::<K, V>() else { return false };
        if !self.entities.is_settled() {
            return false;
        }
        // SAFETY: where the entity is in the cursor's table, that lives and the store has no sets (I12), so it has a meta (I4).
        // The directory gives the row, which is in range (I5), as is the last one, and which is taken out at once. The key of
        // the line has these values; they fill all columns (I12), and have no drop glue: what stands in the row may be
        // overwritten (I2).
        unsafe {
            let Some(row) = self.entities.free_from(line.exit, entity) else { return false };
            let meta = &mut self.metas[line.exit.index()];
            if let Some(moved) = meta.swap_remove::<V>(line.pointers::<V>(), row.index(), self.tick) {
                self.entities.set_row(moved.index(), row);
            }
        }
        true
    }

    /// Verifies the open cursors (I12).
    pub(crate) fn check_cursors(&self) -> Result<(), String> {
        for line in self.cursors.lines.iter().filter(|line| line.is_open()) {
            let table = self.tables.get(line.table.index()).filter(|table| table.live && !table.is_set);
            let Some(table) = table else {
                return Err(format!("I12: a spawn cursor leads to {:?}, which is no table", line.table));
            };
            let may_exit = self.sets.is_empty() && line.exit == line.table;
            if line.exit != TableId::NOWHERE && !may_exit {
                return Err(format!("I12: entities leave {:?} through a spawn cursor", line.table));
            }
            let mut kept = Vec::new();
            // SAFETY: the line is open, so its pointers are those of the values that `list` was chosen for (I12).
            unsafe { (line.list)(&line.pointers, &mut kept) };
            let sized = table.columns.iter().filter(|column| column.size > 0);
            let mut columns: Vec<*mut u8> = sized.map(Column::data).collect();
            sorting::sort(&mut kept);
            sorting::sort(&mut columns);
            if kept != columns {
                return Err(format!("I12: a spawn cursor knows other columns than {:?} has", line.table));
            }
        }
        Ok(())
    }
}
