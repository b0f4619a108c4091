//! Changes that have listeners, in Phalanx and in bevy_ecs: one program, one run, all lines interleaved.
//!
//! `bench/measure-reactions` runs it and counts instructions; `--help` lists the options.

use std::process::ExitCode;

use phalanx_measuring::bars::Bar;
use phalanx_measuring::program::{Case, Program};

mod bevy;
mod matching;
mod ours;

/// How many entities come, or get a component and lose it.
pub const ENTITIES: usize = 10_000;

const CASES: &[Case] = &[
    Case {
        name: "add_remove",
        items: ENTITIES,
        lines: || {
            vec![
                bevy::add_remove(false),
                bevy::add_remove(true),
                ours::add_remove(false),
                ours::add_remove(true),
            ]
        },
        bars: &[Bar { lines: &["phalanx/observed"], of: &["bevy/observed"], most: 0.7, without: None }],
    },
    Case {
        name: "spawn_batch",
        items: ENTITIES,
        lines: || {
            use ours::Listening::{Batched, None, Observed};
            let ours = [None, Observed, Batched].map(ours::spawn_batch);
            [bevy::spawn_batch(false), bevy::spawn_batch(true)].into_iter().chain(ours).collect()
        },
        bars: &[
            Bar { lines: &["phalanx/observed"], of: &["bevy/observed"], most: 0.7, without: None },
            Bar { lines: &["phalanx/batched"], of: &["phalanx/none"], most: 1.3, without: None },
        ],
    },
    Case {
        name: "matched",
        items: matching::CHANGED,
        lines: matching::lines,
        bars: &[Bar {
            lines: &["phalanx/matched"],
            of: &["phalanx/scan"],
            most: 0.3,
            without: Some("phalanx/none"),
        }],
    },
];

fn main() -> ExitCode {
    let program = Program {
        about: "Measures changes that somebody hears of",
        notes: "",
        cases: CASES,
        libraries: &["phalanx", "bevy_ecs"],
        rounds: 61,
        lives: 3,
    };
    program.run()
}
