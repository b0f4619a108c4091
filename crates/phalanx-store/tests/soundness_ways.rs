//! Random histories over every short way into and out of a store: gates and doors that were kept too long, plain and
//! careful edges, batches of lying iterators, sets with holes, stores that change places.
//!
//! Gates, doors and seats are kept for good and tried again and again, in either of two stores. Each value tells whose
//! it is, and what it points to lies in the heap: one in a wrong row, dropped twice, or read from memory that moved
//! is seen, at the latest by the address sanitizer.

#![cfg(not(loom))]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "the numbers of the tests are small"
)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

thread_local! {
    static LIVE: RefCell<BTreeSet<u64>> = const { RefCell::new(BTreeSet::new()) };
    static SIZELESS: Cell<usize> = const { Cell::new(0) };
    static NEXT: Cell<u64> = const { Cell::new(1) };
    /// How many more drops return before one panics.
    static FUSE: Cell<Option<u32>> = const { Cell::new(None) };
}

fn user_code() {
    let left = FUSE.take();
    FUSE.set(left.and_then(|left| left.checked_sub(1)));
    if left == Some(0) && !std::thread::panicking() {
        std::panic::panic_any("planted");
    }
}

/// A value that knows its owner's key.
struct Token {
    serial: u64,
    key: Box<u64>,
}

fn token(key: u64) -> Token {
    let serial = NEXT.replace(NEXT.get() + 1);
    LIVE.with_borrow_mut(|live| live.insert(serial));
    Token { serial, key: Box::new(key) }
}

impl Drop for Token {
    fn drop(&mut self) {
        assert!(*self.key < u64::MAX);
        assert!(LIVE.with_borrow_mut(|live| live.remove(&self.serial)), "{} is dropped twice", self.serial);
        user_code();
    }
}

struct Sizeless;
fn sizeless() -> Sizeless {
    SIZELESS.set(SIZELESS.get() + 1);
    Sizeless
}
impl Drop for Sizeless {
    fn drop(&mut self) {
        SIZELESS.set(SIZELESS.get().checked_sub(1).expect("no more drops than values"));
        user_code();
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(128))]
struct Wide([u64; 3]);
#[derive(Clone, Copy)]
struct Tag;
type Large = [u64; 25];

static KEY: ColCell<u64> = ColCell::new();
static TOKEN: ColCell<Token> = ColCell::new();
static WIDE: ColCell<Wide> = ColCell::new();
static LARGE: ColCell<Large> = ColCell::new();
static SMALL: ColCell<[u8; 3]> = ColCell::new();
static NOTHING: ColCell<Sizeless> = ColCell::new();
static TAG: ColCell<Tag> = ColCell::new();
static SET: ColCell<Token> = ColCell::new();
static STABLE: ColCell<Token> = ColCell::new();
static STABLE_WIDE: ColCell<Wide> = ColCell::new();
static PLAIN_SET: ColCell<u64> = ColCell::new();

type Keyed = Col<u64>;
type Big = (Col<u64>, Col<Large>, Col<Tag>);
type Rich = (Col<u64>, Col<Token>);
type Full = (Col<u64>, Col<Token>, Col<Wide>, Col<[u8; 3]>, Col<Sizeless>);
type Perhaps = (Col<u64>, Maybe<(Col<Wide>, Col<[u8; 3]>)>);

fn small(key: u64) -> [u8; 3] {
    [key.to_le_bytes()[0], key.to_le_bytes()[1], 7]
}
fn full(key: u64) -> Full {
    (Col(key), Col(token(key)), Col(Wide([key; 3])), Col(small(key)), Col(sizeless()))
}

/// A store, its tables, and plans for its sets.
struct Side {
    store: Store,
    tables: [TableId; 5],
    sets: Option<(SetPlan, SetPlan, SetPlan)>,
}

