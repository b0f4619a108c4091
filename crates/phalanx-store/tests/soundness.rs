//! Safe code that tries to reach memory it has no right to: a value twice, a value that is gone, one not yet there.
//!
//! Numbers that wrap, ids and plans that belong elsewhere, columns asked for twice, panics in the user's code at
//! the worst moment. Every attempt must end in an error, a `None` or a panic, and leave a store that
//! [`Store::check`] accepts. What must not compile is shown at [`ColId`] and [`ColCell`].

#![cfg(not(loom))]

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use phalanx_store::*;

#[path = "soundness/groups.rs"]
mod groups;
#[path = "soundness/images.rs"]
mod images;
#[path = "soundness/images_model.rs"]
mod images_model;

static A: ColCell<u64> = ColCell::new();
static B: ColCell<u32> = ColCell::new();

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

/// The words of the panic that `f` ends in.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("it should have panicked") };
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

// `block * 1024` wraps to a small number for these.
#[test]
fn a_block_number_that_wraps_names_no_block() {
    let (store, table, _) = counting(3);
    for block in [1, 1 << 54, 3 << 54, 1 << 61, (1 << 61) + 1, usize::MAX / 1024 + 1, usize::MAX] {
        assert_eq!(store.column_tick(table, A.id().any(), block), None);
        assert_eq!(store.rows_tick(table, block), None);
    }
}

#[test]
fn runs_of_more_rows_than_there_are_are_whole_tables() {
    let (mut store, table, _) = counting(3000);
    let write = query::<Write<u64>>(&store, A.id(), &[table]);
    for rows in [3000, 1 << 54, usize::MAX] {
        let lens: Vec<_> = store.view_mut(&write).into_runs(rows).iter().map(Chunk::len).collect();
        assert_eq!(lens, [3000]);
    }
    assert_eq!(store.view_mut(&write).into_runs(0).len(), 3000);
}

#[test]
fn room_that_no_table_can_have_is_refused() {
    let (mut store, table, edge) = counting(3);
    for additional in [u32::MAX as usize, usize::MAX - 2, usize::MAX] {
        panic_of(|| store.reserve_rows(table, additional));
        store.check().expect("valid");
    }
    store.reserve_rows(TableId::new(77), usize::MAX);
    store.spawn(&edge, Col(3_u64)).expect("ids");
    assert_eq!(store.column(table, A.id()), Some([0, 1, 2, 3].as_slice()));
}

/// Counts to a number, and says anything about how far that is.
struct Liar {
    next: u64,
    end: u64,
    says: usize,
}

impl Iterator for Liar {
    type Item = Col<u64>;
    fn next(&mut self) -> Option<Col<u64>> {
        self.next += 1;
        (self.next <= self.end).then(|| Col(self.next - 1))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.says, Some(self.says))
    }
}

#[test]
fn a_batch_believes_no_size_hint() {
    for says in [0, 1, 1500, 1 << 16, u32::MAX as usize, usize::MAX] {
        let (mut store, table, edge) = counting(0);
        assert_eq!(store.spawn_batch(&edge, Liar { next: 0, end: 1500, says }, |_| {}), Ok(0..1500));
        assert!(store.column(table, A.id()).expect("has A").iter().copied().eq(0..1500));
        store.check().expect("valid");
    }
}

#[test]
fn a_made_up_table_is_no_table() {
    let (mut store, _, edge) = counting(1);
    let mut read = query::<Opt<Read<u64>>>(&store, A.id(), &[]);
    for table in [TableId::DEAD, TableId::ROWLESS, TableId::new(3), TableId::new(u32::MAX)] {
        assert!(store.column(table, A.id()).is_none() && store.column_mut(table, A.id()).is_none());
        assert!(store.table_entities(table).is_empty());
        assert_eq!(
            (store.table_len(table), store.table_capacity(table), store.owner_bytes(table)),
            (0, 0, 0)
        );
        assert_eq!((store.column_tick(table, A.id().any(), 0), store.rows_tick(table, 0)), (None, None));
        assert_eq!((store.table_columns(table).count(), store.column_bytes(table, A.id().any())), (0, 0));
        assert!(!store.drop_table(table) && !store.table_has(table, A.id().any()));
        assert!(!store.admit(&mut read, table));
        store.reserve_rows(table, 10);
    }
    store.spawn(&edge, Col(0_u64)).expect("nothing is stale, since no table was dropped");
    store.check().expect("valid");
}

