//! Walks over rows, whatever the shape of what they go along: tables with others between them, empty ones, rows up to the
//! edge of a block, sets that drive, sets of nothing but holes, entities without a row.
//!
//! Each walk runs row by row, by `fold`, and from row by row to `fold` in the middle. It adds one to what it may write; a naive
//! list says which rows it must have met, and afterwards each of these, and no other, must have been written once.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use phalanx_store::*;

static A: ColCell<u64> = ColCell::new();
static B: ColCell<u32> = ColCell::new();
static PLAIN: ColCell<u32> = ColCell::new();
static STABLE: ColCell<u32> = ColCell::new();

/// How many rows each table with `A` has; between any two is one without, and every other one has `B`, too.
const TABLES: [&[usize]; 9] =
    [&[], &[0], &[1], &[0, 1, 0], &[1023], &[1024], &[1025], &[2, 2048], &[0, 1023, 0, 1024, 1, 1025, 0]];
/// How many rows come one by one before `fold` takes over; all of them in the first case.
const BEFORE: [usize; 5] = [usize::MAX, 0, 1, 1023, 1024];

/// Which entities are in the plain set, in the stable one, and taken out of that again.
type Membership = [fn(usize) -> bool; 3];
const MEMBERSHIPS: [Membership; 6] = [
    [|_| false, |_| false, |_| false],
    [|_| true, |_| true, |_| false],
    [|n| n == 0, |n| n % 3 == 0, |n| n % 2 == 0],
    [|n| n % 3 == 0, |_| true, |n| n % 5 != 1],
    [|n| n % 7 == 1, |n| n % 2 == 0, |n| n < 1030],
    [|_| true, |_| true, |_| true],
];

/// An entity, as it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Naive {
    entity: Entity,
    a: Option<u64>,
    b: Option<u32>,
    plain: Option<u32>,
    stable: Option<u32>,
}

struct Scene {
    store: Store,
    naive: Vec<Naive>,
    /// The tables with `A`.
    tables: Vec<TableId>,
}

impl Scene {
    fn new(lens: &[usize], [in_plain, in_stable, leaves]: Membership) -> Self {
        let (a, b) = (A.id(), B.id());
        let mut store = Store::new();
        let (mut naive, mut tables) = (Vec::new(), Vec::new());
        let add = |naive: &mut Vec<Naive>, entity, a, b| {
            naive.push(Naive { entity, a, b, plain: None, stable: None });
        };
        for (at, &len) in lens.iter().enumerate() {
            let with_b = at % 2 == 1;
            let table =
                if with_b { store.new_table(&[a.any(), b.any()]) } else { store.new_table(&[a.any()]) };
            let one = store.insert_edge::<Col<u64>>(TableId::ROWLESS, table, a, &[]);
            let both = store.insert_edge::<(Col<u64>, Col<u32>)>(TableId::ROWLESS, table, (a, b), &[]);
            for row in 0..len {
                let (x, y) = (naive.len() as u64 * 10, u32::try_from(row).unwrap());
                if with_b {
                    let entity = store.spawn(both.as_ref().unwrap(), (Col(x), Col(y))).unwrap();
                    add(&mut naive, entity, Some(x), Some(y));
                } else {
                    add(&mut naive, store.spawn(one.as_ref().unwrap(), Col(x)).unwrap(), Some(x), None);
                }
            }
            tables.push(table);
            let between = store.new_table(&[b.any()]);
            let edge = store.insert_edge::<Col<u32>>(TableId::ROWLESS, between, b, &[]).unwrap();
            for y in 0..2 {
                add(&mut naive, store.spawn(&edge, Col(y)).unwrap(), None, Some(y));
            }
        }
        for _ in 0..2 {
            add(&mut naive, store.spawn_rowless().unwrap(), None, None);
        }
        let plain = store.declare_set(&[PLAIN.id().any()]);
        let stable = store.declare_stable_set(&[STABLE.id().any()]);
        let plain = store.set_plan::<Col<u32>>(plain, PLAIN.id()).unwrap();
        let stable = store.set_plan::<Col<u32>>(stable, STABLE.id()).unwrap();
        // From the last one on: the order of a set is not that of the tables.
        for (n, row) in naive.iter_mut().enumerate().rev() {
            let value = u32::try_from(n).unwrap() * 10;
            if in_plain(n) {
                store.set_insert(&plain, PLAIN.id(), row.entity, Col(value), Existing::Replace).unwrap();
                row.plain = Some(value);
            }
            if in_stable(n) {
                store.set_insert(&stable, STABLE.id(), row.entity, Col(value), Existing::Replace).unwrap();
                row.stable = Some(value);
            }
        }
        for (n, row) in naive.iter_mut().enumerate() {
            if leaves(n) && row.stable.take().is_some() {
                assert!(store.set_remove(stable.set(), row.entity));
            }
        }
        Self { store, naive, tables }
    }

