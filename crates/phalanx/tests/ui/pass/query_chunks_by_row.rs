//! A filter that decides by archetype has chunks; one that decides by row has rows.

use phalanx::prelude::*;

#[derive(Component)]
#[component(track = "row")]
struct Health(u32);

pub fn main() {
    let mut world = World::new();
    world.spawn(Health(1));
    assert_eq!(world.view_filtered::<&Health, With<Health>>().chunks().count(), 1);
    assert_eq!(world.view_filtered::<&Health, (With<Health>, With<Health>)>().tables().count(), 1);
    assert_eq!(world.view_filtered_mut::<&mut Health, Or<(With<Health>,)>>().chunks_mut().count(), 1);
    let query = world.view::<&Health>();
    assert_eq!(query.chunks_changed_since(Tick::ZERO).count(), 1);
    assert_eq!(query.iter().len(), 1);
    assert_eq!(world.view_filtered::<&Health, Changed<Health>>().iter().count(), 1);
}
