//! Random histories over every short way into and out of a store: spawn cursors, set plans that were kept too long,
//! plain and careful edges, batches of lying iterators, sets with holes, stores that change places.
//!
//! Set plans and cached locations are kept for good and tried again and again, in either of two stores. Each value
//! tells whose it is, and what it points to lies in the heap: one in a wrong row, dropped twice, or read from memory
//! that moved is seen, at the latest by the address sanitizer.
//!
//! `sides` holds the values and the stores, `walks` what a single entity does.

#![cfg(not(loom))]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "the numbers of the tests are small"
)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;
use sides::*;
use walks::{sets, walk};

use crate::steps::model_steps;

#[path = "soundness_ways/sides.rs"]
mod sides;
#[path = "soundness_ways/walks.rs"]
mod walks;

/// What was kept, of either store.
#[derive(Default)]
struct Kept {
    plans: Vec<SetPlan>,
    cached_locations: Vec<CachedLocation>,
    ids: Vec<Entity>,
    edges: Vec<Edge>,
}

struct Dice(u64);
impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

fn pick<T: Clone>(dice: &mut Dice, list: &[T]) -> Option<T> {
    // Rather what is new: most of what is old leads nowhere.
    let list = if dice.roll(2) == 0 { &list[list.len().saturating_sub(3)..] } else { list };
    (!list.is_empty()).then(|| list[dice.roll(list.len())].clone())
}

/// Ends early, tells a wrong size, or panics.
struct Liar {
    left: usize,
    hint: usize,
    panics: bool,
    key: u64,
}
impl Iterator for Liar {
    type Item = Full;
    fn next(&mut self) -> Option<Full> {
        if self.left == 0 {
            assert!(!self.panics, "planted");
            return None;
        }
        self.left -= 1;
        self.key += 1;
        Some(full(self.key))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.hint, Some(0))
    }
}

/// The bundle whose cursors lead to its values' table, wherever that is.
struct Usual;

fn open<V: Values>(store: &mut Store, edge: &Edge) {
    // Not at once, where others have the line.
    while !store.open_cursor::<Usual, V>(edge) {}
}

/// Spawns through a cursor that is opened again when it closes, and despawns any entity, with drops that may panic.
fn come_and_go<V: Values>(
    store: &mut Store,
    edge: &Edge,
    rounds: usize,
    value: impl Fn() -> V,
    dice: &mut Dice,
    kept: &mut Kept,
) {
    for _ in 0..rounds {
        let entity = match store.spawn_row::<Usual, V>() {
            Some(row) => row.spawn(value()),
            None => {
                let Ok(entity) = store.spawn(edge, value()) else { break };
                open::<V>(store, edge);
                entity
            }
        };
        kept.ids.push(entity);
        if let Some(entity) = pick(dice, &kept.ids).filter(|_| dice.roll(3) > 0) {
            let gone = AssertUnwindSafe(|| store.despawn_as::<Usual, V>(entity) || store.despawn(entity));
            let _ = catch_unwind(gone);
        }
    }
}

