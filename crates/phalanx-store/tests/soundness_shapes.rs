//! Random histories over tables of every shape, with columns of every awkward kind: padded, over-aligned, without a
//! size but with drop glue, tags. Tables come and go, rows cross the borders of blocks, values are optional.
//!
//! A naive map knows what every entity has; under a sanitizer nothing is read that was not written.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicIsize, Ordering};

use phalanx_store::*;

use crate::steps::model_steps;

/// Sixteen bytes, of which four are padding.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Padded(u64, u32);

#[derive(Clone, Debug, PartialEq)]
#[repr(align(128))]
struct Wide(u8, String);

static GRAINS: AtomicIsize = AtomicIsize::new(0);

/// No size, but drop glue.
#[derive(Debug, PartialEq)]
struct Grain(());
impl Grain {
    fn new() -> Self {
        GRAINS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}
impl Drop for Grain {
    fn drop(&mut self) {
        GRAINS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tag;

static PADDED: ColCell<Padded> = ColCell::new();
static WIDE: ColCell<Wide> = ColCell::new();
static GRAIN: ColCell<Grain> = ColCell::new();
static TAG: ColCell<Tag> = ColCell::new();
static NAME: ColCell<String> = ColCell::new();

const KINDS: usize = 5;

fn id(kind: usize) -> AnyColId {
    [PADDED.id().any(), WIDE.id().any(), GRAIN.id().any(), TAG.id().any(), NAME.id().any()][kind]
}

type All = (Maybe<Col<Padded>>, Maybe<Col<Wide>>, Maybe<Col<Grain>>, Maybe<Col<Tag>>, Maybe<Col<String>>);

fn all_ids() -> <All as Values>::Ids {
    (PADDED.id(), WIDE.id(), GRAIN.id(), TAG.id(), NAME.id())
}

/// The values of the kinds in `mask`, made from `n`.
fn values(mask: usize, n: u32) -> All {
    let has = |kind: usize| mask >> kind & 1 == 1;
    (
        Maybe(has(0).then(|| Col(Padded(u64::from(n), n)))),
        Maybe(has(1).then(|| Col(Wide(n.to_le_bytes()[0], n.to_string())))),
        Maybe(has(2).then(|| Col(Grain::new()))),
        Maybe(has(3).then_some(Col(Tag))),
        Maybe(has(4).then(|| Col(format!("name {n}")))),
    )
}

struct Random(u64);
impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

struct Model {
    store: Store,
    random: Random,
    /// The table of each mask of kinds, while there is one.
    tables: Vec<Option<TableId>>,
    /// The kinds that an entity has, and the number that each was made from.
    entities: BTreeMap<Entity, BTreeMap<usize, u32>>,
    next: u32,
}

impl Model {
    fn table(&mut self, mask: usize) -> TableId {
        if let Some(table) = self.tables[mask] {
            return table;
        }
        let ids: Vec<AnyColId> = (0..KINDS).filter(|kind| mask >> kind & 1 == 1).map(id).collect();
        let groups = [vec![id(1), id(0)], vec![id(2)], vec![id(3), id(4)], vec![id(0), id(2)]];
        let groups: Vec<&[AnyColId]> = groups.iter().map(Vec::as_slice).collect();
        let table = match self.random.below(3) {
            0 => self.store.new_table(&ids),
            1 => self.store.new_table_shaped(&TableShape::inline(&groups), &ids),
            _ => self.store.new_table_shaped(&TableShape::boxed(&groups), &ids),
        };
        self.tables[mask] = Some(table);
        table
    }

    fn mask_of(&self, entity: Entity) -> usize {
        self.entities[&entity].keys().map(|kind| 1 << kind).sum()
    }

    /// The edge on which the kinds of `given` come to rows of `from`; those of neither are made by functions.
    fn way(&mut self, from: usize, given: usize, made: usize) -> Edge {
        let (source, target) = (self.table(from), self.table(from | given | made));
        let n = self.next;
        let mut inits = Vec::new();
        if made & !(from | given) & 1 != 0 {
            inits.push(Init::new::<Col<Padded>>(PADDED.id(), move |_| Col(Padded(u64::from(n), n))));
        }
        if made & !(from | given) & 16 != 0 {
            inits.push(Init::new::<Col<String>>(NAME.id(), move |_| Col(format!("name {n}"))));
        }
        assert_eq!(made & !17, 0);
        self.store.insert_edge::<Only>(source, target, (WIDE.id(), GRAIN.id(), TAG.id()), &inits).unwrap()
    }

    fn some_entity(&mut self) -> Option<Entity> {
        let at = self.random.below(self.entities.len().max(1));
        self.entities.keys().nth(at).copied()
    }

    fn step(&mut self) {
        self.next += 1;
        let n = self.next;
        match self.random.below(12) {
            0 | 1 => {
                let mask = self.random.below(1 << KINDS);
                let table = self.table(mask);
                let edge = self.store.insert_edge::<All>(TableId::ROWLESS, table, all_ids(), &[]).unwrap();
                let count = [1, 1, 3, 1023, 1024, 1025, 2][self.random.below(7)];
                let rows = if count == 1 {
                    let entity = self.store.spawn(&edge, values(mask, n)).unwrap();
                    vec![entity]
                } else {
                    let mut rowless = Vec::new();
                    let batch = (0..count).map(|_| values(mask, n));
                    let rows = self.store.spawn_batch(&edge, batch, |entity| rowless.push(entity)).unwrap();
                    if table == TableId::ROWLESS {
                        rowless
                    } else {
                        self.store.table_entities(table)[rows].to_vec()
                    }
                };
                let kinds: BTreeMap<usize, u32> =
                    (0..KINDS).filter(|kind| mask >> kind & 1 == 1).map(|kind| (kind, n)).collect();
                self.entities.extend(rows.into_iter().map(|entity| (entity, kinds.clone())));
            }
            2..=4 => {
                let Some(entity) = self.some_entity() else { return };
                let from = self.mask_of(entity);
                let given = self.random.below(8) << 1;
                let made = self.random.below(2) | self.random.below(2) << 4;
                let edge = self.way(from, given, made);
                // What the target has, the values must have: what stays is given again.
                let all = (from | given) & 14;
                let existing = if self.random.below(2) == 0 { Existing::Keep } else { Existing::Replace };
                assert!(self.store.insert::<Only>(entity, &edge, only(all, n), existing).is_ok());
                let kinds = self.entities.get_mut(&entity).unwrap();
                for kind in (0..KINDS).filter(|kind| (all | made & !from) >> kind & 1 == 1) {
                    if existing == Existing::Replace || !kinds.contains_key(&kind) {
                        kinds.insert(kind, n);
                    }
                }
            }
            5 | 6 => {
                let Some(entity) = self.some_entity() else { return };
                let from = self.mask_of(entity);
                let gone = self.random.below(8) << 1;
                let (source, target) = (self.table(from), self.table(from & !gone));
                let edge = if gone == 14 {
                    self.store.remove_edge::<Only>(source, target, (WIDE.id(), GRAIN.id(), TAG.id()))
                } else {
                    self.store.remove_edge::<()>(source, target, ())
                };
                let edge = edge.unwrap();
                let removed = if gone == 14 {
                    self.store.remove::<Only>(entity, &edge)
                } else {
                    self.store.remove::<()>(entity, &edge)
                };
                assert!(removed);
                self.entities.get_mut(&entity).unwrap().retain(|kind, _| gone >> *kind & 1 == 0);
            }
            7 => {
                let Some(entity) = self.some_entity() else { return };
                let from = self.mask_of(entity);
                let target = self.random.below(1 << KINDS) & from;
                let (source, target_table) = (self.table(from), self.table(target));
                let edge = self.store.remove_edge::<()>(source, target_table, ()).unwrap();
                self.store.remove_all(&edge);
                for kinds in self.entities.values_mut() {
                    if kinds.keys().map(|kind| 1 << kind).sum::<usize>() == from {
                        kinds.retain(|kind, _| target >> *kind & 1 == 1);
                    }
                }
            }
            8 => {
                let Some(entity) = self.some_entity() else { return };
                let from = self.mask_of(entity);
                if from == 0 {
                    return;
                }
                let given = self.random.below(8) << 1;
                let made = self.random.below(2) | self.random.below(2) << 4;
                let edge = self.way(from, given, made);
                let all = (from | given) & 14;
                self.store.insert_all::<Only>(&edge, Existing::Replace, |_| only(all, n));
                for kinds in self.entities.values_mut() {
                    if kinds.keys().map(|kind| 1 << kind).sum::<usize>() == from {
                        kinds.extend(
                            (0..KINDS).filter(|k| (all | made & !from) >> k & 1 == 1).map(|k| (k, n)),
                        );
                    }
                }
            }
            9 => {
                for mask in 1..1 << KINDS {
                    if let Some(table) = self.tables[mask]
                        && self.random.below(2) == 0
                        && self.store.drop_table(table)
                    {
                        self.tables[mask] = None;
                    }
                }
                if self.random.below(3) == 0 {
                    self.store.shrink_to_fit();
                }
            }
            _ => {
                for _ in 0..self.random.below(400) {
                    let Some(entity) = self.some_entity() else { return };
                    assert!(self.store.despawn(entity) && !self.store.despawn(entity));
                    self.entities.remove(&entity);
                }
            }
        }
    }

    fn compare(&self) {
        self.store.check().unwrap();
        let mut grains = 0;
        for (&entity, kinds) in &self.entities {
            let store = &self.store;
            let n = |kind: usize| kinds.get(&kind).copied();
            assert_eq!(
                store.get::<Read<Padded>>(entity, PADDED.id()).copied(),
                n(0).map(|n| Padded(u64::from(n), n))
            );
            let wide = store.get::<Read<Wide>>(entity, WIDE.id());
            assert_eq!(wide, n(1).map(|n| Wide(n.to_le_bytes()[0], n.to_string())).as_ref());
            assert!(wide.is_none_or(|wide| std::ptr::from_ref(wide).addr().is_multiple_of(128)));
            assert_eq!(store.get::<Read<Grain>>(entity, GRAIN.id()).is_some(), n(2).is_some());
            assert_eq!(store.get::<Read<Tag>>(entity, TAG.id()).is_some(), n(3).is_some());
            assert_eq!(
                store.get::<Read<String>>(entity, NAME.id()).cloned(),
                n(4).map(|n| format!("name {n}"))
            );
            grains += isize::from(n(2).is_some());
        }
        assert_eq!(GRAINS.load(Ordering::Relaxed), grains);
        assert_eq!(self.store.entities().len(), self.entities.len());
    }
}

type Only = (Maybe<Col<Wide>>, Maybe<Col<Grain>>, Maybe<Col<Tag>>);

fn only(mask: usize, n: u32) -> Only {
    let (_, wide, grain, tag, _) = values(mask & 14, n);
    (wide, grain, tag)
}

#[test]
fn rows_keep_their_values_in_tables_of_every_shape() {
    for seed in 1..=model_steps(1, 3).min(3) as u64 {
        let mut tables = vec![None; 1 << KINDS];
        tables[0] = Some(TableId::ROWLESS);
        let mut model = Model {
            store: Store::new(),
            random: Random(seed * 0x9e37_79b9),
            tables,
            entities: BTreeMap::new(),
            next: 0,
        };
        for step in 0..120 {
            model.step();
            if step % 4 == 3 {
                model.compare();
            }
        }
        drop(model);
        assert_eq!(GRAINS.load(Ordering::Relaxed), 0);
    }
}
