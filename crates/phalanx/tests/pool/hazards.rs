//! Panics of the user's code while entities of pools are changed: nothing is lost, dropped twice, or half done.

use crate::common::faults::{Run, inject};
use crate::common::ledger::{Event, Serial};
use phalanx::prelude::*;

#[derive(Component)]
struct Whole(#[allow(dead_code)] Serial);
#[derive(Component)]
#[component(layout = "soa", track = "row")]
struct Fields {
    #[allow(dead_code)]
    left: Serial,
    number: u32,
    #[allow(dead_code)]
    right: Serial,
}
#[derive(Component)]
#[component(storage = "sparse")]
struct Sparse(#[allow(dead_code)] Serial);
/// Has no memory, and is counted all the same.
#[derive(Component)]
struct Empty;
#[derive(Component)]
struct Number(u32);

#[derive(Pool)]
struct Inline {
    whole: Whole,
    number: Number,
    fields: Option<Fields>,
    sparse: Option<Sparse>,
    empty: Option<Empty>,
}

#[derive(Pool)]
#[pool(storage = "boxed")]
struct Boxed {
    number: Number,
    sparse: Sparse,
    whole: Option<Whole>,
    fields: Option<Fields>,
}

fn fields(number: u32) -> Fields {
    Fields { left: Serial::new(), number, right: Serial::new() }
}

fn full(number: u32) -> Inline {
    Inline {
        whole: Whole(Serial::new()),
        number: Number(number),
        fields: Some(fields(number)),
        sparse: Some(Sparse(Serial::new())),
        empty: Some(Empty),
    }
}

/// Three rows of which the middle one is to be changed.
fn three(world: &mut World) -> Vec<Entity> {
    (0..3).map(|n| world.spawn_in(full(n))).collect()
}

#[track_caller]
fn neighbours_are_untouched(world: &World, entities: &[Entity]) {
    for n in [0, 2] {
        let entity = entities[n as usize];
        assert_eq!(world.get::<Number>(entity).map(|number| number.0), Some(n));
        assert_eq!(world.get::<Fields>(entity).map(|fields| *fields.number), Some(n));
        assert!(world.get::<Sparse>(entity).is_some() && world.get::<Empty>(entity).is_some());
    }
}

#[test]
fn a_drop_that_panics_while_values_are_replaced_leaves_the_new_ones() {
    let drops = inject(
        Event::Drop,
        three,
        |world, entities| {
            let bundle = (Whole(Serial::new()), fields(9), Sparse(Serial::new()));
            world.pool_mut::<Inline>().insert(entities[1], bundle).unwrap();
        },
        |world, entities, _| {
            neighbours_are_untouched(world, entities);
            assert!(world.get::<Whole>(entities[1]).is_some());
            assert_eq!(world.get::<Fields>(entities[1]).map(|fields| *fields.number), Some(9));
        },
    );
    assert_eq!(drops, 4);
}

#[test]
fn a_drop_that_panics_while_components_go_leaves_the_rest() {
    let drops = inject(
        Event::Drop,
        three,
        |world, entities| {
            let mut pool = world.pool_mut::<Inline>();
            pool.remove::<Fields>(entities[1]).unwrap();
        },
        |world, entities, _| {
            neighbours_are_untouched(world, entities);
            assert!(world.get::<Fields>(entities[1]).is_none() && world.get::<Whole>(entities[1]).is_some());
        },
    );
    assert_eq!(drops, 2);
}

#[test]
fn a_drop_that_panics_while_an_entity_migrates_does_not_stop_it() {
    let drops = inject(
        Event::Drop,
        |world| {
            let entities = three(world);
            for &entity in &entities {
                world.remove::<Empty>(entity).unwrap();
            }
            entities
        },
        |world, entities| {
            let bundle = (Whole(Serial::new()), Sparse(Serial::new()));
            world.migrate_with::<Inline, Boxed, _>(entities[1], bundle).unwrap();
        },
        |world, entities, _| {
            assert_eq!(world.pool_of(entities[1]), world.pool_id::<Boxed>());
            assert_eq!(world.get::<Fields>(entities[1]).map(|fields| *fields.number), Some(1));
            assert!(world.get::<Whole>(entities[1]).is_some() && world.get::<Sparse>(entities[1]).is_some());
            assert_eq!(world.get::<Number>(entities[2]).map(|number| number.0), Some(2));
        },
    );
    assert_eq!(drops, 2);
}

#[test]
fn a_drop_that_panics_while_entities_die_kills_them_all_the_same() {
    let drops = inject(
        Event::Drop,
        three,
        |world, entities| world.pool_mut::<Inline>().despawn(entities[1]).unwrap(),
        |world, entities, _| {
            neighbours_are_untouched(world, entities);
            assert!(!world.contains(entities[1]));
        },
    );
    assert_eq!(drops, 4);
    let drops = inject(
        Event::Drop,
        three,
        |world, _| world.clear_entities(),
        |world, _, _| assert!(world.pool::<Inline>().is_empty()),
    );
    assert_eq!(drops, 12);
}

#[test]
fn a_value_that_is_refused_drops_outside_of_the_world() {
    let drops = inject(
        Event::Drop,
        |world| {
            world.spawn_in(Boxed {
                number: Number(1),
                sparse: Sparse(Serial::new()),
                whole: None,
                fields: None,
            })
        },
        |world, &entity| {
            // The error comes after the drop, unless that panics.
            let _ = world.insert(entity, (Whole(Serial::new()), Empty));
            assert!(world.migrate_with::<Boxed, Inline, _>(entity, (Number(1), fields(1))).is_err());
        },
        |world, &entity, _| {
            assert_eq!(world.entity(entity).component_ids().count(), 2);
            assert_eq!(world.pool_of(entity), world.pool_id::<Boxed>());
        },
    );
    assert_eq!(drops, 3);
}

#[test]
fn a_drop_that_panics_in_a_command_leaves_the_others_for_the_next_flush() {
    inject(
        Event::Drop,
        three,
        |world, entities| {
            let mut commands = world.commands();
            commands.entity(entities[1]).insert(fields(5)).remove::<Sparse>().insert(Whole(Serial::new()));
            commands.spawn_in(full(7));
            world.flush();
        },
        |world, entities, run| {
            neighbours_are_untouched(world, entities);
            if run == Run::Finished {
                assert_eq!(world.get::<Fields>(entities[1]).map(|fields| *fields.number), Some(5));
                assert!(world.get::<Sparse>(entities[1]).is_none());
                assert_eq!(world.pool::<Inline>().len(), 4);
            }
        },
    );
}

#[test]
fn an_iterator_that_panics_in_a_batch_leaves_the_entities_before_it() {
    let steps = inject(
        Event::Step,
        |_| (),
        |world, ()| {
            let values = (0..4).map(|n| {
                crate::common::ledger::happens(Event::Step);
                Inline { sparse: None, fields: (n % 2 == 0).then(|| fields(n)), ..full_without_sparse(n) }
            });
            world.spawn_batch_in(values);
        },
        |world, (), run| {
            let complete = match run {
                Run::Panicked(n) => n.saturating_sub(2)..=n - 1,
                Run::Finished => 4..=4,
            };
            assert!(complete.contains(&world.pool::<Inline>().len()), "{run:?}");
        },
    );
    assert_eq!(steps, 4);
}

fn full_without_sparse(number: u32) -> Inline {
    Inline { whole: Whole(Serial::new()), number: Number(number), fields: None, sparse: None, empty: None }
}

#[derive(Component)]
struct Bonus(#[allow(dead_code)] Serial);
#[derive(Component)]
#[component(storage = "sparse")]
struct Charm(#[allow(dead_code)] Serial);
#[derive(Component)]
#[require(Charm = charm(), Bonus = bonus())]
struct Amulet(#[allow(dead_code)] Serial);

fn charm() -> Charm {
    crate::common::ledger::happens(Event::Make);
    Charm(Serial::new())
}

fn bonus() -> Bonus {
    crate::common::ledger::happens(Event::Make);
    Bonus(Serial::new())
}

#[derive(Pool)]
struct Wizards {
    number: Number,
    amulet: Option<Amulet>,
    bonus: Option<Bonus>,
    charm: Option<Charm>,
}

fn wizard(amulet: Option<Amulet>) -> Wizards {
    Wizards { number: Number(1), amulet, bonus: None, charm: None }
}

#[test]
fn a_required_function_that_panics_leaves_no_half_made_entity() {
    let made = inject(
        Event::Make,
        |_| (),
        |world, ()| {
            world.spawn_in(wizard(Some(Amulet(Serial::new()))));
        },
        |world, (), run| {
            let expected = usize::from(run == Run::Finished);
            assert_eq!((world.pool::<Wizards>().len(), world.sparse::<Charm>().len()), (expected, expected));
        },
    );
    assert_eq!(made, 2);
    let made = inject(
        Event::Make,
        |world| world.spawn_in(wizard(None)),
        |world, &entity| world.pool_mut::<Wizards>().insert(entity, Amulet(Serial::new())).unwrap(),
        |world, &entity, run| {
            let expected = if run == Run::Finished { 4 } else { 1 };
            assert_eq!(world.entity(entity).component_ids().count(), expected);
        },
    );
    assert_eq!(made, 2);
}

#[test]
fn what_a_refused_component_requires_does_not_come_either() {
    let mut world = World::new();
    world.spawn_in(wizard(None));
    let entity = world.spawn_in(full(1));
    for _ in 0..2 {
        assert!(world.insert(entity, Amulet(Serial::new())).is_err());
        world.commands().entity(entity).insert(Amulet(Serial::new())).insert(fields(4));
        world.flush();
    }
    assert_eq!((world.sparse::<Charm>().len(), world.command_stats().refused), (0, 2));
    assert_eq!(world.entity(entity).component_ids().count(), 5);
    world.check().unwrap();
}
