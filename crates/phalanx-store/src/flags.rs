//! Which columns are read or written while many threads share the store: one word per column. Slots have such words, too.
//!
//! ```text
//!   0                 free
//!   1 ..= MAX - 1     this many readers
//!   MAX               one writer
//! ```
//!
//! A word goes from free to written and back, or up and down among readers. From one to the other it goes only while its
//! single reader becomes the writer, or the writer a reader: that is for split columns, where one holder stands for all.
//! Taking is `Acquire` and giving back is `Release`: what was done under a flag happens before all that its
//! next holder does. That goes for readers too, whose reads must be over before the next writer's writes; a
//! writer sees only the last reader's change, but each was a read-modify-write and so continues the release
//! sequences of those before it. A refused taker touches nothing and needs no ordering.
//!
//! Flags do not know what a column is, and take no part when `&mut` already proves exclusive access.

#![forbid(unsafe_code)]

use std::sync::atomic::AtomicBool;

use crate::sync::{AtomicU32, Ordering, with_mut};

const FREE: u32 = 0;
const WRITTEN: u32 = u32::MAX;
const MOST_READERS: u32 = WRITTEN - 1;

/// What a column's flag says at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Borrow {
    /// The column is not used.
    Free,
    /// This many readers use the column.
    Read(u32),
    /// One writer uses the column.
    Written,
}

/// The flag of one column or slot: many readers or one writer.
#[derive(Debug)]
pub(crate) struct Flag(AtomicU32);

impl Default for Flag {
    fn default() -> Self {
        Self(AtomicU32::new(FREE))
    }
}

impl Flag {
    /// Frees it: `&mut self` proves that a guard which holds it was leaked.
    #[inline]
    pub(crate) fn reset(&mut self) {
        with_mut(&mut self.0, |word| {
            // Looked at first: most are free, and stay as they are in memory.
            if *word != FREE {
                *word = FREE;
            }
        });
    }

