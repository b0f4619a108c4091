//! Many entities leave at once: the same ones are gone as if they left one by one, their ids are used again in the same
//! order, all others keep their values, and blocks in which rows went or moved are marked.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

static KEY: ColCell<u64> = ColCell::new();
static SMALL: ColCell<[u8; 3]> = ColCell::new();
static NAME: ColCell<Named> = ColCell::new();
static SPARSE: ColCell<u16> = ColCell::new();
#[derive(Clone, Copy)]
struct Tag;
static TAG: ColCell<Tag> = ColCell::new();

thread_local! {
    /// Those of one test.
    static DROPS: Cell<usize> = const { Cell::new(0) };
}

/// Has to be dropped.
struct Named(#[expect(dead_code, reason = "the value is dropped, not read")] String);
impl Drop for Named {
    fn drop(&mut self) {
        DROPS.set(DROPS.get() + 1);
    }
}

/// A store with a table of each kind: plain, of one column, of tags only, and with values that have to be dropped.
struct Tables {
    store: Store,
    plain: Edge,
    single: Edge,
    tagged: Edge,
    named: Edge,
    empty: Edge,
}

impl Tables {
    fn new() -> Self {
        let mut store = Store::new();
        let plain = store.new_table(&[KEY.id().any(), SMALL.id().any(), TAG.id().any()]);
        let single = store.new_table(&[KEY.id().any()]);
        let tagged = store.new_table(&[TAG.id().any()]);
        let named = store.new_table(&[KEY.id().any(), NAME.id().any()]);
        let nowhere = TableId::ROWLESS;
        type Plain = (Col<u64>, Col<[u8; 3]>, Col<Tag>);
        let ids = (KEY.id(), SMALL.id(), TAG.id());
        Self {
            plain: store.insert_edge::<Plain>(nowhere, plain, ids, &[]).unwrap(),
            single: store.insert_edge::<Col<u64>>(nowhere, single, KEY.id(), &[]).unwrap(),
            tagged: store.insert_edge::<Col<Tag>>(nowhere, tagged, TAG.id(), &[]).unwrap(),
            named: store
                .insert_edge::<(Col<u64>, Col<Named>)>(nowhere, named, (KEY.id(), NAME.id()), &[])
                .unwrap(),
            empty: store.insert_edge::<()>(nowhere, nowhere, (), &[]).unwrap(),
            store,
        }
    }

    fn spawn(&mut self, kind: usize, key: u64) -> Entity {
        let Self { store, plain, single, tagged, named, empty } = self;
        let spawned = match kind {
            0 => store.spawn(plain, (Col(key), Col([key.to_le_bytes()[0]; 3]), Col(Tag))),
            1 => store.spawn(single, Col(key)),
            2 => store.spawn(tagged, Col(Tag)),
            3 => store.spawn(named, (Col(key), Col(Named(key.to_string())))),
            _ => store.spawn(empty, ()),
        };
        spawned.unwrap()
    }

    fn targets(&self) -> [TableId; 4] {
        [&self.plain, &self.single, &self.tagged, &self.named].map(Edge::target)
    }

    /// Every entity has the key it was spawned with.
    fn keys_hold(&self, alive: &[(Entity, usize, u64)]) {
        for &(entity, kind, key) in alive {
            match kind {
                0 => {
                    let ids = (KEY.id(), SMALL.id());
                    let (found, small) = self.store.get::<(Read<u64>, Read<[u8; 3]>)>(entity, ids).unwrap();
                    assert_eq!((*found, *small), (key, [key.to_le_bytes()[0]; 3]));
                }
                1 | 3 => assert_eq!(self.store.get::<Read<u64>>(entity, KEY.id()), Some(&key)),
                _ => assert!(self.store.entities().contains(entity)),
            }
        }
        assert_eq!(self.store.entities().len(), alive.len());
        self.store.check().unwrap();
    }
}

struct Dice(u64);
impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

#[test]
fn the_same_entities_are_gone_as_one_by_one() {
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let (mut batched, mut single) = (Tables::new(), Tables::new());
        let with_sets = seed % 5 == 4;
        if with_sets {
            for tables in [&mut batched, &mut single] {
                tables.store.declare_set(&[SPARSE.id().any()]);
            }
        }
        let mut alive: Vec<(Entity, usize, u64)> = Vec::new();
        let mut dead: Vec<Entity> = Vec::new();
        for round in 0..20 {
            // Mostly one table at a time, so that runs are long.
            let kind = dice.roll(5);
            for n in 0..dice.roll(if seed < 6 { 3_000 } else { 100 }) {
                let kind = if dice.roll(8) == 0 { dice.roll(5) } else { kind };
                let key = round * 10_000 + n as u64;
                let entity = batched.spawn(kind, key);
                assert_eq!(single.spawn(kind, key), entity);
                alive.push((entity, kind, key));
            }
            batched.store.advance_tick();
            single.store.advance_tick();
            let mut batch = Vec::new();
            let whole = dice.roll(4) == 0;
            let chosen = dice.roll(5);
            alive.retain(|&(entity, kind, _)| {
                let value_columns = if whole { kind == chosen } else { dice.roll(3) == 0 };
                if value_columns {
                    batch.push(entity);
                }
                !value_columns
            });
            if dice.roll(2) == 0 {
                // In any order, with some twice and some long dead.
                for at in (1..batch.len()).rev() {
                    batch.swap(at, dice.roll(at + 1));
                }
            }
            let count = batch.len();
            for _ in 0..dice.roll(4) {
                let again = batch.get(dice.roll(count.max(1))).copied();
                batch.extend(again.into_iter().chain(dead.get(dice.roll(dead.len().max(1))).copied()));
            }
            batch.push(Entity::PLACEHOLDER);
            assert_eq!(batched.store.despawn_batch(batch.iter().copied()), count);
            assert_eq!(batch.iter().filter(|&&entity| single.store.despawn(entity)).count(), count);
            dead.extend(&batch);
            batched.keys_hold(&alive);
            assert!(dead.iter().all(|&entity| !batched.store.entities().contains(entity)));
            assert_eq!(batched.store.entities().next_free(), single.store.entities().next_free());
            for (table, other) in batched.targets().into_iter().zip(single.targets()) {
                let owners = |store: &Store, table| {
                    let mut owners = store.table_entities(table).to_vec();
                    owners.sort();
                    owners
                };
                assert_eq!(owners(&batched.store, table), owners(&single.store, other));
            }
        }
    }
}

