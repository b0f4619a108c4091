//! Random histories of a store, with images taken and restored in between: afterwards everything is as it was.
//!
//! What a store holds is written down as text when an image is taken, ids that come next included, and compared
//! whenever that image is restored. Values lie in the heap, so that one dropped twice is seen. Copying them may panic:
//! then nothing has happened.

use std::cell::Cell;

use super::*;
use crate::steps::model_steps;

thread_local! {
    /// How many more copies are made before one panics.
    static FUSE: Cell<Option<u32>> = const { Cell::new(None) };
}

#[expect(clippy::ptr_arg, reason = "the type of the column")]
fn copy(text: &String) -> String {
    let left = FUSE.take();
    FUSE.set(left.and_then(|left| left.checked_sub(1)));
    assert!(left != Some(0), "planted");
    text.clone()
}

static TEXT: ColCell<String> = ColCell::new();
static SPARSE: ColCell<String> = ColCell::new();
static STABLE: ColCell<String> = ColCell::new();

struct Dice(u64);
impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }
}

struct Side {
    store: Store,
    copies: Copies,
    sets: Vec<(SetId, ColId<String>)>,
    kept: Vec<(Arc<Image>, String)>,
}

impl Side {
    fn new() -> Self {
        let (mut store, mut copies) = (Store::new(), Copies::default());
        copies.set(ColumnCopy::new(A.id(), Duplicate::bytes(), true));
        for (id, tracked) in [(TEXT.id(), true), (SPARSE.id(), false), (STABLE.id(), true)] {
            copies.set(ColumnCopy::new(id, Duplicate::with(copy), tracked));
        }
        let sets = vec![
            (store.declare_set(&[SPARSE.id().any()]), SPARSE.id()),
            (store.declare_stable_set(&[STABLE.id().any()]), STABLE.id()),
        ];
        Self { store, copies, sets, kept: Vec::new() }
    }

    fn table(&mut self, columns: &[AnyColId]) -> TableId {
        let same = |&table: &TableId| {
            let mut there: Vec<AnyColId> = self.store.table_columns(table).collect();
            there.sort_unstable();
            there == columns
        };
        let sets: Vec<TableId> = self.store.sets().map(|set| self.store.set_table(set)).collect();
        let count = u32::try_from(self.store.table_count()).expect("few");
        let mut tables =
            (TableId::FIRST.get()..count).map(TableId::new).filter(|table| !sets.contains(table));
        tables.find(same).unwrap_or_else(|| self.store.new_table(columns))
    }

    fn everything(&self) -> String {
        let store = &self.store;
        let mut all = format!("{:?}\n", store.entities().directory_state());
        for entity in store.entities().iter() {
            let columns = store.locate(entity).map(|at| store.table_columns(at.table).count());
            let text = |id| store.value::<String>(entity, id);
            all += &format!(
                "{entity} {columns:?} {:?} {:?} {:?} {:?}\n",
                store.value(entity, A.id()),
                text(TEXT.id()),
                text(SPARSE.id()),
                text(STABLE.id())
            );
        }
        for set in store.sets().filter(|&set| store.set_rows(set) > 0) {
            let owner = store.owner_of_set(set).map(|group| store.group_entities(group));
            all +=
                &format!("{set:?} {:?} {:?} {owner:?}\n", store.set_entities(set), store.set_hole_rows(set));
            for &(_, id) in self.sets.iter().filter(|(known, _)| *known == set) {
                for &entity in store.set_entities(set) {
                    all += &format!("{:?} ", store.value(entity, id));
                }
            }
        }
        all
    }

    fn spawn(&mut self, dice: &mut Dice) {
        let columns = [A.id().any(), TEXT.id().any()];
        let count = if dice.roll(9) == 0 { 1024 } else { dice.roll(3) as u64 };
        let text = |n: u64| Col(format!("text {n}"));
        if dice.roll(2) == 0 {
            let table = self.table(&columns[..1]);
            let edge =
                self.store.insert_edge::<Col<u64>>(TableId::ROWLESS, table, A.id(), &[]).expect("fits");
            self.store.spawn_batch(&edge, (0..count).map(Col), |_| {}).expect("ids");
        } else {
            let table = self.table(&columns);
            let ids = (A.id(), TEXT.id());
            let edge = self.store.insert_edge::<(Col<u64>, Col<String>)>(TableId::ROWLESS, table, ids, &[]);
            let rows = (0..count).map(|n| (Col(n), text(n)));
            self.store.spawn_batch(&edge.expect("fits"), rows, |_| {}).expect("ids");
        }
    }

