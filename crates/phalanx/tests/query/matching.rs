//! Proves which archetypes a query visits, that it never goes stale, and that equal questions share one answer.
//!
//! A query asked of the world, one kept by the user and one built afresh must visit the same archetypes in
//! the same order after any change, also when archetypes are dropped and their ids given again (hazard 26).
//! Nothing public lets two worlds exchange their insides (hazard 33). What terms mean is in `terms.rs`.

use crate::common::cast::{
    Armour, Boss, Burning, Frozen, Health, Name, Position, Quiet, Slot, Velocity, label, name, position,
    visited,
};
use phalanx::ComponentId;
use phalanx::prelude::{
    App, Changed, Component, Entity, Has, Or, QueryState, ResMut, Resource, Schema, Update, With, Without,
    World,
};
use phalanx::query::{Query, QueryData, QueryFilter};

/// How many queries the world keeps prepared, and how many different filters they have.
fn prepared(world: &World) -> (usize, usize) {
    let stats = world.stats();
    (stats.prepared_queries, stats.prepared_filters)
}

/// Fails unless the cached query, the kept one and a fresh one visit the same, and returns it.
#[track_caller]
fn agree<F: QueryFilter + 'static>(world: &World, kept: &mut QueryState<Entity, F>) -> Vec<Entity> {
    let mut fresh = world.query_filtered::<Entity, F>();
    let by_fresh: Vec<Entity> = fresh.iter(world).collect();
    assert_eq!(kept.iter(world).collect::<Vec<_>>(), by_fresh, "kept");
    assert_eq!(visited::<F>(world), by_fresh, "cached");
    assert!(kept.matched_archetypes().eq(fresh.matched_archetypes()) && kept.filter() == fresh.filter());
    by_fresh
}

// O-157, O-158, O-159, O-160, Z-044, Z-046.
#[test]
fn archetypes_that_appear_later_are_visited() {
    let mut world = World::new();
    let mut kept = world.query_filtered::<Entity, (With<Health>, Without<Frozen>)>();
    assert_eq!(agree(&world, &mut kept), []);
    let a = world.spawn(Health(1)).id();
    assert_eq!(agree(&world, &mut kept), [a]);
    let b = world.spawn((Health(2), Burning)).id();
    world.spawn((Health(3), Frozen));
    assert_eq!(agree(&world, &mut kept), [a, b]);
    // Every operation that can make an archetype is noticed.
    world.entity_mut(a).insert(Boss);
    assert_eq!(agree(&world, &mut kept), [b, a]);
    let c = world.spawn_batch([(Health(4), name("n"))]).next().expect("one");
    assert_eq!(agree(&world, &mut kept), [b, a, c]);
    let archetype = world.archetype_of(c).expect("alive");
    world.insert_into_archetype(archetype, &Quiet(1));
    assert_eq!(agree(&world, &mut kept), [b, a, c]);
    let schema = world.register_dynamic(Schema::new("dynamic")).expect("a new name");
    world.insert_dynamic(b, schema, &[]).expect("alive");
    assert_eq!(agree(&world, &mut kept), [a, c, b]);
    world.entity_mut(c).take::<Name>().expect("it has one");
    assert_eq!(agree(&world, &mut kept), [a, b, c]);
    world.remove_by_id(b, schema).expect("alive");
    assert_eq!(agree(&world, &mut kept), [b, a, c], "back in an older archetype");
    world.entity_mut(a).retain::<Health>();
    let archetype = world.archetype_of(c).expect("alive");
    world.remove_from_archetype::<Quiet>(archetype);
    assert_eq!(agree(&world, &mut kept), [a, c, b]);
    world.commands().entity(a).insert(Slot([1_u8]));
    world.flush();
    assert_eq!(agree(&world, &mut kept), [c, b, a]);
    world.reserve_rows::<(Health, Velocity)>(3);
    assert_eq!(agree(&world, &mut kept), [c, b, a]);
}

