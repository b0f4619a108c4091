//! What a pool forbids is refused on every path: as an error, as a panic of chained calls, or as a command that is
//! skipped and counted. Nothing changes then, and values that were brought are dropped once.
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::common::pool_kinds::{
    Burning, Clan, Elves, Frozen, Ghosts, Health, Name, Orcs, Position, Rage, Wings, elf, ok, orc,
};
use phalanx::prelude::*;
use phalanx::world::{ChangeError, FieldError};

#[derive(Component, Clone)]
struct Held(#[allow(dead_code)] Arc<()>);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Mark(u32);

fn components(world: &World, entity: Entity) -> Vec<phalanx::ComponentId> {
    world.entity(entity).component_ids().collect()
}

fn panic_text<R>(f: impl FnOnce() -> R) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        f();
    }));
    let panic = outcome.expect_err("the call is refused");
    panic.downcast_ref::<String>().cloned().expect("the panic has a text")
}

#[test]
fn what_the_pool_does_not_declare_is_refused_by_name() {
    let mut world = World::new();
    let orc = world.spawn_in(orc(1));
    let before = components(&world, orc);
    let error = world.insert(orc, Wings).unwrap_err();
    let text = format!(
        "entity {orc} is in pool `Orcs`, which does not declare `pool::common::pool_kinds::Wings`: declare it there, or migrate the entity"
    );
    assert_eq!(error.to_string(), text);
    let ChangeError::NotInPool(error) = error else { panic!("another error") };
    assert_eq!(
        (error.entity, error.pool, error.component.as_str()),
        (orc, "Orcs", "pool::common::pool_kinds::Wings")
    );
    // Part of a bundle, sparse, and again when the refusal is known.
    for _ in 0..2 {
        assert!(matches!(world.insert(orc, (Rage(1), Wings)), Err(ChangeError::NotInPool(_))));
        assert!(matches!(world.insert(orc, (Health(7), Mark(1))), Err(ChangeError::NotInPool(_))));
        assert!(matches!(world.insert(orc, Mark(1)), Err(ChangeError::NotInPool(_))));
    }
    assert!(world.entity_mut(orc).try_insert(Mark(1)).is_err());
    assert!(world.entity_mut(orc).try_insert(Frozen).is_ok());
    assert!(world.entity_mut(orc).try_remove::<Frozen>().is_ok());
    assert_eq!(panic_text(|| world.entity_mut(orc).insert(Wings).id()), text);
    assert_eq!(panic_text(|| world.entity_mut(orc).insert_if_new((Health(3), Wings)).id()), text);
    assert_eq!(components(&world, orc), before);
    assert_eq!(world.get::<Health>(orc), Some(&Health(1)));
    ok(&world);
}

#[test]
fn what_the_pool_requires_stays() {
    let mut world = World::new();
    let orc = world.spawn_in(Orcs { rage: Some(Rage(4)), burning: Some(Burning(1)), ..orc(1) });
    let before = components(&world, orc);
    let error = world.remove::<Health>(orc).unwrap_err();
    let text = format!(
        "entity {orc} is in pool `Orcs`, which requires `pool::common::pool_kinds::Health`: declare it as optional there, or migrate the entity"
    );
    assert_eq!(error.to_string(), text);
    assert!(matches!(error, ChangeError::RequiredByPool(_)));
    for _ in 0..2 {
        assert!(matches!(world.remove::<(Rage, Health)>(orc), Err(ChangeError::RequiredByPool(_))));
        assert!(matches!(world.remove::<Clan>(orc), Err(ChangeError::RequiredByPool(_))));
        assert!(matches!(world.remove::<(Rage, Clan)>(orc), Err(ChangeError::RequiredByPool(_))));
        assert!(matches!(world.retain::<Health>(orc), Err(ChangeError::RequiredByPool(_))));
        assert!(matches!(world.retain::<()>(orc), Err(ChangeError::RequiredByPool(_))));
    }
    for id in [world.component_id::<Health>(), world.component_id::<Clan>()] {
        assert!(matches!(world.remove_by_id(orc, id.unwrap()), Err(ChangeError::RequiredByPool(_))));
        assert!(panic_text(|| world.entity_mut(orc).remove_by_id(id.unwrap()).id()).contains("requires"));
    }
    assert_eq!(panic_text(|| world.entity_mut(orc).remove::<Health>().id()), text);
    assert!(panic_text(|| world.entity_mut(orc).clear().id()).contains("requires"));
    assert_eq!(components(&world, orc), before);
    // What is not there, or optional, may go.
    world.remove::<(Rage, Wings)>(orc).unwrap();
    assert!(world.retain::<(Position, Health, Clan)>(orc).is_ok());
    assert_eq!(components(&world, orc).len(), 3);
    ok(&world);
}

