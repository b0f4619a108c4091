//! What a store keeps and finds again: rows in tables, ticks of blocks, aligned memory, sessions, checked plans.
//!
//! Each test ends in a state that [`Store::check`] accepts; what hostile callers try is in `soundness.rs`.

#![cfg(not(loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx_store::*;

static A: ColCell<u64> = ColCell::new();
static B: ColCell<u32> = ColCell::new();
static NAME: ColCell<Arc<str>> = ColCell::new();
static TAG: ColCell<Tag> = ColCell::new();

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tag;

/// The edge that spawns rows of `V` into a new table with exactly the columns of `V`.
fn spawner<V: Values>(store: &mut Store, ids: V::Ids) -> (TableId, Edge) {
    let mut columns = Vec::new();
    V::list(ids, &mut columns);
    let table = store.new_table(&columns);
    let edge = store.insert_edge::<V>(TableId::ROWLESS, table, ids, &[]).expect("the table is made for V");
    (table, edge)
}

/// A store with `n` rows of `A` that count from zero.
fn counting(n: u64) -> (Store, TableId, Edge) {
    let mut store = Store::new();
    let (table, edge) = spawner::<Col<u64>>(&mut store, A.id());
    store.spawn_batch(&edge, (0..n).map(Col), |_| {}).expect("there are ids");
    (store, table, edge)
}

fn query<F: Fetch>(store: &Store, ids: F::Ids, tables: &[TableId]) -> Prepared<F> {
    let mut query = store.prepare::<F>(ids).expect("no column is used twice");
    for &table in tables {
        assert!(store.admit(&mut query, table));
    }
    query
}

