//! What checkpoints cost, refuse and survive.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use phalanx::prelude::*;
use phalanx::world::RestoreError;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Position([f64; 3]);

#[derive(Component)]
struct Plain {
    value: u32,
}

#[derive(Component)]
enum PlainChoice {
    One(u32),
}

#[derive(Default)]
struct NotClone(#[expect(dead_code, reason = "it is in the way")] std::sync::atomic::AtomicU32);

#[derive(Component)]
struct Stubborn(NotClone);

#[derive(Resource)]
struct StubbornResource(NotClone);

#[derive(Message)]
struct StubbornMessage(NotClone);

#[derive(Component)]
struct Handle(u32);
impl Drop for Handle {
    fn drop(&mut self) {
        self.0 = 0;
    }
}

// Hazard 85.
#[test]
fn all_types_that_cannot_be_copied_are_named_at_the_first_checkpoint() {
    let mut world = World::new();
    world.register_component::<Stubborn>();
    world.register_component::<Handle>();
    world.register_component::<Plain>();
    world.register_component::<PlainChoice>();
    world.insert_resource(StubbornResource(NotClone::default()));
    world.write_message(StubbornMessage(NotClone::default()));
    let error = world.try_checkpoint().expect_err("four types cannot be copied");
    assert_eq!(error.types.len(), 4, "{error}");
    let text = error.to_string();
    for part in
        ["component `rewind::checkpoint::Stubborn`", "Handle", "StubbornResource", "StubbornMessage", "Clone"]
    {
        assert!(text.contains(part), "{text} does not name {part}");
    }
    assert!(!text.contains("Plain"));
    let panic = catch_unwind(AssertUnwindSafe(|| drop(world.checkpoint()))).expect_err("it panics");
    assert_eq!(panic.downcast_ref::<String>(), Some(&text));
}

#[derive(Component, Clone, Debug, PartialEq)]
struct Wrapped<T>(T);

#[derive(Resource, Clone, Debug, PartialEq)]
struct WrappedResource<T>(T);

#[derive(Resource)]
#[resource(checkpoint = "skip")]
struct Window(u32);

#[derive(Component, Default, Debug, PartialEq)]
#[component(checkpoint = "default")]
struct Cache(Vec<u8>, std::marker::PhantomData<Arc<AtomicBool>>);

#[test]
fn generic_types_are_registered_and_attributes_are_heard() {
    let mut world = World::new();
    let entity = world.spawn((Wrapped(3u32), Cache(vec![1], std::marker::PhantomData))).id();
    world.insert_resource(WrappedResource("a".to_owned()));
    world.insert_resource(Window(1));
    assert_eq!(world.try_checkpoint().expect_err("generic").types.len(), 2);
    world.register_checkpoint::<Wrapped<u32>>();
    world.register_checkpoint_of_resource::<WrappedResource<String>>();
    let checkpoint = world.checkpoint();
    world.get_mut::<Wrapped<u32>>(entity).expect("spawned").0 = 4;
    world.resource_mut::<WrappedResource<String>>().0.push('b');
    world.resource_mut::<Window>().0 = 2;
    world.restore(&checkpoint).expect("of this world");
    assert_eq!(world.get::<Wrapped<u32>>(entity), Some(&Wrapped(3)));
    assert_eq!(world.resource::<WrappedResource<String>>().0, "a");
    assert_eq!(world.resource::<Window>().0, 2, "left out");
    // Nothing was written since, so nothing is exchanged; what is, has the default.
    world.get_mut::<Cache>(entity).expect("spawned").0.push(2);
    world.restore(&checkpoint).expect("of this world");
    assert_eq!(world.get::<Cache>(entity), Some(&Cache::default()));
}

#[test]
fn a_checkpoint_of_another_world_is_refused() {
    let (mut one, mut other) = (World::new(), World::new());
    let checkpoint = one.checkpoint();
    assert_eq!(other.restore(&checkpoint), Err(RestoreError::OtherWorld));
}

/// A world of a million rows is too much for a debug build; the number of blocks is what counts.
fn rows(count: u32) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let ids = world.spawn_batch((0..count).map(|n| Position([f64::from(n); 3]))).collect();
    (world, ids)
}

