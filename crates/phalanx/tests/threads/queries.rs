//! Proves parallel iteration: every row exactly once, whatever the threads, batches and sizes (hazard 37), and
//! a panic in a closure that is passed on and leaves a world that works (hazard 38).
//!
//! Each test brings its own pool of threads, so that it says the same on every machine. These tests also run
//! under the thread sanitizer, which sees two threads at one row even when the result comes out right.
#![cfg(feature = "parallel")]

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use crate::common::cast::{
    Armour, Burning, Frozen, Health, Label, Position, Quiet, label, panic_message, position,
};
use phalanx::prelude::{Changed, Component, Entity, Has, With, Without, World};
use rayon_core::ThreadPool;

/// How many queries the world keeps prepared, and how many different filters they have.
fn prepared(world: &World) -> (usize, usize) {
    let stats = world.stats();
    (stats.prepared_queries, stats.prepared_filters)
}

const BLOCK: usize = 1_024;

fn pool(threads: usize) -> ThreadPool {
    rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

/// Tables of these lengths, each with its own set of components, and as many numbers as rows.
fn world_of(lens: [usize; 3]) -> World {
    let mut world = World::new();
    let mut numbers = 0_u32..;
    let mut take = |len: usize| numbers.by_ref().take(len).collect::<Vec<u32>>();
    world.spawn_batch(take(lens[0]).into_iter().map(Health));
    world.spawn_batch(take(lens[1]).into_iter().map(|n| (Health(n), Frozen)));
    world.spawn_batch(take(lens[2]).into_iter().map(|n| (Health(n), position(0.0), Burning)));
    world
}

const SIZES: [[usize; 3]; 6] = [
    [0, 0, 0],
    [1, 0, 0],
    [BLOCK - 1, BLOCK, BLOCK + 1],
    [2 * BLOCK - 1, 0, 1],
    [2 * BLOCK, 0, 0],
    [3, 3 * BLOCK + 7, 2 * BLOCK],
];

// Hazard 37.
#[test]
fn every_row_is_visited_exactly_once() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for lens in SIZES {
            let mut world = world_of(lens);
            let rows: usize = lens.iter().sum();
            let visits: Vec<AtomicU32> = (0..rows).map(|_| AtomicU32::new(0)).collect();
            let mut rounds = 0;
            for batch in [1, 2, 3, 1_000, usize::MAX] {
                for small in [0, 2 * BLOCK, usize::MAX] {
                    pool.install(|| {
                        let mut query = world.view_mut::<&mut Health>();
                        let rows = query.par_iter_mut().batch_blocks(batch).small_below(small);
                        rows.for_each(|health| {
                            visits[health.0 as usize].fetch_add(1, Ordering::Relaxed);
                        });
                        let rows = query.par_iter().batch_blocks(batch).small_below(small);
                        rows.for_each(|health| {
                            visits[health.0 as usize].fetch_add(1, Ordering::Relaxed);
                        });
                    });
                    rounds += 2;
                }
            }
            for (row, count) in visits.iter().enumerate() {
                assert_eq!(count.load(Ordering::Relaxed), rounds, "row {row}, {threads} threads, {lens:?}");
            }
        }
    }
}

// Hazard 37: written by many threads without atomics, so that a second visit would be a race.
#[test]
fn writing_in_parallel_gives_what_writing_in_order_gives() {
    let pool = pool(4);
    for lens in SIZES {
        let (mut one, mut many) = (world_of(lens), world_of(lens));
        one.view_mut::<(&mut Health, Option<&mut Position>)>().into_iter().for_each(|(mut health, pos)| {
            health.0 = health.0.wrapping_mul(7) + 1;
            if let Some(pos) = pos {
                *pos.x += 1.0;
            }
        });
        pool.install(|| {
            let mut query = many.view_mut::<(&mut Health, Option<&mut Position>)>();
            query.par_iter_mut().small_below(0).for_each(|(mut health, pos)| {
                health.0 = health.0.wrapping_mul(7) + 1;
                if let Some(pos) = pos {
                    *pos.x += 1.0;
                }
            });
        });
        let rows = |world: &World| -> Vec<(Entity, u32, Option<f32>)> {
            let query = world.view::<(Entity, &Health, Option<&Position>)>();
            query.iter().map(|(id, health, pos)| (id, health.0, pos.map(|pos| *pos.x))).collect()
        };
        assert_eq!(rows(&one), rows(&many));
    }
}

