//! Stepping: what runs in which frame, and random sessions beside a naive walk.

use super::*;
use phalanx::schedule::Stepping;

use crate::common::random::Random;
use crate::common::steps::model_steps;

fn a(mut log: ResMut<Log>) {
    log.0.push("a");
}
fn b(mut log: ResMut<Log>) {
    log.0.push("b");
}
fn c(mut log: ResMut<Log>) {
    log.0.push("c");
}
fn d(mut log: ResMut<Log>) {
    log.0.push("d");
}
fn e(mut log: ResMut<Log>) {
    log.0.push("e");
}

/// `a b c` in one schedule, `d e` in the next.
fn stepped() -> App {
    let mut app = app();
    app.add_systems(Update, (a, b, c).chain()).add_systems(PostUpdate, (d, e).chain());
    let mut stepping = Stepping::new();
    stepping.add_schedule(Update).add_schedule(PostUpdate).enable();
    app.insert_resource(stepping);
    app
}

fn frame(app: &mut App, said: impl FnOnce(&mut Stepping)) -> String {
    said(&mut app.world_mut().resource_mut::<Stepping>());
    app.step(0.0);
    log(app).join("")
}

#[test]
fn one_system_per_step() {
    let mut app = stepped();
    assert_eq!(frame(&mut app, |_| {}), "", "enabled, and not stepped");
    let steps: Vec<String> = (0..6).map(|_| frame(&mut app, |stepping| _ = stepping.step_frame())).collect();
    assert_eq!(steps, ["a", "b", "c", "d", "e", "a"]);
    assert_eq!(frame(&mut app, |_| {}), "");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.disable()), "abcde");
}

#[test]
fn continuing_goes_to_a_breakpoint_or_the_end() {
    let mut app = stepped();
    assert_eq!(frame(&mut app, |stepping| _ = stepping.set_breakpoint(Update, b).continue_frame()), "a");
    let cursor = app.world().resource::<Stepping>().cursor().expect("it is enabled");
    assert_eq!(cursor.0.to_string(), "Update");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.continue_frame()), "bcde");
    assert_eq!(
        frame(&mut app, |stepping| _ = stepping.clear_breakpoint(Update, b).continue_frame()),
        "abcde"
    );
    // A breakpoint at the first system of the next schedule stops, too.
    assert_eq!(
        frame(&mut app, |stepping| _ = stepping.set_breakpoint(PostUpdate, d).continue_frame()),
        "abc"
    );
    assert_eq!(frame(&mut app, |stepping| _ = stepping.step_frame()), "d");
}

#[test]
fn some_systems_always_run_and_some_never() {
    let mut app = stepped();
    let said = |stepping: &mut Stepping| {
        stepping.always_run(Update, b).never_run(PostUpdate, d).step_frame();
    };
    assert_eq!(frame(&mut app, said), "ab");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.step_frame()), "bc");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.step_frame()), "be");
    assert_eq!(
        frame(&mut app, |stepping| _ = stepping.clear_schedule(Update).clear_system(PostUpdate, d)),
        ""
    );
    assert_eq!(frame(&mut app, |stepping| _ = stepping.continue_frame()), "abcde");
}

#[test]
fn other_schedules_run_as_usual() {
    let mut app = stepped();
    assert_eq!(frame(&mut app, |stepping| _ = stepping.remove_schedule(PostUpdate)), "de");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.step_frame()), "ade");
    assert_eq!(app.world().resource::<Stepping>().schedules().map(Vec::len), Ok(1));
    app.world_mut().remove_resource::<Stepping>();
    app.step(0.0);
    assert_eq!(log(&mut app).join(""), "abcde", "without the resource no system is held back");
}

#[test]
fn a_system_that_is_held_back_says_so() {
    let mut app = stepped();
    frame(&mut app, |stepping| _ = stepping.step_frame());
    let why = app.schedule(Update).why_skipped(b);
    assert_eq!(why[0].to_string(), "`b` did not run: stepping held it back");
    assert_eq!(app.schedule(Update).why_skipped(a), []);
    assert_eq!(app.schedule(Update).timings()[1].skips.by_stepping, 1);
}

#[test]
fn single_systems_are_named_by_their_keys() {
    let mut app = stepped();
    frame(&mut app, |_| {});
    let keys = app.schedule(Update).keys().expect("ordered");
    let said = |stepping: &mut Stepping| {
        stepping
            .always_run_node(Update, keys[2])
            .never_run_node(Update, keys[0])
            .set_breakpoint_node(Update, keys[1]);
        stepping.continue_frame();
    };
    assert_eq!(frame(&mut app, said), "bcde", "the cursor stands at the breakpoint, and goes on");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.clear_node(Update, keys[2]).step_frame()), "b");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.clear_breakpoint_node(Update, keys[1])), "");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.continue_frame()), "cde");
}

/// A system that is held back keeps its commands and its conditions for later.
#[test]
fn conditions_of_held_systems_are_not_asked() {
    let mut app = app();
    app.add_systems(Update, a.run_if(run_once));
    let mut stepping = Stepping::new();
    stepping.add_schedule(Update).enable();
    app.insert_resource(stepping);
    assert_eq!(frame(&mut app, |_| {}), "");
    assert_eq!(frame(&mut app, |stepping| _ = stepping.step_frame()), "a");
}

