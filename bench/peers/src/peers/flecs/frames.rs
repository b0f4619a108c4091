//! flecs: systems through `progress`, on one thread and on two.

use flecs_ecs::prelude::*;

use super::{A, B, C, D, E, F, G, H, I, J, Position, Transform};
use crate::checksum::of_rows;
use crate::contender::Contender;
use crate::shapes::{self, DT, scalar};
use crate::workload::{EMPTY_SYSTEMS, HEAVY, HUNDRED_THOUSAND, MANY};

const PROGRESS: (&str, &str) = ("flecs", "progress");

pub fn schedule() -> Contender {
    Contender::steady(
        PROGRESS,
        || {
            let world = World::new();
            for i in 0..MANY {
                let (a, b, c) = (A(scalar(i)), B(scalar(i + 1)), C(scalar(i + 2)));
                world.entity().set(a).set(b);
                world.entity().set(a).set(b).set(c);
                world.entity().set(a).set(b).set(c).set(D(scalar(i + 3)));
                world.entity().set(a).set(b).set(c).set(E(scalar(i + 4)));
            }
            world.system::<(&mut A, &mut B)>().each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            world.system::<(&mut C, &mut D)>().each(|(c, d)| std::mem::swap(&mut c.0, &mut d.0));
            world.system::<(&mut C, &mut E)>().each(|(c, e)| std::mem::swap(&mut c.0, &mut e.0));
            world
        },
        |world| {
            world.progress_time(DT);
        },
        |world| {
            let mut rows = Vec::new();
            let query = world.new_query::<(&A, &B, Option<&C>, Option<&D>, Option<&E>)>();
            query.each(|(a, b, c, d, e)| {
                let (c, d, e) = (c.map_or(-1.0, |c| c.0), d.map_or(-1.0, |d| d.0), e.map_or(-1.0, |e| e.0));
                rows.push([a.0, b.0, c, d, e]);
            });
            of_rows(rows)
        },
    )
}

pub fn heavy_compute() -> Contender {
    Contender::steady(
        ("flecs", "two threads"),
        || {
            let world = World::new();
            let matrices: Vec<_> = (0..HEAVY).map(Transform::nth).collect();
            let positions: Vec<_> = (0..HEAVY).map(Position::nth).collect();
            world.entity_bulk(HEAVY as u32).set(&matrices).set(&positions).build();
            world.system::<(&mut Transform, &mut Position)>().par_each(|(transform, position)| {
                let mut row = position.row();
                shapes::invert(&mut transform.columns, &mut row);
                [position.x, position.y, position.z] = row;
            });
            world.set_threads(2);
            world
        },
        |world| {
            world.progress_time(DT);
        },
        |world| {
            let mut rows = Vec::new();
            world.new_query::<(&Transform, &Position)>().each(|(m, p)| {
                rows.push([m.columns[0][1], m.columns[3][1], p.x, p.z]);
            });
            of_rows(rows)
        },
    )
}

pub fn empty() -> Contender {
    Contender::steady(
        PROGRESS,
        || {
            let world = World::new();
            for _ in 0..EMPTY_SYSTEMS {
                world.system::<()>().run(|mut it| while it.next() {});
            }
            world
        },
        |world| {
            world.progress_time(DT);
        },
        |_| 0,
    )
}

pub fn frame(threads: i32) -> Contender {
    Contender::steady(
        PROGRESS,
        move || {
            let world = World::new();
            macro_rules! columns {
                ($($name:ident $shift:literal)*) => {
                    ($((0..HUNDRED_THOUSAND).map(|i| $name(scalar(i + $shift))).collect::<Vec<_>>(),)*)
                };
            }
            let (a, b, c, d, e) = columns!(A 0 B 1 C 2 D 3 E 4);
            let (f, g, h, i, j) = columns!(F 5 G 6 H 7 I 8 J 9);
            let mut bulk = world.entity_bulk(HUNDRED_THOUSAND as u32);
            bulk.set(&a).set(&b).set(&c).set(&d).set(&e).set(&f).set(&g).set(&h).set(&i).set(&j).build();
            macro_rules! add {
                ($(($own:ident $other:ident))*) => {
                    $(world.system::<(&mut $own, &$other)>().par_each(|(own, other)| {
                        own.0 = own.0 * 0.5 + other.0;
                    });)*
                };
            }
            shapes::for_each_frame_pair!(add);
            if threads > 1 {
                world.set_threads(threads);
            }
            world
        },
        |world| {
            world.progress_time(DT);
        },
        |world| {
            let mut rows = Vec::new();
            let query = world.new_query::<(&A, &B, &C, &D, &E, &F, &G, &H, &I, &J)>();
            query.each(|(a, b, c, d, e, f, g, h, i, j)| {
                rows.push([a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0, i.0, j.0]);
            });
            of_rows(rows)
        },
    )
}
