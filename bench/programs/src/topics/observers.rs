// Observers: of components, of events, of one entity, and events that climb to parents.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Id(u32);
#[derive(Component)]
struct Health(i32);
#[derive(Component)]
struct Dead;

#[derive(Event)]
struct Quake {
    force: i32,
}
#[derive(EntityEvent)]
struct Hit {
    entity: Entity,
    damage: i32,
}
#[derive(EntityEvent)]
#[entity_event(propagate, auto_propagate)]
struct Click {
    entity: Entity,
}

fn lifecycle(world: &mut World) {
    world.add_observer(|on: On<Add<Health>>, all: Query<(&Id, &Health)>, mut out: ResMut<Out>| {
        let (id, health) = all.get(on.entity).unwrap();
        writeln!(out.0, "add {} {}", id.0, health.0).unwrap();
    });
    world.add_observer(|on: On<Insert<Health>>, all: Query<(&Id, &Health)>, mut out: ResMut<Out>| {
        let (id, health) = all.get(on.entity).unwrap();
        writeln!(out.0, "insert {} {}", id.0, health.0).unwrap();
    });
    world.add_observer(|on: On<Remove<Health>>, all: Query<(&Id, &Health)>, mut out: ResMut<Out>| {
        let (id, health) = all.get(on.entity).unwrap();
        writeln!(out.0, "remove {} {}", id.0, health.0).unwrap();
    });
    world.add_observer(|on: On<Despawn<Id>>, all: Query<&Id>, mut out: ResMut<Out>| {
        writeln!(out.0, "despawn {}", all.get(on.entity).unwrap().0).unwrap();
    });
}

fn events(world: &mut World) {
    world.add_observer(|on: On<Quake>, all: Query<(Entity, &Id)>, mut commands: Commands| {
        let mut hit: Vec<(u32, Entity)> = all.iter().map(|(entity, id)| (id.0, entity)).collect();
        hit.sort();
        for (_, entity) in hit {
            commands.trigger(Hit { entity, damage: on.force });
        }
    });
    world.add_observer(
        |on: On<Hit>, mut all: Query<(&Id, &mut Health)>, mut commands: Commands, mut out: ResMut<Out>| {
            if let Ok((id, mut health)) = all.get_mut(on.entity) {
                health.0 -= on.damage;
                writeln!(out.0, "hit {}: {} left", id.0, health.0).unwrap();
                if health.0 <= 0 {
                    commands.entity(on.entity).insert(Dead);
                }
            }
        },
    );
    world.add_observer(|on: On<Add<Dead>>, mut commands: Commands| commands.entity(on.entity).despawn());
    world.add_observer(|mut on: On<Click>, all: Query<&Id>, mut out: ResMut<Out>| {
        let (at, from) = (all.get(on.entity).unwrap().0, all.get(on.original_event_target()).unwrap().0);
        writeln!(out.0, "click {at} from {from}").unwrap();
        if at == 2 {
            on.propagate(false);
        }
    });
}

pub fn program() -> String {
    let mut world = World::new();
    world.init_resource::<Out>();
    lifecycle(&mut world);
    events(&mut world);
    let one = world.spawn((Id(1), Health(5))).id();
    let two = world.spawn((Id(2), Health(3), ChildOf(one))).id();
    let three = world.spawn((Id(3), ChildOf(two))).id();
    world.entity_mut(three).insert(Health(9)).insert(Health(8));
    world.trigger(Click { entity: three });
    world.entity_mut(three).insert(ChildOf(one));
    world.trigger(Click { entity: three });
    world.entity_mut(three).observe(|on: On<Hit>, mut out: ResMut<Out>| {
        writeln!(out.0, "three was hit by {}", on.damage).unwrap();
    });
    world.trigger(Quake { force: 2 });
    world.flush();
    world.entity_mut(one).remove::<Health>();
    world.trigger(Quake { force: 2 });
    world.flush();
    world.commands().trigger(Hit { entity: three, damage: 1 });
    world.flush();
    std::mem::take(&mut world.resource_mut::<Out>().0)
}
