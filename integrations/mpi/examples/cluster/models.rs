//! Two models whose result does not depend on the number of ranks: boids, and an epidemic.

use bytemuck::{Pod, Zeroable};
use phalanx::prelude::*;
use phalanx_mpi::{
    Bounds, Cluster, ClusterTypes, Ghost, GlobalId, GlobalOrder, Located, Newborn, Outbox, Partition, To,
    Transport,
};
use serde::{Deserialize, Serialize};

/// The side of the square, unless another one is asked for.
pub const SIDE: f32 = 64.0;
/// How far agents see.
pub const SIGHT: f64 = 2.0;

#[derive(Component, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[component(save, layout = "soa")]
#[repr(C)]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

impl Located for Position {
    fn place(&self) -> [f64; 3] {
        [self.x.into(), self.y.into(), 0.0]
    }
}

#[derive(Component, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[component(save, layout = "soa")]
#[repr(C)]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
}

/// The velocity of the next frame, while all neighbours still see the present one.
#[derive(Component, Default)]
pub struct Steering([f32; 2]);

/// What befell a person.
#[derive(Component, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[component(save)]
pub enum Health {
    Susceptible,
    Infected { left: u32 },
    Recovered,
}

/// A traveller brings the disease to a person far away.
#[derive(Message, Serialize, Deserialize, Clone, Copy)]
pub struct Visit {
    pub to: GlobalId,
}

/// The side of the square in which everything happens.
#[derive(Resource)]
pub struct Side(pub f32);

/// The frame, the same on all ranks.
#[derive(Resource, Default, Serialize, Deserialize)]
pub struct Frame(pub u64);

/// Which model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Boids,
    Epidemic,
}

/// A number from numbers, the same everywhere.
pub fn draw(seed: u64, a: u64, b: u64) -> u64 {
    let mut word = seed ^ a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xd1b5_4a32_d192_ed03);
    for _ in 0..2 {
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
    }
    word
}

/// A number from 0 to 1.
#[allow(clippy::cast_possible_truncation)]
pub fn unit(seed: u64, a: u64, b: u64) -> f32 {
    (draw(seed, a, b) >> 40) as f32 / (1_u64 << 24) as f32
}

pub fn types(model: Model) -> ClusterTypes {
    let types = ClusterTypes::located::<Position>().plain::<Position>().plain::<Velocity>();
    let types = types.halo::<Position>().halo::<Velocity>();
    match model {
        // Made anew for each newcomer, by `equip`.
        Model::Boids => types.leave::<Steering>(),
        Model::Epidemic => types.saved::<Health>().halo::<Health>().message::<Visit>(),
    }
}

/// A rank that begins with an even grid, and rebalances every 25 frames.
pub fn cluster<T: Transport>(model: Model, transport: T, agents: u64) -> Cluster<T> {
    cluster_in(model, transport, agents, SIDE, 32)
}

/// As [`cluster`], in a square of another size, with so many cells along each side.
pub fn cluster_in<T: Transport>(
    model: Model,
    transport: T,
    agents: u64,
    side: f32,
    cells: usize,
) -> Cluster<T> {
    let ranks = transport.ranks();
    let grid = Partition::strips(Bounds::square(side.into()), [cells, cells, 1], ranks);
    Cluster::new(transport, types(model), grid, SIGHT, agents).rebalance_every(25)
}

/// Spawns the agents that this rank owns: three quarters of them in one corner, so that there is something to balance.
pub fn populate<T: Transport>(model: Model, cluster: &Cluster<T>, world: &mut World, agents: u64) {
    let part = |id: u64| if id.is_multiple_of(4) { SIDE } else { SIDE / 3.0 };
    populate_in(model, world, agents, |place| cluster.owns(place), part);
}

