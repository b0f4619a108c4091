//! Whole entities, channels as parameters, apps beside an app, and the rest of queries, as a bevy program writes them.

use std::sync::atomic::{AtomicI32, Ordering};

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Resource, Clone, Default, Debug, PartialEq)]
struct Score(i32);
#[derive(Message, Debug, PartialEq)]
struct Hit(i32);

fn world_of_three() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let entities = world.spawn_batch((0..3).map(|i| (Health(i), Armor(i)))).collect();
    (world, entities)
}

#[test]
fn query_data_entity_mut() {
    fn heal(mut all: Query<EntityMut, With<Armor>>) {
        for mut entity in &mut all {
            if let Some(mut health) = entity.get_mut::<Health>() {
                health.0 += 1;
            }
        }
        assert_eq!(all.iter().filter(|entity| entity.contains::<Armor>()).count(), 3);
    }
    let (mut world, entities) = world_of_three();
    world.run_system_once(heal).unwrap();
    assert_eq!(world.get::<Health>(entities[2]), Some(&Health(3)));
}

#[test]
fn query_data_except() {
    fn read(mut healths: Query<&mut Health>, all: Query<EntityRefExcept<Health>>) {
        for entity in &all {
            let armor = entity.get::<Armor>().unwrap().0;
            healths.get_mut(entity.id()).unwrap().0 += armor;
        }
    }
    fn write(healths: Query<&Health>, mut all: Query<EntityMutExcept<Health>>) {
        for mut entity in &mut all {
            let health = healths.get(entity.id()).unwrap().0;
            entity.get_mut::<Armor>().unwrap().0 += health;
        }
    }
    let (mut world, entities) = world_of_three();
    world.run_system_once(read).unwrap();
    world.run_system_once(write).unwrap();
    assert_eq!(world.get::<Health>(entities[2]), Some(&Health(4)));
    assert_eq!(world.get::<Armor>(entities[2]), Some(&Armor(6)));
}

#[test]
fn query_data_filtered() {
    fn look(all: Query<FilteredEntityRef>) -> i32 {
        all.iter().filter_map(|entity| entity.get::<Health>()).map(|health| health.0).sum()
    }
    fn write(mut all: Query<FilteredEntityMut>) {
        for mut entity in &mut all {
            entity.get_mut::<Health>().unwrap().0 *= 2;
        }
    }
    let (mut world, entities) = world_of_three();
    world.run_system_once(write).unwrap();
    assert_eq!(world.run_system_once(look).unwrap(), 6);
    assert!(world.entity(entities[0]).into_filtered().contains::<Armor>());
    let [entity] = world.entity_mut([entities[0]]);
    assert_eq!(entity.into_filtered().get::<Armor>(), Some(&Armor(0)));
}

#[test]
fn query_data_archetype() {
    fn look(all: Query<(Entity, &Archetype)>) {
        for (_, archetype) in &all {
            assert_eq!(archetype.components().count(), 2);
        }
        assert_eq!(all.iter().count(), 3);
    }
    let (mut world, _) = world_of_three();
    let armor = world.component_id::<Armor>().unwrap();
    world.run_system_once(look).unwrap();
    assert!(world.query::<&Archetype>().iter(&world).all(|archetype| archetype.contains(armor)));
}

#[test]
fn entity_mut_readonly_and_by_id() {
    let (mut world, entities) = world_of_three();
    let id = world.component_id::<Health>().unwrap();
    let [mut entity] = world.entity_mut([entities[2]]);
    assert_eq!(entity.as_readonly().get::<Health>(), Some(&Health(2)));
    assert!(entity.get_by_id(id).is_some());
    assert!(entity.get_mut_by_id(id).is_some());
    assert!(entity.reborrow().into_borrow_by_id(id).is_some());
    assert!(entity.reborrow().into_mut_by_id(id).is_some());
    assert_eq!(entity.into_readonly().get::<Armor>(), Some(&Armor(2)));
}

