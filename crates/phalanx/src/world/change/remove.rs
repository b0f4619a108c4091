//! What one entity loses: removing or taking a bundle, all but a bundle, or a component by its id.
//!
//! Whether the pool allows it is asked before anything leaves a set. Values that nobody keeps are dropped
//! last, when the entity is rid of them everywhere.

use phalanx_store::{Entity, SetId, TableId, Values};

use super::OldValues;
use crate::archetype::Kind;
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::pool::Refusal;
use crate::registry::ComponentId;
use crate::storage::SparseParts;
use crate::world::parts::drop_both;
use crate::world::{ChangeError, NoSuchEntity, World};

impl World {
    /// Removes what the entity has of a bundle, and drops it. Components it lacks are no error.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires a component of the bundle.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        // As for inserting. Only the living are in sets.
        if <B::Values as Values>::LEAVES == 0
            && let Some(plan) = B::Sparse::open_plan(&self.sets)
        {
            return match B::Sparse::take_alone(&mut self.store, plan, entity) {
                Some(taken) => {
                    drop(taken);
                    Ok(())
                }
                None if self.contains(entity) => Ok(()),
                None => Err(NoSuchEntity::new(entity).into()),
            };
        }
        self.remove_bundle::<B>(entity)
    }

    #[inline]
    #[track_caller]
    pub(crate) fn remove_bundle<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        let bundle = self.bundle_for::<B>(entity)?;
        if self.is_only_sparse::<B>(bundle) {
            // Only the living are in sets, so nothing is taken from the dead.
            drop(B::Sparse::take(&mut self.store, &self.sets, entity));
            return if self.contains(entity) { Ok(()) } else { Err(NoSuchEntity::new(entity).into()) };
        }
        if B::Sparse::ANY && self.archetypes.pools().len() > 1 {
            // Asked before anything is taken; otherwise it is asked where a way is planned.
            let pool = self.pool_of(entity).ok_or(NoSuchEntity::new(entity))?;
            self.may_remove(pool, bundle).map_err(|refusal| self.refused(entity, refusal))?;
        }
        let (values, sparse) = self.grouped(entity, |world| world.detach_parts::<B>(entity, bundle))?;
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
        let sparse = B::Sparse::take(&mut self.store, &self.sets, entity);
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
        let taken = self.grouped(entity, |world| {
            let sparse = B::Sparse::complete(B::Sparse::take(&mut world.store, &world.sets, entity))?;
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
        self.grouped(entity, |world| {
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
            return Ok(self.store.set_remove(set, entity));
        }
        if !self.archetypes.signature(from).has(id) {
            return Ok(false);
        }
        let at = self.dropping(Kind::Drop, from, id.index(), |present| present.without(id));
        Ok(self
            .grouped(entity, |world| world.store.remove::<()>(entity, world.archetypes.transitions.at(at))))
    }
}
