//! Checks that the directory is consistent, for tests and for callers that suspect a bug.
//!
//! It recounts every slot and walks the whole free list, so it costs time in proportion to all slots. It
//! proves that the list has no cycle and holds exactly the slots that are dead and not retired, that every
//! count is right, that rowless slots carry their own index, and that what is reserved is within the list and
//! the limit. It does not know tables: that rows and entities agree is the store's to check.

#![forbid(unsafe_code)]

use super::reserve::parts;
use super::{Entities, NONE, Slot, USED_UP};
use crate::location::TableId;
use crate::sync::Ordering;

impl Entities {
    /// Examines every slot and the free list.
    ///
    /// # Errors
    ///
    /// If anything is not as it should be; the text says what.
    pub fn check(&self) -> Result<(), String> {
        if self.slots() > self.limit {
            return Err(format!("{} slots, limit {}", self.slots(), self.limit));
        }
        self.check_list()?;
        self.check_slots()?;
        self.check_spawn_ticks()?;
        let (_, fresh) = parts(self.reserved.load(Ordering::Relaxed));
        if fresh > self.limit - self.slots() {
            return Err(format!("{fresh} fresh ids reserved, beyond the limit"));
        }
        Ok(())
    }

    /// The list ends, holds `free` distinct slots that are free, and the shared head lies on it.
    fn check_list(&self) -> Result<(), String> {
        let head = self.head.load(Ordering::Relaxed);
        let mut listed = vec![false; self.slots.len()];
        let (first, _) = parts(self.reserved.load(Ordering::Relaxed));
        let mut next = first.unwrap_or(head);
        let mut head_seen = false;
        let mut count = 0;
        loop {
            head_seen |= next == head;
            if next == NONE {
                break;
            }
            let Some(slot) = self.slots.get(next as usize) else {
                return Err(format!("the free list leads to {next}, which is no slot"));
            };
            if slot.table != TableId::DEAD || slot.is_retired() {
                return Err(format!("slot {next} is in the free list but not free"));
            }
            if std::mem::replace(&mut listed[next as usize], true) {
                return Err(format!("the free list comes back to slot {next}"));
            }
            count += 1;
            next = slot.link.index();
        }
        if !head_seen {
            return Err(format!("the shared head {head} is not in the free list"));
        }
        if count != self.free {
            return Err(format!("{count} slots listed, {} counted", self.free));
        }
        Ok(())
    }

    /// Every slot is in one of its four states, and each state is counted right.
    fn check_slots(&self) -> Result<(), String> {
        let (mut dead, mut retired, mut rowless) = (0, 0, 0);
        for (index, slot) in (0..self.slots()).zip(&self.slots) {
            check_slot(index, *slot)?;
            dead += u32::from(slot.table == TableId::DEAD);
            retired += u32::from(slot.is_retired());
            rowless += u32::from(slot.table == TableId::ROWLESS);
        }
        // The list holds `free` slots, all dead and not retired: equal counts make it all of them.
        let counted = (self.free + self.retired, self.retired, self.rowless);
        if (dead, retired, rowless) != counted {
            return Err(format!(
                "dead, retired, rowless are {:?}, counted {counted:?}",
                (dead, retired, rowless)
            ));
        }
        Ok(())
    }
}

fn check_slot(index: u32, slot: Slot) -> Result<(), String> {
    let link = slot.link;
    if slot.table == TableId::ROWLESS && link.index() != index {
        return Err(format!("rowless slot {index} carries {}", link.index()));
    }
    if slot.is_retired() && link.index() != NONE {
        return Err(format!("retired slot {index} leads to {}", link.index()));
    }
    if slot.table != TableId::DEAD && link.raw_generation() == USED_UP {
        return Err(format!("slot {index} is alive with no generation left"));
    }
    Ok(())
}
