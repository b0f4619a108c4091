//! Time: the clocks of an app, fixed steps, timers.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::time::Duration;

use phalanx::prelude::*;

#[derive(Resource, Default)]
struct Log(Vec<String>);

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}
fn log(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}
fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[test]
fn time_is_told_as_a_duration_and_in_seconds() {
    let mut app = app();
    app.step(0.5);
    app.step(0.25);
    let time = app.world().resource::<Time>();
    assert_eq!((time.delta(), time.delta_secs(), time.delta_secs_f64()), (secs(0.25), 0.25, 0.25));
    assert_eq!((time.elapsed(), time.elapsed_secs(), time.elapsed_secs_f64()), (secs(0.75), 0.75, 0.75));
    assert_eq!(app.world().resource::<Time<Real>>().elapsed(), secs(0.75));
}

#[test]
fn update_takes_the_time_from_the_clock_or_from_the_configuration() {
    let mut app = app();
    app.update();
    assert_eq!(app.world().resource::<Time>().delta(), Duration::ZERO);
    std::thread::sleep(Duration::from_millis(2));
    app.update();
    assert!(app.world().resource::<Time>().delta() >= Duration::from_millis(2));
    app.configure(AppConfig { update_step: Some(secs(0.125)), ..Default::default() });
    app.update();
    let time = app.world().resource::<Time>();
    assert_eq!((time.delta(), time.frame()), (secs(0.125), 3));
}

#[test]
fn the_fixed_clock_has_an_elapsed_time_of_its_own() {
    let mut app = app();
    app.insert_resource(Time::<Fixed>::from_hz(4.0));
    app.add_systems(FixedUpdate, |time: Res<Time>, fixed: Res<Time<Fixed>>, mut log: ResMut<Log>| {
        assert_eq!((time.delta(), time.elapsed()), (fixed.delta(), fixed.elapsed()));
        log.0.push(format!("{} {}", time.delta_secs(), time.elapsed_secs()));
    });
    app.add_systems(Update, |time: Res<Time>, mut log: ResMut<Log>| {
        log.0.push(format!("{} {}", time.delta_secs(), time.elapsed_secs()));
    });
    app.step(0.625);
    assert_eq!(log(&mut app), ["0.25 0.25", "0.25 0.5", "0.625 0.625"]);
    let fixed = app.world().resource::<Time<Fixed>>();
    assert_eq!(
        (fixed.timestep(), fixed.overstep(), fixed.overstep_fraction()),
        (secs(0.25), secs(0.125), 0.5)
    );
    assert_eq!(fixed.steps(), 2);
}

#[test]
fn alpha_inside_a_fixed_step_is_that_of_the_step() {
    let mut app = app();
    app.configure(AppConfig { fixed_timestep: 0.25, ..Default::default() });
    app.add_systems(FixedUpdate, |time: Res<Time>, mut log: ResMut<Log>| {
        log.0.push(time.alpha().to_string());
    });
    app.step(0.3125);
    app.step(0.5);
    // Time for another whole step is left after the second.
    assert_eq!(log(&mut app), ["0.25", "1", "0.25"]);
    assert_eq!(app.world().resource::<Time>().alpha(), 0.25);
}

// A 20th is three steps of a 60th, though in nanoseconds it is one short.
#[test]
fn rounding_to_nanoseconds_costs_no_step() {
    let mut app = app();
    app.add_systems(FixedUpdate, |mut log: ResMut<Log>| log.0.push(String::new()));
    for _ in 0..100 {
        app.step(1.0 / 20.0);
        assert_eq!(log(&mut app).len(), 3);
    }
}

#[test]
fn fixed_steps_may_come_right_before_update() {
    let mut app = app();
    app.configure(AppConfig { fixed_place: FixedPlace::BeforeUpdate, ..Default::default() });
    let say = |text: &'static str| move |mut log: ResMut<Log>| log.0.push(text.to_owned());
    app.add_systems(PreUpdate, say("pre"))
        .add_systems(Update, say("update"))
        .add_systems(FixedUpdate, say("fixed"));
    app.step(1.0 / 60.0);
    assert_eq!(log(&mut app), ["pre", "fixed", "update"]);
}

