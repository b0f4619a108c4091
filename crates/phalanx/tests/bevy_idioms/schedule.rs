//! Order, sets and conditions, as they are said about systems.

use phalanx::prelude::*;

#[derive(Component)]
struct Unit;
#[derive(Resource, Default)]
struct Log(Vec<&'static str>);
#[derive(Resource, Default)]
struct Counts(Vec<usize>);
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    First,
    Second,
    Third,
}

fn a(mut log: ResMut<Log>) {
    log.0.push("a");
}
fn b(mut log: ResMut<Log>) {
    log.0.push("b");
}
fn c(mut log: ResMut<Log>) {
    log.0.push("c");
}
fn spawn(mut commands: Commands) {
    commands.spawn(Unit);
}
fn count(units: Query<&Unit>, mut counts: ResMut<Counts>) {
    counts.0.push(units.iter().count());
}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>().init_resource::<Counts>();
    app
}
fn ran(app: &mut App) -> String {
    app.update();
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0).concat()
}

#[test]
fn config_before() {
    let mut app = app();
    app.add_systems(Update, (b, a.before(b)));
    assert_eq!(ran(&mut app), "ab");
}

#[test]
fn config_after() {
    let mut app = app();
    app.add_systems(Update, (b.after(a), a));
    assert_eq!(ran(&mut app), "ab");
}

#[test]
fn config_chain() {
    let mut app = app();
    app.add_systems(Update, (c, b, a).chain());
    assert_eq!(ran(&mut app), "cba");
}

#[test]
fn config_in_set() {
    let mut app = app();
    app.configure_sets(Update, (Step::First, Step::Second, Step::Third).chain());
    app.add_systems(Update, (a.in_set(Step::Third), b.in_set(Step::First)));
    app.add_systems(Update, c.in_set(Step::Second));
    assert_eq!(ran(&mut app), "bca");
}

#[test]
fn config_run_if() {
    let mut app = app();
    app.add_systems(Update, (a.run_if(|| false), b.run_if(|counts: Res<Counts>| counts.0.is_empty())));
    app.configure_sets(Update, Step::First.run_if(|| false));
    app.add_systems(Update, c.in_set(Step::First));
    assert_eq!(ran(&mut app), "b");
}

#[test]
fn config_chain_applies_commands() {
    let mut app = app();
    app.add_systems(Update, (spawn, count).chain());
    app.update();
    assert_eq!(app.world().resource::<Counts>().0, [1]);
}

#[test]
fn config_chain_ignore_deferred() {
    let mut app = app();
    app.add_systems(Update, (spawn, count).chain_ignore_deferred());
    app.update();
    assert_eq!(app.world().resource::<Counts>().0, [0]);
}

#[test]
fn config_before_ignore_deferred() {
    let mut app = app();
    app.add_systems(Update, (count, spawn.before_ignore_deferred(count)));
    app.update();
    assert_eq!(app.world().resource::<Counts>().0, [0]);
}

#[test]
fn config_after_ignore_deferred() {
    let mut app = app();
    app.add_systems(Update, (count.after_ignore_deferred(spawn), spawn));
    app.update();
    assert_eq!(app.world().resource::<Counts>().0, [0]);
}

#[test]
fn config_apply_deferred() {
    let mut app = app();
    app.add_systems(Update, (spawn, ApplyDeferred, count).chain_ignore_deferred());
    app.update();
    assert_eq!(app.world().resource::<Counts>().0, [1]);
}

#[test]
fn condition_not() {
    let mut app = app();
    app.add_systems(Update, (a.run_if(not(|| true)), b.run_if(not(|| false))));
    assert_eq!(ran(&mut app), "b");
}

#[test]
fn condition_run_once() {
    let mut app = app();
    app.add_systems(Update, a.run_if(run_once));
    assert_eq!(ran(&mut app), "a");
    assert_eq!(ran(&mut app), "");
}

#[test]
fn condition_resource_exists() {
    #[derive(Resource)]
    struct Flag;
    let mut app = app();
    app.add_systems(Update, a.run_if(resource_exists::<Flag>));
    assert_eq!(ran(&mut app), "");
    app.insert_resource(Flag);
    assert_eq!(ran(&mut app), "a");
}

