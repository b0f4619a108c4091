//! Spawning entities that point at another one: what the functions given to `with_children` get.
//!
//! One kind works on the world, the other one records commands. Both put the link before everything else, so that it is
//! there when handlers of the rest run.

use std::marker::PhantomData;

use phalanx_store::Entity;

use crate::bundle::Bundle;
use crate::relation::{ChildOf, Relationship};
use crate::world::{Commands, EntityCommands, EntityWorldMut, World};

/// Spawns entities that point at one entity of a world.
pub struct RelatedSpawner<'w, R: Relationship> {
    target: Entity,
    world: &'w mut World,
    relation: PhantomData<fn() -> R>,
}

/// Spawns children of one entity of a world.
pub type ChildSpawner<'w> = RelatedSpawner<'w, ChildOf>;

impl<'w, R: Relationship> RelatedSpawner<'w, R> {
    /// For entities that point at `target`.
    pub fn new(world: &'w mut World, target: Entity) -> Self {
        Self { target, world, relation: PhantomData }
    }

    /// Spawns one of them.
    #[track_caller]
    pub fn spawn(&mut self, bundle: impl Bundle) -> EntityWorldMut<'_> {
        self.world.spawn((R::from(self.target), bundle))
    }

    /// Spawns one of them that has nothing else.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> EntityWorldMut<'_> {
        self.world.spawn(R::from(self.target))
    }

    /// Their target.
    pub fn target_entity(&self) -> Entity {
        self.target
    }

    /// The world.
    pub fn world(&self) -> &World {
        self.world
    }

    /// The world, to be changed.
    pub fn world_mut(&mut self) -> &mut World {
        self.world
    }
}

/// Records the spawning of entities that point at one entity.
pub struct RelatedSpawnerCommands<'w, R: Relationship> {
    target: Entity,
    commands: Commands<'w, 'w>,
    relation: PhantomData<fn() -> R>,
}

/// Records the spawning of children of one entity.
pub type ChildSpawnerCommands<'w> = RelatedSpawnerCommands<'w, ChildOf>;

impl<'w, R: Relationship> RelatedSpawnerCommands<'w, R> {
    /// For entities that point at `target`.
    pub fn new(commands: Commands<'w, 'w>, target: Entity) -> Self {
        Self { target, commands, relation: PhantomData }
    }

    /// The same recorder for a shorter time.
    pub fn reborrow(&mut self) -> RelatedSpawnerCommands<'_, R> {
        RelatedSpawnerCommands::new(self.commands.reborrow(), self.target)
    }

    /// Spawns one of them.
    #[track_caller]
    pub fn spawn(&mut self, bundle: impl Bundle) -> EntityCommands<'_> {
        self.commands.spawn((R::from(self.target), bundle))
    }

    /// Spawns one of them that has nothing else.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> EntityCommands<'_> {
        self.commands.spawn(R::from(self.target))
    }

    /// Their target.
    pub fn target_entity(&self) -> Entity {
        self.target
    }

    /// The recorder for the whole world.
    pub fn commands(&mut self) -> Commands<'_, '_> {
        self.commands.reborrow()
    }

    /// As [`commands`](Self::commands), for as long as this recorder lives.
    pub fn commands_mut(&mut self) -> &mut Commands<'w, 'w> {
        &mut self.commands
    }
}
