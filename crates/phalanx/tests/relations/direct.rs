//! Unobserved relations are kept without announcements: the same happens, step by step, as with listeners.

use std::sync::{Arc, Mutex};

use phalanx::component::DisabledByTree;
use phalanx::prelude::*;

use crate::random::Random;
use crate::steps::model_steps;

#[derive(Component, Clone, Debug, PartialEq)]
struct Mark(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[relationship(relationship_target = View)]
struct ViewOf(Entity);
#[derive(Component, Debug, PartialEq)]
#[relationship_target(relationship = ViewOf)]
struct View(Entity);

/// A bundle that does not tell its target.
#[derive(Bundle)]
struct Limb {
    mark: Mark,
    link: ChildOf,
}

#[derive(Resource, Default)]
struct Heard(u32);

type Errors = Arc<Mutex<Vec<String>>>;

fn world(observed: bool) -> (World, Errors) {
    let (mut world, errors) = (World::new(), Errors::default());
    let kept = Arc::clone(&errors);
    world.set_error_handler(move |_, error| kept.lock().unwrap().push(error.error.to_string()));
    world.init_resource::<Heard>();
    if observed {
        world.add_observer(|_: On<Insert<ChildOf>>, mut heard: ResMut<Heard>| heard.0 += 1);
        world.add_observer(|_: On<Add<Children>>, mut heard: ResMut<Heard>| heard.0 += 1);
        world.add_observer(|_: On<Remove<ViewOf>>, mut heard: ResMut<Heard>| heard.0 += 1);
    }
    (world, errors)
}

/// One change of a world, of entities by number.
fn step(world: &mut World, all: &mut Vec<Entity>, random: &mut Random) {
    let pick = |random: &mut Random, all: &[Entity]| all[random.below(all.len())];
    let (a, b) = (pick(random, all), pick(random, all));
    match random.below(14) {
        0 => all.push(world.spawn((Mark(1), ChildOf(b))).id()),
        1 => all.push(world.spawn(ChildOf(b)).id()),
        2 => all.extend(world.spawn_batch((0..3).map(|n| (Mark(n), ChildOf(b)))).collect::<Vec<_>>()),
        3 => drop(world.insert(a, ViewOf(b))),
        4 => drop(world.remove::<ChildOf>(a)),
        5 => drop(world.remove::<(Mark, ViewOf)>(a)),
        6 if random.below(4) == 0 => drop(world.despawn(a)),
        7 => drop(world.insert(a, (Mark(7), ChildOf(b)))),
        8 => {
            if let Ok(mut entity) = world.get_entity_mut(a) {
                entity.insert_if_new(ChildOf(b));
            }
        }
        10 => drop(world.insert(a, Limb { mark: Mark(8), link: ChildOf(b) })),
        11 => all.push(world.spawn(((Mark(3),), ((ChildOf(b),), ()))).id()),
        12 => {
            if let Ok(mut entity) = world.get_entity_mut(a) {
                entity.insert_if_new(Limb { mark: Mark(9), link: ChildOf(b) });
            }
        }
        9 => {
            world.commands().entity(a).insert(ChildOf(b));
            world.flush();
        }
        _ => drop(world.insert(a, ChildOf(b))),
    }
}

#[test]
fn quiet_and_observed_relations_are_kept_alike() {
    for seed in 0..model_steps(6, 20).min(20) as u64 {
        let mut worlds = [false, true].map(|observed| {
            let (mut world, errors) = world(observed);
            let all: Vec<Entity> = (0..6).map(|n| world.spawn(Mark(n)).id()).collect();
            (world, all, errors, Random::new(seed))
        });
        for at in 0..300 {
            for (world, all, _, random) in &mut worlds {
                step(world, all, random);
                world.check().unwrap_or_else(|error| panic!("seed {seed}, step {at}: {error}"));
            }
            let [(quiet, all, quiet_errors, _), (observed, others, errors, _)] = &worlds;
            assert_eq!(all, others);
            assert_eq!(*quiet_errors.lock().unwrap(), *errors.lock().unwrap(), "seed {seed}, step {at}");
            for &entity in all {
                let found = [quiet, observed].map(|world| {
                    let children = world.get::<Children>(entity).map(|children| children.to_vec());
                    let links = (world.get::<ChildOf>(entity).copied(), world.get::<ViewOf>(entity).cloned());
                    (world.contains(entity), links, children, world.get::<View>(entity).map(|view| view.0))
                });
                assert_eq!(found[0], found[1], "seed {seed}, step {at}, {entity}");
            }
        }
        let heard = worlds.each_ref().map(|(world, ..)| world.resource::<Heard>().0);
        assert!(heard[0] == 0 && heard[1] > 100, "{heard:?}");
    }
}

#[test]
fn a_listener_that_comes_later_hears_of_links_and_lists() {
    let (mut world, _) = world(false);
    let [parent, other] = [(); 2].map(|()| world.spawn(Mark(0)).id());
    let child = world.spawn((Mark(1), ChildOf(parent))).id();
    let heard = |world: &World| world.resource::<Heard>().0;
    let observer = world.add_observer(|_: On<Remove<Children>>, mut heard: ResMut<Heard>| heard.0 += 1);
    world.insert(child, ChildOf(other)).unwrap();
    assert_eq!(heard(&world), 1, "the list of the first parent went");
    world.remove_observer(observer);
    world.insert(child, ChildOf(parent)).unwrap();
    assert_eq!(heard(&world), 1);
    world.add_observer(|_: On<Add<ChildOf>>, mut heard: ResMut<Heard>| heard.0 += 10);
    world.spawn((Mark(2), ChildOf(parent)));
    world.spawn_batch([(Mark(3), ChildOf(parent))]);
    assert_eq!(heard(&world), 21);
    world
        .register_component_hooks::<Children>()
        .on_remove(|mut world, _| world.resource_mut::<Heard>().0 += 100);
    world.entity_mut(parent).detach_all_children();
    assert_eq!(heard(&world), 121);
    world.check().unwrap();
}

#[test]
fn a_link_marks_the_list_as_changed_and_no_other() {
    let (mut world, _) = world(false);
    let [one, other] = [(); 2].map(|()| world.spawn(Mark(0)).id());
    let children: Vec<Entity> = [one, one, other].map(|parent| world.spawn(ChildOf(parent)).id()).to_vec();
    let mut changed = world.query_filtered::<Entity, Changed<Children>>();
    let mut news = |world: &mut World| {
        let found: Vec<Entity> = changed.iter(world).collect();
        world.clear_trackers();
        found
    };
    news(&mut world);
    assert_eq!(news(&mut world), []);
    world.entity_mut(children[0]).remove::<ChildOf>();
    assert_eq!(news(&mut world), [one]);
    world.spawn(ChildOf(other));
    assert_eq!(news(&mut world), [other]);
}

/// What an observer of a child that is disabled does to it, before the change that caused it is done.
type Meddling = fn(Entity, [Entity; 2], &mut Commands);

// Being disabled with the tree is announced, so handlers run within the change of a link without listeners.
#[test]
fn handlers_that_hear_of_disabled_children_find_whole_lists() {
    let meddlings: [(&str, Meddling); 4] = [
        ("despawn", |child, _, commands| commands.entity(child).despawn()),
        ("relink", |child, [_, other], commands| _ = commands.entity(child).insert(ChildOf(other))),
        ("unlink", |child, _, commands| _ = commands.entity(child).remove::<ChildOf>()),
        ("despawn the parent", |_, [parent, _], commands| commands.entity(parent).despawn()),
    ];
    for (name, meddle) in meddlings {
        for batch in [false, true] {
            let (mut world, _) = world(false);
            let other = world.spawn(Mark(9)).id();
            let parent = world.spawn((Mark(0), DisabledTree)).id();
            world.add_observer(move |on: On<Add<DisabledByTree>>, mut commands: Commands| {
                meddle(on.entity, [parent, other], &mut commands);
            });
            if batch {
                world.spawn_batch((0..3).map(|n| (Mark(n), ChildOf(parent))));
            } else {
                world.spawn((Mark(1), ChildOf(parent)));
                let later = world.spawn(Mark(2)).id();
                world.insert(later, ChildOf(parent)).unwrap();
            }
            world.check().unwrap_or_else(|fault| panic!("{name}, batch {batch}: {fault}"));
            if name == "despawn the parent" {
                assert_eq!(world.view_filtered::<Entity, With<ChildOf>>().count(), 0, "batch {batch}");
            }
        }
    }
}

#[test]
fn a_handler_that_panics_leaves_a_link_that_is_listed() {
    let mut world = World::new();
    let parent = world.spawn((Mark(0), DisabledTree)).id();
    world.add_observer(|_: On<Add<DisabledByTree>>| panic!("not that one"));
    let child = world.spawn(Mark(1)).id();
    let insert = std::panic::AssertUnwindSafe(|| world.insert(child, ChildOf(parent)));
    assert!(std::panic::catch_unwind(insert).is_err(), "the error has no handler");
    world.check().unwrap();
    assert_eq!(world.get::<Children>(parent).unwrap().to_vec(), [child]);
}

#[test]
fn an_error_handler_may_link_entities_of_the_batch_that_it_hears_of() {
    let mut world = World::new();
    let [parent, other] = [(); 2].map(|()| world.spawn(Mark(0)).id());
    let dead = world.spawn(Mark(1)).id();
    world.despawn(dead);
    world.set_error_handler(move |world, _| {
        let waiting: Vec<Entity> = world.view_filtered::<Entity, With<ChildOf>>().into_iter().collect();
        for entity in waiting {
            world.insert(entity, ChildOf(other)).unwrap();
        }
    });
    let links = [dead, parent, parent].map(|target| (Mark(2), ChildOf(target)));
    let all: Vec<Entity> = world.spawn_batch(links).collect();
    world.check().unwrap();
    let mut listed = world.get::<Children>(other).unwrap().to_vec();
    listed.sort_unstable();
    assert_eq!(listed, all[1..]);
    assert!(world.get::<Children>(parent).is_none());
}
