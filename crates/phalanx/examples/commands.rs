//! Commands: changes recorded while a query runs, applied before the next system in order.
//!
//! Run with `cargo run -p phalanx --example commands`.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component)]
struct Health(i32);
#[derive(Component)]
struct Poisoned;
#[derive(Component)]
struct Grave(Entity);

fn poison(mut all: Query<&mut Health, With<Poisoned>>) {
    for mut health in &mut all {
        health.0 -= 5;
    }
}

fn reap(mut commands: Commands, all: Query<(Entity, &Health)>) {
    for (entity, health) in &all {
        if health.0 <= 0 {
            commands.entity(entity).despawn();
            // The id is valid at once; the grave is there for systems that are ordered after this one.
            let grave = commands.spawn(Grave(entity)).id();
            println!("{entity} is dead, its grave is {grave}");
        }
    }
}

fn visit(graves: Query<&Grave>, alive: Query<&Health>) {
    println!("{} graves, {} alive", graves.count(), alive.count());
    assert_eq!(graves.count() + alive.count(), 3);
}

fn main() {
    let mut app = App::new();
    app.add_systems(Update, (poison, reap, visit).chain());
    let order = app.schedule(Update).order().expect("no contradiction");
    assert_eq!(order, ["poison", "reap", "ApplyDeferred", "visit"]);
    app.world_mut().spawn_batch([(Health(3), Poisoned), (Health(12), Poisoned)]);
    app.world_mut().spawn(Health(1));
    (0..3).for_each(|_| app.step(0.1));
    let graves: Vec<Entity> = app.world().view::<&Grave>().into_iter().map(|grave| grave.0).collect();
    assert_eq!((graves.len(), app.world().view::<&Health>().count()), (2, 1));
}
