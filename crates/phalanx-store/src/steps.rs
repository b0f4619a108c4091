//! Counts how many rows and entries are looked at, so that tests can tell a lookup from a search.
//!
//! What shows many rows at once counts them all, whatever is made of them. Counted where debug assertions are on, for
//! each thread by itself; elsewhere counting does nothing.
#![forbid(unsafe_code)]

#[cfg(debug_assertions)]
std::thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts rows, or entries of sparse sets.
#[inline(always)]
pub(crate) fn count(_rows: usize) {
    #[cfg(debug_assertions)]
    STEPS.set(STEPS.get() + _rows as u64);
}

/// How many rows and entries were looked at on this thread. `None` where nothing is counted.
#[doc(hidden)]
pub fn rows_looked_at_for_tests() -> Option<u64> {
    #[cfg(debug_assertions)]
    return Some(STEPS.get());
    #[cfg(not(debug_assertions))]
    None
}
