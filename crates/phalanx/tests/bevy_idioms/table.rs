//! The table in `docs/from-bevy.md` and the idioms say the same.
//!
//! A row is `| bevy's name | status | idioms |`. A status begins with `same`, `differs`, `left out` or `not yet`; the
//! first two name at least one function of the idiom files, the others none. Every idiom is named by a row.

use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = include_str!("../../../../docs/from-bevy.md");
const FILES: &[&str] = &[
    include_str!("app.rs"),
    include_str!("commands.rs"),
    include_str!("commands_more.rs"),
    include_str!("entity.rs"),
    include_str!("entity_more.rs"),
    include_str!("params_more.rs"),
    include_str!("prelude.rs"),
    include_str!("queries_more.rs"),
    include_str!("query.rs"),
    include_str!("query_forms.rs"),
    include_str!("query_state.rs"),
    include_str!("reactions.rs"),
    include_str!("relations.rs"),
    include_str!("schedule.rs"),
    include_str!("state.rs"),
    include_str!("whole.rs"),
    include_str!("world.rs"),
    include_str!("world_more.rs"),
];

struct Row {
    name: String,
    status: String,
    idioms: Vec<String>,
}

/// What stands between back quotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rows of all tables with three columns whose head is `bevy_ecs 0.20`.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut within = false;
    for line in TABLE.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            within = false;
        } else if cells[0] == "bevy_ecs 0.20" {
            within = true;
        } else if within && !cells[0].starts_with("---") {
            assert_eq!(cells.len(), 3, "a row has three cells: {line}");
            let name = quoted(cells[0]).first().unwrap_or_else(|| panic!("no name in {line}")).clone();
            rows.push(Row { name, status: cells[1].to_owned(), idioms: quoted(cells[2]) });
        }
    }
    rows
}

/// The tests in the idiom files.
fn idioms() -> Vec<&'static str> {
    let mut found = Vec::new();
    for file in FILES {
        let mut test = false;
        for line in file.lines() {
            test |= line == "#[test]";
            if let Some(rest) = line.strip_prefix("fn ")
                && std::mem::take(&mut test)
            {
                found.push(rest.split('(').next().expect("a split has a first part"));
            }
        }
    }
    found
}

#[test]
fn every_status_is_one_of_four() {
    let rows = rows();
    assert!(rows.len() > 500, "only {} rows were found", rows.len());
    for row in rows {
        let known = row.status == "same"
            || row.status == "not yet"
            || ["differs: ", "left out: "].iter().any(|status| row.status.starts_with(status));
        assert!(known, "`{}` has the status {:?}", row.name, row.status);
    }
}

#[test]
fn what_is_there_is_shown_by_an_idiom_and_nothing_else_is() {
    let idioms: BTreeSet<&str> = idioms().into_iter().collect();
    for row in rows() {
        let there = row.status == "same" || row.status.starts_with("differs");
        assert_eq!(
            there,
            !row.idioms.is_empty(),
            "`{}` is {:?} and shown by {:?}",
            row.name,
            row.status,
            row.idioms
        );
        for idiom in row.idioms {
            assert!(idioms.contains(idiom.as_str()), "`{}` names `{idiom}`, which is no test", row.name);
        }
    }
}

#[test]
fn every_idiom_is_named_by_a_row_and_defined_once() {
    let named: BTreeSet<String> = rows().into_iter().flat_map(|row| row.idioms).collect();
    let mut seen = BTreeMap::new();
    for idiom in idioms() {
        assert!(named.contains(idiom), "no row of docs/from-bevy.md names `{idiom}`");
        *seen.entry(idiom).or_insert(0) += 1;
    }
    assert!(seen.len() > 100, "only {} idioms were found", seen.len());
    for (idiom, times) in seen {
        assert_eq!(times, 1, "`{idiom}` stands in two files");
    }
}

/// How many rows there are, how many of them are there, and how many cannot be in safe code.
fn counts() -> (usize, usize, usize) {
    let rows = rows();
    let there = rows.iter().filter(|row| row.status == "same" || row.status.starts_with("differs")).count();
    let never = rows.iter().filter(|row| row.status.starts_with("left out: unsafe")).count();
    (rows.len(), there, never)
}

#[test]
fn nine_of_ten_methods_are_there() {
    let (all, there, never) = counts();
    let tenths = there * 1000 / (all - never);
    println!(
        "{there} of {all} rows are there; {never} cannot be in safe code, {tenths} of 1,000 others are there"
    );
    assert!(tenths >= 900, "{there} of {} are there", all - never);
    let told = format!("{there} of {} rows", all - never);
    assert!(TABLE.contains(&told), "docs/from-bevy.md should say: {told}");
}

#[test]
fn no_method_stands_twice() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        assert!(seen.insert(row.name.clone()), "`{}` has two rows", row.name);
    }
}
