//! Whole components in tables, by rows (`for_each`) and by chunks.

use ::phalanx::prelude::*;
use ::phalanx::query::QueryState;

use super::LIBRARY;
use super::limit::body_sum;
use crate::checksum::{of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{
    HEAVY, HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES,
};

const ROWS: (&str, &str) = (LIBRARY, "table");
const CHUNKS: (&str, &str) = (LIBRARY, "table chunks");

shapes::motion!(#[derive(Component)]);
shapes::flat_motion!(#[derive(Component)]);
shapes::tags!(#[derive(Component)]);
shapes::letters!(#[derive(Component)]; A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Data);

pub fn body(index: usize) -> (Transform, Position, Rotation, Velocity) {
    (Transform::nth(index), Position::nth(index), Rotation::nth(index), Velocity::nth(index))
}

fn bodies(world: &mut World) -> u64 {
    let query = world.view::<(&Transform, &Position, &Rotation, &Velocity)>();
    body_sum(query.iter().map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row())))
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

pub fn movers(size: usize) -> (World, QueryState<Moving>) {
    let mut world = World::new();
    world.spawn_batch((0..size).map(|index| (Position::nth(index), Velocity::nth(index))));
    let query = world.query();
    (world, query)
}

pub fn positions(world: &World) -> u64 {
    of_rows(world.view::<&Position>().iter().map(|position| position.row()))
}

pub fn simple_iter(size: usize) -> Contender {
    Contender::steady(
        ROWS,
        move || movers(size),
        |(world, query)| {
            query.iter_mut(world).for_each(|(mut position, velocity)| {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            });
        },
        |(world, _)| positions(world),
    )
}

pub fn simple_iter_chunks() -> Contender {
    Contender::steady(
        CHUNKS,
        || movers(MANY),
        |(world, query)| {
            for (positions, velocities) in query.query_mut(world).chunks_mut() {
                for (position, velocity) in positions.iter_mut().zip(velocities) {
                    position.x += velocity.x * DT;
                    position.y += velocity.y * DT;
                    position.z += velocity.z * DT;
                }
            }
        },
        |(world, _)| positions(world),
    )
}

pub fn flat_movers() -> (World, QueryState<(&'static mut Place, &'static Speed)>) {
    let mut world = World::new();
    world.spawn_batch((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
    let query = world.query();
    (world, query)
}

pub fn places(world: &World) -> u64 {
    of_rows(world.view::<&Place>().iter().map(|place| place.row()))
}

pub fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        ROWS,
        flat_movers,
        move |_| before(),
        |(world, query)| {
            query.iter_mut(world).for_each(|(mut place, speed)| {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
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
            for (places, speeds) in query.query_mut(world).chunks_mut() {
                for (place, speed) in places.iter_mut().zip(speeds) {
                    place.x += speed.x * DT;
                    place.y += speed.y * DT;
                }
            }
        },
        |(world, _)| places(world),
    )
}

fn data_rows(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        ROWS,
        move || {
            let world = setup();
            let query = world.query::<&mut Data>();
            (world, query)
        },
        |(world, query)| query.iter_mut(world).for_each(|mut data| data.0 += 1.0),
        |(world, _)| of_floats(world.view::<&Data>().iter().map(|data| data.0)),
    )
}

fn data_chunks(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        CHUNKS,
        move || {
            let world = setup();
            let query = world.query::<&mut Data>();
            (world, query)
        },
        |(world, query)| {
            for data in query.query_mut(world).chunks_mut() {
                data.iter_mut().for_each(|data| data.0 += 1.0);
            }
        },
        |(world, _)| of_floats(world.view::<&Data>().iter().map(|data| data.0)),
    )
}

pub fn fragmented_world() -> World {
    let mut world = World::new();
    let mut next = 0;
    macro_rules! spawn {
        ($($letter:ident)*) => {
            $(for _ in 0..PER_LETTER {
                world.spawn(($letter(0.0), Data(scalar(next))));
                next += 1;
            })*
        };
    }
    shapes::for_each_letter!(spawn);
    world
}

pub fn wide_world() -> World {
    let mut world = World::new();
    for index in 0..WIDE_TABLES * PER_WIDE_TABLE {
        let mut entity = world.spawn(Data(scalar(index)));
        macro_rules! add {
            ($tag:ident) => {
                entity.insert($tag)
            };
        }
        shapes::for_each_tag!(index / PER_WIDE_TABLE, add);
    }
    world
}

pub fn fragmented() -> Contender {
    data_rows(fragmented_world)
}

pub fn fragmented_chunks() -> Contender {
    data_chunks(fragmented_world)
}

pub fn wide() -> Contender {
    data_rows(wide_world)
}

pub fn wide_chunks() -> Contender {
    data_chunks(wide_world)
}

struct Lookup {
    world: World,
    query: QueryState<&'static Position>,
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
            *sum =
                total(order.iter().filter_map(|&entity| query.get(entity).ok()).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn random_get_many() -> Contender {
    Contender::steady(
        (LIBRARY, "table many"),
        lookup,
        |Lookup { world, query, order, sum }| {
            *sum = total(query.query(world).iter_many(order.iter()).matched().map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn random_get_world() -> Contender {
    Contender::steady(
        ROWS,
        lookup,
        |Lookup { world, order, sum, .. }| {
            let get = |&entity: &Entity| world.get::<Position>(entity);
            *sum = total(order.iter().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn heavy_compute() -> Contender {
    Contender::steady(
        ROWS,
        || {
            let mut world = World::new();
            world.spawn_batch((0..HEAVY).map(body));
            let query = world.query::<(&mut Transform, &mut Position)>();
            (world, query)
        },
        |(world, query)| {
            query.query_mut(world).par_iter_mut().batch_rows(16).for_each(|(mut transform, mut position)| {
                let mut row = position.row();
                shapes::invert(&mut transform.columns, &mut row);
                [position.x, position.y, position.z] = row;
            });
        },
        |(world, _)| {
            let query = world.view::<(&Transform, &Position)>();
            of_rows(query.iter().map(|(m, p)| [m.columns[0][1], m.columns[3][1], p.x, p.z]))
        },
    )
}

type Grouped = (&'static mut A, &'static B, &'static C);

pub fn group_world() -> (World, QueryState<Grouped>) {
    let mut world = World::new();
    for index in 0..HUNDRED_THOUSAND {
        let value = scalar(index);
        match index % 4 {
            0 => world.spawn((A(value), B(value), C(0.5))),
            2 => world.spawn((A(value), B(value))),
            _ => world.spawn(A(value)),
        };
    }
    let query = world.query();
    (world, query)
}

pub fn group_iter() -> Contender {
    Contender::steady(
        ROWS,
        group_world,
        |(world, query)| query.iter_mut(world).for_each(|(mut a, b, c)| a.0 += b.0 * c.0),
        |(world, _)| of_floats(world.view::<&A>().iter().map(|a| a.0)),
    )
}

pub fn group_iter_chunks() -> Contender {
    Contender::steady(
        CHUNKS,
        group_world,
        |(world, query)| {
            for (a, b, c) in query.query_mut(world).chunks_mut() {
                for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                    a.0 += b.0 * c.0;
                }
            }
        },
        |(world, _)| of_floats(world.view::<&A>().iter().map(|a| a.0)),
    )
}