#[test]
fn rows_move_once_at_most_and_blocks_are_marked() {
    let mut tables = Tables::new();
    let entities: Vec<Entity> = (0..5_000).map(|key| tables.spawn(0, key)).collect();
    let table = tables.plain.target();
    let ticks = |store: &Store| -> Vec<_> { (0..5).map(|block| store.rows_tick(table, block)).collect() };
    let before = tables.store.tick();
    let now = tables.store.advance_tick();
    // From the front and from the end: 5,000 becomes 4,990; the rows of block 4 lose their last ones.
    let leaving = (0..5).chain(4_995..5_000).map(|at| entities[at]);
    assert_eq!(tables.store.despawn_batch(leaving), 10);
    assert_eq!(tables.store.table_entities(table)[5..4_990], entities[5..4_990], "the others stay");
    let [old, new] = [Some(before), Some(now)];
    assert_eq!(ticks(&tables.store), [new, old, old, old, new]);
    // All of the last two blocks, and one before: no row is left behind the new end but one, which fills it.
    let now = tables.store.advance_tick();
    let leaving: Vec<Entity> = tables.store.table_entities(table)[3_072..4_989].to_vec();
    assert_eq!(tables.store.despawn_batch(leaving.into_iter().chain([entities[2_000]])), 1_918);
    assert_eq!(tables.store.table_entities(table).len(), 3_072);
    assert_eq!(ticks(&tables.store)[..3], [new, Some(now), old]);
    // All of them.
    tables.store.advance_tick();
    let all = tables.store.table_entities(table).to_vec();
    assert_eq!(tables.store.despawn_batch(all), 3_072);
    assert!(tables.store.table_entities(table).is_empty());
    tables.store.check().unwrap();
}