fn step(side: &mut Side, kept: &mut Kept, dice: &mut Dice, key: u64) {
    let entity = pick(dice, &kept.ids);
    let store = &mut side.store;
    match dice.roll(36) {
        0 => {
            let edge = side.keyed();
            open::<Keyed>(&mut side.store, &edge);
        }
        1 => {
            let edge = side.big();
            open::<Big>(&mut side.store, &edge);
        }
        2 => {
            let edge = side.rich();
            open::<Rich>(&mut side.store, &edge);
        }
        3 => {
            let edge = side.full();
            open::<Full>(&mut side.store, &edge);
        }
        4 => {
            let there = dice.roll(2) == 0;
            let edge = side.perhaps(if there { 4 } else { 0 });
            open::<Perhaps>(&mut side.store, &edge);
        }
        5..=10 => {
            // Through cursors of any age, whatever happened since.
            for _ in 0..dice.roll(40) {
                if let Some(row) = store.spawn_row::<Usual, Keyed>() {
                    kept.ids.push(row.spawn(Col(key)));
                }
                if let Some(row) = store.spawn_row::<Usual, Big>() {
                    kept.ids.push(row.spawn((Col(key), Col([key; 25]), Col(Tag))));
                }
                if let Some(row) = store.spawn_row::<Usual, Rich>() {
                    kept.ids.push(row.spawn((Col(key), Col(token(key)))));
                }
                if let Some(row) = store.spawn_row::<Usual, Full>() {
                    kept.ids.push(row.spawn(full(key)));
                }
                let there = dice.roll(2) == 0;
                if let Some(row) = store.spawn_row::<Usual, Perhaps>() {
                    let part = there.then(|| (Col(Wide([key; 3])), Col(small(key))));
                    let values = (Col(key), Maybe(part));
                    if row.fits(&values) {
                        kept.ids.push(row.spawn(values));
                    } else {
                        assert!(catch_unwind(AssertUnwindSafe(|| row.spawn(values))).is_err());
                    }
                }
            }
        }
        11..=14 => {
            for _ in 0..dice.roll(40) {
                let Some(entity) = pick(dice, &kept.ids) else { return };
                let gone = store.despawn_as::<Usual, Keyed>(entity)
                    || store.despawn_as::<Usual, Big>(entity)
                    || store.despawn_as::<Usual, Full>(entity)
                    || store.despawn_as::<Usual, Perhaps>(entity);
                assert!(!gone || store.locate(entity).is_none());
            }
        }
        15 => {
            let edge = side.full();
            come_and_go(&mut side.store, &edge, dice.roll(30), || full(key), dice, kept);
        }
        16 | 17 => {
            let edge = side.big();
            let big = || (Col(key), Col([key; 25]), Col(Tag));
            come_and_go(&mut side.store, &edge, dice.roll(200), big, dice, kept);
        }
        18 => {
            let (left, panics) = (dice.roll(60), dice.roll(2) == 0);
            let values = Liar { left, hint: dice.roll(80), panics, key };
            let edge = side.full();
            let _ = side.store.spawn_batch(&edge, values, |_| {});
            kept.ids.extend(side.store.table_entities(side.tables[3]).iter().rev().take(60));
        }
        19 => {
            let _ = side.store.spawn(&side.rich(), (Col(key), Col(token(key)))).map(|e| kept.ids.push(e));
            let _ = side.store.spawn_rowless().map(|e| kept.ids.push(e));
            let _ = side.store.reserve_entity().map(|e| kept.ids.push(e));
        }
        20..=23 => {
            let Some(entity) = entity else { return };
            let Some(location) = store.locate(entity) else { return };
            walk(side, dice, entity, location.table);
        }
        24 => {
            // Edges of any age, of any store: refused, or right.
            type V = (Keep<Large>, Col<Tag>);
            let ids = (LARGE.id(), TAG.id());
            kept.edges.push(store.insert_edge::<V>(side.tables[0], side.tables[1], ids, &[]).unwrap());
            let Some(entity) = entity else { return };
            let key = store.get::<Read<u64>>(entity, KEY.id()).copied().unwrap_or(u64::MAX);
            for edge in &kept.edges {
                let values = (Keep([key; 25]), Col(Tag));
                let insert = || store.insert(entity, edge, values, Existing::Replace).is_ok();
                let _ = catch_unwind(AssertUnwindSafe(insert));
            }
        }
        25 => side.declare_sets(),
        26..=29 => sets(side, kept, dice),
        30 => drop(entity.map(|entity| store.despawn(entity))),
        31 => match dice.roll(4) {
            0 => store.shrink_to_fit(),
            1 => store.reserve_rows(side.tables[dice.roll(5)], dice.roll(1500)),
            2 => store.reserve_entities(dice.roll(300)),
            _ => store.flush(),
        },
        32 if dice.roll(10) == 0 => store.clear_entities(),
        32 => drop(store.advance_tick()),
        33 => {
            // The first of them gets the place of the second.
            let pair = [dice.roll(5), dice.roll(5)];
            let gone = pair.map(|at| {
                for entity in store.table_entities(side.tables[at]).to_vec() {
                    let _ = catch_unwind(AssertUnwindSafe(|| store.despawn(entity)));
                }
                store.drop_table(side.tables[at])
            });
            for (at, _) in pair.into_iter().zip(gone).filter(|(_, gone)| *gone) {
                side.tables[at] = store.new_table(&columns(at));
            }
        }
        34 => {
            kept.cached_locations.extend(entity.and_then(|entity| store.cached_location(entity)));
            let reader = store.read_locations::<(Read<u64>, Opt<Read<Token>>, Opt<Read<Wide>>)>((
                KEY.id(),
                TOKEN.id(),
                WIDE.id(),
            ));
            for &cached_location in &kept.cached_locations {
                if let Some((key, token, wide)) = reader.get(cached_location) {
                    assert!(token.is_none_or(|token| *token.key == *key));
                    assert!(wide.is_none_or(|wide| wide.0 == [*key; 3]));
                }
                let found = reader.get_where(cached_location.entity(), |_| true).map(|(key, ..)| *key);
                assert_eq!(found, store.get::<Read<u64>>(cached_location.entity(), KEY.id()).copied());
            }
        }
        _ => {
            // Whole tables.
            let (a, b, c) = (side.tables[0], side.tables[2], side.tables[3]);
            match dice.roll(3) {
                0 => {
                    let edge = store.remove_edge::<()>(c, b, ()).unwrap();
                    store.remove_all(&edge);
                }
                1 => {
                    let edge = store.remove_edge::<()>(b, a, ()).unwrap();
                    store.remove_all(&edge);
                }
                _ => {
                    let edge =
                        store.insert_edge::<Maybe<Col<Tag>>>(a, side.tables[0], TAG.id(), &[]).unwrap();
                    store.insert_all(&edge, Existing::Replace, |_| Maybe::<Col<Tag>>(None));
                }
            }
        }
    }
}