/// As [`populate`], each agent somewhere between 0 and what `part` says, and only where `owns` says.
pub fn populate_in(
    model: Model,
    world: &mut World,
    agents: u64,
    owns: impl Fn([f64; 3]) -> bool,
    part: impl Fn(u64) -> f32,
) {
    for id in 0..agents {
        let position = Position { x: unit(1, id, 0) * part(id), y: unit(1, id, 1) * part(id) };
        if !owns(position.place()) {
            continue;
        }
        let velocity = Velocity { x: unit(2, id, 0) - 0.5, y: unit(2, id, 1) - 0.5 };
        let mut agent = world.spawn((GlobalId(id), position, velocity));
        if model == Model::Epidemic {
            agent.insert(if id % 50 == 7 { Health::Infected { left: 20 } } else { Health::Susceptible });
        }
    }
}

pub fn app(model: Model) -> App {
    app_in(model, SIDE)
}

pub fn app_in(model: Model, side: f32) -> App {
    let mut app = App::new();
    app.insert_resource(Frame::default()).insert_resource(Outbox::default());
    app.insert_resource(GlobalOrder::default()).insert_resource(Side(side));
    match model {
        // `steer` shares its rows among threads; both of `fly`, and `walk` and `travel`, may run side by side.
        Model::Boids => app.add_systems(Update, (equip, steer, (fly_x, fly_y), tick).chain()),
        Model::Epidemic => {
            app.add_message::<Visit>().add_systems(Update, (infect, (walk, travel), course, tick).chain())
        }
    };
    app
}

fn tick(mut frame: ResMut<Frame>) {
    frame.0 += 1;
}

/// Agents that came from elsewhere lack what does not travel.
fn equip(
    newcomers: Query<Entity, (With<GlobalId>, Without<Ghost>, Without<Steering>)>,
    mut commands: Commands,
) {
    for agent in &newcomers {
        commands.entity(agent).insert(Steering::default());
    }
}

/// Sums over neighbours in the order of their ids: of `f32`, in which the order shows, and yet the same bits wherever
/// borders are, and whichever thread adds.
fn steer(
    order: Res<GlobalOrder>,
    flock: Query<(&Position, &Velocity)>,
    mut boids: Query<(&GlobalId, &Position, &Velocity, &mut Steering), Without<Ghost>>,
) {
    let strategy = BatchingStrategy::fixed(32);
    boids.par_iter_mut().batching_strategy(strategy).for_each(|(id, position, velocity, mut steering)| {
        let (here, own) = ([*position.x, *position.y], [*velocity.x, *velocity.y]);
        let (mut centre, mut speed, mut apart, mut count) =
            ([0.0_f32; 2], [0.0_f32; 2], [0.0_f32; 2], 0.0_f32);
        let place = [here[0].into(), here[1].into(), 0.0];
        for other in order.within(place, SIGHT).iter().filter(|other| other.id != *id) {
            let Ok((place, theirs)) = flock.get(other.entity) else { continue };
            let (place, theirs) = ([*place.x, *place.y], [*theirs.x, *theirs.y]);
            for axis in 0..2 {
                let away = here[axis] - place[axis];
                centre[axis] -= away;
                speed[axis] += theirs[axis];
                apart[axis] += if away.abs() < 0.5 { away } else { 0.0 };
            }
            count += 1.0;
        }
        for axis in 0..2 {
            let mut next = own[axis];
            if count > 0.0 {
                next += centre[axis] / count * 0.01
                    + (speed[axis] / count - own[axis]) * 0.05
                    + apart[axis] * 0.05;
            }
            steering.0[axis] = next.clamp(-0.5, 0.5);
        }
    });
}

/// Moves along one axis, and turns at the walls.
fn advance(place: &mut f32, speed: &mut f32, side: f32) {
    *place += *speed;
    if *place < 0.0 || *place > side {
        *place = place.clamp(0.0, side);
        *speed = -*speed;
    }
}

fn fly_x(side: Res<Side>, mut boids: Query<(&mut position::x, &mut velocity::x, &Steering), Without<Ghost>>) {
    for (place, speed, steering) in &mut boids {
        *speed = steering.0[0];
        advance(place, speed, side.0);
    }
}

fn fly_y(side: Res<Side>, mut boids: Query<(&mut position::y, &mut velocity::y, &Steering), Without<Ghost>>) {
    for (place, speed, steering) in &mut boids {
        *speed = steering.0[1];
        advance(place, speed, side.0);
    }
}

