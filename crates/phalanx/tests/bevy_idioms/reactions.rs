//! Hooks, observers and removals, as a bevy program writes them.

use phalanx::prelude::*;

#[derive(Component, Debug, PartialEq)]
struct Health(i32);
#[derive(Resource, Default, Debug, PartialEq)]
struct Heard(Vec<Entity>);

#[test]
fn world_register_component_hooks() {
    let mut world = World::new();
    world.init_resource::<Heard>();
    world
        .register_component_hooks::<Health>()
        .on_add(|mut world, HookContext { entity, component_id, .. }| {
            assert_eq!(world.component_id::<Health>(), Some(component_id));
            assert!(world.get::<Health>(entity).is_some());
            world.resource_mut::<Heard>().0.push(entity);
        })
        .on_remove(|mut world, context| {
            let entity = context.entity;
            world.resource_mut::<Heard>().0.retain(|known| *known != entity);
            world.commands().entity(entity).despawn();
        });
    let entity = world.spawn(Health(3)).id();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![entity]));
    world.entity_mut(entity).remove::<Health>();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![]));
    assert!(!world.contains(entity));
}

#[test]
fn world_register_component_hooks_by_id() {
    let mut world = World::new();
    world.init_resource::<Heard>();
    let health = world.register_component::<Health>();
    world.register_component_hooks_by_id(health).unwrap().on_insert(|mut world, context| {
        world.resource_mut::<Heard>().0.push(context.entity);
    });
    let entity = world.spawn(Health(3)).id();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![entity]));
}

#[test]
fn component_hooks_by_attribute() {
    #[derive(Component)]
    #[component(on_add = greet)]
    struct Guest;
    fn greet(mut world: DeferredWorld, context: HookContext) {
        world.commands().entity(context.entity).insert(Health(1));
    }
    let mut world = World::new();
    let guest = world.spawn(Guest).id();
    assert_eq!(world.get::<Health>(guest), Some(&Health(1)));
}

#[derive(Event, Debug)]
struct Explosion {
    force: i32,
}
#[derive(EntityEvent)]
struct Opened {
    entity: Entity,
}

fn heard() -> World {
    let mut world = World::new();
    world.init_resource::<Heard>();
    world
}

#[test]
fn world_add_observer() {
    let mut world = heard();
    world.add_observer(|event: On<Add<Health>>, mut commands: Commands, query: Query<&Health>| {
        assert!(query.get(event.entity).is_ok());
        commands.entity(event.entity).insert(Armor);
    });
    let entity = world.spawn(Health(1)).id();
    assert!(world.get::<Armor>(entity).is_some());
}

#[derive(Component)]
struct Armor;

#[test]
fn observers_of_the_lifecycle() {
    let mut world = heard();
    world.add_observer(|event: On<Insert<(Health, Armor)>>, mut heard: ResMut<Heard>| {
        heard.0.push(event.entity);
    });
    world.add_observer(|event: On<Add<Health>>, mut heard: ResMut<Heard>| heard.0.push(event.entity));
    world.add_observer(|event: On<Discard<Health>>, mut heard: ResMut<Heard>| heard.0.push(event.entity));
    world.add_observer(|event: On<Remove<Health>>, mut heard: ResMut<Heard>| heard.0.push(event.entity));
    world.add_observer(|event: On<Despawn<Health>>, mut heard: ResMut<Heard>| heard.0.push(event.entity));
    let entity = world.spawn((Health(1), Armor)).id();
    world.entity_mut(entity).despawn();
    assert_eq!(world.resource::<Heard>().0.len(), 5);
}

#[test]
fn world_trigger() {
    let mut world = heard();
    let entity = world.spawn(Health(9)).id();
    world.add_observer(|explosion: On<Explosion>, mut all: Query<&mut Health>| {
        for mut health in &mut all {
            health.0 -= explosion.force;
        }
    });
    world.trigger(Explosion { force: 4 });
    assert_eq!(world.get::<Health>(entity), Some(&Health(5)));
}

#[test]
fn world_trigger_with() {
    #[derive(EntityEvent)]
    #[entity_event(trigger = phalanx::event::EntityTrigger)]
    struct Knocked(Entity);
    let mut world = heard();
    let entity = world.spawn_empty().id();
    world.add_observer(|event: On<Knocked>, mut heard: ResMut<Heard>| heard.0.push(event.0));
    world.trigger_with(Knocked(entity), phalanx::event::EntityTrigger);
    assert_eq!(world.resource::<Heard>(), &Heard(vec![entity]));
}

#[test]
fn world_trigger_ref() {
    let mut world = World::new();
    world.add_observer(|mut explosion: On<Explosion>| explosion.force *= 2);
    let mut explosion = Explosion { force: 2 };
    world.trigger_ref(&mut explosion);
    assert_eq!(explosion.force, 4);
}

