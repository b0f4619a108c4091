//! Hunts ids that name the wrong entity: stale, forged, handed out twice, wrapped around or lost (hazards 1 to 8).
//!
//! The directory has tests of its own, beside it in the store. Here the same hazards are met through the
//! world, where an id that is wrongly alive reaches a row of another entity.
#![allow(missing_docs)]

use std::collections::BTreeSet;

use crate::common::faults::is_usable;
use crate::common::ledger::{Ledger, panic_of};
use crate::common::zoo::{Kind, Left, Right, assert_held, for_each_counted, for_each_kind, name};
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Component, Entity, FieldType, Schema, Value, World};
use phalanx::world::FieldError;

/// The generation of an entity after which its slot retires.
const LAST: u32 = u32::MAX - 2;

#[derive(Component, Debug, PartialEq)]
struct Health(u32);

fn id(index: u32, generation: u32) -> Entity {
    Entity::from_bits((u64::from(generation) + 1) << 32 | u64::from(index))
        .expect("the upper half is not zero")
}

#[track_caller]
fn checked(world: &World) {
    world.check().expect("the world is consistent");
}

/// A world whose slot 0 is free and about to have its last generation.
fn with_an_old_slot() -> World {
    let mut world = World::new();
    let first = world.spawn(Health(0)).id();
    assert_eq!(first, id(0, 0));
    assert!(world.despawn(first));
    world.set_free_generation_for_tests(0, LAST);
    world
}

/// Fails unless every operation on the id finds no entity and changes nothing.
#[track_caller]
fn is_no_entity<K: Kind>(world: &mut World, absent: Entity) {
    let count = world.entities().len();
    let ledger_row = || (K::make(90), Left::make(91));
    assert!(!world.contains(absent), "{absent}");
    assert!(world.get::<K>(absent).is_none() && world.get_mut::<K>(absent).is_none(), "{absent}");
    assert_eq!(world.archetype_of(absent), None);
    assert_eq!(world.get_entity(absent).map(|entity| entity.id()).map_err(|error| error.entity), Err(absent));
    assert_eq!(
        world.get_entity_mut(absent).map(|entity| entity.id()).map_err(|error| error.entity),
        Err(absent)
    );
    assert_eq!(world.insert(absent, ledger_row()).map_err(|error| error.entity()), Err(absent));
    assert_eq!(world.remove::<K>(absent).map_err(|error| error.entity()), Err(absent));
    assert!(world.take::<K>(absent).is_none());
    assert_eq!(world.retain::<()>(absent).map_err(|error| error.entity()), Err(absent));
    let component = world.register_component::<Left>();
    assert_eq!(world.remove_by_id(absent, component).map_err(|error| error.entity()), Err(absent));
    assert_eq!(world.insert_batch([(absent, ledger_row())]), 0);
    assert_eq!(world.remove_batch::<K>([absent]), 0);
    assert_eq!(world.despawn_batch([absent]), 0);
    assert_eq!(world.try_despawn(absent).map_err(|error| error.entity), Err(absent));
    assert!(!world.despawn(absent));
    assert!(panic_of(|| world.entity(absent).id()).is_some_and(|message| message.contains("not alive")));
    assert!(panic_of(|| world.entity_mut(absent).id()).is_some_and(|message| message.contains("not alive")));
    assert_eq!(world.entities().len(), count);
    checked(world);
}

