//! Moving between pools, and handles: what is explicit, what is remembered, and what is never confused.

use std::collections::HashSet;

use crate::common::pool_kinds::{
    Burning, Clan, Elves, Frozen, Ghosts, Health, Name, Orcs, Position, Rage, Wings, at, elf, ok, orc,
};
use phalanx::prelude::*;
use phalanx::world::{MigrateError, PoolEntityError};

// Z-077, Z-078.
#[test]
fn an_entity_that_fits_moves_with_all_it_has() {
    let mut world = World::new();
    let entity =
        world.spawn_in(Orcs { name: Some(Name("n".to_owned())), burning: Some(Burning(3)), ..orc(1) });
    world.migrate::<Orcs, Elves>(entity).unwrap();
    ok(&world);
    assert_eq!(world.pool_of(entity), world.pool_id::<Elves>());
    assert_eq!(world.get::<Health>(entity), Some(&Health(1)));
    assert_eq!(world.get::<Name>(entity).unwrap().0, "n");
    assert_eq!(
        (world.get::<Burning>(entity), world.get::<Clan>(entity)),
        (Some(&Burning(3)), Some(&Clan(1)))
    );
    assert_eq!(world.stats().moves, 1);
    world.migrate::<Elves, Orcs>(entity).unwrap();
    world.migrate::<Orcs, General>(entity).unwrap();
    world.insert(entity, Wings).unwrap();
    assert_eq!(world.pool_of(entity), world.pool_id::<General>());
    world.remove::<Wings>(entity).unwrap();
    world.migrate::<General, Orcs>(entity).unwrap();
    world.migrate::<Orcs, Orcs>(entity).unwrap();
    assert_eq!(world.get::<Health>(entity), Some(&Health(1)));
    assert_eq!(world.view_filtered::<Entity, InPool<Orcs>>().iter().collect::<Vec<_>>(), [entity]);
    ok(&world);
}

#[test]
fn everything_that_does_not_fit_is_listed_and_nothing_changes() {
    let mut world = World::new();
    let entity = world.spawn_in(Orcs { rage: Some(Rage(1)), frozen: Some(Frozen), ..orc(1) });
    let before = world.archetype_of(entity);
    let error = world.migrate::<Orcs, Elves>(entity).unwrap_err();
    let name = |short| format!("pool::common::pool_kinds::{short}");
    let MigrateError::DoesNotFit { undeclared, missing, to, .. } = &error else { panic!("{error}") };
    assert_eq!(
        (undeclared, missing, *to),
        (&vec![name("Rage"), name("Frozen")], &vec![name("Name")], "the elves")
    );
    assert_eq!(
        error.to_string(),
        format!(
            "entity {entity} does not fit into pool `the elves`: `the elves` does not declare `{}`, `{}`: remove it first; \
             it lacks `{}`: give it with `migrate_with`",
            name("Rage"),
            name("Frozen"),
            name("Name")
        )
    );
    assert_eq!(world.archetype_of(entity), before);
    let sparse = world.spawn((Clan(1), Frozen)).id();
    let error = world.migrate::<General, Ghosts>(sparse).unwrap_err();
    assert!(matches!(error, MigrateError::DoesNotFit { undeclared, missing, .. }
        if undeclared == [name("Clan")] && missing.is_empty()));
    ok(&world);
}

#[test]
fn the_pool_that_is_left_must_be_named_rightly() {
    let mut world = World::new();
    let entity = world.spawn_in(orc(1));
    let error = world.migrate::<Elves, General>(entity).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("entity {entity} is in pool `Orcs`, not in `the elves`: name the pool it is in")
    );
    assert!(matches!(world.migrate::<General, Elves>(entity), Err(MigrateError::OtherPool { .. })));
    world.despawn(entity);
    assert!(matches!(world.migrate::<Orcs, General>(entity), Err(MigrateError::NoSuchEntity { .. })));
}

#[test]
fn what_is_missing_can_be_given_on_the_way() {
    let mut world = World::new();
    let entity = world.spawn_in(orc(1));
    assert!(world.migrate::<Orcs, Elves>(entity).is_err());
    world.migrate_with::<Orcs, Elves, _>(entity, (Name("x".to_owned()), Health(5), Burning(2))).unwrap();
    assert_eq!(
        (world.get::<Health>(entity), world.get::<Burning>(entity)),
        (Some(&Health(5)), Some(&Burning(2)))
    );
    let empty = world.spawn_empty().id();
    world.migrate_with::<General, Elves, _>(empty, (at(1.0), Name("y".to_owned()))).unwrap();
    let bare = world.spawn_empty().id();
    world.migrate::<General, Ghosts>(bare).unwrap();
    assert!(world.pool::<Ghosts>().contains(bare));
    world.migrate::<Ghosts, General>(bare).unwrap();
    assert!(world.is_orphan(bare));
    world.migrate_with::<General, Orcs, _>(bare, (at(1.0), Health(1), Clan(2))).unwrap();
    assert_eq!(world.view_filtered::<Entity, InPool<Elves>>().count(), 2);
    ok(&world);
}

