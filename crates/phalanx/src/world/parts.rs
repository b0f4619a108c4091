//! The sparse parts of a change: which sets it concerns, and what required components bring along.
//!
//! The order is that of the whole world: functions of the user that make values run first, and when one of
//! them panics, what the others made is taken back; then everything gets to its place; values that are not
//! kept are dropped last.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Entity, Existing, FirstPanic, SetId};

use super::World;
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::registry::ComponentId;
use crate::storage::{SetPolicy, SparseParts};

impl World {
    /// The sparse set of a component, if it lives in one.
    pub(crate) fn set_of(&self, id: ComponentId) -> Option<SetId> {
        let info = self.components.get_info(id).filter(|info| info.is_sparse())?;
        self.store.set_of(info.columns()[0])
    }

    /// Whether an entity has a component that lives in a sparse set.
    pub(crate) fn has_sparse(&self, entity: Entity, id: ComponentId) -> bool {
        self.set_of(id).is_some_and(|set| self.store.set_row(set, entity).is_some())
    }

    /// Finds out anew which sets are open: after the first use of a bundle, and when pools come and go.
    pub(super) fn update_set_policies(&mut self) {
        let no_pools = self.archetypes.pools().len() == 1;
        for (column, entry) in self.sets.iter_mut().enumerate() {
            let open = no_pools && self.bundles.is_lone_sparse(column);
            entry.set_policy(if open { SetPolicy::Open } else { SetPolicy::Checked });
        }
    }

    /// Puts parts of a bundle into their sets, and tells what is left over of those that were there. `None` when the
    /// entity is dead, or there are no parts.
    #[inline(always)]
    pub(crate) fn put_sparse<P: SparseParts>(
        &mut self,
        entity: Entity,
        parts: P,
        existing: Existing,
    ) -> Option<P::Replaced> {
        if !P::ANY {
            return None;
        }
        let mut writer = self.store.set_writer(entity)?;
        let replaced = parts.insert(&mut writer, &self.sets, existing);
        writer.finish();
        Some(replaced)
    }

    /// Puts the sparse parts of a new entity into their sets. When a function of a required component panics, the
    /// entity is gone again.
    #[inline(always)]
    pub(crate) fn spawn_sparse<B: Bundle>(&mut self, entity: Entity, bundle: BundleId, sparse: B::Sparse) {
        if !self.bundles.info(bundle).required_sparse.is_empty() {
            self.spawn_required(entity, bundle);
        }
        // A new entity has nothing that could be replaced.
        self.put_sparse(entity, sparse, Existing::Replace);
    }

    #[cold]
    fn spawn_required(&mut self, entity: Entity, bundle: BundleId) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.put_required(entity, bundle))) {
            FirstPanic::ignore(|| self.store.despawn(entity));
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
                Ok(made) => put.extend(made.expect("a component's values are its columns").then_some(set)),
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
            FirstPanic::ignore(|| self.store.set_remove(set, entity));
        }
    }
}

/// Drops both, the second one even if the first one's drop panics; the first panic is passed on.
#[inline]
pub(crate) fn drop_both<A, B>(a: A, b: B) {
    // Evaluated before code is made: most bundles have no use for the guards, and do not compile them.
    if const { std::mem::needs_drop::<A>() && std::mem::needs_drop::<B>() } {
        let mut panics = FirstPanic::default();
        panics.guard(|| drop(a));
        panics.guard(|| drop(b));
        panics.resume();
    }
}
