//! Components with row ticks, of every kind.

use phalanx::prelude::*;

#[derive(Component)]
#[component(track = "row")]
struct Health(u32);

#[derive(Component)]
#[component(track = "row", layout = "soa")]
struct Quiet {
    n: u32,
}

#[derive(Component)]
#[component(track = "row")]
struct Cold;

pub fn main() {
    let mut world = World::new();
    world.spawn((Health(1), Quiet { n: 2 }));
    assert_eq!(world.view_filtered::<&Health, Changed<Health>>().count(), 1);
    assert_eq!(world.view_filtered::<Entity, Added<Quiet>>().count(), 1);
    assert_eq!(world.view_filtered::<Entity, Or<(With<Health>, Changed<Cold>)>>().count(), 1);
    assert!(world.view::<Ref<Health>>().into_iter().all(|health| health.0 == 1));
}
