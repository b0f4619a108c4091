//! Loops written by hand, without any library: what the hardware and the compiler allow.
//!
//! Three layouts stand beside each other: an array of structs, an array per component, an array per field;
//! where random access or spawning is meant, a plain slot map. None of them can do what a world does:
//! this is a limit, not a contender.

use rayon::prelude::*;

use crate::cache::evict;
use crate::checksum::{Sum, of_counts, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar, total};
use crate::workload::{
    EMPTY_SYSTEMS, HEAVY, HUNDRED_THOUSAND, LOOKUPS, MANY, MILLION, PER_LETTER, PER_WIDE_TABLE, WIDE_TABLES,
    Workload,
};
use slot_map::SlotMap;

mod frames;
mod rows;
mod slot_map;

const NAME: &str = "limit";

shapes::motion!();
shapes::flat_motion!();

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => vec![insert_structs(), insert_components()],
        Workload::InsertLoop | Workload::InsertSparse | Workload::InsertGroup => vec![insert_slot_map()],
        Workload::InsertEight => vec![rows::insert_eight()],
        Workload::SimpleIter => {
            vec![iter_structs(MANY), iter_components(MANY), iter_fields(MANY)]
        }
        Workload::IterCold => vec![flat_components(evict), flat_fields(evict)],
        Workload::IterWarm => vec![flat_components(|| ()), flat_fields(|| ())],
        Workload::FragmentedIter => vec![tables(26, PER_LETTER), one_array(26 * PER_LETTER)],
        Workload::FragmentedWide => {
            vec![tables(WIDE_TABLES, PER_WIDE_TABLE), one_array(WIDE_TABLES * PER_WIDE_TABLE)]
        }
        Workload::FiveComponents => vec![rows::five_components()],
        Workload::Filtered => vec![rows::filtered()],
        Workload::AddRemove | Workload::AddRemoveSparse | Workload::AddRemoveGroup => vec![add_remove(MANY)],
        Workload::RandomGet | Workload::RandomGetWorld => vec![random_get()],
        Workload::RandomGetMut | Workload::RandomGetMutWorld => vec![rows::random_get_mut()],
        Workload::SpawnDespawn => vec![spawn_despawn()],
        Workload::Schedule => vec![frames::schedule()],
        Workload::HeavyCompute => vec![heavy_compute()],
        Workload::ParLight(size) => rows::par_light(size).into(),
        Workload::GroupIter => vec![group_iter()],
        Workload::FrameEmpty => vec![frame_empty()],
        Workload::BulkInsert => vec![bulk_insert()],
        Workload::Commands | Workload::PairSparse => vec![],
        Workload::Changed => vec![changed()],
        Workload::ChangedSpread => vec![rows::changed(true)],
        Workload::ChangedClustered => vec![rows::changed(false)],
        Workload::FrameOne => vec![frames::frame(1)],
        Workload::FrameTwo => vec![frames::frame(2)],
        Workload::GrowIter(size) => vec![iter_components(size), iter_fields(size)],
        Workload::GrowSpawn(size) => vec![grow_spawn(size)],
        Workload::GrowAddRemove(size) => vec![add_remove(size)],
    }
}

type Body = (Transform, Position, Rotation, Velocity);

fn body(index: usize) -> Body {
    (Transform::nth(index), Position::nth(index), Rotation::nth(index), Velocity::nth(index))
}

/// The checksum of the insert workloads: every entity with the corners of its components.
pub fn body_sum(rows: impl IntoIterator<Item = ([[f32; 4]; 4], [f32; 3], [f32; 3], [f32; 3])>) -> u64 {
    of_rows(rows.into_iter().map(|(m, p, r, v)| [m[0][1], m[3][3], p[0], p[1], r[2], v[1]]))
}

fn insert_structs() -> Contender {
    Contender::fresh(
        (NAME, "structs"),
        || (0..MANY).map(body).collect::<Vec<Body>>(),
        |rows| body_sum(rows.iter().map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row()))),
    )
}

fn insert_components() -> Contender {
    type Columns = (Vec<Transform>, Vec<Position>, Vec<Rotation>, Vec<Velocity>);
    Contender::fresh(
        (NAME, "components"),
        || -> Columns {
            let rotations = (0..MANY).map(Rotation::nth).collect();
            let (positions, velocities) =
                ((0..MANY).map(Position::nth).collect(), (0..MANY).map(Velocity::nth).collect());
            ((0..MANY).map(Transform::nth).collect(), positions, rotations, velocities)
        },
        |(m, p, r, v)| body_sum((0..m.len()).map(|i| (m[i].columns, p[i].row(), r[i].row(), v[i].row()))),
    )
}

fn insert_slot_map() -> Contender {
    Contender::fresh(
        (NAME, "slot map"),
        || {
            let mut map = SlotMap::with_capacity(MANY);
            for index in 0..MANY {
                map.insert(body(index));
            }
            map
        },
        |map| body_sum(map.rows().iter().map(|(m, p, r, v)| (m.columns, p.row(), r.row(), v.row()))),
    )
}

