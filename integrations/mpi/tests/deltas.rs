//! Checkpoints that are differences from the ones before them: they hold the same as whole ones, and break with their base.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use phalanx::prelude::*;
use phalanx_mpi::{
    Bounds, Cluster, ClusterError, ClusterTypes, Ghost, GlobalId, LocalTransport, Located, Partition,
    Transport, latest_checkpoint, run_local,
};
use serde::{Deserialize, Serialize};

#[path = "../examples/cluster/models.rs"]
#[allow(dead_code)]
mod models;
#[path = "common/mortal.rs"]
mod mortal;
use models::*;
use mortal::Mortal;

const AGENTS: u64 = 200;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn place(folder: &Path, frame: u64) -> PathBuf {
    folder.join(format!("frame-{frame:09}"))
}

/// The frame that a checkpoint is a difference from.
fn base(folder: &Path, frame: u64) -> Option<u64> {
    let text = std::fs::read_to_string(place(folder, frame).join("manifest")).unwrap();
    let line = text.lines().nth(3).unwrap();
    (line != "whole").then(|| line.split(' ').nth(1).unwrap().parse().unwrap())
}

fn go_on<T: Transport>(app: &mut App, cluster: &mut Cluster<T>, until: u64) -> Result<(), ClusterError> {
    while cluster.frame() < until {
        cluster.exchange(app.world_mut())?;
        app.step(0.02);
    }
    app.world().check().unwrap();
    Ok(())
}

fn begin<T: Transport>(model: Model, transport: T) -> (App, Cluster<T>) {
    let mut app = app(model);
    let cluster = cluster(model, transport, AGENTS);
    populate(model, &cluster, app.world_mut(), AGENTS);
    (app, cluster)
}

/// Runs to each of these frames, and writes a checkpoint there.
fn write(model: Model, ranks: usize, folder: &Path, whole_every: u64, frames: &[u64]) {
    run_local(ranks, |transport| {
        let (mut app, cluster) = begin(model, transport);
        let mut cluster = cluster.whole_every(whole_every);
        for &frame in frames {
            go_on(&mut app, &mut cluster, frame).unwrap();
            cluster.checkpoint(app.world_mut(), folder).unwrap();
        }
    });
}

/// Goes on from a checkpoint, and returns the line of the end.
fn finish(model: Model, ranks: usize, place: &Path, until: u64) -> String {
    let lines = run_local(ranks, |transport| {
        let mut app = app(model);
        let mut cluster = cluster(model, transport, AGENTS);
        cluster.restart(app.world_mut(), place).unwrap();
        app.world_mut().insert_resource(Frame(cluster.frame()));
        go_on(&mut app, &mut cluster, until).unwrap();
        summary(&mut cluster, app.world()).unwrap()
    });
    lines[0].clone()
}

fn undisturbed(model: Model, until: u64) -> String {
    let lines = run_local(1, |transport| {
        let (mut app, mut cluster) = begin(model, transport);
        go_on(&mut app, &mut cluster, until).unwrap();
        summary(&mut cluster, app.world()).unwrap()
    });
    lines[0].clone()
}

#[test]
fn every_checkpoint_of_a_chain_leads_to_the_same_end() {
    for model in [Model::Boids, Model::Epidemic] {
        let folder = folder(&format!("chain-{model:?}"));
        let frames: Vec<u64> = (1..=7).map(|nth| nth * 6).collect();
        write(model, 3, &folder, 5, &frames);
        let bases: Vec<Option<u64>> = frames.iter().map(|&frame| base(&folder, frame)).collect();
        assert_eq!(bases, [None, Some(6), Some(12), Some(18), Some(24), None, Some(36)]);
        let undisturbed = undisturbed(model, 50);
        for (&frame, ranks) in frames.iter().zip([1, 2, 4].into_iter().cycle()) {
            let line = finish(model, ranks, &place(&folder, frame), 50);
            assert_eq!(line, undisturbed, "{model:?} from frame {frame} on {ranks} ranks");
        }
    }
}

