//! The constraints of a schedule as a graph.
//!
//! ```text
//!   node n            system number n, in the order they were added
//!   a set             two nodes: its begin comes before its members, its end after them
//!   a chain           one node between two parts that have several systems
//!   edge a -> b       a comes before b; twice does no harm
//! ```
//!
//! A set is never multiplied out, so n systems after a set of n members are 2n edges; and an order through a set holds
//! though the set is empty. Conflicts are no edges here: they never decide the order, they only follow it (`plan`).
//! The order itself is worked out in `sort`, from this graph and the levels that `sync` gives.

use std::any::TypeId;

use hashbrown::HashMap;

use super::ambiguity::Excepted;
use super::config::Hooks;
use super::error::{RepeatedSystem, UnknownConstraint};
use super::label::SetId;
use super::sets::SetConfig;
use super::task::Task;
use super::{SystemKey, weak};
use phalanx_store::sorting;

/// A system of a schedule.
pub(crate) struct Node {
    pub(crate) id: SystemKey,
    pub(crate) task: Task,
    pub(crate) sets: Vec<SetId>,
    pub(crate) before: Vec<(SetId, Hop)>,
    pub(crate) after: Vec<(SetId, Hop)>,
    pub(crate) ambiguous: Excepted,
    pub(crate) hooks: Hooks,
}

/// A condition for several systems.
pub(crate) struct Gate {
    pub(crate) task: Task,
    pub(crate) members: Members,
}

/// The systems that a gate is for.
pub(crate) enum Members {
    Systems(Vec<SystemKey>),
    /// All of some sets, whenever they were added.
    Sets(Vec<SetId>),
}

/// Parts of which each comes before the next.
pub(crate) struct Chain {
    pub(crate) parts: Vec<Vec<Item>>,
    pub(crate) hop: Hop,
}

/// What a chain can order.
#[derive(Clone, PartialEq)]
pub(crate) enum Item {
    System(SystemKey),
    Set(SetId),
}

/// What an edge means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// Between a set and what lies in it: no order of its own.
    Within,
    /// An order, by which commands are visible.
    After,
    /// An order that leaves commands for later.
    AfterUnsynced,
    /// An order between systems that conflict; replaced by others before the graph is sorted.
    Weak,
}

/// Everything that orders systems.
#[derive(Clone, Copy)]
pub(crate) struct Constraints<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) gates: &'a [Gate],
    pub(crate) sets: &'a [SetConfig],
    pub(crate) chains: &'a [Chain],
    /// Sets that are named only to say that the order of their systems does not matter.
    pub(crate) excepted: &'a [(SetId, SetId)],
}

/// The position of a system among the nodes, whose keys ascend.
pub(crate) fn find(nodes: &[Node], id: SystemKey) -> Option<usize> {
    nodes.binary_search_by_key(&id, |node| node.id).ok()
}

/// Nodes and edges.
pub(crate) struct Graph {
    /// How many nodes are systems; they come first.
    pub(crate) systems: usize,
    /// For each node, those that come after it.
    pub(crate) edges: Vec<Vec<(usize, Hop)>>,
    /// The sets in use.
    sets: Vec<SetId>,
    /// For each set, the sets inside it.
    inner: Vec<Vec<usize>>,
    /// For each set, the systems that were put into it.
    members: Vec<Vec<usize>>,
    index: HashMap<SetId, usize>,
    pub(crate) unknown: Vec<UnknownConstraint>,
    pub(crate) repeated: Vec<RepeatedSystem>,
}

/// What a node stands for.
pub(crate) enum Stands<'a> {
    System(usize),
    Set(&'a SetId),
    Chain,
}

impl Graph {
    pub(crate) fn new(all: Constraints<'_>) -> Self {
        let mut graph = Self {
            systems: all.nodes.len(),
            edges: vec![Vec::new(); all.nodes.len()],
            sets: Vec::new(),
            inner: Vec::new(),
            members: Vec::new(),
            index: HashMap::new(),
            unknown: Vec::new(),
            repeated: Vec::new(),
        };
        graph.intern_all(all);
        graph.edges.resize_with(graph.systems + 2 * graph.sets.len(), Vec::new);
        graph.add_members(all);
        graph.add_hierarchy(all.sets);
        graph.add_constraints(all);
        for chain in all.chains {
            graph.add_chain(all.nodes, chain);
        }
        weak::resolve(&mut graph.edges, all.nodes);
        graph.find_unknown(all);
        graph
    }

