//! Trees of entities here and in bevy_ecs: built, changed, walked and despawned, all lines of a case interleaved.
//!
//! `--quick` takes fewer rounds, `--case NAME` only cases whose names begin so. Times are medians in nanoseconds per
//! entity; what counts is the last column, the median of the ratios to bevy_ecs round by round.

use std::process::ExitCode;

use phalanx_measuring::contender::Contender;
use phalanx_measuring::measure::{Task, measure};
use phalanx_measuring::random::Random;

const SIZE: usize = 100_000;
const MOVED: usize = 10_000;
const OURS: &str = "phalanx";
const BEVY: &str = "bevy_ecs";

mod bevy {
    use bevy_ecs::prelude::*;
    include!("shared.rs");
}

mod ours {
    use phalanx::prelude::*;
    use phalanx::world::CascadeOrder;
    include!("shared.rs");

    /// Parents before children, in an order that is kept.
    pub struct Cascading {
        pub world: World,
        order: CascadeOrder<ChildOf>,
        parts: QueryState<(&'static Local, &'static mut Global)>,
    }

    impl Cascading {
        pub fn new(world: World) -> Self {
            let (order, parts) = (CascadeOrder::new(&world), world.query());
            Self { world, order, parts }
        }

        pub fn run(&mut self) {
            self.order.update(&self.world);
            let nothing = Global([0.0; 4]);
            self.parts.query_mut(&mut self.world).cascade(&self.order, |above, (local, mut global)| {
                *global = sum(local, above.map_or(&nothing, |(_, above)| above));
            });
        }
    }
}

/// The name of a case, how many entities one run handles, and who does it: bevy_ecs first.
type Case = (&'static str, usize, Vec<Contender>);

fn build() -> Case {
    let bevy = Contender::fresh((BEVY, ""), || bevy::tree(SIZE), |(_, all)| all.len() as u64);
    let ours = Contender::fresh((OURS, ""), || ours::tree(SIZE), |(_, all)| all.len() as u64);
    ("build a tree", SIZE, vec![bevy, ours])
}

fn reparent() -> Case {
    let bevy = Contender::steady(
        (BEVY, ""),
        || bevy::Moves::new(SIZE, MOVED),
        bevy::Moves::run,
        bevy::Moves::checksum,
    );
    let ours = Contender::steady(
        (OURS, ""),
        || ours::Moves::new(SIZE, MOVED),
        ours::Moves::run,
        ours::Moves::checksum,
    );
    ("reparent", MOVED, vec![bevy, ours])
}

fn despawn() -> Case {
    let bevy = Contender::staged(
        (BEVY, ""),
        || bevy::tree(SIZE),
        |state| *state = bevy::tree(SIZE),
        |(world, all)| {
            all[1..9].iter().for_each(|&root| {
                world.despawn(root);
            });
        },
        |(world, all)| all.iter().filter(|&&entity| world.get_entity(entity).is_ok()).count() as u64,
    );
    let ours = Contender::staged(
        (OURS, ""),
        || ours::tree(SIZE),
        |state| *state = ours::tree(SIZE),
        |(world, all)| {
            all[1..9].iter().for_each(|&root| {
                world.despawn(root);
            });
        },
        |(world, all)| all.iter().filter(|&&entity| world.get_entity(entity).is_ok()).count() as u64,
    );
    ("despawn subtrees", SIZE, vec![bevy, ours])
}

fn iterate() -> Case {
    let bevy = Contender::steady(
        (BEVY, ""),
        || {
            let (mut world, _) = bevy::tree(SIZE);
            let query = world.query();
            (world, query, 0)
        },
        |(world, query, sum)| *sum = bevy::children(world, query),
        |(_, _, sum)| *sum,
    );
    let ours = Contender::steady(
        (OURS, ""),
        || {
            let (world, _) = ours::tree(SIZE);
            let query = world.query();
            (world, query, 0)
        },
        |(world, query, sum)| *sum = ours::children(world, query),
        |(_, _, sum)| *sum,
    );
    ("iterate children", SIZE, vec![bevy, ours])
}

/// Transforms handed down in chains of this length.
fn propagate<const LENGTH: usize>(name: &'static str) -> Case {
    let bevy = Contender::steady(
        (BEVY, ""),
        || bevy::ByHand::new(bevy::chains(SIZE, LENGTH)),
        bevy::ByHand::run,
        |state| bevy::checksum(&mut state.world),
    );
    let by_hand = Contender::steady(
        (OURS, "by hand"),
        || ours::ByHand::new(ours::chains(SIZE, LENGTH)),
        ours::ByHand::run,
        |state| ours::checksum(&mut state.world),
    );
    let cascade = Contender::steady(
        (OURS, "cascade"),
        || ours::Cascading::new(ours::chains(SIZE, LENGTH)),
        ours::Cascading::run,
        |state| ours::checksum(&mut state.world),
    );
    (name, SIZE, vec![bevy, by_hand, cascade])
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = if args.iter().any(|arg| arg == "--quick") { 7 } else { 31 };
    let wanted = args.iter().position(|arg| arg == "--case").and_then(|at| args.get(at + 1));
    let cases = [
        build(),
        reparent(),
        despawn(),
        iterate(),
        propagate::<1>("propagate, depth 1"),
        propagate::<10>("propagate, depth 10"),
        propagate::<100>("propagate, depth 100"),
    ];
    let mut random = Random::new(1);
    println!("{:<24} {:<18} {:>10} {:>12}", "case", "line", "ns/entity", "to bevy_ecs");
    for (name, items, contenders) in cases {
        if wanted.is_some_and(|wanted| !name.starts_with(wanted.as_str())) {
            continue;
        }
        let task = Task { name, items, warm: true, lives: 1 };
        match measure(task, &contenders, rounds, &mut random) {
            Ok(taken) => {
                for line in &taken.measured {
                    let ratio = line.ratio_to(&taken.measured[0]).median;
                    let who = format!("{} {}", line.library, line.variant);
                    println!("{name:<24} {who:<18} {:>10.1} {ratio:>12.2}", line.time.median);
                }
            }
            Err(mismatch) => {
                eprintln!("error: {mismatch}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
