//! Counts the steps of work that is too rare to be measured, and too slow when it grows with the square of a world.
//!
//! Code on cold paths counts each thing it looks at; tests of the crate compare the counts of a small and of a large
//! world. Outside these tests counting does nothing.

#[cfg(test)]
std::thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts a step.
#[inline(always)]
pub(crate) fn count() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// How many steps `f` takes on this thread.
#[cfg(test)]
pub(crate) fn of<R>(f: impl FnOnce() -> R) -> u64 {
    let before = STEPS.get();
    f();
    STEPS.get() - before
}
