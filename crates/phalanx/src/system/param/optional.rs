//! Parameters that need not be there: `Option<P>`, `Result<P, ParamError>`, [`If<P>`](If).
//!
//! With a plain parameter that cannot be had the system is not run, and fails. With `Option` it runs and gets `None`,
//! with `Result` it runs and gets the reason, with `If` it is not run, and that is no error.

use std::ops::{Deref, DerefMut};

use super::super::failed::ParamError;
use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{SharedWorld, World};

/// A parameter without which the system is quietly not run.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource)]
/// struct Paused(bool);
///
/// fn resume(If(mut paused): If<ResMut<Paused>>) {
///     paused.0 = false;
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, resume);
/// app.step(0.0);
/// app.insert_resource(Paused(true));
/// app.step(0.0);
/// assert!(!app.world().resource::<Paused>().0);
/// ```
#[derive(Debug)]
pub struct If<P>(pub P);

impl<P> If<P> {
    /// The parameter.
    pub fn into_inner(self) -> P {
        self.0
    }
}

impl<P> Deref for If<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P> DerefMut for If<P> {
    fn deref_mut(&mut self) -> &mut P {
        &mut self.0
    }
}

/// What parameters around another one leave to that.
macro_rules! like_inner {
    () => {
        type State = P::State;
        type Guard<'w> = P::Guard<'w>;

        fn init(world: &mut World, meta: &mut SystemMeta) -> P::State {
            P::init(world, meta)
        }
        fn update(state: &mut P::State, world: &World) {
            P::update(state, world);
        }
        #[inline]
        fn lock<'w>(state: &'w P::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> P::Guard<'w> {
            P::lock(state, world, run)
        }
        fn apply(state: &mut P::State, world: &mut World) {
            P::apply(state, world);
        }
        fn discard(state: &mut P::State) {
            P::discard(state);
        }
        fn visit_state(state: &mut P::State, visitor: &mut dyn StateVisitor) {
            P::visit_state(state, visitor);
        }
    };
}
pub(super) use like_inner;

impl<P: SystemParam> SystemParam for Option<P> {
    like_inner!();
    type Item<'g> = Option<P::Item<'g>>;

    #[inline]
    fn item<'g>(guard: &'g mut P::Guard<'_>) -> Option<P::Item<'g>> {
        if P::is_available(guard) { Some(P::item(guard)) } else { None }
    }
}

impl<P: SystemParam> SystemParam for Result<P, ParamError> {
    like_inner!();
    type Item<'g> = Result<P::Item<'g>, ParamError>;

    #[inline]
    fn item<'g>(guard: &'g mut P::Guard<'_>) -> Result<P::Item<'g>, ParamError> {
        P::check(guard)?;
        Ok(P::item(guard))
    }
}

impl<P: SystemParam> SystemParam for If<P> {
    like_inner!();
    type Item<'g> = If<P::Item<'g>>;

    #[inline]
    fn check(guard: &mut P::Guard<'_>) -> Result<(), ParamError> {
        P::check(guard).map_err(ParamError::into_skip)
    }
    #[inline]
    fn item<'g>(guard: &'g mut P::Guard<'_>) -> If<P::Item<'g>> {
        If(P::item(guard))
    }
}
