//! Random histories with hooks and observers that come and go on the way, compared with a naive world.
//!
//! The naive world knows which components an entity has, and works out what has to be announced from what it had
//! before, what it has afterwards, and what got a value. Hooks and observers write down what they hear and the values
//! that they can read; some observers queue commands, which are foreseen as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use phalanx::lifecycle::{ComponentHook, HooksMut};
use phalanx::prelude::*;

use crate::random::Random;

#[derive(Component, Clone, Debug, PartialEq)]
struct A(u32);
/// Brings `C` along, into the table.
#[derive(Component, Clone, Debug, PartialEq)]
#[require(C(70))]
struct B(u32, String);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
struct C {
    value: u32,
}
#[allow(non_snake_case)]
fn C(value: u32) -> C {
    C { value }
}
/// Brings `S` along, into a set.
#[derive(Component, Clone, Debug, PartialEq)]
#[require(S(400))]
struct D(u32);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct S(u32);
/// Brings `A` along, from a set into the table.
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
#[require(A(100))]
struct T(u32);
#[derive(Component, Clone, Debug, PartialEq)]
struct Tag;

#[derive(Pool)]
struct Herd {
    a: A,
    c: Option<C>,
    s: Option<S>,
}

const PARTS: usize = 7;
const NAMES: [&str; PARTS] = ["A", "B", "C", "D", "S", "T", "Tag"];

/// What requires what, with its value.
const REQUIRED: [(usize, usize, u32); 3] = [(1, 2, 70), (3, 4, 400), (5, 0, 100)];
const HERD: [usize; 3] = [0, 2, 4];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Add,
    Insert,
    Discard,
    Remove,
    Despawn,
}
const EVENTS: [Event; 5] = [Event::Add, Event::Insert, Event::Discard, Event::Remove, Event::Despawn];

/// What was heard: by whom (0 is a hook), the event, the components as bits, the entity and the sum of the values.
type Heard = (u32, Event, u32, Entity, u32);

#[derive(Resource, Default, Clone)]
struct Trace(Arc<Mutex<Vec<Heard>>>);

impl Trace {
    fn push(&self, heard: Heard) {
        self.0.lock().expect("nobody panics with the lock").push(heard);
    }
    fn take(&self) -> Vec<Heard> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics with the lock"))
    }
    fn entities(&self) -> Vec<Entity> {
        self.0.lock().expect("nobody panics with the lock").iter().map(|heard| heard.3).collect()
    }
}

/// What an observer queues for the entity that it hears of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reaction {
    None,
    /// `insert_if_new(Tag)`.
    Tag,
    /// `remove::<D>()`.
    RemoveD,
    /// `despawn()`, of entities with an odd index.
    DespawnOdd,
}

/// An observer, as the naive world knows it.
#[derive(Clone, Debug)]
struct Observing {
    number: u32,
    id: ObserverId,
    event: Event,
    parts: u32,
    entity: Option<Entity>,
    reaction: Reaction,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u32, u32, bool),
    Remove(u32),
    Despawn,
}

fn value(world: &World, entity: Entity, part: usize) -> Option<u32> {
    match part {
        0 => world.get::<A>(entity).map(|a| a.0),
        1 => world.get::<B>(entity).map(|b| b.0),
        2 => world.get::<C>(entity).map(|c| *c.value),
        3 => world.get::<D>(entity).map(|d| d.0),
        4 => world.get::<S>(entity).map(|s| s.0),
        5 => world.get::<T>(entity).map(|t| t.0),
        _ => world.get::<Tag>(entity).map(|_| 0),
    }
}

fn hear(world: &World, context: HookContext, event: Event) {
    let part = world.components().get(context.component_id).expect("it is registered").name();
    let part = NAMES.iter().position(|name| part.ends_with(&format!("::{name}"))).expect("it is one of ours");
    let value = value(world, context.entity, part).expect("the value can be read");
    world.resource::<Trace>().push((0, event, 1 << part, context.entity, value));
}

