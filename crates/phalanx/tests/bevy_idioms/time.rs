//! `Time` and its clocks, `Timer`, `Stopwatch` and the conditions of `bevy_time`.

use std::time::Duration;

use phalanx::prelude::*;

const TENTH: Duration = Duration::from_millis(100);

#[derive(Resource, Default)]
struct Log(Vec<&'static str>);

fn say(text: &'static str) -> impl FnMut(ResMut<Log>) {
    move |mut log| log.0.push(text)
}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}

#[test]
fn time_in_update_and_fixed_update() {
    #[derive(Resource, Default)]
    struct Distance(f32);
    fn run(time: Res<Time>, mut distance: ResMut<Distance>) {
        distance.0 += time.delta_secs();
    }
    let mut app = App::new();
    app.init_resource::<Distance>().insert_resource(Time::<Fixed>::from_seconds(0.25));
    app.add_systems(FixedUpdate, run);
    app.step(0.6);
    assert_eq!(app.world().resource::<Distance>().0.to_bits(), 0.5_f32.to_bits());
    let time = app.world().resource::<Time>();
    assert_eq!((time.delta(), time.elapsed()), (Duration::from_millis(600), Duration::from_millis(600)));
    assert!((time.delta_secs_f64() - 0.6).abs() < 1e-9);
    assert!((f64::from(time.elapsed_secs()) - time.elapsed_secs_f64()).abs() < 1e-6);
}

#[test]
fn time_of_ones_own() {
    let mut time: Time = Time::default();
    time.advance_by(TENTH);
    time.advance_to(3 * TENTH);
    assert_eq!((time.delta(), time.elapsed()), (2 * TENTH, 3 * TENTH));
    let mut clock = Time::new_with(7_u32);
    *clock.context_mut() += 1;
    assert_eq!(*clock.context(), 8);
    assert_eq!(clock.as_generic(), Time::<()>::default());
    let mut real = Time::<Real>::default();
    real.update_with_duration(TENTH);
    assert_eq!(real.elapsed(), TENTH);
}

#[test]
fn time_wrapped() {
    let mut time = Time::<Virtual>::default();
    assert_eq!(time.wrap_period(), Duration::from_secs(3600));
    time.set_wrap_period(Duration::from_secs(5));
    time.advance_by(Duration::from_millis(12_250));
    assert_eq!(time.elapsed_wrapped(), Duration::from_millis(2250));
    assert_eq!(time.elapsed_secs_wrapped().to_bits(), 2.25_f32.to_bits());
    assert_eq!(time.elapsed_secs_wrapped_f64().to_bits(), 2.25_f64.to_bits());
    let mut app = app();
    app.insert_resource(time);
    app.step(0.5);
    let shown = app.world().resource::<Time>();
    assert_eq!(
        (shown.wrap_period(), shown.elapsed_wrapped()),
        (time.wrap_period(), Duration::from_millis(2750))
    );
}

#[test]
fn time_real() {
    let startup = std::time::Instant::now();
    let mut time = Time::<Real>::new(startup);
    assert_eq!((time.startup(), time.first_update(), time.last_update()), (startup, None, None));
    time.update_with_instant(startup + TENTH);
    assert_eq!((time.delta(), time.first_update()), (Duration::ZERO, Some(startup + TENTH)));
    time.update_with_instant(startup + 3 * TENTH);
    assert_eq!((time.delta(), time.elapsed()), (2 * TENTH, 2 * TENTH));
    assert_eq!(time.last_update(), Some(startup + 3 * TENTH));
    let mut clock = Time::<Real>::default();
    clock.update();
    assert!(clock.delta().is_zero() && clock.first_update() >= Some(clock.startup()));
    clock.update();
    assert_eq!(clock.last_update().unwrap() - clock.first_update().unwrap(), clock.elapsed());
}

#[test]
fn time_virtual() {
    let mut time = Time::<Virtual>::from_max_delta(TENTH);
    assert_eq!(time.max_delta(), TENTH);
    time.set_max_delta(2 * TENTH);
    time.set_relative_speed(2.0);
    time.set_relative_speed_f64(0.5);
    assert_eq!(f64::from(time.relative_speed()).to_bits(), time.relative_speed_f64().to_bits());
    time.toggle();
    assert!(time.is_paused() && !time.was_paused());
    time.unpause();
    let mut app = app();
    app.insert_resource(time);
    app.step(0.1);
    let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
    assert_eq!(time.delta(), TENTH / 2);
    assert_eq!(f64::from(time.effective_speed()).to_bits(), time.effective_speed_f64().to_bits());
    time.pause();
    app.step(0.1);
    assert!(app.world().resource::<Time<Virtual>>().was_paused());
    assert_eq!(app.world().resource::<Time<Real>>().elapsed(), 2 * TENTH);
}