fn columns(at: usize) -> Vec<AnyColId> {
    let (key, token, wide) = (KEY.id().any(), TOKEN.id().any(), WIDE.id().any());
    let (large, small, nothing) = (LARGE.id().any(), SMALL.id().any(), NOTHING.id().any());
    match at {
        0 => vec![key],
        1 => vec![key, large, TAG.id().any()],
        2 => vec![key, token],
        3 => vec![key, token, wide, small, nothing],
        _ => vec![key, wide, small],
    }
}

impl Side {
    fn new(limit: u32) -> Self {
        let mut store = Store::with_entities(Entities::with_limit(limit));
        let tables = std::array::from_fn(|at| store.new_table(&columns(at)));
        Self { store, tables, sets: None }
    }

    fn declare_sets(&mut self) {
        if self.sets.is_some() {
            return;
        }
        let store = &mut self.store;
        let one = store.declare_set(&[SET.id().any()]);
        let two = store.declare_stable_set(&[STABLE.id().any(), STABLE_WIDE.id().any()]);
        let three = store.declare_set(&[PLAIN_SET.id().any()]);
        self.sets = Some((
            store.set_plan::<Col<Token>>(one, SET.id()).unwrap(),
            store.set_plan::<(Col<Token>, Col<Wide>)>(two, (STABLE.id(), STABLE_WIDE.id())).unwrap(),
            store.set_plan::<Col<u64>>(three, PLAIN_SET.id()).unwrap(),
        ));
    }

    fn edge<V: Values>(&self, at: usize, ids: V::Ids) -> Edge {
        self.store.insert_edge::<V>(TableId::ROWLESS, self.tables[at], ids, &[]).unwrap()
    }
    fn keyed(&self) -> Edge {
        self.edge::<Keyed>(0, KEY.id())
    }
    fn big(&self) -> Edge {
        self.edge::<Big>(1, (KEY.id(), LARGE.id(), TAG.id()))
    }
    fn rich(&self) -> Edge {
        self.edge::<Rich>(2, (KEY.id(), TOKEN.id()))
    }
    fn full(&self) -> Edge {
        self.edge::<Full>(3, (KEY.id(), TOKEN.id(), WIDE.id(), SMALL.id(), NOTHING.id()))
    }
    fn perhaps(&self, at: usize) -> Edge {
        self.edge::<Perhaps>(at, (KEY.id(), (WIDE.id(), SMALL.id())))
    }

    /// Verifies that each value is its owner's; returns the values with drop glue that there are.
    fn verify(&self) -> (BTreeSet<u64>, usize) {
        let store = &self.store;
        store.check().unwrap();
        let (mut seen, mut sizeless) = (BTreeSet::new(), 0);
        let mut see = |token: &Token| assert!(seen.insert(token.serial), "in two places");
        for table in self.tables {
            let rows = store.table_len(table);
            let keys = store.column(table, KEY.id()).unwrap();
            assert_eq!(keys.len(), rows);
            for (key, token) in keys.iter().zip(store.column(table, TOKEN.id()).unwrap_or_default()) {
                assert_eq!(*token.key, *key);
                see(token);
            }
            for (key, wide) in keys.iter().zip(store.column(table, WIDE.id()).unwrap_or_default()) {
                assert_eq!(*wide, Wide([*key; 3]));
            }
            for (key, large) in keys.iter().zip(store.column(table, LARGE.id()).unwrap_or_default()) {
                assert_eq!(*large, [*key; 25]);
            }
            for (key, value) in keys.iter().zip(store.column(table, SMALL.id()).unwrap_or_default()) {
                assert_eq!(*value, small(*key));
            }
            sizeless += store.column(table, NOTHING.id()).map_or(0, <[Sizeless]>::len);
        }
        if let Some((one, two, three)) = &self.sets {
            for &entity in store.set_entities(one.set()) {
                let token = store.get::<InSet<R<Token>>>(entity, SET.id()).unwrap();
                assert_eq!(*token.key, entity.to_bits());
                see(token);
            }
            for &entity in store.set_entities(two.set()).iter().filter(|&&e| e != Entity::PLACEHOLDER) {
                let ids = (STABLE.id(), STABLE_WIDE.id());
                let (token, wide) = store.get::<InSet<(R<Token>, R<Wide>)>>(entity, ids).unwrap();
                assert_eq!((*token.key, wide.0), (entity.to_bits(), [entity.to_bits(); 3]));
                see(token);
            }
            for &entity in store.set_entities(three.set()) {
                let value = store.get::<InSet<R<u64>>>(entity, PLAIN_SET.id()).unwrap();
                assert_eq!(*value, entity.to_bits());
            }
        }
        (seen, sizeless)
    }
}

