//! Sums of floats that do not depend on the order: exact until they are read.
//!
//! Every `f64` is a whole number of 2^-1074. The accumulator is such a number with 2,176 bits, in limbs of 32 bits that
//! have room for carries, so that adding is exact and two accumulators can be added on any rank.

/// How many limbs of 32 bits: from 2^-1074 to above 2^1023, and room for sums.
const LIMBS: usize = 68;

/// A sum that is the same in any order.
///
/// ```
/// use phalanx_mpi::ExactSum;
///
/// let mut sum = ExactSum::new();
/// [1e300, 1.0, -1e300].into_iter().for_each(|value| sum.add(value));
/// assert_eq!(sum.get(), 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactSum {
    limbs: [i64; LIMBS],
    /// How many values were added since carries were passed on.
    added: u32,
    /// Infinities and values that are no numbers, by their kind.
    special: [u64; 3],
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl ExactSum {
    /// Zero.
    pub const fn new() -> Self {
        Self { limbs: [0; LIMBS], added: 0, special: [0; 3] }
    }

    /// Adds a value.
    #[expect(clippy::cast_possible_truncation, reason = "parts of 32 bits are taken on purpose")]
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            let kind = if value.is_nan() { 0 } else { 1 + usize::from(value < 0.0) };
            self.special[kind] += 1;
            return;
        }
        let bits = value.to_bits();
        let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        // Subnormal numbers have the scale of the smallest exponent, and no leading one.
        let (shift, mantissa) = match exponent {
            0 => (0, fraction),
            _ => (exponent - 1, fraction | 1 << 52),
        };
        let (limb, within) = ((shift / 32) as usize, shift % 32);
        let wide = u128::from(mantissa) << within;
        for part in 0..3 {
            let piece = i64::from((wide >> (32 * part)) as u32);
            self.limbs[limb + part] += if value < 0.0 { -piece } else { piece };
        }
        self.added += 1;
        if self.added == 1 << 30 {
            self.carry();
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.limbs.iter_mut().zip(other.limbs).for_each(|(limb, more)| *limb += more);
        self.special.iter_mut().zip(other.special).for_each(|(count, more)| *count += more);
        self.carry();
    }

    /// Passes carries on: all limbs but the last are within 32 bits, and equal sums have equal limbs.
    fn carry(&mut self) {
        for at in 0..LIMBS - 1 {
            let carry = self.limbs[at] >> 32;
            self.limbs[at] -= carry << 32;
            self.limbs[at + 1] += carry;
        }
        self.added = 0;
    }

    /// The sum, within one rounding per limb: the same bits for the same values in any order.
    pub fn get(&self) -> f64 {
        match self.special {
            [0, 0, 0] => {}
            [0, _, 0] => return f64::INFINITY,
            [0, 0, _] => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let mut total = 0.0;
        for (at, &limb) in sum.limbs.iter().enumerate().rev() {
            // In two steps, because 2^-1074 times 2^32 to the power of `at` may be beyond what one factor can be.
            let exponent = i32::try_from(at).expect("few limbs") * 32 - 1074;
            let half = exponent / 2;
            total += limb as f64 * 2_f64.powi(half) * 2_f64.powi(exponent - half);
        }
        if negative { -total } else { total }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let mut sum = self.clone();
        sum.carry();
        sum.limbs.map(i64::cast_unsigned).into_iter().chain(sum.special)
    }

    pub(crate) fn from_words(mut next: impl FnMut() -> Option<u64>) -> Option<Self> {
        let mut sum = Self::new();
        for limb in &mut sum.limbs {
            *limb = next()?.cast_signed();
        }
        for count in &mut sum.special {
            *count = next()?;
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: impl IntoIterator<Item = f64>) -> ExactSum {
        let mut sum = ExactSum::new();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }

    #[test]
    fn single_values_come_back_as_they_are() {
        for value in [0.0, 1.0, -1.5, 0.1, 1e300, -1e-300, f64::MAX, f64::MIN_POSITIVE, 5e-324, 12_345.678_9]
        {
            assert_eq!(sum([value]).get(), value);
            assert_eq!(sum([value, value, -value]).get(), value);
        }
        assert!(sum([f64::INFINITY, f64::NEG_INFINITY]).get().is_nan());
        assert_eq!(sum([f64::INFINITY, 1.0]).get(), f64::INFINITY);
    }

    #[test]
    fn order_and_parts_do_not_matter() {
        let mut state = 1_u64;
        let values: Vec<f64> = (0..2000)
            .map(|at| {
                state = crate::wire::mix(state.wrapping_add(at));
                let value = f64::from_bits(state);
                if value.is_finite() { value / 1e10 } else { 1.0 }
            })
            .collect();
        let whole = sum(values.iter().copied());
        let backwards = sum(values.iter().rev().copied());
        let mut parts = sum(values[..700].iter().copied());
        parts.merge(&sum(values[700..].iter().copied()));
        assert_eq!(whole.get().to_bits(), backwards.get().to_bits());
        assert_eq!(whole.get().to_bits(), parts.get().to_bits());
    }
}
