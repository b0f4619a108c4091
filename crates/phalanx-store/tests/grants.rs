//! Proves that what is derived from a view gives no more than the view: grants, unique lists, places.
//!
//! Each test holds all that it was given at once and uses it, so that Miri sees references that overlap.

#![cfg(not(loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

static A: ColCell<u64> = ColCell::new();
static B: ColCell<u32> = ColCell::new();

/// A table with A of three rows, one with A and B of two, and two entities without a row.
fn store() -> (Store, [TableId; 2], Vec<Entity>) {
    let mut store = Store::new();
    let tables = [store.new_table(&[A.id().any()]), store.new_table(&[A.id().any(), B.id().any()])];
    let one = store.insert_edge::<Col<u64>>(TableId::ROWLESS, tables[0], A.id(), &[]).expect("it fits");
    store.spawn_batch(&one, (0..3_u64).map(Col), |_| {}).expect("there are ids");
    let two = store
        .insert_edge::<(Col<u64>, Col<u32>)>(TableId::ROWLESS, tables[1], (A.id(), B.id()), &[])
        .expect("it fits");
    let rows = (3..5_u64).map(|i| (Col(i), Col(7_u32)));
    store.spawn_batch(&two, rows, |_| {}).expect("there are ids");
    let mut entities = tables.map(|table| store.table_entities(table)).concat();
    for _ in 0..2 {
        entities.push(store.spawn_rowless().expect("there are ids"));
    }
    (store, tables, entities)
}

fn query<F: Fetch>(store: &Store, ids: F::Ids, tables: &[TableId]) -> Prepared<F> {
    let mut query = store.prepare::<F>(ids).expect("no column is used twice");
    for &table in tables {
        assert!(store.admit(&mut query, table));
    }
    query
}

