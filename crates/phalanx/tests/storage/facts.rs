//! What a world does, whatever kind of storage its components have.
//!
//! The components come from the module above, which says where they live. Entities are compared as sets, because
//! their order may depend on the storage; the last fact is about order, and says how it differs.

use phalanx::prelude::*;
use phalanx::query::{QueryEntityError, QuerySingleError};

use super::{Anchor, Armour, Frozen, Health, KIND, Label, Mage, Name, Position, Wide, label, position};

const SPARSE: bool = !matches!(KIND, StorageKind::Table);

fn name(text: &str) -> Name {
    Name(text.to_owned())
}

fn at(x: f32) -> Position {
    Position { x, y: -x }
}

fn sticker(text: &str) -> Label {
    Label { text: text.to_owned(), size: 1 }
}

#[track_caller]
fn checked(world: &World) {
    world.check().expect("the world is consistent");
}

/// The entities that a filter leaves, by row, by fold and by count, as a set.
#[track_caller]
fn visited<F: QueryFilter + 'static>(world: &World) -> Vec<Entity> {
    let query = world.view_filtered::<Entity, F>();
    let mut rows = Vec::new();
    for entity in &query {
        rows.push(entity);
    }
    let mut folded = Vec::new();
    query.iter().for_each(|entity| folded.push(entity));
    assert_eq!(rows, folded);
    assert_eq!((query.count(), query.is_empty()), (rows.len(), rows.is_empty()));
    for entity in world.entities().iter() {
        let is_in = rows.contains(&entity);
        assert_eq!((query.contains(entity), query.get(entity).is_ok()), (is_in, is_in));
        assert_eq!(query.why_not(entity).is_none(), is_in);
    }
    rows.sort_unstable();
    rows
}

/// One entity per combination of four components.
fn sixteen() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let ids = (0u32..16).map(|n| {
        let mut e = world.spawn_empty();
        if n & 1 != 0 {
            e.insert(Health(n));
        }
        if n & 2 != 0 {
            e.insert(at(4.0));
        }
        if n & 4 != 0 {
            e.insert(Frozen);
        }
        if n & 8 != 0 {
            e.insert(Anchor(n));
        }
        e.id()
    });
    let ids = ids.collect();
    checked(&world);
    (world, ids)
}

fn those(ids: &[Entity], keep: impl Fn(usize) -> bool) -> Vec<Entity> {
    ids.iter().copied().enumerate().filter(|&(n, _)| keep(n)).map(|(_, e)| e).collect()
}

#[test]
fn the_switch_is_where_it_should_be() {
    let mut world = World::new();
    let id = world.register_component::<Health>();
    assert_eq!(world.components().get_info(id).unwrap().storage(), KIND);
    let e = world.spawn((Health(1), at(1.0), Frozen, Wide(1))).id();
    assert_eq!(world.archetype_of(e) == Some(phalanx::archetype::ArchetypeId::EMPTY), SPARSE);
}

#[test]
fn spawned_components_are_read_back() {
    let mut world = World::new();
    let e = world.spawn((Health(3), at(2.0), name("e"), Frozen, Armour(1), sticker("s"), Wide(9))).id();
    let f = world.spawn((Anchor(1), Health(4))).id();
    assert_eq!(world.get::<Health>(e), Some(&Health(3)));
    assert_eq!(world.get::<Position>(e).unwrap().get(), at(2.0));
    assert_eq!(world.get::<position::x>(e), Some(&2.0));
    assert_eq!(world.get::<Name>(e), Some(&name("e")));
    assert_eq!(world.get::<Frozen>(e), Some(&Frozen));
    assert_eq!(world.get::<label::text>(e).map(String::as_str), Some("s"));
    let wide = world.get::<Wide>(e).unwrap();
    assert_eq!((wide.0, std::ptr::from_ref(wide).addr() % 64), (9, 0));
    assert_eq!((world.get::<Health>(f), world.get::<Name>(f)), (Some(&Health(4)), None));
    assert!(world.entity(e).contains::<Armour>() && !world.entity(f).contains::<Armour>());
    assert_eq!((world.entity(e).component_ids().count(), world.entity(f).component_ids().count()), (7, 2));
    assert_eq!(format!("{:?}", world.entity(f)).matches("Health").count(), 1);
    checked(&world);
}

