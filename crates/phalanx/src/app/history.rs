//! Checkpoints of apps, and the frames that an app keeps.
//!
//! An app's checkpoint is that of its world with what its systems keep: when each last ran, `Local`s and buffers, and how
//! far readers of messages have come; observers and registered systems included. A history is a ring of them, one per frame, which share the blocks that did not change.

use std::any::type_name;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use phalanx_store::FirstPanic;

use super::{App, UpdateError};
use crate::schedule::{Schedule, Schedules};
use crate::system::kept::{self, Counting, Exchanging, Kept, Naming, Taking};
use crate::system::world_kept::{self, WorldKept};
use crate::world::{Checkpoint, Marking, NotCaptured, RestoreError, World};

/// How much memory a history may take by default.
const BUDGET: usize = 512 << 20;

/// The state of an app at one moment: its world, and what its systems keep.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Resource, Clone, Default)]
/// struct Frames(u32);
///
/// let mut app = App::new();
/// app.init_resource::<Frames>();
/// app.add_systems(Update, |mut frames: ResMut<Frames>| frames.0 += 1);
/// let begin = app.checkpoint();
/// app.step(0.1);
/// app.restore(&begin)?;
/// assert_eq!(app.world().resource::<Frames>().0, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AppCheckpoint {
    world: Checkpoint,
    /// What the systems of schedules keep.
    systems: Vec<Kept>,
    /// What the world's own systems keep.
    own: WorldKept,
    frames: u64,
    started: bool,
}

impl AppCheckpoint {
    /// The part of the world.
    pub fn world(&self) -> &Checkpoint {
        &self.world
    }

    /// How many frames had run.
    pub fn frame(&self) -> u64 {
        self.frames
    }
}

/// The last frames, oldest first; the last one is the present.
pub(super) struct History {
    most: usize,
    budget: usize,
    kept: VecDeque<AppCheckpoint>,
}

impl History {
    /// The bytes of all that is kept: the oldest whole, the others by what they added.
    fn bytes(&self) -> usize {
        let oldest = self.kept.front().map_or(0, |oldest| oldest.world.bytes_beyond(&mut BTreeSet::new()));
        oldest + self.kept.iter().skip(1).map(|kept| kept.world.stats().copied_bytes).sum::<usize>()
    }

    fn push(&mut self, checkpoint: AppCheckpoint) {
        self.kept.push_back(checkpoint);
        while self.kept.len() > 1 && (self.kept.len() > self.most + 1 || self.bytes() > self.budget) {
            self.kept.pop_front();
        }
    }
}

