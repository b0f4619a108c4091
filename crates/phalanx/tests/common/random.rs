//! Numbers that look random and are the same in every run.
//!
//! A small generator (SplitMix64) with its seed in the open: a failing case is repeated by its number.

/// A source of numbers.
#[derive(Clone)]
pub struct Random(u64);

#[allow(dead_code, reason = "not every test file uses every function")]
impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a usize")
    }

    pub fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}
