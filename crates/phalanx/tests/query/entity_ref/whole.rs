//! `EntityMut`, `FilteredEntityRef`, what leaves out a bundle, and `&Archetype` as query data.

use phalanx::prelude::*;

use super::{Health, Score, Stun, refused, world};

#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
struct Armour(u32);
#[derive(Component)]
#[component(layout = "soa")]
struct Place {
    x: u32,
    y: u32,
}

fn sum<T: Component, F: QueryFilter + 'static>(world: &World, value: fn(&T) -> u32) -> u32 {
    world.view_filtered::<&'static T, F>().iter().map(value).sum()
}

#[test]
fn every_component_of_every_entity_can_be_written() {
    fn system(mut all: Query<EntityMut>, mut score: ResMut<Score>) {
        for mut entity in &mut all {
            if let Some(mut health) = entity.get_mut::<Health>() {
                health.0 += 10;
            }
            if let Some(mut stun) = entity.get_mut::<Stun>() {
                stun.0 += 100;
            }
            score.0 += 1;
        }
    }
    let mut world = world();
    world.run_system_once(system).unwrap();
    assert_eq!(world.resource::<Score>().0, 5);
    assert_eq!(sum::<Health, ()>(&world, |health| health.0), 1 + 2 + 4 + 30);
    assert_eq!(sum::<Stun, ()>(&world, |stun| stun.0), 20 + 30 + 200);
}

#[test]
fn entities_of_a_query_are_lent_at_once_and_by_id() {
    let mut world = world();
    let ids: Vec<Entity> = world.view_filtered::<Entity, With<Health>>().iter().collect();
    let mut query = world.view_mut::<EntityMut>();
    let [mut one, mut other] = query.get_many_mut([ids[0], ids[1]]).unwrap();
    std::mem::swap(&mut *one.get_mut::<Health>().unwrap(), &mut *other.get_mut::<Health>().unwrap());
    assert!(query.get_many_mut([ids[0], ids[0]]).is_err());
    let lent: Vec<EntityMut> = query.iter_mut().collect();
    assert_eq!(lent.len(), 5);
    assert_eq!(world.get::<Health>(ids[0]), Some(&Health(2)));
    assert_eq!(world.get::<Health>(ids[1]), Some(&Health(1)));
}

#[test]
fn only_what_is_written_counts_as_changed() {
    #[derive(Resource, Default)]
    struct Noticed(Vec<u32>);
    fn write(mut all: Query<EntityMut>) {
        for mut entity in &mut all {
            if entity.get::<Armour>().is_some_and(|armour| armour.0 % 2 == 1) {
                entity.get_mut::<Armour>().unwrap().0 += 1;
            }
        }
    }
    fn seen(all: Query<&Armour, Changed<Armour>>, mut seen: ResMut<Noticed>) {
        seen.0 = all.iter().map(|armour| armour.0).collect();
    }
    let mut app = App::new();
    app.init_resource::<Noticed>();
    for armour in 0..4 {
        app.world_mut().spawn(Armour(armour));
    }
    app.add_systems(Update, (seen, write).chain());
    app.update();
    assert_eq!(app.world().resource::<Noticed>().0, [0, 1, 2, 3], "all of them are new");
    app.update();
    assert_eq!(app.world().resource::<Noticed>().0, [2, 4], "with the tick of the run that wrote them");
    app.update();
    assert_eq!(app.world().resource::<Noticed>().0, []);
}

#[test]
fn filters_and_other_data_stand_beside_it() {
    fn system(mut all: Query<(Entity, EntityMut, Has<Stun>), (With<Health>, Changed<Armour>)>) -> Vec<bool> {
        all.iter_mut()
            .map(|(id, mut entity, stunned)| {
                assert_eq!(id, entity.id());
                entity.get_mut::<Armour>().unwrap().0 += 1;
                stunned
            })
            .collect()
    }
    let mut world = world();
    world.spawn((Health(1), Armour(1), Stun(1)));
    world.spawn((Health(1), Armour(1)));
    world.spawn(Armour(1));
    let mut found = world.run_system_once(system).unwrap();
    found.sort_unstable();
    assert_eq!(found, [false, true]);
    assert_eq!(sum::<Armour, ()>(&world, |armour| armour.0), 5);
}

#[test]
fn reading_such_a_query_lends_entities_to_be_read() {
    fn system(all: Query<EntityMut>, beside: Query<FilteredEntityRef>) {
        let _ = (all, beside);
    }
    let text = refused(system);
    assert!(text.contains("EntityMut") && text.contains("FilteredEntityRef"), "{text}");
    let mut world = world();
    let mut state = world.query_filtered::<EntityMut, With<Stun>>();
    let stuns: u32 = state.iter(&world).map(|entity| entity.get::<Stun>().unwrap().0).sum();
    assert_eq!(stuns, 50);
    for mut entity in state.iter_mut(&mut world) {
        entity.get_mut::<Stun>().unwrap().0 = 1;
        assert_eq!(entity.as_readonly().get::<Stun>(), Some(&Stun(1)));
    }
}

