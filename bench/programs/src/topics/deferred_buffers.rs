// What a system gathers for itself and hands to the world at the next sync point.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource, Default)]
struct Alarm(bool);
#[derive(Component)]
struct Criminal;
#[derive(Resource, Default)]
struct Guards(u32);

#[derive(Default)]
struct AlarmFlag(bool);
impl AlarmFlag {
    fn flag(&mut self) {
        self.0 = true;
    }
}
impl SystemBuffer for AlarmFlag {
    fn apply(&mut self, _: &SystemMeta, world: &mut World) {
        if std::mem::take(&mut self.0) {
            world.resource_mut::<Alarm>().0 = true;
            world.resource_mut::<Out>().0.push_str("alarm\n");
        }
    }
    fn queue(&mut self, _: &SystemMeta, mut world: DeferredWorld) {
        if std::mem::take(&mut self.0) {
            world.resource_mut::<Alarm>().0 = true;
        }
    }
}

/// Fills the place of `apply` by what may be done while structure stands still.
#[derive(Default)]
struct Shouts(Vec<u32>);
impl SystemBuffer for Shouts {
    fn queue(&mut self, _: &SystemMeta, mut world: DeferredWorld) {
        for shout in self.0.drain(..) {
            writeln!(world.resource_mut::<Out>().0, "shout {shout}").unwrap();
            world.resource_mut::<Guards>().0 += 1;
        }
    }
}

fn watch(
    criminals: Query<&Criminal>,
    mut alarm: Deferred<AlarmFlag>,
    known: Res<Alarm>,
    mut shouts: Deferred<Shouts>,
) {
    for _ in &criminals {
        alarm.flag();
        shouts.0.push(if known.0 { 2 } else { 1 });
    }
}
fn react(alarm: Res<Alarm>, guards: Res<Guards>, mut commands: Commands, mut out: ResMut<Out>) {
    writeln!(out.0, "alarm is {}, {} guards", alarm.0, guards.0).unwrap();
    if !alarm.0 {
        commands.spawn(Criminal);
    }
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().init_resource::<Alarm>().init_resource::<Guards>();
    app.add_systems(Update, (watch, react).chain());
    for _ in 0..4 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
