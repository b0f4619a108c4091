//! What time is taken by: the clock on the wall, or the processor time of this thread.
//!
//! On a busy machine the wall also counts what other programs did meanwhile. `MEASURING_CLOCK=cpu` counts the processor time
//! of the thread that measures; work that it hands to other threads is then not seen, so lines of that kind have to be
//! left out.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Whether processor time is counted.
pub fn is_cpu() -> bool {
    static CPU: OnceLock<bool> = OnceLock::new();
    *CPU.get_or_init(|| std::env::var("MEASURING_CLOCK").is_ok_and(|clock| clock == "cpu"))
}

/// Time since it was started.
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self { cpu: is_cpu().then(thread_time), wall: Instant::now() }
    }

    /// How long that is ago.
    pub fn elapsed(&self) -> Duration {
        match self.cpu {
            Some(begin) => thread_time().saturating_sub(begin),
            None => self.wall.elapsed(),
        }
    }
}

/// How long this thread has had a processor.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn thread_time() -> Duration {
    panic!("MEASURING_CLOCK=cpu needs the clocks of a Unix system");
}

/// What the times of a run are, and how much the machine had to do: for the line above a table.
pub fn sentence() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown").to_owned();
    let clock = if is_cpu() { "Processor time of the thread" } else { "Time by the clock" };
    format!("{clock}; load of the machine {load} at the end of the run.")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_takes_no_processor_time() {
        let begin = thread_time();
        std::thread::sleep(Duration::from_millis(200));
        assert!(thread_time() - begin < Duration::from_millis(100));
    }
}
