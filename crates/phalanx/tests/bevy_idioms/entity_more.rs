//! More of `EntityRef`, `EntityWorldMut` and `EntityMut`.

use std::any::TypeId;

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
#[component(track = "row")]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Component, Default)]
#[require(Armor)]
struct Knight;
#[derive(Resource, Debug, PartialEq, Default)]
struct Score(i32);

#[test]
fn entity_ref_components() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), Armor(2))).id();
    let entity = world.entity(entity);
    let (health, armor) = entity.components::<(&Health, &Armor)>();
    assert_eq!((health.0, armor.0), (1, 2));
    assert!(entity.get_components::<(&Health, Option<&Knight>)>().is_ok());
    assert!(entity.get_components::<&Knight>().is_err());
}

#[test]
fn entity_ref_get_ref() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let entity = world.entity(entity);
    assert!(entity.get_ref::<Health>().unwrap().is_added());
    let ticks = entity.get_change_ticks::<Health>().unwrap();
    assert_eq!(ticks.added, ticks.changed);
    let id = world.component_id::<Health>().unwrap();
    assert_eq!(entity.get_change_ticks_by_id(id), Some(ticks));
    assert_eq!(entity.get_by_id(id).unwrap().downcast_ref(), Some(&Health(1)));
}

#[test]
fn entity_ref_contains_type_id() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    assert!(world.entity(entity).contains_type_id(TypeId::of::<Health>()));
    assert!(!world.entity(entity).contains_type_id(TypeId::of::<Armor>()));
}

#[test]
fn entity_ref_archetype() {
    let mut world = World::new();
    let (a, b) = (world.spawn(Health(1)).id(), world.spawn(Health(2)).id());
    assert_eq!(world.entity(a).archetype(), world.entity(b).archetype());
}

#[test]
fn entity_world_mut_archetype() {
    let mut world = World::new();
    let entity = world.spawn(Health(1));
    assert_eq!(Some(entity.archetype()), entity.try_archetype());
    assert!(entity.contains_type_id(TypeId::of::<Health>()));
}

#[test]
fn entity_world_mut_into() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), Armor(2))).id();
    assert_eq!(world.entity_mut(entity).into_readonly().get::<Armor>(), Some(&Armor(2)));
    assert_eq!(world.entity_mut(entity).into_borrow::<Armor>(), Some(&Armor(2)));
    assert!(world.entity_mut(entity).into_ref::<Health>().unwrap().is_added());
    world.entity_mut(entity).into_mut::<Armor>().unwrap().0 = 5;
    world.entity_mut(entity).into_mutable().get_mut::<Armor>().unwrap().0 += 1;
    assert_eq!(world.entity_mut(entity).as_readonly().get::<Armor>(), Some(&Armor(6)));
    let (mut health, armor) =
        world.entity_mut(entity).into_components_mut::<(&mut Health, &Armor)>().unwrap();
    health.0 = armor.0;
    assert_eq!(world.get::<Health>(entity), Some(&Health(6)));
    let world = world.entity_mut(entity).into_world_mut();
    assert_eq!(world.entity_count(), 1);
}

#[test]
fn entity_world_mut_components() {
    let mut world = World::new();
    let mut entity = world.spawn((Health(1), Armor(2)));
    assert_eq!(entity.components::<&Armor>(), &Armor(2));
    assert_eq!(entity.get_components::<(&Health, &Armor)>().unwrap().0, &Health(1));
    let (mut health, mut armor) = entity.get_components_mut::<(&mut Health, &mut Armor)>().unwrap();
    std::mem::swap(&mut health.0, &mut armor.0);
    assert_eq!(entity.get::<Health>(), Some(&Health(2)));
    assert!(entity.get_ref::<Health>().is_some());
    assert!(entity.get_change_ticks::<Health>().is_some());
    let mut lent = entity.as_mutable();
    lent.get_mut::<Armor>().unwrap().0 = 9;
    assert_eq!(entity.get::<Armor>(), Some(&Armor(9)));
}

#[test]
fn entity_world_mut_modify_component() {
    let mut world = World::new();
    let mut entity = world.spawn(Armor(2));
    assert_eq!(entity.modify_component(|armor: &mut Armor| armor.0 * 2), Some(4));
    assert_eq!(entity.modify_component(|_: &mut Health| ()), None);
}

#[test]
fn entity_world_mut_by_id() {
    let mut world = World::new();
    let (health, armor) = (world.register_component::<Health>(), world.register_component::<Armor>());
    let id = world.spawn((Health(1), Armor(2))).id();
    let mut entity = world.entity_mut(id);
    assert!(entity.get_by_id(health).is_some() && entity.get_change_ticks_by_id(health).is_some());
    entity.get_mut_by_id(armor).unwrap().downcast_mut::<Armor>().unwrap().0 = 3;
    entity.modify_component_by_id(armor, |armor| armor.downcast_mut::<Armor>().unwrap().0 += 1);
    assert_eq!(entity.get::<Armor>(), Some(&Armor(4)));
    entity.remove_by_ids(&[health, armor]);
    assert!(!entity.contains::<Health>() && !entity.contains::<Armor>());
    assert!(world.entity_mut(id).into_borrow_by_id(armor).is_none());
    assert!(world.entity_mut(id).into_mut_by_id(armor).is_none());
}

