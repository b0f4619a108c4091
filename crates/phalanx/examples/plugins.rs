//! Plugins: an app made of parts that set themselves up.
//!
//! Run with `cargo run -p phalanx --example plugins`.

use phalanx::prelude::*;

#[derive(Component)]
struct Height(f32);

#[derive(Resource)]
struct Gravity(f32);

fn fall(time: Res<Time>, gravity: Res<Gravity>, mut all: Query<&mut Height>) {
    for mut height in &mut all {
        height.0 -= gravity.0 * time.delta_secs();
    }
}

/// A plugin with a setting.
struct Physics {
    gravity: f32,
}

impl Plugin for Physics {
    fn build(&self, app: &mut App) {
        app.insert_resource(Gravity(self.gravity)).add_systems(Update, fall);
    }

    fn finish(&self, app: &mut App) {
        // All plugins were added: now others can be looked at.
        println!("sound is {}", if app.is_plugin_added::<Sound>() { "on" } else { "off" });
    }
}

struct Sound;

impl Plugin for Sound {
    fn build(&self, app: &mut App) {
        app.add_systems(PostUpdate, |all: Query<&Height>| {
            let landed = all.iter().filter(|height| height.0 <= 0.0).count();
            println!("{landed} thuds");
        });
    }
}

/// A function is a plugin, too.
fn world(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn_batch([Height(1.0), Height(100.0)]);
    });
}

/// What most programs want, as one.
struct Standard;

impl PluginGroup for Standard {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>().add(Physics { gravity: 9.81 }).add(Sound)
    }
}

fn main() {
    let mut app = App::new();
    app.add_plugins((Standard, world));
    app.step(0.5);
    assert_eq!(app.world().resource::<Gravity>().0, 9.81);

    // On the moon, and in silence.
    let mut moon = App::new();
    moon.add_plugins((Standard.build().set(Physics { gravity: 1.62 }).disable::<Sound>(), world));
    moon.step(0.5);
    assert_eq!(moon.world().resource::<Gravity>().0, 1.62);
    assert!(!moon.is_plugin_added::<Sound>());
}
