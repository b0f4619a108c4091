//! Spawn cursors: many entities into one table, and what closes a cursor. Whatever safe code does with cursors, the
//! store is as after following the edge, or refuses.

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
/// Bundles, as the layer above the store has them: types that tell cursors apart.
struct Bundle<const N: usize>;
type First = Bundle<0>;

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

fn with_room(rows: usize) -> (Store, Edge) {
    let (mut store, edge) = plain_store(Entities::new());
    store.reserve_rows(edge.target(), rows);
    store.reserve_entities(rows);
    (store, edge)
}

/// Spawns through the cursor where it is open, and says whether it was.
fn spawn(store: &mut Store, edge: &Edge, n: u32) -> (Entity, bool) {
    if let Some(row) = store.spawn_row::<First, Plain>() {
        return (row.spawn(plain(n)), true);
    }
    let entity = store.spawn(edge, plain(n)).unwrap();
    assert!(store.open_cursor::<First, Plain>(edge));
    (entity, false)
}

fn is_open(store: &mut Store) -> bool {
    store.spawn_row::<First, Plain>().is_some()
}

/// Entities and values of a table, row by row.
fn picture(store: &Store, table: TableId) -> Vec<(Entity, f32, [u8; 12])> {
    let rows = store.table_entities(table).iter().map(|&entity| {
        let (x, y) = store.get::<(Read<f32>, Read<[u8; 12]>)>(entity, (X.id(), Y.id())).unwrap();
        (entity, *x, *y)
    });
    rows.collect()
}

