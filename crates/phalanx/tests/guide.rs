//! The guide says what it must, is complete, and its tables are compiled.
//!
//! The library includes the pages as documentation tests (`src/guide.rs`), so their code cannot rot; this file holds the
//! pages to their promises, to the book's table of contents, and each table for users of another library to
//! the program below it.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    let path = root().join("docs/guide").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("the guide has no page {name}: {error}"))
}

fn pages() -> BTreeSet<String> {
    let files = std::fs::read_dir(root().join("docs/guide")).expect("the guide is part of the repository");
    let names =
        files.map(|file| file.expect("a readable entry").file_name().into_string().expect("plain names"));
    names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect()
}

#[test]
fn every_page_is_in_the_table_of_contents_and_among_the_tests() {
    let contents = page("SUMMARY.md");
    let tested =
        std::fs::read_to_string(root().join("crates/phalanx/src/guide.rs")).expect("the list of pages");
    let others = ["crates/phalanx-inspect", "integrations/arrow", "integrations/mpi"];
    let elsewhere = others.map(|package| {
        let root = std::fs::read_to_string(root().join(package).join("src/lib.rs"));
        root.expect("a package with a page of its own")
    });
    let elsewhere = elsewhere.concat();
    for name in pages() {
        assert!(contents.contains(&format!("({name})")), "SUMMARY.md lacks {name}");
        let here = tested.contains(&format!("\"{name}\""));
        assert!(here || elsewhere.contains(&format!("/docs/guide/{name}\"")), "src/guide.rs lacks {name}");
    }
}

/// The targets of links in a page, without those that lead elsewhere and without code.
fn links(text: &str) -> Vec<String> {
    let mut code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        code ^= line.trim_start().starts_with("```");
        let mut rest = if code { "" } else { line };
        while let Some(start) = rest.find("](") {
            rest = &rest[start + 2..];
            let end = rest.find(')').unwrap_or(rest.len());
            found.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
    }
    found.retain(|link| !link.starts_with("http"));
    found
}

/// How a heading is named in links.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn broken(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a readable page");
    let folder = file.parent().expect("a file is in a folder");
    let leads_nowhere = |link: &String| {
        let (path, part) =
            link.split_once('#').map_or((link.as_str(), None), |(path, part)| (path, Some(part)));
        let target = if path.is_empty() { file.to_owned() } else { folder.join(path) };
        let headings = || {
            let text = std::fs::read_to_string(&target).unwrap_or_default();
            let lines = text.lines().filter(|line| line.starts_with('#'));
            lines.map(|line| anchor(line.trim_start_matches('#').trim())).collect::<Vec<_>>()
        };
        !target.exists() || part.is_some_and(|part| !headings().iter().any(|heading| heading == part))
    };
    links(&text).into_iter().filter(leads_nowhere).map(|link| format!("{}: {link}", file.display())).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut files: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .map(|name| root().join(name))
        .into();
    files.push(root().join("crates/phalanx/examples/README.md"));
    files.push(root().join("bench/README.md"));
    for folder in ["docs", "docs/guide", "docs/adr"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of documents");
        let paths = entries.map(|entry| entry.expect("a readable entry").path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    let broken: Vec<String> = files.iter().flat_map(|file| broken(file)).collect();
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

// A package is read without the repository around it.
#[test]
fn links_of_the_packages_are_absolute() {
    for package in ["phalanx", "phalanx-store", "phalanx-derive", "phalanx-inspect"] {
        let path = root().join("crates").join(package);
        let text = std::fs::read_to_string(path.join("README.md")).expect("each package has a README");
        assert_eq!(links(&text), Vec::<String>::new(), "relative links in the README of {package}");
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("readme = \"README.md\""), "{package} is packaged with its README");
    }
}

/// The code of a page's Rust programs, without white space.
fn programs(text: &str) -> String {
    let mut inside = false;
    let mut code = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line.starts_with("```rust");
        } else if inside {
            code.extend(line.chars().filter(|c| !c.is_whitespace()));
        }
    }
    code
}

/// The code in the last cell of each row of the first table.
fn right_cells(text: &str) -> Vec<String> {
    let rows =
        text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let mut cells = Vec::new();
    for row in rows.skip(2) {
        // A `|` inside code belongs to a closure, not to the table: the first column has none.
        let cell = row.trim_matches('|').split_once(" | ").map_or("", |(_, cell)| cell);
        let code = cell.split('`').skip(1).step_by(2);
        cells.extend(code.map(|code| code.replace("..Default::default()", "\0").replace("\\|", "|")));
    }
    cells
}