#[test]
fn condition_resource_equals() {
    #[derive(Resource, PartialEq)]
    struct Level(u32);
    let mut app = app();
    app.insert_resource(Level(1));
    app.add_systems(Update, a.run_if(resource_equals(Level(2))));
    assert_eq!(ran(&mut app), "");
    app.world_mut().resource_mut::<Level>().0 = 2;
    assert_eq!(ran(&mut app), "a");
}

#[test]
fn condition_resource_changed() {
    #[derive(Resource)]
    struct Level(u32);
    let mut app = app();
    app.insert_resource(Level(1));
    app.add_systems(Update, a.run_if(resource_changed::<Level>));
    assert_eq!(ran(&mut app), "a");
    assert_eq!(ran(&mut app), "");
    app.world_mut().resource_mut::<Level>().0 = 2;
    assert_eq!(ran(&mut app), "a");
    assert_eq!(app.world().resource::<Level>().0, 2);
}

#[test]
fn condition_on_message() {
    #[derive(Message)]
    struct Ping;
    let mut app = app();
    app.add_systems(Update, a.run_if(on_message::<Ping>));
    assert_eq!(ran(&mut app), "");
    app.world_mut().write_message(Ping);
    assert_eq!(ran(&mut app), "a");
    assert_eq!(ran(&mut app), "");
}

#[test]
fn condition_any_with_component() {
    let mut app = app();
    app.add_systems(Update, a.run_if(any_with_component::<Unit>));
    assert_eq!(ran(&mut app), "");
    app.world_mut().spawn(Unit);
    assert_eq!(ran(&mut app), "a");
}

#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Turn;

fn world() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

#[test]
fn schedule_new() {
    let mut world = world();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems((b.after(a), a));
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0.concat(), "ab");
}

#[test]
fn schedule_default() {
    let mut schedule = Schedule::default();
    schedule.run(&mut World::new());
}

#[test]
fn schedule_add_systems() {
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.add_systems(a).add_systems((b, c).chain().after(a));
    schedule.run(&mut world);
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0.concat(), "abcabc");
}

#[test]
fn schedule_configure_sets() {
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.configure_sets((Step::First, Step::Second).chain());
    schedule.add_systems((a.in_set(Step::Second), b.in_set(Step::First)));
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0.concat(), "ba");
}

#[test]
fn schedule_run() {
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.add_systems(a);
    for _ in 0..3 {
        schedule.run(&mut world);
    }
    assert_eq!(world.resource::<Log>().0.len(), 3);
}

#[test]
fn schedule_initialize() {
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.add_systems((a.before(b), b.before(a)));
    assert!(schedule.initialize(&mut world).is_err());
}

#[test]
fn schedule_label() {
    assert_eq!(format!("{:?}", Schedule::new(Turn).label()), "Turn");
}

#[test]
fn world_add_schedule() {
    let mut world = world();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems(a);
    world.add_schedule(schedule);
    world.run_schedule(Turn);
    assert_eq!(world.resource::<Log>().0, ["a"]);
}

#[test]
fn world_run_schedule() {
    let mut world = world();
    world.add_schedule(Schedule::new(Turn));
    world.resource_mut::<Schedules>().add_systems(Turn, b);
    world.run_schedule(Turn);
    world.run_schedule(Turn);
    assert_eq!(world.resource::<Log>().0, ["b", "b"]);
}

#[test]
fn world_try_run_schedule() {
    let mut world = world();
    assert!(world.try_run_schedule(Turn).is_err());
    world.add_schedule(Schedule::new(Turn));
    assert!(world.try_run_schedule(Turn).is_ok());
}

#[test]
fn world_schedule_scope() {
    let mut world = world();
    world.add_schedule(Schedule::new(Turn));
    world.schedule_scope(Turn, |world, schedule| {
        schedule.add_systems(c);
        schedule.run(world);
    });
    assert_eq!(world.resource::<Log>().0, ["c"]);
}

#[test]
fn world_try_schedule_scope() {
    let mut world = world();
    assert!(world.try_schedule_scope(Turn, |_, _| ()).is_err());
}

