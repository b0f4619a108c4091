//! Parameters for generic code: one that stands for a type alone, and one that is known by its trait only.
//!
//! `PhantomData` uses nothing and is always there. [`StaticSystemParam`] leaves everything to the parameter inside; it is
//! there because the compiler cannot see that the item of an unknown parameter is a parameter again.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::super::failed::ParamError;
use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use super::optional::like_inner;
use crate::world::{SharedWorld, World};

/// Uses nothing: so that a struct of parameters can have a type parameter that no other field has.
impl<T: ?Sized> SystemParam for PhantomData<T> {
    type State = ();
    type Guard<'w> = ();
    type Item<'g> = Self;

    fn init(_: &mut World, _: &mut SystemMeta) {}
    fn lock<'w>((): &'w (), _: &'w SharedWorld<'w>, _: Run<'w>) {}
    fn item((): &mut ()) -> Self {
        Self
    }
}

/// A parameter of a generic system, of which only the trait is known.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::system::StaticSystemParam;
///
/// #[derive(Resource)]
/// struct Score(u32);
///
/// trait Named: SystemParam + 'static {
///     const NAME: &'static str;
/// }
/// impl Named for Res<'static, Score> {
///     const NAME: &'static str = "score";
/// }
///
/// fn name<P: Named>(_: StaticSystemParam<P>) -> &'static str {
///     P::NAME
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Score(3));
/// assert_eq!(world.run_system_once(name::<Res<Score>>).unwrap(), "score");
/// ```
pub struct StaticSystemParam<'w, 's, P: SystemParam + 'static> {
    item: P::Item<'w>,
    /// Bevy's second lifetime, that of the system's state; here it is the first one.
    of: PhantomData<&'s ()>,
}

impl<'w, P: SystemParam + 'static> StaticSystemParam<'w, '_, P> {
    /// What the parameter gives.
    pub fn into_inner(self) -> P::Item<'w> {
        self.item
    }
}

impl<'w, P: SystemParam + 'static> Deref for StaticSystemParam<'w, '_, P> {
    type Target = P::Item<'w>;

    fn deref(&self) -> &P::Item<'w> {
        &self.item
    }
}

impl<'w, P: SystemParam + 'static> DerefMut for StaticSystemParam<'w, '_, P> {
    fn deref_mut(&mut self) -> &mut P::Item<'w> {
        &mut self.item
    }
}

impl<P: SystemParam + 'static> SystemParam for StaticSystemParam<'_, '_, P> {
    like_inner!();
    type Item<'g> = StaticSystemParam<'g, 'g, P>;

    fn check(guard: &mut P::Guard<'_>) -> Result<(), ParamError> {
        P::check(guard)
    }
    fn is_available(guard: &mut P::Guard<'_>) -> bool {
        P::is_available(guard)
    }
    fn item<'g>(guard: &'g mut P::Guard<'_>) -> StaticSystemParam<'g, 'g, P> {
        StaticSystemParam { item: P::item(guard), of: PhantomData }
    }
}