#[test]
fn a_cursor_does_what_following_the_edge_does() {
    let (mut store, edge) = plain_store(Entities::new());
    let (mut other, other_edge) = plain_store(Entities::new());
    let (mut alive, mut through, mut state) = (Vec::<Entity>::new(), 0, 7u32);
    for n in 0..20_000u32 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if alive.len() < 10 || state >> 16 & 7 < 5 {
            let (entity, by_cursor) = spawn(&mut store, &edge, n);
            through += usize::from(by_cursor);
            assert_eq!(other.spawn(&other_edge, plain(n)).unwrap(), entity);
            alive.push(entity);
        } else {
            let entity = alive.swap_remove(state as usize % alive.len());
            assert!(store.despawn_as::<First, Plain>(entity) || store.despawn(entity));
            assert!(other.despawn(entity));
            assert!(!store.despawn_as::<First, Plain>(entity), "dead");
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
fn a_cursor_closes_when_a_column_grows_a_table_goes_or_a_set_comes() {
    let (mut store, edge) = plain_store(Entities::new());
    assert!(!is_open(&mut store), "none was opened");
    assert!(store.open_cursor::<First, Plain>(&edge));
    assert!(!is_open(&mut store), "an empty table has no room");
    store.reserve_rows(edge.target(), 100);
    store.reserve_entities(100);
    assert!(!is_open(&mut store), "it has room elsewhere now");
    assert!(store.open_cursor::<First, Plain>(&edge));
    let entity = store.spawn_row::<First, Plain>().unwrap().spawn(plain(1));
    store.shrink_to_fit();
    assert!(!is_open(&mut store) && !store.despawn_as::<First, Plain>(entity));
    assert!(store.open_cursor::<First, Plain>(&edge));
    store.declare_set(&[NAME.id().any()]);
    assert!(!store.despawn_as::<First, Plain>(entity), "it could be in the set");
    assert!(store.open_cursor::<First, Plain>(&edge));
    assert!(!store.despawn_as::<First, Plain>(entity), "and still could");
    assert!(store.despawn(entity));
    assert!(store.drop_table(edge.target()));
    assert!(!is_open(&mut store) && !store.despawn_as::<First, Plain>(entity));
    let stale = AssertUnwindSafe(|| store.open_cursor::<First, Plain>(&edge));
    assert!(catch_unwind(stale).is_err(), "the edge is stale");
    store.check().unwrap();
}

#[test]
fn cursors_close_when_told_to() {
    let (mut store, edge) = with_room(10);
    assert!(store.open_cursor::<First, Plain>(&edge) && store.has_cursor::<First, Plain>());
    let entity = store.spawn_row::<First, Plain>().unwrap().spawn(plain(1));
    store.close_cursors();
    assert!(!is_open(&mut store) && !store.has_cursor::<First, Plain>());
    assert!(!store.despawn_as::<First, Plain>(entity));
    store.check().unwrap();
}

#[test]
fn a_cursor_belongs_to_its_store() {
    let (mut store, edge) = with_room(10);
    assert!(store.open_cursor::<First, Plain>(&edge));
    let entity = store.spawn_row::<First, Plain>().unwrap().spawn(plain(0));
    let (mut other, other_edge) = with_room(10);
    let same = other.spawn(&other_edge, plain(0)).unwrap();
    assert_eq!(entity, same);
    assert!(!is_open(&mut other) && !other.despawn_as::<First, Plain>(same));
    let foreign = AssertUnwindSafe(|| other.open_cursor::<First, Plain>(&edge));
    assert!(catch_unwind(foreign).is_err(), "the edge is another store's");
    std::mem::swap(&mut store, &mut other);
    assert!(!is_open(&mut store));
    assert!(is_open(&mut other) && other.despawn_as::<First, Plain>(entity));
    store.check().unwrap();
    other.check().unwrap();
}

#[test]
fn reserved_ids_and_the_limit_are_for_the_edge() {
    let (mut store, edge) = plain_store(Entities::with_limit(3));
    store.reserve_rows(edge.target(), 10);
    store.reserve_entities(3);
    assert!(store.open_cursor::<First, Plain>(&edge));
    let first = store.spawn_row::<First, Plain>().unwrap().spawn(plain(1));
    let reserved = store.reserve_entity().unwrap();
    assert!(!is_open(&mut store) && !store.despawn_as::<First, Plain>(first));
    store.flush();
    let third = store.spawn_row::<First, Plain>().unwrap().spawn(plain(3));
    assert!(!is_open(&mut store), "no index is left");
    assert!(store.spawn(&edge, plain(4)).is_err());
    assert!(!store.despawn_as::<First, Plain>(reserved), "it has no row");
    assert!(store.despawn_as::<First, Plain>(third) && is_open(&mut store));
    store.check().unwrap();
    assert_eq!(store.entities().len(), 2);
}

#[test]
fn values_with_drop_glue_come_but_do_not_go() {
    type Named = (Col<String>, Col<f32>);
    let mut store = Store::new();
    let table = store.new_table(&[NAME.id().any(), X.id().any()]);
    let edge = store.insert_edge::<Named>(TableId::ROWLESS, table, (NAME.id(), X.id()), &[]).unwrap();
    store.reserve_rows(table, 100);
    store.reserve_entities(100);
    assert!(store.open_cursor::<First, Named>(&edge));
    let spawn = |n: i32| {
        let row = store.spawn_row::<First, Named>().unwrap();
        row.spawn((Col(n.to_string()), Col(1.0)))
    };
    for entity in (0..100).map(spawn).collect::<Vec<Entity>>() {
        assert!(!store.despawn_as::<First, Named>(entity));
        assert!(store.get::<Read<String>>(entity, NAME.id()).is_some());
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
    let mut edge = |table| {
        store.reserve_rows(table, 10);
        store.insert_edge::<Some_>(TableId::ROWLESS, table, ids, &[]).unwrap()
    };
    let [without, with, partly] = [without, with, partly].map(&mut edge);
    assert!(!store.open_cursor::<First, Some_>(&partly), "neither there nor not there");
    let there = || Maybe(Some((Col([1; 12]), Col("there".to_owned()))));
    for (edge, fits) in [(&without, false), (&with, true)] {
        assert!(store.open_cursor::<First, Some_>(edge), "in place of the other one");
        for is_there in [false, true] {
            let value = (Col(1.0), if is_there { there() } else { Maybe(None) });
            let row = store.spawn_row::<First, Some_>().unwrap();
            assert_eq!(row.fits(&value), is_there == fits);
            let spawned = catch_unwind(AssertUnwindSafe(|| row.spawn(value)));
            assert_eq!(spawned.is_ok(), is_there == fits);
            store.check().unwrap();
        }
        assert_eq!(store.table_len(edge.target()), 1);
    }
}

#[test]
fn edges_that_do_more_than_spawn_have_no_cursor() {
    let (mut store, edge) = plain_store(Entities::new());
    let (x, table) = (X.id(), edge.target());
    let again = store.insert_edge::<Plain>(table, table, (x, Y.id(), TAG.id()), &[]).unwrap();
    assert!(!store.open_cursor::<First, Plain>(&again));
    let nowhere = store.insert_edge::<()>(TableId::ROWLESS, TableId::ROWLESS, (), &[]).unwrap();
    assert!(!store.open_cursor::<First, ()>(&nowhere));
    let pair = store.new_table(&[x.any(), NAME.id().any()]);
    let made = Init::new::<Col<String>>(NAME.id(), |_| Col("made".to_owned()));
    let required = store.insert_edge::<Col<f32>>(TableId::ROWLESS, pair, x, &[made]).unwrap();
    assert!(!store.open_cursor::<First, Col<f32>>(&required));
    let taking = store.remove_edge::<Plain>(table, TableId::ROWLESS, (x, Y.id(), TAG.id())).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| store.open_cursor::<First, Plain>(&taking))).is_err());
    assert!(!is_open(&mut store));
}

