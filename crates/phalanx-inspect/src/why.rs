//! Why: an entity that a query or a system does not visit, two systems in this order, what uses a component.
//!
//! Every answer is a text that can stand alone, with the parts it was made from beside it.

use phalanx::prelude::{App, Entity, World};
use phalanx::schedule::{ConflictPair, SystemView};

use crate::find::Plan;
use crate::json::Json;
use crate::protocol::Failure;
use crate::query_text::{self, Term};
use crate::values::{self, component, short};

/// Answers a question, by what it names.
pub fn why(app: &App, params: &Json) -> Result<Json, Failure> {
    let world = app.world();
    let text = |key: &str| params.get(key).and_then(Json::as_text);
    if let (Some(first), Some(second)) = (text("first"), text("second")) {
        return order(app, first, second);
    }
    if let Some(name) = text("component") {
        return users(app, name);
    }
    let Some(entity) = params.get("entity") else {
        return Err(Failure::params(
            "say what to explain: `entity`, alone or with `system` or `query`, `first` and `second`, or `component`",
        ));
    };
    let entity = values::entity(world, entity)?;
    match (text("system"), text("query")) {
        (Some(system), _) => not_visited(app, system, entity),
        (None, Some(query)) => not_matched(world, query, entity),
        (None, None) => Ok(visitors(app, entity)),
    }
}

/// A system and where it is.
struct Found {
    phase: String,
    at: usize,
    systems: Vec<SystemView>,
    conflicts: Vec<ConflictPair>,
}

fn find(app: &App, name: &str) -> Result<Found, Failure> {
    let (wanted_phase, wanted) =
        name.split_once('/').map_or((None, name), |(phase, name)| (Some(phase), name));
    for (label, view) in app.phase_views() {
        let phase = label.to_string();
        if wanted_phase.is_some_and(|wanted| wanted != phase) {
            continue;
        }
        let Ok(systems) = view.system_views() else { continue };
        if let Some(at) = systems.iter().position(|system| system.name == wanted) {
            return Ok(Found { phase, at, conflicts: view.conflicts().unwrap_or_default(), systems });
        }
    }
    Err(Failure::params(format!("there is no system `{name}`")))
}

/// Whether a system's queries visit an entity.
struct Visit {
    visited: bool,
    /// For each query that does not, what it asks for and what the entity is.
    reasons: Vec<String>,
    queries: Vec<Json>,
}

impl Visit {
    fn of(world: &World, system: &SystemView, entity: Entity) -> Self {
        let mut visit = Self { visited: false, reasons: Vec::new(), queries: Vec::new() };
        for (number, query) in system.queries.iter().enumerate() {
            let unmet = world.unmet(query, entity).unwrap_or_default();
            visit.visited |= unmet.is_empty();
            let unmet: Vec<String> = unmet.iter().map(|part| in_words(&part.to_string())).collect();
            if !unmet.is_empty() {
                visit.reasons.push(format!(
                    "query {} asks for entities {query}; this one {}",
                    number + 1,
                    unmet.join(", and ")
                ));
            }
            let (asks, unmet) = (query.to_string(), Json::list(unmet));
            visit.queries.push(Json::object([("asks", asks.into()), ("unmet", unmet)]));
        }
        visit
    }
}

/// Why a system did not run, without its name.
fn skip_reason(system: &SystemView) -> Option<String> {
    let reason = system.skipped.as_ref()?.to_string();
    Some(reason.split_once(": ").map_or(reason.as_str(), |(_, reason)| reason).to_owned())
}

