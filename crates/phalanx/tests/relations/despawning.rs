//! Despawning along linked relations: collected first, announced from below, whole in spite of panics and handlers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use phalanx::prelude::*;
use phalanx::world::CascadeOrder;

#[derive(Component, Clone)]
struct Minion;

/// Panics when it is dropped.
#[derive(Component)]
struct Fuse;
impl Drop for Fuse {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the fuse");
        }
    }
}

/// A sparse one does the same.
#[derive(Component)]
#[component(storage = "sparse")]
struct SparseFuse(Fuse);

#[derive(Component)]
#[relationship(relationship_target = Stable)]
struct StandsIn(Entity);
#[derive(Component)]
#[relationship_target(relationship = StandsIn, linked_spawn)]
struct Stable(Vec<Entity>);

#[derive(Resource, Default)]
struct Heard(Vec<Entity>);

fn minions(world: &World) -> usize {
    world.view::<&Minion>().count()
}

/// An army, its two squads, and two minions of each, in the order of lists.
fn army(world: &mut World) -> Vec<Entity> {
    let army = world.spawn_empty().id();
    let mut all = vec![army];
    for _ in 0..2 {
        let squad = world.spawn(ChildOf(army)).id();
        all.push(squad);
        all.extend((0..2).map(|_| world.spawn((Minion, ChildOf(squad))).id()));
    }
    all
}

/// The ways in which a tree can be despawned; each takes the root.
const WAYS: [fn(&mut World, Entity); 5] = [
    |world, root| {
        world.despawn(root);
    },
    |world, root| {
        let other = world.spawn(Minion).id();
        assert_eq!(world.despawn_batch([root, other]), 2);
    },
    |world, root| {
        world.commands().entity(root).despawn();
        world.flush();
    },
    |world, root| {
        world.entity_mut(root).despawn_children();
        world.despawn(root);
    },
    |world, _| world.clear_entities(),
];

#[test]
fn a_tree_is_announced_from_below_the_last_first() {
    let mut world = World::new();
    world.init_resource::<Heard>();
    let parent = world.spawn_empty().id();
    let all = army(&mut world);
    world.insert(all[0], ChildOf(parent)).unwrap();
    world.add_observer(|on: On<Despawn<ChildOf>>, mut heard: ResMut<Heard>| heard.0.push(on.entity));
    world.despawn(all[0]);
    let backwards: Vec<Entity> = all.iter().rev().copied().collect();
    assert_eq!(world.resource::<Heard>().0, backwards);
    assert!(world.get::<Children>(parent).is_none());
}

#[test]
fn an_observer_that_spawns_into_a_tree_that_goes_does_not_keep_it_alive() {
    for way in WAYS {
        let mut world = World::new();
        let refused = Arc::new(Mutex::new(0));
        let count = Arc::clone(&refused);
        world.set_error_handler(move |_, error| {
            assert!(error.error.to_string().contains("does not exist"), "{error}");
            *count.lock().unwrap() += 1;
        });
        let all = army(&mut world);
        world.add_observer(|on: On<Remove<Minion>>, links: Query<&ChildOf>, mut commands: Commands| {
            if let Ok(link) = links.get(on.entity) {
                commands.spawn((Minion, ChildOf(link.parent())));
            }
        });
        way(&mut world, all[0]);
        assert!(all.iter().all(|&entity| !world.contains(entity)), "what was linked at first is gone");
        // Each that died with a living squad was replaced, and that one died with the squad; the next is refused.
        assert_eq!(world.view::<&ChildOf>().count(), 0);
        assert!(minions(&world) <= 4 && *refused.lock().unwrap() >= minions(&world));
        world.check().unwrap();
    }
}

#[test]
fn an_observer_that_spawns_into_the_root_ends() {
    let mut world = World::new();
    world.set_error_handler(phalanx::error::ignore);
    let all = army(&mut world);
    let root = all[0];
    world.add_observer(move |_: On<Remove<Minion>>, mut commands: Commands| {
        commands.spawn((Minion, ChildOf(root)));
    });
    world.despawn(root);
    assert!(all.iter().all(|&entity| !world.contains(entity)));
    assert_eq!((minions(&world), world.view::<&ChildOf>().count()), (4, 0), "the last ones live unlinked");
    world.check().unwrap();
}

#[test]
fn what_handlers_detach_meanwhile_goes_all_the_same() {
    let mut world = World::new();
    let all = army(&mut world);
    let (squad, last) = (all[1], all[6]);
    world.add_observer(move |on: On<Remove<Minion>>, mut commands: Commands| {
        if on.entity == last {
            commands.entity(squad).remove::<ChildOf>();
        }
    });
    world.despawn(all[0]);
    assert!(all.iter().all(|&entity| !world.contains(entity)));
    world.check().unwrap();
}

