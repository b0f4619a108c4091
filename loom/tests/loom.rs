//! What threads may do to each other, in every order that the memory model allows.
//!
//! Run with `.ci/run loom`, which sets `--cfg loom`; without that flag the file is empty. Four things are modelled:
//! reserving ids from a shared directory (hazard 7), taking the borrow flags of columns, locks of a session, plain and
//! split, and guards of slots. Each model is small on purpose, since loom tries every interleaving.

#![cfg(loom)]

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::thread;
use phalanx_store::{
    Borrow, BorrowFlags, Col, ColCell, Entities, Entity, Exhausted, Prepared, Shared, SharedSlots, Slots, Store,
    TableId, Tick, Write,
};

/// A directory with `free` slots to use again, and at most `limit` slots in all.
fn with_free(free: usize, limit: u32) -> Entities {
    let mut entities = Entities::with_limit(limit);
    for _ in 0..free {
        entities.reserve().expect("the limit leaves room");
    }
    entities.clear();
    assert_eq!((entities.free_len(), entities.len()), (free, 0));
    entities
}

/// Reserves `per_thread` ids on each of `threads` threads, the last of which is this one.
fn reserve_on(
    entities: Entities,
    threads: usize,
    per_thread: usize,
) -> (Entities, Vec<Result<Entity, Exhausted>>) {
    let shared = Arc::new(entities);
    let reserve = move |shared: &Entities| -> Vec<_> { (0..per_thread).map(|_| shared.reserve()).collect() };
    let spawned: Vec<_> = (1..threads)
        .map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let ids = reserve(&shared);
                drop(shared);
                ids
            })
        })
        .collect();
    let mut ids = reserve(&shared);
    for thread in spawned {
        ids.extend(thread.join().expect("no thread panics"));
    }
    let entities = Arc::into_inner(shared).expect("all threads have ended");
    (entities, ids)
}

/// After a flush exactly the reserved ids are alive, each once.
fn all_alive_after_flush(mut entities: Entities, mut ids: Vec<Entity>) {
    entities.check().expect("consistent before the flush");
    assert!(ids.iter().all(|entity| !entities.contains(*entity)));
    entities.flush();
    entities.check().expect("consistent after the flush");
    assert!(!entities.needs_flush());
    ids.sort_by_key(|entity| entity.index());
    assert!(entities.iter().eq(ids.iter().copied()), "{ids:?}");
    assert!(entities.rowless().eq(&ids));
}

// Hazard 7
#[test]
fn two_threads_share_one_free_slot_and_new_ones() {
    loom::model(|| {
        let (entities, ids) = reserve_on(with_free(1, u32::MAX), 2, 2);
        let ids = ids.into_iter().collect::<Result<_, _>>();
        all_alive_after_flush(entities, ids.expect("there is room for all"));
    });
}

// Hazard 7
#[test]
fn two_threads_pop_a_list_of_three() {
    loom::model(|| {
        let (entities, ids) = reserve_on(with_free(3, u32::MAX), 2, 2);
        let ids = ids.into_iter().collect::<Result<_, _>>();
        all_alive_after_flush(entities, ids.expect("there is room for all"));
    });
}

// Hazard 7
#[test]
fn three_threads_share_one_free_slot_and_new_ones() {
    loom::model(|| {
        let (entities, ids) = reserve_on(with_free(1, u32::MAX), 3, 1);
        let ids = ids.into_iter().collect::<Result<_, _>>();
        all_alive_after_flush(entities, ids.expect("there is room for all"));
    });
}

// Hazards 3 and 7: the limit holds however many ask at once.
#[test]
fn three_threads_never_pass_the_limit_and_never_fall_short_of_it() {
    loom::model(|| {
        let (entities, ids) = reserve_on(with_free(1, 2), 3, 1);
        let ids: Vec<Entity> = ids.into_iter().flatten().collect();
        assert_eq!(ids.len(), 2);
        assert!(entities.reserve().is_err());
        all_alive_after_flush(entities, ids);
    });
}

