//! Derived query data and filters: structs that stand in queries like the tuples of their fields.
//!
//! What they yield has names, and what they visit is what the tuple would visit. What may surround them is in
//! `tests/hygiene`.
#![deny(missing_docs, unreachable_pub, missing_debug_implementations, nonstandard_style, unused)]
#![allow(clippy::float_cmp)]

use crate::common::movers::{Frozen, Health, Part, Position, Velocity, at, position, three};
use phalanx::prelude::*;
use phalanx::query::{ArchetypeFilter, QueryConflict, QueryTable};

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

#[test]
fn items_have_the_fields_of_the_struct() {
    let (mut world, [plain, healthy, frozen]) = three();
    for mover in world.view_mut::<Mover>() {
        *mover.position.x += *mover.velocity.x;
        if let Some(mut health) = mover.health {
            health.0 += 1;
        }
    }
    let mut query = world.view_mut::<Mover>();
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
    for MoverChunk { entity, position, velocity, health, is_frozen } in world.view_mut::<Mover>().chunks_mut()
    {
        for (x, by) in position.x.iter_mut().zip(velocity.x) {
            *x += by;
        }
        assert_eq!(entity.len(), position.y.len());
        assert!(health.is_none() || !is_frozen);
    }
    let mut query = world.view_mut::<Mover>();
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
    let unhurt = world.view::<Patient>().single().unwrap().health.is_changed();
    for mover in world.view_mut::<Mover>() {
        if let Some(mut health) = mover.health {
            health.0 -= 1;
        }
    }
    let query = world.view::<Patient>();
    let patient = query.single().unwrap();
    assert_eq!((unhurt, patient.health.is_changed(), patient.health.is_added()), (false, true, false));
    assert_eq!((patient.entity, patient.health.0, patient.x), (healthy, 2, Some(&10.0)));

    // So does the half of writing data that only reads.
    let mut state = world.query_filtered::<MoverReadOnly, Without<Health>>();
    assert_eq!(state.iter(&world).count(), 2);
    let items: Vec<MoverReadOnlyItem<'_>> = world.view::<MoverReadOnly>().into_iter().collect();
    assert_eq!(items.len(), 3);
}

#[test]
fn items_that_only_read_are_copied_and_all_are_shown() {
    let (mut world, [plain, ..]) = three();
    let mut query = world.view_mut::<Mover>();
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
    let conflict = world.try_query_filtered::<Nested, ()>().err().unwrap();
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
    for mut apart in world.view_mut::<Apart>() {
        let placed: Option<MoverReadOnlyItem<'_>> = apart.placed;
        assert_eq!(placed.map(|placed| placed.entity), apart.patient.map(|patient| patient.entity));
        apart.part.0 = if placed.is_some_and(|placed| *placed.position.x == 10.0) { 10 } else { 1 };
    }
    let parts: Vec<_> = world.view::<(Entity, &Part<0>)>().iter().map(|(id, part)| (id, part.0)).collect();
    assert_eq!(parts, [(alone, 1), (healthy, 10)]);
    let conflict = world.try_query_filtered::<(Apart, &mut Position), ()>().err().unwrap();
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
    let conflict: QueryConflict = world.try_query_filtered::<Clash, ()>().err().unwrap();
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
    for mut item in world.view_mut::<Wide>() {
        item.j.0 += item.m.0;
        assert!(item.k.is_none() && !item.l);
    }
    let item = world.view_filtered_mut::<Wide, WideFilter>();
    let item = item.single().unwrap();
    assert_eq!((item.entity, item.a.0, item.g.0, item.j.0, item.m.0), (wide, 0, 6, 21, 12));
    world.entity_mut(wide).insert(Part::<11>(11));
    assert!(world.view_filtered::<Entity, WideFilter>().is_empty());
}

#[test]
fn filters_hold_where_all_fields_hold() {
    let (mut world, [plain, healthy, frozen]) = three();
    world.spawn(at(0.0));
    let found: Vec<_> = world.view_filtered::<Entity, Movable>().into_iter().collect();
    assert_eq!(found, [plain, healthy]);
    assert_eq!(
        world.view_filtered::<&Position, Movable>().chunks().map(|chunk| chunk.x.len()).sum::<usize>(),
        2
    );
    world.entity_mut(healthy).insert(Frozen);
    world.entity_mut(frozen).remove::<Frozen>();
    let found: Vec<_> =
        world.view_filtered_mut::<Mover, Movable>().iter().map(|mover| mover.entity).collect();
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
    _any: Or<(With<Position>, Or<(With<Health>, With<Frozen>)>)>,
}

/// Holds everywhere.
#[derive(QueryFilter)]
struct Everything;

#[test]
fn filters_stand_inside_or() {
    let (mut world, [plain, healthy, frozen]) = three();
    let bare = world.spawn(()).id();
    let found: Vec<_> = world.view_filtered::<Entity, Or<(Movable, With<Frozen>)>>().into_iter().collect();
    assert_eq!(found, [plain, healthy, frozen]);
    assert_eq!(world.view_filtered::<Entity, Everything>().count(), 4);
    assert_eq!(world.view_filtered::<Entity, Or<(Everything, With<Frozen>)>>().count(), 4);

    world.clear_trackers();
    let found: Vec<_> = world.view_filtered::<Entity, Or<(Hit, With<Frozen>)>>().into_iter().collect();
    assert_eq!(found, [frozen]);
    world.view_mut::<&mut Health>().single_mut().unwrap().0 = 0;
    let found: Vec<_> = world.view_filtered::<Entity, Or<(Hit, With<Frozen>)>>().into_iter().collect();
    assert_eq!(found, [healthy, frozen]);
    let found: Vec<_> = world.view_filtered::<Entity, Both<Hit>>().into_iter().collect();
    assert_eq!(found, [healthy]);
    let found: Vec<_> = world.view_filtered::<Entity, Both<With<Velocity>>>().into_iter().collect();
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