/// All systems with queries: which visit an entity, and why the others do not.
fn visitors(app: &App, entity: Entity) -> Json {
    let (mut list, mut names) = (Vec::new(), Vec::new());
    for (label, view) in app.phase_views() {
        for system in
            view.system_views().unwrap_or_default().iter().filter(|system| !system.queries.is_empty())
        {
            let visit = Visit::of(app.world(), system, entity);
            let name = format!("{label}/{}", system.name);
            let skipped = skip_reason(system);
            if visit.visited && skipped.is_none() {
                names.push(name.clone());
            }
            let reason = match (visit.visited, &skipped) {
                (true, None) => None,
                (true, Some(reason)) => Some(format!("it did not run in the last frame: {reason}")),
                (false, _) => Some(visit.reasons.join("; ")),
            };
            list.push(Json::object([
                ("system", name.into()),
                ("visits", visit.visited.into()),
                ("skipped", skipped.into()),
                ("reason", reason.into()),
                ("writes", Json::list(system.writes.iter())),
            ]));
        }
    }
    let text = match (names.is_empty(), list.is_empty()) {
        (_, true) => "No system has a query.".to_owned(),
        (true, _) => format!("No system visits {entity}."),
        (false, _) => format!("{entity} is visited by {}.", names.join(", ")),
    };
    Json::object([("text", text.into()), ("systems", Json::List(list))])
}

fn not_visited(app: &App, name: &str, entity: Entity) -> Result<Json, Failure> {
    let found = find(app, name)?;
    let system = &found.systems[found.at];
    let Visit { visited, reasons, queries } = Visit::of(app.world(), system, entity);
    let mut text = match (system.queries.is_empty(), visited) {
        (true, _) => format!("`{name}` has no query: it does not visit entities one by one."),
        (false, true) => format!("`{name}` visits {entity}: it meets all that one of its queries asks for."),
        (false, false) => format!("`{name}` does not visit {entity}: {}.", reasons.join("; ")),
    };
    if let Some(reason) = skip_reason(system) {
        text.push_str(&format!(" It did not run in the last frame: {reason}."));
    } else if visited && !system.writes.is_empty() {
        text.push_str(&format!(" It writes {}.", system.writes.join(", ")));
    }
    Ok(Json::object([
        ("text", text.into()),
        ("visits", visited.into()),
        ("skipped", system.skipped.is_some().into()),
        ("queries", Json::List(queries)),
    ]))
}

/// `with Velocity` as what is wrong with an entity.
fn in_words(unmet: &str) -> String {
    match unmet.split_once(' ') {
        Some(("with", name)) => format!("has no `{name}`"),
        Some(("without", name)) => format!("has `{name}`"),
        _ => format!("is not {unmet}"),
    }
}

fn not_matched(world: &World, text: &str, entity: Entity) -> Result<Json, Failure> {
    let terms = query_text::parse(text).map_err(Failure::params)?;
    let mut unmet = Vec::new();
    for term in &terms {
        let plan = Plan::new(world, std::slice::from_ref(term)).map_err(Failure::params)?;
        if !plan.holds(world, entity) {
            unmet.push(fault(world, term, entity));
        }
    }
    let text = if unmet.is_empty() {
        format!("{entity} matches `{text}`.")
    } else {
        format!("{entity} does not match: it {}.", unmet.join(", and it "))
    };
    Ok(Json::object([
        ("text", text.into()),
        ("visits", unmet.is_empty().into()),
        ("unmet", Json::list(unmet)),
    ]))
}

fn fault(world: &World, term: &Term, entity: Entity) -> String {
    match term {
        Term::Any(names) if names.len() == 1 => format!("has no `{}`", names[0]),
        Term::Any(names) => format!("has none of `{}`", names.join("`, `")),
        Term::Not(name) => format!("has `{name}`"),
        Term::Compare { component: name, field: path, .. } => {
            let Ok(info) = component(world, name) else { return format!("has no `{name}`") };
            if !world.entity(entity).contains_id(info.id()) {
                return format!("has no `{name}`");
            }
            match values::field(info, path) {
                Ok(field) => format!("has `{name}.{path}` = {}", values::get(world, entity, info, &field)),
                Err(error) => error,
            }
        }
        Term::Named(text) => format!("has no name with \"{text}\" in it"),
        Term::Entity(text) => format!("is not {text}"),
    }
}

