//! Proves access to chosen entities: one, several, all pairs, sorted; and what an error says.
//!
//! Reading may yield an entity as often as it is asked for, writing never twice at once (hazards 29 and 32).
//! An entity that is dead, forged, or lacks a term is an error that says so (hazard 34), never a wrong row.

use std::error::Error;

use crate::common::cast::{Armour, Boss, Burning, Frozen, Health, Name, Position, label, name, position};
use phalanx::prelude::{Added, Changed, Entity, Has, Mut, Or, Ref, With, Without, World};
use phalanx::query::{QueryEntityError, QuerySingleError};

fn healths(world: &mut World, count: u32) -> Vec<Entity> {
    world.spawn_batch((0..count).map(|n| (Health(n), name(&n.to_string())))).collect()
}

#[test]
fn one_entity_is_read_and_written() {
    let mut world = World::new();
    let ids = healths(&mut world, 3);
    let frozen = world.spawn((Health(3), name("3"), Frozen, position(3.0))).id();
    assert_eq!(world.view::<&Health>().get(ids[1]), Ok(&Health(1)));
    assert_eq!(world.view::<(Entity, &Name)>().get(frozen), Ok((frozen, &name("3"))));
    let mut query = world.view_mut::<(&mut Health, Option<&mut Position>)>();
    let (mut health, pos) = query.get_mut(frozen).expect("it matches");
    health.0 += 10;
    *pos.expect("it has one").x = 9.0;
    assert!(query.get_mut(ids[0]).is_ok_and(|(_, pos)| pos.is_none()));
    assert_eq!(query.get(frozen).map(|(health, pos)| (health.0, pos.map(|pos| *pos.x))), Ok((13, Some(9.0))));
    let mut health: Mut<Health> = world.view_mut::<&mut Health>().get_inner(ids[2]).expect("it matches");
    health.0 = 22;
    assert_eq!(world.get::<Health>(ids[2]), Some(&Health(22)));
}

// Hazard 34, over every term that may be missing.
#[test]
fn a_term_that_the_entity_lacks_is_none_or_an_error() {
    let mut world = World::new();
    let rowless = world.spawn_empty().id();
    let bare = world.spawn(Health(1)).id();
    let full = world.spawn((Health(2), Armour(3), position(4.0))).id();
    for (entity, armour, x, both) in
        [(rowless, None, None, None), (bare, None, None, None), (full, Some(3), Some(4.0), Some((-4.0, 3)))]
    {
        let query = world
            .view::<(Option<&Armour>, Option<&Position>, Option<(&Position, Ref<Armour>)>, Has<Armour>)>();
        let (a, p, b, has) = query.get(entity).expect("nothing is required");
        assert_eq!((a.map(|a| a.0), p.map(|p| *p.x), has), (armour, x, armour.is_some()));
        assert_eq!(b.map(|(p, a)| (*p.y, a.0)), both);
        assert_eq!(world.view::<&Armour>().get(entity).ok().map(|a| a.0), armour);
        let mut query = world.view_mut::<(Option<&mut Armour>, Option<(&mut Position, &Health)>)>();
        let (a, p) = query.get_mut(entity).expect("nothing is required");
        assert_eq!((a.map(|a| a.0), p.map(|(p, _)| *p.x)), (armour, x));
    }
}

// Hazard 4, through queries.
#[test]
fn dead_stale_and_forged_entities_are_never_found() {
    let mut world = World::new();
    let dead = world.spawn((Health(1), Frozen)).id();
    world.despawn(dead);
    let reborn = world.spawn((Health(2), Frozen)).id();
    assert_eq!(dead.index(), reborn.index(), "the slot is used again");
    let rowless_dead = world.spawn_empty().id();
    world.despawn(rowless_dead);
    let reserved = world.reserve_entity();
    let beyond = Entity::from_bits(Entity::PLACEHOLDER.to_bits()).expect("a valid id");
    for stranger in [dead, rowless_dead, reserved, beyond] {
        assert!(!world.view::<&Health>().contains(stranger));
        assert!(!world.view::<Entity>().contains(stranger));
        assert!(!world.view::<()>().contains(stranger));
        assert!(
            !world
                .view_filtered::<Option<&Health>, Or<(Without<Frozen>, Changed<Armour>)>>()
                .contains(stranger)
        );
        let expected = QueryEntityError::NoSuchEntity { entity: stranger };
        assert_eq!(world.view::<Entity>().get(stranger), Err(expected.clone()));
        assert_eq!(world.view_mut::<&mut Health>().get_mut(stranger), Err(expected.clone()));
        assert_eq!(world.view_mut::<&mut Health>().get_many_mut([reborn, stranger]), Err(expected.clone()));
        assert_eq!(world.view::<&Health>().get_many([stranger, reborn]), Err(expected.clone()));
        assert_eq!(world.view::<&Health>().why_not(stranger), Some(expected));
        assert_eq!(world.view::<&Health>().iter_many([stranger, reborn]).matched().count(), 1);
    }
    assert_eq!(world.view::<&Health>().get(reborn), Ok(&Health(2)));
}

