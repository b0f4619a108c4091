//! Entities that are disabled: no query visits them unless it mentions why, on every path; trees are disabled as one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::component::DisabledByTree;
use phalanx::prelude::*;

use crate::hazards::{flush_despite_panics, panic_in_command};

#[derive(Component, Clone, Debug, PartialEq, Eq, Hash)]
struct Health(u32);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Burning(u32);
#[derive(Component, Clone, Debug, PartialEq)]
struct Prefab;

/// One entity that is awake, and one that is not; both burn.
fn two() -> (World, Entity, Entity) {
    let mut world = World::new();
    let awake = world.spawn((Health(1), Burning(1))).id();
    let asleep = world.spawn((Health(2), Burning(2), Disabled)).id();
    (world, awake, asleep)
}

#[test]
fn queries_pass_over_disabled_entities_on_every_path() {
    let (mut world, awake, asleep) = two();
    let rows = world.view::<(Entity, &Health)>();
    assert_eq!(rows.iter().map(|(entity, _)| entity).collect::<Vec<_>>(), [awake]);
    assert_eq!((rows.count(), rows.is_empty(), rows.single().unwrap().0), (1, false, awake));
    assert!(rows.get(asleep).is_err() && rows.get(awake).is_ok() && !rows.contains(asleep));
    assert_eq!(rows.chunks().map(|(entities, _)| entities.len()).sum::<usize>(), 1);
    assert_eq!(rows.iter_many([asleep, awake]).matched().count(), 1);
    assert!(rows.get_many([awake, asleep]).is_err());
    assert_eq!(rows.iter_combinations::<2>().count(), 0);
    let alone = world.view::<&Health>();
    assert!(alone.get(asleep).is_err(), "a query of one column looks at its tables, too");
    let burning = world.view::<(Entity, &Burning)>();
    assert_eq!(burning.iter().map(|(entity, _)| entity).collect::<Vec<_>>(), [awake]);
    assert!(burning.get(asleep).is_err() && burning.get(awake).is_ok());
    assert_eq!(world.view::<&Burning>().iter().count(), 1, "driven by the set alone");
    assert_eq!(world.view::<Entity>().count(), 1);
    assert_eq!(world.view::<EntityRef>().iter().count(), 1);
    let mut sum = 0;
    world.view_mut::<&mut Health>().iter_mut().for_each(|mut health| {
        health.0 += 10;
        sum += health.0;
    });
    assert_eq!(sum, 11);
    assert!(world.view_mut::<&mut Health>().get_mut(asleep).is_err());
    let mut kept = world.query::<&Health>();
    assert_eq!((kept.iter(&world).count(), kept.get(&world, asleep).is_err()), (1, true));
    assert_eq!(world.get::<Health>(asleep), Some(&Health(2)), "by its id it is found");
    assert_eq!(world.entity(asleep).components::<&Health>(), &Health(2));
    world.check().unwrap();
}

#[cfg(feature = "parallel")]
#[test]
fn parallel_queries_pass_over_disabled_entities() {
    let (mut world, awake, asleep) = two();
    world.view_mut::<&mut Health>().par_iter_mut().for_each(|mut health| health.0 += 5);
    assert_eq!((world.get::<Health>(awake).unwrap().0, world.get::<Health>(asleep).unwrap().0), (6, 2));
}

#[test]
fn a_query_that_mentions_the_component_visits_them() {
    let (world, awake, asleep) = two();
    assert_eq!(world.view_filtered::<&Health, Allow<Disabled>>().count(), 2);
    assert_eq!(world.view_filtered::<Entity, With<Disabled>>().single().unwrap(), asleep);
    assert_eq!(world.view_filtered::<Entity, Without<Disabled>>().single().unwrap(), awake);
    assert_eq!(world.view::<(&Health, &Disabled)>().count(), 1);
    assert_eq!(world.view::<(&Health, Has<Disabled>)>().iter().filter(|(_, is)| *is).count(), 1);
    assert_eq!(world.view_filtered::<Entity, Or<(With<Disabled>, With<Health>)>>().count(), 2);
    assert_eq!(
        world.view::<(&Health, Option<&Disabled>)>().count(),
        1,
        "as in bevy: to want it is no mention"
    );
    assert!(world.view_filtered::<&Health, Allow<Disabled>>().get(asleep).is_ok());
    assert_eq!(world.view_filtered::<&Burning, Allow<Disabled>>().iter().count(), 2);
}

