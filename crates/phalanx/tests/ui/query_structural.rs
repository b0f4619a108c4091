//! Hazard 39, O-278: while rows are borrowed, nothing can come, go or move.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Cold;

fn spawn(world: &mut World) {
    for health in world.view::<&Health>() {
        world.spawn(Health(health.0));
    }
}

fn despawn(world: &mut World) {
    for (e, mut health) in world.view_mut::<(Entity, &mut Health)>() {
        health.0 = 0;
        world.despawn(e);
    }
}

fn insert(world: &mut World, state: &mut QueryState<Entity>) {
    for e in state.iter(world) {
        world.entity_mut(e).insert(Cold);
    }
}

fn remove_while_chunks_live(world: &mut World, e: Entity) {
    for (entities, healths) in world.view::<(Entity, &Health)>().chunks() {
        world.entity_mut(e).remove::<Health>();
        let _ = (entities, healths);
    }
}

fn clear_while_a_column_lives(world: &mut World, id: phalanx::ComponentId) {
    let query = world.query_builder().with(id).build();
    for table in query.tables(world) {
        world.clear_entities();
        let _ = table.column::<Health>(id, "");
    }
}

fn drop_archetypes(world: &mut World) {
    let query = world.view::<&Health>();
    world.drop_empty_archetypes();
    query.count();
}

fn register(world: &mut World) {
    let query = world.view::<&Health>();
    world.register_component::<Cold>();
    query.count();
}

fn hold_a_reference_across_a_flush(world: &mut World, e: Entity) {
    let health = world.get_mut::<Health>(e);
    world.flush();
    let _ = health.map(|health| health.0);
}

fn main() {}
