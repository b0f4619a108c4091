//! The armies and the frame: components, resources, messages, plugins, and which system runs when.
//!
//! Positions and velocities are kept field by field. What kind a fighter is says which components it has: an archer has
//! a bow, a soldier a sword, a medic bandages; the wounded carry a tag that comes and goes by commands. A burning one has a
//! component in a sparse set, and arrows are a pool, a closed kind of entities with positions and velocities of their own.

use phalanx::prelude::*;
use phalanx::save::{FileError, SaveRegistry};
use serde::{Deserialize, Serialize};

use crate::grid::Grid;
use crate::options::Options;
use crate::systems;

/// Half the length of a side of the field.
pub const FIELD: f32 = 1000.0;

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Position", layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Velocity", layout = "soa")]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(save, name = "demo.Team")]
pub struct Team(pub u8);

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Health")]
pub struct Health(pub f32);

/// What a fighter hits with, and its target.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Weapon")]
pub struct Weapon {
    pub damage: f32,
    pub range: f32,
    pub reload: f32,
    pub wait: f32,
    pub target: Option<Entity>,
}

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Bow")]
pub struct Bow;
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Sword")]
pub struct Sword;
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Bandages")]
pub struct Bandages(pub f32);
/// Walks at half speed until it is well again.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Wounded")]
pub struct Wounded;

/// Loses health until the fire is out. Few burn, and not for long: a sparse set, so that no row moves for it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Burning", storage = "sparse")]
pub struct Burning {
    pub left: f32,
}

/// An arrow on its way.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "demo.Arrow")]
pub struct Arrow {
    pub target: Entity,
    pub damage: f32,
    /// The seconds that it will fly.
    pub left: f32,
    pub fire: bool,
}

/// All arrows: spawned and despawned more often than anything else, and always with the same components.
#[derive(Pool)]
pub struct Arrows {
    pub position: Position,
    pub velocity: Velocity,
    pub arrow: Arrow,
}

#[derive(Message, Clone, Copy, Debug)]
pub struct Hit {
    pub target: Entity,
    pub damage: f32,
}

#[derive(Message, Clone, Copy, Debug)]
pub struct Died {
    pub team: u8,
}

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[resource(save, name = "demo.Tally")]
pub struct Tally {
    pub hits: u64,
    pub deaths: [u64; 2],
    pub recruits: u64,
    pub healed: u64,
    #[serde(default)]
    pub arrows: u64,
    #[serde(default)]
    pub ignited: u64,
}

#[derive(Resource, Clone, Copy, Debug)]
pub struct Seed(pub u64);

#[derive(SystemSet, Clone, Copy, Debug)]
pub enum Step {
    Aim,
    Fight,
    Bury,
}

/// A number made from the seed and another number, which looks random.
pub fn mixed(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number from 0 to 1.
fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1u64 << 24) as f32
}

/// The fighter with number `n`: what it has, whatever its kind.
pub fn fighter(seed: u64, n: u64) -> (Position, Velocity, Team, Health) {
    let team = u8::try_from(n % 2).expect("two teams");
    let side = if team == 0 { -1.0 } else { 1.0 };
    let x = side * FIELD * unit(mixed(seed, n * 3));
    let y = FIELD * (2.0 * unit(mixed(seed, n * 3 + 1)) - 1.0);
    let angle = unit(mixed(seed, n * 3 + 2)) - 0.5;
    let velocity = Velocity { x: -side * 20.0, y: 20.0 * angle };
    (Position { x, y }, velocity, Team(team), Health(100.0))
}

pub fn sword() -> (Weapon, Sword) {
    (Weapon { damage: 12.0, range: 6.0, reload: 0.25, wait: 0.0, target: None }, Sword)
}

pub fn bow() -> (Weapon, Bow) {
    (Weapon { damage: 9.0, range: 14.0, reload: 0.5, wait: 0.0, target: None }, Bow)
}

/// What a saved battle may hold.
pub fn saved_types() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types
        .register::<Position>()
        .register::<Velocity>()
        .register::<Team>()
        .register::<Health>()
        .register::<Weapon>()
        .register::<Bow>()
        .register::<Sword>()
        .register::<Bandages>()
        .register::<Wounded>()
        .register::<Burning>()
        .register::<Arrow>()
        .register_pool::<Arrows>()
        .register::<Tally>()
        .register::<Stage>();
    types
}

/// The armies come to the field, unless they stand there already, from a file.
fn muster(world: &mut World) {
    if !world.entities().is_empty() {
        return;
    }
    let Seed(seed) = *world.resource::<Seed>();
    let count = u64::from(world.resource::<Strength>().0);
    let of = |kind: u64| (0..count).filter(move |n| mixed(seed, !n) % 5 == kind);
    world.spawn_batch((0..count).filter(|n| mixed(seed, !n) % 5 < 3).map(|n| (fighter(seed, n), sword())));
    world.spawn_batch(of(3).map(|n| (fighter(seed, n), bow())));
    world.spawn_batch(of(4).map(|n| (fighter(seed, n), Bandages(15.0))));
}

/// How many fight at the beginning.
#[derive(Resource, Clone, Copy, Debug)]
struct Strength(u32);

