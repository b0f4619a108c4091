//! hecs: prepared queries and views, batches where there are batches. It has no scheduler, so systems are
//! plain calls, and no bulk insert.

use ::hecs::{ChangeTracker, CommandBuffer, Entity, PreparedQuery, World};
use rayon::prelude::*;

use super::limit::body_sum;
use crate::cache::evict;
use crate::checksum::{Sum, of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{
    HEAVY, HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES, Workload,
};

mod plain;

const NAME: (&str, &str) = ("hecs", "");

shapes::motion!();
shapes::flat_motion!();
shapes::tags!();
shapes::letters!(#[derive(PartialEq)]; A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Data);

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => vec![simple_insert()],
        Workload::InsertLoop => vec![insert_loop().plain()],
        Workload::InsertEight => vec![plain::insert_eight()],
        Workload::SimpleIter => vec![simple_iter(MANY), plain::simple_iter()],
        Workload::IterCold => vec![iter_1m(evict), plain::iter_1m(evict)],
        Workload::IterWarm => vec![iter_1m(|| ()), plain::iter_1m(|| ())],
        Workload::FragmentedIter => vec![add_to_data(fragmented_world), plain::add_to_data(fragmented_world)],
        Workload::FragmentedWide => vec![add_to_data(wide_world), plain::add_to_data(wide_world)],
        Workload::FiveComponents => plain::five_components().into(),
        Workload::Filtered => plain::filtered().into(),
        Workload::AddRemove => vec![add_remove(MANY).plain()],
        Workload::RandomGet => vec![random_get().plain()],
        Workload::RandomGetWorld => vec![random_get_world().plain()],
        Workload::RandomGetMut => vec![plain::random_get_mut()],
        Workload::RandomGetMutWorld => plain::random_get_mut_world().into(),
        Workload::SpawnDespawn => spawn_despawn().into(),
        Workload::Schedule => vec![schedule(), plain::schedule()],
        Workload::HeavyCompute => vec![heavy_compute()],
        Workload::ParLight(size) => vec![plain::par_light(size)],
        Workload::GroupIter => vec![group_iter(), plain::group_iter()],
        Workload::BulkInsert => vec![bulk_insert()],
        Workload::Commands => vec![commands().plain()],
        Workload::Changed => vec![changed()],
        Workload::ChangedSpread => vec![plain::changed(true)],
        Workload::ChangedClustered => vec![plain::changed(false)],
        Workload::GrowIter(size) => vec![simple_iter(size)],
        Workload::GrowSpawn(size) => vec![grow_spawn(size)],
        Workload::GrowAddRemove(size) => vec![add_remove(size)],
        Workload::AddRemoveSparse
        | Workload::AddRemoveGroup
        | Workload::InsertSparse
        | Workload::InsertGroup
        | Workload::PairSparse
        | Workload::FrameEmpty
        | Workload::FrameOne
        | Workload::FrameTwo => vec![],
    }
}

fn body(index: usize) -> (Transform, Position, Rotation, Velocity) {
    (Transform::nth(index), Position::nth(index), Rotation::nth(index), Velocity::nth(index))
}

fn bodies(world: &mut World) -> u64 {
    let rows = world.query_mut::<(&Transform, &Position, &Rotation, &Velocity)>();
    body_sum(rows.into_iter().map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row())))
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

fn simple_iter(size: usize) -> Contender {
    Contender::steady(
        NAME,
        move || {
            let mut world = World::new();
            world.spawn_batch((0..size).map(|index| (Position::nth(index), Velocity::nth(index))));
            (world, PreparedQuery::<(&mut Position, &Velocity)>::new())
        },
        |(world, query)| {
            query.query_mut(world).for_each(|(position, velocity)| {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            });
        },
        |(world, _)| of_rows(world.query_mut::<&Position>().into_iter().map(|position| position.row())),
    )
}

fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        NAME,
        || {
            let mut world = World::new();
            world.spawn_batch((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
            (world, PreparedQuery::<(&mut Place, &Speed)>::new())
        },
        move |_| before(),
        |(world, query)| {
            query.query_mut(world).for_each(|(place, speed)| {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            });
        },
        |(world, _)| of_rows(world.query_mut::<&Place>().into_iter().map(|place| place.row())),
    )
}

fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        NAME,
        move || (setup(), PreparedQuery::<&mut Data>::new()),
        |(world, query)| query.query_mut(world).for_each(|data| data.0 += 1.0),
        |(world, _)| of_floats(world.query_mut::<&Data>().into_iter().map(|data| data.0)),
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
        let entity = world.spawn((Data(scalar(index)),));
        macro_rules! add {
            ($tag:ident) => {
                world.insert_one(entity, $tag).expect("just spawned")
            };
        }
        shapes::for_each_tag!(index / PER_WIDE_TABLE, add);
    }
    world
}

