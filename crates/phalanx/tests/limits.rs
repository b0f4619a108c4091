//! Large worlds work: hundreds of component types, thousands of archetypes, millions of entities, and an
//! end of ids that says so.
//!
//! Nothing is timed: that adding a component stays a read of a cached way is shown by counting the ways that
//! were worked out. `ten_million_entities_are_spawned_moved_and_despawned` takes memory and time and is
//! ignored: `cargo test --release -p phalanx --test limits -- --ignored --nocapture`.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::prelude::*;
use phalanx::signature::Signature;
use phalanx::{ComponentId, world::WorldStats};

/// One of many component types.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Extra<const N: usize>(u32);

/// A component type as a value: so many types are more easily handled in an array.
#[derive(Clone, Copy)]
enum Kind {
    Typed {
        register: fn(&mut World) -> ComponentId,
        insert: fn(&mut World, Entity, u32),
        remove: fn(&mut World, Entity),
        get: fn(&World, Entity) -> Option<u32>,
    },
    Dynamic(ComponentId),
}

impl Kind {
    fn typed<const N: usize>() -> Self {
        Self::Typed {
            register: World::register_component::<Extra<N>>,
            insert: |world, entity, value| world.insert(entity, Extra::<N>(value)).expect("alive"),
            remove: |world, entity| world.remove::<Extra<N>>(entity).expect("alive"),
            get: |world, entity| world.get::<Extra<N>>(entity).map(|extra| extra.0),
        }
    }

    fn id(self, world: &mut World) -> ComponentId {
        match self {
            Self::Typed { register, .. } => register(world),
            Self::Dynamic(id) => id,
        }
    }

    fn insert(self, world: &mut World, entity: Entity, value: u32) {
        match self {
            Self::Typed { insert, .. } => insert(world, entity, value),
            Self::Dynamic(id) => {
                world.insert_dynamic(entity, id, &[("value", value.into())]).expect("alive, and fits");
            }
        }
    }

    fn remove(self, world: &mut World, entity: Entity) {
        match self {
            Self::Typed { remove, .. } => remove(world, entity),
            Self::Dynamic(id) => assert_eq!(world.remove_by_id(entity, id), Ok(true)),
        }
    }

    fn get(self, world: &World, entity: Entity) -> Option<u32> {
        match self {
            Self::Typed { get, .. } => get(world, entity),
            Self::Dynamic(id) => world.get_field(entity, id, "value").ok().and_then(Value::as_u32),
        }
    }
}

/// `Extra<0>` to `Extra<9>`, and ten more for each further number. Every type is compiled, so they are few.
macro_rules! typed_kinds {
    ($($ten:literal)*) => { [$(typed_kinds!(@ones $ten 0 1 2 3 4 5 6 7 8 9)),*].concat() };
    (@ones $ten:literal $($one:literal)*) => { [$(Kind::typed::<{ $ten * 10 + $one }>()),*] };
}

const KINDS: usize = 500;

/// 50 types of Rust and 450 of run time, all registered, in no order.
fn five_hundred_kinds(world: &mut World) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = typed_kinds!(0 1 2 3 4);
    for number in kinds.len()..KINDS {
        let schema = Schema::new(format!("extra {number}")).field("value", FieldType::U32);
        kinds.push(Kind::Dynamic(world.register_dynamic(schema).expect("the name is free")));
    }
    // 7 and 500 have no common divisor, so this is a permutation.
    let kinds: Vec<Kind> = (0..KINDS).map(|at| kinds[at * 7 % KINDS]).collect();
    let ids: BTreeSet<ComponentId> = kinds.iter().map(|kind| kind.id(world)).collect();
    assert_eq!(ids.len(), KINDS);
    assert_eq!(world.components().len(), KINDS);
    kinds
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("a small number")
}

/// The `n`-th of 5,000 different pairs.
fn pair(n: usize) -> (usize, usize) {
    (n % KINDS, (n % KINDS + 1 + n / KINDS) % KINDS)
}

