//! The pages of the guide, whose programs are compiled and run as documentation tests.
//!
//! A page is listed once, by the name of its file in `docs/guide`; `tests/guide.rs` checks that none is missing here or
//! in the book's table of contents. Three pages are about packages that this one does not know, which compile them:
//! `inspector.md` in `phalanx-inspect`, `arrow.md` in `integrations/arrow`, `cluster.md` in `integrations/mpi`.

macro_rules! pages {
    ($($name:ident $file:literal)*) => {
        $(
            #[doc = include_str!(concat!("../../../docs/guide/", $file))]
            pub struct $name;
        )*
    };
}

pages! {
    Introduction "README.md"
    FirstSteps "first-steps.md"
    SmallGame "a-small-game.md"
    Demo "demo.md"
    Entities "entities.md"
    Queries "queries.md"
    Change "change.md"
    Apps "apps.md"
    Relations "relations.md"
    Reactions "reactions.md"
    Storage "storage.md"
    Pools "pools.md"
    Parallel "parallel.md"
    Performance "performance.md"
    Rewind "rewind.md"
    Testing "testing.md"
    Saving "saving.md"
    CheatSheet "cheat-sheet.md"
    Prelude "prelude.md"
    ComingFromBevy "coming-from-bevy.md"
    ComingFromHecs "coming-from-hecs.md"
    ComingFromEntt "coming-from-entt.md"
    ComingFromFlecs "coming-from-flecs.md"
    ComingFromOecs "coming-from-oecs.md"
    Errors "errors.md"
}
