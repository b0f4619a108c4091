//! What tools ask: what handles errors and observes events, what was removed, what schedules and queries are.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
#[require(Health)]
struct Armor(i32);
#[derive(Resource, Debug, PartialEq, Default)]
struct Log(Vec<String>);
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Turn;
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Round;
#[derive(Event)]
struct Thunder(u32);
#[derive(EntityEvent)]
struct Opened {
    entity: Entity,
}

fn world() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

#[test]
fn world_fallback_error_handler() {
    let mut world = world();
    world.set_error_handler(|world, error| world.resource_mut::<Log>().0.push(error.error.to_string()));
    let handler = world.fallback_error_handler();
    let fails = |_: &mut World| Err("it failed");
    world.commands().queue_handled(fails, move |world, error| handler.handle(world, error));
    world.flush();
    assert_eq!(world.resource::<Log>().0, ["it failed"]);
}

#[test]
fn app_get_error_handler() {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.set_error_handler(|world, error| world.resource_mut::<Log>().0.push(error.error.to_string()));
    let handler = app.get_error_handler();
    app.set_error_handler(move |world, error| {
        world.resource_mut::<Log>().0.push("before".to_owned());
        handler.handle(world, error);
    });
    app.add_systems(Update, || -> Result<(), &'static str> { Err("it failed") });
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["before", "it failed"]);
}

#[test]
fn world_removed() {
    let mut world = World::new();
    let health = world.register_component::<Health>();
    let (a, b) = (world.spawn(Health(1)).id(), world.spawn(Health(2)).id());
    assert_eq!(world.removed::<Health>().count(), 0);
    world.entity_mut(a).remove::<Health>();
    world.despawn(b);
    assert_eq!(world.removed::<Health>().collect::<Vec<_>>(), [a, b]);
    assert_eq!(world.removed_with_id(health).count(), 2);
    assert_eq!(world.removed_components().get(health).map(<[_]>::len), Some(2));
    world.clear_trackers();
    assert_eq!(world.removed_with_id(health).count(), 0);
}

#[test]
fn world_observers() {
    let mut world = World::new();
    let id = world.add_observer(|_: On<Add<Health>>| {});
    let observers: Vec<_> = world.observers().map(|observer| observer.id()).collect();
    assert_eq!(observers, [id]);
}

#[test]
fn world_event_keys() {
    use phalanx::event::{EntityComponentsTrigger, EntityTrigger, GlobalTrigger};

    let mut world = world();
    world.add_observer(|on: On<Thunder>, mut log: ResMut<Log>| log.0.push(format!("thunder {}", on.0)));
    let door = world
        .spawn(Health(1))
        .observe(|_: On<Opened>, mut log: ResMut<Log>| log.0.push("opened".into()))
        .id();
    world.add_observer(|_: On<Add<Health>>, mut log: ResMut<Log>| log.0.push("added".into()));
    let key = world.register_event_key::<Thunder>();
    assert_eq!(world.event_key::<Thunder>(), Some(key));
    world.trigger_dynamic(key, &mut Thunder(3), &mut GlobalTrigger).unwrap();
    let key = world.register_event_key::<Opened>();
    world.trigger_dynamic_targets(key, door, &mut Opened { entity: door }, &mut EntityTrigger).unwrap();
    let key = world.register_event_key::<phalanx::lifecycle::AddEvent>();
    let health = [world.register_component::<Health>()];
    let mut trigger = EntityComponentsTrigger::new(door, &health);
    let mut event = phalanx::lifecycle::AddEvent { entity: door };
    world.trigger_dynamic_targets_components(key, door, &health, &mut event, &mut trigger).unwrap();
    assert_eq!(world.resource::<Log>().0, ["thunder 3", "opened", "added"]);
}

#[test]
fn event_traversal() {
    use phalanx::event::Traversal;

    #[derive(Component)]
    struct Owner(Entity);
    struct ToOwner;
    impl<E> Traversal<E> for ToOwner {
        fn traverse(world: &World, from: Entity, _: &E) -> Option<Entity> {
            world.get::<Owner>(from).map(|owner| owner.0)
        }
    }
    #[derive(EntityEvent)]
    #[entity_event(propagate = ToOwner, auto_propagate)]
    struct Damaged {
        entity: Entity,
    }
    let mut world = world();
    let knight = world.spawn_empty().id();
    let horse = world.spawn(Owner(knight)).id();
    world.add_observer(|on: On<Damaged>, mut log: ResMut<Log>| log.0.push(on.entity.to_string()));
    world.trigger(Damaged { entity: horse });
    assert_eq!(world.resource::<Log>().0, [horse.to_string(), knight.to_string()]);
}

