//! Queries over sparse components: built at run time, explained, and driven by what the user chooses.
//!
//! A query built at run time finds what the typed one finds, in the same order, whichever of its components are
//! sparse; its tables never show a row that does not match. What an entity fails is named, and so is what leads.
#![allow(missing_docs, clippy::unwrap_used)]

use phalanx::prelude::*;
use phalanx::query::{ColumnError, DynamicQuery, QueryBuilder, QueryEntityError};
use phalanx::{ComponentId, RegisterError};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Frozen;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Stun(f32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", layout = "soa", track = "row")]
struct Burn {
    dps: f32,
    stacks: u32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
struct Seat(u32);

/// Sixty entities of two archetypes, ten without a row; every second, third or fifth has a sparse component.
fn scene() -> (World, Vec<Entity>, [ComponentId; 5]) {
    let mut world = World::new();
    let ids = [
        world.register_component::<Position>(),
        world.register_component::<Frozen>(),
        world.register_component::<Stun>(),
        world.register_component::<Burn>(),
        world.register_component::<Seat>(),
    ];
    let mut entities = Vec::new();
    for n in 0u16..60 {
        let e = match n % 6 {
            0 => world.spawn_empty().id(),
            1 | 2 => world.spawn((Position { x: f32::from(n), y: 0.0 }, Frozen)).id(),
            _ => world.spawn(Position { x: f32::from(n), y: 0.0 }).id(),
        };
        if n % 2 == 0 {
            world.insert(e, Stun(f32::from(n))).unwrap();
        }
        if n % 3 == 0 {
            world.insert(e, Burn { dps: 1.0, stacks: u32::from(n) }).unwrap();
        }
        if n % 5 == 0 {
            world.insert(e, Seat(u32::from(n))).unwrap();
        }
        entities.push(e);
    }
    // Holes in a stable set are walked over.
    entities.iter().step_by(20).for_each(|&e| world.remove::<Seat>(e).unwrap());
    world.sort_by::<Stun>(|a, b| b.0.total_cmp(&a.0)).unwrap();
    world.check().unwrap();
    (world, entities, ids)
}

fn typed<F: QueryFilter + 'static>(world: &World) -> Vec<Entity> {
    world.view_filtered::<Entity, F>().into_iter().collect()
}

/// The entities that a built query finds: the same by walking, counting, asking, and by its tables.
#[track_caller]
fn found(query: &DynamicQuery, world: &mut World) -> Vec<Entity> {
    let entities: Vec<Entity> = query.entities(world).collect();
    assert_eq!(query.count(world), entities.len());
    for entity in world.entities().iter() {
        assert_eq!(query.contains(world, entity), entities.contains(&entity), "{entity}");
    }
    assert!(!query.contains(world, Entity::PLACEHOLDER));
    let mut in_tables: Vec<Entity> =
        query.tables(world).flat_map(|table| table.entities()).copied().collect();
    assert!(query.tables(world).all(|table| !table.is_empty()));
    let mut with_rows: Vec<Entity> =
        entities.iter().copied().filter(|&e| world.get::<Position>(e).is_some()).collect();
    let mut written = Vec::new();
    query.for_each_table_mut(world, |table| written.extend_from_slice(table.as_ref().entities()));
    assert_eq!(written, in_tables);
    in_tables.sort_unstable();
    with_rows.sort_unstable();
    assert_eq!(in_tables, with_rows, "tables show matching rows, and no others");
    entities
}

#[test]
fn built_queries_over_sparse_components_find_what_typed_ones_find() {
    let (mut world, _, [position, frozen, stun, burn, seat]) = scene();
    let world = &mut world;
    let build = QueryBuilder::new;
    assert_eq!(found(&build().with(stun).build(), world), typed::<With<Stun>>(world));
    assert_eq!(found(&build().without(stun).build(), world), typed::<Without<Stun>>(world));
    assert_eq!(found(&build().with(seat).build(), world), typed::<With<Seat>>(world));
    assert_eq!(
        found(&build().with(stun).with(burn).build(), world),
        typed::<(With<Stun>, With<Burn>)>(world)
    );
    assert_eq!(
        found(&build().with(position).with(burn).without(seat).without(frozen).build(), world),
        typed::<(With<Position>, With<Burn>, Without<Seat>, Without<Frozen>)>(world)
    );
    assert_eq!(
        found(&build().any_of([stun, frozen]).build(), world),
        typed::<Or<(With<Stun>, With<Frozen>)>>(world)
    );
    assert_eq!(
        found(&build().any_of([stun, burn]).any_of([seat, frozen]).without(position).build(), world),
        typed::<(Or<(With<Stun>, With<Burn>)>, Or<(With<Seat>, With<Frozen>)>, Without<Position>)>(world)
    );
    assert_eq!(found(&build().with(stun).without(stun).build(), world), []);
    assert_eq!(found(&build().any_of([seat]).without(seat).build(), world), []);
    assert!(found(&build().with(stun).without(burn).build(), world).len() > 10);
}

#[test]
fn a_kept_built_query_follows_sparse_components_as_they_come_and_go() {
    let (mut world, entities, [position, _, stun, ..]) = scene();
    let query = world.query_builder().with(position).with(stun).build();
    let before = query.count(&world);
    let e = entities[1];
    assert!(!query.contains(&world, e));
    world.insert(e, Stun(0.0)).unwrap();
    assert!(query.contains(&world, e) && query.count(&world) == before + 1);
    world.despawn(e);
    assert!(!query.contains(&world, e) && query.count(&world) == before);
}

#[test]
fn tables_of_a_built_query_are_runs_of_matching_rows() {
    let (mut world, _, [position, frozen, stun, burn, _]) = scene();
    let query = world.query_builder().with(position).with(stun).without(frozen).build();
    for table in query.tables(&world) {
        let xs = table.column::<f32>(position, "x").unwrap();
        assert_eq!(xs.len(), table.len());
        for (&entity, &x) in table.entities().iter().zip(xs) {
            assert_eq!(world.get::<position::x>(entity), Some(&x));
            assert!(world.get::<Stun>(entity).is_some());
        }
        let error = table.column::<f32>(burn, "dps").unwrap_err();
        assert!(matches!(error, ColumnError::Sparse { .. }), "{error}");
        assert!(error.to_string().contains("lives in a sparse set"), "{error}");
    }
    query.for_each_table_mut(&mut world, |mut table| {
        table.column_mut::<f32>(position, "y").unwrap().fill(9.0);
    });
    let touched = world.view::<(&Position, Has<Stun>, Has<Frozen>)>();
    assert!(touched.iter().all(|(position, stun, frozen)| (*position.y == 9.0) == (stun && !frozen)));
}

#[test]
fn fields_of_sparse_components_are_read_and_written_by_name() {
    let (mut world, entities, [.., stun, burn, seat]) = scene();
    let e = entities[6];
    assert_eq!(world.get_field(e, burn, "stacks").unwrap(), Value::U32(6));
    world.clear_trackers();
    world.set_field(e, burn, "stacks", 7u32).unwrap();
    assert_eq!(world.view_filtered::<Entity, Changed<Burn>>().single(), Ok(e), "row ticks are kept");
    assert!(world.set_field(e, burn, "stacks", 7.0f32).is_err());
    assert!(world.get_field(entities[1], burn, "dps").unwrap_err().to_string().contains("has no"));
    let by_id: Vec<(Entity, u32)> = world
        .sparse_runs(burn)
        .flat_map(|run| {
            let stacks = run.column::<u32>(burn, "stacks").unwrap();
            run.entities().iter().copied().zip(stacks.iter().copied())
        })
        .collect();
    let typed: Vec<(Entity, u32)> =
        world.sparse::<Burn>().iter().map(|(entity, burn)| (entity, *burn.stacks)).collect();
    assert_eq!(by_id, typed);
    assert_eq!(world.sparse_runs(stun).count(), 1);
    let seats: usize = world.sparse_runs(seat).map(|run| run.column::<Seat>(seat, "").unwrap().len()).sum();
    assert_eq!(seats, world.sparse::<Seat>().len());
    assert!(world.sparse_runs(seat).count() > 1, "holes divide a stable set");
}

#[test]
fn why_not_names_the_sparse_term_that_fails() {
    let (world, entities, _) = scene();
    let fails = |error: Option<QueryEntityError>| match error {
        Some(QueryEntityError::DoesNotMatch { fails, .. }) => fails,
        other => panic!("{other:?}"),
    };
    let query = world.view_filtered::<(&Position, &Stun), Without<Burn>>();
    assert_eq!(fails(query.why_not(entities[1])), "with Stun");
    assert_eq!(fails(query.why_not(entities[18])), "with Position");
    let sixth = world.view_filtered::<&Stun, Without<Burn>>();
    assert_eq!(fails(sixth.why_not(entities[6])), "without Burn");
    assert_eq!(sixth.why_not(entities[2]), None);
    let any = world.view_filtered::<Entity, Or<(With<Seat>, With<Frozen>)>>();
    assert_eq!(fails(any.why_not(entities[3])), "(with Seat or with Frozen)");
    let error = query.get(entities[1]).unwrap_err().to_string();
    assert!(error.contains("it fails `with Stun`"), "{error}");
    let changed = world.view_filtered::<Entity, Changed<Burn>>();
    assert_eq!(fails(changed.why_not(entities[1])), "with Burn");
    assert_eq!(fails(changed.since(world.read_change_tick()).why_not(entities[3])), "a tick of change");
}

// E-016.
#[test]
fn explain_names_what_leads_and_the_user_can_force_it() {
    let (mut world, ..) = scene();
    let explained = world.view::<(&Stun, &Burn)>().explain();
    assert!(
        explained.contains("driven by the sparse set of sparse::queries::Burn with 20 rows"),
        "{explained}"
    );
    assert!(explained.contains("where:  with Stun, with Burn"), "{explained}");
    let explained = world.view::<(Option<&Stun>, &Position)>().explain();
    assert!(explained.contains("driven by tables"), "{explained}");

    let by = |world: &World| -> Vec<Entity> {
        world.view::<(Entity, &Stun, &Burn)>().driven_by::<Stun>().into_iter().map(|(e, ..)| e).collect()
    };
    let stunned = world.sparse::<Stun>().entities().to_vec();
    let both: Vec<Entity> = stunned.iter().copied().filter(|&e| world.get::<Burn>(e).is_some()).collect();
    assert_eq!(by(&world), both, "in the order of the set that leads");
    let query = world.view::<(Entity, &Stun)>().driven_by_tables();
    assert!(query.explain().contains("driven by tables"));
    let expected: Vec<Entity> =
        world.view::<Entity>().iter().filter(|&e| world.get::<Stun>(e).is_some()).collect();
    assert_eq!(query.iter().map(|(e, _)| e).collect::<Vec<_>>(), expected, "in the order of tables");
    assert_eq!(query.count(), 30);

    let mut state = world.query::<(Entity, &mut Stun, &Burn)>();
    state.driven_by::<Stun>();
    assert_eq!(state.query_mut(&mut world).explain().matches("sparse::queries::Stun with 30").count(), 1);
    assert_eq!(state.iter_mut(&mut world).map(|(e, ..)| e).collect::<Vec<_>>(), both);
    state.driven_by_tables();
    assert!(state.query_mut(&mut world).explain().contains("driven by tables"));
    state.driven_by_shortest();
    assert!(state.query_mut(&mut world).explain().contains("sparse::queries::Burn"));
    let led = state.query_mut(&mut world).driven_by::<Burn>();
    assert_eq!(led.iter().count(), 10);
}

#[test]
fn the_order_of_combinations_is_that_of_the_walk() {
    let (mut world, ..) = scene();
    let mut query = world.view_mut::<(Entity, &mut Burn)>();
    let read: Vec<[Entity; 2]> = {
        let mut pairs = Vec::new();
        let all: Vec<Entity> = query.iter().map(|(e, _)| e).collect();
        all.iter().enumerate().for_each(|(at, &a)| all[at + 1..].iter().for_each(|&b| pairs.push([a, b])));
        pairs
    };
    let mut written = Vec::new();
    let mut choices = query.iter_combinations_mut::<2>();
    while let Some([(a, _), (b, _)]) = choices.fetch_next() {
        written.push([a, b]);
    }
    assert_eq!(written, read);
}

#[test]
#[should_panic(
    expected = "`Seat` cannot drive this query: it is no sparse component that every match must have"
)]
fn only_a_required_sparse_component_can_lead() {
    let (world, ..) = scene();
    let _ = world.view::<(&Stun, Option<&Seat>)>().driven_by::<Seat>();
}

