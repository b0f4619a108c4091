//! The atomics and the lock through which threads agree, taken from one place.
//!
//! Under `--cfg loom` they are loom's, whose model checker then runs every interleaving that the chosen
//! orderings allow; otherwise they are the standard library's. The directory's reservations, the borrow flags and the list of
//! split columns take theirs from here, so what the models in `loom/tests/loom.rs` run is the code that ships: ids that are
//! reserved, flags alone, locks of sessions (plain and split), and slots.
//!
//! Everything else is of the standard library in either case. Block ticks, stamps, counters, the data pointers of columns,
//! and whether columns were split or flags taken are words whose accesses are all relaxed: nothing is published through
//! them. Ticks may be written by several threads at once, and say only that a write took place. The pointers and the
//! notes about splits and flags are written while the store is borrowed exclusively, or read so. Unsafe code relies on
//! one thing alone, that a stamp is given once, which adding and fetching in one step ensures. The registry of column
//! types is behind a lock, and the id in a `ColCell` is only a number.
//!
//! Loom's atomics have no `get_mut`; [`with_mut`] is the common form of both. It costs what a plain
//! access costs, because `&mut` proves that no other thread sees the word.

#![forbid(unsafe_code)]

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

/// A word that many threads can share.
pub(crate) trait Word {
    /// The number in it.
    type Number: Copy;

    /// Gives plain access while no other thread shares the word.
    fn with_mut<R>(&mut self, access: impl FnOnce(&mut Self::Number) -> R) -> R;
}

macro_rules! words {
    ($($word:ty: $number:ty),*) => {$(
        impl Word for $word {
            type Number = $number;

            #[inline(always)]
            fn with_mut<R>(&mut self, access: impl FnOnce(&mut $number) -> R) -> R {
                #[cfg(loom)]
                return <$word>::with_mut(self, access);
                #[cfg(not(loom))]
                return access(self.get_mut());
            }
        }
    )*};
}
words!(AtomicU32: u32, AtomicU64: u64);

/// Gives plain access to a word that is not shared at the moment.
#[inline(always)]
pub(crate) fn with_mut<W: Word, R>(word: &mut W, access: impl FnOnce(&mut W::Number) -> R) -> R {
    word.with_mut(access)
}
