//! bevy_ecs: components and entities that come and go, commands, and change detection.

use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;

use super::{A, B, Data, NAME, Position, Velocity};
use crate::checksum::{Sum, of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::scalar;
use crate::workload::{MANY, PER_WIDE_TABLE, WIDE_TABLES};

/// B in a sparse set.
#[derive(Component)]
#[component(storage = "SparseSet")]
struct SparseB(#[allow(dead_code)] f32);

fn with_a(size: usize) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..size).map(|index| A(scalar(index)))).collect();
    (world, entities)
}

fn a_sum(world: &mut World) -> u64 {
    of_floats(world.query::<&A>().iter(world).map(|a| a.0))
}

pub fn add_remove(size: usize) -> Contender {
    Contender::steady(
        NAME,
        move || with_a(size),
        |(world, entities)| {
            for &entity in entities.iter() {
                world.entity_mut(entity).insert(B(1.0));
            }
            for &entity in entities.iter() {
                world.entity_mut(entity).remove::<B>();
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn add_remove_sparse() -> Contender {
    Contender::steady(
        ("bevy", "sparse"),
        || with_a(MANY),
        |(world, entities)| {
            for &entity in entities.iter() {
                world.entity_mut(entity).insert(SparseB(1.0));
            }
            for &entity in entities.iter() {
                world.entity_mut(entity).remove::<SparseB>();
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn spawn_despawn() -> [Contender; 2] {
    [
        spawned_and_despawned(NAME, |world, entities| {
            let spawn = |index| world.spawn((Position::nth(index), Velocity::nth(index))).id();
            entities.extend((0..MANY).map(spawn));
        })
        .plain(),
        spawned_and_despawned(("bevy", "spawn_batch"), |world, entities| {
            let movers = (0..MANY).map(|index| (Position::nth(index), Velocity::nth(index)));
            entities.extend(world.spawn_batch(movers));
        }),
    ]
}

fn spawned_and_despawned(
    name: (&'static str, &'static str),
    spawn: impl Fn(&mut World, &mut Vec<Entity>) + Copy + 'static,
) -> Contender {
    Contender::steady(
        name,
        || (World::new(), Vec::with_capacity(MANY)),
        move |(world, entities)| {
            entities.clear();
            spawn(world, entities);
            for &entity in entities.iter() {
                world.despawn(entity);
            }
        },
        |(world, entities)| of_counts(entities.len(), world.query::<&Position>().iter(world).count()),
    )
}

pub fn bulk_insert() -> Contender {
    Contender::staged(
        ("bevy", "insert_batch"),
        || {
            let mut world = World::new();
            let entities: Vec<Entity> = world.spawn_batch((0..MANY).map(Position::nth)).collect();
            (world, entities)
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                world.entity_mut(entity).remove::<B>();
            }
        },
        |(world, entities)| world.insert_batch(entities.iter().map(|&entity| (entity, B(0.5)))),
        |(world, _)| of_floats(world.query::<&B>().iter(world).map(|b| b.0)),
    )
}

pub fn commands() -> Contender {
    Contender::staged(
        ("bevy", "commands"),
        || (World::new(), CommandQueue::default(), Vec::new()),
        |(world, _, entities)| {
            world.clear_entities();
            entities.clear();
            entities.extend((0..MANY).map(|index| match index % 4 {
                1 => world.spawn((A(scalar(index)), B(1.0))).id(),
                _ => world.spawn(A(scalar(index))).id(),
            }));
        },
        |(world, queue, entities)| {
            let mut commands = Commands::new(queue, world);
            for (index, &entity) in entities.iter().enumerate() {
                match index % 4 {
                    0 => drop(commands.entity(entity).insert(B(2.0))),
                    1 => drop(commands.entity(entity).remove::<B>()),
                    2 => commands.entity(entity).despawn(),
                    _ => drop(commands.spawn((A(scalar(index)), B(3.0)))),
                }
            }
            queue.apply(world);
        },
        |(world, _, _)| {
            let mut query = world.query::<(&A, Option<&B>)>();
            of_rows(query.iter(world).map(|(a, b)| [a.0, b.map_or(-1.0, |b| b.0)]))
        },
    )
}

pub fn changed() -> Contender {
    struct State {
        world: World,
        query: QueryState<&'static Data, Changed<Data>>,
        written: Vec<Entity>,
        sum: Sum,
    }
    Contender::staged(
        ("bevy", "Changed"),
        || {
            let mut world = super::wide_world();
            let first = WIDE_TABLES / 2 * PER_WIDE_TABLE;
            let query = world.query_filtered();
            let mut all = world.query_filtered::<Entity, With<Data>>();
            let mut entities: Vec<Entity> = all.iter(&world).collect();
            entities.sort_unstable_by_key(|entity| entity.index());
            State {
                written: entities[first..first + PER_WIDE_TABLE].to_vec(),
                world,
                query,
                sum: Sum::default(),
            }
        },
        |State { world, written, sum, .. }| {
            world.clear_trackers();
            *sum = Sum::default();
            for &entity in written.iter() {
                world.get_mut::<Data>(entity).expect("alive").0 += 1.0;
            }
        },
        |State { world, query, sum, .. }| query.iter(world).for_each(|data| sum.float(data.0)),
        |state| state.sum.get(),
    )
}