    /// Takes it for one more reader; `false` if it is written, or has as many readers as can be counted.
    #[inline]
    pub(crate) fn try_read(&self) -> bool {
        // The writer's value lies above the largest count, so one comparison refuses both.
        let one_more = |word| (word < MOST_READERS).then(|| word + 1);
        self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).is_ok()
    }

    /// Gives back what a successful [`Flag::try_read`] took; `false` if it was not read, and it stays taken for good, which
    /// is the safe side.
    #[inline]
    pub(crate) fn release_read(&self) -> bool {
        let before = self.0.fetch_sub(1, Ordering::Release);
        before != FREE && before != WRITTEN
    }

    /// Takes it for one writer; `false` if it is in use.
    #[inline]
    pub(crate) fn try_write(&self) -> bool {
        self.0.compare_exchange(FREE, WRITTEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As [`Flag::try_write`], while no other thread takes it: what others give back meanwhile is seen here or not, and no
    /// thread comes between the two steps.
    #[inline]
    pub(crate) fn try_write_alone(&self) -> bool {
        let free = self.0.load(Ordering::Acquire) == FREE;
        if free {
            self.0.store(WRITTEN, Ordering::Relaxed);
        }
        free
    }

    /// Gives back what a successful [`Flag::try_write`] took; `false` if it is not written, and nothing happens.
    #[inline]
    pub(crate) fn release_write(&self) -> bool {
        // All others are refused while the word says `WRITTEN`, so nothing comes between these two.
        let held = self.0.load(Ordering::Relaxed) == WRITTEN;
        if held {
            self.0.store(FREE, Ordering::Release);
        }
        held
    }
}

/// One borrow flag per column: many readers or one writer.
#[derive(Default, Debug)]
pub struct BorrowFlags {
    flags: Vec<Flag>,
    /// Whether one was taken since the last reset. Relaxed: it is read while the flags are borrowed exclusively.
    used: AtomicBool,
}

impl BorrowFlags {
    /// Returns flags for no column; [`grow`](BorrowFlags::grow) adds some.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many columns have a flag.
    #[inline]
    pub fn len(&self) -> usize {
        self.flags.len()
    }

    /// Returns `true` if no column has a flag.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// Makes sure that columns `0..n` have a flag; new flags are free, the others stay as they are.
    pub fn grow(&mut self, n: usize) {
        if n > self.flags.len() {
            self.flags.resize_with(n, Flag::default);
        }
    }

    /// Frees every flag.
    ///
    /// `&mut self` proves that no borrow is in use; a flag that is still taken belongs to a guard that
    /// was leaked.
    #[inline]
    pub fn reset(&mut self) {
        if *self.used.get_mut() {
            self.free_all();
        }
    }

    #[inline(never)]
    fn free_all(&mut self) {
        *self.used.get_mut() = false;
        self.flags.iter_mut().for_each(Flag::reset);
    }

    /// Notes that a flag is taken. What is noted already is not written again: the word stays with all threads.
    #[inline(always)]
    fn note_use(&self) {
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Takes column `i` for one more reader; `false` if it is written, or has as many readers as can be
    /// counted.
    ///
    /// # Panics
    ///
    /// If column `i` has no flag, as do all functions with an `i`.
    #[inline]
    #[track_caller]
    pub fn try_read(&self, i: usize) -> bool {
        self.note_use();
        self.flags[i].try_read()
    }

    /// Gives back what a successful [`try_read`](BorrowFlags::try_read) took.
    ///
    /// # Panics
    ///
    /// If column `i` is not read. The flag then stays taken for good, which is the safe side.
    #[inline]
    #[track_caller]
    pub fn release_read(&self, i: usize) {
        if !self.flags[i].release_read() {
            not_held(i, "read");
        }
    }

    /// Takes column `i` for one writer; `false` if it is in use.
    #[inline]
    #[track_caller]
    pub fn try_write(&self, i: usize) -> bool {
        self.note_use();
        self.flags[i].try_write()
    }

    /// Gives back what a successful [`try_write`](BorrowFlags::try_write) took.
    ///
    /// # Panics
    ///
    /// If column `i` is not written.
    #[inline]
    #[track_caller]
    pub fn release_write(&self, i: usize) {
        if !self.flags[i].release_write() {
            not_held(i, "written");
        }
    }

    /// Makes the only reader of column `i` its writer; `false` if there is another reader, and nothing has changed.
    #[inline]
    #[track_caller]
    pub fn try_upgrade(&self, i: usize) -> bool {
        self.flags[i].0.compare_exchange(1, WRITTEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Makes the writer of column `i` its only reader.
    ///
    /// # Panics
    ///
    /// If column `i` is not written.
    #[inline]
    #[track_caller]
    pub fn downgrade(&self, i: usize) {
        let word = &self.flags[i].0;
        if word.load(Ordering::Relaxed) != WRITTEN {
            not_held(i, "written");
        }
        word.store(1, Ordering::Release);
    }

    /// Returns what the flag of column `i` says now; it may have changed by the time the caller looks.
    #[track_caller]
    pub fn state(&self, i: usize) -> Borrow {
        match self.flags[i].0.load(Ordering::Relaxed) {
            FREE => Borrow::Free,
            WRITTEN => Borrow::Written,
            readers => Borrow::Read(readers),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn not_held(i: usize, how: &str) -> ! {
    panic!("column {i} was given back as {how}, but was not held so");
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn flags(n: usize) -> BorrowFlags {
        let mut flags = BorrowFlags::new();
        flags.grow(n);
        flags
    }

    #[test]
    fn readers_share_a_column_and_shut_the_writer_out() {
        let f = flags(1);
        assert!(f.try_read(0) && f.try_read(0));
        assert_eq!(f.state(0), Borrow::Read(2));
        assert!(!f.try_write(0));
        f.release_read(0);
        assert!(!f.try_write(0));
        f.release_read(0);
        assert_eq!(f.state(0), Borrow::Free);
        assert!(f.try_write(0));
    }

    #[test]
    fn a_writer_shuts_everybody_out() {
        let f = flags(1);
        assert!(f.try_write(0));
        assert_eq!(f.state(0), Borrow::Written);
        assert!(!f.try_write(0) && !f.try_read(0));
        f.release_write(0);
        assert!(f.try_read(0));
    }

    #[test]
    fn the_only_reader_becomes_the_writer_and_a_reader_again() {
        let f = flags(1);
        assert!(!f.try_upgrade(0), "no reader");
        assert!(f.try_read(0) && f.try_read(0));
        assert!(!f.try_upgrade(0));
        assert_eq!(f.state(0), Borrow::Read(2));
        f.release_read(0);
        assert!(f.try_upgrade(0));
        assert_eq!(f.state(0), Borrow::Written);
        assert!(!f.try_upgrade(0) && !f.try_read(0));
        f.downgrade(0);
        assert_eq!(f.state(0), Borrow::Read(1));
        assert!(f.try_read(0));
        assert!(catch_unwind(AssertUnwindSafe(|| f.downgrade(0))).is_err());
    }

    #[test]
    fn columns_do_not_know_each_other() {
        let f = flags(3);
        assert!(f.try_write(0) && f.try_read(1) && f.try_write(2));
        assert_eq!([f.state(0), f.state(1), f.state(2)], [Borrow::Written, Borrow::Read(1), Borrow::Written]);
    }

    #[test]
    fn one_reader_too_many_is_refused() {
        let mut f = flags(1);
        with_mut(&mut f.flags[0].0, |word| *word = MOST_READERS - 1);
        assert!(f.try_read(0));
        assert_eq!(f.state(0), Borrow::Read(MOST_READERS));
        assert!(!f.try_read(0) && !f.try_write(0));
        assert_eq!(f.state(0), Borrow::Read(MOST_READERS));
        f.release_read(0);
        assert!(f.try_read(0));
    }

    #[test]
    fn reset_frees_leaked_flags() {
        let mut f = flags(2);
        assert!(f.try_write(0) && f.try_read(1));
        f.reset();
        assert_eq!([f.state(0), f.state(1)], [Borrow::Free; 2]);
    }

    #[test]
    fn growing_keeps_what_is_taken_and_never_shrinks() {
        let mut f = flags(1);
        assert!(f.try_write(0));
        f.grow(3);
        f.grow(2);
        assert_eq!((f.len(), f.is_empty()), (3, false));
        assert_eq!([f.state(0), f.state(2)], [Borrow::Written, Borrow::Free]);
        assert!(BorrowFlags::new().is_empty());
    }

    #[test]
    fn giving_back_a_flag_that_is_not_held_panics_and_leaves_the_column_shut() {
        let f = flags(3);
        let fails = |release: &dyn Fn()| catch_unwind(AssertUnwindSafe(release)).is_err();
        assert!(fails(&|| f.release_read(0)));
        assert!(!f.try_read(0) && !f.try_write(0));

        assert!(f.try_write(1));
        assert!(fails(&|| f.release_read(1)));
        assert!(!f.try_read(1) && !f.try_write(1));

        assert!(f.try_read(2));
        assert!(fails(&|| f.release_write(2)));
        assert_eq!(f.state(2), Borrow::Read(1));
    }

    #[test]
    fn a_column_without_a_flag_is_a_panic() {
        let f = flags(1);
        assert!(catch_unwind(AssertUnwindSafe(|| f.try_read(1))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| f.try_write(usize::MAX))).is_err());
    }

    #[test]
    fn writers_on_many_threads_exclude_each_other() {
        let f = flags(1);
        let total = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        while !f.try_write(0) {
                            std::thread::yield_now();
                        }
                        // A load and a store, not one addition: an overlap would lose a count.
                        total.store(total.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        f.release_write(0);
                    }
                });
            }
        });
        assert_eq!(total.load(Ordering::Relaxed), 8_000);
        assert_eq!(f.state(0), Borrow::Free);
    }
}
