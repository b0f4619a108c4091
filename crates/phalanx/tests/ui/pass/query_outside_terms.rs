//! A system reaches the components that its query names.

use phalanx::prelude::*;

#[derive(Component)]
struct Position(f32);

#[derive(Component)]
struct Velocity(f32);

fn steer(query: Query<(Entity, &Position, &Velocity)>) {
    for (_, position, velocity) in &query {
        let velocity: &Velocity = velocity;
        assert!(position.0 < velocity.0);
    }
    let (_, _, velocity) = query.single().expect("one");
    assert!(velocity.0 > 1.0);
}

pub fn main() {
    let mut world = World::new();
    world.spawn((Position(1.0), Velocity(2.0)));
    let mut schedule = phalanx::schedule::Schedule::default();
    schedule.add_systems(steer);
    schedule.run(&mut world);
}
