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
    store.reserve_rows(edge.target(), 5_000);
    store.reserve_entities(5_000);
    let gate = store.gate::<Plain>(&edge).unwrap();
    let entities: Vec<Entity> = (0..5_000).map(|n| store.enter(&gate).unwrap().spawn(plain(n))).collect();
    let (mut other, other_edge) = plain_store(Entities::new());
    other.reserve_rows(other_edge.target(), 5_000);
    for n in 0..5_000 {
        other.spawn(&other_edge, plain(n)).unwrap();
    }
    for at in [4_999, 3, 2_000, 4_998] {
        store.advance_tick();
        other.advance_tick();
        assert!(store.despawn_through(&gate, entities[at]) && other.despawn(entities[at]));
        for block in 0..4 {
            let tick = |store: &Store, table| store.rows_tick(table, block);
            assert_eq!(
                tick(&store, edge.target()),
                tick(&other, other_edge.target()),
                "block {block} at {at}"
            );
        }
    }
}

#[test]
fn a_spawner_does_what_the_ordinary_way_does() {
    let (mut store, edge) = plain_store(Entities::new());
    let (mut other, other_edge) = plain_store(Entities::new());
    let pair = store.new_table(&[X.id().any()]);
    let alone = store.insert_edge::<Col<f32>>(TableId::ROWLESS, pair, X.id(), &[]).unwrap();
    let reserved = store.reserve_entity().unwrap();
    assert_eq!(other.reserve_entity().unwrap(), reserved);
    let foreign = store.spawn(&alone, Col(1.0f32)).unwrap();
    assert_eq!(other.spawn_rowless().unwrap(), foreign);
    let (mut alive, mut state) = (Vec::<Entity>::new(), 3u32);
    for round in 0..12 {
        store.advance_tick();
        other.advance_tick();
        let mut spawner = store.spawner::<Plain>(&edge).unwrap();
        for n in 0..1_500u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if alive.is_empty() || state >> 16 & 15 < 9 {
                let entity = spawner.spawn(plain(n)).unwrap();
                assert_eq!(other.spawn(&other_edge, plain(n)).unwrap(), entity);
                alive.push(entity);
            } else {
                let entity = alive.swap_remove(state as usize % alive.len());
                assert!(spawner.despawn(entity) && other.despawn(entity) && !spawner.despawn(entity));
            }
        }
        if round == 5 {
            assert!(spawner.despawn(foreign) && spawner.despawn(reserved), "whoever it is");
            assert!(other.despawn(foreign) && other.despawn(reserved));
        }
        store.check().unwrap();
        for block in 0..alive.len().div_ceil(BLOCK_ROWS) {
            let tick = |store: &Store, table| store.rows_tick(table, block);
            assert_eq!(tick(&store, edge.target()), tick(&other, other_edge.target()), "block {block}");
        }
    }
    assert_eq!(picture(&store, edge.target()), picture(&other, other_edge.target()));
    assert_eq!(store.entities().len(), other.entities().len());
}

#[test]
fn a_spawner_ends_where_indices_end_and_takes_no_stale_edge() {
    let (mut store, edge) = plain_store(Entities::with_limit(5));
    let mut spawner = store.spawner::<Plain>(&edge).unwrap();
    let entities: Vec<Entity> = (0..5).map(|n| spawner.spawn(plain(n)).unwrap()).collect();
    assert!(spawner.spawn(plain(9)).is_err());
    assert!(spawner.despawn(entities[2]));
    assert!(spawner.spawn(plain(9)).is_ok());
    // One that is forgotten has left nothing undone.
    #[expect(clippy::forget_non_drop, reason = "should it ever have a destructor")]
    std::mem::forget(spawner);
    store.check().unwrap();
    assert_eq!(store.table_len(edge.target()), 5);
    for entity in store.table_entities(edge.target()).to_vec() {
        store.despawn(entity);
    }
    assert!(store.drop_table(edge.target()));
    assert!(catch_unwind(AssertUnwindSafe(|| store.spawner::<Plain>(&edge).is_some())).is_err());
}

#[test]
fn a_spawner_minds_drop_glue_and_sets() {
    type Named = (Col<String>, Col<f32>);
    let mut store = Store::new();
    let table = store.new_table(&[NAME.id().any(), X.id().any()]);
    let edge = store.insert_edge::<Named>(TableId::ROWLESS, table, (NAME.id(), X.id()), &[]).unwrap();
    let mut spawner = store.spawner::<Named>(&edge).unwrap();
    let entities: Vec<Entity> =
        (0..3_000).map(|n| spawner.spawn((Col(n.to_string()), Col(1.0))).unwrap()).collect();
    assert!(entities.iter().step_by(2).all(|&entity| spawner.despawn(entity)));
    store.check().unwrap();
    for (n, &entity) in entities.iter().enumerate() {
        let name = store.get::<R<String>>(entity, NAME.id());
        assert_eq!(name, (n % 2 == 1).then(|| n.to_string()).as_ref());
    }

    let (mut store, edge) = plain_store(Entities::new());
    let set = store.declare_set(&[NAME.id().any()]);
    let plan = store.set_plan::<Col<String>>(set, NAME.id()).unwrap();
    let entity = store.spawn(&edge, plain(1)).unwrap();
    assert!(store.set_insert(&plan, entity, Col("in a set".to_owned()), Existing::Replace).unwrap());
    let mut spawner = store.spawner::<Plain>(&edge).unwrap();
    let other = spawner.spawn(plain(2)).unwrap();
    assert!(spawner.despawn(entity));
    assert_eq!(store.set_len(set), 0);
    assert!(store.entities().contains(other));
    store.check().unwrap();
}

#[test]
fn an_optional_part_without_columns_is_there_or_not_on_either_way() {
    type V = (Col<f32>, Maybe<()>);
    let mut store = Store::new();
    let table = store.new_table(&[X.id().any()]);
    let edge = store.insert_edge::<V>(TableId::ROWLESS, table, (X.id(), ()), &[]).unwrap();
    store.reserve_rows(table, 10);
    store.reserve_entities(10);
    let gate = store.gate::<V>(&edge).unwrap();
    for part in [None, Some(())] {
        store.spawn(&edge, (Col(1.0f32), Maybe(part))).unwrap();
        store.enter(&gate).unwrap().spawn((Col(2.0f32), Maybe(part)));
    }
    assert_eq!(store.column(table, X.id()), Some(&[1.0, 2.0, 1.0, 2.0][..]));
    store.check().unwrap();
}

/// Checked by an interpreter that minds references as well: the head of the table was lent to others meanwhile.
#[test]
fn a_spawner_goes_on_after_a_drop_that_panics() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "planted");
        }
    }
    let bomb = ColId::<Bomb>::named("bomb of a spawner");
    let mut store = Store::new();
    let table = store.new_table(&[bomb.any()]);
    let edge = store.insert_edge::<Col<Bomb>>(TableId::ROWLESS, table, bomb, &[]).unwrap();
    let mut spawner = store.spawner::<Col<Bomb>>(&edge).unwrap();
    let first = spawner.spawn(Col(Bomb)).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| spawner.despawn(first))).is_err());
    let second = spawner.spawn(Col(Bomb)).unwrap();
    assert!(!spawner.despawn(first));
    store.check().unwrap();
    assert_eq!(store.table_entities(table), [second]);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(store))).is_err());
}
