//! What the derives emit, looked at through the traits they implement.
//!
//! Every kind of component is taken apart into leaves and put together again, and what the store would
//! yield is wrapped by hand. Nothing here needs a world; `in_a_world` goes on from there, and
//! `tests/hygiene` covers names, scopes and parameters.

use std::any::TypeId;

use phalanx::__private::{AnyColId, Col, ColId, Keep, Queryable, RowTracked, Tick, Write, WriteUntracked};
use phalanx::prelude::{AnyComponent, Bundle, Component};

const NOW: Tick = Tick::new(7);

fn round_trip<C: AnyComponent>(value: C) -> C {
    C::from_column_values(value.into_column_values(NOW))
}

fn whole_again<B: Bundle>(bundle: B) -> B {
    let (values, sparse) = bundle.into_values(NOW);
    B::from_values(values, sparse)
}

fn key<C: AnyComponent>() -> AnyColId {
    C::key()
}

fn id<Q: Queryable<Read = phalanx::__private::Read<T>>, T: Send + Sync + 'static>() -> AnyColId {
    ColId::any(Q::ids())
}

fn same<A: 'static, B: 'static>() -> bool {
    TypeId::of::<A>() == TypeId::of::<B>()
}

#[derive(Component, Debug, PartialEq)]
struct Frozen;

#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
struct Stunned;

#[derive(Component, Clone, Debug, PartialEq)]
struct Health(f32);

#[derive(Component, Debug, PartialEq)]
#[component(track = "none", storage = "table", layout = "whole")]
struct Name {
    text: String,
}

#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
struct Armour(u32);

