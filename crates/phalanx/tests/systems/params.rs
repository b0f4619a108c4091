//! What functions may ask for, and what they get: every parameter, alone and together.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;
use phalanx::system::{ParamConflict, RunSystemError};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(i32);

#[derive(Component)]
struct Frozen;

#[derive(Resource, Debug, Default, PartialEq)]
struct Score(u32);

#[derive(Resource, Default)]
struct Other;

#[derive(Message, Debug, PartialEq)]
struct Hit(u32);

fn conflict<M>(system: impl IntoSystem<(), (), M>) -> Option<ParamConflict> {
    match World::new().run_system_once(system) {
        Err(RunSystemError::Conflict(conflict)) => Some(conflict),
        _ => None,
    }
}

#[test]
fn a_system_reads_and_writes_what_it_asks_for() {
    let mut world = World::new();
    world.insert_resource(Score(2));
    let e = world.spawn((Position { x: 1.0, y: 2.0 }, Health(3))).id();
    world
        .run_system_once(|score: Res<Score>, mut query: Query<(&mut Position, &Health)>| {
            for (pos, health) in &mut query {
                *pos.x += health.0 as f32 * score.0 as f32;
            }
        })
        .unwrap();
    assert_eq!(world.get::<Position>(e).map(|p| p.get()), Some(Position { x: 7.0, y: 2.0 }));
}

#[test]
fn option_of_a_resource_is_none_where_the_plain_form_panics() {
    let mut world = World::new();
    assert!(world.run_system_once(|score: Option<Res<Score>>| score.is_none()).unwrap());
    assert!(world.run_system_once(|score: Option<ResMut<Score>>| score.is_none()).unwrap());
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.run_system_once(|score: Res<Score>| score.0).unwrap();
    }));
    let text = *panic.expect_err("there is no such resource").downcast::<String>().expect("a text");
    assert!(text.contains("`Score`") && text.contains("insert_resource"), "{text}");
    world.insert_resource(Score(1));
    assert_eq!(
        world.run_system_once(|score: Option<Res<Score>>| score.map(|score| score.0)).unwrap(),
        Some(1)
    );
}

#[test]
fn a_resource_counts_as_changed_only_when_it_is_written() {
    let mut app = App::new();
    app.insert_resource(Score(0));
    #[derive(Resource, Default)]
    struct Seen(Vec<bool>);
    app.init_resource::<Seen>();
    // Looks at it mutably in each frame, writes it in every second one.
    app.add_systems(Update, |time: Res<Time>, mut score: ResMut<Score>| {
        assert!(score.0 < 100);
        if time.frame().is_multiple_of(2) {
            score.0 += 1;
        }
    });
    app.add_systems(PostUpdate, |score: Res<Score>, mut seen: ResMut<Seen>| seen.0.push(score.is_changed()));
    for _ in 0..5 {
        app.step(0.1);
    }
    // The first look sees the insertion.
    assert_eq!(app.world().resource::<Seen>().0, [true, true, false, true, false]);
}

#[test]
fn a_write_by_a_later_system_is_seen_in_the_next_frame() {
    let mut app = App::new();
    #[derive(Resource, Default)]
    struct Seen(Vec<bool>);
    app.insert_resource(Score(0)).init_resource::<Seen>();
    app.add_systems(Update, |score: Res<Score>, mut seen: ResMut<Seen>| seen.0.push(score.is_changed()));
    app.add_systems(Update, |time: Res<Time>, mut score: ResMut<Score>| {
        if time.frame() == 2 {
            score.0 += 1;
        }
    });
    (0..4).for_each(|_| app.step(0.1));
    assert_eq!(app.world().resource::<Seen>().0, [true, false, true, false]);
}

#[test]
fn set_if_neq_and_bypass_leave_no_trace_without_need() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    world
        .run_system_once(|mut score: ResMut<Score>| {
            let before = score.last_changed();
            assert!(!score.set_if_neq(Score(1)));
            score.bypass_change_detection().0 = 2;
            assert_eq!(score.last_changed(), before);
            assert!(score.set_if_neq(Score(3)));
            assert!(score.last_changed() > before && score.is_changed());
        })
        .unwrap();
    assert_eq!(world.resource::<Score>(), &Score(3));
}

