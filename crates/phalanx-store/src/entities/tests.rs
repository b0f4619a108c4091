//! Facts about the entity directory, in the order of the requirements: the addendum trace, the life of
//! a slot (O.3, E.7), then one group for each of the hazards 1 to 8 of entities.
//!
//! `model` compares with a naive directory, `corrupt` proves that `check` sees what it promises to see.

mod claim;
mod corrupt;
mod model;

use std::collections::HashSet;

use super::*;
use crate::sync::Ordering;

impl Entities {
    /// Ends an entity of a directory that no store relies on.
    pub(super) fn free_alone(&mut self, entity: Entity) -> Option<EntityLocation> {
        // SAFETY: locally: there are no tables and sets in which it could be left behind.
        unsafe { self.free(entity) }
    }
}

/// A row of the first real table.
fn at(row: u32) -> EntityLocation {
    EntityLocation::new(TableId::FIRST, Row::new(row))
}

/// A directory with `n` rowless entities, and their ids.
fn with_alive(n: u32) -> (Entities, Vec<Entity>) {
    let mut entities = Entities::new();
    let ids = (0..n).map(|_| entities.alloc().expect("there is room")).collect();
    (entities, ids)
}

fn id(index: u32, generation: u32) -> Entity {
    Entity::new(index, NonZeroU32::new(generation + 1).expect("not zero"))
}

/// What a dead slot says: the next free index, and the generation of its next entity.
fn dead(entities: &Entities, index: u32) -> (Option<u32>, u32) {
    let slot = entities.slots[index as usize];
    assert_eq!(slot.table, TableId::DEAD);
    let next = slot.link.index();
    ((next != NONE).then_some(next), slot.link.generation())
}

fn checked(entities: &Entities) {
    entities.check().expect("the directory is consistent");
}

// E-059..E-068, and with them E-048..E-058, O-027..O-033
#[test]
fn the_addendum_trace_holds_step_by_step() {
    let (mut e, ids) = with_alive(3);
    assert_eq!(ids, [id(0, 0), id(1, 0), id(2, 0)]); // E-059
    assert_eq!(e.next_free(), None);

    e.free_alone(id(1, 0)).unwrap(); // E-060
    assert_eq!((e.next_free(), dead(&e, 1)), (Some(1), (None, 1)));

    assert_eq!(e.alloc(), Ok(id(1, 1))); // E-061
    assert_eq!(e.next_free(), None);

    e.free_alone(id(1, 1)).unwrap(); // E-062
    assert_eq!((e.next_free(), dead(&e, 1)), (Some(1), (None, 2)));

    e.free_alone(id(0, 0)).unwrap(); // E-063
    assert_eq!((e.next_free(), dead(&e, 0)), (Some(0), (Some(1), 1)));

    e.free_alone(id(2, 0)).unwrap(); // E-064
    assert_eq!((e.next_free(), dead(&e, 2)), (Some(2), (Some(0), 1)));

    assert_eq!((e.alloc(), e.next_free()), (Ok(id(2, 1)), Some(0))); // E-065
    assert_eq!((e.alloc(), e.next_free()), (Ok(id(0, 1)), Some(1))); // E-066
    assert_eq!((e.alloc(), e.next_free()), (Ok(id(1, 2)), None)); // E-067
    assert_eq!((e.alloc(), e.next_free()), (Ok(id(3, 0)), None)); // E-068
    assert_eq!((e.slots(), e.len()), (4, 4));
    checked(&e);
}

#[test]
fn a_slot_takes_twelve_bytes_and_a_result_eight() {
    assert_eq!(size_of::<Slot>(), 12);
    assert_eq!(size_of::<Result<Entity, Exhausted>>(), 8);
}

#[test]
fn the_directory_can_be_sent_and_shared() {
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Entities>();
}

// O-037..O-041, O-044, E-047: alive, at no row, carrying its own index.
#[test]
fn a_new_entity_has_no_row() {
    let (mut e, ids) = with_alive(2);
    let rowless = EntityLocation::new(TableId::ROWLESS, Row::new(1));
    assert_eq!(e.locate(ids[1]), Some(rowless));
    assert_eq!(e.rowless_len(), 2);
    assert_eq!(e.free_alone(ids[1]), Some(rowless));
    assert_eq!((e.rowless_len(), e.len()), (1, 1));
}

