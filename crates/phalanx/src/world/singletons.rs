//! Resources and messages of a world.
//!
//! Both are kept by type, one value or one channel each. Looking one up costs a hash of its type, per call and
//! never per row; systems find theirs once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::World;
use super::from_world::FromWorld;
use crate::messages::{Message, MessageId, Messages};
use crate::resources::{Resource, ResourceId};
use crate::tracking::{Mut, Ref};

impl World {
    /// Inserts a resource, and returns the one it replaces.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// #[derive(Resource)]
    /// struct Score(u32);
    ///
    /// world.insert_resource(Score(3));
    /// let before = world.insert_resource(Score(5)); // replaces, and gives back, the value before
    /// assert_eq!(before.map(|score| score.0), Some(3));
    /// ```
    pub fn insert_resource<R: Resource>(&mut self, resource: R) -> Option<R> {
        self.resources.insert(resource, self.store.tick())
    }

    /// Inserts the default value of a resource unless the world has one, and returns the resource's number.
    ///
    /// A type without a default value may implement [`FromWorld`].
    pub fn init_resource<R: Resource + FromWorld>(&mut self) -> ResourceId {
        if !self.contains_resource::<R>() {
            let resource = R::from_world(self);
            self.insert_resource(resource);
        }
        self.resources.register::<R>()
    }

    /// Reads a resource.
    ///
    /// # Panics
    /// When the world has none; see [`World::get_resource`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// #[derive(Resource)]
    /// struct Score(u32);
    ///
    /// world.insert_resource(Score(3));
    /// assert_eq!(world.resource::<Score>().0, 3);
    /// ```
    #[track_caller]
    pub fn resource<R: Resource>(&self) -> &R {
        match self.get_resource() {
            Some(resource) => resource,
            None => missing::<R>(),
        }
    }

