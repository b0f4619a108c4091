//! `App`, method by method.

use phalanx::prelude::*;

#[derive(Resource, Default, Debug, PartialEq)]
struct Log(Vec<&'static str>);
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Late;

#[test]
fn app_new() {
    let mut app = App::new();
    app.update();
    App::default().update();
}

#[test]
fn app_add_systems() {
    let mut app = App::new();
    app.init_resource::<Log>()
        .add_systems(Startup, |mut log: ResMut<Log>| log.0.push("startup"))
        .add_systems(PostUpdate, |mut log: ResMut<Log>| log.0.push("post"))
        .add_systems(PreUpdate, |mut log: ResMut<Log>| log.0.push("pre"))
        .add_systems(Update, |mut log: ResMut<Log>| log.0.push("update"));
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Log>().0.join(" "), "startup pre update post pre update post");
}

#[test]
fn app_configure_sets() {
    let mut app = App::new();
    app.init_resource::<Log>()
        .configure_sets(Update, Late.run_if(run_once))
        .add_systems(Update, (|mut log: ResMut<Log>| log.0.push("late")).in_set(Late));
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["late"]);
}

#[test]
fn app_insert_resource() {
    let mut app = App::new();
    app.insert_resource(Log(vec!["x"]));
    assert_eq!(app.world().resource::<Log>().0, ["x"]);
}

#[test]
fn app_init_resource() {
    let mut app = App::new();
    app.insert_resource(Log(vec!["x"])).init_resource::<Log>();
    assert_eq!(app.world().resource::<Log>().0, ["x"]);
}

#[test]
fn app_world() {
    let mut app = App::new();
    let entity = app.world_mut().spawn_empty().id();
    assert!(app.world().get_entity(entity).is_ok());
}

#[test]
fn app_update() {
    let mut app = App::new();
    app.init_resource::<Log>().add_systems(Update, |mut log: ResMut<Log>| log.0.push("update"));
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Log>().0.len(), 2);
}

#[test]
fn app_add_message() {
    #[derive(Message)]
    struct Ping(u32);

    let mut app = App::new();
    app.add_message::<Ping>().init_resource::<Log>().add_systems(
        Update,
        |mut pings: MessageReader<Ping>, mut log: ResMut<Log>| {
            log.0.extend(pings.read().filter(|ping| ping.0 == 3).map(|_| "ping"));
        },
    );
    app.world_mut().write_message(Ping(3));
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["ping"]);
}

#[test]
fn app_set_error_handler() {
    let mut app = App::new();
    app.set_error_handler(|world, _| world.resource_mut::<Log>().0.push("error"));
    app.init_resource::<Log>().add_systems(Update, || "x".parse::<u32>().map(drop));
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["error"]);
}

struct Counting {
    by: u32,
}

#[derive(Resource, Default)]
struct Counted(u32);

impl Plugin for Counting {
    fn build(&self, app: &mut App) {
        let by = self.by;
        app.init_resource::<Counted>();
        app.add_systems(Update, move |mut counted: ResMut<Counted>| counted.0 += by);
    }
}

fn nothing(_: &mut App) {}

#[test]
fn app_add_plugins() {
    let mut app = App::new();
    app.add_plugins((Counting { by: 3 }, nothing));
    app.update();
    assert_eq!(app.world().resource::<Counted>().0, 3);
}

#[test]
fn app_is_plugin_added() {
    let mut app = App::new();
    assert!(!app.is_plugin_added::<Counting>());
    app.add_plugins(Counting { by: 1 });
    assert!(app.is_plugin_added::<Counting>());
}

#[test]
fn app_get_added_plugins() {
    let mut app = App::new();
    app.add_plugins(Counting { by: 7 });
    assert_eq!(app.get_added_plugins::<Counting>()[0].by, 7);
}

#[test]
fn app_run() {
    let exit = App::new().add_systems(Update, || {}).run();
    assert_eq!(exit, AppExit::Success);
}

#[test]
fn app_set_runner() {
    let mut app = App::new();
    app.set_runner(|mut app: App| {
        app.update();
        app.should_exit().unwrap_or(AppExit::error())
    });
    app.add_systems(Update, |mut exit: MessageWriter<AppExit>| {
        exit.write(AppExit::Success);
    });
    assert!(app.run().is_success());
}

#[test]
fn app_schedule_runner_plugin() {
    let mut app = App::new();
    app.add_plugins(ScheduleRunnerPlugin::run_loop(std::time::Duration::from_millis(1)));
    app.add_systems(Update, |mut frames: Local<u32>, mut exit: MessageWriter<AppExit>| {
        *frames += 1;
        if *frames == 3 {
            exit.write(AppExit::from_code(3));
        }
    });
    assert_eq!(app.run(), AppExit::from_code(3));
    let mut once = App::new();
    once.add_plugins(ScheduleRunnerPlugin { run_mode: RunMode::Once });
    assert!(once.run().is_success());
}

