//! A query of a pool asks for what the pool declares; any other query may ask for anything.
use phalanx::prelude::*;

#[derive(Component)]
struct Position {
    x: f32,
}
#[derive(Component)]
struct Health(u32);
#[derive(Component)]
struct Rage(f32);
#[derive(Component)]
struct Wings;

#[derive(Pool)]
struct Orcs {
    position: Position,
    health: Health,
    rage: Option<Rage>,
}

pub fn main() {
    let mut world = World::new();
    let orc = world.spawn_in(Orcs { position: Position { x: 1.0 }, health: Health(1), rage: None });
    let mut orcs = world.pool_mut::<Orcs>();
    assert_eq!(orcs.query::<(&mut Position, Option<&Rage>)>().count(), 1);
    assert_eq!(orcs.query_filtered::<&Health, Without<Rage>>().count(), 1);
    assert_eq!((orcs.get::<Health>(orc).unwrap().0, orcs.get::<Position>(orc).unwrap().x), (1, 1.0));
    assert!(orcs.get::<Rage>(orc).map(|rage| rage.0).is_err());
    assert_eq!(world.view_filtered::<Option<&Wings>, InPool<Orcs>>().count(), 1);
}
