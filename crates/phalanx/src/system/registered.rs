//! Systems that a world keeps, and runs when asked.
//!
//! A registered system remembers what systems remember: its `Local`s, its readers' places, when it last ran. It is
//! taken out of the world while it runs, so that it cannot run inside itself. Its commands are applied when it is back,
//! before the call returns: they may run it again. Closures and functions can also be asked for by themselves: the first
//! call registers them.

use std::any::{Any, TypeId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use phalanx_derive::Resource;

use super::failed::RunSystemError;
use super::handle::{SystemHandle, Unused};
use super::input::SystemInput;
use super::kept::StateVisitor;
use super::traits::{IntoSystem, System};
use crate::world::{Commands, World};

/// A system that a world keeps: its input, and what it returns.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let double: SystemId<In<u32>, u32> = world.register_system(|In(n): In<u32>| n * 2);
/// assert_eq!(world.run_system_with(double, 21).unwrap(), 42);
/// ```
pub struct SystemId<I = (), O = ()> {
    number: u64,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> SystemId<I, O> {
    /// A number that no other system of the process has.
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), types: PhantomData }
    }
}

impl<I, O> Clone for SystemId<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for SystemId<I, O> {}

impl<I, O> PartialEq for SystemId<I, O> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<I, O> Eq for SystemId<I, O> {}

impl<I, O> Hash for SystemId<I, O> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<I, O> fmt::Debug for SystemId<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SystemId({})", self.number)
    }
}

type Boxed<I, O> = Box<dyn System<In = I, Out = O>>;

/// A system, and whether it was made ready.
struct Kept<I, O> {
    system: Boxed<I, O>,
    ready: bool,
}

