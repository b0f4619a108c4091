//! A sparse component that comes and goes alone takes a shorter way than as a part of a bundle: two worlds with one
//! history, one on each way, cannot be told apart, whichever groups and pools come and go meanwhile.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::ledger::{Event, Ledger, Serial, panic_of};
use crate::common::random::Random;
use crate::common::sparse_twins::{Burn, Held, Seat, Spark, assert_same_sets};
use phalanx::prelude::*;
use phalanx::world::ChangeError;

macro_rules! sparse_components {
    ($($name:ident)*) => {$(
        #[derive(Component, Clone, Debug, PartialEq)]
        #[component(storage = "sparse")]
        struct $name(u32);
    )*};
}
sparse_components!(A B C D);

#[derive(Component, Clone, Debug, PartialEq)]
struct Frozen;

#[derive(Pool)]
struct Orcs {
    frozen: Frozen,
    a: Option<A>,
}

type Ab = Group<Own<(A, B)>, Get<()>, Without<Frozen>>;
type Seats = Group<Own<()>, Get<(Seat, A)>, Without<C>>;
type Burns = Group<Own<(D,)>, Get<(Burn,)>, Without<Spark>>;

/// The same groups in both worlds, as far as they exist now.
#[derive(Default)]
struct Groups(Option<Ab>, Option<Seats>, Option<Burns>);

fn turn(world: &mut World, groups: &mut Groups, which: usize) {
    macro_rules! turn {
        ($at:tt) => {
            match groups.$at.take() {
                Some(group) => world.ungroup(group).unwrap(),
                None => groups.$at = Some(world.group().unwrap()),
            }
        };
    }
    match which {
        0 => turn!(0),
        1 => turn!(1),
        _ => turn!(2),
    }
}

#[test]
fn alone_and_in_a_bundle_a_component_comes_and_goes_alike() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let (mut alone, mut bundled) = (World::new(), World::new());
        let (mut groups, mut bundled_groups) = (Groups::default(), Groups::default());
        let mut ids: Vec<Entity> = (0..12).map(|_| alone.spawn_empty().id()).collect();
        assert!((0..12).map(|_| bundled.spawn_empty().id()).eq(ids.iter().copied()));
        for step in 0..600u32 {
            let at = random.below(ids.len());
            let entity = ids[at];
            macro_rules! change {
                ($value:expr, $component:ty) => {
                    if random.chance(2) {
                        let (a, b) = (alone.insert(entity, $value), bundled.insert(entity, ($value,)));
                        assert_eq!(a, b);
                    } else {
                        let (a, b) =
                            (alone.remove::<$component>(entity), bundled.remove::<($component,)>(entity));
                        assert_eq!(a, b);
                    }
                };
            }
            match random.below(24) {
                0..5 => change!(A(step), A),
                5..9 => change!(B(step), B),
                9..11 => change!(C(step), C),
                11..13 => change!(D(step), D),
                13..16 => change!(Seat(step), Seat),
                16..18 => change!(Burn { dps: step, by: step.to_string() }, Burn),
                18..20 => change!(Spark, Spark),
                20 => change!(Frozen, Frozen),
                21 => {
                    assert_eq!(alone.despawn(entity), bundled.despawn(entity));
                    if random.chance(2) {
                        // Otherwise the dead one stays among those that are changed.
                        ids[at] = alone.spawn_empty().id();
                        assert_eq!(bundled.spawn_empty().id(), ids[at]);
                    }
                }
                _ if random.chance(4) => {
                    let which = random.below(3);
                    turn(&mut alone, &mut groups, which);
                    turn(&mut bundled, &mut bundled_groups, which);
                }
                _ => {
                    alone.increment_change_tick();
                    bundled.increment_change_tick();
                }
            }
            alone.check().unwrap();
            bundled.check().unwrap();
            assert_same_sets!(&alone, &bundled, &ids, A B C D Seat Burn Spark);
        }
    }
}

