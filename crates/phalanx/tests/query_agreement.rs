//! Single entities and parallel jobs against plain iteration: what one way through a query finds, every way finds.
//!
//! Entities stand in many archetypes, in pools, in none, or are dead; data is whole, by field, sparse and mixed.
#![cfg(feature = "parallel")]
#![forbid(unsafe_code)]
#![allow(missing_docs, clippy::unwrap_used)]

mod common {
    pub mod pool_kinds;
}

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;

use common::pool_kinds::{
    Burning, Clan, Elves, Frozen, Ghosts, Health, Name, Orcs, Position, Rage, elf, orc,
};
use phalanx::prelude::*;
use phalanx::query::{QueryData, QueryFilter};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
struct Seat(u32);

/// Never given to an entity.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Unseen(u32);

/// Never given to an entity.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Absent(u32);

/// Every combination of components, rows or none; then the dead, their successors, and ids of no entity.
fn world() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let mut ids = Vec::new();
    for x in 0..128u8 {
        let n = u32::from(x);
        let entity = world.spawn_empty().id();
        ids.push(entity);
        let has = |bit: u32| n >> bit & 1 == 1;
        if has(0) {
            world.insert(entity, Position { x: f32::from(x), y: 1.0 }).unwrap();
        }
        if has(1) {
            world.insert(entity, Health(n)).unwrap();
        }
        if has(2) {
            world.insert(entity, Frozen).unwrap();
        }
        if has(3) {
            world.insert(entity, Burning(n)).unwrap();
        }
        if has(4) {
            world.insert(entity, Seat(n)).unwrap();
        }
        if has(5) {
            world.insert(entity, Rage(n)).unwrap();
        }
        if has(6) {
            world.insert(entity, (Clan(n), Name(n.to_string()))).unwrap();
        }
    }
    ids.extend((0..3).map(|n| world.spawn_in(orc(n))));
    ids.extend((0..3).map(|n| world.spawn_in(Orcs { burning: Some(Burning(n)), ..orc(n) })));
    ids.extend((0..3).map(|n| world.spawn_in(Elves { health: Some(Health(n)), ..elf("e") })));
    ids.push(world.spawn_in(Ghosts { frozen: None, burning: None }));
    ids.push(world.spawn_in(Ghosts { frozen: None, burning: Some(Burning(1)) }));
    for at in (5..128).step_by(9) {
        world.despawn(ids[at]);
    }
    for n in 0..4 {
        ids.push(world.spawn((Health(n), Burning(n))).id());
        ids.push(world.spawn(Seat(n)).id());
    }
    ids.extend([Entity::PLACEHOLDER, Entity::from_bits(1 << 32 | 5000).unwrap()]);
    ids.push(Entity::from_bits(77 << 32 | 3).unwrap());
    world.check().unwrap();
    (world, ids)
}

/// What a row looks like; `None` where there is no row.
fn text<E>(row: Result<&dyn Debug, E>) -> Option<String> {
    row.ok().map(|row| format!("{row:?}"))
}

/// What iteration found, and what every other way found for the ids, in their order.
struct Found {
    what: &'static str,
    written: BTreeMap<Entity, String>,
    read: BTreeMap<Entity, String>,
    counts: [usize; 3],
    single: Vec<Single>,
}

/// What was found for one id.
#[derive(Default)]
struct Single {
    read: [Option<String>; 2],
    written: [Option<String>; 3],
    contained: [bool; 2],
}

impl Found {
    /// Not generic: this is compiled once.
    fn agrees(&self, ids: &[Entity]) {
        let Self { what, written, read, .. } = self;
        assert!(written.keys().eq(read.keys()), "{what}");
        assert_eq!(self.counts, [read.len(); 3], "{what}");
        assert_eq!(self.single.len(), ids.len());
        for (entity, single) in ids.iter().zip(&self.single) {
            let (row, row_mut) = (read.get(entity).cloned(), written.get(entity).cloned());
            assert_eq!(single.read, [row.clone(), row.clone()], "{what}: get {entity}, alone");
            let all = [row_mut.clone(), row_mut.clone(), row_mut];
            assert_eq!(single.written, all, "{what}: get_mut, into_get {entity}; get_mut alone");
            assert_eq!(single.contained, [row.is_some(); 2], "{what}: contains {entity}, alone");
        }
    }
}