// Hazard 1: O-023, O-024, O-035.
#[test]
fn a_slot_whose_generations_are_used_up_never_lives_again() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = with_an_old_slot();
        let last = world.spawn((K::make(1), Left::make(1))).id();
        assert_eq!((last.index(), last.generation()), (0, LAST));
        assert_held::<K>(&world, [(last, 1)]);
        assert!(world.despawn(last));
        assert_eq!((world.stats().retired_slots, world.stats().free_slots), (1, 0));

        let new: Vec<Entity> =
            (0..20).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
        assert!(new.iter().all(|entity| entity.index() != 0));
        for generation in [0, 1, LAST - 1, LAST, LAST + 1] {
            is_no_entity::<K>(&mut world, id(0, generation));
        }
        assert_held::<K>(&world, new.iter().copied().zip(0..));
        world.clear_entities();
        assert_eq!(world.stats().retired_slots, 1);
        assert!(
            world
                .spawn_batch((0..30).map(|seed| (K::make(seed), Left::make(seed))))
                .all(|entity| entity.index() != 0)
        );
        is_no_entity::<K>(&mut world, last);
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_counted!(scenario);
}

// Hazard 1: on every way by which an entity can die, and by which a slot can be used again.
#[test]
fn a_slot_retires_however_its_last_entity_came_and_went() {
    let births: [fn(&mut World) -> Entity; 5] = [
        |world| world.spawn(Health(1)).id(),
        |world| world.spawn_empty().id(),
        |world| world.spawn_batch([Health(1)]).next().expect("one entity"),
        |world| {
            let reserved = world.reserve_entity();
            world.flush();
            reserved
        },
        |world| {
            let entity = world.commands().spawn(Health(1)).id();
            world.flush();
            entity
        },
    ];
    let deaths: [fn(&mut World, Entity); 4] = [
        |world, entity| assert!(world.despawn(entity)),
        |world, _| world.clear_entities(),
        |world, entity| assert_eq!(world.despawn_batch([entity]), 1),
        |world, entity| {
            world.commands().entity(entity).despawn();
            world.flush();
        },
    ];
    for birth in births {
        for death in deaths {
            let mut world = with_an_old_slot();
            let last = birth(&mut world);
            assert_eq!(last, id(0, LAST));
            death(&mut world, last);
            assert_eq!(world.stats().retired_slots, 1);
            is_no_entity::<Left>(&mut world, last);
            let reserved = world.reserve_entity();
            let next = birth(&mut world);
            assert!(reserved.index() != 0 && next.index() != 0 && reserved != next);
            is_usable(&mut world);
        }
    }
}

// Hazard 1, O-031, O-032: the counter rises by one per life until it ends.
#[test]
fn generations_rise_by_one_and_then_the_next_slot_is_used() {
    let mut world = with_an_old_slot();
    // A second slot, to be reached when the first is used up.
    let other = world.spawn(Health(0)).id();
    assert!(world.despawn(other));
    assert_eq!((other, world.stats().retired_slots), (id(0, LAST), 1));
    let mut seen = BTreeSet::from([other]);
    for generation in 0..5 {
        let entity = world.spawn(Health(generation)).id();
        assert_eq!(entity, id(1, generation));
        assert!(seen.insert(entity) && world.despawn(entity));
    }
    world.set_free_generation_for_tests(1, LAST - 2);
    let ids: Vec<Entity> = (0..4)
        .map(|n| {
            let entity = world.spawn(Health(n)).id();
            world.despawn(entity);
            entity
        })
        .collect();
    assert_eq!(ids, [id(1, LAST - 2), id(1, LAST - 1), id(1, LAST), id(2, 0)]);
    assert!(ids.iter().all(|&entity| seen.insert(entity) && !world.contains(entity)));
    checked(&world);
}

#[test]
fn a_living_slot_cannot_be_put_forward() {
    let mut world = World::new();
    world.spawn(Health(1));
    let reserved = world.reserve_entity();
    for index in [0, reserved.index()] {
        let panic = panic_of(|| world.set_free_generation_for_tests(index, 7));
        assert!(panic.is_some_and(|message| message.contains("is alive")));
    }
    checked(&world);
}

