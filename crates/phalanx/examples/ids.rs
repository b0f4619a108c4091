//! A client that has the entities of a server under the server's own ids.
//!
//! `spawn_at` brings an id to life that comes from elsewhere, if it is free here and not one of the past. Indices that
//! are skipped are given to entities of the client's own, so both kinds live side by side.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(u32);

/// What the server sends: the entity, and what became of it.
enum Update {
    Spawned(Entity, Health),
    Changed(Entity, Health),
    Gone(Entity),
}

fn apply(client: &mut World, update: &Update) {
    match *update {
        Update::Spawned(entity, health) => {
            if let Err(error) = client.spawn_at(entity, health) {
                println!("  not spawned: {error}");
            }
        }
        Update::Changed(entity, health) => {
            // Late news of an entity that is gone already is no reason to stop.
            if let Some(mut held) = client.get_mut::<Health>(entity) {
                *held = health;
            }
        }
        Update::Gone(entity) => {
            client.despawn(entity);
        }
    }
}

fn main() {
    let mut server = World::new();
    let mut client = World::new();
    let ship = server.spawn(Health(100)).id();
    let sail = server.spawn(Health(10)).id();

    // The second comes first: networks do that.
    let news = [
        Update::Spawned(sail, Health(10)),
        Update::Spawned(ship, Health(100)),
        Update::Changed(ship, Health(70)),
        Update::Gone(sail),
        Update::Spawned(sail, Health(10)), // a copy of the first message, too late
    ];
    for update in &news {
        apply(&mut client, update);
    }
    assert_eq!(client.get::<Health>(ship), Some(&Health(70)));
    assert!(!client.contains(sail));

    // What the client spawns for itself gets another id.
    let marker = client.spawn_empty().id();
    assert!(marker != ship && marker != sail);
    println!("the client has {} entities: the server's {ship} and its own {marker}", client.entity_count());
}
