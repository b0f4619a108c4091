//! Structural change of one entity: which archetype comes next.
//!
//! Here the target archetype of a change is found, or created, and the way to it worked out, once per
//! (archetype, bundle), together with the way back: what comes often goes again, and the other way round.
//! Moving the row is the store's business.

use phalanx_store::{Edge, Entity, Existing, Init, NotInserted, SetId, TableId, Values};

use super::groups::Takes;
use super::{ChangeError, NoSuchEntity, World};
use crate::archetype::{ArchetypeId, Kind};
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::pool::{PoolId, Refusal};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::storage::SparseParts;
use crate::world::parts::drop_both;

/// What a row had of a bundle.
type OldValues<B> = <<B as Bundle>::Values as Values>::Old;

impl World {
    #[inline]
    #[track_caller]
    pub(crate) fn bundle<B: Bundle>(&mut self) -> BundleId {
        match self.bundles.find(B::key()) {
            Some(id) => id,
            None => self.meet_bundle::<B>(),
        }
    }

    /// The bundle, unless the entity is dead: then even a bundle that cannot be used is only dropped.
    #[inline]
    #[track_caller]
    fn bundle_for<B: Bundle>(&mut self, entity: Entity) -> Result<BundleId, NoSuchEntity> {
        match self.bundles.find(B::key()) {
            Some(id) => Ok(id),
            None if self.contains(entity) => Ok(self.meet_bundle::<B>()),
            None => Err(NoSuchEntity::new(entity)),
        }
    }

    #[cold]
    #[track_caller]
    fn meet_bundle<B: Bundle>(&mut self) -> BundleId {
        if let Err(error) = self.register_bundle::<B>() {
            panic!("{error}");
        }
        self.bundles.find(B::key()).expect("the bundle was registered just now")
    }

    /// The way on which a bundle comes into an archetype's entities, unless its pool refuses the bundle.
    #[inline]
    #[track_caller]
    pub(crate) fn insertion<B: Bundle>(&mut self, from: ArchetypeId) -> Result<usize, Refusal> {
        let bundle = self.bundle::<B>();
        self.insertion_of::<B>(from, bundle)
    }

    #[inline]
    fn insertion_of<B: Bundle>(&mut self, from: ArchetypeId, bundle: BundleId) -> Result<usize, Refusal> {
        match self.archetypes.transitions.position(Kind::Insert, from, bundle.index()) {
            Some(at) => Ok(at),
            None => {
                self.may_insert(self.archetypes.pool_of(from), bundle)?;
                Ok(self.plan_insertion::<B>(from, bundle))
            }
        }
    }

    /// The way on which a bundle comes into new entities of General.
    #[inline]
    #[track_caller]
    pub(crate) fn first_insertion<B: Bundle>(&mut self) -> usize {
        let at = self.insertion::<B>(ArchetypeId::EMPTY);
        at.unwrap_or_else(|_| unreachable!("General allows everything"))
    }

    #[cold]
    #[inline(never)]
    fn plan_insertion<B: Bundle>(&mut self, from: ArchetypeId, bundle: BundleId) -> usize {
        let (present, pool) = (self.archetypes.signature(from).clone(), self.archetypes.pool_of(from));
        let info = self.bundles.info(bundle);
        let missing = info.required.iter().filter(|(id, _)| !present.has(*id));
        let (added, inits): (Vec<ComponentId>, Vec<Init>) = missing.cloned().unzip();
        let brought = info.signature.clone();
        let target = self.archetype(pool, present.union(&brought).union(&added.into_iter().collect()));
        let edge = self.edge(from, target, |store, source, target| {
            store.insert_edge::<B::Values>(source, target, B::value_ids(), &inits)
        });
        // The way back, when it leads exactly here.
        let returns = inits.is_empty()
            && !present.overlaps(&brought)
            && !brought.is_empty()
            && self.may_remove(pool, bundle).is_ok();
        if returns && self.archetypes.transitions.position(Kind::Remove, target, bundle.index()).is_none() {
            self.add_removal::<B>(target, from, bundle);
        }
        self.archetypes.transitions.add(Kind::Insert, from, bundle.index(), edge)
    }

