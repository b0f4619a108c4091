// Schedules of one's own: built apart, kept in the world, run by systems and commands, changed in between.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Turn;
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Cleanup;
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Move,
    Fight,
}
#[derive(Component)]
struct Piece(u32);

fn say<const WHAT: char>(mut out: ResMut<Out>) {
    out.0.push(WHAT);
}
fn spawn(mut commands: Commands, pieces: Query<&Piece>) {
    commands.spawn(Piece(pieces.iter().count() as u32));
}
fn count(pieces: Query<&Piece>, mut out: ResMut<Out>) {
    write!(out.0, "{}", pieces.iter().count()).unwrap();
}
fn clear(mut commands: Commands, pieces: Query<(Entity, &Piece)>) {
    for (entity, piece) in &pieces {
        if piece.0 % 2 == 0 {
            commands.entity(entity).despawn();
        }
    }
}

/// Two turns per frame, and a cleanup after each second frame.
fn driver(world: &mut World, mut frame: Local<u32>) {
    *frame += 1;
    for _ in 0..2 {
        world.run_schedule(Turn);
        world.resource_mut::<Out>().0.push('|');
    }
    if *frame % 2 == 0 {
        world.commands().run_schedule(Cleanup);
    }
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();

    let mut turn = Schedule::new(Turn);
    turn.configure_sets((Step::Move, Step::Fight).chain());
    turn.add_systems((count.in_set(Step::Fight), spawn.in_set(Step::Move), say::<'t'>.before(Step::Move)));
    app.world_mut().add_schedule(turn);
    app.add_systems(Cleanup, (say::<'c'>, clear).chain());
    app.add_systems(Update, (driver, count, say::<'\n'>).chain());

    app.update();
    app.update();
    let missing = app.world_mut().try_run_schedule(Missing).is_err();
    app.world_mut().schedule_scope(Turn, |world, schedule| {
        schedule.add_systems(say::<'!'>.after(Step::Fight));
        schedule.run(world);
    });
    app.update();
    let mut out = std::mem::take(&mut app.world_mut().resource_mut::<Out>().0);
    writeln!(out, "missing {missing}").unwrap();
    out
}

#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Missing;
