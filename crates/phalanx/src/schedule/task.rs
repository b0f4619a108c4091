//! One thing to run: a system with its conditions, or a condition that opens the gate for several systems.
//!
//! A task is what threads take: everything it changes is its own, but for the world, which it uses through a
//! session, and the gates, which are flags.

use std::any::TypeId;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use phalanx_store::Tick;

use super::config::BoxedCondition;
use super::sync::ApplyDeferred;
use crate::system::{Access, BoxedSystem, Mode, ParamError, System};
use crate::world::{Failed, SharedWorld, SystemError, World};

enum What {
    System(BoxedSystem),
    /// Applies commands; the executor does it.
    Sync,
    Gate(BoxedCondition),
}

/// Time spent in a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) runs: u64,
    pub(crate) last: Duration,
    pub(crate) total: Duration,
}

// What every run looks at stands first, on one cache line.
#[repr(C)]
pub(crate) struct Task {
    what: What,
    /// Whether there is neither a condition nor a gate to be asked.
    plain: bool,
    /// Whether it finished on another thread, until its commands are applied.
    pub(crate) finished: bool,
    /// Whether commands are to be applied now.
    pub(crate) applies: bool,
    /// The first error of a run, until it is handed over.
    pub(crate) error: Option<Box<SystemError>>,
    conditions: Vec<BoxedCondition>,
    /// The gates that must be open; for a gate, first its own number.
    gates: Vec<usize>,
    pub(crate) name: String,
    pub(crate) access: Access,
    pub(crate) spent: Spent,
}

impl Task {
    /// A system that is initialized, as are its conditions.
    pub(crate) fn new(system: BoxedSystem, name: Option<String>, conditions: Vec<BoxedCondition>) -> Self {
        let mut access = system.access().clone();
        for condition in &conditions {
            access.extend(condition.access());
        }
        let name = name.unwrap_or_else(|| system.name().to_owned());
        let what = if ApplyDeferred::is(system.key()) { What::Sync } else { What::System(system) };
        Self::with(name, what, conditions, access)
    }

    /// A condition that several systems wait for.
    pub(crate) fn gate(condition: BoxedCondition) -> Self {
        let access = condition.access().clone();
        Self::with(condition.name().to_owned(), What::Gate(condition), Vec::new(), access)
    }

    fn with(name: String, what: What, conditions: Vec<BoxedCondition>, access: Access) -> Self {
        Self {
            what,
            plain: false,
            finished: false,
            applies: false,
            error: None,
            conditions,
            gates: Vec::new(),
            name,
            access,
            spent: Spent::default(),
        }
    }

    /// Sets the gates that must be open; for a gate, first its own number.
    pub(crate) fn set_gates(&mut self, gates: Vec<usize>) {
        self.gates = gates;
        let is_system = matches!(self.what, What::System(_));
        self.plain = is_system && self.gates.is_empty() && self.conditions.is_empty();
    }

    pub(crate) fn key(&self) -> TypeId {
        match &self.what {
            What::System(system) => system.key(),
            What::Sync => TypeId::of::<ApplyDeferred>(),
            What::Gate(condition) => condition.key(),
        }
    }

    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    pub(crate) fn mode(&self) -> Mode {
        Mode::of(&self.access)
    }

    pub(crate) fn defers(&self) -> bool {
        let own = match &self.what {
            What::System(system) => system.defers(),
            What::Sync => false,
            What::Gate(condition) => condition.defers(),
        };
        own || self.conditions.iter().any(|condition| condition.defers())
    }

    pub(crate) fn update(&mut self, world: &World) {
        self.conditions.iter_mut().for_each(|condition| condition.update(world));
        match &mut self.what {
            What::System(system) => system.update(world),
            What::Sync => {}
            What::Gate(condition) => condition.update(world),
        }
    }

    /// Runs in a session. False when the system returned an error, which is kept.
    #[inline]
    pub(crate) fn run(&mut self, world: &SharedWorld<'_>, now: Tick, gates: &[AtomicBool]) -> bool {
        if self.plain
            && let What::System(system) = &mut self.what
        {
            return match system.run((), world, now) {
                Ok(()) => true,
                Err(error) => self.fail(error),
            };
        }
        self.run_asking(world, now, gates);
        self.error.is_none()
    }

