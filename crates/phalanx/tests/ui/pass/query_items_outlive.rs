//! What a query lends out lives as long as the borrow it came from.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn world_lives(world: &World) -> Option<&Health> {
    world.view::<&Health>().into_iter().next()
}

fn world_lives_for_columns(world: &mut World) -> Vec<&mut [Health]> {
    world.view_mut::<&mut Health>().into_chunks().collect()
}

fn query_lives(world: &mut World, e: Entity) {
    let mut query = world.view_mut::<&mut Health>();
    let item = query.get_mut(e);
    let _ = item;
    drop(query);
}

fn state_lives<'w>(world: &'w World, state: &'w mut QueryState<&'static Health>) -> Option<&'w Health> {
    state.iter(world).next()
}

fn reborrow_lives<'a>(query: &'a mut Query<'_, '_, &'static mut Health>) -> Option<Mut<'a, Health>> {
    query.iter_mut().next()
}

fn readonly_lives<'a>(query: &'a Query<'_, '_, &'static mut Health>) -> Option<&'a Health> {
    query.iter().next()
}

pub fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    assert!(world_lives(&world).is_some_and(|health| health.0 == 1));
    assert_eq!(world_lives_for_columns(&mut world).len(), 1);
    query_lives(&mut world, e);
    let mut state = world.query();
    assert!(state_lives(&world, &mut state).is_some());
    let mut query = world.view_mut();
    assert!(reborrow_lives(&mut query).is_some());
    assert!(readonly_lives(&query).is_some());
}
