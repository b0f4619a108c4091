//! A duel with rollback: the other player's input arrives late, so it is guessed, and a wrong guess is taken back.
//!
//! Two ships turn, thrust and shoot. One player sits here, the other's input comes some frames later, over a line that is
//! simulated. The game does not wait: it repeats the last known input, keeps a checkpoint of each frame, and where the
//! guess was wrong it restores the frame before and runs the frames since again. In the end a game that knew all inputs
//! from the start has the same digest. Everything is counted in whole numbers, so that every machine agrees.
//!
//! Over a real network the sessions of ggrs do this bookkeeping: `integrations/ggrs` connects them. Run with
//! `cargo run --example rollback`; `-- 12 7` asks for a delay of up to 12 frames and for the seed 7.

#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use std::collections::VecDeque;

use phalanx::app::AppCheckpoint;
use phalanx::prelude::*;

const FRAMES: usize = 600;
const FIELD: i32 = 40_000;
const SPEED_OF_SHOTS: i32 = 700;
const HIT: i32 = 900;

/// What a player holds down in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Input {
    turn: i32,
    thrust: bool,
    fire: bool,
}

/// The inputs of the frame that runs. The only thing that enters the game from outside.
#[derive(Resource, Clone, Copy, Debug, Default, Hash)]
struct Inputs([Input; 2]);

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Score([u32; 2]);

#[derive(Component, Clone, Copy, Debug, Default, Hash)]
struct Position {
    x: i32,
    y: i32,
}

#[derive(Component, Clone, Copy, Debug, Default, Hash)]
struct Velocity {
    x: i32,
    y: i32,
}

/// A ship heads in one of 16 directions and reloads after each shot.
#[derive(Component, Clone, Copy, Debug, Hash)]
struct Ship {
    player: usize,
    heading: i32,
    reload: u32,
}

#[derive(Component, Clone, Copy, Debug, Hash)]
struct Shot {
    player: usize,
    frames_left: u32,
}

/// A ship that was hit cannot be hit again for a while. It comes and goes, so it lives in a sparse set.
#[derive(Component, Clone, Copy, Debug, Hash)]
#[component(storage = "sparse")]
struct Shielded {
    frames_left: u32,
}

/// The direction of a heading, 1,000 long, without floating point.
fn direction(heading: i32) -> (i32, i32) {
    const QUARTER: [i32; 5] = [0, 383, 707, 924, 1000];
    let heading = heading.rem_euclid(16) as usize;
    let (quarter, rest) = (heading / 4, heading % 4);
    let (along, across) = (QUARTER[4 - rest], QUARTER[rest]);
    match quarter {
        0 => (along, across),
        1 => (-across, along),
        2 => (-along, -across),
        _ => (across, -along),
    }
}

fn steer(
    inputs: Res<Inputs>,
    mut ships: Query<(&mut Ship, &Position, &mut Velocity)>,
    mut commands: Commands,
) {
    for (mut ship, position, mut velocity) in &mut ships {
        let input = inputs.0[ship.player];
        ship.heading = (ship.heading + input.turn).rem_euclid(16);
        let (x, y) = direction(ship.heading);
        if input.thrust {
            velocity.x = (velocity.x + x / 40).clamp(-400, 400);
            velocity.y = (velocity.y + y / 40).clamp(-400, 400);
        }
        ship.reload = ship.reload.saturating_sub(1);
        if input.fire && ship.reload == 0 {
            ship.reload = 15;
            let aim = Velocity { x: x * SPEED_OF_SHOTS / 1000, y: y * SPEED_OF_SHOTS / 1000 };
            commands.spawn((*position, aim, Shot { player: ship.player, frames_left: 60 }));
        }
    }
}

fn fly(mut all: Query<(&mut Position, &Velocity)>) {
    for (mut position, velocity) in &mut all {
        position.x = (position.x + velocity.x).rem_euclid(FIELD);
        position.y = (position.y + velocity.y).rem_euclid(FIELD);
    }
}

fn hit(
    shots: Query<(Entity, &Shot, &Position)>,
    ships: Query<(Entity, &Ship, &Position), Without<Shielded>>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    for (ship_entity, ship, at) in &ships {
        let near = |position: &Position| (position.x - at.x).abs() < HIT && (position.y - at.y).abs() < HIT;
        let struck = shots.iter().find(|(_, shot, position)| shot.player != ship.player && near(position));
        if let Some((shot_entity, shot, _)) = struck {
            score.0[shot.player] += 1;
            commands.entity(shot_entity).despawn();
            commands.entity(ship_entity).insert(Shielded { frames_left: 30 });
        }
    }
}

