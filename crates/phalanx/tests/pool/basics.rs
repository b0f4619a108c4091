//! What pools do: spawning, the typed writer, order, handles, migration, statistics.
//!
//! The refusals of every other call are in `access.rs`.

use crate::common::pool_kinds::{
    Burning, Clan, Crowd, Elves, Frozen, Ghosts, Health, Name, Orcs, Position, Rage, Side, Wings, at, elf,
    ok, orc, position,
};
use phalanx::archetype::ArchetypeId;
use phalanx::pool::{Declares, PoolId, Strategy};
use phalanx::prelude::*;

// Z-004, Z-005, Z-014.
#[test]
fn slots_and_masks_are_constants() {
    const MASK: u64 = Orcs::REQUIRED;
    assert_eq!((MASK, Orcs::DECLARED), (0b111, 0b111_1111));
    assert_eq!(<Orcs as Declares<Position>>::SLOT, 0);
    assert_eq!(<Orcs as Declares<Burning>>::SLOT, 6);
    assert_eq!((Elves::STRATEGY, Elves::CAPACITY, Elves::name()), (Strategy::Boxed, 100, "the elves"));
    assert_eq!((Orcs::STRATEGY, Orcs::CAPACITY, Orcs::name()), (Strategy::Inline, 0, "Orcs"));
    assert_ne!(Crowd::<1>::name(), Crowd::<2>::name());
}

// Z-009, Z-013, Z-027, Z-029: components of every kind, in both strategies.
#[test]
fn spawn_in_gives_an_entity_with_exactly_the_fields_that_are_there() {
    let mut world = World::new();
    let plain = world.spawn_in(orc(1));
    let full = world.spawn_in(Orcs {
        rage: Some(Rage(5)),
        frozen: Some(Frozen),
        name: Some(Name("Gro".to_owned())),
        burning: Some(Burning(7)),
        ..orc(2)
    });
    let elf = world.spawn_in(Elves { burning: Some(Burning(1)), ..elf("Lin") });
    ok(&world);
    assert_eq!(world.get::<Position>(plain).map(|p| (*p.x, *p.y)), Some((1.0, 2.0)));
    assert_eq!(world.get::<Clan>(plain), Some(&Clan(1)));
    assert_eq!(world.entity(plain).component_ids().count(), 3);
    assert_eq!(world.get::<Rage>(full), Some(&Rage(5)));
    assert_eq!(world.get::<Name>(full).map(|name| name.0.as_str()), Some("Gro"));
    assert_eq!(world.get::<Burning>(full), Some(&Burning(7)));
    assert_eq!(world.entity(full).component_ids().count(), 7);
    assert_eq!(world.entity(elf).component_ids().count(), 3);
    assert_eq!(world.pool_of(plain), world.pool_id::<Orcs>());
    assert_eq!(world.pool_of(elf), world.pool_id::<Elves>());
    assert_ne!(world.pool_of(elf), Some(PoolId::GENERAL));
    // One row was written, none moved.
    assert_eq!(world.stats().moves, 0);
}

// Z-031, Z-032: the same set in two pools is two archetypes.
#[test]
fn archetypes_are_kept_apart_by_pool() {
    let mut world = World::new();
    let general = world.spawn(Frozen).id();
    let ghost = world.spawn_in(Ghosts { frozen: Some(Frozen), burning: None });
    let other = world.spawn_in(Ghosts { frozen: Some(Frozen), burning: Some(Burning(1)) });
    assert_ne!(world.archetype_of(general), world.archetype_of(ghost));
    assert_eq!(world.archetype_of(ghost), world.archetype_of(other));
    assert_eq!(world.archetypes().signature(world.archetype_of(ghost).unwrap()).len(), 1);
    let set = world.archetypes().signature(world.archetype_of(ghost).unwrap()).clone();
    assert_eq!(world.archetypes().find(&set), world.archetype_of(general));
    let pool = world.pool_id::<Ghosts>().unwrap();
    assert_eq!(world.archetypes().find_in(pool, &set), world.archetype_of(ghost));
    ok(&world);
}