#[test]
fn local_values_stay_with_their_system() {
    let mut app = App::new();
    app.init_resource::<Score>();
    fn count(mut calls: Local<u32>, mut score: ResMut<Score>) {
        *calls += 1;
        score.0 = score.0.max(*calls);
    }
    // The same function twice: two systems, two counters.
    app.add_systems(Update, (count, count));
    (0..3).for_each(|_| app.step(0.1));
    assert_eq!(app.world().resource::<Score>().0, 3);
}

#[test]
fn param_set_lends_conflicting_parameters_one_at_a_time() {
    let mut world = World::new();
    world.insert_resource(Score(0));
    let e = world.spawn(Health(4)).id();
    fn juggle(
        mut set: ParamSet<(Query<&mut Health>, Query<&Health>, ResMut<Score>)>,
        other: Option<Res<Other>>,
    ) {
        assert!(other.is_none());
        for mut health in &mut set.p0() {
            health.0 *= 2;
        }
        let sum: i32 = set.p1().iter().map(|health| health.0).sum();
        set.p2().0 = u32::try_from(sum).expect("positive");
        // Back to the first: its flags are free again.
        for mut health in &mut set.p0() {
            health.0 += 1;
        }
    }
    world.run_system_once(juggle).unwrap();
    assert_eq!((world.get::<Health>(e), world.resource::<Score>()), (Some(&Health(9)), &Score(8)));
}

#[test]
fn a_whole_world_can_be_read_beside_commands_and_queries() {
    let mut world = World::new();
    world.spawn(Health(1));
    world
        .run_system_once(|world: &World, query: Query<&Health>, mut commands: Commands| {
            assert_eq!(world.entities().len(), query.count());
            commands.spawn(Health(2));
        })
        .unwrap();
    assert_eq!(world.view::<&Health>().count(), 2);
}

#[test]
fn tuples_of_parameters_nest() {
    let mut world = World::new();
    world.insert_resource(Score(5));
    world.spawn(Health(2));
    let sum = world
        .run_system_once(|(score, (query, mut local)): (Res<Score>, (Query<&Health>, Local<i32>))| {
            *local += 1;
            i32::try_from(score.0).expect("small") + query.iter().map(|h| h.0).sum::<i32>() + *local
        })
        .unwrap();
    assert_eq!(sum, 8);
}

#[test]
#[expect(clippy::many_single_char_names, clippy::too_many_arguments, reason = "that is what is tested")]
fn a_system_may_have_sixteen_parameters_and_tuples_hold_more() {
    type R<'w> = Res<'w, Score>;
    fn sixteen(
        a: R,
        b: R,
        c: R,
        d: R,
        e: R,
        f: R,
        g: R,
        h: R,
        i: R,
        j: R,
        k: R,
        l: R,
        m: R,
        n: R,
        o: R,
        (mut seen, (p, q)): (ResMut<Seen>, (Res<Time>, Query<&Health>)),
    ) {
        let all = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o];
        seen.0 = all.iter().map(|r| r.0).sum::<u32>() + u32::from(p.delta().is_zero() && q.is_empty());
    }
    #[derive(Resource, Default)]
    struct Seen(u32);
    let mut app = App::new();
    app.insert_resource(Score(1)).init_resource::<Seen>().add_systems(Update, sixteen);
    app.step(0.0);
    assert_eq!(app.world().resource::<Seen>().0, 16);
}

#[test]
fn functions_may_take_systems_of_any_kind() {
    fn add<M>(app: &mut App, systems: impl IntoSystemConfigs<M>) {
        app.add_systems(Update, systems.run_if(run_once));
    }
    let mut app = App::new();
    app.insert_resource(Score(0));
    add(&mut app, |mut score: ResMut<Score>| score.0 += 1);
    add(&mut app, (|world: &mut World| world.resource_mut::<Score>().0 += 1, ApplyDeferred).chain());
    app.step(0.0);
    app.step(0.0);
    assert_eq!(app.world().resource::<Score>().0, 2);
}

