//! A group may get a stable component, and a stable set is compacted.

use phalanx::prelude::*;

#[derive(Component)]
#[component(storage = "sparse", stable)]
struct Seat(u32);

#[derive(Component)]
#[component(storage = "sparse")]
struct Plain(u32);

pub fn main() {
    let mut world = World::new();
    world.spawn((Seat(1), Plain(2)));
    let group = world.group::<Own<(Plain,)>, Get<(Seat,)>, ()>().expect("no group owns it");
    assert_eq!(group.iter(&world).map(|(_, (plain,), (seat,))| plain.0 + seat.0).sum::<u32>(), 3);
    assert_eq!(world.sparse_mut::<Seat>().compact(), 0);
}
