//! The steps of the model: each changes both worlds, by one of the paths on which components come and go.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;

use super::Pair;
use super::expected::Step;
use super::listeners::{
    EVENTS, Event, Heard, NAMED, Observing, Open, QUERIES, Reaction, in_order, observer, register,
};
use super::naive::{A, B, BUNDLES, C, D, HERD, Herd, Naive, PARTS, REQUIRED, S, T, Tag, parts_of};

impl Pair {
    pub(super) fn step(&mut self) {
        let (which, v, kind) = (self.below(BUNDLES), self.below(1000), self.below(44));
        match kind {
            40..=41 => self.observe(v),
            42 => {
                self.open = v.is_multiple_of(2);
                self.world.resource_mut::<Open>().0 = self.open;
            }
            43 => self.read(),
            0 if v < 300 => self.hook(),
            0 => self.observe(v),
            1..=4 => {
                let entity = with_bundle!(which, v, |bundle: Ty, parts| self.world.spawn(bundle).id());
                self.spawned(&[entity], &parts_of(which), v);
            }
            5 => {
                let count = self.below(5);
                let entities: Vec<Entity> = with_bundle!(which, v, |bundle: Ty, parts| {
                    let bundles = (0..count).map(|_| bundle.clone());
                    self.world.spawn_batch(bundles).collect()
                });
                self.spawned(&entities, &parts_of(which), v);
            }
            6 => {
                let entity =
                    self.world.spawn_in(Herd { a: A(v), c: v.is_multiple_of(2).then(|| C(v)), s: None });
                self.naive.insert(entity, Naive { herd: true, parts: BTreeMap::new() });
                let parts: &[usize] = if v.is_multiple_of(2) { &[0, 2] } else { &[0] };
                self.change(entity, |naive| naive.insert(parts, v, true).unwrap_or_default());
            }
            7 => self.herds(v),
            8 => {
                let Some(entity) = self.entity() else { return };
                let (from, into_herd) = (self.naive[&entity].clone(), v.is_multiple_of(2));
                let fits = !from.herd && from.parts.keys().all(|part| HERD.contains(part));
                if from.herd {
                    self.world.migrate::<Herd, General>(entity).expect("General takes all");
                    self.naive.get_mut(&entity).expect("it lives").herd = false;
                } else if fits && into_herd {
                    self.world.migrate_with::<General, Herd, _>(entity, (A(v), S(v))).expect("it fits");
                    self.naive.get_mut(&entity).expect("it lives").herd = true;
                    self.change(entity, |naive| naive.insert(&[0, 4], v, true).unwrap_or_default());
                }
            }
            9 => {
                let Some(entity) = self.entity() else { return };
                let ids: Vec<_> =
                    self.world.components().iter().map(phalanx::registry::ComponentInfo::id).collect();
                let part = (which % 7) as usize;
                let _ = self.world.remove_by_id(entity, ids[part]);
                self.change(entity, |naive| {
                    naive.remove(&[part]);
                    BTreeSet::new()
                });
            }
            10 => {
                let Some(entity) = self.entity() else { return };
                let kept =
                    with_bundle!(which, v, |bundle: Ty, parts| self.world.retain::<Ty>(entity)).is_ok();
                let parts = parts_of(which);
                let stays = |part: usize| {
                    parts.contains(&part)
                        || REQUIRED.iter().any(|&(who, what, _)| what == part && parts.contains(&who))
                };
                self.change(entity, |naive| {
                    let gone: Vec<usize> = naive.parts.keys().copied().filter(|&part| !stays(part)).collect();
                    assert_eq!(kept, !naive.herd || stays(0));
                    if kept {
                        naive.remove(&gone);
                    }
                    BTreeSet::new()
                });
            }
            11 => {
                let Some(entity) = self.entity() else { return };
                let taken =
                    with_bundle!(which, v, |bundle: Ty, parts| self.world.take::<Ty>(entity).is_some());
                let parts = parts_of(which);
                self.change(entity, |naive| {
                    let has = parts.iter().all(|part| naive.parts.contains_key(part));
                    assert_eq!(taken, has && !(naive.herd && parts.contains(&0)));
                    if taken {
                        naive.remove(&parts);
                    }
                    BTreeSet::new()
                });
            }
            12 => self.whole_archetype(which, v),
            13 if v < 20 => {
                let all: Vec<Entity> = self.world.entities().iter().collect();
                self.world.clear_entities();
                all.into_iter().for_each(|entity| self.despawned(entity));
            }
            14 => {
                let some: Vec<Entity> = (0..3).filter_map(|_| self.entity()).collect();
                self.world.despawn_batch(some.clone());
                some.into_iter().for_each(|entity| self.despawned(entity));
            }
            15 => {
                let some: Vec<Entity> = (0..3).filter_map(|_| self.entity()).collect();
                with_bundle!(which, v, |bundle: Ty, parts| {
                    self.world.insert_batch(some.iter().map(|&entity| (entity, bundle.clone())));
                });
                let parts = parts_of(which);
                for entity in some {
                    self.change(entity, |naive| naive.insert(&parts, v, true).unwrap_or_default());
                }
            }
            16 => drop(self.world.drop_empty_archetypes()),
            17..=19 => {
                let Some(entity) = self.entity() else { return };
                assert!(self.world.despawn(entity));
                self.despawned(entity);
            }
            20..=24 => {
                let Some(entity) = self.entity() else { return };
                let _ = with_bundle!(which, v, |bundle: Ty, parts| self.world.remove::<Ty>(entity));
                let parts = parts_of(which);
                self.change(entity, |naive| {
                    naive.remove(&parts);
                    BTreeSet::new()
                });
            }
            25..=30 => self.commands(),
            _ => {
                let Some(entity) = self.entity() else { return };
                let replace = kind < 37;
                with_bundle!(which, v, |bundle: Ty, parts| {
                    let mut entity = self.world.entity_mut(entity);
                    if replace {
                        let _ = entity.try_insert(bundle);
                    } else if !self.naive[&entity.id()].herd {
                        entity.insert_if_new(bundle);
                    }
                });
                let parts = parts_of(which);
                self.change(entity, |naive| {
                    if !replace && naive.herd {
                        return BTreeSet::new();
                    }
                    naive.insert(&parts, v, replace).unwrap_or_default()
                });
            }
        }
    }