/// A column under its flag. Loom fails the model when two accesses to the cell are not ordered, and the
/// content of the cell need not be touched for that.
struct Column {
    flags: BorrowFlags,
    cell: UnsafeCell<()>,
}

// SAFETY: the cell holds nothing, so no access to it can race.
unsafe impl Sync for Column {}

impl Column {
    fn new() -> Arc<Self> {
        let mut flags = BorrowFlags::new();
        flags.grow(1);
        let cell = UnsafeCell::new(());
        Arc::new(Self { flags, cell })
    }

    fn write(&self) -> bool {
        let taken = self.flags.try_write(0);
        if taken {
            self.cell.with_mut(|_| thread::yield_now());
            assert_eq!(self.flags.state(0), Borrow::Written);
            self.flags.release_write(0);
        }
        taken
    }

    fn read(&self) -> bool {
        let taken = self.flags.try_read(0);
        if taken {
            self.cell.with(|_| thread::yield_now());
            assert!(matches!(self.flags.state(0), Borrow::Read(_)));
            self.flags.release_read(0);
        }
        taken
    }
}

/// Runs all of these at once on one column, the last on this thread; tells which of them got it.
fn contend(users: &[fn(&Column) -> bool]) -> Vec<bool> {
    let column = Column::new();
    let (last, others) = users.split_last().expect("somebody uses the column");
    let threads: Vec<_> = others
        .iter()
        .map(|user| {
            let (user, column) = (*user, Arc::clone(&column));
            thread::spawn(move || user(&column))
        })
        .collect();
    let last = last(&column);
    let mut taken: Vec<bool> =
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect();
    taken.push(last);
    assert_eq!(column.flags.state(0), Borrow::Free);
    taken
}

#[test]
fn two_writers_never_meet() {
    loom::model(|| {
        let taken = contend(&[Column::write, Column::write]);
        assert!(taken.contains(&true), "one of them was first");
    });
}

#[test]
fn a_reader_and_a_writer_never_meet() {
    loom::model(|| {
        let taken = contend(&[Column::read, Column::write]);
        assert!(taken.contains(&true), "one of them was first");
    });
}

#[test]
fn two_readers_both_get_the_column() {
    loom::model(|| assert_eq!(contend(&[Column::read, Column::read]), [true, true]));
}

// The writer must come after both readers, though it sees the word of the later one only.
#[test]
fn two_readers_and_a_writer_never_meet() {
    loom::model(|| {
        contend(&[Column::read, Column::read, Column::write]);
    });
}

#[test]
fn a_released_flag_is_seen_free_by_a_waiting_thread() {
    fn keep_trying(column: &Column) -> bool {
        while !column.write() {
            thread::yield_now();
        }
        true
    }
    loom::model(|| assert_eq!(contend(&[keep_trying, keep_trying]), [true, true]));
}

/// A value that tells loom of each access to it.
struct Probe(UnsafeCell<()>);

// SAFETY: the cell holds nothing, so no access to it can race.
unsafe impl Send for Probe {}
// SAFETY: as above.
unsafe impl Sync for Probe {}

impl Probe {
    fn new() -> Self {
        Self(UnsafeCell::new(()))
    }

    fn read(&self) {
        self.0.with(|_| thread::yield_now());
    }

    fn write(&mut self) {
        self.0.with_mut(|_| thread::yield_now());
    }
}

/// Lends a value to threads as if for good, and takes it back when they have ended.
fn lend<T: 'static, R>(value: T, run: impl FnOnce(&'static mut T) -> R) -> R {
    let value = Box::into_raw(Box::new(value));
    // SAFETY: the value lives until it is taken back, and `run` ends all threads that use it.
    unsafe {
        let result = run(&mut *value);
        drop(Box::from_raw(value));
        result
    }
}

fn read_slot(slots: &SharedSlots<'_, Probe>) -> bool {
    slots.read(0).map(|probe| probe.read()).is_some()
}

fn write_slot(slots: &SharedSlots<'_, Probe>) -> bool {
    slots.write(0).map(|mut probe| probe.write()).is_some()
}

