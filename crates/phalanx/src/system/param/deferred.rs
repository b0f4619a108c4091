//! `Deferred`: a buffer of the system's own, applied to the world where its commands would be.
//!
//! What was queued by commands before is applied first, so that a buffer keeps its place in the order of systems.

use std::cell::{RefCell, RefMut};
use std::ops::{Deref, DerefMut};

use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{DeferredWorld, FromWorld, SharedWorld, World};

/// Something that a system fills and a world takes at the next sync point: by [`SystemBuffer::apply`] where structure
/// changes, by [`SystemBuffer::queue`] where it does not.
pub trait SystemBuffer: FromWorld + Send + 'static {
    /// Applies what was gathered, and leaves the buffer ready for the next run. Without an implementation of its own, it
    /// does what [`SystemBuffer::queue`] does.
    fn apply(&mut self, system_meta: &SystemMeta, world: &mut World) {
        self.queue(system_meta, world.into());
    }

    /// As [`SystemBuffer::apply`], where structure stands still: what comes and goes is recorded with
    /// [`DeferredWorld::commands`].
    fn queue(&mut self, system_meta: &SystemMeta, world: DeferredWorld<'_>) {
        let _ = (system_meta, world);
    }
}

/// A buffer of the system's own.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::system::SystemMeta;
///
/// #[derive(Resource, Default)]
/// struct Total(u32);
/// #[derive(Default)]
/// struct Sum(u32);
///
/// impl SystemBuffer for Sum {
///     fn apply(&mut self, _: &SystemMeta, world: &mut World) {
///         world.resource_mut::<Total>().0 += std::mem::take(&mut self.0);
///     }
/// }
///
/// fn count(mut sum: Deferred<Sum>) {
///     sum.0 += 1;
/// }
///
/// let mut app = App::new();
/// app.init_resource::<Total>().add_systems(Update, count);
/// app.step(0.0);
/// app.step(0.0);
/// assert_eq!(app.world().resource::<Total>().0, 2);
/// ```
pub struct Deferred<'s, B: SystemBuffer>(&'s mut B);

impl<B: SystemBuffer> Deferred<'_, B> {
    /// The same access for a shorter time.
    pub fn reborrow(&mut self) -> Deferred<'_, B> {
        Deferred(self.0)
    }
}

impl<B: SystemBuffer> Deref for Deferred<'_, B> {
    type Target = B;

    fn deref(&self) -> &B {
        self.0
    }
}

impl<B: SystemBuffer> DerefMut for Deferred<'_, B> {
    fn deref_mut(&mut self) -> &mut B {
        self.0
    }
}

/// A buffer that a system keeps.
pub struct Gathered<B> {
    buffer: RefCell<B>,
    meta: SystemMeta,
    /// Whether the system ran since the buffer was applied.
    ran: std::cell::Cell<bool>,
}

impl<B: SystemBuffer> SystemParam for Deferred<'_, B> {
    type State = Gathered<B>;
    type Guard<'w> = RefMut<'w, B>;
    type Item<'g> = Deferred<'g, B>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> Gathered<B> {
        meta.declare_deferred();
        let buffer = RefCell::new(B::from_world(world));
        Gathered { buffer, meta: meta.fork(), ran: std::cell::Cell::new(false) }
    }
    fn lock<'w>(state: &'w Gathered<B>, _: &'w SharedWorld<'w>, _: Run<'w>) -> RefMut<'w, B> {
        state.ran.set(true);
        state.buffer.borrow_mut()
    }
    fn item<'g>(guard: &'g mut RefMut<'_, B>) -> Deferred<'g, B> {
        Deferred(guard)
    }
    fn apply(state: &mut Gathered<B>, world: &mut World) {
        if state.ran.replace(false) {
            world.flush();
            state.buffer.get_mut().apply(&state.meta, world);
        }
    }
    fn visit_state(state: &mut Gathered<B>, visitor: &mut dyn StateVisitor) {
        let mut ran = u64::from(state.ran.get());
        visitor.number(&mut ran);
        state.ran.set(ran != 0);
        visitor.value(state.buffer.get_mut(), std::any::type_name::<B>());
    }
}
