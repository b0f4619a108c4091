//! Random apps with reactions of every kind: their trace is the same for every number of threads.
//!
//! Systems that nothing orders share the threads; what they queue is applied at sync points, and there observers get
//! it. Nothing stays on the calling thread because it is small. `PHALANX_MODEL_STEPS` sets the number of frames.

use std::panic::resume_unwind;
use std::time::Duration;

use phalanx::prelude::*;
use phalanx::world::SystemError;

use crate::random::Random;
use crate::steps::model_steps;

#[derive(Component, Clone)]
#[component(track = "row")]
struct Health(u32);
#[derive(Component, Clone)]
struct Burning;
#[derive(Component, Clone)]
#[component(storage = "sparse")]
struct Wet(u32);
#[derive(Component, Clone)]
#[component(storage = "sparse", stable)]
struct Cold;
#[derive(Event)]
struct Echo(Entity);

#[derive(Resource, Default)]
struct Trace(Vec<String>);

const FRAMES: usize = 12;

/// What an observer does with an entity.
fn react(kind: usize, entity: Entity, commands: &mut Commands) {
    let mut recorder = commands.entity(entity);
    match kind {
        0 => drop(recorder.insert_if_new(Wet(1))),
        1 => drop(recorder.remove::<Burning>()),
        2 => drop(recorder.insert_if_new(Cold)),
        3 if entity.index() % 5 == 2 => recorder.despawn(),
        4 => commands.trigger(Echo(entity)),
        5 if entity.index().is_multiple_of(3) => {
            recorder.insert(Burning);
            resume_unwind(Box::new("on purpose"))
        }
        _ => {}
    }
}

fn add_observer(app: &mut App, number: usize, random: &mut Random) {
    let (kind, batched) = (random.below(8), random.chance(3));
    macro_rules! observer {
        ($pattern:ty) => {
            Observer::new(move |on: On<$pattern>, mut trace: ResMut<Trace>, mut commands: Commands| {
                let all: Vec<String> = on.entities().iter().map(ToString::to_string).collect();
                trace.0.push(format!("{number}: {}", all.join(" ")));
                on.entities().iter().for_each(|&entity| react(kind, entity, &mut commands));
            })
        };
    }
    let observer = match random.below(9) {
        0 => observer!(Add<Health>),
        1 => observer!(Insert<(Wet, Burning)>),
        2 => observer!(Discard<Burning>),
        3 => observer!(Remove<(Wet, Cold)>),
        4 => observer!(Despawn<Health>),
        5 => observer!(Mutate<Health>),
        6 => observer!(Matched<(&'static Health, &'static Wet), Without<Burning>>),
        7 => observer!(Unmatched<&'static Health, With<Cold>>),
        _ => Observer::new(move |on: On<Echo>, mut trace: ResMut<Trace>| {
            trace.0.push(format!("{number}: echo {}", on.0));
        }),
    };
    app.add_observer(if batched { observer.batched() } else { observer });
}

fn add_system(app: &mut App, number: usize, random: &mut Random) {
    let every = u32::try_from(2 + random.below(4)).expect("small");
    let rest = u32::try_from(random.below(2)).expect("small");
    macro_rules! add {
        ($system:expr) => {
            match random.below(3) {
                0 => app.add_systems(PreUpdate, $system),
                1 => app.add_systems(Update, $system),
                _ => app.add_systems(PostUpdate, $system),
            }
        };
    }
    let chosen = move |entity: Entity, frame: u32| (entity.index() + frame) % every == rest;
    match random.below(9) {
        0 => add!(move |mut commands: Commands, mut frame: Local<u32>| {
            *frame += 1;
            commands.spawn((Health(every + *frame % 3), Wet(rest)));
            commands.spawn_batch((0..every).map(Health));
        }),
        1 => add!(move |mut all: Query<&mut Health>| {
            all.par_iter_mut().for_each(|mut health| {
                if health.0 % every == rest {
                    health.0 = health.0.saturating_sub(1);
                }
            });
        }),
        2 => add!(move |mut all: Query<(&Health, &mut Wet)>| {
            all.iter_mut().for_each(|(health, mut wet)| wet.0 = health.0 + rest);
        }),
        3 => add!(move |all: Query<Entity, Without<Burning>>,
                        mut commands: Commands,
                        mut frame: Local<u32>| {
            *frame += 1;
            let some = all.iter().filter(|&entity| chosen(entity, *frame));
            some.for_each(|entity| {
                commands.entity(entity).insert(Burning);
            });
        }),
        4 => add!(move |all: Query<(Entity, &Wet)>, mut commands: Commands, mut frame: Local<u32>| {
            *frame += 1;
            for (entity, _) in all.iter().filter(|(entity, wet)| chosen(*entity, *frame + wet.0)) {
                commands.entity(entity).remove::<Wet>().insert(Cold);
            }
        }),
        5 => add!(move |all: Query<(Entity, &Health), With<Burning>>, mut commands: Commands| {
            let some = all.iter().filter(|(_, health)| health.0 % every == rest);
            some.for_each(|(entity, _)| commands.entity(entity).despawn());
        }),
        6 => add!(move |mut gone: RemovedComponents<Wet>, mut trace: ResMut<Trace>| {
            trace.0.extend(gone.read().map(|entity| format!("{number}: gone {entity}")));
        }),
        7 => add!(move |mut set: Reactive<(Mutate<Health>, Matched<(&'static Wet, &'static Burning)>)>,
                        mut trace: ResMut<Trace>| {
            trace.0.extend(set.read().map(|entity| format!("{number}: read {entity}")));
        }),
        _ => add!(move |all: Query<Entity, With<Cold>>, mut commands: Commands, mut frame: Local<u32>| {
            *frame += 1;
            for entity in all.iter().filter(|&entity| chosen(entity, *frame)) {
                commands.trigger(Echo(entity));
                commands.entity(entity).remove::<Cold>();
            }
        }),
    };
}

/// What an app that the seed makes tells in some frames.
fn trace(seed: u64, threads: usize) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut app = App::new();
    app.configure(AppConfig {
        threads: Threads::N(threads),
        small_phase: Duration::ZERO,
        flush_order: if random.chance(2) { FlushOrder::Staged } else { FlushOrder::Recorded },
        ..AppConfig::default()
    });
    app.init_resource::<Trace>();
    app.world_mut().set_error_handler(|world: &mut World, error: SystemError| {
        world.resource_mut::<Trace>().0.push(error.to_string());
    });
    app.world_mut().spawn_batch((0..40).map(|n| (Health(n), Wet(n))));
    for number in 0..3 + random.below(8) {
        add_observer(&mut app, number, &mut random);
    }
    for number in 100..104 + random.below(10) {
        add_system(&mut app, number, &mut random);
    }
    for _ in 0..FRAMES {
        app.step(0.1);
        app.world().check().expect("valid");
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Trace>().0)
}

#[test]
fn random_apps_react_the_same_for_every_number_of_threads() {
    let frames = model_steps(120, 360);
    let mut told = 0;
    for seed in 0..frames.div_ceil(FRAMES) as u64 {
        let one = trace(seed, 1);
        told += one.len();
        for threads in [2, 8] {
            assert!(trace(seed, threads) == one, "seed {seed}: another trace on {threads} threads");
        }
    }
    assert!(told > 10 * frames, "{told} lines: there is something to compare");
}
