//! What ranks cost: boids in one world, and on two ranks, by the processor time of the whole process.
//!
//! `cargo run --release --no-default-features --example cost [agents] [frames]`. Ranks are threads here, which sleep while
//! they wait, so that processor time is work and nothing else. Runs take turns, and the ratio of their sums is printed.

#[path = "cluster/models.rs"]
#[allow(dead_code)]
mod models;

use models::{Model, app_in, cluster_in, populate_in};
use phalanx_mpi::{ClusterStats, run_local};

/// The processor time of this process so far, in hundredths of a second.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux tells the time of processes");
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields[11..=12].iter().filter_map(|field| field.parse::<f64>().ok()).sum()
}

/// Runs boids, and returns the processor time of its frames and what the ranks did.
fn run(ranks: usize, agents: u64, frames: u64) -> (f64, Vec<ClusterStats>) {
    // About one agent per unit of space.
    let side = (agents as f64).sqrt().round();
    #[allow(clippy::cast_possible_truncation)]
    let (side, cells) = (side as f32, (side / 2.0) as usize);
    let ends = run_local(ranks, |transport| {
        let mut app = app_in(Model::Boids, side);
        let mut cluster = cluster_in(Model::Boids, transport, agents, side, cells.clamp(2, 512));
        populate_in(Model::Boids, &cluster, app.world_mut(), agents, |_| side);
        // The first frames make archetypes and ghosts.
        let mut begun = 0.0;
        for frame in 0..frames + 2 {
            if frame == 2 {
                begun = processor_time();
            }
            cluster.exchange(app.world_mut()).expect("all ranks are threads of this process");
            app.step(0.02);
        }
        // All ranks are here before any of them looks at the clock.
        cluster.digest(app.world()).expect("all ranks are threads of this process");
        (processor_time() - begun, cluster.stats())
    });
    let time = ends.iter().map(|(time, _)| *time).fold(0.0, f64::max);
    (time, ends.into_iter().map(|(_, stats)| stats).collect())
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (agents, frames) = (arguments.next().unwrap_or(200_000), arguments.next().unwrap_or(8));
    let (mut one, mut two) = (0.0, 0.0);
    let mut stats = Vec::new();
    for _ in 0..3 {
        one += run(1, agents, frames).0;
        let (time, last) = run(2, agents, frames);
        two += time;
        stats = last;
    }
    let half = run(1, agents / 2, frames).0;
    let whole = run(2, agents, frames).0;
    let sum = |of: fn(&ClusterStats) -> u64| stats.iter().map(of).sum::<u64>();
    let (migrated, bytes) = (sum(|stats| stats.migrated), sum(|stats| stats.migrated_bytes));
    println!("{agents} agents, {frames} frames: processor time on 2 ranks / in one world: {:.3}", two / one);
    println!(
        "weak scaling, {agents} agents on 2 ranks / twice half as many on one: {:.3}",
        whole / (2.0 * half)
    );
    let columns = (migrated * 24).max(1);
    println!("{migrated} migrants in {bytes} bytes, {:.3} of their columns", bytes as f64 / columns as f64);
    let (ghosts, bytes) = (sum(|stats| stats.ghosts_sent), sum(|stats| stats.ghost_bytes));
    println!("{ghosts} ghosts in {bytes} bytes");
}
