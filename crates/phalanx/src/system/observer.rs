//! Observers: systems that an event starts.
//!
//! The first parameter is [`On`], the others are those of any system; an observer changes no structure itself, so it
//! may take a `DeferredWorld` and not `&mut World`. It is made ready when it is added, and what its commands do happens when
//! the event has reached all of its observers.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use phalanx_store::Entity;

use super::asked::ConditionShape;
use super::condition::SystemCondition;
use super::failed::ParamError;
use super::input::SystemInput;
use super::kept::StateVisitor;
use super::meta::ParamConflict;
use super::output::SystemOutput;
use super::traits::{IntoSystem, System};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::{
    BoxedError, Call, Commands, EntityCommands, EntityComponentsTrigger, EntityEvent, EntityWorldMut, Event,
    EventKey, EventPattern, Handler, NewObserver, ObserverCycle, ObserverId, Origin, PropagateEntityTrigger,
    World,
};

pub use several::{IntoObservers, Observers, observers};

mod several;

type TriggerOf<E> = <<E as EventPattern>::Event as Event>::Trigger;

/// What an observer observes: its first parameter.
///
/// It derefs to the event: `on.entity` of a lifecycle event is the entity.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
/// #[derive(Component)]
/// struct Alive;
///
/// let mut world = World::new();
/// world.add_observer(|on: On<Add<Health>>, mut commands: Commands| {
///     commands.entity(on.entity).insert(Alive);
/// });
/// world.add_observer(|on: On<Remove<Health>>, health: Query<&Health>| {
///     assert_eq!(health.get(on.entity).unwrap().0, 3.0); // it can still be read
/// });
/// let e = world.spawn(Health(3.0)).id();
/// assert!(world.get::<Alive>(e).is_some());
/// world.despawn(e);
/// ```
pub struct On<'w, 't, E: EventPattern> {
    event: &'w mut E::Event,
    trigger: &'w mut TriggerOf<E>,
    observer: ObserverId,
    pattern: PhantomData<(&'t (), fn() -> E)>,
}

impl<E: EventPattern> On<'_, '_, E> {
    /// The event.
    pub fn event(&self) -> &E::Event {
        self.event
    }

    /// The event, to be written: observers that are called after this one see it.
    pub fn event_mut(&mut self) -> &mut E::Event {
        self.event
    }

    /// What goes with the event.
    pub fn trigger(&self) -> &TriggerOf<E> {
        self.trigger
    }

    /// What goes with the event, to be written.
    pub fn trigger_mut(&mut self) -> &mut TriggerOf<E> {
        self.trigger
    }

    /// The observer that runs; `commands.remove_observer(on.observer())` ends it.
    pub fn observer(&self) -> ObserverId {
        self.observer
    }
}

impl<E: EventPattern<Event: Event<Trigger = EntityComponentsTrigger>>> On<'_, '_, E> {
    /// The entities that the event is about: one, or for an observer that is [batched](Observer::batched) all of a run
    /// that was spawned at once.
    pub fn entities(&self) -> &[Entity] {
        self.trigger.entities()
    }
}

impl<const AUTO: bool, E, V: Event, T> On<'_, '_, E>
where
    E: EventPattern<Event = V>,
    V: Event<Trigger = PropagateEntityTrigger<AUTO, V, T>>,
{
    /// The entity that the event happened to at first.
    pub fn original_event_target(&self) -> Entity {
        self.trigger.original_event_target
    }

    /// Says whether the event goes on to the next entity, when all observers of this one have run.
    pub fn propagate(&mut self, should_propagate: bool) {
        self.trigger.propagate = should_propagate;
    }

    /// Whether the event goes on to the next entity.
    pub fn get_propagate(&self) -> bool {
        self.trigger.propagate
    }
}

impl<E: EventPattern> Deref for On<'_, '_, E> {
    type Target = E::Event;

    fn deref(&self) -> &E::Event {
        self.event
    }
}

impl<E: EventPattern> DerefMut for On<'_, '_, E> {
    fn deref_mut(&mut self) -> &mut E::Event {
        self.event
    }
}

impl<E: EventPattern<Event: fmt::Debug>> fmt::Debug for On<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On").field("event", &self.event).field("observer", &self.observer).finish()
    }
}

impl<E: EventPattern> SystemInput for On<'_, '_, E> {
    type Param<'i> = On<'i, 'i, E>;
    type Inner<'i> = On<'i, 'i, E>;

