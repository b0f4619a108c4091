//! Safe code that tries to mislead rows which are filled column by column.
//!
//! As in `soundness`, every attempt must end in an error or a panic, leave the entity where it stood, and a store that
//! [`Store::check`] accepts.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx_store::*;

static NAME: ColCell<String> = ColCell::new();
static AGE: ColCell<u64> = ColCell::new();
static SHARED: ColCell<Arc<u8>> = ColCell::new();
static TAG: ColCell<()> = ColCell::new();

/// Two entities with a name, and the edge that brings an age, something shared and a tag.
fn scene() -> (Store, [Entity; 2], [TableId; 2], Edge) {
    let mut store = Store::new();
    let all = [NAME.id().any(), AGE.id().any(), SHARED.id().any(), TAG.id().any()];
    let (small, large) = (store.new_table(&all[..1]), store.new_table(&all));
    let spawn = store.insert_edge::<Col<String>>(TableId::ROWLESS, small, NAME.id(), &[]).unwrap();
    let entities = ["a", "b"].map(|name| store.spawn(&spawn, Col(name.to_owned())).unwrap());
    let edge = store.fill_edge(small, large, &all[1..], &[]).unwrap();
    (store, entities, [small, large], edge)
}

/// Fills every column as it should be.
fn fill(shared: &Arc<u8>) -> impl FnMut(usize, OpenColumn<'_>) {
    |at, column| match at {
        0 => column.fill(AGE.id(), 7),
        1 => column.fill(SHARED.id(), Arc::clone(shared)),
        _ => column.fill(TAG.id(), ()),
    }
}

fn stands(store: &Store, entities: [Entity; 2], table: TableId) {
    store.check().unwrap();
    assert!(entities.iter().all(|&entity| store.locate(entity).unwrap().table == table));
    assert_eq!(store.get::<Read<String>>(entities[0], NAME.id()).unwrap(), "a");
    assert_eq!(store.get::<Read<String>>(entities[1], NAME.id()).unwrap(), "b");
}

#[test]
fn a_row_gets_each_column_once_and_drops_it_once() {
    let (mut store, entities, [_, large], edge) = scene();
    let shared = Arc::new(1);
    for entity in entities {
        assert!(store.insert_filled(entity, &edge, fill(&shared)));
    }
    stands(&store, entities, large);
    assert_eq!(store.get::<Read<u64>>(entities[1], AGE.id()), Some(&7));
    assert_eq!(Arc::strong_count(&shared), 3);
    assert!(!store.insert_filled(entities[0], &edge, fill(&shared)), "it stands elsewhere by now");
    store.despawn(entities[0]);
    assert!(!store.insert_filled(entities[0], &edge, fill(&shared)), "it is dead");
    drop(store);
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn what_leaves_a_column_open_moves_nothing() {
    let (mut store, entities, [small, large], edge) = scene();
    type Attempt = fn(usize, OpenColumn<'_>);
    let attempts: [Attempt; 4] = [
        |_, _| (),
        |_, column| column.fill(NAME.id(), "another column".to_owned()),
        |at, column| if at == 0 { column.fill(AGE.id(), 1) } else { column.fill(AGE.id(), 2) },
        |at, column| if at < 2 { panic!("no value") } else { column.fill(TAG.id(), ()) },
    ];
    for attempt in attempts {
        assert!(catch_unwind(AssertUnwindSafe(|| store.insert_filled(entities[0], &edge, attempt))).is_err());
        stands(&store, entities, small);
    }
    let shared = Arc::new(1);
    assert!(entities.iter().all(|&entity| store.insert_filled(entity, &edge, fill(&shared))));
    stands(&store, entities, large);
}

#[test]
fn an_edge_to_be_filled_serves_nothing_else_and_no_other_store() {
    let (mut store, entities, [small, large], edge) = scene();
    let (mut other, strangers, ..) = scene();
    let shared = Arc::new(1);
    assert!(
        catch_unwind(AssertUnwindSafe(|| other.insert_filled(strangers[0], &edge, fill(&shared)))).is_err()
    );
    assert!(
        catch_unwind(AssertUnwindSafe(|| store.insert(entities[0], &edge, (), Existing::Replace))).is_err()
    );
    assert!(catch_unwind(AssertUnwindSafe(|| store.insert_all(&edge, Existing::Keep, |_| ()))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| store.remove_all(&edge))).is_err());
    let values = store.insert_edge::<()>(small, small, (), &[]).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| store.insert_filled(entities[0], &values, |_, _| ()))).is_err());
    stands(&store, entities, small);
    let [name, age, shared, tag] = [NAME.id().any(), AGE.id().any(), SHARED.id().any(), TAG.id().any()];
    let edge = |given: &[AnyColId]| store.fill_edge(small, large, given, &[]).map(|_| ());
    assert_eq!(edge(&[age, shared]), Err(PlanError::Unfilled(tag)));
    assert_eq!(edge(&[age, shared, tag, age]), Err(PlanError::Repeated(age)));
    assert_eq!(edge(&[name, age, shared, tag]), Err(PlanError::Repeated(name)));
    assert_eq!(store.fill_edge(small, small, &[age], &[]).map(|_| ()), Err(PlanError::ColumnMismatch(age)));
    let made = Init::new(AGE.id(), |_| Col(1));
    assert_eq!(
        store.fill_edge(small, large, &[age, shared, tag], &[made]).map(|_| ()),
        Err(PlanError::Repeated(age))
    );
}