#[test]
fn time_fixed() {
    let mut time = Time::<Fixed>::from_hz(10.0);
    assert_eq!(time.timestep(), Time::<Fixed>::from_duration(TENTH).timestep());
    assert_eq!(time.timestep(), Time::<Fixed>::from_seconds(0.1).timestep());
    time.set_timestep_hz(5.0);
    assert_eq!(time.timestep(), 2 * TENTH);
    time.set_timestep_seconds(0.3);
    time.set_timestep(TENTH);
    let mut app = app();
    app.insert_resource(time);
    app.add_systems(FixedUpdate, say("step"));
    app.step(0.25);
    assert_eq!(app.world().resource::<Log>().0.len(), 2);
    let mut time = app.world_mut().resource_mut::<Time<Fixed>>();
    assert_eq!((time.elapsed(), time.overstep()), (2 * TENTH, TENTH / 2));
    assert!(
        (time.overstep_fraction() - 0.5).abs() < 1e-6 && (time.overstep_fraction_f64() - 0.5).abs() < 1e-9
    );
    time.discard_overstep();
    time.accumulate_overstep(TENTH / 4);
    assert_eq!(time.overstep(), TENTH / 4);
}

#[test]
fn timer_once_and_repeating() {
    let mut timer = Timer::from_seconds(1.0, TimerMode::Once);
    assert!(!timer.tick(Duration::from_millis(250)).is_finished());
    assert_eq!((timer.fraction(), timer.fraction_remaining()), (0.25, 0.75));
    assert_eq!((timer.remaining_secs(), timer.remaining()), (0.75, Duration::from_millis(750)));
    timer.almost_finish();
    assert_eq!(timer.remaining(), Duration::from_nanos(1));
    timer.finish();
    assert!(timer.just_finished());
    assert!(timer.tick(TENTH).is_finished() && !timer.just_finished());
    timer.reset();
    timer.set_mode(TimerMode::Repeating);
    timer.set_duration(TENTH);
    assert_eq!((timer.mode(), timer.duration()), (TimerMode::Repeating, TENTH));
    assert_eq!(timer.tick(Duration::from_millis(250)).times_finished_this_tick(), 2);
    assert_eq!(timer.elapsed(), TENTH / 2);
    assert!((f64::from(timer.elapsed_secs()) - timer.elapsed_secs_f64()).abs() < 1e-6);
    timer.set_elapsed(Duration::ZERO);
    timer.pause();
    assert!(timer.is_paused() && timer.tick(TENTH).elapsed().is_zero());
    timer.unpause();
    assert_eq!(Timer::new(TENTH, TimerMode::Once).duration(), TENTH);
}

#[test]
fn stopwatch() {
    let mut watch = Stopwatch::new();
    watch.tick(TENTH);
    watch.pause();
    watch.tick(TENTH);
    assert!(watch.is_paused());
    watch.unpause();
    assert_eq!(watch.elapsed(), TENTH);
    assert!((f64::from(watch.elapsed_secs()) - watch.elapsed_secs_f64()).abs() < 1e-6);
    watch.set_elapsed(2 * TENTH);
    assert_eq!(watch.elapsed(), 2 * TENTH);
    watch.reset();
    assert!(watch.elapsed().is_zero());
}

#[test]
fn condition_timers() {
    use phalanx::app::{once_after_real_delay, repeating_after_delay, repeating_after_real_delay};

    let mut app = app();
    app.add_systems(
        Update,
        (
            say("a").run_if(on_timer(2 * TENTH)),
            say("b").run_if(on_real_timer(2 * TENTH)),
            say("c").run_if(once_after_delay(TENTH)),
            say("d").run_if(once_after_real_delay(2 * TENTH)),
            say("e").run_if(repeating_after_delay(3 * TENTH)),
            say("f").run_if(repeating_after_real_delay(4 * TENTH)),
            say("g").run_if(paused),
        ),
    );
    let mut ran = || {
        app.step(0.1);
        std::mem::take(&mut app.world_mut().resource_mut::<Log>().0).concat()
    };
    assert_eq!([ran(), ran(), ran(), ran()], ["c", "abd", "e", "abef"]);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.step(0.1);
    assert_eq!(
        app.world().resource::<Log>().0.concat(),
        "efg",
        "the virtual clock stands, the real one goes on"
    );
}
