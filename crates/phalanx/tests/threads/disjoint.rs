//! Systems side by side that write the same component in different tables.
//!
//! That two systems overlap is shown by a meeting: each waits inside for the other. That two do not is shown by counting
//! which systems are inside. What random systems with random filters do must be what they do one after the other, in
//! the order in which they were added, also to entities in tables that come later.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use phalanx::prelude::*;

use crate::common::random::Random;

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
struct Health(u64);
#[derive(Component)]
struct Boss;
#[derive(Component)]
struct Frozen;
#[derive(Component)]
#[component(storage = "sparse")]
struct Stunned;

#[derive(Pool)]
struct Orcs {
    health: Health,
    boss: Option<Boss>,
}
#[derive(Pool)]
struct Elves {
    health: Health,
}

fn app(threads: Threads) -> App {
    let mut app = App::new();
    app.configure(AppConfig { threads, small_phase: Duration::ZERO, ..Default::default() });
    app
}

/// A place where two systems wait for each other. Instead of waiting for ever it fails.
#[derive(Clone, Default)]
struct Meeting(Arc<(Mutex<usize>, Condvar)>);

impl Meeting {
    fn wait(&self) {
        let (count, changed) = &*self.0;
        let mut here = count.lock().expect("not poisoned");
        *here += 1;
        changed.notify_all();
        let limit = Duration::from_secs(60);
        let met = changed.wait_timeout_while(here, limit, |here| *here < 2).expect("not poisoned");
        assert!(!met.1.timed_out(), "the other system does not run meanwhile");
    }
}

#[test]
fn systems_that_write_one_component_in_different_tables_run_at_the_same_time() {
    let meeting = Meeting::default();
    let (here, there) = (meeting.clone(), meeting);
    let mut app = app(Threads::N(2));
    let boss = app.world_mut().spawn((Health(1), Boss)).id();
    let other = app.world_mut().spawn(Health(1)).id();
    app.add_systems(Update, move |mut bosses: Query<&mut Health, With<Boss>>| {
        here.wait();
        bosses.iter_mut().for_each(|mut health| health.0 += 1);
    });
    app.add_systems(Update, move |mut others: Query<&mut Health, Without<Boss>>| {
        there.wait();
        others.iter_mut().for_each(|mut health| health.0 += 10);
    });
    app.step(0.1);
    assert_eq!(app.schedule(Update).conflicts(), Ok(Vec::new()), "the schedule says so, too");
    let health = |entity| app.world().get::<Health>(entity).copied();
    assert_eq!((health(boss), health(other)), (Some(Health(2)), Some(Health(11))));
}

#[test]
fn systems_of_different_pools_run_at_the_same_time() {
    let meeting = Meeting::default();
    let (here, there) = (meeting.clone(), meeting);
    let mut app = app(Threads::N(2));
    app.world_mut().spawn_in(Orcs { health: Health(1), boss: None });
    app.world_mut().spawn_in(Elves { health: Health(1) });
    app.add_systems(Update, move |mut orcs: Query<&mut Health, InPool<Orcs>>| {
        here.wait();
        orcs.iter_mut().for_each(|mut health| health.0 += 1);
    });
    app.add_systems(Update, move |mut elves: Query<&mut Health, InPool<Elves>>| {
        there.wait();
        elves.iter_mut().for_each(|mut health| health.0 += 10);
    });
    app.step(0.1);
    let mut all: Vec<u64> = app.world().view::<&Health>().iter().map(|health| health.0).collect();
    all.sort_unstable();
    assert_eq!(all, [2, 11]);
}