#[test]
fn the_tables_for_users_of_other_libraries_are_compiled() {
    for name in pages().into_iter().filter(|name| name.starts_with("coming-from-")) {
        let text = page(&name);
        let (program, mut compared) = (programs(&text), 0);
        for code in right_cells(&text) {
            // Cells with `..`, or a letter for a type of the reader's, show a shape and not a program.
            if ["..", "<T>", "<R>", "<A>", "(A,)", "(B,)"].iter().any(|shape| code.contains(shape)) {
                continue;
            }
            let code = code.replace('\0', "..Default::default()");
            let wanted: String = code.chars().filter(|c| !c.is_whitespace()).collect();
            assert!(
                program.contains(&wanted),
                "{name}: `{code}` is in the table, but in no program of the page"
            );
            compared += 1;
        }
        assert!(compared >= 5, "{name}: only {compared} cells were compared");
    }
}

#[test]
fn the_error_index_names_every_public_error_of_the_library() {
    let index = page("errors.md");
    let mut missing = Vec::new();
    let mut folders = vec![root().join("crates/phalanx/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a readable source");
            for name in text.split("impl std::error::Error for ").chain(text.split("impl Error for ")).skip(1)
            {
                let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
                if text.contains(&format!("pub enum {name}")) || text.contains(&format!("pub struct {name}"))
                {
                    missing.extend((!index.contains(&format!("`{name}`"))).then_some(name));
                }
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "docs/guide/errors.md does not name {missing:?}");
}

#[test]
fn every_example_is_in_the_index() {
    let folder = root().join("crates/phalanx/examples");
    let index = std::fs::read_to_string(folder.join("README.md")).expect("the index of the examples");
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_some_and(|end| end == "rs") {
            let name = path.file_stem().expect("a file has a name").to_string_lossy();
            assert!(index.contains(&format!("| `{name}` |")), "examples/README.md lacks `{name}`");
        }
    }
}

// E-075.
#[test]
fn the_guide_says_that_groups_need_planning() {
    assert!(page("storage.md").contains("## Groups need planning"));
}

#[test]
fn the_guide_explains_stable_sets_and_drivers() {
    let guide = page("storage.md");
    assert!(guide.contains("## What drives a query") && guide.contains("## Stable sets keep positions"));
}

// E-078, E-079, E-081, E-082.
#[test]
fn the_guide_weighs_tables_against_sets() {
    let guide = page("storage.md");
    for promise in [
        "## Tables iterate fast and change slowly",
        "## Tables fragment",
        "## Reading on",
        "ECS\nback and forth",
    ] {
        assert!(guide.contains(promise), "the guide lost `{promise}`");
    }
    // The strength is told of tables, not somewhere.
    let tables = guide.split("\n## ").find(|section| section.starts_with("Tables iterate fast"));
    let text = tables.unwrap_or_default().replace('\n', " ");
    assert!(text.contains("Hierarchies, sorted so that parents come before their children"), "{text}");
}

// Z-020, Z-025, Z-026.
#[test]
fn the_guide_says_which_strategy_suits_which_pool() {
    let guide = page("pools.md");
    for promise in
        ["## Two strategies", "fewer than 30 components", "50 components and more, or few of many present"]
    {
        assert!(guide.contains(promise), "the guide lost `{promise}`");
    }
}

// Z-101, Z-102, Z-103, Z-104.
#[test]
fn the_guide_tells_best_practices_for_pools() {
    let guide = page("pools.md");
    for promise in [
        "**Pools for what is hot.**",
        "**General for the rest.**",
        "**Few operations across pools.**",
        "**Systems within pool borders.**",
    ] {
        assert!(guide.contains(promise), "the guide lost `{promise}`");
    }
}

