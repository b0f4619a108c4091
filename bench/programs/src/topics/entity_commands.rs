// What commands do to entities, and which system sees it when.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component, Clone, Copy)]
struct Id(u32);
#[derive(Component, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Debug)]
struct Burning(i32);
#[derive(Bundle)]
struct Soldier {
    id: Id,
    health: Health,
}

fn spawn(mut commands: Commands) {
    commands.spawn(Soldier { id: Id(1), health: Health(5) });
    let second = commands.spawn_empty().id();
    commands.entity(second).insert((Id(2), Health(6))).insert(Burning(3));
    commands.spawn_batch((3..5).map(|id| (Id(id), Health(7))));
}

fn burn(mut commands: Commands, mut all: Query<(Entity, &mut Health, &mut Burning)>) {
    for (entity, mut health, mut burning) in &mut all {
        health.0 -= burning.0;
        burning.0 -= 1;
        if burning.0 == 0 {
            commands.entity(entity).remove::<Burning>();
        }
        if health.0 <= 0 {
            commands.entity(entity).despawn();
        }
    }
}

fn ignite(mut commands: Commands, all: Query<(Entity, &Id), Without<Burning>>) {
    for (entity, id) in &all {
        if id.0 % 2 == 1 {
            // The first stays, the second is new.
            commands.entity(entity).insert_if_new((Health(99), Burning(2)));
        }
    }
    commands.queue(|world: &mut World| {
        let entity = world.spawn((Id(90), Health(1))).id();
        world.entity_mut(entity).insert(Health(2));
    });
}

fn report(all: Query<(&Id, &Health, Option<&Burning>)>, mut out: ResMut<Out>) {
    let mut rows: Vec<_> =
        all.iter().map(|(id, health, fire)| (id.0, health.0, fire.map(|fire| fire.0))).collect();
    rows.sort();
    writeln!(out.0, "{rows:?}").unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    app.add_systems(Startup, spawn);
    app.add_systems(Update, (burn, report, ignite, report).chain());
    for _ in 0..4 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