#[test]
fn taking_a_bundle_with_a_required_part_takes_nothing() {
    let mut world = World::new();
    let orc = world.spawn_in(Orcs { rage: Some(Rage(4)), ..orc(1) });
    assert_eq!(world.take::<(Rage, Health)>(orc), None);
    assert!(matches!(world.try_take::<(Rage, Health)>(orc), Err(ChangeError::RequiredByPool(_))));
    assert_eq!(world.try_take::<(Rage, Frozen)>(orc), Ok(None));
    assert_eq!(world.entity_mut(orc).take::<Clan>(), None);
    assert_eq!(world.try_take::<Rage>(orc), Ok(Some(Rage(4))));
    ok(&world);
}

// An insertion plans its way back; that must not allow the removal of the required part.
#[test]
fn a_bundle_that_may_come_but_not_go_does_not_go() {
    let mut world = World::new();
    let orc = world.spawn_in(orc(1));
    world.insert(orc, (Rage(1), Clan(9))).unwrap();
    assert!(matches!(world.remove::<(Rage, Clan)>(orc), Err(ChangeError::RequiredByPool(_))));
    assert_eq!((world.get::<Rage>(orc), world.get::<Clan>(orc)), (Some(&Rage(1)), Some(&Clan(9))));
    ok(&world);
}

#[test]
fn refused_values_are_dropped_once_and_nothing_is_left_of_them() {
    let mut world = World::new();
    let orc = world.spawn_in(orc(1));
    let value = Arc::new(());
    assert!(world.insert(orc, Held(value.clone())).is_err());
    assert!(world.insert(orc, (Rage(1), Held(value.clone()))).is_err());
    world.commands().entity(orc).insert(Held(value.clone()));
    world.commands().entity(orc).insert((Frozen, Held(value.clone())));
    world.flush();
    assert_eq!(Arc::strong_count(&value), 1);
    assert_eq!((world.get::<Rage>(orc), world.get::<Frozen>(orc)), (None, None));
}

#[test]
fn batches_skip_what_pools_refuse() {
    let mut world = World::new();
    let (orc, elf, general) = (world.spawn_in(orc(1)), world.spawn_in(elf("a")), world.spawn(Rage(1)).id());
    assert_eq!(world.insert_batch([(orc, Wings), (elf, Wings), (general, Wings)]), 1);
    assert_eq!(world.insert_batch([(orc, Health(5)), (elf, Health(5)), (general, Health(5))]), 3);
    assert_eq!(world.remove_batch::<Health>([orc, elf, general]), 2);
    assert_eq!((world.get::<Health>(orc), world.get::<Health>(elf)), (Some(&Health(5)), None));
    ok(&world);
}

#[test]
fn whole_archetypes_are_refused_with_a_panic() {
    let mut world = World::new();
    let first = world.spawn_in(orc(1));
    let second = world.spawn_in(orc(2));
    let home = world.archetype_of(first).unwrap();
    let text = panic_text(|| world.insert_into_archetype(home, &Wings));
    assert!(text.starts_with(&format!("entity {first} is in pool `Orcs`, which does not declare")), "{text}");
    let text = panic_text(|| world.remove_from_archetype::<Health>(home));
    assert!(text.contains("which requires"), "{text}");
    assert_eq!(world.archetype_of(second), Some(home));
    assert_eq!(world.insert_into_archetype(home, &Rage(3)), 2);
    assert_eq!(world.get::<Rage>(second), Some(&Rage(3)));
    let angry = world.archetype_of(first).unwrap();
    assert_eq!(world.remove_from_archetype::<Rage>(angry), 2);
    assert_eq!(world.archetype_of(first), Some(home));
    assert_eq!(world.insert_into_archetype(home, &Burning(3)), 2);
    assert_eq!(world.pool_of(first), world.pool_id::<Orcs>());
    ok(&world);
}

#[test]
fn run_time_components_stay_in_general() {
    let mut world = World::new();
    let hp = world.register_dynamic(Schema::new("hp").field("now", FieldType::I32)).unwrap();
    let orc = world.spawn_in(orc(1));
    let error = world.insert_dynamic(orc, hp, &[("now", 3.into())]).unwrap_err();
    assert!(matches!(error, FieldError::NotInPool(_)));
    assert_eq!(
        error.to_string(),
        format!(
            "entity {orc} is in pool `Orcs`, which does not declare `hp`: declare it there, or migrate the entity"
        )
    );
    assert_eq!(world.remove_by_id(orc, hp), Ok(false));
    let health = world.component_id::<Position>().unwrap();
    world.set_field(orc, health, "x", 9.0f32).unwrap();
    ok(&world);
}

fn in_both_orders(test: impl Fn(World)) {
    for order in [FlushOrder::Recorded, FlushOrder::Staged] {
        let mut world = World::new();
        world.set_flush_order(order);
        test(world);
    }
}

