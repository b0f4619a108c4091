//! sparsey as people write it, `for` over rows; and its sets and groups where Phalanx has the same.

use ::sparsey::World;
use ::sparsey::entity::Entity;

use super::{
    A, B, C, D, Data, E, F, G, GROUP, H, NAME, Place, Position, Rotation, Speed, Transform, Velocity,
};
use crate::checksum::{of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION};

const PLAIN: (&str, &str) = ("sparsey", "plain");

fn positions(world: &mut World) -> u64 {
    of_rows(world.borrow::<Position>().as_slice().iter().map(|position| position.row()))
}

fn a_sum(world: &mut World) -> u64 {
    of_floats(world.borrow::<A>().as_slice().iter().map(|a| a.0))
}

fn movers(size: usize) -> World {
    let mut world = World::builder().register::<Position>().register::<Velocity>().build();
    world.extend((0..size).map(|index| (Position::nth(index), Velocity::nth(index))));
    world
}

pub fn simple_iter() -> Contender {
    Contender::steady(
        PLAIN,
        || movers(MANY),
        |world| {
            let mut query = world.query_all::<(&mut Position, &Velocity)>();
            for (position, velocity) in query.iter() {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            }
        },
        positions,
    )
    .plain()
}

pub fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        PLAIN,
        || {
            let mut world = World::builder().register::<Place>().register::<Speed>().build();
            world.extend((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
            world
        },
        move |_| before(),
        |world| {
            let mut query = world.query_all::<(&mut Place, &Speed)>();
            for (place, speed) in query.iter() {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            }
        },
        super::places,
    )
    .plain()
}

pub fn group_iter() -> Contender {
    Contender::steady(
        PLAIN,
        || super::group_world(World::builder().register::<A>().register::<B>().register::<C>().build()),
        |world| {
            let mut query = world.query_all::<(&mut A, &B, &C)>();
            for (a, b, c) in query.iter() {
                a.0 += b.0 * c.0;
            }
        },
        a_sum,
    )
    .plain()
}

pub fn insert_eight() -> Contender {
    let run = || {
        let mut world = World::builder()
            .register::<A>()
            .register::<B>()
            .register::<C>()
            .register::<D>()
            .register::<E>()
            .register::<F>()
            .register::<G>()
            .register::<H>()
            .build();
        for index in 0..MANY {
            let at = |shift: usize| scalar(index + shift);
            world.create((A(at(0)), B(at(1)), C(at(2)), D(at(3)), E(at(4)), F(at(5)), G(at(6)), H(at(7))));
        }
        world
    };
    Contender::fresh(NAME, run, |world| {
        let mut rows = Vec::new();
        world.for_each::<(&A, &B, &C, &D, &E, &F, &G, &H)>(|(a, b, c, d, e, f, g, h)| {
            rows.push([a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]);
        });
        of_rows(rows)
    })
    .plain()
}

pub fn insert_group() -> Contender {
    let run = || {
        let mut world = World::builder().add_group::<(Transform, Position, Rotation, Velocity)>().build();
        for index in 0..MANY {
            world.create(super::body(index));
        }
        world
    };
    Contender::fresh(GROUP, run, super::bodies).plain()
}

/// Every second A has a B, which came in another order.
pub fn pair_sparse() -> [Contender; 2] {
    let setup = || {
        let mut world = World::builder().register::<A>().register::<B>().build();
        let entities = world.extend((0..HUNDRED_THOUSAND).map(|i| (A(scalar(i)),))).to_vec();
        for at in shapes::partners() {
            world.insert(entities[at], (B(0.5),));
        }
        world
    };
    [
        Contender::steady(NAME, setup, |world| world.for_each::<(&mut A, &B)>(|(a, b)| a.0 += b.0), a_sum),
        Contender::steady(
            PLAIN,
            setup,
            |world| {
                let mut query = world.query_all::<(&mut A, &B)>();
                for (a, b) in query.iter() {
                    a.0 += b.0;
                }
            },
            a_sum,
        )
        .plain(),
    ]
}

fn lookup() -> (World, Vec<Entity>) {
    let mut world = World::builder().register::<Position>().register::<Velocity>().build();
    let entities = world.extend((0..LOOKUPS).map(|i| (Position::nth(i), Velocity::nth(i)))).to_vec();
    (world, lookups().into_iter().map(|at| entities[at]).collect())
}

pub fn random_get_mut() -> Contender {
    Contender::steady(
        ("sparsey", "view"),
        lookup,
        |(world, order)| {
            let mut positions = world.borrow_mut::<Position>();
            for &entity in order.iter() {
                if let Some(position) = positions.get_mut(entity) {
                    position.x += 1.0;
                }
            }
        },
        |(world, _)| positions(world),
    )
    .plain()
}

pub fn random_get_mut_world() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |(world, order)| {
            for &entity in order.iter() {
                if let Some(position) = world.query_one::<&mut Position>().get(entity) {
                    position.x += 1.0;
                }
            }
        },
        |(world, _)| positions(world),
    )
    .plain()
}

pub fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        PLAIN,
        setup,
        |world| {
            let mut query = world.query_all::<&mut Data>();
            for data in query.iter() {
                data.0 += 1.0;
            }
        },
        |world| of_floats(world.borrow::<Data>().as_slice().iter().map(|data| data.0)),
    )
    .plain()
}

pub fn par_light(size: usize) -> Contender {
    Contender::steady(
        NAME,
        move || movers(size),
        |world| {
            world.par_for_each::<(&mut Position, &Velocity)>(|(position, velocity)| {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            });
        },
        positions,
    )
}