#[test]
fn several_readers_stand_beside_each_other() {
    fn system(
        one: Query<FilteredEntityRef>,
        other: Query<EntityRefExcept<Health>>,
        plain: Query<&Health>,
    ) -> usize {
        assert!(other.iter().all(|entity| entity.get::<Health>().is_none()));
        assert_eq!(other.iter().filter(|entity| entity.contains::<Health>()).count(), 3);
        one.iter().filter(|entity| entity.get::<Health>().is_some()).count() + plain.count()
    }
    assert_eq!(world().run_system_once(system).unwrap(), 6);
}

#[test]
fn what_is_left_out_belongs_to_other_queries() {
    fn one_query(mut all: Query<(&mut Health, EntityMutExcept<(Health, Place)>)>) {
        for (mut health, mut entity) in &mut all {
            if let Some(mut stun) = entity.get_mut::<Stun>() {
                stun.0 += health.0;
                health.0 += stun.0;
            }
            assert!(entity.get::<Health>().is_none() && entity.get_mut::<Health>().is_none());
            assert!(entity.get_components_mut::<(&mut Stun, &Health)>().is_err());
            assert!(entity.get_components_mut::<EntityMut>().is_err());
        }
    }
    fn two_queries(
        mut places: Query<&mut Place>,
        mut all: Query<EntityMutExcept<(Health, Place)>>,
        mut armours: Local<u32>,
    ) {
        for place in &mut places {
            *place.x += 1;
        }
        for entity in &mut all {
            *armours += entity.get::<Armour>().map_or(0, |armour| armour.0);
            assert!(entity.get::<Place>().is_none());
            assert!(entity.get_ref::<Armour>().is_none_or(|armour| armour.is_added()));
        }
        assert_eq!(*armours, 7);
    }
    let mut world = world();
    let place = world.spawn((Place { x: 1, y: 2 }, Armour(7))).id();
    world.run_system_once(one_query).unwrap();
    assert_eq!(sum::<Health, ()>(&world, |health| health.0), 1 + 4 + 2 + 22);
    world.run_system_once(two_queries).unwrap();
    assert_eq!((*world.get::<Place>(place).unwrap().x, *world.get::<Place>(place).unwrap().y), (2, 2));
}

#[test]
fn conflicts_are_refused_by_name() {
    let text = refused(|_: Query<EntityMut>, _: Query<&Health>| {});
    assert!(text.contains("EntityMut") && text.contains("`Health`"), "{text}");
    let text = refused(|_: Query<&mut Health>, _: Query<EntityMutExcept<Stun>>| {});
    assert!(text.contains("EntityMutExcept") && text.contains("`Health`"), "{text}");
    let text = refused(|_: Query<EntityMut>, _: Query<EntityMut, With<Health>>| {});
    assert!(text.contains("all components"), "{text}");
    let text = refused(|_: Query<(EntityMut, &Health)>| {});
    assert!(text.contains("`EntityMut`") && text.contains("`&Health`"), "{text}");
    let text = refused(|_: Query<(EntityMut, EntityMut)>| {});
    assert!(text.contains("`EntityMut` and `EntityMut`"), "{text}");
    let text = refused(|_: Query<EntityMut>, _: &World| {});
    assert!(text.contains("EntityMut") && text.contains("all components"), "{text}");
    let text = refused(|_: Query<EntityMut>, _: Query<EntityRef>| {});
    assert!(text.contains("EntityMut") && text.contains("EntityRef"), "{text}");
}

#[test]
fn a_param_set_takes_turns() {
    fn system(mut set: ParamSet<(Query<EntityMut>, Query<&mut Health>)>) {
        set.p0().iter_mut().for_each(|mut entity| {
            entity.get_mut::<Health>().into_iter().for_each(|mut health| health.0 += 1);
        });
        set.p1().iter_mut().for_each(|mut health| health.0 *= 2);
    }
    let mut world = world();
    world.run_system_once(system).unwrap();
    assert_eq!(sum::<Health, ()>(&world, |health| health.0), 20);
}

#[test]
fn it_runs_beside_no_other_system_of_components_on_any_number_of_threads() {
    fn all(mut all: Query<EntityMut>) {
        all.par_iter_mut().for_each(|mut entity| {
            if let Some(mut health) = entity.get_mut::<Health>() {
                health.0 += 1;
            }
            if let Some(mut stun) = entity.get_mut::<Stun>() {
                stun.0 += 1;
            }
        });
    }
    fn healths(mut all: Query<&mut Health>) {
        all.par_iter_mut().for_each(|mut health| health.0 *= 3);
    }
    fn stuns(mut all: Query<&mut Stun>) {
        all.iter_mut().for_each(|mut stun| stun.0 *= 3);
    }
    let run = |threads: Threads| {
        let mut app = App::new();
        app.configure(AppConfig { threads, ..AppConfig::default() });
        for at in 0..5000 {
            app.world_mut().spawn((Health(at), Stun(at)));
        }
        app.add_systems(Update, (healths, stuns, all, healths, stuns).ambiguous_with_all());
        app.update();
        app.update();
        let world = app.world();
        (sum::<Health, ()>(world, |health| health.0), sum::<Stun, ()>(world, |stun| stun.0))
    };
    let serial = run(Threads::Serial);
    assert_eq!(run(Threads::N(2)), serial);
    assert_eq!(run(Threads::N(8)), serial);
}

