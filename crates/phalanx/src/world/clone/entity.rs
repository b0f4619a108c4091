//! The methods of entities and of recorded commands that clone.
//!
//! All of them set up an `EntityCloner` and use it once. A recorded clone has its id at once; nothing happens if the
//! source or the target is dead when the commands are applied.

use phalanx_store::Entity;

use super::{EntityCloner, EntityClonerBuilder, OptIn, OptOut};
use crate::bundle::Bundle;
use crate::world::{EntityCommands, EntityWorldMut};

impl EntityWorldMut<'_> {
    /// Spawns a clone of this entity: everything that can be cloned, without those that are linked to it.
    pub fn clone_and_spawn(&mut self) -> Entity {
        self.clone_and_spawn_with_opt_out(|_| {})
    }

    /// Spawns a clone of this entity, without what is denied.
    pub fn clone_and_spawn_with_opt_out(
        &mut self,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptOut>),
    ) -> Entity {
        let target = self.world_and_id().0.spawn_empty().id();
        self.clone_with_opt_out(target, config);
        target
    }

    /// Spawns a clone of what is allowed of this entity.
    pub fn clone_and_spawn_with_opt_in(
        &mut self,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptIn>),
    ) -> Entity {
        let target = self.world_and_id().0.spawn_empty().id();
        self.clone_with_opt_in(target, config);
        target
    }

    /// Clones this entity into another one, without what is denied.
    ///
    /// # Panics
    /// When the target is dead.
    #[track_caller]
    pub fn clone_with_opt_out(
        &mut self,
        target: Entity,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptOut>),
    ) -> &mut Self {
        let (world, source) = self.world_and_id();
        let mut builder = EntityCloner::build_opt_out(world);
        config(&mut builder);
        builder.clone_entity(source, target);
        self
    }

    /// Clones what is allowed of this entity into another one.
    ///
    /// # Panics
    /// When the target is dead.
    #[track_caller]
    pub fn clone_with_opt_in(
        &mut self,
        target: Entity,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptIn>),
    ) -> &mut Self {
        let (world, source) = self.world_and_id();
        let mut builder = EntityCloner::build_opt_in(world);
        config(&mut builder);
        builder.clone_entity(source, target);
        self
    }

    /// Clones the components of a bundle into another entity.
    ///
    /// # Panics
    /// When the target is dead.
    #[track_caller]
    pub fn clone_components<B: Bundle>(&mut self, target: Entity) -> &mut Self {
        self.clone_with_opt_in(target, |builder| {
            builder.allow::<B>();
        })
    }

    /// Moves a bundle to another entity, if this one has all of it. The values need not be `Clone`.
    ///
    /// # Panics
    /// When the target is dead, or its pool does not declare a component.
    #[track_caller]
    pub fn move_components<B: Bundle>(&mut self, target: Entity) -> &mut Self {
        let (world, source) = self.world_and_id();
        if let Err(error) = world.get_entity(target) {
            panic!("{error}");
        }
        if let Some(bundle) = world.take::<B>(source) {
            world.entity_mut(target).insert(bundle);
        }
        self
    }
}

impl EntityCommands<'_> {
    /// Spawns a clone of this entity: everything that can be cloned, without those that are linked to it.
    #[track_caller]
    pub fn clone_and_spawn(&mut self) -> EntityCommands<'_> {
        self.clone_and_spawn_with_opt_out(|_| {})
    }

    /// Spawns a clone of this entity, without what is denied.
    #[track_caller]
    pub fn clone_and_spawn_with_opt_out(
        &mut self,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptOut>) + Send + Sync + 'static,
    ) -> EntityCommands<'_> {
        let target = self.commands().spawn_empty().id();
        self.clone_with_opt_out(target, config);
        self.of_other(target)
    }

    /// Spawns a clone of what is allowed of this entity.
    #[track_caller]
    pub fn clone_and_spawn_with_opt_in(
        &mut self,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptIn>) + Send + Sync + 'static,
    ) -> EntityCommands<'_> {
        let target = self.commands().spawn_empty().id();
        self.clone_with_opt_in(target, config);
        self.of_other(target)
    }

    /// Clones this entity into another one, without what is denied.
    pub fn clone_with_opt_out(
        &mut self,
        target: Entity,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptOut>) + Send + Sync + 'static,
    ) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            if entity.world().contains(target) {
                entity.clone_with_opt_out(target, config);
            }
        })
    }

    /// Clones what is allowed of this entity into another one.
    pub fn clone_with_opt_in(
        &mut self,
        target: Entity,
        config: impl FnOnce(&mut EntityClonerBuilder<'_, OptIn>) + Send + Sync + 'static,
    ) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            if entity.world().contains(target) {
                entity.clone_with_opt_in(target, config);
            }
        })
    }

    /// Clones the components of a bundle into another entity.
    pub fn clone_components<B: Bundle>(&mut self, target: Entity) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            if entity.world().contains(target) {
                entity.clone_components::<B>(target);
            }
        })
    }

    /// Moves a bundle to another entity, if this one has all of it.
    pub fn move_components<B: Bundle>(&mut self, target: Entity) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            if entity.world().contains(target) {
                entity.move_components::<B>(target);
            }
        })
    }
}
