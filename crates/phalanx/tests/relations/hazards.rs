//! What must never go wrong with relations: dead ends, cycles, long chains, many children. Hazards 72 to 79; those of order,
//! disabling, indexes and names stand with their subjects.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use phalanx::prelude::*;
use phalanx::world::LinkError;

#[derive(Component, Clone, Debug, PartialEq)]
struct Mark(u32);

/// A world that keeps the texts of its errors.
fn world() -> (World, Arc<Mutex<Vec<String>>>) {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let mut world = World::new();
    let kept = Arc::clone(&errors);
    world.set_error_handler(move |_, error| kept.lock().unwrap().push(error.error.to_string()));
    (world, errors)
}

fn is_unlinked(world: &World, entity: Entity) -> bool {
    world.get::<ChildOf>(entity).is_none()
}

// Hazard 72.
#[test]
fn a_link_to_itself_is_refused() {
    let (mut world, errors) = world();
    let a = world.spawn_empty().id();
    world.insert(a, ChildOf(a)).unwrap();
    assert!(is_unlinked(&world, a) && world.get::<Children>(a).is_none());
    assert!(errors.lock().unwrap()[0].contains("point at itself"), "{errors:?}");
    world.check().unwrap();
}

// Hazards 72 and 79.
#[test]
fn a_link_to_a_dead_entity_is_refused() {
    let (mut world, errors) = world();
    let [dead, a] = [(); 2].map(|()| world.spawn(Mark(1)).id());
    world.despawn(dead);
    world.insert(a, ChildOf(dead)).unwrap();
    assert!(is_unlinked(&world, a));
    assert!(errors.lock().unwrap()[0].contains(&format!("{dead} does not exist")), "{errors:?}");
    let successor = world.spawn_empty().id();
    assert_eq!(successor.index(), dead.index(), "the index is used again");
    world.insert(a, ChildOf(dead)).unwrap();
    assert!(is_unlinked(&world, a) && world.get::<Children>(successor).is_none());
    world.check().unwrap();
}

#[test]
fn a_cycle_is_refused_and_named() {
    let (mut world, errors) = world();
    let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
    world.insert(b, ChildOf(a)).unwrap();
    world.insert(c, ChildOf(b)).unwrap();
    let error = world.check_link::<ChildOf>(a, c).unwrap_err();
    assert!(matches!(&error, LinkError::Cycle { path, .. } if *path == [a, c, b]), "{error:?}");
    world.insert(a, ChildOf(c)).unwrap();
    assert!(is_unlinked(&world, a));
    assert!(errors.lock().unwrap()[0].contains(&format!("{a} -> {c} -> {b} -> {a}")), "{errors:?}");
    world.check().unwrap();
}

#[test]
fn a_refused_link_names_the_insertion() {
    let (mut world, errors) = world();
    let kept = Arc::clone(&errors);
    world.set_error_handler(move |_, error| kept.lock().unwrap().push(error.to_string()));
    let a = world.spawn_empty().id();
    world.insert(a, ChildOf(a)).unwrap();
    let heard = errors.lock().unwrap();
    assert!(heard[0].starts_with("command `insert ChildOf` failed: "), "{heard:?}");
}

#[test]
fn a_cycle_made_by_commands_of_one_flush_is_refused() {
    let (mut world, errors) = world();
    let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
    let mut commands = world.commands();
    commands.entity(a).insert(ChildOf(b));
    commands.entity(b).insert(ChildOf(c));
    commands.entity(c).insert(ChildOf(a));
    world.flush();
    assert!(is_unlinked(&world, c));
    assert_eq!(errors.lock().unwrap().len(), 1);
    world.check().unwrap();
}

