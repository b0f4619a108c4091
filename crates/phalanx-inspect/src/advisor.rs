//! Advice on storage, from counters that cost nothing while nobody looks.
//!
//! The store counts moves between archetypes, but not of which component: that would cost every move. Instead a
//! sample of entities is looked at after each frame while a page is open; the share of each component among the changes
//! that were seen, times the exact number of moves, is its number of moves. The rest follows from the sizes of tables.

use std::time::{Duration, Instant};

use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Entity, World};
use phalanx::registry::ComponentInfo;
use phalanx::world::WorldStats;

use crate::json::Json;
use crate::values::short;

/// How many entities are looked at.
const SAMPLE: usize = 256;
/// How long one measurement takes.
const WINDOW: Duration = Duration::from_secs(1);

/// See the module.
pub struct Advisor {
    sample: Vec<(Entity, ArchetypeId)>,
    /// Changes seen per component, by its index.
    seen: Vec<u64>,
    began: Instant,
    moves: u64,
    /// Moves per second per component, by its index, in the last window.
    rates: Vec<f64>,
    turn: usize,
}

impl Advisor {
    pub fn new() -> Self {
        let now = Instant::now();
        Self { sample: Vec::new(), seen: Vec::new(), began: now, moves: 0, rates: Vec::new(), turn: 0 }
    }

    /// Looks at the sample after a frame.
    pub fn look(&mut self, world: &World) {
        let Self { sample, seen, .. } = self;
        seen.resize(world.components().len(), 0);
        sample.retain_mut(|(entity, before)| {
            let Some(now) = world.archetype_of(*entity) else { return false };
            if now != *before && world.archetypes().contains(*before) {
                let (old, new) = (world.archetypes().signature(*before), world.archetypes().signature(now));
                old.difference(new)
                    .iter()
                    .chain(new.difference(old).iter())
                    .for_each(|id| seen[id.index()] += 1);
            }
            *before = now;
            true
        });
        if self.began.elapsed() >= WINDOW {
            self.end_window(world);
        }
    }

    fn end_window(&mut self, world: &World) {
        let seconds = self.began.elapsed().as_secs_f64();
        let moves = world.moves() - self.moves.min(world.moves());
        let all: u64 = self.seen.iter().sum();
        let rate =
            |&seen: &u64| if all == 0 { 0.0 } else { moves as f64 * seen as f64 / all as f64 / seconds };
        self.rates = self.seen.iter().map(rate).collect();
        self.seen.fill(0);
        (self.began, self.moves) = (Instant::now(), world.moves());
        // Another sample each time, spread over all tables.
        let count = world.entities().len();
        let step = (count / SAMPLE).max(1);
        self.turn = self.turn.wrapping_add(7919);
        self.sample.clear();
        let (mut skip, everything) = (self.turn % step, world.query_builder().build());
        for table in everything.tables(world) {
            let rows = table.entities();
            while let Some(&entity) = rows.get(skip) {
                self.sample.extend(world.archetype_of(entity).map(|archetype| (entity, archetype)));
                skip += step;
            }
            skip -= rows.len();
        }
        self.sample.truncate(2 * SAMPLE);
    }

    /// What is known of each component, and what follows from it.
    pub fn to_json(&self, world: &World, stats: &WorldStats) -> Json {
        let mut advice = Vec::new();
        let components = world.components().iter().map(|info| {
            let having = having(world, stats, info);
            let rate = self.rates.get(info.id().index()).copied().unwrap_or(0.0);
            advice.extend(advise(info, having, stats.entities, rate));
            Json::object([
                ("name", info.name().into()),
                ("entities", having.into()),
                ("sparse", info.is_sparse().into()),
                ("moves", rate.round().into()),
            ])
        });
        let components = Json::list(components.collect::<Vec<_>>());
        advice.extend(fragments(stats));
        advice.extend(empty_room(stats));
        Json::object([("components", components), ("advice", Json::list(advice))])
    }
}

/// How many entities have a component.
pub fn having(world: &World, stats: &WorldStats, info: &ComponentInfo) -> usize {
    if info.is_sparse() {
        return stats.sets.iter().find(|set| set.component == info.name()).map_or(0, |set| set.entities);
    }
    let with =
        stats.archetypes.iter().filter(|archetype| world.archetypes().signature(archetype.id).has(info.id()));
    with.map(|archetype| archetype.entities).sum()
}

fn advise(info: &ComponentInfo, having: usize, entities: usize, rate: f64) -> Option<String> {
    let name = short(info.name());
    let density = having as f64 / entities.max(1) as f64;
    let percent = (density * 100.0).round();
    if !info.is_sparse() && rate >= 1000.0 && rate >= entities as f64 / 50.0 && density < 0.25 {
        return Some(format!(
            "`{name}` moved {} rows per second at {percent} % density: make it sparse, so that adding and removing it \
             moves nothing",
            thousands(rate)
        ));
    }
    if info.is_sparse() && density > 0.7 && having > 10_000 {
        return Some(format!(
            "`{name}` is sparse, but {percent} % of all entities have it: in tables, loops over it would be faster"
        ));
    }
    None
}

/// Many small tables, and the component that splits most of them.
fn fragments(stats: &WorldStats) -> Option<String> {
    let used: Vec<_> = stats.archetypes.iter().filter(|archetype| archetype.entities > 0).collect();
    let rows: usize = used.iter().map(|archetype| archetype.entities).sum();
    (used.len() >= 64 && rows / used.len() < 32).then(|| {
        format!(
            "{} tables have {} rows on average: components that come in every combination are better sparse",
            used.len(),
            rows / used.len()
        )
    })
}

/// Memory that holds nothing.
fn empty_room(stats: &WorldStats) -> Option<String> {
    let unused = stats.archetypes.iter().filter(|archetype| archetype.capacity > 0).map(|archetype| {
        archetype.bytes / archetype.capacity
            * (archetype.capacity - archetype.entities.min(archetype.capacity))
    });
    let (unused, all) = (unused.sum::<usize>(), stats.bytes());
    (unused > 16 << 20 && unused * 2 > all).then(|| {
        format!(
            "{} of {} MB are allocated and empty: `shrink_to_fit` gives them back",
            unused >> 20,
            all >> 20
        )
    })
}

fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::prelude::*;

    #[derive(Component)]
    struct Body;
    #[derive(Component)]
    struct Stunned;

    #[test]
    fn a_component_that_comes_and_goes_is_named() {
        let mut world = World::new();
        let entities: Vec<Entity> = (0..4000).map(|_| world.spawn(Body).id()).collect();
        let mut advisor = Advisor::new();
        advisor.end_window(&world);
        assert!(advisor.sample.len() >= SAMPLE / 2 && advisor.sample.len() <= 2 * SAMPLE);
        advisor.began = Instant::now() - Duration::from_millis(999);
        for round in 0..4 {
            for entity in &entities {
                if round % 2 == 0 {
                    world.entity_mut(*entity).insert(Stunned);
                } else {
                    world.entity_mut(*entity).remove::<Stunned>();
                }
            }
            advisor.look(&world);
        }
        advisor.end_window(&world);
        let text = advisor.to_json(&world, &world.stats()).to_string();
        assert!(text.contains("`Stunned` moved") && text.contains("make it sparse"), "{text}");
        assert!(!text.contains("`Body` moved"), "{text}");
    }

    #[test]
    fn numbers_are_written_in_groups() {
        assert_eq!(
            (thousands(41_000.2), thousands(7.0), thousands(1_234_567.0)),
            ("41,000".into(), "7".into(), "1,234,567".into())
        );
    }
}
