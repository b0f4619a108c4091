//! Hunts values that are dropped twice, never, too early, or out of misaligned memory.
//!
//! Here are the facts without panics: what overwriting, moving, growing and shrinking do with values
//! (hazards 13 to 18). What holds when the user's `Drop`, `Clone`, iterator or constructor panics is in
//! `single` (one entity, hazards 9 and 10), `many` (batches, whole tables, the world's end, hazard 11) and
//! `made` (values that are still being produced, hazard 12). Hazard 19 does not compile: `ui/borrow_*.rs`.
#![allow(missing_docs)]

#[path = "faults/made.rs"]
mod made;
#[path = "faults/many.rs"]
mod many;
#[path = "faults/single.rs"]
mod single;

use crate::common::ledger::Ledger;
use crate::common::zoo::{
    Crumb, Grain, Kind, Left, Right, TickedFields, Whole, assert_held, assert_lacks,
    for_each_counted_in_tables, for_each_kind, for_each_kind_in_tables, name,
};
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Entity, World};
use phalanx_store::{Col, ColCell, Store, TableId};

/// Enough rows for many growths, and for a second block of 1,024.
const MANY: u32 = 1_100;

fn spawn_row<K: Kind>(world: &mut World, seed: u32) -> Entity {
    world.spawn((K::make(seed), Left::make(seed))).id()
}

fn seeded(entities: &[Entity]) -> impl Iterator<Item = (Entity, u32)> {
    entities.iter().copied().zip(0..)
}

#[track_caller]
fn checked(world: &World) {
    world.check().expect("the world is consistent");
}

// Hazard 13, O-141.
#[test]
fn an_overwritten_value_is_dropped_exactly_once() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let entities: Vec<Entity> = (0..3).map(|seed| spawn_row::<K>(&mut world, seed)).collect();
        let archetype = world.archetype_of(entities[1]);
        world.entity_mut(entities[1]).insert(K::make(10));
        assert_eq!(ledger.dropped(), K::COUNTED, "{}", name::<K>());
        assert_eq!(world.archetype_of(entities[1]), archetype, "overwriting moves nothing");
        // The same with a component that makes the entity move.
        world.entity_mut(entities[2]).insert((Right::make(7), K::make(11)));
        assert_eq!(ledger.dropped(), 2 * K::COUNTED, "{}", name::<K>());
        // The same for all at once.
        world.insert_batch([(entities[0], K::make(12)), (entities[1], K::make(13))]);
        assert_eq!(ledger.dropped(), 4 * K::COUNTED, "{}", name::<K>());
        ledger.nothing_dropped_twice();
        assert_held::<K>(&world, entities.iter().copied().zip([12, 13, 11]));
        assert_held::<Left>(&world, seeded(&entities));
        assert_held::<Right>(&world, [(entities[2], 7)]);
        checked(&world);
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 13: of two values for one place, the one that does not stay is dropped.
#[test]
fn insert_if_new_keeps_the_old_value_and_drops_the_new_one() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let entities: Vec<Entity> = (0..3).map(|seed| spawn_row::<K>(&mut world, seed)).collect();
        world.entity_mut(entities[0]).insert_if_new(K::make(10));
        assert_eq!(ledger.dropped(), K::COUNTED, "{}", name::<K>());
        world.entity_mut(entities[1]).insert_if_new((K::make(11), Right::make(12)));
        assert_eq!(ledger.dropped(), 2 * K::COUNTED, "{}", name::<K>());
        assert_held::<K>(&world, seeded(&entities));
        assert_held::<Left>(&world, seeded(&entities));
        assert_held::<Right>(&world, [(entities[1], 12)]);
        checked(&world);
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 14, O-143.
#[test]
fn a_value_moved_between_archetypes_is_dropped_once_by_its_last_owner() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let entities: Vec<Entity> = (0..9).map(|seed| world.spawn(K::make(seed)).id()).collect();
        for (entity, seed) in seeded(&entities) {
            world.entity_mut(entity).insert(Left::make(seed)).insert(Right::make(seed));
        }
        for &entity in &entities[3..6] {
            world.entity_mut(entity).remove::<Right>();
        }
        for &entity in &entities[5..] {
            world.entity_mut(entity).retain::<(K, Right)>();
        }
        assert_eq!(ledger.dropped(), 3 + 4, "{}: neighbours alone were dropped", name::<K>());
        assert_held::<K>(&world, seeded(&entities));
        assert_held::<Left>(&world, seeded(&entities[..5]));
        assert_lacks::<Left>(&world, entities[8]);
        checked(&world);

        let taken = world.entity_mut(entities[4]).take::<K>().expect("the entity has it");
        let before = ledger.dropped();
        assert!(world.despawn(entities[0]));
        assert_eq!(ledger.dropped() - before, K::COUNTED + 2, "{}", name::<K>());
        assert_held::<K>(&world, seeded(&entities).filter(|(_, seed)| ![0, 4].contains(seed)));
        drop(world);
        assert_eq!(ledger.live(), K::COUNTED, "{}: what was taken is ours", name::<K>());
        assert!(taken.is(4));
        drop(taken);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 14, O-152..O-156: whole columns change their owner, values do not notice.
