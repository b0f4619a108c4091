//! Weak orders are kept where they can be noticed, and nowhere else.

use super::*;

fn a(mut score: ResMut<Score>) {
    score.0 = 1;
}
fn b(mut score: ResMut<Score>) {
    score.0 = 2;
}
fn c(mut other: ResMut<Other>) {
    *other = Other;
}
fn spawn(mut commands: Commands) {
    commands.spawn_empty();
}

fn order(schedule: &mut Schedule, world: &mut World) -> Vec<String> {
    world.init_resource::<Score>();
    world.init_resource::<Other>();
    schedule.initialize(world).expect("there is an order");
    schedule.view(world).order().expect("there is an order")
}

#[test]
fn systems_that_conflict_are_ordered_and_others_are_not() {
    let mut schedule = Schedule::default();
    schedule.add_systems((c, b.after_weak(a), a.before_weak(c)));
    // `c` conflicts with no other, and keeps its place.
    assert_eq!(order(&mut schedule, &mut World::new()), ["c", "a", "b"]);
}

#[test]
fn a_weak_chain_orders_conflicts_by_way_of_others() {
    let mut schedule = Schedule::default();
    schedule.add_systems((b, c, a).chain_weak()).add_systems(a.in_set(Sets::A));
    let mut world = World::new();
    assert_eq!(order(&mut schedule, &mut world), ["b", "c", "a", "a"]);
    let waits = schedule.view(&world).why_waited(c).expect("there is an order");
    assert_eq!(waits, [], "it does not wait for `b`");
    let waits = schedule.view(&world).why_waited(a).expect("there is an order");
    assert_eq!(waits[0].to_string(), "`a` waits for `b`: it was ordered after it, and both use `Score`");
}

#[test]
fn commands_always_count() {
    let mut schedule = Schedule::default();
    schedule.add_systems((c, spawn.before_weak(c)));
    assert_eq!(order(&mut schedule, &mut World::new()), ["spawn", "ApplyDeferred", "c"]);
}

#[test]
fn sets_are_ordered_weakly() {
    let mut schedule = Schedule::default();
    schedule.add_systems((b.in_set(Sets::B), c.in_set(Sets::B), a.in_set(Sets::A)));
    schedule.configure_sets((Sets::A, Sets::B).chain_weak());
    assert_eq!(order(&mut schedule, &mut World::new()), ["c", "a", "b"]);
    let mut schedule = Schedule::default();
    schedule.add_systems((b.in_set(Sets::B), c.in_set(Sets::B), a.in_set(Sets::A)));
    schedule.configure_sets((Sets::A.before_weak(Sets::B), Sets::B.after_weak(Sets::A)));
    assert_eq!(order(&mut schedule, &mut World::new()), ["c", "a", "b"]);
}

#[test]
fn a_strict_order_beside_a_weak_one_stays() {
    let mut schedule = Schedule::default();
    schedule.add_systems((c.after_weak(a).after(a), a));
    assert_eq!(order(&mut schedule, &mut World::new()), ["a", "c"]);
}

#[test]
fn weak_orders_in_a_circle_are_an_error_only_where_systems_conflict() {
    let mut schedule = Schedule::default();
    schedule.add_systems((a.before_weak(c), c.before_weak(a)));
    assert_eq!(order(&mut schedule, &mut World::new()), ["a", "c"]);
    let mut schedule = Schedule::default();
    schedule.add_systems((a.before_weak(b), b.before_weak(a)));
    assert!(schedule.initialize(&mut World::new()).is_err());
}
