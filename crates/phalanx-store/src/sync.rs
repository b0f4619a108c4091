//! The atomics through which threads agree, taken from one place.
//!
//! Under `--cfg loom` they are loom's, whose model checker then runs every interleaving that the chosen
//! orderings allow; otherwise they are the standard library's. The directory's reservations and the borrow flags take
//! theirs from here, so what the models in `loom/tests/loom.rs` run is the code that ships. Block ticks, stamps and counters
//! are words of the standard library in either case: all accesses are relaxed, nothing is published through them, and
//! unsafe code relies on one thing alone, that a stamp is given once, which adding and fetching in one step ensures.
//!
//! Loom's atomics have no `get_mut`; [`with_mut`] is the common form of both. It costs what a plain
//! access costs, because `&mut` proves that nobody else sees the word.

#![forbid(unsafe_code)]

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A word that many threads can share.
pub(crate) trait Word {
    /// The number in it.
    type Number: Copy;

    /// Gives plain access while nobody shares the word.
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
