//! Proves what a query yields row by row: every kind of data, in the documented order, with exact sizes.
//!
//! Order: archetypes as they were created, rows by position, entities without components last, by index.
//! A `for` loop, `for_each`, `fold` and `count` must agree, from any point of the iteration on (hazard 40);
//! a world that has not met a component answers without it, and finds it once it is met.

use crate::common::cast::{
    Armour, Boss, Burning, Frozen, Health, Label, Name, Position, PositionMut, Quiet, Slot, Stunned,
    Velocity, entities, label, name, position, visited,
};
use phalanx::prelude::{Added, Changed, Component, Entity, Has, Mut, Or, Ref, With, Without, World};

/// How many queries the world keeps prepared, and how many different filters they have.
fn prepared(world: &World) -> (usize, usize) {
    let stats = world.stats();
    (stats.prepared_queries, stats.prepared_filters)
}

// Z-040, Z-042: the type says what is yielded.
#[test]
fn every_kind_of_component_is_read_by_reference() {
    let mut world = World::new();
    let e = world
        .spawn((
            (position(1.0), Health(2), name("n"), Slot([3_u8; 2]), Quiet(4)),
            (Armour(5), label("l"), Stunned, Frozen),
        ))
        .id();
    let query = world.view::<(
        Entity,
        &Position,
        &Health,
        &Name,
        &Slot<u8, 2>,
        &Quiet,
        &Armour,
        &Label,
        &Stunned,
        &Frozen,
    )>();
    let (id, pos, health, text, slot, quiet, armour, tag, stunned, frozen) =
        query.into_iter().next().expect("one entity matches");
    assert_eq!(id, e);
    assert_eq!((*pos.x, *pos.y), (1.0, -1.0));
    assert_eq!((health, text, slot), (&Health(2), &name("n"), &Slot([3; 2])));
    assert_eq!((quiet, armour), (&Quiet(4), &Armour(5)));
    assert_eq!((tag.text.as_str(), *tag.size), ("l", 1));
    assert_eq!((stunned, frozen), (&Stunned, &Frozen));
    assert!(world.view::<&Slot<u8, 3>>().is_empty(), "another parameter is another component");
    assert!(world.view::<&Slot<u16, 2>>().is_empty(), "another parameter is another component");
}

// O-189: what is written through a query is there at once, whatever reads it.
#[test]
fn every_kind_of_component_is_written_by_reference() {
    let mut world = World::new();
    let e = world
        .spawn((
            (position(1.0), Health(2), name("n"), Slot([3_u8; 2]), Quiet(4)),
            (Armour(5), label("l"), Stunned, Frozen),
        ))
        .id();
    let mut query = world.view_mut::<(
        &mut Position,
        &mut Health,
        &mut Name,
        &mut Slot<u8, 2>,
        &mut Quiet,
        &mut Armour,
        &mut Label,
        &mut Stunned,
        &mut Frozen,
    )>();
    for (pos, mut health, mut text, mut slot, mut quiet, mut armour, tag, mut stunned, mut frozen) in
        &mut query
    {
        *pos.x += 1.0;
        health.0 += 1;
        text.0.push('!');
        slot.0[1] = 9;
        quiet.0 += 1;
        armour.0 += 1;
        tag.text.push('?');
        *tag.size += 1;
        *stunned = Stunned;
        *frozen = Frozen;
    }
    assert_eq!(query.iter().next().map(|row| row.1.0), Some(3), "seen by the same query");
    assert_eq!(world.get::<Position>(e).map(|row| row.get()), Some(Position { x: 2.0, y: -1.0 }));
    assert_eq!(world.get::<Health>(e), Some(&Health(3)));
    assert_eq!(world.get::<Name>(e), Some(&name("n!")));
    assert_eq!(world.get::<Slot<u8, 2>>(e), Some(&Slot([3, 9])));
    assert_eq!(world.get::<Quiet>(e), Some(&Quiet(5)));
    assert_eq!(world.get::<Armour>(e), Some(&Armour(6)));
    assert_eq!(world.get::<Label>(e).map(|row| row.get()), Some(Label { text: "l?".into(), size: 2 }));
    let seen: Vec<u32> = world.view::<&Health>().into_iter().map(|health| health.0).collect();
    assert_eq!(seen, [3], "seen by another query");
}

