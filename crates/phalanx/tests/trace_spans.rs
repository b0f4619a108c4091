//! Feature `trace`: a span for each run of a phase and of a system, with its name, closed whatever happens.

#![cfg(feature = "trace")]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use phalanx::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Everything that happened to spans.
#[derive(Default)]
struct Log {
    /// By number: `system move`.
    spans: Vec<String>,
    /// The spans that are open, per thread.
    open: HashMap<ThreadId, Vec<usize>>,
    /// Each span entered, after those around it: `phase Update > system move`.
    entered: Vec<String>,
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

fn log<T>(look: impl FnOnce(&mut Log) -> T) -> T {
    look(LOG.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Spans may be entered on any thread, so the listener is that of the process.
struct Listener;

/// The value of the field `name`.
#[derive(Default)]
struct Name(String);

impl Visit for Name {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "name" {
            let _ = write!(self.0, "{value:?}");
        }
    }
}

fn number(id: &Id) -> usize {
    usize::try_from(id.into_u64()).expect("few") - 1
}

impl Subscriber for Listener {
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        of.target().starts_with("phalanx")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut name = Name::default();
        span.record(&mut name);
        let text = format!("{} {}", span.metadata().name(), name.0);
        log(|log| {
            log.spans.push(text);
            Id::from_u64(log.spans.len() as u64)
        })
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, id: &Id) {
        log(|log| {
            let open = log.open.entry(std::thread::current().id()).or_default();
            open.push(number(id));
            let names: Vec<&str> = open.iter().map(|span| log.spans[*span].as_str()).collect();
            log.entered.push(names.join(" > "));
        });
    }
    fn exit(&self, id: &Id) {
        log(|log| {
            let open = log.open.entry(std::thread::current().id()).or_default();
            assert_eq!(open.pop(), Some(number(id)), "spans close in the reverse order");
        });
    }
}

/// One test at a time: they share the listener.
fn listen() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Fails from the second time on, when it is the same listener already.
    let _ = tracing::subscriber::set_global_default(Listener);
    turn
}

/// What was entered since the last look. All spans are closed by then.
fn entered() -> Vec<String> {
    log(|log| {
        assert!(log.open.values().all(Vec::is_empty), "a span is still open");
        std::mem::take(&mut log.entered)
    })
}

#[derive(ScheduleLabel, Debug)]
struct Render;

fn first(_: Query<Entity>) {}
fn second(_: Query<Entity>) {}
fn alone(_: &mut World) {}
fn skipped() {}

#[test]
fn each_phase_and_each_system_has_a_span_with_its_name() {
    let _turn = listen();
    let mut app = App::new();
    app.configure(AppConfig { threads: Threads::Serial, ..Default::default() });
    app.add_phase_after(Update, Render);
    app.add_systems(Startup, first);
    app.add_systems(Update, (first, alone, second.named("the second")).chain());
    app.add_systems(Render, skipped.run_if(|| false));
    app.step(0.1);
    let all = entered();
    let wanted = [
        "phase PreStartup",
        "phase Startup",
        "phase Startup > system first",
        "phase PostStartup",
        "phase First",
        "phase PreUpdate",
        "phase Update",
        "phase Update > system first",
        "phase Update > system alone",
        "phase Update > system the second",
        "phase Render",
        "phase Render > system skipped",
        "phase PostUpdate",
        "phase Last",
    ];
    assert_eq!(all, wanted);
}

#[test]
fn systems_on_other_threads_have_their_spans_there() {
    let _turn = listen();
    let mut app = App::new();
    app.configure(AppConfig { threads: Threads::N(2), small_phase: Duration::ZERO, ..Default::default() });
    app.add_systems(Update, (first, second));
    (0..20).for_each(|_| app.step(0.1));
    let all = entered();
    let count = |end: &str| all.iter().filter(|entered| entered.ends_with(end)).count();
    assert_eq!(["system first", "system second", "phase Update"].map(count), [20; 3]);
}

#[test]
fn a_panic_closes_the_spans() {
    let _turn = listen();
    for threads in [Threads::Serial, Threads::N(2)] {
        let mut app = App::new();
        app.configure(AppConfig { threads, small_phase: Duration::ZERO, ..Default::default() });
        fn bad(time: Res<Time>) {
            assert!(time.frame() > 1, "told to panic");
        }
        app.add_systems(Update, (first, bad));
        assert!(catch_unwind(AssertUnwindSafe(|| app.step(0.1))).is_err());
        assert!(entered().iter().any(|span| span.ends_with("system bad")));
        app.step(0.1);
        assert!(entered().iter().any(|span| span.ends_with("system bad")));
    }
}
