//! The components that the query tests ask for: one of each kind a query can meet.
//!
//! | component | kind | ticks |
//! |---|---|---|
//! | [`Position`], [`Velocity`] | fields | per block |
//! | [`Health`], [`Name`] | whole | per block |
//! | [`Slot`] | whole, generic | per block |
//! | [`Quiet`] | whole | none |
//! | [`Armour`] | whole | per row |
//! | [`Label`] | fields | per row |
//! | [`Stunned`] | tag | per row |
//! | [`Frozen`], [`Burning`], [`Boss`] | tag | none |
#![allow(dead_code, reason = "each test file uses a part")]

use phalanx::prelude::{Component, Entity, Query, World};
use phalanx::query::{QueryData, QueryFilter};

#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
#[component(layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
#[component(layout = "soa")]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct Health(pub u32);

#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Name(pub String);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Slot<T, const N: usize>(pub [T; N]);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(track = "none")]
pub struct Quiet(pub u32);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(track = "row")]
pub struct Armour(pub u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
pub struct Label {
    pub text: String,
    pub size: u8,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(track = "row")]
pub struct Stunned;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Frozen;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Burning;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Boss;

pub fn position(x: f32) -> Position {
    Position { x, y: -x }
}

pub fn name(text: &str) -> Name {
    Name(text.to_owned())
}

pub fn label(text: &str) -> Label {
    Label { text: text.to_owned(), size: 1 }
}

/// The entities that a cached query with this filter visits, in order.
pub fn visited<F: QueryFilter + 'static>(world: &World) -> Vec<Entity> {
    world.view_filtered::<Entity, F>().into_iter().collect()
}

/// The entities that a query visits: the same by rows, by folding and by count, whatever it yields.
#[track_caller]
pub fn entities<D: QueryData, F: QueryFilter>(query: &Query<'_, '_, (Entity, D), F>) -> Vec<Entity> {
    let mut by_rows = Vec::new();
    for (entity, _) in query {
        by_rows.push(entity);
    }
    let mut by_fold = Vec::new();
    query.iter().for_each(|(entity, _)| by_fold.push(entity));
    assert_eq!(by_rows, by_fold, "a loop and a fold visit the same entities");
    assert_eq!(query.count(), by_rows.len());
    assert_eq!(query.is_empty(), by_rows.is_empty());
    by_rows
}

/// The message of the panic in `f`.
#[track_caller]
pub fn panic_message<R>(f: impl FnOnce() -> R) -> String {
    let (mut f, mut value) = (Some(f), None);
    message_of(&mut || value = f.take().map(|f| f()))
}

/// Not generic: what catches panics is compiled once.
#[track_caller]
fn message_of(f: &mut dyn FnMut()) -> String {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    let Err(panic) = result else { panic!("there was no panic") };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// A plain xorshift generator: the same numbers in every run.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds begin far apart, and zero is no state.
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.next();
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from((self.next() >> 33) % end as u64).expect("less than `end`")
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}