#[test]
#[should_panic(expected = "`Position` cannot drive this query")]
fn a_table_component_cannot_lead() {
    let (world, ..) = scene();
    let _ = world.query::<(&Stun, &Position)>().driven_by::<Position>();
}

#[test]
fn a_component_not_met_yet_leads_through_nothing() {
    let mut world = World::new();
    world.spawn(Position { x: 0.0, y: 0.0 });
    let query = world.view::<(&Stun, &Position)>();
    assert_eq!((query.count(), query.iter().size_hint()), (0, (0, Some(0))));
    assert!(query.explain().contains("driven by the sparse set of a component not met yet"));
    assert_eq!(query.driven_by::<Stun>().iter().count(), 0);
}

// Hazard 40.
#[test]
fn size_hints_hold_for_every_leader() {
    let (world, ..) = scene();
    let hints = |query: Query<'_, '_, (&Stun, &Seat)>| {
        let mut iter = query.iter();
        loop {
            let (least, most) = iter.size_hint();
            let left = query.iter().count();
            assert!(least == 0 && most.unwrap() <= 60 && left <= 60);
            if iter.next().is_none() {
                assert_eq!(iter.size_hint(), (0, Some(0)));
                return query.count();
            }
        }
    };
    let counts = [
        hints(world.view()),
        hints(world.view().driven_by::<Stun>()),
        hints(world.view().driven_by::<Seat>()),
        hints(world.view().driven_by_tables()),
    ];
    assert_eq!(counts, [counts[0]; 4]);
}