#[test]
fn bundles_with_many_columns_have_no_cursor() {
    type Four = (Col<u8>, Col<u8>, Col<u8>, Col<u8>);
    type Many = (Four, Four, Four, Four, Col<u8>);
    let ids: Vec<ColId<u8>> = (0..17).map(|n| ColId::named(&format!("many columns {n}"))).collect();
    let mut store = Store::new();
    let table = store.new_table(&ids.iter().map(|id| id.any()).collect::<Vec<_>>());
    let four = |at: usize| (ids[at], ids[at + 1], ids[at + 2], ids[at + 3]);
    let all = (four(0), four(4), four(8), four(12), ids[16]);
    let edge = store.insert_edge::<Many>(TableId::ROWLESS, table, all, &[]).unwrap();
    assert!(!store.open_cursor::<First, Many>(&edge));
    let narrow = store.new_table(&ids[..16].iter().map(|id| id.any()).collect::<Vec<_>>());
    type Sixteen = (Four, Four, Four, Four);
    let all = (four(0), four(4), four(8), four(12));
    let edge = store.insert_edge::<Sixteen>(TableId::ROWLESS, narrow, all, &[]).unwrap();
    store.reserve_rows(narrow, 4);
    store.reserve_entities(4);
    assert!(store.open_cursor::<First, Sixteen>(&edge));
    let values = |n: u8| (Col(n), Col(n + 1), Col(n + 2), Col(n + 3));
    let row = store.spawn_row::<First, Sixteen>().unwrap();
    let entity = row.spawn((values(0), values(4), values(8), values(12)));
    for (n, &id) in (0..16u8).zip(&ids) {
        assert_eq!(store.get::<Read<u8>>(entity, id), Some(&n));
    }
    store.check().unwrap();
}

