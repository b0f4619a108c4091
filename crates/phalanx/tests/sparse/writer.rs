//! The writer of one set, `world.sparse_mut`, gives, takes and drops as the world does: two worlds with one history, one
//! changed through the writer and one without it, cannot be told apart.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::ledger::{Ledger, Serial};
use crate::common::pool_kinds::{Burning, Clan, Elves, Ghosts, Health, Orcs, elf, orc};
use crate::common::random::Random;
use crate::common::sparse_twins::{Burn, Held, Seat, Spark, assert_same_sets};
use phalanx::prelude::*;
use phalanx::world::ChangeError;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Plain(u32);

#[derive(Component, Clone, Debug, Default, PartialEq)]
struct Fuel(u32);

#[derive(Component, Clone, Debug, Default, PartialEq)]
#[component(storage = "sparse")]
struct Smoke(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
#[require(Fuel(3), Smoke(4))]
struct Fire(u32);

fn ok(world: &World) {
    if let Err(fault) = world.check() {
        panic!("{fault}");
    }
}

fn kind(error: &ChangeError) -> (u8, Entity) {
    let kind = match error {
        ChangeError::NoSuchEntity(_) => 0,
        ChangeError::NotInPool(_) => 1,
        ChangeError::RequiredByPool(_) => 2,
        _ => 3,
    };
    (kind, error.entity())
}

/// What the world says of an entity, but for values.
fn face(world: &World, entity: Entity) -> Option<Vec<phalanx::ComponentId>> {
    world.get_entity(entity).ok().map(|entity| entity.component_ids().collect())
}

/// Runs one random history with the writer and without it, in worlds that `$prepare` made the same, and compares.
macro_rules! same_history {
    ($component:ty, $prepare:expr, $value:expr) => {{
        let value: fn(u32) -> $component = $value;
        for seed in 0..3 {
            let mut random = Random::new(seed);
            let prepare: fn(&mut World) -> Vec<Entity> = $prepare;
            let (mut by_writer, mut world) = (World::new(), World::new());
            let ids = prepare(&mut by_writer);
            assert_eq!(prepare(&mut world), ids);
            for step in 0..200u32 {
                let entity = ids[random.below(ids.len())];
                let had = world.contains(entity) && world.get::<$component>(entity).is_some();
                match random.below(16) {
                    0..8 => {
                        let inserted = world.insert(entity, value(step)).map(|()| !had);
                        let through = by_writer.sparse_mut::<$component>().insert(entity, value(step));
                        assert_eq!(through.as_ref().map_err(kind), inserted.as_ref().map_err(kind));
                    }
                    8..11 => {
                        let taken = match world.try_take::<$component>(entity) {
                            Err(ChangeError::NoSuchEntity(_)) => Ok(None),
                            taken => taken,
                        };
                        let through = by_writer.sparse_mut::<$component>().take(entity);
                        assert_eq!(through.as_ref().map_err(kind), taken.as_ref().map_err(kind));
                    }
                    11..15 => {
                        let removed = match world.remove::<$component>(entity) {
                            Err(ChangeError::NoSuchEntity(_)) => Ok(false),
                            removed => removed.map(|()| had),
                        };
                        let through = by_writer.sparse_mut::<$component>().remove(entity);
                        assert_eq!(through.as_ref().map_err(kind), removed.as_ref().map_err(kind));
                    }
                    _ => assert_eq!(by_writer.despawn(entity), world.despawn(entity)),
                }
                same(&by_writer, &world, &ids);
                assert_same_sets!(&by_writer, &world, &ids, $component);
            }
        }
    }};
}

fn same(by_writer: &World, world: &World, ids: &[Entity]) {
    ok(by_writer);
    ok(world);
    for &entity in ids {
        assert_eq!(face(by_writer, entity), face(world, entity));
    }
    assert_eq!(by_writer.archetypes().len(), world.archetypes().len());
    assert_eq!(by_writer.stats().moves, world.stats().moves);
}

/// Entities with a row, without, and dead, of several archetypes.
fn crowd(world: &mut World) -> Vec<Entity> {
    let mut ids: Vec<Entity> = (0..6).map(|n| world.spawn((Health(n), Fuel(n))).id()).collect();
    ids.extend((0..6).map(|n| world.spawn(Health(n)).id()));
    ids.extend((0..6).map(|_| world.spawn_empty().id()));
    let (dead, reused) = (world.spawn(Health(9)).id(), world.spawn_empty().id());
    world.despawn(dead);
    world.despawn(reused);
    let next = world.spawn(Health(10)).id();
    assert_eq!(next.index(), reused.index());
    ids.extend([dead, reused, next, Entity::PLACEHOLDER]);
    ids
}

#[test]
fn the_writer_of_a_plain_world_changes_what_the_world_changes() {
    same_history!(Plain, crowd, Plain);
    same_history!(Spark, crowd, |_| Spark);
    same_history!(Burn, crowd, |n| Burn { dps: n, by: format!("fire {n}") });
}

#[test]
fn the_writer_of_a_stable_set_leaves_the_same_holes() {
    same_history!(Seat, crowd, Seat);
}

#[test]
fn the_writer_brings_what_a_component_requires() {
    same_history!(Fire, crowd, Fire);
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    assert!(world.sparse_mut::<Fire>().insert(entity, Fire(1)).unwrap());
    assert_eq!((world.get::<Fuel>(entity), world.get::<Smoke>(entity)), (Some(&Fuel(3)), Some(&Smoke(4))));
}

#[test]
fn the_writer_keeps_a_group_that_owns_the_set_right() {
    fn grouped(world: &mut World) -> Vec<Entity> {
        let ids = crowd(world);
        for (n, &entity) in (0..).zip(&ids[..15]) {
            world.insert(entity, Smoke(n)).unwrap();
        }
        world.group::<Own<(Plain, Smoke)>, Get<()>, Without<Fuel>>().unwrap();
        ids
    }
    same_history!(Plain, grouped, Plain);
    let mut world = World::new();
    let ids = grouped(&mut world);
    let group = world.group::<Own<(Plain, Smoke)>, Get<()>, Without<Fuel>>().unwrap();
    assert_eq!(group.len(&world), 0);
    for (n, &entity) in (0..).zip(&ids[..18]) {
        assert!(world.sparse_mut::<Plain>().insert(entity, Plain(n)).unwrap());
        ok(&world);
    }
    // Six have fuel, and three no smoke.
    assert_eq!(group.len(&world), 9);
    let (plain, smoke) = group.slices(&world);
    assert!(plain.iter().map(|plain| plain.0).eq(smoke.iter().map(|smoke| smoke.0)));
    assert_eq!(world.sparse_mut::<Plain>().take(ids[7]).unwrap(), Some(Plain(7)));
    assert!(world.sparse_mut::<Plain>().remove(ids[8]).unwrap());
    assert_eq!((group.len(&world), group.contains(&world, ids[7])), (7, false));
    ok(&world);
}

#[test]
fn the_writer_keeps_groups_right_that_only_ask_for_the_set() {
    fn grouped(world: &mut World) -> Vec<Entity> {
        let ids = crowd(world);
        for (n, &entity) in (0..).zip(&ids[..15]) {
            world.insert(entity, Smoke(n)).unwrap();
        }
        world.group::<Own<(Smoke,)>, Get<(Plain,)>, ()>().unwrap();
        world.group::<Own<()>, Get<(Seat, Plain)>, ()>().unwrap();
        world.group::<Own<(Spark,)>, Get<()>, Without<Plain>>().unwrap();
        for &entity in &ids[3..9] {
            world.insert(entity, (Seat(1), Spark)).unwrap();
        }
        ids
    }
    same_history!(Plain, grouped, Plain);
    same_history!(Seat, grouped, Seat);
    same_history!(Burn, grouped, |n| Burn { dps: n, by: String::new() });
}

#[test]
fn the_writer_refuses_what_a_pool_refuses() {
    fn pools(world: &mut World) -> Vec<Entity> {
        let mut ids = crowd(world);
        ids.extend((0..4).map(|n| world.spawn_in(orc(n))));
        ids.extend((0..4).map(|n| world.spawn_in(elf(&n.to_string()))));
        ids.extend((0..4).map(|_| world.spawn_in(Ghosts { frozen: None, burning: None })));
        ids
    }
    // Declared by all, required by one and unknown to another, declared by none.
    same_history!(Burning, pools, Burning);
    same_history!(Clan, pools, Clan);
    same_history!(Plain, pools, Plain);
    same_history!(Fire, pools, Fire);
    let mut world = World::new();
    let orc = world.spawn_in(orc(1));
    let ghost = world.spawn_in(Ghosts { frozen: None, burning: None });
    let elf = world.spawn_in(elf("e"));
    let mut clans = world.sparse_mut::<Clan>();
    assert!(!clans.insert(orc, Clan(7)).unwrap());
    assert!(matches!(clans.take(orc), Err(ChangeError::RequiredByPool(_))));
    assert!(matches!(clans.remove(orc), Err(ChangeError::RequiredByPool(_))));
    assert!(matches!(clans.insert(ghost, Clan(8)), Err(ChangeError::NotInPool(_))));
    assert_eq!(clans.take(ghost).unwrap(), None);
    assert!(clans.insert(elf, Clan(9)).unwrap());
    assert_eq!(clans.take(elf).unwrap(), Some(Clan(9)));
    assert_eq!(world.get::<Clan>(orc), Some(&Clan(7)));
    assert_eq!(world.view_filtered::<Entity, InPool<Orcs>>().count(), 1);
    assert_eq!(world.view_filtered::<Entity, InPool<Elves>>().count(), 1);
    ok(&world);
}

#[test]
fn a_value_that_is_overwritten_taken_or_refused_is_dropped_once() {
    for grouped in [false, true] {
        let ledger = Ledger::open();
        let mut world = World::new();
        if grouped {
            world.group::<Own<(Held,)>, Get<()>, ()>().unwrap();
        }
        let (entity, dead) = (world.spawn_empty().id(), world.spawn_empty().id());
        world.despawn(dead);
        let mut held = world.sparse_mut::<Held>();
        assert!(held.insert(entity, Held(Serial::new())).unwrap());
        assert_eq!((ledger.live(), ledger.dropped()), (1, 0));
        assert!(!held.insert(entity, Held(Serial::new())).unwrap());
        assert_eq!((ledger.live(), ledger.dropped()), (1, 1));
        assert!(held.insert(dead, Held(Serial::new())).is_err());
        assert_eq!((ledger.live(), ledger.dropped()), (1, 2));
        let taken = held.take(entity).unwrap().unwrap();
        assert!(taken.0.is_live());
        drop(taken);
        assert_eq!((ledger.live(), ledger.dropped()), (0, 3));
        assert!(!held.remove(entity).unwrap() && held.take(dead).unwrap().is_none());
        assert!(held.insert(entity, Held(Serial::new())).unwrap() && held.remove(entity).unwrap());
        assert!(held.insert(entity, Held(Serial::new())).unwrap());
        ok(&world);
        drop(world);
        ledger.all_dropped_once();
    }
}

#[test]
fn the_writer_sees_a_group_that_came_after_it_was_last_open() {
    let mut world = World::new();
    let ids = crowd(&mut world);
    for &entity in &ids[..12] {
        assert!(world.sparse_mut::<Plain>().insert(entity, Plain(1)).unwrap());
    }
    let group = world.group::<Own<(Plain,)>, Get<(Smoke,)>, ()>().unwrap();
    for &entity in &ids[4..10] {
        assert!(world.sparse_mut::<Smoke>().insert(entity, Smoke(1)).unwrap());
    }
    assert_eq!(group.len(&world), 6);
    ok(&world);
    world.ungroup(group).unwrap();
    assert!(world.sparse_mut::<Smoke>().remove(ids[4]).unwrap());
    ok(&world);
}