#[test]
fn single_fields_are_columns_of_their_own() {
    use crate::common::cast::position as field;
    let mut world = World::new();
    world.spawn_batch((0..5_u8).map(|n| Position { x: f32::from(n), y: 10.0 }));
    // Different fields may be written and read together.
    for (x, y) in world.view_mut::<(&mut field::x, &field::y)>() {
        *x += *y;
    }
    for (x, y) in world.view_mut::<(&mut field::x, &mut field::y)>() {
        std::mem::swap(x, y);
    }
    let rows: Vec<(f32, f32)> = world.view::<&Position>().into_iter().map(|pos| (*pos.x, *pos.y)).collect();
    assert_eq!(rows, [(10.0, 10.0), (10.0, 11.0), (10.0, 12.0), (10.0, 13.0), (10.0, 14.0)]);
    let optional: Vec<Option<&f32>> = world.view::<Option<&field::y>>().into_iter().collect();
    assert_eq!(optional.len(), 5);
    assert!(optional.iter().all(Option::is_some));
}

// Hazard 34: what an entity lacks is `None`, never something read from another place.
#[test]
fn optional_data_is_none_where_the_entity_lacks_it() {
    let mut world = World::new();
    let rowless = world.spawn_empty().id();
    let bare = world.spawn(Health(1)).id();
    let whole = world.spawn((Health(2), position(3.0), Armour(4))).id();
    let half = world.spawn((Health(5), position(6.0))).id();
    let seen: Vec<_> = world
        .view::<(Entity, Option<&Health>, Option<&Position>, Option<Ref<Armour>>, Option<(&Position, &Armour)>)>()
        .into_iter()
        .map(|(entity, health, pos, armour, both)| {
            let health = health.map(|health| health.0);
            let pos = pos.map(|pos| *pos.x);
            (entity, health, pos, armour.map(|armour| armour.0), both.map(|(pos, armour)| (*pos.y, armour.0)))
        })
        .collect();
    assert_eq!(
        seen,
        [
            (bare, Some(1), None, None, None),
            (whole, Some(2), Some(3.0), Some(4), Some((-3.0, 4))),
            (half, Some(5), Some(6.0), None, None),
            (rowless, None, None, None, None),
        ]
    );
    for (mut health, pos) in world.view_mut::<(&mut Health, Option<&mut Position>)>() {
        if let Some(pos) = pos {
            *pos.x = 0.0;
            health.0 += 10;
        }
    }
    let healths: Vec<u32> = world.view::<&Health>().into_iter().map(|health| health.0).collect();
    assert_eq!(healths, [1, 12, 15]);
}

#[test]
fn options_nest_and_an_optional_entity_is_always_there() {
    let mut world = World::new();
    let rowless = world.spawn_empty().id();
    let e = world.spawn(Health(1)).id();
    let seen: Vec<_> = world
        .view::<(Option<Entity>, Option<Option<&Health>>, Option<Has<Health>>, Option<()>)>()
        .into_iter()
        .collect();
    assert_eq!(
        seen,
        [
            (Some(e), Some(Some(&Health(1))), Some(true), Some(())),
            (Some(rowless), Some(None), Some(false), Some(()))
        ]
    );
}

#[test]
fn has_tells_presence_without_asking_for_it() {
    let mut world = World::new();
    let rowless = world.spawn_empty().id();
    let a = world.spawn((Health(1), Frozen)).id();
    let b = world.spawn(Health(1)).id();
    let c = world.spawn((Frozen, position(1.0), Armour(1))).id();
    let seen: Vec<_> =
        world.view::<(Entity, Has<Frozen>, Has<Position>, Has<Armour>, Has<Burning>)>().into_iter().collect();
    assert_eq!(
        seen,
        [
            (a, true, false, false, false),
            (b, false, false, false, false),
            (c, true, true, true, false),
            (rowless, false, false, false, false)
        ]
    );
}

#[test]
fn a_ref_yields_the_value_and_its_ticks() {
    let mut world = World::new();
    world.spawn((Armour(7), label("l")));
    let born = world.read_change_tick();
    for (armour, tag) in world.view::<(Ref<Armour>, Ref<Label>)>() {
        assert_eq!((armour.0, armour.added(), armour.last_changed()), (7, born, born));
        assert!(armour.is_added() && armour.is_changed());
        assert_eq!((tag.text.as_str(), *tag.size), ("l", 1));
        assert_eq!(armour.into_inner(), &Armour(7));
    }
}

