//! Systems generic over a component: `T: Component` is the only bound they need, whatever the storage and tracking.

#![expect(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component, Clone, Default, PartialEq, Debug)]
struct Plain(u32);

#[derive(Component, Clone, Default, PartialEq, Debug)]
#[component(track = "none")]
struct Silent(u32);

#[derive(Component, Clone, Default, PartialEq, Debug)]
#[component(track = "row")]
struct Watched(u32);

#[derive(Component, Clone, Default, PartialEq, Debug)]
#[component(storage = "sparse")]
struct Sparse(u32);

#[derive(Component, Clone, Default, PartialEq, Debug)]
#[component(storage = "sparse", track = "row")]
struct SparseWatched(u32);

#[derive(Component, Clone, Default, PartialEq, Debug)]
struct Generic<T: Send + Sync + 'static>(T);

#[derive(Component, Default)]
struct Marker;

#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct Fields {
    x: f32,
}

fn clear<T: Component + Default>(mut all: Query<&mut T>) {
    for mut value in &mut all {
        *value = T::default();
    }
}

#[derive(Resource, Default)]
struct Copies<T: Send + Sync + 'static>(Vec<T>);

fn collect<T: Component + Clone>(all: Query<&T>, mut copies: ResMut<Copies<T>>) {
    for value in &all {
        copies.0.push(value.clone());
    }
}

fn copy_over<A: Component + Clone, B: Component + From<A>>(mut pairs: Query<(Entity, &A, Option<&mut B>)>) {
    for (_, from, to) in &mut pairs {
        if let Some(mut to) = to {
            *to = B::from(from.clone());
        }
    }
}

fn clear_slices<T: Component + Default>(mut all: Query<&mut T>)
where
    <&'static mut T as QueryData>::Fetch: phalanx::query::DenseFetch,
{
    for slice in all.chunks_mut() {
        slice.fill_with(T::default);
    }
}

fn first<T: Component>(world: &World, entity: Entity) -> Option<&T> {
    world.get::<T>(entity)
}

fn replace<T: Component>(world: &mut World, entity: Entity, value: T) -> Option<T> {
    let mut old = world.get_mut::<T>(entity)?;
    Some(std::mem::replace(&mut *old, value))
}

fn cleared<T: Component + Clone + Default + PartialEq + std::fmt::Debug>(value: T) {
    let mut world = World::new();
    let entity = world.spawn(value.clone()).id();
    world.insert_resource(Copies::<T>(Vec::new()));
    world.run_system_once(collect::<T>).expect("its parameters are there");
    assert_eq!(world.resource::<Copies<T>>().0, std::slice::from_ref(&value));
    world.run_system_once(clear::<T>).expect("its parameters are there");
    assert_eq!(first::<T>(&world, entity), Some(&T::default()));
    assert_eq!(replace(&mut world, entity, value.clone()), Some(T::default()));
    assert_eq!(first(&world, entity), Some(&value));
}

#[test]
fn generic_system_needs_only_component_for_every_storage_and_tracking() {
    cleared(Plain(3));
    cleared(Silent(3));
    cleared(Watched(3));
    cleared(Sparse(3));
    cleared(SparseWatched(3));
    cleared(Generic(7_u8));
    let mut world = World::new();
    world.spawn(Marker);
    world.run_system_once(clear::<Marker>).unwrap();
    world.run_system_once(clear_slices::<Plain>).unwrap();
}

impl From<Plain> for Watched {
    fn from(plain: Plain) -> Self {
        Self(plain.0)
    }
}

#[test]
fn generic_system_reads_one_component_and_writes_another_if_there() {
    let mut world = World::new();
    let both = world.spawn((Plain(5), Watched(0))).id();
    world.spawn(Plain(6));
    world.run_system_once(copy_over::<Plain, Watched>).unwrap();
    assert_eq!(world.get::<Watched>(both), Some(&Watched(5)));
}

#[test]
fn exclusive_access_without_row_ticks_is_one_pointer() {
    assert_eq!(size_of::<Mut<'_, Plain>>(), size_of::<&mut Plain>());
    assert_eq!(size_of::<Option<Mut<'_, Plain>>>(), size_of::<&mut Plain>());
    assert_eq!(size_of::<Option<Mut<'_, Marker>>>(), size_of::<&mut Marker>());
    assert!(size_of::<Mut<'_, Watched>>() > size_of::<&mut Watched>());
}

#[test]
fn exclusive_access_may_stand_for_a_shorter_one() {
    fn shorter<'a, T: Component>(long: Mut<'static, T>, _: &'a u8) -> Mut<'a, T> {
        long
    }
    let _ = shorter::<Plain>;
    let _ = shorter::<Watched>;
}

#[test]
fn only_a_write_through_mut_marks_a_row() {
    let mut world = World::new();
    let entity = world.spawn(Watched(1)).id();
    let before = world.get_mut::<Watched>(entity).unwrap().last_changed();
    world.increment_change_tick();
    let mut row = world.get_mut::<Watched>(entity).unwrap();
    assert_eq!(row.0, 1);
    assert!(!row.set_if_neq(Watched(1)));
    row.bypass_change_detection().0 = 2;
    assert_eq!((row.last_changed(), row.added()), (before, before));
    assert_eq!(row.replace_if_neq(Watched(3)), Some(Watched(2)));
    assert!(row.last_changed().is_after(before));
    row.reborrow().0 = 4;
    assert_eq!(row.into_inner(), &mut Watched(4));
}

#[test]
fn mut_compares_as_its_value_and_prints_as_in_bevy() {
    let mut world = World::new();
    let [a, b] = [3, 2].map(|n| world.spawn(Plain(n)).id());
    let mut query = world.view_mut::<&mut Plain>();
    let [a, b] = query.get_many_mut([a, b]).unwrap();
    assert!(a != b);
    assert_eq!(format!("{a:?}"), "Mut(Plain(3))");
}

#[test]
fn component_kept_by_fields_is_any_component() {
    fn count<T: AnyComponent>(world: &World) -> usize {
        world.view_filtered::<Entity, With<T>>().iter().count()
    }
    let mut world = World::new();
    world.spawn(Fields { x: 1.0 });
    assert_eq!(count::<Fields>(&world), 1);
    assert_eq!(*world.get::<Fields>(world.view::<Entity>().single().unwrap()).unwrap().x, 1.0);
}
