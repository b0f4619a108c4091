//! What a checkpoint keeps of observers: which there were, in which slots, and of which entities.
//!
//! The image knows observers by a token. The observers themselves stay with the world, also those that are removed, as
//! long as an image has their token.

use std::sync::Arc;

use phalanx_store::Entity;

use super::{Handler, Kept, KeptHandler, ObserverId, Observers, Slot};

/// The observers of a world at one moment.
pub(in crate::world::reactions) struct ObserversImage {
    slots: Vec<SlotImage>,
    free: Vec<u32>,
    registered: u64,
}

struct SlotImage {
    generation: u32,
    /// The observer, and the entities that it observed.
    kept: Option<(Arc<()>, Vec<Entity>)>,
}

impl ObserversImage {
    /// Whether an observer was the one in a slot.
    pub(in crate::world::reactions) fn is_in(&self, slot: u32, kept: &Kept) -> bool {
        let then = self.slots.get(slot as usize).and_then(|slot| slot.kept.as_ref());
        then.is_some_and(|(token, _)| Arc::ptr_eq(token, &kept.token))
    }
}

impl Observers {
    /// What a checkpoint keeps of them.
    pub(in crate::world::reactions) fn image(&mut self) -> Arc<ObserversImage> {
        let slot = |slot: &Slot| SlotImage {
            generation: slot.generation,
            kept: slot.kept.as_ref().map(|kept| (Arc::clone(&kept.token), kept.observer.entities.clone())),
        };
        let (slots, free, registered) = (&self.slots, &self.free, self.registered);
        let image = self.image.get_or_insert_with(|| {
            Arc::new(ObserversImage {
                slots: slots.iter().map(slot).collect(),
                free: free.clone(),
                registered,
            })
        });
        Arc::clone(image)
    }

    /// Whether nothing came or went since an image was taken or restored.
    pub(in crate::world::reactions) fn is_as_in(&self, image: &Arc<ObserversImage>) -> bool {
        self.image.as_ref().is_some_and(|own| Arc::ptr_eq(own, image))
    }

    /// Those that are not in an image as they are.
    pub(in crate::world::reactions) fn others_than(&self, image: &ObserversImage) -> Vec<ObserverId> {
        let is_other = |slot: u32| {
            let kept = self.kept(slot)?;
            let then = image.slots.get(slot as usize).and_then(|slot| slot.kept.as_ref());
            let same = then.is_some_and(|(token, entities)| {
                Arc::ptr_eq(token, &kept.token) && *entities == kept.observer.entities
            });
            let generation = self.slots[slot as usize].generation;
            (!same).then_some(ObserverId { slot, generation })
        };
        (0..).take(self.slots.len()).filter_map(is_other).collect()
    }

    /// The slots whose observers of an image are not there.
    pub(in crate::world::reactions) fn missing_of(&self, image: &ObserversImage) -> Vec<u32> {
        let slots =
            (0..).zip(&image.slots).filter(|(slot, then)| then.kept.is_some() && self.kept(*slot).is_none());
        slots.map(|(slot, _)| slot).collect()
    }

    /// Puts an observer back into the slot that it had.
    pub(in crate::world::reactions) fn put_back(
        &mut self,
        slot: u32,
        mut kept: Box<Kept>,
        handler: KeptHandler,
        image: &ObserversImage,
    ) {
        if self.slots.len() < image.slots.len() {
            self.slots.resize_with(image.slots.len(), Slot::default);
        }
        if let Some((_, entities)) = &image.slots[slot as usize].kept {
            kept.observer.entities.clone_from(entities);
        }
        self.fill(slot, kept, handler);
    }

    /// Takes over the rest of an image whose observers are there, and no others.
    pub(in crate::world::reactions) fn finish_restore(&mut self, image: &Arc<ObserversImage>) {
        self.slots.resize_with(image.slots.len(), Slot::default);
        for (slot, then) in self.slots.iter_mut().zip(&image.slots) {
            slot.generation = then.generation;
        }
        self.free.clone_from(&image.free);
        self.registered = image.registered;
        self.order.set_unsorted();
        self.image = Some(Arc::clone(image));
    }

    /// The handlers, in the order of slots.
    pub(in crate::world::reactions) fn handlers_mut(
        &mut self,
    ) -> impl Iterator<Item = &mut Box<dyn Handler>> {
        self.slots.iter_mut().filter_map(|slot| slot.handler.get_mut().as_mut())
    }
}
