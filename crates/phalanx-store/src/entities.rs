//! The entity directory: which ids are alive, and at which location.
//!
//! ```text
//!   slot (12 bytes)    table       link.index          link.generation
//!   alive, has a row   2 ..        the row             of the entity
//!   alive, rowless     1 ROWLESS   its own index       of the entity   (so `&slot.link` is the id itself)
//!   free               0 DEAD      next free, or NONE  of the next entity here
//!   retired            0 DEAD      NONE                used up
//! ```
//!
//! Free slots form a last-in-first-out list threaded through the slots. A slot's generation rises when its
//! entity is destroyed, and a slot whose last one is used up leaves the list for good, so an id that died
//! stays dead. The part that threads share (`reserve`), the numbers and lists (`counts`) and the walk that
//! proves all of this (`check`) have files of their own. The directory does not know tables: it trusts the
//! store about every location, which therefore lends it to others as `&Entities` only.

mod check;
mod claim;
mod counts;
mod directory;
mod ending;
mod free_list;
mod reserve;
mod spawn_ticks;
mod state;
#[cfg(all(test, not(loom)))]
#[allow(clippy::cast_possible_truncation, reason = "the numbers of the tests are small")]
mod tests;

use std::fmt;
use std::num::NonZeroU32;

pub use claim::ClaimError;
pub use counts::Rowless;
pub(crate) use directory::Directory;
pub(crate) use ending::Ending;
use spawn_ticks::SpawnTicks;
pub use state::{DirectoryError, DirectoryState, SlotState};

use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::store::grown;
use crate::sync::{AtomicU32, AtomicU64, with_mut};

/// Ends the free list; never an index, because there are at most `u32::MAX` slots.
const NONE: u32 = u32::MAX;
/// The raw generation of a slot's first entity.
const FIRST: NonZeroU32 = NonZeroU32::MIN;
/// The raw generation that no entity has: a slot that reaches it is retired.
const USED_UP: NonZeroU32 = NonZeroU32::MAX;

/// The directory's entry for one index: for the store alone.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    table: TableId,
    link: Entity,
}

impl Slot {
    #[inline]
    fn new(location: EntityLocation, raw_generation: NonZeroU32) -> Self {
        Self { table: location.table, link: Entity::new(location.row.get(), raw_generation) }
    }

    #[inline]
    fn location(self) -> EntityLocation {
        EntityLocation::new(self.table, Row::new(self.link.index()))
    }

    fn is_retired(self) -> bool {
        self.table == TableId::DEAD && self.link.raw_generation() == USED_UP
    }

    /// Records that the living entity of the slot has another row in the same table: for the store alone.
    ///
    /// # Safety
    /// The row is the entity's from now on (I5).
    #[inline(always)]
    pub(crate) unsafe fn set_row(&mut self, row: Row) {
        debug_assert!(self.table.has_rows(), "a slot that has no row");
        self.link = Entity::new(row.get(), self.link.raw_generation());
    }
}

/// All entities of a world: which ids are alive, and where their rows are.
///
/// Ids can be [reserved](Entities::reserve) through `&self` by many threads at once; a reserved id comes
/// alive at the next [`flush`](Entities::flush). Everything else that changes the directory takes `&mut
/// self`, and flushes first.
pub struct Entities {
    slots: Vec<Slot>,
    /// What is reserved: zero if nothing. The half that counts ids past the end of `slots` only rises while shared; the
    /// other is set once, before `head` moves.
    reserved: AtomicU64,
    /// The first free slot, or `NONE`. While shared it only moves along the list.
    head: AtomicU32,
    /// How many slots the list holds, those that are reserved included.
    free: u32,
    retired: u32,
    rowless: u32,
    /// How often an entity died, or came to be without a row: what happened to the others, rows show.
    changes: u64,
    limit: u32,
    /// By slot, the free slot before it where that is known: see `claim`.
    before: Vec<u32>,
    spawn_ticks: SpawnTicks,
}

