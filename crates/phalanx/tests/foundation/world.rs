//! Each method of the world does what its name says, and wrong use is reported in words.
//!
//! This file goes through `World`, `EntityRef`, `EntityWorldMut`, `Commands`, resources and messages, method
//! by method. `errors` holds the wrong uses with the text they get, `require` what `#[require]` means,
//! `dynamic` the components that are described at run time, and `fields` those of whole values by name.

use std::collections::BTreeSet;
use std::sync::Arc;

use phalanx::archetype::ArchetypeId;
use phalanx::messages::Messages;
use phalanx::prelude::*;

#[path = "world/boxed.rs"]
mod boxed;
#[path = "world/dynamic.rs"]
mod dynamic;
#[path = "world/errors.rs"]
mod errors;
#[path = "world/fields.rs"]
mod fields;
#[path = "world/require.rs"]
mod require;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa", name = "test.Position")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(name = "test.Health")]
struct Health(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(name = "test.Name")]
struct Name(String);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(name = "test.Frozen")]
struct Frozen;

#[derive(Bundle, Clone)]
struct Body {
    position: Position,
    health: Health,
}

#[derive(Resource, Debug, Default, PartialEq)]
struct Score(u32);

#[derive(Message, Debug, PartialEq)]
struct Hit(u32);

const HERE: Position = Position { x: 1.0, y: 2.0 };

fn position(world: &World, entity: Entity) -> Option<Position> {
    world.get::<Position>(entity).map(|row| row.get())
}

fn names(world: &World, entity: Entity) -> Vec<&str> {
    let ids = world.entity(entity).component_ids();
    ids.map(|id| world.components().get_info(id).expect("registered").name()).collect()
}

#[track_caller]
fn checked(world: &World) {
    world.check().expect("the world is consistent");
}

#[test]
fn a_new_world_is_empty() {
    for world in [World::new(), World::default()] {
        assert_eq!((world.entities().len(), world.components().len()), (0, 0));
        // The empty archetype is always there.
        assert_eq!(world.archetypes().iter().collect::<Vec<_>>(), [ArchetypeId::EMPTY]);
        checked(&world);
    }
}

// O-001, O-142, O-144.
#[test]
fn spawn_gives_an_entity_with_the_bundle() {
    let mut world = World::new();
    let mut spawned = world.spawn((HERE, Health(3), Frozen));
    let entity = spawned.id();
    assert_eq!(spawned.get::<Health>(), Some(&Health(3)));
    spawned.get_mut::<Health>().expect("just spawned").0 = 4;
    assert_eq!(position(&world, entity), Some(HERE));
    assert_eq!(world.get::<Health>(entity), Some(&Health(4)));
    assert_eq!(names(&world, entity), ["test.Position", "test.Health", "test.Frozen"]);
    let other = world.spawn(Body { position: HERE, health: Health(5) }).id();
    assert_ne!(entity, other);
    assert_eq!(world.get::<Health>(other), Some(&Health(5)));
    assert_eq!(world.entities().len(), 2);
}

// O-037, O-038, O-040, O-042, O-043, O-044.
#[test]
fn spawn_empty_gives_an_entity_without_components_and_without_a_row() {
    let mut world = World::new();
    world.register_component::<Health>();
    let entity = world.spawn_empty().id();
    assert!(world.contains(entity));
    assert!(!world.entity(entity).contains::<Health>());
    assert_eq!(world.get::<Health>(entity), None);
    assert_eq!(world.entity(entity).component_ids().count(), 0);
    assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY));
    assert_eq!(world.entities().rowless_len(), 1);
    // The empty archetype has the entity, but no memory for it.
    let stats = world.stats();
    assert_eq!(stats.archetypes.len(), 1);
    assert_eq!((stats.archetypes[0].entities, stats.archetypes[0].bytes), (1, 0));
    // The empty bundle is the same.
    let same = world.spawn(()).id();
    assert_eq!(world.archetype_of(same), Some(ArchetypeId::EMPTY));
    assert_eq!(world.spawn_batch([(), ()]).len(), 2);
    assert_eq!(world.entities().rowless_len(), 4);
}

