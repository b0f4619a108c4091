//! Apps with states, and with schedules that run now and then: they are taken back at any frame, and run on as before.

use phalanx::prelude::*;

use crate::random::Random;
use crate::steps::model_steps;

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game,
    End,
}

#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Game)]
enum Turn {
    #[default]
    Mine,
    Theirs,
}

#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Round(u32);

#[derive(Message, Clone)]
struct Told(u32);

#[derive(Resource, Clone, Default, Debug, PartialEq)]
struct Log(Vec<String>);

#[derive(Resource, Clone)]
struct Dice(u64);

/// A system that keeps how often it ran, and which messages it has read.
fn noted(name: &'static str) -> impl FnMut(ResMut<Log>, Local<u32>, MessageReader<Told>, Commands) {
    move |mut log, mut runs, mut told, mut commands| {
        *runs += 1;
        let (run, read) = (*runs, told.read().map(|told| told.0).collect::<Vec<_>>());
        log.0.push(format!("{name} {run} {read:?}"));
        commands.write_message(Told(run));
    }
}

fn roll(mut commands: Commands, mut dice: ResMut<Dice>) {
    dice.0 = dice.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    match (dice.0 >> 60) % 9 {
        0 => commands.set_state(Screen::Menu),
        1 => commands.set_state(Screen::Game),
        2 => commands.set_state(Screen::End),
        3 => commands.set_state_if_different(Screen::Game),
        4 => commands.queue(|world: &mut World| {
            if let Some(mut next) = world.get_resource_mut::<NextState<Turn>>() {
                next.set(Turn::Theirs);
            }
        }),
        5 => commands.run_schedule(Round(1)),
        6 => commands.run_schedule(Round(2)),
        _ => {}
    }
}

/// The same systems for each seed, in another order.
fn app(seed: u64) -> App {
    let mut app = App::new();
    app.insert_resource(Dice(seed)).init_resource::<Log>();
    app.init_state::<Screen>().add_sub_state::<Turn>();
    let mut parts: Vec<usize> = (0..9).collect();
    let mut random = Random::new(seed);
    for at in (1..parts.len()).rev() {
        parts.swap(at, random.below(at + 1));
    }
    for part in parts {
        match part {
            0 => app.add_systems(OnEnter(Screen::Menu), noted("enter menu")),
            1 => app.add_systems(OnExit(Screen::Menu), noted("exit menu")),
            2 => app.add_systems(OnEnter(Screen::Game), noted("enter game")),
            3 => app.add_systems(OnEnter(Turn::Theirs), noted("enter theirs")),
            4 => app.add_systems(OnEnter(Screen::End), noted("enter end").run_if(in_state(Screen::End))),
            5 => app.add_systems(Round(1), noted("first round")),
            6 => app.add_systems(Round(2), (noted("second round"), noted("and more")).chain()),
            7 => app.add_systems(Update, (noted("update"), roll).chain()),
            _ => app.add_systems(PostUpdate, noted("changed").run_if(state_changed::<Screen>)),
        };
    }
    app
}

fn run(app: &mut App, frames: usize) -> Log {
    (0..frames).for_each(|_| app.step(0.1));
    app.world().check().expect("valid");
    app.world().resource::<Log>().clone()
}

#[test]
fn apps_with_states_run_on_from_a_checkpoint_as_they_did() {
    for seed in 1..=model_steps(10, 40).min(40) as u64 {
        for frames in [0, 1, 2, 5, 11] {
            let mut first = app(seed);
            run(&mut first, frames);
            let checkpoint = first.checkpoint();
            let log = run(&mut first, 12);
            for _ in 0..2 {
                first.restore(&checkpoint).expect("of this app");
                assert_eq!(run(&mut first, 12), log, "seed {seed}, from frame {frames}");
            }
            assert_eq!(run(&mut app(seed), frames + 12), log, "seed {seed}: a checkpoint changes nothing");
        }
    }
}
