//! The guides say what they must; their programs are compiled and run as documentation tests.
//!
//! The library's documentation includes the pages, so their code cannot rot; this file holds them to their promises.
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

fn pools() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pools.md");
    std::fs::read_to_string(path).expect("the guide on pools is part of the repository")
}

// Z-020, Z-025, Z-026.
#[test]
fn the_guide_says_which_strategy_suits_which_pool() {
    let guide = pools();
    for promise in
        ["## Two strategies", "fewer than 30 components", "50 components and more, or few of many present"]
    {
        assert!(guide.contains(promise), "the guide lost `{promise}`");
    }
}

// Z-101, Z-102, Z-103, Z-104.
#[test]
fn the_guide_tells_best_practices_for_pools() {
    let guide = pools();
    for promise in [
        "**Pools for what is hot.**",
        "**General for the rest.**",
        "**Few operations across pools.**",
        "**Systems within pool borders.**",
    ] {
        assert!(guide.contains(promise), "the guide lost `{promise}`");
    }
}
