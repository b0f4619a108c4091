//! sparsey: a sparse set per component. `group` lines declare the components of the query as a group, the
//! others do not.

use ::sparsey::World;
use ::sparsey::entity::Entity;

use super::limit::body_sum;
use crate::cache::evict;
use crate::checksum::{of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{
    HEAVY, HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES, Workload,
};

mod plain;

const NAME: (&str, &str) = ("sparsey", "");
const GROUP: (&str, &str) = ("sparsey", "group");

shapes::motion!();
shapes::flat_motion!();
shapes::tags!();
shapes::letters!(; A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Data);

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => vec![simple_insert()],
        Workload::InsertLoop | Workload::InsertSparse => vec![insert_loop().plain()],
        Workload::InsertEight => vec![plain::insert_eight()],
        Workload::InsertGroup => vec![plain::insert_group()],
        Workload::SimpleIter => vec![simple_iter(), simple_iter_group(), plain::simple_iter()],
        Workload::IterCold => vec![iter_1m(evict), iter_1m_group(evict), plain::iter_1m(evict)],
        Workload::IterWarm => vec![iter_1m(|| ()), iter_1m_group(|| ()), plain::iter_1m(|| ())],
        Workload::FragmentedIter => vec![add_to_data(fragmented_world), plain::add_to_data(fragmented_world)],
        Workload::FragmentedWide => vec![add_to_data(wide_world), plain::add_to_data(wide_world)],
        Workload::PairSparse => plain::pair_sparse().into(),
        Workload::AddRemove | Workload::AddRemoveSparse => vec![add_remove(NAME).plain(), add_remove(GROUP)],
        Workload::AddRemoveGroup => vec![add_remove(GROUP).plain()],
        Workload::RandomGet => vec![random_get().plain()],
        Workload::RandomGetWorld => vec![random_get_world().plain()],
        Workload::RandomGetMut => vec![plain::random_get_mut()],
        Workload::RandomGetMutWorld => vec![plain::random_get_mut_world()],
        Workload::SpawnDespawn => spawn_despawn().into(),
        Workload::Schedule => vec![schedule()],
        Workload::HeavyCompute => vec![heavy_compute().plain()],
        Workload::ParLight(size) => vec![plain::par_light(size)],
        Workload::GroupIter => vec![group_iter(NAME), group_iter_slices(), plain::group_iter()],
        Workload::BulkInsert => vec![bulk_insert()],
        _ => vec![],
    }
}

fn body(index: usize) -> (Transform, Position, Rotation, Velocity) {
    (Transform::nth(index), Position::nth(index), Rotation::nth(index), Velocity::nth(index))
}

fn body_world() -> World {
    World::builder()
        .register::<Transform>()
        .register::<Position>()
        .register::<Rotation>()
        .register::<Velocity>()
        .build()
}

fn bodies(world: &mut World) -> u64 {
    let mut rows = Vec::new();
    world.for_each::<(&Transform, &Position, &Rotation, &Velocity)>(|(m, p, r, v)| {
        rows.push((m.columns, p.row(), r.row(), v.row()));
    });
    body_sum(rows)
}

fn simple_insert() -> Contender {
    let run = || {
        let mut world = body_world();
        world.extend((0..MANY).map(body));
        world
    };
    Contender::fresh(NAME, run, bodies)
}

fn insert_loop() -> Contender {
    let run = || {
        let mut world = body_world();
        for index in 0..MANY {
            world.create(body(index));
        }
        world
    };
    Contender::fresh(NAME, run, bodies)
}

fn positions(world: &mut World) -> u64 {
    of_rows(world.borrow::<Position>().as_slice().iter().map(|position| position.row()))
}

fn moving_world(mut world: World) -> World {
    world.extend((0..MANY).map(|index| (Position::nth(index), Velocity::nth(index))));
    world
}

fn simple_iter() -> Contender {
    Contender::steady(
        NAME,
        || moving_world(World::builder().register::<Position>().register::<Velocity>().build()),
        |world| {
            world.for_each::<(&mut Position, &Velocity)>(|(position, velocity)| {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            });
        },
        positions,
    )
}

fn simple_iter_group() -> Contender {
    Contender::steady(
        GROUP,
        || moving_world(World::builder().add_group::<(Position, Velocity)>().build()),
        |world| {
            let mut query = world.query_all::<(&mut Position, &Velocity)>();
            let (positions, velocities) = query.slice().expect("grouped");
            for (position, velocity) in positions.iter_mut().zip(velocities) {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            }
        },
        positions,
    )
}

fn places(world: &mut World) -> u64 {
    of_rows(world.borrow::<Place>().as_slice().iter().map(|place| place.row()))
}

fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        NAME,
        || {
            let mut world = World::builder().register::<Place>().register::<Speed>().build();
            world.extend((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
            world
        },
        move |_| before(),
        |world| {
            world.for_each::<(&mut Place, &Speed)>(|(place, speed)| {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            });
        },
        places,
    )
}

fn iter_1m_group(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        GROUP,
        || {
            let mut world = World::builder().add_group::<(Place, Speed)>().build();
            world.extend((0..MILLION).map(|index| (Place::nth(index), Speed::nth(index))));
            world
        },
        move |_| before(),
        |world| {
            let mut query = world.query_all::<(&mut Place, &Speed)>();
            let (places, speeds) = query.slice().expect("grouped");
            for (place, speed) in places.iter_mut().zip(speeds) {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            }
        },
        places,
    )
}

fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        NAME,
        setup,
        |world| world.for_each::<&mut Data>(|data| data.0 += 1.0),
        |world| of_floats(world.borrow::<Data>().as_slice().iter().map(|data| data.0)),
    )
}

fn fragmented_world() -> World {
    let mut builder = World::builder();
    builder.register::<Data>();
    macro_rules! register {
        ($($letter:ident)*) => { $(builder.register::<$letter>();)* };
    }
    shapes::for_each_letter!(register);
    let mut world = builder.build();
    let mut next = 0;
    macro_rules! spawn {
        ($($letter:ident)*) => {
            $(for _ in 0..PER_LETTER {
                world.create(($letter(0.0), Data(scalar(next))));
                next += 1;
            })*
        };
    }
    shapes::for_each_letter!(spawn);
    world
}

fn wide_world() -> World {
    let mut builder = World::builder();
    builder.register::<Data>();
    macro_rules! register {
        ($tag:ident) => {
            builder.register::<$tag>()
        };
    }
    shapes::for_each_tag!(u32::MAX, register);
    let mut world = builder.build();
    for index in 0..WIDE_TABLES * PER_WIDE_TABLE {
        let entity = world.create((Data(scalar(index)),));
        macro_rules! add {
            ($tag:ident) => {
                world.insert(entity, ($tag,))
            };
        }
        shapes::for_each_tag!(index / PER_WIDE_TABLE, add);
    }
    world
}

fn add_remove(name: (&'static str, &'static str)) -> Contender {
    Contender::steady(
        name,
        move || {
            let mut world = match name.1 {
                "group" => World::builder().add_group::<(A, B)>().build(),
                _ => World::builder().register::<A>().register::<B>().build(),
            };
            let entities = world.extend((0..MANY).map(|index| (A(scalar(index)),))).to_vec();
            (world, entities)
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert(entity, (B(1.0),));
            }
            for &entity in entities.iter() {
                world.delete::<(B,)>(entity);
            }
        },
        |(world, _)| of_floats(world.borrow::<A>().as_slice().iter().map(|a| a.0)),
    )
}

struct Lookup {
    world: World,
    order: Vec<Entity>,
    sum: u64,
}

fn lookup() -> Lookup {
    let mut world = World::builder().register::<Position>().register::<Velocity>().build();
    let entities = world.extend((0..LOOKUPS).map(|i| (Position::nth(i), Velocity::nth(i)))).to_vec();
    let order = lookups().into_iter().map(|at| entities[at]).collect();
    Lookup { world, order, sum: 0 }
}

fn random_get() -> Contender {
    Contender::steady(
        ("sparsey", "view"),
        lookup,
        |Lookup { world, order, sum }| {
            let positions = world.borrow::<Position>();
            *sum = total(order.iter().filter_map(|&entity| positions.get(entity)).map(|position| position.x));
        },
        |state| state.sum,
    )
}

fn random_get_world() -> Contender {
    Contender::steady(
        NAME,
        lookup,
        |Lookup { world, order, sum }| {
            let x = |&entity: &Entity| world.query_one::<&Position>().map(entity, |position| position.x);
            *sum = total(order.iter().filter_map(x));
        },
        |state| state.sum,
    )
}

fn spawn_despawn() -> [Contender; 2] {
    [
        spawned_and_despawned(NAME, |world, entities| {
            let create = |index| world.create((Position::nth(index), Velocity::nth(index)));
            entities.extend((0..MANY).map(create));
        })
        .plain(),
        spawned_and_despawned(("sparsey", "extend"), |world, entities| {
            let movers = (0..MANY).map(|index| (Position::nth(index), Velocity::nth(index)));
            entities.extend_from_slice(world.extend(movers));
        }),
    ]
}