// O-110, O-116, O-119, O-123, O-125, O-127; hazard 25.
#[test]
fn five_hundred_component_types_make_five_thousand_archetypes() {
    let mut world = World::new();
    let kinds = five_hundred_kinds(&mut world);
    let entities: Vec<Entity> = (0..5_000).map(|_| world.spawn_empty().id()).collect();
    for (n, &entity) in entities.iter().enumerate() {
        let (a, b) = pair(n);
        kinds[a].insert(&mut world, entity, number(n));
        kinds[b].insert(&mut world, entity, number(n + 1));
    }
    // All pairs, the single types they went through, and the empty one.
    assert_eq!(world.archetypes().len(), 5_000 + KINDS + 1);
    for (n, &entity) in entities.iter().enumerate() {
        let (a, b) = pair(n);
        assert_eq!(kinds[a].get(&world, entity), Some(number(n)));
        assert_eq!(kinds[b].get(&world, entity), Some(number(n + 1)));
        assert_eq!(kinds[(a + 250) % KINDS].get(&world, entity), None);
        assert_eq!(world.entity(entity).component_ids().count(), 2);
    }
    let none = Signature::empty();
    for kind in &kinds {
        // Each type is the first of ten pairs, the second of ten others, and alone once.
        let id = kind.id(&mut world);
        assert_eq!(world.archetypes().with_component(id).len(), 21);
        let one = Signature::from_ids([id]);
        assert_eq!(world.archetypes().matching(&one, &none, &none).len(), 21);
    }
    world.check().expect("the world is consistent");
    for entity in entities {
        assert!(world.despawn(entity));
    }
    assert_eq!(world.drop_empty_archetypes(), 5_000 + KINDS);
    assert_eq!(world.archetypes().len(), 1);
    world.check().expect("the world is consistent");
}

// O-107 to O-110: the second time, a way is read and not worked out, whichever archetypes it joins.
#[test]
fn ways_between_thousands_of_archetypes_are_worked_out_once() {
    let mut world = World::new();
    let kinds = five_hundred_kinds(&mut world);
    let entities: Vec<Entity> = (0..5_000).map(|_| world.spawn_empty().id()).collect();
    let there = |world: &mut World| {
        for (n, &entity) in entities.iter().enumerate() {
            let (a, b) = pair(n);
            kinds[a].insert(world, entity, 1);
            kinds[b].insert(world, entity, 2);
        }
    };
    let back = |world: &mut World| {
        for (n, &entity) in entities.iter().enumerate() {
            let (a, b) = pair(n);
            kinds[b].remove(world, entity);
            kinds[a].remove(world, entity);
        }
    };
    there(&mut world);
    back(&mut world);
    let computed = world.stats().edges_computed;
    // Each of 500 single archetypes from the empty one, and 5,000 pairs from those, there and back.
    assert_eq!(computed, 2 * (5_000 + KINDS as u64));
    for _ in 0..3 {
        there(&mut world);
        back(&mut world);
    }
    assert_eq!(world.stats().edges_computed, computed, "60,000 changes worked out nothing");
    assert_eq!(world.archetypes().len(), 5_000 + KINDS + 1);
}

// What is needed again is kept, however much that is.
#[test]
fn an_entity_that_goes_round_among_many_archetypes_finds_them_again() {
    let mut world = World::new();
    let schema = |at| Schema::new(format!("round {at}")).field("value", FieldType::U32);
    let kinds: Vec<ComponentId> =
        (0..800).map(|at| world.register_dynamic(schema(at)).expect("the name is free")).collect();
    let round = |world: &mut World| {
        let entity = world.spawn_empty().id();
        for &kind in &kinds {
            world.insert_dynamic(entity, kind, &[]).expect("alive");
        }
        assert!(world.despawn(entity));
    };
    round(&mut world);
    // The archetypes of one round have so many components that some were dropped on the way.
    assert!(world.archetypes().len() < 800);
    round(&mut world);
    assert_eq!(world.archetypes().len(), 801);
    world.check().expect("the world is consistent");
    let computed = world.stats().edges_computed;
    round(&mut world);
    assert_eq!((world.archetypes().len(), world.stats().edges_computed), (801, computed));
}