// O-042: an entity that is created with its row never counts as rowless.
#[test]
fn an_entity_can_be_born_with_a_row() {
    let mut e = Entities::new();
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    let a = unsafe { e.alloc_at(at(7)) }.unwrap();
    assert_eq!(e.locate(a), Some(at(7)));
    assert_eq!((e.len(), e.rowless_len()), (1, 0));
    assert_eq!(e.free_alone(a), Some(at(7)));
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    let b = unsafe { e.alloc_at(at(3)) }.unwrap();
    assert_eq!((b, e.locate(b)), (id(0, 1), Some(at(3))));
    checked(&e);
}

// O-034, O-035, O-047, E-042, E-053
#[test]
fn a_dead_id_stays_dead_when_its_slot_is_used_again() {
    let (mut e, ids) = with_alive(1);
    e.free_alone(ids[0]).unwrap();
    assert!(!e.contains(ids[0]));
    assert_eq!((e.locate(ids[0]), e.free_alone(ids[0])), (None, None));
    let next = e.alloc().unwrap();
    assert_eq!((next.index(), next.generation()), (0, 1));
    assert!(e.contains(next) && !e.contains(ids[0]));
    assert_eq!((e.slot_of(ids[0]), e.free_alone(ids[0])), (None, None));
    assert!(e.contains(next));
    checked(&e);
}

// O-027, E-058
#[test]
fn the_slot_freed_last_is_used_first() {
    let (mut e, ids) = with_alive(5);
    for i in [3, 0, 4] {
        e.free_alone(ids[i]).unwrap();
    }
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    let again: Vec<u32> = (0..4).map(|_| unsafe { e.alloc_at(at(0)) }.unwrap().index()).collect();
    assert_eq!(again, [4, 0, 3, 5]);
}

// O-045, O-046: the place moves both ways, and the count of rowless entities follows.
#[test]
fn places_follow_the_entity_and_the_rowless_count_follows_them() {
    let (mut e, ids) = with_alive(2);
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(1, at(4)) };
    assert_eq!((e.locate(ids[1]), e.rowless_len()), (Some(at(4)), 1));
    // SAFETY: locally: there is a slot 1.
    unsafe { e.set_row(1, Row::new(9)) };
    assert_eq!((e.locate(ids[1]), e.rowless_len()), (Some(at(9)), 1));
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(1, EntityLocation::new(TableId::new(5), Row::new(0))) };
    assert_eq!(e.rowless_len(), 1);
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(1, EntityLocation::new(TableId::ROWLESS, Row::new(77))) };
    assert_eq!(e.locate(ids[1]).unwrap().row, Row::new(1));
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(1, EntityLocation::new(TableId::ROWLESS, Row::new(1))) };
    assert_eq!(e.rowless_len(), 2);
    checked(&e);
}

#[test]
fn iteration_follows_the_index_and_skips_the_dead() {
    let (mut e, ids) = with_alive(5);
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(1, at(100)) };
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(3, at(0)) };
    e.free_alone(ids[2]).unwrap();
    assert_eq!(e.iter().collect::<Vec<_>>(), [ids[0], ids[1], ids[3], ids[4]]);
    assert_eq!(e.rowless().collect::<Vec<_>>(), [&ids[0], &ids[4]]);
    assert_eq!([ids[0], ids[1], ids[2]].map(|id| e.rowless_id(id).copied()), [Some(ids[0]), None, None]);
    assert!(std::ptr::eq(e.rowless_id(ids[4]).unwrap(), e.rowless().last().unwrap()));
    for i in [0, 1, 3, 4] {
        e.free_alone(ids[i]).unwrap();
    }
    assert_eq!((e.iter().next(), e.rowless().next()), (None, None));
}

#[test]
fn a_slot_tells_which_entity_has_it_now() {
    let (mut entities, ids) = with_alive(3);
    assert_eq!(
        (0..4).map(|slot| entities.at_slot(slot)).collect::<Vec<_>>(),
        [Some(ids[0]), Some(ids[1]), Some(ids[2]), None]
    );
    entities.free_alone(ids[1]);
    assert_eq!(entities.at_slot(1), None);
    let again = entities.alloc().expect("there is room");
    assert_eq!((again.index(), entities.at_slot(1)), (1, Some(again)));
    assert_ne!(again, ids[1]);
}

#[test]
fn counts_and_memory_are_reported() {
    let (mut e, ids) = with_alive(100);
    assert!(!e.is_empty());
    e.free_alone(ids[7]).unwrap();
    assert_eq!((e.len(), e.slots(), e.free_len()), (99, 100, 1));
    e.reserve_slots(1_000);
    assert!(e.capacity() >= 1_099);
    assert_eq!(e.bytes(), e.capacity() * 12);
    e.shrink_to_fit();
    assert!(e.capacity() < 1_099);
    assert_eq!(format!("{e:?}"), "Entities { alive: 99, rowless: 99, free: 1, retired: 0, .. }");
    assert!(Entities::default().is_empty());
}

