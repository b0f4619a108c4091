//! Random programs, run by both libraries.

pub mod generate;
mod order;
mod program;
mod shrink;
mod sides;
mod trace;

use std::panic::{AssertUnwindSafe, catch_unwind};

use order::Order;
use program::Program;
use trace::Trace;

pub use generate::generate;

/// Runs a program with both libraries. How many systems ran, or where the two differ.
fn difference(program: &Program) -> Result<usize, String> {
    let order = Order::of(program).ok_or("the order contradicts itself")?;
    let bevy = attempt(|| sides::bevy::run(program));
    let ours = attempt(|| sides::phalanx::run(program));
    let (bevy, ours) = match (bevy, ours) {
        (Ok(bevy), Ok(ours)) => (bevy, ours),
        (bevy, ours) => {
            let told = |run: Result<Trace, String>| run.map_or_else(|why| why, |_| "ran".to_owned());
            return Err(format!("bevy: {}\nphalanx: {}", told(bevy), told(ours)));
        }
    };
    let wrong = disordered("bevy", &bevy, &order)
        .or_else(|| disordered("phalanx", &ours, &order))
        .or_else(|| first_difference(&bevy, &ours));
    wrong.map_or_else(|| Ok(ours.ran.values().map(Vec::len).sum()), Err)
}

fn attempt(run: impl FnOnce() -> Trace) -> Result<Trace, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("panicked: {}", text.unwrap_or("with something that is no text"))
    })
}

/// Two systems that ran against their order.
fn disordered(library: &str, trace: &Trace, order: &Order) -> Option<String> {
    for (frame, ran) in &trace.ran {
        for (at, second) in ran.iter().enumerate() {
            if let Some(first) = ran[..at].iter().find(|first| order.before(*second, **first)) {
                return Some(format!("frame {frame}: {library} ran system {first} before {second}"));
            }
        }
    }
    None
}

fn first_difference(bevy: &Trace, ours: &Trace) -> Option<String> {
    let keys = bevy.seen.keys().chain(ours.seen.keys());
    let mut keys: Vec<_> = keys.collect();
    keys.sort_unstable();
    let key = keys.into_iter().find(|key| bevy.seen.get(key) != ours.seen.get(key))?;
    let (frame, who) = key;
    let told = |trace: &Trace| match trace.seen.get(key) {
        Some(lines) => lines.join("\n    "),
        None => "nothing".to_owned(),
    };
    Some(format!("frame {frame}, {who:?}\n  bevy:\n    {}\n  phalanx:\n    {}", told(bevy), told(ours)))
}

/// How much was compared.
#[derive(Default)]
pub struct Compared {
    pub programs: u64,
    pub systems: usize,
    pub runs: usize,
    pub steps: usize,
    pub differing: usize,
}

/// Compares the programs of many seeds. Some that differ are shown, made small.
pub fn compare(seeds: std::ops::Range<u64>, show: usize) -> Compared {
    let mut compared = Compared { programs: seeds.end - seeds.start, ..Compared::default() };
    for seed in seeds {
        let program = generate(seed);
        compared.systems += program.systems.len();
        compared.steps += program.systems.iter().map(|system| system.ops.len()).sum::<usize>();
        match difference(&program) {
            Ok(runs) => compared.runs += runs,
            Err(_) => {
                compared.differing += 1;
                if compared.differing <= show {
                    let small = shrink::shrink(program);
                    let text = difference(&small).expect_err("only differing programs are kept");
                    println!("seed {seed}\n{}\n{text}\n", small.told());
                }
            }
        }
    }
    compared
}
