//! Paths of structural change that the model does not take: run-time components, values that panic, groups.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;

#[derive(Resource, Default)]
struct Log(Vec<String>);

fn log(mut world: DeferredWorld<'_>, line: &str) {
    world.resource_mut::<Log>().0.push(line.to_owned());
}

fn taken(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.resource_mut::<Log>().0)
}

#[test]
fn run_time_components_are_announced_in_tables_and_in_sets() {
    for kind in [StorageKind::Table, StorageKind::Sparse, StorageKind::Stable] {
        let mut world = World::new();
        world.init_resource::<Log>();
        let schema = Schema::new("mana").field("amount", FieldType::F32).storage(kind);
        let mana = world.register_dynamic(schema).unwrap();
        world
            .register_component_hooks_by_id(mana)
            .unwrap()
            .on_add(|world, _| log(world, "add"))
            .on_insert(|world, _| log(world, "insert"))
            .on_discard(|world, _| log(world, "discard"))
            .on_remove(|world, _| log(world, "remove"));
        let e = world.spawn_empty().id();
        world.insert_dynamic(e, mana, &[("amount", 2.0_f32.into())]).unwrap();
        assert_eq!(taken(&mut world), ["add", "insert"], "{kind:?}");
        world.insert_dynamic(e, mana, &[("amount", 3.0_f32.into())]).unwrap();
        assert_eq!(taken(&mut world), ["discard", "insert"], "{kind:?}");
        world.remove_by_id(e, mana).unwrap();
        assert_eq!(taken(&mut world), ["discard", "remove"], "{kind:?}");
        world.insert_dynamic(e, mana, &[]).unwrap();
        taken(&mut world);
        world.entity_mut(e).clear();
        assert_eq!(taken(&mut world), ["discard", "remove"], "{kind:?}");
    }
}

#[derive(Component)]
#[component(on_add = |world, _| log(world, "add"), on_insert = |world, _| log(world, "insert"))]
#[component(on_discard = |world, _| log(world, "discard"), on_remove = |world, _| log(world, "remove"))]
struct Watched(u32);

#[derive(Component)]
struct Explosive;
impl Drop for Explosive {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("boom");
        }
    }
}

#[test]
fn a_value_that_panics_in_its_drop_changes_nothing_about_what_is_announced() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let e = world.spawn((Watched(1), Explosive)).id();
    taken(&mut world);
    assert!(catch_unwind(AssertUnwindSafe(|| world.insert(e, (Watched(2), Explosive)))).is_err());
    assert_eq!(taken(&mut world), ["discard", "insert"]);
    assert!(catch_unwind(AssertUnwindSafe(|| world.remove::<(Watched, Explosive)>(e))).is_err());
    assert_eq!(taken(&mut world), ["discard", "remove"]);
    assert!(world.get::<Watched>(e).is_none());
    world.check().unwrap();
}

#[test]
fn a_required_value_that_cannot_be_made_leaves_the_watched_one_announced_as_there() {
    #[derive(Component)]
    #[require(Made = panic!("not today"))]
    struct Needy;
    #[derive(Component)]
    struct Made;
    let mut world = World::new();
    world.init_resource::<Log>();
    let e = world.spawn(Watched(1)).id();
    taken(&mut world);
    assert!(catch_unwind(AssertUnwindSafe(|| world.insert(e, (Watched(2), Needy)))).is_err());
    assert_eq!(taken(&mut world), ["discard", "insert"]);
    assert_eq!(world.get::<Watched>(e).map(|watched| watched.0), Some(1));
    world.check().unwrap();
}

#[test]
fn an_iterator_that_panics_leaves_the_spawned_ones_announced() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let bundles = (0..5).map(|n| if n == 3 { panic!("no more") } else { Watched(n) });
    assert!(catch_unwind(AssertUnwindSafe(|| world.spawn_batch(bundles).count())).is_err());
    let alive = world.entities().len();
    assert_eq!(taken(&mut world).len(), 2 * alive);
    world.check().unwrap();
}

#[test]
fn a_default_value_that_is_inserted_by_its_id_is_announced() {
    #[derive(Component, Default)]
    #[component(on_add = |world, _| log(world, "add mana"))]
    #[require(Bottle)]
    struct Mana;
    #[derive(Component, Default)]
    #[component(storage = "sparse", on_insert = |world, _| log(world, "insert bottle"))]
    struct Bottle;
    let mut world = World::new();
    world.init_resource::<Log>();
    let mana = world.register_component::<Mana>();
    let e = world.spawn_empty().id();
    world.insert_default(e, mana).unwrap();
    assert_eq!(taken(&mut world), ["add mana", "insert bottle"]);
    world.insert_default(e, mana).unwrap();
    assert!(taken(&mut world).is_empty());
}

// Hazard 71.
#[test]
fn restoring_a_checkpoint_announces_nothing() {
    static HEARD: AtomicU32 = AtomicU32::new(0);
    #[derive(Component, Clone, Debug, PartialEq)]
    #[component(on_insert = |_, _| { HEARD.fetch_add(1, Ordering::Relaxed); })]
    #[component(on_discard = |_, _| { HEARD.fetch_add(1, Ordering::Relaxed); })]
    struct Kept(u32);
    let mut world = World::new();
    let kept = world.spawn(Kept(1)).id();
    let checkpoint = world.checkpoint();
    world.insert(kept, Kept(2)).unwrap();
    world.despawn(kept);
    let heard = HEARD.swap(0, Ordering::Relaxed);
    assert_eq!(heard, 1 + 2 + 1);
    world.restore(&checkpoint).unwrap();
    assert_eq!(world.get::<Kept>(kept), Some(&Kept(1)));
    assert_eq!(HEARD.load(Ordering::Relaxed), 0);
    world.despawn(kept);
    assert_eq!(HEARD.load(Ordering::Relaxed), 1, "handlers are there as before");
    world.check().unwrap();
}