#[test]
fn a_way_that_was_open_is_closed_by_a_group_and_open_again_without_it() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..6).map(|n| world.spawn(A(n)).id()).collect();
    world.insert(ids[0], B(0)).unwrap();
    let group: Ab = world.group().unwrap();
    world.insert(ids[4], B(4)).unwrap();
    world.insert(ids[4], C(4)).unwrap();
    assert_eq!(group.entities(&world), [ids[0], ids[4]]);
    assert_eq!(world.sparse::<A>().entities()[..2], [ids[0], ids[4]]);
    world.insert(ids[4], B(5)).unwrap();
    assert_eq!(group.len(&world), 2, "a value was replaced, and none was added");
    world.remove::<A>(ids[0]).unwrap();
    assert_eq!(group.entities(&world), [ids[4]]);
    world.check().unwrap();
    world.ungroup(group).unwrap();
    world.remove::<B>(ids[0]).unwrap();
    world.insert(ids[0], A(9)).unwrap();
    assert_eq!((world.get::<A>(ids[0]), world.get::<B>(ids[0])), (Some(&A(9)), None));
    world.check().unwrap();
}

#[test]
fn an_excluded_component_that_comes_puts_out_and_one_that_goes_lets_in() {
    let mut world = World::new();
    let group = world.group::<Own<(A,)>, Get<()>, Without<B>>().unwrap();
    let entity = world.spawn(A(1)).id();
    assert!(group.contains(&world, entity));
    world.insert(entity, B(1)).unwrap();
    assert!(!group.contains(&world, entity));
    world.check().unwrap();
    world.remove::<B>(entity).unwrap();
    assert!(group.contains(&world, entity));
    world.sparse_mut::<B>().insert(entity, B(2)).unwrap();
    assert!(!group.contains(&world, entity));
    world.check().unwrap();
}

#[test]
fn a_way_that_was_open_is_closed_by_a_pool() {
    let mut world = World::new();
    let free = world.spawn_empty().id();
    world.insert(free, B(1)).unwrap();
    let orc = world.spawn_in(Orcs { frozen: Frozen, a: None });
    assert!(matches!(world.insert(orc, B(1)), Err(ChangeError::NotInPool(_))));
    assert!(matches!(world.sparse_mut::<B>().insert(orc, B(1)), Err(ChangeError::NotInPool(_))));
    world.insert(orc, A(1)).unwrap();
    world.insert(free, B(2)).unwrap();
    world.remove::<A>(orc).unwrap();
    assert_eq!((world.get::<A>(orc), world.get::<B>(orc), world.get::<B>(free)), (None, None, Some(&B(2))));
    world.check().unwrap();
}

#[test]
fn the_dead_are_told_apart_on_every_way() {
    let mut world = World::new();
    for grouped in [false, true] {
        if grouped {
            world.group::<Own<(A, B)>, Get<()>, Without<Frozen>>().unwrap();
        }
        let dead = world.spawn(A(1)).id();
        world.despawn(dead);
        let next = world.spawn_empty().id();
        assert_eq!(next.index(), dead.index());
        for entity in [dead, Entity::PLACEHOLDER] {
            assert!(matches!(world.insert(entity, A(1)), Err(ChangeError::NoSuchEntity(_))));
            assert!(matches!(world.remove::<A>(entity), Err(ChangeError::NoSuchEntity(_))));
        }
        assert!(world.remove::<A>(next).is_ok(), "what it lacks is no error");
        world.insert(next, A(2)).unwrap();
        assert!(world.remove::<A>(dead).is_err() && world.get::<A>(next) == Some(&A(2)));
        world.check().unwrap();
    }
}

#[test]
fn a_value_whose_drop_panics_is_gone_and_groups_are_right() {
    for grouped in [false, true] {
        let ledger = Ledger::open();
        let mut world = World::new();
        let ids: Vec<Entity> = (0..4).map(|n| world.spawn((A(n), Held(Serial::new()))).id()).collect();
        let group = grouped.then(|| world.group::<Own<(A, Held)>, Get<()>, ()>().unwrap());
        ledger.plan(Event::Drop, 1);
        assert!(panic_of(|| world.insert(ids[1], Held(Serial::new()))).is_some());
        world.check().unwrap();
        assert!(world.get::<Held>(ids[1]).is_some());
        ledger.plan(Event::Drop, 1);
        assert!(panic_of(|| world.remove::<Held>(ids[1])).is_some());
        world.check().unwrap();
        assert!(world.get::<Held>(ids[1]).is_none());
        assert!(group.is_none_or(|group| !group.contains(&world, ids[1]) && group.len(&world) == 3));
        drop(world);
        ledger.all_dropped_once();
    }
}
