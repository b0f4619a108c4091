//! Names of bevy's preludes that have no methods of their own to list.

use phalanx::prelude::*;

#[derive(Component, Clone, Debug, Default, PartialEq)]
struct Health(i32);
#[derive(Resource, Default, Debug)]
struct Log(Vec<&'static str>);

fn world() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

#[test]
fn derives_of_the_prelude() {
    #[derive(Component, Default)]
    struct Speed(i32);
    #[derive(Bundle, Default)]
    struct Unit {
        health: Health,
        speed: Speed,
    }
    #[derive(Resource)]
    struct Pause(bool);
    #[derive(Message)]
    struct Hit;
    #[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
    struct Fight;
    fn fight(units: Query<(&Health, &Speed)>, mut hits: MessageWriter<Hit>, mut pause: ResMut<Pause>) {
        hits.write_batch(units.iter().map(|(health, speed)| {
            assert_eq!(health.0, speed.0);
            Hit
        }));
        pause.0 = true;
    }
    let mut app = App::new();
    app.insert_resource(Pause(false)).add_message::<Hit>().add_systems(Update, fight.in_set(Fight));
    app.world_mut().spawn(Unit::default());
    app.update();
    assert!(app.world().resource::<Pause>().0);
    assert_eq!(app.world().messages::<Hit>().unwrap().len(), 1);
}

#[test]
fn from_world() {
    #[derive(Resource)]
    struct Count(usize);
    impl FromWorld for Count {
        fn from_world(world: &mut World) -> Self {
            Self(world.query::<&Health>().iter(world).count())
        }
    }
    let mut world = world();
    world.spawn(Health(1));
    world.init_resource::<Count>();
    assert_eq!(world.resource::<Count>().0, 1);
}

#[test]
fn command_traits() {
    struct Say(&'static str);
    impl Command for Say {
        type Out = ();
        fn apply(self, world: &mut World) {
            world.resource_mut::<Log>().0.push(self.0);
        }
    }
    struct Heal(i32);
    impl EntityCommand for Heal {
        type Out = ();
        fn apply(self, mut entity: EntityWorldMut) {
            entity.get_mut::<Health>().unwrap().0 += self.0;
        }
    }
    let mut world = world();
    let entity = world.spawn(Health(1)).id();
    let mut commands = world.commands();
    commands.queue(Say("hello"));
    commands.entity(entity).queue(Heal(2));
    world.flush();
    assert_eq!(world.resource::<Log>().0, ["hello"]);
    assert_eq!(world.get::<Health>(entity), Some(&Health(3)));
}

#[test]
fn child_spawners() {
    fn two(parent: &mut ChildSpawnerCommands) {
        parent.spawn(Health(1));
        parent.spawn(Health(2));
    }
    fn one(parent: &mut ChildSpawner) {
        parent.spawn(Health(3));
    }
    let mut world = world();
    let root = world.spawn_empty().with_children(one).id();
    world.commands().entity(root).with_children(two);
    world.flush();
    assert_eq!(world.get::<Children>(root).unwrap().len(), 3);
}

#[test]
fn sets_and_patterns_in_generic_code() {
    fn log_after<M>(app: &mut App, set: impl IntoSystemSet<M>) {
        app.add_systems(Update, (|mut log: ResMut<Log>| log.0.push("after")).after(set));
    }
    fn log_when<E: EventPattern + 'static>(app: &mut App) {
        app.add_observer(|_: On<E>, mut log: ResMut<Log>| log.0.push("when"));
    }
    fn first(mut log: ResMut<Log>, mut commands: Commands) {
        log.0.push("first");
        commands.spawn(Health(1));
    }
    let mut app = App::new();
    app.init_resource::<Log>();
    log_after(&mut app, first);
    log_when::<Add<Health>>(&mut app);
    app.add_systems(Update, (first, ApplyDeferred).chain());
    app.update();
    let log = &app.world().resource::<Log>().0;
    assert_eq!(log.len(), 3);
    assert!(log.iter().position(|text| *text == "first") < log.iter().position(|text| *text == "after"));
}

#[test]
fn errors_with_context() {
    fn told<T>(result: impl ContextExt<T>) -> Result<T> {
        result.context("while counting")
    }
    fn warned<T, E>(result: impl ResultSeverityExt<T, E>) -> Result<T> {
        result.with_severity(Severity::Warning)
    }
    let error = told("x".parse::<u32>()).unwrap_err();
    assert!(format!("{error:?}").contains("while counting"));
    assert_eq!(warned("x".parse::<u32>()).unwrap_err().severity(), Severity::Warning);
}

#[test]
fn phases_of_an_app() {
    fn say(text: &'static str) -> impl FnMut(ResMut<Log>) {
        move |mut log| log.0.push(text)
    }
    let mut app = App::new();
    app.init_resource::<Log>()
        .add_systems(PostUpdate, say("post-update"))
        .add_systems(Update, say("update"))
        .add_systems(FixedUpdate, say("fixed"))
        .add_systems(PreUpdate, say("pre-update"))
        .add_systems(PostStartup, say("post-startup"))
        .add_systems(Startup, say("startup"))
        .add_systems(PreStartup, say("pre-startup"));
    app.update();
    let log = app.world().resource::<Log>().0.join(" ");
    assert_eq!(log, "pre-startup startup post-startup pre-update update post-update");
    app.insert_resource(Time::<Fixed>::from_hz(1.0));
    app.step(1.0);
    assert_eq!(app.world().resource::<Log>().0.iter().filter(|text| **text == "fixed").count(), 1);
}

#[test]
fn component_hooks_of_all_kinds() {
    let mut world = world();
    let mut hooks = world.register_component_hooks::<Health>();
    hooks
        .on_add(|mut world, _| world.resource_mut::<Log>().0.push("add"))
        .on_insert(|mut world, _| world.resource_mut::<Log>().0.push("insert"))
        .on_discard(|mut world, _| world.resource_mut::<Log>().0.push("discard"))
        .on_remove(|mut world, _| world.resource_mut::<Log>().0.push("remove"))
        .on_despawn(|mut world, _| world.resource_mut::<Log>().0.push("despawn"));
    assert!(hooks.try_on_add(|_, _| {}).is_none() && hooks.try_on_insert(|_, _| {}).is_none());
    assert!(hooks.try_on_discard(|_, _| {}).is_none() && hooks.try_on_remove(|_, _| {}).is_none());
    assert!(hooks.try_on_despawn(|_, _| {}).is_none());
    drop(hooks);
    world.spawn(Health(1)).despawn();
    let mut log = std::mem::take(&mut world.resource_mut::<Log>().0);
    assert_eq!(log[..2], ["add", "insert"]);
    log.sort_unstable();
    assert_eq!(log[..], ["add", "despawn", "discard", "insert", "remove"]);
}

#[test]
fn app_exit_codes() {
    assert!(AppExit::error().is_error() && !AppExit::error().is_success());
    assert!(AppExit::from_code(0).is_success());
    let mut app = App::new();
    app.add_plugins(ScheduleRunnerPlugin::run_once());
    assert!(app.run().is_success());
}
