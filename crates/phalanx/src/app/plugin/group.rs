//! Groups of plugins, which users can change before they add them.
//!
//! A group is a list by type: a plugin is found, exchanged, left out or put beside another one by naming its type. The
//! app sees single plugins alone, in the order of the list.

use std::any::{TypeId, type_name};

use super::Plugin;
use crate::app::App;

/// Plugins that belong together, in an order.
///
/// ```
/// use phalanx::prelude::*;
///
/// struct Physics { gravity: f32 }
/// impl Plugin for Physics {
///     fn build(&self, _: &mut App) {}
/// }
/// struct Sound;
/// impl Plugin for Sound {
///     fn build(&self, _: &mut App) {}
/// }
///
/// struct Standard;
/// impl PluginGroup for Standard {
///     fn build(self) -> PluginGroupBuilder {
///         PluginGroupBuilder::start::<Self>().add(Physics { gravity: 9.81 }).add(Sound)
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins(Standard.build().disable::<Sound>().set(Physics { gravity: 1.62 }));
/// assert_eq!(app.get_added_plugins::<Physics>()[0].gravity, 1.62);
/// assert!(!app.is_plugin_added::<Sound>());
/// ```
pub trait PluginGroup: Sized {
    /// The plugins, to be changed or added.
    fn build(self) -> PluginGroupBuilder;

    /// The name for messages.
    fn name() -> String {
        type_name::<Self>().to_owned()
    }

    /// The plugins, with another one in the place of that of the same type.
    ///
    /// # Panics
    /// When the group has no such plugin.
    #[track_caller]
    fn set<P: Plugin>(self, plugin: P) -> PluginGroupBuilder {
        self.build().set(plugin)
    }
}

/// A group that is being put together.
#[must_use = "a group does nothing until it is added"]
pub struct PluginGroupBuilder {
    group: String,
    entries: Vec<Entry>,
}

struct Entry {
    of: TypeId,
    plugin: Box<dyn Plugin>,
    enabled: bool,
}

impl Entry {
    fn new<P: Plugin>(plugin: P) -> Self {
        Self { of: TypeId::of::<P>(), plugin: Box::new(plugin), enabled: true }
    }
}

impl PluginGroup for PluginGroupBuilder {
    fn build(self) -> Self {
        self
    }
}

impl PluginGroupBuilder {
    /// A group without plugins.
    pub fn start<G: PluginGroup>() -> Self {
        Self { group: G::name(), entries: Vec::new() }
    }

    /// Whether the group has a plugin of this type, enabled or not.
    pub fn contains<P: Plugin>(&self) -> bool {
        self.entries.iter().any(|entry| entry.of == TypeId::of::<P>())
    }

    /// Whether the group has a plugin of this type that will be added.
    pub fn enabled<P: Plugin>(&self) -> bool {
        self.entries.iter().any(|entry| entry.of == TypeId::of::<P>() && entry.enabled)
    }