/// Adds an observer of some components, known by their ids.
fn observe(
    world: &mut World,
    event: Event,
    parts: u32,
    entity: Option<Entity>,
    number: u32,
    reaction: Reaction,
) -> ObserverId {
    let ids: Vec<_> =
        world.components().iter().map(phalanx::registry::ComponentInfo::id).take(PARTS).collect();
    let trace = world.resource::<Trace>().clone();
    macro_rules! add {
        ($pattern:ident) => {{
            let ids_in = ids.clone();
            let system = move |on: On<$pattern<()>>, world: &World, mut commands: Commands| {
                let heard = (0..PARTS)
                    .filter(|&part| parts & (1 << part) != 0 && on.trigger().has_component(ids_in[part]));
                let values =
                    heard.clone().map(|part| value(world, on.entity, part).expect("the value can be read"));
                trace.push((
                    number,
                    event,
                    heard.clone().fold(0, |bits, part| bits | 1 << part),
                    on.entity,
                    values.sum(),
                ));
                let mut entity = commands.entity(on.entity);
                match reaction {
                    Reaction::None => {}
                    Reaction::Tag => drop(entity.insert_if_new(Tag)),
                    Reaction::RemoveD => drop(entity.remove::<D>()),
                    Reaction::DespawnOdd => {
                        if on.entity.index() % 2 == 1 {
                            entity.despawn();
                        }
                    }
                }
            };
            Observer::new(system)
        }};
    }
    let observer = match event {
        Event::Add => add!(Add),
        Event::Insert => add!(Insert),
        Event::Discard => add!(Discard),
        Event::Remove => add!(Remove),
        Event::Despawn => add!(Despawn),
    };
    let watched = (0..PARTS).filter(|&part| parts & (1 << part) != 0).map(|part| ids[part]);
    let observer = observer.with_components(watched).with_entities(entity);
    world.add_observer(observer)
}

fn register(hooks: &mut HooksMut<'_>, event: Event) {
    let hook: ComponentHook = match event {
        Event::Add => |world, context| hear(&world, context, Event::Add),
        Event::Insert => |world, context| hear(&world, context, Event::Insert),
        Event::Discard => |world, context| hear(&world, context, Event::Discard),
        Event::Remove => |world, context| hear(&world, context, Event::Remove),
        Event::Despawn => |world, context| hear(&world, context, Event::Despawn),
    };
    match event {
        Event::Add => hooks.on_add(hook),
        Event::Insert => hooks.on_insert(hook),
        Event::Discard => hooks.on_discard(hook),
        Event::Remove => hooks.on_remove(hook),
        Event::Despawn => hooks.on_despawn(hook),
    };
}

/// Calls a function with the type of a bundle, its value and its parts.
macro_rules! with_bundle {
    ($which:expr, $v:expr, |$bundle:ident: $ty:ident, $parts:ident| $body:expr) => {
        with_bundle! { @ $which, $v, $bundle, $ty, $parts, $body;
            0 A [0] |v| A(v);
            1 B [1] |v| B(v, "b".repeat(9));
            2 C [2] |v| C(v);
            3 D [3] |v| D(v);
            4 S [4] |v| S(v);
            5 T [5] |v| T(v);
            6 Tag [6] |_| Tag;
            7 (A, S) [0, 4] |v| (A(v), S(v));
            8 (B, T) [1, 5] |v| (B(v, String::new()), T(v));
            9 (C, A, Tag) [0, 2, 6] |v| (C(v), A(v), Tag);
            10 (S, T) [4, 5] |v| (S(v), T(v));
            11 (D, B, A, T) [0, 1, 3, 5] |v| (D(v), B(v, String::new()), A(v), T(v))
        }
    };
    (@ $which:expr, $v:expr, $bundle:ident, $ty:ident, $parts:ident, $body:expr;
        $($at:literal $type:ty [$($part:literal),*] |$arg:pat_param| $make:expr);*) => {
        match $which {
            $($at => {
                type $ty = $type;
                #[allow(unused)]
                let $parts: &[usize] = &[$($part),*];
                #[allow(unused)]
                let $bundle = |$arg: u32| -> $ty { $make };
                #[allow(unused)]
                let $bundle = $bundle($v);
                $body
            })*
            other => unreachable!("no bundle {other}"),
        }
    };
}
const BUNDLES: u32 = 12;

fn parts_of(which: u32) -> Vec<usize> {
    with_bundle!(which, 0, |bundle: Ty, parts| parts.to_vec())
}

/// Tags have no value.
fn valued(part: usize, v: u32) -> u32 {
    if part == 6 { 0 } else { v }
}

#[derive(Clone, Default, Debug)]
struct Naive {
    herd: bool,
    parts: BTreeMap<usize, u32>,
}

impl Naive {
    fn allows(&self, part: usize) -> bool {
        !self.herd || HERD.contains(&part)
    }

    /// What inserting brings along; `None` when the pool refuses.
    fn insert(&mut self, parts: &[usize], v: u32, replace: bool) -> Option<BTreeSet<usize>> {
        let mut required: Vec<(usize, u32)> = Vec::new();
        for &(who, what, with) in &REQUIRED {
            if parts.contains(&who) && !parts.contains(&what) {
                required.push((what, with));
            }
        }
        let mut all = parts.iter().copied().chain(required.iter().map(|(what, _)| *what));
        if !all.all(|part| self.allows(part)) {
            return None;
        }
        let mut fresh = BTreeSet::new();
        for &part in parts {
            if replace || !self.parts.contains_key(&part) {
                self.parts.insert(part, valued(part, v));
                fresh.insert(part);
            }
        }
        for (part, with) in required {
            self.parts.entry(part).or_insert_with(|| {
                fresh.insert(part);
                with
            });
        }
        Some(fresh)
    }

