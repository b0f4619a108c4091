// Plugins and groups of them: what they build, in which order, and how a program changes them.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource)]
struct Gravity(i32);
#[derive(Resource, Default)]
struct Sounds(Vec<&'static str>);

struct OutPlugin;
impl Plugin for OutPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Out>();
    }
}
struct Physics {
    gravity: i32,
}
impl Plugin for Physics {
    fn build(&self, app: &mut App) {
        app.insert_resource(Gravity(self.gravity));
        app.add_systems(Update, |gravity: Res<Gravity>, mut out: ResMut<Out>| {
            writeln!(out.0, "gravity {}", gravity.0).unwrap();
        });
        app.world_mut().resource_mut::<Out>().0.push_str("physics built\n");
    }
    fn finish(&self, app: &mut App) {
        app.world_mut().resource_mut::<Out>().0.push_str("physics finished\n");
    }
    fn cleanup(&self, app: &mut App) {
        app.world_mut().resource_mut::<Out>().0.push_str("physics cleaned up\n");
    }
}
struct Sound;
impl Plugin for Sound {
    fn build(&self, app: &mut App) {
        app.init_resource::<Sounds>();
        if app.is_plugin_added::<Physics>() {
            app.world_mut().resource_mut::<Sounds>().0.push("thud");
        }
        app.add_systems(PostUpdate, |sounds: Res<Sounds>, mut out: ResMut<Out>| {
            writeln!(out.0, "sounds {:?}", sounds.0).unwrap();
        });
    }
}
struct Music;
impl Plugin for Music {
    fn build(&self, app: &mut App) {
        app.world_mut().resource_mut::<Sounds>().0.push("music");
    }
}
struct Crash;
impl Plugin for Crash {
    fn build(&self, _: &mut App) {
        unreachable!("it was disabled");
    }
}

struct Standard;
impl PluginGroup for Standard {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>().add(OutPlugin).add(Sound).add(Physics { gravity: 10 }).add(Crash)
    }
}

fn greeting(app: &mut App) {
    app.add_systems(Startup, |mut out: ResMut<Out>| out.0.push_str("hello\n"));
}
fn ending(app: &mut App) {
    app.add_systems(Last, |mut frames: Local<u32>, mut exit: MessageWriter<AppExit>| {
        *frames += 1;
        if *frames == 3 {
            exit.write(AppExit::from_code(7));
        }
    });
}

pub fn program() -> String {
    let mut app = App::new();
    app.add_plugins(Standard.set(Physics { gravity: 3 }).disable::<Crash>().add_after::<Sound>(Music));
    app.add_plugins((
        greeting,
        (ending, |app: &mut App| {
            app.insert_resource(Gravity(4));
        }),
    ));
    let gravities: Vec<i32> =
        app.get_added_plugins::<Physics>().iter().map(|physics| physics.gravity).collect();
    let added = (app.is_plugin_added::<Music>(), app.is_plugin_added::<Crash>());
    writeln!(app.world_mut().resource_mut::<Out>().0, "{gravities:?} {added:?}").unwrap();
    app.set_runner(|mut app| {
        app.finish();
        app.cleanup();
        loop {
            app.update();
            if let Some(exit) = app.should_exit() {
                let text = std::mem::take(&mut app.world_mut().resource_mut::<Out>().0);
                PRINTED.with(|printed| *printed.borrow_mut() = text);
                return exit;
            }
        }
    });
    let exit = app.run();
    let mut out = PRINTED.with(|printed| printed.take());
    writeln!(out, "{exit:?} {}", exit.is_error()).unwrap();
    out
}
thread_local! {
    static PRINTED: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}