#[test]
fn guards_of_one_slot_never_meet() {
    for user in [read_slot, write_slot] {
        loom::model(move || {
            let mut slots = Slots::new();
            slots.push(Probe::new());
            let (one, other) = lend(slots, |slots| {
                lend(slots.share(), |shared| {
                    let shared: &'static SharedSlots<'static, Probe> = shared;
                    let other = thread::spawn(move || user(shared));
                    (write_slot(shared), other.join().expect("no thread panics"))
                })
            });
            assert!(one || other, "one of them was first");
        });
    }
}

static PROBE: ColCell<Probe> = ColCell::new();
static MARK: ColCell<()> = ColCell::new();

/// Two tables of one probe each.
fn two_tables() -> (Store, [TableId; 2]) {
    let mut store = Store::new();
    let (probe, mark) = (PROBE.id(), MARK.id());
    let tables = [store.new_table(&[probe.any()]), store.new_table(&[probe.any(), mark.any()])];
    let edge = store.insert_edge::<Col<Probe>>(TableId::ROWLESS, tables[0], probe, &[]).expect("it fits");
    store.spawn(&edge, Col(Probe::new())).expect("there are ids");
    type Marked = (Col<Probe>, Col<()>);
    let edge = store.insert_edge::<Marked>(TableId::ROWLESS, tables[1], (probe, mark), &[]).expect("it fits");
    store.spawn(&edge, (Col(Probe::new()), Col(()))).expect("there are ids");
    (store, tables)
}

/// Lets two queries write on two threads at once; tells which of them got their locks.
fn write_at_once(tables: [&[usize]; 2], split: [bool; 2]) -> [bool; 2] {
    fn write(session: &Shared<'_>, query: &Prepared<Write<Probe>>) -> bool {
        let Ok(mut lock) = session.lock_at(query, Tick::new(7)) else { return false };
        lock.view().into_rows().for_each(Probe::write);
        true
    }
    let (store, ids) = two_tables();
    lend(store, |store| {
        let queries = [0, 1].map(|at: usize| {
            let mut query = store.prepare::<Write<Probe>>(PROBE.id()).expect("one column");
            assert!(tables[at].iter().all(|&table| store.admit(&mut query, ids[table])));
            if split[at] {
                query.split(&[PROBE.id().any()]);
            }
            query
        });
        lend((store.share(), queries), |lent| {
            let (session, [one, other]) = &*lent;
            let other = thread::spawn(move || write(session, other));
            [write(session, one), other.join().expect("no thread panics")]
        })
    })
}

#[test]
fn locks_of_one_table_never_meet() {
    for split in [[false, false], [true, false], [true, true]] {
        loom::model(move || {
            let taken = write_at_once([&[0, 1], &[1]], split);
            assert!(taken.contains(&true), "one of them was first");
        });
    }
}

#[test]
fn split_locks_of_two_tables_are_both_taken() {
    loom::model(|| assert_eq!(write_at_once([&[0], &[1]], [true, true]), [true, true]));
}

// The plain lock must come after both others, though the last of them alone gives the flag back.
#[test]
fn a_plain_lock_comes_after_both_halves_of_a_split_one() {
    loom::model(|| {
        let (store, ids) = two_tables();
        lend(store, |store| {
            let queries = [&[ids[0]][..], &[ids[1]], &ids].map(|tables| {
                let mut query = store.prepare::<Write<Probe>>(PROBE.id()).expect("one column");
                assert!(tables.iter().all(|&table| store.admit(&mut query, table)));
                if tables.len() == 1 {
                    query.split(&[PROBE.id().any()]);
                }
                query
            });
            lend((store.share(), queries), |lent| {
                let (session, queries) = &*lent;
                let write = move |at: usize| {
                    if let Ok(mut lock) = session.lock(&queries[at]) {
                        lock.view().into_rows().for_each(Probe::write);
                    }
                };
                let threads = [0, 1].map(|at| thread::spawn(move || write(at)));
                write(2);
                threads.map(|thread| thread.join().expect("no thread panics"));
            });
        });
    });
}