#[test]
fn a_dead_entity_has_nothing_and_takes_nothing() {
    let mut world = World::new();
    let e = world.spawn((Health(1), name("gone"))).id();
    let other = world.spawn((Health(2), name("stays"))).id();
    assert!(world.despawn(e) && !world.despawn(e));
    assert!(world.get::<Health>(e).is_none() && world.get_mut::<Name>(e).is_none());
    assert!(world.insert(e, Health(3)).is_err() && world.remove::<Health>(e).is_err());
    assert!(world.take::<Health>(e).is_none() && world.retain::<Health>(e).is_err());
    assert!(!world.all_of::<Health>(e) && !world.any_of::<Health>(e) && !world.is_orphan(e));
    assert!(world.patch::<Health>(e, |_| {}).is_err() && world.get_entity(e).is_err());
    assert_eq!(world.view::<&Health>().get(e), Err(QueryEntityError::NoSuchEntity { entity: e }));
    // The index is used again; the old id stays dead.
    let again = world.spawn(Health(9)).id();
    assert_eq!(again.index(), e.index());
    assert!(world.get::<Health>(e).is_none() && world.get::<Name>(again).is_none());
    assert_eq!(world.get::<Name>(other), Some(&name("stays")));
    checked(&world);
}

#[test]
fn inserting_adds_or_replaces() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    world.insert(e, (Health(2), name("new"), Anchor(5))).unwrap();
    assert_eq!((world.get::<Health>(e), world.get::<Name>(e)), (Some(&Health(2)), Some(&name("new"))));
    world.entity_mut(e).insert_if_new((Health(3), at(1.0), name("old")));
    assert_eq!((world.get::<Health>(e), world.get::<Name>(e)), (Some(&Health(2)), Some(&name("new"))));
    assert_eq!(world.get::<position::y>(e), Some(&-1.0));
    world.insert(e, ()).unwrap();
    assert_eq!(world.entity(e).component_ids().count(), 4);
    checked(&world);
}

#[test]
fn removing_takes_what_is_there_and_minds_nothing_else() {
    let mut world = World::new();
    let ids: Vec<Entity> =
        (0..5).map(|n| world.spawn((Health(n), name(&n.to_string()), Anchor(n))).id()).collect();
    for &e in &[ids[0], ids[2], ids[4]] {
        world.remove::<(Health, Frozen)>(e).unwrap();
        checked(&world);
    }
    for (n, &e) in (0..).zip(&ids) {
        assert_eq!(world.get::<Health>(e).map(|health| health.0), (n % 2 == 1).then_some(n));
        assert_eq!(world.get::<Name>(e), Some(&name(&n.to_string())));
        assert_eq!(world.get::<Anchor>(e), Some(&Anchor(n)));
    }
    world.remove::<Health>(ids[0]).unwrap();
    let id = world.component_id::<Name>().unwrap();
    assert!(world.remove_by_id(ids[1], id).unwrap() && !world.remove_by_id(ids[1], id).unwrap());
    assert_eq!(world.get::<Name>(ids[1]), None);
    checked(&world);
}

#[test]
fn taking_is_all_or_nothing() {
    let mut world = World::new();
    let e = world.spawn((Health(1), at(3.0), name("e"))).id();
    assert!(world.take::<(Health, Frozen)>(e).is_none());
    assert_eq!(world.get::<Health>(e), Some(&Health(1)), "nothing happened");
    assert_eq!(world.take::<(Health, Position)>(e), Some((Health(1), at(3.0))));
    assert_eq!(world.entity(e).component_ids().count(), 1);
    assert_eq!(world.entity_mut(e).take::<Name>(), Some(name("e")));
    assert!(world.is_orphan(e));
    checked(&world);
}

#[test]
fn retaining_and_clearing_drop_the_rest() {
    let mut world = World::new();
    let e = world.spawn((Health(1), at(3.0), name("e"), Anchor(1), Frozen)).id();
    world.retain::<(Health, Frozen, Armour)>(e).unwrap();
    assert!(world.all_of::<(Health, Frozen)>(e) && !world.any_of::<(Position, Name, Anchor)>(e));
    world.entity_mut(e).clear();
    assert!(world.contains(e) && world.is_orphan(e));
    world.insert(e, Health(2)).unwrap();
    assert_eq!(world.get::<Health>(e), Some(&Health(2)));
    checked(&world);
}

