//! The rows of a table: gaps that the last row fills (hazard 24), changes that move nothing (hazard 27), and columns that
//! lie side by side.

use std::collections::BTreeMap;

use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Component, Entity, With, Without, World};

use super::{Frozen, Hidden, Mass, Position, Velocity, at, checked, position};
use crate::common::ledger::Ledger;
use crate::common::zoo::{Kind, Left, Right, Tag, assert_held, assert_lacks, for_each_kind_in_tables, name};

// Hazard 24: O-092..O-099.
#[test]
fn the_entity_that_fills_a_gap_is_found_at_its_new_row() {
    type Operation<K> =
        (&'static str, fn(&mut World, Entity), fn(&World, Entity, u32), bool, std::marker::PhantomData<K>);
    fn scenario<K: Kind>() {
        let kind = std::marker::PhantomData::<K>;
        // Each with what must hold of the entity afterwards, and whether its row was left.
        let operations: [Operation<K>; 9] = [
            (
                "despawn",
                |world, entity| assert!(world.despawn(entity)),
                |world, entity, _| assert!(!world.contains(entity)),
                true,
                kind,
            ),
            (
                "insert",
                |world, entity| world.insert(entity, Right::make(50)).expect("alive"),
                |world, entity, seed| {
                    assert_held::<K>(world, [(entity, seed)]);
                    assert_held::<Right>(world, [(entity, 50)]);
                },
                true,
                kind,
            ),
            (
                "overwrite",
                |world, entity| world.insert(entity, K::make(51)).expect("alive"),
                |world, entity, _| assert_held::<K>(world, [(entity, 51)]),
                false,
                kind,
            ),
            (
                "remove",
                |world, entity| world.remove::<K>(entity).expect("alive"),
                |world, entity, seed| {
                    assert_lacks::<K>(world, entity);
                    assert_held::<Left>(world, [(entity, seed)]);
                },
                true,
                kind,
            ),
            (
                "remove what is not there",
                |world, entity| world.remove::<Right>(entity).expect("alive"),
                |world, entity, seed| assert_held::<K>(world, [(entity, seed)]),
                false,
                kind,
            ),
            (
                "take",
                |world, entity| assert!(world.take::<Left>(entity).is_some()),
                |world, entity, seed| {
                    assert_lacks::<Left>(world, entity);
                    assert_held::<K>(world, [(entity, seed)]);
                },
                true,
                kind,
            ),
            (
                "clear",
                |world, entity| {
                    world.entity_mut(entity).clear();
                },
                |world, entity, _| assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY)),
                true,
                kind,
            ),
            (
                "retain",
                |world, entity| world.retain::<K>(entity).expect("alive"),
                |world, entity, seed| assert_held::<K>(world, [(entity, seed)]),
                true,
                kind,
            ),
            (
                "remove by id",
                |world, entity| {
                    let left = world.component_id::<Left>().expect("spawned before");
                    assert_eq!(world.remove_by_id(entity, left), Ok(true));
                },
                |world, entity, seed| assert_held::<K>(world, [(entity, seed)]),
                true,
                kind,
            ),
        ];
        for rows in 3..6 {
            for victim in 0..rows {
                for (operation, change, verdict, leaves, _) in operations {
                    let ledger = Ledger::open();
                    let mut world = World::new();
                    let entities: Vec<Entity> =
                        (0..rows).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
                    let home = world.archetype_of(entities[0]).expect("alive");
                    let gone = entities[victim as usize];
                    change(&mut world, gone);
                    let case = || format!("{}: {operation} row {victim} of {rows}", name::<K>());
                    verdict(&world, gone, victim);
                    let others = || entities.iter().copied().zip(0..).filter(|&(entity, _)| entity != gone);
                    assert_held::<K>(&world, others());
                    assert_held::<Left>(&world, others());
                    world.check().unwrap_or_else(|fault| panic!("{}: {fault}", case()));
                    // No hole: the last row stands in the gap, the others where they were.
                    let mut expected = entities.clone();
                    if leaves {
                        expected.swap_remove(victim as usize);
                    }
                    let table = world.view_filtered::<Entity, (With<K>, With<Left>, Without<Right>)>();
                    assert_eq!(table.iter().collect::<Vec<_>>(), expected, "{}", case());
                    assert!(
                        others().all(|(entity, _)| world.archetype_of(entity) == Some(home)),
                        "{}",
                        case()
                    );
                    drop(world);
                    ledger.all_dropped_once();
                }
            }
        }
    }
    for_each_kind_in_tables!(scenario);
}

