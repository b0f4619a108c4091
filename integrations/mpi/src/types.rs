//! The components that travel: how their rows become bytes, column by column.
//!
//! ```text
//!   a component of n rows   | all, none or a bit per row | values side by side |
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
use crate::error::ClusterError;
use crate::ids::{GlobalId, Newborn};
use crate::messages::MessageEntry;
use crate::relations::{RelationEntry, types_of};
use crate::wire::{Reader, put_bytes};

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
    pub(crate) locate: fn(&World, Entity) -> Option<[f64; 3]>,
    pub(crate) components: Vec<ComponentEntry>,
    pub(crate) relations: Vec<RelationEntry>,
    pub(crate) messages: Vec<MessageEntry>,
    /// The types of which it is known what becomes of them.
    known: Vec<TypeId>,
}

/// How one component travels.
#[derive(Clone, Copy)]
pub(crate) struct ComponentEntry {
    type_id: TypeId,
    pub(crate) halo: bool,
    pub(crate) pack: fn(&World, &[Entity], &mut Vec<u8>),
    /// Reads the values of these entities. Nothing changes until commands are applied.
    pub(crate) unpack: fn(&mut World, &[Entity], &mut Reader<'_>) -> Result<(), ClusterError>,
}

impl ClusterTypes {
    /// Nothing travels yet; where entities are is told by a component, which is to be added as well.
    pub fn located<P: Located>() -> Self {
        let locate = |world: &World, entity: Entity| {
            let mut place = None;
            P::with_value(world.get::<P>(entity)?, &mut |value| place = Some(value.place()));
            place
        };
        let known = vec![TypeId::of::<GlobalId>(), TypeId::of::<Newborn>(), TypeId::of::<Ghost>()];
        Self { locate, components: Vec::new(), relations: Vec::new(), messages: Vec::new(), known }
    }

