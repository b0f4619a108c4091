//! Proves `Changed`, `Added` and `Ref` for components with row ticks: no false change, and none missed.
//!
//! A row is new when it came or was written after the query's moment, which is the world's last
//! `clear_trackers` unless the query says otherwise. Reading leaves no trace, moving a row takes its ticks
//! along, and every way of writing counts.

use crate::common::cast::{Armour, Boss, Burning, Frozen, Health, Label, Stunned, entities, label, visited};
use phalanx::prelude::{Added, Changed, Component, Entity, Mut, Or, Ref, Tick, With, Without, World};

fn armoured(world: &mut World, count: u32) -> Vec<Entity> {
    let ids = world.spawn_batch((0..count).map(Armour)).collect();
    world.clear_trackers();
    ids
}

#[test]
fn everything_is_new_until_trackers_are_cleared() {
    let mut world = World::new();
    let e = world.spawn((Armour(1), label("l"), Stunned)).id();
    assert_eq!(visited::<Added<Armour>>(&world), [e]);
    assert_eq!(visited::<Changed<Armour>>(&world), [e], "what came has changed");
    assert_eq!(visited::<(Added<Label>, Changed<Label>, Added<Stunned>)>(&world), [e]);
    world.clear_trackers();
    assert_eq!(visited::<Or<(Added<Armour>, Changed<Armour>, Changed<Label>, Changed<Stunned>)>>(&world), []);
    let later = world.spawn(Armour(2)).id();
    assert_eq!(visited::<Added<Armour>>(&world), [later]);
    world.clear_trackers();
    world.clear_trackers();
    assert_eq!(visited::<Added<Armour>>(&world), []);
}

#[test]
fn only_rows_that_are_written_have_changed() {
    let mut world = World::new();
    let ids = armoured(&mut world, 5);
    for mut armour in world.view_mut::<&mut Armour>() {
        if armour.0 == 1 || armour.0 == 3 {
            armour.0 += 10;
        }
    }
    assert_eq!(visited::<Changed<Armour>>(&world), [ids[1], ids[3]]);
    assert_eq!(visited::<Added<Armour>>(&world), [], "written is not added");
    let flags: Vec<(bool, bool)> = world
        .view::<Ref<Armour>>()
        .into_iter()
        .map(|armour| (armour.is_added(), armour.is_changed()))
        .collect();
    assert_eq!(flags, [(false, false), (false, true), (false, false), (false, true), (false, false)]);
}

#[test]
fn reading_leaves_no_trace() {
    let mut world = World::new();
    let ids = armoured(&mut world, 3);
    world.view::<&Armour>().into_iter().for_each(drop);
    world.view::<Ref<Armour>>().into_iter().for_each(drop);
    // Exclusive access that is not used to write.
    for armour in world.view_mut::<&mut Armour>() {
        assert!(armour.0 < 3);
    }
    let query = world.view_mut::<&mut Armour>();
    assert_eq!(query.iter().count() + query.chunks().count(), 4);
    assert!(world.get_mut::<Armour>(ids[0]).is_some_and(|armour| armour.0 == 0));
    assert!(world.view_mut::<&mut Armour>().get_many_mut([ids[0], ids[1]]).is_ok());
    assert_eq!(visited::<Changed<Armour>>(&world), []);
}

#[test]
fn exclusive_access_marks_a_row_when_it_is_used() {
    let mut world = World::new();
    let ids = armoured(&mut world, 6);
    fn at(world: &mut World, id: Entity) -> Mut<'_, Armour> {
        world.get_mut::<Armour>(id).expect("alive")
    }
    let born = at(&mut world, ids[0]).last_changed();
    at(&mut world, ids[0]).0 = 9;
    at(&mut world, ids[1]).set_changed();
    assert!(at(&mut world, ids[2]).set_if_neq(Armour(7)));
    assert!(!at(&mut world, ids[3]).set_if_neq(Armour(3)));
    at(&mut world, ids[4]).bypass_change_detection().0 = 5;
    at(&mut world, ids[5]).into_inner().0 = 6;
    assert_eq!(visited::<Changed<Armour>>(&world), [ids[0], ids[1], ids[2], ids[5]]);
    let values: Vec<u32> = world.view::<&Armour>().into_iter().map(|armour| armour.0).collect();
    assert_eq!(values, [9, 1, 7, 3, 5, 6]);
    assert_eq!(at(&mut world, ids[3]).last_changed(), born);
    let now = world.read_change_tick();
    assert_eq!(at(&mut world, ids[0]).last_changed(), now);
    assert!(now > born);
}

