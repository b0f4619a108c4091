//! A world that many systems use at once.
//!
//! A session borrows the world exclusively, so its structure stands still; columns, resources and message
//! channels are lent under flags. A *reading* session borrows it shared: nothing can be written, no flag is
//! needed, and the whole world may be looked at as well.
//!
//! This file does not decide which systems run beside which: the schedule does, and a flag that cannot be taken is a
//! bug there.

use phalanx_store::Shared;

use super::World;
use crate::archetype::Archetypes;
use crate::messages::SharedChannels;
use crate::registry::Components;
use crate::resources::SharedResources;
use crate::world::Removals;

/// A world during a session.
pub struct SharedWorld<'w> {
    pub(crate) store: Shared<'w>,
    pub(crate) resources: SharedResources<'w>,
    pub(crate) messages: SharedChannels<'w>,
    pub(crate) archetypes: &'w Archetypes,
    pub(crate) components: &'w Components,
    pub(crate) removals: &'w Removals,
    /// The whole world, in a reading session.
    pub(crate) whole: Option<&'w World>,
}

impl World {
    /// Opens a session in which systems read and write.
    pub(crate) fn share(&mut self) -> SharedWorld<'_> {
        let resources = self.resources.share();
        SharedWorld {
            store: self.store.share(),
            messages: self.messages.share(&resources),
            resources,
            archetypes: &self.archetypes,
            components: &self.components,
            removals: &self.reactions.removals,
            whole: None,
        }
    }

    /// As [`World::share`], for a system that runs alone, on this thread: resources and channels are lent to no other.
    #[inline]
    pub(crate) fn share_alone(&mut self) -> SharedWorld<'_> {
        let resources = self.resources.share_alone();
        SharedWorld {
            store: self.store.share(),
            messages: self.messages.share(&resources),
            resources,
            archetypes: &self.archetypes,
            components: &self.components,
            removals: &self.reactions.removals,
            whole: None,
        }
    }

    /// Opens a session in which systems only read.
    pub(crate) fn share_read(&self) -> SharedWorld<'_> {
        SharedWorld {
            store: self.store.share_read(),
            resources: self.resources.share_read(),
            messages: self.messages.share_read(),
            archetypes: &self.archetypes,
            components: &self.components,
            removals: &self.reactions.removals,
            whole: Some(self),
        }
    }
}
