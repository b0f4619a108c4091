//! A component of an entity that is there or not, as a place to be looked at and filled.
//!
//! [`EntityWorldMut::entry`] asks once whether the entity has the component; what it gives is occupied or vacant.

use std::marker::PhantomData;

use super::EntityWorldMut;
use crate::component::Component;
use crate::tracking::Mut;

/// The place of a component in an entity.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Default, Debug, PartialEq)]
/// struct Level(u32);
///
/// let mut world = World::new();
/// let mut entity = world.spawn_empty();
/// entity.entry::<Level>().or_default().get_mut().0 += 1;
/// entity.entry::<Level>().and_modify(|mut level| level.0 += 1);
/// assert_eq!(entity.get::<Level>(), Some(&Level(2)));
/// ```
pub enum ComponentEntry<'w, 'a, C: Component> {
    /// The entity has the component.
    Occupied(OccupiedComponentEntry<'w, 'a, C>),
    /// It does not.
    Vacant(VacantComponentEntry<'w, 'a, C>),
}

/// A component that an entity has.
pub struct OccupiedComponentEntry<'w, 'a, C: Component> {
    entity: &'a mut EntityWorldMut<'w>,
    component: PhantomData<C>,
}

/// A component that an entity lacks.
pub struct VacantComponentEntry<'w, 'a, C: Component> {
    entity: &'a mut EntityWorldMut<'w>,
    component: PhantomData<C>,
}

impl<'w> EntityWorldMut<'w> {
    /// The place of a component.
    pub fn entry<'a, C: Component>(&'a mut self) -> ComponentEntry<'w, 'a, C> {
        if self.contains::<C>() {
            ComponentEntry::Occupied(OccupiedComponentEntry { entity: self, component: PhantomData })
        } else {
            ComponentEntry::Vacant(VacantComponentEntry { entity: self, component: PhantomData })
        }
    }
}

impl<'w, 'a, C: Component> ComponentEntry<'w, 'a, C> {
    /// Changes the component, if it is there.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(Mut<'_, C>)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }

    /// Sets the component.
    ///
    /// # Panics
    /// When the entity's pool does not declare it.
    #[track_caller]
    pub fn insert_entry(self, component: C) -> OccupiedComponentEntry<'w, 'a, C> {
        match self {
            Self::Occupied(mut entry) => {
                entry.insert(component);
                entry
            }
            Self::Vacant(entry) => entry.insert(component),
        }
    }

    /// The component, which is set to a value if it was missing.
    ///
    /// # Panics
    /// When the entity's pool does not declare it.
    #[track_caller]
    pub fn or_insert(self, default: C) -> OccupiedComponentEntry<'w, 'a, C> {
        match self {
            Self::Occupied(entry) => entry,
            Self::Vacant(entry) => entry.insert(default),
        }
    }

    /// The component, which a function gives if it was missing.
    ///
    /// # Panics
    /// When the entity's pool does not declare it.
    #[track_caller]
    pub fn or_insert_with(self, default: impl FnOnce() -> C) -> OccupiedComponentEntry<'w, 'a, C> {
        match self {
            Self::Occupied(entry) => entry,
            Self::Vacant(entry) => entry.insert(default()),
        }
    }

    /// The component, which is set to its default value if it was missing.
    ///
    /// # Panics
    /// When the entity's pool does not declare it.
    #[track_caller]
    pub fn or_default(self) -> OccupiedComponentEntry<'w, 'a, C>
    where
        C: Default,
    {
        self.or_insert_with(C::default)
    }
}

const HELD: &str = "the entity is borrowed, so it keeps the component";

impl<'a, C: Component> OccupiedComponentEntry<'_, 'a, C> {
    /// Reads the component.
    pub fn get(&self) -> &C {
        self.entity.get::<C>().expect(HELD)
    }

    /// Writes the component.
    pub fn get_mut(&mut self) -> Mut<'_, C> {
        self.entity.get_mut::<C>().expect(HELD)
    }

    /// As [`OccupiedComponentEntry::get_mut`], for as long as the entity is borrowed.
    pub fn into_mut(self) -> Mut<'a, C> {
        self.entity.get_mut::<C>().expect(HELD)
    }

    /// Replaces the component.
    pub fn insert(&mut self, component: C) {
        self.entity.insert(component);
    }

    /// Takes the component out.
    ///
    /// # Panics
    /// When the entity's pool requires it.
    #[track_caller]
    pub fn take(self) -> C {
        self.entity.take::<C>().expect("the entity's pool does not require the component")
    }
}

impl<'w, 'a, C: Component> VacantComponentEntry<'w, 'a, C> {
    /// Inserts the component.
    ///
    /// # Panics
    /// When the entity's pool does not declare it.
    #[track_caller]
    pub fn insert(self, component: C) -> OccupiedComponentEntry<'w, 'a, C> {
        self.entity.insert(component);
        OccupiedComponentEntry { entity: self.entity, component: PhantomData }
    }
}
