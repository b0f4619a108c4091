//! Components with a column per field, by rows and by chunks.

use ::phalanx::pool::Handle;
use ::phalanx::prelude::*;
use ::phalanx::query::QueryState;

use super::LIBRARY;
use super::limit::{advance, body_sum};
use crate::checksum::{of_counts, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, total};
use crate::workload::{LOOKUPS, MANY, MILLION};

const ROWS: (&str, &str) = (LIBRARY, "fields");
const CHUNKS: (&str, &str) = (LIBRARY, "fields chunks");

shapes::flat_motion!(#[derive(Component)] #[component(layout = "soa")]);
shapes::motion!(@vector Position #[derive(Component)] #[component(layout = "soa")]);
shapes::motion!(@vector Rotation #[derive(Component)] #[component(layout = "soa")]);
shapes::motion!(@vector Velocity #[derive(Component)] #[component(layout = "soa")]);

/// The matrix stays whole: its single numbers are never asked for.
#[derive(Component, Clone, Copy)]
pub struct Transform {
    columns: [[f32; 4]; 4],
}

fn body(index: usize) -> (Transform, Position, Rotation, Velocity) {
    let transform = Transform { columns: shapes::matrix(index) };
    (transform, Position::nth(index), Rotation::nth(index), Velocity::nth(index))
}

fn bodies(world: &mut World) -> u64 {
    let query = world.view::<(&Transform, &Position, &Rotation, &Velocity)>();
    body_sum(query.iter().map(|(m, p, r, v)| (m.columns, p.get().row(), r.get().row(), v.get().row())))
}

pub fn simple_insert() -> Contender {
    let run = || {
        let mut world = World::new();
        world.spawn_batch((0..MANY).map(body));
        world
    };
    Contender::fresh(ROWS, run, bodies)
}

pub fn insert_loop() -> Contender {
    let run = || {
        let mut world = World::new();
        for index in 0..MANY {
            world.spawn(body(index));
        }
        world
    };
    Contender::fresh(ROWS, run, bodies)
}

type Moving = (&'static mut Position, &'static Velocity);

fn movers(size: usize) -> (World, QueryState<Moving>) {
    let mut world = World::new();
    world.spawn_batch((0..size).map(|index| (Position::nth(index), Velocity::nth(index))));
    let query = world.query();
    (world, query)
}

fn positions(world: &World) -> u64 {
    of_rows(world.view::<&Position>().iter().map(|position| position.get().row()))
}

pub fn simple_iter() -> Contender {
    Contender::steady(
        ROWS,
        || movers(MANY),
        |(world, query)| {
            query.iter_mut(world).for_each(|(position, velocity)| {
                *position.x += *velocity.x * DT;
                *position.y += *velocity.y * DT;
                *position.z += *velocity.z * DT;
            });
        },
        |(world, _)| positions(world),
    )
}

pub fn simple_iter_chunks(size: usize) -> Contender {
    Contender::steady(
        CHUNKS,
        move || movers(size),
        |(world, query)| {
            for (position, velocity) in query.query_mut(world).chunks_mut() {
                advance(position.x, velocity.x);
                advance(position.y, velocity.y);
                advance(position.z, velocity.z);
            }
        },
        |(world, _)| positions(world),
    )
}

fn flat_movers() -> (World, QueryState<(&'static mut Place, &'static Speed)>) {
    let mut world = World::new();
    world.spawn_batch((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
    let query = world.query();
    (world, query)
}

fn places(world: &World) -> u64 {
    of_rows(world.view::<&Place>().iter().map(|place| place.get().row()))
}

pub fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        ROWS,
        flat_movers,
        move |_| before(),
        |(world, query)| {
            query.iter_mut(world).for_each(|(place, speed)| {
                *place.x += *speed.x * DT;
                *place.y += *speed.y * DT;
            });
        },
        |(world, _)| places(world),
    )
}

pub fn iter_1m_chunks(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        CHUNKS,
        flat_movers,
        move |_| before(),
        |(world, query)| {
            for (place, speed) in query.query_mut(world).chunks_mut() {
                advance(place.x, speed.x);
                advance(place.y, speed.y);
            }
        },
        |(world, _)| places(world),
    )
}

struct Lookup {
    world: World,
    query: QueryState<&'static position::x>,
    order: Vec<Entity>,
    sum: u64,
}

fn lookup() -> Lookup {
    let mut world = World::new();
    let entities: Vec<Entity> =
        world.spawn_batch((0..LOOKUPS).map(|index| (Position::nth(index), Velocity::nth(index)))).collect();
    let order = lookups().into_iter().map(|at| entities[at]).collect();
    let query = world.query();
    Lookup { world, query, order, sum: 0 }
}

pub fn random_get() -> Contender {
    Contender::steady(
        ROWS,
        lookup,
        |Lookup { world, query, order, sum }| {
            let query = query.query(world);
            *sum = total(order.iter().filter_map(|&entity| query.get(entity).ok()).copied());
        },
        |state| state.sum,
    )
}

pub fn random_get_many() -> Contender {
    Contender::steady(
        (LIBRARY, "fields many"),
        lookup,
        |Lookup { world, query, order, sum }| {
            *sum = total(query.query(world).iter_many(order.iter()).matched().copied());
        },
        |state| state.sum,
    )
}

/// Both components with a column per field, in a pool.
#[derive(Pool)]
struct Movers {
    position: Position,
    velocity: Velocity,
}

pub fn random_get_handle() -> Contender {
    Contender::steady(
        (LIBRARY, "fields pool handle"),
        || {
            let mut world = World::new();
            let mover = |index| Movers { position: Position::nth(index), velocity: Velocity::nth(index) };
            let entities: Vec<Entity> = world.spawn_batch_in((0..LOOKUPS).map(mover)).collect();
            let handle = |at: usize| world.pool::<Movers>().handle(entities[at]).expect("alive");
            let order: Vec<Handle<Movers>> = lookups().into_iter().map(handle).collect();
            (world, order, 0)
        },
        |(world, order, sum)| {
            let positions = world.pool::<Movers>().reader::<position::x>();
            *sum = total(order.iter_mut().filter_map(|handle| positions.get(handle).ok()).copied());
        },
        |(.., sum)| *sum,
    )
}

pub fn random_get_world() -> Contender {
    Contender::steady(
        ROWS,
        lookup,
        |Lookup { world, order, sum, .. }| {
            *sum = total(order.iter().filter_map(|&entity| world.get::<position::x>(entity)).copied());
        },
        |state| state.sum,
    )
}

pub fn spawn_despawn() -> Contender {
    Contender::steady(
        ROWS,
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
