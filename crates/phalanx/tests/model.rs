//! Random structural histories agree with a naive world of ordered maps.
//!
//! Spawning, inserting, removing, taking, despawning, batches, whole archetypes, run-time components,
//! recorded commands, reserved, stale and made-up ids: each step does one of them to both worlds, lets the
//! real one check itself, and compares. A ledger proves that each value with drop glue is dropped once.
//!
//! `PHALANX_MODEL_STEPS` sets the number of steps in all (`full`: those of CI), `PHALANX_MODEL_SEED` one seed instead
//! of the usual ones. A failure tells its seed and step. The operations stand in a table in `model/operations.rs`,
//! the components in `model/parts.rs`.
#![forbid(unsafe_code)]

#[path = "model/ledger.rs"]
mod ledger;
#[path = "model/naive.rs"]
mod naive;
#[path = "model/operations.rs"]
mod operations;
#[path = "model/parts.rs"]
mod parts;
#[path = "model/queries.rs"]
mod queries;
#[path = "model/rng.rs"]
mod rng;
#[path = "model/run.rs"]
mod run;
#[path = "common/steps.rs"]
mod steps;

use operations::OPERATIONS;
use run::Run;
use steps::{model_steps, setting};

const SEEDS: u64 = 12;

/// From this many steps on, each operation must have done something.
const ENOUGH: u64 = 20_000;

// O-071, O-073, O-094, O-097, O-098, O-116, O-134, O-145, O-156; hazards 4 to 6, 8, 13, 14, 20, 24, 26, 27.
#[test]
fn random_histories_agree_with_the_naive_world() {
    let steps = model_steps(5_000, 30_000) as u64;
    let seeds = match setting("PHALANX_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..SEEDS.min(steps),
    };
    let share = steps / (seeds.end - seeds.start).max(1);
    let mut effects = vec![0; OPERATIONS.len()];
    for seed in seeds {
        let mut run = Run::new(seed);
        run.steps(share);
        for (sum, count) in effects.iter_mut().zip(run.finish()) {
            *sum += count;
        }
    }
    for (operation, count) in OPERATIONS.iter().zip(effects) {
        println!("{:>8} x {}", count, operation.name);
        assert!(count > 0 || steps < ENOUGH, "`{}` never did anything: it tests nothing", operation.name);
    }
}