fn panics<T>(run: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn a_grant_gives_what_the_view_had_and_no_more() {
    let (mut store, tables, _) = store();
    let wide = query::<(Write<u64>, Opt<Read<u32>>)>(&store, (A.id(), B.id()), &tables);
    let mut grant = store.view_mut(&wide).into_grant();
    let refused = |result: Result<(), NotGranted>| matches!(result, Err(NotGranted::Column { .. }));
    assert!(refused(grant.prepare::<Write<u32>>(B.id(), |_| true).map(drop)), "read, not written");
    assert!(refused(grant.prepare::<Read<u32>>(B.id(), |_| true).map(drop)), "optional, not required");
    assert!(
        refused(grant.prepare::<InSet<Read<u64>>>(A.id(), |_| true).map(drop)),
        "in a table, not in a set"
    );
    let twice = grant.prepare::<(Write<u64>, Read<u64>)>((A.id(), A.id()), |_| true);
    assert!(matches!(twice, Err(NotGranted::Alias(_))));
    let narrow = grant.prepare::<Write<u64>>(A.id(), |table| table == tables[1]).expect("covered");
    assert_eq!(narrow.tables(), [tables[1]]);
    for value in grant.view(&narrow).into_rows() {
        *value += 10;
    }
    let reading = grant.prepare::<Read<u64>>(A.id(), |_| true).expect("covered");
    assert!(grant.view(&reading).into_rows().copied().eq([0, 1, 2, 13, 14]));
}

#[test]
fn a_view_of_a_grant_stays_in_its_tables() {
    let (mut store, tables, entities) = store();
    let some = query::<Write<u64>>(&store, A.id(), &tables[..1]);
    let mut grant = store.view_mut(&some).into_grant();
    let all = grant.prepare::<Write<u64>>(A.id(), |_| true).expect("covered");
    assert_eq!(grant.view(&all).into_get_anywhere(entities[0]), Some(&mut 0));
    assert_eq!(grant.view(&all).into_get_anywhere(entities[3]), None, "in the other table");
    assert_eq!(grant.view(&all).into_rows_anywhere().count(), 3);
}

#[test]
fn a_query_of_a_wider_grant_is_refused_by_a_narrower_one() {
    let (mut store, tables, _) = store();
    let everything = query::<Write<u64>>(&store, A.id(), &tables);
    let one_table = query::<Write<u64>>(&store, A.id(), &tables[1..]);
    let reading = query::<Read<u64>>(&store, A.id(), &tables);
    assert!(panics(|| store.view_mut(&one_table).into_grant().view(&everything).into_rows().count()));
    assert!(panics(|| store.view_mut(&reading).into_grant().view(&everything).into_rows().count()));
    assert!(!panics(|| store.view_mut(&everything).into_grant().view(&one_table).into_rows().count()));
    let mut rowless = store.prepare::<EntityIds>(()).expect("no column is used");
    assert!(store.admit_rowless(&mut rowless));
    assert!(panics(|| store.view_mut(&everything).into_grant().view(&rowless).into_rows().count()));
}

#[test]
fn two_grants_meet_in_the_tables_of_both() {
    let (store, tables, _) = store();
    let a = query::<Read<u64>>(&store, A.id(), &tables);
    let b = query::<Read<u32>>(&store, B.id(), &tables[1..]);
    let mut both = store.view(&a).into_grant().and(store.view(&b).into_grant());
    let joined = both.prepare::<(Read<u64>, Read<u32>)>((A.id(), B.id()), |_| true).expect("covered");
    assert!(both.view(&joined).into_rows().eq([(&3, &7), (&4, &7)]));
    let (other, others, _) = self::store();
    let foreign = query::<Read<u64>>(&other, A.id(), &others);
    assert!(panics(|| store.view(&a).into_grant().and(other.view(&foreign).into_grant())));
}

#[test]
fn a_unique_list_lends_each_row_once() {
    let (mut store, tables, entities) = store();
    let all = query::<Write<u64>>(&store, A.id(), &tables);
    let list = [entities[4], entities[0], entities[5], entities[0], entities[4], Entity::PLACEHOLDER];
    let mut found: Vec<_> = store.view_mut(&all).into_unique(list.iter()).map(|(_, row)| row).collect();
    let why: Vec<_> = found.iter().map(|row| row.as_ref().err().copied()).collect();
    let (no, again) = (Some(NoRow::NotVisited), Some(NoRow::Repeated));
    assert_eq!(why, [None, None, no, again, again, no]);
    for row in found.iter_mut().flatten() {
        **row += 100;
    }
    let mut ends = store.view_mut(&all).into_unique(list.iter());
    assert!(ends.next().is_some() && ends.next_back().is_some());
    assert_eq!(ends.len(), 4);
    assert_eq!(ends.next_back().expect("the list goes on").1, Err(NoRow::Repeated), "from the other end");
}

#[test]
fn places_are_lent_together_if_they_differ() {
    let (mut store, tables, _) = store();
    let all = query::<Write<u64>>(&store, A.id(), &tables);
    let mut places = store.view_mut(&all).into_places(|_| true);
    assert_eq!(places.len(), 5);
    let [a, b] = places.get_many_mut([1, 4]);
    std::mem::swap(a, b);
    assert!(panics(|| places.get_many_mut([2, 2])));
    assert!(panics(|| places.get_many_mut([3, 1])));
    assert!(panics(|| places.get_many_mut([4, 5])));
    let odd = store.view_mut(&all).into_read_only().into_places(|value| value % 2 == 1);
    assert_eq!((0..odd.len()).map(|at| *odd.get(at)).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn rows_give_their_view_back_until_one_is_taken() {
    let (mut store, tables, _) = store();
    let all = query::<Write<u64>>(&store, A.id(), &tables);
    assert!(store.view_mut(&all).into_rows().into_view().is_some());
    let mut rows = store.view_mut(&all).into_rows();
    let first = rows.next();
    assert!(rows.into_view().is_none() && first.is_some());
    let mut rowless = store.prepare::<EntityIds>(()).expect("no column is used");
    assert!(store.admit_rowless(&mut rowless));
    let mut rows = store.view(&rowless).into_rows();
    rows.next();
    assert!(rows.into_view().is_none());
}

#[test]
fn a_list_is_lent_row_by_row() {
    let (mut store, tables, entities) = store();
    let all = query::<Write<u64>>(&store, A.id(), &tables);
    let mut many = store.view_mut(&all).into_many([0, 3, 5, 0].map(|at: usize| entities[at]).into_iter());
    let mut lent = 0;
    while let Some(value) = many.lend_next(|value| *value < 12) {
        *value += 10;
        lent += 1;
    }
    assert_eq!(lent, 3);
    let reading = query::<Read<u64>>(&store, A.id(), &tables);
    assert_eq!(store.view(&reading).get(entities[0]), Some(&20));
}

// A query that could write was asked to read only: whatever is made of its view only reads as well.
#[test]
fn a_view_that_gave_up_writing_grants_reading_alone() {
    let (mut store, tables, _) = store();
    let writes = query::<Write<u64>>(&store, A.id(), &tables);
    let reads_alone = |grant: Grant<'_>| {
        assert!(grant.prepare::<Write<u64>>(A.id(), |_| true).is_err());
        assert!(grant.prepare::<WriteUntracked<u64>>(A.id(), |_| true).is_err());
        let reads = grant.prepare::<Read<u64>>(A.id(), |_| true).expect("reading is granted");
        assert_eq!(grant.into_view(&reads).into_rows().count(), 5);
    };
    reads_alone(store.view_read_only(&writes).into_grant());
    reads_alone(store.view_mut(&writes).into_read_only().into_grant());
    let view = store.view_mut(&writes);
    reads_alone(view.read_only().into_grant().and(view.read_only().into_grant()));
    assert!(panics(|| store.view_read_only(&writes).into_grant().view(&writes).into_rows().count()));
}
