//! Relations: both halves agree on every path, order is kept, cycles are refused, and nothing is recursive.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "what fails here is a failed test")]
#![expect(clippy::cast_possible_truncation, reason = "small numbers")]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

#[path = "common/random.rs"]
mod random;
#[path = "common/steps.rs"]
mod steps;

#[path = "relations/children.rs"]
mod children;
#[path = "relations/cloning.rs"]
mod cloning;
#[path = "relations/despawning.rs"]
mod despawning;
#[path = "relations/direct.rs"]
mod direct;
#[path = "relations/disabling.rs"]
mod disabling;
#[path = "relations/hazards.rs"]
mod hazards;
#[path = "relations/index.rs"]
mod index;
#[path = "relations/many.rs"]
mod many;
#[path = "relations/model.rs"]
mod model;
#[path = "relations/own.rs"]
mod own;
#[path = "relations/queries.rs"]
mod queries;
