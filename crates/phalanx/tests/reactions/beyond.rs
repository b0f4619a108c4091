//! Written values, matches of queries, archetypes, reactive sets: what is announced beside the lifecycle of components.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::archetype::ArchetypeId;
use phalanx::prelude::*;

use crate::random::Random;
use crate::steps::model_steps;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(track = "row")]
struct Health(u32);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(track = "row", storage = "sparse")]
struct Mana(u32);
#[derive(Component, Clone, Debug)]
struct Burning;
#[derive(Component, Clone, Debug)]
#[component(storage = "sparse")]
struct Wet;
#[derive(Component, Clone, Debug)]
#[component(storage = "sparse", stable)]
struct Cold;
#[derive(Resource, Default)]
struct Log(Vec<String>);

fn logging() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

fn taken(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.resource_mut::<Log>().0)
}

#[test]
fn written_values_are_told_at_the_next_sync_point_once() {
    let mut world = logging();
    world.add_observer(|on: On<Mutate<Health>>, all: Query<&Health>, mut log: ResMut<Log>| {
        log.0.push(format!("health {}", all.get(on.entity).unwrap().0));
    });
    world.add_observer(|on: On<Mutate<Mana>>, all: Query<&Mana>, mut log: ResMut<Log>| {
        log.0.push(format!("mana {}", all.get(on.entity).unwrap().0));
    });
    let e = world.spawn((Health(1), Mana(1))).id();
    world.flush();
    assert!(taken(&mut world).is_empty(), "what comes is not written");
    world.get_mut::<Health>(e).unwrap().0 = 2;
    world.get_mut::<Health>(e).unwrap().0 = 3;
    world.get_mut::<Mana>(e).unwrap().0 = 4;
    assert!(taken(&mut world).is_empty(), "not before the sync point");
    world.flush();
    assert_eq!(taken(&mut world), ["health 3", "mana 4"]);
    world.flush();
    assert!(taken(&mut world).is_empty());
}

#[test]
fn systems_of_a_schedule_are_started_by_what_others_write() {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.add_observer(|on: On<Mutate<Health>>, all: Query<&Health>, mut log: ResMut<Log>| {
        log.0.push(format!("{}", all.get(on.entity).unwrap().0));
    });
    app.add_systems(Update, |mut all: Query<&mut Health>| {
        for mut health in &mut all {
            if health.0 > 1 {
                health.0 -= 1;
            }
        }
    });
    app.world_mut().spawn(Health(3));
    app.world_mut().spawn(Health(1));
    for _ in 0..4 {
        app.step(0.1);
    }
    assert_eq!(taken(app.world_mut()), ["2", "1"]);
}

#[test]
fn a_batched_observer_gets_all_written_values_at_once() {
    let mut world = logging();
    world.add_observer(
        Observer::new(|on: On<Mutate<Health>>, mut log: ResMut<Log>| {
            log.0.push(format!("{}", on.entities().len()));
        })
        .batched(),
    );
    let all: Vec<Entity> = world.spawn_batch((0..100).map(Health)).collect();
    world.flush();
    for &entity in &all[..10] {
        world.get_mut::<Health>(entity).unwrap().0 += 1;
    }
    world.flush();
    assert_eq!(taken(&mut world), ["10"]);
}

#[test]
fn entities_that_begin_and_cease_to_match_are_told_with_sparse_terms() {
    let mut world = logging();
    world.add_observer(
        |on: On<Matched<(&Health, &Wet), Without<Burning>>>, all: Query<&Health>, mut log: ResMut<Log>| {
            log.0.push(format!("in {}", all.get(on.entity).unwrap().0));
        },
    );
    world.add_observer(
        |on: On<Unmatched<(&Health, &Wet), Without<Burning>>>, all: Query<&Health>, mut log: ResMut<Log>| {
            log.0.push(format!("out {}", all.get(on.entity).unwrap().0));
        },
    );
    let e = world.spawn((Health(1), Wet)).id();
    assert_eq!(taken(&mut world), ["in 1"]);
    world.insert(e, Health(2)).unwrap();
    assert!(taken(&mut world).is_empty());
    world.insert(e, Burning).unwrap();
    assert_eq!(taken(&mut world), ["out 2"]);
    world.remove::<Burning>(e).unwrap();
    assert_eq!(taken(&mut world), ["in 2"]);
    world.commands().entity(e).remove::<Wet>().insert(Wet);
    world.flush();
    assert!(taken(&mut world).is_empty(), "what cancels out is not told");
    world.remove::<Wet>(e).unwrap();
    world.insert(e, Wet).unwrap();
    world.despawn(e);
    assert_eq!(taken(&mut world), ["out 2", "in 2", "out 2"]);
    world.spawn_batch((0..3).map(|n| (Health(n), Wet)));
    assert_eq!(taken(&mut world), ["in 0", "in 1", "in 2"]);
}