#[test]
fn commands_that_a_pool_refuses_are_skipped_counted_and_told() {
    in_both_orders(|mut world| {
        let orc = world.spawn_in(orc(1));
        let lone = world.spawn_in(elf("a"));
        let mut commands = world.commands();
        // Alone, and among others on the same entity.
        commands.entity(lone).insert(Wings);
        commands.entity(orc).insert(Rage(2)).insert(Wings).remove::<Health>().insert(Frozen).remove::<Clan>();
        world.flush();
        let stats = world.command_stats();
        assert_eq!((stats.applied, stats.skipped, stats.refused), (2, 0, 4));
        assert!(world.last_refused_command().is_some());
        assert_eq!(world.get::<Rage>(orc), Some(&Rage(2)));
        assert!(world.get::<Frozen>(orc).is_some() && world.get::<Wings>(orc).is_none());
        assert_eq!((world.get::<Health>(orc), world.get::<Clan>(orc)), (Some(&Health(1)), Some(&Clan(1))));
        assert_eq!(world.get::<Wings>(lone), None);
        world.commands().entity(lone).remove::<Name>();
        world.flush();
        assert!(world.last_refused_command().unwrap().to_string().contains("requires"));
        ok(&world);
    });
}

#[test]
fn commands_spawn_in_pools_with_an_id_that_is_valid_at_once() {
    in_both_orders(|mut world| {
        let mut commands = world.commands();
        let plain = commands.spawn_in(orc(1)).id();
        let changed = commands.spawn_in(orc(2)).insert(Rage(5)).remove::<Burning>().insert(Wings).id();
        let full =
            commands.spawn_in(Elves { burning: Some(Burning(1)), ..elf("f") }).remove::<Burning>().id();
        let brief = commands.spawn_in(elf("b")).id();
        commands.entity(brief).insert(Health(1)).despawn();
        let ghost = commands.spawn_in(Ghosts { frozen: None, burning: None }).id();
        assert!(!world.contains(plain));
        world.flush();
        ok(&world);
        assert_eq!(world.pool_of(plain), world.pool_id::<Orcs>());
        assert_eq!(world.get::<Health>(plain), Some(&Health(1)));
        assert_eq!((world.get::<Rage>(changed), world.get::<Wings>(changed)), (Some(&Rage(5)), None));
        assert_eq!(world.get::<Clan>(changed), Some(&Clan(2)));
        assert_eq!((world.get::<Burning>(full), world.pool_of(full)), (None, world.pool_id::<Elves>()));
        assert_eq!(world.pool_of(ghost), world.pool_id::<Ghosts>());
        assert!(!world.contains(brief));
        assert_eq!(world.command_stats().refused, 1);
        assert_eq!(world.pool::<General>().len(), 0);
    });
}

fn spawner(mut commands: Commands, orcs: Query<Entity, InPool<Orcs>>) {
    let id = commands.spawn_in(orc(8)).id();
    commands.entity(id).insert(Frozen);
    for entity in &orcs {
        commands.entity(entity).insert(Rage(1)).insert(Wings);
    }
}

#[test]
fn systems_record_spawns_in_pools() {
    let mut app = App::new();
    app.add_systems(Update, spawner);
    app.step(0.1);
    app.step(0.1);
    let world = app.world();
    assert_eq!(world.pool::<Orcs>().len(), 2);
    assert_eq!(world.view_filtered::<Entity, (InPool<Orcs>, With<Rage>)>().count(), 1);
    assert_eq!(world.view_filtered::<Entity, (InPool<Orcs>, With<Frozen>)>().count(), 2);
    assert_eq!(world.command_stats().refused, 1);
    ok(world);
}

#[test]
fn a_reserved_entity_that_was_changed_before_it_enters_its_pool_begins_anew() {
    let mut world = World::new();
    let id = world.commands().spawn_in(orc(1)).id();
    // Alive from here on, in General: another structural change has brought reserved ids to life.
    world.spawn(Health(1));
    if world.contains(id) {
        world.insert(id, (Wings, Mark(1))).unwrap();
    }
    world.flush();
    assert_eq!(world.pool_of(id), world.pool_id::<Orcs>());
    assert_eq!(world.entity(id).component_ids().count(), 3);
    ok(&world);
}

#[test]
fn groups_and_sets_work_across_pools() {
    let mut world = World::new();
    let group = world.group::<Own<(Burning, Clan)>, Get<()>, ()>().unwrap();
    let orc = world.spawn_in(Orcs { burning: Some(Burning(1)), ..orc(3) });
    let elf = world.spawn_in(Elves { burning: Some(Burning(2)), clan: Some(Clan(4)), ..elf("e") });
    let general = world.spawn((Burning(3), Clan(5))).id();
    assert_eq!(group.iter(&world).map(|(entity, ..)| entity).collect::<Vec<_>>(), [orc, elf, general]);
    world.pool_mut::<Orcs>().remove::<Burning>(orc).unwrap();
    assert_eq!(group.iter(&world).count(), 2);
    world.migrate::<Elves, General>(elf).unwrap();
    assert_eq!(group.iter(&world).count(), 2);
    ok(&world);
}
