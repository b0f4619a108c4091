//! Plugins: parts of an app that set it up.
//!
//! A plugin adds systems, resources and other plugins when it is added ([`Plugin::build`]), and may look at what all of
//! them added before the app starts ([`Plugin::finish`], [`Plugin::cleanup`]). A function is a plugin, too. An app has
//! a plugin once, unless the plugin says otherwise; the error of a second one says where the first came from.

use std::any::{Any, TypeId, type_name};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::App;

pub use group::{PluginGroup, PluginGroupBuilder};

mod group;

/// Something that sets up a part of an app.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource, Default)]
/// struct Score(u32);
///
/// struct Scoring;
///
/// impl Plugin for Scoring {
///     fn build(&self, app: &mut App) {
///         app.init_resource::<Score>();
///         app.add_systems(Update, |mut score: ResMut<Score>| score.0 += 1);
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins(Scoring);
/// app.step(0.1);
/// assert_eq!(app.world().resource::<Score>().0, 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plugin",
    note = "a plugin implements `Plugin`, or is a function that takes `&mut App`"
)]
pub trait Plugin: Any + Send + Sync {
    /// Sets up the app, when the plugin is added.
    fn build(&self, app: &mut App);

    /// Whether the plugin has all that it needs for [`finish`](Self::finish). Only a runner waits for it that asks
    /// [`App::plugins_state`].
    fn ready(&self, _app: &App) -> bool {
        true
    }

    /// Completes the set-up when the app starts, when all plugins were added.
    fn finish(&self, _app: &mut App) {}

    /// Runs after every plugin's `finish`, before the first system.
    fn cleanup(&self, _app: &mut App) {}

    /// The name for messages.
    fn name(&self) -> &str {
        type_name::<Self>()
    }

    /// Whether an app may have it once only.
    fn is_unique(&self) -> bool {
        true
    }
}

impl<F: Fn(&mut App) + Send + Sync + 'static> Plugin for F {
    fn build(&self, app: &mut App) {
        self(app);
    }
}

/// How far the plugins of an app are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PluginsState {
    /// Not all are ready.
    Adding,
    /// All are ready to finish.
    Ready,
    /// All have finished.
    Finished,
    /// All have cleaned up.
    Cleaned,
}

/// A plugin of an app.
pub(super) struct Added {
    name: String,
    of: TypeId,
    /// The plugin during whose `build` it was added.
    by: Option<String>,
    /// Out of its place while one of its methods runs.
    plugin: Option<Box<dyn Plugin>>,
}

/// What [`App::add_plugins`] takes: a plugin, a group, or a tuple of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a plugin nor a group of plugins",
    note = "a plugin implements `Plugin`, or is a function that takes `&mut App`; tuples have up to 15 parts"
)]
pub trait Plugins<M> {
    /// Adds all of them, in order.
    #[doc(hidden)]
    #[track_caller]
    fn add_to(self, app: &mut App);
}

/// Marks single plugins.
#[doc(hidden)]
pub struct IsPlugin;
/// Marks groups.
#[doc(hidden)]
pub struct IsGroup;
/// Marks tuples.
#[doc(hidden)]
pub struct IsTuple;

impl<P: Plugin> Plugins<IsPlugin> for P {
    #[track_caller]
    fn add_to(self, app: &mut App) {
        app.add_boxed_plugin(Box::new(self));
    }
}

impl<G: PluginGroup> Plugins<IsGroup> for G {
    #[track_caller]
    fn add_to(self, app: &mut App) {
        self.build().finish(app);
    }
}

macro_rules! plugins_tuple {
    ($(($part:ident $marker:ident $at:tt))*) => {
        impl<$($part: Plugins<$marker>, $marker),*> Plugins<(IsTuple, $($marker),*)> for ($($part,)*) {
            #[track_caller]
            fn add_to(self, app: &mut App) {
                $(self.$at.add_to(app);)*
            }
        }
    };
}
macro_rules! plugins_tuples {
    ($(($part:ident $marker:ident $at:tt))*) => {
        plugins_tuples!(@each [] $(($part $marker $at))*);
    };
    (@each [$($done:tt)*]) => {};
    (@each [$($done:tt)*] $next:tt $($rest:tt)*) => {
        plugins_tuple!($($done)* $next);
        plugins_tuples!(@each [$($done)* $next] $($rest)*);
    };
}
plugins_tuples!((A MA 0)(B MB 1)(C MC 2)(D MD 3)(E ME 4)(F MF 5)(G MG 6)(H MH 7)(I MI 8)(J MJ 9)(K MK 10)(L ML 11)(M MM 12)(N MN 13)(O MO 14));

