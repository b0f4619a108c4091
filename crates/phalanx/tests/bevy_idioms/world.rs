//! `World`, method by method.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Bundle)]
struct Knight {
    health: Health,
    armor: Armor,
}
#[derive(Resource, Debug, PartialEq, Default)]
struct Score(i32);
#[derive(Message, Debug, PartialEq)]
struct Hit(i32);

#[test]
fn world_new() {
    let world = World::new();
    assert!(!world.contains_resource::<Score>());
    assert!(!World::default().contains_resource::<Score>());
}

#[test]
fn world_id() {
    assert_ne!(World::new().id(), World::new().id());
}

#[test]
fn world_spawn() {
    let mut world = World::new();
    let knight = world.spawn(Knight { health: Health(9), armor: Armor(3) }).id();
    let both = world.spawn((Health(1), Armor(2))).insert(Health(5)).id();
    assert_eq!(world.get::<Armor>(knight), Some(&Armor(3)));
    assert_eq!(world.get::<Health>(both), Some(&Health(5)));
}

#[test]
fn world_spawn_empty() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    assert_eq!(world.get::<Health>(entity), None);
    assert!(world.get_entity(entity).is_ok());
}

#[test]
fn world_spawn_batch() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..3).map(|i| (Health(i), Armor(i)))).collect();
    assert_eq!(world.get::<Health>(entities[2]), Some(&Health(2)));
    world.spawn_batch(vec![Health(1), Health(2)]);
}

#[test]
fn world_despawn() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    assert!(world.despawn(entity));
    assert!(!world.despawn(entity));
}

#[test]
fn world_try_despawn() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    assert!(world.try_despawn(entity).is_ok());
    assert!(world.try_despawn(entity).is_err());
}

#[test]
fn world_clear_entities() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    world.insert_resource(Score(4));
    world.clear_entities();
    assert!(world.get_entity(entity).is_err());
    assert_eq!(world.resource::<Score>(), &Score(4));
}

#[test]
fn world_entity() {
    let mut world = World::new();
    let entity = world.spawn(Health(7)).id();
    assert_eq!(world.entity(entity).get::<Health>(), Some(&Health(7)));
}

#[test]
#[should_panic(expected = "is not alive")]
fn world_entity_of_the_dead_panics() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    world.despawn(entity);
    world.entity(entity);
}

#[test]
fn world_entity_mut() {
    let mut world = World::new();
    let entity = world.spawn(Health(7)).id();
    world.entity_mut(entity).insert(Armor(1)).remove::<Health>();
    assert_eq!(world.get::<Health>(entity), None);
    assert_eq!(world.get::<Armor>(entity), Some(&Armor(1)));
}

#[test]
fn world_get_entity() {
    let mut world = World::new();
    let entity = world.spawn(Health(7)).id();
    assert_eq!(world.get_entity(entity).unwrap().id(), entity);
    world.despawn(entity);
    assert!(world.get_entity(entity).is_err());
}

#[test]
fn world_get_entity_mut() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    if let Ok(mut entity) = world.get_entity_mut(entity) {
        entity.insert(Health(2));
    }
    assert_eq!(world.get::<Health>(entity), Some(&Health(2)));
    world.despawn(entity);
    assert!(world.get_entity_mut(entity).is_err());
}

#[test]
fn world_get() {
    let mut world = World::new();
    let entity = world.spawn(Health(3)).id();
    assert_eq!(world.get::<Health>(entity).unwrap().0, 3);
    assert!(world.get::<Armor>(entity).is_none());
}

#[test]
fn world_get_mut() {
    let mut world = World::new();
    let entity = world.spawn(Health(3)).id();
    let mut health = world.get_mut::<Health>(entity).unwrap();
    health.0 += 1;
    assert_eq!(world.get::<Health>(entity), Some(&Health(4)));
}

#[test]
fn world_insert_batch() {
    let mut world = World::new();
    let a = world.spawn_empty().id();
    let b = world.spawn(Health(1)).id();
    world.insert_batch([(a, (Health(5), Armor(5))), (b, (Health(6), Armor(6)))]);
    assert_eq!(world.get::<Health>(b), Some(&Health(6)));
    assert_eq!(world.get::<Armor>(a), Some(&Armor(5)));
}

