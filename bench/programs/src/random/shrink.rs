//! Making a differing program small: whatever can go without the difference is taken away.

use super::order::Order;
use super::program::{Kind, Op, Part, Program, Tree};
use super::{difference, generate};

/// A smaller program that still differs.
pub fn shrink(mut program: Program) -> Program {
    loop {
        let smaller = smaller(&program).into_iter().find(|next| {
            Order::of(next).is_some_and(|order| order.determined(next) && !order.has_conditional_apply(next))
                && steps_follow(next)
                && difference(next).is_err()
        });
        match smaller {
            Some(next) => program = next,
            None => return program,
        }
    }
}

/// Whether every step may come after those before it.
fn steps_follow(program: &Program) -> bool {
    let systems = program.systems.iter().map(|system| (system.kind, &system.ops));
    let frames = program.frames.iter().map(|ops| (Kind::Exclusive, ops));
    let follows = |kind, ops: &[Op]| (0..ops.len()).all(|at| generate::may_follow(kind, &ops[..at], ops[at]));
    systems.chain(frames).all(|(kind, ops)| follows(kind, ops))
}

/// Programs with one thing less, large things first.
fn smaller(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for at in 0..program.added.len() {
        found.push(with(program, |next| drop(next.added.remove(at))));
    }
    for at in 0..program.configured.len() {
        found.push(with(program, |next| drop(next.configured.remove(at))));
    }
    if program.frames.len() > 1 {
        found.push(with(program, |next| drop(next.frames.pop())));
    }
    let mut edits: Vec<fn(&mut Tree) -> bool> = vec![
        |tree| tree.said.conditions.pop().is_some(),
        |tree| tree.said.before.pop().is_some(),
        |tree| tree.said.after.pop().is_some(),
        |tree| tree.said.sets.pop().is_some(),
    ];
    edits.push(|tree| match &mut tree.part {
        Part::Tuple { parts, .. } if parts.len() > 1 => parts.pop().is_some(),
        _ => false,
    });
    edits.push(|tree| match &mut tree.part {
        Part::Tuple { parts, .. } if parts.len() > 1 => {
            parts.remove(0);
            true
        }
        _ => false,
    });
    edits.push(|tree| match &mut tree.part {
        Part::Tuple { chained, .. } => chained.take().is_some(),
        Part::One(_) => false,
    });
    edits.push(|tree| match &mut tree.part {
        Part::Tuple { parts, .. } if parts.len() == 1 => {
            let inner = parts.remove(0);
            let said = std::mem::take(&mut tree.said);
            *tree = inner;
            tree.said.sets.extend(said.sets);
            tree.said.before.extend(said.before);
            tree.said.after.extend(said.after);
            tree.said.conditions.extend(said.conditions);
            true
        }
        _ => false,
    });
    for edit in edits {
        for sets in [false, true] {
            for nth in 0.. {
                let mut next = program.clone();
                let (mut at, mut changed) = (0, false);
                let trees = if sets { &mut next.configured } else { &mut next.added };
                for tree in trees {
                    tree.each_mut(&mut |tree| {
                        if at == nth {
                            changed = edit(tree);
                        }
                        at += 1;
                    });
                }
                if at <= nth {
                    break;
                }
                if changed {
                    found.push(next);
                }
            }
        }
    }
    for system in 0..program.systems.len() {
        for op in 0..program.systems[system].ops.len() {
            found.push(with(program, |next| {
                next.systems[system].ops.remove(op);
            }));
        }
    }
    for frame in 0..program.frames.len() {
        for op in 0..program.frames[frame].len() {
            found.push(with(program, |next| {
                next.frames[frame].remove(op);
            }));
        }
    }
    found
}

fn with(program: &Program, change: impl FnOnce(&mut Program)) -> Program {
    let mut next = program.clone();
    change(&mut next);
    next
}

impl Program {
    /// The program in words.
    pub fn told(&self) -> String {
        let mut lines = Vec::new();
        let mut systems: Vec<usize> = self.added.iter().flat_map(Tree::members).collect();
        systems.sort_unstable();
        for index in systems {
            let system = &self.systems[index];
            lines.push(format!("system {index}: {:?} {:?}", system.kind, system.ops));
        }
        lines.extend(self.configured.iter().map(|tree| format!("configure_sets({})", tree.told("set"))));
        lines.extend(self.added.iter().map(|tree| format!("add_systems({})", tree.told("s"))));
        for (frame, ops) in self.frames.iter().enumerate() {
            lines.push(format!("before frame {frame}: {ops:?}"));
        }
        lines.join("\n")
    }
}

impl Tree {
    fn told(&self, prefix: &str) -> String {
        let mut text = match &self.part {
            Part::One(index) => format!("{prefix}{index}"),
            Part::Tuple { parts, chained } => {
                let parts: Vec<_> = parts.iter().map(|part| part.told(prefix)).collect();
                let chain = chained.map_or(String::new(), |hop| format!(".chain({hop:?})"));
                format!("({}){chain}", parts.join(", "))
            }
        };
        for set in &self.said.sets {
            text += &format!(".in_set({set})");
        }
        for (target, hop) in &self.said.before {
            text += &format!(".before({target:?}, {hop:?})");
        }
        for (target, hop) in &self.said.after {
            text += &format!(".after({target:?}, {hop:?})");
        }
        for condition in &self.said.conditions {
            let not = if condition.negated { "not " } else { "" };
            text += &format!(".run_if({}: {not}{:?})", condition.id, condition.test);
        }
        text
    }
}