    fn find<P: Plugin>(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.of == TypeId::of::<P>())
    }

    #[track_caller]
    fn position<P: Plugin>(&self) -> usize {
        self.find::<P>().unwrap_or_else(|| {
            panic!("the group `{}` has no plugin `{}`: add it first", self.group, type_name::<P>())
        })
    }

    /// Puts a plugin at a position that is found when another one of its type is gone.
    fn put<P: Plugin>(mut self, plugin: P, at: impl FnOnce(&Self) -> usize) -> Self {
        self.entries.retain(|entry| entry.of != TypeId::of::<P>());
        let at = at(&self);
        self.entries.insert(at, Entry::new(plugin));
        self
    }

    /// Adds a plugin at the end. One of the same type that was there goes.
    pub fn add<P: Plugin>(self, plugin: P) -> Self {
        self.put(plugin, |group| group.entries.len())
    }

    /// Adds the plugins of another group at the end.
    pub fn add_group(mut self, group: impl PluginGroup) -> Self {
        for entry in group.build().entries {
            self.entries.retain(|own| own.of != entry.of);
            self.entries.push(entry);
        }
        self
    }

    /// Adds a plugin before another one.
    ///
    /// # Panics
    /// When the group has no such plugin.
    #[track_caller]
    pub fn add_before<Other: Plugin>(self, plugin: impl Plugin) -> Self {
        self.put(plugin, |group| group.position::<Other>())
    }

    /// Adds a plugin after another one.
    ///
    /// # Panics
    /// When the group has no such plugin.
    #[track_caller]
    pub fn add_after<Other: Plugin>(self, plugin: impl Plugin) -> Self {
        self.put(plugin, |group| group.position::<Other>() + 1)
    }

    /// As [`add`](Self::add), if the group has no plugin of this type.
    ///
    /// # Errors
    /// The group and the plugin, when it has one.
    pub fn try_add<P: Plugin>(self, plugin: P) -> Result<Self, (Self, P)> {
        if self.contains::<P>() { Err((self, plugin)) } else { Ok(self.add(plugin)) }
    }

    /// As [`add_before`](Self::add_before), if the group has no plugin of this type.
    ///
    /// # Errors
    /// The group and the plugin, when it has one, or does not have the other plugin.
    pub fn try_add_before<Other: Plugin, P: Plugin>(self, plugin: P) -> Result<Self, (Self, P)> {
        if self.contains::<P>() {
            return Err((self, plugin));
        }
        self.try_add_before_overwrite::<Other, P>(plugin)
    }

    /// As [`add_before`](Self::add_before), with an error.
    ///
    /// # Errors
    /// The group and the plugin, when the group does not have the other plugin.
    pub fn try_add_before_overwrite<Other: Plugin, P: Plugin>(self, plugin: P) -> Result<Self, (Self, P)> {
        if self.find::<Other>().is_some() && !is_same::<Other, P>() {
            Ok(self.add_before::<Other>(plugin))
        } else {
            Err((self, plugin))
        }
    }

    /// As [`add_after`](Self::add_after), if the group has no plugin of this type.
    ///
    /// # Errors
    /// The group and the plugin, when it has one, or does not have the other plugin.
    pub fn try_add_after<Other: Plugin, P: Plugin>(self, plugin: P) -> Result<Self, (Self, P)> {
        if self.contains::<P>() {
            return Err((self, plugin));
        }
        self.try_add_after_overwrite::<Other, P>(plugin)
    }

    /// As [`add_after`](Self::add_after), with an error.
    ///
    /// # Errors
    /// The group and the plugin, when the group does not have the other plugin.
    pub fn try_add_after_overwrite<Other: Plugin, P: Plugin>(self, plugin: P) -> Result<Self, (Self, P)> {
        if self.find::<Other>().is_some() && !is_same::<Other, P>() {
            Ok(self.add_after::<Other>(plugin))
        } else {
            Err((self, plugin))
        }
    }

    /// As [`set`](Self::set), with an error.
    ///
    /// # Errors
    /// The group and the plugin, when the group has no such plugin.
    pub fn try_set<P: Plugin>(self, plugin: P) -> Result<Self, (Self, P)> {
        if self.contains::<P>() { Ok(self.set(plugin)) } else { Err((self, plugin)) }
    }

    /// Puts a plugin in the place of the one of its type.
    ///
    /// # Panics
    /// When the group has no such plugin.
    #[track_caller]
    pub fn set<P: Plugin>(mut self, plugin: P) -> Self {
        let at = self.position::<P>();
        self.entries[at].plugin = Box::new(plugin);
        self
    }

    /// Leaves a plugin out.
    ///
    /// # Panics
    /// When the group has no such plugin.
    #[track_caller]
    pub fn disable<P: Plugin>(mut self) -> Self {
        let at = self.position::<P>();
        self.entries[at].enabled = false;
        self
    }

    /// Takes a plugin in again.
    ///
    /// # Panics
    /// When the group has no such plugin.
    #[track_caller]
    pub fn enable<P: Plugin>(mut self) -> Self {
        let at = self.position::<P>();
        self.entries[at].enabled = true;
        self
    }

    /// Adds the plugins that are not left out to an app, in order.
    ///
    /// # Panics
    /// As for [`App::add_plugins`].
    #[track_caller]
    pub fn finish(self, app: &mut App) {
        for entry in self.entries.into_iter().filter(|entry| entry.enabled) {
            debug_assert_eq!((*entry.plugin).type_id(), entry.of);
            app.add_boxed_plugin(entry.plugin);
        }
    }
}

/// Whether a plugin would be put beside itself, which is gone by then.
fn is_same<A: 'static, B: 'static>() -> bool {
    TypeId::of::<A>() == TypeId::of::<B>()
}
