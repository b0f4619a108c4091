//! Changes recorded now and applied later.
//!
//! [`Commands`] only writes down: ids of spawned entities are reserved at once, everything else happens when
//! the commands are flushed, at a sync point, at the end of a phase or by [`World::flush`]. How commands are kept is in
//! `queue`, how they are applied in `flush`, how several changes of one entity become one move in `merge`, and where
//! their values wait for it in cells, one per column.

use phalanx_store::{Entity, Exhausted, Existing, Shared, Store};

use super::World;
use super::failure::{BoxedError, CommandOutput, Failed, SystemError};
use crate::bundle::Bundle;
use crate::messages::Message;
use crate::names::short_function_name;
use crate::pool::DeclaredPool;
use crate::resources::Resource;

pub use command_queue::CommandQueue;
pub use entry::EntityEntryCommands;
pub(crate) use flush::Deferred;
pub use flush::{CommandStats, EndlessCommands, FlushOrder};
pub(crate) use queue::Queue;
pub use traits::{Command, EntityCommand};

mod command_queue;
mod entity;
mod entry;
mod flush;
mod left_behind;
pub(super) mod merge;
mod queue;
mod traits;
mod worldwide;

/// The source of ids for entities that will be spawned.
#[derive(Clone, Copy)]
pub(crate) enum Ids<'w> {
    Store(&'w Store),
    Session(&'w Shared<'w>),
}

impl Ids<'_> {
    /// Whether the entity is alive.
    fn contains(self, entity: Entity) -> bool {
        match self {
            Self::Store(store) => store.entities().contains(entity),
            Self::Session(session) => session.contains(entity),
        }
    }

    /// Whether the id can never be alive any more.
    fn is_past(self, entity: Entity) -> bool {
        match self {
            Self::Store(store) => store.entities().is_past(entity),
            Self::Session(session) => session.is_past(entity),
        }
    }

    fn reserve(self) -> Result<Entity, Exhausted> {
        match self {
            Self::Store(store) => store.reserve_entity(),
            Self::Session(session) => session.reserve_entity(),
        }
    }
}

/// Records changes for later.
///
/// As a parameter of a system it keeps commands of its own, which are applied before the systems that are ordered
/// after it run, and when the phase ends at the latest, system by system in the order of the schedule. Systems with
/// `Commands` run one after the other even when several threads are at work, so that ids do not depend on their number.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
/// #[derive(Component)]
/// struct Corpse;
///
/// fn reap(mut commands: Commands, all: Query<(Entity, &Health)>) {
///     for (entity, health) in &all {
///         if health.0 <= 0.0 {
///             commands.entity(entity).despawn();
///             commands.spawn(Corpse);
///         }
///     }
/// }
///
/// let mut world = World::new();
/// let dying = world.spawn(Health(0.0)).id();
/// world.run_system_once(reap).unwrap(); // applies the commands afterwards
/// assert!(!world.contains(dying));
/// assert_eq!(world.view_filtered::<Entity, With<Corpse>>().count(), 1);
/// ```
pub struct Commands<'w, 's> {
    queue: &'s mut Queue,
    ids: Ids<'w>,
}

impl<'w, 's> Commands<'w, 's> {
    pub(crate) fn recording(queue: &'s mut Queue, ids: Ids<'w>) -> Self {
        Self { queue, ids }
    }

    /// The same recorder for a shorter time.
    pub fn reborrow(&mut self) -> Commands<'w, '_> {
        Commands { queue: self.queue, ids: self.ids }
    }

    /// Spawns an entity. Its id is valid at once; it is alive after the flush.
    ///
    /// # Panics
    /// When all entity indices are in use.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// fn reinforce(mut commands: Commands) {
    ///     let orc = commands.spawn(Health(10.0)).id(); // the id is valid at once, the entity alive at the next sync point
    ///     commands.entity(orc).insert(Burning);
    /// }
    /// ```
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> EntityCommands<'_> {
        let mut entity = self.spawn_empty();
        entity.insert(bundle);
        entity
    }

    /// Spawns an entity without components.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> EntityCommands<'_> {
        let entity = match self.ids.reserve() {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        EntityCommands { queue: self.queue, ids: self.ids, entity }
    }

    /// Spawns an entity in a pool. Its id is valid at once; it is alive, and in the pool, after the flush.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn spawn_in<P: DeclaredPool>(&mut self, value: P) -> EntityCommands<'_> {
        let entity = self.spawn_empty();
        entity.queue.enter(entity.entity, value);
        entity
    }

    /// Spawns an entity per bundle, when the commands are flushed.
    pub fn spawn_batch<B: Bundle, I>(&mut self, bundles: I)
    where
        I: IntoIterator<Item = B> + Send + Sync + 'static,
    {
        self.queue(move |world: &mut World| {
            world.spawn_batch(bundles);
        });
    }

    /// Changes an entity. If it is dead when the commands are flushed, its commands are skipped; what its pool forbids
    /// is skipped as well, and counted as refused.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// fn extinguish(mut commands: Commands, burning: Query<Entity, With<Burning>>) {
    ///     for entity in &burning {
    ///         commands.entity(entity).remove::<Burning>();
    ///     }
    /// }
    /// ```
    pub fn entity(&mut self, entity: Entity) -> EntityCommands<'_> {
        EntityCommands { queue: self.queue, ids: self.ids, entity }
    }

    /// As [`Commands::entity`], for as long as the recorder would have lived.
    pub(crate) fn into_entity<'q>(self, entity: Entity) -> EntityCommands<'q>
    where
        'w: 'q,
        's: 'q,
    {
        EntityCommands { queue: self.queue, ids: self.ids, entity }
    }

    /// Inserts a resource.
    pub fn insert_resource<R: Resource>(&mut self, resource: R) {
        self.queue(move |world: &mut World| {
            world.insert_resource(resource);
        });
    }

    /// Removes a resource.
    pub fn remove_resource<R: Resource>(&mut self) {
        self.queue(|world: &mut World| {
            world.remove_resource::<R>();
        });
    }

    /// Writes a message.
    pub fn write_message<M: Message>(&mut self, message: M) {
        self.queue(move |world: &mut World| {
            world.write_message(message);
        });
    }

    /// Queues a command: a function on the world, or a type that implements [`Command`]. When it is applied, the world
    /// has what was recorded before. An error that it returns goes to the error handler.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// fn restart(mut commands: Commands) {
    ///     commands.queue(|world: &mut World| {
    ///         world.clear_entities();
    ///         world.spawn(Health(10.0));
    ///     });
    /// }
    /// ```
    pub fn queue<C: Command>(&mut self, command: C) {
        self.queue.command(command);
    }
}

