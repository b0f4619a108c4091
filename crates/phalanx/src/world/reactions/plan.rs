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

use super::announce::Begun;
use super::chain::{Cause, CauseKind};
use super::hooks::Hook;
use super::matches::{Border, Crossing};
use super::reactive::Listener;
use super::{Changes, Lifecycle, Reactions, foresee};
use crate::archetype::Kind;
use crate::bundles::BundleId;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

mod carry_out;

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
    /// The first event, to say why something happened.
    first: CauseKind,
    /// Who hears that the entity begins or ceases to match, single entities' watchers included.
    crossings: Vec<Crossing>,
    /// Whom to tell, in order, before the change and after it.
    before: Box<[Step]>,
    after: Box<[Step]>,
    /// The sets in which an entity is not, if this is what its change announces.
    sets: Box<[SetId]>,
    /// Whether it has listeners, and this is what the change of every entity announces.
    is_plain: bool,
}

impl Plan {
    /// Whether it has no listeners.
    fn is_silent(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// The events of what comes.
    fn coming(&self) -> impl Iterator<Item = &Telling> {
        self.after.iter().filter_map(Step::telling)
    }
}

/// One thing to announce.
enum Step {
    /// Of an event.
    Event(Telling),
    /// That the entity begins or ceases to match.
    Match(Listener),
}

impl Step {
    fn telling(&self) -> Option<&Telling> {
        match self {
            Self::Event(telling) => Some(telling),
            Self::Match(_) => None,
        }
    }
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
        let way = if existing == Existing::Replace { Way::Replace } else { Way::Keep };
        match self.plan_at_hand(way, Kind::Insert, entity, bundle) {
            Some(plan) => self.begin_at_hand(plan, entity),
            None => self.look_insertion_up(entity, bundle, existing),
        }
    }

    #[inline(never)]
    fn look_insertion_up(&mut self, entity: Entity, bundle: BundleId, existing: Existing) -> Option<Begun> {
        let table = self.store.locate(entity)?.table;
        let at = self.archetypes.edge_position(Kind::Insert, table, bundle.index())?;
        let way = if existing == Existing::Replace { Way::Replace } else { Way::Keep };
        self.begin_planned(way, at, entity, table, Some(bundle))
    }

    /// Begins to announce that a bundle is removed, if that is known.
    #[inline(never)]
    pub(crate) fn begin_removal(&mut self, entity: Entity, bundle: BundleId) -> Option<Begun> {
        match self.plan_at_hand(Way::Remove, Kind::RemoveHeard, entity, bundle) {
            Some(plan) => self.begin_at_hand(plan, entity),
            None => self.look_removal_up(entity, bundle),
        }
    }