fn expire(
    mut shots: Query<(Entity, &mut Shot)>,
    mut shields: Query<(Entity, &mut Shielded)>,
    mut commands: Commands,
) {
    for (entity, mut shot) in &mut shots {
        shot.frames_left -= 1;
        if shot.frames_left == 0 {
            commands.entity(entity).despawn();
        }
    }
    for (entity, mut shield) in &mut shields {
        shield.frames_left -= 1;
        if shield.frames_left == 0 {
            commands.entity(entity).remove::<Shielded>();
        }
    }
}

fn game() -> App {
    let mut app = App::new();
    app.init_resource::<Inputs>().init_resource::<Score>();
    app.add_systems(Update, (steer, fly, hit, expire).chain());
    for player in 0..2 {
        let side = if player == 0 { 1 } else { 3 };
        app.world_mut().spawn((
            Ship { player, heading: if player == 0 { 0 } else { 8 }, reload: 0 },
            Position { x: FIELD / 4 * side, y: FIELD / 2 },
            Velocity::default(),
        ));
    }
    app
}

fn frame(app: &mut App, inputs: [Input; 2]) {
    app.world_mut().resource_mut::<Inputs>().0 = inputs;
    app.step(1.0 / 60.0);
}

/// A small generator, for players that press keys and a line that is late.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Keys are held for some frames.
    fn inputs(&mut self) -> Vec<Input> {
        let mut all = Vec::new();
        while all.len() < FRAMES {
            let turn = [-1, 0, 0, 1][self.below(4) as usize];
            let input = Input { turn, thrust: self.below(3) > 0, fire: self.below(2) > 0 };
            all.extend(std::iter::repeat_n(input, 2 + self.below(9) as usize));
        }
        all.truncate(FRAMES);
        all
    }
}

/// The game as one player sees it: own input at once, the other's as far as it has arrived.
struct Session {
    app: App,
    /// The state before each frame that is not confirmed yet, and the guess made for it.
    unconfirmed: VecDeque<(AppCheckpoint, [Input; 2])>,
    last_known: Input,
    rollbacks: usize,
    run_again: usize,
}

impl Session {
    fn advance(&mut self, own: Input) {
        let inputs = [own, self.last_known];
        self.unconfirmed.push_back((self.app.checkpoint(), inputs));
        frame(&mut self.app, inputs);
    }

    /// What the other player did in the oldest frame that is not confirmed.
    fn arrives(&mut self, input: Input) {
        self.last_known = input;
        let (before, guess) = self.unconfirmed.pop_front().expect("only frames that ran are told");
        if guess[1] == input {
            return;
        }
        self.rollbacks += 1;
        self.app.restore(&before).expect("the checkpoint is of this app");
        frame(&mut self.app, [guess[0], input]);
        // The frames since, with a better guess.
        for (state, inputs) in &mut self.unconfirmed {
            inputs[1] = input;
            *state = self.app.checkpoint();
            frame(&mut self.app, *inputs);
            self.run_again += 1;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let most_delay = numbers.next().transpose()?.unwrap_or(6).min(60);
    let mut random = Random(numbers.next().transpose()?.unwrap_or(1));
    let (own, other) = (random.inputs(), random.inputs());

    let mut session = Session {
        app: game(),
        unconfirmed: VecDeque::new(),
        last_known: Input::default(),
        rollbacks: 0,
        run_again: 0,
    };
    let mut arrived = 0;
    for (now, &input) in own.iter().enumerate() {
        session.advance(input);
        // The line: in order, never more than so many frames late.
        while arrived <= now && ((now - arrived) as u64 >= most_delay || random.below(3) > 0) {
            session.arrives(other[arrived]);
            arrived += 1;
        }
    }
    other[arrived..].iter().for_each(|&input| session.arrives(input));

    let mut reference = game();
    own.iter().zip(&other).for_each(|(&own, &other)| frame(&mut reference, [own, other]));
    assert_eq!(session.app.world().digest(), reference.world().digest(), "both played the same game");

    let Score([ours, theirs]) = *session.app.world().resource::<Score>();
    println!("{FRAMES} frames with inputs up to {most_delay} frames late: {ours} to {theirs}");
    println!("{} guesses were wrong; {} frames were run again", session.rollbacks, session.run_again);
    println!("the game that knew all inputs ended with the same digest");
    Ok(())
}
