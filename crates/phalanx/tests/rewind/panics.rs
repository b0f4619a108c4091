//! Values that panic when they are copied or dropped, in apps: the frames that are kept stay, and what the app knows.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

thread_local! {
    /// How many clones or drops there are until one panics; none panics at zero.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

fn count_down(what: &str) {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    assert!(left != 1, "{what}");
}

fn panics<R>(left: u32, f: impl FnOnce() -> R) {
    LEFT.set(left);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    LEFT.set(0);
    assert!(outcome.is_err(), "something panicked");
}

#[derive(Component, Debug, Default, PartialEq)]
struct FrailClone(u32);
impl Clone for FrailClone {
    fn clone(&self) -> Self {
        count_down("no clone");
        Self(self.0)
    }
}

#[derive(Component, Clone, Debug, PartialEq)]
struct FrailDrop(u32);
impl Drop for FrailDrop {
    fn drop(&mut self) {
        count_down("no drop");
    }
}

fn counting() -> App {
    let mut app = App::new();
    app.keep_history(10);
    app.add_systems(Update, |mut all: Query<&mut FrailDrop>| all.single_mut().expect("there is one").0 += 1);
    app.world_mut().spawn(FrailDrop(0));
    (0..6).for_each(|_| app.step(0.1));
    app
}

fn count(world: &World) -> u32 {
    world.view::<&FrailDrop>().single().expect("there is one").0
}

#[test]
fn a_value_that_panics_when_it_is_copied_leaves_the_registered_types_of_locals() {
    #[derive(Clone, Default)]
    struct Mine;
    let mut app = App::new();
    app.register_checkpoint_of_local::<Mine>().register_checkpoint_of_local::<FrailClone>();
    app.add_systems(Update, |_: Local<Mine>, mut runs: Local<FrailClone>| runs.0 += 1);
    let e = app.world_mut().spawn(FrailClone(0)).id();
    app.step(0.1);
    // The first one copies the `Local`, the second one the component.
    for left in [1, 2] {
        app.world_mut().get_mut::<FrailClone>(e).expect("alive").0 += 1;
        panics(left, || app.checkpoint());
        let checkpoint = app.try_checkpoint().expect("the types are known still");
        app.world_mut().get_mut::<FrailClone>(e).expect("alive").0 += 1;
        panics(1, || app.restore(&checkpoint));
        app.restore(&checkpoint).expect("nothing had changed");
    }
}

#[test]
fn a_value_that_panics_in_its_drop_leaves_the_frames_that_are_kept() {
    let mut app = counting();
    panics(1, || app.rewind(2));
    assert_eq!((app.history_len(), count(app.world())), (3, 4), "it went back all the same");
    app.rewind(1).expect("it is kept");
    assert_eq!((app.history_len(), count(app.world())), (2, 3));
    app.step(0.1);
    assert_eq!((app.history_len(), count(app.world())), (3, 4));
}

#[test]
fn a_look_at_the_past_that_panics_leaves_the_present_and_the_frames_that_are_kept() {
    for left in 1..4 {
        let mut app = counting();
        LEFT.set(left);
        let outcome = catch_unwind(AssertUnwindSafe(|| app.look_back(3, count)));
        LEFT.set(0);
        assert!(left > 1 || outcome.is_err(), "a value was dropped");
        assert_eq!((app.history_len(), count(app.world())), (5, 6), "{left} drops");
        panics(0, || app.look_back(3, |_| panic!("the look")));
        assert_eq!(app.look_back(3, count).expect("it is kept"), 3);
        assert_eq!((app.history_len(), count(app.world())), (5, 6), "{left} drops");
    }
}
