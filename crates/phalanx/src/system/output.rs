//! What systems of a schedule return: nothing, or a `Result` whose error goes to the error handler.
//!
//! A schedule keeps systems of one shape, so each that returns something is wrapped: its result becomes a [`BoxedError`]
//! or nothing. Conditions are wrapped by the same type, and their results become a `bool` or an error (`asked`).

use std::marker::PhantomData;

use phalanx_store::Tick;

use super::combine::as_system;
use super::failed::ParamError;
use super::meta::ParamConflict;
use super::read_only::ReadOnlySystem;
use super::traits::System;
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

    /// A system that returns this, as a schedule keeps it.
    #[doc(hidden)]
    fn boxed<S: System<In = (), Out = Self>>(system: S) -> Box<dyn System<In = (), Out = ()>>
    where
        Self: Sized,
    {
        Box::new(Finish::<_, Nothing>::new(system))
    }
}

impl SystemOutput for () {
    #[inline]
    fn into_result(self) -> Result<(), BoxedError> {
        Ok(())
    }

    /// It has the shape already: no wrapper is compiled for it.
    fn boxed<S: System<In = (), Out = ()>>(system: S) -> BoxedSystem {
        Box::new(system)
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

/// Makes a value or an error of what a system returns.
#[doc(hidden)]
pub trait Reads<Out>: 'static {
    /// The value.
    type Value: 'static;

    /// The value, or the error.
    ///
    /// # Errors
    /// When the system returned one.
    fn read(output: Out) -> Result<Self::Value, BoxedError>;
}

/// What a system of a schedule returns is nothing or an error.
enum Nothing {}

impl<Out: SystemOutput> Reads<Out> for Nothing {
    type Value = ();

    #[inline]
    fn read(output: Out) -> Result<(), BoxedError> {
        output.into_result()
    }
}

/// A system that returns what `K` reads of its result; the error, where there is one, is an error of its run.
pub struct Finish<S, K>(S, PhantomData<fn() -> K>);

impl<S, K> Finish<S, K> {
    pub(crate) fn new(system: S) -> Self {
        Self(system, PhantomData)
    }
}

impl<S: Clone, K> Clone for Finish<S, K> {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}

impl<S: ReadOnlySystem<In = ()>, K: Reads<S::Out>> ReadOnlySystem for Finish<S, K> {}

impl<S: System<In = ()>, K: Reads<S::Out>> System for Finish<S, K> {
    type In = ();
    type Out = K::Value;

    as_system!(0);
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        self.0.initialize(world)
    }
    #[inline]
    fn run(&mut self, (): (), world: &SharedWorld<'_>, now: Tick) -> Result<Self::Out, ParamError> {
        K::read(self.0.run((), world, now)?).map_err(ParamError::returned)
    }
    fn run_alone(&mut self, (): (), world: &mut World) -> Result<Self::Out, ParamError> {
        K::read(self.0.run_alone((), world)?).map_err(ParamError::returned)
    }
}
