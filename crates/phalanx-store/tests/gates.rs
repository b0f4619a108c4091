//! Gates: many entities through one door, and what makes a gate useless. Whatever safe code does with a gate, the
//! store is as after the ordinary way, or refuses.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

static X: ColCell<f32> = ColCell::new();
static Y: ColCell<[u8; 12]> = ColCell::new();
static NAME: ColCell<String> = ColCell::new();
#[derive(Clone, Copy)]
struct Tag;
static TAG: ColCell<Tag> = ColCell::new();

type Plain = (Col<f32>, Col<[u8; 12]>, Col<Tag>);

fn plain(n: u32) -> Plain {
    (Col(n as f32), Col([n.to_le_bytes()[0]; 12]), Col(Tag))
}

fn plain_store(entities: Entities) -> (Store, Edge) {
    let mut store = Store::with_entities(entities);
    let table = store.new_table(&[X.id().any(), Y.id().any(), TAG.id().any()]);
    let ids = (X.id(), Y.id(), TAG.id());
    let edge = store.insert_edge::<Plain>(TableId::ROWLESS, table, ids, &[]).unwrap();
    (store, edge)
}

/// Spawns through the gate where it is open, and says whether it was.
fn spawn(store: &mut Store, gate: &mut Gate<Plain>, edge: &Edge, n: u32) -> (Entity, bool) {
    if let Some(entrance) = store.enter(gate) {
        return (entrance.spawn(plain(n)), true);
    }
    let entity = store.spawn(edge, plain(n)).unwrap();
    *gate = store.gate(edge).unwrap();
    (entity, false)
}

/// Ticks, entities and values of a table, row by row.
fn picture(store: &Store, table: TableId) -> Vec<(Entity, f32, [u8; 12])> {
    let rows = store.table_entities(table).iter().map(|&entity| {
        let (x, y) = store.get::<(R<f32>, R<[u8; 12]>)>(entity, (X.id(), Y.id())).unwrap();
        (entity, *x, *y)
    });
    rows.collect()
}

#[test]
fn a_gate_does_what_the_ordinary_way_does() {
    let (mut store, edge) = plain_store(Entities::new());
    let (mut other, other_edge) = plain_store(Entities::new());
    let mut gate = store.gate::<Plain>(&edge).unwrap();
    let (mut alive, mut through, mut state) = (Vec::<Entity>::new(), 0, 7u32);
    for n in 0..20_000u32 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if alive.len() < 10 || state >> 16 & 7 < 5 {
            let (entity, gated) = spawn(&mut store, &mut gate, &edge, n);
            through += usize::from(gated);
            assert_eq!(other.spawn(&other_edge, plain(n)).unwrap(), entity);
            alive.push(entity);
        } else {
            let entity = alive.swap_remove(state as usize % alive.len());
            assert!(store.despawn_through(&gate, entity) || store.despawn(entity));
            assert!(other.despawn(entity));
            assert!(!store.despawn_through(&gate, entity), "dead");
        }
        if n % 1_000 == 0 {
            store.advance_tick();
            other.advance_tick();
            store.check().unwrap();
        }
    }
    assert!(through > 10_000, "{through}");
    assert_eq!(picture(&store, edge.target()), picture(&other, other_edge.target()));
    assert_eq!(store.entities().len(), other.entities().len());
    store.check().unwrap();
}

