//! Indexes by value and names: right after every path that can write.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::world::NamedError;

use crate::random::Random;

#[derive(Component, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Faction(u32);

#[derive(Component, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[component(storage = "sparse")]
struct Rank(u32);

#[derive(Component, Clone, Debug, PartialEq, Eq, Hash)]
#[component(track = "none")]
struct Team(u32);

#[derive(Component, Clone)]
struct Frozen;

#[test]
fn an_index_is_right_after_every_path_that_writes() {
    let mut world = World::new();
    world.index_by::<Faction>();
    let all: Vec<Entity> = world.spawn_batch((0..3_000).map(|n| Faction(n % 3))).collect();
    assert_eq!(world.entities_with(&Faction(0)).len(), 1_000);
    world.get_mut::<Faction>(all[0]).unwrap().0 = 7;
    assert_eq!(world.entities_with(&Faction(7)), [all[0]]);
    for mut faction in world.view_mut::<&mut Faction>() {
        if faction.0 == 1 {
            faction.0 = 8;
        }
    }
    assert_eq!((world.entities_with(&Faction(1)).len(), world.entities_with(&Faction(8)).len()), (0, 1_000));
    for slice in world.view_mut::<&mut Faction>().chunks_mut() {
        slice[2].0 = 9;
    }
    assert_eq!(world.entities_with(&Faction(9)), [all[2]]);
    let id = world.component_id::<Faction>().unwrap();
    world.set_field(all[5], id, "0", Value::U32(10)).unwrap();
    assert_eq!(world.entities_with(&Faction(10)), [all[5]]);
    world.insert(all[6], Faction(11)).unwrap();
    world.insert(all[7], Frozen).unwrap();
    assert_eq!(world.entities_with(&Faction(11)), [all[6]]);
    world.despawn(all[6]);
    assert!(world.entities_with(&Faction(11)).is_empty());
    let successor = world.spawn(Faction(12)).id();
    assert_eq!(successor.index(), all[6].index());
    assert_eq!(world.entities_with(&Faction(12)), [successor]);
    world.remove::<Faction>(all[5]).unwrap();
    assert!(world.entities_with(&Faction(10)).is_empty());
}

#[test]
fn sparse_and_untracked_components_have_indexes_too() {
    let mut world = World::new();
    let all: Vec<Entity> = (0..10).map(|n| world.spawn((Rank(n), Team(n))).id()).collect();
    assert_eq!(world.entities_with(&Rank(3)), [all[3]]);
    assert_eq!(world.entities_with(&Team(3)), [all[3]]);
    world.get_mut::<Rank>(all[4]).unwrap().0 = 3;
    world.get_mut::<Team>(all[4]).unwrap().0 = 3;
    assert_eq!(world.entities_with(&Rank(3)), [all[3], all[4]]);
    assert_eq!(world.entities_with(&Team(3)), [all[3], all[4]]);
    assert_eq!(world.entities_in_range(Rank(8)..), [all[8], all[9]]);
}

#[test]
fn a_range_comes_in_the_order_of_values() {
    let mut world = World::new();
    let [a, b, c] = [5, 1, 3].map(|n| world.spawn(Faction(n)).id());
    assert_eq!(world.entities_in_range::<Faction>(..), [b, c, a]);
    assert_eq!(world.entities_in_range(Faction(2)..=Faction(3)), [c]);
    world.get_mut::<Faction>(c).unwrap().0 = 9;
    assert_eq!(world.entities_in_range::<Faction>(..), [b, a, c]);
}

#[test]
fn random_writes_agree_with_a_scan() {
    let (mut world, mut random) = (World::new(), Random::new(3));
    let mut alive: Vec<Entity> = Vec::new();
    for _ in 0..3_000 {
        match random.below(8) {
            0..3 => alive.push(world.spawn(Faction(random.below(6) as u32)).id()),
            3 if !alive.is_empty() => {
                world.despawn(alive.swap_remove(random.below(alive.len())));
            }
            4 if !alive.is_empty() => {
                let _ = world.insert(alive[random.below(alive.len())], Frozen);
            }
            5 if !alive.is_empty() => {
                let _ = world.remove::<Faction>(alive[random.below(alive.len())]);
            }
            6 if !alive.is_empty() => {
                let value = random.below(6) as u32;
                if let Some(mut faction) = world.get_mut::<Faction>(alive[random.below(alive.len())]) {
                    faction.0 = value;
                }
            }
            _ => {
                let mut scan: BTreeMap<u32, Vec<Entity>> = BTreeMap::new();
                for (entity, faction) in world.view::<(Entity, &Faction)>() {
                    scan.entry(faction.0).or_default().push(entity);
                }
                scan.values_mut().for_each(|entities| entities.sort_unstable());
                for value in 0..6 {
                    assert_eq!(world.entities_with(&Faction(value)), scan.remove(&value).unwrap_or_default());
                }
            }
        }
    }
}

#[test]
fn names_are_found_by_path_and_after_renaming() {
    let mut world = World::new();
    let ship =
        world.spawn((Name::new("ship"), children![(Name::new("engine"), children![Name::new("pump")])])).id();
    let car = world.spawn((Name::new("car"), children![Name::new("engine")])).id();
    assert_eq!(world.named("ship"), Ok(ship));
    let engine = world.named("ship/engine").unwrap();
    assert_eq!(world.get::<ChildOf>(engine), Some(&ChildOf(ship)));
    assert!(world.named("ship/engine/pump").is_ok() && world.named("ship/pump").is_err());
    let error = world.named("engine").unwrap_err();
    assert!(matches!(&error, NamedError::Several { entities, .. } if entities.len() == 2), "{error}");
    world.get_mut::<Name>(ship).unwrap().set("wreck");
    assert_eq!(world.named("ship"), Err(NamedError::Nobody { path: "ship".to_owned() }));
    assert_eq!(world.named("wreck/engine"), Ok(engine));
    world.entity_mut(car).add_child(engine);
    assert!(world.named("wreck/engine").is_err());
    for path in ["", "/", "car/", "/car", "car//engine"] {
        assert!(matches!(world.named(path), Err(NamedError::EmptyPart { .. })), "{path:?}");
    }
}

#[test]
fn relations_and_indexes_are_right_after_a_restore() {
    let mut world = World::new();
    let root = world.spawn((Faction(1), children![Faction(2), Faction(3)])).id();
    let children = world.get::<Children>(root).unwrap().to_vec();
    assert_eq!(world.entities_with(&Faction(2)), [children[0]]);
    let before = world.checkpoint();
    world.entity_mut(children[0]).remove::<ChildOf>().insert(Faction(9));
    world.despawn(children[1]);
    assert!(world.entities_with(&Faction(2)).is_empty());
    world.restore(&before).unwrap();
    world.check().unwrap();
    assert_eq!(world.get::<Children>(root).unwrap()[..], children);
    assert_eq!(world.entities_with(&Faction(2)), [children[0]]);
    assert!(world.entities_with(&Faction(9)).is_empty());
    world.despawn(root);
    assert_eq!(world.entities().len(), 0);
}
