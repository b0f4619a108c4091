//! Loading a save into a world that lives: entities get ids of that world, and entity fields follow.
//!
//! A [`Loader`] keeps the map from saved entities to those of the world. Loading with it again updates what came
//! before: values are replaced in place, new entities are spawned, those that the save lacks by now are despawned, and
//! components that they lost are removed. What the world added to them on its own stays. Everything that can fail
//! happens before the first change.

use hashbrown::{HashMap, HashSet};
use phalanx_store::{Entity, EntityMap, FirstPanic, SlotState, entity_map_scope};
use serde::de::Deserializer;

use super::decode::{Decoded, Resolved, decode};
use super::error::LoadError;
use super::image::Image;
use super::plan::id;
use super::registry::SaveRegistry;
use super::{build, read};
use crate::component::Leftover;
use crate::pool::PoolId;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::{Aside, Relink, World};

/// The map between the entities of a save and those of a world into which it is loaded, perhaps again and again.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::save::{Loader, SaveRegistry};
///
/// #[derive(Component, serde::Serialize, serde::Deserialize)]
/// #[component(save)]
/// struct Follows(Entity);
///
/// let mut level = World::new();
/// let leader = level.spawn_empty().id();
/// let pupil = level.spawn(Follows(leader)).id();
/// let save = level.save(serde_json::value::Serializer).unwrap().output;
///
/// let mut types = SaveRegistry::new();
/// types.register::<Follows>();
/// let mut world = World::new();
/// world.spawn_empty();
/// let mut loader = Loader::new();
/// loader.load_into(&mut world, save, &types).unwrap();
/// let (leader, pupil) = (loader.get(leader).unwrap(), loader.get(pupil).unwrap());
/// assert_eq!(world.get::<Follows>(pupil).unwrap().0, leader);
/// ```
#[derive(Default)]
pub struct Loader {
    /// From the save's entities to the world's, sorted.
    known: EntityMap,
    /// What the last load gave each of the world's entities.
    given: HashMap<Entity, Vec<ComponentId>>,
}

/// What loading into a world did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedInto {
    /// How many entities are new.
    pub spawned: usize,
    /// How many were there already.
    pub updated: usize,
    /// How many are gone.
    pub despawned: usize,
    /// Components that the registry does not know, and that were left out.
    pub ignored: Vec<String>,
}

impl Loader {
    /// Knows no entity yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entity of the world that stands for one of the save.
    pub fn get(&self, saved: Entity) -> Option<Entity> {
        self.known.get(saved)
    }

