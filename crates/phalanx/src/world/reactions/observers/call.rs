//! Calling observers, one after the other.
//!
//! The handler of an observer is taken out while it runs: called again meanwhile, it is found to be missing. What it
//! fails with, be it an error or a panic, is kept for the end of the change, and the next observer is called.

use std::any::{Any, TypeId};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::Entity;

use super::{Call, Handler, ObserverId, Who};
use crate::signature::Signature;
use crate::world::World;
use crate::world::failure::{BoxedError, Failed, SystemError};
use crate::world::reactions::Lifecycle;
use crate::world::reactions::events::{EntityComponentsTrigger, Event, Heard, OwnEvent, Run};

/// An observer that was called while it ran.
#[derive(Debug)]
struct Recursive;

impl fmt::Display for Recursive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it runs at the moment, and cannot run inside itself: trigger the event by `commands`")
    }
}

impl std::error::Error for Recursive {}

/// A path of entities along which an event goes round.
#[derive(Debug)]
struct Circle(Entity);

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the entities along which it propagates from {} form a circle", self.0)
    }
}

impl std::error::Error for Circle {}

impl World {
    /// Calls the observers of an event: all of its type, and those of its entity.
    pub(crate) fn call_observers<E: Event>(
        &mut self,
        event: &mut E,
        trigger: &mut E::Trigger,
        entity: Option<Entity>,
    ) {
        self.call_whom(Who::Event(TypeId::of::<E>()), entity, event, trigger);
    }

    /// Calls observers with an event and a trigger of the types that they expect.
    pub(in crate::world::reactions) fn call_whom(
        &mut self,
        who: Who<'_>,
        entity: Option<Entity>,
        event: &mut dyn Any,
        trigger: &mut dyn Any,
    ) {
        let found = self.reactions.observers.collect(entity, who);
        for &slot in &found {
            self.call_observer(slot, Heard::Triggered(event, trigger));
        }
        self.reactions.observers.spare.push(found);
    }

    /// Calls the observers of a lifecycle event: of one entity, or of a run of them.
    pub(in crate::world::reactions) fn call_lifecycle_observers(
        &mut self,
        event: Lifecycle,
        entities: &[Entity],
        ids: &Signature,
        which: impl Fn(bool) -> bool,
    ) {
        let Some(&entity) = entities.first() else { return };
        // An observer of one entity of a run hears of it for itself.
        let target = (entities.len() == 1).then_some(entity);
        let mut found = self.reactions.observers.collect(target, Who::Lifecycle(event, ids));
        found.retain(|&slot| {
            self.reactions.observers.kept(slot).is_some_and(|kept| which(kept.observer.takes_runs()))
        });
        if !found.is_empty() {
            if event.is_leaving() {
                found.reverse();
            }
            let entities = if target.is_some() { Run::one(entity) } else { Run::many(entities.into()) };
            let trigger = EntityComponentsTrigger { components: ids.clone(), entities };
            let mut event = (OwnEvent::lifecycle(event, entity), trigger);
            for &slot in &found {
                self.call_observer(slot, Heard::Own(&mut event));
            }
        }
        self.reactions.observers.spare.push(found);
    }

    /// Calls an observer; nothing happens when it is gone.
    pub(in crate::world::reactions) fn call_observer(&mut self, slot: u32, heard: Heard<'_>) {
        self.call_observer_inline(slot, heard);
    }

    /// As `call_observer`, as a part of the caller: for plans, which are carried out often.
    #[inline(always)]
    pub(in crate::world::reactions) fn call_observer_inline(&mut self, slot: u32, heard: Heard<'_>) {
        let Some(found) = self.reactions.observers.slots.get_mut(slot as usize) else { return };
        let observer = ObserverId { slot, generation: found.generation };
        let Some(mut handler) = found.handler.get_mut().take() else { return self.note_recursion(slot) };
        self.reactions.handling += 1;
        let call = AssertUnwindSafe(|| handler.run(self, Call { heard, observer }));
        let outcome = catch_unwind(call);
        self.reactions.handling -= 1;
        match outcome {
            Ok(Ok(())) => {
                self.put_handler_back(slot, handler);
            }
            Ok(Err(error)) => self.end_failed_call(slot, handler, Ok(error)),
            Err(payload) => self.end_failed_call(slot, handler, Err(payload)),
        }
    }

    /// Puts a handler back; false, and it is dropped, when its observer is gone.
    #[inline(always)]
    fn put_handler_back(&mut self, slot: u32, handler: Box<dyn Handler>) -> bool {
        match self.reactions.observers.slots.get_mut(slot as usize) {
            Some(found) if found.kept.is_some() => {
                *found.handler.get_mut() = Some(handler);
                true
            }
            _ => false,
        }
    }

    /// The end of a call of an observer that returned an error, or panicked.
    #[cold]
    #[inline(never)]
    fn end_failed_call(
        &mut self,
        slot: u32,
        mut handler: Box<dyn Handler>,
        failure: Result<BoxedError, Box<dyn Any + Send>>,
    ) {
        if failure.is_err() {
            handler.discard();
        }
        if self.put_handler_back(slot, handler) {
            self.note_failure(slot, failure);
        }
    }

    /// Keeps the error of an observer that was called while it ran; none if it is gone.
    #[cold]
    #[inline(never)]
    fn note_recursion(&mut self, slot: u32) {
        self.note_failure(slot, Ok(Recursive.into()));
    }

    /// Keeps what an observer failed with: the error that it returned, or its panic.
    #[cold]
    #[inline(never)]
    fn note_failure(&mut self, slot: u32, failure: Result<BoxedError, Box<dyn Any + Send>>) {
        let Some(name) = self.reactions.observers.kept(slot).map(|kept| kept.observer.name.clone()) else {
            return;
        };
        match failure {
            Ok(error) => {
                self.reactions.errors.push(SystemError::new(Failed::Observer, name, error));
            }
            Err(payload) => self.note_panic(Failed::Observer, name, &*payload),
        }
    }

    /// Keeps the error of an event that would propagate for ever.
    #[cold]
    pub(crate) fn note_circle<E>(&mut self, from: Entity) {
        let name = std::any::type_name::<E>();
        self.reactions.errors.push(SystemError::new(Failed::Observer, name, Circle(from).into()));
    }
}
