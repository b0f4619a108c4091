//! Measuring several ways of doing the same work in one run.
//!
//! [`contender`] is one such way, [`measure`] takes the times of several of them in shuffled rounds, [`stats`] says what
//! they amount to, [`bars`] what they have to reach, [`machine`] where that was, and [`program`] is all of it behind a
//! command line.

pub mod bars;
pub mod cache;
pub mod checksum;
pub mod clock;
pub mod contender;
mod disturbance;
pub mod machine;
pub mod measure;
pub mod program;
pub mod random;
pub mod stats;

/// A time with three significant digits.
pub fn nanos(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}