    pub(super) fn hook(&mut self) {
        let part = self.random.below(PARTS);
        let event = EVENTS[self.below(5) as usize];
        let panics = self.below(5) == 0;
        if self.hooked.contains_key(&(part, event)) {
            return;
        }
        self.hooked.insert((part, event), panics);
        match part {
            0 => register(&mut self.world.register_component_hooks::<A>(), event, panics),
            1 => register(&mut self.world.register_component_hooks::<B>(), event, panics),
            2 => register(&mut self.world.register_component_hooks::<C>(), event, panics),
            3 => register(&mut self.world.register_component_hooks::<D>(), event, panics),
            4 => register(&mut self.world.register_component_hooks::<S>(), event, panics),
            5 => register(&mut self.world.register_component_hooks::<T>(), event, panics),
            _ => register(&mut self.world.register_component_hooks::<Tag>(), event, panics),
        }
    }

    /// Adds an observer, or removes one.
    pub(super) fn observe(&mut self, v: u32) {
        if (v.is_multiple_of(3) || self.observing.len() > 20) && !self.observing.is_empty() {
            let at = self.random.below(self.observing.len());
            let gone = self.observing.remove(at);
            assert!(self.world.remove_observer(gone.id.expect("it was added")));
            self.order = in_order(&self.observing).expect("without one there is no circle either");
            return;
        }
        let entity = if self.below(3) == 0 { self.entity() } else { None };
        let constraint = |pair: &mut Self| (pair.below(4) == 0).then(|| pair.below(NAMED));
        let (before, after) = (constraint(self), constraint(self));
        self.numbers += 1;
        let reactions = [
            Reaction::None,
            Reaction::None,
            Reaction::Tag,
            Reaction::RemoveD,
            Reaction::DespawnOdd,
            Reaction::Panic,
        ];
        let mut observing = Observing {
            number: self.numbers,
            id: None,
            event: EVENTS[self.random.below(5)],
            parts: 1 + self.below((1 << PARTS) - 1),
            entity,
            reaction: reactions[self.random.below(reactions.len())],
            batched: self.below(3) == 0,
            gated: self.below(5) == 0,
            name: None,
            before,
            after,
        };
        match self.below(8) {
            0 | 1 => {
                let name = self.below(NAMED);
                let (number, event, parts) = (10_000 + name, Event::Add, 1);
                let (reaction, batched) = (Reaction::None, false);
                observing =
                    Observing { number, event, parts, reaction, batched, name: Some(name), ..observing };
            }
            2 | 3 => {
                observing.event = if self.below(2) == 0 { Event::Matched } else { Event::Unmatched };
                observing.parts = 1 << self.random.below(QUERIES);
            }
            _ => {}
        }
        let added = self.world.try_add_observer(observer(&self.world, &observing));
        self.observing.push(observing);
        match in_order(&self.observing) {
            Some(order) => {
                self.order = order;
                let id = added.expect("the order does not go in a circle");
                self.observing.last_mut().expect("it was pushed above").id = Some(id);
            }
            None => {
                assert!(matches!(added, Err(phalanx::system::ObserverError::Cycle(_))));
                self.observing.pop();
            }
        }
    }

