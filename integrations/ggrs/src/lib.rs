//! Rollback for Phalanx apps, with the sessions of [ggrs](ggrs).
//!
//! A session decides what is to be done, by three requests: save the state, load one, advance a frame with the
//! players' inputs. [`Rollback::handle`] does so: states are checkpoints, which share what did not change, and checksums are
//! digests, so that peers notice when they part. A desync is then found with `app.check_determinism`.
//!
//! ```text
//!   session.add_local_input(..)  ─▶  session.advance_frame()  ─▶  rollback.handle(&mut app, requests)
//! ```
#![forbid(unsafe_code)]

use std::sync::Arc;

use ggrs::{Config, GgrsRequest, InputStatus};
use phalanx::app::AppCheckpoint;
use phalanx::prelude::*;

/// The state that a session keeps for a frame.
pub type SavedFrame = Arc<AppCheckpoint>;

/// Does what a session asks of an app.
pub struct Rollback<F> {
    /// The length of a frame, in seconds.
    pub frame: f64,
    /// Gives the players' inputs to the app, before a frame runs: mostly as a resource with `checkpoint = "skip"` and
    /// `digest = "skip"`.
    pub set_inputs: F,
    /// How many frames ran, those included that were run again.
    pub frames: u64,
    /// How many frames were loaded.
    pub loads: u64,
}

impl<F> Rollback<F> {
    /// Frames of this length, with inputs that `set_inputs` gives to the app.
    pub fn new(frame: f64, set_inputs: F) -> Self {
        Self { frame, set_inputs, frames: 0, loads: 0 }
    }

    /// Does what a session asks, in order.
    ///
    /// # Panics
    /// When the state of the app can be neither copied nor hashed, or systems were added after the first save.
    pub fn handle<C: Config<State = SavedFrame>>(&mut self, app: &mut App, requests: Vec<GgrsRequest<C>>)
    where
        F: FnMut(&mut App, &[(C::Input, InputStatus)]),
    {
        for request in requests {
            match request {
                GgrsRequest::SaveGameState { cell, frame } => {
                    let state = Arc::new(app.checkpoint());
                    let checksum = app.world().digest().get();
                    cell.save(frame, Some(state), Some(checksum.into()));
                }
                GgrsRequest::LoadGameState { cell, .. } => {
                    let state = cell.load().expect("a session loads what it saved");
                    app.restore(&state).expect("the systems are those of the first frame");
                    self.loads += 1;
                }
                GgrsRequest::AdvanceFrame { inputs } => {
                    (self.set_inputs)(app, &inputs);
                    app.step(self.frame);
                    self.frames += 1;
                }
            }
        }
    }
}
