// Components and entities that go, and the systems that are notified.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Id(u32);
#[derive(Component)]
struct Shield;
#[derive(Component)]
struct Banner;
#[derive(Resource, Default)]
struct Names(std::collections::BTreeMap<Entity, u32>);

fn spawn(mut commands: Commands) {
    commands.spawn((Id(1), Shield));
    commands.spawn((Id(2), Shield, Banner));
    commands.spawn((Id(3), Banner));
}

fn learn(all: Query<(Entity, &Id)>, mut names: ResMut<Names>) {
    names.0.extend(all.iter().map(|(entity, id)| (entity, id.0)));
}

fn act(mut commands: Commands, all: Query<(Entity, &Id)>, mut frame: Local<u32>) {
    *frame += 1;
    for (entity, id) in &all {
        match (*frame, id.0) {
            (1, 1) => drop(commands.entity(entity).remove::<Shield>()),
            (2, 2) => commands.entity(entity).despawn(),
            (3, 1) => drop(commands.entity(entity).insert((Shield, Banner))),
            (4, 1) => drop(commands.entity(entity).remove::<(Shield, Banner)>()),
            // It has none: nothing is removed.
            (4, 3) => drop(commands.entity(entity).remove::<Shield>()),
            _ => {}
        }
    }
}

fn shields(mut removed: RemovedComponents<Shield>, names: Res<Names>, mut out: ResMut<Out>) {
    let count = removed.len();
    let who: Vec<u32> = removed.read().map(|entity| names.0[&entity]).collect();
    writeln!(out.0, "shields {count} {who:?} {}", removed.is_empty()).unwrap();
}

fn banners(mut removed: RemovedComponents<Banner>, names: Res<Names>, mut out: ResMut<Out>) {
    let who: Vec<u32> = removed.read().map(|entity| names.0[&entity]).collect();
    // What was read is not read again.
    writeln!(out.0, "banners {who:?} {}", removed.read().count()).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().init_resource::<Names>();
    app.add_systems(Startup, (spawn, learn).chain());
    app.add_systems(Update, (act, shields, banners).chain());
    // In the next frame, once more than the others: each reader keeps its own place.
    app.add_systems(PreUpdate, shields);
    for _ in 0..6 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
