// Queries of one system that write the same component of different entities.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Player;
#[derive(Component)]
struct Enemy;
#[derive(Component)]
struct Health(i32);
#[derive(Component)]
struct Name(&'static str);

fn drain(
    mut players: Query<(&Name, &mut Health), With<Player>>,
    mut others: Query<&mut Health, Without<Player>>,
    mut out: ResMut<Out>,
) {
    let mut taken = 0;
    for mut health in &mut others {
        let by = health.0.min(2);
        health.0 -= by;
        taken += by;
    }
    for (name, mut health) in &mut players {
        health.0 += taken;
        writeln!(out.0, "{} has {}", name.0, health.0).unwrap();
    }
}
fn strike(
    players: Query<&Health, (With<Player>, Without<Enemy>)>,
    mut enemies: Query<(Entity, &mut Health), (With<Enemy>, Without<Player>)>,
    mut commands: Commands,
) {
    let strength: i32 = players.iter().map(|health| health.0).sum();
    for (entity, mut health) in &mut enemies {
        health.0 -= strength / 10;
        if health.0 <= 0 {
            commands.entity(entity).despawn();
        }
    }
}
fn report(all: Query<(&Name, &Health)>, mut out: ResMut<Out>) {
    let mut rows: Vec<_> = all.iter().map(|(name, health)| (name.0, health.0)).collect();
    rows.sort();
    writeln!(out.0, "{rows:?}").unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    let world = app.world_mut();
    world.spawn((Name("ann"), Player, Health(10)));
    world.spawn((Name("orc"), Enemy, Health(5)));
    world.spawn((Name("rat"), Enemy, Health(1)));
    world.spawn((Name("oak"), Health(9)));
    app.add_systems(Update, (drain, strike, report).chain());
    for _ in 0..3 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