/// A world with a run-time component in each kind of storage.
fn schemas() -> (World, [ComponentId; 3]) {
    let mut world = World::new();
    let kinds = [StorageKind::Table, StorageKind::Sparse, StorageKind::Stable];
    let ids = kinds.map(|kind| {
        let schema = Schema::new(format!("hp in {kind:?}"))
            .storage(kind)
            .field("current", FieldType::I32)
            .field("owner", FieldType::Entity);
        world.register_dynamic(schema).unwrap()
    });
    (world, ids)
}

#[test]
fn run_time_components_live_in_every_kind_of_storage() {
    let (mut world, ids) = schemas();
    let entities: Vec<Entity> = (0..9).map(|_| world.spawn(Frozen).id()).collect();
    for (at, &id) in ids.iter().enumerate() {
        let (moves, archetypes) = (world.stats().moves, world.archetypes().len());
        for (n, &e) in (0i32..).zip(&entities) {
            world.insert_dynamic(e, id, &[("current", Value::I32(n))]).unwrap();
            assert_eq!(world.get_field(e, id, "current").unwrap(), Value::I32(n));
            assert_eq!(world.get_field(e, id, "owner").unwrap(), Value::Entity(Entity::PLACEHOLDER));
        }
        if at > 0 {
            assert_eq!((world.stats().moves, world.archetypes().len()), (moves, archetypes));
        }
        // What is not given keeps its value.
        world.insert_dynamic(entities[1], id, &[("owner", Value::Entity(entities[0]))]).unwrap();
        assert_eq!(world.get_field(entities[1], id, "current").unwrap(), Value::I32(1));
        world.set_field(entities[1], id, "current", -5).unwrap();
        assert_eq!(world.get_field(entities[1], id, "current").unwrap(), Value::I32(-5));
        assert!(world.insert_dynamic(entities[0], id, &[("mana", Value::I32(0))]).is_err());
        assert!(world.entity(entities[0]).contains_id(id));
        assert!(
            world.remove_by_id(entities[0], id).unwrap() && !world.remove_by_id(entities[0], id).unwrap()
        );
        assert!(!world.entity(entities[0]).contains_id(id));
        let query = world.query_builder().with(id).build();
        assert_eq!(query.count(&world), 8);
        assert!(!query.contains(&world, entities[0]) && query.contains(&world, entities[1]));
        assert_eq!(world.query_builder().without(id).build().count(&world), 1);
        world.check().unwrap();
    }
    assert_eq!(world.entity(entities[1]).component_ids().count(), 4);
    let runs: Vec<&[i32]> =
        world.sparse_runs(ids[2]).map(|run| run.column::<i32>(ids[2], "current").unwrap()).collect();
    assert_eq!(runs, [[-5, 2, 3, 4, 5, 6, 7, 8]]);
    world.commands().entity(entities[2]).queue(move |mut e: EntityWorldMut| {
        e.remove_by_id(ids[1]).insert_dynamic(ids[2], &[("current", Value::I32(70))]).unwrap();
    });
    world.flush();
    assert_eq!(world.get_field(entities[2], ids[2], "current").unwrap(), Value::I32(70));
    world.entity_mut(entities[3]).clear();
    assert!(world.is_orphan(entities[3]));
    world.despawn(entities[4]);
    world.check().unwrap();
}

#[test]
fn storage_is_a_part_of_what_a_schema_says() {
    let (mut world, ids) = schemas();
    let again =
        Schema::new("hp in Sparse").field("current", FieldType::I32).field("owner", FieldType::Entity);
    assert_eq!(world.register_dynamic(again.clone().storage(StorageKind::Sparse)), Ok(ids[1]));
    assert!(matches!(world.register_dynamic(again), Err(RegisterError::OtherSchema { .. })));
    let kinds = ids.map(|id| world.components().get_info(id).unwrap().storage());
    assert_eq!(kinds, [StorageKind::Table, StorageKind::Sparse, StorageKind::Stable]);
    let tag = world.register_dynamic(Schema::new("mark").storage(StorageKind::Sparse)).unwrap();
    let e = world.spawn_empty().id();
    world.insert_dynamic(e, tag, &[]).unwrap();
    assert!(world.query_builder().with(tag).build().entities(&world).eq([e]));
    world.check().unwrap();
}