    fn step(&mut self, dice: &mut Dice) {
        let living: Vec<Entity> = self.store.entities().iter().collect();
        let some = (!living.is_empty()).then(|| living[dice.roll(living.len())]);
        let table = TableId::new(u32::try_from(dice.roll(self.store.table_count())).expect("few"));
        match dice.roll(18) {
            0 | 1 => self.spawn(dice),
            2 => drop(self.store.spawn_rowless()),
            3 => drop(self.store.reserve_entity()),
            4 => {
                let bits = (dice.roll(9) as u64 + 1) << 32 | dice.roll(40) as u64;
                let _ = self.store.spawn_rowless_at(Entity::from_bits(bits).expect("an id"));
            }
            5 => drop(some.map(|entity| self.store.despawn(entity))),
            6 => {
                let first = dice.roll(living.len() + 1);
                self.store.despawn_batch(living[first..].iter().copied());
            }
            7 => drop(some.map(|entity| self.remove_row(entity))),
            8 | 9 => {
                let (set, id) = self.sets[dice.roll(self.sets.len())];
                let value = Init::new(id, move |now| Col(format!("made {now:?}")));
                let _ = some.map(|entity| self.store.set_insert_made(set, entity, &[value]));
            }
            10 => drop(
                some.map(|entity| self.store.set_remove(self.sets[dice.roll(self.sets.len())].0, entity)),
            ),
            11 => drop(self.store.drop_table(table)),
            12 => self.store.shrink_to_fit(),
            13 => {
                let now = self.store.advance_tick().get();
                let _ =
                    some.and_then(|entity| self.store.value_mut(entity, A.id())).map(|value| *value = now);
                let text = some.and_then(|entity| self.store.value_mut(entity, TEXT.id()));
                let _ = text.map(|text| text.push('x'));
            }
            14 => {
                let owns = GroupTerms { owned: vec![self.sets[0].0], ..GroupTerms::default() };
                let sees = GroupTerms { seen: vec![self.sets[1].0], ..GroupTerms::default() };
                let terms = if dice.roll(2) == 0 { owns } else { sees };
                match self.store.find_group(&terms) {
                    Some(group) => self.store.remove_group(group).expect("it is there"),
                    None => drop(self.store.add_group(terms)),
                }
            }
            16 if self.sets.len() < 5 => {
                let id = ColId::<String>::named(&format!("late {}", self.sets.len()));
                self.copies.set(ColumnCopy::new(id, Duplicate::with(copy), true));
                self.sets.push((self.store.declare_set(&[id.any()]), id));
            }
            15 => {
                self.image();
                self.try_in_vain(dice);
            }
            _ if dice.roll(40) == 0 => self.store.clear_entities(),
            _ => self.restore(dice),
        }
        self.store.check().expect("consistent");
    }

    fn remove_row(&mut self, entity: Entity) {
        let Some(location) = self.store.locate(entity).filter(|at| at.table != TableId::ROWLESS) else {
            return;
        };
        let edge =
            self.store.remove_edge::<()>(location.table, TableId::ROWLESS, ()).expect("it leads nowhere");
        assert!(self.store.remove::<()>(entity, &edge));
    }

    fn image(&mut self) {
        let image = self.store.image(&self.copies).expect("all columns can be copied");
        if self.kept.len() == 6 {
            self.kept.remove(0);
        }
        self.kept.push((image, self.everything()));
    }

    /// Takes and restores images while copies panic.
    fn try_in_vain(&mut self, dice: &mut Dice) {
        self.store.flush();
        let before = self.everything();
        for restores in [false, true] {
            FUSE.set(Some(u32::try_from(dice.roll(4)).expect("few")));
            let (image, _) = &self.kept[dice.roll(self.kept.len())];
            let (store, copies) = (&mut self.store, &self.copies);
            // The one that is restored is given up again, where all copies could be made.
            let _ = catch_unwind(AssertUnwindSafe(|| match restores {
                true => drop(store.prepare_restore(image).expect("an image of this store")),
                false => drop(store.image(copies)),
            }));
            FUSE.set(None);
            self.store.check().expect("consistent");
            assert_eq!(self.everything(), before);
        }
    }

    fn restore(&mut self, dice: &mut Dice) {
        if self.kept.is_empty() {
            return;
        }
        let (image, before) = &self.kept[dice.roll(self.kept.len())];
        let leftovers = self.store.prepare_restore(image).expect("an image of this store").commit();
        drop(leftovers);
        assert_eq!(self.everything(), *before);
    }
}

#[test]
fn random_histories_are_undone_and_done_again() {
    for seed in 0..model_steps(14, 40).min(40) as u64 {
        let (mut side, mut dice) = (Side::new(), Dice(seed * 7_919 + 3));
        for _ in 0..150 {
            side.step(&mut dice);
        }
    }
}
