//! `Stepping`: schedules run system by system.

use phalanx::prelude::*;
use phalanx::schedule::Stepping;

#[derive(Resource, Default)]
struct Log(Vec<&'static str>);
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Turn;

fn a(mut log: ResMut<Log>) {
    log.0.push("a");
}
fn b(mut log: ResMut<Log>) {
    log.0.push("b");
}
fn c(mut log: ResMut<Log>) {
    log.0.push("c");
}

fn logged(world: &mut World) -> String {
    std::mem::take(&mut world.resource_mut::<Log>().0).concat()
}
fn ran(app: &mut App) -> String {
    app.update();
    logged(app.world_mut())
}

#[test]
fn stepping_schedules() {
    let mut app = App::new();
    app.init_resource::<Log>().add_systems(Update, (a, b, c).chain());
    let mut stepping = Stepping::new();
    stepping.add_schedule(Update).enable().set_breakpoint(Update, c).always_run(Update, a);
    stepping.continue_frame();
    app.insert_resource(stepping);
    assert_eq!(ran(&mut app), "ab");
    let mut stepping = app.world_mut().resource_mut::<Stepping>();
    stepping.clear_breakpoint(Update, c).never_run(Update, b).clear_system(Update, a).step_frame();
    assert!(stepping.is_enabled());
    assert!(stepping.cursor().is_some());
    assert_eq!(stepping.schedules().unwrap().len(), 1);
    assert_eq!(ran(&mut app), "c");
    app.world_mut().resource_mut::<Stepping>().clear_schedule(Update).disable();
    assert_eq!(ran(&mut app), "abc");
    app.world_mut().resource_mut::<Stepping>().remove_schedule(Update).enable();
    assert_eq!(ran(&mut app), "abc");
}

#[test]
fn stepping_single_systems() {
    let mut app = App::new();
    app.init_resource::<Log>();
    let [first, second, third] =
        [app.add_system(Update, a), app.add_system(Update, b), app.add_system(Update, c)];
    let mut stepping = Stepping::new();
    stepping.add_schedule(Update).enable();
    stepping.always_run_node(Update, first).never_run_node(Update, second);
    app.insert_resource(stepping);
    assert_eq!(ran(&mut app), "a", "the frame waits, and `a` always runs");
    let mut stepping = app.world_mut().resource_mut::<Stepping>();
    stepping.clear_node(Update, first).clear_node(Update, second);
    stepping.set_breakpoint_node(Update, third).continue_frame();
    assert_eq!(ran(&mut app), "c", "the cursor stood at `c`, and goes on from there");
    app.world_mut().resource_mut::<Stepping>().continue_frame();
    assert_eq!(ran(&mut app), "ab", "the breakpoint is before `c`");
    let mut stepping = app.world_mut().resource_mut::<Stepping>();
    stepping.clear_breakpoint_node(Update, third).continue_frame();
    assert_eq!(ran(&mut app), "c");
    app.world_mut().resource_mut::<Stepping>().continue_frame();
    assert_eq!(ran(&mut app), "abc");
}

#[test]
fn stepping_begin_frame() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut first = Schedule::new(First);
    first.add_systems(Stepping::begin_frame);
    let mut turn = Schedule::new(Turn);
    turn.add_systems((a, b).chain());
    let mut stepping = Stepping::new();
    stepping.add_schedule(Turn).enable();
    world.insert_resource(stepping);
    let mut frame = |world: &mut World| {
        first.run(world);
        turn.run(world);
        logged(world)
    };
    assert_eq!(frame(&mut world), "");
    world.resource_mut::<Stepping>().step_frame();
    assert_eq!(frame(&mut world), "a");
    assert_eq!(frame(&mut world), "");
    world.resource_mut::<Stepping>().step_frame();
    assert_eq!(frame(&mut world), "b");
}
