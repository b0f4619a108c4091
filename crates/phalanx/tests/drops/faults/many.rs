//! Hunts what a panic leaves behind in batches, whole tables, and at the end of a world (hazard 11).
//!
//! A batch stops at the panic: what was complete by then counts, the rest has not happened. A whole-table
//! move happens or not. Clearing and dropping go on to the end, whatever panics on the way.

use crate::common::faults::{Run, inject, is_usable};
use crate::common::ledger::{Event, Ledger, happens, panic_of};
use crate::common::zoo::{
    Kind, Left, Right, Specimen, Tracked, assert_held, assert_lacks, for_each_counted,
    for_each_counted_in_tables, name,
};
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Component, Entity, World};

const ROWS: u32 = 4;

/// Entities 0 to 3, each with a value of the kind and a neighbour made from its number.
fn four_rows<K: Kind>(world: &mut World) -> Vec<Entity> {
    (0..ROWS).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect()
}

fn seeded(entities: &[Entity]) -> impl Iterator<Item = (Entity, u32)> {
    entities.iter().copied().zip(0..)
}

/// The archetype that all these entities have.
#[track_caller]
fn common_archetype(world: &World, entities: &[Entity]) -> ArchetypeId {
    let archetype = world.archetype_of(entities[0]).expect("alive");
    assert!(entities.iter().all(|&entity| world.archetype_of(entity) == Some(archetype)));
    archetype
}

/// An iterator with an event before each step, the one that finds the end included.
fn steps<T>(items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut items = items.fuse();
    std::iter::from_fn(move || {
        happens(Event::Step);
        items.next()
    })
}

/// The same, and it tells beforehand how many there are.
struct Announced<I>(I, usize);

impl<I: Iterator> Iterator for Announced<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.0.next()?;
        self.1 -= 1;
        Some(item)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, Some(self.1))
    }
}

// The "panic at the n-th iterator step"; growth from 8 rows to 16 happens on the way.
#[test]
fn a_batch_whose_iterator_panics_keeps_the_entities_that_were_complete() {
    fn scenario<K: Kind>() {
        const BATCH: u32 = 14;
        let bundles = || (100..100 + BATCH).map(|seed| (K::make(seed), Left::make(seed)));
        let verdict = |world: &World, entities: &Vec<Entity>, run: Run| {
            let complete = match run {
                Run::Panicked(n) => n - 1,
                Run::Finished => BATCH as usize,
            };
            let new: Vec<Entity> =
                world.entities().iter().filter(|entity| !entities.contains(entity)).collect();
            assert_eq!(new.len(), complete, "{}: {run:?}", name::<K>());
            assert_held::<K>(world, seeded(entities).chain(new.iter().copied().zip(100..)));
            assert_held::<Left>(world, seeded(entities).chain(new.iter().copied().zip(100..)));
        };
        let steps_met = inject(
            Event::Step,
            four_rows::<K>,
            |world, _| drop(world.spawn_batch(steps(bundles()))),
            verdict,
        );
        assert_eq!(steps_met, BATCH as usize + 1);
        let steps_met = inject(
            Event::Step,
            four_rows::<K>,
            |world, _| drop(world.spawn_batch(Announced(steps(bundles()), BATCH as usize))),
            verdict,
        );
        assert_eq!(steps_met, BATCH as usize + 1);
    }
    for_each_counted!(scenario);
}

#[test]
fn an_insert_batch_whose_iterator_panics_has_reached_the_entities_before() {
    fn scenario<K: Kind>() {
        let panics = inject(
            Event::Step,
            four_rows::<K>,
            |world, entities| {
                let batch =
                    seeded(entities).map(|(entity, seed)| (entity, (K::make(seed + 20), Right::make(seed))));
                world.insert_batch(steps(batch));
            },
            |world, entities, run| {
                let reached = if let Run::Panicked(n) = run { n - 1 } else { entities.len() };
                assert_held::<Left>(world, seeded(entities));
                assert_held::<K>(world, entities[..reached].iter().copied().zip(20..));
                assert_held::<K>(world, seeded(entities).skip(reached));
                assert_held::<Right>(world, seeded(&entities[..reached]));
                entities[reached..].iter().for_each(|&entity| assert_lacks::<Right>(world, entity));
            },
        );
        assert_eq!(panics, ROWS as usize + 1);
    }
    for_each_counted!(scenario);
}

