//! Claimed ids: what is refused, what is given next, and random histories against a map.
//!
//! The map keeps which generation lives at an index, and the lowest that may still come.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use crate::entities::claim::MOST_SKIPPED;
use crate::entities::{ClaimError, Entities};
use crate::entity::Entity;

fn id(index: u32, generation: u32) -> Entity {
    let bits = u64::from(generation + 1) << 32 | u64::from(index);
    Entity::from_bits(bits).expect("the upper half is not zero")
}

#[test]
fn a_huge_index_is_refused_at_no_cost() {
    let mut entities = Entities::new();
    for index in [u32::MAX - 2, u32::MAX - 1, MOST_SKIPPED + 1] {
        assert_eq!(entities.claim(id(index, 0)), Err(ClaimError::TooFar));
    }
    assert_eq!(entities.claim(Entity::PLACEHOLDER), Err(ClaimError::NoId));
    assert_eq!((entities.slots(), entities.capacity()), (0, 0));
    assert_eq!(Entities::with_limit(4).claim(id(4, 0)), Err(ClaimError::TooFar));
}

#[test]
fn skipped_indices_are_given_next_lowest_first() {
    let mut entities = Entities::new();
    entities.claim(id(3, 7)).expect("free");
    let given: Vec<Entity> = (0..4).map(|_| entities.alloc().expect("there is room")).collect();
    assert_eq!(given, [id(0, 0), id(1, 0), id(2, 0), id(4, 0)]);
    entities.check().expect("sound");
}

#[test]
fn the_past_stays_dead_and_the_taken_is_named() {
    let mut entities = Entities::new();
    entities.claim(id(0, 5)).expect("free");
    assert_eq!(entities.claim(id(0, 5)), Err(ClaimError::Taken(id(0, 5))));
    assert_eq!(entities.claim(id(0, 9)), Err(ClaimError::Taken(id(0, 5))));
    entities.free_alone(id(0, 5)).expect("alive");
    assert_eq!(entities.claim(id(0, 5)), Err(ClaimError::Past));
    assert!(entities.is_past(id(0, 5)) && !entities.is_past(id(0, 6)));
    entities.claim(id(0, 6)).expect("free");
}

// Claims in any order of a long free list cost steps in proportion to their number.
#[test]
fn claims_in_the_worst_order_do_not_walk_the_list_each_time() {
    let mut entities = Entities::new();
    let many: u32 = 200_000;
    entities.claim(id(many, 0)).expect("free");
    for index in (0..many).rev() {
        entities.claim(id(index, 0)).expect("free");
    }
    assert_eq!((entities.len(), entities.free_len()), (many as usize + 1, 0));
    entities.check().expect("sound");
}

// Random spawns, claims, deaths and reservations against a map from index to generation.
#[test]
fn random_histories_with_claims_agree_with_a_map() {
    let steps = std::env::var("PHALANX_MODEL_STEPS").ok().and_then(|steps| steps.parse().ok());
    for seed in 0..8_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move |below: u32| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            u32::try_from(random % u64::from(below)).expect("below a u32")
        };
        let mut entities = Entities::new();
        let mut alive: BTreeMap<u32, u32> = BTreeMap::new();
        // The lowest generation that an index may still have.
        let mut floor: BTreeMap<u32, u32> = BTreeMap::new();
        for _ in 0..steps.unwrap_or(300) {
            match next(10) {
                0..3 => {
                    let entity = entities.alloc().expect("there is room");
                    let expected = floor.get(&entity.index()).copied().unwrap_or(0);
                    assert_eq!(entity.generation(), expected);
                    assert_eq!(alive.insert(entity.index(), expected), None);
                }
                3..6 => {
                    let at = next(u32::try_from(alive.len()).expect("few") + 1) as usize;
                    if let Some((&index, &generation)) = alive.iter().nth(at) {
                        entities.free_alone(id(index, generation)).expect("alive");
                        alive.remove(&index);
                        floor.insert(index, generation + 1);
                    }
                }
                6 => {
                    let entity = entities.reserve().expect("there is room");
                    alive.insert(entity.index(), entity.generation());
                    entities.flush();
                }
                _ => {
                    let wanted = id(next(300), next(4));
                    let (index, generation) = (wanted.index(), wanted.generation());
                    let low = floor.get(&index).copied().unwrap_or(0);
                    let expected = match alive.get(&index) {
                        Some(&by) => Err(ClaimError::Taken(id(index, by))),
                        None if generation < low => Err(ClaimError::Past),
                        None => Ok(()),
                    };
                    assert_eq!(entities.claim(wanted), expected, "{wanted}");
                    if expected.is_ok() {
                        alive.insert(index, generation);
                    }
                }
            }
            entities.check().expect("sound");
            let found: BTreeSet<Entity> = entities.iter().collect();
            assert_eq!(found, alive.iter().map(|(&index, &generation)| id(index, generation)).collect());
        }
    }
}
