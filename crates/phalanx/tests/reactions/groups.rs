//! Groups and reactions: handlers of a change find groups in line with it.

use std::collections::HashMap;

use phalanx::prelude::*;

use crate::random::Random;
use crate::steps::model_steps;

#[derive(Component)]
#[component(storage = "sparse")]
struct A(u32);
#[derive(Component)]
#[component(storage = "sparse")]
struct B;
#[derive(Component)]
struct Table;

#[derive(Resource)]
struct Both(Group<Own<(A, B)>, Get<()>, ()>);
#[derive(Resource, Default)]
struct Log(Vec<(&'static str, usize)>);

fn note(mut world: DeferredWorld<'_>, what: &'static str) {
    let len = world.resource::<Both>().0.len(&world);
    world.resource_mut::<Log>().0.push((what, len));
}

#[test]
fn handlers_find_groups_in_line_with_the_change_they_hear_of() {
    let mut world = World::new();
    let group = world.group::<Own<(A, B)>, Get<()>, ()>().unwrap();
    world.insert_resource(Both(group));
    world.init_resource::<Log>();
    world
        .register_component_hooks::<B>()
        .on_add(|world, _| note(world, "add"))
        .on_remove(|world, _| note(world, "remove"));
    let e = world.spawn((A(1), Table)).id();
    world.insert(e, B).unwrap();
    world.spawn((A(2), B));
    world.commands().spawn(A(3)).insert((B, Table));
    world.flush();
    world.remove::<B>(e).unwrap();
    world.despawn(e);
    let log = &world.resource::<Log>().0;
    // On the way in the entity is a member, on the way out it still is.
    assert_eq!(log, &[("add", 1), ("add", 2), ("add", 3), ("remove", 3)]);
    world.check().unwrap();
}

/// A group that is made of listeners alone: the entities with both components, packed, each with its place.
#[derive(Resource, Default)]
struct Listed {
    members: Vec<Entity>,
    places: HashMap<Entity, usize>,
}

impl Listed {
    fn enter(&mut self, entity: Entity) {
        assert_eq!(self.places.insert(entity, self.members.len()), None, "{entity} enters once");
        self.members.push(entity);
    }

    fn leave(&mut self, entity: Entity) {
        let place = self.places.remove(&entity).expect("only members leave");
        self.members.swap_remove(place);
        if let Some(&moved) = self.members.get(place) {
            self.places.insert(moved, place);
        }
    }
}

// E-070.
#[test]
fn a_group_can_be_built_of_listeners_and_agrees_with_that_of_the_store() {
    let steps = model_steps(1_000, 2_000);
    let mut world = World::new();
    let kept = world.group::<Own<(A, B)>, Get<()>, ()>().unwrap();
    world.init_resource::<Listed>();
    world.add_observer(|on: On<Matched<(&A, &B)>>, mut listed: ResMut<Listed>| listed.enter(on.entity));
    world.add_observer(|on: On<Unmatched<(&A, &B)>>, mut listed: ResMut<Listed>| listed.leave(on.entity));
    let (mut random, mut alive) = (Random::new(70), Vec::<Entity>::new());
    for step in 0..steps {
        let pick = (!alive.is_empty()).then(|| random.below(alive.len()));
        match (random.below(9), pick) {
            (0, Some(at)) => drop(world.despawn(alive.swap_remove(at))),
            (1, Some(at)) => drop(world.insert(alive[at], A(2))),
            (2, Some(at)) => drop(world.insert(alive[at], (B, Table))),
            (3, Some(at)) => drop(world.remove::<A>(alive[at])),
            (4, Some(at)) => drop(world.remove::<(B, Table)>(alive[at])),
            (5, Some(at)) => {
                world.commands().entity(alive[at]).remove::<A>().insert((A(3), B));
                world.flush();
            }
            (6, _) => alive.extend(world.spawn_batch((0..3).map(|n| (A(n), B)))),
            (7, _) => alive.push(world.spawn((A(1), Table)).id()),
            _ => alive.push(world.spawn(B).id()),
        }
        let mut listed = world.resource::<Listed>().members.clone();
        let mut members = kept.entities(&world).to_vec();
        listed.sort_unstable();
        members.sort_unstable();
        assert_eq!(listed, members, "step {step}");
    }
    assert!(world.resource::<Listed>().members.len() > 10, "there is something to compare");
    world.check().unwrap();
}