impl App {
    /// Copies the state of the world and of the systems, but for what is shared with the checkpoint before.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone)]
    /// struct Count(u32);
    /// fn count(mut all: Query<&mut Count>, mut runs: Local<u32>) {
    ///     *runs += 1;
    ///     for mut one in &mut all {
    ///         one.0 += *runs;
    ///     }
    /// }
    ///
    /// let mut app = App::new();
    /// app.add_systems(Update, count);
    /// app.world_mut().spawn(Count(0));
    /// app.step(0.1);
    /// let before = app.checkpoint();
    /// app.step(0.1);
    /// let after = app.world().digest();
    /// app.restore(&before).unwrap();
    /// app.step(0.1);
    /// assert_eq!(app.world().digest(), after);
    /// ```
    ///
    /// # Panics
    /// When something cannot be copied, with the names of all types; see [`App::try_checkpoint`].
    #[track_caller]
    pub fn checkpoint(&mut self) -> AppCheckpoint {
        match self.try_checkpoint() {
            Ok(checkpoint) => checkpoint,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`App::checkpoint`], with an error instead of a panic.
    ///
    /// # Errors
    /// When values of a component, resource, message or `Local` cannot be copied; it names all such types.
    ///
    /// # Panics
    /// When parameters of a system conflict that was added to a schedule by [`App::edit_schedule`] and has not run.
    #[track_caller]
    pub fn try_checkpoint(&mut self) -> Result<AppCheckpoint, NotCaptured> {
        self.settle();
        // Shared, and not taken out: values of the user are copied, which may panic.
        let copies = Arc::clone(&self.locals);
        let mut taking = Taking { copies: &copies, kept: Vec::new(), unknown: Vec::new() };
        self.each_schedule(|schedule| schedule.visit_state(&mut taking));
        let Taking { kept: systems, mut unknown, .. } = taking;
        let world = self.world.try_checkpoint();
        let own = WorldKept::take(&mut self.world, &copies, &mut unknown);
        if unknown.is_empty() {
            let (frames, started) = (self.frames, self.started);
            return Ok(AppCheckpoint { world: world?, systems, own, frames, started });
        }
        let types = world.err().map(|error| error.types).unwrap_or_default();
        Err(NotCaptured { types: types.into_iter().chain(unknown.into_iter().map(kept::uncopied)).collect() })
    }

    /// Whether checkpoints can be taken of what is known by now: asked before the first frame when frames are kept.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Socket(std::sync::Mutex<Vec<u8>>); // neither `Clone` nor made of plain data
    ///
    /// let mut app = App::new();
    /// app.world_mut().register_component::<Socket>();
    /// let error = app.check_captured().unwrap_err();
    /// assert!(error.to_string().contains("Socket"));
    /// ```
    ///
    /// # Errors
    /// When values of a component, resource, message or `Local` cannot be copied; it names all such types.
    ///
    /// # Panics
    /// As [`App::try_checkpoint`].
    #[track_caller]
    pub fn check_captured(&mut self) -> Result<(), NotCaptured> {
        self.settle();
        let copies = Arc::clone(&self.locals);
        let mut naming = Naming { copies: &copies, unknown: Vec::new() };
        self.each_schedule(|schedule| schedule.visit_state(&mut naming));
        world_kept::visit(&mut self.world, &mut naming);
        let Naming { unknown, .. } = naming;
        let mut types = self.world.uncopied();
        types.extend(unknown.into_iter().map(kept::uncopied));
        if types.is_empty() { Ok(()) } else { Err(NotCaptured { types }) }
    }

    /// Makes the app what it was: the world, and what its systems keep. Running on gives the same, bit for bit.
    ///
    /// Real time is not turned back, nor is what closures captured, or what lies outside the world.
    ///
    /// # Errors
    /// When the checkpoint is another app's, or systems were added since.
    pub fn restore(&mut self, checkpoint: &AppCheckpoint) -> Result<(), RestoreError> {
        self.restore_as(checkpoint, Marking::AsThen)
    }

    /// As [`App::restore`], and marks what may differ from what was there just before as changed now; see
    /// [`World::restore_marking`].
    ///
    /// # Errors
    /// As for [`App::restore`].
    pub fn restore_marking(&mut self, checkpoint: &AppCheckpoint) -> Result<(), RestoreError> {
        self.restore_as(checkpoint, Marking::WhatDiffers)
    }

    fn restore_as(&mut self, checkpoint: &AppCheckpoint, marking: Marking) -> Result<(), RestoreError> {
        let mut panics = FirstPanic::default();
        self.restore_then(checkpoint, marking, &mut panics)?;
        panics.resume();
        Ok(())
    }

    /// As `restore_as`; a panic of values that are dropped is kept. One in `Clone` leaves the app as it was.
    fn restore_then(
        &mut self,
        checkpoint: &AppCheckpoint,
        marking: Marking,
        panics: &mut FirstPanic,
    ) -> Result<(), RestoreError> {
        let mut counting = Counting::default();
        self.each_schedule(|schedule| schedule.visit_state(&mut counting));
        if counting.0 != checkpoint.systems.len() {
            return Err(RestoreError::OtherSystems);
        }
        let again = kept::again(&checkpoint.systems, &self.locals).ok_or(RestoreError::OtherSystems)?;
        let own = checkpoint.own.again(&self.locals).ok_or(RestoreError::OtherSystems)?;
        let (mut again, mut own) = (again, own);
        self.world.restore_then(&checkpoint.world, marking, panics)?;
        let copies = Arc::clone(&self.locals);
        let mut exchanging = Exchanging { copies: &copies, kept: again.iter_mut() };
        self.each_schedule(|schedule| schedule.visit_state(&mut exchanging));
        checkpoint.own.restore(&mut self.world, &mut own, &copies, panics);
        (self.frames, self.started) = (checkpoint.frames, checkpoint.started);
        // A frame that was begun is not what the checkpoint was taken of.
        self.part = None;
        again.into_iter().chain(own.into_parts()).for_each(|kept| panics.guard(|| drop(kept)));
        Ok(())
    }

    /// Has `Local`s of this type copied by `Clone`. Numbers, strings, entities, and lists of them are already.
    pub fn register_checkpoint_of_local<T: Clone + Send + 'static>(&mut self) -> &mut Self {
        Arc::make_mut(&mut self.locals).add::<T>();
        self
    }

