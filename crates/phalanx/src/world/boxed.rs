//! Values that come in boxes, without their types: components and resources inserted by their ids.
//!
//! The type of a value is compared with that of its id before anything changes, so a wrong one is an error that names
//! both. After that it is an insertion as any other: required components are added, pools are checked, hooks and
//! observers run, and several components are one move.

use std::any::{Any, TypeId};
use std::fmt;

use phalanx_store::sorting;
use phalanx_store::{Entity, Existing};

use super::commands::merge;
use super::{ChangeError, EntityWorldMut, FieldError, NoSuchEntity, World};
use crate::component::{Boxed, Copier};
use crate::registry::{ComponentId, ComponentInfo};
use crate::resources::ResourceId;
use crate::signature::Signature;
use crate::value::Value;

/// Why a boxed value cannot be inserted by an id.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InsertByIdError {
    /// The id names no component of this world.
    NoSuchComponent {
        /// The id.
        id: ComponentId,
    },
    /// The number names no resource of this world.
    NoSuchResource {
        /// The number.
        id: ResourceId,
    },
    /// The value has another type than what the id names.
    WrongType {
        /// The name of what the id names.
        expected: String,
        /// The name of the value's type, where the world knows it: of a component or a resource.
        given: Option<String>,
    },
    /// A component is given twice.
    Repeated {
        /// The component's name.
        component: String,
    },
    /// There are not as many values as ids.
    Count {
        /// How many ids there are.
        ids: usize,
        /// How many values there are.
        values: usize,
    },
    /// The fields of a run-time component are wrong.
    Field(FieldError),
    /// The entity is dead, or its pool does not declare a component.
    Change(ChangeError),
}

