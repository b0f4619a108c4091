//! Announcing a change: the handlers of what goes, the change, the handlers of what came, and their commands.
//!
//! A handler that panics keeps no other from running, and nothing from happening: what it ended with is handed to
//! the error handler when the change is complete. Commands of handlers are applied then, before whatever made the change
//! goes on; commands that waited already stay behind. A change that a command makes is announced in the same way, down
//! to a depth at which the chain of causes is taken for an endless one. From there on only the hooks run by which relations
//! and disabled trees are kept right.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Entity, FirstPanic};

use super::chain::{Cause, CauseKind};
use super::hooks::Hook;
use super::matches::{Border, Crossing};
use super::plan::Plan;
use super::{DeferredWorld, HookContext, Lifecycle};
use crate::bundles::BundleId;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::failure::{Failed, SystemError};
use crate::world::{Queue, World};

/// What a change does to the components of its entities that have listeners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Whether the entities are despawned.
    pub(crate) despawns: bool,
    /// The components whose values go, or are replaced.
    pub(crate) discard: Signature,
    /// The components that go.
    pub(crate) remove: Signature,
    /// The components that come and were not there.
    pub(crate) add: Signature,
    /// The components that get a value.
    pub(crate) insert: Signature,
}

impl Changes {
    /// Components come to entities that lacked them.
    pub(crate) fn coming(ids: Signature) -> Self {
        Self { insert: ids.clone(), add: ids, ..Self::default() }
    }

    /// Components go.
    pub(crate) fn leaving(ids: Signature) -> Self {
        Self { discard: ids.clone(), remove: ids, ..Self::default() }
    }

    /// Whether it has no listener.
    pub(crate) fn is_empty(&self) -> bool {
        self.discard.is_empty() && self.remove.is_empty() && self.insert.is_empty()
    }

    /// The first event, to say why something happened.
    pub(super) fn first(&self) -> CauseKind {
        let events = [
            (Lifecycle::Despawn, if self.despawns { self.remove.iter().next() } else { None }),
            (Lifecycle::Remove, self.remove.iter().next()),
            (Lifecycle::Add, self.add.iter().next()),
            (Lifecycle::Insert, self.insert.iter().next()),
        ];
        let first = events.into_iter().find(|(_, id)| id.is_some());
        let (event, id) = first.unwrap_or((Lifecycle::Discard, self.discard.iter().next()));
        id.map_or(CauseKind::Event("a change"), |id| CauseKind::Change(event, id))
    }
}

/// Handlers whose commands make changes whose handlers make changes, further than any program means to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndlessReactions {
    /// The events, each the cause of the next.
    pub chain: Vec<String>,
}

impl fmt::Display for EndlessReactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The end repeats itself, and the beginning says how it came about.
        let first: Vec<&str> = self.chain.iter().take(8).map(String::as_str).collect();
        let (first, depth) = (first.join(" > "), self.chain.len());
        write!(
            f,
            "{depth} events caused one another, and the last one is not announced: {first} > ..; a handler that \
             repeats what caused it never ends (a chain that is meant: `set_trigger_depth_limit`)"
        )
    }
}

impl std::error::Error for EndlessReactions {}

/// Something that a handler panicked with, as an error.
#[derive(Debug)]
struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it panicked: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

fn panicked(payload: &(dyn Any + Send)) -> Panicked {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    Panicked(text.unwrap_or("with a value that is no text").to_owned())
}

/// An announcement that has begun.
pub(crate) struct Round {
    /// The commands that waited before.
    waiting: Option<Queue>,
    /// Whether handlers run for it.
    pub(super) heard: bool,
    /// Whether a handler began it: what is queued waits for the end of what that one handles.
    inner: bool,
}

impl Round {
    /// One for which handlers run, that none of them began, and for which no command waits.
    pub(super) const PLAIN: Self = Self { waiting: None, heard: true, inner: false };
}

/// A change that is about to be made, after the handlers of what goes ran.
pub(crate) enum Begun {
    /// It has no listener.
    Unheard,
    /// The listeners of what comes are planned.
    Planned(Box<Plan>),
    /// What it does is known.
    Foreseen(Box<Foretold>),
}