#[derive(Component, Debug, PartialEq)]
enum Mood {
    Calm,
    Angry { at: u32 },
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", fields = "label_fields")]
struct Label(String, u8);

#[derive(Component, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
struct Speed {
    forward: f32,
    turn: f32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", track = "none")]
struct Single {
    only: i64,
}

#[test]
fn tags_and_whole_components_are_one_column_of_themselves() {
    assert_eq!(Frozen.into_column_values(NOW), Col(Frozen));
    assert_eq!(Health(1.0).into_column_values(NOW), Col(Health(1.0)));
    assert_eq!(round_trip(Mood::Angry { at: 3 }), Mood::Angry { at: 3 });
    assert_eq!(round_trip(Mood::Calm), Mood::Calm);
    assert_eq!(round_trip(Name { text: "a".into() }), Name { text: "a".into() });
    assert_eq!(key::<Health>(), Health::column_ids().any());
    assert_eq!(key::<Health>(), id::<Health, _>());
    assert_ne!(key::<Health>(), key::<Name>());
}

#[test]
fn tracking_chooses_the_leaf_that_writes() {
    assert!(same::<<Health as Queryable>::Write, Write<Health>>());
    assert!(same::<<Name as Queryable>::Write, WriteUntracked<Name>>());
    assert!(same::<<Frozen as Queryable>::Write, WriteUntracked<Frozen>>());
    assert!(same::<<Position as Queryable>::Write, (Write<f32>, Write<f32>)>());
    assert!(same::<<Single as Queryable>::Write, WriteUntracked<i64>>());
    assert!(same::<<single::only as Queryable>::Write, WriteUntracked<i64>>());
}

#[test]
fn row_tracked_values_carry_their_ticks() {
    assert_eq!(Armour(2).into_column_values(NOW), (Col(Armour(2)), Keep(NOW), Col(NOW)));
    assert_eq!(round_trip(Armour(2)), Armour(2));
    assert_eq!(Stunned.into_column_values(NOW), (Col(Stunned), Keep(NOW), Col(NOW)));
    let ids =
        [key::<Armour>(), Armour::added_id().any(), Armour::changed_id().any(), Stunned::added_id().any()];
    for (i, a) in ids.iter().enumerate() {
        assert!(!ids[..i].contains(a), "each column has an id of its own");
    }
}

#[test]
fn row_tracked_value_is_stamped_when_it_is_written_not_when_it_is_read() {
    let (mut armour, added, mut changed) = (Armour(1), Tick::ZERO, Tick::ZERO);
    let row = Armour::wrap_mut((&mut armour, &added, &mut changed, NOW), Tick::ZERO);
    assert_eq!(row.0, 1);
    assert_eq!(changed, Tick::ZERO);
    let mut row = Armour::wrap_mut((&mut armour, &added, &mut changed, NOW), Tick::ZERO);
    row.0 = 2;
    assert_eq!(changed, NOW);
    assert_eq!(armour, Armour(2));
}

#[test]
fn row_tracked_fields_are_stamped_on_exclusive_access() {
    let (mut forward, mut turn, mut changed) = (1.0, 2.0, Tick::ZERO);
    {
        let row = Speed::wrap_mut((&mut forward, &mut turn, &mut changed, NOW), Tick::ZERO);
        *row.turn = 3.0;
    }
    assert_eq!((turn, changed), (3.0, NOW));

    changed = Tick::ZERO;
    *speed::forward::wrap_mut((&mut forward, &mut changed, NOW), Tick::ZERO) = 4.0;
    assert_eq!((forward, changed), (4.0, NOW));

    let mut ticks = [Tick::ZERO; 2];
    let slices = Speed::wrap_slice_mut((&mut [1.0, 2.0], &mut [3.0, 4.0], &mut ticks, NOW)).len();
    assert_eq!((slices, ticks), (2, [NOW; 2]));
    let mut ticks = [Tick::ZERO; 2];
    assert_eq!(speed::turn::wrap_slice_mut((&mut [1.0, 2.0], &mut ticks, NOW)), [1.0, 2.0]);
    assert_eq!(ticks, [NOW; 2]);
    let (added, mut ticks) = ([Tick::ZERO; 1], [Tick::ZERO; 1]);
    assert_eq!(Armour::wrap_slice_mut((&mut [Armour(1)], &added, &mut ticks, NOW)), [Armour(1)]);
    assert_eq!(ticks, [NOW]);

    let speed = Speed { forward: 1.0, turn: 2.0 };
    assert_eq!(speed.into_column_values(NOW), (Col(1.0), Col(2.0), Keep(NOW), Col(NOW)));
    assert_eq!(round_trip(Speed { forward: 1.0, turn: 2.0 }), Speed { forward: 1.0, turn: 2.0 });
}

#[test]
fn soa_component_is_one_column_per_field() {
    assert_eq!(Position { x: 1.0, y: 2.0 }.into_column_values(NOW), (Col(1.0), Col(2.0)));
    assert_eq!(round_trip(Position { x: 1.0, y: 2.0 }), Position { x: 1.0, y: 2.0 });
    assert_eq!(Single { only: 3 }.into_column_values(NOW), Col(3));
    let ids = Position::column_ids();
    assert_eq!(ids, (position::x::ids(), position::y::ids()));
    assert_ne!(ids.0, ids.1);
    assert_eq!(Position::ids(), ids);
    assert_eq!(key::<Position>(), ids.0.any());
    assert!(same::<<position::x as Queryable>::Owner, Position>());
}

#[test]
fn rows_of_a_soa_component_are_structs_of_references() {
    let row = Position::wrap_ref((&1.0, &2.0));
    let copy = row;
    assert_eq!((*row.x, *copy.y), (1.0, 2.0));
    assert_eq!(row.get(), Position { x: 1.0, y: 2.0 });
    assert_eq!(row, copy);
    assert_ne!(row, Position::wrap_ref((&1.0, &3.0)));
    assert_eq!(format!("{row:?}"), "PositionRef { x: 1.0, y: 2.0 }");

    let (mut x, mut y) = (1.0, 2.0);
    let mut row = Position::wrap_mut((&mut x, &mut y), Tick::ZERO);
    *row.x += 1.0;
    *row.reborrow().y += 1.0;
    assert_eq!(row.as_shared().get(), Position { x: 2.0, y: 3.0 });
    assert_eq!(format!("{row:?}"), "PositionMut { x: 2.0, y: 3.0 }");
    row.set(Position { x: 5.0, ..row.get() });
    assert_eq!((x, y), (5.0, 3.0));

    assert_eq!(*position::x::wrap_ref(&1.0), 1.0);
    *position::y::wrap_mut(&mut y, Tick::ZERO) = 9.0;
    assert_eq!(y, 9.0);
}

#[test]
fn runs_of_a_soa_component_are_structs_of_slices() {
    let slices = Position::wrap_slice((&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]));
    assert_eq!((slices.len(), slices.is_empty(), slices.x[2]), (3, false, 3.0));
    assert_eq!(slices.get(1).map(|row| row.get()), Some(Position { x: 2.0, y: 5.0 }));
    assert!(slices.get(3).is_none());
    let sum: f32 = slices.iter().map(|row| row.x * row.y).sum();
    assert_eq!((sum, slices.iter().len()), (32.0, 3));
    assert_eq!(slices.iter().next_back().map(|row| *row.x), Some(3.0));