#[test]
fn every_way_of_writing_counts_as_change() {
    let ways: [(&str, fn(&mut World, Entity)); 9] = [
        ("row", |world, _| world.view_mut::<&mut Armour>().into_iter().for_each(|mut armour| armour.0 = 1)),
        ("chunk", |world, _| {
            world.view_mut::<&mut Armour>().chunks_mut().for_each(|rows| rows.fill(Armour(1)));
        }),
        ("table", |world, _| {
            let mut query = world.view_mut::<&mut Armour>();
            query.tables_mut().for_each(|table| table.rows().for_each(|mut armour| armour.0 = 1));
        }),
        ("parallel", |world, _| {
            world.view_mut::<&mut Armour>().par_iter_mut().small_below(0).for_each(|mut armour| armour.0 = 1);
        }),
        ("get_mut", |world, e| world.view_mut::<&mut Armour>().get_mut(e).expect("alive").0 = 1),
        ("iter_many_mut", |world, e| {
            world.view_mut::<&mut Armour>().iter_many_mut([e]).matched().fetch_next().expect("alive").0 = 1;
        }),
        ("sorted", |world, _| {
            world
                .view_mut::<&mut Armour>()
                .sort_by_key_mut(|armour| armour.0)
                .for_each(|mut armour| armour.0 = 1);
        }),
        ("insert", |world, e| {
            world.entity_mut(e).insert(Armour(1));
        }),
        ("entity", |world, e| world.entity_mut(e).get_mut::<Armour>().expect("it has one").0 = 1),
    ];
    for (way, write) in ways {
        let mut world = World::new();
        let e = armoured(&mut world, 1)[0];
        write(&mut world, e);
        assert_eq!(world.get::<Armour>(e), Some(&Armour(1)), "{way}");
        assert_eq!(visited::<Changed<Armour>>(&world), [e], "{way}");
        assert_eq!(visited::<Added<Armour>>(&world), [], "{way}");
        world.clear_trackers();
        assert_eq!(visited::<Changed<Armour>>(&world), [], "{way}");
    }
}

// Fields are plain references, which cannot tell whether they are used: asking for them counts.
#[test]
fn exclusive_access_to_fields_counts_as_change() {
    use crate::common::cast::label as field;
    let ways: [(&str, fn(&mut World, Entity)); 6] = [
        ("row", |world, e| *world.get_mut::<Label>(e).expect("alive").size = 2),
        ("field", |world, e| *world.get_mut::<field::size>(e).expect("alive") = 2),
        ("query", |world, _| world.view_mut::<&mut Label>().into_iter().for_each(|tag| *tag.size = 2)),
        ("field query", |world, _| {
            world.view_mut::<&mut field::size>().into_iter().for_each(|size| *size = 2);
        }),
        ("chunk", |world, _| world.view_mut::<&mut Label>().chunks_mut().for_each(|tags| tags.size.fill(2))),
        ("by name", |world, e| {
            let id = world.component_id::<Label>().expect("registered");
            world.set_field(e, id, "size", 2_u8).expect("it fits");
        }),
    ];
    for (way, write) in ways {
        let mut world = World::new();
        let e = world.spawn(label("l")).id();
        world.clear_trackers();
        assert_eq!(visited::<Changed<Label>>(&world), [], "{way}");
        write(&mut world, e);
        assert_eq!(world.get::<field::size>(e), Some(&2), "{way}");
        assert_eq!(visited::<Changed<Label>>(&world), [e], "{way}");
        assert_eq!(visited::<Added<Label>>(&world), [], "{way}");
    }
    let mut world = World::new();
    let e = world.spawn(label("l")).id();
    world.clear_trackers();
    assert!(world.get::<Label>(e).is_some());
    assert_eq!(world.view::<(&Label, &field::size)>().count(), 1);
    assert_eq!(visited::<Changed<Label>>(&world), [], "shared access does not count");
}

