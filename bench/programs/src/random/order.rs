//! What a program determines: which systems are ordered, which see each other's commands, and whether everything that
//! systems share is ordered.
//!
//! Systems without an order between them may run either way, so a program in which such systems share data has no one
//! meaning. The generator asks [`Order::determined`] and takes no such program.
//!
//! Order through an empty set that lies in another set is kept by Phalanx and not by bevy (`docs/from-bevy.md`). So it
//! counts when contradictions are looked for, and promises nothing.

use super::program::{Hop, Kind, Part, Program, Target, Tree};

pub struct Order {
    /// `before[a][b]`: `a` runs before `b`.
    before: Vec<Vec<bool>>,
    /// `visible[a][b]`: and `b` sees the commands of `a`.
    visible: Vec<Vec<bool>>,
    /// The systems of each set, also by way of other sets.
    members: Vec<Vec<usize>>,
}

/// Nodes are systems, and the beginning and the end of each set.
struct Graph {
    systems: usize,
    edges: Vec<Vec<usize>>,
    ignored: Vec<(usize, usize)>,
}

impl Graph {
    fn of(program: &Program, nested: impl Fn(usize) -> bool) -> Self {
        let systems = program.systems.len();
        let nodes = systems + 2 * program.sets;
        let mut graph = Self { systems, edges: vec![Vec::new(); nodes], ignored: Vec::new() };
        for set in 0..program.sets {
            let (begin, end) = (graph.begin(Target::Set(set)), graph.end(Target::Set(set)));
            graph.edges[begin].push(end);
        }
        program.added.iter().for_each(|tree| graph.tree(tree, Target::System, &|_| true));
        program.configured.iter().for_each(|tree| graph.tree(tree, Target::Set, &nested));
        graph
    }

    fn begin(&self, target: Target) -> usize {
        match target {
            Target::System(index) => index,
            Target::Set(index) => self.systems + 2 * index,
        }
    }

    fn end(&self, target: Target) -> usize {
        match target {
            Target::System(index) => index,
            Target::Set(index) => self.systems + 2 * index + 1,
        }
    }

    fn order(&mut self, first: Target, second: Target, hop: Hop) {
        let (from, to) = (self.end(first), self.begin(second));
        self.edges[from].push(to);
        if hop == Hop::Ignore {
            self.ignored.push((from, to));
        }
    }

    fn nest(&mut self, inner: Target, outer: usize) {
        let outer = Target::Set(outer);
        let (begin, end) = (self.begin(outer), self.end(outer));
        let (first, last) = (self.begin(inner), self.end(inner));
        self.edges[begin].push(first);
        self.edges[last].push(end);
    }

    /// What a tree says; sets that are not `nested` lie in no other.
    fn tree(&mut self, tree: &Tree, target: fn(usize) -> Target, nested: &impl Fn(usize) -> bool) {
        tree.each(&mut |tree| {
            for index in tree.members() {
                let member = target(index);
                tree.said.before.iter().for_each(|(other, hop)| self.order(member, *other, *hop));
                tree.said.after.iter().for_each(|(other, hop)| self.order(*other, member, *hop));
                if nested(index) {
                    tree.said.sets.iter().for_each(|set| self.nest(member, *set));
                }
            }
            if let Part::Tuple { parts, chained: Some(hop) } = &tree.part {
                for pair in parts.windows(2) {
                    for first in pair[0].members() {
                        for second in pair[1].members() {
                            self.order(target(first), target(second), *hop);
                        }
                    }
                }
            }
        });
    }

    /// Whether a walk along edges can come back.
    fn cycle(&self) -> bool {
        let mut inward = vec![0; self.edges.len()];
        self.edges.iter().flatten().for_each(|to| inward[*to] += 1);
        let mut free: Vec<usize> = (0..self.edges.len()).filter(|node| inward[*node] == 0).collect();
        let mut sorted = 0;
        while let Some(node) = free.pop() {
            sorted += 1;
            for to in &self.edges[node] {
                inward[*to] -= 1;
                if inward[*to] == 0 {
                    free.push(*to);
                }
            }
        }
        sorted < self.edges.len()
    }