    #[inline]
    fn wrap(inner: Self::Inner<'_>) -> Self::Param<'_> {
        inner
    }
}

type BoxedCondition = Box<dyn System<In = (), Out = bool>>;

/// A system that handles events.
struct SystemHandler<E, S> {
    system: S,
    conditions: Vec<BoxedCondition>,
    event: PhantomData<fn() -> E>,
}

impl<E: EventPattern + 'static, S> Handler for SystemHandler<E, S>
where
    S: System<In = On<'static, 'static, E>, Out: SystemOutput>,
{
    fn run(&mut self, world: &mut World, call: Call<'_>) -> Result<(), BoxedError> {
        let mut holds = true;
        for condition in &mut self.conditions {
            // All are asked: those that remember must not miss a call.
            match condition.run_alone((), world) {
                Ok(answer) => holds &= answer,
                Err(error) => {
                    holds = false;
                    told(error)?;
                }
            }
        }
        if !holds {
            return Ok(());
        }
        let heard = call.heard.typed::<E::Event>();
        let (event, trigger) = heard.expect("observers are kept by the type of their event");
        let on = On { event, trigger, observer: call.observer, pattern: PhantomData };
        match self.system.run_alone_inline(on, world) {
            Ok(out) => out.into_result(),
            Err(error) => told(error),
        }
    }

    fn discard(&mut self) {
        self.system.discard();
        self.conditions.iter_mut().for_each(|condition| condition.discard());
    }

    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        self.system.visit_state(visitor);
        self.conditions.iter_mut().for_each(|condition| condition.visit_state(visitor));
    }
}

/// An error, unless it only says that the system is not to run.
fn told(error: ParamError) -> Result<(), BoxedError> {
    if error.is_skip() { Ok(()) } else { Err(error.into_error()) }
}

/// What an observer is made of, when it is made ready for a world.
struct Ready {
    handler: Box<dyn Handler>,
    changes_structure: bool,
    name: String,
    key: TypeId,
    event: EventKey,
    lifecycle: Option<crate::world::Lifecycle>,
    components: Signature,
    origin: Option<Origin>,
}

type Make = Box<dyn FnOnce(&mut World, Vec<BoxedCondition>) -> Result<Ready, ParamConflict> + Send>;

/// An observer with its configuration.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Burning;
/// #[derive(Resource)]
/// struct Raining(bool);
/// fn ignite(on: On<Add<Burning>>) {}
/// fn smoke(on: On<Add<Burning>>) {}
///
/// let mut world = World::new();
/// world.insert_resource(Raining(false));
/// world.add_observer(smoke);
/// world.add_observer(Observer::new(ignite).before(smoke));
/// // A condition can be given to the function itself.
/// world.add_observer(ignite.run_if(|rain: Res<Raining>| !rain.0));
/// ```
#[must_use = "an observer hears nothing until it is added to a world"]
pub struct Observer {
    make: Make,
    entities: Vec<Entity>,
    components: Vec<ComponentId>,
    conditions: Vec<BoxedCondition>,
    before: Vec<TypeId>,
    after: Vec<TypeId>,
    batched: bool,
}

impl Observer {
    /// An observer, made from a function whose first parameter is [`On`].
    pub fn new<E, Out, M, S>(system: S) -> Self
    where
        E: EventPattern + 'static,
        Out: SystemOutput + 'static,
        S: IntoSystem<On<'static, 'static, E>, Out, M>,
    {
        let mut system = system.into_system();
        let make = move |world: &mut World, mut conditions: Vec<BoxedCondition>| {
            for condition in &mut conditions {
                condition.initialize(world)?;
            }
            system.initialize(world)?;
            let components = world.components_of::<E::Components>();
            Ok(Ready {
                changes_structure: system.access().changes_structure(),
                name: system.name().to_owned(),
                key: system.key(),
                event: EventKey::of::<E::Event>(),
                lifecycle: E::Event::lifecycle(),
                components,
                origin: E::source().map(|source| source.0),
                handler: Box::new(SystemHandler::<E, S::System> { system, conditions, event: PhantomData }),
            })
        };
        let (entities, components, conditions, before, after) = Default::default();
        Self { make: Box::new(make), entities, components, conditions, before, after, batched: false }
    }

