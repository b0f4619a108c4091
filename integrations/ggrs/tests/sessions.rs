//! A battle under rollback: ggrs' own test of determinism, and two peers over UDP.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use ggrs::{
    Config, DesyncDetection, Frame, GgrsEvent, GgrsRequest, InputStatus, P2PSession, PlayerType,
    PredictRepeatLast, SessionBuilder, SessionState, UdpNonBlockingSocket,
};
use phalanx::prelude::*;
use phalanx::world::Difference;
use phalanx_ggrs::{Rollback, SavedFrame};

#[derive(Debug)]
struct Battle;
impl Config for Battle {
    type Input = u8;
    type InputPredictor = PredictRepeatLast;
    type State = SavedFrame;
    type Address = SocketAddr;
}

/// The inputs of the frame that runs. Sessions keep them, so checkpoints need not.
#[derive(Resource, Default)]
#[resource(checkpoint = "skip", digest = "skip")]
struct Inputs(Vec<u8>);

#[derive(Resource, Clone, Default, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}

#[derive(Component, Clone, Copy, Debug)]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy, Debug)]
struct Fighter {
    side: u8,
    health: f32,
}

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse")]
struct Burning(u8);

#[derive(Component, Clone)]
struct Weak;

#[derive(Message, Clone, Debug)]
struct Hit {
    who: Entity,
    by: f32,
}

const FIGHTERS: u16 = 1000;

fn march(inputs: Res<Inputs>, mut dice: ResMut<Dice>, mut all: Query<(&mut Position, &Fighter)>) {
    for (mut position, fighter) in &mut all {
        let input = inputs.0.get(usize::from(fighter.side)).copied().unwrap_or_default();
        position.x += f32::from(input & 3) * 0.1 + dice.roll() - 0.5;
        position.y = (position.y + f32::from(input >> 2) * 0.01) * 0.999;
    }
}

fn strike(mut dice: ResMut<Dice>, all: Query<Entity, With<Fighter>>, mut hits: MessageWriter<Hit>) {
    for who in &all {
        if dice.roll() > 0.98 {
            hits.write(Hit { who, by: dice.roll() * 40.0 });
        }
    }
}

fn suffer(mut hits: MessageReader<Hit>, mut all: Query<&mut Fighter>, mut commands: Commands) {
    for hit in hits.read() {
        let Ok(mut fighter) = all.get_mut(hit.who) else { continue };
        fighter.health -= hit.by;
        if fighter.health < 30.0 {
            commands.entity(hit.who).insert((Weak, Burning(20)));
        }
    }
}

fn burn(mut all: Query<(Entity, &mut Burning, &mut Fighter)>, mut commands: Commands) {
    for (entity, mut burning, mut fighter) in &mut all {
        burning.0 -= 1;
        fighter.health -= 0.5;
        if burning.0 == 0 {
            commands.entity(entity).remove::<(Burning, Weak)>();
        }
    }
}

fn bury(all: Query<(Entity, &Fighter)>, mut commands: Commands, mut dead: Local<u32>) {
    for (entity, fighter) in &all {
        if fighter.health <= 0.0 {
            commands.entity(entity).despawn();
            *dead += 1;
            let position = Position { x: 0.0, y: *dead as f32 };
            commands.spawn((position, Fighter { side: (*dead % 2) as u8, health: 100.0 }));
        }
    }
}

fn battle() -> App {
    let mut app = App::new();
    app.init_resource::<Inputs>().init_resource::<Dice>();
    for n in 0..FIGHTERS {
        let fighter = Fighter { side: (n % 2) as u8, health: 50.0 + f32::from(n % 50) };
        app.world_mut().spawn((Position { x: f32::from(n), y: 0.0 }, fighter));
    }
    app.add_systems(Update, (march, strike, suffer, burn, bury).chain());
    app.startup();
    app
}

fn rollback() -> Rollback<impl FnMut(&mut App, &[(u8, InputStatus)])> {
    Rollback::new(1.0 / 60.0, |app: &mut App, inputs: &[(u8, InputStatus)]| {
        app.world_mut().resource_mut::<Inputs>().0 = inputs.iter().map(|(input, _)| *input).collect();
    })
}

