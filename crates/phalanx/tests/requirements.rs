//! `docs/requirements.md` tells the truth: every numbered requirement has one row, and the tests named exist.
//!
//! A row is `| id | status | test | why |`. `done` and `differs` name tests as `path/to/file.rs::function`,
//! several separated by a comma; the function carries `#[test]`, or is the `main` of a compile-fail case.
//! `differs` says after "ours:" what is done instead, `declined` says after "left out:" why not, and
//! `not yet` ends with the milestone in brackets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The kinds of requirement, and how many there are of each.
const KINDS: &[(char, usize)] = &[('O', 309), ('E', 82), ('Z', 121)];

/// What a `not yet` row may wait for.
const MILESTONES: &[&str] = &[
    "queries",
    "sparse sets",
    "pools",
    "systems",
    "benchmarks",
    "observers",
    "relations",
    "snapshots",
    "guide",
];

#[test]
fn every_requirement_has_one_row() {
    let mut seen = BTreeMap::<String, usize>::new();
    for row in rows() {
        *seen.entry(row.id).or_default() += 1;
    }
    let mut faults = String::new();
    for &(kind, count) in KINDS {
        for id in (1..=count).map(|n| format!("{kind}-{n:03}")) {
            let times = seen.remove(&id).unwrap_or(0);
            if times != 1 {
                let _ = write!(faults, "\n{id} has {times} rows");
            }
        }
    }
    for id in seen.keys() {
        let _ = write!(faults, "\n{id} is not a requirement");
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn every_row_keeps_its_promise() {
    let mut faults = String::new();
    for row in rows() {
        if let Err(fault) = check(&row) {
            let _ = write!(faults, "\n{}: {fault}", row.id);
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

struct Row {
    id: String,
    status: String,
    test: String,
    why: String,
}

/// The rows of all tables whose first cell is an id.
fn rows() -> Vec<Row> {
    let text = read("docs/requirements.md").expect("docs/requirements.md is there");
    let mut rows = Vec::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        if !is_id(cells[0]) {
            continue;
        }
        let [id, status, test, why] = cells[..] else { panic!("not four cells: {line}") };
        rows.push(Row {
            id: id.to_owned(),
            status: status.to_owned(),
            test: test.replace('`', ""),
            why: why.to_owned(),
        });
    }
    rows
}

fn is_id(cell: &str) -> bool {
    cell.split_once('-').is_some_and(|(kind, number)| {
        KINDS.iter().any(|(known, _)| kind == known.to_string())
            && number.len() == 3
            && number.chars().all(|c| c.is_ascii_digit())
    })
}

fn check(row: &Row) -> Result<(), String> {
    match row.status.as_str() {
        "done" => {
            reason(&row.why, "")?;
            row.test.split(", ").try_for_each(test_exists)
        }
        "differs" => {
            reason(&row.why, "ours:")?;
            row.test.split(", ").try_for_each(test_exists)
        }
        "declined" => reason(&row.why, "left out:"),
        "not yet" => MILESTONES
            .iter()
            .any(|milestone| row.why.ends_with(&format!("({milestone})")))
            .then_some(())
            .ok_or_else(|| "`not yet` does not end with a milestone".to_owned()),
        other => Err(format!("unknown status `{other}`")),
    }
}

/// Something is said after `mark`.
fn reason(why: &str, mark: &str) -> Result<(), String> {
    let said = why.split_once(mark).map_or("", |(_, said)| said.trim());
    if said.len() < 8 { Err(format!("says nothing after \"{mark}\"")) } else { Ok(()) }
}

/// `path/to/file.rs::name` exists, and is a test.
fn test_exists(test: &str) -> Result<(), String> {
    let (path, inside) = test.split_once("::").ok_or_else(|| format!("`{test}` is no file.rs::function"))?;
    let name = inside.rsplit("::").next().unwrap_or(inside);
    let text = read(path).ok_or_else(|| format!("no file `{path}`"))?;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declared = |line: &str| {
        let start = line.find("fn ").map(|at| &line[at + 3..]);
        start.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let Some(at) = lines.iter().position(|line| declared(line)) else {
        return Err(format!("no `fn {name}` in `{path}`"));
    };
    let mut above =
        lines[..at].iter().rev().take_while(|line| line.starts_with('#') || line.starts_with("//"));
    if name == "main" || above.any(|line| line.starts_with("#[test]")) {
        Ok(())
    } else {
        Err(format!("`{name}` in `{path}` is not marked `#[test]`"))
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).ok()
}
