//! Parents and children: every method, from the world and by commands.

use phalanx::prelude::*;

#[derive(Component, Clone, Debug, PartialEq)]
struct Mark(u32);

fn children(world: &World, parent: Entity) -> Vec<Entity> {
    world.get::<Children>(parent).map(|children| children.to_vec()).unwrap_or_default()
}

fn spawn<const N: usize>(world: &mut World) -> [Entity; N] {
    [(); N].map(|()| world.spawn_empty().id())
}

#[test]
fn inserting_and_removing_a_link_keeps_the_list() {
    let mut world = World::new();
    let [ship, wreck] = spawn(&mut world);
    let engine = world.spawn(ChildOf(ship)).id();
    let sail = world.spawn((Mark(1), ChildOf(ship))).id();
    assert_eq!(children(&world, ship), [engine, sail]);
    world.entity_mut(engine).insert(ChildOf(wreck));
    assert_eq!((children(&world, ship), children(&world, wreck)), (vec![sail], vec![engine]));
    world.entity_mut(sail).remove::<ChildOf>();
    assert!(world.get::<Children>(ship).is_none(), "an empty list goes");
    assert_eq!(world.get::<ChildOf>(engine).map(ChildOf::parent), Some(wreck));
    world.check().unwrap();
}

#[test]
fn linking_makes_no_archetype() {
    let mut world = World::new();
    let ship = world.spawn(Mark(0)).id();
    let parts: Vec<Entity> = (1..100).map(|n| world.spawn(Mark(n)).id()).collect();
    let archetypes = world.archetypes().len();
    world.entity_mut(ship).add_children(&parts);
    world.entity_mut(ship).detach_children(&parts[..50]);
    assert_eq!(world.archetypes().len(), archetypes);
    world.check().unwrap();
}

#[test]
fn children_are_inserted_at_an_index() {
    let mut world = World::new();
    let [parent, a, b, c, d, e] = spawn(&mut world);
    world.entity_mut(parent).add_children(&[a, b, c]).insert_children(1, &[a, d, e]);
    assert_eq!(children(&world, parent), [b, a, d, e, c]);
    world.entity_mut(parent).insert_child(0, c).insert_child(99, b);
    assert_eq!(children(&world, parent), [c, a, d, e, b]);
    world.check().unwrap();
}

#[test]
fn replaced_children_have_the_given_order() {
    let mut world = World::new();
    let [parent, a, b, c, d] = spawn(&mut world);
    world.entity_mut(parent).add_children(&[a, b, c]);
    world.entity_mut(parent).replace_children(&[d, c, a, d]);
    assert_eq!(children(&world, parent), [d, c, a]);
    assert!(world.get::<ChildOf>(b).is_none());
    world.entity_mut(parent).replace_children_with_difference(&[c], &[a, b, d], &[b]);
    assert_eq!(children(&world, parent), [a, b, d]);
    world.entity_mut(parent).replace_children(&[]);
    assert!(world.get::<Children>(parent).is_none());
    world.check().unwrap();
}

#[test]
fn order_is_set_through_exclusive_access() {
    let mut world = World::new();
    let [parent, a, b, c] = spawn(&mut world);
    world.entity_mut(parent).add_children(&[a, b, c]);
    world.get_mut::<Children>(parent).unwrap().swap(0, 2);
    assert_eq!(children(&world, parent), [c, b, a]);
    for mut list in world.view_mut::<&mut Children>() {
        list.sort_unstable_by_key(|entity| entity.index());
        list.place(a, 1);
    }
    assert_eq!(children(&world, parent), [b, a, c]);
    world.check().unwrap();
}

// Hazard 75.
#[test]
fn order_survives_detaching_and_attaching() {
    let mut world = World::new();
    let parent = world.spawn_empty().id();
    let all: Vec<Entity> = (0..200).map(|n| world.spawn((Mark(n), ChildOf(parent))).id()).collect();
    world.entity_mut(parent).detach_children(&[all[3], all[150], all[0]]);
    let mut expected: Vec<Entity> =
        all.iter().copied().filter(|e| ![all[3], all[150], all[0]].contains(e)).collect();
    assert_eq!(children(&world, parent), expected);
    world.entity_mut(parent).add_child(all[150]);
    expected.push(all[150]);
    assert_eq!(children(&world, parent), expected);
    world.check().unwrap();
}

#[test]
fn with_children_spawns_trees() {
    let mut world = World::new();
    let mut inner = None;
    let root = world
        .spawn(Mark(0))
        .with_child(Mark(1))
        .with_children(|spawner| {
            spawner.spawn(Mark(2)).with_children(|spawner| {
                inner = Some(spawner.spawn_empty().id());
            });
            assert_eq!(
                spawner.target_entity(),
                spawner.world().view::<(Entity, &Mark)>().into_iter().next().unwrap().0
            );
        })
        .id();
    let list = children(&world, root);
    assert_eq!(list.len(), 2);
    assert_eq!(children(&world, list[1]), [inner.unwrap()]);
    world.check().unwrap();
}

#[test]
fn bundles_bring_children() {
    let mut world = World::new();
    let root = world
        .spawn((
            Mark(0),
            children![Mark(1), (Mark(2), children![Mark(3), Mark(4)]), Mark(5), Mark(6), Mark(7), Mark(8)],
        ))
        .id();
    let marks = |world: &World, parent| -> Vec<u32> {
        children(world, parent).into_iter().map(|child| world.get::<Mark>(child).unwrap().0).collect()
    };
    assert_eq!(marks(&world, root), [1, 2, 5, 6, 7, 8]);
    assert_eq!(marks(&world, children(&world, root)[1]), [3, 4]);
    let other = world.spawn(Children::spawn_one(Mark(9))).id();
    world.entity_mut(other).insert(Children::spawn((
        SpawnIter((10..12).map(Mark)),
        SpawnWith(|spawner: &mut ChildSpawner| {
            spawner.spawn(Mark(12));
        }),
        vec![Mark(13), Mark(14)],
        WithOneRelated(root),
    )));
    assert_eq!(marks(&world, other), [9, 10, 11, 12, 13, 14, 0]);
    world.check().unwrap();
}

