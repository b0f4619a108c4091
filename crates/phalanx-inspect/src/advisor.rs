//! Advice on storage, from counters that cost nothing while no client is connected.
//!
//! The store counts moves between archetypes, but not of which component: that would cost every move. Instead a
//! sample of entities is looked at after each frame while a page is open; the share of each component among the changes
//! that were seen, times the exact number of moves, is its number of moves.
//!
//! Nor does a query count its runs. How often a component is looped over follows from the systems: how often each ran
//! (times are taken while a client is connected), and which components it declares to read or write. A system that asks for
//! the whole world declares nothing, so what it does is not counted. The rest follows from the sizes of tables.

use std::time::{Duration, Instant};

use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{App, Entity, World};
use phalanx::registry::{ComponentId, ComponentInfo};
use phalanx::world::WorldStats;

use crate::json::Json;
use crate::values::{is_part_of, short};

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
    loops: Loops,
    turn: usize,
}

/// How often systems ran that loop over a component.
#[derive(Default)]
struct Loops {
    /// How often each phase was sorted when `uses` was asked for.
    sorted: Vec<u64>,
    /// The components that each system reads or writes, phase by phase, as timings are reported.
    uses: Vec<Vec<ComponentId>>,
    /// How often each system had run when the window began.
    runs: Vec<u64>,
    /// Runs per second per component, by its index, in the last window.
    rates: Vec<f64>,
}

impl Advisor {
    pub fn new() -> Self {
        let now = Instant::now();
        let (sample, seen, rates, loops) = (Vec::new(), Vec::new(), Vec::new(), Loops::default());
        Self { sample, seen, began: now, moves: 0, rates, loops, turn: 0 }
    }

    /// Looks at the sample after a frame, and at the systems now and then.
    pub fn look(&mut self, app: &App) {
        self.look_at(app.world());
        if self.began.elapsed() >= WINDOW {
            self.loops.count(app, self.began.elapsed());
            self.end_window(app.world());
        }
    }

    fn look_at(&mut self, world: &World) {
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
            let of = |rates: &[f64]| rates.get(info.id().index()).copied().unwrap_or(0.0);
            let (rate, loops) = (of(&self.rates), of(&self.loops.rates));
            advice.extend(advise(info, having, stats.entities, rate, loops));
            Json::object([
                ("name", info.name().into()),
                ("short", short(info.name()).into()),
                ("entities", having.into()),
                ("sparse", info.is_sparse().into()),
                ("moves", rate.round().into()),
                ("iterations", loops.round().into()),
            ])
        });
        let components = Json::list(components.collect::<Vec<_>>());
        advice.extend(fragments(stats));
        advice.extend(empty_room(stats));
        Json::object([("components", components), ("advice", Json::list(advice))])
    }
}

impl Loops {
    /// Ends a window of this length.
    fn count(&mut self, app: &App, window: Duration) {
        let timings = app.timings();
        let systems = timings.iter().flat_map(|phase| &phase.systems);
        // One that is skipped has asked its conditions, which counts as a run in its timing.
        let runs: Vec<u64> = systems.map(|system| system.runs.saturating_sub(system.skips.total())).collect();
        let sorted: Vec<u64> = app.phase_views().map(|(_, view)| view.times_sorted()).collect();
        if sorted != self.sorted || runs.len() != self.uses.len() {
            self.sorted = sorted;
            self.uses = uses(app);
            self.runs.clone_from(&runs);
        }
        self.rates = vec![0.0; app.world().components().len()];
        for ((now, before), used) in runs.iter().zip(&self.runs).zip(&self.uses) {
            let rate = now.saturating_sub(*before) as f64 / window.as_secs_f64();
            used.iter().for_each(|id| self.rates[id.index()] += rate);
        }
        self.runs = runs;
    }
}

