//! The set of one sparse component, and small questions about entities that users of sparse sets ask.
//!
//! [`World::sparse`] lends a set for reading, [`World::sparse_mut`] for writing: its entities and its values lie
//! side by side in dense order, which sorting and groups decide. In a stable set an entity keeps its position
//! until the user asks for another order; what was removed leaves a hole, which iteration skips.

use std::cmp::Ordering;
use std::marker::PhantomData;

use phalanx_store::{Entity, Existing, SetId, sorting};

use super::{ChangeError, ComponentMissing, NoSuchEntity, World};
use crate::bundle::Bundle;
use crate::component::AnyComponent;
use crate::group::OrderError;
use crate::storage::{SparseComponent, StableStorage, open_plan};

/// The set of one sparse component, to be read.
pub struct Sparse<'w, C> {
    world: &'w World,
    set: Option<SetId>,
    component: PhantomData<fn() -> C>,
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

    /// How many holes a stable set has; any other set has none.
    pub fn holes(&self) -> usize {
        self.set.map_or(0, |set| self.world.store.set_holes(set))
    }

    /// The entities, in dense order. A hole of a stable set shows [`Entity::PLACEHOLDER`], which is never alive, so
    /// that each entity stands at its [index](Sparse::index_of); [`Sparse::iter`] skips holes.
    pub fn entities(&self) -> &'w [Entity] {
        self.set.map_or(&[], |set| self.world.store.set_entities(set))
    }

    /// The values, beside [`Sparse::entities`]. `None` while the world has not met the component, and for a stable
    /// set with holes: [compact](SparseMut::compact) it, or take [`Sparse::runs`].
    pub fn slice(&self) -> Option<C::Slice<'w>> {
        self.world.store.set_slices::<C::Read>(C::ids(), 0..self.entities().len()).map(C::wrap_slice)
    }

    /// The entities and values between holes, in dense order; all at once where there is no hole.
    pub fn runs(&self) -> impl Iterator<Item = (&'w [Entity], C::Slice<'w>)> + use<'w, C> {
        let (store, entities) = (&self.world.store, self.entities());
        self.set.into_iter().flat_map(|set| store.set_runs(set)).map(move |run| {
            let values = store.set_slices::<C::Read>(C::ids(), run.clone());
            (&entities[run], C::wrap_slice(values.expect("a run has no holes")))
        })
    }

    /// Each entity with its value, in dense order.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, C::Ref<'w>)> + use<'w, C> {
        let world = self.world;
        self.entities().iter().filter_map(move |&entity| Some((entity, world.get::<C>(entity)?)))
    }

    /// Whether an entity has the component; a stale id has nothing.
    pub fn contains(&self, entity: Entity) -> bool {
        self.index_of(entity).is_some()
    }

    /// The position of an entity in dense order. In a stable set it stays the same until the set is compacted,
    /// sorted or swapped.
    pub fn index_of(&self, entity: Entity) -> Option<usize> {
        self.world.store.set_row(self.set?, entity)
    }

    /// The value of an entity.
    pub fn get(&self, entity: Entity) -> Option<C::Ref<'w>> {
        self.world.get::<C>(entity)
    }
}

/// The set of one sparse component, to be written.
pub struct SparseMut<'w, C: AnyComponent> {
    world: &'w mut World,
    component: PhantomData<fn() -> C>,
}

