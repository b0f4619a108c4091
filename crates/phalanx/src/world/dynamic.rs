//! Components and fields by name: for scripts, mods and tools.
//!
//! Everything here is checked before anything changes: an unknown field or a value of the wrong type is an
//! error that names it, and the world is as it was. Fields of typed components are reached the same way: those with
//! `layout = "soa"` here, those of whole values in `world/fields`.

use std::fmt;

use phalanx_store::{AnyColId, ColId, Entity, InSet, Read, Tick, Write};

use super::fields::unknown_field;
use super::{EntityWorldMut, World};
use crate::component::Layout;
use crate::registry::{ComponentId, ComponentInfo, RegisterError};
use crate::schema::Schema;
use crate::steps;
use crate::value::{FieldType, Scalar, Value};

/// Why a field cannot be read or written by name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldError {
    /// The entity is dead.
    NoSuchEntity {
        /// The entity asked for.
        entity: Entity,
    },
    /// The id names no component of this world.
    NoSuchComponent {
        /// The id asked for.
        id: ComponentId,
    },
    /// The entity lacks the component.
    Missing {
        /// The entity.
        entity: Entity,
        /// The component's name.
        component: String,
    },
    /// The component has no such field.
    UnknownField {
        /// The component's name.
        component: String,
        /// The field asked for.
        field: String,
        /// The fields there are, separated by commas.
        known: String,
    },
    /// The value has another type than the field.
    WrongType {
        /// The component's name.
        component: String,
        /// The field.
        field: String,
        /// The field's type.
        expected: FieldType,
        /// The value's type.
        given: FieldType,
    },
    /// The field's type is not one that values can have.
    NotScalar {
        /// The component's name.
        component: String,
        /// The field.
        field: String,
        /// The field's type.
        type_name: &'static str,
    },
    /// The field is not a `String`.
    NotText {
        /// The component's name.
        component: String,
        /// The field.
        field: String,
        /// The field's type.
        type_name: &'static str,
    },
    /// The component's type has no default value.
    NoDefault {
        /// The component's name.
        component: String,
    },
    /// A field is given twice.
    Repeated {
        /// The component's name.
        component: String,
        /// The field.
        field: String,
    },
    /// The entity's pool does not declare the component.
    NotInPool(super::NotInPool),
    /// The component was not registered from a schema, so it cannot be made from values by name.
    NotDynamic {
        /// The component's name.
        component: String,
    },
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity { entity } => {
                write!(f, "entity {entity} is not alive: it was despawned, or belongs to another world")
            }
            Self::NoSuchComponent { id } => {
                write!(f, "{id:?} names no component of this world: register it first")
            }
            Self::Missing { entity, component } => {
                write!(f, "entity {entity} has no `{component}`: insert it first")
            }
            Self::UnknownField { component, field, known } => {
                write!(f, "`{component}` has no field `{field}`; it has: {known}")
            }
            Self::WrongType { component, field, expected, given } => {
                write!(f, "field `{field}` of `{component}` is {expected}, but the value is {given}")
            }
            Self::NotScalar { component, field, type_name } => {
                write!(
                    f,
                    "field `{field}` of `{component}` is {type_name}, which cannot be read or written by name"
                )
            }
            Self::NotText { component, field, type_name } => {
                write!(f, "field `{field}` of `{component}` is {type_name}, not a `String`")
            }
            Self::NoDefault { component } => {
                write!(f, "`{component}` has no default value: derive `Default` for it, or insert a value")
            }
            Self::Repeated { component, field } => {
                write!(f, "field `{field}` of `{component}` is given twice")
            }
            Self::NotInPool(error) => error.fmt(f),
            Self::NotDynamic { component } => {
                write!(f, "`{component}` is a Rust type: insert a value of it instead of fields by name")
            }
        }
    }
}

impl std::error::Error for FieldError {}

/// Calls a generic function with the Rust type of a field type.
macro_rules! with_scalar {
    ($scalar:expr, $call:ident($($argument:expr),*)) => {
        match $scalar {
            FieldType::F32 => $call::<f32>($($argument),*),
            FieldType::F64 => $call::<f64>($($argument),*),
            FieldType::U8 => $call::<u8>($($argument),*),
            FieldType::U16 => $call::<u16>($($argument),*),
            FieldType::U32 => $call::<u32>($($argument),*),
            FieldType::U64 => $call::<u64>($($argument),*),
            FieldType::I8 => $call::<i8>($($argument),*),
            FieldType::I16 => $call::<i16>($($argument),*),
            FieldType::I32 => $call::<i32>($($argument),*),
            FieldType::I64 => $call::<i64>($($argument),*),
            FieldType::Bool => $call::<bool>($($argument),*),
            FieldType::Entity => $call::<Entity>($($argument),*),
        }
    };
}