#[test]
fn a_difference_is_small_where_little_became_another() {
    let folder = folder("small");
    // One person in eight walks.
    write(Model::Epidemic, 2, &folder, 16, &[1, 2]);
    let bytes = |frame: u64| -> u64 {
        let file = |rank: usize| place(&folder, frame).join(format!("rank-{rank}"));
        (0..2).map(|rank| std::fs::metadata(file(rank)).unwrap().len()).sum()
    };
    let (whole, difference) = (bytes(1), bytes(2));
    assert_eq!(base(&folder, 2), Some(1));
    assert!(difference * 2 < whole, "{difference} bytes after {whole}");
}

#[test]
fn with_one_every_checkpoint_holds_all_rows() {
    let folder = folder("whole");
    write(Model::Boids, 2, &folder, 1, &[3, 6, 9]);
    assert_eq!([3, 6, 9].map(|frame| base(&folder, frame)), [None; 3]);
}

#[test]
fn what_is_wrong_with_a_base_is_wrong_with_all_that_stand_on_it() {
    let folder = folder("broken");
    write(Model::Epidemic, 2, &folder, 16, &[5, 10, 15]);
    let latest = || latest_checkpoint(&folder).unwrap().map(|(frame, _)| frame);
    assert_eq!(latest(), Some(15));
    let path = place(&folder, 10).join("rank-1");
    let bytes = std::fs::read(&path).unwrap();
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(&path, changed).unwrap();
    assert_eq!(latest(), Some(5));
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(latest(), Some(15));
    std::fs::remove_dir_all(place(&folder, 5)).unwrap();
    assert_eq!(latest(), None, "nothing stands without its first");
    run_local(1, |transport| {
        let mut world = World::new();
        let error = cluster(Model::Epidemic, transport, AGENTS).restart(&mut world, &place(&folder, 15));
        assert!(error.unwrap_err().to_string().contains("stands on frame 5"));
    });
}

#[test]
fn a_base_that_was_replaced_is_not_the_base_any_more() {
    let folder = folder("rebased");
    write(Model::Boids, 2, &folder, 16, &[5, 10]);
    let before = std::fs::read(place(&folder, 5).join("manifest")).unwrap();
    // As many ranks: cells are handed out by what is in them now, so each writes other rows.
    run_local(2, |transport| {
        let mut app = app(Model::Boids);
        let mut cluster = cluster(Model::Boids, transport, AGENTS);
        cluster.restart(app.world_mut(), &place(&folder, 5)).unwrap();
        app.world_mut().insert_resource(Frame(5));
        cluster.checkpoint(app.world_mut(), &folder).unwrap();
        assert_ne!(before, std::fs::read(place(&folder, 5).join("manifest")).unwrap());
        assert_eq!(latest_checkpoint(&folder).unwrap().unwrap().0, 5, "frame 10 stood on another one");
        // Twice in one frame: the second cannot stand on the first, whose place it takes.
        cluster.checkpoint(app.world_mut(), &folder).unwrap();
        go_on(&mut app, &mut cluster, 10).unwrap();
        cluster.checkpoint(app.world_mut(), &folder).unwrap();
    });
    assert_eq!((base(&folder, 5), base(&folder, 10)), (None, Some(5)));
    assert_eq!(finish(Model::Boids, 2, &place(&folder, 10), 20), undisturbed(Model::Boids, 20));
}

/// Each rank dies, at each exchange of a run that writes whole checkpoints and differences.
#[test]
fn a_rank_that_dies_leaves_a_chain_that_is_whole() {
    let undisturbed = undisturbed(Model::Epidemic, 14);
    let (mut found, mut died) = (Vec::new(), 0);
    for (dies, after) in (0..3).flat_map(|rank| (4..84).step_by(5).map(move |after| (rank, after + rank))) {
        let folder = folder("dies-in-chain");
        let ends = run_local(3, |transport| {
            let left = if transport.rank() == dies { after } else { usize::MAX };
            let (mut app, cluster) = begin(Model::Epidemic, Mortal { transport, left });
            let mut cluster = cluster.whole_every(3);
            for frame in (2..=12).step_by(2) {
                go_on(&mut app, &mut cluster, frame)?;
                cluster.checkpoint(app.world_mut(), &folder)?;
            }
            Ok::<(), ClusterError>(())
        });
        died += usize::from(ends.iter().any(Result::is_err));
        let Some((frame, place)) = latest_checkpoint(&folder).unwrap() else { continue };
        found.push((frame, base(&folder, frame)));
        assert_eq!(finish(Model::Epidemic, 2, &place, 14), undisturbed, "rank {dies} after {after}");
    }
    assert!(died > 30, "{died} runs were disturbed");
    assert!(found.iter().any(|(_, base)| base.is_some()), "some went on from a difference: {found:?}");
    assert!(found.iter().any(|(frame, base)| *frame > 2 && base.is_none()), "and from a later whole one");
}

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[component(save)]
struct At(f64);

