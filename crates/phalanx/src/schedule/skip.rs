//! Why a system did not run, and why it had to wait.
//!
//! Each task counts how often it was skipped, by reason, and keeps the reason of the last run. Counting happens only
//! when a system is skipped: one that runs pays nothing but a look at whether something is kept.

use std::fmt;

use super::Schedule;
use super::error::OrderCycle;
use super::graph::Members;
use super::label::{IntoSystemSet, SetId};
use super::sort::Sorted;
use super::task::Task;
use super::view::ScheduleView;
use crate::system::ParamError;

/// Why a task was skipped in its last run.
pub(crate) enum Skip {
    /// One of its own conditions, by number.
    Condition(usize),
    /// A condition of several systems, by the number of its gate.
    Gate(usize),
    Param(ParamError),
    Stepping,
}

/// How often a system was skipped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skips {
    /// Because of a condition of its own.
    pub by_condition: u64,
    /// Because of a condition of a set, or of several systems together.
    pub by_set: u64,
    /// Because a parameter could not be had.
    pub by_param: u64,
    /// Because of [`Stepping`](super::Stepping).
    pub by_stepping: u64,
}

impl Skips {
    /// How often in all.
    pub fn total(&self) -> u64 {
        self.by_condition + self.by_set + self.by_param + self.by_stepping
    }

    pub(crate) fn count(&mut self, skip: &Skip) {
        let counter = match skip {
            Skip::Condition(_) => &mut self.by_condition,
            Skip::Gate(_) => &mut self.by_set,
            Skip::Param(_) => &mut self.by_param,
            Skip::Stepping => &mut self.by_stepping,
        };
        *counter += 1;
    }
}

/// Why a system did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// A condition of its own did not hold, or could not be evaluated.
    Condition {
        /// The condition.
        condition: String,
    },
    /// A condition of a set, or of several systems together, did not hold, or could not be evaluated.
    Set {
        /// The condition.
        condition: String,
        /// The sets that have the condition; none for a tuple of systems.
        sets: Vec<String>,
    },
    /// A parameter could not be had.
    Param {
        /// The parameter.
        param: String,
        /// What it needs.
        needs: String,
    },
    /// [`Stepping`](super::Stepping) held it back.
    Stepping,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Condition { condition } => write!(f, "its condition `{condition}` did not hold"),
            Self::Set { condition, sets } if sets.is_empty() => {
                write!(f, "condition `{condition}`, which it shares with other systems, did not hold")
            }
            Self::Set { condition, sets } => {
                write!(f, "condition `{condition}` of set `{}` did not hold", sets.join("`, `"))
            }
            Self::Param { param, needs } => write!(f, "its parameter `{param}` needs {needs}"),
            Self::Stepping => write!(f, "stepping held it back"),
        }
    }
}

/// A system that did not run in the last run of its schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The system.
    pub system: String,
    /// Why.
    pub reason: SkipReason,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` did not run: {}", self.system, self.reason)
    }
}

/// A system that waits for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waited {
    /// The system.
    pub system: String,
    /// The one that it waits for.
    pub waits_for: String,
    /// What both use and one writes; `everything` for exclusive systems. Nothing when only the order asks for it.
    pub parts: Vec<String>,
    /// Whether the order was declared between these two; otherwise it is that of their insertion.
    pub declared: bool,
}

impl fmt::Display for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` waits for `{}`", self.system, self.waits_for)?;
        match (self.parts.is_empty(), self.declared) {
            (true, _) => write!(f, ": it was ordered after it"),
            (false, true) => {
                write!(f, ": it was ordered after it, and both use `{}`", self.parts.join("`, `"))
            }
            (false, false) => {
                write!(f, ": both use `{}`, and it was added later", self.parts.join("`, `"))
            }
        }
    }
}

impl Schedule {
    /// Why a task did not run in the last run, if it did not.
    pub(super) fn skip_reason(&self, task: &Task) -> Option<SkipReason> {
        let reason = match task.skipped()? {
            Skip::Condition(at) => SkipReason::Condition { condition: task.condition_name(*at) },
            Skip::Gate(gate) => {
                let gate = &self.gates[*gate];
                let sets = match &gate.members {
                    Members::Sets(sets) => sets.iter().map(ToString::to_string).collect(),
                    Members::Systems(_) => Vec::new(),
                };
                SkipReason::Set { condition: gate.task.name.clone(), sets }
            }
            Skip::Param(error) => {
                let param = crate::system::names::short_type_name(error.param());
                SkipReason::Param { param, needs: error.reason().to_owned() }
            }
            Skip::Stepping => SkipReason::Stepping,
        };
        Some(reason)
    }
}

impl ScheduleView<'_> {
    /// Of the systems of a function, or of a set, those that did not run in the last run, and why.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// fn never() -> bool {
    ///     false
    /// }
    /// fn draw() {}
    ///
    /// let mut app = App::new();
    /// app.add_systems(Update, draw.run_if(never));
    /// app.step(0.1);
    /// let why = app.schedule(Update).why_skipped(draw);
    /// assert_eq!(why[0].to_string(), "`draw` did not run: its condition `never` did not hold");
    /// ```
    pub fn why_skipped<M>(&self, systems: impl IntoSystemSet<M>) -> Vec<Skipped> {
        self.named(&systems.into_set()).into_iter().filter_map(|at| self.skipped_at(at)).collect()
    }

    /// Why one system did not run in the last run, if it did not.
    pub(super) fn skipped_at(&self, at: usize) -> Option<Skipped> {
        let task = &self.schedule.nodes[at].task;
        let reason = self.schedule.skip_reason(task)?;
        Some(Skipped { system: task.name.clone(), reason })
    }

    /// Of the systems of a function, or of a set, those that have to wait for others, for which, and what each of these
    /// holds: earlier systems of the schedule that conflict with them, or that they are ordered after.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn why_waited<M>(&self, systems: impl IntoSystemSet<M>) -> Result<Vec<Waited>, OrderCycle> {
        let sorted = self.sorted()?;
        Ok(self.waits_of(&sorted, &self.named(&systems.into_set())))
    }

    /// As [`why_waited`](Self::why_waited), for all systems, in the order they run.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn waits(&self) -> Result<Vec<Waited>, OrderCycle> {
        let sorted = self.sorted()?;
        Ok(self.waits_of(&sorted, &self.systems(&sorted)))
    }

    fn waits_of(&self, sorted: &Sorted, systems: &[usize]) -> Vec<Waited> {
        let order = self.systems(sorted);
        let mut waits = Vec::new();
        for &at in systems {
            for &earlier in order.iter().take_while(|&&system| system != at) {
                let declared = sorted.graph.followers(earlier).binary_search(&at).is_ok();
                let parts = self.shared_parts(earlier, at);
                if declared || !parts.is_empty() {
                    let (system, waits_for) = (self.name(at), self.name(earlier));
                    waits.push(Waited { system, waits_for, parts, declared });
                }
            }
        }
        waits
    }

    /// The systems of a function or of a set, in the order they were added.
    fn named(&self, set: &SetId) -> Vec<usize> {
        if set.is_function() {
            let nodes = self.schedule.nodes.iter().enumerate();
            return nodes.filter(|(_, node)| node.task.key() == set.key()).map(|(at, _)| at).collect();
        }
        self.sorted().map_or_else(|_| Vec::new(), |sorted| sorted.graph.systems_of(set))
    }
}
