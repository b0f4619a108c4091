//! The world's clock of writes.
//!
//! A [`Tick`] counts moments at which something may have been written; a later moment is a larger number.
//! It has 63 bits: at one billion ticks a second it lasts 292 years, so there is no wrap to guard against,
//! no clean-up pass, and "newer than" is a plain comparison. The bit that is left over makes it a subtraction,
//! too, which vectors have where they have no comparison of 64 bits.

#![forbid(unsafe_code)]

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
    /// After 2^63 ticks, and where the number is larger than that: a clock never goes back on its own.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        // Of all numbers, these alone have a positive successor: one comparison.
        let next = self.0.wrapping_add(1).cast_signed();
        assert!(next > 0, "a world lives for less than 2^63 ticks");
        Self(next.cast_unsigned())
    }

    /// Whether this moment is after `other`.
    #[inline]
    pub const fn is_after(self, other: Self) -> bool {
        self.0 > other.0
    }
}

/// How many ticks are compared at once.
const GROUP: usize = 16;

/// The position of the first tick that is after `since`, or the number of ticks.
#[inline]
pub(crate) fn first_after(ticks: &[Tick], since: Tick) -> usize {
    match ticks.first() {
        // Where many rows are new, the next one mostly is: no call for those.
        Some(first) if first.is_after(since) => 0,
        _ => search_after(ticks, since),
    }
}

#[inline(never)]
fn search_after(ticks: &[Tick], since: Tick) -> usize {
    let first_new = since.0.wrapping_add(1);
    let (groups, _) = ticks.as_chunks::<GROUP>();
    // The sign tells for numbers below 2^63; for a moment that is none, it asks for a closer look at each group.
    let old = |group: &&[Tick; GROUP]| {
        group.iter().fold(u64::MAX, |all, tick| all & tick.0.wrapping_sub(first_new)) >> 63 == 1
    };
    let mut start = 0;
    loop {
        start += GROUP * groups[start / GROUP..].iter().take_while(old).count();
        let end = ticks.len().min(start + GROUP);
        match ticks[start..end].iter().position(|tick| tick.is_after(since)) {
            Some(found) => return start + found,
            None if end == ticks.len() => return end,
            None => start = end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_newer_tick_is_found_wherever_it_is() {
        for len in 0..70_usize {
            for newer in 0..=len {
                let ticks: Vec<Tick> =
                    (0..len).map(|at| Tick::new(if at == newer { 6 } else { 5 - at as u64 % 3 })).collect();
                for from in 0..=newer {
                    assert_eq!(first_after(&ticks[from..], Tick::new(5)), newer - from, "{from}..{len}");
                }
                if newer < len {
                    let after = first_after(&ticks[newer + 1..], Tick::new(5));
                    assert_eq!(after, len - newer - 1, "nothing new after {newer} of {len}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_passed_over_at_the_ends_of_time() {
        let last = Tick::new(i64::MAX as u64);
        let ticks = [[Tick::ZERO; 11].as_slice(), &[last]].concat();
        assert_eq!(first_after(&ticks, Tick::ZERO), 11);
        assert_eq!(first_after(&ticks, Tick::new(last.get() - 1)), 11);
        assert_eq!(first_after(&ticks, last), 12);
        assert_eq!(first_after(&[last; 40], Tick::new(u64::MAX)), 40);
    }
}