/// What the naive walk knows of a system.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Said {
    Always,
    Never,
    Break,
    Nothing,
}

/// The five systems in one line; the cursor is a place in it.
struct Naive {
    enabled: bool,
    said: [Said; 5],
    cursor: usize,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

impl Naive {
    fn is_stop(&self, at: usize) -> bool {
        matches!(self.said[at], Said::Break | Said::Nothing)
    }

    fn normal(&self, from: usize) -> usize {
        (from..5).find(|&at| self.is_stop(at)).unwrap_or(5)
    }

    /// One frame: nothing, a step, or going on.
    fn frame(&mut self, wish: Option<bool>) -> String {
        if !self.enabled {
            return NAMES.concat();
        }
        // At the end of the line the next frame begins anew.
        if self.cursor >= 5 {
            self.cursor = 0;
        }
        let start = self.normal(self.cursor);
        let end = match wish {
            None => start,
            Some(true) => (start + 1).min(5),
            Some(false) => ((start + 1).min(5)..5).find(|&at| self.said[at] == Said::Break).unwrap_or(5),
        };
        let runs = |at: &usize| match self.said[*at] {
            Said::Always => true,
            Said::Never => false,
            _ => (start..end).contains(at),
        };
        let ran = (0..5).filter(runs).map(|at| NAMES[at]).collect();
        self.cursor = self.normal(end);
        ran
    }
}

fn say(stepping: &mut Stepping, at: usize, said: Said) {
    macro_rules! say {
        ($schedule:expr, $system:ident) => {
            match said {
                Said::Always => stepping.always_run($schedule, $system),
                Said::Never => stepping.never_run($schedule, $system),
                Said::Break => stepping.set_breakpoint($schedule, $system),
                Said::Nothing => stepping.clear_system($schedule, $system),
            }
        };
    }
    match at {
        0 => say!(Update, a),
        1 => say!(Update, b),
        2 => say!(Update, c),
        3 => say!(PostUpdate, d),
        _ => say!(PostUpdate, e),
    };
}

#[test]
fn random_sessions_agree_with_a_naive_walk() {
    let steps = model_steps(4_000, 4_000);
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let mut app = stepped();
        let mut naive = Naive { enabled: true, said: [Said::Nothing; 5], cursor: 0 };
        assert_eq!(frame(&mut app, |_| {}), naive.frame(None));
        for step in 0..steps / 10 {
            let mut stepping = app.world_mut().resource_mut::<Stepping>();
            let mut wish = None;
            match random.below(10) {
                0..3 => {
                    let at = random.below(5);
                    let said = [Said::Always, Said::Never, Said::Break, Said::Nothing][random.below(4)];
                    say(&mut stepping, at, said);
                    naive.said[at] = said;
                }
                3..6 => {
                    stepping.step_frame();
                    wish = Some(true);
                }
                6..8 => {
                    stepping.continue_frame();
                    wish = Some(false);
                }
                8 if random.chance(4) => {
                    stepping.disable();
                    naive.enabled = false;
                }
                8 => {
                    stepping.enable();
                    naive.cursor = if naive.enabled { naive.cursor } else { 0 };
                    naive.enabled = true;
                }
                _ => {}
            }
            let was = naive.cursor;
            let ran = frame(&mut app, |_| {});
            assert_eq!(
                ran,
                naive.frame(wish),
                "seed {seed}, step {step}, {:?}, from {was}, {wish:?}",
                naive.said
            );
            let stepping = app.world().resource::<Stepping>();
            assert_eq!(stepping.is_enabled(), naive.enabled);
            if naive.enabled {
                let known = stepping.cursor().map(|(label, _)| label.to_string());
                let expected = ["Update", "Update", "Update", "PostUpdate", "PostUpdate"];
                assert_eq!(known.as_deref(), expected.get(naive.cursor).copied(), "seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn the_systems_that_are_skipped_are_those_that_do_not_run() {
    let session = |asks: bool| {
        let mut world = World::new();
        world.init_resource::<Log>();
        let mut schedule = Schedule::new(Update);
        schedule.add_systems((a, b, c).chain());
        let mut stepping = Stepping::new();
        assert_eq!(stepping.skipped_systems(&schedule), None, "stepping is off");
        stepping.add_schedule(Update).enable().always_run(Update, c);
        world.insert_resource(stepping);
        schedule.initialize(&mut world).expect("no cycle");
        let keys: Vec<_> = schedule.systems().expect("it is ready").map(|(key, _)| key).collect();
        let mut told = Vec::new();
        for frame in 0..5 {
            world.resource_mut::<Stepping>().step_frame();
            world.run_system_once(Stepping::begin_frame).expect("it can be run");
            if asks {
                let skipped = world.resource_mut::<Stepping>().skipped_systems(&schedule);
                let skipped = skipped.unwrap_or_else(|| panic!("frame {frame} is stepped"));
                let ran = keys.iter().zip(["a", "b", "c"]).filter(|(key, _)| !skipped.contains(key));
                told.push(ran.map(|(_, name)| name).collect::<String>());
            } else {
                schedule.run(&mut world);
                told.push(std::mem::take(&mut world.resource_mut::<Log>().0).concat());
            }
        }
        told
    };
    assert_eq!(session(true), ["ac", "bc", "ac", "bc", "ac"]);
    assert_eq!(session(true), session(false));
}
