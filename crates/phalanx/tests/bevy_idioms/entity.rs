//! `EntityWorldMut` and `EntityRef`, method by method.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
#[require(Armor)]
struct Shield;

#[test]
fn entity_world_mut_id() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    assert_eq!(world.entity_mut(entity).id(), entity);
}

#[test]
fn entity_world_mut_contains() {
    let mut world = World::new();
    let entity = world.spawn(Health(1));
    assert!(entity.contains::<Health>());
    assert!(!entity.contains::<Armor>());
}

#[test]
fn entity_world_mut_contains_id() {
    let mut world = World::new();
    let health = world.register_component::<Health>();
    let armor = world.register_component::<Armor>();
    let entity = world.spawn(Health(1));
    assert!(entity.contains_id(health));
    assert!(!entity.contains_id(armor));
}

#[test]
fn entity_world_mut_get() {
    let mut world = World::new();
    let entity = world.spawn(Health(1));
    assert_eq!(entity.get::<Health>(), Some(&Health(1)));
    assert_eq!(entity.get::<Armor>(), None);
}

#[test]
fn entity_world_mut_get_mut() {
    let mut world = World::new();
    let mut entity = world.spawn(Health(1));
    entity.get_mut::<Health>().unwrap().0 = 6;
    assert_eq!(entity.get::<Health>(), Some(&Health(6)));
}

#[test]
fn entity_world_mut_insert() {
    let mut world = World::new();
    let mut entity = world.spawn_empty();
    entity.insert(Health(1)).insert((Health(2), Armor(3)));
    assert_eq!(entity.get::<Health>(), Some(&Health(2)));
}

#[test]
fn entity_world_mut_insert_if_new() {
    let mut world = World::new();
    let mut entity = world.spawn(Health(1));
    entity.insert_if_new((Health(9), Armor(9)));
    assert_eq!(entity.get::<Health>(), Some(&Health(1)));
    assert_eq!(entity.get::<Armor>(), Some(&Armor(9)));
}

#[test]
fn entity_world_mut_remove() {
    let mut world = World::new();
    let mut entity = world.spawn((Health(1), Armor(1)));
    entity.remove::<Health>().remove::<Health>();
    assert!(!entity.contains::<Health>());
    assert!(entity.contains::<Armor>());
}

#[test]
fn entity_world_mut_remove_by_id() {
    let mut world = World::new();
    let id = world.register_component::<Health>();
    let mut entity = world.spawn((Health(1), Armor(1)));
    entity.remove_by_id(id);
    assert!(!entity.contains::<Health>());
}

#[test]
fn entity_world_mut_take() {
    let mut world = World::new();
    let mut entity = world.spawn((Health(1), Armor(2)));
    assert_eq!(entity.take::<Armor>(), Some(Armor(2)));
    assert_eq!(entity.take::<Armor>(), None);
    // All of the bundle, or nothing.
    assert_eq!(entity.take::<(Health, Armor)>(), None);
    assert!(entity.contains::<Health>());
}

#[test]
fn entity_world_mut_retain() {
    let mut world = World::new();
    let mut entity = world.spawn((Health(1), Shield));
    // What `Shield` requires stays with it.
    entity.retain::<Shield>();
    assert!(!entity.contains::<Health>());
    assert!(entity.contains::<Shield>() && entity.contains::<Armor>());
}

#[test]
fn entity_world_mut_clear() {
    let mut world = World::new();
    let mut entity = world.spawn((Health(1), Armor(1)));
    entity.clear();
    assert!(!entity.contains::<Health>() && !entity.contains::<Armor>());
}

#[test]
fn entity_world_mut_despawn() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    world.entity_mut(entity).despawn();
    assert!(world.get_entity(entity).is_err());
}

#[test]
fn entity_world_mut_world() {
    let mut world = World::new();
    let entity = world.spawn(Health(1));
    assert!(entity.world().component_id::<Health>().is_some());
}

#[test]
fn entity_ref_id() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    assert_eq!(world.entity(entity).id(), entity);
}

#[test]
fn entity_ref_contains() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    assert!(world.entity(entity).contains::<Health>());
    assert!(!world.entity(entity).contains::<Armor>());
}

#[test]
fn entity_ref_contains_id() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let id = world.component_id::<Health>().unwrap();
    assert!(world.entity(entity).contains_id(id));
}

#[test]
fn entity_ref_get() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let health: &Health = world.entity(entity).get::<Health>().unwrap();
    assert_eq!(health.0, 1);
}
