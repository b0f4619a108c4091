//! Random histories of states beside a naive list of what should happen.
//!
//! A root with three values, a sub-state of one of them, and a state computed from both. The naive side knows nothing of
//! schedules: it works out, from what was set since the last frame, which of `OnExit`, `OnTransition` and `OnEnter` run
//! in which order, and which scoped entities are left. `PHALANX_MODEL_STEPS` sets the number of steps.

use std::collections::BTreeMap;

use phalanx::prelude::*;

use super::{Log, log, say};

use crate::common::random::Random;
use crate::common::steps::model_steps;

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Root {
    #[default]
    A,
    B,
    C,
}

#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Root = Root::B | Root::C)]
enum Sub {
    #[default]
    X,
    Y,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sum(u8);

impl ComputedStates for Sum {
    type SourceStates = (Root, Option<Sub>);
    fn compute((root, sub): Self::SourceStates) -> Option<Self> {
        sum(root, sub)
    }
}

fn sum(root: Root, sub: Option<Sub>) -> Option<Sum> {
    match (root, sub) {
        (Root::A, _) => None,
        (root, sub) => Some(Sum(root as u8 + sub.map_or(0, |sub| sub as u8))),
    }
}

const ROOTS: [Root; 3] = [Root::A, Root::B, Root::C];
const SUBS: [Sub; 2] = [Sub::X, Sub::Y];

/// A wish for the next frame: the value, and whether it is entered though it is the same.
type Wish<S> = Option<(S, bool)>;

fn wish<S: PartialEq + Copy>(next: &mut Wish<S>, state: S, again: bool) {
    if again || *next != Some((state, true)) {
        *next = Some((state, again));
    }
}

/// A change: what it was, what it is, and whether it is felt though both are the same.
#[derive(Clone, Copy)]
struct Change<S> {
    from: Option<S>,
    to: Option<S>,
    again: bool,
}

impl<S: PartialEq + Copy + std::fmt::Debug> Change<S> {
    fn is_felt(&self) -> bool {
        self.again || self.from != self.to
    }
    fn exited(&self) -> Option<S> {
        self.from.filter(|_| self.is_felt())
    }
    fn entered(&self) -> Option<S> {
        self.to.filter(|_| self.is_felt())
    }
}

#[derive(Default)]
struct Naive {
    root: Option<Root>,
    sub: Option<Sub>,
    sum: Option<Sum>,
    next_root: Wish<Root>,
    next_sub: Wish<Sub>,
    /// The first value, or one that was inserted, until it is entered.
    inserted: bool,
    /// For each scoped entity, what ends it.
    scoped: BTreeMap<Entity, Scope>,
}

#[derive(Clone, Copy, Debug)]
enum Scope {
    RootExit(Root),
    RootEnter(Root),
    SubExit(Sub),
    SumEnter(Sum),
}

impl Naive {
    /// What happens in a frame.
    fn frame(&mut self) -> Vec<String> {
        let mut root: Option<Change<Root>> = None;
        if std::mem::take(&mut self.inserted) {
            root = Some(Change { from: None, to: self.root, again: true });
        }
        if let (Some((to, again)), Some(from)) = (self.next_root.take(), self.root) {
            root = Some(Change { from: Some(from), to: Some(to), again });
            self.root = Some(to);
        }
        let sub = self.change_sub(root.is_some());
        let mut total: Option<Change<Sum>> = None;
        if root.is_some() || sub.is_some() {
            let to = self.root.and_then(|root| sum(root, self.sub));
            let from = std::mem::replace(&mut self.sum, to);
            total = (from.is_some() || to.is_some()).then_some(Change { from, to, again: false });
        }
        self.end_scopes(root, sub, total);
        let mut told = Vec::new();
        told.extend(total.and_then(|change| change.exited()).map(|of| format!("exit {of:?}")));
        told.extend(sub.and_then(|change| change.exited()).map(|of| format!("exit {of:?}")));
        told.extend(root.and_then(|change| change.exited()).map(|of| format!("exit {of:?}")));
        // Transitions have no order among states, so only those of the root are reported.
        if let Some(Change { from: Some(from), to: Some(to), .. }) = root {
            told.push(format!("{from:?} to {to:?}"));
        }
        told.extend(root.and_then(|change| change.entered()).map(|of| format!("enter {of:?}")));
        told.extend(sub.and_then(|change| change.entered()).map(|of| format!("enter {of:?}")));
        told.extend(total.and_then(|change| change.entered()).map(|of| format!("enter {of:?}")));
        told
    }

