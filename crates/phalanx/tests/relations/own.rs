//! Relations of the user: one-to-one, sets, data beside the target, cycles.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasherDefault;

use phalanx::entity::{EntityHashSet, EntityIndexSet};
use phalanx::prelude::*;
use phalanx::relation::EntityList;
use smallvec::SmallVec;

#[derive(Component, Debug, PartialEq)]
#[relationship(relationship_target = View)]
struct ViewOf(Entity);
#[derive(Component, Debug, PartialEq)]
#[relationship_target(relationship = ViewOf)]
struct View(Entity);

#[derive(Component, Debug)]
#[relationship(relationship_target = Crew)]
struct Serves {
    #[relationship]
    ship: Entity,
    pay: u32,
}
#[derive(Component, Debug)]
#[relationship_target(relationship = Serves)]
struct Crew(BTreeSet<Entity>);

#[derive(Component, Debug)]
#[relationship(relationship_target = FollowedBy, cyclic)]
struct Follows(Entity);
#[derive(Component, Debug)]
#[relationship_target(relationship = Follows, linked_spawn)]
struct FollowedBy(EntityList);

#[test]
fn the_later_one_takes_the_place_in_a_one_to_one_relation() {
    let mut world = World::new();
    let body = world.spawn_empty().id();
    let first = world.spawn(ViewOf(body)).id();
    assert_eq!(world.get::<View>(body), Some(&View(first)));
    let second = world.spawn(ViewOf(body)).id();
    assert_eq!(world.get::<View>(body), Some(&View(second)));
    assert!(world.get::<ViewOf>(first).is_none());
    world.check().unwrap();
    world.despawn(body);
    assert!(world.contains(second), "it is not linked");
    assert!(world.get::<ViewOf>(second).is_none());
    world.check().unwrap();
}

#[test]
fn data_beside_the_target_stays_when_the_target_changes() {
    let mut world = World::new();
    let [ship, wreck] = [(); 2].map(|()| world.spawn_empty().id());
    let cook = world.spawn(Serves { ship, pay: 3 }).id();
    world.entity_mut(wreck).add_one_related::<Serves>(cook);
    let serves = world.get::<Serves>(cook).unwrap();
    assert_eq!((serves.ship, serves.pay), (wreck, 3));
    assert!(world.get::<Crew>(ship).is_none());
    assert_eq!(world.get::<Crew>(wreck).unwrap().0, BTreeSet::from([cook]));
    world.entity_mut(wreck).with_related::<Serves>(());
    assert_eq!(world.get::<Crew>(wreck).unwrap().len(), 2);
    world.check().unwrap();
}

#[test]
fn cycles_are_allowed_where_they_are_declared() {
    let mut world = World::new();
    let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
    world.insert(a, Follows(b)).unwrap();
    world.insert(b, Follows(c)).unwrap();
    world.insert(c, Follows(a)).unwrap();
    world.check().unwrap();
    {
        let up = world.view::<&Follows>();
        assert_eq!(up.iter_ancestors::<Follows>(a).collect::<Vec<_>>(), [b, c]);
        assert_eq!(up.root_ancestor::<Follows>(a), c);
        let down = world.view::<&FollowedBy>();
        assert_eq!(down.iter_descendants::<FollowedBy>(a).collect::<Vec<_>>(), [c, b]);
        assert_eq!(down.iter_descendants_depth_first::<FollowedBy>(a).collect::<Vec<_>>(), [c, b]);
    }
    world.despawn(b);
    assert_eq!(world.entities().len(), 0, "all are linked to one another");
    world.check().unwrap();
}

#[test]
fn an_entity_may_follow_itself_where_cycles_are_allowed() {
    let mut world = World::new();
    let a = world.spawn_empty().id();
    world.insert(a, Follows(a)).unwrap();
    world.check().unwrap();
    assert_eq!(world.view::<&Follows>().iter_ancestors::<Follows>(a).count(), 0);
    assert!(world.despawn(a));
    world.check().unwrap();
}

#[test]
fn removing_the_list_takes_the_links() {
    let mut world = World::new();
    let ship = world.spawn_empty().id();
    let crew: Vec<Entity> = (0..5).map(|pay| world.spawn(Serves { ship, pay }).id()).collect();
    world.entity_mut(ship).remove::<Crew>();
    assert!(crew.iter().all(|&sailor| world.get::<Serves>(sailor).is_none()));
    world.check().unwrap();
}

