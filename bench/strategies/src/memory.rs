//! What the archetypes of a pool take beside their rows.

use phalanx::prelude::*;

use crate::kinds::*;
use crate::subject::{InGeneral, Pooled, Subject};

/// Bytes of column headers, in General and with both strategies.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    pub general: usize,
    pub inline: usize,
    pub boxed: usize,
}

/// One archetype with so many present of so many declared components.
pub struct Record {
    pub declared: usize,
    pub present: usize,
    pub bytes: Bytes,
}

/// The record of one archetype, for all shapes.
pub fn records() -> Vec<Record> {
    macro_rules! record {
        ($($declared:literal $inline:ident $boxed:ident: $($present:literal $loose:ident)*;)*) => {
            vec![$($(Record {
                declared: $declared,
                present: $present,
                bytes: one::<InGeneral<$loose>, Pooled<$inline, $present>, Pooled<$boxed, $present>>(),
            },)*)*]
        };
    }
    record! {
        5 Inline5 Boxed5: 5 Loose5 3 Loose3 2 Loose2;
        15 Inline15 Boxed15: 15 Loose15 8 Loose8 2 Loose2;
        30 Inline30 Boxed30: 30 Loose30 15 Loose15 2 Loose2;
        60 Inline60 Boxed60: 60 Loose60 30 Loose30 2 Loose2;
    }
}

/// All records of 200 archetypes, with 15 and with 60 declared components.
pub fn scattered() -> [(usize, Bytes); 2] {
    [
        (15, many::<InGeneral<Loose2>, Pooled<Inline15, 2>, Pooled<Boxed15, 2>>()),
        (60, many::<InGeneral<Loose2>, Pooled<Inline60, 2>, Pooled<Boxed60, 2>>()),
    ]
}

fn one<G: Subject, I: Subject, X: Subject>() -> Bytes {
    // Fuller archetypes that an entity passes on its way into General are not counted, nor is the empty one.
    let bytes = |world: World| last_pool(&world).last().copied().unwrap_or(0);
    Bytes { general: bytes(full::<G>()), inline: bytes(full::<I>()), boxed: bytes(full::<X>()) }
}

fn many<G: Subject, I: Subject, X: Subject>() -> Bytes {
    let bytes = |world: World| last_pool(&world).iter().sum();
    Bytes { general: bytes(wide::<G>()), inline: bytes(wide::<I>()), boxed: bytes(wide::<X>()) }
}

fn full<S: Subject>() -> World {
    let mut world = World::new();
    S::fill(&mut world, 1);
    world
}

fn wide<S: Subject>() -> World {
    let mut world = World::new();
    S::scatter(&mut world);
    world
}

/// The bytes of the records of the pool that was registered last; General's where there is no other.
fn last_pool(world: &World) -> Vec<usize> {
    world.stats().pools.pop().map_or(Vec::new(), |pool| pool.record_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxed_takes_less_than_a_quarter_when_two_of_sixty_are_present() {
        let records = records();
        let record = records.iter().find(|record| (record.declared, record.present) == (60, 2));
        let bytes = record.expect("listed").bytes;
        assert!(bytes.boxed * 4 < bytes.inline, "{bytes:?}");
    }
}
