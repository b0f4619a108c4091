//! Closures that other threads and async code run on a world, through its handle.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use phalanx::prelude::*;
use phalanx::world::{RemoteClosed, TryRunError};

#[derive(Resource, Default)]
struct Log(Vec<(usize, usize)>);

#[derive(Component, Debug, PartialEq)]
struct Health(u32);

fn is_handle<T: Send + Sync + Clone + 'static>(_: &T) {}

#[test]
fn a_handle_is_send_sync_clone_and_static() {
    is_handle(&World::new().remote());
}

#[test]
fn a_closure_runs_at_the_next_flush_and_answers() {
    let mut world = World::new();
    let remote = world.remote();
    let mut answer = remote.run(|world| world.spawn(Health(3)).id()).unwrap();
    assert_eq!((remote.waiting(), world.entities().len()), (1, 0));
    assert_eq!(answer.try_take(), Ok(None));
    world.flush();
    let entity = answer.try_take().unwrap().unwrap();
    assert_eq!(world.get::<Health>(entity), Some(&Health(3)));
    assert_eq!(answer.try_take(), Err(RemoteClosed), "a result is taken once");
}

#[test]
fn commands_that_a_closure_records_are_applied_in_the_same_flush() {
    let mut world = World::new();
    let remote = world.remote();
    remote.run(|world| world.commands().spawn(Health(1)).id()).unwrap();
    world.flush();
    assert_eq!(world.entities().len(), 1);
}

#[test]
fn an_app_runs_closures_at_its_sync_points() {
    fn count(log: Res<Log>, mut seen: Local<usize>) {
        *seen = log.0.len();
    }
    let mut app = App::new();
    app.init_resource::<Log>().add_systems(Update, count);
    let remote = app.world_mut().remote();
    let answer = remote.run(|world| world.resource_mut::<Log>().0.push((0, 0))).unwrap();
    app.step(0.0);
    assert_eq!(answer.wait(), Ok(()));
}

// Hazard: 100,000 closures from 8 threads: bounded, none lost, the order of each sender kept.
#[test]
fn a_hundred_thousand_closures_of_eight_threads_come_in_the_order_of_each() {
    const EACH: usize = 12_500;
    let mut world = World::new();
    world.init_resource::<Log>();
    let senders: Vec<_> = (0..8)
        .map(|sender| {
            let remote = world.remote_with_capacity(256);
            thread::spawn(move || {
                for number in 0..EACH {
                    remote.run(move |world| world.resource_mut::<Log>().0.push((sender, number))).unwrap();
                }
            })
        })
        .collect();
    let remote = world.remote();
    while world.resource::<Log>().0.len() < 8 * EACH {
        assert!(remote.waiting() <= 256, "the queue is bounded");
        world.flush();
        thread::yield_now();
    }
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    world.flush();
    let mut next = [0; 8];
    for &(sender, number) in &world.resource::<Log>().0 {
        assert_eq!(number, next[sender], "sender {sender}");
        next[sender] += 1;
    }
    assert_eq!(next, [EACH; 8]);
    world.check().unwrap();
}

// Hazard: a handle kept after the world is gone.
#[test]
fn a_handle_outlives_its_world_and_says_so() {
    let mut world = World::new();
    let remote = world.remote();
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let answer = remote.run(move |_| drop(inside)).unwrap();
    drop(world);
    assert_eq!(Arc::strong_count(&held), 1, "what waited is dropped");
    assert_eq!(answer.wait(), Err(RemoteClosed));
    assert!(remote.is_closed());
    assert_eq!(remote.run(|_| ()).err(), Some(RemoteClosed));
    assert_eq!(remote.try_run(|_| ()).err(), Some(TryRunError::Closed));
    assert_eq!(now(remote.run_async(|_| ())), Some(Err(RemoteClosed)));
}

