//! What travels with an entity, and what is refused: relations, their order, components that are not listed.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use phalanx::prelude::*;
use phalanx_mpi::{
    Apart, Bounds, Cluster, ClusterError, ClusterTypes, Ghost, GlobalId, LocalTransport, Located, Partition,
    run_local,
};
use serde::{Deserialize, Serialize};

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[component(save)]
struct At(f64);

impl Located for At {
    fn place(&self) -> [f64; 3] {
        [0.5, self.0, 0.0]
    }
}

/// A relation that is more than its target.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
#[component(save)]
#[relationship(relationship_target = Crew)]
struct Serves {
    #[relationship]
    ship: Entity,
    rank: String,
}

#[derive(Component)]
#[relationship_target(relationship = Serves)]
struct Crew(Vec<Entity>);

#[derive(Component)]
struct Scratch;

#[derive(Component)]
#[component(storage = "sparse")]
struct Marked;

fn types() -> ClusterTypes {
    ClusterTypes::located::<At>().saved::<At>().halo::<At>().relation::<ChildOf>().relation::<Serves>()
}

/// Two ranks: places below 5 belong to the first.
fn cluster(transport: LocalTransport, types: ClusterTypes) -> Cluster<LocalTransport> {
    let ranks = rank_count(&transport);
    Cluster::new(transport, types, Partition::strips(Bounds::square(10.0), [1, 10, 1], ranks), 1.0, 1000)
}

fn rank_count(transport: &LocalTransport) -> usize {
    phalanx_mpi::Transport::ranks(transport)
}

fn find(world: &World, id: u64) -> Option<Entity> {
    let view = world.view_filtered::<(Entity, &GlobalId), Without<Ghost>>();
    view.iter().find(|(_, found)| found.0 == id).map(|(entity, _)| entity)
}

fn ids(world: &World, entities: &[Entity]) -> Vec<u64> {
    entities.iter().map(|&entity| world.get::<GlobalId>(entity).unwrap().0).collect()
}

fn children(world: &World, parent: u64) -> Vec<u64> {
    let Some(parent) = find(world, parent) else { return Vec::new() };
    world.get::<Children>(parent).map(|children| ids(world, children)).unwrap_or_default()
}

fn go(world: &mut World, id: u64, to: f64) {
    if let Some(entity) = find(world, id) {
        world.entity_mut(entity).insert(At(to));
    }
}

/// A parent with id 1 and children 2 to 5, in this order: 4, 2, 5, 3.
fn family(world: &mut World, place: f64, child_has_place: bool) {
    let parent = world.spawn((GlobalId(1), At(place))).id();
    for id in [4, 2, 5, 3] {
        let mut child = world.spawn((GlobalId(id), ChildOf(parent)));
        if child_has_place {
            child.insert(At(place));
        }
    }
}

#[test]
fn a_family_moves_as_one_in_its_order() {
    for child_has_place in [true, false] {
        run_local(2, |transport| {
            let mut world = World::new();
            let mut cluster = cluster(transport, types());
            let here = cluster.rank();
            if here == 0 {
                family(&mut world, 2.0, child_has_place);
            }
            for round in 0..4 {
                cluster.exchange(&mut world).unwrap();
                world.check().unwrap();
                let owner = round % 2;
                let expected: &[u64] = if here == owner { &[4, 2, 5, 3] } else { &[] };
                assert_eq!(children(&world, 1), expected, "round {round}");
                (1..=5).for_each(|id| assert_eq!(find(&world, id).is_some(), here == owner));
                assert_eq!(world.view::<&Apart<ChildOf>>().iter().count(), 0);
                let to = if owner == 0 { 8.0 } else { 2.0 };
                go(&mut world, 1, to);
                if child_has_place {
                    (2..=5).for_each(|id| go(&mut world, id, to));
                }
            }
        });
    }
}

