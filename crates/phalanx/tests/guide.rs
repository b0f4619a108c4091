//! The guide on storage says what it must; its program is compiled and run as a documentation test.
//!
//! The library's documentation includes the page, so its code cannot rot; this file holds it to its promises.
#![forbid(unsafe_code)]

fn guide() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/storage.md");
    std::fs::read_to_string(path).expect("the guide on storage is part of the repository")
}

// E-075.
#[test]
fn the_guide_says_that_groups_need_planning() {
    assert!(guide().contains("## Groups need planning"));
}

#[test]
fn the_guide_explains_stable_sets_and_who_leads() {
    let guide = guide();
    assert!(guide.contains("## Who leads a query") && guide.contains("## Stable sets keep positions"));
}

// E-078, E-079, E-081, E-082.
#[test]
fn the_guide_weighs_tables_against_sets() {
    let guide = guide();
    for promise in [
        "## Tables iterate fast and change slowly",
        "## Tables fragment",
        "Hierarchies",
        "## Reading on",
        "ECS\nback and forth",
    ] {
        assert!(guide.contains(promise), "the guide lost `{promise}`");
    }
}
