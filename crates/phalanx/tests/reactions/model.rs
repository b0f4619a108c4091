//! Random histories with hooks and observers that come and go on the way, compared with a naive world.
//!
//! The naive world knows which components an entity has, and works out what has to be announced from what it had
//! before, what it has afterwards, and what got a value: lifecycle events, and entities that begin or cease to match.
//! Hooks and observers write down what they hear and the values that they can read; some observers queue commands, which
//! are foreseen as well, some panic, some are called once for a run, run under a condition, or before or after others.
//! Beside them there are groups, reactive sets and readers of removals.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
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
    Matched,
    Unmatched,
}
const EVENTS: [Event; 5] = [Event::Add, Event::Insert, Event::Discard, Event::Remove, Event::Despawn];

/// The queries whose matches are observed, as the naive world knows them.
const QUERIES: usize = 4;
fn matches(query: usize, parts: &BTreeMap<usize, u32>) -> bool {
    let has = |part: usize| parts.contains_key(&part);
    match query {
        0 => has(0) && !has(4),
        1 => has(4) && has(5),
        2 => has(1) || has(3),
        _ => has(0) && has(2),
    }
}
type Query0 = (&'static A, Without<S>);
type Query1 = ((&'static S, &'static T), ());
type Query2 = (Entity, Or<(With<B>, With<D>)>);
type Query3 = ((&'static A, Option<&'static T>), With<C>);

/// Whether observers with a condition run.
#[derive(Resource)]
struct Open(bool);

/// Entities with `S` and `T`, kept together.
type Pairs = Group<Own<(S,)>, Get<(T,)>, ()>;
#[derive(Resource)]
struct Grouped(Pairs);

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
    /// It panics, after it queued something.
    Panic,
}

/// What a handler panics with. Nothing is printed, because no panic hook is called.
const PANIC: &str = "handler";
fn panic_in_handler() -> ! {
    resume_unwind(Box::new(PANIC))
}

/// An observer, as the naive world knows it.
#[derive(Clone, Debug)]
struct Observing {
    number: u32,
    id: Option<ObserverId>,
    event: Event,
    /// The components as bits, or the query.
    parts: u32,
    entity: Option<Entity>,
    reaction: Reaction,
    /// Whether it is called once for a run.
    batched: bool,
    /// Whether it runs under a condition.
    gated: bool,
    /// Which of the functions with a name it is made from.
    name: Option<u32>,
    /// Which of these functions it runs before and after.
    before: Option<u32>,
    after: Option<u32>,
}

impl Observing {
    fn is_before(&self, other: &Self) -> bool {
        let names = |named: Option<u32>, other: &Self| named.is_some() && named == other.name;
        !std::ptr::eq(self, other) && (names(self.before, other) || names(other.after, self))
    }

    fn takes_runs(&self) -> bool {
        self.batched && self.entity.is_none()
    }
}

/// The observers in order, from the order of registration; `None` when that goes in a circle.
fn in_order(observing: &[Observing]) -> Option<Vec<Observing>> {
    let mut left: Vec<&Observing> = observing.iter().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let next = left.iter().position(|one| !left.iter().any(|other| other.is_before(one)))?;
        order.push(left.remove(next).clone());
    }
    Some(order)
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

/// Handlers find groups in line with what they hear of.
fn check_group(world: &World, entity: Entity) {
    if let Some(Grouped(group)) = world.get_resource::<Grouped>() {
        let is_pair = world.get::<S>(entity).is_some() && world.get::<T>(entity).is_some();
        assert_eq!(group.contains(world, entity), is_pair);
    }
}

fn hear(world: &World, context: HookContext, event: Event) {
    check_group(world, context.entity);
    let part = world.components().get(context.component_id).expect("it is registered").name();
    let part = NAMES.iter().position(|name| part.ends_with(&format!("::{name}"))).expect("it is one of ours");
    let value = value(world, context.entity, part).expect("the value can be read");
    world.resource::<Trace>().push((0, event, 1 << part, context.entity, value));
}

/// What an observer of some entities does.
fn handle(
    world: &World,
    commands: &mut Commands,
    observing: &Observing,
    entities: &[Entity],
    heard: &[usize],
) {
    let bits = if matches!(observing.event, Event::Matched | Event::Unmatched) {
        observing.parts
    } else {
        heard.iter().fold(0, |bits, part| bits | 1 << part)
    };
    for &entity in entities {
        check_group(world, entity);
        let values = heard.iter().map(|&part| value(world, entity, part).expect("the value can be read"));
        world.resource::<Trace>().push((observing.number, observing.event, bits, entity, values.sum()));
    }
    for &entity in entities {
        let mut recorder = commands.entity(entity);
        match observing.reaction {
            Reaction::None => {}
            Reaction::Tag => drop(recorder.insert_if_new(Tag)),
            Reaction::RemoveD => drop(recorder.remove::<D>()),
            Reaction::DespawnOdd if entity.index() % 2 == 1 => recorder.despawn(),
            Reaction::DespawnOdd => {}
            Reaction::Panic => {
                recorder.insert_if_new(Tag);
                panic_in_handler()
            }
        }
    }
}

