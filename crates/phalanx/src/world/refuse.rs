//! What the pool of an entity forbids, whichever call asks for it.
//!
//! Bundles are checked as a whole, table and sparse parts and what they require, once per (archetype, bundle):
//! code that finds an edge between archetypes has passed. Nothing here runs per row.

use phalanx_store::Entity;

use super::{ChangeError, NotInPool, RequiredByPool, World};
use crate::archetype::ArchetypeId;
use crate::bundles::BundleId;
use crate::pool::{PoolId, Refusal};
use crate::signature::Signature;

impl World {
    /// Whether entities of a pool may get a bundle, with all that it requires.
    pub(crate) fn may_insert(&self, pool: PoolId, bundle: BundleId) -> Result<(), Refusal> {
        if pool == PoolId::GENERAL {
            return Ok(());
        }
        let info = self.bundles.info(bundle);
        let required: Signature =
            info.required.iter().chain(&info.required_sparse).map(|(id, _)| *id).collect();
        self.archetypes.pools().record(pool).admits([&info.signature, &info.sparse, &required])
    }

    /// Whether entities of a pool may lose a bundle.
    pub(crate) fn may_remove(&self, pool: PoolId, bundle: BundleId) -> Result<(), Refusal> {
        let info = self.bundles.info(bundle);
        self.archetypes.pools().record(pool).releases([&info.signature, &info.sparse])
    }

    /// Whether entities of a pool may lose everything but a bundle.
    pub(crate) fn may_retain(&self, pool: PoolId, bundle: BundleId) -> Result<(), Refusal> {
        let (info, record) = (self.bundles.info(bundle), self.archetypes.pools().record(pool));
        record.releases([&record.required().difference(&info.kept()).difference(&info.kept_sparse())])
    }

    /// The error that tells of a refusal.
    #[cold]
    pub(crate) fn refused(&self, entity: Entity, refusal: Refusal) -> ChangeError {
        let (Refusal::Undeclared(pool, id) | Refusal::Required(pool, id)) = refusal;
        let component = self.components.info(id).name().to_owned();
        let pool = self.archetypes.pools().record(pool).name();
        match refusal {
            Refusal::Undeclared(..) => NotInPool { entity, pool, component }.into(),
            Refusal::Required(..) => RequiredByPool { entity, pool, component }.into(),
        }
    }

    /// The same for all entities of an archetype, reported for the first one.
    #[cold]
    pub(crate) fn refused_for_all(&self, archetype: ArchetypeId, refusal: Refusal) -> ChangeError {
        let table = self.archetypes.table(archetype).expect("the archetype exists");
        let first = self.store.table_entities(table).first().copied();
        self.refused(first.unwrap_or(Entity::PLACEHOLDER), refusal)
    }

    /// Verifies that entities of pools have what their pool requires, and only what it declares, in sparse sets too.
    pub(crate) fn check_pools(&self) -> Result<(), String> {
        for pool in self.archetypes.pools().iter().filter(|pool| pool.id() != PoolId::GENERAL) {
            let sparse: Vec<_> = pool.required().iter().filter(|&id| self.set_of(id).is_some()).collect();
            let tables = pool.archetypes().iter().filter_map(|&id| self.archetypes.table(id));
            for &entity in tables.flat_map(|table| self.store.table_entities(table)) {
                let name = pool.name();
                if let Some(id) = sparse.iter().find(|&&id| !self.has_sparse(entity, id)) {
                    return Err(format!("{entity} of pool `{name}` lacks {id:?}, which is required"));
                }
                let mut has = self.entity(entity).component_ids();
                if let Some(id) = has.find(|&id| !pool.allows(id)) {
                    return Err(format!("{entity} of pool `{name}` has {id:?}, which is not declared"));
                }
            }
        }
        Ok(())
    }
}