#[test]
fn contains_agrees_with_iteration_for_every_filter() {
    fn check<F: phalanx::query::QueryFilter + 'static>(world: &World, all: &[Entity]) {
        let query = world.view_filtered::<Entity, F>();
        let visited: Vec<Entity> = query.iter().collect();
        for &entity in all {
            let inside = visited.contains(&entity);
            assert_eq!(query.contains(entity), inside);
            assert_eq!(query.get(entity).is_ok(), inside);
            assert_eq!(query.why_not(entity).is_none(), inside);
        }
    }
    let mut world = World::new();
    let mut all =
        vec![world.spawn_empty().id(), world.spawn(Frozen).id(), world.spawn((Frozen, Armour(1))).id()];
    all.push(world.spawn((Armour(2), Health(1))).id());
    world.clear_trackers();
    all.push(world.spawn((Armour(3), Boss)).id());
    world.get_mut::<Armour>(all[3]).expect("alive").0 = 9;
    check::<()>(&world, &all);
    check::<With<Frozen>>(&world, &all);
    check::<Without<Frozen>>(&world, &all);
    check::<Changed<Armour>>(&world, &all);
    check::<Added<Armour>>(&world, &all);
    check::<Or<(With<Frozen>, Changed<Armour>)>>(&world, &all);
    check::<Or<(Without<Armour>, Added<Armour>)>>(&world, &all);
    check::<(Without<Boss>, Changed<Armour>)>(&world, &all);
    check::<Or<(With<Boss>, With<Health>, With<Burning>)>>(&world, &all);
}

// O-271, O-276, O-277: a row of fields is a typed reference to each of them, at the entity's place.
#[test]
fn a_reference_reads_and_writes_the_fields_of_one_entity() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..3_u8).map(|n| (position(n.into()), Health(0)))).collect();
    let mut query = world.view_mut::<(&mut Position, &mut Health)>();
    let (mut pos, mut health) = query.get_mut(ids[1]).expect("it matches");
    *pos.x += 10.0;
    let moved = pos.get();
    pos.reborrow().set(Position { y: 5.0, ..moved });
    health.0 = 7;
    assert_eq!((*pos.x, *pos.as_shared().y, pos.get()), (11.0, 5.0, Position { x: 11.0, y: 5.0 }));
    let rows: Vec<(Position, u32)> = query.iter().map(|(pos, health)| (pos.get(), health.0)).collect();
    assert_eq!(rows, [(position(0.0), 0), (Position { x: 11.0, y: 5.0 }, 7), (position(2.0), 0)]);
    // The places of fields are those of the columns: references and slices lead to the same memory.
    let x: *const f32 = world.get::<Position>(ids[2]).expect("alive").x;
    let at = world.view::<&Position>().into_chunks().next().map(|rows| std::ptr::from_ref(&rows.x[2]));
    assert_eq!(at, Some(x));
}

#[test]
fn the_only_match_is_found_and_none_or_several_are_errors() {
    let mut world = World::new();
    assert!(matches!(world.view::<&Health>().single(), Err(QuerySingleError::NoEntities(_))));
    assert!(matches!(world.view_mut::<&mut Health>().single_mut(), Err(QuerySingleError::NoEntities(_))));
    let e = world.spawn((Health(1), Boss)).id();
    world.spawn(Frozen);
    assert_eq!(world.view::<(Entity, &Health)>().single(), Ok((e, &Health(1))));
    world.view_mut::<&mut Health>().single_mut().expect("one").0 = 5;
    assert_eq!(world.get::<Health>(e), Some(&Health(5)));
    let other = world.spawn(Health(2)).id();
    assert!(matches!(world.view::<&Health>().single(), Err(QuerySingleError::MultipleEntities(_))));
    assert!(matches!(
        world.view_mut::<&mut Health>().single_mut(),
        Err(QuerySingleError::MultipleEntities(_))
    ));
    assert_eq!(world.view_filtered::<&Health, With<Boss>>().single(), Ok(&Health(5)));
    world.despawn(other);
    assert_eq!(world.view::<&Health>().single(), Ok(&Health(5)));
    assert_eq!(world.view_filtered::<Entity, Without<Boss>>().single().map(|id| id == e), Ok(false));
}

