//! bevy_ecs: query states made once, `for_each` and contiguous slices, batches, both executors.

use bevy_ecs::prelude::*;

use super::limit::body_sum;
use crate::cache::evict;
use crate::checksum::{of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{
    HEAVY, HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES, Workload,
};

mod change;
mod frames;
mod plain;

const NAME: (&str, &str) = ("bevy", "");
const CONTIGUOUS: (&str, &str) = ("bevy", "contiguous");

shapes::motion!(#[derive(Component)]);
shapes::flat_motion!(#[derive(Component)]);
shapes::tags!(#[derive(Component)]);
shapes::letters!(#[derive(Component)]; A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Data);

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => vec![simple_insert()],
        Workload::InsertLoop => vec![insert_loop().plain()],
        Workload::InsertEight => vec![plain::insert_eight()],
        Workload::InsertSparse => vec![plain::insert_sparse()],
        Workload::InsertGroup | Workload::AddRemoveGroup => vec![],
        Workload::SimpleIter => vec![simple_iter(MANY), simple_iter_contiguous(), plain::simple_iter()],
        Workload::IterCold => vec![iter_1m(evict), iter_1m_contiguous(evict), plain::iter_1m(evict)],
        Workload::IterWarm => vec![iter_1m(|| ()), iter_1m_contiguous(|| ()), plain::iter_1m(|| ())],
        Workload::FragmentedIter => {
            vec![fragmented_iter(), contiguous_data(fragmented_world), plain::add_to_data(fragmented_world)]
        }
        Workload::FragmentedWide => {
            vec![fragmented_wide(), contiguous_data(wide_world), plain::add_to_data(wide_world)]
        }
        Workload::FiveComponents => plain::five_components().into(),
        Workload::Filtered => plain::filtered().into(),
        Workload::PairSparse => vec![plain::pair_sparse()],
        Workload::AddRemove => vec![change::add_remove(MANY).plain()],
        Workload::AddRemoveSparse => vec![change::add_remove_sparse()],
        Workload::RandomGet => vec![random_get().plain(), random_get_many()],
        Workload::RandomGetWorld => vec![random_get_world().plain()],
        Workload::RandomGetMut => vec![plain::random_get_mut()],
        Workload::RandomGetMutWorld => vec![plain::random_get_mut_world()],
        Workload::SpawnDespawn => change::spawn_despawn().into(),
        Workload::Schedule => {
            vec![
                frames::schedule(true),
                frames::schedule(false),
                frames::plain_schedule(true),
                frames::plain_schedule(false),
            ]
        }
        Workload::HeavyCompute => vec![heavy_compute().plain()],
        Workload::ParLight(size) => vec![plain::par_light(size)],
        Workload::GroupIter => vec![group_iter(), group_iter_contiguous(), plain::group_iter()],
        Workload::FrameEmpty => vec![frames::empty(true), frames::empty(false)],
        Workload::BulkInsert => vec![change::bulk_insert()],
        Workload::Commands => vec![change::commands().plain()],
        Workload::Changed => vec![change::changed()],
        Workload::ChangedSpread => plain::changed(true).into(),
        Workload::ChangedClustered => plain::changed(false).into(),
        Workload::FrameOne => vec![frames::frame(false)],
        Workload::FrameTwo => vec![frames::frame(true)],
        Workload::GrowIter(size) => vec![simple_iter(size)],
        Workload::GrowSpawn(size) => vec![grow_spawn(size)],
        Workload::GrowAddRemove(size) => vec![change::add_remove(size)],
    }
}

fn body(index: usize) -> (Transform, Position, Rotation, Velocity) {
    (Transform::nth(index), Position::nth(index), Rotation::nth(index), Velocity::nth(index))
}

fn bodies(world: &mut World) -> u64 {
    let mut query = world.query::<(&Transform, &Position, &Rotation, &Velocity)>();
    body_sum(query.iter(world).map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row())))
}

fn simple_insert() -> Contender {
    let run = || {
        let mut world = World::new();
        world.spawn_batch((0..MANY).map(body));
        world
    };
    Contender::fresh(NAME, run, bodies)
}

fn insert_loop() -> Contender {
    let run = || {
        let mut world = World::new();
        for index in 0..MANY {
            world.spawn(body(index));
        }
        world
    };
    Contender::fresh(NAME, run, bodies)
}

fn positions(world: &mut World) -> u64 {
    of_rows(world.query::<&Position>().iter(world).map(|position| position.row()))
}

fn movers(size: usize) -> (World, QueryState<(&'static mut Position, &'static Velocity)>) {
    let mut world = World::new();
    world.spawn_batch((0..size).map(|index| (Position::nth(index), Velocity::nth(index))));
    let query = world.query();
    (world, query)
}

fn simple_iter(size: usize) -> Contender {
    Contender::steady(
        NAME,
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

fn simple_iter_contiguous() -> Contender {
    Contender::steady(
        CONTIGUOUS,
        || movers(MANY),
        |(world, query)| {
            for (mut positions, velocities) in query.contiguous_iter_mut(world).expect("tables") {
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

fn flat_movers() -> (World, QueryState<(&'static mut Place, &'static Speed)>) {
    let mut world = World::new();
    world.spawn_batch((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
    let query = world.query();
    (world, query)
}

fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        NAME,
        flat_movers,
        move |_| before(),
        |(world, query)| {
            query.iter_mut(world).for_each(|(mut place, speed)| {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            });
        },
        |(world, _)| of_rows(world.query::<&Place>().iter(world).map(|place| place.row())),
    )
}

fn iter_1m_contiguous(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        CONTIGUOUS,
        flat_movers,
        move |_| before(),
        |(world, query)| {
            for (mut places, speeds) in query.contiguous_iter_mut(world).expect("tables") {
                for (place, speed) in places.iter_mut().zip(speeds) {
                    place.x += speed.x * DT;
                    place.y += speed.y * DT;
                }
            }
        },
        |(world, _)| of_rows(world.query::<&Place>().iter(world).map(|place| place.row())),
    )
}

fn data_sum(world: &mut World) -> u64 {
    of_floats(world.query::<&Data>().iter(world).map(|data| data.0))
}

fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        NAME,
        move || {
            let mut world = setup();
            let query = world.query::<&mut Data>();
            (world, query)
        },
        |(world, query)| query.iter_mut(world).for_each(|mut data| data.0 += 1.0),
        |(world, _)| data_sum(world),
    )
}

fn contiguous_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        CONTIGUOUS,
        move || {
            let mut world = setup();
            let query = world.query::<&mut Data>();
            (world, query)
        },
        |(world, query)| {
            for mut data in query.contiguous_iter_mut(world).expect("tables") {
                data.iter_mut().for_each(|data| data.0 += 1.0);
            }
        },
        |(world, _)| data_sum(world),
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

fn fragmented_iter() -> Contender {
    add_to_data(fragmented_world)
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

fn fragmented_wide() -> Contender {
    add_to_data(wide_world)
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

fn random_get() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |Lookup { world, query, order, sum }| {
            let query = query.query(world);
            *sum =
                total(order.iter().filter_map(|&entity| query.get(entity).ok()).map(|position| position.x));
        },
        |state| state.sum,
    )
}

fn random_get_many() -> Contender {
    Contender::steady(
        ("bevy", "iter_many"),
        lookup,
        |Lookup { world, query, order, sum }| {
            let query = query.query(world);
            let found = query.iter_many(order.iter()).filter_map(Result::ok);
            *sum = total(found.map(|position| position.x));
        },
        |state| state.sum,
    )
}

fn random_get_world() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |Lookup { world, order, sum, .. }| {
            let get = |&entity: &Entity| world.get::<Position>(entity);
            *sum = total(order.iter().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

fn grow_spawn(size: usize) -> Contender {
    let run = move || {
        let mut world = World::new();
        for index in 0..size {
            world.spawn((Position::nth(index), Velocity::nth(index)));
        }
        world
    };
    Contender::fresh(NAME, run, positions)
}

fn heavy_compute() -> Contender {
    Contender::steady(
        NAME,
        || {
            bevy_tasks::ComputeTaskPool::get_or_init(bevy_tasks::TaskPool::default);
            let mut world = World::new();
            world.spawn_batch((0..HEAVY).map(body));
            let query = world.query::<(&mut Transform, &mut Position)>();
            (world, query)
        },
        |(world, query)| {
            query.par_iter_mut(world).for_each(|(mut transform, mut position)| {
                let mut row = position.row();
                shapes::invert(&mut transform.columns, &mut row);
                [position.x, position.y, position.z] = row;
            });
        },
        |(world, _)| {
            let mut query = world.query::<(&Transform, &Position)>();
            of_rows(query.iter(world).map(|(m, p)| [m.columns[0][1], m.columns[3][1], p.x, p.z]))
        },
    )
}

fn group_world() -> (World, QueryState<(&'static mut A, &'static B, &'static C)>) {
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

fn group_iter() -> Contender {
    Contender::steady(
        NAME,
        group_world,
        |(world, query)| query.iter_mut(world).for_each(|(mut a, b, c)| a.0 += b.0 * c.0),
        |(world, _)| of_floats(world.query::<&A>().iter(world).map(|a| a.0)),
    )
}

fn group_iter_contiguous() -> Contender {
    Contender::steady(
        CONTIGUOUS,
        group_world,
        |(world, query)| {
            for (mut a, b, c) in query.contiguous_iter_mut(world).expect("tables") {
                for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                    a.0 += b.0 * c.0;
                }
            }
        },
        |(world, _)| of_floats(world.query::<&A>().iter(world).map(|a| a.0)),
    )
}
