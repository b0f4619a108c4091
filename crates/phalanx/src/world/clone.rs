//! Cloning entities: which of their components, with which other entities, and into what.
//!
//! A clone is planned first: the entities that are cloned over linked relations, each with the new one that stands for
//! it. Then the values of each are captured, with the entities they hold mapped, and put into place in one move. The
//! user's `Clone` runs while nothing has been changed for that entity. Lists of relations are not copied: they follow
//! from the links. `place` puts values into place, `batch` makes many clones at once.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hashbrown::{HashMap, HashSet};
use phalanx_store::{Entity, FirstPanic};

use super::World;
use super::batch::for_each_despite_panics;
use crate::bundle::Bundle;
use crate::component::{Copier, EntityMap, EntityMapper};
use crate::registry::ComponentId;
use crate::signature::Signature;
use place::Made;

mod batch;
mod entity;
mod place;

/// Clones entities of a world.
///
/// Components whose types are not `Clone` are left out, and so are the lists of relations, which follow from the
/// clones of those that point. Edges of relations of many to many are cloned among the entities that are cloned together.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::world::EntityCloner;
///
/// #[derive(Component, Clone, Debug, PartialEq)]
/// struct Health(u32);
/// #[derive(Component, Clone)]
/// struct Secret;
///
/// let mut world = World::new();
/// let orc = world.spawn((Health(7), Secret)).id();
/// let mut builder = EntityCloner::build_opt_out(&mut world);
/// builder.deny::<Secret>();
/// let mut cloner = builder.finish();
/// let twin = cloner.spawn_clone(&mut world, orc);
/// assert_eq!(world.get::<Health>(twin), Some(&Health(7)));
/// assert!(world.get::<Secret>(twin).is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct EntityCloner {
    choice: Choice,
    linked: bool,
    keeps_existing: bool,
}

#[derive(Clone, Debug)]
enum Choice {
    Except(Signature),
    Only(Signature),
}

impl Default for Choice {
    fn default() -> Self {
        Self::Except(Signature::empty())
    }
}

/// Everything is cloned but what is denied.
#[derive(Clone, Copy, Debug)]
pub enum OptOut {}
/// Nothing is cloned but what is allowed.
#[derive(Clone, Copy, Debug)]
pub enum OptIn {}

/// Says what an [`EntityCloner`] clones.
pub struct EntityClonerBuilder<'w, Filter> {
    world: &'w mut World,
    cloner: EntityCloner,
    filter: PhantomData<Filter>,
}

impl EntityCloner {
    /// A cloner of everything that is not denied.
    pub fn build_opt_out(world: &mut World) -> EntityClonerBuilder<'_, OptOut> {
        EntityClonerBuilder { world, cloner: Self::default(), filter: PhantomData }
    }

    /// A cloner of what is allowed.
    pub fn build_opt_in(world: &mut World) -> EntityClonerBuilder<'_, OptIn> {
        let choice = Choice::Only(Signature::empty());
        EntityClonerBuilder { world, cloner: Self { choice, ..Self::default() }, filter: PhantomData }
    }

    /// Whether entities are cloned that are linked to a cloned one.
    pub fn linked_cloning(&self) -> bool {
        self.linked
    }

    /// Spawns a clone.
    ///
    /// # Panics
    /// When the entity is dead.
    #[track_caller]
    pub fn spawn_clone(&mut self, world: &mut World, source: Entity) -> Entity {
        let target = world.spawn_empty().id();
        self.clone_entity(world, source, target);
        target
    }

    /// Clones components of one entity into another one. Those that it has are replaced.
    ///
    /// # Panics
    /// When one of them is dead.
    #[track_caller]
    pub fn clone_entity(&mut self, world: &mut World, source: Entity, target: Entity) {
        self.clone_entity_mapped(world, source, target, &mut EntityMap::new());
    }

    /// As [`EntityCloner::clone_entity`], with a mapper that says which entities stand for those that values hold, and
    /// is told of the entities that are cloned.
    ///
    /// # Panics
    /// When one of the entities is dead.
    #[track_caller]
    pub fn clone_entity_mapped(
        &mut self,
        world: &mut World,
        source: Entity,
        target: Entity,
        mapper: &mut dyn EntityMapper,
    ) -> Entity {
        for entity in [source, target] {
            if let Err(error) = world.get_entity(entity) {
                panic!("{error}");
            }
        }
        let pairs = self.pairs(world, source, target, mapper);
        let edges = world.copy_edges(&pairs, |id| self.chooses(world, id));
        // Those that are linked follow although values or handlers of one panic.
        let mut panics = FirstPanic::default();
        for (source, target) in pairs {
            panics.guard(|| {
                let mut made = self.capture(world, source, mapper, |_| true);
                if self.keeps_existing {
                    let has = |id| world.get_entity(target).is_ok_and(|target| target.contains_id(id));
                    made.retain(|made| !has(made.id));
                }
                world.insert_made(target, made);
            });
        }
        panics.guard(|| {
            for_each_despite_panics(edges.into_iter(), |put| put(world));
        });
        panics.resume();
        target
    }

    /// The entities that are cloned, each with its clone; the clones of all but the first are spawned.
    fn pairs(
        &self,
        world: &mut World,
        source: Entity,
        target: Entity,
        mapper: &mut dyn EntityMapper,
    ) -> Vec<(Entity, Entity)> {
        mapper.set_mapped(source, target);
        let mut pairs = vec![(source, target)];
        if !self.linked {
            return pairs;
        }
        let mut known: HashMap<Entity, ()> = HashMap::from([(source, ())]);
        let (mut at, mut sources) = (0, Vec::new());
        while let Some(&(entity, _)) = pairs.get(at) {
            world.linked_sources(entity, &mut sources);
            for linked in sources.drain(..) {
                if known.insert(linked, ()).is_none() {
                    let clone = world.spawn_empty().id();
                    mapper.set_mapped(linked, clone);
                    pairs.push((linked, clone));
                }
            }
            at += 1;
        }
        pairs
    }

    /// What an entity has of the chosen components.
    fn capture(
        &self,
        world: &World,
        source: Entity,
        mapper: &mut dyn EntityMapper,
        wanted: impl Fn(&Copier) -> bool,
    ) -> Vec<Made> {
        let Ok(entity) = world.get_entity(source) else { return Vec::new() };
        let ids: Vec<ComponentId> = entity.component_ids().filter(|&id| self.chooses(world, id)).collect();
        ids.into_iter().filter_map(|id| Made::capture(world, source, id, mapper, &wanted)).collect()
    }

    fn chooses(&self, world: &World, id: ComponentId) -> bool {
        if world.is_list(id) {
            return false;
        }
        match &self.choice {
            // What requires something that is denied goes without, too.
            Choice::Except(denied) => {
                let requires = || world.components.requirements(&[id]);
                !denied.has(id)
                    && (denied.is_empty() || !requires().iter().any(|(required, _)| denied.has(*required)))
            }
            Choice::Only(allowed) => allowed.has(id),
        }
    }
}

