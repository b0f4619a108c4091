//! What exclusive access to a row remembers: nothing, or the ticks of the row.
//!
//! [`Stamp`] stands beside the `&mut T` of a row. For [`Untracked`] types it has no size, so the access is a plain
//! reference; for types with [`RowTicks`] it points to the row's ticks and marks the row at the first write. It holds
//! pointers instead of references chosen by an associated type, which would make its lifetime invariant.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::tick::Tick;

mod sealed {
    pub trait Sealed {}
}

/// Whether rows keep ticks: [`Untracked`] or [`RowTicks`]. It cannot be implemented outside this crate.
pub trait Tracking: sealed::Sealed + 'static {
    #[doc(hidden)]
    type Ticks: Copy;
    #[doc(hidden)]
    fn ticks(ticks: &Self::Ticks) -> Option<&TicksOfRow>;
}

/// Rows keep no ticks of their own; blocks of rows may.
pub enum Untracked {}
/// Each row keeps the ticks at which it was added and last changed.
pub enum RowTicks {}

/// Where the ticks of one row are, and the moments they are compared with.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct TicksOfRow {
    added: NonNull<Tick>,
    changed: NonNull<Tick>,
    since: Tick,
    now: Tick,
}

impl sealed::Sealed for Untracked {}
impl Tracking for Untracked {
    type Ticks = ();
    #[inline(always)]
    fn ticks((): &()) -> Option<&TicksOfRow> {
        None
    }
}

impl sealed::Sealed for RowTicks {}
impl Tracking for RowTicks {
    type Ticks = TicksOfRow;
    #[inline(always)]
    fn ticks(ticks: &TicksOfRow) -> Option<&TicksOfRow> {
        Some(ticks)
    }
}

/// Exclusive access to the ticks of one row, if it keeps any.
pub struct Stamp<'a, K: Tracking> {
    ticks: K::Ticks,
    access: PhantomData<&'a mut Tick>,
}

// SAFETY: a stamp stands for the references that it was made of, a shared and an exclusive one, to ticks, which are `Send`
// and `Sync`.
unsafe impl<K: Tracking> Send for Stamp<'_, K> {}
// SAFETY: through `&Stamp` ticks are only read, and they are `Sync`.
unsafe impl<K: Tracking> Sync for Stamp<'_, K> {}

impl Stamp<'_, Untracked> {
    /// No ticks.
    #[inline(always)]
    pub fn none() -> Self {
        Self { ticks: (), access: PhantomData }
    }
}

impl<'a> Stamp<'a, RowTicks> {
    /// The ticks of a row. A mark sets `changed` to `now`; what came after `since` is new.
    #[inline(always)]
    pub fn new(added: &'a Tick, changed: &'a mut Tick, since: Tick, now: Tick) -> Self {
        let ticks = TicksOfRow { added: NonNull::from(added), changed: NonNull::from(changed), since, now };
        Self { ticks, access: PhantomData }
    }

    /// When the row was added.
    #[inline]
    pub fn added(&self) -> Tick {
        // SAFETY: locally: made from a shared reference that lives for `'a`.
        unsafe { self.ticks.added.read() }
    }

    /// When the row was last marked.
    #[inline]
    pub fn changed(&self) -> Tick {
        // SAFETY: locally: made from an exclusive reference that lives for `'a`, for which the stamp stands alone; marking
        // borrows the stamp exclusively.
        unsafe { self.ticks.changed.read() }
    }

    /// The moment after which something is new.
    #[inline]
    pub fn since(&self) -> Tick {
        self.ticks.since
    }
}

impl<K: Tracking> Stamp<'_, K> {
    /// Notes that the row is written now.
    #[inline(always)]
    pub fn mark(&mut self) {
        if let Some(ticks) = K::ticks(&self.ticks) {
            // SAFETY: locally: made from an exclusive reference that lives for `'a`, and the stamp, which stands for it
            // alone, is borrowed exclusively.
            unsafe { ticks.changed.write(ticks.now) };
        }
    }

    /// The same stamp for a shorter time.
    #[inline(always)]
    pub fn reborrow(&mut self) -> Stamp<'_, K> {
        Stamp { ticks: self.ticks, access: PhantomData }
    }
}