// Hazard 2.
#[test]
fn no_living_id_is_the_placeholder_and_the_placeholder_is_no_entity() {
    let mut world = with_an_old_slot();
    let mut ids = vec![world.spawn(Health(1)).id(), world.spawn_empty().id(), world.reserve_entity()];
    assert_eq!(ids[0].generation(), LAST, "the largest generation that lives");
    ids.extend(world.spawn_batch((0..100).map(Health)));
    assert!(ids.iter().all(|&entity| entity != Entity::PLACEHOLDER && world.contains(entity)));
    assert!(ids.iter().all(|entity| Entity::from_bits(entity.to_bits()) == Some(*entity)));
    assert!(Entity::from_bits(0).is_none() && Entity::from_bits(u64::from(u32::MAX)).is_none());
    is_no_entity::<Left>(&mut world, Entity::PLACEHOLDER);
    // Its halves are as dead, each beside a half that lives.
    is_no_entity::<Left>(&mut world, id(u32::MAX, 0));
    is_no_entity::<Left>(&mut world, id(u32::MAX, LAST));
    is_no_entity::<Left>(&mut world, id(0, LAST + 1));
}

// Hazard 3: every way to an id says that there is none, and changes nothing.
#[test]
fn running_out_of_ids_is_an_error_and_costs_nothing() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::with_entity_limit(3);
        let entities: Vec<Entity> =
            (0..3).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
        let attempts: [fn(&mut World); 7] = [
            |world| {
                world.spawn((K::make(9), Left::make(9)));
            },
            |world| {
                world.spawn((K::make(9), Right::make(9)));
            },
            |world| {
                world.spawn(());
            },
            |world| {
                world.spawn_empty();
            },
            |world| drop(world.spawn_batch((0..40).map(|seed| (K::make(seed), Left::make(seed))))),
            |world| {
                world.reserve_entity();
            },
            |world| {
                world.commands().spawn(K::make(9));
            },
        ];
        for attempt in attempts {
            let panic = panic_of(|| attempt(&mut world));
            assert!(
                panic.is_some_and(|message| message.contains("no entity index is left")),
                "{}",
                name::<K>()
            );
            assert_eq!((world.entities().len(), world.entities().slots()), (3, 3));
            assert_held::<K>(&world, entities.iter().copied().zip(0..));
            assert_eq!(ledger.live(), 3 * (K::COUNTED + 1), "{}", name::<K>());
            checked(&world);
        }
        // One that goes makes room for one.
        assert!(world.despawn(entities[1]));
        let next = world.spawn((K::make(7), Left::make(7))).id();
        assert_eq!((next.index(), next.generation()), (1, 1));
        assert_held::<K>(&world, [(entities[0], 0), (next, 7), (entities[2], 2)]);
        assert!(panic_of(|| world.spawn_empty().id()).is_some());
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_counted!(scenario);
}

// Hazard 3: a batch that needs more than there is; what was complete before may stay, nothing is lost.
#[test]
fn a_batch_that_runs_out_of_ids_leaves_whole_entities_only() {
    for (free, told) in [(0, true), (0, false), (5, true), (5, false), (9, false)] {
        let ledger = Ledger::open();
        let mut world = World::with_entity_limit(20);
        let old: Vec<Entity> = world.spawn_batch((0..10).map(Left::make)).collect();
        world.despawn_batch(old[..free].iter().copied());
        let batch = (100..140).map(Left::make);
        let panic = panic_of(|| {
            if told {
                world.spawn_batch(batch);
            } else {
                world.spawn_batch(batch.filter(|_| true));
            }
        });
        assert!(panic.is_some_and(|message| message.contains("no entity index is left")));
        checked(&world);
        let alive = world.entities().len();
        assert!((10 - free..=20).contains(&alive));
        assert_eq!(ledger.live(), alive);
        assert_held::<Left>(&world, old.iter().copied().zip(0..).skip(free));
        assert_eq!(
            world.entities().iter().filter(|&entity| world.get::<Left>(entity).is_some()).count(),
            alive
        );
        world.clear_entities();
        assert_eq!(world.spawn_batch((0..20).map(Left::make)).len(), 20);
        drop(world);
        ledger.all_dropped_once();
    }
}

