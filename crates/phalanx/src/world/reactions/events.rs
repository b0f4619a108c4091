//! Events: what observers are called with, and how an event finds them.
//!
//! An [`Event`] names its observers with its [`Trigger`]: all that observe its type, or those that observe its
//! entity as well, or those along a path of entities. Lifecycle events are patterns over components: `On<Add<Health>>`
//! is the event [`AddEvent`], of entities that got `Health`.
//!
//! This file knows no systems: observers are handlers here, which get the event and its trigger.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use phalanx_store::Entity;

use super::Lifecycle;
use super::matches::Border;
use super::polls::FindMutated;
use crate::archetype::ArchetypeId;
use crate::bundle::Bundle;
use crate::component::RowTracked;
use crate::query::{Condition, QueryData, QueryFilter};
use crate::registry::ComponentId;
use crate::relation::Relationship;
use crate::signature::Signature;
use crate::world::World;

/// Something that observers are called for.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Event)]
/// struct Thunder { loud: bool }
///
/// let mut world = World::new();
/// world.add_observer(|on: On<Thunder>| assert!(on.loud));
/// world.trigger(Thunder { loud: true });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "expected an event",
    note = "add `#[derive(Event)]` to `{Self}`, or `#[derive(EntityEvent)]` if it happens to an entity"
)]
pub trait Event: Send + Sync + Sized + 'static {
    /// How the event finds its observers.
    type Trigger: Trigger<Self>;

    /// Whether it is an event of the world's own structure.
    #[doc(hidden)]
    fn lifecycle() -> Option<Lifecycle> {
        None
    }
}

/// An event that happens to an entity.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(EntityEvent)]
/// struct Opened { entity: Entity }
/// #[derive(Resource, Default)]
/// struct Count(u32);
///
/// let mut world = World::new();
/// world.init_resource::<Count>();
/// let (door, gate) = (world.spawn_empty().id(), world.spawn_empty().id());
/// world.entity_mut(door).observe(|on: On<Opened>, mut count: ResMut<Count>| count.0 += 1);
/// world.trigger(Opened { entity: gate });
/// world.trigger(Opened { entity: door });
/// assert_eq!(world.resource::<Count>().0, 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event of an entity",
    label = "expected an event of an entity",
    note = "add `#[derive(EntityEvent)]` to `{Self}`"
)]
pub trait EntityEvent: Event {
    /// The entity that it happens to.
    fn event_target(&self) -> Entity;
}

/// An event whose entity can be replaced, as propagation does.
pub trait SetEntityEventTarget: EntityEvent {
    /// Replaces the entity.
    fn set_event_target(&mut self, entity: Entity);
}

/// What stands in `On<..>`: an event, or a lifecycle event of some components.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be observed: `Mutate<T>` needs `#[component(track = \"row\")]` on `T`, and any other type \
               that it is an event",
    label = "expected an event",
    note = "`On<Add<T>>`, `Insert`, `Discard`, `Remove` and `Despawn` observe a component `T`",
    note = "your own types become events by `#[derive(Event)]`"
)]
pub trait EventPattern: Send + Sync {
    /// The event.
    type Event: Event;
    /// The components that it is about: any of them, or all there are if there are none.
    type Components: Bundle;

    /// Where the event comes from, if not from a lifecycle or a program.
    #[doc(hidden)]
    fn source() -> Option<Source> {
        None
    }
}

/// Where an event comes from.
#[doc(hidden)]
pub struct Source(pub(crate) Origin);

pub(crate) enum Origin {
    /// Values that were written, found at sync points.
    Mutated(FindMutated),
    /// Entities that begin or cease to match.
    Matches(Border, Condition),
}

impl<E: Event> EventPattern for E {
    type Event = E;
    type Components = ();
}

/// How an event finds its observers, and what goes with it on the way.
pub trait Trigger<E: Event>: Any + Send {
    /// Calls the observers.
    fn trigger(&mut self, world: &mut World, event: &mut E);
}

/// Calls all observers of the event's type.
#[derive(Clone, Copy, Debug, Default)]
pub struct GlobalTrigger;

impl<E: Event<Trigger = Self>> Trigger<E> for GlobalTrigger {
    fn trigger(&mut self, world: &mut World, event: &mut E) {
        world.call_observers(event, self, None);
    }
}

/// Calls all observers of the event's type, and those of its entity.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntityTrigger;

impl<E: EntityEvent<Trigger = Self>> Trigger<E> for EntityTrigger {
    fn trigger(&mut self, world: &mut World, event: &mut E) {
        let entity = event.event_target();
        world.call_observers(event, self, Some(entity));
    }
}

