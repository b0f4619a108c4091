//! The protocol over threads of one process: what it promises, without MPI.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use phalanx::prelude::*;
use phalanx::schedule::Threads;
use phalanx_mpi::{
    Cluster, ClusterError, ClusterStats, Ghost, GlobalId, LocalTransport, Outbox, To, Transport,
    latest_checkpoint, local_transports, run_local,
};

#[path = "../examples/cluster/models.rs"]
#[allow(dead_code)]
mod models;
#[path = "common/mortal.rs"]
mod mortal;
use models::*;
use mortal::Mortal;

const AGENTS: u64 = 200;

/// Runs a model on so many ranks, and returns the line of its end and what each rank did.
fn run(model: Model, ranks: usize, frames: u64) -> (String, Vec<ClusterStats>) {
    let ends = run_local(ranks, |transport| {
        let (mut app, mut cluster) = begin(model, transport);
        go_on(&mut app, &mut cluster, frames).unwrap();
        (summary(&mut cluster, app.world()).unwrap(), cluster.stats())
    });
    assert!(ends.iter().all(|(line, _)| *line == ends[0].0), "ranks disagree: {ends:?}");
    (ends[0].0.clone(), ends.into_iter().map(|(_, stats)| stats).collect())
}

fn begin(model: Model, transport: LocalTransport) -> (App, Cluster<LocalTransport>) {
    let mut app = app(model);
    let cluster = cluster(model, transport, AGENTS);
    populate(model, &cluster, app.world_mut(), AGENTS);
    (app, cluster)
}

fn go_on(app: &mut App, cluster: &mut Cluster<LocalTransport>, until: u64) -> Result<(), ClusterError> {
    while cluster.frame() < until {
        cluster.exchange(app.world_mut())?;
        app.step(0.02);
    }
    app.world().check().unwrap();
    Ok(())
}

fn same_on_any_number_of_ranks(model: Model, frames: u64) {
    let (alone, _) = run(model, 1, frames);
    for ranks in [2, 3, 4, 7] {
        let (line, stats) = run(model, ranks, frames);
        assert_eq!(line, alone, "{model:?} on {ranks} ranks");
        assert!(stats.iter().map(|stats| stats.migrated).sum::<u64>() > 0, "nobody migrated: {stats:?}");
        assert!(stats.iter().all(|stats| stats.rebalanced > 1), "{stats:?}");
        assert!(stats.iter().map(|stats| stats.ghosts_sent).sum::<u64>() > 0, "{stats:?}");
    }
}

#[test]
fn boids_end_alike_on_any_number_of_ranks() {
    same_on_any_number_of_ranks(Model::Boids, 80);
}

#[test]
fn an_epidemic_ends_alike_on_any_number_of_ranks() {
    same_on_any_number_of_ranks(Model::Epidemic, 80);
    let (_, stats) = run(Model::Epidemic, 3, 80);
    assert!(stats.iter().map(|stats| stats.messages).sum::<u64>() > 0, "nobody travelled: {stats:?}");
    let (sent, kept) =
        stats.iter().fold((0, 0), |(s, k), stats| (s + stats.ghosts_sent, k + stats.ghosts_kept));
    assert!(kept > sent, "most people stand still, so most ghosts are not sent again: {stats:?}");
}

/// Counts frames in which two systems met: each waits for the other, which takes two threads.
#[derive(Resource, Clone, Default)]
struct Meeting(Arc<(Mutex<u64>, Condvar)>);

fn meet(meeting: &Meeting) {
    let (count, changed) = &*meeting.0;
    let mut here = count.lock().unwrap();
    *here += 1;
    changed.notify_all();
    let met = |count: &mut u64| *count % 2 == 1;
    // On one thread no other rank comes: the test fails then, and does not hang.
    let (mut here, waited) = changed.wait_timeout_while(here, Duration::from_secs(20), met).unwrap();
    *here += u64::from(waited.timed_out());
    assert!(!waited.timed_out(), "both systems run on one thread");
}

