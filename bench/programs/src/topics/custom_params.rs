// Parameters made of parameters: structs with names, with lifetimes, type parameters and methods.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource, Default)]
struct Score(i32);
#[derive(Component)]
struct Player(&'static str);
#[derive(Component)]
struct Enemy;
#[derive(Component)]
struct Health(i32);

#[derive(SystemParam)]
struct Players<'w, 's> {
    players: Query<'w, 's, (&'static Player, &'static mut Health), Without<Enemy>>,
    count: Local<'s, u32>,
}
impl Players<'_, '_> {
    fn hurt(&mut self, by: i32) -> u32 {
        for (_, mut health) in &mut self.players {
            health.0 -= by;
        }
        *self.count += 1;
        *self.count
    }
    fn names(&self) -> String {
        let mut names: Vec<_> =
            self.players.iter().map(|(player, health)| format!("{} {}", player.0, health.0)).collect();
        names.sort();
        names.join(", ")
    }
}

#[derive(SystemParam)]
struct Counter<'w, 's, T: Component> {
    all: Query<'w, 's, Entity, With<T>>,
    score: ResMut<'w, Score>,
    commands: Commands<'w, 's>,
}
impl<T: Component> Counter<'_, '_, T> {
    fn clear(&mut self) {
        for entity in &self.all {
            self.score.0 += 1;
            self.commands.entity(entity).despawn();
        }
    }
}

#[derive(SystemParam)]
struct Printer<'w> {
    out: ResMut<'w, Out>,
    missing: Option<Res<'w, Missing>>,
}
#[derive(Resource)]
struct Missing;

/// A parameter of parameters of one's own.
#[derive(SystemParam)]
struct All<'w, 's> {
    players: Players<'w, 's>,
    printer: Printer<'w>,
}

fn fight(mut all: All) {
    let round = all.players.hurt(2);
    let missing = all.printer.missing.is_none();
    writeln!(all.printer.out.0, "round {round}: {} (missing {missing})", all.players.names()).unwrap();
}
fn clear(mut enemies: Counter<Enemy>) {
    enemies.clear();
}
fn report(score: Res<Score>, left: Query<(), With<Enemy>>, mut printer: Printer) {
    writeln!(printer.out.0, "score {}, {} left", score.0, left.iter().count()).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().init_resource::<Score>();
    app.world_mut().spawn((Player("ann"), Health(10)));
    app.world_mut().spawn((Player("bob"), Health(7)));
    app.world_mut().spawn_batch((0..3).map(|_| (Enemy, Health(1))));
    app.add_systems(Update, (fight, clear, report).chain());
    app.update();
    app.update();
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
