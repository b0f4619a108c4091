//! Proves that sets and groups neither allocate nor leak: while they are changed, and when a change is refused.
//!
//! An allocator that counts, for each thread by itself, tells how often memory was asked for, and how much is held.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

#[path = "common/counting.rs"]
mod counting;

use counting::{allocations, held};

macro_rules! sparse_components {
    ($($name:ident)*) => {$(
        #[derive(Component, Clone, Debug, PartialEq)]
        #[component(storage = "sparse")]
        struct $name(u32);
    )*};
}
sparse_components!(A B C D);

// Upkeep of groups searches nothing and allocates nothing, whatever kind of group it is.
#[test]
fn changing_grouped_sets_allocates_nothing() {
    let mut world = World::new();
    world.group::<Own<(A, B)>, Get<()>, ()>().unwrap();
    world.group::<Own<(C,)>, Get<(A,)>, Without<D>>().unwrap();
    world.group::<Own<()>, Get<(A, B)>, ()>().unwrap();
    let ids: Vec<Entity> = (0..2_000).map(|n| world.spawn((A(n), C(n))).id()).collect();
    let round = |world: &mut World| {
        ids.iter().for_each(|&e| world.insert(e, B(1)).unwrap());
        ids.iter().step_by(3).for_each(|&e| world.insert(e, (D(1), B(2))).unwrap());
        ids.iter().for_each(|&e| world.remove::<(B, D)>(e).unwrap());
        ids.iter().step_by(2).for_each(|&e| world.remove::<A>(e).unwrap());
        ids.iter().step_by(2).for_each(|&e| world.insert(e, A(3)).unwrap());
    };
    // Pages and rows grow once.
    round(&mut world);
    assert_eq!(allocations(|| round(&mut world)), 0);
    world.check().unwrap();
}

#[derive(Component)]
struct Declared(#[allow(dead_code)] u32);

#[derive(Pool)]
struct Closed {
    declared: Declared,
}

/// Panics when it is dropped.
#[derive(Component)]
#[component(storage = "sparse")]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[derive(Component)]
struct Undeclared(#[allow(dead_code)] u32);

// Issue: the text of a refusal leaked when the sparse part of the refused bundle panicked in its drop.
#[test]
fn a_refusal_whose_bundle_panics_in_its_drop_leaks_nothing() {
    for with_group in [false, true] {
        let mut world = World::new();
        if with_group {
            world.group::<Own<(A,)>, Get<()>, Without<Undeclared>>().unwrap();
        }
        let e = world.spawn_in(Closed { declared: Declared(1) });
        let refuse = |world: &mut World| {
            let single = catch_unwind(AssertUnwindSafe(|| world.insert(e, Bomb).is_ok()));
            let mixed = catch_unwind(AssertUnwindSafe(|| world.insert(e, (Undeclared(1), Bomb)).is_ok()));
            assert!(single.is_err() && mixed.is_err());
        };
        std::panic::set_hook(Box::new(|_| ()));
        refuse(&mut world);
        let before = held();
        (0..100).for_each(|_| refuse(&mut world));
        let held = held() - before;
        drop(std::panic::take_hook());
        assert_eq!(held, 0, "with a group: {with_group}");
        world.check().unwrap();
    }
}