#[test]
fn a_full_queue_refuses_or_waits() {
    let mut world = World::new();
    let remote = world.remote_with_capacity(1);
    remote.run(|_| ()).unwrap();
    let error = remote.try_run(|_| ()).unwrap_err();
    assert_eq!(error, TryRunError::Full);
    assert!(error.to_string().contains("remote_with_capacity"), "{error}");
    let (sent, received) = mpsc::channel();
    let waiting = thread::spawn({
        let remote = remote.clone();
        move || {
            sent.send(()).unwrap();
            remote.run(|_| 7).unwrap().wait()
        }
    });
    received.recv().unwrap();
    while !waiting.is_finished() {
        world.flush();
        thread::yield_now();
    }
    assert_eq!(waiting.join().unwrap(), Ok(7));
}

#[test]
fn a_world_that_goes_frees_a_sender_that_waits_for_room() {
    let mut world = World::new();
    let remote = world.remote_with_capacity(1);
    remote.run(|_| ()).unwrap();
    let (sent, received) = mpsc::channel();
    let waiting = thread::spawn(move || {
        sent.send(()).unwrap();
        remote.run(|_| ()).map(|_| ())
    });
    received.recv().unwrap();
    drop(world);
    assert_eq!(waiting.join().unwrap(), Err(RemoteClosed));
}

#[test]
fn a_closure_that_panics_is_gone_and_the_others_run() {
    let mut world = World::new();
    let remote = world.remote();
    let lost = remote.run(|_| -> u8 { panic!("told to") }).unwrap();
    let kept = remote.run(|_| 5_u8).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| world.flush())).is_err());
    assert_eq!(lost.wait(), Err(RemoteClosed));
    world.flush();
    assert_eq!(kept.wait(), Ok(5));
    world.check().unwrap();
}

#[test]
fn a_flush_inside_a_closure_runs_no_other_closure() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let remote = world.remote();
    remote
        .run(|world| {
            world.flush();
            world.resource_mut::<Log>().0.push((0, 0));
        })
        .unwrap();
    remote.run(|world| world.resource_mut::<Log>().0.push((0, 1))).unwrap();
    world.flush();
    assert_eq!(world.resource::<Log>().0, [(0, 0), (0, 1)]);
}

#[test]
fn a_change_with_listeners_runs_no_closure() {
    let mut world = World::new();
    world.init_resource::<Log>();
    world.add_observer(|_: On<Add<Health>>, mut commands: Commands| {
        commands.insert_resource(Log(vec![(9, 9)]));
    });
    let remote = world.remote();
    remote.run(|world| world.resource_mut::<Log>().0.push((0, 0))).unwrap();
    world.spawn(Health(1));
    assert_eq!((world.resource::<Log>().0.len(), remote.waiting()), (1, 1));
    world.flush();
    assert_eq!(world.resource::<Log>().0.len(), 2);
}

#[test]
fn closures_that_come_during_a_flush_wait_for_the_next() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let remote = world.remote();
    let again = remote.clone();
    remote.run(move |_| again.run(|world| world.resource_mut::<Log>().0.push((1, 1))).map(|_| ())).unwrap();
    world.flush();
    assert!(world.resource::<Log>().0.is_empty());
    world.flush();
    assert_eq!(world.resource::<Log>().0.len(), 1);
}

struct Count(AtomicUsize);
impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The outcome of a future that is ready at once.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[test]
fn an_answer_is_a_future_that_is_woken() {
    let mut world = World::new();
    let remote = world.remote_with_capacity(1);
    remote.run(|_| ()).unwrap();
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(remote.run_async(|world| world.entities().len()));
    assert!(future.as_mut().poll(&mut context).is_pending(), "the queue is full");
    world.flush();
    assert_eq!(count.0.load(Ordering::Relaxed), 1, "there is room");
    assert!(future.as_mut().poll(&mut context).is_pending(), "the closure waits");
    world.flush();
    assert_eq!(count.0.load(Ordering::Relaxed), 2, "the answer is there");
    assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(Ok(0)));
}
