//! The work of ordering a schedule, counted.
//!
//! It grows with the configuration of systems and sets, not with the pairs of systems that follow from it: n systems
//! after a set of n members are 2n constraints, not n times n.

use super::graph::Constraints;
use super::sort;
use super::waits::Source;
use super::*;
use crate::query::{Query, With, Without};
use crate::system::{Local, ResMut};

#[derive(phalanx_derive::SystemSet, Debug, Clone, Copy)]
struct Group(#[allow(dead_code, reason = "told apart by what it prints")] usize);

/// Edges in the graph, and edges between its tasks as if they were one stage.
fn counted(schedule: &Schedule) -> (usize, usize) {
    let Schedule { nodes, gates, sets, chains, .. } = schedule;
    let sorted = sort::order(Constraints { nodes, gates, sets, chains, excepted: &[] }, SyncPoints::Ordered)
        .expect("no circle");
    let mut source = Source::new(nodes, gates, &sorted);
    let waits = source.waits(0..sorted.order.len());
    (sorted.graph.edges.iter().map(Vec::len).sum(), waits.waiting.iter().map(Vec::len).sum())
}

fn idle(_: Local<'_, u8>) {}

#[test]
fn systems_after_a_set_of_as_many_members_take_edges_in_proportion() {
    for count in [10, 100, 2000] {
        let mut world = World::new();
        let mut schedule = Schedule::default();
        for _ in 0..count {
            schedule.add_systems(idle.in_set(Group(0)));
            schedule.add_systems((|| ()).after(Group(0)));
        }
        schedule.initialize(&mut world).expect("no cycle");
        let (graph, stage) = counted(&schedule);
        assert!(graph <= 4 * count, "{count}: {graph}");
        assert!(stage <= 4 * count, "{count}: {stage}");
        schedule.run(&mut world);
    }
}

#[test]
fn chained_tuples_and_sets_take_edges_in_proportion() {
    let count = 500;
    let mut world = World::new();
    let mut schedule = Schedule::default();
    for _ in 0..count {
        schedule.add_systems(idle.in_set(Group(1)));
        schedule.add_systems((|| ()).in_set(Group(2)));
    }
    schedule.configure_sets((Group(1), Group(2)).chain().in_set(Group(3)));
    schedule.configure_sets(Group(3).run_if(|| true));
    schedule.initialize(&mut world).expect("no cycle");
    let (graph, stage) = counted(&schedule);
    assert!(graph <= 6 * count && stage <= 6 * count, "{graph} {stage}");
}

#[test]
fn writers_of_one_thing_take_one_edge_each() {
    #[derive(phalanx_derive::Resource, Default)]
    struct Shared(usize);
    let count = 1000;
    let mut world = World::new();
    world.init_resource::<Shared>();
    let mut schedule = Schedule::default();
    for _ in 0..count {
        schedule.add_systems(|mut shared: ResMut<'_, Shared>| shared.0 += 1);
    }
    schedule.initialize(&mut world).expect("no cycle");
    let (_, stage) = counted(&schedule);
    assert_eq!(stage, count - 1);
    schedule.run(&mut world);
    assert_eq!(world.resource::<Shared>().0, count);
}

#[test]
fn users_of_one_column_in_different_tables_take_edges_in_proportion() {
    #[derive(phalanx_derive::Component)]
    struct Health(u32);
    #[derive(phalanx_derive::Component)]
    struct Boss;
    let count = 500;
    let mut world = World::new();
    world.spawn((Health(1), Boss));
    let mut schedule = Schedule::default();
    for _ in 0..count {
        schedule.add_systems((
            |mut bosses: Query<'_, '_, &mut Health, With<Boss>>| bosses.iter_mut().for_each(|mut h| h.0 += 1),
            |mut others: Query<'_, '_, &mut Health, Without<Boss>>| {
                others.iter_mut().for_each(|mut h| h.0 = 0);
            },
            |all: Query<'_, '_, &Health>| assert_eq!(all.count(), 1),
            |others: Query<'_, '_, &Health, Without<Boss>>| assert_eq!(others.count(), 0),
        ));
    }
    schedule.initialize(&mut world).expect("no cycle");
    let (_, stage) = counted(&schedule);
    assert!(stage >= 4 * (count - 1) && stage <= 12 * count, "{stage}");
    schedule.run(&mut world);
    assert_eq!(world.view::<&Health>().single().map(|health| health.0), Ok(501));
}
