//! Two stores that are told the same things, at random: one by gates wherever a gate is open, old ones included, the
//! other on the ordinary way. Ids, rows, values and the ticks of blocks must be the same in both after each step, so a
//! gate that stays open for too long, or believes that a block is marked when it is not, is found out.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use phalanx_store::*;

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
    /// Gates that were open once, the newest last; empty on the side that uses none.
    plain: Vec<(usize, Gate<Plain>)>,
    named: Vec<Gate<Named>>,
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
        Self { store, tables, edges, there, back, plain: Vec::new(), named: Vec::new(), through: 0 }
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

    /// Spawns through any gate that is open. Tells for which table it was.
    fn spawn_gated(&mut self, key: u64) -> Option<(Entity, usize)> {
        let mut spawned = None;
        for (kind, gate) in &self.plain {
            if let Some(entrance) = self.store.enter(gate) {
                assert!(spawned.is_none(), "two gates are open");
                spawned = Some((entrance.spawn(plain(*kind, key)), *kind));
            }
        }
        for gate in &self.named {
            if let Some(entrance) = self.store.enter(gate) {
                assert!(spawned.is_none(), "two gates are open");
                spawned = Some((entrance.spawn(named(key)), NAMED));
            }
        }
        assert!(self.store.enter(&Gate::<Plain>::SHUT).is_none());
        self.through += usize::from(spawned.is_some());
        spawned
    }

    fn open(&mut self, kind: usize) {
        if kind == NAMED {
            self.named.push(self.store.gate(&self.edges[kind]).unwrap());
        } else {
            self.plain.push((kind, self.store.gate(&self.edges[kind]).unwrap()));
        }
        if self.plain.len() > 6 {
            self.plain.remove(0);
        }
        if self.named.len() > 2 {
            self.named.remove(0);
        }
    }

    fn despawn_gated(&mut self, entity: Entity) -> bool {
        let left = self.plain.iter().any(|(_, gate)| self.store.despawn_through(gate, entity));
        let shut = self.named.iter().any(|gate| self.store.despawn_through(gate, entity));
        assert!(!shut, "its values have to be dropped");
        self.through += usize::from(left);
        left
    }
}

fn assert_same(gated: &Side, other: &Side, step: &str) {
    assert_eq!(gated.tables, other.tables);
    for &table in &gated.tables {
        let [a, b] = [gated, other].map(|side| side.store.table_entities(table));
        assert!(a == b, "{step}: the rows of {table:?} belong to others");
        for block in 0..a.len().div_ceil(BLOCK_ROWS) {
            let [a, b] = [gated, other].map(|side| side.store.rows_tick(table, block));
            assert_eq!(a, b, "{step}: block {block} of {table:?}");
        }
    }
    let [a, b] = [gated, other].map(|side| {
        let entities = side.store.entities();
        (entities.len(), entities.free_len(), entities.rowless_len(), entities.next_free())
    });
    assert_eq!(a, b, "{step}");
}

fn assert_sound(gated: &Side, other: &Side, step: &str) {
    for side in [gated, other] {
        side.store.check().unwrap_or_else(|error| panic!("{step}: {error}"));
    }
    for &table in &gated.tables {
        for &entity in gated.store.table_entities(table) {
            let [a, b] = [gated, other].map(|side| {
                let key = side.store.get::<R<u64>>(entity, KEY.id());
                let wide = side.store.get::<R<[u8; 12]>>(entity, WIDE.id());
                (key, wide, side.store.get::<R<String>>(entity, NAME.id()))
            });
            assert_eq!(a, b, "{step}: {entity}");
        }
    }
}

