//! Tables whose records have a shape, values that may be absent, and cached locations: what pools are built from.
//!
//! Each test ends in a state that [`Store::check`] accepts.

#![cfg(not(loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

#[test]
fn optional_values_go_where_the_table_has_columns_and_nowhere_else() {
    let mut store = Store::new();
    let (a, b) = (ColId::<u32>::named("maybe a"), ColId::<String>::named("maybe b"));
    type V = (Col<u32>, Maybe<Col<String>>);
    let with = store.new_table(&[a.any(), b.any()]);
    let without = store.new_table(&[a.any()]);
    let to_with = store.insert_edge::<V>(TableId::ROWLESS, with, (a, b), &[]).unwrap();
    let to_without = store.insert_edge::<V>(TableId::ROWLESS, without, (a, b), &[]).unwrap();
    let e = store.spawn::<V>(&to_with, (Col(1), Maybe(Some(Col("one".to_owned()))))).unwrap();
    let f = store.spawn::<V>(&to_without, (Col(2), Maybe(None))).unwrap();
    assert_eq!(store.get::<(Read<u32>, Read<String>)>(e, (a, b)), Some((&1, &"one".to_owned())));
    assert_eq!(store.get::<(Read<u32>, Opt<Read<String>>)>(f, (a, b)), Some((&2, None)));
    for (edge, value) in [(&to_with, None), (&to_without, Some(Col("lost".to_owned())))] {
        let before = store.entities().len();
        let spawn = AssertUnwindSafe(|| store.spawn::<V>(edge, (Col(3), Maybe(value))));
        assert!(catch_unwind(spawn).is_err());
        assert_eq!(store.entities().len(), before);
        store.check().unwrap();
    }
}

#[test]
fn a_cached_location_asks_the_directory_only_when_its_entity_has_moved() {
    let mut store = Store::new();
    let (a, b) = (ColId::<u32>::named("cached a"), ColId::<u32>::named("cached b"));
    let one = store.new_table(&[a.any()]);
    let two = store.new_table(&[a.any(), b.any()]);
    let spawn = store.insert_edge::<Col<u32>>(TableId::ROWLESS, one, a, &[]).unwrap();
    let add = store.insert_edge::<Col<u32>>(one, two, b, &[]).unwrap();
    let first = store.spawn(&spawn, Col(10u32)).unwrap();
    let last = store.spawn(&spawn, Col(20u32)).unwrap();
    let mut cached_location = store.cached_location(last).unwrap();
    for _ in 0..3 {
        assert!(store.find_location(&mut cached_location));
        assert_eq!(store.get_at::<Read<u32>>(cached_location, a), Some(&20));
        assert_eq!(store.get_at::<Read<u32>>(cached_location, b), None);
    }
    assert_eq!(store.location_repairs(), 0);
    // The last row takes the place of the one that leaves.
    store.insert(first, &add, Col(11u32), Existing::Replace).unwrap();
    assert_eq!(store.get_at_mut::<Write<u32>>(cached_location, a), None);
    assert!(store.find_location(&mut cached_location));
    *store.get_at_mut::<Write<u32>>(cached_location, a).unwrap() += 1;
    assert_eq!(store.get_at::<Read<u32>>(cached_location, a), Some(&21));
    assert_eq!(store.location_repairs(), 1);
    assert!(store.despawn(last));
    let heir = store.spawn(&spawn, Col(30u32)).unwrap();
    assert_eq!((heir.index(), store.get_at::<Read<u32>>(cached_location, a)), (last.index(), None));
    assert!(!store.find_location(&mut cached_location));
}

#[test]
fn the_id_of_a_dropped_table_serves_only_tables_of_the_same_shape() {
    let mut store = Store::new();
    let a = ColId::<u32>::named("reused a").any();
    let shapes = [TableShape::inline(&[&[a]]), TableShape::inline(&[&[a]]), TableShape::boxed(&[&[a]])];
    let plain = store.new_table(&[a]);
    let shaped: Vec<TableId> = shapes.iter().map(|shape| store.new_table_shaped(shape, &[a])).collect();
    assert!(store.drop_table(plain) && shaped.iter().all(|&table| store.drop_table(table)));
    let set = ColId::<u32>::named("reused set").any();
    assert!(store.declare_set(&[set]) == store.set_of(set).unwrap());
    assert!(store.set_table(store.set_of(set).unwrap()).index() > shaped[2].index());
    for (shape, &table) in shapes.iter().zip(&shaped).rev() {
        assert_eq!(store.new_table_shaped(shape, &[a]), table);
    }
    assert_eq!(store.new_table(&[a]), plain);
    store.check().unwrap();
}

#[test]
fn shaped_tables_hold_rows_like_any_other() {
    let mut store = Store::new();
    let ids: Vec<ColId<String>> = (0..6).map(|at| ColId::named(&format!("shaped {at}"))).collect();
    let any: Vec<AnyColId> = ids.iter().map(|id| id.any()).collect();
    let groups: Vec<&[AnyColId]> = any.chunks(2).collect();
    for shape in [TableShape::inline(&groups), TableShape::boxed(&groups)] {
        let small = store.new_table_shaped(&shape, &any[2..4]);
        let large = store.new_table_shaped(&shape, &any);
        type Pair = (Col<String>, Col<String>);
        let pair = |at: usize| (Col(format!("{at}")), Col(format!("{at}'")));
        let spawn = store.insert_edge::<Pair>(TableId::ROWLESS, small, (ids[2], ids[3]), &[]).unwrap();
        type Four = (Pair, Pair);
        let rest = ((ids[0], ids[1]), (ids[4], ids[5]));
        let grow = store.insert_edge::<Four>(small, large, rest, &[]).unwrap();
        let back = store.remove_edge::<Four>(large, small, rest).unwrap();
        let entities: Vec<Entity> = (0..100).map(|at| store.spawn(&spawn, pair(at)).unwrap()).collect();
        for (at, &entity) in entities.iter().enumerate().step_by(3) {
            store.insert(entity, &grow, (pair(at), pair(at)), Existing::Replace).unwrap();
        }
        store.check().unwrap();
        for (at, &entity) in entities.iter().enumerate() {
            let read = store.get::<(Read<String>, Opt<Read<String>>)>(entity, (ids[2], ids[5])).unwrap();
            assert_eq!(*read.0, format!("{at}"));
            assert_eq!(read.1.cloned(), (at % 3 == 0).then(|| format!("{at}'")));
        }
        for &entity in entities.iter().step_by(6) {
            assert!(store.take::<Four>(entity, &back).is_some());
        }
        entities.iter().step_by(5).for_each(|&entity| assert!(store.despawn(entity)));
        store.check().unwrap();
    }
}
