//! `NonSend`, `NonSendMut` and `NonSendMarker`: parameters of systems that run on the thread that runs the schedule.
//!
//! Such a system is alone in its stage, so it needs no flags: its values lie with the thread, and no other system is at
//! work. What is missing on this thread keeps the system from running, as a missing resource does.

use super::super::access::Access;
use super::super::failed::ParamError;
use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use crate::world::non_send::{lend_mut_of, lend_of};
use crate::world::{NonSend, NonSendMut, SharedWorld, World};

/// Makes a system run on the thread that runs the schedule.
///
/// ```
/// use phalanx::prelude::*;
///
/// let main = std::thread::current().id();
/// let mut app = App::new();
/// app.add_systems(Update, move |_: NonSendMarker| assert_eq!(std::thread::current().id(), main));
/// app.step(0.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NonSendMarker {
    /// Does not leave the thread.
    _on_thread: std::marker::PhantomData<*mut ()>,
}

/// The world's number, under which values are filed.
fn pin(world: &World, meta: &mut SystemMeta, param: String) -> u64 {
    let mut access = Access::new();
    access.pin();
    meta.declare(world, param, access);
    world.id()
}

#[cold]
fn missing<P>() -> ParamError {
    ParamError::new(
        short_type::<P>(),
        "a value that was inserted on this thread: insert it with `insert_non_send` on the thread that runs the schedule",
    )
}

impl SystemParam for NonSendMarker {
    type State = ();
    type Guard<'w> = ();
    type Item<'g> = Self;

    fn init(world: &mut World, meta: &mut SystemMeta) {
        pin(world, meta, "NonSendMarker".to_owned());
    }
    fn lock<'w>((): &'w (), _: &'w SharedWorld<'w>, _: Run<'w>) {}
    fn item((): &mut ()) -> Self {
        Self { _on_thread: std::marker::PhantomData }
    }
}

impl<R: 'static> SystemParam for NonSend<'_, R> {
    type State = u64;
    type Guard<'w> = u64;
    type Item<'g> = NonSend<'g, R>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> u64 {
        pin(world, meta, short_type::<Self>())
    }
    fn lock<'w>(state: &'w u64, _: &'w SharedWorld<'w>, _: Run<'w>) -> u64 {
        *state
    }
    fn check(guard: &mut u64) -> Result<(), ParamError> {
        lend_of::<R>(*guard).map(|_| ()).ok_or_else(missing::<Self>)
    }
    fn item<'g>(guard: &'g mut u64) -> NonSend<'g, R> {
        lend_of(*guard).expect("the parameter was checked")
    }
}

impl<R: 'static> SystemParam for NonSendMut<'_, R> {
    type State = u64;
    type Guard<'w> = u64;
    type Item<'g> = NonSendMut<'g, R>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> u64 {
        pin(world, meta, short_type::<Self>())
    }
    fn lock<'w>(state: &'w u64, _: &'w SharedWorld<'w>, _: Run<'w>) -> u64 {
        *state
    }
    fn check(guard: &mut u64) -> Result<(), ParamError> {
        lend_of::<R>(*guard).map(|_| ()).ok_or_else(missing::<Self>)
    }
    fn item<'g>(guard: &'g mut u64) -> NonSendMut<'g, R> {
        lend_mut_of(*guard).expect("the parameter was checked")
    }
}
