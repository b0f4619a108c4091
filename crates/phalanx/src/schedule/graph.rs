//! The order of systems: constraints as edges, Kahn's algorithm, insertion order for ties.
//!
//! ```text
//!   node n      system number n, in the order they were added
//!   node len+g  gate number g: a condition for several systems, just before the first of them
//!   edge a -> b a runs before b; said twice it is still one edge
//! ```
//!
//! Conflicts are no edges here: they never decide the order, they only follow it (`plan`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::SystemId;
use super::config::Hooks;
use super::error::{OrderCycle, UnknownConstraint};
use super::label::SetId;
use super::sets::SetConfig;
use super::task::Task;

/// A system of a schedule.
pub(crate) struct Node {
    pub(crate) id: SystemId,
    pub(crate) task: Task,
    pub(crate) sets: Vec<SetId>,
    pub(crate) before: Vec<SetId>,
    pub(crate) after: Vec<SetId>,
    /// Systems of a chain that come before.
    pub(crate) follows: Vec<SystemId>,
    pub(crate) hooks: Hooks,
}

/// A condition for several systems.
pub(crate) struct Gate {
    pub(crate) task: Task,
    pub(crate) members: Members,
}

/// The systems that a gate is for.
pub(crate) enum Members {
    Systems(Vec<SystemId>),
    /// All of a set, whenever they were added.
    Set(SetId),
}

impl Gate {
    fn members(&self, nodes: &[Node], sets: &[SetConfig]) -> Vec<usize> {
        match &self.members {
            Members::Systems(ids) => ids.iter().filter_map(|id| find(nodes, *id)).collect(),
            Members::Set(set) => members(nodes, sets, set),
        }
    }
}

/// The result of sorting.
pub(crate) struct Sorted {
    /// Nodes in order.
    pub(crate) order: Vec<usize>,
    /// For each node, those that must come after it.
    pub(crate) edges: Vec<Vec<usize>>,
    /// For each gate, the systems that it is for.
    pub(crate) gated: Vec<Vec<usize>>,
    pub(crate) unknown: Vec<UnknownConstraint>,
}

/// Works the order out.
pub(crate) fn order(nodes: &[Node], gates: &[Gate], sets: &[SetConfig]) -> Result<Sorted, OrderCycle> {
    let mut graph = Graph { edges: vec![Vec::new(); nodes.len()], unknown: Vec::new() };
    graph.add_systems(nodes, sets);
    graph.add_sets(nodes, sets);
    let gated: Vec<Vec<usize>> = gates.iter().map(|gate| gate.members(nodes, sets)).collect();
    graph.add_gates(nodes.len(), &gated);
    let gate_keys = gated.iter().map(|members| (members.iter().copied().min().unwrap_or(0), 0));
    let keys = (0..nodes.len()).map(|node| (node, 1)).chain(gate_keys);
    let keys: Vec<(usize, u8)> = keys.collect();
    let name = |node: usize| match node.checked_sub(nodes.len()) {
        None => nodes[node].task.name.clone(),
        Some(gate) => gates[gate].task.name.clone(),
    };
    let order = kahn(&graph.edges, &keys)
        .map_err(|circle| OrderCycle { systems: circle.into_iter().map(name).collect() })?;
    Ok(Sorted { order, edges: graph.edges, gated, unknown: graph.unknown })
}

fn find(nodes: &[Node], id: SystemId) -> Option<usize> {
    nodes.iter().position(|node| node.id == id)
}

/// The systems of a set, those of sets inside it included.
fn members(nodes: &[Node], sets: &[SetConfig], set: &SetId) -> Vec<usize> {
    let mut wanted = vec![set.clone()];
    let mut at = 0;
    while at < wanted.len() {
        let outer = wanted[at].clone();
        for inner in sets.iter().filter(|config| config.within.iter().any(|set| set.is(&outer))) {
            if !wanted.iter().any(|known| known.is(&inner.set)) {
                wanted.push(inner.set.clone());
            }
        }
        at += 1;
    }
    let belongs = |node: &Node| {
        wanted.iter().any(|set| set.is_systems_of(node.task.key()) || node.sets.iter().any(|own| own.is(set)))
    };
    (0..nodes.len()).filter(|&node| belongs(&nodes[node])).collect()
}