/// Where an event goes next.
///
/// Relations are traversals: `#[entity_event(propagate = &'static ChildOf)]`. Your own types can be, too:
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::event::Traversal;
///
/// #[derive(Component)]
/// struct Owner(Entity);
/// struct ToOwner;
///
/// impl<E> Traversal<E> for ToOwner {
///     fn traverse(world: &World, from: Entity, _: &E) -> Option<Entity> {
///         world.get::<Owner>(from).map(|owner| owner.0)
///     }
/// }
///
/// #[derive(EntityEvent)]
/// #[entity_event(propagate = ToOwner, auto_propagate)]
/// struct Damaged { entity: Entity }
/// #[derive(Resource, Default)]
/// struct Path(Vec<Entity>);
///
/// let mut world = World::new();
/// world.init_resource::<Path>();
/// let knight = world.spawn_empty().id();
/// let horse = world.spawn(Owner(knight)).id();
/// world.add_observer(|on: On<Damaged>, mut path: ResMut<Path>| path.0.push(on.entity));
/// world.trigger(Damaged { entity: horse });
/// assert_eq!(world.resource::<Path>().0, [horse, knight]);
/// ```
pub trait Traversal<E: ?Sized>: Send + 'static {
    /// The entity after `from`; `None` at the end.
    fn traverse(world: &World, from: Entity, event: &E) -> Option<Entity>;
}

/// Along a relation, from source to target: from child to parent.
impl<R: Relationship, E: ?Sized> Traversal<E> for &'static R {
    fn traverse(world: &World, from: Entity, _: &E) -> Option<Entity> {
        world.get::<R>(from).map(R::get)
    }
}

/// As [`EntityTrigger`], for one entity after the other.
pub struct PropagateEntityTrigger<const AUTO: bool, E, T> {
    /// The entity that the event happened to at first.
    pub original_event_target: Entity,
    /// Whether it goes on to the next entity.
    pub propagate: bool,
    types: PhantomData<fn() -> (E, T)>,
}

impl<const AUTO: bool, E, T> Default for PropagateEntityTrigger<AUTO, E, T> {
    fn default() -> Self {
        Self { original_event_target: Entity::PLACEHOLDER, propagate: AUTO, types: PhantomData }
    }
}

impl<const AUTO: bool, E, T> fmt::Debug for PropagateEntityTrigger<AUTO, E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PropagateEntityTrigger")
            .field("original_event_target", &self.original_event_target)
            .field("propagate", &self.propagate)
            .finish()
    }
}

impl<const AUTO: bool, E, T> Trigger<E> for PropagateEntityTrigger<AUTO, E, T>
where
    E: SetEntityEventTarget + Event<Trigger = Self>,
    T: Traversal<E>,
{
    fn trigger(&mut self, world: &mut World, event: &mut E) {
        let mut entity = event.event_target();
        self.original_event_target = entity;
        world.call_observers(event, self, Some(entity));
        // A path without a cycle is not longer than there are entities.
        let longest = world.entities().len();
        for _ in 0..longest {
            if !self.propagate {
                return;
            }
            let Some(next) = T::traverse(world, entity, event) else { return };
            entity = next;
            event.set_event_target(entity);
            world.call_observers(event, self, Some(entity));
        }
        if self.propagate && T::traverse(world, entity, event).is_some() {
            world.note_circle::<E>(self.original_event_target);
        }
    }
}

/// The entities of one announcement: one, or a run that was spawned at once.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The entity, if it is one alone.
    one: Entity,
    many: Option<Box<[Entity]>>,
}

impl Run {
    #[inline(always)]
    pub(crate) fn one(entity: Entity) -> Self {
        Self { one: entity, many: None }
    }

    pub(crate) fn many(entities: Box<[Entity]>) -> Self {
        Self { one: Entity::PLACEHOLDER, many: Some(entities) }
    }

    pub(crate) fn as_slice(&self) -> &[Entity] {
        self.many.as_deref().unwrap_or(std::slice::from_ref(&self.one))
    }
}

/// What goes with a lifecycle event: the components and entities that it is about.
#[derive(Clone, Debug)]
pub struct EntityComponentsTrigger {
    pub(crate) components: Signature,
    pub(crate) entities: Run,
}

impl EntityComponentsTrigger {
    /// What goes with an event of one entity and some of its components.
    pub fn new(entity: Entity, components: &[ComponentId]) -> Self {
        Self { components: components.iter().copied().collect(), entities: Run::one(entity) }
    }

