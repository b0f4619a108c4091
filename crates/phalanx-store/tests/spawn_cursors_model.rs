//! Two stores that are told the same things, at random: one by spawn cursors wherever one is open, the other along
//! edges. Ids, rows, values and the ticks of blocks must be the same in both after each step, so a cursor that stays
//! open for too long is found out.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use phalanx_store::*;

use crate::steps::model_steps;

static KEY: ColCell<u64> = ColCell::new();
static WIDE: ColCell<[u8; 12]> = ColCell::new();
static NAME: ColCell<String> = ColCell::new();
static SPARSE: ColCell<u16> = ColCell::new();
#[derive(Clone, Copy)]
struct Tag;
static TAG: ColCell<Tag> = ColCell::new();

/// How many tables there are: one without the optional values, two with them, and one with drop glue.
const TABLES: usize = 4;
const NAMED: usize = 3;

/// The bundle of a table.
struct Of<const KIND: usize>;

type Part = (Col<[u8; 12]>, Col<Tag>);
type Plain = (Col<u64>, Maybe<Part>);
type Named = (Col<u64>, Col<String>);

fn part(key: u64) -> Part {
    (Col([key.to_le_bytes()[0]; 12]), Col(Tag))
}

fn plain(kind: usize, key: u64) -> Plain {
    (Col(key), Maybe((kind != 0).then(|| part(key))))
}

fn named(key: u64) -> Named {
    (Col(key), Col(key.to_string()))
}

struct Dice(u64);
impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

struct Side {
    store: Store,
    tables: [TableId; TABLES],
    edges: Vec<Edge>,
    /// Values come to the first table and go to the second, and back.
    there: Edge,
    back: Edge,
    through: usize,
}

fn edges(store: &Store, tables: &[TableId; TABLES]) -> (Vec<Edge>, Edge, Edge) {
    let from = TableId::ROWLESS;
    let parts = (WIDE.id(), TAG.id());
    let spawns = (0..TABLES).map(|kind| {
        let made = if kind == NAMED {
            store.insert_edge::<Named>(from, tables[kind], (KEY.id(), NAME.id()), &[])
        } else {
            store.insert_edge::<Plain>(from, tables[kind], (KEY.id(), parts), &[])
        };
        made.unwrap()
    });
    (
        spawns.collect(),
        store.insert_edge::<Part>(tables[0], tables[1], parts, &[]).unwrap(),
        store.remove_edge::<()>(tables[1], tables[0], ()).unwrap(),
    )
}

fn columns(kind: usize) -> Vec<AnyColId> {
    let (key, wide, tag, name) = (KEY.id().any(), WIDE.id().any(), TAG.id().any(), NAME.id().any());
    match kind {
        0 => vec![key],
        NAMED => vec![key, name],
        _ => vec![key, wide, tag],
    }
}

impl Side {
    fn new(limit: u32) -> Self {
        let mut store = Store::with_entities(Entities::with_limit(limit));
        let tables = std::array::from_fn(|kind| store.new_table(&columns(kind)));
        let (edges, there, back) = edges(&store, &tables);
        Self { store, tables, edges, there, back, through: 0 }
    }

    /// Drops a table, if it is empty, and makes another one like it.
    fn renew(&mut self, kind: usize) {
        if self.store.drop_table(self.tables[kind]) {
            self.tables[kind] = self.store.new_table(&columns(kind));
            (self.edges, self.there, self.back) = edges(&self.store, &self.tables);
        }
    }

    fn spawn(&mut self, kind: usize, key: u64) -> Option<Entity> {
        let spawned = if kind == NAMED {
            self.store.spawn(&self.edges[kind], named(key))
        } else {
            self.store.spawn(&self.edges[kind], plain(kind, key))
        };
        spawned.ok()
    }

    fn spawn_batch(&mut self, kind: usize, count: u64) -> bool {
        let edge = &self.edges[kind];
        let spawned = if kind == NAMED {
            self.store.spawn_batch(edge, (0..count).map(named), |_| {})
        } else {
            self.store.spawn_batch(edge, (0..count).map(|key| plain(kind, key)), |_| {})
        };
        spawned.is_ok()
    }