#[test]
fn an_entity_of_a_pool_has_a_row_even_without_components() {
    let mut world = World::new();
    let ghost = world.spawn_in(Ghosts { frozen: None, burning: None });
    assert_ne!(world.archetype_of(ghost), Some(ArchetypeId::EMPTY));
    assert_eq!(world.view::<Entity>().iter().collect::<Vec<_>>(), [ghost]);
    let mut ghosts = world.pool_mut::<Ghosts>();
    ghosts.insert(ghost, Frozen).unwrap();
    assert!(ghosts.remove::<Frozen>(ghost).unwrap());
    assert!(!ghosts.remove::<Frozen>(ghost).unwrap());
    assert!(ghosts.contains(ghost));
    ok(&world);
    assert!(world.despawn(ghost));
    assert!(world.pool::<Ghosts>().is_empty());
    ok(&world);
}

// Z-074, Z-075.
#[test]
fn typed_insert_and_remove_stay_in_the_pool() {
    let mut world = World::new();
    let entity = world.spawn_in(orc(1));
    let pool = world.pool_of(entity);
    let mut orcs = world.pool_mut::<Orcs>();
    orcs.insert(entity, Rage(3)).unwrap();
    orcs.insert(entity, (Frozen, Burning(4), Health(9))).unwrap();
    assert_eq!(orcs.get::<Rage>(entity).unwrap(), &Rage(3));
    assert_eq!(orcs.get::<Health>(entity).unwrap(), &Health(9));
    orcs.get_mut::<Health>(entity).unwrap().0 += 1;
    assert_eq!(orcs.take::<Burning>(entity).unwrap(), Some(Burning(4)));
    assert_eq!(orcs.take::<Burning>(entity).unwrap(), None);
    assert!(orcs.remove::<Rage>(entity).unwrap());
    *orcs.get_mut::<position::x>(entity).unwrap() = 8.0;
    assert_eq!(orcs.archetypes().len(), 4);
    assert_eq!(world.pool_of(entity), pool);
    assert_eq!((world.get::<Health>(entity), world.get::<Rage>(entity)), (Some(&Health(10)), None));
    assert_eq!(world.get::<position::x>(entity), Some(&8.0));
    ok(&world);
}

#[test]
fn the_pool_tells_why_it_has_nothing_for_an_entity() {
    let mut world = World::new();
    let (orc, elf) = (world.spawn_in(orc(1)), world.spawn_in(elf("a")));
    let dead = world.spawn(Frozen).id();
    world.despawn(dead);
    let general = world.spawn(Health(1)).id();
    let orcs = world.pool_mut::<Orcs>();
    let text = |entity| orcs.get::<Rage>(entity).unwrap_err().to_string();
    assert_eq!(
        text(orc),
        format!(
            "entity {orc} has no `pool::common::pool_kinds::Rage` at present: insert it first, or query `Option`"
        )
    );
    assert_eq!(
        text(elf),
        format!("entity {elf} is in pool `the elves`, not in `Orcs`: ask that pool, or migrate it")
    );
    assert_eq!(
        text(general),
        format!("entity {general} is in pool `General`, not in `Orcs`: ask that pool, or migrate it")
    );
    assert!(text(dead).starts_with(&format!("entity {dead} is not alive")));
    assert!(orcs.handle(elf).is_err() && orcs.handle(dead).is_err());
    let mut orcs = world.pool_mut::<Orcs>();
    assert!(orcs.insert(elf, Frozen).is_err() && orcs.remove::<Rage>(elf).is_err());
    assert!(orcs.despawn(elf).is_err() && orcs.take::<Rage>(dead).is_err());
    assert!(orcs.get_mut::<Health>(general).is_err());
    assert!(orcs.despawn(orc).is_ok() && orcs.despawn(orc).is_err());
    assert_eq!(world.get::<Frozen>(elf), None);
    ok(&world);
}