struct Graph {
    edges: Vec<Vec<usize>>,
    unknown: Vec<UnknownConstraint>,
}

impl Graph {
    fn edge(&mut self, from: usize, to: usize) {
        // A system in the set that it is ordered against means the others.
        if from != to && !self.edges[from].contains(&to) {
            self.edges[from].push(to);
        }
    }

    fn targets(&mut self, nodes: &[Node], sets: &[SetConfig], of: &str, set: &SetId) -> Vec<usize> {
        let found = members(nodes, sets, set);
        let configured = || sets.iter().any(|config| config.set.is(set));
        if found.is_empty() && !configured() {
            self.unknown.push(UnknownConstraint { of: of.to_owned(), names: set.to_string() });
        }
        found
    }

    fn add_systems(&mut self, nodes: &[Node], sets: &[SetConfig]) {
        for (at, node) in nodes.iter().enumerate() {
            for set in &node.before {
                for other in self.targets(nodes, sets, &node.task.name, set) {
                    self.edge(at, other);
                }
            }
            for set in &node.after {
                for other in self.targets(nodes, sets, &node.task.name, set) {
                    self.edge(other, at);
                }
            }
            for earlier in node.follows.iter().filter_map(|id| find(nodes, *id)) {
                self.edge(earlier, at);
            }
        }
    }

    fn add_sets(&mut self, nodes: &[Node], sets: &[SetConfig]) {
        for config in sets {
            let own = members(nodes, sets, &config.set);
            let name = config.set.to_string();
            for set in &config.before {
                for other in self.targets(nodes, sets, &name, set) {
                    own.iter().filter(|node| !own.contains(&other) || **node != other).for_each(|&node| {
                        self.edge(node, other);
                    });
                }
            }
            for set in &config.after {
                for other in self.targets(nodes, sets, &name, set) {
                    own.iter().for_each(|&node| self.edge(other, node));
                }
            }
        }
    }

    /// A gate comes before its members, and after whatever all of them come after.
    fn add_gates(&mut self, systems: usize, gated: &[Vec<usize>]) {
        for members in gated {
            let own = self.edges.len();
            self.edges.push(members.clone());
            for from in 0..systems {
                let before_all = members.iter().all(|member| self.edges[from].contains(member));
                if before_all && !members.is_empty() && !members.contains(&from) {
                    self.edges[from].push(own);
                }
            }
        }
    }
}

/// Kahn's algorithm; of the nodes that are free, the one with the least key comes first. When a circle is in the
/// way, its nodes.
fn kahn(edges: &[Vec<usize>], keys: &[(usize, u8)]) -> Result<Vec<usize>, Vec<usize>> {
    let mut waits = vec![0usize; edges.len()];
    edges.iter().flatten().for_each(|&to| waits[to] += 1);
    let mut free: BinaryHeap<Reverse<((usize, u8), usize)>> =
        (0..edges.len()).filter(|&node| waits[node] == 0).map(|node| Reverse((keys[node], node))).collect();
    let mut order = Vec::with_capacity(edges.len());
    while let Some(Reverse((_, node))) = free.pop() {
        order.push(node);
        for &to in &edges[node] {
            waits[to] -= 1;
            if waits[to] == 0 {
                free.push(Reverse((keys[to], to)));
            }
        }
    }
    if order.len() == edges.len() { Ok(order) } else { Err(circle(edges, &waits)) }
}

/// One circle among the nodes that still wait.
fn circle(edges: &[Vec<usize>], waits: &[usize]) -> Vec<usize> {
    let waiting_before =
        |node: usize| (0..edges.len()).find(|&from| waits[from] > 0 && edges[from].contains(&node));
    let mut path = vec![waits.iter().position(|&count| count > 0).expect("some node waits")];
    loop {
        // Each node that waits does so for another that waits: going back must come round.
        let last = *path.last().expect("the path has a first node");
        let before = waiting_before(last).expect("a waiting node waits for another one");
        if let Some(start) = path.iter().position(|&node| node == before) {
            let mut found = path.split_off(start);
            found.reverse();
            return found;
        }
        path.push(before);
    }
}
