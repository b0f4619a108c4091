// Parameters that may be missing: what runs, what is skipped, and what the system gets.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource, Default)]
struct Config(u32);
#[derive(Component, Debug)]
struct Player(i32);
#[derive(Component)]
struct Enemy;
#[derive(Message)]
struct Ping;

fn one_player(mut player: Single<&mut Player>, mut out: ResMut<Out>) {
    player.0 += 1;
    writeln!(out.0, "player {}", player.0).unwrap();
}
fn maybe_player(player: Option<Single<(Entity, &Player)>>, mut out: ResMut<Out>) {
    let said = player.map(|player| {
        let (_, player) = *player;
        player.0
    });
    writeln!(out.0, "maybe {said:?}").unwrap();
}
fn if_enemies(enemies: Populated<Entity, With<Enemy>>, mut out: ResMut<Out>) {
    writeln!(out.0, "{} enemies", enemies.iter().count()).unwrap();
}
fn if_config(config: If<Res<Config>>, mut out: ResMut<Out>) {
    writeln!(out.0, "config {}", config.0.0).unwrap();
}
fn maybe_config(config: Option<ResMut<Config>>, mut out: ResMut<Out>) {
    if let Some(mut config) = config {
        config.0 += 1;
        writeln!(out.0, "config is now {}", config.0).unwrap();
    }
}
fn pinged(mut pings: PopulatedMessageReader<Ping>, mut out: ResMut<Out>) {
    writeln!(out.0, "{} pings", pings.read().count()).unwrap();
}
fn both(single: Single<&Player>, others: Query<&Player>, mut out: ResMut<Out>) {
    writeln!(out.0, "one: {:?}, of {}", *single, others.iter().len()).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().add_message::<Ping>();
    app.add_systems(
        Update,
        (one_player, maybe_player, if_enemies, if_config, maybe_config, pinged, both).chain(),
    );
    let mut spawned = Vec::new();
    for frame in 0..7 {
        let world = app.world_mut();
        writeln!(world.resource_mut::<Out>().0, "frame {frame}").unwrap();
        match frame {
            1 => spawned.push(world.spawn(Player(10)).id()),
            2 => {
                world.spawn_batch((0..3).map(|_| Enemy));
                world.init_resource::<Config>();
                world.write_message(Ping);
            }
            3 => spawned.push(world.spawn((Player(20), Enemy)).id()),
            4 => drop(world.despawn(spawned[0])),
            5 => drop(world.remove_resource::<Config>()),
            _ => {}
        }
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
