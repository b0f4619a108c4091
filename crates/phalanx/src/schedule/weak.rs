//! Weak orders: kept only between systems that conflict.
//!
//! A weak order says: where the order matters, this one. It is worked out before the schedule is sorted: each pair of
//! systems that a weak edge orders, directly or by way of others, gets an edge of its own if the two conflict or the
//! first has commands; then all weak edges go. What is left runs side by side.

use super::graph::{Hop, Node};
use super::task::Task;

/// Replaces weak edges by edges between systems that conflict.
pub(super) fn resolve(edges: &mut [Vec<(usize, Hop)>], nodes: &[Node]) {
    if !edges.iter().flatten().any(|(_, hop)| *hop == Hop::Weak) {
        return;
    }
    let mut kept = Vec::new();
    for (from, node) in nodes.iter().enumerate() {
        let later = behind(edges, from).into_iter().filter(|&to| to < nodes.len());
        kept.extend(later.filter(|&to| matters(&node.task, &nodes[to].task)).map(|to| (from, to)));
    }
    for edges in edges.iter_mut() {
        edges.retain(|(_, hop)| *hop != Hop::Weak);
    }
    for (from, to) in kept {
        edges[from].push((to, Hop::After));
    }
}

/// Whether the order of two systems can be noticed.
fn matters(first: &Task, second: &Task) -> bool {
    first.defers() || first.access.conflicts_with(&second.access)
}

/// The nodes that a weak edge puts behind another one, in ascending order.
fn behind(edges: &[Vec<(usize, Hop)>], from: usize) -> Vec<usize> {
    // Each node may be met on a strict path, and on one with a weak edge.
    let mut met = [vec![false; edges.len()], vec![false; edges.len()]];
    let mut open = vec![(from, false)];
    while let Some((node, weak)) = open.pop() {
        for &(to, hop) in &edges[node] {
            let weak = weak || hop == Hop::Weak;
            if !std::mem::replace(&mut met[usize::from(weak)][to], true) {
                open.push((to, weak));
            }
        }
    }
    let [_, weak] = met;
    (0..edges.len()).filter(|&to| to != from && weak[to]).collect()
}
