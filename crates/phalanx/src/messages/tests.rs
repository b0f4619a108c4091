//! What a channel does, fact by fact: numbers, cursors, frames, and messages that panic in their drop.
//!
//! Channels of a world, and readers in systems, have tests of their own.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

#[derive(phalanx_derive::Message, Debug, PartialEq)]
struct Hit(u32);

#[derive(phalanx_derive::Message)]
struct Signal;

/// Counts itself by the reference it holds, and may panic when dropped.
#[derive(phalanx_derive::Message)]
struct Counted(#[allow(dead_code, reason = "held to be counted")] Arc<()>, bool);
impl Drop for Counted {
    fn drop(&mut self) {
        assert!(!self.1, "told to panic");
    }
}

fn read(messages: &Messages<Hit>, cursor: &mut Cursor<Hit>) -> Vec<u32> {
    messages.read(cursor).map(|hit| hit.0).collect()
}

// O-247, O-256, O-257: what is written is there at once, for every reader, in order.
#[test]
fn written_messages_are_visible_at_once_and_in_order() {
    let mut messages = Messages::with_keep(0);
    assert!(messages.is_empty());
    let id = messages.write(Hit(7));
    messages.write_batch([Hit(8), Hit(9)]);
    assert_eq!(messages.as_slice(), [Hit(7), Hit(8), Hit(9)]);
    assert_eq!((messages.iter().count(), messages.len(), messages.is_empty()), (3, 3, false));
    assert_eq!((id.get(), messages.get_message(id)), (0, Some((&Hit(7), id))));
    assert_eq!(format!("{messages:?}"), "Messages { first: 0, live: [Hit(7), Hit(8), Hit(9)] }");
    messages.update();
    assert_eq!(messages.get_message(id), None);
}

#[test]
fn messages_live_to_the_end_of_the_next_frame() {
    let mut messages = Messages::new();
    assert_eq!(messages.keep(), 1);
    messages.write(Hit(1));
    messages.update();
    messages.write(Hit(2));
    assert_eq!(messages.as_slice(), [Hit(1), Hit(2)]);
    messages.update();
    assert_eq!(messages.as_slice(), [Hit(2)]);
    messages.update();
    assert!(messages.is_empty());
}

#[test]
fn a_cursor_knows_how_many_messages_it_missed() {
    let mut messages = Messages::with_keep(0);
    let mut cursor = messages.get_cursor();
    messages.write_batch([Hit(1), Hit(2), Hit(3)]);
    assert_eq!(messages.read(&mut cursor).next(), Some(&Hit(1)));
    messages.update();
    messages.write(Hit(4));
    assert_eq!((messages.missed(&cursor), messages.unread(&cursor)), (2, 1));
    assert_eq!(read(&messages, &mut cursor), [4]);
    messages.update();
    assert_eq!((messages.missed(&cursor), messages.missed(&messages.get_cursor())), (0, 0));
}

// Hazard 59.
#[test]
fn each_cursor_sees_each_message_once() {
    let mut messages = Messages::with_keep(0);
    let (mut early, mut late) = (Cursor::default(), Cursor::default());
    messages.write(Hit(1));
    assert_eq!(read(&messages, &mut early), [1]);
    messages.write_batch([Hit(2), Hit(3)]);
    assert_eq!((messages.unread(&early), messages.unread(&late)), (2, 3));
    assert_eq!(read(&messages, &mut early), [2, 3]);
    assert_eq!(read(&messages, &mut late), [1, 2, 3]);
    assert!(read(&messages, &mut early).is_empty() && read(&messages, &mut late).is_empty());
}

// Hazard 59: a reader that stops early goes on where it stopped.
#[test]
fn messages_left_in_an_iterator_come_again() {
    let mut messages = Messages::with_keep(0);
    messages.write_batch([Hit(1), Hit(2), Hit(3)]);
    let mut cursor = Cursor::default();
    assert_eq!(messages.read(&mut cursor).next(), Some(&Hit(1)));
    assert_eq!(messages.read(&mut cursor).len(), 2);
    assert_eq!(read(&messages, &mut cursor), [2, 3]);
}

// Hazard 59: the numbers go on, so an old cursor is neither fooled nor behind.
#[test]
fn a_cursor_stays_right_across_frames_clears_and_drains() {
    let mut messages = Messages::with_keep(0);
    let mut cursor = Cursor::default();
    messages.write_batch([Hit(1), Hit(2)]);
    assert_eq!(messages.read(&mut cursor).next(), Some(&Hit(1)));
    messages.update();
    messages.write(Hit(3));
    assert_eq!(read(&messages, &mut cursor), [3]);
    messages.clear();
    assert_eq!(messages.write(Hit(4)).get(), 3);
    assert_eq!(read(&messages, &mut cursor), [4]);
    assert_eq!(messages.drain().map(|hit| hit.0).collect::<Vec<_>>(), [4]);
    messages.write(Hit(5));
    assert_eq!(read(&messages, &mut cursor), [5]);
}

#[test]
fn a_cursor_made_now_sees_only_what_follows() {
    let mut messages = Messages::with_keep(0);
    messages.write(Hit(1));
    let mut cursor = messages.get_cursor_current();
    messages.write(Hit(2));
    assert_eq!(read(&messages, &mut cursor), [2]);
}

#[test]
fn a_cursor_from_a_longer_channel_begins_anew() {
    let (mut long, mut short) = (Messages::with_keep(0), Messages::with_keep(0));
    long.write_batch([Hit(1), Hit(2), Hit(3)]);
    let mut cursor = long.get_cursor_current();
    short.write(Hit(9));
    assert_eq!(read(&short, &mut cursor), [9]);
    assert_eq!(read(&short, &mut cursor), [0; 0]);
}

// O-248, O-258; hazard 60: no reader is needed for messages to go.
#[test]
fn unread_messages_do_not_pile_up() {
    for keep in 0..4 {
        let mut messages = Messages::with_keep(keep);
        for frame in 0..1000 {
            messages.write_batch([Hit(frame), Hit(frame)]);
            assert!(messages.len() <= 2 * (keep + 1));
            messages.update();
        }
        assert_eq!(messages.len(), 2 * keep);
        assert!(messages.live.capacity() + messages.spent.capacity() < 64);
        (0..keep).for_each(|_| messages.update());
        assert!(messages.is_empty() && messages.ends.len() <= keep);
    }
}

#[test]
fn kept_messages_live_exactly_that_many_frames_more() {
    let mut messages = Messages::with_keep(2);
    let mut alive = Vec::new();
    for frame in 0..5 {
        messages.write(Hit(frame));
        alive.push(messages.iter().map(|hit| hit.0).collect::<Vec<_>>());
        messages.update();
    }
    assert_eq!(alive, [vec![0], vec![0, 1], vec![0, 1, 2], vec![1, 2, 3], vec![2, 3, 4]]);
}

#[test]
fn a_lowered_keep_takes_effect_at_the_next_end_of_a_frame() {
    let mut messages = Messages::with_keep(3);
    assert_eq!(messages.keep(), 3);
    for frame in 0..3 {
        messages.write(Hit(frame));
        messages.update();
    }
    messages.set_keep(1);
    messages.write(Hit(3));
    assert_eq!(messages.len(), 4);
    messages.update();
    assert_eq!(messages.as_slice(), [Hit(3)]);
}

// Messages of start-up live through the first update: start-up does not end its frame.
#[test]
fn a_frame_that_is_not_ended_goes_on() {
    let mut messages = Messages::with_keep(0);
    let mut cursor = Cursor::default();
    messages.write(Hit(1));
    // Start-up is over here, and the first update begins.
    messages.write(Hit(2));
    assert_eq!(read(&messages, &mut cursor), [1, 2]);
    messages.update();
    assert!(messages.is_empty());
}

// O-251, O-253: a signal is only counted.
#[test]
fn signals_are_counted_without_memory() {
    let mut messages = Messages::with_keep(0);
    let mut cursor = Cursor::default();
    messages.write_batch((0..100_000).map(|_| Signal));
    assert_eq!((messages.len(), messages.read(&mut cursor).count()), (100_000, 100_000));
    messages.update();
    assert_eq!(messages.unread(&cursor), 0);
}

#[test]
fn each_message_is_dropped_once_even_when_one_panics() {
    let count = Arc::new(());
    let mut messages = Messages::with_keep(0);
    for panics in [false, true, false] {
        messages.write(Counted(Arc::clone(&count), panics));
    }
    assert!(catch_unwind(AssertUnwindSafe(|| messages.update())).is_err());
    assert_eq!((messages.len(), Arc::strong_count(&count)), (0, 1));
    assert_eq!(messages.write(Counted(Arc::clone(&count), false)).get(), 3);
    drop(messages);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn a_forgotten_drain_leaves_the_numbers_right() {
    let mut messages = Messages::with_keep(0);
    let mut cursor = Cursor::default();
    messages.write_batch([Hit(1), Hit(2)]);
    std::mem::forget(messages.drain());
    messages.write(Hit(3));
    assert_eq!(read(&messages, &mut cursor), [3]);
}
