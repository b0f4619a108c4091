//! Systems made of systems: one after the other, changed results, conditions joined.
//!
//! The parts run as one system: together they have one place in the order, and their access is the union of
//! both. [`and`] and [`or`] do not run the second part when the first one decides.

use std::any::TypeId;

use phalanx_store::Tick;

use super::access::Access;
use super::failed::ParamError;
use super::meta::ParamConflict;
use super::traits::{IntoSystem, Mode, System, run_in_own_session};
use crate::world::{SharedWorld, World};

/// Two systems, of which the second gets what the first returns.
pub struct Pipe<A, B> {
    first: A,
    second: B,
    name: String,
    access: Access,
}

impl<A: System, B: System<In = A::Out>> Pipe<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        let name = format!("{} | {}", first.name(), second.name());
        Self { first, second, name, access: Access::new() }
    }
}

impl<A: System, B: System<In = A::Out>> System for Pipe<A, B> {
    type In = A::In;
    type Out = B::Out;

    fn name(&self) -> &str {
        &self.name
    }
    fn key(&self) -> TypeId {
        TypeId::of::<Self>()
    }
    fn mode(&self) -> Mode {
        Mode::of(&self.access)
    }
    fn access(&self) -> &Access {
        &self.access
    }
    fn defers(&self) -> bool {
        self.first.defers() || self.second.defers()
    }
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        self.first.initialize(world)?;
        self.second.initialize(world)?;
        self.access = joined(&self.first, &self.second);
        Ok(())
    }
    fn update(&mut self, world: &World) {
        self.first.update(world);
        self.second.update(world);
    }
    fn run(&mut self, input: A::In, world: &SharedWorld<'_>, now: Tick) -> Result<B::Out, ParamError> {
        let between = self.first.run(input, world, now)?;
        self.second.run(between, world, now)
    }
    fn run_alone(&mut self, input: A::In, world: &mut World) -> Result<B::Out, ParamError> {
        let between = self.first.run_alone(input, world)?;
        self.second.run_alone(between, world)
    }
    fn apply(&mut self, world: &mut World) {
        self.first.apply(world);
        self.second.apply(world);
    }
    fn discard(&mut self) {
        self.first.discard();
        self.second.discard();
    }
}

/// What two systems use together.
fn joined(first: &impl System, second: &impl System) -> Access {
    let mut access = first.access().clone();
    access.extend(second.access());
    access
}

/// A system whose result is changed by a function.
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

    fn name(&self) -> &str {
        self.system.name()
    }
    fn key(&self) -> TypeId {
        self.system.key()
    }
    fn mode(&self) -> Mode {
        self.system.mode()
    }
    fn access(&self) -> &Access {
        self.system.access()
    }
    fn defers(&self) -> bool {
        self.system.defers()
    }
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        self.system.initialize(world)
    }
    fn update(&mut self, world: &World) {
        self.system.update(world);
    }
    fn run(&mut self, input: S::In, world: &SharedWorld<'_>, now: Tick) -> Result<T, ParamError> {
        self.system.run(input, world, now).map(&mut self.f)
    }
    fn run_alone(&mut self, input: S::In, world: &mut World) -> Result<T, ParamError> {
        self.system.run_alone(input, world).map(&mut self.f)
    }
    fn apply(&mut self, world: &mut World) {
        self.system.apply(world);
    }
    fn discard(&mut self) {
        self.system.discard();
    }
}

/// Two conditions as one.
struct Both<A, B> {
    first: A,
    second: B,
    /// The result of the first that decides alone.
    decides: bool,
    name: String,
    access: Access,
}

impl<A: System<In = (), Out = bool>, B: System<In = (), Out = bool>> System for Both<A, B> {
    type In = ();
    type Out = bool;

    fn name(&self) -> &str {
        &self.name
    }
    fn key(&self) -> TypeId {
        TypeId::of::<Self>()
    }
    fn mode(&self) -> Mode {
        Mode::of(&self.access)
    }
    fn access(&self) -> &Access {
        &self.access
    }
    fn defers(&self) -> bool {
        self.first.defers() || self.second.defers()
    }
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        self.first.initialize(world)?;
        self.second.initialize(world)?;
        self.access = joined(&self.first, &self.second);
        Ok(())
    }
    fn update(&mut self, world: &World) {
        self.first.update(world);
        self.second.update(world);
    }
    fn run(&mut self, (): (), world: &SharedWorld<'_>, now: Tick) -> Result<bool, ParamError> {
        let first = self.first.run((), world, now)?;
        if first == self.decides { Ok(first) } else { self.second.run((), world, now) }
    }
    fn run_alone(&mut self, (): (), world: &mut World) -> Result<bool, ParamError> {
        if self.mode() != Mode::Exclusive {
            return run_in_own_session(self, (), world);
        }
        let first = self.first.run_alone((), world)?;
        if first == self.decides { Ok(first) } else { self.second.run_alone((), world) }
    }
    fn apply(&mut self, world: &mut World) {
        self.first.apply(world);
        self.second.apply(world);
    }
    fn discard(&mut self) {
        self.first.discard();
        self.second.discard();
    }
}

/// The opposite of a condition.
pub fn not<M, C: IntoSystem<(), bool, M>>(condition: C) -> impl System<In = (), Out = bool> {
    condition.map(|holds: bool| !holds)
}

/// Whether both conditions hold; the second is asked only if the first does.
pub fn and<M, N>(
    first: impl IntoSystem<(), bool, M>,
    second: impl IntoSystem<(), bool, N>,
) -> impl System<In = (), Out = bool> {
    both(first.into_system(), second.into_system(), false, "and")
}

/// Whether one of the conditions holds; the second is asked only if the first does not.
pub fn or<M, N>(
    first: impl IntoSystem<(), bool, M>,
    second: impl IntoSystem<(), bool, N>,
) -> impl System<In = (), Out = bool> {
    both(first.into_system(), second.into_system(), true, "or")
}

fn both<A: System<In = (), Out = bool>, B: System<In = (), Out = bool>>(
    first: A,
    second: B,
    decides: bool,
    word: &str,
) -> Both<A, B> {
    let name = format!("{} {word} {}", first.name(), second.name());
    Both { first, second, decides, name, access: Access::new() }
}