#[test]
fn a_parent_that_leaves_despawns_no_child_and_is_found_again() {
    run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types());
        let here = cluster.rank();
        if here == 0 {
            family(&mut world, 2.0, true);
        }
        go(&mut world, 1, 8.0);
        cluster.exchange(&mut world).unwrap();
        assert_eq!(find(&world, 1).is_some(), here == 1);
        (2..=5).for_each(|id| assert_eq!(find(&world, id).is_some(), here == 0, "{id} stays"));
        let apart: Vec<u64> = world.view::<&Apart<ChildOf>>().iter().map(|apart| apart.target().0).collect();
        assert_eq!(apart, vec![1; if here == 0 { 4 } else { 0 }]);

        // Meanwhile the parent gets another child, and the others follow one by one.
        if here == 1 {
            let parent = find(&world, 1).unwrap();
            world.spawn((GlobalId(6), At(8.0), ChildOf(parent)));
        }
        for (id, order) in
            [(5, vec![5, 6]), (4, vec![4, 5, 6]), (3, vec![4, 5, 3, 6]), (2, vec![4, 2, 5, 3, 6])]
        {
            go(&mut world, id, 8.0);
            cluster.exchange(&mut world).unwrap();
            world.check().unwrap();
            assert_eq!(children(&world, 1), if here == 1 { order } else { Vec::new() });
        }
        assert_eq!(world.view::<&Apart<ChildOf>>().iter().count(), 0);
    });
}

#[test]
fn children_that_leave_come_back_to_their_places() {
    run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types());
        let here = cluster.rank();
        if here == 0 {
            family(&mut world, 2.0, true);
        }
        for id in [4, 5] {
            go(&mut world, id, 8.0);
        }
        cluster.exchange(&mut world).unwrap();
        assert_eq!(children(&world, 1), if here == 0 { vec![2, 3] } else { vec![] });
        for id in [4, 5] {
            go(&mut world, id, 2.0);
        }
        cluster.exchange(&mut world).unwrap();
        assert_eq!(children(&world, 1), if here == 0 { vec![4, 2, 5, 3] } else { vec![] });
    });
}

#[test]
fn who_goes_with_a_parent_goes_with_one_on_another_rank() {
    run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types());
        let here = cluster.rank();
        if here == 0 {
            family(&mut world, 2.0, true);
            // A grandchild: a chain over two ranks.
            let child = find(&world, 2).unwrap();
            world.spawn((GlobalId(7), At(8.0), ChildOf(child)));
            let cook = Serves { ship: find(&world, 1).unwrap(), rank: "cook".into() };
            world.spawn((GlobalId(8), At(8.0), cook));
        }
        go(&mut world, 1, 8.0);
        cluster.exchange(&mut world).unwrap();
        if here == 1 {
            let parent = find(&world, 1).unwrap();
            let crew: Vec<Entity> = world.get::<Crew>(parent).unwrap().iter().collect();
            assert_eq!(ids(&world, &crew), [8]);
            assert_eq!(world.get::<Serves>(crew[0]).unwrap().rank, "cook", "the whole value travels");
            world.despawn(parent);
        }
        cluster.exchange(&mut world).unwrap();
        world.check().unwrap();
        let left: Vec<u64> =
            world.view_filtered::<&GlobalId, Without<Ghost>>().iter().map(|id| id.0).collect();
        assert_eq!(left, if here == 1 { vec![8] } else { vec![] }, "the crew stays, all descendants go");
    });
}

#[test]
fn a_link_to_a_ghost_finds_its_owner() {
    run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types());
        let here = cluster.rank();
        if here == 1 {
            world.spawn((GlobalId(1), At(5.1)));
        }
        cluster.exchange(&mut world).unwrap();
        if here == 0 {
            let ghost = world.view_filtered::<Entity, With<Ghost>>().iter().next().unwrap();
            world.spawn((GlobalId(2), At(4.9), ChildOf(ghost)));
        }
        go(&mut world, 1, 9.0);
        cluster.exchange(&mut world).unwrap();
        if here == 0 {
            let child = find(&world, 2).expect("the ghost is gone, and not who was linked to it");
            assert_eq!(world.get::<Apart<ChildOf>>(child).unwrap().target(), GlobalId(1));
        }
        go(&mut world, 2, 9.0);
        cluster.exchange(&mut world).unwrap();
        assert_eq!(children(&world, 1), if here == 1 { vec![2] } else { vec![] });
    });
}

