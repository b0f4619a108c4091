//! What a change will do to the components of an entity that have listeners.
//!
//! All of it follows from signatures, before a value has moved: so values that go can be announced while they can still
//! be read. Several commands on one entity are foreseen as the one move that they become.

use phalanx_store::{Entity, Existing};

use super::Changes;
use crate::bundles::{BundleId, BundleInfo};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

/// What inserting a bundle does, of whose components with listeners these are there.
pub(super) fn inserting(info: &BundleInfo, present: &Signature, existing: Existing) -> Changes {
    let add = info.heard.difference(present);
    if existing == Existing::Keep || present.is_empty() {
        return Changes::coming(add);
    }
    // What is required and there stays as it is.
    let discard = present.intersection(&info.explicit());
    Changes { insert: add.union(&discard), add, discard, ..Changes::default() }
}

/// What removing a bundle does, of whose components with listeners these are there.
pub(super) fn removing(info: &BundleInfo, present: &Signature) -> Changes {
    // What is required stays.
    Changes::leaving(present.intersection(&info.explicit()))
}

impl World {
    /// What inserting a bundle does.
    pub(crate) fn foresee_insert(&self, entity: Entity, bundle: BundleId, existing: Existing) -> Changes {
        let info = self.bundles.info(bundle);
        inserting(info, &self.present_of(entity, &info.heard), existing)
    }

    /// What removing a bundle does.
    pub(crate) fn foresee_remove(&self, entity: Entity, bundle: BundleId) -> Changes {
        let info = self.bundles.info(bundle);
        removing(info, &self.present_of(entity, &info.heard))
    }

    /// What removing everything but some components does.
    pub(crate) fn foresee_retain(&self, entity: Entity, kept: &Signature) -> Changes {
        Changes::leaving(self.present_of(entity, &self.reactions.heard().difference(kept)))
    }

    /// What removing a component does, which is there.
    pub(crate) fn foresee_remove_id(&self, id: ComponentId) -> Changes {
        Changes::leaving(self.reactions.heard().intersection(&Signature::empty().with(id)))
    }

    /// What despawning does; nothing when it has no listener.
    pub(crate) fn foresee_despawn(&self, entity: Entity) -> Changes {
        Changes { despawns: true, ..Changes::leaving(self.present_of(entity, self.reactions.heard())) }
    }

    /// What a component that is inserted by its id does.
    pub(crate) fn foresee_insert_id(&self, entity: Entity, id: ComponentId) -> Changes {
        let ids = self.reactions.heard().intersection(&Signature::empty().with(id));
        let present = self.present_of(entity, &ids);
        Changes { add: ids.difference(&present), insert: ids, discard: present, ..Changes::default() }
    }
}

/// What several changes of one entity become, as one.
pub(crate) struct Foreseen {
    before: Signature,
    now: Signature,
    /// The components that got a value and were not removed since.
    fresh: Signature,
}

impl Foreseen {
    /// Nothing has changed so far. `heard` are the components that matter.
    pub(crate) fn new(world: &World, entity: Entity, heard: &Signature) -> Self {
        let before = world.present_of(entity, heard);
        Self { now: before.clone(), before, fresh: Signature::empty() }
    }

    /// A bundle comes.
    pub(crate) fn insert(&mut self, info: &BundleInfo, existing: Existing) {
        let missing = info.heard.difference(&self.now);
        let gets = match existing {
            Existing::Keep => missing,
            Existing::Replace => missing.union(&info.heard.intersection(&info.explicit())),
        };
        self.now = self.now.union(&gets);
        self.fresh = self.fresh.union(&gets);
    }

    /// A bundle goes.
    pub(crate) fn remove(&mut self, info: &BundleInfo) {
        let gone = info.explicit();
        self.now = self.now.difference(&gone);
        self.fresh = self.fresh.difference(&gone);
    }

    /// What the one move does.
    pub(crate) fn changes(self) -> Changes {
        let Self { before, now, fresh } = self;
        let remove = before.difference(&now);
        Changes {
            despawns: false,
            discard: remove.union(&before.intersection(&fresh)),
            remove,
            add: now.difference(&before),
            insert: fresh,
        }
    }
}
