//! Random histories: whatever is done to a store, and wherever the user's code panics, nothing is dropped
//! twice, lost, or found in the wrong row.
//!
//! Values enter a ledger when they are made and leave it when they are dropped. After each step the ledger must
//! name exactly what the tables hold, [`Store::check`] must accept the rest, and entities that the step was not
//! about must still have their values. Every second history plants a panic in some drop, function or iterator.

#![cfg(not(loom))]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

use crate::steps::model_steps;

thread_local! {
    static LEDGER: RefCell<BTreeSet<u32>> = const { RefCell::new(BTreeSet::new()) };
    static SIZELESS: Cell<usize> = const { Cell::new(0) };
    static NEXT: Cell<u32> = const { Cell::new(0) };
    /// How many more calls of the user's code return before one panics.
    static FUSE: Cell<Option<u32>> = const { Cell::new(None) };
}

const PLANTED: &str = "planted";

/// The user's code runs: the point where it may panic.
fn user_code() {
    let left = FUSE.take();
    FUSE.set(left.and_then(|left| left.checked_sub(1)));
    if left == Some(0) && !std::thread::panicking() {
        std::panic::panic_any(PLANTED);
    }
}

/// A value in the ledger, of a size to choose.
struct Listed<const SIZE: usize>(u32, [u8; SIZE]);

impl<const SIZE: usize> Listed<SIZE> {
    fn new() -> Self {
        user_code();
        let id = NEXT.replace(NEXT.get() + 1);
        LEDGER.with_borrow_mut(|ledger| ledger.insert(id));
        Self(id, [id.to_le_bytes()[0]; SIZE])
    }
}

impl<const SIZE: usize> Drop for Listed<SIZE> {
    fn drop(&mut self) {
        assert!(self.1.iter().all(|&byte| byte == self.0.to_le_bytes()[0]), "{} is torn", self.0);
        assert!(LEDGER.with_borrow_mut(|ledger| ledger.remove(&self.0)), "{} is dropped twice", self.0);
        user_code();
    }
}

#[repr(align(128))]
struct Sizeless;

impl Sizeless {
    fn new() -> Self {
        user_code();
        SIZELESS.set(SIZELESS.get() + 1);
        Self
    }
}

impl Drop for Sizeless {
    fn drop(&mut self) {
        SIZELESS.set(SIZELESS.get().checked_sub(1).expect("no more drops than values"));
        user_code();
    }
}

struct Tag;
#[repr(align(4096))]
struct Page(u64);

static SMALL: ColCell<Listed<0>> = ColCell::new();
static ODD: ColCell<Listed<5>> = ColCell::new();
static LARGE: ColCell<Listed<60>> = ColCell::new();
static SIZELESS_COLUMN: ColCell<Sizeless> = ColCell::new();
static TAG: ColCell<Tag> = ColCell::new();
static PAGE: ColCell<Page> = ColCell::new();
static BYTE: ColCell<u8> = ColCell::new();

/// Each column with a function that fills it.
fn columns() -> Vec<Init> {
    vec![
        Init::new(SMALL.id(), |_| Col(Listed::new())),
        Init::new(ODD.id(), |_| Col(Listed::new())),
        Init::new(LARGE.id(), |_| Col(Listed::new())),
        Init::new(SIZELESS_COLUMN.id(), |_| Col(Sizeless::new())),
        Init::new(TAG.id(), |_| Col(Tag)),
        Init::new(PAGE.id(), |_| Col(Page(4096))),
        Init::new(BYTE.id(), |_| Col(7_u8)),
    ]
}

/// A row that is given, not made: the columns 1, 3 and 6.
type Given = (Col<Listed<5>>, (Keep<Sizeless>, Col<u8>));
const GIVEN: u32 = 0b100_1010;

fn given() -> Given {
    (Col(Listed::new()), (Keep(Sizeless::new()), Col(7)))
}

fn given_ids() -> <Given as Values>::Ids {
    (ODD.id(), (SIZELESS_COLUMN.id(), BYTE.id()))
}

