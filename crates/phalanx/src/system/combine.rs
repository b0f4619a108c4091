//! Systems made of systems: one after the other, or with changed results. Joined conditions are in `condition`.
//!
//! The parts run as one system: together they have one place in the order, and their access is the union of
//! both.

use phalanx_store::Tick;

use super::access::Access;
use super::failed::ParamError;
use super::input::{SystemIn, SystemInput};
use super::meta::ParamConflict;
use super::traits::System;
use crate::world::{FromWorld, SharedWorld, World};

/// What a wrapper has in common with the system in one of its fields, but for how it is made ready and runs.
macro_rules! as_system {
    ($system:tt) => {
        fn name(&self) -> &str {
            self.$system.name()
        }
        fn key(&self) -> std::any::TypeId {
            self.$system.key()
        }
        fn mode(&self) -> crate::system::traits::Mode {
            self.$system.mode()
        }
        fn access(&self) -> &crate::system::access::Access {
            self.$system.access()
        }
        fn defers(&self) -> bool {
            self.$system.defers()
        }
        fn update(&mut self, world: &crate::world::World) {
            self.$system.update(world);
        }
        fn apply(&mut self, world: &mut crate::world::World) {
            self.$system.apply(world);
        }
        fn discard(&mut self) {
            self.$system.discard();
        }
        fn visit_state(&mut self, visitor: &mut dyn crate::system::kept::StateVisitor) {
            self.$system.visit_state(visitor);
        }
        fn forget_state(&mut self) {
            self.$system.forget_state();
        }
    };
}

/// The same of a type with the fields `first`, `second`, `name` and `access`: two systems as one.
macro_rules! as_two_systems {
    () => {
        fn name(&self) -> &str {
            &self.name
        }
        fn key(&self) -> std::any::TypeId {
            std::any::TypeId::of::<Self>()
        }
        fn mode(&self) -> crate::system::traits::Mode {
            crate::system::traits::Mode::of(&self.access)
        }
        fn access(&self) -> &crate::system::access::Access {
            &self.access
        }
        fn defers(&self) -> bool {
            self.first.defers() || self.second.defers()
        }
        fn initialize(
            &mut self,
            world: &mut crate::world::World,
        ) -> Result<(), crate::system::meta::ParamConflict> {
            self.first.initialize(world)?;
            self.second.initialize(world)?;
            self.access = self.first.access().clone();
            self.access.extend(self.second.access());
            Ok(())
        }
        fn update(&mut self, world: &crate::world::World) {
            self.first.update(world);
            self.second.update(world);
        }
        fn apply(&mut self, world: &mut crate::world::World) {
            self.first.apply(world);
            self.second.apply(world);
        }
        fn discard(&mut self) {
            self.first.discard();
            self.second.discard();
        }
        fn visit_state(&mut self, visitor: &mut dyn crate::system::kept::StateVisitor) {
            self.first.visit_state(visitor);
            self.second.visit_state(visitor);
        }
        fn forget_state(&mut self) {
            self.first.forget_state();
            self.second.forget_state();
        }
    };
}

pub(super) use {as_system, as_two_systems};

/// Two systems, of which the second gets what the first returns.
#[derive(Clone)]
pub struct Pipe<A, B> {
    first: A,
    second: B,
    name: String,
    access: Access,
}

impl<A: System, B: System> Pipe<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        let name = format!("{} | {}", first.name(), second.name());
        Self { first, second, name, access: Access::new() }
    }
}

impl<A: System, B: System> System for Pipe<A, B>
where
    for<'i> B::In: SystemInput<Inner<'i> = A::Out>,
{
    type In = A::In;
    type Out = B::Out;

    as_two_systems!();
    fn run(
        &mut self,
        input: SystemIn<'_, A>,
        world: &SharedWorld<'_>,
        now: Tick,
    ) -> Result<B::Out, ParamError> {
        let between = self.first.run(input, world, now)?;
        self.second.run(between, world, now)
    }
    fn run_alone(&mut self, input: SystemIn<'_, A>, world: &mut World) -> Result<B::Out, ParamError> {
        let between = self.first.run_alone(input, world)?;
        self.second.run_alone(between, world)
    }
}

/// A system whose result is changed by a function.
#[derive(Clone)]
pub struct Map<S, F> {
    system: S,
    f: F,
}

impl<S, F> Map<S, F> {
    pub(crate) fn new(system: S, f: F) -> Self {
        Self { system, f }
    }
}

impl<S: System, T, F: FnMut(S::Out) -> T + Send + 'static> System for Map<S, F> {
    type In = S::In;
    type Out = T;

    as_system!(system);
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        self.system.initialize(world)
    }
    fn run(&mut self, input: SystemIn<'_, S>, world: &SharedWorld<'_>, now: Tick) -> Result<T, ParamError> {
        self.system.run(input, world, now).map(&mut self.f)
    }
    fn run_alone(&mut self, input: SystemIn<'_, S>, world: &mut World) -> Result<T, ParamError> {
        self.system.run_alone(input, world).map(&mut self.f)
    }
}

/// A system that keeps what it is given.
pub struct WithInput<S, T> {
    system: S,
    value: Option<T>,
    /// Makes the value when the system is initialized, where there is none.
    make: fn(&mut World) -> Option<T>,
}

impl<S, T> WithInput<S, T> {
    pub(crate) fn new(system: S, value: T) -> Self {
        Self { system, value: Some(value), make: |_| None }
    }

    pub(crate) fn from_world(system: S) -> Self
    where
        T: FromWorld,
    {
        Self { system, value: None, make: |world| Some(T::from_world(world)) }
    }

    /// What the system is given; `None` before it is initialized, if the world makes it.
    pub fn value(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// As [`WithInput::value`], to be changed.
    pub fn value_mut(&mut self) -> Option<&mut T> {
        self.value.as_mut()
    }
}

const GIVEN: &str = "a system is initialized before it runs, and has its value then";

impl<S: System, T: Send + 'static> System for WithInput<S, T>
where
    for<'i> S::In: SystemInput<Inner<'i> = &'i mut T>,
{
    type In = ();
    type Out = S::Out;

    as_system!(system);
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        if self.value.is_none() {
            self.value = (self.make)(world);
        }
        self.system.initialize(world)
    }
    fn run(&mut self, (): (), world: &SharedWorld<'_>, now: Tick) -> Result<S::Out, ParamError> {
        self.system.run(self.value.as_mut().expect(GIVEN), world, now)
    }
    fn run_alone(&mut self, (): (), world: &mut World) -> Result<S::Out, ParamError> {
        self.system.run_alone(self.value.as_mut().expect(GIVEN), world)
    }
}