#[test]
fn a_component_that_the_world_meets_later_is_matched_all_the_same() {
    #[derive(Component)]
    struct Late;
    let mut world = logging();
    world.add_observer(|_: On<Matched<&Late>>, mut log: ResMut<Log>| log.0.push("in".into()));
    world.spawn(Late);
    assert_eq!(taken(&mut world), ["in"]);
}

#[test]
fn a_query_that_everything_matches_cannot_be_observed() {
    let mut world = World::new();
    let refused = catch_unwind(AssertUnwindSafe(|| {
        world.add_observer(|_: On<Matched<Entity, Without<Health>>>| {});
    }));
    let message = *refused.expect_err("it needs a component").downcast::<String>().unwrap();
    assert!(message.contains("without"), "{message}");
}

#[derive(Resource, Default)]
struct Matching(BTreeSet<Entity>, BTreeSet<Entity>);

#[test]
fn matches_that_were_told_are_those_that_a_scan_finds() {
    let steps = model_steps(1_000, 2_000);
    let mut world = World::new();
    world.init_resource::<Matching>();
    world.add_observer(
        |on: On<Matched<&Health, Or<(With<Wet>, With<Burning>)>>>, mut all: ResMut<Matching>| {
            assert!(all.0.insert(on.entity));
        },
    );
    world.add_observer(
        |on: On<Unmatched<&Health, Or<(With<Wet>, With<Burning>)>>>, mut all: ResMut<Matching>| {
            assert!(all.0.remove(&on.entity));
        },
    );
    world.add_observer(
        |on: On<Matched<(&Cold, Option<&Health>), Without<Wet>>>, mut all: ResMut<Matching>| {
            assert!(all.1.insert(on.entity));
        },
    );
    world.add_observer(
        |on: On<Unmatched<(&Cold, Option<&Health>), Without<Wet>>>, mut all: ResMut<Matching>| {
            assert!(all.1.remove(&on.entity));
        },
    );
    let mut random = Random::new(7);
    let mut entities: Vec<Entity> = Vec::new();
    for _ in 0..steps {
        let at = random.below(entities.len().max(1));
        let e = entities.get(at).copied().filter(|&e| world.contains(e));
        match (random.below(16), e) {
            (0, _) => entities.push(world.spawn(Health(1)).id()),
            (1, _) => entities.push(world.spawn((Health(1), Wet, Cold)).id()),
            (2, _) => entities.extend(world.spawn_batch((0..3).map(|n| (Health(n), Burning)))),
            (3, _) => entities.push(world.spawn((Cold, Burning)).id()),
            (4, Some(e)) => world.insert(e, (Wet, Burning)).unwrap(),
            (5, Some(e)) => world.insert(e, Cold).unwrap(),
            (6, Some(e)) => world.remove::<Wet>(e).unwrap(),
            (7, Some(e)) => world.remove::<(Burning, Cold)>(e).unwrap(),
            (8, Some(e)) => world.remove::<Health>(e).unwrap(),
            (9, Some(e)) => drop(world.despawn(e)),
            (10, Some(e)) => drop(world.take::<(Health, Wet)>(e)),
            (11, Some(e)) => world.retain::<(Cold, Health)>(e).unwrap(),
            (12, Some(e)) => {
                let mut commands = world.commands();
                commands.entity(e).remove::<Wet>().insert((Health(2), Burning)).remove::<Cold>().insert(Wet);
                commands.spawn(Wet).insert(Health(3));
                world.flush();
            }
            (13, Some(e)) => {
                world.commands().entity(e).insert(Cold).despawn();
                world.flush();
            }
            (14, Some(e)) => world.insert(e, Health(9)).unwrap(),
            (15, _) if random.below(20) == 0 => world.clear_entities(),
            _ => {}
        }
        let first: BTreeSet<Entity> = world
            .query_filtered::<Entity, (With<Health>, Or<(With<Wet>, With<Burning>)>)>()
            .iter(&world)
            .collect();
        let second: BTreeSet<Entity> =
            world.query_filtered::<Entity, (With<Cold>, Without<Wet>)>().iter(&world).collect();
        let told = world.resource::<Matching>();
        assert_eq!((&told.0, &told.1), (&first, &second));
        world.check().unwrap();
    }
}

#[test]
fn archetypes_that_come_and_go_are_told_in_their_order() {
    #[derive(Resource, Default)]
    struct Told(Vec<(bool, ArchetypeId)>);
    let mut world = World::new();
    world.init_resource::<Told>();
    world.spawn(Health(1));
    world.add_observer(|on: On<ArchetypeCreated>, mut told: ResMut<Told>| told.0.push((true, on.0)));
    world.add_observer(|on: On<ArchetypeDropped>, mut told: ResMut<Told>| told.0.push((false, on.0)));
    let e = world.spawn((Health(2), Burning)).id();
    let both = world.archetype_of(e).unwrap();
    world.flush();
    assert_eq!(world.resource::<Told>().0, [(true, both)], "what was there before is not told");
    world.remove::<Health>(e).unwrap();
    let burning = world.archetype_of(e).unwrap();
    assert_eq!(world.drop_empty_archetypes(), 1);
    world.flush();
    assert_eq!(world.resource::<Told>().0[1..], [(true, burning), (false, both)]);
}

