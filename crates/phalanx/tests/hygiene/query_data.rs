//! Derived query data and filters mean the same whatever surrounds them.
//!
//! Lifetimes and parameters, shadowed preludes, narrow visibilities, macros, function bodies and a library that goes by
//! another name. That these cases compile is most of the test.
#![deny(missing_docs, unreachable_pub, missing_debug_implementations, nonstandard_style, unused)]
#![allow(clippy::float_cmp)]

use crate::common::movers::{Frozen, Health, Part, Position, Velocity, position, three};
use phalanx::prelude::*;
use phalanx::query::ReadOnlyQueryData;

/// A lifetime in the place of `'static`.
#[derive(QueryData)]
#[query_data(mutable)]
struct Lent<'w, 'v: 'w, T: AnyComponent + 'w>
where
    T: 'v,
{
    position: &'w mut Position,
    other: Option<&'v T>,
}

/// The same, only for reading, of data with a lifetime.
#[derive(QueryData)]
struct LentOut<'w> {
    health: Ref<'w, Health>,
    lent: LentReadOnly<Velocity>,
}

#[test]
fn lifetimes_stand_for_static() {
    let (mut world, [_, healthy, _]) = three();
    for lent in world.view_mut::<Lent<'_, '_, Frozen>>() {
        *lent.position.x += if lent.other.is_some() { 100.0 } else { 1.0 };
    }
    fn x(item: LentReadOnlyItem<'_, Velocity>) -> f32 {
        *item.position.x
    }
    let item = world.view::<LentOut>().single().map(|item| (x(item.lent), item.health.0));
    assert_eq!(item.unwrap(), (11.0, 3));
    assert_eq!(*world.view::<&position::x>().get(healthy).unwrap(), 11.0);
}