    #[inline(never)]
    fn look_removal_up(&mut self, entity: Entity, bundle: BundleId) -> Option<Begun> {
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

    /// Begins a change that is made as the last one of its kind was, where its plan can be carried out as it is. The plan
    /// is taken out, and nothing was told so far. Calls nothing, so that nothing is saved for it.
    #[inline(always)]
    fn plan_at_hand(&mut self, way: Way, kind: Kind, entity: Entity, bundle: BundleId) -> Option<Box<Plan>> {
        let table = self.store.locate(entity)?.table;
        let edges = &self.archetypes.edges;
        let at = edges.last_position(kind, table, bundle.index())?;
        let Reactions { plans, chain, handling, .. } = &mut self.reactions;
        if !self.commands.queue.is_empty() || *handling != 0 || plans.edges != edges.cleared() {
            return None;
        }
        let place = chain.vacant_place()?;
        let plan = plans.kept[way as usize].get_mut(at)?.take_if(|plan| plan.is_plain)?;
        *place = Cause { kind: plan.first, entity };
        chain.occupy();
        #[cfg(debug_assertions)]
        self.check_plan(&plan, table, Some(bundle));
        Some(plan)
    }

    /// Tells of what goes, if that has listeners.
    #[inline(always)]
    fn begin_at_hand(&mut self, plan: Box<Plan>, entity: Entity) -> Option<Begun> {
        if plan.before.is_empty() { Some(Begun::Planned(plan)) } else { self.tell_before(plan, entity) }
    }

    fn begin_planned(
        &mut self,
        way: Way,
        at: usize,
        entity: Entity,
        table: TableId,
        bundle: Option<BundleId>,
    ) -> Option<Begun> {
        let plan = self.take_plan(way, at, entity, table, bundle)?;
        if plan.is_silent() || !self.begins_plainly() {
            return Some(self.not_as_planned(plan, entity));
        }
        self.reactions.chain.push(Cause { kind: plan.first, entity });
        self.tell_before(plan, entity)
    }

    /// Begins a change without listeners, or that is part of a longer announcement.
    #[inline(never)]
    fn not_as_planned(&mut self, plan: Box<Plan>, entity: Entity) -> Begun {
        // Without listeners it is the cause of nothing. What is part of a chain counts all the same.
        if plan.is_silent() && (self.reactions.chain.is_empty() || plan.changes.is_empty()) {
            self.put_back(plan);
            return Begun::Unheard;
        }
        if !self.begins_plainly() {
            let changes = plan.changes.clone();
            self.put_back(plan);
            return self.begin_foreseen(entity, changes);
        }
        self.reactions.chain.push(Cause { kind: plan.first, entity });
        self.tell_steps(&plan.before, entity, Border::Ceases);
        Begun::Planned(plan)
    }

    /// Takes a plan out, to be put back. It is made where it is missing, and left where it is not for this entity.
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
        let tellings = |world: &mut Self, events: &[(Lifecycle, &Signature)]| -> Vec<Step> {
            events.iter().filter_map(|&(event, ids)| world.telling(event, ids).map(Step::Event)).collect()
        };
        let despawned = if changes.despawns { changes.remove.clone() } else { Signature::empty() };
        let mut before_it = tellings(
            self,
            &[
                (Lifecycle::Despawn, &despawned),
                (Lifecycle::Discard, &changes.discard),
                (Lifecycle::Remove, &changes.remove),
            ],
        );
        let mut after_it =
            tellings(self, &[(Lifecycle::Add, &changes.add), (Lifecycle::Insert, &changes.insert)]);
        // Observers of single entities are not called: the entities of plans are not observed.
        let observers = &self.reactions.observers;
        let called = |side: Border| {
            let of_all =
                move |(listener, border): &&Crossing| *border == side && listener.hears_of_all(observers);
            crossings.iter().filter(of_all).map(|(listener, _)| Step::Match(listener.clone()))
        };
        before_it.extend(called(Border::Ceases));
        after_it.extend(called(Border::Begins));
        let is_silent = before_it.is_empty() && after_it.is_empty();
        let is_plain = !is_silent && sets.is_empty() && !observers.has_entities();
        Some(Plan {
            way,
            at,
            made: self.reactions.plans.forgotten,
            first: changes.first(),
            changes,
            crossings,
            before: before_it.into(),
            after: after_it.into(),
            sets: sets.into(),
            is_plain,
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

    /// Whether an announcement begins while no command waits, no handler runs, and the limit of depth is not reached.
    #[inline]
    fn begins_plainly(&self) -> bool {
        self.commands.queue.is_empty() && self.reactions.handling == 0 && self.reactions.chain.has_room()
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
            plan.before.iter().chain(&plan.after).filter_map(Step::telling).map(text).collect()
        };
        fn matchers(steps: &[Step]) -> impl Iterator<Item = &Listener> {
            steps.iter().filter_map(|step| match step {
                Step::Match(listener) => Some(listener),
                Step::Event(_) => None,
            })
        }
        assert_eq!(tellings(plan), tellings(&now), "who hears of a change is not what was planned");
        assert_eq!(format!("{:?}", plan.changes), format!("{:?}", now.changes));
        assert!(
            plan.crossings == now.crossings
                && matchers(&plan.before).eq(matchers(&now.before))
                && matchers(&plan.after).eq(matchers(&now.after))
                && plan.sets == now.sets
                && plan.is_plain == now.is_plain,
            "who hears of a match is not what was planned"
        );
    }
}