#[test]
fn cost_follows_the_blocks_that_were_written() {
    const BLOCKS: usize = 100;
    let (mut world, ids) = rows(1024 * u32::try_from(BLOCKS).expect("small"));
    let first = world.checkpoint().stats();
    assert_eq!((first.copied_blocks, first.shared_blocks), (BLOCKS, 0));
    assert_eq!(world.checkpoint().stats().copied_blocks, 0, "nothing was written");
    for dirty in [1, 10, 50, 100] {
        for block in 0..dirty {
            world.get_mut::<Position>(ids[block * 1024]).expect("alive").0[0] += 1.0;
        }
        let stats = world.checkpoint().stats();
        assert_eq!((stats.copied_blocks, stats.shared_blocks), (dirty, BLOCKS - dirty));
        assert_eq!(stats.copied_bytes, dirty * 1024 * 24);
    }
    let before = world.checkpoint();
    world.get_mut::<Position>(ids[0]).expect("alive").0[1] = 5.0;
    world.restore(&before).expect("of this world");
    assert_eq!(world.checkpoint().stats().copied_blocks, 0, "as it was");
    world.despawn(ids[ids.len() - 1]);
    assert_eq!(world.checkpoint().stats().copied_blocks, 1);
    world.despawn(ids[0]);
    assert_eq!(world.checkpoint().stats().copied_blocks, 2, "the last row fills the gap");
}

// Hazard 83.
#[test]
fn restoring_older_then_newer_then_branching_keeps_ticks_right() {
    #[derive(Component, Clone, Debug, PartialEq)]
    #[component(track = "row")]
    struct Tracked(u32);
    let changed = |world: &World| {
        world.view_filtered::<&Tracked, Changed<Tracked>>().iter().map(|t| t.0).collect::<Vec<_>>()
    };
    let mut world = World::new();
    let ids: Vec<Entity> = (0..3).map(|n| world.spawn(Tracked(n)).id()).collect();
    world.clear_trackers();
    let old = world.checkpoint();
    world.increment_change_tick();
    world.get_mut::<Tracked>(ids[0]).expect("alive").0 = 10;
    let new = world.checkpoint();
    assert_eq!(changed(&world), [10]);
    world.restore(&old).expect("of this world");
    assert_eq!(changed(&world), [0; 0]);
    world.restore(&new).expect("of this world");
    assert_eq!(changed(&world), [10]);
    world.restore(&old).expect("of this world");
    // Another branch, in which the same ticks mean other writes.
    world.increment_change_tick();
    world.get_mut::<Tracked>(ids[1]).expect("alive").0 = 20;
    let branch = world.checkpoint();
    assert_eq!(changed(&world), [20]);
    world.restore(&new).expect("of this world");
    assert_eq!(changed(&world), [10]);
    assert_eq!(world.get::<Tracked>(ids[1]), Some(&Tracked(1)));
    world.restore(&branch).expect("of this world");
    assert_eq!((changed(&world), world.get::<Tracked>(ids[0])), (vec![20], Some(&Tracked(0))));
}

static CLONES: AtomicUsize = AtomicUsize::new(0);
static PANIC_IN_CLONE: AtomicBool = AtomicBool::new(false);

#[derive(Component, Debug, PartialEq)]
struct Fragile(u32, Arc<()>);
impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(!PANIC_IN_CLONE.load(Ordering::Relaxed) || self.0 != 7, "told to panic");
        CLONES.fetch_add(1, Ordering::Relaxed);
        Self(self.0, Arc::clone(&self.1))
    }
}

// Hazard 87.
#[test]
fn a_panic_in_clone_leaves_world_and_checkpoint_whole() {
    let count = Arc::new(());
    let mut world = World::new();
    let ids: Vec<Entity> = (0..20).map(|n| world.spawn(Fragile(n, Arc::clone(&count))).id()).collect();
    let values = |world: &World| world.view::<&Fragile>().iter().map(|one| one.0).collect::<Vec<_>>();
    let checkpoint = world.checkpoint();
    let before = values(&world);
    for &id in &ids[..5] {
        world.despawn(id);
    }
    let changed = values(&world);
    PANIC_IN_CLONE.store(true, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| world.restore(&checkpoint))).is_err());
    world.check().expect("whole");
    assert_eq!(values(&world), changed);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(world.checkpoint()))).is_err());
    world.check().expect("whole");
    assert_eq!(values(&world), changed);
    PANIC_IN_CLONE.store(false, Ordering::Relaxed);
    world.restore(&checkpoint).expect("of this world");
    world.check().expect("whole");
    assert_eq!(values(&world), before);
    drop((world, checkpoint));
    assert_eq!(Arc::strong_count(&count), 1);
}

#[derive(Component, Clone)]
struct PanicsInDrop(Arc<AtomicUsize>, bool);
impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert!(!self.1, "told to panic");
    }
}

