//! Changes without listeners, alone in a small program: what `bench/compare-instructions` counts in two commits.
//!
//! `phalanx-unheard CASE RUNS` does the case once, so that everything is in place, and then some more times within
//! [`counted`], which is what callgrind collects; `--list` names the cases. The program says only what has long been
//! said the same way, so that it compiles with older commits, too.

use std::hint::black_box;
use std::process::ExitCode;

use phalanx::prelude::*;

/// How many entities each case is about.
const ENTITIES: usize = 10_000;

#[derive(Component, Clone, Copy)]
struct Transform(#[allow(dead_code, reason = "only stored")] [f32; 16]);
#[derive(Component, Clone, Copy)]
struct Position(#[allow(dead_code, reason = "only stored")] [f32; 3]);
#[derive(Component, Clone, Copy)]
struct Rotation(#[allow(dead_code, reason = "only stored")] [f32; 3]);
#[derive(Component, Clone, Copy)]
struct Velocity(#[allow(dead_code, reason = "only stored")] [f32; 3]);
#[derive(Component, Clone, Copy)]
struct A(#[allow(dead_code, reason = "only stored")] f32);
#[derive(Component, Clone, Copy)]
struct B(#[allow(dead_code, reason = "only stored")] f32);
#[derive(Component, Clone, Copy)]
#[component(storage = "sparse")]
struct SparseB(#[allow(dead_code, reason = "only stored")] f32);

/// A world, its entities, and nothing else.
struct State {
    world: World,
    entities: Vec<Entity>,
}

/// What is done before each run, and what is counted.
struct Case {
    name: &'static str,
    before: fn(&mut State),
    run: fn(&mut State),
}

const CASES: &[Case] = &[
    Case { name: "add_remove", before: with_a, run: add_remove },
    Case { name: "add_remove_sparse", before: with_a, run: add_remove_sparse },
    Case { name: "spawn_loop", before: empty, run: spawn_loop },
    Case { name: "spawn_batch", before: empty, run: spawn_batch },
    Case { name: "spawn_despawn", before: nothing, run: spawn_despawn },
    Case { name: "commands", before: with_some_b, run: commands },
];

fn nothing(_: &mut State) {}

fn empty(state: &mut State) {
    state.world = World::new();
}

fn with_a(state: &mut State) {
    if state.entities.is_empty() {
        state.entities = state.world.spawn_batch((0..ENTITIES).map(|_| A(0.0))).collect();
    }
}

fn with_some_b(state: &mut State) {
    let State { world, entities } = state;
    world.clear_entities();
    entities.clear();
    entities.extend((0..ENTITIES).map(|index| match index % 4 {
        1 => world.spawn((A(0.0), B(1.0))).id(),
        _ => world.spawn(A(0.0)).id(),
    }));
}

fn add_remove(State { world, entities }: &mut State) {
    for &entity in entities.iter() {
        world.insert(entity, B(1.0)).expect("alive");
    }
    for &entity in entities.iter() {
        world.remove::<B>(entity).expect("alive");
    }
}

fn add_remove_sparse(State { world, entities }: &mut State) {
    for &entity in entities.iter() {
        world.insert(entity, SparseB(1.0)).expect("alive");
    }
    for &entity in entities.iter() {
        world.remove::<SparseB>(entity).expect("alive");
    }
}

fn body() -> (Transform, Position, Rotation, Velocity) {
    (Transform([0.0; 16]), Position([0.0; 3]), Rotation([0.0; 3]), Velocity([0.0; 3]))
}

fn spawn_loop(State { world, .. }: &mut State) {
    for _ in 0..ENTITIES {
        world.spawn(black_box(body()));
    }
}

fn spawn_batch(State { world, .. }: &mut State) {
    world.spawn_batch((0..ENTITIES).map(|_| black_box(body())));
}

fn spawn_despawn(State { world, entities }: &mut State) {
    entities.clear();
    entities.extend((0..ENTITIES).map(|_| world.spawn((Position([0.0; 3]), Velocity([0.0; 3]))).id()));
    for &entity in entities.iter() {
        world.despawn(entity);
    }
}

fn commands(State { world, entities }: &mut State) {
    let mut commands = world.commands();
    for (index, &entity) in entities.iter().enumerate() {
        match index % 4 {
            0 => drop(commands.entity(entity).insert(B(2.0))),
            1 => drop(commands.entity(entity).remove::<B>()),
            2 => commands.entity(entity).despawn(),
            _ => drop(commands.spawn((A(0.0), B(3.0)))),
        }
    }
    world.flush();
}

/// What is counted, under a name that can be given to callgrind.
#[inline(never)]
fn counted(run: fn(&mut State), state: &mut State) {
    run(black_box(state));
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "--list") {
        CASES.iter().for_each(|case| println!("{} {ENTITIES}", case.name));
        return ExitCode::SUCCESS;
    }
    let [name, runs] = args.as_slice() else {
        eprintln!("error: phalanx-unheard takes a case and a number of runs, or --list");
        return ExitCode::FAILURE;
    };
    let (Some(case), Ok(runs)) = (CASES.iter().find(|case| case.name == name), runs.parse::<usize>()) else {
        eprintln!("error: there is no case {name}, or {runs} is no number; see --list");
        return ExitCode::FAILURE;
    };
    let mut state = State { world: World::new(), entities: Vec::new() };
    (case.before)(&mut state);
    (case.run)(black_box(&mut state));
    for _ in 0..runs {
        (case.before)(&mut state);
        counted(case.run, &mut state);
    }
    ExitCode::SUCCESS
}
