#![forbid(unsafe_code)]
//! Phalanx: an Entity Component System for games and simulations.
//!
//! Entities carry components; entities with the same components share a table, in which every component,
//! or every *field* of a component, is one contiguous array. Start with [`World`] and
//! `#[derive(Component)]`, spelled as in other libraries; the rest is one attribute away.
//!
//! This crate contains no unsafe code: rows live in `phalanx-store`, the one small crate that does.

extern crate self as phalanx;

pub mod archetype;
pub mod bundle;
mod bundles;
pub mod component;
pub mod messages;
pub mod query;
pub mod registry;
pub mod resources;
pub mod schema;
pub mod signature;
pub mod tracking;
pub mod value;
pub mod world;

pub use bundles::BundleError;
pub use phalanx_derive::{Bundle, Component, Message, Resource};
pub use phalanx_store::{Entity, Exhausted};
pub use registry::{ComponentId, RegisterError};
pub use world::World;

/// What most programs use.
pub mod prelude {
    pub use crate::bundle::Bundle;
    pub use crate::component::Component;
    pub use crate::messages::Message;
    pub use crate::query::{Added, AnyOf, Changed, Has, Or, Query, QueryState, With, Without};
    pub use crate::resources::Resource;
    pub use crate::schema::Schema;
    pub use crate::tracking::{Mut, Ref, Tick};
    pub use crate::value::{FieldType, Value};
    pub use crate::world::{Commands, EntityRef, EntityWorldMut, World};
    pub use phalanx_derive::{Bundle, Component, Message, Resource};
    pub use phalanx_store::Entity;
}

/// What derived code names. Not a part of the public surface.
#[doc(hidden)]
pub mod __private {
    pub use crate::bundle::Bundle;
    pub use crate::component::{Component, Descriptor, Queryable, RowTracked, Track};
    pub use crate::messages::Message;
    pub use crate::registry::{ComponentId, Components, RegisterError};
    pub use crate::resources::Resource;
    pub use crate::tracking::Mut;
    pub use phalanx_store::{
        AnyColId, Col, ColCell, ColId, Fetch, Keep, Now, R, ReadFetch, Tick, Values, W, Wn,
    };
}
