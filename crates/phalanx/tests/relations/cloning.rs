//! Cloning entities, trees and templates; moving them between worlds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::component::{EntityMapper, MapEntities};
use phalanx::prelude::*;
use phalanx::relation::EntityList;
use phalanx::world::{EntityCloner, MoveError};

use crate::hazards::LONG;

#[derive(Component, Clone, Debug, PartialEq)]
struct Mark(u32);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", track = "row")]
struct Aims {
    at: Entity,
    also: Option<Entity>,
    power: u32,
}

#[derive(Component, Debug)]
struct Unique(#[allow(dead_code)] u32);

#[derive(Clone, Debug, PartialEq)]
struct Route(Entity, Entity);
impl MapEntities for Route {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.0 = mapper.get_mapped(self.0);
        self.1 = mapper.get_mapped(self.1);
    }
}
#[derive(Component, Clone, Debug, PartialEq)]
enum Plan {
    Wait,
    Go {
        #[entities]
        route: Route,
    },
}

#[derive(Component, Clone, Debug)]
#[relationship(relationship_target = FollowedBy, cyclic)]
struct Follows(Entity);
#[derive(Component, Clone, Debug)]
#[relationship_target(relationship = Follows, linked_spawn)]
struct FollowedBy(EntityList);

#[test]
fn everything_that_can_be_cloned_is() {
    let mut world = World::new();
    let target = world.spawn_empty().id();
    let source = world
        .spawn((
            Mark(1),
            Position { x: 1.0, y: 2.0 },
            Aims { at: target, also: None, power: 3 },
            Unique(4),
            Plan::Wait,
        ))
        .id();
    let clone = world.entity_mut(source).clone_and_spawn();
    assert_eq!(world.get::<Mark>(clone), Some(&Mark(1)));
    assert_eq!(world.get::<Position>(clone).unwrap().get(), Position { x: 1.0, y: 2.0 });
    assert_eq!(world.get::<Aims>(clone), Some(&Aims { at: target, also: None, power: 3 }));
    assert_eq!(world.get::<Plan>(clone), Some(&Plan::Wait));
    assert!(world.get::<Unique>(clone).is_none());
    world.check().unwrap();
}

#[test]
fn components_are_denied_and_allowed() {
    let mut world = World::new();
    let source = world.spawn((Mark(1), Position { x: 1.0, y: 2.0 }, Name::new("orc"))).id();
    let clone = world.entity_mut(source).clone_and_spawn_with_opt_out(|builder| {
        builder.deny::<(Mark, Name)>();
    });
    assert!(world.get::<Mark>(clone).is_none() && world.get::<Position>(clone).is_some());
    let clone = world.entity_mut(source).clone_and_spawn_with_opt_in(|builder| {
        builder.allow::<Mark>();
    });
    assert!(world.get::<Mark>(clone).is_some() && world.get::<Position>(clone).is_none());
    let other = world.spawn(Mark(9)).id();
    world.entity_mut(source).clone_components::<(Mark, Name)>(other);
    assert_eq!(world.get::<Mark>(other), Some(&Mark(1)), "what is there is replaced");
    let third = world.spawn(Mark(9)).id();
    world.entity_mut(source).clone_with_opt_in(third, |builder| {
        builder.allow_if_new::<(Mark, Name)>();
    });
    assert_eq!(world.get::<Mark>(third), Some(&Mark(9)));
    assert_eq!(world.get::<Name>(third), Some(&Name::new("orc")));
    world.entity_mut(third).move_components::<Name>(other);
    assert!(world.get::<Name>(third).is_none());
    world.check().unwrap();
}

#[test]
fn a_clone_of_a_child_is_its_sibling() {
    let mut world = World::new();
    let parent = world.spawn(children![Mark(1)]).id();
    let child = world.get::<Children>(parent).unwrap()[0];
    let clone = world.entity_mut(child).clone_and_spawn();
    assert_eq!(world.get::<Children>(parent).unwrap()[..], [child, clone]);
    let shallow = world.entity_mut(parent).clone_and_spawn();
    assert!(world.get::<Children>(shallow).is_none());
    world.check().unwrap();
}

fn linked(world: &mut World, source: Entity) -> Entity {
    world.entity_mut(source).clone_and_spawn_with_opt_out(|builder| {
        builder.linked_cloning(true);
    })
}

// Hazard 75.
#[test]
fn a_linked_clone_is_a_tree_of_its_own_with_entities_mapped() {
    let mut world = World::new();
    let outside = world.spawn_empty().id();
    let root = world.spawn(Mark(0)).id();
    let [a, b] = [1, 2].map(|n| world.spawn((Mark(n), ChildOf(root))).id());
    world.entity_mut(root).insert_child(0, b);
    world.insert(a, Aims { at: b, also: Some(outside), power: 1 }).unwrap();
    world.insert(b, Plan::Go { route: Route(root, a) }).unwrap();
    let clone = linked(&mut world, root);
    let children = world.get::<Children>(clone).unwrap().to_vec();
    let marks: Vec<u32> = children.iter().map(|&child| world.get::<Mark>(child).unwrap().0).collect();
    assert_eq!(marks, [2, 1], "the order of children is kept");
    let aims = Aims { at: children[0], also: Some(outside), power: 1 };
    assert_eq!(world.get::<Aims>(children[1]), Some(&aims));
    assert_eq!(world.get::<Plan>(children[0]), Some(&Plan::Go { route: Route(clone, children[1]) }));
    world.check().unwrap();
}

