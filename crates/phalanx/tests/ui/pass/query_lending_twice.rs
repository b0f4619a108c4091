//! Each choice is used, then the next one is fetched.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn combinations(query: &mut Query<'_, '_, &'static mut Health>) {
    let mut pairs = query.iter_combinations_mut::<2>();
    let one = pairs.fetch_next();
    let _ = one;
    let two = pairs.fetch_next();
    let _ = two;
}

fn lists(query: &mut Query<'_, '_, &'static mut Health>, e: Entity) {
    let mut rows = query.iter_many_mut([e, e]).matched();
    let one = rows.fetch_next();
    let _ = one;
    let two = rows.fetch_next();
    let _ = two;
}

fn beside_the_query(query: &mut Query<'_, '_, &'static mut Health>) {
    let count = query.count() as u32;
    let mut pairs = query.iter_combinations_mut::<2>();
    while let Some([mut a, _]) = pairs.fetch_next() {
        a.0 = count;
    }
}

pub fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    let mut query = world.view_mut();
    combinations(&mut query);
    lists(&mut query, e);
    beside_the_query(&mut query);
}
