//! Components of every awkward kind.
//!
//! | specimen | size | align | drop |
//! |---|---|---|---|
//! | [`Nothing`] | 0 | 1 | none |
//! | [`Grain`] | 0 | 64 | counted |
//! | [`Byte`] | 1 | 1 | none |
//! | [`Wide32`], [`Wide64`] | 32, 64 | 32, 64 | none |
//! | [`Wide128`], [`Page`] | 128, 4096 | 128, 4096 | known to the ledger |
//! | [`Text`] | a `String` | 8 | frees memory |
//! | [`Tracked`] | 24 | 8 | known to the ledger |
//!
//! What the ledger knows can be told to panic on its n-th drop or clone. Each specimen is kept whole
//! ([`Whole`]) and as a field ([`Menagerie`]), one with row ticks too ([`TickedFields`]); [`Tag`] is a unit
//! struct. Some are kept in sparse and in stable sets as well ([`SparseWhole`], [`StableFields`] and so on). A scenario is a function over a [`Kind`], which `for_each_kind!` runs for all of them and
//! `for_each_counted!` for one of each layout whose drops the ledger sees.
#![allow(dead_code, unused_macros, unused_imports, reason = "each test file uses a part")]

use phalanx::prelude::{AnyComponent, Component, Entity, World};

use super::ledger::{self, Event, Serial};

/// A value that can be made from a number, and recognised.
pub trait Specimen: Clone + Send + Sync + Sized + 'static {
    /// How many drops of one value the ledger sees.
    const COUNTED: usize = 0;

    fn make(seed: u32) -> Self;
    fn is(&self, seed: u32) -> bool;
}

#[derive(Clone, Debug)]
pub struct Nothing;

impl Specimen for Nothing {
    fn make(_: u32) -> Self {
        Self
    }
    fn is(&self, _: u32) -> bool {
        true
    }
}

#[derive(Debug)]
#[repr(align(64))]
pub struct Grain(());

impl Specimen for Grain {
    const COUNTED: usize = 1;

    fn make(_: u32) -> Self {
        ledger::grain_made();
        Self(())
    }
    fn is(&self, _: u32) -> bool {
        true
    }
}

impl Clone for Grain {
    fn clone(&self) -> Self {
        ledger::happens(Event::Clone);
        Self::make(0)
    }
}

impl Drop for Grain {
    fn drop(&mut self) {
        ledger::grain_dropped();
    }
}