#[test]
fn a_lens_of_it_is_it_alone() {
    let mut world = world();
    let mut query = world.view_mut::<EntityMut>();
    let mut lens = query.transmute_lens::<EntityMut>();
    assert_eq!(lens.query().iter_mut().count(), 5);
    let narrower = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        query.transmute_lens::<&Health>();
    }));
    assert!(narrower.is_err(), "which columns it may use is not known to a lens");
    let mut healths = world.view_mut::<&mut Health>();
    let wider = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        healths.transmute_lens::<EntityMut>();
    }));
    assert!(wider.is_err());
}

#[test]
fn values_can_be_had_by_id() {
    let mut world = world();
    let id = world.register_component::<Health>();
    for mut entity in world.view_filtered_mut::<EntityMut, With<Health>>().iter_mut() {
        assert!(entity.get_by_id(id).unwrap().downcast_ref::<Health>().is_some());
        entity.get_mut_by_id(id).unwrap().downcast_mut::<Health>().unwrap().0 += 1;
        let before = entity.get::<Health>().copied().unwrap();
        assert_eq!(entity.into_borrow_by_id(id).unwrap().downcast_ref(), Some(&before));
    }
    assert_eq!(sum::<Health, ()>(&world, |health| health.0), 10);
}

#[test]
fn values_that_are_never_written_in_place_are_read_by_id() {
    #[derive(Component, Debug, PartialEq)]
    #[component(immutable)]
    struct Team(u32);
    #[derive(Component, Debug, PartialEq)]
    #[component(immutable, storage = "sparse")]
    struct Badge(u32);
    let mut world = World::new();
    let parent = world.spawn((Team(3), Badge(4))).id();
    let child = world.spawn(ChildOf(parent)).id();
    let [team, badge] = [world.register_component::<Team>(), world.register_component::<Badge>()];
    let [up, down] = [world.register_component::<ChildOf>(), world.register_component::<Children>()];
    assert_eq!(world.get_by_id(parent, team).and_then(|team| team.downcast_ref()), Some(&Team(3)));
    assert_eq!(world.get_by_id(parent, badge).and_then(|badge| badge.downcast_ref()), Some(&Badge(4)));
    assert_eq!(world.get_by_id(child, up).and_then(|link| link.downcast_ref()), Some(&ChildOf(parent)));
    let children = world.get_by_id(parent, down).and_then(|list| list.downcast_ref::<Children>());
    assert_eq!(children.map(|list| list.to_vec()), Some(vec![child]));
    let entity = world.entity(parent);
    assert!([team, badge, down].iter().all(|&id| entity.get_by_id(id).is_some()));
    for (entity, id) in [(parent, team), (parent, badge), (child, up), (parent, down)] {
        assert!(world.get_mut_by_id(entity, id).is_none());
        assert_eq!(world.modify_component_by_id(entity, id, |_| ()), Ok(None));
        for mut entity in world.view_mut::<EntityMut>().iter_mut() {
            assert!(entity.get_mut_by_id(id).is_none());
        }
    }
    world.check().unwrap();
}

#[test]
fn archetypes_are_data() {
    fn system(all: Query<(Entity, &Archetype)>, plain: Query<&mut Health>) -> Vec<(usize, bool)> {
        assert_eq!(plain.count(), 3);
        let mut found: Vec<_> = all
            .iter()
            .map(|(_, archetype)| (archetype.component_count(), archetype.has::<Health>()))
            .collect();
        found.sort_unstable();
        found
    }
    let mut world = world();
    let expected = [(0, false), (0, false), (1, true), (1, true), (2, true)];
    assert_eq!(world.run_system_once(system).unwrap(), expected, "sparse components are no part of it");
    let id = world.register_component::<Health>();
    for (entity, archetype) in &world.view::<(EntityRef, &Archetype)>() {
        assert_eq!(archetype.id(), entity.archetype());
        assert_eq!(archetype.contains(id), entity.contains::<Health>());
    }
    let by_set: Vec<_> =
        world.view_filtered::<&Archetype, With<Stun>>().iter().map(|found| found.id()).collect();
    assert_eq!(by_set.len(), 2);
    assert_ne!(by_set[0], by_set[1], "also where a set drives the walk");
}
