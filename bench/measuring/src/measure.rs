//! Taking the time of all contenders of a task.
//!
//! First every contender runs three times from a fresh state, and all checksums must be equal. Then each gets
//! its number of runs per sample, so that a sample takes at least [`SAMPLE`]; then come the rounds. In a
//! round every contender gives one sample, in an order shuffled anew: what disturbs the machine for a while
//! disturbs all of them alike, and a sample during which another program had the processor is taken again.

use std::time::Duration;

use crate::clock;
use crate::contender::{Contender, Session};
use crate::disturbance::interruptions;
use crate::random::Random;
use crate::stats::Summary;

/// What one sample takes at least.
const SAMPLE: Duration = Duration::from_micros(50);

/// How often a sample is taken again when another program interrupted it.
const RETRIES: usize = 4;

/// How many runs lie between a fresh state and the checksum.
const CHECKED_RUNS: usize = 3;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// How messages speak of it.
    pub name: &'a str,
    /// How many items one run handles.
    pub items: usize,
    /// Whether a run that is not timed goes before each sample; without it, a sample is a single run.
    pub warm: bool,
    /// How often the states are built anew during the rounds: where their memory lies is luck, too.
    pub lives: usize,
}

/// One contender's time for one task.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Whose code ran.
    pub library: &'static str,
    /// Which way of using it.
    pub variant: &'static str,
    /// Whether it was plain code.
    pub plain: bool,
    /// Nanoseconds per item.
    pub time: Summary,
    /// The same, round by round.
    pub samples: Vec<f64>,
}

impl Measured {
    /// The time of a contender whose rounds took so many nanoseconds per item.
    pub fn of(library: &'static str, variant: &'static str, samples: Vec<f64>) -> Self {
        Self { library, variant, plain: false, time: Summary::of(&samples), samples }
    }

    /// This time in parts of another one: the median of the ratios of all rounds.
    pub fn ratio_to(&self, other: &Self) -> Summary {
        let ratios = self.samples.iter().zip(&other.samples).map(|(mine, other)| mine / other);
        Summary::of(&ratios.collect::<Vec<f64>>())
    }
}

/// All contenders of one task: the checksum that all of them have, and their times in the order of the list.
#[derive(Clone, Debug)]
pub struct Taken {
    /// What all results add up to.
    pub checksum: u64,
    /// In the order of the contenders' list.
    pub measured: Vec<Measured>,
}

/// Two contenders that did not do the same.
#[derive(Debug)]
pub struct Mismatch {
    task: String,
    first: (String, u64),
    other: (String, u64),
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { task, first, other } = self;
        let (first, a, other, b) = (&first.0, first.1, &other.0, other.1);
        write!(f, "{task}: checksums differ: {first} gives {a:016x}, {other} gives {b:016x}")
    }
}

/// Measures all contenders of a task, interleaved.
///
/// # Errors
/// When two contenders have different checksums.
pub fn measure(
    task: Task<'_>,
    contenders: &[Contender],
    rounds: usize,
    random: &mut Random,
) -> Result<Taken, Mismatch> {
    let mut checksum = 0;
    let mut samples = vec![Vec::with_capacity(rounds); contenders.len()];
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let lives = task.lives.clamp(1, rounds.max(1));
    for life in 0..lives {
        random.shuffle(&mut order);
        let mut sessions = start(contenders, &order);
        checksum = check(task, contenders, &mut sessions)?;
        // A second run would find what the first one brought into the caches.
        let runs = |session: &mut Box<dyn Session>| if task.warm { calibrate(session.as_mut()) } else { 1 };
        let runs: Vec<usize> = sessions.iter_mut().map(runs).collect();
        for _ in rounds * life / lives..rounds * (life + 1) / lives {
            random.shuffle(&mut order);
            for &at in &order {
                // The first run of a sample finds another contender's data in the caches.
                if task.warm {
                    sessions[at].sample(1);
                }
                let nanos = undisturbed(sessions[at].as_mut(), runs[at]).as_nanos() as f64;
                samples[at].push(nanos / (runs[at] * task.items) as f64);
            }
        }
    }
    let line = |(contender, samples): (&Contender, Vec<f64>)| Measured {
        plain: contender.plain,
        ..Measured::of(contender.library, contender.variant, samples)
    };
    Ok(Taken { checksum, measured: contenders.iter().zip(samples).map(line).collect() })
}

/// Builds the states in a given order; they come in the order of the contenders.
fn start(contenders: &[Contender], order: &[usize]) -> Vec<Box<dyn Session>> {
    let mut sessions: Vec<(usize, Box<dyn Session>)> =
        order.iter().map(|&at| (at, contenders[at].start())).collect();
    sessions.sort_by_key(|(at, _)| *at);
    sessions.into_iter().map(|(_, session)| session).collect()
}

fn check(
    task: Task<'_>,
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
            return Err(Mismatch { task: task.name.to_owned(), first, other: (contender.name(), sum) });
        }
    }
    Ok(first.map_or(0, |(_, sum)| sum))
}

/// A sample during which no other program had the processor, or the shortest of several. Processor time does not contain
/// what others did.
fn undisturbed(session: &mut dyn Session, runs: usize) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..=RETRIES {
        let before = interruptions();
        shortest = shortest.min(session.sample(runs));
        if clock::is_cpu() || interruptions() == before {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_round_by_round() {
        let slow = Measured::of("a", "", vec![2.0, 4.0, 60.0]);
        let fast = Measured::of("b", "", vec![1.0, 2.0, 30.0]);
        assert_eq!(slow.ratio_to(&fast).median, 2.0);
    }

    #[test]
    fn every_round_gives_a_sample_however_many_lives_there_are() {
        let counting = Contender::steady(("one", ""), || 0u64, |n| *n += 1, |n| *n);
        let task = Task { name: "counting", items: 1, warm: true, lives: 3 };
        let taken = measure(task, &[counting], 7, &mut Random::new(1)).expect("one line cannot differ");
        assert_eq!(taken.measured[0].samples.len(), 7);
    }

    #[test]
    fn different_results_are_an_error() {
        let counting = |name, step: u64| Contender::steady((name, ""), || 0, move |n| *n += step, |n| *n);
        let task = Task { name: "counting", items: 1, warm: true, lives: 1 };
        let mismatch = measure(task, &[counting("one", 1), counting("two", 2)], 1, &mut Random::new(1));
        let text = mismatch.map(|_| ()).expect_err("the sums are 3 and 6").to_string();
        assert!(text.contains("counting") && text.contains("one") && text.contains("two"), "{text}");
    }
}
