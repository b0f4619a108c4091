//! What must not compile, with the words the user gets to read.
//!
//! Each file in `ui` fails as its `.stderr` says; a file of the same name in `ui/pass` does nearly the same
//! and compiles, so that a failure is known to have the reason that is meant.
//! `TRYBUILD=overwrite cargo test --test ui` writes the `.stderr` files anew.

#[test]
fn compile_errors_say_what_is_wrong() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