#[test]
fn spawn_batch_gives_an_entity_per_bundle_in_order() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..50).map(|n| (Health(n), Frozen))).collect();
    assert_eq!(entities.iter().collect::<BTreeSet<_>>().len(), 50);
    for (n, &entity) in (0..).zip(&entities) {
        assert_eq!(world.get::<Health>(entity), Some(&Health(n)));
    }
    assert_eq!(world.spawn_batch(Vec::<Health>::new()).next(), None);
    // A caller that does not want the ids need not ask for them.
    world.spawn_batch([Health(1), Health(2)]);
    assert_eq!(world.entities().len(), 52);
    checked(&world);
}

// O-030, O-034, O-035.
#[test]
fn despawn_tells_whether_the_entity_was_alive() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    assert!(world.contains(entity));
    assert!(world.despawn(entity));
    assert!(!world.contains(entity));
    assert!(!world.despawn(entity));
    let other = world.spawn(Health(2)).id();
    assert_eq!(world.try_despawn(other), Ok(()));
    assert_eq!(world.try_despawn(other).map_err(|error| error.entity), Err(other));
    let third = world.spawn(Health(3)).id();
    world.entity_mut(third).despawn();
    assert!(!world.contains(third));
    assert!(world.entities().is_empty());
}

#[test]
fn an_entity_can_be_read_through_a_reference() {
    let mut world = World::new();
    let frozen = world.register_component::<Frozen>();
    let health = world.register_component::<Health>();
    let entity = world.spawn((Health(1), HERE)).id();
    let read = world.entity(entity);
    assert_eq!(read.id(), entity);
    assert!(std::ptr::eq(read.world(), &raw const world));
    assert!(read.contains::<Health>() && !read.contains::<Frozen>());
    assert!(read.contains_id(health) && !read.contains_id(frozen));
    assert!(!read.contains::<Name>(), "a type that the world has not met");
    assert_eq!(read.get::<Health>(), Some(&Health(1)));
    assert_eq!(read.get::<position::y>(), Some(&2.0));
    assert_eq!(read.get::<Frozen>(), None);
    assert_eq!(Some(read.archetype()), world.archetype_of(entity));
    assert!(read.component_ids().eq([health, world.component_id::<Position>().expect("registered")]));
    assert_eq!(format!("{read:?}"), r#"0v0 {"test.Health", "test.Position"}"#);
    // It can be copied, and what it lends lives as long as the world is borrowed.
    let copy = read;
    let lent = copy.get::<Health>();
    assert_eq!((world.get_entity(entity).map(|read| read.id()), lent), (Ok(entity), Some(&Health(1))));
}

// O-141, O-146, O-147, O-150.
#[test]
fn changes_of_an_entity_are_chained() {
    let mut world = World::new();
    let entity =
        world.spawn(Health(1)).insert((HERE, Frozen)).remove::<Health>().insert(Name("a".into())).id();
    assert_eq!(names(&world, entity), ["test.Position", "test.Frozen", "test.Name"]);
    let frozen = world.component_id::<Frozen>().expect("registered");
    let mut changed = world.entity_mut(entity);
    changed
        .insert(Name("b".into()))
        .insert_if_new((Name("c".into()), Health(7)))
        .remove_by_id(frozen)
        .patch::<Health>(|mut health| health.0 += 1)
        .expect("just inserted")
        .retain::<(Name, Health)>();
    assert_eq!(changed.get::<Name>(), Some(&Name("b".into())));
    assert_eq!(changed.get::<Health>(), Some(&Health(8)));
    assert!(!changed.contains::<Position>() && !changed.contains_id(frozen));
    assert_eq!(changed.as_readonly().component_ids().count(), 2);
    assert_eq!(changed.world().entities().len(), 1);
    assert_eq!(format!("{changed:?}"), r#"0v0 {"test.Health", "test.Name"}"#);
    assert_eq!(changed.clear().id(), entity);
    assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY));
    checked(&world);
}

