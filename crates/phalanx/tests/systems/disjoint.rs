//! Queries of one system that write the same component in different tables; `threads/disjoint.rs` has systems side by
//! side.
//!
//! What is accepted must never meet: the same cases are run over worlds in which everything occurs beside everything.
//! What is refused is refused when the system is made, with both parameters named.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::cell::Cell;

use phalanx::prelude::*;
use phalanx::query::QueryFilter;
use phalanx::system::{ParamConflict, Run, SystemMeta};
use phalanx::world::SharedWorld;

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(track = "row")]
struct Armour(i32);
#[derive(Component)]
struct Frozen;
#[derive(Component)]
struct Boss;
#[derive(Component)]
struct Player;
#[derive(Component)]
#[component(storage = "sparse")]
struct Stun(#[allow(dead_code, reason = "only its presence counts")] i32);
#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Pool)]
struct Orcs {
    health: Health,
    frozen: Option<Frozen>,
}
#[derive(Pool)]
struct Elves {
    health: Health,
    frozen: Option<Frozen>,
}

fn conflict<M>(system: impl IntoSystem<(), (), M>) -> Option<ParamConflict> {
    let mut world = World::new();
    system.into_system().initialize(&mut world).err()
}

/// A world in which every set of tags occurs, in General and in pools.
fn world() -> World {
    let mut world = World::new();
    fill(&mut world);
    world
}

fn fill(world: &mut World) {
    for tags in 0..16_u32 {
        let mut entity = world.spawn((Health(0), Armour(0), Position { x: 0.0, y: 0.0 }));
        if tags & 1 != 0 {
            entity.insert(Frozen);
        }
        if tags & 2 != 0 {
            entity.insert(Boss);
        }
        if tags & 4 != 0 {
            entity.insert(Player);
        }
        if tags & 8 != 0 {
            entity.insert(Stun(0));
        }
    }
    world.spawn_in(Orcs { health: Health(0), frozen: None });
    world.spawn_in(Orcs { health: Health(0), frozen: Some(Frozen) });
    world.spawn_in(Elves { health: Health(0), frozen: None });
    world.spawn_in(Elves { health: Health(0), frozen: Some(Frozen) });
}

/// Writes through both queries at once, and asserts that no entity is in both.
macro_rules! apart {
    ($($first:ty, $second:ty;)*) => {$({
        fn system(mut first: Query<(Entity, &mut Health), $first>, mut second: Query<(Entity, &mut Health), $second>) {
            let ones: Vec<_> = first.iter().map(|(entity, _)| entity).collect();
            let others: Vec<_> = second.iter().map(|(entity, _)| entity).collect();
            assert!(ones.iter().all(|entity| !others.contains(entity)));
            for ((_, mut a), (_, mut b)) in first.iter_mut().zip(second.iter_mut()) {
                std::mem::swap(&mut *a, &mut *b);
                a.0 += 1;
                b.0 += 1;
            }
            // Single access stays where the query is.
            for &entity in &others {
                assert!(first.get(entity).is_err() && first.get_mut(entity).is_err());
                assert!(!first.contains(entity));
                assert!(first.get_many_mut([entity]).is_err());
                assert_eq!(first.iter_many([entity]).matched().count(), 0);
                assert!(first.iter_many_mut([entity]).matched().fetch_next().is_none());
                assert!(first.iter_many_unique_mut([entity]).all(|found| found.is_err()));
            }
            for &entity in &ones {
                assert!(second.get_mut(entity).is_err());
                assert!(first.get_mut(entity).is_ok());
            }
        }
        let name = concat!(stringify!($first), " beside ", stringify!($second));
        assert_eq!(conflict(system), None, "{name}");
        let mut world = world();
        world.run_system_once(system).unwrap_or_else(|error| panic!("{name}: {error}"));
        // The other way round, in a world that has met nothing before the system was made.
        let mut system = IntoSystem::into_system(system);
        let mut empty = World::new();
        system.initialize(&mut empty).unwrap_or_else(|error| panic!("{name}: {error}"));
        system.run_alone((), &mut empty).unwrap_or_else(|error| panic!("{name}: {error}"));
    })*};
}

/// Asserts that two queries are refused in one system.
fn refuse<A: QueryFilter + 'static, B: QueryFilter + 'static>(first: &str, second: &str) {
    let found = conflict(|_: Query<&mut Health, A>, _: Query<&mut Health, B>| {});
    let found = found.unwrap_or_else(|| panic!("{first} beside {second} was accepted"));
    assert_eq!(found.part, "Health");
    assert!(
        found.to_string().contains("`Without<X>`") && found.to_string().contains("`ParamSet`"),
        "{found}"
    );
    assert!(conflict(|_: Query<&Health, A>, _: Query<&mut Health, B>| {}).is_some());
    assert!(conflict(|_: Query<&Health, A>, _: Query<&Health, B>| {}).is_none());
}
macro_rules! refused {
    ($($first:ty, $second:ty;)*) => {
        $(refuse::<$first, $second>(stringify!($first), stringify!($second));)*
    };
}

#[test]
fn queries_that_never_meet_in_a_table_are_used_at_once() {
    apart! {
        With<Frozen>, Without<Frozen>;
        (With<Frozen>, With<Boss>), Without<Boss>;
        (With<Frozen>, Without<Boss>), (With<Frozen>, With<Boss>, Without<Player>);
        Or<(With<Frozen>, With<Boss>)>, (Without<Frozen>, Without<Boss>);
        Or<((With<Frozen>, With<Boss>), (With<Frozen>, With<Player>))>, Without<Frozen>;
        InPool<Orcs>, InPool<Elves>;
        InPool<Orcs>, NotInPool<Orcs>;
        InPool<General>, InPool<Orcs>;
        (InPool<Orcs>, With<Frozen>), (InPool<Orcs>, Without<Frozen>);
        Or<(InPool<Orcs>, With<Frozen>)>, (InPool<Elves>, Without<Frozen>);
        (With<Frozen>, With<Stun>), Without<Frozen>;
        (With<Frozen>, Without<Frozen>), ();
    }
}

#[test]
fn queries_that_might_meet_are_refused() {
    refused! {
        With<Frozen>, With<Boss>;
        With<Frozen>, ();
        Without<Frozen>, Without<Boss>;
        Or<(With<Frozen>, With<Boss>)>, Without<Frozen>;
        Or<(Without<Frozen>, Without<Boss>)>, (With<Frozen>, With<Player>);
        Or<(With<Frozen>, Without<Boss>)>, Or<(Without<Frozen>, With<Boss>)>;
        With<Stun>, Without<Stun>;
        (With<Stun>, With<Boss>), (Without<Stun>, With<Boss>);
        Or<(With<Frozen>, With<Stun>)>, Without<Frozen>;
        InPool<Orcs>, InPool<Orcs>;
        InPool<Orcs>, NotInPool<Elves>;
        NotInPool<Orcs>, NotInPool<Elves>;
        InPool<Orcs>, With<Frozen>;
        Changed<Armour>, Without<Boss>;
    }
}

#[test]
fn data_tell_tables_apart_as_filters_do_unless_they_are_optional() {
    assert!(conflict(|_: Query<(&mut Health, &Boss)>, _: Query<&mut Health, Without<Boss>>| {}).is_none());
    assert!(
        conflict(|_: Query<(&mut Health, &Armour)>, _: Query<&mut Health, Without<Armour>>| {}).is_none()
    );
    assert!(
        conflict(|_: Query<&mut Health, Changed<Armour>>, _: Query<&mut Health, Without<Armour>>| {})
            .is_none()
    );
    assert!(
        conflict(|_: Query<(&mut Health, Option<&Boss>)>, _: Query<&mut Health, Without<Boss>>| {}).is_some()
    );
    assert!(
        conflict(|_: Query<(&mut Health, Has<Boss>)>, _: Query<&mut Health, Without<Boss>>| {}).is_some()
    );
    assert!(
        conflict(|_: Query<AnyOf<(&mut Health, &Boss)>>, _: Query<&mut Health, Without<Boss>>| {}).is_some()
    );
    assert!(
        conflict(|_: Query<(&mut Health, AnyOf<(&Boss, &Player)>)>, _: Query<&mut Health, Without<Boss>>| {})
            .is_some()
    );
    let both = |_: Query<(&mut Health, AnyOf<(&Boss, &Player)>)>,
                _: Query<&mut Health, (Without<Boss>, Without<Player>)>| {};
    assert!(conflict(both).is_none());
    // Fields are columns of their own, and are told apart as whole components are.
    assert!(
        conflict(|_: Query<&mut position::x, With<Boss>>, _: Query<&mut Position, Without<Boss>>| {})
            .is_none()
    );
    assert!(conflict(|_: Query<&mut position::x, With<Boss>>, _: Query<&mut Position>| {}).is_some());
}

#[test]
fn sparse_components_are_not_told_apart_by_tables() {
    let found = conflict(|_: Query<&mut Stun, With<Boss>>, _: Query<&mut Stun, Without<Boss>>| {});
    let found = found.expect("a set is one column for all tables");
    assert_eq!(found.part, "Stun (sparse)");
    assert!(found.to_string().ends_with("merge them, or put them into a `ParamSet`"), "{found}");
    assert!(conflict(|_: Query<&mut Stun, With<Boss>>, _: Query<&Stun, Without<Boss>>| {}).is_some());
    // Beside a column that is told apart, a set that both only read.
    let both = |_: Query<(&mut Health, &Stun), With<Boss>>, _: Query<(&mut Health, &Stun), Without<Boss>>| {};
    assert!(conflict(both).is_none());
}

#[test]
fn the_error_names_both_parameters_the_component_and_the_ways_out() {
    fn both(_: Query<&mut Health, With<Boss>>, _: Query<&Health, With<Player>>) {}
    let found = conflict(both).expect("a boss may be a player");
    assert_eq!(
        found.to_string(),
        "parameters `Query<&mut Health, With<Boss>>` and `Query<&Health, With<Player>>` of system `both` both use \
         `Health`, and one of them writes: keep the queries in different tables with `With<X>` in one and \
         `Without<X>` in the other, where `X` is not sparse, or put them into a `ParamSet`"
    );
}

#[test]
fn three_queries_sets_and_derived_parameters_are_told_apart() {
    #[derive(SystemParam)]
    struct Bosses<'w, 's> {
        all: Query<'w, 's, &'static mut Health, With<Boss>>,
    }
    fn system(
        mut bosses: Bosses,
        mut players: Query<&mut Health, (With<Player>, Without<Boss>)>,
        mut rest: ParamSet<(
            Query<&mut Health, (Without<Player>, Without<Boss>)>,
            Query<&Health, (Without<Player>, Without<Boss>)>,
        )>,
    ) {
        let mut players = players.iter_mut();
        for mut boss in &mut bosses.all {
            boss.0 += 10;
            if let Some(mut player) = players.next() {
                player.0 += boss.0;
            }
            for mut health in &mut rest.p0() {
                health.0 += 1;
            }
            assert!(rest.p1().iter().all(|health| health.0 > 0));
        }
    }
    let mut world = world();
    world.run_system_once(system).unwrap();
    let bosses = world.view_filtered::<&Health, With<Boss>>();
    assert!(bosses.iter().all(|health| health.0 == 10) && bosses.count() == 8);
    assert_eq!(
        world.view_filtered::<&Health, (With<Player>, Without<Boss>)>().iter().map(|h| h.0).sum::<i32>(),
        40
    );
    // What is inside a set is told apart from what is outside, each of it.
    fn meets(
        _: ParamSet<(Query<&mut Health, With<Boss>>, Query<&mut Health>)>,
        _: Query<&Health, Without<Boss>>,
    ) {
    }
    assert!(conflict(meets).is_some());
    // A third one that meets one of two.
    let third = |_: Query<&mut Health, With<Boss>>,
                 _: Query<&mut Health, Without<Boss>>,
                 _: Query<&Health, With<Player>>| {};
    assert!(conflict(third).is_some());
    assert!(conflict(|_: &World, _: Query<&mut Health, With<Boss>>| {}).is_some());
}

#[test]
fn parameters_made_of_queries_are_told_apart() {
    fn system(mut boss: Single<&mut Health, With<Boss>>, mut others: Populated<&mut Health, Without<Boss>>) {
        boss.0 += 1;
        others.iter_mut().for_each(|mut health| health.0 += boss.0);
    }
    let mut world = World::new();
    let boss = world.spawn((Health(0), Boss)).id();
    let other = world.spawn(Health(0)).id();
    world.run_system_once(system).unwrap();
    assert_eq!((world.get::<Health>(boss).unwrap().0, world.get::<Health>(other).unwrap().0), (1, 1));
    assert!(conflict(|_: Single<&mut Health, With<Boss>>, _: Query<&Health>| {}).is_some());
}

#[test]
fn changes_are_told_apart_as_values_are() {
    fn system(
        mut bosses: Query<&mut Armour, With<Boss>>,
        changed: Query<Entity, (Changed<Armour>, Without<Boss>)>,
        mut runs: Local<u32>,
    ) {
        bosses.iter_mut().for_each(|mut armour| armour.0 += 1);
        let new = if *runs == 0 { 8 } else { 0 };
        assert_eq!(changed.iter().count(), new);
        *runs += 1;
    }
    let mut app = App::new();
    fill(app.world_mut());
    app.add_systems(Update, system);
    (0..3).for_each(|_| app.step(0.1));
    assert_eq!(
        app.world().view_filtered::<&Armour, With<Boss>>().iter().map(|armour| armour.0).sum::<i32>(),
        24
    );
}

// Tables that come while the system is in use are compared before it runs again.
#[test]
fn new_archetypes_between_runs_are_found_by_one_of_the_queries() {
    fn system(mut some: Query<&mut Health, With<Frozen>>, mut others: Query<&mut Health, Without<Frozen>>) {
        some.iter_mut().for_each(|mut health| health.0 += 1);
        others.iter_mut().for_each(|mut health| health.0 += 100);
    }
    let mut app = App::new();
    app.add_systems(Update, system);
    app.step(0.1);
    let frozen = app.world_mut().spawn((Health(0), Frozen)).id();
    app.step(0.1);
    let plain = app.world_mut().spawn((Health(0), Player)).id();
    app.step(0.1);
    app.world_mut().entity_mut(frozen).remove::<Frozen>();
    app.world_mut().drop_empty_archetypes();
    app.step(0.1);
    let health = |entity| app.world().get::<Health>(entity).map(|health| health.0);
    assert_eq!((health(frozen), health(plain)), (Some(102), Some(200)));
}

/// A filter: how a query with it is made as a parameter, and what it finds.
#[derive(Clone, Copy)]
struct Filter {
    name: &'static str,
    init: fn(&mut World, &mut SystemMeta),
    finds: fn(&World) -> Vec<Entity>,
}

impl Filter {
    fn of<F: QueryFilter + 'static>(name: &'static str) -> Self {
        Self {
            name,
            init: |world, meta| drop(<Query<&mut Health, F> as SystemParam>::init(world, meta)),
            finds: |world| world.view_filtered::<Entity, (With<Health>, F)>().iter().collect(),
        }
    }
}

