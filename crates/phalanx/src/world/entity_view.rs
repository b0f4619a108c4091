//! Entities as queries lend them: to be read, or without some components.
//!
//! A [`FilteredEntityRef`] reads whatever the query that lends it may read. [`EntityRefExcept`] and
//! [`EntityMutExcept`] leave the components of a bundle to other queries of the same system.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use phalanx_store::{AnyColId, Entity, EntityPeek, Fetch, Read, WholeRow, WholeRowMut};

use super::entity_mut::lacks;
use super::{EntityLocation, EntityMut};
use crate::archetype::{ArchetypeId, Archetypes};
use crate::bundle::Bundle;
use crate::component::{AnyComponent, Component, Queryable, RowTracked};
use crate::query::{Condition, Moment, QueryData, QueryEntityError, ReadOnlyQueryData, Term, short_name};
use crate::registry::{ComponentId, Components};
use crate::tracking::{ComponentTicks, Ref, Tick};

/// An entity whose components can be read, as far as its query may read them.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// fn total(all: Query<EntityMut>) -> u32 {
///     all.iter().filter_map(|entity| entity.get::<Health>()).map(|health| health.0).sum()
/// }
/// # let mut world = World::new();
/// # world.spawn(Health(2));
/// # assert_eq!(world.run_system_once(total).unwrap(), 2);
/// ```
#[derive(Clone, Copy)]
pub struct FilteredEntityRef<'w> {
    peek: EntityPeek<'w>,
    components: &'w Components,
    archetypes: &'w Archetypes,
    since: Tick,
}

impl<'w> FilteredEntityRef<'w> {
    pub(crate) fn of_query(peek: EntityPeek<'w>, since: Moment<'w>) -> Self {
        let (archetypes, components) = since.around();
        Self { peek, components, archetypes, since: since.tick }
    }

    /// The entity's id.
    #[inline]
    pub fn id(&self) -> Entity {
        self.peek.entity()
    }

    /// The entity's archetype.
    pub fn archetype(&self) -> ArchetypeId {
        self.archetypes.of_table(self.peek.table())
    }

    /// When the entity was spawned. `None` as long as the world does not keep these ticks: it does from its next tick on,
    /// after this or a query with [`Spawned`](crate::query::Spawned) was asked.
    pub fn spawn_tick(&self) -> Option<Tick> {
        self.peek.spawn_tick()
    }

    /// Where the entity is.
    pub fn location(&self) -> EntityLocation {
        EntityLocation::of(self.archetypes, self.peek.location())
    }

    /// Whether the entity has a component, also one that cannot be read here.
    pub fn contains<C: AnyComponent>(&self) -> bool {
        self.peek.has_column(C::key())
    }

    /// Whether the entity has the component with this id.
    pub fn contains_id(&self, id: ComponentId) -> bool {
        self.components.get_info(id).is_some_and(|info| self.peek.has_column(info.columns()[0]))
    }

    /// Whether the entity has the component of this type.
    pub fn contains_type_id(&self, type_id: TypeId) -> bool {
        self.components.get_id(type_id).is_some_and(|id| self.contains_id(id))
    }

    /// Reads a component, or one field of one; `None` also when it cannot be read here.
    #[inline]
    pub fn get<T: Queryable>(&self) -> Option<T::Ref<'w>> {
        self.peek.get::<T::Read>(T::ids()).map(T::wrap_ref)
    }

    /// Reads a component with row ticks, with when it came and was written.
    pub fn get_ref<T: Component + RowTracked>(&self) -> Option<Ref<'w, T>> {
        self.get_components::<Ref<'_, T>>().ok()
    }

    /// Reads the component with this id.
    ///
    /// `None` when the entity lacks it or it cannot be read here, and for a component that is kept by fields.
    pub fn get_by_id(&self, id: ComponentId) -> Option<&'w dyn Any> {
        self.peek.erased(self.components.get_info(id)?.any_access()?)
    }

    /// Reads what a query would yield for the entity.
    ///
    /// # Errors
    /// When the entity lacks a part, or one cannot be read here, such as one of another entity.
    pub fn get_components<D: ReadOnlyQueryData>(&self) -> Result<D::Item<'w>, QueryEntityError> {
        let moment = Moment::from(self.since).among(self.archetypes, self.components);
        match self.peek.get::<D::Fetch>(D::ids()) {
            Some(row) => Ok(D::item(row, moment)),
            None => Err(lacks::<D>(self.id())),
        }
    }

    /// When a component with row ticks came and was last written.
    pub fn get_change_ticks<T: RowTracked>(&self) -> Option<ComponentTicks> {
        self.get_change_ticks_by_id(self.components.component_id::<T>()?)
    }

    /// When the component with this id came and was last written; `None` also when it keeps no ticks per row.
    pub fn get_change_ticks_by_id(&self, id: ComponentId) -> Option<ComponentTicks> {
        let info = self.components.get_info(id)?;
        super::by_id::row_ticks(info, |column, in_set| match in_set {
            false => self.peek.get::<Read<Tick>>(column).copied(),
            true => self.peek.get::<phalanx_store::InSet<Read<Tick>>>(column).copied(),
        })
    }
}

impl fmt::Debug for FilteredEntityRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.components.iter().filter(|info| self.peek.has_column(info.columns()[0]));
        write!(f, "{} ", self.id())?;
        f.debug_set().entries(held.map(crate::registry::ComponentInfo::name)).finish()
    }
}

