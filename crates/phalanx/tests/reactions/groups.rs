//! Groups and reactions: whoever hears of a change finds groups in line with it.

use phalanx::prelude::*;

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
