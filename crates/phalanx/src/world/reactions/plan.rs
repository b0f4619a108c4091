//! Plans: what a change announces that was made before in the same way, worked out once.
//!
//! What a change concerns follows from the table that an entity leaves, from the bundle, and from the listeners. So the
//! events, their hooks and observers in order, and the queries that the entity begins or ceases to match are kept with
//! the edge, with the bundle that is spawned, or with the table whose entities are despawned. Carrying a plan out works
//! nothing out, and allocates nothing. All plans are forgotten when listeners or their order change, and with the edges.
//!
//! A plan is not for entities of which the table does not tell enough: those in a sparse set that matters, and those
//! that are observed one by one. Nor is it for a change while commands wait, or at the limit of depth. These take the
//! long way (`announce`). Where debug assertions are on, a plan is worked out again at each use and compared, so that a
//! plan which should have been forgotten is found; that both ways announce the same is what the model test shows.

use phalanx_store::{Entity, Existing, SetId, TableId};

use super::announce::{Begun, Cause, Round};
use super::events::{EntityComponentsTrigger, Heard, OwnEvent, Run};
use super::hooks::Hook;
use super::matches::{Border, Crossing};
use super::{Changes, Lifecycle, foresee};
use crate::archetype::Kind;
use crate::bundles::BundleId;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

/// How a change is made, and with it what its plan is kept with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A bundle comes to what there is, kept with the edge.
    Replace,
    /// A bundle comes and leaves what there is, kept with the edge.
    Keep,
    /// A bundle goes, kept with the edge.
    Remove,
    /// Entities come with a bundle, kept with the bundle.
    Spawn,
    /// An entity goes, kept with its table.
    Despawn,
}

const WAYS: usize = 5;

/// The plans of one world.
#[derive(Default)]
pub(super) struct Plans {
    /// By way, and by what a plan is kept with.
    kept: [Vec<Option<Box<Plan>>>; WAYS],
    /// How often edges had been forgotten when the first of them was made.
    edges: u64,
    /// How often all were forgotten.
    forgotten: u64,
}

impl Plans {
    /// Forgets all: listeners came, went, or changed their order.
    pub(super) fn forget(&mut self) {
        self.kept.iter_mut().for_each(Vec::clear);
        self.forgotten += 1;
    }
}

/// What a change announces.
pub(crate) struct Plan {
    way: Way,
    at: usize,
    /// How often plans had been forgotten when it was made.
    made: u64,
    changes: Changes,
    /// The first event, to tell why something happened.
    first: (Lifecycle, Option<ComponentId>),
    /// What goes, and what comes, where there are listeners.
    leaving: Box<[Telling]>,
    coming: Box<[Telling]>,
    /// The listeners to the entity's beginning or ceasing to match: all, those on this side of the change, and on the
    /// other.
    crossings: Vec<Crossing>,
    ceasing: Box<[Crossing]>,
    beginning: Box<[Crossing]>,
    /// The sets in which an entity is not, if this is what its change announces.
    sets: Box<[SetId]>,
    /// Whether there is no listener.
    silent: bool,
}

/// One event, and all its listeners.
struct Telling {
    event: Lifecycle,
    ids: Signature,
    hooks: Box<[(ComponentId, Hook)]>,
    /// The slots of the observers in the order in which they are called, and whether each takes runs.
    observers: Box<[(u32, bool)]>,
    /// Whether removals are written down.
    logged: bool,
    /// Whether sets collect it.
    collected: bool,
}

impl World {
    /// Begins to announce that a bundle is inserted, if that is known.
    #[inline(never)]
    pub(crate) fn begin_insertion(
        &mut self,
        entity: Entity,
        bundle: BundleId,
        existing: Existing,
    ) -> Option<Begun> {
        let table = self.store.locate(entity)?.table;
        let at = self.archetypes.edge_position(Kind::Insert, table, bundle.index())?;
        let way = if existing == Existing::Replace { Way::Replace } else { Way::Keep };
        self.begin_planned(way, at, entity, table, Some(bundle))
    }

    /// Begins to announce that a bundle is removed, if that is known.
    #[inline(never)]
    pub(crate) fn begin_removal(&mut self, entity: Entity, bundle: BundleId) -> Option<Begun> {
        let table = self.store.locate(entity)?.table;
        let at = self.archetypes.edge_position(Kind::RemoveHeard, table, bundle.index())?;
        self.begin_planned(Way::Remove, at, entity, table, Some(bundle))
    }

