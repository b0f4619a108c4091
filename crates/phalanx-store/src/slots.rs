//! A row of values, each of which threads may borrow for itself.
//!
//! Outside a session [`Slots`] is a vector: `&self` reads, `&mut self` writes, nothing is checked.
//! [`Slots::share`] borrows it exclusively and lends each slot under its own flag, many readers or one
//! writer, as `shared` does with columns; [`Slots::share_read`] lends slots for reading alone, and
//! [`Slots::share_alone`] to one thread, which needs no atomic step to take a flag for writing.
//!
//! Slots do not know what they hold: resources and message channels of a world are kept in them.

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::flags::Flag;

/// Values with a number each, which can be lent to many threads.
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    used: Used,
}

struct Slot<T> {
    flag: Flag,
    value: UnsafeCell<T>,
}

/// How many flags are taken, of a session of one thread, or [`Used::ANY`]: what guards gave back need not be reset.
#[derive(Default)]
struct Used(AtomicUsize);

impl Used {
    const NONE: usize = 0;
    /// Any number, by any thread. Stays until the flags are reset.
    const ANY: usize = usize::MAX;

    /// Notes that flags are taken by any thread. What is noted already is not written again: the word stays with all.
    #[inline(always)]
    fn note(&self) {
        if self.0.load(Ordering::Relaxed) != Self::ANY {
            self.0.store(Self::ANY, Ordering::Relaxed);
        }
    }

    /// Counts a flag that is taken while no other thread takes flags: nothing is noted between the two steps.
    #[inline(always)]
    fn count(&self) {
        let count = self.0.load(Ordering::Relaxed);
        if count != Self::ANY {
            self.0.store(count + 1, Ordering::Relaxed);
        }
    }

    /// Takes back what [`Used::count`] did, for a guard, which never leaves its thread: where flags are counted, that is the
    /// one thread that takes them.
    #[inline(always)]
    fn uncount(&self) {
        let count = self.0.load(Ordering::Relaxed);
        if count != Self::ANY {
            self.0.store(count - 1, Ordering::Relaxed);
        }
    }
}

// SAFETY: slots are shared between threads as `&T` (`get`, reading guards), or moved through `&mut T`
// (writing guards), so `T` must be both (I9).
unsafe impl<T: Send + Sync> Sync for Slots<T> {}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), used: Used::default() }
    }
}

impl<T> Slots<T> {
    /// No slots.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no slot.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a slot and returns its number.
    pub fn push(&mut self, value: T) -> usize {
        self.slots.push(Slot { flag: Flag::default(), value: UnsafeCell::new(value) });
        self.slots.len() - 1
    }

    /// The value of a slot.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        let slot = self.slots.get(at)?;
        // SAFETY: slots are written through `&mut Slots`, or in a session that borrows them exclusively, and neither goes
        // together with this borrow (I9).
        Some(unsafe { &*slot.value.get() })
    }

    /// The value of a slot, for writing.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.slots.get_mut(at).map(|slot| slot.value.get_mut())
    }

    /// All values, by number.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// All values, by number, for writing.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().map(|slot| slot.value.get_mut())
    }

    /// Opens a session in which threads borrow slots. Flags left over from forgotten guards are taken back.
    pub fn share(&mut self) -> SharedSlots<'_, T> {
        self.reset();
        SharedSlots { slots: self, lending: Lending::TO_ALL }
    }

    /// As [`Slots::share`], for the thread that opens the session: to all others, each slot seems to be in use.
    #[inline]
    pub fn share_alone(&mut self) -> SharedSlots<'_, T> {
        self.reset();
        SharedSlots { slots: self, lending: Lending::to_this_thread() }
    }

    /// Opens a session that lends to those to whom another one lends.
    #[inline]
    pub fn share_as<U>(&mut self, other: &SharedSlots<'_, U>) -> SharedSlots<'_, T> {
        self.reset();
        SharedSlots { slots: self, lending: other.lending }
    }

    /// As [`Slots::share`], but slots can only be read.
    pub fn share_read(&self) -> SharedSlots<'_, T> {
        SharedSlots { slots: self, lending: Lending::READING }
    }

    /// Frees all flags: those that are still taken belong to guards that were forgotten.
    #[inline(always)]
    fn reset(&mut self) {
        if *self.used.0.get_mut() != Used::NONE {
            self.free_all();
        }
    }

    #[inline(never)]
    fn free_all(&mut self) {
        *self.used.0.get_mut() = Used::NONE;
        self.slots.iter_mut().for_each(|slot| slot.flag.reset());
    }
}

impl<T: fmt::Debug> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// What the slots of a session are lent to.
///
/// One word, so that a session is passed on in registers: that of a thread is its number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lending(usize);

