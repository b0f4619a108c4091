// Hooks of components: in which order they run, what they see, and what their commands do.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Health(i32);
#[derive(Component)]
struct Armour(i32);
#[derive(Component)]
struct Guard;

fn say(world: &mut DeferredWorld, what: &str, entity: Entity) {
    let health = world.get::<Health>(entity).map(|health| health.0);
    let armour = world.get::<Armour>(entity).map(|armour| armour.0);
    writeln!(world.resource_mut::<Out>().0, "{what}: {health:?} {armour:?}").unwrap();
}

fn register(world: &mut World) {
    world
        .register_component_hooks::<Health>()
        .on_add(|mut world, context| say(&mut world, "add health", context.entity))
        .on_insert(|mut world, context| say(&mut world, "insert health", context.entity))
        .on_discard(|mut world, context| say(&mut world, "discard health", context.entity))
        .on_remove(|mut world, context| say(&mut world, "remove health", context.entity))
        .on_despawn(|mut world, context| say(&mut world, "despawn health", context.entity));
    world
        .register_component_hooks::<Armour>()
        .on_add(|mut world, context| say(&mut world, "add armour", context.entity))
        .on_insert(|mut world, context| say(&mut world, "insert armour", context.entity))
        .on_discard(|mut world, context| say(&mut world, "discard armour", context.entity))
        .on_remove(|mut world, context| {
            say(&mut world, "remove armour", context.entity);
            world.commands().queue(|world: &mut World| {
                writeln!(world.resource_mut::<Out>().0, "after the armour went").unwrap();
            });
        });
    world.register_component_hooks::<Guard>().on_add(|mut world, context| {
        say(&mut world, "add guard", context.entity);
        world.commands().entity(context.entity).insert(Armour(9));
        // Commands wait until the change is complete.
        say(&mut world, "still", context.entity);
    });
}

pub fn program() -> String {
    let mut world = World::new();
    world.init_resource::<Out>();
    register(&mut world);
    let step = |world: &mut World, what: &str| writeln!(world.resource_mut::<Out>().0, "-- {what}").unwrap();
    step(&mut world, "spawn both");
    let both = world.spawn((Health(1), Armour(2))).id();
    step(&mut world, "replace");
    world.entity_mut(both).insert(Health(3));
    step(&mut world, "insert if new");
    world.entity_mut(both).insert_if_new(Health(4));
    step(&mut world, "remove armour");
    world.entity_mut(both).remove::<Armour>();
    step(&mut world, "remove what is not there");
    world.entity_mut(both).remove::<Armour>();
    step(&mut world, "guard");
    world.entity_mut(both).insert(Guard);
    step(&mut world, "take");
    let taken = world.entity_mut(both).take::<Armour>().map(|armour| armour.0);
    writeln!(world.resource_mut::<Out>().0, "took {taken:?}").unwrap();
    step(&mut world, "despawn");
    world.despawn(both);
    step(&mut world, "batch");
    world.spawn_batch((0..2).map(|n| (Health(n),)));
    std::mem::take(&mut world.resource_mut::<Out>().0)
}
