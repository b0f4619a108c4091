//! Proves sharing sessions with real threads: flags keep writers apart, and nothing stays taken after a panic.
//!
//! What one thread can see of a session is in `store.rs` and `soundness.rs`. Here many threads lock, write
//! without atomics, reserve ids and panic; the thread sanitizer runs these tests, too.

#![cfg(not(loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

use phalanx_store::*;

static A: ColCell<u64> = ColCell::new();
static B: ColCell<u32> = ColCell::new();
static C: ColCell<u8> = ColCell::new();

const ROWS: usize = 2_500;
const THREADS: usize = 4;

/// A store with a table of `ROWS` rows in which A, B and C are zero, and some entities without rows.
fn store() -> (Store, TableId) {
    let mut store = Store::new();
    let ids = (A.id(), B.id(), C.id());
    let table = store.new_table(&[A.id().any(), B.id().any(), C.id().any()]);
    let edge = store
        .insert_edge::<(Col<u64>, Col<u32>, Col<u8>)>(TableId::ROWLESS, table, ids, &[])
        .expect("the table is made for it");
    let rows = std::iter::repeat_n((Col(0_u64), Col(0_u32), Col(0_u8)), ROWS);
    store.spawn_batch(&edge, rows, |_| {}).expect("there are ids");
    for _ in 0..20 {
        store.spawn_rowless().expect("there are ids");
    }
    (store, table)
}

fn query<F: Fetch>(store: &Store, ids: F::Ids, table: TableId) -> Prepared<F> {
    let mut query = store.prepare::<F>(ids).expect("no column is used twice");
    assert!(store.admit(&mut query, table));
    query
}

/// Tries until the columns are free.
fn wait<'a, F: Fetch>(session: &'a Shared<'_>, query: &'a Prepared<F>) -> Locked<'a, F> {
    loop {
        match session.lock(query) {
            Ok(locked) => return locked,
            Err(_) => thread::yield_now(),
        }
    }
}

#[test]
fn writers_of_one_column_never_meet() {
    let (mut store, table) = store();
    let rounds = 30;
    let writes = query::<(Write<u64>, Read<u8>)>(&store, (A.id(), C.id()), table);
    let session = store.share();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let mut locked = wait(&session, &writes);
                    // Plain additions: an overlap would lose some.
                    locked.view().into_rows().for_each(|(a, _)| *a += 1);
                }
            });
        }
    });
    let sum = u64::try_from(THREADS * rounds).expect("small");
    assert!(store.column(table, A.id()).expect("there").iter().all(|&a| a == sum));
}

#[test]
fn a_reader_sees_a_write_whole_or_not_at_all() {
    let (mut store, table) = store();
    let writes = query::<(Write<u64>, Write<u32>)>(&store, (A.id(), B.id()), table);
    let reads = query::<(Read<u64>, Read<u32>)>(&store, (A.id(), B.id()), table);
    let session = store.share();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..30 {
                let mut locked = wait(&session, &writes);
                for (a, b) in locked.view().into_chunks().map(Chunk::slices) {
                    a.iter_mut().for_each(|a| *a += 1);
                    b.iter_mut().for_each(|b| *b += 1);
                }
            }
        });
        for _ in 1..THREADS {
            scope.spawn(|| {
                for _ in 0..30 {
                    let locked = wait(&session, &reads);
                    let view = locked.view_shared();
                    let first = view.into_rows().next().map(|(a, _)| *a).expect("many rows");
                    view.into_rows().for_each(|(a, b)| assert_eq!((*a, u64::from(*b)), (first, first)));
                    let changed = view.into_changed_blocks(Tick::ZERO);
                    assert_eq!(changed.iter().map(Chunk::len).sum::<usize>(), ROWS);
                }
            });
        }
    });
}

#[test]
fn blocks_of_one_lock_are_written_by_many_threads() {
    let (mut store, table) = store();
    let writes = query::<(Write<u64>, Write<u32>, EntityIds)>(&store, (A.id(), B.id(), ()), table);
    let session = store.share();
    let mut locked = session.lock(&writes).expect("nobody else is here");
    let jobs = Mutex::new(locked.view().into_runs(BLOCK_ROWS));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let Some(job) = jobs.lock().expect("no job panicked").pop() else { break };
                    let (left, right) = job.split_at(700);
                    for part in [left, right] {
                        part.rows().for_each(|(a, b, entity)| {
                            *a += u64::from(entity.index());
                            *b += 1;
                        });
                    }
                }
            });
        }
    });
    drop(jobs);
    drop(locked);
    let column = store.column(table, A.id()).expect("there");
    assert!(column.iter().zip(0_u64..).all(|(&a, row)| a == row), "rows came in the order of their indices");
    assert!(store.column(table, B.id()).expect("there").iter().all(|&b| b == 1));
}

