//! Seeded random numbers: the same seed gives the same order of contenders and the same lookups.

/// SplitMix64: small, fast, and good enough for shuffling.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence that depends on the seed only.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.number()) * bound as u128) >> 64) as usize
    }

    /// Brings a slice into a random order.
    pub fn shuffle<T>(&mut self, slice: &mut [T]) {
        for last in (1..slice.len()).rev() {
            slice.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_every_element() {
        let mut numbers: Vec<usize> = (0..100).collect();
        Random::new(7).shuffle(&mut numbers);
        assert_ne!(numbers, (0..100).collect::<Vec<_>>());
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut a, mut b) = (Random::new(3), Random::new(3));
        assert!((0..100).all(|_| a.number() == b.number()));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::new(1);
        assert!((0..1000).all(|_| random.below(10) < 10));
    }
}
