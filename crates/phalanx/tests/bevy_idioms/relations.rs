//! Relations, names and clones, as a bevy program writes them.

use phalanx::prelude::*;

#[derive(Component, Clone, Debug, PartialEq)]
struct Health(u32);

#[derive(Component)]
#[relationship(relationship_target = LikedBy)]
struct Likes(pub Entity);
#[derive(Component)]
#[relationship_target(relationship = Likes)]
struct LikedBy(Vec<Entity>);

#[test]
fn relation_child_of() {
    let mut world = World::new();
    let root = world.spawn_empty().id();
    let child1 = world.spawn(ChildOf(root)).id();
    let child2 = world.spawn(ChildOf(root)).id();
    assert_eq!(&**world.entity(root).get::<Children>().unwrap(), &[child1, child2]);
    assert_eq!(world.entity(child1).get::<ChildOf>().unwrap().parent(), root);
    world.entity_mut(child2).remove::<ChildOf>();
    assert_eq!(&**world.entity(root).get::<Children>().unwrap(), &[child1]);
    for &child in world.entity(root).get::<Children>().unwrap() {
        assert_eq!(child, child1);
    }
    world.entity_mut(root).despawn();
    assert!(world.get_entity(child1).is_err());
    assert!(world.get_entity(child2).is_ok());
}

#[test]
fn relation_children_order() {
    let mut world = World::new();
    let root = world.spawn(children![Health(3), Health(1), Health(2)]).id();
    let old = world.get::<Children>(root).unwrap().to_vec();
    let mut query = world.query::<&mut Children>();
    for mut children in query.iter_mut(&mut world) {
        children.swap(0, 1);
        children.sort_by(|a, b| b.cmp(a));
        children.sort_unstable_by_key(|child| child.index());
    }
    assert_eq!(world.get::<Children>(root).unwrap().to_vec(), old);
}

#[test]
fn relation_spawn_lists() {
    let mut world = World::new();
    let root = world
        .spawn((
            Name::new("Root"),
            children![Name::new("Child1"), (Name::new("Child2"), children![Name::new("Grandchild")])],
        ))
        .id();
    assert_eq!(world.get::<Children>(root).unwrap().len(), 2);
    let liked = world.spawn(related!(LikedBy [Health(1), Health(2)])).id();
    assert_eq!(world.get::<LikedBy>(liked).unwrap().len(), 2);
    let other = world
        .spawn(Children::spawn((
            Spawn(Health(1)),
            SpawnIter((2..4).map(Health)),
            SpawnWith(|parent: &mut ChildSpawner| {
                parent.spawn(Health(4));
            }),
            WithRelated::new([liked]),
            WithOneRelated(root),
        )))
        .id();
    assert_eq!(world.get::<Children>(other).unwrap().len(), 6);
    let one = world.spawn(Children::spawn_one(Health(1))).id();
    assert_eq!(world.get::<Children>(one).unwrap().len(), 1);
}

#[test]
fn relation_derived() {
    #[derive(Component)]
    #[relationship(relationship_target = View)]
    pub struct ViewOf {
        #[relationship]
        pub body: Entity,
        zoom: u8,
    }
    #[derive(Component)]
    #[relationship_target(relationship = ViewOf, linked_spawn)]
    pub struct View(Entity);

    fn targets<R: Relationship>(links: Query<&R>) -> usize {
        links.iter().map(Relationship::get).count()
    }
    let mut world = World::new();
    let body = world.spawn_empty().id();
    let view = world.spawn(ViewOf { body, zoom: 3 }).id();
    assert_eq!(world.get::<View>(body).unwrap().iter().collect::<Vec<_>>(), [view]);
    assert_eq!(world.get::<ViewOf>(view).unwrap().zoom, 3);
    assert_eq!(world.run_system_once(targets::<ViewOf>).unwrap(), 1);
    world.despawn(body);
    assert!(!world.contains(view));
}

#[test]
fn entity_world_mut_children() {
    let mut world = World::new();
    let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
    let root = world
        .spawn_empty()
        .with_child(Health(1))
        .with_children(|parent| {
            parent.spawn(Health(2)).with_children(|parent| {
                parent.spawn_empty();
            });
        })
        .add_child(a)
        .add_children(&[b])
        .insert_child(0, c)
        .insert_children(1, &[a, b])
        .detach_child(a)
        .detach_children(&[b])
        .id();
    assert_eq!(world.get::<Children>(root).unwrap().len(), 3);
    world.entity_mut(root).replace_children(&[a, b, c]);
    assert_eq!(&**world.get::<Children>(root).unwrap(), &[a, b, c]);
    world.entity_mut(root).replace_children_with_difference(&[a], &[b, c], &[]);
    assert_eq!(&**world.get::<Children>(root).unwrap(), &[b, c]);
    world.entity_mut(root).detach_all_children();
    assert!(world.get::<Children>(root).is_none());
    world.entity_mut(root).add_child(a).despawn_children();
    assert!(!world.contains(a));
}

