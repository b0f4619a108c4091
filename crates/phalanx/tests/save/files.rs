//! Files: damage is found, a kill leaves the old one or the new one, deltas hold what changed. Hazard 86.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use phalanx::prelude::*;
use phalanx::save::FileError;

use super::cast::*;
use super::dump::dump;
use super::model::Sim;
use super::random::Random;

/// A directory of its own, gone at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("phalanx-save-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("there is a place for temporary files");
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_and_its_deltas_are_the_world() {
    let (place, types) = (Place::new("deltas"), registry());
    let mut world = World::new();
    let mut sim = Sim::new(2, &mut world);
    world.spawn_batch((0..5_000u16).map(|at| (Health { current: 1.0, max: f32::from(at) }, Frozen)));
    let mut files = vec![place.file("base")];
    let mut mark = world.write_file(&files[0]).expect("written");
    let whole = mark.pieces_written();
    for round in 0..6 {
        for _ in 0..40 {
            sim.step(&mut world);
        }
        world.flush();
        let next = place.file(&format!("delta{round}"));
        mark = world.write_delta(&next, &mark).expect("written");
        files.push(next);
        assert!(mark.pieces_written() > 0);
        let read = World::read_files(&files, &types).expect("read");
        read.check().expect("whole");
        assert_eq!(dump(&read), dump(&world), "round {round}");
    }
    // Nothing changed: a head, and nothing else.
    let mark = world.write_delta(place.file("same"), &mark).expect("written");
    assert_eq!(mark.pieces_written(), 1);
    assert!(whole > 10);
    // A delta follows its base, and no other file.
    let error = World::read_files([&files[0], &files[2]], &types).map(|_| ()).expect_err("one is missing");
    assert!(error.to_string().contains("another file"), "{error}");
    let error = World::read_file(&files[1], &types).map(|_| ()).expect_err("a delta alone");
    assert!(error.to_string().contains("another file"), "{error}");
}

#[test]
fn one_changed_row_is_one_block_of_its_column() {
    let place = Place::new("row");
    let mut world = World::new();
    let all: Vec<Entity> = world
        .spawn_batch((0..10_000u16).map(|at| (Health { current: 1.0, max: f32::from(at) }, Frozen)))
        .collect();
    let mark = world.write_file(place.file("base")).expect("written");
    world.get_mut::<Health>(all[5_000]).expect("alive").current = 7.0;
    let delta = world.write_delta(place.file("delta"), &mark).expect("written");
    assert_eq!(delta.pieces_written(), 2, "the head and one block");
    let size = |name| std::fs::metadata(place.file(name)).expect("written").len();
    assert!(size("delta") * 5 < size("base"), "{} and {}", size("delta"), size("base"));
}

/// A value that counts how often it is written into a save.
#[derive(Component, serde::Deserialize)]
#[component(save)]
struct Written(u32);

static WRITTEN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

impl serde::Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WRITTEN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        serializer.serialize_newtype_struct("Written", &self.0)
    }
}

#[test]
fn a_delta_looks_at_the_blocks_that_were_written() {
    let place = Place::new("looked-at");
    let written = || WRITTEN.swap(0, std::sync::atomic::Ordering::Relaxed);
    let mut world = World::new();
    let all: Vec<Entity> = world.spawn_batch((0..10_000).map(Written)).collect();
    let mut mark = world.write_file(place.file("0")).expect("written");
    assert!(written() >= 10_000);
    // The same tick as that of the file: the caller cannot know, and looks.
    world.get_mut::<Written>(all[5_000]).expect("alive").0 = 1;
    mark = world.write_delta(place.file("1"), &mark).expect("written");
    assert_eq!((mark.pieces_written() > 1, written() > 0), (true, true));
    world.clear_trackers();
    mark = world.write_delta(place.file("2"), &mark).expect("written");
    written();
    world.clear_trackers();
    mark = world.write_delta(place.file("3"), &mark).expect("written");
    assert_eq!((mark.pieces_written(), written()), (1, 0), "nothing was written, and nothing is looked at");
    world.get_mut::<Written>(all[3]).expect("alive").0 = 2;
    world.clear_trackers();
    mark = world.write_delta(place.file("4"), &mark).expect("written");
    let once = written();
    assert!(mark.pieces_written() == 2 && (1_024..=2_048).contains(&once), "{once}");
    let mut types = phalanx::save::SaveRegistry::new();
    types.register::<Written>();
    let files = (0..5).map(|at| place.file(&at.to_string()));
    let read = World::read_files(files, &types).expect("read");
    let values = |world: &World| world.view::<&Written>().iter().map(|one| one.0).collect::<Vec<_>>();
    assert_eq!(values(&read), values(&world));
}

