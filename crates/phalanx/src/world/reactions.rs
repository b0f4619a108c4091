//! Listeners to structural change, and the one place that announces it.
//!
//! ```text
//!   Despawn  Discard  Remove  │ the change │  Add  Insert  │ commands of the handlers
//!   observers, then hook      │            │  hook, then observers
//!   values still readable     │            │  everything in its place
//! ```
//!
//! Every path of structural change asks one question: has a component that it concerns listeners? The answer
//! is kept where the path looks anyway: with the bundle, its edges, its spawn cursor and the policy of a sparse set. So
//! a component without listeners pays nothing, and its fast paths come back when the last listener goes.
//! Handlers change no structure: what they queue is applied when the change is complete. See ADR 0050.

use phalanx_store::{Entity, SetId};

use super::World;
use super::failure::SystemError;
use super::relations::{Declared, QuietLink};
use crate::archetype::ArchetypeId;
use crate::registry::ComponentId;
use crate::signature::Signature;
use hooks::Hooks;

pub use announce::EndlessReactions;
pub(crate) use announce::{Begun, Changes};
pub use by_key::{EventKey, ObserverInfo, WrongEventType};
pub use deferred::DeferredWorld;
pub use events::*;
pub(crate) use foresee::Foreseen;
pub use hooks::{ComponentHook, ComponentHooks, HookContext, HooksMut};
pub(crate) use image::ReactionsImage;
pub use observers::ObserverId;
pub(crate) use observers::{Call, Handler, NewObserver};
pub use order::ObserverCycle;
pub use reactive::Collects;
pub(crate) use reactive::{Collected, SharedSet, open as open_set};
pub(crate) use removed::Removals;
pub use removed::RemovedComponentLogs;

mod announce;
mod by_key;
mod chain;
mod deferred;
mod events;
mod foresee;
mod hooks;
mod image;
mod matches;
mod observers;
mod order;
mod plan;
mod polls;
mod reactive;
mod removed;
mod trigger;

/// What can happen to a component of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifecycle {
    /// It comes, and was not there before.
    Add,
    /// It gets a value, new or in the place of an older one.
    Insert,
    /// Its value goes, or is about to be replaced.
    Discard,
    /// It goes, and is not replaced.
    Remove,
    /// Its entity is despawned.
    Despawn,
}

impl Lifecycle {
    /// How many there are.
    pub(crate) const COUNT: usize = 5;

    /// Whether it is announced before the change, in reverse order.
    #[inline]
    pub(crate) fn is_leaving(self) -> bool {
        matches!(self, Self::Discard | Self::Remove | Self::Despawn)
    }

    /// The name of the event.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Add => "Add",
            Self::Insert => "Insert",
            Self::Discard => "Discard",
            Self::Remove => "Remove",
            Self::Despawn => "Despawn",
        }
    }
}

/// The listeners of one world, by what they listen to.
#[derive(Default)]
pub(crate) struct Reactions {
    /// Whether any component has listeners, or any entity is observed.
    active: bool,
    /// The components that have listeners, whatever the event.
    heard: Signature,
    /// The sets of those among them that are sparse.
    heard_sets: Vec<SetId>,
    /// The sets of those among these that have more listeners than the upkeep of a relation whose sources die with their
    /// target.
    loud_sets: Vec<SetId>,
    /// The halves of relations that have no listener but the upkeep of the relation.
    quiet: Signature,
    /// Indexed by component: how many listeners it has.
    listeners: Vec<u32>,
    /// Indexed by component.
    hooks: Vec<Hooks>,
    /// Indexed by event: the components with a hook for it.
    hooked: [Signature; Lifecycle::COUNT],
    /// The components whose hooks for `Insert` and `Discard` keep the world in agreement with itself.
    upkeep: Signature,
    observers: observers::Observers,
    plans: plan::Plans,
    pub(crate) removals: Removals,
    /// Observers of matches, in order, and sets of them.
    matchers: Vec<matches::Matcher>,
    /// Reactive sets.
    collectors: Vec<reactive::Collector>,
    /// Observers, in order, and sets that are notified of written values at sync points.
    polls: Vec<polls::Poll>,
    /// Observers that were removed, and which a checkpoint may bring back.
    retired: Vec<image::Retired>,
    /// Whether something is announced at sync points.
    polled: bool,
    /// How many handlers run, one inside the other.
    handling: usize,
    /// What is being announced, outermost first.
    chain: chain::Chain,
    /// What went wrong in handlers, to be told when the change is complete.
    errors: Vec<SystemError>,
}

