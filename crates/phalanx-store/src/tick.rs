//! The world's clock of writes.
//!
//! A [`Tick`] counts moments at which something may have been written; a later moment is a larger number.
//! It has 64 bits: at one billion ticks a second it lasts 584 years, so there is no wrap to guard against,
//! no clean-up pass, and "newer than" is a plain comparison.

/// A moment in a store's history of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Tick(u64);

impl Tick {
    /// Before every write.
    pub const ZERO: Self = Self(0);

    /// The tick with this number.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The tick's number.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The tick after this one.
    ///
    /// # Panics
    /// After 2^64 ticks.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.checked_add(1).expect("a world lives for less than 2^64 ticks"))
    }

    /// Whether this moment is after `other`.
    #[inline]
    pub const fn is_after(self, other: Self) -> bool {
        self.0 > other.0
    }
}
