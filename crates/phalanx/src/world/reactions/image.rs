//! What checkpoints keep of reactions: the observers, and what waited for its readers.
//!
//! Observers, the removals that wait with the places of their readers, reactive sets, and what observers at sync points
//! were told come back as they were. An observer that went since is kept by the world as long as a checkpoint knows it.
//! Hooks are no state: they stay. What the handlers of observers keep is shown part by part
//! ([`World::visit_observers`]), and copied by code that knows how.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use phalanx_store::{Entity, FirstPanic, Tick};

use super::matches::Matcher;
use super::observers::{Kept, KeptHandler, ObserversImage};
use super::polls::Poll;
use super::reactive::{Collected, Listener, open};
use super::removed::Log;
use crate::archetype::Change;
use crate::capture::StateVisitor;
use crate::signature::Signature;
use crate::world::World;

/// The reactions of a world at one moment.
pub(crate) struct ReactionsImage {
    observers: Arc<ObserversImage>,
    /// What was announced to each listener to written values.
    polls: Vec<(Listener, Tick)>,
    /// The archetypes that were not announced to their observers yet.
    archetypes: Vec<Change>,
    /// Indexed by component.
    logs: Vec<LogImage>,
    logged: Signature,
    sets: Vec<(Weak<Mutex<Collected>>, Vec<Entity>)>,
}

/// The removals of one component.
#[derive(Default)]
struct LogImage {
    entities: Arc<Vec<Entity>>,
    first: u64,
    tidy_at: usize,
    readers: Vec<(Weak<AtomicU64>, u64)>,
}

impl LogImage {
    fn of(log: &Log) -> Self {
        let place = |reader: &Arc<AtomicU64>| (Arc::downgrade(reader), reader.load(Ordering::Relaxed));
        Self {
            entities: Arc::clone(&log.entities),
            first: log.first,
            tidy_at: log.tidy_at,
            readers: log.readers.iter().map(place).collect(),
        }
    }

    /// Makes a log what it was. Readers that came since have read everything.
    fn restore(&self, log: &mut Log) {
        log.entities = Arc::clone(&self.entities);
        (log.first, log.tidy_at) = (self.first, self.tidy_at);
        let end = self.first + self.entities.len() as u64;
        for reader in &log.readers {
            let known = self.readers.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(reader));
            reader.store(known.map_or(end, |(_, passed)| *passed), Ordering::Relaxed);
        }
    }
}

/// An observer that was removed, with what belongs to it.
pub(super) struct Retired {
    kept: Box<Kept>,
    handler: KeptHandler,
    matchers: Vec<Matcher>,
    polls: Vec<Poll>,
}

impl World {
    /// What reactions are at the moment.
    pub(in crate::world) fn reactions_image(&mut self) -> ReactionsImage {
        let archetypes = self.archetypes.followed().cloned().unwrap_or_default();
        let reactions = &mut self.reactions;
        let sets = reactions
            .collectors
            .iter()
            .map(|collector| (Arc::downgrade(&collector.set), open(&collector.set).entities.clone()));
        let image = ReactionsImage {
            observers: reactions.observers.image(),
            polls: reactions.polls.iter().map(|poll| (poll.listener.clone(), poll.since)).collect(),
            archetypes,
            logs: reactions.removals.logs.iter().map(LogImage::of).collect(),
            logged: reactions.removals.logged.clone(),
            sets: sets.collect(),
        };
        // Those that no checkpoint knows any more are dropped last: they may hold anything.
        let known = |retired: &Retired| retired.kept.is_known();
        let (known, gone) = std::mem::take(&mut reactions.retired).into_iter().partition(known);
        reactions.retired = known;
        drop::<Vec<Retired>>(gone);
        image
    }

    /// Makes reactions what they were. What is dropped is the user's: `panics` keeps the first one.
    pub(in crate::world) fn restore_reactions(&mut self, image: &ReactionsImage, panics: &mut FirstPanic) {
        let gone = self.restore_observers(&image.observers);
        let reactions = &mut self.reactions;
        // A set may have several polls: they come in the same order.
        let mut told: Vec<_> = image.polls.iter().collect();
        for poll in &mut reactions.polls {
            if let Some(at) = told.iter().position(|(listener, _)| *listener == poll.listener) {
                poll.since = told.remove(at).1;
            }
        }
        if let Some(followed) = self.archetypes.followed() {
            followed.clone_from(&image.archetypes);
        }
        let nothing = LogImage::default();
        for id in &reactions.removals.logged {
            let then = image.logs.get(id.index()).filter(|_| image.logged.has(id));
            then.unwrap_or(&nothing).restore(&mut reactions.removals.logs[id.index()]);
        }
        for collector in &reactions.collectors {
            let then = image.sets.iter().find(|(set, _)| set.as_ptr() == Arc::as_ptr(&collector.set));
            open(&collector.set).restore(then.map_or(&[], |(_, entities)| entities));
        }
        gone.into_iter().for_each(|retired| panics.guard(|| drop(retired)));
    }

    /// Removes the observers that came since, and brings those back that went. Those that are unknown are returned.
    fn restore_observers(&mut self, image: &Arc<ObserversImage>) -> Vec<Retired> {
        if self.reactions.observers.is_as_in(image) {
            return Vec::new();
        }
        self.reactions.plans.forget();
        let mut gone = Vec::new();
        for id in self.reactions.observers.others_than(image) {
            gone.extend(self.take_observer(id));
        }
        for slot in self.reactions.observers.missing_of(image) {
            let is_it = |retired: &Retired| image.is_in(slot, &retired.kept);
            let at =
                self.reactions.retired.iter().position(is_it).expect("it is kept while the image knows it");
            let retired = self.reactions.retired.swap_remove(at);
            self.return_observer(slot, retired, image);
        }
        self.reactions.observers.finish_restore(image);
        self.reactions.plans.forget();
        self.update_polled();
        self.update_active();
        gone
    }

    fn return_observer(&mut self, slot: u32, retired: Retired, image: &ObserversImage) {
        let Retired { kept, handler, matchers, polls } = retired;
        let heard = kept.heard();
        self.reactions.observers.put_back(slot, kept, handler, image);
        if let Some(heard) = heard {
            self.for_heard(&heard, Self::listen);
        }
        matchers.into_iter().for_each(|matcher| self.put_matcher(matcher));
        self.reactions.polls.extend(polls);
    }

    /// Keeps an observer that was removed if a checkpoint knows it; otherwise it is handed back, to be dropped.
    pub(super) fn retire(
        &mut self,
        kept: Box<Kept>,
        handler: KeptHandler,
        matchers: Vec<Matcher>,
        polls: Vec<Poll>,
    ) -> Option<Retired> {
        let retired = Retired { kept, handler, matchers, polls };
        if !retired.kept.is_known() {
            return Some(retired);
        }
        self.reactions.retired.push(retired);
        None
    }

    /// Shows what the handlers of observers keep, in an order that never changes.
    pub(crate) fn visit_observers(&mut self, visitor: &mut dyn StateVisitor) {
        for handler in self.reactions.observers.handlers_mut() {
            handler.visit_state(visitor);
        }
    }
}
