//! What is announced at sync points: values that were written, archetypes that came and went.
//!
//! Writing a value must not cost more because there is a listener, so none is told at once. When commands are applied
//! between systems, and at the end of each phase, the ticks of rows say which values are newer than the last time, and
//! the journal of archetypes says what came and went. Only observers that ask for it cause that to be looked at.

use phalanx_store::{ColId, Entity, FirstPanic, Tick};

use super::ObserverId;
use super::chain::Cause;
use super::events::{
    ArchetypeCreated, ArchetypeDropped, EntityComponentsTrigger, Heard, MutateEvent, OwnEvent, Run,
};
use super::reactive::Listener;
use crate::archetype::Change;
use crate::component::RowTracked;
use crate::query::Changed;
use crate::signature::Signature;
use crate::storage::Storage;
use crate::world::World;

/// How written values of a component are found.
#[derive(Clone, Copy)]
pub(crate) struct FindMutated {
    /// Finds the entities whose value was written after a moment, other than by coming.
    find: fn(&mut World, Tick) -> Vec<Entity>,
    /// Whether an entity has a value.
    has: fn(&World, Entity) -> bool,
}

impl FindMutated {
    pub(super) fn of<T: RowTracked>() -> Self {
        Self {
            find: find_mutated::<T>,
            has: |world, entity| row_tick::<T>(world, entity, T::changed_id()).is_some(),
        }
    }
}

/// An observer, or a set, that is notified at sync points.
pub(crate) struct Poll {
    pub(super) listener: Listener,
    find: FindMutated,
    pub(super) since: Tick,
}

/// A tick of an entity's value; `None` when it has none.
fn row_tick<T: RowTracked>(world: &World, entity: Entity, of: ColId<Tick>) -> Option<Tick> {
    world.store.get::<<T::Storage as Storage>::TickRef>(entity, of).copied()
}

fn find_mutated<T: RowTracked>(world: &mut World, since: Tick) -> Vec<Entity> {
    let last = std::mem::replace(&mut world.last_tick, since);
    let mut state = world.query_filtered::<Entity, Changed<T>>();
    let mut found: Vec<Entity> = state.iter(world).collect();
    world.last_tick = last;
    let tick = |entity: Entity, of| row_tick::<T>(world, entity, of);
    found.retain(|&entity| tick(entity, T::changed_id()) != tick(entity, T::added_id()));
    found
}

impl World {
    pub(super) fn add_poll(&mut self, listener: Listener, find: FindMutated) {
        let since = self.store.tick();
        self.store.advance_tick();
        self.reactions.polls.push(Poll { listener, find, since });
        self.update_polled();
    }

    /// Takes the polls out whose listener is gone.
    pub(super) fn remove_polls(&mut self, is_gone: impl Fn(&Listener) -> bool) -> Vec<Poll> {
        let polls = self.reactions.polls.extract_if(.., |poll| is_gone(&poll.listener)).collect();
        self.update_polled();
        polls
    }

    /// Begins or ends to follow the archetypes, when their observers come and go.
    pub(super) fn update_polled(&mut self) {
        let observers = &self.reactions.observers;
        let follows = observers.has_event::<ArchetypeCreated>() || observers.has_event::<ArchetypeDropped>();
        self.archetypes.follow(follows);
        self.reactions.polled = follows || !self.reactions.polls.is_empty();
    }

    /// Announces what is due at sync points; nothing inside an announcement. All listeners run although commands or
    /// the error handler panic; the first panic is passed on in the end.
    #[cold]
    pub(crate) fn tell_at_sync_point(&mut self) {
        if !self.reactions.chain.is_empty() || self.reactions.handling > 0 {
            return;
        }
        if self.reactions.observers.order.is_unsorted() {
            self.sort_observers();
        }
        let mut panics = FirstPanic::default();
        let changes = self.archetypes.followed().map(std::mem::take).unwrap_or_default();
        self.tell_of_archetypes(changes, &mut panics);
        let mut found = Vec::new();
        for at in 0..self.reactions.polls.len() {
            let Poll { ref listener, find, since } = self.reactions.polls[at];
            let listener = listener.clone();
            found.push((listener, find, (find.find)(self, since)));
        }
        let now = self.store.tick();
        self.reactions.polls.iter_mut().for_each(|poll| poll.since = now);
        self.store.advance_tick();
        for (at, (listener, find, mut entities)) in found.into_iter().enumerate() {
            if at > 0 {
                // Commands of those before may have despawned some, or taken the value.
                entities.retain(|&entity| (find.has)(self, entity));
            }
            if entities.is_empty() {
                continue;
            }
            match listener {
                Listener::Observer(observer) => {
                    panics.guard(|| self.tell_of_mutation(observer, entities));
                }
                Listener::Set(set) => self.put_into_set(&set, &entities),
            }
        }
        panics.resume();
    }

    fn tell_of_archetypes(&mut self, changes: Vec<Change>, panics: &mut FirstPanic) {
        for change in changes {
            panics.guard(|| match change {
                Change::Created(id) => self.trigger(ArchetypeCreated(id)),
                Change::Dropped(id) => self.trigger(ArchetypeDropped(id)),
            });
        }
    }

    fn tell_of_mutation(&mut self, observer: ObserverId, mut entities: Vec<Entity>) {
        // What others queued may have removed it, and another one may have got its slot.
        if !self.reactions.observers.contains(observer) {
            return;
        }
        let round = self.begin(Cause::event("Mutate"));
        if round.heard {
            entities.retain(|&entity| self.reactions.observers.watches(observer.slot, entity));
            if self.reactions.observers.is_batched(observer.slot) {
                self.call_mutated(observer.slot, Run::many(entities.into()));
            } else {
                entities.into_iter().for_each(|entity| self.call_mutated(observer.slot, Run::one(entity)));
            }
        }
        self.end_round(round, Ok(()));
    }

    fn call_mutated(&mut self, slot: u32, entities: Run) {
        let Some(&entity) = entities.as_slice().first() else { return };
        let trigger = EntityComponentsTrigger { components: Signature::empty(), entities };
        let mut event = (OwnEvent::Mutate(MutateEvent { entity }), trigger);
        self.call_observer(slot, Heard::Own(&mut event));
    }
}
