//! Derived query data and filters: structs that stand in queries like the tuples of their fields.
//!
//! What they yield has names, and what they visit is what the tuple would visit. The second half is about
//! what may surround them: parameters, shadowed preludes, narrow visibilities, macros, function bodies and a
//! library that goes by another name. That those cases compile is most of the test.
#![forbid(unsafe_code)]
#![deny(missing_docs, unreachable_pub, missing_debug_implementations, nonstandard_style, unused)]
#![allow(clippy::float_cmp)]

use phalanx::prelude::*;
use phalanx::query::{ArchetypeFilter, QueryConflict, QueryTable, ReadOnlyQueryData};

#[derive(Component, Debug, Clone, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}
#[derive(Component, Debug)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f32,
}
#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
struct Health(u32);
#[derive(Component, Debug)]
struct Frozen;
/// As many components as are needed.
#[derive(Component, Debug)]
struct Part<const N: u8>(u32);

/// Everything a field can be.
#[derive(QueryData)]
#[query_data(mutable)]
struct Mover {
    entity: Entity,
    position: &'static mut Position,
    velocity: &'static Velocity,
    health: Option<&'static mut Health>,
    is_frozen: Has<Frozen>,
}

/// Reads, and says how new a value is.
#[derive(QueryData)]
struct Patient {
    entity: Entity,
    health: Ref<'static, Health>,
    x: Option<&'static position::x>,
}

#[derive(QueryFilter)]
struct Movable {
    _with: With<Velocity>,
    _not: Without<Frozen>,
}

fn at(x: f32) -> Position {
    Position { x, y: 0.0 }
}

fn to(x: f32) -> Velocity {
    Velocity { x, y: 1.0 }
}

/// A mover, one with health, and one that is frozen.
fn three() -> (World, [Entity; 3]) {
    let mut world = World::new();
    let plain = world.spawn((at(0.0), to(1.0))).id();
    let healthy = world.spawn((at(10.0), to(2.0), Health(3))).id();
    let frozen = world.spawn((at(20.0), to(3.0), Frozen)).id();
    (world, [plain, healthy, frozen])
}

#[test]
fn items_have_the_fields_of_the_struct() {
    let (mut world, [plain, healthy, frozen]) = three();
    for mover in world.query_mut::<Mover>() {
        *mover.position.x += *mover.velocity.x;
        if let Some(mut health) = mover.health {
            health.0 += 1;
        }
    }
    let mut query = world.query_mut::<Mover>();
    let seen: Vec<_> =
        query.iter().map(|m| (m.entity, *m.position.x, m.health.map(|h| h.0), m.is_frozen)).collect();
    let expected = [(plain, 1.0, None, false), (healthy, 12.0, Some(4), false), (frozen, 23.0, None, true)];
    assert_eq!(seen, expected);

    *query.get_mut(plain).unwrap().position.y = 5.0;
    assert_eq!(*query.get(plain).unwrap().position.y, 5.0);
    let by_x: Vec<_> = query.sort_by_key(|mover| std::cmp::Reverse(mover.entity)).map(|m| m.entity).collect();
    assert_eq!(by_x, [frozen, healthy, plain]);
}

