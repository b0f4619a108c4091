//! The observers of a world: which are called for which event, in which order.
//!
//! An observer is a slot, not an entity. Lists say who observes an event: all of its type, those of a component, those
//! of an entity; an observer that is found in several of them is called once. They run in order of registration, as far as
//! `before` and `after` do not say otherwise, and in reverse on the way out.
//!
//! This file knows no systems: an observer is a [`Handler`].

use std::any::TypeId;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use phalanx_store::Entity;
use phalanx_store::sorting;

use super::Lifecycle;
use super::by_key::EventKey;
use super::events::{Event, Heard, Origin};
use super::image::Retired;
use super::order::{ObserverCycle, Order};
use super::reactive::Listener;
use crate::bundle::Bundle;
use crate::capture::StateVisitor;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;
use crate::world::failure::BoxedError;

pub(super) use image::ObserversImage;

mod call;
mod image;

/// An observer of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObserverId {
    pub(super) slot: u32,
    generation: u32,
}

/// What an observer is called with.
pub(crate) struct Call<'a> {
    pub(crate) heard: Heard<'a>,
    pub(crate) observer: ObserverId,
}

/// What an observer does.
pub(crate) trait Handler: Send {
    /// Runs it; what it queues goes to the world.
    fn run(&mut self, world: &mut World, call: Call<'_>) -> Result<(), BoxedError>;
    /// Forgets what it queued, after a panic.
    fn discard(&mut self);
    /// Shows what it keeps from run to run, for checkpoints.
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor);
}

/// An observer, and what is said about it.
pub(crate) struct NewObserver {
    pub(crate) name: String,
    /// What tells observers of the same function from others.
    pub(crate) key: TypeId,
    pub(crate) event: EventKey,
    pub(crate) lifecycle: Option<Lifecycle>,
    /// Of a lifecycle event: the components, or all if there are none.
    pub(crate) components: Signature,
    /// The entities in ascending order, or all if there are none.
    pub(crate) entities: Vec<Entity>,
    pub(crate) before: Vec<TypeId>,
    pub(crate) after: Vec<TypeId>,
    /// Whether it is called once for a run of entities.
    pub(crate) batched: bool,
    /// Where the event comes from, if not from a lifecycle or a program.
    pub(crate) origin: Option<Origin>,
}

pub(super) struct Kept {
    observer: NewObserver,
    /// When it was registered.
    born: u64,
    /// Its place in the order.
    rank: u64,
    /// What tells it from all others. Checkpoints that know it have copies.
    token: Arc<()>,
}

impl Kept {
    /// Whether a checkpoint knows it.
    pub(super) fn is_known(&self) -> bool {
        Arc::strong_count(&self.token) > 1
    }

    /// The components that it observes, if any.
    pub(super) fn heard(&self) -> Option<Signature> {
        self.observer.lifecycle.map(|_| self.observer.components.clone())
    }
}

impl NewObserver {
    /// Whether it is called once for a run of entities that come at once: an observer of some of them hears of each
    /// for itself.
    fn takes_runs(&self) -> bool {
        self.batched && self.entities.is_empty()
    }
}

/// The place of one observer. What calls need is in it, and what else is known of the observer is not.
#[derive(Default)]
struct Slot {
    generation: u32,
    handler: KeptHandler,
    kept: Option<Box<Kept>>,
}

/// A handler, except while it runs. It need not be `Sync`: the lock makes the whole so, and is never taken.
#[derive(Default)]
pub(super) struct KeptHandler(Mutex<Option<Box<dyn Handler>>>);

impl KeptHandler {
    fn new(handler: Box<dyn Handler>) -> Self {
        Self(Mutex::new(Some(handler)))
    }

    #[inline]
    fn get_mut(&mut self) -> &mut Option<Box<dyn Handler>> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The observers of one lifecycle event.
#[derive(Default)]
struct List {
    /// Those of all components, in order.
    any: Vec<u32>,
    /// Indexed by component: its observers, in order.
    by_component: Vec<Vec<u32>>,
    /// Those of single entities.
    of_entities: usize,
    /// Those that are called once per entity.
    single: usize,
    /// Those that are called once for a run.
    batched: usize,
}

/// The observers of one world.
#[derive(Default)]
pub(crate) struct Observers {
    slots: Vec<Slot>,
    free: Vec<u32>,
    lifecycle: [List; Lifecycle::COUNT],
    /// The observers of other events, by type, in order.
    by_event: HashMap<TypeId, Vec<u32>>,
    /// The observers of single entities, of whatever event, in order.
    by_entity: HashMap<Entity, Vec<u32>>,
    /// How many listen to all components, and so to new ones as well.
    of_everything: u32,
    pub(super) order: Order,
    registered: u64,
    /// What the last checkpoint keeps of them, if nothing came or went since.
    image: Option<Arc<ObserversImage>>,
    /// Memory kept between calls.
    spare: Vec<Vec<u32>>,
}

impl Observers {
    fn kept(&self, slot: u32) -> Option<&Kept> {
        self.slots.get(slot as usize)?.kept.as_deref()
    }

