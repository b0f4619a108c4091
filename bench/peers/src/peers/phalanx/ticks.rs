//! Finding the rows that were written, by row ticks (`Changed`) and by the ticks of blocks.

use ::phalanx::prelude::*;
use ::phalanx::query::QueryState;
use ::phalanx::tracking::Tick;

use super::LIBRARY;
use crate::checksum::Sum;
use crate::contender::Contender;
use crate::shapes;
use crate::workload::HUNDRED_THOUSAND;

/// A number with a tick per row.
#[derive(Component, Clone, Copy)]
#[component(track = "row")]
struct Tracked(f32);

/// A number with a tick per block.
#[derive(Component, Clone, Copy)]
struct Data(f32);

struct Rows {
    world: World,
    query: QueryState<&'static Tracked, Changed<Tracked>>,
    written: Vec<Entity>,
    sum: Sum,
}

fn rows(spread: bool) -> Rows {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..HUNDRED_THOUSAND).map(|_| Tracked(0.0))).collect();
    let written = shapes::written(spread).map(|at| entities[at]).collect();
    let query = world.query_filtered();
    Rows { world, query, written, sum: Sum::default() }
}

fn write(Rows { world, written, sum, .. }: &mut Rows) {
    world.clear_trackers();
    *sum = Sum::default();
    for &entity in written.iter() {
        world.get_mut::<Tracked>(entity).expect("alive").0 += 1.0;
    }
}

pub fn changed(spread: bool) -> Vec<Contender> {
    vec![
        Contender::staged(
            (LIBRARY, "row ticks"),
            move || rows(spread),
            write,
            |Rows { world, query, sum, .. }| query.iter(world).for_each(|data| sum.float(data.0)),
            |state| state.sum.get(),
        ),
        Contender::staged(
            (LIBRARY, "plain"),
            move || rows(spread),
            write,
            |Rows { world, query, sum, .. }| {
                for data in query.iter(world) {
                    sum.float(data.0);
                }
            },
            |state| state.sum.get(),
        )
        .plain(),
        changed_blocks(spread),
    ]
}

/// Blocks with a new tick are walked whole. Which of their rows is new they cannot tell, so the value has to: rows that
/// were never written are zero.
fn changed_blocks(spread: bool) -> Contender {
    struct Blocks {
        world: World,
        query: QueryState<&'static Data>,
        written: Vec<Entity>,
        seen: Tick,
        sum: Sum,
    }
    Contender::staged(
        (LIBRARY, "table chunks"),
        move || {
            let mut world = World::new();
            let entities: Vec<Entity> = world.spawn_batch((0..HUNDRED_THOUSAND).map(|_| Data(0.0))).collect();
            let written = shapes::written(spread).map(|at| entities[at]).collect();
            let (query, seen) = (world.query(), world.read_change_tick());
            Blocks { world, query, written, seen, sum: Sum::default() }
        },
        |Blocks { world, written, seen, sum, .. }| {
            *seen = world.read_change_tick();
            world.increment_change_tick();
            *sum = Sum::default();
            for &entity in written.iter() {
                world.get_mut::<Data>(entity).expect("alive").0 += 1.0;
            }
        },
        |Blocks { world, query, seen, sum, .. }| {
            for block in query.query(world).chunks_changed_since(*seen) {
                for data in block.rows().filter(|data| data.0 != 0.0) {
                    sum.float(data.0);
                }
            }
        },
        |state| state.sum.get(),
    )
}
