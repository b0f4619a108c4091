//! `par_iter_mut` with its defaults: few rows with much work, many with little.

use ::phalanx::prelude::*;

use super::LIBRARY;
use super::table::{Position, Transform, body, movers, positions};
use crate::checksum::of_rows;
use crate::contender::Contender;
use crate::shapes::{self, DT};
use crate::workload::HEAVY;

pub fn heavy_compute() -> Contender {
    Contender::steady(
        (LIBRARY, "par_iter"),
        || {
            let mut world = World::new();
            world.spawn_batch((0..HEAVY).map(body));
            let query = world.query::<(&mut Transform, &mut Position)>();
            (world, query)
        },
        |(world, query)| {
            query.query_mut(world).par_iter_mut().for_each(|(mut transform, mut position)| {
                let mut row = position.row();
                shapes::invert(&mut transform.columns, &mut row);
                [position.x, position.y, position.z] = row;
            });
        },
        |(world, _)| {
            let query = world.view::<(&Transform, &Position)>();
            of_rows(query.iter().map(|(m, p)| [m.columns[0][1], m.columns[3][1], p.x, p.z]))
        },
    )
    .plain()
}

/// The loop by `for_each` on the calling thread, and by `par_iter_mut`.
pub fn light(size: usize) -> [Contender; 2] {
    [
        Contender::steady(
            (LIBRARY, "serial"),
            move || movers(size),
            |(world, query)| {
                query.iter_mut(world).for_each(|(mut position, velocity)| {
                    position.x += velocity.x * DT;
                    position.y += velocity.y * DT;
                    position.z += velocity.z * DT;
                });
            },
            |(world, _)| positions(world),
        ),
        Contender::steady(
            (LIBRARY, "par_iter"),
            move || movers(size),
            |(world, query)| {
                query.query_mut(world).par_iter_mut().for_each(|(mut position, velocity)| {
                    position.x += velocity.x * DT;
                    position.y += velocity.y * DT;
                    position.z += velocity.z * DT;
                });
            },
            |(world, _)| positions(world),
        )
        .plain(),
    ]
}
