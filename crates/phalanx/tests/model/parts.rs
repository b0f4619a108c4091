//! The components of the model, one of each kind, and the bundles made of them.
//!
//! A [`Part`] is a component that can be made at random, read back and written; a [`Sample`] is a bundle of
//! parts. What a value is to the naive world is a [`Cell`] under a [`Key`]. To let the model meet another
//! kind of component, add it here: to `Key`, to `with_part!`, to `PARTS` and to a few bundles of
//! `with_bundle!`. `requirements` says once more, by hand, what the attributes say.

use std::collections::BTreeMap;

use phalanx::prelude::{AnyComponent, Bundle, Component, Entity, FieldType, Schema, Value, World};
use phalanx::tracking::Tick;

use crate::ledger::Text;
use crate::rng::Rng;

/// Which component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Frozen,
    Small,
    Name,
    Position,
    Label,
    Wide,
    Watched,
    Needs,
    Deep,
    Left,
    Right,
    Extra(u8),
    Dynamic(usize),
}

/// The typed keys.
pub const PARTS: &[Key] = &[
    Key::Frozen,
    Key::Small,
    Key::Name,
    Key::Position,
    Key::Label,
    Key::Wide,
    Key::Watched,
    Key::Needs,
    Key::Deep,
    Key::Left,
    Key::Right,
    Key::Extra(0),
    Key::Extra(1),
    Key::Extra(2),
    Key::Extra(3),
    Key::Extra(4),
];

/// What an entity has of one component.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Tag,
    Number(u64),
    Text(String),
    Pair(i32, i32),
    Label(String, u8),
    /// With the tick of the last write.
    Watched(u32, Tick),
    Fields(BTreeMap<&'static str, Value>),
}

impl Cell {
    /// How many texts the real component holds.
    pub fn texts(&self) -> usize {
        usize::from(matches!(self, Self::Text(_) | Self::Label(..)))
    }

    /// The cell as it is when it is written at `now`.
    pub fn stamped(self, now: Tick) -> Self {
        match self {
            Self::Watched(value, _) => Self::Watched(value, now),
            other => other,
        }
    }
}

/// What comes along with a component where it is missing, in the order of declaration.
pub fn requirements(key: Key) -> Vec<(Key, Cell)> {
    match key {
        Key::Needs => {
            vec![(Key::Small, Cell::Number(7)), (Key::Label, Cell::Label("required".into(), 1))]
        }
        Key::Deep => vec![(Key::Needs, Cell::Number(3)), (Key::Small, Cell::Number(8))],
        Key::Right => vec![(Key::Left, Cell::Number(40)), (Key::Watched, Cell::Watched(50, Tick::ZERO))],
        Key::Left => vec![(Key::Right, Cell::Number(60))],
        _ => Vec::new(),
    }
}

/// A component of the model.
pub trait Part: AnyComponent + Clone {
    const KEY: Key;

    fn random(rng: &mut Rng) -> Self;
    fn cell(&self) -> Cell;
    fn read(world: &mut World, entity: Entity) -> Option<Cell>;
    /// Writes a random value through `get_mut`, or changes the one that is there.
    fn write(world: &mut World, entity: Entity, rng: &mut Rng) -> Option<Cell>;
}

/// A bundle of parts.
pub trait Sample: Bundle + Clone {
    fn random(rng: &mut Rng) -> Self;
    /// Appends what the bundle holds.
    fn cells_into(&self, cells: &mut Vec<(Key, Cell)>);
    /// Appends which components the bundle holds.
    fn keys_into(keys: &mut Vec<Key>);

    fn cells(&self) -> Vec<(Key, Cell)> {
        let mut cells = Vec::new();
        self.cells_into(&mut cells);
        cells
    }

    fn keys() -> Vec<Key> {
        let mut keys = Vec::new();
        Self::keys_into(&mut keys);
        keys
    }
}

impl<P: Part> Sample for P {
    fn random(rng: &mut Rng) -> Self {
        P::random(rng)
    }
    fn cells_into(&self, cells: &mut Vec<(Key, Cell)>) {
        cells.push((P::KEY, self.cell()));
    }
    fn keys_into(keys: &mut Vec<Key>) {
        keys.push(P::KEY);
    }
}