impl<C: SparseComponent> SparseMut<'_, C> {
    /// The set, to be read.
    pub fn as_ref(&self) -> Sparse<'_, C> {
        self.world.sparse()
    }

    /// Gives an entity a value, and returns whether it had none before. One that it had is dropped.
    ///
    /// # Errors
    /// As for [`World::insert`]: when the entity is dead, or its pool does not declare the component.
    #[inline]
    pub fn insert(&mut self, entity: Entity, value: C) -> Result<bool, ChangeError> {
        let World { store, sets, .. } = &mut *self.world;
        let Some((plan, ids)) = open_plan::<C>(sets) else {
            let had = self.as_ref().contains(entity);
            return self.world.insert(entity, value).map(|()| !had);
        };
        let values = C::into_column_values(value, store.tick());
        match store.set_insert(plan, ids, entity, values, Existing::Replace) {
            Ok(old) => Ok(old.is_none()),
            Err(_) => Err(NoSuchEntity::new(entity).into()),
        }
    }

    /// Takes an entity's value, and returns it; `None` when it has none or is dead.
    ///
    /// # Errors
    /// As for [`World::remove`]: when a pool requires the component.
    #[inline]
    pub fn take(&mut self, entity: Entity) -> Result<Option<C>, ChangeError> {
        let World { store, sets, .. } = &mut *self.world;
        let Some((plan, ids)) = open_plan::<C>(sets) else {
            return if self.world.contains(entity) { self.world.try_take(entity) } else { Ok(None) };
        };
        Ok(store.set_take(plan, ids, entity).map(C::from_column_values))
    }

    /// Drops an entity's value. False when it has none or is dead.
    ///
    /// # Errors
    /// As for [`World::remove`]: when a pool requires the component.
    #[inline]
    pub fn remove(&mut self, entity: Entity) -> Result<bool, ChangeError> {
        self.take(entity).map(|value| value.is_some())
    }

    /// The values in dense order; `None` as for [`Sparse::slice`].
    pub fn slice_mut(&mut self) -> Option<C::SliceMut<'_>> {
        let rows = 0..self.as_ref().entities().len();
        self.world.store.set_slices_mut::<C::Write>(C::ids(), rows).map(C::wrap_slice_mut)
    }

    /// Calls a function with the values between holes, in dense order; all at once where there is no hole.
    pub fn for_each_run(&mut self, mut f: impl FnMut(C::SliceMut<'_>)) {
        let Some(set) = self.world.store.set_of(C::key()) else { return };
        for run in self.world.store.set_runs(set) {
            let values = self.world.store.set_slices_mut::<C::Write>(C::ids(), run);
            f(C::wrap_slice_mut(values.expect("a run has no holes")));
        }
    }

    /// The value of an entity.
    pub fn get_mut(&mut self, entity: Entity) -> Option<C::Mut<'_>> {
        self.world.get_mut::<C>(entity)
    }

    /// Exchanges two positions in dense order. False when one is out of range.
    ///
    /// # Errors
    /// When a group owns the component, or a stable set has holes.
    pub fn swap(&mut self, a: usize, b: usize) -> Result<bool, OrderError> {
        let Some(set) = self.world.free_set::<C>()? else { return Ok(false) };
        Ok(self.world.store.set_swap(set, a, b))
    }

    /// Sorts the set; see [`World::sort_by`].
    ///
    /// # Errors
    /// As for [`World::sort_by`].
    pub fn sort_by(
        &mut self,
        compare: impl FnMut(&C::Ref<'_>, &C::Ref<'_>) -> Ordering,
    ) -> Result<(), OrderError> {
        self.world.sort_by::<C>(compare)
    }

    /// Sorts by a key; equal keys keep their order.
    ///
    /// # Errors
    /// As for [`World::sort_by`].
    pub fn sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&C::Ref<'_>) -> K) -> Result<(), OrderError> {
        self.world.sort_by::<C>(|a, b| key(a).cmp(&key(b)))
    }

    /// Sorts by a key, which is computed once per entity; equal keys end up in any order.
    ///
    /// # Errors
    /// As for [`World::sort_by`].
    pub fn sort_unstable_by_key<K: Ord>(
        &mut self,
        mut key: impl FnMut(&C::Ref<'_>) -> K,
    ) -> Result<(), OrderError> {
        let Some(set) = self.world.free_set::<C>()? else { return Ok(()) };
        let keys: Vec<K> = self.as_ref().iter().map(|(_, value)| key(&value)).collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by(|&a, &b| keys[a].cmp(&keys[b]));
        self.world.arrange_set(set, order);
        Ok(())
    }

    /// Orders the set as that of `As`; see [`World::sort_as`].
    ///
    /// # Errors
    /// As for [`World::sort_as`].
    pub fn sort_as<As: SparseComponent>(&mut self) -> Result<(), OrderError> {
        self.world.sort_as::<C, As>()
    }
}