    #[cold]
    fn fail(&mut self, error: ParamError) -> bool {
        let error = SystemError::new(Failed::System, &*self.name, error.into_error());
        self.error.get_or_insert_with(|| Box::new(error));
        false
    }

    fn run_asking(&mut self, world: &SharedWorld<'_>, now: Tick, gates: &[AtomicBool]) {
        // All conditions are asked, also behind a gate that is shut, so that each sees every change once.
        let mut holds = self.is_open(gates);
        for condition in &mut self.conditions {
            holds &= answer(condition.run((), world, now), &**condition, &mut self.error);
        }
        match &mut self.what {
            What::System(system) if holds => {
                if let Err(error) = system.run((), world, now) {
                    self.fail(error);
                }
            }
            What::System(_) | What::Sync => {}
            What::Gate(condition) => {
                let open = answer(condition.run((), world, now), &**condition, &mut self.error);
                set(gates, self.gates[0], open);
            }
        }
    }

    /// Runs with the world to itself. False when the system returned an error, which is kept.
    pub(crate) fn run_alone(&mut self, world: &mut World, gates: &[AtomicBool]) -> bool {
        self.run_alone_asking(world, gates);
        self.error.is_none()
    }

    fn run_alone_asking(&mut self, world: &mut World, gates: &[AtomicBool]) {
        let mut holds = self.is_open(gates);
        for condition in &mut self.conditions {
            holds &= answer(condition.run_alone((), world), &**condition, &mut self.error);
        }
        match &mut self.what {
            What::System(system) if holds => {
                if let Err(error) = system.run_alone((), world) {
                    self.fail(error);
                }
            }
            What::System(_) => {}
            What::Sync => self.applies = holds,
            What::Gate(condition) => {
                let open = answer(condition.run_alone((), world), &**condition, &mut self.error);
                set(gates, self.gates[0], open);
            }
        }
    }

    #[inline]
    fn is_open(&self, gates: &[AtomicBool]) -> bool {
        let own = usize::from(matches!(self.what, What::Gate(_)));
        // A gate's flag is set before its members start, which the executor orders after it.
        self.gates.iter().skip(own).all(|&gate| gates[gate].load(Ordering::Relaxed))
    }

    /// Runs `f` and notes how long it took.
    pub(crate) fn timed(&mut self, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let start = Instant::now();
        let fine = f(self);
        let last = start.elapsed();
        self.spent.runs += 1;
        self.spent.last = last;
        self.spent.total += last;
        fine
    }

    pub(crate) fn apply(&mut self, world: &mut World) {
        self.conditions.iter_mut().for_each(|condition| condition.apply(world));
        match &mut self.what {
            What::System(system) => system.apply(world),
            What::Sync => {}
            What::Gate(condition) => condition.apply(world),
        }
    }

    pub(crate) fn discard(&mut self) {
        self.conditions.iter_mut().for_each(|condition| condition.discard());
        match &mut self.what {
            What::System(system) => system.discard(),
            What::Sync => {}
            What::Gate(condition) => condition.discard(),
        }
    }
}

/// What a condition says; one that could not be asked does not hold.
#[inline]
fn answer(
    outcome: Result<bool, ParamError>,
    condition: &dyn System<In = (), Out = bool>,
    error: &mut Option<Box<SystemError>>,
) -> bool {
    match outcome {
        Ok(holds) => holds,
        Err(failed) => {
            note(failed, condition, error);
            false
        }
    }
}

#[cold]
fn note(
    failed: ParamError,
    condition: &dyn System<In = (), Out = bool>,
    error: &mut Option<Box<SystemError>>,
) {
    let failed = SystemError::new(Failed::Condition, condition.name(), failed.into());
    error.get_or_insert_with(|| Box::new(failed));
}

fn set(gates: &[AtomicBool], at: usize, open: bool) {
    gates[at].store(open, Ordering::Relaxed);
}
