//! Derived components in a world: spawned, read, written, and joined by what they require.
//!
//! Every kind goes through `spawn`, `get` and `get_mut`, each form of `#[require(..)]` gives its value, and
//! the world's registry tells back what the attributes say.

use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::ComponentId;
use phalanx::component::{Layout, Track};
use phalanx::prelude::{Bundle, Component, World};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
struct Label(String, u8);

#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
struct Armour(u32);

#[derive(Component, Debug, PartialEq)]
struct Frozen;

#[derive(Component, Clone, Debug, Default, PartialEq)]
struct Health(f32);

#[derive(Component, Debug, PartialEq)]
struct Slot<T, const N: usize>([T; N]);

#[derive(Component, Debug, PartialEq)]
enum Mood {
    Calm,
    Angry { at: u32 },
}

#[derive(Bundle)]
struct Body<T> {
    health: Health,
    position: Position,
    rest: T,
}

#[test]
fn every_kind_is_spawned_and_read() {
    let mut world = World::new();
    let e = world
        .spawn((
            Position { x: 1.0, y: 2.0 },
            Label("a".into(), 1),
            (Armour(3), Frozen, Mood::Angry { at: 4 }),
            Slot([5u8, 6]),
        ))
        .id();
    assert_eq!(world.get::<Position>(e).map(|row| row.get()), Some(Position { x: 1.0, y: 2.0 }));
    assert_eq!(world.get::<position::y>(e), Some(&2.0));
    assert_eq!(world.get::<Label>(e).map(|row| row.get()), Some(Label("a".into(), 1)));
    assert_eq!(world.get::<label::_1>(e), Some(&1));
    assert_eq!(world.get::<Armour>(e), Some(&Armour(3)));
    assert_eq!(world.get::<Frozen>(e), Some(&Frozen));
    assert_eq!(world.get::<Mood>(e), Some(&Mood::Angry { at: 4 }));
    assert_eq!(world.get::<Slot<u8, 2>>(e), Some(&Slot([5, 6])));
    assert_eq!(world.get::<Slot<u8, 3>>(e), None);
    assert_eq!(world.get::<Health>(e), None);
}

#[test]
fn every_kind_is_written() {
    let mut world = World::new();
    let position = Position { x: 1.0, y: 2.0 };
    let e = world.spawn((position, Label("a".into(), 1), Armour(3), Health(4.0), Mood::Calm)).id();
    if let Some(mut row) = world.get_mut::<Position>(e) {
        *row.x += 1.0;
        row.set(Position { y: 9.0, ..row.get() });
    }
    if let Some(x) = world.get_mut::<position::x>(e) {
        *x *= 2.0;
    }
    if let Some(row) = world.get_mut::<Label>(e) {
        row.0.push('b');
    }
    if let Some(n) = world.get_mut::<label::_1>(e) {
        *n = 7;
    }
    if let Some(mut armour) = world.get_mut::<Armour>(e) {
        armour.0 = 5;
    }
    if let Some(mut health) = world.get_mut::<Health>(e) {
        health.0 = 6.0;
    }
    if let Some(mut mood) = world.get_mut::<Mood>(e) {
        *mood = Mood::Angry { at: 1 };
    }
    assert_eq!(world.get::<Position>(e).map(|row| row.get()), Some(Position { x: 4.0, y: 9.0 }));
    assert_eq!(world.get::<Label>(e).map(|row| row.get()), Some(Label("ab".into(), 7)));
    assert_eq!(world.get::<Armour>(e), Some(&Armour(5)));
    assert_eq!(world.get::<Health>(e), Some(&Health(6.0)));
    assert_eq!(world.get::<Mood>(e), Some(&Mood::Angry { at: 1 }));
}

#[test]
fn bundles_are_spawned_whole() {
    let mut world = World::new();
    let body = Body {
        health: Health(1.0),
        position: Position { x: 2.0, y: 3.0 },
        rest: (Frozen, Label("a".into(), 4)),
    };
    let e = world.spawn((body, Armour(5))).id();
    assert_eq!(world.get::<Health>(e), Some(&Health(1.0)));
    assert_eq!(world.get::<position::y>(e), Some(&3.0));
    assert_eq!(world.get::<label::_1>(e), Some(&4));
    assert_eq!(world.get::<Armour>(e), Some(&Armour(5)));
    assert!(world.get::<Frozen>(e).is_some());
}

const LIVES: u32 = 9;

mod far {
    use phalanx::prelude::Component;

    #[derive(Component, Debug, PartialEq)]
    pub struct Weight<T>(pub T);