fn spawned_and_despawned(
    name: (&'static str, &'static str),
    spawn: impl Fn(&mut World, &mut Vec<Entity>) + Copy + 'static,
) -> Contender {
    Contender::steady(
        name,
        || {
            let world = World::builder().register::<Position>().register::<Velocity>().build();
            (world, Vec::with_capacity(MANY))
        },
        move |(world, entities)| {
            entities.clear();
            spawn(world, entities);
            for &entity in entities.iter() {
                world.destroy(entity);
            }
        },
        |(world, entities)| of_counts(entities.len(), world.entities().len()),
    )
}

fn schedule() -> Contender {
    Contender::steady(
        ("sparsey", "no scheduler"),
        || {
            let mut world = World::builder()
                .register::<A>()
                .register::<B>()
                .register::<C>()
                .register::<D>()
                .register::<E>()
                .build();
            let at = |index: usize, shift: usize| scalar(index + shift);
            let abc = move |i| (A(at(i, 0)), B(at(i, 1)), C(at(i, 2)));
            world.extend((0..MANY).map(|i| (A(at(i, 0)), B(at(i, 1)))));
            world.extend((0..MANY).map(abc));
            world.extend((0..MANY).map(|i| (A(at(i, 0)), B(at(i, 1)), C(at(i, 2)), D(at(i, 3)))));
            world.extend((0..MANY).map(|i| (A(at(i, 0)), B(at(i, 1)), C(at(i, 2)), E(at(i, 4)))));
            world
        },
        |world| {
            world.for_each::<(&mut A, &mut B)>(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            world.for_each::<(&mut C, &mut D)>(|(c, d)| std::mem::swap(&mut c.0, &mut d.0));
            world.for_each::<(&mut C, &mut E)>(|(c, e)| std::mem::swap(&mut c.0, &mut e.0));
        },
        |world| {
            let (a, b, c) = (world.borrow::<A>(), world.borrow::<B>(), world.borrow::<C>());
            let (d, e) = (world.borrow::<D>(), world.borrow::<E>());
            let at = |value: Option<f32>| value.unwrap_or(-1.0);
            of_rows(world.entities().iter().map(|&entity| {
                let (a, b, c) =
                    (a.get(entity).map(|a| a.0), b.get(entity).map(|b| b.0), c.get(entity).map(|c| c.0));
                let (d, e) = (d.get(entity).map(|d| d.0), e.get(entity).map(|e| e.0));
                [at(a), at(b), at(c), at(d), at(e)]
            }))
        },
    )
}

fn heavy_compute() -> Contender {
    Contender::steady(
        NAME,
        || {
            let mut world = body_world();
            world.extend((0..HEAVY).map(body));
            world
        },
        |world| {
            world.par_for_each::<(&mut Transform, &mut Position)>(|(transform, position)| {
                let mut row = position.row();
                shapes::invert(&mut transform.columns, &mut row);
                [position.x, position.y, position.z] = row;
            });
        },
        |world| {
            let mut rows = Vec::new();
            world.for_each::<(&Transform, &Position)>(|(m, p)| {
                rows.push([m.columns[0][1], m.columns[3][1], p.x, p.z]);
            });
            of_rows(rows)
        },
    )
}

fn group_world(mut world: World) -> World {
    for index in 0..HUNDRED_THOUSAND {
        let value = scalar(index);
        match index % 4 {
            0 => world.create((A(value), B(value), C(0.5))),
            2 => world.create((A(value), B(value))),
            _ => world.create((A(value),)),
        };
    }
    world
}

fn group_iter(name: (&'static str, &'static str)) -> Contender {
    Contender::steady(
        name,
        || group_world(World::builder().register::<A>().register::<B>().register::<C>().build()),
        |world| world.for_each::<(&mut A, &B, &C)>(|(a, b, c)| a.0 += b.0 * c.0),
        |world| of_floats(world.borrow::<A>().as_slice().iter().map(|a| a.0)),
    )
}

fn group_iter_slices() -> Contender {
    Contender::steady(
        GROUP,
        || group_world(World::builder().add_group::<(A, B, C)>().build()),
        |world| {
            let mut query = world.query_all::<(&mut A, &B, &C)>();
            let (a, b, c) = query.slice().expect("grouped");
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                a.0 += b.0 * c.0;
            }
        },
        |world| of_floats(world.borrow::<A>().as_slice().iter().map(|a| a.0)),
    )
}

fn bulk_insert() -> Contender {
    Contender::staged(
        ("sparsey", "loop"),
        || {
            let mut world = World::builder().register::<Position>().register::<B>().build();
            let entities = world.extend((0..MANY).map(|index| (Position::nth(index),))).to_vec();
            (world, entities)
        },
        |(world, entities)| entities.iter().for_each(|&entity| world.delete::<(B,)>(entity)),
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert(entity, (B(0.5),));
            }
        },
        |(world, _)| of_floats(world.borrow::<B>().as_slice().iter().map(|b| b.0)),
    )
}
