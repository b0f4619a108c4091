//! Registered systems against a naive model: random histories of registering, running, caching and forgetting, from the
//! world, from commands, and from systems that do all of this themselves.
//!
//! A system is a small program in both worlds. Each step of each program writes down what came of it, and the two logs
//! must agree. Each program is run with a number that shrinks on the way in, so that no history is endless.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use phalanx::prelude::*;
use phalanx::system::{RegisteredSystemError, SystemHandle};

use crate::common::random::Random;
use crate::common::steps::model_steps;

/// What a step does. Systems are named by the order in which they were registered, modulo how many there are.
#[derive(Debug)]
enum Op {
    Register(Kind),
    RegisterTracked(Kind),
    DropHandle(usize),
    Run(usize),
    Unregister(usize),
    RunCached(usize),
    UnregisterCached(usize),
    /// Asks for the id of a cached system, and unregisters by that.
    UnregisterCachedById(usize),
    /// Runs a system of another world.
    RunForeign,
    RegisterCounter,
    RunCounter(usize),
    UnregisterCounter(usize),
}

/// What a system does.
#[derive(Clone, Debug)]
enum Kind {
    /// Adds up what it is given.
    Sum,
    /// Needs a resource that is missing.
    Needy,
    /// Has parameters that conflict.
    Clash,
    /// Adds up, queues what is to be forgotten, and panics.
    Panic,
    /// Takes steps with the world to itself.
    Steps(Arc<Vec<Op>>),
    /// Queues steps as commands.
    Queue(Arc<Vec<Op>>),
}

type Id = SystemId<In<u32>>;

#[derive(Resource, Default)]
struct Board {
    systems: Vec<(Id, bool)>,
    handles: Vec<Option<SystemHandle<In<u32>>>>,
    counters: Vec<SystemId<(), u32>>,
    log: Vec<String>,
}
#[derive(Resource)]
struct Missing;

fn outcome<O>(result: Result<O, RegisteredSystemError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(RegisteredSystemError::NotRegistered { .. }) => "gone",
        Err(RegisteredSystemError::Recursive { .. }) => "recursive",
        Err(RegisteredSystemError::Failed(_)) => "failed",
        Err(other) => panic!("{other}"),
    }
}

fn log(world: &mut World, what: impl ToString) {
    world.resource_mut::<Board>().log.push(what.to_string());
}

fn cached_sum(In(by): In<u32>, mut sum: Local<u32>, mut board: ResMut<Board>) {
    *sum += by;
    board.log.push(format!("cached {}", *sum));
}
fn cached_in_itself(In(by): In<u32>, world: &mut World) {
    let again = outcome(world.run_system_cached_with(cached_in_itself, by));
    let forgotten = outcome(world.unregister_system_cached(cached_in_itself));
    log(world, format!("{again} {forgotten}"));
}
fn count(mut runs: Local<u32>) -> u32 {
    *runs += 1;
    *runs
}

/// The systems of the world under test, as a macro takes closures of different types to the same function.
macro_rules! make {
    ($kind:expr, $register:expr) => {
        match $kind.clone() {
            Kind::Sum => $register(IntoSystem::into_system(
                |In(by): In<u32>, mut sum: Local<u32>, mut board: ResMut<Board>| {
                    *sum += by;
                    board.log.push(format!("sum {}", *sum));
                },
            )),
            Kind::Needy => $register(IntoSystem::into_system(|In(_): In<u32>, _: Res<Missing>| ())),
            Kind::Clash => {
                $register(IntoSystem::into_system(|In(_): In<u32>, _: Res<Board>, _: ResMut<Board>| ()))
            }
            Kind::Panic => $register(IntoSystem::into_system(
                |In(by): In<u32>, mut sum: Local<u32>, mut board: ResMut<Board>, mut commands: Commands| {
                    *sum += by;
                    board.log.push(format!("panic {}", *sum));
                    commands.queue(|world: &mut World| log(world, "recorded by a run that panicked"));
                    resume_unwind(Box::new("told to"));
                },
            )),
            Kind::Steps(ops) => {
                $register(IntoSystem::into_system(move |In(fuel): In<u32>, world: &mut World| {
                    log(world, "steps");
                    for op in ops.iter().filter(|_| fuel > 0) {
                        perform(world, op, fuel - 1);
                    }
                }))
            }
            Kind::Queue(ops) => $register(IntoSystem::into_system(
                move |In(fuel): In<u32>, mut board: ResMut<Board>, mut commands: Commands| {
                    board.log.push("queue".to_owned());
                    for op in ops.iter().filter(|_| fuel > 0) {
                        queue(&mut commands, &mut board, op, fuel - 1);
                    }
                },
            )),
        }
    };
}

