//! Errors of systems, conditions and commands, and the handlers that get them.
//!
//! A world has one error handler. Without one, an error is a panic that names what failed. The handler gets the world,
//! at a moment when its structure is valid and no command is half applied; it may be replaced, but not called again
//! while it runs: an error inside a handler is a panic.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, TryLockError};

use super::World;

/// Any error.
pub type BoxedError = Box<dyn Error + Send + Sync + 'static>;

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failed {
    /// A system: it returned an error, or one of its parameters could not be had.
    System,
    /// A condition: one of its parameters could not be had.
    Condition,
    /// A command: it returned an error, or its entity was despawned.
    Command,
    /// A component hook: it panicked.
    Hook,
    /// An observer: it returned an error or panicked, one of its parameters could not be had, or events cause one
    /// another without end.
    Observer,
}

/// An error that a system, a condition or a command ended with.
#[derive(Debug)]
#[non_exhaustive]
pub struct SystemError {
    /// What failed.
    pub failed: Failed,
    /// The name of the system or condition, or of the command's function.
    pub system: String,
    /// The error.
    pub error: BoxedError,
}

impl SystemError {
    pub(crate) fn new(failed: Failed, name: impl Into<String>, error: BoxedError) -> Self {
        Self { failed, system: name.into(), error }
    }
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.failed {
            Failed::System => "system",
            Failed::Condition => "condition",
            Failed::Command => "command",
            Failed::Hook => "hook",
            Failed::Observer => "observer",
        };
        write!(f, "{what} `{}` failed: {}", self.system, self.error)
    }
}

impl Error for SystemError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}

/// A handler of errors, handed out by its world. Clones are the same handler.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::error::ignore;
///
/// let mut world = World::new();
/// world.set_error_handler(ignore);
/// let handler = world.fallback_error_handler();
/// let fails = |_: &mut World| Err("it failed");
/// world.commands().queue_handled(fails, move |world, error| handler.handle(world, error));
/// world.flush();
/// ```
#[derive(Clone)]
pub struct ErrorHandler(Arc<Mutex<dyn FnMut(&mut World, SystemError) + Send + Sync>>);

impl ErrorHandler {
    /// A handler.
    pub fn new(handler: impl FnMut(&mut World, SystemError) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Mutex::new(handler)))
    }

    /// Hands an error to the handler.
    ///
    /// # Panics
    /// When the handler does, or runs at the moment.
    #[track_caller]
    pub fn handle(&self, world: &mut World, error: SystemError) {
        let mut handler = match self.0.try_lock() {
            Ok(handler) => handler,
            // It panicked before, and is asked again.
            Err(TryLockError::Poisoned(handler)) => handler.into_inner(),
            Err(TryLockError::WouldBlock) => panic!("an error inside of an error handler: {error}"),
        };
        handler(world, error);
    }
}

impl fmt::Debug for ErrorHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorHandler").finish_non_exhaustive()
    }
}

/// Something that a command may return.
#[diagnostic::on_unimplemented(
    message = "a command cannot return `{Self}`",
    note = "return nothing, or `Result<(), E>` where `E` is an error"
)]
pub trait CommandOutput {
    /// Nothing, or the error.
    ///
    /// # Errors
    /// When the command returned one.
    fn into_result(self) -> Result<(), BoxedError>;
}

impl CommandOutput for () {
    #[inline]
    fn into_result(self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl<E: Into<BoxedError>> CommandOutput for Result<(), E> {
    #[inline]
    fn into_result(self) -> Result<(), BoxedError> {
        self.map_err(Into::into)
    }
}

/// The type that a function without an end returns, which has no stable name of its own.
#[doc(hidden)]
pub trait Returns {
    /// What the function returns.
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

impl CommandOutput for <fn() -> ! as Returns>::Output {
    fn into_result(self) -> Result<(), BoxedError> {
        self
    }
}

/// An error handler that panics with the error's text; what a world does without a handler.
///
/// # Panics
/// Always.
#[allow(clippy::needless_pass_by_value, reason = "handlers own the error")]
#[track_caller]
pub fn panic(_: &mut World, error: SystemError) {
    panic!("{error}")
}

/// An error handler that writes the error's text to the standard error, or to the log with the feature `trace`.
#[allow(clippy::needless_pass_by_value, reason = "handlers own the error")]
pub fn warn(_: &mut World, error: SystemError) {
    #[cfg(feature = "trace")]
    tracing::warn!("{error}");
    #[cfg(not(feature = "trace"))]
    eprintln!("warning: {error}");
}

/// An error handler that does nothing.
pub fn ignore(_: &mut World, _: SystemError) {}

impl World {
    /// Sets the handler of the errors of systems, conditions and commands. Without a handler an error is a panic.
    ///
    /// ```
    /// use phalanx::prelude::*;
    /// use phalanx::error::ignore;
    ///
    /// let mut world = World::new();
    /// world.set_error_handler(ignore);
    /// world.commands().queue(|_: &mut World| Err("not reported"));
    /// world.flush();
    /// ```
    pub fn set_error_handler(
        &mut self,
        handler: impl FnMut(&mut World, SystemError) + Send + Sync + 'static,
    ) {
        self.handler = Some(ErrorHandler::new(handler));
    }

    /// The handler that was set last; one that panics, or does what the error's severity says, where none was.
    pub fn fallback_error_handler(&self) -> ErrorHandler {
        self.handler.clone().unwrap_or_else(|| ErrorHandler::new(super::match_severity))
    }

    /// Hands an error to the handler.
    ///
    /// # Panics
    /// When there is no handler, or it panics.
    #[cold]
    #[track_caller]
    pub(crate) fn fail(&mut self, error: SystemError) {
        let Some(handler) = self.handler.take() else { return super::match_severity(self, error) };
        let outcome = catch_unwind(AssertUnwindSafe(|| handler.handle(self, error)));
        self.handler.get_or_insert(handler);
        if let Err(payload) = outcome {
            resume_unwind(payload);
        }
    }
}
