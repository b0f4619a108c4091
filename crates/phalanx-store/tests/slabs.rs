//! The memory of small tables, which lies together: columns and headers that grow, shrink, go and come again.
//!
//! Each test ends in a state that [`Store::check`] accepts, and leaves no value behind.

#![cfg(not(loom))]

use std::sync::Arc;

use phalanx_store::*;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(128))]
struct Wide(u8);

struct Counted(Arc<()>);

type V = (Col<u8>, Col<String>, Col<Wide>, Col<()>);

fn ids(name: &str) -> (ColId<u8>, ColId<String>, ColId<Wide>, ColId<()>) {
    (ColId::named(name), ColId::named(name), ColId::named(name), ColId::named(name))
}

fn any(ids: (ColId<u8>, ColId<String>, ColId<Wide>, ColId<()>)) -> [AnyColId; 4] {
    [ids.0.any(), ids.1.any(), ids.2.any(), ids.3.any()]
}

fn value(n: usize) -> V {
    let small = u8::try_from(n % 251).expect("below 256");
    (Col(small), Col(format!("value {n}")), Col(Wide(small)), Col(()))
}

fn assert_value(
    store: &Store,
    entity: Entity,
    n: usize,
    ids: (ColId<u8>, ColId<String>, ColId<Wide>, ColId<()>),
) {
    let found =
        store.get::<(Read<u8>, Read<String>, Read<Wide>)>(entity, (ids.0, ids.1, ids.2)).expect("alive");
    let small = u8::try_from(n % 251).expect("below 256");
    assert_eq!(found, (&small, &format!("value {n}"), &Wide(small)));
    assert!(std::ptr::from_ref(found.2).addr().is_multiple_of(128));
}

#[test]
fn rows_keep_their_values_while_tables_grow_and_shrink_across_each_other() {
    let mut store = Store::new();
    let ids = ids("slab");
    let tags: Vec<ColId<()>> = (0..40).map(|tag| ColId::named(&format!("slab tag {tag}"))).collect();
    let tables: Vec<TableId> =
        tags.iter().map(|tag| store.new_table(&[&any(ids)[..], &[tag.any()]].concat())).collect();
    let edges: Vec<Edge> = tables
        .iter()
        .zip(&tags)
        .map(|(&table, &tag)| {
            store.insert_edge::<(V, Col<()>)>(TableId::ROWLESS, table, (ids, tag), &[]).unwrap()
        })
        .collect();
    let mut alive = Vec::new();
    // Sizes on both sides of what is small, reached in turns, so that pieces change hands.
    for n in 0..6000usize {
        let at = (n * n) % 37 % (1 + n % 40);
        alive.push((store.spawn(&edges[at], (value(n), Col(()))).unwrap(), n));
        if n % 3 == 0 {
            let (gone, _) = alive.swap_remove((n * 7) % alive.len());
            assert!(store.despawn(gone));
        }
        if n % 500 == 0 {
            store.shrink_to_fit();
            store.check().unwrap();
        }
    }
    alive.iter().for_each(|&(entity, n)| assert_value(&store, entity, n, ids));
    while alive.len() > 50 {
        let (gone, _) = alive.swap_remove(alive.len() / 2);
        assert!(store.despawn(gone));
    }
    store.shrink_to_fit();
    alive.iter().for_each(|&(entity, n)| assert_value(&store, entity, n, ids));
    store.check().unwrap();
}

#[test]
fn headers_of_dropped_tables_serve_others_in_every_shape() {
    let mut store = Store::new();
    let ids = ids("slab shapes");
    let columns = any(ids);
    let groups: Vec<&[AnyColId]> = columns.chunks(1).collect();
    let shapes = [None, Some(TableShape::inline(&groups)), Some(TableShape::boxed(&groups))];
    let mut bytes = Vec::new();
    for round in 0..20 {
        let make = |store: &mut Store, shape: &Option<TableShape>| match shape {
            None => store.new_table(&columns),
            Some(shape) => store.new_table_shaped(shape, &columns),
        };
        let tables: Vec<TableId> = shapes.iter().map(|shape| make(&mut store, shape)).collect();
        let records: Vec<usize> = tables.iter().map(|&table| store.record_bytes(table)).collect();
        bytes.push(records);
        let mut alive = Vec::new();
        for (at, &table) in tables.iter().enumerate() {
            let edge = store.insert_edge::<V>(TableId::ROWLESS, table, ids, &[]).unwrap();
            for n in 0..20 {
                alive.push((store.spawn(&edge, value(n + at * round)).unwrap(), n + at * round));
            }
        }
        alive.iter().for_each(|&(entity, n)| assert_value(&store, entity, n, ids));
        store.check().unwrap();
        alive.iter().for_each(|&(entity, _)| assert!(store.despawn(entity)));
        tables.iter().for_each(|&table| assert!(store.drop_table(table)));
        assert!(tables.iter().all(|&table| store.record_bytes(table) == 0));
    }
    assert!(bytes.windows(2).all(|pair| pair[0] == pair[1]), "records are as large as those before them");
    store.check().unwrap();
}

