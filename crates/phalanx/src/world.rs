//! The world: entities, components, resources and messages under one roof.
//!
//! [`World`] is what everything else works on. Outside systems nothing is checked at run time: `&World` reads, `&mut World`
//! writes. Entities are handled by [`EntityWorldMut`], [`EntityRef`] and [`EntityMut`]; [`Commands`] record changes for later;
//! [`DeferredWorld`] is what hooks and observers see.

// This file holds the struct, single entities and reading. Structural change is in `world/change`
// (which resolves archetypes; rows move in the store), batches in `world/batch`, run-time components in
// `world/dynamic`. Outside systems nothing is checked at run time: `&World` reads, `&mut World` writes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Entities, Entity, FirstPanic, SetPlan, Store, Tick};

use crate::archetype::{ArchetypeId, Archetypes};
use crate::bundle::Bundle;
use crate::bundles::{BundleError, Bundles};
use crate::component::{AnyComponent, Queryable};
use crate::group::Groups;
use crate::messages::MessageRegistry;
use crate::query::Condition;
use crate::query::cache::QueryCache;
use crate::registry::{ComponentId, Components, RegisterError};
use crate::resources::Resources;
use crate::storage::SetEntry;

pub use any_error::{AnyError, BevyError, ContextExt, Result, ResultSeverityExt, Severity, match_severity};
pub use batch::SpawnBatch;
pub use boxed::InsertByIdError;
pub(crate) use checkpoint::Marking;
pub use checkpoint::{Checkpoint, CheckpointTable, NotCaptured, RestoreError};
pub use clone::{EntityCloner, EntityClonerBuilder, MoveError, OptIn, OptOut};
pub use commands::{
    Command, CommandQueue, CommandStats, Commands, EndlessCommands, EntityCommand, EntityCommands,
    EntityEntryCommands, FlushOrder,
};
pub(crate) use commands::{Ids, Queue};
pub use difference::{Difference, Listing};
pub use digest::NotDigestible;
pub use dynamic::FieldError;
pub use entity_fetch::WorldEntityFetch;
pub use entity_mut::EntityMut;
pub use entity_ref::{EntityLocation, EntityRef, EntityWorldMut};
pub use entity_view::{EntityMutExcept, EntityRefExcept, FilteredEntityMut, FilteredEntityRef};
pub use entry::{ComponentEntry, OccupiedComponentEntry, VacantComponentEntry};
pub use error::{ChangeError, ComponentMissing, EntityFetchError, NoSuchEntity, NotInPool, RequiredByPool};
pub(crate) use failure::Returns;
pub use failure::{BoxedError, CommandOutput, ErrorHandler, Failed, SystemError, ignore, panic, warn};
pub use fields::ComponentDebug;
pub use from_world::FromWorld;
pub use index::NamedError;
pub use migrate::MigrateError;
pub use narrower_queries::ComponentAccess;
pub use non_send::{NonSend, NonSendId, NonSendMut};
pub use phalanx_store::SharedRows;
pub use pools::{PoolEntityError, PoolError, PoolMut, PoolReader, PoolRef};
pub use reactions::*;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use relations::edge_saving;
#[cfg(feature = "serde")]
pub(crate) use relations::{Aside, Relink};
pub use relations::{
    CascadeOrder, ChildSpawner, ChildSpawnerCommands, LinkError, LinkedBy, Links, Pending, RelatedSpawner,
    RelatedSpawnerCommands, Spawn, SpawnIter, SpawnRelated, SpawnRelatedBundle, SpawnWith, SpawnableList,
    WithOneRelated, WithRelated,
};
#[doc(hidden)]
pub(crate) use relations::{QuietLink, Turn};
pub use relations::{
    describe_linked_by, describe_links, describe_relationship, describe_relationship_target,
};
pub use remote::{Answer, Remote, RemoteClosed, TryRunError};
pub use shared::SharedWorld;
pub use sparse::{Sparse, SparseMut};
pub use spawn_at::{ClaimError, SpawnAtError};
pub use stats::{ArchetypeStats, ColumnStats, GroupStats, PoolStats, SetStats, WorldStats};
pub use whole::TryInsertBatchError;