    /// Reads a resource, with when it was written.
    ///
    /// # Panics
    /// When the world has none; see [`World::get_resource_ref`].
    #[track_caller]
    pub fn resource_ref<R: Resource>(&self) -> Ref<'_, R> {
        match self.get_resource_ref() {
            Some(resource) => resource,
            None => missing::<R>(),
        }
    }

    /// Writes a resource. It counts as changed when it is written through what this returns, not before.
    ///
    /// # Panics
    /// When the world has none; see [`World::get_resource_mut`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// #[derive(Resource)]
    /// struct Score(u32);
    ///
    /// world.insert_resource(Score(3));
    /// world.resource_mut::<Score>().0 += 1;
    /// assert_eq!(world.resource::<Score>().0, 4);
    /// ```
    #[track_caller]
    pub fn resource_mut<R: Resource>(&mut self) -> Mut<'_, R> {
        match self.get_resource_mut() {
            Some(resource) => resource,
            None => missing::<R>(),
        }
    }

    /// Reads a resource, if the world has it.
    pub fn get_resource<R: Resource>(&self) -> Option<&R> {
        self.resources.get()
    }

    /// Reads a resource, with when it was written, if the world has it.
    pub fn get_resource_ref<R: Resource>(&self) -> Option<Ref<'_, R>> {
        let (value, ticks) = self.resources.get_with_ticks()?;
        Some(Ref::new(value, ticks.added, ticks.changed, self.last_tick))
    }

    /// Writes a resource, if the world has it.
    pub fn get_resource_mut<R: Resource>(&mut self) -> Option<Mut<'_, R>> {
        self.resources.get_mut(self.last_tick, self.store.tick())
    }

    /// Writes a resource, which `make` gives where the world has none.
    pub fn get_resource_or_insert_with<R: Resource>(&mut self, make: impl FnOnce() -> R) -> Mut<'_, R> {
        self.resources.get_or_insert_with(self.last_tick, self.store.tick(), make)
    }

    /// Writes a resource, after [`World::init_resource`].
    pub fn get_resource_or_init<R: Resource + FromWorld>(&mut self) -> Mut<'_, R> {
        self.init_resource::<R>();
        self.get_resource_mut().expect("it was inserted just now")
    }

    /// Whether the world has the resource, and it came since the last [`World::clear_trackers`], or in an exclusive
    /// system since its last run.
    pub fn is_resource_added<R: Resource>(&self) -> bool {
        self.get_resource_ref::<R>().is_some_and(|resource| resource.is_added())
    }

    /// Whether the world has the resource, and it came or was written since the last [`World::clear_trackers`], or in
    /// an exclusive system since its last run.
    pub fn is_resource_changed<R: Resource>(&self) -> bool {
        self.get_resource_ref::<R>().is_some_and(|resource| resource.is_changed())
    }

    /// Uses a resource together with the rest of the world, which lacks it meanwhile.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Resource)]
    /// struct Names(Vec<&'static str>);
    /// #[derive(Component)]
    /// struct Name(&'static str);
    ///
    /// let mut world = World::new();
    /// world.insert_resource(Names(vec!["ship", "sail"]));
    /// world.resource_scope(|world, mut names: Mut<Names>| {
    ///     for name in names.0.drain(..) {
    ///         world.spawn(Name(name));
    ///     }
    /// });
    /// assert!(world.resource::<Names>().0.is_empty());
    /// ```
    ///
    /// # Panics
    /// When the world has no such resource, or one was inserted meanwhile; the old one is back then.
    #[track_caller]
    pub fn resource_scope<R: Resource, T>(&mut self, f: impl FnOnce(&mut Self, Mut<'_, R>) -> T) -> T {
        match self.try_resource_scope(f) {
            Some(out) => out,
            None => missing::<R>(),
        }
    }

    /// As [`World::resource_scope`]; does nothing, and returns `None`, when the world has no such resource.
    ///
    /// # Panics
    /// When a resource of the type was inserted meanwhile; the old one is back then.
    #[track_caller]
    pub fn try_resource_scope<R: Resource, T>(
        &mut self,
        f: impl FnOnce(&mut Self, Mut<'_, R>) -> T,
    ) -> Option<T> {
        let (since, now) = (self.last_tick, self.store.tick());
        let (id, mut taken) = self.resources.take::<R>()?;
        let outcome = catch_unwind(AssertUnwindSafe(|| f(self, taken.lend(since, now))));
        let inserted = self.resources.put_back(id, taken);
        match outcome {
            Ok(_) if inserted.is_some() => panic!(
                "the resource `{}` was inserted while `resource_scope` lent it: write to the one that is lent",
                std::any::type_name::<R>()
            ),
            Ok(out) => Some(out),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Whether the world has a resource.
    pub fn contains_resource<R: Resource>(&self) -> bool {
        self.resources.contains::<R>()
    }

    /// Takes a resource out of the world.
    pub fn remove_resource<R: Resource>(&mut self) -> Option<R> {
        self.resources.remove()
    }

    /// Writes a message, which everyone can read until the end of the frame.
    pub fn write_message<M: Message>(&mut self, message: M) -> MessageId {
        self.messages.get_or_register().write(message)
    }

    /// The messages of one type, if any was ever written.
    pub fn messages<M: Message>(&self) -> Option<&Messages<M>> {
        self.messages.get()
    }

    /// The messages of one type, to be drained or kept for longer.
    pub fn messages_mut<M: Message>(&mut self) -> &mut Messages<M> {
        self.messages.get_or_register()
    }

    /// Ends a frame: messages that were not kept are dropped, and removals that all readers have passed.
    pub fn end_frame(&mut self) {
        self.messages.end_frame_all();
        self.forget_unread_removals();
        self.forget_collectors();
    }
}

#[cold]
#[track_caller]
fn missing<R: Resource>() -> ! {
    panic!("the world has no resource `{}`: {}", std::any::type_name::<R>(), R::how_to_add())
}