macro_rules! sample_tuple {
    ($($name:ident $at:tt),*) => {
        #[allow(clippy::unused_unit, reason = "the empty tuple has no parts")]
        impl<$($name: Sample),*> Sample for ($($name,)*) {
            fn random(_rng: &mut Rng) -> Self {
                ($($name::random(_rng),)*)
            }
            fn cells_into(&self, _cells: &mut Vec<(Key, Cell)>) {
                $(self.$at.cells_into(_cells);)*
            }
            fn keys_into(_keys: &mut Vec<Key>) {
                $($name::keys_into(_keys);)*
            }
        }
    };
}
sample_tuple!();
sample_tuple!(A 0);
sample_tuple!(A 0, B 1);
sample_tuple!(A 0, B 1, C 2);
sample_tuple!(A 0, B 1, C 2, D 3);

fn small(rng: &mut Rng) -> u32 {
    u32::try_from(rng.below(1000)).expect("below 1,000")
}

fn signed(rng: &mut Rng) -> i32 {
    i32::try_from(rng.below(2001)).expect("below 2,001") - 1000
}

fn byte(rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(256)).expect("below 256")
}

/// A tag.
#[derive(Component, Clone)]
pub struct Frozen;

impl Part for Frozen {
    const KEY: Key = Key::Frozen;

    fn random(_: &mut Rng) -> Self {
        Self
    }
    fn cell(&self) -> Cell {
        Cell::Tag
    }
    fn read(world: &mut World, entity: Entity) -> Option<Cell> {
        world.get::<Self>(entity).map(Self::cell)
    }
    fn write(world: &mut World, entity: Entity, _: &mut Rng) -> Option<Cell> {
        world.get_mut::<Self>(entity).map(|tag| tag.cell())
    }
}

/// A component that is one number, whole.
macro_rules! number_part {
    ($type:ty, $key:expr, $make:expr) => {
        impl Part for $type {
            const KEY: Key = $key;

            fn random(rng: &mut Rng) -> Self {
                Self($make(rng).into())
            }
            fn cell(&self) -> Cell {
                assert!(std::ptr::from_ref(self).addr().is_multiple_of(align_of::<Self>()), "aligned");
                Cell::Number(u64::from(self.0))
            }
            fn read(world: &mut World, entity: Entity) -> Option<Cell> {
                world.get::<Self>(entity).map(Self::cell)
            }
            fn write(world: &mut World, entity: Entity, rng: &mut Rng) -> Option<Cell> {
                let mut number = world.get_mut::<Self>(entity)?;
                number.0 = $make(rng).into();
                Some(number.cell())
            }
        }
    };
}

/// Whole and small.
#[derive(Component, Clone, Copy)]
pub struct Small(pub u8);
number_part!(Small, Key::Small, byte);

/// Whole and aligned beyond a cache line.
#[derive(Component, Clone, Copy)]
#[repr(align(128))]
pub struct Wide(u64);
number_part!(Wide, Key::Wide, small);

/// Whole, and requires two others.
#[derive(Component, Clone, Copy)]
#[require(Small(7), Label { text: Text::new("required"), rank: 1 })]
pub struct Needs(pub u16);
number_part!(Needs, Key::Needs, byte);

/// Requires one that requires others itself, and one of those nearer.
#[derive(Component, Clone, Copy)]
#[require(Needs(3), Small(8))]
pub struct Deep(u32);
number_part!(Deep, Key::Deep, small);

/// One of many, to make many archetypes.
#[derive(Component, Clone, Copy)]
pub struct Extra<const N: u8>(u32);
number_part!(Extra<0>, Key::Extra(0), small);
number_part!(Extra<1>, Key::Extra(1), small);
number_part!(Extra<2>, Key::Extra(2), small);
number_part!(Extra<3>, Key::Extra(3), small);
number_part!(Extra<4>, Key::Extra(4), small);

/// Requires one that requires it.
#[derive(Component, Clone, Copy)]
#[require(Right(60))]
pub struct Left(u32);
number_part!(Left, Key::Left, small);

#[derive(Component, Clone, Copy)]
#[require(Left(40), Watched(50))]
pub struct Right(u32);
number_part!(Right, Key::Right, small);

/// Whole, with drop glue.
#[derive(Component, Clone)]
pub struct Name(Text);

impl Part for Name {
    const KEY: Key = Key::Name;

    fn random(rng: &mut Rng) -> Self {
        Self(Text::new(format!("name {}", small(rng))))
    }
    fn cell(&self) -> Cell {
        Cell::Text(self.0.as_str().to_owned())
    }
    fn read(world: &mut World, entity: Entity) -> Option<Cell> {
        world.get::<Self>(entity).map(Self::cell)
    }
    fn write(world: &mut World, entity: Entity, rng: &mut Rng) -> Option<Cell> {
        let mut name = world.get_mut::<Self>(entity)?;
        if rng.once_in(2) {
            name.0.push('!');
        } else {
            *name = <Self as Part>::random(rng);
        }
        Some(name.cell())
    }
}

