//! What is said at run time when a program is wrong: what, where, and what to do. Compile errors are in `ui`.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::error::ignore;
use phalanx::prelude::*;

#[derive(Component)]
struct Health(f32);
#[derive(Component)]
struct Player;
#[derive(Resource, Default)]
struct Log(Vec<String>);

fn text_of<T>(f: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("it does not panic") };
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a text")).to_owned(),
    }
}
fn listening() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.set_error_handler(|world, error| world.resource_mut::<Log>().0.push(error.to_string()));
    app
}
fn log(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.resource_mut::<Log>().0)
}

#[test]
fn a_query_that_asks_twice_names_its_system_and_both_terms() {
    fn twice(_: Query<(&mut Health, &Health), With<Player>>) {}
    let mut app = App::new();
    assert_eq!(
        text_of(|| _ = app.add_systems(Update, twice)),
        "`&mut Health` and `&Health` in `Query<(&mut Health, &Health), With<Player>>` of system `twice` use the same \
         data, and one of them writes: ask for it once"
    );
}

#[test]
fn parameters_that_conflict_are_named_with_what_they_share() {
    fn both(_: ResMut<Log>, _: Res<Log>) {}
    let mut app = App::new();
    assert_eq!(
        text_of(|| _ = app.add_systems(Update, both)),
        "parameters `ResMut<Log>` and `Res<Log>` of system `both` both use `Log`, and one of them writes: merge them, \
         or put them into a `ParamSet`"
    );
}

#[test]
fn an_order_against_itself_names_the_system() {
    fn again() {}
    let mut app = App::new();
    app.add_systems(Update, again.after(again));
    assert_eq!(
        text_of(|| app.step(0.0)),
        "phase `Update`: `again` cannot be ordered: it is ordered before or after itself, or a set that it lies in; \
         remove that constraint"
    );
}

#[test]
fn an_order_against_an_absent_system_names_both() {
    fn here() {}
    fn elsewhere() {}
    let mut app = App::new();
    app.add_systems(Update, here.after(elsewhere));
    let text = "`here` is ordered relative to `elsewhere`, which has no system in this schedule: the constraint is \
        ignored; remove it, or add both to one phase";
    assert_eq!(app.schedule(Update).warnings()[0].to_string(), text);
    app.step(0.0);
    app.configure(AppConfig { strict: true, ..Default::default() });
    assert_eq!(text_of(|| app.step(0.0)), format!("phase `Update`: {text}"));
}

#[test]
fn an_order_against_a_system_that_is_there_twice_names_both() {
    fn often() {}
    fn later() {}
    let mut app = App::new();
    app.add_systems(Update, (often, later.after(often), often));
    assert_eq!(
        app.schedule(Update).repeated()[0].to_string(),
        "`later` is ordered relative to `often`, which was added 2 times: the order holds for all of them; add it \
         once, or put the one that is meant into a set and name that"
    );
    assert_eq!(app.schedule(Update).order().unwrap().last().map(String::as_str), Some("later"));
}

#[test]
fn a_system_that_comes_too_late_for_start_up_is_named() {
    fn late(mut log: ResMut<Log>) {
        log.0.push("ran".to_owned());
    }
    let text = "system `late` failed: it was added to phase `Startup`, which has run already and does not run again: \
        add it before the first frame, or run it now with `world.run_system_once`";
    let mut app = App::new();
    app.step(0.0);
    assert_eq!(text_of(|| _ = app.add_systems(Startup, late)), text);

    let mut app = listening();
    app.startup();
    app.add_systems(Startup, late).add_systems(Update, || ());
    assert_eq!(log(app.world_mut()), [text]);
    app.run_phase(Startup);
    assert_eq!(log(app.world_mut()), ["ran"], "it is there all the same");
}

#[test]
fn time_that_cannot_be_is_told_with_its_value() {
    let text = |dt| {
        format!(
            "a frame cannot take {dt} seconds: give zero or more, and so little that the time elapsed stays below 584 \
             billion years"
        )
    };
    let mut app = App::new();
    for dt in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(text_of(|| app.step(dt)), text(dt));
    }
    app.step(1e19);
    assert_eq!(text_of(|| app.step(1e19)), text(1e19));
    assert_eq!(app.world().resource::<Time>().frame(), 1);
}

#[test]
fn a_command_that_fails_is_named_without_paths() {
    #[derive(States, Clone, Debug, PartialEq, Eq, Hash)]
    struct Level(u32);
    let mut app = listening();
    app.add_systems(Update, |mut commands: Commands| commands.set_state(Level(1)));
    app.step(0.0);
    let heard = log(app.world_mut());
    assert!(
        heard[0].starts_with("command `set_state<Level>::{closure}` failed: there is no state "),
        "{heard:?}"
    );
}

#[test]
fn a_command_that_queues_itself_ends_with_its_name() {
    fn again(world: &mut World) {
        world.commands().queue(again);
    }
    fn double(world: &mut World) {
        world.commands().queue(double);
        world.commands().queue(double);
    }
    let mut app = listening();
    app.add_systems(Update, |mut commands: Commands| commands.queue(again));
    app.step(0.0);
    let heard = log(app.world_mut());
    assert_eq!(heard.len(), 1);
    assert!(heard[0].starts_with("command `systems::error_texts::"), "{}", heard[0]);
    assert!(
        heard[0].ends_with(
            "::again` failed: commands that it queued queued commands, 100001 times over, and 1 wait: a command that \
             queues itself never ends; queue it from a system, once per frame"
        ),
        "{}",
        heard[0]
    );
    app.world_mut().commands().queue(double);
    app.world_mut().flush();
    let heard = log(app.world_mut());
    assert!(heard[0].contains("::double` failed: ") && heard[0].contains(", 21 times over"), "{}", heard[0]);

    let mut world = World::new();
    world.commands().queue(again);
    assert!(text_of(|| world.flush()).contains("::again` failed: "));
    // Nothing of it is left.
    world.flush();
}

