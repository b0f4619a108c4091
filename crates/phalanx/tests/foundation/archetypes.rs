//! Hunts entities that end up in the wrong row, the wrong table or the wrong archetype (hazards 24 to 27),
//! and archetypes that are doubled, lost or hidden from a query.
//!
//! Swap-and-pop moves an entity that was not asked to move; ids of archetypes are given again; signatures
//! outgrow their first words. Each of these once hid a wrong index in some library.
//!
//! This file is about archetypes as sets of components that come and go, `rows` about the rows of their tables.
#![allow(missing_docs)]

#[path = "archetypes/rows.rs"]
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use crate::common::faults::is_usable;
use crate::common::ledger::Ledger;
use crate::common::zoo::{Kind, Left, Right, assert_held, for_each_kind_in_tables, name};
use phalanx::ComponentId;
use phalanx::archetype::{ArchetypeId, Change};
use phalanx::prelude::{Component, Entity, FieldType, Schema, Value, With, Without, World};
use phalanx::signature::Signature;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f64,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Velocity(f32);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Mass(u64);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Frozen;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Hidden;

#[track_caller]
fn checked(world: &World) {
    world.check().expect("the world is consistent");
}

fn at(n: u32) -> Position {
    Position { x: f32::from(u16::try_from(n).expect("small")), y: f64::from(n) + 0.5 }
}

fn signature(world: &World, entity: Entity) -> &Signature {
    world.archetypes().signature(world.archetype_of(entity).expect("alive"))
}

/// One of many components, each with an id of its own.
#[derive(Component, Clone, Debug, PartialEq)]
struct Numbered<const N: usize>(u32);

fn filler(world: &mut World, n: usize) -> ComponentId {
    let schema = Schema::new(format!("filler {n}")).field("value", FieldType::U32);
    world.register_dynamic(schema).expect("a new name")
}

// Hazard 25: O-290 at the edges of words, on one entity and apart.
#[test]
fn more_than_256_component_types_are_told_apart() {
    fn at_edge<const N: usize>(world: &mut World, wide: Entity) -> Entity {
        while world.components().len() < N {
            let id = filler(world, world.components().len());
            let value = u32::try_from(id.index()).expect("small");
            world.insert_dynamic(wide, id, &[("value", Value::U32(value))]).expect("alive");
        }
        assert_eq!(world.register_component::<Numbered<N>>().index(), N);
        world.insert(wide, Numbered::<N>(7)).expect("alive");
        let alone = world.spawn(Numbered::<N>(8)).id();
        assert_eq!(signature(world, alone).iter().map(ComponentId::index).collect::<Vec<_>>(), [N]);
        alone
    }
    fn holds<const N: usize>(world: &World, wide: Entity, alone: Entity) {
        assert_eq!(world.get::<Numbered<N>>(wide), Some(&Numbered(7)));
        assert_eq!(world.get::<Numbered<N>>(alone), Some(&Numbered(8)));
        assert_eq!(world.view::<&Numbered<N>>().iter().count(), 2);
        let rest = world.view_filtered::<Entity, Without<Numbered<N>>>();
        assert!(!rest.contains(wide) && !rest.contains(alone));
    }
    fn are_told_apart<const A: usize, const B: usize>(world: &World, wide: Entity) {
        // Only the wide one has both; each alone has one.
        let both = world.view_filtered::<Entity, (With<Numbered<A>>, With<Numbered<B>>)>();
        assert_eq!(both.iter().collect::<Vec<_>>(), [wide], "{A} and {B}");
        let one = world.view_filtered::<Entity, (With<Numbered<A>>, Without<Numbered<B>>)>();
        assert_eq!(one.count(), 1, "{A} without {B}");
    }
    macro_rules! edges {
        ($($n:literal)*) => {{
            let mut world = World::new();
            let wide = world.spawn_empty().id();
            let alone = [$(at_edge::<$n>(&mut world, wide)),*];
            checked(&world);
            assert_eq!(signature(&world, wide).len(), world.components().len());
            let mut each = alone.into_iter();
            $(holds::<$n>(&world, wide, each.next().expect("one per edge"));)*
            for info in world.components().iter().filter(|info| info.schema().is_some()) {
                let expected = Value::U32(u32::try_from(info.id().index()).expect("small"));
                assert_eq!(world.get_field(wide, info.id(), "value"), Ok(expected));
            }
            are_told_apart::<63, 64>(&world, wide);
            are_told_apart::<127, 128>(&world, wide);
            are_told_apart::<128, 129>(&world, wide);
            are_told_apart::<256, 255>(&world, wide);
            are_told_apart::<257, 400>(&world, wide);
            are_told_apart::<400, 65>(&world, wide);
            // And off again, one by one, the highest first.
            let mut left = world.components().len();
            for id in world.components().iter().map(|info| info.id()).collect::<Vec<_>>().into_iter().rev() {
                assert_eq!(world.remove_by_id(wide, id), Ok(true));
                left -= 1;
                assert_eq!(signature(&world, wide).len(), left);
            }
            assert_eq!(world.archetype_of(wide), Some(ArchetypeId::EMPTY));
            let mut each = alone.into_iter();
            $(assert_eq!(
                each.next().and_then(|entity| world.get::<Numbered<$n>>(entity)),
                Some(&Numbered(8))
            );)*
            checked(&world);
            assert!(world.drop_empty_archetypes() > 256);
            checked(&world);
            is_usable(&mut world);
        }};
    }
    edges!(63 64 65 127 128 129 191 192 255 256 257 319 320 400);
}

