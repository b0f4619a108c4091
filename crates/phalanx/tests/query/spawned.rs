//! Proves `Spawned` and `SpawnDetails`: what was spawned after a query's moment, and nothing else, whatever happened since.
//!
//! Random histories run against a list of what was spawned when: by every way of spawning, with moves, deaths, reused
//! indices, checkpoints and systems that run at different times.

use crate::common::cast::{Armour, Frozen, Health, label, visited};
use crate::common::random::Random;
use phalanx::app::AppCheckpoint;
use phalanx::prelude::*;
use std::collections::BTreeMap;

#[derive(Component, Clone, Copy)]
#[component(storage = "sparse")]
struct Burning;

#[derive(Pool)]
struct Crowd {
    health: Health,
    armour: Option<Armour>,
    burning: Option<Burning>,
}

fn see(new: Query<Entity, Spawned>, all: Query<(Entity, SpawnDetails)>) -> Vec<Entity> {
    let mut seen: Vec<Entity> = new.iter().collect();
    seen.sort_unstable();
    let mut again: Vec<Entity> =
        all.iter().filter(|(_, details)| details.is_spawned()).map(|(entity, _)| entity).collect();
    again.sort_unstable();
    assert_eq!(seen, again, "the filter and the data agree");
    seen
}

fn see_armoured(new: Query<Entity, (With<Armour>, Spawned)>) -> Vec<Entity> {
    let mut seen: Vec<Entity> = new.iter().collect();
    seen.sort_unstable();
    seen
}

fn see_either(new: Query<Entity, Or<(With<Frozen>, Spawned)>>) -> Vec<Entity> {
    let mut seen: Vec<Entity> = new.iter().collect();
    seen.sort_unstable();
    seen
}

/// What should be so: when each entity was spawned, and when each system last ran.
#[derive(Clone, Default)]
struct Model {
    clock: u64,
    born: BTreeMap<Entity, u64>,
    ran: [u64; 3],
    cleared: u64,
}

impl Model {
    fn bear(&mut self, entities: impl IntoIterator<Item = Entity>) {
        self.clock += 1;
        for entity in entities {
            assert!(self.born.insert(entity, self.clock).is_none(), "{entity} was there already");
        }
    }

    fn after(&self, moment: u64) -> Vec<Entity> {
        self.born.iter().filter(|&(_, &born)| born > moment).map(|(&entity, _)| entity).collect()
    }
}

fn any(random: &mut Random, model: &Model) -> Option<Entity> {
    let count = model.born.len();
    if count == 0 { None } else { model.born.keys().copied().nth(random.below(count)) }
}

fn spawn(random: &mut Random, world: &mut World, model: &mut Model) {
    let before: Vec<Entity> = world.iter_entities().map(|entity| entity.id()).collect();
    match random.below(9) {
        0 => _ = world.spawn(Health(1)),
        1 => _ = world.spawn((Armour(2), Frozen)),
        2 => _ = world.spawn_empty(),
        3 => _ = world.spawn((Burning, label("sparse and more"))),
        4 => _ = world.spawn_batch((0..random.below(40)).map(|_| (Health(1), Armour(1)))),
        5 => {
            let mut commands = world.commands();
            for _ in 0..random.below(4) {
                commands.spawn(Armour(3));
            }
            commands.spawn_empty();
            world.flush();
        }
        6 => _ = world.spawn_in(Crowd { health: Health(3), armour: None, burning: Some(Burning) }),
        7 => {
            let index = random.below(300) as u64;
            _ = world.spawn_at(Entity::from_bits(9 << 32 | index).expect("an id"), Frozen);
        }
        _ => {
            if let Some(entity) = any(random, model) {
                world.entity_mut(entity).clone_and_spawn();
            }
        }
    }
    let new = world.iter_entities().map(|entity| entity.id()).filter(|id| !before.contains(id));
    let new: Vec<Entity> = new.collect();
    model.bear(new);
}

fn change(random: &mut Random, world: &mut World, model: &mut Model) {
    let Some(entity) = any(random, model) else { return };
    match random.below(6) {
        // A pool may not take these.
        0 => _ = world.insert(entity, Frozen),
        1 => _ = world.remove::<Frozen>(entity),
        2 => _ = world.insert(entity, Burning),
        3 if !world.entity(entity).contains::<Health>() => _ = world.entity_mut(entity).clear(),
        _ => {
            world.despawn(entity);
            model.born.remove(&entity);
        }
    }
}

