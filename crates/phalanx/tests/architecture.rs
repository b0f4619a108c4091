//! The rules of the code base that the compiler cannot check, checked by reading the sources.
//!
//! - `unsafe` stands in `phalanx-store` alone, and there each use says which invariant carries it;
//! - the modules of `phalanx` depend downwards only, by the table [`LAYERS`];
//! - each file explains itself at its head, stays short, and none is called `mod.rs`;
//! - ways to spawn are five, and no public method is another name of a second one (`surface`).
//!
//! When a rule is in the way, change its table here and say why in the commit.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use scanner::{Source, comment_above, crate_paths, first_word, is_word, rust_files, words};

#[path = "architecture/scanner.rs"]
mod scanner;
#[path = "architecture/surface.rs"]
mod surface;

/// The modules of `crates/phalanx/src`, lowest layer first. A module may use its own layer and those below.
///
/// A module without a file is fine (planned); a file whose module is not listed fails the test.
const LAYERS: &[&[&str]] = &[
    &["schema", "value", "codec", "steps", "names", "capture"],
    &["signature", "component", "fields", "storage", "bundle", "bundles", "registry", "tracking"],
    &["archetype", "pool"],
    &["query"],
    &["group"],
    &["resources", "messages", "commands", "observers", "relation", "name", "entity_ref", "entity", "world"],
    &["system"],
    &["schedule", "app", "state"],
    &["save"],
    &["prelude", "guide"],
];

/// Sources in which `unsafe` must not occur at all.
const SAFE_DIRS: &[&str] = &[
    "crates/phalanx/src",
    "crates/phalanx/examples",
    "crates/phalanx/tests",
    "crates/phalanx-derive/src",
    "crates/phalanx-inspect/src",
    "crates/phalanx-inspect/tests",
    "demo/src",
];

/// Files below [`SAFE_DIRS`] that may use `unsafe` all the same, each with a reason beside it.
const UNSAFE_ALLOWED: &[&str] = &[
    // It counts allocations, and an allocator cannot be written without.
    "crates/phalanx/tests/common/counting.rs",
];

/// The crate roots that forbid unsafe code to the compiler as well.
const FORBIDDING: &[&str] =
    &["crates/phalanx/src/lib.rs", "crates/phalanx-derive/src/lib.rs", "crates/phalanx-inspect/src/lib.rs"];

/// What a `// SAFETY:` comment may say instead of citing an invariant: the duty is passed on to the caller of
/// an `unsafe fn`, is that of a comment just above, or is met at once.
const INSTEAD_OF_CITING: &[&str] = &["forwarded", "caller", "as above", "as for", "locally"];

/// Where library and program code stands.
const SOURCE_DIRS: &[&str] = &[
    "crates/phalanx/src",
    "crates/phalanx-store/src",
    "crates/phalanx-derive/src",
    "crates/phalanx-inspect/src",
    "demo/src",
];

/// Lines of `//!` a file opens with. Crate roots may say more.
const HEADER_LINES: std::ops::RangeInclusive<usize> = 3..=30;

/// A file longer than this wants a split.
const MAX_LINES: usize = 600;

/// Files that may be longer, each with a reason beside it.
const LONG_ALLOWED: &[&str] = &[];

#[test]
fn every_source_directory_is_found() {
    for dir in SOURCE_DIRS {
        assert!(!rust_files(dir).is_empty(), "no sources in {dir}: the rules would hold of nothing");
    }
}

#[test]
fn unsafe_stands_in_the_store_alone() {
    let mut faults = Faults::default();
    for file in SAFE_DIRS.iter().flat_map(|dir| rust_files(dir)) {
        if UNSAFE_ALLOWED.contains(&file.name.as_str()) {
            continue;
        }
        for at in words(&file.code, "unsafe") {
            faults.add(&file, at, "`unsafe` outside phalanx-store");
        }
    }
    for name in FORBIDDING {
        let file = Source::read(name);
        if !file.code.contains("#![forbid(unsafe_code)]") {
            faults.add(&file, 0, "the crate root lacks `#![forbid(unsafe_code)]`");
        }
    }
    faults.none();
}

