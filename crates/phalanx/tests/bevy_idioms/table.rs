//! The table in `docs/from-bevy.md` and the idioms say the same.
//!
//! A row is `| bevy's name | status | idioms |`. A status begins with `same`, `differs`, `left out` or `not yet`; the
//! first two name at least one function of the idiom files, the others none. Every idiom is named by a row, and the
//! idioms of a row write what it names. That bevy has nothing else is shown by `bench/bevy-surface`.

use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = include_str!("../../../../docs/from-bevy.md");
const FILES: &[&str] = &[
    include_str!("app.rs"),
    include_str!("by_id.rs"),
    include_str!("commands.rs"),
    include_str!("commands_more.rs"),
    include_str!("ctrl_c.rs"),
    include_str!("entity.rs"),
    include_str!("entity_more.rs"),
    include_str!("generic.rs"),
    include_str!("names.rs"),
    include_str!("params_built.rs"),
    include_str!("params_more.rs"),
    include_str!("plugins.rs"),
    include_str!("prelude.rs"),
    include_str!("queries_more.rs"),
    include_str!("query.rs"),
    include_str!("query_forms.rs"),
    include_str!("query_state.rs"),
    include_str!("reactions.rs"),
    include_str!("relations.rs"),
    include_str!("schedule.rs"),
    include_str!("state.rs"),
    include_str!("stepping.rs"),
    include_str!("time.rs"),
    include_str!("tools.rs"),
    include_str!("traits.rs"),
    include_str!("whole.rs"),
    include_str!("world.rs"),
    include_str!("world_more.rs"),
];

/// Rows whose names have no word that their idioms could write, with what the idioms do instead.
const WORDLESS: &[(&str, &str)] = &[("&T", "the idioms ask queries for `&Health` and its kin")];

struct Row {
    /// What the row is about: the first of the names.
    name: String,
    /// All that bevy calls it, if it has several names.
    names: Vec<String>,
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
            let names = quoted(cells[0]);
            let name = names.first().unwrap_or_else(|| panic!("no name in {line}")).clone();
            rows.push(Row { name, names, status: cells[1].to_owned(), idioms: quoted(cells[2]) });
        }
    }
    rows
}

/// The tests in the idiom files, each with its body.
fn idioms() -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for file in FILES {
        for part in file.split("\n#[test]\n").skip(1) {
            let text = &part[part.find("fn ").expect("a test is a function") + "fn ".len()..];
            let (name, body) = text.split_once('(').expect("a function has parameters");
            found.push((name, body.split_once("\n}\n").expect("a function ends").0));
        }
    }
    found
}

/// The words of a text: of names and keywords.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What an idiom must write to show a name: the words behind its last `::`, without the letters of generic parameters.
fn shown_by_words(name: &str) -> Vec<&str> {
    let last = name.rsplit("::").next().expect("a split has a first part");
    words(last).filter(|word| word.len() > 1).collect()
}

#[test]
fn every_status_is_one_of_four() {
    let rows = rows();
    assert!(rows.len() > 500, "only {} rows were found", rows.len());
    for row in rows {
        let known = row.status == "same"
            || ["differs: ", "left out: ", "not yet: "].iter().any(|status| row.status.starts_with(status));
        assert!(known, "`{}` has the status {:?}", row.name, row.status);
    }
}

#[test]
fn what_is_there_is_shown_by_an_idiom_and_nothing_else_is() {
    let idioms: BTreeSet<&str> = idioms().into_iter().map(|(name, _)| name).collect();
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
fn idioms_write_what_their_rows_name() {
    let bodies: BTreeMap<&str, BTreeSet<&str>> =
        idioms().into_iter().map(|(name, body)| (name, words(body).collect())).collect();
    let mut missing = Vec::new();
    for row in rows().iter().filter(|row| !row.idioms.is_empty()) {
        for name in &row.names {
            let needed = shown_by_words(name);
            let wordless = WORDLESS.iter().any(|(exempt, _)| exempt == name);
            assert_eq!(needed.is_empty(), wordless, "`{name}` has no word that an idiom could write");
            let written = |word: &&str| row.idioms.iter().any(|idiom| bodies[idiom.as_str()].contains(word));
            missing.extend(
                needed
                    .iter()
                    .filter(|word| !written(word))
                    .map(|word| format!("`{name}`: none of {:?} writes `{word}`", row.idioms)),
            );
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_idiom_is_named_by_a_row_and_defined_once() {
    let named: BTreeSet<String> = rows().into_iter().flat_map(|row| row.idioms).collect();
    let mut seen = BTreeMap::new();
    for (idiom, _) in idioms() {
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
    println!("{there} of {all} rows are there; {never} cannot be in safe code");
    // Of all rows, also of those that safe code cannot have.
    assert!(there * 10 >= all * 9, "{there} of {all} are there");
    let percent = there * 100 / all;
    for told in [
        format!("{there} of {all} are `same` or `differs`: {percent} %"),
        format!("{never} others cannot be here"),
        format!("{there} of {} rows", all - never),
    ] {
        assert!(TABLE.contains(&told), "docs/from-bevy.md should say: {told}");
    }
}

#[test]
fn no_method_stands_twice() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        assert!(seen.insert(row.name.clone()), "`{}` has two rows", row.name);
    }
}