fn input(player: usize, frame: u32) -> u8 {
    (frame.wrapping_mul(2654435761).rotate_left(player as u32 * 7) >> 28) as u8
}

#[test]
fn ten_thousand_frames_with_a_rollback_of_eight_never_part() {
    let frames: u32 =
        std::env::var("PHALANX_GGRS_FRAMES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let mut session = SessionBuilder::<Battle>::new()
        .with_num_players(2)
        .expect("two players")
        .with_check_distance(8)
        .with_max_prediction_window(9)
        .start_synctest_session()
        .expect("valid settings");
    let (mut app, mut rollback) = (battle(), rollback());
    for frame in 0..frames {
        for player in 0..2 {
            session.add_local_input(player, input(player, frame)).expect("a player");
        }
        let requests = session.advance_frame().expect("no frame gives another state when it is run again");
        rollback.handle(&mut app, requests);
    }
    assert!(rollback.loads > u64::from(frames) - 20 && rollback.frames > 8 * u64::from(frames) - 200);
    app.world().check().expect("whole");
}

#[test]
fn a_desync_is_noticed_and_its_system_is_named() {
    fn careless(mut all: Query<&mut Position>) {
        static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let runs = RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if let Some(mut position) = all.iter_mut().next() {
            position.y += runs as f32;
        }
    }
    let mut app = battle();
    app.add_systems(Update, careless.after(bury));
    let mut session = SessionBuilder::<Battle>::new()
        .with_num_players(2)
        .expect("two players")
        .with_check_distance(8)
        .with_max_prediction_window(9)
        .start_synctest_session()
        .expect("valid settings");
    let mut rollback = rollback();
    let parted = (0..50).any(|frame| {
        for player in 0..2 {
            session.add_local_input(player, input(player, frame)).expect("a player");
        }
        match session.advance_frame() {
            Ok(requests) => {
                rollback.handle(&mut app, requests);
                false
            }
            Err(_) => true,
        }
    });
    assert!(parted, "ggrs compares the digests");
    let found = app.check_determinism(3, 1.0 / 60.0).expect_err("the system is still there");
    assert!(found.system.contains("careless"), "{found}");
    assert_eq!(found.difference.as_ref().map(|difference| difference.field.as_str()), Some("y"), "{found}");
}

struct Peer {
    session: P2PSession<Battle>,
    app: App,
    frame: u32,
    player: usize,
    /// The state at the begin of each frame, as it was saved last.
    saved: BTreeMap<Frame, SavedFrame>,
    /// Up to this frame the saved states are of inputs that both players have sent.
    confirmed: Frame,
    desyncs: usize,
}

impl Peer {
    fn new(player: usize, ports: [u16; 2]) -> Self {
        let mut builder = SessionBuilder::<Battle>::new()
            .with_num_players(2)
            .expect("two players")
            .with_max_prediction_window(8)
            .with_desync_detection_mode(DesyncDetection::On { interval: 10 });
        for (at, port) in ports.into_iter().enumerate() {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let kind = if at == player { PlayerType::Local } else { PlayerType::Remote(address) };
            builder = builder.add_player(kind, at).expect("a new player");
        }
        let socket = UdpNonBlockingSocket::bind_to_port(ports[player]).expect("a free port");
        let session = builder.start_p2p_session(socket).expect("valid settings");
        let (saved, confirmed) = (BTreeMap::new(), 0);
        Self { session, app: battle(), frame: 0, player, saved, confirmed, desyncs: 0 }
    }

    /// Runs a frame if the session is ready for one. The other peer gets it late, so it predicts wrongly at times.
    fn step(&mut self, rollback: &mut Rollback<impl FnMut(&mut App, &[(u8, InputStatus)])>, frames: u32) {
        self.session.poll_remote_clients();
        for event in self.session.events() {
            self.desyncs += usize::from(matches!(event, GgrsEvent::DesyncDetected { .. }));
        }
        if self.session.current_state() != SessionState::Running || self.frame >= frames {
            return;
        }
        self.session
            .add_local_input(self.player, input(self.player, self.frame / 5))
            .expect("the local player");
        if let Ok(requests) = self.session.advance_frame() {
            // What the session knew of inputs when it made the requests: all that was predicted wrongly is run again by them.
            self.confirmed = self.session.confirmed_frame();
            let cells = requests.iter().filter_map(|request| match request {
                GgrsRequest::SaveGameState { cell, frame } => Some((*frame, cell.clone())),
                _ => None,
            });
            let cells: Vec<_> = cells.collect();
            rollback.handle(&mut self.app, requests);
            self.frame += 1;
            let states = cells.into_iter().filter_map(|(frame, cell)| Some((frame, cell.load()?)));
            self.saved.extend(states);
        }
    }

    /// Makes the app what it was at the begin of a frame.
    fn go_to(&mut self, frame: Frame) -> &World {
        self.app.restore(&self.saved[&frame]).expect("saved by this app");
        self.app.world()
    }
}

/// Compares all frames that both peers have confirmed: how many there are, and the first in which the worlds differ.
fn compare(one: &mut Peer, other: &mut Peer) -> (usize, Option<(Frame, Difference)>) {
    let last = one.confirmed.min(other.confirmed);
    let common: Vec<Frame> =
        one.saved.keys().copied().filter(|frame| *frame <= last && other.saved.contains_key(frame)).collect();
    for &frame in &common {
        let (left, right) = (one.go_to(frame), other.go_to(frame));
        if left.digest() != right.digest() {
            let difference = left.first_difference(right).expect("digests of equal worlds are equal");
            return (common.len(), Some((frame, difference)));
        }
    }
    // The last one as a whole, so that no digest has to be trusted.
    let difference = common
        .last()
        .and_then(|&frame| Some((frame, one.go_to(frame).first_difference(other.go_to(frame))?)));
    (common.len(), difference)
}

/// Two peers play so many frames; how many states were loaded.
fn play(one: &mut Peer, other: &mut Peer, frames: u32) -> u64 {
    let (mut first, mut second) = (rollback(), rollback());
    let mut turns = 0u32;
    while one.frame < frames || other.frame < frames {
        one.step(&mut first, frames);
        // The other one lags now and then, so that both predict.
        if turns % 7 != 0 {
            other.step(&mut second, frames);
        }
        turns += 1;
        assert!(turns < 200_000, "the peers got to frames {} and {}", one.frame, other.frame);
        std::thread::sleep(Duration::from_micros(200));
    }
    first.loads + second.loads
}

#[test]
fn two_peers_over_loopback_stay_equal() {
    const FRAMES: u32 = 300;
    let ports = [free_port(), free_port()];
    let (mut one, mut other) = (Peer::new(0, ports), Peer::new(1, ports));
    assert!(play(&mut one, &mut other, FRAMES) > 0, "no prediction was ever wrong");
    assert_eq!((one.desyncs, other.desyncs), (0, 0));
    let (frames, difference) = compare(&mut one, &mut other);
    assert!(frames > 200, "{frames} frames were confirmed by both");
    assert!(difference.is_none(), "{difference:?}");
}

#[test]
fn peers_that_part_are_told_where() {
    /// Only one of them has it.
    fn cheat(time: Res<Time>, mut all: Query<&mut Fighter>) {
        if time.frame() == 41
            && let Some(mut fighter) = all.iter_mut().next()
        {
            fighter.health += 0.25;
        }
    }
    let ports = [free_port(), free_port()];
    let (mut one, mut other) = (Peer::new(0, ports), Peer::new(1, ports));
    other.app.add_systems(Update, cheat.after(bury));
    play(&mut one, &mut other, 100);
    assert!(one.desyncs + other.desyncs > 0, "the session notices, too");
    let (frames, difference) = compare(&mut one, &mut other);
    let (frame, difference) = difference.expect("they differ");
    assert!(frames > 60, "{frames} frames were confirmed by both");
    assert!((40..=41).contains(&frame), "frame {frame}: {difference}");
    assert_eq!(difference.field, "health", "{difference}");
}

fn free_port() -> u16 {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().expect("bound").port()
}
