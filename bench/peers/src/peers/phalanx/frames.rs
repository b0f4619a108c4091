//! Systems through a schedule: on the calling thread, and on several.

use ::phalanx::prelude::*;
use ::phalanx::schedule::Schedule;

use super::LIBRARY;
use super::table::{A, B, C, D, E, F, G, H, I, J};
use crate::checksum::of_rows;
use crate::contender::Contender;
use crate::shapes::{self, scalar};
use crate::workload::{EMPTY_SYSTEMS, HUNDRED_THOUSAND, MANY};

fn name(threads: bool) -> (&'static str, &'static str) {
    (LIBRARY, if threads { "threads" } else { "serial" })
}

fn plan(threads: bool) -> Schedule {
    let mut schedule = Schedule::default();
    schedule.set_threads(if threads { Threads::Auto } else { Threads::Serial });
    schedule
}

fn ab(mut query: Query<(&mut A, &mut B)>) {
    query.iter_mut().for_each(|(mut a, mut b)| std::mem::swap(&mut a.0, &mut b.0));
}

fn cd(mut query: Query<(&mut C, &mut D)>) {
    query.iter_mut().for_each(|(mut c, mut d)| std::mem::swap(&mut c.0, &mut d.0));
}

fn ce(mut query: Query<(&mut C, &mut E)>) {
    query.iter_mut().for_each(|(mut c, mut e)| std::mem::swap(&mut c.0, &mut e.0));
}

fn plain_ab(mut query: Query<(&mut A, &mut B)>) {
    for (mut a, mut b) in &mut query {
        std::mem::swap(&mut a.0, &mut b.0);
    }
}

fn plain_cd(mut query: Query<(&mut C, &mut D)>) {
    for (mut c, mut d) in &mut query {
        std::mem::swap(&mut c.0, &mut d.0);
    }
}

fn plain_ce(mut query: Query<(&mut C, &mut E)>) {
    for (mut c, mut e) in &mut query {
        std::mem::swap(&mut c.0, &mut e.0);
    }
}

pub fn schedule(threads: bool) -> Contender {
    swaps(name(threads), threads, |schedule| {
        schedule.add_systems((ab, cd, ce));
    })
}

/// The same with a `for` over the rows in each system.
pub fn plain_schedule(threads: bool) -> Contender {
    let name = (LIBRARY, if threads { "plain threads" } else { "plain" });
    swaps(name, threads, |schedule| {
        schedule.add_systems((plain_ab, plain_cd, plain_ce));
    })
    .plain()
}

fn swaps(
    name: (&'static str, &'static str),
    threads: bool,
    add: impl Fn(&mut Schedule) + Copy + 'static,
) -> Contender {
    Contender::steady(
        name,
        move || {
            let mut world = World::new();
            for i in 0..MANY {
                let (a, b, c) = (A(scalar(i)), B(scalar(i + 1)), C(scalar(i + 2)));
                world.spawn((a, b));
                world.spawn((a, b, c));
                world.spawn((a, b, c, D(scalar(i + 3))));
                world.spawn((a, b, c, E(scalar(i + 4))));
            }
            let mut schedule = plan(threads);
            add(&mut schedule);
            (world, schedule)
        },
        |(world, schedule)| schedule.run(world),
        |(world, _)| {
            let query = world.view::<(&A, &B, Option<&C>, Option<&D>, Option<&E>)>();
            of_rows(query.iter().map(|(a, b, c, d, e)| {
                [a.0, b.0, c.map_or(-1.0, |c| c.0), d.map_or(-1.0, |d| d.0), e.map_or(-1.0, |e| e.0)]
            }))
        },
    )
}

pub fn empty(threads: bool) -> Contender {
    Contender::steady(
        name(threads),
        move || {
            let world = World::new();
            let mut schedule = plan(threads);
            for _ in 0..EMPTY_SYSTEMS {
                schedule.add_systems(|| ());
            }
            (world, schedule)
        },
        |(world, schedule)| schedule.run(world),
        |_| 0,
    )
}

/// A whole frame of an app: all phases, time, messages.
pub fn empty_app() -> Contender {
    Contender::steady(
        (LIBRARY, "app"),
        || {
            let mut app = App::new();
            for _ in 0..EMPTY_SYSTEMS {
                app.add_systems(Update, || ());
            }
            app.startup();
            app
        },
        |app| app.step(1.0 / 60.0),
        |_| 0,
    )
}

pub fn frame(threads: bool) -> Contender {
    Contender::steady(
        name(threads),
        move || {
            let mut world = World::new();
            let at = |index: usize, shift: usize| scalar(index + shift);
            world.spawn_batch((0..HUNDRED_THOUSAND).map(|i| {
                let first = (A(at(i, 0)), B(at(i, 1)), C(at(i, 2)), D(at(i, 3)), E(at(i, 4)));
                (first, F(at(i, 5)), G(at(i, 6)), H(at(i, 7)), I(at(i, 8)), J(at(i, 9)))
            }));
            let mut schedule = plan(threads);
            macro_rules! add {
                ($(($own:ident $other:ident))*) => {
                    $(schedule.add_systems(|mut query: Query<(&mut $own, &$other)>| {
                        query.iter_mut().for_each(|(mut own, other)| own.0 = own.0 * 0.5 + other.0);
                    });)*
                };
            }
            shapes::for_each_frame_pair!(add);
            (world, schedule)
        },
        |(world, schedule)| schedule.run(world),
        |(world, _)| {
            let query = world.view::<(&A, &B, &C, &D, &E, &F, &G, &H, &I, &J)>();
            of_rows(
                query
                    .iter()
                    .map(|(a, b, c, d, e, f, g, h, i, j)| [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0, i.0, j.0]),
            )
        },
    )
}