/// One step with the world at hand.
fn perform(world: &mut World, op: &Op, fuel: u32) {
    let board = world.resource::<Board>();
    let system = |at: usize| board.systems.get(at % board.systems.len().max(1)).map(|&(id, _)| id);
    let counter = |at: usize| board.counters.get(at % board.counters.len().max(1)).copied();
    let came = match op {
        Op::Register(kind) => {
            let id = make!(kind, |system| world.register_boxed_system(Box::new(system)));
            note(world, id, kind);
            "registered"
        }
        Op::RegisterTracked(kind) => {
            let handle = make!(kind, |system| world.register_tracked_boxed_system(Box::new(system)));
            note(world, handle.id(), kind);
            world.resource_mut::<Board>().handles.push(Some(handle));
            "registered"
        }
        Op::DropHandle(at) => {
            let mut board = world.resource_mut::<Board>();
            let count = board.handles.len().max(1);
            let handle = board.handles.get_mut(at % count).and_then(Option::take);
            if handle.is_some() { "dropped" } else { "none" }
        }
        Op::Run(at) => match system(*at) {
            Some(id) => catch_unwind(AssertUnwindSafe(|| outcome(world.run_system_with(id, fuel))))
                .unwrap_or("panicked"),
            None => "none",
        },
        Op::Unregister(at) => system(*at).map_or("none", |id| outcome(world.unregister_system(id))),
        Op::RunCached(0) => outcome(world.run_system_cached_with(cached_sum, fuel)),
        Op::RunCached(_) => outcome(world.run_system_cached_with(cached_in_itself, fuel)),
        Op::UnregisterCached(0) => outcome(world.unregister_system_cached(cached_sum)),
        Op::UnregisterCached(_) => outcome(world.unregister_system_cached(cached_in_itself)),
        Op::UnregisterCachedById(which) => {
            let id = |world: &mut World| match which {
                0 => world.register_system_cached(cached_sum),
                _ => world.register_system_cached(cached_in_itself),
            };
            let (first, second) = (id(world), id(world));
            assert_eq!(first, second, "a function is registered once");
            outcome(world.unregister_system(first))
        }
        Op::RunForeign => {
            let foreign = World::new().register_system(|In(_): In<u32>| ());
            outcome(world.run_system_with(foreign, fuel))
        }
        Op::RegisterCounter => {
            let id = world.register_system(count);
            world.resource_mut::<Board>().counters.push(id);
            "registered"
        }
        Op::RunCounter(at) => match counter(*at).map(|id| world.run_system(id)) {
            Some(Ok(runs)) => {
                log(world, format!("count {runs}"));
                "ok"
            }
            Some(result) => outcome(result),
            None => "none",
        },
        Op::UnregisterCounter(at) => counter(*at).map_or("none", |id| outcome(world.unregister_system(id))),
    };
    log(world, came);
}

fn note(world: &mut World, id: Id, kind: &Kind) {
    world.resource_mut::<Board>().systems.push((id, matches!(kind, Kind::Panic)));
}

/// One step as a command, where there is one for it. Nothing is queued that would end the flush by a panic.
fn queue(commands: &mut Commands, board: &mut Board, op: &Op, fuel: u32) {
    let system = |at: usize| board.systems.get(at % board.systems.len().max(1)).copied();
    match op {
        Op::Register(kind) | Op::RegisterTracked(kind) => {
            let id = make!(kind, |system| commands.register_boxed_system(Box::new(system)));
            board.systems.push((id, matches!(kind, Kind::Panic)));
        }
        Op::Run(at) => {
            if let Some((id, false)) = system(*at) {
                commands.run_system_with(id, fuel);
            }
        }
        Op::Unregister(at) => {
            if let Some((id, _)) = system(*at) {
                commands.unregister_system(id);
            }
        }
        Op::RunCached(0) => commands.run_system_cached_with(cached_sum, fuel),
        Op::RunCached(_) => commands.run_system_cached_with(cached_in_itself, fuel),
        Op::UnregisterCached(0) => commands.unregister_system_cached(cached_sum),
        Op::UnregisterCached(_) => commands.unregister_system_cached(cached_in_itself),
        _ => {}
    }
}