fn read<T: Scalar>(world: &World, entity: Entity, column: AnyColId) -> Option<Value> {
    let id = column.typed::<T>()?;
    let value = match world.store.set_of(column) {
        None => world.store.get::<Read<T>>(entity, id),
        Some(_) => world.store.get::<InSet<Read<T>>>(entity, id),
    };
    Some(value?.into_value())
}

fn write<T: Scalar>(world: &mut World, entity: Entity, column: AnyColId, value: Value) -> Option<()> {
    let (id, value) = (column.typed::<T>()?, T::from_value(value)?);
    *place(world, entity, id)? = value;
    Some(())
}

/// The value of a column, in the entity's table or in a set.
fn place<T: Send + Sync + 'static>(world: &mut World, entity: Entity, id: ColId<T>) -> Option<&mut T> {
    match world.store.set_of(id.any()) {
        None => world.store.get_mut::<Write<T>>(entity, id),
        Some(_) => world.store.get_mut::<InSet<Write<T>>>(entity, id),
    }
}

impl World {
    /// Registers a component described at run time. The same schema again gives the same id.
    ///
    /// # Errors
    /// When the schema is wrong, or its name is taken by another component or another schema.
    pub fn register_dynamic(&mut self, schema: Schema) -> Result<ComponentId, RegisterError> {
        let id = self.components.register_schema(schema)?;
        self.declare_columns();
        Ok(id)
    }

    /// Reads one field by name.
    ///
    /// # Errors
    /// Says whether entity, component, field or type is wrong.
    pub fn get_field(&self, entity: Entity, id: ComponentId, field: &str) -> Result<Value, FieldError> {
        let info = self.component_of(entity, id)?;
        if info.value().is_some() {
            return self.get_whole_field(info, entity, field);
        }
        let (column, scalar) = scalar_field(info, field)?;
        Ok(with_scalar!(scalar, read(self, entity, column)).expect("the entity has the component's columns"))
    }

    /// Writes one field by name.
    ///
    /// # Errors
    /// Says whether entity, component, field or type is wrong; then nothing is written.
    pub fn set_field(
        &mut self,
        entity: Entity,
        id: ComponentId,
        field: &str,
        value: impl Into<Value>,
    ) -> Result<(), FieldError> {
        let value = value.into();
        let info = self.component_of(entity, id)?;
        if info.value().is_some() {
            return self.set_whole_field(entity, id, field, value);
        }
        let changed = info.changed_column();
        let (column, scalar) = fitting_field(info, field, value)?;
        with_scalar!(scalar, write(self, entity, column, value))
            .expect("entity, column and type were checked");
        if let Some(changed) = changed {
            self.stamp(entity, changed);
        }
        Ok(())
    }

    /// Notes that an entity's component was written now.
    pub(super) fn stamp(&mut self, entity: Entity, changed: ColId<Tick>) {
        let now = self.store.tick();
        place(self, entity, changed).map(|tick| *tick = now).expect("ticks stand beside the values");
    }

    /// Inserts a run-time component. Fields that are not given are zero, or keep their value when the entity
    /// has the component already.
    ///
    /// # Errors
    /// Says what is wrong; then nothing has changed.
    pub fn insert_dynamic(
        &mut self,
        entity: Entity,
        id: ComponentId,
        fields: &[(&str, Value)],
    ) -> Result<(), FieldError> {
        let columns = self.check_dynamic(entity, id, fields)?;
        self.make_room_for_archetypes();
        if !self.reactions.heard().has(id) {
            self.put_dynamic(entity, id, &columns, fields);
            return Ok(());
        }
        let changes = self.foresee_insert_id(entity, id);
        self.announced(entity, &changes, |world| world.put_dynamic(entity, id, &columns, fields));
        Ok(())
    }