    #[derive(Component, Debug, Default, PartialEq)]
    pub struct Size {
        pub width: u8,
        pub height: u8,
    }
}

#[derive(Component)]
#[require(Health, Armour(LIVES * 2), Position { x: 1.0, y: 2.0 }, Mood = Mood::Angry { at: LIVES })]
#[require(far::Weight<u8>(3), far::Size { width: 4, ..Default::default() }, Slot<u8, 2> = Slot([1, 2]), Frozen = Frozen)]
struct Cat;

#[test]
fn each_form_of_requirement_gives_its_value() {
    let mut world = World::new();
    let e = world.spawn(Cat).id();
    assert_eq!(world.get::<Health>(e), Some(&Health(0.0)));
    assert_eq!(world.get::<Armour>(e), Some(&Armour(18)));
    assert_eq!(world.get::<Position>(e).map(|row| row.get()), Some(Position { x: 1.0, y: 2.0 }));
    assert_eq!(world.get::<Mood>(e), Some(&Mood::Angry { at: 9 }));
    assert_eq!(world.get::<far::Weight<u8>>(e), Some(&far::Weight(3)));
    assert_eq!(world.get::<far::Size>(e), Some(&far::Size { width: 4, height: 0 }));
    assert_eq!(world.get::<Slot<u8, 2>>(e), Some(&Slot([1, 2])));
    assert!(world.get::<Frozen>(e).is_some());
}

#[test]
fn a_given_value_wins_over_a_required_one() {
    let mut world = World::new();
    let e = world.spawn((Cat, Health(5.0))).id();
    assert_eq!(world.get::<Health>(e), Some(&Health(5.0)));
    assert_eq!(world.get::<Armour>(e), Some(&Armour(18)));
}

#[derive(Component, Debug, PartialEq)]
#[component(track = "row", name = "game.Stunned")]
#[require(Health)]
struct Stunned;

#[derive(Component)]
#[component(track = "none", name = "game.Cell")]
struct Cell<T, const N: usize>([T; N]);

#[test]
fn worlds_know_what_the_attributes_say() {
    let mut world = World::new();
    let told = |id: ComponentId, world: &World| {
        let info = world.components().get_info(id).expect("just registered");
        let fields: Vec<_> = info.fields().iter().map(|field| field.name().to_owned()).collect();
        let required = info.required().count();
        (
            info.name().to_owned(),
            info.layout(),
            info.track(),
            fields.join(","),
            info.columns().len(),
            required,
        )
    };
    let id = world.register_component::<Position>();
    let name = concat!(module_path!(), "::Position").to_owned();
    assert_eq!(told(id, &world), (name, Layout::Fields, Track::Block, "x,y".into(), 2, 0));
    let id = world.register_component::<Label>();
    let name = concat!(module_path!(), "::Label").to_owned();
    assert_eq!(told(id, &world), (name, Layout::Fields, Track::Row, "0,1".into(), 4, 0));
    let id = world.register_component::<Stunned>();
    assert_eq!(told(id, &world), ("game.Stunned".into(), Layout::Tag, Track::Row, String::new(), 3, 1));
    let id = world.register_component::<Cell<u8, 2>>();
    let name = String::from("game.Cell<u8, 2>");
    assert_eq!(told(id, &world), (name, Layout::Whole, Track::None, String::new(), 1, 0));
    assert_ne!(id, world.register_component::<Cell<u8, 3>>());
    let id = world.register_component::<Slot<u8, 2>>();
    assert_eq!(told(id, &world).0, std::any::type_name::<Slot<u8, 2>>());
    let id = world.register_component::<Frozen>();
    assert_eq!(told(id, &world).1, Layout::Tag);
    assert_eq!(told(id, &world).2, Track::None);
}

#[test]
fn a_tag_may_keep_row_ticks() {
    let mut world = World::new();
    let e = world.spawn((Stunned, Cell([1u8, 2]))).id();
    assert_eq!(world.get::<Stunned>(e), Some(&Stunned));
    assert_eq!(world.get_mut::<Stunned>(e).map(|tag| *tag == Stunned), Some(true));
    assert!(world.get::<Cell<u8, 2>>(e).is_some_and(|cell| cell.0 == [1, 2]));
    assert_eq!(world.get::<Health>(e), Some(&Health(0.0)));
}

#[derive(Component)]
struct Counted;

static DROPPED: AtomicU32 = AtomicU32::new(0);

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_tag_that_counts_its_drops_is_dropped_once_per_entity() {
    let mut world = World::new();
    let e = world.spawn((Counted, Health(1.0))).id();
    let _ = world.spawn(Counted).id();
    assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
    world.despawn(e);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    drop(world);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 2);
}