#[test]
fn filters_choose_the_same_rows_in_parallel() {
    let pool = pool(3);
    let mut world = world_of([3 * BLOCK, 2 * BLOCK, 100]);
    world.spawn_batch((0..3_000).map(Armour));
    world.clear_trackers();
    for mut armour in world.view_mut::<&mut Armour>() {
        if armour.0.is_multiple_of(5) {
            armour.0 += 100_000;
        }
    }
    let collect = |visit: &(dyn Fn(&Mutex<Vec<Entity>>) + Sync)| {
        let seen = Mutex::new(Vec::new());
        pool.install(|| visit(&seen));
        let mut seen = seen.into_inner().expect("no closure panicked");
        seen.sort_unstable();
        seen
    };
    let with = world.view_filtered::<Entity, With<Frozen>>();
    let seen = collect(&|seen| {
        with.par_iter().small_below(0).for_each(|id| seen.lock().expect("no closure panicked").push(id));
    });
    assert_eq!((seen.len(), seen), (2 * BLOCK, with.sort_by_key(|id| *id).collect()));
    let without = world.view_filtered::<Entity, (With<Health>, Without<Frozen>)>();
    let seen = collect(&|seen| {
        without.par_iter().small_below(0).for_each(|id| seen.lock().expect("no closure panicked").push(id));
    });
    assert_eq!((seen.len(), seen), (3 * BLOCK + 100, without.sort_by_key(|id| *id).collect()));
    let changed = world.view_filtered::<Entity, Changed<Armour>>();
    let seen = collect(&|seen| {
        changed.par_iter().small_below(0).for_each(|id| seen.lock().expect("no closure panicked").push(id));
    });
    assert_eq!((seen.len(), seen), (600, changed.sort_by_key(|id| *id).collect()));
}

#[test]
fn entities_without_components_are_visited_too() {
    let mut world = world_of([2 * BLOCK, 5, 0]);
    let rowless: BTreeSet<Entity> = (0..10).map(|_| world.spawn_empty().id()).collect();
    let seen = Mutex::new(BTreeSet::new());
    let count = AtomicUsize::new(0);
    let query = world.view::<(Entity, Has<Health>)>();
    pool(2).install(|| {
        query.par_iter().small_below(0).for_each(|(id, has)| {
            count.fetch_add(1, Ordering::Relaxed);
            if !has {
                seen.lock().expect("no closure panicked").insert(id);
            }
        });
    });
    assert_eq!(seen.into_inner().expect("no closure panicked"), rowless);
    assert_eq!(count.into_inner(), 2 * BLOCK + 15);
}

#[test]
fn every_kind_of_component_is_written_in_parallel() {
    let mut world = World::new();
    let rows = 2 * BLOCK + 100;
    world.spawn_batch((0..rows).map(|_| (label("l"), Armour(1), Quiet(2), Frozen)));
    world.clear_trackers();
    let half = world.view::<Entity>().into_iter().nth(rows / 2).expect("many rows");
    pool(4).install(|| {
        let mut query = world.view_mut::<(Entity, &mut Label, &mut Armour, &mut Quiet, &Frozen)>();
        query.par_iter_mut().small_below(0).for_each(|(id, tag, mut armour, mut quiet, _)| {
            tag.text.push('!');
            *tag.size += 1;
            quiet.0 += 1;
            if id < half {
                armour.0 += 1;
            }
        });
    });
    for (tag, armour, quiet) in world.view::<(&Label, &Armour, &Quiet)>() {
        assert_eq!((tag.text.as_str(), *tag.size, quiet), ("l!", 2, &Quiet(3)));
        assert!([1, 2].contains(&armour.0));
    }
    // Row ticks are columns as well: only the rows that were written carry a new one.
    assert_eq!(world.view_filtered::<(), Changed<Armour>>().count(), rows / 2);
    assert_eq!(world.view_filtered::<(), Changed<Label>>().count(), rows);
}

