//! Relations between entities that may be on different ranks.
//!
//! ```text
//!   both here                 ChildOf(parent) ...... Children [a, b, c]
//!   a went to another rank    there: Apart -> id of the parent
//!                             here:  Children [b, c], and a roster [a, b, c] that keeps the place of `a`
//! ```
//!
//! A link travels as the target's [`GlobalId`]. Where both ends are on one rank it is an ordinary link; where they are not,
//! the source has an [`Apart`], and the target the order of all its sources. So no link holds an entity of another rank, and
//! an entity that goes away does not despawn those that are linked to it.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

use phalanx::prelude::*;
use phalanx::relation::{Relationship, RelationshipTarget};
use phalanx::save::SavedComponent;

use crate::cluster::Ghost;
use crate::columns::Rows;
use crate::error::ClusterError;
use crate::ids::GlobalId;
use crate::types::{ComponentEntry, pack_presence, read_presence};
use crate::wire::{Reader, put, put_bytes};

/// The link of an entity whose target is on another rank. It becomes an ordinary link when both are on one rank again.
#[derive(Component)]
#[component(storage = "sparse")]
pub struct Apart<R: Relationship> {
    target: GlobalId,
    /// The link as it was; the entity that it names means nothing here.
    link: R,
}

impl<R: Relationship> Apart<R> {
    /// The target.
    pub fn target(&self) -> GlobalId {
        self.target
    }
}

/// The order of all sources of a target, of which some are on other ranks.
#[derive(Component)]
#[component(storage = "sparse")]
pub(crate) struct Roster<R: Relationship> {
    ids: Vec<GlobalId>,
    kind: PhantomData<fn() -> R>,
}

