//! Observers: systems that an event starts, be it one of the world's own or one of yours.
//!
//! A mine explodes when a unit steps on it; the explosion starts others. Each event reaches all of its observers
//! before what they queued happens, and what they queued happens before `trigger` returns.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy)]
struct Place(i32);
#[derive(Component)]
struct Mine {
    reach: i32,
}
#[derive(Component)]
struct Defused;

/// Something happened to a mine.
#[derive(EntityEvent)]
struct Explode {
    entity: Entity,
}

#[derive(Resource, Default)]
struct Report(Vec<String>);

fn explode(on: On<Explode>, mines: Query<(Entity, &Place, &Mine), Without<Defused>>, mut commands: Commands) {
    let Ok((_, center, mine)) = mines.get(on.entity) else { return };
    commands.entity(on.entity).despawn();
    for (other, place, _) in &mines {
        if other != on.entity && (place.0 - center.0).abs() <= mine.reach {
            commands.trigger(Explode { entity: other });
        }
    }
}

fn tell(on: On<Remove<Mine>>, places: Query<&Place>, mut report: ResMut<Report>) {
    // The mine is about to go, and can still be read.
    let place = places.get(on.entity).map_or(0, |place| place.0);
    report.0.push(format!("boom at {place}"));
}

fn count(on: On<Add<Mine>>, mut report: ResMut<Report>) {
    report.0.push(format!("{} mines are laid", on.entities().len()));
}

fn main() {
    let mut world = World::new();
    world.init_resource::<Report>();
    world.add_observer(explode);
    world.add_observer(tell);
    // Called once for all that are spawned together.
    world.add_observer(Observer::new(count).batched());

    let places = [0, 2, 4, 9, 10];
    let mines: Vec<Entity> = world.spawn_batch(places.map(|at| (Place(at), Mine { reach: 2 }))).collect();

    // An observer of one entity, which goes with it.
    world.entity_mut(mines[1]).observe(|_: On<Explode>, mut report: ResMut<Report>| {
        report.0.push("the second mine was hit".into());
    });
    world.insert(mines[2], Defused).expect("it is alive");
    world.trigger(Explode { entity: mines[0] });

    let report = &world.resource::<Report>().0;
    println!("{}", report.join("\n"));
    assert_eq!(report, &["5 mines are laid", "boom at 0", "the second mine was hit", "boom at 2"]);
    assert_eq!(mines.iter().filter(|&&mine| world.contains(mine)).count(), 3);
}
