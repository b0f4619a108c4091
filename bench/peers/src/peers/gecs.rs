//! gecs: archetypes fixed when the program is compiled. Components cannot come or go, there is neither a
//! scheduler nor parallel iteration nor change detection, and 1,000 archetypes are more than it allows (256): those
//! workloads have no line.

use ::gecs::prelude::*;

use super::limit::body_sum;
use crate::cache::evict;
use crate::checksum::{of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, Workload};

const NAME: (&str, &str) = ("gecs", "");

shapes::motion!();
shapes::flat_motion!();
shapes::letters!(; A B C D E Data);

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => vec![bodies::simple_insert()],
        Workload::InsertLoop => vec![bodies::insert_loop().plain()],
        Workload::SimpleIter => vec![movers::simple_iter()],
        Workload::IterCold => vec![flat::iter_1m(evict)],
        Workload::IterWarm => vec![flat::iter_1m(|| ())],
        Workload::FragmentedIter => vec![letters::fragmented_iter()],
        Workload::RandomGet => vec![movers::random_get().plain()],
        Workload::RandomGetWorld => vec![movers::random_get_world().plain()],
        Workload::RandomGetMut => vec![movers::random_get_mut()],
        Workload::RandomGetMutWorld => vec![movers::random_get_mut_world()],
        Workload::SpawnDespawn => vec![movers::spawn_despawn().plain()],
        Workload::Schedule => vec![swaps::schedule()],
        Workload::GroupIter => vec![groups::group_iter()],
        _ => vec![],
    }
}

mod bodies {
    use super::*;

    ecs_world! {
        ecs_archetype!(Bodies, dyn, Transform, Position, Rotation, Velocity);
    }

    fn fill(mut world: EcsWorld) -> EcsWorld {
        for i in 0..MANY {
            let body = (Transform::nth(i), Position::nth(i), Rotation::nth(i), Velocity::nth(i));
            world.create::<Bodies>(body);
        }
        world
    }

    fn sum(world: &mut EcsWorld) -> u64 {
        let mut rows = Vec::new();
        ecs_iter!(world, |m: &Transform, p: &Position, r: &Rotation, v: &Velocity| {
            rows.push((m.columns, p.row(), r.row(), v.row()));
        });
        body_sum(rows)
    }

    pub fn simple_insert() -> Contender {
        Contender::fresh(("gecs", "capacity"), || fill(EcsWorld::with_capacity(MANY)), sum)
    }

    pub fn insert_loop() -> Contender {
        Contender::fresh(NAME, || fill(EcsWorld::default()), sum)
    }
}

mod movers {
    use super::*;

    ecs_world! {
        ecs_archetype!(Movers, dyn, Position, Velocity);
    }

    fn filled(size: usize) -> (EcsWorld, Vec<Entity<Movers>>) {
        let mut world = EcsWorld::with_capacity(size);
        let create = |i| world.create::<Movers>((Position::nth(i), Velocity::nth(i)));
        let entities = (0..size).map(create).collect();
        (world, entities)
    }

    pub fn simple_iter() -> Contender {
        Contender::steady(
            NAME,
            || filled(MANY).0,
            |world| {
                ecs_iter!(world, |position: &mut Position, velocity: &Velocity| {
                    position.x += velocity.x * DT;
                    position.y += velocity.y * DT;
                    position.z += velocity.z * DT;
                });
            },
            |world| {
                let mut rows = Vec::new();
                ecs_iter!(world, |position: &Position| rows.push(position.row()));
                of_rows(rows)
            },
        )
    }

    struct Lookup<E> {
        world: EcsWorld,
        order: Vec<E>,
        sum: u64,
    }

    fn lookup<E: From<Entity<Movers>>>() -> Lookup<E> {
        let (world, entities) = filled(LOOKUPS);
        let order = lookups().into_iter().map(|at| entities[at].into()).collect();
        Lookup { world, order, sum: 0 }
    }

    pub fn random_get() -> Contender {
        Contender::steady(
            ("gecs", "archetype view"),
            lookup::<Entity<Movers>>,
            |Lookup { world, order, sum }| {
                let archetype = world.archetype_mut::<Movers>();
                let x = |&entity: &Entity<Movers>| archetype.view(entity).map(|view| view.position.x);
                *sum = total(order.iter().filter_map(x));
            },
            |state| state.sum,
        )
    }

    pub fn random_get_world() -> Contender {
        Contender::steady(
            ("gecs", "any entity"),
            lookup::<EntityAny>,
            |Lookup { world, order, sum }| {
                let x = |&entity: &EntityAny| ecs_find!(world, entity, |position: &Position| position.x);
                *sum = total(order.iter().filter_map(x));
            },
            |state| state.sum,
        )
    }

