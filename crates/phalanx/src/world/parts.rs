//! The sparse parts of a change: which sets it concerns, and what required components bring along.
//!
//! The order is that of the whole world: functions of the user that make values run first, and when one of
//! them panics, what the others made is taken back; then everything gets to its place; values that nobody
//! keeps are dropped last.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Entity, Existing, SetId, SetPlan};

use super::{ChangeError, NoSuchEntity, World};
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::registry::ComponentId;
use crate::storage::SparseParts;

impl World {
    /// The sparse set of a component, if it lives in one.
    pub(crate) fn set_of(&self, id: ComponentId) -> Option<SetId> {
        let info = self.components.get(id).filter(|info| info.is_sparse())?;
        self.store.set_of(info.columns()[0])
    }

    /// Whether an entity has a component that lives in a sparse set.
    pub(crate) fn has_sparse(&self, entity: Entity, id: ComponentId) -> bool {
        self.set_of(id).is_some_and(|set| self.store.set_row(set, entity).is_some())
    }

    /// Finds out anew in which sets a component goes without anybody else being asked, or nobody but groups: after the
    /// first use of a bundle, and when groups or pools come and go.
    pub(super) fn update_open_plans(&mut self) {
        let no_pools = self.archetypes.pools().len() == 1;
        let closed = SetPlan::closed();
        self.open_plans.clear();
        self.grouped_plans.clear();
        for (column, plan) in self.plans.iter().enumerate() {
            let lone = no_pools && self.bundles.is_lone_sparse(column);
            let grouped = self.groups.name(plan.set());
            let choose = |is: bool| if is { plan.clone() } else { closed.clone() };
            self.open_plans.push(choose(lone && !grouped));
            self.grouped_plans.push(choose(lone && grouped));
        }
    }

    /// Puts the sparse parts of a new entity into their sets. When a function of a required component panics, the
    /// entity is gone again.
    #[inline(always)]
    pub(crate) fn spawn_sparse<B: Bundle>(&mut self, entity: Entity, bundle: BundleId, sparse: B::Sparse) {
        if !self.bundles.info(bundle).required_sparse.is_empty() {
            self.spawn_required(entity, bundle);
        }
        // A new entity has nothing that could be replaced.
        sparse.insert(&mut self.store, &self.plans, entity, Existing::Replace);
    }

    #[cold]
    fn spawn_required(&mut self, entity: Entity, bundle: BundleId) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.put_required(entity, bundle))) {
            let _ = catch_unwind(AssertUnwindSafe(|| self.store.despawn(entity)));
            resume_unwind(panic);
        }
    }

    /// Makes a change after putting what the bundle requires into sets, where it is missing. When one of the user's
    /// functions panics, also during the change, what was required is gone again.
    #[inline(always)]
    pub(crate) fn with_required<R>(
        &mut self,
        entity: Entity,
        bundle: BundleId,
        change: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if self.bundles.info(bundle).required_sparse.is_empty() {
            return change(self);
        }
        let put = self.put_required(entity, bundle);
        match catch_unwind(AssertUnwindSafe(|| change(self))) {
            Ok(result) => result,
            Err(panic) => {
                self.take_back(entity, put);
                resume_unwind(panic)
            }
        }
    }

    /// Puts required components into sets, all of those that are missing or none, and tells which.
    #[cold]
    fn put_required(&mut self, entity: Entity, bundle: BundleId) -> Vec<SetId> {
        let mut put = Vec::new();
        for at in 0..self.bundles.info(bundle).required_sparse.len() {
            let (id, init) = self.bundles.info(bundle).required_sparse[at].clone();
            let set = self.set_of(id).expect("a required component is registered");
            let made = catch_unwind(AssertUnwindSafe(|| self.store.set_insert_made(set, entity, &[init])));
            match made {
                Ok(made) => put.extend(made.expect("a component's leaves are its columns").then_some(set)),
                Err(panic) => {
                    self.take_back(entity, put);
                    resume_unwind(panic);
                }
            }
        }
        put
    }

    /// Drops rows that were put for a change which did not happen. A panic is on its way: others are forgotten.
    fn take_back(&mut self, entity: Entity, sets: Vec<SetId>) {
        for set in sets {
            let _ = catch_unwind(AssertUnwindSafe(|| self.store.set_remove(set, entity)));
        }
    }
}

/// One sparse component that groups name, and nobody else has a say in.
impl World {
    #[inline(never)]
    pub(super) fn insert_grouped<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        let Some(door) = B::Sparse::door(&self.grouped_plans) else {
            return self.insert_bundle(entity, bundle, existing);
        };
        let (_, sparse) = bundle.into_values(self.store.tick());
        match sparse.insert_at(&mut self.store, door, entity, existing) {
            Ok(old) => {
                if B::Sparse::is_new(&old) {
                    let set = B::Sparse::set(door);
                    self.groups.after_gain(&mut self.store, &self.archetypes, entity, set);
                }
                drop(old);
                Ok(())
            }
            Err(_) => Err(NoSuchEntity::new(entity).into()),
        }
    }

    #[inline(never)]
    pub(super) fn remove_grouped<B: Bundle>(&mut self, entity: Entity) -> Result<(), ChangeError> {
        let Some(door) = B::Sparse::door(&self.grouped_plans) else {
            return self.remove_bundle::<B>(entity);
        };
        let set = B::Sparse::set(door);
        self.groups.before_loss(&mut self.store, entity, set);
        match B::Sparse::take_at(&mut self.store, door, entity) {
            Some(taken) => {
                self.groups.after_loss(&mut self.store, &self.archetypes, entity, set);
                drop(taken);
                Ok(())
            }
            None if self.contains(entity) => Ok(()),
            None => Err(NoSuchEntity::new(entity).into()),
        }
    }
}

/// Drops both, the second one even if the first one's drop panics; the first panic is passed on.
#[inline]
pub(crate) fn drop_both<A, B>(a: A, b: B) {
    if !std::mem::needs_drop::<A>() || !std::mem::needs_drop::<B>() {
        return;
    }
    let first = catch_unwind(AssertUnwindSafe(|| drop(a)));
    let second = catch_unwind(AssertUnwindSafe(|| drop(b)));
    if let Err(panic) = first.and(second) {
        resume_unwind(panic);
    }
}