#[test]
fn no_handler_meets_a_cycle_before_its_link_is_refused() {
    let (mut world, errors) = world();
    let [a, b, c] = [(); 3].map(|()| world.spawn(Mark(1)).id());
    world.insert(b, ChildOf(a)).unwrap();
    world.insert(c, ChildOf(b)).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    world.add_observer(move |on: On<Insert<ChildOf>>, links: Query<&ChildOf>| {
        let above = links.iter_ancestors::<ChildOf>(on.entity).take(9).count();
        noted.lock().unwrap().push((links.get(on.entity).unwrap().parent(), above));
    });
    // Queued before the refusal: the walk that looks for a cycle must end.
    world.add_observer(move |on: On<Add<ChildOf>>, mut commands: Commands| {
        if on.entity == a {
            commands.spawn((Mark(2), children![Mark(3)])).insert(ChildOf(c));
        }
    });
    world.insert(a, ChildOf(c)).unwrap();
    assert!(is_unlinked(&world, a));
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], (Entity::PLACEHOLDER, 1), "a link that is refused has no target");
    assert!(seen.iter().all(|&(_, above)| above < 9), "{seen:?}");
    assert_eq!(errors.lock().unwrap().len(), 1);
    assert_eq!(world.get::<Children>(c).unwrap().len(), 1);
    world.check().unwrap();
}

#[test]
fn a_cycle_is_refused_while_the_list_of_its_target_waits() {
    let (mut world, errors) = world();
    let parent = world.spawn_empty().id();
    // Queued before the hook of the link queues the first list of the parent.
    world.add_observer(move |on: On<Add<ChildOf>>, mut commands: Commands| {
        if on.entity != parent {
            commands.entity(parent).insert(ChildOf(on.entity));
        }
    });
    let child = world.spawn(ChildOf(parent)).id();
    assert!(is_unlinked(&world, parent) && world.get::<Children>(child).is_none());
    assert_eq!(world.get::<Children>(parent).unwrap()[..], [child]);
    assert!(errors.lock().unwrap()[0].contains("close the cycle"), "{errors:?}");
    world.check().unwrap();
}

#[test]
fn the_first_link_of_a_world_is_kept_although_its_command_is_merged_with_others() {
    let (mut world, errors) = world();
    let parent = world.spawn_empty().id();
    let child = world.commands().spawn(Mark(1)).insert(ChildOf(parent)).id();
    world.flush();
    assert_eq!(world.get::<Children>(parent).unwrap()[..], [child]);
    world.check().unwrap();
    let (mut world, _) = self::world();
    let alone = world.spawn_empty().id();
    world.commands().entity(alone).insert(ChildOf(alone)).insert(Mark(1));
    world.flush();
    assert!(is_unlinked(&world, alone) && errors.lock().unwrap().is_empty());
    world.check().unwrap();
}

// Hazard 72.
#[test]
fn source_and_target_die_in_one_flush_in_either_order() {
    for first in [0, 1] {
        let (mut world, errors) = world();
        let [a, b] = [(); 2].map(|()| world.spawn_empty().id());
        let mut commands = world.commands();
        commands.entity(a).insert(ChildOf(b));
        let order = if first == 0 { [a, b] } else { [b, a] };
        order.into_iter().for_each(|entity| commands.entity(entity).despawn());
        world.flush();
        assert!(!world.contains(a) && !world.contains(b));
        assert!(errors.lock().unwrap().is_empty(), "{errors:?}");
        world.check().unwrap();
    }
}

// Hazard 72.
#[test]
fn a_target_that_dies_in_the_same_flush_takes_the_source_along() {
    let (mut world, _) = world();
    let [a, b] = [(); 2].map(|()| world.spawn_empty().id());
    let mut commands = world.commands();
    commands.entity(a).insert(ChildOf(b));
    commands.entity(b).despawn();
    world.flush();
    assert!(!world.contains(a) && !world.contains(b));
    let mut commands = world.commands();
    let parent = commands.spawn(Mark(1)).id();
    let child = commands.spawn(ChildOf(parent)).id();
    commands.entity(child).despawn();
    world.flush();
    assert!(world.get::<Children>(parent).is_none());
    world.check().unwrap();
}