/// An announcement that was not planned, half-way.
pub(crate) struct Foretold {
    round: Round,
    changes: Changes,
    crossings: Vec<Crossing>,
}

impl World {
    /// Sets how many events may be the cause of one another, each by a command that a handler of the one before
    /// queued; 64 unless set, and at least 1. The next one is not announced: an error that names the chain
    /// ([`EndlessReactions`]) goes to the error handler. The change itself, or what was queued beside it, happens.
    /// Each event of a chain takes its part of the stack. A panic does not end a chain: commands that it left behind are as
    /// deep as they were queued.
    pub fn set_trigger_depth_limit(&mut self, limit: usize) {
        self.reactions.chain.set_limit(limit.max(1));
    }

    /// How many events may be the cause of one another; see [`World::set_trigger_depth_limit`].
    pub fn trigger_depth_limit(&self) -> usize {
        self.reactions.chain.limit()
    }

    /// Makes a change of one entity, and announces it.
    pub(crate) fn announced<R>(
        &mut self,
        entity: Entity,
        changes: &Changes,
        change: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let begun = self.begin_foreseen(entity, changes.clone());
        self.announced_as(begun, entity, change)
    }

    /// Makes a change of one entity that has begun, and announces the rest.
    #[inline]
    pub(crate) fn announced_as<R>(
        &mut self,
        begun: Begun,
        entity: Entity,
        change: impl FnOnce(&mut Self) -> R,
    ) -> R {
        // One call of `change`, so that it is a part of the caller.
        match catch_unwind(AssertUnwindSafe(|| change(self))) {
            Ok(result) => {
                self.end_begun(begun, entity);
                result
            }
            Err(panic) => self.end_begun_by_panic(begun, entity, panic),
        }
    }

    /// Begins to announce what a change will do, and tells of what goes.
    #[inline(never)]
    pub(crate) fn begin_foreseen(&mut self, entity: Entity, changes: Changes) -> Begun {
        if changes.is_empty() {
            return Begun::Unheard;
        }
        let round = self.begin_round(entity, &changes);
        let mut crossings = Vec::new();
        if round.heard {
            if !self.reactions.matchers.is_empty() {
                crossings = self.crossings(Some(entity), &changes);
            }
            self.announce_leaving(entity, &changes);
            self.call_matchers(&[entity], &crossings, Border::Ceases);
        } else {
            self.keep_up(Lifecycle::Discard, entity, &changes.discard);
        }
        Begun::Foreseen(Box::new(Foretold { round, changes, crossings }))
    }

    /// Tells of what came by a change that was made, and ends its announcement.
    #[inline(never)]
    fn end_begun(&mut self, begun: Begun, entity: Entity) {
        // Asked first: the others need no speed.
        if let Begun::Planned(plan) = begun {
            self.end_planned(plan, entity);
        } else if let Begun::Foreseen(foretold) = begun {
            self.end_foreseen(foretold, entity);
        }
    }

    #[inline(never)]
    fn end_foreseen(&mut self, foretold: Box<Foretold>, entity: Entity) {
        let Foretold { round, changes, crossings } = *foretold;
        if round.heard {
            self.announce_coming(entity, &changes);
            self.call_matchers(&[entity], &crossings, Border::Begins);
        } else {
            self.keep_up_with_what_is_there(entity, &changes);
        }
        self.end_round(round, Ok(()));
    }

    /// Ends the announcement of a change that panicked: it may have happened or not.
    #[cold]
    #[inline(never)]
    fn end_begun_by_panic(&mut self, begun: Begun, entity: Entity, panic: Box<dyn Any + Send>) -> ! {
        let round = match begun {
            Begun::Planned(plan) => {
                self.end_planned_panic(plan, entity);
                Round::PLAIN
            }
            Begun::Unheard => resume_unwind(panic),
            Begun::Foreseen(foretold) => {
                let Foretold { round, changes, crossings } = *foretold;
                if round.heard {
                    self.announce_what_is_there(entity, &changes);
                    let crossings = self.matching_now(entity, &crossings);
                    self.call_matchers(&[entity], &crossings, Border::Begins);
                } else {
                    self.keep_up_with_what_is_there(entity, &changes);
                }
                round
            }
        };
        match self.end_round::<Infallible>(round, Err(panic)) {}
    }