/// What the armies are doing.
#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[states(save, name = "demo.Stage")]
pub enum Stage {
    /// They come to the field.
    #[default]
    Muster,
    Battle,
}

/// How many frames the battle lasts.
#[derive(Resource, Clone, Copy, Debug)]
struct Length(u32);

/// Begins with a battle that was saved, and lets it last so many frames more. Returns the number of its last frame.
pub fn load(app: &mut App, file: &str, frames: u32) -> Result<u32, FileError> {
    app.world_mut().fill_from_file(file, &saved_types())?;
    let begun = u32::try_from(app.world().resource::<Time>().frame()).unwrap_or(u32::MAX);
    let last = begun.saturating_add(frames);
    app.insert_resource(Length(last));
    Ok(last)
}

/// The armies come to the field, and the battle begins with the first frame.
struct Armies {
    seed: u64,
    strength: u32,
}

impl Plugin for Armies {
    fn build(&self, app: &mut App) {
        app.insert_resource(Seed(self.seed)).insert_resource(Strength(self.strength));
        app.world_mut().register_pool::<Arrows>();
        app.init_state::<Stage>();
        app.add_systems(OnEnter(Stage::Muster), (muster, begin).chain());
    }
}

fn begin(mut next: ResMut<NextState<Stage>>) {
    next.set(Stage::Battle);
}

/// All fighters walk, at a fixed pace.
fn marching(app: &mut App) {
    app.add_systems(FixedUpdate, (systems::walk_x, systems::walk_y, systems::turn_x, systems::turn_y));
}

/// All fighters fight, while there is a battle.
fn fighting(app: &mut App) {
    app.init_resource::<Tally>().init_resource::<Grid>();
    app.add_systems(PreUpdate, systems::survey);
    let battle = in_state(Stage::Battle);
    app.configure_sets(Update, (Step::Aim, Step::Fight, Step::Bury).chain().run_if(battle));
    app.add_systems(Update, (systems::aim, systems::reload).chain().in_set(Step::Aim));
    app.add_systems(
        Update,
        (systems::strike, systems::shoot, systems::fly, systems::suffer, systems::burn, systems::heal)
            .chain()
            .in_set(Step::Fight),
    );
    app.add_systems(Update, (systems::bury, systems::mark_wounded, systems::recruit).in_set(Step::Bury));
    app.add_systems(PostUpdate, systems::tally);
}

/// Ends the battle after its last frame.
fn end(time: Res<Time>, length: Res<Length>, mut exit: MessageWriter<AppExit>) {
    if time.frame() >= u64::from(length.0) {
        exit.write(AppExit::Success);
    }
}

/// The battle, ready to be run.
pub fn app(options: &Options) -> App {
    let mut app = App::new();
    app.configure(AppConfig { threads: options.threads, timings: true, ..Default::default() });
    app.add_plugins((Armies { seed: options.seed, strength: options.entities }, marching, fighting));
    app.insert_resource(Length(options.frames)).add_systems(Last, end);
    app
}

/// How many of each kind: soldiers, archers, medics.
pub fn count(world: &World) -> [usize; 3] {
    [
        world.view_filtered::<(), With<Sword>>().count(),
        world.view_filtered::<(), With<Bow>>().count(),
        world.view_filtered::<(), With<Bandages>>().count(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options { entities: 200, threads: Threads::N(1), ..Options::default() }
    }

    // The file was written by a demo that saved neither clocks nor its stage.
    #[test]
    fn a_battle_that_an_older_demo_saved_goes_on() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/saves/battle-1.save");
        let mut app = app(&options());
        assert_eq!(load(&mut app, file, 20).expect("old saves can be loaded"), 20);
        app.world().check().expect("whole");
        let before = count(app.world());
        assert!(before.iter().all(|&count| count > 0), "{before:?}");
        for _ in 0..20 {
            app.step(1.0 / 60.0);
        }
        app.world().check().expect("whole");
        assert!(app.should_exit().is_some(), "twenty frames were asked for");
        assert_eq!(*app.world().resource::<State<Stage>>(), Stage::Battle);
    }

    #[test]
    fn a_battle_that_is_saved_and_loaded_is_the_same_battle() {
        let file = std::env::temp_dir().join(format!("phalanx-demo-{}", std::process::id()));
        let path = file.display().to_string();
        let mut saved = app(&options());
        for _ in 0..30 {
            saved.step(1.0 / 60.0);
        }
        saved.world().write_file(&file).expect("written");
        let mut loaded = app(&options());
        let last = load(&mut loaded, &path, 10);
        let _ = std::fs::remove_file(&file);
        assert_eq!(last.expect("its own save"), 40);
        assert_eq!(count(loaded.world()), count(saved.world()));
        assert_eq!(loaded.world().entities().next_ids(100), saved.world().entities().next_ids(100));
        assert_eq!(loaded.world().resource::<Time>(), saved.world().resource::<Time>());
        assert_eq!(*loaded.world().resource::<State<Stage>>(), Stage::Battle);
        loaded.step(1.0 / 60.0);
        assert_eq!(loaded.world().resource::<Time>().frame(), 31);
    }
}
