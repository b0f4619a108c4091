//! Hunts values that are dropped although they were never made (hazard 12).
//!
//! Components that others require are made by functions of the user, rows that do not count yet hold what was
//! made so far, and a bundle can be written by hand: each of these can panic half-way. Then the entity is
//! where it was, and exactly what was made is dropped.

use crate::common::faults::{Run, inject, is_usable};
use crate::common::ledger::{Event, Ledger, happens, panic_of};
use crate::common::zoo::{
    Grain, Kind, Left, Page, Right, Specimen, Text, Tracked, assert_held, assert_lacks,
    for_each_counted_in_tables, name,
};
use phalanx::archetype::ArchetypeId;
use phalanx::bundle::Bundle;
use phalanx::prelude::{AnyComponent, Component, Entity, World};
use phalanx::registry::{ComponentId, Components, RegisterError};
use phalanx_store::{Tick, Values};

/// Makes a value, which is an event before it is made.
fn produce<T: Specimen>(seed: u32) -> T {
    happens(Event::Make);
    T::make(seed)
}

/// Brings four components along, each made by a function that can panic.
#[derive(Component, Clone)]
#[require(Sand(produce(1)), Deep { text: produce(2), tracked: produce(3), wide: produce(4) }, Late(produce(5)))]
struct Needy(Tracked);

#[derive(Component, Clone)]
struct Sand(Grain);

#[derive(Component, Clone)]
#[component(layout = "soa")]
struct Deep {
    text: Text,
    tracked: Tracked,
    wide: Page,
}

#[derive(Component, Clone)]
struct Late(Tracked);

/// How many values the functions of `Needy` make.
const MADE: usize = 5;

#[track_caller]
fn assert_complete(world: &World, entity: Entity, seed: u32) {
    assert!(world.get::<Needy>(entity).is_some_and(|needy| needy.0.is(seed)));
    assert!(world.get::<Sand>(entity).is_some_and(|sand| sand.0.is(1)));
    let deep = world.get::<Deep>(entity).expect("required");
    assert!(deep.text.is(2) && deep.tracked.is(3) && deep.wide.is(4));
    assert!(world.get::<Late>(entity).is_some_and(|late| late.0.is(5)));
}

#[track_caller]
fn assert_bare(world: &World, entity: Entity) {
    assert!(world.get::<Needy>(entity).is_none() && world.get::<Sand>(entity).is_none());
    assert!(world.get::<Deep>(entity).is_none() && world.get::<Late>(entity).is_none());
}

// Hazard 12.
#[test]
fn no_entity_is_spawned_when_a_required_component_cannot_be_made() {
    let panics = inject(
        Event::Make,
        |world| world.spawn(Left::make(0)).id(),
        |world, _| {
            world.spawn((Needy(Tracked::make(9)), Right::make(9)));
        },
        |world, &bystander, run| {
            let new = world.entities().iter().find(|&entity| entity != bystander);
            assert_eq!(new.is_some(), run == Run::Finished);
            new.into_iter().for_each(|entity| assert_complete(world, entity, 9));
            assert_held::<Left>(world, [(bystander, 0)]);
        },
    );
    assert_eq!(panics, MADE);
}

// Hazard 12, hazard 27.
#[test]
fn an_entity_stays_where_it_is_when_a_required_component_cannot_be_made() {
    let arrange = |world: &mut World| -> Vec<Entity> {
        (0..3).map(|seed| world.spawn((Left::make(seed), Late(Tracked::make(seed)))).id()).collect()
    };
    let panics = inject(
        Event::Make,
        arrange,
        |world, entities| {
            world.entity_mut(entities[1]).insert((Needy(Tracked::make(9)), Left::make(7)));
        },
        |world, entities, run| {
            if run == Run::Finished {
                assert!(world.get::<Needy>(entities[1]).is_some_and(|needy| needy.0.is(9)));
                assert!(world.get::<Sand>(entities[1]).is_some_and(|sand| sand.0.is(1)));
                assert_held::<Left>(world, entities.iter().copied().zip([0, 7, 2]));
            } else {
                assert_eq!(world.archetype_of(entities[1]), world.archetype_of(entities[0]));
                assert_held::<Left>(world, entities.iter().copied().zip(0..));
            }
            let late = entities.iter().zip(0..);
            for (&entity, seed) in late {
                assert!(world.get::<Late>(entity).is_some_and(|late| late.0.is(seed)), "what is there stays");
            }
        },
    );
    assert_eq!(panics, MADE - 1, "one of the required components was there");

    let panics = inject(
        Event::Make,
        |world| world.spawn_empty().id(),
        |world, &entity| world.insert(entity, Needy(Tracked::make(9))).expect("alive"),
        |world, &entity, run| match run {
            Run::Finished => assert_complete(world, entity, 9),
            Run::Panicked(_) => assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY)),
        },
    );
    assert_eq!(panics, MADE);
}

