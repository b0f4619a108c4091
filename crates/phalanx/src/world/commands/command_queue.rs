//! Commands that are kept apart from any world, and handed to one later.
//!
//! A [`CommandQueue`] is filled anywhere, also on another thread, and moved: into a world by
//! [`CommandQueue::apply`], or behind what a system has recorded by [`Commands::append`].

use super::{Command, Commands, Ids, Queue};
use crate::world::World;

/// Recorded commands that wait for a world.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// let mut queue = CommandQueue::default();
/// queue.push(|world: &mut World| {
///     world.spawn(Health(3));
/// });
/// let mut world = World::new();
/// queue.apply(&mut world);
/// assert_eq!(world.entities().len(), 1);
/// ```
#[derive(Default)]
pub struct CommandQueue(Queue);

impl CommandQueue {
    /// Records a command, behind the others.
    pub fn push<C: Command>(&mut self, command: C) {
        self.0.command(command);
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves all commands of another queue behind these.
    pub fn append(&mut self, other: &mut Self) {
        if !other.is_empty() {
            self.0.append(&mut other.0);
        }
    }

    /// Applies the commands, after those that the world has waiting.
    ///
    /// # Panics
    /// When a command does; see [`World::flush`].
    pub fn apply(&mut self, world: &mut World) {
        world.take_commands(&mut self.0);
        world.flush();
    }
}

impl std::fmt::Debug for CommandQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandQueue").field("commands", &self.0.steps.len()).finish()
    }
}

impl<'w, 's> Commands<'w, 's> {
    /// Commands that are recorded in a queue of the caller's; ids are the world's. The queue is to be applied to the
    /// same world.
    pub fn new(queue: &'s mut CommandQueue, world: &'w World) -> Self {
        Self::recording(&mut queue.0, Ids::Store(&world.store))
    }

    /// Commands that are recorded in another queue, with ids of the same world.
    pub fn rebound_to<'q>(&self, queue: &'q mut CommandQueue) -> Commands<'w, 'q> {
        Commands::recording(&mut queue.0, self.ids)
    }

    /// Takes over the commands of a queue, behind those recorded so far.
    pub fn append(&mut self, other: &mut CommandQueue) {
        if !other.is_empty() {
            self.queue.append(&mut other.0);
        }
    }
}