impl<C: SparseComponent<Storage = StableStorage>> SparseMut<'_, C> {
    /// Closes the holes of a stable set, keeping the order of the others, whose positions change. Returns how many
    /// holes there were.
    pub fn compact(&mut self) -> usize {
        self.world.store.set_of(C::key()).map_or(0, |set| self.world.store.set_compact(set))
    }
}

impl World {
    /// The set of a sparse component.
    pub fn sparse<C: SparseComponent>(&self) -> Sparse<'_, C> {
        Sparse { world: self, set: self.store.set_of(C::key()), component: PhantomData }
    }

    /// The set of a sparse component, to be filled, written and ordered.
    ///
    /// # Panics
    /// When another component has the name of this one.
    #[track_caller]
    pub fn sparse_mut<C: SparseComponent>(&mut self) -> SparseMut<'_, C> {
        self.bundle::<C>();
        SparseMut { world: self, component: PhantomData }
    }

    /// Sorts the set of a sparse component; equal values keep their order. A panic in `compare` changes nothing.
    ///
    /// # Errors
    /// When a group owns the component: sort the group. When a stable set has holes: compact it.
    pub fn sort_by<C: SparseComponent>(
        &mut self,
        mut compare: impl FnMut(&C::Ref<'_>, &C::Ref<'_>) -> Ordering,
    ) -> Result<(), OrderError> {
        let Some(set) = self.free_set::<C>()? else { return Ok(()) };
        let items: Vec<C::Ref<'_>> = self.sparse::<C>().iter().map(|(_, value)| value).collect();
        let order = sorting::in_order(items.len(), |a, b| compare(&items[a], &items[b]));
        drop(items);
        self.arrange_set(set, order);
        Ok(())
    }

    /// Orders the set of `C` as that of `As`: the entities they share come first, in the order of `As`.
    ///
    /// # Errors
    /// As for [`World::sort_by`], for `C`.
    pub fn sort_as<C: SparseComponent, As: SparseComponent>(&mut self) -> Result<(), OrderError> {
        let (Some(set), Some(model)) = (self.free_set::<C>()?, self.store.set_of(As::key())) else {
            return Ok(());
        };
        let mut next = 0;
        for entity in self.store.set_entities(model).to_vec() {
            if let Some(row) = self.store.set_row(set, entity) {
                self.store.set_swap(set, row, next);
                next += 1;
            }
        }
        Ok(())
    }

    fn arrange_set(&mut self, set: SetId, order: Vec<usize>) {
        sorting::arrange(order, |a, b| {
            self.store.set_swap(set, a, b);
        });
    }

    /// The set of a component whose rows may be ordered; `None` while the world has not met it.
    fn free_set<C: AnyComponent>(&self) -> Result<Option<SetId>, OrderError> {
        let Some(set) = self.store.set_of(C::key()) else { return Ok(None) };
        let name = || {
            let id = self.components.component_id::<C>().expect("a component with a set is registered");
            self.components.info(id).name().to_owned()
        };
        if let Some(group) = self.owner_of(set) {
            return Err(OrderError::Owned { component: name(), group: group.to_owned() });
        }
        if self.store.set_holes(set) > 0 {
            return Err(OrderError::Holes { component: name() });
        }
        Ok(Some(set))
    }

    /// Changes a component of an entity in place.
    ///
    /// # Errors
    /// When the entity is dead or lacks it.
    pub fn patch<C: AnyComponent>(
        &mut self,
        entity: Entity,
        change: impl FnOnce(C::Mut<'_>),
    ) -> Result<(), ComponentMissing> {
        let value = self.get_mut::<C>(entity).ok_or(ComponentMissing::new::<C>(entity))?;
        change(value);
        Ok(())
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