#[test]
fn a_cyclic_graph_is_cloned_once() {
    let mut world = World::new();
    let [a, b] = [(); 2].map(|()| world.spawn_empty().id());
    world.insert(a, Follows(b)).unwrap();
    world.insert(b, Follows(a)).unwrap();
    let clone = linked(&mut world, a);
    assert_eq!(world.entities().len(), 4);
    let other = world.get::<Follows>(clone).unwrap().0;
    assert!(other != a && other != b);
    assert_eq!(world.get::<Follows>(other).unwrap().0, clone);
    world.check().unwrap();
}

#[test]
fn a_link_that_a_handler_puts_back_while_a_clone_comes_is_listed_once() {
    let mut world = World::new();
    let [parent, other] = [(); 2].map(|()| world.spawn_empty().id());
    let source = world.spawn((Mark(1), ChildOf(parent))).id();
    let target = world.spawn((Mark(2), ChildOf(other))).id();
    world.add_observer(move |on: On<Remove<ChildOf>>, mut commands: Commands| {
        commands.entity(on.entity).insert(ChildOf(other));
    });
    EntityCloner::build_opt_out(&mut world).finish().clone_entity(&mut world, source, target);
    assert_eq!(world.get::<Mark>(target), Some(&Mark(1)));
    assert_eq!(world.get::<ChildOf>(target), Some(&ChildOf(other)), "what the handler said stays");
    assert_eq!(world.get::<Children>(other).unwrap()[..], [target]);
    world.check().unwrap();
}

// Hazard 73.
#[test]
fn a_long_chain_is_cloned() {
    let mut world = World::new();
    let mut last = world.spawn(Mark(0)).id();
    let root = last;
    for n in 1..LONG {
        last = world.spawn((Mark(n as u32), ChildOf(last))).id();
    }
    let clone = linked(&mut world, root);
    assert_eq!(world.view::<&Children>().iter_descendants::<Children>(clone).count(), LONG - 1);
    world.check().unwrap();
}

#[test]
fn a_template_is_spawned_many_times() {
    let mut world = World::new();
    let root = world.spawn((Mark(0), Position { x: 1.0, y: 1.0 })).id();
    let [a, b] = [1, 2].map(|n| world.spawn((Mark(n), ChildOf(root))).id());
    world.insert(a, Aims { at: b, also: None, power: 1 }).unwrap();
    let archetypes = world.archetypes().len();
    let clones = world.spawn_clones(root, 50);
    assert_eq!(world.archetypes().len(), archetypes);
    assert_eq!(clones.len(), 50);
    for clone in clones {
        let children = world.get::<Children>(clone).unwrap().to_vec();
        assert_eq!(world.get::<Mark>(children[0]), Some(&Mark(1)));
        assert_eq!(world.get::<Aims>(children[0]).unwrap().at, children[1]);
    }
    world.check().unwrap();
    assert_eq!(world.entities().len(), 153);
}

// Hazard 69.
#[test]
fn a_handler_that_panics_leaves_all_clones_complete_and_linked() {
    let mut world = World::new();
    let top = world.spawn((Mark(0), children![Mark(1), (Mark(2), children![Mark(3)])])).id();
    world.add_observer(|on: On<Add<ChildOf>>, parents: Query<&ChildOf>| {
        let _ = parents.get(on.entity);
        panic!("the handler");
    });
    world.add_observer(|_: On<Add<Mark>>| panic!("the other handler"));
    let shape = |world: &World, top: Entity| -> Vec<u32> {
        let lists = world.view::<&Children>();
        let all = [top].into_iter().chain(lists.iter_descendants::<Children>(top));
        all.map(|entity| world.get::<Mark>(entity).expect("cloned").0).collect()
    };
    let expected = shape(&world, top);
    assert_eq!(expected.len(), 4);
    let others = |world: &World| -> Vec<Entity> {
        world.view_filtered::<Entity, (With<Mark>, Without<ChildOf>)>().iter().filter(|&e| e != top).collect()
    };
    catch_unwind(AssertUnwindSafe(|| linked(&mut world, top))).expect_err("the handler's panic is passed on");
    assert_eq!(others(&world).len(), 1);
    // In each batch all are there when the first handler runs, and all batches are made.
    catch_unwind(AssertUnwindSafe(|| world.spawn_clones(top, 3))).expect_err("it is passed on");
    let others = others(&world);
    assert_eq!(others.len(), 4);
    others.into_iter().for_each(|clone| assert_eq!(shape(&world, clone), expected));
    world.check().unwrap();
}