#[test]
fn a_delta_after_a_restore_holds_what_another_branch_wrote_at_the_same_tick() {
    let (place, types) = (Place::new("branches"), registry());
    let mut world = World::new();
    let all: Vec<Entity> =
        world.spawn_batch((0..3_000u16).map(|at| Health { current: 0.0, max: f32::from(at) })).collect();
    let start = world.checkpoint();
    let write = |world: &mut World, value: f32| {
        world.get_mut::<Health>(all[2_000]).expect("alive").current = value;
        (0..5).for_each(|_| world.clear_trackers());
    };
    write(&mut world, 1.0);
    let mark = world.write_file(place.file("base")).expect("written");
    world.restore(&start).expect("of this world");
    write(&mut world, 2.0);
    world.write_delta(place.file("delta"), &mark).expect("written");
    let read = World::read_files([place.file("base"), place.file("delta")], &types).expect("read");
    assert_eq!(read.get::<Health>(all[2_000]).expect("alive").current, 2.0);
}

#[test]
fn damage_is_found_and_said_where() {
    let (place, types) = (Place::new("damage"), registry());
    let mut world = World::new();
    let mut sim = Sim::new(3, &mut world);
    (0..80).for_each(|_| sim.step(&mut world));
    let path = place.file("save");
    world.write_file(&path).expect("written");
    let bytes = std::fs::read(&path).expect("read");
    let (mut random, mut located) = (Random::new(1), 0);
    for round in 0..400 {
        let mut bad = bytes.clone();
        if round % 2 == 0 {
            bad.truncate(random.below(bytes.len()));
        } else {
            bad[random.below(bytes.len())] ^= 1 << random.below(8);
        }
        std::fs::write(&path, &bad).expect("written");
        let error = World::read_file(&path, &types).map(|_| ()).expect_err("damaged");
        assert!(matches!(error, FileError::Load(_)) && error.to_string().contains("save"), "{error}");
        located += usize::from(error.to_string().contains("the piece at byte"));
    }
    assert!(located > 100, "only {located} of 200 flipped bits were said where");
    for short in [&b"PHA"[..], b"\xff\xff\xff", b""] {
        std::fs::write(&path, short).expect("written");
        assert!(World::read_file(&path, &types).is_err());
    }
}