/// A system of whatever input and output.
pub(super) trait AnyKept: Any + Send {
    fn is_ready(&self) -> bool;
    /// Shows what the system keeps from run to run.
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor);
    /// Makes it what it was before it first ran.
    fn forget_state(&mut self);
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<I: SystemInput + 'static, O: 'static> AnyKept for Kept<I, O> {
    fn is_ready(&self) -> bool {
        self.ready
    }
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        self.system.visit_state(visitor);
    }
    fn forget_state(&mut self) {
        self.ready = false;
        self.system.forget_state();
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// What stands for a system: its name, and itself unless it runs at the moment.
pub(super) struct Place {
    name: String,
    pub(super) system: Option<Box<dyn AnyKept>>,
    /// Checkpoints that know the system have copies.
    pub(super) token: Arc<()>,
}

/// The systems of a world.
#[derive(Resource, Default)]
#[resource(checkpoint = "skip", digest = "skip")]
pub(super) struct Registered {
    // Systems need not be `Sync`: the lock makes the whole so, and is never taken.
    kept: Mutex<HashMap<u64, Place>>,
    pub(super) cached: HashMap<TypeId, u64>,
    /// Those that were unregistered, and which a checkpoint may bring back.
    retired: Mutex<Vec<(u64, Place)>>,
    unused: Unused,
}

impl Registered {
    /// Takes out the systems that are not held any more.
    pub(super) fn take_unused(&mut self) -> Vec<Place> {
        let unused = std::mem::take(&mut *self.unused.lock().unwrap_or_else(PoisonError::into_inner));
        unused.iter().filter_map(|number| self.take(*number)).collect()
    }

    pub(super) fn kept(&mut self) -> &mut HashMap<u64, Place> {
        self.kept.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn retired(&mut self) -> &mut Vec<(u64, Place)> {
        self.retired.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a system out; one that a checkpoint knows stays within reach.
    pub(super) fn take(&mut self, number: u64) -> Option<Place> {
        let place = self.kept().remove(&number)?;
        if Arc::strong_count(&place.token) == 1 {
            return Some(place);
        }
        self.retired().push((number, place));
        None
    }
}

/// Why a registered system could not be run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RegisteredSystemError {
    /// The world has no such system.
    NotRegistered {
        /// The number of the system.
        id: u64,
    },
    /// The system runs at the moment: it cannot run inside itself.
    Recursive {
        /// The number of the system.
        id: u64,
        /// The name of the system.
        system: String,
    },
    /// It was run, and failed.
    Failed(RunSystemError),
}

impl fmt::Display for RegisteredSystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRegistered { id } => write!(
                f,
                "there is no registered system {id} in this world: it was unregistered, or belongs to another world"
            ),
            Self::Recursive { id, system } => write!(
                f,
                "registered system {id} (`{system}`) runs at the moment: a system cannot run inside itself, nor be \
                 unregistered there; do it by a command, which is applied after the system"
            ),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RegisteredSystemError {}

impl World {
    /// Keeps a system, to be run by its id.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// let mut world = World::new();
    /// let count = world.register_system(|mut runs: Local<u32>| {
    ///     *runs += 1;
    ///     *runs
    /// });
    /// assert_eq!(world.run_system(count).unwrap(), 1);
    /// assert_eq!(world.run_system(count).unwrap(), 2);
    /// ```
    pub fn register_system<I, O, M>(&mut self, system: impl IntoSystem<I, O, M> + 'static) -> SystemId<I, O>
    where
        I: SystemInput + 'static,
        O: 'static,
    {
        let id = SystemId::next();
        self.keep_system(id, Box::new(system.into_system()));
        id
    }

    /// As [`World::register_system`], for a system in a box.
    pub fn register_boxed_system<I: SystemInput + 'static, O: 'static>(
        &mut self,
        system: Box<dyn System<In = I, Out = O>>,
    ) -> SystemId<I, O> {
        let id = SystemId::next();
        self.keep_system(id, system);
        id
    }

    fn keep_system<I: SystemInput + 'static, O: 'static>(&mut self, id: SystemId<I, O>, system: Boxed<I, O>) {
        let name = system.name().to_owned();
        let kept: Box<Kept<I, O>> = Box::new(Kept { system, ready: false });
        let mut registered = self.get_resource_or_init::<Registered>();
        let unused = registered.take_unused();
        let place = Place { name, system: Some(kept), token: Arc::default() };
        registered.kept().insert(id.number, place);
        // What systems hold is dropped last: it may be anything.
        drop(unused);
    }

    /// As [`World::register_system`], for as long as a handle of the system is kept.
    pub fn register_tracked_system<I, O, M>(
        &mut self,
        system: impl IntoSystem<I, O, M> + 'static,
    ) -> SystemHandle<I, O>
    where
        I: SystemInput + 'static,
        O: 'static,
    {
        self.register_tracked_boxed_system(Box::new(system.into_system()))
    }

    /// As [`World::register_tracked_system`], for a system in a box.
    pub fn register_tracked_boxed_system<I: SystemInput + 'static, O: 'static>(
        &mut self,
        system: Box<dyn System<In = I, Out = O>>,
    ) -> SystemHandle<I, O> {
        let id = self.register_boxed_system(system);
        SystemHandle::new(id, id.number, &self.get_resource_or_init::<Registered>().unused)
    }

    /// Forgets a system.
    ///
    /// # Errors
    /// When the world has no such system, or it runs at the moment.
    pub fn unregister_system<I: SystemInput + 'static, O: 'static>(
        &mut self,
        id: SystemId<I, O>,
    ) -> Result<(), RegisteredSystemError> {
        let kept = self.take_system(id)?;
        let mut registered = self.get_resource_or_init::<Registered>();
        registered.cached.retain(|_, number| *number != id.number);
        if let Some(place) = registered.kept().get_mut(&id.number) {
            place.system = Some(kept);
        }
        // What the system holds is dropped last: it may be anything.
        drop(registered.take(id.number));
        Ok(())
    }

    fn take_system<I: SystemInput + 'static, O: 'static>(
        &mut self,
        id: SystemId<I, O>,
    ) -> Result<Box<Kept<I, O>>, RegisteredSystemError> {
        let id = id.number;
        let mut registered = self.get_resource_or_init::<Registered>();
        drop(registered.take_unused());
        let place = registered.kept().get_mut(&id).ok_or(RegisteredSystemError::NotRegistered { id })?;
        let Some(kept) = place.system.take() else {
            return Err(RegisteredSystemError::Recursive { id, system: place.name.clone() });
        };
        Ok(kept
            .into_any()
            .downcast()
            .unwrap_or_else(|_| unreachable!("the id has the types that the system was kept with")))
    }

    /// Runs a system that the world keeps, applies its commands, and returns its result.
    ///
    /// # Errors
    /// When the world has no such system, it runs at the moment, or its parameters conflict or cannot be had.
    ///
    /// # Panics
    /// When the system does; it is kept nevertheless.
    pub fn run_system<O: 'static>(&mut self, id: SystemId<(), O>) -> Result<O, RegisteredSystemError> {
        self.run_system_with(id, ())
    }

    /// As [`World::run_system`], with an input.
    ///
    /// # Errors
    /// As for [`World::run_system`].
    ///
    /// # Panics
    /// When the system does; it is kept nevertheless.
    pub fn run_system_with<I: SystemInput + 'static, O: 'static>(
        &mut self,
        id: SystemId<I, O>,
        input: I::Inner<'_>,
    ) -> Result<O, RegisteredSystemError> {
        let mut kept = self.take_system(id)?;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if !kept.ready {
                kept.system.initialize(self).map_err(RunSystemError::Conflict)?;
                kept.ready = true;
            }
            let out = kept.system.run_alone(input, self);
            out.map_err(|error| RunSystemError::Param { system: kept.system.name().to_owned(), error })
        }));
        if outcome.is_err() {
            // What half a run recorded does not become part of the next one.
            kept.system.discard();
        }
        if let Some(place) = self.get_resource_or_init::<Registered>().kept().get_mut(&id.number) {
            place.system = Some(kept);
        }
        let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
        // The system is back in its place, so its commands may run it again.
        self.flush();
        outcome.map_err(RegisteredSystemError::Failed)
    }

    /// The id of a function or closure; the first call registers it.
    pub fn register_system_cached<I, O, M, S>(&mut self, system: S) -> SystemId<I, O>
    where
        I: SystemInput + 'static,
        O: 'static,
        S: IntoSystem<I, O, M> + 'static,
    {
        let known = self.get_resource_or_init::<Registered>().cached.get(&TypeId::of::<S>()).copied();
        if let Some(number) = known {
            return SystemId { number, types: PhantomData };
        }
        let id = self.register_system(system);
        self.get_resource_or_init::<Registered>().cached.insert(TypeId::of::<S>(), id.number);
        id
    }

    /// Runs a function or closure as a registered system: it remembers its `Local`s from call to call.
    ///
    /// # Errors
    /// As for [`World::run_system`].
    ///
    /// # Panics
    /// When the system does.
    pub fn run_system_cached<O: 'static, M, S: IntoSystem<(), O, M> + 'static>(
        &mut self,
        system: S,
    ) -> Result<O, RegisteredSystemError> {
        self.run_system_cached_with(system, ())
    }

    /// As [`World::run_system_cached`], with an input.
    ///
    /// # Errors
    /// As for [`World::run_system`].
    ///
    /// # Panics
    /// When the system does.
    pub fn run_system_cached_with<I, O, M, S>(
        &mut self,
        system: S,
        input: I::Inner<'_>,
    ) -> Result<O, RegisteredSystemError>
    where
        I: SystemInput + 'static,
        O: 'static,
        S: IntoSystem<I, O, M> + 'static,
    {
        let id = self.register_system_cached(system);
        self.run_system_with(id, input)
    }

    /// Forgets a function or closure, and what it remembered.
    ///
    /// # Errors
    /// When it is not registered, or runs at the moment.
    pub fn unregister_system_cached<I, O, M, S>(&mut self, _system: S) -> Result<(), RegisteredSystemError>
    where
        I: SystemInput + 'static,
        O: 'static,
        S: IntoSystem<I, O, M> + 'static,
    {
        let known = self.get_resource_or_init::<Registered>().cached.get(&TypeId::of::<S>()).copied();
        let number = known.ok_or(RegisteredSystemError::NotRegistered { id: 0 })?;
        self.unregister_system(SystemId::<I, O> { number, types: PhantomData })
    }
}