impl<Filter> EntityClonerBuilder<'_, Filter> {
    /// Whether entities are cloned that are linked to a cloned one (`linked_spawn`), as children are.
    pub fn linked_cloning(&mut self, linked: bool) -> &mut Self {
        self.cloner.linked = linked;
        self
    }

    /// Clones components of one entity into another one.
    ///
    /// # Panics
    /// When one of them is dead.
    #[track_caller]
    pub fn clone_entity(&mut self, source: Entity, target: Entity) -> &mut Self {
        self.cloner.clone_entity(self.world, source, target);
        self
    }

    /// The cloner, to be used again.
    pub fn finish(self) -> EntityCloner {
        self.cloner
    }

    fn choose(&mut self, ids: impl IntoIterator<Item = ComponentId>) {
        let (Choice::Except(chosen) | Choice::Only(chosen)) = &mut self.cloner.choice;
        *chosen = chosen.union(&ids.into_iter().collect());
    }

    #[track_caller]
    fn ids<B: Bundle>(&mut self) -> Vec<ComponentId> {
        let bundle = self.world.bundle::<B>();
        let info = self.world.bundles.info(bundle);
        info.signature.union(&info.sparse).iter().collect()
    }
}

impl EntityClonerBuilder<'_, OptOut> {
    /// Leaves the components of a bundle out, and those that require one of them.
    ///
    /// # Panics
    /// When the bundle cannot be used.
    #[track_caller]
    pub fn deny<B: Bundle>(&mut self) -> &mut Self {
        let ids = self.ids::<B>();
        self.choose(ids);
        self
    }

    /// Leaves components out, by their ids.
    pub fn deny_by_ids(&mut self, ids: impl IntoIterator<Item = ComponentId>) -> &mut Self {
        self.choose(ids);
        self
    }
}

impl EntityClonerBuilder<'_, OptIn> {
    /// Clones the components of a bundle, and those that they require.
    ///
    /// # Panics
    /// When the bundle cannot be used.
    #[track_caller]
    pub fn allow<B: Bundle>(&mut self) -> &mut Self {
        let ids = self.ids::<B>();
        self.allow_by_ids(ids)
    }

    /// As [`allow`](Self::allow), where the target lacks them.
    ///
    /// # Panics
    /// When the bundle cannot be used.
    #[track_caller]
    pub fn allow_if_new<B: Bundle>(&mut self) -> &mut Self {
        self.cloner.keeps_existing = true;
        self.allow::<B>()
    }

    /// Clones components by their ids, and those that they require.
    pub fn allow_by_ids(&mut self, ids: impl IntoIterator<Item = ComponentId>) -> &mut Self {
        let ids: Vec<ComponentId> = ids.into_iter().collect();
        let required = self.world.components.requirements(&ids).into_iter().map(|(id, _)| id);
        let required: Vec<ComponentId> = required.collect();
        self.choose(ids.into_iter().chain(required));
        self
    }
}