impl App {
    /// Adds plugins: one, a group, or a tuple of these, in order.
    ///
    /// # Panics
    /// When a plugin is there already that an app may have once, or a plugin panics; it is named.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// struct Physics;
    /// impl Plugin for Physics {
    ///     fn build(&self, app: &mut App) {
    ///         app.add_systems(FixedUpdate, || {});
    ///     }
    /// }
    /// fn sound(app: &mut App) {
    ///     app.init_resource::<Frames>();
    /// }
    ///
    /// let mut app = App::new();
    /// app.add_plugins((Physics, sound)); // types and functions
    /// assert!(app.is_plugin_added::<Physics>());
    /// ```
    #[track_caller]
    pub fn add_plugins<M>(&mut self, plugins: impl Plugins<M>) -> &mut Self {
        plugins.add_to(self);
        self
    }

    /// Whether a plugin of this type was added.
    pub fn is_plugin_added<P: Plugin>(&self) -> bool {
        self.plugins.iter().any(|added| added.of == TypeId::of::<P>())
    }

    /// The plugins of this type that were added, in order.
    pub fn get_added_plugins<P: Plugin>(&self) -> Vec<&P> {
        let all = self.plugins.iter().filter_map(|added| added.plugin.as_deref());
        all.filter_map(|plugin| (plugin as &dyn Any).downcast_ref()).collect()
    }

    #[track_caller]
    fn add_boxed_plugin(&mut self, plugin: Box<dyn Plugin>) {
        let (name, of) = (plugin.name().to_owned(), (*plugin).type_id());
        let by = self.building.last().cloned();
        if let Some(first) = self.plugins.iter().find(|added| added.of == of).filter(|_| plugin.is_unique()) {
            let told = |by: &Option<String>| {
                by.as_ref().map_or_else(|| "by the app".to_owned(), |by| format!("by plugin `{by}`"))
            };
            let (first, second) = (told(&first.by), told(&by));
            panic!(
                "plugin `{name}` was added twice, first {first}, then {second}: add it once, or let its `is_unique` be false"
            );
        }
        let at = self.plugins.len();
        self.plugins.push(Added { name: name.clone(), of, by, plugin: None });
        self.building.push(name);
        let built = catch_unwind(AssertUnwindSafe(|| plugin.build(self)));
        let name = self.building.pop().unwrap_or_default();
        if let Err(panic) = built {
            self.plugins.truncate(at);
            if self.building.is_empty() {
                eprintln!("plugin `{name}` panicked while it was added");
            }
            resume_unwind(panic);
        }
        self.plugins[at].plugin = Some(plugin);
    }

    /// How far the plugins are.
    pub fn plugins_state(&self) -> PluginsState {
        let is_ready = |added: &Added| added.plugin.as_ref().is_none_or(|plugin| plugin.ready(self));
        match self.plugins_state {
            PluginsState::Ready if !self.plugins.iter().all(is_ready) => PluginsState::Adding,
            state => state,
        }
    }

    /// Runs [`Plugin::finish`] of all plugins, once. The app does it when it starts; a runner may do it sooner.
    pub fn finish(&mut self) {
        if self.plugins_state < PluginsState::Finished {
            self.plugins_state = PluginsState::Finished;
            self.each_plugin(<dyn Plugin>::finish);
        }
    }

    /// Runs [`Plugin::cleanup`] of all plugins, once, after [`App::finish`].
    pub fn cleanup(&mut self) {
        self.finish();
        if self.plugins_state < PluginsState::Cleaned {
            self.plugins_state = PluginsState::Cleaned;
            self.each_plugin(<dyn Plugin>::cleanup);
        }
    }

    /// Those that are added meanwhile take part.
    fn each_plugin(&mut self, step: fn(&dyn Plugin, &mut Self)) {
        let mut at = 0;
        while at < self.plugins.len() {
            if let Some(plugin) = self.plugins[at].plugin.take() {
                self.building.push(self.plugins[at].name.clone());
                step(&*plugin, self);
                self.building.pop();
                self.plugins[at].plugin = Some(plugin);
            }
            at += 1;
        }
    }
}
