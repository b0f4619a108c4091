//! Running a system without a schedule.
//!
//! For tests, tools and exclusive systems: the system is made ready, run on the spot, and its commands are
//! applied before the call returns. Nothing of it is kept.

use super::failed::RunSystemError;
use super::traits::{IntoSystem, System};
use crate::world::World;

impl World {
    /// Runs a system once, applies its commands, and returns its result.
    ///
    /// # Panics
    /// When parameters of the system conflict or cannot be had, or the system panics.
    #[track_caller]
    pub fn run_system_once<Out, M>(&mut self, system: impl IntoSystem<(), Out, M>) -> Out {
        self.run_system_once_with(system, ())
    }

    /// As [`World::run_system_once`], with an input.
    ///
    /// # Panics
    /// When parameters of the system conflict or cannot be had, or the system panics.
    #[track_caller]
    pub fn run_system_once_with<In, Out, M>(
        &mut self,
        system: impl IntoSystem<In, Out, M>,
        input: In,
    ) -> Out {
        match self.try_run_system_once(system, input) {
            Ok(out) => out,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`World::run_system_once_with`], with an error for parameters that conflict or cannot be had.
    ///
    /// # Errors
    /// When two parameters of the system conflict, or one cannot be had.
    pub fn try_run_system_once<In, Out, M>(
        &mut self,
        system: impl IntoSystem<In, Out, M>,
        input: In,
    ) -> Result<Out, RunSystemError> {
        let mut system = system.into_system();
        system.initialize(self).map_err(RunSystemError::Conflict)?;
        let out = system.run_alone(input, self);
        self.flush();
        out.map_err(|error| RunSystemError::Param { system: system.name().to_owned(), error })
    }
}
