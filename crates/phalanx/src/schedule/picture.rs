//! Drawing a schedule, as text for Graphviz or as a picture of its own.
//!
//! Systems stand in columns: each as far to the right as its longest line of predecessors, so that what stands in
//! one column could run at the same time. Solid arrows are declared, dashed ones follow from conflicts. Where commands
//! are applied a line goes across, and no column reaches over it.

use phalanx_store::sorting;
use std::fmt::Write as _;

/// What is drawn: names in order, and arrows between their positions.
pub(crate) struct Drawing {
    pub(crate) names: Vec<String>,
    /// How many sync points come before each, and whether it has commands.
    pub(crate) levels: Vec<u32>,
    pub(crate) deferring: Vec<bool>,
    pub(crate) declared: Vec<(usize, usize)>,
    pub(crate) conflicts: Vec<(usize, usize)>,
}

const BOX: (usize, usize) = (180, 34);
const GAP: (usize, usize) = (70, 18);
const MARGIN: usize = 20;

pub(crate) fn dot(drawing: &Drawing) -> String {
    let mut out = String::from("digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n");
    for (at, name) in drawing.names.iter().enumerate() {
        let _ = writeln!(out, "  n{at} [label=\"{}\"];", name.replace('\\', "\\\\").replace('"', "\\\""));
    }
    for (from, to) in &drawing.declared {
        let _ = writeln!(out, "  n{from} -> n{to};");
    }
    for (from, to) in &drawing.conflicts {
        let _ = writeln!(out, "  n{from} -> n{to} [style=dashed];");
    }
    for level in 1..=drawing.levels.last().copied().unwrap_or(0) {
        let _ = writeln!(out, "  sync{level} [label=\"ApplyDeferred\", shape=ellipse];");
        for (at, own) in drawing.levels.iter().enumerate() {
            if *own + 1 == level && drawing.deferring[at] {
                let _ = writeln!(out, "  n{at} -> sync{level} [style=dotted];");
            } else if *own == level {
                let _ = writeln!(out, "  sync{level} -> n{at} [style=dotted];");
            }
        }
    }
    out.push_str("}\n");
    out
}

impl Drawing {
    /// For each system its column and its row there.
    fn places(&self) -> Vec<(usize, usize)> {
        let mut columns = vec![0; self.names.len()];
        let mut arrows: Vec<(usize, usize)> = self.declared.iter().chain(&self.conflicts).copied().collect();
        // The order is one in which every arrow points forward.
        sorting::sort(&mut arrows);
        let mut arrows = arrows.into_iter().peekable();
        let (mut level, mut least, mut most) = (0, 0, 0);
        for at in 0..self.names.len() {
            if self.levels[at] != level {
                (level, least) = (self.levels[at], most + 1);
            }
            columns[at] = columns[at].max(least);
            most = most.max(columns[at]);
            while let Some((_, to)) = arrows.next_if(|(from, _)| *from == at) {
                columns[to] = columns[to].max(columns[at] + 1);
            }
        }
        let mut used = vec![0; self.names.len() + 1];
        let place = |column: usize| {
            used[column] += 1;
            (column, used[column] - 1)
        };
        columns.into_iter().map(place).collect()
    }
}

pub(crate) fn svg(drawing: &Drawing) -> String {
    let places = drawing.places();
    let corner = |at: usize| {
        let (column, row) = places[at];
        (MARGIN + column * (BOX.0 + GAP.0), MARGIN + row * (BOX.1 + GAP.1))
    };
    let width = places.iter().map(|place| place.0 + 1).max().unwrap_or(1) * (BOX.0 + GAP.0) + MARGIN;
    let height = places.iter().map(|place| place.1 + 1).max().unwrap_or(1) * (BOX.1 + GAP.1) + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" orient=\"auto\">\
         <path d=\"M0,0 L7,3 L0,6 z\" fill=\"#555\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut arrow = |(from, to): (usize, usize), dash: &str| {
        let ((x, y), (to_x, to_y)) = (corner(from), corner(to));
        let (x, y, to_y) = (x + BOX.0, y + BOX.1 / 2, to_y + BOX.1 / 2);
        let _ = writeln!(
            out,
            "<path d=\"M{x},{y} C{},{y} {},{to_y} {to_x},{to_y}\" fill=\"none\" stroke=\"#555\"{dash} \
             marker-end=\"url(#tip)\"/>",
            x + GAP.0 / 2,
            to_x - GAP.0 / 2,
        );
    };
    drawing
        .conflicts
        .iter()
        .for_each(|pair| arrow(*pair, " stroke-dasharray=\"4 3\" stroke-opacity=\"0.5\""));
    drawing.declared.iter().for_each(|pair| arrow(*pair, ""));
    for at in 1..drawing.names.len() {
        if drawing.levels[at - 1] != drawing.levels[at] {
            let level = drawing.levels[at];
            let of_level = (at..drawing.names.len()).take_while(|&at| drawing.levels[at] == level);
            let x = of_level.map(|at| corner(at).0).min().unwrap_or(0) - GAP.0 / 2;
            let _ = writeln!(
                out,
                "<path d=\"M{x},0 V{height}\" stroke=\"#a33\"/>\
                 <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#a33\">ApplyDeferred</text>",
                MARGIN - 6,
            );
        }
    }
    for (at, name) in drawing.names.iter().enumerate() {
        let (x, y) = corner(at);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"#eef3fb\" stroke=\"#336\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            BOX.0,
            BOX.1,
            x + BOX.0 / 2,
            y + BOX.1 / 2 + 4,
            escaped(name),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
