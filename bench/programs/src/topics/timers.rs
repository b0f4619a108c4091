// Timers of entities and of systems, stopwatches, and conditions on time.

use std::fmt::Write;
use std::time::Duration;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Bomb(Timer);
#[derive(Component, Deref, DerefMut)]
struct Blink(Timer);
#[derive(Resource)]
struct Fuse(Stopwatch);

fn burn(
    mut commands: Commands,
    time: Res<Time>,
    mut bombs: Query<(Entity, &Name, &mut Bomb)>,
    mut out: ResMut<Out>,
) {
    for (entity, name, mut bomb) in &mut bombs {
        bomb.0.tick(time.delta());
        writeln!(out.0, "{name} {:.2} {:?}", bomb.0.fraction(), bomb.0.remaining()).unwrap();
        if bomb.0.just_finished() {
            commands.entity(entity).despawn();
        }
    }
}
fn blink(time: Res<Time<Virtual>>, mut all: Query<&mut Blink>, mut out: ResMut<Out>) {
    for mut timer in &mut all {
        let times = timer.tick(time.delta()).times_finished_this_tick();
        if timer.just_finished() {
            writeln!(out.0, "blinks {times}, {:?} into the next", timer.elapsed()).unwrap();
        }
        if timer.elapsed_secs() > 0.35 {
            timer.set_duration(Duration::from_millis(200));
            timer.reset();
        }
    }
}
fn measure(time: Res<Time>, mut fuse: ResMut<Fuse>, mut frames: Local<u32>) {
    *frames += 1;
    if *frames == 4 {
        fuse.0.pause();
    } else if *frames == 7 {
        fuse.0.unpause();
    }
    fuse.0.tick(time.delta());
}
fn report(time: Res<Time>, fixed: Res<Time<Fixed>>, fuse: Res<Fuse>, mut out: ResMut<Out>) {
    let (elapsed, fuse) = (time.elapsed_secs_f64(), fuse.0.elapsed_secs());
    writeln!(out.0, "at {elapsed:.2}, fuse {fuse:.2} {:?}", fixed.elapsed()).unwrap();
}

pub fn program() -> String {
    let mut app = app_with_clocks();
    app.insert_resource(Time::<Fixed>::from_duration(Duration::from_millis(100)));
    app.init_resource::<Out>().insert_resource(Fuse(Stopwatch::new()));
    let world = app.world_mut();
    world.spawn((Bomb(Timer::from_seconds(0.5, TimerMode::Once)), Name::new("small")));
    world.spawn((Bomb(Timer::new(Duration::from_secs(1), TimerMode::Once)), Name::new("large")));
    world.spawn(Blink(Timer::from_seconds(0.15, TimerMode::Repeating)));
    app.add_systems(
        Update,
        (
            burn,
            blink,
            measure,
            (|mut out: ResMut<Out>| out.0.push_str("every third\n"))
                .run_if(on_timer(Duration::from_millis(300))),
            (|mut out: ResMut<Out>| out.0.push_str("after a while\n"))
                .run_if(once_after_delay(Duration::from_millis(450))),
            report,
        )
            .chain(),
    );
    app.add_systems(FixedUpdate, |time: Res<Time>, mut out: ResMut<Out>| {
        writeln!(out.0, "fixed {:?} {:?}", time.delta(), time.elapsed()).unwrap();
    });
    frame_of(&mut app, Duration::ZERO);
    for frame in 0..12 {
        let mut clock = app.world_mut().resource_mut::<Time<Virtual>>();
        match frame {
            5 => clock.pause(),
            6 => clock.unpause(),
            8 => clock.set_relative_speed(2.0),
            _ => {}
        }
        frame_of(&mut app, Duration::from_millis(100));
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