/// Plain data: equal to what was made from the seed, or not.
macro_rules! plain {
    ($(#[$attribute:meta])* $name:ident, $seed:ident => $value:expr, $held:ty) => {
        #[derive(Clone, Debug, PartialEq)]
        $(#[$attribute])*
        pub struct $name(pub $held);

        impl Specimen for $name {
            fn make($seed: u32) -> Self {
                Self($value)
            }
            fn is(&self, seed: u32) -> bool {
                *self == Self::make(seed)
            }
        }
    };
}
plain!(Byte, seed => seed.to_le_bytes()[0], u8);
plain!(#[repr(align(32))] Wide32, seed => seed, u32);
plain!(#[repr(align(64))] Wide64, seed => [seed; 16], [u32; 16]);
plain!(Text, seed => format!("a text that lives on the heap, number {seed}"), String);

/// Data that the ledger knows.
macro_rules! counted {
    ($(#[$attribute:meta])* $name:ident) => {
        #[derive(Clone, Debug)]
        $(#[$attribute])*
        pub struct $name {
            pub seed: u32,
            serial: Serial,
        }

        impl Specimen for $name {
            const COUNTED: usize = 1;

            fn make(seed: u32) -> Self {
                Self { seed, serial: Serial::new() }
            }
            fn is(&self, seed: u32) -> bool {
                self.serial.is_live() && self.seed == seed
            }
        }
    };
}
counted!(Tracked);
counted!(
    #[repr(align(128))]
    Wide128
);
counted!(
    #[repr(align(4096))]
    Page
);

/// A component that scenarios run over.
pub trait Kind: AnyComponent + Clone {
    /// How many drops of one value the ledger sees.
    const COUNTED: usize;
    /// The bytes of a row, at least, in all its columns.
    const BYTES: usize;

    fn make(seed: u32) -> Self;

    /// Whether the entity has the value made from the seed, at addresses that its types allow.
    fn held(world: &World, entity: Entity, seed: u32) -> bool;

    /// Whether a value outside the world is the one made from the seed.
    fn is(&self, seed: u32) -> bool;
}

/// The kind's name, for messages.
pub fn name<K: Kind>() -> &'static str {
    std::any::type_name::<K>()
}

/// Fails unless each entity has the value made from its seed.
#[track_caller]
pub fn assert_held<K: Kind>(world: &World, expected: impl IntoIterator<Item = (Entity, u32)>) {
    let lost = expected.into_iter().find(|&(entity, seed)| !K::held(world, entity, seed));
    if let Some((entity, seed)) = lost {
        panic!("{}: {entity} does not hold value {seed}", name::<K>());
    }
}

/// Fails unless the entity has no component of the kind.
#[track_caller]
pub fn assert_lacks<K: Kind>(world: &World, entity: Entity) {
    assert!(world.get::<K>(entity).is_none(), "{}: {entity} has a value", name::<K>());
    let has = world.get_entity(entity).is_ok_and(|entity| entity.contains::<K>());
    assert!(!has, "{}: {entity} has the component in its signature", name::<K>());
}

fn is_aligned<T>(value: &T) -> bool {
    std::ptr::from_ref(value).addr().is_multiple_of(align_of::<T>())
}

#[derive(Component, Clone, Debug)]
pub struct Tag;

impl Kind for Tag {
    const COUNTED: usize = 0;
    const BYTES: usize = 0;

    fn make(_: u32) -> Self {
        Self
    }
    fn held(world: &World, entity: Entity, _: u32) -> bool {
        world.get::<Self>(entity).is_some()
    }
    fn is(&self, _: u32) -> bool {
        true
    }
}

/// One column of whole values, with the given storage.
macro_rules! whole {
    ($name:ident, $($storage:tt)*) => {
        #[derive(Component, Clone, Debug)]
        #[component($($storage)*)]
        pub struct $name<T: Specimen>(pub T);

        impl<T: Specimen> Kind for $name<T> {
            const COUNTED: usize = T::COUNTED;
            const BYTES: usize = size_of::<T>();

            fn make(seed: u32) -> Self {
                Self(T::make(seed))
            }
            fn held(world: &World, entity: Entity, seed: u32) -> bool {
                world.get::<Self>(entity).is_some_and(|row| is_aligned(&row.0) && row.0.is(seed))
            }
            fn is(&self, seed: u32) -> bool {
                self.0.is(seed)
            }
        }
    };
}
whole!(Whole, storage = "table");
whole!(SparseWhole, storage = "sparse");
whole!(StableWhole, storage = "sparse", stable);

/// Columns of fields and of row ticks, with the given storage.
macro_rules! ticked_fields {
    ($name:ident, $($storage:tt)*) => {
        #[derive(Component, Clone, Debug)]
        #[component(layout = "soa", track = "row", $($storage)*)]
        pub struct $name<T: Specimen> {
            pub first: T,
            pub seed: u32,
            pub second: T,
        }

        impl<T: Specimen> Kind for $name<T> {
            const COUNTED: usize = 2 * T::COUNTED;
            const BYTES: usize = 2 * size_of::<T>() + size_of::<u32>() + 2 * size_of::<u64>();

            fn make(seed: u32) -> Self {
                Self { first: T::make(seed), seed, second: T::make(seed + 1) }
            }
            fn held(world: &World, entity: Entity, seed: u32) -> bool {
                world.get::<Self>(entity).is_some_and(|row| {
                    let aligned = is_aligned(row.first) && is_aligned(row.seed) && is_aligned(row.second);
                    aligned && row.first.is(seed) && *row.seed == seed && row.second.is(seed + 1)
                })
            }
            fn is(&self, seed: u32) -> bool {
                self.first.is(seed) && self.seed == seed && self.second.is(seed + 1)
            }
        }
    };
}
ticked_fields!(TickedFields, storage = "table");
ticked_fields!(SparseFields, storage = "sparse");
ticked_fields!(StableFields, storage = "sparse", stable);

/// A neighbour of the kind in a bundle; known to the ledger too.
macro_rules! neighbour {
    ($name:ident) => {
        #[derive(Component, Clone, Debug)]
        pub struct $name(pub Tracked);

        impl Kind for $name {
            const COUNTED: usize = 1;
            const BYTES: usize = size_of::<Tracked>();

            fn make(seed: u32) -> Self {
                Self(Tracked::make(seed))
            }
            fn held(world: &World, entity: Entity, seed: u32) -> bool {
                world.get::<Self>(entity).is_some_and(|row| is_aligned(row) && row.0.is(seed))
            }
            fn is(&self, seed: u32) -> bool {
                self.0.is(seed)
            }
        }
    };
}
neighbour!(Left);
neighbour!(Right);

/// One byte beside a kind, so that an address is right by care and not by luck.
#[derive(Component, Clone, Debug, PartialEq)]
pub struct Crumb(pub u8);

/// Every specimen as a field.
#[derive(Component, Clone, Debug)]
#[component(layout = "soa")]
pub struct Menagerie {
    pub nothing: Nothing,
    pub grain: Grain,
    pub byte: Byte,
    pub wide32: Wide32,
    pub wide64: Wide64,
    pub wide128: Wide128,
    pub page: Page,
    pub text: Text,
    pub tracked: Tracked,
}

impl Kind for Menagerie {
    const COUNTED: usize = 4;
    const BYTES: usize = 1 + 32 + 64 + 128 + 4096 + size_of::<Text>() + size_of::<Tracked>();

    fn make(seed: u32) -> Self {
        Self {
            nothing: Nothing,
            grain: Grain::make(seed),
            byte: Byte::make(seed),
            wide32: Wide32::make(seed),
            wide64: Wide64::make(seed),
            wide128: Wide128::make(seed),
            page: Page::make(seed),
            text: Text::make(seed),
            tracked: Tracked::make(seed),
        }
    }
    fn held(world: &World, entity: Entity, seed: u32) -> bool {
        fn fits<T: Specimen>(value: &T, seed: u32) -> bool {
            is_aligned(value) && value.is(seed)
        }
        let Some(row) = world.get::<Self>(entity) else { return false };
        let plain = fits(row.nothing, seed) && fits(row.byte, seed) && fits(row.text, seed);
        let wide = fits(row.wide32, seed) && fits(row.wide64, seed) && fits(row.wide128, seed);
        plain && wide && fits(row.page, seed) && fits(row.grain, seed) && fits(row.tracked, seed)
    }
    fn is(&self, seed: u32) -> bool {
        let plain = self.byte.is(seed) && self.text.is(seed) && self.wide32.is(seed) && self.wide64.is(seed);
        plain && self.wide128.is(seed) && self.page.is(seed) && self.tracked.is(seed)
    }
}

/// Runs a scenario over kinds whose drops the ledger sees, in every layout, in tables.
macro_rules! for_each_counted_in_tables {
    ($scenario:ident) => {
        $scenario::<$crate::common::zoo::Whole<$crate::common::zoo::Grain>>();
        $scenario::<$crate::common::zoo::Whole<$crate::common::zoo::Tracked>>();
        $scenario::<$crate::common::zoo::TickedFields<$crate::common::zoo::Tracked>>();
        $scenario::<$crate::common::zoo::Menagerie>();
    };
}

/// Runs a scenario over kinds whose drops the ledger sees, in every layout and every storage.
macro_rules! for_each_counted {
    ($scenario:ident) => {
        $crate::common::zoo::for_each_counted_in_tables!($scenario);
        $scenario::<$crate::common::zoo::SparseWhole<$crate::common::zoo::Grain>>();
        $scenario::<$crate::common::zoo::SparseFields<$crate::common::zoo::Tracked>>();
        $scenario::<$crate::common::zoo::StableWhole<$crate::common::zoo::Tracked>>();
        $scenario::<$crate::common::zoo::StableFields<$crate::common::zoo::Page>>();
    };
}

/// Runs a scenario over the whole zoo, in tables.
macro_rules! for_each_kind_in_tables {
    ($scenario:ident) => {
        $crate::common::zoo::for_each_counted_in_tables!($scenario);
        $scenario::<$crate::common::zoo::Tag>();
        $scenario::<$crate::common::zoo::Whole<$crate::common::zoo::Byte>>();
        $scenario::<$crate::common::zoo::Whole<$crate::common::zoo::Wide64>>();
        $scenario::<$crate::common::zoo::Whole<$crate::common::zoo::Wide128>>();
        $scenario::<$crate::common::zoo::Whole<$crate::common::zoo::Page>>();
        $scenario::<$crate::common::zoo::Whole<$crate::common::zoo::Text>>();
    };
}

/// Runs a scenario over the whole zoo, in every storage.
macro_rules! for_each_kind {
    ($scenario:ident) => {
        $crate::common::zoo::for_each_kind_in_tables!($scenario);
        $scenario::<$crate::common::zoo::SparseWhole<$crate::common::zoo::Grain>>();
        $scenario::<$crate::common::zoo::SparseWhole<$crate::common::zoo::Wide128>>();
        $scenario::<$crate::common::zoo::SparseFields<$crate::common::zoo::Tracked>>();
        $scenario::<$crate::common::zoo::SparseWhole<$crate::common::zoo::Text>>();
        $scenario::<$crate::common::zoo::StableWhole<$crate::common::zoo::Byte>>();
        $scenario::<$crate::common::zoo::StableWhole<$crate::common::zoo::Text>>();
        $scenario::<$crate::common::zoo::StableFields<$crate::common::zoo::Page>>();
    };
}

pub(crate) use {for_each_counted, for_each_counted_in_tables, for_each_kind, for_each_kind_in_tables};
