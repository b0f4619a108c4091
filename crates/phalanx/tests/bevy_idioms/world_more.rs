//! More of `World`: many entities at once, ids instead of types, requirements, values of one thread, the clock.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Resource, Debug, PartialEq, Default)]
struct Score(i32);
#[derive(Message, Debug, PartialEq, Default)]
struct Hit(i32);

#[test]
fn world_entity_count() {
    let mut world = World::new();
    world.spawn_batch([Health(1), Health(2)]);
    assert_eq!(world.entity_count(), 2);
}

#[test]
fn world_iter_entities() {
    let mut world = World::new();
    let entities = [world.spawn(Health(1)).id(), world.spawn_empty().id()];
    let found: Vec<Entity> = world.iter_entities().map(|entity| entity.id()).collect();
    assert_eq!(found, entities);
    for entity in world.iter_entities() {
        assert!(entity.contains::<Health>() || entity.id() == entities[1]);
    }
}

#[test]
fn world_inspect_entity() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), Armor(2))).id();
    let ids: Vec<_> = world.inspect_entity(entity).unwrap().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&world.component_id::<Armor>().unwrap()));
    world.despawn(entity);
    assert!(world.inspect_entity(entity).is_err());
}

#[test]
fn world_entity_of_several() {
    let mut world = World::new();
    let (a, b) = (world.spawn(Health(1)).id(), world.spawn(Health(2)).id());
    let [first, second] = world.entity([a, b]);
    assert_eq!((first.get::<Health>(), second.get::<Health>()), (Some(&Health(1)), Some(&Health(2))));
    let [mut first, second] = world.entity_mut([a, b]);
    first.get_mut::<Health>().unwrap().0 += second.get::<Health>().unwrap().0;
    assert_eq!(world.get::<Health>(a), Some(&Health(3)));
    let list = [a, b];
    assert_eq!(world.entity(&list[..]).len(), 2);
    assert!(world.get_entity_mut([a, a]).is_err());
    world.despawn(b);
    assert!(world.get_entity([a, b]).is_err());
}

#[test]
fn world_modify_component() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let before = world.modify_component(entity, |health: &mut Health| std::mem::replace(&mut health.0, 7));
    assert_eq!(before.unwrap(), Some(1));
    assert_eq!(world.modify_component(entity, |_: &mut Armor| ()).unwrap(), None);
    assert_eq!(world.get::<Health>(entity), Some(&Health(7)));
}

#[test]
fn world_modify_resource() {
    let mut world = World::new();
    world.insert_resource(Score(3));
    world.modify_resource(|score: &mut Score| score.0 += 1);
    assert_eq!(world.resource::<Score>(), &Score(4));
}

#[test]
fn world_despawn_all() {
    let mut world = World::new();
    world.spawn((Health(1), Armor(1)));
    let kept = world.spawn(Health(2)).id();
    world.despawn_all::<With<Armor>>();
    assert_eq!(world.iter_entities().map(|entity| entity.id()).collect::<Vec<_>>(), [kept]);
}

#[test]
fn world_despawn_all_where() {
    let mut world = World::new();
    world.spawn_batch((0..6).map(Health));
    world.despawn_all_where::<&Health, ()>(|health| health.0 % 2 == 0);
    assert_eq!(world.entity_count(), 3);
}

#[test]
fn world_non_send() {
    let mut world = World::new();
    world.insert_non_send(std::rc::Rc::new(3));
    world.init_non_send::<Vec<std::rc::Rc<i32>>>();
    assert!(world.contains_non_send::<std::rc::Rc<i32>>());
    assert_eq!(**world.non_send::<std::rc::Rc<i32>>(), 3);
    world.non_send_mut::<Vec<std::rc::Rc<i32>>>().push(std::rc::Rc::new(1));
    assert_eq!(world.get_non_send::<Vec<std::rc::Rc<i32>>>().unwrap().len(), 1);
    assert!(world.get_non_send_mut::<u8>().is_none());
    assert!(world.remove_non_send::<std::rc::Rc<i32>>().is_some());
    world.clear_non_send();
    assert!(!world.contains_non_send::<Vec<std::rc::Rc<i32>>>());
}

#[test]
fn world_clear_all() {
    let mut world = World::new();
    world.spawn(Health(1));
    world.insert_resource(Score(1));
    world.clear_resources();
    assert!(!world.contains_resource::<Score>());
    world.insert_resource(Score(2));
    world.clear_all();
    assert!(!world.contains_resource::<Score>() && world.entity_count() == 0);
}

#[test]
fn world_insert_batch_if_new() {
    let mut world = World::new();
    let (a, b) = (world.spawn(Health(1)).id(), world.spawn_empty().id());
    world.insert_batch_if_new([(a, Health(9)), (b, Health(9))]);
    assert_eq!((world.get::<Health>(a), world.get::<Health>(b)), (Some(&Health(1)), Some(&Health(9))));
}

