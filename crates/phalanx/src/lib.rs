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
//! | [`group`] | sparse components that are walked together |
//! | [`relation`] | parents, children, and other links between entities |
//! | [`system`] and [`schedule`] | functions as systems, their order, and what runs at the same time |
//! | [`app`] and [`state`] | phases, frames, fixed steps, plugins, running to the end; what a program is doing at the moment |
//! | [`observer`] and [`lifecycle`] | reacting to components that come, go and change, and to events |
//! | [`capture`] | checkpoints, rewinding, digests, differences |
//! | `save` (feature `serde`) | saving and loading |
//!
//! Features: `parallel` (default) runs queries and systems on several threads; `trace` puts a `tracing` span
//! around each run of a phase or system; `ctrl_c` lets ctrl-C end an app cleanly; `serde` saves and loads worlds;
//! `smallvec` and `indexmap` let lists of relations be a `SmallVec` or an `IndexSet`.
//!
//! This crate contains no unsafe code: rows live in `phalanx-store`, the one small crate that does.

#![forbid(unsafe_code)]
#![allow(
    clippy::implied_bounds_in_impls,
    reason = "a bound on the shape of a condition by itself lets the compiler name what is wrong with one"
)]

extern crate self as phalanx;

pub mod app;
pub mod archetype;
pub mod bundle;
mod bundles;
pub mod capture;
#[cfg(feature = "serde")]
mod codec;
pub mod component;
pub mod entity;
pub mod fields;
pub mod group;
pub mod messages;
pub mod name;
mod names;
pub mod pool;
pub mod query;
pub mod registry;
pub mod relation;
pub mod resources;
#[cfg(feature = "serde")]
pub mod save;
pub mod schedule;
pub mod schema;
pub mod signature;
pub mod state;
mod steps;
pub mod storage;
pub mod system;
pub mod tracking;
pub mod value;
pub mod world;

pub use bundles::BundleError;
pub use phalanx_derive::{
    AppLabel, Bundle, Component, Deref, DerefMut, Digestible, EntityEvent, Event, Message, Pool, QueryData,
    QueryFilter, Resource, ScheduleLabel, States, SubStates, SystemParam, SystemSet,
};
pub use phalanx_store::{Entity, Exhausted};
pub use registry::{ComponentId, RegisterError};
pub use world::World;

/// Reacting to what comes and goes: hooks, and the events that they run at.
pub mod lifecycle {
    pub use crate::system::{RemovalId, RemovedComponents};
    pub use crate::world::{
        Add, AddEvent, ArchetypeCreated, ArchetypeDropped, Collects, ComponentHook, ComponentHooks, Despawn,
        DespawnEvent, Discard, DiscardEvent, EndlessReactions, HookContext, HooksMut, Insert, InsertEvent,
        Matched, MatchedEvent, Mutate, MutateEvent, Remove, RemoveEvent, RemovedComponentLogs, Unmatched,
        UnmatchedEvent,
    };
}

/// What changed, and when: what [`tracking`] has, by bevy's name.
pub mod change_detection {
    pub use crate::system::{Res, ResMut, SystemChangeTick};
    pub use crate::tracking::{ComponentTicks, DetectChanges, DetectChangesMut, Mut, MutPart, Ref, Tick};
    pub use crate::world::{NonSend, NonSendMut};
}

/// Messages: what [`messages`] has, and the parameters that read and write them.
pub mod message {
    pub use crate::messages::Cursor as MessageCursor;
    pub use crate::messages::*;
    pub use crate::system::{MessageMutator, MessageReader, MessageWriter, PopulatedMessageReader};
    pub use phalanx_derive::Message;
}

/// Resources: what [`resources`] has, by bevy's name.
pub mod resource {
    pub use crate::resources::*;
    pub use phalanx_derive::Resource;
}

/// Parents and children.
pub mod hierarchy {
    pub use crate::relation::{ChildOf, Children};
    pub use crate::world::{ChildSpawner, ChildSpawnerCommands};
}

/// Relations between entities: what [`relation`] has, by bevy's name.
pub mod relationship {
    pub use crate::relation::*;
    pub use crate::world::{RelatedSpawner, RelatedSpawnerCommands};
}

/// Entities that are spawned together with another one.
pub mod spawn {
    pub use crate::world::{
        Spawn, SpawnIter, SpawnRelated, SpawnRelatedBundle, SpawnWith, SpawnableList, WithOneRelated,
        WithRelated,
    };
}

/// Entities that queries skip.
pub mod entity_disabling {
    pub use crate::component::{Disabled, DisabledTree};
}

