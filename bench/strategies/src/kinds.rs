//! Sixty components, pools that declare 5, 15, 30 or 60 of them, and the bundles by which General gets the same.
//!
//! `C0` and `C1` are required, all others optional. A composition is a mask: bit `n` says whether `Cn` is present.

use phalanx::pool::{DeclaredPool, Declares, Optional};
use phalanx::prelude::*;

/// Calls a macro with the components from `C2` on, as many as make up a number together with `C0` and `C1`.
macro_rules! with_parts {
    (2, $call:ident, $head:tt $($part:tt)*) => { $call! { $head $($part)* } };
    (3, $call:ident, $head:tt $($part:tt)*) => {
        with_parts! { 2, $call, $head (C2 c2 2) $($part)* }
    };
    (5, $call:ident, $head:tt $($part:tt)*) => {
        with_parts! { 3, $call, $head (C3 c3 3) (C4 c4 4) $($part)* }
    };
    (8, $call:ident, $head:tt $($part:tt)*) => {
        with_parts! { 5, $call, $head (C5 c5 5) (C6 c6 6) (C7 c7 7) $($part)* }
    };
    (15, $call:ident, $head:tt $($part:tt)*) => {
        with_parts! { 8, $call, $head
            (C8 c8 8) (C9 c9 9) (C10 c10 10) (C11 c11 11) (C12 c12 12) (C13 c13 13) (C14 c14 14) $($part)* }
    };
    (30, $call:ident, $head:tt $($part:tt)*) => {
        with_parts! { 15, $call, $head
            (C15 c15 15) (C16 c16 16) (C17 c17 17) (C18 c18 18) (C19 c19 19) (C20 c20 20) (C21 c21 21)
            (C22 c22 22) (C23 c23 23) (C24 c24 24) (C25 c25 25) (C26 c26 26) (C27 c27 27) (C28 c28 28)
            (C29 c29 29) $($part)* }
    };
    (60, $call:ident, $head:tt $($part:tt)*) => {
        with_parts! { 30, $call, $head
            (C30 c30 30) (C31 c31 31) (C32 c32 32) (C33 c33 33) (C34 c34 34) (C35 c35 35) (C36 c36 36)
            (C37 c37 37) (C38 c38 38) (C39 c39 39) (C40 c40 40) (C41 c41 41) (C42 c42 42) (C43 c43 43)
            (C44 c44 44) (C45 c45 45) (C46 c46 46) (C47 c47 47) (C48 c48 48) (C49 c49 49) (C50 c50 50)
            (C51 c51 51) (C52 c52 52) (C53 c53 53) (C54 c54 54) (C55 c55 55) (C56 c56 56) (C57 c57 57)
            (C58 c58 58) (C59 c59 59) $($part)* }
    };
}

macro_rules! components {
    (() $(($component:ident $field:ident $at:literal))*) => {
        components! { @each C0 C1 $($component)* }
    };
    (@each $($component:ident)*) => {
        $(
            /// One number.
            #[derive(Component, Clone, Copy)]
            pub struct $component(#[allow(dead_code, reason = "most are only moved")] pub f32);
        )*
    };
}

with_parts! { 60, components, () }

/// The starting value of a component.
#[inline(always)]
fn value(index: usize, component: usize) -> f32 {
    ((index + component) % 1024) as f32 * 0.25
}

/// A pool that declares `C0` and `C1` as required and some more as optional.
pub trait Kind: DeclaredPool + Declares<C0> + Declares<C1> + Optional<C2> {
    /// What the lines of the strategy are called.
    const NAME: &'static str;

    /// The value of one entity; bit `n` of the composition says whether it has `Cn`.
    fn nth(index: usize, composition: u64) -> Self;
}

macro_rules! pool {
    (($name:ident $storage:tt) $(($component:ident $field:ident $at:literal))*) => {
        #[derive(Pool)]
        #[pool(storage = $storage)]
        pub struct $name {
            c0: C0,
            c1: C1,
            $($field: Option<$component>,)*
        }

        impl Kind for $name {
            const NAME: &'static str = $storage;

            #[inline(always)]
            fn nth(index: usize, composition: u64) -> Self {
                Self {
                    c0: C0(value(index, 0)),
                    c1: C1(value(index, 1)),
                    $($field: (composition >> $at & 1 != 0).then_some($component(value(index, $at))),)*
                }
            }
        }
    };
}

with_parts! { 5, pool, (Inline5 "inline") }
with_parts! { 5, pool, (Boxed5 "boxed") }
with_parts! { 15, pool, (Inline15 "inline") }
with_parts! { 15, pool, (Boxed15 "boxed") }
with_parts! { 30, pool, (Inline30 "inline") }
with_parts! { 30, pool, (Boxed30 "boxed") }
with_parts! { 60, pool, (Inline60 "inline") }
with_parts! { 60, pool, (Boxed60 "boxed") }

/// The components of an entity of General.
pub trait Loose: Bundle {
    /// The components of one entity.
    fn nth(index: usize) -> Self;
}

macro_rules! bundle {
    (($name:ident) $(($component:ident $field:ident $at:literal))*) => {
        #[derive(Bundle)]
        pub struct $name {
            c0: C0,
            c1: C1,
            $($field: $component,)*
        }

        impl Loose for $name {
            #[inline(always)]
            fn nth(index: usize) -> Self {
                Self {
                    c0: C0(value(index, 0)),
                    c1: C1(value(index, 1)),
                    $($field: $component(value(index, $at)),)*
                }
            }
        }
    };
}

with_parts! { 2, bundle, (Loose2) }
with_parts! { 3, bundle, (Loose3) }
with_parts! { 5, bundle, (Loose5) }
with_parts! { 8, bundle, (Loose8) }
with_parts! { 15, bundle, (Loose15) }
with_parts! { 30, bundle, (Loose30) }
with_parts! { 60, bundle, (Loose60) }

/// The composition of an entity with the first so many components.
pub const fn first(present: usize) -> u64 {
    (1 << present) - 1
}

/// Spawns an entity of General with those of the first fifteen components that the composition says.
pub fn scattered(world: &mut World, index: usize, composition: u64) -> Entity {
    let mut entity = world.spawn((C0(value(index, 0)), C1(value(index, 1))));
    macro_rules! add {
        (() $(($component:ident $field:ident $at:literal))*) => {
            $(if composition >> $at & 1 != 0 {
                entity.insert($component(value(index, $at)));
            })*
        };
    }
    with_parts! { 15, add, () }
    entity.id()
}