#[test]
fn values_of_a_whole_table_move_without_being_dropped() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let settled: Vec<Entity> =
            (100..103).map(|seed| world.spawn((K::make(seed), Right::make(seed))).id()).collect();
        let entities: Vec<Entity> = (0..9).map(|seed| world.spawn(K::make(seed)).id()).collect();
        let source = world.archetype_of(entities[0]).expect("alive");
        let before = ledger.dropped();
        assert_eq!(world.insert_into_archetype(source, &Right::make(5)), 9);
        assert_eq!(ledger.dropped() - before, 1, "{}: the original of the clones", name::<K>());
        let target = world.archetype_of(settled[0]).expect("alive");
        assert!(entities.iter().all(|&entity| world.archetype_of(entity) == Some(target)));
        assert_held::<K>(&world, seeded(&entities).chain(settled.iter().copied().zip(100..)));
        assert_held::<Right>(&world, entities.iter().map(|&entity| (entity, 5)));
        checked(&world);
        let before = ledger.dropped();
        assert_eq!(world.remove_from_archetype::<Right>(target), 12);
        assert_eq!(ledger.dropped() - before, 12, "{}", name::<K>());
        assert_held::<K>(&world, seeded(&entities).chain(settled.iter().copied().zip(100..)));
        assert_eq!(world.remove_from_archetype::<K>(source), 12);
        assert_eq!(ledger.live(), 0, "{}", name::<K>());
        assert_eq!(world.archetype_of(entities[3]), Some(ArchetypeId::EMPTY));
        checked(&world);
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 15, hazard 16: the leak check of the sanitizers sees the old blocks; here it is values and counts.
#[test]
fn growth_keeps_every_value_and_shrinking_gives_the_memory_back() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let mut entities = Vec::new();
        for seed in 0..MANY {
            entities.push(spawn_row::<K>(&mut world, seed));
            if (seed + 1).is_power_of_two() {
                assert_held::<K>(&world, seeded(&entities));
            }
        }
        assert_eq!(ledger.dropped(), 0, "{}: growing drops nothing", name::<K>());
        assert_held::<K>(&world, seeded(&entities));
        assert_held::<Left>(&world, seeded(&entities));
        checked(&world);

        world.shrink_to_fit();
        assert_held::<K>(&world, seeded(&entities));
        let rows = MANY as usize;
        let stats = world.stats();
        let full = stats.archetypes.last().expect("the archetype of the rows");
        assert_eq!((full.entities, full.capacity), (rows, rows), "{}", name::<K>());
        let needed = rows * (K::BYTES + Left::BYTES + size_of::<Entity>());
        let overhead = (full.columns.len() + 1) * 4096;
        assert!(
            (needed..=needed + overhead).contains(&full.bytes),
            "{}: {} bytes for {needed}",
            name::<K>(),
            full.bytes
        );

        world.clear_entities();
        assert_eq!(ledger.live(), 0, "{}", name::<K>());
        world.shrink_to_fit();
        let emptied = world.stats().archetypes.iter().map(|archetype| archetype.bytes).sum::<usize>();
        assert_eq!(emptied, 0, "{}: nothing is kept for no rows", name::<K>());
        checked(&world);
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind_in_tables!(scenario);
}

// Hazard 15: memory that never held a value.
#[test]
fn a_column_that_never_held_anything_gives_its_memory_back() {
    fn scenario<K: Kind>() {
        let mut world = World::new();
        world.reserve_rows::<(K, Left)>(100);
        let capacity = |world: &World| world.stats().archetypes.last().map(|archetype| archetype.capacity);
        assert_eq!(capacity(&world), Some(100));
        world.shrink_to_fit();
        assert_eq!(capacity(&world), Some(0));
        world.reserve_rows::<(K, Left)>(100);
        assert_eq!(world.drop_empty_archetypes(), 1, "{}", name::<K>());
        assert_eq!(world.archetypes().len(), 1);
        world.reserve_rows::<(K, Left)>(100);
        checked(&world);
        // The world goes with room for values that never came.
    }
    for_each_kind!(scenario);
}

