//! Ways between archetypes, which archetypes there are, and what changes of entities do to them.

use phalanx::archetype::{ArchetypeId, Change};
use phalanx::prelude::*;
use phalanx::signature::Signature;

use super::{Fixed, Health, Hidden, Name, Position, Velocity, archetype, assert_own, checked, rows, ten};

/// The set of a bundle's components.
fn signature<B: Bundle>(world: &mut World) -> Signature {
    world.register_bundle::<B>().expect("a proper bundle");
    let mut components = phalanx::registry::Components::default();
    let mut ids = Vec::new();
    B::register(&mut components, &mut ids).expect("a proper bundle");
    let names = ids.into_iter().map(|id| components.get_info(id).expect("registered").name());
    names.map(|name| world.components().by_name(name).expect("registered")).collect()
}

// O.7: ways between archetypes.

// O-101, O-102, O-103, O-107, O-108, O-109, O-112: the first insert works out both ways, the first removal too.
#[test]
fn a_way_is_worked_out_when_first_needed_and_with_it_the_way_back() {
    let mut world = World::new();
    let entity = world.spawn(Position { x: 1.0, y: 2.0 }).id();
    let before = world.stats().edges_computed;
    world.entity_mut(entity).insert(Velocity { x: 3.0, y: 4.0 });
    assert_eq!(world.stats().edges_computed, before + 2, "there and back");
    for _ in 0..1_000 {
        world.entity_mut(entity).remove::<Velocity>().insert(Velocity { x: 3.0, y: 4.0 });
    }
    assert!(world.take::<Velocity>(entity).is_some());
    assert_eq!(world.stats().edges_computed, before + 2);

    let mut world = World::new();
    let entity = world.spawn((Health(1), Name("a".into()))).id();
    let before = world.stats().edges_computed;
    world.entity_mut(entity).remove::<Name>();
    assert_eq!(world.stats().edges_computed, before + 2, "back and there");
    for _ in 0..1_000 {
        world.entity_mut(entity).insert(Name("b".into())).remove::<Name>();
    }
    assert_eq!(world.stats().edges_computed, before + 2);
    // Another entity of the archetype goes the same way.
    let other = world.spawn(Health(2)).id();
    let before = world.stats().edges_computed;
    world.entity_mut(other).insert(Name("c".into()));
    assert_eq!(world.stats().edges_computed, before);
}

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Health(7))]
struct Alive;

// O-108: a way back is kept only where it leads back.
#[test]
fn a_way_that_brings_more_than_it_removes_has_no_way_back() {
    let mut world = World::new();
    let entity = world.spawn(Fixed).id();
    let start = archetype(&world, entity);
    world.entity_mut(entity).insert(Alive).remove::<Alive>();
    assert_ne!(archetype(&world, entity), start, "`Health` came along and stays");
    assert_eq!(world.get::<Health>(entity), Some(&Health(7)));
    // A removal that leaves a requirement unmet is not undone by inserting alone.
    let whole = world.spawn((Fixed, Alive)).id();
    world.entity_mut(whole).remove::<Health>().remove::<Alive>().insert(Alive);
    assert_eq!(world.get::<Health>(whole), Some(&Health(7)));
    // Half of a bundle was there: all of it is afterwards.
    let half = world.spawn((Fixed, Hidden)).id();
    world.entity_mut(half).remove::<(Hidden, Name)>().insert((Hidden, Name("a".into())));
    assert_eq!(world.entity(half).component_ids().count(), 3);
    checked(&world);
}

// O-110, O-114: once known, thousands of changes work nothing out, in however many archetypes.
#[test]
fn repeated_changes_work_nothing_out() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..8).map(Health)).collect();
    let round = |world: &mut World| {
        for (n, &entity) in entities.iter().enumerate() {
            if n & 1 != 0 {
                world.entity_mut(entity).insert(Fixed);
            }
            if n & 2 != 0 {
                world.entity_mut(entity).insert((Name("a".into()), Hidden));
            }
            if n & 4 != 0 {
                world.entity_mut(entity).insert_if_new(Position { x: 0.0, y: 0.0 });
            }
            world.entity_mut(entity).insert(Health(1)).retain::<(Health, Fixed)>().remove::<Fixed>();
        }
    };
    round(&mut world);
    let computed = (world.stats().edges_computed, world.archetypes().len());
    for _ in 0..500 {
        round(&mut world);
    }
    assert_eq!((world.stats().edges_computed, world.archetypes().len()), computed);
}

