//! `Reactive`: the entities to which something happened since the system last looked.
//!
//! Each is there once, however often it happened, and those that are dead by now are skipped. Reading empties the
//! set.

use std::marker::PhantomData;
use std::sync::MutexGuard;

use phalanx_store::Entity;

use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{Collected, Collects, SharedSet, SharedWorld, World, open_set};

/// A set of entities to which something happened: `Reactive<Add<Health>>`, `Reactive<(Insert<A>, Remove<B>)>`,
/// `Reactive<Mutate<Health>>`, `Reactive<Matched<(&Health, &Burning)>>`.
///
/// `Mutate` collects when its observers run: at sync points, what was written since the last one, of components with
/// `track = "row"`.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Position(f32);
/// #[derive(Resource, Default)]
/// struct Drawn(Vec<Entity>);
///
/// fn redraw(mut moved: Reactive<(Insert<Position>, Remove<Position>)>, mut drawn: ResMut<Drawn>) {
///     drawn.0.extend(moved.read());
/// }
///
/// let mut app = App::new();
/// app.init_resource::<Drawn>().add_systems(Update, redraw);
/// app.step(0.1);
/// let e = app.world_mut().spawn(Position(1.0)).id();
/// app.world_mut().insert(e, Position(2.0)).unwrap();
/// app.step(0.1);
/// app.step(0.1);
/// assert_eq!(app.world().resource::<Drawn>().0, [e]); // once, though it was written twice
/// ```
pub struct Reactive<'w, 's, C> {
    set: &'s mut Collected,
    world: &'w SharedWorld<'w>,
    events: PhantomData<fn() -> C>,
}

impl<C> Reactive<'_, '_, C> {
    /// Empties the set: the entities that are alive, in the order in which they came.
    pub fn read(&mut self) -> impl Iterator<Item = Entity> + '_ {
        let world = self.world;
        self.set.take().into_iter().filter(move |&entity| world.store.contains(entity))
    }

    /// The entities that are alive, in the order in which they came. They stay in the set.
    pub fn iter(&self) -> impl Iterator<Item = Entity> + '_ {
        self.set.entities.iter().copied().filter(|&entity| self.world.store.contains(entity))
    }

    /// Whether an entity is alive and in the set.
    pub fn contains(&self, entity: Entity) -> bool {
        self.iter().any(|member| member == entity)
    }

    /// How many are alive and in the set.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether no entity of the set is alive.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.set.take();
    }
}

/// A reader's set.
pub struct ReactiveState(SharedSet);

/// A set during a run.
pub struct ReactiveGuard<'w> {
    set: MutexGuard<'w, Collected>,
    world: &'w SharedWorld<'w>,
}

impl<C: Collects> SystemParam for Reactive<'_, '_, C> {
    type State = ReactiveState;
    type Guard<'w> = ReactiveGuard<'w>;
    type Item<'g> = Reactive<'g, 'g, C>;

    fn init(world: &mut World, _: &mut SystemMeta) -> ReactiveState {
        ReactiveState(world.collect_reactive::<C>())
    }
    fn lock<'w>(state: &'w ReactiveState, world: &'w SharedWorld<'w>, _: Run<'w>) -> ReactiveGuard<'w> {
        ReactiveGuard { set: open_set(&state.0), world }
    }
    fn item<'g>(guard: &'g mut ReactiveGuard<'_>) -> Reactive<'g, 'g, C> {
        Reactive { set: &mut guard.set, world: guard.world, events: PhantomData }
    }
}
