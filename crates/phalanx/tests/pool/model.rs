//! Random histories over pools of both strategies agree with a naive world of ordered maps.
//!
//! Spawning, inserting, removing, taking, migrating, commands in both orders, batches, whole archetypes and
//! dropped archetypes: each step is done to both worlds, the real one checks itself, and both are compared.
//! `PHALANX_MODEL_STEPS` sets the number of steps. A failure tells its seed and step.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::random::Random;
use crate::common::steps::model_steps;
use phalanx::prelude::*;
use phalanx::world::ChangeError;

#[derive(Component, Clone, Debug, PartialEq)]
struct A(u64);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
struct S {
    x: u64,
    y: String,
}
#[derive(Component, Clone, Debug, PartialEq)]
struct N(String);
#[derive(Component, Clone, Debug, PartialEq)]
struct T;
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct P(String);
#[derive(Component, Clone, Debug, PartialEq)]
struct X(u64);

#[derive(Pool)]
struct Inline {
    a: A,
    s: S,
    n: Option<N>,
    t: Option<T>,
    p: Option<P>,
}

#[derive(Pool)]
#[pool(storage = "boxed")]
struct Boxed {
    p: P,
    n: N,
    a: Option<A>,
    s: Option<S>,
}

/// The components, by their first letter.
const ALL: [char; 6] = ['a', 's', 'n', 't', 'p', 'x'];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    General,
    Inline,
    Boxed,
}

impl Kind {
    fn required(self) -> &'static [char] {
        match self {
            Self::General => &[],
            Self::Inline => &['a', 's'],
            Self::Boxed => &['p', 'n'],
        }
    }
    fn declared(self) -> &'static [char] {
        match self {
            Self::General => &ALL,
            Self::Inline => &['a', 's', 'n', 't', 'p'],
            Self::Boxed => &['p', 'n', 'a', 's'],
        }
    }
    fn allows(self, parts: &[char]) -> bool {
        parts.iter().all(|part| self.declared().contains(part))
    }
    fn releases(self, parts: &[char]) -> bool {
        !parts.iter().any(|part| self.required().contains(part))
    }
}

type Parts = BTreeMap<char, u64>;

fn s(v: u64) -> S {
    S { x: v, y: v.to_string() }
}

/// Calls a generic function with the bundle of some components.
macro_rules! with_bundle {
    ($parts:expr, $v:expr, $bundle:ident => $call:expr) => {
        match $parts {
            ['a'] => {
                let $bundle = A($v);
                $call
            }
            ['s'] => {
                let $bundle = s($v);
                $call
            }
            ['n'] => {
                let $bundle = N($v.to_string());
                $call
            }
            ['t'] => {
                let $bundle = T;
                $call
            }
            ['p'] => {
                let $bundle = P($v.to_string());
                $call
            }
            ['x'] => {
                let $bundle = X($v);
                $call
            }
            ['a', 'n'] => {
                let $bundle = (A($v), N($v.to_string()));
                $call
            }
            ['p', 't'] => {
                let $bundle = (P($v.to_string()), T);
                $call
            }
            ['a', 's', 'p'] => {
                let $bundle = (A($v), s($v), P($v.to_string()));
                $call
            }
            ['n', 'p'] => {
                let $bundle = (N($v.to_string()), P($v.to_string()));
                $call
            }
            ['t', 'x'] => {
                let $bundle = (T, X($v));
                $call
            }
            other => unreachable!("no bundle for {other:?}"),
        }
    };
}

const BUNDLES: &[&[char]] = &[
    &['a'],
    &['s'],
    &['n'],
    &['t'],
    &['p'],
    &['x'],
    &['a', 'n'],
    &['p', 't'],
    &['a', 's', 'p'],
    &['n', 'p'],
    &['t', 'x'],
];

