//! A checksum over values that does not depend on their order: libraries visit entities in different orders.

/// The sum of the scrambled bits of all values added.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds a number.
    pub fn number(&mut self, value: u64) {
        let scrambled = (value ^ (value >> 31)).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = self.0.wrapping_add(scrambled ^ (scrambled >> 29));
    }

    /// Adds the bits of a float.
    pub fn float(&mut self, value: f32) {
        self.number(u64::from(value.to_bits()));
    }

    /// Adds several floats as one value, so that exchanging two of them shows.
    pub fn floats(&mut self, values: &[f32]) {
        let joined = values.iter().fold(0u64, |joined, value| {
            joined.wrapping_mul(0x0100_0000_01B3).wrapping_add(u64::from(value.to_bits()))
        });
        self.number(joined);
    }

    /// The checksum.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The checksum of floats.
pub fn of_floats(values: impl IntoIterator<Item = f32>) -> u64 {
    let mut sum = Sum::default();
    values.into_iter().for_each(|value| sum.float(value));
    sum.get()
}

/// The checksum of rows of floats.
pub fn of_rows<const N: usize>(rows: impl IntoIterator<Item = [f32; N]>) -> u64 {
    let mut sum = Sum::default();
    rows.into_iter().for_each(|row| sum.floats(&row));
    sum.get()
}

/// The checksum of a workload in which entities come and go: how many came, and how many are left.
pub fn of_counts(came: usize, left: usize) -> u64 {
    let mut sum = Sum::default();
    sum.floats(&[came as f32, left as f32]);
    sum.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_rows_does_not_matter() {
        assert_eq!(of_rows([[1.0, 2.0], [3.0, 4.0]]), of_rows([[3.0, 4.0], [1.0, 2.0]]));
    }

    #[test]
    fn order_within_a_row_matters() {
        assert_ne!(of_rows([[1.0, 2.0]]), of_rows([[2.0, 1.0]]));
    }

    #[test]
    fn a_missing_zero_shows() {
        assert_ne!(of_floats([0.0, 0.0]), of_floats([0.0]));
    }
}