/// What was kept, of either store.
#[derive(Default)]
struct Kept {
    keyed: Vec<Gate<Keyed>>,
    big: Vec<Gate<Big>>,
    rich: Vec<Gate<Rich>>,
    full: Vec<Gate<Full>>,
    perhaps: Vec<(Gate<Perhaps>, bool)>,
    plans: Vec<SetPlan>,
    seats: Vec<Seat>,
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

/// Spawns through a gate that is made anew when it closes, and despawns anybody, with drops that may panic.
fn come_and_go<V: Values>(
    store: &mut Store,
    edge: &Edge,
    rounds: usize,
    value: impl Fn() -> V,
    dice: &mut Dice,
    kept: &mut Kept,
) {
    let mut gate = store.gate::<V>(edge).unwrap();
    for _ in 0..rounds {
        let entity = match store.enter(&gate) {
            Some(entrance) => entrance.spawn(value()),
            None => {
                let Ok(entity) = store.spawn(edge, value()) else { break };
                gate = store.gate(edge).unwrap();
                entity
            }
        };
        kept.ids.push(entity);
        if let Some(entity) = pick(dice, &kept.ids).filter(|_| dice.roll(3) > 0) {
            let gone = AssertUnwindSafe(|| store.despawn_through(&gate, entity) || store.despawn(entity));
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
            kept.keyed.push(side.store.gate(&edge).unwrap());
        }
        1 => kept.big.push(side.store.gate(&side.big()).unwrap()),
        2 => kept.rich.push(side.store.gate(&side.rich()).unwrap()),
        3 => kept.full.push(side.store.gate(&side.full()).unwrap()),
        4 => {
            let there = dice.roll(2) == 0;
            let gate = side.store.gate(&side.perhaps(if there { 4 } else { 0 })).unwrap();
            kept.perhaps.push((gate, there));
        }
        5..=10 => {
            // Through gates of any age, of any store.
            for _ in 0..dice.roll(40) {
                let (a, b, c) = (pick(dice, &kept.keyed), pick(dice, &kept.big), pick(dice, &kept.rich));
                if let Some(entrance) = a.as_ref().and_then(|gate| store.enter(gate)) {
                    kept.ids.push(entrance.spawn(Col(key)));
                }
                if let Some(entrance) = b.as_ref().and_then(|gate| store.enter(gate)) {
                    kept.ids.push(entrance.spawn((Col(key), Col([key; 25]), Col(Tag))));
                }
                if let Some(entrance) = c.as_ref().and_then(|gate| store.enter(gate)) {
                    kept.ids.push(entrance.spawn((Col(key), Col(token(key)))));
                }
                let (a, b) = (pick(dice, &kept.full), pick(dice, &kept.perhaps));
                if let Some(entrance) = a.as_ref().and_then(|gate| store.enter(gate)) {
                    kept.ids.push(entrance.spawn(full(key)));
                }
                let Some((gate, there)) = b else { continue };
                if let Some(entrance) = store.enter(&gate) {
                    let part = there.then(|| (Col(Wide([key; 3])), Col(small(key))));
                    kept.ids.push(entrance.spawn((Col(key), Maybe(part))));
                }
                if let Some(entrance) = store.enter(&gate) {
                    let part = (!there).then(|| (Col(Wide([key; 3])), Col(small(key))));
                    assert!(
                        catch_unwind(AssertUnwindSafe(|| entrance.spawn((Col(key), Maybe(part))))).is_err()
                    );
                }
            }
        }
        11..=14 => {
            for _ in 0..dice.roll(40) {
                let Some(entity) = pick(dice, &kept.ids) else { return };
                let (a, b, c) = (pick(dice, &kept.keyed), pick(dice, &kept.big), pick(dice, &kept.full));
                let d = pick(dice, &kept.perhaps);
                let gone = a.is_some_and(|gate| store.despawn_through(&gate, entity))
                    || b.is_some_and(|gate| store.despawn_through(&gate, entity))
                    || c.is_some_and(|gate| store.despawn_through(&gate, entity))
                    || d.is_some_and(|(gate, _)| store.despawn_through(&gate, entity));
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
            let Some(place) = store.locate(entity) else { return };
            walk(side, dice, entity, place.table);
        }
        24 => {
            // Edges of any age, of any store: refused, or right.
            type V = (Keep<Large>, Col<Tag>);
            let ids = (LARGE.id(), TAG.id());
            kept.edges.push(store.insert_edge::<V>(side.tables[0], side.tables[1], ids, &[]).unwrap());
            let Some(entity) = entity else { return };
            let key = store.get::<R<u64>>(entity, KEY.id()).copied().unwrap_or(u64::MAX);
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
            kept.seats.extend(entity.and_then(|entity| store.seat(entity)));
            let reader =
                store.read_seats::<(R<u64>, Opt<R<Token>>, Opt<R<Wide>>)>((KEY.id(), TOKEN.id(), WIDE.id()));
            for &seat in &kept.seats {
                if let Some((key, token, wide)) = reader.get(seat) {
                    assert!(token.is_none_or(|token| *token.key == *key));
                    assert!(wide.is_none_or(|wide| wide.0 == [*key; 3]));
                }
                let found = reader.get_where(seat.entity(), |_| true).map(|(key, ..)| *key);
                assert_eq!(found, store.get::<R<u64>>(seat.entity(), KEY.id()).copied());
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

/// Takes an entity along some edge from its table.
fn walk(side: &mut Side, dice: &mut Dice, entity: Entity, table: TableId) {
    let store = &mut side.store;
    let t = side.tables;
    let key = store.get::<R<u64>>(entity, KEY.id()).copied();
    let Some(at) = t.iter().position(|&it| it == table) else { return };
    let key = key.unwrap();
    let existing = if dice.roll(2) == 0 { Existing::Keep } else { Existing::Replace };
    let is_ok = match (at, dice.roll(4)) {
        (0, 0 | 1) => {
            let edge = store.insert_edge::<(Col<Large>, Col<Tag>)>(t[0], t[1], (LARGE.id(), TAG.id()), &[]);
            store.insert(entity, &edge.unwrap(), (Col([key; 25]), Col(Tag)), existing).is_ok()
        }
        (0, _) => {
            let edge = store.insert_edge::<Keep<Token>>(t[0], t[2], TOKEN.id(), &[]).unwrap();
            store.insert(entity, &edge, Keep(token(key)), existing).is_ok()
        }
        (1, 0) => {
            let edge =
                store.remove_edge::<(Col<Large>, Col<Tag>)>(t[1], t[0], (LARGE.id(), TAG.id())).unwrap();
            store.take::<(Col<Large>, Col<Tag>)>(entity, &edge).is_some_and(|(large, _)| large.0 == [key; 25])
        }
        (1, 1) => {
            // What is left behind has no drop glue.
            let edge = store.insert_edge::<Col<Token>>(t[1], t[2], TOKEN.id(), &[]).unwrap();
            store.insert(entity, &edge, Col(token(key)), existing).is_ok()
        }
        (1, _) => {
            type V = Maybe<(Col<Wide>, Col<[u8; 3]>)>;
            let edge = store.insert_edge::<V>(t[1], t[4], (WIDE.id(), SMALL.id()), &[]).unwrap();
            store.insert(entity, &edge, Maybe(Some((Col(Wide([key; 3])), Col(small(key))))), existing).is_ok()
        }
        (2, 0) => {
            let edge = store.insert_edge::<(Col<Token>, Col<Wide>, Col<[u8; 3]>, Keep<Sizeless>)>(
                t[2],
                t[3],
                (TOKEN.id(), WIDE.id(), SMALL.id(), NOTHING.id()),
                &[],
            );
            let values = (Col(token(key)), Col(Wide([key; 3])), Col(small(key)), Keep(sizeless()));
            store.insert(entity, &edge.unwrap(), values, existing).is_ok()
        }
        (2, 1) => {
            let edge = store.remove_edge::<Col<Token>>(t[2], t[0], TOKEN.id()).unwrap();
            store.take::<Col<Token>>(entity, &edge).is_some_and(|token| *token.0.key == key)
        }
        (2, 2) => {
            let edge = store.remove_edge::<()>(t[2], t[0], ()).unwrap();
            store.remove::<()>(entity, &edge)
        }
        (2, _) => {
            let edge = store.insert_edge::<Col<Token>>(t[2], t[2], TOKEN.id(), &[]).unwrap();
            store.insert(entity, &edge, Col(token(key)), existing).is_ok()
        }
        (3, 0) => {
            type V = (Maybe<(Col<Token>, Col<Sizeless>)>, Col<Large>);
            let ids = ((TOKEN.id(), NOTHING.id()), LARGE.id());
            let edge = store.remove_edge::<V>(t[3], t[4], ids).unwrap();
            store.remove::<V>(entity, &edge)
        }
        (3, 1) => {
            type V = (Col<Wide>, Col<[u8; 3]>, Col<Sizeless>);
            let edge = store.remove_edge::<V>(t[3], t[2], (WIDE.id(), SMALL.id(), NOTHING.id())).unwrap();
            store.take::<V>(entity, &edge).is_some_and(|(wide, ..)| wide.0.0 == [key; 3])
        }
        (3, 2) => {
            let edge = store.remove_edge::<Col<Sizeless>>(t[3], t[0], NOTHING.id()).unwrap();
            store.remove::<Col<Sizeless>>(entity, &edge)
        }
        (3, _) => {
            let edge = store.remove_edge::<Col<Token>>(t[3], TableId::ROWLESS, TOKEN.id()).unwrap();
            store.take::<Col<Token>>(entity, &edge).is_some()
        }
        (_, 0 | 1) => {
            type V = (Col<Token>, Col<Sizeless>);
            let edge = store.insert_edge::<V>(t[4], t[3], (TOKEN.id(), NOTHING.id()), &[]).unwrap();
            store.insert(entity, &edge, (Col(token(key)), Col(sizeless())), existing).is_ok()
        }
        _ => {
            let edge = store.remove_edge::<Keep<Wide>>(t[4], t[0], WIDE.id()).unwrap();
            store.take::<Keep<Wide>>(entity, &edge).is_some_and(|wide| wide.0.0 == [key; 3])
        }
    };
    assert!(is_ok, "{at}");
}

fn sets(side: &mut Side, kept: &mut Kept, dice: &mut Dice) {
    let Some((one, two, three)) = side.sets.clone() else { return };
    let store = &mut side.store;
    if kept.plans.len() < 40 {
        kept.plans.extend([one.clone(), three.clone()]);
    }
    let existing = if dice.roll(2) == 0 { Existing::Keep } else { Existing::Replace };
    for _ in 0..dice.roll(30) {
        let Some(entity) = pick(dice, &kept.ids) else { return };
        let bits = entity.to_bits();
        let alive = store.locate(entity).is_some();
        match dice.roll(12) {
            0 | 1 => {
                let door = one.door::<(Keep<Token>,)>((SET.id(),)).unwrap();
                let done = store.door_insert(door, entity, (Keep(token(bits)),), existing);
                assert_eq!(done.is_ok(), alive);
            }
            2 => {
                let taken = store.door_take(one.door::<Col<Token>>(SET.id()).unwrap(), entity);
                assert!(taken.is_none_or(|token| alive && *token.0.key == bits));
            }
            3 | 4 => {
                let values = (Col(token(bits)), Col(Wide([bits; 3])));
                assert_eq!(store.set_insert(&two, entity, values, existing).is_ok(), alive);
            }
            5 => {
                let taken = store.set_take::<(Col<Token>, Col<Wide>)>(&two, entity);
                assert!(taken.is_none_or(|(token, _)| alive && *token.0.key == bits));
            }
            6 => {
                // Plans of either store.
                let plan = pick(dice, &kept.plans).unwrap();
                let Some(door) = plan.door::<Col<u64>>(PLAIN_SET.id()) else { continue };
                let insert = || store.door_insert(door, entity, Col(bits), existing).is_ok();
                if let Ok(done) = catch_unwind(AssertUnwindSafe(insert)) {
                    assert_eq!(done, alive);
                }
            }
            7 => drop(store.set_take::<Col<u64>>(&three, entity)),
            8 => {
                let plan = [&one, &two, &three][dice.roll(3)];
                store.set_remove(plan.set(), entity);
            }
            9 => {
                let (a, b) = (dice.roll(50), dice.roll(50));
                store.set_swap([&one, &two, &three][dice.roll(3)].set(), a, b);
                store.set_bring(one.set(), entity, a);
            }
            10 if dice.roll(5) == 0 => drop(store.set_compact(two.set())),
            10 => {
                let init = Init::new::<(Col<Token>, Col<Wide>)>((STABLE.id(), STABLE_WIDE.id()), move |_| {
                    user_code();
                    (Col(token(bits)), Col(Wide([bits; 3])))
                });
                assert!(store.set_insert_made(two.set(), entity, &[init]).unwrap() <= alive);
            }
            _ => {
                let Some(place) = store.locate(entity) else { continue };
                let Ok(edge) = store.remove_edge::<()>(place.table, place.table, ()) else { continue };
                store.remove_with_sets::<()>(entity, &edge, [one.set(), two.set(), one.set(), three.set()]);
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
    std::env::var("PHALANX_MODEL_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(4_000)
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

/// A seat of another store may name a set's table, and a row there that is the same entity's.
#[test]
fn a_seat_of_another_store_finds_no_hole_and_no_stranger() {
    let mut store = Store::new();
    let set = store.declare_stable_set(&[STABLE.id().any(), STABLE_WIDE.id().any()]);
    let ids = (STABLE.id(), STABLE_WIDE.id());
    let plan = store.set_plan::<(Col<Token>, Col<Wide>)>(set, ids).unwrap();
    let entities: Vec<Entity> = (0..8).map(|_| store.spawn_rowless().unwrap()).collect();
    for &entity in &entities {
        let values = (Col(token(entity.to_bits())), Col(Wide([1; 3])));
        assert!(store.set_insert(&plan, entity, values, Existing::Replace).is_ok());
    }
    let mut other = Store::new();
    let table = other.new_table(&[KEY.id().any()]);
    assert_eq!(table, store.set_table(set));
    let edge = other.insert_edge::<Keyed>(TableId::ROWLESS, table, KEY.id(), &[]).unwrap();
    let seat = |_: &Entity| {
        let entity = other.spawn(&edge, Col(1u64)).unwrap();
        other.seat(entity).unwrap()
    };
    let seats: Vec<Seat> = entities.iter().map(seat).collect();
    for &entity in &entities[..4] {
        store.set_remove(set, entity);
    }
    store.shrink_to_fit();
    for &seat in &seats {
        assert!(store.get_at::<R<u64>>(seat, KEY.id()).is_none());
        if let Some((token, wide)) = store.get_at_mut::<(W<Token>, W<Wide>)>(seat, ids) {
            assert_eq!((*token.key, wide.0), (seat.entity().to_bits(), [1; 3]));
        }
        assert!(store.get_at_mut::<(W<Token>, InSet<R<Token>>)>(seat, (STABLE.id(), STABLE.id())).is_none());
        assert!(
            store.read_seats::<Peek<Wide>>(STABLE_WIDE.id()).get(seat).is_none_or(|wide| wide.0 == [1; 3])
        );
    }
    store.check().unwrap();
}
