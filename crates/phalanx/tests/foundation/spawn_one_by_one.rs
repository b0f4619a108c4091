//! Spawning many entities one by one, when the world keeps a spawn cursor: whatever else belongs to an entity comes
//! along, and changes of the world between two spawns are seen.

use std::sync::Arc;

use phalanx::group::{Get, Own};
use phalanx::prelude::*;

#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Position(f32, f32);
#[derive(Component, Clone, Copy, PartialEq, Debug)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f64,
}
#[derive(Component, Clone, Debug)]
struct Shared(#[allow(dead_code, reason = "counted")] Arc<()>);
#[derive(Component, Clone, Copy, Default, PartialEq, Debug)]
struct Armour(u8);
#[derive(Component, Clone, Copy)]
#[require(Armour)]
struct Knight;
#[derive(Component, Clone, Copy, PartialEq, Debug)]
#[component(storage = "sparse")]
struct Burning(u32);
#[derive(Component, Clone, Copy)]
#[component(storage = "sparse")]
struct Wet;

#[derive(Component, Clone, Copy, Default, PartialEq, Debug)]
#[component(storage = "sparse")]
struct Aura(u8);
#[derive(Component, Clone, Copy)]
#[require(Aura)]
struct Wizard;

fn velocity(n: u32) -> Velocity {
    Velocity { x: n as f32, y: f64::from(n) }
}

#[test]
fn spawning_one_by_one_is_as_good_as_a_batch() {
    let (mut world, mut other) = (World::new(), World::new());
    let mut alive = Vec::new();
    for n in 0..10_000u32 {
        let bundle = (Position(n as f32, 1.0), velocity(n));
        let entity = world.spawn(bundle).id();
        assert_eq!(other.spawn_batch([bundle]).next(), Some(entity));
        alive.push(entity);
        if n % 3 == 0 {
            let gone = alive.swap_remove(n as usize * 7 % alive.len());
            assert!(world.despawn(gone) && other.despawn(gone));
            assert!(!world.despawn(gone), "dead already");
        }
    }
    world.check().unwrap();
    assert_eq!(world.entities().len(), alive.len());
    let rows = |world: &World| {
        let query = world.view::<(Entity, &Position, &Velocity)>();
        query
            .iter()
            .map(|(entity, &position, velocity)| (entity, position, *velocity.x, *velocity.y))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&world), rows(&other));
}

#[test]
fn requirements_come_along_with_every_entity() {
    let mut world = World::new();
    for _ in 0..20 {
        let knight = world.spawn(Knight).id();
        assert_eq!(world.get::<Armour>(knight), Some(&Armour(0)));
        let wizard = world.spawn((Wizard, Position(0.0, 0.0))).id();
        assert_eq!(world.get::<Aura>(wizard), Some(&Aura(0)), "in a set");
    }
    world.check().unwrap();
}

#[test]
fn sparse_parts_and_groups_are_served_while_a_cursor_is_open() {
    let mut world = World::new();
    let spawn = |world: &mut World, n| world.spawn((Position(0.0, 0.0), Burning(n), Wet)).id();
    let before: Vec<Entity> = (0..50).map(|n| spawn(&mut world, n)).collect();
    let group = world.group::<Own<(Burning,)>, Get<(Wet,)>, ()>().unwrap();
    let plain: Vec<Entity> = (0..50).map(|n| world.spawn(Position(n as f32, 0.0)).id()).collect();
    let after: Vec<Entity> = (0..50).map(|n| spawn(&mut world, n)).collect();
    assert_eq!(group.len(&world), 100);
    assert!(world.despawn(before[5]) && !world.despawn(before[5]));
    assert!(world.despawn(after[7]) && world.despawn(plain[3]));
    assert_eq!((group.len(&world), world.sparse::<Burning>().len()), (98, 98));
    // Sets exist: an entity without sparse parts may be in one when it goes.
    world.insert(plain[0], Burning(7)).unwrap();
    assert!(world.despawn(plain[0]));
    assert_eq!(world.sparse::<Burning>().len(), 98);
    world.check().unwrap();
}

#[test]
fn bundles_that_take_turns_get_their_own_rows() {
    let mut world = World::new();
    for n in 0..3_000u16 {
        let x = f32::from(n);
        let one = world.spawn((Position(x, 1.0), Armour(1))).id();
        let other = world.spawn((Armour(2), Position(x, 2.0))).id();
        let alone = world.spawn(Position(x, 3.0)).id();
        assert_eq!(world.get::<Position>(one), Some(&Position(x, 1.0)));
        assert_eq!(world.get::<Armour>(other), Some(&Armour(2)));
        assert_eq!(world.archetype_of(one), world.archetype_of(other));
        assert_ne!(world.archetype_of(one), world.archetype_of(alone));
        if n % 500 == 0 {
            world.despawn(alone);
            world.shrink_to_fit();
            world.increment_change_tick();
            world.check().unwrap();
        }
    }
    assert_eq!(world.view::<&Position>().iter().count(), 8_994);
}

#[test]
fn dropped_archetypes_are_made_again() {
    let mut world = World::new();
    for _ in 0..3 {
        let entities: Vec<Entity> =
            (0..30).map(|n| world.spawn((Position(0.0, 0.0), velocity(n))).id()).collect();
        for entity in entities {
            assert!(world.despawn(entity));
        }
        assert_eq!(world.drop_empty_archetypes(), 1);
        world.check().unwrap();
    }
}