impl Located for At {
    fn place(&self) -> [f64; 3] {
        [0.5, self.0, 0.0]
    }
}

fn tree(transport: LocalTransport) -> Cluster<LocalTransport> {
    let types = ClusterTypes::located::<At>().saved::<At>().relation::<ChildOf>();
    let ranks = transport.ranks();
    Cluster::new(transport, types, Partition::strips(Bounds::square(10.0), [1, 10, 1], ranks), 1.0, 1000)
}

fn find(world: &World, id: u64) -> Option<Entity> {
    let view = world.view_filtered::<(Entity, &GlobalId), Without<Ghost>>();
    view.iter().find(|(_, known)| known.0 == id).map(|(entity, _)| entity)
}

/// Links come, go, change their target and their order, and are taken apart by migration.
fn change(world: &mut World, frame: u64) {
    let both = |world: &World, a: u64, b: u64| find(world, a).zip(find(world, b));
    match frame {
        1 => {
            if let Some((child, parent)) = both(world, 3, 1) {
                world.entity_mut(child).insert(ChildOf(parent));
            }
        }
        2 => {
            if let Some(child) = find(world, 2) {
                world.entity_mut(child).remove::<ChildOf>();
            }
            if let Some(child) = find(world, 4) {
                world.entity_mut(child).insert(At(8.5));
            }
        }
        3 => {
            if let Some((child, parent)) = both(world, 5, 3) {
                world.entity_mut(child).insert(ChildOf(parent));
            }
            if let Some((child, parent)) = both(world, 2, 1) {
                world.entity_mut(child).insert(ChildOf(parent));
            }
        }
        _ => {}
    }
}

#[test]
fn links_and_their_order_are_in_differences() {
    let run = |name: &str, whole_every: u64| {
        let folder = folder(name);
        run_local(2, |transport| {
            let mut cluster = tree(transport).whole_every(whole_every);
            let mut world = World::new();
            if cluster.rank() == 0 {
                let root = world.spawn((GlobalId(1), At(1.5))).id();
                for id in 2..7_u8 {
                    let mut child = world.spawn((GlobalId(id.into()), At(f64::from(id) / 3.0)));
                    if id % 2 == 0 {
                        child.insert(ChildOf(root));
                    }
                }
            }
            for frame in 0..5 {
                change(&mut world, frame);
                cluster.exchange(&mut world).unwrap();
                cluster.checkpoint(&mut world, &folder).unwrap();
            }
        });
        folder
    };
    let (whole, chained) = (run("tree-whole", 1), run("tree-chained", 16));
    for frame in 1..=5 {
        assert_eq!(base(&chained, frame), (frame > 1).then_some(frame - 1));
        let families = [&whole, &chained].map(|folder| {
            let found = run_local(1, |transport| {
                let mut world = World::new();
                tree(transport).restart(&mut world, &place(folder, frame)).unwrap();
                let id = |entity: Entity| world.get::<GlobalId>(entity).unwrap().0;
                let family = |of: u64| {
                    let children = world.get::<Children>(find(&world, of).unwrap());
                    children.map(|list| list.iter().map(id).collect::<Vec<u64>>()).unwrap_or_default()
                };
                (1..7).map(|of| (of, family(of))).collect::<Vec<_>>()
            });
            found[0].clone()
        });
        assert_eq!(families[0], families[1], "frame {frame}");
        if frame == 5 {
            assert_eq!(families[0][0], (1, vec![4, 6, 3, 2]), "the links changed on the way");
        }
    }
}
