//! Hazard 33: nothing public lends the insides of a world or a query for writing, so that they cannot be exchanged.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn worlds(one: &mut World, two: &mut World) {
    std::mem::swap(one.entities(), two.entities());
    std::mem::swap(one.archetypes(), two.archetypes());
    std::mem::swap(one.components(), two.components());
    std::mem::swap(&mut one.store, &mut two.store);
}

fn states(one: &mut QueryState<&'static Health>, two: &mut QueryState<&'static Health>) {
    std::mem::swap(one.filter(), two.filter());
    std::mem::swap(&mut one.fetch, &mut two.fetch);
}

fn queries(one: &mut Query<'_, '_, &'static Health>, two: &mut Query<'_, '_, &'static Health>) {
    std::mem::swap(&mut one.view, &mut two.view);
}

fn main() {}