mod any_error;
mod batch;
mod boxed;
mod built;
mod by_id;
mod change;
mod checkpoint;
mod clone;
mod commands;
mod difference;
mod digest;
mod disabling;
mod dynamic;
mod entity_data;
mod entity_fetch;
mod entity_mut;
mod entity_ref;
mod entity_view;
mod entry;
mod error;
mod failure;
mod fields;
mod from_world;
pub(crate) mod groups;
#[cfg(test)]
pub(crate) mod growth_tests;
pub(crate) mod index;
mod kept_queries;
#[cfg(feature = "serde")]
mod loading;
mod migrate;
mod narrower_queries;
pub(crate) mod non_send;
mod parts;
mod pools;
mod queries;
mod reactions;
mod refuse;
mod relations;
mod remote;
mod requirements;
mod shared;
mod singletons;
mod sparse;
mod spawn_at;
mod stats;
mod whole;
mod why;

/// A world of entities.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Debug, PartialEq)]
/// struct Health(f32);
///
/// let mut world = World::new();
/// let e = world.spawn(Health(10.0)).id();
/// world.get_mut::<Health>(e).unwrap().0 -= 3.0;
/// assert_eq!(world.get::<Health>(e), Some(&Health(7.0)));
/// assert!(world.despawn(e));
/// assert!(!world.contains(e));
/// ```
///
/// # Values that panic when they are dropped
/// A world drops values when they are no part of it any more. One that panics keeps no other from being dropped:
/// despawning, removing, [`World::clear_entities`] and dropping the world go on with the other values, drop none twice,
/// and pass the first panic on at the end; later panics are not reported. A world that is dropped while another
/// panic unwinds passes none on.
///
/// Two panics within the drop of *one* value end the process, as they do everywhere in Rust: of two fields of a
/// component, or of two components of one bundle that are replaced together, or that were never inserted.
pub struct World {
    /// Differs between the worlds of a process.
    id: u64,
    alive: non_send::Alive,
    inbox: remote::Inbox,
    pub(crate) store: Store,
    pub(crate) components: Components,
    pub(crate) bundles: Bundles,
    pub(crate) archetypes: Archetypes,
    pub(crate) resources: Resources,
    pub(crate) messages: MessageRegistry,
    pub(crate) commands: commands::Deferred,
    pub(crate) handler: Option<ErrorHandler>,
    pub(crate) queries: QueryCache,
    pub(crate) groups: Groups,
    pub(crate) reactions: Reactions,
    pub(crate) relations: relations::Relations,
    taking: checkpoint::Taking,
    indexes: index::Indexes,
    /// That each component is lacking which disables entities.
    disabling_conditions: Vec<Condition>,
    /// Indexed by a sparse component's first column: how its values go in and out.
    pub(crate) sets: Vec<SetEntry>,
    /// Indexed by sparse set: whose values are there.
    pub(crate) set_components: Vec<Option<ComponentId>>,
    /// How many components the store knows.
    declared: usize,
    /// What happened after this moment is new to queries that ask for changes.
    pub(crate) last_tick: Tick,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for World {
    /// Drops what is the user's, one by one: a second panic while the fields are dropped would end the process.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.guard(|| drop(std::mem::take(&mut self.inbox)));
        panics.guard(|| drop(std::mem::take(&mut self.store)));
        self.resources.drop_all(&mut panics);
        self.messages.drop_all(&mut panics);
        self.commands.queue.drop_all(&mut panics);
        panics.resume_unless_panicking();
    }
}

impl World {
    /// An empty world.
    pub fn new() -> Self {
        Self::with_entities(Entities::new())
    }

    /// An empty world that never has more than `limit` entity slots.
    pub fn with_entity_limit(limit: u32) -> Self {
        Self::with_entities(Entities::with_limit(limit))
    }

