//! The order of observers: that of registration, as far as `before` and `after` do not say otherwise.
//!
//! Of those that may come next, the one that was registered first is the next one. So an observer that none waits for
//! comes last when it is added, whatever it waits for itself, and adding it sorts nothing. Any other is put in its place
//! before the next event, together with all that were added until then. Only one that waits and is waited for can close
//! a circle: the caller that adds it hears of that at once.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::fmt;

use hashbrown::HashMap;

use super::observers::{NewObserver, Observers};
use crate::steps;
use crate::world::World;
use phalanx_store::sorting;

/// What observers say about their order.
#[derive(Default)]
pub(super) struct Order {
    /// By function: how many observers are to run before those that are made from it.
    named_before: HashMap<TypeId, u32>,
    /// By function: how many observers are to run after those that are made from it.
    named_after: HashMap<TypeId, u32>,
    /// Whether the order is to be worked out before the next event.
    unsorted: bool,
}

impl Order {
    /// Whether others may have to wait for an observer.
    fn is_waited_for(&self, observer: &NewObserver) -> bool {
        !observer.before.is_empty() || self.named_after.contains_key(&observer.key)
    }

    /// Whether an observer may have to wait for others.
    fn waits(&self, observer: &NewObserver) -> bool {
        !observer.after.is_empty() || self.named_before.contains_key(&observer.key)
    }

    /// Takes notice of a new observer.
    pub(super) fn add(&mut self, observer: &NewObserver) {
        let named = |counts: &mut HashMap<TypeId, u32>, keys: &[TypeId]| {
            keys.iter().for_each(|&key| *counts.entry(key).or_default() += 1);
        };
        named(&mut self.named_before, &observer.before);
        named(&mut self.named_after, &observer.after);
        self.unsorted |= self.is_waited_for(observer);
    }

    /// Forgets an observer. Without one that others waited for, they may come sooner.
    pub(super) fn remove(&mut self, observer: &NewObserver) {
        self.unsorted |= self.is_waited_for(observer);
        let named = |counts: &mut HashMap<TypeId, u32>, keys: &[TypeId]| {
            for key in keys {
                if let Some(count) = counts.get_mut(key) {
                    *count -= 1;
                    if *count == 0 {
                        counts.remove(key);
                    }
                }
            }
        };
        named(&mut self.named_before, &observer.before);
        named(&mut self.named_after, &observer.after);
    }

    /// Whether the order is to be worked out before the next event.
    #[inline]
    pub(super) fn is_unsorted(&self) -> bool {
        self.unsorted
    }

    /// Lets the order be worked out before the next event.
    pub(super) fn set_unsorted(&mut self) {
        self.unsorted = true;
    }

    /// Whether an observer can be part of a cycle.
    pub(super) fn may_close_a_circle(&self, observer: &NewObserver) -> bool {
        self.waits(observer) && self.is_waited_for(observer)
    }
}

/// Observers that are to run before themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObserverCycle {
    /// The names of the observers.
    pub observers: Vec<String>,
}

impl fmt::Display for ObserverCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the order of observers goes in a circle: {}; take one `before` or `after` away",
            self.observers.join(", ")
        )
    }
}

impl std::error::Error for ObserverCycle {}

/// Which observer waits for which. The first nodes are observers, in the order of registration; the others stand for
/// the moment before the first, or after the last, of all observers that are made from one function.
struct Graph {
    later: Vec<Vec<usize>>,
    waits: Vec<usize>,
}

impl Graph {
    fn new(observers: usize) -> Self {
        Self { later: vec![Vec::new(); observers], waits: vec![0; observers] }
    }

    fn moment(&mut self) -> usize {
        self.later.push(Vec::new());
        self.waits.push(0);
        self.later.len() - 1
    }

    fn link(&mut self, first: usize, second: usize) {
        steps::count();
        self.later[first].push(second);
        self.waits[second] += 1;
    }

    /// The observers in order; those that are part of a cycle, and those that wait for one, are left out.
    fn sort(&mut self, observers: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(observers);
        let mut ready: BTreeSet<usize> = (0..observers).filter(|&at| self.waits[at] == 0).collect();
        while let Some(at) = ready.pop_first() {
            order.push(at);
            // Moments pass as soon as they can.
            let mut passed = vec![at];
            while let Some(node) = passed.pop() {
                for &second in &self.later[node] {
                    self.waits[second] -= 1;
                    match self.waits[second] {
                        0 if second < observers => drop(ready.insert(second)),
                        0 => passed.push(second),
                        _ => {}
                    }
                }
            }
        }
        order
    }
}

impl Observers {
    /// The slots of all observers, in order.
    pub(super) fn in_order(&self) -> Result<Vec<u32>, ObserverCycle> {
        let mut all: Vec<(u64, u32, &NewObserver)> = self.iter().collect();
        sorting::sort_by_key(&mut all, |&(born, ..)| born);
        let mut made_from: HashMap<TypeId, Vec<usize>> = HashMap::new();
        for (at, (.., observer)) in all.iter().enumerate() {
            steps::count();
            made_from.entry(observer.key).or_default().push(at);
        }
        let mut graph = Graph::new(all.len());
        let (mut starts, mut ends) = (HashMap::new(), HashMap::new());
        for (at, (.., observer)) in all.iter().enumerate() {
            for key in &observer.before {
                let Some(named) = made_from.get(key) else { continue };
                if *key == observer.key {
                    named.iter().filter(|&&other| other != at).for_each(|&other| graph.link(at, other));
                    continue;
                }
                let start = *starts.entry(key).or_insert_with(|| {
                    let start = graph.moment();
                    named.iter().for_each(|&other| graph.link(start, other));
                    start
                });
                graph.link(at, start);
            }
            for key in &observer.after {
                let Some(named) = made_from.get(key) else { continue };
                if *key == observer.key {
                    named.iter().filter(|&&other| other != at).for_each(|&other| graph.link(other, at));
                    continue;
                }
                let end = *ends.entry(key).or_insert_with(|| {
                    let end = graph.moment();
                    named.iter().for_each(|&other| graph.link(other, end));
                    end
                });
                graph.link(end, at);
            }
        }
        let order = graph.sort(all.len());
        if order.len() < all.len() {
            let stuck = (0..all.len()).filter(|&at| graph.waits[at] > 0).map(|at| all[at].2.name.clone());
            return Err(ObserverCycle { observers: stuck.collect() });
        }
        Ok(order.into_iter().map(|at| all[at].1).collect())
    }
}

impl World {
    /// Works the order of observers out, before the first event after one was added or removed.
    #[cold]
    pub(super) fn sort_observers(&mut self) {
        let reactions = &mut self.reactions;
        reactions.observers.order.unsorted = false;
        reactions.plans.forget();
        let order = reactions.observers.in_order().expect("no observer was added that closes a circle");
        reactions.observers.put_in_order(&order);
        let observers = &reactions.observers;
        sorting::sort_by_key(&mut reactions.matchers, |matcher| matcher.listener.rank(observers));
        sorting::sort_by_key(&mut reactions.polls, |poll| poll.listener.rank(observers));
    }
}
