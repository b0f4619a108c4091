//! A small app that runs frames on a thread of its own until the test ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use phalanx::prelude::*;
use phalanx_inspect::{Inspector, InspectorAddress};

use crate::client::Address;

#[derive(Component, Clone, Debug, Default)]
#[component(layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Debug, Default)]
pub struct Velocity(pub f32, pub f32);

#[derive(Component, Clone, Debug, Default)]
pub struct Health {
    pub hp: i32,
    pub armour: [u8; 2],
}

/// Numbers that a browser would round.
#[derive(Component, Clone, Debug, Default)]
pub struct Serial {
    pub number: u64,
    pub offset: i64,
}

#[derive(Component, Clone, Debug, Default)]
#[component(storage = "sparse")]
pub struct Frozen;

#[derive(Component, Clone, Debug, Default)]
pub struct Name(pub String);

#[derive(Component, Clone)]
pub struct Opaque(#[allow(dead_code, reason = "it cannot be read")] Vec<u8>);

#[derive(Component, Clone)]
pub struct Angry;

impl std::fmt::Debug for Shy {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("this text is not for you")
    }
}

/// Its text panics.
#[derive(Component, Clone)]
pub enum Shy {
    Very,
}

pub fn walk(mut all: Query<(&mut Position, &Velocity), Without<Frozen>>) {
    for (position, velocity) in &mut all {
        *position.x += velocity.0;
        *position.y += velocity.1;
    }
}

pub fn heal(mut all: Query<&mut Health>) {
    for mut health in &mut all {
        health.hp = health.hp.min(100);
    }
}

pub fn never(_: Query<&Position>) {}

/// Makes no entity, but might: what it asks for is done at the next sync point.
pub fn recruit(_: Commands, _: Query<&Health>) {}

/// Reads what `recruit` may have made.
pub fn count_recruits(_: Query<&Health>) {}

/// Shares nothing with `count_recruits`.
pub fn sing(_: Query<&Name>) {}

fn at_no_time() -> bool {
    false
}

/// An app on its thread.
pub struct Running {
    pub address: Address,
    pub frames: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Runs an app with these entities.
    pub fn with(inspector: Inspector, set_up: impl FnOnce(&mut World) + Send + 'static) -> Self {
        Self::with_app(inspector, |app| set_up(app.world_mut()))
    }

    /// Runs an app with more systems than the usual ones.
    pub fn with_app(inspector: Inspector, set_up: impl FnOnce(&mut App) + Send + 'static) -> Self {
        let (send, receive) = channel();
        let (stop, frames) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopping, counted) = (Arc::clone(&stop), Arc::clone(&frames));
        let thread = std::thread::spawn(move || {
            let mut app = App::new();
            app.add_plugins(inspector.quiet().in_release(true));
            app.add_systems(Update, (walk, heal.after(walk), never.run_if(at_no_time)));
            set_up(&mut app);
            let address = app.world().resource::<InspectorAddress>().0.clone();
            send.send(address).expect("the test waits");
            while !stopping.load(Ordering::Relaxed) {
                app.update();
                counted.store(app.world().resource::<Time>().frame(), Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
            app.world().check().expect("the world is consistent");
        });
        let address = Address::of(&receive.recv().expect("the app starts"));
        Self { address, frames, stop, thread: Some(thread) }
    }

    /// Runs an app with some entities of each kind.
    pub fn start(inspector: Inspector) -> Self {
        Self::with(inspector, |world| {
            for n in 0..10_i16 {
                let (position, velocity) = (Position { x: n.into(), y: 0.0 }, Velocity(0.0, 0.0));
                world.spawn((position, velocity, Health { hp: i32::from(n) * 10, armour: [1, 2] }));
            }
            world.spawn((Position::default(), Frozen, Name("<img src=x onerror=alert(1)>".to_owned())));
            world.spawn(Opaque(vec![1]));
            world.spawn(Shy::Very);
            world.spawn_empty();
            world.register_component::<Angry>();
        })
    }

    pub fn frame(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Waits until some more frames have run.
    pub fn wait_frames(&self, more: u64) {
        let goal = self.frame() + more;
        while self.frame() < goal {
            std::thread::yield_now();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "the app panicked");
        }
    }
}