#[test]
fn commands_may_queue_commands_many_at_once_and_many_deep() {
    fn down(world: &mut World, left: u32) {
        if left > 0 {
            world.commands().queue(move |world: &mut World| down(world, left - 1));
        } else {
            world.spawn(Player);
        }
    }
    let mut world = World::new();
    world.commands().queue(|world: &mut World| {
        for _ in 0..10 {
            world.commands().queue(|world: &mut World| down(world, 5_000));
        }
    });
    world.flush();
    assert_eq!(world.view::<&Player>().count(), 10);
}

#[test]
fn a_single_match_that_is_none_or_several_names_the_query() {
    let mut world = World::new();
    fn text(world: &mut World) -> String {
        let found =
            world.run_system_once(|all: Query<(Entity, &mut Health), With<Player>>| all.single().map(drop));
        found.expect("its parameters are there").expect_err("none or several").to_string()
    }
    assert_eq!(
        text(&mut world),
        "no entity matches `Query<(Entity, &mut Health), With<Player>>`, where one was expected"
    );
    world.spawn((Health(1.0), Player));
    world.spawn((Health(2.0), Player));
    assert_eq!(
        text(&mut world),
        "several entities match `Query<(Entity, &mut Health), With<Player>>`, where one was expected: add a filter, \
         or iterate"
    );
    assert_eq!(world.view::<&Health>().iter().map(|health| health.0).sum::<f32>(), 3.0);
}

#[test]
fn a_handler_that_ignores_lets_the_program_go_on() {
    let mut world = World::new();
    world.set_error_handler(ignore);
    fn again(world: &mut World) {
        world.commands().queue(again);
    }
    world.commands().queue(again);
    world.flush();
    world.spawn(Player);
}

#[test]
fn a_set_in_which_one_reads_the_world_and_another_writes_is_refused() {
    fn both(mut set: ParamSet<(&World, Query<&mut Health>)>) {
        let _ = set.p0();
    }
    let mut app = App::new();
    let error = app.try_add_systems(Update, both).expect_err("they can never run in one session");
    let text = error.to_string();
    assert!(text.contains("parameters `&World` and `Query<&mut Health>` of system"), "{text}");
    assert!(text.contains("take `&mut World` alone"), "{text}");
}

#[test]
fn a_value_of_one_thread_that_is_missing_names_the_parameter_and_what_to_do() {
    fn draw(_: NonSend<std::rc::Rc<u8>>) {}
    let mut app = listening();
    app.add_systems(Update, draw);
    app.step(0.0);
    assert_eq!(
        log(app.world_mut()),
        [
            "system `draw` failed: its parameter `NonSend<Rc<u8>>` needs a value that was inserted on this thread: insert \
             it with `insert_non_send` on the thread that runs the schedule"
        ]
    );
}

#[test]
fn requirements_that_cannot_be_name_both_components() {
    #[derive(Component, Default)]
    struct Sail;
    #[derive(Component, Default)]
    struct Mast;
    let mut world = World::new();
    world.register_required_components::<Sail, Mast>();
    let text = |result: Result<(), phalanx::registry::RequiredComponentsError>| {
        result.expect_err("it cannot be").to_string()
    };
    let duplicate = text(world.try_register_required_components::<Sail, Mast>());
    assert!(
        duplicate.contains("Sail") && duplicate.contains("Mast") && duplicate.contains("once"),
        "{duplicate}"
    );
    let cycle = text(world.try_register_required_components::<Mast, Sail>());
    assert!(cycle.contains("cannot require") && cycle.contains("drop one of the two"), "{cycle}");
    world.spawn(Mast);
    let late = text(world.try_register_required_components_with::<Mast, Player>(|| Player));
    assert!(late.contains("Mast") && late.contains("before the first entity gets it"), "{late}");
}

#[test]
fn an_entity_that_is_asked_for_twice_is_named() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    let error = world.get_entity_mut([entity, entity]).expect_err("named twice");
    assert_eq!(error.to_string(), "entity 0v0 is asked for twice at once: name each entity once");
}

#[test]
fn a_state_of_parameters_tells_another_world_from_its_own() {
    let mut world = World::new();
    let mut state = SystemState::<Commands>::new(&mut world);
    let text = text_of(|| state.get_mut(&mut World::new(), |_| ()));
    assert!(text.contains("made for another world") && text.contains("SystemState::new"), "{text}");
}

#[test]
fn a_batch_that_could_not_be_inserted_names_the_bundle_and_the_first_entity() {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    world.despawn(entity);
    let error = world.try_insert_batch([(entity, Player)]).expect_err("it is dead");
    let text = error.to_string();
    assert!(text.contains("1 entities could not get") && text.contains("the first of them 0v0"), "{text}");
}

#[test]
fn an_app_that_is_not_beside_this_one_is_named() {
    #[derive(AppLabel, Debug)]
    struct Sound;
    assert_eq!(
        text_of(|| App::new().sub_app(Sound).world().entity_count()),
        "there is no app `Sound` beside this one: add it with `insert_sub_app`, or ask with `get_sub_app`"
    );
}
