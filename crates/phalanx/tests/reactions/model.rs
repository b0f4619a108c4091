//! Random histories with hooks and observers that come and go on the way, compared with a naive world.
//!
//! The naive world knows which components an entity has, and works out what has to be announced from what it had
//! before, what it has afterwards, and what got a value: lifecycle events, and entities that begin or cease to match.
//! Hooks and observers write down what they get and the values that they can read; some observers queue commands, which
//! are foreseen as well, some panic, some are called once for a run, run under a condition, or before or after others.
//! Beside them there are groups, reactive sets and readers of removals.
//!
//! `model/naive` has the components, `model/listeners` hooks and observers, `model/expected` what they have to get, and
//! `model/steps` what is done.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;

use crate::random::Random;
use crate::steps::model_steps;
use expected::{Readers, Step};
use listeners::{Event, Grouped, Heard, Observing, Open, PANIC, Trace, matches};
use naive::{A, B, C, D, Naive, PARTS, S, T, Tag, value};

#[macro_use]
#[path = "model/naive.rs"]
mod naive;

#[path = "model/expected.rs"]
mod expected;
#[path = "model/listeners.rs"]
mod listeners;
#[path = "model/steps.rs"]
mod steps;

struct Pair {
    world: World,
    naive: BTreeMap<Entity, Naive>,
    /// The hooks, and whether they panic.
    hooked: BTreeMap<(usize, Event), bool>,
    /// In the order of registration.
    observing: Vec<Observing>,
    /// In the order in which they run.
    order: Vec<Observing>,
    open: bool,
    /// What handlers panicked with, as the error handler gets it.
    panics: Arc<AtomicU32>,
    expected_panics: u32,
    readers: Option<Readers>,
    numbers: u32,
    expected: Vec<Heard>,
    /// What observers queue, one list per round of announcements that is not complete.
    rounds: Vec<Vec<(Entity, Step)>>,
    trace: Trace,
    random: Random,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let mut world = World::new();
        world.register_component::<A>();
        world.register_bundle::<(A, B, C, D, S, T, Tag)>().expect("the components differ");
        world.init_resource::<Trace>();
        let trace = world.resource::<Trace>().clone();
        world.insert_resource(Open(true));
        let panics = Arc::<AtomicU32>::default();
        let told = panics.clone();
        world.set_error_handler(move |_: &mut World, error: phalanx::world::SystemError| {
            if error.to_string().contains(PANIC) {
                told.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Some worlds have them from the start, some never: without them more paths have no listener.
        if seed.is_multiple_of(3) {
            let group = world.group::<Own<(S,)>, Get<(T,)>, ()>().expect("no group owns it");
            world.insert_resource(Grouped(group));
        }
        let readers = (seed % 2 == 1).then(|| Readers::new(&mut world));
        let mut pair = Self {
            world,
            naive: BTreeMap::new(),
            hooked: BTreeMap::new(),
            observing: Vec::new(),
            order: Vec::new(),
            open: true,
            panics,
            expected_panics: 0,
            readers,
            numbers: 0,
            expected: Vec::new(),
            rounds: Vec::new(),
            trace,
            random: Random::new(seed),
        };
        for at in 0..seed % 16 {
            if at % 3 == 0 { pair.hook() } else { pair.observe(1) }
        }
        pair
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.random.below(end as usize)).expect("it is below a u32")
    }

    fn entity(&mut self) -> Option<Entity> {
        let at = self.below(u32::try_from(self.naive.len()).expect("few entities").max(1)) as usize;
        self.naive.keys().nth(at).copied()
    }

    fn compare(&mut self) {
        self.world.check().expect("the world is whole");
        let heard = self.trace.take();
        let expected = std::mem::take(&mut self.expected);
        assert_eq!(heard, expected);
        assert_eq!(self.panics.load(Ordering::Relaxed), self.expected_panics, "each panic is told once");
        if let Some(Grouped(group)) = self.world.get_resource::<Grouped>() {
            let members: BTreeSet<Entity> = group.entities(&self.world).iter().copied().collect();
            let pairs = self.naive.iter().filter(|(_, naive)| matches(1, &naive.parts));
            assert_eq!(members, pairs.map(|(&entity, _)| entity).collect());
            assert_eq!(members.len(), group.len(&self.world));
        }
        assert_eq!(self.world.entities().len(), self.naive.len());
        for (&entity, naive) in &self.naive {
            for part in 0..PARTS {
                assert_eq!(
                    value(&self.world, entity, part),
                    naive.parts.get(&part).copied(),
                    "{part} of {entity}"
                );
            }
        }
    }
}

#[test]
fn hooks_and_observers_hear_what_a_naive_world_works_out() {
    let steps = model_steps(1_500, 4_500) as u64;
    for seed in 0..steps.div_ceil(300) {
        let mut pair = Pair::new(seed);
        for step in 0..300 {
            let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pair.step();
                pair.compare();
            }));
            if let Err(panic) = seen {
                eprintln!("seed {seed}, step {step}");
                resume_unwind(panic);
            }
        }
    }
}