    /// Announces entities that came with a bundle, if it has listeners.
    #[inline(never)]
    pub(crate) fn announce_bundle(&mut self, entities: &[Entity], bundle: BundleId) {
        let heard = &self.bundles.info(bundle).heard;
        if heard.is_empty() || self.announced_bundle(entities, bundle) {
            return;
        }
        let heard = self.bundles.info(bundle).heard.clone();
        self.announce_spawned(entities, &heard);
    }

    /// Announces entities that came, each with these components.
    pub(crate) fn announce_spawned(&mut self, entities: &[Entity], heard: &Signature) {
        let Some(&first) = entities.first() else { return };
        let changes = Changes::coming(heard.clone());
        let round = self.begin_round(first, &changes);
        if round.heard {
            self.announce_run(entities, heard);
            if !self.reactions.matchers.is_empty() {
                let crossings = self.crossings(None, &changes);
                self.call_matchers(entities, &crossings, Border::Begins);
            }
        } else {
            entities.iter().for_each(|&entity| self.keep_up(Lifecycle::Insert, entity, heard));
        }
        self.end_round(round, Ok(()));
    }

    /// Announces that entities came, to those that want that as one, after the others.
    fn announce_run(&mut self, entities: &[Entity], ids: &Signature) {
        let events = [Lifecycle::Add, Lifecycle::Insert];
        let one_by_one = |world: &Self, event: Lifecycle| {
            world.reactions.observers.kinds(event).0 || world.reactions.hooked[event as usize].overlaps(ids)
        };
        if let [entity] = *entities {
            events.into_iter().for_each(|event| self.tell(event, entity, ids));
            return;
        }
        if !self.reactions.collectors.is_empty() {
            for (&entity, event) in entities.iter().flat_map(|entity| events.map(|event| (entity, event))) {
                self.collect(event, entity, ids);
            }
        }
        if events.into_iter().any(|event| one_by_one(self, event)) {
            for &entity in entities {
                for event in events {
                    self.call_hooks(event, entity, ids);
                    self.call_lifecycle_observers(event, &[entity], ids, |batched| !batched);
                }
            }
        }
        for event in events {
            if self.reactions.observers.kinds(event).1 {
                self.call_lifecycle_observers(event, entities, ids, |batched| batched);
            }
        }
    }

    fn begin_round(&mut self, entity: Entity, changes: &Changes) -> Round {
        self.begin(Cause { kind: changes.first(), entity })
    }

    /// Begins an announcement.
    pub(super) fn begin(&mut self, cause: Cause) -> Round {
        if self.reactions.observers.order.is_unsorted() {
            self.sort_observers();
        }
        self.reactions.chain.push(cause);
        let heard = self.reactions.chain.is_within_limit();
        if !heard {
            self.note_endless();
        }
        let inner = self.reactions.handling > 0;
        let waits = !inner && !self.commands.queue.is_empty();
        Round { waiting: waits.then(|| std::mem::take(&mut self.commands.queue)), heard, inner }
    }

