//! Entities that exist, or are disabled, as long as a state has a value.
//!
//! Components say what happens to their entity: it is despawned, disabled or enabled. What is done on exit comes after all
//! `OnExit` of the state, so that these still see the entities as they were; what is done on enter comes before its
//! `OnEnter`, so that what is spawned there stays. Entities that are disabled are reached as well.

use phalanx_store::Entity;

use super::transition::last_felt;
use super::{
    EnterSchedules, ExitSchedules, StateTransitionEvent, StateTransitionSystems, States, TransitionSchedules,
};
use crate::component::{Component, Disabled, DisabledByTree, DisabledTree};
use crate::messages::Cursor;
use crate::query::{Allow, QueryState};
use crate::relation::Children;
use crate::schedule::{ConfigureSystems, Schedule};
use crate::system::Local;
use crate::world::World;

/// Despawns its entity when a state loses this value.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct DespawnOnExit<S: States>(pub S);

/// Despawns its entity when a state gets this value.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct DespawnOnEnter<S: States>(pub S);

/// Disables its entity, with all its children, when a state loses this value.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Game,
///     Pause,
/// }
///
/// let mut app = App::new();
/// app.init_state::<Screen>();
/// let unit = app.world_mut().spawn((DisableOnExit(Screen::Game), EnableOnEnter(Screen::Game))).id();
/// for (screen, sleeps) in [(Screen::Game, false), (Screen::Pause, true), (Screen::Game, false)] {
///     app.world_mut().resource_mut::<NextState<Screen>>().set_if_different(screen);
///     app.update();
///     assert_eq!(app.world().is_disabled(unit), sleeps);
/// }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct DisableOnExit<S: States>(pub S);

/// Disables its entity, with all its children, when a state gets this value.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct DisableOnEnter<S: States>(pub S);

/// Enables its entity, with all its children, when a state loses this value.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct EnableOnExit<S: States>(pub S);

/// Enables its entity, with all its children, when a state gets this value.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct EnableOnEnter<S: States>(pub S);

/// Despawns its entity when a function says so of a change of a state. It is asked between `OnExit` and `OnEnter`.
#[derive(Component)]
pub struct DespawnWhen<S: States> {
    /// The function.
    pub state_transition_evaluator: Box<dyn Fn(&StateTransitionEvent<S>) -> bool + Send + Sync>,
}

impl<S: States> DespawnWhen<S> {
    /// Despawns the entity at the first change for which this is true.
    pub fn new(despawns: impl Fn(&StateTransitionEvent<S>) -> bool + Send + Sync + 'static) -> Self {
        Self { state_transition_evaluator: Box::new(despawns) }
    }
}

/// Disables its entity, with all its children, when a function says so of a change of a state. It is asked between
/// `OnExit` and `OnEnter`.
#[derive(Component)]
pub struct DisableWhen<S: States> {
    /// The function.
    pub state_transition_evaluator: Box<dyn Fn(&StateTransitionEvent<S>) -> bool + Send + Sync>,
}

impl<S: States> DisableWhen<S> {
    /// Disables the entity at each change for which this is true.
    pub fn new(disables: impl Fn(&StateTransitionEvent<S>) -> bool + Send + Sync + 'static) -> Self {
        Self { state_transition_evaluator: Box::new(disables) }
    }
}

/// Enables its entity, with all its children, when a function says so of a change of a state. It is asked between
/// `OnExit` and `OnEnter`.
#[derive(Component)]
pub struct EnableWhen<S: States> {
    /// The function.
    pub state_transition_evaluator: Box<dyn Fn(&StateTransitionEvent<S>) -> bool + Send + Sync>,
}

impl<S: States> EnableWhen<S> {
    /// Enables the entity at each change for which this is true.
    pub fn new(enables: impl Fn(&StateTransitionEvent<S>) -> bool + Send + Sync + 'static) -> Self {
        Self { state_transition_evaluator: Box::new(enables) }
    }
}