    fn writes<E: From<Entity<Movers>>>() -> (EcsWorld, Vec<E>) {
        let Lookup { world, order, .. } = lookup();
        (world, order)
    }

    fn positions(world: &mut EcsWorld) -> u64 {
        let mut rows = Vec::new();
        ecs_iter!(world, |position: &Position| rows.push(position.row()));
        of_rows(rows)
    }

    pub fn random_get_mut() -> Contender {
        Contender::steady(
            ("gecs", "archetype view"),
            writes::<Entity<Movers>>,
            |(world, order)| {
                let archetype = world.archetype_mut::<Movers>();
                for &entity in order.iter() {
                    if let Some(view) = archetype.view(entity) {
                        view.position.x += 1.0;
                    }
                }
            },
            |(world, _)| positions(world),
        )
        .plain()
    }

    pub fn random_get_mut_world() -> Contender {
        Contender::steady(
            ("gecs", "any entity"),
            writes::<EntityAny>,
            |(world, order)| {
                for &entity in order.iter() {
                    ecs_find!(world, entity, |position: &mut Position| position.x += 1.0);
                }
            },
            |(world, _)| positions(world),
        )
        .plain()
    }

    pub fn spawn_despawn() -> Contender {
        Contender::steady(
            NAME,
            || (EcsWorld::with_capacity(MANY), Vec::with_capacity(MANY)),
            |(world, entities)| {
                entities.clear();
                let create = |i| world.create::<Movers>((Position::nth(i), Velocity::nth(i)));
                entities.extend((0..MANY).map(create));
                for &entity in entities.iter() {
                    world.destroy(entity);
                }
            },
            |(world, entities)| of_counts(entities.len(), world.archetype::<Movers>().len()),
        )
    }
}

mod flat {
    use super::*;

    ecs_world! {
        ecs_archetype!(Flat, dyn, Place, Speed);
    }

    pub fn iter_1m(before: impl Fn() + Copy + 'static) -> Contender {
        Contender::staged(
            NAME,
            || {
                let mut world = EcsWorld::with_capacity(MILLION);
                for index in 0..MILLION {
                    world.create::<Flat>((Place::nth(index), Speed::nth(index)));
                }
                world
            },
            move |_| before(),
            |world| {
                ecs_iter!(world, |place: &mut Place, speed: &Speed| {
                    place.x += speed.x * DT;
                    place.y += speed.y * DT;
                });
            },
            |world| {
                let mut rows = Vec::new();
                ecs_iter!(world, |place: &Place| rows.push(place.row()));
                of_rows(rows)
            },
        )
    }
}

// Code that gecs makes: a capacity per archetype.
#[allow(clippy::too_many_arguments)]
mod letters {
    use super::*;

    // Code that gecs makes has a type parameter called `K`.
    shapes::letters!(;
        LetterA LetterB LetterC LetterD LetterE LetterF LetterG LetterH LetterI LetterJ LetterK LetterL
        LetterM LetterN LetterO LetterP LetterQ LetterR LetterS LetterT LetterU LetterV LetterW LetterX
        LetterY LetterZ
    );

    ecs_world! {
        ecs_archetype!(TableA, dyn, LetterA, Data);
        ecs_archetype!(TableB, dyn, LetterB, Data);
        ecs_archetype!(TableC, dyn, LetterC, Data);
        ecs_archetype!(TableD, dyn, LetterD, Data);
        ecs_archetype!(TableE, dyn, LetterE, Data);
        ecs_archetype!(TableF, dyn, LetterF, Data);
        ecs_archetype!(TableG, dyn, LetterG, Data);
        ecs_archetype!(TableH, dyn, LetterH, Data);
        ecs_archetype!(TableI, dyn, LetterI, Data);
        ecs_archetype!(TableJ, dyn, LetterJ, Data);
        ecs_archetype!(TableK, dyn, LetterK, Data);
        ecs_archetype!(TableL, dyn, LetterL, Data);
        ecs_archetype!(TableM, dyn, LetterM, Data);
        ecs_archetype!(TableN, dyn, LetterN, Data);
        ecs_archetype!(TableO, dyn, LetterO, Data);
        ecs_archetype!(TableP, dyn, LetterP, Data);
        ecs_archetype!(TableQ, dyn, LetterQ, Data);
        ecs_archetype!(TableR, dyn, LetterR, Data);
        ecs_archetype!(TableS, dyn, LetterS, Data);
        ecs_archetype!(TableT, dyn, LetterT, Data);
        ecs_archetype!(TableU, dyn, LetterU, Data);
        ecs_archetype!(TableV, dyn, LetterV, Data);
        ecs_archetype!(TableW, dyn, LetterW, Data);
        ecs_archetype!(TableX, dyn, LetterX, Data);
        ecs_archetype!(TableY, dyn, LetterY, Data);
        ecs_archetype!(TableZ, dyn, LetterZ, Data);
    }

