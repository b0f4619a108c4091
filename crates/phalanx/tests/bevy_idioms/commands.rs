//! `Commands` and `EntityCommands`, method by method.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Resource, Debug, PartialEq, Default)]
struct Score(i32);
#[derive(Message)]
struct Hit(i32);

fn world_with(health: i32) -> (World, Entity) {
    let mut world = World::new();
    let entity = world.spawn(Health(health)).id();
    (world, entity)
}

#[test]
fn commands_spawn() {
    let mut world = World::new();
    let entity = world.commands().spawn((Health(1), Armor(2))).insert(Health(4)).id();
    world.flush();
    assert_eq!(world.get::<Health>(entity), Some(&Health(4)));
    assert_eq!(world.get::<Armor>(entity), Some(&Armor(2)));
}

#[test]
fn commands_spawn_empty() {
    let mut world = World::new();
    let entity = world.commands().spawn_empty().id();
    world.flush();
    assert!(world.get_entity(entity).is_ok());
}

#[test]
fn commands_spawn_batch() {
    fn spawn(mut commands: Commands) {
        commands.spawn_batch((0..4).map(Health));
    }
    fn count(healths: Query<&Health>, mut score: ResMut<Score>) {
        score.0 = healths.iter().map(|health| health.0).sum();
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, (spawn, count).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 6);
}

#[test]
fn commands_entity() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).insert(Armor(3));
    world.flush();
    assert_eq!(world.get::<Armor>(entity), Some(&Armor(3)));
}

#[test]
fn commands_entity_of_the_dead_is_skipped() {
    let (mut world, entity) = world_with(1);
    world.despawn(entity);
    world.commands().entity(entity).insert(Armor(3));
    world.flush();
    assert!(world.get_entity(entity).is_err());
}

#[test]
fn commands_reborrow() {
    fn spawn(mut commands: Commands) {
        commands.spawn(Health(1));
    }
    let mut world = World::new();
    let mut commands = world.commands();
    spawn(commands.reborrow());
    let entity = commands.spawn_empty().id();
    world.flush();
    assert!(world.get_entity(entity).is_ok());
}

#[test]
fn commands_insert_resource() {
    let mut world = World::new();
    world.commands().insert_resource(Score(3));
    world.flush();
    assert_eq!(world.resource::<Score>(), &Score(3));
}

#[test]
fn commands_remove_resource() {
    let mut world = World::new();
    world.insert_resource(Score(3));
    world.commands().remove_resource::<Score>();
    world.flush();
    assert!(!world.contains_resource::<Score>());
}

#[test]
fn commands_write_message() {
    fn send(mut commands: Commands) {
        commands.write_message(Hit(3));
    }
    fn receive(mut hits: MessageReader<Hit>, mut score: ResMut<Score>) {
        score.0 += hits.read().map(|hit| hit.0).sum::<i32>();
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, (send, receive).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 3);
}

#[test]
fn commands_queue() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    world.commands().queue(|world: &mut World| {
        world.resource_mut::<Score>().0 += 1;
    });
    world.flush();
    assert_eq!(world.resource::<Score>().0, 2);
}

#[test]
fn entity_commands_id() {
    let (mut world, entity) = world_with(1);
    assert_eq!(world.commands().entity(entity).id(), entity);
}

#[test]
fn entity_commands_insert() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).insert(Health(2)).insert((Health(3), Armor(4)));
    world.flush();
    assert_eq!(world.get::<Health>(entity), Some(&Health(3)));
}

#[test]
fn entity_commands_insert_if_new() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).insert_if_new((Health(2), Armor(2)));
    world.flush();
    assert_eq!(world.get::<Health>(entity), Some(&Health(1)));
    assert_eq!(world.get::<Armor>(entity), Some(&Armor(2)));
}

#[test]
fn entity_commands_remove() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).remove::<Health>().remove::<Armor>();
    world.flush();
    assert_eq!(world.get::<Health>(entity), None);
}

#[test]
fn entity_commands_despawn() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).despawn();
    world.flush();
    assert!(world.get_entity(entity).is_err());
}

#[test]
fn entity_commands_try_insert() {
    let (mut world, entity) = world_with(1);
    let dead = world.spawn_empty().id();
    world.despawn(dead);
    world.commands().entity(dead).try_insert(Armor(1));
    world.commands().entity(entity).try_insert(Armor(1));
    world.flush();
    assert_eq!(world.get::<Armor>(entity), Some(&Armor(1)));
}

#[test]
fn entity_commands_try_insert_if_new() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).try_insert_if_new(Health(2));
    world.flush();
    assert_eq!(world.get::<Health>(entity), Some(&Health(1)));
}

#[test]
fn entity_commands_try_remove() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).try_remove::<Health>();
    world.flush();
    assert_eq!(world.get::<Health>(entity), None);
}

#[test]
fn entity_commands_try_despawn() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).try_despawn();
    world.commands().entity(entity).try_despawn();
    world.flush();
    assert!(world.get_entity(entity).is_err());
}

#[test]
fn entity_commands_queue() {
    let (mut world, entity) = world_with(1);
    world.commands().entity(entity).queue(|mut entity: EntityWorldMut| {
        entity.insert(Armor(7));
    });
    world.flush();
    assert_eq!(world.get::<Armor>(entity), Some(&Armor(7)));
}

fn score(mut score: ResMut<Score>) {
    score.0 += 1;
}

#[test]
fn commands_register_system() {
    let mut world = World::new();
    world.init_resource::<Score>();
    let id = world.commands().register_system(score);
    world.flush();
    world.run_system(id).unwrap();
    assert_eq!(world.resource::<Score>().0, 1);
}

#[test]
fn commands_run_system() {
    let mut world = World::new();
    world.init_resource::<Score>();
    let id = world.register_system(score);
    world.commands().run_system(id);
    world.commands().run_system(id);
    world.flush();
    assert_eq!(world.resource::<Score>().0, 2);
}

#[test]
fn commands_run_system_with() {
    let mut world = World::new();
    world.init_resource::<Score>();
    let id = world.register_system(|In(by): In<i32>, mut score: ResMut<Score>| score.0 += by);
    world.commands().run_system_with(id, 5);
    world.flush();
    assert_eq!(world.resource::<Score>().0, 5);
}

#[test]
fn commands_run_system_cached() {
    let mut world = World::new();
    world.init_resource::<Score>();
    world.commands().run_system_cached(score);
    world.flush();
    assert_eq!(world.resource::<Score>().0, 1);
}

#[test]
fn commands_unregister_system() {
    let mut world = World::new();
    world.init_resource::<Score>();
    let id = world.register_system(score);
    world.commands().unregister_system(id);
    world.flush();
    assert!(world.run_system(id).is_err());
}
