//! Phalanx: a view from the world, a kept state, and a system through a schedule of one thread.

use std::hint::black_box;

use phalanx::prelude::*;
use phalanx::schedule::Schedule;

use crate::Line;
use crate::body::{
    self, ROWS, advance, advance_fields, advance_unless, advance_with_drag, filtered, spawn_filtered,
    spawn_tables,
};

body::components!(#[derive(Component)]);

/// Components with a column per field.
mod fields {
    use phalanx::prelude::*;

    crate::body::components!(@vector Position #[derive(Component)] #[component(layout = "soa")]);
    crate::body::components!(@vector Velocity #[derive(Component)] #[component(layout = "soa")]);
}

/// Components in sparse sets.
mod sparse {
    use phalanx::prelude::*;

    crate::body::components!(@vector Velocity #[derive(Component)] #[component(storage = "sparse")]);
}

/// The lines of this module.
pub fn lines() -> Vec<Line> {
    /// Three lines that run the same loop: in a view, over a kept state, and in a system.
    macro_rules! lines {
        ($case:literal, $setup:ident, $data:ty, $filter:ty, $sum:ident, $query:ident => $body:expr) => {
            [
                Line {
                    case: $case,
                    line: "view",
                    run: |iterations| {
                        let mut world = $setup();
                        for _ in 0..iterations {
                            let mut $query = black_box(&mut world).view_filtered_mut::<$data, $filter>();
                            $body;
                        }
                        $sum(&mut world)
                    },
                },
                Line {
                    case: $case,
                    line: "kept",
                    run: |iterations| {
                        let mut world = $setup();
                        let mut state = world.query_filtered::<$data, $filter>();
                        for _ in 0..iterations {
                            let mut $query = state.query_mut(black_box(&mut world));
                            $body;
                        }
                        $sum(&mut world)
                    },
                },
                Line {
                    case: $case,
                    line: "system",
                    run: |iterations| {
                        let mut world = $setup();
                        let mut schedule = Schedule::default();
                        schedule.set_threads(Threads::Serial);
                        schedule.add_systems(|mut $query: Query<$data, $filter>| {
                            $body;
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
    all.extend(lines!("move", movers, (&mut Position, &Velocity), (), moved, query => {
        for (mut p, v) in &mut query {
            advance!(p, v);
        }
    }));
    all.extend(lines!("add", letters, (&mut A, &B), (), added, query => {
        for (mut a, b) in &mut query {
            a.0 += b.0;
        }
    }));
    all.extend(lines!("with", rich, (&mut Position, &Velocity), With<Marked>, moved, query => {
        for (mut p, v) in &mut query {
            advance!(p, v);
        }
    }));
    all.extend(lines!("option", rich, (&mut Position, &Velocity, Option<&Drag>), (), moved, query => {
        for (mut p, v, drag) in &mut query {
            advance_with_drag!(p, v, drag);
        }
    }));
    all.extend(lines!("has", rich, (&mut Position, &Velocity, Has<Frozen>), (), moved, query => {
        for (mut p, v, frozen) in &mut query {
            advance_unless!(p, v, frozen);
        }
    }));
    all.extend(lines!(
        "with_option_has", rich, (&mut A, &B, Option<&Drag>, Has<Frozen>), With<Marked>, added,
        query => {
            for (mut a, b, drag, frozen) in &mut query {
                filtered!(a, b, drag, frozen);
            }
        }
    ));
    all.extend(lines!(
        "fields", field_movers, (&mut fields::Position, &fields::Velocity), (), moved_fields,
        query => {
            for (p, v) in &mut query {
                advance_fields!(p, v);
            }
        }
    ));
    all.extend(lines!("tables", tables, (&mut A, &B), (), added, query => {
        for (mut a, b) in &mut query {
            a.0 += b.0;
        }
    }));
    all.extend(lines!(
        "sparse_and_table", half_sparse, (&mut Position, &sparse::Velocity), (), moved,
        query => {
            for (mut p, v) in &mut query {
                advance!(p, v);
            }
        }
    ));
    all.extend(lines!("move_for_each", movers, (&mut Position, &Velocity), (), moved, query => {
        query.iter_mut().for_each(|(mut p, v)| advance!(p, v));
    }));
    all.extend(lines!("add_for_each", letters, (&mut A, &B), (), added, query => {
        query.iter_mut().for_each(|(mut a, b)| a.0 += b.0);
    }));
    all.extend(lines!("move_chunks", movers, (&mut Position, &Velocity), (), moved, query => {
        for (p, v) in query.chunks_mut() {
            for (p, v) in p.iter_mut().zip(v) {
                advance!(p, v);
            }
        }
    }));
    all.extend(lines!("add_chunks", letters, (&mut A, &B), (), added, query => {
        for (a, b) in query.chunks_mut() {
            for (a, b) in a.iter_mut().zip(b) {
                a.0 += b.0;
            }
        }
    }));
    all
}

fn movers() -> World {
    let mut world = World::new();
    world.spawn_batch((0..ROWS).map(|index| (Position::nth(index), Velocity::nth(index))));
    world
}

fn field_movers() -> World {
    let mut world = World::new();
    world.spawn_batch((0..ROWS).map(|index| (fields::Position::nth(index), fields::Velocity::nth(index))));
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
    world.view::<&Position>().iter().map(|p| f64::from(p.x + p.y + p.z)).sum()
}

fn moved_fields(world: &mut World) -> f64 {
    world.view::<&fields::Position>().iter().map(|p| f64::from(*p.x + *p.y + *p.z)).sum()
}

fn added(world: &mut World) -> f64 {
    world.view::<&A>().iter().map(|a| f64::from(a.0)).sum()
}