/// One person in eight walks.
fn walk(side: Res<Side>, mut people: Query<(&GlobalId, &mut Position, &mut Velocity), Without<Ghost>>) {
    for (id, position, velocity) in &mut people {
        if id.0 % 8 != 0 {
            continue;
        }
        advance(position.x, velocity.x, side.0);
        advance(position.y, velocity.y, side.0);
    }
}

/// A person near an infected one may catch it: the dice know both ids and the frame, and nothing of ranks.
fn infect(
    frame: Res<Frame>,
    order: Res<GlobalOrder>,
    mut visits: MessageReader<Visit>,
    mut people: Query<(Entity, &GlobalId, &Position, &mut Health), Without<Ghost>>,
    ghosts: Query<&Health, With<Ghost>>,
) {
    let visited: Vec<GlobalId> = visits.read().map(|visit| visit.to).collect();
    let ill: Vec<Entity> = people
        .iter()
        .filter(|(_, _, _, health)| matches!(**health, Health::Infected { .. }))
        .map(|(entity, ..)| entity)
        .collect();
    let ill: std::collections::HashSet<Entity> = ill.into_iter().collect();
    for (_, id, position, mut health) in &mut people {
        if *health != Health::Susceptible {
            continue;
        }
        // Where people were at the exchange, so that owners and ghosts are seen alike.
        let here = [f64::from(*position.x), f64::from(*position.y), 0.0];
        let caught = order.within(here, 1.5).iter().any(|other| {
            let is_ill = ill.contains(&other.entity)
                || ghosts.get(other.entity).is_ok_and(|health| matches!(health, Health::Infected { .. }));
            is_ill && unit(3 + frame.0, id.0, other.id.0) < 0.08
        });
        if caught || visited.contains(id) {
            *health = Health::Infected { left: 20 };
        }
    }
}

/// Some infected people visit a person far away, by the number of that person.
fn travel(
    frame: Res<Frame>,
    mut outbox: ResMut<Outbox>,
    people: Query<(&GlobalId, &Health), Without<Ghost>>,
) {
    for (id, health) in &people {
        if matches!(health, Health::Infected { .. }) && draw(5, id.0, frame.0).is_multiple_of(40) {
            let to = GlobalId(draw(6, id.0, frame.0) % 200);
            outbox.send(*id, To::Owner(to), &Visit { to });
        }
    }
}

/// People recover, or die; a recovered person may have a child.
fn course(
    frame: Res<Frame>,
    mut people: Query<(Entity, &GlobalId, &Position, &mut Health), Without<Ghost>>,
    mut commands: Commands,
) {
    for (entity, id, position, mut health) in &mut people {
        let Health::Infected { left } = &mut *health else { continue };
        *left -= 1;
        if *left > 0 {
            continue;
        }
        let fate = draw(7, id.0, frame.0) % 10;
        if fate == 0 {
            commands.entity(entity).despawn();
            continue;
        }
        *health = Health::Recovered;
        for nth in 0..u32::from(fate < 5) + u32::from(fate < 3) {
            let place = Position { x: *position.x, y: *position.y };
            let speed = Velocity { x: unit(8, id.0, nth.into()) - 0.5, y: unit(9, id.0, nth.into()) - 0.5 };
            commands.spawn((Newborn { parent: *id, nth }, place, speed, Health::Susceptible));
        }
    }
}

/// One line for the state of all ranks: equal lines, equal worlds.
pub fn summary<T: Transport>(
    cluster: &mut Cluster<T>,
    world: &World,
) -> Result<String, phalanx_mpi::ClusterError> {
    let xs: Vec<f64> = world
        .view_filtered::<&Position, (With<GlobalId>, Without<Ghost>)>()
        .iter()
        .map(|position| f64::from(*position.x))
        .collect();
    let digest = cluster.digest(world)?;
    let (sum, least) = (cluster.sum(xs.iter().copied())?, cluster.min(xs.iter().copied())?);
    let (most, parts) = (cluster.max(xs.iter().copied())?, cluster.histogram(xs, 0.0, SIDE.into(), 4)?);
    Ok(format!("digest {digest:016x} sum {sum:?} min {least:?} max {most:?} parts {parts:?}"))
}