// Hazard 87: what is dropped finds the world restored, and one panic spares no other value.
#[test]
fn panics_in_drop_are_passed_on_when_the_world_is_restored() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut world = World::new();
    world.register_component::<PanicsInDrop>();
    let checkpoint = world.checkpoint();
    for panics in [false, true, true, false] {
        world.spawn(PanicsInDrop(Arc::clone(&dropped), panics));
    }
    assert!(catch_unwind(AssertUnwindSafe(|| world.restore(&checkpoint))).is_err());
    assert_eq!(dropped.load(Ordering::Relaxed), 4);
    world.check().expect("whole");
    assert_eq!(world.entities().len(), 0);
    let next = world.spawn_empty().id();
    assert_eq!(next.index(), 0, "the ids to come are those of the checkpoint");
}

#[test]
fn a_world_is_restored_before_copies_are_dropped_that_only_its_last_checkpoint_had() {
    #[derive(Resource, Clone, Debug, PartialEq)]
    struct Turn(u32);
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut world = World::new();
    world.insert_resource(Turn(1));
    let entity = world.spawn((Plain { value: 1 }, PanicsInDrop(Arc::clone(&dropped), false))).id();
    let first = world.checkpoint();
    let other = world.spawn(PanicsInDrop(Arc::clone(&dropped), true)).id();
    drop(world.checkpoint());
    assert!(catch_unwind(AssertUnwindSafe(|| world.despawn(other))).is_err());
    world.resource_mut::<Turn>().0 = 2;
    world.get_mut::<Plain>(entity).expect("alive").value = 2;
    let before = dropped.load(Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| world.restore(&first))).is_err());
    assert_eq!(dropped.load(Ordering::Relaxed), before + 1, "the copy in the second checkpoint");
    world.check().expect("whole");
    assert_eq!(world.resource::<Turn>(), &Turn(1));
    assert_eq!(world.get::<Plain>(entity).map(|plain| plain.value), Some(1));
}

#[test]
fn archetypes_and_types_that_came_later_are_gone_or_empty() {
    #[derive(Component, Clone)]
    struct Late(Arc<()>);
    #[derive(Component, Clone)]
    #[component(storage = "sparse")]
    struct LateSparse(Arc<()>);
    #[derive(Resource, Clone)]
    struct LateResource;
    let count = Arc::new(());
    let mut world = World::new();
    let entity = world.spawn(Position([0.0; 3])).id();
    let (archetypes, checkpoint) = (world.archetypes().len(), world.checkpoint());
    let late = || (Late(Arc::clone(&count)), LateSparse(Arc::clone(&count)));
    world.entity_mut(entity).insert(late());
    world.spawn((Position([1.0; 3]), late()));
    world.insert_resource(LateResource);
    world.restore(&checkpoint).expect("of this world");
    world.check().expect("whole");
    assert_eq!(Arc::strong_count(&count), 1);
    assert_eq!((world.archetypes().len(), world.entities().len()), (archetypes, 1));
    assert!(!world.contains_resource::<LateResource>() && world.sparse::<LateSparse>().is_empty());
    world.entity_mut(entity).insert(late());
    assert_eq!(world.view::<(&Position, &Late, &LateSparse)>().count(), 1);
    world.check().expect("whole");
}

#[test]
fn dropped_archetypes_come_back_with_their_ids_and_order() {
    #[derive(Component, Clone)]
    struct A;
    #[derive(Component, Clone)]
    struct B;
    let mut world = World::new();
    let a = world.spawn((Position([0.0; 3]), A)).id();
    let b = world.spawn((Position([1.0; 3]), B)).id();
    let order = |world: &World| world.view_filtered::<Entity, With<Position>>().iter().collect::<Vec<_>>();
    let (before, checkpoint) =
        ((order(&world), world.archetype_of(a), world.archetype_of(b)), world.checkpoint());
    world.despawn(a);
    world.drop_empty_archetypes();
    world.spawn((Position([3.0; 3]), A, B));
    world.spawn((Position([2.0; 3]), A));
    world.restore(&checkpoint).expect("of this world");
    world.check().expect("whole");
    assert_eq!((order(&world), world.archetype_of(a), world.archetype_of(b)), before);
}

#[test]
fn digests_use_what_checkpoints_know() {
    let (mut world, ids) = rows(5000);
    let plain = world.digest();
    let _checkpoint = world.checkpoint();
    assert_eq!((world.digest(), world.digest()), (plain, plain));
    world.get_mut::<Position>(ids[4000]).expect("alive").0[2] = -1.0;
    let changed = world.digest();
    assert_ne!(changed, plain);
    world.get_mut::<Position>(ids[4000]).expect("alive").0[2] = 4000.0;
    assert_eq!(world.digest(), plain);
}