/// How one relation travels.
#[derive(Clone, Copy)]
pub(crate) struct RelationEntry {
    name: &'static str,
    /// The target of an entity, if it is here.
    pub(crate) target: fn(&World, Entity) -> Option<Entity>,
    /// The id of an entity's target, wherever it is.
    pub(crate) target_id: fn(&World, Entity) -> Option<GlobalId>,
    /// An end of a link at this entity that has no id.
    nameless: fn(&World, Entity) -> Option<Entity>,
    pub(crate) pack_links: fn(&World, &[Entity], &mut Vec<u8>),
    pub(crate) pack_rosters: fn(&World, &[Entity], &mut Vec<u8>),
    pub(crate) unpack_links: fn(&mut World, &[Entity], &mut Reader<'_>) -> Result<(), ClusterError>,
    pub(crate) unpack_rosters: fn(&mut World, &[Entity], &mut Reader<'_>) -> Result<(), ClusterError>,
    /// Links and rosters as parts of a row.
    pub(crate) entries: [ComponentEntry; 2],
    /// Takes links apart whose ends will be on different ranks, and those of entities that leave.
    pub(crate) part: fn(&mut World, &[Entity]),
    /// Links to ghosts become links to ids.
    pub(crate) part_ghosts: fn(&mut World),
    /// The ids that entities here wait for.
    pub(crate) awaited: fn(&World, &mut Vec<GlobalId>),
    /// Forgets ids that are not alive; returns how many entities were despawned with their targets.
    pub(crate) forget: fn(&mut World, &HashSet<GlobalId>) -> u64,
    /// Links what is here again.
    pub(crate) relink: fn(&mut World, &[(GlobalId, Entity)]) -> Result<(), ClusterError>,
}

impl RelationEntry {
    pub(crate) fn of<R: Relationship + SavedComponent>() -> Self {
        Self {
            name: std::any::type_name::<R>(),
            target: |world, entity| world.get::<R>(entity).map(Relationship::get),
            target_id: target_id::<R>,
            nameless: nameless::<R>,
            pack_links: pack_links::<R>,
            pack_rosters: pack_rosters::<R>,
            unpack_links: unpack_links::<R>,
            unpack_rosters: unpack_rosters::<R>,
            entries: [
                ComponentEntry {
                    type_id: TypeId::of::<Apart<R>>(),
                    halo: false,
                    pack: |rows, out| pack_links::<R>(rows.world, rows.entities, out),
                    hash: |rows, hashes| hash_each(rows, hashes, pack_links::<R>),
                    unpack: unpack_links::<R>,
                },
                ComponentEntry {
                    type_id: TypeId::of::<Roster<R>>(),
                    halo: false,
                    pack: |rows, out| pack_rosters::<R>(rows.world, rows.entities, out),
                    hash: |rows, hashes| hash_each(rows, hashes, pack_rosters::<R>),
                    unpack: unpack_rosters::<R>,
                },
            ],
            part: part::<R>,
            part_ghosts: part_ghosts::<R>,
            awaited: awaited::<R>,
            forget: forget::<R>,
            relink: relink::<R>,
        }
    }

    /// Refuses a link to an entity that has no id, and so cannot be found again.
    pub(crate) fn refuse(&self, world: &World, entity: Entity) -> Result<(), ClusterError> {
        let Some(other) = (self.nameless)(world, entity) else { return Ok(()) };
        Err(ClusterError::Nameless { relation: self.name.to_owned(), entity, other })
    }
}

/// The types that a relation brings along.
pub(crate) fn types_of<R: Relationship>() -> [TypeId; 4] {
    [
        TypeId::of::<R>(),
        TypeId::of::<R::RelationshipTarget>(),
        TypeId::of::<Apart<R>>(),
        TypeId::of::<Roster<R>>(),
    ]
}

/// Whether a relation is its target and nothing else, so that its value need not be sent.
const fn is_bare<R>() -> bool {
    size_of::<R>() == size_of::<Entity>()
}

fn id(world: &World, entity: Entity) -> Option<GlobalId> {
    world.get::<GlobalId>(entity).copied()
}

fn sources<R: Relationship>(world: &World, entity: Entity) -> Vec<Entity> {
    world.get::<R::RelationshipTarget>(entity).map(|list| list.iter().collect()).unwrap_or_default()
}

fn target_id<R: Relationship>(world: &World, entity: Entity) -> Option<GlobalId> {
    let linked = world.get::<R>(entity).and_then(|link| id(world, link.get()));
    linked.or_else(|| world.get::<Apart<R>>(entity).map(|apart| apart.target))
}

fn nameless<R: Relationship>(world: &World, entity: Entity) -> Option<Entity> {
    let target = world.get::<R>(entity).map(Relationship::get);
    sources::<R>(world, entity).into_iter().chain(target).find(|&other| id(world, other).is_none())
}

/// The sources of a target in their order, with those on other ranks where they were.
fn roster<R: Relationship>(world: &World, entity: Entity) -> Vec<GlobalId> {
    let mut ids: Vec<GlobalId> =
        sources::<R>(world, entity).into_iter().filter_map(|source| id(world, source)).collect();
    let Some(known) = world.get::<Roster<R>>(entity) else { return ids };
    let here: HashSet<GlobalId> = ids.iter().copied().collect();
    for (at, away) in known.ids.iter().enumerate().filter(|(_, id)| !here.contains(id)) {
        // Behind the one before it, which is here or was put here by this loop.
        let before = known.ids[..at].iter().rev().find_map(|id| ids.iter().position(|other| other == id));
        ids.insert(before.map_or(0, |before| before + 1), *away);
    }
    ids
}

fn pack_links<R: Relationship + SavedComponent>(world: &World, entities: &[Entity], out: &mut Vec<u8>) {
    let mut present = Vec::with_capacity(entities.len());
    let mut links = Vec::new();
    for &entity in entities {
        let apart = world.get::<Apart<R>>(entity).map(|apart| (apart.target, &apart.link));
        let link = world.get::<R>(entity).and_then(|link| Some((id(world, link.get())?, link))).or(apart);
        present.push(link.is_some());
        let Some((target, link)) = link else { continue };
        put(&mut links, target.0);
        if !is_bare::<R>() {
            let bytes = postcard::to_stdvec(link).unwrap_or_else(|error| {
                panic!("a `{}` cannot be sent: {error}", std::any::type_name::<R>());
            });
            put_bytes(&mut links, &bytes);
        }
    }
    pack_presence(&present, out);
    out.append(&mut links);
}

fn pack_rosters<R: Relationship>(world: &World, entities: &[Entity], out: &mut Vec<u8>) {
    let mut present = Vec::with_capacity(entities.len());
    let mut rosters = Vec::new();
    for &entity in entities {
        let ids = roster::<R>(world, entity);
        present.push(!ids.is_empty());
        if !ids.is_empty() {
            put(&mut rosters, ids.len() as u64);
            ids.iter().for_each(|id| put(&mut rosters, id.0));
        }
    }
    pack_presence(&present, out);
    out.append(&mut rosters);
}

/// A number per entity that differs where what is packed of it does.
fn hash_each(rows: &Rows<'_>, hashes: &mut [u64], pack: fn(&World, &[Entity], &mut Vec<u8>)) {
    let mut bytes = Vec::new();
    for (hash, entity) in hashes.iter_mut().zip(rows.entities) {
        bytes.clear();
        pack(rows.world, std::slice::from_ref(entity), &mut bytes);
        *hash = crate::wire::hash(&bytes);
    }
}

fn unpack_links<R: Relationship + SavedComponent>(
    world: &mut World,
    entities: &[Entity],
    reader: &mut Reader<'_>,
) -> Result<(), ClusterError> {
    for (&entity, here) in entities.iter().zip(read_presence(reader, entities.len())?) {
        if !here {
            // The one that an earlier file had is gone.
            if world.get::<Apart<R>>(entity).is_some() {
                world.commands().entity(entity).remove::<Apart<R>>();
            }
            continue;
        }
        let target = GlobalId(reader.number()?);
        let link = if is_bare::<R>() {
            <R as Relationship>::from(Entity::PLACEHOLDER)
        } else {
            let name = std::any::type_name::<R>();
            postcard::from_bytes(reader.bytes()?)
                .map_err(|error| reader.error(format_args!("a `{name}`: {error}")))?
        };
        world.commands().entity(entity).insert(Apart { target, link });
    }
    Ok(())
}

fn unpack_rosters<R: Relationship>(
    world: &mut World,
    entities: &[Entity],
    reader: &mut Reader<'_>,
) -> Result<(), ClusterError> {
    for (&entity, here) in entities.iter().zip(read_presence(reader, entities.len())?) {
        if here {
            let mut ids = Vec::new();
            for _ in 0..reader.count()? {
                ids.push(GlobalId(reader.number()?));
            }
            world.commands().entity(entity).insert(Roster::<R> { ids, kind: PhantomData });
        } else if world.get::<Roster<R>>(entity).is_some() {
            world.commands().entity(entity).remove::<Roster<R>>();
        }
    }
    Ok(())
}

fn keep_roster<R: Relationship>(world: &mut World, target: Entity) {
    let ids = roster::<R>(world, target);
    world.entity_mut(target).insert(Roster::<R> { ids, kind: PhantomData });
}

/// Makes a link to an id of a link to an entity.
fn set_apart<R: Relationship>(world: &mut World, source: Entity, target: GlobalId) {
    if let Some(link) = world.entity_mut(source).take::<R>() {
        world.entity_mut(source).insert(Apart { target, link });
    }
}

fn part<R: Relationship>(world: &mut World, leaving: &[Entity]) {
    let leaves: HashSet<Entity> = leaving.iter().copied().collect();
    for &entity in leaving {
        if let Some(target) = world.get::<R>(entity).map(Relationship::get) {
            if !leaves.contains(&target) {
                keep_roster::<R>(world, target);
            }
            world.entity_mut(entity).remove::<R>();
        }
        let Some(target) = id(world, entity) else { continue };
        for source in sources::<R>(world, entity) {
            if leaves.contains(&source) {
                world.entity_mut(source).remove::<R>();
            } else {
                set_apart::<R>(world, source, target);
            }
        }
    }
}

fn part_ghosts<R: Relationship>(world: &mut World) {
    if world.component_id::<R>().is_none() || world.component_id::<Ghost>().is_none() {
        return;
    }
    let view = world.view_filtered::<(Entity, &GlobalId), (With<R::RelationshipTarget>, With<Ghost>)>();
    let targets: Vec<(Entity, GlobalId)> = view.iter().map(|(entity, id)| (entity, *id)).collect();
    for (target, id) in targets {
        for source in sources::<R>(world, target) {
            set_apart::<R>(world, source, id);
        }
    }
}

fn awaited<R: Relationship>(world: &World, out: &mut Vec<GlobalId>) {
    out.extend(world.view::<&Apart<R>>().iter().map(|apart| apart.target));
    let view = world.view::<(Entity, &Roster<R>)>();
    for (entity, roster) in view.iter() {
        let here: HashSet<GlobalId> =
            sources::<R>(world, entity).into_iter().filter_map(|source| id(world, source)).collect();
        out.extend(roster.ids.iter().filter(|id| !here.contains(id)));
    }
}

fn forget<R: Relationship>(world: &mut World, alive: &HashSet<GlobalId>) -> u64 {
    let view = world.view::<(Entity, &GlobalId, &Apart<R>)>();
    let mut lost: Vec<(GlobalId, Entity)> = view
        .iter()
        .filter(|(entity, _, apart)| !alive.contains(&apart.target) || world.get::<R>(*entity).is_some())
        .map(|(entity, id, _)| (*id, entity))
        .collect();
    lost.sort_unstable();
    let mut despawned = 0;
    for (_, entity) in lost {
        if !world.contains(entity) {
            continue;
        }
        // A link that was made since then replaces the one that waits.
        let replaced = world.get::<R>(entity).is_some();
        if !replaced && <R::RelationshipTarget as RelationshipTarget>::LINKED_SPAWN {
            world.despawn(entity);
            despawned += 1;
        } else {
            world.entity_mut(entity).remove::<Apart<R>>();
        }
    }
    let targets: Vec<Entity> = world.view_filtered::<Entity, With<Roster<R>>>().iter().collect();
    for target in targets {
        let here: HashSet<GlobalId> =
            sources::<R>(world, target).into_iter().filter_map(|source| id(world, source)).collect();
        let mut ids = roster::<R>(world, target);
        ids.retain(|id| here.contains(id) || alive.contains(id));
        if ids.len() == here.len() {
            world.entity_mut(target).remove::<Roster<R>>();
        } else {
            world.entity_mut(target).insert(Roster::<R> { ids, kind: PhantomData });
        }
    }
    despawned
}

fn relink<R: Relationship>(world: &mut World, owned: &[(GlobalId, Entity)]) -> Result<(), ClusterError> {
    let view = world.view::<(Entity, &GlobalId, &Apart<R>)>();
    let mut arriving: Vec<(GlobalId, GlobalId, Entity)> =
        view.iter().map(|(entity, id, apart)| (apart.target, *id, entity)).collect();
    arriving.sort_unstable();
    for group in arriving.chunk_by(|a, b| a.0 == b.0) {
        let Ok(at) = owned.binary_search_by_key(&group[0].0, |(id, _)| *id) else { continue };
        let target = owned[at].1;
        let place: HashMap<GlobalId, usize> =
            roster::<R>(world, target).into_iter().enumerate().map(|(at, id)| (id, at)).collect();
        let before = sources::<R>(world, target);
        let mut wanted: Vec<(usize, Entity)> = Vec::with_capacity(before.len() + group.len());
        for (source, id) in before
            .iter()
            .map(|&source| (source, id(world, source)))
            .chain(group.iter().map(|row| (row.2, Some(row.1))))
        {
            let at = id.and_then(|id| place.get(&id).copied());
            wanted.push((at.unwrap_or(usize::MAX), source));
        }
        // Stable: those without a place come last, as they are.
        wanted.sort_by_key(|(at, _)| *at);
        let in_place =
            before.iter().zip(&wanted).take_while(|(source, (_, wanted))| *source == wanted).count();
        let mut links = HashMap::new();
        for &source in &before[in_place..] {
            links.insert(source, world.entity_mut(source).take::<R>());
        }
        for &(_, source) in &wanted[in_place..] {
            let link = match links.remove(&source) {
                Some(link) => link,
                None => world.entity_mut(source).take::<Apart<R>>().map(|apart| apart.link),
            };
            let Some(mut link) = link else { continue };
            link.set_risky(target);
            world.entity_mut(source).insert(link);
        }
        if sources::<R>(world, target).len() != wanted.len() {
            let (relation, target) = (std::any::type_name::<R>().to_owned(), group[0].0);
            return Err(ClusterError::Relink { relation, target });
        }
    }
    Ok(())
}