#[test]
fn derived_parameters_bundle_others() {
    #[derive(SystemParam)]
    struct Ledger<'w, 's, T: Component> {
        score: ResMut<'w, Score>,
        query: Query<'w, 's, (Entity, &'static T)>,
        calls: Local<'s, u32>,
    }
    fn enter(mut ledger: Ledger<Health>, mut commands: Commands) {
        *ledger.calls += 1;
        ledger.score.0 += u32::try_from(ledger.query.count()).expect("few") + *ledger.calls;
        commands.spawn(Health(0));
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, enter);
    (0..3).for_each(|_| app.step(0.1));
    assert_eq!(app.world().resource::<Score>().0, (1) + (1 + 2) + (2 + 3));
}

// The lifetimes are bevy's, so that its structs compile.
#[test]
fn derived_parameters_take_a_lifetime_for_the_world_and_one_for_the_state() {
    #[derive(SystemParam)]
    struct Everything<'w, 's> {
        query: Query<'w, 's, (Entity, &'static mut Health), With<Frozen>>,
        commands: Commands<'w, 's>,
        score: Res<'w, Score>,
        calls: Local<'s, u32>,
        hits: MessageReader<'w, 's, Hit>,
        set: ParamSet<'w, 's, (Query<'w, 's, &'static Position>, Query<'w, 's, &'static mut Position>)>,
        nested: Inner<'w, 's>,
    }
    #[derive(SystemParam)]
    struct Inner<'w, 's> {
        positions: Query<'w, 's, Entity, (With<Position>, Without<Frozen>)>,
        out: MessageWriter<'w, Heard>,
    }
    #[derive(Message)]
    struct Heard(u32);
    impl<'w, 's> Everything<'w, 's> {
        fn first(&mut self) -> Option<(Entity, Mut<'_, Health>)> {
            self.query.iter_mut().next()
        }
        fn recorder(&mut self) -> &mut Commands<'w, 's> {
            &mut self.commands
        }
    }
    fn pass_on<'w, 's>(query: Query<'w, 's, Entity, (With<Position>, Without<Frozen>)>) -> usize {
        query.count()
    }
    fn system(mut all: Everything) {
        *all.calls += 1;
        let heard = all.hits.read().map(|hit| hit.0).sum::<u32>() + all.score.0;
        all.nested.out.write(Heard(heard));
        assert_eq!(all.set.p0().count(), 1);
        for position in &mut all.set.p1() {
            *position.x += 1.0;
        }
        let (entity, mut health) = all.first().expect("one is frozen");
        health.0 += 1;
        all.recorder().entity(entity).remove::<Frozen>();
        assert_eq!(pass_on(all.nested.positions), 1);
    }
    let mut world = World::new();
    world.insert_resource(Score(5));
    let e = world.spawn((Health(1), Frozen)).id();
    let moved = world.spawn(Position { x: 0.0, y: 0.0 }).id();
    world.write_message(Hit(2));
    world.run_system_once(system).unwrap();
    assert_eq!(world.get::<Health>(e), Some(&Health(2)));
    assert!(!world.entity(e).contains::<Frozen>());
    assert_eq!(world.get::<Position>(moved).map(|position| *position.x), Some(1.0));
    assert_eq!(
        world.messages::<Heard>().expect("registered").iter().map(|heard| heard.0).collect::<Vec<_>>(),
        [7]
    );
}

// O-194: the query is a parameter; the function form is the only form.
#[test]
fn pipes_pass_results_on_and_inputs_in() {
    let mut world = World::new();
    world.insert_resource(Score(20));
    fn half(score: Res<Score>) -> u32 {
        score.0 / 2
    }
    fn store(In(value): In<u32>, mut score: ResMut<Score>) {
        score.0 = value;
    }
    world.run_system_once(half.pipe(store)).unwrap();
    assert_eq!(world.resource::<Score>().0, 10);
    let text = world.run_system_once(half.map(|value| format!("<{value}>"))).unwrap();
    assert_eq!(text, "<5>");
    world.run_system_once_with(store, 3).unwrap();
    assert_eq!(world.resource::<Score>().0, 3);
    // An exclusive system at the end of a pipe.
    fn spawn_some(In(count): In<u32>, mut commands: Commands) {
        commands.spawn_batch((0..count).map(|_| Health(1)));
    }
    world.run_system_once(half.pipe(spawn_some)).unwrap();
    assert_eq!(world.view::<&Health>().count(), 1);
}

#[test]
fn exclusive_systems_have_the_world_and_things_of_their_own() {
    fn exclusive(
        world: &mut World,
        mut calls: Local<u32>,
        healths: &mut QueryState<&Health>,
    ) -> (u32, usize) {
        *calls += 1;
        world.spawn(Health(0));
        (*calls, healths.iter(world).count())
    }
    let mut world = World::new();
    assert_eq!(world.run_system_once(exclusive).unwrap(), (1, 1));
    assert_eq!(world.run_system_once(exclusive).unwrap(), (1, 2));
}

#[test]
fn conflicting_parameters_are_refused_and_both_named() {
    let found = conflict(|_: Query<&Health>, _: Query<&mut Health>| {}).expect("they conflict");
    assert_eq!((found.first.as_str(), found.second.as_str()), ("Query<&Health>", "Query<&mut Health>"));
    assert!(found.to_string().contains("ParamSet") && found.to_string().contains("closure"), "{found}");
    let found = conflict(|_: Res<Score>, _: ResMut<Score>| {}).expect("they conflict");
    assert_eq!((found.part.as_str(), found.second.as_str()), ("Score", "ResMut<Score>"));
    assert!(conflict(|_: MessageReader<Hit>, _: MessageWriter<Hit>| {}).is_some());
    assert!(conflict(|_: &World, _: Query<&mut Health>| {}).is_some());
    assert!(conflict(|_: &World, _: ResMut<Score>| {}).is_some());
    assert!(conflict(|_: Commands, _: Commands| {}).is_some());
    assert!(conflict(|_: Query<(&mut Health, &Health)>| {}).is_some());
    // Filters that do not exclude each other; those that do are in `disjoint.rs`.
    assert!(conflict(|_: Query<&mut Health, With<Frozen>>, _: Query<&mut Health>| {}).is_some());
    #[derive(Component)]
    #[component(track = "row")]
    struct Tracked(#[allow(dead_code, reason = "only the access counts")] u8);
    assert!(conflict(|_: Query<&mut Tracked>, _: Query<(), Changed<Tracked>>| {}).is_some());
    // Whole against field, and inside a set against outside.
    assert!(conflict(|_: Query<&Position>, _: Query<&mut position::x>| {}).is_some());
    fn across(_: ParamSet<(Query<&mut Health>,)>, _: Query<&Health>) {}
    assert!(conflict(across).is_some());
}

#[test]
fn parameters_that_go_together_are_accepted() {
    assert!(conflict(|_: Query<&Health>, _: Query<&Health>| {}).is_none());
    assert!(conflict(|_: Query<&mut position::x>, _: Query<&mut position::y>| {}).is_none());
    assert!(
        conflict(|_: Query<&mut Health>, _: Query<Has<Health>>, _: Query<(), With<Health>>| {}).is_none()
    );
    assert!(conflict(|_: &World, _: Commands, _: Query<&Health>, _: MessageReader<Hit>| {}).is_none());
    fn inside(_: ParamSet<(Query<&mut Health>, Query<&Health>)>) {}
    assert!(conflict(inside).is_none());
}

#[test]
fn an_app_refuses_a_conflicting_system_when_it_is_added() {
    let mut app = App::new();
    let refused = app.try_add_systems(Update, |_: ResMut<Score>, _: ResMut<Score>| {});
    assert!(refused.is_err());
    assert!(app.schedule(Update).is_empty());
}

// Hazard 49.
#[test]
fn a_resource_that_is_not_send_stays_on_its_thread() {
    use std::rc::Rc;
    let mut world = World::new();
    let shared = Rc::new(5);
    assert_eq!(world.insert_non_send(Rc::clone(&shared)), None);
    world
        .run_system_once(|world: &mut World| {
            world.non_send_scope(|world, value: &mut Rc<i32>| {
                world.spawn(Health(**value));
            });
        })
        .unwrap();
    assert_eq!(world.view::<&Health>().single(), Ok(&Health(5)));
    // Elsewhere it is not there, and a world dropped there leaves the value to this thread.
    std::thread::spawn(move || assert!(!world.contains_non_send::<Rc<i32>>())).join().expect("no panic");
    assert_eq!(Rc::strong_count(&shared), 2);
    assert!(!World::new().contains_non_send::<Rc<i32>>());
    assert_eq!(Rc::strong_count(&shared), 1);
}

#[test]
fn a_non_send_resource_comes_back_and_is_replaced() {
    let mut world = World::new();
    assert_eq!(world.insert_non_send(1u8), None);
    assert_eq!(world.insert_non_send(2u8), Some(1));
    assert_eq!(world.remove_non_send::<u8>(), Some(2));
    assert_eq!(world.remove_non_send::<u8>(), None);
}