// Hazard 26: ids of archetypes are given again, and a kept query must not mistake one for the other.
#[test]
fn kept_queries_follow_archetypes_that_are_dropped_and_created_again() {
    let mut world = World::new();
    let mut moving = world.query_filtered::<(Entity, &Velocity), Without<Frozen>>();
    let mut anything = world.query::<Entity>();
    let mut positions = world.query::<(Entity, &mut Position)>();
    let mut expected: BTreeMap<Entity, (bool, bool, bool)> = BTreeMap::new();
    for round in 0..40u32 {
        // Another set of archetypes each time, so that ids come back for other sets.
        for n in 0..4 {
            let bits = (round * 5 + n * 3) % 8;
            let entity = world.spawn(Mass(u64::from(n))).id();
            let (velocity, frozen, position) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
            if velocity {
                world.entity_mut(entity).insert(Velocity(1.0));
            }
            if frozen {
                world.entity_mut(entity).insert(Frozen);
            }
            if position {
                world.entity_mut(entity).insert(at(n));
            }
            if n % 2 == 0 {
                world.entity_mut(entity).remove::<Mass>();
            }
            expected.insert(entity, (velocity, frozen, position));
        }
        let ask = |pick: fn(&(bool, bool, bool)) -> bool| -> BTreeSet<Entity> {
            expected.iter().filter(|(_, has)| pick(has)).map(|(&entity, _)| entity).collect()
        };
        assert_eq!(anything.iter(&world).collect::<BTreeSet<_>>(), ask(|_| true), "round {round}");
        let found: BTreeSet<Entity> = moving.iter(&world).map(|(entity, _)| entity).collect();
        assert_eq!(found, ask(|&(velocity, frozen, _)| velocity && !frozen), "round {round}");
        if round % 3 == 0 {
            // Not every round: a query may sleep through what comes and goes.
            let found: BTreeSet<Entity> = positions.iter_mut(&mut world).map(|(entity, _)| entity).collect();
            assert_eq!(found, ask(|&(_, _, position)| position), "round {round}");
        }
        let cached = world.view_filtered::<Entity, (With<Velocity>, Without<Frozen>)>();
        assert_eq!(cached.iter().collect::<BTreeSet<_>>(), ask(|&(velocity, frozen, _)| velocity && !frozen));
        checked(&world);
        match round % 4 {
            0 => {
                world.clear_entities();
                expected.clear();
            }
            1 => {
                let gone: Vec<Entity> = expected.iter().filter(|(_, has)| has.0).map(|(&e, _)| e).collect();
                for entity in gone {
                    assert!(world.despawn(entity));
                    expected.remove(&entity);
                }
            }
            _ => {}
        }
        let before = world.archetypes().len();
        let dropped = world.drop_empty_archetypes();
        assert_eq!(world.archetypes().len(), before - dropped);
        assert!(round % 4 != 0 || world.archetypes().len() == 1);
        checked(&world);
    }
}

