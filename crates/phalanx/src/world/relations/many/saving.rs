//! How edges are saved, and what loading them needs.
//!
//! A save has both ends, so that both orders are kept: the edges of each source, and the sources of each target. The places
//! beside them follow from the orders, and are found again when all of a save is there.

use std::fmt::Display;

use hashbrown::{HashMap, HashSet};
use phalanx_store::Entity;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{LinkedBy, Links, place};
use crate::component::{ComponentSaving, Rest, Saved};
use crate::names::short_type;
use crate::query::Everyone;
use crate::registry::ComponentId;
use crate::relation::{EdgeSaving, ManyRelationship};
use crate::world::World;
use crate::world::relations::upkeep::Relink;

impl<R: ManyRelationship + Serialize> Serialize for Links<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.edges.serialize(serializer)
    }
}

impl<'de, R: ManyRelationship + Deserialize<'de>> Deserialize<'de> for Links<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { edges: Vec::deserialize(deserializer)?, places: Vec::new() })
    }
}

impl<R: ManyRelationship> Serialize for LinkedBy<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.sources.serialize(serializer)
    }
}

impl<'de, R: ManyRelationship> Deserialize<'de> for LinkedBy<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { sources: Vec::deserialize(deserializer)?, ..Self::empty() })
    }
}

impl<R: ManyRelationship + Serialize + DeserializeOwned> Saved for Links<R> {
    const VERSION: u32 = 1;
    const IN_RELATION: bool = true;

    fn with_value(row: &Self, f: &mut dyn FnMut(&Self)) {
        f(row);
    }

    fn rest(row: &Self, is_saved: &dyn Fn(Entity) -> bool) -> Rest<Self> {
        let edges: Vec<R> = row.iter().filter(|edge| is_saved(edge.target())).cloned().collect();
        Rest::of_so_many(edges.len(), row.len(), || Self { edges, ..Self::empty() })
    }
}

impl<R: ManyRelationship> Saved for LinkedBy<R> {
    const VERSION: u32 = 1;
    const IN_RELATION: bool = true;

    fn with_value(row: &Self, f: &mut dyn FnMut(&Self)) {
        f(row);
    }

    fn rest(row: &Self, is_saved: &dyn Fn(Entity) -> bool) -> Rest<Self> {
        let sources: Vec<Entity> = row.iter().copied().filter(|&source| is_saved(source)).collect();
        Rest::of_so_many(sources.len(), row.len(), || Self { sources, ..Self::empty() })
    }
}

/// How the edges of a relation are saved whose values have this version.
#[doc(hidden)]
pub fn edge_saving<R: ManyRelationship + Serialize + DeserializeOwned>(version: u32) -> EdgeSaving {
    let links = ComponentSaving { version, of_lists: true, ..ComponentSaving::of::<Links<R>>() };
    EdgeSaving { links, linked_by: ComponentSaving::of::<LinkedBy<R>>() }
}

/// What loading does with the edges of a relation whose type it does not know.
#[derive(Clone, Copy)]
pub(in crate::world::relations) struct EdgeLoading {
    /// Finds the places of entries that were loaded.
    index: fn(&mut World) -> Result<(), String>,
    /// Empties all lists, without an announcement.
    forget: fn(&mut World),
    /// Takes away the edges of entities that are loaded again.
    set_aside: fn(&mut World, &Aside<'_>, &mut Vec<Relink>),
}

/// The entities that an earlier load made.
pub(crate) struct Aside<'a> {
    pub(crate) loaded: &'a HashSet<Entity>,
    /// All of them in order, and whether they are still in the save.
    pub(crate) known: &'a [(Entity, bool)],
}

impl EdgeLoading {
    pub(super) fn of<R: ManyRelationship>() -> Self {
        Self { index: index::<R>, forget: forget::<R>, set_aside: set_aside::<R> }
    }
}

impl World {
    /// Finds the places of edges that were loaded.
    ///
    /// # Errors
    /// When the two ends do not have the same edges; then all lists are empty, so that the world can be cleared.
    pub(crate) fn index_edges(&mut self) -> Result<(), String> {
        let kinds: Vec<EdgeLoading> = self.relations.edges.iter().map(|kind| kind.loading).collect();
        let indexed = kinds.iter().try_for_each(|kind| (kind.index)(self));
        indexed.inspect_err(|_| kinds.iter().for_each(|kind| (kind.forget)(self)))
    }

    /// Takes away the edges of entities that are loaded again, of the relation that a component is one end of. Those with
    /// the world's own entities are to be put back.
    pub(crate) fn set_edges_aside(&mut self, id: ComponentId, aside: &Aside<'_>, put_back: &mut Vec<Relink>) {
        if let Some(kind) = self.components.info(id).attached::<super::EdgeKind>().copied() {
            (kind.loading.set_aside)(self, aside, put_back);
        }
    }
}

