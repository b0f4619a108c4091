//! The components that travel, and what is known of each: how its rows become bytes, numbers to compare, and values again.
//!
//! ```text
//!   rows                    | how many | their ids | component | component | .. | links of relations |
//!   a component of n rows   | all, none or a bit per row | values side by side, or field by field |
//! ```

use std::any::TypeId;
use std::collections::BTreeSet;

use bytemuck::Pod;
use phalanx::ComponentId;
use phalanx::component::AnyComponent;
use phalanx::prelude::*;
use phalanx::relation::Relationship;
use phalanx::save::SavedComponent;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cluster::Ghost;
use crate::columns::{self, Rows};
use crate::error::ClusterError;
use crate::halo::GlobalOrder;
use crate::ids::{GlobalId, Newborn};
use crate::messages::MessageEntry;
use crate::relations::{RelationEntry, types_of};
use crate::wire::{Reader, mix, put};

/// A component that says where its entity is.
pub trait Located: SavedComponent {
    /// The place, by three coordinates; what has two leaves the last one 0.
    fn place(&self) -> [f64; 3];
}

/// The components and messages that travel between ranks. All ranks must list the same, in the same order.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use phalanx::prelude::*;
/// use phalanx_mpi::{ClusterTypes, Located};
///
/// #[derive(Component, serde::Serialize, serde::Deserialize, Clone, Copy, Pod, Zeroable)]
/// #[component(save, layout = "soa")]
/// #[repr(C)]
/// struct Position { x: f32, y: f32 }
///
/// impl Located for Position {
///     fn place(&self) -> [f64; 3] { [self.x.into(), self.y.into(), 0.0] }
/// }
///
/// let types = ClusterTypes::located::<Position>().plain::<Position>().halo::<Position>();
/// ```
#[derive(Clone)]
pub struct ClusterTypes {
    pub(crate) places: Places,
    pub(crate) components: Vec<ComponentEntry>,
    pub(crate) relations: Vec<RelationEntry>,
    pub(crate) messages: Vec<MessageEntry>,
    /// The types of which it is known what becomes of them.
    known: Vec<TypeId>,
}

/// What is called with the id, the entity and the place of each.
pub(crate) type EachPlace<'f> = dyn FnMut(GlobalId, Entity, [f64; 3]) + 'f;

/// Where entities are, by the component that tells it.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    pub(crate) of: fn(&World, Entity) -> Option<[f64; 3]>,
    /// All that this rank owns.
    pub(crate) owned: fn(&World, &mut EachPlace<'_>),
    /// Makes the index of neighbours, ghosts included, with cells of this side.
    pub(crate) index: fn(&mut World, f64),
}