#[test]
fn entity_world_mut_related() {
    let mut world = World::new();
    let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
    let root = world
        .spawn_empty()
        .with_related::<Likes>(Health(1))
        .with_related_entities::<Likes>(|spawner| {
            spawner.spawn(Health(2));
        })
        .add_related::<Likes>(&[a])
        .add_one_related::<Likes>(b)
        .insert_related::<Likes>(0, &[c])
        .remove_related::<Likes>(&[a])
        .id();
    assert_eq!(world.get::<LikedBy>(root).unwrap().len(), 4);
    world.entity_mut(root).replace_related::<Likes>(&[a, b]);
    world.entity_mut(root).replace_related_with_difference::<Likes>(&[a], &[b, c], &[c]);
    assert_eq!(world.get::<LikedBy>(root).unwrap().collection(), &[b, c]);
    world.entity_mut(root).insert_recursive::<LikedBy>(Health(7));
    assert_eq!(world.get::<Health>(c), Some(&Health(7)));
    world.entity_mut(root).remove_recursive::<LikedBy, Health>();
    assert_eq!(world.get::<Health>(c), None);
    world.entity_mut(root).detach_all_related::<Likes>();
    world.entity_mut(root).add_related::<Likes>(&[a]).despawn_related::<LikedBy>();
    assert!(!world.contains(a));
}

#[test]
fn entity_commands_children() {
    fn build(mut commands: Commands) {
        let [a, b, c] = [(); 3].map(|()| commands.spawn_empty().id());
        commands
            .spawn(Name::new("root"))
            .with_child(Health(1))
            .with_children(|parent| {
                parent.spawn(Health(2)).with_children(|parent| {
                    parent.spawn_empty();
                });
            })
            .add_child(a)
            .add_children(&[b])
            .insert_child(0, c)
            .insert_children(1, &[a, b])
            .detach_child(a)
            .detach_children(&[b]);
        commands
            .spawn(Name::new("other"))
            .replace_children(&[a, b])
            .replace_children_with_difference(&[a], &[b], &[])
            .detach_all_children()
            .add_child(a)
            .despawn_children();
    }
    let mut world = World::new();
    world.run_system_once(build).unwrap();
    let mut roots = world.query::<(&Name, Option<&Children>)>();
    for (name, children) in roots.iter(&world) {
        let expected = if name.as_str() == "root" { Some(3) } else { None };
        assert_eq!(children.map(RelationshipTarget::len), expected);
    }
}

#[test]
fn entity_commands_commands() {
    fn pair(mut commands: Commands) {
        let mut first = commands.spawn(Health(1));
        let second = first.commands().spawn(Health(2)).id();
        first.add_child(second);
    }
    let mut world = World::new();
    world.run_system_once(pair).unwrap();
    assert_eq!(world.query::<&Children>().iter(&world).count(), 1);
}

#[test]
fn entity_commands_related() {
    fn build(mut commands: Commands) {
        let [a, b, c] = [(); 3].map(|()| commands.spawn_empty().id());
        commands
            .spawn(Name::new("root"))
            .with_related::<Likes>(Health(1))
            .with_related_entities::<Likes>(|spawner| {
                spawner.spawn(Health(2));
            })
            .add_related::<Likes>(&[a])
            .add_one_related::<Likes>(b)
            .insert_related::<Likes>(0, &[c])
            .remove_related::<Likes>(&[a])
            .insert_recursive::<LikedBy>(Health(3))
            .remove_recursive::<LikedBy, Name>();
        commands
            .spawn_empty()
            .replace_related::<Likes>(&[a])
            .replace_related_with_difference::<Likes>(&[], &[a], &[])
            .detach_all_related::<Likes>()
            .add_related::<Likes>(&[a])
            .despawn_related::<LikedBy>();
    }
    let mut world = World::new();
    world.run_system_once(build).unwrap();
    let mut lists = world.query::<&LikedBy>();
    assert_eq!(lists.iter(&world).map(RelationshipTarget::len).collect::<Vec<_>>(), [4]);
    let mut healthy = world.query::<&Health>();
    assert_eq!(healthy.iter(&world).filter(|health| health.0 == 3).count(), 5);
}

#[test]
fn query_relations() {
    fn walk(
        names: Query<(Entity, &Name)>,
        up: Query<&ChildOf>,
        down: Query<&Children>,
        both: Query<(Option<&ChildOf>, Option<&Children>)>,
    ) {
        let root = names.iter().find(|(_, name)| name.as_str() == "root").unwrap().0;
        let leaf = names.iter().find(|(_, name)| name.as_str() == "leaf").unwrap().0;
        assert_eq!(down.iter_descendants(root).count(), 3);
        assert_eq!(
            down.iter_descendants_depth_first(root).last(),
            both.iter_siblings::<ChildOf>(up.related::<ChildOf>(leaf).unwrap()).next()
        );
        assert_eq!(down.iter_leaves(root).next(), Some(leaf));
        assert_eq!(down.relationship_sources::<Children>(root).count(), 2);
        assert_eq!(up.root_ancestor(leaf), root);
        assert_eq!(up.iter_ancestors(leaf).last(), Some(root));
    }
    let mut world = World::new();
    world.spawn((Name::new("root"), children![children![Name::new("leaf")], Health(1)]));
    world.run_system_once(walk).unwrap();
}

