//! Messages between systems: cursors, order, lifetime, signals.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Message, Clone, Copy, Debug, PartialEq)]
struct Hit(u32);
#[derive(Message, Clone, Copy)]
struct Signal;
#[derive(Resource, Default)]
struct Log(Vec<Vec<u32>>);

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}

fn read(mut hits: MessageReader<Hit>, mut log: ResMut<Log>) {
    log.0.push(hits.read().map(|hit| hit.0).collect());
}
fn write(numbers: &'static [u32]) -> impl FnMut(MessageWriter<Hit>) {
    move |mut hits| hits.write_batch(numbers.iter().map(|n| Hit(*n)))
}

// Hazard 59.
#[test]
fn a_reader_sees_each_message_once_and_misses_none() {
    let mut app = app();
    app.add_systems(Update, (write(&[1, 2]), read, write(&[3]), read).chain());
    app.add_systems(PostUpdate, read);
    app.update(0.1);
    // Three systems, three cursors.
    assert_eq!(app.world().resource::<Log>().0, [vec![1, 2], vec![1, 2, 3], vec![1, 2, 3]]);
}

// Hazard 59: a reader before the writer sees the messages of the frame before only if they are kept.
#[test]
fn a_reader_before_the_writer_needs_kept_messages() {
    for (keep, expected) in [(0, vec![vec![], vec![], vec![]]), (1, vec![vec![], vec![7], vec![7]])] {
        let mut app = app();
        app.world_mut().messages_mut::<Hit>().set_keep(keep);
        app.add_systems(Update, (read, write(&[7])).chain());
        (0..3).for_each(|_| app.update(0.1));
        assert_eq!(app.world().resource::<Log>().0, expected);
    }
}

#[test]
fn messages_left_by_an_early_break_come_again() {
    let mut app = app();
    app.world_mut().messages_mut::<Hit>().set_keep(5);
    app.add_systems(Update, |mut hits: MessageReader<Hit>, mut log: ResMut<Log>| {
        log.0.push(hits.read().take(1).map(|hit| hit.0).collect());
        assert_eq!(hits.is_empty(), log.0.len() >= 3);
    });
    app.world_mut().messages_mut::<Hit>().write_batch([Hit(1), Hit(2), Hit(3)]);
    (0..3).for_each(|_| app.update(0.1));
    assert_eq!(app.world().resource::<Log>().0, [[1], [2], [3]]);
}

// Hazard 60.
#[test]
fn unread_messages_do_not_grow_without_bound() {
    let mut app = app();
    app.add_systems(Update, write(&[1, 2, 3]));
    // A reader that never gets around to reading.
    app.add_systems(Update, |hits: MessageReader<Hit>| assert!(hits.len() <= 3));
    (0..1000).for_each(|_| app.update(0.1));
    assert!(app.world().messages::<Hit>().is_some_and(phalanx::messages::Messages::is_empty));
}

// O-251, O-253.
#[test]
fn signals_are_only_counted() {
    let mut app = app();
    app.add_systems(Update, |mut signals: MessageWriter<Signal>| {
        (0..5).for_each(|_| {
            signals.write(Signal);
        });
    });
    app.add_systems(PostUpdate, |mut signals: MessageReader<Signal>| {
        assert_eq!((signals.len(), signals.read().count(), signals.len()), (5, 5, 0));
    });
    app.update(0.1);
    assert_eq!(size_of::<Signal>(), 0);
}

// Messages have one order, whatever the threads.
#[test]
fn writers_of_one_type_keep_the_order_of_the_schedule() {
    for threads in [Threads::Serial, Threads::N(2), Threads::N(8)] {
        let mut app = app();
        app.configure(AppConfig { threads, small_phase: Default::default(), ..Default::default() });
        app.add_systems(Update, (write(&[1]), write(&[2, 3]), write(&[4]), write(&[5])));
        app.add_systems(PostUpdate, read);
        app.update(0.1);
        assert_eq!(app.world().resource::<Log>().0, [[1, 2, 3, 4, 5]]);
    }
}

// O-254, O-255: all unread messages in one slice of the channel itself.
#[test]
fn a_slice_of_unread_messages_is_the_channels_own_memory() {
    let mut world = World::new();
    world.messages_mut::<Hit>().write_batch([Hit(1), Hit(2)]);
    let own = world.messages::<Hit>().expect("written").as_slice().as_ptr().addr();
    world.run_system_once(move |mut hits: MessageReader<Hit>| {
        let slice = hits.columns();
        assert_eq!((slice, slice.as_ptr().addr()), (&[Hit(1), Hit(2)][..], own));
        assert!(hits.is_empty());
    });
}
