//! Lenses and joins: a query seen through a narrower one.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(u32);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Armor(u32);
#[derive(Component)]
struct Frozen;
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}
#[derive(Component, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Stun(u32);
#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
struct Watched(u32);
#[derive(Resource)]
struct Ids([Entity; 4]);

/// Health alone, with armor, with both and ice, and with armor alone; the second and the last are stunned.
fn world() -> World {
    let mut world = World::new();
    let ids = [
        world.spawn((Health(1), Watched(1))).id(),
        world.spawn((Health(2), Armor(20), Stun(5))).id(),
        world.spawn((Health(3), Armor(30), Frozen, Position { x: 1.0, y: 2.0 })).id(),
        world.spawn((Armor(40), Stun(6))).id(),
    ];
    world.insert_resource(Ids(ids));
    world
}

fn sum(mut lens: QueryLens<&Health>) -> u32 {
    lens.query().iter().map(|health| health.0).sum()
}

#[test]
fn a_lens_reads_what_the_query_may_write() {
    world()
        .run_system_once(|mut all: Query<(Entity, &mut Health, Option<&Armor>)>| {
            assert_eq!(sum(all.transmute_lens::<&Health>()), 6);
            let mut ids = all.transmute_lens::<Entity>();
            assert_eq!(ids.query().count(), 3);
            assert_eq!(
                all.transmute_lens::<(Entity, Has<Armor>)>().query().iter().filter(|(_, has)| *has).count(),
                2
            );
            assert_eq!(sum(all.transmute_lens_inner()), 6);
        })
        .unwrap();
}

#[test]
fn a_lens_writes_what_the_query_may_write() {
    let mut world = world();
    world
        .run_system_once(|mut all: Query<(&mut Health, &Armor)>, ids: Res<Ids>| {
            let mut lens = all.transmute_lens::<&mut Health>();
            for mut health in &mut lens.query() {
                health.0 += 10;
            }
            lens.query().get_mut(ids.0[1]).unwrap().0 += 100;
            let query: Query<&mut Health> = (&mut lens).into();
            assert_eq!(query.iter().map(|health| health.0).collect::<Vec<_>>(), [112, 13]);
        })
        .unwrap();
    assert_eq!(world.get::<Health>(world.resource::<Ids>().0[0]), Some(&Health(1)), "not in the query");
}

#[test]
fn a_lens_stays_in_the_archetypes_of_its_query() {
    world()
        .run_system_once(|mut armored: Query<(&Health, &Armor), Without<Frozen>>, ids: Res<Ids>| {
            let mut lens = armored.transmute_lens::<&Health>();
            let query = lens.query();
            assert_eq!(query.iter().map(|health| health.0).collect::<Vec<_>>(), [2]);
            assert!(query.contains(ids.0[1]) && !query.contains(ids.0[0]) && !query.contains(ids.0[2]));
            assert_eq!(query.get(ids.0[1]), Ok(&Health(2)));
            assert!(query.get(ids.0[0]).is_err(), "single entities as well");
            assert_eq!(query.iter_many(ids.0).matched().count(), 1);
            assert_eq!(query.chunks().count(), 1);
            assert_eq!((query.count(), query.is_empty()), (1, false));
            assert_eq!(query.par_iter().map_reduce(|| 0, |health| health.0, |a, b| a + b), 2);
        })
        .unwrap();
}

#[test]
fn a_lens_of_sparse_parts_stays_in_the_archetypes_of_its_query() {
    world()
        .run_system_once(|mut armored: Query<(&mut Stun, &Health)>, ids: Res<Ids>| {
            let mut lens = armored.transmute_lens_filtered::<&mut Stun, ()>();
            let mut query = lens.query();
            assert_eq!(query.iter().map(|stun| stun.0).collect::<Vec<_>>(), [5], "the other has no health");
            assert!(query.get_mut(ids.0[3]).is_err() && query.get_mut(ids.0[1]).is_ok());
            assert_eq!(query.iter_mut().map(|stun| stun.0).sum::<u32>(), 5);
        })
        .unwrap();
}

