//! Bars: one panel per workload, one bar per library, as long as its time compared with the slowest shown.
//!
//! Colours come from the style sheet inside the picture, which knows a light and a dark form. Bars that would
//! dwarf all others are cut and say so with their number.

use std::fmt::Write;

use super::{LIMIT, OURS, nanos};
use crate::machine::Machine;
use crate::measure::{Measured, Outcome};
use crate::peers::LIBRARIES;

const WIDTH: usize = 760;
const LEFT: usize = 150;
const BAR: usize = 13;
const STEP: usize = 17;
const LONGEST: f64 = 480.0;
/// A bar longer than this many times the best peer's is cut.
const CUT: f64 = 6.0;

const STYLE: &str = "<style>\
text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:13px}.note{fill:#59636e;font-size:11px}\
.page{fill:#ffffff}.limit{fill:#c8d1da}.peer{fill:#8c959f}.ours{fill:#0969da}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.note{fill:#9198a1}.page{fill:#0d1117}.limit{fill:#3d444d}\
.peer{fill:#7d8590}.ours{fill:#4493f8}}</style>";

/// The run as a picture.
pub fn render(machine: &Machine, outcomes: &[Outcome]) -> String {
    let mut body = String::new();
    let mut y = 46;
    for outcome in outcomes.iter().filter(|outcome| !outcome.workload.is_curve()) {
        panel(&mut body, outcome, &mut y);
    }
    let note = escaped(&machine.sentence());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{}\" viewBox=\"0 0 {WIDTH} {}\" \
         role=\"img\" aria-label=\"Nanoseconds per item, by workload and library\">{STYLE}\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\
         <text class=\"title\" x=\"12\" y=\"22\">Nanoseconds per item; shorter is better</text>\n{body}\
         <text class=\"note\" x=\"12\" y=\"{}\"><title>{note}</title>{}</text></svg>\n",
        y + 30,
        y + 30,
        y + 16,
        escaped(&format!("{}, {}, {}", machine.date, machine.processor, machine.rustc)),
    )
}

fn panel(body: &mut String, outcome: &Outcome, y: &mut usize) {
    let lines: Vec<&Measured> =
        LIBRARIES.iter().filter_map(|&library| outcome.best(|line| line.library == library)).collect();
    let reference = outcome.best_peer().or(outcome.limit()).map_or(1.0, |line| line.time.median);
    let slowest = lines.iter().map(|line| line.time.median).fold(0.0, f64::max).min(reference * CUT);
    let title = format!("{} · {}", outcome.workload.name(), outcome.workload.about());
    let _ = writeln!(body, "<text class=\"title\" x=\"12\" y=\"{}\">{}</text>", *y, escaped(&title));
    *y += 8;
    for line in lines {
        let class = match line.library {
            LIMIT => "limit",
            OURS => "ours",
            _ => "peer",
        };
        let time = line.time.median;
        let length = (time.min(slowest) / slowest * LONGEST).max(1.0);
        let cut = if time > slowest * 1.001 { " (cut)" } else { "" };
        let name = format!("{} {}", line.library, line.variant);
        let _ = writeln!(
            body,
            "<text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect class=\"{class}\" x=\"{LEFT}\" y=\"{}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\"/>\
             <text class=\"note\" x=\"{:.1}\" y=\"{}\">{}{cut}</text>",
            LEFT - 8,
            *y + 11,
            escaped(name.trim()),
            *y,
            LEFT as f64 + length + 6.0,
            *y + 11,
            nanos(time)
        );
        *y += STEP;
    }
    *y += 22;
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