// Hazard 4.
#[test]
fn a_made_up_entity_is_found_nowhere() {
    let (mut store, table, spawn) = counting(2);
    let dead = store.table_entities(table)[0];
    store.despawn(dead);
    let reserved = store.reserve_entity().expect("ids");
    let edge = store.insert_edge::<Col<u64>>(table, table, A.id(), &[]).expect("fits");
    let away = store.remove_edge::<Col<u64>>(table, TableId::ROWLESS, A.id()).expect("fits");
    let mut write = query::<(Write<u64>, EntityIds)>(&store, (A.id(), ()), &[table]);
    assert!(!store.admit_rowless(&mut write));
    let above = Entity::from_bits(1 << 32 | 1000).expect("an id");
    for entity in [dead, reserved, above, Entity::PLACEHOLDER] {
        assert!(store.get::<Read<u64>>(entity, A.id()).is_none());
        assert!(store.get_mut::<(Opt<Write<u64>>, EntityIds)>(entity, (A.id(), ())).is_none());
        assert_eq!(store.insert(entity, &edge, Col(1_u64), Existing::Replace), Err(Col(1)));
        assert!(!store.remove::<Col<u64>>(entity, &away) && store.take::<Col<u64>>(entity, &away).is_none());
        let mut view = store.view_mut(&write);
        assert!(view.get_mut(entity).is_none() && view.get_many_mut([entity]).is_none());
        assert!(view.into_get(entity).is_none());
    }
    assert!(store.despawn(reserved) && !store.despawn(dead) && !store.despawn(above));
    store.spawn(&spawn, Col(5_u64)).expect("ids");
    store.check().expect("valid");
}

// Hazards 28, 29.
#[test]
fn no_fetch_reaches_a_column_twice_if_it_writes() {
    let (mut store, table, _) = counting(1);
    let entity = store.table_entities(table)[0];
    let (a, any) = (A.id(), A.id().any());
    macro_rules! refused {
        ($($fetch:ty, $ids:expr, $first:expr, $second:expr;)*) => {$(
            let alias = store.prepare::<$fetch>($ids).err().expect("two uses, one writes");
            assert_eq!((alias.column, alias.first, alias.second), (any, $first, $second));
            assert!(store.get_mut::<$fetch>(entity, $ids).is_none());
        )*};
    }
    refused! {
        (Write<u64>, Read<u64>), (a, a), 0, 1;
        (Read<u64>, WriteUntracked<u64>), (a, a), 0, 1;
        (Write<u64>, WriteUntracked<u64>), (a, a), 0, 1;
        (Opt<Write<u64>>, Opt<Read<u64>>), (a, a), 0, 1;
        (Read<u64>, (EntityIds, Opt<(Read<u32>, Write<u64>)>)), (a, ((), (B.id(), a))), 0, 2;
        (Opt<Opt<Read<u64>>>, Read<u32>, Read<u64>, Write<u64>), (a, B.id(), a, a), 0, 3;
    }
    let twice = (a, a, any, a);
    assert!(store.prepare::<(Read<u64>, Opt<Read<u64>>, HasCol, Read<u64>)>(twice).is_ok());
    assert_eq!(store.get_mut::<(Write<u64>, HasCol)>(entity, (a, any)), Some((&mut 0, true)));
}

// A chain of links is read while what was yielded before is alive: no link may be written beside it, not even one that is
// a copy.
#[test]
fn no_fetch_writes_the_links_that_it_follows() {
    static LINK: ColCell<Tick> = ColCell::new();
    struct Chain;
    impl Link for Chain {
        type Fetch = InSet<RowTick>;
        const NEAREST: bool = true;
        fn target(link: Tick) -> Entity {
            Entity::from_bits(link.get()).unwrap_or(Entity::PLACEHOLDER)
        }
    }
    type Follow = (Via<Chain, Read<u64>>, InSet<Write<Tick>>);
    let mut store = Store::new();
    let set = store.declare_set(&[LINK.id().any()]);
    let plan = store.set_plan::<Col<Tick>>(set, LINK.id()).expect("its column");
    let (_, edge) = spawner::<Col<u64>>(&mut store, A.id());
    let end = store.spawn(&edge, Col(7_u64)).expect("ids");
    let mut above = end;
    for _ in 0..2 {
        let entity = store.spawn_rowless().expect("ids");
        let link = Col(Tick::new(above.to_bits()));
        assert!(store.set_insert(&plan, LINK.id(), entity, link, Existing::Replace).is_ok());
        above = entity;
    }
    let ids = ((LINK.id(), A.id()), LINK.id());
    assert!(store.get::<Via<Chain, Read<u64>>>(above, ids.0) == Some(&7));
    // What the item before has in its hands decides what the next one is.
    if let Ok(mut query) = store.prepare::<Follow>(ids) {
        store.admit_rowless(&mut query);
        let mut rows = store.view_mut(&query).into_rows();
        let (_, first) = rows.next().expect("a link");
        *first = Tick::ZERO;
        let next = rows.next().is_some();
        *first = Tick::new(end.to_bits());
        assert!(next, "a link was read that is lent to be written");
    }
    let alias = store.prepare::<Follow>(ids).expect_err("the link is read and written");
    assert_eq!((alias.column, alias.first, alias.second), (LINK.id().any(), 0, 2));
    assert!(store.get_mut::<Follow>(above, ids).is_none());
}