#[test]
fn a_lens_with_a_filter_visits_less() {
    let mut world = world();
    world
        .run_system_once(|mut all: Query<&Health>| {
            let mut lens = all.transmute_lens_filtered::<&Health, (With<Armor>, Without<Frozen>)>();
            assert_eq!(lens.query().iter().map(|health| health.0).collect::<Vec<_>>(), [2]);
        })
        .unwrap();
    world.clear_trackers();
    let mut state = world.query::<&mut Watched>();
    let mut watched = state.query_mut(&mut world);
    assert_eq!(watched.transmute_lens_filtered::<Entity, Changed<Watched>>().query().count(), 0);
    watched.single_mut().unwrap().0 = 2;
    assert_eq!(watched.transmute_lens_filtered::<Entity, Changed<Watched>>().query().count(), 1);
}

#[test]
fn one_field_is_covered_by_its_component() {
    world()
        .run_system_once(|mut all: Query<&mut Position>| {
            for x in &mut all.transmute_lens::<&mut position::x>().query() {
                *x = 7.0;
            }
            assert_eq!(all.single().unwrap().get(), Position { x: 7.0, y: 2.0 });
        })
        .unwrap();
}

#[test]
fn a_query_is_its_own_lens() {
    world()
        .run_system_once(|mut all: Query<&mut Health, With<Armor>>| {
            assert_eq!(all.as_query_lens().query().count(), 2);
            assert_eq!(all.into_query_lens().query().iter_mut().map(|health| health.0).sum::<u32>(), 5);
        })
        .unwrap();
}

#[test]
fn a_join_has_the_data_of_both_on_the_entities_of_both() {
    let mut world = world();
    world
        .run_system_once(|mut healths: Query<&mut Health>, mut armors: Query<&Armor>, ids: Res<Ids>| {
            let mut lens: QueryLens<(&mut Health, &Armor)> = healths.join(&mut armors);
            let mut both = lens.query();
            for (mut health, armor) in &mut both {
                health.0 += armor.0;
            }
            assert_eq!(both.count(), 2);
            assert!(both.get(ids.0[0]).is_err() && both.get(ids.0[3]).is_err());
            let mut warm: QueryLens<&Health, Without<Frozen>> = healths.join_filtered(&mut armors);
            assert_eq!(warm.query().iter().map(|health| health.0).collect::<Vec<_>>(), [22]);
            let mut ids: QueryLens<Entity> = healths.join_inner(armors);
            assert_eq!(ids.query().count(), 2);
        })
        .unwrap();
    assert_eq!(world.get::<Health>(world.resource::<Ids>().0[2]), Some(&Health(33)));
}

#[test]
fn a_join_keeps_sparse_filters_that_are_named_again() {
    world()
        .run_system_once(|mut healths: Query<&Health>, mut stunned: Query<&Armor, With<Stun>>| {
            let mut lens: QueryLens<(&Health, &Armor), With<Stun>> = healths.join_filtered(&mut stunned);
            assert_eq!(lens.query().iter().map(|(health, _)| health.0).collect::<Vec<_>>(), [2]);
        })
        .unwrap();
}

#[test]
#[should_panic(expected = "`&Armor` is not covered by the query of which a lens is made")]
fn a_lens_for_other_data_is_refused() {
    world()
        .run_system_once(|mut all: Query<&Health>| {
            all.transmute_lens::<&Armor>();
        })
        .unwrap();
}

#[test]
#[should_panic(expected = "`&mut Health` is not covered")]
fn a_lens_that_writes_what_the_query_reads_is_refused() {
    world()
        .run_system_once(|mut all: Query<&Health>| {
            all.transmute_lens::<&mut Health>();
        })
        .unwrap();
}

#[test]
#[should_panic(expected = "`&mut Health` is not covered")]
fn a_lens_of_a_query_that_was_made_read_only_does_not_write() {
    let _ = world().run_system_once(|all: Query<&mut Health>| {
        // Two of them at once, of one query that is only borrowed shared.
        let mut lenses = [(); 2].map(|()| all.as_readonly().transmute_lens_inner::<&mut Health>());
        let [one, other] = lenses.each_mut().map(|lens| lens.query());
        assert!(one.into_iter().eq(other.into_iter()));
    });
}