    /// Whether a run-time component can be inserted with these fields; then, their columns.
    pub(super) fn check_dynamic(
        &self,
        entity: Entity,
        id: ComponentId,
        fields: &[(&str, Value)],
    ) -> Result<Vec<(AnyColId, FieldType)>, FieldError> {
        let from = self.archetype_of(entity).ok_or(FieldError::NoSuchEntity { entity })?;
        let info = self.components.get_info(id).ok_or(FieldError::NoSuchComponent { id })?;
        if info.schema().is_none() {
            return Err(FieldError::NotDynamic { component: info.name().to_owned() });
        }
        let mut columns = Vec::with_capacity(fields.len());
        for &(field, value) in fields {
            columns.push(fitting_field(info, field, value)?);
        }
        if let Some(field) = repeated(fields) {
            return Err(FieldError::Repeated { component: info.name().to_owned(), field: field.to_owned() });
        }
        let pool = self.archetypes.pools().record(self.archetypes.pool_of(from));
        if !pool.allows(id) {
            let (pool, component) = (pool.name(), info.name().to_owned());
            return Err(FieldError::NotInPool(super::NotInPool { entity, pool, component }));
        }
        Ok(columns)
    }

    /// Inserts a run-time component, after all checks.
    fn put_dynamic(
        &mut self,
        entity: Entity,
        id: ComponentId,
        columns: &[(AnyColId, FieldType)],
        fields: &[(&str, Value)],
    ) {
        if let Some(set) = self.set_of(id) {
            let zeros = self.components.info(id).defaults().to_vec();
            let made = self.store.set_insert_made(set, entity, &zeros);
            made.expect("a component's zero values fill its columns");
        } else {
            let from = self.archetype_of(entity).expect("the entity was found alive");
            let at = self.zeroed_insertion(from, id);
            let edge = self.archetypes.edges.at(at);
            let inserted = self.store.insert(entity, edge, (), phalanx_store::Existing::Keep);
            inserted.expect("the entity stands where the transition begins");
        }
        for (&(column, scalar), &(_, value)) in columns.iter().zip(fields) {
            with_scalar!(scalar, write(self, entity, column, value)).expect("column and type were checked");
        }
    }

    pub(super) fn component_of(&self, entity: Entity, id: ComponentId) -> Result<&ComponentInfo, FieldError> {
        let archetype = self.archetype_of(entity).ok_or(FieldError::NoSuchEntity { entity })?;
        let info = self.components.get_info(id).ok_or(FieldError::NoSuchComponent { id })?;
        if self.archetypes.signature(archetype).has(id) || self.has_sparse(entity, id) {
            Ok(info)
        } else {
            Err(FieldError::Missing { entity, component: info.name().to_owned() })
        }
    }
}

/// A field that is given twice.
fn repeated<'f>(fields: &[(&'f str, Value)]) -> Option<&'f str> {
    let mut names: Vec<&str> = fields.iter().map(|&(field, _)| field).collect();
    names.sort_unstable_by(|a, b| {
        steps::count();
        a.cmp(b)
    });
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn scalar_field(info: &ComponentInfo, field: &str) -> Result<(AnyColId, FieldType), FieldError> {
    let component = || info.name().to_owned();
    let named = if info.layout() == Layout::Fields { info.field(field) } else { None };
    let Some(found) = named else {
        return Err(unknown_field(info, field));
    };
    match found.scalar() {
        Some(scalar) => Ok((found.column(), scalar)),
        None => {
            let type_name = found.column().type_name();
            Err(FieldError::NotScalar { component: component(), field: field.to_owned(), type_name })
        }
    }
}

fn fitting_field(
    info: &ComponentInfo,
    field: &str,
    value: Value,
) -> Result<(AnyColId, FieldType), FieldError> {
    let (column, expected) = scalar_field(info, field)?;
    let given = value.field_type();
    if given == expected {
        return Ok((column, expected));
    }
    Err(FieldError::WrongType { component: info.name().to_owned(), field: field.to_owned(), expected, given })
}

impl EntityWorldMut<'_> {
    /// Inserts a run-time component; see [`World::insert_dynamic`].
    ///
    /// # Errors
    /// Says what is wrong; then nothing has changed.
    pub fn insert_dynamic(
        &mut self,
        id: ComponentId,
        fields: &[(&str, Value)],
    ) -> Result<&mut Self, FieldError> {
        let (world, entity) = self.world_and_id();
        world.insert_dynamic(entity, id, fields)?;
        Ok(self)
    }
}