    fn with_entities(entities: Entities) -> Self {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            alive: non_send::Alive::default(),
            inbox: remote::Inbox::default(),
            store: Store::with_entities(entities),
            components: Components::default(),
            bundles: Bundles::new(),
            archetypes: Archetypes::new(),
            resources: Resources::new(),
            messages: MessageRegistry::new(),
            commands: commands::Deferred::default(),
            handler: None,
            queries: QueryCache::default(),
            groups: Groups::default(),
            reactions: Reactions::default(),
            relations: relations::Relations::default(),
            taking: checkpoint::Taking::default(),
            indexes: index::Indexes::default(),
            disabling_conditions: Vec::new(),
            sets: Vec::new(),
            set_components: Vec::new(),
            declared: 0,
            last_tick: Tick::ZERO,
        }
    }

    /// A number that no other world of the process has.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Registers a component and those it requires, and returns its id.
    ///
    /// Spawning and inserting register on their own; this is for fixing ids early.
    ///
    /// # Panics
    /// When another component has the name; see [`World::try_register_component`].
    #[track_caller]
    pub fn register_component<C: AnyComponent>(&mut self) -> ComponentId {
        match self.try_register_component::<C>() {
            Ok(id) => id,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`World::register_component`], with an error instead of a panic.
    ///
    /// # Errors
    /// When another component has the name.
    pub fn try_register_component<C: AnyComponent>(&mut self) -> Result<ComponentId, RegisterError> {
        let id = self.components.register::<C>()?;
        self.declare_columns();
        Ok(id)
    }

    /// Checks a bundle type: its components are registered, none occurs twice.
    ///
    /// # Errors
    /// Names the component that is wrong.
    pub fn register_bundle<B: Bundle>(&mut self) -> Result<(), BundleError> {
        self.bundles.register::<B>(&mut self.components)?;
        self.declare_columns();
        self.update_set_policies();
        Ok(())
    }

    /// Makes components known that were registered in `components` alone.
    #[cfg(feature = "serde")]
    pub(crate) fn declare_components(&mut self) {
        self.declare_columns();
    }

    /// Makes the columns of all components known to the store, so that they have cells for every table.
    fn declare_columns(&mut self) {
        for info in self.components.iter().skip(self.declared) {
            for &column in info.columns() {
                self.store.declare(column);
            }
            if let Some(declare) = info.declare_set() {
                let (set, plan) = declare(&mut self.store, info.columns());
                self.set_components.resize(set.index(), None);
                self.set_components.push(Some(info.id()));
                let column = info.columns()[0].index();
                if self.sets.len() <= column {
                    self.sets.resize_with(column + 1, || SetEntry::new(SetPlan::closed()));
                }
                self.sets[column] = SetEntry::new(plan.unwrap_or_else(SetPlan::closed));
            }
        }
        let declared = std::mem::replace(&mut self.declared, self.components.len());
        for id in (declared..self.declared).map(ComponentId::from_index) {
            self.declare_hooks(id);
            self.declare_relation(id);
            self.declare_disabling(id);
        }
        self.update_queries();
    }

    /// The id of a component, if it is registered.
    pub fn component_id<C: AnyComponent>(&self) -> Option<ComponentId> {
        self.components.component_id::<C>()
    }

    /// The components the world knows.
    pub fn components(&self) -> &Components {
        &self.components
    }

    /// The archetypes of the world.
    pub fn archetypes(&self) -> &Archetypes {
        &self.archetypes
    }

    /// The entities of the world.
    pub fn entities(&self) -> &Entities {
        self.store.entities()
    }

    /// Whether the entity is alive.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.store.entities().contains(entity)
    }

    /// The archetype of an entity; `None` when it is dead.
    pub fn archetype_of(&self, entity: Entity) -> Option<ArchetypeId> {
        Some(self.archetypes.of_table(self.store.locate(entity)?.table))
    }

    /// Reserves an id from a shared world. It comes alive, without components, at the next [`World::flush`] or
    /// structural change.
    ///
    /// Ids reserved by several threads are unique, but which thread gets which is up to chance. In systems,
    /// [`Commands`] give ids in the order of the schedule.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn reserve_entity(&self) -> Entity {
        match self.store.reserve_entity() {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        }
    }

    /// Despawns an entity and drops its components. False when it was dead already.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orc = world.spawn(Health(10.0)).id();
    /// assert!(world.despawn(orc));
    /// assert!(!world.despawn(orc), "it is dead already");
    /// ```
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        if self.reactions.is_active() { self.despawn_heard(entity) } else { self.store.despawn(entity) }
    }

    /// As [`World::despawn`], where some component has listeners. A call of its own: the other way stays short.
    #[inline(never)]
    fn despawn_heard(&mut self, entity: Entity) -> bool {
        if !self.is_end_heard(entity) {
            return self.store.despawn(entity);
        }
        if self.has_linked_relations() { self.despawn_linked(entity) } else { self.despawn_announced(entity) }
    }

    /// Despawns an entity, and no other, and announces it.
    pub(crate) fn despawn_announced(&mut self, entity: Entity) -> bool {
        crate::steps::count();
        if let Some(begun) = self.begin_despawning(entity) {
            // It has no observer.
            return self.announced_as(begun, entity, |world| world.store.despawn(entity));
        }
        let changes = self.foresee_despawn(entity);
        self.announced(entity, &changes, |world| {
            let outcome = catch_unwind(AssertUnwindSafe(|| world.store.despawn(entity)));
            if world.reactions.observes_entities() {
                world.forget_observed(entity);
            }
            outcome.unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// As [`World::despawn`], with an error for a dead entity.
    ///
    /// # Errors
    /// When the entity is dead.
    pub fn try_despawn(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        if self.despawn(entity) { Ok(()) } else { Err(NoSuchEntity::new(entity)) }
    }

    /// Despawns everything. Archetypes, resources and ids of components stay; ids of entities are dead.
    ///
    /// What hooks and observers of the entities spawn meanwhile stays.
    pub fn clear_entities(&mut self) {
        if self.is_any_end_heard() {
            let entities: Vec<Entity> = self.entities().iter().collect();
            self.despawn_batch(entities);
        } else {
            self.store.clear_entities();
        }
    }

    /// Reads a component, or one field of one (`get::<position::x>`).
    ///
    /// `None` when the entity is dead or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orc = world.spawn(Health(10.0)).id();
    /// assert_eq!(world.get::<Health>(orc), Some(&Health(10.0)));
    /// assert!(world.get::<Burning>(orc).is_none());
    /// ```
    #[inline]
    pub fn get<T: Queryable>(&self, entity: Entity) -> Option<T::Ref<'_>> {
        self.store.get::<T::Read>(entity, T::ids()).map(T::wrap_ref)
    }

    /// Writes a component, or one field of one. What is new in it is what came after
    /// [`clear_trackers`](World::clear_trackers).
    ///
    /// `None` when the entity is dead or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orc = world.spawn(Health(10.0)).id();
    /// if let Some(mut health) = world.get_mut::<Health>(orc) {
    ///     health.0 -= 3.0;
    /// }
    /// assert_eq!(world.get::<Health>(orc), Some(&Health(7.0)));
    /// ```
    #[inline]
    pub fn get_mut<T: Queryable>(&mut self, entity: Entity) -> Option<T::Mut<'_>> {
        let since = self.last_tick;
        self.store.get_mut::<T::Write>(entity, T::ids()).map(|item| T::wrap_mut(item, since))
    }

    /// Makes room for `additional` more entities.
    ///
    /// # Panics
    /// When there is no memory for them.
    pub fn reserve(&mut self, additional: usize) {
        self.store.reserve_entities(additional);
    }

    /// Makes room for `additional` more entities with the components of `B`.
    ///
    /// # Panics
    /// When `B` cannot be used as a bundle, or there is no memory for as many rows.
    #[track_caller]
    pub fn reserve_rows<B: Bundle>(&mut self, additional: usize) {
        let at = self.first_insertion::<B>();
        let table = self.archetypes.edges.at(at).target();
        self.store.reserve_rows(table, additional);
        self.store.reserve_entities(additional);
    }

    /// Gives memory back that holds nothing.
    pub fn shrink_to_fit(&mut self) {
        self.store.shrink_to_fit();
    }

    /// Drops the archetypes that no entity has, and returns how many. Their ids may be used again.
    ///
    /// A world does so by itself, between two changes, when archetypes have hundreds of thousands of components together:
    /// each one takes memory for every component, whether it has entities or not.
    pub fn drop_empty_archetypes(&mut self) -> usize {
        let dropped = self.archetypes.drop_empty(&mut self.store);
        self.commands.merge.forget_edges();
        self.update_queries();
        dropped
    }

    /// Drops the archetypes that no entity has, when there are far too many: for where a change begins, or has ended.
    #[inline]
    pub(crate) fn make_room_for_archetypes(&mut self) {
        if self.archetypes.is_crowded() {
            self.drop_empty_archetypes();
        }
    }

    /// Puts the free entity slot `index` forward to a generation, so that tests reach the end of the counter.
    #[doc(hidden)]
    pub fn set_free_generation_for_tests(&mut self, index: u32, generation: u32) {
        self.store.set_free_generation_for_tests(index, generation);
    }

    /// Verifies everything the world knows about itself. Slow: for tests.
    ///
    /// # Errors
    /// Says what does not hold.
    pub fn check(&self) -> Result<(), String> {
        self.store.check()?;
        self.archetypes.check(&self.components, &self.store)?;
        self.check_relations()?;
        self.check_pools()
    }
}