impl Reactions {
    /// Whether any component has listeners.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Whether something is announced at sync points.
    #[inline]
    pub(crate) fn is_polled(&self) -> bool {
        self.polled
    }

    /// Whether single entities are observed.
    pub(crate) fn observes_entities(&self) -> bool {
        self.observers.has_entities()
    }

    /// Whether a handler runs.
    pub(crate) fn is_handling(&self) -> bool {
        self.handling > 0
    }

    /// The components that have listeners.
    pub(crate) fn heard(&self) -> &Signature {
        &self.heard
    }
}

impl World {
    /// Counts one more listener of a component.
    pub(crate) fn listen(&mut self, id: ComponentId) {
        let listeners = &mut self.reactions.listeners;
        if listeners.len() <= id.index() {
            listeners.resize(id.index() + 1, 0);
        }
        listeners[id.index()] += 1;
        if listeners[id.index()] == 1 {
            self.set_heard(self.reactions.heard.with(id));
        } else {
            self.update_loud();
        }
    }

    /// Counts one listener of a component less.
    pub(crate) fn stop_listening(&mut self, id: ComponentId) {
        let Some(listeners) = self.reactions.listeners.get_mut(id.index()) else { return };
        *listeners -= 1;
        if *listeners == 0 {
            self.set_heard(self.reactions.heard.without(id));
        } else {
            self.update_loud();
        }
    }

    /// Opens and closes the fast paths that pass listeners by.
    #[cold]
    fn set_heard(&mut self, heard: Signature) {
        self.bundles.set_heard(heard.clone());
        self.archetypes.set_heard(heard.clone());
        self.reactions.heard_sets = heard.iter().filter_map(|id| self.set_of(id)).collect();
        self.reactions.heard = heard;
        self.reactions.plans.forget();
        self.update_loud();
        self.update_active();
        self.archetypes.edges.clear();
        self.archetypes.pools_mut().forget_edges();
        self.store.close_cursors();
        self.update_set_policies();
    }

    /// Works out anew which sets have more listeners than the upkeep of a relation.
    #[cold]
    fn update_loud(&mut self) {
        let reactions = &self.reactions;
        let is_loud = |&id: &ComponentId| {
            let declared = self.components.info(id).attached::<Declared>();
            let has_hook = |event: Lifecycle| {
                reactions.hooks.get(id.index()).is_some_and(|hooks| hooks[event as usize].is_some())
            };
            reactions.listeners[id.index()] > 1
                || !declared.is_some_and(|declared| declared.dies_as_tree)
                || has_hook(Lifecycle::Remove)
                || has_hook(Lifecycle::Despawn)
        };
        let loud = reactions.heard.iter().filter(is_loud);
        self.reactions.loud_sets = loud.filter_map(|id| self.set_of(id)).collect();
        self.update_quiet();
    }

    /// Finds out anew which relations need no announcement, and tells the bundles that bring links.
    fn update_quiet(&mut self) {
        let reactions = &self.reactions;
        let is_quiet = |&id: &ComponentId| {
            let unheard = [Lifecycle::Add, Lifecycle::Remove, Lifecycle::Despawn];
            reactions.listeners[id.index()] == 1
                && self.components.info(id).attached::<Declared>().is_some()
                && reactions
                    .hooks
                    .get(id.index())
                    .is_some_and(|hooks| unheard.into_iter().all(|event| hooks[event as usize].is_none()))
        };
        let quiet: Signature = reactions.heard.iter().filter(is_quiet).collect();
        let links = quiet.iter().filter_map(|id| {
            let direct = self.components.info(id).attached::<Declared>()?.direct?;
            Some(QuietLink { id, direct })
        });
        let links = links.filter(|link| link.direct.list_of(self).is_none_or(|list| quiet.has(list)));
        let links: Vec<QuietLink> = links.collect();
        if quiet != self.reactions.quiet {
            self.store.close_cursors();
        }
        self.reactions.quiet = quiet;
        self.bundles.set_quiet(links.iter().map(|link| link.id).collect());
        self.relations.set_quiet(links);
    }