// A column that some split is held by others as a whole: readers go together all the same.
#[test]
fn a_reader_of_all_tables_runs_beside_a_reader_of_some_and_after_the_writer() {
    let meeting = Meeting::default();
    let (here, there) = (meeting.clone(), meeting);
    let mut app = app(Threads::N(2));
    app.world_mut().spawn((Health(1), Boss));
    app.world_mut().spawn(Health(1));
    app.add_systems(Update, |mut bosses: Query<&mut Health, With<Boss>>| {
        bosses.iter_mut().for_each(|mut health| health.0 += 1);
    });
    app.add_systems(Update, move |others: Query<&Health, Without<Boss>>| {
        here.wait();
        assert_eq!(others.iter().map(|health| health.0).sum::<u64>(), 1);
    });
    app.add_systems(Update, move |all: Query<&Health>| {
        there.wait();
        assert_eq!(all.iter().map(|health| health.0).sum::<u64>(), 3);
    });
    app.step(0.1);
}

#[test]
fn a_condition_is_asked_beside_a_writer_of_other_tables() {
    let meeting = Meeting::default();
    let (here, there) = (meeting.clone(), meeting);
    let mut app = app(Threads::N(2));
    app.world_mut().spawn((Health(1), Boss));
    app.world_mut().spawn(Health(5));
    app.add_systems(Update, move |mut bosses: Query<&mut Health, With<Boss>>| {
        here.wait();
        bosses.iter_mut().for_each(|mut health| health.0 += 1);
    });
    let asked = move |others: Query<&Health, Without<Boss>>| {
        there.wait();
        others.iter().all(|health| health.0 == 5)
    };
    let crown = |mut commands: Commands| {
        commands.spawn(Boss);
    };
    app.add_systems(Update, crown.run_if(asked));
    app.step(0.1);
    assert_eq!(app.world().view::<&Boss>().count(), 2);
}

// Hazard 28: alternatives of what is lacking do not keep queries apart, nor do sparse components.
#[test]
fn systems_that_might_meet_in_a_table_never_overlap() {
    fn counted<F: QueryFilter + 'static>(
        inside: &Arc<AtomicUsize>,
    ) -> impl FnMut(Query<&mut Health, F>) + use<F> {
        let inside = Arc::clone(inside);
        move |mut all: Query<&mut Health, F>| {
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "another one is inside");
            for mut health in &mut all {
                health.0 += 1;
                std::thread::yield_now();
            }
            inside.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let inside = Arc::new(AtomicUsize::new(0));
    let mut app = app(Threads::N(4));
    for tags in 0..8 {
        let mut entity = app.world_mut().spawn(Health(0));
        if tags & 1 != 0 {
            entity.insert(Boss);
        }
        if tags & 2 != 0 {
            entity.insert(Frozen);
        }
        if tags & 4 != 0 {
            entity.insert(Stunned);
        }
    }
    app.add_systems(Update, counted::<Or<(Without<Boss>, Without<Frozen>)>>(&inside));
    app.add_systems(Update, counted::<Or<(With<Boss>, With<Frozen>)>>(&inside));
    app.add_systems(Update, counted::<With<Stunned>>(&inside));
    app.add_systems(Update, counted::<Without<Stunned>>(&inside));
    (0..50).for_each(|_| app.step(0.1));
    assert_eq!(app.world().view::<&Health>().iter().map(|health| health.0).sum::<u64>(), 50 * 20);
}

/// What an entity of the model is like: what it has, and what it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Naive {
    boss: bool,
    frozen: bool,
    stunned: bool,
    orc: bool,
    health: u64,
}

/// A filter, and what it says of an entity of the model.
macro_rules! filters {
    ($($filter:ty => $means:expr;)*) => {
        const FILTERS: &[(fn(&mut App, u64, bool, &Reads), fn(&Naive) -> bool)] = &[$((add::<$filter>, $means),)*];
    };
}
filters! {
    () => |_| true;
    With<Boss> => |e| e.boss;
    Without<Boss> => |e| !e.boss;
    With<Frozen> => |e| e.frozen;
    (Without<Boss>, Without<Frozen>) => |e| !e.boss && !e.frozen;
    (With<Boss>, With<Frozen>) => |e| e.boss && e.frozen;
    (With<Boss>, Without<Frozen>) => |e| e.boss && !e.frozen;
    Or<(With<Boss>, With<Frozen>)> => |e| e.boss || e.frozen;
    Or<(Without<Boss>, Without<Frozen>)> => |e| !e.boss || !e.frozen;
    With<Stunned> => |e| e.stunned;
    (With<Boss>, Without<Stunned>) => |e| e.boss && !e.stunned;
    InPool<Orcs> => |e| e.orc;
    InPool<General> => |e| !e.orc;
    (InPool<Orcs>, With<Boss>) => |e| e.orc && e.boss;
}