#[test]
fn entity_locations() {
    let (mut world, entities) = world_of_three();
    let first = world.entity(entities[0]).location();
    let [second] = world.entity_mut([entities[1]]);
    assert_eq!(second.location().archetype_id, first.archetype_id);
    assert_ne!(second.location().table_row, first.table_row);
    let mut third = world.entity_mut(entities[2]);
    third.update_location();
    assert_eq!(Some(third.location()), third.try_location());
}

#[test]
fn param_messages_resource() {
    fn send(mut hits: ResMut<Messages<Hit>>) {
        hits.write(Hit(3));
    }
    fn count(hits: Res<Messages<Hit>>) -> usize {
        hits.len()
    }
    let mut world = World::new();
    world.run_system_once(send).unwrap();
    assert_eq!(world.run_system_once(count).unwrap(), 1);
}

#[test]
fn reader_par_read() {
    fn read(mut hits: MessageReader<Hit>) -> i32 {
        let sum = AtomicI32::new(0);
        hits.par_read().for_each(|hit| {
            sum.fetch_add(hit.0, Ordering::Relaxed);
        });
        assert!(hits.is_empty());
        sum.into_inner()
    }
    let mut world = World::new();
    world.write_message_batch((0..10).map(Hit));
    assert_eq!(world.run_system_once(read).unwrap(), 45);
}

#[test]
fn query_par_iter_many() {
    let (mut world, entities) = world_of_three();
    let sum = AtomicI32::new(0);
    let list = [entities[1], entities[2], entities[1]];
    let mut state = world.query::<&mut Health>();
    let mut query = state.query_mut(&mut world);
    let add = |health: &Health| {
        sum.fetch_add(health.0, Ordering::Relaxed);
    };
    query.par_iter_many(list).for_each(add);
    assert_eq!(sum.load(Ordering::Relaxed), 4);
    query.par_iter_many_unique(list).for_each(add);
    assert_eq!(sum.load(Ordering::Relaxed), 7);
    query.par_iter_many_unique_mut(list).for_each(|mut health| health.0 += 10);
    assert_eq!(world.get::<Health>(entities[1]), Some(&Health(11)));
}

#[test]
fn query_iter_remaining() {
    let (mut world, _) = world_of_three();
    let mut state = world.query::<&mut Health>();
    let mut iter = state.iter_mut(&mut world);
    iter.next();
    assert_eq!(iter.remaining().count(), 2);
    iter.remaining_mut().for_each(|mut health| health.0 += 10);
    assert_eq!(iter.map(|health| health.0).sum::<i32>(), 23);
}

#[test]
fn world_register_tracked_system() {
    let mut world = World::new();
    world.init_resource::<Score>();
    let handle = world.register_tracked_system(|mut score: ResMut<Score>| score.0 += 1);
    let other = handle.clone();
    let id = handle.id();
    drop(handle);
    world.run_system(id).unwrap();
    drop(other);
    assert!(world.run_system(id).is_err());
    let system: Box<dyn System<In = (), Out = ()>> = Box::new(IntoSystem::into_system(|| ()));
    let boxed = world.register_tracked_boxed_system(system);
    world.run_system(boxed.id()).unwrap();
    assert_eq!(world.resource::<Score>().0, 1);
}

#[test]
fn query_state_transmute_and_join() {
    let (mut world, _) = world_of_three();
    world.spawn(Health(100));
    let both = world.query::<(&mut Health, &Armor)>();
    let mut healths = both.transmute::<&Health>(&world);
    assert_eq!(healths.iter(&world).map(|health| health.0).sum::<i32>(), 3);
    let mut filtered = both.transmute_filtered::<Entity, With<Armor>>(&world);
    assert_eq!(filtered.iter(&world).count(), 3);
    let (one, other) = (world.query::<&Health>(), world.query::<&Armor>());
    let mut joined = one.join::<_, (&Health, &Armor)>(&world, &other);
    assert_eq!(joined.iter(&world).count(), 3);
    let mut joined = one.join_filtered::<_, _, Entity, ()>(&world, &other);
    assert_eq!(joined.iter(&world).count(), 3);
}

