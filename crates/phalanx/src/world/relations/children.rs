//! The methods for parents and children: those for any relation, with `ChildOf`.
//!
//! The same methods exist for entities of a world and for recorded commands, so both are written here, once.

use phalanx_store::Entity;

use super::{ChildSpawner, ChildSpawnerCommands};
use crate::bundle::Bundle;
use crate::relation::{ChildOf, Children};
use crate::world::{EntityCommands, EntityWorldMut};

macro_rules! children_methods {
    ($($spawner:tt)*) => {
        /// Spawns children of this entity.
        pub fn with_children(&mut self, spawn: impl FnOnce(&mut $($spawner)*)) -> &mut Self {
            self.with_related_entities::<ChildOf>(spawn)
        }

        /// Spawns a child of this entity.
        #[track_caller]
        pub fn with_child(&mut self, bundle: impl Bundle) -> &mut Self {
            self.with_related::<ChildOf>(bundle)
        }

        /// Makes an entity a child of this one, the last.
        pub fn add_child(&mut self, child: Entity) -> &mut Self {
            self.add_related::<ChildOf>(&[child])
        }

        /// Makes entities children of this one, the last, in this order.
        pub fn add_children(&mut self, children: &[Entity]) -> &mut Self {
            self.add_related::<ChildOf>(children)
        }

        /// Makes an entity the child at an index.
        pub fn insert_child(&mut self, index: usize, child: Entity) -> &mut Self {
            self.insert_related::<ChildOf>(index, &[child])
        }

        /// Makes entities children from an index on; those that are children already move there.
        pub fn insert_children(&mut self, index: usize, children: &[Entity]) -> &mut Self {
            self.insert_related::<ChildOf>(index, children)
        }

        /// Takes a child away from this entity; it lives on.
        pub fn detach_child(&mut self, child: Entity) -> &mut Self {
            self.remove_related::<ChildOf>(&[child])
        }

        /// Takes children away from this entity; they live on.
        pub fn detach_children(&mut self, children: &[Entity]) -> &mut Self {
            self.remove_related::<ChildOf>(children)
        }

        /// Takes all children away from this entity; they live on.
        pub fn detach_all_children(&mut self) -> &mut Self {
            self.detach_all_related::<ChildOf>()
        }

        /// Makes exactly these entities the children, in this order.
        pub fn replace_children(&mut self, children: &[Entity]) -> &mut Self {
            self.replace_related::<ChildOf>(children)
        }

        /// As [`replace_children`](Self::replace_children), given what changes.
        pub fn replace_children_with_difference(
            &mut self,
            entities_to_unrelate: &[Entity],
            entities_to_relate: &[Entity],
            newly_related_entities: &[Entity],
        ) -> &mut Self {
            self.replace_related_with_difference::<ChildOf>(
                entities_to_unrelate,
                entities_to_relate,
                newly_related_entities,
            )
        }

        /// Despawns all children.
        pub fn despawn_children(&mut self) -> &mut Self {
            self.despawn_related::<Children>()
        }
    };
}

impl EntityWorldMut<'_> {
    children_methods!(ChildSpawner<'_>);
}

impl EntityCommands<'_> {
    children_methods!(ChildSpawnerCommands<'_>);
}