// Hazard 26, Z-050, Z-051, Z-052.
#[test]
fn archetypes_that_are_dropped_leave_and_their_ids_come_again() {
    let mut world = World::new();
    let mut with = world.query_filtered::<Entity, With<Health>>();
    let mut without = world.query_filtered::<Entity, Without<Health>>();
    let mut either = world.query_filtered::<Entity, Or<(With<Health>, With<Frozen>)>>();
    let first = world.spawn((Health(1), Frozen)).id();
    let second = world.spawn(Frozen).id();
    let id = world.archetype_of(first).expect("alive");
    assert_eq!(agree(&world, &mut with), [first]);
    assert_eq!(agree(&world, &mut without), [second]);
    assert_eq!(agree(&world, &mut either), [first, second]);
    world.despawn(first);
    assert_eq!(agree(&world, &mut with), [], "empty, and still there");
    assert!(with.matched_archetypes().eq([id]));
    assert_eq!(world.drop_empty_archetypes(), 1);
    assert_eq!(agree(&world, &mut with), []);
    assert_eq!(with.matched_archetypes().count(), 0);
    // The id comes again for a set of components that the queries see with other eyes.
    let third = world.spawn((Burning, position(1.0))).id();
    assert_eq!(world.archetype_of(third), Some(id));
    assert_eq!(agree(&world, &mut with), []);
    assert_eq!(agree(&world, &mut without), [second, third], "in order of creation, not of ids");
    assert_eq!(agree(&world, &mut either), [second]);
    world.entity_mut(third).insert(Health(3));
    assert_eq!(agree(&world, &mut with), [third]);
    assert_eq!(agree(&world, &mut either), [second, third]);
    world.check().expect("the world is consistent");
}

// Hazard 26: a query that sleeps while archetypes come and go, for a short time and for a long one.
#[test]
fn a_query_that_slept_catches_up() {
    for naps in [1, 3, 70, 500] {
        let mut world = World::new();
        let mut kept = world.query_filtered::<Entity, (With<Health>, Without<Boss>)>();
        let stays = world.spawn((Health(1), Frozen)).id();
        assert_eq!(agree(&world, &mut kept), [stays]);
        let mut comes = None;
        for nap in 0..naps {
            if let Some(old) = comes.take() {
                world.despawn(old);
                assert_eq!(world.drop_empty_archetypes(), 1);
            }
            comes = Some(match nap % 3 {
                0 => world.spawn((Health(2), Burning)).id(),
                1 => world.spawn((Health(2), Boss)).id(),
                _ => world.spawn(Burning).id(),
            });
        }
        let expected = if naps % 3 == 1 { vec![stays, comes.expect("one is left")] } else { vec![stays] };
        assert_eq!(agree(&world, &mut kept), expected, "after {naps}");
        assert_eq!(agree(&world, &mut kept), expected, "and again");
    }
}

// Z-055: tables grow and move in memory under a kept query.
#[test]
fn growth_does_not_disturb_kept_queries() {
    let mut world = World::new();
    let mut kept = world.query::<(&Health, &Position)>();
    let mut count = 0;
    for round in 0..200_u8 {
        for _ in 0..round {
            world.spawn((Health(round.into()), position(round.into())));
            count += 1;
        }
        if round % 50 == 49 {
            world.shrink_to_fit();
        }
        assert!(kept.iter(&world).all(|(health, pos)| f64::from(health.0) == f64::from(*pos.x)));
        assert_eq!(kept.query(&world).count(), count);
    }
}

#[test]
fn kept_states_read_and_write() {
    let mut world = World::new();
    world.spawn_batch((0..3).map(Health));
    let mut reads = world.query::<&Health>();
    let mut writes = world.query_filtered::<&mut Health, Without<Frozen>>();
    for mut health in writes.iter_mut(&mut world) {
        health.0 += 10;
    }
    world.spawn((Health(3), Frozen));
    assert_eq!(reads.iter(&world).map(|health| health.0).collect::<Vec<_>>(), [10, 11, 12, 3]);
    let mut query = writes.query_mut(&mut world);
    query.iter_mut().for_each(|mut health| health.0 += 10);
    assert_eq!(query.count(), 3);
    for healths in reads.query(&world).into_chunks() {
        assert!(healths.len() == 3 || healths == [Health(3)]);
    }
    let last = world.view::<Entity>().into_iter().last().expect("four");
    assert_eq!(reads.query(&world).get_inner(last).map(|health| health.0), Ok(3));
}

#[test]
fn kept_states_find_components_that_are_met_later() {
    #[derive(Component, Debug, PartialEq)]
    struct Late(u8);

    let mut world = World::new();
    let mut with = world.query::<&Late>();
    let mut without = world.query_filtered::<Entity, Without<Late>>();
    let mut optional = world.query::<(Entity, Option<&Late>)>();
    let mut either = world.query_filtered::<Entity, Or<(With<Late>, With<Boss>)>>();
    let a = world.spawn(Frozen).id();
    assert_eq!((with.iter(&world).count(), either.iter(&world).count()), (0, 0));
    assert_eq!(without.iter(&world).collect::<Vec<_>>(), [a]);
    // The component is met while it has no archetype, then gets one.
    world.register_component::<Late>();
    assert_eq!(with.iter(&world).count(), 0);
    let b = world.spawn((Frozen, Late(1))).id();
    assert_eq!(with.iter(&world).collect::<Vec<_>>(), [&Late(1)]);
    assert_eq!(without.iter(&world).collect::<Vec<_>>(), [a]);
    assert_eq!(optional.iter(&world).collect::<Vec<_>>(), [(a, None), (b, Some(&Late(1)))]);
    assert_eq!(either.iter(&world).collect::<Vec<_>>(), [b], "though half of it is still unknown");
    let c = world.spawn(Boss).id();
    assert_eq!(either.iter(&world).collect::<Vec<_>>(), [b, c]);
}

