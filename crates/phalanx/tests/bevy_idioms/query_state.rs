//! `QueryState`: queries that are kept, and asked of a world.
#![allow(unused_mut, reason = "bevy borrows the world exclusively to make a query")]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Armor(i32);
#[derive(Component)]
struct Player;

/// Three entities: the first with armour, the second a player.
fn world() -> (World, [Entity; 3]) {
    let mut world = World::new();
    let first = world.spawn((Health(1), Armor(10))).id();
    let second = world.spawn((Health(2), Player)).id();
    let third = world.spawn(Health(3)).id();
    (world, [first, second, third])
}

fn healths(world: &mut World) -> Vec<i32> {
    let mut healths: Vec<i32> = world.query::<&Health>().iter(world).map(|health| health.0).collect();
    healths.sort_unstable();
    healths
}

#[test]
fn world_query() {
    let (mut world, [first, ..]) = world();
    let mut query = world.query::<(Entity, &Health, &Armor)>();
    for (entity, health, armor) in query.iter(&world) {
        assert_eq!((entity, health.0, armor.0), (first, 1, 10));
    }
    // A state sees what comes later.
    world.spawn((Health(9), Armor(9), Player));
    assert_eq!(query.iter(&world).count(), 2);
}

#[test]
fn world_query_filtered() {
    let (mut world, [first, _, third]) = world();
    let mut query = world.query_filtered::<Entity, (With<Health>, Without<Player>)>();
    let mut found = query.iter(&world).collect::<Vec<Entity>>();
    found.sort();
    assert_eq!(found, [first, third]);
}

#[test]
fn world_try_query() {
    let (world, _) = world();
    let mut query = world.try_query::<&Health>().unwrap();
    assert_eq!(query.iter(&world).count(), 3);
    let mut query = world.try_query_filtered::<&Health, With<Player>>().unwrap();
    assert_eq!(query.single(&world).unwrap(), &Health(2));
}

#[test]
fn query_state_new() {
    let (mut world, _) = world();
    let mut query: QueryState<&Health, With<Armor>> = QueryState::new(&mut world);
    assert_eq!(query.single(&world).unwrap().0, 1);
}

#[test]
fn query_state_query() {
    let (mut world, [first, ..]) = world();
    // A state that could write reads, too.
    let mut state = world.query::<&mut Health>();
    let query = state.query(&world);
    assert_eq!(query.iter().count(), 3);
    assert_eq!(query.get(first).unwrap().0, 1);
}

#[test]
fn query_state_query_mut() {
    let (mut world, _) = world();
    let mut state = world.query::<&mut Health>();
    let mut query = state.query_mut(&mut world);
    for mut health in &mut query {
        health.0 *= 2;
    }
    assert_eq!(healths(&mut world), [2, 4, 6]);
}

#[test]
fn query_state_iter() {
    let (mut world, _) = world();
    let mut state = world.query::<(&mut Health, Option<&Armor>)>();
    let sum: i32 =
        state.iter(&world).map(|(health, armor)| health.0 + armor.map_or(0, |armor| armor.0)).sum();
    assert_eq!(sum, 16);
}

#[test]
fn query_state_iter_mut() {
    let (mut world, _) = world();
    let mut state = world.query_filtered::<&mut Health, Without<Player>>();
    for mut health in state.iter_mut(&mut world) {
        health.0 += 10;
    }
    assert_eq!(healths(&mut world), [2, 11, 13]);
}

#[test]
fn query_state_get() {
    let (mut world, [first, second, _]) = world();
    let mut state = world.query::<(&mut Health, &Armor)>();
    let (health, armor) = state.get(&world, first).unwrap();
    assert_eq!((health.0, armor.0), (1, 10));
    assert!(state.get(&world, second).is_err());
}

#[test]
fn query_state_get_mut() {
    let (mut world, [first, ..]) = world();
    let mut state = world.query::<&mut Health>();
    state.get_mut(&mut world, first).unwrap().0 = 7;
    assert_eq!(state.get(&world, first).unwrap().0, 7);
}

#[test]
fn query_state_get_many() {
    let (mut world, [first, second, third]) = world();
    let mut state = world.query::<&Health>();
    let [a, b] = state.get_many(&world, [third, first]).unwrap();
    assert_eq!((a.0, b.0), (3, 1));
    world.despawn(second);
    assert!(state.get_many(&world, [third, second]).is_err());
}

#[test]
fn query_state_get_many_mut() {
    let (mut world, [first, second, _]) = world();
    let mut state = world.query::<&mut Health>();
    let [mut a, mut b] = state.get_many_mut(&mut world, [first, second]).unwrap();
    std::mem::swap(&mut *a, &mut *b);
    a.0 += 10;
    assert_eq!((world.get::<Health>(first).unwrap().0, world.get::<Health>(second).unwrap().0), (12, 1));
    assert!(state.get_many_mut(&mut world, [first, first]).is_err());
}

