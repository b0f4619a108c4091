//! Loops by hand over vectors: what the compiler makes of them without a library.

use std::hint::black_box;

use crate::Line;
use crate::body::{self, ROWS, advance};

body::components!();

/// The lines of this module.
pub fn lines() -> Vec<Line> {
    vec![
        Line { case: "move", line: "hand", run: moves },
        Line { case: "add", line: "hand", run: adds },
        Line { case: "move_for_each", line: "hand", run: moves },
        Line { case: "add_for_each", line: "hand", run: adds },
        Line { case: "move_chunks", line: "hand", run: moves },
        Line { case: "add_chunks", line: "hand", run: adds },
    ]
}

fn moves(iterations: usize) -> f64 {
    let mut positions: Vec<Position> = (0..ROWS).map(Position::nth).collect();
    let velocities: Vec<Velocity> = (0..ROWS).map(Velocity::nth).collect();
    for _ in 0..iterations {
        for (position, velocity) in black_box(&mut positions).iter_mut().zip(&velocities) {
            advance!(position, velocity);
        }
    }
    positions.iter().map(|position| f64::from(position.x + position.y + position.z)).sum()
}

fn adds(iterations: usize) -> f64 {
    let mut a: Vec<A> = (0..ROWS).map(|index| A((index % 1000) as f32)).collect();
    let b: Vec<B> = vec![B(1.0); ROWS];
    for _ in 0..iterations {
        for (a, b) in black_box(&mut a).iter_mut().zip(&b) {
            a.0 += b.0;
        }
    }
    a.iter().map(|a| f64::from(a.0)).sum()
}