#[test]
fn several_entities_are_read_at_once_as_often_as_asked() {
    let mut world = World::new();
    let ids = healths(&mut world, 4);
    let query = world.view::<&Health>();
    assert_eq!(query.get_many([ids[3], ids[0], ids[3]]), Ok([&Health(3), &Health(0), &Health(3)]));
    assert_eq!(query.get_many([]), Ok([]));
    let stranger = world.spawn(Frozen).id();
    let query = world.view::<&Health>();
    let error = query.get_many([ids[0], stranger]);
    assert!(matches!(error, Err(QueryEntityError::DoesNotMatch { entity, .. }) if entity == stranger));
    // A query that could write reads, and so may repeat.
    let query = world.view_mut::<&mut Health>();
    assert_eq!(query.get_many([ids[1], ids[1]]), Ok([&Health(1), &Health(1)]));
}

// Hazards 29 and 32: the same row is never lent out twice.
#[test]
fn several_different_entities_are_written_at_once() {
    let mut world = World::new();
    let ids = healths(&mut world, 4);
    let frozen = world.spawn((Health(9), name("f"), Frozen)).id();
    let mut query = world.view_mut::<(&mut Health, &mut Name)>();
    let [mut a, mut b, mut c] = query.get_many_mut([ids[2], frozen, ids[0]]).expect("all match");
    std::mem::swap(&mut *a.0, &mut *c.0);
    std::mem::swap(&mut *a.1, &mut *b.1);
    assert_eq!(query.get_many_mut([]).map(|none: [_; 0]| none.len()), Ok(0));
    assert_eq!(world.get::<Health>(ids[2]), Some(&Health(0)));
    assert_eq!(world.get::<Health>(ids[0]), Some(&Health(2)));
    assert_eq!(world.get::<Name>(frozen), Some(&name("2")));
    let mut query = world.view_mut::<&mut Health>();
    for repeated in [[ids[1], ids[1], ids[0]], [ids[1], ids[0], ids[1]], [ids[0], ids[1], ids[1]]] {
        assert_eq!(query.get_many_mut(repeated), Err(QueryEntityError::Repeated { entity: ids[1] }));
    }
    // Entities without components have no row, and still count once.
    let rowless = world.spawn_empty().id();
    let mut query = world.view_mut::<(Entity, Option<&mut Health>)>();
    assert_eq!(query.get_many_mut([rowless, rowless]), Err(QueryEntityError::Repeated { entity: rowless }));
    assert!(
        query
            .get_many_mut([rowless, ids[0]])
            .is_ok_and(|[(_, none), (_, some)]| none.is_none() && some.is_some())
    );
}

#[test]
fn lists_of_entities_are_read_in_their_order() {
    let mut world = World::new();
    let ids = healths(&mut world, 4);
    let stranger = world.spawn(Frozen).id();
    let rowless = world.spawn_empty().id();
    let dead = world.spawn(Health(7)).id();
    world.despawn(dead);
    let list = [ids[2], stranger, ids[0], dead, ids[2], rowless];
    let query = world.view::<&Health>();
    let seen: Vec<u32> = query.iter_many(list).matched().map(|health| health.0).collect();
    assert_eq!(seen, [2, 0, 2], "what does not match is passed over, what repeats repeats");
    let seen: Vec<Entity> = world.view::<Entity>().iter_many(list).matched().collect();
    assert_eq!(seen, [ids[2], stranger, ids[0], ids[2], rowless]);
    assert_eq!(query.iter_many(std::iter::empty::<Entity>()).matched().count(), 0);
    let lent: Vec<u32> = query.iter_many(&list).matched().map(|health| health.0).collect();
    assert_eq!(lent, [2, 0, 2], "a list that is lent");
    // Partly by hand, and the rest at once: what is remembered of tables goes along.
    let all = world.view::<Entity>();
    let mut rows = all.iter_many(&list).matched();
    assert_eq!(rows.next(), Some(ids[2]));
    let mut rest = Vec::new();
    rows.for_each(|entity| rest.push(entity));
    assert_eq!(rest, [stranger, ids[0], ids[2], rowless]);
}