    /// Lets the readers of reactive sets and of removals look.
    pub(super) fn read(&mut self) {
        let Some(readers) = &mut self.readers else { return };
        let mut found = (readers.reactive)(&mut self.world);
        // Which of several entities comes first is the table's business in some changes.
        found.sort_unstable();
        let collected: BTreeSet<Entity> = std::mem::take(&mut readers.collected).into_iter().collect();
        let alive = |entity: &Entity| self.naive.contains_key(entity);
        assert_eq!(found, collected.into_iter().filter(alive).collect::<Vec<_>>());
        let mut found = (readers.removed)(&mut self.world);
        let mut gone = std::mem::take(&mut readers.gone);
        found.sort_unstable();
        gone.sort_unstable();
        assert_eq!(found, gone);
    }

    pub(super) fn herds(&mut self, v: u32) {
        let values: Vec<u32> = (0..self.below(6)).map(|n| v + n / 2).collect();
        let herd = |&v: &u32| Herd {
            a: A(v),
            c: v.is_multiple_of(2).then(|| C(v)),
            s: (v % 3 == 0).then_some(S(v)),
        };
        let herds: Vec<Herd> = values.iter().map(herd).collect();
        let entities: Vec<Entity> = self.world.spawn_batch_in(herds).collect();
        for (entity, v) in entities.into_iter().zip(values) {
            let mut parts = vec![0];
            parts.extend(v.is_multiple_of(2).then_some(2));
            parts.extend((v % 3 == 0).then_some(4));
            self.naive.insert(entity, Naive { herd: true, parts: BTreeMap::new() });
            self.change(entity, |naive| naive.insert(&parts, v, true).unwrap_or_default());
        }
    }