#[test]
fn tuples_nest_and_carry_more_than_twelve_parts() {
    let mut world = World::new();
    let few = (Slot([0_u8; 0]), Slot([1_u8; 1]), Slot([2_u8; 2]), Slot([3_u8; 3]), Slot([4_u8; 4]));
    let more = (Slot([5_u8; 5]), Slot([6_u8; 6]), Slot([7_u8; 7]), Slot([8_u8; 8]), Slot([9_u8; 9]));
    let last = (Slot([10_u8; 10]), Slot([11_u8; 11]), Slot([12_u8; 12]), Slot([13_u8; 13]));
    let e = world.spawn((few, more, last)).id();
    world.spawn((few, more));
    type Few<'a> = (&'a Slot<u8, 0>, &'a Slot<u8, 1>, &'a Slot<u8, 2>, &'a Slot<u8, 3>, &'a Slot<u8, 4>);
    type More<'a> =
        (&'a mut Slot<u8, 5>, &'a mut Slot<u8, 6>, &'a Slot<u8, 7>, &'a Slot<u8, 8>, &'a Slot<u8, 9>);
    type Last<'a> = ((&'a Slot<u8, 10>, &'a Slot<u8, 11>), ((&'a Slot<u8, 12>,), &'a mut Slot<u8, 13>));
    let mut found = 0;
    for (id, few, mut more, (two, ((twelve,), mut thirteen)), ()) in
        world.view_mut::<(Entity, Few<'static>, More<'static>, Last<'static>, ())>()
    {
        assert_eq!(id, e);
        assert_eq!((few.4.0, two.1.0, twelve.0), ([4; 4], [11; 11], [12; 12]));
        more.0.0[0] = thirteen.0[12];
        thirteen.0[0] = few.1.0[0];
        found += 1;
    }
    assert_eq!(found, 1);
    assert_eq!(world.get::<Slot<u8, 5>>(e), Some(&Slot([13, 5, 5, 5, 5])));
    assert_eq!(world.get::<Slot<u8, 13>>(e).map(|slot| slot.0[0]), Some(1));
}

#[test]
fn a_query_that_asks_for_nothing_visits_everything() {
    let mut world = World::new();
    world.spawn_empty();
    world.spawn(Frozen);
    world.spawn(Health(1));
    assert_eq!(world.view::<()>().into_iter().count(), 3);
    assert_eq!(world.view::<()>().count(), world.entities().len());
}

// The order that `query.rs` documents.
#[test]
fn archetypes_come_in_order_of_creation_then_rows_then_the_rowless() {
    let mut world = World::new();
    let first_rowless = world.spawn_empty().id();
    let c = world.spawn((Health(1), Frozen)).id();
    let a = world.spawn(Health(2)).id();
    let d = world.spawn((Health(3), Frozen)).id();
    let b = world.spawn(Health(4)).id();
    let e = world.spawn((Health(5), Burning)).id();
    let second_rowless = world.spawn_empty().id();
    assert_eq!(visited::<()>(&world), [c, d, a, b, e, first_rowless, second_rowless]);
    // A filter leaves archetypes out and keeps the order, also where matching starts from the rarest.
    assert_eq!(visited::<With<Health>>(&world), [c, d, a, b, e]);
    assert_eq!(visited::<Without<Frozen>>(&world), [a, b, e, first_rowless, second_rowless]);
    assert_eq!(visited::<Or<(With<Burning>, With<Frozen>)>>(&world), [c, d, e]);
    // The last row takes the place of one that goes.
    world.entity_mut(c).remove::<Frozen>();
    assert_eq!(visited::<()>(&world), [d, a, b, c, e, first_rowless, second_rowless]);
    world.despawn(a);
    assert_eq!(visited::<()>(&world), [d, c, b, e, first_rowless, second_rowless]);
    // An entity without components comes by its index, however it got there.
    world.entity_mut(d).remove::<(Health, Frozen)>();
    assert_eq!(visited::<()>(&world), [c, b, e, first_rowless, d, second_rowless]);
}

// Hazard 40.
#[test]
fn size_hints_are_exact_at_every_step_for_filters_on_archetypes() {
    fn check<F: phalanx::query::ArchetypeFilter + 'static>(world: &World) {
        let query = world.view_filtered::<(Entity, Option<&Health>), F>();
        let mut left = query.count();
        let mut rows = query.iter();
        loop {
            assert_eq!((rows.size_hint(), rows.len()), ((left, Some(left)), left));
            if rows.next().is_none() {
                break;
            }
            left -= 1;
        }
        assert_eq!(left, 0, "as many as were promised");
        assert_eq!((rows.next().is_none(), rows.len()), (true, 0), "an end stays an end");
    }
    let mut world = World::new();
    check::<()>(&world);
    world.spawn_batch((0..1_030).map(Health));
    world.spawn_batch((0..3).map(|n| (Health(n), Frozen)));
    world.spawn((Burning, position(1.0)));
    let gone = world.spawn((Health(1), Boss)).id();
    world.despawn(gone);
    world.spawn_empty();
    world.spawn_empty();
    check::<()>(&world);
    check::<With<Health>>(&world);
    check::<Without<Health>>(&world);
    check::<(With<Health>, Without<Frozen>)>(&world);
    check::<Or<(With<Frozen>, With<Burning>)>>(&world);
    check::<Or<(Without<Frozen>, Without<Health>)>>(&world);
    check::<Or<(With<Boss>, With<Burning>)>>(&world);
    check::<With<Boss>>(&world);
}

