//! `Commands` as a parameter: a queue of the system's own, handed to the world at the next sync point.
//!
//! The queue stays with the system and keeps its memory. Recording counts as writing the order of entity ids, so
//! that systems which spawn do so in the order of the schedule.

use std::cell::{RefCell, RefMut};

use super::super::access::{Access, Part};
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{Commands, Ids, Queue, SharedWorld, World};

/// The commands of one system.
#[derive(Default)]
pub struct Recorded(RefCell<Queue>);

/// The queue during a run.
pub struct Recording<'w> {
    queue: RefMut<'w, Queue>,
    ids: Ids<'w>,
}

impl SystemParam for Commands<'_, '_> {
    type State = Recorded;
    type Guard<'w> = Recording<'w>;
    type Item<'g> = Commands<'g, 'g>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> Recorded {
        let mut access = Access::new();
        access.write(Part::EntityIds);
        meta.declare(world, "Commands".to_owned(), access);
        meta.declare_deferred();
        Recorded::default()
    }
    fn lock<'w>(state: &'w Recorded, world: &'w SharedWorld<'w>, _: Run<'w>) -> Recording<'w> {
        Recording { queue: state.0.borrow_mut(), ids: Ids::Session(&world.store) }
    }
    fn item<'g>(guard: &'g mut Recording<'_>) -> Commands<'g, 'g> {
        Commands::recording(&mut guard.queue, guard.ids)
    }
    fn apply(state: &mut Recorded, world: &mut World) {
        world.take_commands(state.0.get_mut());
    }
    fn discard(state: &mut Recorded) {
        state.0.get_mut().clear();
    }
}
