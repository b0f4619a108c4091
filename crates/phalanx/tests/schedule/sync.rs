//! Order is visibility: where commands are applied between systems, how often, and how that is shown.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;
use phalanx::schedule::Schedule;

#[derive(Component)]
struct Unit;
#[derive(Resource, Default)]
struct Log(Vec<usize>);
#[derive(SystemSet, Debug, Clone, Copy)]
enum Sets {
    First,
    Second,
    Empty,
}

fn spawn(mut commands: Commands) {
    commands.spawn(Unit);
}
fn spawn_more(mut commands: Commands) {
    commands.spawn(Unit);
}
fn count(units: Query<&Unit>, mut log: ResMut<Log>) {
    log.0.push(units.count());
}
fn count_alone(world: &mut World) {
    let units = world.view::<&Unit>().count();
    world.resource_mut::<Log>().0.push(units);
}
fn idle() {}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}
fn counted(app: &mut App) -> Vec<usize> {
    app.step(0.1);
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}
fn order(app: &App) -> Vec<String> {
    app.schedule(Update).order().expect("no cycle")
}
fn syncs(app: &App) -> usize {
    app.schedule(Update).sync_points().expect("no cycle")
}

#[test]
fn a_system_sees_the_commands_of_those_it_is_ordered_after() {
    let cases: [fn(&mut App); 6] = [
        |app| {
            app.add_systems(Update, (spawn, count).chain());
        },
        |app| {
            app.add_systems(Update, (count.after(spawn), spawn));
        },
        |app| {
            app.add_systems(Update, (count, spawn.before(count)));
        },
        |app| {
            app.add_systems(Update, (count.after(Sets::First), spawn.in_set(Sets::First)));
        },
        |app| {
            app.configure_sets(Update, (Sets::First, Sets::Second).chain());
            app.add_systems(Update, (count.in_set(Sets::Second), spawn.in_set(Sets::First)));
        },
        |app| {
            // Through a set without systems.
            app.add_systems(Update, (count.after(Sets::Empty), spawn.before(Sets::Empty)));
        },
    ];
    for (case, add) in cases.into_iter().enumerate() {
        let mut app = app();
        add(&mut app);
        assert_eq!(order(&app), ["spawn", "ApplyDeferred", "count"], "case {case}");
        assert_eq!((counted(&mut app), counted(&mut app)), (vec![1], vec![2]), "case {case}");
    }
}

#[test]
fn systems_without_order_see_commands_at_the_end_of_the_phase() {
    let mut app = app();
    app.add_systems(Update, (spawn, count));
    app.add_systems(PostUpdate, count);
    assert_eq!(syncs(&app), 0);
    assert_eq!(counted(&mut app), [0, 1]);
}

#[test]
fn an_order_from_a_system_without_commands_is_no_sync_point() {
    let mut app = app();
    app.add_systems(Update, (spawn, (idle, count).chain()));
    assert_eq!(order(&app), ["spawn", "idle", "count"]);
    assert_eq!(counted(&mut app), [0]);
}

#[test]
fn commands_reach_a_system_at_the_end_of_a_line() {
    let mut app = app();
    app.add_systems(Update, (spawn, idle, count).chain());
    assert_eq!(order(&app), ["spawn", "ApplyDeferred", "idle", "count"]);
    assert_eq!(counted(&mut app), [1]);
}

// One for all that need one: two lines of three need two, not four.
#[test]
fn sync_points_are_as_few_as_the_longest_line_of_systems_with_commands_demands() {
    let mut app = app();
    app.add_systems(Update, (spawn, spawn_more, count).chain());
    app.add_systems(Update, ((|_: Commands| {}).named("x"), count).chain());
    app.add_systems(Update, ((|_: Commands| {}).named("y"), (|_: Commands| {}).named("z"), idle).chain());
    assert_eq!(syncs(&app), 2);
    let sync = "ApplyDeferred";
    let expected = ["spawn", "x", "y", sync, "spawn_more", "count", "z", sync, "count", "idle"];
    assert_eq!(order(&app), expected);
    assert_eq!(counted(&mut app), [1, 2]);
}

#[test]
fn an_exclusive_system_sees_the_commands_of_those_it_is_ordered_after() {
    let mut app = app();
    app.add_systems(Update, (spawn, count_alone).chain());
    assert_eq!(counted(&mut app), [1]);
    // It cannot be set to ignore them.
    let mut app = self::app();
    app.add_systems(Update, (spawn, count_alone).chain_ignore_deferred());
    assert_eq!(counted(&mut app), [1]);
    // Without an order it need not see them.
    let mut app = self::app();
    app.add_systems(Update, (spawn, count_alone));
    assert_eq!(counted(&mut app), [0]);
}