/// Xorshift: the same histories on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

struct Model {
    store: Store,
    columns: Vec<Init>,
    /// Each table with the set of its columns, first of all the rowless.
    tables: Vec<(TableId, u32)>,
    dice: Dice,
}

impl Model {
    fn new(seed: u64) -> Self {
        let limit = if seed.is_multiple_of(3) { 60 } else { 4000 };
        Self {
            store: Store::with_entities(Entities::with_limit(limit)),
            columns: columns(),
            tables: vec![(TableId::ROWLESS, 0)],
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
        }
    }

    /// The listed values of each entity, after everything was found to be in order.
    fn examine(&self) -> BTreeMap<Entity, Vec<u32>> {
        self.store.check().expect("valid");
        let mut values: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut sizeless = 0;
        for &(table, _) in &self.tables {
            let entities = self.store.table_entities(table);
            for &entity in entities {
                assert!(values.insert(entity, Vec::new()).is_none(), "{entity} has two rows");
            }
            let mut list = |id, at: usize| values.get_mut(&entities[at]).expect("inserted above").push(id);
            let (small, odd) = (self.store.column(table, SMALL.id()), self.store.column(table, ODD.id()));
            small.into_iter().flatten().enumerate().for_each(|(at, value)| list(value.0, at));
            odd.into_iter().flatten().enumerate().for_each(|(at, value)| list(value.0, at));
            let large = self.store.column(table, LARGE.id());
            large.into_iter().flatten().enumerate().for_each(|(at, value)| list(value.0, at));
            sizeless += self.store.column(table, SIZELESS_COLUMN.id()).map_or(0, <[_]>::len);
            assert!(self.store.column(table, PAGE.id()).into_iter().flatten().all(|page| page.0 == 4096));
            assert!(self.store.column(table, BYTE.id()).into_iter().flatten().all(|&byte| byte == 7));
        }
        values.extend(self.store.entities().rowless().map(|&entity| (entity, Vec::new())));
        let mut found: Vec<_> = values.values().flatten().copied().collect();
        found.sort_unstable();
        assert!(LEDGER.with_borrow(|ledger| ledger.iter().eq(&found)), "lost or found twice");
        assert_eq!(SIZELESS.get(), sizeless);
        values
    }

    /// The functions that an edge needs for what neither the source nor the given values have.
    fn inits(&self, source: u32, target: u32, given: u32) -> Vec<Init> {
        let open = target & !source & !given;
        (0..).zip(&self.columns).filter(|(at, _)| open >> at & 1 == 1).map(|(_, init)| init.clone()).collect()
    }

    fn edge(&self, (source, from): (TableId, u32), (target, to): (TableId, u32)) -> Edge {
        self.store.insert_edge::<()>(source, target, (), &self.inits(from, to, 0)).expect("all is filled")
    }

    fn given_edge(&self, (source, from): (TableId, u32), (target, to): (TableId, u32)) -> Edge {
        let inits = self.inits(from, to, GIVEN);
        self.store.insert_edge::<Given>(source, target, given_ids(), &inits).expect("all is filled")
    }

    fn location_of(&self, entity: Entity) -> Option<(TableId, u32)> {
        let location = self.store.locate(entity)?;
        self.tables.iter().copied().find(|&(table, _)| table == location.table)
    }

