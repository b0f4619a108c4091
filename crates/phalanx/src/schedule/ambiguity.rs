//! Ambiguities: systems that conflict, and whose order is not declared.
//!
//! Here such systems run in the order in which they were added, so a program does the same in every run; but the order
//! may be an accident. The report names each pair, and what both use. It can be left on, as a warning or an error
//! ([`ScheduleBuildSettings`]). Pairs whose order does not matter are excepted by `ambiguous_with`.

use std::fmt;

use hashbrown::HashSet;

use super::graph::{Graph, Node};
use super::label::SetId;
use super::sets::SetConfig;
use super::sync::SyncPoints;
use super::{Schedule, sort};
use crate::schedule::graph::Constraints;
use crate::system::Part;
use crate::world::World;

/// What happens when something is noticed about a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Nothing: it is not looked for.
    #[default]
    Ignore,
    /// It is reported on the standard error, or in the log with the feature `trace`.
    Warn,
    /// The schedule does not run.
    Error,
}

/// How a schedule is built.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::schedule::{LogLevel, ScheduleBuildSettings};
///
/// #[derive(Resource, Default)]
/// struct Score(u32);
///
/// fn add(mut score: ResMut<Score>) {
///     score.0 += 1;
/// }
/// fn double(mut score: ResMut<Score>) {
///     score.0 *= 2;
/// }
///
/// let mut world = World::new();
/// world.init_resource::<Score>();
/// let mut schedule = Schedule::default();
/// let settings = ScheduleBuildSettings { ambiguity_detection: LogLevel::Error, ..Default::default() };
/// schedule.set_build_settings(settings).add_systems((add, double));
/// let error = schedule.initialize(&mut world).unwrap_err();
/// assert!(error.to_string().contains("`add` and `double` both use `Score`"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleBuildSettings {
    /// What happens when two systems conflict and their order is not declared; nothing by default.
    pub ambiguity_detection: LogLevel,
    /// Whether commands are applied wherever the order asks for it; otherwise at the end, and where `ApplyDeferred`
    /// stands.
    pub auto_insert_apply_deferred: bool,
}

impl ScheduleBuildSettings {
    /// The default settings.
    pub const fn new() -> Self {
        Self { ambiguity_detection: LogLevel::Ignore, auto_insert_apply_deferred: true }
    }
}

impl Default for ScheduleBuildSettings {
    fn default() -> Self {
        Self::new()
    }
}

/// Two systems that conflict, and whose order was not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ambiguity {
    /// The system that runs first, because it was added first.
    pub first: String,
    /// The other one.
    pub second: String,
    /// What both use and one writes; `everything` for exclusive systems.
    pub parts: Vec<String>,
}

