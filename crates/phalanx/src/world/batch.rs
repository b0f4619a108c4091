//! Many entities at once.
//!
//! A batch spawn writes columns and makes its rows count in one step. Inserting into or removing from a
//! whole archetype moves columns instead of rows.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice;

use phalanx_store::{Entity, Existing, FirstPanic};

use super::World;
use crate::archetype::{ArchetypeId, Kind};
use crate::bundle::Bundle;
use crate::bundles::BundleInfo;
use crate::storage::SparseParts;

/// The entities that a batch spawned.
#[derive(Clone, Debug)]
pub struct SpawnBatch<'w> {
    entities: Spawned<'w>,
}

#[derive(Clone, Debug)]
enum Spawned<'w> {
    Rows(slice::Iter<'w, Entity>),
    Rowless(std::vec::IntoIter<Entity>),
}

impl SpawnBatch<'_> {
    /// Those that were not walked yet, in their order.
    pub fn as_slice(&self) -> &[Entity] {
        match &self.entities {
            Spawned::Rows(rows) => rows.as_slice(),
            Spawned::Rowless(ids) => ids.as_slice(),
        }
    }
}

impl Iterator for SpawnBatch<'_> {
    type Item = Entity;

    fn next(&mut self) -> Option<Entity> {
        match &mut self.entities {
            Spawned::Rows(rows) => rows.next().copied(),
            Spawned::Rowless(ids) => ids.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.entities {
            Spawned::Rows(rows) => rows.size_hint(),
            Spawned::Rowless(ids) => ids.size_hint(),
        }
    }
}

impl ExactSizeIterator for SpawnBatch<'_> {}
impl std::iter::FusedIterator for SpawnBatch<'_> {}

impl World {
    #[track_caller]
    pub(super) fn bundle_info<B: Bundle>(&mut self) -> &BundleInfo {
        let id = self.bundle::<B>();
        self.bundles.info(id)
    }

