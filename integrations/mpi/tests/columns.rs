//! What is sent of rows, byte by byte: columns as they are, only what changed, and where load decides.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use phalanx::prelude::*;
use phalanx_mpi::{
    Bounds, Cluster, ClusterTypes, Ghost, GlobalId, LocalTransport, Located, Partition, Transport, run_local,
};
use serde::{Deserialize, Serialize};

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[component(save, layout = "soa")]
#[repr(C)]
struct At {
    y: f64,
    kind: u16,
    flags: [u8; 0],
    colour: u16,
    level: i32,
}

impl Located for At {
    fn place(&self) -> [f64; 3] {
        [0.5, self.y, 0.0]
    }
}

/// Fields of several sizes, each a column.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[component(save, layout = "soa")]
#[repr(C)]
struct Mixed {
    wide: u64,
    small: i16,
    smaller: [u8; 2],
    half: f32,
}

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[component(save)]
#[repr(C)]
struct Whole(u32, u32);

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[component(save, storage = "sparse")]
#[repr(C)]
struct Sparse(u32);

#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
#[component(save)]
struct Title(String);

fn types() -> ClusterTypes {
    ClusterTypes::located::<At>()
        .plain::<At>()
        .plain::<Mixed>()
        .plain::<Whole>()
        .plain::<Sparse>()
        .saved::<Title>()
}

fn cluster(transport: LocalTransport, types: ClusterTypes) -> Cluster<LocalTransport> {
    let ranks = transport.ranks();
    Cluster::new(transport, types, Partition::strips(Bounds::square(100.0), [1, 100, 1], ranks), 10.0, 10_000)
}

fn spawn(world: &mut World, id: u64, y: f64) {
    let small = i16::try_from(id).unwrap();
    let at = At { y, kind: 7, flags: [], colour: 9, level: -3 };
    let mut entity = world.spawn((GlobalId(id), at));
    if id.is_multiple_of(2) {
        entity.insert(Mixed { wide: id << 40, small: -small, smaller: [1, 2], half: f32::from(small) / 4.0 });
    }
    if id.is_multiple_of(3) {
        entity.insert(Whole(1, u32::try_from(id).unwrap()));
    }
    if id.is_multiple_of(5) {
        entity.insert(Sparse(u32::try_from(id).unwrap()));
    }
    if id.is_multiple_of(7) {
        entity.insert(Title(format!("number {id}")));
    }
}

/// All that is known of the entities of a world, in the order of ids.
fn rows(world: &World) -> Vec<String> {
    let mut all: Vec<(u64, String)> = Vec::new();
    for (entity, id) in world.view_filtered::<(Entity, &GlobalId), Without<Ghost>>().iter() {
        let at = world.get::<At>(entity).map(|at| (*at.y, *at.kind, *at.colour, *at.level));
        let mixed =
            world.get::<Mixed>(entity).map(|mixed| (*mixed.wide, *mixed.small, *mixed.smaller, *mixed.half));
        let rest = (world.get::<Whole>(entity), world.get::<Sparse>(entity), world.get::<Title>(entity));
        all.push((id.0, format!("{id:?} {at:?} {mixed:?} {rest:?}")));
    }
    all.sort();
    all.into_iter().map(|(_, row)| row).collect()
}

#[test]
fn rows_of_many_tables_arrive_as_they_were() {
    let mut expected = World::new();
    (0..200).for_each(|id| spawn(&mut expected, id, 90.0));
    let arrived = run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types());
        if cluster.rank() == 0 {
            (0..200).for_each(|id| spawn(&mut world, id, 90.0));
            // Holes, so that rows side by side are few.
            (200..400).for_each(|id| spawn(&mut world, id, 90.0));
            let gone: Vec<Entity> = world
                .view::<(Entity, &GlobalId)>()
                .iter()
                .filter(|(_, id)| id.0 >= 200)
                .map(|(entity, _)| entity)
                .collect();
            world.despawn_batch(gone);
        }
        cluster.exchange(&mut world).unwrap();
        world.check().unwrap();
        (rows(&world), cluster.digest(&world).unwrap())
    });
    assert_eq!(arrived[0].0, [] as [String; 0]);
    assert_eq!(arrived[1].0, rows(&expected));
    let alone = run_local(1, |transport| cluster(transport, types()).digest(&expected).unwrap());
    assert_eq!([arrived[0].1, arrived[1].1], [alone[0]; 2], "the digest does not know tables and ranks");
}

