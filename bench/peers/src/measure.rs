//! The outcome of a workload: what [`phalanx_measuring::measure`] says of its contenders.

use phalanx_measuring::measure::{self, Mismatch, Task};

pub use phalanx_measuring::measure::Measured;

use crate::contender::Contender;
use crate::random::Random;
use crate::workload::Workload;

/// How often worlds are made anew during the rounds: with a million rows, luck with memory is a tenth of the time.
const LIVES: usize = 5;

/// All contenders of one workload.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was done.
    pub workload: Workload,
    /// What all results add up to.
    pub checksum: u64,
    /// In the order of the contenders' list.
    pub measured: Vec<Measured>,
}

/// Measures all contenders of a workload, interleaved.
///
/// # Errors
/// When two contenders did not do the same.
pub fn measure(
    workload: Workload,
    contenders: &[Contender],
    rounds: usize,
    random: &mut Random,
) -> Result<Outcome, Mismatch> {
    let (name, items, warm) = (workload.name(), workload.items(), workload.warms_up());
    let task = Task { name, items, warm, lives: LIVES };
    let taken = measure::measure(task, contenders, rounds, random)?;
    Ok(Outcome { workload, checksum: taken.checksum, measured: taken.measured })
}