// Hazard 26, O-124: the journal tells everything once, in order.
#[test]
fn the_journal_tells_what_came_and_went() {
    let mut world = World::new();
    let cursor = world.archetypes().cursor();
    assert_eq!(world.archetypes().changes_since(cursor), Some(&[][..]));
    let entity = world.spawn(Velocity(1.0)).id();
    let first = world.archetype_of(entity).expect("alive");
    world.entity_mut(entity).insert(Mass(1));
    let second = world.archetype_of(entity).expect("alive");
    assert_eq!(
        world.archetypes().changes_since(cursor),
        Some(&[Change::Created(first), Change::Created(second)][..])
    );
    let later = world.archetypes().cursor();
    assert_eq!(world.drop_empty_archetypes(), 1);
    let other = world.spawn((Frozen, Hidden)).id();
    let third = world.archetype_of(other).expect("alive");
    assert_eq!(third, first, "the id is given again");
    assert_eq!(
        world.archetypes().changes_since(later),
        Some(&[Change::Dropped(first), Change::Created(third)][..])
    );
    let mut living = BTreeSet::from([ArchetypeId::EMPTY]);
    for change in world.archetypes().changes_since(cursor).expect("a short journal") {
        let told = match change {
            Change::Created(id) => living.insert(*id),
            Change::Dropped(id) => living.remove(id),
        };
        assert!(told, "{change:?}");
    }
    assert_eq!(living, world.archetypes().iter().collect());
}

// Hazard 26: what was worked out for an archetype is forgotten with it.
#[test]
fn a_dropped_archetype_takes_its_transitions_with_it() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let stays = world.spawn(Left::make(0)).id();
        for round in 0..6 {
            // The same id stands for {K, Left} in even rounds and {K, Right} in odd ones.
            let entity = world.spawn(K::make(round)).id();
            if round % 2 == 0 {
                world.entity_mut(entity).insert(Left::make(round));
            } else {
                world.entity_mut(entity).insert(Right::make(round));
            }
            let back = world.spawn((K::make(9), Left::make(9), Right::make(9))).id();
            world.entity_mut(back).remove::<Right>().insert(Right::make(10)).remove::<Left>();
            assert_held::<K>(&world, [(entity, round), (back, 9)]);
            assert_held::<Right>(&world, [(back, 10)]);
            assert_held::<Left>(&world, [(stays, 0)]);
            checked(&world);
            world.despawn_batch([entity, back]);
            assert!(world.drop_empty_archetypes() >= 3, "{}", name::<K>());
            assert_eq!(world.archetypes().len(), 2);
            checked(&world);
        }
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind_in_tables!(scenario);
}