/// Functions that others can run before and after.
const NAMED: u32 = 3;
#[allow(clippy::needless_pass_by_value, reason = "observers take what they hear by value")]
fn named<const N: u32>(on: On<Add<A>>, world: &World) {
    let a = world.get::<A>(on.entity).expect("the value can be read").0;
    world.resource::<Trace>().push((10_000 + N, Event::Add, 1, on.entity, a));
}

/// The observer that is described.
fn observer(world: &World, observing: &Observing) -> Observer {
    let ids: Vec<_> =
        world.components().iter().map(phalanx::registry::ComponentInfo::id).take(PARTS).collect();
    let parts = observing.parts;
    let told = observing.clone();
    macro_rules! of_components {
        ($pattern:ident) => {{
            let ids = ids.clone();
            Observer::new(move |on: On<$pattern<()>>, world: &World, mut commands: Commands| {
                let heard = |part: &usize| parts & (1 << part) != 0 && on.trigger().has_component(ids[*part]);
                let heard: Vec<usize> = (0..PARTS).filter(heard).collect();
                handle(world, &mut commands, &told, on.entities(), &heard);
            })
        }};
    }
    macro_rules! of_query {
        ($pattern:ident) => {
            match parts.trailing_zeros() {
                0 => of_query!($pattern, Query0),
                1 => of_query!($pattern, Query1),
                2 => of_query!($pattern, Query2),
                _ => of_query!($pattern, Query3),
            }
        };
        ($pattern:ident, $query:ty) => {
            Observer::new(
                move |on: On<$pattern<<$query as Parts>::Data, <$query as Parts>::Filter>>,
                      world: &World,
                      mut commands: Commands| {
                    handle(world, &mut commands, &told, on.entities(), &[]);
                },
            )
        };
    }
    let mut observer = match (observing.name, observing.event) {
        (Some(0), _) => Observer::new(named::<0>),
        (Some(1), _) => Observer::new(named::<1>),
        (Some(_), _) => Observer::new(named::<2>),
        (None, Event::Add) => of_components!(Add),
        (None, Event::Insert) => of_components!(Insert),
        (None, Event::Discard) => of_components!(Discard),
        (None, Event::Remove) => of_components!(Remove),
        (None, Event::Despawn) => of_components!(Despawn),
        (None, Event::Matched) => of_query!(Matched),
        (None, Event::Unmatched) => of_query!(Unmatched),
    };
    observer = match observing.before {
        None => observer,
        Some(0) => observer.before(named::<0>),
        Some(1) => observer.before(named::<1>),
        Some(_) => observer.before(named::<2>),
    };
    observer = match observing.after {
        None => observer,
        Some(0) => observer.after(named::<0>),
        Some(1) => observer.after(named::<1>),
        Some(_) => observer.after(named::<2>),
    };
    if observing.batched {
        observer = observer.batched();
    }
    if observing.gated {
        observer = observer.run_if(|open: Res<Open>| open.0);
    }
    if observing.name.is_none() && !matches!(observing.event, Event::Matched | Event::Unmatched) {
        let watched = (0..PARTS).filter(|&part| parts & (1 << part) != 0).map(|part| ids[part]);
        observer = observer.with_components(watched);
    }
    observer.with_entities(observing.entity)
}

/// What a query is made of.
trait Parts {
    type Data;
    type Filter;
}
impl<D, F> Parts for (D, F) {
    type Data = D;
    type Filter = F;
}

