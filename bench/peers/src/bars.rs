//! What Phalanx has to reach: one of its lines beside another library's, and how much slower it may be.
//!
//! Plain code is compared with plain code. A peer is left out where it cannot do what the line is about: gecs fixes its
//! archetypes when the program is compiled, so it is no peer for the spawns of General; sparse sets have no tables.

use crate::measure::{Measured, Outcome};
use crate::report::{LIMIT, OURS};
use crate::workload::Workload;

/// One comparison.
pub struct Bar {
    /// Where.
    pub workload: Workload,
    /// What is compared, in a few words.
    pub what: &'static str,
    ours: Ours,
    rival: Rival,
    /// How many times the rival's time ours may be.
    pub at_most: f64,
}

/// Which of our lines: the fastest of them counts.
enum Ours {
    Plain,
    Any,
    Variants(&'static [&'static str]),
}

/// Whose lines: the fastest of them counts.
enum Rival {
    /// Plain code of any other library.
    Plain,
    /// Plain code of these libraries.
    PlainOf(&'static [&'static str]),
    /// Any code of any other library.
    Any,
    /// Any code of one library.
    Library(&'static str),
    /// A line of ours.
    Own(&'static str),
}

/// Libraries whose archetypes come at run time.
const DYNAMIC: &[&str] = &["bevy", "hecs", "shipyard", "flecs", "sparsey"];
/// Libraries that keep components in tables.
const TABLES: &[&str] = &["bevy", "hecs", "flecs", "gecs"];
/// What noise may add.
const LEVEL: f64 = 1.03;

/// All bars, in the order of the table.
pub const ALL: &[Bar] = &[
    plain(Workload::SimpleIter, "`for`", Rival::Plain),
    plain(Workload::IterCold, "`for`", Rival::Plain),
    plain(Workload::IterWarm, "`for`", Rival::Plain),
    plain(Workload::FragmentedIter, "`for`, tables", Rival::PlainOf(TABLES)),
    plain(Workload::FragmentedWide, "`for`, tables", Rival::PlainOf(TABLES)),
    plain(Workload::GroupIter, "`for`", Rival::Plain),
    plain(Workload::FiveComponents, "`for`", Rival::Plain),
    bar(Workload::FiveComponents, "`for_each`", Ours::Variants(&["table"]), Rival::Any, LEVEL),
    plain(Workload::Filtered, "`for`", Rival::Plain),
    plain(Workload::Schedule, "`for` in systems", Rival::Plain),
    plain(Workload::InsertLoop, "`spawn`, 4 components", Rival::PlainOf(DYNAMIC)),
    plain(Workload::InsertEight, "`spawn`, 8 components", Rival::PlainOf(DYNAMIC)),
    plain(Workload::SpawnDespawn, "one by one", Rival::PlainOf(DYNAMIC)),
    plain(Workload::AddRemove, "tables", Rival::PlainOf(TABLES)),
    plain(Workload::RandomGetMut, "`query.get_mut`", Rival::Plain),
    plain(Workload::RandomGetMutWorld, "`world.get_mut`", Rival::PlainOf(DYNAMIC)),
    plain(Workload::ChangedSpread, "`Changed`", Rival::Plain),
    plain(Workload::ChangedClustered, "`Changed`", Rival::Plain),
    plain(Workload::Commands, "record and apply", Rival::Plain),
    bar(Workload::InsertLoop, "pool", Ours::Variants(POOL), Rival::Library("gecs"), 1.05),
    bar(Workload::RandomGet, "pool, handle", Ours::Variants(&["pool handle"]), Rival::Library("gecs"), 1.05),
    bar(
        Workload::FragmentedIter,
        "sparse, any line",
        Ours::Variants(SPARSE),
        Rival::Library("sparsey"),
        LEVEL,
    ),
    bar(
        Workload::FragmentedWide,
        "sparse, any line",
        Ours::Variants(SPARSE),
        Rival::Library("sparsey"),
        LEVEL,
    ),
    bar(Workload::RandomGet, "any line", Ours::Any, Rival::Library("sparsey"), LEVEL),
    bar(Workload::RandomGetWorld, "any line", Ours::Any, Rival::Library("gecs"), 1.3 * LEVEL),
    bar(Workload::SpawnDespawn, "any line", Ours::Any, Rival::Library("gecs"), LEVEL),
    plain(Workload::InsertSparse, "`spawn`, 4 sparse", Rival::Library("sparsey")),
    plain(Workload::PairSparse, "`for`, two sets", Rival::PlainOf(&["sparsey"])),
    bar(Workload::PairSparse, "two sets, any line", Ours::Any, Rival::Library("sparsey"), LEVEL),
    plain(Workload::InsertGroup, "`spawn`, 4 sparse in a group", Rival::Library("sparsey")),
    plain(Workload::AddRemoveGroup, "in a group", Rival::Library("sparsey")),
    plain(Workload::HeavyCompute, "`par_iter`, rayon by hand", Rival::Library(LIMIT)).at_most(1.05),
    plain(Workload::ParLight(10_000), "`par_iter`, own `for_each`", Rival::Own("serial")).at_most(1.0),
    plain(Workload::ParLight(1_000_000), "`par_iter`, own `for_each`", Rival::Own("serial")).at_most(1.0),
];

const POOL: &[&str] = &["pool", "pool plain"];
const SPARSE: &[&str] = &["sparse", "sparse slices"];

const fn bar(workload: Workload, what: &'static str, ours: Ours, rival: Rival, at_most: f64) -> Bar {
    Bar { workload, what, ours, rival, at_most }
}

const fn plain(workload: Workload, what: &'static str, rival: Rival) -> Bar {
    bar(workload, what, Ours::Plain, rival, LEVEL)
}

/// A bar with both of its lines.
pub struct Result<'o> {
    pub bar: &'static Bar,
    pub ours: &'o Measured,
    pub rival: &'o Measured,
}