#[test]
fn every_file_opens_with_its_purpose() {
    let mut faults = Faults::default();
    for file in SOURCE_DIRS.iter().flat_map(|dir| rust_files(dir)) {
        let lines = file.text.lines().take_while(|line| line.starts_with("//!")).count();
        if lines < *HEADER_LINES.start() {
            faults.add(&file, 0, &format!("opens with {lines} lines of `//!`, not at least 3"));
        }
        if lines > *HEADER_LINES.end() && !file.is_root() {
            faults.add(&file, 0, &format!("opens with {lines} lines of `//!`: move some beside the code"));
        }
    }
    faults.none();
}

#[test]
fn files_are_short_and_none_is_called_mod() {
    let mut faults = Faults::default();
    for file in SOURCE_DIRS.iter().flat_map(|dir| rust_files(dir)) {
        let lines = file.text.lines().count();
        if lines > MAX_LINES && !LONG_ALLOWED.contains(&file.name.as_str()) {
            faults.add(&file, 0, &format!("{lines} lines, more than {MAX_LINES}"));
        }
        if file.name.ends_with("/mod.rs") {
            faults.add(&file, 0, "write `name.rs` beside `name/` instead of `mod.rs`");
        }
    }
    faults.none();
}

#[test]
fn modules_depend_downwards_only() {
    let mut faults = Faults::default();
    for file in rust_files("crates/phalanx/src") {
        let path = file.module_path("crates/phalanx/src");
        let Some(own) = path.first() else {
            continue; // lib.rs joins all modules
        };
        let Some(own_layer) = layer(own) else {
            faults.add(&file, 0, &format!("module `{own}` is missing in LAYERS"));
            continue;
        };
        if path.iter().any(|part| part == "tests") {
            continue;
        }
        for (at, target) in crate_paths(&file.code_without_tests(), path.len()) {
            match layer(&target) {
                Some(level) if level <= own_layer => {}
                Some(_) => faults.add(&file, at, &format!("`{own}` uses `{target}`, a layer above it")),
                None => faults.add(
                    &file,
                    at,
                    &format!("`crate::{target}` is no module of LAYERS: name the module that defines it"),
                ),
            }
        }
    }
    faults.none();
}

#[test]
fn every_unsafe_block_cites_an_invariant() {
    let root = Source::read("crates/phalanx-store/src/lib.rs");
    let known = invariants(&root.text);
    assert!(!known.is_empty(), "{} lists no invariants `I1`, `I2`, ..", root.name);
    let gapless: BTreeSet<u32> = (1..).take(known.len()).collect();
    assert_eq!(known, gapless, "the invariants of {} are not numbered without a gap", root.name);

    let mut faults = Faults::default();
    for file in rust_files("crates/phalanx-store/src") {
        let code = file.code_without_tests();
        for at in words(&code, "unsafe") {
            let rest = code[at + "unsafe".len()..].trim_start();
            let is_impl = first_word(rest) == "impl";
            if !(rest.starts_with('{') || is_impl) {
                continue; // `unsafe fn` and `unsafe trait` state a duty instead of claiming to meet one
            }
            let comment = comment_above(&file, file.line_of(at));
            let Some((_, claim)) = comment.split_once("SAFETY:") else {
                faults.add(&file, at, "no `// SAFETY:` comment directly above");
                continue;
            };
            let cited = citations(claim);
            let excused = is_impl || INSTEAD_OF_CITING.iter().any(|words| claim.contains(words));
            if cited.is_empty() && !excused {
                faults.add(&file, at, "the `// SAFETY:` comment cites no invariant (`I1`, ..)");
            }
            for number in cited.difference(&known) {
                faults.add(&file, at, &format!("cites I{number}, which lib.rs does not list"));
            }
        }
    }
    faults.none();
}

#[test]
fn modules_of_the_store_without_unsafe_code_forbid_it() {
    let mut faults = Faults::default();
    for file in rust_files("crates/phalanx-store/src") {
        let is_root = file.name.ends_with("/lib.rs");
        let is_safe = words(&file.code, "unsafe").next().is_none();
        if is_safe && !is_root && !file.code.contains("#![forbid(unsafe_code)]") {
            faults.add(&file, 0, "no unsafe code, and no `#![forbid(unsafe_code)]`");
        }
    }
    faults.none();
}