// Hazard 16: every `held` below looks at addresses too.
#[test]
fn references_are_aligned_in_columns_bundles_batches_and_after_moves() {
    fn scenario<K: Kind>() {
        let _ledger = Ledger::open();
        let mut world = World::new();
        let single = world.spawn((Crumb(1), K::make(0))).id();
        let batch: Vec<Entity> =
            world.spawn_batch((1..40).map(|seed| (Crumb(1), (K::make(seed), Left::make(seed))))).collect();
        assert_held::<K>(&world, [(single, 0)]);
        assert_held::<K>(&world, batch.iter().copied().zip(1..));
        for &entity in batch.iter().step_by(3) {
            world.entity_mut(entity).remove::<Crumb>();
        }
        world.despawn(batch[1]);
        let left = || batch.iter().copied().zip(1..).filter(|&(_, seed)| seed != 2);
        assert_held::<K>(&world, left());
        let archetype = world.archetype_of(batch[0]).expect("alive");
        world.insert_into_archetype(archetype, &Right::make(0));
        world.shrink_to_fit();
        assert_held::<K>(&world, left());
        checked(&world);
    }
    for_each_kind!(scenario);
}

// Hazard 16, hazard 21: a value waits in a command until it is applied, or until the world goes.
#[test]
fn commands_carry_every_kind_and_drop_what_they_never_applied() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let spawned = world.commands().spawn((Crumb(1), K::make(1))).id();
        let batch = (2..5).map(|seed| (K::make(seed), Left::make(seed))).collect::<Vec<_>>();
        world.commands().spawn_batch(batch);
        let value = K::make(6);
        world.commands().queue(move |world: &mut World| {
            assert!(std::ptr::from_ref(&value).addr().is_multiple_of(align_of::<K>()) && value.is(6));
            world.spawn(value);
        });
        assert!(!world.contains(spawned));
        world.flush();
        assert_held::<K>(&world, [(spawned, 1)]);
        assert_eq!((world.entities().len(), ledger.dropped()), (5, 0), "{}", name::<K>());

        world.despawn(spawned);
        world.commands().entity(spawned).insert(K::make(7));
        let before = ledger.dropped();
        world.flush();
        assert_eq!(ledger.dropped() - before, K::COUNTED, "{}: the entity was dead", name::<K>());

        world.commands().spawn((K::make(8), Left::make(8))).insert(Right::make(8));
        checked(&world);
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 17.
#[test]
fn a_zero_sized_value_with_drop_is_counted_exactly_and_takes_no_memory() {
    fn scenario<K: Kind>() {
        assert_eq!(size_of::<Grain>(), 0);
        let ledger = Ledger::open();
        let mut world = World::new();
        let entities: Vec<Entity> =
            world.spawn_batch((0..MANY).map(|seed| (K::make(seed), Left::make(seed)))).collect();
        assert_eq!((ledger.dropped(), ledger.live()), (0, MANY as usize * (K::COUNTED + 1)));
        let stats = world.stats();
        let full = stats.archetypes.last().expect("the archetype of the rows");
        let grains = full.columns.iter().filter(|column| column.component.contains("Grain"));
        let values = grains.filter(|column| ["", "first", "second"].contains(&column.field.as_str()));
        let bytes: Vec<usize> = values.map(|column| column.bytes).collect();
        assert_eq!(bytes, vec![0; K::COUNTED], "{}: a zero-sized value takes memory", name::<K>());
        assert_held::<K>(&world, seeded(&entities));

        let drops = |change: &mut dyn FnMut()| {
            let before = ledger.dropped();
            change();
            ledger.dropped() - before
        };
        assert_eq!(drops(&mut || assert!(world.despawn(entities[0]))), K::COUNTED + 1);
        assert_eq!(
            drops(&mut || {
                world.entity_mut(entities[1]).insert(K::make(0));
            }),
            K::COUNTED
        );
        assert_eq!(
            drops(&mut || {
                world.entity_mut(entities[2]).remove::<K>();
            }),
            K::COUNTED
        );
        assert_eq!(
            drops(&mut || {
                world.entity_mut(entities[3]).remove::<Left>();
            }),
            1
        );
        let taken = world.entity_mut(entities[4]).take::<K>();
        assert_eq!(
            drops(&mut || {
                world.entity_mut(entities[4]).insert_if_new(Left::make(0));
            }),
            1
        );
        assert_eq!(drops(&mut || world.shrink_to_fit()), 0);
        ledger.nothing_dropped_twice();
        checked(&world);
        drop(taken);
        drop(world);
        ledger.all_dropped_once();
    }
    scenario::<Whole<Grain>>();
    scenario::<TickedFields<Grain>>();
}