#[test]
fn take_returns_the_whole_bundle_or_leaves_everything() {
    let mut world = World::new();
    let entity = world.spawn((HERE, Health(1), Name("a".into()))).id();
    assert_eq!(world.entity_mut(entity).take::<(Name, Frozen)>(), None);
    assert_eq!(world.entity(entity).component_ids().count(), 3);
    let (name, at) = world.entity_mut(entity).take::<(Name, Position)>().expect("it has both");
    assert_eq!((name, at), (Name("a".into()), HERE));
    assert_eq!(names(&world, entity), ["test.Health"]);
    assert_eq!(world.take::<Health>(entity), Some(Health(1)));
    assert_eq!(world.take::<Health>(entity), None);
    assert_eq!(world.take::<()>(entity), Some(()));
}

#[test]
fn get_mut_writes_whole_values_rows_and_single_fields() {
    let mut world = World::new();
    let entity = world.spawn((HERE, Health(1))).id();
    world.get_mut::<Health>(entity).expect("has it").0 = 9;
    *world.get_mut::<position::x>(entity).expect("has it") = 5.0;
    *world.get_mut::<Position>(entity).expect("has it").y += 1.0;
    assert!(world.get_mut::<Frozen>(entity).is_none());
    assert_eq!(world.get::<Health>(entity), Some(&Health(9)));
    assert_eq!(position(&world, entity), Some(Position { x: 5.0, y: 3.0 }));
}

// O-140, O-150, O-151.
#[test]
fn insert_and_remove_on_the_world_take_the_entity() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    assert_eq!(world.insert(entity, (Health(1), Frozen, HERE)), Ok(()));
    assert_eq!(world.remove::<(Frozen, Name, Position)>(entity), Ok(()));
    assert_eq!(names(&world, entity), ["test.Health"]);
    // What is not there is not missed.
    assert_eq!(world.remove::<(Frozen, Name)>(entity), Ok(()));
    assert_eq!(names(&world, entity), ["test.Health"]);
    let health = world.component_id::<Health>().expect("registered");
    assert_eq!(world.retain::<Health>(entity), Ok(()));
    assert_eq!(world.remove_by_id(entity, health), Ok(true));
    assert_eq!(world.remove_by_id(entity, health), Ok(false));
    assert_eq!(names(&world, entity), [""; 0]);
}

#[test]
fn batches_skip_the_dead_and_count_the_living() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..4).map(Health)).collect();
    world.despawn(entities[1]);
    assert_eq!(world.insert_batch(entities.iter().map(|&entity| (entity, (Frozen, Health(9))))), 3);
    for &entity in &[entities[0], entities[2], entities[3]] {
        assert_eq!(world.get::<Health>(entity), Some(&Health(9)));
        assert!(world.entity(entity).contains::<Frozen>());
    }
    assert_eq!(world.remove_batch::<Frozen>(entities.iter().copied()), 3);
    assert!(!world.entity(entities[0]).contains::<Frozen>());
    assert_eq!(world.despawn_batch(entities.iter().copied()), 3);
    assert!(world.entities().is_empty());
    assert_eq!(world.insert_batch([(entities[0], Frozen)]), 0);
    checked(&world);
}

#[test]
fn clear_entities_ends_every_entity_and_nothing_else() {
    let mut world = World::new();
    let old: Vec<Entity> = world.spawn_batch([(Health(1), HERE), (Health(2), HERE)]).collect();
    let empty = world.spawn_empty().id();
    world.insert_resource(Score(3));
    let archetypes = world.archetypes().len();
    world.clear_entities();
    assert_eq!(world.entities().len(), 0);
    assert!(old.iter().chain([&empty]).all(|&entity| !world.contains(entity)));
    assert_eq!(world.archetypes().len(), archetypes);
    assert_eq!(world.resource::<Score>(), &Score(3));
    let new: Vec<Entity> = world.spawn_batch([Health(1), Health(2), Health(3)]).collect();
    assert!(new.iter().all(|entity| !old.contains(entity) && *entity != empty));
    assert!(old.iter().all(|&entity| world.get::<Health>(entity).is_none()));
    checked(&world);
}

