//! Components in sparse sets that a group owns.

use ::phalanx::prelude::*;

use super::LIBRARY;
use crate::checksum::{of_floats, of_rows};
use crate::contender::Contender;
use crate::shapes::{self, DT, scalar};
use crate::workload::{HUNDRED_THOUSAND, MANY};

const GROUP: (&str, &str) = (LIBRARY, "group");

shapes::motion!(@vector Position #[derive(Component)] #[component(storage = "sparse")]);
shapes::motion!(@vector Velocity #[derive(Component)] #[component(storage = "sparse")]);
shapes::letters!(#[derive(Component)] #[component(storage = "sparse")]; A B C);

pub fn simple_iter() -> Contender {
    Contender::steady(
        GROUP,
        || {
            let mut world = World::new();
            let group = world.group::<Own<(Position, Velocity)>, Get<()>, ()>().expect("no other group");
            world.spawn_batch((0..MANY).map(|index| (Position::nth(index), Velocity::nth(index))));
            (world, group)
        },
        |(world, group)| {
            let (positions, velocities) = group.slices_mut(world);
            for (position, velocity) in positions.iter_mut().zip(velocities.iter()) {
                position.x += velocity.x * DT;
                position.y += velocity.y * DT;
                position.z += velocity.z * DT;
            }
        },
        |(world, _)| of_rows(world.view::<&Position>().iter().map(|position| position.row())),
    )
}

pub fn group_iter() -> Contender {
    Contender::steady(
        GROUP,
        || {
            let mut world = World::new();
            let group = world.group::<Own<(A, B, C)>, Get<()>, ()>().expect("no other group");
            for index in 0..HUNDRED_THOUSAND {
                let value = scalar(index);
                match index % 4 {
                    0 => world.spawn((A(value), B(value), C(0.5))),
                    2 => world.spawn((A(value), B(value))),
                    _ => world.spawn(A(value)),
                };
            }
            (world, group)
        },
        |(world, group)| {
            let (a, b, c) = group.slices_mut(world);
            for ((a, b), c) in a.iter_mut().zip(b.iter()).zip(c.iter()) {
                a.0 += b.0 * c.0;
            }
        },
        |(world, _)| of_floats(world.view::<&A>().iter().map(|a| a.0)),
    )
}

pub fn add_remove() -> Contender {
    Contender::steady(
        GROUP,
        || {
            let mut world = World::new();
            world.group::<Own<(A, B)>, Get<()>, ()>().expect("no other group");
            let entities: Vec<Entity> = world.spawn_batch((0..MANY).map(|i| A(scalar(i)))).collect();
            (world, entities)
        },
        |(world, entities)| {
            for &entity in entities.iter() {
                world.insert(entity, B(1.0)).expect("alive");
            }
            for &entity in entities.iter() {
                world.remove::<B>(entity).expect("alive");
            }
        },
        |(world, _)| of_floats(world.view::<&A>().iter().map(|a| a.0)),
    )
}