// O-288; hazard 25: all of them on one entity, past every border of the signature's words.
#[test]
fn one_entity_has_more_than_64_128_and_256_components() {
    let mut world = World::new();
    let kinds = five_hundred_kinds(&mut world);
    let bystander = world.spawn((Extra::<3>(1), Extra::<49>(2))).id();
    let entity = world.spawn_empty().id();
    for (n, kind) in kinds.iter().enumerate() {
        kind.insert(&mut world, entity, number(n));
        if [65, 129, 257, KINDS].contains(&(n + 1)) {
            assert_eq!(world.entity(entity).component_ids().count(), n + 1);
            for (m, kind) in kinds.iter().enumerate() {
                assert_eq!(kind.get(&world, entity), (m <= n).then(|| number(m)));
            }
        }
    }
    for kind in kinds.iter().skip(1).step_by(2) {
        kind.remove(&mut world, entity);
    }
    for (n, kind) in kinds.iter().enumerate() {
        assert_eq!(kind.get(&world, entity), (n % 2 == 0).then(|| number(n)));
    }
    assert_eq!(world.get::<Extra<3>>(bystander), Some(&Extra(1)));
    assert_eq!(world.get::<Extra<49>>(bystander), Some(&Extra(2)));
    world.check().expect("the world is consistent");
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(u32);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Marked(u16);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Speed(f64);

/// What an entity's id costs: its slot in the directory (12 bytes: table, row, generation), and the id
/// itself in its table (8 bytes).
const ID_BYTES: usize = 12 + 8;

/// Asserts that the world takes at most 1.3 times what its values and ids need.
///
/// Counted as needed: `ID_BYTES` per living entity, and the sizes of the values in its columns, which
/// `values` gives in all. Counted as taken: everything in `WorldStats::bytes`, that is rows with their
/// block ticks, the directory, and the arrays through which queries find columns.
fn assert_compact(what: &str, stats: &WorldStats, values: usize) {
    let needed = stats.entities * ID_BYTES + values;
    let (taken, entities) = (stats.bytes(), stats.entities);
    println!(
        "{what}: {entities} entities, {:.3} bytes each, {:.3} needed, {:.4} times that",
        taken as f64 / entities as f64,
        needed as f64 / entities as f64,
        taken as f64 / needed as f64,
    );
    assert!(taken >= needed, "{what}: {taken} bytes cannot hold {needed}");
    assert!(taken * 10 <= needed * 13, "{what}: {taken} bytes for {needed}");
}

/// Spawns, moves and despawns `count` entities, and looks at the memory in between.
fn life_of(count: usize) {
    let (body, marked, fast) = (4 + 4 + 4, 4 + 4 + 4 + 2, 4 + 4 + 4 + 2 + 8);
    let mut world = World::new();
    let bundle = |n| (Position { x: n as f32, y: -1.0 }, Health(number(n)));
    let entities: Vec<Entity> = world.spawn_batch((0..count).map(bundle)).collect();
    assert_eq!(entities.iter().collect::<BTreeSet<_>>().len(), count);
    world.shrink_to_fit();
    assert_compact("spawned", &world.stats(), count * body);

    // All at once, by their archetype.
    let archetype = world.entity(entities[0]).archetype();
    assert_eq!(world.insert_into_archetype(archetype, &Marked(7)), count);
    world.shrink_to_fit();
    assert_compact("moved at once", &world.stats(), count * marked);

    // A tenth, one by one, out of the middle of the others.
    let chosen = || entities.iter().skip(3).step_by(10);
    for &entity in chosen() {
        world.insert(entity, Speed(0.5)).expect("alive");
    }
    let moved = chosen().count();
    world.shrink_to_fit();
    assert_compact("a tenth moved one by one", &world.stats(), (count - moved) * marked + moved * fast);
    for (n, &entity) in entities.iter().enumerate() {
        let row = world.get::<Position>(entity).map(|row| row.get());
        assert_eq!(row, Some(Position { x: n as f32, y: -1.0 }));
        assert_eq!(world.get::<Health>(entity), Some(&Health(number(n))));
        assert_eq!(world.get::<Speed>(entity).is_some(), n % 10 == 3);
    }

    for &entity in entities.iter().step_by(2) {
        assert!(world.despawn(entity));
    }
    assert_eq!(world.despawn_batch(entities.iter().copied()), count / 2);
    assert!(entities.iter().all(|&entity| !world.contains(entity)));
    assert!(world.drop_empty_archetypes() > 0);
    world.shrink_to_fit();
    let stats = world.stats();
    assert_eq!((stats.entities, stats.free_slots), (0, count));
    // Slots remember generations; nothing else is left.
    assert!(stats.bytes() <= count * 12 + 64 * 1024, "{} bytes are left", stats.bytes());
    world.check().expect("the world is consistent");
    assert_eq!(world.spawn(Health(1)).id().index(), entities[count - 1].index());
}

// O-020, O-154; the small twin of the test below.
#[test]
fn a_hundred_thousand_entities_are_spawned_moved_and_despawned() {
    life_of(100_000);
}

// O-020: ten times the largest number that was asked for.
#[test]
#[ignore = "takes gigabytes, and a while without optimisation"]
fn ten_million_entities_are_spawned_moved_and_despawned() {
    life_of(10_000_000);
}

const FULL: &str =
    "no entity index is left: despawn entities before creating more, or create fewer at a time";

/// What a panic says.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(f()))).expect_err("it panics");
    *panic.downcast::<String>().expect("the message is formatted")
}