// O-056, O-060.
#[test]
fn components_get_ids_in_the_order_they_are_met() {
    let mut world = World::new();
    assert_eq!(world.component_id::<Health>(), None);
    let health = world.register_component::<Health>();
    assert_eq!(world.register_component::<Health>(), health);
    assert_eq!(world.try_register_component::<Health>(), Ok(health));
    assert_eq!(world.component_id::<Health>(), Some(health));
    world.spawn((Frozen, HERE));
    let frozen = world.component_id::<Frozen>().expect("spawned");
    let place = world.component_id::<Position>().expect("spawned");
    assert_eq!([health, frozen, place].map(phalanx::ComponentId::index), [0, 1, 2]);
    assert_eq!(world.register_bundle::<(Name, Health)>(), Ok(()));
    assert_eq!(world.component_id::<Name>().map(phalanx::ComponentId::index), Some(3));
    let info = world.components().get_info(place).expect("registered");
    assert_eq!((info.id(), info.name()), (place, "test.Position"));
    assert_eq!(world.components().by_name("test.Position"), Some(place));
    assert_eq!(world.components().by_name("Position"), None);
    assert_eq!(world.components().iter().count(), 4);
}

#[test]
fn resources_are_inserted_read_written_and_removed() {
    let mut world = World::new();
    assert!(!world.contains_resource::<Score>());
    assert_eq!(world.get_resource::<Score>(), None);
    assert_eq!(world.get_resource_mut::<Score>(), None);
    assert_eq!(world.insert_resource(Score(1)), None);
    assert_eq!(world.insert_resource(Score(2)), Some(Score(1)));
    world.resource_mut::<Score>().0 += 1;
    assert_eq!(world.resource::<Score>(), &Score(3));
    world.get_resource_mut::<Score>().expect("inserted").0 += 1;
    assert_eq!(world.get_resource::<Score>(), Some(&Score(4)));
    let id = world.init_resource::<Score>();
    assert_eq!(world.resource::<Score>().0, 4, "the value that is there stays");
    assert!(world.contains_resource::<Score>());
    assert_eq!(world.remove_resource::<Score>(), Some(Score(4)));
    assert_eq!(world.remove_resource::<Score>(), None);
    assert_eq!(world.init_resource::<Score>(), id, "a type keeps its number");
    assert_eq!(world.resource::<Score>().0, 0);
    assert_eq!(world.get_resource_or_insert_with(|| Score(9)).0, 0);
    world.remove_resource::<Score>();
    assert_eq!(world.get_resource_or_insert_with(|| Score(9)).0, 9);
}

#[test]
fn messages_live_until_the_end_of_the_next_frame() {
    let mut world = World::new();
    assert!(world.messages::<Hit>().is_none());
    let first = world.write_message(Hit(1));
    let second = world.write_message(Hit(2));
    assert!(first < second);
    let messages = world.messages::<Hit>().expect("written");
    assert_eq!(messages.as_slice(), [Hit(1), Hit(2)]);
    assert_eq!(messages.get_message(second), Some((&Hit(2), second)));
    world.end_frame();
    world.write_message(Hit(3));
    world.end_frame();
    assert_eq!(world.messages::<Hit>().expect("written").as_slice(), [Hit(3)]);
    world.messages_mut::<Hit>().set_keep(0);
    world.end_frame();
    assert!(world.messages::<Hit>().expect("written").is_empty());
}

