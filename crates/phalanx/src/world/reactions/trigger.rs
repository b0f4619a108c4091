//! Triggering events: from the world, from commands, from a hook, for an entity.
//!
//! The observers run at once; what they queue is applied when all of them have run. A hook that triggers an event waits
//! for its observers, but what they queue waits for the change that the hook runs for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::Entity;

use super::DeferredWorld;
use super::chain::Cause;
use super::events::{EntityEvent, Event, Trigger};
use crate::world::{Commands, EntityCommands, EntityWorldMut, World};

impl World {
    /// Triggers an event: its observers run, and then what they queued.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Event)]
    /// struct Explosion { force: f32 }
    /// #[derive(Component)]
    /// struct Health(f32);
    ///
    /// let mut world = World::new();
    /// let e = world.spawn(Health(10.0)).id();
    /// world.add_observer(|on: On<Explosion>, mut all: Query<&mut Health>| {
    ///     for mut health in &mut all {
    ///         health.0 -= on.force;
    ///     }
    /// });
    /// world.trigger(Explosion { force: 4.0 });
    /// assert_eq!(world.get::<Health>(e).unwrap().0, 6.0);
    /// ```
    pub fn trigger<E: Event<Trigger: Default>>(&mut self, mut event: E) {
        self.trigger_ref_with(&mut event, &mut E::Trigger::default());
    }

    /// As [`World::trigger`], with a trigger of your own making.
    pub fn trigger_with<E: Event>(&mut self, mut event: E, mut trigger: E::Trigger) {
        self.trigger_ref_with(&mut event, &mut trigger);
    }

    /// As [`World::trigger`], of an event that is looked at afterwards.
    pub fn trigger_ref<E: Event<Trigger: Default>>(&mut self, event: &mut E) {
        self.trigger_ref_with(event, &mut E::Trigger::default());
    }

    /// As [`World::trigger_with`], of an event and a trigger that are looked at afterwards.
    pub fn trigger_ref_with<E: Event>(&mut self, event: &mut E, trigger: &mut E::Trigger) {
        let round = self.begin(Cause::event(std::any::type_name::<E>()));
        let mut outcome = Ok(());
        if round.heard {
            // Observers are guarded one by one; a trigger or a traversal of the user's is not.
            outcome = catch_unwind(AssertUnwindSafe(|| trigger.trigger(self, event)));
        }
        self.end_round(round, outcome);
    }
}

impl DeferredWorld<'_> {
    /// Triggers an event: its observers run at once. What they queue waits, with what the hook queues, for the end of
    /// the change.
    pub fn trigger<E: Event<Trigger: Default>>(&mut self, event: E) {
        self.world_mut().trigger(event);
    }
}

impl Commands<'_, '_> {
    /// Triggers an event, when the commands are applied.
    pub fn trigger<E: Event<Trigger: Default>>(&mut self, event: E) {
        self.queue(move |world: &mut World| world.trigger(event));
    }

    /// As [`Commands::trigger`], with a trigger of your own making.
    pub fn trigger_with<E: Event<Trigger: Sync>>(&mut self, event: E, trigger: E::Trigger) {
        self.queue(move |world: &mut World| world.trigger_with(event, trigger));
    }
}

impl EntityWorldMut<'_> {
    /// Triggers an event that is made for this entity: `entity.trigger(|entity| Opened { entity })`.
    pub fn trigger<E: EntityEvent<Trigger: Default>>(
        &mut self,
        event: impl FnOnce(Entity) -> E,
    ) -> &mut Self {
        let (world, entity) = self.world_and_id();
        world.trigger(event(entity));
        self
    }
}

impl EntityCommands<'_> {
    /// Triggers an event that is made for this entity, when the commands are applied.
    pub fn trigger<E: EntityEvent<Trigger: Default>>(
        &mut self,
        event: impl FnOnce(Entity) -> E,
    ) -> &mut Self {
        let event = event(self.id());
        self.queue_world(move |world: &mut World| world.trigger(event));
        self
    }
}
