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
    app.step(0.1);
    // Three systems, three cursors.
    assert_eq!(app.world().resource::<Log>().0, [vec![1, 2], vec![1, 2, 3], vec![1, 2, 3]]);
}

// Hazard 59: a reader before the writer sees the messages of the frame before, once, unless they are not kept.
#[test]
fn a_reader_before_the_writer_sees_the_messages_of_the_frame_before() {
    for (keep, expected) in [(None, vec![vec![], vec![7], vec![7]]), (Some(0), vec![vec![], vec![], vec![]])]
    {
        let mut app = app();
        keep.into_iter().for_each(|keep| app.world_mut().messages_mut::<Hit>().set_keep(keep));
        app.add_systems(Update, (read, write(&[7])).chain());
        (0..3).for_each(|_| app.step(0.1));
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
    (0..3).for_each(|_| app.step(0.1));
    assert_eq!(app.world().resource::<Log>().0, [[1], [2], [3]]);
}

// Hazard 60.
#[test]
fn unread_messages_do_not_grow_without_bound() {
    let mut app = app();
    app.add_systems(Update, write(&[1, 2, 3]));
    // A reader that never gets around to reading.
    app.add_systems(Update, |hits: MessageReader<Hit>| assert!(hits.len() <= 6));
    (0..1000).for_each(|_| app.step(0.1));
    assert_eq!(app.world().messages::<Hit>().map(Messages::len), Some(3));
}

#[test]
fn a_reader_that_did_not_run_knows_how_many_messages_it_missed() {
    let mut app = app();
    app.add_systems(Update, write(&[1, 2]));
    fn every_fourth(time: Res<Time>) -> bool {
        time.frame().is_multiple_of(4)
    }
    fn miss(mut hits: MessageReader<Hit>, mut log: ResMut<Log>) {
        let missed = u32::try_from(hits.missed()).expect("few");
        log.0.push(vec![missed, u32::try_from(hits.read().count()).expect("few")]);
        assert_eq!(hits.missed(), 0);
    }
    app.add_systems(Update, miss.run_if(every_fourth));
    (0..8).for_each(|_| app.step(0.1));
    // Of eight messages those of the last two frames are left.
    assert_eq!(app.world().resource::<Log>().0, [vec![4, 4], vec![4, 4]]);
    // One that comes late has missed nothing.
    app.add_systems(PostUpdate, |hits: MessageReader<Hit>| assert_eq!((hits.missed(), hits.len()), (0, 4)));
    app.step(0.1);
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
    app.step(0.1);
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
        app.step(0.1);
        assert_eq!(app.world().resource::<Log>().0, [[1, 2, 3, 4, 5]]);
    }
}

// O-254, O-255: all unread messages in one slice of the channel itself.
#[test]
fn a_slice_of_unread_messages_is_the_channels_own_memory() {
    let mut world = World::new();
    world.messages_mut::<Hit>().write_batch([Hit(1), Hit(2)]);
    let own = world.messages::<Hit>().expect("written").as_slice().as_ptr().addr();
    world
        .run_system_once(move |mut hits: MessageReader<Hit>| {
            let slice = hits.columns();
            assert_eq!((slice, slice.as_ptr().addr()), (&[Hit(1), Hit(2)][..], own));
            assert!(hits.is_empty());
        })
        .unwrap();
}

#[test]
fn a_channel_as_a_resource_is_the_channel_of_writers_and_readers() {
    fn look(hits: Res<Messages<Hit>>, mut log: ResMut<Log>) {
        log.0.push(vec![u32::try_from(hits.len()).expect("few")]);
    }
    fn take(mut hits: ResMut<Messages<Hit>>, mut log: ResMut<Log>) {
        assert!(hits.is_changed(), "it changes with every frame");
        log.0.push(hits.drain().map(|hit| hit.0).collect());
    }
    let mut app = app();
    app.add_systems(Update, (look, write(&[4, 5]), look, take, read, look).chain());
    app.step(0.1);
    assert_eq!(app.world().resource::<Log>().0, [vec![0], vec![2], vec![4, 5], vec![], vec![0]]);
}

#[test]
fn a_channel_as_a_resource_conflicts_with_its_other_users() {
    let mut world = World::new();
    let refused = world.run_system_once(|_: ResMut<Messages<Hit>>, _: MessageReader<Hit>| {});
    let text = refused.expect_err("both use the channel, and one writes").to_string();
    assert!(text.contains("ResMut<Messages<Hit>>") && text.contains("MessageReader<Hit>"), "{text}");
    world.run_system_once(|_: Res<Messages<Hit>>, _: MessageReader<Hit>| {}).expect("both read");
}