    /// Spawns through the cursor of a table, if it is open.
    fn spawn_by_cursor(&mut self, kind: usize, key: u64) -> Option<Entity> {
        let store = &mut self.store;
        let spawned = match kind {
            0 => store.spawn_row::<Of<0>, Plain>().map(|row| row.spawn(plain(0, key))),
            1 => store.spawn_row::<Of<1>, Plain>().map(|row| row.spawn(plain(1, key))),
            2 => store.spawn_row::<Of<2>, Plain>().map(|row| row.spawn(plain(2, key))),
            _ => store.spawn_row::<Of<NAMED>, Named>().map(|row| row.spawn(named(key))),
        };
        self.through += usize::from(spawned.is_some());
        spawned
    }

    fn open(&mut self, kind: usize) {
        let (store, edge) = (&mut self.store, &self.edges[kind]);
        // Not at once, where another has the line.
        while !match kind {
            0 => store.open_cursor::<Of<0>, Plain>(edge),
            1 => store.open_cursor::<Of<1>, Plain>(edge),
            2 => store.open_cursor::<Of<2>, Plain>(edge),
            _ => store.open_cursor::<Of<NAMED>, Named>(edge),
        } {}
    }

    fn despawn_by_cursor(&mut self, entity: Entity) -> bool {
        let store = &mut self.store;
        assert!(!store.despawn_as::<Of<NAMED>, Named>(entity), "its values have to be dropped");
        let left = store.despawn_as::<Of<0>, Plain>(entity)
            || store.despawn_as::<Of<1>, Plain>(entity)
            || store.despawn_as::<Of<2>, Plain>(entity);
        self.through += usize::from(left);
        left
    }
}

fn assert_same(cursors: &Side, other: &Side, step: &str) {
    assert_eq!(cursors.tables, other.tables);
    for &table in &cursors.tables {
        let [a, b] = [cursors, other].map(|side| side.store.table_entities(table));
        assert!(a == b, "{step}: the rows of {table:?} belong to others");
        for block in 0..a.len().div_ceil(BLOCK_ROWS) {
            let [a, b] = [cursors, other].map(|side| side.store.rows_tick(table, block));
            assert_eq!(a, b, "{step}: block {block} of {table:?}");
        }
    }
    let [a, b] = [cursors, other].map(|side| {
        let entities = side.store.entities();
        (entities.len(), entities.free_len(), entities.rowless_len(), entities.next_free())
    });
    assert_eq!(a, b, "{step}");
}

fn assert_sound(cursors: &Side, other: &Side, step: &str) {
    for side in [cursors, other] {
        side.store.check().unwrap_or_else(|error| panic!("{step}: {error}"));
    }
    for &table in &cursors.tables {
        for &entity in cursors.store.table_entities(table) {
            let [a, b] = [cursors, other].map(|side| {
                let key = side.store.get::<Read<u64>>(entity, KEY.id());
                let wide = side.store.get::<Read<[u8; 12]>>(entity, WIDE.id());
                (key, wide, side.store.get::<Read<String>>(entity, NAME.id()))
            });
            assert_eq!(a, b, "{step}: {entity}");
        }
    }
}

/// An entity that is alive, mostly; else one that is dead, or never was there.
fn any_entity(side: &Side, dead: &[Entity], dice: &mut Dice) -> Entity {
    let table = side.tables[dice.roll(TABLES)];
    let rows = side.store.table_entities(table);
    match dice.roll(12) {
        0 => Entity::PLACEHOLDER,
        1 if !dead.is_empty() => dead[dice.roll(dead.len())],
        _ if rows.is_empty() => Entity::from_bits(1 << 32 | dice.roll(3_000) as u64).unwrap(),
        // At the border of a block, where it is easiest to go wrong.
        2 => rows[rows.len() / BLOCK_ROWS * BLOCK_ROWS % rows.len()],
        3 => rows[rows.len() - 1],
        _ => rows[dice.roll(rows.len())],
    }
}