#[test]
fn a_drop_that_panics_keeps_no_entity_of_its_tree_alive() {
    for way in WAYS {
        for at in 0..7 {
            for (sparse, heard) in [(false, false), (false, true), (true, false), (true, true)] {
                let mut world = World::new();
                let outer = world.spawn_empty().id();
                let all = army(&mut world);
                world.insert(all[0], ChildOf(outer)).unwrap();
                if sparse {
                    world.insert(all[at], SparseFuse(Fuse)).unwrap();
                } else {
                    world.insert(all[at], Fuse).unwrap();
                }
                if heard {
                    world.add_observer(|_: On<Remove<Minion>>| {});
                }
                let outcome = catch_unwind(AssertUnwindSafe(|| way(&mut world, all[0])));
                assert!(outcome.is_err(), "the panic is passed on");
                world.flush();
                let left = all.iter().filter(|&&entity| world.contains(entity)).count();
                // `despawn_children` is a call of its own, which ends with the panic.
                let is_root_left =
                    left == 1 && world.contains(all[0]) && world.get::<Children>(all[0]).is_none();
                assert!(left == 0 || is_root_left, "{left} of the tree are left, {at} panicked");
                world.check().unwrap();
            }
        }
    }
}

#[test]
fn a_handler_that_panics_keeps_no_entity_of_its_tree_alive() {
    for way in WAYS {
        let mut world = World::new();
        let errors = Arc::new(Mutex::new(0));
        let count = Arc::clone(&errors);
        world.set_error_handler(move |_, _| *count.lock().unwrap() += 1);
        let all = army(&mut world);
        world.add_observer(|_: On<Remove<Minion>>| panic!("an observer"));
        world.register_component_hooks::<Minion>().on_remove(|_, _| panic!("a hook"));
        way(&mut world, all[0]);
        assert!(all.iter().all(|&entity| !world.contains(entity)));
        assert!(*errors.lock().unwrap() >= 8);
        world.check().unwrap();
    }
}

#[test]
fn a_command_of_a_handler_that_panics_keeps_no_entity_of_its_tree_alive() {
    let mut world = World::new();
    let all = army(&mut world);
    world.add_observer(|_: On<Remove<Minion>>, mut commands: Commands| {
        commands.queue(|_: &mut World| panic!("a command"));
    });
    let outcome = catch_unwind(AssertUnwindSafe(|| world.despawn(all[0])));
    assert!(outcome.is_err());
    world.flush();
    assert!(all.iter().all(|&entity| !world.contains(entity)));
    world.check().unwrap();
}

#[test]
fn a_latecomer_that_panics_keeps_no_other_latecomer_alive() {
    let mut world = World::new();
    let parent = world.spawn_empty().id();
    let child = world.spawn((Minion, ChildOf(parent))).id();
    world.add_observer(move |on: On<Remove<Minion>>, mut commands: Commands| {
        if on.entity == child {
            for at in 0..3 {
                let late = commands.spawn(ChildOf(parent)).id();
                if at == 1 {
                    commands.entity(late).insert(Fuse);
                }
            }
        }
    });
    assert!(catch_unwind(AssertUnwindSafe(|| world.despawn(parent))).is_err());
    assert_eq!(world.view::<Entity>().count(), 0);
    world.check().unwrap();
}

#[test]
fn the_list_of_the_parent_above_forgets_a_tree_without_listeners() {
    let mut world = World::new();
    let outer = world.spawn_empty().id();
    let trees = [(); 3].map(|()| army(&mut world));
    for tree in &trees {
        world.insert(tree[0], ChildOf(outer)).unwrap();
    }
    let mut order = CascadeOrder::<ChildOf>::default();
    order.update(&world);
    world.despawn(trees[1][0]);
    assert_eq!(world.get::<Children>(outer).unwrap()[..], [trees[0][0], trees[2][0]]);
    world.check().unwrap();
    order.update(&world);
    let mut walked = 0;
    world.view_mut::<Entity>().cascade(&order, |_, _| walked += 1);
    assert_eq!(walked, 15, "the order knows that links went");
}

#[test]
fn a_link_that_leads_out_of_a_tree_is_taken_away() {
    let mut world = World::new();
    let stable = world.spawn_empty().id();
    let all = army(&mut world);
    let horse = world.spawn(StandsIn(stable)).id();
    world.insert(all[2], StandsIn(stable)).unwrap();
    world.despawn(all[0]);
    assert!(all.iter().all(|&entity| !world.contains(entity)));
    assert_eq!(world.get::<Stable>(stable).unwrap().0, [horse]);
    world.check().unwrap();
    let all = army(&mut world);
    world.insert(all[2], StandsIn(all[4])).unwrap();
    world.insert(horse, StandsIn(all[1])).unwrap();
    world.despawn(all[4]);
    assert!(!world.contains(all[2]) && world.contains(all[1]) && world.contains(horse));
    world.despawn(all[1]);
    assert!(!world.contains(horse) && world.contains(all[0]));
    world.check().unwrap();
}

#[test]
fn hooks_of_a_relation_hear_of_a_whole_tree() {
    fn removed(mut world: DeferredWorld<'_>, context: HookContext) {
        world.resource_mut::<Heard>().0.push(context.entity);
    }
    let mut world = World::new();
    world.init_resource::<Heard>();
    world.register_component_hooks::<ChildOf>().on_remove(removed);
    let all = army(&mut world);
    world.despawn(all[0]);
    assert_eq!(world.resource::<Heard>().0.len(), 6);
}
