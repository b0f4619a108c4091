//! The same world for any number of threads: random worlds, random schedules, compared field by field.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::fmt::Write as _;
use std::time::Duration;

use crate::common::random::Random;
use phalanx::prelude::*;
use phalanx::schedule::SystemConfigs;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Pos {
    x: f32,
    y: f32,
}
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Vel {
    x: f32,
    y: f32,
}
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(track = "row")]
struct Health(i64);
#[derive(Component, Clone, Debug, PartialEq)]
struct Name(String);
#[derive(Component, Clone, Copy)]
struct Frozen;
#[derive(Resource, Default, Debug)]
struct Sum(u64);
#[derive(Resource, Default, Debug)]
struct Trail(Vec<u64>);
#[derive(Message, Clone, Debug)]
struct Hit(Entity, i64);
#[derive(SystemSet, Debug, Clone, Copy)]
enum Group {
    Even,
    Odd,
    /// Systems with commands.
    Early,
    Late,
    Outer,
    /// It has no systems.
    Empty,
}

fn move_x(mut query: Query<(&mut pos::x, &vel::x), Without<Frozen>>) {
    for (x, v) in &mut query {
        *x += v * 0.1;
    }
}
fn move_y(mut query: Query<(&mut pos::y, &vel::y)>) {
    query.par_iter_mut().small_below(0).for_each(|(y, v)| *y += v * 0.1);
}
fn swirl(mut query: Query<(&mut Vel, &Pos)>) {
    for (vel, pos) in &mut query {
        *vel.x -= pos.y * 0.01;
        *vel.y += pos.x * 0.01;
    }
}
fn wound(mut query: Query<(Entity, &mut Health, &Pos)>, mut hits: MessageWriter<Hit>) {
    for (entity, mut health, pos) in &mut query {
        if pos.x.to_bits().is_multiple_of(3) {
            health.0 -= 1;
            hits.write(Hit(entity, health.0));
        }
    }
}
fn count_hits(mut hits: MessageReader<Hit>, mut sum: ResMut<Sum>) {
    for hit in hits.read() {
        sum.0 = sum.0.wrapping_mul(31).wrapping_add(hit.0.to_bits() ^ hit.1.unsigned_abs());
    }
}
fn count_again(mut hits: MessageReader<Hit>, mut trail: ResMut<Trail>) {
    trail.0.push(hits.read().count() as u64);
}
fn reap(mut commands: Commands, query: Query<(Entity, &Health)>) {
    for (entity, health) in &query {
        if health.0 < 0 {
            commands.entity(entity).despawn();
        }
    }
}
fn breed(mut commands: Commands, query: Query<(&Pos, &Health)>, sum: Res<Sum>) {
    for (n, (pos, health)) in query.iter().take(3).enumerate() {
        let id = commands.spawn((pos.get(), Health(health.0 + n as i64))).id();
        commands.entity(id).insert(Name(format!("{id}-{}", sum.0 % 10)));
    }
}
fn freeze(mut commands: Commands, query: Query<(Entity, &Vel, Has<Frozen>)>) {
    for (entity, vel, frozen) in &query {
        if vel.x.to_bits().is_multiple_of(5) {
            if frozen {
                commands.entity(entity).remove::<Frozen>();
            } else {
                commands.entity(entity).insert(Frozen).insert(Health(9));
            }
        }
    }
}
fn rename(mut query: Query<(&mut Name, &Health), Changed<Health>>, mut sum: ResMut<Sum>) {
    for (mut name, health) in &mut query {
        name.0 = format!("{}{}", &name.0[..name.0.len().min(6)], health.0);
        sum.0 += 1;
    }
}
fn look(world: &World, mut seen: Local<u64>, mut commands: Commands) {
    *seen += world.entities().len() as u64;
    if seen.is_multiple_of(4) {
        commands.spawn(Health(1));
    }
}
fn alone(world: &mut World) {
    let sum = world.view::<&Health>().into_iter().map(|health| health.0).sum::<i64>();
    world.resource_mut::<Trail>().0.push(sum.unsigned_abs());
    if sum.unsigned_abs().is_multiple_of(2) {
        world.spawn((Health(5), Pos { x: 1.0, y: 1.0 }));
    }
}
fn sum_even(sum: Res<Sum>) -> bool {
    sum.0.is_multiple_of(2)
}

/// The system with this number, configured by chance.
fn system(random: &mut Random, number: usize) -> SystemConfigs {
    let mut configs = match number {
        0 => move_x.into_configs(),
        1 => move_y.into_configs(),
        2 => swirl.into_configs(),
        3 => wound.into_configs(),
        4 => count_hits.into_configs(),
        5 => count_again.into_configs(),
        6 => reap.into_configs(),
        7 => breed.into_configs(),
        8 => freeze.into_configs(),
        9 => rename.into_configs(),
        10 => look.into_configs(),
        11 => alone.into_configs(),
        _ => (move_x, swirl, count_again).run_if(sum_even),
    };
    if random.chance(4) {
        configs = configs.in_set(if number.is_multiple_of(2) { Group::Even } else { Group::Odd });
    }
    // Systems with commands, and those that see what they did.
    if (6..9).contains(&number) {
        configs = match random.below(5) {
            0 => configs.in_set(Group::Early),
            1 => configs.before(Group::Empty),
            2 => configs.before_ignore_deferred(Group::Empty),
            _ => configs,
        };
    }
    if (9..12).contains(&number) {
        configs = match random.below(8) {
            0 => configs.after(reap),
            1 => configs.after(breed),
            2 => configs.after_ignore_deferred(freeze),
            3 => configs.in_set(Group::Late),
            4 => configs.after(Group::Empty),
            5 => configs.after(Group::Early),
            _ => configs,
        };
    }
    if number == 8 && random.chance(3) {
        configs = configs.after(breed).after_ignore_deferred(reap);
    }
    // Only from higher numbers to lower ones, so that there is no circle.
    if (4..12).contains(&number) && random.chance(3) {
        configs = match random.below(4) {
            0 => configs.after(move_x),
            1 => configs.after(move_y),
            2 => configs.after(swirl),
            _ => configs.after(wound),
        };
    }
    if random.chance(6) { configs.run_if(sum_even) } else { configs }
}

