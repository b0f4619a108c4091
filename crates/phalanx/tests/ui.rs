//! What must not compile, with the words the user gets to read.
//!
//! Each file in `ui` fails as its `.stderr` says; a file of the same name in `ui/pass` does nearly the same
//! and compiles, so that a failure is known to have the reason that is meant. Those that compile are modules of this program:
//! as programs of their own they would take most of the time of all tests.
//! `TRYBUILD=overwrite cargo test --test ui` writes the `.stderr` files anew.
// What passes stays as near as it can to what fails, and is no example of style.
#![allow(missing_docs, dead_code, unused_qualifications, clippy::all, clippy::pedantic, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn compile_errors_say_what_is_wrong() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
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
