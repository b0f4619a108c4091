//! What lines may take in parts of others, within one run: comparisons that hold, are missed, or cannot be decided.

use crate::contender::full_name;
use crate::measure::Measured;
use crate::nanos;
use crate::stats::Summary;

/// What one of some lines may take in parts of the best of others.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// Whose time is meant: the fastest of them.
    pub lines: &'static [&'static str],
    /// In parts of the fastest of these.
    pub of: &'static [&'static str],
    /// At most so many.
    pub most: f64,
    /// A line whose time is taken off both, because neither is about it.
    pub without: Option<&'static str>,
}

/// How a bar came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The lines that were compared.
    pub line: String,
    pub of: String,
    /// The ratio, where there is one.
    pub ratio: Option<f64>,
    /// The same without anything taken off.
    pub whole: f64,
    pub holds: bool,
}

impl Bar {
    /// Compares two lines of a run.
    ///
    /// With [`Bar::without`], the ratio is that of the medians of what is left, round by round. Where a line took no longer
    /// than the one that is taken off, noise is larger than what is compared, and nothing can be decided: that does not
    /// hold.
    ///
    /// # Panics
    /// When a line that the bar names was not measured.
    pub fn check(&self, measured: &[Measured]) -> Verdict {
        let (line, of) = (fastest(measured, self.lines), fastest(measured, self.of));
        let whole = line.ratio_to(of).median;
        let ratio = match self.without {
            None => Some(whole),
            Some(base) => {
                let base = fastest(measured, &[base]);
                let rest = |line: &Measured| {
                    let rest = line.samples.iter().zip(&base.samples).map(|(line, base)| line - base);
                    Summary::of(&rest.collect::<Vec<f64>>()).median
                };
                let (line, of) = (rest(line), rest(of));
                (line > 0.0 && of > 0.0).then(|| line / of)
            }
        };
        let holds = ratio.is_some_and(|ratio| ratio <= self.most);
        Verdict { line: name(line), of: name(of), ratio, whole, holds }
    }

    /// The comparison in words, with its end.
    pub fn sentence(&self, verdict: &Verdict) -> String {
        let Verdict { line, of, ratio, whole, holds } = verdict;
        let mut text = format!("{line} of {of}");
        if let Some(base) = self.without {
            text += &format!(" without {base} ({whole:.2} with it)");
        }
        let end = match (ratio, holds) {
            (None, _) => "cannot be told: noise is larger than the difference".to_owned(),
            (Some(ratio), true) => format!("{ratio:.2}, at most {:.2}: holds", self.most),
            (Some(ratio), false) => format!("{ratio:.2}, at most {:.2}: **missed**", self.most),
        };
        format!("{text}: {end}")
    }
}

fn name(line: &Measured) -> String {
    full_name(line.library, line.variant)
}

fn fastest<'a>(measured: &'a [Measured], names: &[&str]) -> &'a Measured {
    let meant = measured.iter().filter(|line| names.contains(&name(line).as_str()));
    meant.min_by(|a, b| a.time.median.total_cmp(&b.time.median)).expect("a bar names lines of its case")
}

/// One case of a table: its name, its times and its bars. Prints it, adds it to the table, and tells whether all bars hold.
pub fn report(case: &str, measured: &[Measured], bars: &[Bar], table: &mut Table) -> bool {
    println!("{case}");
    for line in measured {
        println!("  {:<22} {:>9} ns", name(line), nanos(line.time.median));
        let (time, low, high) = (line.time.median, line.time.low, line.time.high);
        table.times.push(format!(
            "| {case} | `{}` | {} | {} – {} |",
            name(line),
            nanos(time),
            nanos(low),
            nanos(high)
        ));
    }
    let mut all = true;
    for bar in bars {
        let verdict = bar.check(measured);
        let sentence = bar.sentence(&verdict);
        println!("  {sentence}");
        table.bars.push(format!("- {case}: {sentence}."));
        all &= verdict.holds;
    }
    all
}

/// What a run puts into a page.
#[derive(Default)]
pub struct Table {
    times: Vec<String>,
    bars: Vec<String>,
}

impl Table {
    /// The page's part: circumstances, bars, times.
    pub fn markdown(&self, circumstances: &str) -> String {
        let Self { times, bars } = self;
        format!(
            "{circumstances}\n\n{}\n\n| case | line | ns per item | quartiles |\n|---|---|---|---|\n{}\n",
            bars.join("\n"),
            times.join("\n")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> [Measured; 4] {
        [
            Measured::of("peer", "slow", vec![9.0, 9.0, 9.0]),
            Measured::of("peer", "fast", vec![4.0, 4.0, 4.0]),
            Measured::of("ours", "", vec![2.0, 2.0, 2.0]),
            Measured::of("none", "", vec![1.0, 1.0, 1.0]),
        ]
    }

    const BAR: Bar = Bar { lines: &["ours"], of: &["peer/slow", "peer/fast"], most: 0.5, without: None };

    #[test]
    fn the_fastest_of_the_others_counts() {
        let verdict = BAR.check(&run());
        assert_eq!((verdict.of.as_str(), verdict.ratio, verdict.holds), ("peer/fast", Some(0.5), true));
        assert!(!Bar { most: 0.4, ..BAR }.check(&run()).holds);
    }

    #[test]
    fn what_neither_is_about_is_taken_off_both() {
        let verdict = Bar { without: Some("none"), ..BAR }.check(&run());
        assert_eq!((verdict.ratio, verdict.whole), (Some(1.0 / 3.0), 0.5));
    }

    #[test]
    fn a_line_that_took_less_than_what_is_taken_off_does_not_hold() {
        for of in [&["peer/fast"], &["none"]] {
            let verdict = Bar { lines: &["none"], of, without: Some("ours"), ..BAR }.check(&run());
            assert_eq!((verdict.ratio, verdict.holds), (None, false));
        }
    }
}