#[test]
fn queries_built_at_run_time_pass_over_them_unless_they_are_allowed() {
    let (mut world, awake, asleep) = two();
    let health = world.component_id::<Health>().unwrap();
    let burning = world.component_id::<Burning>().unwrap();
    let disabled = world.component_id::<Disabled>().unwrap();
    for id in [health, burning] {
        let query = world.query_builder().with(id).build();
        assert_eq!(query.entities(&world).collect::<Vec<_>>(), [awake]);
        assert_eq!((query.count(&world), query.contains(&world, asleep)), (1, false));
        assert_eq!(query.tables(&world).map(|table| table.len()).sum::<usize>(), 1);
        let mut rows = 0;
        query.for_each_table_mut(&mut world, |table| rows += table.len());
        assert_eq!(rows, 1);
        let all = query.allow([disabled]);
        assert_eq!((all.count(&world), all.contains(&world, asleep)), (2, true));
        assert_eq!(all.tables(&world).map(|table| table.len()).sum::<usize>(), 2);
        assert_eq!(query.and([disabled]).entities(&world).collect::<Vec<_>>(), [asleep]);
    }
}

#[test]
fn late_registration_reaches_queries_that_are_kept() {
    let mut world = World::new();
    let prefab = world.spawn((Health(1), Prefab)).id();
    world.spawn(Health(2));
    let mut kept = world.query::<&Health>();
    assert_eq!((kept.iter(&world).count(), world.view::<&Health>().count()), (2, 2));
    let count = world.register_system(|all: Query<&Health>| all.iter().count());
    assert_eq!(world.run_system(count).unwrap(), 2);
    let health = world.component_id::<Health>().unwrap();
    let built = world.query_builder().with(health).build();
    assert_eq!(built.count(&world), 2);

    world.register_disabling_component::<Prefab>();
    world.register_disabling_component::<Prefab>();
    assert_eq!((kept.iter(&world).count(), world.view::<&Health>().count()), (1, 1));
    assert!(kept.get(&world, prefab).is_err() && world.view::<&Health>().get(prefab).is_err());
    assert_eq!(world.run_system(count).unwrap(), 1);
    assert_eq!(built.count(&world), 1);
    assert_eq!(world.view_filtered::<&Health, Allow<Prefab>>().count(), 2);
    // New archetypes find their place in queries that were matched afresh.
    world.spawn((Health(3), Burning(1)));
    world.spawn((Health(4), Name::new("x")));
    world.spawn((Health(5), Name::new("y"), Prefab));
    assert_eq!((kept.iter(&world).count(), world.view::<&Health>().count()), (3, 3));
    assert_eq!((world.run_system(count).unwrap(), built.count(&world)), (3, 3));
    world.check().unwrap();
}

#[test]
fn several_disabling_components_must_all_be_mentioned() {
    let mut world = World::new();
    world.register_disabling_component::<Prefab>();
    world.spawn(Health(0));
    world.spawn_batch((0..2).map(|_| (Health(0), Disabled)));
    world.spawn_batch((0..4).map(|_| (Health(0), Prefab)));
    world.spawn_batch((0..8).map(|_| (Health(0), Disabled, Prefab)));
    assert_eq!(world.view::<&Health>().count(), 1);
    assert_eq!(world.view_filtered::<&Health, With<Disabled>>().count(), 2);
    assert_eq!(world.view_filtered::<&Health, Allow<Disabled>>().count(), 3);
    assert_eq!(world.view_filtered::<&Health, With<Prefab>>().count(), 4);
    assert_eq!(world.view_filtered::<&Health, (Allow<Disabled>, Allow<Prefab>)>().count(), 15);
}