#[test]
fn values_are_dropped_once() {
    let counted = Arc::new(());
    let mut world = World::new();
    let spawn = |_| world.spawn((Shared(counted.clone()), Position(0.0, 0.0))).id();
    let entities: Vec<Entity> = (0..1_000).map(spawn).collect();
    assert_eq!(Arc::strong_count(&counted), 1_001);
    for &entity in &entities[..400] {
        assert!(world.despawn(entity));
    }
    assert_eq!(Arc::strong_count(&counted), 601);
    drop(world);
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn reserved_ids_come_alive_between_spawns() {
    let mut world = World::new();
    let mut entities: Vec<Entity> = (0..20).map(|_| world.spawn(Position(0.0, 0.0)).id()).collect();
    let reserved = world.reserve_entity();
    entities.push(world.spawn(Position(1.0, 1.0)).id());
    let again = world.reserve_entity();
    assert!(world.despawn(entities[0]));
    assert!(world.despawn(again) && world.despawn(reserved), "both came alive");
    world.check().unwrap();
    assert_eq!(world.entities().len(), 20);
}

#[derive(Pool)]
struct Orcs {
    position: Position,
    velocity: Velocity,
    armour: Option<Armour>,
    shared: Option<Shared>,
}

fn orc(n: u32) -> Orcs {
    Orcs { position: Position(n as f32, 0.0), velocity: velocity(n), armour: None, shared: None }
}

#[derive(Pool)]
#[pool(storage = "boxed")]
struct Trees {
    position: Position,
    burning: Option<Burning>,
}

#[test]
fn a_pool_spawns_whatever_comes() {
    let counted = Arc::new(());
    let (mut world, mut other) = (World::new(), World::new());
    let mut entities = Vec::new();
    for n in 0..4_000u32 {
        // Runs of equal ones, and single others.
        let value = |counted: &Arc<()>| Orcs {
            armour: (n / 100 % 2 == 0).then_some(Armour(7)),
            shared: (n % 50 == 7).then(|| Shared(counted.clone())),
            ..orc(n)
        };
        let entity = world.spawn_in(value(&counted));
        assert_eq!(other.spawn_batch_in([value(&counted)]).next(), Some(entity));
        entities.push(entity);
        if n % 5 == 4 {
            let gone = entities.swap_remove(n as usize * 13 % entities.len());
            let mut pool = world.pool_mut::<Orcs>();
            pool.despawn(gone).unwrap();
            assert!(other.despawn(gone));
            assert!(pool.despawn(gone).is_err());
        }
    }
    assert_eq!(world.pool::<Orcs>().len(), entities.len());
    world.check().unwrap();
    for &entity in &entities {
        assert_eq!(world.get::<Position>(entity), other.get::<Position>(entity));
        assert_eq!(world.get::<Armour>(entity), other.get::<Armour>(entity));
        assert_eq!(world.get::<Shared>(entity).is_some(), other.get::<Shared>(entity).is_some());
    }
    drop((world, other));
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn a_pool_leaves_other_pools_alone() {
    let mut world = World::new();
    let tree = world.spawn_in(Trees { position: Position(0.0, 0.0), burning: Some(Burning(1)) });
    let all: Vec<Entity> = (0..100).map(|n| world.spawn_in(orc(n))).collect();
    let mut orcs = world.pool_mut::<Orcs>();
    assert!(orcs.despawn(tree).is_err());
    // The first of them changes its archetype, and goes all the same.
    orcs.insert(all[0], Armour(3)).unwrap();
    orcs.despawn(all[0]).unwrap();
    let handle = orcs.handle(all[1]).unwrap();
    orcs.despawn(handle).unwrap();
    assert!(orcs.despawn(handle).is_err());
    assert_eq!(orcs.len(), 98);
    let more: Vec<Entity> =
        (0..10).map(|_| world.spawn_in(Trees { position: Position(1.0, 1.0), burning: None })).collect();
    let mut trees = world.pool_mut::<Trees>();
    trees.insert(more[3], Burning(9)).unwrap();
    trees.despawn(more[3]).unwrap();
    trees.despawn(tree).unwrap();
    assert_eq!((trees.len(), world.sparse::<Burning>().len()), (9, 0));
    world.check().unwrap();
}

#[derive(Pool)]
struct Guards {
    position: Position,
    knight: Option<Knight>,
    armour: Option<Armour>,
}

#[test]
fn requirements_and_sets_have_their_say_in_pools() {
    let mut world = World::new();
    // Many alike, so that a cursor would be opened, and others between them.
    let all: Vec<Entity> = (0..60)
        .map(|n| {
            let burning = (n % 20 < 15).then_some(Burning(n));
            world.spawn_in(Trees { position: Position(0.0, 0.0), burning })
        })
        .collect();
    let mut trees = world.pool_mut::<Trees>();
    for (&entity, n) in all.iter().zip(0..) {
        let burning = (n % 20 < 15).then_some(Burning(n));
        assert_eq!(trees.get::<Burning>(entity).ok().copied(), burning);
    }
    for &entity in &all[..30] {
        trees.despawn(entity).unwrap();
    }
    assert_eq!((trees.len(), world.sparse::<Burning>().len()), (30, 20));
    world.check().unwrap();

    let all: Vec<Entity> = (0..60)
        .map(|n| {
            let armour = (n % 20 >= 15).then_some(Armour(9));
            world.spawn_in(Guards { position: Position(0.0, 0.0), knight: Some(Knight), armour })
        })
        .collect();
    let mut guards = world.pool_mut::<Guards>();
    for (&entity, n) in all.iter().zip(0..) {
        let armour = Armour(if n % 20 < 15 { 0 } else { 9 });
        assert_eq!(guards.get::<Armour>(entity).unwrap(), &armour);
    }
    for entity in all {
        guards.despawn(entity).unwrap();
    }
    assert!(guards.is_empty());
    world.check().unwrap();
}