/// The names that `phalanx::prelude` exports, without the derives.
fn prelude() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("crates/phalanx/src/lib.rs")).expect("the library");
    let start = text.find("pub mod prelude {").expect("the prelude");
    let text = &text[start..];
    let text = &text[..text.find("\n}").expect("its end")];
    let uses = text.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or(rest));
    let mut names = BTreeSet::new();
    for list in uses.filter(|list| !list.starts_with("phalanx_derive")) {
        let list = list
            .rsplit_once("::{")
            .map_or_else(|| list.rsplit("::").next().unwrap_or(list).to_owned(), |(_, list)| list.to_owned());
        names
            .extend(list.split(',').map(|name| name.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// All files with this ending below a folder.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.extension().is_some_and(|end| end == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The programs in the documentation of a source file, and the names of the items whose documentation has one.
fn documented(text: &str, programs: &mut String, with_example: &mut BTreeSet<String>) {
    let (mut inside, mut has_example) = (false, false);
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            let doc = doc.trim_start();
            if let Some(kind) = doc.strip_prefix("```") {
                inside = !inside && ["", "rust", "no_run"].contains(&kind);
                has_example |= inside;
            } else if inside {
                programs.push_str(doc);
                programs.push('\n');
            }
            continue;
        }
        let code = without_prose(line);
        let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let declares = ["struct", "enum", "trait", "fn", "type", "macro_rules"];
        if let Some(at) = words.iter().position(|word| declares.contains(word)) {
            if has_example {
                with_example
                    .extend(words[at + 1..].iter().find(|word| !word.is_empty()).map(ToString::to_string));
            }
            has_example = false;
        } else if line.is_empty() {
            has_example = false;
        }
    }
}

/// A line of code without its comment and without what stands in quotes: words there are no use of a name.
fn without_prose(line: &str) -> String {
    let code = line.split("//").next().unwrap_or_default();
    code.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

#[test]
fn comments_and_texts_are_no_use_of_a_name() {
    assert_eq!(without_prose("spawn(Name::new(\"Timer\")); // a Timer"), "spawn(Name::new(\"\")); ");
}

/// What most programs are made of.
const MOST_USED: &str = "World App Query QueryState Commands EntityCommands EntityRef EntityMut EntityWorldMut Res ResMut \
     Local Mut Ref With Without Or Has Changed Added Component Bundle Resource Message Messages MessageReader MessageWriter \
     Plugin State NextState States SystemSet Schedule Time Timer Observer On Event Children Group Single Digest AppExit \
     NonSend NonSendMut spawn spawn_batch despawn get get_mut entity insert_resource resource resource_mut view view_mut \
     add_systems step update run add_plugins iter iter_mut single chunks_mut par_iter_mut queue write read add_observer \
     trigger run_if chain after";

#[test]
fn what_most_programs_use_has_an_example_in_its_own_documentation() {
    let (mut code, mut with_example) = (String::new(), BTreeSet::new());
    for file in files_below(&root().join("crates/phalanx/src"), "rs") {
        documented(&std::fs::read_to_string(file).expect("a source file"), &mut code, &mut with_example);
    }
    let without: Vec<&str> =
        MOST_USED.split_whitespace().filter(|name| !with_example.contains(*name)).collect();
    assert!(without.is_empty(), "without an example of their own: {without:?}");
}

// A name has an example in its own documentation, or stands in another program that is compiled: of the documentation, the
// guide, or `examples`. Names that macros declare, and those of rare use, are in the page `prelude.md`.
#[test]
fn every_name_of_the_prelude_has_an_example() {
    let (mut code, mut with_example) = (String::new(), BTreeSet::new());
    for folder in ["crates/phalanx/src", "crates/phalanx-store/src"] {
        for file in files_below(&root().join(folder), "rs") {
            let text = std::fs::read_to_string(file).expect("a source file");
            documented(&text, &mut code, &mut with_example);
        }
    }
    for name in pages() {
        let mut inside = false;
        for line in page(&name).lines() {
            if line.starts_with("```") {
                inside = line == "```rust" || line == "```rust,no_run";
            } else if inside {
                code.push_str(line);
                code.push('\n');
            }
        }
    }
    for file in files_below(&root().join("crates/phalanx/examples"), "rs") {
        code.push_str(&std::fs::read_to_string(file).expect("an example"));
    }
    let code = code.lines().map(without_prose).collect::<Vec<_>>().join("\n");
    let used: BTreeSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let names = prelude();
    assert!(names.len() > 150, "the prelude was not read: {names:?}");
    let without: Vec<&String> =
        names.iter().filter(|name| !with_example.contains(*name) && !used.contains(name.as_str())).collect();
    assert!(without.is_empty(), "names of the prelude without an example: {without:?}");
}