#[test]
fn repeated_migrations_are_worked_out_once() {
    let mut world = World::new();
    let one = world.spawn_in(Orcs { name: Some(Name("1".to_owned())), ..orc(1) });
    let two = world.spawn_in(Orcs { name: Some(Name("2".to_owned())), ..orc(2) });
    world.migrate::<Orcs, Elves>(one).unwrap();
    let computed = world.stats().edges_computed;
    world.migrate::<Orcs, Elves>(two).unwrap();
    assert_eq!(world.stats().edges_computed, computed);
    assert_eq!(world.get::<Name>(two).unwrap().0, "2");
    // A dropped archetype ends the ways that lead there.
    world.despawn(one);
    world.despawn(two);
    world.drop_empty_archetypes();
    let three = world.spawn_in(Orcs { name: Some(Name("3".to_owned())), ..orc(3) });
    world.migrate::<Orcs, Elves>(three).unwrap();
    ok(&world);
}

// Z-071, Z-092.
#[test]
fn a_handle_takes_sixteen_bytes_and_is_its_entity() {
    assert_eq!(size_of::<Handle<Orcs>>(), 16);
    let mut world = World::new();
    let entity = world.spawn_in(orc(1));
    let handle = world.pool::<Orcs>().handle(entity).unwrap();
    world.pool_mut::<Orcs>().insert(handle, Rage(1)).unwrap();
    let moved = world.pool::<Orcs>().handle(entity).unwrap();
    assert_eq!((handle, handle.entity(), Entity::from(handle)), (moved, entity, entity));
    assert_eq!(HashSet::from([handle, moved]).len(), 1);
    assert_eq!(format!("{handle:?}"), format!("Handle({entity})"));
}

// Z-058, Z-069, Z-070, Z-072, Z-073, Z-083.
#[test]
fn reading_through_a_handle_asks_the_directory_only_after_a_move() {
    let mut world = World::new();
    let others: Vec<Entity> = (0..10).map(|n| world.spawn_in(orc(n))).collect();
    let mut handle = world.pool::<Orcs>().handle(others[9]).unwrap();
    for _ in 0..100 {
        assert_eq!(world.pool::<Orcs>().get::<Health>(handle).unwrap(), &Health(9));
        assert_eq!(world.pool::<Orcs>().get::<Clan>(&mut handle).unwrap(), &Clan(9));
        world.pool_mut::<Orcs>().get_mut::<Position>(&mut handle).unwrap();
    }
    assert_eq!(world.stats().handle_repairs, 0, "the entity has not moved");
    // Another one goes, and the last row takes its place.
    world.despawn(others[3]);
    assert_eq!(world.pool::<Orcs>().get::<Health>(handle).unwrap(), &Health(9));
    assert_eq!(world.pool::<Orcs>().get::<Health>(handle).unwrap(), &Health(9));
    assert_eq!(world.stats().handle_repairs, 2, "a copy is repaired, and forgotten");
    assert_eq!(world.pool::<Orcs>().get::<Health>(&mut handle).unwrap(), &Health(9));
    assert_eq!(world.pool::<Orcs>().get::<Health>(&mut handle).unwrap(), &Health(9));
    assert_eq!(world.stats().handle_repairs, 3, "a handle lent for writing remembers");
    world.pool_mut::<Orcs>().insert(handle, Rage(2)).unwrap();
    world.pool_mut::<Orcs>().get_mut::<Rage>(&mut handle).unwrap().0 += 1;
    assert_eq!(world.stats().handle_repairs, 4);
    assert_eq!(world.pool::<Orcs>().get::<Rage>(&mut handle).unwrap(), &Rage(3));
    assert_eq!(world.stats().handle_repairs, 4);
    assert!(matches!(world.pool::<Orcs>().get::<Name>(&mut handle), Err(PoolEntityError::Missing { .. })));
}