// Hazard 1 and hazard 3 together: retired slots do not come back for want of others.
#[test]
fn retired_slots_count_against_the_limit() {
    let mut world = World::with_entity_limit(1);
    let first = world.spawn(Health(1)).id();
    world.despawn(first);
    world.set_free_generation_for_tests(0, LAST);
    let last = world.spawn(Health(2)).id();
    world.despawn(last);
    for _ in 0..3 {
        assert!(panic_of(|| world.spawn(Health(3)).id()).is_some());
        assert!(panic_of(|| world.reserve_entity()).is_some());
        assert_eq!((world.entities().len(), world.stats().retired_slots), (0, 1));
    }
    assert!(!world.contains(first) && !world.contains(last));
    checked(&world);
}

// Hazard 4: O-140 and the rest of the public surface.
#[test]
fn a_forged_id_is_an_error_for_every_operation() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let entities: Vec<Entity> =
            (0..4).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
        let rowless = world.spawn_empty().id();
        let live = ledger.live();
        let slots = world.entities().slots();
        for forged in [
            id(slots, 0),
            id(slots + 1, 0),
            id(1_000_000, 7),
            id(u32::MAX - 1, 0),
            id(0, 1),
            id(rowless.index(), 1),
            id(3, u32::MAX - 1),
        ] {
            is_no_entity::<K>(&mut world, forged);
        }
        assert_eq!(ledger.live(), live, "{}", name::<K>());
        assert_held::<K>(&world, entities.iter().copied().zip(0..));
        // A free slot's next id, and a retired slot's last one, are no entities either.
        world.despawn(entities[2]);
        is_no_entity::<K>(&mut world, id(2, 1));
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_counted!(scenario);
}

// Hazard 4 for components that are known by name.
#[test]
fn a_forged_id_is_an_error_for_run_time_components() {
    let mut world = World::new();
    let hp = world.register_dynamic(Schema::new("hp").field("current", FieldType::I32)).expect("a new name");
    let entity = world.spawn_empty().id();
    world.insert_dynamic(entity, hp, &[("current", Value::I32(5))]).expect("alive");
    for forged in [id(1, 0), id(0, 1), id(u32::MAX, 3), Entity::PLACEHOLDER] {
        let absent = FieldError::NoSuchEntity { entity: forged };
        assert_eq!(
            world.insert_dynamic(forged, hp, &[("current", Value::I32(6))]).err(),
            Some(absent.clone())
        );
        assert_eq!(world.get_field(forged, hp, "current").err(), Some(absent.clone()));
        assert_eq!(world.set_field(forged, hp, "current", Value::I32(7)).err(), Some(absent));
    }
    assert_eq!(world.get_field(entity, hp, "current"), Ok(Value::I32(5)));
    checked(&world);
}

// Hazard 4: an id of another world is a forged one, unless by chance it is the same number.
#[test]
fn ids_of_a_larger_world_are_no_entities_in_a_smaller_one() {
    let mut large = World::new();
    let foreign: Vec<Entity> = large.spawn_batch((0..100).map(Health)).collect();
    let mut small = World::new();
    let own = small.spawn(Health(7)).id();
    for &entity in &foreign[1..] {
        assert!(small.get::<Health>(entity).is_none() && !small.despawn(entity));
    }
    assert_eq!((foreign[0], small.get::<Health>(own)), (own, Some(&Health(7))));
    checked(&small);
}