#[test]
fn commands_run_schedule() {
    let mut world = world();
    world.add_schedule(Schedule::new(Turn));
    world.schedule_scope(Turn, |_, schedule| {
        schedule.add_systems(a);
    });
    world.commands().run_schedule(Turn);
    world.flush();
    assert_eq!(world.resource::<Log>().0, ["a"]);
}

#[test]
fn app_init_schedule() {
    let mut app = app();
    app.init_schedule(Turn).add_systems(Turn, a);
    app.world_mut().run_schedule(Turn);
    assert_eq!(ran(&mut app), "a");
}

#[test]
fn app_add_schedule() {
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems(a);
    let mut app = app();
    app.add_schedule(schedule);
    app.world_mut().run_schedule(Turn);
    assert_eq!(ran(&mut app), "a");
}

#[test]
fn app_edit_schedule() {
    let mut app = app();
    app.edit_schedule(Update, |schedule| {
        schedule.add_systems(b);
    });
    assert_eq!(ran(&mut app), "b");
}

#[derive(Resource, PartialEq)]
struct Lives(u32);

#[test]
fn condition_resource_exists_and() {
    let mut app = app();
    app.add_systems(Update, a.run_if(resource_exists_and_changed::<Lives>));
    app.add_systems(Update, b.run_if(resource_exists_and_equals(Lives(2))));
    app.add_systems(Update, c.run_if(resource_exists_and(|lives: &Lives| lives.0 > 1)));
    assert_eq!(ran(&mut app), "");
    app.insert_resource(Lives(1));
    assert_eq!(ran(&mut app), "a");
    app.world_mut().resource_mut::<Lives>().0 = 2;
    assert_eq!(ran(&mut app), "abc");
    assert_eq!(ran(&mut app), "bc");
}

#[test]
fn condition_resource_added_removed() {
    let mut app = app();
    app.add_systems(Update, a.run_if(resource_added::<Lives>));
    app.add_systems(Update, b.run_if(resource_removed::<Lives>));
    app.add_systems(Update, c.run_if(resource_changed_or_removed::<Lives>));
    assert_eq!(ran(&mut app), "");
    app.insert_resource(Lives(1));
    assert_eq!(ran(&mut app), "ac");
    app.world_mut().resource_mut::<Lives>().0 = 2;
    assert_eq!(ran(&mut app), "c");
    app.world_mut().remove_resource::<Lives>();
    assert_eq!(ran(&mut app), "bc");
    assert_eq!(ran(&mut app), "");
}

#[test]
fn condition_changed_answers() {
    fn two(lives: Res<Lives>) -> bool {
        lives.0 == 2
    }
    let mut app = app();
    app.insert_resource(Lives(1));
    app.add_systems(Update, a.run_if(condition_changed(two)));
    app.add_systems(Update, b.run_if(condition_changed_to(true, two)));
    assert_eq!(ran(&mut app), "");
    app.insert_resource(Lives(2));
    assert_eq!(ran(&mut app), "ab");
    assert_eq!(ran(&mut app), "");
    app.insert_resource(Lives(3));
    assert_eq!(ran(&mut app), "a");
}

#[test]
fn condition_any_match_filter() {
    let mut app = app();
    app.add_systems(Update, a.run_if(any_match_filter::<With<Unit>>));
    assert_eq!(ran(&mut app), "");
    app.world_mut().spawn(Unit);
    assert_eq!(ran(&mut app), "a");
}

fn yes() -> bool {
    true
}
fn no() -> bool {
    false
}

#[test]
fn condition_methods() {
    let mut app = app();
    app.add_systems(Update, a.run_if(yes.and_then(yes)).run_if(yes.and_eager(not(no))));
    app.add_systems(Update, b.run_if(yes.nand_then(no)).run_if(no.nand_eager(no)).run_if(no.or_else(yes)));
    app.add_systems(Update, c.run_if(no.or_eager(yes)).run_if(no.nor_else(no)).run_if(no.nor_eager(no)));
    app.add_systems(Update, a.run_if(yes.xor(no)).run_if(no.xnor(no)).run_if(not(yes.xor(yes))));
    app.add_systems(Update, b.run_if(yes.and_then(no)));
    app.add_systems(Update, b.run_if(yes.nor_else(no)));
    assert_eq!(ran(&mut app), "abca");
}

