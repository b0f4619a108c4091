//! bevy_ecs as people write it: `for` over rows, one call per entity. Where a loop has no line elsewhere, its
//! `for_each` stands beside it.

use bevy_ecs::prelude::*;

use super::{A, B, C, D, Data, E, F, G, H, Position, Rotation, Transform, Velocity};
use super::{NAME, flat_movers, group_world, movers, positions};
use crate::checksum::{Sum, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY};

const PLAIN: (&str, &str) = ("bevy", "plain");

pub fn simple_iter() -> Contender {
    let run = |(world, query): &mut (World, QueryState<(&'static mut Position, &'static Velocity)>)| {
        for (mut position, velocity) in query.iter_mut(world) {
            position.x += velocity.x * DT;
            position.y += velocity.y * DT;
            position.z += velocity.z * DT;
        }
    };
    Contender::steady(PLAIN, || movers(MANY), run, |(world, _)| positions(world)).plain()
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
        |(world, _)| of_rows(world.query::<&super::Place>().iter(world).map(|place| place.row())),
    )
    .plain()
}

pub fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        PLAIN,
        move || {
            let mut world = setup();
            let query = world.query::<&mut Data>();
            (world, query)
        },
        |(world, query)| {
            for mut data in query.iter_mut(world) {
                data.0 += 1.0;
            }
        },
        |(world, _)| of_floats(world.query::<&Data>().iter(world).map(|data| data.0)),
    )
    .plain()
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
        |(world, _)| of_floats(world.query::<&A>().iter(world).map(|a| a.0)),
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
    Contender::fresh(NAME, run, |world| {
        let mut query = world.query::<(&A, &B, &C, &D, &E, &F, &G, &H)>();
        of_rows(query.iter(world).map(|(a, b, c, d, e, f, g, h)| [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]))
    })
    .plain()
}

type Five =
    (&'static mut Transform, &'static mut Position, &'static Rotation, &'static Velocity, &'static Data);

fn five_world() -> (World, QueryState<Five>) {
    let mut world = World::new();
    world.spawn_batch((0..MANY).map(|index| {
        let (transform, position, rotation, velocity) = super::body(index);
        (transform, position, rotation, velocity, Data(scalar(index)))
    }));
    let query = world.query();
    (world, query)
}

fn five_sum(world: &mut World) -> u64 {
    let mut query = world.query::<(&Transform, &Position)>();
    of_rows(query.iter(world).map(|(m, p)| [m.columns[0][0], m.columns[1][1], m.columns[3][1], p.x, p.z]))
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
    let sum = |world: &mut World| of_floats(world.query::<&A>().iter(world).map(|a| a.0));
    [
        Contender::steady(
            NAME,
            filtered_world,
            |(world, query)| {
                query
                    .iter_mut(world)
                    .for_each(|(mut a, b, c, d)| shapes::filtered(&mut a.0, b.0, c.map(|c| c.0), d));
            },
            move |(world, _)| sum(world),
        ),
        Contender::steady(
            PLAIN,
            filtered_world,
            |(world, query)| {
                for (mut a, b, c, d) in query.iter_mut(world) {
                    shapes::filtered(&mut a.0, b.0, c.map(|c| c.0), d);
                }
            },
            move |(world, _)| sum(world),
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
        NAME,
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
        NAME,
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

struct Tracked {
    world: World,
    query: QueryState<&'static Data, Changed<Data>>,
    written: Vec<Entity>,
    sum: Sum,
}

fn tracked(spread: bool) -> Tracked {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..HUNDRED_THOUSAND).map(|_| Data(0.0))).collect();
    let written = shapes::written(spread).map(|at| entities[at]).collect();
    let query = world.query_filtered();
    Tracked { world, query, written, sum: Sum::default() }
}

fn write(Tracked { world, written, sum, .. }: &mut Tracked) {
    world.clear_trackers();
    *sum = Sum::default();
    for &entity in written.iter() {
        world.get_mut::<Data>(entity).expect("alive").0 += 1.0;
    }
}

pub fn changed(spread: bool) -> [Contender; 2] {
    [
        Contender::staged(
            ("bevy", "Changed"),
            move || tracked(spread),
            write,
            |Tracked { world, query, sum, .. }| query.iter(world).for_each(|data| sum.float(data.0)),
            |state| state.sum.get(),
        ),
        Contender::staged(
            PLAIN,
            move || tracked(spread),
            write,
            |Tracked { world, query, sum, .. }| {
                for data in query.iter(world) {
                    sum.float(data.0);
                }
            },
            |state| state.sum.get(),
        )
        .plain(),
    ]
}

pub fn par_light(size: usize) -> Contender {
    Contender::steady(
        NAME,
        move || {
            bevy_tasks::ComputeTaskPool::get_or_init(bevy_tasks::TaskPool::default);
            movers(size)
        },
        |(world, query)| {
            query.par_iter_mut(world).for_each(|(mut position, velocity)| {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            });
        },
        |(world, _)| positions(world),
    )
}

/// Components in sparse sets, as bevy_ecs keeps them.
mod sparse {
    use bevy_ecs::prelude::*;

    crate::shapes::motion!(#[derive(Component)] #[component(storage = "SparseSet")]);
    crate::shapes::letters!(#[derive(Component)] #[component(storage = "SparseSet")]; A B);
}

pub fn insert_sparse() -> Contender {
    use sparse::{Position, Rotation, Transform, Velocity};
    let run = || {
        let mut world = World::new();
        for i in 0..MANY {
            world.spawn((Transform::nth(i), Position::nth(i), Rotation::nth(i), Velocity::nth(i)));
        }
        world
    };
    Contender::fresh(("bevy", "sparse"), run, |world| {
        let mut query = world.query::<(&Transform, &Position, &Rotation, &Velocity)>();
        let rows = query.iter(world).map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row()));
        super::body_sum(rows)
    })
    .plain()
}

pub fn pair_sparse() -> Contender {
    Contender::steady(
        ("bevy", "sparse"),
        || {
            let mut world = World::new();
            let entities: Vec<Entity> =
                world.spawn_batch((0..HUNDRED_THOUSAND).map(|i| sparse::A(scalar(i)))).collect();
            for at in shapes::partners() {
                world.entity_mut(entities[at]).insert(sparse::B(0.5));
            }
            let query = world.query::<(&mut sparse::A, &sparse::B)>();
            (world, query)
        },
        |(world, query)| {
            for (mut a, b) in query.iter_mut(world) {
                a.0 += b.0;
            }
        },
        |(world, _)| of_floats(world.query::<&sparse::A>().iter(world).map(|a| a.0)),
    )
    .plain()
}