    /// Spawns an entity per bundle, at once; the result may be ignored or walked for the ids.
    ///
    /// If the iterator panics, the entities it was complete for live.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or entity indices run out.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orcs: Vec<Entity> = world.spawn_batch((0..100).map(|i| Health(i as f32))).collect();
    /// assert_eq!(world.get::<Health>(orcs[7]), Some(&Health(7.0)));
    /// ```
    #[track_caller]
    pub fn spawn_batch<B: Bundle>(&mut self, bundles: impl IntoIterator<Item = B>) -> SpawnBatch<'_> {
        let at = self.first_insertion::<B>();
        if B::Sparse::ANY || !self.bundle_info::<B>().plain {
            return self.spawn_batch_not_plain(at, bundles.into_iter());
        }
        let now = self.store.tick();
        let edge = self.archetypes.edges.at(at);
        let values = bundles.into_iter().map(|bundle| bundle.into_values(now).0);
        let mut rowless = Vec::new();
        let rows = match self.store.spawn_batch(edge, values, |entity| rowless.push(entity)) {
            Ok(rows) => rows,
            Err(error) => panic!("{error}"),
        };
        let entities = if rowless.is_empty() {
            Spawned::Rows(self.store.table_entities(edge.target())[rows].iter())
        } else {
            Spawned::Rowless(rowless.into_iter())
        };
        SpawnBatch { entities }
    }

    /// As [`World::spawn_batch`], for bundles with parts in sets, and for those with listeners: these are
    /// announced when all of them are there.
    #[track_caller]
    fn spawn_batch_not_plain<B: Bundle>(
        &mut self,
        at: usize,
        bundles: impl Iterator<Item = B>,
    ) -> SpawnBatch<'_> {
        let id = self.bundle::<B>();
        if B::Sparse::ANY || !self.bundles.info(id).required_sparse.is_empty() {
            // Values in sets belong to an entity, so each one is spawned for itself.
            let mut entities = Vec::new();
            // Not collected, which would make room for all that the iterator promises.
            let silent = self.bundles.info(id).heard.is_empty();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                bundles.for_each(|bundle| {
                    let spawned =
                        if silent { self.spawn(bundle).id() } else { self.spawn_silently(id, bundle) };
                    entities.push(spawned);
                });
            }));
            // When all are there, as for those that are announced.
            match self.quiet_link(id) {
                Some(link) => link.follow_new(self, &entities),
                None => self.announce_bundle(&entities, id),
            }
            outcome.unwrap_or_else(|panic| resume_unwind(panic));
            return SpawnBatch { entities: Spawned::Rowless(entities.into_iter()) };
        }
        let now = self.store.tick();
        let edge = self.archetypes.edges.at(at);
        let (table, mut rowless) = (edge.target(), Vec::new());
        let before = self.store.table_entities(table).len();
        let values = bundles.map(|bundle| bundle.into_values(now).0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if let Err(error) = self.store.spawn_batch(edge, values, |entity| rowless.push(entity)) {
                panic!("{error}");
            }
        }));
        // Copied, because handlers that hear of them may move rows.
        let mut entities = self.store.table_entities(table)[before..].to_vec();
        entities.append(&mut rowless);
        self.announce_bundle(&entities, id);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
        SpawnBatch { entities: Spawned::Rowless(entities.into_iter()) }
    }

    /// Inserts a bundle into each entity. Entities that are dead, or in a pool that does not declare a component, are
    /// skipped, their bundles dropped; returns how many were not.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn insert_batch<B: Bundle>(&mut self, batch: impl IntoIterator<Item = (Entity, B)>) -> usize {
        let inserted = batch.into_iter().filter_map(|(entity, bundle)| self.insert(entity, bundle).ok());
        inserted.count()
    }

    /// Removes a bundle from each entity. Entities that are dead, or in a pool that requires a component, are skipped;
    /// returns how many were not.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn remove_batch<B: Bundle>(&mut self, batch: impl IntoIterator<Item = Entity>) -> usize {
        batch.into_iter().filter_map(|entity| self.remove::<B>(entity).ok()).count()
    }

    /// Despawns each entity. Dead ones are skipped; returns how many were alive.
    ///
    /// Faster than [`World::despawn`] for each: where values need no drop, rows that are left stay so until the last
    /// entity of a table has gone. For the same reason rows may be in another order afterwards.
    ///
    /// # Panics
    /// When the iterator panics: those that came before are gone. When a value does in its drop: all are gone.
    pub fn despawn_batch(&mut self, batch: impl IntoIterator<Item = Entity>) -> usize {
        if self.is_any_end_heard() { self.despawn_runs(batch) } else { self.store.despawn_batch(batch) }
    }

    /// As [`World::despawn_batch`], where some have listeners: each of these is announced before it goes, and
    /// what that brings about comes before the next one. Those between them go together.
    fn despawn_runs(&mut self, batch: impl IntoIterator<Item = Entity>) -> usize {
        let (mut list, mut count, mut panics) = (Vec::new(), 0, FirstPanic::default());
        // One by one: the iterator may promise more than it has.
        panics.guard(|| batch.into_iter().for_each(|entity| list.push(entity)));
        let mut list = &list[..];
        while !list.is_empty() {
            let silent = list.iter().position(|&entity| self.is_end_heard(entity)).unwrap_or(list.len());
            let (run, others) = list.split_at(silent);
            if !run.is_empty() {
                panics.guard(|| count += self.store.despawn_batch(run.iter().copied()));
            }
            if let Some(&heard) = others.first() {
                panics.guard(|| count += usize::from(self.despawn(heard)));
            }
            list = others.get(1..).unwrap_or_default();
        }
        panics.resume();
        count
    }

    /// Inserts clones of a bundle into all entities of an archetype, moving whole columns. Returns how many
    /// entities there were.
    ///
    /// Components that the archetype has are replaced. If cloning panics, no entity has moved. Where the bundle brings
    /// sparse parts, entities change one by one; when a replaced value panics in its drop, all of them get their bundle
    /// nevertheless.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or the archetype's pool does not declare a component.
    #[track_caller]
    pub fn insert_into_archetype<B: Bundle + Clone>(&mut self, archetype: ArchetypeId, bundle: &B) -> usize {
        if archetype == ArchetypeId::EMPTY {
            return self.insert_into_each(self.store.entities().rowless().copied().collect(), bundle);
        }
        if !self.archetypes.contains(archetype) {
            return 0;
        }
        let at = match self.insertion::<B>(archetype) {
            Ok(at) => at,
            Err(refusal) => panic!("{}", self.refused_for_all(archetype, refusal)),
        };
        if B::Sparse::ANY || !self.bundle_info::<B>().plain {
            let table = self.archetypes.table(archetype).expect("the archetype exists");
            return self.insert_into_each(self.store.table_entities(table).to_vec(), bundle);
        }
        self.regroup_all(archetype, |world| {
            let edge = world.archetypes.edges.at(at);
            world.store.insert_all(edge, Existing::Replace, |now| bundle.clone().into_values(now).0)
        })
    }

    fn insert_into_each<B: Bundle + Clone>(&mut self, entities: Vec<Entity>, bundle: &B) -> usize {
        // All clones are made before the first entity moves: the user's code may panic.
        let bundles: Vec<B> = entities.iter().map(|_| bundle.clone()).collect();
        for_each_despite_panics(entities.into_iter().zip(bundles), |(entity, bundle)| {
            // All of them live: no handler ran that could despawn one.
            let _ = self.insert(entity, bundle);
        })
    }

    /// Removes a bundle from all entities of an archetype, moving whole columns; entity by entity where the bundle
    /// has sparse parts. Returns how many entities there were.
    ///
    /// When a value panics in its drop, the bundle is gone from all of them nevertheless.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or the archetype's pool requires a component.
    #[track_caller]
    pub fn remove_from_archetype<B: Bundle>(&mut self, archetype: ArchetypeId) -> usize {
        let bundle = self.bundle::<B>();
        if archetype == ArchetypeId::EMPTY {
            // They have nothing in a table, and no table.
            let rowless: Vec<Entity> = self.store.entities().rowless().copied().collect();
            return if B::Sparse::ANY { self.remove_from_each::<B>(rowless) } else { rowless.len() };
        }
        let Some(table) = self.archetypes.table(archetype) else { return 0 };
        if let Err(refusal) = self.may_remove(self.archetypes.pool_of(archetype), bundle) {
            panic!("{}", self.refused_for_all(archetype, refusal));
        }
        if B::Sparse::ANY || !self.bundles.info(bundle).heard.is_empty() {
            return self.remove_from_each::<B>(self.store.table_entities(table).to_vec());
        }
        let gone = self.bundles.info(bundle).signature.clone();
        let at =
            self.dropping(Kind::DropBundle, archetype, bundle.index(), |present| present.difference(&gone));
        self.regroup_all(archetype, |world| world.store.remove_all(world.archetypes.edges.at(at)))
    }

    fn remove_from_each<B: Bundle>(&mut self, entities: Vec<Entity>) -> usize {
        for_each_despite_panics(entities.into_iter(), |entity| {
            let _ = self.remove::<B>(entity);
        })
    }

    /// Changes the table part of all entities of an archetype, and brings groups in line.
    fn regroup_all(&mut self, archetype: ArchetypeId, change: impl FnOnce(&mut Self) -> usize) -> usize {
        if !self.store.groups_watch_tables() {
            return change(self);
        }
        let table = self.archetypes.table(archetype).expect("the archetype exists");
        let entities = self.store.table_entities(table).to_vec();
        let result = catch_unwind(AssertUnwindSafe(|| change(self)));
        entities.into_iter().for_each(|entity| self.store.refresh_groups(entity));
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Calls a function for each item, though it panics for some, and returns how many there were. The first panic is
/// passed on at the end.
pub(super) fn for_each_despite_panics<T>(
    items: impl ExactSizeIterator<Item = T>,
    mut f: impl FnMut(T),
) -> usize {
    let count = items.len();
    let mut panics = FirstPanic::default();
    items.for_each(|item| panics.guard(|| f(item)));
    panics.resume();
    count
}
