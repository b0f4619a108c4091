// Resources in systems, in commands, and in the world.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource, Debug, Default, PartialEq, Clone)]
struct Score(i32);
#[derive(Resource, Debug)]
struct Bonus(i32);

fn play(mut score: ResMut<Score>, bonus: Option<Res<Bonus>>, mut round: Local<i32>) {
    *round += 1;
    score.0 += *round + bonus.map_or(0, |bonus| bonus.0);
}
fn give(mut commands: Commands, score: Res<Score>) {
    if score.0 % 2 == 0 {
        commands.remove_resource::<Bonus>();
    } else {
        commands.insert_resource(Bonus(score.0));
    }
}
fn report(score: Res<Score>, bonus: Option<Res<Bonus>>, mut out: ResMut<Out>) {
    writeln!(out.0, "{:?} {:?}", *score, bonus.map(|bonus| bonus.0)).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().init_resource::<Score>();
    app.add_systems(Update, (play, give, report).chain());
    for _ in 0..6 {
        app.update();
    }
    let world = app.world_mut();
    world.insert_resource(Score(40));
    world.init_resource::<Score>();
    world.resource_mut::<Score>().0 += 2;
    let removed = world.remove_resource::<Score>();
    let left = world.contains_resource::<Score>();
    let mut out = std::mem::take(&mut world.resource_mut::<Out>().0);
    writeln!(out, "{removed:?} {left} {:?}", world.get_resource::<Score>()).unwrap();
    out
}
