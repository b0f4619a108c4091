//! Events without their types: keys, triggering by them, and a list of what is observed by which.
//!
//! Observers are kept by the type of their event, and called with an event and a trigger as [`Any`]. An [`EventKey`] is
//! both types with a name, so what is triggered by a key is compared with it before any observer is called.

use std::any::{Any, TypeId};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::Entity;

use super::Lifecycle;
use super::chain::Cause;
use super::events::Event;
use super::observers::{NewObserver, ObserverId, Who};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

/// Stands for a type of events.
///
/// ```
/// use phalanx::event::{EventKey, GlobalTrigger};
/// use phalanx::prelude::*;
///
/// #[derive(Event)]
/// struct Thunder { loud: bool }
///
/// let mut world = World::new();
/// world.add_observer(|mut on: On<Thunder>| on.loud = true);
/// let key = EventKey::of::<Thunder>();
/// let mut thunder = Thunder { loud: false };
/// world.trigger_dynamic(key, &mut thunder, &mut GlobalTrigger).unwrap();
/// assert!(thunder.loud);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventKey {
    event: TypeId,
    trigger: TypeId,
    lifecycle: Option<Lifecycle>,
    name: &'static str,
}

impl EventKey {
    /// The key of a type.
    pub fn of<E: Event>() -> Self {
        Self {
            event: TypeId::of::<E>(),
            trigger: TypeId::of::<E::Trigger>(),
            lifecycle: E::lifecycle(),
            name: std::any::type_name::<E>(),
        }
    }

    /// The name of the type.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The type.
    pub(super) fn type_id(self) -> TypeId {
        self.event
    }
}

/// What was to be triggered by a key has another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongEventType {
    /// The name of the event that the key stands for.
    pub event: &'static str,
    /// Whether it is the trigger that has another type, and not the event.
    pub is_trigger: bool,
}

impl fmt::Display for WrongEventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_trigger { "the trigger is not that of" } else { "the event is no" };
        write!(f, "{what} `{}`, for which the key stands", self.event)
    }
}

impl std::error::Error for WrongEventType {}

/// An observer, and what it observes.
#[derive(Clone, Copy)]
pub struct ObserverInfo<'w> {
    id: ObserverId,
    observer: &'w NewObserver,
}

impl<'w> ObserverInfo<'w> {
    /// Its id.
    pub fn id(&self) -> ObserverId {
        self.id
    }

    /// The name of its function.
    pub fn name(&self) -> &'w str {
        &self.observer.name
    }

    /// The event that it observes.
    pub fn event_key(&self) -> EventKey {
        self.observer.event
    }

    /// The components whose coming and going it observes, if it is not that of all.
    pub fn components(&self) -> impl Iterator<Item = ComponentId> + 'w {
        self.observer.components.iter()
    }

    /// The entities that it observes, in ascending order; none if it observes all.
    pub fn entities(&self) -> &'w [Entity] {
        &self.observer.entities
    }
}

impl fmt::Debug for ObserverInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObserverInfo")
            .field("id", &self.id)
            .field("name", &self.name())
            .field("event", &self.event_key().name())
            .field("components", &self.components().collect::<Vec<_>>())
            .field("entities", &self.entities())
            .finish()
    }
}

impl World {
    /// The key of an event. No registration is needed: there is a key for every event.
    pub fn register_event_key<E: Event>(&mut self) -> EventKey {
        EventKey::of::<E>()
    }

    /// The key of an event; always there.
    pub fn event_key<E: Event>(&self) -> Option<EventKey> {
        Some(EventKey::of::<E>())
    }

    /// All observers, in the order in which they were registered.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(f32);
    ///
    /// let mut world = World::new();
    /// let id = world.add_observer(|_: On<Add<Health>>| {});
    /// let observer = world.observers().next().unwrap();
    /// assert_eq!(observer.id(), id);
    /// assert!(observer.components().eq(world.component_id::<Health>()));
    /// ```
    pub fn observers(&self) -> impl Iterator<Item = ObserverInfo<'_>> {
        let all = self.reactions.observers.list();
        all.into_iter().map(|(id, observer)| ObserverInfo { id, observer })
    }

    /// Triggers an event by its key: the observers of its type run that observe neither single entities nor single
    /// components, and then what they queued. The event and its trigger can be looked at afterwards.
    ///
    /// # Errors
    /// When the event or the trigger is not of the type that the key stands for; then no observer hears of it.
    pub fn trigger_dynamic(
        &mut self,
        key: EventKey,
        event: &mut dyn Any,
        trigger: &mut dyn Any,
    ) -> Result<(), WrongEventType> {
        self.trigger_by_key(key, None, &[], event, trigger)
    }

    /// As [`World::trigger_dynamic`], also for observers of an entity. The event does not go on to other entities.
    ///
    /// # Errors
    /// As for [`World::trigger_dynamic`].
    pub fn trigger_dynamic_targets(
        &mut self,
        key: EventKey,
        entity: Entity,
        event: &mut dyn Any,
        trigger: &mut dyn Any,
    ) -> Result<(), WrongEventType> {
        self.trigger_by_key(key, Some(entity), &[], event, trigger)
    }

    /// As [`World::trigger_dynamic_targets`], also for observers of components, which only the events of
    /// [`lifecycle`](crate::lifecycle) have.
    ///
    /// # Errors
    /// As for [`World::trigger_dynamic`].
    pub fn trigger_dynamic_targets_components(
        &mut self,
        key: EventKey,
        entity: Entity,
        components: &[ComponentId],
        event: &mut dyn Any,
        trigger: &mut dyn Any,
    ) -> Result<(), WrongEventType> {
        self.trigger_by_key(key, Some(entity), components, event, trigger)
    }

    fn trigger_by_key(
        &mut self,
        key: EventKey,
        entity: Option<Entity>,
        components: &[ComponentId],
        event: &mut dyn Any,
        trigger: &mut dyn Any,
    ) -> Result<(), WrongEventType> {
        let is_trigger = (*event).type_id() == key.event;
        if !is_trigger || (*trigger).type_id() != key.trigger {
            return Err(WrongEventType { event: key.name, is_trigger });
        }
        let round = self.begin(Cause::event(key.name));
        let mut outcome = Ok(());
        if round.heard {
            let components: Signature = components.iter().copied().collect();
            let who = match key.lifecycle {
                Some(lifecycle) => Who::Lifecycle(lifecycle, &components),
                None => Who::Event(key.event),
            };
            outcome = catch_unwind(AssertUnwindSafe(|| self.call_whom(who, entity, event, trigger)));
        }
        self.end_round(round, outcome);
        Ok(())
    }
}