#[test]
fn threads_within_a_rank_change_nothing() {
    for model in [Model::Boids, Model::Epidemic] {
        let (alone, _) = run(model, 1, 40);
        for (ranks, threads) in [(1, Threads::Serial), (1, Threads::N(2)), (2, Threads::N(2))] {
            let lines = run_local(ranks, |transport| {
                let (mut app, mut cluster) = begin(model, transport);
                // Phases of any size go to the threads.
                app.configure(AppConfig { threads, small_phase: Duration::ZERO, ..AppConfig::default() });
                if threads == Threads::N(2) {
                    app.insert_resource(Meeting::default());
                    let one = |meeting: Res<Meeting>| meet(&meeting);
                    let other = |meeting: Res<Meeting>| meet(&meeting);
                    app.add_systems(Update, (one, other));
                }
                go_on(&mut app, &mut cluster, 40).unwrap();
                let met = app.world().get_resource::<Meeting>();
                assert!(
                    met.is_none_or(|met| *met.0.0.lock().unwrap() == 80),
                    "two threads work in each frame"
                );
                summary(&mut cluster, app.world()).unwrap()
            });
            assert_eq!(lines[0], alone, "{model:?} on {ranks} ranks with {threads:?}");
        }
    }
}

#[test]
fn another_start_ends_differently() {
    assert_ne!(run(Model::Boids, 2, 10).0, run(Model::Boids, 2, 11).0);
}

#[test]
fn one_migrant_costs_little_more_than_its_columns() {
    let stats = run_local(2, |transport| {
        let mut app = app(Model::Boids);
        let mut cluster = cluster(Model::Boids, transport, 2000);
        populate(Model::Boids, &cluster, app.world_mut(), 2000);
        go_on(&mut app, &mut cluster, 3).unwrap();
        cluster.stats()
    });
    let (migrated, bytes) = stats.iter().fold((0, 0), |(m, b), s| (m + s.migrated, b + s.migrated_bytes));
    // An id, a position and a velocity.
    let columns = migrated * 24;
    assert!(migrated > 100 && bytes * 10 <= columns * 12, "{bytes} bytes for {migrated} migrants");
}

#[test]
fn ghosts_are_exactly_what_others_own_nearby() {
    run_local(3, |transport| {
        let (mut app, mut cluster) = begin(Model::Boids, transport);
        for _ in 0..12 {
            cluster.exchange(app.world_mut()).unwrap();
            let world = app.world();
            let all = world.view::<&GlobalId>().iter().count();
            let ids: std::collections::HashSet<GlobalId> =
                world.view::<&GlobalId>().iter().copied().collect();
            assert_eq!(ids.len(), all, "no id is here twice");
            for (place, ghost) in world.view_filtered::<(&Position, &Ghost), ()>().iter() {
                let place = Position { x: *place.x, y: *place.y };
                let owner = cluster.partition().owner(phalanx_mpi::Located::place(&place));
                assert_eq!(owner, ghost.owner as usize, "a ghost is where its owner is");
            }
            for place in world.view_filtered::<&Position, Without<Ghost>>().iter() {
                let place = Position { x: *place.x, y: *place.y };
                assert!(
                    cluster.owns(phalanx_mpi::Located::place(&place)),
                    "owned entities are on own ground"
                );
            }
            app.step(0.02);
        }
    });
}

#[test]
fn messages_reach_a_rank_all_or_the_owner_in_the_order_of_senders() {
    let received = run_local(3, |transport| {
        let rank = transport.rank();
        let mut app = App::new();
        app.add_message::<Visit>();
        let mut cluster = cluster(Model::Epidemic, transport, 1000);
        let world = app.world_mut();
        let id = GlobalId(rank as u64);
        world.spawn((id, Position { x: 1.0, y: 5.0 + 25.0 * rank as f32 }, Velocity { x: 0.0, y: 0.0 }));
        let mut outbox = Outbox::default();
        // Senders have ids that fall while ranks rise.
        let from = GlobalId(100 - rank as u64);
        outbox.send(from, To::All, &Visit { to: GlobalId(10 + rank as u64) });
        outbox.send(from, To::Rank(1), &Visit { to: GlobalId(20 + rank as u64) });
        outbox.send(from, To::Owner(GlobalId(2)), &Visit { to: GlobalId(30 + rank as u64) });
        world.insert_resource(outbox);
        cluster.exchange(app.world_mut()).unwrap();
        let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = seen.clone();
        app.add_systems(Update, move |mut visits: MessageReader<Visit>| {
            sink.lock().unwrap().extend(visits.read().map(|visit| visit.to.0));
        });
        app.step(0.02);
        let owns_two = app.world().view_filtered::<&GlobalId, Without<Ghost>>().iter().any(|id| id.0 == 2);
        let seen = seen.lock().unwrap().clone();
        (seen, owns_two)
    });
    for (rank, (seen, owns_two)) in received.into_iter().enumerate() {
        let mut expected = Vec::new();
        for sender in [2, 1, 0] {
            expected.push(10 + sender);
            expected.extend((rank == 1).then_some(20 + sender));
            expected.extend(owns_two.then_some(30 + sender));
        }
        assert_eq!(seen, expected, "rank {rank}");
    }
}