    /// All components of this change that have listeners, in ascending order of their ids.
    pub fn components(&self) -> impl Iterator<Item = ComponentId> + '_ {
        self.components.iter()
    }

    /// Whether the change is about a component, which has listeners.
    pub fn has_component(&self, id: ComponentId) -> bool {
        self.components.has(id)
    }

    /// The entities that the event is about.
    pub fn entities(&self) -> &[Entity] {
        self.entities.as_slice()
    }
}

macro_rules! lifecycle {
    ($($pattern:ident $event:ident $when:literal;)*) => {
        $(
            #[doc = concat!("The event of `On<", stringify!($pattern), "<..>>`: ", $when, ".")]
            #[derive(Clone, Debug)]
            pub struct $event {
                /// The entity; the first one of a run.
                pub entity: Entity,
            }

            impl Event for $event {
                type Trigger = EntityComponentsTrigger;

                fn lifecycle() -> Option<Lifecycle> {
                    Some(Lifecycle::$pattern)
                }
            }

            impl EntityEvent for $event {
                fn event_target(&self) -> Entity {
                    self.entity
                }
            }

            impl Trigger<$event> for EntityComponentsTrigger {
                fn trigger(&mut self, world: &mut World, event: &mut $event) {
                    let entity = event.entity;
                    world.call_observers(event, self, Some(entity));
                }
            }

            #[doc = concat!("In `On<..>`: ", $when, "; `B` is a component, or a bundle of which any will do.")]
            pub struct $pattern<B: Bundle>(PhantomData<fn() -> B>);

            impl<B: Bundle> EventPattern for $pattern<B> {
                type Event = $event;
                type Components = B;
            }
        )*
    };
}
lifecycle! {
    Add AddEvent "a component came to an entity that lacked it";
    Insert InsertEvent "a component got a value, be it in the place of another one";
    Discard DiscardEvent "the value of a component is about to go or to be replaced";
    Remove RemoveEvent "a component is about to go";
    Despawn DespawnEvent "an entity with the component is about to be despawned";
}

macro_rules! entity_events {
    ($($event:ident $what:literal;)*) => {
        $(
            #[doc = $what]
            #[derive(Clone, Debug)]
            pub struct $event {
                /// The entity; the first one of a run.
                pub entity: Entity,
            }

            impl Event for $event {
                type Trigger = EntityComponentsTrigger;
            }

            impl EntityEvent for $event {
                fn event_target(&self) -> Entity {
                    self.entity
                }
            }

            impl Trigger<$event> for EntityComponentsTrigger {
                fn trigger(&mut self, world: &mut World, event: &mut $event) {
                    let entity = event.entity;
                    world.call_observers(event, self, Some(entity));
                }
            }
        )*
    };
}
entity_events! {
    MutateEvent "The event of `On<Mutate<..>>`: the value of a component was written.";
    MatchedEvent "The event of `On<Matched<..>>`: an entity began to match a query.";
    UnmatchedEvent "The event of `On<Unmatched<..>>`: an entity is about to match a query no more.";
}

/// An event of the world's own, for handlers that are not known by its type.
pub(crate) enum OwnEvent {
    Add(AddEvent),
    Insert(InsertEvent),
    Discard(DiscardEvent),
    Remove(RemoveEvent),
    Despawn(DespawnEvent),
    Mutate(MutateEvent),
    Matched(MatchedEvent),
    Unmatched(UnmatchedEvent),
}

impl OwnEvent {
    #[inline]
    pub(crate) fn lifecycle(event: Lifecycle, entity: Entity) -> Self {
        match event {
            Lifecycle::Add => Self::Add(AddEvent { entity }),
            Lifecycle::Insert => Self::Insert(InsertEvent { entity }),
            Lifecycle::Discard => Self::Discard(DiscardEvent { entity }),
            Lifecycle::Remove => Self::Remove(RemoveEvent { entity }),
            Lifecycle::Despawn => Self::Despawn(DespawnEvent { entity }),
        }
    }

    /// The event, if it is of this type. The types are known here, so all that is compared is which event it is.
    #[inline(always)]
    fn typed<E: Any>(&mut self) -> Option<&mut E> {
        match self {
            Self::Add(event) => same(event),
            Self::Insert(event) => same(event),
            Self::Discard(event) => same(event),
            Self::Remove(event) => same(event),
            Self::Despawn(event) => same(event),
            Self::Mutate(event) => same(event),
            Self::Matched(event) => same(event),
            Self::Unmatched(event) => same(event),
        }
    }
}

