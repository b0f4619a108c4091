//! Which columns are read or written while many threads share the store: one word per column.
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
//! The flags do not know what a column is, and take no part when `&mut` already proves exclusive access.

#![forbid(unsafe_code)]

use std::sync::atomic::AtomicUsize;

use crate::sync::{AtomicU32, Ordering, with_mut};

const FREE: u32 = 0;
const WRITTEN: u32 = u32::MAX;
const MOST_READERS: u32 = WRITTEN - 1;
/// Flags that were taken since the last reset: none, and more than one, or by any thread.
const NONE: usize = 0;
const SEVERAL: usize = usize::MAX;
/// How many flags are freed one by one.
const FEW: usize = 8;

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

/// One borrow flag per column: many readers or one writer.
#[derive(Default, Debug)]
pub struct BorrowFlags {
    words: Vec<AtomicU32>,
    /// Which flags were taken since the last reset: none, one (its number plus one), or [`SEVERAL`]. Relaxed: it is read
    /// while the flags are borrowed exclusively.
    used: AtomicUsize,
}

impl BorrowFlags {
    /// Returns flags for no column; [`grow`](BorrowFlags::grow) adds some.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many columns have a flag.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns `true` if no column has a flag.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Makes sure that columns `0..n` have a flag; new flags are free, the others stay as they are.
    pub fn grow(&mut self, n: usize) {
        if n > self.words.len() {
            self.words.resize_with(n, || AtomicU32::new(FREE));
        }
    }

    /// Frees every flag.
    ///
    /// `&mut self` proves that no borrow is in use; a flag that is still taken belongs to a guard that
    /// was leaked.
    #[inline]
    pub fn reset(&mut self) {
        let used = self.used.get_mut();
        if *used != NONE {
            let at = std::mem::replace(used, NONE).wrapping_sub(1);
            match self.words.get_mut(at) {
                Some(word) => with_mut(word, |word| *word = FREE),
                // No flag has the number of several.
                None => self.free_all(),
            }
        }
    }

    #[inline(never)]
    fn free_all(&mut self) {
        if self.words.len() <= FEW {
            // Looked at, not written: a call that fills memory costs more.
            for word in &mut self.words {
                with_mut(word, |word| {
                    if *word != FREE {
                        *word = FREE;
                    }
                });
            }
            return;
        }
        for word in &mut self.words {
            with_mut(word, |word| *word = FREE);
        }
    }

    /// Notes that a flag is taken. What is noted already is not written again: the word stays with all threads.
    #[inline(always)]
    fn note_use(&self) {
        if self.used.load(Ordering::Relaxed) != SEVERAL {
            self.used.store(SEVERAL, Ordering::Relaxed);
        }
    }

    /// As `note_use`, while no other thread takes flags: nothing is noted between the two steps.
    #[inline(always)]
    fn note_use_alone(&self, i: usize) {
        let before = self.used.load(Ordering::Relaxed);
        self.used.store(if before == NONE { i + 1 } else { SEVERAL }, Ordering::Relaxed);
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
        self.words[i]
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |word| {
                // The writer's value lies above the largest count, so one comparison refuses both.
                (word < MOST_READERS).then(|| word + 1)
            })
            .is_ok()
    }

    /// Gives back what a successful [`try_read`](BorrowFlags::try_read) took.
    ///
    /// # Panics
    ///
    /// If column `i` is not read. The flag then stays taken for good, which is the safe side.
    #[inline]
    #[track_caller]
    pub fn release_read(&self, i: usize) {
        let before = self.words[i].fetch_sub(1, Ordering::Release);
        if before == FREE || before == WRITTEN {
            not_held(i, "read");
        }
    }

    /// Takes column `i` for one writer; `false` if it is in use.
    #[inline]
    #[track_caller]
    pub fn try_write(&self, i: usize) -> bool {
        self.note_use();
        self.words[i].compare_exchange(FREE, WRITTEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As [`try_write`](BorrowFlags::try_write), while no other thread takes flags: what others give back meanwhile is
    /// seen here or not, and no thread comes between the two steps.
    #[inline]
    #[track_caller]
    pub(crate) fn try_write_alone(&self, i: usize) -> bool {
        self.note_use_alone(i);
        let word = &self.words[i];
        let free = word.load(Ordering::Acquire) == FREE;
        if free {
            word.store(WRITTEN, Ordering::Relaxed);
        }
        free
    }

    /// Gives back what a successful [`try_write`](BorrowFlags::try_write) took.
    ///
    /// # Panics
    ///
    /// If column `i` is not written.
    #[inline]
    #[track_caller]
    pub fn release_write(&self, i: usize) {
        let word = &self.words[i];
        // All others are refused while the word says `WRITTEN`, so nothing comes between these two.
        if word.load(Ordering::Relaxed) != WRITTEN {
            not_held(i, "written");
        }
        word.store(FREE, Ordering::Release);
    }

    /// Makes the only reader of column `i` its writer; `false` if there is another reader, and nothing has changed.
    #[inline]
    #[track_caller]
    pub fn try_upgrade(&self, i: usize) -> bool {
        self.words[i].compare_exchange(1, WRITTEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Makes the writer of column `i` its only reader.
    ///
    /// # Panics
    ///
    /// If column `i` is not written.
    #[inline]
    #[track_caller]
    pub fn downgrade(&self, i: usize) {
        let word = &self.words[i];
        if word.load(Ordering::Relaxed) != WRITTEN {
            not_held(i, "written");
        }
        word.store(1, Ordering::Release);
    }

    /// Returns what the flag of column `i` says now; it may have changed by the time the caller looks.
    #[track_caller]
    pub fn state(&self, i: usize) -> Borrow {
        match self.words[i].load(Ordering::Relaxed) {
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
        with_mut(&mut f.words[0], |word| *word = MOST_READERS - 1);
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
