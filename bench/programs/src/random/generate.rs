//! Random programs that have one meaning.
//!
//! First the shape: trees of systems and sets, order, conditions. What would contradict itself is left away at once.
//! Then what systems do: a step is taken only when all that it shares with other systems is ordered.

use super::order::Order;
use super::program::{
    COMPONENTS, Condition, FAMILIES, Hop, Kind, MESSAGES, Op, PAIRS, Part, Program, RESOURCES, Said,
    SystemSpec, Target, Test, Tree,
};

/// A small generator of numbers: splitmix.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }

    pub fn value(&mut self) -> i32 {
        i32::try_from(self.below(50)).expect("small")
    }
}

pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let random = &mut random;
    let systems = 2 + random.below(9);
    let sets = random.below(5);
    let mut program = Program {
        systems: (0..systems).map(|_| SystemSpec { kind: kind(random), ops: Vec::new() }).collect(),
        sets,
        added: trees(random, systems),
        configured: if sets == 0 { Vec::new() } else { trees(random, sets) },
        frames: vec![Vec::new(); 3 + random.below(3)],
    };
    say(random, &mut program);
    conditions(random, &mut program);
    steps(random, &mut program);
    program
}

fn kind(random: &mut Random) -> Kind {
    match random.below(24) {
        0..6 => Kind::Look,
        6..11 => Kind::Write,
        11..15 => Kind::Command,
        15..20 => Kind::LookCommand,
        20..22 => Kind::Exclusive,
        22 => Kind::Function,
        _ => Kind::Apply,
    }
}

/// All numbers below a limit in random order, in random tuples.
fn trees(random: &mut Random, limit: usize) -> Vec<Tree> {
    let mut numbers: Vec<usize> = (0..limit).collect();
    random.shuffle(&mut numbers);
    let mut open: Vec<Tree> =
        numbers.into_iter().map(|index| Tree { part: Part::One(index), said: Said::default() }).collect();
    for _ in 0..random.below(limit + 1) {
        let size = (1 + random.below(4)).min(open.len());
        let at = random.below(open.len() - size + 1);
        let parts: Vec<Tree> = open.splice(at..at + size, []).collect();
        let tuple = Tree { part: Part::Tuple { parts, chained: None }, said: Said::default() };
        open.insert(at, tuple);
    }
    open
}

/// How many trees there are with all their parts.
fn count(trees: &[Tree]) -> usize {
    let mut count = 0;
    trees.iter().for_each(|tree| tree.each(&mut |_| count += 1));
    count
}

/// Changes the n-th of the trees and their parts.
fn change(trees: &mut [Tree], nth: usize, f: impl FnOnce(&mut Tree)) {
    let (mut at, mut f) = (0, Some(f));
    for tree in trees {
        tree.each_mut(&mut |tree| {
            if at == nth
                && let Some(f) = f.take()
            {
                f(tree);
            }
            at += 1;
        });
    }
}

/// Says random things about systems and sets, unless the order would contradict itself.
fn say(random: &mut Random, program: &mut Program) {
    let dense = random.chance(50);
    let times = 3 + random.below(if dense { 40 } else { 14 });
    for _ in 0..times {
        let mut next = program.clone();
        let of_sets = program.sets > 0 && random.chance(35);
        let trees = if of_sets { &mut next.configured } else { &mut next.added };
        let nth = random.below(count(trees));
        // Orders that ignore commands are only said of systems, towards systems.
        let hop = if !of_sets && random.chance(12) { Hop::Ignore } else { Hop::Sync };
        let target = if program.sets > 0 && hop == Hop::Sync && random.chance(50) {
            Target::Set(random.below(program.sets))
        } else {
            Target::System(random.below(program.systems.len()))
        };
        let what = random.below(10);
        let set = (program.sets > 0).then(|| random.below(program.sets));
        change(trees, nth, |tree| match what {
            0..2 => tree.said.before.push((target, hop)),
            2..4 => tree.said.after.push((target, hop)),
            4..6 => tree.said.sets.extend(set.filter(|set| !tree.said.sets.contains(set))),
            _ => {
                if let Part::Tuple { chained, .. } = &mut tree.part {
                    *chained = Some(hop);
                }
            }
        });
        if Order::of(&next).is_some() {
            *program = next;
        }
    }
}

