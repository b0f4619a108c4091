// A fixed step without a clock: frames of different length, and a schedule that runs as often as their time allows.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
/// Time in thousandths of a second.
#[derive(Resource, Default)]
struct Frame(u32);
#[derive(Resource, Default)]
struct Left(u32);
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Fixed;
#[derive(Message)]
struct Key(char);
tracked! { struct Position(i32); }

const STEP: u32 = 20;

fn press(mut pressed: Local<u8>, mut keys: MessageWriter<Key>) {
    keys.write(Key(char::from(b'a' + *pressed)));
    *pressed += 1;
}
fn run_fixed(world: &mut World) {
    let due = world.resource::<Left>().0 + world.resource::<Frame>().0;
    world.resource_mut::<Left>().0 = due % STEP;
    for _ in 0..due / STEP {
        world.run_schedule(Fixed);
    }
}
fn simulate(mut positions: Query<&mut Position>, mut keys: MessageReader<Key>, mut out: ResMut<Out>) {
    for mut position in &mut positions {
        position.0 += 1;
    }
    // What was written in a frame is seen by the first step after it, and once, unless a frame has come between.
    let keys: String = keys.read().map(|key| key.0).collect();
    write!(out.0, "step({keys}) ").unwrap();
}
fn render(changed: Query<&Position, Changed<Position>>, left: Res<Left>, mut out: ResMut<Out>) {
    let changed: Vec<_> = changed.iter().map(|position| position.0).collect();
    writeln!(out.0, "frame {changed:?}, {} left", left.0).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().init_resource::<Frame>().init_resource::<Left>().add_message::<Key>();
    app.add_systems(Fixed, simulate);
    app.add_systems(PreUpdate, (press, run_fixed).chain());
    app.add_systems(Update, render);
    app.world_mut().spawn(Position(0));
    for frame in [16, 16, 50, 3, 4, 33, 0] {
        app.world_mut().resource_mut::<Frame>().0 = frame;
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