fn build(seed: u64, threads: Threads) -> App {
    let mut random = Random::new(seed);
    let mut app = App::new();
    app.configure(AppConfig {
        threads,
        small_phase: Duration::ZERO,
        fixed_timestep: 0.1,
        flush_order: if random.chance(3) { FlushOrder::Staged } else { FlushOrder::Recorded },
        ..Default::default()
    });
    app.init_resource::<Sum>().init_resource::<Trail>();
    for n in 0..20 + random.below(60) {
        let pos = Pos { x: random.below(100) as f32, y: random.below(100) as f32 };
        let vel = Vel { x: random.below(9) as f32, y: 1.0 };
        let health = Health(random.below(4) as i64);
        match random.below(4) {
            0 => app.world_mut().spawn((pos, vel)),
            1 => app.world_mut().spawn((pos, vel, health)),
            2 => app.world_mut().spawn((pos, health, Name(format!("n{n}")))),
            _ => app.world_mut().spawn((vel, Frozen)),
        };
    }
    if random.chance(2) {
        app.configure_sets(FixedUpdate, (Group::Early, Group::Late).chain());
        app.configure_sets(PostUpdate, (Group::Early, Group::Late).chain_ignore_deferred());
        app.configure_sets(Update, ((Group::Early, Group::Empty), Group::Late).chain());
    }
    if random.chance(3) {
        app.configure_sets(Update, (Group::Late, Group::Empty).in_set(Group::Outer).run_if(sum_even));
    }
    match random.below(4) {
        0 => app.add_systems(Update, (breed, freeze, (rename, look)).chain()),
        1 => app.add_systems(Update, ((reap, breed), ApplyDeferred, alone).chain_ignore_deferred()),
        2 => app.add_systems(Update, ((reap, freeze, wound), (rename, count_again, look)).chain()),
        _ => &mut app,
    };
    for _ in 0..4 + random.below(12) {
        let number = random.below(13);
        let configs = system(&mut random, number);
        match random.below(4) {
            0 => app.add_systems(FixedUpdate, configs),
            1 => app.add_systems(PostUpdate, configs),
            _ => app.add_systems(Update, configs),
        };
    }
    app
}

/// The whole world as text, order included.
fn dump(app: &App) -> String {
    let world = app.world();
    let mut out = format!(
        "{:?} {:?} {:?}\n",
        world.read_change_tick(),
        world.resource::<Sum>(),
        world.resource::<Trail>()
    );
    type Row<'a> =
        (Entity, Option<&'a Pos>, Option<&'a Vel>, Option<Ref<'a, Health>>, Option<&'a Name>, Has<Frozen>);
    for (entity, pos, vel, health, name, frozen) in world.view::<Row>() {
        let bits = |x: &f32, y: &f32| (x.to_bits(), y.to_bits());
        let health = health.map(|health| (health.0, health.added(), health.last_changed()));
        let (pos, vel) = (pos.map(|p| bits(p.x, p.y)), vel.map(|v| bits(v.x, v.y)));
        let _ = writeln!(out, "{entity} {pos:?} {vel:?} {health:?} {name:?} {frozen}");
    }
    out
}

fn outcome(seed: u64, threads: Threads, frames: usize) -> Vec<String> {
    let mut app = build(seed, threads);
    (0..frames)
        .map(|_| {
            app.step(0.1);
            dump(&app)
        })
        .collect()
}

/// How many random cases to try, where `PHALANX_CASES` says so: more for a long run, fewer under a sanitizer.
fn cases() -> Option<u64> {
    std::env::var("PHALANX_CASES").ok().map(|text| text.parse().expect("PHALANX_CASES is a number"))
}

// Hazard 52.
#[test]
fn the_world_does_not_depend_on_the_number_of_threads() {
    let mut synced = 0;
    for seed in 0..cases().unwrap_or(300) {
        let built = build(seed, Threads::Serial);
        synced += built.schedule(Update).sync_points().expect("no circle");
        let serial = outcome(seed, Threads::Serial, 5);
        for threads in [Threads::N(2), Threads::N(8)] {
            let parallel = outcome(seed, threads, 5);
            for (frame, (one, many)) in serial.iter().zip(&parallel).enumerate() {
                assert_eq!(one, many, "seed {seed}, {threads:?}, frame {frame}");
            }
        }
    }
    assert!(synced as u64 >= cases().unwrap_or(300) / 2, "only {synced} sync points in all");
}

#[test]
fn choosing_threads_by_measured_time_changes_nothing_either() {
    for seed in 1000..1000 + cases().unwrap_or(10).min(10) {
        let mut adaptive = build(seed, Threads::N(4));
        adaptive.configure(AppConfig { small_phase: Duration::from_nanos(1), ..adaptive.config().clone() });
        let serial = outcome(seed, Threads::Serial, 80);
        for one in &serial {
            adaptive.step(0.1);
            assert_eq!(*one, dump(&adaptive), "seed {seed}");
        }
    }
}
