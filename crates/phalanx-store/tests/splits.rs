//! Proves that locks which split a column share it in different tables only, and reach no table of another lock.
//!
//! The class of bug: two exclusive references to one value, because two queries were taken for disjoint, because one of
//! them left its tables, or because a table came after the comparison.

#![cfg(not(loom))]

use std::thread;

use phalanx_store::*;

static A: ColCell<u64> = ColCell::new();
static B: ColCell<u32> = ColCell::new();
static C: ColCell<u8> = ColCell::new();

const ROWS: usize = 1_500;

/// Three tables, each with A: alone, beside B, beside B and C. The first entity of each.
fn store() -> (Store, [TableId; 3], [Entity; 3]) {
    let mut store = Store::new();
    let alone = table::<Col<u64>>(&mut store, A.id(), &[A.id().any()], || Col(0));
    let beside =
        table::<(Col<u64>, Col<u32>)>(&mut store, (A.id(), B.id()), &[A.id().any(), B.id().any()], || {
            (Col(0), Col(0))
        });
    let all = table::<(Col<u64>, Col<u32>, Col<u8>)>(
        &mut store,
        (A.id(), B.id(), C.id()),
        &[A.id().any(), B.id().any(), C.id().any()],
        || (Col(0), Col(0), Col(0)),
    );
    let (tables, first): (Vec<_>, Vec<_>) = [alone, beside, all].into_iter().unzip();
    (store, tables.try_into().expect("three"), first.try_into().expect("three"))
}

fn table<V: Values>(
    store: &mut Store,
    ids: V::Ids,
    columns: &[AnyColId],
    row: impl Fn() -> V,
) -> (TableId, Entity) {
    let table = store.new_table(columns);
    let edge = store.insert_edge::<V>(TableId::ROWLESS, table, ids, &[]).expect("the table is made for it");
    store.spawn_batch(&edge, (0..ROWS).map(|_| row()), |_| {}).expect("there are ids");
    (table, store.table_entities(table)[0])
}

fn query<F: Fetch>(store: &Store, ids: F::Ids, tables: &[TableId]) -> Prepared<F> {
    let mut query = store.prepare::<F>(ids).expect("no column is used twice");
    assert!(tables.iter().all(|&table| store.admit(&mut query, table)));
    query
}

/// A query that splits A.
fn split<F: Fetch>(store: &Store, ids: F::Ids, tables: &[TableId]) -> Prepared<F> {
    let mut query = query::<F>(store, ids, tables);
    query.split(&[A.id().any()]);
    query
}

#[test]
fn writers_of_one_column_in_different_tables_work_at_once() {
    let (mut store, [alone, beside, all], _) = store();
    let one = split::<Write<u64>>(&store, A.id(), &[alone, all]);
    let other = split::<(Write<u64>, Read<u32>)>(&store, (A.id(), B.id()), &[beside]);
    let session = store.share();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..30 {
                let mut locked = session.lock(&one).expect("no table in common");
                locked.view().into_rows().for_each(|a| *a += 1);
            }
        });
        scope.spawn(|| {
            for _ in 0..30 {
                let mut locked = session.lock(&other).expect("no table in common");
                locked.view().into_rows().for_each(|(a, _)| *a += 2);
            }
        });
    });
    let sums: Vec<u64> =
        [alone, beside, all].map(|table| store.column(table, A.id()).expect("there").iter().sum()).to_vec();
    let rows = u64::try_from(ROWS).expect("small");
    assert_eq!(sums, [30 * rows, 60 * rows, 30 * rows]);
}

#[test]
fn a_table_in_common_is_refused_unless_both_read() {
    let (mut store, [alone, beside, all], _) = store();
    let writes = split::<Write<u64>>(&store, A.id(), &[alone, beside]);
    let meets = split::<Write<u64>>(&store, A.id(), &[beside, all]);
    let reads = split::<Read<u64>>(&store, A.id(), &[beside]);
    let apart = split::<Read<u64>>(&store, A.id(), &[all]);
    let session = store.share();
    let held = session.lock(&writes).expect("no other lock is held");
    let conflict = session.lock(&meets).err().expect("both write one table");
    assert_eq!((conflict.column, conflict.writes), (A.id().any(), true));
    assert!(session.lock(&reads).is_err());
    assert!(session.lock(&writes).is_err(), "nor the same query twice");
    let (first, second) = (session.lock(&apart), session.lock(&apart));
    assert!(first.is_ok() && second.is_ok(), "readers share tables");
    assert!(session.lock(&meets).is_err());
    drop((held, first));
    assert!(session.lock(&meets).is_err(), "a reader is left");
    drop(second);
    assert!(session.lock(&meets).is_ok());
}