#[test]
fn world_register_component() {
    let mut world = World::new();
    let id = world.register_component::<Health>();
    assert_eq!(world.component_id::<Health>(), Some(id));
}

#[test]
fn world_component_id() {
    let mut world = World::new();
    assert!(world.component_id::<Health>().is_none());
    world.spawn(Health(1));
    assert!(world.component_id::<Health>().is_some());
}

#[test]
fn world_register_bundle() {
    let mut world = World::new();
    let _ = world.register_bundle::<Knight>();
    assert!(world.component_id::<Armor>().is_some());
}

#[test]
fn world_archetypes() {
    let mut world = World::new();
    let before = world.archetypes().len();
    world.spawn((Health(1), Armor(1)));
    assert!(world.archetypes().len() > before);
}

#[test]
fn world_commands() {
    let mut world = World::new();
    let entity = world.commands().spawn(Health(1)).id();
    world.flush();
    assert_eq!(world.get::<Health>(entity), Some(&Health(1)));
}

#[test]
fn world_flush() {
    let mut world = World::new();
    world.commands().insert_resource(Score(2));
    assert!(!world.contains_resource::<Score>());
    world.flush();
    assert!(world.contains_resource::<Score>());
}

#[test]
fn world_insert_resource() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    world.insert_resource(Score(2));
    assert_eq!(world.resource::<Score>(), &Score(2));
}

#[test]
fn world_init_resource() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    world.init_resource::<Score>();
    assert_eq!(world.resource::<Score>(), &Score(1));
}

#[test]
fn world_resource() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    let score: &Score = world.resource::<Score>();
    assert_eq!(score.0, 1);
}

#[test]
fn world_resource_mut() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    world.resource_mut::<Score>().0 += 4;
    assert_eq!(world.resource::<Score>().0, 5);
    world.clear_trackers();
    let mut score: Mut<Score> = world.resource_mut::<Score>();
    score.bypass_change_detection().0 = 6;
    assert!(!score.is_changed());
    score.set_changed();
    assert!(score.is_changed() && !score.is_added());
    assert!(score.set_if_neq(Score(7)));
}

#[test]
fn world_resource_ref() {
    let mut world = World::new();
    assert!(world.get_resource_ref::<Score>().is_none());
    world.insert_resource(Score(1));
    let score: Ref<Score> = world.resource_ref::<Score>();
    assert!(score.is_added() && score.is_changed());
    assert_eq!(score.0, 1);
}

#[test]
fn world_get_resource_or_insert_with() {
    let mut world = World::new();
    world.get_resource_or_insert_with(|| Score(1)).0 += 1;
    assert_eq!(world.get_resource_or_insert_with(|| Score(9)).0, 2);
}

#[test]
fn world_get_resource_or_init() {
    #[derive(Resource)]
    struct Double(i32);
    impl FromWorld for Double {
        fn from_world(world: &mut World) -> Self {
            Self(world.resource::<Score>().0 * 2)
        }
    }
    let mut world = World::new();
    world.insert_resource(Score(4));
    assert_eq!(world.get_resource_or_init::<Double>().0, 8);
}

#[test]
fn world_resource_scope() {
    let mut world = World::new();
    let scope = |world: &mut World, mut score: Mut<Score>| {
        assert!(!world.contains_resource::<Score>());
        score.0 += 1;
        world.spawn(Health(score.0)).id()
    };
    assert!(world.try_resource_scope(scope).is_none());
    world.insert_resource(Score(1));
    let entity = world.resource_scope(scope);
    assert_eq!(world.resource::<Score>().0, 2);
    assert!(world.contains(entity));
}

#[test]
fn world_is_resource_changed() {
    let mut world = World::new();
    assert!(!world.is_resource_changed::<Score>());
    world.insert_resource(Score(1));
    assert!(world.is_resource_added::<Score>() && world.is_resource_changed::<Score>());
    world.clear_trackers();
    assert!(!world.is_resource_changed::<Score>());
    world.resource_mut::<Score>().0 = 2;
    assert!(world.is_resource_changed::<Score>() && !world.is_resource_added::<Score>());
}

