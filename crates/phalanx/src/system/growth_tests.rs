//! That listeners cost nothing when they are gone, and that keeping them grows with their number, not with its square.
//!
//! Steps are counted, as in the tests of worlds; here they are caused by observers and by systems that read what
//! happened.

use super::{Observer, On, Reactive, RemovedComponents};
use crate::steps;
use crate::world::growth_tests::assert_linear;
use crate::world::{Add, Event, GlobalTrigger, Matched, Remove, World, open_set};

#[derive(phalanx_derive::Component)]
struct First(u32);

#[derive(phalanx_derive::Component)]
struct Second(u32);

#[derive(phalanx_derive::Component)]
#[component(storage = "sparse")]
struct InSet(u32);

// Each change of a round takes the path that passes listeners by, or a step.
#[test]
fn fast_paths_come_back_when_the_last_listener_goes() {
    let round = |world: &mut World| {
        let entity = world.spawn(First(1)).id();
        world.insert(entity, Second(2)).expect("alive");
        world.remove::<Second>(entity).expect("alive");
        world.insert(entity, InSet(3)).expect("alive");
        world.remove::<InSet>(entity).expect("alive");
        assert!(world.despawn(entity));
    };
    let steps_of = |world: &mut World| {
        // Edges are planned, and the spawn cursor is opened.
        round(world);
        round(world);
        steps::of(|| (0..100).for_each(|_| round(world)))
    };
    let mut world = World::new();
    assert_eq!(steps_of(&mut world), 0);
    let one = |_: On<Add<First>>| {};
    let some = |_: On<Remove<(First, Second, InSet)>>| {};
    for (steps, observer) in [(300, Observer::new(some)), (200, Observer::new(one))] {
        let observer = world.add_observer(observer);
        let heard = steps_of(&mut world);
        assert!(heard >= steps, "{heard} steps");
        assert!(world.remove_observer(observer));
        assert_eq!(steps_of(&mut world), 0);
    }
    let everything = world.add_observer(|_: On<Add<()>>| {});
    assert!(steps_of(&mut world) >= 600);
    assert!(world.remove_observer(everything));
    assert_eq!(steps_of(&mut world), 0);
    let matched = world.add_observer(|_: On<Matched<(&Second, &InSet)>>| {});
    assert!(steps_of(&mut world) >= 400);
    assert!(world.remove_observer(matched));
    assert_eq!(steps_of(&mut world), 0);
    let removed = world.register_system(|mut all: RemovedComponents<Second>| all.read().count());
    world.run_system(removed).expect("it listens from its first run on");
    assert!(steps_of(&mut world) >= 200);
    world.unregister_system(removed).expect("registered");
    world.end_frame();
    assert_eq!(steps_of(&mut world), 0);
    let reactive =
        world.register_system(|mut all: Reactive<(Add<InSet>, Matched<&Second>)>| all.read().count());
    world.run_system(reactive).expect("it listens from its first run on");
    assert!(steps_of(&mut world) >= 400);
    world.unregister_system(reactive).expect("registered");
    world.end_frame();
    assert_eq!(steps_of(&mut world), 0);
    world.check().expect("valid");
}

#[test]
fn an_unread_reactive_set_grows_with_the_living() {
    assert_linear(|size| {
        let mut world = World::new();
        let set = world.collect_reactive::<(Add<First>, Matched<&Second>)>();
        let lasting: Vec<_> = (0..100).map(|at| world.spawn(First(at)).id()).collect();
        let steps = steps::of(|| {
            for _ in 0..size * 10 {
                let entity = world.spawn((First(0), Second(0))).id();
                assert!(open_set(&set).entities.len() <= 2 * (lasting.len() + 1));
                assert!(world.despawn(entity));
            }
        });
        assert_eq!(open_set(&set).entities[..lasting.len()], lasting, "the living stay, in their order");
        open_set(&set).take();
        let again = world.spawn(First(1)).id();
        assert_eq!(open_set(&set).entities, [again]);
        steps
    });
}

struct Dawn;
impl Event for Dawn {
    type Trigger = GlobalTrigger;
}

#[test]
fn the_order_of_observers_is_worked_out_once_for_all_that_were_added() {
    fn first(_: On<Dawn>) {}
    fn second(_: On<Dawn>) {}
    fn other(_: On<Dawn>) {}
    assert_linear(|size| {
        let mut world = World::new();
        world.add_observer(second);
        let steps = steps::of(|| {
            for _ in 0..size {
                world.add_observer(Observer::new(first).before(second));
                world.add_observer(other);
                world.add_observer(Observer::new(other).after(first));
            }
        });
        assert_eq!(steps, 0, "nothing is sorted before there is an event");
        let steps = steps::of(|| world.trigger(Dawn));
        assert!(steps > 0);
        assert_eq!(steps::of(|| world.trigger(Dawn)), 0, "the order is known");
        // No observer waits for these, so they come last, as they are.
        let steps_of_more = steps::of(|| {
            for _ in 0..size {
                world.add_observer(Observer::new(other).after(first));
                world.trigger(Dawn);
            }
        });
        assert_eq!(steps_of_more, 0);
        steps
    });
}
