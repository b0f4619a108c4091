// Systems that run when asked: by id, by themselves, from other systems and from commands.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource)]
struct Callbacks {
    greet: SystemId,
    add: SystemId<In<i32>, i32>,
}
#[derive(Component)]
struct Trigger(u32);
#[derive(Component)]
struct Spawned;

fn greet(mut times: Local<u32>, mut out: ResMut<Out>) {
    *times += 1;
    writeln!(out.0, "hello {}", *times).unwrap();
}
fn add(In(by): In<i32>, mut sum: Local<i32>) -> i32 {
    *sum += by;
    *sum
}
fn spawn(mut commands: Commands) {
    commands.spawn(Spawned);
}
fn count(spawned: Query<&Spawned>) -> usize {
    spawned.iter().count()
}

fn trigger(mut commands: Commands, mut triggers: Query<&mut Trigger>, callbacks: Res<Callbacks>) {
    for mut trigger in &mut triggers {
        trigger.0 += 1;
        if trigger.0 % 2 == 0 {
            commands.run_system(callbacks.greet);
            commands.run_system_cached(spawn);
        }
    }
}
fn ask(world: &mut World) {
    let add = world.resource::<Callbacks>().add;
    let sum = world.run_system_with(add, 5).unwrap();
    let spawned = world.run_system_cached(count).unwrap();
    writeln!(world.resource_mut::<Out>().0, "sum {sum}, spawned {spawned}").unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    let world = app.world_mut();
    let callbacks = Callbacks { greet: world.register_system(greet), add: world.register_system(add) };
    world.insert_resource(callbacks);
    world.spawn(Trigger(0));
    world.spawn(Trigger(1));
    app.add_systems(Update, (trigger, ask).chain());
    for _ in 0..3 {
        app.update();
    }
    let world = app.world_mut();
    let greet = world.resource::<Callbacks>().greet;
    world.run_system(greet).unwrap();
    let again = world.register_system(add);
    let fresh = world.run_system_with(again, 1).unwrap();
    let unregistered = world.unregister_system(greet).is_ok();
    let gone = world.run_system(greet).is_err();
    let mut out = std::mem::take(&mut world.resource_mut::<Out>().0);
    writeln!(out, "fresh {fresh}, unregistered {unregistered}, gone {gone}").unwrap();
    out
}