    /// Applies what handlers queued, tells of their errors, and passes the first panic on.
    pub(super) fn end_round<R>(&mut self, round: Round, outcome: std::thread::Result<R>) -> R {
        if round.inner {
            self.reactions.chain.pop();
            return outcome.unwrap_or_else(|panic| resume_unwind(panic));
        }
        let mut panics = FirstPanic::default();
        if !self.commands.queue.is_empty() {
            panics.guard(|| self.flush_commands());
        }
        if let Some(mut waiting) = round.waiting {
            self.commands.queue.append(&mut waiting);
        }
        self.reactions.chain.pop();
        if !self.reactions.errors.is_empty() {
            for error in std::mem::take(&mut self.reactions.errors) {
                panics.guard(|| self.fail(error));
            }
        }
        match outcome {
            Ok(result) => {
                panics.resume();
                result
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    #[cold]
    fn note_endless(&mut self) {
        let name = |id: ComponentId| self.components.info(id).name();
        let chain = self.reactions.chain.iter().map(|cause| match cause.kind {
            CauseKind::Change(event, component) => {
                format!("{}<{}> of {}", event.name(), name(component), cause.entity)
            }
            CauseKind::Event(event) => event.to_owned(),
        });
        let chain: Vec<String> = chain.collect();
        let last = chain.last().cloned().unwrap_or_default();
        self.reactions.errors.push(SystemError::new(
            Failed::Observer,
            last,
            EndlessReactions { chain }.into(),
        ));
    }

    fn announce_leaving(&mut self, entity: Entity, changes: &Changes) {
        if changes.despawns {
            self.tell(Lifecycle::Despawn, entity, &changes.remove);
        }
        self.tell(Lifecycle::Discard, entity, &changes.discard);
        self.tell(Lifecycle::Remove, entity, &changes.remove);
    }

    fn announce_coming(&mut self, entity: Entity, changes: &Changes) {
        self.tell(Lifecycle::Add, entity, &changes.add);
        self.tell(Lifecycle::Insert, entity, &changes.insert);
    }

    /// As `announce_coming`, after a panic: the change may have happened or not. Values whose end was announced, and
    /// which are there all the same, are announced anew, so that both sides of a count agree.
    #[cold]
    pub(super) fn announce_what_is_there(&mut self, entity: Entity, changes: &Changes) {
        let present = self.present_of(entity, &changes.insert.union(&changes.discard));
        self.tell(Lifecycle::Add, entity, &changes.add.intersection(&present));
        self.tell(Lifecycle::Insert, entity, &present);
    }

    /// Calls the listeners of an event of some components of an entity.
    fn tell(&mut self, event: Lifecycle, entity: Entity, ids: &Signature) {
        if ids.is_empty() {
            return;
        }
        if matches!(event, Lifecycle::Add | Lifecycle::Insert) {
            self.call_hooks(event, entity, ids);
            self.call_lifecycle_observers(event, &[entity], ids, |_| true);
        } else {
            self.call_lifecycle_observers(event, &[entity], ids, |_| true);
            self.call_hooks(event, entity, ids);
        }
        if event == Lifecycle::Remove {
            self.log_removals(entity, ids);
        }
        if !self.reactions.collectors.is_empty() {
            self.collect(event, entity, ids);
        }
    }

    /// Calls the hooks that keep the world in agreement with itself, where no other listener is told any more.
    #[cold]
    fn keep_up(&mut self, event: Lifecycle, entity: Entity, ids: &Signature) {
        let ids = ids.intersection(&self.reactions.upkeep);
        self.call_hooks(event, entity, &ids);
    }

    #[cold]
    fn keep_up_with_what_is_there(&mut self, entity: Entity, changes: &Changes) {
        let present = self.present_of(entity, &changes.insert.union(&changes.discard));
        self.keep_up(Lifecycle::Insert, entity, &present);
    }

    fn call_hooks(&mut self, event: Lifecycle, entity: Entity, ids: &Signature) {
        let hooked = &self.reactions.hooked[event as usize];
        if !hooked.overlaps(ids) {
            return;
        }
        for id in &hooked.intersection(ids) {
            if let Some(hook) = self.reactions.hooks[id.index()][event as usize] {
                self.call_hook(event, hook, entity, id);
            }
        }
    }

    pub(super) fn call_hook(
        &mut self,
        event: Lifecycle,
        hook: Hook,
        entity: Entity,
        component_id: ComponentId,
    ) {
        let context = HookContext { entity, component_id };
        self.reactions.handling += 1;
        let call = AssertUnwindSafe(|| (hook.run)(DeferredWorld::from(&mut *self), context));
        let outcome = catch_unwind(call);
        self.reactions.handling -= 1;
        if let Err(payload) = outcome {
            let name = format!("{} of `{}`", event.name(), self.components.info(component_id).name());
            self.note_panic(Failed::Hook, name, &*payload);
        }
    }

    /// Keeps what a handler panicked with, for the error handler.
    #[cold]
    pub(super) fn note_panic(&mut self, failed: Failed, name: String, payload: &(dyn Any + Send)) {
        self.reactions.errors.push(SystemError::new(failed, name, panicked(payload).into()));
    }
}