/// Errors of systems, conditions and commands, and handlers for them.
pub mod error {
    pub use crate::system::{ParamError, RunSystemError};
    pub use crate::world::{
        AnyError, BevyError, BoxedError, CommandOutput, ContextExt, ErrorHandler, Failed, Result,
        ResultSeverityExt, Severity, SystemError, ignore, match_severity, panic, warn,
    };
}

/// Events, and how they find their observers.
pub mod event {
    pub use crate::world::{
        EntityComponentsTrigger, EntityEvent, EntityTrigger, Event, EventKey, EventPattern, GlobalTrigger,
        PropagateEntityTrigger, SetEntityEventTarget, Traversal, Trigger, WrongEventType,
    };
    pub use phalanx_derive::{EntityEvent, Event};
}

/// Observers: systems that events start.
pub mod observer {
    pub use crate::system::{
        IntoEntityObserver, IntoObserver, IntoObservers, Observer, ObserverError, Observers, On, observers,
    };
    pub use crate::world::{ObserverCycle, ObserverId, ObserverInfo};
}

/// What most programs use.
pub mod prelude {
    pub use crate::app::{
        App, AppConfig, AppExit, AppLabel, First, Fixed, FixedFirst, FixedLast, FixedPlace, FixedPostUpdate,
        FixedPreUpdate, FixedUpdate, Last, Plugin, PluginGroup, PluginGroupBuilder, PostStartup, PostUpdate,
        PreStartup, PreUpdate, Real, RunMode, ScheduleRunnerPlugin, Startup, Stopwatch, SubApp, Time, Timer,
        TimerMode, Update, Virtual, on_real_timer, on_timer, once_after_delay, paused,
    };
    pub use crate::bundle::Bundle;
    pub use crate::capture::{Digest, Digestible};
    pub use crate::component::{AnyComponent, Component, Disabled, DisabledTree};
    pub use crate::entity::{ContainsEntity, EntityMapper};
    pub use crate::group::{Get, Group, Own};
    pub use crate::messages::{Message, Messages};
    pub use crate::name::{Name, NameOrEntity};
    pub use crate::pool::{General, Handle, Pool};
    pub use crate::query::{
        Added, Allow, AnyOf, Archetype, BatchingStrategy, Changed, Has, InPool, NotInPool, Or, Query,
        QueryData, QueryFilter, QueryLens, QueryState, SpawnDetails, Spawned, With, Without,
    };
    pub use crate::relation::{ChildOf, Children, Parent, Relationship, RelationshipTarget, Up, WithParent};
    pub use crate::resources::Resource;
    pub use crate::schedule::{
        ApplyDeferred, ConfigureSystems, IntoScheduleConfigs, IntoSetConfigs, IntoSystemConfigs,
        IntoSystemSet, Schedule, ScheduleLabel, Schedules, SyncPoints, SystemKey, SystemSet, Threads,
        any_component_removed, any_match_filter, any_with_component, condition_changed, condition_changed_to,
        on_message, resource_added, resource_changed, resource_changed_or_removed, resource_equals,
        resource_exists, resource_exists_and, resource_exists_and_changed, resource_exists_and_equals,
        resource_removed, run_once,
    };
    pub use crate::schema::{Schema, StorageKind};
    pub use crate::state::{
        ComputedStates, DespawnOnEnter, DespawnOnExit, DespawnWhen, DisableOnEnter, DisableOnExit,
        DisableWhen, EnableOnEnter, EnableOnExit, EnableWhen, EnterSchedules, ExitSchedules, NextState,
        OnEnter, OnExit, OnTransition, PreviousState, State, StateSet, StateTransition, StateTransitionEvent,
        States, StatesPlugin, SubStates, TransitionSchedules, in_state, last_transition, state_changed,
        state_exists,
    };
    pub use crate::system::{
        Cascade, Deferred, FilteredResources, FilteredResourcesMut, If, In, InMut, InRef, Index, IntoSystem,
        Local, LocalBuilder, MessageMutator, MessageReader, MessageWriter, NonSendMarker, Observer, On,
        OrderedIndex, ParallelCommands, ParamBuilder, ParamSet, Populated, PopulatedMessageReader, Reactive,
        ReadOnlySystem, RemovedComponents, Res, ResMut, Single, System, SystemBuffer, SystemChangeTick,
        SystemCondition, SystemHandle, SystemId, SystemIn, SystemInput, SystemName, SystemParam,
        SystemParamBuilder, SystemParamFunction, SystemState, and, not, observers, or,
    };
    pub use crate::tracking::{DetectChanges, DetectChangesMut, Mut, Ref, Tick};
    pub use crate::value::{FieldType, Value};
    pub use crate::world::{
        Add, ArchetypeCreated, ArchetypeDropped, ChildSpawner, ChildSpawnerCommands, Commands, DeferredWorld,
        Despawn, Discard, EntityEvent, EntityRef, EntityWorldMut, Event, EventPattern, FlushOrder, FromWorld,
        HookContext, Insert, Matched, Mutate, ObserverId, RelatedSpawner, RelatedSpawnerCommands, Remove,
        Spawn, SpawnIter, SpawnRelated, SpawnWith, SpawnableList, Unmatched, WithOneRelated, WithRelated,
        World,
    };
    pub use crate::world::{AnyError, BevyError, ContextExt, Result, ResultSeverityExt, Severity};
    pub use crate::world::{
        Command, CommandQueue, EntityCommand, EntityCommands, EntityMut, EntityMutExcept, EntityRefExcept,
        FilteredEntityMut, FilteredEntityRef, NonSend, NonSendMut, Remote,
    };
    pub use crate::{children, related};
    pub use phalanx_derive::{
        AppLabel, Deref, DerefMut, Digestible, EntityEvent, Event, Message, Pool, Resource, States, SubStates,
    };
    pub use phalanx_store::Entity;
}