fn add_remove(size: usize) -> Contender {
    Contender::steady(
        NAME,
        move || {
            let mut world = World::new();
            let entities: Vec<Entity> = world.spawn_batch((0..size).map(|i| (A(scalar(i)),))).collect();
            (world, entities)
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert_one(entity, B(1.0)).expect("alive");
            }
            for &entity in entities.iter() {
                world.remove_one::<B>(entity).expect("just inserted");
            }
        },
        |(world, _)| of_floats(world.query_mut::<&A>().into_iter().map(|a| a.0)),
    )
}

struct Lookup {
    world: World,
    query: PreparedQuery<&'static Position>,
    order: Vec<Entity>,
    sum: u64,
}

fn lookup() -> Lookup {
    let mut world = World::new();
    let entities: Vec<Entity> =
        world.spawn_batch((0..LOOKUPS).map(|index| (Position::nth(index), Velocity::nth(index)))).collect();
    let order = lookups().into_iter().map(|at| entities[at]).collect();
    Lookup { world, query: PreparedQuery::new(), order, sum: 0 }
}

fn random_get() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |Lookup { world, query, order, sum }| {
            let view = query.view_mut(world);
            *sum = total(order.iter().filter_map(|&entity| view.get(entity)).map(|position| position.x));
        },
        |state| state.sum,
    )
}

fn random_get_world() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |Lookup { world, order, sum, .. }| {
            let x = |&entity: &Entity| world.get::<&Position>(entity).ok().map(|position| position.x);
            *sum = total(order.iter().filter_map(x));
        },
        |state| state.sum,
    )
}

fn spawn_despawn() -> [Contender; 2] {
    [
        spawned_and_despawned(NAME, |world, entities| {
            entities.extend((0..MANY).map(|index| world.spawn((Position::nth(index), Velocity::nth(index)))));
        })
        .plain(),
        spawned_and_despawned(("hecs", "spawn_batch"), |world, entities| {
            let movers = (0..MANY).map(|index| (Position::nth(index), Velocity::nth(index)));
            entities.extend(world.spawn_batch(movers));
        }),
    ]
}

