//! What one entity loses: removing or taking a bundle, all but a bundle, or a component by its id.
//!
//! Whether the pool allows it is asked before anything leaves a set. Values that are not kept are dropped
//! last, when the entity is rid of them everywhere.

use phalanx_store::{Entity, SetId, TableId, Values};

use super::OldValues;
use crate::archetype::Kind;
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::pool::Refusal;
use crate::registry::ComponentId;
use crate::storage::SparseParts;
use crate::world::batch::for_each_despite_panics;
use crate::world::parts::drop_both;
use crate::world::{Begun, ChangeError, NoSuchEntity, QuietLink, Turn, World};

impl World {
    /// Removes what the entity has of a bundle, and drops it. Components it lacks are no error.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires a component of the bundle.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        // As for inserting. Only living entities are in sets.
        if <B::Values as Values>::COLUMNS == 0
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

    // A part of the caller, as for inserting.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn remove_bundle<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        let (bundle, plain) = self.plain_bundle_for::<B>(entity)?;
        if !plain && !B::Sparse::ANY && !self.bundles.info(bundle).heard.is_empty() {
            return self.remove_heard::<B>(entity, bundle);
        }
        self.remove_known::<B>(entity, bundle)
    }

    /// Removes a bundle of which sets have a part, or that has no listeners.
    #[inline]
    fn remove_known<B: Bundle>(&mut self, entity: Entity, bundle: BundleId) -> Result<(), ChangeError> {
        if self.is_only_sparse::<B>(bundle) {
            // Only living entities are in sets, so nothing is taken from dead ones.
            drop(B::Sparse::take(&mut self.store, &self.sets, entity));
            return if self.contains(entity) { Ok(()) } else { Err(NoSuchEntity::new(entity).into()) };
        }
        if B::Sparse::ANY {
            // Asked before anything is taken; otherwise it is asked where an edge is planned.
            if self.archetypes.pools().len() > 1 {
                let pool = self.pool_of(entity).ok_or(NoSuchEntity::new(entity))?;
                self.may_remove(pool, bundle).map_err(|refusal| self.refused(entity, refusal))?;
            }
            if let Some(link) = self.quiet_link(bundle) {
                return self.remove_linked::<B>(entity, link);
            }
            if !self.bundles.info(bundle).heard.is_empty() {
                return self.remove_heard::<B>(entity, bundle);
            }
        }
        match self.grouped(entity, |world| world.detach_parts::<B>(entity, bundle, Kind::Remove)) {
            Ok((values, sparse)) => {
                // The entity is rid of both parts, and so are groups: they may go.
                drop_both(values, sparse);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Removes a bundle with a link that only the lists of its relation follow.
    fn remove_linked<B: Bundle>(&mut self, entity: Entity, link: QuietLink) -> Result<(), ChangeError> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let before = link.target(self, entity);
        let at = match <B::Values as Values>::COLUMNS {
            0 => None,
            // An edge that is known was asked about when it was planned.
            _ => Some(self.removal::<B>(from).map_err(|refusal| self.refused(entity, refusal))?),
        };
        let (values, sparse) = self.grouped(entity, |world| {
            let sparse = B::Sparse::take(&mut world.store, &world.sets, entity);
            let edge = at.map(|at| world.archetypes.edges.at(at));
            (edge.map(|edge| world.store.detach::<B::Values>(entity, edge)), sparse)
        });
        if before.is_some() {
            link.follow(self, entity, Turn { before, now: None });
        }
        drop_both(values, sparse);
        Ok(())
    }

    /// Removes a bundle that has listeners.
    #[inline(never)]
    fn remove_heard<B: Bundle>(&mut self, entity: Entity, bundle: BundleId) -> Result<(), ChangeError> {
        crate::steps::count();
        let remove = |world: &mut Self| {
            let detached =
                world.grouped(entity, |world| world.detach_parts::<B>(entity, bundle, Kind::RemoveHeard));
            // Boxed, because what is handed on is small then, and there is no error after all that was asked.
            let (values, sparse) = detached.map_err(Box::new)?;
            drop_both(values, sparse);
            Ok(())
        };
        // An edge that is known was asked about when it was planned.
        let begun = match self.begin_removal(entity, bundle) {
            Some(begun) => begun,
            None => self.begin_new_removal::<B>(entity, bundle)?,
        };
        self.announced_as(begun, entity, remove).map_err(|error: Box<ChangeError>| *error)
    }

    /// Begins to announce that a bundle is removed, where it is not known what that does.
    #[inline(never)]
    fn begin_new_removal<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: BundleId,
    ) -> Result<Begun, ChangeError> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        self.removal::<B>(from).map_err(|refusal| self.refused(entity, refusal))?;
        let changes = self.foresee_remove(entity, bundle);
        Ok(self.begin_foreseen(entity, changes))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn detach_parts<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: BundleId,
        kind: Kind,
    ) -> Result<(OldValues<B>, <B::Sparse as SparseParts>::Taken), ChangeError> {
        let sparse = B::Sparse::take(&mut self.store, &self.sets, entity);
        let archetypes = &mut self.archetypes;
        let removed = self
            .store
            .detach_along::<B::Values>(entity, |table| archetypes.edge(kind, table, bundle.index()));
        let values = match removed {
            Ok(values) => values,
            Err(None) => return Err(NoSuchEntity::new(entity).into()),
            Err(Some(table)) => self.detach_on_new_edge::<B>(entity, table, bundle)?,
        };
        Ok((values, sparse))
    }

    #[cold]
    #[inline(never)]
    fn detach_on_new_edge<B: Bundle>(
        &mut self,
        entity: Entity,
        table: TableId,
        bundle: BundleId,
    ) -> Result<OldValues<B>, ChangeError> {
        let from = self.archetypes.of_table(table);
        self.may_remove(self.archetypes.pool_of(from), bundle)
            .map_err(|refusal| self.refused(entity, refusal))?;
        let at = self.plan_removal::<B>(from, bundle);
        let detached = self.store.detach::<B::Values>(entity, self.archetypes.edges.at(at));
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
        let take = |world: &mut Self| {
            world.grouped(entity, |world| {
                let sparse = B::Sparse::complete(B::Sparse::take(&mut world.store, &world.sets, entity))?;
                let values = world.store.take::<B::Values>(entity, world.archetypes.edges.at(at))?;
                Some((values, sparse))
            })
        };
        let taken = if self.bundles.info(bundle).heard.is_empty() {
            take(self)
        } else {
            let changes = self.foresee_remove(entity, bundle);
            self.announced(entity, &changes, take)
        };
        Ok(taken.map(|(values, sparse)| B::from_values(values, sparse)))
    }

    /// Drops every component that is neither in the bundle nor required by a component of it.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires a component that is not kept.
    #[track_caller]
    pub fn retain<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let bundle = self.bundle::<B>();
        let info = self.bundles.info(bundle);
        let kept = info.kept();
        let kept_all = kept.union(&info.kept_sparse());
        self.may_retain(self.archetypes.pool_of(from), bundle)
            .map_err(|refusal| self.refused(entity, refusal))?;
        let at = self.dropping(Kind::Retain, from, bundle.index(), |present| present.intersection(&kept));
        let retain = |world: &mut Self| {
            world.grouped(entity, |world| {
                let components = &world.set_components;
                let goes = |set: &SetId| components[set.index()].is_some_and(|id| !kept_all.has(id));
                let sets = world.store.sets().filter(goes);
                world.store.remove_with_sets::<()>(entity, world.archetypes.edges.at(at), sets);
            });
        };
        if self.is_end_heard(entity) {
            let changes = self.foresee_retain(entity, &kept_all);
            self.announced(entity, &changes, retain);
        } else {
            retain(self);
        }
        Ok(())
    }

    /// Removes a component by its id. False when the entity lacks it.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires the component.
    pub fn remove_by_id(&mut self, entity: Entity, id: ComponentId) -> Result<bool, ChangeError> {
        self.make_room_for_archetypes();
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let pool = self.archetypes.pools().record(self.archetypes.pool_of(from));
        if pool.required().has(id) {
            return Err(self.refused(entity, Refusal::Required(pool.id(), id)));
        }
        let set = self.set_of(id);
        let is_there = match set {
            Some(set) => self.store.set_row(set, entity).is_some(),
            None => self.archetypes.signature(from).has(id),
        };
        if !is_there {
            return Ok(false);
        }
        let remove = |world: &mut Self| {
            if let Some(set) = set {
                return world.store.set_remove(set, entity);
            }
            let at = world.dropping(Kind::Drop, from, id.index(), |present| present.without(id));
            world.grouped(entity, |world| world.store.remove::<()>(entity, world.archetypes.edges.at(at)))
        };
        if self.reactions.heard().has(id) {
            let changes = self.foresee_remove_id(id);
            Ok(self.announced(entity, &changes, remove))
        } else {
            Ok(remove(self))
        }
    }

    /// Removes what the entity has of a bundle and of all that its components require.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires one of the components; then nothing has changed.
    #[track_caller]
    pub fn remove_with_requires<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        let bundle = self.bundle_for::<B>(entity)?;
        let info = self.bundles.info(bundle);
        let ids: Vec<ComponentId> = info.kept().iter().chain(info.kept_sparse().iter()).collect();
        self.remove_by_ids(entity, &ids)
    }

    /// Removes the components with these ids, as far as the entity has them.
    ///
    /// # Errors
    /// When the entity is dead, or its pool requires one of them; then nothing has changed.
    pub fn remove_by_ids(&mut self, entity: Entity, ids: &[ComponentId]) -> Result<(), ChangeError> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let pool = self.archetypes.pools().record(self.archetypes.pool_of(from));
        if let Some(&id) = ids.iter().find(|&&id| pool.required().has(id)) {
            return Err(self.refused(entity, Refusal::Required(pool.id(), id)));
        }
        for_each_despite_panics(ids.iter(), |&id| {
            // Its pool was asked; it may be despawned meanwhile by a handler of a removal.
            let _ = self.remove_by_id(entity, id);
        });
        Ok(())
    }
}