/// Counts itself by the reference it holds.
#[derive(Component, Clone)]
struct Counted(#[allow(dead_code, reason = "held to be counted")] Arc<()>);

// O-019, O-029; hazard 3: every way to get an entity says what to do when there are no more.
#[test]
fn a_full_world_refuses_every_way_to_get_an_entity() {
    let mut world = World::with_entity_limit(3);
    let count = Arc::new(());
    let entities: Vec<Entity> = (0..3).map(|_| world.spawn(Counted(count.clone())).id()).collect();
    assert_eq!(panic_of(|| world.spawn(Counted(count.clone())).id()), FULL);
    assert_eq!(panic_of(|| world.spawn_empty().id()), FULL);
    assert_eq!(panic_of(|| world.spawn_batch([Counted(count.clone())]).len()), FULL);
    assert_eq!(panic_of(|| world.spawn_batch([()]).len()), FULL);
    assert_eq!(panic_of(|| world.reserve_entity()), FULL);
    assert_eq!(panic_of(|| world.commands().spawn(Counted(count.clone())).id()), FULL);
    assert_eq!(panic_of(|| world.commands().spawn_empty().id()), FULL);
    // Nothing came of it, and nothing was left behind.
    assert_eq!((world.entities().len(), Arc::strong_count(&count)), (3, 1 + 3));
    world.check().expect("the world is consistent");
    // As the message says.
    assert!(world.despawn(entities[1]));
    let again = world.spawn(Counted(count.clone())).id();
    assert_eq!((again.index(), again.generation()), (entities[1].index(), 1));
    assert_eq!(panic_of(|| world.spawn_empty().id()), FULL);
}

// Hazard 3: a batch that does not fit.
#[test]
fn a_batch_beyond_the_limit_is_refused_and_leaks_nothing() {
    let count = Arc::new(());
    let mut world = World::with_entity_limit(3);
    let kept = world.spawn(Counted(count.clone())).id();
    assert_eq!(panic_of(|| world.spawn_batch(vec![Counted(count.clone()); 5]).len()), FULL);
    world.check().expect("the world is consistent");
    assert_eq!(Arc::strong_count(&count), 1 + world.entities().len());
    assert!(world.contains(kept));
    world.clear_entities();
    assert_eq!(world.spawn_batch(vec![Counted(count.clone()); 3]).len(), 3);
    assert_eq!(Arc::strong_count(&count), 1 + 3);
    // A reservation counts as well.
    world.clear_entities();
    world.reserve_entity();
    assert_eq!(panic_of(|| world.spawn_batch(vec![Counted(count.clone()); 3]).len()), FULL);
    assert_eq!(world.spawn_batch(vec![Counted(count.clone()); 2]).len(), 2);
}

/// What a panic says.
fn message(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("a panic");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).expect("a text")
}

#[test]
fn room_for_more_than_there_is_memory_is_refused_in_words() {
    let mut world = World::new();
    let kept = world.spawn(Extra::<0>(1)).id();
    let too_many = message(|| world.reserve_rows::<Extra<0>>(usize::MAX));
    assert!(too_many.contains("rows"), "{too_many}");
    #[derive(Component)]
    struct Huge([u64; 1 << 10]);
    let huge = message(|| world.reserve_rows::<Huge>(1 << 31));
    assert!(huge.contains("no memory for 2147483648 rows"), "{huge}");
    // Where memory is promised that is not there, or is there, this succeeds.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| world.reserve(usize::MAX))) {
        let text = panic.downcast_ref::<String>().expect("a text");
        assert!(text.contains("no memory for"), "{text}");
    }
    assert_eq!(world.get::<Extra<0>>(kept), Some(&Extra(1)));
    world.spawn(Huge([0; 1 << 10]));
    world.check().expect("sound");
}

/// Promises more than it has.
struct Boaster<I>(I);

impl<I: Iterator> Iterator for Boaster<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (u32::MAX as usize - 1, None)
    }
}

#[test]
fn what_an_iterator_promises_makes_room_for_a_bounded_number() {
    #[derive(Component)]
    #[component(storage = "sparse")]
    struct Apart(u32);
    #[derive(Pool)]
    struct Closed {
        extra: Extra<0>,
    }
    let mut world = World::new();
    assert_eq!(world.spawn_batch(Boaster((0..10).map(Extra::<0>))).count(), 10);
    assert_eq!(world.spawn_batch(Boaster((0..10).map(Apart))).count(), 10);
    assert_eq!(world.spawn_batch(Boaster((0..10).map(|n| (Extra::<1>(n), Apart(n))))).count(), 10);
    let closed = Boaster((0..10).map(|n| Closed { extra: Extra(n) }));
    assert_eq!(world.spawn_batch_in(closed).count(), 10);
    world.commands().spawn_batch(Boaster((0..10).map(Extra::<2>)));
    world.flush();
    assert_eq!(world.view::<&Apart>().into_iter().map(|apart| u64::from(apart.0)).sum::<u64>(), 90);
    let stats = world.stats();
    assert_eq!(stats.entities, 50);
    // A quarter of a gigabyte for each batch; all that was promised would be sixteen times as much, and more.
    assert!(stats.bytes() < 4 << 30, "{} bytes", stats.bytes());
}
