//! Proves that asking a prepared query, walking what it finds and referring to components allocates nothing.
//!
//! The first question prepares a query and may allocate; from then on a lookup, rows, folds, chunks, single
//! entities and columns by name must not. An allocator that counts, for each thread by itself, tells. It tells as well
//! what worlds with very many components and archetypes take.

use std::hint::black_box;

mod common {
    pub mod cast;
    pub mod counting;
}

use common::cast::{Armour, Boss, Frozen, Health, Name, Position, name, position};
use common::counting::{allocations, asked, peak};
use phalanx::ComponentId;
use phalanx::prelude::{Changed, Entity, FieldType, Has, Or, Schema, With, Without, World};

fn scene() -> (World, Vec<Entity>) {
    let mut world = World::new();
    world.spawn_empty();
    let mut ids: Vec<Entity> =
        world.spawn_batch((0..2_000).map(|n| (Health(n), position(1.0), Armour(n)))).collect();
    ids.extend(world.spawn_batch((0..10).map(|n| (Health(n), Frozen, name("n")))));
    world.spawn_empty();
    (world, ids)
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| ()), 0);
    assert_eq!(allocations(|| Box::new(1)), 1);
    assert_eq!(allocations(|| (vec![1_u8], String::from("text"))), 2);
}

// O-172, O-173, O-177, O-181.
#[test]
fn asking_again_allocates_nothing() {
    let (mut world, _) = scene();
    assert!(allocations(|| world.view::<(&Health, &Position)>().count()) > 0, "the first question prepares");
    for _ in 0..3 {
        assert_eq!(allocations(|| world.view::<(&Health, &Position)>().count()), 0);
    }
    // Queries that were met through `&World` are sorted in when an archetype comes; they stay prepared.
    world.spawn((Health(1), Boss));
    assert_eq!(allocations(|| world.view::<(&Health, &Position)>().count()), 0);
    world.view_filtered_mut::<&mut Health, (Without<Frozen>, Or<(With<Boss>, With<Armour>)>)>();
    let again = || {
        world.view_filtered_mut::<&mut Health, (Without<Frozen>, Or<(With<Boss>, With<Armour>)>)>().count()
    };
    assert_eq!(allocations(again), 0);
    let mut kept = world.query_filtered::<&Health, Or<(With<Boss>, Changed<Armour>)>>();
    assert_eq!(allocations(|| kept.query(&world).iter().count()), 0, "a kept state allocates nothing");
}

// O-184, Z-086.
#[test]
fn walking_rows_and_chunks_allocates_nothing() {
    let (mut world, ids) = scene();
    let mut sum = 0_u64;
    let mut query = world.view_mut::<(Entity, &mut Health, Option<&Position>, Has<Frozen>)>();
    let walked = allocations(|| {
        for (_, mut health, pos, frozen) in &mut query {
            health.0 += u32::from(frozen) + u32::from(pos.is_some());
        }
        query.iter().for_each(|(_, health, ..)| sum += u64::from(health.0));
        for (entities, healths, positions, _) in query.chunks_mut() {
            sum += (entities.len() + healths.len() + positions.map_or(0, |positions| positions.len())) as u64;
        }
        for table in query.tables() {
            sum += table.rows().map(|(_, health, ..)| u64::from(health.0)).sum::<u64>();
        }
        sum += query.count() as u64 + u64::from(query.is_empty()) + u64::from(query.contains(ids[5]));
        sum += query.get(ids[7]).map_or(0, |row| u64::from(row.1.0));
        sum += query.get_many_mut([ids[1], ids[2_005]]).map_or(0, |rows| u64::from(rows[0].1.0));
        sum += query.iter_many([ids[3], ids[4]]).matched().count() as u64;
        let mut many = query.iter_many_mut([ids[3], ids[3]]).matched();
        while let Some((_, mut health, ..)) = many.fetch_next() {
            health.0 += 1;
        }
    });
    assert_eq!(walked, 0);
    assert!(sum > 0);
    let everyone = world.view::<(Entity, Option<&Name>)>();
    assert_eq!(everyone.count(), 2_012);
    assert_eq!(allocations(|| everyone.iter().count() + everyone.chunks().count()), 0, "the rowless too");
    let changed = world.view_filtered::<&Armour, Changed<Armour>>();
    assert_eq!(allocations(|| changed.count() + changed.iter().count()), 0);
}

