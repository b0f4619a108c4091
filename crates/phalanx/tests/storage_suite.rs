//! The behaviour of a world, as one list of facts that runs over every kind of storage.
//!
//! `storage/facts.rs` does not know where its components live. It is compiled once per file of this list, each of
//! which makes the same components with another storage: that attribute is the one switch. What may differ, the
//! order of visits and what counts as a move, is asked of `KIND`, and the facts say so where they ask.
#![forbid(unsafe_code)]
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
#![allow(clippy::duplicate_mod, reason = "the facts are compiled once per storage")]

/// The components of the facts, with the given storage.
macro_rules! cast {
    ($($storage:tt)*) => {
        use phalanx::prelude::Component;

        #[derive(Component, Clone, Debug, Default, PartialEq)]
        #[component($($storage)*)]
        pub struct Health(pub u32);

        #[derive(Component, Clone, Debug, Default, PartialEq)]
        #[component($($storage)*)]
        pub struct Name(pub String);

        #[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
        #[component(layout = "soa", $($storage)*)]
        pub struct Position {
            pub x: f32,
            pub y: f32,
        }

        #[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
        #[component($($storage)*)]
        pub struct Frozen;

        #[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
        #[component(track = "row", $($storage)*)]
        pub struct Armour(pub u32);

        #[derive(Component, Clone, Debug, Default, PartialEq)]
        #[component(layout = "soa", track = "row", $($storage)*)]
        pub struct Label {
            pub text: String,
            pub size: u8,
        }

        #[derive(Component, Clone, Copy, Debug, PartialEq)]
        #[component($($storage)*)]
        #[require(Health(7), Label { text: "mage".to_owned(), size: 3 }, Anchor(1))]
        pub struct Mage;

        #[derive(Component, Clone, Copy, Debug, PartialEq)]
        #[component(track = "none", $($storage)*)]
        #[repr(align(64))]
        pub struct Wide(pub u8);

        /// Always in a table, so that there are rows beside sets.
        #[derive(Component, Clone, Copy, Debug, PartialEq)]
        pub struct Anchor(pub u32);
    };
}

#[path = "storage/sparse.rs"]
mod sparse;
#[path = "storage/stable.rs"]
mod stable;
#[path = "storage/table.rs"]
mod table;
