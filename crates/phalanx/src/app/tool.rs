//! Tools that accompany an app from frame to frame: inspectors, recorders, remote controls.
//!
//! A [`FrameTool`] stands beside the world, not in it: it has the whole app between two frames, schedules included, and
//! may hold the next frame back. An app without tools pays one look at an empty list per frame.

use std::time::Duration;

use phalanx_store::FirstPanic;

use super::App;
use crate::schedule::{Label, ScheduleView};

/// What is to become of the next frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameAction {
    /// It runs.
    #[default]
    Run,
    /// It runs, and [`App::update`] takes this time instead of that of the clock.
    RunFor(Duration),
    /// It does not run: no clock moves, no system runs.
    Skip,
}

/// Something that accompanies the frames of an app.
///
/// ```
/// use phalanx::app::{FrameAction, FrameTool};
/// use phalanx::prelude::*;
///
/// /// Lets every second frame run.
/// struct Halve(bool);
///
/// impl FrameTool for Halve {
///     fn before_frame(&mut self, _: &mut App) -> FrameAction {
///         self.0 = !self.0;
///         if self.0 { FrameAction::Run } else { FrameAction::Skip }
///     }
/// }
///
/// let mut app = App::new();
/// app.add_frame_tool(Halve(false));
/// for _ in 0..10 {
///     app.step(0.1);
/// }
/// assert_eq!(app.world().resource::<Time>().frame(), 5);
/// ```
pub trait FrameTool: Send + 'static {
    /// Called before a frame begins. Where one of several tools skips the frame, it does not run.
    fn before_frame(&mut self, _app: &mut App) -> FrameAction {
        FrameAction::Run
    }

    /// Called when a frame has ended.
    fn after_frame(&mut self, _app: &mut App) {}
}

impl App {
    /// Adds a tool, which is called before and after each frame, in the order of adding.
    pub fn add_frame_tool(&mut self, tool: impl FrameTool) -> &mut Self {
        self.tools.push(Box::new(tool));
        self
    }

    /// Asks all tools what is to become of the next frame.
    pub(super) fn ask_tools(&mut self) -> FrameAction {
        let mut action = FrameAction::Run;
        self.each_tool(|tool, app| match (tool.before_frame(app), action) {
            (_, FrameAction::Skip) | (FrameAction::Run, _) => {}
            (other, _) => action = other,
        });
        action
    }

    /// Tells all tools that a frame has ended.
    pub(super) fn tell_tools(&mut self) {
        self.each_tool(<dyn FrameTool>::after_frame);
    }

    fn each_tool(&mut self, mut f: impl FnMut(&mut dyn FrameTool, &mut Self)) {
        if self.tools.is_empty() {
            return;
        }
        let mut tools = std::mem::take(&mut self.tools);
        let mut panics = FirstPanic::default();
        tools.iter_mut().for_each(|tool| panics.guard(|| f(&mut **tool, self)));
        // Tools that were added meanwhile come last.
        tools.append(&mut self.tools);
        self.tools = tools;
        panics.resume();
    }

    /// Sets whether the time of phases and systems is taken, as
    /// [`AppConfig::timings`](super::AppConfig::timings) does; threads and everything else stay as they are.
    pub fn set_timings(&mut self, timed: bool) -> &mut Self {
        self.config.timings = timed;
        self.steps = None;
        self.phases.iter_mut().for_each(|phase| phase.schedule.set_timed(timed));
        self
    }

    /// A look at each phase, in order.
    pub fn phase_views(&self) -> impl Iterator<Item = (&Label, ScheduleView<'_>)> {
        self.phases.iter().map(|phase| (&phase.label, phase.schedule.view(&self.world)))
    }
}
