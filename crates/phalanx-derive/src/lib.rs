//! Derive macros for Phalanx: `Component`, `Bundle`, `Resource` and `Message`.
//!
//! The macros write declarations only: types, and trait functions that forward. How columns are kept and
//! visited is the business of the libraries. Emitted code names everything by absolute path
//! (`::core::..`, `::phalanx::__private::..`), holds no unsafe code, and works where the prelude is
//! shadowed or the library is renamed (`#[component(crate = "path")]`).
//!
//! ```text
//!   attr, require      what stands in the attributes
//!   target             the type a derive stands on: names, generics, the library's path
//!   column, nest       one column; many columns as nested tuples
//!   component, whole, soa, soa/*    bundle    plain      what is emitted
//! ```
#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod attr;
mod bundle;
mod column;
mod component;
mod names;
mod nest;
mod plain;
mod require;
mod soa;
mod target;
mod whole;

/// Makes a type a component, which entities can carry.
///
/// A unit struct becomes a tag. Any other struct or enum is kept as whole values, or field by field
/// with `layout = "soa"`.
///
/// | `#[component(..)]` | meaning |
/// |---|---|
/// | `name = "game.Position"` | the name in a world; the path of the type unless given |
/// | `layout = "whole"` | one column of whole values (the default); rows are `&T` and `&mut T` |
/// | `layout = "soa"` | one column per field; see below |
/// | `track = "block"` | remember the last write per 1,024 rows (the default) |
/// | `track = "row"` | also remember for each row when it was added and changed |
/// | `track = "none"` | remember nothing |
/// | `fields = "pos"` | the name of the module of field markers, with `layout = "soa"` |
/// | `storage = "table"` | kept in the tables of archetypes (the default) |
/// | `crate = "path"` | where the library is found; `::phalanx` unless given |
///
/// `#[require(Other, Third(3), Fourth { a: 1 }, Fifth = expression)]` names components that are added
/// with this one where they are missing: by `Default`, as the given value, or as the given expression.
///
/// For `layout = "soa"` on `struct Position { x: f32, y: f32 }` there appear beside it:
/// - the module `position` with one type per field: `&position::x` in a query reads that field alone;
///   the fields of a tuple struct are called `_0`, `_1`;
/// - `PositionRef` and `PositionMut`, one row, whose fields are references;
/// - `PositionSlices` and `PositionSlicesMut`, a run of rows, whose fields are slices.
///
/// They are as visible as the struct, so the types of its fields must be, too. A type with a `Drop` of
/// its own cannot be taken apart into fields.
#[proc_macro_derive(Component, attributes(component, require))]
pub fn derive_component(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(component::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct whose fields are components or bundles a bundle: they are spawned, inserted and
/// removed together.
///
/// `#[bundle(crate = "path")]` says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(Bundle, attributes(bundle))]
pub fn derive_bundle(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(bundle::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type a resource, of which a world holds at most one value.
///
/// `#[resource(crate = "path")]` says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(Resource, attributes(resource))]
pub fn derive_resource(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(plain::resource(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type a message, which systems write and read.
///
/// `#[message(crate = "path")]` says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(plain::message(&parse_macro_input!(input as DeriveInput)))
}

fn finish(tokens: syn::Result<TokenStream>) -> proc_macro::TokenStream {
    tokens.unwrap_or_else(|error| error.to_compile_error()).into()
}
