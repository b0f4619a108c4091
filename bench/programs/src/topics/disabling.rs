// Entities that queries pass over, and queries that do not.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Id(u32);
#[derive(Component)]
struct Sleeping;

fn report(
    awake: Query<&Id>,
    sleeping: Query<&Id, With<Disabled>>,
    all: Query<(&Id, Has<Disabled>), Allow<Disabled>>,
    mut out: ResMut<Out>,
) {
    let sorted = |mut ids: Vec<u32>| {
        ids.sort();
        ids
    };
    let awake = sorted(awake.iter().map(|id| id.0).collect());
    let sleeping = sorted(sleeping.iter().map(|id| id.0).collect());
    let count = all.iter().filter(|(_, disabled)| *disabled).count();
    writeln!(out.0, "{awake:?} {sleeping:?} {count} of {}", all.iter().count()).unwrap();
}

pub fn program() -> String {
    let mut world = World::new();
    world.init_resource::<Out>();
    let ids: Vec<Entity> = (1..=5).map(|id| world.spawn(Id(id)).id()).collect();
    let mut schedule = Schedule::default();
    schedule.add_systems(report);
    schedule.run(&mut world);
    world.entity_mut(ids[1]).insert(Disabled);
    world.spawn((Id(6), Disabled, ChildOf(ids[0])));
    schedule.run(&mut world);
    world.entity_mut(ids[3]).insert_recursive::<Children>(Disabled);
    let children = world.get::<Children>(ids[0]).map_or(0, |children| children.len());
    writeln!(world.resource_mut::<Out>().0, "{children} children").unwrap();
    schedule.run(&mut world);
    world.entity_mut(ids[1]).remove::<Disabled>();
    world.entity_mut(ids[4]).insert(Sleeping);
    schedule.run(&mut world);
    world.entity_mut(ids[0]).despawn();
    schedule.run(&mut world);
    std::mem::take(&mut world.resource_mut::<Out>().0)
}
