//! One way for each thing: the list of ways to spawn is whole, and no public method of a type is only another name of a
//! second one.
//!
//! Public items are read from `docs/surface`, which `.ci/surface --check` keeps equal to the code.

use std::collections::{BTreeMap, BTreeSet};

use crate::scanner::{Source, rust_files};

/// Two names for one thing that both are bevy's: type, name, other name.
const BEVYS_PAIRS: &[(&str, &str, &str)] = &[
    ("App", "empty", "new"),
    ("EntityCommands", "commands_mut", "commands"),
    ("EntityWorldMut", "detach_all_related", "remove"),
    ("Query", "get_many_mut_inner", "get_many_unique_inner"),
    ("Query", "get_many_unique_mut", "get_many_mut"),
    ("QueryIter", "remaining_mut", "remaining"),
    ("QueryState", "get_many_unique_mut", "get_many_mut"),
    ("Schedules", "reinsert", "insert"),
    ("Stepping", "clear_breakpoint", "clear_system"),
    ("Stepping", "clear_breakpoint_node", "clear_node"),
];

/// The public functions of `phalanx` as `Type::name`.
fn public_functions() -> BTreeSet<String> {
    let surface = Source::read("docs/surface/phalanx.txt").text;
    let functions = surface.lines().filter_map(|line| line.strip_prefix("function ")?.split('(').next());
    functions.map(last_two).collect()
}

/// The last two names of a path.
fn last_two(path: &str) -> String {
    let names: Vec<&str> = path.rsplit("::").take(2).collect();
    names.into_iter().rev().collect::<Vec<_>>().join("::")
}

// Issue: ways to spawn are at most five. A new function that spawns belongs to one of them, or is a sixth.
#[test]
fn each_function_that_spawns_belongs_to_one_of_five_ways() {
    let spawns = |name: &&String| {
        let method = name.rsplit("::").next().expect("a name has a last part");
        method.contains("spawn")
            && !["despawn", "is_spawned", "spawn_tick", "spawned"].iter().any(|other| method.contains(other))
    };
    let functions = public_functions();
    let found: BTreeSet<&String> = functions.iter().filter(spawns).collect();
    let adr = Source::read("docs/adr/0094-five-ways-to-spawn.md").text;
    let rows: Vec<&str> = adr.lines().filter(|line| line.starts_with("| **")).collect();
    assert_eq!(rows.len(), 5, "the ways to spawn");
    let listed: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.split('`').skip(1).step_by(2))
        .filter(|name| name.contains("::"))
        .collect();
    let found: BTreeSet<&str> = found.into_iter().map(String::as_str).collect();
    let missing: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not in the list: {missing:?}; not in the code: {gone:?}");
}

/// A public method: its name, how many types it takes, its parameters as they are written, and its body.
struct Method {
    name: String,
    types: usize,
    parameters: Vec<String>,
    body: String,
}

impl Method {
    /// A method by what stands between `fn` and its body.
    fn new(signature: &str, body: String) -> Self {
        let name = signature.split(['(', '<']).next().expect("a method has a name").to_owned();
        let (types, parameters) = match signature[name.len()..].strip_prefix('<') {
            Some(rest) => {
                let (types, rest) = list(rest);
                (types, list(&rest[1..]).0)
            }
            None => (Vec::new(), list(&signature[name.len() + 1..]).0),
        };
        let types = types.iter().filter(|one| !one.starts_with('\'')).count();
        Self { name, types, parameters, body }
    }

    /// The method of the same value that the body calls with the same arguments, and nothing else.
    fn called(&self) -> Option<&str> {
        let body = self.body.trim_end_matches(';');
        let (path, arguments) = body.strip_suffix(')')?.split_once('(')?;
        let path = path.split("::<").next()?;
        let callee = path.strip_prefix("self.").or_else(|| path.strip_prefix("Self::"))?;
        let names = self.parameters.iter().filter(|parameter| !parameter.ends_with("self"));
        let names = names.filter_map(|parameter| parameter.split(':').next());
        let names: Vec<&str> = names.map(|name| name.trim_start_matches("mut ")).collect();
        (arguments == names.join(", ")).then_some(callee)
    }
}