// Hazard 18: rows end where the length says, not where the memory does.
#[test]
fn rows_behind_the_end_are_out_of_reach() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        world.reserve_rows::<(K, Left)>(64);
        let entities: Vec<Entity> = (0..5).map(|seed| spawn_row::<K>(&mut world, seed)).collect();
        // Another table with the same columns and more rows: its length must not be taken for this one's.
        world.spawn_batch((0..30).map(|seed| (K::make(seed), Left::make(seed), Right::make(seed))));
        for &gone in &entities[2..] {
            assert!(world.despawn(gone));
            assert!(world.get::<K>(gone).is_none() && world.get_mut::<K>(gone).is_none());
            assert!(world.get::<Left>(gone).is_none() && world.take::<K>(gone).is_none());
        }
        let stats = world.stats();
        let rows = stats.archetypes.iter().find(|archetype| archetype.capacity == 64);
        assert_eq!(rows.map(|archetype| archetype.entities), Some(2), "{}", name::<K>());
        world.clear_entities();
        assert!(entities.iter().all(|&gone| world.get::<K>(gone).is_none()));
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 18, O-087: the same for whole columns.
#[test]
fn a_column_is_as_long_as_its_own_table() {
    static SHORT: ColCell<u32> = ColCell::new();
    static WIDE: ColCell<[u64; 4]> = ColCell::new();
    let (short, wide) = (SHORT.id(), WIDE.id());
    let mut store = Store::new();
    let both = store.new_table(&[short.any(), wide.any()]);
    let one = store.new_table(&[short.any()]);
    store.reserve_rows(both, 5_000);
    let pair = store
        .insert_edge::<(Col<u32>, Col<[u64; 4]>)>(TableId::ROWLESS, both, (short, wide), &[])
        .expect("the table has both");
    let single =
        store.insert_edge::<Col<u32>>(TableId::ROWLESS, one, short, &[]).expect("the table has the column");
    for n in 0..3u32 {
        store.spawn(&pair, (Col(n), Col([u64::from(n); 4]))).expect("there is room");
    }
    for n in 0..2_000u32 {
        store.spawn(&single, Col(n)).expect("there is room");
    }
    assert_eq!(store.column(both, short), Some(&[0, 1, 2][..]));
    assert_eq!(store.column(both, wide).map(<[_]>::len), Some(3));
    assert_eq!(store.column(one, short).map(<[_]>::len), Some(2_000));
    assert_eq!(store.column(one, wide), None);
    assert_eq!(store.column_mut(one, short).map(|column| column.len()), Some(2_000));
    assert_eq!(store.table_entities(both).len(), 3);
    assert!(store.column_tick(both, short.any(), 0).is_some() && store.rows_tick(both, 0).is_some());
    assert_eq!((store.column_tick(both, short.any(), 1), store.rows_tick(both, 1)), (None, None));
    assert!(store.column_tick(one, short.any(), 1).is_some() && store.rows_tick(one, 1).is_some());
    assert_eq!((store.column_tick(one, short.any(), 2), store.rows_tick(one, 2)), (None, None));
    let last = store.table_entities(both)[2];
    assert!(store.despawn(last));
    assert_eq!(store.column(both, short), Some(&[0, 1][..]));
    store.clear_entities();
    assert_eq!(store.column(both, short), Some(&[][..]));
    assert!(store.table_entities(one).is_empty());
    store.check().expect("the store is consistent");
}

// Hazards 13 and 14 by way of the counts: what the world holds is what was made and not dropped.
#[test]
fn the_world_holds_exactly_what_it_was_given() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let entities: Vec<Entity> = (0..20).map(|seed| spawn_row::<K>(&mut world, seed)).collect();
        let per_row = K::COUNTED + Left::COUNTED;
        assert_eq!(ledger.live(), 20 * per_row);
        world.despawn_batch(entities[..5].iter().copied());
        assert_eq!(ledger.live(), 15 * per_row);
        world.remove_batch::<K>(entities[5..8].iter().copied());
        assert_eq!(ledger.live(), 15 * per_row - 3 * K::COUNTED);
        world.remove_batch::<(K, Left, Right)>(entities[8..10].iter().copied());
        assert_eq!(ledger.live(), 13 * per_row - 3 * K::COUNTED);
        assert_held::<K>(&world, seeded(&entities).skip(10));
        checked(&world);
        world.clear_entities();
        assert_eq!((ledger.live(), world.drop_empty_archetypes()), (0, 2));
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_counted_in_tables!(scenario);
}
