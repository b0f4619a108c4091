//! `&World` as a parameter: everything, for reading.
//!
//! Such a system runs in a reading session, beside other readers; nothing in it can write but commands and
//! `Local`. It conflicts with every system that writes.

use super::super::access::Access;
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{SharedWorld, World};

impl SystemParam for &World {
    type State = ();
    type Guard<'w> = &'w World;
    type Item<'g> = &'g World;

    fn init(world: &mut World, meta: &mut SystemMeta) {
        let mut access = Access::new();
        access.read_all();
        meta.declare(world, "&World".to_owned(), access);
    }
    fn lock<'w>((): &'w (), world: &'w SharedWorld<'w>, _: Run<'w>) -> &'w World {
        world.whole.expect("a system with `&World` runs in a reading session")
    }
    fn item<'g>(guard: &'g mut &World) -> &'g World {
        guard
    }
}
