//! Kinds of entities declared as pools, with the same components in the same tables: through the pool's own writer, by
//! entity and by handle.

use ::phalanx::pool::Handle;
use ::phalanx::prelude::*;
use ::phalanx::query::QueryState;

use super::LIBRARY;
use super::limit::body_sum;
use super::table::{
    A, B, C, Data, M0, M1, M2, M3, M4, M5, M6, M7, M8, M9, Place, Position, Rotation, Speed, Transform,
    Velocity,
};
use crate::checksum::{of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{DT, lookups, scalar, total};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES};

const POOL: (&str, &str) = (LIBRARY, "pool");
const HANDLE: (&str, &str) = (LIBRARY, "pool handle");

#[derive(Pool)]
struct Bodies {
    transform: Transform,
    position: Position,
    rotation: Rotation,
    velocity: Velocity,
}

impl Bodies {
    fn nth(index: usize) -> Self {
        Self {
            transform: Transform::nth(index),
            position: Position::nth(index),
            rotation: Rotation::nth(index),
            velocity: Velocity::nth(index),
        }
    }
}

fn bodies(world: &mut World) -> u64 {
    let query = world.view::<(&Transform, &Position, &Rotation, &Velocity)>();
    body_sum(query.iter().map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row())))
}

pub fn simple_insert() -> Contender {
    let run = || {
        let mut world = World::new();
        world.spawn_batch_in((0..MANY).map(Bodies::nth));
        world
    };
    Contender::fresh(POOL, run, bodies)
}

pub fn insert_loop() -> Contender {
    let run = || {
        let mut world = World::new();
        for index in 0..MANY {
            world.spawn_in(Bodies::nth(index));
        }
        world
    };
    Contender::fresh(POOL, run, bodies)
}

#[derive(Pool)]
struct Movers {
    position: Position,
    velocity: Velocity,
}

impl Movers {
    fn nth(index: usize) -> Self {
        Self { position: Position::nth(index), velocity: Velocity::nth(index) }
    }
}

fn positions(world: &World) -> u64 {
    of_rows(world.view::<&Position>().iter().map(|position| position.row()))
}

pub fn simple_iter() -> Contender {
    Contender::steady(
        POOL,
        || {
            let mut world = World::new();
            world.spawn_batch_in((0..MANY).map(Movers::nth));
            let query = world.query_filtered::<(&mut Position, &Velocity), InPool<Movers>>();
            (world, query)
        },
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

#[derive(Pool)]
struct Flat {
    place: Place,
    speed: Speed,
}

pub fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        POOL,
        || {
            let mut world = World::new();
            let flat = |index| Flat { place: Place::nth(index), speed: Speed::nth(index) };
            world.spawn_batch_in((0..MILLION).map(flat));
            let query = world.query_filtered::<(&mut Place, &Speed), InPool<Flat>>();
            (world, query)
        },
        move |_| before(),
        |(world, query)| {
            query.iter_mut(world).for_each(|(mut place, speed)| {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            });
        },
        |(world, _)| of_rows(world.view::<&Place>().iter().map(|place| place.row())),
    )
}

macro_rules! letters_pool {
    ($($letter:ident $field:ident)*) => {
        mod letters {
            use ::phalanx::prelude::*;
            use super::super::table::*;

            /// One letter each, beside the data.
            #[derive(Pool)]
            pub struct Letters {
                pub data: Data,
                $(pub $field: Option<$letter>,)*
            }

            impl Letters {
                pub fn new(data: f32) -> Self {
                    Self { data: Data(data), $($field: None,)* }
                }
            }
        }

        fn fragmented_world() -> World {
            let mut world = World::new();
            let mut next = 0;
            $(for _ in 0..PER_LETTER {
                let mut value = letters::Letters::new(scalar(next));
                value.$field = Some(super::table::$letter(0.0));
                world.spawn_in(value);
                next += 1;
            })*
            world
        }
    };
}

letters_pool! {
    A a B b C c D d E e F f G g H h I i J j K k L l M m N n O o P p Q q R r S s T t U u V v W w X x Y y Z z
}

/// Any of ten tags, beside the data.
#[derive(Pool)]
struct Tagged {
    data: Data,
    m0: Option<M0>,
    m1: Option<M1>,
    m2: Option<M2>,
    m3: Option<M3>,
    m4: Option<M4>,
    m5: Option<M5>,
    m6: Option<M6>,
    m7: Option<M7>,
    m8: Option<M8>,
    m9: Option<M9>,
}

fn wide_world() -> World {
    let mut world = World::new();
    for index in 0..WIDE_TABLES * PER_WIDE_TABLE {
        let has = |bit: usize| (index / PER_WIDE_TABLE) >> bit & 1 != 0;
        world.spawn_in(Tagged {
            data: Data(scalar(index)),
            m0: has(0).then_some(M0),
            m1: has(1).then_some(M1),
            m2: has(2).then_some(M2),
            m3: has(3).then_some(M3),
            m4: has(4).then_some(M4),
            m5: has(5).then_some(M5),
            m6: has(6).then_some(M6),
            m7: has(7).then_some(M7),
            m8: has(8).then_some(M8),
            m9: has(9).then_some(M9),
        });
    }
    world
}