    /// Whether an observer is still there.
    pub(super) fn contains(&self, id: ObserverId) -> bool {
        self.slots
            .get(id.slot as usize)
            .is_some_and(|slot| slot.generation == id.generation && slot.kept.is_some())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The place of an observer in the order.
    pub(super) fn rank(&self, slot: u32) -> u64 {
        self.kept(slot).map_or(0, |kept| kept.rank)
    }

    /// Whether an observer is called once for a run.
    pub(super) fn is_batched(&self, slot: u32) -> bool {
        self.kept(slot).is_some_and(|kept| kept.observer.batched)
    }

    /// Whether an observer is called for an entity.
    pub(super) fn watches(&self, slot: u32, entity: Entity) -> bool {
        let entities = self.kept(slot).map(|kept| &kept.observer.entities);
        entities.is_some_and(|entities| entities.is_empty() || entities.binary_search(&entity).is_ok())
    }

    /// Whether an event of this type has observers.
    pub(super) fn has_event<E: Event>(&self) -> bool {
        self.by_event.get(&TypeId::of::<E>()).is_some_and(|list| !list.is_empty())
    }

    /// Whether some observers are those of single entities.
    pub(super) fn has_entities(&self) -> bool {
        !self.by_entity.is_empty()
    }

    /// Whether some observers are those of this entity, of whatever event.
    #[inline]
    pub(super) fn observes(&self, entity: Entity) -> bool {
        !self.by_entity.is_empty() && self.by_entity.contains_key(&entity)
    }

    /// Whether an observer is not one of single entities.
    pub(super) fn hears_of_all(&self, slot: u32) -> bool {
        self.kept(slot).is_some_and(|kept| kept.observer.entities.is_empty())
    }

    /// The observers of a lifecycle event of some components, whatever the entity, in the order in which they are
    /// called; and whether each of them takes runs.
    pub(super) fn who_hears(&mut self, event: Lifecycle, ids: &Signature) -> Box<[(u32, bool)]> {
        let mut found = self.collect(None, Who::Lifecycle(event, ids));
        if event.is_leaving() {
            found.reverse();
        }
        let takes_runs = |slot: u32| self.kept(slot).is_some_and(|kept| kept.observer.takes_runs());
        let who = found.iter().map(|&slot| (slot, takes_runs(slot))).collect();
        self.spare.push(found);
        who
    }

    /// How many listen to every component.
    pub(super) fn of_everything(&self) -> u32 {
        self.of_everything
    }

    /// Whether an observer is called once per entity, or for a run as a whole.
    pub(super) fn kinds(&self, event: Lifecycle) -> (bool, bool) {
        let list = &self.lifecycle[event as usize];
        (list.single > 0, list.batched > 0)
    }

    /// Calls a function for each list that an observer stands in.
    fn each_list(&mut self, slot: u32, f: &dyn Fn(&mut Vec<u32>)) {
        let Self { slots, lifecycle, by_event, by_entity, .. } = self;
        let Some(kept) = slots[slot as usize].kept.as_ref() else { return };
        let observer = &kept.observer;
        if !observer.entities.is_empty() {
            observer.entities.iter().for_each(|&entity| f(by_entity.entry(entity).or_default()));
            return;
        }
        match observer.lifecycle {
            None => f(by_event.entry(observer.event.type_id()).or_default()),
            Some(event) if observer.components.is_empty() => f(&mut lifecycle[event as usize].any),
            Some(event) => {
                let lists = &mut lifecycle[event as usize].by_component;
                for id in &observer.components {
                    if lists.len() <= id.index() {
                        lists.resize_with(id.index() + 1, Vec::new);
                    }
                    f(&mut lists[id.index()]);
                }
            }
        }
    }

    fn insert(&mut self, observer: NewObserver, handler: Box<dyn Handler>) -> ObserverId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 observers")
        });
        self.registered += 1;
        let born = self.registered;
        // The last one has the highest rank, until the order is worked out.
        let kept = Kept { observer, born, rank: born, token: Arc::default() };
        self.fill(slot, Box::new(kept), KeptHandler::new(handler));
        ObserverId { slot, generation: self.slots[slot as usize].generation }
    }

    /// Puts an observer into a slot that is empty, and at the end of its lists.
    fn fill(&mut self, slot: u32, kept: Box<Kept>, handler: KeptHandler) {
        self.image = None;
        let observer = &kept.observer;
        if let Some(event) = observer.lifecycle {
            let list = &mut self.lifecycle[event as usize];
            list.of_entities += usize::from(!observer.entities.is_empty());
            list.single += usize::from(!observer.takes_runs());
            list.batched += usize::from(observer.takes_runs());
            self.of_everything += u32::from(observer.components.is_empty());
        }
        self.order.add(observer);
        let place = &mut self.slots[slot as usize];
        (place.kept, place.handler) = (Some(kept), handler);
        self.each_list(slot, &|list| list.push(slot));
    }

    fn remove(&mut self, id: ObserverId) -> Option<(Box<Kept>, KeptHandler)> {
        if !self.contains(id) {
            return None;
        }
        self.image = None;
        self.each_list(id.slot, &|list| list.retain(|&slot| slot != id.slot));
        let slot = &mut self.slots[id.slot as usize];
        slot.generation += 1;
        self.free.push(id.slot);
        let (kept, handler) = (slot.kept.take()?, std::mem::take(&mut slot.handler));
        self.order.remove(&kept.observer);
        for entity in &kept.observer.entities {
            if self.by_entity.get(entity).is_some_and(Vec::is_empty) {
                self.by_entity.remove(entity);
            }
        }
        if let Some(event) = kept.observer.lifecycle {
            let list = &mut self.lifecycle[event as usize];
            list.of_entities -= usize::from(!kept.observer.entities.is_empty());
            list.single -= usize::from(!kept.observer.takes_runs());
            list.batched -= usize::from(kept.observer.takes_runs());
            self.of_everything -= u32::from(kept.observer.components.is_empty());
        }
        Some((kept, handler))
    }

    /// All observers: when each was registered, its slot, and what is said about it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u32, &NewObserver)> {
        let slots = (0..self.slots.len()).filter_map(|slot| u32::try_from(slot).ok());
        slots.filter_map(|slot| self.kept(slot).map(|kept| (kept.born, slot, &kept.observer)))
    }

    /// Gives all observers their places in the order, and sorts the lists by them.
    pub(super) fn put_in_order(&mut self, order: &[u32]) {
        for (rank, &slot) in order.iter().enumerate() {
            if let Some(kept) = &mut self.slots[slot as usize].kept {
                kept.rank = rank as u64;
            }
        }
        let Self { slots, lifecycle, by_event, by_entity, .. } = self;
        let rank = |slot: &u32| slots[*slot as usize].kept.as_ref().map_or(0, |kept| kept.rank);
        let lists = lifecycle.iter_mut().flat_map(|list| list.by_component.iter_mut().chain([&mut list.any]));
        // Each list is sorted for itself, so it does not matter in which order that happens.
        for list in by_event.values_mut().chain(by_entity.values_mut()) {
            sorting::sort_by_key(list, rank);
        }
        lists.for_each(|list| sorting::sort_by_key(list, rank));
    }

    /// All observers in the order in which they were registered.
    pub(super) fn list(&self) -> Vec<(ObserverId, &NewObserver)> {
        let mut all: Vec<_> = self.iter().collect();
        sorting::sort_by_key(&mut all, |(born, ..)| *born);
        let id = |slot: u32| ObserverId { slot, generation: self.slots[slot as usize].generation };
        all.into_iter().map(|(_, slot, observer)| (id(slot), observer)).collect()
    }

    /// The observers of an event, in order.
    fn collect(&mut self, entity: Option<Entity>, who: Who<'_>) -> Vec<u32> {
        let mut found = self.spare.pop().unwrap_or_default();
        found.clear();
        let mut lists = 0;
        let mut take = |found: &mut Vec<u32>, list: &[u32]| {
            if !list.is_empty() {
                found.extend_from_slice(list);
                lists += 1;
            }
        };
        let of_entities = match who {
            Who::Event(event) => {
                if let Some(list) = self.by_event.get(&event) {
                    take(&mut found, list);
                }
                true
            }
            Who::Lifecycle(event, ids) => {
                let list = &self.lifecycle[event as usize];
                take(&mut found, &list.any);
                for id in ids {
                    if let Some(list) = list.by_component.get(id.index()) {
                        take(&mut found, list);
                    }
                }
                list.of_entities > 0
            }
        };
        if of_entities && let Some(list) = entity.and_then(|entity| self.by_entity.get(&entity)) {
            let before = found.len();
            found.extend(list.iter().filter(|&&slot| {
                let Some(kept) = self.kept(slot) else { return false };
                match who {
                    Who::Event(event) => kept.observer.event.type_id() == event,
                    Who::Lifecycle(event, ids) => {
                        let components = &kept.observer.components;
                        kept.observer.lifecycle == Some(event)
                            && (components.is_empty() || components.overlaps(ids))
                    }
                }
            }));
            lists += usize::from(found.len() > before);
        }
        if lists > 1 {
            sorting::sort_by_key(&mut found, |&slot| self.kept(slot).map_or(0, |kept| kept.rank));
            found.dedup();
        }
        found
    }
}