#[test]
fn values_in_small_columns_are_dropped_once() {
    let all = Arc::new(());
    let mut store = Store::new();
    let (id, tag) = (ColId::<Counted>::named("slab drops"), ColId::<()>::named("slab drops tag"));
    let (one, two) = (store.new_table(&[id.any()]), store.new_table(&[id.any(), tag.any()]));
    let spawn = store.insert_edge::<Col<Counted>>(TableId::ROWLESS, one, id, &[]).unwrap();
    let add = store.insert_edge::<Col<()>>(one, two, tag, &[]).unwrap();
    let entities: Vec<Entity> =
        (0..100).map(|_| store.spawn(&spawn, Col(Counted(all.clone()))).unwrap()).collect();
    for &entity in &entities[..60] {
        store.insert(entity, &add, Col(()), Existing::Replace).unwrap();
    }
    store.shrink_to_fit();
    assert!(
        entities.iter().all(|&entity| Arc::ptr_eq(&store.get::<Read<Counted>>(entity, id).unwrap().0, &all))
    );
    entities[40..80].iter().for_each(|&entity| assert!(store.despawn(entity)));
    assert_eq!(Arc::strong_count(&all), 61);
    store.check().unwrap();
    drop(store);
    assert_eq!(Arc::strong_count(&all), 1);
}

#[test]
fn a_column_that_the_store_has_not_met_is_in_no_table() {
    let mut store = Store::new();
    let known = ColId::<u32>::named("slab known");
    let table = store.new_table(&[known.any()]);
    let spawn = store.insert_edge::<Col<u32>>(TableId::ROWLESS, table, known, &[]).unwrap();
    let entity = store.spawn(&spawn, Col(7u32)).unwrap();
    // Beyond every declared column, and between two.
    let (skipped, late) = (ColId::<u32>::named("slab skipped"), ColId::<u32>::named("slab late"));
    assert_eq!(store.get::<Read<u32>>(entity, late), None);
    store.declare(late.any());
    for n in 0..20 {
        let column = ColId::<u32>::named(&format!("slab more {n}"));
        store.new_table(&[column.any()]);
        for unknown in [skipped, late] {
            assert_eq!(store.get::<Read<u32>>(entity, unknown), None);
            assert_eq!(store.get::<Opt<Read<u32>>>(entity, unknown), Some(None));
            assert!(!store.table_has(table, unknown.any()));
        }
        assert_eq!(store.get::<(Read<u32>, Opt<Read<u32>>)>(entity, (known, skipped)), Some((&7, None)));
        store.check().unwrap();
    }
}

#[test]
fn a_reader_of_cached_locations_agrees_with_the_store() {
    let mut store = Store::new();
    let (a, b) = (ColId::<u32>::named("reader a"), ColId::<u32>::named("reader b"));
    let one = store.new_table(&[a.any()]);
    let two = store.new_table(&[a.any(), b.any()]);
    let spawn = store.insert_edge::<Col<u32>>(TableId::ROWLESS, one, a, &[]).unwrap();
    let add = store.insert_edge::<Col<u32>>(one, two, b, &[]).unwrap();
    let entities: Vec<Entity> = (0..30u32).map(|n| store.spawn(&spawn, Col(n)).unwrap()).collect();
    let rowless = store.spawn_rowless().unwrap();
    let cached_locations: Vec<CachedLocation> =
        entities.iter().map(|&entity| store.cached_location(entity).unwrap()).collect();
    for &entity in entities.iter().step_by(3) {
        store.insert(entity, &add, Col(100u32), Existing::Replace).unwrap();
    }
    for &entity in entities.iter().skip(1).step_by(4) {
        assert!(store.despawn(entity));
    }
    let heir = store.spawn(&spawn, Col(1000u32)).unwrap();
    let reader = store.read_locations::<Read<u32>>(a);
    let anything = store.read_locations::<Opt<Read<u32>>>(b);
    for (n, (&cached_location, &entity)) in (0u32..).zip(cached_locations.iter().zip(&entities)) {
        let alive = store.entities().contains(entity);
        assert_eq!(reader.get(cached_location), store.get_at::<Read<u32>>(cached_location, a));
        assert!(
            reader.get(cached_location).is_none_or(|&found| found == n && alive),
            "never another entity's value"
        );
        assert_eq!(reader.get_where(entity, |_| true), alive.then_some(&n));
        assert_eq!(reader.get_where(entity, |_| false), None);
        assert_eq!(anything.get_where(entity, |_| true).is_some(), alive);
        // The id that a free slot will have next.
        let next = Entity::from_bits(entity.to_bits() + (1 << 32)).unwrap();
        assert_eq!(reader.get_where(next, |_| true), (next == heir).then_some(&1000));
        let here = store.locate(entity).map(|location| location.table);
        assert_eq!(reader.get_where(entity, |table| Some(table) == here), alive.then_some(&n));
    }
    assert_eq!(reader.get_where(heir, |_| true), Some(&1000));
    // Ids that are free, made up, or without a row.
    let next = Entity::from_bits(heir.to_bits() + (1 << 32)).unwrap();
    for absent in [next, rowless, Entity::PLACEHOLDER, Entity::from_bits((1 << 32) + 77_777).unwrap()] {
        assert_eq!(reader.get_where(absent, |_| true), None);
    }
    assert_eq!(anything.get_where(rowless, |_| true), Some(None));
    // Cached locations of another store name tables and rows that are not here.
    let empty = Store::new();
    assert!(
        cached_locations
            .iter()
            .all(|&cached_location| empty.read_locations::<Read<u32>>(a).get(cached_location).is_none())
    );
}