/// The components that each system declares, in the order in which timings are reported.
fn uses(app: &App) -> Vec<Vec<ComponentId>> {
    let mut all = Vec::new();
    for ((_, view), phase) in app.phase_views().zip(app.timings()) {
        let views = view.system_views().unwrap_or_default();
        all.extend(phase.systems.iter().map(|timing| {
            let Some(system) = views.iter().find(|system| system.name == timing.system) else {
                return Vec::new();
            };
            // Only queries loop, so resources of such a name do not count.
            let used = |info: &&ComponentInfo| {
                system.reads.iter().chain(&system.writes).any(|part| is_part_of(info, part))
            };
            let components = app.world().components().iter().filter(used);
            components.filter(|_| !system.queries.is_empty()).map(ComponentInfo::id).collect()
        }));
    }
    all
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

fn advise(info: &ComponentInfo, having: usize, entities: usize, rate: f64, loops: f64) -> Option<String> {
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
        let often = match loops {
            0.0 => String::new(),
            loops => format!(", and systems loop over it {} times per second", thousands(loops)),
        };
        return Some(format!(
            "`{name}` is sparse, but {percent} % of all entities have it{often}: in tables, loops over it would be faster"
        ));
    }
    None
}

/// Many small tables.
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
            advisor.look_at(&world);
        }
        advisor.end_window(&world);
        let text = advisor.to_json(&world, &world.stats()).to_string();
        assert!(text.contains("`Stunned` moved") && text.contains("make it sparse"), "{text}");
        assert!(!text.contains("`Body` moved"), "{text}");
    }

    fn advice(world: &World) -> String {
        let told = Advisor::new().to_json(world, &world.stats());
        told.get("advice").expect("a list").to_string()
    }

    #[derive(Component, Clone)]
    #[component(storage = "sparse")]
    struct Common;

    #[test]
    fn a_set_that_almost_all_are_in_is_named() {
        let mut world = World::new();
        world.spawn_batch((0..10_001).map(|_| (Body, Common))).for_each(drop);
        let told = advice(&world);
        assert!(told.contains("`Common` is sparse, but 100 % of all entities have it"), "{told}");
    }

    #[test]
    fn many_small_tables_are_noticed() {
        let mut world = World::new();
        let names = ["a", "b", "c", "d", "e", "f"];
        let ids = names.map(|name| world.register_dynamic(Schema::new(name)).expect("a new name"));
        for set in 0..64 {
            let entity = world.spawn(Body).id();
            for (_, id) in ids.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1) {
                world.insert_dynamic(entity, *id, &[]).expect("it is known");
            }
        }
        let told = advice(&world);
        assert!(told.contains("64 tables have 1 rows on average"), "{told}");
    }

    #[derive(Component)]
    struct Large(#[allow(dead_code, reason = "its size counts")] [u64; 256]);

    #[test]
    fn memory_that_holds_nothing_is_noticed() {
        let mut world = World::new();
        let all: Vec<Entity> = world.spawn_batch((0..10_000).map(|_| Large([0; 256]))).collect();
        assert_eq!(advice(&world), "[]");
        world.despawn_batch(all);
        let told = advice(&world);
        assert!(told.contains("MB are allocated and empty: `shrink_to_fit` gives them back"), "{told}");
    }

    #[derive(Component, Default)]
    #[component(layout = "soa", name = "game.Place")]
    struct Place {
        x: f32,
        y: f32,
    }

    #[test]
    fn loops_over_a_component_are_counted_by_the_systems_that_ran() {
        fn walk(mut all: Query<&mut Place>) {
            all.iter_mut().for_each(|place| *place.x += *place.y);
        }
        fn look(_: Query<(&Place, &Body)>) {}
        fn never(_: Query<&Stunned>) {}
        let mut app = App::new();
        app.configure(AppConfig { timings: true, ..AppConfig::default() });
        app.add_systems(Update, (walk, look, never.run_if(|| false)));
        app.world_mut().spawn((Place::default(), Body));
        app.world_mut().register_component::<Stunned>();
        app.step(0.1);
        let mut loops = Loops::default();
        loops.count(&app, Duration::from_secs(2));
        (0..10).for_each(|_| app.step(0.1));
        loops.count(&app, Duration::from_secs(2));
        let rate = |name: &str| {
            let info =
                app.world().components().iter().find(|info| short(info.name()) == name).expect("known");
            loops.rates[info.id().index()]
        };
        assert_eq!((rate("Place"), rate("Body"), rate("Stunned")), (10.0, 5.0, 0.0));
    }

    #[test]
    fn numbers_are_written_in_groups() {
        assert_eq!(
            (thousands(41_000.2), thousands(7.0), thousands(1_234_567.0)),
            ("41,000".into(), "7".into(), "1,234,567".into())
        );
    }
}