// Z-028, Z-030: General is a pool like any other, that allows everything.
#[test]
fn general_is_the_pool_of_everything_else() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let empty = world.spawn_empty().id();
    world.spawn_in(orc(1));
    let mut general = world.pool_mut::<General>();
    general.insert(entity, Wings).unwrap();
    assert_eq!(general.get::<Health>(entity).unwrap(), &Health(1));
    assert!(general.remove::<Health>(entity).unwrap());
    let mut handle = general.handle(entity).unwrap();
    assert!(general.get::<Wings>(&mut handle).is_ok());
    assert_eq!(general.entities().collect::<Vec<_>>(), [entity, empty]);
    assert_eq!((general.len(), world.pool_id::<General>()), (2, Some(PoolId::GENERAL)));
    assert_eq!(world.pool::<General>().query::<Entity>().count(), 2);
}

#[test]
fn a_batch_spawns_in_runs_of_equal_components() {
    let mut world = World::new();
    let values = (0..50).map(|n| Elves { health: (n % 10 < 5).then_some(Health(n)), ..elf("x") });
    let entities: Vec<Entity> = world.spawn_batch_in(values).collect();
    assert_eq!(entities.len(), 50);
    for (n, &entity) in (0..).zip(&entities) {
        assert_eq!(world.get::<Health>(entity), (n % 10 < 5).then_some(&Health(n)));
    }
    assert_eq!(world.pool::<Elves>().archetypes().len(), 2);
    let crowd: Vec<Entity> =
        world.spawn_batch_in((0..3).map(|n| Crowd::<7> { side: Side, health: Some(Health(n)) })).collect();
    assert!(crowd.iter().all(|&entity| world.pool_of(entity) == world.pool_id::<Crowd<7>>()));
    assert_eq!(world.spawn_batch_in((0..4).map(orc)).len(), 4);
    assert_eq!(world.spawn_batch_in((0..0).map(orc)).len(), 0);
    ok(&world);
}

#[test]
fn instances_of_a_generic_pool_are_different_pools() {
    let mut world = World::new();
    let (one, two) = (world.register_pool::<Crowd<1>>(), world.register_pool::<Crowd<2>>());
    assert_ne!(one, two);
    assert_eq!(world.register_pool::<Crowd<1>>(), one);
    let entity = world.spawn_in(Crowd::<2> { side: Side, health: None });
    assert_eq!(world.pool_of(entity), Some(two));
    assert_eq!(world.view_filtered::<Entity, InPool<Crowd<1>>>().count(), 0);
    assert_eq!(world.view_filtered::<Entity, InPool<Crowd<2>>>().count(), 1);
}

#[test]
fn registration_reserves_the_rows_that_were_asked_for() {
    let mut world = World::new();
    world.register_pool::<Elves>();
    let archetypes = world.pool::<Elves>().archetypes().to_vec();
    assert_eq!(archetypes.len(), 1);
    let stats = world.stats();
    let stats = stats.archetypes.iter().find(|stats| stats.id == archetypes[0]).unwrap();
    assert!(stats.capacity >= 100 && stats.entities == 0);
    world.register_pool::<Orcs>();
    assert_eq!(world.pool::<Orcs>().archetypes(), []);
}

// Z-093, Z-094: dropping archetypes keeps both lists of a pool parallel, and in order.
#[test]
fn empty_archetypes_of_pools_are_dropped_and_come_again() {
    let mut world = World::new();
    let plain = world.spawn_in(orc(1));
    let angry = world.spawn_in(Orcs { rage: Some(Rage(1)), ..orc(2) });
    let cold = world.spawn_in(Orcs { frozen: Some(Frozen), ..orc(3) });
    assert_eq!(world.pool::<Orcs>().archetypes().len(), 3);
    world.despawn(angry);
    assert_eq!(world.drop_empty_archetypes(), 1);
    ok(&world);
    assert_eq!(world.pool::<Orcs>().query::<Entity>().iter().collect::<Vec<_>>(), [plain, cold]);
    let again = world.spawn_in(Orcs { rage: Some(Rage(1)), ..orc(4) });
    assert_eq!(world.pool::<Orcs>().entities().collect::<Vec<_>>(), [plain, cold, again]);
    assert_eq!(world.pool::<Orcs>().query::<Entity>().iter().collect::<Vec<_>>(), [plain, cold, again]);
    world.clear_entities();
    assert!(world.pool::<Orcs>().is_empty());
    assert_eq!(world.drop_empty_archetypes(), 3);
    assert_eq!(world.pool::<Orcs>().archetypes(), []);
    let entity = world.spawn_in(orc(9));
    assert_eq!(world.get::<Health>(entity), Some(&Health(9)));
    ok(&world);
}

