//! Which system waits for which inside a stage.
//!
//! ```text
//!   a ─┐            ┌─> d     a set of several members, several systems after it: a joint between them
//!   b ─┼─> joint ───┼─> e
//!   c ─┘            └─> f     d uses what c writes: an edge of its own
//! ```
//!
//! A task waits for earlier ones of the stage that are declared to come before it, and for those that conflict with it
//! (`conflicts`). What follows from that by way of a third task needs no edge, so the number of edges grows with what tasks declare,
//! not with the number of their pairs. Sets stay joints where multiplying them out would take more edges.

use std::ops::Range;
use std::sync::atomic::AtomicU32;

use hashbrown::HashMap;

use super::conflicts::{self, Apart};
use super::graph::{Gate, Node};
use super::sort::Sorted;
use super::task::Task;
use crate::system::Access;
use phalanx_store::sorting;

/// Counters and edges of a stage: first its tasks, then its joints.
#[derive(Default)]
#[cfg_attr(not(feature = "parallel"), allow(dead_code, reason = "only threads wait for each other"))]
pub(crate) struct Waits {
    /// For each task or joint, how many others it waits for.
    pub(crate) counts: Vec<u32>,
    /// For each task or joint, those that wait for it.
    pub(crate) waiting: Vec<Vec<u32>>,
    /// Counters for one run.
    pub(crate) left: Vec<AtomicU32>,
    /// Whether two tasks could run at the same time.
    pub(crate) wide: bool,
}

/// What the stages of one plan are worked out from.
pub(crate) struct Source<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) gates: &'a [Gate],
    pub(crate) sorted: &'a Sorted,
    /// For each task where it stands in the stage at work; for other nodes of the graph, their joint.
    places: Vec<Option<u32>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(nodes: &'a [Node], gates: &'a [Gate], sorted: &'a Sorted) -> Self {
        // Gates have numbers behind the systems in the order, sets have them in the graph: two ranges.
        let places = vec![None; sorted.graph.edges.len() + gates.len()];
        Self { nodes, gates, sorted, places }
    }

    /// A task of the order.
    pub(crate) fn task(&self, number: usize) -> &'a Task {
        match number.checked_sub(self.nodes.len()) {
            None => &self.nodes[number].task,
            Some(gate) => &self.gates[gate].task,
        }
    }

    fn place_of_task(&self, number: usize) -> usize {
        match number.checked_sub(self.nodes.len()) {
            None => number,
            Some(gate) => self.sorted.graph.edges.len() + gate,
        }
    }

    /// Works out which system waits for which in a range of the order.
    pub(crate) fn waits(&mut self, range: Range<usize>) -> Waits {
        let tasks = &self.sorted.order[range];
        let mut web = Web { tasks: tasks.len(), followers: vec![Vec::new(); tasks.len()] };
        for (at, &number) in tasks.iter().enumerate() {
            let place = self.place_of_task(number);
            self.places[place] = Some(small(at));
        }
        self.add_declared(tasks, &mut web);
        self.add_gates(tasks, &mut web);
        self.add_conflicts(tasks, &mut web);
        web.finish()
    }

    /// Edges between tasks that use the same part of the world.
    fn add_conflicts(&self, tasks: &[usize], web: &mut Web) {
        let users: Vec<&Access> = tasks.iter().map(|&number| &self.task(number).access).collect();
        let found = conflicts::find(&users);
        for (earlier, later) in found.waits {
            web.followers[earlier as usize].push(later);
        }
        // A system that never runs beside the other takes whole columns, which is cheaper.
        let graph = &self.sorted.graph;
        let mut behind: HashMap<usize, Vec<bool>> = HashMap::new();
        let mut is_behind = |first: usize, second: usize| {
            let (first, second) = (tasks[first], tasks[second]);
            first < graph.systems
                && second < graph.systems
                && behind.entry(first).or_insert_with(|| graph.all_followers(first))[second]
        };
        for Apart { column, one, other } in found.apart {
            for (&a, &b) in one.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                let (first, second) = (a.min(b) as usize, a.max(b) as usize);
                if !is_behind(first, second) {
                    users[first].split(column);
                    users[second].split(column);
                }
            }
        }
    }

    /// Edges that were declared, through the sets and chains between tasks of the stage.
    fn add_declared(&mut self, tasks: &[usize], web: &mut Web) {
        let graph = &self.sorted.graph;
        let mut between: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = tasks.iter().copied().filter(|&node| node < graph.systems).collect();
        let mut links: Vec<(usize, usize)> = Vec::new();
        while let Some(node) = open.pop() {
            for &(to, _) in &graph.edges[node] {
                if to < graph.systems {
                    if self.places[to].is_some() {
                        links.push((node, to));
                    }
                    continue;
                }
                links.push((node, to));
                if self.places[to].is_none() {
                    self.places[to] = Some(small(web.followers.len()));
                    web.followers.push(Vec::new());
                    between.push(to);
                    open.push(to);
                }
            }
        }
        for (from, to) in links {
            let (from, to) = (self.places[from], self.places[to]);
            let (Some(from), Some(to)) = (from, to) else { continue };
            web.followers[from as usize].push(to);
        }
        // Last in the order first: followers of a joint are done with when its turn comes.
        sorting::sort_by_key(&mut between, |&node| std::cmp::Reverse(self.sorted.ranks[node]));
        let joints: Vec<u32> = between.iter().filter_map(|&node| self.places[node]).collect();
        web.drop_dead_ends(&joints);
        web.multiply_out(&joints);
        for node in between {
            self.places[node] = None;
        }
    }

    fn add_gates(&mut self, tasks: &[usize], web: &mut Web) {
        for (at, &number) in tasks.iter().enumerate() {
            if let Some(gate) = number.checked_sub(self.nodes.len()) {
                let members = self.sorted.gated[gate].iter().filter_map(|&node| self.places[node]);
                web.followers[at].extend(members);
            }
        }
        for &number in tasks {
            let place = self.place_of_task(number);
            self.places[place] = None;
        }
    }
}