#[test]
#[should_panic(expected = "`&Armor` is not covered")]
fn a_lens_that_needs_what_the_query_has_as_an_option_is_refused() {
    world()
        .run_system_once(|mut all: Query<(&Health, Option<&Armor>)>| {
            all.transmute_lens::<&Armor>();
        })
        .unwrap();
}

#[test]
#[should_panic(expected = "`&mut Health` and `&Health` of one query use the same data")]
fn a_lens_that_aliases_is_refused() {
    world()
        .run_system_once(|mut all: Query<&mut Health>| {
            all.transmute_lens::<(&mut Health, &Health)>();
        })
        .unwrap();
}

#[test]
#[should_panic(expected = "forgets `with Stun`, which is looked up per row")]
fn a_lens_that_forgets_a_sparse_part_is_refused() {
    world()
        .run_system_once(|mut all: Query<(&Health, &Stun)>| {
            all.transmute_lens::<&Health>();
        })
        .unwrap();
}

#[test]
#[should_panic(expected = "`the filter` is not covered")]
fn a_lens_whose_filter_reads_ticks_that_are_not_granted_is_refused() {
    world()
        .run_system_once(|mut all: Query<&Health>| {
            all.transmute_lens_filtered::<&Health, Changed<Watched>>();
        })
        .unwrap();
}

#[test]
fn lenses_of_queries_that_never_meet_stay_apart() {
    fn system(
        mut armored: Query<&mut Health, With<Armor>>,
        mut bare: Query<&mut Health, Without<Armor>>,
        ids: Res<Ids>,
    ) {
        let (mut one, mut other) = (armored.as_query_lens(), bare.as_query_lens());
        let (mut one, mut other) = (one.query(), other.query());
        for (mut a, mut b) in one.iter_mut().zip(&mut other) {
            std::mem::swap(&mut *a, &mut *b);
        }
        assert!(one.get_mut(ids.0[0]).is_err() && other.get_mut(ids.0[0]).is_ok());
        assert!(one.get_mut(ids.0[1]).is_ok() && other.get_mut(ids.0[1]).is_err());
        let mut both: QueryLens<&mut Health> = armored.join_filtered(&mut bare);
        assert_eq!(both.query().count(), 0);
    }
    let mut world = world();
    world.run_system_once(system).unwrap();
    assert_eq!(world.get::<Health>(world.resource::<Ids>().0[0]), Some(&Health(2)));
}

#[test]
fn a_query_tells_what_it_reads_and_writes() {
    #[derive(Component)]
    struct Read(u32);
    #[derive(Component)]
    struct Written(u32);
    #[derive(Component)]
    #[component(storage = "sparse")]
    struct Sparse;
    #[derive(Component)]
    struct Filter;
    let mut world = World::new();
    let ids = [
        world.register_component::<Read>(),
        world.register_component::<Written>(),
        world.register_component::<Sparse>(),
        world.register_component::<Filter>(),
    ];
    world.spawn((Read(1), Written(2), Sparse, Filter));
    let query = world.query_filtered::<(&Read, &mut Written, Option<&mut Sparse>), With<Filter>>();
    let access = query.component_access(&world);
    assert_eq!(ids.map(|id| access.has_component_read(id)), [true, true, true, false]);
    assert_eq!(ids.map(|id| access.has_component_write(id)), [false, true, true, false]);
    assert_eq!(access.iter().collect::<Vec<_>>(), [(ids[0], false), (ids[1], true), (ids[2], true)]);
    let mut reading = query.as_readonly(&world);
    assert!(reading.component_access(&world).iter().all(|(_, writes)| !writes));
    let (read, written, sparse) = reading.single(&world).expect("one");
    assert_eq!((read.0, written.0, sparse.is_some()), (1, 2, true));
    let all = world.query::<EntityRef>().component_access(&world);
    assert!(all.has_read_all() && all.has_component_read(ids[3]) && !all.has_component_write(ids[3]));
}