    /// Keeps the state after each of the last `frames` frames, so that [`App::rewind`] can go back to them. Zero ends it.
    ///
    /// The frames share what did not change. What they take together is limited to 512 MB, or to what
    /// [`App::keep_history_within`] says: the oldest go first.
    ///
    /// Types that cannot be copied are named when the app starts, before anything runs; types that become known later,
    /// at the end of that frame. See [`App::check_captured`].
    ///
    /// # Panics
    /// When the app has started and something cannot be copied.
    #[track_caller]
    pub fn keep_history(&mut self, frames: usize) -> &mut Self {
        self.keep_history_within(frames, BUDGET)
    }

    /// As [`App::keep_history`], with a limit to the memory, in bytes of rows.
    ///
    /// # Panics
    /// As [`App::keep_history`].
    #[track_caller]
    pub fn keep_history_within(&mut self, frames: usize, bytes: usize) -> &mut Self {
        if frames > 0
            && self.started
            && let Err(error) = self.check_captured()
        {
            panic!("{}", UpdateError::NotCaptured(error));
        }
        let kept = self.history.take().map(|history| history.kept).unwrap_or_default();
        if frames > 0 {
            self.history = Some(History { most: frames, budget: bytes, kept });
        }
        self
    }

    /// How many frames can be rewound at the moment.
    pub fn history_len(&self) -> usize {
        self.history.as_ref().map_or(0, |history| history.kept.len().saturating_sub(1))
    }

    /// The bytes of rows that the kept frames take together, but for small parts.
    pub fn history_bytes(&self) -> usize {
        self.history.as_ref().map_or(0, History::bytes)
    }

    /// Goes back by so many frames; zero goes back to the end of the last one. The frames that are taken back are
    /// forgotten.
    ///
    /// # Errors
    /// When so many frames are not kept; then nothing has changed.
    pub fn rewind(&mut self, frames: usize) -> Result<(), RestoreError> {
        self.rewind_as(frames, Marking::AsThen)
    }

    /// As [`App::rewind`], and marks what may differ from what was there just before as changed now; see
    /// [`World::restore_marking`].
    ///
    /// # Errors
    /// As for [`App::rewind`].
    pub fn rewind_marking(&mut self, frames: usize) -> Result<(), RestoreError> {
        self.rewind_as(frames, Marking::WhatDiffers)
    }

    fn rewind_as(&mut self, frames: usize, marking: Marking) -> Result<(), RestoreError> {
        let kept = self.history_len();
        let has = self.history.as_ref().is_some_and(|history| history.kept.len() > frames);
        let Some(mut history) = has.then(|| self.history.take()).flatten() else {
            return Err(RestoreError::NotKept { kept });
        };
        let at = history.kept.len() - 1 - frames;
        let mut panics = FirstPanic::default();
        let restore = AssertUnwindSafe(|| self.restore_then(&history.kept[at], marking, &mut panics));
        let outcome = catch_unwind(restore);
        let taken_back =
            if let Ok(Ok(())) = outcome { history.kept.split_off(at + 1) } else { VecDeque::new() };
        // Whatever panicked: the frames before are kept.
        self.history = Some(history);
        taken_back.into_iter().for_each(|frame| panics.guard(|| drop(frame)));
        let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
        panics.resume();
        outcome
    }