// Hazard 24: the moved entity moves again, and again; every place follows.
#[test]
fn rows_that_were_moved_can_be_moved_again() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let mut alive: BTreeMap<Entity, u32> =
            (0..12).map(|seed| (world.spawn((K::make(seed), Left::make(seed))).id(), seed)).collect();
        // First, last, middle, in turn; the same entity may be swapped several times.
        while let Some(&gone) = alive.keys().nth(alive.len() * (alive.len() % 3) / 3) {
            match alive.len() % 4 {
                0 => world.entity_mut(gone).insert(Right::make(1)).remove::<Left>(),
                1 => world.entity_mut(gone).remove::<K>(),
                _ => world.entity_mut(gone).insert(Right::make(2)),
            };
            assert_held::<K>(&world, alive.iter().map(|(&e, &seed)| (e, seed)).filter(|&(e, _)| e != gone));
            assert!(world.despawn(gone));
            alive.remove(&gone);
            assert_held::<K>(&world, alive.iter().map(|(&e, &seed)| (e, seed)));
            assert_held::<Left>(&world, alive.iter().map(|(&e, &seed)| (e, seed)));
            checked(&world);
        }
        assert_eq!((world.entities().len(), ledger.live()), (0, 0), "{}", name::<K>());
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind_in_tables!(scenario);
}

// Hazard 24 after a bulk move: O-155, O-156.
#[test]
fn every_place_is_right_after_a_bulk_move() {
    fn scenario<K: Kind>() {
        let _ledger = Ledger::open();
        let mut world = World::new();
        let settled: Vec<Entity> = (50..53)
            .map(|seed| world.spawn((K::make(seed), Left::make(seed), Right::make(9))).id())
            .collect();
        let moved: Vec<Entity> =
            (0..6).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
        let (source, target) = (world.archetype_of(moved[0]).expect("alive"), world.archetype_of(settled[0]));
        assert_eq!(world.insert_into_archetype(source, &Right::make(9)), 6);
        assert!(moved.iter().all(|&entity| world.archetype_of(entity) == target));
        let entities =
            |id| world.stats().archetypes.iter().find(|stats| stats.id == id).map(|stats| stats.entities);
        assert_eq!((entities(source), target.and_then(entities)), (Some(0), Some(9)));
        for &gone in [&settled[1], &moved[5], &moved[0]] {
            assert!(world.despawn(gone));
            checked(&world);
        }
        assert_held::<K>(&world, [(settled[0], 50), (settled[2], 52)]);
        assert_held::<K>(&world, moved[1..5].iter().copied().zip(1..));
        assert_held::<Left>(&world, moved[1..5].iter().copied().zip(1..));
        // Nothing is left behind: the source takes new rows from its beginning.
        let fresh = world.spawn((K::make(70), Left::make(70))).id();
        assert_held::<K>(&world, [(fresh, 70)]);
        checked(&world);
    }
    for_each_kind_in_tables!(scenario);
}

// Hazard 24, O-089, O-100: tables of tags alone have rows, and nothing else.
#[test]
fn a_table_of_tags_keeps_its_rows_without_memory_for_columns() {
    let mut world = World::new();
    let entities: Vec<Entity> = (0..5).map(|_| world.spawn((Tag, Frozen)).id()).collect();
    world.despawn(entities[0]);
    world.entity_mut(entities[2]).remove::<Frozen>();
    world.entity_mut(entities[3]).insert(Hidden);
    checked(&world);
    let both: Vec<Entity> = world.view_filtered::<Entity, (With<Tag>, With<Frozen>)>().iter().collect();
    assert_eq!(both, [entities[4], entities[1], entities[3]]);
    assert_eq!(
        world.view_filtered::<Entity, (With<Tag>, Without<Frozen>)>().iter().collect::<Vec<_>>(),
        [entities[2]]
    );
    let stats = world.stats();
    let columns = stats.archetypes.iter().flat_map(|archetype| &archetype.columns);
    assert_eq!(columns.map(|column| column.bytes).sum::<usize>(), 0);
}

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Mass(5), Velocity = Velocity(6.0))]
struct Engine;

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Engine)]
struct Rocket;

impl Default for Engine {
    fn default() -> Self {
        Self
    }
}

// Hazard 27: O-111, O-151.
#[test]
fn removing_what_is_not_there_and_adding_what_is_there_moves_nothing() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let entities: Vec<Entity> =
            (0..3).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
        let rowless = world.spawn_empty().id();
        let (archetypes, home) = (world.archetypes().len(), world.archetype_of(entities[0]));
        for &entity in &entities {
            world.entity_mut(entity).remove::<Right>().remove::<(Right, Mass)>().remove::<()>();
            assert!(world.take::<Right>(entity).is_none() && world.take::<(K, Right)>(entity).is_none());
            world.retain::<(K, Left, Right)>(entity).expect("alive");
            world.entity_mut(entity).insert_if_new(K::make(60)).insert_if_new((Left::make(60), K::make(60)));
        }
        world.entity_mut(rowless).remove::<K>().retain::<K>().clear();
        assert!(world.take::<K>(rowless).is_none());
        let right = world.register_component::<Right>();
        assert_eq!(world.remove_by_id(entities[0], right), Ok(false));
        assert_eq!(world.remove_by_id(rowless, right), Ok(false));
        assert_eq!(
            (world.archetypes().len(), world.archetype_of(entities[1])),
            (archetypes, home),
            "{}",
            name::<K>()
        );
        assert_eq!(world.archetype_of(rowless), Some(ArchetypeId::EMPTY));
        assert_held::<K>(&world, entities.iter().copied().zip(0..));
        assert_held::<Left>(&world, entities.iter().copied().zip(0..));
        world.entity_mut(entities[2]).insert((K::make(7), Left::make(7)));
        assert_eq!(
            (world.archetypes().len(), world.archetype_of(entities[2])),
            (archetypes, home),
            "{}",
            name::<K>()
        );
        assert_held::<K>(&world, [(entities[0], 0), (entities[1], 1), (entities[2], 7)]);
        checked(&world);
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind_in_tables!(scenario);
}

