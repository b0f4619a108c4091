//! What the user sees: a bar while the battle lasts, and numbers when it is over.
//!
//! The digest is a hash over every fighter, in order, and over the tally: two runs with the same digest ended in the
//! same world, bit for bit. The schedule can be drawn without other programs.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use phalanx::prelude::*;

use crate::battle::{Health, Position, Tally, Team, Velocity, Wounded, count};

/// A bar on the terminal, or a line now and then where there is none.
pub struct Progress {
    frames: u32,
    terminal: bool,
    shown: u32,
}

impl Progress {
    pub fn new(frames: u32) -> Self {
        Self { frames, terminal: std::io::stderr().is_terminal(), shown: 0 }
    }

    /// `frame` frames are done, `fighting` entities live.
    pub fn show(&mut self, frame: u32, fighting: usize) {
        let steps = if self.terminal { 40 } else { 4 };
        let done = u64::from(frame) * steps / u64::from(self.frames.max(1));
        let done = u32::try_from(done).expect("at most all steps");
        if done == self.shown {
            return;
        }
        self.shown = done;
        let mut out = std::io::stderr().lock();
        // Nothing is lost when the bar cannot be shown.
        let _ = if self.terminal {
            let (full, empty) = ("#".repeat(done as usize), "-".repeat(40 - done as usize));
            write!(out, "\r[{full}{empty}] frame {frame} of {}, {fighting} fighting ", self.frames)
        } else {
            writeln!(out, "frame {frame} of {}, {fighting} fighting", self.frames)
        };
        let _ = out.flush();
    }

    pub fn end(&self) {
        if self.terminal {
            eprintln!();
        }
    }
}

/// A hash of everything that fights, in order.
pub fn digest(world: &World) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |value: u64| hash = (hash ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    for (entity, pos, vel, team, health, wounded) in
        world.query::<(Entity, &Position, &Velocity, &Team, &Health, Has<Wounded>)>()
    {
        add(entity.to_bits());
        for value in [pos.x, pos.y, vel.x, vel.y, &health.0] {
            add(u64::from(value.to_bits()));
        }
        add(u64::from(team.0) * 2 + u64::from(wounded));
    }
    let tally = world.resource::<Tally>();
    [tally.hits, tally.deaths[0], tally.deaths[1], tally.recruits, tally.healed]
        .into_iter()
        .for_each(&mut add);
    hash
}

pub fn summary(app: &App, before: [usize; 3], updated: usize, took: Duration) {
    let world = app.world();
    let after = count(world);
    println!("               soldiers   archers    medics");
    println!("at first     {:>10}{:>10}{:>10}", before[0], before[1], before[2]);
    println!("at the end   {:>10}{:>10}{:>10}", after[0], after[1], after[2]);
    let tally = world.resource::<Tally>();
    println!(
        "\n{} hits, {} + {} dead, {} recruits, {} times healed, {} wounded now",
        tally.hits,
        tally.deaths[0],
        tally.deaths[1],
        tally.recruits,
        tally.healed,
        world.query_filtered::<(), With<Wounded>>().count()
    );
    println!("\nphase            runs     ms each   slowest systems, ms each");
    for phase in app.timings().iter().filter(|phase| phase.runs > 0 && !phase.systems.is_empty()) {
        let each = |total: Duration, runs: u64| total.as_secs_f64() * 1e3 / runs.max(1) as f64;
        let mut systems = phase.systems.clone();
        systems.sort_by_key(|system| std::cmp::Reverse(system.total));
        let slowest: Vec<String> = systems
            .iter()
            .take(3)
            .map(|system| format!("{} {:.3}", system.system, each(system.total, system.runs)))
            .collect();
        println!(
            "{:<14}{:>7}{:>12.3}   {}",
            phase.phase,
            phase.runs,
            each(phase.total, phase.runs),
            slowest.join(", ")
        );
    }
    let seconds = took.as_secs_f64();
    println!(
        "\n{updated} entity updates in {seconds:.2} s: {:.1} million per second",
        updated as f64 / seconds / 1e6
    );
    println!("digest: {:016x}", digest(world));
}

/// Draws the schedule of a frame.
pub fn write_picture(app: &App, file: &str) -> std::io::Result<()> {
    let picture = app.schedule(Update).to_svg().map_err(std::io::Error::other)?;
    std::fs::write(file, picture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle;
    use crate::options::Options;
    use phalanx::schedule::Threads;

    #[test]
    fn the_digest_is_the_same_for_every_number_of_threads_and_differs_by_seed() {
        let fought = |seed, threads| {
            let options = Options { seed, threads, frames: 0, entities: 3000, picture: None };
            let mut app = battle::app(&options);
            (0..30).for_each(|_| app.step(1.0 / 60.0));
            digest(app.world())
        };
        let serial = fought(5, Threads::Serial);
        assert_eq!(serial, fought(5, Threads::N(2)));
        assert_eq!(serial, fought(5, Threads::N(8)));
        assert_ne!(serial, fought(6, Threads::Serial));
    }
}