#[test]
fn commands_that_wait_in_the_world_are_applied_before_the_next_system() {
    fn record(world: &mut World) {
        world.commands().spawn(Unit);
    }
    let mut app = app();
    app.add_systems(Update, (count, record, count));
    app.world_mut().commands().spawn(Unit);
    assert_eq!(counted(&mut app), [1, 2]);
}

#[test]
fn orders_that_ignore_deferred_leave_commands_for_later() {
    let cases: [fn(&mut App); 4] = [
        |app| {
            app.add_systems(Update, (spawn, count).chain_ignore_deferred());
        },
        |app| {
            app.add_systems(Update, (count.after_ignore_deferred(spawn), spawn));
        },
        |app| {
            app.add_systems(Update, (count, spawn.before_ignore_deferred(count)));
        },
        |app| {
            app.configure_sets(Update, (Sets::First, Sets::Second).chain_ignore_deferred());
            app.add_systems(Update, (count.in_set(Sets::Second), spawn.in_set(Sets::First)));
        },
    ];
    for (case, add) in cases.into_iter().enumerate() {
        let mut app = app();
        add(&mut app);
        assert_eq!(order(&app), ["spawn", "count"], "case {case}");
        assert_eq!(counted(&mut app), [0], "case {case}");
    }
}

// What an order ignored is applied before the next one that does not.
#[test]
fn ignored_commands_are_applied_before_the_next_order_that_demands_it() {
    let mut app = app();
    app.add_systems(Update, (idle.after_ignore_deferred(spawn), spawn, count.after(idle)));
    assert_eq!(order(&app), ["spawn", "idle", "ApplyDeferred", "count"]);
    assert_eq!(counted(&mut app), [1]);
    // Two orders that both ignore: none demands it. Through an empty set one is enough.
    let mut app = self::app();
    app.add_systems(Update, (spawn, idle, count).chain_ignore_deferred());
    assert_eq!(counted(&mut app), [0]);
    let mut app = self::app();
    app.add_systems(Update, (spawn.before_ignore_deferred(Sets::Empty), count.after(Sets::Empty)));
    assert_eq!(counted(&mut app), [1]);
    let mut app = self::app();
    app.add_systems(Update, spawn.before_ignore_deferred(Sets::Empty));
    app.add_systems(Update, count.after_ignore_deferred(Sets::Empty));
    assert_eq!(counted(&mut app), [0]);
}

#[test]
fn apply_deferred_is_a_sync_point_of_the_users_own() {
    let mut app = app();
    app.add_systems(Update, (spawn, ApplyDeferred, count).chain());
    assert_eq!(order(&app), ["spawn", "ApplyDeferred", "count"]);
    assert_eq!(counted(&mut app), [1]);
    let mut app = self::app();
    app.add_systems(Update, (spawn.before(ApplyDeferred), ApplyDeferred, count.after(ApplyDeferred)));
    assert_eq!(counted(&mut app), [1]);
}

#[test]
fn apply_deferred_may_have_a_condition() {
    for (open, expected) in [(true, 1), (false, 0)] {
        let mut app = app();
        app.add_systems(Update, (spawn, ApplyDeferred.run_if(move || open), count).chain_ignore_deferred());
        assert_eq!(counted(&mut app), [expected], "{open}");
    }
}

#[test]
fn at_the_end_of_the_phase_is_a_choice() {
    let mut app = app();
    app.configure(AppConfig { sync: SyncPoints::PhaseEnd, ..Default::default() });
    app.add_systems(Update, (spawn, count).chain());
    app.add_systems(PostUpdate, (spawn, ApplyDeferred, count).chain());
    assert_eq!(syncs(&app), 0);
    assert_eq!(counted(&mut app), [0, 2]);
    let mut schedule = Schedule::default();
    schedule.set_sync_points(SyncPoints::PhaseEnd);
    schedule.add_systems((spawn, count).chain());
    schedule.run(app.world_mut());
    assert_eq!(app.world().resource::<Log>().0, [2]);
}

// A condition of several systems is asked behind the sync point that the first of them needs.
#[test]
fn conditions_of_several_systems_see_what_the_first_of_them_would() {
    let mut app = app();
    let any = |units: Query<&Unit>| !units.is_empty();
    app.add_systems(Update, ((count, count).run_if(any).after(spawn), spawn));
    assert_eq!(counted(&mut app), [1, 1]);
}