    /// It is called only for events of this entity, and of others that are named so.
    pub fn with_entity(mut self, entity: Entity) -> Self {
        self.entities.push(entity);
        self
    }

    /// As [`Observer::with_entity`], for several.
    pub fn with_entities(mut self, entities: impl IntoIterator<Item = Entity>) -> Self {
        self.entities.extend(entities);
        self
    }

    /// Names another entity, for whose events it is called.
    pub fn watch_entity(&mut self, entity: Entity) {
        self.entities.push(entity);
    }

    /// It is called for this component, and for others that are named so or in the event's type. Lifecycle events only:
    /// `On<Add<()>>` with components named here is how run-time components are observed.
    pub fn with_component(mut self, component: ComponentId) -> Self {
        self.components.push(component);
        self
    }

    /// As [`Observer::with_component`], for several.
    pub fn with_components(mut self, components: impl IntoIterator<Item = ComponentId>) -> Self {
        self.components.extend(components);
        self
    }

    /// It runs only if a condition holds. With several, all are asked, and all must hold.
    pub fn run_if<M>(mut self, condition: impl ConditionShape<M> + SystemCondition<M>) -> Self {
        self.conditions.push(Box::new(condition.into_condition()));
        self
    }

    /// It runs before the observers that are made from a function. On the way out (`Discard`, `Remove`, `Despawn`) the
    /// order is reversed.
    pub fn before<In: SystemInput, Out, M, S: IntoSystem<In, Out, M>>(mut self, other: S) -> Self {
        self.before.push(other.into_system().key());
        self
    }

    /// It runs after the observers that are made from a function. On the way out the order is reversed.
    pub fn after<In: SystemInput, Out, M, S: IntoSystem<In, Out, M>>(mut self, other: S) -> Self {
        self.after.push(other.into_system().key());
        self
    }

    /// It is called once for entities that are spawned at once, with all of them in [`On::entities`], after the others.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Star;
    /// #[derive(Resource, Default)]
    /// struct Calls(Vec<usize>);
    ///
    /// let mut world = World::new();
    /// world.init_resource::<Calls>();
    /// let count = |on: On<Add<Star>>, mut calls: ResMut<Calls>| calls.0.push(on.entities().len());
    /// world.add_observer(Observer::new(count).batched());
    /// world.spawn_batch((0..1000).map(|_| Star));
    /// world.spawn(Star);
    /// assert_eq!(world.resource::<Calls>().0, [1000, 1]);
    /// ```
    pub fn batched(mut self) -> Self {
        self.batched = true;
        self
    }
}

/// Something that can be an observer: a function whose first parameter is [`On`], or an [`Observer`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an observer",
    label = "expected a function whose first parameter is `On<..>`",
    note = "the other parameters are those of any system; `&mut World` is not allowed"
)]
pub trait IntoObserver<Marker>: Sized {
    /// The observer.
    fn into_observer(self) -> Observer;
}

impl IntoObserver<()> for Observer {
    fn into_observer(self) -> Observer {
        self
    }
}

impl<E, Out, M, S> IntoObserver<(E, Out, M)> for S
where
    E: EventPattern + 'static,
    Out: SystemOutput + 'static,
    S: IntoSystem<On<'static, 'static, E>, Out, M>,
{
    fn into_observer(self) -> Observer {
        Observer::new(self)
    }
}

/// Something that can observe one entity: as [`IntoObserver`], of an event that happens to an entity.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot observe an entity",
    label = "expected a function whose first parameter is `On<..>` of an event that happens to an entity",
    note = "add `#[derive(EntityEvent)]` to the event"
)]
pub trait IntoEntityObserver<Marker>: Sized {
    /// The observer, for an entity.
    fn into_observer_for_entity(self, entity: Entity) -> Observer;
}

impl IntoEntityObserver<()> for Observer {
    fn into_observer_for_entity(self, entity: Entity) -> Observer {
        self.with_entity(entity)
    }
}

impl<E, Out, M, S> IntoEntityObserver<(E, Out, M)> for S
where
    E: EventPattern<Event: EntityEvent> + 'static,
    Out: SystemOutput + 'static,
    S: IntoSystem<On<'static, 'static, E>, Out, M>,
{
    fn into_observer_for_entity(self, entity: Entity) -> Observer {
        Observer::new(self).with_entity(entity)
    }
}

