//! hecs as people write it: `for` over rows, one call per entity. Where a loop has no line elsewhere, its `for_each`
//! stands beside it.

use ::hecs::{ChangeTracker, Entity, PreparedQuery, Satisfies, With, World};
use rayon::prelude::*;

use super::{A, B, C, D, Data, E, F, G, H, NAME, Place, Position, Rotation, Speed, Transform, Velocity};
use crate::checksum::{Sum, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION};

const PLAIN: (&str, &str) = ("hecs", "plain");

fn movers(size: usize) -> (World, PreparedQuery<(&'static mut Position, &'static Velocity)>) {
    let mut world = World::new();
    world.spawn_batch((0..size).map(|index| (Position::nth(index), Velocity::nth(index))));
    (world, PreparedQuery::new())
}

fn positions(world: &mut World) -> u64 {
    of_rows(world.query_mut::<&Position>().into_iter().map(|position| position.row()))
}

fn a_sum(world: &mut World) -> u64 {
    of_floats(world.query_mut::<&A>().into_iter().map(|a| a.0))
}

pub fn simple_iter() -> Contender {
    Contender::steady(
        PLAIN,
        || movers(MANY),
        |(world, query)| {
            for (position, velocity) in query.query_mut(world) {
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
        || {
            let mut world = World::new();
            world.spawn_batch((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
            (world, PreparedQuery::<(&mut Place, &Speed)>::new())
        },
        move |_| before(),
        |(world, query)| {
            for (place, speed) in query.query_mut(world) {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            }
        },
        |(world, _)| of_rows(world.query_mut::<&Place>().into_iter().map(|place| place.row())),
    )
    .plain()
}

pub fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        PLAIN,
        move || (setup(), PreparedQuery::<&mut Data>::new()),
        |(world, query)| {
            for data in query.query_mut(world) {
                data.0 += 1.0;
            }
        },
        |(world, _)| of_floats(world.query_mut::<&Data>().into_iter().map(|data| data.0)),
    )
    .plain()
}

pub fn group_iter() -> Contender {
    Contender::steady(
        PLAIN,
        || (super::group_world(), PreparedQuery::<(&mut A, &B, &C)>::new()),
        |(world, query)| {
            for (a, b, c) in query.query_mut(world) {
                a.0 += b.0 * c.0;
            }
        },
        |(world, _)| a_sum(world),
    )
    .plain()
}

pub fn schedule() -> Contender {
    Contender::steady(
        ("hecs", "plain no scheduler"),
        super::swaps,
        |super::Swaps { world, ab, cd, ce }| {
            for (a, b) in ab.query_mut(world) {
                std::mem::swap(&mut a.0, &mut b.0);
            }
            for (c, d) in cd.query_mut(world) {
                std::mem::swap(&mut c.0, &mut d.0);
            }
            for (c, e) in ce.query_mut(world) {
                std::mem::swap(&mut c.0, &mut e.0);
            }
        },
        super::swapped,
    )
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
    Contender::fresh(NAME, run, |world| {
        let rows = world.query_mut::<(&A, &B, &C, &D, &E, &F, &G, &H)>();
        of_rows(rows.into_iter().map(|(a, b, c, d, e, f, g, h)| [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]))
    })
    .plain()
}

type Five =
    (&'static mut Transform, &'static mut Position, &'static Rotation, &'static Velocity, &'static Data);

fn five_world() -> (World, PreparedQuery<Five>) {
    let mut world = World::new();
    world.spawn_batch((0..MANY).map(|index| {
        let (transform, position, rotation, velocity) = super::body(index);
        (transform, position, rotation, velocity, Data(scalar(index)))
    }));
    (world, PreparedQuery::new())
}

fn five_sum(world: &mut World) -> u64 {
    let rows = world.query_mut::<(&Transform, &Position)>();
    of_rows(rows.into_iter().map(|(m, p)| [m.columns[0][0], m.columns[1][1], m.columns[3][1], p.x, p.z]))
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
            NAME,
            five_world,
            |(world, query)| query.query_mut(world).for_each(|(m, p, r, v, s)| five!(m, p, r, v, s)),
            |(world, _)| five_sum(world),
        ),
        Contender::steady(
            PLAIN,
            five_world,
            |(world, query)| {
                for (m, p, r, v, s) in query.query_mut(world) {
                    five!(m, p, r, v, s);
                }
            },
            |(world, _)| five_sum(world),
        )
        .plain(),
    ]
}

type Some = With<(&'static mut A, &'static B, Option<&'static C>, Satisfies<&'static D>), &'static E>;

fn filtered_world() -> (World, PreparedQuery<Some>) {
    let mut world = World::new();
    for index in 0..MANY {
        let (a, b) = (A(scalar(index)), B(0.25));
        world.spawn((a, b));
        match index % 2 {
            0 => world.spawn((a, b, E(0.0))),
            _ => world.spawn((a, b, C(0.5), D(0.0), E(0.0))),
        };
    }
    (world, PreparedQuery::new())
}

pub fn filtered() -> [Contender; 2] {
    [
        Contender::steady(
            NAME,
            filtered_world,
            |(world, query)| {
                query
                    .query_mut(world)
                    .for_each(|(a, b, c, d)| shapes::filtered(&mut a.0, b.0, c.map(|c| c.0), d));
            },
            |(world, _)| a_sum(world),
        ),
        Contender::steady(
            PLAIN,
            filtered_world,
            |(world, query)| {
                for (a, b, c, d) in query.query_mut(world) {
                    shapes::filtered(&mut a.0, b.0, c.map(|c| c.0), d);
                }
            },
            |(world, _)| a_sum(world),
        )
        .plain(),
    ]
}

fn lookup() -> (World, PreparedQuery<&'static mut Position>, Vec<Entity>) {
    let mut world = World::new();
    let entities: Vec<Entity> =
        world.spawn_batch((0..LOOKUPS).map(|index| (Position::nth(index), Velocity::nth(index)))).collect();
    let order = lookups().into_iter().map(|at| entities[at]).collect();
    (world, PreparedQuery::new(), order)
}

pub fn random_get_mut() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |(world, query, order)| {
            let mut view = query.view_mut(world);
            for &entity in order.iter() {
                if let Some(position) = view.get_mut(entity) {
                    position.x += 1.0;
                }
            }
        },
        |(world, _, _)| positions(world),
    )
    .plain()
}