fn iter_structs(size: usize) -> Contender {
    Contender::steady(
        (NAME, "structs"),
        move || (0..size).map(|i| (Position::nth(i), Velocity::nth(i))).collect::<Vec<_>>(),
        |rows| {
            for (position, velocity) in rows {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            }
        },
        |rows| of_rows(rows.iter().map(|(position, _)| position.row())),
    )
}

fn iter_components(size: usize) -> Contender {
    Contender::steady(
        (NAME, "components"),
        move || {
            let positions: Vec<_> = (0..size).map(Position::nth).collect();
            (positions, (0..size).map(Velocity::nth).collect::<Vec<_>>())
        },
        |(positions, velocities)| {
            for (position, velocity) in positions.iter_mut().zip(velocities.iter()) {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            }
        },
        |(positions, _)| of_rows(positions.iter().map(|position| position.row())),
    )
}

/// Adds one column to another, scaled. Field by field: two arrays at a time are what memory likes best.
#[inline]
pub fn advance(values: &mut [f32], by: &[f32]) {
    for (value, by) in values.iter_mut().zip(by) {
        *value += *by * DT;
    }
}

fn iter_fields(size: usize) -> Contender {
    Contender::steady(
        (NAME, "fields"),
        move || {
            let field = |name, at: usize| -> Vec<f32> {
                (0..size).map(|index| shapes::vector(name, index)[at]).collect()
            };
            ([0, 1, 2].map(|at| field("Position", at)), [0, 1, 2].map(|at| field("Velocity", at)))
        },
        |(positions, velocities)| {
            for (position, velocity) in positions.iter_mut().zip(velocities.iter()) {
                advance(position, velocity);
            }
        },
        |([x, y, z], _)| of_rows((0..x.len()).map(|i| [x[i], y[i], z[i]])),
    )
}

fn flat_components(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        (NAME, "components"),
        || {
            let places: Vec<_> = (0..MILLION).map(Place::nth).collect();
            (places, (0..MILLION).map(Speed::nth).collect::<Vec<_>>())
        },
        move |_| before(),
        |(places, speeds)| {
            for (place, speed) in places.iter_mut().zip(speeds.iter()) {
                place.x += speed.x * DT;
                place.y += speed.y * DT;
            }
        },
        |(places, _)| of_rows(places.iter().map(|place| place.row())),
    )
}

fn flat_fields(before: impl Fn() + Copy + 'static) -> Contender {
    Contender::staged(
        (NAME, "fields"),
        || {
            let field = |name, at: usize| -> Vec<f32> {
                (0..MILLION).map(|index| shapes::vector(name, index)[at]).collect()
            };
            ([0, 1].map(|at| field("Place", at)), [0, 1].map(|at| field("Speed", at)))
        },
        move |_| before(),
        |(places, speeds)| {
            for (place, speed) in places.iter_mut().zip(speeds.iter()) {
                advance(place, speed);
            }
        },
        |([x, y], _)| of_rows((0..x.len()).map(|i| [x[i], y[i]])),
    )
}

fn tables(count: usize, rows: usize) -> Contender {
    Contender::steady(
        (NAME, "tables"),
        move || {
            let row = move |table: usize| (0..rows).map(move |row| scalar(table * rows + row));
            (0..count).map(|table| row(table).collect()).collect::<Vec<Vec<f32>>>()
        },
        |tables| {
            for table in tables {
                table.iter_mut().for_each(|value| *value += 1.0);
            }
        },
        |tables| of_floats(tables.iter().flatten().copied()),
    )
}

fn one_array(rows: usize) -> Contender {
    Contender::steady(
        (NAME, "one array"),
        move || (0..rows).map(scalar).collect::<Vec<f32>>(),
        |values| values.iter_mut().for_each(|value| *value += 1.0),
        |values| of_floats(values.iter().copied()),
    )
}

/// A row index per entity beside a dense array: a sparse set without generations.
fn add_remove(size: usize) -> Contender {
    Contender::steady(
        (NAME, "sparse set"),
        move || {
            let values: Vec<f32> = (0..size).map(scalar).collect();
            (values, vec![u32::MAX; size], Vec::<(u32, f32)>::with_capacity(size))
        },
        |(values, rows, dense)| {
            for (entity, row) in (0u32..).zip(rows.iter_mut()) {
                *row = dense.len() as u32;
                dense.push((entity, 1.0));
            }
            for entity in 0..rows.len() {
                let row = std::mem::replace(&mut rows[entity], u32::MAX) as usize;
                let (_, value) = dense.swap_remove(row);
                values[entity] += value - 1.0;
                if let Some(&(moved, _)) = dense.get(row) {
                    rows[moved as usize] = row as u32;
                }
            }
        },
        |(values, _, _)| of_floats(values.iter().copied()),
    )
}

