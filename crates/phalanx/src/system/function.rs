//! Functions and closures as systems.
//!
//! A function is a system when each of its parameters is a [`SystemParam`], up to sixteen; the first may be
//! an input ([`In`](super::In)), which is what a pipe passes on. The marker of the implementation is the function's own signature.

use std::any::TypeId;
use std::marker::PhantomData;

use phalanx_store::Tick;

use super::access::Access;
use super::failed::ParamError;
use super::input::{SystemIn, SystemInput};
use super::kept::{StateVisitor, visit_tick};
use super::meta::{ParamConflict, Run, SystemMeta};
use super::names::short_function;
use super::param::SystemParam;
use super::traits::{IntoSystem, Mode, System, open_session, run_in_own_session};
use super::tuples::for_each_params;
use crate::world::{SharedWorld, World};

/// Marks systems made from functions.
#[doc(hidden)]
pub struct IsFunction;

/// A function whose parameters are system parameters.
pub trait SystemParamFunction<Marker>: Send + 'static {
    /// What it is given.
    type In: SystemInput;
    /// What it returns.
    type Out;
    /// Its parameters.
    type Param: SystemParam;

    /// Calls it.
    fn run(
        &mut self,
        input: <Self::In as SystemInput>::Inner<'_>,
        params: <Self::Param as SystemParam>::Item<'_>,
    ) -> Self::Out;
}

/// A system made from a function.
pub struct FunctionSystem<Marker, F: SystemParamFunction<Marker>> {
    function: F,
    state: Option<<F::Param as SystemParam>::State>,
    meta: SystemMeta,
    last_run: Tick,
    of: PhantomData<fn() -> Marker>,
}

impl<Marker, F: SystemParamFunction<Marker>> FunctionSystem<Marker, F> {
    /// A system whose parameters were made before.
    pub(crate) fn with_state(
        function: F,
        state: <F::Param as SystemParam>::State,
        mut meta: SystemMeta,
    ) -> Self {
        meta.name = short_function::<F>();
        Self { function, state: Some(state), meta, last_run: Tick::ZERO, of: PhantomData }
    }
}

type State<P> = <P as SystemParam>::State;
/// Whether what the guards of parameters lend can be had.
type Check<P> = for<'w> fn(&mut <P as SystemParam>::Guard<'w>) -> Result<(), ParamError>;

impl<Marker: 'static, F: SystemParamFunction<Marker>> FunctionSystem<Marker, F> {
    // Constants: behind an `if` the compiler would look through each of them for each system of a program.
    const CHECK: Option<Check<F::Param>> = if F::Param::ACTIVE { Some(F::Param::check) } else { None };
    const APPLY: Option<fn(&mut State<F::Param>, &mut World)> =
        if F::Param::ACTIVE { Some(F::Param::apply) } else { None };
    const DISCARD: Option<fn(&mut State<F::Param>)> =
        if F::Param::ACTIVE { Some(F::Param::discard) } else { None };
    const VISIT_STATE: Option<fn(&mut State<F::Param>, &mut dyn StateVisitor)> =
        if F::Param::ACTIVE { Some(F::Param::visit_state) } else { None };

    #[inline(always)]
    fn call(
        &mut self,
        input: SystemIn<'_, Self>,
        world: &SharedWorld<'_>,
        now: Tick,
    ) -> Result<F::Out, ParamError> {
        let Some(state) = &self.state else { unreachable!("a system is initialized before it runs") };
        let run = Run { name: self.meta.name(), now, since: self.last_run };
        let out = {
            let mut guard = F::Param::lock(state, world, run);
            if let Some(check) = Self::CHECK {
                check(&mut guard)?;
            }
            self.function.run(input, F::Param::item(&mut guard))
        };
        self.last_run = now;
        Ok(out)
    }
}

impl<Marker, F: SystemParamFunction<Marker>> FunctionSystem<Marker, F> {
    /// A system that is not initialized.
    fn of(function: F) -> Self {
        let meta = SystemMeta::new(short_function::<F>());
        Self { function, state: None, meta, last_run: Tick::ZERO, of: PhantomData }
    }
}

