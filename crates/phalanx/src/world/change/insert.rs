//! What comes to one entity: spawning, and inserting a bundle.
//!
//! A bundle of one sparse component in an open set takes the shortest way; for others it is asked what their pool
//! allows, and what they bring along. Values that are replaced are dropped last, when everything is in its place.

use phalanx_store::{Entity, Existing, NotInserted, TableId, Values};

use super::OldValues;
use crate::archetype::{ArchetypeId, Kind};
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::storage::SparseParts;
use crate::world::parts::drop_both;
use crate::world::{Begun, ChangeError, EntityWorldMut, NoSuchEntity, QuietLink, Turn, World};

impl World {
    /// Spawns an entity with a bundle of components.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or all entity indices are in use.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orc = world.spawn((Health(10.0), Burning)).id();
    /// assert_eq!(world.get::<Health>(orc), Some(&Health(10.0)));
    /// ```
    // Always, because a bundle that is passed on through memory is copied on the way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> EntityWorldMut<'_> {
        let entity = self.spawn_entity(bundle);
        EntityWorldMut::new(self, entity)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn spawn_entity<B: Bundle>(&mut self, bundle: B) -> Entity {
        if <B::Values as Values>::COLUMNS == 0 {
            return self.spawn_on_edge(bundle);
        }
        if let Some(row) = self.store.spawn_row::<B, B::Values>() {
            let (values, sparse) = bundle.into_values(row.now());
            let entity = row.spawn(values);
            if B::Sparse::ANY {
                // A new entity has nothing that could be replaced.
                self.put_sparse(entity, sparse, Existing::Replace);
            }
            return entity;
        }
        // The byte makes this a copy, so that nothing points at the bundle itself, which can stay in registers.
        self.spawn_along_edge((bundle, 0))
    }

    /// As [`World::spawn`], where no spawn cursor is open or something must grow.
    #[inline(never)]
    #[track_caller]
    fn spawn_along_edge<B: Bundle>(&mut self, (bundle, _): (B, u8)) -> Entity {
        crate::steps::count();
        self.spawn_on_edge(bundle)
    }

    /// Spawns along the edge to the bundle's archetype, and opens the spawn cursor of the bundle, if it can be.
    ///
    /// It can where nothing follows from the row but the bundle's own sparse parts: no component is required. Groups do
    /// not matter, because nothing is in a group that is in no set.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn spawn_on_edge<B: Bundle>(&mut self, bundle: B) -> Entity {
        let id = self.bundle::<B>();
        let at = match self.archetypes.edges.position(Kind::Insert, ArchetypeId::EMPTY, id.index()) {
            Some(at) => at,
            None => self.plan_insertion::<B>(ArchetypeId::EMPTY, id),
        };
        let target = bundle.link_target();
        let (values, sparse) = bundle.into_values(self.store.tick());
        let entity = match self.store.spawn(self.archetypes.edges.at(at), values) {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        self.spawn_sparse::<B>(entity, id, sparse);
        if let Some(link) = self.quiet_link(id) {
            let now = target.or_else(|| link.target(self, entity));
            link.follow(self, entity, Turn { before: None, now });
        } else if !self.bundles.info(id).plain {
            self.announce_bundle(&[entity], id);
        } else if <B::Values as Values>::COLUMNS > 0 {
            self.store.open_cursor::<B, B::Values>(self.archetypes.edges.at(at));
        }
        entity
    }

    /// Spawns an entity whose bundle will be announced later.
    pub(crate) fn spawn_silently<B: Bundle>(&mut self, id: BundleId, bundle: B) -> Entity {
        let at = self.first_insertion::<B>();
        let (values, sparse) = bundle.into_values(self.store.tick());
        let entity = match self.store.spawn(self.archetypes.edges.at(at), values) {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        self.spawn_sparse::<B>(entity, id, sparse);
        entity
    }

    /// Spawns an entity without components. It occupies no row until the first one comes.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> EntityWorldMut<'_> {
        let entity = match self.store.spawn_rowless() {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        EntityWorldMut::new(self, entity)
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
        if <B::Values as Values>::COLUMNS == 0 && B::Sparse::ANY {
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
        // One sparse component in an open set: all that there is to ask was asked before.
        if let Some(plan) = B::Sparse::open_plan(&self.sets) {
            let (_, sparse) = bundle.into_values(self.store.tick());
            return match sparse.insert_alone(&mut self.store, plan, entity, existing) {
                Ok(old) => {
                    drop(old);
                    Ok(())
                }
                Err(_) => Err(NoSuchEntity::new(entity).into()),
            };
        }
        self.insert_bundle(entity, bundle, existing)
    }

    // A part of the caller, so that what the paths need is saved by them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn insert_bundle<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        // One call of each, so that the only one of a program may become a part of the caller as well.
        let (id, plain) = self.plain_bundle_for::<B>(entity)?;
        if plain {
            self.insert_plain(entity, id, bundle, existing)
        } else {
            self.insert_not_plain(entity, id, bundle, existing)
        }
    }

    /// Inserts a bundle without listeners that brings nothing along.
    #[inline]
    fn insert_plain<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        if self.is_only_sparse::<B>(id) {
            self.insert_only_sparse(entity, bundle, existing)
        } else {
            self.insert_parts_grouped(entity, id, bundle, existing)
        }
    }

