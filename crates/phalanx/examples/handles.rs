//! Handles: entities of a pool that remember where they were, and notice when they are not there any more.
//!
//! Run with `cargo run -p phalanx --example handles`.

use phalanx::prelude::*;

#[derive(Component, Debug, PartialEq)]
struct Health(i32);
#[derive(Component, Debug, PartialEq)]
struct Shield(i32);

#[derive(Pool)]
struct Guards {
    health: Health,
    shield: Option<Shield>,
}

#[derive(Pool)]
struct Veterans {
    health: Health,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let guards: Vec<Entity> =
        (0..4).map(|n| world.spawn_in(Guards { health: Health(n), shield: None })).collect();
    let mut last = world.pool::<Guards>().handle(guards[3])?;

    // As long as the guard stays in its row, the entity directory is not asked.
    for _ in 0..1_000 {
        assert_eq!(world.pool::<Guards>().get::<Health>(last)?, &Health(3));
    }
    println!("1,000 reads, {} look-ups", world.stats().handle_repairs);

    // Another guard leaves, and the last one takes its row: lent as `&mut`, the handle remembers the new place.
    world.despawn(guards[0]);
    world.pool_mut::<Guards>().get_mut::<Health>(&mut last)?.0 += 1;
    assert_eq!(world.pool::<Guards>().get::<Health>(last)?, &Health(4));
    println!("after a move: {} look-up", world.stats().handle_repairs);

    // Getting a shield moves the guard to another archetype of the same pool.
    world.pool_mut::<Guards>().insert(last, Shield(2))?;
    assert_eq!(world.pool::<Guards>().get::<Shield>(&mut last)?, &Shield(2));

    // In another pool the guard is out of reach, and the error says where it went.
    world.pool_mut::<Guards>().remove::<Shield>(last)?;
    world.migrate::<Guards, Veterans>(last.entity())?;
    let error = world.pool::<Guards>().get::<Health>(last).expect_err("it is a veteran now");
    println!("{error}");

    // A dead guard is never mistaken for the one that has its place.
    let mut second = world.pool::<Guards>().handle(guards[1])?;
    world.pool_mut::<Guards>().despawn(second)?;
    world.spawn_in(Guards { health: Health(9), shield: None });
    let error = world.pool::<Guards>().get::<Health>(&mut second).expect_err("it is dead");
    println!("{error}");
    Ok(())
}
