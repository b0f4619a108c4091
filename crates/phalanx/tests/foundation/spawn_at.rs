//! Entities with ids that the caller names.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Health(u32);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = "sparse")]
struct Burning(u32);
#[derive(Component)]
#[require(Unmade = panic!("told to"))]
struct Needy;
#[derive(Component)]
struct Unmade;

fn id(index: u32, generation: u32) -> Entity {
    Entity::from_bits(u64::from(generation + 1) << 32 | u64::from(index)).expect("the upper half is not zero")
}

#[test]
fn an_entity_has_the_id_and_the_components_it_was_given() {
    let mut world = World::new();
    let entity = world.spawn_at(id(5, 3), (Health(1), Burning(2))).unwrap().id();
    assert_eq!(entity, id(5, 3));
    assert_eq!(
        (world.get::<Health>(entity), world.get::<Burning>(entity)),
        (Some(&Health(1)), Some(&Burning(2)))
    );
    assert_eq!(world.spawn(Health(2)).id(), id(0, 0), "skipped indices are given next");
    world.check().unwrap();
}

#[test]
fn errors_name_the_entity_and_what_to_do() {
    let mut world = World::new();
    world.spawn_empty_at(id(1, 2)).unwrap();
    let text = |world: &mut World, entity| world.spawn_empty_at(entity).unwrap_err().to_string();
    assert_eq!(
        text(&mut world, id(1, 2)),
        "entity 1v2 cannot be spawned: its index is taken by 1v2: despawn that first, or name another index"
    );
    world.despawn(id(1, 2));
    assert_eq!(
        text(&mut world, id(1, 1)),
        "entity 1v1 cannot be spawned: its generation is one of the past: name a later one"
    );
    assert_eq!(
        text(&mut world, id(u32::MAX - 2, 0)),
        "entity 4294967293v0 cannot be spawned: its index is more than 16777216 beyond those in use, or beyond the \
         world's limit: name a lower one"
    );
    assert!(text(&mut world, Entity::PLACEHOLDER).contains("placeholder"));
}

// Hazard: a huge index costs nothing.
#[test]
fn a_huge_index_takes_no_memory() {
    let mut world = World::new();
    assert!(world.spawn_at(id(u32::MAX - 2, 0), Health(1)).is_err());
    assert_eq!((world.entities().slots(), world.entities().bytes()), (0, 0));
    world.check().unwrap();
}

#[test]
fn a_reserved_id_is_taken() {
    let mut world = World::new();
    let reserved = world.reserve_entity();
    assert!(world.spawn_empty_at(reserved).is_err());
    assert!(world.contains(reserved));
}

#[test]
fn an_entity_whose_required_component_cannot_be_made_is_gone_again() {
    let mut world = World::new();
    assert!(catch_unwind(AssertUnwindSafe(|| world.spawn_at(id(3, 0), Needy).map(|_| ()))).is_err());
    assert_eq!(world.entities().len(), 0);
    world.check().unwrap();
}

#[test]
fn random_histories_agree_with_a_map() {
    let steps = std::env::var("PHALANX_MODEL_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(400);
    for seed in 1..5_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = move |below: u32| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            u32::try_from(random % u64::from(below)).unwrap()
        };
        let mut world = World::new();
        let mut naive: BTreeMap<Entity, u32> = BTreeMap::new();
        for step in 0..steps {
            let value = next(1000);
            match next(8) {
                0..2 => {
                    let entity = world.spawn(Health(value)).id();
                    assert_eq!(naive.insert(entity, value), None);
                }
                2..4 => {
                    if let Some(&entity) = naive.keys().nth(next(20) as usize) {
                        assert!(world.despawn(entity));
                        naive.remove(&entity);
                    }
                }
                4 => {
                    let entity = world.commands().spawn(Health(value)).id();
                    world.flush();
                    assert_eq!(naive.insert(entity, value), None);
                }
                5 if step % 50 == 0 => {
                    world.clear_entities();
                    naive.clear();
                }
                _ => {
                    let entity = id(next(120), next(5));
                    let taken = naive.keys().any(|known| known.index() == entity.index());
                    let past = !taken && world.entities().is_past(entity);
                    let spawned = world.spawn_at(entity, Health(value)).map(|spawned| spawned.id());
                    assert_eq!(spawned.is_ok(), !taken && !past, "{entity}");
                    if spawned == Ok(entity) {
                        naive.insert(entity, value);
                    }
                }
            }
            world.check().unwrap();
            let mut found: Vec<(Entity, u32)> =
                world.view::<(Entity, &Health)>().iter().map(|(entity, health)| (entity, health.0)).collect();
            found.sort_unstable();
            assert_eq!(found, naive.iter().map(|(&entity, &value)| (entity, value)).collect::<Vec<_>>());
        }
    }
}