fn remove_as<B: Bundle>(_: &B, world: &mut World, entity: Entity) -> Result<(), ChangeError> {
    world.remove::<B>(entity)
}
fn take_as<B: Bundle>(_: &B, world: &mut World, entity: Entity) -> bool {
    world.take::<B>(entity).is_some()
}
fn retain_as<B: Bundle>(_: &B, world: &mut World, entity: Entity) -> Result<(), ChangeError> {
    world.retain::<B>(entity)
}
fn record_removal<B: Bundle>(_: &B, commands: &mut Commands<'_, '_>, entity: Entity) {
    commands.entity(entity).remove::<B>();
}

struct Run {
    random: Random,
    world: World,
    naive: BTreeMap<Entity, (Kind, Parts)>,
    known: Vec<Entity>,
    value: u64,
    refused: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut world = World::new();
        let mut random = Random::new(seed);
        // The order of registration differs from run to run.
        if random.chance(2) {
            world.register_pool::<Boxed>();
        }
        Self { random, world, naive: BTreeMap::new(), known: Vec::new(), value: 0, refused: 0 }
    }

    fn value(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    fn entity(&mut self) -> Option<Entity> {
        (!self.known.is_empty()).then(|| self.known[self.random.below(self.known.len())])
    }

    fn bundle(&mut self) -> &'static [char] {
        BUNDLES[self.random.below(BUNDLES.len())]
    }

    fn spawn(&mut self) {
        let (entity, kind, parts) = match self.random.below(4) {
            0 => {
                let entity = self.world.spawn_empty().id();
                self.adopt(entity, Kind::General, Parts::new());
                for _ in 0..self.random.below(3) {
                    self.insert_into(entity, false);
                }
                return;
            }
            1 => {
                let (value, parts) = self.boxed();
                (self.world.spawn_in(value), Kind::Boxed, parts)
            }
            2 => {
                let (value, parts) = self.inline();
                (self.world.spawn_in(value), Kind::Inline, parts)
            }
            _ => return self.spawn_batch(),
        };
        self.adopt(entity, kind, parts);
    }

    fn adopt(&mut self, entity: Entity, kind: Kind, parts: Parts) {
        self.known.push(entity);
        assert!(self.naive.insert(entity, (kind, parts)).is_none());
    }

    fn inline(&mut self) -> (Inline, Parts) {
        let v = self.value();
        let mut parts = Parts::from([('a', v), ('s', v)]);
        let mut some = |part| {
            let there = self.random.chance(2);
            if there {
                parts.insert(part, v);
            }
            there
        };
        let (n, t, p) = (some('n'), some('t'), some('p'));
        let (n, p) = (n.then(|| N(v.to_string())), p.then(|| P(v.to_string())));
        (Inline { a: A(v), s: s(v), n, t: t.then_some(T), p }, parts)
    }

    fn boxed(&mut self) -> (Boxed, Parts) {
        let v = self.value();
        let mut parts = Parts::from([('p', v), ('n', v)]);
        let (a, with_s) = (self.random.chance(2), self.random.chance(2));
        parts.extend(a.then_some(('a', v)).into_iter().chain(with_s.then_some(('s', v))));
        let (p, n) = (P(v.to_string()), N(v.to_string()));
        (Boxed { p, n, a: a.then_some(A(v)), s: with_s.then(|| s(v)) }, parts)
    }

    fn spawn_batch(&mut self) {
        let (values, parts): (Vec<_>, Vec<_>) = (0..self.random.below(6)).map(|_| self.inline()).unzip();
        let entities: Vec<Entity> = self.world.spawn_batch_in(values).collect();
        assert_eq!(entities.len(), parts.len());
        for (entity, parts) in entities.into_iter().zip(parts) {
            self.adopt(entity, Kind::Inline, parts);
        }
    }

    fn insert(&mut self) {
        if let Some(entity) = self.entity() {
            self.insert_into(entity, true);
        }
    }

    fn insert_into(&mut self, entity: Entity, may_keep: bool) {
        let (parts, v) = (self.bundle(), self.value());
        let keep = may_keep && self.random.chance(4);
        let Some((kind, has)) = self.naive.get_mut(&entity) else {
            let inserted = with_bundle!(parts, v, bundle => self.world.insert(entity, bundle));
            assert!(matches!(inserted, Err(ChangeError::NoSuchEntity(_))));
            return;
        };
        if !kind.allows(parts) {
            let inserted = with_bundle!(parts, v, bundle => self.world.insert(entity, bundle));
            assert!(matches!(inserted, Err(ChangeError::NotInPool(_))), "{kind:?} {parts:?}");
            self.refused += 1;
            return;
        }
        for &part in parts {
            if !keep || !has.contains_key(&part) {
                has.insert(part, v);
            }
        }
        if keep {
            with_bundle!(parts, v, bundle => { self.world.entity_mut(entity).insert_if_new(bundle); });
        } else {
            with_bundle!(parts, v, bundle => self.world.insert(entity, bundle))
                .expect("the pool declares it");
        }
    }

    fn remove(&mut self) {
        let Some(entity) = self.entity() else { return };
        let (parts, v, way) = (self.bundle(), self.value(), self.random.below(3));
        let Some((kind, has)) = self.naive.get_mut(&entity) else { return };
        let world = &mut self.world;
        match way {
            0 => {
                let removed = with_bundle!(parts, v, bundle => remove_as(&bundle, world, entity));
                if kind.releases(parts) {
                    removed.expect("the pool lets it go");
                    has.retain(|part, _| !parts.contains(part));
                } else {
                    assert!(matches!(removed, Err(ChangeError::RequiredByPool(_))));
                    self.refused += 1;
                }
            }
            1 => {
                let taken = with_bundle!(parts, v, bundle => take_as(&bundle, world, entity));
                let whole = parts.iter().all(|part| has.contains_key(part));
                assert_eq!(taken, whole && kind.releases(parts));
                if taken {
                    has.retain(|part, _| !parts.contains(part));
                }
            }
            _ => {
                let retained = with_bundle!(parts, v, bundle => retain_as(&bundle, world, entity));
                let gone: Vec<char> = ALL.into_iter().filter(|part| !parts.contains(part)).collect();
                if kind.releases(&gone) {
                    retained.expect("the pool lets it go");
                    has.retain(|part, _| parts.contains(part));
                } else {
                    assert!(matches!(retained, Err(ChangeError::RequiredByPool(_))));
                }
            }
        }
    }

    fn migrate(&mut self) {
        let Some(entity) = self.entity() else { return };
        let (to, v, way) = (self.random.below(3), self.value(), self.random.below(3));
        let Some((kind, has)) = self.naive.get_mut(&entity) else { return };
        let to = [Kind::General, Kind::Inline, Kind::Boxed][to];
        let brings: &[char] = match way {
            0 => &[],
            1 => &['a', 's', 'p'],
            _ => &['n', 'p'],
        };
        macro_rules! go {
            ($from:ty, $to:ty) => {
                match way {
                    0 => self.world.migrate::<$from, $to>(entity),
                    1 => self.world.migrate_with::<$from, $to, _>(entity, (A(v), s(v), P(v.to_string()))),
                    _ => {
                        self.world.migrate_with::<$from, $to, _>(entity, (N(v.to_string()), P(v.to_string())))
                    }
                }
            };
        }
        let moved = match (*kind, to) {
            (Kind::General, Kind::General) => go!(General, General),
            (Kind::General, Kind::Inline) => go!(General, Inline),
            (Kind::General, Kind::Boxed) => go!(General, Boxed),
            (Kind::Inline, Kind::General) => go!(Inline, General),
            (Kind::Inline, Kind::Inline) => go!(Inline, Inline),
            (Kind::Inline, Kind::Boxed) => go!(Inline, Boxed),
            (Kind::Boxed, Kind::General) => go!(Boxed, General),
            (Kind::Boxed, Kind::Inline) => go!(Boxed, Inline),
            (Kind::Boxed, Kind::Boxed) => go!(Boxed, Boxed),
        };
        let mut will = has.clone();
        will.extend(brings.iter().map(|&part| (part, v)));
        let all: Vec<char> = will.keys().copied().collect();
        let fits = to.allows(&all) && to.required().iter().all(|part| will.contains_key(part));
        assert_eq!(moved.is_ok(), fits, "{kind:?} {has:?} to {to:?} with {brings:?}: {moved:?}");
        if fits {
            (*kind, *has) = (to, will);
        }
    }

    /// Several commands, in either order, some on an entity that they spawn in a pool.
    fn commands(&mut self) {
        let staged = self.random.chance(2);
        self.world.set_flush_order(if staged { FlushOrder::Staged } else { FlushOrder::Recorded });
        let entity = if self.random.chance(2) {
            let (entity, kind, parts) = if self.random.chance(2) {
                let (value, parts) = self.inline();
                (self.world.commands().spawn_in(value).id(), Kind::Inline, parts)
            } else {
                let (value, parts) = self.boxed();
                (self.world.commands().spawn_in(value).id(), Kind::Boxed, parts)
            };
            self.adopt(entity, kind, parts);
            entity
        } else {
            let Some(entity) = self.entity() else { return };
            entity
        };
        let mut steps: Vec<(bool, &'static [char], u64)> = Vec::new();
        for _ in 0..self.random.below(5) {
            let (inserts, parts, v) = (!self.random.chance(3), self.bundle(), self.value());
            steps.push((inserts, parts, v));
            let mut commands = self.world.commands();
            if inserts {
                with_bundle!(parts, v, bundle => { commands.entity(entity).insert(bundle); });
            } else {
                with_bundle!(parts, v, bundle => record_removal(&bundle, &mut commands, entity));
            }
        }
        let dies = self.random.chance(8);
        if dies {
            self.world.commands().entity(entity).despawn();
        }
        let before = self.world.command_stats();
        self.world.flush();
        let after = self.world.command_stats();
        if staged {
            steps.sort_by_key(|(inserts, ..)| !inserts);
        }
        let Some((kind, has)) = self.naive.get_mut(&entity) else { return };
        let mut refused = 0;
        for (inserts, parts, v) in steps {
            match inserts {
                true if kind.allows(parts) => has.extend(parts.iter().map(|&part| (part, v))),
                false if kind.releases(parts) => has.retain(|part, _| !parts.contains(part)),
                _ => refused += 1,
            }
        }
        if dies {
            self.naive.remove(&entity);
        } else {
            assert_eq!(after.refused - before.refused, refused);
            self.refused += refused;
        }
    }

    fn whole_archetype(&mut self) {
        let Some(entity) = self.entity() else { return };
        let Some(&(kind, _)) = self.naive.get(&entity) else { return };
        let home = self.world.archetype_of(entity).expect("it lives in both worlds");
        let others: BTreeSet<Entity> =
            self.naive.keys().copied().filter(|&e| self.world.archetype_of(e) == Some(home)).collect();
        let v = self.value();
        let part = if kind == Kind::Boxed { 'a' } else { 't' };
        let insert = self.random.chance(2);
        let count = match (part, insert) {
            ('a', true) => self.world.insert_into_archetype(home, &A(v)),
            ('a', false) => self.world.remove_from_archetype::<A>(home),
            (_, true) => self.world.insert_into_archetype(home, &T),
            (_, false) => self.world.remove_from_archetype::<T>(home),
        };
        assert_eq!(count, others.len());
        for entity in others {
            let (_, has) = self.naive.get_mut(&entity).expect("it was found there");
            if insert {
                has.insert(part, v);
            } else {
                has.remove(&part);
            }
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..4 => self.spawn(),
            4..9 => self.insert(),
            9..12 => self.remove(),
            12..15 => self.migrate(),
            15..17 => self.commands(),
            17 => self.whole_archetype(),
            18 => {
                if let Some(entity) = self.entity() {
                    assert_eq!(self.world.despawn(entity), self.naive.remove(&entity).is_some());
                }
            }
            _ if self.random.chance(20) => {
                self.world.clear_entities();
                self.naive.clear();
                self.known.clear();
            }
            _ => drop(self.world.drop_empty_archetypes()),
        }
        if self.known.len() > 60 {
            let entity = self.known.swap_remove(0);
            self.world.despawn(entity);
            self.naive.remove(&entity);
        }
    }

    fn compare(&self) {
        let world = &self.world;
        world.check().expect("the world agrees with itself");
        assert_eq!(world.entities().len(), self.naive.len());
        for (&entity, (kind, has)) in &self.naive {
            let pool = match kind {
                Kind::General => world.pool_id::<General>(),
                Kind::Inline => world.pool_id::<Inline>(),
                Kind::Boxed => world.pool_id::<Boxed>(),
            };
            assert_eq!(world.pool_of(entity), pool);
            assert_eq!(world.entity(entity).component_ids().count(), has.len(), "{has:?}");
            let value = |part| has.get(&part).copied();
            assert_eq!(world.get::<A>(entity).map(|a| a.0), value('a'));
            assert_eq!(
                world.get::<S>(entity).map(|s| (*s.x, s.y.clone())),
                value('s').map(|v| (v, v.to_string()))
            );
            assert_eq!(world.get::<N>(entity).map(|n| n.0.clone()), value('n').map(|v| v.to_string()));
            assert_eq!(world.get::<T>(entity).is_some(), value('t').is_some());
            assert_eq!(world.get::<P>(entity).map(|p| p.0.clone()), value('p').map(|v| v.to_string()));
            assert_eq!(world.get::<X>(entity).map(|x| x.0), value('x'));
        }
        let expect = |passes: &dyn Fn(Kind, &Parts) -> bool| -> BTreeSet<Entity> {
            self.naive
                .iter()
                .filter(|(_, (kind, has))| passes(*kind, has))
                .map(|(&entity, _)| entity)
                .collect()
        };
        self.compare_query::<InPool<Inline>>(&expect(&|kind, _| kind == Kind::Inline));
        self.compare_query::<(NotInPool<Boxed>, With<N>)>(&expect(&|kind, has| {
            kind != Kind::Boxed && has.contains_key(&'n')
        }));
        self.compare_query::<(InPool<Inline>, With<T>, Without<N>)>(&expect(&|kind, has| {
            kind == Kind::Inline && has.contains_key(&'t') && !has.contains_key(&'n')
        }));
        self.compare_query::<Or<(InPool<Boxed>, With<P>)>>(&expect(&|kind, has| {
            kind == Kind::Boxed || has.contains_key(&'p')
        }));
        self.compare_query::<(InPool<General>, Or<(With<A>, With<P>)>)>(&expect(&|kind, has| {
            kind == Kind::General && (has.contains_key(&'a') || has.contains_key(&'p'))
        }));
        assert_eq!(world.pool::<Inline>().len(), expect(&|kind, _| kind == Kind::Inline).len());
    }

    fn compare_query<F: QueryFilter + 'static>(&self, expected: &BTreeSet<Entity>) {
        let found: Vec<Entity> = self.world.view_filtered::<Entity, F>().iter().collect();
        let set: BTreeSet<Entity> = found.iter().copied().collect();
        assert_eq!(set, *expected, "{}", std::any::type_name::<F>());
        assert_eq!(found.len(), expected.len());
        let afresh = self.world.query_filtered::<&A, F>();
        let kept = self.world.view_filtered::<&A, F>();
        assert_eq!(afresh.filter(), kept.filter());
        let archetypes = self.world.archetypes();
        assert!(afresh.matched_archetypes().is_sorted_by_key(|id| archetypes.pool_of(id)));
    }
}

// Z-113, Z-114, Z-115, Z-116.
#[test]
fn random_histories_over_pools_agree_with_the_naive_world() {
    let steps = model_steps(2_000, 6_000) as u64;
    let seeds = 8;
    let mut refused = 0;
    for seed in 0..seeds {
        let mut run = Run::new(seed);
        for step in 0..steps / seeds {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                run.step();
                run.compare();
            }));
            if let Err(panic) = outcome {
                eprintln!("seed {seed}, step {step}");
                std::panic::resume_unwind(panic);
            }
        }
        refused += run.refused;
    }
    assert!(refused > 0 || steps < 1_000, "nothing was ever refused: the refusals are not tested");
}