#[test]
fn world_try_insert_batch() {
    let mut world = World::new();
    let (a, b) = (world.spawn_empty().id(), world.spawn_empty().id());
    assert!(world.try_insert_batch([(a, Health(1)), (b, Health(2))]).is_ok());
    assert!(world.try_insert_batch_if_new(vec![(a, Armor(1))]).is_ok());
    world.despawn(b);
    let error = world.try_insert_batch([(a, Health(5)), (b, Health(2))]).unwrap_err();
    assert_eq!(error.entities, [b]);
    assert_eq!(world.get::<Health>(a), Some(&Health(5)));
}

#[test]
fn world_write_messages() {
    let mut world = World::new();
    world.write_message_default::<Hit>();
    world.write_message_batch([Hit(1), Hit(2)]);
    fn read(mut hits: MessageReader<Hit>) -> i32 {
        hits.read().map(|hit| hit.0).sum()
    }
    assert_eq!(world.run_system_once(read).unwrap(), 3);
}

#[test]
fn world_change_ticks() {
    let mut world = World::new();
    let old = world.increment_change_tick();
    assert!(world.change_tick().is_after(old));
    assert_eq!(world.read_change_tick(), world.change_tick());
    world.insert_resource(Score(1));
    world.clear_trackers();
    assert!(!world.is_resource_changed::<Score>());
    assert!(world.last_change_tick_scope(old, |world| world.is_resource_changed::<Score>()));
    assert!(world.last_change_tick().is_after(old));
    assert!(world.get_resource_change_ticks::<Score>().unwrap().is_changed(old, world.change_tick()));
}

#[test]
fn world_register_required_components() {
    let mut world = World::new();
    world.register_required_components::<Armor, Health>();
    let entity = world.spawn(Armor(1)).id();
    assert_eq!(world.get::<Health>(entity), Some(&Health(0)));
    assert_eq!(world.get_required_components::<Armor>().unwrap(), [world.component_id::<Health>().unwrap()]);
    let armor = world.component_id::<Armor>().unwrap();
    assert_eq!(world.get_required_components_by_id(armor).unwrap().len(), 1);
    assert!(world.try_register_required_components::<Armor, Health>().is_err());
}

#[test]
fn world_register_required_components_with() {
    let mut world = World::new();
    world.register_required_components_with::<Armor, Health>(|| Health(50));
    assert!(world.try_register_required_components_with::<Health, Armor>(|| Armor(1)).is_err());
    let entity = world.spawn(Armor(1)).id();
    assert_eq!(world.get::<Health>(entity), Some(&Health(50)));
}

#[test]
fn world_get_by_id() {
    let mut world = World::new();
    let id = world.register_component::<Health>();
    let entity = world.spawn(Health(4)).id();
    assert_eq!(world.get_by_id(entity, id).unwrap().downcast_ref(), Some(&Health(4)));
    if let Some(health) = world.get_mut_by_id(entity, id).unwrap().downcast_mut::<Health>() {
        health.0 = 5;
    }
    let seen = world.modify_component_by_id(entity, id, |value| value.downcast_ref::<Health>().copied());
    assert_eq!(seen.unwrap(), Some(Some(Health(5))));
}

#[test]
fn world_resource_by_id() {
    let mut world = World::new();
    let id = world.init_resource::<Score>();
    assert_eq!(world.get_resource_by_id(id).unwrap().downcast_ref(), Some(&Score(0)));
    if let Some(score) = world.get_resource_mut_by_id(id).unwrap().downcast_mut::<Score>() {
        score.0 = 2;
    }
    world.modify_resource_by_id(id, |score| score.downcast_mut::<Score>().unwrap().0 += 1);
    assert!(world.is_resource_added_by_id(id) && world.is_resource_changed_by_id(id));
    assert!(world.get_resource_change_ticks_by_id(id).is_some());
    assert!(world.contains_resource_by_id(id));
    assert!(world.iter_resources().any(|(_, _, value)| value.downcast_ref() == Some(&Score(3))));
    for (_, _, value) in world.iter_resources_mut() {
        if let Some(score) = value.downcast_mut::<Score>() {
            score.0 = 9;
        }
    }
    assert_eq!(world.resource::<Score>(), &Score(9));
    assert!(world.remove_resource_by_id(id));
    assert!(!world.contains_resource::<Score>());
}

#[test]
fn world_spawn_at() {
    let mut world = World::new();
    let mut other = World::new();
    let entity = other.spawn_batch([Health(1), Health(2), Health(3)]).last().unwrap();
    assert_eq!(world.spawn_at(entity, Health(7)).unwrap().id(), entity);
    assert!(world.spawn_at(entity, Health(8)).is_err());
    world.despawn(entity);
    assert!(world.spawn_empty_at(entity).is_err());
    let first = other.spawn_empty().id();
    assert!(world.spawn_empty_at(first).is_ok());
}