#[test]
fn the_virtual_clock_can_be_paused_and_run_at_another_speed() {
    let mut app = app();
    app.configure(AppConfig { fixed_timestep: 0.5, ..Default::default() });
    app.add_systems(FixedUpdate, |mut log: ResMut<Log>| log.0.push("fixed".to_owned()));
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.step(1.0);
    assert!(log(&mut app).is_empty());
    assert_eq!(app.world().resource::<Time>().delta(), Duration::ZERO);
    assert_eq!(app.world().resource::<Time<Virtual>>().effective_speed(), 0.0);
    let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
    time.unpause();
    time.set_relative_speed(2.0);
    app.step(0.5);
    assert_eq!(log(&mut app).len(), 2);
    assert_eq!(app.world().resource::<Time>().elapsed(), secs(1.0));
    assert_eq!(app.world().resource::<Time<Real>>().elapsed(), secs(1.5));
    app.world_mut().resource_mut::<Time<Virtual>>().set_max_delta(secs(0.25));
    app.step(0.5);
    assert_eq!(app.world().resource::<Time>().delta(), secs(0.25), "at most a quarter, however fast");
    assert_eq!(app.world().resource::<Time<Virtual>>().effective_speed(), 0.5);
}

#[test]
fn time_that_would_overflow_is_refused_before_anything_runs() {
    let mut app = app();
    app.add_systems(Update, |mut log: ResMut<Log>| log.0.push("ran".to_owned()));
    app.step(1e19);
    assert_eq!(log(&mut app).len(), 1);
    let error = app.try_step(1e19).expect_err("too much in all").to_string();
    assert!(error.contains("10000000000000000000 seconds") && log(&mut app).is_empty(), "{error}");
    let mut app = self::app();
    app.world_mut().resource_mut::<Time<Virtual>>().set_relative_speed(1e6);
    assert!(app.try_step(1e18).is_err());
}

#[test]
fn a_condition_holds_each_time_its_timer_is_over() {
    let mut app = app();
    app.add_systems(
        Update,
        (|mut log: ResMut<Log>| log.0.push("tick".to_owned())).run_if(on_timer(secs(0.25))),
    );
    for (dt, expected) in [(0.125, 0), (0.125, 1), (0.125, 0), (1.0, 1), (0.125, 1)] {
        app.step(dt);
        assert_eq!(log(&mut app).len(), expected, "{dt}");
    }
    let mut app = self::app();
    app.add_systems(Update, (|mut log: ResMut<Log>| log.0.push("paused".to_owned())).run_if(paused));
    app.step(0.1);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.step(0.1);
    assert_eq!(log(&mut app), ["paused"]);
}

#[test]
fn a_timer_that_runs_once_stays_finished() {
    let mut timer = Timer::from_seconds(1.0, TimerMode::Once);
    assert!(!timer.tick(secs(0.5)).is_finished());
    assert_eq!((timer.fraction(), timer.remaining_secs()), (0.5, 0.5));
    assert!(timer.tick(secs(0.75)).just_finished());
    assert_eq!(timer.elapsed(), secs(1.0));
    assert!(!timer.tick(secs(0.75)).just_finished() && timer.is_finished());
    timer.reset();
    timer.pause();
    assert!(!timer.tick(secs(5.0)).is_finished() && timer.elapsed().is_zero());
    timer.finish();
    assert!(timer.is_finished() && timer.is_paused());
}

#[test]
fn a_repeating_timer_counts_its_rounds() {
    let mut timer = Timer::new(secs(0.25), TimerMode::Repeating);
    assert_eq!(timer.tick(secs(0.875)).times_finished_this_tick(), 3);
    assert_eq!((timer.elapsed(), timer.is_finished()), (secs(0.125), true));
    assert!(!timer.tick(secs(0.0625)).is_finished());
    assert_eq!(
        Timer::new(Duration::ZERO, TimerMode::Repeating).tick(secs(0.1)).times_finished_this_tick(),
        u32::MAX
    );
}