/// A system of the model.
struct Entry {
    kind: Kind,
    here: bool,
    running: bool,
    sum: u32,
}

/// What the same history comes to, by lists and flags alone.
#[derive(Default)]
struct Naive {
    systems: Vec<Entry>,
    /// For each handle, its system until it is dropped.
    handles: Vec<Option<usize>>,
    /// For each cached function, what it added up to.
    cached: [Option<u32>; 2],
    counters: Vec<Option<u32>>,
    log: Vec<String>,
}

impl Naive {
    fn log(&mut self, what: impl ToString) {
        self.log.push(what.to_string());
    }

    fn enter(&mut self, kind: &Kind, here: bool) -> usize {
        self.systems.push(Entry { kind: kind.clone(), here, running: false, sum: 0 });
        self.systems.len() - 1
    }

    fn find(&self, at: usize) -> Option<usize> {
        (!self.systems.is_empty()).then(|| at % self.systems.len())
    }

    fn run(&mut self, at: usize, fuel: u32) -> &'static str {
        let entry = &mut self.systems[at];
        match entry {
            Entry { here: false, .. } => return "gone",
            Entry { running: true, .. } => return "recursive",
            _ => {}
        }
        match entry.kind.clone() {
            Kind::Sum => {
                entry.sum += fuel;
                let sum = entry.sum;
                self.log(format!("sum {sum}"));
            }
            Kind::Needy | Kind::Clash => return "failed",
            Kind::Panic => {
                entry.sum += fuel;
                let sum = entry.sum;
                self.log(format!("panic {sum}"));
                return "panicked";
            }
            Kind::Steps(ops) => {
                entry.running = true;
                self.log("steps");
                for op in ops.iter().filter(|_| fuel > 0) {
                    self.perform(op, fuel - 1);
                }
                self.systems[at].running = false;
            }
            Kind::Queue(ops) => {
                self.log("queue");
                let mut queued: Vec<Queued> = Vec::new();
                for op in ops.iter().filter(|_| fuel > 0) {
                    queued.extend(self.queue(op));
                }
                for command in queued {
                    self.apply(command, fuel.saturating_sub(1));
                }
            }
        }
        "ok"
    }

    fn unregister(&mut self, at: usize) -> &'static str {
        let entry = &mut self.systems[at];
        match (entry.here, entry.running) {
            (false, _) => "gone",
            (true, true) => "recursive",
            (true, false) => {
                entry.here = false;
                "ok"
            }
        }
    }

    fn run_cached(&mut self, which: usize, fuel: u32) -> &'static str {
        let sum = self.cached[which].get_or_insert(0);
        if which == 0 {
            *sum += fuel;
            let sum = *sum;
            self.log(format!("cached {sum}"));
            return "ok";
        }
        // It runs and forgets itself from inside, which is refused; nothing else can happen meanwhile.
        self.log("recursive recursive");
        "ok"
    }

    fn unregister_cached(&mut self, which: usize) -> &'static str {
        if self.cached[which].take().is_some() { "ok" } else { "gone" }
    }

    fn perform(&mut self, op: &Op, fuel: u32) {
        let came = match op {
            Op::Register(kind) => {
                self.enter(kind, true);
                "registered"
            }
            Op::RegisterTracked(kind) => {
                let at = self.enter(kind, true);
                self.handles.push(Some(at));
                "registered"
            }
            Op::DropHandle(at) => {
                let count = self.handles.len().max(1);
                match self.handles.get_mut(at % count).and_then(Option::take) {
                    Some(at) => {
                        self.systems[at].here = false;
                        "dropped"
                    }
                    None => "none",
                }
            }
            Op::Run(at) => self.find(*at).map_or("none", |at| self.run(at, fuel)),
            Op::Unregister(at) => self.find(*at).map_or("none", |at| self.unregister(at)),
            Op::RunCached(which) => self.run_cached(*which, fuel),
            Op::UnregisterCached(which) => self.unregister_cached(*which),
            Op::UnregisterCachedById(which) => {
                self.cached[*which] = None;
                "ok"
            }
            Op::RunForeign => "gone",
            Op::RegisterCounter => {
                self.counters.push(Some(0));
                "registered"
            }
            Op::RunCounter(at) => {
                let count = self.counters.len().max(1);
                match self.counters.get_mut(at % count) {
                    Some(Some(runs)) => {
                        *runs += 1;
                        let runs = *runs;
                        self.log(format!("count {runs}"));
                        "ok"
                    }
                    Some(None) => "gone",
                    None => "none",
                }
            }
            Op::UnregisterCounter(at) => {
                let count = self.counters.len().max(1);
                match self.counters.get_mut(at % count).map(Option::take) {
                    Some(Some(_)) => "ok",
                    Some(None) => "gone",
                    None => "none",
                }
            }
        };
        self.log(came);
    }

    /// What a step queues: systems are chosen, and get their numbers, when it is queued.
    fn queue(&mut self, op: &Op) -> Option<Queued> {
        match op {
            Op::Register(kind) | Op::RegisterTracked(kind) => Some(Queued::Register(self.enter(kind, false))),
            Op::Run(at) => {
                let at = self.find(*at)?;
                (!matches!(self.systems[at].kind, Kind::Panic)).then_some(Queued::Run(at))
            }
            Op::Unregister(at) => self.find(*at).map(Queued::Unregister),
            Op::RunCached(which) => Some(Queued::RunCached(*which)),
            Op::UnregisterCached(which) => Some(Queued::UnregisterCached(*which)),
            _ => None,
        }
    }

    fn apply(&mut self, command: Queued, fuel: u32) {
        let came = match command {
            Queued::Register(at) => {
                self.systems[at].here = true;
                "ok"
            }
            Queued::Run(at) => self.run(at, fuel),
            Queued::Unregister(at) => self.unregister(at),
            Queued::RunCached(which) => self.run_cached(which, fuel),
            Queued::UnregisterCached(which) => self.unregister_cached(which),
        };
        if came != "ok" {
            self.log(format!("handler: {came}"));
        }
    }
}

