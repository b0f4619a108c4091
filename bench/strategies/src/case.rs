//! The cases: what is done, with how many declared and present components, on how many entities.

use std::hint::black_box;

use phalanx::pool::Handle;
use phalanx::prelude::*;
use phalanx_measuring::cache::evict;
use phalanx_measuring::checksum::of_floats;
use phalanx_measuring::contender::Contender;
use phalanx_measuring::measure::Task;
use phalanx_measuring::random::Random;

use crate::kinds::*;
use crate::subject::{ARCHETYPES, InGeneral, Pooled, ROWS, Subject};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Adds to one component.
    One,
    /// Reads two components, adds to a third.
    Three,
    /// Reads one component where it is, adds to another.
    Optional,
    /// Spawns one by one, in a world that had as many before.
    SpawnEach,
    /// An optional component comes and goes, one call each.
    AddRemove,
    /// Reads one component of entities in random order.
    Random,
    /// Prepares a query that half of the archetypes match.
    Prepare,
    /// Asks the world for a query that it knows.
    Ask,
}

use Pattern::*;

/// The patterns of cases in which all entities have the same components.
pub const UNIFORM: &[Pattern] = &[One, Three, Optional, SpawnEach, AddRemove, Random];
/// The patterns of cases with many archetypes.
pub const SCATTERED: &[Pattern] = &[One, Three, Optional, AddRemove, Random, Prepare, Ask];

impl Pattern {
    /// The pattern in one word.
    pub fn name(self) -> &'static str {
        match self {
            One => "iter_one",
            Three => "iter_three",
            Optional => "iter_optional",
            SpawnEach => "spawn",
            AddRemove => "add_remove",
            Random => "random_get",
            Prepare => "prepare",
            Ask => "ask",
        }
    }

    /// What one run does.
    pub fn about(self) -> &'static str {
        match self {
            One => "iterate one component",
            Three => "iterate three components",
            Optional => "iterate with an optional one",
            SpawnEach => "spawn",
            AddRemove => "add and remove a component",
            Random => "read in random order",
            Prepare => "prepare a query",
            Ask => "ask for a known query",
        }
    }
}

/// What the entities of a case are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All have the same components: so many, of so many declared.
    Uniform { declared: usize, present: usize, size: usize },
    /// 200 archetypes of ten entities; the caches may have been emptied before.
    Scattered { declared: usize, cold: bool },
}

/// Something to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What is done.
    pub pattern: Pattern,
    /// What the entities are like.
    pub layout: Layout,
}

/// Declared components, and how many of them are present: all, half, two.
pub const SHAPES: &[(usize, [usize; 3])] =
    &[(5, [5, 3, 2]), (15, [15, 8, 2]), (30, [30, 15, 2]), (60, [60, 30, 2])];

/// All cases, in the order of the tables.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for &pattern in UNIFORM {
        for &(declared, compositions) in SHAPES {
            for present in compositions {
                for size in [1_000, 100_000] {
                    // No entity with two components has three.
                    if pattern != Three || present > 2 {
                        cases.push(Case { pattern, layout: Layout::Uniform { declared, present, size } });
                    }
                }
            }
        }
    }
    for &pattern in SCATTERED {
        for declared in [15, 60] {
            for cold in [false, true] {
                cases.push(Case { pattern, layout: Layout::Scattered { declared, cold } });
            }
        }
    }
    cases
}

impl Case {
    /// What `--case` takes.
    pub fn name(self) -> String {
        let pattern = self.pattern.name();
        match self.layout {
            Layout::Uniform { declared, present, size } => {
                format!("{pattern}-{present}-of-{declared}-{size}")
            }
            Layout::Scattered { declared, cold } => {
                format!("scattered-{pattern}-{declared}-{}", if cold { "cold" } else { "warm" })
            }
        }
    }

    /// How many items one run handles.
    pub fn items(self) -> usize {
        match (self.pattern, self.layout) {
            (Prepare | Ask, _) => 1,
            (_, Layout::Uniform { size, .. }) => size,
            (Three, Layout::Scattered { .. }) => ARCHETYPES * ROWS / 2,
            (_, Layout::Scattered { .. }) => ARCHETYPES * ROWS,
        }
    }

