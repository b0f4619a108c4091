//! Functions and closures as systems.
//!
//! A function is a system when each of its parameters is a [`SystemParam`], up to twelve; the first may be
//! [`Input`], which is what a pipe passes on. The marker of the implementation is the function's own signature.

use std::any::TypeId;
use std::marker::PhantomData;

use phalanx_store::Tick;

use super::access::Access;
use super::failed::ParamError;
use super::meta::{ParamConflict, Run, SystemMeta};
use super::names::short_function;
use super::param::SystemParam;
use super::traits::{IntoSystem, Mode, System, run_in_own_session};
use crate::world::{SharedWorld, World};

/// What the system before in a pipe returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input<T>(pub T);

impl<T> std::ops::Deref for Input<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Marks systems made from functions.
#[doc(hidden)]
pub struct IsFunction;

/// A function whose parameters are system parameters.
pub trait SystemParamFunction<Marker>: Send + 'static {
    /// What it is given.
    type In;
    /// What it returns.
    type Out;
    /// Its parameters.
    type Param: SystemParam;

    /// Calls it.
    fn run(&mut self, input: Self::In, params: <Self::Param as SystemParam>::Item<'_>) -> Self::Out;
}

/// A system made from a function.
pub struct FunctionSystem<Marker, F: SystemParamFunction<Marker>> {
    function: F,
    state: Option<<F::Param as SystemParam>::State>,
    meta: SystemMeta,
    last_run: Tick,
    of: PhantomData<fn() -> Marker>,
}

impl<Marker: 'static, F: SystemParamFunction<Marker>> IntoSystem<F::In, F::Out, (IsFunction, Marker)> for F {
    type System = FunctionSystem<Marker, F>;

    fn into_system(self) -> Self::System {
        FunctionSystem {
            function: self,
            state: None,
            meta: SystemMeta::new(short_function::<F>()),
            last_run: Tick::ZERO,
            of: PhantomData,
        }
    }
}

impl<Marker: 'static, F: SystemParamFunction<Marker>> System for FunctionSystem<Marker, F> {
    type In = F::In;
    type Out = F::Out;

    fn name(&self) -> &str {
        self.meta.name()
    }
    fn key(&self) -> TypeId {
        TypeId::of::<F>()
    }
    fn mode(&self) -> Mode {
        Mode::of(self.meta.access())
    }
    fn access(&self) -> &Access {
        self.meta.access()
    }
    fn defers(&self) -> bool {
        self.meta.defers
    }
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        if self.state.is_some() {
            return Ok(());
        }
        let fresh = self.meta.fork();
        let before = std::mem::replace(&mut self.meta, fresh);
        let state = F::Param::init(world, &mut self.meta);
        let checked = self.meta.checked(before);
        if checked.is_ok() {
            self.state = Some(state);
        }
        checked
    }
    fn update(&mut self, world: &World) {
        if let Some(state) = &mut self.state {
            F::Param::update(state, world);
        }
    }
    // One copy of the function, for the schedule and for running alone.
    #[inline(never)]
    fn run(&mut self, input: F::In, world: &SharedWorld<'_>, now: Tick) -> Result<F::Out, ParamError> {
        let Some(state) = &self.state else { unreachable!("a system is initialized before it runs") };
        let run = Run { name: self.meta.name(), now, since: self.last_run };
        let out = {
            let mut guard = F::Param::lock(state, world, run);
            F::Param::check(&guard)?;
            self.function.run(input, F::Param::item(&mut guard))
        };
        self.last_run = now;
        Ok(out)
    }
    fn run_alone(&mut self, input: F::In, world: &mut World) -> Result<F::Out, ParamError> {
        run_in_own_session(self, input, world)
    }
    fn apply(&mut self, world: &mut World) {
        if let Some(state) = &mut self.state {
            F::Param::apply(state, world);
        }
    }
    fn discard(&mut self) {
        if let Some(state) = &mut self.state {
            F::Param::discard(state);
        }
    }
}

macro_rules! function {
    ($(($name:ident $at:tt))*) => {
        impl<Out, Func, $($name: SystemParam),*> SystemParamFunction<fn($($name,)*) -> Out> for Func
        where
            Func: Send + 'static,
            for<'a> &'a mut Func:
                FnMut($($name),*) -> Out + FnMut($(<$name as SystemParam>::Item<'_>),*) -> Out,
        {
            type In = ();
            type Out = Out;
            type Param = ($($name,)*);

            #[inline]
            #[allow(non_snake_case)]
            fn run(&mut self, _: (), params: <Self::Param as SystemParam>::Item<'_>) -> Out {
                // Tells the compiler which of the two `FnMut` is meant.
                #[allow(clippy::too_many_arguments)]
                fn call<Out, $($name),*>(mut f: impl FnMut($($name),*) -> Out, $($name: $name),*) -> Out {
                    f($($name),*)
                }
                let ($($name,)*) = params;
                call(self, $($name),*)
            }
        }
    };
}
phalanx_store::for_each_tuple!(function);

/// Marks functions whose first parameter is [`Input`].
#[doc(hidden)]
pub struct HasInput;

macro_rules! function_with_input {
    ($(($name:ident $at:tt))*) => {
        impl<Given, Out, Func, $($name: SystemParam),*>
            SystemParamFunction<(HasInput, fn(Input<Given>, $($name,)*) -> Out)> for Func
        where
            Func: Send + 'static,
            for<'a> &'a mut Func: FnMut(Input<Given>, $($name),*) -> Out
                + FnMut(Input<Given>, $(<$name as SystemParam>::Item<'_>),*) -> Out,
        {
            type In = Given;
            type Out = Out;
            type Param = ($($name,)*);

            #[inline]
            #[allow(non_snake_case)]
            fn run(&mut self, input: Given, params: <Self::Param as SystemParam>::Item<'_>) -> Out {
                #[allow(clippy::too_many_arguments)]
                fn call<Given, Out, $($name),*>(
                    mut f: impl FnMut(Input<Given>, $($name),*) -> Out,
                    input: Input<Given>,
                    $($name: $name),*
                ) -> Out {
                    f(input, $($name),*)
                }
                let ($($name,)*) = params;
                call(self, Input(input), $($name),*)
            }
        }
    };
}
phalanx_store::for_each_tuple!(function_with_input);
