//! One thing to run: a system with its conditions, or a condition that opens the gate for several systems.
//!
//! A task is what threads take: everything it changes is its own, but for the world, which it uses through a
//! session, and the gates, which are flags.

use std::any::TypeId;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use phalanx_store::Tick;

use super::config::BoxedCondition;
use super::skip::{Skip, Skips};
use super::sync::ApplyDeferred;
use crate::system::{Access, BoxedSystem, Mode, ParamError, StateVisitor, System};
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
    /// When the last run began, and on which thread.
    pub(crate) started: Option<(Instant, ThreadId)>,
}

// What every run looks at stands first, on one cache line.
#[repr(C)]
pub(crate) struct Task {
    what: What,
    /// Whether there is neither a condition nor a gate to be evaluated, and nothing kept about the last run.
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
    /// Whether it is held back, or something is kept about its last run.
    noted: bool,
    held: bool,
    /// Why it did not run in the last run.
    skipped: Option<Skip>,
    pub(crate) skips: Skips,
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
            noted: false,
            held: false,
            skipped: None,
            skips: Skips::default(),
        }
    }

    /// Sets the gates that must be open; for a gate, first its own number.
    pub(crate) fn set_gates(&mut self, gates: Vec<usize>) {
        self.gates = gates;
        // It may name a gate that has another number now.
        self.note_skip(None);
    }

    /// Sets whether it is not to run.
    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
        self.note_flags();
    }

    fn note_skip(&mut self, skip: Option<Skip>) {
        self.skipped = skip;
        self.note_flags();
    }

    /// Works out what each run looks at.
    fn note_flags(&mut self) {
        self.noted = self.held || self.skipped.is_some();
        let asks_nobody = self.gates.is_empty() && self.conditions.is_empty();
        self.plain = matches!(self.what, What::System(_)) && asks_nobody && !self.noted;
    }

    /// Forgets the last run. True when it is not to run.
    #[cold]
    fn begin_noted(&mut self) -> bool {
        if self.held {
            self.skip(Skip::Stepping);
        } else {
            self.note_skip(None);
        }
        self.held
    }

    /// Why it did not run in the last run.
    pub(crate) fn skipped(&self) -> Option<&Skip> {
        self.skipped.as_ref()
    }

    pub(crate) fn condition_name(&self, at: usize) -> String {
        self.conditions.get(at).map_or_else(String::new, |condition| condition.name().to_owned())
    }

    /// Notes that it did not run.
    #[inline(never)]
    fn skip(&mut self, skip: Skip) {
        self.skips.count(&skip);
        self.note_skip(Some(skip));
    }

    pub(crate) fn key(&self) -> TypeId {
        match &self.what {
            What::System(system) => system.key(),
            What::Sync => TypeId::of::<ApplyDeferred>(),
            What::Gate(condition) => condition.key(),
        }
    }

    /// What the system uses, without its conditions.
    pub(crate) fn own_access(&self) -> Option<&Access> {
        match &self.what {
            What::System(system) => Some(system.access()),
            What::Sync | What::Gate(_) => None,
        }
    }

    pub(crate) fn condition_names(&self) -> Vec<String> {
        self.conditions.iter().map(|condition| condition.name().to_owned()).collect()
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
    // What most systems need is inlined in the loop over tasks; the rest stands apart, with registers of its own.
    #[inline(always)]
    pub(crate) fn run(&mut self, world: &SharedWorld<'_>, now: Tick, gates: &[AtomicBool]) -> bool {
        if self.plain
            && let What::System(system) = &mut self.what
        {
            return match system.run((), world, now) {
                Ok(()) => true,
                Err(error) => self.fail(error),
            };
        }
        self.run_asking(world, now, gates)
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: ParamError) -> bool {
        if error.is_skip() {
            self.skip(Skip::Param(error));
            return true;
        }
        if !error.is_returned() {
            let (param, reason) = (error.param().to_owned(), error.reason().to_owned());
            self.skip(Skip::Param(ParamError::new(param, reason)));
        }
        let error = SystemError::new(Failed::System, &*self.name, error.into_error());
        self.error.get_or_insert_with(|| Box::new(error));
        false
    }

    #[inline(never)]
    fn run_asking(&mut self, world: &SharedWorld<'_>, now: Tick, gates: &[AtomicBool]) -> bool {
        if self.noted && self.begin_noted() {
            return true;
        }
        // All conditions are evaluated, also behind a gate that is shut, so that each sees every change once.
        let mut holds = self.is_open(gates);
        // How many held before the first that did not.
        let mut held = 0;
        let before = Tick::new(now.get() - 1);
        for condition in &mut self.conditions {
            holds &= answer(condition.run((), world, before), &**condition, &mut self.error);
            held += usize::from(holds);
        }
        match &mut self.what {
            What::System(system) if holds => {
                if let Err(error) = system.run((), world, now) {
                    self.fail(error);
                }
            }
            What::System(_) | What::Sync => self.skip_by(gates, held),
            What::Gate(condition) => {
                let open = answer(condition.run((), world, now), &**condition, &mut self.error);
                set(gates, self.gates[0], open);
            }
        }
        self.error.is_none()
    }

    /// Runs with the world to itself. False when the system returned an error, which is kept.
    pub(crate) fn run_alone(&mut self, world: &mut World, gates: &[AtomicBool]) -> bool {
        self.run_alone_asking(world, gates);
        self.error.is_none()
    }

    fn run_alone_asking(&mut self, world: &mut World, gates: &[AtomicBool]) {
        if self.noted && self.begin_noted() {
            return;
        }
        let mut holds = self.is_open(gates);
        // How many held before the first that did not.
        let mut held = 0;
        for condition in &mut self.conditions {
            holds &= answer(condition.run_alone((), world), &**condition, &mut self.error);
            held += usize::from(holds);
        }
        match &mut self.what {
            What::System(system) if holds => {
                if let Err(error) = system.run_alone((), world) {
                    self.fail(error);
                }
            }
            What::Sync if holds => self.applies = true,
            What::System(_) | What::Sync => self.skip_by(gates, held),
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

    /// Notes that a gate was shut, or else that the condition after the first ones did not hold.
    #[inline(never)]
    fn skip_by(&mut self, gates: &[AtomicBool], held: usize) {
        let shut = self.gates.iter().copied().find(|&gate| !gates[gate].load(Ordering::Relaxed));
        self.skip(shut.map_or(Skip::Condition(held), Skip::Gate));
    }

    /// Runs `f` and notes how long it took.
    pub(crate) fn timed(&mut self, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let start = Instant::now();
        self.spent.started = Some((start, std::thread::current().id()));
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

    /// Shows what is kept from run to run, for checkpoints.
    pub(crate) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        self.conditions.iter_mut().for_each(|condition| condition.visit_state(visitor));
        match &mut self.what {
            What::System(system) => system.visit_state(visitor),
            What::Sync => {}
            What::Gate(condition) => condition.visit_state(visitor),
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

/// What a condition says; one that could not be evaluated does not hold.
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
    if failed.is_skip() {
        return;
    }
    let failed = SystemError::new(Failed::Condition, condition.name(), failed.into_error());
    error.get_or_insert_with(|| Box::new(failed));
}

fn set(gates: &[AtomicBool], at: usize, open: bool) {
    gates[at].store(open, Ordering::Relaxed);
}