// O-111, O-141: the same archetype, the same row, the same place in memory.
#[test]
fn inserting_what_is_present_writes_in_place() {
    let mut world = World::new();
    let (entities, table) = ten(&mut world);
    let place = |world: &World| std::ptr::from_ref(world.get::<Health>(entities[4]).expect("has it")).addr();
    let before = place(&world);
    world.entity_mut(entities[4]).insert((Health(44), Name("forty-four".into())));
    assert_eq!(place(&world), before);
    assert_eq!(rows(&world, table), entities);
    assert_eq!(world.get::<Health>(entities[4]), Some(&Health(44)));
    assert_eq!(world.get::<Name>(entities[4]), Some(&Name("forty-four".into())));
    assert_eq!(archetype(&world, entities[4]), table);
}

// O.8: which archetypes there are.

// O-071, O-072, O-116, O-117, O-120, O-121, O-122, O-123.
#[test]
fn a_set_of_components_has_one_archetype_however_it_is_reached() {
    let mut world = World::new();
    let a = world.spawn((Health(1), Name("a".into()), Fixed)).id();
    let b = world.spawn(Fixed).insert(Name("b".into())).insert(Health(2)).id();
    let c = world.spawn((Hidden, (Name("c".into()), Fixed))).insert(Health(3)).remove::<Hidden>().id();
    let one = archetype(&world, a);
    assert_eq!([archetype(&world, b), archetype(&world, c)], [one, one]);
    assert_eq!(rows(&world, one), [a, b, c]);
    let set = signature::<(Fixed, Health, Name)>(&mut world);
    assert_eq!(world.archetypes().find(&set), Some(one));
    assert_eq!(*world.archetypes().signature(one), set);
    for id in &set {
        assert!(world.archetypes().with_component(id).contains(&one));
    }
    let unknown = signature::<(Fixed, Hidden, Health)>(&mut world);
    assert_eq!(world.archetypes().find(&unknown), None);
    let mut sets: Vec<&Signature> = Vec::new();
    for id in world.archetypes().iter() {
        let set = world.archetypes().signature(id);
        assert!(!sets.contains(&set), "two archetypes with {set:?}");
        sets.push(set);
    }
    checked(&world);
}

// O-130: whatever happens to entities, an archetype stays what it is.
#[test]
fn the_signature_of_an_archetype_never_changes() {
    let mut world = World::new();
    let (entities, table) = ten(&mut world);
    let before = world.archetypes().signature(table).clone();
    world.insert_into_archetype(table, &Fixed);
    world.entity_mut(entities[1]).remove::<(Health, Fixed)>();
    world.clear_entities();
    assert_eq!(*world.archetypes().signature(table), before);
}

// O-125, O-126, O-127, O-128.
#[test]
fn matching_looks_at_the_archetypes_of_the_rarest_component() {
    let mut world = World::new();
    world.spawn(Health(1));
    world.spawn((Health(1), Fixed));
    world.spawn((Health(1), Hidden));
    world.spawn((Health(1), Name("a".into()), Fixed, Hidden));
    world.spawn((Health(1), Name("a".into())));
    let [health, name, fixed, hidden] = [
        signature::<Health>(&mut world),
        signature::<Name>(&mut world),
        signature::<Fixed>(&mut world),
        signature::<Hidden>(&mut world),
    ];
    let none = Signature::empty();
    let archetypes = world.archetypes();
    let holders =
        |set: &Signature| set.iter().map(|id| archetypes.with_component(id)).collect::<Vec<_>>().concat();
    assert_eq!((holders(&health).len(), holders(&name).len()), (5, 2));
    // Both have `Name`, so no more than its two holders are looked at, in the order they were created.
    assert_eq!(archetypes.matching(&health.union(&name), &none, &none), holders(&name));
    assert_eq!(archetypes.matching(&health.union(&name), &fixed, &none), holders(&name)[1..]);
    assert_eq!(archetypes.matching(&health, &none, &none), holders(&health));
    assert_eq!(archetypes.matching(&health, &none, &fixed.union(&hidden)), holders(&health)[1..4]);
    assert_eq!(archetypes.matching(&health, &name, &fixed.union(&hidden)), holders(&health)[1..3]);
    assert_eq!(archetypes.matching(&health.union(&name), &fixed, &hidden), []);
    // Without a required component all archetypes are candidates, and an absent any-of asks for nothing.
    assert_eq!(archetypes.matching(&none, &none, &none).len(), archetypes.len());
    assert_eq!(archetypes.matching(&none, &health, &none), [ArchetypeId::EMPTY]);
}