#[test]
fn app_first_and_last() {
    let mut app = App::new();
    app.init_resource::<Log>()
        .add_systems(Last, |mut log: ResMut<Log>| log.0.push("last"))
        .add_systems(First, |mut log: ResMut<Log>| log.0.push("first"))
        .add_systems(FixedFirst, || {})
        .add_systems(FixedPreUpdate, || {})
        .add_systems(FixedPostUpdate, || {})
        .add_systems(FixedLast, || {});
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["first", "last"]);
}

#[test]
fn app_schedules_from_outside() {
    let mut app = App::empty();
    app.init_resource::<Log>();
    app.get_schedule_mut(Update).unwrap().add_systems(|mut log: ResMut<Log>| log.0.push("update"));
    assert!(app.get_schedule(Update).is_some());
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["update"]);
}

#[test]
fn app_ambiguity() {
    #[derive(Component)]
    struct Unit;
    fn one(_: ResMut<Log>, _: Query<&mut Unit>) {}
    fn two(_: ResMut<Log>, _: Query<&mut Unit>) {}
    let mut app = App::new();
    app.init_resource::<Log>().add_systems(Update, (one, two));
    app.allow_ambiguous_component::<Unit>()
        .allow_ambiguous_resource::<Log>()
        .ignore_ambiguity(Update, one, two);
    app.configure_schedules(phalanx::schedule::ScheduleBuildSettings {
        ambiguity_detection: phalanx::schedule::LogLevel::Error,
        ..Default::default()
    });
    app.update();
}

#[test]
fn app_remove_systems_in_set() {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.add_systems(Update, (|mut log: ResMut<Log>| log.0.push("late")).in_set(Late));
    let policy = phalanx::schedule::ScheduleCleanupPolicy::RemoveSystemsOnly;
    assert_eq!(app.remove_systems_in_set(Update, Late, policy).unwrap(), 1);
    app.update();
    assert!(app.world().resource::<Log>().0.is_empty());
}

#[test]
fn app_register_system() {
    let mut app = App::new();
    let id = app.register_system(|In(number): In<u32>| number + 1);
    assert_eq!(app.world_mut().run_system_with(id, 1).unwrap(), 2);
}

#[test]
fn app_register_tracked_system() {
    let mut app = App::new();
    let handle = app.register_tracked_system(|In(number): In<u32>| number + 1);
    assert_eq!(app.world_mut().run_system_with(handle.id(), 1).unwrap(), 2);
}

#[test]
fn app_register_disabling_component() {
    #[derive(Component)]
    struct Asleep;
    let mut app = App::new();
    app.register_disabling_component::<Asleep>();
    app.world_mut().spawn(Asleep);
    let mut all = app.world_mut().query::<Entity>();
    assert_eq!(all.iter(app.world()).count(), 0);
}

#[test]
fn app_non_send() {
    let mut app = App::new();
    app.insert_non_send(std::rc::Rc::new(1)).init_non_send::<std::cell::Cell<u32>>();
    app.update();
}

#[test]
fn app_finish_plugins() {
    let mut app = App::new();
    app.finish();
    app.cleanup();
    assert_eq!(app.plugins_state(), phalanx::app::PluginsState::Cleaned);
}

#[test]
fn app_required_components() {
    #[derive(Component)]
    struct Enemy;
    #[derive(Component, Default)]
    struct Health(u32);
    #[derive(Component, Default)]
    struct Speed(u32);
    #[derive(Component, Default)]
    struct Armour(u32);
    #[derive(Component)]
    struct Luck(u32);
    let mut app = App::new();
    app.register_required_components::<Enemy, Health>()
        .register_required_components_with::<Enemy, Speed>(|| Speed(3));
    app.try_register_required_components::<Enemy, Armour>().unwrap();
    app.try_register_required_components_with::<Enemy, Luck>(|| Luck(7)).unwrap();
    assert!(app.try_register_required_components_with::<Enemy, Luck>(|| Luck(8)).is_err());
    let enemy = app.world_mut().spawn(Enemy).id();
    assert_eq!(app.world().get::<Speed>(enemy).unwrap().0, 3);
    assert_eq!(app.world().get::<Luck>(enemy).unwrap().0, 7);
    assert_eq!(app.world().get::<Health>(enemy).unwrap().0, app.world().get::<Armour>(enemy).unwrap().0);
}
