//! The atomics of the crate, taken from one place.
//!
//! Under `--cfg loom` they are loom's, whose model checker then runs every interleaving that the chosen
//! orderings allow; otherwise they are the standard library's. Nothing else in the crate names either
//! library, so what the models in `tests/loom.rs` run is the code that ships.
//!
//! Loom's atomics have no `get_mut`; [`with_mut`] is the common form of both. It costs what a plain
//! access costs, because `&mut` proves that nobody else sees the word.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, Ordering};

/// Gives plain access to a word that is not shared at the moment.
#[inline]
pub(crate) fn with_mut<R>(word: &mut AtomicU32, access: impl FnOnce(&mut u32) -> R) -> R {
    #[cfg(loom)]
    return word.with_mut(access);
    #[cfg(not(loom))]
    return access(word.get_mut());
}
