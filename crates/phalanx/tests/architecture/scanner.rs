//! Reads Rust sources as text: which parts are code, and what that code names.
//!
//! The scanner knows comments, strings, characters and braces, nothing more of the language. Blanked
//! copies keep every place, so that a place found in the code is the same place in the text.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file, as written and with everything that is not code blanked out.
pub struct Source {
    /// The path from the root of the workspace, with `/`.
    pub name: String,
    pub text: String,
    /// As long as `text`, line by line and byte by byte.
    pub code: String,
}

impl Source {
    pub fn read(name: &str) -> Self {
        let path = workspace().join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let code = only_code(&text);
        Self { name: name.to_owned(), text, code }
    }

    pub fn is_root(&self) -> bool {
        self.name.ends_with("/lib.rs") || self.name.ends_with("/main.rs")
    }

    /// The modules from the crate root down to this file; none for the root itself.
    pub fn module_path(&self, dir: &str) -> Vec<String> {
        let path = self.name.strip_prefix(dir).expect("the file stands below the directory");
        let path = path.trim_start_matches('/').trim_end_matches(".rs");
        path.split('/').filter(|&part| part != "lib" && part != "main").map(str::to_owned).collect()
    }

    /// The code, with items under `#[cfg(test)]` blanked out.
    pub fn code_without_tests(&self) -> String {
        let mut code = self.code.clone();
        let mark = "#[cfg(test)]";
        let mut from = 0;
        while let Some(found) = code[from..].find(mark) {
            let start = from + found;
            let end = item_end(&code, start + mark.len());
            blank(&mut code, start, end);
            from = end;
        }
        code
    }

    /// The line a place stands on, counted from 0.
    pub fn line_of(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count()
    }
}

/// Where the item that begins at `from` ends: after its `;` or after its closing brace.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0;
    for (at, c) in code[from..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (c == ';' || c == '}') {
            return from + at + 1;
        }
    }
    code.len()
}

/// Overwrites a range with spaces and keeps the line ends.
fn blank(code: &mut String, start: usize, end: usize) {
    let spaces: String = code[start..end].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
    code.replace_range(start..end, &spaces);
}

/// The text with comments and the insides of literals blanked out, every place unchanged.
fn only_code(text: &str) -> String {
    let mut code = text.to_owned();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let after_word = text[..at].chars().next_back().is_some_and(is_word);
        if rest.starts_with("//") {
            let end = at + rest.find('\n').unwrap_or(rest.len());
            blank(&mut code, at, end);
            at = end;
        } else if rest.starts_with("/*") {
            let end = at + block_comment_len(rest);
            blank(&mut code, at, end);
            at = end;
        } else if let Some((open, close)) = (!after_word).then(|| raw_string(rest)).flatten() {
            let inside = at + open;
            let end = text[inside..].find(&close).map_or(text.len(), |found| inside + found);
            blank(&mut code, inside, end);
            at = (end + close.len()).min(text.len());
        } else if let Some(inside) = rest.strip_prefix('"') {
            let end = at + 1 + quoted_len(inside, '"');
            blank(&mut code, at + 1, end);
            at = (end + 1).min(text.len());
        } else if let Some(len) = char_literal_len(rest) {
            blank(&mut code, at + 1, at + len - 1);
            at += len;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    code
}

/// How long the block comment at the start of `rest` is; they nest.
fn block_comment_len(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// For a raw string at the start of `rest`: the length of its opening, and its closing.
fn raw_string(rest: &str) -> Option<(usize, String)> {
    let prefix = ["r", "br", "cr"].into_iter().find(|&prefix| {
        rest.strip_prefix(prefix).is_some_and(|tail| tail.trim_start_matches('#').starts_with('"'))
    })?;
    let hashes = rest[prefix.len()..].find('"')?;
    Some((prefix.len() + hashes + 1, format!("\"{}", "#".repeat(hashes))))
}

/// How far the closing quote is, past escapes.
fn quoted_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at,
            _ => {}
        }
    }
    rest.len()
}

/// How long the character literal at the start of `rest` is; a lifetime is none.
fn char_literal_len(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(quoted_len(inside, '\'') + 2);
    }
    inside[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8() + 2)
}

/// Every place where `word` stands as a whole word.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