/// Two columns.
#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
pub struct Position {
    pub x: i32,
    pub y: i32,
}

impl Part for Position {
    const KEY: Key = Key::Position;

    fn random(rng: &mut Rng) -> Self {
        Self { x: signed(rng), y: signed(rng) }
    }
    fn cell(&self) -> Cell {
        Cell::Pair(self.x, self.y)
    }
    fn read(world: &mut World, entity: Entity) -> Option<Cell> {
        let row = world.get::<Self>(entity).map(|row| row.get().cell());
        let fields = world.get::<position::x>(entity).zip(world.get::<position::y>(entity));
        assert_eq!(row, fields.map(|(x, y)| Cell::Pair(*x, *y)), "rows and fields agree");
        row
    }
    fn write(world: &mut World, entity: Entity, rng: &mut Rng) -> Option<Cell> {
        match rng.below(3) {
            0 => *world.get_mut::<position::x>(entity)? = signed(rng),
            1 => *world.get_mut::<Self>(entity)?.y = signed(rng),
            _ => world.get_mut::<Self>(entity)?.set(<Self as Part>::random(rng)),
        }
        Self::read(world, entity)
    }
}

/// Two columns, one of them with drop glue.
#[derive(Component, Clone)]
#[component(layout = "soa")]
pub struct Label {
    pub text: Text,
    pub rank: u8,
}

impl Part for Label {
    const KEY: Key = Key::Label;

    fn random(rng: &mut Rng) -> Self {
        Self { text: Text::new(format!("label {}", small(rng))), rank: byte(rng) }
    }
    fn cell(&self) -> Cell {
        Cell::Label(self.text.as_str().to_owned(), self.rank)
    }
    fn read(world: &mut World, entity: Entity) -> Option<Cell> {
        world.get::<Self>(entity).map(|row| Cell::Label(row.text.as_str().to_owned(), *row.rank))
    }
    fn write(world: &mut World, entity: Entity, rng: &mut Rng) -> Option<Cell> {
        match rng.below(3) {
            0 => *world.get_mut::<label::rank>(entity)? = byte(rng),
            1 => world.get_mut::<label::text>(entity)?.push('?'),
            _ => world.get_mut::<Self>(entity)?.set(<Self as Part>::random(rng)),
        }
        Self::read(world, entity)
    }
}

/// Whole, with ticks per row.
#[derive(Component, Clone, Copy)]
#[component(track = "row")]
pub struct Watched(u32);

impl Part for Watched {
    const KEY: Key = Key::Watched;

    fn random(rng: &mut Rng) -> Self {
        Self(small(rng))
    }
    fn cell(&self) -> Cell {
        Cell::Watched(self.0, Tick::ZERO)
    }
    fn read(world: &mut World, entity: Entity) -> Option<Cell> {
        let value = world.get::<Self>(entity).map(|watched| watched.0);
        let row = world.get_mut::<Self>(entity).map(|row| (row.0, row.last_changed()));
        assert_eq!(value, row.map(|(value, _)| value), "shared and exclusive rows agree");
        row.map(|(value, changed)| Cell::Watched(value, changed))
    }
    fn write(world: &mut World, entity: Entity, rng: &mut Rng) -> Option<Cell> {
        let mut watched = world.get_mut::<Self>(entity)?;
        watched.0 = small(rng);
        Some(Cell::Watched(watched.0, watched.last_changed()))
    }
}

/// A bundle with names.
#[derive(Bundle, Clone)]
pub struct Kit {
    name: Name,
    place: (Position, Watched),
}

impl Sample for Kit {
    fn random(rng: &mut Rng) -> Self {
        Self { name: Sample::random(rng), place: Sample::random(rng) }
    }
    fn cells_into(&self, cells: &mut Vec<(Key, Cell)>) {
        self.name.cells_into(cells);
        self.place.cells_into(cells);
    }
    fn keys_into(keys: &mut Vec<Key>) {
        Name::keys_into(keys);
        <(Position, Watched)>::keys_into(keys);
    }
}

