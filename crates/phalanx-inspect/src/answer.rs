//! Answering calls between frames: from a request to its method, and back.
//!
//! A search answers with what it found so far, and goes on between frames for as long as a client asks for it. A method
//! that panics, as the user's `Debug` or `Drop` may, is answered with an error, and the app goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use phalanx::prelude::{App, Time};
use phalanx::schedule::SystemView;

use crate::difference::difference;
use crate::find::Plan;
use crate::json::Json;
use crate::methods;
use crate::protocol::{CHANGING, Failure, METHODS, failure, success};
use crate::query_text;
use crate::search::Search;
use crate::shared::Call;
use crate::tool::{STEP, State};
use crate::why::why;

/// How long a call looks that begins a search, at most: few searches take longer.
const FIRST_LOOK: Duration = Duration::from_micros(200);
/// How long a call looks that asks for a search again, at most: it goes on without that, if slowly. One that can wait
/// looks at a few entities only.
const NEXT_LOOK: Duration = Duration::from_micros(50);
/// No more searches are kept.
const MAX_SEARCHES: usize = 8;

/// Answers a call, within a time if it can be cut short. Writing the answer as text is left to the caller.
pub fn answer(app: &mut App, state: &mut State, call: &Call, until: Instant) -> Json {
    let request = &call.request;
    let id = request.get("id").cloned().unwrap_or(Json::Null);
    let raw = request.get("raw").is_some();
    let result = catch_unwind(AssertUnwindSafe(|| checked_call(app, state, call, until)));
    let panicked =
        || Err(Failure(-32603, "a function of the app panicked while this was answered".to_owned()));
    match result.unwrap_or_else(|_| panicked()) {
        Ok(result) if raw => result,
        Ok(result) => success(&id, result),
        Err(Failure(code, reason)) => failure(&id, code, &reason),
    }
}

fn checked_call(app: &mut App, state: &mut State, call: &Call, until: Instant) -> Result<Json, Failure> {
    let request = &call.request;
    let Some(method) = request.get("method").and_then(Json::as_text) else {
        return Err(Failure(-32600, "a call has a `method`".to_owned()));
    };
    if !METHODS.contains(&method) {
        let text = format!("there is no method `{method}`; there are {}", METHODS.join(", "));
        return Err(Failure(-32601, text));
    }
    if CHANGING.contains(&method) && !state.edits {
        let text = "this inspector is read-only: start it with `Inspector::default().allow_edits()`";
        return Err(Failure(-32001, text.to_owned()));
    }
    let params = request.get("params").unwrap_or(&Json::Null);
    match method {
        "world.query" => search(app, state, params, call.patient, until),
        _ => result(app, state, method, params),
    }
}

fn result(app: &mut App, state: &mut State, method: &str, params: &Json) -> Result<Json, Failure> {
    match method {
        "world.get" => methods::get(app.world(), params),
        "world.set" => methods::set(app.world_mut(), params),
        "world.spawn" => methods::spawn(app.world_mut(), params),
        "world.despawn" => methods::despawn(app.world_mut(), params),
        "world.insert" => methods::insert(app.world_mut(), params),
        "world.remove" => methods::remove(app.world_mut(), params),
        "world.components" => Ok(methods::components(app.world())),
        "world.tables" => Ok(methods::tables(app.world(), state.want_advisor())),
        "world.points" => methods::points(app.world(), params),
        "world.difference" => difference(app, params),
        "world.stats" => Ok(state.stats(app)),
        "app.schedule" => Ok(schedule(app)),
        "app.timeline" => {
            let frames = params.get("frames").and_then(Json::as_usize).unwrap_or(60);
            Ok(state.want_timeline(app).to_json(frames))
        }
        "app.trace" => Ok(state.want_timeline(app).to_trace()),
        "app.pause" => Ok(state.pause(true, 0)),
        "app.resume" => Ok(state.pause(false, 0)),
        "app.step" => {
            let frames = params.get("frames").and_then(Json::as_usize).unwrap_or(1);
            Ok(state.pause(true, frames.min(10_000)))
        }
        "app.step_system" => step_system(app, state),
        "app.rewind" => {
            let frames = params.get("frames").and_then(Json::as_usize).unwrap_or(1);
            app.rewind(frames).map_err(Failure::params)?;
            // What was found is of another time.
            state.searches.clear();
            state.frames = app.world().resource::<Time>().frame();
            state.system = None;
            Ok(state.pause(true, 0))
        }
        "why" => why(app, params),
        _ => Ok(discover(state)),
    }
}

/// `app.step_system`
fn step_system(app: &mut App, state: &mut State) -> Result<Json, Failure> {
    state.pause(true, 0);
    let ran = app.step_system(STEP.as_secs_f64()).map_err(Failure::params)?;
    state.frames = app.world().resource::<Time>().frame();
    let (phase, system) = ran.map(|(phase, system)| (phase.to_string(), system)).unzip();
    state.system = phase.as_ref().zip(system.as_ref()).map(|(phase, system)| format!("{phase}/{system}"));
    Ok(Json::object([("phase", phase.into()), ("system", system.into()), ("frame", state.frames.into())]))
}

