//! The set of one sparse component, and small questions about entities that users of sparse sets ask.
//!
//! [`World::sparse`] lends a set for reading, [`World::sparse_mut`] for writing: its entities and its values lie
//! side by side in dense order, which sorting and groups decide.

use phalanx_store::{Entity, SetFetch, SetId};

use super::World;
use crate::bundle::Bundle;
use crate::component::Component;
use crate::storage::SparseStorage;

/// A sparse component whose values can be had as slices; true for every derived one.
pub trait SparseComponent: Component<Storage = SparseStorage, Read: SetFetch, Write: SetFetch> {}
impl<C: Component<Storage = SparseStorage, Read: SetFetch, Write: SetFetch>> SparseComponent for C {}

/// The set of one sparse component, to be read.
pub struct Sparse<'w, C> {
    world: &'w World,
    set: Option<SetId>,
    component: std::marker::PhantomData<fn() -> C>,
}

impl<'w, C: SparseComponent> Sparse<'w, C> {
    /// How many entities have the component.
    pub fn len(&self) -> usize {
        self.set.map_or(0, |set| self.world.store.set_len(set))
    }

    /// Whether no entity has the component.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entities, in dense order.
    pub fn entities(&self) -> &'w [Entity] {
        self.set.map_or(&[], |set| self.world.store.set_entities(set))
    }

    /// The values, beside [`Sparse::entities`]; `None` while the world has not met the component.
    pub fn slice(&self) -> Option<C::Slice<'w>> {
        self.world.store.set_slices::<C::Read>(C::ids(), self.len()).map(C::wrap_slice)
    }

    /// Whether an entity has the component; a stale id has nothing.
    pub fn contains(&self, entity: Entity) -> bool {
        self.index_of(entity).is_some()
    }

    /// The position of an entity in dense order.
    pub fn index_of(&self, entity: Entity) -> Option<usize> {
        self.world.store.set_row(self.set?, entity)
    }

    /// The value of an entity.
    pub fn get(&self, entity: Entity) -> Option<C::Ref<'w>> {
        self.world.get::<C>(entity)
    }
}

/// The set of one sparse component, to be written.
pub struct SparseMut<'w, C> {
    world: &'w mut World,
    component: std::marker::PhantomData<fn() -> C>,
}

impl<C: SparseComponent> SparseMut<'_, C> {
    /// The set, to be read.
    pub fn as_ref(&self) -> Sparse<'_, C> {
        self.world.sparse()
    }

    /// The values in dense order; `None` while the world has not met the component.
    pub fn slice_mut(&mut self) -> Option<C::SliceMut<'_>> {
        let len = self.as_ref().len();
        self.world.store.set_slices_mut::<C::Write>(C::ids(), len).map(C::wrap_slice_mut)
    }

    /// The value of an entity.
    pub fn get_mut(&mut self, entity: Entity) -> Option<C::Mut<'_>> {
        self.world.get_mut::<C>(entity)
    }

    /// Exchanges two positions in dense order. False when one is out of range.
    ///
    /// # Errors
    /// When a group owns the component.
    pub fn swap(&mut self, a: usize, b: usize) -> Result<bool, crate::group::OwnedByGroup> {
        let Some(set) = self.world.free_set::<C>()? else { return Ok(false) };
        let len = self.world.store.set_len(set);
        self.world.store.set_swap(set, a, b);
        Ok(a < len && b < len)
    }

    /// Sorts by a key; equal keys keep their order.
    ///
    /// # Errors
    /// When a group owns the component: sort the group.
    pub fn sort_by_key<K: Ord>(
        &mut self,
        mut key: impl FnMut(&C::Ref<'_>) -> K,
    ) -> Result<(), crate::group::OwnedByGroup> {
        self.world.sort_by::<C>(|a, b| key(a).cmp(&key(b)))
    }
}

impl World {
    /// The set of a sparse component.
    pub fn sparse<C: SparseComponent>(&self) -> Sparse<'_, C> {
        Sparse { world: self, set: self.store.set_of(C::key()), component: std::marker::PhantomData }
    }

    /// The set of a sparse component, to be written and ordered.
    pub fn sparse_mut<C: SparseComponent>(&mut self) -> SparseMut<'_, C> {
        SparseMut { world: self, component: std::marker::PhantomData }
    }

    /// Whether an entity is alive and has all components of a bundle.
    pub fn all_of<B: Bundle>(&mut self, entity: Entity) -> bool {
        let bundle = self.bundle::<B>();
        let Some(archetype) = self.archetype_of(entity) else { return false };
        let info = self.bundles.info(bundle);
        self.archetypes.signature(archetype).contains(&info.signature)
            && info.sparse.iter().all(|id| self.has_sparse(entity, id))
    }

    /// Whether an entity is alive and has at least one component of a bundle.
    pub fn any_of<B: Bundle>(&mut self, entity: Entity) -> bool {
        let bundle = self.bundle::<B>();
        let Some(archetype) = self.archetype_of(entity) else { return false };
        let info = self.bundles.info(bundle);
        self.archetypes.signature(archetype).overlaps(&info.signature)
            || info.sparse.iter().any(|id| self.has_sparse(entity, id))
    }

    /// Whether an entity is alive and has no component at all, in tables or sets.
    pub fn is_orphan(&self, entity: Entity) -> bool {
        self.get_entity(entity).is_ok_and(|entity| entity.component_ids().next().is_none())
    }
}