    /// Begins to announce that an entity is despawned, if that is known.
    #[inline(never)]
    pub(crate) fn begin_despawning(&mut self, entity: Entity) -> Option<Begun> {
        let table = self.store.locate(entity)?.table;
        self.begin_planned(Way::Despawn, table.index(), entity, table, None)
    }

    #[inline(always)]
    fn begin_planned(
        &mut self,
        way: Way,
        at: usize,
        entity: Entity,
        table: TableId,
        bundle: Option<BundleId>,
    ) -> Option<Begun> {
        let plan = self.take_plan(way, at, entity, table, bundle)?;
        if plan.silent || !self.begins_plainly() {
            return Some(self.not_as_planned(plan, entity));
        }
        self.before_planned(&plan, entity);
        Some(Begun::Planned(plan))
    }

    /// Begins a change without listeners, or that is part of a longer announcement.
    #[inline(never)]
    fn not_as_planned(&mut self, plan: Box<Plan>, entity: Entity) -> Begun {
        // Without listeners, it is the cause of nothing. What is part of a chain counts all the same.
        if plan.silent && (self.reactions.chain.is_empty() || plan.changes.is_empty()) {
            self.put_back(plan);
            return Begun::Unheard;
        }
        if !self.begins_plainly() {
            let changes = plan.changes.clone();
            self.put_back(plan);
            return self.begin_foreseen(entity, changes);
        }
        self.before_planned(&plan, entity);
        Begun::Planned(plan)
    }

    /// Takes a plan out, to be put back. It is made where it is missing, and left where it is not for this entity.
    #[inline(always)]
    fn take_plan(
        &mut self,
        way: Way,
        at: usize,
        entity: Entity,
        table: TableId,
        bundle: Option<BundleId>,
    ) -> Option<Box<Plan>> {
        let plans = &mut self.reactions.plans;
        let known = plans.edges == self.archetypes.edges.cleared();
        let plan = match plans.kept[way as usize].get_mut(at).and_then(Option::take) {
            Some(plan) if known => plan,
            _ => self.make_plan(way, at, table, bundle)?,
        };
        #[cfg(debug_assertions)]
        self.check_plan(&plan, table, bundle);
        if !plan.sets.is_empty() || self.reactions.observers.has_entities() {
            return self.plan_for(plan, entity);
        }
        Some(plan)
    }

    /// A plan, unless more than the table decides for this entity.
    #[inline(never)]
    fn plan_for(&mut self, plan: Box<Plan>, entity: Entity) -> Option<Box<Plan>> {
        let is_in = |&set: &SetId| self.store.set_row(set, entity).is_some();
        if plan.sets.iter().any(is_in) || self.reactions.observers.observes(entity) {
            self.put_back(plan);
            return None;
        }
        Some(plan)
    }

