//! What a system is, whatever it was made from.
//!
//! [`System`] runs, [`IntoSystem`] makes one. A system that shares the world runs in a session, one that is
//! exclusive gets `&mut World`; both can be run alone on a world. The `Marker` of [`IntoSystem`] only tells
//! the compiler which implementation is meant.

use std::any::TypeId;

use phalanx_store::Tick;

use super::access::Access;
use super::combine::{Map, Pipe, WithInput};
use super::failed::ParamError;
use super::input::{SystemIn, SystemInput};
use super::kept::StateVisitor;
use super::meta::ParamConflict;
use crate::world::{FromWorld, SharedWorld, World};

/// How a system wants the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Parts of it, beside other systems.
    Shared,
    /// All of it, for reading, beside other readers.
    Reading,
    /// Alone.
    Exclusive,
}

impl Mode {
    /// How a system with this access needs the world.
    pub(crate) fn of(access: &Access) -> Self {
        match access.reads_everything() {
            // A system that belongs to a thread runs there, alone.
            _ if access.is_exclusive() || access.is_pinned() => Self::Exclusive,
            // Nothing can be written in a reading session, so the parts run one after the other, alone.
            true if access.writes_visibly() => Self::Exclusive,
            true => Self::Reading,
            false => Self::Shared,
        }
    }
}

/// Something that runs on a world.
///
/// ```
/// # use phalanx::prelude::*;
/// fn run(world: &mut World, system: impl System<In = (), Out = u32>) -> u32 {
///     world.run_system_once(system).unwrap()
/// }
///
/// let answer = IntoSystem::into_system(|| 42_u32);
/// assert_eq!(run(&mut World::new(), answer), 42);
/// ```
pub trait System: Send + 'static {
    /// What it is given: `()`, [`In<T>`](super::In) and its kin.
    type In: SystemInput;
    /// What it returns.
    type Out;

    /// The system's name.
    fn name(&self) -> &str;
    /// What tells systems of the same function from others: `before` and `after` name functions.
    fn key(&self) -> TypeId;
    /// How it wants the world.
    fn mode(&self) -> Mode;
    /// What it reads and writes; complete after [`System::initialize`].
    fn access(&self) -> &Access;
    /// Whether it keeps commands to be applied later.
    fn defers(&self) -> bool;
    /// Makes the system ready for a world, once.
    ///
    /// # Errors
    /// When two parameters conflict.
    fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict>;
    /// Catches up with archetypes and components that came or went.
    fn update(&mut self, world: &World);
    /// Runs in a session. Writes carry the tick `now`.
    ///
    /// # Errors
    /// When a parameter cannot be had; then the system did nothing.
    ///
    /// # Panics
    /// When the system is exclusive, is not initialized, or does itself.
    fn run(
        &mut self,
        input: SystemIn<'_, Self>,
        world: &SharedWorld<'_>,
        now: Tick,
    ) -> Result<Self::Out, ParamError>;
    /// Runs alone on a world.
    ///
    /// # Errors
    /// When a parameter cannot be had; then the system did nothing.
    ///
    /// # Panics
    /// When the system is not initialized, or does itself.
    fn run_alone(&mut self, input: SystemIn<'_, Self>, world: &mut World) -> Result<Self::Out, ParamError>;
    /// As [`System::run_alone`], as a part of the caller, where the type of the system is known.
    #[doc(hidden)]
    fn run_alone_inline(
        &mut self,
        input: SystemIn<'_, Self>,
        world: &mut World,
    ) -> Result<Self::Out, ParamError>
    where
        Self: Sized,
    {
        self.run_alone(input, world)
    }
    /// Hands recorded commands to the world, which applies them at its next flush.
    fn apply(&mut self, world: &mut World);
    /// Forgets recorded commands.
    fn discard(&mut self);
    /// Shows what is kept from run to run, for checkpoints.
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let _ = visitor;
    }
    /// Forgets what is kept from run to run: the system has to be initialized again.
    fn forget_state(&mut self) {}
}

/// Something that can be made into a system: functions, closures, and systems themselves.
///
/// ```
/// # use phalanx::prelude::*;
/// fn count(all: Query<Entity>) -> usize {
///     all.count()
/// }
/// fn show(In(count): In<usize>) {
///     println!("{count} entities");
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, count.pipe(show));
/// app.step(0.1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system",
    label = "expected a function whose parameters are system parameters",
    note = "parameters are `Query`, `Res`, `ResMut`, `Commands`, `MessageReader`, `MessageWriter`, `Local`, `ParamSet`, `&World`, tuples of them, and `#[derive(SystemParam)]` structs; an exclusive system takes `&mut World` first"
)]
pub trait IntoSystem<In: SystemInput, Out, Marker>: Sized {
    /// The system made.
    type System: System<In = In, Out = Out>;

    /// Makes the system.
    fn into_system(self) -> Self::System;

    /// A system that passes what this one returns to another, as its [`In`](super::In).
    fn pipe<B, BIn, BOut, BMarker>(self, next: B) -> Pipe<Self::System, B::System>
    where
        B: IntoSystem<BIn, BOut, BMarker>,
        for<'i> BIn: SystemInput<Inner<'i> = Out>,
    {
        Pipe::new(self.into_system(), next.into_system())
    }

    /// A system that keeps a value and is given it in each run.
    fn with_input<T>(self, value: T) -> WithInput<Self::System, T>
    where
        for<'i> In: SystemInput<Inner<'i> = &'i mut T>,
        T: Send + 'static,
    {
        WithInput::new(self.into_system(), value)
    }

    /// As [`IntoSystem::with_input`], with a value that the world makes when the system is initialized.
    fn with_input_from<T>(self) -> WithInput<Self::System, T>
    where
        for<'i> In: SystemInput<Inner<'i> = &'i mut T>,
        T: FromWorld + Send + 'static,
    {
        WithInput::from_world(self.into_system())
    }

    /// What tells systems of the same function from others.
    fn system_type_id(&self) -> TypeId
    where
        Self::System: 'static,
    {
        TypeId::of::<Self::System>()
    }

    /// A system that changes what this one returns.
    fn map<T, F>(self, f: F) -> Map<Self::System, F>
    where
        F: FnMut(Out) -> T + Send + 'static,
    {
        Map::new(self.into_system(), f)
    }
}

impl<S: System> IntoSystem<S::In, S::Out, ()> for S {
    type System = S;

    fn into_system(self) -> S {
        self
    }
}

/// A session of its own for a system that uses this, and the tick of its run.
#[inline(never)]
pub(crate) fn open_session<'w>(access: &Access, world: &'w mut World) -> (SharedWorld<'w>, Tick) {
    let now = world.store.advance_tick();
    let reads = access.reads_everything() && Mode::of(access) == Mode::Reading;
    (session(reads, world), now)
}

/// Runs a system that shares the world in a session of its own.
#[inline]
pub(crate) fn run_in_own_session<S: System>(
    system: &mut S,
    world: &mut World,
    run: impl FnOnce(&mut S, &SharedWorld<'_>, Tick) -> Result<S::Out, ParamError>,
) -> Result<S::Out, ParamError> {
    system.update(world);
    let now = world.store.advance_tick();
    let reads = system.access().reads_everything() && system.mode() == Mode::Reading;
    let out = run(system, &session(reads, world), now);
    world.store.advance_tick();
    system.apply(world);
    out
}

/// A session for one system: apart, so that each system is compiled for one kind of session. It is made in place, not
/// in memory.
#[inline(always)]
fn session(reads: bool, world: &mut World) -> SharedWorld<'_> {
    if reads { world.share_read() } else { world.share_alone() }
}
