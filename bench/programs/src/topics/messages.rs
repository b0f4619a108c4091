// Messages: readers before and after the writer, readers that pause, and how long messages live.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Message, Debug, Clone, PartialEq)]
struct Damage {
    amount: u32,
}
#[derive(Message, Default, Debug)]
struct Tick;

fn write(mut frame: Local<u32>, mut damage: MessageWriter<Damage>, mut ticks: MessageWriter<Tick>) {
    *frame += 1;
    if *frame <= 3 {
        damage.write(Damage { amount: *frame });
        damage.write_batch((0..*frame).map(|i| Damage { amount: 10 * *frame + i }));
    }
    ticks.write_default();
}

fn read<const PLACE: char>(mut damage: MessageReader<Damage>, mut out: ResMut<Out>) {
    let count = damage.len();
    let read: Vec<_> = damage.read().map(|message| message.amount).collect();
    writeln!(out.0, "{PLACE} {count} {read:?} then {}", damage.is_empty()).unwrap();
}

/// Reads in every third frame only: what is older than the last frame is gone.
fn lazy(mut frame: Local<u32>, mut ticks: MessageReader<Tick>, mut out: ResMut<Out>) {
    *frame += 1;
    if *frame % 3 == 0 {
        writeln!(out.0, "lazy {}", ticks.read().count()).unwrap();
    }
}

/// Reads messages, and forgets them.
fn forgetful(mut damage: MessageReader<Damage>, mut out: ResMut<Out>) {
    if !damage.is_empty() {
        damage.clear();
        writeln!(out.0, "cleared, now {}", damage.len()).unwrap();
    }
}

pub fn program() -> String {
    let mut app = App::new();
    app.add_message::<Damage>().add_message::<Tick>().init_resource::<Out>();
    app.add_systems(Update, (read::<'a'>, write, read::<'b'>, lazy, forgetful).chain());
    for _ in 0..6 {
        app.update();
    }
    app.world_mut().write_message(Damage { amount: 77 });
    app.update();
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
