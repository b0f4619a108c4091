//! Two components that look alike are two types.
use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);
#[derive(Component)]
struct MostHealth(u32);

#[derive(Pool)]
struct Once {
    now: Health,
    most: Option<MostHealth>,
}

pub fn main() {
    let mut world = World::new();
    let entity = world.spawn_in(Once { now: Health(1), most: Some(MostHealth(2)) });
    assert_eq!(world.get::<Health>(entity).unwrap().0, 1);
    assert_eq!(world.get::<MostHealth>(entity).unwrap().0, 2);
}
