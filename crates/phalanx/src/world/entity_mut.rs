//! One entity whose components can be read and written, but neither come nor go.
//!
//! An [`EntityMut`] is what several entities of a world are lent as at once: each has rows of its own, and the structure
//! of the world stands still meanwhile. It does not reach other entities, nor resources.

use std::any::{Any, TypeId};
use std::fmt;

use phalanx_store::{Entity, EntityCell, Read};

use super::{EntityFetchError, EntityLocation, FilteredEntityMut, FilteredEntityRef, World};
use crate::archetype::{ArchetypeId, Archetypes};
use crate::component::{AnyComponent, Component, Queryable, RowTracked};
use crate::query::{Moment, QueryData, QueryEntityError, ReadOnlyQueryData};
use crate::registry::{ComponentId, Components};
use crate::tracking::{ComponentTicks, Ref, Tick};

/// An entity whose components can be read and written.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Debug, PartialEq)]
/// struct Gold(u32);
///
/// let mut world = World::new();
/// let (a, b) = (world.spawn(Gold(5)).id(), world.spawn(Gold(1)).id());
/// let [mut from, mut to] = world.entity_mut([a, b]);
/// std::mem::swap(&mut *from.get_mut::<Gold>().unwrap(), &mut *to.get_mut::<Gold>().unwrap());
/// assert_eq!(world.get::<Gold>(b), Some(&Gold(5)));
/// ```
pub struct EntityMut<'w> {
    cell: EntityCell<'w>,
    components: &'w Components,
    archetypes: &'w Archetypes,
    since: Tick,
}

impl World {
    /// The entity, to be read and written but not changed in structure; `None` when it is dead.
    pub(crate) fn lend_entity(&mut self, entity: Entity) -> Option<EntityMut<'_>> {
        let Self { store, components, archetypes, last_tick, .. } = self;
        Some(EntityMut { cell: store.entity_cell(entity)?, components, archetypes, since: *last_tick })
    }

    /// As [`World::lend_entity`], for several different ones.
    pub(crate) fn lend_entities(
        &mut self,
        entities: &[Entity],
    ) -> Result<Vec<EntityMut<'_>>, EntityFetchError> {
        let Self { store, components, archetypes, last_tick, .. } = self;
        let cells = store.entity_cells(entities).map_err(|error| match error {
            phalanx_store::CellError::Dead(entity) => EntityFetchError::dead(entity),
            phalanx_store::CellError::Repeated(entity) => EntityFetchError { entity, repeated: true },
        })?;
        Ok(cells
            .into_iter()
            .map(|cell| EntityMut { cell, components, archetypes, since: *last_tick })
            .collect())
    }
}

