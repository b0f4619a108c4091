// Clocks and fixed steps of an app: frames of different length, a pause, another speed, timers and their conditions.

use std::fmt::Write;
use std::time::Duration;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource)]
struct Cooldown(Timer);
#[derive(Component)]
struct Position(f64);

fn simulate(
    time: Res<Time>,
    fixed: Res<Time<Fixed>>,
    mut positions: Query<&mut Position>,
    mut out: ResMut<Out>,
) {
    for mut position in &mut positions {
        position.0 += time.delta_secs_f64();
    }
    let (delta, elapsed, left) = (time.delta(), time.elapsed(), fixed.overstep());
    write!(out.0, "step({delta:?} {elapsed:?}, {left:?} left) ").unwrap();
}
fn cool(time: Res<Time>, mut cooldown: ResMut<Cooldown>, mut out: ResMut<Out>) {
    cooldown.0.tick(time.delta());
    let (times, left) = (cooldown.0.times_finished_this_tick(), cooldown.0.remaining());
    write!(out.0, "cooled {times} times, {left:?} left ").unwrap();
}
fn ring(mut out: ResMut<Out>) {
    out.0.push_str("ring ");
}
fn tick(mut out: ResMut<Out>) {
    out.0.push_str("tick ");
}
fn once(mut out: ResMut<Out>) {
    out.0.push_str("once ");
}
fn render(
    time: Res<Time>,
    game: Res<Time<Virtual>>,
    real: Res<Time<Real>>,
    fixed: Res<Time<Fixed>>,
    positions: Query<&Position>,
    mut out: ResMut<Out>,
) {
    writeln!(out.0, "frame {:?} {:?}", time.delta(), time.elapsed()).unwrap();
    writeln!(
        out.0,
        "  game {:?} at {}, paused {} {}",
        game.elapsed(),
        game.effective_speed(),
        game.is_paused(),
        game.was_paused()
    )
    .unwrap();
    writeln!(
        out.0,
        "  real {:?}, fixed {:?} and {:.3}",
        real.elapsed(),
        fixed.elapsed(),
        fixed.overstep_fraction()
    )
    .unwrap();
    positions.iter().for_each(|position| writeln!(out.0, "  at {:.3}", position.0).unwrap());
}

pub fn program() -> String {
    let mut app = app_with_clocks();
    app.init_resource::<Out>();
    app.insert_resource(Time::<Fixed>::from_duration(Duration::from_millis(20)));
    app.insert_resource(Cooldown(Timer::from_seconds(0.03, TimerMode::Repeating)));
    app.add_systems(FixedFirst, tick);
    app.add_systems(FixedUpdate, (simulate, ring.run_if(on_timer(Duration::from_millis(40)))).chain());
    app.add_systems(
        Update,
        (
            cool,
            ring.run_if(on_real_timer(Duration::from_millis(50))),
            once.run_if(once_after_delay(Duration::from_millis(60))),
            (|mut out: ResMut<Out>| out.0.push_str("paused ")).run_if(paused),
            render,
        )
            .chain(),
    );
    app.world_mut().spawn(Position(0.0));
    // A frame without time comes first: bevy's clocks start with it.
    for (frame, milliseconds) in
        [0, 16, 16, 50, 3, 4, 33, 0, 100, 20, 20, 47, 61, 80, 90].into_iter().enumerate()
    {
        let mut game = app.world_mut().resource_mut::<Time<Virtual>>();
        match frame {
            5 => game.pause(),
            7 => game.unpause(),
            8 => game.set_relative_speed(0.5),
            10 => game.set_relative_speed(2.0),
            // The last two frames are longer than that at this speed.
            12 => game.set_max_delta(Duration::from_millis(150)),
            _ => {}
        }
        frame_of(&mut app, Duration::from_millis(milliseconds));
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
