//! Looking at a schedule: its order, what each system waits for, warnings, pictures.
//!
//! A view computes from the systems as they are; it changes nothing and needs no plan.

use super::ambiguity::Ambiguity;
use super::error::{OrderCycle, RepeatedSystem, UnknownConstraint};
use super::picture;
use super::sort::{self, Sorted};
use super::sync::ApplyDeferred;
use super::timing::Timing;
use super::{Schedule, SystemKey};
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
    pub(super) schedule: &'a Schedule,
    pub(super) world: &'a World,
}

impl<'a> ScheduleView<'a> {
    pub(crate) fn new(schedule: &'a Schedule, world: &'a World) -> Self {
        Self { schedule, world }
    }

    /// How often the order was worked out so far.
    pub fn times_sorted(&self) -> u64 {
        self.schedule.times_sorted()
    }

    /// The names of the systems in the order they run, and `ApplyDeferred` wherever commands are applied between
    /// them. At the end of the schedule they always are.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn order(&self) -> Result<Vec<String>, OrderCycle> {
        let sorted = self.sorted()?;
        let mut names = Vec::new();
        let mut level = 0;
        for (at, own) in self.systems_with_levels(&sorted) {
            let nodes = &self.schedule.nodes;
            if own != std::mem::replace(&mut level, own) && !ApplyDeferred::is(nodes[at].task.key()) {
                names.push(ApplyDeferred::NAME.to_owned());
            }
            names.push(self.name(at));
        }
        Ok(names)
    }

    /// How often commands are applied before the end of the schedule.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn sync_points(&self) -> Result<usize, OrderCycle> {
        Ok(self.sorted()?.levels.last().map_or(0, |level| *level as usize))
    }

    /// The numbers of the systems in the order they run.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn keys(&self) -> Result<Vec<SystemKey>, OrderCycle> {
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
        let followers: Vec<Vec<usize>> = self.followers(&sorted);
        let mut pairs = Vec::new();
        for (later, &b) in order.iter().enumerate() {
            for &a in &order[..later] {
                let parts = self.shared_parts(a, b);
                if parts.is_empty() {
                    continue;
                }
                let declared = followers[a].binary_search(&b).is_ok();
                pairs.push(ConflictPair { first: self.name(a), second: self.name(b), parts, declared });
            }
        }
        Ok(pairs)
    }

    /// What keeps two systems from running at the same time; nothing when they may.
    pub(super) fn shared_parts(&self, a: usize, b: usize) -> Vec<String> {
        let (first, second) = (&self.schedule.nodes[a].task.access, &self.schedule.nodes[b].task.access);
        if first.is_exclusive() || second.is_exclusive() {
            return vec!["everything".to_owned()];
        }
        let mut parts: Vec<String> = first.conflicts(second).map(|part| part.name(self.world)).collect();
        parts.dedup();
        parts
    }

    /// The pairs of systems that conflict and whose order is not declared, neither directly nor by way of others. They run
    /// in the order in which they were added. Pairs that are excepted by `ambiguous_with` are left out.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn ambiguities(&self) -> Result<Vec<Ambiguity>, OrderCycle> {
        Ok(self.schedule.ambiguities(self.world, &self.sorted()?))
    }

    /// Constraints that name a function of which this schedule has several systems, and hold for all of them.
    pub fn repeated(&self) -> Vec<RepeatedSystem> {
        self.sorted().map_or_else(|_| Vec::new(), |sorted| sorted.graph.repeated)
    }

    /// Constraints that name no system of this schedule, and are ignored.
    pub fn warnings(&self) -> Vec<UnknownConstraint> {
        self.sorted().map_or_else(|_| Vec::new(), |sorted| sorted.graph.unknown)
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

    /// The schedule in the language of Graphviz: declared order solid, conflicts dashed, sync points as ellipses.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn to_dot(&self) -> Result<String, OrderCycle> {
        Ok(picture::dot(&self.drawing()?))
    }

    /// The schedule as a picture, ready to be written to a file: declared order solid, conflicts dashed, sync points
    /// as lines across.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn to_svg(&self) -> Result<String, OrderCycle> {
        Ok(picture::svg(&self.drawing()?))
    }

    fn drawing(&self) -> Result<picture::Drawing, OrderCycle> {
        let sorted = self.sorted()?;
        let (order, levels): (Vec<usize>, Vec<u32>) = self.systems_with_levels(&sorted).unzip();
        let followers = self.followers(&sorted);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &at)| places[at] = place);
        let mut declared = Vec::new();
        let mut conflicts = Vec::new();
        for (from, &a) in order.iter().enumerate() {
            declared.extend(followers[a].iter().map(|&b| (from, places[b])));
            for (more, &b) in order[from + 1..].iter().enumerate() {
                let (first, second) = (&self.schedule.nodes[a].task, &self.schedule.nodes[b].task);
                if followers[a].binary_search(&b).is_err() && first.access.conflicts_with(&second.access) {
                    conflicts.push((from, from + 1 + more));
                }
            }
        }
        let deferring = order.iter().map(|&at| self.schedule.nodes[at].task.defers()).collect();
        let names = order.into_iter().map(|at| self.name(at)).collect();
        Ok(picture::Drawing { names, levels, deferring, declared, conflicts })
    }

    pub(super) fn sorted(&self) -> Result<Sorted, OrderCycle> {
        sort::order(self.schedule.constraints(), self.schedule.sync)
    }

    pub(super) fn systems(&self, sorted: &Sorted) -> Vec<usize> {
        self.systems_with_levels(sorted).map(|(at, _)| at).collect()
    }

    pub(super) fn systems_with_levels<'s>(
        &self,
        sorted: &'s Sorted,
    ) -> impl Iterator<Item = (usize, u32)> + use<'s> {
        let count = self.schedule.nodes.len();
        let tasks = sorted.order.iter().copied().zip(sorted.levels.iter().copied());
        tasks.filter(move |(node, _)| *node < count)
    }

    pub(super) fn followers(&self, sorted: &Sorted) -> Vec<Vec<usize>> {
        (0..self.schedule.nodes.len()).map(|at| sorted.graph.followers(at)).collect()
    }

    pub(super) fn name(&self, at: usize) -> String {
        self.schedule.nodes[at].task.name.clone()
    }
}