impl fmt::Display for InsertByIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchComponent { id } => {
                write!(f, "{id:?} names no component of this world: register it first")
            }
            Self::NoSuchResource { id } => {
                write!(f, "{id:?} names no resource of this world: register it first")
            }
            Self::WrongType { expected, given: Some(given) } => {
                write!(
                    f,
                    "the id is that of `{expected}`, but the value is a `{given}`: give the id of its type"
                )
            }
            Self::WrongType { expected, given: None } => write!(
                f,
                "the id is that of `{expected}`, but the value has another type, which this world does not know: \
                 give a boxed `{expected}`"
            ),
            Self::Repeated { component } => write!(f, "component `{component}` is given twice"),
            Self::Count { ids, values } => {
                write!(f, "{ids} ids were given with {values} values: give one each")
            }
            Self::Field(error) => error.fmt(f),
            Self::Change(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InsertByIdError {}

impl From<FieldError> for InsertByIdError {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

impl<E: Into<ChangeError>> From<E> for InsertByIdError {
    fn from(error: E) -> Self {
        Self::Change(error.into())
    }
}

/// The fields of a run-time component.
type Fields = Vec<(String, Value)>;

fn borrowed(fields: &Fields) -> Vec<(&str, Value)> {
    fields.iter().map(|(name, value)| (name.as_str(), *value)).collect()
}

impl World {
    /// Inserts a component by its id: a box with a value of the component's type, or with the fields of a run-time
    /// component, a `Vec<(String, Value)>`.
    ///
    /// # Errors
    /// Says whether entity, id, type, field or pool is wrong; then nothing has changed.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Debug, PartialEq)]
    /// struct Health(u32);
    ///
    /// let mut world = World::new();
    /// let id = world.register_component::<Health>();
    /// let entity = world.spawn_empty().id();
    /// world.insert_by_id(entity, id, Box::new(Health(3))).unwrap();
    /// assert_eq!(world.get::<Health>(entity), Some(&Health(3)));
    /// assert!(world.insert_by_id(entity, id, Box::new("three")).is_err());
    /// ```
    #[track_caller]
    pub fn insert_by_id(
        &mut self,
        entity: Entity,
        id: ComponentId,
        value: Box<dyn Any + Send + Sync>,
    ) -> Result<(), InsertByIdError> {
        self.insert_by_ids(entity, &[id], [value])
    }

    /// As [`World::insert_by_id`], for several components, as one change. Run-time components come after the others, one
    /// by one.
    ///
    /// # Errors
    /// As for [`World::insert_by_id`], and when a component is given twice, or there are not as many values as ids.
    #[track_caller]
    pub fn insert_by_ids(
        &mut self,
        entity: Entity,
        ids: &[ComponentId],
        values: impl IntoIterator<Item = Box<dyn Any + Send + Sync>>,
    ) -> Result<(), InsertByIdError> {
        let values: Vec<Boxed> = values.into_iter().collect();
        if values.len() != ids.len() {
            return Err(InsertByIdError::Count { ids: ids.len(), values: values.len() });
        }
        let Some(pool) = self.pool_of(entity) else { return Err(NoSuchEntity::new(entity).into()) };
        let mut given: Vec<(ComponentId, Boxed)> = ids.iter().copied().zip(values).collect();
        sorting::sort_by_key(&mut given, |(id, _)| *id);
        if let Some(pair) = given.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let id = pair[0].0;
            let info = self.components.get_info(id).ok_or(InsertByIdError::NoSuchComponent { id })?;
            return Err(InsertByIdError::Repeated { component: info.name().to_owned() });
        }
        let (mut typed, mut values, mut dynamic) = (Vec::new(), Vec::new(), Vec::new());
        for (id, value) in given {
            match self.unboxing(entity, id, value)? {
                Unboxing::Typed(copier, value) => {
                    typed.push(id);
                    values.push((copier, value));
                }
                Unboxing::Dynamic(fields) => dynamic.push((id, fields)),
            }
        }
        if !typed.is_empty() {
            let bundle = self.bundles.register_ids(&typed, &self.components);
            self.update_set_policies();
            self.may_insert(pool, bundle).map_err(|refusal| self.refused(entity, refusal))?;
            if self.bundles.info(bundle).heard.is_empty() {
                merge::insert_boxed(self, entity, bundle, values);
            } else {
                let changes = self.foresee_insert(entity, bundle, Existing::Replace);
                self.announced(entity, &changes, |world| merge::insert_boxed(world, entity, bundle, values));
            }
        }
        for (id, fields) in dynamic {
            self.insert_dynamic(entity, id, &borrowed(&fields))?;
        }
        Ok(())
    }

    /// Makes a bundle of components known that come by their ids, so that inserting it for the first time costs no more
    /// than later ([`World::insert_by_ids`]). Returns what it brings: these components in ascending order of their ids,
    /// and those that they require after them.
    ///
    /// # Errors
    /// Names the id that the world does not know.
    pub fn register_dynamic_bundle(
        &mut self,
        ids: &[ComponentId],
    ) -> Result<Vec<ComponentId>, InsertByIdError> {
        if let Some(&id) = ids.iter().find(|&&id| self.components.get_info(id).is_none()) {
            return Err(InsertByIdError::NoSuchComponent { id });
        }
        let explicit: Vec<ComponentId> = ids.iter().copied().collect::<Signature>().iter().collect();
        let bundle = self.bundles.register_ids(&explicit, &self.components);
        self.update_set_policies();
        let info = self.bundles.info(bundle);
        let required = info.required.iter().chain(&info.required_sparse).map(|(id, _)| *id);
        Ok(explicit.iter().copied().chain(required).collect())
    }

    /// Asks whether a value has the type of its component.
    fn unboxing(&self, entity: Entity, id: ComponentId, value: Boxed) -> Result<Unboxing, InsertByIdError> {
        let info = self.components.get_info(id).ok_or(InsertByIdError::NoSuchComponent { id })?;
        let of = (*value).type_id();
        match (info.type_id(), info.attached::<Copier>()) {
            (Some(expected), Some(&copier)) if expected == of => Ok(Unboxing::Typed(copier, value)),
            (None, _) if of == TypeId::of::<Fields>() => {
                let fields = value.downcast::<Fields>().unwrap_or_else(|_| unreachable!("asked just now"));
                self.check_dynamic(entity, id, &borrowed(&fields))?;
                Ok(Unboxing::Dynamic(*fields))
            }
            _ => Err(self.wrong_type(info.name(), of)),
        }
    }

    pub(super) fn wrong_type(&self, expected: &str, given: TypeId) -> InsertByIdError {
        let component = self.components.iter().find(|info| ComponentInfo::type_id(info) == Some(given));
        let known = component.map(ComponentInfo::name).or_else(|| self.resources.name_of(given));
        InsertByIdError::WrongType { expected: expected.to_owned(), given: known.map(str::to_owned) }
    }

    /// Sets a resource by its number, and returns the value it replaces.
    ///
    /// # Errors
    /// When the world does not know the number, or the value has another type.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Resource, Default)]
    /// struct Score(u32);
    ///
    /// let mut world = World::new();
    /// let id = world.init_resource::<Score>();
    /// let before = world.insert_resource_by_id(id, Box::new(Score(3))).unwrap();
    /// assert!(before.is_some_and(|score| score.is::<Score>()));
    /// assert_eq!(world.resource::<Score>().0, 3);
    /// ```
    pub fn insert_resource_by_id(
        &mut self,
        id: ResourceId,
        value: Box<dyn Any + Send + Sync>,
    ) -> Result<Option<Box<dyn Any + Send + Sync>>, InsertByIdError> {
        let expected = self.resources.name(id).ok_or(InsertByIdError::NoSuchResource { id })?;
        if !self.resources.is_of_type(id, (*value).type_id()) {
            return Err(self.wrong_type(expected, (*value).type_id()));
        }
        Ok(self.resources.insert_any(id, value, self.store.tick()))
    }
}

/// A value that fits its component.
enum Unboxing {
    Typed(Copier, Boxed),
    Dynamic(Fields),
}

impl EntityWorldMut<'_> {
    /// Inserts a component by its id; see [`World::insert_by_id`].
    ///
    /// # Errors
    /// Says what is wrong; then nothing has changed.
    #[track_caller]
    pub fn insert_by_id(
        &mut self,
        id: ComponentId,
        value: Box<dyn Any + Send + Sync>,
    ) -> Result<&mut Self, InsertByIdError> {
        self.insert_by_ids(&[id], [value])
    }

    /// Inserts several components by their ids, as one change; see [`World::insert_by_ids`].
    ///
    /// # Errors
    /// Says what is wrong; then nothing has changed.
    #[track_caller]
    pub fn insert_by_ids(
        &mut self,
        ids: &[ComponentId],
        values: impl IntoIterator<Item = Box<dyn Any + Send + Sync>>,
    ) -> Result<&mut Self, InsertByIdError> {
        let (world, entity) = self.world_and_id();
        world.insert_by_ids(entity, ids, values)?;
        Ok(self)
    }
}
