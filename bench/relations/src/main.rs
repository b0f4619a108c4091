//! Trees of entities here, in bevy_ecs and in flecs: built, changed, walked and despawned, all lines of a case interleaved.
//!
//! `bench/measure-relations` runs it, counts the instructions of detaching, and puts the tables into
//! `docs/performance.md`; `--help` lists the options.

use std::ops::Range;
use std::process::ExitCode;

use phalanx_measuring::bars::Bar;
use phalanx_measuring::clock;
use phalanx_measuring::contender::Contender;
use phalanx_measuring::program::{Case, Program};

mod bevy;
mod flecs;
mod ours;

/// Entities of a tree.
pub const SIZE: usize = 100_000;
/// Children of each entity of the bushy tree.
pub const BRANCHES: usize = 8;
/// How many get another parent.
const MOVED: usize = 10_000;
/// The roots of subtrees that are despawned: the children of the root, so all but one entity go.
pub const CUT: Range<usize> = 1..9;
/// Children of one parent, or of many, and how many of them leave.
pub const CHILDREN: usize = 100_000;
pub const DETACHED: usize = 1_000;

const BEVY: &str = "bevy_ecs";
const FLECS: &str = "flecs";
const OURS: &str = "phalanx";

/// Which entity is the parent of which.
#[derive(Clone, Copy)]
pub enum Tree {
    /// Each entity has [`BRANCHES`] children, as far as there are so many.
    Bushy,
    /// Chains of this length: each entity has one child, but for the last.
    Chains(usize),
}

impl Tree {
    /// The parent of an entity, by number: parents come first.
    pub fn parent(self, number: usize) -> Option<usize> {
        let before = number.checked_sub(1)?;
        match self {
            Self::Bushy => Some(before / BRANCHES),
            Self::Chains(length) => (number % length != 0).then_some(before),
        }
    }
}

/// What an entity adds to what is above it.
pub fn part(number: usize) -> [f32; 4] {
    let value = (number % 16) as f32;
    [value, 1.0, value, 2.0]
}

/// Leaves of the bushy tree, and the parents that they get by turns.
pub fn moves() -> impl Iterator<Item = (usize, [usize; 2])> {
    (0..MOVED).map(|n| {
        let leaf = SIZE - 1 - n * 7 % (SIZE / 2);
        (leaf, [(n * 31) % (SIZE / BRANCHES), (leaf - 1) / BRANCHES])
    })
}

/// Ours takes at most this part of the best peer's time.
const fn beside(lines: &'static [&'static str], of: &'static [&'static str]) -> Bar {
    Bar { lines, of, most: 0.7, without: None }
}

const PROPAGATE: &[Bar] = &[beside(
    &["phalanx/by-hand", "phalanx/cascade"],
    &["bevy_ecs/by-hand", "bevy_ecs/recursive", "flecs/each", "flecs/tables"],
)];

const CASES: &[Case] = &[
    Case {
        name: "build a tree",
        items: SIZE,
        lines: build,
        bars: &[beside(
            &["phalanx/loop", "phalanx/batches"],
            &["bevy_ecs/loop", "bevy_ecs/batches", "flecs/loop", "flecs/bulk"],
        )],
    },
    Case {
        name: "reparent",
        items: MOVED,
        lines: reparent,
        bars: &[beside(&["phalanx"], &["bevy_ecs", "flecs"])],
    },
    Case {
        name: "despawn subtrees",
        items: SIZE,
        lines: despawn,
        bars: &[beside(&["phalanx"], &["bevy_ecs", "flecs"])],
    },
    Case {
        name: "iterate children",
        items: SIZE,
        lines: iterate,
        bars: &[beside(&["phalanx"], &["bevy_ecs", "flecs/each_child", "flecs/tables"])],
    },
    Case { name: "propagate, depth 1", items: SIZE, lines: || propagate(Tree::Chains(1)), bars: PROPAGATE },
    Case { name: "propagate, depth 10", items: SIZE, lines: || propagate(Tree::Chains(10)), bars: PROPAGATE },
    Case {
        name: "propagate, depth 100",
        items: SIZE,
        lines: || propagate(Tree::Chains(100)),
        bars: PROPAGATE,
    },
    Case { name: "propagate, bushy", items: SIZE, lines: || propagate(Tree::Bushy), bars: PROPAGATE },
    Case {
        name: "detach one",
        items: DETACHED,
        lines: detach,
        bars: &[
            // Constant: as many instructions, which `bench/measure-relations` counts; caches may make a difference.
            Bar { lines: &["phalanx/of-100000"], of: &["phalanx/of-100"], most: 1.5, without: None },
        ],
    },
];

