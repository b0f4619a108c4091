// Conditions on systems, tuples and sets, and how they are joined.

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource, PartialEq)]
struct Level(u32);
#[derive(Resource)]
struct Unlocked;
#[derive(Message)]
struct Alarm;
#[derive(Component)]
struct Enemy;
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Combat;

fn say<const WHAT: char>(mut out: ResMut<Out>) {
    out.0.push(WHAT);
}

fn director(
    mut frame: Local<u32>,
    mut level: ResMut<Level>,
    mut commands: Commands,
    mut alarm: MessageWriter<Alarm>,
) {
    *frame += 1;
    match *frame {
        2 => level.0 = 2,
        3 => {
            commands.spawn(Enemy);
        }
        4 => {
            alarm.write(Alarm);
            commands.insert_resource(Unlocked);
        }
        _ => {}
    }
}

fn every_other(mut count: Local<u32>) -> bool {
    *count += 1;
    *count % 2 == 0
}

fn end_line(mut out: ResMut<Out>) {
    out.0.push('\n');
}

pub fn program() -> String {
    let mut app = App::new();
    app.add_message::<Alarm>().init_resource::<Out>().insert_resource(Level(1));
    app.configure_sets(Update, Combat.run_if(any_with_component::<Enemy>));
    app.add_systems(
        Update,
        (
            director,
            say::<'a'>.run_if(run_once),
            say::<'b'>.run_if(resource_equals(Level(2))),
            say::<'c'>.run_if(resource_exists::<Unlocked>),
            say::<'d'>.run_if(on_message::<Alarm>),
            say::<'e'>.run_if(not(resource_exists::<Unlocked>)),
            say::<'f'>.run_if(resource_changed::<Level>),
            (say::<'g'>, say::<'h'>).chain().run_if(every_other),
            (say::<'i'>.run_if(every_other), say::<'j'>).chain().in_set(Combat),
            say::<'k'>.run_if(|level: Res<Level>| level.0 > 1).run_if(every_other),
            end_line,
        )
            .chain(),
    );
    for _ in 0..6 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