#[test]
fn each_entity_moves_once_per_flush() {
    #[derive(Component)]
    struct A;
    #[derive(Component)]
    struct B;
    #[derive(Component)]
    struct C;
    fn grow(mut commands: Commands, units: Query<Entity, With<Unit>>) {
        for unit in &units {
            commands.entity(unit).insert(A).insert(B);
        }
    }
    fn grow_more(mut commands: Commands, units: Query<Entity, (With<A>, With<B>)>) {
        for unit in &units {
            commands.entity(unit).insert(C).remove::<A>();
        }
    }
    let mut app = app();
    app.world_mut().spawn(Unit);
    app.add_systems(Update, (grow, grow_more).chain());
    app.step(0.1);
    // Unit; Unit A B; Unit B C: no archetype in between was made.
    let archetypes = app.world().archetypes();
    let made = archetypes.iter().filter(|id| !archetypes.signature(*id).is_empty()).count();
    assert_eq!(made, 3);
    assert_eq!(app.world().view_filtered::<Entity, (With<B>, With<C>, Without<A>)>().count(), 1);
}

#[test]
fn changes_by_commands_are_seen_once_on_both_sides_of_a_sync_point() {
    #[derive(Component)]
    #[component(track = "row")]
    struct Tracked;
    fn add(mut commands: Commands) {
        commands.spawn(Tracked);
    }
    fn seen(added: Query<(), Added<Tracked>>, mut log: ResMut<Log>) {
        log.0.push(added.count());
    }
    let mut app = app();
    app.add_systems(Update, (seen, add, seen).chain());
    assert_eq!(counted(&mut app), [0, 1]);
    assert_eq!(counted(&mut app), [1, 1]);
}

#[test]
fn a_command_that_panics_at_a_sync_point_ends_the_phase_and_loses_nothing_else() {
    fn bad(mut commands: Commands, mut done: Local<bool>) {
        if !std::mem::replace(&mut *done, true) {
            commands.queue(|_: &mut World| panic!("told to panic"));
        }
        commands.spawn(Unit);
    }
    for threads in [Threads::Serial, Threads::N(2)] {
        let mut app = app();
        app.configure(AppConfig { threads, small_phase: Default::default(), ..Default::default() });
        app.add_systems(Update, (bad, count).chain());
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| app.step(0.1)));
        assert!(panic.is_err() && app.world().resource::<Log>().0.is_empty());
        // The rest of the commands was kept.
        assert_eq!(counted(&mut app), [2]);
        app.world().check().expect("the world is sound");
    }
}

#[test]
fn pictures_show_sync_points() {
    let mut app = app();
    app.add_systems(Update, (spawn, (count, idle)).chain());
    let dot = app.schedule(Update).to_dot().expect("no cycle");
    assert!(dot.contains("sync1 [label=\"ApplyDeferred\"") && dot.contains("n0 -> sync1"), "{dot}");
    assert!(dot.contains("sync1 -> n1") && dot.contains("sync1 -> n2") && !dot.contains("sync2"), "{dot}");
    let svg = app.schedule(Update).to_svg().expect("no cycle");
    assert_eq!(svg.matches(">ApplyDeferred<").count(), 1, "{svg}");
}

// Hazard 88: a sync point inside a set, behind a condition that is false, and around an exclusive system.
#[test]
fn sync_points_inside_sets_hold_whatever_their_conditions_say() {
    let mut app = app();
    app.configure_sets(Update, (Sets::First, Sets::Second).chain());
    app.add_systems(Update, (spawn, count).chain().in_set(Sets::First));
    app.add_systems(Update, (spawn_more.run_if(|| false), count).chain().in_set(Sets::Second));
    assert_eq!(counted(&mut app), [1, 1], "a system that does not run has no commands");

    // The set between is shut: what comes before it is still seen by what comes after it.
    let mut app = self::app();
    app.configure_sets(Update, (Sets::First, Sets::Second.run_if(|| false), Sets::Empty).chain());
    app.add_systems(Update, (count.in_set(Sets::Empty), count_alone.in_set(Sets::Second)));
    app.add_systems(Update, spawn.in_set(Sets::First));
    assert_eq!(counted(&mut app), [1]);

    // An exclusive system between two others sees the first, and the second sees both.
    fn spawn_alone(world: &mut World) {
        count_alone(world);
        world.spawn(Unit);
        world.commands().spawn(Unit);
    }
    let mut app = self::app();
    app.add_systems(Update, (spawn, spawn_alone, count).chain().in_set(Sets::First));
    assert_eq!(counted(&mut app), [1, 3]);
    // The same when its condition keeps it from running.
    let mut app = self::app();
    app.add_systems(Update, (spawn, spawn_alone.run_if(|| false), count).chain().in_set(Sets::First));
    assert_eq!(counted(&mut app), [1]);
}
