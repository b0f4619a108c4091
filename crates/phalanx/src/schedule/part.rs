//! Running some of the systems of a schedule, by their place in the order.
//!
//! The others are held back as by [`Stepping`](super::Stepping), for this run only.

use std::any::TypeId;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::{BuildError, Schedule, SystemKey, executor};
use crate::schedule::sync::ApplyDeferred;
use crate::world::World;

impl Schedule {
    /// The systems in their order, without sync points, which always run; nothing until it is built.
    pub(super) fn systems_in_order(&self) -> Vec<usize> {
        let is_system =
            |at: &usize| self.nodes.get(*at).is_some_and(|node| !ApplyDeferred::is(node.task.key()));
        self.plan
            .as_ref()
            .map_or_else(Vec::new, |plan| plan.order.iter().copied().filter(is_system).collect())
    }

    /// The systems in their order, as a [`Stepping`](super::Stepping) knows them.
    pub(super) fn stepped_systems(&self) -> Vec<(SystemKey, TypeId)> {
        let nodes = self.systems_in_order().into_iter().map(|at| &self.nodes[at]);
        nodes.map(|node| (node.id, node.task.key())).collect()
    }

    /// Runs the systems at some places of the order, and applies their commands. The name of the first of them; `None`
    /// when there is no system at these places, and nothing ran.
    ///
    /// # Errors
    /// When the order cannot be worked out; then nothing has run.
    pub(crate) fn run_part(
        &mut self,
        world: &mut World,
        places: Range<usize>,
    ) -> Result<Option<String>, BuildError> {
        self.initialize(world)?;
        let order = self.systems_in_order();
        let Some(&first) = order.get(places.start) else { return Ok(None) };
        self.bind(world);
        world.flush();
        for (place, &at) in order.iter().enumerate() {
            self.nodes[at].task.hold(!places.contains(&place));
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let plan = self.plan.as_mut().expect("it was built just now");
            executor::run(plan, &mut self.nodes, &mut self.gates, &self.executor, world, None);
        }));
        order.into_iter().for_each(|at| self.nodes[at].task.hold(false));
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
        Ok(Some(self.nodes[first].task.name.clone()))
    }
}
