//! Phalanx as people write it: `for` over rows, one call per entity. Where a loop has no line elsewhere, its `for_each`
//! stands beside it.

use ::phalanx::prelude::*;
use ::phalanx::query::QueryState;

use super::LIBRARY;
use super::table::{
    A, B, C, D, Data, E, F, G, H, Position, Rotation, Transform, Velocity, body, flat_movers,
    fragmented_world, group_world, movers, places, positions, wide_world,
};
use crate::checksum::{of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar};
use crate::workload::{LOOKUPS, MANY};

const PLAIN: (&str, &str) = (LIBRARY, "plain");
const ROWS: (&str, &str) = (LIBRARY, "table");

fn a_sum(world: &World) -> u64 {
    of_floats(world.view::<&A>().iter().map(|a| a.0))
}

pub fn simple_iter() -> Contender {
    Contender::steady(
        PLAIN,
        || movers(MANY),
        |(world, query)| {
            for (mut position, velocity) in query.iter_mut(world) {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            }
        },
        |(world, _)| positions(world),
    )
    .plain()
}

pub fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        PLAIN,
        flat_movers,
        move |_| before(),
        |(world, query)| {
            for (mut place, speed) in query.iter_mut(world) {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            }
        },
        |(world, _)| places(world),
    )
    .plain()
}

fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        PLAIN,
        move || {
            let world = setup();
            let query = world.query::<&mut Data>();
            (world, query)
        },
        |(world, query)| {
            for mut data in query.iter_mut(world) {
                data.0 += 1.0;
            }
        },
        |(world, _)| of_floats(world.view::<&Data>().iter().map(|data| data.0)),
    )
    .plain()
}

pub fn fragmented() -> Contender {
    add_to_data(fragmented_world)
}

pub fn wide() -> Contender {
    add_to_data(wide_world)
}

pub fn group_iter() -> Contender {
    Contender::steady(
        PLAIN,
        group_world,
        |(world, query)| {
            for (mut a, b, c) in query.iter_mut(world) {
                a.0 += b.0 * c.0;
            }
        },
        |(world, _)| a_sum(world),
    )
    .plain()
}

pub fn insert_eight() -> Contender {
    let run = || {
        let mut world = World::new();
        for index in 0..MANY {
            let at = |shift: usize| scalar(index + shift);
            world.spawn((A(at(0)), B(at(1)), C(at(2)), D(at(3)), E(at(4)), F(at(5)), G(at(6)), H(at(7))));
        }
        world
    };
    Contender::fresh(ROWS, run, |world| {
        let query = world.view::<(&A, &B, &C, &D, &E, &F, &G, &H)>();
        of_rows(query.iter().map(|(a, b, c, d, e, f, g, h)| [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]))
    })
    .plain()
}

type Five =
    (&'static mut Transform, &'static mut Position, &'static Rotation, &'static Velocity, &'static Data);

fn five_world() -> (World, QueryState<Five>) {
    let mut world = World::new();
    world.spawn_batch((0..MANY).map(|index| {
        let (transform, position, rotation, velocity) = body(index);
        (transform, position, rotation, velocity, Data(scalar(index)))
    }));
    let query = world.query();
    (world, query)
}

fn five_sum(world: &World) -> u64 {
    let query = world.view::<(&Transform, &Position)>();
    of_rows(query.iter().map(|(m, p)| [m.columns[0][0], m.columns[1][1], m.columns[3][1], p.x, p.z]))
}

/// The body of both loops.
macro_rules! five {
    ($transform:ident, $position:ident, $rotation:ident, $velocity:ident, $scale:ident) => {{
        $position.x += $velocity.x * DT;
        $position.y += $velocity.y * DT;
        $position.z += $velocity.z * DT;
        shapes::place(&mut $transform.columns, $position.row(), $rotation.row(), $scale.0);
    }};
}

pub fn five_components() -> [Contender; 2] {
    [
        Contender::steady(
            ROWS,
            five_world,
            |(world, query)| query.iter_mut(world).for_each(|(mut m, mut p, r, v, s)| five!(m, p, r, v, s)),
            |(world, _)| five_sum(world),
        ),
        Contender::steady(
            PLAIN,
            five_world,
            |(world, query)| {
                for (mut m, mut p, r, v, s) in query.iter_mut(world) {
                    five!(m, p, r, v, s);
                }
            },
            |(world, _)| five_sum(world),
        )
        .plain(),
    ]
}

type Some = (&'static mut A, &'static B, Option<&'static C>, Has<D>);

fn filtered_world() -> (World, QueryState<Some, With<E>>) {
    let mut world = World::new();
    for index in 0..MANY {
        let (a, b) = (A(scalar(index)), B(0.25));
        world.spawn((a, b));
        match index % 2 {
            0 => world.spawn((a, b, E(0.0))),
            _ => world.spawn((a, b, C(0.5), D(0.0), E(0.0))),
        };
    }
    let query = world.query_filtered();
    (world, query)
}

pub fn filtered() -> [Contender; 2] {
    [
        Contender::steady(
            ROWS,
            filtered_world,
            |(world, query)| {
                query
                    .iter_mut(world)
                    .for_each(|(mut a, b, c, d)| shapes::filtered(&mut a.0, b.0, c.map(|c| c.0), d));
            },
            |(world, _)| a_sum(world),
        ),
        Contender::steady(
            PLAIN,
            filtered_world,
            |(world, query)| {
                for (mut a, b, c, d) in query.iter_mut(world) {
                    shapes::filtered(&mut a.0, b.0, c.map(|c| c.0), d);
                }
            },
            |(world, _)| a_sum(world),
        )
        .plain(),
    ]
}

fn lookup() -> (World, QueryState<&'static mut Position>, Vec<Entity>) {
    let mut world = World::new();
    let entities: Vec<Entity> =
        world.spawn_batch((0..LOOKUPS).map(|index| (Position::nth(index), Velocity::nth(index)))).collect();
    let order = lookups().into_iter().map(|at| entities[at]).collect();
    let query = world.query();
    (world, query, order)
}

pub fn random_get_mut() -> Contender {
    Contender::steady(
        ROWS,
        lookup,
        |(world, query, order)| {
            let mut query = query.query_mut(world);
            for &entity in order.iter() {
                if let Ok(mut position) = query.get_mut(entity) {
                    position.x += 1.0;
                }
            }
        },
        |(world, _, _)| positions(world),
    )
    .plain()
}

pub fn random_get_mut_world() -> Contender {
    Contender::steady(
        ROWS,
        lookup,
        |(world, _, order)| {
            for &entity in order.iter() {
                if let Some(mut position) = world.get_mut::<Position>(entity) {
                    position.x += 1.0;
                }
            }
        },
        |(world, _, _)| positions(world),
    )
    .plain()
}
