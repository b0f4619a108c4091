//! What many samples say: the median, and how far the middle half of them spreads.
//!
//! Medians and quartiles, because a shared machine makes single samples too slow by any amount, and never too
//! fast.

/// Median and quartiles of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// A quarter of the samples is smaller.
    pub low: f64,
    /// Half of the samples is smaller.
    pub median: f64,
    /// Three quarters of the samples are smaller.
    pub high: f64,
    /// The smallest sample.
    pub min: f64,
}

impl Summary {
    /// The summary of a series.
    ///
    /// # Panics
    /// When there is no sample.
    pub fn of(samples: &[f64]) -> Self {
        assert!(!samples.is_empty(), "a summary needs at least one sample");
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, median) = (quantile(&sorted, 0.25), quantile(&sorted, 0.5));
        Self { low, median, high: quantile(&sorted, 0.75), min: sorted[0] }
    }

    /// Half the distance of the quartiles, in parts of the median.
    pub fn spread(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.median
    }
}

/// The value below which a part of a sorted series lies, interpolated between neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_odd_series_is_its_middle() {
        assert_eq!(Summary::of(&[5.0, 1.0, 3.0]).median, 3.0);
    }

    #[test]
    fn median_of_an_even_series_lies_between_its_middles() {
        assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 3.0]).median, 2.5);
    }

    #[test]
    fn quartiles_enclose_the_middle_half() {
        let summary = Summary::of(&[9.0, 1.0, 5.0, 3.0, 7.0]);
        assert_eq!((summary.low, summary.high, summary.min), (3.0, 7.0, 1.0));
    }

    #[test]
    fn one_slow_sample_does_not_move_the_median() {
        let mut samples = vec![2.0; 60];
        samples.push(1e9);
        let summary = Summary::of(&samples);
        assert_eq!((summary.median, summary.spread()), (2.0, 0.0));
    }

    #[test]
    fn a_single_sample_is_its_own_summary() {
        let summary = Summary::of(&[4.0]);
        assert_eq!(summary, Summary { low: 4.0, median: 4.0, high: 4.0, min: 4.0 });
    }
}
