//! A gate into one table: what spawning has to ask is asked once, for many entities.
//!
//! An edge is checked for each entity, and leads to the columns through their headers. A [`Gate`] is made from an
//! edge and keeps where the columns' rows are; all that is asked of it later is whether that is still so, which
//! one comparison tells (I12). Where a gate cannot help, it says so and the ordinary way is open.

use std::mem::needs_drop;
use std::num::NonZeroU64;
use std::ptr::NonNull;

use crate::column::{BLOCK_SHIFT, LaneCell};
use crate::entities::{Entities, Exhausted};
use crate::entity::Entity;
use crate::place::{Place, Row, TableId};
use crate::plan::Edge;
use crate::store::Store;
use crate::table::{Head, marking};
use crate::tick::Tick;
use crate::values::Values;

/// A way for many values into one table, for as long as no column moves.
pub struct Gate<V: Values> {
    /// The store's layout, while entities can come in.
    entry: NonZeroU64,
    /// The same, while they can go again.
    exit: Option<NonZeroU64>,
    table: TableId,
    pointers: V::Pointers,
}

impl<V: Values> Gate<V> {
    /// Brings an entity to life in the row behind the last one.
    ///
    /// # Safety
    /// The gate is up to date, the head that of its table and with room, the directory prompt.
    #[inline(always)]
    unsafe fn let_in(
        &self,
        entities: &mut Entities,
        head: &mut Head,
        values: V,
        mark: impl FnMut(&LaneCell, u32),
    ) -> Entity {
        let (pointers, row) = (self.pointers, head.len);
        assert!(values.fits_at(pointers), "optional values must be there exactly where the gate has columns");
        // SAFETY: forwarded: the pointers are those of all columns (I12), with room for the row (I3), in which each has its
        // value then.
        unsafe {
            let entity = entities.alloc_prompt(Place::new(self.table, Row::new(row)));
            values.write(pointers, row as usize);
            head.count(row, entity, mark);
            entity
        }
    }

    /// Ends an entity of the gate's table, if it is there.
    ///
    /// # Safety
    /// The gate is up to date and has an exit, the head is that of its table, and nothing is reserved.
    #[inline(always)]
    unsafe fn let_out(
        &self,
        entities: &mut Entities,
        head: &mut Head,
        entity: Entity,
        mark: impl FnMut(&LaneCell, u32),
    ) -> bool {
        let Some(row) = entities.free_from(self.table, entity) else { return false };
        let last = head.len as usize - 1;
        // SAFETY: the directory gave the row, which is in range (I5), as is the last one. The leaves fill all columns (I12),
        // and have no drop glue: what stands in the row may be overwritten (I2).
        unsafe {
            if row.index() != last {
                V::shift(self.pointers, V::ALL, last, row.index());
            }
            if let Some(moved) = head.uncount(row.get(), mark) {
                entities.set_row(moved.index(), row);
            }
        }
        true
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
    gate: &'s Gate<V>,
    now: Tick,
}

impl<V: Values> Entrance<'_, V> {
    /// The present moment.
    #[inline(always)]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// As [`Store::spawn`].
    ///
    /// # Panics
    /// When optional values are not exactly those that the table has columns for.
    #[inline(always)]
    pub fn spawn(self, values: V) -> Entity {
        // SAFETY: the directory, the head and the gate are what `Store::enter` found to be prompt, to have room, and to be up
        // to date; nobody else had them since (I12). The row is within the capacity (I3).
        unsafe { self.gate.let_in(self.entities, self.head, values, marking(self.now)) }
    }
}

