//! The numbered requirements on entities, archetypes and the world that no other file shows.
//!
//! Requirements O.1 to O.9, O.19 and E.7, in their order: here how values lie in memory, and where entities
//! and rows come and go; in `graph` which ways between archetypes are worked out, what matching finds, and
//! what changes do. What cannot be seen through the public interface is shown by the unit tests of the store.

use phalanx::archetype::ArchetypeId;
use phalanx::prelude::*;
use phalanx_store::{Col, ColCell, Store, TableId};

#[path = "seeds/graph.rs"]
mod graph;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Debug, PartialEq)]
struct Health(u32);

#[derive(Component, Clone, Debug, PartialEq)]
struct Name(String);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Fixed;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Hidden;

#[track_caller]
fn checked(world: &World) {
    world.check().expect("the world is consistent");
}

/// The entities of an archetype, row by row.
fn rows(world: &World, archetype: ArchetypeId) -> Vec<Entity> {
    world.view::<Entity>().iter().filter(|&entity| world.archetype_of(entity) == Some(archetype)).collect()
}

fn archetype(world: &World, entity: Entity) -> ArchetypeId {
    world.archetype_of(entity).expect("alive")
}

// O.1, O.5: memory.

/// A system, as it will be scheduled: a function over all entities that have some components.
fn movement(world: &mut World) {
    for (position, velocity) in world.view_mut::<(&mut Position, &Velocity)>().chunks_mut() {
        for row in 0..position.len() {
            position.x[row] += velocity.x[row];
            position.y[row] += velocity.y[row];
        }
    }
}

// O-004, O-073, O-078, O-087, O-088, O-090, O-302.
#[test]
fn ten_thousand_entities_are_one_pass_over_one_array_per_field() {
    let mut world = World::new();
    let entities: Vec<Entity> = world
        .spawn_batch(
            (0..10_000_u16)
                .map(|n| (Position { x: f32::from(n), y: 0.0 }, Velocity { x: 1.0, y: f32::from(n) })),
        )
        .collect();
    movement(&mut world);
    let query = world.view::<(&Position, &Velocity)>();
    let chunks: Vec<_> = query.chunks().collect();
    let [(position, velocity)] = &chunks[..] else { panic!("one table, one chunk") };
    assert_eq!([position.x.len(), position.y.len(), velocity.x.len(), velocity.y.len()], [10_000; 4]);
    let tables: Vec<_> = query.tables().collect();
    assert_eq!(tables[0].entities(), entities);
    for (row, &entity) in entities.iter().enumerate() {
        let there = Position { x: position.x[row], y: position.y[row] };
        assert_eq!(there, Position { x: row as f32 + 1.0, y: row as f32 });
        // The row of every column is the entity's.
        assert!(std::ptr::eq(world.get::<position::x>(entity).expect("has it"), &raw const position.x[row]));
        assert!(std::ptr::eq(world.get::<velocity::y>(entity).expect("has it"), &raw const velocity.y[row]));
    }
}

// O-074, O-299, O-300: length and room are two things, and all columns have the same of both.
#[test]
fn all_columns_of_an_archetype_grow_and_shrink_together() {
    let mut world = World::new();
    let mut entities = Vec::new();
    let mut rooms = Vec::new();
    for n in 0..100 {
        entities.push(world.spawn((Position { x: 0.0, y: 0.0 }, Health(n))).id());
        let stats = world.stats();
        let table = &stats.archetypes[1];
        assert_eq!(table.entities, entities.len());
        assert!(table.columns.iter().all(|column| column.bytes == table.capacity * 4), "{table:?}");
        if rooms.last() != Some(&table.capacity) {
            rooms.push(table.capacity);
        }
    }
    assert_eq!(rooms, [8, 16, 32, 64, 128], "a full table doubles");
    world.despawn_batch(entities.drain(10..));
    assert_eq!((world.stats().archetypes[1].entities, world.stats().archetypes[1].capacity), (10, 128));
    world.shrink_to_fit();
    let table = &world.stats().archetypes[1];
    assert_eq!((table.entities, table.capacity), (10, 10));
    assert!(table.columns.iter().all(|column| column.bytes == 10 * 4));
}

// O-028, O-138, O-139: slots are appended, and growing is amortised.
#[test]
fn the_directory_grows_by_doubling_and_can_be_reserved() {
    let mut world = World::new();
    let mut rooms = Vec::new();
    for n in 0..10_000 {
        assert_eq!(world.spawn_empty().id().index(), n);
        if rooms.last() != Some(&world.entities().capacity()) {
            rooms.push(world.entities().capacity());
        }
    }
    assert!(rooms.len() < 20, "{rooms:?}");
    let mut world = World::new();
    world.reserve(10_000);
    let room = world.entities().capacity();
    world.spawn_batch((0..10_000).map(|_| ()));
    assert_eq!(world.entities().capacity(), room);
}

