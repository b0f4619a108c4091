//! Derived code keeps to itself: it works whatever surrounds it.
//!
//! Shadowed preludes, parameters of every sort, raw identifiers, function bodies, narrow visibilities,
//! macros, and a library that goes by another name. That each case compiles is most of the test.
#![deny(missing_docs, unreachable_pub, missing_debug_implementations, nonstandard_style, unused)]

use phalanx::__private::{Col, Queryable, RowTracked, Tick};
use phalanx::prelude::{AnyComponent, Bundle, Component};

const NOW: Tick = Tick::new(7);

fn whole_again<B: Bundle>(bundle: B) -> B {
    let (values, sparse) = bundle.into_values(NOW);
    B::from_values(values, sparse)
}

fn round_trip<C: AnyComponent>(value: C) -> C {
    C::from_column_values(value.into_column_values(NOW))
}

/// Everything that derived code could trip over has another meaning here.
mod shadowed {
    #![no_implicit_prelude]
    #![allow(dead_code, missing_debug_implementations, unused_macros, missing_docs, non_camel_case_types)]

    use ::phalanx::prelude::{Bundle, Component, Message, Pool, Resource};

    mod core {}
    mod std {}
    mod phalanx {}
    struct Option;
    struct Some;
    struct None;
    struct Result;
    struct Ok;
    struct Err;
    struct Vec;
    struct String;
    struct Box;
    trait Clone {}
    trait Copy {}
    trait Send {}
    trait Sync {}
    trait Sized {}
    trait Default {}
    trait Debug {}
    trait PartialEq {}
    trait Iterator {}
    trait Fn {}
    trait FnOnce {}
    trait Drop {}
    trait From {}
    trait Into {}
    struct usize;
    struct bool;
    struct str;
    struct u64;
    macro_rules! concat {
        () => {};
    }
    macro_rules! format {
        () => {};
    }
    macro_rules! module_path {
        () => {};
    }
    const __VALUE: () = ();

    #[derive(Component)]
    pub(super) struct Tag;
    #[derive(Component)]
    #[component(name = "shadowed.Whole", track = "row")]
    #[require(Tag = Tag, Kind = Kind::Some(0), Row { x: 1.0, y: 2 })]
    pub(super) struct Whole(pub(super) u8);
    #[derive(Component)]
    pub(super) enum Kind {
        Some(u8),
        None,
    }
    #[derive(Component)]
    #[component(layout = "soa", track = "row")]
    pub(super) struct Row {
        pub(super) x: f32,
        pub(super) y: u8,
    }
    #[derive(Component)]
    #[component(name = "shadowed.Generic", layout = "soa", fields = "generic_fields", track = "row")]
    pub(super) struct Generic<T, const N: ::core::primitive::u8>(pub(super) T, pub(super) u8);
    #[derive(Bundle)]
    pub(super) struct Parts<T> {
        pub(super) row: Row,
        pub(super) rest: T,
    }
    #[derive(Resource, Message)]
    pub(super) struct Both<T>(T);
    #[derive(Message)]
    #[message(layout = "soa")]
    pub(super) struct Sent<T> {
        pub(super) what: T,
        pub(super) r#type: u8,
    }
    #[derive(Pool)]
    #[pool(capacity = 2)]
    pub(super) struct Things {
        pub(super) r#type: Tag,
        pub(super) kind: ::core::option::Option<Kind>,
        pub(super) row: ::core::option::Option<Row>,
    }
    #[derive(Pool)]
    pub(super) struct Many<T: ::core::marker::Copy, const N: ::core::primitive::u8>
    where
        T: ::core::marker::Send + ::core::marker::Sync + 'static,
    {
        pub(super) generic: Generic<T, N>,
        pub(super) tag: ::core::option::Option<Tag>,
    }
}