/// What systems that read found: number of the system, and sum.
type Reads = Arc<Mutex<Vec<(u64, u64)>>>;

fn step(health: u64, number: u64) -> u64 {
    health.wrapping_mul(3).wrapping_add(number)
}

/// Adds a system that writes, in a way that depends on the order, or one that reads.
fn add<F: QueryFilter + 'static>(app: &mut App, number: u64, writes: bool, reads: &Reads) {
    if writes {
        app.add_systems(Update, move |mut all: Query<&mut Health, F>| {
            all.iter_mut().for_each(|mut health| health.0 = step(health.0, number));
        });
        return;
    }
    let reads = Arc::clone(reads);
    app.add_systems(Update, move |all: Query<&Health, F>| {
        let sum = all.iter().fold(0_u64, |sum, health| sum.wrapping_add(health.0));
        reads.lock().expect("not poisoned").push((number, sum));
    });
}

fn spawn(app: &mut App, random: &mut Random) -> Naive {
    let mut chance = || random.chance(2);
    let naive = Naive { boss: chance(), frozen: chance(), stunned: chance(), orc: chance(), health: 1 };
    let world = app.world_mut();
    if naive.orc {
        let boss = naive.boss.then_some(Boss);
        world.spawn_in(Orcs { health: Health(1), boss });
        return Naive { frozen: false, stunned: false, ..naive };
    }
    let mut entity = world.spawn(Health(1));
    if naive.boss {
        entity.insert(Boss);
    }
    if naive.frozen {
        entity.insert(Frozen);
    }
    if naive.stunned {
        entity.insert(Stunned);
    }
    naive
}

#[test]
fn random_filters_give_what_one_system_after_the_other_gives() {
    let cases = std::env::var("PHALANX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    for case in 0..cases {
        for threads in [Threads::Serial, Threads::N(2), Threads::N(4)] {
            let mut random = Random::new(case);
            let mut app = app(threads);
            let reads = Reads::default();
            let mut systems: Vec<(u64, bool, usize)> = Vec::new();
            let mut naive: Vec<Naive> = Vec::new();
            for frame in 0..6 {
                // Systems and tables come later, too.
                for _ in 0..if frame % 3 == 0 { 1 + random.below(8) } else { 0 } {
                    let (writes, filter) = (random.below(3) > 0, random.below(FILTERS.len()));
                    let number = systems.len() as u64;
                    FILTERS[filter].0(&mut app, number, writes, &reads);
                    systems.push((number, writes, filter));
                }
                for _ in 0..random.below(6) {
                    naive.push(spawn(&mut app, &mut random));
                }
                app.step(0.1);
                let mut expected = Vec::new();
                for &(number, writes, filter) in &systems {
                    let chosen = naive.iter_mut().filter(|entity| FILTERS[filter].1(entity));
                    if writes {
                        chosen.for_each(|entity| entity.health = step(entity.health, number));
                    } else {
                        expected.push((
                            number,
                            chosen.fold(0_u64, |sum, entity| sum.wrapping_add(entity.health)),
                        ));
                    }
                }
                let mut found = std::mem::take(&mut *reads.lock().expect("not poisoned"));
                found.sort_unstable();
                assert_eq!(found, expected, "case {case}, frame {frame}, {threads:?}");
                let mut healths: Vec<u64> =
                    app.world().view::<&Health>().iter().map(|health| health.0).collect();
                let mut expected: Vec<u64> = naive.iter().map(|entity| entity.health).collect();
                healths.sort_unstable();
                expected.sort_unstable();
                assert_eq!(healths, expected, "case {case}, frame {frame}, {threads:?}");
            }
        }
    }
}
