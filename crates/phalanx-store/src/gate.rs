//! A gate into one table: what spawning has to ask is asked once, for many entities.
//!
//! An edge is checked for each entity, and leads to the columns through their headers. A [`Gate`] is made from an
//! edge and keeps where the columns' rows are; all that is asked of it later is whether that is still so, which
//! one comparison tells (I12). Where a gate cannot help, it says so and the ordinary way is open.
//!
//! A store has one open gate at most, so that it can note for it which blocks carry the present tick: rows come and go
//! in the same ones for long, which are marked once.

use std::mem::{MaybeUninit, needs_drop};

use crate::column::BLOCK_SHIFT;
use crate::entities::Entities;
use crate::entity::Entity;
use crate::place::{Place, Row, TableId};
use crate::plan::Edge;
use crate::store::{Store, fresh_stamp};
use crate::table::Head;
use crate::tick::Tick;
use crate::values::Values;

/// What a store knows of its open gate.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    /// Which gate it is, of all gates of all stores; `NONE_OPEN` when there is none.
    number: u64,
    /// The block of the last row, and that of a row that was filled again: both carry the present tick.
    marked: [u32; 2],
}

/// The number of no gate.
const NONE_OPEN: u64 = 0;
/// That of gates which are never open.
const SHUT: u64 = u64::MAX;

/// The block of the last row, among those that are marked.
const LAST: usize = 0;
/// That of a row that was filled again.
const FILLED: usize = 1;

impl Opening {
    /// No gate is open.
    pub(crate) const CLOSED: Self = Self::of(NONE_OPEN);

    const fn of(number: u64) -> Self {
        // No table has such a block.
        Self { number, marked: [u32::MAX; 2] }
    }

    /// Marks the block of a row, unless it was the block that was marked last for the same reason.
    ///
    /// # Safety
    /// The row is within the capacity of the open gate's table.
    #[inline(always)]
    unsafe fn mark<const REASON: usize>(&mut self, head: &Head, row: u32, now: &Tick) {
        let block = row >> BLOCK_SHIFT;
        if self.marked[REASON] != block {
            self.marked[REASON] = block;
            // SAFETY: forwarded (I3).
            unsafe { head.owners.mark_row(row as usize, *now) };
        }
    }
}

/// A way for many values into one table, until another gate is made, a column moves, or time goes on.
pub struct Gate<V: Values> {
    /// Never `NONE_OPEN`.
    number: u64,
    table: TableId,
    /// The same, if entities can leave on this way, too; else nowhere.
    exit: TableId,
    /// Written, unless the gate is shut.
    pointers: MaybeUninit<V::Pointers>,
}

impl<V: Values> Gate<V> {
    /// A gate that is never open.
    pub const SHUT: Self = Self {
        number: SHUT,
        table: TableId::NOWHERE,
        exit: TableId::NOWHERE,
        pointers: MaybeUninit::uninit(),
    };

    /// Whether the gate was never open.
    #[inline]
    pub fn is_shut(&self) -> bool {
        self.number == SHUT
    }

    /// Whether the store has this gate open.
    #[inline(always)]
    fn is_open(&self, opening: &Opening) -> bool {
        self.number == opening.number
    }
}

impl<V: Values> Clone for Gate<V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V: Values> Copy for Gate<V> {}

// SAFETY: a gate only points at columns, which are reached through the store that made it (I12).
unsafe impl<V: Values> Send for Gate<V> {}
// SAFETY: as above.
unsafe impl<V: Values> Sync for Gate<V> {}

/// A row of a gate's table that an entity is about to get: nothing has to grow for it.
pub struct Entrance<'s, V: Values> {
    entities: &'s mut Entities,
    head: &'s mut Head,
    opening: &'s mut Opening,
    now: &'s Tick,
    /// Open, so it has pointers. Lent, because there may be many of them.
    gate: &'s Gate<V>,
}

