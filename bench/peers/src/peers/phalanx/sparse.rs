//! Components in sparse sets, through plain queries and as the slice of one set.

use ::phalanx::prelude::*;
use ::phalanx::query::QueryState;

use super::LIBRARY;
use super::limit::body_sum;
use crate::checksum::{of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES};

const SPARSE: (&str, &str) = (LIBRARY, "sparse");
const SLICES: (&str, &str) = (LIBRARY, "sparse slices");

shapes::motion!(#[derive(Component)] #[component(storage = "sparse")]);
shapes::tags!(#[derive(Component)] #[component(storage = "sparse")]);
shapes::letters!(
    #[derive(Component)] #[component(storage = "sparse")];
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Data
);

pub fn simple_iter() -> Contender {
    Contender::steady(
        SPARSE,
        || {
            let mut world = World::new();
            world.spawn_batch((0..MANY).map(|index| (Position::nth(index), Velocity::nth(index))));
            let query = world.query::<(&mut Position, &Velocity)>();
            (world, query)
        },
        |(world, query)| {
            query.iter_mut(world).for_each(|(mut position, velocity)| {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            });
        },
        |(world, _)| of_rows(world.view::<&Position>().iter().map(|position| position.row())),
    )
}

fn data_rows(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        SPARSE,
        move || {
            let world = setup();
            let query = world.query::<&mut Data>();
            (world, query)
        },
        |(world, query)| query.iter_mut(world).for_each(|mut data| data.0 += 1.0),
        |(world, _)| of_floats(world.view::<&Data>().iter().map(|data| data.0)),
    )
}

fn data_slices(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        SLICES,
        setup,
        |world| {
            if let Some(data) = world.sparse_mut::<Data>().slice_mut() {
                data.iter_mut().for_each(|data| data.0 += 1.0);
            }
        },
        |world| of_floats(world.view::<&Data>().iter().map(|data| data.0)),
    )
}

fn fragmented_world() -> World {
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

fn wide_world() -> World {
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

pub fn fragmented_slices() -> Contender {
    data_slices(fragmented_world)
}

pub fn wide() -> Contender {
    data_rows(wide_world)
}

pub fn wide_slices() -> Contender {
    data_slices(wide_world)
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
        SPARSE,
        lookup,
        |Lookup { world, query, order, sum }| {
            let query = query.query(world);
            *sum =
                total(order.iter().filter_map(|&entity| query.get(entity).ok()).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn random_get_world() -> Contender {
    Contender::steady(
        SPARSE,
        lookup,
        |Lookup { world, order, sum, .. }| {
            let get = |&entity: &Entity| world.get::<Position>(entity);
            *sum = total(order.iter().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn spawn_despawn() -> Contender {
    Contender::steady(
        SPARSE,
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

pub fn group_iter() -> Contender {
    Contender::steady(
        SPARSE,
        || {
            let mut world = World::new();
            for index in 0..HUNDRED_THOUSAND {
                let value = scalar(index);
                match index % 4 {
                    0 => world.spawn((A(value), B(value), C(0.5))),
                    2 => world.spawn((A(value), B(value))),
                    _ => world.spawn(A(value)),
                };
            }
            let query = world.query::<(&mut A, &B, &C)>();
            (world, query)
        },
        |(world, query)| query.iter_mut(world).for_each(|(mut a, b, c)| a.0 += b.0 * c.0),
        |(world, _)| of_floats(world.view::<&A>().iter().map(|a| a.0)),
    )
}

fn bodies(world: &mut World) -> u64 {
    let query = world.view::<(&Transform, &Position, &Rotation, &Velocity)>();
    body_sum(query.iter().map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row())))
}

pub fn insert_loop() -> Contender {
    let run = || {
        let mut world = World::new();
        for i in 0..MANY {
            world.spawn((Transform::nth(i), Position::nth(i), Rotation::nth(i), Velocity::nth(i)));
        }
        world
    };
    Contender::fresh(SPARSE, run, bodies).plain()
}

pub fn insert_loop_group() -> Contender {
    let run = || {
        let mut world = World::new();
        world.group::<Own<(Transform, Position, Rotation, Velocity)>, Get<()>, ()>().expect("no other group");
        for i in 0..MANY {
            world.spawn((Transform::nth(i), Position::nth(i), Rotation::nth(i), Velocity::nth(i)));
        }
        world
    };
    Contender::fresh((LIBRARY, "group"), run, bodies).plain()
}

/// Every second A has a B, which came in another order.
pub fn pair_iter() -> [Contender; 2] {
    let setup = || {
        let mut world = World::new();
        let entities: Vec<Entity> =
            world.spawn_batch((0..HUNDRED_THOUSAND).map(|index| A(scalar(index)))).collect();
        for at in shapes::partners() {
            world.insert(entities[at], B(0.5)).expect("alive");
        }
        let query = world.query::<(&mut A, &B)>();
        (world, query)
    };
    let sum = |world: &World| of_floats(world.view::<&A>().iter().map(|a| a.0));
    [
        Contender::steady(
            SPARSE,
            setup,
            |(world, query)| query.iter_mut(world).for_each(|(mut a, b)| a.0 += b.0),
            move |(world, _)| sum(world),
        ),
        Contender::steady(
            (LIBRARY, "plain"),
            setup,
            |(world, query)| {
                for (mut a, b) in query.iter_mut(world) {
                    a.0 += b.0;
                }
            },
            move |(world, _)| sum(world),
        )
        .plain(),
    ]
}