#[test]
fn relations_come_back_from_a_checkpoint_on_another_number_of_ranks() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("families");
    let _ = std::fs::remove_dir_all(&folder);
    let digests = run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types());
        if cluster.rank() == 0 {
            family(&mut world, 2.0, true);
            let parent = find(&world, 1).unwrap();
            world.spawn((GlobalId(9), ChildOf(parent)));
        }
        // The parent and the child without a place are on one rank, two children on the other.
        [4, 5].into_iter().for_each(|id| go(&mut world, id, 8.0));
        cluster.exchange(&mut world).unwrap();
        cluster.checkpoint(&mut world, &folder).unwrap();
        cluster.digest(&world).unwrap()
    });
    for ranks in [1, 3] {
        let found = run_local(ranks, |transport| {
            let mut world = World::new();
            let mut cluster = cluster(transport, types());
            cluster.restart_latest(&mut world, &folder).unwrap();
            let digest = cluster.digest(&world).unwrap();
            [4, 5].into_iter().for_each(|id| go(&mut world, id, 2.0));
            cluster.exchange(&mut world).unwrap();
            (digest, children(&world, 1))
        });
        assert!(found.iter().all(|(digest, _)| *digest == digests[0]), "{ranks} ranks");
        assert!(found.iter().any(|(_, children)| *children == [4, 2, 5, 3, 9]), "{found:?}");
    }
}

/// The error of the rank that owns an entity with more than the types list.
fn refused(types: ClusterTypes, more: impl Fn(&mut World, Entity) + Sync) -> ClusterError {
    let mut ends = run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types.clone());
        if cluster.rank() == 0 {
            let entity = world.spawn((GlobalId(1), At(8.0))).id();
            more(&mut world, entity);
        }
        cluster.exchange(&mut world)
    });
    ends.remove(0).unwrap_err()
}

#[test]
fn components_that_would_be_lost_are_named() {
    let error = refused(types(), |world, entity| {
        world.entity_mut(entity).insert((Scratch, Marked));
    });
    let ClusterError::Unlisted { components } = &error else { panic!("{error}") };
    assert_eq!(components.len(), 2, "{error}");
    assert!(error.to_string().contains("Scratch") && error.to_string().contains("Marked"), "{error}");

    let without_relations = ClusterTypes::located::<At>().saved::<At>();
    let error = refused(without_relations, |world, entity| {
        world.spawn(ChildOf(entity));
    });
    assert!(error.to_string().contains("Children"), "{error}");
}

#[test]
fn components_are_left_on_purpose() {
    run_local(2, |transport| {
        let mut world = World::new();
        let mut cluster = cluster(transport, types().leave::<Scratch>().leave::<Marked>());
        if cluster.rank() == 0 {
            world.spawn((GlobalId(1), At(8.0), Scratch, Marked));
        }
        cluster.exchange(&mut world).unwrap();
        let arrived = find(&world, 1);
        assert_eq!(arrived.is_some(), cluster.rank() == 1);
        assert!(arrived.is_none_or(|entity| world.get::<Scratch>(entity).is_none()));
    });
}

#[test]
fn a_checkpoint_refuses_what_it_would_lose() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("refused");
    run_local(1, |transport| {
        let mut world = World::new();
        world.spawn((GlobalId(1), At(8.0), Scratch));
        let error = cluster(transport, types()).checkpoint(&mut world, &folder).unwrap_err();
        assert!(error.to_string().contains("Scratch"), "{error}");
    });
}

#[test]
fn a_link_with_an_entity_without_an_id_is_refused() {
    let error = refused(types(), |world, entity| {
        world.spawn((At(8.0), ChildOf(entity)));
    });
    assert!(
        matches!(&error, ClusterError::Nameless { relation, .. } if relation.ends_with("ChildOf")),
        "{error}"
    );
}
