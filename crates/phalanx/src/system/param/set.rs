//! `ParamSet`: parameters that conflict with each other, used one at a time.
//!
//! The set takes no flag when the system starts. [`ParamSet::p0`] and its siblings take the flags of one
//! parameter and give back those of the one before; what they return borrows the set, so only one lives. That each
//! can be had is found out when the system starts.

use std::marker::PhantomData;

use super::super::failed::ParamError;
use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use crate::world::{SharedWorld, World};

/// Parameters that may conflict with each other, of which one is in use at a time.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(i32);
///
/// fn drain(mut set: ParamSet<(Query<&Health>, Query<&mut Health>)>) {
///     let worst = set.p0().iter().map(|health| health.0).min().unwrap_or(0);
///     for mut health in &mut set.p1() {
///         health.0 -= worst;
///     }
/// }
///
/// let mut world = World::new();
/// let e = world.spawn(Health(7)).id();
/// world.run_system_once(drain).unwrap();
/// assert_eq!(world.get::<Health>(e).unwrap().0, 0);
/// ```
pub struct ParamSet<'w, 's, T: ParamTuple> {
    state: &'w T::State,
    world: &'w SharedWorld<'w>,
    run: Run<'w>,
    held: T::Held<'w>,
    /// Bevy's second lifetime, that of the system's state; here it is the first one.
    of: PhantomData<&'s ()>,
}

/// A tuple of parameters that a [`ParamSet`] can hold.
pub trait ParamTuple {
    /// The states of all.
    type State: Send + 'static;
    /// The guard of the one in use.
    type Held<'g>: Default;
}

/// A set without flags.
pub struct SetGuard<'w, S> {
    state: &'w S,
    world: &'w SharedWorld<'w>,
    run: Run<'w>,
}

macro_rules! param_set {
    ($(($name:ident $at:tt $method:ident))*) => {
        impl<$($name: SystemParam),*> ParamTuple for ($($name,)*) {
            type State = ($($name::State,)*);
            type Held<'g> = ($(Option<$name::Guard<'g>>,)*);
        }

        impl<$($name: SystemParam),*> ParamSet<'_, '_, ($($name,)*)> {
            $(
                /// Takes this parameter into use, and ends the use of the others.
                pub fn $method(&mut self) -> $name::Item<'_> {
                    self.held = Default::default();
                    let guard = $name::lock(&self.state.$at, self.world, self.run);
                    $name::item(self.held.$at.insert(guard))
                }
            )*
        }

        impl<$($name: SystemParam),*> SystemParam for ParamSet<'_, '_, ($($name,)*)> {
            type State = ($($name::State,)*);
            type Guard<'w> = SetGuard<'w, Self::State>;
            type Item<'g> = ParamSet<'g, 'g, ($($name,)*)>;

            fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State {
                let mut each = Vec::new();
                let state = ($({
                    let mut own = meta.fork();
                    let state = $name::init(world, &mut own);
                    each.push(own);
                    state
                },)*);
                meta.declare_set(world, short_type::<Self>(), each);
                state
            }
            fn update(state: &mut Self::State, world: &World) {
                $($name::update(&mut state.$at, world);)*
            }
            fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
                SetGuard { state, world, run }
            }
            fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
                $($name::check(&mut $name::lock(&guard.state.$at, guard.world, guard.run))?;)*
                Ok(())
            }
            fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g> {
                ParamSet {
                    state: guard.state,
                    world: guard.world,
                    run: guard.run,
                    held: Default::default(),
                    of: PhantomData,
                }
            }
            fn apply(state: &mut Self::State, world: &mut World) {
                $($name::apply(&mut state.$at, world);)*
            }
            fn discard(state: &mut Self::State) {
                $($name::discard(&mut state.$at);)*
            }
            fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
                $($name::visit_state(&mut state.$at, visitor);)*
            }
        }
    };
}
param_set!((A 0 p0));
param_set!((A 0 p0) (B 1 p1));
param_set!((A 0 p0) (B 1 p1) (C 2 p2));
param_set!((A 0 p0) (B 1 p1) (C 2 p2) (D 3 p3));
param_set!((A 0 p0) (B 1 p1) (C 2 p2) (D 3 p3) (E 4 p4));
param_set!((A 0 p0) (B 1 p1) (C 2 p2) (D 3 p3) (E 4 p4) (F 5 p5));
param_set!((A 0 p0) (B 1 p1) (C 2 p2) (D 3 p3) (E 4 p4) (F 5 p5) (G 6 p6));
param_set!((A 0 p0) (B 1 p1) (C 2 p2) (D 3 p3) (E 4 p4) (F 5 p5) (G 6 p6) (H 7 p7));
