//! Functions as conditions, and what is wrong with those that are none.
//!
//! A function is looked at in steps, so that the compiler can name the one thing that is wrong:
//!
//! ```text
//!   ConditionShape    it is a function: its signature is known from here on
//!   ConditionParam    its first parameter says whether it shares the world or has it alone
//!   LaterParam        each other parameter fits that
//!   ConditionOutput   it returns `bool`, or a `Result` of it
//! ```
//!
//! Were they one step, none of the impls would apply, and all the compiler could say is that the function is no condition.

use std::marker::PhantomData;

use super::condition::SystemCondition;
use super::exclusive::{ExclusiveParam, IsExclusive};
use super::function::IsFunction;
use super::output::{Finish, Reads};
use super::param::SystemParam;
use super::traits::{IntoSystem, System};
use super::tuples::for_each_params;
use crate::world::{AnyError, BoxedError, Returns, World};

/// Marks functions, with their signature and kind.
#[doc(hidden)]
pub struct IsConditionOf<Signature, Kind>(PhantomData<(Signature, Kind)>);

/// The kind of functions that share the world.
#[doc(hidden)]
pub struct Sharing;
/// The kind of functions that have the world to themselves.
#[doc(hidden)]
pub struct Alone;

/// What is written like a condition: a function or a system.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "expected a function that returns `bool`",
    note = "a condition is a function with up to 16 parameters, which are system parameters; it returns `bool` or `Result<bool, E>`"
)]
pub trait ConditionShape<Marker>: Sized {}

// Systems are marked as in bevy, whose programs return `impl SystemCondition<()>`.
impl<S: System> ConditionShape<()> for S {}

/// The first parameter of a condition, which says how it wants the world.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a condition",
    label = "this condition has a parameter of type `{Self}`"
)]
pub trait ConditionParam<Kind> {}
impl<P: SystemParam> ConditionParam<Sharing> for P {}
impl ConditionParam<Alone> for &mut World {}

/// A parameter of a condition that fits the first one.
#[doc(hidden)]
pub trait LaterParam<Kind> {}
impl<P: SystemParam> LaterParam<Sharing> for P {}
impl<P: ExclusiveParam> LaterParam<Alone> for P {}

/// Something that a condition may return.
#[diagnostic::on_unimplemented(
    message = "a condition cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "return `bool`, or `Result<bool, E>` where `E` is an error: it goes to the error handler, and counts as false"
)]
pub trait ConditionOutput: 'static {
    /// The answer, or the error.
    ///
    /// # Errors
    /// When the condition returned one.
    fn into_answer(self) -> Result<bool, BoxedError>;
}

impl ConditionOutput for bool {
    #[inline]
    fn into_answer(self) -> Result<bool, BoxedError> {
        Ok(self)
    }
}

impl<E: Into<BoxedError> + 'static> ConditionOutput for Result<bool, E> {
    fn into_answer(self) -> Result<bool, BoxedError> {
        self.map_err(Into::into)
    }
}

impl ConditionOutput for Result<bool, AnyError> {
    fn into_answer(self) -> Result<bool, BoxedError> {
        self.map_err(AnyError::into_boxed)
    }
}

// A closure that always panics, or never ends.
impl ConditionOutput for <fn() -> ! as Returns>::Output {
    fn into_answer(self) -> Result<bool, BoxedError> {
        self
    }
}

/// A function of a kind, as a system without input.
#[doc(hidden)]
pub trait ConditionOf<Signature, Out, Kind> {
    /// The system.
    type System: System<In = (), Out = Out>;

    /// Makes it.
    fn system(self) -> Self::System;
}

impl<F, Signature, Out> ConditionOf<Signature, Out, Sharing> for F
where
    F: IntoSystem<(), Out, (IsFunction, Signature)>,
{
    type System = F::System;

    fn system(self) -> F::System {
        self.into_system()
    }
}

macro_rules! condition {
    () => {
        impl<Func, Out> ConditionShape<IsConditionOf<fn() -> Out, Sharing>> for Func where
            for<'a> &'a mut Func: FnMut() -> Out
        {
        }
        impl<Func, Out> SystemCondition<IsConditionOf<fn() -> Out, Sharing>> for Func
        where
            for<'a> &'a mut Func: FnMut() -> Out,
            Out: ConditionOutput,
            Func: ConditionOf<fn() -> Out, Out, Sharing>,
        {
            type Condition = Asked<Func::System>;

            fn into_condition(self) -> Self::Condition {
                Finish::new(self.system())
            }
        }
    };
    (($first:ident $zero:tt) $(($name:ident $at:tt))*) => {
        impl<'x, Func, Out, $($name),*> ConditionOf<fn(&'x mut World, $($name),*) -> Out, Out, Alone> for Func
        where
            Func: IntoSystem<(), Out, (IsExclusive, fn(&mut World, $($name),*) -> Out)>,
        {
            type System = Func::System;

            fn system(self) -> Func::System {
                self.into_system()
            }
        }
        impl<Func, Out, Kind, $first, $($name),*>
            ConditionShape<IsConditionOf<fn($first, $($name),*) -> Out, Kind>> for Func
        where
            for<'a> &'a mut Func: FnMut($first, $($name),*) -> Out,
        {
        }
        impl<Func, Out, Kind, $first, $($name),*>
            SystemCondition<IsConditionOf<fn($first, $($name),*) -> Out, Kind>> for Func
        where
            for<'a> &'a mut Func: FnMut($first, $($name),*) -> Out,
            $first: ConditionParam<Kind>,
            $($name: LaterParam<Kind>,)*
            Out: ConditionOutput,
            Func: ConditionOf<fn($first, $($name),*) -> Out, Out, Kind>,
        {
            type Condition = Asked<Func::System>;

            fn into_condition(self) -> Self::Condition {
                Finish::new(self.system())
            }
        }
    };
}
for_each_params!(condition);

impl<S: System<In = (), Out: ConditionOutput>> SystemCondition<()> for S {
    type Condition = Asked<S>;

    fn into_condition(self) -> Asked<S> {
        Finish::new(self)
    }
}

/// A system as a condition: what it returns is a `bool`, or an error of its run.
pub type Asked<S> = Finish<S, ReadsCondition>;

/// What a condition returns is an answer.
pub enum ReadsCondition {}

impl<Out: ConditionOutput> Reads<Out> for ReadsCondition {
    type Value = bool;

    #[inline]
    fn read(output: Out) -> Result<bool, BoxedError> {
        output.into_answer()
    }
}