// Hazard 7, beside queries that walk the directory.
#[test]
fn ids_are_reserved_beside_queries_that_walk_entities() {
    let (mut store, table) = store();
    let mut all = query::<EntityIds>(&store, (), table);
    assert!(store.admit_rowless(&mut all));
    let session = store.share();
    let reserved = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let id = session.reserve_entity().expect("there are ids");
                    assert!(!session.contains(id), "not alive before the flush");
                    reserved.lock().expect("not poisoned").push(id);
                }
            });
            scope.spawn(|| {
                for _ in 0..20 {
                    let locked = session.lock(&all).expect("entities need no flag");
                    let view = locked.view_shared();
                    assert_eq!(view.into_rows().count(), ROWS + 20);
                    assert!(view.into_rows().all(|id| view.contains(id) && session.contains(id)));
                }
            });
        }
    });
    let mut reserved = reserved.into_inner().expect("not poisoned");
    store.flush();
    assert!(reserved.iter().all(|&id| store.entities().contains(id)));
    reserved.sort_unstable();
    reserved.dedup();
    assert_eq!(reserved.len(), 400);
}

// Hazard 36: the refused lock and the guards around it unwind, and give back exactly what they took.
#[test]
fn a_conflict_panic_unwinds_through_other_guards() {
    let (mut store, table) = store();
    let only_a = query::<Read<u64>>(&store, A.id(), table);
    let only_b = query::<Write<u32>>(&store, B.id(), table);
    let all = query::<(Read<u64>, Write<u8>, Write<u32>)>(&store, (A.id(), C.id(), B.id()), table);
    let writes_a = query::<Write<u64>>(&store, A.id(), table);
    let writes_c = query::<Write<u8>>(&store, C.id(), table);
    let session = store.share();
    let held = session.lock(&only_b).expect("free");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _one = session.lock(&only_a).expect("free");
        let _two = session.lock(&only_a).expect("readers share");
        // A and C are taken before B turns out to be in use; all of it unwinds.
        let _all = session.lock(&all).unwrap_or_else(|conflict| panic!("a bug: {conflict}"));
    }));
    let message = panicked.expect_err("B is in use");
    let message = message.downcast_ref::<String>().expect("a message");
    assert_eq!(message, "a bug: a column of u32 cannot be written: another query uses it");
    drop(session.lock(&writes_a).expect("A was given back by all three"));
    drop(session.lock(&writes_c).expect("C was given back"));
    assert!(session.lock(&only_b).is_err(), "B is still held by its owner");
    drop(held);
    drop(session.lock(&all).expect("everything is free"));
}