impl<'w> EntityMut<'w> {
    /// The same access for a shorter time.
    pub fn reborrow(&mut self) -> EntityMut<'_> {
        EntityMut {
            cell: self.cell.reborrow(),
            components: self.components,
            archetypes: self.archetypes,
            since: self.since,
        }
    }

    /// An entity that a query lends.
    pub(super) fn of_query(cell: EntityCell<'w>, since: Moment<'w>) -> Self {
        let (archetypes, components) = since.around();
        Self { cell, components, archetypes, since: since.tick }
    }

    /// The moment of what is read and written.
    fn moment(&self) -> Moment<'w> {
        Moment::from(self.since).among(self.archetypes, self.components)
    }

    /// The same entity: what it lends is not narrowed any further.
    #[must_use]
    pub fn into_filtered(self) -> FilteredEntityMut<'w> {
        self
    }

    /// When the entity was spawned. `None` as long as the world does not keep these ticks: it does from its next tick on,
    /// after this or a query with [`Spawned`](crate::query::Spawned) was asked.
    pub fn spawn_tick(&self) -> Option<Tick> {
        self.as_readonly().spawn_tick()
    }

    /// Where the entity is.
    pub fn location(&self) -> EntityLocation {
        self.as_readonly().location()
    }

    /// The entity, to be read only.
    pub fn as_readonly(&self) -> FilteredEntityRef<'_> {
        FilteredEntityRef::of_query(self.cell.peek(), self.moment())
    }

    /// As [`EntityMut::as_readonly`], for as long as the entity is lent.
    pub fn into_readonly(self) -> FilteredEntityRef<'w> {
        let moment = self.moment();
        FilteredEntityRef::of_query(self.cell.into_peek(), moment)
    }

    /// The entity's id.
    #[inline]
    pub fn id(&self) -> Entity {
        self.cell.entity()
    }

    /// The entity's archetype.
    pub fn archetype(&self) -> ArchetypeId {
        self.archetypes.of_table(self.cell.table())
    }

    /// Whether the entity has a component.
    pub fn contains<C: AnyComponent>(&self) -> bool {
        self.cell.has_column(C::key())
    }

    /// Whether the entity has the component with this id.
    pub fn contains_id(&self, id: ComponentId) -> bool {
        self.components.get_info(id).is_some_and(|info| self.cell.has_column(info.columns()[0]))
    }

    /// Whether the entity has the component of this type.
    pub fn contains_type_id(&self, type_id: TypeId) -> bool {
        self.components.get_id(type_id).is_some_and(|id| self.contains_id(id))
    }

    /// Reads a component, or one field of one.
    #[inline]
    pub fn get<T: Queryable>(&self) -> Option<T::Ref<'_>> {
        self.cell.get::<T::Read>(T::ids()).map(T::wrap_ref)
    }

    /// As [`EntityMut::get`], for as long as the entity is lent.
    pub fn into_borrow<T: Queryable>(self) -> Option<T::Ref<'w>> {
        self.cell.into_get::<T::Read>(T::ids()).map(T::wrap_ref)
    }

    /// Reads a component with row ticks, with when it came and was written.
    pub fn get_ref<T: Component + RowTracked>(&self) -> Option<Ref<'_, T>> {
        self.get_components::<Ref<'_, T>>().ok()
    }

    /// As [`EntityMut::get_ref`], for as long as the entity is lent.
    pub fn into_ref<T: Component + RowTracked>(self) -> Option<Ref<'w, T>> {
        let since = self.moment();
        let row = self.cell.into_get::<<Ref<'w, T> as QueryData>::Fetch>(<Ref<'w, T> as QueryData>::ids())?;
        Some(<Ref<'w, T> as QueryData>::item(row, since))
    }

    /// Writes a component, or one field of one.
    #[inline]
    pub fn get_mut<T: Queryable>(&mut self) -> Option<T::Mut<'_>> {
        self.reborrow().into_mut::<T>()
    }

    /// As [`EntityMut::get_mut`], for as long as the entity is lent.
    pub fn into_mut<T: Queryable>(self) -> Option<T::Mut<'w>> {
        let since = self.since;
        self.cell.into_get_mut::<T::Write>(T::ids()).map(|row| T::wrap_mut(row, since))
    }

    /// Reads what a query would yield for the entity.
    ///
    /// # Panics
    /// When the entity lacks a part; see [`EntityMut::get_components`].
    #[track_caller]
    pub fn components<D: ReadOnlyQueryData>(&self) -> D::Item<'_> {
        self.get_components::<D>().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads what a query would yield for the entity.
    ///
    /// # Errors
    /// When the entity lacks a part, or one is another entity's, as that of [`Parent`](crate::relation::Parent) is: a
    /// holder of that entity may write it meanwhile.
    pub fn get_components<D: ReadOnlyQueryData>(&self) -> Result<D::Item<'_>, QueryEntityError> {
        match self.cell.get::<D::Fetch>(D::ids()) {
            Some(row) => Ok(D::item(row, self.moment())),
            None => Err(lacks::<D>(self.id())),
        }
    }

    /// Reads and writes what a query would yield for the entity.
    ///
    /// # Errors
    /// When the entity lacks a part, or two parts use the same data and one of them writes.
    pub fn get_components_mut<D: QueryData>(&mut self) -> Result<D::Item<'_>, QueryEntityError> {
        self.reborrow().into_components_mut::<D>()
    }

    /// As [`EntityMut::get_components_mut`], for as long as the entity is lent.
    ///
    /// # Errors
    /// When the entity lacks a part, or two parts use the same data and one of them writes.
    pub fn into_components_mut<D: QueryData>(self) -> Result<D::Item<'w>, QueryEntityError> {
        let (entity, since) = (self.id(), self.moment());
        match self.cell.into_get_mut::<D::Fetch>(D::ids()) {
            Some(row) => Ok(D::item(row, since)),
            None => Err(lacks::<D>(entity)),
        }
    }

    /// Reads the component with this id.
    ///
    /// `None` when the entity lacks it, and for a component that is kept by fields.
    pub fn get_by_id(&self, id: ComponentId) -> Option<&dyn Any> {
        self.as_readonly().get_by_id(id)
    }

    /// As [`EntityMut::get_by_id`], for as long as the entity is lent.
    pub fn into_borrow_by_id(self, id: ComponentId) -> Option<&'w dyn Any> {
        self.into_readonly().get_by_id(id)
    }

    /// Writes the component with this id, and marks it as changed; `None` as for [`EntityMut::get_by_id`], and for immutable
    /// components and the halves of relations.
    pub fn get_mut_by_id(&mut self, id: ComponentId) -> Option<&mut dyn Any> {
        self.reborrow().into_mut_by_id(id)
    }

    /// As [`EntityMut::get_mut_by_id`], for as long as the entity is lent.
    pub fn into_mut_by_id(self, id: ComponentId) -> Option<&'w mut dyn Any> {
        self.cell.into_erased_mut(self.components.get_info(id)?.any_access_mut()?)
    }

    /// When a component with row ticks came and was last written.
    pub fn get_change_ticks<T: RowTracked>(&self) -> Option<ComponentTicks> {
        self.get_change_ticks_by_id(self.components.component_id::<T>()?)
    }

    /// When the component with this id came and was last written; `None` also when it keeps no ticks per row.
    pub fn get_change_ticks_by_id(&self, id: ComponentId) -> Option<ComponentTicks> {
        let info = self.components.get_info(id)?;
        super::by_id::row_ticks(info, |column, in_set| match in_set {
            false => self.cell.get::<Read<Tick>>(column).copied(),
            true => self.cell.get::<phalanx_store::InSet<Read<Tick>>>(column).copied(),
        })
    }
}

#[cold]
pub(super) fn lacks<D: QueryData>(entity: Entity) -> QueryEntityError {
    QueryEntityError::DoesNotMatch { entity, fails: crate::query::written::<D>() }
}

impl fmt::Debug for EntityMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.components.iter().filter(|info| self.cell.has_column(info.columns()[0]));
        write!(f, "{} ", self.id())?;
        f.debug_set().entries(held.map(crate::registry::ComponentInfo::name)).finish()
    }
}
