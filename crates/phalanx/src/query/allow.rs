//! Filters that let a query visit entities which are disabled.
//!
//! A query visits no entity with a disabling component, unless it names the component. [`Allow`] names it and asks for
//! nothing else, so that both kinds of entities are visited (ADR 0057).

use std::marker::PhantomData;

use phalanx_store::{Fetch, Tick};

use super::condition::Condition;
use super::data::short_name;
use super::filter::{ArchetypeFilter, QueryFilter};
use super::scope::FilterIn;
use crate::component::AnyComponent;
use crate::storage::TableStorage;

/// Entities with and without `T`: a query that names it visits entities which `T` disables.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// world.spawn(Disabled);
/// assert_eq!(world.view::<Entity>().count(), 0);
/// assert_eq!(world.view_filtered::<Entity, Allow<Disabled>>().count(), 1);
/// ```
pub struct Allow<T>(PhantomData<fn() -> T>);

/// All entities, whatever disables them.
pub(crate) struct Everyone;

macro_rules! passes_always {
    ([$($generic:tt)*] $name:ty, $condition:expr) => {
        impl<$($generic)*> QueryFilter for $name {
            type Fetch = ();
            type OrFetch = ();
            const ARCHETYPAL: bool = true;
            const ANY_TABLE: bool = true;

            fn ids() {}
            fn or_ids() -> <Self::OrFetch as Fetch>::Ids {}
            fn condition() -> Condition {
                $condition
            }
            #[inline(always)]
            fn keep((): (), _: Tick) -> bool {
                true
            }
            #[inline(always)]
            fn keep_or((): (), _: Tick) -> bool {
                true
            }
        }
        impl<$($generic)*> ArchetypeFilter for $name {}
    };
}
passes_always!([T: AnyComponent<Storage = TableStorage>] Allow<T>, Condition::Allow(T::key(), short_name::<T>()));
passes_always!([] Everyone, Condition::AllowAll);

impl<P, T: AnyComponent<Storage = TableStorage>> FilterIn<P> for Allow<T> {}