pub fn random_get_mut_world() -> [Contender; 2] {
    [
        Contender::steady(
            NAME,
            lookup,
            |(world, _, order)| {
                for &entity in order.iter() {
                    if let Ok(mut position) = world.get::<&mut Position>(entity) {
                        position.x += 1.0;
                    }
                }
            },
            |(world, _, _)| positions(world),
        )
        .plain(),
        Contender::steady(
            ("hecs", "query_one_mut"),
            lookup,
            |(world, _, order)| {
                for &entity in order.iter() {
                    if let Ok(position) = world.query_one_mut::<&mut Position>(entity) {
                        position.x += 1.0;
                    }
                }
            },
            |(world, _, _)| positions(world),
        )
        .plain(),
    ]
}

pub fn changed(spread: bool) -> Contender {
    Contender::staged(
        ("hecs", "tracker"),
        move || {
            let mut world = World::new();
            let rows = (0..HUNDRED_THOUSAND).map(|_| (Data(0.0),));
            let entities: Vec<Entity> = world.spawn_batch(rows).collect();
            let mut tracker = ChangeTracker::<Data>::new();
            tracker.track(&mut world).added().for_each(drop);
            let written: Vec<Entity> = shapes::written(spread).map(|at| entities[at]).collect();
            (world, tracker, written, Sum::default())
        },
        |(world, _, written, sum)| {
            *sum = Sum::default();
            for &entity in written.iter() {
                world.get::<&mut Data>(entity).expect("alive").0 += 1.0;
            }
        },
        |(world, tracker, _, sum)| {
            for (_, _, data) in tracker.track(world).changed() {
                sum.float(data.0);
            }
        },
        |(_, _, _, sum)| sum.get(),
    )
    .plain()
}

pub fn par_light(size: usize) -> Contender {
    Contender::steady(
        ("hecs", "rayon bridge"),
        move || movers(size).0,
        |world| {
            let mut query = world.query::<(&mut Position, &Velocity)>();
            query.iter_batched(1024).par_bridge().for_each(|batch| {
                batch.for_each(|(position, velocity)| {
                    position.x += velocity.x * DT;
                    position.y += velocity.y * DT;
                    position.z += velocity.z * DT;
                });
            });
        },
        positions,
    )
}