#[test]
fn lists_of_entities_are_written_one_after_the_other() {
    let mut world = World::new();
    let ids = healths(&mut world, 3);
    let stranger = world.spawn(Frozen).id();
    let mut query = world.view_mut::<&mut Health>();
    let mut rows = query.iter_many_mut([ids[1], stranger, ids[2], ids[1]]).matched();
    let mut calls = 0;
    while let Some(mut health) = rows.fetch_next() {
        health.0 += 10;
        calls += 1;
    }
    assert!(rows.fetch_next().is_none());
    assert_eq!(calls, 3);
    let after: Vec<u32> = world.view::<&Health>().into_iter().map(|health| health.0).collect();
    assert_eq!(after, [0, 21, 12], "a repeated entity is written each time");
}

#[test]
fn lists_of_entities_respect_row_filters() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..4).map(Armour)).collect();
    world.clear_trackers();
    world.get_mut::<Armour>(ids[2]).expect("alive").0 = 7;
    let query = world.view_filtered::<&Armour, Changed<Armour>>();
    assert_eq!(query.iter_many(ids.clone()).matched().collect::<Vec<_>>(), [&Armour(7)]);
    let mut query = world.view_filtered_mut::<(Entity, &Armour), Changed<Armour>>();
    let mut rows = query.iter_many_mut(ids.clone()).matched();
    assert_eq!(rows.fetch_next(), Some((ids[2], &Armour(7))));
    assert_eq!(rows.fetch_next(), None);
    assert!(query.get_many_mut([ids[2], ids[0]]).is_err());
    assert!(query.get_many_mut([ids[2]]).is_ok());
}

#[test]
fn combinations_are_all_unordered_choices_in_the_querys_order() {
    let mut world = World::new();
    world.spawn_batch((0..3).map(Health));
    world.spawn((Health(3), Frozen));
    let query = world.view::<&Health>();
    let pairs: Vec<[u32; 2]> =
        query.iter_combinations().map(|pair: [&Health; 2]| pair.map(|health| health.0)).collect();
    assert_eq!(pairs, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    let triples: Vec<[u32; 3]> =
        query.iter_combinations().map(|triple: [&Health; 3]| triple.map(|health| health.0)).collect();
    assert_eq!(triples, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
    assert_eq!(query.iter_combinations::<4>().count(), 1);
    assert_eq!(query.iter_combinations::<5>().count(), 0);
    assert_eq!(query.iter_combinations::<1>().count(), 4);
    assert_eq!(query.iter_combinations::<0>().count(), 1);
    let filtered = world.view_filtered::<&Health, Without<Frozen>>();
    assert_eq!(filtered.iter_combinations::<2>().count(), 3);
}

// Hazard 32: the writing form lends one choice at a time.
#[test]
fn combinations_are_written_one_after_the_other() {
    let mut world = World::new();
    world.spawn_batch((0..3).map(Health));
    world.spawn((Health(3), Frozen));
    let mut query = world.view_mut::<&mut Health>();
    let mut pairs = query.iter_combinations_mut();
    let mut calls = 0;
    while let Some([mut a, mut b]) = pairs.fetch_next() {
        a.0 += 100;
        b.0 += 1_000;
        calls += 1;
    }
    assert!(pairs.fetch_next().is_none());
    assert_eq!(calls, 6);
    let after: Vec<u32> = query.iter().map(|health| health.0).collect();
    assert_eq!(after, [300, 1_201, 2_102, 3_003]);
}

#[test]
fn written_combinations_respect_row_filters_and_the_rowless() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..4).map(Armour)).collect();
    world.spawn_empty();
    world.clear_trackers();
    for at in [0, 2, 3] {
        world.get_mut::<Armour>(ids[at]).expect("alive").0 += 10;
    }
    let mut query = world.view_filtered_mut::<(Entity, &Armour), Changed<Armour>>();
    let mut pairs = query.iter_combinations_mut();
    let mut seen = Vec::new();
    while let Some([(a, _), (b, _)]) = pairs.fetch_next() {
        seen.push([a, b]);
    }
    assert_eq!(seen, [[ids[0], ids[2]], [ids[0], ids[3]], [ids[2], ids[3]]]);
    let mut query = world.view_mut::<(Entity, Option<&mut Armour>)>();
    let mut triples = query.iter_combinations_mut::<3>();
    let mut calls = 0;
    while triples.fetch_next().is_some() {
        calls += 1;
    }
    assert_eq!(calls, 10, "five entities, one of them without components");
}

