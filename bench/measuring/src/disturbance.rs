//! Whether another program had the processor meanwhile.
//!
//! The kernel counts how often it took the processor away from a thread that wanted to go on. A sample during
//! which that happened says more about the other program, and is taken again.

/// How often this thread was interrupted so far; always the same number where the kernel does not tell.
pub fn interruptions() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}