/// Compares every way to find single entities with iteration.
fn agrees<D, F>(world: &mut World, ids: &[Entity])
where
    D: QueryData + 'static,
    F: QueryFilter + 'static,
    for<'a> D::Item<'a>: Debug,
    for<'a> <D::ReadOnly as QueryData>::Item<'a>: Debug,
{
    let (mut written, mut read) = (BTreeMap::new(), BTreeMap::new());
    let mut query = world.view_filtered_mut::<(Entity, D), F>();
    for (entity, row) in &mut query {
        written.insert(entity, format!("{:?}", &row as &dyn Debug));
    }
    for (entity, row) in &query {
        read.insert(entity, format!("{:?}", &row as &dyn Debug));
    }
    let mut counts = [query.count(), 0, 0];
    let mut single = Vec::new();
    for &entity in ids {
        let mut found = Single::default();
        found.read[0] = text(query.get(entity).as_ref().map(|(id, row)| same(entity, *id, row)));
        found.written[0] = text(query.get_mut(entity).as_ref().map(|(id, row)| same(entity, *id, row)));
        let taken = query.reborrow().get_inner(entity);
        found.written[1] = text(taken.as_ref().map(|(id, row)| same(entity, *id, row)));
        drop(taken);
        found.contained[0] = query.contains(entity);
        single.push(found);
    }
    // The same without the entity, which is a part that reaches no column.
    let mut query = world.view_filtered_mut::<D, F>();
    for (&entity, found) in ids.iter().zip(&mut single) {
        found.read[1] = text(query.get(entity).as_ref().map(|row| row as &dyn Debug));
        found.written[2] = text(query.get_mut(entity).as_ref().map(|row| row as &dyn Debug));
        found.contained[1] = query.contains(entity);
    }
    counts[1] = query.count();
    counts[2] = query.driven_by_tables().count();
    let what = std::any::type_name::<(D, F)>();
    Found { what, written, read, counts, single }.agrees(ids);
}

/// The row, which must be that of the entity that was asked for.
fn same(asked: Entity, found: Entity, row: &dyn Debug) -> &dyn Debug {
    assert_eq!(asked, found);
    row
}

fn agrees_filtered<D>(world: &mut World, ids: &[Entity])
where
    D: QueryData + 'static,
    for<'a> D::Item<'a>: Debug,
    for<'a> <D::ReadOnly as QueryData>::Item<'a>: Debug,
{
    // No filter, tables with sets, alternatives, pools. Each pair of data and filter costs a tenth of a second to compile, so
    // the others are left to `more_filters`.
    agrees::<D, ()>(world, ids);
    agrees::<D, (Without<Frozen>, With<Seat>)>(world, ids);
    agrees::<D, Or<(With<Frozen>, With<Burning>)>>(world, ids);
    agrees::<D, (InPool<Ghosts>, With<Burning>)>(world, ids);
    #[cfg(phalanx_full)]
    more_filters::<D>(world, ids);
}

/// All other filters. `--cfg phalanx_full`, which the address sanitizer's step of CI sets, has them with all data.
fn more_filters<D>(world: &mut World, ids: &[Entity])
where
    D: QueryData + 'static,
    for<'a> D::Item<'a>: Debug,
    for<'a> <D::ReadOnly as QueryData>::Item<'a>: Debug,
{
    agrees::<D, Without<Burning>>(world, ids);
    agrees::<D, With<Absent>>(world, ids);
    agrees::<D, NotInPool<Orcs>>(world, ids);
    agrees::<D, Changed<Rage>>(world, ids);
    agrees::<D, With<Frozen>>(world, ids);
    agrees::<D, Without<Frozen>>(world, ids);
    agrees::<D, With<Burning>>(world, ids);
    agrees::<D, With<Seat>>(world, ids);
    agrees::<D, Without<Seat>>(world, ids);
    agrees::<D, (Without<Burning>, With<Seat>)>(world, ids);
    agrees::<D, With<Unseen>>(world, ids);
    agrees::<D, Without<Unseen>>(world, ids);
    agrees::<D, Without<Absent>>(world, ids);
    agrees::<D, Or<(With<Frozen>, Without<Seat>)>>(world, ids);
    agrees::<D, InPool<Orcs>>(world, ids);
    agrees::<D, InPool<General>>(world, ids);
}

#[test]
fn single_rows_agree_with_iteration_for_every_filter() {
    let (mut world, ids) = world();
    more_filters::<&mut Health>(&mut world, &ids);
    more_filters::<(&mut Seat, Option<&mut Burning>)>(&mut world, &ids);
}

macro_rules! agreement {
    ($($name:ident: $($data:ty),+;)*) => {$(
        #[test]
        fn $name() {
            let (mut world, ids) = world();
            $(agrees_filtered::<$data>(&mut world, &ids);)+
        }
    )*};
}
agreement! {
    single_rows_of_whole_components_agree_with_iteration:
        &Health, &mut Health, (&mut Health, &Name), &Frozen, &mut Rage, &Absent;
    single_rows_by_field_agree_with_iteration:
        &Position, &mut Position, (&mut Position, &mut Health);
    single_rows_of_sets_agree_with_iteration:
        &Burning, &mut Burning, &mut Seat, (&mut Seat, &Burning), (&Burning, Has<Seat>), &Unseen, (&Seat, &Unseen);
    single_rows_of_optional_parts_agree_with_iteration:
        Option<&mut Health>, Option<&mut Burning>, (Option<&Seat>, Option<&Position>), Has<Frozen>, Has<Seat>, ();
    single_rows_of_mixed_parts_agree_with_iteration:
        (&mut Health, &mut Burning), (&Seat, Option<&mut Health>), (&mut Seat, Option<&mut Burning>),
        (&Health, Option<&mut Seat>), (&mut Burning, Has<Frozen>), (Option<(&Health, &Burning)>, &Seat),
        (&mut Position, &mut Seat, Option<&Unseen>);
}

