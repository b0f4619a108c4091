//! `Changed` and `Added` pass over blocks and rows without looking at them: none that is new may be among those.
//!
//! Random writes and structural changes run over tables of several blocks. After each, what the filters find is
//! compared with the ticks of every row, as `Ref` tells them, for several moments and in every way of asking.
//!
//! `PHALANX_MODEL_STEPS` sets the number of steps.
#![expect(
    clippy::cast_possible_truncation,
    clippy::needless_pass_by_value,
    reason = "small numbers, compared values"
)]

use std::collections::BTreeSet;

use crate::common::cast::{Armour, Frozen, Health, Label, label};
use crate::common::random::Random;
use crate::common::steps::model_steps;
use phalanx::component::RowTracked;
use phalanx::prelude::{Added, Changed, Component, Entity, Or, Ref, Tick, World};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(track = "row", storage = "sparse")]
struct Marked(u32);

const ROWS: u32 = 2_600;

fn new_rows<T: RowTracked>(world: &World, since: Tick) -> [Vec<Entity>; 2] {
    let query = world.view::<(Entity, Ref<T>)>().since(since);
    let changed = query.iter().filter(|(_, row)| row.is_changed()).map(|(id, _)| id).collect();
    let added = query.iter().filter(|(_, row)| row.is_added()).map(|(id, _)| id).collect();
    [changed, added]
}

/// Not `assert_eq`, which would print thousands of entities.
fn same<T: PartialEq>(found: T, expected: T, what: &str) {
    assert!(found == expected, "{what}: a row is missing, too many, or out of order");
}

fn compare<T: RowTracked>(world: &mut World, since: Tick) {
    let [changed, added] = new_rows::<T>(world, since);
    let query = world.view_filtered::<Entity, Changed<T>>().since(since);
    same(query.iter().collect(), changed.clone(), "changed");
    let mut folded = Vec::new();
    query.iter().for_each(|id| folded.push(id));
    same(folded, changed.clone(), "folded");
    assert_eq!((query.count(), query.is_empty()), (changed.len(), changed.is_empty()));
    assert_eq!(query.single().ok(), if changed.len() == 1 { changed.first().copied() } else { None });
    let parallel = query.par_iter().batch_rows(100).map_reduce(
        BTreeSet::new,
        |id| BTreeSet::from([id]),
        |mut some, mut more| {
            some.append(&mut more);
            some
        },
    );
    same(parallel, changed.iter().copied().collect(), "parallel");
    let query = world.view_filtered::<Entity, Added<T>>().since(since);
    same(query.iter().collect(), added.clone(), "added");
    let both = world.view_filtered::<Entity, (Changed<T>, Added<T>)>().since(since);
    same(both.iter().collect(), added, "what came has changed");
    let either = world.view_filtered::<Entity, Or<(Added<T>, Changed<T>)>>().since(since);
    // No set drives what may do without it, so the order may be another one.
    same(either.iter().collect::<BTreeSet<_>>(), changed.into_iter().collect(), "either");
}

fn compare_all(world: &mut World, moments: &[Tick]) {
    for &since in moments {
        compare::<Armour>(world, since);
        compare::<Label>(world, since);
        compare::<Marked>(world, since);
        let [armour, _] = new_rows::<Armour>(world, since);
        let [labels, _] = new_rows::<Label>(world, since);
        let labels: BTreeSet<Entity> = labels.into_iter().collect();
        let both = world.view_filtered::<Entity, (Changed<Armour>, Changed<Label>)>().since(since);
        let expected: Vec<Entity> = armour.into_iter().filter(|id| labels.contains(id)).collect();
        same(both.iter().collect(), expected, "two ticks");
    }
}

fn step(world: &mut World, random: &mut Random, ids: &mut Vec<Entity>) {
    let at = random.below(ids.len());
    let (id, n) = (ids[at], random.below(1_000) as u32);
    match random.below(16) {
        0..3 => {
            if let Some(mut armour) = world.get_mut::<Armour>(id) {
                armour.0 += 1;
            }
        }
        3 => {
            let mut query = world.view_mut::<&mut Armour>();
            for at in 0..5 {
                if let Ok(mut armour) = query.get_mut(ids[(at * 1_013) % ids.len()]) {
                    armour.0 += 1;
                }
            }
        }
        4 => {
            for (at, mut armour) in world.view_mut::<&mut Armour>().into_iter().enumerate() {
                if at as u32 % 1_500 == n {
                    armour.0 += 1;
                }
            }
        }
        5 => {
            let mut query = world.view_mut::<(Entity, &mut Label)>();
            if let Ok((_, label)) = query.get_mut(id) {
                *label.size += 1;
            }
        }
        6 => {
            let since = world.last_change_tick();
            let query = world.view_filtered_mut::<&mut Armour, Changed<Armour>>().since(since);
            query.into_iter().step_by(2).for_each(|mut armour| armour.0 += 1);
        }
        7 => {
            if let Some(mut marked) = world.get_mut::<Marked>(id) {
                marked.0 += 1;
            }
        }
        8 => {
            world.despawn(id);
            ids.swap_remove(at);
        }
        9 => ids.push(world.spawn((Armour(n), label("new"), Marked(n))).id()),
        10 => {
            let _ = world.insert(id, Armour(n));
        }
        11 => {
            let _ = world.insert(id, Frozen);
        }
        12 => drop(world.remove::<Frozen>(id)),
        13 => drop(world.remove::<Marked>(id)),
        14 => {
            let _ = world.insert(id, Marked(n));
        }
        _ if n < 30 => {
            world.view_mut::<&mut Armour>().chunks_mut().for_each(|rows| rows[0] = Armour(7));
        }
        _ => {
            let last = world.last_change_tick();
            let mut query = world.view_mut::<(&mut Armour, &Label)>();
            for block in query.chunks_changed_since_mut(last).take(1) {
                block.rows().take(3).for_each(|(mut armour, _)| armour.0 += 1);
            }
        }
    }
}

#[test]
fn no_row_that_is_new_is_passed_over() {
    let steps = model_steps(1_000, 3_000) / 100;
    let mut random = Random::new(7);
    let mut world = World::new();
    let mut ids: Vec<Entity> = Vec::new();
    ids.extend(world.spawn_batch((0..ROWS).map(|n| (Armour(n), label("l"), Marked(n)))));
    ids.extend(world.spawn_batch((0..ROWS / 2).map(|n| (Armour(n), Health(n)))));
    let mut moments = vec![Tick::ZERO];
    for _ in 0..steps {
        if random.below(3) == 0 {
            moments.push(world.read_change_tick());
            world.clear_trackers();
            world.increment_change_tick();
        }
        step(&mut world, &mut random, &mut ids);
        let recent = moments.len().saturating_sub(3);
        compare_all(&mut world, &moments[recent..]);
    }
}