// Rows of a set are found through their entities, so jobs of different tables meet in one column.
#[test]
fn sparse_components_are_written_in_parallel() {
    #[derive(Component, Debug, PartialEq)]
    #[component(storage = "sparse")]
    struct Stack(u32);
    #[derive(Component, Debug, PartialEq)]
    #[component(storage = "sparse", track = "row")]
    struct Marked(u32);

    let mut world = world_of([2 * BLOCK, BLOCK + 5, 300]);
    let ids: Vec<Entity> = world.view::<Entity>().into_iter().collect();
    // In another order than the rows, so that one job's rows lie apart.
    for (n, &e) in (0_u32..).zip(ids.iter().rev()) {
        world.entity_mut(e).insert(Stack(n));
        if n.is_multiple_of(3) {
            world.entity_mut(e).insert(Marked(n));
        }
    }
    world.clear_trackers();
    let pool = pool(4);
    pool.install(|| {
        world.view_mut::<(&mut Health, &mut Stack)>().par_iter_mut().small_below(0).for_each(
            |(mut health, mut stack)| {
                stack.0 += 1;
                health.0 += 1;
            },
        );
        // Here the set is the smaller side.
        world.view_mut::<(Option<&mut Stack>, &mut Marked)>().par_iter_mut().small_below(0).for_each(
            |(stack, mut marked)| {
                if let Some(mut stack) = stack {
                    stack.0 += 1;
                }
                if marked.0.is_multiple_of(2) {
                    marked.0 += 1;
                }
            },
        );
    });
    let mut changed = 0;
    for (n, &e) in (0_u32..).zip(ids.iter().rev()) {
        let marked = n.is_multiple_of(3);
        assert_eq!(world.get::<Stack>(e), Some(&Stack(n + 1 + u32::from(marked))));
        let expected = marked.then_some(Marked(n | 1));
        assert_eq!(world.get::<Marked>(e), expected.as_ref());
        changed += usize::from(marked && n.is_multiple_of(2));
    }
    assert_eq!(world.view_filtered::<(), Changed<Marked>>().count(), changed);
}

#[test]
fn results_are_mapped_and_combined() {
    for threads in [1, 2, 4] {
        pool(threads).install(|| {
            for lens in SIZES {
                let mut world = world_of(lens);
                let rows: u32 = lens.iter().map(|&len| u32::try_from(len).expect("small")).sum();
                let query = world.view::<&Health>();
                let sum = query.par_iter().small_below(0).map_reduce(
                    || 0_u64,
                    |health| u64::from(health.0),
                    |a, b| a + b,
                );
                assert_eq!(sum, (0..u64::from(rows)).sum::<u64>());
                let most = query.par_iter().map_reduce(|| None, |health| Some(health.0), Option::max);
                assert_eq!(most, rows.checked_sub(1));
                let mut query = world.view_mut::<&mut Health>();
                let count = query.par_iter_mut().batch_blocks(2).small_below(0).map_reduce(
                    || 0_usize,
                    |mut health| {
                        health.0 += 1;
                        1
                    },
                    |a, b| a + b,
                );
                assert_eq!(count, rows as usize);
                let after: u64 = query.iter().map(|health| u64::from(health.0)).sum();
                assert_eq!(after, (1..=u64::from(rows)).sum::<u64>());
            }
        });
    }
}

// Documented in `query/parallel.rs`: jobs are whole blocks of one table.
#[test]
fn a_block_is_never_shared_by_two_threads() {
    let mut world = world_of([5 * BLOCK + 3, 2 * BLOCK, BLOCK / 2]);
    let pool = pool(4);
    for batch in [1, 2] {
        let mut query = world.view_mut::<(Entity, &mut Health)>();
        let seen = Mutex::new(Vec::new());
        pool.install(|| {
            query.par_iter_mut().batch_blocks(batch).small_below(0).for_each(|(id, mut health)| {
                health.0 += 1;
                seen.lock().expect("no closure panicked").push((id, thread::current().id()));
            });
        });
        let seen: std::collections::BTreeMap<Entity, ThreadId> =
            seen.into_inner().expect("no closure panicked").into_iter().collect();
        for table in query.tables() {
            for job in table.entities().chunks(batch * BLOCK) {
                let threads: Vec<ThreadId> = job.iter().map(|id| seen[id]).collect();
                assert!(threads.iter().all(|id| *id == threads[0]), "a job ran on two threads");
            }
        }
    }
}

