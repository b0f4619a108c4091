//! `Single` and `Populated`: queries without whose matches the system is quietly not run.
//!
//! Both are a query underneath: the same state, the same flags. Whether it has matches is found before the function
//! is called.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::super::failed::ParamError;
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::query::{Query, QueryData, QueryFilter};
use crate::world::{SharedWorld, World};

type Inner<D, F> = Query<'static, 'static, D, F>;

/// The only match of a query. The system is not run unless there is exactly one; `Option<Single<..>>` runs always.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Player;
/// #[derive(Component)]
/// struct Health(u32);
///
/// fn heal(mut health: Single<&mut Health, With<Player>>) {
///     health.0 += 1;
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, heal);
/// app.step(0.0);
/// let player = app.world_mut().spawn((Player, Health(1))).id();
/// app.step(0.0);
/// assert_eq!(app.world().get::<Health>(player).unwrap().0, 2);
/// ```
pub struct Single<'w, 's, D: QueryData, F: QueryFilter = ()> {
    item: D::Item<'w>,
    of: PhantomData<(&'s (), fn() -> F)>,
}

impl<'w, D: QueryData, F: QueryFilter> Single<'w, '_, D, F> {
    /// The match itself.
    pub fn into_inner(self) -> D::Item<'w> {
        self.item
    }
}

impl<'w, D: QueryData, F: QueryFilter> Deref for Single<'w, '_, D, F> {
    type Target = D::Item<'w>;

    fn deref(&self) -> &D::Item<'w> {
        &self.item
    }
}

impl<D: QueryData, F: QueryFilter> DerefMut for Single<'_, '_, D, F> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.item
    }
}

impl<'w, D: QueryData<Item<'w>: fmt::Debug>, F: QueryFilter> fmt::Debug for Single<'w, '_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.item.fmt(f)
    }
}

/// A query that has matches. The system is not run while there is none.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Enemy;
///
/// fn fight(enemies: Populated<&Enemy>) {
///     assert!(enemies.iter().count() > 0);
/// }
/// # let mut app = App::new();
/// # app.add_systems(Update, fight);
/// # app.step(0.0);
/// # app.world_mut().spawn(Enemy);
/// # app.step(0.0);
/// ```
pub struct Populated<'w, 's, D: QueryData, F: QueryFilter = ()>(Query<'w, 's, D, F>);

impl<'w, 's, D: QueryData, F: QueryFilter> Populated<'w, 's, D, F> {
    /// The query itself.
    pub fn into_inner(self) -> Query<'w, 's, D, F> {
        self.0
    }
}

impl<'w, 's, D: QueryData, F: QueryFilter> Deref for Populated<'w, 's, D, F> {
    type Target = Query<'w, 's, D, F>;

    fn deref(&self) -> &Query<'w, 's, D, F> {
        &self.0
    }
}

impl<D: QueryData, F: QueryFilter> DerefMut for Populated<'_, '_, D, F> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// What both leave to the query.
macro_rules! like_query {
    () => {
        type State = <Inner<D, F> as SystemParam>::State;
        type Guard<'w> = <Inner<D, F> as SystemParam>::Guard<'w>;

        fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State {
            <Inner<D, F> as SystemParam>::init(world, meta)
        }
        fn update(state: &mut Self::State, world: &World) {
            <Inner<D, F> as SystemParam>::update(state, world);
        }
        #[inline]
        fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
            <Inner<D, F> as SystemParam>::lock(state, world, run)
        }
    };
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> SystemParam for Single<'_, '_, D, F> {
    like_query!();
    type Item<'g> = Single<'g, 'g, D, F>;

    fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
        match <Inner<D, F> as SystemParam>::item(guard).single_inner() {
            Ok(_) => Ok(()),
            Err(_) => Err(ParamError::skip(type_name::<Self>(), "a query with exactly one match")),
        }
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Single<'g, 'g, D, F> {
        let item = <Inner<D, F> as SystemParam>::item(guard).single_inner();
        Single { item: item.expect("a system without its single match is not run"), of: PhantomData }
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> SystemParam for Populated<'_, '_, D, F> {
    like_query!();
    type Item<'g> = Populated<'g, 'g, D, F>;

    fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
        match <Inner<D, F> as SystemParam>::item(guard).is_empty() {
            false => Ok(()),
            true => Err(ParamError::skip(type_name::<Self>(), "a query with at least one match")),
        }
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Populated<'g, 'g, D, F> {
        Populated(<Inner<D, F> as SystemParam>::item(guard))
    }
}