// O-272, O-273, O-275: a reference is two words; nothing is set up per field.
#[test]
fn referring_to_components_allocates_nothing() {
    let (mut world, ids) = scene();
    let referred = allocations(|| {
        for &e in &ids[..100] {
            if let Some(mut pos) = world.get_mut::<Position>(e) {
                *pos.x += 1.0;
                let shared = pos.reborrow().get();
                pos.set(Position { y: shared.x, ..shared });
            }
            assert!(world.get::<Position>(e).is_some_and(|pos| *pos.x == *pos.y));
            assert!(world.entity(e).get::<Health>().is_some());
        }
    });
    assert_eq!(referred, 0);
}

#[test]
fn columns_by_name_allocate_nothing() {
    let (mut world, ids) = scene();
    let [health, pos] =
        [world.component_id::<Health>(), world.component_id::<Position>()].map(|id| id.expect("met"));
    let query = world.query_builder().with(health).any_of([pos, health]).build();
    assert_eq!(query.count(&world), 2_010);
    let read = allocations(|| {
        for table in query.tables(&world) {
            black_box(table.column::<Health>(health, "").is_ok());
        }
        assert_eq!(query.entities(&world).count() + usize::from(query.contains(&world, ids[0])), 2_011);
        query.for_each_table_mut(&mut world, |mut table| {
            if let Ok(healths) = table.column_mut::<Health>(health, "") {
                healths[0].0 += 1;
            }
        });
    });
    assert_eq!(read, 0);
}

// O-129: the bits of a query are walked and compared where they are.
#[test]
fn walking_the_bits_of_a_signature_allocates_nothing() {
    let (world, ids) = scene();
    let archetype = world.archetype_of(ids[0]).expect("alive");
    let signature = world.archetypes().signature(archetype);
    // Beyond the words that lie in the value itself.
    let high: phalanx::signature::Signature = {
        let mut many = World::new();
        let schema = |at| Schema::new(format!("many {at}"));
        (0..300).map(|at| many.register_dynamic(schema(at)).expect("the name is free")).collect()
    };
    assert_eq!(allocations(|| signature.iter().chain(high.iter()).map(ComponentId::index).sum::<usize>()), 0);
    assert_eq!(allocations(|| (high.contains(signature), high.overlaps(signature), high.len())), 0);
    assert_eq!(allocations(|| high.fingerprint()), 0);
    assert_eq!(
        allocations(|| signature.iter().map(|id| world.archetypes().with_component(id).len()).sum::<usize>()),
        0
    );
}

/// Components of one field each.
fn kinds(world: &mut World, count: usize) -> Vec<ComponentId> {
    let schema = |at| Schema::new(format!("kind {at}")).field("value", FieldType::U32);
    (0..count).map(|at| world.register_dynamic(schema(at)).expect("the name is free")).collect()
}

#[test]
fn an_entity_that_gets_many_components_one_by_one_leaves_few_archetypes_behind() {
    let most = |count: usize| {
        let mut world = World::new();
        let kinds = kinds(&mut world, count);
        let entity = world.spawn_empty().id();
        let insert = |world: &mut World| {
            for &kind in &kinds {
                world.insert_dynamic(entity, kind, &[]).expect("alive");
            }
        };
        let (most, ()) = peak(|| insert(&mut world));
        assert_eq!(world.entity(entity).component_ids().count(), count);
        most
    };
    // Twice the components pass through archetypes with four times as many columns.
    let (few, many) = (most(750), most(1_500));
    assert!(many < 2 * few, "{few} bytes at most, then {many}");
}

#[test]
fn cells_of_columns_that_tables_lack_are_zeroed_memory_that_nothing_writes() {
    // As many archetypes as components: cells for each of both would be sixteen times as many.
    let bytes = |count: usize| {
        let mut world = World::new();
        let kinds = kinds(&mut world, count);
        asked(|| {
            for &kind in &kinds {
                let entity = world.spawn_empty().id();
                world.insert_dynamic(entity, kind, &[]).expect("alive");
            }
        })
    };
    let (small, large) = (bytes(1_000), bytes(4_000));
    assert!(large < 6 * small, "{small} bytes, then {large}");
}
