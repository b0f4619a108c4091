//! Taking the time of all contenders of a workload.
//!
//! First every contender runs three times from a fresh state, and all checksums must be equal. Then each gets
//! its number of runs per sample, so that a sample takes at least [`SAMPLE`]; then come the rounds. In a
//! round every contender gives one sample, in an order shuffled anew: what disturbs the machine for a while
//! disturbs all of them alike, and a sample during which another program had the processor is taken again.

use std::time::Duration;

use crate::contender::{Contender, Session};
use crate::disturbance::interruptions;
use crate::random::Random;
use crate::stats::Summary;
use crate::workload::Workload;

/// What one sample takes at least.
const SAMPLE: Duration = Duration::from_micros(50);

/// How often a sample is taken again when another program interrupted it.
const RETRIES: usize = 4;

/// How many runs lie between a fresh state and the checksum.
const CHECKED_RUNS: usize = 3;

/// One contender's time for one workload.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Whose code ran.
    pub library: &'static str,
    /// Which way of using it.
    pub variant: &'static str,
    /// Nanoseconds per item.
    pub time: Summary,
}

/// All contenders of one workload.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was done.
    pub workload: Workload,
    /// What everybody's result adds up to.
    pub checksum: u64,
    /// In the order of the contenders' list.
    pub measured: Vec<Measured>,
}

/// Two contenders that did not do the same.
#[derive(Debug)]
pub struct Mismatch {
    workload: &'static str,
    first: (String, u64),
    other: (String, u64),
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { workload, first, other } = self;
        let (first, a, other, b) = (&first.0, first.1, &other.0, other.1);
        write!(f, "{workload}: checksums differ: {first} gives {a:016x}, {other} gives {b:016x}")
    }
}

/// Measures all contenders of a workload, interleaved.
pub fn measure(
    workload: Workload,
    contenders: &[Contender],
    rounds: usize,
    random: &mut Random,
) -> Result<Outcome, Mismatch> {
    let mut sessions: Vec<Box<dyn Session>> = contenders.iter().map(Contender::start).collect();
    let checksum = check(workload, contenders, &mut sessions)?;
    let runs: Vec<usize> = sessions.iter_mut().map(|session| calibrate(session.as_mut())).collect();

    let mut samples = vec![Vec::with_capacity(rounds); contenders.len()];
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &at in &order {
            // The first run of a sample finds another contender's data in the caches.
            if workload.warms_up() {
                sessions[at].sample(1);
            }
            let nanos = undisturbed(sessions[at].as_mut(), runs[at]).as_nanos() as f64;
            samples[at].push(nanos / (runs[at] * workload.items()) as f64);
        }
    }
    let measured = contenders.iter().zip(&samples).map(|(contender, samples)| Measured {
        library: contender.library,
        variant: contender.variant,
        time: Summary::of(samples),
    });
    Ok(Outcome { workload, checksum, measured: measured.collect() })
}

fn check(
    workload: Workload,
    contenders: &[Contender],
    sessions: &mut [Box<dyn Session>],
) -> Result<u64, Mismatch> {
    let mut first = None;
    for (contender, session) in contenders.iter().zip(sessions) {
        session.sample(CHECKED_RUNS);
        let sum = session.checksum();
        let (name, expected) = first.get_or_insert((contender.name(), sum));
        if *expected != sum {
            let first = (name.clone(), *expected);
            return Err(Mismatch { workload: workload.name(), first, other: (contender.name(), sum) });
        }
    }
    Ok(first.map_or(0, |(_, sum)| sum))
}

/// A sample during which no other program had the processor, or the shortest of several.
fn undisturbed(session: &mut dyn Session, runs: usize) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..=RETRIES {
        let before = interruptions();
        shortest = shortest.min(session.sample(runs));
        if interruptions() == before {
            break;
        }
    }
    shortest
}

/// How many runs a sample needs.
fn calibrate(session: &mut dyn Session) -> usize {
    let mut runs = 1;
    loop {
        let time = session.sample(runs).min(session.sample(runs));
        if time >= SAMPLE {
            return runs;
        }
        let missing = SAMPLE.as_secs_f64() / time.as_secs_f64().max(1e-9);
        runs = (runs as f64 * missing.clamp(1.2, 16.0)).ceil() as usize;
    }
}