    pub fn fragmented_iter() -> Contender {
        Contender::steady(
            NAME,
            || {
                let mut world = EcsWorld::default();
                let mut next = 0;
                macro_rules! fill {
                    ($($table:ident $letter:ident)*) => {
                        $(for _ in 0..PER_LETTER {
                            world.create::<$table>(($letter(0.0), Data(scalar(next))));
                            next += 1;
                        })*
                    };
                }
                fill!(TableA LetterA TableB LetterB TableC LetterC TableD LetterD TableE LetterE TableF LetterF TableG LetterG TableH LetterH TableI LetterI);
                fill!(TableJ LetterJ TableK LetterK TableL LetterL TableM LetterM TableN LetterN TableO LetterO TableP LetterP TableQ LetterQ TableR LetterR);
                fill!(TableS LetterS TableT LetterT TableU LetterU TableV LetterV TableW LetterW TableX LetterX TableY LetterY TableZ LetterZ);
                world
            },
            |world| {
                ecs_iter!(world, |data: &mut Data| data.0 += 1.0);
            },
            |world| {
                let mut values = Vec::new();
                ecs_iter!(world, |data: &Data| values.push(data.0));
                of_floats(values)
            },
        )
    }
}

mod groups {
    use super::*;

    ecs_world! {
        ecs_archetype!(OnlyA, dyn, A);
        ecs_archetype!(WithB, dyn, A, B);
        ecs_archetype!(WithC, dyn, A, B, C);
    }

    pub fn group_iter() -> Contender {
        Contender::steady(
            NAME,
            || {
                let mut world = EcsWorld::default();
                for index in 0..HUNDRED_THOUSAND {
                    let value = scalar(index);
                    match index % 4 {
                        0 => drop(world.create::<WithC>((A(value), B(value), C(0.5)))),
                        2 => drop(world.create::<WithB>((A(value), B(value)))),
                        _ => drop(world.create::<OnlyA>((A(value),))),
                    }
                }
                world
            },
            |world| {
                ecs_iter!(world, |a: &mut A, b: &B, c: &C| a.0 += b.0 * c.0);
            },
            |world| {
                let mut values = Vec::new();
                ecs_iter!(world, |a: &A| values.push(a.0));
                of_floats(values)
            },
        )
    }
}

mod swaps {
    use super::*;

    ecs_world! {
        ecs_archetype!(Ab, dyn, A, B);
        ecs_archetype!(Abc, dyn, A, B, C);
        ecs_archetype!(Abcd, dyn, A, B, C, D);
        ecs_archetype!(Abce, dyn, A, B, C, E);
    }

    pub fn schedule() -> Contender {
        Contender::steady(
            ("gecs", "no scheduler"),
            || {
                let mut world = EcsWorld::default();
                for i in 0..MANY {
                    let (a, b, c) = (A(scalar(i)), B(scalar(i + 1)), C(scalar(i + 2)));
                    world.create::<Ab>((a, b));
                    world.create::<Abc>((a, b, c));
                    world.create::<Abcd>((a, b, c, D(scalar(i + 3))));
                    world.create::<Abce>((a, b, c, E(scalar(i + 4))));
                }
                world
            },
            |world| {
                ecs_iter!(world, |a: &mut A, b: &mut B| std::mem::swap(&mut a.0, &mut b.0));
                ecs_iter!(world, |c: &mut C, d: &mut D| std::mem::swap(&mut c.0, &mut d.0));
                ecs_iter!(world, |c: &mut C, e: &mut E| std::mem::swap(&mut c.0, &mut e.0));
            },
            |world| {
                let mut rows: Vec<[f32; 5]> = Vec::new();
                let slices = world.archetype_mut::<Ab>().get_all_slices_mut();
                rows.extend((0..MANY).map(|i| [slices.a[i].0, slices.b[i].0, -1.0, -1.0, -1.0]));
                let slices = world.archetype_mut::<Abc>().get_all_slices_mut();
                rows.extend((0..MANY).map(|i| [slices.a[i].0, slices.b[i].0, slices.c[i].0, -1.0, -1.0]));
                ecs_iter!(world, |a: &A, b: &B, c: &C, d: &D| rows.push([a.0, b.0, c.0, d.0, -1.0]));
                ecs_iter!(world, |a: &A, b: &B, c: &C, e: &E| rows.push([a.0, b.0, c.0, -1.0, e.0]));
                of_rows(rows)
            },
        )
    }
}