/// What is called.
#[derive(Clone, Copy)]
pub(super) enum Who<'a> {
    /// The observers of an event that a program triggers.
    Event(TypeId),
    /// The observers of a lifecycle event of some components.
    Lifecycle(Lifecycle, &'a Signature),
}

impl World {
    /// Registers an observer.
    pub(crate) fn insert_observer(
        &mut self,
        mut observer: NewObserver,
        handler: Box<dyn Handler>,
    ) -> Result<ObserverId, ObserverCycle> {
        self.reactions.plans.forget();
        sorting::sort(&mut observer.entities);
        observer.entities.dedup();
        let heard = observer.lifecycle.map(|_| observer.components.clone());
        let origin = observer.origin.take();
        let id = self.reactions.observers.insert(observer, handler);
        let observers = &mut self.reactions.observers;
        let may_close =
            observers.kept(id.slot).is_some_and(|kept| observers.order.may_close_a_circle(&kept.observer));
        if may_close && let Err(cycle) = observers.in_order() {
            observers.remove(id);
            return Err(cycle);
        }
        if let Some(heard) = heard {
            self.for_heard(&heard, Self::listen);
        }
        match origin {
            None => self.update_polled(),
            Some(Origin::Mutated(find)) => self.add_poll(Listener::Observer(id), find),
            Some(Origin::Matches(border, condition)) => {
                self.add_matcher(Listener::Observer(id), border, condition);
            }
        }
        self.update_active();
        Ok(id)
    }

