// Parameters that would be in each other's way, what a system keeps for itself, and systems with the whole world.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource)]
struct Seed(u64);
#[derive(Component)]
struct Health(i32);
#[derive(Component)]
struct Enemy;
#[derive(Component)]
struct Ally;
#[derive(Message)]
struct Healed(i32);

struct Dice(u64);
impl FromWorld for Dice {
    fn from_world(world: &mut World) -> Self {
        Self(world.resource::<Seed>().0)
    }
}
impl Dice {
    fn roll(&mut self) -> i32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 60) as i32
    }
}

fn both(
    mut set: ParamSet<(
        Query<&mut Health, With<Enemy>>,
        Query<&mut Health, With<Ally>>,
        MessageReader<Healed>,
        ResMut<Out>,
    )>,
    mut dice: Local<Dice>,
) {
    let damage = dice.roll();
    for mut health in set.p0().iter_mut() {
        health.0 -= damage;
    }
    let healed: i32 = set.p2().read().map(|healed| healed.0).sum();
    for mut health in &mut set.p1() {
        health.0 += healed;
    }
    let mut enemies: Vec<i32> = set.p0().iter().map(|health| health.0).collect();
    let mut allies: Vec<i32> = set.p1().iter().map(|health| health.0).collect();
    enemies.sort();
    allies.sort();
    writeln!(set.p3().0, "enemies {enemies:?}, allies {allies:?}").unwrap();
}

fn exclusive(
    world: &mut World,
    healths: &mut QueryState<&mut Health>,
    enemies: &mut QueryState<Entity, (With<Enemy>, Without<Ally>)>,
    mut runs: Local<u32>,
) {
    *runs += 1;
    for mut health in healths.iter_mut(world) {
        health.0 += 1;
    }
    let only: Vec<Entity> = enemies.iter(world).collect();
    for entity in only {
        world.entity_mut(entity).insert(Ally);
        world.write_message(Healed(2));
    }
    let (runs, all) = (*runs, healths.iter(world).count());
    writeln!(world.resource_mut::<Out>().0, "run {runs} of {all}").unwrap();
}

#[derive(Default)]
struct Fired(bool);
fn once(mut fired: Local<Fired>, mut count: Local<(u8, Vec<u8>)>, mut out: ResMut<Out>) {
    count.0 += 1;
    let number = count.0;
    count.1.push(number);
    if !fired.0 {
        fired.0 = true;
        out.0.push_str("the first time\n");
    }
    writeln!(out.0, "{:?}", count.1).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().insert_resource(Seed(7)).add_message::<Healed>();
    app.world_mut().spawn_batch((0..3).map(|n| (Health(n * 10), Enemy)));
    app.world_mut().spawn((Health(50), Ally));
    app.world_mut().spawn((Health(60), Enemy, Ally));
    // Each of the two has a count of its own.
    app.add_systems(Update, (both, exclusive, once, once).chain());
    for _ in 0..3 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
