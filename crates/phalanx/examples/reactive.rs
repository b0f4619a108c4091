//! Systems started by change: written values, entities that begin to match, and sets of what is to be looked at.
//!
//! Writing costs the same with listeners or without: written values are found by their ticks, at sync points.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component)]
#[component(track = "row")]
struct Heat(f32);
#[derive(Component)]
#[component(storage = "sparse")]
struct Wet;
#[derive(Component)]
struct Glow;

#[derive(Resource, Default)]
struct Log(Vec<String>);

fn warm(mut all: Query<&mut Heat>) {
    for mut heat in &mut all {
        if heat.0 > 0.0 && heat.0 < 3.0 {
            heat.0 += 1.0;
        }
    }
}

/// Runs for each value that was written since the last sync point.
fn glow(on: On<Mutate<Heat>>, all: Query<&Heat>, mut commands: Commands) {
    if all.get(on.entity).is_ok_and(|heat| heat.0 >= 3.0) {
        commands.entity(on.entity).insert(Glow);
    }
}

/// An entity begins to match: whichever of the two came last, and though one of them is in a sparse set.
fn steam(on: On<Matched<(&Glow, &Wet)>>, mut commands: Commands, mut log: ResMut<Log>) {
    log.0.push(format!("{} steams", on.entity));
    commands.entity(on.entity).remove::<Wet>();
}

/// Collects between two runs: each entity once, whatever happened to it, as long as it lives.
fn redraw(mut changed: Reactive<(Insert<Heat>, Add<Glow>, Remove<Wet>)>, mut log: ResMut<Log>) {
    let changed: Vec<Entity> = changed.read().collect();
    if !changed.is_empty() {
        log.0.push(format!("{} are drawn anew", changed.len()));
    }
}

fn main() {
    let mut app = App::new();
    app.init_resource::<Log>().add_observer(glow).add_observer(steam);
    app.add_systems(Update, (warm, redraw).chain());
    app.world_mut().spawn((Heat(1.0), Wet));
    app.world_mut().spawn(Heat(2.0));
    app.world_mut().spawn((Heat(0.0), Wet));
    for _ in 0..4 {
        app.step(0.1);
    }
    let log = &app.world().resource::<Log>().0;
    println!("{}", log.join("\n"));
    assert_eq!(log.iter().filter(|line| line.ends_with("steams")).count(), 1);
    assert_eq!(log.first().map(String::as_str), Some("3 are drawn anew"));
}