#[test]
fn chunks_have_the_fields_of_the_struct() {
    let (mut world, _) = three();
    for MoverChunk { entity, position, velocity, health, is_frozen } in
        world.query_mut::<Mover>().chunks_mut()
    {
        for (x, by) in position.x.iter_mut().zip(velocity.x) {
            *x += by;
        }
        assert_eq!(entity.len(), position.y.len());
        assert!(health.is_none() || !is_frozen);
    }
    let mut query = world.query_mut::<Mover>();
    let xs: Vec<f32> =
        query.chunks().flat_map(|chunk: MoverReadOnlyChunk<'_>| chunk.position.x).copied().collect();
    assert_eq!(xs, [1.0, 12.0, 23.0]);
    let sum: f32 = query.tables_mut().flat_map(QueryTable::rows).map(|mover| *mover.position.x).sum();
    assert_eq!(sum, 36.0);
}

#[test]
fn reading_data_serve_where_reading_is_asked_for() {
    let (mut world, [_, healthy, _]) = three();
    world.clear_trackers();
    let unhurt = world.query::<Patient>().single().unwrap().health.is_changed();
    for mover in world.query_mut::<Mover>() {
        if let Some(mut health) = mover.health {
            health.0 -= 1;
        }
    }
    let query = world.query::<Patient>();
    let patient = query.single().unwrap();
    assert_eq!((unhurt, patient.health.is_changed(), patient.health.is_added()), (false, true, false));
    assert_eq!((patient.entity, patient.health.0, patient.x), (healthy, 2, Some(&10.0)));

    // So does the half of writing data that only reads.
    let mut state = world.query_state_filtered::<MoverReadOnly, Without<Health>>();
    assert_eq!(state.iter(&world).count(), 2);
    let items: Vec<MoverReadOnlyItem<'_>> = world.query::<MoverReadOnly>().into_iter().collect();
    assert_eq!(items.len(), 3);
}

#[test]
fn items_that_only_read_are_copied_and_all_are_shown() {
    let (mut world, [plain, ..]) = three();
    let mut query = world.query_mut::<Mover>();
    let item = query.get(plain).unwrap();
    let (one, two) = (item, item);
    assert_eq!((one.position.get(), two.entity), (at(0.0), plain));
    let shown = format!("{one:?}");
    assert!(
        shown.starts_with(&format!("MoverReadOnlyItem {{ entity: {plain:?}, position: PositionRef")),
        "{shown}"
    );
    let shown = format!("{:?}", query.get_mut(plain).unwrap());
    assert!(shown.starts_with("MoverItem { entity: "), "{shown}");
    let chunk = query.chunks().next().unwrap();
    let copied = chunk;
    assert_eq!(format!("{chunk:?}"), format!("{copied:?}"));
}

/// Query data made of query data.
#[derive(QueryData)]
#[query_data(mutable)]
struct Nested {
    mover: Mover,
    pair: (Entity, Option<Patient>),
}

#[test]
fn derived_data_nest() {
    let (mut world, [_, healthy, _]) = three();
    let conflict = world.try_query_state::<Nested, ()>().err().unwrap();
    assert_eq!((&*conflict.first, &*conflict.second), ("Option<&mut Health>", "Option<Ref<Health>>"));

    #[derive(QueryData)]
    #[query_data(mutable)]
    struct Apart {
        part: &'static mut Part<0>,
        placed: Option<MoverReadOnly>,
        patient: Option<Patient>,
    }
    let alone = world.spawn(Part::<0>(0)).id();
    world.entity_mut(healthy).insert(Part::<0>(0));
    for apart in world.query_mut::<Apart>() {
        let placed: Option<MoverReadOnlyItem<'_>> = apart.placed;
        assert_eq!(placed.map(|placed| placed.entity), apart.patient.map(|patient| patient.entity));
        apart.part.0 = if placed.is_some_and(|placed| *placed.position.x == 10.0) { 10 } else { 1 };
    }
    let parts: Vec<_> = world.query::<(Entity, &Part<0>)>().iter().map(|(id, part)| (id, part.0)).collect();
    assert_eq!(parts, [(alone, 1), (healthy, 10)]);
    let conflict = world.try_query_state::<(Apart, &mut Position), ()>().err().unwrap();
    assert_eq!((&*conflict.first, &*conflict.second), ("Option<&Position>", "&mut Position"));
}

/// Uses one column twice.
#[derive(QueryData)]
#[query_data(mutable)]
struct Clash {
    writes: &'static mut Health,
    reads: &'static Health,
}

#[test]
fn conflicts_between_fields_are_named() {
    let world = World::new();
    let conflict: QueryConflict = world.try_query_state::<Clash, ()>().err().unwrap();
    assert_eq!((&*conflict.first, &*conflict.second), ("&mut Health", "&Health"));
}

/// More fields than a tuple has.
#[derive(QueryData)]
#[query_data(mutable)]
#[rustfmt::skip]
struct Wide {
    a: &'static mut Part<0>, b: &'static mut Part<1>, c: &'static mut Part<2>, d: &'static mut Part<3>,
    e: &'static mut Part<4>, f: &'static mut Part<5>, g: &'static mut Part<6>, h: &'static mut Part<7>,
    i: &'static mut Part<8>, j: &'static mut Part<9>, k: Option<&'static mut Part<10>>, l: Has<Part<11>>,
    m: &'static Part<12>, entity: Entity,
}

#[derive(QueryFilter)]
#[rustfmt::skip]
struct WideFilter(
    With<Part<0>>, With<Part<1>>, With<Part<2>>, With<Part<3>>, With<Part<4>>, With<Part<5>>, With<Part<6>>,
    With<Part<7>>, With<Part<8>>, With<Part<9>>, Without<Part<10>>, Without<Part<11>>, With<Part<12>>,
);

#[test]
fn structs_may_be_wider_than_tuples() {
    let mut world = World::new();
    let low =
        (Part::<0>(0), Part::<1>(1), Part::<2>(2), Part::<3>(3), Part::<4>(4), Part::<5>(5), Part::<6>(6));
    let wide = world.spawn((low, (Part::<7>(7), Part::<8>(8), Part::<9>(9), Part::<12>(12)))).id();
    world.spawn((Part::<0>(0), Part::<1>(1)));
    for item in world.query_mut::<Wide>() {
        item.j.0 += item.m.0;
        assert!(item.k.is_none() && !item.l);
    }
    let item = world.query_filtered_mut::<Wide, WideFilter>();
    let item = item.single().unwrap();
    assert_eq!((item.entity, item.a.0, item.g.0, item.j.0, item.m.0), (wide, 0, 6, 21, 12));
    world.entity_mut(wide).insert(Part::<11>(11));
    assert!(world.query_filtered::<Entity, WideFilter>().is_empty());
}

#[test]
fn filters_hold_where_all_fields_hold() {
    let (mut world, [plain, healthy, frozen]) = three();
    world.spawn(at(0.0));
    let found: Vec<_> = world.query_filtered::<Entity, Movable>().into_iter().collect();
    assert_eq!(found, [plain, healthy]);
    assert_eq!(
        world.query_filtered::<&Position, Movable>().chunks().map(|chunk| chunk.x.len()).sum::<usize>(),
        2
    );
    world.entity_mut(healthy).insert(Frozen);
    world.entity_mut(frozen).remove::<Frozen>();
    let found: Vec<_> =
        world.query_filtered_mut::<Mover, Movable>().iter().map(|mover| mover.entity).collect();
    assert_eq!(found, [plain, frozen]);
}

/// Decides row by row.
#[derive(QueryFilter)]
struct Hit(Changed<Health>, Without<Frozen>);

/// Filters made of filters.
#[derive(QueryFilter)]
struct Both<F> {
    _movable: Movable,
    _other: F,
    _any: Or<(With<Position>, AnyOf<(Health, Frozen)>)>,
}

/// Holds everywhere.
#[derive(QueryFilter)]
struct Everything;

#[test]
fn filters_stand_inside_or() {
    let (mut world, [plain, healthy, frozen]) = three();
    let bare = world.spawn(()).id();
    let found: Vec<_> = world.query_filtered::<Entity, Or<(Movable, With<Frozen>)>>().into_iter().collect();
    assert_eq!(found, [plain, healthy, frozen]);
    assert_eq!(world.query_filtered::<Entity, Everything>().count(), 4);
    assert_eq!(world.query_filtered::<Entity, Or<(Everything, With<Frozen>)>>().count(), 4);

    world.clear_trackers();
    let found: Vec<_> = world.query_filtered::<Entity, Or<(Hit, With<Frozen>)>>().into_iter().collect();
    assert_eq!(found, [frozen]);
    world.query_mut::<&mut Health>().single_mut().unwrap().0 = 0;
    let found: Vec<_> = world.query_filtered::<Entity, Or<(Hit, With<Frozen>)>>().into_iter().collect();
    assert_eq!(found, [healthy, frozen]);
    let found: Vec<_> = world.query_filtered::<Entity, Both<Hit>>().into_iter().collect();
    assert_eq!(found, [healthy]);
    let found: Vec<_> = world.query_filtered::<Entity, Both<With<Velocity>>>().into_iter().collect();
    assert_eq!(found, [plain, healthy]);
    assert!(world.entity(bare).id() == bare);
}

#[test]
fn a_filter_decides_per_archetype_when_its_fields_do() {
    fn archetypal<F: ArchetypeFilter>() -> bool {
        F::ARCHETYPAL
    }
    assert!(archetypal::<Movable>() && archetypal::<Both<Movable>>() && archetypal::<Everything>());
    assert!(archetypal::<Or<(WideFilter, Movable)>>());
    let by_row = [Hit::ARCHETYPAL, <Both<Hit>>::ARCHETYPAL, <Or<(Hit, Movable)>>::ARCHETYPAL];
    assert_eq!(by_row, [false; 3]);
}

/// A lifetime in the place of `'static`.
#[derive(QueryData)]
#[query_data(mutable)]
struct Lent<'w, 'v: 'w, T: Component + 'w>
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
    for lent in world.query_mut::<Lent<'_, '_, Frozen>>() {
        *lent.position.x += if lent.other.is_some() { 100.0 } else { 1.0 };
    }
    fn x(item: LentReadOnlyItem<'_, Velocity>) -> f32 {
        *item.position.x
    }
    let item = world.query::<LentOut>().single().map(|item| (x(item.lent), item.health.0));
    assert_eq!(item.unwrap(), (11.0, 3));
    assert_eq!(*world.query::<&position::x>().get(healthy).unwrap(), 11.0);
}

