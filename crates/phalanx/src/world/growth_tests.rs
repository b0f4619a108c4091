//! That rare work grows with the world, and not with its square.
//!
//! Each test does the same to a small and to a large world, and compares what was counted: steps, or bytes. Nothing is
//! timed. Four times the work may take six times the steps, because searches become a little longer; work that grows
//! with the square takes sixteen times as many.

use super::World;
use crate::registry::{ComponentId, FieldInfo};
use crate::relation::ChildOf;
use crate::schema::{Schema, StorageKind};
use crate::steps;
use crate::value::{FieldType, Value};

/// How many queries the world keeps prepared, and how many different filters they have.
fn prepared(world: &World) -> (usize, usize) {
    let stats = world.stats();
    (stats.prepared_queries, stats.prepared_filters)
}

#[derive(phalanx_derive::Component)]
struct First(u32);

#[derive(phalanx_derive::Component)]
struct Second(u32);

/// Components of one field each, that are all registered.
fn components(world: &mut World, name: &str, count: usize) -> Vec<ComponentId> {
    let schema = |at| Schema::new(format!("{name} {at}")).field("value", FieldType::U32);
    (0..count).map(|at| world.register_dynamic(schema(at)).expect("the name is free")).collect()
}

fn spawn_with(world: &mut World, ids: &[ComponentId]) {
    let entity = world.spawn_empty().id();
    for &id in ids {
        world.insert_dynamic(entity, id, &[]).expect("alive, and a component of run time");
    }
}

#[track_caller]
pub(crate) fn assert_linear(count: impl Fn(usize) -> u64) {
    let (small, large) = (count(200), count(800));
    assert!(
        large < 6 * small.max(200),
        "{small} for a small world, {large} for one that is four times as large"
    );
}

#[test]
fn an_archetype_is_shown_to_the_queries_that_may_match_it() {
    // As many archetypes as there are queries: each concerns the queries of its own components, and of all.
    assert_linear(|size| {
        let mut world = World::new();
        let common = components(&mut world, "common", 1)[0];
        let kinds = components(&mut world, "kind", size);
        for &kind in &kinds {
            assert_eq!(world.query_builder().with(common).with(kind).build().count(&world), 0);
        }
        assert_eq!(world.view::<phalanx_store::Entity>().into_iter().count(), 0);
        steps::of(|| kinds.iter().for_each(|&kind| spawn_with(&mut world, &[common, kind])))
    });
}

#[test]
fn queries_that_match_everything_take_a_few_steps_for_each_archetype() {
    assert_linear(|size| {
        let mut world = World::new();
        let kinds = components(&mut world, "kind", size);
        assert_eq!(world.view::<phalanx_store::Entity>().into_iter().count(), 0);
        let mut kept = world.query::<phalanx_store::Entity>();
        let steps = steps::of(|| {
            for &kind in &kinds {
                spawn_with(&mut world, &[kind]);
                assert!(kept.iter(&world).count() > 0);
                assert_eq!(kept.archetypes().len(), world.archetypes().len());
            }
        });
        assert_eq!(world.view::<phalanx_store::Entity>().into_iter().count(), size);
        steps
    });
}

#[test]
fn registering_a_component_does_not_concern_queries_that_are_resolved() {
    assert_linear(|size| {
        let mut world = World::new();
        let kinds = components(&mut world, "kind", size);
        for &kind in &kinds {
            assert_eq!(world.query_builder().with(kind).build().count(&world), 0);
        }
        steps::of(|| components(&mut world, "later", size))
    });
}

#[test]
fn queries_are_asked_again_in_few_steps() {
    let ask = |world: &World, kinds: &[ComponentId]| {
        for &kind in kinds {
            assert_eq!(world.query_builder().with(kind).build().count(world), 0);
        }
    };
    assert_linear(|size| {
        let mut world = World::new();
        let kinds = components(&mut world, "kind", size);
        ask(&world, &kinds);
        steps::of(|| ask(&world, &kinds))
    });
}