    /// Inserts a bundle that has listeners, or that brings others along into sets.
    #[inline(never)]
    #[track_caller]
    fn insert_not_plain<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let info = self.bundles.info(id);
        let brings_along = !info.required_sparse.is_empty();
        if info.link.is_some()
            && let Some(link) = self.quiet_link(id)
            && self.archetypes.pools().len() == 1
        {
            return self.insert_linked(entity, id, link, bundle, existing);
        }
        crate::steps::count();
        // An edge that is known was asked about when it was planned.
        let begun = match self.begin_insertion(entity, id, existing) {
            Some(begun) => begun,
            None => match self.begin_new_insertion(entity, id, existing) {
                Ok(begun) => begun,
                Err(error) => {
                    // Dropped here and not on return: the error would be lost if that panics.
                    drop(bundle);
                    return Err(error);
                }
            },
        };
        let insert = |world: &mut Self| {
            let inserted = if brings_along {
                world.insert_required_grouped(entity, id, bundle, existing)
            } else {
                world.insert_parts_grouped(entity, id, bundle, existing)
            };
            // Boxed, because what is handed on is small then.
            inserted.map_err(Box::new)
        };
        self.announced_as(begun, entity, insert).map_err(|error| *error)
    }

    /// Begins to announce that a bundle is inserted, where it is not known what that does.
    #[inline(never)]
    fn begin_new_insertion(
        &mut self,
        entity: Entity,
        id: BundleId,
        existing: Existing,
    ) -> Result<Begun, ChangeError> {
        // Checked before anything is added, and before any handler runs.
        let pool = self.pool_of(entity).ok_or(NoSuchEntity::new(entity))?;
        self.may_insert(pool, id).map_err(|refusal| self.refused(entity, refusal))?;
        if self.bundles.info(id).heard.is_empty() {
            return Ok(Begun::Unheard);
        }
        let changes = self.foresee_insert(entity, id, existing);
        Ok(self.begin_foreseen(entity, changes))
    }

    /// Inserts a bundle with a link that only the lists of its relation follow.
    fn insert_linked<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        link: QuietLink,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let (before, target) = (link.target(self, entity), bundle.link_target());
        let follow = |world: &mut Self| {
            if existing == Existing::Replace || before.is_none() {
                let now = target.or_else(|| link.target(world, entity));
                link.follow(world, entity, Turn { before, now });
            }
        };
        if <B::Values as Values>::COLUMNS == 0 && self.bundles.info(id).required.is_empty() {
            let (_, sparse) = bundle.into_values(self.store.tick());
            let old = self.put_sparse(entity, sparse, existing).ok_or(NoSuchEntity::new(entity))?;
            follow(self);
            drop(old);
            return Ok(());
        }
        let (old, old_sparse) =
            self.grouped(entity, |world| world.insert_parts(entity, id, bundle, existing))?;
        follow(self);
        drop_both(old, old_sparse);
        Ok(())
    }

    /// As `insert_parts_grouped`, with what the bundle brings along into sets.
    fn insert_required_grouped<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let (old, old_sparse) =
            self.grouped(entity, |world| world.insert_with_required(entity, id, bundle, existing))?;
        drop_both(old, old_sparse);
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_only_sparse<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let (_, sparse) = bundle.into_values(self.store.tick());
        match self.put_sparse(entity, sparse, existing) {
            Some(old) => {
                drop(old);
                Ok(())
            }
            None => Err(NoSuchEntity::new(entity).into()),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_parts_grouped<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let (old, old_sparse) =
            self.grouped(entity, |world| world.insert_parts(entity, id, bundle, existing))?;
        // Everything is in its place, groups too: what was there before may go.
        drop_both(old, old_sparse);
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_parts<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(OldValues<B>, Option<<B::Sparse as SparseParts>::Replaced>), ChangeError> {
        let (values, sparse) = bundle.into_values(self.store.tick());
        match self.insert_values::<B>(entity, id, values, existing) {
            Ok(old) => Ok((old, self.put_sparse(entity, sparse, existing))),
            Err(error) => {
                // Dropped here and not on return: the error would be lost if that panics.
                drop(sparse);
                Err(error)
            }
        }
    }

    /// As `insert_parts`, for a bundle that brings others along into sets.
    #[inline(never)]
    fn insert_with_required<B: Bundle>(
        &mut self,
        entity: Entity,
        id: BundleId,
        bundle: B,
        existing: Existing,
    ) -> Result<(OldValues<B>, Option<<B::Sparse as SparseParts>::Replaced>), ChangeError> {
        self.with_required(entity, id, |world| world.insert_parts(entity, id, bundle, existing))
    }

    /// Inserts the table part of a bundle, along the known edge from wherever the entity stands.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn insert_values<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: BundleId,
        values: B::Values,
        existing: Existing,
    ) -> Result<OldValues<B>, ChangeError> {
        let archetypes = &mut self.archetypes;
        let inserted = self.store.insert_along(entity, values, existing, |table| {
            archetypes.edge(Kind::Insert, table, bundle.index())
        });
        match inserted {
            Ok(old) => Ok(old),
            Err(NotInserted::Dead(_)) => Err(NoSuchEntity::new(entity).into()),
            Err(NotInserted::NoEdge(values, table)) => {
                self.insert_on_new_edge::<B>(entity, table, bundle, values, existing)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_on_new_edge<B: Bundle>(
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
        let inserted = self.store.insert(entity, self.archetypes.edges.at(at), values, existing);
        inserted.map_err(|_| NoSuchEntity::new(entity).into())
    }
}