// O-066, O-067, O-069.
#[test]
fn a_tag_is_a_bit_of_the_signature_and_can_be_filtered_on() {
    let mut world = World::new();
    let still = world.spawn((Health(1), Fixed)).id();
    let loose = world.spawn(Health(2)).id();
    let (with, without) = (archetype(&world, still), archetype(&world, loose));
    let fixed = world.component_id::<Fixed>().expect("spawned");
    assert_ne!(with, without);
    assert_eq!(*world.archetypes().signature(with), world.archetypes().signature(without).with(fixed));
    let free: Vec<Entity> = world.view_filtered::<Entity, Without<Fixed>>().iter().collect();
    assert_eq!(free, [loose]);
    let held: Vec<Entity> = world.view_filtered::<Entity, With<Fixed>>().iter().collect();
    assert_eq!(held, [still]);
    let stats = world.stats();
    let columns = stats.archetypes.iter().flat_map(|table| &table.columns);
    assert!(columns.filter(|column| column.component.ends_with("Fixed")).all(|column| column.bytes == 0));
}

// O-085, O-089, O-100, O-115: entities come, move and go; there are no columns to be visited.
#[test]
fn archetypes_of_tags_hold_entities_and_no_other_memory() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch([(Fixed, Hidden); 10]).collect();
    let tags = archetype(&world, entities[0]);
    for &entity in &entities[..3] {
        world.entity_mut(entity).remove::<Hidden>();
    }
    world.despawn(entities[4]);
    assert_eq!(rows(&world, tags), [9, 8, 7, 3, 6, 5].map(|n: usize| entities[n]));
    let fixed = archetype(&world, entities[0]);
    assert_eq!(rows(&world, fixed), entities[..3]);
    world.shrink_to_fit();
    for table in &world.stats().archetypes[1..] {
        assert_eq!(table.bytes, table.entities * size_of::<Entity>());
    }
    checked(&world);
}

// O.2, O.3, E.7: entities.

// O-027, O-029 to O-033, E-042, E-056, E-058 to E-068: the trace of the directory, with components.
#[test]
fn a_world_uses_the_slot_freed_last_first() {
    let mut world = World::new();
    let add = |world: &mut World| {
        let entity = world.spawn(Health(1)).id();
        (entity.index(), entity.generation(), world.entities().next_free())
    };
    let gone = |world: &mut World, index: u32, generation: u32| {
        let bits = (u64::from(generation + 1) << 32) | u64::from(index);
        assert!(world.despawn(Entity::from_bits(bits).expect("an id")));
        world.entities().next_free()
    };
    assert_eq!([(); 3].map(|()| add(&mut world)), [(0, 0, None), (1, 0, None), (2, 0, None)]);
    assert_eq!(gone(&mut world, 1, 0), Some(1));
    assert_eq!(add(&mut world), (1, 1, None));
    assert_eq!(gone(&mut world, 1, 1), Some(1));
    assert_eq!(gone(&mut world, 0, 0), Some(0));
    assert_eq!(gone(&mut world, 2, 0), Some(2));
    assert_eq!(add(&mut world), (2, 1, Some(0)));
    assert_eq!(add(&mut world), (0, 1, Some(1)));
    assert_eq!(add(&mut world), (1, 2, None));
    assert_eq!(add(&mut world), (3, 0, None));
    assert_eq!((world.entities().len(), world.entities().slots()), (4, 4));
}

// O-041, O-047: a dead slot says nothing of archetypes and rows.
#[test]
fn a_despawned_entity_has_neither_archetype_nor_row() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch([Health(1), Health(2)]).collect();
    let table = archetype(&world, entities[0]);
    world.despawn(entities[0]);
    assert_eq!(world.archetype_of(entities[0]), None);
    assert_eq!(world.get::<Health>(entities[0]), None);
    assert_eq!(rows(&world, table), [entities[1]]);
    assert_eq!((world.entities().free_len(), world.entities().len()), (1, 1));
}

// O-039, O-040, E-047: alive, in the empty archetype, in no table; queries that ask for nothing see it.
#[test]
fn entities_without_components_are_seen_by_queries_that_require_nothing() {
    let mut world = World::new();
    let bare = world.spawn_empty().id();
    let full = world.spawn(Health(1)).id();
    let cleared = world.spawn(Health(2)).clear().id();
    let mut all: Vec<Entity> = world.view::<Entity>().iter().collect();
    all.sort();
    assert_eq!(all, [bare, full, cleared]);
    let maybe: Vec<bool> = world.view::<Option<&Health>>().iter().map(|health| health.is_some()).collect();
    assert_eq!(maybe.iter().filter(|&&has| has).count(), 1);
    assert_eq!(maybe.len(), 3);
    assert_eq!(world.view::<&Health>().count(), 1);
    assert_eq!(world.entities().rowless().copied().collect::<Vec<_>>(), [bare, cleared]);
}