#[test]
fn a_reader_reads_what_the_pool_reads_and_repairs_handles() {
    let mut world = World::new();
    assert!(world.pool::<Orcs>().reader::<Health>().get(Entity::PLACEHOLDER).is_err(), "no such pool yet");
    let orcs: Vec<Entity> = (0..10).map(|n| world.spawn_in(orc(n))).collect();
    let stranger = world.spawn(Health(77)).id();
    let mut handle = world.pool::<Orcs>().handle(orcs[9]).unwrap();
    let healths = world.pool::<Orcs>().reader::<Health>();
    for _ in 0..3 {
        assert_eq!(healths.get(&mut handle), Ok(&Health(9)));
        assert_eq!(healths.get(handle), Ok(&Health(9)));
    }
    for (n, &orc) in (0..).zip(&orcs) {
        assert_eq!(healths.get(orc), Ok(&Health(n)));
    }
    assert!(matches!(healths.get(stranger), Err(PoolEntityError::OtherPool { .. })));
    assert_eq!(world.pool::<General>().reader::<Health>().get(stranger), Ok(&Health(77)));
    assert!(matches!(
        world.pool::<General>().reader::<Health>().get(orcs[0]),
        Err(PoolEntityError::OtherPool { .. })
    ));
    assert_eq!(world.stats().handle_repairs, 0, "the entity has not moved");
    world.pool_mut::<Orcs>().despawn(orcs[0]).unwrap();
    let healths = world.pool::<Orcs>().reader::<Health>();
    assert_eq!(healths.get(&mut handle), Ok(&Health(9)));
    assert_eq!(healths.get(&mut handle), Ok(&Health(9)));
    assert_eq!(world.stats().handle_repairs, 1, "the last row took the place of another");
    assert!(matches!(
        world.pool::<Orcs>().reader::<Rage>().get(&mut handle),
        Err(PoolEntityError::Missing { .. })
    ));
    world.pool_mut::<Orcs>().despawn(orcs[9]).unwrap();
    let heir = world.spawn_in(orc(5));
    let healths = world.pool::<Orcs>().reader::<Health>();
    assert_eq!(heir.index(), orcs[9].index());
    assert!(matches!(healths.get(&mut handle), Err(PoolEntityError::NoSuchEntity { .. })));
    assert!(matches!(healths.get(orcs[9]), Err(PoolEntityError::NoSuchEntity { .. })));
    assert_eq!(healths.get(heir), Ok(&Health(5)));
}

#[test]
fn a_handle_of_the_dead_reads_nothing_not_even_its_successor() {
    let mut world = World::new();
    let entity = world.spawn_in(orc(1));
    let mut handle = world.pool::<Orcs>().handle(entity).unwrap();
    world.despawn(entity);
    assert!(matches!(world.pool::<Orcs>().get::<Health>(handle), Err(PoolEntityError::NoSuchEntity { .. })));
    let successor = world.spawn_in(orc(2));
    assert_eq!(successor.index(), entity.index());
    assert!(matches!(
        world.pool::<Orcs>().get::<Health>(&mut handle),
        Err(PoolEntityError::NoSuchEntity { .. })
    ));
    assert!(world.pool_mut::<Orcs>().get_mut::<Health>(&mut handle).is_err());
    assert!(world.pool_mut::<Orcs>().despawn(handle).is_err());
    assert!(world.contains(successor));
    world.clear_entities();
    assert!(world.pool::<Orcs>().get::<Health>(handle).is_err());
}

#[test]
fn a_handle_names_the_pool_that_its_entity_went_to() {
    let mut world = World::new();
    let entity = world.spawn_in(Orcs { name: Some(Name("n".to_owned())), ..orc(1) });
    let mut handle = world.pool::<Orcs>().handle(entity).unwrap();
    world.migrate::<Orcs, Elves>(entity).unwrap();
    let error = world.pool::<Orcs>().get::<Health>(&mut handle).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("entity {entity} is in pool `the elves`, not in `Orcs`: ask that pool, or migrate it")
    );
    assert!(world.pool_mut::<Orcs>().get_mut::<Health>(&mut handle).is_err());
    // The table it came from makes way for one of the other pool: the remembered row is no proof.
    world.drop_empty_archetypes();
    world.spawn_in(elf("other"));
    world.pool_mut::<Elves>().insert(entity, Burning(1)).unwrap();
    assert!(world.pool::<Orcs>().get::<Health>(handle).is_err());
    world.migrate::<Elves, Orcs>(entity).unwrap();
    assert_eq!(world.pool::<Orcs>().get::<Health>(&mut handle).unwrap(), &Health(1));
    ok(&world);
}
