//! `Cascade`: the order of a relation, kept by a system.
//!
//! Links change with the structure of the world alone, which stands still while systems run. So the order is brought up to
//! date before a run, and takes no flag.

use std::ops::Deref;

use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::relation::Relationship;
use crate::world::{CascadeOrder, SharedWorld, World};

/// The entities in the order of the relation `R`, for [`Query::cascade`](crate::query::Query::cascade).
pub struct Cascade<'s, R>(&'s CascadeOrder<R>);

impl<R> Deref for Cascade<'_, R> {
    type Target = CascadeOrder<R>;

    fn deref(&self) -> &CascadeOrder<R> {
        self.0
    }
}

impl<R: Relationship> SystemParam for Cascade<'_, R> {
    type State = CascadeOrder<R>;
    type Guard<'w> = &'w CascadeOrder<R>;
    type Item<'g> = Cascade<'g, R>;

    fn init(world: &mut World, _: &mut SystemMeta) -> CascadeOrder<R> {
        world.register_component::<R>();
        CascadeOrder::new(world)
    }
    fn update(state: &mut CascadeOrder<R>, world: &World) {
        state.update(world);
    }
    fn lock<'w>(state: &'w CascadeOrder<R>, _: &'w SharedWorld<'w>, _: Run<'w>) -> &'w CascadeOrder<R> {
        state
    }
    fn item<'g>(guard: &'g mut &CascadeOrder<R>) -> Cascade<'g, R> {
        Cascade(guard)
    }
}