#[test]
fn plain_locks_and_split_ones_exclude_each_other() {
    let (mut store, [alone, beside, _], _) = store();
    let shared = split::<(Write<u64>, Read<u32>)>(&store, (A.id(), B.id()), &[beside]);
    let plain = query::<Read<u64>>(&store, A.id(), &[alone]);
    let other_column = query::<Read<u32>>(&store, B.id(), &[beside]);
    let session = store.share();
    {
        let _held = session.lock(&shared).expect("no other lock is held");
        assert!(session.lock(&plain).is_err(), "a plain lock wants the whole column");
        assert!(session.lock(&other_column).is_ok(), "columns that are not split are as ever");
    }
    let held = session.lock(&plain).expect("all is given back");
    assert!(session.lock(&shared).is_err());
    drop(held);
    assert!(session.lock(&shared).is_ok());
}

// The hole that single access would be: a row of a table that the other lock writes.
#[test]
fn single_access_stays_in_the_tables_of_the_query() {
    let (mut store, [alone, beside, all], [first, second, third]) = store();
    let mut one = split::<Write<u64>>(&store, A.id(), &[alone]);
    let other = split::<Write<u64>>(&store, A.id(), &[beside]);
    {
        let session = store.share();
        let (mut left, mut right) = (session.lock(&one).expect("free"), session.lock(&other).expect("apart"));
        let (mut left, mut right) = (left.view(), right.view());
        assert!(left.reborrow().into_get_anywhere(first).is_some());
        assert!(right.reborrow().into_get_anywhere(second).is_some());
        for entity in [second, third] {
            assert!(left.reborrow().into_get_anywhere(entity).is_none());
            assert!(left.get_mut(entity).is_none());
            assert!(left.read_only().into_get_anywhere(entity).is_none());
            assert!(left.get_many_mut([first, entity]).is_none());
            assert!(!left.contains(entity));
        }
        assert!(right.reborrow().into_get_anywhere(first).is_none());
        assert_eq!(left.read_only().into_many([first, second, third].iter()).count(), 1);
        let a = left.get_mut(first).expect("its own");
        let b = right.get_mut(second).expect("its own");
        std::mem::swap(a, b);
    }
    // Outside a session there are no other users, and the query is as it was.
    assert!(store.view_mut(&one).into_get_anywhere(third).is_some());
    // A table that comes later is compared, too.
    assert!(store.admit(&mut one, all));
    let beyond = split::<Write<u64>>(&store, A.id(), &[all]);
    let session = store.share();
    let _held = session.lock(&one).expect("free");
    assert!(session.lock(&beyond).is_err());
}

#[test]
fn a_forgotten_lock_only_keeps_others_out_until_the_next_session() {
    let (mut store, [alone, beside, _], _) = store();
    let one = split::<Write<u64>>(&store, A.id(), &[alone]);
    let same = split::<Write<u64>>(&store, A.id(), &[alone]);
    let other = split::<Write<u64>>(&store, A.id(), &[beside]);
    let session = store.share();
    std::mem::forget(session.lock(&one).expect("free"));
    drop(one);
    assert!(session.lock(&same).is_err());
    assert!(session.lock(&other).is_ok());
    let session = store.share();
    assert!(session.lock(&same).is_ok());
    let plain = query::<Write<u64>>(&store, A.id(), &[alone]);
    assert!(store.share().lock(&plain).is_ok());
}

#[test]
fn a_reading_session_splits_nothing_and_still_refuses_writers() {
    let (store, [alone, beside, _], _) = store();
    let reads = split::<Read<u64>>(&store, A.id(), &[alone, beside]);
    let writes = split::<Write<u64>>(&store, A.id(), &[alone]);
    let session = store.share_read();
    let _held = session.lock(&reads).expect("all may read");
    assert!(session.lock(&reads).is_ok());
    assert!(session.lock(&writes).is_err());
}

#[test]
fn splitting_can_be_taken_back() {
    let (mut store, [alone, beside, _], _) = store();
    let mut one = split::<Write<u64>>(&store, A.id(), &[alone]);
    let other = split::<Write<u64>>(&store, A.id(), &[beside]);
    one.split(&[]);
    let session = store.share();
    let _held = session.lock(&one).expect("free");
    assert!(session.lock(&other).is_err());
}

// Random sets of tables: a lock that is admitted has no table in common with those that are held.
#[test]
fn locks_that_are_let_in_never_meet() {
    let mut store = Store::new();
    let columns = [A.id().any()];
    let tables: Vec<TableId> = (0..150).map(|_| store.new_table(&columns)).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..200 {
        let queries: Vec<(Prepared<Write<u64>>, Vec<TableId>)> = (0..6)
            .map(|_| {
                let share = 1 + random(120);
                let own: Vec<TableId> = tables.iter().copied().filter(|_| random(share) == 0).collect();
                (split::<Write<u64>>(&store, A.id(), &own), own)
            })
            .collect();
        let session = store.share();
        let mut held: Vec<(Locked<'_, Write<u64>>, &[TableId])> = Vec::new();
        for (query, own) in &queries {
            let apart = held.iter().all(|(_, others)| own.iter().all(|table| !others.contains(table)));
            match session.lock(query) {
                Ok(locked) => {
                    assert!(apart, "{own:?} was let in beside others");
                    held.push((locked, own));
                    accepted += 1;
                }
                Err(_) => {
                    assert!(!apart, "{own:?} was refused");
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 200 && refused > 100, "{accepted} were let in, {refused} refused");
}
