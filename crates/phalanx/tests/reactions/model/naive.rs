//! What entities of the model have: components of every storage, bundles of them, and the naive world's record of both.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;

#[derive(Component, Clone, Debug, PartialEq)]
pub(super) struct A(pub(super) u32);
/// Brings `C` along, into the table.
#[derive(Component, Clone, Debug, PartialEq)]
#[require(C(70))]
pub(super) struct B(pub(super) u32, pub(super) String);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
pub(super) struct C {
    pub(super) value: u32,
}
#[allow(non_snake_case)]
pub(super) fn C(value: u32) -> C {
    C { value }
}
/// Brings `S` along, into a set.
#[derive(Component, Clone, Debug, PartialEq)]
#[require(S(400))]
pub(super) struct D(pub(super) u32);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
pub(super) struct S(pub(super) u32);
/// Brings `A` along, from a set into the table.
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
#[require(A(100))]
pub(super) struct T(pub(super) u32);
#[derive(Component, Clone, Debug, PartialEq)]
pub(super) struct Tag;

#[derive(Pool)]
pub(super) struct Herd {
    pub(super) a: A,
    pub(super) c: Option<C>,
    pub(super) s: Option<S>,
}

pub(super) const PARTS: usize = 7;
pub(super) const NAMES: [&str; PARTS] = ["A", "B", "C", "D", "S", "T", "Tag"];

/// What requires what, with its value.
pub(super) const REQUIRED: [(usize, usize, u32); 3] = [(1, 2, 70), (3, 4, 400), (5, 0, 100)];
pub(super) const HERD: [usize; 3] = [0, 2, 4];

pub(super) fn value(world: &World, entity: Entity, part: usize) -> Option<u32> {
    match part {
        0 => world.get::<A>(entity).map(|a| a.0),
        1 => world.get::<B>(entity).map(|b| b.0),
        2 => world.get::<C>(entity).map(|c| *c.value),
        3 => world.get::<D>(entity).map(|d| d.0),
        4 => world.get::<S>(entity).map(|s| s.0),
        5 => world.get::<T>(entity).map(|t| t.0),
        _ => world.get::<Tag>(entity).map(|_| 0),
    }
}

/// Calls a function with the type of a bundle, its value and its parts.
macro_rules! with_bundle {
    ($which:expr, $v:expr, |$bundle:ident: $ty:ident, $parts:ident| $body:expr) => {
        with_bundle! { @ $which, $v, $bundle, $ty, $parts, $body;
            0 A [0] |v| A(v);
            1 B [1] |v| B(v, "b".repeat(9));
            2 C [2] |v| C(v);
            3 D [3] |v| D(v);
            4 S [4] |v| S(v);
            5 T [5] |v| T(v);
            6 Tag [6] |_| Tag;
            7 (A, S) [0, 4] |v| (A(v), S(v));
            8 (B, T) [1, 5] |v| (B(v, String::new()), T(v));
            9 (C, A, Tag) [0, 2, 6] |v| (C(v), A(v), Tag);
            10 (S, T) [4, 5] |v| (S(v), T(v));
            11 (D, B, A, T) [0, 1, 3, 5] |v| (D(v), B(v, String::new()), A(v), T(v))
        }
    };
    (@ $which:expr, $v:expr, $bundle:ident, $ty:ident, $parts:ident, $body:expr;
        $($at:literal $type:ty [$($part:literal),*] |$arg:pat_param| $make:expr);*) => {
        match $which {
            $($at => {
                type $ty = $type;
                #[allow(unused)]
                let $parts: &[usize] = &[$($part),*];
                #[allow(unused)]
                let $bundle = |$arg: u32| -> $ty { $make };
                #[allow(unused)]
                let $bundle = $bundle($v);
                $body
            })*
            other => unreachable!("no bundle {other}"),
        }
    };
}
pub(super) const BUNDLES: u32 = 12;

pub(super) fn parts_of(which: u32) -> Vec<usize> {
    with_bundle!(which, 0, |bundle: Ty, parts| parts.to_vec())
}

/// Tags have no value.
pub(super) fn valued(part: usize, v: u32) -> u32 {
    if part == 6 { 0 } else { v }
}

#[derive(Clone, Default, Debug)]
pub(super) struct Naive {
    pub(super) herd: bool,
    pub(super) parts: BTreeMap<usize, u32>,
}

impl Naive {
    pub(super) fn allows(&self, part: usize) -> bool {
        !self.herd || HERD.contains(&part)
    }

    /// What inserting brings along; `None` when the pool refuses.
    pub(super) fn insert(&mut self, parts: &[usize], v: u32, replace: bool) -> Option<BTreeSet<usize>> {
        let mut required: Vec<(usize, u32)> = Vec::new();
        for &(who, what, with) in &REQUIRED {
            if parts.contains(&who) && !parts.contains(&what) {
                required.push((what, with));
            }
        }
        let mut all = parts.iter().copied().chain(required.iter().map(|(what, _)| *what));
        if !all.all(|part| self.allows(part)) {
            return None;
        }
        let mut fresh = BTreeSet::new();
        for &part in parts {
            if replace || !self.parts.contains_key(&part) {
                self.parts.insert(part, valued(part, v));
                fresh.insert(part);
            }
        }
        for (part, with) in required {
            self.parts.entry(part).or_insert_with(|| {
                fresh.insert(part);
                with
            });
        }
        Some(fresh)
    }

    pub(super) fn remove(&mut self, parts: &[usize]) -> bool {
        if self.herd && parts.contains(&0) {
            return false;
        }
        for part in parts {
            self.parts.remove(part);
        }
        true
    }
}