#[test]
fn a_writing_view_gives_each_row_to_one_place_only() {
    let (mut store, first, _) = counting(2500);
    let (second, edge) = spawner::<(Col<u64>, Col<u32>)>(&mut store, (A.id(), B.id()));
    store.spawn_batch(&edge, (0_u64..1030).map(|n| (Col(n), Col(0_u32))), |_| {}).expect("ids");
    let write = query::<(Write<u64>, Opt<Write<u32>>)>(&store, (A.id(), B.id()), &[second, first]);
    let distinct = |rows: Vec<(&mut u64, Option<&mut u32>)>| {
        let locations: HashSet<_> = rows.iter().map(|(a, _)| std::ptr::from_ref::<u64>(a)).collect();
        let others: HashSet<_> =
            rows.iter().filter_map(|(_, b)| b.as_deref().map(std::ptr::from_ref)).collect();
        (rows.len(), locations.len(), others.len()) == (3530, 3530, 1030)
    };
    assert!(distinct(store.view_mut(&write).into_rows().collect()));
    assert!(distinct(store.view_mut(&write).into_chunks().flat_map(Chunk::rows).collect()));
    assert!(distinct(
        store.view_mut(&write).into_runs(BLOCK_ROWS).into_iter().flat_map(Chunk::rows).collect()
    ));
    let halves = store.view_mut(&write).into_chunks().map(|chunk| chunk.split_at(1025));
    let parts = halves.flat_map(|(a, b)| [a, b.split_at(usize::MAX).0]).flat_map(Chunk::rows);
    assert!(distinct(parts.collect()));
    let mut begun = store.view_mut(&write).into_rows();
    let mut rows: Vec<_> = begun.by_ref().take(1031).collect();
    assert_eq!(begun.len(), 3530 - 1031);
    begun.for_each(|row| rows.push(row));
    assert!(distinct(rows));

    let entities = store.table_entities(first).to_vec();
    let mut view = store.view_mut(&write);
    assert!(view.get_many_mut([entities[0], entities[1], entities[0]]).is_none());
    let [(a, None), (b, None)] = view.get_many_mut([entities[0], entities[2499]]).expect("two rows") else {
        panic!("the first table has no B")
    };
    std::mem::swap(a, b);
    assert_eq!((*a, *b), (2499, 0));
}

#[test]
fn an_entity_without_a_row_is_a_chunk_of_one() {
    let (mut store, table, _) = counting(1);
    let alone = [store.spawn_rowless().expect("ids"), store.spawn_rowless().expect("ids")];
    type All = (EntityIds, Opt<Write<u64>>, Opt<EntityIds>, HasCol);
    let mut all = query::<All>(&store, ((), A.id(), (), A.id().any()), &[table]);
    assert!(store.admit_rowless(&mut all));
    let chunks: Vec<_> = store.view_mut(&all).into_chunks().skip(1).collect();
    for (chunk, entity) in chunks.into_iter().zip(alone) {
        assert_eq!(chunk.entities(), [entity]);
        let (chunk, none) = chunk.split_at(1);
        assert!(none.entities().is_empty() && none.slices().0.is_empty());
        assert_eq!(chunk.slices(), ([entity].as_slice(), None, Some([entity].as_slice()), false));
    }
    assert_eq!(store.view_mut(&all).into_runs(BLOCK_ROWS).len(), 3);
    assert!(store.view_mut(&all).get_many_mut([alone[0], alone[0]]).is_none());
    assert_eq!(store.view_mut(&all).into_get(alone[1]), Some((alone[1], None, Some(alone[1]), false)));
}