impl<V: Values> Entrance<'_, V> {
    /// The present moment.
    #[inline(always)]
    pub fn now(&self) -> Tick {
        *self.now
    }

    /// As [`Store::spawn`].
    ///
    /// # Panics
    /// When optional values are not exactly those that the table has columns for.
    #[inline(always)]
    pub fn spawn(self, values: V) -> Entity {
        let Self { entities, head, opening, now, gate } = self;
        // SAFETY: `Store::enter` found that the gate is open, so it has pointers (I12).
        let (pointers, row) = (unsafe { gate.pointers.assume_init() }, head.len);
        assert!(values.fits_at(pointers), "optional values must be there exactly where the gate has columns");
        // SAFETY: `Store::enter` found that the directory is prompt, the head has room, and the pointers are those of all
        // columns of its table (I12); nobody else had them since. There is room for the row (I3), in which each column has
        // its value then.
        unsafe {
            let entity = entities.alloc_prompt(Place::new(gate.table, Row::new(row)));
            values.write(pointers, row as usize);
            opening.mark::<LAST>(head, row, now);
            head.count_unmarked(row, entity);
            entity
        }
    }
}

impl Store {
    /// The gate at the end of an edge, which closes all others of this store. `None` when values alone do not make a row:
    /// the edge does not begin at [`TableId::ROWLESS`], leads nowhere, or has functions for some columns.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn gate<V: Values>(&mut self, edge: &Edge) -> Option<Gate<V>> {
        self.expect_edge::<V>(edge, false);
        let spawns = edge.source == TableId::ROWLESS && edge.target.has_rows() && edge.inits.is_empty();
        // SAFETY: the edge is fresh, so its slots are those of the leaves in a table that lives (I7).
        let pointers = unsafe { V::pointers(&mut edge.slots.iter()) };
        if !spawns || !V::are_whole(pointers) {
            return None;
        }
        let number = fresh_stamp();
        self.opening = Opening::of(number);
        // Entities may be in sets as well.
        let exit = if self.sets.is_empty() { edge.target } else { TableId::NOWHERE };
        Some(Gate { number, table: edge.target, exit, pointers: MaybeUninit::new(pointers) })
    }

    /// Lets one entity in. `None` when another gate is needed, or something must grow first: both happen on the ordinary
    /// way.
    #[inline(always)]
    pub fn enter<'s, V: Values>(&'s mut self, gate: &'s Gate<V>) -> Option<Entrance<'s, V>> {
        if !gate.is_open(&self.opening) {
            return None;
        }
        // SAFETY: the table lives (I12), so it has a head (I4).
        let head = unsafe { self.heads.get_unchecked_mut(gate.table.index()) };
        if !head.has_room() || !self.entities.is_prompt() {
            return None;
        }
        let (entities, opening, now) = (&mut self.entities, &mut self.opening, &self.tick);
        Some(Entrance { entities, head, opening, now, gate })
    }

    /// As [`Store::despawn`], for an entity in the gate's table. False, and nothing happens, when it is not there, or
    /// has more than a row without drop glue, or ids are reserved: then the ordinary way is open.
    #[inline(always)]
    pub fn despawn_through<V: Values>(&mut self, gate: &Gate<V>, entity: Entity) -> bool {
        // Values that have to be dropped go on the ordinary way, which bears several panics.
        if needs_drop::<V::Old>() || !gate.is_open(&self.opening) || !self.entities.is_settled() {
            return false;
        }
        let Some(row) = self.entities.free_from(gate.exit, entity) else { return false };
        let now = &self.tick;
        // SAFETY: the entity was in the gate's table, which lives (I12), so it has a head (I4). The directory gave the row,
        // which is in range (I5), as is the last one, and within the capacity (I3). The gate is open, so it has
        // pointers; the leaves fill all columns (I12), and have no drop glue: what stands in the row may be overwritten (I2).
        unsafe {
            let head = self.heads.get_unchecked_mut(gate.exit.index());
            let last = head.len - 1;
            self.opening.mark::<LAST>(head, last, now);
            if let Some(moved) = head.uncount_unmarked(row.get()) {
                V::shift(gate.pointers.assume_init(), V::ALL, last as usize, row.index());
                self.opening.mark::<FILLED>(head, row.get(), now);
                self.entities.set_row(moved.index(), row);
            }
        }
        true
    }
}