impl fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` and `{}` both use ", self.first, self.second)?;
        for (at, part) in self.parts.iter().enumerate() {
            let between = if at > 0 { ", " } else { "" };
            write!(f, "{between}`{part}`")?;
        }
        write!(
            f,
            " and are in no declared order: order them with `before`, `after` or `chain`, or except them with `ambiguous_with`"
        )
    }
}

impl std::error::Error for Ambiguity {}

/// The ambiguities that a system or a set says do not matter.
#[derive(Clone, Default)]
pub(crate) struct Excepted {
    pub(crate) all: bool,
    pub(crate) with: Vec<SetId>,
}

/// What a schedule says about ambiguities.
#[derive(Clone, Default)]
pub(crate) struct Exceptions {
    pub(crate) level: LogLevel,
    /// Sets whose systems may conflict with each other's.
    pub(crate) pairs: Vec<(SetId, SetId)>,
    /// Parts of the world that need no order.
    pub(crate) parts: Vec<Part>,
}

impl Schedule {
    /// Sets how the schedule is built.
    pub fn set_build_settings(&mut self, settings: ScheduleBuildSettings) -> &mut Self {
        let ScheduleBuildSettings { ambiguity_detection, auto_insert_apply_deferred } = settings;
        self.exceptions.level = ambiguity_detection;
        self.set_sync_points(match auto_insert_apply_deferred {
            true => SyncPoints::Ordered,
            false => SyncPoints::PhaseEnd,
        });
        self
    }

    /// How the schedule is built.
    pub fn get_build_settings(&self) -> ScheduleBuildSettings {
        ScheduleBuildSettings {
            ambiguity_detection: self.exceptions.level,
            auto_insert_apply_deferred: self.sync == SyncPoints::Ordered,
        }
    }

    /// Says that systems of two sets, or functions, may conflict without an order.
    pub fn ignore_ambiguity<M1, M2>(
        &mut self,
        first: impl super::IntoSystemSet<M1>,
        second: impl super::IntoSystemSet<M2>,
    ) -> &mut Self {
        self.exceptions.pairs.push((first.into_set(), second.into_set()));
        self.plan = None;
        self
    }

    pub(crate) fn allow_ambiguous(&mut self, part: Part) {
        if !self.exceptions.parts.contains(&part) {
            self.exceptions.parts.push(part);
            self.plan = None;
        }
    }

    pub(crate) fn set_ambiguity_detection(&mut self, level: LogLevel) {
        self.exceptions.level = level;
        self.plan = None;
    }

    /// The pairs of systems that conflict without a declared order.
    pub(crate) fn ambiguities(&self, world: &World, sorted: &sort::Sorted) -> Vec<Ambiguity> {
        self.ambiguous_pairs(world, sorted).into_iter().map(|(_, _, pair)| pair).collect()
    }

    /// The same, with the numbers of both systems.
    pub(super) fn ambiguous_pairs(
        &self,
        world: &World,
        sorted: &sort::Sorted,
    ) -> Vec<(usize, usize, Ambiguity)> {
        let excepted = self.excepted(&sorted.graph);
        let order: Vec<usize> =
            sorted.order.iter().copied().filter(|&node| node < self.nodes.len()).collect();
        let mut found = Vec::new();
        for (at, &a) in order.iter().enumerate() {
            let ordered = sorted.graph.all_followers(a);
            for &b in &order[at + 1..] {
                let (first, second) = (&self.nodes[a], &self.nodes[b]);
                let is_excepted = first.ambiguous.all || second.ambiguous.all;
                if is_excepted || ordered[b] || excepted.contains(&(a.min(b), a.max(b))) {
                    continue;
                }
                let parts = self.unordered_parts(first, second, world);
                if !parts.is_empty() {
                    let (first, second) = (first.task.name.clone(), second.task.name.clone());
                    found.push((a, b, Ambiguity { first, second, parts }));
                }
            }
        }
        found
    }

    fn unordered_parts(&self, first: &Node, second: &Node, world: &World) -> Vec<String> {
        let (first, second) = (&first.task.access, &second.task.access);
        if first.is_exclusive() || second.is_exclusive() {
            return vec!["everything".to_owned()];
        }
        // The ids of new entities follow the order, whatever it is.
        let counts = |part: &Part| *part != Part::EntityIds && !self.exceptions.parts.contains(part);
        let mut parts: Vec<String> =
            first.conflicts(second).filter(counts).map(|part| part.name(world)).collect();
        parts.dedup();
        parts
    }

    /// The pairs of systems that are excepted by name, the lower number first.
    fn excepted(&self, graph: &Graph) -> HashSet<(usize, usize)> {
        let mut pairs = HashSet::new();
        let mut add = |first: &[usize], second: &[usize]| {
            for &a in first {
                pairs.extend(second.iter().map(|&b| (a.min(b), a.max(b))));
            }
        };
        for (at, node) in self.nodes.iter().enumerate() {
            node.ambiguous.with.iter().for_each(|set| add(&[at], &graph.systems_of(set)));
        }
        for SetConfig { set, ambiguous, .. } in &self.sets {
            let own = graph.systems_of(set);
            ambiguous.with.iter().for_each(|other| add(&own, &graph.systems_of(other)));
            if ambiguous.all {
                let all: Vec<usize> = (0..self.nodes.len()).collect();
                add(&own, &all);
            }
        }
        for (first, second) in &self.exceptions.pairs {
            add(&graph.systems_of(first), &graph.systems_of(second));
        }
        pairs
    }

    pub(crate) fn constraints(&self) -> Constraints<'_> {
        let Self { nodes, gates, sets, chains, exceptions, .. } = self;
        Constraints { nodes, gates, sets, chains, excepted: &exceptions.pairs }
    }
}