pub fn first_word(code: &str) -> &str {
    &code[..code.find(|c: char| !is_word(c)).unwrap_or(code.len())]
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// All `.rs` files below a directory of the workspace, sorted; none when it does not exist. Cases for the
/// compile-fail tests are wrong on purpose and left out.
pub fn rust_files(dir: &str) -> Vec<Source> {
    fn collect(dir: &Path, names: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("tests/ui") {
                collect(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                names.push(path);
            }
        }
    }
    let root = workspace();
    let mut paths = Vec::new();
    collect(&root.join(dir), &mut paths);
    paths.sort();
    let name = |path: &PathBuf| {
        let path = path.strip_prefix(&root).expect("the search began at the root");
        path.to_string_lossy().replace('\\', "/")
    };
    paths.iter().map(|path| Source::read(&name(path))).collect()
}

/// The root of the workspace, two levels above this crate.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The comment that stands directly above the statement on `line` (counted from 0), or is empty.
///
/// Lines of the same statement and attributes between the two are passed over.
pub fn comment_above(file: &Source, line: usize) -> String {
    let text: Vec<&str> = file.text.lines().collect();
    let code: Vec<&str> = file.code.lines().collect();
    let is_comment = |n: usize| text[n].trim_start().starts_with("//");
    let mut end = line;
    while end > 0 && !is_comment(end - 1) {
        let above = code[end - 1].trim_end();
        if above.trim().is_empty() || above.ends_with([';', '{', '}', ',']) {
            return String::new();
        }
        end -= 1;
    }
    let start = (0..end).rev().take_while(|&n| is_comment(n)).last().unwrap_or(end);
    text[start..end].join("\n")
}

/// Every module of the crate root that `code` names, with the place where it does.
///
/// `depth` is how many modules deep the file stands: as many leading `super`s lead to the root as well.
/// Those count outside of braces only, because inside an inline module they mean something else.
pub fn crate_paths(code: &str, depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for at in words(code, "crate") {
        let before = code[..at].trim_end();
        if before.ends_with("in") && before[..before.len() - 2].trim_end().ends_with('(') {
            continue; // `pub(in crate::x)` grants, it does not use
        }
        if let Some(rest) = code[at + "crate".len()..].trim_start().strip_prefix("::") {
            found.extend(first_segments(rest).into_iter().map(|name| (at, name)));
        }
    }
    for at in words(code, "super") {
        let open = code[..at].matches('{').count();
        let closed = code[..at].matches('}').count();
        let is_first = !code[..at].trim_end().ends_with("::");
        if !is_first || open != closed {
            continue;
        }
        let mut rest = &code[at..];
        let mut up = 0;
        while first_word(rest) == "super" {
            let Some(next) = rest["super".len()..].trim_start().strip_prefix("::") else { break };
            rest = next.trim_start();
            up += 1;
        }
        if up == depth {
            found.extend(first_segments(rest).into_iter().map(|name| (at, name)));
        }
    }
    found
}

/// The first names of the path or `{..}` group that begins here; macros (`name!`) are left out.
fn first_segments(rest: &str) -> Vec<String> {
    let rest = rest.trim_start();
    let Some(group) = rest.strip_prefix('{') else {
        let name = first_word(rest);
        let is_macro = rest[name.len()..].starts_with('!');
        return if name.is_empty() || is_macro { Vec::new() } else { vec![name.to_owned()] };
    };
    let mut names = Vec::new();
    let mut depth = 0;
    let mut expected = true;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => expected = true,
            c if expected && is_word(c) => {
                names.push(first_word(&group[at..]).to_owned());
                expected = false;
            }
            _ => {}
        }
    }
    names
}

#[test]
fn scanner_sees_code_and_nothing_else() {
    let text = r###"a /* b /* c */ d */ "e \" f" r#"g " h"# 'i' '\'' '"' b"j" // k
        fn l<'m>(x: &'m str) -> r#type { 'n: loop {} }"###;
    let code = only_code(text);
    assert_eq!(code.len(), text.len());
    let seen: Vec<&str> = code.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
    assert_eq!(seen, ["a", "r", "b", "fn", "l", "m", "x", "m", "str", "r", "type", "n", "loop"], "{code}");
}

#[test]
fn scanner_finds_paths_to_the_crate_root() {
    let paths = |code: &str, depth| -> Vec<String> {
        crate_paths(&only_code(code), depth).into_iter().map(|(_, name)| name).collect()
    };
    assert_eq!(paths("use crate::world::World;", 1), ["world"]);
    assert_eq!(paths("use crate::{query::{Query, View}, bundle};", 1), ["query", "bundle"]);
    assert_eq!(paths("pub(crate) fn f() { crate::archetype::Edges::new() }", 1), ["archetype"]);
    assert_eq!(paths("pub(in crate::world) fn f() {} // crate::app", 1), [""; 0]);
    assert_eq!(paths("crate::for_each_tuple!(x);", 1), [""; 0]);
    assert_eq!(paths("use super::world::World; mod inner { use super::*; }", 1), ["world"]);
    assert_eq!(paths("use super::Component; use super::super::world::World;", 2), ["world"]);
}

#[test]
fn scanner_finds_the_comment_above_a_statement() {
    let text = "// SAFETY: I1.\n#[inline]\nlet x =\n    unsafe { y };\nunsafe { z };\n";
    let file = Source { name: String::new(), text: text.to_owned(), code: only_code(text) };
    assert_eq!(comment_above(&file, 3), "// SAFETY: I1.");
    assert_eq!(comment_above(&file, 4), "");
}

#[test]
fn scanner_leaves_out_test_modules() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { if c {} } }\nfn d() {}\n";
    let file = Source { name: String::new(), text: text.to_owned(), code: only_code(text) };
    let code = file.code_without_tests();
    assert_eq!(code.split_whitespace().collect::<String>(), "fna(){}fnd(){}");
    assert_eq!(code.len(), text.len());
}