impl Bar {
    const fn at_most(self, at_most: f64) -> Self {
        bar(self.workload, self.what, self.ours, self.rival, at_most)
    }

    /// The two lines, where both were measured.
    fn look<'o>(&'static self, outcomes: &'o [Outcome]) -> Option<Result<'o>> {
        let outcome = outcomes.iter().find(|outcome| outcome.workload == self.workload)?;
        let ours = outcome.best(|line| {
            let chosen = match &self.ours {
                Ours::Plain => line.plain,
                Ours::Any => true,
                Ours::Variants(names) => names.contains(&line.variant),
            };
            line.library == OURS && chosen
        })?;
        let peer = |line: &Measured| line.library != OURS && line.library != LIMIT;
        let rival = outcome.best(|line| match &self.rival {
            Rival::Plain => peer(line) && line.plain,
            Rival::PlainOf(libraries) => libraries.contains(&line.library) && line.plain,
            Rival::Any => peer(line),
            Rival::Library(library) => line.library == *library,
            Rival::Own(variant) => line.library == OURS && line.variant == *variant,
        })?;
        Some(Result { bar: self, ours, rival })
    }
}

impl Result<'_> {
    /// Our time in parts of the rival's.
    pub fn ratio(&self) -> f64 {
        self.ours.time.median / self.rival.time.median
    }

    /// Whether the bar is reached, to two decimals.
    pub fn reached(&self) -> bool {
        self.ratio() < self.bar.at_most + 0.005
    }
}

/// All bars of which both lines were measured.
pub fn look(outcomes: &[Outcome]) -> Vec<Result<'_>> {
    ALL.iter().filter_map(|bar| bar.look(outcomes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers;

    fn outcome(workload: Workload, lines: &[(&'static str, &'static str, bool, f64)]) -> Outcome {
        let line = |&(library, variant, plain, time): &(_, _, _, f64)| Measured {
            plain,
            ..Measured::of(library, variant, vec![time])
        };
        Outcome { workload, checksum: 0, measured: lines.iter().map(line).collect() }
    }

    #[test]
    fn every_bar_finds_its_lines() {
        for bar in ALL {
            let lines: Vec<_> = peers::contenders(bar.workload)
                .iter()
                .map(|contender| (contender.library, contender.variant, contender.plain, 1.0))
                .collect();
            let outcomes = [outcome(bar.workload, &lines)];
            assert!(bar.look(&outcomes).is_some(), "{} {}", bar.workload.name(), bar.what);
        }
    }

    #[test]
    fn plain_code_is_compared_with_plain_code() {
        let lines = [("hecs", "", false, 1.0), ("hecs", "plain", true, 2.0), ("phalanx", "plain", true, 3.0)];
        let outcomes = [outcome(Workload::SimpleIter, &lines)];
        let results = look(&outcomes);
        assert_eq!(results.len(), 1);
        assert_eq!((results[0].ratio(), results[0].reached()), (1.5, false));
    }

    #[test]
    fn gecs_is_no_peer_for_plain_spawns() {
        let lines = [("gecs", "", true, 1.0), ("hecs", "", true, 4.0), ("phalanx", "table", true, 2.0)];
        let outcomes = [outcome(Workload::InsertLoop, &lines)];
        let spawns: Vec<_> = look(&outcomes).into_iter().filter(|result| result.ours.plain).collect();
        assert_eq!(spawns.iter().map(Result::reached).collect::<Vec<_>>(), [true]);
        assert_eq!(spawns[0].rival.library, "hecs");
    }
}
