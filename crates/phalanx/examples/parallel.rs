//! Threads: systems that use different columns overlap, and the result does not depend on how many threads there are.
//!
//! Run with `cargo run --release -p phalanx --example parallel`.

use std::time::Instant;

use phalanx::prelude::*;

#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct State {
    x: f32,
    y: f32,
}

/// Some work per value.
fn stir(value: &mut f32) {
    for _ in 0..20 {
        *value = (*value * 1.7).sin() + 0.1;
    }
}

fn stir_x(mut all: Query<&mut state::x>) {
    all.iter_mut().for_each(stir);
}
fn stir_y(mut all: Query<&mut state::y>) {
    all.par_iter_mut().for_each(stir); // several threads inside one system
}

fn run(threads: Threads) -> u64 {
    let mut app = App::new();
    app.configure(AppConfig { threads, ..Default::default() });
    app.world_mut().spawn_batch((0..50_000).map(|n| State { x: n as f32, y: 0.5 }));
    app.add_systems(Update, (stir_x, stir_y));
    let start = Instant::now();
    (0..10).for_each(|_| app.step(0.1));
    println!("{threads:?}: {:?}", start.elapsed());
    let bits = |state: StateRef<'_>| u64::from(state.x.to_bits()) ^ (u64::from(state.y.to_bits()) << 32);
    app.world().view::<&State>().into_iter().fold(0, |hash: u64, state| hash.rotate_left(5) ^ bits(state))
}

fn main() {
    let one = run(Threads::Serial);
    assert_eq!(one, run(Threads::N(2)));
    assert_eq!(one, run(Threads::Auto));
    println!("the same {one:016x} each time");
}