#[test]
fn single_rows_agree_with_iteration_after_tables_were_dropped() {
    let (mut world, mut ids) = world();
    agrees::<&mut Health, ()>(&mut world, &ids);
    agrees::<(&mut Seat, Option<&Burning>), ()>(&mut world, &ids);
    for &entity in ids.iter().step_by(2) {
        world.despawn(entity);
    }
    for &entity in ids.iter().step_by(3) {
        let _ = world.remove::<(Position, Rage)>(entity);
    }
    world.shrink_to_fit();
    ids.extend((0..40).map(|n| world.spawn((Health(n), Seat(n), Frozen)).id()));
    agrees::<&mut Health, ()>(&mut world, &ids);
    agrees::<(&mut Seat, Option<&Burning>), ()>(&mut world, &ids);
    agrees::<(&Health, &mut Seat), Without<Rage>>(&mut world, &ids);
    world.check().unwrap();
}

/// What jobs of `rows` rows see, sorted.
fn seen<D: QueryData<ReadOnly = D>, F: QueryFilter>(
    query: &Query<'_, '_, D, F>,
    rows: usize,
    key: impl Fn(D::Item<'_>) -> u64 + Send + Sync,
) -> Vec<u64> {
    let all = Mutex::new(Vec::new());
    query.par_iter().batch_rows(rows).for_each(|row| all.lock().unwrap().push(key(row)));
    let mut all = all.into_inner().unwrap();
    all.sort_unstable();
    all
}

/// `count` rows over five tables, entities without a row among them.
fn spread(count: u32) -> World {
    let mut world = World::new();
    for n in 0..count {
        let entity = match n % 7 {
            0 | 1 => world.spawn(Health(n)).id(),
            2 => world.spawn((Health(n), Frozen)).id(),
            3 => world.spawn((Health(n), Position { x: 0.0, y: 0.0 })).id(),
            4 => world.spawn((Health(n), Rage(n), Frozen)).id(),
            5 => world.spawn((Health(n), Name(n.to_string()))).id(),
            _ => world.spawn_empty().id(),
        };
        if n % 3 == 0 {
            world.insert(entity, Seat(n)).unwrap();
        }
    }
    world
}

#[test]
fn jobs_of_any_number_of_rows_visit_what_a_loop_visits() {
    for count in [0, 1, 15, 16, 17, 1000, 5000] {
        let mut world = spread(count);
        for rows in [0, 1, 15, 16, 17, 1000, 1024, 5000, usize::MAX] {
            let sorted = |mut all: Vec<u64>| {
                all.sort_unstable();
                all
            };
            let query = world.view::<(Entity, &Health)>();
            let key = |(entity, health): (Entity, &Health)| entity.to_bits() ^ u64::from(health.0) << 40;
            assert_eq!(seen(&query, rows, key), sorted(query.iter().map(key).collect()));
            let query = world.view::<(Entity, &Seat)>();
            let key = |(entity, seat): (Entity, &Seat)| entity.to_bits() ^ u64::from(seat.0) << 40;
            assert_eq!(seen(&query, rows, key), sorted(query.iter().map(key).collect()));
            let query = world.view_filtered::<(Entity, Option<&Health>, Option<&Seat>), Without<Frozen>>();
            let key = |(entity, health, seat): (Entity, Option<&Health>, Option<&Seat>)| {
                entity.to_bits() ^ u64::from(health.is_some()) << 40 ^ u64::from(seat.is_some()) << 41
            };
            assert_eq!(seen(&query, rows, key), sorted(query.iter().map(key).collect()));

            let sum =
                |world: &World| world.view::<&Health>().iter().map(|health| u64::from(health.0)).sum::<u64>();
            let (before, matches) = (sum(&world), world.view::<&Health>().count() as u64);
            world
                .view_mut::<&mut Health>()
                .par_iter_mut()
                .batch_rows(rows)
                .for_each(|mut health| health.0 += 1);
            assert_eq!(sum(&world), before + matches);
            let reduced = world
                .view_mut::<(&mut Health, Option<&mut Seat>)>()
                .par_iter_mut()
                .batch_rows(rows)
                .map_reduce(|| 0, |(health, _)| u64::from(health.0), |a, b| a + b);
            assert_eq!(reduced, before + matches);
        }
        world.check().unwrap();
    }
}