#[test]
fn all_archetypes_are_told_though_many_come_at_once_and_queries_match_afresh() {
    #[derive(Component)]
    struct Hat;
    #[derive(Component)]
    struct Prefab;
    #[derive(Resource, Default)]
    struct Told(Vec<(bool, ArchetypeId)>);
    let mut world = World::new();
    world.init_resource::<Told>();
    world.add_observer(|on: On<ArchetypeCreated>, mut told: ResMut<Told>| told.0.push((true, on.0)));
    world.add_observer(|on: On<ArchetypeDropped>, mut told: ResMut<Told>| told.0.push((false, on.0)));
    let e = world.spawn(Health(1)).id();
    let health = world.archetype_of(e).unwrap();
    // Lets all queries match afresh.
    world.register_disabling_component::<Prefab>();
    world.insert(e, Prefab).unwrap();
    let prefab = world.archetype_of(e).unwrap();
    world.flush();
    assert_eq!(world.resource::<Told>().0, [(true, health), (true, prefab)]);
    for _ in 0..1_000 {
        world.insert(e, Hat).unwrap();
        world.remove::<Hat>(e).unwrap();
        world.drop_empty_archetypes();
    }
    world.flush();
    let told = &world.resource::<Told>().0[2..];
    assert_eq!(told.iter().filter(|(created, _)| *created).count(), 1_000);
    assert_eq!(told.iter().filter(|(created, _)| !created).count(), 1_001, "the one of `Health` alone, too");
}

#[test]
fn a_reactive_set_holds_each_living_entity_once_until_it_is_read() {
    let mut world = World::new();
    let read = world.register_system(|mut set: Reactive<(Insert<Health>, Remove<Wet>)>| {
        let before = set.len();
        let read: Vec<Entity> = set.read().collect();
        assert!(read.len() == before && set.is_empty());
        read
    });
    let other = world.register_system(|mut set: Reactive<Add<Wet>>| set.read().count());
    assert!(world.run_system(read).unwrap().is_empty());
    assert_eq!(world.run_system(other).unwrap(), 0);
    let a = world.spawn((Health(1), Wet)).id();
    let b = world.spawn(Health(1)).id();
    let dead = world.spawn(Health(1)).id();
    world.insert(a, Health(2)).unwrap();
    world.remove::<Wet>(a).unwrap();
    world.despawn(dead);
    assert_eq!(world.run_system(read).unwrap(), [a, b]);
    assert!(world.run_system(read).unwrap().is_empty());
    world.insert(b, Wet).unwrap();
    assert!(world.run_system(read).unwrap().is_empty());
    world.spawn_batch((0..4).map(|n| (Health(n), Wet)));
    assert_eq!(world.run_system(read).unwrap().len(), 4);
    assert_eq!(world.run_system(other).unwrap(), 2 + 4);
}

// E-071: as EnTT's `on_update`.
#[test]
fn a_reactive_set_collects_written_values_and_matches() {
    let mut world = World::new();
    let written = world.register_system(|mut set: Reactive<Mutate<Health>>| set.read().collect::<Vec<_>>());
    let any = world.register_system(
        |mut set: Reactive<(Mutate<Mana>, Matched<(&Health, &Wet)>, Unmatched<&Health, With<Wet>>)>| {
            set.read().collect::<Vec<_>>()
        },
    );
    assert!(world.run_system(written).unwrap().is_empty() && world.run_system(any).unwrap().is_empty());
    let [a, b, c] = [1, 2, 3].map(|n| world.spawn((Health(n), Mana(n))).id());
    world.flush();
    assert!(world.run_system(written).unwrap().is_empty(), "what comes is not written");
    world.get_mut::<Health>(b).unwrap().0 = 7;
    world.get_mut::<Health>(a).unwrap().0 = 7;
    world.get_mut::<Health>(b).unwrap().0 = 8;
    world.get_mut::<Mana>(c).unwrap().0 = 9;
    world.flush();
    world.insert(b, Wet).unwrap();
    assert_eq!(world.run_system(written).unwrap(), [a, b]);
    assert_eq!(world.run_system(any).unwrap(), [c, b]);
    world.flush();
    assert!(world.run_system(written).unwrap().is_empty());
    world.remove::<Wet>(b).unwrap();
    world.insert(a, Wet).unwrap();
    world.despawn(a);
    assert_eq!(world.run_system(any).unwrap(), [b], "the dead are passed over");
    world.unregister_system(written).unwrap();
    world.unregister_system(any).unwrap();
    world.get_mut::<Health>(b).unwrap().0 = 9;
    world.flush();
    world.check().unwrap();
}