#[test]
fn entity_world_mut_clone() {
    let mut world = World::new();
    let source = world.spawn((Health(3), Name::new("orc"), children![Health(1)])).id();
    let all = world.entity_mut(source).clone_and_spawn();
    let some = world.entity_mut(source).clone_and_spawn_with_opt_out(|builder| {
        builder.deny::<Name>();
    });
    let one = world.entity_mut(source).clone_and_spawn_with_opt_in(|builder| {
        builder.allow::<Name>();
    });
    let target = world.spawn_empty().id();
    world
        .entity_mut(source)
        .clone_with_opt_out(target, |builder| {
            builder.linked_cloning(true);
        })
        .clone_with_opt_in(one, |builder| {
            builder.allow::<Health>();
        })
        .clone_components::<Name>(some)
        .move_components::<Health>(one);
    assert_eq!(world.get::<Children>(target).unwrap().len(), 1);
    assert!([all, some, one, target].iter().all(|&e| world.get::<Health>(e) == Some(&Health(3))));
    assert!([all, some, one, target].iter().all(|&e| world.get::<Name>(e).is_some()));
    assert!(world.get::<Health>(source).is_none());
}

#[test]
fn entity_commands_clone() {
    fn twice(orcs: Query<Entity, With<Health>>, mut commands: Commands) {
        for orc in &orcs {
            commands.entity(orc).clone_and_spawn().insert(Name::new("twin"));
            commands.entity(orc).clone_and_spawn_with_opt_out(|builder| {
                builder.deny::<Name>();
            });
            let target = commands
                .entity(orc)
                .clone_and_spawn_with_opt_in(|builder| {
                    builder.allow::<Health>();
                })
                .id();
            commands
                .entity(orc)
                .clone_with_opt_out(target, |_| {})
                .clone_with_opt_in(target, |builder| {
                    builder.allow::<Health>();
                })
                .clone_components::<Name>(target)
                .move_components::<Health>(target);
        }
    }
    let mut world = World::new();
    world.spawn((Health(3), Name::new("orc")));
    world.run_system_once(twice).unwrap();
    let mut all = world.query::<(&Health, Option<&Name>)>();
    assert_eq!(all.iter(&world).count(), 3);
    assert_eq!(all.iter(&world).filter(|(_, name)| name.is_some()).count(), 2);
}

#[test]
fn names_of_entities() {
    fn report(all: Query<NameOrEntity>) -> Vec<String> {
        all.iter().map(|who| who.to_string()).collect()
    }
    let mut world = World::new();
    let mut name = Name::new("ship");
    name.mutate(|name| name.push('!'));
    assert_eq!(name.as_str(), "ship!");
    name.set("boat");
    assert_eq!((name.to_string(), &*name), ("boat".to_owned(), "boat"));
    assert_eq!(Name::from("boat"), name);
    world.spawn(name);
    let nameless = world.spawn(Health(1)).id();
    let mut texts = world.run_system_once(report).unwrap();
    texts.sort();
    assert_eq!(texts, [nameless.to_string(), "boat".to_owned()]);
}

#[derive(Component, Clone)]
struct Prefab;

#[test]
fn disabling_components() {
    let mut world = World::new();
    world.register_disabling_component::<Prefab>();
    world.spawn((Health(1), Prefab));
    world.spawn((Health(2),));
    let sleeper = world.spawn((Health(3), Disabled)).id();

    let mut normal_query = world.query::<&Health>();
    assert_eq!(1, normal_query.iter(&world).count());
    let mut prefab_query = world.query_filtered::<&Health, With<Prefab>>();
    assert_eq!(1, prefab_query.iter(&world).count());
    let mut maybe_prefab_query = world.query::<(&Health, Has<Prefab>)>();
    assert_eq!(2, maybe_prefab_query.iter(&world).count());
    let mut every_query = world.query_filtered::<&Health, (Allow<Prefab>, Allow<Disabled>)>();
    assert_eq!(3, every_query.iter(&world).count());

    world.entity_mut(sleeper).remove::<Disabled>();
    assert_eq!(2, normal_query.iter(&world).count());
    assert!(normal_query.get(&world, sleeper).is_ok());
}

#[test]
fn disabling_a_tree_recursively() {
    let mut world = World::new();
    let root = world.spawn(Health(1)).id();
    world.spawn((Health(2), ChildOf(root)));
    world.entity_mut(root).insert_recursive::<Children>(Disabled);
    assert_eq!(world.query::<&Health>().iter(&world).count(), 0);
    world.entity_mut(root).remove_recursive::<Children, Disabled>();
    assert_eq!(world.query::<&Health>().iter(&world).count(), 2);
}