#[test]
fn a_resource_is_shared() {
    run_local(3, |transport| {
        let mut world = World::new();
        world.insert_resource(Frame(transport.rank() as u64 + 40));
        let mut cluster = cluster(Model::Boids, transport, 0);
        cluster.share::<Frame>(&mut world, 2).unwrap();
        assert_eq!(world.resource::<Frame>().0, 42);
        world.remove_resource::<Frame>();
        let error = cluster.share::<Frame>(&mut world, 1).unwrap_err();
        assert!(error.to_string().contains("Frame"), "{error}");
    });
}

#[test]
fn a_resource_goes_to_one_rank_or_to_the_owner_of_an_entity() {
    run_local(3, |transport| {
        let here = transport.rank();
        let mut world = World::new();
        let mut cluster = cluster(Model::Boids, transport, 0);
        // Strips along y: each rank owns the one with its number.
        let y = 5.0 + 25.0 * here as f32;
        world.spawn((GlobalId(here as u64 + 70), Position { x: 1.0, y }, Velocity { x: 0.0, y: 0.0 }));
        let seen = |world: &mut World, cluster: &mut Cluster<LocalTransport>, from, to| {
            world.insert_resource(Frame(cluster.rank() as u64));
            cluster.send_resource::<Frame>(world, from, to).map(|()| world.resource::<Frame>().0)
        };
        let own = here as u64;
        let to_rank = seen(&mut world, &mut cluster, 0, To::Rank(2));
        assert_eq!(to_rank, Ok(if here == 2 { 0 } else { own }));
        let to_owner = seen(&mut world, &mut cluster, 2, To::Owner(GlobalId(71)));
        assert_eq!(to_owner, Ok(if here == 1 { 2 } else { own }));
        assert_eq!(seen(&mut world, &mut cluster, 2, To::Owner(GlobalId(99))), Ok(own), "nobody owns it");
        assert_eq!(seen(&mut world, &mut cluster, 1, To::All), Ok(1));
        assert!(seen(&mut world, &mut cluster, 1, To::Rank(7)).is_err());
    });
}

