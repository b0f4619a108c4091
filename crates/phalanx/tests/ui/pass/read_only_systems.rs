//! Systems that only read.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);
#[derive(Resource)]
struct Score(u32);
#[derive(SystemParam)]
struct Scoring<'w> {
    score: Res<'w, Score>,
}

fn ask(_: impl ReadOnlySystem) {}

pub fn main() {
    ask(IntoSystem::into_system(|all: Query<&Health>| _ = all.iter().map(|health| health.0).sum::<u32>()));
    ask(IntoSystem::into_system(|score: Res<Score>, scoring: Scoring| assert_eq!(score.0, scoring.score.0)));
}