#[test]
fn values_are_written_in_place() {
    let mut world = World::new();
    let e = world.spawn((Health(1), at(1.0), sticker("a"))).id();
    world.get_mut::<Health>(e).unwrap().0 = 5;
    *world.get_mut::<position::x>(e).unwrap() = 8.0;
    world.get_mut::<Label>(e).unwrap().text.push('!');
    world.patch::<Health>(e, |mut health| health.0 += 1).unwrap();
    world.entity_mut(e).patch::<Position>(|position| *position.y = 2.0).unwrap();
    assert!(world.patch::<Name>(e, |_| unreachable!("it has none")).is_err());
    assert_eq!(world.get::<Health>(e), Some(&Health(6)));
    assert_eq!(world.get::<Position>(e).unwrap().get(), Position { x: 8.0, y: 2.0 });
    assert_eq!(world.get::<label::text>(e).unwrap(), "a!");
}

#[test]
fn despawning_any_row_leaves_the_others_right() {
    for gone in 0..4 {
        let mut world = World::new();
        let ids: Vec<Entity> =
            (0..4).map(|n| world.spawn((Health(n), name(&n.to_string()), Frozen)).id()).collect();
        assert!(world.despawn(ids[gone]));
        for (n, &e) in ids.iter().enumerate().filter(|(n, _)| *n != gone) {
            assert_eq!(world.get::<Name>(e), Some(&name(&n.to_string())));
        }
        assert_eq!(world.view::<(&Health, &Name, &Frozen)>().count(), 3);
        checked(&world);
    }
}

#[test]
fn batches_do_what_single_calls_do() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..40).map(|n| (Health(n), at(1.0)))).collect();
    assert_eq!(ids.len(), 40);
    assert_eq!(world.get::<Health>(ids[17]), Some(&Health(17)));
    world.despawn(ids[0]);
    let named = ids.iter().step_by(2).map(|&e| (e, name("even")));
    assert_eq!(world.insert_batch(named), 19, "the dead one is skipped");
    assert_eq!(world.view::<&Name>().count(), 19);
    assert_eq!(world.remove_batch::<Position>(ids.iter().copied().take(10)), 9);
    assert_eq!(visited::<With<Position>>(&world).len(), 30);
    assert_eq!(world.despawn_batch(ids.iter().copied().skip(30)), 10);
    assert_eq!((world.entities().len(), world.view::<&Health>().count()), (29, 29));
    assert_eq!(world.spawn_batch((0..3).map(|_| ())).count(), 3);
    checked(&world);
}

#[test]
fn whole_archetypes_are_changed_at_once() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..5).map(|n| world.spawn((Anchor(n), Health(n))).id()).collect();
    let other = world.spawn((Health(9), name("other"))).id();
    let archetype = world.archetype_of(ids[0]).unwrap();
    assert_eq!(world.insert_into_archetype(archetype, &(name("all"), Health(1))), 5);
    assert!(ids.iter().all(|&e| world.get::<Name>(e) == Some(&name("all"))));
    assert!(ids.iter().all(|&e| world.get::<Health>(e) == Some(&Health(1))));
    let archetype = world.archetype_of(ids[0]).unwrap();
    assert_eq!(world.remove_from_archetype::<(Health, Name)>(archetype), 5);
    assert!(ids.iter().all(|&e| world.entity(e).component_ids().count() == 1));
    assert_eq!(world.get::<Health>(other), Some(&Health(9)));
    checked(&world);
}

#[test]
fn commands_do_later_what_calls_do_now() {
    for order in [FlushOrder::Recorded, FlushOrder::Staged] {
        let mut world = World::new();
        world.set_flush_order(order);
        let e = world.spawn((Health(1), Anchor(1))).id();
        let gone = world.spawn(Health(2)).id();
        let mut commands = world.commands();
        let new = commands.spawn((Health(3), name("new"))).id();
        commands.entity(e).insert((name("e"), Health(5))).remove::<Anchor>().insert(at(1.0));
        commands.entity(gone).insert(Frozen).despawn();
        commands.entity(new).insert_if_new(Health(9)).insert(Frozen);
        commands.spawn_batch((0..3).map(Health));
        commands.queue(|world: &mut World| assert!(world.entities().len() >= 2));
        assert!(world.get::<Name>(e).is_none(), "not yet");
        world.flush();
        assert_eq!((world.get::<Health>(e), world.get::<Name>(e)), (Some(&Health(5)), Some(&name("e"))));
        assert_eq!((world.get::<Anchor>(e), world.get::<position::x>(e)), (None, Some(&1.0)));
        assert_eq!((world.get::<Health>(new), world.get::<Frozen>(new)), (Some(&Health(3)), Some(&Frozen)));
        assert!(!world.contains(gone));
        assert_eq!(world.view::<&Health>().count(), 5);
        world.commands().entity(gone).insert(Health(1));
        world.flush();
        assert!(world.get::<Health>(gone).is_none(), "skipped");
        checked(&world);
    }
}