/// An entity whose components can be read and written, as far as its query may write them: in bevy what was asked of
/// its builder, here all of them.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// let mut world = World::new();
/// let e = world.spawn(Health(3)).id();
/// fn heal(mut all: Query<FilteredEntityMut>) {
///     for mut entity in &mut all {
///         entity.get_mut::<Health>().unwrap().0 += 1;
///     }
/// }
/// world.run_system_once(heal).unwrap();
/// assert_eq!(world.get::<Health>(e).unwrap().0, 4);
/// ```
pub type FilteredEntityMut<'w> = EntityMut<'w>;

/// An entity whose components can be read, but for those of a bundle.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
/// #[derive(Component)]
/// struct Armour(u32);
///
/// fn harden(mut all: Query<(&mut Health, EntityRefExcept<Health>)>) {
///     for (mut health, entity) in &mut all {
///         health.0 += entity.get::<Armour>().map_or(0, |armour| armour.0);
///     }
/// }
/// # let mut world = World::new();
/// # let knight = world.spawn((Health(2), Armour(3))).id();
/// # world.run_system_once(harden).unwrap();
/// # assert_eq!(world.get::<Health>(knight).unwrap().0, 5);
/// ```
pub struct EntityRefExcept<'w, B: Bundle> {
    entity: FilteredEntityRef<'w>,
    except: PhantomData<fn() -> B>,
}

impl<'w, B: Bundle> Deref for EntityRefExcept<'w, B> {
    type Target = FilteredEntityRef<'w>;

    fn deref(&self) -> &Self::Target {
        &self.entity
    }
}

/// An entity whose components can be read and written, but for those of a bundle.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
/// #[derive(Component)]
/// struct Armour(u32);
///
/// fn wear(healths: Query<&Health>, mut all: Query<EntityMutExcept<Health>>) {
///     for mut entity in &mut all {
///         let health = healths.get(entity.id()).map_or(0, |health| health.0);
///         if let Some(mut armour) = entity.get_mut::<Armour>() {
///             armour.0 += health;
///         }
///     }
/// }
/// # let mut world = World::new();
/// # let knight = world.spawn((Health(2), Armour(3))).id();
/// # world.run_system_once(wear).unwrap();
/// # assert_eq!(world.get::<Armour>(knight).unwrap().0, 5);
/// ```
pub struct EntityMutExcept<'w, B: Bundle> {
    entity: EntityMut<'w>,
    except: PhantomData<fn() -> B>,
}

impl<'w, B: Bundle> Deref for EntityMutExcept<'w, B> {
    type Target = EntityMut<'w>;

    fn deref(&self) -> &Self::Target {
        &self.entity
    }
}

impl<B: Bundle> DerefMut for EntityMutExcept<'_, B> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.entity
    }
}

impl<B: Bundle> fmt::Debug for EntityRefExcept<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entity.fmt(f)
    }
}

impl<B: Bundle> fmt::Debug for EntityMutExcept<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entity.fmt(f)
    }
}

/// All columns of the components of a bundle, worked out once per type.
fn columns_of<B: Bundle>() -> &'static [AnyColId] {
    static KNOWN: Mutex<Option<HashMap<TypeId, &'static [AnyColId]>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().entry(TypeId::of::<B>()).or_insert_with(|| {
        let (mut components, mut ids) = (Components::default(), Vec::new());
        if let Err(error) = B::register(&mut components, &mut ids) {
            panic!("{error}");
        }
        let columns = ids.into_iter().flat_map(|id| components.info(id).columns().to_vec());
        // Types, and with them their columns, live as long as the process.
        Box::leak(columns.collect::<Box<[_]>>())
    })
}

macro_rules! whole_data {
    ($([$($generics:tt)*] $data:ty, $fetch:ty, read only: $read:ty, yields: $item:ty, $except:expr, $text:expr, $make:expr;)*) => {$(
        impl<'e, $($generics)*> QueryData for $data {
            type Fetch = $fetch;
            type ReadOnly = $read;
            type Item<'w> = $item;
            type Chunk<'w> = &'w [Entity];

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                $except
            }
            fn condition() -> Condition {
                Condition::always()
            }
            fn terms(out: &mut Vec<Term>) {
                out.push(Term { text: $text, columns: 1, whole: false });
            }
            #[inline]
            fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
                $make(row, since)
            }
            #[inline]
            fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
                rows
            }
        }
    )*};
}

whole_data! {
    [] EntityMut<'e>, WholeRowMut, read only: FilteredEntityRef<'e>, yields: EntityMut<'w>,
        &[], "EntityMut".to_owned(), EntityMut::of_query;
    [] FilteredEntityRef<'e>, WholeRow, read only: Self, yields: FilteredEntityRef<'w>,
        &[], "FilteredEntityRef".to_owned(), FilteredEntityRef::of_query;
    [B: Bundle] EntityRefExcept<'e, B>, WholeRow, read only: Self, yields: EntityRefExcept<'w, B>,
        columns_of::<B>(), format!("EntityRefExcept<{}>", short_name::<B>()),
        |row, since| EntityRefExcept { entity: FilteredEntityRef::of_query(row, since), except: PhantomData };
    [B: Bundle] EntityMutExcept<'e, B>, WholeRowMut, read only: EntityRefExcept<'e, B>, yields: EntityMutExcept<'w, B>,
        columns_of::<B>(), format!("EntityMutExcept<{}>", short_name::<B>()),
        |row, since| EntityMutExcept { entity: EntityMut::of_query(row, since), except: PhantomData };
}
impl ReadOnlyQueryData for FilteredEntityRef<'_> {}
impl<B: Bundle> ReadOnlyQueryData for EntityRefExcept<'_, B> {}