// Hazard 1; O-023, O-024: the counter ends, it does not wrap.
#[test]
fn a_slot_whose_generations_are_used_up_retires() {
    let (mut e, ids) = with_alive(2);
    let last = e.set_generation_for_tests(0, u32::MAX - 1);
    assert!(e.contains(last) && !e.contains(ids[0]));
    assert_eq!(last.generation(), u32::MAX - 2);
    assert!(e.free_alone(last).is_some());
    assert_eq!((e.retired_len(), e.free_len(), e.next_free()), (1, 0, None));
    checked(&e);

    let new: Vec<Entity> = (0..3).map(|_| e.alloc().unwrap()).collect();
    assert!(new.iter().all(|e| e.index() >= 2));
    for dead in [ids[0], last, id(0, u32::MAX - 1)] {
        assert_eq!((e.contains(dead), e.free_alone(dead)), (false, None));
    }
    e.clear();
    assert_eq!(e.retired_len(), 1);
    assert_eq!(e.next_free(), Some(1));
    checked(&e);
}

// Hazard 1: on the way through the free list, and in clear.
#[test]
fn the_prompt_ways_leave_what_needs_care_to_the_others() {
    // SAFETY: locally: there is no table, in which a row could be left behind.
    let free_from = |e: &mut Entities, table, entity| unsafe { e.free_from(table, entity) };
    let mut e = Entities::with_limit(2);
    assert!(!e.is_prompt(), "there is no memory yet");
    e.reserve_slots(2);
    assert!(e.is_prompt());
    // SAFETY: locally: asked just now.
    let first = unsafe { e.alloc_prompt(at(0)) };
    assert_eq!((first, e.locate(first)), (id(0, 0), Some(at(0))));
    assert_eq!(free_from(&mut e, TableId::new(7), first), None);
    assert_eq!(free_from(&mut e, TableId::FIRST, id(0, 1)), None);
    assert_eq!(free_from(&mut e, TableId::FIRST, id(1, 0)), None);
    let reserved = e.reserve().unwrap();
    assert!(!e.is_prompt());
    e.flush();
    assert!(!e.is_prompt(), "the limit is reached");
    assert_eq!(free_from(&mut e, TableId::ROWLESS.max(TableId::FIRST), reserved), None);
    let last = e.set_generation_for_tests(0, u32::MAX - 1);
    assert_eq!(free_from(&mut e, TableId::FIRST, last), None);
    assert!(e.contains(last));
    assert_eq!(e.free_alone(last), Some(at(0)));
    assert!(!e.is_prompt(), "a retired slot is not free");
    checked(&e);
    e.free_alone(reserved).unwrap();
    // SAFETY: locally: a slot is free.
    assert_eq!(unsafe { e.alloc_prompt(at(0)) }, id(1, 1));
    assert_eq!(free_from(&mut e, TableId::FIRST, id(1, 1)), Some(Row::new(0)));
    checked(&e);
}

#[test]
fn a_free_slot_gets_its_last_use_and_then_retires() {
    let (mut e, ids) = with_alive(3);
    for entity in ids {
        e.free_alone(entity).unwrap();
    }
    e.set_generation_for_tests(1, u32::MAX - 1);
    checked(&e);
    let used: Vec<Entity> = (0..3).map(|_| e.alloc().unwrap()).collect();
    assert_eq!(used[1], id(1, u32::MAX - 2));
    e.clear();
    assert_eq!((e.retired_len(), e.free_len()), (1, 2));
    checked(&e);
    let used: Vec<u32> = (0..3).map(|_| e.alloc().unwrap().index()).collect();
    assert_eq!(used, [0, 2, 3]);
}

#[test]
#[should_panic(expected = "cannot go from raw generation 5 to 4")]
fn a_generation_cannot_be_put_back() {
    let (mut e, _) = with_alive(1);
    e.set_generation_for_tests(0, 5);
    e.set_generation_for_tests(0, 4);
}

// Hazards 2 and 3; E-046, E-051: the largest id of all is one short of the placeholder in both parts.
#[test]
fn the_largest_index_is_the_last_one_and_not_that_of_the_placeholder() {
    let mut e = Entities::new();
    with_mut(&mut e.reserved, |reserved| *reserved = u64::from(u32::MAX - 1) << 32);
    let last = e.reserve().unwrap();
    assert_eq!(last.index(), u32::MAX - 1);
    for _ in 0..3 {
        assert_eq!(e.reserve(), Err(Exhausted));
    }
    assert_eq!(e.reserved.load(Ordering::Relaxed), u64::from(u32::MAX) << 32);
    assert_ne!(id(u32::MAX - 1, u32::MAX - 2), Entity::PLACEHOLDER);
}