#[test]
fn world_get_resource() {
    let mut world = World::new();
    assert!(world.get_resource::<Score>().is_none());
    world.insert_resource(Score(1));
    assert_eq!(world.get_resource::<Score>(), Some(&Score(1)));
}

#[test]
fn world_get_resource_mut() {
    let mut world = World::new();
    assert!(world.get_resource_mut::<Score>().is_none());
    world.insert_resource(Score(1));
    world.get_resource_mut::<Score>().unwrap().0 = 8;
    assert_eq!(world.resource::<Score>().0, 8);
}

#[test]
fn world_contains_resource() {
    let mut world = World::new();
    assert!(!world.contains_resource::<Score>());
    world.init_resource::<Score>();
    assert!(world.contains_resource::<Score>());
}

#[test]
fn world_remove_resource() {
    let mut world = World::new();
    world.insert_resource(Score(3));
    assert_eq!(world.remove_resource::<Score>(), Some(Score(3)));
    assert_eq!(world.remove_resource::<Score>(), None);
}

#[test]
fn world_write_message() {
    fn read(mut hits: MessageReader<Hit>, mut score: ResMut<Score>) {
        score.0 += hits.read().map(|hit| hit.0).sum::<i32>();
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, read);
    app.world_mut().write_message(Hit(2));
    app.world_mut().write_message(Hit(3));
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 5);
}

#[test]
fn world_clear_trackers() {
    #[derive(Component)]
    #[component(track = "row")]
    struct Watched(i32);

    let mut world = World::new();
    let entity = world.spawn(Watched(1)).id();
    world.clear_trackers();
    assert!(!world.get_mut::<Watched>(entity).unwrap().is_changed());
    world.get_mut::<Watched>(entity).unwrap().0 = 2;
    assert!(world.get_mut::<Watched>(entity).unwrap().is_changed());
}

fn add_score(In(by): In<i32>, mut score: ResMut<Score>) -> i32 {
    score.0 += by;
    score.0
}

fn count_runs(mut runs: Local<u32>) -> u32 {
    *runs += 1;
    *runs
}

#[test]
fn world_register_system() {
    let mut world = World::new();
    let id: SystemId<(), u32> = world.register_system(count_runs);
    assert_eq!(world.run_system(id).unwrap(), 1);
}

#[test]
fn world_run_system() {
    let mut world = World::new();
    let id = world.register_system(count_runs);
    assert_eq!(world.run_system(id).ok(), Some(1));
    assert_eq!(world.run_system(id).ok(), Some(2));
}

#[test]
fn world_run_system_with() {
    let mut world = World::new();
    world.init_resource::<Score>();
    let id = world.register_system(add_score);
    assert_eq!(world.run_system_with(id, 3).unwrap(), 3);
    assert_eq!(world.run_system_with(id, 4).unwrap(), 7);
}

#[test]
fn world_unregister_system() {
    let mut world = World::new();
    let id = world.register_system(count_runs);
    assert!(world.unregister_system(id).is_ok());
    assert!(world.run_system(id).is_err());
}

#[test]
fn world_register_system_cached() {
    let mut world = World::new();
    assert_eq!(world.register_system_cached(count_runs), world.register_system_cached(count_runs));
}

#[test]
fn world_run_system_cached() {
    let mut world = World::new();
    assert_eq!(world.run_system_cached(count_runs).unwrap(), 1);
    assert_eq!(world.run_system_cached(count_runs).unwrap(), 2);
}

#[test]
fn world_run_system_cached_with() {
    let mut world = World::new();
    world.insert_resource(Score(10));
    assert_eq!(world.run_system_cached_with(add_score, 3).unwrap(), 13);
}

#[test]
fn world_unregister_system_cached() {
    let mut world = World::new();
    assert!(world.unregister_system_cached(count_runs).is_err());
    world.run_system_cached(count_runs).unwrap();
    assert!(world.unregister_system_cached(count_runs).is_ok());
    assert_eq!(world.run_system_cached(count_runs).unwrap(), 1);
}

#[test]
fn world_entities() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    assert!(world.entities().contains(entity));
}

#[test]
fn world_components() {
    let mut world = World::new();
    let id = world.register_component::<Health>();
    assert!(world.components().get_info(id).unwrap().name().contains("Health"));
}