// O-167, O-168, O-173: whatever the order in which they were written.
#[test]
fn equal_questions_share_one_prepared_answer() {
    let mut world = World::new();
    world.spawn((Health(1), position(1.0), Frozen));
    assert_eq!(prepared(&world), (0, 0));
    world.view::<(&Health, &Position)>();
    assert_eq!(prepared(&world), (1, 1));
    world.view::<(&Health, &Position)>();
    assert_eq!(prepared(&world), (1, 1), "asked again, prepared once");
    world.view::<(&Position, &Health)>();
    world.view_filtered::<&Position, With<Health>>();
    world.view_filtered::<Entity, (With<Position>, With<Health>)>();
    world.view_filtered::<Option<&Name>, (With<Health>, (With<Position>, With<Health>))>();
    assert_eq!(prepared(&world), (5, 1), "five kinds of data, one filter");
    world.view_filtered::<Entity, (Without<Boss>, Or<(With<Health>, With<Burning>)>)>();
    world.view_filtered::<Entity, (Or<(With<Burning>, With<Health>)>, Without<Boss>)>();
    assert_eq!(prepared(&world), (7, 2));
    let same = world.view_filtered::<&Health, Or<(With<Position>, (With<Position>, With<Burning>))>>();
    assert_eq!(
        same.filter(),
        world.view::<(&Position, &Health)>().filter(),
        "an alternative that adds nothing"
    );
    assert_eq!(prepared(&world), (8, 2));
    // Row filters are not a part of the filter on archetypes.
    world.view_filtered::<Entity, Changed<Armour>>();
    world.view::<&Armour>();
    assert_eq!(prepared(&world), (10, 3));
    // They stay shared when archetypes and components come.
    world.spawn((Health(1), position(1.0), Armour(1)));
    world.spawn((Burning, Boss));
    assert_eq!(prepared(&world), (10, 3));
    assert_eq!(world.view::<(&Position, &Health)>().count(), 2);
    assert_eq!(world.view_filtered::<&Position, With<Health>>().count(), 2);
}

// O-161, O-187.
#[test]
fn a_query_tells_its_archetypes_and_its_filter() {
    let mut world = World::new();
    let a = world.spawn((Health(1), Frozen)).id();
    let b = world.spawn(Health(1)).id();
    world.spawn((Health(1), Boss));
    let mut state = world.query_filtered::<&Health, Without<Boss>>();
    assert_eq!(state.iter(&world).count(), 2);
    let expected: Vec<_> = [a, b].iter().filter_map(|&id| world.archetype_of(id)).collect();
    assert!(state.matched_archetypes().eq(expected.iter().copied()));
    for id in world.archetypes().iter() {
        let signature = world.archetypes().signature(id);
        let pool = world.archetypes().pool_of(id);
        assert_eq!(state.filter().matches(pool, signature), expected.contains(&id));
    }
    assert!(state.matched_archetypes().all(|id| world.archetypes().table(id).is_some()));
}

#[test]
fn a_query_explains_its_plan() {
    let mut world = World::new();
    world.spawn_batch((0..3).map(|n| (Health(n), position(0.0))));
    let gone = world.spawn((Health(1), position(0.0), Burning)).id();
    world.despawn(gone);
    world.spawn((Health(1), position(0.0), Frozen));
    let name_of = |id: Option<ComponentId>| {
        let info = id.and_then(|id| world.components().get_info(id)).expect("registered");
        info.name().to_owned()
    };
    let [health, pos, burning] = [
        name_of(world.component_id::<Health>()),
        name_of(world.component_id::<Position>()),
        name_of(world.component_id::<Burning>()),
    ];
    use crate::common::cast::position as field;
    type Data = (Entity, &'static Health, Option<&'static field::x>, Has<Boss>);
    let plan = world.view_filtered::<Data, (Without<Frozen>, Or<(With<Position>, With<Boss>)>)>().explain();
    let expected = format!(
        "data:   Entity, &Health, Option<&position::x>, Has<Boss>\n\
         where:  with Health, without Frozen, (with Position or with Boss) (no check per row)\n\
         visits: 2 of 4 archetypes\n  \
         {:>8} rows of {{{health}, {pos}}}\n  \
         {:>8} rows of {{{health}, {pos}, {burning}}}\n",
        3, 0
    );
    assert_eq!(plan, expected);
    let plan = world.view_filtered::<&Name, Or<(Changed<Armour>, With<Boss>)>>().explain();
    assert!(plan.contains("row ticks are checked per row"), "{plan}");
    assert!(plan.contains("with Name, (with Armour or with Boss)"), "{plan}");
    let plan = world.view::<()>().explain();
    assert!(plan.contains("where:  anything (no check per row)"), "{plan}");
    let plan = world.view_filtered::<(), Or<(With<Boss>, ())>>().explain();
    assert!(plan.contains("where:  anything"), "one of the alternatives always holds: {plan}");
    let plan = world.view_mut::<(&mut Slot<u8, 2>, &mut Velocity)>().explain();
    assert!(plan.starts_with("data:   &mut Slot<u8, 2>, &mut Velocity\n"), "{plan}");
}