    fn intern_all(&mut self, all: Constraints<'_>) {
        for node in all.nodes {
            node.sets.iter().for_each(|set| self.intern(set));
            node.before.iter().chain(&node.after).for_each(|(set, _)| self.intern(set));
            node.ambiguous.with.iter().for_each(|set| self.intern(set));
        }
        for config in all.sets {
            self.intern(&config.set);
            config.within.iter().for_each(|set| self.intern(set));
            config.before.iter().chain(&config.after).for_each(|(set, _)| self.intern(set));
            config.ambiguous.with.iter().for_each(|set| self.intern(set));
        }
        for (first, second) in all.excepted {
            self.intern(first);
            self.intern(second);
        }
        for item in all.chains.iter().flat_map(|chain| chain.parts.iter().flatten()) {
            if let Item::Set(set) = item {
                self.intern(set);
            }
        }
        for gate in all.gates {
            if let Members::Sets(sets) = &gate.members {
                sets.iter().for_each(|set| self.intern(set));
            }
        }
    }

    fn intern(&mut self, set: &SetId) {
        if !self.index.contains_key(set) {
            self.index.insert(set.clone(), self.sets.len());
            self.sets.push(set.clone());
            self.inner.push(Vec::new());
            self.members.push(Vec::new());
        }
    }

    fn begin(&self, set: &SetId) -> usize {
        self.systems + 2 * self.index[set]
    }

    fn end(&self, set: &SetId) -> usize {
        self.begin(set) + 1
    }

    fn edge(&mut self, from: usize, to: usize, hop: Hop) {
        self.edges[from].push((to, hop));
    }

    fn add_members(&mut self, all: Constraints<'_>) {
        // A function is the set of its systems. No label shares its type.
        let functions: HashMap<TypeId, usize> =
            self.sets.iter().enumerate().map(|(at, set)| (set.key(), at)).collect();
        for (at, node) in all.nodes.iter().enumerate() {
            let own = node.sets.iter().map(|set| self.index[set]);
            let mut own: Vec<usize> = own.chain(functions.get(&node.task.key()).copied()).collect();
            sorting::sort(&mut own);
            own.dedup();
            for set in own {
                self.members[set].push(at);
                self.edge(self.systems + 2 * set, at, Hop::Within);
                self.edge(at, self.systems + 2 * set + 1, Hop::Within);
            }
        }
    }

    fn add_hierarchy(&mut self, configs: &[SetConfig]) {
        for config in configs {
            for outer in &config.within {
                let (inner, within) = (self.index[&config.set], self.index[outer]);
                self.inner[within].push(inner);
                self.edge(self.begin(outer), self.begin(&config.set), Hop::Within);
                self.edge(self.end(&config.set), self.end(outer), Hop::Within);
            }
        }
        // What comes before an empty set comes before what comes after it.
        for set in 0..self.sets.len() {
            if self.inner[set].is_empty() && self.members[set].is_empty() {
                let begin = self.systems + 2 * set;
                self.edge(begin, begin + 1, Hop::Within);
            }
        }
    }

    fn add_constraints(&mut self, all: Constraints<'_>) {
        for (at, node) in all.nodes.iter().enumerate() {
            node.before.iter().for_each(|(set, hop)| self.edge(at, self.begin(set), *hop));
            node.after.iter().for_each(|(set, hop)| self.edge(self.end(set), at, *hop));
        }
        for config in all.sets {
            let (begin, end) = (self.begin(&config.set), self.end(&config.set));
            config.before.iter().for_each(|(set, hop)| self.edge(end, self.begin(set), *hop));
            config.after.iter().for_each(|(set, hop)| self.edge(self.end(set), begin, *hop));
        }
    }

    fn add_chain(&mut self, nodes: &[Node], chain: &Chain) {
        let parts = chain.parts.iter().filter(|part| !part.is_empty());
        let mut before: Option<&Vec<Item>> = None;
        for part in parts {
            if let Some(before) = before {
                let ends: Vec<usize> = before.iter().filter_map(|item| self.place(nodes, item, 1)).collect();
                let begins: Vec<usize> = part.iter().filter_map(|item| self.place(nodes, item, 0)).collect();
                self.link(&ends, &begins, chain.hop);
            }
            before = Some(part);
        }
    }

    /// The node of a system, or the begin (0) or end (1) of a set.
    fn place(&self, nodes: &[Node], item: &Item, side: usize) -> Option<usize> {
        match item {
            Item::System(id) => find(nodes, *id),
            Item::Set(set) => Some(self.begin(set) + side),
        }
    }