/// The clone has not run yet, and keeps nothing.
impl<Marker, F: SystemParamFunction<Marker> + Clone> Clone for FunctionSystem<Marker, F> {
    fn clone(&self) -> Self {
        Self::of(self.function.clone())
    }
}

impl<Marker: 'static, F: SystemParamFunction<Marker>> IntoSystem<F::In, F::Out, (IsFunction, Marker)> for F {
    type System = FunctionSystem<Marker, F>;

    fn into_system(self) -> Self::System {
        FunctionSystem::of(self)
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
        self.meta.begin();
        self.state = Some(F::Param::init(world, &mut self.meta));
        match self.meta.checked() {
            None => Ok(()),
            Some(conflict) => {
                self.state = None;
                Err(conflict.unboxed())
            }
        }
    }
    fn update(&mut self, world: &World) {
        if let Some(state) = &mut self.state {
            F::Param::update(state, world);
        }
    }
    // One copy of the function, for the schedule and for running alone.
    #[inline(never)]
    fn run(
        &mut self,
        input: SystemIn<'_, Self>,
        world: &SharedWorld<'_>,
        now: Tick,
    ) -> Result<F::Out, ParamError> {
        self.call(input, world, now)
    }
    fn run_alone(&mut self, input: SystemIn<'_, Self>, world: &mut World) -> Result<F::Out, ParamError> {
        self.update(world);
        let out = {
            let (shared, now) = open_session(self.meta.access(), world);
            self.run(input, &shared, now)
        };
        world.store.advance_tick();
        self.apply(world);
        out
    }
    #[inline]
    fn run_alone_inline(
        &mut self,
        input: SystemIn<'_, Self>,
        world: &mut World,
    ) -> Result<F::Out, ParamError> {
        run_in_own_session(self, world, |system, shared, now| system.call(input, shared, now))
    }
    fn apply(&mut self, world: &mut World) {
        if let (Some(apply), Some(state)) = (Self::APPLY, &mut self.state) {
            apply(state, world);
        }
    }
    fn discard(&mut self) {
        if let (Some(discard), Some(state)) = (Self::DISCARD, &mut self.state) {
            discard(state);
        }
    }
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        visit_tick(&mut self.last_run, visitor);
        if let (Some(visit_state), Some(state)) = (Self::VISIT_STATE, &mut self.state) {
            visit_state(state, visitor);
        }
    }
    fn forget_state(&mut self) {
        (self.state, self.last_run) = (None, Tick::ZERO);
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
for_each_params!(function);

/// Marks functions whose first parameter is an input.
#[doc(hidden)]
pub struct HasInput;

macro_rules! function_with_input {
    ($(($name:ident $at:tt))*) => {
        impl<Given, Out, Func, $($name: SystemParam),*>
            SystemParamFunction<(HasInput, fn(Given, $($name,)*) -> Out)> for Func
        where
            Given: SystemInput + 'static,
            Func: Send + 'static,
            for<'a> &'a mut Func: FnMut(Given, $($name),*) -> Out
                + FnMut(Given::Param<'_>, $(<$name as SystemParam>::Item<'_>),*) -> Out,
        {
            type In = Given;
            type Out = Out;
            type Param = ($($name,)*);

            #[inline]
            #[allow(non_snake_case)]
            fn run(
                &mut self,
                input: Given::Inner<'_>,
                params: <Self::Param as SystemParam>::Item<'_>,
            ) -> Out {
                #[allow(clippy::too_many_arguments)]
                fn call<Given, Out, $($name),*>(
                    mut f: impl FnMut(Given, $($name),*) -> Out,
                    input: Given,
                    $($name: $name),*
                ) -> Out {
                    f(input, $($name),*)
                }
                let ($($name,)*) = params;
                call(self, Given::wrap(input), $($name),*)
            }
        }
    };
}
for_each_params!(function_with_input);
