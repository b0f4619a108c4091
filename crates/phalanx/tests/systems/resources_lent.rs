//! How a world lends its resources: what counts as a write, and that a lent one comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

#[derive(Resource, Debug, PartialEq, Default)]
struct Score(u32);

#[derive(Component)]
#[component(storage = "SparseSet")]
struct Stunned;
#[derive(Component)]
#[component(storage = "Table")]
struct Place;

fn world() -> World {
    let mut world = World::new();
    world.insert_resource(Score(1));
    world.clear_trackers();
    world
}

#[test]
fn a_resource_that_is_lent_and_not_written_is_unchanged() {
    let mut world = world();
    assert_eq!(world.resource_mut::<Score>().0, 1);
    assert!(!world.resource_mut::<Score>().set_if_neq(Score(1)));
    world.resource_mut::<Score>().bypass_change_detection().0 = 2;
    world.resource_scope(|_, score: Mut<Score>| assert_eq!(score.0, 2));
    assert_eq!(world.get_resource_or_insert_with(|| Score(9)).0, 2);
    assert!(!world.is_resource_changed::<Score>());
    world.resource_scope(|_, mut score: Mut<Score>| score.0 = 3);
    assert!(world.is_resource_changed::<Score>() && !world.is_resource_added::<Score>());
}

#[test]
fn an_exclusive_system_sees_what_changed_since_its_last_run() {
    fn watch(world: &mut World, mut seen: Local<Vec<bool>>) {
        seen.push(world.is_resource_changed::<Score>());
        assert_eq!(world.resource_ref::<Score>().is_changed(), *seen.last().unwrap());
        if seen.len() == 3 {
            assert_eq!(*seen, [true, false, true]);
            world.insert_resource(Done);
        }
    }
    #[derive(Resource)]
    struct Done;
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, watch);
    app.step(0.0);
    app.step(0.0);
    app.world_mut().resource_mut::<Score>().0 += 1;
    app.step(0.0);
    assert!(app.world().contains_resource::<Done>());
}

#[test]
fn a_resource_comes_back_after_a_panic_in_its_scope() {
    let mut world = world();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        world.resource_scope(|_, mut score: Mut<Score>| {
            score.0 = 5;
            panic!("inside");
        });
    }));
    assert!(outcome.is_err());
    assert_eq!(world.resource::<Score>(), &Score(5));
}

#[test]
fn a_resource_that_is_inserted_in_its_own_scope_is_an_error_that_names_it() {
    let mut world = world();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        world.resource_scope(|world, _: Mut<Score>| {
            world.insert_resource(Score(9));
        });
    }));
    let text = outcome.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("Score` was inserted while `resource_scope` lent it"), "{text}");
    assert_eq!(world.resource::<Score>(), &Score(1));
}

#[test]
fn storage_is_named_as_in_bevy_or_in_small_letters() {
    let mut world = World::new();
    let sparse = world.register_component::<Stunned>();
    let table = world.register_component::<Place>();
    assert_eq!(world.components().get_info(sparse).unwrap().storage(), StorageKind::Sparse);
    assert_eq!(world.components().get_info(table).unwrap().storage(), StorageKind::Table);
}
