//! An error that any error becomes, so that systems and commands can use `?` on all of them.
//!
//! [`AnyError`] keeps the error, how severe it is, and what was being done. It is no [`Error`] itself: only so can every
//! error be converted to it. On its way to the error handler it travels inside a box, where [`SystemError`] finds it.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use super::World;
use super::failure::{BoxedError, CommandOutput, SystemError};

/// How bad an error is, and with it what the world does about one that has no handler: the last is a panic, the first is
/// forgotten, those between are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It need not be reported.
    Ignore,
    /// For tracing every step.
    Trace,
    /// For finding a fault.
    Debug,
    /// Good to know.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something failed, and the program goes on.
    Error,
    /// The program cannot go on.
    Panic,
}

/// An error of any kind: what systems and commands return.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// fn heal(mut wounded: Query<&mut Health>) -> Result {
///     let mut health = wounded.single_mut()?;
///     health.0 = "12".parse().context("the level's file")?;
///     Ok(())
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, heal);
/// let hero = app.world_mut().spawn(Health(1)).id();
/// app.step(0.0);
/// assert_eq!(app.world().get::<Health>(hero).unwrap().0, 12);
/// ```
pub struct AnyError(Box<Parts>);

/// The name under which bevy programs know [`AnyError`].
pub type BevyError = AnyError;

/// A result whose error is any error; by default there is nothing to return.
pub type Result<T = (), E = AnyError> = std::result::Result<T, E>;

struct Parts {
    error: BoxedError,
    severity: Severity,
    /// What was being done, the latest last.
    context: Vec<Cow<'static, str>>,
}

impl AnyError {
    /// An error of a severity.
    pub fn new<E>(severity: Severity, error: E) -> Self
    where
        BoxedError: From<E>,
    {
        Self::from(error).with_severity(severity)
    }

    /// The error, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.error.downcast_ref()
    }

    /// Whether the error is of this type.
    pub fn is<E: Error + 'static>(&self) -> bool {
        self.0.error.is::<E>()
    }

    /// How severe it is: [`Severity::Panic`] unless set otherwise.
    pub fn severity(&self) -> Severity {
        self.0.severity
    }

    /// The same error, of another severity.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.0.severity = severity;
        self
    }

    /// The same error, with what was being done.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<Cow<'static, str>>) -> Self {
        self.0.context.push(context.into());
        self
    }

    /// The error as others pass it on.
    pub fn into_boxed(self) -> BoxedError {
        Box::new(Carried(self))
    }
}

impl<E> From<E> for AnyError
where
    BoxedError: From<E>,
{
    #[cold]
    fn from(error: E) -> Self {
        Self(Box::new(Parts { error: error.into(), severity: Severity::Panic, context: Vec::new() }))
    }
}

impl fmt::Display for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for context in self.0.context.iter().rev() {
            write!(f, "{context}: ")?;
        }
        self.0.error.fmt(f)
    }
}

impl fmt::Debug for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { error, severity, context } = &*self.0;
        f.debug_struct("AnyError")
            .field("error", error)
            .field("severity", severity)
            .field("context", context)
            .finish()
    }
}

/// An [`AnyError`] on its way to a handler.
#[derive(Debug)]
struct Carried(AnyError);

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Carried {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0.0.error)
    }
}

impl CommandOutput for std::result::Result<(), AnyError> {
    fn into_result(self) -> std::result::Result<(), BoxedError> {
        self.map_err(AnyError::into_boxed)
    }
}

impl SystemError {
    /// How severe the error is: [`Severity::Panic`] unless it came as an [`AnyError`] that says something else.
    pub fn severity(&self) -> Severity {
        self.error.downcast_ref().map_or(Severity::Panic, |Carried(error)| error.severity())
    }

    /// The error, if it is of this type, also inside an [`AnyError`].
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        match self.error.downcast_ref() {
            Some(Carried(error)) => error.downcast_ref(),
            None => self.error.downcast_ref(),
        }
    }
}

/// An error handler that does what the error's severity asks for; what a world does without a handler. Where it does
/// not panic and does not ignore, it writes as [`warn`](super::warn) does.
///
/// # Panics
/// For an error of [`Severity::Panic`].
#[track_caller]
pub fn match_severity(world: &mut World, error: SystemError) {
    match error.severity() {
        Severity::Ignore => {}
        Severity::Panic => super::panic(world, error),
        _ => super::warn(world, error),
    }
}

/// Says how severe the error of a result is.
pub trait ResultSeverityExt<T, E>: Sized {
    /// The same result, with an error of this severity.
    ///
    /// # Errors
    /// When the result was one.
    fn with_severity(self, severity: Severity) -> Result<T>;

    /// The same result, with an error of the severity that a function returns.
    ///
    /// # Errors
    /// When the result was one.
    fn map_severity(self, f: impl FnOnce(&E) -> Severity) -> Result<T>;

    /// As [`with_severity`](Self::with_severity), with [`Severity::Ignore`].
    ///
    /// # Errors
    /// When the result was one.
    fn ignore(self) -> Result<T> {
        self.with_severity(Severity::Ignore)
    }

    /// As [`with_severity`](Self::with_severity), with [`Severity::Trace`].
    ///
    /// # Errors
    /// When the result was one.
    fn trace(self) -> Result<T> {
        self.with_severity(Severity::Trace)
    }

    /// As [`with_severity`](Self::with_severity), with [`Severity::Info`].
    ///
    /// # Errors
    /// When the result was one.
    fn info(self) -> Result<T> {
        self.with_severity(Severity::Info)
    }

    /// As [`with_severity`](Self::with_severity), with [`Severity::Warning`].
    ///
    /// # Errors
    /// When the result was one.
    fn warn(self) -> Result<T> {
        self.with_severity(Severity::Warning)
    }

    /// As [`with_severity`](Self::with_severity), with [`Severity::Error`].
    ///
    /// # Errors
    /// When the result was one.
    fn error(self) -> Result<T> {
        self.with_severity(Severity::Error)
    }

    /// As [`with_severity`](Self::with_severity), with [`Severity::Panic`].
    ///
    /// # Errors
    /// When the result was one.
    fn panic(self) -> Result<T> {
        self.with_severity(Severity::Panic)
    }
}

impl<T, E: Into<AnyError>> ResultSeverityExt<T, E> for std::result::Result<T, E> {
    fn with_severity(self, severity: Severity) -> Result<T> {
        self.map_err(|error| error.into().with_severity(severity))
    }

    fn map_severity(self, f: impl FnOnce(&E) -> Severity) -> Result<T> {
        self.map_err(|error| {
            let severity = f(&error);
            error.into().with_severity(severity)
        })
    }
}

/// Says what was being done when something failed.
pub trait ContextExt<T>: Sized {
    /// The same result, with what was being done.
    ///
    /// # Errors
    /// When the result was one, or the option was empty.
    fn context(self, context: impl Into<Cow<'static, str>>) -> Result<T> {
        self.with_context(move || context)
    }

    /// As [`context`](Self::context), with a text that is only made when it is needed.
    ///
    /// # Errors
    /// When the result was one, or the option was empty.
    fn with_context<C: Into<Cow<'static, str>>>(self, context: impl FnOnce() -> C) -> Result<T>;
}

impl<T, E: Into<AnyError>> ContextExt<T> for std::result::Result<T, E> {
    fn with_context<C: Into<Cow<'static, str>>>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| error.into().with_context(context()))
    }
}

impl<T> ContextExt<T> for Option<T> {
    fn with_context<C: Into<Cow<'static, str>>>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.ok_or_else(|| AnyError::from(context().into().into_owned()))
    }
}
