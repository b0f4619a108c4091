//! A pool is a struct with named fields that are components, and its attributes say what they mean.
use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);
struct Plain;

#[derive(Pool)]
struct Tuple(Health);

#[derive(Pool)]
struct Unit;

#[derive(Pool)]
enum Either {
    Health(Health),
}

#[derive(Pool)]
struct Borrows<'a> {
    health: &'a Health,
}

#[derive(Pool)]
#[pool(storage = "sparse")]
struct Sparse {
    health: Health,
}

#[derive(Pool)]
#[pool(capacity = "10")]
struct Capacity {
    health: Health,
}

#[derive(Pool)]
#[pool(size = 10)]
struct Key {
    health: Health,
}

#[derive(Pool)]
#[pool(name = "")]
struct Nameless {
    health: Health,
}

#[derive(Pool)]
struct Inside {
    #[pool(storage = "boxed")]
    health: Health,
}

#[derive(Pool)]
struct Odd {
    plain: Plain,
}

fn main() {
    World::new().spawn_in(Health(1));
    World::new().register_pool::<Health>();
}