    /// The systems that follow a system at once, or through sets only.
    fn next(&self, system: usize) -> Vec<usize> {
        let mut seen = vec![false; self.edges.len()];
        let mut open = self.edges[system].clone();
        let mut found = Vec::new();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            if node < self.systems {
                found.push(node);
            } else {
                open.extend(&self.edges[node]);
            }
        }
        found
    }
}

impl Order {
    /// Nothing when the order contradicts itself.
    pub fn of(program: &Program) -> Option<Self> {
        if Graph::of(program, |_| true).cycle() {
            return None;
        }
        let systems = program.systems.len();
        let members = members(program);
        let graph = Graph::of(program, |set| !members[set].is_empty());
        let mut before = vec![vec![false; systems]; systems];
        let mut visible = before.clone();
        for first in 0..systems {
            for second in graph.next(first) {
                before[first][second] = true;
                // An exclusive system finds commands applied, whatever the order says.
                let ignored = graph.ignored.contains(&(first, second));
                visible[first][second] = !ignored || program.systems[second].kind == Kind::Exclusive;
            }
        }
        for through in 0..systems {
            for first in 0..systems {
                for second in 0..systems {
                    let both = before[first][through] && before[through][second];
                    let seen = both && (visible[first][through] || visible[through][second]);
                    before[first][second] |= both;
                    visible[first][second] |= seen;
                }
            }
        }
        Some(Self { before, visible, members })
    }

    pub fn before(&self, first: usize, second: usize) -> bool {
        self.before[first][second]
    }

    fn ordered(&self, a: usize, b: usize) -> bool {
        self.visible[a][b] || self.visible[b][a]
    }

    /// Visits all that is said with a condition, with the systems it holds for.
    fn each_gated<'a>(&self, program: &'a Program, f: &mut impl FnMut(&'a Tree, &[usize])) {
        let gated = |tree: &Tree| !tree.said.conditions.is_empty();
        for tree in &program.added {
            tree.each(&mut |tree| {
                if gated(tree) {
                    f(tree, &tree.members())
                }
            });
        }
        for tree in &program.configured {
            tree.each(&mut |tree| {
                if gated(tree) {
                    let sets = tree.members();
                    let members: Vec<usize> =
                        sets.iter().flat_map(|set| self.members[*set].iter().copied()).collect();
                    f(tree, &members);
                }
            });
        }
    }

    /// Whether an `ApplyDeferred` has a condition. Where it is not met, bevy applies nothing, though the order of
    /// systems asks for it, and Phalanx does (`docs/from-bevy.md`).
    pub fn has_conditional_apply(&self, program: &Program) -> bool {
        let mut found = false;
        self.each_gated(program, &mut |_, members| {
            found |= members.iter().any(|member| program.systems[*member].kind == Kind::Apply);
        });
        found
    }

    /// Whether everything that systems and conditions share is ordered.
    pub fn determined(&self, program: &Program) -> bool {
        let uses: Vec<_> = program.systems.iter().map(super::program::SystemSpec::uses).collect();
        let systems = 0..program.systems.len();
        let shared = systems
            .clone()
            .all(|a| systems.clone().all(|b| a == b || !uses[a].conflicts(uses[b]) || self.ordered(a, b)));
        let mut conditions = true;
        self.each_gated(program, &mut |tree, members| {
            for condition in &tree.said.conditions {
                let reads = condition.test.uses();
                conditions &= systems.clone().all(|writer| {
                    members.contains(&writer)
                        || !uses[writer].conflicts(reads)
                        || members.iter().all(|member| self.visible[writer][*member])
                        || members.iter().all(|member| self.before[*member][writer])
                });
            }
        });
        shared && conditions
    }
}

/// The systems of each set, also by way of other sets. The hierarchy has no cycle.
fn members(program: &Program) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); program.sets];
    let mut nested: Vec<(usize, usize)> = Vec::new();
    for tree in &program.added {
        tree.each(&mut |tree| {
            tree.said.sets.iter().for_each(|set| members[*set].extend(tree.members()));
        });
    }
    for tree in &program.configured {
        tree.each(&mut |tree| {
            for inner in tree.members() {
                nested.extend(tree.said.sets.iter().map(|outer| (inner, *outer)));
            }
        });
    }
    for _ in 0..program.sets {
        for (inner, outer) in &nested {
            let more = members[*inner].clone();
            members[*outer].extend(more);
            members[*outer].sort_unstable();
            members[*outer].dedup();
        }
    }
    members
}
