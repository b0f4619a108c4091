//! flecs through its Rust crate, with the checks it has by default: `each` and `run` over cached queries, bulk
//! creation, systems through `progress`.

use flecs_ecs::prelude::*;

use super::limit::body_sum;
use crate::cache::evict;
use crate::checksum::{of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{
    HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES, Workload,
};

mod change;
mod frames;

const EACH: (&str, &str) = ("flecs", "each");
const RUN: (&str, &str) = ("flecs", "run");
const NAME: (&str, &str) = ("flecs", "");

shapes::motion!(#[derive(Component)]);
shapes::flat_motion!(#[derive(Component)]);
shapes::tags!(#[derive(Component)]);
shapes::letters!(#[derive(Component)]; A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Data);

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => vec![simple_insert()],
        Workload::InsertLoop => vec![insert_loop().plain()],
        Workload::SimpleIter => vec![simple_iter(), simple_iter_run()],
        Workload::IterCold => vec![iter_1m(evict)],
        Workload::IterWarm => vec![iter_1m(|| ())],
        Workload::FragmentedIter => vec![add_to_data(fragmented_world), run_over_data(fragmented_world)],
        Workload::FragmentedWide => vec![add_to_data(wide_world), run_over_data(wide_world)],
        Workload::AddRemove => vec![change::add_remove().plain()],
        Workload::AddRemoveSparse => vec![change::add_remove_sparse()],
        Workload::RandomGet => vec![random_get()],
        Workload::RandomGetWorld => vec![random_get_world().plain()],
        Workload::RandomGetMutWorld => vec![random_get_mut_world()],
        Workload::SpawnDespawn => vec![change::spawn_despawn().plain()],
        Workload::Schedule => vec![frames::schedule()],
        Workload::HeavyCompute => vec![frames::heavy_compute()],
        Workload::GroupIter => vec![group_iter()],
        Workload::FrameEmpty => vec![frames::empty()],
        Workload::BulkInsert => vec![change::bulk_insert()],
        Workload::Commands => vec![change::commands().plain()],
        Workload::Changed => vec![change::changed()],
        Workload::FrameOne => vec![frames::frame(1)],
        Workload::FrameTwo => vec![frames::frame(2)],
        _ => vec![],
    }
}

fn body_rows(world: &World) -> u64 {
    let mut rows = Vec::new();
    let query = world.new_query::<(&Transform, &Position, &Rotation, &Velocity)>();
    query.each(|(m, p, r, v)| rows.push((m.columns, p.row(), r.row(), v.row())));
    body_sum(rows)
}

fn simple_insert() -> Contender {
    let run = || {
        let world = World::new();
        let (m, p): (Vec<_>, Vec<_>) =
            ((0..MANY).map(Transform::nth).collect(), (0..MANY).map(Position::nth).collect());
        let (r, v): (Vec<_>, Vec<_>) =
            ((0..MANY).map(Rotation::nth).collect(), (0..MANY).map(Velocity::nth).collect());
        world.entity_bulk(MANY as u32).set(&m).set(&p).set(&r).set(&v).build();
        world
    };
    Contender::fresh(("flecs", "bulk"), run, |world| body_rows(world))
}

fn insert_loop() -> Contender {
    let run = || {
        let world = World::new();
        for i in 0..MANY {
            let entity = world.entity().set(Transform::nth(i)).set(Position::nth(i));
            entity.set(Rotation::nth(i)).set(Velocity::nth(i));
        }
        world
    };
    Contender::fresh(NAME, run, |world| body_rows(world))
}

/// The query is dropped before its world.
struct Queried<Q> {
    query: Q,
    world: World,
}

fn positions(world: &World) -> u64 {
    let mut rows = Vec::new();
    world.new_query::<&Position>().each(|position| rows.push(position.row()));
    of_rows(rows)
}

fn movers(size: usize) -> (World, Vec<Entity>) {
    let world = World::new();
    let positions: Vec<_> = (0..size).map(Position::nth).collect();
    let velocities: Vec<_> = (0..size).map(Velocity::nth).collect();
    let entities = world.entity_bulk(size as u32).set(&positions).set(&velocities).build();
    (world, entities)
}

fn simple_iter() -> Contender {
    Contender::steady(
        EACH,
        || {
            let world = movers(MANY).0;
            let query = world.query::<(&mut Position, &Velocity)>().set_cached().build();
            Queried { query, world }
        },
        |state| {
            state.query.each(|(position, velocity)| {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            });
        },
        |state| positions(&state.world),
    )
}

fn simple_iter_run() -> Contender {
    Contender::steady(
        RUN,
        || {
            let world = movers(MANY).0;
            let query = world.query::<(&mut Position, &Velocity)>().set_cached().build();
            Queried { query, world }
        },
        |state| {
            state.query.run(|mut it| {
                while it.next() {
                    let mut positions = it.field_mut::<Position>(0);
                    let velocities = it.field::<Velocity>(1);
                    for i in it.iter() {
                        positions[i].x += velocities[i].x * DT;
                        positions[i].y += velocities[i].y * DT;
                        positions[i].z += velocities[i].z * DT;
                    }
                }
            });
        },
        |state| positions(&state.world),
    )
}

fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        EACH,
        || {
            let world = World::new();
            let places: Vec<_> = (0..MILLION).map(Place::nth).collect();
            let speeds: Vec<_> = (0..MILLION).map(Speed::nth).collect();
            world.entity_bulk(MILLION as u32).set(&places).set(&speeds).build();
            let query = world.query::<(&mut Place, &Speed)>().set_cached().build();
            Queried { query, world }
        },
        move |_| before(),
        |state| {
            state.query.each(|(place, speed)| {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            });
        },
        |state| {
            let mut rows = Vec::new();
            state.world.new_query::<&Place>().each(|place| rows.push(place.row()));
            of_rows(rows)
        },
    )
}

fn data_sum(world: &World) -> u64 {
    let mut values = Vec::new();
    world.new_query::<&Data>().each(|data| values.push(data.0));
    of_floats(values)
}

fn add_to_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        EACH,
        move || {
            let world = setup();
            let query = world.query::<&mut Data>().set_cached().build();
            Queried { query, world }
        },
        |state| state.query.each(|data| data.0 += 1.0),
        |state| data_sum(&state.world),
    )
}

