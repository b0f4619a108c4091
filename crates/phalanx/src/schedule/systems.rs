//! The systems of a schedule one by one: what each uses, waits for, and visits by queries.
//!
//! For tools that answer why a system runs when it does, and why it does not see an entity.

use super::error::OrderCycle;
use super::skip::Skipped;
use super::view::ScheduleView;
use super::{ApplyDeferred, SystemKey};
use crate::query::Condition;
use crate::system::Access;

/// A system of a schedule, to be looked at.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SystemView {
    /// Its number.
    pub key: SystemKey,
    /// Its name.
    pub name: String,
    /// How many sync points come before it.
    pub level: u32,
    /// Whether it is a sync point that was added as a system.
    pub is_sync: bool,
    /// Whether it has the world to itself.
    pub exclusive: bool,
    /// Whether it reads everything.
    pub reads_everything: bool,
    /// Whether it leaves commands or buffers to be applied later.
    pub defers: bool,
    /// Why it did not run in the last run, if it did not.
    pub skipped: Option<Skipped>,
    /// The names of its own run conditions; those of its sets are not among them.
    pub conditions: Vec<String>,
    /// What it only reads: components, fields, resources, messages.
    pub reads: Vec<String>,
    /// What it writes.
    pub writes: Vec<String>,
    /// What each of its queries asks of an entity.
    pub queries: Vec<Condition>,
    /// The systems that are declared to run right before it, as positions in the order.
    pub after: Vec<usize>,
}

impl ScheduleView<'_> {
    /// The systems in the order they run.
    ///
    /// # Errors
    /// When the constraints contradict each other.
    pub fn system_views(&self) -> Result<Vec<SystemView>, OrderCycle> {
        let sorted = self.sorted()?;
        let order: Vec<(usize, u32)> = self.systems_with_levels(&sorted).collect();
        let followers = self.followers(&sorted);
        let mut after = vec![Vec::new(); order.len()];
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &(at, _))| places[at] = place);
        for (from, &(at, _)) in order.iter().enumerate() {
            followers[at].iter().for_each(|&to| after[places[to]].push(from));
        }
        let views = order.iter().zip(after).map(|(&(at, level), after)| {
            let node = &self.schedule.nodes[at];
            let task = &node.task;
            SystemView {
                key: node.id,
                name: task.name.clone(),
                level,
                is_sync: ApplyDeferred::is(task.key()),
                exclusive: task.access.is_exclusive(),
                reads_everything: task.access.reads_everything(),
                defers: task.defers(),
                skipped: self.skipped_at(at),
                conditions: task.condition_names(),
                reads: self.used(&task.access, false),
                writes: self.used(&task.access, true),
                queries: task.own_access().map_or_else(Vec::new, |own| own.queries().cloned().collect()),
                after,
            }
        });
        Ok(views.collect())
    }

    fn used(&self, access: &Access, written: bool) -> Vec<String> {
        let uses = access.uses().iter().filter(|(_, writes)| *writes == written);
        uses.map(|(part, _)| part.name(self.world)).collect()
    }
}