#[test]
fn an_entity_moves_to_another_world_with_its_children() {
    let (mut here, mut there) = (World::new(), World::new());
    there.spawn_batch((0..10).map(|_| Mark(7)));
    let root = here.spawn((Mark(0), Name::new("ship"))).id();
    let [a, b] = [1, 2].map(|n| here.spawn((Mark(n), ChildOf(root))).id());
    here.insert(a, Aims { at: b, also: Some(root), power: 1 }).unwrap();
    let moved = here.move_entity(root, &mut there).unwrap();
    assert_eq!(here.entities().len(), 0);
    let children = there.get::<Children>(moved).unwrap().to_vec();
    assert_eq!(there.get::<Name>(moved), Some(&Name::new("ship")));
    assert_eq!(there.get::<Aims>(children[0]), Some(&Aims { at: children[1], also: Some(moved), power: 1 }));
    here.check().unwrap();
    there.check().unwrap();
    let unique = here.spawn(Unique(1)).id();
    let error = here.move_entity(unique, &mut there).unwrap_err();
    assert!(matches!(error, MoveError::NotClone { .. }), "{error}");
    assert!(here.contains(unique));
    assert_eq!(here.move_entity(root, &mut there), Err(MoveError::NoSuchEntity(root)));
}

#[test]
fn a_handler_that_panics_when_a_value_is_replaced_by_a_clone_keeps_none_from_coming() {
    let mut world = World::new();
    let [source, target] = [1, 2].map(|n| world.spawn((Mark(n), Name::new(n.to_string()))).id());
    world.add_observer(|_: On<Discard<Mark>>| panic!("the handler"));
    let mut cloner = EntityCloner::build_opt_out(&mut world).finish();
    catch_unwind(AssertUnwindSafe(|| cloner.clone_entity(&mut world, source, target)))
        .expect_err("passed on");
    let there = (world.get::<Mark>(target), world.get::<Name>(target));
    assert_eq!(there, (Some(&Mark(1)), Some(&Name::new("1"))));
}

#[test]
fn an_entity_that_moves_to_another_world_is_linked_to_no_stranger_there() {
    let (mut here, mut there) = (World::new(), World::new());
    let (root, stranger) = (here.spawn(Mark(0)).id(), there.spawn(Mark(0)).id());
    assert_eq!(root, stranger, "worlds give the same ids");
    let child = here.spawn((Mark(1), ChildOf(root), children![Mark(2)])).id();
    here.insert(child, Aims { at: root, also: Some(child), power: 1 }).unwrap();
    let moved = here.move_entity(child, &mut there).unwrap();
    assert!(there.get::<ChildOf>(moved).is_none() && there.get::<Children>(stranger).is_none());
    let aims = Aims { at: Entity::PLACEHOLDER, also: Some(moved), power: 1 };
    assert_eq!(there.get::<Aims>(moved), Some(&aims));
    assert_eq!(there.get::<Children>(moved).map(Children::len), Some(1));
    assert!(!here.contains(child) && here.get::<Children>(root).is_none());
    // Also where the old id is not alive.
    let child = here.spawn((Mark(1), ChildOf(root))).id();
    there.despawn(stranger);
    let moved = here.move_entity(child, &mut there).unwrap();
    assert!(there.get::<ChildOf>(moved).is_none());
    here.check().unwrap();
    there.check().unwrap();
}

#[test]
fn an_entity_that_cannot_move_because_of_a_panic_stays_whole() {
    let (mut here, mut there) = (World::new(), World::new());
    let root = here.spawn((Mark(0), children![Mark(1), (Mark(2), children![Mark(3)])])).id();
    there.add_observer(|on: On<Add<Mark>>, marks: Query<&Mark>| {
        assert_ne!(marks.get(on.entity).expect("it came").0, 2, "the handler");
    });
    let digest = here.digest();
    catch_unwind(AssertUnwindSafe(|| here.move_entity(root, &mut there))).expect_err("it is passed on");
    assert_eq!((here.digest(), there.entities().len()), (digest, 0));
    here.check().unwrap();
    there.check().unwrap();
}

#[test]
fn commands_clone() {
    let mut world = World::new();
    let source = world.spawn((Mark(1), Name::new("orc"))).id();
    let clone = world.commands().entity(source).clone_and_spawn().insert(Mark(2)).id();
    world.flush();
    assert_eq!(world.get::<Mark>(clone), Some(&Mark(2)));
    assert_eq!(world.get::<Name>(clone), Some(&Name::new("orc")));
    let mut cloner = EntityCloner::build_opt_out(&mut world).finish();
    let third = cloner.spawn_clone(&mut world, clone);
    assert_eq!(world.get::<Mark>(third), Some(&Mark(2)));
}
