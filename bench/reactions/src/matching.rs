//! Knowing which entities began and ceased to match a query, when one in a hundred changes.
//!
//! `none` makes the changes, `matched` is called by observers, `scan` looks at all entities and compares with what it saw
//! before. All three make the same changes.

use phalanx::prelude::*;
use phalanx_measuring::contender::Contender;

use crate::ours::{Position, Velocity};

const ENTITIES: usize = 100_000;
/// How many change in a run: one half begins to match, the other ceases.
pub const CHANGED: usize = ENTITIES / 100;

#[derive(Component, Clone, Copy)]
struct Burning;

/// What is known of the matching entities, and how often one crossed the border.
#[derive(Resource, Default)]
struct Known {
    began: u64,
    ceased: u64,
    /// By index of the entity: for the scan.
    seen: Vec<bool>,
}

struct State {
    world: World,
    entities: Vec<Entity>,
    burning: QueryState<(Entity, Has<Burning>), With<Position>>,
    at: usize,
    /// How often the changes were made.
    runs: u64,
}

fn set_up() -> State {
    let mut world = World::new();
    world.init_resource::<Known>();
    let still = (0..ENTITIES).map(|_| (Position([0.0; 3]), Velocity([0.0; 3])));
    let entities: Vec<Entity> = world.spawn_batch(still).collect();
    // One in ten matches at the beginning.
    for &entity in entities.iter().step_by(10) {
        world.entity_mut(entity).insert(Burning);
    }
    let burning = world.query_filtered();
    State { world, entities, burning, at: 0, runs: 0 }
}

/// Every tenth entity burns: from a place that wanders, some cease and their neighbours begin.
fn change(state: &mut State) {
    let State { world, entities, at, runs, .. } = state;
    *runs += 1;
    for n in 0..CHANGED / 2 {
        let spot = (*at + n * 10) % ENTITIES;
        let (lit, dark) = (entities[spot], entities[(spot + 1) % ENTITIES]);
        if world.get::<Burning>(lit).is_some() {
            world.entity_mut(lit).remove::<Burning>();
            world.entity_mut(dark).insert(Burning);
        } else {
            world.entity_mut(dark).remove::<Burning>();
            world.entity_mut(lit).insert(Burning);
        }
    }
    *at = (*at + CHANGED * 5) % ENTITIES;
}

fn scan(state: &mut State) {
    let State { world, burning, .. } = state;
    let mut known = std::mem::take(&mut *world.resource_mut::<Known>());
    known.seen.resize(ENTITIES + 16, false);
    for (entity, burns) in burning.iter(world) {
        let seen = &mut known.seen[entity.index() as usize];
        if *seen != burns {
            *seen = burns;
            if burns { known.began += 1 } else { known.ceased += 1 }
        }
    }
    *world.resource_mut::<Known>() = known;
}

fn burning(state: &mut State) -> u64 {
    let State { world, burning, .. } = state;
    burning.iter(world).filter(|(_, burns)| *burns).count() as u64
}

/// Whether the changes were followed: as many crossed the border as changed, in each direction.
fn followed(state: &mut State) -> u64 {
    let known = state.world.resource::<Known>();
    let crossed = state.runs * (CHANGED / 2) as u64;
    assert_eq!((known.began, known.ceased), (crossed, crossed), "each change is noticed once");
    burning(state)
}

pub fn lines() -> Vec<Contender> {
    let observed = || {
        let mut state = set_up();
        state.world.add_observer(|_: On<Matched<&Position, With<Burning>>>, mut known: ResMut<Known>| {
            known.began += 1;
        });
        state.world.add_observer(|_: On<Unmatched<&Position, With<Burning>>>, mut known: ResMut<Known>| {
            known.ceased += 1;
        });
        state
    };
    // The scan knows which entities burn at the beginning, as the observers do.
    let looked = || {
        let mut state = set_up();
        scan(&mut state);
        let mut known = state.world.resource_mut::<Known>();
        (known.began, known.ceased) = (0, 0);
        drop(known);
        state
    };
    let scanning = |state: &mut State| {
        change(state);
        scan(state);
    };
    vec![
        Contender::steady(("phalanx", "none"), set_up, change, burning),
        Contender::steady(("phalanx", "matched"), observed, change, followed),
        Contender::steady(("phalanx", "scan"), looked, scanning, followed),
    ]
}