// O-067, O-069, O-071, O-072, O-088, O-089.
#[test]
fn an_archetype_is_its_set_of_components_and_holds_exactly_the_entities_with_it() {
    let mut world = World::new();
    let sets = [
        world.spawn(Mass(1)).id(),
        world.spawn((Mass(1), Frozen)).id(),
        world.spawn((Frozen, Hidden)).id(),
        world.spawn((Mass(1), Velocity(1.0), Frozen)).id(),
        world.spawn_empty().id(),
    ];
    let others = [
        world.spawn(Mass(2)).id(),
        world.spawn((Frozen, Mass(2))).id(),
        world.spawn((Hidden, Frozen)).id(),
        world.spawn((Frozen, (Velocity(2.0), Mass(2)))).id(),
        world.spawn(()).id(),
    ];
    let archetypes: BTreeSet<_> = sets.iter().map(|&entity| world.archetype_of(entity)).collect();
    assert_eq!((archetypes.len(), world.archetypes().len()), (5, 5));
    for (a, b) in sets.into_iter().zip(others) {
        assert_eq!(world.archetype_of(a), world.archetype_of(b), "the order of a bundle does not matter");
    }
    // A tag is one bit more.
    let frozen = world.component_id::<Frozen>().expect("spawned before");
    assert!(signature(&world, sets[1]).has(frozen) && !signature(&world, sets[0]).has(frozen));
    assert_eq!(signature(&world, sets[1]), &signature(&world, sets[0]).with(frozen));
    assert_eq!(world.view_filtered::<Entity, (With<Mass>, Without<Frozen>)>().count(), 2);
    let stats = world.stats();
    assert!(stats.archetypes.iter().all(|archetype| archetype.entities == 2));
    let tags = stats.archetypes.iter().flat_map(|archetype| &archetype.columns);
    let tags =
        tags.filter(|column| column.component.contains("Frozen") || column.component.contains("Hidden"));
    assert!(tags.clone().count() == 4 && tags.map(|column| column.bytes).all(|bytes| bytes == 0));
}

// O-101..O-103, O-107..O-112, O-114, O-148, O-149: counted, not timed.
#[test]
fn a_way_between_archetypes_is_worked_out_once_there_and_back() {
    let mut world = World::new();
    let entities: Vec<Entity> = (0..50).map(|n| world.spawn(Mass(n)).id()).collect();
    let begin = world.stats().edges_computed;
    world.entity_mut(entities[0]).insert((at(1), Velocity(2.0), Frozen));
    let known = world.stats().edges_computed;
    assert!(known > begin, "the first time it is worked out");
    assert_eq!(world.archetypes().len(), 3, "no archetypes in between");
    for &entity in &entities {
        world.entity_mut(entity).insert((at(1), Velocity(2.0), Frozen));
        world.entity_mut(entity).remove::<(Position, Velocity, Frozen)>();
        world.entity_mut(entity).insert((at(2), Velocity(3.0), Frozen));
    }
    // One more: entity 0 had the bundle already, which is a way from an archetype to itself.
    assert_eq!(world.stats().edges_computed, known + 1);
    assert_eq!(world.archetypes().len(), 3);
    assert!(
        entities.iter().all(|&entity| world.get::<Position>(entity).is_some_and(|row| row.get() == at(2)))
    );
    assert!(entities.iter().zip(0..).all(|(&entity, n)| world.get::<Mass>(entity) == Some(&Mass(n))));
    world.entity_mut(entities[7]).remove::<(Position, Velocity, Frozen)>();
    assert_eq!(world.archetypes().len(), 3, "removing several passes through no archetypes in between");
    checked(&world);
}

/// All subsets of eight components, by run-time ids.
fn subsets(world: &mut World) -> (Vec<ComponentId>, Vec<Entity>) {
    let ids: Vec<ComponentId> = (0..8).map(|n| filler(world, n)).collect();
    let entities = (0..256usize).map(|bits| {
        let entity = world.spawn_empty().id();
        // From either end, so that the same set is reached by different ways.
        let chosen = (0..8).filter(|n| bits & 1 << n != 0);
        let order: Vec<usize> = if bits % 3 == 0 { chosen.rev().collect() } else { chosen.collect() };
        for n in order {
            let value = Value::U32(u32::try_from(bits).expect("small"));
            world.insert_dynamic(entity, ids[n], &[("value", value)]).expect("alive");
        }
        entity
    });
    let entities = entities.collect();
    (ids, entities)
}