impl Queue {
    fn command<C: Command>(&mut self, command: C) {
        let name = std::any::type_name::<C>();
        self.call(Box::new(move |world| {
            world.commands.running = name;
            let outcome = command.apply(world).into_result();
            world.hear(name, outcome);
        }));
    }
}

/// Records changes of one entity for later.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)]
/// # struct Health(f32);
/// # #[derive(Component)]
/// # struct Burning;
/// fn ignite(mut commands: Commands, all: Query<Entity, (With<Health>, Without<Burning>)>) {
///     for entity in &all {
///         commands.entity(entity).insert(Burning).remove::<Health>(); // one move, at the next sync point
///     }
/// }
/// ```
pub struct EntityCommands<'q> {
    queue: &'q mut Queue,
    ids: Ids<'q>,
    entity: Entity,
}

impl EntityCommands<'_> {
    /// The entity's id.
    pub fn id(&self) -> Entity {
        self.entity
    }

    /// The recorder for the whole world.
    pub fn commands(&mut self) -> Commands<'_, '_> {
        Commands::recording(self.queue, self.ids)
    }

    /// The recorder for the whole world, as [`EntityCommands::commands`].
    pub fn commands_mut(&mut self) -> Commands<'_, '_> {
        self.commands()
    }

    /// The recorder of another entity.
    pub(super) fn of_other(&mut self, entity: Entity) -> EntityCommands<'_> {
        EntityCommands { queue: self.queue, ids: self.ids, entity }
    }

    /// Inserts a bundle. Components that the entity has are replaced.
    pub fn insert<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        self.queue.insert(self.entity, bundle, Existing::Replace);
        self
    }

    /// Inserts what the entity lacks of a bundle.
    pub fn insert_if_new<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        self.queue.insert(self.entity, bundle, Existing::Keep);
        self
    }

    /// Removes what the entity has of a bundle.
    pub fn remove<B: Bundle>(&mut self) -> &mut Self {
        self.queue.remove::<B>(self.entity);
        self
    }

    /// Despawns the entity.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// fn reap(mut commands: Commands, all: Query<(Entity, &Health)>) {
    ///     for (entity, health) in &all {
    ///         if health.0 <= 0.0 {
    ///             commands.entity(entity).despawn();
    ///         }
    ///     }
    /// }
    /// ```
    pub fn despawn(&mut self) {
        self.queue.despawn(self.entity);
    }

    /// As [`insert`](Self::insert); not an error if the entity was despawned, whatever the app's configuration says.
    pub fn try_insert<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        self.insert(bundle);
        self.queue.quiet_last();
        self
    }

    /// As [`insert_if_new`](Self::insert_if_new); not an error if the entity was despawned.
    pub fn try_insert_if_new<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        self.insert_if_new(bundle);
        self.queue.quiet_last();
        self
    }

    /// As [`remove`](Self::remove); not an error if the entity was despawned.
    pub fn try_remove<B: Bundle>(&mut self) -> &mut Self {
        self.remove::<B>();
        self.queue.quiet_last();
        self
    }

    /// As [`despawn`](Self::despawn); not an error if the entity was despawned.
    pub fn try_despawn(&mut self) {
        self.despawn();
        self.queue.quiet_last();
    }

    /// Runs a function on the world, whether the entity is alive or not.
    pub(crate) fn queue_world(&mut self, command: impl FnOnce(&mut World) + Send + 'static) {
        self.queue.call(Box::new(command));
    }

    /// Queues a command for the entity: a function on it, or a type that implements [`EntityCommand`]. Skipped, and
    /// counted, if the entity is dead by then. An error that it returns goes to the error handler.
    pub fn queue<C: EntityCommand>(&mut self, command: C) -> &mut Self {
        let (entity, name) = (self.entity, std::any::type_name::<C>());
        self.queue.call(Box::new(move |world| {
            world.commands.running = name;
            match world.get_entity_mut(entity) {
                Ok(entity) => {
                    let outcome = command.apply(entity).into_result();
                    world.hear(name, outcome);
                }
                Err(_) => world.note_dead(entity, false),
            }
        }));
        self
    }
}

impl World {
    /// Records changes, to be applied by [`World::flush`].
    pub fn commands(&mut self) -> Commands<'_, '_> {
        Commands::recording(&mut self.commands.queue, Ids::Store(&self.store))
    }

    /// Takes over commands that were recorded elsewhere, behind those that wait already.
    pub(crate) fn take_commands(&mut self, queue: &mut Queue) {
        if !queue.is_empty() {
            self.commands.queue.append(queue);
        }
    }

    /// Hands the error of a command to the error handler.
    fn hear(&mut self, command: &'static str, outcome: Result<(), BoxedError>) {
        if let Err(error) = outcome {
            self.fail(SystemError::new(Failed::Command, short_function_name(command), error));
        }
    }
}
