//! Loading into a world that lives: remapping, updating, removing. Hazard 82.

use phalanx::prelude::*;
use phalanx::save::Loader;
use serde::{Deserialize, Serialize};

use super::cast::*;

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Squad")]
struct Squad {
    leader: Entity,
    nested: Vec<Option<(u8, Entity)>>,
}

fn load(loader: &mut Loader, world: &mut World, level: &World) -> phalanx::save::LoadedInto {
    let mut types = registry();
    types.register::<Squad>();
    let done = loader.load_into(world, &mut postcard::Deserializer::from_bytes(&to_postcard(level)), &types);
    world.check().expect("whole");
    let done = done.expect("loaded");
    let text = to_json(level);
    let again = loader.load_into(world, &mut serde_json::Deserializer::from_slice(&text), &types);
    assert_eq!(again.expect("loaded").spawned, 0, "the same save again changes nothing");
    world.check().expect("whole");
    done
}

#[test]
fn entity_fields_are_mapped_wherever_they_lie() {
    let mut level = World::new();
    let a = level.spawn(Frozen).id();
    let gone = level.spawn_empty().id();
    level.despawn(gone);
    let b = level.spawn(Squad { leader: a, nested: vec![None, Some((1, a)), Some((2, gone))] }).id();
    level.spawn(Armour { class: 1, given_by: b });
    level.insert_resource(Score { points: 1, leader: Some(b) });
    let schema = Schema::new("mod.Link").field("to", FieldType::Entity);
    let link = level.register_dynamic(schema.clone()).expect("the name is free");
    level.insert_dynamic(a, link, &[("to", b.into())]).expect("alive");

    let mut world = World::new();
    let strangers: Vec<Entity> = (0..10).map(|_| world.spawn(Frozen).id()).collect();
    world.despawn(strangers[4]);
    let mut loader = Loader::new();
    let done = load(&mut loader, &mut world, &level);
    assert_eq!((done.spawned, done.updated, done.despawned), (3, 0, 0));
    let (a, b) = (loader.get(a).expect("loaded"), loader.get(b).expect("loaded"));
    assert!(!strangers[..4].contains(&a) && !strangers[..4].contains(&b));
    let nested = vec![None, Some((1, a)), Some((2, Entity::PLACEHOLDER))];
    assert_eq!(world.get::<Squad>(b), Some(&Squad { leader: a, nested }));
    let armour = world.sparse::<Armour>();
    assert_eq!(armour.iter().map(|(_, armour)| *armour.given_by).collect::<Vec<_>>(), [b]);
    assert_eq!(world.resource::<Score>().leader, Some(b));
    let link = world.register_dynamic(schema).expect("the same schema");
    assert_eq!(world.get_field(a, link, "to"), Ok(b.into()));
    assert_eq!(world.entities().len(), 12);
}

#[test]
fn loaded_again_updates_and_removes() {
    let mut level = World::new();
    let a = level.spawn((Health { current: 1.0, max: 2.0 }, Burning(1.0), Frozen)).id();
    let b = level.spawn((Health { current: 3.0, max: 4.0 }, Mind::Hunting(a))).id();
    let mut world = World::new();
    world.spawn_empty();
    let mut loader = Loader::new();
    load(&mut loader, &mut world, &level);
    let (here_a, here_b) = (loader.get(a).expect("loaded"), loader.get(b).expect("loaded"));
    world.insert(here_a, Unsaved(5)).expect("alive");

    level.get_mut::<Health>(a).expect("alive").current = 9.0;
    level.remove::<(Burning, Frozen)>(a).expect("alive");
    level.despawn(b);
    let c = level.spawn(Seat("new".into())).id();
    let done = load(&mut loader, &mut world, &level);
    assert_eq!((done.spawned, done.updated, done.despawned), (1, 1, 1));
    assert_eq!(loader.get(a), Some(here_a), "a known entity stays the same");
    assert_eq!(world.get::<Health>(here_a), Some(&Health { current: 9.0, max: 2.0 }));
    assert!(world.get::<Burning>(here_a).is_none() && world.get::<Frozen>(here_a).is_none());
    assert_eq!(world.get::<Unsaved>(here_a), Some(&Unsaved(5)), "what the world added stays");
    assert!(!world.contains(here_b) && loader.get(b).is_none());
    assert_eq!(world.get::<Seat>(loader.get(c).expect("loaded")), Some(&Seat("new".into())));
}

#[test]
fn entities_of_pools_come_into_their_pools() {
    let mut level = World::new();
    let orc = level.spawn_in(Orcs { health: Health { current: 1.0, max: 2.0 }, rage: None, burning: None });
    let mut world = World::new();
    let mut loader = Loader::new();
    load(&mut loader, &mut world, &level);
    let orc = loader.get(orc).expect("loaded");
    assert_eq!(world.pool_of(orc), world.pool_id::<Orcs>());
}

/// The children of an entity, in order.
fn children(world: &World, parent: Entity) -> Vec<Entity> {
    world.get::<Children>(parent).map(|children| children.iter().collect()).unwrap_or_default()
}

#[test]
fn links_are_brought_up_to_date() {
    let mut level = World::new();
    let [root, other] = [(); 2].map(|()| level.spawn(Frozen).id());
    let all: Vec<Entity> = (0..4).map(|_| level.spawn(ChildOf(root)).id()).collect();
    let mut world = World::new();
    world.spawn_empty();
    let mut loader = Loader::new();
    load(&mut loader, &mut world, &level);
    let here = |loader: &Loader, saved: &[Entity]| -> Vec<Entity> {
        saved.iter().map(|&saved| loader.get(saved).expect("loaded")).collect()
    };
    assert_eq!(children(&world, loader.get(root).expect("loaded")), here(&loader, &all));

    // The world goes its own way: a child of its own, and a loaded one with another parent.
    let (root_here, other_here) = (loader.get(root).expect("loaded"), loader.get(other).expect("loaded"));
    let own = world.spawn(ChildOf(root_here)).id();
    let foster = world.spawn_empty().id();
    let moved = loader.get(all[1]).expect("loaded");
    world.insert(moved, ChildOf(foster)).expect("alive");

    // The level, too: one moves, one goes, one comes, and the order is another one.
    level.insert(all[0], ChildOf(other)).expect("alive");
    level.despawn(all[2]);
    let new = level.spawn(ChildOf(root)).id();
    level.entity_mut(root).insert_child(0, new);
    for _ in 0..2 {
        load(&mut loader, &mut world, &level);
        world.check().expect("whole");
        let mut expected = here(&loader, &[new, all[1], all[3]]);
        expected.push(own);
        assert_eq!(children(&world, root_here), expected);
        assert_eq!(children(&world, other_here), here(&loader, &[all[0]]));
        assert_eq!(children(&world, foster), []);
        assert!(world.contains(foster) && world.contains(own));
    }

    // No link is left in the save; the world's own one stays.
    for child in [all[0], all[1], all[3], new] {
        level.remove::<ChildOf>(child).expect("alive");
    }
    load(&mut loader, &mut world, &level);
    assert_eq!((children(&world, root_here), children(&world, other_here)), (vec![own], vec![]));
    // A parent that is gone takes the world's children along, as it does when it is despawned.
    level.despawn(root);
    load(&mut loader, &mut world, &level);
    assert!(!world.contains(root_here) && !world.contains(own));
    assert!(here(&loader, &[all[0], all[1], all[3], new]).iter().all(|&child| world.contains(child)));
    world.check().expect("whole");
}