#[test]
fn a_reactive_set_in_an_app_gets_what_systems_wrote() {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.add_systems(Update, |mut all: Query<&mut Health>| {
        for mut health in &mut all {
            if health.0 % 2 == 0 {
                health.0 += 1;
            }
        }
    });
    app.add_systems(
        PostUpdate,
        |mut written: Reactive<Mutate<Health>>, all: Query<&Health>, mut log: ResMut<Log>| {
            log.0.extend(written.read().map(|entity| all.get(entity).unwrap().0.to_string()));
        },
    );
    app.step(0.1);
    app.world_mut().spawn_batch((0..6).map(Health));
    app.step(0.1);
    app.step(0.1);
    assert_eq!(taken(app.world_mut()), ["1", "3", "5"]);
}

#[test]
fn observers_of_writes_and_matches_keep_the_order_that_later_ones_ask_for() {
    fn first(_: On<Mutate<Health>>, mut log: ResMut<Log>) {
        log.0.push("first".into());
    }
    fn second(_: On<Mutate<Health>>, mut log: ResMut<Log>) {
        log.0.push("second".into());
    }
    fn third(_: On<Matched<&Wet>>, mut log: ResMut<Log>) {
        log.0.push("third".into());
    }
    fn fourth(_: On<Matched<&Wet>>, mut log: ResMut<Log>) {
        log.0.push("fourth".into());
    }
    fn between(_: On<Add<Burning>>) {}
    let mut world = logging();
    world.add_observer(Observer::new(second).after(between));
    world.add_observer(first);
    world.add_observer(Observer::new(fourth).after(between));
    world.add_observer(third);
    let e = world.spawn(Health(1)).id();
    let written = |world: &mut World| {
        world.flush();
        world.get_mut::<Health>(e).unwrap().0 += 1;
        world.flush();
        world.insert(e, Wet).unwrap();
        world.remove::<Wet>(e).unwrap();
        taken(world)
    };
    assert_eq!(written(&mut world), ["second", "first", "fourth", "third"]);
    // An observer of something else puts itself between.
    let id = world.add_observer(between);
    assert_eq!(written(&mut world), ["first", "second", "third", "fourth"]);
    world.remove_observer(id);
    assert_eq!(written(&mut world), ["second", "first", "fourth", "third"]);
}

#[test]
fn reactions_are_the_same_for_every_number_of_threads() {
    #[derive(Resource, Default)]
    struct Trace(Vec<String>);
    let run = |threads: usize| {
        let mut app = App::new();
        app.configure(AppConfig { threads: Threads::N(threads), ..AppConfig::default() });
        app.init_resource::<Trace>();
        app.add_observer(|on: On<Add<Health>>, mut commands: Commands, mut trace: ResMut<Trace>| {
            trace.0.push(format!("add {}", on.entity));
            commands.entity(on.entity).insert(Wet);
        });
        app.add_observer(|on: On<Remove<Wet>>, mut trace: ResMut<Trace>| {
            trace.0.push(format!("dry {}", on.entity));
        });
        app.add_observer(|on: On<Mutate<Health>>, mut trace: ResMut<Trace>| {
            trace.0.push(format!("hit {}", on.entity));
        });
        app.add_observer(|on: On<Matched<(&Wet, &Burning)>>, mut trace: ResMut<Trace>| {
            trace.0.push(format!("steam {}", on.entity));
        });
        app.add_systems(Update, |mut commands: Commands| {
            commands.spawn(Health(5));
        });
        app.add_systems(Update, |mut all: Query<&mut Health>| {
            for mut health in &mut all {
                health.0 = health.0.saturating_sub(1);
            }
        });
        app.add_systems(Update, |all: Query<(Entity, &Health)>, mut commands: Commands| {
            for (entity, health) in &all {
                match health.0 {
                    3 => drop(commands.entity(entity).insert(Burning)),
                    2 => drop(commands.entity(entity).remove::<Wet>()),
                    0 => commands.entity(entity).despawn(),
                    _ => {}
                }
            }
        });
        app.add_systems(Update, |mut gone: RemovedComponents<Health>, mut trace: ResMut<Trace>| {
            for entity in gone.read() {
                trace.0.push(format!("gone {entity}"));
            }
        });
        for _ in 0..20 {
            app.step(0.1);
        }
        std::mem::take(&mut app.world_mut().resource_mut::<Trace>().0)
    };
    let one = run(1);
    assert!(one.len() > 60, "{one:?}");
    assert_eq!(run(2), one);
    assert_eq!(run(8), one);
}
