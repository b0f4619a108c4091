// Queries seen through narrower ones, and two queries joined into one.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Score(i32);
#[derive(Component)]
struct Player(&'static str);
#[derive(Component)]
struct Wounded;
#[derive(Component)]
struct Team(u8);

fn sum(lens: &mut QueryLens<&Score>) -> i32 {
    lens.query().iter().map(|score| score.0).sum()
}
fn double(mut lens: QueryLens<&mut Score>) {
    for mut score in &mut lens.query() {
        score.0 *= 2;
    }
}

fn narrower(mut all: Query<(&mut Score, &Player, Option<&Team>)>, mut out: ResMut<Out>) {
    let before = sum(&mut all.transmute_lens::<&Score>());
    double(all.transmute_lens());
    let after = sum(&mut all.transmute_lens::<&Score>());
    let teams = all.transmute_lens::<Option<&Team>>().query().iter().flatten().count();
    let entities = all.transmute_lens::<Entity>().query().iter().count();
    writeln!(out.0, "{before} {after} {teams} {entities}").unwrap();
}
fn filtered(mut all: Query<(&Score, &Player, Has<Wounded>)>, mut out: ResMut<Out>) {
    let mut lens = all.transmute_lens_filtered::<&Player, ()>();
    let mut names: Vec<&str> = lens.query().iter_inner().map(|player| player.0).collect();
    names.sort();
    writeln!(out.0, "{names:?}").unwrap();
}
fn joined(mut players: Query<(&Player, Entity)>, mut teams: Query<(&Team, &Score)>, mut out: ResMut<Out>) {
    let mut lens: QueryLens<(&Player, &Team)> = players.join(&mut teams);
    let query = lens.query();
    let mut rows: Vec<(&str, u8)> = query.iter().map(|(player, team)| (player.0, team.0)).collect();
    rows.sort();
    writeln!(out.0, "{rows:?}").unwrap();
}
fn helpers(players: Query<&Player>, mut scores: Query<&mut Score>, mut out: ResMut<Out>) {
    fn names(players: &Query<&Player>) -> String {
        let mut names: Vec<&str> = players.into_iter().map(|player| player.0).collect();
        names.sort();
        names.join("+")
    }
    fn highest(mut scores: Query<&mut Score>) -> Option<i32> {
        let mut best = scores.iter_mut().max_by_key(|score| score.0)?;
        best.0 += 1000;
        Some(best.0)
    }
    let (names, best) = (names(&players), highest(scores.reborrow()));
    let read = scores.as_readonly().iter().filter(|score| score.0 > 1000).count();
    writeln!(out.0, "{names} {best:?} {read}").unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    let world = app.world_mut();
    world.spawn((Player("ann"), Score(1), Team(1)));
    world.spawn((Player("bob"), Score(2), Wounded));
    world.spawn((Player("cat"), Team(3)));
    world.spawn((Score(40), Team(2)));
    app.add_systems(Update, (narrower, filtered, joined, helpers).chain());
    app.update();
    app.update();
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
