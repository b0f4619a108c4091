//! hecs: prepared queries.

use std::hint::black_box;

use hecs::{PreparedQuery, Satisfies, With, World};

use crate::Line;
use crate::body::{
    self, ROWS, advance, advance_unless, advance_with_drag, filtered, spawn_filtered, spawn_tables,
};

body::components!();

/// The lines of this module.
pub fn lines() -> Vec<Line> {
    /// A line whose loop is a `for` over a prepared query.
    macro_rules! line {
        ($case:literal, $setup:ident, $query:ty, $sum:ident, $item:pat => $body:expr) => {
            Line {
                case: $case,
                line: "hecs",
                run: |iterations| {
                    let mut world = $setup();
                    let mut query = PreparedQuery::<$query>::new();
                    for _ in 0..iterations {
                        for $item in query.query_mut(black_box(&mut world)) {
                            $body;
                        }
                    }
                    $sum(&mut world)
                },
            }
        };
    }
    vec![
        line!("move", movers, (&mut Position, &Velocity), moved, (p, v) => advance!(p, v)),
        line!("add", letters, (&mut A, &B), added, (a, b) => a.0 += b.0),
        line!("with", rich, With<(&mut Position, &Velocity), &Marked>, moved, (p, v) => advance!(p, v)),
        line!(
            "option", rich, (&mut Position, &Velocity, Option<&Drag>), moved,
            (p, v, drag) => advance_with_drag!(p, v, drag)
        ),
        line!(
            "has", rich, (&mut Position, &Velocity, Satisfies<&Frozen>), moved,
            (p, v, frozen) => advance_unless!(p, v, frozen)
        ),
        line!(
            "with_option_has", rich, With<(&mut A, &B, Option<&Drag>, Satisfies<&Frozen>), &Marked>, added,
            (a, b, drag, frozen) => filtered!(a, b, drag, frozen)
        ),
        line!("tables", tables, (&mut A, &B), added, (a, b) => a.0 += b.0),
        Line { case: "move_for_each", line: "hecs", run: move_for_each },
        Line { case: "add_for_each", line: "hecs", run: add_for_each },
    ]
}

fn movers() -> World {
    let mut world = World::new();
    world.spawn_batch((0..ROWS).map(|index| (Position::nth(index), Velocity::nth(index))));
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
            $world.insert_one($entity, $value).expect("alive")
        };
    }
    spawn_tables!(world, insert);
    world
}

fn moved(world: &mut World) -> f64 {
    world.query_mut::<&Position>().into_iter().map(|p| f64::from(p.x + p.y + p.z)).sum()
}

fn added(world: &mut World) -> f64 {
    world.query_mut::<&A>().into_iter().map(|a| f64::from(a.0)).sum()
}

fn move_for_each(iterations: usize) -> f64 {
    let mut world = movers();
    let mut query = PreparedQuery::<(&mut Position, &Velocity)>::new();
    for _ in 0..iterations {
        query.query_mut(black_box(&mut world)).for_each(|(p, v)| advance!(p, v));
    }
    moved(&mut world)
}

fn add_for_each(iterations: usize) -> f64 {
    let mut world = letters();
    let mut query = PreparedQuery::<(&mut A, &B)>::new();
    for _ in 0..iterations {
        query.query_mut(black_box(&mut world)).for_each(|(a, b)| a.0 += b.0);
    }
    added(&mut world)
}
