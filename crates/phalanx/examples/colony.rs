//! A colony: workers with jobs, sparse tags that come and go, a group for the hot loop, and a save in the middle.
//!
//! Workers are hungry, cold or busy, now and then: each of these is a sparse component, so that nothing moves when it
//! comes or goes. Work is a component of its own, `Job`, which names the place of work; a group keeps `Job` and `Effort`
//! in one order, so that the day's work is a loop over slices. Places are entities with a stock. After half of the time the
//! world is saved to a file and loaded again, and both colonies end alike.
//!
//! Needs the feature `serde`. Run with `cargo run --example colony`; `-- 500 200` asks for 500 workers and 200 days.

use phalanx::prelude::*;
use phalanx::save::SaveRegistry;
use serde::{Deserialize, Serialize};

/// What a place produces, and what the stores of the colony hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Goods {
    Food,
    Wood,
    Stone,
}

#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save, name = "colony.Worker")]
struct Worker {
    skill: u32,
    days_without_food: u32,
}

/// A place of work: so many may work here, and each unit of effort gives one unit.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save, name = "colony.Place")]
struct Place {
    goods: Goods,
    room: u32,
    left: u32,
}

/// Where a worker works.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save, name = "colony.Job", storage = "sparse")]
struct Job(Entity);

/// What a worker has done at the job and not delivered yet.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
#[component(save, name = "colony.Effort", storage = "sparse")]
struct Effort {
    done: u32,
    each_day: u32,
}

/// Has not eaten today.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save, name = "colony.Hungry", storage = "sparse")]
struct Hungry;

/// Is ill, and stays so for some days.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save, name = "colony.Ill", storage = "sparse")]
struct Ill {
    days: u32,
}

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[resource(save, name = "colony.Stores")]
struct Stores {
    food: u32,
    wood: u32,
    stone: u32,
}

impl Stores {
    fn add(&mut self, goods: Goods, amount: u32) {
        match goods {
            Goods::Food => self.food += amount,
            Goods::Wood => self.wood += amount,
            Goods::Stone => self.stone += amount,
        }
    }
}

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[resource(save, name = "colony.Calendar")]
struct Calendar {
    day: u32,
    arrived: u32,
    died: u32,
}

/// Numbers that look random. They are saved, too: a loaded colony has the same fate.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
#[resource(save, name = "colony.Fate")]
struct Fate(u64);

impl Fate {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(end)).expect("below a u32")
    }
}

fn dawn(mut calendar: ResMut<Calendar>, workers: Query<Entity, With<Worker>>, mut commands: Commands) {
    calendar.day += 1;
    for worker in &workers {
        commands.entity(worker).insert(Hungry);
    }
}

/// The ill get better; workers in the cold may fall ill, and then leave the job.
fn health(
    mut fate: ResMut<Fate>,
    mut ill: Query<(Entity, &mut Ill)>,
    working: Query<Entity, (With<Job>, Without<Ill>)>,
    mut commands: Commands,
) {
    for (worker, mut ill) in &mut ill {
        ill.days -= 1;
        if ill.days == 0 {
            commands.entity(worker).remove::<Ill>();
        }
    }
    for worker in &working {
        if fate.below(40) == 0 {
            let days = 1 + fate.below(5);
            commands.entity(worker).remove::<(Job, Effort)>().insert(Ill { days });
        }
    }
}

/// Gives work to those without, food first: each place has room for some.
fn assign(
    stores: Res<Stores>,
    places: Query<(Entity, &Place)>,
    taken: Query<&Job>,
    idle: Query<(Entity, &Worker), (Without<Job>, Without<Ill>)>,
    mut commands: Commands,
) {
    let mut free: Vec<(Entity, Goods, usize)> = places
        .iter()
        .filter(|(_, place)| place.left > 0)
        .map(|(entity, place)| {
            let used = taken.iter().filter(|job| job.0 == entity).count();
            (entity, place.goods, (place.room as usize).saturating_sub(used))
        })
        .collect();
    let wanted = |goods: Goods| match goods {
        Goods::Food => stores.food,
        Goods::Wood => stores.wood * 2,
        Goods::Stone => stores.stone * 4,
    };
    free.sort_by_key(|&(_, goods, _)| wanted(goods));
    let mut idle = idle.iter();
    for (place, _, room) in free {
        for (worker, skills) in idle.by_ref().take(room) {
            let each_day = 1 + skills.skill;
            commands.entity(worker).insert((Job(place), Effort { done: 0, each_day }));
        }
    }
}

/// The hot loop. `Job` and `Effort` stand in one order, so this is two slices side by side.
fn work(world: &mut World) {
    let group = world.group::<Own<(Job, Effort)>, Get<()>, Without<Ill>>().expect("no other group owns them");
    let (_, efforts) = group.slices_mut(world);
    for effort in efforts {
        effort.done += effort.each_day;
    }
}

