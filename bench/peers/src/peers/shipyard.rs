//! shipyard: views borrowed once per run, bulk inserts, workloads. It has no command buffer.

use ::shipyard::{
    Component, Delete, EntitiesView, EntitiesViewMut, EntityId, Get, IntoIter, View, ViewMut, World,
};
use rayon::prelude::*;

use super::limit::body_sum;
use crate::cache::evict;
use crate::checksum::{Sum, of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{
    EMPTY_SYSTEMS, HEAVY, HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES,
    Workload,
};

mod plain;

const NAME: (&str, &str) = ("shipyard", "");
const VIEWS: (&str, &str) = ("shipyard", "views");

shapes::motion!(#[derive(Component)]);
shapes::flat_motion!(#[derive(Component)]);
shapes::tags!(#[derive(Component)]);
shapes::letters!(#[derive(Component)]; A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Data);

/// `Data` that remembers when it was written.
#[derive(Component, Clone, Copy)]
#[track(Modification)]
struct Tracked(f32);

/// Entities in order, with the tags by which an archetype library would spread them over tables.
macro_rules! wide_world {
    ($component:ident) => {{
        let mut world = World::new();
        let mut entities = Vec::new();
        for index in 0..WIDE_TABLES * PER_WIDE_TABLE {
            let entity = world.add_entity(($component(scalar(index)),));
            macro_rules! add {
                ($tag:ident) => {
                    world.add_component(entity, ($tag,))
                };
            }
            shapes::for_each_tag!(index / PER_WIDE_TABLE, add);
            entities.push(entity);
        }
        (world, entities)
    }};
}

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => vec![simple_insert()],
        Workload::InsertLoop => vec![insert_loop().plain(), insert_views()],
        Workload::InsertEight => vec![plain::insert_eight()],
        Workload::SimpleIter => vec![simple_iter(), plain::simple_iter()],
        Workload::IterCold => vec![iter_1m(evict), plain::iter_1m(evict)],
        Workload::IterWarm => vec![iter_1m(|| ()), plain::iter_1m(|| ())],
        Workload::FragmentedIter => vec![add_to_data(fragmented_world), plain::add_to_data(fragmented_world)],
        Workload::FragmentedWide => {
            vec![add_to_data(|| wide_world!(Data).0), plain::add_to_data(|| wide_world!(Data).0)]
        }
        Workload::AddRemove => vec![add_remove().plain()],
        Workload::AddRemoveSparse => vec![add_remove_views()],
        Workload::RandomGet => vec![random_get().plain()],
        Workload::RandomGetWorld => vec![random_get_world().plain()],
        Workload::RandomGetMut => vec![plain::random_get_mut()],
        Workload::RandomGetMutWorld => vec![plain::random_get_mut_world()],
        Workload::SpawnDespawn => spawn_despawn().into(),
        Workload::Schedule => vec![schedule(), plain::schedule()],
        Workload::HeavyCompute => vec![heavy_compute().plain()],
        Workload::GroupIter => vec![group_iter(), plain::group_iter()],
        Workload::FrameEmpty => vec![frame_empty()],
        Workload::BulkInsert => vec![bulk_insert()],
        Workload::Changed => vec![changed()],
        Workload::ChangedSpread => vec![plain::changed(true)],
        Workload::ChangedClustered => vec![plain::changed(false)],
        Workload::FrameOne => vec![frame(1)],
        Workload::FrameTwo => vec![frame(2)],
        _ => vec![],
    }
}

fn body(index: usize) -> (Transform, Position, Rotation, Velocity) {
    (Transform::nth(index), Position::nth(index), Rotation::nth(index), Velocity::nth(index))
}

fn bodies(world: &mut World) -> u64 {
    world.run(|m: View<Transform>, p: View<Position>, r: View<Rotation>, v: View<Velocity>| {
        body_sum((&m, &p, &r, &v).iter().map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row())))
    })
}

fn simple_insert() -> Contender {
    let run = || {
        let mut world = World::new();
        world.bulk_add_entity((0..MANY).map(body));
        world
    };
    Contender::fresh(NAME, run, bodies)
}

fn insert_loop() -> Contender {
    let run = || {
        let mut world = World::new();
        for index in 0..MANY {
            world.add_entity(body(index));
        }
        world
    };
    Contender::fresh(NAME, run, bodies)
}

fn insert_views() -> Contender {
    type Views<'v> =
        (ViewMut<'v, Transform>, ViewMut<'v, Position>, ViewMut<'v, Rotation>, ViewMut<'v, Velocity>);
    let run = || {
        let world = World::new();
        world.run(|mut entities: EntitiesViewMut, (mut m, mut p, mut r, mut v): Views| {
            for index in 0..MANY {
                entities.add_entity((&mut m, &mut p, &mut r, &mut v), body(index));
            }
        });
        world
    };
    Contender::fresh(VIEWS, run, bodies)
}

fn positions(world: &mut World) -> u64 {
    world.run(|positions: View<Position>| of_rows(positions.iter().map(|position| position.row())))
}

fn simple_iter() -> Contender {
    Contender::steady(
        NAME,
        || {
            let mut world = World::new();
            world.bulk_add_entity((0..MANY).map(|index| (Position::nth(index), Velocity::nth(index))));
            world
        },
        |world| {
            world.run(|mut positions: ViewMut<Position>, velocities: View<Velocity>| {
                (&mut positions, &velocities).iter().for_each(|(position, velocity)| {
                    position.x += velocity.x * DT;
                    position.y += velocity.y * DT;
                    position.z += velocity.z * DT;
                });
            });
        },
        positions,
    )
}

fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        NAME,
        || {
            let mut world = World::new();
            world.bulk_add_entity((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
            world
        },
        move |_| before(),
        |world| {
            world.run(|mut places: ViewMut<Place>, speeds: View<Speed>| {
                (&mut places, &speeds).iter().for_each(|(place, speed)| {
                    place.x += speed.x * DT;
                    place.y += speed.y * DT;
                });
            });
        },
        |world| world.run(|places: View<Place>| of_rows(places.iter().map(|place| place.row()))),
    )
}

fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        NAME,
        setup,
        |world| world.run(|mut data: ViewMut<Data>| (&mut data).iter().for_each(|data| data.0 += 1.0)),
        |world| world.run(|data: View<Data>| of_floats(data.iter().map(|data| data.0))),
    )
}

