//! Safe code that tries to mislead plans: shapes that repeat columns, optional values without a column, sets that do
//! not exist, panics within panics.
//!
//! As in `soundness`, every attempt must end in an error, a `None` or a panic, and leave a store that
//! [`Store::check`] accepts.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;

use phalanx_store::*;

static NAME: ColCell<String> = ColCell::new();
static AGE: ColCell<u64> = ColCell::new();
static SHARED: ColCell<Arc<u8>> = ColCell::new();
static OTHER: ColCell<Arc<u8>> = ColCell::new();

#[test]
fn a_shape_that_repeats_a_column_has_it_once() {
    let (name, age) = (NAME.id().any(), AGE.id().any());
    let repeated: [&[&[AnyColId]]; 3] =
        [&[&[name], &[age], &[name]], &[&[name, name, age]], &[&[age, name], &[name, age]]];
    for groups in repeated {
        for shape in [TableShape::inline(groups), TableShape::boxed(groups)] {
            let mut store = Store::new();
            let table = store.new_table_shaped(&shape, &[name, age]);
            assert!(
                store
                    .table_columns(table)
                    .eq(store.table_columns(table).collect::<std::collections::BTreeSet<_>>())
            );
            type V = (Col<String>, Col<u64>);
            let edge = store.insert_edge::<V>(TableId::ROWLESS, table, (NAME.id(), AGE.id()), &[]).unwrap();
            let entities: Vec<_> =
                (0..2000u64).map(|n| store.spawn(&edge, (Col(n.to_string()), Col(n))).unwrap()).collect();
            assert_eq!(store.get::<Read<String>>(entities[1500], NAME.id()).unwrap(), "1500");
            for &entity in &entities[..1990] {
                assert!(store.despawn(entity));
            }
            store.check().unwrap();
        }
    }
}

#[test]
fn a_set_that_does_not_exist_has_no_row_for_anybody() {
    let mut store = Store::new();
    let table = store.new_table(&[AGE.id().any()]);
    let edge = store.insert_edge::<Col<u64>>(TableId::ROWLESS, table, AGE.id(), &[]).unwrap();
    let (rowed, rowless) = (store.spawn(&edge, Col(7u64)).unwrap(), store.spawn_rowless().unwrap());
    let mut query = store.prepare::<InSet<Write<String>>>(NAME.id()).unwrap();
    assert!(store.admit(&mut query, table) && store.admit_rowless(&mut query));
    let mut wide = store.prepare::<InSet<(Opt<Read<u64>>, Write<String>)>>((AGE.id(), NAME.id())).unwrap();
    assert!(store.admit(&mut wide, table) && store.admit_rowless(&mut wide));
    for _ in 0..2 {
        for entity in [rowed, rowless, Entity::PLACEHOLDER] {
            assert!(store.view_mut(&query).into_get_anywhere(entity).is_none());
            assert!(store.view_mut(&query).into_get(entity).is_none());
            assert!(store.view_mut(&wide).into_get_anywhere(entity).is_none());
            assert!(store.get_mut::<InSet<Write<String>>>(entity, NAME.id()).is_none());
        }
        assert_eq!(store.view_mut(&query).into_rows_anywhere().count(), 0);
        assert_eq!(store.view_mut(&wide).into_rows_anywhere().count(), 0);
        // The second time, the columns of `wide` are not all in one set.
        store.declare_set(&[NAME.id().any()]);
    }
}

#[test]
fn absent_values_lead_rows_out_of_all_tables_without_leaving_memory() {
    type V = Maybe<Col<Arc<u8>>>;
    let mut store = Store::new();
    let table = store.new_table(&[SHARED.id().any()]);
    let into = store.insert_edge::<V>(TableId::ROWLESS, table, SHARED.id(), &[]).unwrap();
    let out = store.insert_edge::<V>(table, TableId::ROWLESS, SHARED.id(), &[]).unwrap();
    let value = Arc::new(0u8);
    for _ in 0..20 {
        store.spawn::<V>(&into, Maybe(Some(Col(value.clone())))).unwrap();
    }
    let refused = catch_unwind(AssertUnwindSafe(|| {
        store.insert_all::<V>(&out, Existing::Replace, |_| Maybe(Some(Col(value.clone()))))
    }));
    assert!(refused.is_err());
    assert_eq!((store.table_len(table), Arc::strong_count(&value)), (20, 21));
    store.check().unwrap();
    assert_eq!(store.insert_all::<V>(&out, Existing::Replace, |_| Maybe(None)), 20);
    assert_eq!((store.entities().rowless_len(), Arc::strong_count(&value)), (20, 1));
    assert_eq!(store.table_capacity(TableId::ROWLESS), 0);
    store.check().unwrap();
}

