//! Hazard 31: what a query lends out cannot outlive the world, the state or the borrow it came from.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn world_gone() -> usize {
    let item = {
        let world = World::new();
        world.view::<&Health>().into_iter().next()
    };
    item.into_iter().count()
}

fn world_gone_for_columns() -> usize {
    let mut chunks = Vec::new();
    {
        let mut world = World::new();
        chunks.extend(world.view_mut::<&mut Health>().into_chunks());
    }
    chunks.len()
}

fn query_gone(world: &mut World, e: Entity) {
    let mut query = world.view_mut::<&mut Health>();
    let item = query.get_mut(e);
    drop(query);
    let _ = item;
}

fn state_gone(world: &World) -> Option<&Health> {
    let mut state = world.query::<&Health>();
    state.iter(world).next()
}

fn reborrow_gone<'w>(query: &mut Query<'w, 'w, &'static mut Health>) -> Option<Mut<'w, Health>> {
    query.iter_mut().next()
}

fn readonly_gone<'w>(query: &Query<'w, 'w, &'static mut Health>) -> Option<&'w Health> {
    query.iter().next()
}

fn main() {
    world_gone();
    world_gone_for_columns();
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    query_gone(&mut world, e);
    state_gone(&world);
    let mut query = world.view_mut();
    reborrow_gone(&mut query);
    readonly_gone(&query);
}
