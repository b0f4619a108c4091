//! What ranks cost: boids in one world without ranks, and on ranks of MPI. `integrations/mpi/measure` runs it.
//!
//! ```text
//! cost world 200000 30                          one world, two threads, no exchange
//! mpirun -n 2 -x RAYON_NUM_THREADS=1 cost ranks 200000 30    two ranks, one thread each
//! mpirun -n 2 cost link                         latency and bandwidth of an exchange
//! ```
//!
//! Both run the same systems, and both make the index of neighbours in each frame. Printed are times per frame: by the
//! clock; of the processor, over all threads or ranks; and the same without the time within the transport, where ranks spin
//! while they wait. The last one says on a busy machine, too, how much work there is.

#[path = "cluster/models.rs"]
#[allow(dead_code)]
mod models;

use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use models::{Model, Position, SIGHT, app_in, cluster_in, populate_in};
use phalanx::prelude::*;
use phalanx::schedule::Threads;
use phalanx_mpi::{ClusterError, GlobalOrder, MpiTransport, Transport, run_mpi};

/// Frames that make archetypes and ghosts, and are not measured.
const FIRST: u64 = 2;

/// A transport that knows how much processor time was spent in it.
struct Timed {
    transport: MpiTransport,
    spent: f64,
}

impl Transport for Timed {
    fn rank(&self) -> usize {
        self.transport.rank()
    }

    fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, ClusterError> {
        let begun = ThreadTime::now();
        let received = self.transport.exchange(parts);
        self.spent += begun.elapsed().as_secs_f64();
        received
    }
}

/// About one agent per unit of space.
#[allow(clippy::cast_possible_truncation)]
fn side_of(agents: u64) -> (f32, usize) {
    let side = (agents as f64).sqrt().round();
    (side as f32, ((side / 2.0) as usize).clamp(2, 512))
}

fn boids(side: f32, threads: Threads) -> App {
    let mut app = app_in(Model::Boids, side);
    app.configure(AppConfig { threads, ..AppConfig::default() });
    app
}

fn world(agents: u64, frames: u64) {
    let (side, _) = side_of(agents);
    let mut app = boids(side, Threads::N(2));
    populate_in(Model::Boids, app.world_mut(), agents, |_| true, |_| side);
    let mut begun = (Instant::now(), ProcessTime::now());
    for frame in 0..frames + FIRST {
        if frame == FIRST {
            begun = (Instant::now(), ProcessTime::now());
        }
        GlobalOrder::refresh::<Position>(app.world_mut(), SIGHT);
        app.step(0.02);
    }
    let per_frame = |seconds: f64| seconds * 1e3 / frames as f64;
    let (clock, work) = (begun.0.elapsed().as_secs_f64(), begun.1.elapsed().as_secs_f64());
    let (clock, work) = (per_frame(clock), per_frame(work));
    println!("world agents {agents} clock {clock:.2} processor {work:.2} work {work:.2}");
}

fn ranks(transport: MpiTransport, agents: u64, frames: u64) -> Result<(), ClusterError> {
    let (side, cells) = side_of(agents);
    let (here, ranks) = (transport.rank(), transport.ranks());
    let mut app = boids(side, Threads::Serial);
    let mut cluster = cluster_in(Model::Boids, Timed { transport, spent: 0.0 }, agents, side, cells);
    populate_in(Model::Boids, app.world_mut(), agents, |place| cluster.owns(place), |_| side);
    let mut begun = (Instant::now(), ProcessTime::now(), 0.0);
    let mut first = cluster.stats();
    for frame in 0..frames + FIRST {
        if frame == FIRST {
            // At the start cells are handed out, and many agents move.
            first = cluster.stats();
            // All ranks are here before any of them looks at the clock.
            cluster.sum([])?;
            begun = (Instant::now(), ProcessTime::now(), cluster.transport().spent);
        }
        cluster.exchange(app.world_mut())?;
        app.step(0.02);
    }
    let spent = cluster.transport().spent - begun.2;
    cluster.sum([])?;
    let (clock, processor) = (begun.0.elapsed().as_secs_f64(), begun.1.elapsed().as_secs_f64());
    let work = processor - (cluster.transport().spent - begun.2);
    let clock = cluster.max([clock])?.unwrap_or_default();
    let (processor, work, spent) = (cluster.sum([processor])?, cluster.sum([work])?, cluster.sum([spent])?);
    let stats = cluster.stats();
    let mut total = |count: u64| cluster.sum([count as f64]);
    let (migrated, bytes) = (total(stats.migrated)?, total(stats.migrated_bytes)?);
    let moved = total(stats.migrated - first.migrated)?;
    let ghosts = total(stats.ghosts_sent - first.ghosts_sent)?;
    let ghost_bytes = total(stats.ghost_bytes - first.ghost_bytes)?;
    if here == 0 {
        let per_frame = |seconds: f64| seconds * 1e3 / frames as f64;
        println!(
            "ranks {ranks} agents {agents} clock {:.2} processor {:.2} work {:.2} transport {:.2}",
            per_frame(clock),
            per_frame(processor),
            per_frame(work),
            per_frame(spent)
        );
        // An id, a position and a velocity.
        let columns = (migrated * 24.0).max(1.0);
        let frames = frames as f64;
        println!(
            "bytes migrants {migrated} migrants-per-frame {:.1} per-migrant {:.2} of-columns {:.3} ghosts-per-frame {:.0} ghost-bytes-per-frame {:.0}",
            moved / frames,
            bytes / migrated.max(1.0),
            bytes / columns,
            ghosts / frames,
            ghost_bytes / frames
        );
    }
    Ok(())
}

/// The least times of exchanges of several sizes with each other rank, and the line through them.
fn link(mut transport: MpiTransport) -> Result<(), ClusterError> {
    let (here, ranks) = (transport.rank(), transport.ranks());
    let mut points = Vec::new();
    for power in [0, 10, 14, 17, 20, 23, 25] {
        let bytes = if power == 0 { 0 } else { 1 << power };
        let mut least = f64::INFINITY;
        for _ in 0..if power < 20 { 300 } else { 20 } {
            let parts: Vec<Vec<u8>> =
                (0..ranks).map(|to| vec![7; if to == here { 0 } else { bytes }]).collect();
            transport.gather(Vec::new())?;
            let begun = Instant::now();
            transport.exchange(parts)?;
            least = least.min(begun.elapsed().as_secs_f64() * 1e6);
        }
        points.push(((bytes * (ranks - 1)) as f64, least));
    }
    if here == 0 {
        // Relative errors count alike for all sizes: each point is weighed by its time.
        let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(x, y)| f(x, y) / (y * y)).sum::<f64>();
        let (n, x, y) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
        let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
        let slope = (n * xy - x * y) / (n * xx - x * x);
        let latency = (y - slope * x) / n;
        for (bytes, time) in &points {
            println!("exchange bytes {bytes} us {time:.2} fitted {:.2}", latency + slope * bytes);
        }
        println!("link ranks {ranks} latency-us {latency:.2} bandwidth-GB/s {:.3}", 1e-3 / slope);
    }
    Ok(())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let mut numbers = arguments.filter_map(|argument| argument.parse::<u64>().ok());
    let (agents, frames) = (numbers.next().unwrap_or(200_000), numbers.next().unwrap_or(30).max(1));
    match mode.as_str() {
        "world" => world(agents, frames),
        "ranks" => run_mpi(|transport| ranks(transport, agents, frames)),
        "link" => run_mpi(link),
        _ => {
            eprintln!("cost world|ranks|link [agents] [frames]");
            std::process::exit(2);
        }
    }
}
