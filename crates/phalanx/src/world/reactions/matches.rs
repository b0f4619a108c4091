//! Entities that begin or cease to match a query.
//!
//! Whether an entity matches follows from the components it has, and what a change does to these is foreseen: so an
//! entity that ceases to match is announced while its values can still be read, sparse terms included. Only changes of
//! components that the query names are looked at.

use phalanx_store::{AnyColId, Entity};

use super::events::{EntityComponentsTrigger, Heard, MatchedEvent, OwnEvent, Run, UnmatchedEvent};
use super::reactive::Listener;
use super::{Changes, ObserverId};
use crate::query::Condition;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

/// Whether entities that begin or cease to match are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Border {
    Begins,
    Ceases,
}

/// The listeners to an entity that crosses a border.
pub(super) type Crossing = (Listener, Border);

/// An observer of a query, or a set of entities that began or ceased to match it.
pub(crate) struct Matcher {
    pub(super) listener: Listener,
    border: Border,
    condition: Condition,
    /// The first columns of the components that it names.
    keys: Vec<AnyColId>,
    /// Those that the world knows.
    ids: Signature,
}

impl Matcher {
    fn crossing(&self) -> Crossing {
        (self.listener.clone(), self.border)
    }

    fn holds(&self, world: &World, present: &Signature) -> bool {
        self.condition.holds(&|key| world.components.by_key(key).is_some_and(|id| present.has(id)))
    }

    /// Whether a change may bring entities across the border.
    fn is_concerned(&self, changes: &Changes) -> bool {
        self.ids.overlaps(&changes.add) || self.ids.overlaps(&changes.remove)
    }

    /// Whether an entity with these components crosses the border by a change.
    fn crosses(&self, world: &World, before: Option<&Signature>, changes: &Changes) -> bool {
        if !self.is_concerned(changes) {
            return false;
        }
        let was = before.is_some_and(|before| self.holds(world, before));
        let nothing = Signature::empty();
        let after = before.unwrap_or(&nothing).difference(&changes.remove).union(&changes.add);
        let is = !changes.despawns && self.holds(world, &after);
        match self.border {
            Border::Begins => !was && is,
            Border::Ceases => was && !is,
        }
    }
}

/// All components of a condition; `None` when it also asks for a pool.
fn keys(condition: &Condition, found: &mut Vec<AnyColId>) -> Option<()> {
    match condition {
        Condition::With(key, _)
        | Condition::Without(key, _)
        | Condition::InSet(key, _)
        | Condition::NotInSet(key, _) => {
            found.push(*key);
        }
        Condition::Allow(..) | Condition::AllowAll => {}
        Condition::InPool(..) | Condition::NotInPool(..) => return None,
        Condition::All(parts) | Condition::Any(parts) => {
            return parts.iter().try_for_each(|part| keys(part, found));
        }
    }
    Some(())
}

impl World {
    /// Adds a listener to entities that begin or cease to match.
    ///
    /// # Panics
    /// When the condition asks for a pool, or is met by entities without components.
    #[track_caller]
    pub(super) fn add_matcher(&mut self, listener: Listener, border: Border, condition: Condition) {
        let lacking = condition.enabled(self.components.disabling());
        let condition = Condition::All([condition].into_iter().chain(lacking).collect());
        let mut found = Vec::new();
        assert!(
            keys(&condition, &mut found).is_some(),
            "an observer of matches cannot ask for a pool: entities of pools are told by their components"
        );
        assert!(
            !condition.holds(&|_| false),
            "an observer of matches needs a component that matches have: `{condition}` is met by entities without any"
        );
        self.put_matcher(Matcher { listener, border, condition, keys: found, ids: Signature::empty() });
    }

    /// Takes an observer of matches up, and notice of the components that it names.
    pub(super) fn put_matcher(&mut self, mut matcher: Matcher) {
        let known: Vec<ComponentId> =
            matcher.keys.iter().filter_map(|&key| self.components.by_key(key)).collect();
        matcher.ids = known.into_iter().collect();
        for id in &matcher.ids {
            self.listen(id);
        }
        self.reactions.plans.forget();
        self.reactions.matchers.push(matcher);
    }

    /// Takes the matchers out whose listener is gone.
    pub(super) fn remove_matchers(&mut self, is_gone: impl Fn(&Listener) -> bool) -> Vec<Matcher> {
        let mut gone = Vec::new();
        for at in (0..self.reactions.matchers.len()).rev() {
            if is_gone(&self.reactions.matchers[at].listener) {
                let matcher = self.reactions.matchers.remove(at);
                self.reactions.plans.forget();
                matcher.ids.iter().for_each(|id| self.stop_listening(id));
                gone.push(matcher);
            }
        }
        gone
    }

    /// Lets all observers of queries skip entities that are disabled by one more component.
    pub(in crate::world) fn renew_matchers(&mut self) {
        self.reactions.plans.forget();
        for at in 0..self.reactions.matchers.len() {
            let matcher = &mut self.reactions.matchers[at];
            let lacking = matcher.condition.enabled(self.components.disabling());
            for part in &lacking {
                let _ = keys(part, &mut matcher.keys);
            }
            let condition = std::mem::replace(&mut matcher.condition, Condition::AllowAll);
            matcher.condition = Condition::All([condition].into_iter().chain(lacking).collect());
            for (key, _) in self.components.disabling().to_vec() {
                if let Some(id) = self.components.by_key(key) {
                    self.watch_matched(at, key, id);
                }
            }
        }
    }