// Z-100: jobs of threads are whole blocks, and blocks begin at cache lines, however small the values are.
#[test]
fn blocks_begin_at_cache_lines() {
    #[derive(Component)]
    struct Byte(u8);
    #[derive(Component)]
    struct Odd([u8; 3]);
    let (mut blocks, mut between) = (0, Vec::new());
    for round in 0..8 {
        // Whatever is allocated next is shifted a little.
        between.push(vec![0_u8; 5_000 + 16 * round]);
        let mut world = World::new();
        world.spawn_batch((0..9 * BLOCK + 700).map(|_| (Byte(0), Odd([0; 3]))));
        for (bytes, odds) in world.view::<(&Byte, &Odd)>().chunks() {
            for (bytes, odds) in bytes.chunks(BLOCK).zip(odds.chunks(BLOCK)) {
                let ends = (std::ptr::from_ref(&bytes[0].0).addr(), std::ptr::from_ref(&odds[0].0).addr());
                assert_eq!((ends.0 % 64, ends.1 % 64), (0, 0));
                blocks += 1;
            }
        }
    }
    assert_eq!(blocks, 8 * 10);
}

#[test]
fn small_work_stays_on_the_calling_thread() {
    let strangers = |world: &World, small: usize| {
        let caller = thread::current().id();
        let strangers = AtomicUsize::new(0);
        world.view::<&Health>().par_iter().small_below(small).for_each(|_| {
            strangers.fetch_add(usize::from(thread::current().id() != caller), Ordering::Relaxed);
        });
        strangers.into_inner()
    };
    let pool = pool(4);
    for _ in 0..20 {
        let world = world_of([BLOCK, BLOCK - 1, 0]);
        assert_eq!(pool.install(|| strangers(&world, 2 * BLOCK)), 0, "all tables count");
        assert_eq!(pool.install(|| strangers(&world_of([5 * BLOCK, 0, 0]), 5 * BLOCK + 1)), 0);
    }
}

/// Waits until `met` holds. Bounded, so that a failure is a failure and not a test that never ends.
fn wait_until(met: impl Fn() -> bool) -> bool {
    (0..20_000_000).any(|_| {
        thread::yield_now();
        met()
    })
}

#[test]
fn large_work_is_shared_by_threads() {
    // Two jobs that each wait for the other: on one thread neither would ever see its partner.
    let mut world = world_of([2 * BLOCK, 0, 0]);
    let begun = AtomicUsize::new(0);
    let met = AtomicUsize::new(0);
    pool(2).install(|| {
        world.view_mut::<&mut Health>().par_iter_mut().small_below(0).for_each(|health| {
            if (health.0 as usize).is_multiple_of(BLOCK) {
                begun.fetch_add(1, Ordering::SeqCst);
                met.fetch_add(
                    usize::from(wait_until(|| begun.load(Ordering::SeqCst) == 2)),
                    Ordering::SeqCst,
                );
            }
        });
    });
    assert_eq!(met.into_inner(), 2);
}

// Documented in `query/parallel.rs`: the calling thread begins, and shares what turns out to be heavy.
#[test]
fn few_heavy_rows_are_shared_by_threads() {
    for rows in [20, 100, 3 * BLOCK] {
        let mut world = world_of([rows / 2, rows - rows / 2, 0]);
        let threads = Mutex::new(BTreeSet::new());
        let visits = AtomicUsize::new(0);
        pool(2).install(|| {
            let caller = thread::current().id();
            world.view_mut::<&mut Health>().par_iter_mut().for_each(|_| {
                visits.fetch_add(1, Ordering::Relaxed);
                threads.lock().expect("no closure panicked").insert(format!("{:?}", thread::current().id()));
                if thread::current().id() == caller {
                    // Heavy: the caller's rows take until another thread takes part, the first ones a while.
                    match visits.load(Ordering::Relaxed) {
                        0..=8 => thread::sleep(std::time::Duration::from_millis(1)),
                        _ => drop(wait_until(|| threads.lock().expect("no closure panicked").len() == 2)),
                    }
                }
            });
        });
        assert_eq!(visits.into_inner(), rows);
        assert_eq!(threads.into_inner().expect("no closure panicked").len(), 2, "{rows} heavy rows");
    }
}