fn spawned_and_despawned(
    name: (&'static str, &'static str),
    spawn: impl Fn(&mut World, &mut Vec<Entity>) + Copy + 'static,
) -> Contender {
    Contender::steady(
        name,
        || (World::new(), Vec::with_capacity(MANY)),
        move |(world, entities)| {
            entities.clear();
            spawn(world, entities);
            for &entity in entities.iter() {
                world.despawn(entity).expect("just spawned");
            }
        },
        |(world, entities)| of_counts(entities.len(), world.len() as usize),
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
    Contender::fresh(NAME, run, |world| {
        of_rows(world.query_mut::<&Position>().into_iter().map(|position| position.row()))
    })
}

struct Swaps {
    world: World,
    ab: PreparedQuery<(&'static mut A, &'static mut B)>,
    cd: PreparedQuery<(&'static mut C, &'static mut D)>,
    ce: PreparedQuery<(&'static mut C, &'static mut E)>,
}

fn swaps() -> Swaps {
    let value = |index: usize, shift: usize| scalar(index + shift);
    let mut world = World::new();
    let ab = move |i| (A(value(i, 0)), B(value(i, 1)));
    let abc = move |i| (A(value(i, 0)), B(value(i, 1)), C(value(i, 2)));
    world.spawn_batch((0..MANY).map(ab));
    world.spawn_batch((0..MANY).map(abc));
    world.spawn_batch((0..MANY).map(|i| {
        let (a, b, c) = abc(i);
        (a, b, c, D(value(i, 3)))
    }));
    world.spawn_batch((0..MANY).map(|i| {
        let (a, b, c) = abc(i);
        (a, b, c, E(value(i, 4)))
    }));
    let (ab, cd, ce) = Default::default();
    Swaps { world, ab, cd, ce }
}

fn swapped(swaps: &mut Swaps) -> u64 {
    let rows = swaps.world.query_mut::<(&A, &B, Option<&C>, Option<&D>, Option<&E>)>();
    of_rows(rows.into_iter().map(|(a, b, c, d, e)| {
        [a.0, b.0, c.map_or(-1.0, |c| c.0), d.map_or(-1.0, |d| d.0), e.map_or(-1.0, |e| e.0)]
    }))
}

fn schedule() -> Contender {
    Contender::steady(
        ("hecs", "no scheduler"),
        swaps,
        |Swaps { world, ab, cd, ce }| {
            ab.query_mut(world).for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            cd.query_mut(world).for_each(|(c, d)| std::mem::swap(&mut c.0, &mut d.0));
            ce.query_mut(world).for_each(|(c, e)| std::mem::swap(&mut c.0, &mut e.0));
        },
        swapped,
    )
}

fn heavy_compute() -> Contender {
    Contender::steady(
        ("hecs", "rayon bridge"),
        || {
            let mut world = World::new();
            world.spawn_batch((0..HEAVY).map(body));
            world
        },
        |world| {
            let mut query = world.query::<(&mut Transform, &mut Position)>();
            query.iter_batched(64).par_bridge().for_each(|batch| {
                batch.for_each(|(transform, position)| {
                    let mut row = position.row();
                    shapes::invert(&mut transform.columns, &mut row);
                    [position.x, position.y, position.z] = row;
                });
            });
        },
        |world| {
            let rows = world.query_mut::<(&Transform, &Position)>();
            of_rows(rows.into_iter().map(|(m, p)| [m.columns[0][1], m.columns[3][1], p.x, p.z]))
        },
    )
}

fn group_world() -> World {
    let mut world = World::new();
    for index in 0..HUNDRED_THOUSAND {
        let value = scalar(index);
        match index % 4 {
            0 => world.spawn((A(value), B(value), C(0.5))),
            2 => world.spawn((A(value), B(value))),
            _ => world.spawn((A(value),)),
        };
    }
    world
}

fn group_iter() -> Contender {
    Contender::steady(
        NAME,
        || (group_world(), PreparedQuery::<(&mut A, &B, &C)>::new()),
        |(world, query)| query.query_mut(world).for_each(|(a, b, c)| a.0 += b.0 * c.0),
        |(world, _)| of_floats(world.query_mut::<&A>().into_iter().map(|a| a.0)),
    )
}

fn bulk_insert() -> Contender {
    Contender::staged(
        ("hecs", "loop"),
        || {
            let mut world = World::new();
            let entities: Vec<Entity> = world.spawn_batch((0..MANY).map(|i| (Position::nth(i),))).collect();
            (world, entities)
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                // Before the first run there is none.
                let _ = world.remove_one::<B>(entity);
            }
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert_one(entity, B(0.5)).expect("alive");
            }
        },
        |(world, _)| of_floats(world.query_mut::<&B>().into_iter().map(|b| b.0)),
    )
}

fn commands() -> Contender {
    Contender::staged(
        ("hecs", "command buffer"),
        || (World::new(), CommandBuffer::new(), Vec::new()),
        |(world, _, entities)| {
            world.clear();
            entities.clear();
            entities.extend((0..MANY).map(|index| match index % 4 {
                1 => world.spawn((A(scalar(index)), B(1.0))),
                _ => world.spawn((A(scalar(index)),)),
            }));
        },
        |(world, buffer, entities)| {
            for (index, &entity) in entities.iter().enumerate() {
                match index % 4 {
                    0 => buffer.insert_one(entity, B(2.0)),
                    1 => buffer.remove_one::<B>(entity),
                    2 => buffer.despawn(entity),
                    _ => buffer.spawn((A(scalar(index)), B(3.0))),
                }
            }
            buffer.run_on(world);
        },
        |(world, _, _)| {
            let rows = world.query_mut::<(&A, Option<&B>)>();
            of_rows(rows.into_iter().map(|(a, b)| [a.0, b.map_or(-1.0, |b| b.0)]))
        },
    )
}

fn changed() -> Contender {
    Contender::staged(
        ("hecs", "tracker"),
        || {
            let mut world = wide_world();
            let mut tracker = ChangeTracker::<Data>::new();
            tracker.track(&mut world).added().for_each(drop);
            let first = WIDE_TABLES / 2 * PER_WIDE_TABLE;
            let mut entities: Vec<Entity> = world.query_mut::<Entity>().with::<&Data>().into_iter().collect();
            entities.sort_unstable_by_key(|entity| entity.id());
            let written: Vec<Entity> = entities[first..first + PER_WIDE_TABLE].to_vec();
            (world, tracker, written, Sum::default())
        },
        |(world, _, written, sum)| {
            *sum = Sum::default();
            for &entity in written.iter() {
                world.get::<&mut Data>(entity).expect("alive").0 += 1.0;
            }
        },
        |(world, tracker, _, sum)| {
            tracker.track(world).changed().for_each(|(_, _, data)| sum.float(data.0));
        },
        |(_, _, _, sum)| sum.get(),
    )
}