    /// Takes notice of a new component that an observer of matches names.
    pub(super) fn declare_matched(&mut self, id: ComponentId) {
        let key = self.components.info(id).columns()[0];
        for at in 0..self.reactions.matchers.len() {
            self.watch_matched(at, key, id);
        }
    }

    fn watch_matched(&mut self, at: usize, key: AnyColId, id: ComponentId) {
        let matcher = &mut self.reactions.matchers[at];
        if matcher.keys.contains(&key) && !matcher.ids.has(id) {
            matcher.ids = matcher.ids.with(id);
            self.reactions.plans.forget();
            self.listen(id);
        }
    }

    /// The listeners to a change because an entity begins or ceases to match.
    pub(super) fn crossings(&self, entity: Option<Entity>, changes: &Changes) -> Vec<Crossing> {
        let crossed = |matcher: &&Matcher| {
            let before = entity.map(|entity| self.present_of(entity, &matcher.ids));
            matcher.crosses(self, before.as_ref(), changes)
        };
        self.reactions.matchers.iter().filter(crossed).map(Matcher::crossing).collect()
    }

    /// As `crossings`, for entities that have these components and no other that is looked at; and the components that
    /// were looked at.
    pub(super) fn crossings_of_table(
        &self,
        before: &Signature,
        changes: &Changes,
    ) -> (Vec<Crossing>, Signature) {
        let (mut crossings, mut looked_at) = (Vec::new(), Signature::empty());
        for matcher in self.reactions.matchers.iter().filter(|matcher| matcher.is_concerned(changes)) {
            looked_at = looked_at.union(&matcher.ids);
            if matcher.crosses(self, Some(before), changes) {
                crossings.push(matcher.crossing());
            }
        }
        (crossings, looked_at)
    }

    /// Who hears of entities that begin to match, if this one matches now; asked when a change did not happen as
    /// foreseen. Where it was told that the entity ceases to match, those who listen to the same query hear of it anew.
    pub(super) fn matching_now(&self, entity: Entity, told: &[Crossing]) -> Vec<Crossing> {
        let matchers = &self.reactions.matchers;
        let is_told = |matcher: &&Matcher| told.contains(&matcher.crossing());
        let ended: Vec<&Condition> = matchers
            .iter()
            .filter(|matcher| matcher.border == Border::Ceases)
            .filter(is_told)
            .map(|matcher| &matcher.condition)
            .collect();
        let matches = |matcher: &&Matcher| {
            matcher.border == Border::Begins
                && (is_told(matcher) || ended.contains(&&matcher.condition))
                && self.contains(entity)
                && matcher.holds(self, &self.present_of(entity, &matcher.ids))
        };
        matchers.iter().filter(matches).map(Matcher::crossing).collect()
    }

    /// Calls the observers on one side of the border, and puts the entities into sets.
    pub(super) fn call_matchers(&mut self, entities: &[Entity], crossings: &[Crossing], side: Border) {
        for (listener, border) in crossings.iter().filter(|(_, border)| *border == side) {
            let &slot = match listener {
                Listener::Observer(ObserverId { slot, .. }) => slot,
                Listener::Set(set) => {
                    self.put_into_set(set, entities);
                    continue;
                }
            };
            let watches = |world: &Self, entity: Entity| world.reactions.observers.watches(slot, entity);
            if entities.len() > 1 && self.reactions.observers.is_batched(slot) {
                let watched = entities.iter().copied().filter(|&entity| watches(self, entity));
                self.call_matcher(slot, *border, Run::many(watched.collect()));
                continue;
            }
            for &entity in entities {
                if watches(self, entity) {
                    self.call_matcher(slot, *border, Run::one(entity));
                }
            }
        }
    }

    /// As `call_matchers`, for one entity and a listener that hears of all.
    #[inline(always)]
    pub(super) fn call_planned_matcher(&mut self, entity: Entity, listener: &Listener, side: Border) {
        match listener {
            Listener::Observer(id) => {
                let mut crossed = crossed(side, entity, Run::one(entity));
                self.call_observer_inline(id.slot, Heard::Own(&mut crossed));
            }
            Listener::Set(set) => self.put_into_set(set, &[entity]),
        }
    }

    fn call_matcher(&mut self, slot: u32, border: Border, entities: Run) {
        let Some(&entity) = entities.as_slice().first() else { return };
        let mut crossed = crossed(border, entity, entities);
        self.call_observer(slot, Heard::Own(&mut crossed));
    }
}

/// The event of entities that crossed a border, and what goes with it.
#[inline(always)]
fn crossed(border: Border, first: Entity, entities: Run) -> (OwnEvent, EntityComponentsTrigger) {
    let event = match border {
        Border::Begins => OwnEvent::Matched(MatchedEvent { entity: first }),
        Border::Ceases => OwnEvent::Unmatched(UnmatchedEvent { entity: first }),
    };
    (event, EntityComponentsTrigger { components: Signature::empty(), entities })
}
