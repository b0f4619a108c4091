//! Expressions and patterns in attributes: every form is read, also those that the derives leave to the compiler.

use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;

static HEARD: AtomicU32 = AtomicU32::new(0);

fn make<A, B>(value: u32) -> u32 {
    value + u32::from(size_of::<A>() > size_of::<B>())
}

#[derive(Component, Default, Debug, PartialEq)]
struct Number(u32);

#[derive(Component, Debug, PartialEq)]
struct Pair([u32; 2]);

#[derive(Component)]
#[component(
    on_add = |_, _| { HEARD.fetch_add(1, Ordering::Relaxed); },
    on_insert = move |_, context| { let _ = (context.entity, 1); HEARD.fetch_add(10, Ordering::Relaxed); }
)]
#[require(Number = Number(make::<u8, u16>(5)), Pair = if HEARD.load(Ordering::Relaxed) < 100 { Pair([1, 2]) } else { Pair([3, 4]) })]
struct Needs<const N: usize>([u8; N], [u8; 2 + 1]);

#[test]
fn hooks_and_requirements_take_closures_blocks_and_generic_calls() {
    let mut world = World::new();
    let entity = world.spawn(Needs([0; 4], [0; 3])).id();
    assert_eq!(world.get::<Number>(entity), Some(&Number(5)));
    assert_eq!(world.get::<Pair>(entity), Some(&Pair([1, 2])));
    assert_eq!(HEARD.load(Ordering::Relaxed), 11);
    let needs = world.get::<Needs<4>>(entity).expect("it lives");
    assert_eq!((needs.0.len(), needs.1.len()), (4, 3));
}

#[derive(States, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game(u8),
    End {
        won: bool,
    },
}

#[derive(SubStates, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Game(1..=3) | Screen::End { won: true, .. })]
struct Shown;

#[test]
fn a_source_takes_any_pattern() {
    let mut app = App::new();
    app.add_plugins(StatesPlugin).init_state::<Screen>().add_sub_state::<Shown>();
    let mut shown = |screen| {
        app.world_mut().resource_mut::<NextState<Screen>>().set(screen);
        app.update();
        app.world().get_resource::<State<Shown>>().is_some()
    };
    assert!(shown(Screen::Game(2)) && !shown(Screen::Game(4)) && !shown(Screen::Menu));
    assert!(shown(Screen::End { won: true }) && !shown(Screen::End { won: false }));
}