fn data_rows<P: ::phalanx::pool::Pool>(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        POOL,
        move || {
            let world = setup();
            let query = world.query_filtered::<&mut Data, InPool<P>>();
            (world, query)
        },
        |(world, query)| query.iter_mut(world).for_each(|mut data| data.0 += 1.0),
        |(world, _)| of_floats(world.view::<&Data>().iter().map(|data| data.0)),
    )
}

pub fn fragmented() -> Contender {
    data_rows::<letters::Letters>(fragmented_world)
}

pub fn wide() -> Contender {
    data_rows::<Tagged>(wide_world)
}

/// A always, B and C perhaps.
#[derive(Pool)]
struct Grouped {
    a: A,
    b: Option<B>,
    c: Option<C>,
}

fn a_sum(world: &World) -> u64 {
    of_floats(world.view::<&A>().iter().map(|a| a.0))
}

pub fn add_remove() -> Contender {
    Contender::steady(
        POOL,
        || {
            let mut world = World::new();
            let with_a = |index| Grouped { a: A(scalar(index)), b: None, c: None };
            let entities: Vec<Entity> = world.spawn_batch_in((0..MANY).map(with_a)).collect();
            (world, entities)
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                world.pool_mut::<Grouped>().insert(entity, B(1.0)).expect("alive");
            }
            for &entity in entities.iter() {
                world.pool_mut::<Grouped>().remove::<B>(entity).expect("alive");
            }
        },
        |(world, _)| a_sum(world),
    )
}

pub fn group_iter() -> Contender {
    Contender::steady(
        POOL,
        || {
            let mut world = World::new();
            for index in 0..HUNDRED_THOUSAND {
                let value = scalar(index);
                let b = index.is_multiple_of(2).then_some(B(value));
                let c = index.is_multiple_of(4).then_some(C(0.5));
                world.spawn_in(Grouped { a: A(value), b, c });
            }
            let query: QueryState<(&mut A, &B, &C), InPool<Grouped>> = world.query_filtered();
            (world, query)
        },
        |(world, query)| query.iter_mut(world).for_each(|(mut a, b, c)| a.0 += b.0 * c.0),
        |(world, _)| a_sum(world),
    )
}

struct Lookup<K> {
    world: World,
    order: Vec<K>,
    sum: u64,
}

fn lookup<K>(key: impl Fn(&World, Entity) -> K) -> Lookup<K> {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch_in((0..LOOKUPS).map(Movers::nth)).collect();
    let order = lookups().into_iter().map(|at| key(&world, entities[at])).collect();
    Lookup { world, order, sum: 0 }
}

fn by_entity() -> Lookup<Entity> {
    lookup(|_, entity| entity)
}

fn by_handle() -> Lookup<Handle<Movers>> {
    lookup(|world, entity| world.pool::<Movers>().handle(entity).expect("alive"))
}

pub fn random_get() -> Contender {
    Contender::steady(
        POOL,
        by_entity,
        |Lookup { world, order, sum }| {
            let positions = world.pool::<Movers>().reader::<Position>();
            let get = |&entity: &Entity| positions.get(entity).ok();
            *sum = total(order.iter().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn random_get_handle() -> Contender {
    Contender::steady(
        HANDLE,
        by_handle,
        |Lookup { world, order, sum }| {
            let positions = world.pool::<Movers>().reader::<Position>();
            let get = |handle| positions.get(handle).ok();
            *sum = total(order.iter_mut().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn random_get_world() -> Contender {
    Contender::steady(
        POOL,
        by_entity,
        |Lookup { world, order, sum }| {
            let get = |&entity: &Entity| world.pool::<Movers>().get::<Position>(entity).ok();
            *sum = total(order.iter().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn random_get_world_handle() -> Contender {
    Contender::steady(
        HANDLE,
        by_handle,
        |Lookup { world, order, sum }| {
            let get = |handle| world.pool::<Movers>().get::<Position>(handle).ok();
            *sum = total(order.iter_mut().filter_map(get).map(|position| position.x));
        },
        |state| state.sum,
    )
}

pub fn spawn_despawn() -> Contender {
    Contender::steady(
        POOL,
        || (World::new(), Vec::with_capacity(MANY)),
        |(world, entities)| {
            entities.clear();
            entities.extend((0..MANY).map(|index| world.spawn_in(Movers::nth(index))));
            let mut pool = world.pool_mut::<Movers>();
            for &entity in entities.iter() {
                pool.despawn(entity).expect("alive");
            }
        },
        |(world, entities)| of_counts(entities.len(), world.entities().len()),
    )
}

pub fn spawn_despawn_batch() -> Contender {
    Contender::steady(
        (LIBRARY, "pool batch"),
        || (World::new(), Vec::with_capacity(MANY)),
        |(world, entities)| {
            entities.clear();
            entities.extend_from_slice(world.spawn_batch_in((0..MANY).map(Movers::nth)).as_slice());
            world.despawn_batch(entities.iter().copied());
        },
        |(world, entities)| of_counts(entities.len(), world.entities().len()),
    )
}

/// The same through the world, one call per entity.
pub fn insert_loop_plain() -> Contender {
    let run = || {
        let mut world = World::new();
        for index in 0..MANY {
            world.spawn_in(Bodies::nth(index));
        }
        world
    };
    Contender::fresh((LIBRARY, "pool plain"), run, bodies)
}