// O-124; hazard 26: the journal tells what came and went, and a kept query follows it.
#[test]
fn the_journal_tells_which_archetypes_came_and_went() {
    let mut world = World::new();
    let first = world.spawn(Health(1)).id();
    let cursor = world.archetypes().cursor();
    assert_eq!(world.archetypes().changes_since(cursor), Some(&[][..]));
    world.spawn(Health(2));
    assert_eq!(world.archetypes().cursor(), cursor, "nothing new");
    let second = world.spawn((Health(3), Fixed)).id();
    let created = archetype(&world, second);
    assert_eq!(world.archetypes().changes_since(cursor), Some(&[Change::Created(created)][..]));
    world.despawn(second);
    assert_eq!(world.drop_empty_archetypes(), 1);
    let third = world.spawn((Health(4), Name("a".into()))).id();
    let again = archetype(&world, third);
    assert_eq!(again, created, "the id of a dropped archetype is given again");
    let news = [Change::Created(created), Change::Dropped(created), Change::Created(again)];
    assert_eq!(world.archetypes().changes_since(cursor), Some(&news[..]));
    let all: Vec<Entity> = world.view_filtered::<Entity, With<Health>>().iter().collect();
    assert!(all.contains(&first) && all.contains(&third) && all.len() == 3);
    // A cursor of another, longer history is told to start afresh.
    assert_eq!(World::new().archetypes().changes_since(world.archetypes().cursor()), None);
}

// O.9: changes.

// O-142, O-143, O-144, O-145, O-146.
#[test]
fn what_both_archetypes_share_survives_the_move() {
    let mut world = World::new();
    let (entities, table) = ten(&mut world);
    world.entity_mut(entities[3]).insert(Velocity { x: 5.0, y: 6.0 });
    let larger = archetype(&world, entities[3]);
    let velocity = world.component_id::<Velocity>().expect("inserted");
    assert_eq!(*world.archetypes().signature(larger), world.archetypes().signature(table).with(velocity));
    assert_eq!(world.get::<Velocity>(entities[3]).map(|row| row.get()), Some(Velocity { x: 5.0, y: 6.0 }));
    assert_own(&world, &entities);
    world.entity_mut(entities[3]).remove::<Velocity>();
    assert_eq!(archetype(&world, entities[3]), table);
    assert_own(&world, &entities);
    assert_eq!(rows(&world, table).last(), Some(&entities[3]));
    checked(&world);
}

/// Cannot be made by default.
#[derive(Component)]
struct Failing;

impl Default for Failing {
    fn default() -> Self {
        panic!("told to fail");
    }
}

#[derive(Component)]
#[require(Failing)]
struct Hopeful;

// O-145: where entities are is written last, for the one that moved and the one that fills its gap.
#[test]
fn both_places_follow_a_move_and_neither_a_move_that_fails() {
    let mut world = World::new();
    let (entities, table) = ten(&mut world);
    let place = |world: &World, entity: Entity| {
        let archetype = archetype(world, entity);
        (archetype, rows(world, archetype).iter().position(|&row| row == entity).expect("it has a row"))
    };
    // What it requires cannot be made: every entity stays where it is.
    let before: Vec<_> = entities.iter().map(|&entity| place(&world, entity)).collect();
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = world.insert(entities[3], Hopeful);
    }));
    assert!(failed.is_err());
    assert_eq!(entities.iter().map(|&entity| place(&world, entity)).collect::<Vec<_>>(), before);
    assert_own(&world, &entities);
    checked(&world);
    world.entity_mut(entities[3]).insert(Velocity { x: 5.0, y: 6.0 });
    assert_ne!(archetype(&world, entities[3]), table);
    assert_eq!(place(&world, entities[3]).1, 0);
    assert_eq!(place(&world, entities[9]), (table, 3), "the last one fills the gap");
    let others = entities.iter().filter(|&&entity| ![entities[3], entities[9]].contains(&entity));
    assert!(others.zip([0, 1, 2, 4, 5, 6, 7, 8]).all(|(&entity, row)| place(&world, entity) == (table, row)));
    assert_own(&world, &entities);
    checked(&world);
}