/// A component that cannot be taken along, because its type is not `Clone`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveError {
    /// The entity is dead.
    NoSuchEntity(Entity),
    /// The type of a component is not `Clone`.
    NotClone {
        /// The entity that has the component.
        entity: Entity,
        /// The component.
        component: String,
    },
    /// The other world has another component of that name.
    NameTaken {
        /// The component.
        component: String,
    },
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity(entity) => write!(f, "{entity} does not exist, so it cannot be moved"),
            Self::NotClone { entity, component } => write!(
                f,
                "{entity} cannot be moved to another world: `{component}` is not `Clone`; derive `Clone` for it, or \
                 remove it first"
            ),
            Self::NameTaken { component } => {
                write!(f, "the other world has another component that is called `{component}`")
            }
        }
    }
}

impl std::error::Error for MoveError {}

/// What entities are in another world; one that stays does not exist there.
struct Moved(EntityMap);

impl EntityMapper for Moved {
    fn get_mapped(&mut self, source: Entity) -> Entity {
        self.0.get(&source).copied().unwrap_or(Entity::PLACEHOLDER)
    }
    fn set_mapped(&mut self, source: Entity, target: Entity) {
        self.0.insert(source, target);
    }
}

impl World {
    /// Moves an entity, and those that are linked to it, to another world, and returns what it is there.
    ///
    /// Values are cloned and then dropped. Entities that values hold are mapped when they move along. Others do not exist in
    /// the other world, where their ids may be those of strangers: links and edges to them are left behind, and other values
    /// hold [`Entity::PLACEHOLDER`] instead.
    ///
    /// # Errors
    /// When the entity is dead, or a component of it cannot be cloned or registered there; nothing has changed then.
    ///
    /// # Panics
    /// When a value does in its `Clone`, or a handler of the other world that has no error handler; nothing has moved then.
    /// When a value does in its drop, and all has moved.
    pub fn move_entity(&mut self, entity: Entity, other: &mut Self) -> Result<Entity, MoveError> {
        if !self.contains(entity) {
            return Err(MoveError::NoSuchEntity(entity));
        }
        let mut sources = vec![entity];
        sources.extend(self.all_linked(entity));
        let movers: HashSet<Entity> = sources.iter().copied().collect();
        let mut planned = Vec::with_capacity(sources.len());
        for &source in &sources {
            planned.push(self.ids_in(source, &movers, other)?);
        }
        let mut map = Moved(EntityMap::new());
        let copying = AssertUnwindSafe(|| self.copy_to(other, &sources, planned, &mut map));
        if let Err(panic) = catch_unwind(copying) {
            // Nothing has gone from here, and nothing stays there.
            for source in &sources {
                FirstPanic::ignore(|| other.despawn(map.get_mapped(*source)));
            }
            resume_unwind(panic);
        }
        self.despawn(entity);
        Ok(map.get_mapped(entity))
    }

    /// Copies entities to another world, each with its components and the edges among them.
    fn copy_to(
        &self,
        other: &mut Self,
        sources: &[Entity],
        planned: Vec<Vec<(ComponentId, ComponentId)>>,
        map: &mut Moved,
    ) {
        for &source in sources {
            map.set_mapped(source, other.spawn_empty().id());
        }
        let pairs: Vec<(Entity, Entity)> =
            sources.iter().map(|&source| (source, map.get_mapped(source))).collect();
        let edges = self.copy_edges(&pairs, |_| true);
        for (&(source, target), ids) in pairs.iter().zip(planned) {
            let made = ids.into_iter().filter_map(|(own, theirs)| {
                let made = Made::capture(self, source, own, map, &|_| true)?;
                Some(Made { id: theirs, ..made })
            });
            let made: Vec<Made> = made.collect();
            other.insert_made(target, made);
        }
        edges.into_iter().for_each(|put| put(other));
    }

    /// The components that an entity takes along to another world, with their ids there, where they are registered.
    fn ids_in(
        &self,
        entity: Entity,
        movers: &HashSet<Entity>,
        other: &mut Self,
    ) -> Result<Vec<(ComponentId, ComponentId)>, MoveError> {
        let stays = |id| self.link_of(entity, id).is_some_and(|target| !movers.contains(&target));
        let is_taken = |&id: &ComponentId| !self.is_list(id) && !self.is_end_of_edges(id) && !stays(id);
        let ids = self.entity(entity).component_ids().filter(is_taken);
        let theirs = |id: ComponentId| {
            let info = self.components.info(id);
            let component = || info.name().to_owned();
            let copier = info
                .attached::<Copier>()
                .filter(|copier| (copier.capture)(&self.store, entity, &mut ()).is_some());
            let Some(copier) = copier else {
                return Err(MoveError::NotClone { entity, component: component() });
            };
            match other.try_register_as(copier.register) {
                Ok(theirs) => Ok((id, theirs)),
                Err(_) => Err(MoveError::NameTaken { component: component() }),
            }
        };
        ids.collect::<Vec<_>>().into_iter().map(theirs).collect()
    }
}
