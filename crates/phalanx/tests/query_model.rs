//! Random filters over random worlds give the naive answer, in the documented order, however they are asked.
//!
//! A history of random structural changes runs on a real world and on a naive one of ordered maps and plain
//! vectors. In between, queries out of a table of types and queries built at run time are evaluated naively,
//! entity by entity, and compared with rows, folds, tables, chunks, count, contains, get, parallel and dynamic
//! iteration. The state that the world keeps, one kept outside and often asleep, and one built afresh must agree.
//!
//! `PHALANX_MODEL_STEPS` sets the number of steps in all (`full`: those of CI), `PHALANX_MODEL_SEED` one seed instead
//! of the usual ones. A failure tells its seed and step.
#![forbid(unsafe_code)]

mod common {
    pub mod cast;
    pub mod steps;
}
#[path = "query_naive/asked.rs"]
mod asked;
#[path = "query_naive/changes.rs"]
mod changes;
#[path = "query_naive/dynamic.rs"]
mod dynamic;
#[path = "query_naive/naive.rs"]
mod naive;
#[path = "query_naive/terms.rs"]
mod terms;

use changes::Run;
use common::steps::{model_steps, setting};

const SEEDS: u64 = 8;

// O-157 to O-160, O-167, O-185, O-188; Z-045, Z-050; hazards 26, 28, 34, 37, 40.
#[test]
fn random_queries_over_random_worlds_give_the_naive_answer() {
    let steps = model_steps(2_500, 16_000) as u64;
    let seeds = match setting("PHALANX_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..SEEDS.min(steps),
    };
    let share = steps / (seeds.end - seeds.start).max(1);
    let mut matched = 0;
    for seed in seeds {
        let mut run = Run::new(seed);
        run.steps(share);
        matched += run.matched();
    }
    assert!(matched > 0 || steps < 100, "no query ever matched anything: it tests nothing");
}