#[test]
fn query_state_iter_combinations() {
    let (mut world, _) = world();
    let mut state = world.query::<&Health>();
    let sums: i32 = state.iter_combinations(&world).map(|[a, b]| a.0 + b.0).sum();
    assert_eq!(sums, 12);
}

#[test]
fn query_state_iter_combinations_mut() {
    let (mut world, _) = world();
    let mut state = world.query::<&mut Health>();
    let mut pairs = state.iter_combinations_mut(&mut world);
    while let Some([mut a, b]) = pairs.fetch_next() {
        a.0 += 100 * b.0;
    }
    assert_eq!(healths(&mut world), [3, 302, 501]);
}

#[test]
fn query_state_iter_many() {
    let (mut world, [first, second, third]) = world();
    let mut state = world.query::<&Health>();
    let found: Vec<i32> =
        state.iter_many(&world, [third, first, second, first]).matched().map(|health| health.0).collect();
    assert_eq!(found, [3, 1, 2, 1]);
    let list = vec![second, third];
    assert_eq!(state.iter_many(&world, &list).matched().count(), 2);
}

#[test]
fn query_state_iter_many_mut() {
    let (mut world, [first, second, _]) = world();
    let mut state = world.query::<&mut Health>();
    let mut found = state.iter_many_mut(&mut world, [first, second, first]).matched();
    while let Some(mut health) = found.fetch_next() {
        health.0 *= 10;
    }
    assert_eq!(healths(&mut world), [3, 20, 100]);
}

#[test]
fn query_state_par_iter() {
    let (mut world, _) = world();
    let mut state = world.query::<&Health>();
    let sum = std::sync::atomic::AtomicI32::new(0);
    state.par_iter(&world).for_each(|health| {
        sum.fetch_add(health.0, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(sum.into_inner(), 6);
}

#[test]
fn query_state_par_iter_mut() {
    let (mut world, _) = world();
    let mut state = world.query::<&mut Health>();
    state.par_iter_mut(&mut world).for_each(|mut health| health.0 -= 1);
    assert_eq!(healths(&mut world), [0, 1, 2]);
}

#[test]
fn query_state_single() {
    let (mut world, [_, second, _]) = world();
    let mut state = world.query_filtered::<(Entity, &Health), With<Player>>();
    let (entity, health) = state.single(&world).unwrap();
    assert_eq!((entity, health.0), (second, 2));
    assert!(world.query::<&Health>().single(&world).is_err());
}

#[test]
fn query_state_single_mut() {
    let (mut world, _) = world();
    let mut state = world.query_filtered::<&mut Health, With<Player>>();
    let mut health = state.single_mut(&mut world).unwrap();
    health.0 = 20;
    assert_eq!(healths(&mut world), [1, 3, 20]);
}

#[test]
fn query_state_is_empty() {
    let (mut world, [_, second, _]) = world();
    let mut state = world.query_filtered::<(), With<Player>>();
    let (last, now) = (world.last_change_tick(), world.read_change_tick());
    assert!(!state.is_empty(&world, last, now));
    world.despawn(second);
    assert!(state.is_empty(&world, last, now));
}

#[test]
fn query_state_contains() {
    let (mut world, [first, second, _]) = world();
    let mut state = world.query_filtered::<(), With<Player>>();
    let (last, now) = (world.last_change_tick(), world.read_change_tick());
    assert!(!state.contains(first, &world, last, now));
    assert!(state.contains(second, &world, last, now));
}

#[test]
fn query_state_update_archetypes() {
    let (mut world, _) = world();
    let mut state = world.query::<&Health>();
    world.spawn((Health(4), Armor(1), Player));
    state.update_archetypes(&world);
    assert_eq!(state.iter(&world).count(), 4);
}

#[test]
fn query_state_many_unique() {
    let mut world = World::new();
    let ids = [world.spawn(Health(1)).id(), world.spawn(Health(2)).id()];
    let mut state = world.query::<&mut Health>();
    for health in state.iter_many_unique_mut(&mut world, ids) {
        health.unwrap().0 += 10;
    }
    assert_eq!(
        state.iter_many_unique(&world, ids).map(|health| health.unwrap().0).collect::<Vec<_>>(),
        [11, 12]
    );
    assert!(state.get_many_unique(&world, ids).is_ok());
    assert!(state.get_many_unique_mut(&mut world, [ids[0], ids[0]]).is_err());
}