/// What derived code names. Not a part of the public surface.
#[doc(hidden)]
pub mod __private {
    pub use crate::app::AppLabel;
    pub use crate::bundle::{
        Bundle, BundleKey, one_from_values, one_into_values, one_value_ids, register_one,
    };
    pub use crate::capture::probe::{
        CopyBytes, CopyClone, CopyNot, DigestHash, DigestNot, DigestOwn, FieldCopied, FieldKept,
        Probe as CaptureProbe, ShowDebug, ShowNot, by_fields, copied, show_plain, shown,
    };
    pub use crate::capture::{Capture, Copying, DigestHasher, Digestible, Shown};
    pub use crate::component::{
        AnyComponent, Component, CopyByClone, CopyNothing, CopyProbe, Descriptor, EntityMapper, MapEntities,
        Queryable, RowTracked, Track,
    };
    pub use crate::fields::{
        DebugFound, DebugMissing, DefaultFound, DefaultMissing, Fields, Probe, ValueField,
    };
    pub use crate::messages::{Columns, Message};
    pub use crate::pool::{BundleIn, DeclaredPool, Declares, Optional, Pool, PoolMark, Strategy};
    pub use crate::query::{
        ArchetypeFilter, Condition, FilterIn, Moment, QueryData, QueryFilter, QueryIn, ReadOnlyQueryData,
        Term,
    };
    pub use crate::registry::{ComponentId, Components, RegisterError};
    pub use crate::relation::ChildOf;
    pub use crate::relation::{ListColumns, ManyRelationship, OrderMut, Relationship, RelationshipTarget};
    pub use crate::resources::Resource;
    pub use crate::schedule::{ScheduleLabel, SystemSet};
    pub use crate::state::{FreelyMutableState, StateSet, States, SubStates};
    pub use crate::storage::{SparseStorage, StableStorage, Storage, TableStorage};
    pub use crate::system::{ParamError, ReadOnlySystemParam, Run, StateVisitor, SystemMeta, SystemParam};
    pub use crate::tracking::{Mut, Readable, Tracked};
    pub use crate::world::{
        ComponentHooks, EntityEvent, EntityTrigger, Event, GlobalTrigger, PropagateEntityTrigger,
        SetEntityEventTarget, SharedWorld, World, describe_linked_by, describe_links, describe_relationship,
        describe_relationship_target,
    };
    #[cfg(feature = "serde")]
    pub use crate::{
        component::{Rest, Saved},
        messages::{MessageSaving, SavedMessage},
        relation::{EdgeSaving, rest_of_link, rest_of_list},
        resources::ResourceSaving,
        save::{Save, SaveRegistry, name_or_type},
        state::StateSaving,
        world::edge_saving,
    };
    pub use phalanx_store::{
        AnyColId, Col, ColCell, ColId, Duplicate, Entity, Fetch, InSet, Init, Keep, Maybe, Now, Read,
        ReadFetch, RowTicks, Stamp, ThreadSafe, Tick, Untracked, Values, Write, WriteUntracked,
    };
    #[cfg(feature = "serde")]
    pub use serde::{Serialize, de::DeserializeOwned};

    pub use crate::__if_saving as if_saving;

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

/// Passes on what derives emit for types that are saved.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_saving {
    ($($item:tt)*) => { $($item)* };
}

/// Says what is missing.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_saving {
    ($($item:tt)*) => {
        ::core::compile_error!("`save` needs the feature `serde` of phalanx: switch it on in Cargo.toml");
    };
}

/// The program of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The program of the package's own README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct PackageReadme;

#[cfg(doctest)]
mod guide;