fn run_over_data(setup: impl Fn() -> World + Copy + 'static) -> Contender {
    Contender::steady(
        RUN,
        move || {
            let world = setup();
            let query = world.query::<&mut Data>().set_cached().build();
            Queried { query, world }
        },
        |state| {
            state.query.run(|mut it| {
                while it.next() {
                    let mut data = it.field_mut::<Data>(0);
                    for i in it.iter() {
                        data[i].0 += 1.0;
                    }
                }
            });
        },
        |state| data_sum(&state.world),
    )
}

fn fragmented_world() -> World {
    let world = World::new();
    let mut next = 0;
    macro_rules! spawn {
        ($($letter:ident)*) => {
            $(for _ in 0..PER_LETTER {
                world.entity().set($letter(0.0)).set(Data(scalar(next)));
                next += 1;
            })*
        };
    }
    shapes::for_each_letter!(spawn);
    world
}

fn wide_entities() -> (World, Vec<Entity>) {
    let world = World::new();
    let mut entities = Vec::new();
    for index in 0..WIDE_TABLES * PER_WIDE_TABLE {
        let entity = world.entity().set(Data(scalar(index)));
        macro_rules! add {
            ($tag:ident) => {
                entity.add($tag::id())
            };
        }
        shapes::for_each_tag!(index / PER_WIDE_TABLE, add);
        entities.push(entity.id());
    }
    (world, entities)
}

fn wide_world() -> World {
    wide_entities().0
}

/// A cached reference per entity, made before. References borrow their world, which is therefore never freed.
fn random_get() -> Contender {
    struct Lookup {
        references: Vec<CachedRef<'static, Position>>,
        order: Vec<usize>,
        sum: u64,
    }
    Contender::steady(
        ("flecs", "cached ref"),
        || {
            let (world, entities) = movers(LOOKUPS);
            let world: &'static World = Box::leak(Box::new(world));
            let reference = |&entity: &Entity| world.entity_from_id(entity).cached_ref(Position::id());
            Lookup { references: entities.iter().map(reference).collect(), order: lookups(), sum: 0 }
        },
        |Lookup { references, order, sum }| {
            let x = |&at: &usize| references[at].try_get(|position| position.x);
            *sum = total(order.iter().filter_map(x));
        },
        |state| state.sum,
    )
}

fn random_get_world() -> Contender {
    Contender::steady(
        NAME,
        || {
            let (world, entities) = movers(LOOKUPS);
            let order: Vec<Entity> = lookups().into_iter().map(|at| entities[at]).collect();
            (world, order, 0)
        },
        |(world, order, sum)| {
            let x =
                |&entity: &Entity| world.entity_from_id(entity).try_get::<&Position>(|position| position.x);
            *sum = total(order.iter().filter_map(x));
        },
        |(_, _, sum)| *sum,
    )
}

fn random_get_mut_world() -> Contender {
    Contender::steady(
        NAME,
        || {
            let (world, entities) = movers(LOOKUPS);
            let order: Vec<Entity> = lookups().into_iter().map(|at| entities[at]).collect();
            (world, order)
        },
        |(world, order)| {
            for &entity in order.iter() {
                world.entity_from_id(entity).try_get::<&mut Position>(|position| position.x += 1.0);
            }
        },
        |(world, _)| positions(world),
    )
    .plain()
}

fn group_iter() -> Contender {
    Contender::steady(
        EACH,
        || {
            let world = World::new();
            for index in 0..HUNDRED_THOUSAND {
                let value = scalar(index);
                let entity = world.entity().set(A(value));
                if index % 2 == 0 {
                    entity.set(B(value));
                }
                if index % 4 == 0 {
                    entity.set(C(0.5));
                }
            }
            let query = world.query::<(&mut A, &B, &C)>().set_cached().build();
            Queried { query, world }
        },
        |state| state.query.each(|(a, b, c)| a.0 += b.0 * c.0),
        |state| {
            let mut values = Vec::new();
            state.world.new_query::<&A>().each(|a| values.push(a.0));
            of_floats(values)
        },
    )
}