    pub(super) fn whole_archetype(&mut self, which: u32, v: u32) {
        let Some(entity) = self.entity() else { return };
        let archetype = self.world.archetype_of(entity).expect("it lives");
        if self.naive[&entity].herd {
            return;
        }
        let of_archetype = |&(entity, naive): &(&Entity, &Naive)| {
            !naive.herd && self.world.archetype_of(*entity) == Some(archetype)
        };
        let mut entities: Vec<Entity> = self.naive.iter().filter(of_archetype).map(|(&e, _)| e).collect();
        // Rows are in the order of the table.
        let ids: Vec<Entity> = self.world.entities().iter().collect();
        let mut order = Vec::new();
        let parts = parts_of(which);
        if v.is_multiple_of(2) {
            with_bundle!(which, v, |bundle: Ty, parts| self.world.insert_into_archetype(archetype, &bundle));
        } else {
            with_bundle!(which, v, |bundle: Ty, parts| self.world.remove_from_archetype::<Ty>(archetype));
        }
        // Which entity comes first is the table's business, so each one's events are compared for themselves.
        for entity in self.trace.entities() {
            if !order.contains(&entity) {
                order.push(entity);
            }
        }
        let place = |entity: &Entity| order.iter().position(|known| known == entity).unwrap_or(usize::MAX);
        entities.sort_by_key(|entity| (place(entity), ids.iter().position(|id| id == entity)));
        for entity in entities {
            if v.is_multiple_of(2) {
                self.change(entity, |naive| naive.insert(&parts, v, true).unwrap_or_default());
            } else {
                self.change(entity, |naive| {
                    naive.remove(&parts);
                    BTreeSet::new()
                });
            }
        }
    }

    /// Several commands, on few entities, in either order.
    pub(super) fn commands(&mut self) {
        let staged = self.below(2) == 0;
        self.world.set_flush_order(if staged { FlushOrder::Staged } else { FlushOrder::Recorded });
        let mut chains: Vec<(Entity, Vec<Step>)> = Vec::new();
        for _ in 0..self.below(8) {
            let entity = match self.below(3) {
                0 => {
                    let entity = self.world.commands().spawn_empty().id();
                    self.naive.insert(entity, Naive::default());
                    Some(entity)
                }
                1 => chains.last().map(|chain| chain.0),
                _ => self.entity(),
            };
            let Some(entity) = entity else { continue };
            let (which, v) = (self.below(BUNDLES), self.below(1000));
            let step = match self.below(9) {
                0..=4 => Step::Insert(which, v, v % 3 > 0),
                5..=7 => Step::Remove(which),
                _ => Step::Despawn,
            };
            let mut commands = self.world.commands();
            let mut recorder = commands.entity(entity);
            match step {
                Step::Insert(which, v, replace) => with_bundle!(which, v, |bundle: Ty, parts| {
                    if replace {
                        recorder.insert(bundle)
                    } else {
                        recorder.insert_if_new(bundle)
                    };
                }),
                Step::Remove(which) => with_bundle!(which, v, |bundle: Ty, parts| {
                    recorder.remove::<Ty>();
                }),
                Step::Despawn => recorder.despawn(),
            }
            match chains.iter_mut().find(|chain| chain.0 == entity) {
                Some(chain) => chain.1.push(step),
                None => chains.push((entity, vec![step])),
            }
        }
        self.world.flush();
        let dies = |steps: &[Step]| steps.iter().any(|step| matches!(step, Step::Despawn));
        for (entity, steps) in chains.iter().filter(|(_, steps)| !dies(steps)) {
            self.apply(*entity, steps);
        }
        // They end in the order of the commands that end them: here in that of their entities' first commands only if
        // the two agree, so the order is taken from what was announced, and each one's events are compared.
        let mut dead: Vec<Entity> =
            chains.iter().filter(|(_, steps)| dies(steps)).map(|(entity, _)| *entity).collect();
        let deaths = self.trace.0.lock().expect("not poisoned").clone();
        let ends = |heard: &Heard| {
            matches!(heard.1, Event::Despawn | Event::Remove | Event::Discard | Event::Unmatched)
        };
        let last = |entity: &Entity| deaths.iter().rposition(|heard| ends(heard) && heard.3 == *entity);
        dead.sort_by_key(|entity| last(entity).unwrap_or(usize::MAX));
        dead.into_iter().for_each(|entity| self.despawned(entity));
    }
}