#[test]
fn a_gate_closes_when_a_column_grows_a_table_goes_or_a_set_comes() {
    let (mut store, edge) = plain_store(Entities::new());
    let gate = store.gate::<Plain>(&edge).unwrap();
    assert!(store.enter(&gate).is_none(), "an empty table has no room");
    store.reserve_rows(edge.target(), 100);
    store.reserve_entities(100);
    assert!(store.enter(&gate).is_none(), "it has room elsewhere now");
    let gate = store.gate::<Plain>(&edge).unwrap();
    let entity = store.enter(&gate).unwrap().spawn(plain(1));
    store.shrink_to_fit();
    assert!(store.enter(&gate).is_none() && !store.despawn_through(&gate, entity));
    let gate = store.gate::<Plain>(&edge).unwrap();
    store.declare_set(&[NAME.id().any()]);
    assert!(!store.despawn_through(&gate, entity), "it could be in the set");
    let gate = store.gate::<Plain>(&edge).unwrap();
    assert!(!store.despawn_through(&gate, entity), "and still could");
    assert!(store.despawn(entity));
    assert!(store.drop_table(edge.target()));
    assert!(store.enter(&gate).is_none() && !store.despawn_through(&gate, entity));
    assert!(catch_unwind(AssertUnwindSafe(|| store.gate::<Plain>(&edge))).is_err(), "the edge is stale");
    store.check().unwrap();
}

#[test]
fn a_gate_of_another_store_is_closed() {
    let (mut store, edge) = plain_store(Entities::new());
    store.reserve_rows(edge.target(), 10);
    store.reserve_entities(10);
    let gate = store.gate::<Plain>(&edge).unwrap();
    let entity = store.enter(&gate).unwrap().spawn(plain(0));
    let (mut other, other_edge) = plain_store(Entities::new());
    other.reserve_rows(other_edge.target(), 10);
    let same = other.spawn(&other_edge, plain(0)).unwrap();
    assert_eq!(entity, same);
    assert!(other.enter(&gate).is_none() && !other.despawn_through(&gate, same));
    std::mem::swap(&mut store, &mut other);
    assert!(store.enter(&gate).is_none());
    assert!(other.enter(&gate).is_some() && other.despawn_through(&gate, entity));
    store.check().unwrap();
    other.check().unwrap();
}

#[test]
fn reserved_ids_and_the_limit_close_it_too() {
    let (mut store, edge) = plain_store(Entities::with_limit(3));
    store.reserve_rows(edge.target(), 10);
    store.reserve_entities(3);
    let gate = store.gate::<Plain>(&edge).unwrap();
    let first = store.enter(&gate).unwrap().spawn(plain(1));
    let reserved = store.reserve_entity().unwrap();
    assert!(store.enter(&gate).is_none() && !store.despawn_through(&gate, first));
    store.flush();
    let third = store.enter(&gate).unwrap().spawn(plain(3));
    assert!(store.enter(&gate).is_none(), "no index is left");
    assert!(store.spawn(&edge, plain(4)).is_err());
    assert!(!store.despawn_through(&gate, reserved), "it has no row");
    assert!(store.despawn_through(&gate, third) && store.enter(&gate).is_some());
    store.check().unwrap();
    assert_eq!(store.entities().len(), 2);
}

#[test]
fn values_with_drop_glue_come_through_but_do_not_go() {
    type Named = (Col<String>, Col<f32>);
    let mut store = Store::new();
    let table = store.new_table(&[NAME.id().any(), X.id().any()]);
    let edge = store.insert_edge::<Named>(TableId::ROWLESS, table, (NAME.id(), X.id()), &[]).unwrap();
    store.reserve_rows(table, 100);
    store.reserve_entities(100);
    let gate = store.gate::<Named>(&edge).unwrap();
    let entities: Vec<Entity> =
        (0..100).map(|n| store.enter(&gate).unwrap().spawn((Col(n.to_string()), Col(1.0)))).collect();
    for entity in entities {
        assert!(!store.despawn_through(&gate, entity));
        assert!(store.get::<R<String>>(entity, NAME.id()).is_some());
        assert!(store.despawn(entity));
    }
    store.check().unwrap();
}

