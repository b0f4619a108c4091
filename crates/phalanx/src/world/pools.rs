//! Pools of a world: registering them, and spawning in them.
//!
//! A value of a pool's struct goes straight into a row of the archetype for the fields that are there: how it gets
//! there is worked out once per set of fields. The typed access to the entities of a pool is in `pools/access`.

use std::convert::identity;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Col, Entity, Existing, FirstPanic, TableId};

use super::World;
use crate::archetype::ArchetypeId;
use crate::pool::{DeclaredPool, Pool, PoolId, PoolMark, Registration, SpawnEdge, pooled};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::storage::SparseParts;

pub use access::{PoolMut, PoolRef};
pub use error::{PoolEntityError, PoolError};
pub use reader::PoolReader;

mod access;
mod error;
mod reader;

/// What is written to the row of a new entity: its values, and the marks of its pool.
pub(super) type PoolRow<V> = (V, Col<PoolMark>, Col<PoolMark>);

pub(super) fn marked<V>(values: V) -> PoolRow<V> {
    (values, Col(PoolMark), Col(PoolMark))
}

impl World {
    /// Registers a pool and its components, and returns its id, the same in every call.
    ///
    /// Spawning registers on its own; this fixes the order in which queries visit pools, and reserves what the pool
    /// asks for with `capacity`.
    ///
    /// # Panics
    /// As [`World::try_register_pool`] has errors.
    #[track_caller]
    pub fn register_pool<P: Pool>(&mut self) -> PoolId {
        match self.try_register_pool::<P>() {
            Ok(id) => id,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`World::register_pool`], with an error instead of a panic.
    ///
    /// # Errors
    /// When a component cannot be registered, is declared twice, or requires one that the pool does not declare.
    pub fn try_register_pool<P: Pool>(&mut self) -> Result<PoolId, PoolError> {
        if let Some(id) = self.archetypes.pools().id::<P>() {
            return Ok(id);
        }
        let mut declared = Vec::new();
        P::register(&mut self.components, &mut declared)?;
        self.declare_columns();
        self.check_declared(P::name(), &declared)?;
        let registration = Registration {
            name: P::name(),
            strategy: P::STRATEGY,
            tag: P::tag().any(),
            declared,
            required: P::REQUIRED.into(),
        };
        let id = self.archetypes.pools_mut().add(registration, &self.components);
        self.update_set_policies();
        self.store.declare(pooled().any());
        self.store.declare(P::tag().any());
        self.update_queries();
        if P::CAPACITY > 0 {
            let required = self.archetypes.pools().record(id).required();
            let required = required.iter().filter(|&id| self.set_of(id).is_none()).collect();
            let archetype = self.archetype(id, required);
            let table = self.archetypes.table(archetype).expect("the archetype was made just now");
            self.store.reserve_rows(table, P::CAPACITY);
            self.store.reserve_entities(P::CAPACITY);
        }
        Ok(id)
    }

    fn check_declared(&self, pool: &'static str, declared: &[ComponentId]) -> Result<(), PoolError> {
        let name = |id: ComponentId| self.components.info(id).name().to_owned();
        for (at, &id) in declared.iter().enumerate() {
            if declared[..at].contains(&id) {
                return Err(PoolError::Repeated { pool, component: name(id) });
            }
            let required = self.components.requirements(&[id]);
            if let Some((missing, _)) = required.iter().find(|(id, _)| !declared.contains(id)) {
                return Err(PoolError::Requires { pool, component: name(id), requires: name(*missing) });
            }
        }
        Ok(())
    }

    /// The id of a pool, if it is registered.
    pub fn pool_id<P: Pool>(&self) -> Option<PoolId> {
        self.archetypes.pools().id::<P>()
    }

    /// The pool that an entity is in; `None` when it is dead.
    pub fn pool_of(&self, entity: Entity) -> Option<PoolId> {
        Some(self.archetypes.pool_of(self.archetype_of(entity)?))
    }

    #[inline]
    #[track_caller]
    pub(super) fn meet_pool<P: Pool>(&mut self) -> PoolId {
        match self.archetypes.pools().id::<P>() {
            Some(id) => id,
            None => self.register_pool::<P>(),
        }
    }

    /// Spawns an entity in a pool.
    ///
    /// # Panics
    /// When the pool cannot be registered, or all entity indices are in use.
    // Always, because a value that is passed on through memory is copied on the way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn spawn_in<P: DeclaredPool>(&mut self, value: P) -> Entity {
        let presence = value.presence();
        // A value with sparse parts may lack them, so where it goes does not follow from its row.
        let row = if P::Sparse::ANY { None } else { self.store.spawn_row::<P, PoolRow<P::Values>>() };
        let Some(row) = row else { return self.spawn_in_along_edge(identity(value)) };
        let (values, sparse) = value.into_values(row.now());
        let values = marked(values);
        if row.fits(&values) {
            return row.spawn(values);
        }
        // It has other components than the one for which the cursor was opened.
        self.spawn_values_in::<P>(presence.into(), values, sparse)
    }

