//! Entities by themselves: what stands for one, and maps and sets of them.
//!
//! The hasher of the maps is fast because ids are spread evenly by one multiplication, and because none who could choose
//! them gains by collisions. Ids themselves, and where an entity's row is, are the business of the store.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub use phalanx_store::{Entities, Entity};

pub use crate::component::{EntityMapper, MapEntities};
pub use crate::world::{
    EntityCloner, EntityClonerBuilder, EntityLocation, NoSuchEntity, OptIn, OptOut, SpawnAtError,
};

use crate::world::{EntityCommands, EntityMut, EntityRef, EntityWorldMut, FilteredEntityRef};

/// Something that stands for one entity.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn despawn(commands: &mut Commands, who: impl ContainsEntity) {
///     commands.entity(who.entity()).despawn();
/// }
///
/// let mut world = World::new();
/// let entity = world.spawn_empty().id();
/// despawn(&mut world.commands(), entity);
/// world.flush();
/// assert!(!world.contains(entity));
/// ```
pub trait ContainsEntity {
    /// The entity.
    fn entity(&self) -> Entity;
}

impl ContainsEntity for Entity {
    fn entity(&self) -> Entity {
        *self
    }
}

impl<T: ContainsEntity> ContainsEntity for &T {
    fn entity(&self) -> Entity {
        (**self).entity()
    }
}

impl<T: ContainsEntity> ContainsEntity for &mut T {
    fn entity(&self) -> Entity {
        (**self).entity()
    }
}

macro_rules! contains_entity {
    ($($name:ident)*) => {$(
        impl ContainsEntity for $name<'_> {
            fn entity(&self) -> Entity {
                self.id()
            }
        }
    )*};
}
contains_entity!(EntityRef EntityMut EntityWorldMut EntityCommands FilteredEntityRef);

/// A map whose keys are entities, with a hasher made for them. Made with `default()`; its order means nothing.
///
/// ```
/// use phalanx::entity::EntityHashMap;
/// use phalanx::prelude::*;
///
/// let mut scores = EntityHashMap::default();
/// let entity = World::new().spawn_empty().id();
/// scores.insert(entity, 7);
/// assert_eq!(scores[&entity], 7);
/// ```
pub type EntityHashMap<V> = HashMap<Entity, V, EntityHash>;

/// A set of entities, with a hasher made for them. Made with `default()`; its order means nothing.
pub type EntityHashSet = HashSet<Entity, EntityHash>;

/// A set of entities that keeps the order in which they came (feature `indexmap`).
///
/// ```
/// use phalanx::entity::EntityIndexSet;
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
/// let mut set: EntityIndexSet = [c, a, b, a].into_iter().collect();
/// set.shift_remove(&a);
/// assert_eq!(set.as_slice().iter().collect::<Vec<_>>(), [&c, &b]);
/// ```
#[cfg(feature = "indexmap")]
pub type EntityIndexSet = indexmap::IndexSet<Entity, EntityHash>;

/// Makes the hashers of [`EntityHashMap`] and [`EntityHashSet`].
pub type EntityHash = BuildHasherDefault<EntityHasher>;

/// Hashes an entity, which is one number, by one multiplication. Ids come from the world, not from an attacker.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntityHasher(u64);

impl Hasher for EntityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, bits: u64) {
        // An odd number near 2^64 divided by the golden ratio; the upper half, which is the well mixed one, goes down as
        // well, because tables take their index from the low bits.
        let mixed = (self.0.rotate_left(5) ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
