//! Moving an entity from one pool to another.
//!
//! Explicit, because a pool is a promise about what its entities have: an entity goes only where all of its
//! components are declared and none of the required ones is missing. Otherwise the error lists everything that
//! does not fit, and the entity stays where it is. The move is one walk along an edge, like every other.

use std::fmt;

use phalanx_store::{Entity, Existing, Init};

use super::World;
use super::parts::drop_both;
use super::pools::{PoolRow, marked};
use crate::archetype::ArchetypeId;
use crate::bundles::BundleId;
use crate::pool::{BundleIn, Pool, PoolId, pooled};
use crate::registry::ComponentId;
use crate::signature::Signature;

/// Why an entity cannot go to another pool. It is where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MigrateError {
    /// The entity is dead.
    NoSuchEntity {
        /// The entity.
        entity: Entity,
    },
    /// The entity is not in the pool that it was to leave.
    OtherPool {
        /// The entity.
        entity: Entity,
        /// The name of the pool that it was to leave.
        from: &'static str,
        /// The name of the pool that it is in.
        actual: &'static str,
    },
    /// The entity has what the pool does not declare, or lacks what the pool requires.
    DoesNotFit {
        /// The entity.
        entity: Entity,
        /// The name of the pool that it was to enter.
        to: &'static str,
        /// The names of the components that the pool does not declare.
        undeclared: Vec<String>,
        /// The names of the required components that the entity lacks.
        missing: Vec<String>,
    },
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::NoSuchEntity { entity } => {
                write!(f, "entity {entity} is not alive: it was despawned, or belongs to another world")
            }
            Self::OtherPool { entity, from, actual } => {
                write!(f, "entity {entity} is in pool `{actual}`, not in `{from}`: name the pool it is in")
            }
            Self::DoesNotFit { entity, to, undeclared, missing } => {
                write!(f, "entity {entity} does not fit into pool `{to}`:")?;
                if !undeclared.is_empty() {
                    write!(f, " `{to}` does not declare {}: remove it first", list(undeclared))?;
                }
                if !undeclared.is_empty() && !missing.is_empty() {
                    write!(f, ";")?;
                }
                if !missing.is_empty() {
                    write!(f, " it lacks {}: give it with `migrate_with`", list(missing))?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for MigrateError {}

/// What an entity will have in its new pool.
struct Arrival {
    from: ArchetypeId,
    to: PoolId,
    /// The components in tables.
    signature: Signature,
    /// What is made because others require it.
    inits: Vec<Init>,
}

impl World {
    /// Moves an entity to another pool, with the components it has. Either side may be
    /// [`General`](crate::pool::General).
    ///
    /// # Errors
    /// When the entity is dead or not in `From`, or when `To` does not declare one of its components or requires one
    /// that it lacks: then all of these are listed, and nothing has changed.
    ///
    /// # Panics
    /// When `To` cannot be registered.
    #[track_caller]
    pub fn migrate<From: Pool, To: Pool>(&mut self, entity: Entity) -> Result<(), MigrateError> {
        self.migrate_with::<From, To, ()>(entity, ())
    }

    /// As [`World::migrate`], with components that the entity gets on the way.
    ///
    /// # Errors
    /// As for [`World::migrate`]; the bundle is dropped.
    ///
    /// # Panics
    /// When `To` or the bundle cannot be registered.
    #[track_caller]
    pub fn migrate_with<From: Pool, To: Pool, B: BundleIn<To>>(
        &mut self,
        entity: Entity,
        bundle: B,
    ) -> Result<(), MigrateError> {
        let from = self.archetype_of(entity).ok_or(MigrateError::NoSuchEntity { entity })?;
        let actual = self.archetypes.pool_of(from);
        if self.pool_id::<From>() != Some(actual) {
            let actual = self.archetypes.pools().record(actual).name();
            return Err(MigrateError::OtherPool { entity, from: From::name(), actual });
        }
        let (to, id) = (self.meet_pool::<To>(), self.bundle::<B>());
        let arrival = match self.arrival(entity, from, to, id) {
            Ok(arrival) => arrival,
            Err(error) => {
                // Dropped here and not on return: the error would be lost if that panics.
                drop(bundle);
                return Err(error);
            }
        };
        let (values, sparse) = bundle.into_values(self.store.tick());
        let at = self.migration::<To, B>(arrival, id);
        let migrate = |world: &mut Self| {
            world.grouped(entity, |world| {
                world.with_required(entity, id, |world| {
                    let edge = world.archetypes.edges.at(at);
                    let old = if To::IS_GENERAL {
                        world.store.insert(entity, edge, values, Existing::Replace).ok()
                    } else {
                        let old = world.store.insert(entity, edge, marked(values), Existing::Replace);
                        old.ok().map(|(old, ..)| old)
                    };
                    (old, world.put_sparse(entity, sparse, Existing::Replace))
                })
            })
        };
        if self.bundles.info(id).heard.is_empty() {
            let (old, old_sparse) = migrate(self);
            // The entity has arrived, with groups in line: what was replaced may go.
            drop_both(old, old_sparse);
        } else {
            let changes = self.foresee_insert(entity, id, Existing::Replace);
            self.announced(entity, &changes, |world| {
                let (old, old_sparse) = migrate(world);
                drop_both(old, old_sparse);
            });
        }
        Ok(())
    }

    /// What an entity will have in a pool, when that is allowed.
    fn arrival(
        &self,
        entity: Entity,
        from: ArchetypeId,
        to: PoolId,
        bundle: BundleId,
    ) -> Result<Arrival, MigrateError> {
        let (info, pool) = (self.bundles.info(bundle), self.archetypes.pools().record(to));
        let present: Signature = self.entity(entity).component_ids().collect();
        let comes = |(id, _): &&(ComponentId, Init)| !present.has(*id);
        let required: Vec<_> = info.required.iter().filter(comes).collect();
        let required_ids: Signature =
            info.required.iter().chain(&info.required_sparse).map(|(id, _)| *id).collect();
        let will_have = present.union(&info.signature).union(&info.sparse).union(&required_ids);
        let names = |ids: Vec<ComponentId>| -> Vec<String> {
            ids.into_iter().map(|id| self.components.info(id).name().to_owned()).collect()
        };
        let undeclared = names(will_have.iter().filter(|&id| !pool.allows(id)).collect());
        let missing = names(pool.required().difference(&will_have).iter().collect());
        if !undeclared.is_empty() || !missing.is_empty() {
            return Err(MigrateError::DoesNotFit { entity, to: pool.name(), undeclared, missing });
        }
        let brought = info.signature.union(&required.iter().map(|(id, _)| *id).collect());
        Ok(Arrival {
            from,
            to,
            signature: self.archetypes.signature(from).union(&brought),
            inits: required.iter().map(|(_, init)| init.clone()).collect(),
        })
    }

    fn migration<To: Pool, B: BundleIn<To>>(&mut self, arrival: Arrival, bundle: BundleId) -> usize {
        let Arrival { from, to, signature, inits } = arrival;
        if let Some(at) = self.archetypes.edges.migration(from, to, bundle.index()) {
            return at;
        }
        let target = self.archetype(to, signature);
        let edge = self.edge(from, target, |store, source, target| {
            if To::IS_GENERAL {
                store.insert_edge::<B::Values>(source, target, B::value_ids(), &inits)
            } else {
                let ids = (B::value_ids(), pooled(), To::tag());
                store.insert_edge::<PoolRow<B::Values>>(source, target, ids, &inits)
            }
        });
        self.archetypes.edges.add_migration(from, to, bundle.index(), edge)
    }
}
