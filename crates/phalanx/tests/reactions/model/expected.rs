//! What has to be announced: worked out from what an entity had, what it has, and what got a value.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;

use super::Pair;
use super::listeners::{Event, Observing, QUERIES, Reaction, in_order, matches};
use super::naive::{A, C, Naive, S, T, parts_of};

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Insert(u32, u32, bool),
    Remove(u32),
    Despawn,
}

/// Systems that read what was collected, and what they should find.
pub(super) struct Readers {
    pub(super) reactive: Reader,
    pub(super) removed: Reader,
    pub(super) collected: Vec<Entity>,
    pub(super) gone: Vec<Entity>,
}
pub(super) type Reader = Box<dyn FnMut(&mut World) -> Vec<Entity>>;

impl Readers {
    pub(super) fn new(world: &mut World) -> Self {
        type Collected = (Add<A>, Remove<S>, Matched<(&'static S, &'static T)>);
        let reactive =
            world.register_system(|mut all: Reactive<Collected>| all.read().collect::<Vec<Entity>>());
        let removed =
            world.register_system(|mut all: RemovedComponents<C>| all.read().collect::<Vec<Entity>>());
        let mut readers = Self {
            reactive: Box::new(move |world| world.run_system(reactive).expect("it is registered")),
            removed: Box::new(move |world| world.run_system(removed).expect("it is registered")),
            collected: Vec::new(),
            gone: Vec::new(),
        };
        assert!((readers.reactive)(world).is_empty() && (readers.removed)(world).is_empty());
        readers
    }

    pub(super) fn note(&mut self, event: Event, entity: Entity, part: usize) {
        match (event, part) {
            (Event::Add, 0) | (Event::Remove, 4) | (Event::Matched, 1) => self.collected.push(entity),
            (Event::Remove, 2) => self.gone.push(entity),
            _ => {}
        }
    }
}

impl Pair {
    /// An event of one entity is announced; also to observers of runs, unless it comes with others.
    pub(super) fn expect(&mut self, event: Event, entity: Entity, parts: &[(usize, u32)], in_run: bool) {
        if let Some(readers) = &mut self.readers {
            parts.iter().for_each(|&(part, _)| readers.note(event, entity, part));
        }
        let comes = matches!(event, Event::Add | Event::Insert);
        if comes {
            self.expect_hooks(event, entity, parts);
        }
        let mut heard = self.order.clone();
        heard.retain(|observing| observing.event == event && !(in_run && observing.takes_runs()));
        if !comes {
            heard.reverse();
        }
        for observing in heard {
            self.expect_call(&observing, &[entity], parts);
        }
        if !comes {
            self.expect_hooks(event, entity, parts);
        }
    }

    /// An observer is called with some entities, if they concern it.
    pub(super) fn expect_call(&mut self, observing: &Observing, entities: &[Entity], parts: &[(usize, u32)]) {
        let Observing { number, event, parts: watched, reaction, .. } = *observing;
        let (mut bits, mut sum) = (0, 0);
        for &(part, value) in parts.iter().filter(|(part, _)| watched & (1 << part) != 0) {
            bits |= 1 << part;
            sum += value;
        }
        let watches = |entity: &&Entity| observing.entity.is_none_or(|watched| watched == **entity);
        let entities: Vec<Entity> = entities.iter().filter(watches).copied().collect();
        if bits == 0 || entities.is_empty() || (observing.gated && !self.open) {
            return;
        }
        for entity in entities {
            self.expected.push((number, event, bits, entity, sum));
            let queued = self.rounds.last_mut().expect("events belong to a round");
            match reaction {
                Reaction::None | Reaction::Panic => {}
                Reaction::Tag => queued.push((entity, Step::Insert(6, 0, false))),
                Reaction::RemoveD => queued.push((entity, Step::Remove(3))),
                Reaction::DespawnOdd if entity.index() % 2 == 1 => queued.push((entity, Step::Despawn)),
                Reaction::DespawnOdd => {}
            }
        }
        self.expected_panics += u32::from(reaction == Reaction::Panic);
    }

    pub(super) fn expect_hooks(&mut self, event: Event, entity: Entity, parts: &[(usize, u32)]) {
        for &(part, value) in parts {
            if let Some(&panics) = self.hooked.get(&(part, event)) {
                self.expected.push((0, event, 1 << part, entity, value));
                self.expected_panics += u32::from(panics);
            }
        }
    }

    /// Entities begin or cease to match: each observer is called for all of them, at once or one by one.
    pub(super) fn expect_matches(
        &mut self,
        event: Event,
        entities: &[Entity],
        from: &BTreeMap<usize, u32>,
        to: &BTreeMap<usize, u32>,
    ) {
        let crossed: Vec<(usize, u32)> = (0..QUERIES)
            .filter(|&query| !matches(query, from) && matches(query, to))
            .map(|query| (query, 0))
            .collect();
        if let Some(readers) = &mut self.readers {
            for &(query, _) in &crossed {
                entities.iter().for_each(|&entity| readers.note(event, entity, query));
            }
        }
        for observing in self.order.clone() {
            if observing.event != event {
                continue;
            }
            if observing.batched {
                self.expect_call(&observing, entities, &crossed);
            } else {
                entities.iter().for_each(|&entity| self.expect_call(&observing, &[entity], &crossed));
            }
        }
    }