#[test]
fn relations_and_the_types_of_the_library_are_restored() {
    let mut world = World::new();
    let parent = world.spawn((Name::new("parent"), children![Name::new("one"), Name::new("two")])).id();
    let names = |world: &World| -> Vec<String> {
        let children = world.get::<Children>(parent).map(|children| children.to_vec()).unwrap_or_default();
        children.iter().filter_map(|&child| world.get::<Name>(child)).map(ToString::to_string).collect()
    };
    let (before, checkpoint) = (world.digest(), world.checkpoint());
    let first = world.get::<Children>(parent).expect("it has children")[0];
    world.despawn(first);
    let late = world.spawn((Name::new("late"), ChildOf(parent))).id();
    assert_eq!(names(&world), ["two", "late"]);
    world.restore(&checkpoint).expect("of this world");
    world.check().expect("whole");
    assert_eq!((names(&world), world.digest()), (vec!["one".to_owned(), "two".to_owned()], before));
    assert!(!world.contains(late));
    world.despawn(parent);
    assert_eq!(world.entities().len(), 0, "children die with their parent, as before");
    world.restore(&checkpoint).expect("of this world");
    assert_eq!(world.entities().len(), 3);
}

// The checkpoint shares its blocks with the base, and the table has no room for them any more.
#[test]
fn tables_that_were_emptied_and_shrunk_are_restored() {
    let (mut world, ids) = rows(5_000);
    let (kept, digest) = (world.checkpoint(), world.digest());
    assert!(ids.iter().all(|&id| world.despawn(id)));
    world.shrink_to_fit();
    world.restore(&kept).expect("of this world");
    world.check().expect("whole");
    assert_eq!(world.digest(), digest);
}

#[test]
fn a_restore_that_marks_tells_what_differs_from_before() {
    #[derive(Component, Clone, Debug)]
    #[component(track = "row")]
    struct Row(u32);
    #[derive(Component, Clone, Debug)]
    #[component(storage = "sparse", track = "row")]
    struct SparseRow(u32);
    #[derive(Component, Clone, Copy, Debug)]
    struct ByBlock(u32);
    #[derive(Component, Clone, Debug)]
    #[component(layout = "soa", track = "row")]
    struct Fields {
        a: u32,
        b: String,
    }
    #[derive(Resource, Clone, Debug)]
    struct One(u32);
    #[derive(Resource, Clone, Debug)]
    struct Other(u32);

    let mut world = World::new();
    let all: Vec<Entity> = world.spawn_batch((0..5_000).map(|at| (Row(at), ByBlock(at)))).collect();
    let sparse = world.spawn((SparseRow(1), Fields { a: 1, b: "b".into() })).id();
    let quiet = world.spawn((SparseRow(2), Fields { a: 2, b: "c".into() }, Row(0))).id();
    world.insert_resource(One(1));
    world.insert_resource(Other(1));
    world.clear_trackers();
    let before = world.checkpoint();
    let digest = world.digest();
    let changed = |world: &World| {
        let rows: Vec<Entity> = world.view_filtered::<Entity, Changed<Row>>().iter().collect();
        let sets: Vec<Entity> = world.view_filtered::<Entity, Changed<SparseRow>>().iter().collect();
        let fields: Vec<Entity> = world.view_filtered::<Entity, Changed<Fields>>().iter().collect();
        let resources = [
            world.get_resource_ref::<One>().unwrap().is_changed(),
            world.get_resource_ref::<Other>().unwrap().is_changed(),
        ];
        (rows, sets, fields, resources)
    };
    let nothing = (Vec::new(), Vec::new(), Vec::new(), [false, false]);
    let write = |world: &mut World| {
        world.get_mut::<Row>(all[3_000]).unwrap().bypass_change_detection().0 = 7;
        world.get_mut::<SparseRow>(sparse).unwrap().0 = 7;
        *world.get_mut::<Fields>(sparse).unwrap().b = "other".into();
        world.resource_mut::<One>().0 = 2;
        world.despawn(quiet);
    };
    write(&mut world);
    world.restore(&before).unwrap();
    assert_eq!(changed(&world), nothing, "as it was then");
    world.restore_marking(&before).unwrap();
    assert_eq!(changed(&world), nothing, "nothing differed");

    write(&mut world);
    world.restore_marking(&before).unwrap();
    world.check().unwrap();
    assert_eq!(world.digest(), digest);
    let (rows, sets, fields, resources) = changed(&world);
    // The block of the row that was written, and the entity that is back.
    let mut expected = all[2_048..3_072].to_vec();
    expected.push(quiet);
    assert_eq!(rows, expected);
    assert_eq!((sets, resources), (vec![sparse, quiet], [true, false]));
    assert_eq!(fields, [sparse, quiet]);
    // A checkpoint of the marked world has the marks; the one before has not.
    let marked = world.checkpoint();
    world.restore(&before).unwrap();
    assert_eq!(changed(&world), nothing);
    world.restore(&marked).unwrap();
    assert_eq!(changed(&world).0, expected);
}