// Hazard 12: rows before the one that could not be made are complete.
#[test]
fn a_batch_keeps_the_entities_whose_required_components_were_made() {
    const BATCH: u32 = 10;
    let panics = inject(
        Event::Make,
        |_| (),
        |world, ()| drop(world.spawn_batch((0..BATCH).map(|seed| Needy(Tracked::make(seed))))),
        |world, (), run| {
            let complete = if let Run::Panicked(n) = run { (n - 1) / MADE } else { BATCH as usize };
            assert_eq!(world.entities().len(), complete);
            world.entities().iter().zip(0..).for_each(|(entity, seed)| assert_complete(world, entity, seed));
        },
    );
    assert_eq!(panics, MADE * BATCH as usize);

    let panics = inject(
        Event::Make,
        |world| -> Vec<Entity> { (0..4).map(|seed| world.spawn(Left::make(seed)).id()).collect() },
        |world, entities| {
            let batch =
                entities.iter().copied().zip(0..).map(|(entity, seed)| (entity, Needy(Tracked::make(seed))));
            world.insert_batch(batch);
        },
        |world, entities, run| {
            let complete = if let Run::Panicked(n) = run { (n - 1) / MADE } else { entities.len() };
            entities[..complete]
                .iter()
                .zip(0..)
                .for_each(|(&entity, seed)| assert_complete(world, entity, seed));
            entities[complete..].iter().for_each(|&entity| assert_bare(world, entity));
            assert_held::<Left>(world, entities.iter().copied().zip(0..));
        },
    );
    assert_eq!(panics, MADE * 4);
}

// Hazard 12 for whole tables: all or nothing.
#[test]
fn no_row_of_a_table_moves_when_a_required_component_cannot_be_made() {
    let arrange = |world: &mut World| -> Vec<Entity> {
        (0..4).map(|seed| world.spawn(Left::make(seed)).id()).collect()
    };
    for event in [Event::Make, Event::Clone] {
        let panics = inject(
            event,
            arrange,
            |world, entities| {
                let archetype = world.archetype_of(entities[0]).expect("alive");
                world.insert_into_archetype(archetype, &Needy(Tracked::make(9)));
            },
            |world, entities, run| {
                for &entity in entities {
                    match run {
                        Run::Finished => assert_complete(world, entity, 9),
                        Run::Panicked(_) => assert_bare(world, entity),
                    }
                }
                assert_held::<Left>(world, entities.iter().copied().zip(0..));
            },
        );
        assert_eq!(panics, if event == Event::Make { MADE * 4 } else { 4 });
        // With a part that replaces what is there, rows take another way through the store.
        let panics = inject(
            event,
            arrange,
            |world, entities| {
                let archetype = world.archetype_of(entities[0]).expect("alive");
                world.insert_into_archetype(archetype, &(Left::make(7), Needy(Tracked::make(9))));
            },
            |world, entities, run| {
                for (&entity, seed) in entities.iter().zip(0..) {
                    match run {
                        Run::Finished => assert_complete(world, entity, 9),
                        Run::Panicked(_) => assert_bare(world, entity),
                    }
                    assert_held::<Left>(world, [(entity, if run == Run::Finished { 7 } else { seed })]);
                }
            },
        );
        assert_eq!(panics, if event == Event::Make { MADE * 4 } else { 8 });
    }
}

// Hazard 12, hazard 58: recorded changes, of which several belong to one entity.
#[test]
fn commands_that_cannot_make_a_required_component_lose_no_value() {
    for (event, least) in [(Event::Make, 2 * MADE), (Event::Drop, 4)] {
        let panics = inject(
            event,
            |world| -> Vec<Entity> {
                (0..3).map(|seed| world.spawn((Left::make(seed), Late(Tracked::make(seed)))).id()).collect()
            },
            |world, entities| {
                let mut commands = world.commands();
                commands
                    .spawn((Needy(Tracked::make(9)), Left::make(9)))
                    .insert(Right::make(9))
                    .remove::<Left>();
                commands
                    .entity(entities[0])
                    .insert(Left::make(7))
                    .insert((Needy(Tracked::make(8)), Right::make(8)));
                commands.entity(entities[1]).insert(Needy(Tracked::make(9))).despawn();
                commands.spawn_batch((0..2).map(|seed| Needy(Tracked::make(seed))));
                world.flush();
            },
            |world, entities, run| {
                assert_held::<Left>(world, [(entities[2], 2)]);
                if run == Run::Finished {
                    assert!(world.get::<Needy>(entities[0]).is_some_and(|needy| needy.0.is(8)));
                    assert_held::<Left>(world, [(entities[0], 7)]);
                    assert!(!world.contains(entities[1]));
                    assert_eq!(world.entities().len(), 5);
                }
            },
        );
        assert!(panics >= least, "{event:?}: {panics}");
    }
}

// Hazard 3, hazard 12: the id is missing after everything was made.
#[test]
fn what_was_made_for_an_entity_without_an_id_is_dropped() {
    let ledger = Ledger::open();
    let mut world = World::with_entity_limit(1);
    let only = world.spawn(Left::make(0)).id();
    let panic = panic_of(|| world.spawn(Needy(Tracked::make(9))).id());
    assert!(panic.is_some_and(|message| message.contains("no entity index is left")));
    assert_eq!((ledger.live(), world.entities().len()), (1, 1));
    let panic = panic_of(|| world.spawn_batch((0..9).map(|seed| Needy(Tracked::make(seed)))).len());
    assert!(panic.is_some_and(|message| message.contains("no entity index is left")));
    assert_eq!((ledger.live(), world.entities().len()), (1, 1));
    assert_held::<Left>(&world, [(only, 0)]);
    world.check().expect("the world is consistent");
    drop(world);
    ledger.all_dropped_once();
}