#[test]
fn entity_world_mut_world_mut() {
    let mut world = world();
    let mut entity = world.spawn(Health(1));
    entity.world_mut().resource_mut::<Log>().0.push("seen".into());
    let id = entity.id();
    assert!(entity.world_mut().despawn(id) && entity.is_despawned());
    assert_eq!(world.resource::<Log>().0, ["seen"]);
}

#[test]
fn world_register_dynamic_bundle() {
    let mut world = World::new();
    let (armor, health) = (world.register_component::<Armor>(), world.register_component::<Health>());
    assert_eq!(world.register_dynamic_bundle(&[armor]).unwrap(), [armor, health]);
}

#[test]
fn schedules_read() {
    let mut world = World::new();
    world.add_schedule(Schedule::new(Turn));
    world.add_schedule(Schedule::new(Round));
    let mut schedules = world.resource_mut::<Schedules>();
    assert_eq!(schedules.get(Turn).unwrap().systems_len(), 0);
    assert_eq!(schedules.iter().map(|(label, _)| label.to_string()).collect::<Vec<_>>(), ["Turn", "Round"]);
}

#[test]
fn schedules_removed_for_a_time() {
    let mut world = World::new();
    world.add_schedule(Schedule::new(Turn));
    let mut schedules = world.resource_mut::<Schedules>();
    let turn = schedules.remove_temporarily(Turn).unwrap();
    assert!(schedules.remove_temporarily(Round).is_none());
    assert_eq!(schedules.get_temporarily_removed(), [turn.label().clone()]);
    assert_eq!(schedules.get_empty_labels().len(), 1);
    assert!(schedules.reinsert(turn).is_none());
    assert!(schedules.get_temporarily_removed().is_empty() && schedules.contains(Turn));
}

#[test]
fn schedules_ignored_ambiguities() {
    let mut world = world();
    world.allow_ambiguous_component::<Health>();
    world.allow_ambiguous_resource::<Log>();
    let schedules = world.resource::<Schedules>();
    let names: Vec<String> = schedules.iter_ignored_ambiguities().map(|part| part.name(&world)).collect();
    assert_eq!(names, ["Health", "Log"]);
    schedules.print_ignored_ambiguities(&world);
}

#[test]
fn schedule_set_apply_final_deferred() {
    let mut world = World::new();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems(|mut commands: Commands| _ = commands.spawn(Health(1)));
    schedule.set_apply_final_deferred(false);
    schedule.run(&mut world);
    assert_eq!(world.query::<&Health>().iter(&world).count(), 0);
    schedule.apply_deferred(&mut world);
    assert_eq!(world.query::<&Health>().iter(&world).count(), 1);
}

#[test]
fn stepping_skipped_systems() {
    fn first() {}
    fn second() {}
    let mut world = World::new();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems((first, second).chain());
    schedule.initialize(&mut world).unwrap();
    let mut stepping = phalanx::schedule::Stepping::new();
    stepping.add_schedule(Turn).enable().step_frame();
    world.insert_resource(stepping);
    world.run_system_once(phalanx::schedule::Stepping::begin_frame).unwrap();
    let skipped = world.resource_mut::<phalanx::schedule::Stepping>().skipped_systems(&schedule).unwrap();
    let (second, _) = schedule.systems().unwrap().last().unwrap();
    assert_eq!(skipped, [second]);
}

#[test]
fn query_state_readonly_and_access() {
    fn sum(state: &mut QueryState<&Health>, world: &World) -> i32 {
        state.iter(world).map(|health| health.0).sum()
    }
    let mut world = World::new();
    world.spawn_batch([Health(1), Health(2)]);
    let state = world.query::<&mut Health>();
    assert_eq!(sum(&mut state.as_readonly(&world), &world), 3);
    let health = world.component_id::<Health>().unwrap();
    assert!(state.component_access(&world).has_component_write(health));
    assert!(!state.as_readonly(&world).component_access(&world).has_component_write(health));
}