#[test]
fn filters_keep_exactly_their_combinations() {
    let (world, ids) = sixteen();
    let (health, pos, frozen, anchor) =
        (|n: usize| n & 1 != 0, |n: usize| n & 2 != 0, |n: usize| n & 4 != 0, |n: usize| n & 8 != 0);
    assert_eq!(visited::<()>(&world), ids);
    assert_eq!(visited::<With<Health>>(&world), those(&ids, health));
    assert_eq!(visited::<Without<Health>>(&world), those(&ids, |n| !health(n)));
    assert_eq!(
        visited::<(With<Health>, Without<Frozen>, With<Anchor>)>(&world),
        those(&ids, |n| health(n) && !frozen(n) && anchor(n))
    );
    assert_eq!(visited::<Or<(With<Health>, With<Anchor>)>>(&world), those(&ids, |n| health(n) || anchor(n)));
    assert_eq!(
        visited::<Or<(Without<Health>, Without<Anchor>)>>(&world),
        those(&ids, |n| !health(n) || !anchor(n))
    );
    assert_eq!(
        visited::<Or<((With<Health>, Without<Position>), With<Frozen>)>>(&world),
        those(&ids, |n| (health(n) && !pos(n)) || frozen(n))
    );
    assert_eq!(
        visited::<(Or<(With<Health>, With<Anchor>)>, Or<(With<Position>, With<Frozen>)>)>(&world),
        those(&ids, |n| (health(n) || anchor(n)) && (pos(n) || frozen(n)))
    );
    assert_eq!(visited::<(With<Name>,)>(&world), [], "a component that nobody has");
    assert_eq!(visited::<Without<Name>>(&world), ids);
}

#[test]
fn data_is_yielded_for_entities_that_have_it() {
    let (mut world, ids) = sixteen();
    let mut seen: Vec<(Entity, u32, bool, bool)> = world
        .view::<(Entity, &Health, Option<&Position>, Has<Frozen>)>()
        .into_iter()
        .map(|(e, health, position, frozen)| (e, health.0, position.is_some(), frozen))
        .collect();
    seen.sort_unstable();
    let expected: Vec<(Entity, u32, bool, bool)> =
        (0u32..16).filter(|n| n & 1 != 0).map(|n| (ids[n as usize], n, n & 2 != 0, n & 4 != 0)).collect();
    assert_eq!(seen, expected);
    for (mut health, anchor) in world.view_mut::<(&mut Health, Option<&mut Anchor>)>() {
        health.0 += 100;
        if let Some(mut anchor) = anchor {
            anchor.0 = health.0;
        }
    }
    assert_eq!(world.get::<Health>(ids[5]), Some(&Health(105)));
    assert_eq!(world.get::<Anchor>(ids[9]), Some(&Anchor(109)));
    assert_eq!(world.get::<Anchor>(ids[8]), Some(&Anchor(8)));
    for x in world.view_filtered_mut::<&mut position::x, Without<Anchor>>() {
        *x = 9.0;
    }
    assert_eq!(world.view::<&position::x>().iter().filter(|x| **x == 9.0).count(), 4);
    let sum: u32 = world.view::<&Health>().iter().map(|health| health.0).sum();
    let parallel = world.view::<&Health>().par_iter().small_below(0).map_reduce(|| 0, |h| h.0, |a, b| a + b);
    assert_eq!(sum, parallel);
}