#[test]
fn a_stopwatch_counts_while_it_is_not_paused() {
    let mut watch = Stopwatch::new();
    watch.tick(secs(0.5));
    watch.pause();
    watch.tick(secs(0.5));
    assert_eq!((watch.elapsed_secs(), watch.is_paused()), (0.5, true));
    watch.unpause();
    watch.reset();
    assert_eq!(watch.tick(secs(0.25)).elapsed(), secs(0.25));
}

#[test]
fn one_long_frame_counts_250_ms_from_the_clock_and_all_when_it_is_given() {
    let mut app = App::new();
    app.configure(AppConfig { update_step: Some(secs(2.0)), ..Default::default() });
    app.world_mut().resource_mut::<Time<Virtual>>().set_relative_speed(2.0);
    app.update();
    let clocks = |app: &App| {
        let world = app.world();
        (world.resource::<Time>().elapsed(), world.resource::<Time<Real>>().elapsed())
    };
    assert_eq!(clocks(&app), (secs(0.25), secs(2.0)), "limited after the speed is applied");
    app.step(2.0);
    assert_eq!(clocks(&app), (secs(4.25), secs(4.0)));
    app.world_mut().resource_mut::<Time<Virtual>>().set_max_delta(secs(1.0));
    app.update();
    app.step(3.0);
    assert_eq!(clocks(&app), (secs(6.25), secs(9.0)));
}

#[test]
fn the_real_clock_knows_the_instants_of_its_frames() {
    let mut app = app();
    let real = |app: &App| *app.world().resource::<Time<Real>>();
    let startup = real(&app).startup();
    assert_eq!((real(&app).first_update(), real(&app).last_update()), (None, None));
    app.step(0.5);
    app.step(0.25);
    assert_eq!(real(&app).startup(), startup);
    assert_eq!(real(&app).first_update(), Some(startup + secs(0.5)), "no clock is asked by `step`");
    assert_eq!(real(&app).last_update(), Some(startup + secs(0.75)));
    let before = std::time::Instant::now();
    app.update();
    let last = real(&app).last_update().expect("there were frames");
    assert!(before <= last && last <= std::time::Instant::now(), "`update` asks the clock");
    app.configure(AppConfig { update_step: Some(secs(2.0)), ..AppConfig::default() });
    app.update();
    assert_eq!(
        real(&app).last_update(),
        Some(last + secs(2.0)),
        "the configuration says how long a frame is"
    );
}

#[test]
fn wrapped_time_begins_again_after_its_period() {
    let mut app = app();
    app.world_mut().resource_mut::<Time<Virtual>>().set_wrap_period(secs(1.0));
    app.world_mut().resource_mut::<Time<Fixed>>().set_wrap_period(secs(0.125));
    app.insert_resource(Fixes::default());
    app.world_mut().resource_mut::<Time<Fixed>>().set_timestep(secs(0.5));
    app.add_systems(FixedUpdate, |time: Res<Time>, mut fixes: ResMut<Fixes>| {
        fixes.0.push((time.wrap_period(), time.elapsed_wrapped()));
    });
    app.step(0.75);
    app.step(0.75);
    let time = app.world().resource::<Time>();
    assert_eq!((time.elapsed(), time.elapsed_wrapped()), (secs(1.5), secs(0.5)));
    assert_eq!((time.elapsed_secs_wrapped(), time.elapsed_secs_wrapped_f64()), (0.5, 0.5));
    assert_eq!(
        app.world().resource::<Fixes>().0,
        [(secs(0.125), secs(0.0)); 3],
        "`Time` shows the fixed clock there"
    );
    let mut far: Time = Time::default();
    far.advance_by(Duration::MAX);
    far.set_wrap_period(Duration::from_nanos(7));
    assert_eq!(u128::from(far.elapsed_wrapped().subsec_nanos()), Duration::MAX.as_nanos() % 7);
}

#[derive(Resource, Default)]
struct Fixes(Vec<(Duration, Duration)>);

#[test]
#[should_panic(expected = "time cannot begin again after zero")]
fn a_period_of_zero_is_refused() {
    Time::<Virtual>::default().set_wrap_period(Duration::ZERO);
}