    /// Removes an observer. False when there is no such observer, or it was removed already.
    pub fn remove_observer(&mut self, id: ObserverId) -> bool {
        let before = self.reactions.observers.len();
        // One that is not kept for a checkpoint is dropped last: it may hold anything.
        drop(self.take_observer(id));
        self.reactions.observers.len() < before
    }

    /// As [`World::remove_observer`]; one that no checkpoint knows is handed back.
    pub(super) fn take_observer(&mut self, id: ObserverId) -> Option<Retired> {
        self.reactions.plans.forget();
        let (kept, handler) = self.reactions.observers.remove(id)?;
        if let Some(heard) = kept.heard() {
            self.for_heard(&heard, Self::stop_listening);
        }
        let matchers = self.remove_matchers(|listener| *listener == Listener::Observer(id));
        let polls = self.remove_polls(|listener| *listener == Listener::Observer(id));
        self.update_active();
        self.retire(kept, handler, matchers, polls)
    }

    /// The components of a bundle type, in tables and in sets.
    pub(crate) fn components_of<B: Bundle>(&mut self) -> Signature {
        let bundle = self.bundle::<B>();
        self.bundles.info(bundle).explicit()
    }

    /// How many observers there are.
    pub fn observer_count(&self) -> usize {
        self.reactions.observers.len()
    }

    pub(super) fn for_heard(&mut self, components: &Signature, mut f: impl FnMut(&mut Self, ComponentId)) {
        if components.is_empty() {
            (0..self.components.len()).for_each(|at| f(self, ComponentId::from_index(at)));
        } else {
            components.iter().for_each(|id| f(self, id));
        }
    }

    /// Forgets that an entity was observed, which is gone; those that observed no other are removed.
    pub(crate) fn forget_observed(&mut self, entity: Entity) {
        let Some(slots) = self.reactions.observers.by_entity.get(&entity).cloned() else { return };
        for slot in slots {
            let Some(found) = self.reactions.observers.slots.get_mut(slot as usize) else { continue };
            let id = ObserverId { slot, generation: found.generation };
            let Some(kept) = &mut found.kept else { continue };
            if kept.observer.entities.iter().all(|&watched| watched == entity) {
                self.remove_observer(id);
            } else {
                kept.observer.entities.retain(|&watched| watched != entity);
                self.reactions.observers.image = None;
            }
        }
        self.reactions.observers.by_entity.remove(&entity);
        if !self.reactions.observers.has_entities() {
            // From now on the table of an entity tells more.
            self.reactions.plans.forget();
        }
        self.update_active();
    }
}