fn order(app: &App, first: &str, second: &str) -> Result<Json, Failure> {
    let (a, b) = (find(app, first)?, find(app, second)?);
    if a.phase != b.phase {
        let places = app.phases().map(ToString::to_string).collect::<Vec<_>>();
        let place = |phase: &str| places.iter().position(|known| known == phase);
        let (one, two) = if place(&a.phase) <= place(&b.phase) { (first, second) } else { (second, first) };
        let text = format!(
            "`{one}` runs before `{two}`, because they are in different phases: {} and {}.",
            a.phase, b.phase
        );
        return Ok(Json::object([("text", text.into())]));
    }
    let (earlier, later) = if a.at <= b.at { (a.at, b.at) } else { (b.at, a.at) };
    let systems = &a.systems;
    let (one, two) = (&systems[earlier], &systems[later]);
    let mut text = format!("`{}` runs before `{}`", one.name, two.name);
    let path = declared_path(systems, earlier, later);
    let conflict = a.conflicts.iter().find(|pair| pair.first == one.name && pair.second == two.name);
    match (&path, conflict) {
        (Some(path), _) if path.len() == 2 => text.push_str(", because that was declared."),
        (Some(path), _) => {
            let names: Vec<String> = path.iter().map(|&at| format!("`{}`", systems[at].name)).collect();
            text.push_str(&format!(", because that was declared: {}.", names.join(" before ")));
        }
        (None, Some(pair)) => text.push_str(&format!(
            ", because both use {} and one writes it, and it was added first. Declare an order if it matters.",
            pair.parts.join(", ")
        )),
        (None, None) if one.level != two.level => {
            text.push_str(", because a sync point that other systems need lies between them.");
        }
        (None, None) => text = format!(
            "Nothing orders `{}` and `{}`: they may run side by side. On one thread the one that was added first goes first.",
            one.name, two.name
        ),
    }
    if one.level != two.level {
        let syncs = two.level - one.level;
        text.push_str(&format!(
            " {syncs} sync point(s) between them let the later one see the commands of the earlier one."
        ));
    }
    let parts = conflict.map_or_else(Vec::new, |pair| pair.parts.clone());
    Ok(Json::object([
        ("text", text.into()),
        ("declared", path.is_some().into()),
        ("conflicts", Json::list(parts)),
    ]))
}

/// A way from one system to a later one along declared order.
fn declared_path(systems: &[SystemView], from: usize, to: usize) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; systems.len()];
    let mut open = vec![to];
    while let Some(at) = open.pop() {
        for &earlier in &systems[at].after {
            if earlier >= from && before[earlier].is_none() {
                before[earlier] = Some(at);
                open.push(earlier);
            }
        }
    }
    let mut path = vec![from];
    while let Some(next) = before[*path.last()?] {
        path.push(next);
        if next == to {
            return Some(path);
        }
    }
    None
}

fn users(app: &App, name: &str) -> Result<Json, Failure> {
    let info = component(app.world(), name).map_err(Failure::params)?;
    let own = short(info.name());
    let is_own = |part: &String| values::is_part_of(info, part);
    let (mut readers, mut writers) = (Vec::new(), Vec::new());
    for (label, view) in app.phase_views() {
        for system in view.system_views().unwrap_or_default() {
            let named = format!("{label}/{}", system.name);
            if system.exclusive || system.writes.iter().any(is_own) {
                writers.push(if system.exclusive { format!("{named} (everything)") } else { named });
            } else if system.reads_everything || system.reads.iter().any(is_own) {
                readers.push(named);
            }
        }
    }
    let list = |names: &[String]| if names.is_empty() { "no system".to_owned() } else { names.join(", ") };
    let text = format!("`{own}` is written by {}, and read by {}.", list(&writers), list(&readers));
    Ok(Json::object([
        ("text", text.into()),
        ("writers", Json::list(writers)),
        ("readers", Json::list(readers)),
    ]))
}
