//! What goes into a schedule, by bevy's names: for functions that take or return systems of any kind.
//!
//! [`IntoScheduleConfigs<ScheduleSystem, M>`](IntoScheduleConfigs) means [`IntoSystemConfigs<M>`](IntoSystemConfigs), and
//! adds nothing to it. Sets have [`IntoSetConfigs`](super::IntoSetConfigs).

use super::{IntoSystemConfigs, SetConfigs, SystemConfigs};
use crate::system::ScheduleSystem;

/// Names sets where something could also be about systems. There is no value of it.
#[derive(Clone, Copy, Debug)]
pub enum InternedSystemSet {}

/// Systems or sets: what [`ScheduleConfigs`] are of.
pub trait Schedulable {
    /// Several of them, configured.
    type Configs;
}

impl Schedulable for ScheduleSystem {
    type Configs = SystemConfigs;
}

impl Schedulable for InternedSystemSet {
    type Configs = SetConfigs;
}

/// Systems or sets, configured: what a function returns that puts systems together.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::schedule::ScheduleConfigs;
/// use phalanx::system::ScheduleSystem;
///
/// fn input() {}
/// fn movement() {}
/// fn controls() -> ScheduleConfigs<ScheduleSystem> {
///     (input, movement).chain()
/// }
///
/// App::new().add_systems(Update, controls()).update();
/// ```
pub type ScheduleConfigs<T> = <T as Schedulable>::Configs;

/// Systems that can be added to a schedule: the bound of a function that takes them.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::system::ScheduleSystem;
///
/// fn add_once<M>(app: &mut App, systems: impl IntoScheduleConfigs<ScheduleSystem, M>) {
///     app.add_systems(Update, systems.run_if(run_once));
/// }
///
/// let mut app = App::new();
/// add_once(&mut app, (|| println!("one"), || println!("two")));
/// app.update();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system, nor a tuple of systems",
    label = "cannot be added to a schedule",
    note = "`IntoScheduleConfigs<ScheduleSystem, M>` is for systems; sets have `IntoSetConfigs<M>`"
)]
pub trait IntoScheduleConfigs<T, Marker>: IntoSystemConfigs<Marker> {}

impl<Marker, S: IntoSystemConfigs<Marker>> IntoScheduleConfigs<ScheduleSystem, Marker> for S {}
