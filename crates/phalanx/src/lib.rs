//! Phalanx: an Entity Component System for games and simulations.
//!
//! Entities carry components; entities with the same components share a table, in which every component,
//! or every *field* of a component, is one contiguous array. Components that come and go can live in sparse
//! sets beside the tables. Names are those of other libraries where they have the concept.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Component)]
//! struct Health(f32);
//! #[derive(Component)]
//! #[component(storage = "sparse")] // comes and goes, and nothing moves
//! struct Burning(f32);
//!
//! fn burn(time: Res<Time>, mut victims: Query<(&mut Health, &Burning)>) {
//!     for (mut health, fire) in &mut victims {
//!         health.0 -= fire.0 * time.delta_secs();
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_systems(Update, burn);
//! let e = app.world_mut().spawn((Health(10.0), Burning(4.0))).id();
//! app.step(0.5);
//! assert_eq!(app.world().get::<Health>(e).unwrap().0, 8.0);
//! ```
//!
//! | begin with | for |
//! |---|---|
//! | [`World`] | entities, components, resources and messages, by themselves |
//! | [`#[derive(Component)]`](derive@Component) | tags, whole values, fields as columns, tracking, storage, requirements |
//! | [`query`] | rows, chunks of slices, filters, changes, parallel and dynamic queries; order and speed |
//! | [`pool`] | closed kinds of entities, declared as a struct and checked by the compiler |
//! | [`system`] and [`schedule`] | functions as systems, their order, and what runs at the same time |
//! | [`app`] | phases, frames, fixed steps |
//!
//! Features: `parallel` (default) runs queries and systems on several threads; `trace` puts a `tracing` span
//! around each run of a phase or system.
//!
//! This crate contains no unsafe code: rows live in `phalanx-store`, the one small crate that does.

#![forbid(unsafe_code)]

extern crate self as phalanx;

pub mod app;
pub mod archetype;
pub mod bundle;
mod bundles;
pub mod component;
pub mod group;
pub mod messages;
pub mod pool;
pub mod query;
pub mod registry;
pub mod resources;
pub mod schedule;
pub mod schema;
pub mod signature;
mod steps;
pub mod storage;
pub mod system;
pub mod tracking;
pub mod value;
pub mod world;

pub use bundles::BundleError;
pub use phalanx_derive::{
    Bundle, Component, Message, Pool, QueryData, QueryFilter, Resource, ScheduleLabel, SystemParam, SystemSet,
};
pub use phalanx_store::{Entity, Exhausted};
pub use registry::{ComponentId, RegisterError};
pub use world::World;

/// Errors of systems, conditions and commands, and handlers for them.
pub mod error {
    pub use crate::system::{ParamError, RunSystemError};
    pub use crate::world::{BoxedError, CommandOutput, Failed, SystemError, ignore, panic, warn};
}

/// What most programs use.
pub mod prelude {
    pub use crate::app::{
        App, AppConfig, Fixed, FixedPlace, FixedUpdate, PostStartup, PostUpdate, PreStartup, PreUpdate, Real,
        Startup, Stopwatch, Time, Timer, TimerMode, Update, Virtual, on_timer, paused,
    };
    pub use crate::bundle::Bundle;
    pub use crate::component::{AnyComponent, Component};
    pub use crate::group::{Get, Group, Own};
    pub use crate::messages::Message;
    pub use crate::pool::{General, Handle, Pool};
    pub use crate::query::{
        Added, AnyOf, Changed, Has, InPool, NotInPool, Or, Query, QueryData, QueryFilter, QueryState, With,
        Without,
    };
    pub use crate::resources::Resource;
    pub use crate::schedule::{
        ApplyDeferred, IntoSetConfigs, IntoSystemConfigs, ScheduleLabel, SyncPoints, SystemKey, SystemSet,
        Threads, any_with_component, on_message, resource_changed, resource_equals, resource_exists,
        run_once,
    };
    pub use crate::schema::{Schema, StorageKind};
    pub use crate::system::{
        Input, IntoSystem, Local, MessageReader, MessageWriter, ParamSet, Res, ResMut, System, SystemParam,
        and, not, or,
    };
    pub use crate::tracking::{Mut, Ref, Tick};
    pub use crate::value::{FieldType, Value};
    pub use crate::world::{Commands, EntityRef, EntityWorldMut, FlushOrder, World};
    pub use phalanx_derive::{
        Bundle, Component, Message, Pool, QueryData, QueryFilter, Resource, ScheduleLabel, SystemParam,
        SystemSet,
    };
    pub use phalanx_store::Entity;
}

/// What derived code names. Not a part of the public surface.
#[doc(hidden)]
pub mod __private {
    pub use crate::bundle::Bundle;
    pub use crate::component::{AnyComponent, Component, Descriptor, Queryable, RowTracked, Track};
    pub use crate::messages::{Columns, Message};
    pub use crate::pool::{BundleIn, DeclaredPool, Declares, Optional, Pool, PoolMark, Strategy};
    pub use crate::query::{
        ArchetypeFilter, Condition, FilterIn, QueryData, QueryFilter, QueryIn, ReadOnlyQueryData, Term,
    };
    pub use crate::registry::{ComponentId, Components, RegisterError};
    pub use crate::resources::Resource;
    pub use crate::schedule::{ScheduleLabel, SystemSet};
    pub use crate::storage::{SparseStorage, StableStorage, TableStorage};
    pub use crate::system::{ParamError, Run, SystemMeta, SystemParam};
    pub use crate::tracking::{Mut, Tracked};
    pub use crate::world::{SharedWorld, World};
    pub use phalanx_store::{
        AnyColId, Col, ColCell, ColId, Fetch, InSet, Keep, Maybe, Now, R, ReadFetch, RowTicks, Stamp, Tick,
        Untracked, Values, W, Wn,
    };

    /// Query data that are the same as `T`; asked of the half of `T` that only reads.
    #[diagnostic::on_unimplemented(
        message = "this field writes: add `#[query_data(mutable)]` to the struct",
        label = "asks for write access"
    )]
    pub trait OnlyReads<T> {
        /// Exists when nothing is written.
        type Checked;
    }
    impl<T> OnlyReads<T> for T {
        type Checked = ();
    }
}

/// The program of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The programs of the guide on storage, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/storage.md")]
pub struct StorageGuide;

/// The programs of the guide on pools, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/pools.md")]
pub struct PoolsGuide;
