//! Indexes: entities by value, by range, and by name, without a scan.
//!
//! Run with `cargo run -p phalanx --example index`.

#![expect(clippy::unwrap_used, reason = "what is missing here is a mistake of the example")]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component, Clone, PartialEq, Eq, Hash)]
struct Faction(u8);
#[derive(Component, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Level(u32);
#[derive(Component)]
struct Pay(u32);

/// The index names those that are looked at; the others are not visited.
fn pay(factions: Index<Faction>, mut all: Query<&mut Pay>) {
    for mut pay in all.iter_where_mut(&factions, &Faction(3)) {
        pay.0 += 10;
    }
}

fn main() {
    let mut world = World::new();
    let everyone: Vec<Entity> =
        world.spawn_batch((0..100_000).map(|n: u32| (Faction((n % 7) as u8), Level(n), Pay(0)))).collect();

    // The first question makes the index; later ones look only at what was written since.
    println!("{} serve the third faction", world.entities_with(&Faction(3)).len());
    world.get_mut::<Faction>(everyone[0]).unwrap().0 = 99;
    assert_eq!(world.entities_with(&Faction(99)), [everyone[0]]);

    // In the order of values.
    let best = world.entities_in_range(Level(99_998)..);
    assert_eq!(best, everyone[99_998..]);
    println!("the best are {best:?}");

    // Systems ask the same index.
    world.run_system_once(pay).unwrap();
    let paid = world.view::<(&Faction, &Pay)>().iter().filter(|(_, pay)| pay.0 == 10).count();
    assert_eq!(paid, world.entities_with(&Faction(3)).len());

    world.spawn((Name::new("keep"), children![Name::new("gate"), Name::new("tower")]));
    world.spawn((Name::new("camp"), children![Name::new("gate")]));
    let gate = world.named("keep/gate").unwrap();
    println!("the gate of the keep is {gate}");
    println!("but: {}", world.named("gate").unwrap_err());
    world.get_mut::<Name>(gate).unwrap().set("portcullis");
    assert_eq!(world.named("portcullis"), Ok(gate));
    assert!(world.named("gate").is_ok(), "there is only one left");
}
