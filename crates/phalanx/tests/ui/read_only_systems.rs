//! A system that writes is none that only reads, whether it says so itself or a struct of its parameters does.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);
#[derive(Resource)]
struct Score(u32);
#[derive(SystemParam)]
struct Scoring<'w> {
    score: ResMut<'w, Score>,
}

fn ask(_: impl ReadOnlySystem) {}

fn main() {
    ask(IntoSystem::into_system(|_: Query<&mut Health>| ()));
    ask(IntoSystem::into_system(|_: Res<Score>, _: Scoring| ()));
}