#[test]
fn commands_wait_for_the_flush() {
    let mut world = World::new();
    let known = world.spawn((Health(1), Frozen)).id();
    let despawned = world.spawn(Health(2)).id();
    let mut commands = world.commands();
    let spawned = commands.spawn((Health(3), HERE)).remove::<Position>().insert(Frozen).id();
    let empty = commands.spawn_empty().id();
    commands.spawn_batch([Health(4), Health(5)]);
    commands.entity(known).insert((Health(6), HERE)).remove::<Frozen>();
    assert_eq!(commands.entity(known).id(), known);
    commands.entity(despawned).despawn();
    commands.insert_resource(Score(7));
    commands.write_message(Hit(8));
    commands.queue(|world: &mut World| world.resource_mut::<Score>().0 += 1);
    assert!(!world.contains(spawned) && !world.contains(empty) && world.contains(despawned));
    assert_eq!((world.entities().len(), world.get_resource::<Score>()), (2, None));
    world.flush();
    assert_eq!(names(&world, spawned), ["test.Health", "test.Frozen"]);
    assert_eq!(names(&world, empty), [""; 0]);
    assert_eq!(names(&world, known), ["test.Health", "test.Position"]);
    assert_eq!(world.get::<Health>(known), Some(&Health(6)));
    assert!(!world.contains(despawned));
    assert_eq!(world.entities().len(), 5);
    assert_eq!(world.resource::<Score>(), &Score(8));
    assert_eq!(world.messages::<Hit>().map(Messages::len), Some(1));
    // What was applied is not applied again.
    world.flush();
    assert_eq!((world.entities().len(), world.resource::<Score>()), (5, &Score(8)));
    checked(&world);
}

#[test]
fn commands_on_the_dead_are_skipped_and_nested_ones_come_last() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let count = Arc::new(());
    let held = count.clone();
    let mut commands = world.commands();
    commands.entity(entity).despawn();
    commands.entity(entity).insert(Frozen).remove::<Health>().despawn();
    commands.queue(move |world: &mut World| {
        world.commands().queue(|world: &mut World| world.resource_mut::<Score>().0 *= 10);
        drop(held);
    });
    commands.insert_resource(Score(2));
    commands.queue(|world: &mut World| world.resource_mut::<Score>().0 += 1);
    world.flush();
    assert_eq!((world.contains(entity), world.resource::<Score>()), (false, &Score(30)));
    assert_eq!(Arc::strong_count(&count), 1);
    // A world that ends with commands drops what they hold.
    let held = count.clone();
    world.commands().queue(move |_: &mut World| drop(held));
    drop(world);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn a_reserved_entity_comes_alive_at_the_flush() {
    let mut world = World::new();
    let reserved = world.reserve_entity();
    let other = world.reserve_entity();
    assert_ne!(reserved, other);
    assert!(!world.contains(reserved));
    assert_eq!(world.archetype_of(reserved), None);
    world.flush();
    assert_eq!(world.archetype_of(reserved), Some(ArchetypeId::EMPTY));
    // The next structural change does as well.
    let third = world.reserve_entity();
    let spawned = world.spawn(Health(1)).id();
    assert!(world.contains(third) && spawned != third);
    checked(&world);
}

#[test]
fn reserve_makes_room_and_shrink_to_fit_gives_it_back() {
    let mut world = World::new();
    world.reserve(1000);
    assert!(world.entities().capacity() >= 1000);
    world.reserve_rows::<(Health, Position)>(500);
    let entity = world.spawn((Health(1), HERE)).id();
    let capacity = |world: &World| {
        let archetype = world.archetype_of(entity).expect("alive");
        world.stats().archetypes.into_iter().find(|stats| stats.id == archetype).expect("it exists").capacity
    };
    assert!(capacity(&world) >= 500);
    let before = world.stats().bytes();
    world.shrink_to_fit();
    assert_eq!(capacity(&world), 1);
    // The column index has an entry for each column of the process; what a world with one entity takes is not room.
    let mut twin = World::new();
    twin.spawn((Health(1), HERE));
    twin.shrink_to_fit();
    let least = twin.stats().bytes();
    assert!(world.stats().bytes().saturating_sub(least) < (before - least) / 10);
    assert_eq!(position(&world, entity), Some(HERE));
    checked(&world);
}

#[test]
fn empty_archetypes_can_be_dropped_and_come_again() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), HERE, Frozen)).id();
    let other = world.spawn(Name("a".into())).id();
    assert_eq!(world.drop_empty_archetypes(), 0);
    let old = world.archetype_of(entity).expect("alive");
    world.entity_mut(entity).remove::<Frozen>();
    assert_eq!(world.drop_empty_archetypes(), 1);
    assert!(!world.archetypes().contains(old));
    assert!(world.archetypes().signature(old).is_empty());
    world.entity_mut(entity).insert(Frozen);
    assert_eq!(world.entity(entity).component_ids().count(), 3);
    assert_eq!(world.get::<Name>(other), Some(&Name("a".into())));
    checked(&world);
}