fn discover(state: &State) -> Json {
    Json::object([
        ("methods", Json::list(METHODS.iter().copied())),
        ("edits", state.edits.into()),
        ("map", state.map.as_ref().map_or(Json::Null, |map| Json::list(map.iter()))),
        ("version", env!("CARGO_PKG_VERSION").into()),
    ])
}

/// `world.query`
fn search(
    app: &App,
    state: &mut State,
    params: &Json,
    patient: bool,
    until: Instant,
) -> Result<Json, Failure> {
    let text = params.get("query").and_then(Json::as_text).unwrap_or_default();
    let offset = params.get("offset").and_then(Json::as_usize).unwrap_or(0);
    let limit = params.get("limit").and_then(Json::as_usize).unwrap_or(100).min(1000);
    let fresh = params.get("fresh") == Some(&Json::Bool(true));
    let world = app.world();
    let known = state.searches.iter().position(|search| search.text == text);
    let mut search = match known.map(|at| state.searches.remove(at)).filter(|_| !fresh) {
        Some(search) => search,
        None => {
            let terms = query_text::parse(text).map_err(Failure::params)?;
            Search::new(text, Plan::new(world, &terms).map_err(Failure::params)?)
        }
    };
    let look = match (search.is_new(), patient) {
        (true, _) => FIRST_LOOK,
        (false, false) => NEXT_LOOK,
        (false, true) => Duration::ZERO,
    };
    search.want();
    search.go_on(world, until.min(Instant::now() + look));
    let page = methods::found(world, search.page(world, offset, limit));
    state.searches.truncate(MAX_SEARCHES - 1);
    state.searches.insert(0, search);
    Ok(page)
}

/// Goes on with the search that was asked for last, until a moment.
pub fn go_on(app: &App, state: &mut State, until: Instant) {
    let Some(at) = state.searches.iter().position(Search::goes_on) else { return };
    let mut search = state.searches.remove(at);
    // One that panics is forgotten: asking for it again begins anew, and gets the panic as an error.
    if catch_unwind(AssertUnwindSafe(|| search.go_on(app.world(), until))).is_ok() {
        state.searches.insert(at, search);
    }
}

/// `app.schedule`
fn schedule(app: &App) -> Json {
    let phases = app.phase_views().filter(|(_, view)| !view.is_empty()).map(|(label, view)| {
        let systems = match view.system_views() {
            Ok(systems) => systems,
            Err(cycle) => {
                return Json::object([
                    ("phase", label.to_string().into()),
                    ("error", cycle.to_string().into()),
                ]);
            }
        };
        let conflicts = view.conflicts().unwrap_or_default();
        let place = |name: &str| systems.iter().position(|system| system.name == name);
        let pairs: Vec<(usize, usize, Json)> = conflicts
            .iter()
            .filter_map(|pair| {
                Some((place(&pair.first)?, place(&pair.second)?, Json::list(pair.parts.iter())))
            })
            .collect();
        let waves = waves(&systems, &pairs);
        let list = systems.iter().zip(&waves).map(|(system, wave)| {
            Json::object([
                ("name", system.name.clone().into()),
                ("level", system.level.into()),
                ("wave", (*wave).into()),
                ("sync", system.is_sync.into()),
                ("exclusive", system.exclusive.into()),
                ("defers", system.defers.into()),
                ("conditions", Json::list(system.conditions.iter())),
                ("skipped", system.skipped.as_ref().map(ToString::to_string).into()),
                ("reads", Json::list(system.reads.iter())),
                ("writes", Json::list(system.writes.iter())),
                ("queries", Json::list(system.queries.iter().map(ToString::to_string))),
                ("after", Json::list(system.after.iter().copied())),
            ])
        });
        let list = Json::list(list.collect::<Vec<_>>());
        let conflicts = pairs
            .into_iter()
            .map(|(first, second, parts)| Json::List(vec![first.into(), second.into(), parts]));
        Json::object([
            ("phase", label.to_string().into()),
            ("systems", list),
            ("conflicts", Json::list(conflicts.collect::<Vec<_>>())),
            ("warnings", Json::list(view.warnings().iter().map(ToString::to_string))),
        ])
    });
    Json::object([("phases", Json::list(phases.collect::<Vec<_>>()))])
}

/// For each system the step in which it could run if threads were free: those of one step run side by side.
fn waves(systems: &[SystemView], conflicts: &[(usize, usize, Json)]) -> Vec<usize> {
    let mut waves = vec![0; systems.len()];
    let mut level_start = 0;
    for at in 0..systems.len() {
        if at > 0 && systems[at].level != systems[at - 1].level {
            level_start = waves[..at].iter().max().map_or(0, |last| last + 1);
        }
        let declared = systems[at].after.iter().copied();
        let conflicting = conflicts.iter().filter(|(_, second, _)| *second == at).map(|(first, _, _)| *first);
        let after =
            declared.chain(conflicting).filter(|&before| before < at).map(|before| waves[before] + 1).max();
        waves[at] = after.unwrap_or(0).max(level_start);
    }
    waves
}