#[test]
fn a_component_that_comes_is_added_and_one_that_is_replaced_is_not() {
    let mut world = World::new();
    let e = armoured(&mut world, 1)[0];
    world.entity_mut(e).insert(Armour(2));
    assert_eq!(visited::<Added<Armour>>(&world), [], "it was there before");
    assert_eq!(visited::<Changed<Armour>>(&world), [e]);
    world.clear_trackers();
    world.entity_mut(e).insert_if_new(Armour(3));
    assert_eq!(visited::<Changed<Armour>>(&world), [], "nothing was written");
    world.entity_mut(e).insert((Armour(4), Frozen));
    assert_eq!(visited::<Added<Armour>>(&world), [], "replaced on the way to another archetype");
    assert_eq!(visited::<Changed<Armour>>(&world), [e]);
    world.clear_trackers();
    world.entity_mut(e).remove::<Armour>();
    world.entity_mut(e).insert(Armour(5));
    assert_eq!(visited::<Added<Armour>>(&world), [e], "it went, and came again");
}

#[test]
fn rows_keep_their_ticks_wherever_they_move() {
    let mut world = World::new();
    let ids = armoured(&mut world, 4);
    let born = world.last_change_tick();
    world.get_mut::<Armour>(ids[3]).expect("alive").0 = 9;
    let written = world.read_change_tick();
    world.increment_change_tick();
    // The last row takes the place of the first; another goes to a new archetype and back.
    world.despawn(ids[0]);
    world.entity_mut(ids[1]).insert((Frozen, Health(1)));
    world.entity_mut(ids[1]).remove::<Frozen>();
    world.entity_mut(ids[2]).insert(Boss);
    let archetype = world.archetype_of(ids[2]).expect("alive");
    world.insert_into_archetype(archetype, &Burning);
    assert_eq!(visited::<Changed<Armour>>(&world), [ids[3]]);
    let query = world.view::<(Entity, Ref<Armour>)>();
    let mut ticks: Vec<(Entity, Tick, Tick)> =
        query.iter().map(|(id, armour)| (id, armour.added(), armour.last_changed())).collect();
    ticks.sort_unstable();
    assert_eq!(ticks, [(ids[1], born, born), (ids[2], born, born), (ids[3], born, written)]);
    world.shrink_to_fit();
    assert_eq!(visited::<Changed<Armour>>(&world), [ids[3]]);
}

#[test]
fn whole_archetypes_are_tracked_row_by_row() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..3).map(Health)).collect();
    world.clear_trackers();
    let archetype = world.archetype_of(ids[0]).expect("alive");
    world.insert_into_archetype(archetype, &Armour(1));
    assert_eq!(visited::<Added<Armour>>(&world), ids);
    world.clear_trackers();
    let archetype = world.archetype_of(ids[0]).expect("alive");
    world.insert_into_archetype(archetype, &Armour(2));
    assert_eq!(visited::<Changed<Armour>>(&world), ids, "replaced in place");
    assert_eq!(visited::<Added<Armour>>(&world), []);
    world.clear_trackers();
    world.insert_into_archetype(archetype, &(Armour(3), Frozen));
    assert_eq!(visited::<Changed<Armour>>(&world), ids, "replaced on the way");
    assert_eq!(visited::<Added<Armour>>(&world), []);
    world.clear_trackers();
    let archetype = world.archetype_of(ids[0]).expect("alive");
    world.remove_from_archetype::<Frozen>(archetype);
    assert_eq!(visited::<Changed<Armour>>(&world), []);
}

#[test]
fn required_components_are_added_when_they_come_along() {
    #[derive(Component)]
    #[require(Armour(7))]
    struct Knight;

    let mut world = World::new();
    let old = world.spawn(Armour(1)).id();
    world.clear_trackers();
    world.entity_mut(old).insert(Knight);
    let new = world.spawn(Knight).id();
    assert_eq!(visited::<Added<Armour>>(&world), [new], "the old one had its own");
    assert_eq!(world.get::<Armour>(new), Some(&Armour(7)));
    assert_eq!(visited::<Changed<Armour>>(&world), [new]);
}