thread_local! {
    static CHOSEN: Cell<[Option<Filter>; 2]> = const { Cell::new([None; 2]) };
}

/// Two queries that write, with the filters that are chosen when the system is made: a function for each of nearly five
/// hundred pairs takes half a minute to compile.
struct Two;

impl SystemParam for Two {
    type State = ();
    type Guard<'w> = ();
    type Item<'g> = Self;

    fn init(world: &mut World, meta: &mut SystemMeta) {
        CHOSEN.get().into_iter().flatten().for_each(|filter| (filter.init)(world, meta));
    }
    fn lock<'w>((): &'w (), _: &'w SharedWorld<'w>, _: Run<'w>) {}
    fn item((): &mut ()) -> Self {
        Self
    }
}

macro_rules! filters {
    ($($filter:ty),* $(,)?) => {
        [$(Filter::of::<$filter>(stringify!($filter))),*]
    };
}

// Every pair of 22 filters: accepted means that they have no entity in common, in worlds where all sets of components
// occur; and pairs that are refused do meet there, unless only a sparse part, a tick, or what a pool declares keeps
// them apart.
#[test]
fn what_is_accepted_never_meets_and_what_is_refused_may() {
    let filters = filters![
        (),
        With<Frozen>,
        Without<Frozen>,
        With<Boss>,
        Without<Boss>,
        With<Stun>,
        Without<Stun>,
        (With<Frozen>, Without<Boss>),
        (Without<Frozen>, With<Boss>),
        (With<Frozen>, With<Boss>),
        Or<(With<Frozen>, With<Boss>)>,
        Or<(Without<Frozen>, Without<Boss>)>,
        Or<(With<Frozen>, With<Stun>)>,
        Or<(With<Frozen>, Without<Boss>)>,
        (Or<(With<Frozen>, With<Player>)>, Without<Boss>),
        InPool<Orcs>,
        InPool<Elves>,
        InPool<General>,
        NotInPool<Orcs>,
        Or<(InPool<Orcs>, With<Player>)>,
        (InPool<Orcs>, With<Frozen>),
        Changed<Armour>,
    ];
    let world = world();
    let (mut accepted, mut refused) = (0, 0);
    for (first, second) in filters.iter().flat_map(|first| filters.iter().map(move |second| (first, second)))
    {
        let others = (second.finds)(&world);
        let meet = (first.finds)(&world).iter().any(|entity| others.contains(entity));
        CHOSEN.set([Some(*first), Some(*second)]);
        let found = conflict(|_: Two| {});
        let (first, second) = (first.name, second.name);
        let unknown = ["Stun", "Changed", "InPool"];
        let unknown = unknown.iter().any(|name| first.contains(name) || second.contains(name));
        match found {
            None => {
                assert!(!meet, "{first} and {second} are accepted and meet");
                accepted += 1;
            }
            Some(_) => {
                assert!(unknown || meet, "{first} and {second} are refused and never meet");
                refused += 1;
            }
        }
    }
    assert!(accepted >= 50 && refused > 200, "{accepted} accepted, {refused} refused");
}