// Hazard 2
#[test]
fn the_placeholder_is_never_alive() {
    let (mut e, _) = with_alive(3);
    e.set_generation_for_tests(2, u32::MAX - 1);
    assert!(e.iter().all(|entity| entity != Entity::PLACEHOLDER));
    assert!(!e.contains(Entity::PLACEHOLDER));
    assert_eq!(e.free_alone(Entity::PLACEHOLDER), None);
    assert_eq!(e.slot_of(Entity::PLACEHOLDER), None);
}

// Hazard 3
#[test]
fn running_out_of_slots_is_an_error_and_changes_nothing() {
    let mut e = Entities::with_limit(2);
    let a = e.alloc().unwrap();
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    let b = unsafe { e.alloc_at(at(0)) }.unwrap();
    assert_eq!(e.alloc(), Err(Exhausted));
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    assert_eq!(unsafe { e.alloc_at(at(1)) }, Err(Exhausted));
    assert_eq!(e.reserve(), Err(Exhausted));
    e.reserve_slots(usize::MAX);
    assert_eq!((e.len(), e.slots(), e.rowless_len()), (2, 2, 1));
    assert!(e.contains(a) && e.contains(b) && !e.needs_flush());

    e.free_alone(b).unwrap();
    assert_eq!(e.alloc(), Ok(id(1, 1)));
    assert_eq!(Entities::with_limit(0).alloc(), Err(Exhausted));
    assert!(Exhausted.to_string().contains("despawn entities"));
    checked(&e);
}

// Hazard 3: a batch is checked as a whole, before anything changes.
#[test]
fn a_batch_that_does_not_fit_changes_nothing() {
    let mut e = Entities::with_limit(4);
    let first = e.alloc().unwrap();
    e.alloc().unwrap();
    e.free_alone(first).unwrap();
    let mut given = 0;
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    let too_many = unsafe { e.alloc_run(TableId::FIRST, Row::new(0), |_, _| given += 1, 4) };
    assert_eq!((too_many, given), (Err(Exhausted), 0));
    assert_eq!((e.len(), e.slots(), e.next_free()), (1, 2, Some(0)));
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    let fits = unsafe { e.alloc_run(TableId::FIRST, Row::new(0), |_, _| given += 1, 3) };
    assert_eq!((fits, given, e.len()), (Ok(()), 3, 4));
    checked(&e);
}

// Hazard 4; O-025
#[test]
fn forged_ids_are_dead_everywhere() {
    let (mut e, ids) = with_alive(2);
    e.free_alone(ids[0]).unwrap();
    let forged =
        [id(0, 1), id(0, 2), id(1, 1), id(1, u32::MAX - 1), id(2, 0), id(u32::MAX - 1, 0), id(u32::MAX, 0)];
    for entity in forged {
        assert!(!e.contains(entity), "{entity}");
        assert_eq!((e.locate(entity), e.free_alone(entity)), (None, None), "{entity}");
    }
    // The one id that the short check lets through is the one the free slot will hand out.
    assert_eq!(e.slot_of(id(0, 1)).unwrap().table, TableId::DEAD);
    assert_eq!(e.alloc(), Ok(id(0, 1)));
    checked(&e);
}

// Hazard 5
#[test]
fn ids_from_before_a_clear_are_dead() {
    let (mut e, ids) = with_alive(6);
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(4, at(0)) };
    e.free_alone(ids[2]).unwrap();
    let reserved = [e.reserve().unwrap(), e.reserve().unwrap()];
    e.clear();
    assert_eq!((e.len(), e.rowless_len(), e.slots()), (0, 0, 7));
    assert!(ids.iter().chain(&reserved).all(|old| !e.contains(*old)));
    checked(&e);

    let new: Vec<Entity> = (0..8).map(|_| e.alloc().unwrap()).collect();
    assert!(new.iter().map(|e| e.index()).eq(0..8));
    assert!(ids.iter().chain(&reserved).all(|old| !e.contains(*old)));
    assert!(!new.iter().any(|e| ids.contains(e) || reserved.contains(e)));
    checked(&e);
}