// Hazard 27 with requirements.
#[test]
fn required_components_come_once_stay_as_they_are_and_may_go_alone() {
    let mut world = World::new();
    let plain = world.spawn(Rocket).id();
    assert_eq!(
        (world.get::<Mass>(plain), world.get::<Velocity>(plain)),
        (Some(&Mass(5)), Some(&Velocity(6.0)))
    );
    assert!(world.entity(plain).contains::<Engine>());
    let home = world.archetype_of(plain);

    let own = world.spawn((Mass(1), Hidden)).id();
    world.entity_mut(own).insert(Rocket);
    assert_eq!((world.get::<Mass>(own), world.get::<Velocity>(own)), (Some(&Mass(1)), Some(&Velocity(6.0))));
    // Again: nothing comes, nothing changes.
    world.get_mut::<Velocity>(own).expect("required").0 = 2.0;
    let before = world.archetype_of(own);
    world.entity_mut(own).insert(Rocket).insert_if_new((Rocket, Engine)).insert(Engine);
    assert_eq!((world.archetype_of(own), world.get::<Velocity>(own)), (before, Some(&Velocity(2.0))));
    // Removing what requires leaves what was required; removing what is required leaves the rest.
    world.entity_mut(own).remove::<Rocket>().remove::<Rocket>();
    assert!(world.entity(own).contains::<Engine>() && world.get::<Mass>(own).is_some());
    world.entity_mut(own).remove::<(Mass, Frozen)>();
    assert!(world.entity(own).contains::<Engine>() && world.get::<Mass>(own).is_none());
    // Inserting again brings back exactly what is missing.
    world.entity_mut(own).insert(Rocket);
    assert_eq!((world.get::<Mass>(own), world.get::<Velocity>(own)), (Some(&Mass(5)), Some(&Velocity(2.0))));
    world.entity_mut(plain).remove::<Rocket>().insert(Rocket);
    assert_eq!(world.archetype_of(plain), home);
    checked(&world);

    // For whole tables likewise.
    let many: Vec<Entity> = world.spawn_batch((0..4).map(|n| (Velocity(3.0), Mass(n)))).collect();
    let source = world.archetype_of(many[0]).expect("alive");
    assert_eq!(world.insert_into_archetype(source, &Rocket), 4);
    assert_eq!(world.archetype_of(many[0]), home);
    assert!(many.iter().zip(0..).all(|(&entity, n)| world.get::<Mass>(entity) == Some(&Mass(n))));
    assert_eq!(world.insert_into_archetype(source, &Rocket), 0);
    assert_eq!(world.remove_from_archetype::<(Rocket, Hidden)>(home.expect("alive")), 5);
    assert!(many.iter().all(|&entity| world.entity(entity).contains::<Engine>()));
    checked(&world);
}

// O-004, O-073, O-075, O-078, O-090.
#[test]
fn the_fields_of_equal_entities_lie_side_by_side() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..10_000).map(|n| (at(n), Velocity(1.0)))).collect();
    let chunks: Vec<usize> = world.view::<&Position>().chunks().map(|position| position.len()).collect();
    assert_eq!(chunks, [10_000], "one pass over one array per field");
    let address = |entity| {
        let row = world.get::<Position>(entity).expect("spawned with it");
        (std::ptr::from_ref(row.x).addr(), std::ptr::from_ref(row.y).addr())
    };
    let (x, y) = address(entities[0]);
    for (&entity, n) in entities.iter().zip(0..) {
        assert_eq!(address(entity), (x + n * size_of::<f32>(), y + n * size_of::<f64>()));
    }
    // Row i of every column is the same entity.
    for (rows, n) in world.view::<(Entity, &position::x, &position::y)>().iter().zip(0..) {
        assert_eq!(rows, (entities[n as usize], &at(n).x, &at(n).y));
    }
}

// O-087: through the query that yields slices, written and read.
#[test]
fn a_column_is_read_and_written_as_a_slice() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..5).map(Mass)).collect();
    for masses in world.view_mut::<&mut Mass>().chunks_mut() {
        masses.iter_mut().for_each(|mass| mass.0 *= 10);
    }
    let masses: Vec<u64> =
        entities.iter().filter_map(|&entity| world.get::<Mass>(entity)).map(|mass| mass.0).collect();
    assert_eq!(masses, [0, 10, 20, 30, 40]);
    let slices: Vec<&[Mass]> = world.view::<&Mass>().into_iter().map(std::slice::from_ref).collect();
    assert_eq!(slices.concat().len(), 5);
}
