//! What is to change is collected, or recorded as a command, and done when the rows are given back.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Cold;

fn spawn(world: &mut World) {
    let healths: Vec<u32> = world.view::<&Health>().into_iter().map(|health| health.0).collect();
    world.spawn_batch(healths.into_iter().map(Health));
}

fn despawn(world: &mut World) {
    let mut dead = Vec::new();
    for (e, mut health) in world.view_mut::<(Entity, &mut Health)>() {
        health.0 = 0;
        dead.push(e);
    }
    world.despawn_batch(dead.into_iter().skip(1));
}

fn insert(world: &mut World, state: &mut QueryState<Entity>) {
    let all: Vec<Entity> = state.iter(world).collect();
    for e in all {
        world.entity_mut(e).insert(Cold);
    }
}

fn remove_when_chunks_are_gone(world: &mut World, e: Entity) {
    for (entities, healths) in world.view::<(Entity, &Health)>().chunks() {
        let _ = (entities, healths);
    }
    world.entity_mut(e).remove::<Cold>();
}

fn clear_when_columns_are_gone(world: &mut World, id: phalanx::ComponentId) {
    let query = world.query_builder().with(id).build();
    for table in query.tables(world) {
        let _ = table.column::<Health>(id, "");
    }
    world.clear_entities();
}

fn drop_archetypes_and_register(world: &mut World) {
    world.view::<&Health>().count();
    world.drop_empty_archetypes();
    world.register_component::<Cold>();
    world.view::<&Health>().count();
}

fn use_a_reference_before_a_flush(world: &mut World, e: Entity) {
    let health = world.get_mut::<Health>(e);
    let _ = health.map(|health| health.0);
    world.flush();
}

pub fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    spawn(&mut world);
    despawn(&mut world);
    let mut state = world.query();
    insert(&mut world, &mut state);
    remove_when_chunks_are_gone(&mut world, e);
    use_a_reference_before_a_flush(&mut world, e);
    let id = world.register_component::<Health>();
    clear_when_columns_are_gone(&mut world, id);
    drop_archetypes_and_register(&mut world);
}