/// Adds a fault for each of these words in the code of files, other than tests, whose names pass.
fn forbid_words(dir: &str, passes: impl Fn(&str) -> bool, forbidden: &[&str], why: &str) {
    let mut faults = Faults::default();
    let files: Vec<Source> = rust_files(dir)
        .into_iter()
        .filter(|file| passes(&file.name) && !file.name.contains("tests"))
        .collect();
    assert!(!files.is_empty(), "no such file in {dir}: the rule would hold of nothing");
    for file in &files {
        let code = file.code_without_tests();
        for word in forbidden {
            for at in words(&code, word) {
                faults.add(file, at, &format!("`{word}`: {why}"));
            }
        }
    }
    faults.none();
}

// O-086: column ids are numbers, fixed when a column is named, and shapes are made once for each pool.
#[test]
fn the_store_finds_columns_without_hashing() {
    let cold = ["/column_id.rs", "/table_columns.rs", "/entity.rs"];
    forbid_words(
        "crates/phalanx-store/src",
        |name| !cold.iter().any(|cold| name.ends_with(cold)),
        &["HashMap", "HashSet", "HashTable", "BTreeMap", "BTreeSet", "hash_one"],
        "columns are found by their number",
    );
}

// Z-060: what a query visits is a type.
#[test]
fn access_asks_for_no_types_and_casts_nothing() {
    let forbidden = ["TypeId", "downcast", "downcast_ref", "downcast_mut", "transmute"];
    let why = "the fetch of a query is a type, checked when it is prepared";
    let fetches = |name: &str| ["/fetch", "/view"].iter().any(|part| name.contains(part));
    forbid_words("crates/phalanx-store/src", fetches, &forbidden, why);
    let cold = ["/cache.rs", "/fresh.rs", "/watch.rs"];
    let queries = |name: &str| !cold.iter().any(|cold| name.ends_with(cold));
    forbid_words("crates/phalanx/src/query", queries, &forbidden, why);
}

// O-213: optimised builds find the same faults.
#[test]
fn schedules_are_checked_in_every_build() {
    let forbidden = ["debug_assertions", "debug_assert", "debug_assert_eq", "debug_assert_ne"];
    forbid_words("crates/phalanx/src/schedule", |_| true, &forbidden, "faults are found in every build");
}

/// The layer of a module of `phalanx`, counted from the lowest.
fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// The numbers of the invariants in the head of the store's `lib.rs`: lines that begin with `I<n>`,
/// whatever list marks stand before it.
fn invariants(text: &str) -> BTreeSet<u32> {
    text.lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .filter_map(|line| {
            let line = line.trim_start_matches([' ', '-', '*', '|', '`', '#']);
            let digits = line.strip_prefix('I')?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse().ok()
        })
        .collect()
}

/// The numbers `n` of all words `I<n>` in a comment.
fn citations(comment: &str) -> BTreeSet<u32> {
    comment
        .split(|c: char| !is_word(c))
        .filter_map(|word| word.strip_prefix('I'))
        .filter(|digits| digits.chars().all(|c| c.is_ascii_digit()))
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// All that is wrong, so that one run shows it all.
#[derive(Default)]
struct Faults(String);

impl Faults {
    fn add(&mut self, file: &Source, at: usize, what: &str) {
        let _ = write!(self.0, "\n{}:{}: {what}", file.name, file.line_of(at) + 1);
    }

    #[track_caller]
    fn none(self) {
        assert!(self.0.is_empty(), "{}", self.0);
    }
}

#[test]
fn invariants_are_found_by_their_numbers() {
    assert_eq!(invariants("//! - **I1** a\n//! I2. b\n//! In all\n// I3\n"), BTreeSet::from([1, 2]));
    assert_eq!(citations("I1, I12 (not In, nor I2b)."), BTreeSet::from([1, 12]));
}