// Hazard 5.
#[test]
fn ids_from_before_a_clear_are_dead_for_good() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let mut before: Vec<Entity> =
            (0..5).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
        before.push(world.spawn_empty().id());
        assert!(world.despawn(before[2]));
        before.push(world.reserve_entity());
        before.push(world.reserve_entity());
        world.clear_entities();
        assert_eq!((world.entities().len(), ledger.live()), (0, 0), "{}", name::<K>());
        before.iter().for_each(|&entity| assert!(!world.contains(entity)));
        checked(&world);
        for round in 0..3 {
            let after: Vec<Entity> =
                world.spawn_batch((0..9).map(|seed| (K::make(seed), Left::make(seed)))).collect();
            assert_held::<K>(&world, after.iter().copied().zip(0..));
            assert!(before.iter().all(|&entity| !world.contains(entity) && world.get::<K>(entity).is_none()));
            assert!(after.iter().all(|entity| !before.contains(entity)), "{}: round {round}", name::<K>());
            before.extend(after);
            world.clear_entities();
        }
        before.iter().take(8).for_each(|&entity| is_no_entity::<K>(&mut world, entity));
        // Slots were used again, not added.
        assert!(world.entities().slots() < 12, "{}", world.entities().slots());
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 6.
#[test]
fn a_batch_over_free_slots_gives_each_id_once() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        for (alive, freed, batch) in [(6, 3, 2), (6, 3, 3), (6, 3, 4), (6, 6, 20), (40, 1, 9), (9, 8, 8)] {
            let mut world = World::new();
            let old: Vec<Entity> =
                (0..alive).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
            // Every second one first, so that the list is not in the order of the slots.
            let dead: Vec<Entity> =
                old.iter().step_by(2).chain(old.iter().skip(1).step_by(2)).take(freed).copied().collect();
            assert_eq!(world.despawn_batch(dead.iter().copied()), freed);
            let new: Vec<Entity> =
                world.spawn_batch((100..100 + batch).map(|seed| (K::make(seed), Left::make(seed)))).collect();
            let unique: BTreeSet<Entity> = new.iter().copied().collect();
            assert_eq!((new.len(), unique.len()), (batch as usize, batch as usize), "{}", name::<K>());
            let kept: Vec<(Entity, u32)> =
                old.iter().copied().zip(0..).filter(|(entity, _)| !dead.contains(entity)).collect();
            assert!(kept.iter().all(|(entity, _)| !unique.contains(entity)));
            assert!(dead.iter().all(|&entity| !world.contains(entity)));
            assert_held::<K>(&world, kept.into_iter().chain(new.iter().copied().zip(100..)));
            // Free slots are used before new ones are added.
            let reused = freed.min(batch as usize);
            assert_eq!(world.entities().slots() as usize, old.len() + batch as usize - reused);
            checked(&world);
        }
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 6 without rows, and with ids that were reserved before.
#[test]
fn a_batch_beside_reserved_ids_gives_each_id_once() {
    let mut world = World::new();
    let old: Vec<Entity> = world.spawn_batch((0..8).map(Health)).collect();
    world.despawn_batch(old.iter().copied().skip(3));
    let reserved: Vec<Entity> = (0..3).map(|_| world.reserve_entity()).collect();
    let rows: Vec<Entity> = world.spawn_batch((0..4).map(Health)).collect();
    let more: Vec<Entity> = (0..2).map(|_| world.reserve_entity()).collect();
    let rowless: Vec<Entity> = world.spawn_batch([(), (), ()]).collect();
    let all: BTreeSet<Entity> =
        [&old[..3], &reserved, &rows, &more, &rowless].into_iter().flatten().copied().collect();
    assert_eq!((all.len(), world.entities().len()), (15, 15));
    assert!(all.iter().all(|&entity| world.contains(entity)));
    assert!(
        reserved.iter().chain(&more).chain(&rowless).all(|&entity| world.get::<Health>(entity).is_none())
    );
    checked(&world);
}

