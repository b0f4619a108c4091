//! `Vec<P>`: as many parameters of one kind as a builder says.
//!
//! Without a builder the list is empty: nothing in the type tells how long it should be. See
//! [`SystemParamBuilder`](crate::system::SystemParamBuilder).

use super::super::failed::ParamError;
use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{SharedWorld, World};

impl<P: SystemParam> SystemParam for Vec<P> {
    type State = Vec<P::State>;
    type Guard<'w> = Vec<P::Guard<'w>>;
    type Item<'g> = Vec<P::Item<'g>>;

    fn init(_: &mut World, _: &mut SystemMeta) -> Self::State {
        Vec::new()
    }
    fn update(state: &mut Self::State, world: &World) {
        state.iter_mut().for_each(|state| P::update(state, world));
    }
    fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
        state.iter().map(|state| P::lock(state, world, run)).collect()
    }
    fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
        guard.iter_mut().try_for_each(P::check)
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g> {
        guard.iter_mut().map(P::item).collect()
    }
    fn apply(state: &mut Self::State, world: &mut World) {
        state.iter_mut().for_each(|state| P::apply(state, world));
    }
    fn discard(state: &mut Self::State) {
        state.iter_mut().for_each(P::discard);
    }
    fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
        state.iter_mut().for_each(|state| P::visit_state(state, visitor));
    }
}
