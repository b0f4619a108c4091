//! A world whose structure stands still: what hooks get, and what systems and observers may take.
//!
//! Everything can be read; values of components and resources can be written. Whatever would move rows is recorded in
//! [`DeferredWorld::commands`], and applied when the change that is being announced is complete.

use std::ops::Deref;

use phalanx_store::Entity;

use crate::component::Queryable;
use crate::messages::{Message, MessageId};
use crate::query::{Query, QueryData, QueryFilter, QueryState};
use crate::resources::Resource;
use crate::tracking::Mut;
use crate::world::{Commands, World};

/// A world that can be read, and whose values can be written, but in which nothing comes or goes.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// #[component(on_add = greet)]
/// struct Guest;
/// #[derive(Component)]
/// struct Greeted;
///
/// fn greet(mut world: DeferredWorld, context: HookContext) {
///     assert!(world.get::<Guest>(context.entity).is_some());
///     world.commands().entity(context.entity).insert(Greeted);
/// }
///
/// let mut world = World::new();
/// let guest = world.spawn(Guest).id();
/// assert!(world.get::<Greeted>(guest).is_some());
/// ```
///
/// A system or an observer takes it first, behind what it is given, with `Local` and `&mut QueryState` beside it:
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Gold(u32);
/// #[derive(Resource, Default)]
/// struct Sum(u32);
///
/// let mut world = World::new();
/// world.init_resource::<Sum>();
/// world.add_observer(|on: On<Add<Gold>>, mut world: DeferredWorld| {
///     let found = world.get::<Gold>(on.entity).unwrap().0;
///     world.resource_mut::<Sum>().0 += found;
/// });
/// world.spawn(Gold(3));
/// assert_eq!(world.resource::<Sum>().0, 3);
/// ```
pub struct DeferredWorld<'w> {
    world: &'w mut World,
}

impl<'w> From<&'w mut World> for DeferredWorld<'w> {
    fn from(world: &'w mut World) -> Self {
        Self { world }
    }
}

impl Deref for DeferredWorld<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        self.world
    }
}

impl DeferredWorld<'_> {
    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> DeferredWorld<'_> {
        DeferredWorld { world: self.world }
    }

    /// The world itself, for code that changes no structure.
    pub(in crate::world) fn world_mut(&mut self) -> &mut World {
        self.world
    }

    /// Records changes, which are applied when the change that is being announced is complete.
    pub fn commands(&mut self) -> Commands<'_, '_> {
        self.world.commands()
    }

    /// A kept query, for reading and writing.
    #[track_caller]
    pub fn query<'a, D: QueryData, F: QueryFilter>(
        &'a mut self,
        state: &'a mut QueryState<D, F>,
    ) -> Query<'a, 'a, D, F> {
        state.query_mut(self.world)
    }

    /// Writes a component, or one field of one; `None` when the entity is dead or lacks it.
    pub fn get_mut<T: Queryable>(&mut self, entity: Entity) -> Option<T::Mut<'_>> {
        self.world.get_mut::<T>(entity)
    }

    /// Writes a resource.
    ///
    /// # Panics
    /// When it does not exist; see [`DeferredWorld::get_resource_mut`].
    #[track_caller]
    pub fn resource_mut<R: Resource>(&mut self) -> Mut<'_, R> {
        self.world.resource_mut()
    }

    /// Writes a resource; `None` when it does not exist.
    pub fn get_resource_mut<R: Resource>(&mut self) -> Option<Mut<'_, R>> {
        self.world.get_resource_mut()
    }

    /// Writes a message.
    pub fn write_message<M: Message>(&mut self, message: M) -> MessageId {
        self.world.write_message(message)
    }
}