#[test]
fn a_relation_can_be_removed_by_an_observer_of_itself() {
    let (mut world, errors) = world();
    let parent = world.spawn_empty().id();
    world.add_observer(|on: On<Insert<ChildOf>>, mut commands: Commands| {
        commands.entity(on.entity).remove::<ChildOf>();
    });
    let [first, second] = [(); 2].map(|()| world.spawn(ChildOf(parent)).id());
    assert!(is_unlinked(&world, first) && is_unlinked(&world, second));
    let batch: Vec<Entity> = world.spawn_batch([(); 3].map(|()| ChildOf(parent))).collect();
    assert!(batch.iter().all(|&child| is_unlinked(&world, child)));
    assert!(world.get::<Children>(parent).is_none() && errors.lock().unwrap().is_empty());
    world.check().unwrap();
    // One that goes on to link another one, whose link it removes as well, ends.
    world.add_observer(|on: On<Remove<ChildOf>>, links: Query<&ChildOf>, mut commands: Commands| {
        let parent = links.get(on.entity).unwrap().parent();
        commands.entity(parent).despawn();
    });
    world.insert(first, ChildOf(parent)).unwrap();
    assert!(is_unlinked(&world, first) && !world.contains(parent));
    world.check().unwrap();
}

#[test]
fn an_observer_of_the_first_link_finds_the_list_when_its_commands_run() {
    let (mut world, _) = world();
    let parent = world.spawn_empty().id();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    world.add_observer(move |on: On<Insert<ChildOf>>, lists: Query<&Children>, mut commands: Commands| {
        let child = on.entity;
        let now = lists.get(parent).is_ok_and(|list| list.contains(&child));
        let noted = Arc::clone(&noted);
        commands.queue(move |world: &mut World| {
            let later = world.get::<Children>(parent).is_some_and(|list| list.contains(&child));
            noted.lock().unwrap().push((now, later));
        });
    });
    (0..2).for_each(|_| {
        world.spawn(ChildOf(parent));
    });
    // A first list would change the structure of the world, which waits until the announced change is complete.
    assert_eq!(*seen.lock().unwrap(), [(false, true), (true, true)]);
}

#[test]
fn a_chain_of_reactions_without_an_end_leaves_both_halves_in_agreement() {
    let (mut world, errors) = world();
    world.add_observer(|on: On<Add<Mark>>, mut commands: Commands| {
        commands.spawn((Mark(1), ChildOf(on.entity)));
    });
    let root = world.spawn(Mark(0)).id();
    assert!(errors.lock().unwrap().iter().any(|text| text.contains("caused one another")), "{errors:?}");
    world.check().unwrap();
    world.despawn(root);
    assert_eq!(world.entities().len(), 0);
    world.check().unwrap();
}

#[test]
fn a_relation_can_be_removed_while_it_is_announced() {
    let (mut world, _) = world();
    world.register_component_hooks::<Mark>().on_add(|mut world, context| {
        world.commands().entity(context.entity).remove::<ChildOf>();
    });
    let parent = world.spawn_empty().id();
    let child = world.spawn((Mark(1), ChildOf(parent))).id();
    assert!(is_unlinked(&world, child) && world.get::<Children>(parent).is_none());
    world.check().unwrap();
}

/// Applies all commands, though some panic: each flush ends with the next of these.
pub fn flush_despite_panics(world: &mut World) {
    while catch_unwind(AssertUnwindSafe(|| world.flush())).is_err() {}
}

/// Silently, because no panic hook is called.
pub fn panic_in_command(_: &mut World) {
    resume_unwind(Box::new("a command"))
}

#[test]
fn no_link_to_a_dead_target_stays_though_commands_of_handlers_panic() {
    let (mut world, _) = world();
    let [target, other] = [(); 2].map(|()| world.spawn_empty().id());
    // Before the list of the target is inserted, of which the links of the batch are to be part.
    let ends = world.add_observer(move |_: On<Add<ChildOf>>, mut commands: Commands| {
        commands.entity(target).try_despawn();
    });
    world.add_observer(|_: On<Remove<ChildOf>>, mut commands: Commands| commands.queue(panic_in_command));
    let spawn = || world.spawn_batch([(); 4].map(|()| (Mark(1), ChildOf(target)))).count();
    assert!(catch_unwind(AssertUnwindSafe(spawn)).is_err(), "the panic of a command is passed on");
    flush_despite_panics(&mut world);
    assert!(!world.contains(target));
    assert_eq!(world.view::<&ChildOf>().count(), 0);
    assert_eq!(world.view::<&Mark>().count(), 4, "they lived without a list, so they are not linked");
    world.check().unwrap();

    // One that got another target meanwhile keeps it.
    world.remove_observer(ends);
    let target = world.spawn_empty().id();
    world.add_observer(move |_: On<Add<ChildOf>>, mut commands: Commands| {
        commands.entity(target).try_despawn();
    });
    let last = world.view_filtered::<Entity, With<Mark>>().into_iter().max().unwrap();
    world.add_observer(move |on: On<Remove<ChildOf>>, mut commands: Commands| {
        if on.entity != last {
            commands.entity(last).insert(ChildOf(other));
        }
    });
    let batch: Vec<(Entity, ChildOf)> = world
        .view_filtered::<Entity, With<Mark>>()
        .into_iter()
        .map(|entity| (entity, ChildOf(target)))
        .collect();
    let _ = catch_unwind(AssertUnwindSafe(|| world.insert_batch(batch)));
    flush_despite_panics(&mut world);
    assert!(!world.contains(target));
    world.check().unwrap();
}