/// A step of a thousand entities near the border, and the bytes of ghosts that the next exchange sends.
fn ghost_bytes(change: impl Fn(&mut World) + Sync) -> u64 {
    let types = || {
        let types = ClusterTypes::located::<At>().plain::<At>().plain::<Whole>();
        types.halo::<At>().halo::<Whole>()
    };
    let bytes = run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types());
        if cluster.rank() == 0 {
            for id in 0..1000 {
                let at = At { y: 49.0, kind: 0, flags: [], colour: 0, level: 0 };
                world.spawn((GlobalId(id), at, Whole(0, 0)));
            }
        }
        cluster.exchange(&mut world).unwrap();
        let before = cluster.stats().ghost_bytes;
        if cluster.rank() == 0 {
            change(&mut world);
        }
        cluster.exchange(&mut world).unwrap();
        world.check().unwrap();
        if cluster.rank() == 1 {
            let seen = world.view_filtered::<(&At, &Whole), With<Ghost>>();
            assert_eq!(seen.iter().count(), 1000);
        }
        cluster.stats().ghost_bytes - before
    });
    bytes[0]
}

#[test]
fn only_the_columns_and_rows_of_ghosts_that_changed_are_sent() {
    assert_eq!(ghost_bytes(|_| {}), 0);
    let some = ghost_bytes(|world| {
        for (id, mut whole) in world.view_mut::<(&GlobalId, &mut Whole)>().iter_mut() {
            if id.0 < 100 {
                whole.1 = 5;
            }
        }
    });
    // An id and a value each, and what says which rows these are.
    assert!((1600..1700).contains(&some), "{some}");
    let all = ghost_bytes(|world| {
        world.view_mut::<&mut Whole>().iter_mut().for_each(|mut whole| whole.1 = 5);
        world.view_mut::<&mut At>().iter_mut().for_each(|at| *at.level = 5);
    });
    assert!((32_000..32_100).contains(&all), "{all}");
}

#[test]
fn a_component_that_a_ghost_loses_or_gets_is_sent() {
    run_local(2, |transport| {
        let types =
            ClusterTypes::located::<At>().plain::<At>().plain::<Sparse>().halo::<At>().halo::<Sparse>();
        let mut world = World::new();
        let mut cluster = cluster(transport, types);
        let here = cluster.rank();
        if here == 0 {
            world.spawn((GlobalId(1), At { y: 49.0, kind: 0, flags: [], colour: 0, level: 0 }));
        }
        for expected in [None, Some(4), Some(0), None] {
            if here == 0 {
                let entity = world.view::<(Entity, &GlobalId)>().iter().next().unwrap().0;
                match expected {
                    Some(value) => world.entity_mut(entity).insert(Sparse(value)),
                    None => world.entity_mut(entity).remove::<Sparse>(),
                };
            }
            cluster.exchange(&mut world).unwrap();
            let entity = world.view::<(Entity, &GlobalId)>().iter().next().unwrap().0;
            assert_eq!(world.get::<Sparse>(entity).map(|value| value.0), expected);
        }
    });
}

#[test]
fn a_rank_whose_frames_take_longer_gets_fewer_entities() {
    let run = |times: [u64; 2]| {
        run_local(2, |transport| {
            let mut world = World::new();
            let mut cluster = cluster(transport, types()).rebalance_every(1);
            for id in 0..1000_u16 {
                let y = f64::from(id) / 10.0;
                if cluster.owns([0.0, y, 0.0]) {
                    spawn(&mut world, id.into(), y);
                }
            }
            cluster.report_frame_time(&world, Duration::from_millis(times[cluster.rank()]));
            cluster.exchange(&mut world).unwrap();
            let owned = world.view_filtered::<&GlobalId, Without<Ghost>>().iter().count();
            (owned, cluster.digest(&world).unwrap())
        })
    };
    let (even, uneven) = (run([10, 10]), run([30, 10]));
    assert_eq!((even[0].0, even[1].0), (500, 500));
    // Half of the whole time, 20 of 40, lies in the first third of the space.
    assert!((320..=350).contains(&uneven[0].0), "{uneven:?}");
    assert_eq!(uneven[0].0 + uneven[1].0, 1000);
    assert_eq!(even[0].1, uneven[0].1, "where entities are does not change what they are");
}
