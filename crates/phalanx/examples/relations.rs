//! Relations of one's own: data beside the target, one-to-one, cycles that mean something.
//!
//! Run with `cargo run -p phalanx --example relations`.

#![expect(clippy::unwrap_used, reason = "what is missing here is a mistake of the example")]

use phalanx::prelude::*;
use phalanx::relation::EntityList;

/// Who serves on which ship, for how much.
#[derive(Component)]
#[relationship(relationship_target = Crew)]
struct Serves {
    #[relationship]
    ship: Entity,
    pay: u32,
}
#[derive(Component)]
#[relationship_target(relationship = Serves)]
struct Crew(EntityList);

/// One captain per ship: a new one takes the place of the old.
#[derive(Component)]
#[relationship(relationship_target = Captain)]
struct CaptainOf(Entity);
#[derive(Component)]
#[relationship_target(relationship = CaptainOf)]
struct Captain(Entity);

/// Who follows whom may go round in a circle.
#[derive(Component)]
#[relationship(relationship_target = Followers, cyclic)]
struct Follows(Entity);
#[derive(Component)]
#[relationship_target(relationship = Follows)]
struct Followers(Vec<Entity>);

fn main() {
    let mut world = World::new();
    let [hood, argo] = ["Hood", "Argo"].map(|name| world.spawn(Name::new(name)).id());
    let crew: Vec<Entity> = (1..=5).map(|pay| world.spawn(Serves { ship: hood, pay }).id()).collect();
    println!("the Hood has a crew of {}", world.get::<Crew>(hood).unwrap().len());

    // The other field stays when the target changes.
    world.entity_mut(argo).add_related::<Serves>(&crew[3..]);
    let pay: u32 =
        world.get::<Crew>(argo).unwrap().iter().map(|who| world.get::<Serves>(who).unwrap().pay).sum();
    println!("the Argo pays {pay}");
    assert_eq!(pay, 9);

    world.insert(crew[0], CaptainOf(hood)).unwrap();
    world.insert(crew[1], CaptainOf(hood)).unwrap();
    assert!(world.get::<CaptainOf>(crew[0]).is_none());
    println!("the captain of the Hood is {}", world.get::<Captain>(hood).unwrap().0);

    world.insert(hood, Follows(argo)).unwrap();
    world.insert(argo, Follows(hood)).unwrap();
    let round = world.view::<&Follows>().iter_ancestors::<Follows>(hood).count();
    println!("the Hood follows {round} ship, and walks come to an end");

    world.despawn(hood);
    assert!(world.get::<Serves>(crew[2]).is_none(), "nobody serves on a ship that is gone");
    assert!(world.get::<Followers>(argo).is_none());
    assert_eq!(world.get::<Serves>(crew[4]).unwrap().ship, argo);
}