/// Parameters of each sort, with bounds, a default and without.
#[derive(QueryData)]
#[query_data(mutable)]
struct Generic<T: Component, D, E = Option<&'static mut Health>, const N: u8 = 0>
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
struct GenericRead<T: Component, D>(Entity, &'static T, D);

/// Parts that are kept alike.
#[derive(QueryData)]
#[query_data(mutable)]
struct Alike<T: Component, U: Component>(Has<T>, Has<U>, Option<&'static T>, Option<&'static U>);

/// The same for reading.
#[derive(QueryData)]
struct AlikeRead<T, U>(Has<T>, Has<U>, &'static Position, &'static Velocity, Option<Ref<'static, Health>>)
where
    T: Component,
    U: Component;

/// Entities with `T`.
#[derive(QueryFilter)]
struct Only<T: Component> {
    _with: With<T>,
}

/// The same without the bound.
#[derive(QueryFilter)]
struct Unbound<T>(With<T>);

#[test]
fn parameters_may_be_parts() {
    let (mut world, [plain, healthy, _]) = three();
    world.entity_mut(plain).insert((Part::<7>(7), Part::<8>(8)));
    for item in world.query_filtered_mut::<Generic<Position, Eighth, (), 7>, Only<Velocity>>() {
        let GenericItem { value, data, more: (), part } = item;
        assert_eq!(data.eighth.is_some(), part.is_some());
        *value.x = data.entity.index() as f32;
    }
    for item in world.query_filtered_mut::<Generic<Position, Entity>, Unbound<Health>>() {
        assert_eq!((item.data, item.more.unwrap().0), (healthy, 3));
    }
    let query = world.query::<GenericRead<Health, Option<&Frozen>>>();
    let GenericReadItem(entity, health, frozen) = query.single().unwrap();
    assert_eq!((entity, health, frozen.is_some()), (healthy, &Health(3), false));
    assert_eq!(format!("{:?}", query.single().unwrap().1), "Health(3)");

    fn count<T: Component, D: ReadOnlyQueryData + 'static>(world: &World) -> usize {
        world.query_filtered::<GenericRead<T, D>, (Only<T>, Unbound<T>)>().count()
    }
    fn alike<T: Component, U: Component>(world: &mut World) -> (usize, bool) {
        let one = world.query_mut::<Alike<T, U>>().iter().filter(|item| item.0 == item.2.is_some()).count();
        (one, world.query::<AlikeRead<T, U>>().iter().all(|item| item.3.x.is_finite()))
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
    pub(super) struct Writing<T: super::Component> {
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
    for mut item in world.query_filtered_mut::<Writing<Position>, Nothing>() {
        item.health.0 += u32::from(*item.other.x == 10.0);
    }
    let query = world.query_filtered::<Reading, Passing<Velocity>>();
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
    for TypeItem { r#type, mut r#fn } in world.query_mut::<Type>() {
        r#fn.0 = 8;
        assert_eq!(r#type, healthy);
    }
    let mut query = world.query_mut::<Type>();
    assert!(format!("{:?}", query.iter().next().unwrap()).contains("fn: Health(8)"));
    assert_eq!(query.iter_mut().count() + world.query::<r#loop>().count(), 4);
    let _: Option<loopItem<'_>> = world.query::<r#loop>().into_iter().next();
}

/// Each visibility, one level down. What is yielded is as visible as the struct.
mod visible {
    use phalanx::prelude::Entity;

    pub(super) mod deeper {
        use crate::Health;
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
        pub(in crate::visible) struct Within(Entity);
        #[derive(QueryFilter)]
        pub(crate) struct Filter(With<Health>);
    }

    pub(super) fn all(world: &mut phalanx::World) -> Option<(u32, Entity)> {
        for mut item in world.query_mut::<deeper::Above>() {
            item.own.0 = 5;
        }
        let health = world.query::<deeper::AboveReadOnly>().single().ok()?.own.0;
        Some((health, world.query_filtered::<deeper::Within, deeper::Filter>().single().ok()?.0))
    }
}

#[test]
fn what_is_yielded_is_as_visible_as_the_struct() {
    let (mut world, [_, healthy, _]) = three();
    assert_eq!(visible::all(&mut world), Some((5, healthy)));
    let query = world.query_filtered::<visible::deeper::Everywhere, visible::deeper::Filter>();
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
    struct Local<'a, T: Component> {
        inner: &'a T,
    }
    #[derive(QueryFilter)]
    struct LocalFilter(With<Inner>);

    let (mut world, [plain, ..]) = three();
    world.entity_mut(plain).insert(Inner(4));
    for made in world.query_filtered_mut::<Made, (MadeFilter, LocalFilter)>() {
        assert!(made.health.is_none() && made.own == plain);
        *made.position.y = 1.0;
    }
    let local = world.query_filtered::<Local<'_, Inner>, MadeFilter>().single().map(|item| item.inner.0);
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
#[query_data(mutable, crate = "crate::engine::ecs")]
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
    world.query_filtered_mut::<Renamed, RenamedFilter>().single_mut().unwrap().health.0 = 9;
    assert_eq!(world.query::<RenamedRead>().single().unwrap().0, &Health(9));
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