// Hazard 33: whole values may change places, and take everything that belongs to them along.
#[test]
fn queries_states_and_worlds_may_be_swapped_whole() {
    let mut one = World::new();
    let mut two = World::new();
    // The other world gives other ids to the same components.
    two.spawn((Burning, Frozen, label("l"), Armour(1)));
    let first = one.spawn((Health(1), Frozen)).id();
    let second = two.spawn((Frozen, Health(2))).id();
    let mut query_one = one.view_filtered_mut::<(Entity, &mut Health), With<Frozen>>();
    let mut query_two = two.view_filtered_mut::<(Entity, &mut Health), With<Frozen>>();
    std::mem::swap(&mut query_one, &mut query_two);
    let (entity, health) = query_one.single_mut().expect("one matches");
    assert_eq!((entity, &*health), (second, &Health(2)));
    let (entity, health) = query_two.single_mut().expect("one matches");
    assert_eq!((entity, &*health), (first, &Health(1)));
    let mut state_one = one.query_filtered::<&Health, With<Frozen>>();
    let mut state_two = two.query_filtered::<&Health, With<Frozen>>();
    assert_eq!(state_one.iter(&one).collect::<Vec<_>>(), [&Health(1)]);
    assert_eq!(state_two.iter(&two).collect::<Vec<_>>(), [&Health(2)]);
    std::mem::swap(&mut one, &mut two);
    std::mem::swap(&mut state_one, &mut state_two);
    assert_eq!(state_one.iter(&one).collect::<Vec<_>>(), [&Health(2)]);
    assert_eq!(state_two.iter(&two).collect::<Vec<_>>(), [&Health(1)]);
    assert_eq!(visited::<With<Health>>(&one), [second]);
    assert_eq!(visited::<With<Health>>(&two), [first]);
}

// Hazard 33: a state that meets another world says so, and answers for its own afterwards as before.
#[test]
fn a_state_never_answers_for_another_world() {
    fn world_with(early: impl Fn(&mut World), later: usize) -> World {
        let mut world = World::new();
        early(&mut world);
        world.spawn((Health(1), Frozen));
        world.spawn(Health(2));
        world.spawn((Health(3), Boss));
        for n in 0..later {
            let e = world.spawn(Quiet(0)).id();
            if n % 2 == 0 {
                world.entity_mut(e).insert((Burning, Health(4)));
            }
            world.despawn(e);
            world.drop_empty_archetypes();
        }
        world
    }
    let worlds = [
        world_with(|_| {}, 0),
        world_with(|_| {}, 0),
        world_with(
            |world| {
                world.register_component::<Boss>();
                world.spawn((Boss, Frozen, Burning));
            },
            0,
        ),
        world_with(|_| {}, 7),
        world_with(
            |world| {
                world.spawn((Burning, label("l")));
            },
            300,
        ),
        World::new(),
    ];
    for own in &worlds {
        let mut state = own.query_filtered::<(Entity, &Health), Without<Frozen>>();
        let mut unknown = own.query_filtered::<Entity, With<Boss>>();
        for other in &worlds {
            if !std::ptr::eq(own, other) {
                assert!(panics_of_another_world(|| state.iter(other).count()));
                assert!(panics_of_another_world(|| unknown.iter(other).count()));
            }
            let fresh = own.view_filtered::<(Entity, &Health), Without<Frozen>>();
            assert!(state.iter(own).eq(fresh.iter()), "{}", fresh.explain());
            assert_eq!(unknown.iter(own).collect::<Vec<_>>(), visited::<With<Boss>>(own));
        }
    }
}