#[test]
fn messages_beyond_the_limit_arrive_in_one_piece() {
    for limit in [1, 3, 7, 1000] {
        std::thread::scope(|scope| {
            for mut transport in local_transports(3, limit) {
                scope.spawn(move || {
                    let here = transport.rank();
                    let part =
                        |from: usize, to: usize| vec![u8::try_from(from * 16 + to).unwrap(); from * 40 + to];
                    let received = transport.exchange((0..3).map(|to| part(here, to)).collect()).unwrap();
                    assert_eq!(received, (0..3).map(|from| part(from, here)).collect::<Vec<_>>());
                });
            }
        });
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn restart(model: Model, ranks: usize, folder: &std::path::Path, until: u64) -> String {
    let lines = run_local(ranks, |transport| {
        let mut app = app(model);
        let mut cluster = cluster(model, transport, AGENTS);
        let frame = cluster.restart_latest(app.world_mut(), folder).unwrap().expect("there is a checkpoint");
        app.world_mut().insert_resource(Frame(frame));
        go_on(&mut app, &mut cluster, until).unwrap();
        summary(&mut cluster, app.world()).unwrap()
    });
    lines[0].clone()
}

#[test]
fn another_number_of_ranks_goes_on_from_a_checkpoint() {
    for model in [Model::Boids, Model::Epidemic] {
        let folder = folder(&format!("restart-{model:?}"));
        let undisturbed = run(model, 2, 60).0;
        run_local(3, |transport| {
            let (mut app, mut cluster) = begin(model, transport);
            for until in [20, 40] {
                go_on(&mut app, &mut cluster, until).unwrap();
                cluster.checkpoint(app.world_mut(), &folder).unwrap();
            }
        });
        for ranks in [1, 2, 4] {
            assert_eq!(restart(model, ranks, &folder, 60), undisturbed, "{model:?} on {ranks} ranks");
        }
        // A file that is cut short or changed, and a folder without a manifest, are no checkpoint: the one before it is.
        let path = folder.join("frame-000000040/rank-2");
        let bytes = std::fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        for damaged in [&bytes[..bytes.len() - 1], &changed] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(latest_checkpoint(&folder).unwrap().unwrap().0, 20);
        }
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(latest_checkpoint(&folder).unwrap().unwrap().0, 40);
        std::fs::remove_file(folder.join("frame-000000040/manifest")).unwrap();
        assert_eq!(latest_checkpoint(&folder).unwrap().unwrap().0, 20);
        assert_eq!(restart(model, 2, &folder, 60), undisturbed);
    }
}

#[test]
fn a_rank_that_dies_is_named_and_leaves_the_last_checkpoint_whole() {
    let folder = folder("dies");
    let undisturbed = run(Model::Epidemic, 1, 50).0;
    let ends = run_local(3, |transport| {
        let (mut app, mut cluster) = begin(Model::Epidemic, transport);
        go_on(&mut app, &mut cluster, 20)?;
        cluster.checkpoint(app.world_mut(), &folder)?;
        if cluster.rank() == 1 {
            go_on(&mut app, &mut cluster, 33)?;
            return Ok(());
        }
        go_on(&mut app, &mut cluster, 50)
    });
    assert_eq!(ends[1], Ok(()));
    for end in [&ends[0], &ends[2]] {
        assert!(matches!(end, Err(ClusterError::Lost { .. })), "{end:?}");
    }
    assert_eq!(restart(Model::Epidemic, 2, &folder, 50), undisturbed);
}

/// Ranks write over the very checkpoint from which they restarted, and one of them dies: at each step, and each rank.
#[test]
fn a_rank_that_dies_while_a_checkpoint_is_replaced_leaves_one_of_both() {
    let folder = folder("replaced");
    let undisturbed = run(Model::Epidemic, 1, 30).0;
    run_local(2, |transport| {
        let (mut app, mut cluster) = begin(Model::Epidemic, transport);
        go_on(&mut app, &mut cluster, 20).unwrap();
        cluster.checkpoint(app.world_mut(), &folder).unwrap();
    });
    let mut survived = 0;
    for (dies, after) in (0..3).flat_map(|rank| (0..20).map(move |after| (rank, after))) {
        let ends = run_local(3, |transport| {
            let left = if transport.rank() == dies { after } else { usize::MAX };
            let mut app = app(Model::Epidemic);
            let mut cluster = cluster(Model::Epidemic, Mortal { transport, left }, AGENTS);
            cluster.restart_latest(app.world_mut(), &folder)?;
            cluster.checkpoint(app.world_mut(), &folder)
        });
        survived += usize::from(ends.iter().all(Result::is_ok));
        let (frame, _) = latest_checkpoint(&folder).unwrap().expect("one of both is whole");
        assert_eq!(frame, 20, "rank {dies} died after {after} exchanges");
    }
    assert!(survived > 0, "some ranks lived long enough to write a checkpoint");
    assert_eq!(restart(Model::Epidemic, 2, &folder, 30), undisturbed);
}

/// Between two names of folders nothing is lost, either.
#[test]
fn a_checkpoint_whose_name_was_being_exchanged_is_found() {
    let folder = folder("names");
    let undisturbed = run(Model::Boids, 1, 30).0;
    run_local(2, |transport| {
        let (mut app, mut cluster) = begin(Model::Boids, transport);
        go_on(&mut app, &mut cluster, 20).unwrap();
        cluster.checkpoint(app.world_mut(), &folder).unwrap();
    });
    let name = |end: &str| folder.join(format!("frame-000000020{end}"));
    std::fs::rename(name(""), name(".old")).unwrap();
    std::fs::create_dir(name(".new")).unwrap();
    assert_eq!(latest_checkpoint(&folder).unwrap(), Some((20, name(".old"))));
    assert_eq!(restart(Model::Boids, 3, &folder, 30), undisturbed);
    // The next one of this frame clears up.
    run_local(2, |transport| {
        let mut app = app(Model::Boids);
        let mut cluster = cluster(Model::Boids, transport, AGENTS);
        cluster.restart_latest(app.world_mut(), &folder).unwrap();
        cluster.checkpoint(app.world_mut(), &folder).unwrap();
    });
    assert_eq!(latest_checkpoint(&folder).unwrap(), Some((20, name(""))));
    assert!(!name(".old").exists() && !name(".new").exists());
}

#[test]
fn a_damaged_checkpoint_is_refused_by_name() {
    let folder = folder("damaged");
    run_local(2, |transport| {
        let (mut app, mut cluster) = begin(Model::Boids, transport);
        cluster.checkpoint(app.world_mut(), &folder).unwrap();
    });
    let place = folder.join("frame-000000000");
    let mut bytes = std::fs::read(place.join("rank-1")).unwrap();
    bytes[40] ^= 1;
    std::fs::write(place.join("rank-1"), bytes).unwrap();
    run_local(1, |transport| {
        let mut world = World::new();
        let error = cluster(Model::Boids, transport, AGENTS).restart(&mut world, &place).unwrap_err();
        assert!(error.to_string().contains("rank-1"), "{error}");
    });
}
