//! Running a system without a schedule.
//!
//! For tests, tools and exclusive systems: the system is made ready, run on the sparse row, and its commands are
//! applied before the call returns. Nothing of it is kept.

use super::failed::RunSystemError;
use super::input::{SystemIn, SystemInput};
use super::traits::{IntoSystem, System};
use crate::world::World;

impl World {
    /// Runs a system once, applies its commands, and returns its result.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// let mut world = World::new();
    /// world.run_system_once(|mut commands: Commands| drop(commands.spawn_empty())).unwrap();
    /// assert_eq!(world.entities().len(), 1);
    /// ```
    ///
    /// # Errors
    /// When two parameters of the system conflict, or one cannot be had.
    ///
    /// # Panics
    /// When the system does.
    pub fn run_system_once<Out, M>(
        &mut self,
        system: impl IntoSystem<(), Out, M>,
    ) -> Result<Out, RunSystemError> {
        self.run_system_once_with(system, ())
    }

    /// As [`World::run_system_once`], with an input: a value for [`In`](super::In), a reference for
    /// [`InRef`](super::InRef) and [`InMut`](super::InMut).
    ///
    /// # Errors
    /// When two parameters of the system conflict, or one cannot be had.
    ///
    /// # Panics
    /// When the system does.
    pub fn run_system_once_with<S, In, Out, M>(
        &mut self,
        system: S,
        input: SystemIn<'_, S::System>,
    ) -> Result<Out, RunSystemError>
    where
        S: IntoSystem<In, Out, M>,
        In: SystemInput,
    {
        let mut system = system.into_system();
        system.initialize(self).map_err(RunSystemError::Conflict)?;
        let out = system.run_alone(input, self);
        self.flush();
        out.map_err(|error| RunSystemError::Param { system: system.name().to_owned(), error })
    }
}