impl Lending {
    /// To all, for reading. No thread has this number.
    const READING: Self = Self(usize::MAX);
    /// To all threads, under flags.
    const TO_ALL: Self = Self(1);

    /// To this thread, under flags that no other thread takes.
    #[inline(always)]
    fn to_this_thread() -> Self {
        Self(match THIS_THREAD.get() {
            0 => number_this_thread(),
            number => number,
        })
    }
}

thread_local! {
    /// The number of the thread, from 2 on, which no other one ever has; 0 until it opens a session for itself.
    static THIS_THREAD: Cell<usize> = const { Cell::new(0) };
}

#[cold]
#[inline(never)]
fn number_this_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(2);
    let next = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(1));
    let number = next.expect("there are fewer threads than numbers");
    THIS_THREAD.set(number);
    number
}

/// Slots that several threads may borrow one by one.
pub struct SharedSlots<'s, T> {
    slots: &'s Slots<T>,
    lending: Lending,
}

impl<T> SharedSlots<'_, T> {
    /// Whether this thread may take flags, of a session that can write.
    #[inline(always)]
    fn lends_here(&self) -> bool {
        // A thread without a number has opened no session: 0 is not that of any thread.
        self.lending == Lending::TO_ALL || self.lending == Lending(THIS_THREAD.get())
    }

    /// Borrows a slot for reading; `None` when there is none, or it is being written.
    #[inline]
    pub fn read(&self, at: usize) -> Option<SlotRef<'_, T>> {
        let slot = self.slots.slots.get(at)?;
        let flag = (self.lending != Lending::READING).then_some(&slot.flag);
        if let Some(flag) = flag {
            if !self.lends_here() {
                return None;
            }
            self.slots.used.note();
            if !flag.try_read() {
                return None;
            }
        }
        // The flag is held for reading until the guard is dropped, or the session cannot write, and shares the slots with
        // readers alone (I9).
        Some(SlotRef { value: NonNull::from(&slot.value).cast(), flag, borrow: PhantomData })
    }

    /// Borrows a slot for writing; `None` when there is none, it is in use, or the session only reads.
    #[inline]
    pub fn write(&self, at: usize) -> Option<SlotMut<'_, T>> {
        let slot = self.slots.slots.get(at)?;
        let used = &self.slots.used;
        // A thread without a number has opened no session: 0 is not that of any thread.
        let taken = if self.lending == Lending(THIS_THREAD.get()) {
            let taken = slot.flag.try_write_alone();
            if taken {
                used.count();
            }
            taken
        } else if self.lending == Lending::TO_ALL {
            used.note();
            slot.flag.try_write()
        } else {
            false
        };
        if !taken {
            return None;
        }
        // The session borrows the slots exclusively, and the flag is held for writing until the guard is dropped (I9). If it
        // was taken without an atomic step, no other thread takes flags of this session.
        let value = NonNull::from(&slot.value).cast();
        Some(SlotMut { value, flag: &slot.flag, used, borrow: PhantomData })
    }
}

/// A slot borrowed for reading. It stays with its thread.
pub struct SlotRef<'a, T> {
    /// The slot, whose cell allows writing through a shared reference. Not a reference: a function that takes a guard by
    /// value may drop it and go on, while others write the slot; a reference among its arguments would promise that
    /// none does.
    value: NonNull<T>,
    flag: Option<&'a Flag>,
    borrow: PhantomData<&'a T>,
}

impl<T> Deref for SlotRef<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the slot for reading, or its session cannot write, so that it is not written until the guard
        // is dropped (I9); the slots are borrowed, so it stays where it is.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Drop for SlotRef<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let given_back = self.flag.is_none_or(Flag::release_read);
        debug_assert!(given_back, "a guard holds its flag");
    }
}

/// A slot borrowed for writing. It stays with its thread.
pub struct SlotMut<'a, T> {
    /// Not a reference, for the reason given at [`SlotRef`].
    value: NonNull<T>,
    flag: &'a Flag,
    used: &'a Used,
    borrow: PhantomData<&'a mut T>,
}

impl<T> Deref for SlotMut<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the slot for writing, so that nothing else uses it until the guard is dropped (I9); the slots
        // are borrowed, so it stays where it is.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for SlotMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref` (I9), and the guard is borrowed exclusively, so that it lends nothing else.
        unsafe { self.value.as_mut() }
    }
}