// Hazard 74.
#[test]
fn a_batch_with_lists_equals_a_loop() {
    let (mut batch, mut single) = (World::new(), World::new());
    let bundle = |n: u32| (Mark(n), children![Mark(100 + n), Mark(200 + n)]);
    batch.spawn_batch((0..5).map(bundle));
    (0..5).for_each(|n| {
        single.spawn(bundle(n));
    });
    let trees = |world: &mut World| -> Vec<(u32, Vec<u32>)> {
        let mut all: Vec<(u32, Vec<u32>)> = world
            .view::<(&Mark, &Children)>()
            .into_iter()
            .map(|(mark, list)| {
                (mark.0, list.iter().map(|child| world.get::<Mark>(child).unwrap().0).collect())
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(trees(&mut batch), trees(&mut single));
    assert_eq!(trees(&mut batch).len(), 5);
    batch.check().unwrap();
}

// Hazard 74.
#[test]
fn a_batch_with_links_equals_a_loop() {
    let mut world = World::new();
    let [a, b] = spawn(&mut world);
    let spawned: Vec<Entity> =
        world.spawn_batch((0..10).map(|n| (Mark(n), ChildOf(if n % 2 == 0 { a } else { b })))).collect();
    let even: Vec<Entity> = spawned.iter().copied().step_by(2).collect();
    assert_eq!(children(&world, a), even);
    world.check().unwrap();
}

#[test]
fn commands_change_relations() {
    let mut world = World::new();
    let [a, b, c] = spawn(&mut world);
    let mut commands = world.commands();
    let root = commands.spawn((Mark(0), children![Mark(1)])).id();
    commands.entity(root).insert(children![Mark(2)]).with_child(Mark(3)).add_children(&[a, b]);
    commands.entity(root).insert_child(0, c).with_children(|spawner| {
        spawner.spawn(Mark(4));
    });
    let late = commands.spawn(ChildOf(a)).id();
    world.flush();
    let marks: Vec<Option<u32>> =
        children(&world, root).into_iter().map(|child| world.get::<Mark>(child).map(|mark| mark.0)).collect();
    assert_eq!(marks.iter().flatten().count(), 4, "{marks:?}");
    assert_eq!(children(&world, root)[0], c);
    assert_eq!(children(&world, a), [late]);
    world.check().unwrap();
    let mut commands = world.commands();
    commands.entity(root).detach_child(c).despawn_children();
    world.flush();
    assert!(world.contains(c) && !world.contains(a) && !world.contains(late));
    world.check().unwrap();
}

#[test]
fn despawning_a_parent_takes_its_children_along() {
    let mut world = World::new();
    let root = world.spawn(children![(Mark(1), children![Mark(2)]), Mark(3)]).id();
    let other = world.spawn(Mark(4)).id();
    assert!(world.despawn(root));
    assert_eq!(world.entities().len(), 1);
    assert!(world.contains(other));
    world.check().unwrap();
}

#[test]
fn queries_walk_along_relations() {
    fn walk(
        In((root, leaf)): In<(Entity, Entity)>,
        up: Query<&ChildOf>,
        down: Query<&Children>,
        both: Query<(Option<&ChildOf>, Option<&Children>)>,
        marks: Query<&Mark>,
    ) {
        let of = |entities: Vec<Entity>| -> Vec<u32> {
            entities.into_iter().map(|entity| marks.get(entity).unwrap().0).collect()
        };
        assert_eq!(of(down.iter_descendants::<Children>(root).collect()), [1, 2, 3, 4, 5]);
        assert_eq!(of(down.iter_descendants_depth_first::<Children>(root).collect()), [1, 3, 4, 2, 5]);
        assert_eq!(of(down.iter_leaves::<Children>(root).collect()), [3, 4, 5]);
        assert_eq!(of(down.relationship_sources::<Children>(root).collect()), [1, 2]);
        assert_eq!(of(up.iter_ancestors::<ChildOf>(leaf).collect()), [1, 0]);
        assert_eq!(up.root_ancestor::<ChildOf>(leaf), root);
        assert_eq!(up.root_ancestor::<ChildOf>(root), root);
        assert_eq!(up.related::<ChildOf>(root), None);
        assert_eq!(of(both.iter_siblings::<ChildOf>(leaf).collect()), [3]);
    }
    let mut world = World::new();
    let root = world
        .spawn((Mark(0), children![(Mark(1), children![Mark(3), Mark(4)]), (Mark(2), children![Mark(5)])]))
        .id();
    let leaf = world.view::<(Entity, &Mark)>().into_iter().find(|(_, mark)| mark.0 == 4).unwrap().0;
    world.run_system_once_with(walk, (root, leaf)).unwrap();
}

#[test]
fn bundles_go_to_all_descendants() {
    let mut world = World::new();
    let root = world.spawn(children![(Mark(1), children![Mark(2)]), Mark(3)]).id();
    world.entity_mut(root).insert_recursive::<Children>(Mark(7));
    assert_eq!(world.view::<&Mark>().into_iter().filter(|mark| mark.0 == 7).count(), 4);
    world.entity_mut(root).remove_recursive::<Children, Mark>();
    assert_eq!(world.view::<&Mark>().count(), 0);
}
