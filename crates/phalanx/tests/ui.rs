//! What must not compile, with the words the user gets to read.
//!
//! Each file in `ui` fails as its `.stderr` says; a file of the same name in `ui/pass` does nearly the same
//! and compiles, so that a failure is known to have the reason that is meant. Those that compile are modules of this program:
//! as programs of their own they would take most of the time of all tests.
//! `PHALANX_UI=overwrite cargo test -p phalanx --test ui` writes the `.stderr` files anew.
// What passes stays as near as it can to what fails, and is no example of style.
#![allow(missing_docs, dead_code, unused_qualifications, clippy::all, clippy::pedantic, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "ui/harness/compiler.rs"]
mod compiler;
#[path = "ui/harness/messages.rs"]
mod messages;

#[test]
fn compile_errors_say_what_is_wrong() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (compiler, workspace) = (compiler::Compiler::new(), compiler::workspace());
    let overwrite = std::env::var("PHALANX_UI").is_ok_and(|value| value == "overwrite");
    let check = |name: &str| {
        let case = format!("tests/ui/{name}.rs");
        let Err(said) = compiler.check(&format!("crates/phalanx/{case}")) else {
            return Some(format!("{case} compiles"));
        };
        let found = messages::kept(&said, &case, &workspace);
        let kept = package.join("tests/ui").join(name).with_extension("stderr");
        if overwrite {
            fs::write(kept, found).unwrap();
            return None;
        }
        let expected = fs::read_to_string(kept).unwrap_or_default();
        let same = messages::same(&expected, &found);
        (!same).then(|| format!("{case}\nexpected:\n{expected}\nfound:\n{found}"))
    };
    // As many at once as there are processors.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(name) = PASS.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(check(name));
        }
        wrong
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {} cases differ:\n{}", wrong.len(), PASS.len(), wrong.join("\n"));
}

#[test]
fn messages_are_kept_without_what_differs_by_machine() {
    let types = |count: usize| (0..count).map(|n| format!("              T{n}\n")).collect::<String>();
    let message = |file: &str, line: &str, types: &str, end: &str| {
        format!(
            "error: no\n  --> tests/ui/a.rs:10:4\n   |\n10 | let a;\n   |     ^ here\nnote: by this\n   --> {file}\n\
             {line} | fn b();\n    = help: the following other types implement trait `A`:\n{types}{end}\n"
        )
    };
    let said = message("/home/a/crates/b/src/lib.rs:120:4", "120", &types(10), "    = note: the end\n\n");
    let kept = message("$WORKSPACE/crates/b/src/lib.rs", "", &types(8), "and $N others\n  = note: the end");
    let found = messages::kept(&said, "tests/ui/a.rs", Path::new("/home/a"));
    assert!(messages::same(&kept, &found), "{found}");
    assert!(!messages::same(&kept, &found.replace("10 |", "11 |")), "lines of the case are compared");
    assert!(!messages::same(&kept, &found.replace("here", "there")));
    let nine = message("$RUST/core/src/mem.rs", "", &types(9), "end");
    let said = message("/rustc/0123/library/core/src/mem.rs:1:2", "1", &types(9), "end");
    let found = messages::kept(&said, "tests/ui/a.rs", Path::new("/home/a"));
    assert!(messages::same(&nine, &found), "{found}");
}

/// The modules of `ui/pass`, and a test for each.
macro_rules! pass {
    ($($name:ident)*) => {
        #[path = "ui/pass"]
        mod pass {
            $(pub mod $name;)*
        }

        /// Each of them compiles, and does what it says.
        mod passes {
            $(
                #[test]
                fn $name() {
                    super::pass::$name::main();
                }
            )*
        }

        const PASS: &[&str] = &[$(stringify!($name)),*];
    };
}

pass! {
    borrow_alias borrow_change borrow_end borrow_growth borrow_handles bundle_parts bundle_shapes
    component_immutable component_keys component_shapes component_threads component_values conditions
    derive_query_alive derive_query_chunks derive_query_keys derive_query_mutable derive_query_parts
    derive_query_private derive_query_read derive_query_shapes field_types field_unknown ids message_columns
    observe_untracked plain pool_insert_undeclared pool_missing_required pool_other_handle
    pool_query_undeclared pool_remove_required pool_shapes pool_too_many pool_two_fields
    query_changed_untracked query_chunks_by_row query_internals query_items_outlive query_lending
    query_lending_twice query_lens query_many_terms query_other_lifetimes query_outside_terms
    query_readonly_again query_readonly_borrows query_smuggle query_structural query_terms query_threads
    query_threads_results query_two_writers query_write_through_reading read_only_systems require_syntax
    require_value soa_drop soa_get soa_private sparse_on_table sparse_stable spawn states system_params
    system_tuples
}

#[test]
fn every_case_has_a_twin_that_compiles() {
    let files = |directory: &str| -> BTreeSet<String> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
        let names =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect()
    };
    let listed: BTreeSet<String> = PASS.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(files("tests/ui"), listed);
    assert_eq!(files("tests/ui/pass"), listed);
}