/// The parts of a list up to the bracket that ends it, and what comes after that.
fn list(text: &str) -> (Vec<String>, &str) {
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        let arrow = c == '>' && text[..at].ends_with('-');
        depth += i32::from("<([".contains(c)) - i32::from(">)]".contains(c) && !arrow);
        if depth < 0 || c == ',' && depth == 0 {
            all.push(text[from..at].trim().to_owned());
            from = at + 1;
        }
        if depth < 0 {
            break;
        }
    }
    all.retain(|part| !part.is_empty());
    (all, &text[from..])
}

/// The type of `impl<..> Type<..> {`; none for implementations of traits.
fn inherent(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl").filter(|_| !line.contains(" for "))?;
    let rest = rest.strip_prefix('<').map_or(rest, |types| list(types).1);
    rest.split(['<', '{', ' ']).find(|part| !part.is_empty())
}

/// The public methods of each type, as rustfmt writes them: `impl` at the beginning of a line, methods after four blanks.
fn methods() -> BTreeMap<String, Vec<Method>> {
    let mut all: BTreeMap<String, Vec<Method>> = BTreeMap::new();
    for file in rust_files("crates/phalanx/src") {
        let (mut of, mut lines) = (None, file.text.lines());
        while let Some(line) = lines.next() {
            if line.starts_with("impl") {
                of = inherent(line);
            }
            let Some(begin) = line.strip_prefix("    pub fn ") else { continue };
            let (mut signature, mut body) = (begin.to_owned(), Vec::new());
            while !signature.ends_with('{') {
                let Some(next) = lines.next() else { break };
                signature.push_str(next.trim());
            }
            body.extend(lines.by_ref().take_while(|&line| line != "    }").map(str::trim));
            let method = Method::new(&signature, body.join(""));
            all.entry(of.unwrap_or("?").to_owned()).or_default().push(method);
        }
    }
    all
}

// Issue: no two public methods that do the same under two names.
#[test]
fn no_public_method_is_another_name_of_a_second_one() {
    let (public, methods) = (public_functions(), methods());
    assert!(
        methods.len() > 100 && methods["World"].len() > 100,
        "the sources are not read as they are written"
    );
    let mut pairs = BTreeSet::new();
    for (of, methods) in &methods {
        let is_public = |name: &str| public.contains(&format!("{of}::{name}"));
        for method in methods.iter().filter(|method| is_public(&method.name)) {
            let same = |other: &&Method| {
                let alike = other.name > method.name
                    && (&other.parameters, &other.body) == (&method.parameters, &method.body);
                other.types == method.types && (alike || method.called() == Some(&other.name))
            };
            let same = methods.iter().filter(|other| is_public(&other.name)).filter(same);
            pairs.extend(same.map(|other| (of.as_str(), method.name.as_str(), other.name.as_str())));
        }
    }
    let pairs: Vec<_> = pairs.into_iter().collect();
    assert_eq!(pairs, BEVYS_PAIRS, "two names for one thing");
}

#[test]
fn a_method_that_only_calls_another_is_recognised() {
    let method = |signature: &str, body: &str| Method::new(signature, body.to_owned());
    assert_eq!(method("end(&mut self) {", "self.update();").called(), Some("update"));
    let mapped = method("a<'a, T: Fn(u8) -> u8, U>(&self, f: T, mut n: u8) -> U {", "self.b::<T>(f, n)");
    assert_eq!((mapped.called(), mapped.types), (Some("b"), 2));
    assert_eq!(method("a(&self, n: u8) {", "self.b(n, 1)").called(), None);
    assert_eq!(inherent("impl<'w, F: Fn() -> u8> Query<'w, F> {"), Some("Query"));
    assert_eq!((inherent("impl World {"), inherent("impl Drop for World {")), (Some("World"), None));
}