/// A million, and fewer where code is not optimised.
pub const LONG: usize = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };

/// A chain of links, the root first.
fn chain(world: &mut World, length: usize) -> Vec<Entity> {
    let mut all = vec![world.spawn_empty().id()];
    for at in 1..length {
        all.push(world.spawn(ChildOf(all[at - 1])).id());
    }
    all
}

// Hazard 73.
#[test]
fn a_chain_of_many_links_is_built_walked_and_despawned() {
    let mut world = World::new();
    let all = chain(&mut world, LONG);
    assert_eq!(world.view::<&ChildOf>().root_ancestor::<ChildOf>(all[LONG - 1]), all[0]);
    assert_eq!(world.view::<&Children>().iter_descendants::<Children>(all[0]).count(), LONG - 1);
    assert!(world.check_link::<ChildOf>(all[0], all[LONG - 1]).is_err());
    world.despawn(all[1]);
    assert_eq!(world.entities().len(), 1);
    world.check().unwrap();
}

#[test]
fn a_chain_is_built_from_below() {
    let mut world = World::new();
    let all: Vec<Entity> = (0..50_000).map(|_| world.spawn_empty().id()).collect();
    for pair in all.windows(2) {
        world.insert(pair[0], ChildOf(pair[1])).unwrap();
    }
    assert_eq!(world.view::<&ChildOf>().iter_ancestors::<ChildOf>(all[0]).count(), all.len() - 1);
    world.despawn(all[all.len() - 1]);
    assert_eq!(world.entities().len(), 0);
}

#[test]
fn many_children_of_one_parent_are_detached_one_by_one() {
    let mut world = World::new();
    let parent = world.spawn_empty().id();
    let all: Vec<Entity> = (0..LONG).map(|_| world.spawn(ChildOf(parent)).id()).collect();
    for &child in all.iter().step_by(10) {
        world.entity_mut(child).remove::<ChildOf>();
    }
    let expected = all.iter().copied().enumerate().filter(|(at, _)| at % 10 != 0).map(|(_, child)| child);
    assert!(world.get::<Children>(parent).unwrap().iter().eq(expected));
    world.despawn(parent);
    assert_eq!(world.entities().len(), LONG / 10);
}

#[test]
fn clearing_a_world_with_relations_leaves_nothing() {
    let mut world = World::new();
    chain(&mut world, 100);
    world.clear_entities();
    assert_eq!(world.entities().len(), 0);
    world.check().unwrap();
}

#[derive(Pool)]
struct Closed {
    mark: Mark,
}

#[derive(Pool)]
struct Open {
    mark: Mark,
    children: Option<Children>,
}

#[test]
fn a_pool_that_declares_no_list_refuses_links() {
    let (mut world, errors) = world();
    let closed = world.spawn_in(Closed { mark: Mark(1) });
    let open = world.spawn_in(Open { mark: Mark(1), children: None });
    let child = world.spawn(ChildOf(closed)).id();
    assert!(is_unlinked(&world, child));
    assert!(errors.lock().unwrap()[0].contains("Children"), "{errors:?}");
    world.check().unwrap();
    world.insert(child, ChildOf(open)).unwrap();
    assert_eq!(world.get::<Children>(open).unwrap()[..], [child]);
    world.check().unwrap();
    world.despawn(open);
    assert!(!world.contains(child));
}