#[test]
fn a_world_with_many_queries_is_dropped_on_a_small_stack() {
    let mut world = World::new();
    let kinds = components(&mut world, "kind", 150);
    for &a in &kinds {
        for &b in &kinds[..70] {
            assert_eq!(world.query_builder().with(a).without(b).build().count(&world), 0);
        }
    }
    // `with` and `without` the same can be nothing, all 70 times.
    assert_eq!(prepared(&world).1, 150 * 70 - 70 + 1);
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    small.spawn(move || drop(world)).expect("a thread").join().expect("no overflow");
}

#[test]
fn two_commands_on_an_entity_find_their_way_at_once_among_many_archetypes() {
    assert_linear(|size| {
        let mut world = World::new();
        let kinds = components(&mut world, "kind", size);
        let entities: Vec<_> = kinds
            .iter()
            .map(|&kind| {
                let entity = world.spawn_empty().id();
                world.insert_dynamic(entity, kind, &[]).expect("alive");
                entity
            })
            .collect();
        let steps_of_flush = |world: &mut World| {
            for &entity in &entities {
                world.commands().entity(entity).insert(First(1)).remove::<Second>();
                world.commands().entity(entity).insert(Second(2)).remove::<First>();
            }
            steps::of(|| world.flush())
        };
        steps_of_flush(&mut world);
        for &entity in &entities {
            world.remove::<(First, Second)>(entity).expect("alive");
        }
        steps_of_flush(&mut world)
    });
}

#[test]
fn a_component_of_many_fields_takes_steps_in_proportion_to_them() {
    assert_linear(|size| {
        let mut world = World::new();
        let names: Vec<String> = (0..size).map(|at| format!("field {at}")).collect();
        let wide = names.iter().map(|name| (name.clone(), FieldType::U32));
        let id = world
            .register_dynamic(Schema::new("wide").storage(StorageKind::Sparse).fields(wide))
            .expect("the name is free");
        let entity = world.spawn_empty().id();
        let values: Vec<(&str, Value)> = names.iter().map(|name| (name.as_str(), 7_u32.into())).collect();
        let steps = steps::of(|| world.insert_dynamic(entity, id, &values).expect("the fields are there"));
        assert_eq!(world.get_field(entity, id, "field 3"), Ok(7_u32.into()));
        steps
    });
}

// O-114: and with names, filters and archetypes.
#[test]
fn moving_an_entity_looks_nothing_up() {
    let mut world = World::new();
    let kind = components(&mut world, "kind", 1)[0];
    let entity = world.spawn(First(1)).id();
    let round = |world: &mut World| {
        world.insert(entity, Second(2)).expect("alive");
        assert_eq!(world.insert_dynamic(entity, kind, &[]), Ok(()));
        assert_eq!(world.remove_by_id(entity, kind), Ok(true));
        world.remove::<Second>(entity).expect("alive");
    };
    round(&mut world);
    assert_eq!(steps::of(|| (0..100).for_each(|_| round(&mut world))), 0);
}

// O-127.
#[test]
fn matching_looks_at_the_holders_of_the_rarest_component_only() {
    let mut world = World::new();
    let common = components(&mut world, "common", 1)[0];
    let kinds = components(&mut world, "kind", 200);
    for &kind in &kinds {
        spawn_with(&mut world, &[common, kind]);
    }
    spawn_with(&mut world, &[common, kinds[3], kinds[5]]);
    let rare = world.query_builder().with(common).with(kinds[3]).build();
    let holders = world.archetypes().with_component(kinds[3]).len();
    assert_eq!(holders, 2);
    assert_eq!(world.archetypes().with_component(common).len(), 202);
    let steps = steps::of(|| assert_eq!(rare.count(&world), 2));
    assert!(steps <= 2 * holders as u64, "{steps} archetypes were looked at");
}

// O-058.
#[test]
fn a_field_is_found_by_name_in_one_step() {
    let mut world = World::new();
    let names: Vec<String> = (0..1_000).map(|at| format!("field {at}")).collect();
    let wide = names.iter().map(|name| (name.clone(), FieldType::U32));
    let id = world.register_dynamic(Schema::new("wide").fields(wide)).expect("the name is free");
    let info = world.components().get_info(id).expect("registered");
    for (at, name) in names.iter().enumerate() {
        let mut found = None;
        // Now and then two names look alike to a hash table, before they are compared.
        assert!(steps::of(|| found = info.field(name)) <= 4);
        assert_eq!(found.map(FieldInfo::column), Some(info.fields()[at].column()));
    }
}

