//! flecs: components and entities that come and go, deferred operations, tables that changed.

use flecs_ecs::prelude::*;

use super::{A, B, Data, NAME, Position, Queried, Velocity};
use crate::checksum::{Sum, of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::scalar;
use crate::workload::{MANY, PER_WIDE_TABLE, WIDE_TABLES};

/// B outside of tables.
#[derive(Component)]
struct SparseB(#[allow(dead_code)] f32);

fn with_a() -> (World, Vec<Entity>) {
    let world = World::new();
    let values: Vec<A> = (0..MANY).map(|index| A(scalar(index))).collect();
    let entities = world.entity_bulk(MANY as u32).set(&values).build();
    (world, entities)
}

fn a_sum(world: &World) -> u64 {
    let mut values = Vec::new();
    world.new_query::<&A>().each(|a| values.push(a.0));
    of_floats(values)
}

pub fn add_remove() -> Contender {
    Contender::steady(
        NAME,
        with_a,
        |(world, entities)| {
            for &entity in entities.iter() {
                world.entity_from_id(entity).set(B(1.0));
            }
            for &entity in entities.iter() {
                world.entity_from_id(entity).remove(B::id());
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn add_remove_sparse() -> Contender {
    Contender::steady(
        ("flecs", "sparse"),
        || {
            let (world, entities) = with_a();
            world.component::<SparseB>().add_trait::<flecs::Sparse>().add_trait::<flecs::DontFragment>();
            (world, entities)
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                world.entity_from_id(entity).set(SparseB(1.0));
            }
            for &entity in entities.iter() {
                world.entity_from_id(entity).remove(SparseB::id());
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn spawn_despawn() -> Contender {
    Contender::steady(
        NAME,
        || (World::new(), Vec::with_capacity(MANY)),
        |(world, entities)| {
            entities.clear();
            let spawn = |index| world.entity().set(Position::nth(index)).set(Velocity::nth(index)).id();
            entities.extend((0..MANY).map(spawn));
            for &entity in entities.iter() {
                world.entity_from_id(entity).destruct();
            }
        },
        |(world, entities)| {
            let mut alive = 0;
            world.new_query::<&Position>().each(|_| alive += 1);
            of_counts(entities.len(), alive)
        },
    )
}

pub fn bulk_insert() -> Contender {
    Contender::staged(
        ("flecs", "loop"),
        || {
            let world = World::new();
            let values: Vec<Position> = (0..MANY).map(Position::nth).collect();
            let entities = world.entity_bulk(MANY as u32).set(&values).build();
            (world, entities)
        },
        |(world, _)| world.remove_all(B::id()),
        |(world, entities)| {
            for &entity in entities.iter() {
                world.entity_from_id(entity).set(B(0.5));
            }
        },
        |(world, _)| {
            let mut values = Vec::new();
            world.new_query::<&B>().each(|b| values.push(b.0));
            of_floats(values)
        },
    )
}

pub fn commands() -> Contender {
    Contender::staged(
        ("flecs", "defer"),
        || (World::new(), Vec::new()),
        |(world, entities)| {
            world.delete_entities_with(A::id());
            entities.clear();
            entities.extend((0..MANY).map(|index| match index % 4 {
                1 => world.entity().set(A(scalar(index))).set(B(1.0)).id(),
                _ => world.entity().set(A(scalar(index))).id(),
            }));
        },
        |(world, entities)| {
            world.defer_begin();
            for (index, &entity) in entities.iter().enumerate() {
                let entity = world.entity_from_id(entity);
                match index % 4 {
                    0 => drop(entity.set(B(2.0))),
                    1 => drop(entity.remove(B::id())),
                    2 => entity.destruct(),
                    _ => drop(world.entity().set(A(scalar(index))).set(B(3.0))),
                }
            }
            world.defer_end();
        },
        |(world, _)| {
            let mut rows = Vec::new();
            world.new_query::<(&A, Option<&B>)>().each(|(a, b)| rows.push([a.0, b.map_or(-1.0, |b| b.0)]));
            of_rows(rows)
        },
    )
}

pub fn changed() -> Contender {
    Contender::staged(
        ("flecs", "is_changed"),
        || {
            let (world, entities) = super::wide_entities();
            let first = WIDE_TABLES / 2 * PER_WIDE_TABLE;
            let written = entities[first..first + PER_WIDE_TABLE].to_vec();
            let query = world.query::<&Data>().set_cached().detect_changes().build();
            // The first walk sees everything as changed.
            query.run(|mut it| while it.next() {});
            (Queried { query, world }, written, Sum::default())
        },
        |(state, written, sum)| {
            *sum = Sum::default();
            for &entity in written.iter() {
                let entity = state.world.entity_from_id(entity);
                let value = entity.get::<&Data>(|data| data.0);
                entity.set(Data(value + 1.0));
            }
        },
        |(state, _, sum)| {
            state.query.run(|mut it| {
                while it.next() {
                    if it.is_changed() {
                        let data = it.field::<Data>(0);
                        for i in it.iter() {
                            sum.float(data[i].0);
                        }
                    } else {
                        it.skip();
                    }
                }
            });
        },
        |(_, _, sum)| sum.get(),
    )
}
