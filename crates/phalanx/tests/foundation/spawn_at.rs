//! Entities with ids that the caller names.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::world::ClaimError;

use crate::common::steps::model_steps;

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

/// Which entities are alive, and how far each index has gone: nothing is asked of the world under test.
#[derive(Default)]
struct Naive {
    alive: BTreeMap<Entity, u32>,
    /// For each index that an entity died at, the first generation that is not of the past.
    next: BTreeMap<u32, u32>,
}

impl Naive {
    fn next_at(&self, index: u32) -> u32 {
        self.next.get(&index).copied().unwrap_or(0)
    }

    /// An id that the world chose: its index is free, and its generation the one after the last.
    fn spawned(&mut self, entity: Entity, value: u32) {
        assert!(!self.is_taken(entity.index()), "{entity} has an index in use");
        assert_eq!(entity.generation(), self.next_at(entity.index()), "{entity}");
        self.alive.insert(entity, value);
    }

    fn is_taken(&self, index: u32) -> bool {
        self.alive.keys().any(|known| known.index() == index)
    }

    fn despawned(&mut self, entity: Entity) {
        self.alive.remove(&entity);
        let before = self.next.insert(entity.index(), entity.generation() + 1);
        assert!(before.unwrap_or(0) <= entity.generation(), "{entity} lived again");
    }
}

#[test]
fn random_histories_agree_with_a_map() {
    let steps = model_steps(400, 400);
    let (mut claimed, mut taken, mut past) = (0, 0, 0);
    for seed in 1..9_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = move |below: u32| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            u32::try_from(random % u64::from(below)).unwrap()
        };
        let mut world = World::new();
        let mut naive = Naive::default();
        for step in 0..steps {
            let value = next(1000);
            match next(8) {
                0..2 => {
                    let entity = world.spawn(Health(value)).id();
                    naive.spawned(entity, value);
                }
                2..4 => {
                    let at = next(20) as usize;
                    if let Some(entity) = naive.alive.keys().nth(at).copied() {
                        assert!(world.despawn(entity));
                        naive.despawned(entity);
                    }
                }
                4 => {
                    let entity = world.commands().spawn(Health(value)).id();
                    world.flush();
                    naive.spawned(entity, value);
                }
                5 if step % 50 == 0 => {
                    world.clear_entities();
                    let all: Vec<Entity> = naive.alive.keys().copied().collect();
                    all.into_iter().for_each(|entity| naive.despawned(entity));
                }
                _ => {
                    let entity = id(next(120), next(5));
                    let expected = match naive.alive.keys().find(|known| known.index() == entity.index()) {
                        Some(&by) => Err(ClaimError::Taken(by)),
                        None if entity.generation() < naive.next_at(entity.index()) => Err(ClaimError::Past),
                        None => Ok(entity),
                    };
                    let spawned = world.spawn_at(entity, Health(value)).map(|spawned| spawned.id());
                    assert_eq!(spawned.map_err(|error| error.reason), expected, "{entity}");
                    match expected {
                        Ok(_) => {
                            // Generations that were skipped are of the past as well.
                            naive.alive.insert(entity, value);
                            claimed += 1;
                        }
                        Err(ClaimError::Taken(_)) => taken += 1,
                        Err(_) => past += 1,
                    }
                }
            }
            world.check().unwrap();
            let mut found: Vec<(Entity, u32)> =
                world.view::<(Entity, &Health)>().iter().map(|(entity, health)| (entity, health.0)).collect();
            found.sort_unstable();
            assert_eq!(
                found,
                naive.alive.iter().map(|(&entity, &value)| (entity, value)).collect::<Vec<_>>()
            );
        }
    }
    assert!(claimed > 50 && taken > 50 && past > 50, "{claimed} claimed, {taken} taken, {past} of the past");
}
