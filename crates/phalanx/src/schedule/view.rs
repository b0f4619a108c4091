//! Looking at a schedule: its order, who waits for whom, warnings, pictures.
//!
//! A view computes from the systems as they are; it changes nothing and needs no plan.

use super::error::{OrderCycle, UnknownConstraint};
use super::graph::{self, Sorted};
use super::picture;
use super::timing::Timing;
use super::{Schedule, SystemId};
use crate::world::World;

/// Two systems that cannot run at the same time, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConflictPair {
    /// The system that runs first.
    pub first: String,
    /// The system that waits.
    pub second: String,
    /// What both use and one writes; `everything` for exclusive systems.
    pub parts: Vec<String>,
    /// Whether their order was declared; otherwise it is that of their insertion.
    pub declared: bool,
}

/// A schedule and its world, to be looked at.
pub struct ScheduleView<'a> {
    schedule: &'a Schedule,
    world: &'a World,
}

impl<'a> ScheduleView<'a> {
    pub(crate) fn new(schedule: &'a Schedule, world: &'a World) -> Self {
        Self { schedule, world }
    }

    /// How often the order was worked out so far.
    pub fn times_sorted(&self) -> u64 {
        self.schedule.times_sorted()
    }

    /// The names of the systems in the order they run.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn order(&self) -> Result<Vec<String>, OrderCycle> {
        Ok(self.systems(&self.sorted()?).into_iter().map(|at| self.name(at)).collect())
    }

    /// The numbers of the systems in the order they run.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn ids(&self) -> Result<Vec<SystemId>, OrderCycle> {
        let systems = self.systems(&self.sorted()?);
        Ok(systems.into_iter().map(|at| self.schedule.nodes[at].id).collect())
    }

    /// The pairs of systems that cannot run at the same time, in order.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn conflicts(&self) -> Result<Vec<ConflictPair>, OrderCycle> {
        let sorted = self.sorted()?;
        let order = self.systems(&sorted);
        let mut pairs = Vec::new();
        for (later, &b) in order.iter().enumerate() {
            for &a in &order[..later] {
                let (first, second) = (&self.schedule.nodes[a].task, &self.schedule.nodes[b].task);
                if !first.access.conflicts_with(&second.access) {
                    continue;
                }
                let mut parts: Vec<String> =
                    first.access.conflicts(&second.access).map(|part| part.name(self.world)).collect();
                if first.access.is_exclusive() || second.access.is_exclusive() {
                    parts = vec!["everything".to_owned()];
                }
                parts.dedup();
                let declared = sorted.edges[a].contains(&b);
                pairs.push(ConflictPair { first: self.name(a), second: self.name(b), parts, declared });
            }
        }
        Ok(pairs)
    }

    /// Constraints that name no system of this schedule, and are ignored.
    pub fn warnings(&self) -> Vec<UnknownConstraint> {
        self.sorted().map_or_else(|_| Vec::new(), |sorted| sorted.unknown)
    }

    /// The time each system took so far, in the order they were added.
    pub fn timings(&self) -> Vec<Timing> {
        self.schedule.timings()
    }

    /// How many systems there are.
    pub fn len(&self) -> usize {
        self.schedule.len()
    }

    /// Whether there is no system.
    pub fn is_empty(&self) -> bool {
        self.schedule.is_empty()
    }

    /// The schedule in the language of Graphviz: declared order solid, conflicts dashed.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn to_dot(&self) -> Result<String, OrderCycle> {
        Ok(picture::dot(&self.drawing()?))
    }

    /// The schedule as a picture, ready to be written to a file: declared order solid, conflicts dashed.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn to_svg(&self) -> Result<String, OrderCycle> {
        Ok(picture::svg(&self.drawing()?))
    }

    fn drawing(&self) -> Result<picture::Drawing, OrderCycle> {
        let sorted = self.sorted()?;
        let order = self.systems(&sorted);
        let place = |at: usize| order.iter().position(|&known| known == at);
        let mut declared = Vec::new();
        let mut conflicts = Vec::new();
        for (from, &a) in order.iter().enumerate() {
            declared.extend(sorted.edges[a].iter().filter_map(|&b| Some((from, place(b)?))));
            for (more, &b) in order[from + 1..].iter().enumerate() {
                let (first, second) = (&self.schedule.nodes[a].task, &self.schedule.nodes[b].task);
                if !sorted.edges[a].contains(&b) && first.access.conflicts_with(&second.access) {
                    conflicts.push((from, from + 1 + more));
                }
            }
        }
        let names = order.into_iter().map(|at| self.name(at)).collect();
        Ok(picture::Drawing { names, declared, conflicts })
    }

    fn sorted(&self) -> Result<Sorted, OrderCycle> {
        let Schedule { nodes, gates, sets, .. } = self.schedule;
        graph::order(nodes, gates, sets)
    }

    fn systems(&self, sorted: &Sorted) -> Vec<usize> {
        let count = self.schedule.nodes.len();
        sorted.order.iter().copied().filter(|&node| node < count).collect()
    }

    fn name(&self, at: usize) -> String {
        self.schedule.nodes[at].task.name.clone()
    }
}
