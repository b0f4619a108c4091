//! Relations of one's own: data beside the target, one-to-one, cycles that mean something, many to many with values.
//!
//! Run with `cargo run -p phalanx --example relations`.

#![expect(clippy::unwrap_used, reason = "what is missing here is a mistake of the example")]

use phalanx::prelude::*;
use phalanx::relation::EntityList;

/// Which sailor serves on which ship, for how much.
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

/// Entities may follow one another in a circle.
#[derive(Component)]
#[relationship(relationship_target = Followers, cyclic)]
struct Follows(Entity);
#[derive(Component)]
#[relationship_target(relationship = Follows)]
struct Followers(Vec<Entity>);

/// Any number of sailors like any number of others, each so much.
#[derive(Component, Clone)]
#[relationship(many)]
struct Likes {
    #[target]
    whom: Entity,
    amount: u32,
}

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

    // Edges are read from both ends: as a slice of values, and as the entities that have one here.
    for (who, whom, amount) in [(0, 2, 7), (1, 2, 2), (0, 1, 1)] {
        world.link(crew[who], Likes { whom: crew[whom], amount }).unwrap();
    }
    let given: u32 = world.related::<Likes>(crew[0]).iter().map(|likes| likes.amount).sum();
    let got: u32 = world.edges_to::<Likes>(crew[2]).map(|(_, likes)| likes.amount).sum();
    println!("{} likes {given}, {} is liked {got}", crew[0], crew[2]);
    assert_eq!((given, got), (8, 9));
    world.modify_edge::<Likes>(crew[1], crew[2], |likes| likes.amount += 1);
    assert_eq!(world.edge_between::<Likes>(crew[1], crew[2]).unwrap().amount, 3);
    world.despawn(crew[2]);
    assert_eq!(world.related::<Likes>(crew[0]).len(), 1, "edges to the dead are gone");

    world.despawn(hood);
    assert!(world.get::<Serves>(crew[1]).is_none(), "nobody serves on a ship that is gone");
    assert!(world.get::<Followers>(argo).is_none());
    assert_eq!(world.get::<Serves>(crew[4]).unwrap().ship, argo);
}
