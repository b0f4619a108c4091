//! More of `Commands` and `EntityCommands`: named commands, conditions, entries, queues.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Component, Default)]
#[require(Armor)]
struct Knight;
#[derive(Resource, Debug, PartialEq, Default)]
struct Score(i32);

struct AddScore(i32);
impl Command for AddScore {
    type Out = ();
    fn apply(self, world: &mut World) {
        world.resource_mut::<Score>().0 += self.0;
    }
}

struct Heal(i32);
impl EntityCommand for Heal {
    type Out = Result<(), std::num::ParseIntError>;
    fn apply(self, mut entity: EntityWorldMut) -> Self::Out {
        if let Some(mut health) = entity.get_mut::<Health>() {
            health.0 += self.0;
        }
        "not a number".parse::<i32>().map(|_| ())
    }
}

fn knight() -> (World, Entity) {
    let mut world = World::new();
    world.init_resource::<Score>();
    let entity = world.spawn((Knight, Health(1))).id();
    (world, entity)
}

#[test]
fn commands_queue_named() {
    let (mut world, _) = knight();
    world.commands().queue(AddScore(3));
    world.commands().queue(AddScore(4).ignore_error());
    world.flush();
    assert_eq!(world.resource::<Score>().0, 7);
}

#[test]
fn commands_queue_handled() {
    let (mut world, _) = knight();
    let mut commands = world.commands();
    let failing = |_: &mut World| "x".parse::<i32>().map(|_| ());
    commands.queue_handled(failing, |world: &mut World, _| world.resource_mut::<Score>().0 = -1);
    commands.queue_silenced(failing);
    world.flush();
    assert_eq!(world.resource::<Score>().0, -1);
}

#[test]
fn commands_append() {
    let (mut world, _) = knight();
    let mut queue = CommandQueue::default();
    queue.push(AddScore(1));
    Commands::new(&mut queue, &world).queue(AddScore(2));
    let mut commands = world.commands();
    let mut other = CommandQueue::default();
    commands.rebound_to(&mut other).queue(AddScore(10));
    commands.append(&mut queue);
    commands.append(&mut other);
    assert!(queue.is_empty());
    world.flush();
    assert_eq!(world.resource::<Score>().0, 13);
}

#[test]
fn commands_get_entity() {
    let (mut world, entity) = knight();
    let dead = world.spawn_empty().id();
    world.despawn(dead);
    let mut commands = world.commands();
    let coming = commands.spawn_empty().id();
    assert!(commands.get_entity(entity).is_ok() && commands.get_entity(coming).is_ok());
    assert!(commands.get_entity(dead).is_err());
    assert!(commands.get_spawned_entity(coming).is_err() && commands.get_spawned_entity(entity).is_ok());
}

#[test]
fn commands_despawn_all() {
    let (mut world, _) = knight();
    world.spawn_batch((0..4).map(Health));
    world.commands().despawn_all::<With<Knight>>();
    world.commands().despawn_all_where::<&Health, ()>(|health| health.0 > 1);
    world.flush();
    assert_eq!(world.entity_count(), 2);
}

#[test]
fn commands_insert_batch() {
    let (mut world, entity) = knight();
    let mut commands = world.commands();
    commands.insert_batch(vec![(entity, Health(5))]);
    commands.insert_batch_if_new(vec![(entity, Health(6))]);
    commands.try_insert_batch([(entity, Armor(7))]);
    commands.try_insert_batch_if_new([(entity, Armor(8))]);
    world.flush();
    assert_eq!(
        (world.get::<Health>(entity), world.get::<Armor>(entity)),
        (Some(&Health(5)), Some(&Armor(7)))
    );
}

#[test]
fn commands_resources() {
    let mut world = World::new();
    world.commands().init_resource::<Score>();
    world.flush();
    world.clear_trackers();
    world.commands().insert_resource_if_neq(Score(0));
    world.flush();
    assert!(!world.is_resource_changed::<Score>());
    world.commands().insert_resource_if_neq(Score(1));
    world.flush();
    assert!(world.is_resource_changed::<Score>());
}

#[test]
fn entity_commands_conditions() {
    let (mut world, entity) = knight();
    let mut commands = world.commands();
    let mut entity_commands = commands.entity(entity);
    entity_commands.insert_if(Health(2), || true).insert_if(Health(3), || false);
    entity_commands.insert_if_new_and(Health(4), || true).try_insert_if(Armor(5), || true);
    entity_commands.try_insert_if_new_and(Armor(6), || true).insert_if_neq(Health(2));
    entity_commands.remove_if::<Knight>(|| false).try_remove_if::<Armor>(|| false);
    world.flush();
    assert_eq!(
        (world.get::<Health>(entity), world.get::<Armor>(entity)),
        (Some(&Health(2)), Some(&Armor(5)))
    );
}

#[test]
fn entity_commands_removals() {
    let (mut world, entity) = knight();
    let health = world.component_id::<Health>().unwrap();
    world.commands().entity(entity).remove_with_requires::<Knight>().remove_by_id(health);
    world.flush();
    assert_eq!(world.inspect_entity(entity).unwrap().count(), 0);
    world.commands().entity(entity).insert((Knight, Health(1))).retain::<Health>();
    world.flush();
    assert!(world.get::<Knight>(entity).is_none() && world.get::<Health>(entity).is_some());
    world.commands().entity(entity).log_components().clear();
    world.flush();
    assert!(world.get::<Health>(entity).is_none());
}

#[test]
fn entity_commands_entry() {
    let (mut world, entity) = knight();
    let mut commands = world.commands();
    let mut commands = commands.entity(entity);
    commands.entry::<Health>().and_modify(|mut health| health.0 += 1).or_insert(Health(100));
    commands.entry::<Armor>().or_default().and_modify(|mut armor| armor.0 += 3);
    commands.remove::<Knight>();
    commands.entry::<Knight>().or_from_world().entity().insert_if_neq(Armor(4));
    world.flush();
    assert_eq!(
        (world.get::<Health>(entity), world.get::<Armor>(entity)),
        (Some(&Health(2)), Some(&Armor(4)))
    );
}

#[test]
fn entity_commands_queue_named() {
    let (mut world, entity) = knight();
    world.commands().entity(entity).queue_silenced(Heal(1)).queue_handled(Heal(2), |world: &mut World, _| {
        world.resource_mut::<Score>().0 = 9;
    });
    world.flush();
    assert_eq!((world.get::<Health>(entity), world.resource::<Score>().0), (Some(&Health(4)), 9));
}

#[test]
fn entity_commands_reborrow() {
    let (mut world, entity) = knight();
    let mut commands = world.commands();
    let mut entity_commands = commands.entity(entity);
    entity_commands.reborrow().insert(Health(8));
    let other = entity_commands.commands().spawn(Armor(1)).id();
    world.flush();
    assert_eq!((world.get::<Health>(entity), world.get::<Armor>(other)), (Some(&Health(8)), Some(&Armor(1))));
}