    fn add<C: SavedComponent>(
        mut self,
        pack: fn(&World, &[Entity], &mut Vec<u8>),
        unpack: fn(&mut World, &[Entity], &mut Reader<'_>) -> Result<(), ClusterError>,
    ) -> Self {
        let type_id = TypeId::of::<C>();
        if self.components.iter().all(|known| known.type_id != type_id) {
            self.known.push(type_id);
            self.components.push(ComponentEntry { type_id, halo: false, pack, unpack });
        }
        self
    }

    /// A component whose values are sent as they lie in memory. All ranks must be machines of one kind.
    #[must_use]
    pub fn plain<C: SavedComponent + Pod>(self) -> Self {
        self.add::<C>(pack_plain::<C>, unpack_plain::<C>)
    }

    /// A component that is sent by its `Serialize`. Entities within it mean nothing on another rank: refer to others by
    /// [`GlobalId`].
    #[must_use]
    pub fn saved<C: SavedComponent>(self) -> Self {
        self.add::<C>(pack_saved::<C>, unpack_saved::<C>)
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
            let info = world.components().get(*id);
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
        let name = |id: ComponentId| world.components().get(id).map(|info| info.name().to_owned());
        Err(ClusterError::Unlisted { components: lost.into_iter().filter_map(name).collect() })
    }

    /// Where an entity is, or the one that it is linked to.
    pub(crate) fn place(&self, world: &World, entity: Entity) -> Option<[f64; 3]> {
        let mut at = entity;
        // Links may form a circle.
        for _ in 0..64 {
            if let Some(place) = (self.locate)(world, at) {
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

    /// The rows of these entities, column by column: ids, then each component.
    pub(crate) fn pack(&self, world: &World, entities: &[Entity], only_halo: bool, out: &mut Vec<u8>) {
        crate::wire::put(out, entities.len() as u64);
        pack_plain::<GlobalId>(world, entities, out);
        for entry in self.components.iter().filter(|entry| entry.halo || !only_halo) {
            (entry.pack)(world, entities, out);
        }
        if !only_halo {
            self.relations.iter().for_each(|relation| (relation.pack_links)(world, entities, out));
        }
    }

    /// As [`Self::pack`], with the order of sources.
    pub(crate) fn pack_whole(&self, world: &World, entities: &[Entity], out: &mut Vec<u8>) {
        self.pack(world, entities, false, out);
        self.relations.iter().for_each(|relation| (relation.pack_rosters)(world, entities, out));
    }

    /// Reads rows: `target` gives the entity for each id. The values are there once commands are applied.
    pub(crate) fn unpack(
        &self,
        world: &mut World,
        reader: &mut Reader<'_>,
        only_halo: bool,
        mut target: impl FnMut(&mut World, GlobalId) -> Entity,
    ) -> Result<Vec<Entity>, ClusterError> {
        let count = reader.count()?;
        let ids = read_each(reader, count, read_plain::<GlobalId>)?;
        let mut entities = Vec::with_capacity(count);
        for id in ids {
            let id = id.ok_or_else(|| reader.error("a row without an id"))?;
            let entity = target(world, id);
            world.commands().entity(entity).insert(id);
            entities.push(entity);
        }
        for entry in self.components.iter().filter(|entry| entry.halo || !only_halo) {
            (entry.unpack)(world, &entities, reader)?;
        }
        if !only_halo {
            for relation in &self.relations {
                (relation.unpack_links)(world, &entities, reader)?;
            }
            for relation in &self.relations {
                (relation.unpack_rosters)(world, &entities, reader)?;
            }
        }
        Ok(entities)
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

fn pack_each<C: SavedComponent>(
    world: &World,
    entities: &[Entity],
    out: &mut Vec<u8>,
    put: fn(&C, &mut Vec<u8>),
) {
    let mut present = Vec::with_capacity(entities.len());
    let mut values = Vec::with_capacity(entities.len() * size_of::<C>());
    for &entity in entities {
        let row = world.get::<C>(entity);
        present.push(row.is_some());
        if let Some(row) = row {
            C::with_value(row, &mut |value| put(value, &mut values));
        }
    }
    pack_presence(&present, out);
    out.append(&mut values);
}

fn pack_plain<C: SavedComponent + Pod>(world: &World, entities: &[Entity], out: &mut Vec<u8>) {
    pack_each::<C>(world, entities, out, |value, out| out.extend_from_slice(bytemuck::bytes_of(value)));
}

fn pack_saved<C: SavedComponent>(world: &World, entities: &[Entity], out: &mut Vec<u8>) {
    pack_each::<C>(world, entities, out, |value, out| {
        let bytes = postcard::to_stdvec(value).unwrap_or_else(|error| {
            panic!("a `{}` cannot be sent: {error}", std::any::type_name::<C>());
        });
        put_bytes(out, &bytes);
    });
}

/// The values of rows; none where a row has no value.
fn read_each<C>(
    reader: &mut Reader<'_>,
    rows: usize,
    read: fn(&mut Reader<'_>) -> Result<C, ClusterError>,
) -> Result<Vec<Option<C>>, ClusterError> {
    let present = read_presence(reader, rows)?;
    present.into_iter().map(|here| here.then(|| read(reader)).transpose()).collect()
}

fn read_plain<C: Pod>(reader: &mut Reader<'_>) -> Result<C, ClusterError> {
    reader.take(size_of::<C>()).map(bytemuck::pod_read_unaligned)
}

fn read_saved<C: SavedComponent>(reader: &mut Reader<'_>) -> Result<C, ClusterError> {
    let bytes = reader.bytes()?;
    let name = std::any::type_name::<C>();
    postcard::from_bytes(bytes).map_err(|error| reader.error(format_args!("a `{name}`: {error}")))
}

/// Records that each entity gets its value, or loses the one that it has.
fn give<C: SavedComponent>(world: &mut World, entities: &[Entity], values: Vec<Option<C>>) {
    for (&entity, value) in entities.iter().zip(values) {
        if let Some(value) = value {
            world.commands().entity(entity).insert(value);
        } else if world.get::<C>(entity).is_some() {
            world.commands().entity(entity).remove::<C>();
        }
    }
}

type Unpacked = Result<(), ClusterError>;

fn unpack_plain<C: SavedComponent + Pod>(
    world: &mut World,
    to: &[Entity],
    from: &mut Reader<'_>,
) -> Unpacked {
    read_each(from, to.len(), read_plain::<C>).map(|values| give(world, to, values))
}

fn unpack_saved<C: SavedComponent>(world: &mut World, to: &[Entity], from: &mut Reader<'_>) -> Unpacked {
    read_each(from, to.len(), read_saved::<C>).map(|values| give(world, to, values))
}