    fn query<F: Fetch>(&self, ids: F::Ids, rowless: bool) -> Prepared<F> {
        let mut query = self.store.prepare::<F>(ids).unwrap();
        for &table in &self.tables {
            assert!(self.store.admit(&mut query, table));
        }
        if rowless {
            assert!(self.store.admit_rowless(&mut query));
        }
        query
    }

    /// Compares what a walk met with what it should have met, in any order, then all values with what they should be.
    fn compare(&mut self, mut met: Vec<Entity>, told: &str, visit: impl Fn(&mut Naive) -> bool) {
        let mut expected = Vec::new();
        for row in &mut self.naive {
            if visit(row) {
                expected.push(row.entity);
            }
        }
        met.sort();
        expected.sort();
        assert_eq!(met, expected, "{told}");
        type All = (Opt<Read<u64>>, Opt<Read<u32>>);
        for row in &self.naive {
            let table = self.store.get::<All>(row.entity, (A.id(), B.id()));
            let (a, b) = table.map_or((None, None), |(a, b)| (a.copied(), b.copied()));
            let plain = self.store.set_value(PLAIN.id(), row.entity).copied();
            let stable = self.store.set_value(STABLE.id(), row.entity).copied();
            assert_eq!(Naive { entity: row.entity, a, b, plain, stable }, *row, "{told}");
        }
        self.store.check().unwrap();
    }
}

/// Runs a walk, and holds it to what it says of itself.
fn walk<'w, F: Fetch>(
    mut rows: Rows<'w, F>,
    before: usize,
    mut met: impl FnMut(F::Item<'w>) -> Entity,
) -> Vec<Entity> {
    let mut out = Vec::new();
    let (least, most) = rows.size_hint();
    let all = rows.remaining().count();
    assert!(least <= all && all <= most.unwrap(), "{all} rows, and {least} to {most:?} told");
    while out.len() < before
        && let Some(item) = rows.next()
    {
        out.push(met(item));
    }
    if before == usize::MAX {
        assert!(rows.next().is_none(), "a walk that has ended yields no more");
    }
    let left = rows.remaining().count();
    assert_eq!(left, all - out.len());
    rows.for_each(|item| out.push(met(item)));
    assert_eq!(out.len(), all);
    out
}

fn everywhere(check: impl Fn(&mut Scene, usize, &str)) {
    for lens in TABLES {
        for (which, membership) in MEMBERSHIPS.into_iter().enumerate() {
            let mut scene = Scene::new(lens, membership);
            for before in BEFORE {
                check(&mut scene, before, &format!("tables {lens:?}, membership {which}, {before} before"));
            }
        }
    }
}

#[test]
fn tables_are_walked_in_their_order_and_each_row_comes_once() {
    for lens in TABLES {
        let mut scene = Scene::new(lens, MEMBERSHIPS[0]);
        for before in BEFORE {
            let told = format!("tables {lens:?}, {before} before");
            let query = scene.query::<(EntityIds, Write<u64>, Opt<Write<u32>>)>(((), A.id(), B.id()), false);
            let met = walk(scene.store.view_mut(&query).into_rows(), before, |(entity, a, b)| {
                *a += 1;
                b.into_iter().for_each(|b| *b += 1);
                entity
            });
            let order = scene.naive.iter().filter(|row| row.a.is_some()).map(|row| row.entity);
            assert!(met.iter().copied().eq(order), "{told}");
            scene.compare(met, &told, |row| {
                let Some(a) = &mut row.a else { return false };
                *a += 1;
                row.b.iter_mut().for_each(|b| *b += 1);
                true
            });
        }
    }
}

