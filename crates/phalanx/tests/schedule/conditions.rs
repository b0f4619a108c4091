//! Conditions: when systems run, how often conditions are asked, and that what they read is declared.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Resource, Default)]
struct Log(Vec<&'static str>);
#[derive(Resource, Default, PartialEq)]
struct Flag(bool);
#[derive(Resource, Default)]
struct Asked(u32);
#[derive(Message)]
struct Ping;
#[derive(Component)]
struct Marker;

fn a(mut log: ResMut<Log>) {
    log.0.push("a");
}
fn b(mut log: ResMut<Log>) {
    log.0.push("b");
}
fn flag(flag: Res<Flag>) -> bool {
    flag.0
}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>().init_resource::<Flag>().init_resource::<Asked>();
    app
}

fn ran(app: &mut App) -> Vec<&'static str> {
    app.step(0.1);
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

#[test]
fn a_system_runs_only_if_its_condition_holds() {
    let mut app = app();
    app.add_systems(Update, (a.run_if(flag), b));
    assert_eq!(ran(&mut app), ["b"]);
    app.world_mut().resource_mut::<Flag>().0 = true;
    assert_eq!(ran(&mut app), ["a", "b"]);
}

#[test]
fn a_condition_of_several_systems_is_asked_once_before_the_first() {
    fn ask(flag: Res<Flag>, mut asked: ResMut<Asked>) -> bool {
        asked.0 += 1;
        flag.0
    }
    // The first system changes what was asked; the second still runs.
    fn turn_off(mut flag: ResMut<Flag>) {
        flag.0 = false;
    }
    let mut app = app();
    app.add_systems(Update, (a, turn_off, b).chain().run_if(ask));
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Flag>().0 = true;
    assert_eq!(ran(&mut app), ["a", "b"]);
    assert!(ran(&mut app).is_empty());
    assert_eq!(app.world().resource::<Asked>().0, 3);
}

#[test]
fn a_condition_of_a_tuple_is_asked_after_what_comes_before_all_of_it() {
    fn turn_on(mut flag: ResMut<Flag>) {
        flag.0 = true;
    }
    let mut app = app();
    app.add_systems(Update, ((a, b).run_if(flag).after(turn_on), turn_on));
    assert_eq!(ran(&mut app), ["a", "b"]);
}

#[test]
fn a_condition_of_a_set_holds_for_systems_that_come_later() {
    #[derive(SystemSet, Debug)]
    struct Gated;
    let mut app = app();
    app.configure_sets(Update, Gated.run_if(flag));
    app.add_systems(Update, a.in_set(Gated));
    assert!(ran(&mut app).is_empty());
    app.add_systems(Update, b.in_set(Gated));
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Flag>().0 = true;
    assert_eq!(ran(&mut app), ["a", "b"]);
}

#[test]
fn a_condition_of_a_tuple_of_sets_is_asked_once_for_all_of_them() {
    #[derive(SystemSet, Debug)]
    struct One;
    #[derive(SystemSet, Debug)]
    struct Two;
    fn ask(flag: Res<Flag>, mut asked: ResMut<Asked>) -> bool {
        asked.0 += 1;
        flag.0
    }
    let mut app = app();
    app.configure_sets(Update, (One, Two).run_if(ask));
    app.add_systems(Update, (a.in_set(One), b.in_set(Two)));
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Flag>().0 = true;
    assert_eq!(ran(&mut app), ["a", "b"]);
    assert_eq!(app.world().resource::<Asked>().0, 2);
}

// A system that looks for changes sees them in the frame in which they happen, whether its set is open or not.
#[test]
fn a_systems_own_condition_is_asked_while_its_set_is_closed() {
    #[derive(SystemSet, Debug)]
    struct Gated;
    #[derive(Resource)]
    struct Watched(u32);
    let mut app = app();
    app.insert_resource(Watched(0));
    app.configure_sets(Update, Gated.run_if(flag));
    app.add_systems(Update, a.run_if(resource_changed::<Watched>).in_set(Gated));
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Flag>().0 = true;
    // The change was seen behind the closed gate.
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Watched>().0 = 1;
    assert_eq!(ran(&mut app), ["a"]);
}

