//! The ids that will be given next, in their order.
//!
//! Equal worlds give equal ids: digests, checkpoints and saves therefore need the list of free slots as it is threaded
//! through the directory. Walking it changes nothing.

#![forbid(unsafe_code)]

use super::Entities;
use crate::entity::Entity;

impl Entities {
    /// The entities that the free slots stand for, in the order in which they will be used again. After them come
    /// new indices, from [`Entities::slots`] on.
    ///
    /// Slots that were reserved and not flushed are no longer among them.
    pub fn free_list(&self) -> impl Iterator<Item = Entity> + '_ {
        let mut next = self.next_free();
        std::iter::from_fn(move || {
            let index = next?;
            let link = self.slots.get(index as usize)?.link;
            next = Some(link.index());
            Some(Entity::new(index, link.raw_generation()))
        })
        .take(self.slots.len())
    }
}
