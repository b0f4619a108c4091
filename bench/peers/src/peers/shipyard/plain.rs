//! shipyard as people write it: `for` over rows, one call per entity.

use ::shipyard::{Component, EntityId, Get, IntoIter, View, ViewMut, World};

use super::{A, B, C, D, Data, E, F, G, H, NAME, Place, Position, Speed, VIEWS, Velocity};
use super::{a_sum, group_world, positions, swapped, swapping_world};
use crate::checksum::{Sum, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION};

const PLAIN: (&str, &str) = ("shipyard", "plain");

pub fn simple_iter() -> Contender {
    Contender::steady(
        PLAIN,
        || {
            let mut world = World::new();
            world.bulk_add_entity((0..MANY).map(|index| (Position::nth(index), Velocity::nth(index))));
            world
        },
        |world| {
            world.run(|mut positions: ViewMut<Position>, velocities: View<Velocity>| {
                for (position, velocity) in (&mut positions, &velocities).iter() {
                    position.x += velocity.x * DT;
                    position.y += velocity.y * DT;
                    position.z += velocity.z * DT;
                }
            });
        },
        positions,
    )
    .plain()
}

pub fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        PLAIN,
        || {
            let mut world = World::new();
            world.bulk_add_entity((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
            world
        },
        move |_| before(),
        |world| {
            world.run(|mut places: ViewMut<Place>, speeds: View<Speed>| {
                for (place, speed) in (&mut places, &speeds).iter() {
                    place.x += speed.x * DT;
                    place.y += speed.y * DT;
                }
            });
        },
        |world| world.run(|places: View<Place>| of_rows(places.iter().map(|place| place.row()))),
    )
    .plain()
}

pub fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        PLAIN,
        setup,
        |world| {
            world.run(|mut data: ViewMut<Data>| {
                for data in (&mut data).iter() {
                    data.0 += 1.0;
                }
            });
        },
        |world| world.run(|data: View<Data>| of_floats(data.iter().map(|data| data.0))),
    )
    .plain()
}

pub fn group_iter() -> Contender {
    Contender::steady(
        PLAIN,
        group_world,
        |world| {
            world.run(|mut a: ViewMut<A>, b: View<B>, c: View<C>| {
                for (a, b, c) in (&mut a, &b, &c).iter() {
                    a.0 += b.0 * c.0;
                }
            });
        },
        a_sum,
    )
    .plain()
}

fn ab(mut a: ViewMut<A>, mut b: ViewMut<B>) {
    for (a, b) in (&mut a, &mut b).iter() {
        std::mem::swap(&mut a.0, &mut b.0);
    }
}

fn cd(mut c: ViewMut<C>, mut d: ViewMut<D>) {
    for (c, d) in (&mut c, &mut d).iter() {
        std::mem::swap(&mut c.0, &mut d.0);
    }
}

fn ce(mut c: ViewMut<C>, mut e: ViewMut<E>) {
    for (c, e) in (&mut c, &mut e).iter() {
        std::mem::swap(&mut c.0, &mut e.0);
    }
}

pub fn schedule() -> Contender {
    Contender::steady(
        PLAIN,
        || {
            let world = swapping_world();
            let workload = ::shipyard::Workload::new("swaps").with_system(ab).with_system(cd).with_system(ce);
            workload.add_to_world(&world).expect("no other workload");
            world
        },
        |world| world.run_workload("swaps").expect("no system fails"),
        swapped,
    )
    .plain()
}

pub fn insert_eight() -> Contender {
    let run = || {
        let mut world = World::new();
        for index in 0..MANY {
            let at = |shift: usize| scalar(index + shift);
            world.add_entity((
                A(at(0)),
                B(at(1)),
                C(at(2)),
                D(at(3)),
                E(at(4)),
                F(at(5)),
                G(at(6)),
                H(at(7)),
            ));
        }
        world
    };
    Contender::fresh(NAME, run, |world| {
        type First<'v> = (View<'v, A>, View<'v, B>, View<'v, C>, View<'v, D>);
        type Second<'v> = (View<'v, E>, View<'v, F>, View<'v, G>, View<'v, H>);
        world.run(|(a, b, c, d): First, (e, f, g, h): Second| {
            let rows = (&a, &b, &c, &d, &e, &f, &g, &h).iter();
            of_rows(rows.map(|(a, b, c, d, e, f, g, h)| [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]))
        })
    })
    .plain()
}

fn lookup() -> (World, Vec<EntityId>) {
    let mut world = World::new();
    let entities: Vec<EntityId> =
        world.bulk_add_entity((0..LOOKUPS).map(|i| (Position::nth(i), Velocity::nth(i)))).collect();
    (world, lookups().into_iter().map(|at| entities[at]).collect())
}

pub fn random_get_mut() -> Contender {
    Contender::steady(
        VIEWS,
        lookup,
        |(world, order)| {
            world.run(|mut positions: ViewMut<Position>| {
                for &entity in order.iter() {
                    if let Ok(mut position) = (&mut positions).get(entity) {
                        position.x += 1.0;
                    }
                }
            });
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
                if let Ok(mut position) = world.get::<&mut Position>(entity) {
                    position.x += 1.0;
                }
            }
        },
        |(world, _)| positions(world),
    )
    .plain()
}

/// A number that remembers when it was written.
#[derive(Component, Clone, Copy)]
#[track(Modification)]
struct Tracked(f32);

pub fn changed(spread: bool) -> Contender {
    Contender::staged(
        ("shipyard", "modified"),
        move || {
            let mut world = World::new();
            let entities: Vec<EntityId> =
                world.bulk_add_entity((0..HUNDRED_THOUSAND).map(|_| (Tracked(0.0),))).collect();
            let written: Vec<EntityId> = shapes::written(spread).map(|at| entities[at]).collect();
            (world, written, Sum::default())
        },
        |(world, written, sum)| {
            *sum = Sum::default();
            world.clear_all_modified();
            // Time goes on with each borrow; what is written at the moment of clearing would not count.
            world.run(|_: View<Tracked>| ());
            world.run(|mut data: ViewMut<Tracked>| {
                for &entity in written.iter() {
                    (&mut data).get(entity).expect("alive").0 += 1.0;
                }
            });
        },
        |(world, _, sum)| {
            world.run(|data: View<Tracked>| {
                for data in data.modified().iter() {
                    sum.float(data.0);
                }
            });
        },
        |(_, _, sum)| sum.get(),
    )
    .plain()
}