#[derive(Component, Default, Debug, PartialEq)]
struct Weight(u32);
#[derive(Component, Default, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Noise(u32);
#[derive(Component)]
#[require(Weight(7), Noise(3))]
struct Armour;

#[derive(Pool)]
struct Knights {
    health: Health,
    armour: Option<Armour>,
    weight: Option<Weight>,
    noise: Option<Noise>,
}

#[derive(Pool)]
struct Careless {
    armour: Armour,
    weight: Weight,
}

#[test]
fn what_a_component_requires_comes_along_where_it_is_declared() {
    let mut world = World::new();
    let spawned =
        world.spawn_in(Knights { health: Health(1), armour: Some(Armour), weight: None, noise: None });
    let own = Some(Weight(1));
    let own = world.spawn_in(Knights { health: Health(1), armour: Some(Armour), weight: own, noise: None });
    let dressed = world.spawn_in(Knights { health: Health(1), armour: None, weight: None, noise: None });
    world.pool_mut::<Knights>().insert(dressed, Armour).unwrap();
    for (entity, weight) in [(spawned, 7), (own, 1), (dressed, 7)] {
        assert_eq!(world.get::<Weight>(entity), Some(&Weight(weight)));
        assert_eq!(world.get::<Noise>(entity), Some(&Noise(3)));
    }
    ok(&world);
}

#[test]
fn a_pool_that_forgets_a_requirement_is_refused_when_it_is_registered() {
    let mut world = World::new();
    let error = world.try_register_pool::<Careless>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "pool `Careless` declares `pool::basics::Armour`, which requires `pool::basics::Noise`: declare that as well"
    );
    assert_eq!(world.pool_id::<Careless>(), None);
    ok(&world);
}

// Z-016, Z-022, Z-023, Z-118.
#[test]
fn statistics_tell_what_a_pool_costs() {
    let mut world = World::new();
    world.spawn_in(orc(1));
    world.spawn_in(Orcs { rage: Some(Rage(1)), ..orc(2) });
    let stats = world.stats();
    let names: Vec<_> = stats.pools.iter().map(|pool| pool.name).collect();
    assert_eq!(names, ["General", "Orcs"]);
    let orcs = &stats.pools[1];
    assert_eq!((orcs.entities, orcs.archetypes.len(), orcs.record_bytes.len()), (2, 2, 2));
    assert_eq!(orcs.strategy, Strategy::Inline);
    assert!(orcs.mask_bytes >= 2 * size_of::<u64>());
    assert!(orcs.record_bytes.iter().all(|&bytes| bytes > 0));
    assert!(stats.to_string().contains("in pool Orcs (Inline): 2 archetypes"));
    assert_eq!(at(3.0), Position { x: 3.0, y: -3.0 });
}

#[test]
fn a_handle_of_general_reaches_sparse_parts_of_an_entity_without_a_row() {
    #[derive(Component, Debug, PartialEq)]
    #[component(storage = "sparse")]
    struct Alone(u32);
    let mut world = World::new();
    let entity = world.spawn(Alone(1)).id();
    let mut general = world.pool_mut::<General>();
    let mut handle = general.handle(entity).unwrap();
    general.get_mut::<Alone>(&mut handle).unwrap().0 += 1;
    assert_eq!(general.get::<Alone>(&mut handle), Ok(&Alone(2)));
    assert!(world.despawn(entity));
    assert!(world.pool_mut::<General>().get_mut::<Alone>(&mut handle).is_err());
}
