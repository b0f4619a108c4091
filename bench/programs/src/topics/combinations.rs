// Pairs of rows, single rows, and rows by a list of entities.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Position(i64, i64);
#[derive(Component, Debug, Default)]
struct Pull(i64, i64);
#[derive(Component)]
struct Mass(i64);
#[derive(Component)]
struct Sun;
#[derive(Component, Debug)]
struct Follows(Vec<Entity>);

fn attract(mut bodies: Query<(&Mass, &Position, &mut Pull)>) {
    let mut pairs = bodies.iter_combinations_mut();
    while let Some([(mass_a, at_a, mut pull_a), (mass_b, at_b, mut pull_b)]) = pairs.fetch_next() {
        let (x, y) = (at_b.0 - at_a.0, at_b.1 - at_a.1);
        pull_a.0 += x * mass_b.0;
        pull_a.1 += y * mass_b.0;
        pull_b.0 -= x * mass_a.0;
        pull_b.1 -= y * mass_a.0;
    }
}
fn integrate(mut bodies: Query<(&mut Position, &mut Pull), Without<Sun>>) {
    for (mut position, mut pull) in bodies.iter_mut() {
        position.0 += pull.0.signum();
        position.1 += pull.1.signum();
        *pull = Pull::default();
    }
}
fn move_the_sun(mut suns: Query<&mut Position, With<Sun>>, mut out: ResMut<Out>) {
    match suns.single_mut() {
        Ok(mut position) => position.0 += 1,
        Err(_) => out.0.push_str("not one sun\n"),
    }
}
fn overlaps(all: Query<(Entity, &Position)>, mut out: ResMut<Out>) {
    let count = all.iter_combinations().filter(|[(_, a), (_, b)]| a == b).count();
    let triples = all.iter_combinations::<3>().count();
    writeln!(out.0, "{count} overlap, {triples} triples").unwrap();
}
fn follow(followers: Query<&Follows>, mut bodies: Query<(&Mass, &mut Position)>, mut out: ResMut<Out>) {
    for follower in &followers {
        let sum: i64 = bodies.iter_many(&follower.0).flatten().map(|(mass, _)| mass.0).sum();
        let mut many = bodies.iter_many_mut(follower.0.iter().copied());
        while let Some(row) = many.fetch_next() {
            let Ok((mass, mut position)) = row else { continue };
            position.1 -= mass.0;
        }
        writeln!(out.0, "follows {} of mass {sum}", follower.0.len()).unwrap();
        if let [a, b, ..] = follower.0[..] {
            let several = bodies.get_many([a, b]).is_ok();
            let twice = bodies.get_many_mut([a, a]).is_err();
            let [(_, mut at_a), (_, mut at_b)] = bodies.get_many_mut([a, b]).unwrap();
            std::mem::swap(&mut *at_a, &mut *at_b);
            writeln!(out.0, "swapped: {several}, {twice}").unwrap();
        }
    }
}
fn report(all: Query<(&Mass, &Position)>, mut out: ResMut<Out>) {
    let rows: Vec<_> = all
        .iter()
        .sort_by_key::<(&Mass, &Position), _>(|(mass, _)| mass.0)
        .map(|(mass, at)| (mass.0, *at))
        .collect();
    writeln!(out.0, "{rows:?}").unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    let world = app.world_mut();
    let sun = world.spawn((Sun, Mass(100), Position(0, 0), Pull::default())).id();
    let earth = world.spawn((Mass(10), Position(8, 0), Pull::default())).id();
    let moon = world.spawn((Mass(1), Position(8, 2), Pull::default())).id();
    world.spawn((Mass(3), Position(-9, -4), Pull::default()));
    world.spawn(Follows(vec![earth, moon]));
    world.spawn(Follows(vec![moon]));
    app.add_systems(Update, (attract, integrate, move_the_sun, overlaps, follow, report).chain());
    app.update();
    app.update();
    app.world_mut().entity_mut(sun).remove::<Sun>();
    app.update();
    app.world_mut().despawn(earth);
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
