//! The outcome of a workload: what [`phalanx_measuring::measure`] says of its contenders.

use phalanx_measuring::measure::{self, Mismatch, Task};

pub use phalanx_measuring::measure::Measured;

use crate::contender::Contender;
use crate::random::Random;
use crate::workload::Workload;

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
    let task = Task { name: workload.name(), items: workload.items(), warm: workload.warms_up(), lives: 1 };
    let taken = measure::measure(task, contenders, rounds, random)?;
    Ok(Outcome { workload, checksum: taken.checksum, measured: taken.measured })
}
