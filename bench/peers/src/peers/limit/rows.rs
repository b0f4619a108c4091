//! Loops by hand for the workloads about plain code: rows with a matrix, rows that some filter takes, random writes,
//! a tick per row, and light loops on one core and on all.

use rayon::prelude::*;

use super::slot_map::SlotMap;
use super::{NAME, Position, Rotation, Transform, Velocity};
use crate::checksum::{Sum, of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, lookups, scalar};
use crate::workload::{HUNDRED_THOUSAND, LOOKUPS, MANY};

pub fn insert_eight() -> Contender {
    Contender::fresh(
        (NAME, "slot map"),
        || {
            let mut map = SlotMap::with_capacity(MANY);
            for index in 0..MANY {
                map.insert([0, 1, 2, 3, 4, 5, 6, 7].map(|shift| scalar(index + shift)));
            }
            map
        },
        |map| of_rows(map.rows().iter().copied()),
    )
}

pub fn five_components() -> Contender {
    struct State {
        transforms: Vec<Transform>,
        positions: Vec<Position>,
        rotations: Vec<Rotation>,
        velocities: Vec<Velocity>,
        scales: Vec<f32>,
    }
    Contender::steady(
        (NAME, "components"),
        || State {
            transforms: (0..MANY).map(Transform::nth).collect(),
            positions: (0..MANY).map(Position::nth).collect(),
            rotations: (0..MANY).map(Rotation::nth).collect(),
            velocities: (0..MANY).map(Velocity::nth).collect(),
            scales: (0..MANY).map(scalar).collect(),
        },
        |State { transforms, positions, rotations, velocities, scales }| {
            let first = transforms.iter_mut().zip(positions.iter_mut());
            let second = rotations.iter().zip(velocities.iter()).zip(scales.iter());
            for ((transform, position), ((rotation, velocity), scale)) in first.zip(second) {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
                shapes::place(&mut transform.columns, position.row(), rotation.row(), *scale);
            }
        },
        |State { transforms, positions, .. }| {
            let rows = transforms.iter().zip(positions.iter());
            of_rows(rows.map(|(m, p)| [m.columns[0][0], m.columns[1][1], m.columns[3][1], p.x, p.z]))
        },
    )
}

/// One loop for the rows that have neither C nor D, one for those that have both.
pub fn filtered() -> Contender {
    Contender::steady(
        (NAME, "tables"),
        || {
            let values =
                |odd: usize| (0..MANY).filter(move |i| i % 2 == odd).map(scalar).collect::<Vec<f32>>();
            let rest: Vec<f32> = (0..MANY).map(scalar).collect();
            let (bare, full) = (values(0), values(1));
            let (b, c) = (vec![0.25f32; bare.len()], vec![0.5f32; full.len()]);
            (bare, full, b, c, rest)
        },
        |(bare, full, b, c, _)| {
            for (a, b) in bare.iter_mut().zip(b.iter()) {
                shapes::filtered(a, *b, None, false);
            }
            for ((a, b), c) in full.iter_mut().zip(b.iter()).zip(c.iter()) {
                shapes::filtered(a, *b, Some(*c), true);
            }
        },
        |(bare, full, _, _, rest)| of_floats(bare.iter().chain(full.iter()).chain(rest.iter()).copied()),
    )
}

pub fn random_get_mut() -> Contender {
    Contender::steady(
        (NAME, "slot map"),
        || {
            let mut map = SlotMap::with_capacity(LOOKUPS);
            let ids: Vec<_> = (0..LOOKUPS).map(|index| map.insert(Position::nth(index))).collect();
            (map, lookups().into_iter().map(|at| ids[at]).collect::<Vec<_>>())
        },
        |(map, order)| {
            for &id in order.iter() {
                if let Some(position) = map.get_mut(id) {
                    position.x += 1.0;
                }
            }
        },
        |(map, _)| of_rows(map.rows().iter().map(|position| position.row())),
    )
}

/// A tick beside each row, and all of them are looked at.
pub fn changed(spread: bool) -> Contender {
    struct State {
        values: Vec<f32>,
        ticks: Vec<u32>,
        now: u32,
        sum: Sum,
    }
    Contender::staged(
        (NAME, "ticks"),
        || {
            let (values, ticks) = (vec![0.0; HUNDRED_THOUSAND], vec![0; HUNDRED_THOUSAND]);
            State { values, ticks, now: 0, sum: Sum::default() }
        },
        move |State { values, ticks, now, sum }| {
            *now += 1;
            *sum = Sum::default();
            for at in shapes::written(spread) {
                values[at] += 1.0;
                ticks[at] = *now;
            }
        },
        |State { values, ticks, now, sum }| {
            for (value, _) in values.iter().zip(ticks.iter()).filter(|(_, tick)| *tick == now) {
                sum.float(*value);
            }
        },
        |state| state.sum.get(),
    )
}

fn movers(size: usize) -> (Vec<Position>, Vec<Velocity>) {
    ((0..size).map(Position::nth).collect(), (0..size).map(Velocity::nth).collect())
}

/// The loop on one core, and on all by rayon with its defaults.
pub fn par_light(size: usize) -> [Contender; 2] {
    let advance = |(position, velocity): (&mut Position, &Velocity)| {
        position.x += velocity.x * DT;
        position.y += velocity.y * DT;
        position.z += velocity.z * DT;
    };
    let sum = |(positions, _): &mut (Vec<Position>, Vec<Velocity>)| {
        of_rows(positions.iter().map(|position| position.row()))
    };
    [
        Contender::steady(
            (NAME, "serial"),
            move || movers(size),
            move |(positions, velocities)| positions.iter_mut().zip(velocities.iter()).for_each(advance),
            sum,
        ),
        Contender::steady(
            (NAME, "rayon"),
            move || movers(size),
            move |(positions, velocities)| {
                positions.par_iter_mut().zip(velocities.par_iter()).for_each(advance);
            },
            sum,
        ),
    ]
}
