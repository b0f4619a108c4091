//! Apps beside an app: worlds of their own, to which something is copied after each frame.
//!
//! A [`SubApp`] has its own world, phases and clocks. When a frame of the app is over, its function may read and change both
//! worlds; then its own frame runs, as long as that of the app.

#![allow(clippy::needless_pass_by_value, reason = "labels are taken by value everywhere")]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::{App, UpdateError};
use crate::schedule::Label;
use crate::world::World;

/// Names a [`SubApp`].
///
/// Derived: `#[derive(AppLabel)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name an app",
    note = "add `#[derive(AppLabel, Debug)]` to `{Self}`"
)]
pub trait AppLabel: fmt::Debug + Send + Sync + 'static {
    /// The label without its type.
    fn label(&self) -> Label {
        Label::of::<Self>(format!("{self:?}"))
    }
}

/// What is copied from the world of an app to that of another one.
pub type ExtractFn = Box<dyn FnMut(&mut World, &mut World) + Send + Sync>;

/// An app with a world of its own, which runs after another one.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(AppLabel, Debug, Clone, PartialEq, Eq, Hash)]
/// struct Sound;
/// #[derive(Resource, Default)]
/// struct Score(u32);
///
/// let mut sound = SubApp::new();
/// sound.init_resource::<Score>();
/// sound.set_extract(|main, sound| sound.resource_mut::<Score>().0 = main.resource::<Score>().0);
///
/// let mut app = App::new();
/// app.init_resource::<Score>();
/// app.add_systems(Update, |mut score: ResMut<Score>| score.0 += 1);
/// app.insert_sub_app(Sound, sound);
/// app.step(0.1);
/// assert_eq!(app.sub_app(Sound).world().resource::<Score>().0, 1);
/// ```
#[derive(Default)]
pub struct SubApp {
    app: App,
    extract: Option<ExtractFn>,
}

impl SubApp {
    /// An app without systems, and without a function that copies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what is done with both worlds before each frame: the other app's world is the first.
    pub fn set_extract(
        &mut self,
        extract: impl FnMut(&mut World, &mut World) + Send + Sync + 'static,
    ) -> &mut Self {
        self.extract = Some(Box::new(extract));
        self
    }

    /// Runs a frame, as [`App::update`] does.
    ///
    /// # Panics
    /// When its systems cannot be ordered, or one of them panics or fails.
    #[track_caller]
    pub fn run_default_schedule(&mut self) {
        self.app.update();
    }

    /// Takes the function that copies away: to be called by another one, for example.
    pub fn take_extract(&mut self) -> Option<ExtractFn> {
        self.extract.take()
    }

    /// Calls the function that copies, if there is one.
    pub fn extract(&mut self, world: &mut World) {
        if let Some(extract) = &mut self.extract {
            extract(world, self.app.world_mut());
        }
    }
}

impl Deref for SubApp {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl DerefMut for SubApp {
    fn deref_mut(&mut self) -> &mut App {
        &mut self.app
    }
}

impl fmt::Debug for SubApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubApp").field("extracts", &self.extract.is_some()).finish_non_exhaustive()
    }
}

impl App {
    /// This app, of which the others are beside: where bevy asks for the main one.
    pub fn main(&self) -> &Self {
        self
    }

    /// As [`App::main`], to be changed.
    pub fn main_mut(&mut self) -> &mut Self {
        self
    }

    /// Adds an app that runs after each frame of this one. One that had the label goes.
    pub fn insert_sub_app(&mut self, label: impl AppLabel, sub_app: SubApp) {
        let label = label.label();
        self.sub_apps.retain(|(known, _)| *known != label);
        self.sub_apps.push((label, sub_app));
    }

    /// The apps beside this one with their labels, in the order in which they were added.
    pub fn sub_apps(&self) -> impl ExactSizeIterator<Item = (&Label, &SubApp)> {
        self.sub_apps.iter().map(|(label, sub_app)| (label, sub_app))
    }

    /// As [`App::sub_apps`], to be changed.
    pub fn sub_apps_mut(&mut self) -> impl ExactSizeIterator<Item = (&Label, &mut SubApp)> {
        self.sub_apps.iter_mut().map(|(label, sub_app)| (&*label, sub_app))
    }

    /// Takes an app away.
    pub fn remove_sub_app(&mut self, label: impl AppLabel) -> Option<SubApp> {
        let label = label.label();
        let at = self.sub_apps.iter().position(|(known, _)| *known == label)?;
        Some(self.sub_apps.remove(at).1)
    }

    /// The app with a label.
    ///
    /// # Panics
    /// When there is none; see [`App::get_sub_app`].
    #[track_caller]
    pub fn sub_app(&self, label: impl AppLabel) -> &SubApp {
        let text = label.label();
        self.get_sub_app(label).unwrap_or_else(|| no_sub_app(&text))
    }

    /// The app with a label, to be changed.
    ///
    /// # Panics
    /// When there is none; see [`App::get_sub_app_mut`].
    #[track_caller]
    pub fn sub_app_mut(&mut self, label: impl AppLabel) -> &mut SubApp {
        let text = label.label();
        self.get_sub_app_mut(label).unwrap_or_else(|| no_sub_app(&text))
    }

    /// The app with a label, if there is one.
    pub fn get_sub_app(&self, label: impl AppLabel) -> Option<&SubApp> {
        let label = label.label();
        self.sub_apps.iter().find(|(known, _)| *known == label).map(|(_, sub_app)| sub_app)
    }

    /// The app with a label, if there is one, to be changed.
    pub fn get_sub_app_mut(&mut self, label: impl AppLabel) -> Option<&mut SubApp> {
        let label = label.label();
        self.sub_apps.iter_mut().find(|(known, _)| *known == label).map(|(_, sub_app)| sub_app)
    }

    /// Copies to the app with a label and runs a frame of it, whether or not a frame of this app ran. Nothing happens where
    /// there is no such app.
    ///
    /// # Panics
    /// When its systems cannot be ordered, or one of them panics or fails.
    #[track_caller]
    pub fn update_sub_app_by_label(&mut self, label: impl AppLabel) {
        let label = label.label();
        let Self { sub_apps, world, .. } = self;
        if let Some((_, sub_app)) = sub_apps.iter_mut().find(|(known, _)| *known == label) {
            sub_app.extract(world);
            sub_app.update();
        }
    }

    /// The frames of the apps beside this one, in the order in which they were added.
    #[track_caller]
    pub(super) fn run_sub_apps(&mut self, real: Duration) -> Result<(), UpdateError> {
        for at in 0..self.sub_apps.len() {
            let Self { sub_apps, world, .. } = self;
            let sub_app = &mut sub_apps[at].1;
            sub_app.extract(world);
            sub_app.try_step(real.as_secs_f64())?;
        }
        Ok(())
    }
}

#[cold]
#[track_caller]
fn no_sub_app(label: &Label) -> ! {
    panic!(
        "there is no app `{label}` beside this one: add it with `insert_sub_app`, or ask with `get_sub_app`"
    )
}