#[test]
fn tags_have_ticks_too() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    world.clear_trackers();
    world.entity_mut(e).insert(Stunned);
    assert_eq!(visited::<(Added<Stunned>, Changed<Stunned>)>(&world), [e]);
    world.clear_trackers();
    assert_eq!(visited::<Changed<Stunned>>(&world), []);
    world.get_mut::<Stunned>(e).expect("it has one").set_changed();
    assert_eq!(visited::<Changed<Stunned>>(&world), [e]);
    assert_eq!(visited::<Added<Stunned>>(&world), []);
}

// Hazard 28, row by row: each alternative of an `Or` is asked for itself, also where another one is absent.
#[test]
fn row_filters_combine_with_each_other_and_with_archetype_filters() {
    let mut world = World::new();
    let both = world.spawn((Armour(1), label("l"))).id();
    let armour = world.spawn(Armour(2)).id();
    let tag = world.spawn(label("m")).id();
    let neither = world.spawn(Health(1)).id();
    let frozen = world.spawn((Armour(3), Frozen)).id();
    let rowless = world.spawn_empty().id();
    world.clear_trackers();
    world.get_mut::<Armour>(both).expect("alive").0 += 1;
    world.get_mut::<Armour>(frozen).expect("alive").0 += 1;
    *world.get_mut::<Label>(tag).expect("alive").size += 1;
    let added = world.spawn((Armour(4), label("n"))).id();

    assert_eq!(visited::<(Changed<Armour>, Changed<Label>)>(&world), [added]);
    assert_eq!(visited::<Or<(Changed<Armour>, Changed<Label>)>>(&world), [both, added, tag, frozen]);
    assert_eq!(visited::<(Changed<Armour>, Without<Frozen>)>(&world), [both, added]);
    assert_eq!(visited::<(Changed<Armour>, With<Frozen>)>(&world), [frozen]);
    assert_eq!(
        visited::<Or<(Changed<Armour>, Without<Armour>)>>(&world),
        [both, added, tag, neither, frozen, rowless]
    );
    assert_eq!(visited::<Or<(Added<Label>, With<Frozen>)>>(&world), [added, frozen]);
    assert_eq!(
        visited::<Or<((Changed<Armour>, With<Label>), (Without<Label>, With<Health>))>>(&world),
        [both, added, neither]
    );
    assert_eq!(
        visited::<Or<(Or<(With<Health>, With<Frozen>)>, Added<Armour>)>>(&world),
        [added, neither, frozen]
    );
    assert_eq!(
        visited::<(Or<(With<Label>, Without<Armour>)>, Or<(Changed<Label>, With<Health>)>)>(&world),
        [added, tag, neither]
    );
    assert_eq!(
        visited::<Or<(Or<()>, Changed<Label>)>>(&world),
        [added, tag],
        "an empty `Or` holds for nothing"
    );
    assert_eq!(
        visited::<Or<((), Changed<Label>)>>(&world),
        [both, added, armour, tag, neither, frozen, rowless]
    );
    // The data has no say in it.
    let query = world.view_filtered::<(Entity, Option<Ref<Armour>>), Or<(Changed<Label>, With<Health>)>>();
    assert_eq!(entities(&query), [added, tag, neither]);
}

