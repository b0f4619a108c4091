//! Entities that live as long as a state has a value.
//!
//! They are despawned by their components: after all `OnExit` of the state, so that these still see them; before its
//! `OnEnter`, so that what is spawned there stays.

use phalanx_derive::Component;
use phalanx_store::Entity;

use super::transition::last_felt;
use super::{
    EnterSchedules, ExitSchedules, StateTransitionEvent, StateTransitionSystems, States, TransitionSchedules,
};
use crate::messages::Cursor;
use crate::query::QueryState;
use crate::schedule::{ConfigureSystems, Schedule};
use crate::system::Local;
use crate::world::World;

/// Despawns its entity when a state loses this value.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct DespawnOnExit<S: States>(pub S);

/// Despawns its entity when a state gets this value.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct DespawnOnEnter<S: States>(pub S);

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

pub(super) fn add_systems<S: States>(schedule: &mut Schedule) {
    schedule.add_systems((
        on_exit::<S>.in_set(StateTransitionSystems::ExitSchedules).after(ExitSchedules::<S>::default()),
        when::<S>
            .in_set(StateTransitionSystems::TransitionSchedules)
            .after(TransitionSchedules::<S>::default()),
        on_enter::<S>.in_set(StateTransitionSystems::EnterSchedules).before(EnterSchedules::<S>::default()),
    ));
}

type Seen<'s, S> = Local<'s, Cursor<StateTransitionEvent<S>>>;

fn on_exit<S: States>(
    world: &mut World,
    scoped: &mut QueryState<(Entity, &'static DespawnOnExit<S>)>,
    mut seen: Seen<'_, S>,
) {
    let Some(exited) = last_felt(world, &mut seen).and_then(|change| change.exited) else { return };
    let gone = scoped.iter(world).filter(|(_, scope)| scope.0 == exited).map(|(entity, _)| entity).collect();
    despawn_all(world, gone);
}

fn on_enter<S: States>(
    world: &mut World,
    scoped: &mut QueryState<(Entity, &'static DespawnOnEnter<S>)>,
    mut seen: Seen<'_, S>,
) {
    let Some(entered) = last_felt(world, &mut seen).and_then(|change| change.entered) else { return };
    let gone = scoped.iter(world).filter(|(_, scope)| scope.0 == entered).map(|(entity, _)| entity).collect();
    despawn_all(world, gone);
}

fn when<S: States>(
    world: &mut World,
    scoped: &mut QueryState<(Entity, &'static DespawnWhen<S>)>,
    mut seen: Seen<'_, S>,
) {
    let Some(change) = last_felt(world, &mut seen) else { return };
    let asked = scoped.iter(world).filter(|(_, when)| (when.state_transition_evaluator)(&change));
    let gone = asked.map(|(entity, _)| entity).collect();
    despawn_all(world, gone);
}

fn despawn_all(world: &mut World, gone: Vec<Entity>) {
    for entity in gone {
        // Some may have gone with others.
        world.despawn(entity);
    }
}
