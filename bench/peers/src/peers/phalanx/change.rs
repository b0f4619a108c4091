//! Components and entities that come and go, commands, and finding what changed.

use ::phalanx::prelude::*;
use ::phalanx::query::QueryState;

use super::LIBRARY;
use super::table::{A, B, Data, Position, Velocity, wide_world};
use crate::checksum::{Sum, of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::scalar;
use crate::workload::{MANY, PER_WIDE_TABLE, WIDE_TABLES};

const TABLE: (&str, &str) = (LIBRARY, "table");

/// B in a sparse set.
#[derive(Component, Clone, Copy)]
#[component(storage = "sparse")]
struct SparseB(#[allow(dead_code)] f32);

fn with_a(size: usize) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..size).map(|index| A(scalar(index)))).collect();
    (world, entities)
}

fn a_sum(world: &World) -> u64 {
    of_floats(world.view::<&A>().iter().map(|a| a.0))
}

pub fn add_remove(size: usize) -> Contender {
    Contender::steady(
        TABLE,
        move || with_a(size),
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert(entity, B(1.0)).expect("alive");
            }
            for &entity in entities.iter() {
                world.remove::<B>(entity).expect("alive");
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn add_remove_sparse() -> Contender {
    Contender::steady(
        (LIBRARY, "sparse"),
        || with_a(MANY),
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert(entity, SparseB(1.0)).expect("alive");
            }
            for &entity in entities.iter() {
                world.remove::<SparseB>(entity).expect("alive");
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn add_remove_sparse_writer() -> Contender {
    Contender::steady(
        (LIBRARY, "sparse door"),
        || with_a(MANY),
        |(world, entities)| {
            let mut set = world.sparse_mut::<SparseB>();
            for &entity in entities.iter() {
                set.insert(entity, SparseB(1.0)).expect("alive");
            }
            for &entity in entities.iter() {
                set.remove(entity).expect("alive");
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn spawn_despawn() -> Contender {
    Contender::steady(
        TABLE,
        || (World::new(), Vec::with_capacity(MANY)),
        |(world, entities)| {
            entities.clear();
            let spawn = |index| world.spawn((Position::nth(index), Velocity::nth(index))).id();
            entities.extend((0..MANY).map(spawn));
            for &entity in entities.iter() {
                world.despawn(entity);
            }
        },
        |(world, entities)| of_counts(entities.len(), world.entities().len()),
    )
}

pub fn spawn_despawn_batch() -> Contender {
    Contender::steady(
        (LIBRARY, "table batch"),
        || (World::new(), Vec::with_capacity(MANY)),
        |(world, entities)| {
            entities.clear();
            let movers = (0..MANY).map(|index| (Position::nth(index), Velocity::nth(index)));
            entities.extend_from_slice(world.spawn_batch(movers).as_slice());
            world.despawn_batch(entities.iter().copied());
        },
        |(world, entities)| of_counts(entities.len(), world.entities().len()),
    )
}

pub fn grow_spawn(size: usize) -> Contender {
    let run = move || {
        let mut world = World::new();
        for index in 0..size {
            world.spawn((Position::nth(index), Velocity::nth(index)));
        }
        world
    };
    Contender::fresh(TABLE, run, |world| {
        of_rows(world.view::<&Position>().iter().map(|position| position.row()))
    })
}

fn with_position() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..MANY).map(Position::nth)).collect();
    (world, entities)
}

fn remove_b((world, entities): &mut (World, Vec<Entity>)) {
    let archetype = world.archetype_of(entities[0]).expect("alive");
    world.remove_from_archetype::<B>(archetype);
}

pub fn bulk_insert() -> Contender {
    Contender::staged(
        TABLE,
        with_position,
        remove_b,
        |(world, entities)| {
            let archetype = world.archetype_of(entities[0]).expect("alive");
            world.insert_into_archetype(archetype, &B(0.5));
        },
        |(world, _)| of_floats(world.view::<&B>().iter().map(|b| b.0)),
    )
}

pub fn bulk_insert_loop() -> Contender {
    Contender::staged(
        (LIBRARY, "table loop"),
        with_position,
        remove_b,
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert(entity, B(0.5)).expect("alive");
            }
        },
        |(world, _)| of_floats(world.view::<&B>().iter().map(|b| b.0)),
    )
}

pub fn commands() -> Contender {
    Contender::staged(
        TABLE,
        || (World::new(), Vec::new()),
        |(world, entities)| {
            world.clear_entities();
            entities.clear();
            entities.extend((0..MANY).map(|index| match index % 4 {
                1 => world.spawn((A(scalar(index)), B(1.0))).id(),
                _ => world.spawn(A(scalar(index))).id(),
            }));
        },
        |(world, entities)| {
            let mut commands = world.commands();
            for (index, &entity) in entities.iter().enumerate() {
                match index % 4 {
                    0 => drop(commands.entity(entity).insert(B(2.0))),
                    1 => drop(commands.entity(entity).remove::<B>()),
                    2 => commands.entity(entity).despawn(),
                    _ => drop(commands.spawn((A(scalar(index)), B(3.0)))),
                }
            }
            world.flush();
        },
        |(world, _)| {
            let query = world.view::<(&A, Option<&B>)>();
            of_rows(query.iter().map(|(a, b)| [a.0, b.map_or(-1.0, |b| b.0)]))
        },
    )
}

pub fn changed() -> Contender {
    struct State {
        world: World,
        query: QueryState<&'static Data>,
        written: Vec<Entity>,
        seen: ::phalanx::tracking::Tick,
        sum: Sum,
    }
    Contender::staged(
        TABLE,
        || {
            let world = wide_world();
            let first = WIDE_TABLES / 2 * PER_WIDE_TABLE;
            let mut entities: Vec<Entity> = world.view_filtered::<Entity, With<Data>>().iter().collect();
            entities.sort_unstable_by_key(|entity| entity.index());
            let written = entities[first..first + PER_WIDE_TABLE].to_vec();
            let (query, seen) = (world.query(), world.read_change_tick());
            State { world, query, written, seen, sum: Sum::default() }
        },
        |State { world, written, seen, sum, .. }| {
            *seen = world.read_change_tick();
            world.increment_change_tick();
            *sum = Sum::default();
            for &entity in written.iter() {
                world.get_mut::<Data>(entity).expect("alive").0 += 1.0;
            }
        },
        |State { world, query, seen, sum, .. }| {
            for block in query.query(world).chunks_changed_since(*seen) {
                block.rows().for_each(|data| sum.float(data.0));
            }
        },
        |state| state.sum.get(),
    )
}