fn fragmented_world() -> World {
    let mut world = World::new();
    let mut next = 0;
    macro_rules! spawn {
        ($($letter:ident)*) => {
            $(for _ in 0..PER_LETTER {
                world.add_entity(($letter(0.0), Data(scalar(next))));
                next += 1;
            })*
        };
    }
    shapes::for_each_letter!(spawn);
    world
}

fn with_a() -> (World, Vec<EntityId>) {
    let mut world = World::new();
    let entities = world.bulk_add_entity((0..MANY).map(|index| (A(scalar(index)),))).collect();
    (world, entities)
}

fn a_sum(world: &mut World) -> u64 {
    world.run(|a: View<A>| of_floats(a.iter().map(|a| a.0)))
}

fn add_remove() -> Contender {
    Contender::steady(
        NAME,
        with_a,
        |(world, entities)| {
            for &entity in entities.iter() {
                world.add_component(entity, (B(1.0),));
            }
            for &entity in entities.iter() {
                world.delete_component::<(B,)>(entity);
            }
        },
        |(world, _)| a_sum(world),
    )
}

fn add_remove_views() -> Contender {
    Contender::steady(
        VIEWS,
        with_a,
        |(world, entities)| {
            world.run(|all: EntitiesView, mut b: ViewMut<B>| {
                for &entity in entities.iter() {
                    all.add_component(entity, &mut b, B(1.0));
                }
                for &entity in entities.iter() {
                    b.delete(entity);
                }
            });
        },
        |(world, _)| a_sum(world),
    )
}

struct Lookup {
    world: World,
    order: Vec<EntityId>,
    sum: u64,
}

fn lookup() -> Lookup {
    let mut world = World::new();
    let entities: Vec<EntityId> =
        world.bulk_add_entity((0..LOOKUPS).map(|i| (Position::nth(i), Velocity::nth(i)))).collect();
    let order = lookups().into_iter().map(|at| entities[at]).collect();
    Lookup { world, order, sum: 0 }
}

fn random_get() -> Contender {
    Contender::steady(
        VIEWS,
        lookup,
        |Lookup { world, order, sum }| {
            world.run(|positions: View<Position>| {
                let get = |&entity: &EntityId| (&positions).get(entity).ok();
                *sum = total(order.iter().filter_map(get).map(|position| position.x));
            });
        },
        |state| state.sum,
    )
}