/// A bundle by hand, whose second part is an event on the way in and on the way out.
struct Fragile<K: Kind>(K, Left);

impl<K: Kind> Bundle for Fragile<K> {
    type Values = (K::ColumnValues, <Left as AnyComponent>::ColumnValues);
    type Sparse = ();

    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
        ids.push(components.register::<K>()?);
        ids.push(components.register::<Left>()?);
        Ok(())
    }
    fn value_ids() -> <Self::Values as Values>::Ids {
        (K::column_ids(), Left::column_ids())
    }
    fn into_values(self, now: Tick) -> (Self::Values, ()) {
        let first = self.0.into_column_values(now);
        happens(Event::Make);
        ((first, self.1.into_column_values(now)), ())
    }
    fn from_values(values: Self::Values, (): ()) -> Self {
        let first = K::from_column_values(values.0);
        happens(Event::Make);
        Self(first, Left::from_column_values(values.1))
    }
}

// Hazard 12.
#[test]
fn a_bundle_that_cannot_be_taken_apart_changes_nothing() {
    fn scenario<K: Kind>() {
        let fragile = |seed| Fragile(K::make(seed), Left::make(seed));
        let panics = inject(
            Event::Make,
            |world| world.spawn(Right::make(1)).id(),
            |world, &entity| {
                world.spawn(fragile(0));
                world.entity_mut(entity).insert(fragile(1)).insert(fragile(2)).insert_if_new(fragile(3));
                world.spawn_batch((4..8).map(fragile));
            },
            |world, &entity, run| {
                let expected = match run {
                    Run::Panicked(1) => 1,
                    Run::Panicked(n) if n > 4 => 2 + n - 5,
                    Run::Panicked(_) => 2,
                    Run::Finished => 6,
                };
                assert_eq!(world.entities().len(), expected, "{}: {run:?}", name::<K>());
                assert_held::<Right>(world, [(entity, 1)]);
                match run {
                    Run::Panicked(1 | 2) => assert_lacks::<K>(world, entity),
                    Run::Panicked(3) => assert_held::<K>(world, [(entity, 1)]),
                    _ => assert_held::<K>(world, [(entity, 2)]),
                }
            },
        );
        assert_eq!(panics, 8, "{}", name::<K>());
    }
    for_each_counted_in_tables!(scenario);
}

// Hazard 12 backwards: the values are out of the world by then, and dropped once.
#[test]
fn a_bundle_that_cannot_be_put_together_is_taken_all_the_same() {
    fn scenario<K: Kind>() {
        let panics = inject(
            Event::Make,
            |world| -> Vec<Entity> {
                (0..3)
                    .map(|seed| world.spawn((K::make(seed), Left::make(seed), Right::make(seed))).id())
                    .collect()
            },
            |world, entities| drop(world.take::<Fragile<K>>(entities[0]).expect("the entity has both")),
            |world, entities, _| {
                assert_lacks::<K>(world, entities[0]);
                assert_lacks::<Left>(world, entities[0]);
                assert_held::<Right>(world, entities.iter().copied().zip(0..));
                assert_held::<K>(world, entities.iter().copied().zip(0..).skip(1));
            },
        );
        assert_eq!(panics, 1, "{}", name::<K>());
    }
    for_each_counted_in_tables!(scenario);
}

// Hazard 12: values that were made are dropped when a later one cannot be; a drop of theirs may panic, too.
#[test]
fn the_panic_of_a_drop_among_made_values_leaves_the_world_usable() {
    #[derive(Component)]
    struct Fuse(#[allow(dead_code)] Tracked);
    impl Drop for Fuse {
        fn drop(&mut self) {
            panic!("dropped while cleaning up");
        }
    }
    #[derive(Component)]
    struct Never(#[allow(dead_code)] Tracked);
    #[derive(Component)]
    #[require(Late(produce(1)), Fuse(produce(2)), Sand(produce(3)), Never = panic!("never made"))]
    struct Chain;

    let ledger = Ledger::open();
    let mut world = World::new();
    let entity = world.spawn(Left::make(0)).id();
    for _ in 0..2 {
        assert!(panic_of(|| world.spawn((Chain, Right::make(1))).id()).is_some());
        assert!(panic_of(|| world.entity_mut(entity).insert((Chain, Right::make(1))).id()).is_some());
        assert!(panic_of(|| world.spawn_batch([(Chain, Right::make(1))]).len()).is_some());
        assert_eq!((ledger.live(), world.entities().len()), (1, 1));
    }
    assert_held::<Left>(&world, [(entity, 0)]);
    world.check().expect("the world is consistent");
    is_usable(&mut world);
    drop(world);
    ledger.all_dropped_once();
}