    /// The way on which what entities of an archetype have of a bundle goes, unless their pool refuses that.
    #[inline]
    #[track_caller]
    pub(crate) fn removal<B: Bundle>(&mut self, from: ArchetypeId) -> Result<usize, Refusal> {
        let bundle = self.bundle::<B>();
        match self.archetypes.transitions.position(Kind::Remove, from, bundle.index()) {
            Some(at) => Ok(at),
            None => {
                self.may_remove(self.archetypes.pool_of(from), bundle)?;
                Ok(self.plan_removal::<B>(from, bundle))
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn plan_removal<B: Bundle>(&mut self, from: ArchetypeId, bundle: BundleId) -> usize {
        let (present, info) = (self.archetypes.signature(from), self.bundles.info(bundle));
        let pool = self.archetypes.pool_of(from);
        let left = present.difference(&info.signature);
        // The way back, when it leads exactly here: nothing else would come along.
        let returns = !info.signature.is_empty()
            && present.contains(&info.signature)
            && info.required.iter().all(|(id, _)| left.has(*id))
            && self.may_insert(pool, bundle).is_ok();
        let target = self.archetype(pool, left);
        let at = self.add_removal::<B>(from, target, bundle);
        if returns && self.archetypes.transitions.position(Kind::Insert, target, bundle.index()).is_none() {
            self.plan_insertion::<B>(target, bundle);
        }
        at
    }

    fn add_removal<B: Bundle>(&mut self, from: ArchetypeId, target: ArchetypeId, bundle: BundleId) -> usize {
        let edge = self.edge(from, target, |store, source, target| {
            store.remove_edge::<B::Values>(source, target, B::value_ids())
        });
        self.archetypes.transitions.add(Kind::Remove, from, bundle.index(), edge)
    }

    /// A way on which components are dropped without being named by a type.
    pub(crate) fn dropping(
        &mut self,
        kind: Kind,
        from: ArchetypeId,
        index: usize,
        left: impl FnOnce(&Signature) -> Signature,
    ) -> usize {
        if let Some(at) = self.archetypes.transitions.position(kind, from, index) {
            return at;
        }
        let left = left(self.archetypes.signature(from));
        let target = self.archetype(self.archetypes.pool_of(from), left);
        let edge =
            self.edge(from, target, |store, source, target| store.remove_edge::<()>(source, target, ()));
        self.archetypes.transitions.add(kind, from, index, edge)
    }

    /// The way on which a run-time component comes, with zero values.
    pub(crate) fn zeroed_insertion(&mut self, from: ArchetypeId, id: ComponentId) -> usize {
        if let Some(at) = self.archetypes.transitions.position(Kind::InsertZeroed, from, id.index()) {
            return at;
        }
        let present = self.archetypes.signature(from);
        let inits = if present.has(id) { Vec::new() } else { self.components.info(id).defaults().to_vec() };
        let target = self.archetype(self.archetypes.pool_of(from), present.with(id));
        let edge = self
            .edge(from, target, |store, source, target| store.insert_edge::<()>(source, target, (), &inits));
        self.archetypes.transitions.add(Kind::InsertZeroed, from, id.index(), edge)
    }

    /// The archetype of a pool with these components, created where it does not exist.
    pub(crate) fn archetype(&mut self, pool: PoolId, signature: Signature) -> ArchetypeId {
        let before = self.archetypes.cursor();
        let id = self.archetypes.get_or_create(pool, signature, &self.components, &mut self.store);
        if self.archetypes.cursor() != before {
            self.update_queries();
        }
        id
    }

    pub(crate) fn edge(
        &self,
        from: ArchetypeId,
        target: ArchetypeId,
        plan: impl FnOnce(&phalanx_store::Store, TableId, TableId) -> Result<Edge, phalanx_store::PlanError>,
    ) -> Edge {
        let table = |id| self.archetypes.table(id).expect("both ends of a transition exist");
        plan(&self.store, table(from), table(target)).expect("signatures and tables agree on columns")
    }

    /// Spawns an entity with a bundle of components.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or all entity indices are in use.
    // Always, because a bundle that is passed on through memory is copied on the way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> super::EntityWorldMut<'_> {
        let id = self.bundle::<B>();
        let at = match self.archetypes.transitions.position(Kind::Insert, ArchetypeId::EMPTY, id.index()) {
            Some(at) => at,
            None => self.plan_insertion::<B>(ArchetypeId::EMPTY, id),
        };
        let (values, sparse) = bundle.into_values(self.store.tick());
        let entity = match self.store.spawn(self.archetypes.transitions.at(at), values) {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        self.spawn_sparse::<B>(entity, id, sparse);
        self.refresh_groups(entity);
        super::EntityWorldMut::new(self, entity)
    }

    /// Spawns an entity without components. It occupies no row until the first one comes.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> super::EntityWorldMut<'_> {
        let entity = match self.store.spawn_rowless() {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        super::EntityWorldMut::new(self, entity)
    }

    /// Inserts a bundle. Components that the entity has are replaced, in place.
    ///
    /// # Errors
    /// When the entity is dead, or its pool does not declare a component; the bundle is dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), ChangeError> {
        self.insert_with(entity, bundle, Existing::Replace)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) fn insert_with<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        if <B::Values as Values>::LEAVES == 0 && B::Sparse::ANY {
            self.insert_sparse(entity, bundle, existing)
        } else {
            self.insert_bundle(entity, bundle, existing)
        }
    }

    // What only some bundles need has a function of its own here and below: unoptimised, each has room for all that its
    // branches might pass on, and bundles can be large.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn insert_sparse<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        // One sparse component, and nobody else has a say: all that there is to ask was asked before.
        if let Some(door) = B::Sparse::door(&self.open_plans) {
            let (_, sparse) = bundle.into_values(self.store.tick());
            return match sparse.insert_at(&mut self.store, door, entity, existing) {
                Ok(old) => {
                    drop(old);
                    Ok(())
                }
                Err(_) => Err(NoSuchEntity::new(entity).into()),
            };
        }
        if !self.groups.is_empty() {
            return self.insert_grouped(entity, bundle, existing);
        }
        self.insert_bundle(entity, bundle, existing)
    }

