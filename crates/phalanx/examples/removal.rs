//! What is gone: an observer looks at it before it goes, and `RemovedComponents` tells afterwards.
//!
//! A removal waits until every system that asks for it has read it. So a fixed step that runs every tenth frame misses
//! none, and reads none twice.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component)]
struct Enemy {
    worth: u32,
}

#[derive(Resource, Default)]
struct Score(u32);
#[derive(Resource, Default)]
struct Cleared(Vec<Entity>);

/// While the value can still be read.
fn score(on: On<Remove<Enemy>>, enemies: Query<&Enemy>, mut score: ResMut<Score>) {
    score.0 += enemies.get(on.entity).map_or(0, |enemy| enemy.worth);
}

/// Later, and seldom.
fn clear_up(mut removed: RemovedComponents<Enemy>, mut cleared: ResMut<Cleared>) {
    assert_eq!(removed.missed(), 0);
    cleared.0.extend(removed.read());
}

fn fight(mut commands: Commands, enemies: Query<(Entity, &Enemy)>) {
    // One per frame: some are despawned, some only change sides.
    if let Some((entity, enemy)) = enemies.iter().next() {
        if enemy.worth.is_multiple_of(2) {
            commands.entity(entity).despawn();
        } else {
            commands.entity(entity).remove::<Enemy>();
        }
    }
}

fn main() {
    let mut app = App::new();
    app.configure(AppConfig { fixed_timestep: 1.0, ..AppConfig::default() });
    app.init_resource::<Score>().init_resource::<Cleared>();
    app.add_observer(score).add_systems(Update, fight).add_systems(FixedUpdate, clear_up);
    app.world_mut().spawn_batch((1..=20).map(|worth| Enemy { worth }));

    for _ in 0..25 {
        app.step(0.1);
    }
    app.step(1.0);
    let (score, cleared) = (app.world().resource::<Score>().0, app.world().resource::<Cleared>().0.len());
    println!("{score} points, {cleared} cleared");
    assert_eq!((score, cleared), (210, 20));
}