// Hazard 38, for sessions: a thread that panics with a lock gives it back.
#[test]
fn a_thread_that_panics_gives_its_columns_back() {
    let (mut store, table) = store();
    let writes = query::<(Write<u64>, Write<u32>)>(&store, (A.id(), B.id()), table);
    let session = store.share();
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|at| {
                scope.spawn({
                    let (session, writes, done) = (&session, &writes, &done);
                    move || {
                        for round in 0..20 {
                            let mut locked = wait(session, writes);
                            locked.view().into_rows().take(10).for_each(|(a, _)| *a += 1);
                            assert!(at % 2 == 0 || round < 10, "half of the threads give up");
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        let failed = threads.into_iter().map(thread::ScopedJoinHandle::join).filter(Result::is_err).count();
        assert_eq!(failed, THREADS / 2);
    });
    assert_eq!(done.into_inner(), 2 * 20 + 2 * 10, "the others went on");
    assert!(session.lock(&writes).is_ok());
    assert_eq!(store.column(table, A.id()).map(|a| a[0]), Some(2 * 20 + 2 * 11));
    store.check().expect("valid");
}

/// Whole entities but for some columns, in one table.
fn whole<F: Fetch<Ids = &'static [AnyColId]>>(store: &Store, except: F::Ids, table: TableId) -> Prepared<F> {
    query::<F>(store, except, table)
}

/// The column B, as queries of whole entities name what they leave out.
fn except_b() -> &'static [AnyColId] {
    static EXCEPT: OnceLock<[AnyColId; 1]> = OnceLock::new();
    EXCEPT.get_or_init(|| [B.id().any()])
}

#[test]
fn a_lock_of_whole_entities_takes_all_columns_but_some() {
    let (mut store, table) = store();
    let except = except_b();
    let all = whole::<WholeRowMut>(&store, &[], table);
    let most = whole::<WholeRowMut>(&store, except, table);
    let look = whole::<WholeRow>(&store, &[], table);
    let reads_a = query::<Read<u64>>(&store, A.id(), table);
    let writes_b = query::<Write<u32>>(&store, B.id(), table);
    let session = store.share();
    {
        let _all = session.lock(&all).expect("all columns are free");
        assert!(session.lock(&reads_a).is_err() && session.lock(&writes_b).is_err());
        assert!(session.lock(&most).is_err() && session.lock(&look).is_err());
    }
    {
        let _most = session.lock(&most).expect("the lock before gave everything back");
        assert!(session.lock(&reads_a).is_err() && session.lock(&all).is_err());
        let _b = session.lock(&writes_b).expect("it is left out");
    }
    {
        let _reader = session.lock(&reads_a).expect("free");
        assert_eq!(session.lock(&all).err().map(|conflict| conflict.column), Some(A.id().any()));
        let _look = session.lock(&look).expect("both read");
        assert!(session.lock(&writes_b).is_err());
    }
    let _b = session.lock(&writes_b).expect("a refused lock keeps nothing");
}

#[test]
fn a_reading_session_lends_whole_entities_to_be_read() {
    let (store, table) = store();
    let (all, look) = (whole::<WholeRowMut>(&store, &[], table), whole::<WholeRow>(&store, &[], table));
    let session = store.share_read();
    assert!(session.lock(&all).is_err());
    let locked = session.lock(&look).expect("there is no writer");
    assert_eq!(
        locked.view_shared().into_rows().filter_map(|peek| peek.get::<Read<u64>>(A.id())).count(),
        ROWS
    );
}

#[test]
fn a_query_names_nothing_beside_whole_entities_that_it_writes() {
    let (store, _) = store();
    let except = except_b();
    assert!(store.prepare::<(WholeRowMut, Read<u64>)>((&[], A.id())).is_err());
    assert!(store.prepare::<(Read<u64>, WholeRowMut)>((A.id(), &[])).is_err());
    assert!(store.prepare::<(WholeRow, Write<u64>)>((&[], A.id())).is_err());
    assert!(store.prepare::<(WholeRowMut, WholeRow)>((except, except)).is_err());
    assert!(store.prepare::<(Opt<WholeRowMut>, Write<u32>)>((&[], B.id())).is_err());
    assert!(store.prepare::<(WholeRow, WholeRow, Read<u64>)>((&[], except, A.id())).is_ok());
    assert!(store.prepare::<(WholeRowMut, Write<u32>, EntityIds)>((except, B.id(), ())).is_ok());
}

#[test]
fn threads_write_whole_entities_of_different_rows() {
    let (mut store, table) = store();
    let except = except_b();
    let all = whole::<WholeRowMut>(&store, except, table);
    let session = store.share();
    let mut locked = session.lock(&all).expect("free");
    let mut rest = locked.view().into_chunks().next().expect("the table has rows");
    thread::scope(|scope| {
        while !rest.is_empty() {
            let (chunk, later) = rest.split_at(300);
            rest = later;
            scope.spawn(move || {
                for mut cell in chunk.rows() {
                    *cell.get_mut::<Write<u64>>(A.id()).expect("each row has it") += 7;
                    assert!(cell.get::<Read<u32>>(B.id()).is_none(), "it is left out");
                    assert!(cell.get_mut::<WholeRowMut>(&[]).is_none(), "nor is all of it lent");
                }
            });
        }
    });
    drop(locked);
    let sum = query::<Read<u64>>(&store, A.id(), table);
    assert_eq!(store.view(&sum).into_rows().sum::<u64>(), 7 * ROWS as u64);
}