#[test]
fn an_app_is_filled_before_its_first_frame() {
    let (place, types) = (Place::new("fill"), registry());
    let path = place.file("save");
    let mut saved = World::new();
    let mut sim = Sim::new(4, &mut saved);
    (0..200).for_each(|_| sim.step(&mut saved));
    saved.flush();
    saved.write_file(&path).expect("written");
    let mut app = App::new();
    app.add_systems(Update, |mut all: Query<&mut Health>| {
        all.iter_mut().for_each(|mut health| health.max += 1.0);
    });
    app.world_mut().fill_from_file(&path, &types).expect("an app has no entities yet");
    app.world().check().expect("whole");
    assert_eq!(app.world().entities().next_ids(1_000), saved.entities().next_ids(1_000));
    app.step(0.1);
    let sum = |world: &World| world.view::<&Health>().iter().map(|health| f64::from(health.max)).sum::<f64>();
    let count = saved.view::<&Health>().iter().count();
    assert_eq!(sum(app.world()), sum(&saved) + count as f64);
    let error = app.world_mut().fill_from_file(&path, &types).expect_err("it has entities by now");
    assert!(error.to_string().contains("has had entities"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_or_written_is_named() {
    let place = Place::new("named");
    let absent = place.file("absent").join("save");
    let read = World::read_file(&absent, &registry()).map(drop).expect_err("there is no such file");
    let written = World::new().write_file(&absent).map(drop).expect_err("there is no such folder");
    for error in [read, written] {
        assert!(matches!(&error, FileError::Io(error) if error.kind() == std::io::ErrorKind::NotFound));
        let named = format!("the file cannot be used: {}: ", absent.display());
        assert!(error.to_string().starts_with(&named), "{error}");
    }
}

const CHILD: &str = "PHALANX_SAVE_CHILD";

/// What the child of the next test does: it writes one world and then the other, whole and as deltas, without end. Once
/// it has done so for the first time it says so by a file.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Ok(place) = std::env::var(CHILD) else { return };
    let file = |name| PathBuf::from(&place).join(name);
    let (mut small, large) = (world_of(300), world_of(3_000));
    let base = small.write_file(file("base")).expect("written");
    for round in 0u32.. {
        small.write_file(file("save")).expect("written");
        small.write_delta(file("delta"), &base).expect("written");
        large.write_file(file("save")).expect("written");
        let odd = if round.is_multiple_of(2) { 1.0 } else { 2.0 };
        small.view_mut::<&mut Health>().iter_mut().for_each(|mut health| health.max = odd);
        small.write_delta(file("delta"), &base).expect("written");
        std::fs::write(file("started"), "").expect("written");
    }
}

fn world_of(count: u16) -> World {
    let mut world = World::new();
    world.spawn_batch((0..count).map(|at| Health { current: f32::from(at), max: 2.0 }));
    world
}

/// The files of a directory that are not finished.
fn unfinished(place: &Place) -> Vec<String> {
    let files = std::fs::read_dir(&place.0).expect("a directory");
    let names = files.map(|file| file.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".new")).collect()
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let (place, types) = (Place::new("kill"), registry());
    let (save, started) = (place.file("save"), place.file("started"));
    let mut random = Random::new(9);
    let this = std::env::current_exe().expect("a test has a file");
    let (mut whole, mut deltas, mut left) = ([0, 0], [0, 0], 0);
    let mut rounds = 0;
    // Both outcomes are met sooner or later, whatever the speed of the disk.
    while rounds < 25 || ([whole, deltas].concat().contains(&0) && rounds < 500) {
        rounds += 1;
        let _ = std::fs::remove_file(&started);
        let mut child = Command::new(&this)
            .args(["--exact", "files::child_that_writes_until_it_is_killed"])
            .env(CHILD, &place.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the test can start itself");
        while !started.exists() {
            assert!(child.try_wait().expect("it can be asked").is_none(), "the child ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_micros(random.below(30_000) as u64));
        child.kill().expect("it runs");
        child.wait().expect("it ran");
        let world = World::read_file(&save, &types).expect("one of the two files, whole");
        world.check().expect("whole");
        match world.entities().len() {
            300 => whole[0] += 1,
            3_000 => whole[1] += 1,
            other => panic!("{other} entities"),
        }
        let world = World::read_files([place.file("base"), place.file("delta")], &types).expect("both whole");
        let max: Vec<f32> = world.view::<&Health>().iter().map(|health| health.max).collect();
        assert!(max.len() == 300 && max.iter().all(|one| *one == max[0]), "a delta of two moments");
        deltas[usize::from(max[0] == 1.0)] += 1;
        // What one kill leaves, the next child clears up.
        let leftovers = unfinished(&place);
        assert!(leftovers.len() <= 1, "{leftovers:?}");
        left += leftovers.len();
    }
    assert!(!whole.contains(&0) && !deltas.contains(&0), "{whole:?} {deltas:?} of {rounds}");
    assert!(left > 0, "no kill met a write");
    world_of(1).write_file(place.file("base")).expect("written");
    world_of(1).write_file(place.file("delta")).expect("written");
    world_of(1).write_file(&save).expect("written");
    assert_eq!(unfinished(&place), [""; 0]);
}

#[test]
fn an_unfinished_file_of_another_process_is_not_touched() {
    let place = Place::new("leftovers");
    let names = ["save.12-3.new", "save.new", "save.old-3.new", "other.12-3.new", "save.13-0.new"];
    names.iter().for_each(|name| std::fs::write(place.file(name), "").expect("written"));
    let written = std::fs::File::open(place.file("save.13-0.new")).expect("open");
    written.lock().expect("locked");
    world_of(1).write_file(place.file("save")).expect("written");
    let mut left = unfinished(&place);
    left.sort_unstable();
    assert_eq!(left, ["other.12-3.new", "save.13-0.new", "save.new", "save.old-3.new"]);
}
