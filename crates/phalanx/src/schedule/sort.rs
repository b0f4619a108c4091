//! The order of systems: Kahn's algorithm over the graph, level by level, insertion order for ties.
//!
//! The graph is sorted twice: once to find contradictions and, from any order, the levels (`sync`); once more with the
//! levels, so that all systems before a sync point come first. Sets and chains have no place in the order, they pass
//! on what reaches them. A condition of several systems is put right before the first of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::OrderCycle;
use super::graph::{Constraints, Graph, Stands};
use super::sync::{self, ApplyDeferred, SyncPoints};
use phalanx_store::sorting;

/// The result of sorting.
pub(crate) struct Sorted {
    /// Tasks in order: systems, and from `graph.systems` on gates.
    pub(crate) order: Vec<usize>,
    /// For each task of the order, how many sync points come before it.
    pub(crate) levels: Vec<u32>,
    pub(crate) graph: Graph,
    /// For each node of the graph, where it came in the sorting.
    pub(crate) ranks: Vec<usize>,
    /// For each gate, the systems that it is for.
    pub(crate) gated: Vec<Vec<usize>>,
}

/// Works the order out.
pub(crate) fn order(all: Constraints<'_>, points: SyncPoints) -> Result<Sorted, OrderCycle> {
    let graph = Graph::new(all);
    let plain: Vec<Vec<usize>> =
        graph.edges.iter().map(|edges| edges.iter().map(|(to, _)| *to).collect()).collect();
    kahn(graph.hierarchy(), |set| set).map_err(|circle| {
        let path = circle.into_iter().map(|set| graph.set(set).to_string()).collect();
        OrderCycle { systems: Vec::new(), path, hierarchy: true }
    })?;
    let any = kahn(&plain, |node| node).map_err(|circle| cycle(all, &graph, &circle))?;
    let gated: Vec<Vec<usize>> = all.gates.iter().map(|gate| graph.gated(all.nodes, gate)).collect();
    let always = always_applied(all, &gated);
    let levels = sync::levels(&graph, &any, all.nodes, &always, points);
    let key = |node: usize| match levels.get(node) {
        // Sets and chains as soon as possible: they only pass on.
        None => (0, 0, node),
        // A sync point of the user's own is where its level begins.
        Some(level) => (1 + *level, u8::from(!always[node]), node),
    };
    let sorted = kahn(&plain, key).expect("what was sorted once can be sorted");
    let mut ranks = vec![0; plain.len()];
    sorted.iter().enumerate().for_each(|(rank, &node)| ranks[node] = rank);
    let systems: Vec<usize> = sorted.into_iter().filter(|&node| node < graph.systems).collect();
    let order = with_gates(&systems, &gated, graph.systems);
    let levels = level_of_each(&order, &levels);
    Ok(Sorted { order, levels, graph, ranks, gated })
}

/// Which nodes are sync points that no condition can skip.
fn always_applied(all: Constraints<'_>, gated: &[Vec<usize>]) -> Vec<bool> {
    let task = |node: usize| &all.nodes[node].task;
    let mut always: Vec<bool> = (0..all.nodes.len())
        .map(|node| ApplyDeferred::is(task(node).key()) && !task(node).has_conditions())
        .collect();
    gated.iter().flatten().for_each(|&node| always[node] = false);
    always
}

/// Puts each gate right before the first of its systems; of several, those with more systems first. One without
/// systems is not asked.
fn with_gates(systems: &[usize], gated: &[Vec<usize>], count: usize) -> Vec<usize> {
    let mut places = vec![0; count];
    systems.iter().enumerate().for_each(|(place, &node)| places[node] = place);
    let mut gates: Vec<(usize, Reverse<usize>, usize)> = (0..gated.len())
        .filter_map(|gate| {
            let first = gated[gate].iter().map(|&node| places[node]).min();
            Some((first?, Reverse(gated[gate].len()), gate))
        })
        .collect();
    sorting::sort(&mut gates);
    let mut gates = gates.into_iter().peekable();
    let mut order = Vec::with_capacity(systems.len() + gated.len());
    for (place, &node) in systems.iter().enumerate() {
        while let Some((_, _, gate)) = gates.next_if(|(first, ..)| *first == place) {
            order.push(count + gate);
        }
        order.push(node);
    }
    order
}