fn history(seed: u64, steps: usize, with_panics: bool) {
    LIVE.with_borrow_mut(BTreeSet::clear);
    SIZELESS.set(0);
    let limit = if seed.is_multiple_of(3) { 300 } else { 5_000 };
    let (mut a, mut b) = (Side::new(limit), Side::new(limit));
    let (mut kept, mut dice) = (Kept::default(), Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
    for n in 0..steps {
        if with_panics && dice.roll(3) == 0 {
            FUSE.set(Some(dice.roll(20) as u32));
        }
        let side = if dice.roll(3) == 0 { &mut b } else { &mut a };
        let result = catch_unwind(AssertUnwindSafe(|| step(side, &mut kept, &mut dice, n as u64)));
        FUSE.set(None);
        if let Err(panic) = result {
            let planted = panic.downcast_ref::<&str>().is_some_and(|text| *text == "planted");
            assert!(
                planted,
                "seed {seed} step {n}: {:?} {:?}",
                panic.downcast_ref::<&str>(),
                panic.downcast_ref::<String>()
            );
        }
        if dice.roll(20) == 0 {
            std::mem::swap(&mut a.store, &mut b.store);
            std::mem::swap(&mut a.tables, &mut b.tables);
            std::mem::swap(&mut a.sets, &mut b.sets);
        }
        if dice.roll(100) == 0 {
            // What was kept of a store that is gone leads nowhere.
            b = Side::new(limit);
        }
        if kept.ids.len() > 3_000 {
            kept.ids.drain(..2_500);
        }
        let (mut there, sizeless) = a.verify();
        let (other, more) = b.verify();
        there.extend(other);
        LIVE.with_borrow(|live| {
            assert!(live.is_superset(&there), "seed {seed} step {n}: a value is there that was dropped");
        });
        let live = LIVE.with_borrow(BTreeSet::len);
        assert_eq!(
            (live, SIZELESS.get()),
            (there.len(), sizeless + more),
            "seed {seed} step {n}: a value was lost"
        );
    }
    drop((a, b));
    assert_eq!((LIVE.with_borrow(BTreeSet::len), SIZELESS.get()), (0, 0));
}

fn steps() -> usize {
    model_steps(1_600, 4_000)
}

#[test]
fn whatever_was_kept_leads_to_its_own_rows_or_nowhere() {
    for seed in 0..8 {
        history(seed, steps() / 8, false);
    }
}

#[test]
fn nor_do_panics_change_that() {
    for seed in 100..108 {
        history(seed, steps() / 8, true);
    }
}

/// A cached location of another store may name a set's table, and a row there that is the same entity's.
#[test]
fn a_cached_location_of_another_store_finds_no_hole_and_no_stranger() {
    let mut store = Store::new();
    let set = store.declare_stable_set(&[STABLE.id().any(), STABLE_WIDE.id().any()]);
    let ids = (STABLE.id(), STABLE_WIDE.id());
    let plan = store.set_plan::<(Col<Token>, Col<Wide>)>(set, ids).unwrap();
    let entities: Vec<Entity> = (0..8).map(|_| store.spawn_rowless().unwrap()).collect();
    for &entity in &entities {
        let values = (Col(token(entity.to_bits())), Col(Wide([1; 3])));
        assert!(store.set_insert(&plan, ids, entity, values, Existing::Replace).is_ok());
    }
    let mut other = Store::new();
    let table = other.new_table(&[KEY.id().any()]);
    assert_eq!(table, store.set_table(set));
    let edge = other.insert_edge::<Keyed>(TableId::ROWLESS, table, KEY.id(), &[]).unwrap();
    let cached_location = |_: &Entity| {
        let entity = other.spawn(&edge, Col(1u64)).unwrap();
        other.cached_location(entity).unwrap()
    };
    let cached_locations: Vec<CachedLocation> = entities.iter().map(cached_location).collect();
    for &entity in &entities[..4] {
        store.set_remove(set, entity);
    }
    store.shrink_to_fit();
    for &cached_location in &cached_locations {
        assert!(store.get_at::<Read<u64>>(cached_location, KEY.id()).is_none());
        if let Some((token, wide)) = store.get_at_mut::<(Write<Token>, Write<Wide>)>(cached_location, ids) {
            assert_eq!((*token.key, wide.0), (cached_location.entity().to_bits(), [1; 3]));
        }
        assert!(
            store
                .get_at_mut::<(Write<Token>, InSet<Read<Token>>)>(cached_location, (STABLE.id(), STABLE.id()))
                .is_none()
        );
        assert!(
            store
                .read_locations::<Read<Wide>>(STABLE_WIDE.id())
                .get(cached_location)
                .is_none_or(|wide| wide.0 == [1; 3])
        );
    }
    store.check().unwrap();
}
