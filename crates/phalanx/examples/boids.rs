//! A flock: fields as columns, a grid that is sorted once per frame, and steering in parallel.
//!
//! Each boid looks at its neighbours and steers by three rules: keep apart, fly the same way, stay together. Positions and
//! velocities have a column per field, so the loops that move and wrap are plain slices. Neighbours are found by
//! a grid in a resource, rebuilt in each frame by counting. Steering is the heavy part: it reads the grid and writes one
//! component, row by row on all threads, and gives the same result for any number of them.
//!
//! Run with `cargo run --release --example boids`; `-- 5000 600` asks for 5,000 boids and 600 frames.

#![allow(clippy::cast_possible_truncation, reason = "places become cells of a small grid")]

use phalanx::prelude::*;

/// The world is a square that continues on the other side.
const SIDE: f32 = 64.0;
const CELLS: usize = 16;
const CELL: f32 = SIDE / CELLS as f32;
const SIGHT: f32 = CELL;
const TOO_CLOSE: f32 = 1.5;
const SPEED: f32 = 6.0;

#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f32,
}

/// Where to, worked out by `steer` and used by `turn`.
#[derive(Component, Clone, Copy, Default)]
#[component(layout = "soa")]
struct Steering {
    x: f32,
    y: f32,
}

/// What neighbours see of a boid.
#[derive(Clone, Copy, Default)]
struct Seen {
    x: f32,
    y: f32,
    dx: f32,
    dy: f32,
}

/// All boids, sorted by cell: those of cell `c` are `boids[starts[c]..starts[c + 1]]`.
#[derive(Resource)]
struct Grid {
    starts: Vec<usize>,
    boids: Vec<Seen>,
}

impl Default for Grid {
    fn default() -> Self {
        Self { starts: vec![0; CELLS * CELLS + 1], boids: Vec::new() }
    }
}

fn cell(x: f32, y: f32) -> usize {
    let part = |value: f32| ((value / CELL) as usize).min(CELLS - 1);
    part(y) * CELLS + part(x)
}

impl Grid {
    /// Sorts by counting: how many are in each cell, where each cell begins, then every boid goes to its place.
    fn rebuild(&mut self, boids: &[Seen]) {
        self.starts.fill(0);
        for boid in boids {
            self.starts[cell(boid.x, boid.y) + 1] += 1;
        }
        for c in 1..self.starts.len() {
            self.starts[c] += self.starts[c - 1];
        }
        let mut next = self.starts.clone();
        self.boids.resize(boids.len(), Seen::default());
        for boid in boids {
            let place = &mut next[cell(boid.x, boid.y)];
            self.boids[*place] = *boid;
            *place += 1;
        }
    }

    /// The boids of the nine cells around a place.
    fn near(&self, x: f32, y: f32) -> impl Iterator<Item = &Seen> {
        let own = cell(x, y);
        let (row, column) = (own / CELLS, own % CELLS);
        let wrap = |at: usize, step: usize| (at + CELLS + step - 1) % CELLS;
        (0..9).flat_map(move |n| {
            let c = wrap(row, n / 3) * CELLS + wrap(column, n % 3);
            &self.boids[self.starts[c]..self.starts[c + 1]]
        })
    }
}

/// The shortest way between two places of a world that continues on the other side.
fn way(from: f32, to: f32) -> f32 {
    let straight = to - from;
    if straight > SIDE / 2.0 {
        straight - SIDE
    } else if straight < -SIDE / 2.0 {
        straight + SIDE
    } else {
        straight
    }
}

fn index(mut grid: ResMut<Grid>, boids: Query<(&Position, &Velocity)>, mut seen: Local<Vec<Seen>>) {
    seen.clear();
    for (position, velocity) in boids.chunks() {
        for i in 0..position.len() {
            let (x, y) = (position.x[i], position.y[i]);
            seen.push(Seen { x, y, dx: velocity.x[i], dy: velocity.y[i] });
        }
    }
    grid.rebuild(&seen);
}

