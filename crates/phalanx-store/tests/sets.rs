//! Sparse sets of both kinds alone: whatever is done to them, and wherever a drop or a function panics, nothing is
//! dropped twice, read out of a hole, or found in another row than it should be.
//!
//! A naive set says where each entity must stand: a plain set closes gaps with its last row, a stable one leaves
//! holes and fills the one made last. After each step both are compared, and the ledger of values with them.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

use crate::steps::model_steps;

thread_local! {
    static LEDGER: RefCell<BTreeSet<u32>> = const { RefCell::new(BTreeSet::new()) };
    static SIZELESS: Cell<usize> = const { Cell::new(0) };
    static NEXT: Cell<u32> = const { Cell::new(0) };
    static FUSE: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The user's code runs: the point where it may panic.
fn user_code() {
    let left = FUSE.take();
    FUSE.set(left.and_then(|left| left.checked_sub(1)));
    if left == Some(0) && !std::thread::panicking() {
        std::panic::panic_any("planted");
    }
}

#[derive(Debug)]
struct Listed(u32, [u8; 12]);

impl Listed {
    fn new() -> Self {
        user_code();
        let id = NEXT.replace(NEXT.get() + 1);
        LEDGER.with_borrow_mut(|ledger| ledger.insert(id));
        Self(id, [id.to_le_bytes()[0]; 12])
    }

    fn is_whole(&self) -> bool {
        self.1 == [self.0.to_le_bytes()[0]; 12] && LEDGER.with_borrow(|ledger| ledger.contains(&self.0))
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        assert!(self.1 == [self.0.to_le_bytes()[0]; 12], "{} is torn", self.0);
        assert!(LEDGER.with_borrow_mut(|ledger| ledger.remove(&self.0)), "{} is dropped twice", self.0);
        user_code();
    }
}

#[repr(align(128))]
struct Sizeless;

impl Sizeless {
    fn new() -> Self {
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

#[repr(align(256))]
#[derive(Clone, Copy)]
struct Wide(u32);

type ValueColumns = (Col<Listed>, Col<Sizeless>, Col<Wide>);

static PLAIN: (ColCell<Listed>, ColCell<Sizeless>, ColCell<Wide>) =
    (ColCell::new(), ColCell::new(), ColCell::new());
static STABLE: (ColCell<Listed>, ColCell<Sizeless>, ColCell<Wide>) =
    (ColCell::new(), ColCell::new(), ColCell::new());
static TABLE: ColCell<Listed> = ColCell::new();

type Ids = <ValueColumns as Values>::Ids;

fn ids(of: &'static (ColCell<Listed>, ColCell<Sizeless>, ColCell<Wide>)) -> Ids {
    (of.0.id(), of.1.id(), of.2.id())
}

fn columns(ids: Ids) -> [AnyColId; 3] {
    [ids.0.any(), ids.1.any(), ids.2.any()]
}

fn value_columns() -> (u32, ValueColumns) {
    let listed = Listed::new();
    let id = listed.0;
    (id, (Col(listed), Col(Sizeless::new()), Col(Wide(id))))
}

/// Where entities must stand, and with which value.
#[derive(Default)]
struct Naive {
    rows: Vec<Option<Entity>>,
    holes: Vec<usize>,
    values: BTreeMap<Entity, u32>,
    stable: bool,
}

impl Naive {
    fn insert(&mut self, entity: Entity, value: u32) {
        if self.values.insert(entity, value).is_some() {
            return;
        }
        match self.holes.pop() {
            Some(hole) => self.rows[hole] = Some(entity),
            None => self.rows.push(Some(entity)),
        }
    }

    fn remove(&mut self, entity: Entity) {
        if self.values.remove(&entity).is_none() {
            return;
        }
        let row = self.rows.iter().position(|&at| at == Some(entity)).expect("it has a row");
        if self.stable {
            self.rows[row] = None;
            self.holes.push(row);
        } else {
            self.rows.swap_remove(row);
        }
    }

    fn clear(&mut self) {
        *self = Self { stable: self.stable, ..Self::default() };
    }
}

struct Scene {
    store: Store,
    plain: SetPlan,
    stable: SetPlan,
    naive: [Naive; 2],
    alive: Vec<Entity>,
    in_table: usize,
}

impl Scene {
    fn new() -> Self {
        let mut store = Store::new();
        let plain = store.declare_set(&columns(ids(&PLAIN)));
        let stable = store.declare_stable_set(&columns(ids(&STABLE)));
        assert!(store.set_is_stable(stable) && !store.set_is_stable(plain));
        Self {
            plain: store.set_plan::<ValueColumns>(plain, ids(&PLAIN)).unwrap(),
            stable: store.set_plan::<ValueColumns>(stable, ids(&STABLE)).unwrap(),
            naive: [Naive::default(), Naive { stable: true, ..Naive::default() }],
            store,
            alive: Vec::new(),
            in_table: 0,
        }
    }

    fn plan(&self, which: usize) -> &SetPlan {
        if which == 0 { &self.plain } else { &self.stable }
    }

    fn check(&self, step: usize) {
        self.store.check().unwrap_or_else(|fault| panic!("step {step}: {fault}"));
        let mut live = self.in_table;
        for which in 0..2 {
            let (set, naive) = (self.plan(which).set(), &self.naive[which]);
            let shown: Vec<Entity> =
                naive.rows.iter().map(|row| row.unwrap_or(Entity::PLACEHOLDER)).collect();
            assert_eq!(self.store.set_entities(set), shown, "step {step}, set {which}");
            assert_eq!(self.store.set_len(set), naive.values.len());
            assert_eq!(self.store.set_holes(set), naive.holes.len());
            let at = if which == 0 { ids(&PLAIN) } else { ids(&STABLE) };
            for (&entity, &value) in &naive.values {
                let row = naive.rows.iter().position(|&owner| owner == Some(entity));
                assert_eq!(self.store.set_row(set, entity), row);
                let found = self
                    .store
                    .get::<(InSet<(Read<Listed>, Read<Wide>)>, HasSet)>(entity, ((at.0, at.2), at.0.any()));
                let ((listed, wide), has) = found.expect("it is in the set");
                assert!(has && listed.is_whole() && listed.0 == value && wide.0 == value);
            }
            live += naive.values.len();
            let mut seen = 0;
            for run in self.store.set_runs(set) {
                let slice = self.store.set_slices::<InSet<Read<Listed>>>(at.0, run.clone()).expect("no hole");
                assert!(slice.iter().all(Listed::is_whole));
                let column = self.store.column_rows(self.store.set_table(set), at.0, run);
                assert_eq!(column.expect("no hole").len(), slice.len());
                seen += slice.len();
            }
            assert_eq!(seen, naive.values.len());
            let all = self.store.set_slices::<InSet<Read<Listed>>>(at.0, 0..naive.rows.len());
            assert_eq!(all.is_some(), naive.holes.is_empty());
            assert_eq!(self.store.column(self.store.set_table(set), at.0).is_some(), naive.holes.is_empty());
        }
        assert_eq!(LEDGER.with_borrow(BTreeSet::len), live, "step {step}: values in the ledger");
        assert_eq!(SIZELESS.get(), live - self.in_table, "step {step}: values without size");
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }
}

fn history(seed: u64, steps: usize, panics: bool) {
    LEDGER.with_borrow_mut(BTreeSet::clear);
    SIZELESS.set(0);
    let mut dice = Dice(seed);
    let mut scene = Scene::new();
    let table = scene.store.new_table(&[TABLE.id().any()]);
    let spawn = scene.store.insert_edge::<Col<Listed>>(TableId::ROWLESS, table, TABLE.id(), &[]).unwrap();
    let leave = scene.store.remove_edge::<()>(table, TableId::ROWLESS, ()).unwrap();
    for step in 0..steps {
        let which = dice.below(2);
        let entity = match scene.alive.len() {
            0 => Entity::PLACEHOLDER,
            n => scene.alive[dice.below(n)],
        };
        if panics {
            FUSE.set(Some(u32::try_from(dice.below(6)).expect("few")));
        }
        let kind = dice.below(24);
        match kind {
            0..=2 => {
                let spawned = catch_unwind(AssertUnwindSafe(|| {
                    scene.store.spawn(&spawn, Col(Listed::new())).expect("indices are left")
                }));
                if let Ok(entity) = spawned {
                    scene.alive.push(entity);
                    scene.in_table += 1;
                }
            }
            3..=10 => {
                let made = catch_unwind(AssertUnwindSafe(value_columns));
                if let Ok((id, values)) = made {
                    let plan = if which == 0 { &scene.plain } else { &scene.stable };
                    let store = &mut scene.store;
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        drop(store.set_insert(
                            plan,
                            ids(if which == 0 { &PLAIN } else { &STABLE }),
                            entity,
                            values,
                            Existing::Replace,
                        ));
                    }));
                    // A panic in the drop of the old value comes when the new one is in its place.
                    if scene.store.entities().contains(entity) {
                        scene.naive[which].insert(entity, id);
                    }
                }
            }
            11 | 12 => {
                let at = if which == 0 { ids(&PLAIN) } else { ids(&STABLE) };
                let init = Init::new::<ValueColumns>(at, |_| value_columns().1);
                let set = scene.plan(which).set();
                let store = &mut scene.store;
                let next = NEXT.get();
                let made = catch_unwind(AssertUnwindSafe(|| store.set_insert_made(set, entity, &[init])));
                if let Ok(Ok(true)) = made {
                    scene.naive[which].insert(entity, next);
                }
            }
            13..=15 => {
                let set = scene.plan(which).set();
                let store = &mut scene.store;
                let removed = catch_unwind(AssertUnwindSafe(|| store.set_remove(set, entity)));
                assert!(
                    removed.is_err() || removed.unwrap() == scene.naive[which].values.contains_key(&entity)
                );
                scene.naive[which].remove(entity);
            }
            16 => {
                let plan = if which == 0 { &scene.plain } else { &scene.stable };
                let taken = scene.store.set_take::<ValueColumns>(
                    plan,
                    ids(if which == 0 { &PLAIN } else { &STABLE }),
                    entity,
                );
                let value = taken.as_ref().map(|values| values.0.0.0);
                assert_eq!(value, scene.naive[which].values.get(&entity).copied());
                scene.naive[which].remove(entity);
                let _ = catch_unwind(AssertUnwindSafe(|| drop(taken)));
            }
            17 => {
                let store = &mut scene.store;
                let _ = catch_unwind(AssertUnwindSafe(|| store.despawn(entity)));
                if let Some(at) = scene.alive.iter().position(|&alive| alive == entity) {
                    scene.alive.swap_remove(at);
                    scene.naive.iter_mut().for_each(|naive| naive.remove(entity));
                    scene.in_table = scene.store.table_len(table);
                }
            }
            18 => {
                // The table part and both sets in one go.
                let sets = [scene.stable.set(), scene.plain.set()];
                let store = &mut scene.store;
                let done =
                    catch_unwind(AssertUnwindSafe(|| store.remove_with_sets::<()>(entity, &leave, sets)));
                if done.is_err() || done.unwrap() {
                    scene.naive.iter_mut().for_each(|naive| naive.remove(entity));
                }
                scene.in_table = scene.store.table_len(table);
            }
            19 => {
                let set = scene.plan(which).set();
                let naive = &mut scene.naive[which];
                let n = naive.rows.len() + 1;
                let (a, b) = (dice.below(n), dice.below(n));
                let swapped = scene.store.set_swap(set, a, b);
                assert_eq!(swapped, naive.holes.is_empty() && a.max(b) < naive.rows.len());
                if swapped {
                    naive.rows.swap(a, b);
                }
            }
            20 => {
                let naive = &mut scene.naive[1];
                assert_eq!(scene.store.set_compact(scene.stable.set()), naive.holes.len());
                naive.rows.retain(Option::is_some);
                naive.holes.clear();
                assert_eq!(scene.store.set_compact(scene.plain.set()), 0);
            }
            21 => scene.store.shrink_to_fit(),
            22 if dice.below(8) == 0 => {
                let store = &mut scene.store;
                let _ = catch_unwind(AssertUnwindSafe(|| store.clear_entities()));
                scene.naive.iter_mut().for_each(Naive::clear);
                scene.alive.clear();
                scene.in_table = 0;
            }
            _ => {
                // A query driven by either set visits every member once, and no hole.
                let at = [ids(&PLAIN), ids(&STABLE)];
                type Fetched = (InSet<Write<Listed>>, EntityIds);
                let mut query = scene.store.prepare::<Fetched>((at[which].0, ())).unwrap();
                scene.store.admit(&mut query, table);
                scene.store.admit_rowless(&mut query);
                assert!(!scene.store.admit(&mut query, scene.store.set_table(scene.plan(which).set())));
                let driver_choice =
                    [DriverChoice::Shortest, DriverChoice::Tables, DriverChoice::Set(at[which].0.any())]
                        [dice.below(3)];
                let view = scene.store.view_mut(&query).with_driver(driver_choice);
                let mut seen: Vec<Entity> = Vec::new();
                for (listed, entity) in view.into_rows() {
                    assert!(listed.is_whole());
                    std::hint::black_box(&mut listed.1);
                    seen.push(entity);
                }
                seen.sort_unstable();
                assert!(seen.iter().eq(scene.naive[which].values.keys()));
            }
        }
        FUSE.set(None);
        scene.check(step);
    }
    if panics {
        FUSE.set(Some(u32::try_from(dice.below(9)).expect("few")));
    }
    let _ = catch_unwind(AssertUnwindSafe(|| drop(scene)));
    FUSE.set(None);
    assert_eq!((LEDGER.with_borrow(BTreeSet::len), SIZELESS.get()), (0, 0), "seed {seed}: the end");
}