/// The columns of rows that come at once, with a value for each.
fn columns(names: &[&str], shared: &Arc<u8>) -> Vec<ColumnRows> {
    let count = names.len();
    vec![
        ColumnRows::new(NAME.id(), names.iter().map(|&name| name.to_owned()).collect()),
        ColumnRows::new(AGE.id(), vec![7; count]),
        ColumnRows::new(SHARED.id(), vec![Arc::clone(shared); count]),
        ColumnRows::new(TAG.id(), vec![(); count]),
    ]
}

#[test]
fn rows_that_come_at_once_stand_behind_the_others_and_are_dropped_once() {
    let (mut store, _, [_, large], _) = scene();
    let all = [NAME.id().any(), AGE.id().any(), SHARED.id().any(), TAG.id().any()];
    let edge = store.fill_edge(TableId::ROWLESS, large, &all, &[]).unwrap();
    let shared = Arc::new(1);
    let entities: Vec<Entity> = (0..3_000).map(|_| store.spawn_rowless().unwrap()).collect();
    store.insert_columns(&entities[1..3], &edge, columns(&["b", "c"], &shared));
    store.check().unwrap();
    store.insert_columns(&entities[..1], &edge, columns(&["a"], &shared));
    store.insert_columns(&entities[3..], &edge, columns(&vec!["z"; 2_997], &shared));
    store.insert_columns(&[], &edge, columns(&[], &shared));
    store.check().unwrap();
    assert_eq!(store.table_entities(large)[..4], [entities[1], entities[2], entities[0], entities[3]]);
    assert_eq!(store.get::<Read<String>>(entities[2], NAME.id()).unwrap(), "c");
    assert_eq!(store.get::<Read<String>>(entities[2_999], NAME.id()).unwrap(), "z");
    assert_eq!(Arc::strong_count(&shared), 3_001);
    store.despawn(entities[1]);
    store.check().unwrap();
    assert_eq!(Arc::strong_count(&shared), 3_000);
    drop(store);
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn rows_that_do_not_fit_do_not_come_at_all() {
    let (mut store, standing, [small, large], filled) = scene();
    let all = [NAME.id().any(), AGE.id().any(), SHARED.id().any(), TAG.id().any()];
    let edge = store.fill_edge(TableId::ROWLESS, large, &all, &[]).unwrap();
    let shared = Arc::new(1);
    let [a, b, dead] = [(); 3].map(|()| store.spawn_rowless().unwrap());
    store.despawn(dead);
    let (mut other, ..) = scene();
    let fit = |count: usize| columns(&vec!["n"; count], &shared);
    let swapped = |count: usize| {
        let mut columns = fit(count);
        columns.swap(1, 2);
        columns
    };
    let short = |count: usize| {
        let mut columns = fit(count);
        columns[1] = ColumnRows::new(AGE.id(), vec![7; count - 1]);
        columns
    };
    let attempts: [(&[Entity], &Edge, Vec<ColumnRows>); 9] = [
        (&[a, dead], &edge, fit(2)),
        (&[a, b, a], &edge, fit(3)),
        (&[a, standing[0]], &edge, fit(2)),
        (&[a, Entity::PLACEHOLDER], &edge, fit(2)),
        (&[a, b], &edge, fit(1)),
        (&[a, b], &edge, swapped(2)),
        (&[a, b], &edge, short(2)),
        (&[a, b], &edge, fit(2).into_iter().take(3).collect()),
        (&[a, b], &filled, fit(2).into_iter().skip(1).collect()),
    ];
    for (entities, edge, columns) in attempts {
        assert!(
            catch_unwind(AssertUnwindSafe(|| store.insert_columns(entities, edge, columns))).is_err(),
            "{entities:?}"
        );
        stands(&store, standing, small);
        assert_eq!((store.table_len(large), store.entities().rowless().count()), (0, 2));
    }
    assert!(catch_unwind(AssertUnwindSafe(|| other.insert_columns(&[], &edge, fit(0)))).is_err());
    assert_eq!(Arc::strong_count(&shared), 1, "what was refused is dropped");
    store.insert_columns(&[b, a], &edge, fit(2));
    store.check().unwrap();
    assert_eq!(store.table_entities(large), [b, a]);
}