#[test]
fn when_the_iterator_panics_those_before_are_gone() {
    for panics_at in 0..40 {
        let mut tables = Tables::new();
        let mut entities: Vec<(Entity, usize, u64)> = Vec::new();
        for (kind, key) in (0..20).map(|_| 0).chain((0..20).map(|n| n % 5)).zip(0..) {
            entities.push((tables.spawn(kind, key), kind, key));
        }
        let batch = entities.iter().enumerate().map(|(at, &(entity, ..))| {
            assert!(at != panics_at, "planted");
            entity
        });
        let result = catch_unwind(AssertUnwindSafe(|| tables.store.despawn_batch(batch)));
        assert!(result.is_err());
        tables.keys_hold(&entities[panics_at..]);
        let last = tables.spawn(0, 7);
        assert_eq!(last.generation(), u32::from(panics_at > 0));
    }
}

#[test]
fn reserved_ids_come_alive_before_anybody_leaves() {
    let mut tables = Tables::new();
    let entities: Vec<Entity> = (0..10).map(|key| tables.spawn(0, key)).collect();
    tables.store.despawn_batch(entities[..4].iter().copied());
    let reserved: Vec<Entity> = (0..6).map(|_| tables.store.entities().reserve().unwrap()).collect();
    assert_eq!(tables.store.despawn_batch(entities[4..8].iter().copied().chain([reserved[0]])), 5);
    assert!(reserved[1..].iter().all(|&entity| tables.store.entities().contains(entity)));
    assert_eq!(tables.store.entities().len(), 2 + 5);
    tables.store.check().unwrap();
    assert_eq!(tables.store.despawn_batch([]), 0);
}

#[test]
fn values_that_have_to_be_dropped_are() {
    let mut tables = Tables::new();
    let entities: Vec<Entity> =
        (0..100).map(|key| tables.spawn(if key % 2 == 0 { 3 } else { 0 }, key)).collect();
    assert_eq!(tables.store.despawn_batch(entities[..60].iter().copied()), 60);
    assert_eq!(DROPS.get(), 30);
    tables.store.check().unwrap();
}

// Rows of one table only are left by many: who is in a set has another row there.
#[test]
fn who_leaves_is_in_no_set_any_more() {
    for stable in [false, true] {
        let mut tables = Tables::new();
        let entities: Vec<Entity> = (0..40).map(|key| tables.spawn(0, key)).collect();
        let store = &mut tables.store;
        let columns = [SPARSE.id().any()];
        let set = if stable { store.declare_stable_set(&columns) } else { store.declare_set(&columns) };
        let plan = store.set_plan::<Col<u16>>(set, SPARSE.id()).unwrap();
        for &entity in &entities[10..30] {
            assert!(store.set_insert(&plan, SPARSE.id(), entity, Col(7u16), Existing::Replace).is_ok());
        }
        assert_eq!(store.despawn_batch(entities[..20].iter().copied()), 20);
        assert_eq!(store.set_len(set), 10);
        assert!(entities[..20].iter().all(|&entity| store.set_row(set, entity).is_none()));
        assert!(entities[20..30].iter().all(|&entity| store.set_row(set, entity).is_some()));
        store.check().unwrap();
        // Who has their slots now is in no set, either.
        let heirs: Vec<Entity> = (0..20).map(|key| tables.spawn(0, key)).collect();
        assert!(heirs.iter().all(|&entity| tables.store.set_row(set, entity).is_none()));
        assert_eq!(tables.store.despawn_batch(heirs.into_iter().chain(entities)), 40);
        assert_eq!(tables.store.set_len(set), 0);
        tables.store.check().unwrap();
    }
}