    #[inline(never)]
    #[track_caller]
    fn spawn_in_along_edge<P: DeclaredPool>(&mut self, value: P) -> Entity {
        let presence = value.presence().into();
        let (values, sparse) = value.into_values(self.store.tick());
        self.spawn_values_in::<P>(presence, marked(values), sparse)
    }

    /// Spawns an entity in a pool, and opens a spawn cursor for others like it where nothing follows from the row.
    #[inline(never)]
    #[track_caller]
    fn spawn_values_in<P: DeclaredPool>(
        &mut self,
        presence: u128,
        values: PoolRow<P::Values>,
        sparse: P::Sparse,
    ) -> Entity {
        let pool = self.meet_pool::<P>();
        let at = self.spawn_edge::<P>(pool, presence);
        let spawn = &self.archetypes.pools().record(pool).spawns[at];
        let entity = match self.store.spawn(&spawn.edge, values) {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        self.settle::<P>(pool, at, entity, sparse);
        let spawn = &self.archetypes.pools().record(pool).spawns[at];
        if !spawn.heard.is_empty() {
            let heard = spawn.heard.clone();
            self.announce_spawned(&[entity], &heard);
        } else if !P::Sparse::ANY && !spawn.adds() {
            self.store.open_cursor::<P, PoolRow<P::Values>>(&spawn.edge);
        }
        entity
    }

    /// Spawns an entity per value, in a pool, and returns them.
    ///
    /// Neighbours with the same optional components are written together.
    ///
    /// # Panics
    /// When the pool cannot be registered, or entity indices run out.
    #[track_caller]
    pub fn spawn_batch_in<P: DeclaredPool>(
        &mut self,
        values: impl IntoIterator<Item = P>,
    ) -> std::vec::IntoIter<Entity> {
        let pool = self.meet_pool::<P>();
        let mut entities = Vec::new();
        let values = values.into_iter();
        if P::REQUIRED.into() == P::DECLARED.into() && !P::Sparse::ANY {
            // Without optional components all values have the same.
            let at = self.spawn_edge::<P>(pool, P::DECLARED.into());
            if !self.archetypes.pools().record(pool).spawns[at].adds() {
                self.spawn_run(pool, at, values, &mut entities);
                return entities.into_iter();
            }
        }
        let mut values = values.peekable();
        while let Some(first) = values.peek() {
            let presence = first.presence().into();
            let at = self.spawn_edge::<P>(pool, presence);
            if P::Sparse::ANY || self.archetypes.pools().record(pool).spawns[at].adds() {
                // Values in sets belong to an entity, so each one is spawned for itself.
                entities.extend(values.next().map(|value| self.spawn_in(value)));
                continue;
            }
            self.spawn_run(pool, at, Run { values: &mut values, presence }, &mut entities);
        }
        entities.into_iter()
    }

    /// Spawns an entity per value, each with the components along the same edge.
    #[inline]
    #[track_caller]
    fn spawn_run<P: DeclaredPool>(
        &mut self,
        pool: PoolId,
        at: usize,
        values: impl Iterator<Item = P>,
        entities: &mut Vec<Entity>,
    ) {
        let now = self.store.tick();
        let edge = &self.archetypes.pools().record(pool).spawns[at].edge;
        let rows = values.map(|value| marked(value.into_values(now).0));
        let (table, new) = (edge.target(), entities.len());
        if self.archetypes.pools().record(pool).spawns[at].heard.is_empty() {
            return match self.store.spawn_batch(edge, rows, |_| {}) {
                Ok(rows) => entities.extend_from_slice(&self.store.table_entities(table)[rows]),
                Err(error) => panic!("{error}"),
            };
        }
        let before = self.store.table_entities(table).len();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if let Err(error) = self.store.spawn_batch(edge, rows, |_| {}) {
                panic!("{error}");
            }
        }));
        entities.extend_from_slice(&self.store.table_entities(table)[before..]);
        let heard = self.archetypes.pools().record(pool).spawns[at].heard.clone();
        self.announce_spawned(&entities[new..], &heard);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    }

    /// Brings an entity that was reserved for a pool there. What it may have got in General meanwhile is dropped.
    pub(super) fn enter<P: DeclaredPool>(&mut self, entity: Entity, value: P) {
        let pool = self.meet_pool::<P>();
        let foreign = self.pool_of(entity) != Some(PoolId::GENERAL);
        if foreign {
            return;
        }
        // A handler that hears of what goes may despawn the entity, or give it something anew.
        if !self.is_orphan(entity) && (self.retain::<()>(entity).is_err() || !self.is_orphan(entity)) {
            return;
        }
        let at = self.spawn_edge::<P>(pool, value.presence().into());
        let (values, sparse) = value.into_values(self.store.tick());
        let spawn = &self.archetypes.pools().record(pool).spawns[at];
        let entered = self.store.insert(entity, &spawn.edge, marked(values), Existing::Replace);
        if entered.is_ok() {
            self.settle::<P>(pool, at, entity, sparse);
            let heard = &self.archetypes.pools().record(pool).spawns[at].heard;
            if !heard.is_empty() {
                let heard = heard.clone();
                self.announce_spawned(&[entity], &heard);
            }
        }
    }

    /// How values with these components get into a row of the pool.
    #[inline]
    fn spawn_edge<P: DeclaredPool>(&mut self, pool: PoolId, presence: u128) -> usize {
        let spawns = &self.archetypes.pools().record(pool).spawns;
        match spawns.iter().position(|spawn| spawn.presence == presence) {
            Some(at) => at,
            None => self.plan_spawn::<P>(pool, presence),
        }
    }

    #[cold]
    #[inline(never)]
    fn plan_spawn<P: DeclaredPool>(&mut self, pool: PoolId, presence: u128) -> usize {
        let given: Vec<ComponentId> = self.archetypes.pools().record(pool).components(presence).collect();
        let all =
            self.components.requirements(&given).into_iter().map(|(id, _)| id).chain(given.iter().copied());
        let heard = all.collect::<Signature>().intersection(self.reactions.heard());
        let is_sparse = |id: ComponentId| self.components.info(id).is_sparse();
        let (required_sparse, required): (Vec<_>, Vec<_>) =
            self.components.requirements(&given).into_iter().partition(|(id, _)| is_sparse(*id));
        let signature: Signature = given.into_iter().filter(|&id| !is_sparse(id)).collect();
        let target = self.archetype(pool, signature.clone());
        let ids = (P::value_ids(), pooled(), P::tag());
        let edge = self.edge(ArchetypeId::EMPTY, target, |store, source, target| {
            store.insert_edge::<PoolRow<P::Values>>(source, target, ids, &[])
        });
        let then = (!required.is_empty()).then(|| {
            let (ids, inits): (Vec<ComponentId>, Vec<_>) = required.into_iter().unzip();
            let end = self.archetype(pool, signature.union(&ids.into_iter().collect()));
            self.edge(target, end, |store, source, target| {
                store.insert_edge::<()>(source, target, (), &inits)
            })
        });
        let spawns = &mut self.archetypes.pools_mut().record_mut(pool).spawns;
        spawns.push(SpawnEdge { presence, edge, then, required_sparse, heard });
        spawns.len() - 1
    }

    /// Gives a new entity of a pool what does not stand in its first row. When a function of a required component
    /// panics, the entity is gone again.
    #[inline]
    fn settle<P: DeclaredPool>(&mut self, pool: PoolId, at: usize, entity: Entity, sparse: P::Sparse) {
        let spawn = &self.archetypes.pools().record(pool).spawns[at];
        if (spawn.then.is_some() || !spawn.required_sparse.is_empty())
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.bring_required(pool, at, entity)))
        {
            FirstPanic::ignore(|| self.store.despawn(entity));
            resume_unwind(panic);
        }
        // A new entity has nothing that could be replaced.
        self.put_sparse(entity, sparse, Existing::Replace);
        self.store.refresh_groups(entity);
    }

    #[cold]
    fn bring_required(&mut self, pool: PoolId, at: usize, entity: Entity) {
        let spawn = &self.archetypes.pools().record(pool).spawns[at];
        for (id, init) in &spawn.required_sparse {
            let set = self.set_of(*id).expect("a required component is registered");
            let made = self.store.set_insert_made(set, entity, std::slice::from_ref(init));
            made.expect("a component's values are its columns");
        }
        if let Some(then) = &spawn.then {
            let moved = self.store.insert(entity, then, (), Existing::Keep);
            moved.expect("the entity stands where it was spawned");
        }
    }

    /// The entities of a pool, to be read.
    #[inline]
    pub fn pool<P: Pool>(&self) -> PoolRef<'_, P> {
        PoolRef::new(self)
    }

    /// The entities of a pool, to be read and changed.
    ///
    /// # Panics
    /// When the pool cannot be registered.
    #[track_caller]
    pub fn pool_mut<P: Pool>(&mut self) -> PoolMut<'_, P> {
        let id = self.meet_pool::<P>();
        PoolMut::new(self, id)
    }

    /// The table of an entity of a pool.
    #[inline]
    fn table_in<P: Pool>(&self, pool: PoolId, entity: Entity) -> Result<TableId, PoolEntityError> {
        match self.store.locate(entity) {
            Some(location) if self.archetypes.table_is_in(location.table, pool) => Ok(location.table),
            _ => Err(self.stranger::<P>(entity)),
        }
    }

    /// Why an entity is not one of a pool.
    #[cold]
    fn stranger<P: Pool>(&self, entity: Entity) -> PoolEntityError {
        match self.pool_of(entity) {
            None => PoolEntityError::NoSuchEntity { entity },
            Some(actual) => {
                let actual = self.archetypes.pools().record(actual).name();
                PoolEntityError::OtherPool { entity, pool: P::name(), actual }
            }
        }
    }
}

/// Values with the same components, one after the other.
struct Run<'v, I: Iterator> {
    values: &'v mut std::iter::Peekable<I>,
    presence: u128,
}

impl<P: DeclaredPool, I: Iterator<Item = P>> Iterator for Run<'_, I> {
    type Item = P;

    fn next(&mut self) -> Option<P> {
        self.values.next_if(|value| value.presence().into() == self.presence)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.values.size_hint();
        // Without optional components all values have the same.
        (if P::REQUIRED.into() == P::DECLARED.into() { least } else { 0 }, most)
    }
}