#[test]
fn single_entities_are_found_through_queries() {
    let (mut world, ids) = sixteen();
    let query = world.view_filtered::<&Health, With<Frozen>>();
    assert_eq!(query.get(ids[5]), Ok(&Health(5)));
    assert!(query.get(ids[1]).is_err() && query.get(ids[4]).is_err());
    let why = query.get(ids[1]).unwrap_err().to_string();
    assert!(why.contains("it fails `with Frozen`"), "{why}");
    assert_eq!(query.get_many([ids[7], ids[5]]), Ok([&Health(7), &Health(5)]));
    assert!(query.get_many([ids[7], ids[1]]).is_err());
    let list = [ids[5], ids[0], ids[5], ids[7]];
    assert_eq!(query.iter_many(list).matched().map(|health| health.0).collect::<Vec<_>>(), [5, 5, 7]);
    let mut query = world.view_mut::<&mut Health>();
    let [mut a, mut b] = query.get_many_mut([ids[1], ids[3]]).unwrap();
    std::mem::swap(&mut *a, &mut *b);
    assert!(matches!(query.get_many_mut([ids[1], ids[1]]), Err(QueryEntityError::Repeated { .. })));
    let mut many = query.iter_many_mut([ids[1], ids[2], ids[1]]).matched();
    while let Some(mut health) = many.fetch_next() {
        health.0 += 10;
    }
    assert_eq!(
        (world.get::<Health>(ids[1]), world.get::<Health>(ids[3])),
        (Some(&Health(23)), Some(&Health(1)))
    );
}

#[test]
fn single_wants_exactly_one() {
    let mut world = World::new();
    assert!(matches!(world.view::<&Health>().single(), Err(QuerySingleError::NoEntities(_))));
    let e = world.spawn((Health(1), Anchor(1))).id();
    assert_eq!(world.view::<(Entity, &Health)>().single(), Ok((e, &Health(1))));
    world.view_mut::<&mut Health>().single_mut().unwrap().0 = 2;
    world.spawn(Health(3));
    assert!(matches!(world.view::<&Health>().single(), Err(QuerySingleError::MultipleEntities(_))));
    assert_eq!(world.view_filtered::<&Health, With<Anchor>>().single(), Ok(&Health(2)));
}

#[test]
fn combinations_and_sorting_see_every_match() {
    let mut world = World::new();
    for n in [3, 1, 2] {
        world.spawn((Health(n), Frozen));
    }
    world.spawn(Health(9));
    let query = world.view_filtered::<&Health, With<Frozen>>();
    let mut sums: Vec<u32> = query.iter_combinations::<2>().map(|[a, b]| a.0 + b.0).collect();
    sums.sort_unstable();
    assert_eq!(sums, [3, 4, 5]);
    assert_eq!(query.sort_by_key(|health| health.0).map(|health| health.0).collect::<Vec<_>>(), [1, 2, 3]);
    let mut query = world.view_filtered_mut::<&mut Health, With<Frozen>>();
    let mut choices = query.iter_combinations_mut::<2>();
    let mut count = 0;
    while let Some([mut a, mut b]) = choices.fetch_next() {
        std::mem::swap(&mut *a, &mut *b);
        count += 1;
    }
    assert_eq!(count, 3);
}

#[test]
fn row_ticks_tell_what_came_and_what_changed() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..4).map(|n| world.spawn((Armour(n), sticker("s"), Anchor(n))).id()).collect();
    assert_eq!(visited::<Added<Armour>>(&world), ids);
    world.clear_trackers();
    assert_eq!(visited::<Or<(Added<Armour>, Changed<Label>)>>(&world), []);
    world.get_mut::<Armour>(ids[1]).unwrap().0 = 9;
    assert_eq!(world.get_mut::<Armour>(ids[2]).unwrap().0, 2, "reading leaves no trace");
    *world.get_mut::<label::size>(ids[3]).unwrap() = 5;
    assert_eq!(visited::<Changed<Armour>>(&world), [ids[1]]);
    assert_eq!(visited::<Changed<Label>>(&world), [ids[3]]);
    assert_eq!(visited::<Or<(Changed<Armour>, Changed<Label>)>>(&world), [ids[1], ids[3]]);
    world.insert(ids[0], Armour(7)).unwrap();
    assert_eq!(visited::<Changed<Armour>>(&world), [ids[0], ids[1]], "replacing changes");
    assert_eq!(visited::<Added<Armour>>(&world), [], "and adds nothing");
    let late = world.spawn(Armour(5)).id();
    assert_eq!(visited::<Added<Armour>>(&world), [late]);
    world.despawn(ids[0]);
    assert_eq!(visited::<Changed<Armour>>(&world), [ids[1], late], "ticks go with their rows");
    let fresh: Vec<Entity> = world
        .view::<(Entity, Ref<Armour>)>()
        .iter()
        .filter(|(_, armour)| armour.is_added())
        .map(|(e, _)| e)
        .collect();
    assert_eq!(fresh, [late]);
    let since = world.read_change_tick();
    world.increment_change_tick();
    world.get_mut::<Armour>(late).unwrap().0 = 6;
    assert_eq!(world.view_filtered::<Entity, Changed<Armour>>().since(since).single(), Ok(late));
    checked(&world);
}

