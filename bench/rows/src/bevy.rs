//! bevy_ecs: kept query states, and systems through a schedule of one thread.

use std::hint::black_box;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;

use crate::Line;
use crate::body::{
    self, ROWS, advance, advance_unless, advance_with_drag, filtered, spawn_filtered, spawn_tables,
};

body::components!(#[derive(Component)]);

/// Components in sparse sets.
mod sparse {
    use bevy_ecs::prelude::*;

    crate::body::components!(@vector Velocity #[derive(Component)] #[component(storage = "SparseSet")]);
}

/// The lines of this module.
pub fn lines() -> Vec<Line> {
    /// Two lines whose loop is a `for`: over a kept state, and in a system.
    macro_rules! lines {
        ($case:literal, $setup:ident, $data:ty, $filter:ty, $sum:ident, $item:pat => $body:expr) => {
            [
                Line {
                    case: $case,
                    line: "bevy",
                    run: |iterations| {
                        let mut world = $setup();
                        let mut query = world.query_filtered::<$data, $filter>();
                        for _ in 0..iterations {
                            for $item in query.iter_mut(black_box(&mut world)) {
                                $body;
                            }
                        }
                        $sum(&mut world)
                    },
                },
                Line {
                    case: $case,
                    line: "bevy-system",
                    run: |iterations| {
                        let mut world = $setup();
                        let mut schedule = Schedule::default();
                        schedule.set_executor(SingleThreadedExecutor::new());
                        schedule.add_systems(|mut query: Query<$data, $filter>| {
                            for $item in &mut query {
                                $body;
                            }
                        });
                        for _ in 0..iterations {
                            schedule.run(black_box(&mut world));
                        }
                        $sum(&mut world)
                    },
                },
            ]
        };
    }
    let mut all = Vec::new();
    all.extend(lines!("move", movers, (&mut Position, &Velocity), (), moved, (mut p, v) => advance!(p, v)));
    all.extend(lines!("add", letters, (&mut A, &B), (), added, (mut a, b) => a.0 += b.0));
    all.extend(lines!(
        "with", rich, (&mut Position, &Velocity), With<Marked>, moved,
        (mut p, v) => advance!(p, v)
    ));
    all.extend(lines!(
        "option", rich, (&mut Position, &Velocity, Option<&Drag>), (), moved,
        (mut p, v, drag) => advance_with_drag!(p, v, drag)
    ));
    all.extend(lines!(
        "has", rich, (&mut Position, &Velocity, Has<Frozen>), (), moved,
        (mut p, v, frozen) => advance_unless!(p, v, frozen)
    ));
    all.extend(lines!(
        "with_option_has", rich, (&mut A, &B, Option<&Drag>, Has<Frozen>), With<Marked>, added,
        (mut a, b, drag, frozen) => filtered!(a, b, drag, frozen)
    ));
    all.extend(lines!("tables", tables, (&mut A, &B), (), added, (mut a, b) => a.0 += b.0));
    all.extend(lines!(
        "sparse_and_table", half_sparse, (&mut Position, &sparse::Velocity), (), moved,
        (mut p, v) => advance!(p, v)
    ));
    all.extend([
        Line { case: "move_for_each", line: "bevy", run: move_for_each },
        Line { case: "add_for_each", line: "bevy", run: add_for_each },
        Line { case: "move_chunks", line: "bevy", run: move_chunks },
        Line { case: "add_chunks", line: "bevy", run: add_chunks },
    ]);
    all
}

fn movers() -> World {
    let mut world = World::new();
    world.spawn_batch((0..ROWS).map(|index| (Position::nth(index), Velocity::nth(index))));
    world
}

fn half_sparse() -> World {
    let mut world = World::new();
    world.spawn_batch((0..ROWS).map(|index| (Position::nth(index), sparse::Velocity::nth(index))));
    world
}

fn letters() -> World {
    let mut world = World::new();
    world.spawn_batch((0..ROWS).map(|index| (A((index % 1000) as f32), B(1.0))));
    world
}

fn rich() -> World {
    let mut world = World::new();
    spawn_filtered!(world);
    world
}

fn tables() -> World {
    let mut world = World::new();
    macro_rules! insert {
        ($world:expr, $entity:expr, $value:expr) => {
            $entity.insert($value)
        };
    }
    spawn_tables!(world, insert);
    world
}

fn moved(world: &mut World) -> f64 {
    world.query::<&Position>().iter(world).map(|p| f64::from(p.x + p.y + p.z)).sum()
}

fn added(world: &mut World) -> f64 {
    world.query::<&A>().iter(world).map(|a| f64::from(a.0)).sum()
}

fn move_for_each(iterations: usize) -> f64 {
    let mut world = movers();
    let mut query = world.query::<(&mut Position, &Velocity)>();
    for _ in 0..iterations {
        query.iter_mut(black_box(&mut world)).for_each(|(mut p, v)| advance!(p, v));
    }
    moved(&mut world)
}

fn add_for_each(iterations: usize) -> f64 {
    let mut world = letters();
    let mut query = world.query::<(&mut A, &B)>();
    for _ in 0..iterations {
        query.iter_mut(black_box(&mut world)).for_each(|(mut a, b)| a.0 += b.0);
    }
    added(&mut world)
}

fn move_chunks(iterations: usize) -> f64 {
    let mut world = movers();
    let mut query = world.query::<(&mut Position, &Velocity)>();
    for _ in 0..iterations {
        for (mut p, v) in query.contiguous_iter_mut(black_box(&mut world)).expect("tables") {
            for (p, v) in p.iter_mut().zip(v) {
                advance!(p, v);
            }
        }
    }
    moved(&mut world)
}

fn add_chunks(iterations: usize) -> f64 {
    let mut world = letters();
    let mut query = world.query::<(&mut A, &B)>();
    for _ in 0..iterations {
        for (mut a, b) in query.contiguous_iter_mut(black_box(&mut world)).expect("tables") {
            for (a, b) in a.iter_mut().zip(b) {
                a.0 += b.0;
            }
        }
    }
    added(&mut world)
}