#[test]
fn optional_values_must_be_those_of_the_table() {
    type Some_ = (Col<f32>, Maybe<(Col<[u8; 12]>, Col<String>)>);
    let ids = (X.id(), (Y.id(), NAME.id()));
    let mut store = Store::new();
    let without = store.new_table(&[X.id().any()]);
    let with = store.new_table(&[X.id().any(), Y.id().any(), NAME.id().any()]);
    let partly = store.new_table(&[X.id().any(), Y.id().any()]);
    store.reserve_entities(10);
    let mut gate = |table| {
        store.reserve_rows(table, 10);
        store.insert_edge::<Some_>(TableId::ROWLESS, table, ids, &[]).unwrap()
    };
    let [without, with, partly] = [without, with, partly].map(&mut gate);
    assert!(store.gate::<Some_>(&partly).is_none(), "neither there nor not there");
    let there = || Maybe(Some((Col([1; 12]), Col("there".to_owned()))));
    for (edge, fits) in [(&without, false), (&with, true)] {
        let gate = store.gate::<Some_>(edge).unwrap();
        for is_there in [false, true] {
            let value = (Col(1.0), if is_there { there() } else { Maybe(None) });
            let spawned = catch_unwind(AssertUnwindSafe(|| store.enter(&gate).unwrap().spawn(value)));
            assert_eq!(spawned.is_ok(), is_there == fits);
            store.check().unwrap();
        }
        assert_eq!(store.table_len(edge.target()), 1);
    }
}

#[test]
fn edges_that_do_more_than_spawn_have_no_gate() {
    let (mut store, edge) = plain_store(Entities::new());
    let (x, table) = (X.id(), edge.target());
    assert!(
        store
            .gate::<Plain>(&store.insert_edge::<Plain>(table, table, (x, Y.id(), TAG.id()), &[]).unwrap())
            .is_none()
    );
    let nowhere = store.insert_edge::<()>(TableId::ROWLESS, TableId::ROWLESS, (), &[]).unwrap();
    assert!(store.gate::<()>(&nowhere).is_none());
    let pair = store.new_table(&[x.any(), NAME.id().any()]);
    let made = Init::new::<Col<String>>(NAME.id(), |_| Col("made".to_owned()));
    let required = store.insert_edge::<Col<f32>>(TableId::ROWLESS, pair, x, &[made]).unwrap();
    assert!(store.gate::<Col<f32>>(&required).is_none());
    let taking = store.remove_edge::<Plain>(table, TableId::ROWLESS, (x, Y.id(), TAG.id())).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| store.gate::<Plain>(&taking))).is_err());
}

#[test]
fn rows_that_come_and_go_through_a_gate_are_marked() {
    let (mut store, edge) = plain_store(Entities::new());
    let (mut other, other_edge) = plain_store(Entities::new());
    for (store, edge) in [(&mut store, &edge), (&mut other, &other_edge)] {
        store.reserve_rows(edge.target(), 5_100);
        store.reserve_entities(5_100);
    }
    let gate = store.gate::<Plain>(&edge).unwrap();
    let mut entities: Vec<Entity> = (0..5_000).map(|n| store.enter(&gate).unwrap().spawn(plain(n))).collect();
    for n in 0..5_000 {
        other.spawn(&other_edge, plain(n)).unwrap();
    }
    // Each line is a moment: who goes, and then how many come. A gate marks a block once in a moment.
    let moments: [(&[usize], u32); 9] = [
        (&[4_999], 0),
        (&[3, 2_000, 4, 2_001, 4_998], 0),
        (&[1_023, 1_024, 3_071, 3_072], 2),
        (&[], 3),
        (&[4_995, 5, 4_000, 4_001, 4_002], 5),
        (&[4_096], 1),
        (&[], 0),
        (&[0, 1_500, 0, 1_501], 40),
        (&[2_999], 41),
    ];
    for (who, new) in moments {
        store.advance_tick();
        other.advance_tick();
        assert!(store.enter(&gate).is_none(), "time has gone on");
        let gate = store.gate::<Plain>(&edge).unwrap();
        for &at in who {
            assert_eq!(store.despawn_through(&gate, entities[at]), other.despawn(entities[at]));
        }
        for n in 0..new {
            let entity = store.enter(&gate).unwrap().spawn(plain(n));
            assert_eq!(entity, other.spawn(&other_edge, plain(n)).unwrap());
            entities.push(entity);
        }
        for block in 0..5 {
            let tick = |store: &Store, table| store.rows_tick(table, block);
            assert_eq!(
                tick(&store, edge.target()),
                tick(&other, other_edge.target()),
                "block {block} after {who:?} and {new}"
            );
        }
    }
}