#[test]
fn a_query_may_choose_its_own_moment() {
    let mut world = World::new();
    let a = world.spawn(Armour(1)).id();
    let first = world.read_change_tick();
    world.increment_change_tick();
    let b = world.spawn(Armour(2)).id();
    let second = world.read_change_tick();
    world.increment_change_tick();
    world.get_mut::<Armour>(a).expect("alive").0 = 3;
    let third = world.read_change_tick();
    let since = |tick: Tick| -> (Vec<Entity>, Vec<Entity>) {
        let changed = world.view_filtered::<Entity, Changed<Armour>>().since(tick);
        let added = world.view_filtered::<Entity, Added<Armour>>().since(tick);
        assert_eq!(changed.count(), changed.iter().count());
        assert_eq!(changed.is_empty(), changed.iter().next().is_none());
        assert!([a, b].iter().all(|&id| changed.contains(id) == changed.iter().any(|other| other == id)));
        (changed.into_iter().collect(), added.into_iter().collect())
    };
    assert_eq!(since(Tick::ZERO), (vec![a, b], vec![a, b]));
    assert_eq!(since(first), (vec![a, b], vec![b]));
    assert_eq!(since(second), (vec![a], vec![]));
    assert_eq!(since(third), (vec![], vec![]));
    let query = world.view::<Ref<Armour>>().since(second);
    assert_eq!(query.iter().map(|armour| armour.is_changed()).collect::<Vec<_>>(), [true, false]);
    // A moment passes on to every form of the query.
    let mut query = world.view_filtered_mut::<(Entity, &Armour), Changed<Armour>>().since(second);
    assert_eq!(query.as_readonly().iter().count() + query.reborrow().into_iter().count(), 2);
    assert_eq!(query.iter_mut().map(|(id, _)| id).collect::<Vec<_>>(), [a]);
    assert_eq!((query.contains(a), query.contains(b)), (true, false));
}

#[test]
fn kept_states_use_the_worlds_moment_at_each_run() {
    let mut world = World::new();
    let mut state = world.query_filtered::<Entity, Changed<Armour>>();
    let ids: Vec<Entity> = world.spawn_batch((0..3).map(Armour)).collect();
    assert_eq!(state.iter(&world).collect::<Vec<_>>(), ids);
    world.clear_trackers();
    assert_eq!(state.iter(&world).count(), 0);
    world.get_mut::<Armour>(ids[1]).expect("alive").0 = 9;
    assert_eq!(state.iter(&world).collect::<Vec<_>>(), [ids[1]]);
    assert_eq!(state.query(&world).since(Tick::ZERO).count(), 3);
}

// A filter looks at a row's ticks before the row is lent out, so the same query may write them.
#[test]
fn rows_that_changed_can_be_written_by_the_query_that_found_them() {
    let mut world = World::new();
    let ids = armoured(&mut world, 5);
    let tag = world.spawn((Armour(9), label("l"))).id();
    world.get_mut::<Armour>(ids[1]).expect("alive").0 = 10;
    world.get_mut::<Armour>(ids[3]).expect("alive").0 = 30;
    let mut query = world.view_filtered_mut::<(Entity, &mut Armour), Changed<Armour>>();
    for (_, mut armour) in &mut query {
        armour.0 += 1;
    }
    query.iter_mut().for_each(|(_, mut armour)| armour.0 += 1);
    query.get_mut(ids[3]).expect("it changed").1.0 += 1;
    assert!(query.get_mut(ids[0]).is_err());
    let seen: Vec<(Entity, u32)> = query.iter().map(|(id, armour)| (id, armour.0)).collect();
    assert_eq!(seen, [(ids[1], 12), (ids[3], 33), (tag, 11)]);
    world.clear_trackers();
    let mut query =
        world.view_filtered_mut::<(&mut Armour, &mut Label), Or<(Changed<Armour>, Added<Label>)>>();
    assert_eq!(query.iter_mut().count(), 0);
    world.get_mut::<Armour>(tag).expect("alive").set_changed();
    let mut query =
        world.view_filtered_mut::<(&mut Armour, &mut Label), Or<(Changed<Armour>, Added<Label>)>>();
    query.par_iter_mut().small_below(0).for_each(|(mut armour, tag)| armour.0 = u32::from(*tag.size));
    assert_eq!(world.get::<Armour>(tag), Some(&Armour(1)));
}

#[test]
fn row_filters_see_beyond_the_first_block() {
    let mut world = World::new();
    let ids = armoured(&mut world, 2_500);
    for &at in &[0, 1_023, 1_024, 2_047, 2_048, 2_499] {
        world.get_mut::<Armour>(ids[at]).expect("alive").0 += 1;
    }
    let expected = [0, 1_023, 1_024, 2_047, 2_048, 2_499].map(|at| ids[at]);
    assert_eq!(visited::<Changed<Armour>>(&world), expected);
    assert_eq!(world.view_filtered::<(), Changed<Armour>>().count(), 6);
}
