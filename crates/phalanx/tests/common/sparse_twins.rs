//! Two worlds with one history: sparse components of every kind, and the question whether their sets are the same.

use phalanx::prelude::Component;

use super::ledger::Serial;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
pub struct Seat(pub u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", layout = "soa", track = "row")]
pub struct Burn {
    pub dps: u32,
    pub by: String,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
pub struct Spark;

#[derive(Component)]
#[component(storage = "sparse")]
pub struct Held(#[allow(dead_code, reason = "not every test file reads it")] pub Serial);

/// Fails unless the sets of these components are the same in both worlds, in their order and as these entities see them.
macro_rules! assert_same_sets {
    ($one:expr, $other:expr, $entities:expr, $($component:ty)*) => {$({
        let (one, other) = ($one.sparse::<$component>(), $other.sparse::<$component>());
        assert_eq!((one.len(), one.holes(), one.entities()), (other.len(), other.holes(), other.entities()));
        let values = other.iter().map(|value| format!("{value:?}"));
        assert!(one.iter().map(|value| format!("{value:?}")).eq(values));
        for &entity in $entities {
            assert_eq!(one.index_of(entity), other.index_of(entity));
            assert_eq!(format!("{:?}", one.get(entity)), format!("{:?}", other.get(entity)));
        }
    })*};
}
pub(crate) use assert_same_sets;