    /// What the measuring has to know.
    pub fn task(self, name: &str) -> Task<'_> {
        let warm = !matches!(self.layout, Layout::Scattered { cold: true, .. });
        Task { name, items: self.items(), warm, lives: 5 }
    }

    /// General first, then both strategies; where entities are read, also by handle, without and with a reader.
    pub fn contenders(self) -> Vec<Contender> {
        let Self { pattern, layout } = self;
        match layout {
            Layout::Uniform { declared, present, size } => match (declared, present) {
                (5, 5) => uniform::<Loose5, Inline5, Boxed5, 5>(pattern, size),
                (5, 3) => uniform::<Loose3, Inline5, Boxed5, 3>(pattern, size),
                (5, _) => uniform::<Loose2, Inline5, Boxed5, 2>(pattern, size),
                (15, 15) => uniform::<Loose15, Inline15, Boxed15, 15>(pattern, size),
                (15, 8) => uniform::<Loose8, Inline15, Boxed15, 8>(pattern, size),
                (15, _) => uniform::<Loose2, Inline15, Boxed15, 2>(pattern, size),
                (30, 30) => uniform::<Loose30, Inline30, Boxed30, 30>(pattern, size),
                (30, 15) => uniform::<Loose15, Inline30, Boxed30, 15>(pattern, size),
                (30, _) => uniform::<Loose2, Inline30, Boxed30, 2>(pattern, size),
                (_, 60) => uniform::<Loose60, Inline60, Boxed60, 60>(pattern, size),
                (_, 30) => uniform::<Loose30, Inline60, Boxed60, 30>(pattern, size),
                _ => uniform::<Loose2, Inline60, Boxed60, 2>(pattern, size),
            },
            Layout::Scattered { declared: 15, cold } => scattered::<Inline15, Boxed15>(pattern, cold),
            Layout::Scattered { cold, .. } => scattered::<Inline60, Boxed60>(pattern, cold),
        }
    }
}

fn uniform<B: Loose + 'static, I: Kind, X: Kind, const PRESENT: usize>(
    pattern: Pattern,
    size: usize,
) -> Vec<Contender> {
    let (general, inline, boxed) = (
        filled::<InGeneral<B>>(size),
        filled::<Pooled<I, PRESENT>>(size),
        filled::<Pooled<X, PRESENT>>(size),
    );
    let mut lines = vec![
        line::<InGeneral<B>>(pattern, general, false),
        line::<Pooled<I, PRESENT>>(pattern, inline, false),
        line::<Pooled<X, PRESENT>>(pattern, boxed, false),
    ];
    if pattern == Random {
        lines.extend([by_handle::<I>(inline, false), by_handle::<X>(boxed, false)]);
        lines.extend([by_reader::<I>(inline, false), by_reader::<X>(boxed, false)]);
    }
    lines
}

fn scattered<I: Kind, X: Kind>(pattern: Pattern, cold: bool) -> Vec<Contender> {
    let mut lines = vec![
        line::<InGeneral<Loose2>>(pattern, made::<InGeneral<Loose2>>, cold),
        line::<Pooled<I, 2>>(pattern, made::<Pooled<I, 2>>, cold),
        line::<Pooled<X, 2>>(pattern, made::<Pooled<X, 2>>, cold),
    ];
    if pattern == Random {
        let (inline, boxed) = (made::<Pooled<I, 2>>, made::<Pooled<X, 2>>);
        lines.extend([by_handle::<I>(inline, cold), by_handle::<X>(boxed, cold)]);
        lines.extend([by_reader::<I>(inline, cold), by_reader::<X>(boxed, cold)]);
    }
    lines
}

/// A world with its entities.
struct Filled {
    world: World,
    entities: Vec<Entity>,
}

fn filled<S: Subject>(size: usize) -> impl Fn() -> Filled + Copy + 'static {
    move || {
        let mut world = World::new();
        let entities = S::fill(&mut world, size);
        Filled { world, entities }
    }
}

fn made<S: Subject>() -> Filled {
    let mut world = World::new();
    let entities = S::scatter(&mut world);
    Filled { world, entities }
}

fn sum(world: &World) -> u64 {
    of_floats(world.view::<&C0>().iter().map(|c0| c0.0))
}

/// Each entity as often as chance has it, as many in all as there are.
fn shuffled<T: Copy>(all: &[T]) -> Vec<T> {
    let mut random = Random::new(42);
    all.iter().map(|_| all[random.below(all.len())]).collect()
}

/// A contender whose runs follow each other, or each come after the caches were emptied.
fn repeated<T: 'static>(
    name: (&'static str, &'static str),
    cold: bool,
    setup: impl Fn() -> T + Copy + 'static,
    run: impl Fn(&mut T) + Copy + 'static,
    sum: impl Fn(&mut T) -> u64 + Copy + 'static,
) -> Contender {
    if cold {
        Contender::staged(name, setup, |_| evict(), run, sum)
    } else {
        Contender::steady(name, setup, run, sum)
    }
}