#[test]
fn sorting_orders_by_key_and_keeps_the_order_of_equal_keys() {
    let mut world = World::new();
    world.spawn_batch([5, 1, 3].map(Health));
    world.spawn_batch([(Health(1), Frozen), (Health(4), Frozen)]);
    let query = world.view::<(&Health, Has<Frozen>)>();
    let sorted: Vec<(u32, bool)> =
        query.sort_by_key(|(health, _)| health.0).map(|(health, frozen)| (health.0, frozen)).collect();
    assert_eq!(sorted, [(1, false), (1, true), (3, false), (4, true), (5, false)]);
    let by_tag: Vec<u32> = query.sort_by_key(|(_, frozen)| !frozen).map(|(health, _)| health.0).collect();
    assert_eq!(by_tag, [1, 4, 5, 1, 3]);
    let mut query = world.view_mut::<&mut Health>();
    for (rank, mut health) in (0..).zip(query.sort_by_key_mut(|health| health.0)) {
        health.0 = rank;
    }
    let after: Vec<u32> = query.iter().map(|health| health.0).collect();
    assert_eq!(after, [4, 0, 2, 1, 3]);
    // Keys that borrow nothing but are made from text.
    world.spawn_batch(["b", "a"].map(name));
    let query = world.view::<&Name>();
    let names: Vec<&Name> = query.sort_by_key(|name| name.0.clone()).collect();
    assert_eq!(names, [&name("a"), &name("b")]);
}

// `why_not` says which term an entity fails: the first one that does.
#[test]
fn errors_name_the_entity_and_the_term_it_fails() {
    let mut world = World::new();
    let e = world.spawn((Health(1), Frozen)).id();
    let told = |error: QueryEntityError| error.to_string();
    let why = |error: Option<QueryEntityError>| error.map(told).expect("it does not match");
    let not_in = |fails: &str| format!("entity {e} is not in the query: it fails `{fails}`");
    assert_eq!(why(world.view::<&Position>().why_not(e)), not_in("with Position"));
    assert_eq!(why(world.view::<(&Health, &Position, &Name)>().why_not(e)), not_in("with Position"));
    assert_eq!(why(world.view_filtered::<&Health, Without<Frozen>>().why_not(e)), not_in("without Frozen"));
    assert_eq!(why(world.view_filtered::<(), With<Boss>>().why_not(e)), not_in("with Boss"));
    assert_eq!(
        why(world.view_filtered::<(), Or<(With<Boss>, Without<Frozen>)>>().why_not(e)),
        not_in("(with Boss or without Frozen)")
    );
    assert_eq!(
        why(world.view_filtered::<(), Or<(With<Boss>, With<Burning>)>>().why_not(e)),
        not_in("(with Boss or with Burning)")
    );
    assert_eq!(why(world.view_filtered::<(), Or<()>>().why_not(e)), not_in("nothing"));
    use crate::common::cast::position as field;
    assert_eq!(
        why(world.view::<&field::x>().why_not(e)),
        not_in("with Position"),
        "a field needs its component"
    );
    assert_eq!(world.view_filtered::<&Health, With<Frozen>>().why_not(e), None);
    world.entity_mut(e).insert((Armour(1), label("l")));
    world.clear_trackers();
    assert_eq!(why(world.view_filtered::<(), Changed<Armour>>().why_not(e)), not_in("a tick of change"));
    let error: &dyn Error = &world.view::<&Position>().get(e).expect_err("it has none");
    assert_eq!(error.to_string(), not_in("with Position"));
    let repeated = world.view_mut::<&mut Health>().get_many_mut([e, e]).err().map(told);
    assert_eq!(repeated, Some(format!("entity {e} is asked for twice at once: name each entity once")));
    world.despawn(e);
    assert_eq!(
        why(world.view::<()>().why_not(e)),
        format!("entity {e} is not alive: it was despawned, or belongs to another world")
    );
    let none = world.view::<&Health>().single().err().map(|error| error.to_string());
    assert_eq!(none.as_deref(), Some("no entity matches `Query<&Health>`, where one was expected"));
    world.spawn_batch([Health(1), Health(2)]);
    let several = world.view::<&Health>().single().err().map(|error| error.to_string());
    assert_eq!(
        several.as_deref(),
        Some("several entities match `Query<&Health>`, where one was expected: add a filter, or iterate")
    );
}