    fn remove(&mut self, parts: &[usize]) -> bool {
        if self.herd && parts.contains(&0) {
            return false;
        }
        for part in parts {
            self.parts.remove(part);
        }
        true
    }
}

struct Pair {
    world: World,
    naive: BTreeMap<Entity, Naive>,
    hooked: BTreeSet<(usize, Event)>,
    observing: Vec<Observing>,
    numbers: u32,
    expected: Vec<Heard>,
    /// What observers queue, one list per round of announcements that is not complete.
    rounds: Vec<Vec<(Entity, Step)>>,
    trace: Trace,
    random: Random,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let mut world = World::new();
        world.register_component::<A>();
        world.register_bundle::<(A, B, C, D, S, T, Tag)>().expect("the components differ");
        world.init_resource::<Trace>();
        let trace = world.resource::<Trace>().clone();
        let mut pair = Self {
            world,
            naive: BTreeMap::new(),
            hooked: BTreeSet::new(),
            observing: Vec::new(),
            numbers: 0,
            expected: Vec::new(),
            rounds: Vec::new(),
            trace,
            random: Random::new(seed),
        };
        for at in 0..8 {
            if at % 2 == 0 { pair.hook() } else { pair.observe(1) }
        }
        pair
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.random.below(end as usize)).expect("it is below a u32")
    }

    fn entity(&mut self) -> Option<Entity> {
        let at = self.below(u32::try_from(self.naive.len()).expect("few entities").max(1)) as usize;
        self.naive.keys().nth(at).copied()
    }

    fn expect(&mut self, event: Event, entity: Entity, parts: &[(usize, u32)]) {
        let comes = matches!(event, Event::Add | Event::Insert);
        if comes {
            self.expect_hooks(event, entity, parts);
        }
        let mut heard: Vec<Observing> =
            self.observing.iter().filter(|observing| observing.event == event).cloned().collect();
        heard.retain(|observing| observing.entity.is_none_or(|watched| watched == entity));
        if !comes {
            heard.reverse();
        }
        for Observing { number, parts: watched, reaction, .. } in heard {
            let (mut bits, mut sum) = (0, 0);
            for &(part, value) in parts.iter().filter(|(part, _)| watched & (1 << part) != 0) {
                bits |= 1 << part;
                sum += value;
            }
            if bits == 0 {
                continue;
            }
            self.expected.push((number, event, bits, entity, sum));
            let queued = self.rounds.last_mut().expect("events belong to a round");
            match reaction {
                Reaction::None => {}
                Reaction::Tag => queued.push((entity, Step::Insert(6, 0, false))),
                Reaction::RemoveD => queued.push((entity, Step::Remove(3))),
                Reaction::DespawnOdd if entity.index() % 2 == 1 => queued.push((entity, Step::Despawn)),
                Reaction::DespawnOdd => {}
            }
        }
        if !comes {
            self.expect_hooks(event, entity, parts);
        }
    }

    fn expect_hooks(&mut self, event: Event, entity: Entity, parts: &[(usize, u32)]) {
        for &(part, value) in parts {
            if self.hooked.contains(&(part, event)) {
                self.expected.push((0, event, 1 << part, entity, value));
            }
        }
    }

    /// Announces one or several changes, and then applies what observers queued, entity by entity.
    fn round(&mut self, changes: impl FnOnce(&mut Self)) {
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
    fn apply(&mut self, entity: Entity, steps: &[Step]) {
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

    /// Works out what has to be heard of a change, given what the entity had, and what got a value.
    fn differ(&mut self, entity: Entity, before: &Naive, fresh: &BTreeSet<usize>) {
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
            self.expect(Event::Despawn, entity, &removed);
        }
        self.expect(Event::Discard, entity, &discarded);
        self.expect(Event::Remove, entity, &removed);
        if let Some(after) = after {
            let new = after.parts.clone();
            let added = new.iter().filter(|(part, _)| !old.contains_key(part)).map(|(&p, &v)| (p, v));
            let added: Vec<_> = added.collect();
            self.expect(Event::Add, entity, &added);
            let inserted = new.iter().filter(|(p, _)| fresh.contains(p) || !old.contains_key(p));
            let inserted: Vec<_> = inserted.map(|(&p, &v)| (p, v)).collect();
            self.expect(Event::Insert, entity, &inserted);
        }
    }

    /// Changes one entity of the naive world, and works out the events.
    fn change(&mut self, entity: Entity, change: impl FnOnce(&mut Naive) -> BTreeSet<usize>) {
        let Some(naive) = self.naive.get_mut(&entity) else { return };
        let before = naive.clone();
        let fresh = change(naive);
        self.round(|pair| pair.differ(entity, &before, &fresh));
    }

    /// Entities that were spawned at once: all are there before the first is announced.
    fn spawned(&mut self, entities: &[Entity], parts: &[usize], v: u32) {
        let mut naive = Naive::default();
        let fresh = naive.insert(parts, v, true).unwrap_or_default();
        self.naive.extend(entities.iter().map(|&entity| (entity, naive.clone())));
        self.round(|pair| {
            entities.iter().for_each(|&entity| pair.differ(entity, &Naive::default(), &fresh));
        });
    }

    fn despawned(&mut self, entity: Entity) {
        if let Some(before) = self.naive.remove(&entity) {
            self.round(|pair| pair.differ(entity, &before, &BTreeSet::new()));
            self.observing.retain(|observing| observing.entity != Some(entity));
        }
    }

    fn step(&mut self) {
        let (which, v, kind) = (self.below(BUNDLES), self.below(1000), self.below(40));
        match kind {
            0 if v < 500 => self.hook(),
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

    fn hook(&mut self) {
        let part = self.random.below(PARTS);
        let event = EVENTS[self.below(5) as usize];
        if !self.hooked.insert((part, event)) {
            return;
        }
        match part {
            0 => register(&mut self.world.register_component_hooks::<A>(), event),
            1 => register(&mut self.world.register_component_hooks::<B>(), event),
            2 => register(&mut self.world.register_component_hooks::<C>(), event),
            3 => register(&mut self.world.register_component_hooks::<D>(), event),
            4 => register(&mut self.world.register_component_hooks::<S>(), event),
            5 => register(&mut self.world.register_component_hooks::<T>(), event),
            _ => register(&mut self.world.register_component_hooks::<Tag>(), event),
        }
    }

    /// Adds an observer, or removes one.
    fn observe(&mut self, v: u32) {
        if v.is_multiple_of(4) && !self.observing.is_empty() {
            let at = self.random.below(self.observing.len());
            let gone = self.observing.remove(at);
            assert!(self.world.remove_observer(gone.id));
            return;
        }
        let (event, parts) = (EVENTS[self.random.below(5)], 1 + self.below((1 << PARTS) - 1));
        let entity = if v.is_multiple_of(3) { self.entity() } else { None };
        self.numbers += 1;
        let reactions =
            [Reaction::None, Reaction::None, Reaction::Tag, Reaction::RemoveD, Reaction::DespawnOdd];
        let (number, reaction) = (self.numbers, reactions[self.random.below(5)]);
        let id = observe(&mut self.world, event, parts, entity, number, reaction);
        self.observing.push(Observing { number, id, event, parts, entity, reaction });
    }

    fn herds(&mut self, v: u32) {
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

    fn whole_archetype(&mut self, which: u32, v: u32) {
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
    fn commands(&mut self) {
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
        // the two agree, so the order is taken from what was heard, and each one's events are compared.
        let mut dead: Vec<Entity> =
            chains.iter().filter(|(_, steps)| dies(steps)).map(|(entity, _)| *entity).collect();
        let deaths = self.trace.0.lock().expect("nobody panics with the lock").clone();
        let ends = |heard: &Heard| matches!(heard.1, Event::Despawn | Event::Remove | Event::Discard);
        let last = |entity: &Entity| deaths.iter().rposition(|heard| ends(heard) && heard.3 == *entity);
        dead.sort_by_key(|entity| last(entity).unwrap_or(usize::MAX));
        dead.into_iter().for_each(|entity| self.despawned(entity));
    }

    fn compare(&mut self) {
        self.world.check().expect("the world is whole");
        let heard = self.trace.take();
        let expected = std::mem::take(&mut self.expected);
        assert_eq!(heard, expected);
        assert_eq!(self.world.entities().len(), self.naive.len());
        for (&entity, naive) in &self.naive {
            for part in 0..PARTS {
                assert_eq!(
                    value(&self.world, entity, part),
                    naive.parts.get(&part).copied(),
                    "{part} of {entity}"
                );
            }
        }
    }
}

#[test]
fn hooks_and_observers_hear_what_a_naive_world_works_out() {
    let steps: u64 = std::env::var("PHALANX_MODEL_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(4_500);
    for seed in 0..steps.div_ceil(300) {
        let mut pair = Pair::new(seed);
        for step in 0..300 {
            let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pair.step();
                pair.compare();
            }));
            if let Err(panic) = seen {
                eprintln!("seed {seed}, step {step}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}