impl Commands<'_, '_> {
    /// Keeps a system, to be run by its id once the commands are applied.
    pub fn register_system<I, O, M>(
        &mut self,
        system: impl IntoSystem<I, O, M> + Send + 'static,
    ) -> SystemId<I, O>
    where
        I: SystemInput + 'static,
        O: 'static,
    {
        let id = SystemId::next();
        let system = Mutex::new(Box::new(system.into_system()) as Boxed<I, O>);
        self.queue(move |world: &mut World| {
            world.keep_system(id, system.into_inner().unwrap_or_else(PoisonError::into_inner));
        });
        id
    }

    /// As [`Commands::register_system`], for a system in a box.
    pub fn register_boxed_system<I: SystemInput + 'static, O: 'static>(
        &mut self,
        system: Box<dyn System<In = I, Out = O>>,
    ) -> SystemId<I, O> {
        let id = SystemId::next();
        self.queue(move |world: &mut World| world.keep_system(id, system));
        id
    }

    /// Forgets a function or closure that was registered, when the commands are applied. An error goes to the error
    /// handler.
    pub fn unregister_system_cached<I, O, M, S>(&mut self, system: S)
    where
        I: SystemInput + 'static,
        O: 'static,
        M: 'static,
        S: IntoSystem<I, O, M> + Send + 'static,
    {
        self.queue(move |world: &mut World| world.unregister_system_cached(system));
    }

    /// As [`Commands::run_system_cached`], with an input.
    pub fn run_system_cached_with<I, M, S>(&mut self, system: S, input: I::Inner<'static>)
    where
        I: SystemInput<Inner<'static>: Send> + 'static,
        M: 'static,
        S: IntoSystem<I, (), M> + Send + 'static,
    {
        self.queue(move |world: &mut World| world.run_system_cached_with(system, input));
    }

    /// Runs a system that the world keeps, when the commands are applied. An error goes to the error handler.
    pub fn run_system(&mut self, id: SystemId) {
        self.queue(move |world: &mut World| world.run_system(id));
    }

    /// As [`Commands::run_system`], with an input.
    pub fn run_system_with<I>(&mut self, id: SystemId<I>, input: I::Inner<'static>)
    where
        I: SystemInput<Inner<'static>: Send> + 'static,
    {
        self.queue(move |world: &mut World| world.run_system_with(id, input));
    }

    /// Runs a function or closure as a registered system, when the commands are applied.
    pub fn run_system_cached<M: 'static, S: IntoSystem<(), (), M> + Send + 'static>(&mut self, system: S) {
        self.queue(move |world: &mut World| world.run_system_cached(system));
    }

    /// Forgets a system, when the commands are applied. An error goes to the error handler.
    pub fn unregister_system<I: SystemInput + 'static, O: 'static>(&mut self, id: SystemId<I, O>) {
        self.queue(move |world: &mut World| world.unregister_system(id));
    }
}