    /// Does something; true when entities other than `entity` may have changed.
    fn step(&mut self, entity: Entity) -> bool {
        let (one, other) = (self.dice.pick(&self.tables), self.dice.pick(&self.tables));
        let nowhere = self.tables[0];
        let count = if self.dice.below(10) == 0 { 1100 } else { self.dice.below(12) };
        let existing = self.dice.pick(&[Existing::Replace, Existing::Keep]);
        let takes_given = other.1 & GIVEN == GIVEN;
        match self.dice.below(14) {
            0 | 1 if self.tables.len() < 9 => {
                let set = self.dice.pick(&[0, GIVEN]) | u32::try_from(self.dice.below(128)).expect("small");
                let ids: Vec<_> = self.inits(0, set, 0).iter().map(|init| init.columns()[0]).collect();
                self.tables.push((self.store.new_table(&ids), set));
            }
            0 if self.store.drop_table(one.0) => self.tables.retain(|&table| table != one),
            1 => self.store.shrink_to_fit(),
            2 => _ = self.store.spawn(&self.edge(nowhere, other), ()),
            3 if takes_given => _ = self.store.spawn(&self.given_edge(nowhere, other), given()),
            4 => {
                let edge = self.edge(nowhere, other);
                let values = (0..count).map(|_| user_code());
                _ = self.store.spawn_batch(&edge, values, |_| user_code());
            }
            5 if takes_given => {
                let edge = self.given_edge(nowhere, other);
                // Filtered: the batch does not know its length, and grows on its way.
                _ = self.store.spawn_batch(&edge, (0..count).map(|_| given()).filter(|_| true), |_| {});
            }
            6 | 7 => _ = self.store.despawn(entity),
            8 => {
                let from = self.location_of(entity).unwrap_or(one);
                _ = self.store.insert(entity, &self.edge(from, other), (), existing);
            }
            9 if takes_given => {
                let from = self.location_of(entity).unwrap_or(one);
                _ = self.store.insert(entity, &self.given_edge(from, other), given(), existing);
            }
            10 => {
                let from = self.location_of(entity).unwrap_or(one);
                if let Ok(edge) = self.store.remove_edge::<Given>(from.0, other.0, given_ids()) {
                    let taken = self.store.take::<Given>(entity, &edge).is_some();
                    assert!(taken || from.1 & GIVEN != GIVEN || self.store.locate(entity).is_none());
                    self.store.remove::<Given>(entity, &edge);
                }
            }
            11 => {
                self.store.insert_all(&self.edge(one, other), existing, |_| user_code());
                return true;
            }
            12 if takes_given => {
                self.store.insert_all(&self.given_edge(one, other), existing, |_| given());
                return true;
            }
            13 if self.dice.below(8) == 0 => {
                self.store.clear_entities();
                return true;
            }
            _ => {
                if let Ok(edge) = self.store.remove_edge::<()>(one.0, other.0, ()) {
                    self.store.remove_all(&edge);
                    return true;
                }
                _ = self.store.spawn_rowless();
            }
        }
        false
    }

    fn run(mut self, steps: usize, with_panics: bool) {
        for _ in 0..steps {
            let before = self.examine();
            let entities: Vec<_> = before.keys().copied().chain([Entity::PLACEHOLDER]).collect();
            let entity = self.dice.pick(&entities);
            let fuse = u32::try_from(self.dice.below(20)).expect("small");
            FUSE.set((with_panics && self.dice.below(2) == 0).then_some(fuse));
            let outcome = catch_unwind(AssertUnwindSafe(|| self.step(entity)));
            FUSE.set(None);
            let elsewhere = outcome.unwrap_or_else(|panic| {
                assert_eq!(panic.downcast_ref(), Some(&PLANTED), "only planted panics come through");
                true
            });
            let after = self.examine();
            for (other, values) in before.iter().filter(|&(&other, _)| other != entity && !elsewhere) {
                assert_eq!(after.get(other), Some(values));
            }
        }
        drop(self);
        assert!(LEDGER.with_borrow(BTreeSet::is_empty), "a store drops what it holds");
        assert_eq!(SIZELESS.get(), 0);
    }
}

#[test]
fn random_histories_keep_every_value_where_it_belongs() {
    for seed in 0..model_steps(14, 40).min(40) as u64 {
        Model::new(seed).run(80, false);
    }
}

// Hazards 9, 10, 11, 12, 58.
#[test]
fn random_histories_with_panics_lose_nothing_and_drop_nothing_twice() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref() != Some(&PLANTED) {
            hook(info);
        }
    }));
    for seed in 100..100 + model_steps(20, 60).min(60) as u64 {
        Model::new(seed).run(80, true);
    }
}