// Documented in `query/parallel/light_runs.rs`: after many light runs not each one is timed.
#[test]
fn rows_that_become_heavy_after_many_light_runs_are_shared_by_threads() {
    let mut world = world_of([10, 10, 0]);
    let mut query = world.query::<&mut Health>();
    let visits = AtomicUsize::new(0);
    let threads = Mutex::new(BTreeSet::new());
    pool(2).install(|| {
        for _ in 0..200 {
            query.query_mut(&mut world).par_iter_mut().for_each(|_| {
                visits.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(visits.load(Ordering::Relaxed), 200 * 20);
        let are_shared = (0..100).any(|_| {
            threads.lock().expect("no closure panicked").clear();
            query.query_mut(&mut world).par_iter_mut().for_each(|_| {
                thread::sleep(std::time::Duration::from_millis(1));
                threads.lock().expect("no closure panicked").insert(format!("{:?}", thread::current().id()));
            });
            threads.lock().expect("no closure panicked").len() == 2
        });
        assert!(are_shared);
    });
}

#[test]
fn results_are_the_same_bits_in_light_runs_that_are_timed_and_that_are_not() {
    for lens in [[1, 0, 0], [100, 5, 30], [700, 0, 1]] {
        let world = world_of(lens);
        let mut query = world.query::<&Health>();
        let mut sum = || {
            let share = |health: &Health| 1.0 / (health.0 as f32 + 0.1);
            query.query(&world).par_iter().map_reduce(|| 0.0, share, |a, b| a + b)
        };
        let sums: BTreeSet<u32> = (0..200).map(|_| sum().to_bits()).collect();
        assert_eq!(sums.len(), 1, "{lens:?}");
    }
}

#[test]
fn results_are_the_same_bits_whatever_the_threads() {
    for lens in [[10, 0, 0], [700, 5, 300], [10 * BLOCK, 33, BLOCK]] {
        let world = world_of(lens);
        let sums: BTreeSet<u32> = [1, 2, 4]
            .into_iter()
            .flat_map(|threads| {
                pool(threads).install(|| {
                    let query = world.view::<&Health>();
                    // A sum of numbers of different sizes depends on the order in which it is made.
                    let share = |health: &Health| 1.0 / (health.0 as f32 + 0.1);
                    let light = query.par_iter().map_reduce(|| 0.0, share, |a, b| a + b);
                    let heavy = query.par_iter().map_reduce(
                        || 0.0,
                        |health| {
                            if health.0 < 4 {
                                thread::sleep(std::time::Duration::from_micros(300));
                            }
                            share(health)
                        },
                        |a, b| a + b,
                    );
                    [light.to_bits(), heavy.to_bits()]
                })
            })
            .collect();
        assert_eq!(sums.len(), 1, "{lens:?}");
    }
}

// Hazard 38.
#[test]
fn a_panic_is_passed_on_and_the_world_works_on() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for small in [0, usize::MAX] {
            let mut world = world_of([3 * BLOCK, 2 * BLOCK, 10]);
            let rows = world.entities().len();
            for victim in [0, 1_500, 3 * BLOCK + 1, rows - 1] {
                let message = panic_message(|| {
                    pool.install(|| {
                        world.view_mut::<&mut Health>().par_iter_mut().small_below(small).for_each(
                            |health| {
                                assert_ne!(health.0 as usize, victim, "row of the test");
                            },
                        );
                    });
                });
                assert!(message.contains("row of the test"), "{message}");
                let query = world.view::<&Health>();
                let message = panic_message(|| {
                    pool.install(|| {
                        query.par_iter().small_below(small).map_reduce(
                            || 0,
                            |health| {
                                if health.0 as usize == victim { panic!("mapped row of the test") } else { 1 }
                            },
                            |a, b| a + b,
                        )
                    })
                });
                assert_eq!(message, "mapped row of the test");
                // Nothing stays taken: the same query and others read, write and change structure at once.
                world.check().expect("the world is consistent");
                let count = AtomicUsize::new(0);
                pool.install(|| {
                    world.view_mut::<&mut Health>().par_iter_mut().small_below(0).for_each(|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                });
                assert_eq!(count.into_inner(), rows);
                let e = world.spawn((Health(7), Frozen)).id();
                assert_eq!(world.view::<&Health>().count(), rows + 1);
                assert!(world.despawn(e));
            }
        }
    }
}

// Hazard 38.
#[test]
fn several_panics_at_once_are_one_panic() {
    let mut world = world_of([8 * BLOCK, 0, 0]);
    let pool = pool(4);
    for _ in 0..5 {
        let message = panic_message(|| {
            pool.install(|| {
                world.view_mut::<&mut Health>().par_iter_mut().for_each(|_| panic!("every row"));
            });
        });
        assert_eq!(message, "every row");
    }
    assert_eq!(world.view::<&Health>().count(), 8 * BLOCK);
    let message = panic_message(|| {
        let query = world.view::<&Health>();
        pool.install(|| query.par_iter().map_reduce(|| 0, |_| 1, |_, _| -> i32 { panic!("combining") }))
    });
    assert_eq!(message, "combining");
}

// The parallel half of hazard 48: inner iteration inside outer iteration, on few threads.
#[test]
fn parallel_iteration_nests() {
    let world = world_of([2 * BLOCK, 0, 10]);
    let outer = world.view_filtered::<&Health, With<Burning>>();
    let inner = world.view_filtered::<&Health, Without<Burning>>();
    for threads in [1, 2, 8] {
        let visits = AtomicUsize::new(0);
        pool(threads).install(|| {
            outer.par_iter().small_below(0).for_each(|_| {
                inner.par_iter().for_each(|_| {
                    visits.fetch_add(1, Ordering::Relaxed);
                });
            });
        });
        assert_eq!(visits.into_inner(), 10 * 2 * BLOCK);
    }
}

#[test]
fn queries_and_their_chunks_go_to_other_threads() {
    let mut world = world_of([3 * BLOCK, BLOCK, 5]);
    let before: u64 = world.view::<&Health>().into_iter().map(|health| u64::from(health.0)).sum();
    let rows = world.entities().len() as u64;
    let mut query = world.view_mut::<&mut Health>();
    // Tables of a writing query are disjoint, so each can be written by a thread of its own.
    thread::scope(|scope| {
        for table in query.tables_mut() {
            scope.spawn(move || table.rows().for_each(|mut health| health.0 += 1));
        }
    });
    thread::scope(|scope| {
        for healths in query.chunks_mut() {
            scope.spawn(move || healths.iter_mut().for_each(|health| health.0 += 1));
        }
    });
    // The query itself, too.
    thread::scope(|scope| {
        let query = query.reborrow();
        scope.spawn(move || query.into_iter().for_each(|mut health| health.0 += 1));
    });
    let after: u64 = query.iter().map(|health| u64::from(health.0)).sum();
    assert_eq!(after, before + 3 * rows);
}

// O-174: a query first asked for by many threads at once is prepared for all of them.
#[test]
fn threads_that_ask_first_at_once_agree() {
    for round in 0..20 {
        let mut world = world_of([100, 50, 25]);
        if round % 2 == 0 {
            // Some of the queries are known already, some are new.
            world.view::<&Health>();
            let e = world.spawn((Health(0), Quiet(0))).id();
            world.despawn(e);
        }
        let world = &world;
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    assert_eq!(world.view::<&Health>().count(), 175);
                    assert_eq!(world.view_filtered::<&Health, With<Frozen>>().count(), 50);
                    assert_eq!(world.view_filtered::<&Health, Without<Frozen>>().count(), 125);
                    assert_eq!(world.view::<(&Position, &Health)>().count(), 25);
                    let id = world.component_id::<Burning>().expect("registered");
                    assert_eq!(world.query_builder().with(id).build().count(world), 25);
                });
            }
        });
        let (queries, filters) = prepared(world);
        assert_eq!((queries, filters), (5, 5), "none is kept twice");
    }
}