impl Entities {
    /// Returns an empty directory that can hold `u32::MAX` slots.
    pub fn new() -> Self {
        Self::with_limit(u32::MAX)
    }

    /// Returns an empty directory that will never have more than `max_slots` slots, retired ones included.
    pub fn with_limit(max_slots: u32) -> Self {
        Self {
            slots: Vec::new(),
            reserved: AtomicU64::new(0),
            head: AtomicU32::new(NONE),
            free: 0,
            retired: 0,
            rowless: 0,
            changes: 0,
            limit: max_slots,
            before: Vec::new(),
            spawn_ticks: SpawnTicks::new(),
        }
    }

    /// Returns `true` if the entity is alive.
    ///
    /// Any id may be asked about. Those that are made up, and those reserved but not yet flushed, are not
    /// alive.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.locate(entity).is_some()
    }

    /// Returns the location of an entity, or `None` if it is not alive.
    ///
    /// A rowless entity is at its own index in [`TableId::ROWLESS`].
    #[inline]
    pub fn locate(&self, entity: Entity) -> Option<EntityLocation> {
        self.slot_of(entity).filter(|location| location.table != TableId::DEAD)
    }

    /// Returns what the slot of an id says, for callers that look at the table anyway: for the store alone.
    ///
    /// One comparison cheaper than [`locate`](Entities::locate). The price: an id that is only reserved, or
    /// made up with the generation that its free slot will have next, is answered with
    /// [`TableId::DEAD`] and a row that means nothing. Stale ids and those beyond all slots are `None`.
    #[inline]
    pub(crate) fn slot_of(&self, entity: Entity) -> Option<EntityLocation> {
        Self::find_in(&self.slots, entity)
    }

    /// The slots, for queries that keep them at hand: for the store alone.
    pub(crate) fn as_slots(&self) -> &[Slot] {
        &self.slots
    }

    /// As [`slot_of`](Entities::slot_of), in the slots of a directory.
    #[inline(always)]
    pub(crate) fn find_in(slots: &[Slot], entity: Entity) -> Option<EntityLocation> {
        let slot = slots.get(entity.index() as usize)?;
        (slot.link.raw_generation() == entity.raw_generation()).then(|| slot.location())
    }

    /// Returns the id of a living rowless entity as it stands in the directory, or `None` if it is dead or has
    /// a row: for the store alone. See [`rowless`](Entities::rowless) for the reason.
    #[inline]
    pub(crate) fn rowless_id(&self, entity: Entity) -> Option<&Entity> {
        let slot = self.slots.get(entity.index() as usize)?;
        // A rowless slot carries its own index, so equal links are equal generations.
        (slot.table == TableId::ROWLESS && slot.link == entity).then_some(&slot.link)
    }

    /// Brings a rowless entity to life: for the store alone.
    #[inline]
    pub(crate) fn alloc(&mut self) -> Result<Entity, Exhausted> {
        self.settle();
        let index = self.next_free().unwrap_or(self.slots());
        let entity = self.occupy(EntityLocation::new(TableId::ROWLESS, Row::new(index)))?;
        self.rowless += 1;
        self.changes += 1;
        Ok(entity)
    }

    /// Brings an entity to life that already has a row: for the store alone.
    ///
    /// # Safety
    /// The location is in a table. When this has succeeded, the row is that of the entity before anything else is done (I5).
    #[inline]
    pub(crate) unsafe fn alloc_at(&mut self, location: EntityLocation) -> Result<Entity, Exhausted> {
        debug_assert!(location.table.has_rows(), "{location:?} is not in a table");
        self.settle();
        self.occupy(location)
    }

    /// Whether [`Entities::alloc_prompt`] may be called: for the store alone.
    #[inline(always)]
    pub(crate) fn is_prompt(&mut self) -> bool {
        let (is_settled, head) = (self.is_settled(), self.list_head());
        let len = self.slots.len();
        let has_room = || len < self.slots.capacity() && len < self.limit as usize;
        is_settled && ((head as usize) < len || has_room())
    }

    /// As [`Entities::alloc_at`], without a call: for the store alone.
    ///
    /// # Safety
    /// The directory [is prompt](Entities::is_prompt). The location is in a table, and the row is that of the entity before
    /// anything else is done (I5).
    #[inline(always)]
    pub(crate) unsafe fn alloc_prompt(&mut self, location: EntityLocation) -> Entity {
        debug_assert!(self.is_prompt() && location.table.has_rows() && !self.keeps_spawn_ticks());
        if let Some(entity) = self.recycle(location) {
            return entity;
        }
        let index = self.slots();
        // SAFETY: forwarded: no slot is free, or it would have been recycled, so that a prompt directory has room for one
        // more behind the last; it is written before it counts.
        unsafe {
            self.slots.as_mut_ptr().add(index as usize).write(Slot::new(location, FIRST));
            self.slots.set_len(index as usize + 1);
        }
        Entity::new(index, FIRST)
    }

    /// Brings `n` entities to life in consecutive rows, and hands each to `out` with its number among them, in their
    /// order: for the store alone.
    ///
    /// Free slots are used first, then new ones. If they do not suffice, nothing changes.
    ///
    /// # Safety
    /// When this has succeeded, the rows, of a table, are those of the entities before anything else is done (I5). `out` does
    /// not panic: the entities are alive by then.
    pub(crate) unsafe fn alloc_run(
        &mut self,
        table: TableId,
        first_row: Row,
        mut out: impl FnMut(u32, Entity),
        n: u32,
    ) -> Result<(), Exhausted> {
        debug_assert!(table.has_rows(), "{table:?} has no rows");
        self.settle();
        let recycled = n.min(self.free);
        let appended = n - recycled;
        if appended > self.limit - self.slots() {
            return Err(Exhausted);
        }
        // What can fail comes first: afterwards each entity gets its row.
        self.slots.reserve(appended as usize);
        // No overflow: no table has more rows than there are slots.
        let location = |i| EntityLocation::new(table, Row::new(first_row.get() + i));
        if self.keeps_spawn_ticks() {
            for i in 0..n {
                out(i, self.occupy(location(i))?);
            }
            return Ok(());
        }
        // At hand while the list is walked: the next slot is known as soon as this one is read.
        let mut head = self.list_head();
        for i in 0..recycled {
            let slot = &mut self.slots[head as usize];
            let link = slot.link;
            *slot = Slot::new(location(i), link.raw_generation());
            out(i, Entity::new(head, link.raw_generation()));
            head = link.index();
        }
        self.set_head(head);
        self.free -= recycled;
        let base = self.slots();
        self.slots.extend((recycled..n).map(|i| Slot::new(location(i), FIRST)));
        for i in 0..appended {
            out(recycled + i, Entity::new(base + i, FIRST));
        }
        Ok(())
    }

    /// Makes room for `additional` more entities, as far as the limit allows: for the store alone.
    pub(crate) fn reserve_slots(&mut self, additional: usize) {
        self.settle();
        let new = additional.saturating_sub(self.free as usize);
        let room = (self.limit - self.slots()) as usize;
        let slots = new.min(room);
        if self.slots.try_reserve(slots).is_err() {
            panic!("there is no memory for {slots} more entity slots");
        }
    }

    /// Ends an entity and returns where it was, or `None` if it was not alive: for the store alone.
    ///
    /// Its slot becomes the first of the free list, or is retired.
    ///
    /// # Safety
    /// Its row, if it has one, is taken out of its table, and it out of all sets, before anything else is done (I5, I10).
    #[inline]
    pub(crate) unsafe fn free(&mut self, entity: Entity) -> Option<EntityLocation> {
        self.settle();
        let slot = self.slots.get(entity.index() as usize)?;
        if slot.link.raw_generation() != entity.raw_generation() || slot.table == TableId::DEAD {
            return None;
        }
        let location = slot.location();
        self.end(entity);
        self.rowless -= u32::from(location.table == TableId::ROWLESS);
        Some(location)
    }

    /// As [`free`](Entities::free), for an entity with a row in this table, and without a call: for the store alone.
    ///
    /// `None`, and nothing happens, for any other entity, and where the slot would be retired. Nothing may be reserved.
    ///
    /// # Safety
    /// The row is taken out of the table before anything else is done, and the entity is in no set (I5, I10).
    #[inline(always)]
    pub(crate) unsafe fn free_from(&mut self, table: TableId, entity: Entity) -> Option<Row> {
        debug_assert!(self.is_settled());
        let (index, head) = (entity.index(), self.list_head());
        let row = self.slots.get_mut(index as usize)?.end_in(table, entity, head)?;
        self.set_head(index);
        self.free += 1;
        self.changes += 1;
        Some(row)
    }

    /// Makes the slot of a living entity the first of the free list, or retires it. Nothing may be reserved.
    #[inline(always)]
    fn end(&mut self, entity: Entity) {
        let (index, raw_generation) = (entity.index(), bumped(entity));
        let head = self.list_head();
        self.slots[index as usize] = Slot { table: TableId::DEAD, link: Entity::new(head, raw_generation) };
        self.changes += 1;
        if raw_generation == USED_UP {
            self.retire(index);
        } else {
            self.set_head(index);
            self.free += 1;
        }
    }

    /// Records where the living entity of slot `index` is now: for the store alone.
    ///
    /// In [`TableId::ROWLESS`] the row is the entity's own index, whatever `location` says.
    ///
    /// # Safety
    /// A living entity has the slot, and has that row from now on (I5).
    #[inline]
    pub(crate) unsafe fn set_location(&mut self, index: u32, location: EntityLocation) {
        let slot = &mut self.slots[index as usize];
        debug_assert!(slot.table != TableId::DEAD, "slot {index} is not alive");
        debug_assert!(location.table != TableId::DEAD, "an entity dies through free");
        self.rowless -= u32::from(slot.table == TableId::ROWLESS);
        slot.table = location.table;
        let mut row = location.row.get();
        if location.table == TableId::ROWLESS {
            row = index;
            self.rowless += 1;
            self.changes += 1;
        }
        slot.link = Entity::new(row, slot.link.raw_generation());
    }

    /// As [`set_location`](Entities::set_location), for an entity that goes from one row to another: for the store
    /// alone.
    ///
    /// # Safety
    /// As for [`set_location`](Entities::set_location); both are rows of tables.
    #[inline]
    pub(crate) unsafe fn move_location(&mut self, index: u32, location: EntityLocation) {
        debug_assert!((index as usize) < self.slots.len());
        // SAFETY: forwarded: a living entity has a slot (I5).
        let slot = unsafe { self.slots.get_unchecked_mut(index as usize) };
        debug_assert!(slot.table.has_rows() && location.table.has_rows(), "slot {index} has no row");
        slot.table = location.table;
        slot.link = Entity::new(location.row.get(), slot.link.raw_generation());
    }

    /// Records that the living entity of slot `index` has another row in the same table: for the store alone.
    ///
    /// # Safety
    /// A living entity with a row has the slot, and has this row from now on (I5).
    #[inline(always)]
    pub(crate) unsafe fn set_row(&mut self, index: u32, row: Row) {
        debug_assert!((index as usize) < self.slots.len());
        // SAFETY: forwarded: there is such a slot, and the row is its entity's.
        unsafe { self.slots.get_unchecked_mut(index as usize).set_row(row) };
    }

    /// Ends every entity, reserved ones included; no id handed out before is alive again.
    ///
    /// The slots stay. They will be reused from the lowest index upwards.
    pub fn clear(&mut self) {
        self.settle();
        let mut head = NONE;
        self.free = 0;
        for (index, slot) in (0..self.slots()).zip(&mut self.slots).rev() {
            if slot.is_retired() {
                continue;
            }
            let mut raw_generation = slot.link.raw_generation();
            if slot.table != TableId::DEAD {
                raw_generation = bumped(slot.link);
            }
            slot.table = TableId::DEAD;
            if raw_generation == USED_UP {
                slot.link = Entity::new(NONE, USED_UP);
                self.retired += 1;
            } else {
                slot.link = Entity::new(head, raw_generation);
                head = index;
                self.free += 1;
            }
        }
        self.rowless = 0;
        self.changes += 1;
        self.set_head(head);
    }

    /// Gives memory back that no slot uses. Slots themselves are never given up: they remember generations.
    pub fn shrink_to_fit(&mut self) {
        self.slots.shrink_to_fit();
    }

    /// Puts the living or free slot `index` forward to a generation, and returns its id there.
    ///
    /// It exists so that tests can reach the end of the counter. An entity alive in the slot goes on under
    /// the new id; the old one is dead.
    ///
    /// # Panics
    ///
    /// If there is no such slot, it is retired, or `raw` (the generation plus one) is `u32::MAX` or would
    /// go back.
    #[doc(hidden)]
    pub fn set_generation_for_tests(&mut self, index: u32, raw: u32) -> Entity {
        self.settle();
        let slot = &mut self.slots[index as usize];
        let now = slot.link.raw_generation();
        assert!(
            (now.get()..USED_UP.get()).contains(&raw),
            "slot {index} cannot go from raw generation {now} to {raw}"
        );
        self.changes += 1;
        let raw_generation = NonZeroU32::new(raw).expect("a generation only rises");
        slot.link = Entity::new(slot.link.index(), raw_generation);
        Entity::new(index, raw_generation)
    }

    /// Takes the first free slot, or a new one, for an entity at `location`. Nothing may be reserved.
    #[inline]
    fn occupy(&mut self, location: EntityLocation) -> Result<Entity, Exhausted> {
        let entity = match self.recycle(location) {
            Some(entity) => entity,
            None => self.append(location)?,
        };
        self.spawn_ticks.note(entity.index());
        Ok(entity)
    }

    /// Takes the first free slot, if there is one, for an entity at `location`. Nothing may be reserved.
    #[inline(always)]
    fn recycle(&mut self, location: EntityLocation) -> Option<Entity> {
        let index = self.list_head();
        // `NONE` is beyond every slot, so one comparison covers the bound and the empty list.
        let slot = self.slots.get_mut(index as usize)?;
        let link = slot.link;
        *slot = Slot::new(location, link.raw_generation());
        self.set_head(link.index());
        self.free -= 1;
        Some(Entity::new(index, link.raw_generation()))
    }

    #[inline]
    fn append(&mut self, location: EntityLocation) -> Result<Entity, Exhausted> {
        let index = self.slots();
        if index >= self.limit {
            return Err(Exhausted);
        }
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve(grown(self.slots.len()) - self.slots.len());
        }
        self.slots.push(Slot::new(location, FIRST));
        Ok(Entity::new(index, FIRST))
    }

    /// Takes a slot out of use that has just died for the last time.
    #[cold]
    fn retire(&mut self, index: u32) {
        self.slots[index as usize].link = Entity::new(NONE, USED_UP);
        self.retired += 1;
    }

    #[inline(always)]
    fn list_head(&mut self) -> u32 {
        with_mut(&mut self.head, |head| *head)
    }

    #[inline(always)]
    fn set_head(&mut self, head: u32) {
        with_mut(&mut self.head, |word| *word = head);
    }
}

impl Default for Entities {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Entities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities")
            .field("alive", &self.len())
            .field("rowless", &self.rowless)
            .field("free", &self.free)
            .field("retired", &self.retired)
            .finish_non_exhaustive()
    }
}

/// The raw generation after that of a living id, which is below `USED_UP`.
#[inline]
fn bumped(entity: Entity) -> NonZeroU32 {
    entity.raw_generation().saturating_add(1)
}

/// No further entity can be created: every slot is alive, reserved or retired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Exhausted;

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "no entity index is left: despawn entities before creating more, or create fewer at a time",
        )
    }
}

impl std::error::Error for Exhausted {}