#[test]
fn ways_between_archetypes_take_memory_in_proportion_to_their_number() {
    let bytes = |size| {
        let mut world = World::new();
        let kinds = components(&mut world, "kind", size);
        let entity = world.spawn_empty().id();
        let round = |world: &mut World| {
            for &kind in &kinds {
                world.insert_dynamic(entity, kind, &[]).expect("alive");
                assert_eq!(world.remove_by_id(entity, kind), Ok(true));
            }
        };
        round(&mut world);
        let computed = world.stats().edges_computed;
        round(&mut world);
        assert_eq!(world.stats().edges_computed, computed);
        world.archetypes.edges.bytes()
    };
    // Each array is a page at most; without a limit, twice as many archetypes would take four times the memory.
    let (small, large) = (bytes(2_000), bytes(4_000));
    assert!(large < 2 * small, "{small} bytes, then {large}");
}

#[test]
fn entities_without_listeners_go_without_an_announcement() {
    let mut world = World::new();
    world.register_component_hooks::<Second>().on_remove(|_, _| {});
    let parent = world.spawn_empty().id();
    let child = world.spawn(ChildOf(parent)).id();
    let heard = world.spawn((First(0), Second(0))).id();
    let silent: Vec<_> = (0..100).map(|at| world.spawn(First(at)).id()).collect();
    let (one_by_one, together) = silent.split_at(50);
    // One entity after the other, and among those that are announced.
    assert_eq!(steps::of(|| one_by_one.iter().for_each(|&entity| assert!(world.despawn(entity)))), 0);
    let announced = |world: &mut World, batch: &[_]| {
        steps::of(|| assert_eq!(world.despawn_batch(batch.iter().copied()), batch.len()))
    };
    let mixed: Vec<_> = together.iter().copied().chain([heard]).collect();
    for batch in [&mixed[..], &[child]] {
        let steps = announced(&mut world, batch);
        assert!((1..10).contains(&steps), "{steps} steps for one of {}", batch.len());
    }
    world.check().expect("valid");
}

/// A parent with as many children.
fn family(world: &mut World, size: usize) -> (phalanx_store::Entity, Vec<phalanx_store::Entity>) {
    let parent = world.spawn_empty().id();
    let children = (0..size).map(|_| world.spawn(ChildOf(parent)).id()).collect();
    (parent, children)
}

#[test]
fn detaching_one_of_many_children_takes_as_many_steps_as_of_few() {
    let detach = |size: usize| {
        let mut world = World::new();
        let (_, children) = family(&mut world, size);
        let first = steps::of(|| world.remove::<ChildOf>(children[7]).map(drop).expect("alive"));
        let next = steps::of(|| {
            for &child in &children[8..58] {
                world.remove::<ChildOf>(child).map(drop).expect("alive");
            }
        });
        (first, next)
    };
    let (small, large) = (detach(1_000), detach(50_000));
    assert_eq!(small.1, large.1, "fifty of them");
    assert!(large.0 - small.0 <= 49_000, "the first one numbers them all, once: {}", large.0);
    // The first removal is paid for by the additions.
    assert_linear(|size| {
        let mut world = World::new();
        steps::of(|| {
            let (_, children) = family(&mut world, size);
            for &child in children.iter().step_by(3) {
                world.remove::<ChildOf>(child).map(drop).expect("alive");
            }
        })
    });
}

#[test]
fn a_tree_is_despawned_in_steps_that_grow_with_it() {
    for heard in [false, true] {
        assert_linear(|size| {
            let mut world = World::new();
            if heard {
                world.register_component_hooks::<ChildOf>().on_remove(|_, _| ());
            }
            let (parent, children) = family(&mut world, size);
            children.iter().for_each(|&child| {
                world.spawn(ChildOf(child));
            });
            steps::of(|| world.despawn(parent))
        });
    }
}
