//! Systems: functions over a world whose parameters say what they use.
//!
//! ```text
//!   fn movement(time: Res<Time>, mut movers: Query<(&mut Position, &Velocity)>)
//!
//!   init     once      ids and prepared queries are made, access is declared and checked
//!   update   per run   queries catch up with new archetypes
//!   lock     per run   flags are taken: the guards
//!   item     per run   what the function sees; it borrows the guards, so nothing outlives its flag
//!   apply    later     what was recorded goes to the world
//! ```
//!
//! A system does not know when it runs or what runs beside it: that is the schedule's business.

pub use access::{Access, Part};
pub use combine::{Map, Pipe, and, not, or};
pub use exclusive::{ExclusiveParam, ExclusiveSystem, ExclusiveSystemParamFunction, IsExclusive};
pub use failed::{ParamError, RunSystemError};
pub use function::{FunctionSystem, Input, IsFunction, SystemParamFunction};
pub use meta::{ParamConflict, Run, SystemMeta};
pub use output::SystemOutput;
pub use param::{Local, MessageReader, MessageWriter, ParamSet, ParamTuple, Res, ResMut, SystemParam};
pub use traits::{IntoSystem, Mode, System};

pub use crate::world::BoxedError;
pub(crate) use output::{BoxedSystem, Finish};

mod access;
mod combine;
mod exclusive;
mod failed;
mod function;
mod meta;
pub(crate) mod names;
mod once;
mod output;
mod param;
mod traits;
