//! `&Archetypes`, `&Components` and `&Entities`: what a world is made of, to be looked at beside other systems.
//!
//! The structure of a world stands still while systems run, so the first two conflict with no system. Entities can be
//! reserved through a shared reference, so a system that looks at them keeps its order with those that spawn.

use phalanx_store::Entities;

use super::super::access::{Access, Part};
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::archetype::Archetypes;
use crate::registry::Components;
use crate::world::{SharedWorld, World};

impl SystemParam for &Archetypes {
    type State = ();
    type Guard<'w> = &'w Archetypes;
    type Item<'g> = &'g Archetypes;

    fn init(_: &mut World, _: &mut SystemMeta) {}
    fn lock<'w>((): &'w (), world: &'w SharedWorld<'w>, _: Run<'w>) -> &'w Archetypes {
        world.archetypes
    }
    fn item<'g>(guard: &'g mut &Archetypes) -> &'g Archetypes {
        guard
    }
}

impl SystemParam for &Components {
    type State = ();
    type Guard<'w> = &'w Components;
    type Item<'g> = &'g Components;

    fn init(_: &mut World, _: &mut SystemMeta) {}
    fn lock<'w>((): &'w (), world: &'w SharedWorld<'w>, _: Run<'w>) -> &'w Components {
        world.components
    }
    fn item<'g>(guard: &'g mut &Components) -> &'g Components {
        guard
    }
}

impl SystemParam for &Entities {
    type State = ();
    type Guard<'w> = &'w Entities;
    type Item<'g> = &'g Entities;

    fn init(world: &mut World, meta: &mut SystemMeta) {
        let mut access = Access::new();
        access.read(Part::EntityIds);
        meta.declare(world, "&Entities".to_owned(), access);
    }
    fn lock<'w>((): &'w (), world: &'w SharedWorld<'w>, _: Run<'w>) -> &'w Entities {
        world.store.entities()
    }
    fn item<'g>(guard: &'g mut &Entities) -> &'g Entities {
        guard
    }
}