fn history(seed: u64) {
    let mut random = Random::new(seed);
    let (mut app, mut model) = (App::new(), Model::default());
    let world = app.world_mut();
    // Half of the histories begin before the first request.
    for _ in 0..if seed.is_multiple_of(2) { 0 } else { 30 } {
        spawn(&mut random, world, &mut model);
        change(&mut random, world, &mut model);
    }
    let systems =
        [world.register_system(see), world.register_system(see_armoured), world.register_system(see_either)];
    let mut checkpoint: Option<(AppCheckpoint, Model)> = None;
    for step in 0..200 {
        let world = app.world_mut();
        match random.below(12) {
            0..=4 => spawn(&mut random, world, &mut model),
            5..=7 => change(&mut random, world, &mut model),
            8 | 9 => {
                let which = random.below(3);
                let mut expected = model.after(model.ran[which]);
                match which {
                    1 => expected.retain(|&entity| world.get::<Armour>(entity).is_some()),
                    2 => {
                        let frozen = model.born.keys().filter(|&&id| world.entity(id).contains::<Frozen>());
                        expected.extend(frozen);
                        expected.sort_unstable();
                        expected.dedup();
                    }
                    _ => {}
                }
                let seen = world.run_system(systems[which]).expect("registered");
                assert_eq!(seen, expected, "seed {seed}, step {step}, system {which}");
                model.clock += 1;
                model.ran[which] = model.clock;
            }
            10 => {
                // A world that was not asked yet does not know what was spawned since it was cleared last.
                let mut seen = visited::<Spawned>(world);
                seen.sort_unstable();
                assert_eq!(
                    seen,
                    model.after(model.cleared),
                    "seed {seed}, step {step}, the world's own moment"
                );
                world.clear_trackers();
                model.clock += 1;
                model.cleared = model.clock;
            }
            _ => match checkpoint.take() {
                Some((image, then)) if random.chance(2) => {
                    app.restore(&image).expect("of this app");
                    model = then;
                }
                _ => checkpoint = Some((app.checkpoint(), model.clone())),
            },
        }
        app.world().check().expect("a sound world");
    }
}

#[test]
fn random_histories_know_which_entities_were_spawned_since() {
    for seed in 0..60 {
        history(seed);
    }
}

#[test]
fn ticks_are_kept_from_the_first_request_on() {
    let mut world = World::new();
    let before = world.spawn(Health(1)).id();
    assert_eq!(world.entity(before).spawn_tick(), None, "it was not asked for before");
    world.clear_trackers();
    let after = world.spawn(Health(2)).id();
    let now = world.read_change_tick();
    assert_eq!(world.entity(after).spawn_tick(), Some(now));
    assert_eq!(world.entity_mut(after).spawn_tick(), Some(now));
    assert!(world.entity(before).spawn_tick() < Some(now));
    assert_eq!(visited::<Spawned>(&world), [after]);
    assert_eq!(world.view_filtered::<&Health, Spawned>().count(), 1);
}

// The run that asks first, and records commands.
#[test]
fn what_the_first_run_spawns_is_new_in_the_second() {
    fn spawn_and_see(mut commands: Commands, new: Query<&Health, Spawned>) -> Vec<u32> {
        let seen = new.iter().map(|health| health.0).collect();
        commands.spawn(Health(7));
        seen
    }
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule
        .add_systems(spawn_and_see.pipe(|In(seen): In<Vec<u32>>, mut all: ResMut<Seen>| all.0.push(seen)));
    world.init_resource::<Seen>();
    for _ in 0..3 {
        schedule.run(&mut world);
    }
    assert_eq!(world.resource::<Seen>().0, [vec![], vec![7], vec![7]]);
}

#[derive(Resource, Default)]
struct Seen(Vec<Vec<u32>>);

#[test]
fn filters_on_parents_ask_for_ticks_too() {
    fn see(new: Query<Entity, WithParent<ChildOf, Spawned>>) -> usize {
        new.iter().count()
    }
    let mut world = World::new();
    let see = world.register_system(see);
    assert_eq!(world.run_system(see).expect("registered"), 0);
    let parent = world.spawn(Health(1)).id();
    world.spawn(ChildOf(parent));
    assert_eq!(world.run_system(see).expect("registered"), 1);
    world.spawn(ChildOf(parent));
    assert_eq!(world.run_system(see).expect("registered"), 0, "the parent is not new");
}

#[test]
fn blocks_without_new_rows_are_passed_over() {
    let mut world = World::new();
    let many: Vec<Entity> = world.spawn_batch((0..5000).map(Armour)).collect();
    let see = world.register_system(see_armoured);
    assert_eq!(world.run_system(see).expect("registered").len(), 5000);
    assert!(world.run_system(see).expect("registered").is_empty());
    // The last row takes the place of the first: it is not new.
    world.despawn(many[0]);
    assert!(world.run_system(see).expect("registered").is_empty());
    // The index is used again, with another generation.
    let new = world.spawn(Armour(1)).id();
    assert_eq!(new.index(), many[0].index());
    assert_eq!(world.run_system(see).expect("registered"), [new]);
}
