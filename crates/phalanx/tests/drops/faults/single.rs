//! Hunts what a panicking `Drop` leaves behind in operations on one entity (hazards 9 and 10).
//!
//! Four rows, an operation on the first, the middle ones or the last, and a panic at the n-th drop, for
//! every n. Whatever panicked: the operation has taken place, the other rows are as they were.

use crate::common::faults::{Run, inject};
use crate::common::ledger::Event;
use crate::common::zoo::{
    Kind, Left, Right, Specimen, TickedFields, Tracked, assert_held, assert_lacks, for_each_counted, name,
};
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Entity, World};

const ROWS: u32 = 4;

/// Entities 0 to 3, each with a value of the kind and a neighbour made from its number.
fn four_rows<K: Kind>(world: &mut World) -> Vec<Entity> {
    (0..ROWS).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect()
}

/// Fails unless all entities but one are as they were spawned.
#[track_caller]
fn others_are_untouched<K: Kind>(world: &World, entities: &[Entity], changed: usize) {
    let others = || entities.iter().copied().zip(0..).filter(|&(entity, _)| entity != entities[changed]);
    assert_held::<K>(world, others());
    assert_held::<Left>(world, others());
}

/// Runs an operation on each of the four rows, with a panic at each drop. There must be `drops` of them.
#[track_caller]
fn on_each_row<K: Kind>(
    drops: usize,
    operate: impl Fn(&mut World, Entity),
    verdict: impl Fn(&World, Entity, u32),
) {
    for (at, seed) in (0..).zip(0..ROWS) {
        let panics = inject(
            Event::Drop,
            four_rows::<K>,
            |world, entities| operate(world, entities[at]),
            |world, entities, _| {
                others_are_untouched::<K>(world, entities, at);
                verdict(world, entities[at], seed);
            },
        );
        assert_eq!(panics, drops, "{}: drops of row {at}", name::<K>());
    }
}

// Hazard 10, O-092, O-094, O-097.
#[test]
fn a_despawned_entity_is_dead_and_its_last_row_moved_whatever_its_drops_do() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED + 1,
            |world, entity| assert!(world.despawn(entity)),
            |world, entity, _| {
                assert!(!world.contains(entity));
                assert_eq!(world.entities().len(), ROWS as usize - 1);
                assert!(world.get::<K>(entity).is_none() && world.get::<Left>(entity).is_none());
            },
        );
    }
    for_each_counted!(scenario);
}

// Hazard 9, O-141.
#[test]
fn an_insert_has_replaced_everything_before_the_old_values_are_dropped() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED + 1,
            |world, entity| {
                world.entity_mut(entity).insert((K::make(20), Left::make(21)));
            },
            |world, entity, _| {
                assert_held::<K>(world, [(entity, 20)]);
                assert_held::<Left>(world, [(entity, 21)]);
            },
        );
    }
    for_each_counted!(scenario);
}

// Hazard 9: the same when the entity moves for another part of the bundle.
#[test]
fn an_insert_has_moved_the_entity_before_the_old_value_is_dropped() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED,
            |world, entity| world.insert(entity, (Right::make(22), K::make(20))).expect("alive"),
            |world, entity, seed| {
                assert_held::<K>(world, [(entity, 20)]);
                assert_held::<Left>(world, [(entity, seed)]);
                assert_held::<Right>(world, [(entity, 22)]);
            },
        );
    }
    for_each_counted!(scenario);
}

// Hazard 9: the value that is not needed panics.
#[test]
fn insert_if_new_has_added_what_is_new_before_the_rest_is_dropped() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED,
            |world, entity| {
                world.entity_mut(entity).insert_if_new((K::make(20), Right::make(22)));
            },
            |world, entity, seed| {
                assert_held::<K>(world, [(entity, seed)]);
                assert_held::<Right>(world, [(entity, 22)]);
            },
        );
    }
    for_each_counted!(scenario);
}

// Hazard 10 for a part of an entity; O-146, O-150.
#[test]
fn a_removed_component_is_gone_before_it_is_dropped() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED,
            |world, entity| world.remove::<(Right, K)>(entity).expect("alive"),
            |world, entity, seed| {
                assert_lacks::<K>(world, entity);
                assert_held::<Left>(world, [(entity, seed)]);
            },
        );
        on_each_row::<K>(
            K::COUNTED,
            |world, entity| {
                let id = world.component_id::<K>().expect("spawned before");
                assert_eq!(world.remove_by_id(entity, id), Ok(true));
            },
            |world, entity, seed| {
                assert_lacks::<K>(world, entity);
                assert_held::<Left>(world, [(entity, seed)]);
            },
        );
    }
    for_each_counted!(scenario);
}

