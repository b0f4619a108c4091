//! `ParallelCommands`: commands that the threads of a parallel loop record.
//!
//! Each scope records into a queue of its own, which is put behind the others when the scope ends: threads only meet
//! for that moment. Which scope ends first is up to chance, and so are the ids that its entities get.

use std::sync::{Mutex, PoisonError};

use super::super::access::{Access, Part};
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{Commands, Ids, Queue, SharedWorld, World};

/// Records commands from several threads at once.
///
/// The commands of one scope stay together, in their order. The order of scopes that run on different threads is up to
/// chance: use it for commands that do not depend on each other, or [`Commands`] where a run must be repeatable.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(i32);
///
/// fn reap(dying: Query<(Entity, &Health)>, commands: ParallelCommands) {
///     dying.par_iter().for_each(|(entity, health)| {
///         if health.0 <= 0 {
///             commands.command_scope(|mut commands| commands.entity(entity).despawn());
///         }
///     });
/// }
///
/// let mut world = World::new();
/// world.spawn_batch((0..10).map(|i| Health(i - 5)));
/// world.run_system_once(reap).unwrap();
/// assert_eq!(world.entities().len(), 4);
/// ```
pub struct ParallelCommands<'w, 's> {
    recorded: &'s Mutex<Queue>,
    ids: Ids<'w>,
}

impl ParallelCommands<'_, '_> {
    /// Calls a function that records commands, on whatever thread this is.
    pub fn command_scope<R>(&self, f: impl FnOnce(Commands<'_, '_>) -> R) -> R {
        let mut queue = Queue::default();
        let out = f(Commands::recording(&mut queue, self.ids));
        if !queue.is_empty() {
            self.recorded.lock().unwrap_or_else(PoisonError::into_inner).append(&mut queue);
        }
        out
    }
}

/// What the scopes of a system recorded.
#[derive(Default)]
pub struct Scopes(Mutex<Queue>);

impl SystemParam for ParallelCommands<'_, '_> {
    type State = Scopes;
    type Guard<'w> = ParallelCommands<'w, 'w>;
    type Item<'g> = ParallelCommands<'g, 'g>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> Scopes {
        let mut access = Access::new();
        access.write(Part::EntityIds);
        meta.declare(world, "ParallelCommands".to_owned(), access);
        meta.declare_deferred();
        Scopes::default()
    }
    fn lock<'w>(state: &'w Scopes, world: &'w SharedWorld<'w>, _: Run<'w>) -> Self::Guard<'w> {
        ParallelCommands { recorded: &state.0, ids: Ids::Session(&world.store) }
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> ParallelCommands<'g, 'g> {
        ParallelCommands { recorded: guard.recorded, ids: guard.ids }
    }
    fn apply(state: &mut Scopes, world: &mut World) {
        world.take_commands(state.0.get_mut().unwrap_or_else(PoisonError::into_inner));
    }
    fn discard(state: &mut Scopes) {
        state.0.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
