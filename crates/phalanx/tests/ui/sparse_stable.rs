//! Rows of a stable set stay where they are: no group can own them, and only a stable set is compacted.

use phalanx::prelude::*;

#[derive(Component)]
#[component(storage = "sparse", stable)]
struct Seat(u32);

#[derive(Component)]
#[component(storage = "sparse")]
struct Plain(u32);

#[derive(Component)]
#[component(stable)]
struct InTable(u32);

#[derive(Component)]
#[component(storage = "table", stable)]
struct InTableToo(u32);

#[derive(Component)]
#[component(storage = "sparse", stable = "yes")]
struct Valued(u32);

fn main() {
    let mut world = World::new();
    let _ = world.group::<Own<(Seat, Plain)>, Get<()>, ()>();
    world.sparse_mut::<Plain>().compact();
}
