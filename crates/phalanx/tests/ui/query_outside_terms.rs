//! A system reaches the components that its query names, and no others.

use phalanx::prelude::*;

#[derive(Component)]
struct Position(f32);

#[derive(Component)]
struct Velocity(f32);

fn steer(query: Query<(Entity, &Position)>) {
    for (entity, position) in &query {
        let velocity: &Velocity = position;
        assert!(position.0 < velocity.0);
        let _ = entity.get::<Velocity>();
    }
    let (_, _, velocity) = query.single().expect("one");
}

fn main() {
    let mut world = World::new();
    let mut schedule = phalanx::schedule::Schedule::default();
    schedule.add_systems(steer);
}