#[test]
fn world_trigger_ref_with() {
    let mut world = World::new();
    world.add_observer(|mut explosion: On<Explosion>| explosion.force *= 2);
    let mut explosion = Explosion { force: 3 };
    world.trigger_ref_with(&mut explosion, &mut phalanx::event::GlobalTrigger);
    assert_eq!(explosion.force, 6);
}

#[test]
fn entity_world_mut_trigger() {
    let mut world = heard();
    world.add_observer(|opened: On<Opened>, mut heard: ResMut<Heard>| heard.0.push(opened.entity));
    let entity = world.spawn_empty().trigger(|entity| Opened { entity }).id();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![entity]));
}

#[test]
fn entity_world_mut_observe() {
    let mut world = heard();
    let door = world.spawn_empty().id();
    world
        .entity_mut(door)
        .observe(|opened: On<Opened>, mut heard: ResMut<Heard>| heard.0.push(opened.entity));
    let other = world.spawn_empty().id();
    world.trigger(Opened { entity: other });
    world.trigger(Opened { entity: door });
    assert_eq!(world.resource::<Heard>(), &Heard(vec![door]));
}

#[test]
fn entity_commands_observe() {
    let mut world = heard();
    let mut commands = world.commands();
    let door = commands
        .spawn_empty()
        .observe(|opened: On<Opened>, mut heard: ResMut<Heard>| heard.0.push(opened.entity))
        .id();
    world.flush();
    world.trigger(Opened { entity: door });
    assert_eq!(world.resource::<Heard>(), &Heard(vec![door]));
}

#[test]
fn entity_commands_trigger() {
    let mut world = heard();
    world.add_observer(|opened: On<Opened>, mut heard: ResMut<Heard>| heard.0.push(opened.entity));
    let door = world.spawn_empty().id();
    world.commands().entity(door).trigger(|entity| Opened { entity });
    world.flush();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![door]));
}

#[test]
fn commands_trigger() {
    let mut world = heard();
    world.add_observer(|opened: On<Opened>, mut heard: ResMut<Heard>| heard.0.push(opened.entity));
    let door = world.spawn_empty().id();
    world.commands().trigger(Opened { entity: door });
    world.flush();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![door]));
}

#[test]
fn commands_trigger_with() {
    let mut world = heard();
    world.add_observer(|opened: On<Opened>, mut heard: ResMut<Heard>| heard.0.push(opened.entity));
    let door = world.spawn_empty().id();
    world.commands().trigger_with(Opened { entity: door }, phalanx::event::EntityTrigger);
    world.flush();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![door]));
}

#[test]
fn commands_add_observer() {
    let mut world = heard();
    world
        .commands()
        .add_observer(|added: On<Add<Health>>, mut heard: ResMut<Heard>| heard.0.push(added.entity));
    world.flush();
    let entity = world.spawn(Health(1)).id();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![entity]));
}

#[test]
fn app_add_observer() {
    let mut app = App::new();
    app.init_resource::<Heard>()
        .add_observer(|added: On<Add<Health>>, mut heard: ResMut<Heard>| heard.0.push(added.entity))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn(Health(1));
        });
    app.update();
    assert_eq!(app.world().resource::<Heard>().0.len(), 1);
}

#[test]
fn on_event() {
    let mut world = World::new();
    world.add_observer(|mut on: On<Explosion>| {
        assert_eq!(on.event().force, 1);
        on.event_mut().force = 2;
    });
    world.add_observer(|on: On<Explosion>| assert_eq!(on.force, 2));
    world.add_observer(|on: On<Add<Health>>| assert_eq!(on.trigger().components().count(), 1));
    world.trigger(Explosion { force: 1 });
    world.spawn(Health(1));
}

#[test]
fn on_observer() {
    let mut world = heard();
    world.add_observer(|on: On<Add<Health>>, mut commands: Commands, mut heard: ResMut<Heard>| {
        heard.0.push(on.entity);
        commands.remove_observer(on.observer());
    });
    world.spawn(Health(1));
    world.spawn(Health(2));
    assert_eq!(world.resource::<Heard>().0.len(), 1);
}

#[test]
fn on_propagate() {
    #[derive(EntityEvent)]
    #[entity_event(propagate, auto_propagate)]
    struct Click {
        entity: Entity,
    }
    let mut world = heard();
    let window = world.spawn_empty().id();
    let button = world.spawn(ChildOf(window)).id();
    let label = world.spawn(ChildOf(button)).id();
    world.entity_mut(button).observe(|mut click: On<Click>, mut heard: ResMut<Heard>| {
        heard.0.push(click.original_event_target());
        click.propagate(false);
    });
    world.entity_mut(window).observe(|_: On<Click>| panic!("it was stopped"));
    world.trigger(Click { entity: label });
    assert_eq!(world.resource::<Heard>(), &Heard(vec![label]));
}