fn panics<R>(f: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

#[test]
fn a_pushed_row_is_found_where_the_directory_says() {
    let mut store = Store::new();
    let (table, edge) = spawner::<(Col<u64>, (Col<u32>, Col<Tag>))>(&mut store, (A.id(), (B.id(), TAG.id())));
    for n in 0..20 {
        let entity = store.spawn(&edge, (Col(n), (Col(7_u32), Col(Tag)))).expect("there are ids");
        let location = store.locate(entity).expect("alive");
        assert_eq!((location.table, u64::from(location.row.get())), (table, n));
        let row = store
            .get::<(Read<u64>, Read<u32>, HasCol, EntityIds)>(entity, (A.id(), B.id(), TAG.id().any(), ()));
        assert_eq!(row, Some((&n, &7, true, entity)));
    }
    assert_eq!(store.table_len(table), 20);
    assert_eq!(store.table_columns(table).count(), 3);
    store.check().expect("valid");
}

// Hazard 24.
#[test]
fn the_last_row_takes_the_place_of_a_despawned_one() {
    for (gone, left) in [(0, [3, 1, 2].as_slice()), (1, &[0, 3, 2]), (2, &[0, 1, 3]), (3, &[0, 1, 2])] {
        let (mut store, table, _) = counting(4);
        let entities = store.table_entities(table).to_vec();
        assert!(store.despawn(entities[gone]));
        assert_eq!(store.column(table, A.id()), Some(left));
        for (row, &value) in (0..).zip(left) {
            let entity = entities[usize::try_from(value).expect("small")];
            assert_eq!(store.locate(entity), Some(EntityLocation::new(table, Row::new(row))));
        }
        assert!(!store.despawn(entities[gone]) && store.locate(entities[gone]).is_none());
        store.check().expect("valid");
    }
}

#[test]
fn an_edge_copies_fills_makes_and_drops_columns() {
    let mut store = Store::new();
    let (source, spawn) = spawner::<(Col<u64>, Col<Arc<str>>)>(&mut store, (A.id(), NAME.id()));
    let target = store.new_table(&[A.id().any(), B.id().any(), TAG.id().any()]);
    let made = Init::new(TAG.id(), |_| Col(Tag));
    let edge =
        store.insert_edge::<Col<u32>>(source, target, B.id(), &[made]).expect("all columns are filled");
    assert_eq!((edge.source(), edge.target(), edge.copied_columns()), (source, target, 1));

    let name: Arc<str> = "n".into();
    let entities: Vec<_> =
        (0_u64..3).map(|n| store.spawn(&spawn, (Col(n), Col(name.clone()))).expect("ids")).collect();
    assert_eq!(store.insert(entities[0], &edge, Col(5_u32), Existing::Replace), Ok(None));
    assert_eq!(store.get::<(Read<u64>, Read<u32>)>(entities[0], (A.id(), B.id())), Some((&0, &5)));
    assert!(store.get::<Read<Arc<str>>>(entities[0], NAME.id()).is_none());
    assert_eq!(Arc::strong_count(&name), 3, "the moved entity's name was dropped, the others' were not");
    assert_eq!(store.column(source, A.id()), Some([2, 1].as_slice()));
    assert_eq!(
        store.insert(entities[0], &edge, Col(6_u32), Existing::Replace),
        Err(Col(6)),
        "it stands elsewhere"
    );
    store.check().expect("valid");
}

#[test]
fn taken_values_come_back_and_a_part_that_is_missing_takes_nothing() {
    type Both = (Col<Arc<str>>, Col<u32>);
    let mut store = Store::new();
    let (source, spawn) = spawner::<(Col<u64>, Both)>(&mut store, (A.id(), (NAME.id(), B.id())));
    let (target, _) = spawner::<Col<u64>>(&mut store, A.id());
    let name: Arc<str> = "n".into();
    let entity = store.spawn(&spawn, (Col(1_u64), (Col(name.clone()), Col(2_u32)))).expect("ids");

    let lacking =
        store.remove_edge::<(Col<u32>, Col<Tag>)>(source, target, (B.id(), TAG.id())).expect("fits");
    assert_eq!(store.take::<(Col<u32>, Col<Tag>)>(entity, &lacking), None);
    assert_eq!(store.locate(entity).map(|location| location.table), Some(source));

    let edge = store.remove_edge::<Both>(source, target, (NAME.id(), B.id())).expect("fits");
    assert_eq!(store.take::<Both>(entity, &edge), Some((Col(name.clone()), Col(2))));
    assert_eq!(store.get::<(Read<u64>, Opt<Read<u32>>)>(entity, (A.id(), B.id())), Some((&1, None)));
    assert_eq!(Arc::strong_count(&name), 1);
    assert!(!store.remove::<Both>(entity, &edge), "it stands elsewhere");
    store.check().expect("valid");
}

#[test]
fn inserting_over_a_value_replaces_or_keeps_it() {
    type Row = (Col<u64>, Keep<u32>);
    let mut store = Store::new();
    let ids = (A.id(), B.id());
    let (table, spawn) = spawner::<Row>(&mut store, ids);
    let entity = store.spawn(&spawn, (Col(1_u64), Keep(1_u32))).expect("ids");
    let edge = store.insert_edge::<Row>(table, table, ids, &[]).expect("fits");
    store.insert(entity, &edge, (Col(2_u64), Keep(2_u32)), Existing::Replace).expect("it is there");
    assert_eq!(store.get::<(Read<u64>, Read<u32>)>(entity, ids), Some((&2, &1)));
    store.insert(entity, &edge, (Col(3_u64), Keep(3_u32)), Existing::Keep).expect("it is there");
    assert_eq!(store.get::<(Read<u64>, Read<u32>)>(entity, ids), Some((&2, &1)));
    assert_eq!(store.insert_all(&edge, Existing::Replace, |_| (Col(4_u64), Keep(4_u32))), 1);
    assert_eq!(store.get::<(Read<u64>, Read<u32>)>(entity, ids), Some((&4, &1)));
}

// Hazard 22.
#[test]
fn batches_and_single_spawns_mix_at_every_capacity_edge() {
    for first in [0, 1, 7, 8, 9, 1023, 1024, 1025, 2048] {
        let (mut store, table, edge) = counting(first);
        let next = usize::try_from(first).expect("small");
        assert_eq!(store.spawn_batch(&edge, [Col(first), Col(first + 1)], |_| {}), Ok(next..next + 2));
        store.spawn(&edge, Col(first + 2)).expect("ids");
        // The filter hides the length, so that the batch has to grow on its way.
        let hidden = (first + 3..first + 1200).map(Col).filter(|_| true);
        assert_eq!(store.spawn_batch(&edge, hidden, |_| {}), Ok(next + 3..next + 1200));
        assert!(store.column(table, A.id()).expect("has A").iter().copied().eq(0..first + 1200));
        store.check().expect("valid");
    }
}

#[test]
fn a_batch_without_rows_hands_out_its_entities() {
    let mut store = Store::new();
    let edge =
        store.insert_edge::<()>(TableId::ROWLESS, TableId::ROWLESS, (), &[]).expect("nothing is needed");
    let mut entities = Vec::new();
    assert_eq!(store.spawn_batch(&edge, [(), ()], |entity| entities.push(entity)), Ok(0..2));
    assert_eq!((entities.len(), store.entities().rowless_len()), (2, 2));
    store.check().expect("valid");
}

#[test]
fn whole_tables_move_and_their_entities_with_them() {
    let (mut store, source, spawn) = counting(1500);
    let (target, other) = spawner::<(Col<u64>, Col<u32>)>(&mut store, (A.id(), B.id()));
    store.spawn(&other, (Col(9_u64), Col(9_u32))).expect("ids");
    let entities = store.table_entities(source).to_vec();
    let mut made = 0_u32;
    let make = |_| {
        made += 1;
        Col(made)
    };
    let edge = store.insert_edge::<Col<u32>>(source, target, B.id(), &[]).expect("fits");
    assert_eq!(store.insert_all(&edge, Existing::Replace, make), 1500);
    assert_eq!((store.table_len(source), store.table_len(target)), (0, 1501));
    assert_eq!(store.get::<(Read<u64>, Read<u32>)>(entities[1499], (A.id(), B.id())), Some((&1499, &1500)));
    store.check().expect("valid");

    let back = store.remove_edge::<()>(target, source, ()).expect("fits");
    assert_eq!(store.remove_all(&back), 1501);
    let away = store.remove_edge::<()>(source, TableId::ROWLESS, ()).expect("fits");
    assert_eq!(store.remove_all(&away), 1501);
    assert_eq!((store.entities().rowless_len(), store.entities().len()), (1501, 1501));
    store.check().expect("valid");
    store.spawn(&spawn, Col(0_u64)).expect("the emptied table takes rows again");
    store.clear_entities();
    assert!(store.entities().is_empty() && store.table_len(source) == 0);
    store.check().expect("valid");
}

#[test]
fn running_out_of_ids_is_an_error_that_drops_the_values() {
    let mut store = Store::with_entities(Entities::with_limit(3));
    let (table, edge) = spawner::<Col<Arc<str>>>(&mut store, NAME.id());
    let name: Arc<str> = "n".into();
    let names = std::iter::repeat_n(name.clone(), 4).map(Col);
    assert!(store.spawn_batch(&edge, names, |_| {}).is_err());
    assert_eq!((Arc::strong_count(&name), store.table_len(table)), (1, 0));
    store.spawn_batch(&edge, std::iter::repeat_n(Col(name.clone()), 3), |_| {}).expect("three fit");
    assert_eq!(store.spawn(&edge, Col(name.clone())), Err(store.spawn_rowless().expect_err("full")));
    assert_eq!(Arc::strong_count(&name), 4);
    store.check().expect("valid");
}

/// The tick of each block of `A`.
fn ticks(store: &Store, table: TableId) -> Vec<u64> {
    (0..).map_while(|block| store.column_tick(table, A.id().any(), block)).map(Tick::get).collect()
}

#[test]
fn each_block_of_1024_rows_has_a_tick_of_its_own() {
    for (rows, blocks) in [(1, 1), (1024, 1), (1025, 2), (2048, 2), (2049, 3)] {
        let (mut store, table, _) = counting(rows);
        store.shrink_to_fit();
        assert_eq!(store.table_capacity(table), store.table_len(table));
        assert_eq!(ticks(&store, table), vec![0; blocks], "spawning is no write to a column");
        let last = *store.table_entities(table).last().expect("has rows");
        let now = store.advance_tick().get();
        *store.get_mut::<Write<u64>>(last, A.id()).expect("alive") = 1;
        let mut expected = vec![0; blocks];
        expected[blocks - 1] = now;
        assert_eq!(ticks(&store, table), expected);
        assert_eq!(
            (store.column_tick(table, A.id().any(), blocks), store.rows_tick(table, blocks)),
            (None, None)
        );
    }
}

#[test]
fn writes_are_marked_reads_and_quiet_writes_are_not() {
    let (mut store, table, _) = counting(3000);
    let now = store.advance_tick().get();
    let quiet = query::<WriteUntracked<u64>>(&store, A.id(), &[table]);
    store.view_mut(&quiet).into_rows().for_each(|value| *value += 1);
    let read = query::<Read<u64>>(&store, A.id(), &[table]);
    assert_eq!(store.view(&read).into_rows().count(), 3000);
    assert_eq!(ticks(&store, table), [0, 0, 0]);
    assert_eq!(store.column(table, A.id()).map(|column| column[2999]), Some(3000));

    let write = query::<Write<u64>>(&store, A.id(), &[table]);
    store.view_mut(&write).into_rows().for_each(|value| *value += 1);
    assert_eq!(ticks(&store, table), [now; 3]);
    store.advance_tick();
    store.column_mut(table, A.id()).expect("has A")[0] = 1;
    assert_eq!(ticks(&store, table), [now + 1; 3]);
}

#[test]
fn ticks_survive_growth_and_shrinking() {
    let (mut store, table, edge) = counting(2500);
    let entities = store.table_entities(table).to_vec();
    for (at, entity) in [(0, 5), (1, 1024), (2, 2047 + 1)].map(|(tick, row)| (tick, entities[row])) {
        store.set_tick(Tick::new(100 + at));
        store.get_mut::<Write<u64>>(entity, A.id()).expect("alive");
    }
    assert_eq!(ticks(&store, table), [100, 101, 102]);
    store.reserve_rows(table, 50_000);
    assert_eq!(ticks(&store, table), [100, 101, 102]);
    store.shrink_to_fit();
    assert_eq!(ticks(&store, table), [100, 101, 102]);
    store.spawn_batch(&edge, (0_u64..10_000).map(Col).filter(|_| true), |_| {}).expect("ids");
    assert_eq!(ticks(&store, table)[..4], [100, 101, 102, 0]);
}

#[test]
fn only_changed_blocks_are_visited_again() {
    let (mut store, table, edge) = counting(5000);
    let since = store.tick();
    let write = query::<(Write<u64>, EntityIds)>(&store, (A.id(), ()), &[table]);
    assert!(store.view_mut(&write).into_changed_blocks(since).is_empty());
    store.advance_tick();
    let entity = store.table_entities(table)[2100];
    store.get_mut::<Write<u64>>(entity, A.id()).expect("alive");
    store.spawn(&edge, Col(0_u64)).expect("ids");
    let starts: Vec<_> = store
        .view_mut(&write)
        .into_changed_blocks(since)
        .iter()
        .map(|c| (c.entities()[0], c.len()))
        .collect();
    let first_of = |block: usize| store.table_entities(table)[block * BLOCK_ROWS];
    assert_eq!(starts, [(first_of(2), 1024), (first_of(4), 5001 - 4096)]);
}

#[test]
fn values_without_size_share_one_tick() {
    let mut store = Store::new();
    let (table, edge) = spawner::<Col<Tag>>(&mut store, TAG.id());
    store.spawn_batch(&edge, std::iter::repeat_n(Col(Tag), 3000), |_| {}).expect("ids");
    let now = store.advance_tick();
    let last = store.table_entities(table)[2999];
    store.get_mut::<Write<Tag>>(last, TAG.id()).expect("alive");
    assert_eq!([0, 1, 2].map(|block| store.column_tick(table, TAG.id().any(), block)), [Some(now); 3]);
}

#[test]
fn columns_are_aligned_through_growth_moves_and_shrinking() {
    #[repr(align(128))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct A128(u8);
    #[repr(align(4096))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct A4096(u16);
    static BYTE: ColCell<u8> = ColCell::new();
    static C128: ColCell<A128> = ColCell::new();
    static C4096: ColCell<A4096> = ColCell::new();

    fn aligned(store: &Store, table: TableId) -> usize {
        let rows = store.table_len(table);
        assert_eq!(store.column(table, BYTE.id()).expect("has it").as_ptr().addr() % 64, 0);
        assert_eq!(store.column(table, C128.id()), Some(vec![A128(1); rows].as_slice()));
        assert_eq!(store.column(table, C128.id()).expect("has it").as_ptr().addr() % 128, 0);
        assert_eq!(store.column(table, C4096.id()), Some(vec![A4096(2); rows].as_slice()));
        assert_eq!(store.column(table, C4096.id()).expect("has it").as_ptr().addr() % 4096, 0);
        assert!(rows == 0 || store.table_entities(table).as_ptr().addr().is_multiple_of(64));
        store.check().expect("valid");
        rows
    }
    let mut store = Store::new();
    let ids = (BYTE.id(), (C128.id(), C4096.id()));
    let (table, edge) = spawner::<(Col<u8>, (Col<A128>, Col<A4096>))>(&mut store, ids);
    let row = (Col(0_u8), (Col(A128(1)), Col(A4096(2))));
    for n in [1, 7, 1, 1016, 10] {
        store.spawn_batch(&edge, std::iter::repeat_n(row, n), |_| {}).expect("ids");
        aligned(&store, table);
    }
    assert_eq!(aligned(&store, table), 1035);
    let target = store.new_table(&[BYTE.id().any(), C128.id().any(), C4096.id().any(), A.id().any()]);
    let moves = store.insert_edge::<Col<u64>>(table, target, A.id(), &[]).expect("fits");
    store.insert(store.table_entities(table)[3], &moves, Col(0_u64), Existing::Replace).expect("there");
    assert_eq!((aligned(&store, table), aligned(&store, target)), (1034, 1));
    store.insert_all(&moves, Existing::Replace, |_| Col(0_u64));
    store.shrink_to_fit();
    assert_eq!((aligned(&store, table), aligned(&store, target)), (0, 1035));
}

#[test]
fn values_without_size_take_no_memory() {
    let mut store = Store::new();
    let (table, edge) = spawner::<(Col<Tag>, Col<u8>)>(&mut store, (TAG.id(), ColId::named("byte")));
    assert_eq!((store.table_capacity(table), store.owner_bytes(table)), (0, 0), "no rows, no memory");
    store.spawn_batch(&edge, std::iter::repeat_n((Col(Tag), Col(1_u8)), 100), |_| {}).expect("ids");
    assert_eq!(store.column_bytes(table, TAG.id().any()), 0);
    assert_eq!(store.column_bytes(table, ColId::<u8>::named("byte").any()), 100);
    assert_eq!(store.column(table, TAG.id()), Some([Tag; 100].as_slice()));
    assert!(TAG.id().any().is_virtual() && !A.id().any().is_virtual());
}

#[test]
fn a_view_walks_its_tables_in_order_and_then_the_rowless() {
    let (mut store, first, _) = counting(3);
    let (second, edge) = spawner::<(Col<u64>, Col<u32>)>(&mut store, (A.id(), B.id()));
    store.spawn(&edge, (Col(10_u64), Col(11_u32))).expect("ids");
    let alone = store.spawn_rowless().expect("ids");
    let mut all = query::<(EntityIds, Opt<Read<u64>>, HasCol)>(&store, ((), A.id(), B.id().any()), &[second]);
    assert!(
        store.admit_at(&mut all, 0, first) && !store.admit(&mut all, first) && store.admit_rowless(&mut all)
    );
    let rows: Vec<_> = store.view(&all).into_rows().map(|(_, a, has)| (a.copied(), has)).collect();
    assert_eq!(rows, [(Some(0), false), (Some(1), false), (Some(2), false), (Some(10), true), (None, false)]);
    assert_eq!(store.view(&all).get(alone), Some((alone, None, false)));
    assert_eq!((store.view(&all).len(), store.view(&all).into_chunks().count()), (5, 3));
    let mut strict = query::<Read<u64>>(&store, A.id(), &[second]);
    assert!(!store.admit_rowless(&mut strict) && !strict.visits(first) && strict.visits(second));
    assert!(!store.view(&strict).contains(alone));
}

#[test]
fn threads_write_different_columns_of_the_same_rows() {
    let mut store = Store::new();
    let (table, edge) = spawner::<(Col<u64>, Col<u32>)>(&mut store, (A.id(), B.id()));
    store.spawn_batch(&edge, std::iter::repeat_n((Col(0_u64), Col(0_u32)), 5000), |_| {}).expect("ids");
    let (a, b) =
        (query::<Write<u64>>(&store, A.id(), &[table]), query::<Write<u32>>(&store, B.id(), &[table]));
    let session = store.share();
    std::thread::scope(|scope| {
        let mut locked = session.lock(&a).expect("nothing else uses A");
        scope.spawn(move || {
            for chunk in locked.view().into_runs(BLOCK_ROWS) {
                chunk.slices().fill(1);
            }
        });
        let mut locked = session.lock(&b).expect("nothing else uses B");
        locked.view().into_rows().for_each(|value| *value = 2);
        let reserved = session.reserve_entity().expect("ids");
        assert!(!session.contains(reserved));
    });
    assert_eq!(store.column(table, A.id()), Some(vec![1; 5000].as_slice()));
    assert_eq!(store.column(table, B.id()), Some(vec![2; 5000].as_slice()));
    store.flush();
    assert_eq!(store.entities().rowless_len(), 1);
    store.check().expect("valid");
}

#[test]
fn a_conflict_names_the_column_and_leaves_nothing_taken() {
    let (mut store, table, _) = counting(1);
    store.declare(B.id().any());
    let reads = query::<(Opt<Read<u32>>, Read<u64>)>(&store, (B.id(), A.id()), &[table]);
    let writes = query::<(Opt<Write<u32>>, Write<u64>)>(&store, (B.id(), A.id()), &[table]);
    let only_a = query::<Read<u64>>(&store, A.id(), &[table]);
    let only_b = query::<Opt<Write<u32>>>(&store, B.id(), &[table]);
    let session = store.share();
    let one = session.lock(&reads).expect("free");
    let two = session.lock(&reads).expect("readers share");
    assert_eq!(one.view_shared().get(Entity::PLACEHOLDER), None);
    let conflict = session.lock(&writes).err().expect("read by two");
    assert_eq!((conflict.column, conflict.writes), (B.id().any(), true));
    assert!(conflict.to_string().contains("u32"), "{conflict}");
    drop((one, two));
    let held = session.lock(&only_a).expect("free");
    let conflict = session.lock(&writes).err().expect("A is read");
    assert_eq!(conflict.column, A.id().any());
    session.lock(&only_b).expect("the refused lock gave B back");
    drop(held);
    session.lock(&writes).expect("free again");
}

#[test]
fn prepared_queries_and_edges_are_stale_after_a_table_is_dropped() {
    let (mut store, table, edge) = counting(2);
    let mut rows = query::<Read<u64>>(&store, A.id(), &[table]);
    let spare = store.new_table(&[B.id().any()]);
    assert!(store.is_fresh(&rows), "new tables make nothing stale");
    assert!(!store.drop_table(table), "it has rows");
    assert!(store.drop_table(spare) && !store.drop_table(spare));
    assert!(!store.is_fresh(&rows));
    assert!(panics(|| store.view(&rows).len()));
    assert!(panics(|| store.spawn(&edge, Col(1_u64))));
    store.reset(&mut rows);
    assert!(rows.tables().is_empty() && store.admit(&mut rows, table));
    assert_eq!(store.view(&rows).len(), 2);
    assert_eq!(store.new_table(&[A.id().any()]), spare, "the id is given again");
    store.check().expect("valid");
}

#[test]
fn every_plan_error_names_what_does_not_fit() {
    let (mut store, a, _) = counting(0);
    let ab = store.new_table(&[A.id().any(), B.id().any()]);
    let gone = store.new_table(&[]);
    assert!(store.drop_table(gone));
    let make_b = Init::new(B.id(), |_| Col(0));
    let make_a = Init::new(A.id(), |_| Col(0));
    assert_eq!(make_b.columns(), [B.id().any()]);
    let error = |edge: Result<Edge, PlanError>| edge.expect_err("does not fit");
    let (no_a, no_b) = (A.id().any(), B.id().any());

    for none in [TableId::DEAD, gone, TableId::new(u32::MAX)] {
        assert_eq!(error(store.insert_edge::<()>(none, a, (), &[])), PlanError::NoTable(none));
        assert_eq!(error(store.remove_edge::<()>(a, none, ())), PlanError::NoTable(none));
    }
    let twice = store.insert_edge::<(Col<u64>, Keep<u64>)>(TableId::ROWLESS, a, (A.id(), A.id()), &[]);
    assert_eq!(error(twice), PlanError::Repeated(no_a));
    let both = store.insert_edge::<Col<u32>>(a, ab, B.id(), std::slice::from_ref(&make_b));
    assert_eq!(error(both), PlanError::Repeated(no_b));
    let has_a = store.insert_edge::<Col<u32>>(a, ab, B.id(), std::slice::from_ref(&make_a));
    assert_eq!(error(has_a), PlanError::Repeated(no_a), "the source brings it");
    let made_twice = store.insert_edge::<()>(a, ab, (), &[make_b.clone(), make_b.clone()]);
    assert_eq!(error(made_twice), PlanError::Repeated(no_b));
    assert_eq!(error(store.insert_edge::<()>(a, ab, (), &[])), PlanError::Unfilled(no_b));
    assert_eq!(error(store.remove_edge::<()>(a, ab, ())), PlanError::Unfilled(no_b));
    assert_eq!(error(store.insert_edge::<Col<u32>>(a, a, B.id(), &[])), PlanError::ColumnMismatch(no_b));
    assert_eq!(error(store.insert_edge::<()>(a, a, (), &[make_b])), PlanError::ColumnMismatch(no_b));
    assert_eq!(error(store.remove_edge::<Col<u64>>(ab, a, A.id())), PlanError::ColumnMismatch(no_a));
    assert!(PlanError::Unfilled(no_b).to_string().contains("u32"));
}
