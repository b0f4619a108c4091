//! `Index` and `OrderedIndex`: entities by the value of a component, in systems.
//!
//! Each reads the component as a query does, so nothing writes it beside the system, and what systems before it wrote is
//! seen. The index itself belongs to the world: the first system that asks in a run brings it up to date under a lock, from the
//! ticks of blocks, and the others find nothing left to do (ADR 0056).

use std::any::type_name;
use std::fmt;
use std::hash::Hash;
use std::ops::RangeBounds;
use std::sync::{Arc, RwLockReadGuard};

use phalanx_store::{Entity, Tick};

use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use super::query::init_query;
use crate::component::Component;
use crate::query::{Everyone, Query, QueryData, QueryFilter};
use crate::registry::Components;
use crate::world::index::{Hashed, Ordered, Rows, SharedIndex, ValueIndex, read_current};
use crate::world::{SharedWorld, World};

/// The query by which an index reads its component.
type Inner<C> = Query<'static, 'static, (Entity, &'static C), Everyone>;

/// What a system keeps of an index.
pub struct IndexState<C: Component, B> {
    index: Arc<SharedIndex<C, B>>,
    rows: <Inner<C> as SystemParam>::State,
}

/// An index during a run.
pub struct IndexGuard<'w, C: Component, B> {
    index: &'w SharedIndex<C, B>,
    rows: <Inner<C> as SystemParam>::Guard<'w>,
    components: &'w Components,
    now: Tick,
}

/// The entities by the value of their `C`: those with a value are found without a scan.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Clone, PartialEq, Eq, Hash)]
/// struct Faction(u8);
/// #[derive(Component)]
/// struct Health(u32);
///
/// fn heal(factions: Index<Faction>, mut healths: Query<&mut Health>) {
///     for mut health in healths.iter_where_mut(&factions, &Faction(3)) {
///         health.0 += 1;
///     }
/// }
///
/// let mut world = World::new();
/// let [orc, elf] = [3, 4].map(|faction| world.spawn((Faction(faction), Health(5))).id());
/// world.run_system_once(heal).unwrap();
/// assert_eq!([orc, elf].map(|entity| world.get::<Health>(entity).unwrap().0), [6, 5]);
/// ```
///
/// It reads `C`, and sees what systems before it wrote. A system that also writes `C` puts both into a
/// [`ParamSet`](crate::system::ParamSet). Disabled entities are found as well; queries skip them as ever.
/// The index is the one of [`World::index_by`](crate::World::index_by): all systems share it, and each run costs what was
/// written of the component since it was last asked.
pub struct Index<'g, C: Component> {
    index: RwLockReadGuard<'g, ValueIndex<C, Hashed<C>>>,
    rows: Rows<'g, 'g, C>,
}

/// As [`Index`], in the order of values, so that it tells those in a range.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Clone, PartialEq, Eq, PartialOrd, Ord)]
/// struct Level(u32);
///
/// fn best(levels: OrderedIndex<Level>, names: Query<&Name>) -> Vec<String> {
///     names.iter_many(levels.range(Level(5)..)).matched().map(|name| name.to_string()).collect()
/// }
///
/// let mut world = World::new();
/// for (level, name) in [(7, "Ada"), (2, "Bo"), (5, "Cy")] {
///     world.spawn((Level(level), Name::new(name)));
/// }
/// assert_eq!(world.run_system_once(best).unwrap(), ["Cy", "Ada"]);
/// ```
pub struct OrderedIndex<'g, C: Component> {
    index: RwLockReadGuard<'g, ValueIndex<C, Ordered<C>>>,
    rows: Rows<'g, 'g, C>,
}

macro_rules! index_param {
    ($name:ident $buckets:ident $($bound:tt)*) => {
        impl<C: Component + Clone + $($bound)*> $name<'_, C> {
            /// The entities with a value, in ascending order.
            pub fn with<'a>(&'a self, value: &'a C) -> impl Iterator<Item = Entity> + 'a {
                self.index.with(&self.rows, value)
            }
        }

        impl<C: Component> fmt::Debug for $name<'_, C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&type_name::<C>()).finish()
            }
        }

        impl<C: Component + Clone + $($bound)*> SystemParam for $name<'_, C> {
            type State = IndexState<C, $buckets<C>>;
            type Guard<'w> = IndexGuard<'w, C, $buckets<C>>;
            type Item<'g> = $name<'g, C>;

            fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State {
                world.register_component::<C>();
                let rows = init_query::<(Entity, &'static C), Everyone>(world, meta, type_name::<Self>());
                IndexState { index: world.shared_index(), rows }
            }
            fn update(state: &mut Self::State, world: &World) {
                <Inner<C> as SystemParam>::update(&mut state.rows, world);
            }
            fn lock<'w>(
                state: &'w Self::State,
                world: &'w SharedWorld<'w>,
                run: Run<'w>,
            ) -> Self::Guard<'w> {
                IndexGuard {
                    index: &state.index,
                    rows: <Inner<C> as SystemParam>::lock(&state.rows, world, run),
                    components: world.components,
                    // What this run writes itself, in a `ParamSet`, has its own tick, and is new the next time.
                    now: Tick::new(run.now.get().saturating_sub(1)),
                }
            }
            fn item<'g>(guard: &'g mut Self::Guard<'_>) -> $name<'g, C> {
                let rows = <Inner<C> as SystemParam>::item(&mut guard.rows);
                let index = read_current(guard.index, &rows, guard.components, guard.now);
                $name { index, rows }
            }
        }
    };
}
index_param!(Index Hashed Eq + Hash);
index_param!(OrderedIndex Ordered Ord);

impl<C: Component + Clone + Ord> OrderedIndex<'_, C> {
    /// The entities with a value in a range, in the order of values. None when it ends before it begins.
    pub fn range<'a>(&'a self, range: impl RangeBounds<C> + 'a) -> impl Iterator<Item = Entity> + 'a {
        self.index.range(&self.rows, range)
    }
}

impl<D: QueryData, F: QueryFilter> Query<'_, '_, D, F> {
    /// Reads the matches whose `C` equals a value, in ascending order of their ids: as a filter would, but the index names
    /// those that are looked at.
    pub fn iter_where<'a, C: Component + Clone + Eq + Hash>(
        &'a self,
        index: &'a Index<'_, C>,
        value: &'a C,
    ) -> impl Iterator<Item = <D::ReadOnly as QueryData>::Item<'a>> {
        self.iter_many(index.with(value)).matched()
    }

    /// As [`Query::iter_where`], to be read and written. `D` cannot write `C` itself, which the index reads.
    pub fn iter_where_mut<'a, C: Component + Clone + Eq + Hash>(
        &'a mut self,
        index: &'a Index<'_, C>,
        value: &'a C,
    ) -> impl Iterator<Item = D::Item<'a>> {
        self.iter_many_unique_mut(index.with(value)).filter_map(Result::ok)
    }
}