// O-147, O-148, O-149, O-150: one move, and no archetype in between.
#[test]
fn several_components_come_and_go_in_one_move() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let (archetypes, ways) = (world.archetypes().len(), world.stats().edges_computed);
    world.entity_mut(entity).insert((Name("a".into()), Fixed, Hidden, Position { x: 0.0, y: 0.0 }));
    assert_eq!(world.archetypes().len(), archetypes + 1);
    world.entity_mut(entity).remove::<(Name, Fixed, Hidden, Position)>();
    assert_eq!(world.archetypes().len(), archetypes + 1, "back where it began");
    assert_eq!(world.stats().edges_computed, ways + 2);
    world.entity_mut(entity).insert((Fixed, Hidden)).retain::<Fixed>();
    assert_eq!(world.archetypes().len(), archetypes + 3, "one for each step");
}

// O-151: no entity moves, in this archetype or in another.
#[test]
fn removing_what_is_not_there_changes_nothing() {
    let mut world = World::new();
    let (entities, table) = ten(&mut world);
    let archetypes = world.archetypes().len();
    world.entity_mut(entities[2]).remove::<(Fixed, Velocity)>();
    assert_eq!(world.remove_batch::<Hidden>(entities.iter().copied()), 10);
    assert_eq!(world.remove_from_archetype::<Fixed>(table), 10);
    assert_eq!(rows(&world, table), entities);
    assert_eq!(world.archetypes().len(), archetypes);
    assert_own(&world, &entities);
}

// O-152, O-153, O-154, O-155, O-156, O-303: rows keep their order, behind those that were there.
#[test]
fn whole_archetypes_move_in_one_piece() {
    let mut world = World::new();
    let (entities, source) = ten(&mut world);
    let bundle = (Health(90), Position { x: 0.0, y: 0.0 }, Name("early".into()), Velocity { x: 1.0, y: 1.0 });
    let early = world.spawn(bundle).id();
    let target = archetype(&world, early);
    let ways = world.stats().edges_computed;
    let moves = world.stats().moves;
    assert_eq!(world.insert_into_archetype(source, &Velocity { x: 7.0, y: 8.0 }), 10);
    assert!(world.stats().edges_computed <= ways + 2, "one way for all of them");
    assert_eq!(world.stats().moves, moves, "no entity moved by itself");
    assert_eq!(rows(&world, source), []);
    let mut expected = vec![early];
    expected.extend(&entities);
    assert_eq!(rows(&world, target), expected);
    assert_own(&world, &entities);
    for &entity in &entities {
        assert_eq!(world.get::<Velocity>(entity).map(|row| row.get()), Some(Velocity { x: 7.0, y: 8.0 }));
    }
    checked(&world);
    assert_eq!(world.remove_from_archetype::<(Velocity, Fixed)>(target), 11);
    assert_eq!(world.stats().moves, moves, "no entity moved by itself");
    assert_eq!((rows(&world, target), rows(&world, source)), (Vec::new(), expected));
    assert_own(&world, &entities);
    checked(&world);
    // All the way out, and in again.
    assert_eq!(world.remove_from_archetype::<(Health, Name, Position)>(source), 11);
    assert_eq!(world.entities().rowless_len(), 11);
    assert_eq!(world.insert_into_archetype(ArchetypeId::EMPTY, &Health(5)), 11);
    assert!(entities.iter().all(|&entity| world.get::<Health>(entity) == Some(&Health(5))));
    checked(&world);
}
