//! Apps whose time is given, not taken from a clock: bevy's own, with its plugins, and ours with bevy's place of fixed steps.

pub mod bevy {
    use std::time::Duration;

    use bevy_app::prelude::*;
    use bevy_state::app::StatesPlugin;
    use bevy_time::{TimePlugin, TimeUpdateStrategy};

    pub fn app_with_clocks() -> App {
        let mut app = App::new();
        app.add_plugins(TimePlugin);
        app
    }

    pub fn frame_of(app: &mut App, time: Duration) {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(time));
        app.update();
    }

    pub fn app_with_states() -> App {
        let mut app = App::new();
        app.add_plugins(StatesPlugin);
        app
    }

    pub fn app_with_clocks_and_states() -> App {
        let mut app = App::new();
        app.add_plugins((TimePlugin, StatesPlugin));
        app
    }

    pub fn app_that_ignores_errors() -> App {
        let mut app = App::new();
        app.set_error_handler(bevy_ecs::error::ignore);
        app
    }
}

pub mod phalanx {
    use std::time::Duration;

    use phalanx::prelude::*;

    pub fn app_with_clocks() -> App {
        let mut app = App::new();
        app.configure(AppConfig {
            fixed_place: FixedPlace::BeforeUpdate,
            max_fixed_steps: 100,
            ..Default::default()
        });
        app
    }

    pub fn frame_of(app: &mut App, time: Duration) {
        app.step(time.as_secs_f64());
    }

    pub fn app_with_states() -> App {
        App::new()
    }

    pub fn app_with_clocks_and_states() -> App {
        app_with_clocks()
    }

    pub fn app_that_ignores_errors() -> App {
        let mut app = App::new();
        app.set_error_handler(phalanx::error::ignore);
        app
    }
}
