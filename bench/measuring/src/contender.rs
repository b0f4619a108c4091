//! One way of doing one workload: how its state is made, what is timed, and what must come out.
//!
//! A contender is cheap to name and builds its state only when asked. The timed loop is compiled once per
//! contender around the closure itself, so no call through a pointer stands inside it.

use std::hint::black_box;
use std::time::Duration;

use crate::clock::Stopwatch;

/// One way of doing one workload.
pub struct Contender {
    /// Whose code runs.
    pub library: &'static str,
    /// Which way of using it; empty where there is only one.
    pub variant: &'static str,
    /// Whether this is what people write before they look for speed: a `for` over rows, one call per entity.
    pub plain: bool,
    start: Box<dyn Fn() -> Box<dyn Session>>,
}

/// A contender with its state.
pub trait Session {
    /// The time of `runs` runs, without what prepares them.
    fn sample(&mut self, runs: usize) -> Duration;
    /// What the runs so far left behind.
    fn checksum(&mut self) -> u64;
}

impl Contender {
    /// A contender whose runs can follow each other.
    pub fn steady<S: 'static>(
        name: (&'static str, &'static str),
        setup: impl Fn() -> S + Copy + 'static,
        run: impl Fn(&mut S) + Copy + 'static,
        sum: impl Fn(&mut S) -> u64 + Copy + 'static,
    ) -> Self {
        let start = move || -> Box<dyn Session> { Box::new(Steady { state: setup(), run, sum }) };
        Self { library: name.0, variant: name.1, plain: false, start: Box::new(start) }
    }

    /// A contender that prepares each run outside of the timed part.
    pub fn staged<S: 'static>(
        name: (&'static str, &'static str),
        setup: impl Fn() -> S + Copy + 'static,
        before: impl Fn(&mut S) + Copy + 'static,
        run: impl Fn(&mut S) + Copy + 'static,
        sum: impl Fn(&mut S) -> u64 + Copy + 'static,
    ) -> Self {
        let start = move || -> Box<dyn Session> { Box::new(Staged { state: setup(), before, run, sum }) };
        Self { library: name.0, variant: name.1, plain: false, start: Box::new(start) }
    }

    /// A contender that makes something anew in each run; what it made is dropped outside of the timed part.
    pub fn fresh<S: 'static>(
        name: (&'static str, &'static str),
        run: impl Fn() -> S + Copy + 'static,
        sum: impl Fn(&mut S) -> u64 + Copy + 'static,
    ) -> Self {
        Self::staged(
            name,
            || None,
            |made| *made = None,
            move |made| *made = Some(run()),
            move |made| sum(made.as_mut().expect("a run came before")),
        )
    }

    /// The same, as a line of plain code.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// Builds the state.
    pub fn start(&self) -> Box<dyn Session> {
        (self.start)()
    }

    /// Library and variant in one word.
    pub fn name(&self) -> String {
        full_name(self.library, self.variant)
    }
}

/// Library and variant in one word: what `--contender` and `--one` take.
pub fn full_name(library: &str, variant: &str) -> String {
    if variant.is_empty() { library.to_owned() } else { format!("{library}/{}", variant.replace(' ', "-")) }
}

struct Steady<S, R, C> {
    state: S,
    run: R,
    sum: C,
}

impl<S, R: Fn(&mut S), C: Fn(&mut S) -> u64> Session for Steady<S, R, C> {
    #[inline(never)]
    fn sample(&mut self, runs: usize) -> Duration {
        let begin = Stopwatch::start();
        for _ in 0..runs {
            (self.run)(black_box(&mut self.state));
        }
        begin.elapsed()
    }

    fn checksum(&mut self) -> u64 {
        (self.sum)(&mut self.state)
    }
}

struct Staged<S, B, R, C> {
    state: S,
    before: B,
    run: R,
    sum: C,
}

impl<S, B: Fn(&mut S), R: Fn(&mut S), C: Fn(&mut S) -> u64> Session for Staged<S, B, R, C> {
    #[inline(never)]
    fn sample(&mut self, runs: usize) -> Duration {
        let mut total = Duration::ZERO;
        for _ in 0..runs {
            (self.before)(&mut self.state);
            let begin = Stopwatch::start();
            (self.run)(black_box(&mut self.state));
            total += begin.elapsed();
        }
        total
    }

    fn checksum(&mut self) -> u64 {
        (self.sum)(&mut self.state)
    }
}
