//! Functions as systems of a schedule, and what is wrong with those that are none.
//!
//! A function is looked at in three steps, so that the compiler can name the one parameter that is wrong:
//!
//! ```text
//!   ConfigureSystems   it is a function: its signature is known from here on
//!   FirstParam         its first parameter says which kind of system it is
//!   LaterParam         each other parameter fits that kind
//! ```
//!
//! Were they one step, none of the impls would apply, and all the compiler could say is that the function is no system.

use std::marker::PhantomData;

use super::config::{ConfigureSystems, IntoSystemConfigs, RunIf, SystemConfigs, single};
use crate::system::tuples::for_each_params;
use crate::system::{
    ConditionShape, ExclusiveParam, HasInput, IntoSystem, IsExclusive, IsFunction, Observer, On,
    SystemCondition, SystemOutput, SystemParam,
};
use crate::world::{DeferredWorld, EventPattern, World};

/// Marks functions, with their signature and kind.
#[doc(hidden)]
pub struct IsFunctionOf<Signature, Kind>(PhantomData<(Signature, Kind)>);

/// The kind of functions that share the world.
#[doc(hidden)]
pub struct Sharing;
/// The kind of functions that have the world to themselves.
#[doc(hidden)]
pub struct Alone;
/// The kind of functions that have all values to themselves, while structure stands still.
#[doc(hidden)]
pub struct Deferring;
/// The kind of functions that events start.
#[doc(hidden)]
pub struct Observing;

/// The first parameter of a function, which says what kind of system it is.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a system",
    label = "this system has a parameter of type `{Self}`",
    note = "parameters are `Query`, `Res`, `ResMut`, `Commands`, `MessageReader`, `MessageWriter`, `Local`, `ParamSet`, `&World`, tuples of them, and `#[derive(SystemParam)]` structs; an exclusive system takes `&mut World` first",
    note = "`In` is for systems that are given something: `other.pipe(this)`"
)]
pub trait FirstParam<Kind> {}
impl<P: SystemParam> FirstParam<Sharing> for P {}
impl FirstParam<Alone> for &mut World {}
impl FirstParam<Deferring> for DeferredWorld<'_> {}

/// A parameter that fits the kind of its function.
#[doc(hidden)]
pub trait LaterParam<Kind> {}
impl<P: SystemParam> LaterParam<Sharing> for P {}
impl<P: ExclusiveParam> LaterParam<Alone> for P {}
impl<P: ExclusiveParam> LaterParam<Deferring> for P {}

/// A function of a kind, as a system without input.
#[doc(hidden)]
pub trait FunctionOf<Signature, Out, Kind> {
    /// Adds it to nothing yet.
    fn configs(self) -> SystemConfigs;
}

impl<F, Signature, Out: SystemOutput> FunctionOf<Signature, Out, Sharing> for F
where
    F: IntoSystem<(), Out, (IsFunction, Signature)>,
{
    fn configs(self) -> SystemConfigs {
        single(self.into_system())
    }
}

macro_rules! exclusive {
    ($(($name:ident $at:tt))*) => {
        exclusive!(@ Alone [&'x mut World] [&mut World] $(($name $at))*);
        exclusive!(@ Deferring [DeferredWorld<'x>] [DeferredWorld<'_>] $(($name $at))*);
    };
    (@ $kind:ident [$given:ty] [$whole:ty] $(($name:ident $at:tt))*) => {
        impl<'x, Func, Out: SystemOutput, $($name),*> FunctionOf<fn($given, $($name),*) -> Out, Out, $kind> for Func
        where
            Func: IntoSystem<(), Out, (IsExclusive, fn($whole, $($name),*) -> Out)>,
        {
            fn configs(self) -> SystemConfigs {
                single(self.into_system())
            }
        }
    };
}
for_each_params!(exclusive);

macro_rules! function {
    () => {
        impl<Func, Out, Kind> ConfigureSystems<IsFunctionOf<fn() -> Out, Kind>> for Func
        where
            for<'a> &'a mut Func: FnMut() -> Out,
        {
        }
        impl<Func, Out: SystemOutput> IntoSystemConfigs<IsFunctionOf<fn() -> Out, Sharing>> for Func
        where
            for<'a> &'a mut Func: FnMut() -> Out,
            Func: FunctionOf<fn() -> Out, Out, Sharing>,
        {
            fn into_configs(self) -> SystemConfigs {
                self.configs()
            }
        }
    };
    (($first:ident $zero:tt) $(($name:ident $at:tt))*) => {
        impl<Func, Out, Kind, $first, $($name),*>
            ConfigureSystems<IsFunctionOf<fn($first, $($name),*) -> Out, Kind>> for Func
        where
            for<'a> &'a mut Func: FnMut($first, $($name),*) -> Out,
        {
        }
        impl<Func, Out, Kind, $first, $($name),*>
            IntoSystemConfigs<IsFunctionOf<fn($first, $($name),*) -> Out, Kind>> for Func
        where
            for<'a> &'a mut Func: FnMut($first, $($name),*) -> Out,
            $first: FirstParam<Kind>,
            $($name: LaterParam<Kind>,)*
            Out: SystemOutput,
            Func: FunctionOf<fn($first, $($name),*) -> Out, Out, Kind>,
        {
            fn into_configs(self) -> SystemConfigs {
                self.configs()
            }
        }
    };
}
for_each_params!(function);

macro_rules! observer {
    ($(($name:ident $at:tt))*) => {
        impl<'x, 'y, Func, Event, Out, $($name),*>
            RunIf<IsFunctionOf<fn(On<'x, 'y, Event>, $($name),*) -> Out, Observing>, Observer> for Func
        where
            Event: EventPattern + 'static,
            Out: SystemOutput + 'static,
            Func: IntoSystem<
                    On<'static, 'static, Event>,
                    Out,
                    (IsFunction, (HasInput, fn(On<'static, 'static, Event>, $($name),*) -> Out)),
                >,
        {
            fn with_condition<Mark>(self, condition: impl ConditionShape<Mark> + SystemCondition<Mark>) -> Observer {
                Observer::new(self).run_if(condition)
            }
        }
    };
}
for_each_params!(observer);

/// A function with more parameters than a system may have.
#[doc(hidden)]
pub struct TooManyParams<F>(PhantomData<F>);

/// Holds for no type.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this system has more than 16 parameters",
    label = "too many parameters",
    note = "put some of them into a tuple, which is one parameter: `(time, score): (Res<Time>, ResMut<Score>)`",
    note = "or into a struct with `#[derive(SystemParam)]`"
)]
pub trait AtMostSixteenParams {}

macro_rules! too_many {
    ($(($($name:ident)*))*) => {$(
        impl<Func, Out, Kind, $($name),*> ConfigureSystems<IsFunctionOf<fn($($name),*) -> Out, Kind>> for Func
        where
            for<'a> &'a mut Func: FnMut($($name),*) -> Out,
        {
        }
        impl<Func, Out, Kind, $($name),*> IntoSystemConfigs<IsFunctionOf<fn($($name),*) -> Out, Kind>> for Func
        where
            for<'a> &'a mut Func: FnMut($($name),*) -> Out,
            TooManyParams<Func>: AtMostSixteenParams,
        {
            fn into_configs(self) -> SystemConfigs {
                unreachable!("there is no such impl")
            }
        }
    )*};
}
too_many! {
    (A B C D E F G H I J K L M N O P Q)
    (A B C D E F G H I J K L M N O P Q R)
    (A B C D E F G H I J K L M N O P Q R S)
    (A B C D E F G H I J K L M N O P Q R S T)
}