#[test]
fn required_components_come_along_where_they_are_missing() {
    let mut world = World::new();
    let mage = world.spawn(Mage).id();
    assert_eq!((world.get::<Health>(mage), world.get::<Anchor>(mage)), (Some(&Health(7)), Some(&Anchor(1))));
    assert_eq!(world.get::<label::text>(mage).unwrap(), "mage");
    let hurt = world.spawn((Mage, Health(1))).id();
    assert_eq!(world.get::<Health>(hurt), Some(&Health(1)), "what is given wins");
    let late = world.spawn((Health(2), Anchor(9))).id();
    world.insert(late, Mage).unwrap();
    assert_eq!((world.get::<Health>(late), world.get::<Anchor>(late)), (Some(&Health(2)), Some(&Anchor(9))));
    assert_eq!(world.get::<label::size>(late), Some(&3));
    world.remove::<Mage>(late).unwrap();
    assert!(world.get::<Label>(late).is_some(), "removing removes nothing else");
    let ordered = world.commands().spawn((Mage, name("later"))).id();
    world.flush();
    assert_eq!(world.get::<Health>(ordered), Some(&Health(7)));
    let batch: Vec<Entity> = world.spawn_batch((0..3).map(|_| Mage)).collect();
    assert!(batch.iter().all(|&e| world.get::<Label>(e).is_some()));
    checked(&world);
}

#[test]
fn fields_are_reached_by_name() {
    let mut world = World::new();
    let e = world.spawn((at(2.0), sticker("s"), Health(1))).id();
    let (position, label, health) = (
        world.component_id::<Position>().unwrap(),
        world.component_id::<Label>().unwrap(),
        world.component_id::<Health>().unwrap(),
    );
    assert_eq!(world.get_field(e, position, "x").unwrap(), Value::F32(2.0));
    world.set_field(e, position, "y", 5.0f32).unwrap();
    assert_eq!(world.get::<position::y>(e), Some(&5.0));
    world.clear_trackers();
    world.set_field(e, label, "size", 4u8).unwrap();
    assert_eq!(visited::<Changed<Label>>(&world), [e]);
    assert!(
        world.set_field(e, position, "y", 5u8).is_err() && world.set_field(e, position, "z", 5.0f32).is_err()
    );
    assert_eq!(world.get_field(e, health, "0").unwrap(), Value::from(1u32), "fields of whole values, too");
    assert!(world.get_field(e, label, "text").is_err() && world.get_field(e, health, "1").is_err());
    world.remove::<Position>(e).unwrap();
    assert!(world.get_field(e, position, "x").unwrap_err().to_string().contains("insert it first"));
}

#[test]
fn queries_from_run_time_ids_find_what_typed_ones_find() {
    let (world, _) = sixteen();
    let id = [
        world.component_id::<Health>().unwrap(),
        world.component_id::<Frozen>().unwrap(),
        world.component_id::<Anchor>().unwrap(),
    ];
    let sorted = |query: phalanx::query::DynamicQuery| {
        let mut found: Vec<Entity> = query.entities(&world).collect();
        found.sort_unstable();
        assert!(world.entities().iter().all(|e| query.contains(&world, e) == found.contains(&e)));
        found
    };
    let build = || world.query_builder();
    assert_eq!(sorted(build().with(id[0]).build()), visited::<With<Health>>(&world));
    assert_eq!(sorted(build().without(id[0]).build()), visited::<Without<Health>>(&world));
    assert_eq!(
        sorted(build().any_of([id[0], id[2]]).build()),
        visited::<Or<(With<Health>, With<Anchor>)>>(&world)
    );
    assert_eq!(
        sorted(build().with(id[2]).without(id[1]).any_of([id[0]]).build()),
        visited::<(With<Anchor>, Without<Frozen>, With<Health>)>(&world)
    );
    for table in build().with(id[2]).with(id[0]).build().tables(&world) {
        let anchors = table.column::<Anchor>(id[2], "").unwrap();
        assert!(
            table.entities().iter().zip(anchors).all(|(&e, anchor)| world.get::<Anchor>(e) == Some(anchor))
        );
        assert!(table.entities().iter().all(|&e| world.get::<Health>(e).is_some()));
    }
}