impl Store {
    /// The gate at the end of an edge. `None` when values alone do not make a row: the edge does not begin at
    /// [`TableId::ROWLESS`], leads nowhere, or has functions for some columns.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn gate<V: Values>(&self, edge: &Edge) -> Option<Gate<V>> {
        self.expect_edge::<V>(edge, false);
        let spawns = edge.source == TableId::ROWLESS && edge.target.has_rows() && edge.inits.is_empty();
        // SAFETY: the edge is fresh, so its slots are those of the leaves in a table that lives (I7).
        let pointers = unsafe { V::pointers(&mut edge.slots.iter()) };
        // Entities may be in sets as well, and values may have to be dropped.
        let exit = (self.sets.is_empty() && !needs_drop::<V::Old>()).then_some(self.layout);
        let gate = Gate { entry: self.layout, exit, table: edge.target, pointers };
        (spawns && V::are_whole(pointers)).then_some(gate)
    }

    /// Lets one entity in. `None` when another gate is needed, or something must grow first: both happen on the ordinary
    /// way.
    #[inline(always)]
    pub fn enter<'s, V: Values>(&'s mut self, gate: &'s Gate<V>) -> Option<Entrance<'s, V>> {
        if self.layout != gate.entry || !self.entities.is_prompt() {
            return None;
        }
        // SAFETY: the table lives (I12), so it has a head (I4).
        let head = unsafe { self.heads.get_unchecked_mut(gate.table.index()) };
        head.has_room().then_some(Entrance { entities: &mut self.entities, head, gate, now: self.tick })
    }

    /// As [`Store::despawn`], for an entity in the gate's table. False, and nothing happens, when it is not there, or
    /// has more than a row without drop glue, or ids are reserved: then the ordinary way is open.
    #[inline(always)]
    pub fn despawn_through<V: Values>(&mut self, gate: &Gate<V>, entity: Entity) -> bool {
        if Some(self.layout) != gate.exit || !self.entities.is_settled() {
            return false;
        }
        // SAFETY: the table lives (I12), so it has a head (I4); nothing is reserved. Rows are within the capacity (I3).
        unsafe {
            let head = self.heads.get_unchecked_mut(gate.table.index());
            gate.let_out(&mut self.entities, head, entity, marking(self.tick))
        }
    }

    /// A door for many entities at the end of an edge; `None` as for [`Store::gate`].
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn spawner<'s, V: Values>(&'s mut self, edge: &'s Edge) -> Option<Spawner<'s, V>> {
        self.flush();
        let gate = self.gate(edge)?;
        let head = self.head_at(gate.table);
        Some(Spawner { store: self, edge, gate, head, marked: [u32::MAX; 2] })
    }

    /// Where the head of a table is, until a table is added. Not by way of a reference: others may be made of the same
    /// head meanwhile, and this stays good.
    fn head_at(&mut self, table: TableId) -> NonNull<Head> {
        assert!(table.index() < self.heads.len(), "the table exists");
        // SAFETY: locally: asked just now.
        unsafe { NonNull::new_unchecked(self.heads.as_mut_ptr().add(table.index())) }
    }
}

/// As a gate, for as long as nobody else has the store: nothing is asked any more but for room.
///
/// While it lives, no id is reserved, no table is added and no tick advances.
pub struct Spawner<'s, V: Values> {
    store: &'s mut Store,
    edge: &'s Edge,
    gate: Gate<V>,
    /// That of the gate's table.
    head: NonNull<Head>,
    /// The blocks that were marked last, where rows come and go and where they are put in the place of others.
    marked: [u32; 2],
}

// SAFETY: the head is one of the store, which is borrowed exclusively (I4).
unsafe impl<V: Values> Send for Spawner<'_, V> {}
// SAFETY: as above; a shared spawner does nothing.
unsafe impl<V: Values> Sync for Spawner<'_, V> {}

impl<V: Values> Spawner<'_, V> {
    /// The present moment.
    #[inline(always)]
    pub fn now(&self) -> Tick {
        self.store.tick
    }

    /// As [`Store::spawn`].
    ///
    /// # Errors
    /// When all entity indices are in use.
    ///
    /// # Panics
    /// When optional values are not exactly those that the table has columns for.
    #[inline(always)]
    pub fn spawn(&mut self, values: V) -> Result<Entity, Exhausted> {
        // SAFETY: the head stands where it is: no table was added (I4).
        if !unsafe { self.head.as_ref() }.has_room() || !self.store.entities.has_slot() {
            self.make_room()?;
        }
        let now = self.store.tick;
        // SAFETY: as above. There is room, in the table and in the directory, where nothing was reserved since the spawner
        // was made; the gate was made anew when columns moved (I12). The row is within the capacity (I3).
        unsafe {
            let mark = remembering(&mut self.marked, marking(now));
            Ok(self.gate.let_in(&mut self.store.entities, self.head.as_mut(), values, mark))
        }
    }

    /// Lets the table and the directory grow, and looks where the columns are then.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) -> Result<(), Exhausted> {
        self.store.entities.reserve_slots(1);
        if !self.store.entities.has_slot() {
            return Err(Exhausted);
        }
        self.store.make_room(self.gate.table, 1);
        self.gate = self.store.gate(self.edge).expect("the edge had a gate before");
        Ok(())
    }

    /// As [`Store::despawn`], quickly for entities of the table.
    #[inline(always)]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        if self.gate.exit.is_some() {
            let now = self.store.tick;
            // SAFETY: as for `spawn`.
            unsafe {
                let mark = remembering(&mut self.marked, marking(now));
                if self.gate.let_out(&mut self.store.entities, self.head.as_mut(), entity, mark) {
                    return true;
                }
            }
        }
        self.despawn_ungated(entity)
    }

    #[inline(never)]
    fn despawn_ungated(&mut self, entity: Entity) -> bool {
        self.store.despawn(entity)
    }
}

/// Marks a row unless its block was marked before: by turns, the last of a table and another one.
#[inline(always)]
fn remembering(marked: &mut [u32; 2], mut mark: impl FnMut(&LaneCell, u32)) -> impl FnMut(&LaneCell, u32) {
    let mut turn = 0;
    move |owners, row| {
        let block = row >> BLOCK_SHIFT;
        if marked[turn] != block {
            marked[turn] = block;
            mark(owners, row);
        }
        turn = 1;
    }
}
