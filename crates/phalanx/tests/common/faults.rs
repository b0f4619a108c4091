//! Panics injected at every place of an operation, one after the other.
//!
//! [`inject`] runs an operation on ever new worlds, with a panic at the first event, the second, and so on,
//! until the operation gets through. After each run it checks what must hold whatever panicked: the panic is
//! passed on, nothing is dropped twice, the world's own check passes, the world can be used, and once it is
//! gone nothing has leaked. What the operation itself promises, the test says.
#![allow(dead_code, reason = "each test file uses a part")]

use phalanx::prelude::{Component, World};

use super::ledger::{Event, Ledger, panic_of};

/// How a run of an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// It panicked at this event, counted from 1.
    Panicked(usize),
    /// It got through.
    Finished,
}

/// Runs `operate` with a panic at each `event` in turn, and returns at how many there was one.
///
/// `arrange` prepares the world, undisturbed; `verdict` says what must hold of it after the operation.
#[track_caller]
pub fn inject<S>(
    event: Event,
    arrange: impl Fn(&mut World) -> S,
    operate: impl Fn(&mut World, &S),
    verdict: impl Fn(&World, &S, Run),
) -> usize {
    let faults = Faults { event, arrange: &arrange, operate: &operate, verdict: &verdict };
    (1..1_000).find(|&n| faults.run(n) == Run::Finished).expect("an operation meets few events") - 1
}

/// An operation and what surrounds it, behind references so that each is compiled once.
struct Faults<'t, S> {
    event: Event,
    arrange: &'t dyn Fn(&mut World) -> S,
    operate: &'t dyn Fn(&mut World, &S),
    verdict: &'t dyn Fn(&World, &S, Run),
}

impl<S> Faults<'_, S> {
    /// Runs the operation in a world of its own, with a panic at the `n`-th event.
    #[track_caller]
    fn run(&self, n: usize) -> Run {
        let ledger = Ledger::open();
        let mut world = World::new();
        let scene = (self.arrange)(&mut world);
        ledger.plan(self.event, n);
        let panic = panic_of(|| (self.operate)(&mut world, &scene));
        let fired = ledger.call_off();
        let run = if fired { Run::Panicked(n) } else { Run::Finished };
        let expected = fired.then(|| format!("planned at {:?}", self.event));
        assert_eq!(panic, expected, "{run:?}: the planned panic, and no other, is passed on");
        ledger.nothing_dropped_twice();
        world.check().unwrap_or_else(|fault| panic!("{run:?}: {fault}"));
        (self.verdict)(&world, &scene, run);
        is_usable(&mut world);
        drop(world);
        drop(scene);
        ledger.all_dropped_once();
        run
    }
}

#[derive(Component, Debug, PartialEq)]
struct Probe(u64);

#[derive(Component, Debug, PartialEq)]
struct Mark;

/// Fails unless the world still does all that one expects of a world.
#[track_caller]
pub fn is_usable(world: &mut World) {
    let before = world.entities().len();
    let e = world.spawn(Probe(7)).id();
    let others: Vec<_> = world.spawn_batch((0..20).map(|n| (Probe(n), Mark))).collect();
    assert_eq!(world.get::<Probe>(e), Some(&Probe(7)));
    world.entity_mut(e).insert((Mark, Probe(8)));
    assert_eq!(world.get::<Probe>(e), Some(&Probe(8)));
    assert_eq!(world.entity_mut(e).take::<Probe>(), Some(Probe(8)));
    assert_eq!((world.get::<Probe>(e), world.get::<Mark>(e)), (None, Some(&Mark)));
    assert!(world.despawn(e) && !world.contains(e));
    assert_eq!(world.despawn_batch(others), 20);
    assert_eq!(world.entities().len(), before);
    world.check().unwrap_or_else(|fault| panic!("after use: {fault}"));
}
