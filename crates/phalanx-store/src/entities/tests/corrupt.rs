//! Every fault that `check` promises to see, planted by hand: a check that never fails proves nothing.
//!
//! Each fault is planted in the same small directory, through private fields, and `check` must name it.

use super::*;

/// Four slots: 0 rowless, 1 with a row, then 3 and 2 free in this order.
fn sample() -> Entities {
    let (mut e, ids) = with_alive(4);
    // SAFETY: locally: the directory stands alone, without rows to be wrong about.
    unsafe { e.set_location(1, at(5)) };
    e.free_alone(ids[2]).expect("it is alive");
    e.free_alone(ids[3]).expect("it is alive");
    checked(&e);
    e
}

fn relink(e: &mut Entities, index: u32, next: u32) {
    let link = &mut e.slots[index as usize].link;
    *link = Entity::new(next, link.raw_generation());
}

#[track_caller]
fn found(expected: &str, plant: impl FnOnce(&mut Entities)) {
    let mut e = sample();
    plant(&mut e);
    let fault = e.check().expect_err("the fault is found");
    assert!(fault.contains(expected), "{fault}");
}

#[test]
fn a_cycle_in_the_list_is_found() {
    found("comes back to slot 3", |e| relink(e, 2, 3));
}

#[test]
fn a_list_that_leads_nowhere_is_found() {
    found("leads to 9", |e| relink(e, 2, 9));
}

#[test]
fn a_living_slot_in_the_list_is_found() {
    found("slot 1 is in the free list", |e| relink(e, 2, 1));
}

#[test]
fn a_free_slot_that_the_list_misses_is_found() {
    found("1 slots listed, 2 counted", |e| relink(e, 3, NONE));
    found("dead, retired, rowless are (2, 0, 1)", |e| {
        relink(e, 3, NONE);
        e.free = 1;
    });
}

#[test]
fn a_shared_head_off_the_list_is_found() {
    found("shared head 1", |e| {
        with_mut(&mut e.reserved, |reserved| *reserved = 3 + 1);
        with_mut(&mut e.head, |head| *head = 1);
    });
    found("slot 1 is in the free list", |e| with_mut(&mut e.head, |head| *head = 1));
}

#[test]
fn wrong_counts_are_found() {
    found("counted (2, 0, 2)", |e| e.rowless = 2);
    found("counted (3, 1, 1)", |e| e.retired = 1);
}

#[test]
fn a_rowless_slot_with_another_index_is_found() {
    found("rowless slot 0 carries 4", |e| relink(e, 0, 4));
}

#[test]
fn a_living_slot_without_a_generation_is_found() {
    found("slot 1 is alive with no generation left", |e| {
        e.slots[1].link = Entity::new(5, USED_UP);
    });
}

#[test]
fn a_retired_slot_that_leads_on_is_found() {
    found("retired slot 1 leads to 2", |e| {
        e.slots[1].table = TableId::DEAD;
        e.slots[1].link = Entity::new(2, USED_UP);
    });
}

#[test]
fn going_over_the_limit_is_found() {
    found("4 slots, limit 3", |e| e.limit = 3);
    found("1 fresh ids reserved", |e| {
        e.limit = 4;
        with_mut(&mut e.reserved, |reserved| *reserved = 1 << 32);
    });
}