#[test]
fn entity_event_propagate_along_a_relation() {
    #[derive(EntityEvent)]
    #[entity_event(propagate = &'static ChildOf)]
    struct Call(Entity);
    let mut world = heard();
    let ship = world.spawn_empty().id();
    let sail = world.spawn(ChildOf(ship)).id();
    world.add_observer(|mut call: On<Call>, mut heard: ResMut<Heard>| {
        heard.0.push(call.0);
        call.propagate(true);
    });
    world.trigger(Call(sail));
    assert_eq!(world.resource::<Heard>(), &Heard(vec![sail, ship]));
}

#[test]
fn observer_new() {
    let mut world = heard();
    let entity = world.spawn(Health(1)).id();
    let observer = Observer::new(|on: On<Remove<Health>>, mut heard: ResMut<Heard>| heard.0.push(on.entity));
    world.add_observer(observer.with_entity(entity));
    let other = world.spawn(Health(2)).id();
    world.despawn(other);
    world.despawn(entity);
    assert_eq!(world.resource::<Heard>(), &Heard(vec![entity]));
}

#[test]
fn observer_with_component() {
    let mut world = heard();
    let health = world.register_component::<Health>();
    let observer = Observer::new(|on: On<Add<()>>, mut heard: ResMut<Heard>| heard.0.push(on.entity));
    world.add_observer(observer.with_component(health));
    world.spawn(Armor);
    let entity = world.spawn(Health(2)).id();
    assert_eq!(world.resource::<Heard>(), &Heard(vec![entity]));
}

#[test]
fn observer_run_if() {
    let mut world = heard();
    let observer = Observer::new(|on: On<Add<Health>>, mut heard: ResMut<Heard>| heard.0.push(on.entity));
    world.add_observer(observer.run_if(|heard: Res<Heard>| heard.0.is_empty()));
    world.spawn(Health(1));
    world.spawn(Health(2));
    assert_eq!(world.resource::<Heard>().0.len(), 1);
}

#[test]
fn observer_function_run_if() {
    fn hear(on: On<Add<Health>>, mut heard: ResMut<Heard>) {
        heard.0.push(on.entity);
    }
    let mut world = heard();
    world.add_observer(hear.run_if(|heard: Res<Heard>| heard.0.is_empty()).run_if(|| true));
    world.spawn(Health(1));
    world.spawn(Health(2));
    assert_eq!(world.resource::<Heard>().0.len(), 1);
}

#[test]
fn deferred_world_as_a_parameter() {
    let mut world = heard();
    world.add_observer(|on: On<Add<Health>>, mut world: DeferredWorld| {
        world.resource_mut::<Heard>().0.push(on.entity);
        world.commands().entity(on.entity).insert(Armor);
    });
    let entity = world.spawn(Health(1)).id();
    assert_eq!(world.resource::<Heard>().0, [entity]);
    assert!(world.get::<Armor>(entity).is_some());
}

#[test]
fn removed_components_read() {
    fn bury(mut removed: RemovedComponents<Health>, mut heard: ResMut<Heard>) {
        for entity in removed.read() {
            heard.0.push(entity);
        }
    }
    let mut app = App::new();
    app.init_resource::<Heard>().add_systems(Update, bury);
    app.update();
    let entity = app.world_mut().spawn(Health(1)).id();
    app.world_mut().entity_mut(entity).remove::<Health>();
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Heard>(), &Heard(vec![entity]));
}

#[test]
fn removed_components_read_with_id() {
    let mut world = World::new();
    let count = world.register_system(|mut removed: RemovedComponents<Health>| {
        removed.read_with_id().map(|(entity, _id)| entity).collect::<Vec<Entity>>()
    });
    world.run_system(count).unwrap();
    let entity = world.spawn(Health(1)).id();
    world.despawn(entity);
    assert_eq!(world.run_system(count).unwrap(), [entity]);
}

#[test]
fn removed_components_len() {
    let mut world = World::new();
    let count =
        world.register_system(|removed: RemovedComponents<Health>| (removed.len(), removed.is_empty()));
    assert_eq!(world.run_system(count).unwrap(), (0, true));
    let entity = world.spawn(Health(1)).id();
    world.despawn(entity);
    assert_eq!(world.run_system(count).unwrap(), (1, false));
}

#[test]
fn removed_components_clear() {
    let mut world = World::new();
    let clear = world.register_system(|mut removed: RemovedComponents<Health>| {
        removed.clear();
        removed.len()
    });
    world.run_system(clear).unwrap();
    let entity = world.spawn(Health(1)).id();
    world.despawn(entity);
    assert_eq!(world.run_system(clear).unwrap(), 0);
}

#[test]
fn on_archetype_created() {
    #[derive(Resource, Default)]
    struct Archetypes(u32);
    let mut world = World::new();
    world.init_resource::<Archetypes>();
    world.add_observer(|_: On<ArchetypeCreated>, mut archetypes: ResMut<Archetypes>| archetypes.0 += 1);
    world.spawn(Health(1));
    world.flush();
    assert_eq!(world.resource::<Archetypes>().0, 1);
}