fn random_get_world() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |Lookup { world, order, sum }| {
            let get = |&entity: &EntityId| world.get::<&Position>(entity).ok();
            *sum = total(order.iter().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

fn spawn_despawn() -> [Contender; 2] {
    [
        spawned_and_despawned(NAME, |world, entities| {
            entities.extend((0..MANY).map(|i| world.add_entity((Position::nth(i), Velocity::nth(i)))));
        })
        .plain(),
        spawned_and_despawned(("shipyard", "bulk"), |world, entities| {
            let movers = (0..MANY).map(|i| (Position::nth(i), Velocity::nth(i)));
            entities.extend(world.bulk_add_entity(movers));
        }),
    ]
}

fn spawned_and_despawned(
    name: (&'static str, &'static str),
    spawn: impl Fn(&mut World, &mut Vec<EntityId>) + Copy + 'static,
) -> Contender {
    Contender::steady(
        name,
        || (World::new(), Vec::with_capacity(MANY)),
        move |(world, entities)| {
            entities.clear();
            spawn(world, entities);
            for &entity in entities.iter() {
                world.delete_entity(entity);
            }
        },
        |(world, entities)| of_counts(entities.len(), world.run(|positions: View<Position>| positions.len())),
    )
}

fn ab(mut a: ViewMut<A>, mut b: ViewMut<B>) {
    (&mut a, &mut b).iter().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
}

fn cd(mut c: ViewMut<C>, mut d: ViewMut<D>) {
    (&mut c, &mut d).iter().for_each(|(c, d)| std::mem::swap(&mut c.0, &mut d.0));
}

fn ce(mut c: ViewMut<C>, mut e: ViewMut<E>) {
    (&mut c, &mut e).iter().for_each(|(c, e)| std::mem::swap(&mut c.0, &mut e.0));
}

fn swapping_world() -> World {
    let mut world = World::new();
    for i in 0..MANY {
        let (a, b, c) = (A(scalar(i)), B(scalar(i + 1)), C(scalar(i + 2)));
        world.add_entity((a, b));
        world.add_entity((a, b, c));
        world.add_entity((a, b, c, D(scalar(i + 3))));
        world.add_entity((a, b, c, E(scalar(i + 4))));
    }
    world
}

fn swapped(world: &mut World) -> u64 {
    type Optional<'v> = (View<'v, C>, View<'v, D>, View<'v, E>);
    world.run(|entities: EntitiesView, a: View<A>, b: View<B>, (c, d, e): Optional| {
        of_rows(entities.iter().map(|entity| {
            let at = |value: Option<f32>| value.unwrap_or(-1.0);
            let (a, b) = ((&a).get(entity).ok().map(|a| a.0), (&b).get(entity).ok().map(|b| b.0));
            let (c, d) = ((&c).get(entity).ok().map(|c| c.0), (&d).get(entity).ok().map(|d| d.0));
            [at(a), at(b), at(c), at(d), at((&e).get(entity).ok().map(|e| e.0))]
        }))
    })
}

fn schedule() -> Contender {
    Contender::steady(
        ("shipyard", "workload"),
        || {
            let world = swapping_world();
            let workload = ::shipyard::Workload::new("swaps").with_system(ab).with_system(cd).with_system(ce);
            workload.add_to_world(&world).expect("no other workload");
            world
        },
        |world| world.run_workload("swaps").expect("no system fails"),
        swapped,
    )
}

fn heavy_compute() -> Contender {
    Contender::steady(
        NAME,
        || {
            let mut world = World::new();
            world.bulk_add_entity((0..HEAVY).map(body));
            world
        },
        |world| {
            world.run(|mut transforms: ViewMut<Transform>, mut positions: ViewMut<Position>| {
                (&mut transforms, &mut positions).par_iter().for_each(|(transform, position)| {
                    let mut row = position.row();
                    shapes::invert(&mut transform.columns, &mut row);
                    [position.x, position.y, position.z] = row;
                });
            });
        },
        |world| {
            world.run(|m: View<Transform>, p: View<Position>| {
                of_rows((&m, &p).iter().map(|(m, p)| [m.columns[0][1], m.columns[3][1], p.x, p.z]))
            })
        },
    )
}

fn group_world() -> World {
    let mut world = World::new();
    for index in 0..HUNDRED_THOUSAND {
        let value = scalar(index);
        match index % 4 {
            0 => world.add_entity((A(value), B(value), C(0.5))),
            2 => world.add_entity((A(value), B(value))),
            _ => world.add_entity((A(value),)),
        };
    }
    world
}

fn group_iter() -> Contender {
    Contender::steady(
        NAME,
        group_world,
        |world| {
            world.run(|mut a: ViewMut<A>, b: View<B>, c: View<C>| {
                (&mut a, &b, &c).iter().for_each(|(a, b, c)| a.0 += b.0 * c.0);
            });
        },
        a_sum,
    )
}

fn frame_empty() -> Contender {
    Contender::steady(
        ("shipyard", "workload"),
        || {
            let world = World::new();
            let mut workload = ::shipyard::Workload::new("empty");
            for _ in 0..EMPTY_SYSTEMS {
                workload = workload.with_system(|| {});
            }
            workload.add_to_world(&world).expect("no other workload");
            world
        },
        |world| world.run_workload("empty").expect("no system fails"),
        |_| 0,
    )
}

fn bulk_insert() -> Contender {
    Contender::staged(
        ("shipyard", "views"),
        || {
            let mut world = World::new();
            let entities: Vec<EntityId> =
                world.bulk_add_entity((0..MANY).map(|index| (Position::nth(index),))).collect();
            (world, entities)
        },
        |(world, entities)| {
            world.run(|mut b: ViewMut<B>| {
                for &entity in entities.iter() {
                    b.delete(entity);
                }
            });
        },
        |(world, entities)| {
            world.run(|all: EntitiesView, mut b: ViewMut<B>| {
                for &entity in entities.iter() {
                    all.add_component(entity, &mut b, B(0.5));
                }
            });
        },
        |(world, _)| world.run(|b: View<B>| of_floats(b.iter().map(|b| b.0))),
    )
}

fn changed() -> Contender {
    Contender::staged(
        ("shipyard", "modified"),
        || {
            let (world, entities) = wide_world!(Tracked);
            let first = WIDE_TABLES / 2 * PER_WIDE_TABLE;
            (world, entities[first..first + PER_WIDE_TABLE].to_vec(), Sum::default())
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
            world.run(|data: View<Tracked>| data.modified().iter().for_each(|data| sum.float(data.0)));
        },
        |(_, _, sum)| sum.get(),
    )
}

fn frame(threads: usize) -> Contender {
    Contender::steady(
        ("shipyard", "workload"),
        move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            let mut world = World::builder().with_local_thread_pool(pool).build();
            let at = |index: usize, shift: usize| scalar(index + shift);
            for i in 0..HUNDRED_THOUSAND {
                let first = (A(at(i, 0)), B(at(i, 1)), C(at(i, 2)), D(at(i, 3)), E(at(i, 4)));
                let second = (F(at(i, 5)), G(at(i, 6)), H(at(i, 7)), I(at(i, 8)), J(at(i, 9)));
                let entity = world.add_entity(first);
                world.add_component(entity, second);
            }
            let mut workload = ::shipyard::Workload::new("frame");
            macro_rules! add {
                ($(($own:ident $other:ident))*) => {
                    $(workload = workload.with_system(|mut own: ViewMut<$own>, other: View<$other>| {
                        (&mut own, &other).iter().for_each(|(own, other)| own.0 = own.0 * 0.5 + other.0);
                    });)*
                };
            }
            shapes::for_each_frame_pair!(add);
            workload.add_to_world(&world).expect("no other workload");
            world
        },
        |world| world.run_workload("frame").expect("no system fails"),
        |world| {
            type First<'v> = (View<'v, A>, View<'v, B>, View<'v, C>, View<'v, D>, View<'v, E>);
            type Second<'v> = (View<'v, F>, View<'v, G>, View<'v, H>, View<'v, I>, View<'v, J>);
            world.run(|(a, b, c, d, e): First, (f, g, h, i, j): Second| {
                let rows = (&a, &b, &c, &d, &e, &f, &g, &h, &i, &j).iter();
                of_rows(
                    rows.map(|(a, b, c, d, e, f, g, h, i, j)| {
                        [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0, i.0, j.0]
                    }),
                )
            })
        },
    )
}