// O-116..O-123, O-125.
#[test]
fn no_two_archetypes_have_the_same_components_and_each_is_found() {
    let mut world = World::new();
    let (ids, entities) = subsets(&mut world);
    let archetypes: BTreeSet<_> =
        entities.iter().map(|&entity| world.archetype_of(entity).expect("alive")).collect();
    assert_eq!((archetypes.len(), world.archetypes().len()), (256, 256));
    for (&entity, bits) in entities.iter().zip(0usize..) {
        let set = Signature::from_ids((0..8).filter(|n| bits & 1 << n != 0).map(|n| ids[n]));
        assert_eq!(signature(&world, entity), &set);
        assert_eq!(world.archetypes().find(&set), world.archetype_of(entity));
        for (&id, n) in ids.iter().zip(0..) {
            let listed =
                world.archetypes().with_component(id).contains(&world.archetype_of(entity).expect("alive"));
            assert_eq!(listed, bits & 1 << n != 0);
            let value = world.get_field(entity, id, "value").ok();
            assert_eq!(value, listed.then(|| Value::U32(u32::try_from(bits).expect("small"))));
        }
    }
    let unknown = Signature::from_ids(ids.iter().copied()).with(world.register_component::<Mass>());
    assert_eq!(world.archetypes().find(&unknown), None);
    checked(&world);
}

// O-126..O-128: the same answers as looking at everything.
#[test]
fn matching_is_all_of_these_none_of_those_and_any_of_others() {
    let mut world = World::new();
    let (ids, _) = subsets(&mut world);
    // A rare component, so that matching has somewhere to begin that is not the first.
    let rare = world.spawn(Frozen).id();
    let frozen = world.component_id::<Frozen>().expect("spawned before");
    world.insert_dynamic(rare, ids[3], &[]).expect("alive");
    let set = |bits: usize| Signature::from_ids((0..8).filter(|n| bits & 1 << n != 0).map(|n| ids[n]));
    let all: Vec<ArchetypeId> = world.archetypes().iter().collect();
    let mut hits = 0;
    for (include, exclude, any) in
        (0..400usize).map(|n| (n * 37 % 16, (n * 11) & 0b1010_0000, (n * 7) & 0b0101_0000))
    {
        for rarely in [false, true] {
            let include = if rarely { set(include).with(frozen) } else { set(include) };
            let (exclude, any) = (set(exclude), set(any));
            let naive: BTreeSet<ArchetypeId> = all
                .iter()
                .copied()
                .filter(|&id| {
                    let has = world.archetypes().signature(id);
                    include.iter().all(|id| has.has(id))
                        && exclude.iter().all(|id| !has.has(id))
                        && (any.is_empty() || any.iter().any(|id| has.has(id)))
                })
                .collect();
            let found = world.archetypes().matching(&include, &exclude, &any);
            assert_eq!(found.len(), naive.len());
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), naive);
            hits += naive.len();
        }
    }
    assert!(hits > 1_000, "the question must have answers: {hits}");
}

// O-130.
#[test]
fn a_signature_never_changes_while_its_archetype_lives() {
    let mut world = World::new();
    let entity = world.spawn((Mass(1), Frozen)).id();
    let home = world.archetype_of(entity).expect("alive");
    let set = world.archetypes().signature(home).clone();
    world.entity_mut(entity).insert(Velocity(1.0)).remove::<Frozen>();
    world.spawn((Mass(2), Hidden));
    world.clear_entities();
    assert_eq!(world.archetypes().signature(home), &set);
    world.drop_empty_archetypes();
    assert!(!world.archetypes().contains(home) && world.archetypes().signature(home).is_empty());
    assert_eq!((world.archetypes().find(&set), world.archetypes().table(home)), (None, None));
    assert_eq!(world.insert_into_archetype(home, &Hidden), 0, "it has no entities");
    assert_eq!(world.remove_from_archetype::<Mass>(home), 0);
    checked(&world);
}