fn conditions(random: &mut Random, program: &mut Program) {
    for id in 0..random.below(5) {
        let test = match random.below(6) {
            0 => Test::Every(2 + u32::try_from(random.below(2)).expect("small")),
            1 => Test::Frames(u32::try_from(random.below(64)).expect("small")),
            2 => Test::Exists(random.below(RESOURCES)),
            3 => Test::Changed(random.below(RESOURCES)),
            4 => Test::Any(random.below(COMPONENTS)),
            _ => Test::Heard(random.below(MESSAGES)),
        };
        let condition = Condition { id, test, negated: random.chance(30) };
        let of_sets = program.sets > 0 && random.chance(40);
        let mut next = program.clone();
        let trees = if of_sets { &mut next.configured } else { &mut next.added };
        let nth = random.below(count(trees));
        change(trees, nth, |tree| tree.said.conditions.push(condition));
        let order = Order::of(&next).expect("conditions change no order");
        if !order.has_conditional_apply(&next) {
            *program = next;
        }
    }
}

/// Gives the systems something to do.
fn steps(random: &mut Random, program: &mut Program) {
    let order = Order::of(program).expect("only orders without contradiction were kept");
    for _ in 0..program.systems.len() * 5 {
        let system = random.below(program.systems.len());
        let kind = program.systems[system].kind;
        let Some(op) = step(random, kind) else { continue };
        if may_follow(kind, &program.systems[system].ops, op) {
            program.systems[system].ops.push(op);
            if !order.determined(program) {
                program.systems[system].ops.pop();
            }
        }
    }
    for frame in 0..program.frames.len() {
        let mut ops = Vec::new();
        for _ in 0..random.below(if frame == 0 { 8 } else { 3 }) {
            let op = step(random, Kind::Exclusive);
            ops.extend(op.filter(|op| may_follow(Kind::Exclusive, &ops, *op)));
        }
        program.frames[frame] = ops;
    }
}

/// Whether a step may come after others, by what `docs/from-bevy.md` says is different.
///
/// A command on an entity that is gone is an error in bevy and none here: no step names a family after a despawn. What
/// waits in a world's own commands is applied at the next change of the world in bevy, and after the system here: in an
/// exclusive system nothing comes after it.
pub fn may_follow(kind: Kind, ops: &[Op], op: Op) -> bool {
    let gone = ops.iter().any(|before| before.despawns() && before.family() == op.family());
    let waits = kind == Kind::Exclusive
        && ops.iter().any(|before| matches!(before, Op::Queue { .. } | Op::SendLater { .. }));
    !gone && !waits
}

fn step(random: &mut Random, kind: Kind) -> Option<Op> {
    Some(match kind {
        Kind::Function | Kind::Apply => return None,
        Kind::Look => look(random),
        Kind::Write => write(random),
        Kind::Command => command(random),
        Kind::LookCommand if random.chance(40) => look(random),
        Kind::LookCommand => command(random),
        Kind::Exclusive => match random.below(3) {
            // An exclusive system has no reader of its own.
            0 => Some(look(random)).filter(|op| !matches!(op, Op::Receive { .. }))?,
            1 => write(random),
            _ => command(random),
        },
    })
}

fn look(random: &mut Random) -> Op {
    let component = random.below(COMPONENTS);
    match random.below(9) {
        8 => Op::SeeSpawned { component },
        0 => Op::See { component },
        1 | 2 => Op::SeeChanged { component },
        3 => Op::SeeAdded { component },
        4 => Op::SeePair { pair: random.below(PAIRS.len()) },
        5 | 6 => Op::SeeResource { resource: random.below(RESOURCES) },
        _ => Op::Receive { message: random.below(MESSAGES) },
    }
}

fn write(random: &mut Random) -> Op {
    let value = random.value();
    let resource = random.below(RESOURCES);
    match random.below(5) {
        0 | 1 => Op::Add { component: random.below(COMPONENTS), odd: random.chance(50), value },
        2 => Op::AddResource { resource, value },
        3 => Op::SetResource { resource, value: value % 3 },
        _ => Op::Send { message: random.below(MESSAGES), value },
    }
}

fn command(random: &mut Random) -> Op {
    let value = random.value();
    let resource = random.below(RESOURCES);
    let family = random.below(FAMILIES);
    let component = random.below(COMPONENTS);
    let nth = random.below(4);
    match random.below(19) {
        14 | 15 => Op::Replace { family, nth, component, value },
        16 => Op::InsertAll { family, nth, value },
        17 => Op::SpawnBatch { family, count: random.below(4), value },
        18 => Op::SendLater { message: random.below(MESSAGES), value },
        0..3 => Op::Spawn { family, components: random.below(1 << COMPONENTS), value },
        3..6 => Op::Insert { family, nth, component, value },
        6 => Op::InsertIfNew { family, nth, component, value },
        7..9 => Op::Remove { family, nth, component },
        9 => Op::Despawn { family, nth },
        10 => Op::TryDespawn { family, nth },
        11 => Op::InsertResource { resource, value },
        12 => Op::RemoveResource { resource },
        _ => Op::Queue { resource, value },
    }
}