fn steer(grid: Res<Grid>, mut boids: Query<(&Position, &Velocity, &mut Steering)>) {
    boids.par_iter_mut().for_each(|(position, velocity, steering)| {
        let (x, y) = (*position.x, *position.y);
        let (mut apart, mut same, mut centre, mut count) = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0), 0.0_f32);
        for other in grid.near(x, y) {
            let (dx, dy) = (way(x, other.x), way(y, other.y));
            let distance = (dx * dx + dy * dy).sqrt();
            if distance == 0.0 || distance > SIGHT {
                continue; // the boid itself, or too far away to be seen
            }
            if distance < TOO_CLOSE {
                apart = (apart.0 - dx / distance, apart.1 - dy / distance);
            }
            same = (same.0 + other.dx, same.1 + other.dy);
            centre = (centre.0 + dx, centre.1 + dy);
            count += 1.0;
        }
        let many = count.max(1.0);
        let blend = |apart: f32, same: f32, centre: f32, own: f32| {
            2.0 * apart + 0.8 * (same / many - own * count.min(1.0)) + 0.3 * centre / many
        };
        *steering.x = blend(apart.0, same.0, centre.0, *velocity.x);
        *steering.y = blend(apart.1, same.1, centre.1, *velocity.y);
    });
}

/// Slices of equal length: the compiler uses vector instructions here.
fn turn(time: Res<Time>, mut boids: Query<(&mut Velocity, &Steering)>) {
    let dt = time.delta_secs();
    for (velocity, steering) in boids.chunks_mut() {
        for i in 0..velocity.len() {
            let (x, y) = (velocity.x[i] + steering.x[i] * dt, velocity.y[i] + steering.y[i] * dt);
            let scale = SPEED / (x * x + y * y).sqrt().max(0.01);
            velocity.x[i] = x * scale;
            velocity.y[i] = y * scale;
        }
    }
}

fn fly(time: Res<Time>, mut boids: Query<(&mut Position, &Velocity)>) {
    let dt = time.delta_secs();
    for (position, velocity) in boids.chunks_mut() {
        for i in 0..position.len() {
            position.x[i] = (position.x[i] + velocity.x[i] * dt).rem_euclid(SIDE);
            position.y[i] = (position.y[i] + velocity.y[i] * dt).rem_euclid(SIDE);
        }
    }
}

/// How much the flock agrees: 0 when all fly at random, 1 when all fly the same way.
fn agreement(world: &World) -> f32 {
    let sum = world
        .view::<&Velocity>()
        .into_iter()
        .fold((0.0, 0.0), |(x, y), velocity| (x + velocity.x, y + velocity.y));
    let count = world.view::<&Velocity>().count() as f32;
    (sum.0 * sum.0 + sum.1 * sum.1).sqrt() / (count * SPEED)
}

/// A picture of 64 by 32 characters: the more boids, the heavier the mark.
fn picture(world: &World) -> String {
    let mut counts = [[0_usize; 64]; 32];
    for position in world.view::<&Position>() {
        let (row, column) = ((*position.y / SIDE * 32.0) as usize, (*position.x / SIDE * 64.0) as usize);
        counts[row.min(31)][column.min(63)] += 1;
    }
    let mark = |count: usize| [' ', '.', ':', '+', '#'][count.min(4)];
    counts.iter().map(|row| row.iter().map(|&count| mark(count)).collect::<String>() + "\n").collect()
}

fn flock(boids: usize, threads: Threads) -> App {
    let mut app = App::new();
    app.configure(AppConfig { threads, ..Default::default() });
    app.init_resource::<Grid>();
    app.add_systems(Update, (index, steer, turn, fly).chain());
    // A number generator of three lines: the same flock every time.
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1_u64 << 24) as f32
    };
    app.world_mut().spawn_batch((0..boids).map(|_| {
        let angle = random() * std::f32::consts::TAU;
        let velocity = Velocity { x: SPEED * angle.cos(), y: SPEED * angle.sin() };
        (Position { x: random() * SIDE, y: random() * SIDE }, velocity, Steering::default())
    }));
    app
}

fn main() {
    let mut numbers =
        std::env::args().skip(1).map(|text| text.parse().expect("a number of boids, and of frames"));
    let (boids, frames) = (numbers.next().unwrap_or(800), numbers.next().unwrap_or(240));
    let mut app = flock(boids, Threads::Auto);
    let before = agreement(app.world());
    for _ in 0..frames {
        app.step(1.0 / 30.0);
    }
    let after = agreement(app.world());
    print!("{}", picture(app.world()));
    println!("{boids} boids, {frames} frames: agreement {before:.2} at first, {after:.2} now");

    // The same flock on one thread, compared bit for bit.
    let mut alone = flock(boids, Threads::Serial);
    for _ in 0..frames {
        alone.step(1.0 / 30.0);
    }
    assert_eq!(agreement(alone.world()).to_bits(), after.to_bits(), "threads change nothing");
}
