//! The teller of stories, once with bevy_ecs and once with Phalanx.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BUNDLES, EVENTS, Effect, FUEL, Op, Story};

pub mod bevy {
    use bevy_ecs::lifecycle::HookContext;
    use bevy_ecs::prelude::*;
    use bevy_ecs::world::DeferredWorld;

    use super::*;

    /// An observer is an entity.
    type Listener = Entity;
    fn listener(added: EntityWorldMut) -> Listener {
        added.id()
    }
    fn forget(world: &mut World, listener: Listener) {
        world.despawn(listener);
    }

    include!("teller.rs");
}

pub mod phalanx {
    use ::phalanx::prelude::*;

    use super::*;

    type Listener = ObserverId;
    fn listener(added: ObserverId) -> Listener {
        added
    }
    fn forget(world: &mut World, listener: Listener) {
        world.remove_observer(listener);
    }

    include!("teller.rs");
}