    fn change_sub(&mut self, root_changed: bool) -> Option<Change<Sub>> {
        let next = self.next_sub.take();
        if !root_changed && next.is_none() {
            return None;
        }
        let exists = match root_changed {
            true => matches!(self.root, Some(Root::B | Root::C)),
            false => self.sub.is_some(),
        };
        let wanted = next.map(|(state, _)| state).or(self.sub).unwrap_or_default();
        let to = exists.then_some(wanted);
        let from = std::mem::replace(&mut self.sub, to);
        let again = next.is_some_and(|(_, again)| again);
        (from.is_some() || to.is_some()).then_some(Change { from, to, again })
    }

    fn end_scopes(&mut self, root: Option<Change<Root>>, sub: Option<Change<Sub>>, sum: Option<Change<Sum>>) {
        self.scoped.retain(|_, scope| match *scope {
            Scope::RootExit(of) => root.and_then(|change| change.exited()) != Some(of),
            Scope::RootEnter(of) => root.and_then(|change| change.entered()) != Some(of),
            Scope::SubExit(of) => sub.and_then(|change| change.exited()) != Some(of),
            Scope::SumEnter(of) => sum.and_then(|change| change.entered()) != Some(of),
        });
    }
}

fn app() -> App {
    let mut app = super::app();
    app.init_state::<Root>().add_sub_state::<Sub>().add_computed_state::<Sum>();
    for root in ROOTS {
        super::listen(&mut app, root);
        for entered in ROOTS {
            app.add_systems(OnTransition { exited: root, entered }, say(&format!("{root:?} to {entered:?}")));
        }
    }
    SUBS.iter().for_each(|sub| super::listen(&mut app, *sub));
    (0..4).for_each(|number| super::listen(&mut app, Sum(number)));
    app
}

fn spawn(world: &mut World, random: &mut Random, naive: &mut Naive) {
    let (root, sub, sum) =
        (ROOTS[random.below(3)], SUBS[random.below(2)], Sum(u8::try_from(random.below(4)).expect("small")));
    let scope = match random.below(4) {
        0 => Scope::RootExit(root),
        1 => Scope::RootEnter(root),
        2 => Scope::SubExit(sub),
        _ => Scope::SumEnter(sum),
    };
    let mut entity = world.spawn_empty();
    match scope {
        Scope::RootExit(of) => entity.insert(DespawnOnExit(of)),
        Scope::RootEnter(of) => entity.insert(DespawnOnEnter(of)),
        Scope::SubExit(of) => entity.insert(DespawnOnExit(of)),
        Scope::SumEnter(of) => entity.insert(DespawnOnEnter(of)),
    };
    naive.scoped.insert(entity.id(), scope);
}

fn play(seed: u64, steps: usize) {
    let mut random = Random::new(seed);
    let mut app = app();
    let mut naive = Naive { root: Some(Root::A), inserted: true, ..Naive::default() };
    app.startup();
    assert_eq!(log(&mut app), naive.frame(), "seed {seed}, start");
    for step in 0..steps {
        let at = format!("seed {seed}, step {step}");
        let (root, sub) = (ROOTS[random.below(3)], SUBS[random.below(2)]);
        let again = random.below(2) == 0;
        let world = app.world_mut();
        match random.below(12) {
            0..3 => {
                wish(&mut naive.next_root, root, again);
                let mut next = world.resource_mut::<NextState<Root>>();
                if again { next.set(root) } else { next.set_if_different(root) }
            }
            3..6 => {
                wish(&mut naive.next_sub, sub, again);
                let mut next = world.resource_mut::<NextState<Sub>>();
                if again { next.set(sub) } else { next.set_if_different(sub) }
            }
            6 => {
                naive.next_root = None;
                world.resource_mut::<NextState<Root>>().reset();
            }
            7 if random.below(4) == 0 => {
                app.insert_state(root);
                (naive.root, naive.inserted) = (Some(root), true);
            }
            7 | 8 => spawn(world, &mut random, &mut naive),
            _ => {
                app.step(0.01);
                assert_eq!(log(&mut app), naive.frame(), "{at}");
            }
        }
        let world = app.world_mut();
        let of = |world: &World| {
            let root = world.get_resource::<State<Root>>().map(|state| *state.get());
            let sub = world.get_resource::<State<Sub>>().map(|state| *state.get());
            (root, sub, world.get_resource::<State<Sum>>().map(|state| *state.get()))
        };
        assert_eq!(of(world), (naive.root, naive.sub, naive.sum), "{at}");
        let mut alive: Vec<Entity> = world.view::<Entity>().into_iter().collect();
        alive.sort_unstable();
        assert_eq!(alive, naive.scoped.keys().copied().collect::<Vec<_>>(), "{at}");
        assert_eq!(world.check(), Ok(()), "{at}");
    }
    assert!(app.world().contains_resource::<Log>());
}

#[test]
fn random_histories_agree_with_a_naive_list() {
    let steps = model_steps(6_000, 6_000);
    for seed in 0..10 {
        play(seed, steps / 10);
    }
}