/// Parameters of each sort, with bounds, a default and without.
#[derive(QueryData)]
#[query_data(mutable)]
struct Generic<T: AnyComponent, D, E = Option<&'static mut Health>, const N: u8 = 0>
where
    E: QueryData,
{
    value: &'static mut T,
    data: D,
    more: E,
    part: Option<(&'static Part<N>, Has<T>)>,
}

/// The same for reading.
#[derive(QueryData)]
struct GenericRead<T: AnyComponent, D>(Entity, &'static T, D);

/// Parts that are kept alike.
#[derive(QueryData)]
#[query_data(mutable)]
struct Alike<T: AnyComponent, U: AnyComponent>(Has<T>, Has<U>, Option<&'static T>, Option<&'static U>);

/// The same for reading.
#[derive(QueryData)]
struct AlikeRead<T, U>(Has<T>, Has<U>, &'static Position, &'static Velocity, Option<Ref<'static, Health>>)
where
    T: AnyComponent,
    U: AnyComponent;

/// Entities with `T`.
#[derive(QueryFilter)]
struct Only<T: AnyComponent> {
    _with: With<T>,
}

/// The same without the bound.
#[derive(QueryFilter)]
struct Unbound<T>(With<T>);

#[test]
fn parameters_may_be_parts() {
    let (mut world, [plain, healthy, _]) = three();
    world.entity_mut(plain).insert((Part::<7>(7), Part::<8>(8)));
    for item in world.view_filtered_mut::<Generic<Position, Eighth, (), 7>, Only<Velocity>>() {
        let GenericItem { value, data, more: (), part } = item;
        assert_eq!(data.eighth.is_some(), part.is_some());
        *value.x = data.entity.index() as f32;
    }
    for item in world.view_filtered_mut::<Generic<Position, Entity>, Unbound<Health>>() {
        assert_eq!((item.data, item.more.unwrap().0), (healthy, 3));
    }
    let query = world.view::<GenericRead<Health, Option<&Frozen>>>();
    let GenericReadItem(entity, health, frozen) = query.single().unwrap();
    assert_eq!((entity, health, frozen.is_some()), (healthy, &Health(3), false));
    assert_eq!(format!("{:?}", query.single().unwrap().1), "Health(3)");

    fn count<T: AnyComponent, D: ReadOnlyQueryData + 'static>(world: &World) -> usize {
        world.view_filtered::<GenericRead<T, D>, (Only<T>, Unbound<T>)>().count()
    }
    fn alike<T: AnyComponent, U: AnyComponent>(world: &mut World) -> (usize, bool) {
        let one = world.view_mut::<Alike<T, U>>().iter().filter(|item| item.0 == item.2.is_some()).count();
        (one, world.view::<AlikeRead<T, U>>().iter().all(|item| item.3.x.is_finite()))
    }
    assert_eq!(alike::<Frozen, Part<7>>(&mut world), (3, true));
    assert_eq!(count::<Velocity, Has<Frozen>>(&world), 3);
    assert_eq!(count::<Position, GenericReadOnly<Velocity, Entity>>(&world), 3);
}

/// To be used as a parameter.
#[derive(QueryData)]
#[query_data(mutable)]
struct Eighth {
    eighth: Option<&'static mut Part<8>>,
    entity: Entity,
}

/// Everything that derived code could trip over has another meaning here.
mod shadowed {
    #![no_implicit_prelude]
    #![allow(dead_code, missing_docs, missing_debug_implementations, unused_macros, non_camel_case_types)]

    use super::{Health, Velocity};
    use ::phalanx::prelude::{Changed, Has, QueryData, QueryFilter, With};

    mod core {}
    mod std {}
    mod phalanx {}
    struct Option;
    struct Some;
    struct None;
    struct Vec;
    struct Fetch;
    struct Tick;
    struct Condition;
    struct Term;
    struct __private;
    trait Clone {}
    trait Copy {}
    trait Debug {}
    trait Send {}
    trait Sized {}
    trait ReadOnlyQueryData {}
    struct usize;
    struct bool;
    struct str;
    macro_rules! vec {
        () => {};
    }

    #[derive(QueryData)]
    #[query_data(mutable)]
    pub(super) struct Writing<T: super::AnyComponent> {
        pub(super) health: &'static mut Health,
        other: &'static T,
    }
    #[derive(QueryData)]
    pub(super) struct Reading(&'static Health, Has<Velocity>);
    #[derive(QueryFilter)]
    pub(super) struct Passing<T> {
        _changed: Changed<Health>,
        _with: With<T>,
    }
    #[derive(QueryFilter)]
    pub(super) struct Nothing;
}

#[test]
fn a_shadowed_prelude_changes_nothing() {
    use shadowed::{Nothing, Passing, Reading, ReadingItem, Writing};
    let (mut world, _) = three();
    for mut item in world.view_filtered_mut::<Writing<Position>, Nothing>() {
        item.health.0 += u32::from(*item.other.x == 10.0);
    }
    let query = world.view_filtered::<Reading, Passing<Velocity>>();
    let ReadingItem(health, has_velocity) = query.single().unwrap();
    assert_eq!((health.0, has_velocity), (4, true));
}

/// Keywords as names.
#[derive(QueryData)]
#[query_data(mutable)]
struct Type {
    r#type: Entity,
    r#fn: &'static mut Health,
}

/// A keyword as the name of a struct.
#[derive(QueryData)]
#[allow(non_camel_case_types)]
struct r#loop(Entity);

#[test]
fn raw_identifiers_stay_raw() {
    let (mut world, [_, healthy, _]) = three();
    for TypeItem { r#type, mut r#fn } in world.view_mut::<Type>() {
        r#fn.0 = 8;
        assert_eq!(r#type, healthy);
    }
    let mut query = world.view_mut::<Type>();
    assert!(format!("{:?}", query.iter().next().unwrap()).contains("fn: Health(8)"));
    assert_eq!(query.iter_mut().count() + world.view::<r#loop>().count(), 4);
    let _: Option<loopItem<'_>> = world.view::<r#loop>().into_iter().next();
}

/// Each visibility, one level down. What is yielded is as visible as the struct.
mod visible {
    use phalanx::prelude::Entity;

    pub(super) mod deeper {
        use super::super::Health;
        use phalanx::prelude::{Entity, QueryData, QueryFilter, With};

        #[derive(QueryData)]
        #[query_data(mutable)]
        pub(super) struct Above {
            own: &'static mut Health,
        }
        #[derive(QueryData)]
        pub(crate) struct Everywhere {
            entity: Entity,
        }
        #[derive(QueryData)]
        pub(in crate::query_data::visible) struct Within(Entity);
        #[derive(QueryFilter)]
        pub(crate) struct Filter(With<Health>);
    }

    pub(super) fn all(world: &mut phalanx::World) -> Option<(u32, Entity)> {
        for mut item in world.view_mut::<deeper::Above>() {
            item.own.0 = 5;
        }
        let health = world.view::<deeper::AboveReadOnly>().single().ok()?.own.0;
        Some((health, world.view_filtered::<deeper::Within, deeper::Filter>().single().ok()?.0))
    }
}

#[test]
fn what_is_yielded_is_as_visible_as_the_struct() {
    let (mut world, [_, healthy, _]) = three();
    assert_eq!(visible::all(&mut world), Some((5, healthy)));
    let query = world.view_filtered::<visible::deeper::Everywhere, visible::deeper::Filter>();
    assert_eq!(query.single().unwrap().entity, healthy);
}

macro_rules! data {
    ($name:ident { $($field:ident: $ty:ty),* } $filter:ident($($part:ty),*)) => {
        /// Made by a macro.
        #[derive(QueryData)]
        #[query_data(mutable)]
        struct $name {
            $($field: $ty,)*
            own: Entity,
        }
        /// Made by a macro.
        #[derive(QueryFilter)]
        struct $filter($($part),*);
    };
}
data!(Made { position: &'static mut Position, health: Option<&'static Health> } MadeFilter(With<Position>, Without<Frozen>));

#[test]
fn macros_and_function_bodies_may_make_them() {
    #[derive(Component)]
    struct Inner(u8);
    #[derive(QueryData)]
    struct Local<'a, T: AnyComponent> {
        inner: &'a T,
    }
    #[derive(QueryFilter)]
    struct LocalFilter(With<Inner>);

    let (mut world, [plain, ..]) = three();
    world.entity_mut(plain).insert(Inner(4));
    for made in world.view_filtered_mut::<Made, (MadeFilter, LocalFilter)>() {
        assert!(made.health.is_none() && made.own == plain);
        *made.position.y = 1.0;
    }
    let local = world.view_filtered::<Local<'_, Inner>, MadeFilter>().single().map(|item| item.inner.0);
    assert_eq!(local, Ok(4));
}

/// The library under another name.
mod engine {
    pub(crate) mod ecs {
        pub(crate) use phalanx::__private;
    }
}

/// Finds the library elsewhere.
#[derive(QueryData)]
#[query_data(mutable, crate = "crate::query_data::engine::ecs")]
struct Renamed {
    health: &'static mut Health,
}

/// Finds the library elsewhere.
#[derive(QueryData)]
#[query_data(crate = "engine::ecs")]
struct RenamedRead(&'static Health);

/// Finds the library elsewhere.
#[derive(QueryFilter)]
#[query_filter(crate = "engine::ecs")]
struct RenamedFilter(With<Health>);

#[test]
fn the_library_may_be_found_elsewhere() {
    let (mut world, _) = three();
    world.view_filtered_mut::<Renamed, RenamedFilter>().single_mut().unwrap().health.0 = 9;
    assert_eq!(world.view::<RenamedRead>().single().unwrap().0, &Health(9));
}

/// Public types are documented, as the lints above demand; a field keeps its own words.
pub mod public {
    use phalanx::prelude::{Component, Entity, QueryData, QueryFilter, With};

    /// A component.
    #[derive(Component, Debug)]
    pub struct Shown(pub u8);

    /// Query data.
    #[derive(QueryData, Debug)]
    #[query_data(mutable)]
    pub struct Data {
        /// Who it is.
        pub entity: Entity,
        shown: Option<&'static mut Shown>,
    }

    /// A filter.
    #[derive(QueryFilter)]
    #[allow(missing_debug_implementations)]
    pub struct Filter(With<Shown>);
}