    fn link(&mut self, ends: &[usize], begins: &[usize], hop: Hop) {
        if ends.len() == 1 || begins.len() == 1 {
            ends.iter().for_each(|&from| begins.iter().for_each(|&to| self.edge(from, to, hop)));
        } else {
            let between = self.edges.len();
            self.edges.push(Vec::new());
            ends.iter().for_each(|&from| self.edge(from, between, Hop::Within));
            begins.iter().for_each(|&to| self.edge(between, to, hop));
        }
    }

    fn find_unknown(&mut self, all: Constraints<'_>) {
        let lies_in = |set: usize| !self.members[set].is_empty() || !self.inner[set].is_empty();
        let mut known: Vec<bool> = (0..self.sets.len()).map(lies_in).collect();
        all.sets.iter().for_each(|config| known[self.index[&config.set]] = true);
        let named = all.nodes.iter().flat_map(|node| {
            node.before.iter().chain(&node.after).map(|(set, _)| (node.task.name.clone(), set))
        });
        let sets = all.sets.iter().flat_map(|config| {
            config.before.iter().chain(&config.after).map(|(set, _)| (config.set.to_string(), set))
        });
        for (of, set) in named.chain(sets) {
            if !known[self.index[set]] {
                let is_function = set.is_function();
                self.unknown.push(UnknownConstraint { of, names: set.to_string(), is_function });
            } else if set.is_function() && self.members[self.index[set]].len() > 1 {
                let systems = self.members[self.index[set]].len();
                self.repeated.push(RepeatedSystem { of, names: set.to_string(), systems });
            }
        }
    }

    /// For each set, the begins of the sets inside it: what must not be a cycle.
    pub(crate) fn hierarchy(&self) -> &[Vec<usize>] {
        &self.inner
    }

    pub(crate) fn set(&self, at: usize) -> &SetId {
        &self.sets[at]
    }

    pub(crate) fn stands(&self, node: usize) -> Stands<'_> {
        match node.checked_sub(self.systems) {
            None => Stands::System(node),
            Some(more) => self.sets.get(more / 2).map_or(Stands::Chain, Stands::Set),
        }
    }

    /// The node at the end of a set, if this one is at its begin.
    pub(crate) fn end_of(&self, node: usize) -> Option<usize> {
        let more = node.checked_sub(self.systems)?;
        (more % 2 == 0 && more / 2 < self.sets.len()).then_some(node + 1)
    }

    /// The systems that a gate is for, those of sets inside its sets included.
    pub(crate) fn gated(&self, nodes: &[Node], gate: &Gate) -> Vec<usize> {
        match &gate.members {
            Members::Systems(ids) => {
                let mut systems: Vec<usize> = ids.iter().filter_map(|id| find(nodes, *id)).collect();
                sorting::sort(&mut systems);
                systems.dedup();
                systems
            }
            Members::Sets(sets) => self.systems_in(sets.iter().map(|set| self.index[set]).collect()),
        }
    }

    /// The systems of a set, and of sets inside it; none if the set is not named.
    pub(crate) fn systems_of(&self, set: &SetId) -> Vec<usize> {
        self.index.get(set).map_or_else(Vec::new, |&at| self.systems_in(vec![at]))
    }

    fn systems_in(&self, mut sets: Vec<usize>) -> Vec<usize> {
        let mut met = vec![false; self.sets.len()];
        let mut systems = Vec::new();
        while let Some(set) = sets.pop() {
            if !std::mem::replace(&mut met[set], true) {
                systems.extend_from_slice(&self.members[set]);
                sets.extend_from_slice(&self.inner[set]);
            }
        }
        sorting::sort(&mut systems);
        systems.dedup();
        systems
    }

    /// For each node, whether it is declared to come after a system, by way of whatever others.
    pub(crate) fn all_followers(&self, system: usize) -> Vec<bool> {
        let mut met = vec![false; self.edges.len()];
        let mut open = vec![system];
        while let Some(node) = open.pop() {
            for &(to, _) in &self.edges[node] {
                if !std::mem::replace(&mut met[to], true) {
                    open.push(to);
                }
            }
        }
        met
    }

    /// The systems that are declared to come right after one, by whatever names.
    pub(crate) fn followers(&self, system: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut met = vec![false; self.edges.len()];
        let mut open = vec![system];
        while let Some(node) = open.pop() {
            for &(to, _) in &self.edges[node] {
                if !std::mem::replace(&mut met[to], true) {
                    if to < self.systems { found.push(to) } else { open.push(to) }
                }
            }
        }
        sorting::sort(&mut found);
        found
    }
}