/// Brings to the stores what was done, as far as the places still have it. An exhausted place ends its jobs.
fn deliver(
    mut stores: ResMut<Stores>,
    mut places: Query<&mut Place>,
    mut working: Query<(Entity, &Job, &mut Effort)>,
    mut commands: Commands,
) {
    for (worker, job, mut effort) in &mut working {
        let Ok(mut place) = places.get_mut(job.0) else { continue };
        let amount = effort.done.min(place.left);
        place.left -= amount;
        effort.done = 0;
        stores.add(place.goods, amount);
        if place.left == 0 {
            commands.entity(worker).remove::<(Job, Effort)>();
        }
    }
}

/// All eat while there is food. Three days without it are too many.
fn eat(
    mut stores: ResMut<Stores>,
    mut calendar: ResMut<Calendar>,
    mut hungry: Query<(Entity, &mut Worker), With<Hungry>>,
    mut commands: Commands,
) {
    for (worker, mut state) in &mut hungry {
        if stores.food > 0 {
            stores.food -= 1;
            state.days_without_food = 0;
            commands.entity(worker).remove::<Hungry>();
        } else if state.days_without_food == 2 {
            calendar.died += 1;
            commands.entity(worker).despawn();
        } else {
            state.days_without_food += 1;
        }
    }
}

/// New workers and new fields, paid for with wood and stone.
fn grow(
    mut stores: ResMut<Stores>,
    mut calendar: ResMut<Calendar>,
    mut fate: ResMut<Fate>,
    mut commands: Commands,
) {
    if stores.wood >= 60 && stores.stone >= 20 {
        stores.wood -= 60;
        stores.stone -= 20;
        commands.spawn(Place { goods: Goods::Food, room: 8, left: 2_000 });
    }
    if stores.food >= 100 {
        stores.food -= 50;
        calendar.arrived += 1;
        commands.spawn(Worker { skill: fate.below(4), days_without_food: 0 });
    }
}

/// What is saved: everything but the app itself.
fn types() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types.register::<Worker>().register::<Place>().register::<Job>().register::<Effort>();
    types.register::<Hungry>().register::<Ill>();
    types.register::<Stores>().register::<Calendar>().register::<Fate>();
    types
}

/// The rules, over any world.
fn rules() -> Schedule {
    let mut day = Schedule::default();
    day.add_systems((dawn, health, assign, work, deliver, eat, grow).chain());
    day
}

fn found(workers: u32) -> World {
    let mut world = World::new();
    let mut fate = Fate(42);
    world.spawn_batch((0..workers).map(|_| Worker { skill: fate.below(4), days_without_food: 0 })).count();
    for (goods, room) in [(Goods::Food, workers / 2), (Goods::Wood, workers / 4), (Goods::Stone, workers / 8)]
    {
        world.spawn(Place { goods, room, left: workers * 200 });
    }
    world.insert_resource(fate);
    world.insert_resource(Stores { food: workers * 5, wood: 0, stone: 0 });
    world.insert_resource(Calendar::default());
    world
}

fn live(world: &mut World, days: u32) {
    let mut day = rules();
    for _ in 0..days {
        day.run(world);
        let calendar = *world.resource::<Calendar>();
        if calendar.day.is_multiple_of(20) {
            println!("{}", line(world));
        }
    }
}

fn line(world: &mut World) -> String {
    let (calendar, stores) = (*world.resource::<Calendar>(), *world.resource::<Stores>());
    format!(
        "day {:>3}: {:>4} workers ({:>3} at work, {:>3} ill, {:>3} hungry), food {:>5}, wood {:>4}, stone {:>4}",
        calendar.day,
        world.view::<&Worker>().iter().count(),
        world.view::<&Job>().iter().count(),
        world.view::<&Ill>().iter().count(),
        world.view::<&Hungry>().iter().count(),
        stores.food,
        stores.wood,
        stores.stone,
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let workers = numbers.next().transpose()?.unwrap_or(60).clamp(8, 1_000_000);
    let days = numbers.next().transpose()?.unwrap_or(120);

    let mut colony = found(workers);
    live(&mut colony, days / 2);

    // Halfway: a file, put in place as a whole, and a second colony out of it.
    let place = std::env::temp_dir().join(format!("phalanx-colony-{}", std::process::id()));
    let mark = colony.write_file(&place)?;
    let mut loaded = World::read_file(&place, &types())?;
    println!("saved after {} days in {} pieces", days / 2, mark.pieces_written());
    std::fs::remove_file(&place)?;
    assert!(mark.report().is_complete(), "not saved: {}", mark.report());

    live(&mut colony, days - days / 2);
    println!("and once more, from the save:");
    live(&mut loaded, days - days / 2);
    assert_eq!(line(&mut colony), line(&mut loaded), "a loaded colony has the same fate");
    let calendar = colony.resource::<Calendar>();
    println!("{} came, {} died; the loaded colony ended alike", calendar.arrived, calendar.died);
    Ok(())
}