#[test]
fn kept_queries_follow_every_change() {
    let mut world = World::new();
    let mut state = world.query_filtered::<(Entity, &Health), Without<Frozen>>();
    assert_eq!(state.iter(&world).count(), 0);
    let e = world.spawn(Health(1)).id();
    let f = world.spawn((Health(2), name("f"))).id();
    assert_eq!(state.iter(&world).count(), 2);
    world.insert(e, Frozen).unwrap();
    assert_eq!(state.iter(&world).map(|(e, _)| e).collect::<Vec<_>>(), [f]);
    world.remove::<Frozen>(e).unwrap();
    world.despawn(f);
    world.drop_empty_archetypes();
    assert_eq!(state.iter(&world).map(|(e, _)| e).collect::<Vec<_>>(), [e]);
}

#[test]
fn clearing_the_world_leaves_it_empty_and_usable() {
    let (mut world, ids) = sixteen();
    world.clear_entities();
    checked(&world);
    assert_eq!(
        (world.entities().len(), world.view::<&Health>().count(), visited::<()>(&world).len()),
        (0, 0, 0)
    );
    assert!(ids.iter().all(|&e| !world.contains(e) && world.get::<Health>(e).is_none()));
    let e = world.spawn((Health(1), name("first"), Frozen)).id();
    assert_eq!(world.view::<(Entity, &Name)>().single(), Ok((e, &name("first"))));
    checked(&world);
}

#[test]
fn statistics_count_entities_and_moves() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..100).map(|n| (Anchor(n), at(1.0)))).collect();
    let (moves, archetypes) = (world.stats().moves, world.archetypes().len());
    for &e in &ids {
        world.insert(e, Health(1)).unwrap();
    }
    let stats = world.stats();
    assert_eq!(stats.entities, 100);
    // The one thing that storage is about.
    assert_eq!(stats.moves - moves, if SPARSE { 0 } else { 100 });
    assert_eq!(world.archetypes().len() - archetypes, usize::from(!SPARSE));
    let sets = stats.sets.iter().filter(|set| set.entities == 100 && set.pages == 1 && set.row_bytes > 0);
    assert_eq!(sets.count(), if SPARSE { 2 } else { 0 });
    assert!(stats.bytes() > 100 * size_of::<Health>());
    world.despawn_batch(ids);
    world.shrink_to_fit();
    assert!(world.stats().bytes() < stats.bytes());
    checked(&world);
}

#[test]
fn systems_see_every_kind_of_storage() {
    fn hurt(
        mut query: Query<(&mut Health, Has<Frozen>)>,
        mut commands: Commands,
        names: Query<(Entity, &Name)>,
    ) {
        for (mut health, frozen) in &mut query {
            health.0 -= if frozen { 2 } else { 1 };
        }
        for (e, _) in &names {
            commands.entity(e).remove::<Name>().insert(Frozen);
        }
    }
    let mut app = App::new();
    let e = app.world_mut().spawn((Health(10), name("e"))).id();
    app.add_systems(Update, hurt);
    for _ in 0..3 {
        app.step(0.1);
    }
    let world = app.world();
    assert_eq!((world.get::<Health>(e), world.get::<Name>(e)), (Some(&Health(5)), None));
    assert!(world.get::<Frozen>(e).is_some());
}

#[test]
fn the_order_of_a_walk_depends_on_history_alone() {
    let build = || {
        let (mut world, ids) = sixteen();
        world.despawn(ids[3]);
        world.remove::<Health>(ids[5]).unwrap();
        world.spawn((Health(77), at(0.0)));
        world.insert(ids[4], Health(78)).unwrap();
        world.view::<&Health>().iter().map(|health| health.0).collect::<Vec<_>>()
    };
    let order = build();
    assert_eq!(order, build());
    // Which order that is, differs by storage: archetypes in order of creation, or the set's own.
    match KIND {
        StorageKind::Table => assert_eq!(order.first(), Some(&1)),
        StorageKind::Sparse => assert_eq!(order, [1, 15, 13, 7, 9, 11, 77, 78]),
        _ => assert_eq!(order, [1, 78, 77, 7, 9, 11, 13, 15], "holes are filled, the one made last first"),
    }
}