fn steps() -> usize {
    model_steps(600, 600)
}

#[test]
fn random_histories_keep_sets_and_holes_right() {
    (1..=6).for_each(|seed| history(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed), steps(), false));
}

#[test]
fn random_histories_with_panics_keep_sets_and_holes_right() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<&str>() != Some(&"planted") {
            eprintln!("{info}");
        }
    }));
    (1..=6).for_each(|seed| history(0xD134_2543_DE82_EF95_u64.wrapping_mul(seed), steps(), true));
    std::panic::set_hook(hook);
}

#[test]
fn slices_of_a_set_are_refused_where_a_row_is_a_hole_or_missing() {
    let mut scene = Scene::new();
    let entities: Vec<Entity> = (0..4).map(|_| scene.store.spawn_rowless().unwrap()).collect();
    for &entity in &entities {
        let _ =
            scene.store.set_insert(&scene.stable, ids(&STABLE), entity, value_columns().1, Existing::Replace);
    }
    let (set, at) = (scene.stable.set(), ids(&STABLE));
    assert!(scene.store.set_remove(set, entities[1]));
    let len = |store: &Store, rows| store.set_slices::<InSet<Read<Listed>>>(at.0, rows).map(<[_]>::len);
    assert_eq!(len(&scene.store, 0..4), None);
    assert_eq!(len(&scene.store, 0..1), Some(1));
    assert_eq!(len(&scene.store, 1..2), None);
    assert_eq!(len(&scene.store, 2..4), Some(2));
    assert_eq!(len(&scene.store, 2..5), None);
    assert_eq!(len(&scene.store, 2..usize::MAX), None);
    #[expect(clippy::reversed_empty_ranges, reason = "nonsense must be refused")]
    let reversed = 3..2;
    assert_eq!(len(&scene.store, reversed.clone()), None);
    let table = scene.store.set_table(set);
    assert!(scene.store.column_rows(table, at.0, reversed).is_none());
    assert!(scene.store.column_mut(table, at.0).is_none());
    assert!(scene.store.set_slices_mut::<InSet<Write<Listed>>>(at.0, 1..3).is_none());
    assert!(
        scene
            .store
            .set_slices_mut::<(InSet<Write<Listed>>, InSet<Read<Listed>>)>((at.0, at.0), 2..3)
            .is_none()
    );
    assert!(
        scene.store.set_slices::<InSet<EntityIds>>((), 0..2).is_none(),
        "a fetch without columns names no set"
    );
    assert!(scene.store.set_slices::<InSet<()>>((), 0..2).is_none());
    let owners = scene.store.set_slices::<InSet<(Read<Listed>, EntityIds)>>((at.0, ()), 2..4);
    assert_eq!(owners.expect("no hole").1, &entities[2..]);
    assert!(!scene.store.set_swap(set, 0, 2));
    assert_eq!(scene.store.set_row(set, Entity::PLACEHOLDER), None);
    assert!(!scene.store.set_remove(set, Entity::PLACEHOLDER));
    assert_eq!(scene.store.set_compact(set), 1);
    assert_eq!(len(&scene.store, 0..3), Some(3));
    assert!(scene.store.set_swap(set, 0, 2));
    scene.store.check().unwrap();
}