// Hazard 7; the orderings of the atomics are loom's (in the store), this is the world's part.
#[test]
fn ids_reserved_from_many_threads_are_unique_and_all_alive_after_a_flush() {
    const THREADS: usize = 8;
    const EACH: usize = 500;
    for freed in [0, 10, THREADS * EACH / 2, THREADS * EACH + 7] {
        let mut world = World::new();
        let kept: Vec<Entity> = world.spawn_batch((0..5).map(Health)).collect();
        let dead: Vec<Entity> = (0..freed).map(|_| world.spawn(Health(9)).id()).collect();
        world.despawn_batch(dead.iter().copied());
        let slots = world.entities().slots() as usize;

        let reserved: Vec<Vec<Entity>> = std::thread::scope(|scope| {
            let world = &world;
            let reserve = || (0..EACH).map(|_| world.reserve_entity()).collect();
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(reserve)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let ids: BTreeSet<Entity> = reserved.iter().flatten().copied().collect();
        assert_eq!(ids.len(), THREADS * EACH, "an id was given twice");
        assert!(ids.iter().all(|&entity| !world.contains(entity)), "alive before the flush");
        world.flush();
        checked(&world);
        assert_eq!(world.entities().len(), 5 + THREADS * EACH);
        assert!(ids.iter().all(|&entity| world.archetype_of(entity) == Some(ArchetypeId::EMPTY)));
        assert!(dead.iter().all(|&entity| !world.contains(entity)), "an old id came back");
        assert_eq!(world.entities().slots() as usize, slots + (THREADS * EACH).saturating_sub(freed));
        for (&entity, n) in ids.iter().zip(0..) {
            world.insert(entity, Health(n)).expect("alive");
        }
        assert!(ids.iter().zip(0..).all(|(&entity, n)| world.get::<Health>(entity) == Some(&Health(n))));
        assert!(kept.iter().zip(0..).all(|(&entity, n)| world.get::<Health>(entity) == Some(&Health(n))));
        checked(&world);
    }
}

// Hazard 3 and hazard 7: the limit holds for threads that reserve side by side.
#[test]
fn threads_that_reserve_side_by_side_stop_at_the_limit() {
    let mut world = World::with_entity_limit(1_000);
    let given: Vec<Entity> = std::thread::scope(|scope| {
        let world = &world;
        let reserve = || (0..400).filter_map(|_| world.entities().reserve().ok()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(reserve)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), 1_000);
    assert_eq!(given.len(), 1_000);
    world.flush();
    assert_eq!(world.entities().len(), 1_000);
    checked(&world);
}

// Hazard 8.
#[test]
fn a_reserved_id_that_is_never_used_does_not_cost_a_slot_each_time() {
    let mut world = World::new();
    for _ in 0..50 {
        let reserved: Vec<Entity> = (0..4).map(|_| world.reserve_entity()).collect();
        // Never flushed by hand; dying brings them to life first.
        assert_eq!(world.despawn_batch(reserved.iter().copied()), 4);
        assert!(reserved.iter().all(|&entity| !world.contains(entity)));
        assert_eq!(world.entities().slots(), 4);
    }
    for _ in 0..50 {
        for _ in 0..6 {
            world.reserve_entity();
        }
        world.clear_entities();
        assert_eq!((world.entities().slots(), world.entities().len()), (6, 0));
    }
    checked(&world);
    for _ in 0..6 {
        world.reserve_entity();
    }
    // The world goes with ids that were never flushed.
}

// Hazard 8: what was reserved is not given to another, and comes alive at the next change.
#[test]
fn a_reserved_id_comes_alive_with_the_next_change_and_belongs_to_its_owner() {
    let mut world = World::new();
    let old = world.spawn(Health(1)).id();
    world.despawn(old);
    let reserved = [world.reserve_entity(), world.reserve_entity()];
    assert!(world.entities().needs_flush() && reserved.iter().all(|&entity| !world.contains(entity)));
    assert!(world.get::<Health>(reserved[0]).is_none());
    let spawned = world.spawn(Health(2)).id();
    assert!(!reserved.contains(&spawned));
    assert!(reserved.iter().all(|&entity| world.contains(entity)) && !world.entities().needs_flush());
    assert_eq!((world.entities().len(), world.entities().rowless_len()), (3, 2));
    world.insert(reserved[0], Health(3)).expect("alive");
    assert_eq!(world.get::<Health>(reserved[0]), Some(&Health(3)));
    checked(&world);
}