    /// Whether a component is half of a relation, and nothing but the upkeep of the relation listens to it.
    #[inline]
    pub(crate) fn is_quiet(&self, id: ComponentId) -> bool {
        self.reactions.quiet.has(id)
    }

    /// Works out anew whether changes have to be announced: where entities are observed, their end.
    fn update_active(&mut self) {
        let reactions = &mut self.reactions;
        reactions.active = !reactions.heard.is_empty() || reactions.observers.has_entities();
    }

    /// Whether an entity's end has listeners: a component of its archetype does, or one of the sets it is in, or
    /// entities are observed one by one.
    #[inline]
    pub(crate) fn is_end_heard(&self, entity: Entity) -> bool {
        if !self.reactions.is_active() {
            return false;
        }
        // The dead are in no set.
        let Some(location) = self.store.locate(entity) else { return false };
        let is_in = |&set: &SetId| self.store.set_row(set, entity).is_some();
        self.archetypes.table_is_heard(location.table)
            || self.reactions.observes_entities()
            || self.reactions.heard_sets.iter().any(is_in)
    }

    /// As [`World::is_end_heard`], not counting the upkeep of relations whose sources die with their target.
    #[inline]
    pub(crate) fn is_end_heard_by_others(&self, entity: Entity) -> bool {
        let Some(location) = self.store.locate(entity) else { return false };
        let is_in = |&set: &SetId| self.store.set_row(set, entity).is_some();
        self.archetypes.table_is_heard(location.table)
            || self.reactions.observes_entities()
            || self.reactions.loud_sets.iter().any(is_in)
    }

    /// As [`World::is_end_heard`], not counting the listeners of one set.
    pub(crate) fn is_end_heard_besides(&self, entity: Entity, quiet: SetId) -> bool {
        let Some(location) = self.store.locate(entity) else { return false };
        let is_in = |&set: &SetId| set != quiet && self.store.set_row(set, entity).is_some();
        self.archetypes.table_is_heard(location.table)
            || self.reactions.observes_entities()
            || self.reactions.heard_sets.iter().any(is_in)
    }

    /// Whether the end of any entity that there is has listeners.
    pub(crate) fn is_any_end_heard(&self) -> bool {
        let has_rows = |&id: &ArchetypeId| {
            let table = self.archetypes.table(id).expect("the archetype exists");
            self.archetypes.table_is_heard(table) && self.store.table_len(table) > 0
        };
        let mut sets = self.reactions.heard_sets.iter();
        self.reactions.is_active()
            && (self.reactions.observes_entities()
                || sets.any(|&set| self.store.set_len(set) > 0)
                || self.archetypes.iter().any(|id| has_rows(&id)))
    }

    /// Which of some components an entity has; none when it is dead.
    pub(crate) fn present_of(&self, entity: Entity, among: &Signature) -> Signature {
        let Some(archetype) = self.archetype_of(entity) else { return Signature::empty() };
        let mut present = self.archetypes.signature(archetype).intersection(among);
        if among.overlaps(self.components.sparse()) {
            for id in &among.intersection(self.components.sparse()) {
                if self.has_sparse(entity, id) {
                    present = present.with(id);
                }
            }
        }
        present
    }

    /// Takes note that the hooks of a component keep the world in agreement with itself: they run in a chain of reactions
    /// that goes too far as well.
    pub(crate) fn declare_upkeep(&mut self, id: ComponentId) {
        self.reactions.upkeep = self.reactions.upkeep.with(id);
    }

    /// Takes over what newly registered components declare.
    pub(super) fn declare_hooks(&mut self, id: ComponentId) {
        if let Some(hooks) = self.components.info(id).attached::<ComponentHooks>() {
            let hooks = hooks.hooks;
            self.set_hooks(id, hooks);
        }
        for _ in 0..self.reactions.observers.of_everything() {
            self.listen(id);
        }
        self.declare_matched(id);
    }
}