    /// Announces one or several changes, and then applies what observers queued, entity by entity.
    pub(super) fn round(&mut self, changes: impl FnOnce(&mut Self)) {
        self.rounds.push(Vec::new());
        changes(self);
        let mut chains: Vec<(Entity, Vec<Step>)> = Vec::new();
        for (entity, step) in self.rounds.pop().expect("it was pushed above") {
            match chains.iter_mut().find(|chain| chain.0 == entity) {
                Some(chain) => chain.1.push(step),
                None => chains.push((entity, vec![step])),
            }
        }
        let dies = |steps: &[Step]| steps.iter().any(|step| matches!(step, Step::Despawn));
        for (entity, steps) in chains.iter().filter(|chain| !dies(&chain.1)) {
            self.apply(*entity, steps);
        }
        for (entity, _) in chains.iter().filter(|chain| dies(&chain.1)) {
            self.despawned(*entity);
        }
    }

    /// Several commands on one entity, as one move.
    pub(super) fn apply(&mut self, entity: Entity, steps: &[Step]) {
        let mut steps = steps.to_vec();
        if self.world.flush_order() == FlushOrder::Staged {
            steps.sort_by_key(|step| matches!(step, Step::Remove(_)));
        }
        self.change(entity, |naive| {
            let mut fresh = BTreeSet::new();
            for step in steps {
                match step {
                    Step::Insert(which, v, replace) => {
                        fresh.extend(naive.insert(&parts_of(which), v, replace).unwrap_or_default());
                    }
                    Step::Remove(which) => {
                        if naive.remove(&parts_of(which)) {
                            fresh.retain(|part| !parts_of(which).contains(part));
                        }
                    }
                    Step::Despawn => {}
                }
            }
            fresh
        });
    }

    /// Works out what has to be announced of a change, given what the entity had, and what got a value.
    pub(super) fn differ(&mut self, entity: Entity, before: &Naive, fresh: &BTreeSet<usize>) {
        let after = self.naive.get(&entity).cloned();
        let old = before.parts.clone();
        let gone = |part: &usize| !after.as_ref().is_some_and(|after| after.parts.contains_key(part));
        let removed: Vec<_> = old.iter().filter(|(part, _)| gone(part)).map(|(&p, &v)| (p, v)).collect();
        let discarded: Vec<_> = old
            .iter()
            .filter(|(part, _)| gone(part) || fresh.contains(part))
            .map(|(&p, &v)| (p, v))
            .collect();
        if after.is_none() {
            self.expect(Event::Despawn, entity, &removed, false);
        }
        self.expect(Event::Discard, entity, &discarded, false);
        self.expect(Event::Remove, entity, &removed, false);
        let new = after.map(|after| after.parts).unwrap_or_default();
        self.expect_matches(Event::Unmatched, &[entity], &new, &old);
        let added = new.iter().filter(|(part, _)| !old.contains_key(part)).map(|(&p, &v)| (p, v));
        let added: Vec<_> = added.collect();
        self.expect(Event::Add, entity, &added, false);
        let inserted = new.iter().filter(|(p, _)| fresh.contains(p) || !old.contains_key(p));
        let inserted: Vec<_> = inserted.map(|(&p, &v)| (p, v)).collect();
        self.expect(Event::Insert, entity, &inserted, false);
        self.expect_matches(Event::Matched, &[entity], &old, &new);
    }

    /// Entities with the same components came at once.
    pub(super) fn came_together(&mut self, entities: &[Entity], parts: &BTreeMap<usize, u32>) {
        let values: Vec<_> = parts.iter().map(|(&p, &v)| (p, v)).collect();
        for &entity in entities {
            self.expect(Event::Add, entity, &values, true);
            self.expect(Event::Insert, entity, &values, true);
        }
        for event in [Event::Add, Event::Insert] {
            for observing in self.order.clone() {
                if observing.event == event && observing.takes_runs() {
                    self.expect_call(&observing, entities, &values);
                }
            }
        }
        self.expect_matches(Event::Matched, entities, &BTreeMap::new(), parts);
    }

    /// Changes one entity of the naive world, and works out the events.
    pub(super) fn change(&mut self, entity: Entity, change: impl FnOnce(&mut Naive) -> BTreeSet<usize>) {
        let Some(naive) = self.naive.get_mut(&entity) else { return };
        let before = naive.clone();
        let fresh = change(naive);
        self.round(|pair| pair.differ(entity, &before, &fresh));
    }

    /// Entities that were spawned at once: all are there before the first is announced.
    pub(super) fn spawned(&mut self, entities: &[Entity], parts: &[usize], v: u32) {
        let mut naive = Naive::default();
        let fresh = naive.insert(parts, v, true).unwrap_or_default();
        self.naive.extend(entities.iter().map(|&entity| (entity, naive.clone())));
        self.round(|pair| match *entities {
            [entity] => pair.differ(entity, &Naive::default(), &fresh),
            _ => pair.came_together(entities, &naive.parts),
        });
    }

    pub(super) fn despawned(&mut self, entity: Entity) {
        if let Some(before) = self.naive.remove(&entity) {
            self.round(|pair| pair.differ(entity, &before, &BTreeSet::new()));
            self.observing.retain(|observing| observing.entity != Some(entity));
            self.order = in_order(&self.observing).expect("without some there is no circle either");
        }
    }
}
