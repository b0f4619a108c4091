//! Several values that panic when they are dropped: one panic comes out, everything is dropped once, nothing aborts.
//!
//! An abort ends the test program, so that this file passes at all is half of what it shows. Each value counts its
//! drops under its own number.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use phalanx::messages::Messages;
use phalanx::prelude::*;

/// How often the value with each number was dropped.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Vec<u32>>>);

impl Ledger {
    fn entry(&self) -> Entry {
        let mut drops = self.0.lock().expect("not poisoned");
        drops.push(0);
        Entry { ledger: self.clone(), number: drops.len() - 1 }
    }

    #[track_caller]
    fn assert_each_dropped_once(&self) {
        let drops = self.0.lock().expect("not poisoned");
        assert!(!drops.is_empty() && drops.iter().all(|&times| times == 1), "{drops:?}");
    }
}

/// Panics when it is dropped.
struct Entry {
    ledger: Ledger,
    number: usize,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ledger.0.lock().expect("not poisoned")[self.number] += 1;
        panic!("number {}", self.number);
    }
}

macro_rules! carriers {
    ($(#[$attribute:meta] $name:ident),*) => { $(
        #[derive(Component)]
        #[$attribute]
        struct $name(#[allow(dead_code, reason = "dropped")] Entry);
    )* };
}

carriers!(
    #[component(storage = "table")]
    A,
    #[component(storage = "table")]
    B,
    #[component(storage = "sparse")]
    Sparse,
    #[component(storage = "sparse", stable)]
    Stable
);

#[derive(Resource)]
struct Kept(Entry);

#[derive(Resource)]
struct KeptToo(Entry);

#[derive(Message)]
struct Told(Entry);

/// Three of each, so that two panic in one column, in two columns of a row, and in sets.
fn filled(ledger: &Ledger) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(world.spawn((A(ledger.entry()), B(ledger.entry()))).id());
        ids.push(world.spawn((A(ledger.entry()), Sparse(ledger.entry()), Stable(ledger.entry()))).id());
        ids.push(world.spawn(Sparse(ledger.entry())).id());
    }
    (world, ids)
}

/// Runs what drops the values: the panic of one of them comes out.
#[track_caller]
fn panics_once(f: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("the first panic is passed on");
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.starts_with("number "), "{text}");
}

#[test]
fn clearing_goes_on_after_each_panic() {
    let ledger = Ledger::default();
    let (mut world, ids) = filled(&ledger);
    panics_once(|| world.clear_entities());
    ledger.assert_each_dropped_once();
    world.check().expect("sound");
    assert!(ids.iter().all(|&id| !world.contains(id)));
    assert_eq!(world.view::<&A>().into_iter().count(), 0);
    assert_eq!(world.view::<&Sparse>().into_iter().count(), 0);
    // The world goes on as before.
    world.spawn_empty();
    drop(world);
    ledger.assert_each_dropped_once();
}

#[test]
fn dropping_a_world_goes_on_after_each_panic() {
    let ledger = Ledger::default();
    let (mut world, _) = filled(&ledger);
    world.insert_resource(Kept(ledger.entry()));
    world.insert_resource(KeptToo(ledger.entry()));
    for _ in 0..3 {
        world.write_message(Told(ledger.entry()));
        world.commands().spawn(A(ledger.entry()));
        let captured = ledger.entry();
        world.commands().queue(move |_: &mut World| drop(captured));
    }
    panics_once(|| drop(world));
    ledger.assert_each_dropped_once();
}

#[test]
fn a_world_that_is_dropped_by_a_panic_passes_none_on() {
    let ledger = Ledger::default();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let (mut world, _) = filled(&ledger);
        world.insert_resource(Kept(ledger.entry()));
        world.write_message(Told(ledger.entry()));
        world.commands().spawn(A(ledger.entry()));
        panic!("the first");
    }));
    assert_eq!(outcome.expect_err("a panic").downcast_ref(), Some(&"the first"));
    ledger.assert_each_dropped_once();
}

#[test]
fn many_that_go_at_once_go_all() {
    let ledger = Ledger::default();
    let (mut world, ids) = filled(&ledger);
    panics_once(|| {
        world.despawn(ids[0]);
    });
    let archetype = world.archetype_of(ids[3]).expect("alive");
    panics_once(|| {
        world.remove_from_archetype::<(A, B)>(archetype);
    });
    assert!(world.contains(ids[3]) && world.get::<A>(ids[3]).is_none());
    panics_once(|| world.clear_entities());
    world.check().expect("sound");
    ledger.assert_each_dropped_once();
}

#[test]
fn messages_that_expire_go_all() {
    let ledger = Ledger::default();
    let mut messages = Messages::<Told>::new();
    messages.write_batch((0..3).map(|_| Told(ledger.entry())));
    // They live to the end of the next frame.
    panics_once(|| (0..2).for_each(|_| messages.update()));
    messages.write_batch((0..3).map(|_| Told(ledger.entry())));
    panics_once(|| messages.clear());
    assert!(messages.is_empty());
    drop(messages);
    ledger.assert_each_dropped_once();
}