/// Whether a call panics because a state was asked of another world.
fn panics_of_another_world<T>(call: impl FnOnce() -> T) -> bool {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err();
    let text = panic.as_ref().and_then(|panic| panic.downcast_ref::<String>());
    text.is_some_and(|text| text.contains("was asked of another world than the one that made it"))
}

// Every method that takes a world says so, before it changes anything.
#[test]
fn a_state_of_another_world_is_refused_by_every_method_and_says_what_to_do() {
    let (own, mut other) = (World::new(), World::new());
    let entity = other.spawn((Health(1), Frozen)).id();
    let mut state = own.query_filtered::<&mut Health, With<Frozen>>();
    let tick = other.read_change_tick();
    assert!(panics_of_another_world(|| state.update_archetypes(&other)));
    assert!(panics_of_another_world(|| state.query(&other).count()));
    assert!(panics_of_another_world(|| state.query_mut(&mut other).count()));
    assert!(panics_of_another_world(|| state.iter(&other).count()));
    assert!(panics_of_another_world(|| state.iter_mut(&mut other).count()));
    assert!(panics_of_another_world(|| state.get(&other, entity).is_ok()));
    assert!(panics_of_another_world(|| state.get_mut(&mut other, entity).is_ok()));
    assert!(panics_of_another_world(|| state.get_many(&other, [entity]).is_ok()));
    assert!(panics_of_another_world(|| state.get_many_mut(&mut other, [entity]).is_ok()));
    assert!(panics_of_another_world(|| state.iter_many(&other, [entity]).matched().count()));
    assert!(panics_of_another_world(|| state
        .iter_many_mut(&mut other, [entity])
        .matched()
        .fetch_next()
        .is_some()));
    assert!(panics_of_another_world(|| state.iter_combinations::<1>(&other).count()));
    assert!(panics_of_another_world(|| {
        state.iter_combinations_mut::<1>(&mut other).fetch_next().is_some()
    }));
    assert!(panics_of_another_world(|| state.single(&other).is_ok()));
    assert!(panics_of_another_world(|| state.single_mut(&mut other).is_ok()));
    assert!(panics_of_another_world(|| state.is_empty(&other, tick, tick)));
    assert!(panics_of_another_world(|| state.contains(entity, &other, tick, tick)));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| state.iter(&other).count()));
    let panic = panic.expect_err("the state is of another world");
    assert_eq!(
        panic.downcast_ref::<String>().expect("a text"),
        "a `QueryState` for `&mut Health` was asked of another world than the one that made it: it serves that world \
         only; call `query` or `query_filtered` of this world to make one for it"
    );
    assert_eq!(state.iter(&own).count(), 0, "its own world is still served");
}

#[test]
fn a_query_shows_its_terms_to_generic_code() {
    fn count<D: QueryData, F: QueryFilter>(query: &Query<'_, '_, D, F>) -> usize {
        query.iter().fold(0, |count, _| count + 1)
    }
    let mut world = World::new();
    world.spawn_batch((0..4).map(Health));
    assert_eq!(count(&world.view::<&Health>()), 4);
    assert_eq!(count(&world.view_filtered_mut::<&mut Health, Without<Boss>>()), 4);
}

// O-169, O-180, O-181: a system keeps its query prepared, and it lives like all others.
#[test]
fn the_query_of_a_system_is_prepared_once_and_follows_the_world() {
    #[derive(Resource, Default)]
    struct Seen(Vec<Vec<Entity>>);

    let mut app = App::new();
    app.world_mut().insert_resource(Seen::default());
    let look = |query: Query<(Entity, &Health), Without<Frozen>>, mut seen: ResMut<Seen>| {
        seen.0.push(query.iter().map(|(id, _)| id).collect());
    };
    app.add_systems(Update, look);
    let mut expected = Vec::new();
    let mut kept = app.world().query_filtered::<Entity, (With<Health>, Without<Frozen>)>();
    for round in 0..6 {
        let world = app.world_mut();
        let e = world.spawn(Health(round)).id();
        match round {
            1 => {
                world.spawn((Health(1), Boss));
            }
            2 => {
                world.entity_mut(e).insert(Frozen);
            }
            3 => world.clear_entities(),
            4 => assert!(world.drop_empty_archetypes() > 0),
            _ => {
                world.spawn((Health(1), Quiet(1)));
            }
        }
        expected.push(kept.iter(world).collect::<Vec<_>>());
        app.step(0.1);
    }
    assert_eq!(app.world().resource::<Seen>().0, expected);
    assert_eq!(prepared(app.world()), (0, 0), "frames ask the world for nothing");
}
