//! `RemovedComponents`: the entities that lost a component since the system last read.
//!
//! The place of a reader stays with its system and is known to the world, which keeps removals until every reader has
//! passed them. Removals are written down where structure changes, which is never while systems run: so a reader takes
//! no flag.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use phalanx_store::Entity;

use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::component::AnyComponent;
use crate::registry::ComponentId;
use crate::world::{Removals, SharedWorld, World};

/// The entities that lost a component, or were despawned with it, since the system last read.
///
/// Each is yielded once. A removal waits until every system that asks for it has read it, however seldom that runs; see
/// [`World::set_removal_limit`].
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
/// #[derive(Resource, Default)]
/// struct Gone(Vec<Entity>);
///
/// fn clear_up(mut removed: RemovedComponents<Health>, mut gone: ResMut<Gone>) {
///     gone.0.extend(removed.read());
/// }
///
/// let mut app = App::new();
/// app.init_resource::<Gone>().add_systems(Update, clear_up);
/// let e = app.world_mut().spawn(Health(1.0)).id();
/// app.step(0.1);
/// app.world_mut().despawn(e);
/// app.step(0.1);
/// assert_eq!(app.world().resource::<Gone>().0, [e]);
/// ```
pub struct RemovedComponents<'w, 's, T: AnyComponent> {
    removals: &'w Removals,
    id: ComponentId,
    passed: &'s AtomicU64,
    component: PhantomData<fn() -> T>,
}

/// The number of a removal, in the order in which components of one type went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemovalId(u64);

impl<T: AnyComponent> RemovedComponents<'_, '_, T> {
    fn unread(&self) -> (&[Entity], u64, u64) {
        self.removals.unread(self.id, self.passed.load(Ordering::Relaxed))
    }

    /// The entities that were not read yet, in the order in which they lost the component. Each counts as read when it
    /// is yielded.
    pub fn read(&mut self) -> impl Iterator<Item = Entity> + '_ {
        self.read_with_id().map(|(entity, _)| entity)
    }

    /// As [`read`](Self::read), with the number of each removal.
    pub fn read_with_id(&mut self) -> impl Iterator<Item = (Entity, RemovalId)> + '_ {
        let (entities, first, _) = self.unread();
        entities.iter().zip(first..).map(|(&entity, at)| {
            self.passed.store(at + 1, Ordering::Relaxed);
            (entity, RemovalId(at))
        })
    }

    /// How many were not read yet.
    pub fn len(&self) -> usize {
        self.unread().0.len()
    }

    /// Whether all were read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many went unread because too many were waiting. Ask before reading, which goes on with what is there.
    pub fn missed(&self) -> u64 {
        self.unread().2
    }

    /// Skips what was not read yet.
    pub fn clear(&mut self) {
        let (entities, first, _) = self.unread();
        self.passed.store(first + entities.len() as u64, Ordering::Relaxed);
    }
}

/// A reader's place.
pub struct RemovedState {
    id: ComponentId,
    passed: Arc<AtomicU64>,
}

/// What a reader looks at during a run.
pub struct RemovedGuard<'w> {
    removals: &'w Removals,
    state: &'w RemovedState,
}

impl<T: AnyComponent> SystemParam for RemovedComponents<'_, '_, T> {
    type State = RemovedState;
    type Guard<'w> = RemovedGuard<'w>;
    type Item<'g> = RemovedComponents<'g, 'g, T>;

    fn init(world: &mut World, _: &mut SystemMeta) -> RemovedState {
        let id = world.register_component::<T>();
        RemovedState { id, passed: world.read_removals(id) }
    }
    fn lock<'w>(state: &'w RemovedState, world: &'w SharedWorld<'w>, _: Run<'w>) -> Self::Guard<'w> {
        RemovedGuard { removals: world.removals, state }
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> RemovedComponents<'g, 'g, T> {
        let RemovedGuard { removals, state } = *guard;
        RemovedComponents { removals, id: state.id, passed: &state.passed, component: PhantomData }
    }
}