/// Edges while they are worked out.
struct Web {
    tasks: usize,
    followers: Vec<Vec<u32>>,
}

impl Web {
    /// Forgets joints that lead to no task of the stage.
    fn drop_dead_ends(&mut self, joints: &[u32]) {
        let mut leads = vec![true; self.followers.len()];
        for &joint in joints {
            let mut followers = std::mem::take(&mut self.followers[joint as usize]);
            followers.retain(|&to| leads[to as usize]);
            leads[joint as usize] = !followers.is_empty();
            self.followers[joint as usize] = followers;
        }
        for task in 0..self.tasks {
            self.followers[task].retain(|&to| leads[to as usize]);
        }
    }

    /// Replaces joints by edges where that takes no more of them.
    fn multiply_out(&mut self, joints: &[u32]) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.followers.len()];
        for (from, followers) in self.followers.iter_mut().enumerate() {
            sorting::sort(followers);
            followers.dedup();
            let joints = followers.iter().filter(|&&to| to as usize >= self.tasks);
            joints.for_each(|&to| before[to as usize].push(small(from)));
        }
        for &joint in joints {
            let joint = joint as usize;
            let (ways_in, ways_out) = (before[joint].len(), self.followers[joint].len());
            if ways_in * ways_out > ways_in + ways_out {
                continue;
            }
            let followers = std::mem::take(&mut self.followers[joint]);
            for from in std::mem::take(&mut before[joint]) {
                let own = &mut self.followers[from as usize];
                own.retain(|&to| to as usize != joint);
                own.extend_from_slice(&followers);
                for &to in followers.iter().filter(|&&to| to as usize >= self.tasks) {
                    before[to as usize].push(from);
                }
            }
            for &to in followers.iter().filter(|&&to| to as usize >= self.tasks) {
                before[to as usize].retain(|&from| from as usize != joint);
            }
        }
    }

    fn finish(mut self) -> Waits {
        for followers in &mut self.followers {
            sorting::sort(followers);
            followers.dedup();
        }
        let mut counts = vec![0; self.followers.len()];
        self.followers.iter().flatten().for_each(|&to| counts[to as usize] += 1);
        // In a chain each task waits for the one right before it.
        let wide = (1..self.tasks).any(|at| !self.leads(at - 1, small(at)));
        let left = counts.iter().map(|_| AtomicU32::new(0)).collect();
        Waits { counts, waiting: self.followers, left, wide }
    }

    /// Whether one waits for another, directly or through joints.
    fn leads(&self, from: usize, to: u32) -> bool {
        let followers = &self.followers[from];
        let joints = followers.partition_point(|&follower| (follower as usize) < self.tasks);
        followers.binary_search(&to).is_ok()
            || followers[joints..].iter().any(|&joint| self.leads(joint as usize, to))
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 systems")
}