// O-045, O-046: nothing is copied into the first row, and nothing is left to be removed.
#[test]
fn the_first_component_copies_nothing_and_removes_nothing() {
    static COLUMN: ColCell<u32> = ColCell::new();
    let mut store = Store::new();
    let id = COLUMN.id();
    let table = store.new_table(&[id.any()]);
    let edge = store.insert_edge::<Col<u32>>(TableId::ROWLESS, table, id, &[]).expect("it fits");
    assert_eq!((edge.source(), edge.target(), edge.copied_columns()), (TableId::ROWLESS, table, 0));

    let mut world = World::new();
    let others: Vec<Entity> = world.spawn_batch([Health(1), Health(2)]).collect();
    let bare = world.spawn_empty().id();
    world.entity_mut(bare).insert(Health(3));
    assert_eq!(rows(&world, archetype(&world, bare)), [others[0], others[1], bare]);
    assert_eq!(world.entities().rowless_len(), 0);
    checked(&world);
}

// O.6: rows.

/// Ten entities in the rows of one archetype, each with its number in every column.
fn ten(world: &mut World) -> (Vec<Entity>, ArchetypeId) {
    let bundle = |n: u16| {
        let at = f32::from(n);
        (Health(u32::from(n)), Position { x: at, y: -at }, Name(n.to_string()))
    };
    let entities: Vec<Entity> = world.spawn_batch((0..10).map(bundle)).collect();
    let archetype = archetype(world, entities[0]);
    assert_eq!(rows(world, archetype), entities, "added at the end, in order");
    (entities, archetype)
}

/// Asserts that each living one of the ten has its own values.
#[track_caller]
fn assert_own(world: &World, entities: &[Entity]) {
    for (n, &entity) in entities.iter().enumerate().filter(|(_, entity)| world.contains(**entity)) {
        assert_eq!(world.get::<Health>(entity).map(|health| health.0 as usize), Some(n));
        assert_eq!(world.get::<Name>(entity).map(|name| name.0.clone()), Some(n.to_string()));
        let place = world.get::<Position>(entity).map(|row| row.get());
        assert_eq!(place, Some(Position { x: n as f32, y: -(n as f32) }));
    }
}

// O-091, O-092, O-094, O-095, O-096, O-097, O-098, O-099; hazard 24: first, middle and last row, by every way out.
#[test]
fn the_last_row_takes_the_place_of_the_one_that_leaves() {
    let ways_out: [fn(&mut World, Entity); 5] = [
        |world, entity| assert!(world.despawn(entity)),
        |world, entity| world.insert(entity, Fixed).expect("alive"),
        |world, entity| {
            let position = world.component_id::<Position>().expect("registered");
            assert_eq!(world.remove_by_id(entity, position), Ok(true));
        },
        |world, entity| assert!(world.take::<Velocity>(entity).is_none()),
        |world, entity| world.insert(entity, Velocity { x: 0.0, y: 0.0 }).expect("alive"),
    ];
    for (way, leave) in ways_out.into_iter().enumerate() {
        for row in [0, 4, 9] {
            let mut world = World::new();
            let (entities, archetype) = ten(&mut world);
            leave(&mut world, entities[row]);
            let mut expected = entities.clone();
            // An edge that leads nowhere moves no entity.
            if way != 3 {
                expected.swap_remove(row);
            }
            assert_eq!(rows(&world, archetype), expected, "way {way}, row {row}");
            if way != 2 {
                assert_own(&world, &entities);
            }
            checked(&world);
        }
    }
}

// O-093: one row moves, however many there are.
#[test]
fn removing_a_row_moves_one_other_at_most() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..5_000).map(Health)).collect();
    let table = archetype(&world, entities[0]);
    let before = rows(&world, table);
    world.despawn(entities[17]);
    let after = rows(&world, table);
    let moved = after.iter().zip(&before).filter(|(now, was)| now != was).count();
    assert_eq!((after.len(), moved, after[17]), (4_999, 1, entities[4_999]));
}

// O-075, O-098: after a long history the entities are dense and every column is beside them.
#[test]
fn rows_stay_dense_and_aligned_with_their_entities() {
    let mut world = World::new();
    let (entities, table) = ten(&mut world);
    for n in [2, 9, 0, 5] {
        world.despawn(entities[n]);
    }
    world.entity_mut(entities[7]).insert(Fixed).remove::<Fixed>();
    let query = world.view::<(&Health, &Name, &Position)>();
    let chunk = query.tables().find(|table| !table.is_empty()).expect("six rows");
    let ids = chunk.entities();
    let (healths, names, places) = chunk.slices();
    assert_eq!((ids.len(), healths.len(), names.len(), places.len()), (6, 6, 6, 6));
    assert_eq!(ids, rows(&world, table));
    for (row, &entity) in ids.iter().enumerate() {
        let n = healths[row].0;
        assert_eq!(entities[n as usize], entity);
        assert_eq!((names[row].0.as_str(), places.x[row]), (n.to_string().as_str(), n as f32));
    }
}
