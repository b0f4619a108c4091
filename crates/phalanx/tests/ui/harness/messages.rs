//! Makes what the compiler says independent of the machine, and of what changes without a meaning.
//!
//! Paths are told from the package; those of the compiler and of the workspace get names. Places outside the case lose their
//! line numbers, so that an edit of the library needs no new messages. How far lines are indented, which follows from
//! the longest of these numbers, is not compared.

use std::path::Path;

/// How many types are kept of those that implement a trait.
const TYPES: usize = 8;

/// What the compiler says, as it is kept.
pub fn kept(said: &str, case: &str, workspace: &Path) -> String {
    let said = said.replace("{closure@crates/phalanx/", "{closure@$DIR/").replace("crates/phalanx/", "");
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    let mut kept = String::new();
    // Whether the lines are quoted from another file than the case, and how many types of a list there were.
    let (mut outside, mut types) = (false, None);
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if is_about_a_file_of_types(text) {
            continue;
        }
        let mut line = (*line).to_owned();
        if let Some(count) = types {
            let listed = |at: usize| lines.get(at).is_some_and(|line| line.starts_with("          "));
            types = listed(at).then_some(count + 1);
            if count > TYPES && listed(at) {
                continue;
            }
            if count == TYPES && listed(at) && listed(at + 1) {
                line = format!("{}and $N others", " ".repeat(indent - 2));
            }
        }
        if text.starts_with("= help: the following ") && text.contains("types implement trait ") {
            types = Some(0);
        } else if text.starts_with("--> ") || text.starts_with("::: ") {
            let (arrow, place) = line.split_at(indent + 4);
            outside = !place.starts_with(case);
            if outside {
                line = format!("{arrow}{}", named(place, workspace));
            }
        } else if outside && text.starts_with(|first: char| first.is_ascii_digit()) {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            line = format!("{}{}", " ".repeat(indent + digits), &text[digits..]);
        } else if text.is_empty() {
            outside = false;
        }
        if !(line.is_empty() && (kept.is_empty() || kept.ends_with("\n\n"))) {
            kept.push_str(&line);
            kept.push('\n');
        }
    }
    kept.truncate(kept.trim_end().len());
    kept.push('\n');
    kept
}

/// Whether a line says that a long type is written to a file.
fn is_about_a_file_of_types(text: &str) -> bool {
    let text = text.trim_start_matches("= note: ");
    text.starts_with("the full ") && text.contains(" has been written to")
}

/// A place outside the case: the file, by a name for where it stands, without line and column.
fn named(place: &str, workspace: &Path) -> String {
    let place = place.replace('\\', "/");
    let file = place.split_once(".rs:").map_or(place.clone(), |(file, _)| format!("{file}.rs"));
    let workspace = format!("{}/", workspace.display()).replace('\\', "/");
    let file = file.strip_prefix(&workspace).unwrap_or(&file);
    let library = ["/rustlib/src/rust/library/", "/library/"];
    if let Some((_, file)) = library.iter().find_map(|folder| file.split_once(folder)) {
        format!("$RUST/{file}")
    } else if file.starts_with("crates/") {
        format!("$WORKSPACE/{file}")
    } else {
        file.to_owned()
    }
}

/// Whether two messages are the same but for how far their lines are indented.
pub fn same(one: &str, other: &str) -> bool {
    one.lines().map(str::trim_start).eq(other.lines().map(str::trim_start))
}
