//! The teller of stories, once with bevy_ecs and once with Phalanx.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BUNDLES, EVENTS, Effect, FUEL, Op, Story};

pub mod bevy {
    use bevy_ecs::lifecycle::HookContext;
    use bevy_ecs::prelude::*;
    use bevy_ecs::world::DeferredWorld;

    use super::*;

    include!("teller.rs");
}

pub mod phalanx {
    use ::phalanx::prelude::*;

    use super::*;

    include!("teller.rs");
}