// Hazard 40.
#[test]
fn size_hints_bound_what_a_filter_on_rows_leaves() {
    let mut world = World::new();
    world.spawn_batch((0..10).map(Armour));
    world.clear_trackers();
    for mut armour in world.view_mut::<&mut Armour>() {
        if armour.0.is_multiple_of(3) {
            armour.0 += 100;
        }
    }
    let query = world.view_filtered::<&Armour, Changed<Armour>>();
    let mut rows = query.iter();
    let mut seen = 0;
    loop {
        let (least, most) = rows.size_hint();
        let left = 4 - seen;
        assert!(least <= left && most.is_some_and(|most| most >= left), "{least} {most:?} for {left}");
        if rows.next().is_none() {
            break;
        }
        seen += 1;
    }
    assert_eq!(seen, 4);
    assert_eq!(rows.size_hint(), (0, Some(0)));
    assert_eq!(query.count(), 4);
}

#[test]
fn folding_from_the_middle_visits_exactly_the_rest() {
    let mut world = World::new();
    world.spawn_batch((0..4).map(Health));
    world.spawn_batch((4..7).map(|n| (Health(n), Frozen)));
    world.spawn((Health(7), Burning));
    for taken in 0..=9 {
        let query = world.view::<&Health>();
        let mut rows = query.iter();
        let head: Vec<u32> = rows.by_ref().take(taken).map(|health| health.0).collect();
        let mut all = head.clone();
        rows.for_each(|health| all.push(health.0));
        assert_eq!(all, (0..8).collect::<Vec<_>>(), "after {taken} steps");
        let mut rows = query.iter();
        assert_eq!(rows.by_ref().take(taken).count() + rows.count(), 8);
    }
}

#[test]
fn folds_of_the_standard_library_see_every_row_once() {
    let mut world = World::new();
    world.spawn_batch((1..=1_500).map(Health));
    world.spawn_batch((1..=100).map(|n| (Health(n), Frozen)));
    let query = world.view::<&Health>();
    let total: u32 = query.iter().map(|health| health.0).sum();
    assert_eq!(total, 1_500 * 1_501 / 2 + 5_050);
    assert_eq!(query.iter().map(|health| health.0).max(), Some(1_500));
    assert_eq!(query.iter().last(), Some(&Health(100)));
    assert_eq!(query.iter().nth(1_500), Some(&Health(1)));
    assert_eq!(query.iter().filter(|health| health.0 == 7).count(), 2);
    let mut written = 0;
    world.view_mut::<&mut Health>().into_iter().for_each(|mut health| {
        health.0 = written;
        written += 1;
    });
    let order: Vec<u32> = world.view::<&Health>().into_iter().map(|health| health.0).collect();
    assert_eq!(order, (0..1_600).collect::<Vec<_>>(), "folding follows the order of rows");
}

#[test]
fn an_empty_world_has_no_rows_for_any_query() {
    let mut world = World::new();
    assert!(world.view::<()>().is_empty());
    assert_eq!(world.view::<(Entity, &Health)>().count(), 0);
    assert_eq!(world.view::<Option<&Health>>().into_iter().next(), None);
    assert_eq!(world.view_mut::<&mut Position>().into_iter().count(), 0);
    assert_eq!(world.view_mut::<&mut Position>().chunks_mut().count(), 0);
    assert_eq!(world.view::<&Health>().tables().count(), 0);
    assert_eq!(visited::<Or<(Changed<Armour>, Without<Frozen>)>>(&world), []);
    assert_eq!(world.view::<&Health>().iter_combinations::<2>().count(), 0);
    assert_eq!(world.view::<&Health>().sort_by_key(|health| health.0).count(), 0);
}

#[test]
fn a_despawned_entity_leaves_every_query() {
    let mut world = World::new();
    let e = world.spawn((Health(1), position(2.0), Armour(3), Frozen)).id();
    let kept = world.spawn((Health(1), position(2.0), Armour(3), Frozen)).id();
    world.despawn(e);
    assert_eq!(visited::<()>(&world), [kept]);
    assert_eq!(visited::<With<Frozen>>(&world), [kept]);
    assert_eq!(visited::<Added<Armour>>(&world), [kept]);
    let query = world.view::<(Entity, &Health)>();
    assert!(!query.contains(e) && query.get(e).is_err());
    world.clear_entities();
    assert_eq!(visited::<()>(&world), []);
    assert_eq!(world.view::<&Health>().count(), 0);
}

