//! Images of stores whose memory, tables or directory changed in ways that leave no row behind.

use super::*;

fn copies() -> Copies {
    let mut copies = Copies::default();
    copies.set(ColumnCopy::new(A.id(), Duplicate::bytes(), true));
    copies
}

fn image(store: &mut Store) -> Arc<Image> {
    store.image(&copies()).expect("the column can be copied")
}

fn restore(store: &mut Store, image: &Arc<Image>) {
    drop(store.prepare_restore(image).expect("an image of this store").commit());
    store.check().expect("consistent");
}

// The ticks of blocks that the table has no room for any more lie outside its memory.
#[test]
fn a_table_that_gave_its_memory_back_is_restored() {
    for left in [0, 10] {
        let (mut store, table, _) = counting(10 * 1024);
        let base = image(&mut store);
        let entities = store.table_entities(table).to_vec();
        assert_eq!(store.despawn_batch(entities[left..].iter().copied()), entities.len() - left);
        store.shrink_to_fit();
        restore(&mut store, &base);
        let values: Vec<u64> = (0..10 * 1024).collect();
        assert_eq!(store.column(table, A.id()), Some(&values[..]));
        assert_eq!(store.table_entities(table), entities);
    }
}

// The slot of an entity whose table is gone is in no row of the image: it must be listed.
#[test]
fn the_entity_of_a_dropped_table_is_dead_in_the_image() {
    for despawns in [true, false] {
        let (mut store, table, _) = counting(1);
        image(&mut store);
        let first = store.table_entities(table)[0];
        if despawns {
            assert!(store.despawn(first));
        } else {
            let edge =
                store.remove_edge::<Col<u64>>(table, TableId::ROWLESS, A.id()).expect("it leads nowhere");
            assert!(store.remove::<Col<u64>>(first, &edge));
        }
        assert!(store.drop_table(table));
        let without = image(&mut store);
        let (_, edge) = spawner::<Col<u64>>(&mut store, A.id());
        let second = store.spawn(&edge, Col(2_u64)).expect("there are ids");
        if !despawns {
            store.insert(first, &edge, Col(3_u64), Existing::Replace).expect("it has no row");
        }
        restore(&mut store, &without);
        assert_eq!(store.locate(second), None);
        assert_eq!(store.entities().contains(first), !despawns);
        // The next entity shares no row with the one from before.
        let (_, edge) = spawner::<Col<u64>>(&mut store, A.id());
        let third = store.spawn(&edge, Col(4_u64)).expect("there are ids");
        assert_eq!(store.get::<Read<u64>>(second, A.id()), (third == second).then_some(&4));
        store.check().expect("consistent");
    }
}

// A table that is as long as before, a multiple of a block, says nothing about which entities were in it meanwhile.
#[test]
fn who_came_and_went_in_between_leaves_no_trace() {
    for rows in [0, 1024] {
        let (mut store, _, edge) = counting(rows);
        let base = image(&mut store);
        let next = store.entities().next_ids(3);
        let spawned: Vec<Entity> =
            (0..3_u64).map(|n| store.spawn(&edge, Col(n)).expect("there are ids")).collect();
        assert_eq!(spawned, next);
        store.despawn(spawned[0]);
        assert_eq!(store.despawn_batch(spawned), 2);
        let later = image(&mut store);
        let after = store.entities().next_ids(3);
        restore(&mut store, &base);
        assert_eq!(store.entities().next_ids(3), next, "{rows} rows");
        restore(&mut store, &later);
        assert_eq!(store.entities().next_ids(3), after, "{rows} rows");
    }
}

#[test]
fn who_came_and_lost_its_row_is_dead_in_the_image_before() {
    let (mut store, table, edge) = counting(0);
    let base = image(&mut store);
    let entity = store.spawn(&edge, Col(1_u64)).expect("there are ids");
    let edge = store.remove_edge::<Col<u64>>(table, TableId::ROWLESS, A.id()).expect("it leads nowhere");
    assert!(store.remove::<Col<u64>>(entity, &edge));
    let later = image(&mut store);
    restore(&mut store, &base);
    assert_eq!((store.locate(entity), store.entities().slots()), (None, 0));
    restore(&mut store, &later);
    assert!(store.entities().contains(entity));
}

#[test]
fn a_claimed_id_is_as_it_was() {
    let mut store = Store::new();
    let base = image(&mut store);
    let claimed = Entity::from_bits(5 << 32 | 2).expect("an id");
    store.spawn_rowless_at(claimed).expect("free");
    let later = image(&mut store);
    restore(&mut store, &base);
    assert!(!store.entities().contains(claimed));
    assert_eq!(store.entities().slots(), 0);
    restore(&mut store, &later);
    assert!(store.entities().contains(claimed));
}

// What is written at a lower tick than the base's would pass for what was there before it: a row would keep an owner who is
// dead.
#[test]
fn the_clock_ends_and_does_not_go_around() {
    for last in [u64::MAX, i64::MAX.cast_unsigned(), 1 << 63] {
        let (mut store, table, edge) = counting(3);
        let spare = store.spawn_rowless().expect("there are ids");
        assert!(store.despawn(spare));
        let base = image(&mut store);
        let entities = store.table_entities(table).to_vec();
        store.set_tick(Tick::new(last));
        let ends = catch_unwind(AssertUnwindSafe(|| store.advance_tick())).is_err();
        assert!(store.despawn(entities[0]));
        store.spawn_rowless().expect("there are ids");
        store.spawn(&edge, Col(9_u64)).expect("there are ids");
        restore(&mut store, &base);
        assert!(ends, "there is a moment after {last}");
        assert_eq!(store.table_entities(table), entities);
        assert_eq!(store.column(table, A.id()), Some(&[0, 1, 2][..]));
    }
}
