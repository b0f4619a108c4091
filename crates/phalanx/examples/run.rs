//! Running an app to its end, sixty times per second, until a system ends it.
//!
//! Run with `cargo run -p phalanx --example run`. With `--features ctrl_c`, ctrl-C ends it cleanly.

use std::time::Duration;

use phalanx::prelude::*;

#[derive(Resource)]
struct Fuse(Timer);

fn burn(time: Res<Time>, mut fuse: ResMut<Fuse>, mut exit: MessageWriter<AppExit>) {
    if fuse.0.tick(time.delta()).is_finished() {
        // The frame is finished, then `run` returns.
        exit.write(AppExit::Success);
    }
}

fn main() -> AppExit {
    let mut app = App::new();
    app.add_plugins(ScheduleRunnerPlugin::run_loop(Duration::from_secs_f64(1.0 / 60.0)));
    #[cfg(feature = "ctrl_c")]
    app.add_plugins(phalanx::app::TerminalCtrlCHandlerPlugin);
    app.insert_resource(Fuse(Timer::from_seconds(0.2, TimerMode::Once)));
    app.add_systems(First, || print!("."));
    app.add_systems(Update, burn);
    app.add_systems(Last, |mut ends: MessageReader<AppExit>| {
        if !ends.is_empty() {
            ends.clear();
            println!(" bang");
        }
    });
    // What `main` returns is the exit code.
    app.run()
}
