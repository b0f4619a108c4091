//! Running an app until it ends: what calls `update`, how often, and what is returned.
//!
//! [`App::run`] gives the app to its runner: a function that calls [`App::update`] until a system writes an
//! [`AppExit`]. Without a runner of its own an app runs one frame; [`ScheduleRunnerPlugin`] sets one that loops. The
//! message is looked at after each frame, so the frame in which it is written is always finished.

use std::num::NonZero;
use std::process::{ExitCode, Termination};
use std::time::{Duration, Instant};

use phalanx_derive::Message;

use super::{App, Plugin};

/// Ends the app after this frame, when it is written as a message; what [`App::run`] returns, and `main` may.
///
/// ```
/// # use phalanx::prelude::*;
/// fn quit(mut exit: MessageWriter<AppExit>) {
///     exit.write(AppExit::from_code(3));
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, quit);
/// assert_eq!(app.run(), AppExit::from_code(3));
/// ```
#[derive(Message, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AppExit {
    /// All is well.
    #[default]
    Success,
    /// The app could not go on; the number is the process' exit code.
    Error(NonZero<u8>),
}

impl AppExit {
    /// An error with exit code 1.
    #[must_use]
    pub const fn error() -> Self {
        Self::Error(NonZero::<u8>::MIN)
    }

    /// Success for 0, an error for every other exit code.
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        match NonZero::new(code) {
            Some(code) => Self::Error(code),
            None => Self::Success,
        }
    }

    /// Whether all is well.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Success)
    }

    /// Whether the app could not go on.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }
}

impl From<u8> for AppExit {
    fn from(code: u8) -> Self {
        Self::from_code(code)
    }
}

impl Termination for AppExit {
    fn report(self) -> ExitCode {
        match self {
            Self::Success => ExitCode::SUCCESS,
            Self::Error(code) => ExitCode::from(code.get()),
        }
    }
}

/// How often [`ScheduleRunnerPlugin`] runs frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Until an [`AppExit`] is written.
    Loop {
        /// The least time from the beginning of one frame to that of the next; without it there is no pause.
        wait: Option<Duration>,
    },
    /// One frame.
    Once,
}

impl Default for RunMode {
    fn default() -> Self {
        Self::Loop { wait: None }
    }
}

/// Lets [`App::run`] run frames in a loop, on the calling thread.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource, Default)]
/// struct Frames(u32);
///
/// fn count(mut frames: ResMut<Frames>, mut exit: MessageWriter<AppExit>) {
///     frames.0 += 1;
///     if frames.0 == 3 {
///         exit.write(AppExit::Success);
///     }
/// }
///
/// let exit = App::new()
///     .add_plugins(ScheduleRunnerPlugin::default())
///     .init_resource::<Frames>()
///     .add_systems(Update, count)
///     .run();
/// assert!(exit.is_success());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ScheduleRunnerPlugin {
    /// How often frames run.
    pub run_mode: RunMode,
}

impl ScheduleRunnerPlugin {
    /// One frame, and no more.
    pub fn run_once() -> Self {
        Self { run_mode: RunMode::Once }
    }

    /// Frames until an [`AppExit`] is written, each at least this long after the one before.
    pub fn run_loop(wait: Duration) -> Self {
        Self { run_mode: RunMode::Loop { wait: Some(wait) } }
    }
}

impl Plugin for ScheduleRunnerPlugin {
    fn build(&self, app: &mut App) {
        let mode = self.run_mode;
        app.set_runner(move |app| run(app, mode));
    }
}

fn run(mut app: App, mode: RunMode) -> AppExit {
    loop {
        let start = Instant::now();
        app.update();
        match (app.should_exit(), mode) {
            (Some(exit), _) => return exit,
            (None, RunMode::Once) => return AppExit::Success,
            (None, RunMode::Loop { wait: None }) => {}
            (None, RunMode::Loop { wait: Some(wait) }) => {
                let rest = wait.saturating_sub(start.elapsed());
                if !rest.is_zero() {
                    std::thread::sleep(rest);
                }
            }
        }
    }
}

/// What runs an app to its end.
pub(super) type Runner = Box<dyn FnOnce(App) -> AppExit>;

impl App {
    /// Runs the app to its end, by the runner that is set; without one, for one frame. What was `self` is an app
    /// without anything then, for the runner owns the app, and drops it at the end.
    ///
    /// # Panics
    /// When called while a plugin is being added, or a system panics or fails.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// fn count(mut frames: ResMut<Frames>, mut exit: MessageWriter<AppExit>) {
    ///     frames.0 += 1;
    ///     if frames.0 == 3 {
    ///         exit.write(AppExit::Success);
    ///     }
    /// }
    ///
    /// let mut app = App::new();
    /// app.add_plugins(ScheduleRunnerPlugin::default()).init_resource::<Frames>().add_systems(Update, count);
    /// assert!(app.run().is_success());
    /// ```
    #[track_caller]
    pub fn run(&mut self) -> AppExit {
        if let Some(plugin) = self.building.last() {
            panic!(
                "`App::run` was called while plugin `{plugin}` is being added: add all plugins first, and run the app then"
            );
        }
        let runner = self.runner.take().unwrap_or_else(|| Box::new(|app| run(app, RunMode::Once)));
        let app = std::mem::take(self);
        runner(app)
    }

    /// Sets the runner that [`App::run`] calls: a function that calls [`App::update`] until
    /// [`App::should_exit`] says that it is enough. Of several, the last one counts.
    pub fn set_runner(&mut self, runner: impl FnOnce(App) -> AppExit + 'static) -> &mut Self {
        self.runner = Some(Box::new(runner));
        self
    }

    /// Whether an [`AppExit`] was written in this frame or the one before, and which: the first error, if there is
    /// one.
    pub fn should_exit(&self) -> Option<AppExit> {
        let exits = self.world.messages::<AppExit>()?;
        let error = exits.iter().find(|exit| exit.is_error());
        error.or_else(|| exits.iter().next()).copied()
    }
}