// Hazard 9 for many entities.
#[test]
fn an_insert_batch_stops_at_a_drop_that_panics_and_that_entity_has_its_new_value() {
    fn scenario<K: Kind>() {
        let panics = inject(
            Event::Drop,
            four_rows::<K>,
            |world, entities| {
                world.insert_batch(seeded(entities).map(|(entity, seed)| (entity, K::make(seed + 20))));
            },
            |world, entities, run| {
                let reached =
                    if let Run::Panicked(n) = run { n.div_ceil(K::COUNTED) } else { entities.len() };
                assert_held::<K>(world, entities[..reached].iter().copied().zip(20..));
                assert_held::<K>(world, seeded(entities).skip(reached));
                assert_held::<Left>(world, seeded(entities));
            },
        );
        assert_eq!(panics, ROWS as usize * K::COUNTED, "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// Hazard 10 for many entities.
#[test]
fn a_drop_that_panics_ends_a_batch_of_removals_and_keeps_no_entity_of_a_batch_of_despawns() {
    fn scenario<K: Kind>() {
        let panics = inject(
            Event::Drop,
            four_rows::<K>,
            |world, entities| {
                world.remove_batch::<K>(entities.iter().copied());
            },
            |world, entities, run| {
                let done = if let Run::Panicked(n) = run { n.div_ceil(K::COUNTED) } else { entities.len() };
                entities[..done].iter().for_each(|&entity| assert_lacks::<K>(world, entity));
                assert_held::<K>(world, seeded(entities).skip(done));
                assert_held::<Left>(world, seeded(entities));
            },
        );
        assert_eq!(panics, ROWS as usize * K::COUNTED, "{}", name::<K>());
        let panics = inject(
            Event::Drop,
            four_rows::<K>,
            |world, entities| {
                world.despawn_batch(entities.iter().copied());
            },
            |world, entities, _| {
                assert!(entities.iter().all(|&entity| !world.contains(entity)));
                assert_eq!(world.entities().len(), 0);
                assert_held::<K>(world, seeded(entities).skip(entities.len()));
                assert_held::<Left>(world, seeded(entities).skip(entities.len()));
            },
        );
        assert_eq!(panics, ROWS as usize * (K::COUNTED + 1), "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// O-152, with a panic at the n-th clone: all or nothing.
#[test]
fn no_entity_moves_when_a_value_for_its_whole_table_cannot_be_cloned() {
    fn scenario<K: Kind>() {
        let arrange = |world: &mut World| {
            let entities: Vec<Entity> = (0..ROWS).map(|seed| world.spawn(Left::make(seed)).id()).collect();
            // Rows that stand at the target already.
            let settled = four_rows::<K>(world);
            (entities, settled)
        };
        let panics = inject(
            Event::Clone,
            arrange,
            |world, (entities, _)| {
                let archetype = common_archetype(world, entities);
                assert_eq!(world.insert_into_archetype(archetype, &K::make(20)), ROWS as usize);
            },
            |world, (entities, settled), run| {
                let archetype = common_archetype(world, entities);
                assert_held::<Left>(world, seeded(entities).chain(seeded(settled)));
                assert_held::<K>(world, seeded(settled));
                if run == Run::Finished {
                    assert_eq!(archetype, common_archetype(world, settled));
                    assert_held::<K>(world, entities.iter().map(|&entity| (entity, 20)));
                } else {
                    entities.iter().for_each(|&entity| assert_lacks::<K>(world, entity));
                }
            },
        );
        assert_eq!(panics, ROWS as usize * K::COUNTED, "{}", name::<K>());
    }
    for_each_counted_in_tables!(scenario);
}

#[test]
fn no_entity_moves_or_changes_when_a_value_that_replaces_cannot_be_cloned() {
    fn scenario<K: Kind>() {
        let panics = inject(
            Event::Clone,
            four_rows::<K>,
            |world, entities| {
                let archetype = common_archetype(world, entities);
                world.insert_into_archetype(archetype, &(K::make(20), Right::make(21)));
            },
            |world, entities, run| {
                common_archetype(world, entities);
                assert_held::<Left>(world, seeded(entities));
                if run == Run::Finished {
                    assert_held::<K>(world, entities.iter().map(|&entity| (entity, 20)));
                    assert_held::<Right>(world, entities.iter().map(|&entity| (entity, 21)));
                } else {
                    assert_held::<K>(world, seeded(entities));
                    entities.iter().for_each(|&entity| assert_lacks::<Right>(world, entity));
                }
            },
        );
        assert_eq!(panics, ROWS as usize * (K::COUNTED + 1), "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// The promise holds for entities without a row as well.
#[test]
fn no_rowless_entity_moves_when_a_value_for_all_of_them_cannot_be_cloned() {
    fn scenario<K: Kind>() {
        let panics = inject(
            Event::Clone,
            |world| -> Vec<Entity> { (0..ROWS).map(|_| world.spawn_empty().id()).collect() },
            |world, _| {
                let count = world.insert_into_archetype(ArchetypeId::EMPTY, &(K::make(20), Left::make(21)));
                assert_eq!(count, ROWS as usize);
            },
            |world, entities, run| {
                let archetype = common_archetype(world, entities);
                if run == Run::Finished {
                    assert_held::<K>(world, entities.iter().map(|&entity| (entity, 20)));
                    assert_held::<Left>(world, entities.iter().map(|&entity| (entity, 21)));
                } else {
                    assert_eq!(archetype, ArchetypeId::EMPTY, "{}: {run:?}", name::<K>());
                }
            },
        );
        assert_eq!(panics, ROWS as usize * (K::COUNTED + 1), "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// In place there is nothing to move: rows before the panic keep their new values.
#[test]
fn replacing_in_a_whole_table_stops_at_a_panic_with_every_row_whole() {
    fn scenario<K: Kind>() {
        let replace = |world: &mut World, entities: &Vec<Entity>| {
            let archetype = common_archetype(world, entities);
            world.insert_into_archetype(archetype, &K::make(20));
        };
        let verdict = |reached: usize, world: &World, entities: &[Entity]| {
            assert_held::<K>(world, entities[..reached].iter().map(|&entity| (entity, 20)));
            assert_held::<K>(world, seeded(entities).skip(reached));
            assert_held::<Left>(world, seeded(entities));
        };
        let clones = inject(Event::Clone, four_rows::<K>, replace, |world, entities, run| {
            let reached = if let Run::Panicked(n) = run { (n - 1) / K::COUNTED } else { entities.len() };
            verdict(reached, world, entities);
        });
        assert_eq!(clones, ROWS as usize * K::COUNTED, "{}", name::<K>());
        // The value to clone from is dropped at the end, too.
        let drops = inject(Event::Drop, four_rows::<K>, replace, |world, entities, run| {
            let reached = if let Run::Panicked(n) = run { n.div_ceil(K::COUNTED) } else { entities.len() };
            verdict(reached.min(entities.len()), world, entities);
        });
        assert_eq!(drops, (ROWS as usize + 1) * K::COUNTED, "{}", name::<K>());
    }
    for_each_counted_in_tables!(scenario);
}

// Hazard 9, hazard 11 for whole tables.
#[test]
fn a_whole_table_has_moved_before_replaced_values_are_dropped() {
    fn scenario<K: Kind>() {
        let drops = inject(
            Event::Drop,
            four_rows::<K>,
            |world, entities| {
                let archetype = common_archetype(world, entities);
                world.insert_into_archetype(archetype, &(K::make(20), Right::make(21)));
            },
            |world, entities, _| {
                common_archetype(world, entities);
                assert_held::<K>(world, entities.iter().map(|&entity| (entity, 20)));
                assert_held::<Left>(world, seeded(entities));
                assert_held::<Right>(world, entities.iter().map(|&entity| (entity, 21)));
            },
        );
        assert_eq!(drops, (ROWS as usize + 1) * K::COUNTED + 1, "{}", name::<K>());
    }
    for_each_counted_in_tables!(scenario);
}

// Hazard 11, O-153, O-155, O-156.
#[test]
fn a_whole_table_has_moved_before_removed_values_are_dropped() {
    fn scenario<K: Kind>() {
        let drops = inject(
            Event::Drop,
            |world| {
                let settled: Vec<Entity> = (0..3).map(|seed| world.spawn(Left::make(seed)).id()).collect();
                (four_rows::<K>(world), settled)
            },
            |world, (entities, _)| {
                let archetype = common_archetype(world, entities);
                assert_eq!(world.remove_from_archetype::<(K, Right)>(archetype), ROWS as usize);
            },
            |world, (entities, settled), _| {
                assert_eq!(common_archetype(world, entities), common_archetype(world, settled));
                entities.iter().for_each(|&entity| assert_lacks::<K>(world, entity));
                assert_held::<Left>(world, seeded(entities).chain(seeded(settled)));
            },
        );
        assert_eq!(drops, ROWS as usize * K::COUNTED, "{}", name::<K>());
        let drops = inject(
            Event::Drop,
            four_rows::<K>,
            |world, entities| {
                let archetype = common_archetype(world, entities);
                assert_eq!(world.remove_from_archetype::<(K, Left)>(archetype), ROWS as usize);
            },
            |world, entities, _| assert_eq!(common_archetype(world, entities), ArchetypeId::EMPTY),
        );
        assert_eq!(drops, ROWS as usize * (K::COUNTED + 1), "{}", name::<K>());
    }
    for_each_counted_in_tables!(scenario);
}

/// Two tables and a rowless entity.
fn two_tables<K: Kind>(world: &mut World) -> Vec<Entity> {
    let mut entities = four_rows::<K>(world);
    entities.extend(world.spawn_batch((0..3).map(|seed| (K::make(seed), Right::make(seed)))));
    entities.push(world.spawn_empty().id());
    entities
}

const fn drops_in_two_tables<K: Kind>() -> usize {
    4 * (K::COUNTED + 1) + 3 * (K::COUNTED + 1)
}

// Hazard 11, hazard 5.
#[test]
fn a_cleared_world_is_empty_before_its_values_are_dropped_and_all_of_them_are() {
    fn scenario<K: Kind>() {
        let drops = inject(
            Event::Drop,
            two_tables::<K>,
            |world, _| world.clear_entities(),
            |world, entities, _| {
                assert_eq!(world.entities().len(), 0);
                assert!(entities.iter().all(|&entity| !world.contains(entity)));
                assert!(entities.iter().all(|&entity| world.get::<K>(entity).is_none()));
            },
        );
        assert_eq!(drops, drops_in_two_tables::<K>(), "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// Hazard 11, hazard 55: the world's end, with commands that were never applied.
#[test]
fn a_dropped_world_drops_everything_once_though_one_drop_panics() {
    fn scenario<K: Kind>() {
        let drops = inject(
            Event::Drop,
            |world| {
                two_tables::<K>(world);
                world.commands().spawn((K::make(8), Left::make(8)));
            },
            |world, ()| drop(std::mem::take(world)),
            |world, (), _| assert_eq!(world.entities().len(), 0),
        );
        assert_eq!(drops, drops_in_two_tables::<K>() + K::COUNTED + 1, "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// Hazard 11: an archetype is dropped when it holds nothing, so no user code runs.
#[test]
fn dropping_archetypes_growing_and_shrinking_drop_no_value() {
    fn scenario<K: Kind>() {
        let drops = inject(
            Event::Drop,
            |world| {
                let mut entities = four_rows::<K>(world);
                let moved = two_tables::<K>(world);
                for &entity in &moved {
                    world.entity_mut(entity).insert((Left::make(50), Right::make(50)));
                }
                entities.extend(moved);
                entities
            },
            |world, _| {
                assert_eq!(world.drop_empty_archetypes(), 1);
                world.reserve_rows::<(K, Left)>(100);
                world.shrink_to_fit();
                assert_eq!(world.drop_empty_archetypes(), 0);
            },
            |world, entities, _| assert_held::<K>(world, seeded(&entities[..4])),
        );
        assert_eq!(drops, 0, "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// Hazard 58: applied before, gone, or still recorded; nothing is lost twice.
#[test]
fn a_command_that_panics_is_gone_and_the_others_are_applied_once() {
    fn scenario<K: Kind>() {
        let drops = inject(
            Event::Drop,
            four_rows::<K>,
            |world, entities| {
                let (first, last) = (entities[0], entities[3]);
                let mut commands = world.commands();
                commands.entity(first).insert(K::make(20));
                commands.entity(last).remove::<K>();
                commands.spawn(Right::make(21));
                world.flush();
            },
            |world, entities, run| {
                assert_held::<K>(world, [(entities[0], 20)]);
                assert_held::<K>(world, seeded(entities).skip(1).take(2));
                let removed = run == Run::Finished || matches!(run, Run::Panicked(n) if n > K::COUNTED);
                if removed {
                    assert_lacks::<K>(world, entities[3]);
                } else {
                    assert_held::<K>(world, [(entities[3], 3)]);
                }
            },
        );
        assert_eq!(drops, 2 * K::COUNTED, "{}", name::<K>());
    }
    for_each_counted!(scenario);
}

// Hazard 3, hazard 11: no ids for a batch whose values panic when they are dropped.
#[test]
fn a_batch_without_enough_ids_drops_its_values_once_though_one_drop_panics() {
    fn scenario<K: Kind>() {
        for n in 1.. {
            let ledger = Ledger::open();
            let mut world = World::with_entity_limit(30);
            let kept: Vec<Entity> =
                world.spawn_batch((0..25).map(|seed| (K::make(seed), Left::make(seed)))).collect();
            ledger.plan(Event::Drop, n);
            let panic = panic_of(|| {
                world.spawn_batch((0..6).map(|seed| (K::make(seed), Left::make(seed))));
            });
            let fired = ledger.call_off();
            let expected = if fired { "planned at Drop" } else { "no entity index is left" };
            assert!(panic.is_some_and(|message| message.contains(expected)), "{}", name::<K>());
            assert_eq!(world.entities().len(), 25, "{}", name::<K>());
            assert_held::<K>(&world, seeded(&kept));
            world.check().expect("the world is consistent");
            world.despawn_batch(kept);
            is_usable(&mut world);
            drop(world);
            ledger.all_dropped_once();
            if !fired {
                assert_eq!(n - 1, 6 * (K::COUNTED + 1), "{}", name::<K>());
                return;
            }
        }
    }
    for_each_counted_in_tables!(scenario);
}

// Hazard 36 in another place: a drop that panics while the iterator's panic is under way.
#[test]
fn the_panic_of_a_batchs_iterator_is_passed_on_though_a_drop_panics_after_it() {
    struct Pin(#[allow(dead_code)] Tracked);
    impl Drop for Pin {
        fn drop(&mut self) {
            panic!("a drop in the middle of the clean-up");
        }
    }
    #[derive(Component)]
    struct Grenade(#[allow(dead_code)] Pin);

    let ledger = Ledger::open();
    let mut world = World::with_entity_limit(0);
    let mut grenades = vec![Grenade(Pin(Tracked::make(0)))];
    let panic = panic_of(|| {
        let bundles = std::iter::from_fn(|| Some(grenades.pop().expect("the iterator's own panic")));
        // No id is left for the row that is complete, so it is dropped while the panic is under way.
        world.spawn_batch(bundles.map(|grenade| (grenade, Left::make(0))));
    });
    assert!(panic.is_some_and(|message| message.contains("the iterator's own panic")));
    assert_eq!((world.entities().len(), ledger.live()), (0, 0));
    world.check().expect("the world is consistent");
    drop(world);
    ledger.all_dropped_once();
}