/// The level of each task; a gate has that of the system it stands before.
fn level_of_each(order: &[usize], levels: &[u32]) -> Vec<u32> {
    let mut each = vec![0; order.len()];
    let mut next = 0;
    for (at, &node) in order.iter().enumerate().rev() {
        next = levels.get(node).copied().unwrap_or(next);
        each[at] = next;
    }
    each
}

/// Kahn's algorithm; of the nodes that are free, the one with the least key comes first. When a cycle is in the
/// way, its nodes.
fn kahn<K: Ord>(edges: &[Vec<usize>], key: impl Fn(usize) -> K) -> Result<Vec<usize>, Vec<usize>> {
    let mut waits = vec![0usize; edges.len()];
    edges.iter().flatten().for_each(|&to| waits[to] += 1);
    let mut free: BinaryHeap<Reverse<(K, usize)>> =
        (0..edges.len()).filter(|&node| waits[node] == 0).map(|node| Reverse((key(node), node))).collect();
    let mut order = Vec::with_capacity(edges.len());
    while let Some(Reverse((_, node))) = free.pop() {
        order.push(node);
        for &to in &edges[node] {
            waits[to] -= 1;
            if waits[to] == 0 {
                free.push(Reverse((key(to), to)));
            }
        }
    }
    if order.len() == edges.len() { Ok(order) } else { Err(circle(edges, &waits)) }
}

/// One cycle among the nodes that still wait.
fn circle(edges: &[Vec<usize>], waits: &[usize]) -> Vec<usize> {
    let mut before = vec![None; edges.len()];
    for from in (0..edges.len()).filter(|&from| waits[from] > 0) {
        edges[from].iter().for_each(|&to| before[to] = Some(from));
    }
    let mut met = vec![false; edges.len()];
    let mut path = vec![waits.iter().position(|&count| count > 0).expect("some node waits")];
    loop {
        // Each node that waits does so for another that waits: going back must come round.
        let last = *path.last().expect("the path has a first node");
        met[last] = true;
        let next = before[last].expect("a waiting node waits for another one");
        if met[next] {
            let start = path.iter().position(|&node| node == next).expect("it was met on this path");
            let mut found = path.split_off(start);
            found.reverse();
            return found;
        }
        path.push(next);
    }
}

fn cycle(all: Constraints<'_>, graph: &Graph, circle: &[usize]) -> OrderCycle {
    let mut systems = Vec::new();
    let mut path = Vec::new();
    for node in with_whole_sets(graph, circle) {
        match graph.stands(node) {
            Stands::System(at) => {
                systems.push(all.nodes[at].task.name.clone());
                path.push(all.nodes[at].task.name.clone());
            }
            Stands::Set(set) => path.push(set.to_string()),
            Stands::Chain => {}
        }
    }
    // A function has the name of its systems.
    path.dedup();
    if path.len() > 1 && path.first() == path.last() {
        path.pop();
    }
    OrderCycle { systems, path, hierarchy: false }
}

/// A cycle without what it passes in the middle of a set: that the set as a whole has no order says enough.
fn with_whole_sets(graph: &Graph, circle: &[usize]) -> Vec<usize> {
    let mut path = circle.to_vec();
    let whole = |path: &[usize]| {
        path.iter().enumerate().find_map(|(at, &node)| {
            let end = path.iter().position(|&other| Some(other) == graph.end_of(node))?;
            Some((at, end))
        })
    };
    while let Some((begin, end)) = whole(&path) {
        let inner = (end + path.len() - begin) % path.len();
        path.rotate_left(begin);
        path.drain(1..=inner);
    }
    path
}