/// A value as what it is, if both types are one.
#[inline(always)]
fn same<A: Any, B: Any>(value: &mut A) -> Option<&mut B> {
    let value: &mut dyn Any = value;
    value.downcast_mut()
}

/// An event with what goes with it, as observers are given them.
pub(crate) enum Heard<'a> {
    /// One of the world's own.
    Own(&'a mut (OwnEvent, EntityComponentsTrigger)),
    /// One that a program triggered.
    Triggered(&'a mut dyn Any, &'a mut dyn Any),
}

impl<'a> Heard<'a> {
    /// Both as what they are; `None` when they are of another event.
    #[inline(always)]
    pub(crate) fn typed<E: Event>(self) -> Option<(&'a mut E, &'a mut E::Trigger)> {
        match self {
            Self::Own((event, trigger)) => Some((event.typed()?, same(trigger)?)),
            Self::Triggered(event, trigger) => Some((event.downcast_mut()?, trigger.downcast_mut()?)),
        }
    }
}

/// In `On<..>`: the value of a component was written since the last sync point, other than by coming to its entity.
///
/// It is announced where commands are applied between systems, at the end of each phase, and by [`World::flush`], for each
/// entity once. The component needs `#[component(track = "row")]`: rows are found by their ticks, so writing costs what
/// it does without observers. The commands of one observer are applied before the next one is called, which is told of
/// entities that have the value still.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// #[component(track = "row")]
/// struct Health(f32);
/// #[derive(Resource, Default)]
/// struct Log(Vec<f32>);
///
/// let mut world = World::new();
/// world.init_resource::<Log>();
/// world.add_observer(|on: On<Mutate<Health>>, all: Query<&Health>, mut log: ResMut<Log>| {
///     log.0.push(all.get(on.entity).unwrap().0);
/// });
/// let e = world.spawn(Health(3.0)).id();
/// world.flush();
/// world.get_mut::<Health>(e).unwrap().0 = 2.0;
/// world.flush();
/// world.flush();
/// assert_eq!(world.resource::<Log>().0, [2.0]);
/// ```
pub struct Mutate<T: RowTracked>(PhantomData<fn() -> T>);

impl<T: RowTracked> EventPattern for Mutate<T> {
    type Event = MutateEvent;
    type Components = ();

    fn source() -> Option<Source> {
        Some(Source(Origin::Mutated(FindMutated::of::<T>())))
    }
}

/// In `On<..>`: an entity began to match a query, by getting a component or losing one. Sparse components count.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
/// #[derive(Component)]
/// struct Burning;
/// #[derive(Resource, Default)]
/// struct Alarms(u32);
///
/// let mut world = World::new();
/// world.init_resource::<Alarms>();
/// world.add_observer(|on: On<Matched<(&Health, &Burning)>>, mut alarms: ResMut<Alarms>| alarms.0 += 1);
/// let e = world.spawn(Health(3.0)).id();
/// world.insert(e, Burning).unwrap();
/// world.insert(e, Burning).unwrap();
/// assert_eq!(world.resource::<Alarms>().0, 1);
/// ```
pub struct Matched<D, F = ()>(PhantomData<fn() -> (D, F)>);

/// In `On<..>`: an entity is about to match a query no more; what it had can still be read. See [`Matched`].
pub struct Unmatched<D, F = ()>(PhantomData<fn() -> (D, F)>);

impl<D: QueryData, F: QueryFilter> EventPattern for Matched<D, F> {
    type Event = MatchedEvent;
    type Components = ();

    fn source() -> Option<Source> {
        let condition = Condition::all([D::condition(), F::condition()]);
        Some(Source(Origin::Matches(Border::Begins, condition)))
    }
}

impl<D: QueryData, F: QueryFilter> EventPattern for Unmatched<D, F> {
    type Event = UnmatchedEvent;
    type Components = ();

    fn source() -> Option<Source> {
        let condition = Condition::all([D::condition(), F::condition()]);
        Some(Source(Origin::Matches(Border::Ceases, condition)))
    }
}

/// An archetype was created. It is announced at the next sync point, in the order in which archetypes came and went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchetypeCreated(pub ArchetypeId);

/// An archetype was dropped, announced as [`ArchetypeCreated`]. Its id may be that of a newer archetype by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchetypeDropped(pub ArchetypeId);

impl Event for ArchetypeCreated {
    type Trigger = GlobalTrigger;
}

impl Event for ArchetypeDropped {
    type Trigger = GlobalTrigger;
}