#[test]
fn a_query_says_that_an_entity_is_disabled() {
    let (world, awake, asleep) = two();
    let rows = world.view::<&Health>();
    let why = rows.why_not(asleep).unwrap().to_string();
    assert!(why.contains("without Disabled"), "{why}");
    assert_eq!(rows.why_not(awake), None);
    assert!(rows.explain().contains("without Disabled"), "{}", rows.explain());
    let condition = <&Health as QueryData>::condition();
    let unmet: Vec<String> =
        world.unmet(&condition, asleep).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(unmet, ["without Disabled"]);
    assert!(world.unmet(&condition, awake).unwrap().is_empty());
    assert!(world.unmet(&<(&Health, Has<Disabled>)>::condition(), asleep).unwrap().is_empty());
}

#[derive(Resource, Default, Debug)]
struct Heard(Vec<(&'static str, Entity)>);

#[test]
fn observers_of_matches_hear_of_disabling() {
    for late in [false, true] {
        let mut world = World::new();
        world.init_resource::<Heard>();
        if !late {
            world.register_disabling_component::<Prefab>();
        }
        world.add_observer(|on: On<Matched<&Health>>, mut heard: ResMut<Heard>| {
            heard.0.push(("matches", on.entity));
        });
        world.add_observer(|on: On<Unmatched<&Health>>, mut heard: ResMut<Heard>| {
            heard.0.push(("ceases", on.entity));
        });
        world.register_disabling_component::<Prefab>();
        let e = world.spawn(Health(1)).id();
        let hidden = world.spawn((Health(1), Prefab)).id();
        world.entity_mut(e).insert(Disabled);
        world.entity_mut(e).remove::<Disabled>();
        world.entity_mut(hidden).remove::<Prefab>();
        world.entity_mut(e).insert(Prefab);
        world.despawn(e);
        let expected = [("matches", e), ("ceases", e), ("matches", e), ("matches", hidden), ("ceases", e)];
        assert_eq!(world.resource::<Heard>().0, expected, "late: {late}");
    }
}

#[test]
fn a_system_may_write_enabled_and_disabled_entities_side_by_side() {
    let mut world = World::new();
    // Before any entity was disabled, and so before the world knows `Disabled`.
    let both = world.register_system(
        |mut awake: Query<&mut Health>, mut asleep: Query<&mut Health, With<Disabled>>| {
            awake.iter_mut().for_each(|mut health| health.0 = 1);
            asleep.iter_mut().for_each(|mut health| health.0 = 2);
            (awake.iter().count(), asleep.iter().count())
        },
    );
    world.spawn(Health(0));
    assert_eq!(world.run_system(both).unwrap(), (1, 0));
    world.spawn_batch((0..3).map(|_| (Health(0), Disabled)));
    assert_eq!(world.run_system(both).unwrap(), (1, 3));
}

#[test]
fn names_and_indexes_know_disabled_entities() {
    let mut world = World::new();
    let e = world.spawn((Health(7), Name::new("sleeper"), Disabled)).id();
    assert_eq!(world.named("sleeper").unwrap(), e);
    assert_eq!(world.entities_with(&Health(7)), [e]);
    world.entity_mut(e).remove::<Disabled>();
    assert_eq!(world.entities_with(&Health(7)), [e]);
}

#[test]
fn a_world_without_disabled_entities_does_not_register_disabled() {
    let mut world = World::new();
    let parent = world.spawn_empty().id();
    world.spawn((Health(1), ChildOf(parent)));
    let _ = world.view_filtered::<&Health, Allow<Disabled>>().count();
    let condition = world.view::<&Health>().explain();
    assert!(!condition.contains("Disabled"), "{condition}");
    assert_eq!(world.component_id::<Disabled>(), None);
}

fn asleep(world: &World, all: &[Entity]) -> Vec<bool> {
    all.iter().map(|&entity| world.is_disabled(entity)).collect()
}

/// `root > [a > [b], c]`.
fn tree(world: &mut World) -> [Entity; 4] {
    let root = world.spawn(Health(0)).id();
    let a = world.spawn((Health(1), ChildOf(root))).id();
    let b = world.spawn((Health(2), ChildOf(a))).id();
    let c = world.spawn((Health(3), ChildOf(root))).id();
    [root, a, b, c]
}

#[test]
fn a_tree_is_disabled_whole_though_commands_of_handlers_panic() {
    let mut world = World::new();
    let all @ [root, ..] = tree(&mut world);
    world.add_observer(|_: On<Add<DisabledByTree>>, mut commands: Commands| commands.queue(panic_in_command));
    world.add_observer(|_: On<Remove<DisabledByTree>>, mut commands: Commands| {
        commands.queue(panic_in_command);
    });
    for disabled in [true, false] {
        let change = || {
            let mut root = world.entity_mut(root);
            if disabled {
                root.insert(DisabledTree);
            } else {
                root.remove::<DisabledTree>();
            }
        };
        assert!(catch_unwind(AssertUnwindSafe(change)).is_err(), "the panic of a command is passed on");
        flush_despite_panics(&mut world);
        assert_eq!(asleep(&world, &all), [disabled; 4]);
    }
    world.check().unwrap();
}

// Hazard 76.
#[test]
fn enabling_a_parent_does_not_wake_a_child_that_was_disabled_by_itself() {
    let mut world = World::new();
    let all @ [root, a, _, c] = tree(&mut world);
    world.entity_mut(c).insert(Disabled);
    world.entity_mut(root).insert(DisabledTree);
    world.entity_mut(root).insert(DisabledTree);
    assert_eq!(asleep(&world, &all), [true; 4]);
    assert_eq!(world.view::<&Health>().count(), 0);
    world.entity_mut(a).insert(DisabledTree);
    world.entity_mut(root).remove::<DisabledTree>();
    assert_eq!(
        asleep(&world, &all),
        [false, true, true, true],
        "a with its tree, and c, were so by themselves"
    );
    world.entity_mut(a).remove::<DisabledTree>();
    assert_eq!(asleep(&world, &all), [false, false, false, true]);
    world.entity_mut(c).remove::<Disabled>();
    assert_eq!(asleep(&world, &all), [false; 4]);
    world.check().unwrap();
}

#[test]
fn children_that_come_and_go_follow_the_tree_they_are_in() {
    let mut world = World::new();
    let all @ [root, a, b, c] = tree(&mut world);
    world.entity_mut(a).insert(DisabledTree);
    assert_eq!(asleep(&world, &all), [false, true, true, false]);
    world.entity_mut(c).insert(ChildOf(b));
    assert_eq!(asleep(&world, &all), [false, true, true, true]);
    world.entity_mut(b).insert(ChildOf(root));
    assert_eq!(asleep(&world, &all), [false, true, false, false], "with all below it");
    let late = world.spawn((Health(4), ChildOf(a))).id();
    assert!(world.is_disabled(late));
    world.entity_mut(late).remove::<ChildOf>();
    assert!(!world.is_disabled(late));
    // The world gives and takes what is inherited, and nothing else does.
    world.entity_mut(b).insert(ChildOf(a));
    world.entity_mut(b).remove::<DisabledByTree>();
    assert!(world.is_disabled(b));
    world.despawn(a);
    assert!(!world.contains(c) && !world.is_disabled(root));
    world.check().unwrap();
}

#[test]
fn a_deep_tree_is_disabled_without_recursion() {
    let mut world = World::new();
    let root = world.spawn(Health(0)).id();
    let mut last = root;
    for _ in 0..20_000 {
        last = world.spawn((Health(1), ChildOf(last))).id();
    }
    world.entity_mut(root).insert(DisabledTree);
    assert_eq!(world.view::<&Health>().count(), 0);
    world.entity_mut(root).remove::<DisabledTree>();
    assert_eq!(world.view::<&Health>().count(), 20_001);
}

#[test]
fn a_tree_is_disabled_in_a_world_that_knows_no_other_way() {
    let mut world = World::new();
    let root = world.spawn((Health(0), DisabledTree)).id();
    let child = world.spawn((Health(1), ChildOf(root))).id();
    assert!(world.is_disabled(child), "`Disabled` itself was never used");
    assert_eq!(world.view::<&Health>().count(), 0);
}