enum Queued {
    Register(usize),
    Run(usize),
    Unregister(usize),
    RunCached(usize),
    UnregisterCached(usize),
}

fn random_kind(random: &mut Random, depth: usize) -> Kind {
    let steps = |random: &mut Random| {
        let count = 1 + random.below(4);
        Arc::new((0..count).map(|_| random_op(random, depth - 1)).collect())
    };
    match random.below(9) {
        0 => Kind::Needy,
        1 => Kind::Clash,
        2 => Kind::Panic,
        3..6 if depth > 0 => Kind::Steps(steps(random)),
        6..8 if depth > 0 => Kind::Queue(steps(random)),
        _ => Kind::Sum,
    }
}

fn random_op(random: &mut Random, depth: usize) -> Op {
    let at = random.below(1000);
    match random.below(16) {
        0..3 => Op::Register(random_kind(random, depth)),
        3 => Op::RegisterTracked(random_kind(random, depth)),
        4 => Op::DropHandle(at),
        5..9 => Op::Run(at),
        9 => Op::Unregister(at),
        10 => Op::RunCached(at % 2),
        11 => Op::UnregisterCached(at % 2),
        12 => Op::UnregisterCachedById(at % 2),
        13 => Op::RunForeign,
        14 => match random.below(3) {
            0 => Op::RegisterCounter,
            _ => Op::RunCounter(at),
        },
        _ => Op::UnregisterCounter(at),
    }
}

#[test]
fn random_histories_of_registered_systems_agree_with_a_model() {
    let steps = model_steps(60, 60);
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut world = World::new();
        world.init_resource::<Board>();
        world.set_error_handler(|world, error| {
            let error = *error.error.downcast::<RegisteredSystemError>().expect("only systems are run");
            let came = outcome::<()>(Err(error));
            log(world, format!("handler: {came}"));
        });
        let mut naive = Naive::default();
        for step in 0..steps {
            let op = random_op(&mut random, 2);
            let fuel = u32::try_from(random.below(5)).expect("small");
            perform(&mut world, &op, fuel);
            naive.perform(&op, fuel);
            let found = std::mem::take(&mut world.resource_mut::<Board>().log);
            assert_eq!(found, std::mem::take(&mut naive.log), "seed {seed}, step {step}: {op:?} with {fuel}");
            found.into_iter().for_each(|what| *seen.entry(what).or_default() += 1);
        }
        world.check().expect("the world is valid");
    }
    // The histories are about something.
    for what in
        ["ok", "gone", "recursive", "failed", "panicked", "handler: gone", "handler: failed", "cached 3"]
    {
        assert!(seen.get(what).is_some_and(|times| *times > 0), "never came to {what}: {seen:?}");
    }
}
