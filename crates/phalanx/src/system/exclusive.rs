//! Functions that take the whole world: `fn(&mut World)`, `fn(DeferredWorld)`.
//!
//! They run alone, on the thread that runs the schedule, and may do everything at once: change structure, run
//! other schedules, use resources that belong to one thread. Beside the world they may have values of their own
//! ([`Local`]) and kept queries (`&mut QueryState`). With a [`DeferredWorld`] structure stands still, so such a function
//! can be an observer as well.

use std::any::TypeId;
use std::marker::PhantomData;

use phalanx_store::Tick;

use super::access::Access;
use super::failed::ParamError;
use super::function::HasInput;
use super::input::{SystemIn, SystemInput};
use super::kept::{StateVisitor, visit_tick};
use super::meta::ParamConflict;
use super::names::short_function;
use super::param::Local;
use super::traits::{IntoSystem, Mode, System};
use super::tuples::for_each_params;
use crate::query::{QueryData, QueryFilter, QueryState};
use crate::world::{DeferredWorld, FromWorld, SharedWorld, World};

/// Something that an exclusive system can have beside the world.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand beside `&mut World` in a system",
    label = "not a parameter of an exclusive system",
    note = "beside `&mut World` there may be `Local` and `&mut QueryState`; ask the world for everything else, for example with `world.resource_mut` and `world.view_mut`"
)]
pub trait ExclusiveParam {
    /// What lives with the system.
    type State: Send + 'static;
    /// What the function gets.
    type Item<'s>;

    /// Makes the state.
    fn init(world: &mut World) -> Self::State;
    /// What the function gets.
    fn item(state: &mut Self::State) -> Self::Item<'_>;
    /// Shows what is kept from run to run, for checkpoints.
    fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
        let _ = (state, visitor);
    }
}

impl<T: FromWorld + Send + 'static> ExclusiveParam for Local<'_, T> {
    type State = T;
    type Item<'s> = Local<'s, T>;

    fn init(world: &mut World) -> T {
        T::from_world(world)
    }
    fn item(state: &mut T) -> Local<'_, T> {
        Local(state)
    }
    fn visit_state(state: &mut T, visitor: &mut dyn StateVisitor) {
        visitor.value(state, std::any::type_name::<T>());
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> ExclusiveParam for &mut QueryState<D, F> {
    type State = QueryState<D, F>;
    type Item<'s> = &'s mut QueryState<D, F>;

    fn init(world: &mut World) -> QueryState<D, F> {
        world.query_filtered()
    }
    fn item(state: &mut QueryState<D, F>) -> &mut QueryState<D, F> {
        state
    }
}

macro_rules! exclusive_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: ExclusiveParam),*> ExclusiveParam for ($($name,)*) {
            type State = ($($name::State,)*);
            type Item<'s> = ($($name::Item<'s>,)*);

            fn init(world: &mut World) -> Self::State {
                ($($name::init(world),)*)
            }
            fn item(state: &mut Self::State) -> Self::Item<'_> {
                ($($name::item(&mut state.$at),)*)
            }
            fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
                $($name::visit_state(&mut state.$at, visitor);)*
            }
        }
    };
}
for_each_params!(exclusive_tuple);

/// Marks systems made from exclusive functions.
#[doc(hidden)]
pub struct IsExclusive;

/// A function that takes the world, and perhaps something of its own.
pub trait ExclusiveSystemParamFunction<Marker>: Send + 'static {
    /// What it is given.
    type In: SystemInput;
    /// What it returns.
    type Out;
    /// What it has beside the world.
    type Param: ExclusiveParam;
    /// Whether structure stands still while it runs.
    const DEFERRED: bool;

    /// Calls it.
    fn run(
        &mut self,
        input: <Self::In as SystemInput>::Inner<'_>,
        world: &mut World,
        params: <Self::Param as ExclusiveParam>::Item<'_>,
    ) -> Self::Out;
}

/// A system made from an exclusive function.
pub struct ExclusiveSystem<Marker, F: ExclusiveSystemParamFunction<Marker>> {
    function: F,
    state: Option<<F::Param as ExclusiveParam>::State>,
    name: String,
    access: Access,
    last_run: Tick,
    of: PhantomData<fn() -> Marker>,
}

impl<Marker: 'static, F: ExclusiveSystemParamFunction<Marker>>
    IntoSystem<F::In, F::Out, (IsExclusive, Marker)> for F
{
    type System = ExclusiveSystem<Marker, F>;

    fn into_system(self) -> Self::System {
        ExclusiveSystem {
            function: self,
            state: None,
            name: short_function::<F>(),
            access: if F::DEFERRED { Access::deferred() } else { Access::exclusive() },
            last_run: Tick::ZERO,
            of: PhantomData,
        }
    }
}

