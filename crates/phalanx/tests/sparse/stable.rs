//! Stable sets: what stays where it is, what holes mean to everything that looks at a set, and how they close.
//!
//! Named facts first; then random histories over a plain and a stable set side by side, compared with naive maps
//! after each step, with every value known to a ledger and a panic planted in some drop or clone.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;

use crate::common::ledger::{Event, Ledger, Serial, panic_of};
use crate::common::steps::model_steps;
use phalanx::group::OrderError;
use phalanx::prelude::*;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
struct Seat(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable, layout = "soa", track = "row")]
struct Body {
    mass: f32,
    name: String,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
struct Sleeping;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Plain(u32);

#[derive(Component, Clone, Debug, PartialEq)]
struct Health(u32);

fn seats(world: &mut World, n: u32) -> Vec<Entity> {
    (0..n).map(|n| world.spawn((Seat(n), Health(n))).id()).collect()
}

fn indices(world: &World, entities: &[Entity]) -> Vec<Option<usize>> {
    entities.iter().map(|&e| world.sparse::<Seat>().index_of(e)).collect()
}

#[test]
fn rows_stay_where_they_are_until_the_set_is_compacted() {
    let mut world = World::new();
    let ids = seats(&mut world, 8);
    world.remove::<Seat>(ids[1]).unwrap();
    world.despawn(ids[4]);
    world.entity_mut(ids[6]).take::<Seat>();
    let expected = [Some(0), None, Some(2), Some(3), None, Some(5), None, Some(7)];
    assert_eq!(indices(&world, &ids), expected);
    let set = world.sparse::<Seat>();
    assert_eq!((set.len(), set.holes(), set.entities().len()), (5, 3, 8));
    assert_eq!(set.entities()[1], Entity::PLACEHOLDER);
    // The hole made last is filled first.
    let late: Vec<Entity> = (10..14).map(|n| world.spawn(Seat(n)).id()).collect();
    assert_eq!(indices(&world, &late), [Some(6), Some(4), Some(1), Some(8)]);
    assert_eq!(indices(&world, &[ids[0], ids[7]]), [Some(0), Some(7)]);
    world.check().unwrap();
    world.remove_batch::<Seat>([ids[0], ids[3], late[3]]);
    let order: Vec<Entity> = world.sparse::<Seat>().iter().map(|(e, _)| e).collect();
    assert_eq!(world.sparse_mut::<Seat>().compact(), 3);
    assert_eq!(world.sparse::<Seat>().entities(), order, "compacting keeps the order");
    assert_eq!(world.sparse::<Seat>().slice().unwrap().len(), 6);
    assert_eq!(world.sparse_mut::<Seat>().compact(), 0);
    world.check().unwrap();
}

#[test]
fn what_looks_at_a_set_skips_its_holes() {
    let mut world = World::new();
    let ids = seats(&mut world, 10);
    ids.iter().step_by(3).for_each(|&e| world.remove::<Seat>(e).unwrap());
    let left: Vec<u32> = (0..10).filter(|n| n % 3 != 0).collect();
    let values = |world: &World| world.view::<&Seat>().iter().map(|seat| seat.0).collect::<Vec<_>>();
    assert_eq!(values(&world), left);
    assert_eq!(world.view::<&Seat>().driven_by::<Seat>().iter().map(|s| s.0).collect::<Vec<_>>(), left);
    assert_eq!(world.view::<(&Seat, &Health)>().driven_by_tables().iter().count(), 6);
    assert_eq!(
        world.view::<(Option<&Seat>, Has<Seat>)>().iter().filter(|(s, h)| s.is_some() && *h).count(),
        6
    );
    assert_eq!(world.view_filtered::<Entity, Without<Seat>>().count(), 4);
    assert!(world.get::<Seat>(ids[0]).is_none() && world.get::<Seat>(Entity::PLACEHOLDER).is_none());
    assert!(!world.sparse::<Seat>().contains(Entity::PLACEHOLDER));
    assert!(world.sparse::<Seat>().slice().is_none(), "no slice of all values while there are holes");
    assert!(world.sparse_mut::<Seat>().slice_mut().is_none());
    let runs: Vec<Vec<u32>> =
        world.sparse::<Seat>().runs().map(|(_, seats)| seats.iter().map(|seat| seat.0).collect()).collect();
    assert_eq!(runs, [[1, 2], [4, 5], [7, 8]]);
    for (entities, seats) in world.sparse::<Seat>().runs() {
        assert!(entities.iter().zip(seats).all(|(&e, seat)| world.get::<Seat>(e) == Some(seat)));
    }
    world.sparse_mut::<Seat>().for_each_run(|seats| seats.iter_mut().for_each(|seat| seat.0 += 100));
    assert_eq!(values(&world), left.iter().map(|n| n + 100).collect::<Vec<_>>());
    let sum = std::sync::atomic::AtomicU32::new(0);
    world.view_mut::<&mut Seat>().par_iter_mut().small_below(0).for_each(|seat| {
        sum.fetch_add(seat.0, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(sum.into_inner(), left.iter().map(|n| n + 100).sum());
    let stats = world.stats();
    let set = stats.sets.iter().find(|set| set.component.ends_with("Seat")).unwrap();
    assert_eq!((set.entities, set.holes), (6, 4));
    world.shrink_to_fit();
    assert_eq!(world.sparse::<Seat>().holes(), 4, "memory goes, positions stay");
    world.check().unwrap();
    world.clear_entities();
    assert_eq!((world.sparse::<Seat>().len(), world.sparse::<Seat>().holes()), (0, 0));
    assert_eq!(seats(&mut world, 2).len(), 2);
    assert_eq!(world.sparse::<Seat>().slice(), Some(&[Seat(0), Seat(1)][..]));
    world.check().unwrap();
}

#[test]
fn ordering_a_stable_set_with_holes_says_to_compact() {
    let mut world = World::new();
    let ids: Vec<Entity> = [3, 1, 2, 0].map(|n| world.spawn((Seat(n), Plain(n))).id()).to_vec();
    world.remove::<Seat>(ids[1]).unwrap();
    let before = world.sparse::<Seat>().entities().to_vec();
    let error = world.sort_by::<Seat>(|a, b| a.0.cmp(&b.0)).unwrap_err();
    assert!(matches!(&error, OrderError::Holes { component } if component.ends_with("Seat")));
    assert!(error.to_string().contains("call `compact` before ordering it"), "{error}");
    assert!(world.sparse_mut::<Seat>().swap(0, 2).is_err());
    assert!(world.sort_as::<Seat, Plain>().is_err());
    assert!(world.sparse_mut::<Seat>().sort_unstable_by_key(|seat| seat.0).is_err());
    assert_eq!(world.sparse::<Seat>().entities(), before);
    // As a model, and as what a group guarantees, a set with holes is as good as any.
    world.sort_as::<Plain, Seat>().unwrap();
    assert_eq!(world.sparse::<Plain>().entities()[..3], [ids[0], ids[2], ids[3]]);
    let group = world.group::<Own<(Plain,)>, Get<(Seat,)>, ()>().unwrap();
    assert_eq!(group.len(&world), 3);
    world.remove::<Seat>(ids[2]).unwrap();
    assert_eq!(group.iter(&world).map(|(_, _, (seat,))| seat.0).collect::<Vec<_>>(), [3, 0]);
    world.check().unwrap();
    assert_eq!(world.sparse_mut::<Seat>().compact(), 2);
    world.sort_by::<Seat>(|a, b| a.0.cmp(&b.0)).unwrap();
    assert_eq!(world.sparse::<Seat>().slice(), Some(&[Seat(0), Seat(3)][..]));
    world.check().unwrap();
}

#[test]
fn fields_ticks_and_tags_of_stable_sets_work_across_holes() {
    let mut world = World::new();
    let body = |n: u8| Body { mass: f32::from(n), name: format!("body {n}") };
    let ids: Vec<Entity> = (0..5).map(|n| world.spawn((body(n), Sleeping)).id()).collect();
    world.clear_trackers();
    world.remove::<(Body, Sleeping)>(ids[2]).unwrap();
    assert_eq!(world.view_filtered::<Entity, Added<Body>>().count(), 0);
    let late = world.spawn((body(9), Sleeping)).id();
    assert_eq!(world.sparse::<Body>().index_of(late), Some(2));
    assert_eq!(
        world.view_filtered::<Entity, Added<Body>>().single(),
        Ok(late),
        "the row's ticks are its own"
    );
    *world.get_mut::<body::mass>(ids[4]).unwrap() = 40.0;
    let changed: Vec<Entity> = world.view_filtered::<Entity, Changed<Body>>().iter().collect();
    assert_eq!(changed, [late, ids[4]]);
    assert_eq!(world.get::<Body>(late).unwrap().get(), body(9));
    let slices = world.sparse::<Body>().slice().unwrap();
    assert_eq!(slices.mass, [0.0, 1.0, 9.0, 3.0, 40.0]);
    assert_eq!(world.view_filtered::<Entity, With<Sleeping>>().count(), 5);
    world.despawn(ids[0]);
    assert!(world.sparse::<Body>().slice().is_none() && world.sparse::<Sleeping>().slice().is_none());
    world.check().unwrap();
}

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse", stable)]
struct Held(u32, Serial);

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse")]
struct Loose(u32, #[allow(dead_code)] Serial);

#[derive(Component, Clone, Debug)]
struct Tabled(u32, #[allow(dead_code)] Serial);

/// What the world must hold.
#[derive(Default)]
struct Naive {
    held: BTreeMap<Entity, u32>,
    loose: BTreeMap<Entity, u32>,
    tabled: BTreeMap<Entity, u32>,
    /// Where stable rows stand.
    positions: BTreeMap<Entity, usize>,
    holes: Vec<usize>,
    rows: usize,
}

impl Naive {
    fn hold(&mut self, entity: Entity, value: u32) {
        if self.held.insert(entity, value).is_none() {
            let position = self.holes.pop().unwrap_or_else(|| {
                self.rows += 1;
                self.rows - 1
            });
            self.positions.insert(entity, position);
        }
    }

    fn release(&mut self, entity: Entity) {
        if self.held.remove(&entity).is_some() {
            self.holes.extend(self.positions.remove(&entity));
        }
    }

    fn compact(&mut self) {
        let mut order: Vec<(usize, Entity)> =
            self.positions.iter().map(|(&e, &position)| (position, e)).collect();
        order.sort_unstable();
        self.positions = order.into_iter().enumerate().map(|(at, (_, e))| (e, at)).collect();
        self.rows = self.positions.len();
        self.holes.clear();
    }

    fn check(&self, world: &World, ledger: &Ledger, step: usize) {
        world.check().unwrap_or_else(|fault| panic!("step {step}: {fault}"));
        ledger.nothing_dropped_twice();
        let held: BTreeMap<Entity, u32> =
            world.view::<(Entity, &Held)>().iter().map(|(e, held)| (e, held.0)).collect();
        assert_eq!(held, self.held, "step {step}");
        let loose: BTreeMap<Entity, u32> =
            world.view::<(Entity, &Loose)>().iter().map(|(e, loose)| (e, loose.0)).collect();
        assert_eq!(loose, self.loose, "step {step}");
        let tabled: BTreeMap<Entity, u32> =
            world.view::<(Entity, &Tabled)>().iter().map(|(e, tabled)| (e, tabled.0)).collect();
        assert_eq!(tabled, self.tabled, "step {step}");
        for (&e, &position) in &self.positions {
            assert_eq!(world.sparse::<Held>().index_of(e), Some(position), "step {step}: {e}");
            assert!(world.get::<Held>(e).unwrap().1.is_live());
        }
        assert_eq!(world.sparse::<Held>().holes(), self.holes.len());
        let both = world.view::<(&Held, &Loose)>().count();
        assert_eq!(both, self.held.keys().filter(|e| self.loose.contains_key(e)).count());
        let values = self.held.len() + self.loose.len() + self.tabled.len();
        assert_eq!(ledger.live(), values, "step {step}: nothing leaks");
    }
}

fn random_history(seed: u64, steps: usize, faults: bool) {
    let mut random = seed;
    let mut roll = move |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from((random >> 20) % n).unwrap()
    };
    let ledger = Ledger::open();
    let mut world = World::new();
    let mut naive = Naive::default();
    let mut ids: Vec<Entity> = Vec::new();
    for step in 0..steps {
        let n = u32::try_from(step).unwrap();
        let e = if ids.is_empty() { Entity::PLACEHOLDER } else { ids[roll(ids.len() as u64)] };
        let alive = world.contains(e);
        if faults {
            ledger.plan(Event::Drop, 1 + roll(4));
        }
        let (held, loose, tabled) =
            (Held(n, Serial::new()), Loose(n, Serial::new()), Tabled(n, Serial::new()));
        let forget = |naive: &mut Naive, e| {
            naive.release(e);
            naive.loose.remove(&e);
            naive.tabled.remove(&e);
        };
        let world = &mut world;
        match roll(14) {
            0 => {
                let id = world.spawn((held, loose)).id();
                naive.hold(id, n);
                naive.loose.insert(id, n);
                ids.push(id);
                let _ = panic_of(|| drop(tabled));
            }
            1 | 2 => {
                let id = world.spawn((tabled, held)).id();
                naive.hold(id, n);
                naive.tabled.insert(id, n);
                ids.push(id);
                let _ = panic_of(|| drop(loose));
            }
            3 | 4 => {
                let _ = panic_of(|| world.insert(e, (held, loose, tabled)));
                if alive {
                    naive.hold(e, n);
                    naive.loose.insert(e, n);
                    naive.tabled.insert(e, n);
                }
            }
            5 => {
                let _ = panic_of(|| {
                    drop((loose, tabled));
                });
                let _ = panic_of(|| world.insert(e, held));
                if alive {
                    naive.hold(e, n);
                }
            }
            6 => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                let _ = panic_of(|| world.remove::<(Held, Tabled)>(e));
                naive.release(e);
                naive.tabled.remove(&e);
            }
            7 => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                let _ = panic_of(|| world.remove::<Held>(e));
                naive.release(e);
            }
            8 => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                let taken = world.take::<Held>(e);
                assert_eq!(taken.as_ref().map(|held| held.0), naive.held.get(&e).copied());
                naive.release(e);
                let _ = panic_of(|| drop(taken));
            }
            9 => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                let _ = panic_of(|| world.despawn(e));
                forget(&mut naive, e);
            }
            10 => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                let _ = panic_of(|| world.retain::<Loose>(e));
                naive.release(e);
                naive.tabled.remove(&e);
            }
            11 => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                let _ = panic_of(|| world.get_entity_mut(e).map(|mut e| e.clear().id()));
                forget(&mut naive, e);
            }
            12 => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                world.sparse_mut::<Held>().compact();
                naive.compact();
                world.sort_by::<Held>(|a, b| a.0.cmp(&b.0)).unwrap();
                let mut order: Vec<(u32, Entity)> = naive.held.iter().map(|(&e, &n)| (n, e)).collect();
                order.sort_by_key(|(n, _)| *n);
                naive.positions = order.into_iter().enumerate().map(|(at, (_, e))| (e, at)).collect();
            }
            _ => {
                let _ = panic_of(|| drop((held, loose, tabled)));
                world.shrink_to_fit();
                if roll(30) == 0 {
                    let _ = panic_of(|| world.clear_entities());
                    naive = Naive::default();
                    ids.clear();
                }
            }
        }
        ledger.call_off();
        naive.check(world, &ledger, step);
    }
    if faults {
        ledger.plan(Event::Drop, 3);
    }
    let _ = panic_of(|| drop(world));
    ledger.call_off();
    ledger.all_dropped_once();
}

fn steps() -> usize {
    model_steps(400, 800)
}

#[test]
fn random_histories_of_stable_and_plain_sets_agree_with_naive_maps() {
    random_history(0x1234_5678_9ABC_DEF1, steps(), false);
    random_history(0x9E37_79B9_7F4A_7C15, steps(), false);
}

#[test]
fn random_histories_with_panicking_drops_agree_with_naive_maps() {
    random_history(0x0BAD_5EED_0BAD_5EED, steps(), true);
    random_history(0x2545_F491_4F6C_DD1D, steps(), true);
}
