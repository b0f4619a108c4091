//! What an export of 1,000,000 rows and 6 plain columns costs beside copying the same bytes.
//!
//! `cargo run --release --example export_cost`. Both are measured in turns within one run, and the ratio of the least times is
//! printed: with the column of ids, and without it, and of a checkpoint, of which no number is copied. The copy allocates its
//! memory anew each time, as an export does. With `--check` a ratio above 1.2 is an error.

use std::hint::black_box;
use std::time::{Duration, Instant};

use phalanx::prelude::*;
use phalanx_arrow::{ArrowTypes, Export};

#[derive(Component, Clone)]
#[component(layout = "soa")]
struct Body {
    x: f32,
    y: f32,
    z: f32,
    vx: f32,
    vy: f32,
    vz: f32,
}

const ROWS: u16 = 1000;

/// The least of many: on a busy machine the others measure what else runs.
fn least(times: Vec<Duration>) -> f64 {
    times.into_iter().min().unwrap_or_default().as_secs_f64()
}

fn main() {
    let mut world = World::new();
    for _ in 0..1000 {
        world
            .spawn_batch((0..ROWS).map(|at| {
                let x = f32::from(at);
                Body { x, y: x, z: x, vx: x, vy: x, vz: x }
            }))
            .count();
    }
    let types = ArrowTypes::new();
    let checkpoint = world.checkpoint();
    let id = world.component_id::<Body>().expect("it was spawned");
    let table = world.query_builder().with(id).build();
    let columns: Vec<&[f32]> = table
        .tables(&world)
        .flat_map(|table| ["x", "y", "z", "vx", "vy", "vz"].map(|field| table.column(id, field)))
        .collect::<Result<_, _>>()
        .expect("the fields are columns");
    let ids: Vec<u64> = table.entities(&world).map(Entity::to_bits).collect();
    let mut times: [Vec<Duration>; 5] = Default::default();
    for _ in 0..101 {
        let mut measure = |at: usize, work: &dyn Fn()| {
            let start = Instant::now();
            work();
            times[at].push(start.elapsed());
        };
        let copy = || -> Vec<Vec<f32>> { columns.iter().map(|column| column.to_vec()).collect() };
        measure(0, &|| drop(black_box(copy())));
        measure(1, &|| drop(black_box(Export::new(&types).entities(false).run(&world))));
        measure(2, &|| drop(black_box((copy(), ids.clone()))));
        measure(3, &|| drop(black_box(Export::new(&types).run(&world))));
        let shared = Export::new(&types).entities(false);
        measure(4, &|| drop(black_box(shared.run_checkpoint(&world, &checkpoint))));
    }
    let [copy, export, copy_ids, export_ids, shared] = times.map(least);
    println!("6 columns:          copy {:.2} ms, export {:.2} ms", copy * 1e3, export * 1e3);
    println!("6 columns and ids:  copy {:.2} ms, export {:.2} ms", copy_ids * 1e3, export_ids * 1e3);
    println!("of a checkpoint:    export {:.2} ms, in batches of 1,024 rows", shared * 1e3);
    let (plain, ids) = (export / copy, export_ids / copy_ids);
    println!("ratio {plain:.2}, with ids {ids:.2}, of a checkpoint {:.2}", shared / copy);
    if std::env::args().any(|argument| argument == "--check") && plain.max(ids) > 1.2 {
        eprintln!("an export may take 1.2 times as long as a copy");
        std::process::exit(1);
    }
}