#[test]
fn a_batch_announces_those_that_are_heard_and_despawns_all_though_values_panic() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let silent: Vec<Entity> = (0..6).map(|_| world.spawn(Explosive).id()).collect();
    let heard = [world.spawn(Watched(1)).id(), world.spawn((Watched(2), Explosive)).id()];
    taken(&mut world);
    let batch: Vec<Entity> =
        silent[..2].iter().chain(&heard[..1]).chain(&silent[2..]).chain(&heard[1..]).copied().collect();
    let outcome = catch_unwind(AssertUnwindSafe(|| world.despawn_batch(batch.iter().copied())));
    assert!(outcome.is_err(), "the first panic is passed on");
    assert!(batch.iter().all(|&entity| !world.contains(entity)));
    assert_eq!(taken(&mut world), ["discard", "remove", "discard", "remove"]);
    assert_eq!(world.despawn_batch(batch), 0);
    world.check().unwrap();
}

#[test]
fn a_listener_that_comes_later_hears_of_entities_that_were_there() {
    #[derive(Component)]
    struct InTable;
    #[derive(Component)]
    #[component(storage = "sparse")]
    struct InSet;
    let mut world = World::new();
    world.init_resource::<Log>();
    let entities = [world.spawn(InTable).id(), world.spawn(InSet).id(), world.spawn((InTable, InSet)).id()];
    world.register_component_hooks::<InTable>().on_remove(|world, _| log(world, "table"));
    world.register_component_hooks::<InSet>().on_remove(|world, _| log(world, "set"));
    entities.iter().for_each(|&entity| assert!(world.despawn(entity)));
    assert_eq!(taken(&mut world), ["table", "set", "table", "set"]);
    world.check().unwrap();
}

thread_local! {
    /// How many clones or drops there are until one panics; none panics at zero.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

fn count_down(what: &str) {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    assert!(left != 1, "{what}");
}

#[test]
fn clones_that_are_cut_short_by_a_panic_are_announced_as_far_as_they_came() {
    #[derive(Component)]
    struct Frail;
    impl Clone for Frail {
        fn clone(&self) -> Self {
            count_down("no clone");
            Self
        }
    }
    #[derive(Component)]
    #[component(storage = "sparse")]
    struct FrailApart;
    impl Clone for FrailApart {
        fn clone(&self) -> Self {
            count_down("no clone");
            Self
        }
    }
    #[derive(Component, Clone)]
    struct Firm;

    let counts = |left: u32, handler_panics: bool| {
        let mut world = World::new();
        world.init_resource::<Log>();
        world.add_observer(|_: On<Add<Frail>>, mut log: ResMut<Log>| log.0.push("frail".into()));
        world.add_observer(|_: On<Add<FrailApart>>, mut log: ResMut<Log>| log.0.push("apart".into()));
        world.add_observer(|_: On<Add<Firm>>, mut log: ResMut<Log>| log.0.push("firm".into()));
        let template = world.spawn((Frail, FrailApart, Firm)).id();
        if handler_panics {
            world.add_observer(|_: On<Add<Firm>>| panic!("a handler panics as well"));
        }
        LEFT.set(left);
        let outcome = catch_unwind(AssertUnwindSafe(|| world.spawn_clones(template, 3).len()));
        LEFT.set(0);
        let told = taken(&mut world);
        let told = ["frail", "apart", "firm"].map(|name| told.iter().filter(|told| *told == name).count());
        let (frail, apart) = (world.view::<&Frail>().count(), world.view::<&FrailApart>().count());
        assert_eq!(told, [frail, apart, world.view::<&Firm>().count()], "{left} clones");
        world.check().unwrap();
        outcome.is_err_and(|panic| panic.downcast_ref::<String>().is_some_and(|text| text == "no clone"))
    };
    for handler_panics in [false, true] {
        let panics = (1..12).filter(|&left| counts(left, handler_panics)).count();
        assert!(panics > 5, "each of the three is cloned twice at least: {panics}");
    }
}

#[test]
fn a_drop_that_panics_tells_nobody_that_an_entity_matches_which_did_before() {
    #[derive(Component)]
    struct Fuse;
    impl Drop for Fuse {
        fn drop(&mut self) {
            count_down("no drop");
        }
    }
    #[derive(Component)]
    struct Lamp;
    #[derive(Component)]
    struct Wire;

    let mut world = World::new();
    world.init_resource::<Log>();
    world.add_observer(|_: On<Matched<(&Fuse, &Wire)>>, mut log: ResMut<Log>| log.0.push("both".into()));
    world
        .add_observer(|_: On<Unmatched<(&Fuse, &Wire)>>, mut log: ResMut<Log>| log.0.push("not both".into()));
    world.add_observer(|_: On<Matched<&Lamp>>, mut log: ResMut<Log>| log.0.push("lamp".into()));
    let e = world.spawn((Fuse, Wire, Lamp)).id();
    assert_eq!(taken(&mut world), ["both", "lamp"]);
    LEFT.set(1);
    catch_unwind(AssertUnwindSafe(|| world.remove::<Fuse>(e))).unwrap_err();
    assert_eq!(taken(&mut world), ["not both"]);
    assert!(world.get::<Fuse>(e).is_none());
}