#[test]
fn components_that_are_met_later_are_found_by_queries_that_asked_before() {
    #[derive(Component, Debug, PartialEq)]
    struct Late(u8);
    #[derive(Component)]
    struct LateTag;

    let mut world = World::new();
    let early = world.spawn(Health(1)).id();
    // Asked before the world has met them: read as absent, and both queries stay prepared.
    assert_eq!(world.view::<&Late>().count(), 0);
    assert_eq!(visited::<With<LateTag>>(&world), []);
    assert_eq!(visited::<Without<Late>>(&world), [early]);
    assert_eq!(visited::<Or<(With<Late>, With<LateTag>)>>(&world), []);
    assert_eq!(visited::<Or<(With<Late>, Without<LateTag>)>>(&world), [early]);
    let seen: Vec<_> = world.view::<(Entity, Option<&Late>, Has<LateTag>)>().into_iter().collect();
    assert_eq!(seen, [(early, None, false)]);
    assert_eq!(world.component_id::<Late>(), None, "asking does not register");

    let late = world.spawn((Late(2), LateTag)).id();
    assert_eq!(world.view::<&Late>().into_iter().collect::<Vec<_>>(), [&Late(2)]);
    assert_eq!(visited::<With<LateTag>>(&world), [late]);
    assert_eq!(visited::<Without<Late>>(&world), [early]);
    assert_eq!(visited::<Or<(With<Late>, With<LateTag>)>>(&world), [late]);
    assert_eq!(visited::<Or<(With<Late>, Without<LateTag>)>>(&world), [early, late]);
    world.entity_mut(early).insert(LateTag);
    assert_eq!(visited::<Or<(With<Late>, Without<LateTag>)>>(&world), [late]);
    let seen: Vec<_> = world.view::<(Entity, Option<&Late>, Has<LateTag>)>().into_iter().collect();
    assert_eq!(seen, [(late, Some(&Late(2)), true), (early, None, true)]);
}

#[test]
fn queries_iterate_by_value_by_reference_and_by_exclusive_reference() {
    let mut world = World::new();
    let a = world.spawn((Health(1), position(1.0))).id();
    let b = world.spawn((Health(2), position(2.0))).id();
    let mut query = world.view_mut::<(Entity, &mut Health)>();
    for (_, mut health) in &mut query {
        health.0 *= 10;
    }
    for (_, mut health) in query.reborrow() {
        health.0 += 1;
    }
    let readonly: Vec<u32> = query.as_readonly().into_iter().map(|(_, health)| health.0).collect();
    assert_eq!(readonly, [11, 21]);
    assert_eq!(entities(&query), [a, b]);
    let rows: Vec<(Entity, Mut<Health>)> = query.into_iter().collect();
    let rows: Vec<(Entity, u32)> = rows.into_iter().map(|(entity, health)| (entity, health.0)).collect();
    assert_eq!(rows, [(a, 11), (b, 21)]);
}

#[test]
fn all_items_of_a_writing_query_may_be_held_at_once() {
    let mut world = World::new();
    world.spawn_batch((0..3_u8).map(|n| position(f32::from(n))));
    world.spawn((position(3.0), Frozen));
    let mut rows: Vec<PositionMut<'_>> = world.view_mut::<&mut Position>().into_iter().collect();
    let sum: f32 = rows.iter().map(|row| *row.x).sum();
    for row in &mut rows {
        *row.x = sum;
    }
    assert!(world.view::<&Position>().into_iter().all(|pos| *pos.x == 6.0));
}

// O-174: several queries read one world side by side, on one thread or many.
#[test]
fn reading_queries_share_a_world() {
    let mut world = World::new();
    world.spawn_batch((0..100).map(|n| (Health(n), Velocity::default())));
    let (first, second) = (world.view::<&Health>(), world.view::<(Entity, &Health)>());
    for (a, (_, b)) in first.iter().zip(&second) {
        assert_eq!(a, b);
    }
    let world = &world;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // The first to ask prepares the query; the others find it.
                assert_eq!(world.view::<(&Velocity, &Health)>().count(), 100);
                assert_eq!(world.view_filtered::<Entity, Without<Name>>().into_iter().count(), 100);
                assert_eq!(second.iter().count(), 100);
            });
        }
    });
    assert_eq!(prepared(world).0, 4);
}