fn random_get() -> Contender {
    Contender::steady(
        (NAME, "slot map"),
        || {
            let mut map = SlotMap::with_capacity(LOOKUPS);
            let ids: Vec<_> = (0..LOOKUPS).map(|index| map.insert(Position::nth(index))).collect();
            (map, lookups().into_iter().map(|at| ids[at]).collect::<Vec<_>>(), 0u64)
        },
        |(map, order, sum)| {
            *sum = total(order.iter().filter_map(|&id| map.get(id)).map(|position| position.x));
        },
        |(_, _, sum)| *sum,
    )
}

fn spawn_despawn() -> Contender {
    Contender::steady(
        (NAME, "slot map"),
        || (SlotMap::with_capacity(MANY), Vec::with_capacity(MANY)),
        |(map, ids)| {
            ids.clear();
            ids.extend((0..MANY).map(|index| map.insert((Position::nth(index), Velocity::nth(index)))));
            for id in ids.iter() {
                map.remove(*id);
            }
        },
        |(map, ids)| of_counts(ids.len(), map.rows().len()),
    )
}

fn grow_spawn(size: usize) -> Contender {
    Contender::fresh(
        (NAME, "slot map"),
        move || {
            let mut map = SlotMap::with_capacity(0);
            for index in 0..size {
                map.insert((Position::nth(index), Velocity::nth(index)));
            }
            map
        },
        |map| of_rows(map.rows().iter().map(|(position, _)| position.row())),
    )
}

fn heavy_compute() -> Contender {
    Contender::steady(
        (NAME, "components"),
        || {
            let positions: Vec<_> = (0..HEAVY).map(|index| Position::nth(index).row()).collect();
            ((0..HEAVY).map(shapes::matrix).collect::<Vec<_>>(), positions)
        },
        |(matrices, positions)| {
            let rows = matrices.par_iter_mut().zip(positions.par_iter_mut()).with_min_len(64);
            rows.for_each(|(matrix, position)| shapes::invert(matrix, position));
        },
        |(matrices, positions)| {
            of_rows(matrices.iter().zip(positions.iter()).map(|(m, p)| [m[0][1], m[3][1], p[0], p[2]]))
        },
    )
}

fn group_iter() -> Contender {
    Contender::steady(
        (NAME, "components"),
        || {
            let values = || (0..HUNDRED_THOUSAND).step_by(4).map(scalar);
            let rest: Vec<f32> = (0..HUNDRED_THOUSAND).filter(|i| i % 4 != 0).map(scalar).collect();
            (values().collect::<Vec<f32>>(), values().collect::<Vec<_>>(), vec![0.5f32; values().len()], rest)
        },
        |(a, b, c, _)| {
            for ((a, b), c) in a.iter_mut().zip(b.iter()).zip(c.iter()) {
                *a += b * c;
            }
        },
        |(a, _, _, rest)| of_floats(a.iter().chain(rest.iter()).copied()),
    )
}

fn frame_empty() -> Contender {
    Contender::steady(
        (NAME, "calls"),
        || (vec![std::hint::black_box(nothing as fn(&mut u64)); EMPTY_SYSTEMS], 0),
        |(systems, count)| systems.iter().for_each(|system| system(count)),
        |_| 0,
    )
}

#[inline(never)]
fn nothing(count: &mut u64) {
    std::hint::black_box(count);
}

fn bulk_insert() -> Contender {
    Contender::staged(
        (NAME, "components"),
        || Vec::<f32>::with_capacity(MANY),
        Vec::clear,
        |column| column.resize(MANY, 0.5),
        |column| of_floats(column.iter().copied()),
    )
}

/// A tick per table, and only tables with a new one are looked at.
fn changed() -> Contender {
    struct State {
        tables: Vec<Vec<f32>>,
        ticks: Vec<u64>,
        now: u64,
        sum: Sum,
    }
    Contender::staged(
        (NAME, "tables"),
        || {
            let rows =
                |table: usize| (0..PER_WIDE_TABLE).map(move |row| scalar(table * PER_WIDE_TABLE + row));
            let tables = (0..WIDE_TABLES).map(|table| rows(table).collect()).collect();
            State { tables, ticks: vec![0; WIDE_TABLES], now: 0, sum: Sum::default() }
        },
        |state| {
            state.now += 1;
            state.ticks[WIDE_TABLES / 2] = state.now;
            state.tables[WIDE_TABLES / 2].iter_mut().for_each(|value| *value += 1.0);
            state.sum = Sum::default();
        },
        |State { tables, ticks, now, sum }| {
            for (table, _) in tables.iter().zip(ticks).filter(|(_, tick)| *tick == now) {
                table.iter().for_each(|value| sum.float(*value));
            }
        },
        |state| state.sum.get(),
    )
}