/// How one component travels.
#[derive(Clone, Copy)]
pub(crate) struct ComponentEntry {
    pub(crate) type_id: TypeId,
    pub(crate) halo: bool,
    pub(crate) pack: fn(&Rows<'_>, &mut Vec<u8>),
    /// Numbers that differ where the values of rows do.
    pub(crate) hash: fn(&Rows<'_>, &mut [u64]),
    /// Reads the values of these entities. Those that get the component anew have it once commands are applied.
    pub(crate) unpack: fn(&mut World, &[Entity], &mut Reader<'_>) -> Result<(), ClusterError>,
}

impl ClusterTypes {
    /// Nothing travels yet; a component says where entities are, which is to be added as well.
    pub fn located<P: Located>() -> Self {
        let places = Places { of: place_of::<P>, owned: each_owned::<P>, index: GlobalOrder::refresh::<P> };
        let known = vec![TypeId::of::<GlobalId>(), TypeId::of::<Newborn>(), TypeId::of::<Ghost>()];
        Self { places, components: Vec::new(), relations: Vec::new(), messages: Vec::new(), known }
    }

    fn add(mut self, entry: ComponentEntry) -> Self {
        if self.components.iter().all(|known| known.type_id != entry.type_id) {
            self.known.push(entry.type_id);
            self.components.push(entry);
        }
        self
    }

    /// A component whose values are sent as they lie in memory, field by field where fields are columns. All ranks must be
    /// machines of one kind.
    #[must_use]
    pub fn plain<C: SavedComponent + Pod>(self) -> Self {
        let (type_id, pack, hash) = (TypeId::of::<C>(), columns::pack_plain::<C>, columns::hash_plain::<C>);
        let unpack = |world: &mut World, to: &[Entity], from: &mut Reader<'_>| {
            columns::read_plain::<C>(world, from, to.len()).map(|values| give(world, to, values))
        };
        self.add(ComponentEntry { type_id, halo: false, pack, hash, unpack })
    }

    /// A component that is sent by its `Serialize`. Entities within it mean nothing on another rank: refer to others by
    /// [`GlobalId`].
    #[must_use]
    pub fn saved<C: SavedComponent>(self) -> Self {
        let (type_id, pack, hash) = (TypeId::of::<C>(), columns::pack_saved::<C>, columns::hash_saved::<C>);
        let unpack = |world: &mut World, to: &[Entity], from: &mut Reader<'_>| {
            columns::read_saved::<C>(from, to.len()).map(|values| give(world, to, values))
        };
        self.add(ComponentEntry { type_id, halo: false, pack, hash, unpack })
    }

    /// A relation whose links travel, by the [`GlobalId`] of the target. Where source and target are on different ranks the
    /// source has an [`Apart`](crate::Apart) instead; when they meet again they are linked, in the order that the sources had.
    /// An entity without a place goes where its target goes. Ghosts have no links.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx_mpi::{ClusterTypes, Located};
    /// # #[derive(Component, serde::Serialize, serde::Deserialize)]
    /// # #[component(save)]
    /// # struct Position([f64; 3]);
    /// # impl Located for Position { fn place(&self) -> [f64; 3] { self.0 } }
    /// let types = ClusterTypes::located::<Position>().saved::<Position>().relation::<ChildOf>();
    /// ```
    #[must_use]
    pub fn relation<R: Relationship + SavedComponent>(mut self) -> Self {
        if !self.known.contains(&TypeId::of::<R>()) {
            self.known.extend(types_of::<R>());
            self.relations.push(RelationEntry::of::<R>());
        }
        self
    }

    /// A component that stays behind on purpose: an entity that moves to another rank, or comes back from a checkpoint, lacks
    /// it. What is neither listed nor left is an error when an entity with it moves.
    #[must_use]
    pub fn leave<C: AnyComponent>(mut self) -> Self {
        self.known.push(TypeId::of::<C>());
        self
    }

    /// Refuses entities that would lose a component, or a link.
    pub(crate) fn refuse(&self, world: &World, entities: &[Entity]) -> Result<(), ClusterError> {
        let unknown = |id: &ComponentId| {
            let info = world.components().get_info(*id);
            info.is_some_and(|info| info.type_id().is_none_or(|id| !self.known.contains(&id)))
        };
        let sparse: Vec<ComponentId> = world
            .components()
            .iter()
            .filter(|info| info.is_sparse())
            .map(|info| info.id())
            .filter(unknown)
            .collect();
        let (mut seen, mut lost) = (BTreeSet::new(), BTreeSet::new());
        for &entity in entities {
            let Ok(row) = world.get_entity(entity) else { continue };
            if seen.insert(row.archetype()) {
                lost.extend(row.component_ids().filter(unknown));
            }
            lost.extend(sparse.iter().filter(|id| row.contains_id(**id)));
            for relation in &self.relations {
                relation.refuse(world, entity)?;
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        let name = |id: ComponentId| world.components().get_info(id).map(|info| info.name().to_owned());
        Err(ClusterError::Unlisted { components: lost.into_iter().filter_map(name).collect() })
    }

    /// Where an entity is, or the one that it is linked to.
    pub(crate) fn place(&self, world: &World, entity: Entity) -> Option<[f64; 3]> {
        let mut at = entity;
        // Links may form a circle.
        for _ in 0..64 {
            if let Some(place) = (self.places.of)(world, at) {
                return Some(place);
            }
            at = self.relations.iter().find_map(|relation| (relation.target)(world, at))?;
        }
        None
    }

    /// Ghosts have this component, too. Without it they have an id, and nothing else.
    ///
    /// # Panics
    /// When the component was not added with [`plain`](Self::plain) or [`saved`](Self::saved).
    #[must_use]
    pub fn halo<C: SavedComponent>(mut self) -> Self {
        let type_id = TypeId::of::<C>();
        let entry = self.components.iter_mut().find(|entry| entry.type_id == type_id);
        let name = std::any::type_name::<C>();
        entry
            .unwrap_or_else(|| panic!("`{name}` does not travel: add it with `plain` or `saved` first"))
            .halo = true;
        self
    }

    /// A message that the [`Outbox`](crate::Outbox) carries.
    #[must_use]
    pub fn message<M: Message + Serialize + DeserializeOwned>(mut self) -> Self {
        self.messages.push(MessageEntry::of::<M>());
        self
    }

    /// The components that ghosts have.
    pub(crate) fn halo_entries(&self) -> Vec<ComponentEntry> {
        self.components.iter().copied().filter(|entry| entry.halo).collect()
    }

    /// All that makes up a row: components, links, and the order of sources.
    pub(crate) fn row_entries(&self) -> Vec<ComponentEntry> {
        let links = self.relations.iter().flat_map(|relation| relation.entries);
        self.components.iter().copied().chain(links).collect()
    }

    /// The rows of these entities, column by column: ids, each component, links, the order of sources.
    pub(crate) fn pack_whole(&self, world: &World, entities: &[Entity], out: &mut Vec<u8>) {
        pack_rows(&Rows::of(world, entities), &self.components, out);
        self.relations.iter().for_each(|relation| (relation.pack_links)(world, entities, out));
        self.relations.iter().for_each(|relation| (relation.pack_rosters)(world, entities, out));
    }

    /// A number per entity, the same wherever it is: of its id, its components and its links.
    pub(crate) fn row_digests(&self, world: &World, entities: &[Entity]) -> impl Iterator<Item = u64> {
        let rows = Rows::of(world, entities);
        let (mut sums, mut of_one) = (vec![0; entities.len()], vec![0; entities.len()]);
        columns::hash_plain::<GlobalId>(&rows, &mut sums);
        for entry in &self.components {
            (entry.hash)(&rows, &mut of_one);
            sums.iter_mut().zip(&of_one).for_each(|(sum, hash)| *sum = mix(*sum ^ mix(*hash)));
        }
        for relation in &self.relations {
            let target = |entity| (relation.target_id)(world, entity).map_or(0, |id| mix(id.0 + 1));
            sums.iter_mut().zip(entities).for_each(|(sum, &entity)| *sum = mix(*sum ^ target(entity)));
        }
        sums.into_iter()
    }

    /// Reads rows, each of which becomes a new entity.
    pub(crate) fn unpack_whole(
        &self,
        world: &mut World,
        reader: &mut Reader<'_>,
    ) -> Result<(), ClusterError> {
        let entities = unpack_rows(world, reader, &self.components, |world, _| world.spawn_empty().id())?;
        for relation in &self.relations {
            (relation.unpack_links)(world, &entities, reader)?;
        }
        for relation in &self.relations {
            (relation.unpack_rosters)(world, &entities, reader)?;
        }
        world.flush();
        Ok(())
    }
}

/// Writes ids and these components.
pub(crate) fn pack_rows(rows: &Rows<'_>, components: &[ComponentEntry], out: &mut Vec<u8>) {
    put(out, rows.entities.len() as u64);
    columns::pack_plain::<GlobalId>(rows, out);
    components.iter().for_each(|entry| (entry.pack)(rows, out));
}

/// Reads ids and these components: `target` gives the entity for each id. What entities get anew is there once commands are
/// applied.
pub(crate) fn unpack_rows(
    world: &mut World,
    reader: &mut Reader<'_>,
    components: &[ComponentEntry],
    mut target: impl FnMut(&mut World, GlobalId) -> Entity,
) -> Result<Vec<Entity>, ClusterError> {
    let count = reader.count()?;
    let ids = columns::read_plain::<GlobalId>(world, reader, count)?;
    let mut entities = Vec::with_capacity(count);
    for id in ids {
        let id = id.ok_or_else(|| reader.error("a row without an id"))?;
        let entity = target(world, id);
        if world.get::<GlobalId>(entity).is_none() {
            world.commands().entity(entity).insert(id);
        }
        entities.push(entity);
    }
    for entry in components {
        (entry.unpack)(world, &entities, reader)?;
    }
    Ok(entities)
}

fn place_of<P: Located>(world: &World, entity: Entity) -> Option<[f64; 3]> {
    let mut place = None;
    P::with_value(world.get::<P>(entity)?, &mut |value| place = Some(value.place()));
    place
}

fn each_owned<P: Located>(world: &World, f: &mut EachPlace<'_>) {
    for (entity, id, row) in world.view_filtered::<(Entity, &GlobalId, &P), Without<Ghost>>().iter() {
        P::with_value(row, &mut |value| f(*id, entity, value.place()));
    }
}

const NONE: u8 = 0;
const ALL: u8 = 1;
const SOME: u8 = 2;

/// Writes which of the rows have a value.
pub(crate) fn pack_presence(present: &[bool], out: &mut Vec<u8>) {
    if present.iter().all(|present| *present) {
        out.push(ALL);
    } else if present.iter().any(|present| *present) {
        out.push(SOME);
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        out.extend(present.chunks(8).map(byte));
    } else {
        out.push(NONE);
    }
}

pub(crate) fn read_presence(reader: &mut Reader<'_>, rows: usize) -> Result<Vec<bool>, ClusterError> {
    match reader.take(1)?[0] {
        NONE => Ok(vec![false; rows]),
        ALL => Ok(vec![true; rows]),
        SOME => {
            let bits = reader.take(rows.div_ceil(8))?;
            Ok((0..rows).map(|row| bits[row / 8] >> (row % 8) & 1 == 1).collect())
        }
        other => Err(reader.error(format_args!("{other} says nothing of which rows have a value"))),
    }
}

/// Each entity gets its value, or loses the one that it has. Where it has one, the new value takes its place at once; other
/// changes wait for commands, so that each entity moves once.
fn give<C: SavedComponent>(world: &mut World, entities: &[Entity], values: Vec<Option<C>>) {
    for (&entity, value) in entities.iter().zip(values) {
        let has = world.get::<C>(entity).is_some();
        match (value, has) {
            (Some(value), true) => {
                world.entity_mut(entity).insert(value);
            }
            (Some(value), false) => {
                world.commands().entity(entity).insert(value);
            }
            (None, true) => {
                world.commands().entity(entity).remove::<C>();
            }
            (None, false) => {}
        }
    }
}