#[test]
fn a_store_has_one_open_gate() {
    let (mut store, edge) = plain_store(Entities::new());
    store.reserve_rows(edge.target(), 100);
    store.reserve_entities(100);
    let first = store.gate::<Plain>(&edge).unwrap();
    let entity = store.enter(&first).unwrap().spawn(plain(1));
    let second = store.gate::<Plain>(&edge).unwrap();
    assert!(store.enter(&first).is_none() && !store.despawn_through(&first, entity));
    assert!(store.enter(&second).is_some());
    let shut = Gate::<Plain>::SHUT;
    assert!(shut.is_shut() && !second.is_shut());
    assert!(store.enter(&shut).is_none() && !store.despawn_through(&shut, entity));
    store.set_tick(store.tick());
    assert!(store.enter(&second).is_none() && !store.despawn_through(&second, entity));
    assert!(store.enter(&shut).is_none() && !store.despawn_through(&shut, entity));
    let mut empty = Store::new();
    assert!(empty.enter(&shut).is_none() && !empty.despawn_through(&shut, entity));
    store.check().unwrap();
}

// The notes are of blocks of one table: another gate begins without any, also in the same moment.
#[test]
fn a_gate_does_not_know_what_the_one_before_has_marked() {
    let (mut store, edge) = plain_store(Entities::new());
    let single = store.new_table(&[X.id().any()]);
    let single = store.insert_edge::<Col<f32>>(TableId::ROWLESS, single, X.id(), &[]).unwrap();
    store.reserve_entities(10);
    for edge in [&edge, &single] {
        store.reserve_rows(edge.target(), 10);
    }
    let gate = store.gate::<Plain>(&edge).unwrap();
    let entities = [1, 2, 3, 4].map(|n| store.enter(&gate).unwrap().spawn(plain(n)));
    let gate = store.gate::<Col<f32>>(&single).unwrap();
    let others = [1.0, 2.0, 3.0, 4.0].map(|x| store.enter(&gate).unwrap().spawn(Col(x)));
    for goes in [false, true] {
        let now = store.advance_tick();
        let gate = store.gate::<Plain>(&edge).unwrap();
        if goes {
            assert!(store.despawn_through(&gate, entities[0]));
        } else {
            store.enter(&gate).unwrap().spawn(plain(5));
        }
        assert_eq!(store.rows_tick(edge.target(), 0), Some(now));
        assert_ne!(store.rows_tick(single.target(), 0), Some(now));
        let gate = store.gate::<Col<f32>>(&single).unwrap();
        if goes {
            assert!(store.despawn_through(&gate, others[0]));
        } else {
            store.enter(&gate).unwrap().spawn(Col(5.0));
        }
        assert_eq!(store.rows_tick(single.target(), 0), Some(now));
    }
    store.check().unwrap();
}

#[test]
fn a_table_without_columns_has_a_gate_and_is_left_by_many() {
    let mut store = Store::new();
    let table = store.new_table(&[]);
    let edge = store.insert_edge::<()>(TableId::ROWLESS, table, (), &[]).unwrap();
    store.reserve_rows(table, 20);
    store.reserve_entities(20);
    let gate = store.gate::<()>(&edge).unwrap();
    let entities: Vec<Entity> = (0..20).map(|_| store.enter(&gate).unwrap().spawn(())).collect();
    assert!(store.despawn_through(&gate, entities[3]) && !store.despawn_through(&gate, entities[3]));
    assert_eq!(store.despawn_batch(entities[..10].iter().copied()), 9);
    store.check().unwrap();
    assert!(store.despawn_through(&gate, entities[19]));
    assert_eq!(store.table_len(table), 9);
    assert_eq!(store.despawn_batch(entities), 9);
    store.check().unwrap();
}