#[test]
fn stats_count_entities_archetypes_bytes_and_free_slots() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..100).map(|n| (Health(n), HERE, Frozen))).collect();
    world.spawn_empty();
    world.despawn(entities[7]);
    world.shrink_to_fit();
    let stats = world.stats();
    assert_eq!((stats.entities, stats.free_slots, stats.retired_slots), (100, 1, 0));
    assert_eq!(stats.directory_bytes, 101 * 12);
    let [empty, body] = &stats.archetypes[..] else { panic!("two archetypes") };
    assert_eq!((empty.id, empty.entities, empty.bytes), (ArchetypeId::EMPTY, 1, 0));
    assert_eq!((body.entities, body.capacity), (99, 99));
    let columns: Vec<(&str, &str, usize)> =
        body.columns.iter().map(|column| (&*column.component, &*column.field, column.bytes)).collect();
    let size = 99 * 4;
    let expected = [
        ("test.Health", "", size),
        ("test.Position", "x", size),
        ("test.Position", "y", size),
        ("test.Frozen", "", 0),
    ];
    assert_eq!(columns, expected);
    assert_eq!(body.bytes, 3 * size + 99 * 8);
    let headers: usize = stats.pools.iter().flat_map(|pool| &pool.record_bytes).sum();
    assert_eq!(stats.bytes(), body.bytes + headers + stats.directory_bytes + stats.index_bytes);
    let text = stats.to_string();
    assert!(text.starts_with("100 entities in 2 archetypes, "), "{text}");
    assert!(text.contains("99 x {test.Health, test.Position, test.Frozen}: "), "{text}");
}

#[test]
fn whole_archetypes_receive_and_lose_bundles_at_once() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..10).map(|n| (Health(n), HERE))).collect();
    let archetype = world.archetype_of(entities[0]).expect("alive");
    assert_eq!(world.insert_into_archetype(archetype, &(Name("all".into()), Frozen)), 10);
    assert_eq!(world.insert_into_archetype(archetype, &Frozen), 0, "it has no entities any more");
    let archetype = world.archetype_of(entities[3]).expect("alive");
    assert_eq!(world.insert_into_archetype(archetype, &Health(77)), 10, "in place");
    assert_eq!(world.get::<Health>(entities[4]), Some(&Health(77)));
    assert_eq!(world.remove_from_archetype::<(Position, Frozen)>(archetype), 10);
    for &entity in &entities {
        assert_eq!(names(&world, entity), ["test.Health", "test.Name"]);
        assert_eq!(world.get::<Name>(entity), Some(&Name("all".into())));
    }
    // Entities without components form an archetype too.
    let rowless = world.spawn_empty().id();
    assert_eq!(world.remove_from_archetype::<Health>(ArchetypeId::EMPTY), 1);
    assert_eq!(world.insert_into_archetype(ArchetypeId::EMPTY, &Frozen), 1);
    assert_eq!(names(&world, rowless), ["test.Frozen"]);
    checked(&world);
}

#[test]
fn the_tick_moves_on_when_told() {
    let mut world = World::new();
    let before = world.read_change_tick();
    assert_eq!(world.increment_change_tick(), before);
    let after = world.read_change_tick();
    assert!(after > before);
}

#[test]
fn worlds_do_not_know_each_other() {
    let (mut one, mut two) = (World::new(), World::new());
    let position = one.register_component::<Position>();
    let frozen = two.register_component::<Frozen>();
    assert_eq!(position, frozen, "ids count from zero in each world");
    let entity = one.spawn((HERE, Health(1))).id();
    assert!(!two.contains(entity));
    let same = two.spawn(Frozen).id();
    assert_eq!(entity, same);
    assert_eq!(two.get::<Health>(same), None);
    assert_eq!(one.get::<Frozen>(entity), None);
    assert!(two.despawn(same) && one.contains(entity));
}