#[test]
#[should_panic(expected = "asks for something that the query it is made from does not")]
fn query_state_transmute_to_more_panics() {
    let (world, _) = world_of_three();
    let _ = world.query::<&Health>().transmute::<&mut Health>(&world);
}

#[test]
fn query_state_checks() {
    let (world, entities) = world_of_three();
    let mut state = world.query::<&Health>();
    state.validate_world(&world);
    state.update_archetypes(&world);
    assert_eq!(state.matched_tables().count(), 1);
    assert_eq!(state.iter_many_unique_manual(&world, &entities).count(), 3);
    let health = world.component_id::<Health>().unwrap();
    assert!(state.matches_component_set(&|id| id == health, &world));
    assert!(!state.matches_component_set(&|_| false, &world));
}

#[test]
fn entity_commands_commands_mut() {
    let mut world = World::new();
    let mut commands = world.commands();
    let mut entity = commands.spawn(Health(1));
    entity.commands_mut().spawn(Health(2));
    world.flush();
    assert_eq!(world.query::<&Health>().iter(&world).count(), 2);
}

#[test]
fn res_mut_ticks_by_hand() {
    fn system(mut score: ResMut<Score>) {
        let old = score.last_changed();
        score.set_added();
        assert!(score.is_added() && score.last_changed() == score.this_run());
        score.set_last_added(old);
        assert_eq!(score.added(), old);
        score.set_last_changed(score.last_run());
        assert!(!score.is_changed());
    }
    let mut world = World::new();
    world.init_resource::<Score>();
    world.run_system_once(system).unwrap();
}

#[test]
fn world_allow_ambiguous() {
    #[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
    struct Turn;
    fn a(_: Query<&mut Health>, _: ResMut<Score>) {}
    fn b(_: Query<&mut Health>, _: ResMut<Score>) {}
    let mut world = World::new();
    world.init_resource::<Score>();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems((a, b));
    world.add_schedule(schedule);
    world.allow_ambiguous_component::<Health>();
    world.allow_ambiguous_resource::<Score>();
    world.run_schedule(Turn);
    let told =
        world.schedule_scope(Turn, |world, schedule| schedule.view(world).ambiguities().unwrap().len());
    assert_eq!(told, 0);
}

#[test]
fn schedule_systems_with_access() {
    fn system(_: Query<&Health>) {}
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule.add_systems(system);
    schedule.run(&mut world);
    assert_eq!(schedule.systems_with_access().unwrap().count(), 1);
}

#[test]
fn app_sub_apps() {
    #[derive(AppLabel, Debug, Clone, Copy, PartialEq, Eq, Hash)]
    struct RenderApp;
    let mut app = App::new();
    app.init_resource::<Score>();
    app.add_systems(Update, |mut score: ResMut<Score>| score.0 += 1);
    let mut render = SubApp::new();
    render.init_resource::<Score>();
    render.add_systems(Update, |mut score: ResMut<Score>| score.0 *= 10);
    render.set_extract(|main, render| {
        *render.resource_mut::<Score>() = main.resource::<Score>().clone();
    });
    app.insert_sub_app(RenderApp, render);
    app.update();
    app.update();
    assert_eq!(app.main().world().resource::<Score>().0, 2);
    assert_eq!(app.sub_app(RenderApp).world().resource::<Score>().0, 20);
    app.main_mut().world_mut().resource_mut::<Score>().0 = 7;
    app.update_sub_app_by_label(RenderApp);
    assert_eq!(app.get_sub_app(RenderApp).unwrap().world().resource::<Score>().0, 70);
    app.sub_app_mut(RenderApp).world_mut().resource_mut::<Score>().0 = 1;
    assert!(app.get_sub_app_mut(RenderApp).is_some());
    assert_eq!(app.sub_apps().len(), 1);
    app.sub_apps_mut().for_each(|(_, sub_app)| sub_app.update());
    assert_eq!(app.sub_app(RenderApp).world().resource::<Score>().0, 10);
    assert!(app.remove_sub_app(RenderApp).is_some());
    assert!(app.get_sub_app(RenderApp).is_none());
}