fn build() -> Vec<Contender> {
    let bevy_sum = |(world, all): &mut (_, Vec<_>)| bevy::links(world, all);
    let flecs_sum = |(world, all): &mut (_, Vec<_>)| flecs::links(world, all);
    let ours_sum = |(world, all): &mut (_, Vec<_>)| ours::links(world, all);
    vec![
        Contender::fresh((BEVY, "loop"), || bevy::build(Tree::Bushy), bevy_sum),
        Contender::fresh((BEVY, "batches"), bevy::build_batches, bevy_sum),
        Contender::fresh((FLECS, "loop"), || flecs::build(Tree::Bushy), flecs_sum),
        Contender::fresh((FLECS, "bulk"), flecs::build_bulk, flecs_sum),
        Contender::fresh((OURS, "loop"), || ours::build(Tree::Bushy), ours_sum),
        Contender::fresh((OURS, "batches"), ours::build_batches, ours_sum),
    ]
}

fn reparent() -> Vec<Contender> {
    vec![
        Contender::steady((BEVY, ""), bevy::Moves::new, bevy::Moves::run, bevy::Moves::checksum),
        Contender::steady((FLECS, ""), flecs::Moves::new, flecs::Moves::run, flecs::Moves::checksum),
        Contender::steady((OURS, ""), ours::Moves::new, ours::Moves::run, ours::Moves::checksum),
    ]
}

fn despawn() -> Vec<Contender> {
    // The tree of the next run is built outside of the timed part.
    macro_rules! line {
        ($library:ident, $name:expr) => {
            Contender::staged(
                ($name, ""),
                || $library::build(Tree::Bushy),
                |state| *state = $library::build(Tree::Bushy),
                $library::despawn,
                $library::alive,
            )
        };
    }
    vec![line!(bevy, BEVY), line!(flecs, FLECS), line!(ours, OURS)]
}

fn iterate() -> Vec<Contender> {
    vec![
        Contender::steady((BEVY, ""), bevy::Walk::new, bevy::Walk::run, |walk| walk.found),
        Contender::steady((FLECS, "each_child"), flecs::Walk::new, flecs::Walk::run_children, |walk| {
            walk.found
        }),
        Contender::steady((FLECS, "tables"), flecs::Walk::new, flecs::Walk::run_tables, |walk| walk.found),
        Contender::steady((OURS, ""), ours::Walk::new, ours::Walk::run, |walk| walk.found),
    ]
}

/// Transforms handed down.
fn propagate(tree: Tree) -> Vec<Contender> {
    let by_hand = move || bevy::ByHand::new(bevy::build(tree).0);
    let recursive = move || bevy::Recursive::new(bevy::build(tree).0);
    let tables = move || flecs::Cascading::new(flecs::build(tree).0);
    let ours_by_hand = move || ours::ByHand::new(ours::build(tree).0);
    let cascade = move || ours::Cascading::new(ours::build(tree).0);
    let mut lines = vec![
        Contender::steady((BEVY, "by hand"), by_hand, bevy::ByHand::run, |s| bevy::checksum(&mut s.world)),
        Contender::steady((BEVY, "recursive"), recursive, bevy::Recursive::run, |s| {
            bevy::checksum(&mut s.world)
        }),
        Contender::steady((FLECS, "each"), tables, flecs::Cascading::run_each, flecs::Cascading::checksum),
        Contender::steady(
            (FLECS, "tables"),
            tables,
            flecs::Cascading::run_tables,
            flecs::Cascading::checksum,
        ),
        Contender::steady((OURS, "by hand"), ours_by_hand, ours::ByHand::run, |s| {
            ours::checksum(&mut s.world)
        }),
        Contender::steady((OURS, "cascade"), cascade, ours::Cascading::run, |s| ours::checksum(&mut s.world)),
    ];
    if !clock::is_cpu() {
        let run = ours::Cascading::run_parallel;
        lines.push(Contender::steady((OURS, "par_cascade"), cascade, run, |s| ours::checksum(&mut s.world)));
    }
    lines
}

fn detach() -> Vec<Contender> {
    macro_rules! line {
        ($library:ident, $name:expr, $siblings:expr, $variant:expr) => {
            Contender::staged(
                ($name, $variant),
                || $library::Detaching::new($siblings),
                $library::Detaching::attach,
                $library::Detaching::run,
                $library::Detaching::checksum,
            )
        };
    }
    vec![
        line!(bevy, BEVY, 100, "of 100"),
        line!(bevy, BEVY, CHILDREN, "of 100000"),
        line!(flecs, FLECS, 100, "of 100"),
        line!(flecs, FLECS, CHILDREN, "of 100000"),
        line!(ours, OURS, 100, "of 100"),
        line!(ours, OURS, CHILDREN, "of 100000"),
    ]
}

fn main() -> ExitCode {
    let program = Program {
        about: "Measures trees of entities in Phalanx, bevy_ecs and flecs",
        notes: ", and lines on several threads are left out",
        cases: CASES,
        libraries: &["phalanx", "bevy_ecs", "flecs_ecs"],
        rounds: 21,
        lives: 1,
    };
    program.run()
}
