//! When each entity was spawned, kept on request.
//!
//! A tick per slot would make every spawn write and every lookup load more, also in programs that never ask. So the ticks
//! are an array beside the slots, which is empty until it is [asked for](Entities::ask_spawn_ticks), and kept from the
//! next tick of the store on. Entities from before count as spawned at the beginning of time.
//!
//! While ticks are kept no spawn cursor is open: the shortest way to spawn does not know of them.

#![forbid(unsafe_code)]

use super::Entities;
use crate::entity::Entity;
use crate::location::TableId;
use crate::store::Store;
use crate::sync::{AtomicU32, Ordering, with_mut};
use crate::tick::Tick;

/// The tick of entities that were there before ticks were kept: after every query that never ran.
const BEGINNING: Tick = Tick::new(1);

/// The ticks of a directory, by slot.
pub(super) struct SpawnTicks {
    /// Not zero when they were asked for, and are not kept yet.
    asked: AtomicU32,
    kept: bool,
    /// The present moment of the store.
    now: Tick,
    /// As long as the slots while they are kept, else empty.
    ticks: Vec<Tick>,
}

impl SpawnTicks {
    pub(super) fn new() -> Self {
        Self { asked: AtomicU32::new(0), kept: false, now: BEGINNING, ticks: Vec::new() }
    }

    /// Records that the entity of a slot is spawned now. A slot past the end is the next one, or those between are free.
    #[inline]
    pub(super) fn note(&mut self, index: u32) {
        if self.kept {
            self.write(index);
        }
    }

    #[cold]
    #[inline(never)]
    fn write(&mut self, index: u32) {
        let index = index as usize;
        if index >= self.ticks.len() {
            self.ticks.resize(index + 1, BEGINNING);
        }
        self.ticks[index] = self.now;
    }
}

impl Entities {
    /// Asks for spawn ticks: they are kept from the next tick of the store on.
    pub(crate) fn ask_spawn_ticks(&self) {
        self.spawn_ticks.asked.store(1, Ordering::Relaxed);
    }

    /// Whether spawn ticks were asked for and are not kept yet.
    #[inline(always)]
    fn wants_spawn_ticks(&mut self) -> bool {
        with_mut(&mut self.spawn_ticks.asked, |asked| *asked != 0)
    }

    /// Whether spawn ticks are kept.
    #[inline]
    pub(crate) fn keeps_spawn_ticks(&self) -> bool {
        self.spawn_ticks.kept
    }

    /// The spawn ticks by slot, empty unless they are kept.
    pub(crate) fn spawn_ticks(&self) -> &[Tick] {
        &self.spawn_ticks.ticks
    }

    /// What a slot's tick is in a list of them.
    #[inline]
    pub(crate) fn spawn_tick_in(ticks: &[Tick], index: u32) -> Tick {
        ticks.get(index as usize).copied().unwrap_or(BEGINNING)
    }

    /// The ticks for an image.
    pub(super) fn spawn_ticks_image(&self) -> Option<Vec<Tick>> {
        self.spawn_ticks.kept.then(|| self.spawn_ticks.ticks.clone())
    }

    /// Puts the ticks of an image back. Entities of one that was taken before they were kept are from the beginning.
    pub(super) fn restore_spawn_ticks(&mut self, image: Option<&[Tick]>) {
        self.spawn_ticks.kept |= image.is_some();
        if self.spawn_ticks.kept {
            self.spawn_ticks.ticks.clear();
            self.spawn_ticks.ticks.extend_from_slice(image.unwrap_or_default());
            self.spawn_ticks.ticks.resize(self.slots.len(), BEGINNING);
            // An image without them does not say what the directory says now.
            self.changes += u64::from(image.is_none());
        }
    }

    /// All living entities of a directory that takes the place of another one are spawned now, if that kept ticks.
    pub(super) fn take_over_spawn_ticks(&mut self, before: &mut Self) {
        std::mem::swap(&mut self.spawn_ticks, &mut before.spawn_ticks);
        if self.spawn_ticks.kept {
            self.spawn_ticks.ticks = vec![self.spawn_ticks.now; self.slots.len()];
        }
    }

    pub(super) fn check_spawn_ticks(&self) -> Result<(), String> {
        let (ticks, slots) = (self.spawn_ticks.ticks.len(), self.slots.len());
        let expected = if self.spawn_ticks.kept { slots } else { 0 };
        if ticks != expected {
            return Err(format!("{ticks} spawn ticks for {slots} slots"));
        }
        let future = (0..).zip(&self.spawn_ticks.ticks).find(|(index, tick)| {
            self.slots[*index].table != TableId::DEAD && tick.is_after(self.spawn_ticks.now)
        });
        future.map_or(Ok(()), |(index, _)| Err(format!("slot {index} was spawned in the future")))
    }
}

impl Store {
    /// Keeps the tick at which each entity is spawned from now on. Those that live already count as spawned at the
    /// beginning.
    #[cold]
    #[inline(never)]
    pub fn keep_spawn_ticks(&mut self) {
        with_mut(&mut self.entities.spawn_ticks.asked, |asked| *asked = 0);
        if self.entities.spawn_ticks.kept {
            return;
        }
        self.close_cursors();
        // Ids that are reserved are spawned when they are flushed, which is later.
        self.entities.spawn_ticks.kept = true;
        self.entities.spawn_ticks.ticks = vec![BEGINNING; self.entities.slots.len()];
        // Images from before know no ticks.
        self.entities.changes += 1;
    }

    /// Sets the present moment, of which the directory knows as well. Only [`Store::advance_tick`] and [`Store::set_tick`]
    /// do: where the clock goes back, the second one forgets the base, or owners that changed would be believed to be as
    /// in it (I15).
    #[inline]
    pub(crate) fn set_now(&mut self, tick: Tick) {
        self.tick = tick;
        self.entities.spawn_ticks.now = tick;
        if self.entities.wants_spawn_ticks() {
            self.keep_spawn_ticks();
        }
    }

    /// When a living entity was spawned; `None` for others, and while spawn ticks are not kept. They are from the next tick
    /// on after this was asked.
    pub fn spawn_tick(&self, entity: Entity) -> Option<Tick> {
        if !self.entities.keeps_spawn_ticks() {
            self.entities.ask_spawn_ticks();
            return None;
        }
        self.entities
            .contains(entity)
            .then(|| Entities::spawn_tick_in(self.entities.spawn_ticks(), entity.index()))
    }
}