fn line<S: Subject>(pattern: Pattern, setup: impl Fn() -> Filled + Copy + 'static, cold: bool) -> Contender {
    let name = (S::NAME, if pattern == Random { "entity" } else { "" });
    match pattern {
        One => repeated(
            name,
            cold,
            move || {
                let Filled { world, .. } = setup();
                let query = world.query_filtered::<&mut C0, S::Filter>();
                (world, query)
            },
            |(world, query)| query.iter_mut(world).for_each(|mut c0| c0.0 += 1.0),
            |(world, _)| sum(world),
        ),
        Three => repeated(
            name,
            cold,
            move || {
                let Filled { world, .. } = setup();
                let query = world.query_filtered::<(&mut C0, &C1, &C2), S::Filter>();
                (world, query)
            },
            |(world, query)| query.iter_mut(world).for_each(|(mut c0, c1, c2)| c0.0 += c1.0 - c2.0),
            |(world, _)| sum(world),
        ),
        Optional => repeated(
            name,
            cold,
            move || {
                let Filled { world, .. } = setup();
                let query = world.query_filtered::<(&mut C0, Option<&C2>), S::Filter>();
                (world, query)
            },
            |(world, query)| {
                query.iter_mut(world).for_each(|(mut c0, c2)| c0.0 += c2.map_or(0.5, |c2| c2.0));
            },
            |(world, _)| sum(world),
        ),
        SpawnEach => Contender::staged(
            name,
            move || {
                let Filled { world, entities } = setup();
                (world, entities.len())
            },
            |(world, _)| world.clear_entities(),
            |(world, size)| S::spawn(world, *size),
            |(world, _)| sum(world),
        ),
        AddRemove => repeated(
            name,
            cold,
            move || {
                let Filled { world, entities } = setup();
                let (with, without): (Vec<Entity>, Vec<Entity>) =
                    entities.into_iter().partition(|&entity| world.get::<C2>(entity).is_some());
                (world, with, without)
            },
            |(world, with, without)| {
                S::remove(world, with);
                S::insert(world, with);
                S::insert(world, without);
                S::remove(world, without);
            },
            |(world, ..)| sum(world),
        ),
        Random => repeated(
            name,
            cold,
            move || {
                let Filled { world, entities } = setup();
                (world, shuffled(&entities), 0)
            },
            |(world, order, sum)| {
                let mut total = 0u64;
                S::read(world, order, |c0| total += u64::from(c0.0.to_bits()));
                *sum = total;
            },
            |(_, _, sum)| *sum,
        ),
        Prepare => repeated(
            name,
            cold,
            move || (setup().world, 0),
            |(world, matched)| {
                let query = world.query_filtered::<(&mut C0, &C2), S::Filter>();
                *matched = black_box(&query).matched_archetypes().count() as u64;
            },
            |(_, matched)| *matched,
        ),
        Ask => repeated(
            name,
            cold,
            move || (setup().world, 0),
            |(world, found)| {
                let query = world.view_filtered_mut::<(&mut C0, &C2), S::Filter>();
                *found = u64::from(!black_box(query).is_empty());
            },
            |(_, found)| *found,
        ),
    }
}

/// A world, and handles to its entities in random order.
fn handles<P: Kind>(setup: impl Fn() -> Filled) -> (World, Vec<Handle<P>>, u64) {
    let Filled { world, entities } = setup();
    let handle = |&entity: &Entity| world.pool::<P>().handle(entity).expect("alive");
    let order = shuffled(&entities.iter().map(handle).collect::<Vec<_>>());
    (world, order, 0)
}

fn by_handle<P: Kind>(setup: impl Fn() -> Filled + Copy + 'static, cold: bool) -> Contender {
    repeated(
        (P::NAME, "handle"),
        cold,
        move || handles::<P>(setup),
        |(world, order, sum)| {
            let pool = world.pool::<P>();
            let get = |handle| u64::from(pool.get::<C0>(handle).expect("alive").0.to_bits());
            *sum = order.iter_mut().map(get).sum();
        },
        |(_, _, sum)| *sum,
    )
}

fn by_reader<P: Kind>(setup: impl Fn() -> Filled + Copy + 'static, cold: bool) -> Contender {
    repeated(
        (P::NAME, "reader"),
        cold,
        move || handles::<P>(setup),
        |(world, order, sum)| {
            let reader = world.pool::<P>().reader::<C0>();
            let get = |handle| u64::from(reader.get(handle).expect("alive").0.to_bits());
            *sum = order.iter_mut().map(get).sum();
        },
        |(_, _, sum)| *sum,
    )
}