/// Why an observer could not be added.
#[derive(Debug)]
#[non_exhaustive]
pub enum ObserverError {
    /// Two of its parameters conflict.
    Conflict(ParamConflict),
    /// It would have to run before itself.
    Cycle(ObserverCycle),
}

impl fmt::Display for ObserverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Cycle(cycle) => cycle.fmt(f),
        }
    }
}

impl std::error::Error for ObserverError {}

impl World {
    /// Adds an observer: a function whose first parameter is [`On`], or an [`Observer`].
    ///
    /// Observers of an event run in the order in which they were added, hooks before them; on the way out (`Discard`,
    /// `Remove`, `Despawn`) in reverse, hooks after them. What they queue is applied when all of them have run.
    ///
    /// # Panics
    /// When parameters conflict, the function takes `&mut World`, or the order has a cycle; see
    /// [`World::try_add_observer`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// let mut world = World::new();
    /// world.add_observer(|on: On<Add<Health>>| println!("{} has health now", on.entity));
    /// world.spawn(Health(10.0));
    /// ```
    #[track_caller]
    pub fn add_observer<M>(&mut self, observer: impl IntoObserver<M>) -> ObserverId {
        match self.try_add_observer(observer) {
            Ok(id) => id,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`World::add_observer`], with an error instead of a panic.
    ///
    /// # Errors
    /// When parameters conflict, or the order has a cycle; then nothing is added.
    ///
    /// # Panics
    /// When the function takes `&mut World`.
    #[track_caller]
    pub fn try_add_observer<M>(
        &mut self,
        observer: impl IntoObserver<M>,
    ) -> Result<ObserverId, ObserverError> {
        let Observer { make, entities, components, conditions, before, after, batched } =
            observer.into_observer();
        let ready = make(self, conditions).map_err(ObserverError::Conflict)?;
        let Ready { handler, changes_structure, name, key, event, lifecycle, components: typed, origin } =
            ready;
        assert!(
            !changes_structure,
            "`{name}` takes `&mut World`, so it cannot be an observer: take `DeferredWorld`, and use `Commands` for \
             structural changes"
        );
        let components = components.into_iter().fold(typed, |all, id| all.with(id));
        let new =
            NewObserver { name, key, event, lifecycle, components, entities, before, after, batched, origin };
        self.insert_observer(new, handler).map_err(ObserverError::Cycle)
    }

    /// Adds several observers.
    ///
    /// # Panics
    /// As [`World::add_observer`].
    #[track_caller]
    pub fn add_observers(&mut self, observers: Observers) -> Vec<ObserverId> {
        observers.0.into_iter().map(|observer| self.add_observer(observer)).collect()
    }
}

impl EntityWorldMut<'_> {
    /// Adds an observer of this entity. It goes with the entity.
    ///
    /// # Panics
    /// As [`World::add_observer`].
    #[track_caller]
    pub fn observe<M>(&mut self, observer: impl IntoEntityObserver<M>) -> &mut Self {
        let (world, entity) = self.world_and_id();
        world.add_observer(observer.into_observer_for_entity(entity));
        self
    }
}

impl Commands<'_, '_> {
    /// Adds an observer, when the commands are applied.
    pub fn add_observer<M>(&mut self, observer: impl IntoObserver<M>) -> &mut Self {
        self.queue_observer(observer.into_observer());
        self
    }

    fn queue_observer(&mut self, observer: Observer) {
        // Observers need not be `Sync`: the lock makes them so.
        let observer = Mutex::new(observer);
        self.queue(move |world: &mut World| {
            let observer = observer.into_inner().unwrap_or_else(PoisonError::into_inner);
            world.try_add_observer(observer).map(drop)
        });
    }

    /// Removes an observer, when the commands are applied.
    pub fn remove_observer(&mut self, id: ObserverId) -> &mut Self {
        self.queue(move |world: &mut World| {
            world.remove_observer(id);
        });
        self
    }
}

impl EntityCommands<'_> {
    /// Adds an observer of this entity, when the commands are applied; none if it is dead by then.
    pub fn observe<M>(&mut self, observer: impl IntoEntityObserver<M>) -> &mut Self {
        let observer = Mutex::new(observer.into_observer_for_entity(self.id()));
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            let observer = observer.into_inner().unwrap_or_else(PoisonError::into_inner);
            let (world, _) = entity.world_and_id();
            world.try_add_observer(observer).map(drop)
        })
    }
}