/// A component that something follows from when a state changes.
trait Scope<S: States>: Component {
    /// Whether its entity is concerned.
    fn applies(&self, change: &StateTransitionEvent<S>) -> bool;
    /// What is done to the entity, which may be dead by now.
    const ACT: fn(&mut World, Entity);
}

macro_rules! scopes {
    ($($name:ident($which:ident) $act:ident;)*) => {$(
        impl<S: States> Scope<S> for $name<S> {
            fn applies(&self, change: &StateTransitionEvent<S>) -> bool {
                change.$which.as_ref() == Some(&self.0)
            }
            const ACT: fn(&mut World, Entity) = $act;
        }
    )*};
}
scopes! {
    DespawnOnExit(exited) despawn;
    DespawnOnEnter(entered) despawn;
    DisableOnExit(exited) disable;
    DisableOnEnter(entered) disable;
    EnableOnExit(exited) enable;
    EnableOnEnter(entered) enable;
}

macro_rules! asked_scopes {
    ($($name:ident $act:ident;)*) => {$(
        impl<S: States> Scope<S> for $name<S> {
            fn applies(&self, change: &StateTransitionEvent<S>) -> bool {
                (self.state_transition_evaluator)(change)
            }
            const ACT: fn(&mut World, Entity) = $act;
        }
    )*};
}
asked_scopes! {
    DespawnWhen despawn;
    DisableWhen disable;
    EnableWhen enable;
}

fn despawn(world: &mut World, entity: Entity) {
    // It may have gone with another one.
    world.despawn(entity);
}

fn disable(world: &mut World, entity: Entity) {
    if let Ok(mut entity) = world.get_entity_mut(entity) {
        entity.insert_recursive::<Children>(Disabled);
    }
}

fn enable(world: &mut World, entity: Entity) {
    if let Ok(mut entity) = world.get_entity_mut(entity) {
        entity.remove_recursive::<Children, Disabled>();
    }
}

pub(super) fn add_systems<S: States>(schedule: &mut Schedule) {
    schedule.add_systems((
        follow::<S, DespawnOnExit<S>, DisableOnExit<S>, EnableOnExit<S>>
            .in_set(StateTransitionSystems::ExitSchedules)
            .after(ExitSchedules::<S>::default()),
        follow::<S, DespawnWhen<S>, DisableWhen<S>, EnableWhen<S>>
            .in_set(StateTransitionSystems::TransitionSchedules)
            .after(TransitionSchedules::<S>::default()),
        follow::<S, DespawnOnEnter<S>, DisableOnEnter<S>, EnableOnEnter<S>>
            .in_set(StateTransitionSystems::EnterSchedules)
            .before(EnterSchedules::<S>::default()),
    ));
}

type Hidden = (Allow<Disabled>, Allow<DisabledTree>, Allow<DisabledByTree>);
type Scoped<C> = QueryState<(Entity, &'static C), Hidden>;

/// Does what follows from the last change of a state: what is despawned goes first, what is enabled comes last.
fn follow<S: States, Gone: Scope<S>, Asleep: Scope<S>, Awake: Scope<S>>(
    world: &mut World,
    gone: &mut Scoped<Gone>,
    asleep: &mut Scoped<Asleep>,
    awake: &mut Scoped<Awake>,
    mut seen: Local<'_, Cursor<StateTransitionEvent<S>>>,
) {
    let Some(change) = last_felt(world, &mut seen) else { return };
    act(world, gone, &change);
    act(world, asleep, &change);
    act(world, awake, &change);
}

fn act<S: States, C: Scope<S>>(world: &mut World, scoped: &mut Scoped<C>, change: &StateTransitionEvent<S>) {
    let found = scoped.iter(world).filter(|(_, scope)| scope.applies(change)).map(|(entity, _)| entity);
    let found: Vec<Entity> = found.collect();
    found.into_iter().for_each(|entity| C::ACT(world, entity));
}