    /// Shows the world as it was so many frames ago; zero is the end of the last one. The app is afterwards what it was
    /// before.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone)]
    /// struct Age(u32);
    ///
    /// let mut app = App::new();
    /// app.keep_history(10).add_systems(Update, |mut all: Query<&mut Age>| all.single_mut().unwrap().0 += 1);
    /// let e = app.world_mut().spawn(Age(0)).id();
    /// (0..5).for_each(|_| app.step(0.1));
    /// let age = |world: &World| world.get::<Age>(e).unwrap().0;
    /// assert_eq!(app.look_back(3, age).unwrap(), 2);
    /// assert_eq!(age(app.world()), 5);
    /// ```
    ///
    /// # Errors
    /// When so many frames are not kept.
    ///
    /// # Panics
    /// When something cannot be copied, or `look` does.
    #[track_caller]
    pub fn look_back<R>(&mut self, frames: usize, look: impl FnOnce(&World) -> R) -> Result<R, RestoreError> {
        let kept = self.history_len();
        if self.history.as_ref().is_none_or(|history| history.kept.len() <= frames) {
            return Err(RestoreError::NotKept { kept });
        }
        let present = self.checkpoint();
        let Some(history) = self.history.take() else { return Err(RestoreError::NotKept { kept }) };
        let part = self.part.take();
        let at = history.kept.len() - 1 - frames;
        let mut panics = FirstPanic::default();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.restore_then(&history.kept[at], Marking::AsThen, &mut panics)?;
            let seen = catch_unwind(AssertUnwindSafe(|| look(&self.world)));
            self.restore_then(&present, Marking::AsThen, &mut panics)?;
            Ok::<_, RestoreError>(seen)
        }));
        (self.history, self.part) = (Some(history), part);
        // The one of `look` before those of values that were dropped.
        let seen = outcome.unwrap_or_else(|panic| resume_unwind(panic))?;
        let seen = seen.unwrap_or_else(|panic| resume_unwind(panic));
        panics.resume();
        Ok(seen)
    }

    /// Keeps the frame that has ended, if frames are kept.
    ///
    /// # Panics
    /// When something cannot be copied.
    #[track_caller]
    pub(super) fn note_history(&mut self) {
        if self.history.is_none() {
            return;
        }
        let checkpoint = self.checkpoint();
        if let Some(history) = &mut self.history {
            history.push(checkpoint);
        }
    }

    /// Makes systems ready that schedules were given without a world: what they keep is there from then on.
    #[track_caller]
    fn settle(&mut self) {
        let mut conflict = None;
        for phase in &mut self.phases {
            conflict = conflict.or(phase.schedule.settle(&mut self.world).err());
        }
        let schedules = self.world.get_resource_mut::<Schedules>();
        let unready = schedules.map(|mut all| all.bypass_change_detection().unready()).unwrap_or_default();
        for label in unready {
            let settled = self.world.with_schedule(label, |world, schedule| schedule.settle(world));
            conflict = conflict.or(settled.err());
        }
        if let Some(conflict) = conflict {
            panic!("{conflict}");
        }
    }

    /// Shows all schedules: the phases, then those that the world keeps.
    pub(super) fn each_schedule(&mut self, mut f: impl FnMut(&mut Schedule)) {
        self.phases.iter_mut().for_each(|phase| f(&mut phase.schedule));
        // The schedules are no part of checkpoints, so lending them is no change.
        if let Some(mut schedules) = self.world.get_resource_mut::<Schedules>() {
            schedules.bypass_change_detection().all_mut().for_each(f);
        }
    }
}

impl std::fmt::Debug for AppCheckpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = type_name::<Self>().rsplit("::").next().unwrap_or_default();
        f.debug_struct(name).field("frame", &self.frames).field("world", &self.world).finish_non_exhaustive()
    }
}
