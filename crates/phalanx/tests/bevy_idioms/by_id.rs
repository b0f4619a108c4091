//! Values that come by the id of their type: bevy takes a pointer for them, and a promise; here they are boxed.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Resource, Debug, PartialEq, Default)]
struct Score(i32);

#[test]
fn entity_world_mut_insert_by_id() {
    let mut world = World::new();
    let (health, armor) = (world.register_component::<Health>(), world.register_component::<Armor>());
    let mut entity = world.spawn_empty();
    entity.insert_by_id(health, Box::new(Health(1))).unwrap();
    entity.insert_by_ids(&[armor, health], [Box::new(Armor(2)) as _, Box::new(Health(3)) as _]).unwrap();
    assert_eq!((entity.get::<Health>(), entity.get::<Armor>()), (Some(&Health(3)), Some(&Armor(2))));
    assert!(entity.insert_by_id(armor, Box::new(Health(4))).is_err());
}

#[test]
fn entity_commands_insert_by_id() {
    let mut world = World::new();
    let health = world.register_component::<Health>();
    let (entity, dead) = (world.spawn_empty().id(), world.spawn_empty().id());
    world.despawn(dead);
    world.commands().entity(entity).insert_by_id(health, Box::new(Health(1)));
    world.flush();
    assert_eq!(world.get::<Health>(entity), Some(&Health(1)));
    world.commands().entity(entity).try_insert_by_id(health, Box::new(Health(2)));
    world.commands().entity(dead).try_insert_by_id(health, Box::new(Health(2)));
    world.flush();
    assert_eq!(world.get::<Health>(entity), Some(&Health(2)));
}

#[test]
fn world_insert_resource_by_id() {
    let mut world = World::new();
    let id = world.init_resource::<Score>();
    let before = world.insert_resource_by_id(id, Box::new(Score(1))).unwrap().unwrap();
    assert_eq!(before.downcast_ref(), Some(&Score(0)));
    assert_eq!(world.resource::<Score>(), &Score(1));
}

#[test]
fn world_non_send_by_id() {
    let mut world = World::new();
    let id = world.init_non_send::<Vec<std::rc::Rc<i32>>>();
    world.insert_non_send_by_id(id, Box::new(vec![std::rc::Rc::new(1)])).unwrap();
    assert!(world.contains_non_send_by_id(id));
    let list = world.get_non_send_by_id(id).unwrap();
    assert_eq!(list.downcast_ref::<Vec<std::rc::Rc<i32>>>().unwrap().len(), 1);
    drop(list);
    world.get_non_send_mut_by_id(id).unwrap().downcast_mut::<Vec<std::rc::Rc<i32>>>().unwrap().clear();
    assert!(world.non_send::<Vec<std::rc::Rc<i32>>>().is_empty());
    assert!(world.remove_non_send_by_id(id) && !world.contains_non_send_by_id(id));
}