#[test]
fn optional_values_that_a_row_has_in_part_are_not_forgotten_on_removal() {
    type V = Maybe<(Col<Arc<u8>>, Col<Arc<u8>>)>;
    let mut store = Store::new();
    let table = store.new_table(&[SHARED.id().any()]);
    let into = store.insert_edge::<Col<Arc<u8>>>(TableId::ROWLESS, table, SHARED.id(), &[]).unwrap();
    let value = Arc::new(0u8);
    let entity = store.spawn(&into, Col(value.clone())).unwrap();
    let out = store.remove_edge::<V>(table, TableId::ROWLESS, (SHARED.id(), OTHER.id())).unwrap();
    assert!(store.remove::<V>(entity, &out));
    assert_eq!(Arc::strong_count(&value), 1);
    store.check().unwrap();
}

/// Panics when dropped, with a payload that does so one time less.
struct Bomb(u32);
impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Bomb(self.0 - 1));
        }
    }
}

static BOMB: ColCell<Bomb> = ColCell::new();
static SECOND_BOMB: ColCell<Bomb> = ColCell::new();
static STABLE: ColCell<String> = ColCell::new();

#[test]
fn a_panic_payload_that_panics_when_dropped_breaks_no_set() {
    let mut store = Store::new();
    type V = (Col<Bomb>, Col<Bomb>);
    let ids = (BOMB.id(), SECOND_BOMB.id());
    let table = store.new_table(&[ids.0.any(), ids.1.any()]);
    let edge = store.insert_edge::<V>(TableId::ROWLESS, table, ids, &[]).unwrap();
    let set = store.declare_stable_set(&[STABLE.id().any()]);
    let plan = store.set_plan::<Col<String>>(set, STABLE.id()).unwrap();
    let entities: Vec<_> = (0..8).map(|_| store.spawn_rowless().unwrap()).collect();
    for &entity in &entities {
        assert!(
            store
                .set_insert(&plan, STABLE.id(), entity, Col("a".repeat(50)), Existing::Replace)
                .unwrap()
                .is_none()
        );
    }
    assert!(store.set_remove(set, entities[5]));
    store.spawn(&edge, (Col(Bomb(1)), Col(Bomb(2)))).unwrap();
    // The first payload is harmless; the second one, which is not reported, panics.
    let cleared = catch_unwind(AssertUnwindSafe(|| store.clear_entities()));
    assert!(cleared.is_err());
    store.check().unwrap();
    for _ in 0..40 {
        let entity = store.spawn_rowless().unwrap();
        assert!(
            store
                .set_insert(&plan, STABLE.id(), entity, Col("b".repeat(50)), Existing::Replace)
                .unwrap()
                .is_none()
        );
    }
    store.check().unwrap();
    assert_eq!(store.set_slices::<InSet<Read<String>>>(STABLE.id(), 0..40).unwrap().len(), 40);
}

#[test]
fn a_cached_location_is_not_misled_by_a_set_that_has_the_number_of_its_table() {
    let mut store = Store::new();
    let (near, far) = (store.new_table(&[AGE.id().any()]), store.new_table(&[AGE.id().any()]));
    let edge = store.insert_edge::<Col<u64>>(TableId::ROWLESS, near, AGE.id(), &[]).unwrap();
    let away = store.insert_edge::<()>(near, far, (), &[]).unwrap();
    let entity = store.spawn(&edge, Col(7u64)).unwrap();
    let mut cached_location = store.cached_location(entity).unwrap();
    assert!(store.insert(entity, &away, (), Existing::Replace).is_ok());
    assert!(store.drop_table(near));
    let set = store.declare_set(&[NAME.id().any()]);
    let plan = store.set_plan::<Col<String>>(set, NAME.id()).unwrap();
    assert!(
        store
            .set_insert(&plan, NAME.id(), entity, Col("seven".to_owned()), Existing::Replace)
            .unwrap()
            .is_none()
    );
    // The set's row belongs to the entity, but it is not where the entity stands.
    assert_eq!(store.get_at::<Opt<Read<u64>>>(cached_location, AGE.id()), None);
    assert_eq!(store.get_at::<Read<String>>(cached_location, NAME.id()), None);
    assert!(store.find_location(&mut cached_location));
    assert_eq!(
        (cached_location.table(), store.get_at::<Read<u64>>(cached_location, AGE.id())),
        (far, Some(&7))
    );
    // The number goes to the next table.
    assert_eq!(store.new_table(&[AGE.id().any()]), near);
    store.check().unwrap();
}