    /// All entities: the save's, and the world's for each.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> + '_ {
        self.known.iter()
    }

    /// Loads a save into a world, or brings what was loaded before up to date. Resources are replaced; messages and
    /// groups stay as they are in the world.
    ///
    /// Links between what was loaded become those of the save, in its order. Links of the world's own entities to them
    /// are taken away meanwhile and come back, behind those of the save: their observers are notified of both.
    ///
    /// Values that come or are replaced are not announced: hooks and observers do not run. What the save lacks by now goes
    /// as if the program removed or despawned it, and is announced.
    ///
    /// # Errors
    /// As for [`World::load`]. The entities, components and resources of the world are as they were then.
    pub fn load_into<'de, D: Deserializer<'de>>(
        &mut self,
        world: &mut World,
        deserializer: D,
        registry: &SaveRegistry,
    ) -> Result<LoadedInto, LoadError> {
        let mut image = entity_map_scope(None, || read(deserializer))?;
        image.messages.clear();
        image.groups.clear();
        world.store.flush();
        let living = |(index, slot): (u32, &SlotState)| match slot {
            SlotState::Alive(generation) => id(index, *generation),
            _ => None,
        };
        let saved: Vec<Entity> = (0u32..).zip(&image.directory.slots).filter_map(living).collect();
        let known = |saved: Entity| self.known.get(saved).filter(|&local| world.contains(local));
        let count = saved.iter().filter(|&&saved| known(saved).is_none()).count();
        let fresh = world.store.entities().next_ids(count);
        if fresh.len() < count {
            return Err(LoadError::invalid("the entity slots", "the world has no room for so many entities"));
        }
        let mut next = fresh.iter().copied();
        let pairs = saved.iter().filter_map(|&saved| Some((saved, known(saved).or_else(|| next.next())?)));
        let map = EntityMap::new(pairs);
        if has_relations(&image, registry)? {
            // Whether both halves agree shows in a world of their own.
            let now = phalanx_store::Store::new().tick();
            entity_map_scope(None, || build::build(decode(image.clone(), registry, now)?, registry))?;
        }
        let now = world.read_change_tick();
        let decoded = entity_map_scope(Some(map.clone()), || decode(image, registry, now))?;
        let ids = build::register(world, &decoded.components)?;
        let pools = build::register_pools(world, &decoded.pools, registry)?;
        build::check_pools(world, &decoded, &ids, &pools)?;
        self.check_homes(world, &decoded, &map, &pools)?;
        let put_back = self.set_links_aside(world, &map, &ids);
        let (done, leftovers) = self.apply(world, decoded, map, &fresh, &ids, &pools);
        world.relations.all_changed();
        put_back.into_iter().for_each(|put_back| put_back(world));
        world.flush();
        debug_assert_eq!(world.check_relations(), Ok(()));
        // Values that were replaced are the user's: they go last, all of them.
        let mut panics = FirstPanic::default();
        leftovers.into_iter().for_each(|leftover| panics.guard(|| drop(leftover)));
        panics.resume();
        Ok(done)
    }

    /// Takes the links away that earlier loads made, and those of the world's own entities to what was loaded, which are
    /// to be put back. Afterwards both halves can be loaded as they are saved.
    fn set_links_aside(
        &self,
        world: &mut World,
        map: &EntityMap,
        ids: &[Option<ComponentId>],
    ) -> Vec<Relink> {
        let mut halves: Vec<ComponentId> =
            self.given.values().flatten().chain(ids.iter().flatten()).copied().collect();
        halves.sort_unstable();
        halves.dedup();
        halves.retain(|&id| world.is_half_of_relation(id));
        let mut put_back = Vec::new();
        let (edges, halves): (Vec<_>, Vec<_>) = halves.into_iter().partition(|&id| world.is_end_of_edges(id));
        let loaded: HashSet<Entity> = self.known.iter().map(|(_, local)| local).collect();
        let known: Vec<_> =
            self.known.iter().map(|(saved, local)| (local, map.get(saved).is_some())).collect();
        for id in edges {
            world.set_edges_aside(id, &Aside { loaded: &loaded, known: &known }, &mut put_back);
        }
        let (lists, links): (Vec<_>, Vec<_>) = halves.into_iter().partition(|&id| world.is_list(id));
        for (_, local) in self.known.iter() {
            links.iter().for_each(|&id| world.unlink_half(local, id, &mut put_back));
        }
        // What points at an entity that is about to go shares its fate.
        for (_, local) in self.known.iter().filter(|(saved, _)| map.get(*saved).is_some()) {
            lists.iter().for_each(|&id| world.unlink_half(local, id, &mut put_back));
        }
        put_back
    }

    /// Whether entities that are there already are in the pools where the save has them.
    fn check_homes(
        &self,
        world: &World,
        decoded: &Decoded,
        map: &EntityMap,
        pools: &[PoolId],
    ) -> Result<(), LoadError> {
        for table in &decoded.tables {
            for &saved in &table.entities {
                let local = map.get(saved).filter(|&local| world.contains(local));
                let elsewhere = local.filter(|&local| world.pool_of(local) != Some(pools[table.pool]));
                if let Some(local) = elsewhere {
                    let message = "it is in another pool than in the save: migrate it first";
                    return Err(LoadError::invalid(format_args!("entity {saved}, here {local}"), message));
                }
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        world: &mut World,
        decoded: Decoded,
        map: EntityMap,
        fresh: &[Entity],
        ids: &[Option<ComponentId>],
        pools: &[PoolId],
    ) -> (LoadedInto, Vec<Leftover>) {
        let gone: Vec<Entity> = self
            .known
            .iter()
            .filter(|(saved, _)| map.get(*saved).is_none())
            .map(|(_, local)| local)
            .collect();
        let mut done =
            LoadedInto { spawned: fresh.len(), updated: map.len() - fresh.len(), ..LoadedInto::default() };
        for &expected in fresh {
            let spawned = world.store.spawn_rowless().ok();
            assert_eq!(spawned, Some(expected), "the next ids were asked for just now");
        }
        let unknown = decoded.components.iter().filter(|component| component.is_unknown());
        done.ignored = unknown.map(|component: &Resolved| component.name().to_owned()).collect();
        let new: HashSet<Entity> = fresh.iter().copied().collect();
        let mut given: HashMap<Entity, Vec<ComponentId>> = HashMap::new();
        let mut leftovers: Vec<Leftover> = Vec::new();
        let here = |saved: Entity| map.get(saved).expect("the parts of a save agree on who is alive");
        for mut table in decoded.tables {
            let columns: Vec<Option<ComponentId>> = table.components.iter().map(|&at| ids[at]).collect();
            let all: Vec<ComponentId> = columns.iter().copied().flatten().collect();
            let signature: Signature = all.iter().copied().collect();
            let plain = all.iter().all(|&id| world.set_of(id).is_none());
            for saved in table.entities {
                let local = here(saved);
                given.entry(local).or_default().extend(&all);
                let is_new = new.contains(&local);
                if is_new && plain {
                    world.load_rows(pools[table.pool], signature.clone(), &[local], &mut table.columns);
                    continue;
                }
                for (&id, column) in columns.iter().zip(&mut table.columns) {
                    if let Some(id) = id {
                        world.load_value(local, id, column, &mut leftovers);
                    }
                }
            }
        }
        for mut set in decoded.sets.into_iter().chain(decoded.late) {
            let Some(id) = ids[set.component] else { continue };
            for saved in set.entities {
                let local = here(saved);
                given.entry(local).or_default().push(id);
                world.load_value(local, id, &mut set.column, &mut leftovers);
            }
        }
        world.index_edges().expect("both ends were compared before");
        for (saved, local) in map.iter() {
            debug_assert!(world.contains(local), "{saved} is alive");
            let (before, now) = (self.given.get(&local), given.get(&local));
            for &id in before.into_iter().flatten() {
                if now.is_none_or(|now| !now.contains(&id)) {
                    world.entity_mut(local).remove_by_id(id);
                }
            }
        }
        done.despawned = gone.into_iter().filter(|&local| world.despawn(local)).count();
        for resource in decoded.resources {
            leftovers.extend(resource.insert(world));
        }
        (self.known, self.given) = (map, given);
        (done, leftovers)
    }
}

/// Whether a component of a save is half of a relation.
fn has_relations(image: &Image, registry: &SaveRegistry) -> Result<bool, LoadError> {
    let mut probe = World::new();
    for component in &image.components {
        let name = registry.path(&component.name, component.version).name;
        let Some(entry) = registry.find_component(&name) else { continue };
        let id = (entry.register)(&mut probe.components);
        let id = id.map_err(|error| LoadError::invalid(format_args!("component `{name}`"), error))?;
        if probe.is_half_of_relation(id) {
            return Ok(true);
        }
    }
    Ok(false)
}
