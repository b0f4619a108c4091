//! The armies and the frame: components, resources, messages, and which system runs when.
//!
//! Positions and velocities are kept field by field. What kind a fighter is says which components it has: an archer has
//! a bow, a soldier a sword, a medic bandages; the wounded carry a tag that comes and goes by commands.

use phalanx::prelude::*;

use crate::grid::Grid;
use crate::options::Options;
use crate::systems;

/// Half the length of a side of the field.
pub const FIELD: f32 = 1000.0;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Team(pub u8);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Health(pub f32);

/// What a fighter hits with, and whom.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Weapon {
    pub damage: f32,
    pub range: f32,
    pub reload: f32,
    pub wait: f32,
    pub target: Option<Entity>,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Bow;
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Sword;
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Bandages(pub f32);
/// Walks at half speed until it is well again.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Wounded;

#[derive(Message, Clone, Copy, Debug)]
pub struct Hit {
    pub target: Entity,
    pub damage: f32,
}

#[derive(Message, Clone, Copy, Debug)]
pub struct Died {
    pub team: u8,
}

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub hits: u64,
    pub deaths: [u64; 2],
    pub recruits: u64,
    pub healed: u64,
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

fn muster(world: &mut World) {
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

/// The battle, ready to begin.
pub fn app(options: &Options) -> App {
    let mut app = App::new();
    app.configure(AppConfig { threads: options.threads, timings: true, ..Default::default() });
    app.insert_resource(Seed(options.seed)).insert_resource(Strength(options.entities));
    app.init_resource::<Tally>().init_resource::<Grid>();
    app.add_systems(Startup, muster);
    app.add_systems(FixedUpdate, (systems::walk_x, systems::walk_y, systems::turn_x, systems::turn_y));
    app.add_systems(PreUpdate, systems::survey);
    app.configure_sets(Update, (Step::Aim, Step::Fight, Step::Bury).chain());
    app.add_systems(Update, (systems::aim, systems::reload).chain().in_set(Step::Aim));
    app.add_systems(Update, (systems::strike, systems::suffer, systems::heal).chain().in_set(Step::Fight));
    app.add_systems(Update, (systems::bury, systems::mark_wounded, systems::recruit).in_set(Step::Bury));
    app.add_systems(PostUpdate, systems::tally);
    app
}

/// How many of each kind: soldiers, archers, medics.
pub fn count(world: &World) -> [usize; 3] {
    [
        world.query_filtered::<(), With<Sword>>().count(),
        world.query_filtered::<(), With<Bow>>().count(),
        world.query_filtered::<(), With<Bandages>>().count(),
    ]
}