fn register(hooks: &mut HooksMut<'_>, event: Event, panics: bool) {
    macro_rules! hook {
        ($event:ident) => {
            if panics {
                |world, context| {
                    hear(&world, context, Event::$event);
                    panic_in_handler()
                }
            } else {
                |world, context| hear(&world, context, Event::$event)
            }
        };
    }
    let hook: ComponentHook = match event {
        Event::Add => hook!(Add),
        Event::Insert => hook!(Insert),
        Event::Discard => hook!(Discard),
        Event::Remove => hook!(Remove),
        _ => hook!(Despawn),
    };
    match event {
        Event::Add => hooks.on_add(hook),
        Event::Insert => hooks.on_insert(hook),
        Event::Discard => hooks.on_discard(hook),
        Event::Remove => hooks.on_remove(hook),
        _ => hooks.on_despawn(hook),
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

/// Systems that read what was collected, and what they should find.
struct Readers {
    reactive: Reader,
    removed: Reader,
    collected: Vec<Entity>,
    gone: Vec<Entity>,
}
type Reader = Box<dyn FnMut(&mut World) -> Vec<Entity>>;

impl Readers {
    fn new(world: &mut World) -> Self {
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

    fn note(&mut self, event: Event, entity: Entity, part: usize) {
        match (event, part) {
            (Event::Add, 0) | (Event::Remove, 4) | (Event::Matched, 1) => self.collected.push(entity),
            (Event::Remove, 2) => self.gone.push(entity),
            _ => {}
        }
    }
}

struct Pair {
    world: World,
    naive: BTreeMap<Entity, Naive>,
    /// The hooks, and whether they panic.
    hooked: BTreeMap<(usize, Event), bool>,
    /// In the order of registration.
    observing: Vec<Observing>,
    /// In the order in which they run.
    order: Vec<Observing>,
    open: bool,
    /// What handlers panicked with, as the error handler is told.
    panics: Arc<AtomicU32>,
    expected_panics: u32,
    readers: Option<Readers>,
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
        world.insert_resource(Open(true));
        let panics = Arc::<AtomicU32>::default();
        let told = panics.clone();
        world.set_error_handler(move |_: &mut World, error: phalanx::world::SystemError| {
            if error.to_string().contains(PANIC) {
                told.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Some worlds have them from the start, some never: without them more paths have no listener.
        if seed.is_multiple_of(3) {
            let group = world.group::<Own<(S,)>, Get<(T,)>, ()>().expect("nobody owns it");
            world.insert_resource(Grouped(group));
        }
        let readers = (seed % 2 == 1).then(|| Readers::new(&mut world));
        let mut pair = Self {
            world,
            naive: BTreeMap::new(),
            hooked: BTreeMap::new(),
            observing: Vec::new(),
            order: Vec::new(),
            open: true,
            panics,
            expected_panics: 0,
            readers,
            numbers: 0,
            expected: Vec::new(),
            rounds: Vec::new(),
            trace,
            random: Random::new(seed),
        };
        for at in 0..seed % 16 {
            if at % 3 == 0 { pair.hook() } else { pair.observe(1) }
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

    /// One entity hears of an event; whoever takes runs does, too, unless it comes with others.
    fn expect(&mut self, event: Event, entity: Entity, parts: &[(usize, u32)], in_run: bool) {
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
    fn expect_call(&mut self, observing: &Observing, entities: &[Entity], parts: &[(usize, u32)]) {
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

    fn expect_hooks(&mut self, event: Event, entity: Entity, parts: &[(usize, u32)]) {
        for &(part, value) in parts {
            if let Some(&panics) = self.hooked.get(&(part, event)) {
                self.expected.push((0, event, 1 << part, entity, value));
                self.expected_panics += u32::from(panics);
            }
        }
    }

    /// Entities begin or cease to match: each observer hears of all of them, at once or one by one.
    fn expect_matches(
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
    fn came_together(&mut self, entities: &[Entity], parts: &BTreeMap<usize, u32>) {
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
        self.round(|pair| match *entities {
            [entity] => pair.differ(entity, &Naive::default(), &fresh),
            _ => pair.came_together(entities, &naive.parts),
        });
    }

    fn despawned(&mut self, entity: Entity) {
        if let Some(before) = self.naive.remove(&entity) {
            self.round(|pair| pair.differ(entity, &before, &BTreeSet::new()));
            self.observing.retain(|observing| observing.entity != Some(entity));
            self.order = in_order(&self.observing).expect("without some there is no circle either");
        }
    }

    fn step(&mut self) {
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

    fn hook(&mut self) {
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
    fn observe(&mut self, v: u32) {
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
    fn read(&mut self) {
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
        let ends = |heard: &Heard| {
            matches!(heard.1, Event::Despawn | Event::Remove | Event::Discard | Event::Unmatched)
        };
        let last = |entity: &Entity| deaths.iter().rposition(|heard| ends(heard) && heard.3 == *entity);
        dead.sort_by_key(|entity| last(entity).unwrap_or(usize::MAX));
        dead.into_iter().for_each(|entity| self.despawned(entity));
    }

    fn compare(&mut self) {
        self.world.check().expect("the world is whole");
        let heard = self.trace.take();
        let expected = std::mem::take(&mut self.expected);
        assert_eq!(heard, expected);
        assert_eq!(self.panics.load(Ordering::Relaxed), self.expected_panics, "each panic is told once");
        if let Some(Grouped(group)) = self.world.get_resource::<Grouped>() {
            let members: BTreeSet<Entity> = group.entities(&self.world).iter().copied().collect();
            let pairs = self.naive.iter().filter(|(_, naive)| matches(1, &naive.parts));
            assert_eq!(members, pairs.map(|(&entity, _)| entity).collect());
            assert_eq!(members.len(), group.len(&self.world));
        }
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
                resume_unwind(panic);
            }
        }
    }
}