// The key is the bundle: two with the same types of values may have different columns.
#[test]
fn bundles_with_the_same_values_have_cursors_of_their_own() {
    let (p, q) = (ColId::<f32>::named("cursor p"), ColId::<f32>::named("cursor q"));
    let mut store = Store::new();
    let edges = [p, q].map(|id| {
        let table = store.new_table(&[id.any()]);
        store.reserve_rows(table, 10);
        store.insert_edge::<Col<f32>>(TableId::ROWLESS, table, id, &[]).unwrap()
    });
    store.reserve_entities(20);
    for n in 0..5u8 {
        // Not at once, if they share a line.
        while !store.open_cursor::<Bundle<1>, Col<f32>>(&edges[0]) {}
        let one = store.spawn_row::<Bundle<1>, Col<f32>>().unwrap().spawn(Col(f32::from(n)));
        while !store.open_cursor::<Bundle<2>, Col<f32>>(&edges[1]) {}
        let two = store.spawn_row::<Bundle<2>, Col<f32>>().unwrap().spawn(Col(f32::from(n)));
        assert!(store.get::<Read<f32>>(one, p).is_some() && store.get::<Read<f32>>(one, q).is_none());
        assert!(store.get::<Read<f32>>(two, q).is_some() && store.get::<Read<f32>>(two, p).is_none());
        assert!(!store.despawn_as::<Bundle<1>, Col<f32>>(two), "it is elsewhere");
    }
    assert!(store.spawn_row::<Bundle<3>, Col<f32>>().is_none());
    store.check().unwrap();
}

macro_rules! for_bundles {
    ($m:ident: $($n:literal)*) => { [$($m!($n)),*] };
}

#[test]
fn bundles_that_share_a_line_take_turns() {
    let (mut store, edge) = with_room(10);
    let mut now_open = || {
        macro_rules! open {
            ($n:literal) => {
                store.open_cursor::<Bundle<$n>, Plain>(&edge)
            };
        }
        for_bundles!(open: 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119
            120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137 138 139 140 141 142 143
            144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159 160 161 162 163 164 165 166 167)
    };
    // 68 bundles, 64 lines: some are refused, and the others keep theirs.
    let first = now_open();
    assert!(first.contains(&false) && first.iter().filter(|open| **open).count() <= 64);
    assert_eq!(now_open(), first, "those that are open stay so for a while");
    // A bundle that asks often enough gets a line that another one has.
    let served = (0..40).fold(first, |served, _| {
        let open = now_open();
        std::array::from_fn(|at| served[at] || open[at])
    });
    let count = |open: &[bool]| open.iter().filter(|open| **open).count();
    assert!(count(&served) > count(&first));
    store.check().unwrap();
}

#[test]
fn rows_that_come_and_go_through_a_cursor_are_marked() {
    let (mut store, edge) = with_room(5_100);
    let (mut other, other_edge) = with_room(5_100);
    assert!(store.open_cursor::<First, Plain>(&edge));
    let mut entities: Vec<Entity> =
        (0..5_000).map(|n| store.spawn_row::<First, Plain>().unwrap().spawn(plain(n))).collect();
    for n in 0..5_000 {
        other.spawn(&other_edge, plain(n)).unwrap();
    }
    // Each line is a moment: who goes, and then how many come.
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
        for &at in who {
            assert_eq!(store.despawn_as::<First, Plain>(entities[at]), other.despawn(entities[at]));
        }
        for n in 0..new {
            let entity = store.spawn_row::<First, Plain>().unwrap().spawn(plain(n));
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
fn a_table_without_columns_has_a_cursor_and_is_left_by_many() {
    let mut store = Store::new();
    let table = store.new_table(&[]);
    let edge = store.insert_edge::<()>(TableId::ROWLESS, table, (), &[]).unwrap();
    store.reserve_rows(table, 20);
    store.reserve_entities(20);
    assert!(store.open_cursor::<First, ()>(&edge));
    let spawn = |_| store.spawn_row::<First, ()>().unwrap().spawn(());
    let entities: Vec<Entity> = (0..20).map(spawn).collect();
    assert!(store.despawn_as::<First, ()>(entities[3]) && !store.despawn_as::<First, ()>(entities[3]));
    assert_eq!(store.despawn_batch(entities[..10].iter().copied()), 9);
    store.check().unwrap();
    assert!(store.despawn_as::<First, ()>(entities[19]));
    assert_eq!(store.table_len(table), 9);
    assert_eq!(store.despawn_batch(entities), 9);
    store.check().unwrap();
}