#[test]
fn entity_world_mut_resources() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    let mut entity = world.spawn(Health(1));
    entity.resource_mut::<Score>().0 = 2;
    assert_eq!(entity.resource::<Score>(), &Score(2));
    entity.get_resource_mut::<Score>().unwrap().0 += 1;
    assert_eq!(entity.get_resource::<Score>(), Some(&Score(3)));
    entity.resource_scope(|entity, score: Mut<Score>| {
        entity.insert(Armor(score.0));
    });
    assert_eq!(entity.get::<Armor>(), Some(&Armor(3)));
    assert!(entity.try_resource_scope(|_, _: Mut<Score>| ()).is_some());
}

#[test]
fn entity_world_mut_remove_with_requires() {
    let mut world = World::new();
    let mut entity = world.spawn((Knight, Health(1)));
    assert!(entity.contains::<Armor>());
    entity.remove_with_requires::<Knight>();
    assert!(!entity.contains::<Knight>() && !entity.contains::<Armor>() && entity.contains::<Health>());
}

#[test]
fn entity_world_mut_world_scope() {
    let mut world = World::new();
    let mut entity = world.spawn(Health(1));
    let other = entity.world_scope(|world| world.spawn(Armor(1)).id());
    assert!(entity.is_spawned() && entity.world().get_entity(other).is_ok());
    entity.reborrow_scope(|entity| {
        assert!(entity.contains::<Health>());
        entity.despawn();
    });
    assert!(entity.is_despawned());
}

#[test]
fn entity_world_mut_commands() {
    let mut world = World::new();
    let mut entity = world.spawn(Health(1));
    entity.entity_commands().insert(Armor(4));
    let id = entity.flush();
    assert_eq!(world.get::<Armor>(id), Some(&Armor(4)));
}

#[test]
fn entity_world_mut_entry() {
    let mut world = World::new();
    let mut entity = world.spawn_empty();
    entity.entry::<Armor>().or_insert(Armor(1)).get_mut().0 += 1;
    let entry = entity.entry::<Armor>().and_modify(|mut armor| armor.0 *= 10);
    assert_eq!(entry.or_default().get(), &Armor(20));
    assert_eq!(entity.entry::<Armor>().or_insert_with(|| Armor(1)).take(), Armor(20));
    entity.entry::<Health>().insert_entry(Health(3)).into_mut().0 += 1;
    assert_eq!(entity.get::<Health>(), Some(&Health(4)));
}

#[test]
fn entity_mut_reads() {
    let mut world = World::new();
    let (health, armor) = (world.register_component::<Health>(), world.register_component::<Armor>());
    let (a, b) = (world.spawn((Health(1), Armor(2))).id(), world.spawn(Armor(7)).id());
    let [mut a, b] = world.entity_mut([a, b]);
    assert_ne!((a.id(), a.archetype()), (b.id(), b.archetype()));
    assert!(a.contains::<Health>() && !b.contains_id(health) && b.contains_id(armor));
    assert!(b.contains_type_id(TypeId::of::<Armor>()));
    assert_eq!(a.components::<(&Health, &Armor)>().1, b.get::<Armor>().map(|_| &Armor(2)).unwrap());
    assert!(b.get_components::<&Health>().is_err());
    assert!(a.get_ref::<Health>().unwrap().is_added());
    assert!(a.get_change_ticks::<Health>().is_some() && a.get_change_ticks_by_id(armor).is_none());
    assert_eq!(a.reborrow().into_borrow::<Armor>(), Some(&Armor(2)));
    assert!(a.into_ref::<Health>().is_some());
    assert_eq!(b.into_borrow::<Armor>(), Some(&Armor(7)));
}

// What one entity could reach of another, that one may write.
#[test]
fn entity_mut_does_not_reach_other_entities() {
    let mut world = World::new();
    let parent = world.spawn(Health(1)).id();
    let child = world.spawn((Health(2), ChildOf(parent))).id();
    let [child, mut parent] = world.entity_mut([child, parent]);
    let above = child.get_components::<Parent<ChildOf, &Health>>();
    parent.get_mut::<Health>().unwrap().0 += 1;
    assert!(above.is_err());
    assert!(child.as_readonly().get_components::<(&Health, Parent<ChildOf, &Health>)>().is_err());
}

#[test]
fn entity_mut_writes() {
    let mut world = World::new();
    let (a, b) = (world.spawn((Health(1), Armor(2))).id(), world.spawn(Armor(7)).id());
    let [mut first, second] = world.entity_mut([a, b]);
    first.get_mut::<Armor>().unwrap().0 += 1;
    let (mut health, armor) = first.get_components_mut::<(&mut Health, &Armor)>().unwrap();
    health.0 = armor.0;
    second.into_mut::<Armor>().unwrap().0 = 8;
    let health = first.into_components_mut::<&mut Health>().unwrap().into_inner();
    health.0 += 1;
    assert_eq!((world.get::<Health>(a), world.get::<Armor>(b)), (Some(&Health(4)), Some(&Armor(8))));
}
