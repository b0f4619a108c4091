//! Systems: functions over a world whose parameters say what they use.
//!
//! Parameters are [`Query`], [`Res`], [`ResMut`], [`Commands`],
//! [`MessageReader`], [`MessageWriter`], [`Local`], [`Single`], `&World`, `Option` and tuples of parameters and
//! `#[derive(SystemParam)]` structs; `&mut World` alone makes a system exclusive. What a system uses decides what may run
//! beside it; the schedule decides when it runs.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Component)]
//! struct Health(f32);
//!
//! fn heal(time: Res<Time>, mut runs: Local<u32>, mut all: Query<&mut Health>) {
//!     *runs += 1;
//!     for mut health in &mut all {
//!         health.0 += time.delta_secs();
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_systems(Update, heal);
//! app.step(0.1);
//! ```

//   fn movement(time: Res<Time>, mut movers: Query<(&mut Position, &Velocity)>)
//
//   init     once      ids and prepared queries are made, access is declared and checked
//   update   per run   queries catch up with new archetypes
//   lock     per run   flags are taken: the guards
//   item     per run   what the function sees; it borrows the guards, so nothing outlives its flag
//   apply    later     what was recorded goes to the world
//
// A system does not know when it runs or what runs beside it: the schedule decides that.

pub use phalanx_derive::SystemParam;

pub use access::{Access, Part};
pub use asked::{Asked, ConditionOutput, ConditionShape, ReadsCondition};
pub use combine::{Map, Pipe, WithInput};
pub use condition::{JoinedCondition, SystemCondition, and, not, or};
pub use exclusive::{ExclusiveParam, ExclusiveSystem, ExclusiveSystemParamFunction, IsExclusive};
pub use failed::{ParamError, RunSystemError};
pub use function::{FunctionSystem, HasInput, IsFunction, SystemParamFunction};
pub use handle::SystemHandle;
pub use input::{In, InMut, InRef, SystemIn, SystemInput};
pub use kept::StateVisitor;
pub use meta::{ParamConflict, Run, SystemMeta};
pub use observer::{
    IntoEntityObserver, IntoObserver, IntoObservers, Observer, ObserverError, Observers, On, observers,
};
pub use output::{Finish, ScheduleSystem, SystemOutput};
pub use param::{
    Cascade, Deferred, FilteredResources, FilteredResourcesBuilder, FilteredResourcesMut,
    FilteredResourcesMutBuilder, FilteredResourcesMutParamBuilder, FilteredResourcesParamBuilder, If, Index,
    Local, MessageMutator, MessageReader, MessageWriter, NonSendMarker, OrderedIndex, ParallelCommands,
    ParamSet, ParamTuple, Populated, PopulatedMessageReader, Reactive, RemovalId, RemovedComponents, Res,
    ResMut, ResourceFetchError, Single, StaticSystemParam, SystemBuffer, SystemChangeTick, SystemName,
    SystemParam,
};
pub use read_only::{ReadOnlySystem, ReadOnlySystemParam};
pub use registered::{RegisteredSystemError, SystemId};
pub use state::{LocalBuilder, ParamBuilder, SystemParamBuilder, SystemState};
pub use traits::{IntoSystem, Mode, System};

pub(crate) use crate::names;
pub use crate::query::{Query, QueryLens};
pub use crate::world::{
    BoxedError, Command, Commands, EntityCommand, EntityCommands, EntityEntryCommands, NonSend, NonSendMut,
};
pub(crate) use output::BoxedSystem;

mod access;
mod asked;
mod combine;
mod condition;
mod exclusive;
mod failed;
mod function;
#[cfg(test)]
mod growth_tests;
mod handle;
mod input;
pub(crate) mod kept;
mod meta;
mod observer;
mod once;
mod output;
mod param;
mod reach;
mod read_only;
mod registered;
mod state;
mod traits;
pub(crate) mod tuples;
pub(crate) mod world_kept;
