//! What systems of a schedule return: nothing, or a `Result` whose error goes to the error handler.
//!
//! A schedule keeps systems of one shape, so each is wrapped: its result becomes a [`BoxedError`] or nothing.

use std::any::TypeId;

use phalanx_store::Tick;

use super::access::Access;
use super::failed::ParamError;
use super::kept::StateVisitor;
use super::meta::ParamConflict;
use super::traits::{Mode, System};
use crate::world::{AnyError, BoxedError, Returns, SharedWorld, World};

/// Something that a system of a schedule may return.
#[diagnostic::on_unimplemented(
    message = "a system in a schedule cannot return `{Self}`",
    note = "return nothing, or `Result<(), E>` where `E` is an error"
)]
pub trait SystemOutput {
    /// Nothing, or the error.
    ///
    /// # Errors
    /// When the system returned one.
    fn into_result(self) -> Result<(), BoxedError>;
}

impl SystemOutput for () {
    #[inline]
    fn into_result(self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl<E: Into<BoxedError>> SystemOutput for Result<(), E> {
    #[inline]
    fn into_result(self) -> Result<(), BoxedError> {
        self.map_err(Into::into)
    }
}

impl SystemOutput for <fn() -> ! as Returns>::Output {
    fn into_result(self) -> Result<(), BoxedError> {
        self
    }
}

impl SystemOutput for Result<(), AnyError> {
    fn into_result(self) -> Result<(), BoxedError> {
        self.map_err(AnyError::into_boxed)
    }
}

/// Names systems where something could also be about sets. There is no value of it.
#[derive(Clone, Copy, Debug)]
pub enum ScheduleSystem {}

/// A system as a schedule keeps it.
pub(crate) type BoxedSystem = Box<dyn System<In = (), Out = ()>>;

/// Wraps a system so that it returns nothing or an error.
pub(crate) struct Finish<S>(pub(crate) S);

impl<S: System<In = (), Out: SystemOutput>> System for Finish<S> {
    type In = ();
    type Out = ();

    fn name(&self) -> &str {
        self.0.name()
    }
    fn key(&self) -> TypeId {
        self.0.key()
    }
    fn mode(&self) -> Mode {
        self.0.mode()
    }
    fn access(&self) -> &Access {
        self.0.access()
    }
    fn defers(&self) -> bool {
        self.0.defers()
    }
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        self.0.initialize(world)
    }
    fn update(&mut self, world: &World) {
        self.0.update(world);
    }
    #[inline]
    fn run(&mut self, (): (), world: &SharedWorld<'_>, now: Tick) -> Result<Self::Out, ParamError> {
        self.0.run((), world, now)?.into_result().map_err(ParamError::returned)
    }
    fn run_alone(&mut self, (): (), world: &mut World) -> Result<Self::Out, ParamError> {
        self.0.run_alone((), world)?.into_result().map_err(ParamError::returned)
    }
    fn apply(&mut self, world: &mut World) {
        self.0.apply(world);
    }
    fn discard(&mut self) {
        self.0.discard();
    }
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        self.0.visit_state(visitor);
    }
    fn forget_state(&mut self) {
        self.0.forget_state();
    }
}
