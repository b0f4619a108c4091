//! Systems that only read, and components that are replaced.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);
#[derive(Resource)]
struct Score(u32);
#[derive(SystemParam)]
struct Scoring<'w> {
    score: Res<'w, Score>,
}
#[derive(Component)]
#[component(immutable)]
struct Owner(u32);

fn ask(_: impl ReadOnlySystem) {}

fn main() {
    ask(IntoSystem::into_system(|all: Query<&Health>| _ = all.iter().map(|health| health.0).sum::<u32>()));
    ask(IntoSystem::into_system(|score: Res<Score>, scoring: Scoring| assert_eq!(score.0, scoring.score.0)));
    let mut world = World::new();
    let owned = world.spawn(Owner(2)).id();
    world.entity_mut(owned).insert(Owner(3));
    assert_eq!(world.get::<Owner>(owned).map(|owner| owner.0), Some(3));
}