/// From each edge, as source and target, to its place in a list.
type Listed = HashMap<(Entity, Entity), u32>;

fn note<R: ManyRelationship>(
    listed: &mut Listed,
    edges: impl Iterator<Item = (Entity, Entity)>,
) -> Result<(), String> {
    for (at, (source, target)) in edges.enumerate() {
        if listed.insert((source, target), place(at)).is_some() {
            let relation = short_type::<R>();
            return Err(format!("{source} has `{relation}` to {target} twice"));
        }
    }
    Ok(())
}

/// The places of edges in the lists of the other end.
fn places_of<R: ManyRelationship>(
    listed: &Listed,
    edges: impl Iterator<Item = (Entity, Entity)>,
    lacks: impl Display,
) -> Result<Vec<u32>, String> {
    let place = |(source, target)| {
        let message = || format!("`{}` from {source} to {target}: {lacks}", short_type::<R>());
        listed.get(&(source, target)).copied().ok_or_else(message)
    };
    edges.map(place).collect()
}

fn index<R: ManyRelationship>(world: &mut World) -> Result<(), String> {
    let (mut in_links, mut in_lists) = (Listed::new(), Listed::new());
    let links = world.view_filtered::<(Entity, &Links<R>), Everyone>();
    for (source, links) in &links {
        note::<R>(&mut in_links, links.iter().map(|edge| (source, edge.target())))?;
    }
    let lists = world.view_filtered::<(Entity, &LinkedBy<R>), Everyone>();
    for (target, list) in &lists {
        note::<R>(&mut in_lists, list.iter().map(|&source| (source, target)))?;
    }
    let mut mended = Vec::new();
    for (source, links) in &links {
        let edges = links.iter().map(|edge| (source, edge.target()));
        let places = places_of::<R>(&in_lists, edges, "the target does not list it")?;
        if places != links.places {
            mended.push((source, places));
        }
    }
    let mut mended_lists = Vec::new();
    for (target, list) in &lists {
        let edges = list.iter().map(|&source| (source, target));
        let places = places_of::<R>(&in_links, edges, "the source does not have it")?;
        if places != list.places {
            mended_lists.push((target, places));
        }
    }
    for (source, places) in mended {
        if let Some(links) = world.get_mut::<Links<R>>(source) {
            links.into_mut().places = places;
        }
    }
    for (target, places) in mended_lists {
        if let Some(list) = world.get_mut::<LinkedBy<R>>(target) {
            list.into_mut().places = places;
        }
    }
    Ok(())
}

fn forget<R: ManyRelationship>(world: &mut World) {
    let sources: Vec<Entity> =
        world.view_filtered::<(Entity, &Links<R>), Everyone>().iter().map(|(entity, _)| entity).collect();
    for source in sources {
        if let Some(links) = world.get_mut::<Links<R>>(source) {
            *links.into_mut() = Links::empty();
        }
    }
    let targets: Vec<Entity> =
        world.view_filtered::<(Entity, &LinkedBy<R>), Everyone>().iter().map(|(entity, _)| entity).collect();
    for target in targets {
        if let Some(list) = world.get_mut::<LinkedBy<R>>(target) {
            *list.into_mut() = LinkedBy::empty();
        }
    }
}

fn set_aside<R: ManyRelationship>(world: &mut World, aside: &Aside<'_>, put_back: &mut Vec<Relink>) {
    let mut take = |world: &mut World, source: Entity, target: Entity, stays: bool| {
        let Some(edge) = world.unlink::<R>(source, target).filter(|_| stays) else { return };
        put_back.push(Box::new(move |world| {
            // An exclusive edge that came from the save is the one that stays.
            let is_taken = |entity| R::EXCLUSIVE && !world.related::<R>(entity).is_empty();
            if !(is_taken(source) || R::SYMMETRIC && is_taken(target)) {
                let _ = world.link(source, edge);
            }
        }));
    };
    for &(entity, stays) in aside.known {
        let targets: Vec<Entity> = world.related::<R>(entity).iter().map(R::target).collect();
        for target in targets {
            take(world, entity, target, stays && !aside.loaded.contains(&target));
        }
        // What points at an entity that is about to go loses its edge with it.
        let sources = if stays { world.relating::<R>(entity).to_vec() } else { Vec::new() };
        for source in sources.into_iter().filter(|source| !aside.loaded.contains(source)) {
            take(world, source, entity, true);
        }
    }
}