#[test]
fn a_list_that_is_inserted_elsewhere_is_empty() {
    let mut world = World::new();
    let [a, b] = [(); 2].map(|()| world.spawn_empty().id());
    let child = world.spawn(ChildOf(a)).id();
    let list = world.get::<Children>(a).unwrap().clone();
    world.insert(b, list.clone()).unwrap();
    assert!(world.get::<Children>(b).is_none());
    assert_eq!(world.get::<ChildOf>(child), Some(&ChildOf(a)));
    world.insert(a, list).unwrap();
    assert_eq!(world.get::<Children>(a).unwrap()[..], [child]);
    world.check().unwrap();
    let taken = world.take::<Children>(a).unwrap();
    assert!(world.get::<ChildOf>(child).is_none());
    world.insert(b, taken).unwrap();
    assert!(world.get::<Children>(b).is_none());
    world.check().unwrap();
}

#[derive(Component, Debug)]
#[relationship(relationship_target = Herd)]
struct GrazesWith(Entity);
#[derive(Component, Debug)]
#[relationship_target(relationship = GrazesWith, linked_spawn)]
struct Herd(HashSet<Entity>);

#[derive(Component, Debug)]
#[relationship(relationship_target = Flock)]
struct FliesWith(Entity);
#[derive(Component, Debug)]
#[relationship_target(relationship = FliesWith)]
struct Flock(HashSet<Entity, BuildHasherDefault<DefaultHasher>>);

#[derive(Component, Debug)]
#[relationship(relationship_target = Pack)]
struct HuntsWith(Entity);
#[derive(Component, Debug)]
#[relationship_target(relationship = HuntsWith)]
struct Pack(EntityHashSet);

#[test]
fn a_set_of_entities_lists_sources() {
    let mut world = World::new();
    let wolf = world.spawn_empty().id();
    let pack: EntityHashSet = (0..40).map(|_| world.spawn(HuntsWith(wolf)).id()).collect();
    assert_eq!(world.get::<Pack>(wolf).unwrap().0, pack);
    pack.iter().for_each(|&other| drop(world.remove::<HuntsWith>(other)));
    assert!(world.get::<Pack>(wolf).is_none());
    world.check().unwrap();
}

#[derive(Component, Debug)]
#[relationship(relationship_target = Sailors)]
struct SailsOn(Entity);
#[derive(Component, Debug)]
#[relationship_target(relationship = SailsOn)]
struct Sailors(SmallVec<[Entity; 2]>);

#[derive(Component, Debug)]
#[relationship(relationship_target = Queue)]
struct WaitsFor(Entity);
#[derive(Component, Debug)]
#[relationship_target(relationship = WaitsFor, linked_spawn)]
struct Queue(EntityIndexSet);

#[test]
fn lists_of_other_crates_keep_the_order_of_sources() {
    let mut world = World::new();
    let [ship, clerk, other] = [(); 3].map(|()| world.spawn_empty().id());
    let sailors: Vec<Entity> = (0..5).map(|_| world.spawn((SailsOn(ship), WaitsFor(clerk))).id()).collect();
    assert_eq!(world.get::<Sailors>(ship).unwrap().0[..], sailors);
    assert!(world.get::<Queue>(clerk).unwrap().0.iter().eq(&sailors));
    world.entity_mut(sailors[1]).insert((SailsOn(other), WaitsFor(other)));
    world.entity_mut(sailors[3]).remove::<(SailsOn, WaitsFor)>();
    let left = [sailors[0], sailors[2], sailors[4]];
    assert_eq!(world.get::<Sailors>(ship).unwrap().0[..], left);
    assert!(world.get::<Queue>(clerk).unwrap().0.iter().eq(&left));
    world.check().unwrap();
    world.entity_mut(other).insert_related::<SailsOn>(0, &[sailors[4]]);
    assert_eq!(world.get::<Sailors>(other).unwrap().0[..], [sailors[4], sailors[1]]);
    world.despawn(clerk);
    assert!(left.iter().all(|&sailor| !world.contains(sailor)));
    assert_eq!(world.get::<Sailors>(other).unwrap().0[..], [sailors[1]]);
    assert!(world.get::<Sailors>(ship).is_none());
    world.check().unwrap();
}

#[test]
fn a_hash_set_lists_sources() {
    let mut world = World::new();
    let [shepherd, goose] = [(); 2].map(|()| world.spawn_empty().id());
    let sheep: HashSet<Entity> = (0..100).map(|_| world.spawn(GrazesWith(shepherd)).id()).collect();
    assert_eq!(world.get::<Herd>(shepherd).unwrap().0, sheep);
    let black = *sheep.iter().min().unwrap();
    world.entity_mut(black).remove::<GrazesWith>().insert(FliesWith(goose));
    assert_eq!(world.get::<Herd>(shepherd).unwrap().len(), 99);
    assert_eq!(world.get::<Flock>(goose).unwrap().iter().collect::<Vec<_>>(), [black]);
    world.check().unwrap();
    world.despawn(shepherd);
    assert_eq!(world.entities().len(), 2);
    world.despawn(black);
    assert!(world.get::<Flock>(goose).is_none());
    world.check().unwrap();
}