impl<Marker: 'static, F: ExclusiveSystemParamFunction<Marker>> System for ExclusiveSystem<Marker, F> {
    type In = F::In;
    type Out = F::Out;

    fn name(&self) -> &str {
        &self.name
    }
    fn key(&self) -> TypeId {
        TypeId::of::<F>()
    }
    fn mode(&self) -> Mode {
        Mode::Exclusive
    }
    fn access(&self) -> &Access {
        &self.access
    }
    fn defers(&self) -> bool {
        false
    }
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        if self.state.is_none() {
            self.state = Some(F::Param::init(world));
        }
        Ok(())
    }
    fn update(&mut self, _: &World) {}
    fn run(&mut self, _: SystemIn<'_, Self>, _: &SharedWorld<'_>, _: Tick) -> Result<F::Out, ParamError> {
        unreachable!("an exclusive system runs alone")
    }
    fn run_alone(&mut self, input: SystemIn<'_, Self>, world: &mut World) -> Result<F::Out, ParamError> {
        let state = self.state.as_mut().expect("a system is initialized before it runs");
        let now = world.store.advance_tick();
        let before = std::mem::replace(&mut world.last_tick, self.last_run);
        let out = self.function.run(input, world, F::Param::item(state));
        // What was recorded by `world.commands()` is part of what the system did; what an observer records waits for the
        // end of the change that it observes.
        if !world.reactions.is_handling() {
            world.flush();
        }
        world.last_tick = before;
        self.last_run = now.max(world.read_change_tick());
        world.store.advance_tick();
        Ok(out)
    }
    fn apply(&mut self, _: &mut World) {}
    fn discard(&mut self) {}
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        visit_tick(&mut self.last_run, visitor);
        if let Some(state) = &mut self.state {
            F::Param::visit_state(state, visitor);
        }
    }
    fn forget_state(&mut self) {
        (self.state, self.last_run) = (None, Tick::ZERO);
    }
}

macro_rules! exclusive_function {
    ($(($name:ident $at:tt))*) => {
        exclusive_function!(@ [&mut World] false (world => world) $(($name $at))*);
        exclusive_function!(@ [DeferredWorld<'_>] true (world => DeferredWorld::from(world)) $(($name $at))*);
    };
    (@ [$whole:ty] $deferred:literal ($world:ident => $made:expr) $(($name:ident $at:tt))*) => {
        impl<Out, Func, $($name: ExclusiveParam),*>
            ExclusiveSystemParamFunction<fn($whole, $($name,)*) -> Out> for Func
        where
            Func: Send + 'static,
            for<'a> &'a mut Func: FnMut($whole, $($name),*) -> Out
                + FnMut($whole, $(<$name as ExclusiveParam>::Item<'_>),*) -> Out,
        {
            type In = ();
            type Out = Out;
            type Param = ($($name,)*);
            const DEFERRED: bool = $deferred;

            #[allow(non_snake_case)]
            fn run(
                &mut self,
                _: (),
                $world: &mut World,
                params: <Self::Param as ExclusiveParam>::Item<'_>,
            ) -> Out {
                #[allow(clippy::too_many_arguments)]
                fn call<Out, $($name),*>(
                    mut f: impl FnMut($whole, $($name),*) -> Out,
                    $world: &mut World,
                    $($name: $name),*
                ) -> Out {
                    f($made, $($name),*)
                }
                let ($($name,)*) = params;
                call(self, $world, $($name),*)
            }
        }

        impl<Given, Out, Func, $($name: ExclusiveParam),*>
            ExclusiveSystemParamFunction<(HasInput, fn(Given, $whole, $($name,)*) -> Out)> for Func
        where
            Given: SystemInput + 'static,
            Func: Send + 'static,
            for<'a> &'a mut Func: FnMut(Given, $whole, $($name),*) -> Out
                + FnMut(Given::Param<'_>, $whole, $(<$name as ExclusiveParam>::Item<'_>),*) -> Out,
        {
            type In = Given;
            type Out = Out;
            type Param = ($($name,)*);
            const DEFERRED: bool = $deferred;

            #[allow(non_snake_case)]
            fn run(
                &mut self,
                input: Given::Inner<'_>,
                $world: &mut World,
                params: <Self::Param as ExclusiveParam>::Item<'_>,
            ) -> Out {
                #[allow(clippy::too_many_arguments)]
                fn call<Given, Out, $($name),*>(
                    mut f: impl FnMut(Given, $whole, $($name),*) -> Out,
                    input: Given,
                    $world: &mut World,
                    $($name: $name),*
                ) -> Out {
                    f(input, $made, $($name),*)
                }
                let ($($name,)*) = params;
                call(self, Given::wrap(input), $world, $($name),*)
            }
        }
    };
}
for_each_params!(exclusive_function);