// Hazard 26, and pitfall: plans carry their store.
#[test]
fn plans_and_queries_of_another_store_are_refused() {
    let (mut ours, table, edge) = counting(2);
    let (mut theirs, same, _) = counting(2);
    assert_eq!(table, same, "only the stamp tells them apart");
    let entity = theirs.table_entities(same)[0];
    let mut rows = query::<Write<u64>>(&ours, A.id(), &[table]);
    let merge = ours.insert_edge::<Col<u64>>(table, table, A.id(), &[]).expect("fits");
    let away = ours.remove_edge::<Col<u64>>(table, TableId::ROWLESS, A.id()).expect("fits");
    let away_all = ours.remove_edge::<()>(table, TableId::ROWLESS, ()).expect("fits");
    panic_of(|| theirs.spawn(&edge, Col(0_u64)));
    panic_of(|| theirs.spawn_batch(&edge, [Col(0_u64)], |_| {}));
    panic_of(|| theirs.insert(entity, &merge, Col(0_u64), Existing::Replace));
    panic_of(|| theirs.insert_all(&merge, Existing::Replace, |_| Col(0_u64)));
    panic_of(|| theirs.remove::<Col<u64>>(entity, &away));
    panic_of(|| theirs.take::<Col<u64>>(entity, &away));
    let lacking = ours.remove_edge::<Col<u32>>(table, table, B.id()).expect("fits");
    panic_of(|| theirs.take::<Col<u32>>(entity, &lacking));
    panic_of(|| theirs.remove_all(&away_all));
    panic_of(|| theirs.view_mut(&rows).len());
    panic_of(|| theirs.admit(&mut rows, same));
    panic_of(|| theirs.admit_rowless(&mut rows));
    panic_of(|| theirs.share().lock(&rows).is_ok());
    theirs.reset(&mut rows);
    panic_of(|| ours.view_mut(&rows).len());
    assert!(theirs.admit(&mut rows, same));
    assert_eq!(theirs.view_mut(&rows).len(), 2);
    std::mem::swap(&mut ours, &mut theirs);
    panic_of(|| theirs.view_mut(&rows).len());
    assert_eq!(ours.view_mut(&rows).len(), 2, "a store may move");
}

#[test]
fn an_edge_serves_only_the_values_and_the_use_it_was_made_for() {
    let (mut store, table, spawn) = counting(1);
    let entity = store.table_entities(table)[0];
    let away = store.remove_edge::<Col<u64>>(table, TableId::ROWLESS, A.id()).expect("fits");
    panic_of(|| store.spawn(&spawn, Keep(0_u64)));
    panic_of(|| store.spawn(&spawn, Col(0_i64)));
    panic_of(|| store.spawn(&spawn, (Col(0_u64),)));
    panic_of(|| store.spawn(&away, Col(0_u64)));
    panic_of(|| store.insert(entity, &away, Col(0_u64), Existing::Replace));
    panic_of(|| store.take::<Keep<u64>>(entity, &away));
    panic_of(|| store.remove::<Col<u64>>(entity, &spawn));
    panic_of(|| store.remove_all(&away));
    let merge = store.insert_edge::<Col<u64>>(table, table, A.id(), &[]).expect("fits");
    assert!(panic_of(|| store.spawn(&merge, Col(0_u64))).contains("from nowhere"));
    assert_eq!(store.table_len(table), 1);
    store.check().expect("valid");
}

// Code that cannot make a value of the type cannot get one from the store either.
#[test]
fn values_without_size_are_not_made_from_nothing() {
    struct Proof(());
    static PROOF: ColCell<Proof> = ColCell::new();
    let mut store = Store::new();
    let table = store.new_table(&[PROOF.id().any()]);
    let unfilled = store.insert_edge::<()>(TableId::ROWLESS, table, (), &[]).err();
    assert_eq!(unfilled, Some(PlanError::Unfilled(PROOF.id().any())));
    let edge = store.insert_edge::<Col<Proof>>(TableId::ROWLESS, table, PROOF.id(), &[]).expect("fits");
    let entity = store.spawn(&edge, Col(Proof(()))).expect("ids");
    let away = store.remove_edge::<Col<Proof>>(table, TableId::ROWLESS, PROOF.id()).expect("fits");
    assert!(store.take::<Col<Proof>>(entity, &away).is_some());
    assert!(store.take::<Col<Proof>>(entity, &away).is_none(), "there was one");
}

#[test]
fn a_forgotten_lock_shuts_its_column_until_the_session_ends() {
    let (mut store, table, _) = counting(1);
    let write = query::<Write<u64>>(&store, A.id(), &[table]);
    let read = query::<Read<u64>>(&store, A.id(), &[table]);
    let session = store.share();
    std::mem::forget(session.lock(&write).expect("free"));
    assert!(session.lock(&write).is_err() && session.lock(&read).is_err());
    assert_eq!(store.view(&read).len(), 1, "no session, no flags");
    let session = store.share();
    let (one, two) = (session.lock(&read).expect("free"), session.lock(&read).expect("shared"));
    assert!(session.lock(&write).is_err());
    std::mem::forget(one);
    drop(two);
    assert!(session.lock(&write).is_err(), "a forgotten reader reads on");
    store.share().lock(&write).expect("a new session begins with free flags");
}