#[test]
fn chunks_hold_the_rows_of_their_tables() {
    for lens in TABLES {
        let mut scene = Scene::new(lens, MEMBERSHIPS[0]);
        for before in BEFORE {
            let query = scene.query::<(EntityIds, Write<u64>)>(((), A.id()), false);
            let (mut met, mut lengths) = (Vec::new(), Vec::new());
            for chunk in scene.store.view_mut(&query).into_chunks() {
                lengths.push(chunk.len());
                let (first, second) = chunk.split_at(before);
                for rows in [first.rows(), second.rows()] {
                    for (entity, a) in rows {
                        *a += 1;
                        met.push(entity);
                    }
                }
            }
            assert!(lengths.iter().eq(lens.iter().filter(|&&len| len > 0)));
            scene.compare(met, &format!("tables {lens:?}, {before} before"), |row| {
                row.a.iter_mut().for_each(|a| *a += 1);
                row.a.is_some()
            });
        }
    }
}

#[test]
fn a_table_and_a_set_meet_whichever_of_them_drives() {
    everywhere(|scene, before, told| {
        for stable in [false, true] {
            let set = if stable { STABLE.id() } else { PLAIN.id() };
            let query = scene.query::<(EntityIds, Write<u64>, InSet<Write<u32>>)>(((), A.id(), set), false);
            for choice in [DriverChoice::Tables, DriverChoice::Shortest, DriverChoice::Set(set.any())] {
                let rows = scene.store.view_mut(&query).with_driver(choice).into_rows();
                let met = walk(rows, before, |(entity, a, b)| {
                    *a += 1;
                    *b += 1;
                    entity
                });
                scene.compare(met, told, |row| {
                    let value = if stable { &mut row.stable } else { &mut row.plain };
                    let (Some(a), Some(value)) = (&mut row.a, value) else { return false };
                    *a += 1;
                    *value += 1;
                    true
                });
            }
        }
    });
}

#[test]
fn a_set_alone_is_walked_in_visited_tables_or_anywhere() {
    everywhere(|scene, before, told| {
        for (stable, rowless, anywhere) in [false, true].into_iter().flat_map(|stable| {
            [(stable, false, false), (stable, true, false), (stable, true, true), (stable, false, true)]
        }) {
            let set = if stable { STABLE.id() } else { PLAIN.id() };
            let query = scene.query::<(EntityIds, InSet<Write<u32>>)>(((), set), rowless);
            let view = scene.store.view_mut(&query);
            let rows = if anywhere { view.into_rows_anywhere() } else { view.into_rows() };
            let met = walk(rows, before, |(entity, value)| {
                *value += 1;
                entity
            });
            scene.compare(met, told, |row| {
                let visited = anywhere || row.a.is_some() || (rowless && row.b.is_none());
                let value = if stable { &mut row.stable } else { &mut row.plain };
                value.iter_mut().filter(|_| visited).for_each(|value| *value += 1);
                visited && value.is_some()
            });
        }
    });
}

#[test]
fn two_sets_meet_whichever_of_them_drives() {
    everywhere(|scene, before, told| {
        type Both = (EntityIds, InSet<Write<u32>>, InSet<Write<u32>>);
        let ids = ((), PLAIN.id(), STABLE.id());
        let sets = [PLAIN.id().any(), STABLE.id().any()];
        let query = scene.query::<Both>(ids, true);
        for choice in [
            DriverChoice::Tables,
            DriverChoice::Shortest,
            DriverChoice::Set(sets[0]),
            DriverChoice::Set(sets[1]),
        ] {
            let rows = scene.store.view_mut(&query).with_driver(choice).into_rows();
            let met = walk(rows, before, |(entity, plain, stable)| {
                *plain += 1;
                *stable += 1;
                entity
            });
            scene.compare(met, told, |row| {
                let visited = row.a.is_some() || row.b.is_none();
                let (Some(plain), Some(stable)) = (&mut row.plain, &mut row.stable) else { return false };
                if visited {
                    *plain += 1;
                    *stable += 1;
                }
                visited
            });
        }
    });
}