    let (mut x, mut y) = ([1.0, 2.0], [3.0, 4.0]);
    let mut slices = Position::wrap_slice_mut((&mut x, &mut y));
    for i in 0..slices.len() {
        slices.x[i] += slices.y[i];
    }
    if let Some(mut row) = slices.get_mut(0) {
        row.set(Position { x: 0.0, y: 0.0 });
    }
    for row in slices.iter_mut() {
        *row.y += 1.0;
    }
    assert!(slices.get_mut(2).is_none() && slices.get(2).is_none());
    assert_eq!(slices.as_shared().get(1), slices.get(1));
    assert_eq!(format!("{slices:?}"), "PositionSlicesMut { x: [0.0, 6.0], y: [1.0, 5.0] }");
    assert_eq!((x, y), ([0.0, 6.0], [1.0, 5.0]));
    assert_eq!(position::x::wrap_slice(&[1.0]), [1.0]);
}

#[test]
fn tuple_structs_have_numbered_fields() {
    assert_eq!(Label("a".into(), 1).into_column_values(NOW), (Col("a".to_string()), Col(1)));
    assert_eq!(round_trip(Label("a".into(), 1)), Label("a".into(), 1));
    let text = String::from("b");
    let row = Label::wrap_ref((&text, &2));
    assert_eq!((row.0.as_str(), *row.1), ("b", 2));
    assert_eq!(row.get(), Label("b".into(), 2));
    assert_eq!(format!("{row:?}"), "LabelRef(\"b\", 2)");
    let (mut text, mut n) = (text.clone(), 2);
    let mut row = Label::wrap_mut((&mut text, &mut n), Tick::ZERO);
    row.0.push('!');
    row.set(Label(format!("{}{}", row.0, row.1), 3));
    assert_eq!((text.as_str(), n), ("b!2", 3));
    assert_eq!(Label::column_ids(), (label_fields::_0::ids(), label_fields::_1::ids()));
    assert_eq!(Label::wrap_slice((&["c".into()], &[4])).1, [4]);
}

#[derive(Component, Clone, Debug, Default, PartialEq)]
#[component(layout = "soa", track = "row")]
#[rustfmt::skip]
struct Twenty {
    a: u8, b: u16, c: u32, d: u64, e: i8, f: i16, g: i32, h: i64, i: f32, j: f64,
    k: bool, l: char, m: String, n: Vec<u8>, o: [u8; 4], p: (u8, u8), q: Option<u8>, r: usize, s: isize, t: u128,
}

#[test]
fn twenty_fields_are_nested_and_none_is_lost() {
    let value = Twenty { a: 1, j: 2.0, k: true, m: "m".into(), t: 20, ..Twenty::default() };
    assert_eq!(round_trip(value.clone()), value);
    let ((added, changed), t) = (twenty_ticks(), ColId::any(twenty::t::ids().0));
    assert_ne!(added, changed);
    assert_ne!(t, changed);
    assert_ne!(twenty::a::ids().0.any(), t);
}

fn twenty_ticks() -> (AnyColId, AnyColId) {
    (Twenty::added_id().any(), Twenty::changed_id().any())
}

struct Unclonable;

#[derive(Component)]
#[component(layout = "soa")]
struct Odd {
    fine: u8,
    odd: Unclonable,
}

#[test]
fn fields_without_clone_or_debug_are_still_fields() {
    let odd = round_trip(Odd { fine: 1, odd: Unclonable });
    let row = Odd::wrap_ref((&odd.fine, &odd.odd));
    let Unclonable = row.odd;
    assert_eq!(*row.fine, 1);
    let (mut fine, mut unclonable) = (1, Unclonable);
    Odd::wrap_mut((&mut fine, &mut unclonable), Tick::ZERO).set(Odd { fine: 2, odd: Unclonable });
    assert_eq!(fine, 2);
}

#[derive(Bundle)]
struct Nothing;

#[derive(Bundle, Debug, PartialEq)]
struct Body {
    health: Health,
    position: Position,
    marks: (Frozen, Armour),
}

#[derive(Bundle)]
struct Outer(Body, Mood);

#[derive(Bundle)]
struct Carrying<T> {
    item: T,
    mood: Mood,
}

#[derive(Bundle, Clone, Debug, PartialEq)]
#[rustfmt::skip]
struct Wide {
    a: Health, b: Health, c: Health, d: Health, e: Health, f: Health, g: Health,
    h: Health, i: Health, j: Health, k: Health, l: Health, m: Health, n: Position,
}

#[test]
fn bundles_are_the_values_of_their_fields() {
    let ((), ()) = Nothing.into_values(NOW);
    let Nothing = Nothing::from_values((), ());
    let body =
        || Body { health: Health(1.0), position: Position { x: 2.0, y: 3.0 }, marks: (Frozen, Armour(4)) };
    assert_eq!(
        body().into_values(NOW).0,
        (Col(Health(1.0)), (Col(2.0), Col(3.0)), (Col(Frozen), (Col(Armour(4)), Keep(NOW), Col(NOW))))
    );
    assert_eq!(whole_again(body()), body());
    let outer = whole_again(Outer(body(), Mood::Calm));
    assert_eq!((outer.0, outer.1), (body(), Mood::Calm));
    let carrying = Carrying { item: (Health(1.0), Frozen), mood: Mood::Calm };
    let carrying = whole_again(carrying);
    assert_eq!((carrying.item, carrying.mood), ((Health(1.0), Frozen), Mood::Calm));
    let health = |n: f32| Health(n);
    #[rustfmt::skip]
    let wide = Wide {
        a: health(1.0), b: health(2.0), c: health(3.0), d: health(4.0), e: health(5.0), f: health(6.0), g: health(7.0),
        h: health(8.0), i: health(9.0), j: health(10.0), k: health(11.0), l: health(12.0), m: health(13.0),
        n: Position { x: 14.0, y: 15.0 },
    };
    assert_eq!(whole_again(wide.clone()), wide);
}