// As near to its systems as the order allows, so that it sees what comes before the first of them.
#[test]
fn a_condition_of_several_systems_stands_right_before_the_first_that_runs() {
    fn turn_on(mut flag: ResMut<Flag>) {
        flag.0 = true;
    }
    let mut app = app();
    // `a` was added first but waits for `turn_on`, and so does `b`.
    app.add_systems(Update, ((a.after(turn_on), b.after(a)).run_if(flag), turn_on));
    assert_eq!(ran(&mut app), ["a", "b"]);
}

#[test]
fn a_condition_of_a_set_without_systems_is_not_asked() {
    #[derive(SystemSet, Debug)]
    struct NoMember;
    let mut app = app();
    app.configure_sets(Update, NoMember.run_if(|| unreachable!("the set has no member")));
    app.add_systems(Update, a);
    assert_eq!(ran(&mut app), ["a"]);
}

#[test]
fn conditions_are_joined() {
    let mut app = app();
    app.add_systems(Update, a.run_if(and(flag, run_once)));
    app.add_systems(Update, b.run_if(or(flag, not(resource_exists::<Log>))));
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Flag>().0 = true;
    // `run_once` was not asked while the flag was down.
    assert_eq!(ran(&mut app), ["a", "b"]);
    assert_eq!(ran(&mut app), ["b"]);
}

#[test]
fn common_conditions_say_what_they_should() {
    let mut app = app();
    app.add_systems(Update, a.run_if(resource_equals(Flag(true))).run_if(any_with_component::<Marker>));
    app.add_systems(PostUpdate, b.run_if(on_message::<Ping>));
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Flag>().0 = true;
    assert!(ran(&mut app).is_empty());
    app.world_mut().spawn(Marker);
    app.world_mut().write_message(Ping);
    assert_eq!(ran(&mut app), ["a", "b"]);
    assert_eq!(ran(&mut app), ["a"]);
}

#[test]
fn a_changed_resource_is_noticed_once() {
    let mut app = app();
    app.add_systems(Update, a.run_if(resource_changed::<Flag>));
    assert_eq!(ran(&mut app), ["a"]);
    assert!(ran(&mut app).is_empty());
    app.world_mut().resource_mut::<Flag>().0 = true;
    assert_eq!(ran(&mut app), ["a"]);
    assert!(ran(&mut app).is_empty());
}

#[test]
fn a_condition_may_look_at_the_whole_world() {
    fn crowded(world: &World) -> bool {
        world.entities().len() > 1
    }
    let mut app = app();
    app.add_systems(Update, (a.run_if(crowded), (b, a).run_if(crowded)));
    assert!(ran(&mut app).is_empty());
    app.world_mut().spawn_batch([Marker, Marker]);
    assert_eq!(ran(&mut app), ["a", "b", "a"]);
}

// Hazard 51: what a condition reads is part of the system's access.
#[test]
fn what_a_condition_reads_counts_as_access() {
    fn idle() {}
    fn write(mut flag: ResMut<Flag>) {
        flag.0 = !flag.0;
    }
    let mut app = app();
    app.add_systems(Update, (write, idle.run_if(flag)));
    let pairs = app.schedule(Update).conflicts().expect("no cycle");
    assert_eq!((pairs.len(), pairs[0].parts[0].as_str()), (1, "Flag"));
}

#[test]
fn a_condition_sees_what_its_own_system_wrote_after_it() {
    fn toggle(mut flag: ResMut<Flag>, mut log: ResMut<Log>) {
        flag.0 = !flag.0;
        log.0.push("toggle");
    }
    let mut app = app();
    app.add_systems(Update, toggle.run_if(resource_changed::<Flag>));
    for _ in 0..3 {
        assert_eq!(ran(&mut app), ["toggle"]);
    }
}