#[test]
fn the_last_components_are_gone_before_they_are_dropped() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED + 1,
            |world, entity| world.remove::<(K, Left)>(entity).expect("alive"),
            |world, entity, _| assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY)),
        );
        on_each_row::<K>(
            K::COUNTED + 1,
            |world, entity| {
                world.entity_mut(entity).clear();
            },
            |world, entity, _| assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY)),
        );
    }
    for_each_counted!(scenario);
}

#[test]
fn retain_has_let_go_of_the_rest_before_it_is_dropped() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED,
            |world, entity| world.retain::<(Left, Right)>(entity).expect("alive"),
            |world, entity, seed| {
                assert_lacks::<K>(world, entity);
                assert_held::<Left>(world, [(entity, seed)]);
            },
        );
        on_each_row::<K>(
            1,
            |world, entity| world.retain::<K>(entity).expect("alive"),
            |world, entity, seed| {
                assert_lacks::<Left>(world, entity);
                assert_held::<K>(world, [(entity, seed)]);
            },
        );
    }
    for_each_counted!(scenario);
}

#[test]
fn what_is_taken_belongs_to_the_taker_alone() {
    fn scenario<K: Kind>() {
        on_each_row::<K>(
            K::COUNTED + 1,
            |world, entity| {
                let taken = world.take::<(K, Left)>(entity);
                assert!(world.take::<(K, Left)>(entity).is_none());
                drop(taken.expect("the entity has both"));
            },
            |world, entity, _| assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY)),
        );
        // Nothing is taken when a part is missing.
        on_each_row::<K>(
            0,
            |world, entity| assert!(world.take::<(K, Right)>(entity).is_none()),
            |world, entity, seed| assert_held::<K>(world, [(entity, seed)]),
        );
    }
    for_each_counted!(scenario);
}

#[test]
fn a_bundle_for_a_dead_entity_is_dropped_once() {
    fn scenario<K: Kind>() {
        let panics = inject(
            Event::Drop,
            |world| {
                let entities = four_rows::<K>(world);
                let dead = world.spawn_empty().id();
                world.despawn(dead);
                (entities, dead)
            },
            |world, (_, dead)| assert!(world.insert(*dead, (K::make(1), Left::make(1))).is_err()),
            |world, (entities, dead), _| {
                assert!(!world.contains(*dead));
                assert_held::<K>(world, entities.iter().copied().zip(0..));
            },
        );
        assert_eq!(panics, K::COUNTED + 1, "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// Writing through a row overwrites in place, field by field.
#[test]
fn a_row_that_is_written_holds_whole_values_whatever_its_drops_do() {
    type K = TickedFields<Tracked>;
    let panics = inject(
        Event::Drop,
        four_rows::<K>,
        |world, entities| {
            let mut row = world.get_mut::<K>(entities[1]).expect("the entity has it");
            row.set(K::make(20));
        },
        |world, entities, run| {
            others_are_untouched::<K>(world, entities, 1);
            let row = world.get::<K>(entities[1]).expect("the entity has it");
            let seeds = [row.first.seed, *row.seed, row.second.seed];
            match run {
                // What comes after the panic in the row's own order is not written.
                Run::Panicked(1) => assert_eq!(seeds, [20, 1, 2]),
                _ => assert_eq!(seeds, [20, 20, 21]),
            }
        },
    );
    assert_eq!(panics, 2);
}

// Hazard 10: more than one panic, in different columns; the first is passed on, none ends the process.
#[test]
fn every_column_of_a_despawned_row_is_dropped_though_all_of_them_panic() {
    use crate::common::ledger::{Ledger, panic_of};
    use phalanx::prelude::Component;

    struct Grenade(&'static str, #[allow(dead_code)] Tracked);
    impl Drop for Grenade {
        fn drop(&mut self) {
            panic!("{}", self.0);
        }
    }
    #[derive(Component)]
    struct Apple(#[allow(dead_code)] Grenade);
    #[derive(Component)]
    struct Pear(#[allow(dead_code)] Grenade);

    let grenade = |name| Grenade(name, Tracked::make(0));
    let ledger = Ledger::open();
    let mut world = World::new();
    let entities: Vec<Entity> = (0..3)
        .map(|seed| world.spawn((Apple(grenade("apple")), Left::make(seed), Pear(grenade("pear")))).id())
        .collect();
    for (left, gone) in [(2, entities[0]), (1, entities[2]), (0, entities[1])] {
        let panic = panic_of(|| world.despawn(gone));
        assert!(panic.is_some_and(|fruit| ["apple", "pear"].contains(&fruit.as_str())));
        assert_eq!((world.contains(gone), ledger.live()), (false, left * 3));
        world.check().expect("the world is consistent");
    }
    drop(world);
    ledger.all_dropped_once();
}