fn play(seed: u64, steps: usize) -> usize {
    let mut dice = Dice(seed);
    let limit = if seed.is_multiple_of(3) { 2_500 } else { u32::MAX };
    let (mut cursors, mut other) = (Side::new(limit), Side::new(limit));
    let (mut dead, mut reserved) = (Vec::new(), Vec::new());
    for at in 0..steps {
        let (op, kind) = (dice.roll(100), dice.roll(TABLES));
        let step = format!("seed {seed}, step {at}, operation {op}, table {kind}");
        let key = at as u64;
        match op {
            0..35 => match cursors.spawn_by_cursor(kind, key) {
                Some(entity) => assert_eq!(Some(entity), other.spawn(kind, key), "{step}"),
                None => {
                    assert_eq!(cursors.spawn(kind, key), other.spawn(kind, key), "{step}");
                    cursors.open(kind);
                }
            },
            35..65 => {
                let entity = any_entity(&cursors, &dead, &mut dice);
                let was_alive = cursors.despawn_by_cursor(entity) || cursors.store.despawn(entity);
                assert_eq!(was_alive, other.store.despawn(entity), "{step}");
                dead.push(entity);
            }
            65..72 => cursors.open(kind),
            72..76 => {
                let count = dice.roll(1_300) as u64;
                assert_eq!(cursors.spawn_batch(kind, count), other.spawn_batch(kind, count), "{step}");
            }
            76..80 => {
                let batch: Vec<Entity> =
                    (0..dice.roll(1_500)).map(|_| any_entity(&cursors, &dead, &mut dice)).collect();
                let left = cursors.store.despawn_batch(batch.iter().copied());
                assert_eq!(left, other.store.despawn_batch(batch.iter().copied()), "{step}");
            }
            80..84 => {
                for store in [&mut cursors.store, &mut other.store] {
                    store.advance_tick();
                }
            }
            84 => {
                // Time may also go back.
                let tick = Tick::new(1 + dice.roll(5) as u64);
                cursors.store.set_tick(tick);
                other.store.set_tick(tick);
            }
            85..87 => {
                for side in [&mut cursors, &mut other] {
                    side.store.reserve_rows(side.tables[kind], 100 * (at % 20));
                    side.store.reserve_entities(10 * (at % 20));
                }
            }
            87 => {
                for side in [&mut cursors, &mut other] {
                    side.store.shrink_to_fit();
                }
            }
            88 => {
                for side in [&mut cursors, &mut other] {
                    if at % 4 == 0 {
                        side.store.clear_entities();
                    }
                    side.renew(kind);
                }
            }
            89..92 => {
                for _ in 0..dice.roll(4) {
                    let ids = [&cursors, &other].map(|side| side.store.reserve_entity().ok());
                    assert_eq!(ids[0], ids[1], "{step}");
                    reserved.extend(ids[0]);
                }
                if at % 2 == 0 {
                    cursors.store.flush();
                    other.store.flush();
                }
            }
            92..94 => {
                dead.append(&mut reserved);
            }
            94 => {
                for Side { store, there, .. } in [&mut cursors, &mut other] {
                    store.insert_all(there, Existing::Replace, |now| part(now.get()));
                }
            }
            95 => {
                for Side { store, back, .. } in [&mut cursors, &mut other] {
                    store.remove_all(back);
                }
            }
            96..99 => {
                let entity = any_entity(&cursors, &dead, &mut dice);
                let [a, b] = [&mut cursors, &mut other].map(|Side { store, there, .. }| {
                    store.insert(entity, there, part(key), Existing::Replace).is_ok()
                });
                assert_eq!(a, b, "{step}");
            }
            _ => {
                // Some never have a set: with one, entities do not leave through cursors.
                if seed.is_multiple_of(2) && at > steps / 2 {
                    let entity = any_entity(&cursors, &dead, &mut dice);
                    let [a, b] = [&mut cursors, &mut other].map(|Side { store, .. }| {
                        let set = store.declare_set(&[SPARSE.id().any()]);
                        let plan = store.set_plan::<Col<u16>>(set, SPARSE.id()).unwrap();
                        store.set_insert(&plan, SPARSE.id(), entity, Col(7u16), Existing::Replace).is_ok()
                    });
                    assert_eq!(a, b, "{step}");
                }
            }
        }
        assert_same(&cursors, &other, &step);
        if at % 40 == 0 {
            assert_sound(&cursors, &other, &step);
        }
    }
    assert_sound(&cursors, &other, "at the end");
    cursors.through
}

#[test]
fn cursors_do_what_edges_do_whatever_else_happens() {
    let steps = model_steps(3_000, 20_000);
    let through: usize = (0..10).map(|seed| play(seed, steps / 10)).sum();
    assert!(through > steps / 10, "{through} of {steps}");
}
