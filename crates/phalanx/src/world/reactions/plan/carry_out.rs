//! Carrying a plan out: who is told before the change and after it, and what ends the announcement.
//!
//! A plan is taken out meanwhile and put back when all have heard. What each half does without listeners, or when nothing
//! was queued, calls nothing, so that nothing is saved for it.

use phalanx_store::{Entity, TableId};

use super::{Plan, Step, Telling, Way};
use crate::bundles::BundleId;
use crate::world::World;
use crate::world::reactions::Lifecycle;
use crate::world::reactions::announce::{Begun, Round};
use crate::world::reactions::chain::Cause;
use crate::world::reactions::events::{EntityComponentsTrigger, Heard, OwnEvent, Run};
use crate::world::reactions::matches::Border;

impl World {
    /// Announces entities that came with a bundle, as planned. False, and nothing happens, when that is not known.
    pub(in crate::world::reactions) fn announced_bundle(
        &mut self,
        entities: &[Entity],
        bundle: BundleId,
    ) -> bool {
        let Some(&first) = entities.first() else { return true };
        if !self.begins_plainly() {
            return false;
        }
        let observers = &self.reactions.observers;
        if observers.has_entities() && entities.iter().any(|&entity| observers.observes(entity)) {
            return false;
        }
        // The table does not matter: a spawned entity comes from none.
        let plan = self.take_plan(Way::Spawn, bundle.index(), first, TableId::DEAD, Some(bundle));
        let Some(plan) = plan else { return false };
        if plan.is_silent() && self.reactions.chain.is_empty() {
            self.put_back(plan);
            return true;
        }
        self.reactions.chain.push(Cause { kind: plan.first, entity: first });
        if entities.len() > 1 {
            self.tell_run(&plan, entities);
            self.call_matchers(entities, &plan.crossings, Border::Begins);
            self.put_back(plan);
            self.end_round(Round::PLAIN, Ok(()));
        } else {
            self.end_planned(plan, first);
        }
        true
    }

    /// Tells of what goes.
    #[inline(never)]
    pub(super) fn tell_before(&mut self, plan: Box<Plan>, entity: Entity) -> Option<Begun> {
        self.tell_steps(&plan.before, entity, Border::Ceases);
        Some(Begun::Planned(plan))
    }

    /// The other half, when the change was made.
    #[inline(always)]
    pub(in crate::world::reactions) fn end_planned(&mut self, plan: Box<Plan>, entity: Entity) {
        if plan.after.is_empty() { self.end_told(plan) } else { self.tell_after(plan, entity) }
    }

    /// Tells of what came, and ends the announcement.
    #[inline(never)]
    fn tell_after(&mut self, plan: Box<Plan>, entity: Entity) {
        self.tell_steps(&plan.after, entity, Border::Begins);
        self.end_told(plan);
    }

    /// Puts the plan of an announcement back that all have heard, and ends it.
    #[inline(always)]
    fn end_told(&mut self, plan: Box<Plan>) {
        let plans = &mut self.reactions.plans;
        if plan.made == plans.forgotten
            && self.commands.queue.is_empty()
            && self.reactions.errors.is_empty()
            && let Some(place @ None) = plans.kept[plan.way as usize].get_mut(plan.at)
        {
            *place = Some(plan);
            self.reactions.chain.pop_within_limit();
        } else {
            self.end_waiting(plan);
        }
    }

    /// As `end_told`, where commands or errors wait, or plans were forgotten meanwhile.
    #[inline(never)]
    fn end_waiting(&mut self, plan: Box<Plan>) {
        self.put_back(plan);
        self.end_round(Round::PLAIN, Ok(()));
    }

    /// The other half, when the change panicked: it may have happened or not.
    pub(in crate::world::reactions) fn end_planned_panic(&mut self, plan: Box<Plan>, entity: Entity) {
        self.announce_what_is_there(entity, &plan.changes);
        let crossings = self.matching_now(entity, &plan.crossings);
        self.call_matchers(&[entity], &crossings, Border::Begins);
        self.put_back(plan);
    }

    #[inline(always)]
    pub(super) fn tell_steps(&mut self, steps: &[Step], entity: Entity, side: Border) {
        for step in steps {
            match step {
                Step::Match(listener) => self.call_planned_matcher(entity, listener, side),
                Step::Event(telling) => self.tell_planned(telling, entity),
            }
        }
    }

    fn tell_planned(&mut self, telling: &Telling, entity: Entity) {
        let Telling { event, ids, logged, collected, .. } = telling;
        if matches!(event, Lifecycle::Add | Lifecycle::Insert) {
            self.call_planned_hooks(telling, entity);
            self.call_planned(telling, entity, |_| true);
        } else {
            self.call_planned(telling, entity, |_| true);
            self.call_planned_hooks(telling, entity);
        }
        if *logged {
            self.log_removals(entity, ids);
        }
        if *collected {
            self.collect(*event, entity, ids);
        }
    }

    /// Tells of entities that came at once: listeners that take them as one run are called after the others.
    fn tell_run(&mut self, plan: &Plan, entities: &[Entity]) {
        let collected = || plan.coming().filter(|telling| telling.collected);
        if collected().next().is_some() {
            for &entity in entities {
                collected().for_each(|telling| self.collect(telling.event, entity, &telling.ids));
            }
        }
        let singly = |telling: &&Telling| {
            !telling.hooks.is_empty() || telling.observers.iter().any(|(_, takes_runs)| !takes_runs)
        };
        if plan.coming().any(|telling| singly(&telling)) {
            for &entity in entities {
                for telling in plan.coming() {
                    self.call_planned_hooks(telling, entity);
                    self.call_planned(telling, entity, |takes_runs| !takes_runs);
                }
            }
        }
        for telling in plan.coming() {
            let mut slots = telling.observers.iter().filter(|(_, takes_runs)| *takes_runs).peekable();
            if slots.peek().is_none() {
                continue;
            }
            let (first, entities) = (entities[0], Run::many(entities.into()));
            let trigger = EntityComponentsTrigger { components: telling.ids.clone(), entities };
            let mut event = (OwnEvent::lifecycle(telling.event, first), trigger);
            slots.for_each(|&(slot, _)| self.call_observer(slot, Heard::Own(&mut event)));
        }
    }

    fn call_planned_hooks(&mut self, telling: &Telling, entity: Entity) {
        for &(id, hook) in &telling.hooks {
            self.call_hook(telling.event, hook, entity, id);
        }
    }

    #[inline]
    fn call_planned(&mut self, telling: &Telling, entity: Entity, which: impl Fn(bool) -> bool) {
        if telling.observers.is_empty() {
            return;
        }
        let trigger = EntityComponentsTrigger { components: telling.ids.clone(), entities: Run::one(entity) };
        let mut event = (OwnEvent::lifecycle(telling.event, entity), trigger);
        for &(slot, takes_runs) in &telling.observers {
            if which(takes_runs) {
                self.call_observer_inline(slot, Heard::Own(&mut event));
            }
        }
    }
}