    /// Puts a plan back, unless plans were forgotten since.
    #[inline]
    fn put_back(&mut self, plan: Box<Plan>) {
        let plans = &mut self.reactions.plans;
        if plan.made == plans.forgotten
            && let Some(place) = plans.kept[plan.way as usize].get_mut(plan.at)
        {
            *place = Some(plan);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_plan(
        &mut self,
        way: Way,
        at: usize,
        table: TableId,
        bundle: Option<BundleId>,
    ) -> Option<Box<Plan>> {
        if self.reactions.observers.order.is_unsorted() {
            self.sort_observers();
        }
        if self.reactions.plans.edges != self.archetypes.edges.cleared() {
            self.reactions.plans.forget();
            self.reactions.plans.edges = self.archetypes.edges.cleared();
        }
        let plan = self.work_out(way, at, table, bundle)?;
        let kept = &mut self.reactions.plans.kept[way as usize];
        if kept.len() <= at {
            kept.resize_with(at + 1, || None);
        }
        Some(Box::new(plan))
    }

    /// A plan of what the long way does; `None` where a set is not known yet.
    fn work_out(&mut self, way: Way, at: usize, table: TableId, bundle: Option<BundleId>) -> Option<Plan> {
        let before = match way {
            Way::Spawn => Signature::empty(),
            _ => self.archetypes.signature(self.archetypes.of_table(table)).clone(),
        };
        let (changes, concerned) = match bundle.map(|bundle| self.bundles.info(bundle)) {
            None => {
                let heard = self.reactions.heard();
                let changes = Changes::leaving(before.intersection(heard));
                (Changes { despawns: true, ..changes }, heard.clone())
            }
            Some(info) => {
                let present = before.intersection(&info.heard);
                let changes = match way {
                    Way::Remove => foresee::removing(info, &present),
                    Way::Keep => foresee::inserting(info, &present, Existing::Keep),
                    _ => foresee::inserting(info, &present, Existing::Replace),
                };
                (changes, info.heard.clone())
            }
        };
        let (crossings, looked_at) = self.crossings_of_table(&before, &changes);
        let mut sets = Vec::new();
        if way != Way::Spawn {
            for id in &concerned.union(&looked_at).intersection(self.components.sparse()) {
                sets.push(self.set_of(id)?);
            }
        }
        let tellings = |world: &mut Self, events: &[(Lifecycle, &Signature)]| -> Box<[Telling]> {
            events.iter().filter_map(|&(event, ids)| world.telling(event, ids)).collect()
        };
        let despawned = if changes.despawns { changes.remove.clone() } else { Signature::empty() };
        let leaving = tellings(
            self,
            &[
                (Lifecycle::Despawn, &despawned),
                (Lifecycle::Discard, &changes.discard),
                (Lifecycle::Remove, &changes.remove),
            ],
        );
        let coming = tellings(self, &[(Lifecycle::Add, &changes.add), (Lifecycle::Insert, &changes.insert)]);
        // Observers of single entities do not watch one without observers.
        let called = |side: Border| -> Box<[Crossing]> {
            let of_all = |(listener, border): &&Crossing| {
                *border == side && listener.hears_of_all(&self.reactions.observers)
            };
            crossings.iter().filter(of_all).cloned().collect()
        };
        let (ceasing, beginning) = (called(Border::Ceases), called(Border::Begins));
        let silent = leaving.is_empty() && coming.is_empty() && ceasing.is_empty() && beginning.is_empty();
        Some(Plan {
            way,
            at,
            made: self.reactions.plans.forgotten,
            first: changes.first(),
            changes,
            leaving,
            coming,
            crossings,
            ceasing,
            beginning,
            sets: sets.into(),
            silent,
        })
    }

    /// Who hears of an event of some components; `None` when none does.
    fn telling(&mut self, event: Lifecycle, ids: &Signature) -> Option<Telling> {
        // Observers of all components are called for an event only where there is one.
        if ids.is_empty() {
            return None;
        }
        let reactions = &mut self.reactions;
        let hooked = reactions.hooked[event as usize].intersection(ids);
        let hook = |id: ComponentId| Some((id, reactions.hooks[id.index()][event as usize]?));
        let hooks: Box<[_]> = hooked.iter().filter_map(hook).collect();
        let observers = reactions.observers.who_hears(event, ids);
        let logged = event == Lifecycle::Remove && reactions.removals.logged.overlaps(ids);
        let collected = reactions.collectors.iter().any(|collector| collector.collects(event, ids));
        let heard = !hooks.is_empty() || !observers.is_empty() || logged || collected;
        heard.then(|| Telling { event, ids: ids.clone(), hooks, observers, logged, collected })
    }

    /// Announces entities that came with a bundle, as planned. False, and nothing happens, when that is not known.
    pub(super) fn announced_bundle(&mut self, entities: &[Entity], bundle: BundleId) -> bool {
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
        if plan.silent && self.reactions.chain.is_empty() {
            self.put_back(plan);
            return true;
        }
        self.before_planned(&plan, first);
        if entities.len() > 1 {
            self.tell_run(&plan, entities);
            self.call_matchers(entities, &plan.beginning, Border::Begins);
            self.put_back(plan);
            self.end_round(Round::PLAIN, Ok(()));
        } else {
            self.after_planned(plan, first);
        }
        true
    }

    /// Whether an announcement begins while no command waits, no handler runs, and the limit of depth is not reached.
    #[inline]
    fn begins_plainly(&self) -> bool {
        self.commands.queue.is_empty()
            && self.reactions.handling == 0
            && self.reactions.chain.len() < self.reactions.depth_limit.get()
    }

    #[inline(always)]
    fn before_planned(&mut self, plan: &Plan, entity: Entity) {
        let (event, component) = plan.first;
        self.reactions.chain.push(Cause::Change(event, component, entity));
        for telling in &plan.leaving {
            self.tell_planned(telling, entity);
        }
        self.call_planned_matchers(entity, &plan.ceasing, Border::Ceases);
    }

    /// The other half, when the change was made.
    #[inline(always)]
    pub(super) fn after_planned(&mut self, plan: Box<Plan>, entity: Entity) {
        for telling in &plan.coming {
            self.tell_planned(telling, entity);
        }
        self.call_planned_matchers(entity, &plan.beginning, Border::Begins);
        self.put_back(plan);
        if self.commands.queue.is_empty() && self.reactions.errors.is_empty() {
            self.reactions.chain.pop();
        } else {
            self.end_round(Round::PLAIN, Ok(()));
        }
    }

    /// The other half, when the change panicked: it may have happened or not.
    pub(super) fn after_planned_panic(&mut self, plan: Box<Plan>, entity: Entity) {
        self.announce_what_is_there(entity, &plan.changes);
        let crossings = self.matching_now(entity, &plan.crossings);
        self.call_matchers(&[entity], &crossings, Border::Begins);
        self.put_back(plan);
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

    /// Tells of entities that came at once: those that want that as one, after the others.
    fn tell_run(&mut self, plan: &Plan, entities: &[Entity]) {
        let collected = || plan.coming.iter().filter(|telling| telling.collected);
        if collected().next().is_some() {
            for &entity in entities {
                collected().for_each(|telling| self.collect(telling.event, entity, &telling.ids));
            }
        }
        let singly = |telling: &&Telling| {
            !telling.hooks.is_empty() || telling.observers.iter().any(|(_, takes_runs)| !takes_runs)
        };
        if plan.coming.iter().any(|telling| singly(&telling)) {
            for &entity in entities {
                for telling in &plan.coming {
                    self.call_planned_hooks(telling, entity);
                    self.call_planned(telling, entity, |takes_runs| !takes_runs);
                }
            }
        }
        for telling in &plan.coming {
            let mut slots = telling.observers.iter().filter(|(_, takes_runs)| *takes_runs).peekable();
            if slots.peek().is_none() {
                continue;
            }
            let (first, entities) = (entities[0], Run::Many(entities.to_vec()));
            let mut trigger = EntityComponentsTrigger { components: telling.ids.clone(), entities };
            let mut event = OwnEvent::lifecycle(telling.event, first);
            slots.for_each(|&(slot, _)| self.call_observer(slot, Heard::Own(&mut event, &mut trigger)));
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
        let mut trigger =
            EntityComponentsTrigger { components: telling.ids.clone(), entities: Run::One(entity) };
        let mut event = OwnEvent::lifecycle(telling.event, entity);
        for &(slot, takes_runs) in &telling.observers {
            if which(takes_runs) {
                self.call_observer_inline(slot, Heard::Own(&mut event, &mut trigger));
            }
        }
    }

    /// Compares a plan with what would be worked out now.
    #[cfg(debug_assertions)]
    fn check_plan(&mut self, plan: &Plan, table: TableId, bundle: Option<BundleId>) {
        if self.reactions.observers.order.is_unsorted() {
            panic!("observers came or went, and plans were kept");
        }
        let now = self.work_out(plan.way, plan.at, table, bundle).expect("sets stay known");
        let tellings = |plan: &Plan| -> Vec<String> {
            let text = |telling: &Telling| {
                let Telling { event, ids, hooks, observers, logged, collected } = telling;
                let hooks: Vec<_> = hooks.iter().map(|(id, hook)| (id, hook.run as usize)).collect();
                format!("{event:?} {ids:?} {hooks:?} {observers:?} {logged} {collected}")
            };
            plan.leaving.iter().chain(&plan.coming).map(text).collect()
        };
        assert_eq!(tellings(plan), tellings(&now), "who hears of a change is not what was planned");
        assert_eq!(format!("{:?}", plan.changes), format!("{:?}", now.changes));
        assert!(
            plan.crossings == now.crossings
                && plan.ceasing == now.ceasing
                && plan.beginning == now.beginning
                && plan.sets == now.sets,
            "who hears of a match is not what was planned"
        );
    }
}
