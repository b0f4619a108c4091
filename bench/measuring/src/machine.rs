//! What the numbers were measured on: processor, compiler, versions, date.

use std::time::{SystemTime, UNIX_EPOCH};

/// The circumstances of a run.
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub rustc: &'static str,
    pub versions: Vec<(&'static str, String)>,
    pub date: String,
    pub rounds: usize,
    pub seed: u64,
}

impl Machine {
    /// Looks at the machine; the versions are those of the crates named.
    pub fn look(crates: &[&'static str], rounds: usize, seed: u64) -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name"));
        let processor =
            model.and_then(|rest| rest.split_once(':')).map_or("unknown", |(_, name)| name.trim());
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Self {
            processor: processor.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            rustc: env!("MEASURING_RUSTC"),
            versions: crates.iter().map(|&name| (name, version(name))).collect(),
            date: date(seconds / 86_400),
            rounds,
            seed,
        }
    }

    /// All of it in one sentence.
    pub fn sentence(&self) -> String {
        let Self { processor, cores, rustc, date, rounds, seed, .. } = self;
        let versions: Vec<String> =
            self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        format!(
            "{date}, {processor}, {cores} cores, {rustc}, opt-level 3, fat LTO, one codegen unit, default target-cpu; \
             {rounds} rounds, seed {seed}. {}.",
            versions.join(", ")
        )
    }
}

/// The version of a crate in the lock file this program was built with.
pub fn version(name: &str) -> String {
    let lock = include_str!("../../Cargo.lock");
    let entry = format!("name = \"{name}\"\nversion = \"");
    let rest = lock.split_once(entry.as_str()).map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// The calendar date of a day since 1970-01-01.
fn date(days: u64) -> String {
    let (mut year, mut left) = (1970, days);
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if left < length {
            break;
        }
        left -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(date(19_783), "2024-03-01");
        assert_eq!(date(20_089), "2025-01-01");
    }

    #[test]
    fn versions_come_from_the_lock_file() {
        assert!(!version("phalanx").is_empty());
        assert!(version("no-such-crate").is_empty());
    }
}
