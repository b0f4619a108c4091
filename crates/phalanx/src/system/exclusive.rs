//! Functions that take the whole world: `fn(&mut World)`.
//!
//! They run alone, on the thread that runs the schedule, and may do everything at once: change structure, run
//! other schedules, use resources that belong to one thread. Beside the world they may have values of their own
//! ([`Local`]) and kept queries (`&mut QueryState`).

use std::any::TypeId;
use std::marker::PhantomData;

use phalanx_store::Tick;

use super::access::Access;
use super::failed::ParamError;
use super::meta::ParamConflict;
use super::names::short_function;
use super::param::Local;
use super::traits::{IntoSystem, Mode, System};
use crate::query::{QueryData, QueryFilter, QueryState};
use crate::world::{SharedWorld, World};

/// Something that an exclusive system can have beside the world.
pub trait ExclusiveParam {
    /// What lives with the system.
    type State: Send + 'static;
    /// What the function gets.
    type Item<'s>;

    /// Makes the state.
    fn init(world: &mut World) -> Self::State;
    /// What the function gets.
    fn item(state: &mut Self::State) -> Self::Item<'_>;
}

impl<T: Default + Send + 'static> ExclusiveParam for Local<'_, T> {
    type State = T;
    type Item<'s> = Local<'s, T>;

    fn init(_: &mut World) -> T {
        T::default()
    }
    fn item(state: &mut T) -> Local<'_, T> {
        Local(state)
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> ExclusiveParam for &mut QueryState<D, F> {
    type State = QueryState<D, F>;
    type Item<'s> = &'s mut QueryState<D, F>;

    fn init(world: &mut World) -> QueryState<D, F> {
        world.query_state_filtered()
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
        }
    };
}
phalanx_store::for_each_tuple!(exclusive_tuple);

/// Marks systems made from exclusive functions.
#[doc(hidden)]
pub struct IsExclusive;

/// A function that takes the world, and perhaps something of its own.
pub trait ExclusiveSystemParamFunction<Marker>: Send + 'static {
    /// What it is given.
    type In;
    /// What it returns.
    type Out;
    /// What it has beside the world.
    type Param: ExclusiveParam;

    /// Calls it.
    fn run(
        &mut self,
        input: Self::In,
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
            access: Access::exclusive(),
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
    fn run(&mut self, _: F::In, _: &SharedWorld<'_>, _: Tick) -> Result<F::Out, ParamError> {
        unreachable!("an exclusive system runs alone")
    }
    fn run_alone(&mut self, input: F::In, world: &mut World) -> Result<F::Out, ParamError> {
        let state = self.state.as_mut().expect("a system is initialized before it runs");
        let now = world.advance_tick();
        let before = std::mem::replace(&mut world.last_tick, self.last_run);
        let out = self.function.run(input, world, F::Param::item(state));
        // What was recorded by `world.commands()` is part of what the system did.
        world.flush();
        world.last_tick = before;
        self.last_run = now.max(world.tick());
        world.advance_tick();
        Ok(out)
    }
    fn apply(&mut self, _: &mut World) {}
    fn discard(&mut self) {}
}

macro_rules! exclusive_function {
    ($(($name:ident $at:tt))*) => {
        impl<Out, Func, $($name: ExclusiveParam),*>
            ExclusiveSystemParamFunction<fn(&mut World, $($name,)*) -> Out> for Func
        where
            Func: Send + 'static,
            for<'a> &'a mut Func: FnMut(&mut World, $($name),*) -> Out
                + FnMut(&mut World, $(<$name as ExclusiveParam>::Item<'_>),*) -> Out,
        {
            type In = ();
            type Out = Out;
            type Param = ($($name,)*);

            #[allow(non_snake_case)]
            fn run(
                &mut self,
                _: (),
                world: &mut World,
                params: <Self::Param as ExclusiveParam>::Item<'_>,
            ) -> Out {
                #[allow(clippy::too_many_arguments)]
                fn call<Out, $($name),*>(
                    mut f: impl FnMut(&mut World, $($name),*) -> Out,
                    world: &mut World,
                    $($name: $name),*
                ) -> Out {
                    f(world, $($name),*)
                }
                let ($($name,)*) = params;
                call(self, world, $($name),*)
            }
        }
    };
}
phalanx_store::for_each_tuple!(exclusive_function);