    #[inline]
    #[track_caller]
    pub(super) fn insert_bundle<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let id = self.bundle_for::<B>(entity)?;
        if self.is_only_sparse::<B>(id) {
            self.insert_only_sparse(entity, bundle, existing)
        } else if self.groups.is_empty() {
            self.insert_alone(entity, id, bundle, existing)
        } else {
            self.insert_among_groups(entity, id, bundle, existing)
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_only_sparse<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        if !self.contains(entity) {
            return Err(NoSuchEntity::new(entity).into());
        }
        let (_, sparse) = bundle.into_values(self.store.tick());
        drop(sparse.insert(&mut self.store, &self.plans, entity, existing));
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_alone<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let (old, old_sparse) = self.insert_parts(entity, id, bundle, existing)?;
        drop_both(old, old_sparse);
        Ok(())
    }

    #[inline(never)]
    fn insert_among_groups<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let (old, old_sparse) =
            self.grouped(entity, Takes::Nothing, |world| world.insert_parts(entity, id, bundle, existing))?;
        // Everything is in its place, groups too: what was there before may go.
        drop_both(old, old_sparse);
        Ok(())
    }

    /// Whether a bundle only concerns sets, and nobody has a say in what goes into them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_only_sparse<B: Bundle>(&self, bundle: BundleId) -> bool {
        B::Sparse::ANY
            && <B::Values as Values>::LEAVES == 0
            && self.bundles.info(bundle).only_sparse
            && self.groups.is_empty()
            && self.archetypes.pools().len() == 1
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_parts<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(OldValues<B>, <B::Sparse as SparseParts>::Replaced), ChangeError> {
        if !self.bundles.info(id).required_sparse.is_empty() {
            return self.insert_with_required(entity, id, bundle, existing);
        }
        let (values, sparse) = bundle.into_values(self.store.tick());
        let old = self.insert_values::<B>(entity, id, values, existing)?;
        Ok((old, sparse.insert(&mut self.store, &self.plans, entity, existing)))
    }

    /// As `insert_parts`, for a bundle that brings others along into sets.
    #[inline(never)]
    fn insert_with_required<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(OldValues<B>, <B::Sparse as SparseParts>::Replaced), ChangeError> {
        if self.archetypes.pools().len() > 1 {
            // Asked before anything comes along; otherwise it is asked where a way is planned.
            let pool = self.pool_of(entity).ok_or(NoSuchEntity::new(entity))?;
            if let Err(refusal) = self.may_insert(pool, id) {
                let error = self.refused(entity, refusal);
                drop(bundle);
                return Err(error);
            }
        }
        let (values, sparse) = bundle.into_values(self.store.tick());
        self.with_required(entity, id, |world| {
            let old = world.insert_values::<B>(entity, id, values, existing)?;
            Ok((old, sparse.insert(&mut world.store, &world.plans, entity, existing)))
        })
    }

    /// Inserts the table part of a bundle, on the known way from wherever the entity stands.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_values<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: BundleId,
        values: B::Values,
        existing: Existing,
    ) -> Result<OldValues<B>, ChangeError> {
        let archetypes = &mut self.archetypes;
        let inserted = self.store.replace_along(entity, values, existing, |table| {
            archetypes.way(Kind::Insert, table, bundle.index())
        });
        match inserted {
            Ok(old) => Ok(old),
            Err(NotInserted::Dead(_)) => Err(NoSuchEntity::new(entity).into()),
            Err(NotInserted::NoWay(values, table)) => {
                self.insert_on_new_way::<B>(entity, table, bundle, values, existing)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_on_new_way<B: Bundle>(
        &mut self,
        entity: Entity,
        table: TableId,
        bundle: BundleId,
        values: B::Values,
        existing: Existing,
    ) -> Result<OldValues<B>, ChangeError> {
        let from = self.archetypes.of_table(table);
        if let Err(refusal) = self.may_insert(self.archetypes.pool_of(from), bundle) {
            let error = self.refused(entity, refusal);
            // Dropped here and not on return: the error would be lost if that panics.
            drop(values);
            return Err(error);
        }
        let at = self.plan_insertion::<B>(from, bundle);
        let inserted = self.store.replace(entity, self.archetypes.transitions.at(at), values, existing);
        inserted.map_err(|_| NoSuchEntity::new(entity).into())
    }

    /// Removes what the entity has of a bundle, and drops it. Components it lacks are no error.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires a component of the bundle.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        // As for inserting. Only the living are in sets.
        if <B::Values as Values>::LEAVES == 0
            && let Some(door) = B::Sparse::door(&self.open_plans)
        {
            return match B::Sparse::take_at(&mut self.store, door, entity) {
                Some(taken) => {
                    drop(taken);
                    Ok(())
                }
                None if self.contains(entity) => Ok(()),
                None => Err(NoSuchEntity::new(entity).into()),
            };
        }
        if <B::Values as Values>::LEAVES == 0 && B::Sparse::ANY && !self.groups.is_empty() {
            return self.remove_grouped::<B>(entity);
        }
        self.remove_bundle::<B>(entity)
    }

    #[inline]
    #[track_caller]
    pub(super) fn remove_bundle<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        let bundle = self.bundle_for::<B>(entity)?;
        if self.is_only_sparse::<B>(bundle) {
            // Only the living are in sets, so nothing is taken from the dead.
            drop(B::Sparse::take(&mut self.store, &self.plans, entity));
            return if self.contains(entity) { Ok(()) } else { Err(NoSuchEntity::new(entity).into()) };
        }
        if (B::Sparse::ANY || !self.groups.is_empty()) && self.archetypes.pools().len() > 1 {
            // Asked before anything is taken, or leaves a group; otherwise it is asked where a way is planned.
            let pool = self.pool_of(entity).ok_or(NoSuchEntity::new(entity))?;
            self.may_remove(pool, bundle).map_err(|refusal| self.refused(entity, refusal))?;
        }
        let (values, sparse) = if self.groups.is_empty() {
            self.detach_parts::<B>(entity, bundle)?
        } else {
            self.grouped(entity, Takes::Bundle(bundle), |world| world.detach_parts::<B>(entity, bundle))?
        };
        // The entity is rid of both parts, and so are groups: they may go.
        drop_both(values, sparse);
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn detach_parts<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: BundleId,
    ) -> Result<(OldValues<B>, <B::Sparse as SparseParts>::Taken), ChangeError> {
        let sparse = B::Sparse::take(&mut self.store, &self.plans, entity);
        let archetypes = &mut self.archetypes;
        let removed = self
            .store
            .detach_along::<B::Values>(entity, |table| archetypes.way(Kind::Remove, table, bundle.index()));
        let values = match removed {
            Ok(values) => values,
            Err(None) => return Err(NoSuchEntity::new(entity).into()),
            Err(Some(table)) => self.detach_on_new_way::<B>(entity, table, bundle)?,
        };
        Ok((values, sparse))
    }

    #[cold]
    #[inline(never)]
    fn detach_on_new_way<B: Bundle>(
        &mut self,
        entity: Entity,
        table: TableId,
        bundle: BundleId,
    ) -> Result<OldValues<B>, ChangeError> {
        let from = self.archetypes.of_table(table);
        self.may_remove(self.archetypes.pool_of(from), bundle)
            .map_err(|refusal| self.refused(entity, refusal))?;
        let at = self.plan_removal::<B>(from, bundle);
        let detached = self.store.detach::<B::Values>(entity, self.archetypes.transitions.at(at));
        detached.ok_or_else(|| NoSuchEntity::new(entity).into())
    }

    /// Removes a whole bundle and returns it. `None`, and nothing happens, when the entity is dead, lacks a part, or
    /// is in a pool that requires one; [`World::try_take`] tells which.
    #[track_caller]
    pub fn take<B: Bundle>(&mut self, entity: Entity) -> Option<B> {
        self.try_take(entity).ok().flatten()
    }

    /// Removes a whole bundle and returns it; `None`, and nothing happens, when the entity lacks a part.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires a component of the bundle.
    #[track_caller]
    pub fn try_take<B: Bundle>(&mut self, entity: Entity) -> Result<Option<B>, ChangeError> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let bundle = self.bundle::<B>();
        let info = self.bundles.info(bundle);
        let sparse = info.sparse.iter().all(|id| self.has_sparse(entity, id));
        if !sparse || !self.archetypes.signature(from).contains(&info.signature) {
            return Ok(None);
        }
        let at = self.removal::<B>(from).map_err(|refusal| self.refused(entity, refusal))?;
        let taken = self.grouped(entity, Takes::Bundle(bundle), |world| {
            let sparse = B::Sparse::complete(B::Sparse::take(&mut world.store, &world.plans, entity))?;
            let values = world.store.take::<B::Values>(entity, world.archetypes.transitions.at(at))?;
            Some((values, sparse))
        });
        Ok(taken.map(|(values, sparse)| B::from_values(values, sparse)))
    }

    /// Drops every component that is not in the bundle.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires a component that is not in the bundle.
    #[track_caller]
    pub fn retain<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let bundle = self.bundle::<B>();
        let info = self.bundles.info(bundle);
        let (kept, kept_sparse) = (info.signature.clone(), info.sparse.clone());
        self.may_retain(self.archetypes.pool_of(from), bundle)
            .map_err(|refusal| self.refused(entity, refusal))?;
        let at = self.dropping(Kind::Retain, from, bundle.index(), |present| present.intersection(&kept));
        self.grouped(entity, Takes::Everything, |world| {
            let components = &world.set_components;
            let goes = |set: &SetId| components[set.index()].is_some_and(|id| !kept_sparse.has(id));
            let sets = world.store.sets().filter(goes);
            world.store.remove_with_sets::<()>(entity, world.archetypes.transitions.at(at), sets);
        });
        Ok(())
    }

    /// Removes a component by its id. False when the entity lacks it.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires the component.
    pub fn remove_by_id(&mut self, entity: Entity, id: ComponentId) -> Result<bool, ChangeError> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let pool = self.archetypes.pools().record(self.archetypes.pool_of(from));
        if pool.required().has(id) {
            return Err(self.refused(entity, Refusal::Required(pool.id(), id)));
        }
        if let Some(set) = self.set_of(id) {
            return Ok(
                self.grouped(entity, Takes::Component(id), |world| world.store.set_remove(set, entity))
            );
        }
        if !self.archetypes.signature(from).has(id) {
            return Ok(false);
        }
        let at = self.dropping(Kind::Drop, from, id.index(), |present| present.without(id));
        Ok(self.grouped(entity, Takes::Nothing, |world| {
            world.store.remove::<()>(entity, world.archetypes.transitions.at(at))
        }))
    }
}