/// Somebody who is alive, mostly; else one who is dead, or never was there.
fn somebody(side: &Side, dead: &[Entity], dice: &mut Dice) -> Entity {
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
    let (mut gated, mut other) = (Side::new(limit), Side::new(limit));
    let (mut dead, mut reserved) = (Vec::new(), Vec::new());
    for at in 0..steps {
        let (op, kind) = (dice.roll(100), dice.roll(TABLES));
        let step = format!("seed {seed}, step {at}, operation {op}, table {kind}");
        let key = at as u64;
        match op {
            0..35 => match gated.spawn_gated(key) {
                Some((entity, kind)) => assert_eq!(Some(entity), other.spawn(kind, key), "{step}"),
                None => {
                    assert_eq!(gated.spawn(kind, key), other.spawn(kind, key), "{step}");
                    gated.open(kind);
                }
            },
            35..65 => {
                let entity = somebody(&gated, &dead, &mut dice);
                let was_alive = gated.despawn_gated(entity) || gated.store.despawn(entity);
                assert_eq!(was_alive, other.store.despawn(entity), "{step}");
                dead.push(entity);
            }
            65..72 => gated.open(kind),
            72..76 => {
                let count = dice.roll(1_300) as u64;
                assert_eq!(gated.spawn_batch(kind, count), other.spawn_batch(kind, count), "{step}");
            }
            76..80 => {
                let batch: Vec<Entity> =
                    (0..dice.roll(1_500)).map(|_| somebody(&gated, &dead, &mut dice)).collect();
                let left = gated.store.despawn_batch(batch.iter().copied());
                assert_eq!(left, other.store.despawn_batch(batch.iter().copied()), "{step}");
            }
            80..84 => {
                for store in [&mut gated.store, &mut other.store] {
                    store.advance_tick();
                }
            }
            84 => {
                // Time may also go back.
                let tick = Tick::new(1 + dice.roll(5) as u64);
                gated.store.set_tick(tick);
                other.store.set_tick(tick);
            }
            85..87 => {
                for side in [&mut gated, &mut other] {
                    side.store.reserve_rows(side.tables[kind], 100 * (at % 20));
                    side.store.reserve_entities(10 * (at % 20));
                }
            }
            87 => {
                for side in [&mut gated, &mut other] {
                    side.store.shrink_to_fit();
                }
            }
            88 => {
                for side in [&mut gated, &mut other] {
                    if at % 4 == 0 {
                        side.store.clear_entities();
                    }
                    side.renew(kind);
                }
            }
            89..92 => {
                for _ in 0..dice.roll(4) {
                    let ids = [&gated, &other].map(|side| side.store.reserve_entity().ok());
                    assert_eq!(ids[0], ids[1], "{step}");
                    reserved.extend(ids[0]);
                }
                if at % 2 == 0 {
                    gated.store.flush();
                    other.store.flush();
                }
            }
            92..94 => {
                dead.append(&mut reserved);
            }
            94 => {
                for Side { store, there, .. } in [&mut gated, &mut other] {
                    store.insert_all(there, Existing::Replace, |now| part(now.get()));
                }
            }
            95 => {
                for Side { store, back, .. } in [&mut gated, &mut other] {
                    store.remove_all(back);
                }
            }
            96..99 => {
                let entity = somebody(&gated, &dead, &mut dice);
                let [a, b] = [&mut gated, &mut other].map(|Side { store, there, .. }| {
                    store.insert(entity, there, part(key), Existing::Replace).is_ok()
                });
                assert_eq!(a, b, "{step}");
            }
            _ => {
                // Some never have a set: with one, entities do not leave through gates.
                if seed.is_multiple_of(2) && at > steps / 2 {
                    let entity = somebody(&gated, &dead, &mut dice);
                    let [a, b] = [&mut gated, &mut other].map(|Side { store, .. }| {
                        let set = store.declare_set(&[SPARSE.id().any()]);
                        let plan = store.set_plan::<Col<u16>>(set, SPARSE.id()).unwrap();
                        store.set_insert(&plan, SPARSE.id(), entity, Col(7u16), Existing::Replace).is_ok()
                    });
                    assert_eq!(a, b, "{step}");
                }
            }
        }
        assert_same(&gated, &other, &step);
        if at % 40 == 0 {
            assert_sound(&gated, &other, &step);
        }
    }
    assert_sound(&gated, &other, "at the end");
    gated.through
}

#[test]
fn gates_do_what_the_ordinary_way_does_whatever_else_happens() {
    let steps = std::env::var("PHALANX_MODEL_STEPS").map_or(20_000, |steps| steps.parse().unwrap());
    let through: usize = (0..10).map(|seed| play(seed, steps / 10)).sum();
    assert!(through > steps / 10, "{through} of {steps}");
}