/// Calls a function with the type behind a typed key.
macro_rules! with_part {
    ($key:expr, $call:ident($($argument:expr),*)) => {{
        use $crate::parts::{Deep, Extra, Frozen, Key, Label, Left, Name, Needs, Position, Right, Small, Watched, Wide};
        match $key {
            Key::Frozen => $call::<Frozen>($($argument),*),
            Key::Small => $call::<Small>($($argument),*),
            Key::Name => $call::<Name>($($argument),*),
            Key::Position => $call::<Position>($($argument),*),
            Key::Label => $call::<Label>($($argument),*),
            Key::Wide => $call::<Wide>($($argument),*),
            Key::Watched => $call::<Watched>($($argument),*),
            Key::Needs => $call::<Needs>($($argument),*),
            Key::Deep => $call::<Deep>($($argument),*),
            Key::Extra(0) => $call::<Extra<0>>($($argument),*),
            Key::Extra(1) => $call::<Extra<1>>($($argument),*),
            Key::Extra(2) => $call::<Extra<2>>($($argument),*),
            Key::Extra(3) => $call::<Extra<3>>($($argument),*),
            Key::Extra(4) => $call::<Extra<4>>($($argument),*),
            Key::Left => $call::<Left>($($argument),*),
            Key::Right => $call::<Right>($($argument),*),
            Key::Extra(_) | Key::Dynamic(_) => unreachable!("not a typed key"),
        }
    }};
}
pub(crate) use with_part;

/// Calls a function of the run with a random bundle type: any of them, or one of a few, since every pair of
/// function and type is compiled.
macro_rules! with_bundle {
    ($run:expr, $($call:ident)::+) => {{
        use $crate::parts::{Deep, Extra, Frozen, Kit, Label, Left, Name, Needs, Position, Right, Small, Watched, Wide};
        match $run.rng.below(18) {
            0 => $($call)::+::<()>($run),
            1 => $($call)::+::<Frozen>($run),
            2 => $($call)::+::<Small>($run),
            3 => $($call)::+::<Name>($run),
            4 => $($call)::+::<Position>($run),
            5 => $($call)::+::<Label>($run),
            6 => $($call)::+::<Watched>($run),
            7 => $($call)::+::<Needs>($run),
            8 => $($call)::+::<Extra<0>>($run),
            9 => $($call)::+::<Extra<1>>($run),
            10 => $($call)::+::<Left>($run),
            11 => $($call)::+::<Kit>($run),
            12 => $($call)::+::<(Small, Name)>($run),
            13 => $($call)::+::<(Position, Frozen, Wide)>($run),
            14 => $($call)::+::<((Small, (Label,)), (Wide, ((),)))>($run),
            15 => $($call)::+::<(Watched, Extra<2>, Needs)>($run),
            16 => $($call)::+::<(Frozen, (Kit, Deep), Right)>($run),
            _ => $($call)::+::<(Extra<3>, (), Extra<4>)>($run),
        }
    }};
    (few $run:expr, $($call:ident)::+) => {{
        use $crate::parts::{Deep, Extra, Frozen, Kit, Label, Position, Small};
        match $run.rng.below(6) {
            0 => $($call)::+::<()>($run),
            1 => $($call)::+::<Frozen>($run),
            2 => $($call)::+::<Deep>($run),
            3 => $($call)::+::<(Small, Position)>($run),
            4 => $($call)::+::<(Label, Extra<0>)>($run),
            _ => $($call)::+::<(Kit, (Extra<3>,))>($run),
        }
    }};
}
pub(crate) use with_bundle;

/// The fields of the components that are registered at run time.
pub const DYNAMIC: &[(&str, &[(&str, FieldType)])] = &[
    ("model.hp", &[("current", FieldType::I32), ("ratio", FieldType::F64), ("target", FieldType::Entity)]),
    ("model.flag", &[("on", FieldType::Bool), ("level", FieldType::U8)]),
];

pub fn schema(number: usize) -> Schema {
    let (name, fields) = DYNAMIC[number];
    Schema::new(name).fields(fields.iter().copied())
}

/// What a run-time component holds before its fields are written.
pub fn zeroed(number: usize) -> BTreeMap<&'static str, Value> {
    DYNAMIC[number].1.iter().map(|&(name, field_type)| (name, Value::zero(field_type))).collect()
}

/// A random value of one of the types that the fields have.
pub fn random_value(field_type: FieldType, rng: &mut Rng) -> Value {
    match field_type {
        FieldType::I32 => signed(rng).into(),
        FieldType::F64 => f64::from(signed(rng)).into(),
        FieldType::U8 => byte(rng).into(),
        FieldType::Bool => rng.once_in(2).into(),
        FieldType::Entity => {
            Entity::from_bits(rng.bits() | (1 << 32)).expect("the upper half is not zero").into()
        }
        other => unreachable!("no field is {other}"),
    }
}