#[test]
fn a_shadowed_prelude_changes_nothing() {
    use shadowed::{Both, Generic, Kind, Many, Parts, Row, Tag, Things, Whole, row};
    assert_eq!(round_trip(Whole(3)).0, 3);
    assert_eq!(round_trip(Row { x: 1.0, y: 2 }).y, 2);
    assert_eq!(round_trip(Generic::<i8, 3>(4, 5)).0, 4);
    assert_eq!(*row::x::wrap_ref((&1.0, &NOW, NOW)), 1.0);
    let parts = Parts { row: Row { x: 1.0, y: 2 }, rest: (Tag, Kind::None) };
    let parts = whole_again(parts);
    assert!(matches!(parts.rest, (Tag, Kind::None)));
    fn is_both<T: phalanx::prelude::Resource + phalanx::prelude::Message>() {}
    is_both::<Both<u8>>();
    let mut world = phalanx::World::new();
    let thing = world.spawn_in(Things { r#type: Tag, kind: Some(Kind::Some(3)), row: None });
    assert!(world.get::<Tag>(thing).is_some() && world.get::<Row>(thing).is_none());
    let many = world.spawn_in(Many { generic: Generic::<i8, 3>(1, 2), tag: None });
    assert_ne!(world.pool_of(thing), world.pool_of(many));
    let mut messages = phalanx::messages::Messages::new();
    messages.write(shadowed::Sent { what: "a", r#type: 1 });
    assert_eq!((messages.as_columns().what, messages.as_columns().r#type), (&["a"][..], &[1][..]));
}

/// A whole component with a parameter.
#[derive(Component, Debug, PartialEq)]
pub struct Wrapper<T>(pub T);

/// Bounds on parameters, a default, and a type that depends on a trait.
#[derive(Component, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
pub struct Pair<A, B: Iterator = std::vec::IntoIter<u8>>
where
    B::Item: Clone,
{
    /// By itself.
    pub a: A,
    /// Through a trait.
    pub b: Vec<B::Item>,
    /// Without a parameter.
    pub c: u8,
}

/// A constant as a parameter.
#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", fields = "grid_fields")]
pub struct Grid<const W: usize, const DEEP: bool> {
    /// A row.
    pub cells: [u8; W],
}

/// A tag for each number.
#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
pub struct Team<const N: u8>;

/// A parameter without a size.
#[derive(Component, Debug)]
#[component(layout = "soa")]
pub struct Boxed<T: ?Sized + Send + Sync>(pub Box<T>, pub std::marker::PhantomData<T>);

/// `Self` among the fields, which must not come to mean a row of it.
#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa")]
pub struct Chain<T>
where
    Self: Sized,
{
    /// The next one.
    pub next: Option<Box<Self>>,
    /// The value.
    pub value: T,
}

#[test]
fn instances_of_a_generic_component_have_columns_of_their_own() {
    assert_eq!(Wrapper(1u8).into_column_values(NOW), Col(Wrapper(1u8)));
    assert_eq!(round_trip(Wrapper("a")), Wrapper("a"));
    assert_eq!(Wrapper::<u8>::ids(), Wrapper::<u8>::ids());
    assert_ne!(Wrapper::<u8>::ids().any(), Wrapper::<i8>::ids().any());
    assert_ne!(Team::<0>::ids().0.any(), Team::<1>::ids().0.any());
    assert_ne!(Team::<0>::added_id(), Team::<1>::added_id());
    assert_ne!(Team::<0>::added_id(), Team::<0>::changed_id());
    assert_eq!(round_trip(Team::<0>), Team);
}

#[test]
fn fields_may_depend_on_parameters() {
    let pair = || Pair::<_, std::ops::Range<i32>> { a: "a", b: vec![1, 2], c: 3 };
    assert_eq!(round_trip(pair()), pair());
    let row = Pair::<&str, std::ops::Range<i32>>::wrap_ref((&"a", &vec![1, 2], &3, &NOW, NOW)).get();
    assert_eq!(row, pair());
    assert_ne!(pair::a::<u8, std::ops::Range<u8>>::ids(), pair::a::<u8, std::ops::Range<u16>>::ids());
    assert_eq!(pair::c::<u8, std::ops::Range<u8>>::ids().1, Pair::<u8, std::ops::Range<u8>>::changed_id());

    let grid = Grid::<2, true> { cells: [1, 2] };
    assert_eq!(round_trip(grid.clone()), grid);
    assert_eq!(Grid::<2, true>::wrap_ref(&[1, 2]).get(), grid);
    assert_ne!(grid_fields::cells::<2, true>::ids(), grid_fields::cells::<2, false>::ids());

    let boxed = round_trip(Boxed::<[u8]>(Box::new([1, 2]), std::marker::PhantomData));
    assert_eq!(*boxed.0, [1, 2]);
    let chain = Chain { next: Some(Box::new(Chain { next: None, value: 1 })), value: 2 };
    assert_eq!(round_trip(chain.clone()), chain);
    assert_eq!(Chain::wrap_ref((&chain.next, &2)).get(), chain);
}

/// Keywords as names.
#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
pub struct Type {
    /// A keyword.
    pub r#type: u8,
    /// Another one.
    pub r#match: u8,
}

/// A bundle with a keyword.
#[derive(Bundle, Debug)]
pub struct Raw {
    /// A keyword.
    pub r#fn: Type,
}

#[test]
fn raw_identifiers_stay_raw() {
    let value = Type { r#type: 1, r#match: 2 };
    assert_eq!(round_trip(value.clone()), value);
    assert_ne!(r#type::r#type::ids(), r#type::r#match::ids());
    let row = Type::wrap_ref((&1, &2, &NOW, NOW));
    assert_eq!((row.get(), *row.r#type), (value.clone(), 1));
    assert_eq!(format!("{row:?}"), "TypeRef { type: 1, match: 2 }");
    let raw = whole_again(Raw { r#fn: value.clone() });
    assert_eq!(raw.r#fn, value);
}

#[test]
fn types_inside_functions_are_components_too() {
    #[derive(Debug, Clone, PartialEq)]
    struct Inner(u8);

    #[derive(Component, Clone, Debug, PartialEq)]
    #[component(layout = "soa", track = "row")]
    struct Local<T> {
        inner: Inner,
        other: T,
    }
    #[derive(Component, Clone, Debug, PartialEq)]
    #[component(layout = "soa")]
    struct Plain {
        x: Inner,
    }
    #[derive(Bundle)]
    struct Together {
        local: Local<u8>,
        plain: Plain,
    }

    let value = Local { inner: Inner(1), other: 2u8 };
    assert_eq!(round_trip(value.clone()), value);
    assert_eq!(local::inner::<u8>::wrap_ref((&Inner(1), &NOW, NOW)), &Inner(1));
    assert_eq!(plain::x::wrap_slice(&[Inner(1)]), [Inner(1)]);
    let together = Together { local: value.clone(), plain: Plain { x: Inner(3) } };
    let together = whole_again(together);
    assert_eq!((together.local, together.plain), (value, Plain { x: Inner(3) }));
}

/// Each visibility, one level down.
mod visible {
    pub(super) mod deeper {
        use phalanx::prelude::Component;

        #[derive(Component, Debug)]
        #[component(layout = "soa")]
        pub(super) struct Above {
            pub(super) x: Private,
        }
        #[derive(Component, Debug)]
        #[component(layout = "soa")]
        pub(crate) struct Everywhere {
            pub(crate) x: u8,
        }
        #[derive(Component, Debug)]
        #[component(layout = "soa")]
        pub(in crate::components::visible) struct Within {
            pub(in crate::components::visible) x: u8,
        }
        #[derive(Component, Debug)]
        #[component(layout = "soa")]
        #[allow(clippy::needless_pub_self)]
        pub(self) struct Here {
            x: Hidden,
        }
        #[derive(Debug)]
        pub(super) struct Private(pub(super) u8);
        #[derive(Debug)]
        struct Hidden(u8);

        pub(super) fn here() -> u8 {
            super::super::round_trip(Here { x: Hidden(1) }).x.0
        }
    }

    pub(super) fn all() -> u8 {
        use super::round_trip;
        use phalanx::__private::Queryable;
        let _ = (deeper::above::x::ids(), deeper::within::x::ids());
        round_trip(deeper::Above { x: deeper::Private(1) }).x.0
            + round_trip(deeper::Everywhere { x: 1 }).x
            + round_trip(deeper::Within { x: 1 }).x
            + deeper::here()
    }
}

#[test]
fn markers_are_as_visible_as_their_struct() {
    assert_eq!(visible::all(), 4);
    let _ = visible::deeper::everywhere::x::ids();
}

macro_rules! component {
    ($name:ident { $($field:ident: $ty:ty),* }) => {
        /// Made by a macro.
        #[derive(Component, Clone, Debug)]
        #[component(layout = "soa")]
        pub struct $name {
            $(
                /// Made by a macro.
                pub $field: $ty,
            )*
            /// Named by the macro itself.
            pub own: u8,
        }
    };
}
component!(Made { item: Option<u8>, now: for<'a> fn(&'a u8) -> &'a u8 });

#[test]
fn macros_may_make_components() {
    fn identity(byte: &u8) -> &u8 {
        byte
    }
    let made = round_trip(Made { item: Some(1), now: identity, own: 2 });
    assert_eq!((made.item, made.own), (Some(1), 2));
    let _ = (made::item::ids(), made::own::ids());
}

#[test]
fn markers_do_not_get_in_the_way_of_variables() {
    #[allow(unused_imports)]
    use grid_fields::*;
    let cells = 1;
    assert_eq!(cells, 1);
}

/// The library under another name.
mod engine {
    pub(crate) mod ecs {
        pub(crate) use phalanx::__private;
    }
}

/// Finds the library elsewhere.
#[derive(Component, Debug, PartialEq)]
#[component(crate = "crate::components::engine::ecs", layout = "soa", track = "row")]
#[require(Elsewhere)]
pub struct Renamed {
    /// A field.
    pub x: u8,
}

/// Finds the library elsewhere.
#[derive(Component, Debug, Default)]
#[component(crate = "engine::ecs")]
pub struct Elsewhere(pub u8);

/// Finds the library elsewhere.
#[derive(Bundle, Debug)]
#[bundle(crate = "engine::ecs")]
pub struct Both {
    /// A component.
    pub renamed: Renamed,
}

/// Finds the library elsewhere.
#[derive(phalanx::prelude::Resource, phalanx::prelude::Message, Debug)]
#[resource(crate = "engine::ecs")]
#[message(crate = "engine::ecs", layout = "whole")]
pub struct Neither;

/// Finds the library elsewhere.
#[derive(phalanx::prelude::Pool, Debug)]
#[pool(crate = "engine::ecs", storage = "boxed")]
pub struct Few {
    /// A component.
    pub renamed: Renamed,
    /// One that may be missing.
    pub elsewhere: Option<Elsewhere>,
}

#[test]
fn the_library_may_be_found_elsewhere() {
    let mut world = phalanx::World::new();
    let few = world.spawn_in(Few { renamed: Renamed { x: 1 }, elsewhere: None });
    // What a component requires comes along.
    assert!(world.get::<Elsewhere>(few).is_some());
    let both = whole_again(Both { renamed: Renamed { x: 1 } });
    assert_eq!(both.renamed, Renamed { x: 1 });
}