// Hazard 6
#[test]
fn a_batch_uses_free_slots_first_and_gives_each_id_once() {
    let (mut e, ids) = with_alive(4);
    for i in [1, 3] {
        e.free_alone(ids[i]).unwrap();
    }
    let mut batch = Vec::new();
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.alloc_run(TableId::FIRST, Row::new(10), |_, entity| batch.push(entity), 5).unwrap() };
    assert_eq!(batch, [id(3, 1), id(1, 1), id(4, 0), id(5, 0), id(6, 0)]);
    for (row, entity) in (10..).zip(&batch) {
        assert_eq!(e.locate(*entity), Some(at(row)));
    }
    assert_eq!((e.len(), e.free_len(), e.rowless_len()), (7, 0, 2));
    checked(&e);

    e.free_alone(batch[0]).unwrap();
    e.free_alone(batch[1]).unwrap();
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe {
        e.alloc_run(TableId::FIRST, Row::new(0), |at, e| assert_eq!((at, e.index()), (0, 1)), 1).unwrap();
    };
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.alloc_run(TableId::FIRST, Row::new(0), |_, _| unreachable!(), 0).unwrap() };
    assert_eq!(e.next_free(), Some(3));
    checked(&e);
}

// Hazard 7
#[test]
fn reserved_ids_come_alive_at_the_flush_and_not_before() {
    let (mut e, ids) = with_alive(3);
    e.free_alone(ids[0]).unwrap();
    e.free_alone(ids[2]).unwrap();
    let reserved: Vec<Entity> = (0..4).map(|_| e.reserve().unwrap()).collect();
    assert_eq!(reserved, [id(2, 1), id(0, 1), id(3, 0), id(4, 0)]);
    assert!(e.needs_flush() && reserved.iter().all(|r| !e.contains(*r)));
    assert_eq!((e.len(), e.next_free()), (1, None));
    checked(&e);

    e.flush();
    assert!(!e.needs_flush() && reserved.iter().all(|r| e.contains(*r)));
    assert_eq!((e.len(), e.rowless_len(), e.free_len()), (5, 5, 0));
    checked(&e);
}

// Hazard 7: free slots and new ones, up to the limit, from many threads at once.
#[test]
fn ids_reserved_by_many_threads_are_unique_and_none_is_lost() {
    const LIMIT: u32 = 1_500;
    let mut e = Entities::with_limit(LIMIT);
    let ids: Vec<Entity> = (0..1_000).map(|_| e.alloc().unwrap()).collect();
    for entity in ids.iter().step_by(2) {
        e.free_alone(*entity).unwrap();
    }
    let reserve_300 = || -> Vec<_> { (0..300).filter_map(|_| e.reserve().ok()).collect() };
    let reserved: Vec<Entity> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(reserve_300)).collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined.flatten().collect()
    });
    // 500 free and 500 new ones were there for 1,200 askers.
    assert_eq!(reserved.len(), 1_000);
    assert_eq!(reserved.iter().collect::<HashSet<_>>().len(), 1_000);
    checked(&e);
    e.flush();
    assert!(reserved.iter().all(|r| e.contains(*r)));
    assert_eq!((e.len(), e.slots(), e.free_len()), (1_500, LIMIT, 0));
    checked(&e);
}

// Hazard 8: the next change of any kind takes care of the reserved id, and its slot comes back.
#[test]
fn a_reserved_id_that_is_never_flushed_does_not_leak_its_slot() {
    let mut e = Entities::new();
    for round in 0..10 {
        let reserved = e.reserve().unwrap();
        assert_eq!((reserved.index(), reserved.generation()), (0, round));
        assert!(e.free_alone(reserved).is_some());
    }
    for _ in 0..10 {
        e.reserve().unwrap();
        e.clear();
    }
    assert_eq!((e.slots(), e.free_len(), e.len()), (1, 1, 0));
    e.reserve().unwrap();
    let other = e.alloc().unwrap();
    assert_eq!((other.index(), e.len(), e.rowless_len()), (1, 2, 2));
    checked(&e);
}

// Hazard 8: a batch and a birth with a row do not take what is reserved.
#[test]
fn reserved_ids_are_not_given_to_anybody_else() {
    let (mut e, ids) = with_alive(2);
    e.free_alone(ids[1]).unwrap();
    let reserved = [e.reserve().unwrap(), e.reserve().unwrap()];
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    let mut given = vec![unsafe { e.alloc_at(at(0)) }.unwrap()];
    let more = [e.reserve().unwrap()];
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.alloc_run(TableId::FIRST, Row::new(1), |_, e| given.push(e), 2).unwrap() };
    let all: HashSet<_> = reserved.iter().chain(&given).chain(&more).collect();
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|entity| e.contains(**entity)));
    assert_eq!((e.len(), e.rowless_len()), (7, 4));
    checked(&e);
}