impl<T> Drop for SlotMut<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.used.uncount();
        // All others are refused while it is held, so it is held until here.
        let given_back = self.flag.release_write();
        debug_assert!(given_back, "a guard holds its flag");
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_many_readers_or_one_writer() {
        let mut slots = Slots::new();
        slots.push(1);
        slots.push(2);
        let shared = slots.share();
        let first = shared.read(0).expect("free");
        assert!(shared.read(0).is_some() && shared.write(0).is_none());
        *shared.write(1).expect("another slot") += 1;
        assert!(shared.read(2).is_none() && shared.write(2).is_none());
        drop(first);
        let written = shared.write(0).expect("given back");
        assert!(shared.read(0).is_none() && shared.write(0).is_none());
        drop(written);
        assert_eq!(slots.iter().copied().collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn a_reading_session_lends_nothing_for_writing() {
        let mut slots = Slots::new();
        slots.push(String::from("a"));
        let shared = slots.share_read();
        assert!(shared.write(0).is_none());
        let (one, two) = (shared.read(0), shared.read(0));
        assert_eq!(
            (one.as_deref(), two.as_deref(), slots.get(0)),
            (Some(&"a".to_owned()), Some(&"a".to_owned()), Some(&"a".to_owned()))
        );
    }

    #[test]
    fn a_session_of_one_thread_lends_nothing_to_others() {
        let mut slots = Slots::new();
        slots.push(1);
        slots.push(2);
        let shared = slots.share_alone();
        let (read, mut written) = (shared.read(0).expect("free"), shared.write(1).expect("free"));
        let (value, place) = (&*read, &mut *written);
        assert!(shared.read(0).is_some() && shared.write(0).is_none());
        assert!(shared.read(1).is_none() && shared.write(1).is_none());
        std::thread::scope(|scope| {
            let other = || [shared.read(0).is_some(), shared.write(0).is_some(), shared.write(1).is_some()];
            assert_eq!(scope.spawn(other).join().expect("no panic"), [false; 3]);
            // The guards stay with their thread; what they lend may go elsewhere.
            scope.spawn(move || *place += *value).join().expect("no panic");
        });
        drop((read, written));
        assert_eq!((shared.write(0).as_deref(), shared.write(1).as_deref()), (Some(&1), Some(&3)));
        std::mem::forget(shared.write(0));
        assert!(shared.read(0).is_none());
        assert!(slots.share_alone().write(0).is_some());
    }

    #[test]
    fn what_is_given_back_need_not_be_reset() {
        let mut slots = Slots::new();
        for value in 0..3 {
            slots.push(value);
        }
        let shared = slots.share_alone();
        let used = |shared: &SharedSlots<'_, i32>| shared.slots.used.0.load(Ordering::Relaxed);
        let (one, two) = (shared.write(1), shared.write(2));
        assert!(one.is_some() && two.is_some() && shared.write(1).is_none());
        assert_eq!(used(&shared), 2);
        drop((one, two));
        assert_eq!(used(&shared), Used::NONE);
        std::mem::forget(shared.write(2));
        assert_eq!(used(&shared), 1);
        // A reader counts atomically, so it is not counted here.
        drop((shared.write(1), shared.read(0)));
        assert_eq!(used(&shared), Used::ANY);
        assert!(slots.share_alone().write(2).is_some());
        // One that is forgotten alone is freed as well.
        std::mem::forget(slots.share_alone().write(0));
        assert!(slots.share_alone().write(0).is_some() && slots.share().write(0).is_some());
    }

    #[test]
    fn a_session_of_a_thread_that_ended_lends_nothing_to_later_ones() {
        let mut slots = Slots::new();
        slots.push(1);
        std::thread::scope(|scope| {
            let shared = scope.spawn(|| slots.share_alone()).join().expect("no panic");
            // One of these is likely to have the memory of the first one.
            for _ in 0..8 {
                let lent = || [shared.read(0).is_some(), shared.write(0).is_some()];
                assert_eq!(
                    std::thread::scope(|scope| scope.spawn(lent).join()).expect("no panic"),
                    [false; 2]
                );
            }
        });
    }

    #[test]
    fn a_forgotten_guard_blocks_one_session_only() {
        let mut slots = Slots::new();
        slots.push(0);
        let shared = slots.share();
        std::mem::forget(shared.write(0));
        assert!(shared.read(0).is_none());
        assert!(slots.share().write(0).is_some());
        assert_eq!(format!("{slots:?}"), "[0]");
    }

    #[test]
    fn threads_add_up_under_the_flags() {
        let mut slots = Slots::new();
        slots.push(0u32);
        let shared = slots.share();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut left = 100;
                    while left > 0 {
                        match shared.write(0) {
                            Some(mut value) => {
                                *value += 1;
                                left -= 1;
                            }
                            None => std::thread::yield_now(),
                        }
                    }
                });
            }
        });
        assert_eq!(slots.get(0), Some(&400));
    }
}