/// Shows that it was dropped, and then panics with something that panics when it is dropped itself.
struct Nasty(Arc<AtomicUsize>);
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a panic was dropped");
        }
    }
}
impl Drop for Nasty {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic_any(Grenade);
    }
}

#[test]
fn a_panic_that_panics_when_dropped_leaves_every_structure_whole() {
    let (x, y) = (ColId::<Nasty>::named("x"), ColId::<Nasty>::named("y"));
    let drops = Arc::new(AtomicUsize::new(0));
    let mut store = Store::new();
    let (table, edge) = spawner::<(Col<Nasty>, Col<Nasty>)>(&mut store, (x, y));
    let entities = [(); 3].map(|()| {
        let values = (Col(Nasty(drops.clone())), Col(Nasty(drops.clone())));
        store.spawn(&edge, values).expect("ids")
    });
    for (entity, dropped) in entities.into_iter().zip([2, 4, 6]) {
        // Both values panic; the second panic is given up, and so is its own. The first one is passed on.
        let panic = catch_unwind(AssertUnwindSafe(|| store.despawn(entity))).expect_err("it panicked");
        assert!(panic.is::<Grenade>());
        assert_eq!(panic_of(|| drop(panic)), "a panic was dropped");
        assert_eq!(drops.load(Ordering::Relaxed), dropped, "drop glue is still known");
        assert!(store.locate(entity).is_none());
        store.check().expect("valid");
    }
    assert_eq!(store.table_len(table), 0);
}

/// Panics when dropped, for as long as there are charges left.
struct Charged(Arc<AtomicUsize>, Arc<AtomicUsize>);

impl Drop for Charged {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
        let spent = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(spent.is_err(), "a charge went off");
    }
}

// Hazard 12: the rows that were made are dropped while the user's panic unwinds, and panic themselves.
#[test]
fn a_panic_while_another_unwinds_does_not_abort() {
    let id = ColId::<Charged>::named("charged");
    let (charges, drops) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (mut store, source, _) = counting(5);
    let target = store.new_table(&[A.id().any(), B.id().any(), id.any()]);
    let (c, d) = (charges.clone(), drops.clone());
    let init = Init::new(id, move |_| Col(Charged(c.clone(), d.clone())));
    let edge = store.insert_edge::<Col<u32>>(source, target, B.id(), &[init]).expect("fits");
    let mut made = 0;
    let panicked = panic_of(|| {
        store.insert_all(&edge, Existing::Replace, |_| {
            made += 1;
            charges.store(2, Ordering::Relaxed);
            assert!(made < 4, "no fourth value");
            Col(0_u32)
        })
    });
    assert_eq!(panicked, "no fourth value", "the first panic is passed on");
    assert_eq!((drops.load(Ordering::Relaxed), charges.load(Ordering::Relaxed)), (5, 0));
    assert_eq!((store.table_len(source), store.table_len(target)), (5, 0));
    store.check().expect("valid");
    assert_eq!(store.insert_all(&edge, Existing::Replace, |_| Col(0_u32)), 5);
    store.clear_entities();
    assert_eq!(drops.load(Ordering::Relaxed), 10);
}

// A table is admitted if it has the columns that are not optional, of which there are none here.
#[test]
fn a_choice_of_parts_finds_nothing_where_none_is_there() {
    let (mut store, _, edge) = counting(2);
    let (table, other) = spawner::<Col<u32>>(&mut store, B.id());
    let entity = store.spawn(&other, Col(7_u32)).expect("there are ids");
    store.spawn(&edge, Col(9_u64)).expect("there are ids");
    let rowless = store.spawn_rowless().expect("there are ids");
    type Choice = (EntityIds, OneOf<(Opt<Write<u64>>,)>);
    let mut query = query::<Choice>(&store, ((), (A.id(),)), &[table]);
    assert!(store.admit_rowless(&mut query));
    for found in [
        store.view_mut(&query).into_rows().map(|(entity, _)| entity).collect::<Vec<_>>(),
        store.view_mut(&query).into_chunks().flat_map(Chunk::rows).map(|(entity, _)| entity).collect(),
        [entity, rowless].into_iter().filter(|&entity| store.view_mut(&query).contains(entity)).collect(),
    ] {
        assert!(found.iter().all(|found| [entity, rowless].contains(found)), "{found:?}");
    }
    let item = store.view_mut(&query).into_get(entity);
    assert!(item.is_none_or(|(_, (part,))| part.is_none()));
}