#[test]
fn condition_methods_ask_the_second_only_if_they_must() {
    fn asked(mut log: ResMut<Log>) -> bool {
        log.0.push("?");
        true
    }
    let mut app = app();
    app.add_systems(Update, a.run_if(no.and_then(asked)));
    assert_eq!(ran(&mut app), "");
    let mut app = self::app();
    app.add_systems(Update, a.run_if(no.and_eager(asked)));
    assert_eq!(ran(&mut app), "?");
    let mut app = self::app();
    app.add_systems(Update, a.run_if(yes.or_else(asked)));
    assert_eq!(ran(&mut app), "a");
    let mut app = self::app();
    app.add_systems(Update, a.run_if(yes.nand_eager(asked)).run_if(yes.nor_else(asked)));
    assert_eq!(ran(&mut app), "?");
}

#[test]
fn config_weak_orders() {
    let mut app = app();
    app.add_systems(Update, (c.after_weak(b), b, a.before_weak(b)));
    app.add_systems(PostUpdate, (a, b, c).chain_weak());
    assert_eq!(ran(&mut app), "abcabc");
}

#[test]
fn config_distributive_run_if() {
    let mut app = app();
    app.add_systems(Update, (a, b).distributive_run_if(run_once));
    assert_eq!(ran(&mut app), "ab");
    assert_eq!(ran(&mut app), "");
}

#[test]
fn config_ambiguous_with() {
    let mut app = app();
    app.add_systems(Update, (a.ambiguous_with(b), b, c.ambiguous_with_all()));
    app.configure_schedules(phalanx::schedule::ScheduleBuildSettings {
        ambiguity_detection: phalanx::schedule::LogLevel::Error,
        ..Default::default()
    });
    assert_eq!(ran(&mut app), "abc");
}

#[test]
fn config_into_configs() {
    let mut app = app();
    let systems = (a, b).chain().into_configs();
    app.add_systems(Update, systems);
    assert_eq!(ran(&mut app), "ab");
}

#[test]
fn schedule_build_settings() {
    let mut schedule = Schedule::default();
    let settings = phalanx::schedule::ScheduleBuildSettings {
        ambiguity_detection: phalanx::schedule::LogLevel::Warn,
        ..Default::default()
    };
    schedule.set_build_settings(settings);
    assert_eq!(schedule.get_build_settings().ambiguity_detection, phalanx::schedule::LogLevel::Warn);
    schedule.ignore_ambiguity(a, b).add_systems((a, b));
}

#[test]
fn schedule_set_executor() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut schedule = Schedule::default();
    schedule.set_executor(phalanx::schedule::SingleThreadedExecutor::new());
    schedule.add_systems(a);
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0, ["a"]);
}

#[test]
fn schedule_systems() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut schedule = Schedule::default();
    schedule.add_systems((a, b.after(a)));
    assert_eq!(schedule.systems_len(), 2);
    assert!(schedule.is_changed());
    schedule.initialize(&mut world).unwrap();
    assert!(!schedule.is_changed());
    let names: Vec<String> =
        schedule.systems().unwrap().map(|(_, system)| system.name().to_string()).collect();
    assert_eq!(names, ["a", "b"]);
    schedule.apply_deferred(&mut world);
}

#[test]
fn schedule_remove_systems_in_set() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut schedule = Schedule::default();
    schedule.add_systems((a, b.in_set(Step::Second)));
    let policy = phalanx::schedule::ScheduleCleanupPolicy::RemoveSystemsOnly;
    assert_eq!(schedule.remove_systems_in_set(Step::Second, &mut world, policy).unwrap(), 1);
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0, ["a"]);
}

#[test]
fn condition_any_component_removed() {
    let mut app = app();
    app.add_systems(Update, a.run_if(any_component_removed::<Unit>));
    let unit = app.world_mut().spawn(Unit).id();
    assert_eq!(ran(&mut app), "");
    app.world_mut().entity_mut(unit).remove::<Unit>();
    assert_eq!(ran(&mut app), "a");
    assert_eq!(ran(&mut app), "");
    app.world_mut().spawn(Unit).despawn();
    assert_eq!(ran(&mut app), "a");
}
