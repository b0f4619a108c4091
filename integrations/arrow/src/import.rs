//! Record batches become entities of a world.
//!
//! Columns are grouped by component, and every value is made before the first entity gets one: when a batch is wrong, the
//! world is as it was. Listed types are made by their `Deserialize`, components that were described at run time from
//! their fields, other types from their default value and the fields that have names.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, NullArray, RecordBatch, StructArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{DataType, Field, Fields};
use phalanx::fields::FieldKind;
use phalanx::schema::{Schema, StorageKind};
use phalanx::value::{FieldType, Value};
use phalanx::{ComponentId, Entity, World};
use phalanx_store::{EntityMap, entity_map_scope};

use crate::deserialize::Cell;
use crate::error::{ArrowError, ValueError};
use crate::names::{COMPONENT, ENTITY, ENTITY_COLUMN, FIELD, PRESENCE, SCHEMA, TYPE, VALUE};
use crate::types::{ArrowTypes, Rows};

/// How a batch becomes entities.
#[derive(Clone, Debug)]
pub struct Import<'t> {
    types: &'t ArrowTypes,
    keep_ids: bool,
}

/// Spawns an entity for each row of a batch, with new ids. Entities in fields follow where the batch has their row; others
/// become [`Entity::PLACEHOLDER`]. Returns the entities, in the order of rows.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx_arrow::{ArrowTypes, record_batches, spawn_from};
///
/// #[derive(Component, serde::Serialize, serde::Deserialize, PartialEq, Debug)]
/// #[component(save)]
/// struct Health { current: f32, max: f32 }
///
/// let types = ArrowTypes::new().with::<Health>();
/// let mut world = World::new();
/// world.spawn(Health { current: 3.0, max: 10.0 });
/// let exported = record_batches(&world, &types).unwrap();
///
/// let mut other = World::new();
/// let entities = spawn_from(&mut other, &exported.batches[0], &types).unwrap();
/// assert_eq!(other.get::<Health>(entities[0]), Some(&Health { current: 3.0, max: 10.0 }));
/// ```
///
/// # Errors
/// When a component is unknown or a row cannot become a value; then the world has no entity more.
pub fn spawn_from(
    world: &mut World,
    batch: &RecordBatch,
    types: &ArrowTypes,
) -> Result<Vec<Entity>, ArrowError> {
    Import::new(types).spawn(world, batch)
}

impl<'t> Import<'t> {
    /// New ids for all entities.
    pub fn new(types: &'t ArrowTypes) -> Self {
        Self { types, keep_ids: false }
    }

    /// Entities get the ids that the batch has for them, which must be free in the world.
    #[must_use]
    pub fn keep_ids(mut self) -> Self {
        self.keep_ids = true;
        self
    }

    /// Spawns an entity for each row of a batch.
    ///
    /// # Errors
    /// When a component is unknown, an id is taken, or a row cannot become a value; then the world has no entity more.
    pub fn spawn(&self, world: &mut World, batch: &RecordBatch) -> Result<Vec<Entity>, ArrowError> {
        let groups = groups(world, batch)?;
        let told = told_ids(batch)?;
        let entities = self.ids(world, batch.num_rows(), told.as_deref())?;
        let map = told
            .filter(|_| !self.keep_ids)
            .map(|told| EntityMap::new(told.into_iter().zip(entities.iter().copied())));
        let made = entity_map_scope(map.clone(), || {
            let make = |group: &Group| group.make(world, self.types, map.as_ref());
            groups.iter().map(make).collect::<Result<Vec<Box<dyn Rows>>, ArrowError>>()
        });
        let mut made = match made {
            Ok(made) => made,
            Err(error) => {
                world.despawn_batch(entities);
                return Err(error);
            }
        };
        for &entity in &entities {
            made.iter_mut().for_each(|rows| rows.insert_next(world, entity));
            world.flush();
        }
        Ok(entities)
    }

    fn ids(
        &self,
        world: &mut World,
        rows: usize,
        told: Option<&[Entity]>,
    ) -> Result<Vec<Entity>, ArrowError> {
        let mut entities = Vec::with_capacity(rows);
        if !self.keep_ids {
            entities.extend((0..rows).map(|_| world.spawn_empty().id()));
            return Ok(entities);
        }
        let told = told.ok_or_else(|| ArrowError::batch("there is no column `entity`, so no ids to keep"))?;
        for &entity in told {
            if let Err(error) = world.spawn_empty_at(entity) {
                let message = ArrowError::batch(error);
                world.despawn_batch(entities);
                return Err(message);
            }
            entities.push(entity);
        }
        Ok(entities)
    }
}

/// The ids that a batch has for its rows.
fn told_ids(batch: &RecordBatch) -> Result<Option<Vec<Entity>>, ArrowError> {
    let Some(column) = batch.column_by_name(ENTITY_COLUMN) else { return Ok(None) };
    let numbers = column.as_primitive_opt::<UInt64Type>();
    let numbers = numbers.filter(|numbers| numbers.null_count() == 0);
    let numbers = numbers
        .ok_or_else(|| ArrowError::batch("column `entity` must hold numbers of type UInt64 without nulls"))?;
    let id = |(row, &bits): (usize, &u64)| {
        Entity::from_bits(bits)
            .ok_or_else(|| ArrowError::batch(format_args!("row {row}: {bits} is not the id of an entity")))
    };
    numbers.values().iter().enumerate().map(id).collect::<Result<_, _>>().map(Some)
}

/// The columns of one component.
struct Group<'b> {
    component: String,
    /// The field, what its column is described as, and its column.
    columns: Vec<(String, &'b Field, &'b ArrayRef)>,
    presence: Option<&'b ArrayRef>,
    rows: usize,
    storage: Option<String>,
}

/// The components of a batch, in the order of their first columns. Columns that others wrote have no metadata: their
/// names are those of a component, or of one and a field of it.
fn groups<'b>(world: &World, batch: &'b RecordBatch) -> Result<Vec<Group<'b>>, ArrowError> {
    let mut groups: Vec<Group<'b>> = Vec::new();
    let schema = batch.schema_ref();
    for (field, array) in schema.fields().iter().zip(batch.columns()) {
        let (component, part) = match (field.metadata().get(COMPONENT), field.metadata().get(FIELD)) {
            (Some(component), Some(part)) => (component.clone(), part.clone()),
            _ if field.name() == ENTITY_COLUMN || field.name() == crate::names::TICK_COLUMN => continue,
            _ => named(world, field.name()),
        };
        let at = groups.iter().position(|group| group.component == component).unwrap_or_else(|| {
            let (rows, storage) = (batch.num_rows(), field.metadata().get(SCHEMA).cloned());
            groups.push(Group { component, columns: Vec::new(), presence: None, rows, storage });
            groups.len() - 1
        });
        if part == PRESENCE {
            let is_bool = matches!(array.data_type(), DataType::Boolean);
            groups[at].presence = Some(array).filter(|_| is_bool);
            if !is_bool {
                let name = field.name();
                return Err(ArrowError::batch(format_args!("column `{name}` must be of type Boolean")));
            }
        } else {
            groups[at].columns.push((part, field, array));
        }
    }
    Ok(groups)
}

/// The component and field that a column without metadata is named after.
fn named(world: &World, column: &str) -> (String, String) {
    let known = |name: &str| world.components().by_name(name).is_some();
    match column.rsplit_once('.') {
        Some((component, field)) if !known(column) => (component.to_owned(), field.to_owned()),
        _ => (column.to_owned(), VALUE.to_owned()),
    }
}

impl Group<'_> {
    /// Which rows have the component.
    fn present(&self) -> BooleanBuffer {
        if let Some(presence) = self.presence {
            let presence = presence.as_boolean();
            return match presence.nulls() {
                Some(nulls) => presence.values() & nulls.inner(),
                None => presence.values().clone(),
            };
        }
        let mut present = BooleanBufferBuilder::new(self.rows);
        for row in 0..self.rows {
            present.append(self.columns.iter().any(|(_, _, array)| array.is_valid(row)));
        }
        present.finish()
    }

    /// The values of all rows.
    fn make(
        &self,
        world: &mut World,
        types: &ArrowTypes,
        map: Option<&EntityMap>,
    ) -> Result<Box<dyn Rows>, ArrowError> {
        let present = self.present();
        if let Some(entry) = types.get(&self.component) {
            let array = self.array()?;
            let made = (entry.read)(&*array, &present);
            return made.map_err(|(row, error)| ArrowError::row(&self.component, row, error));
        }
        let id = self.known(world)?;
        let fields = self.fields(world, id)?;
        let mut rows = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            let value = present.value(row).then(|| {
                let read = |(name, kind, array): &(String, FieldKind, &ArrayRef)| {
                    Ok((name.clone(), read_field(Cell { array, row }, *kind, map)?))
                };
                fields.iter().map(read).collect::<Result<Vec<_>, ValueError>>()
            });
            rows.push(value.transpose().map_err(|error| ArrowError::row(&self.component, row, error))?);
        }
        Ok(Box::new(ByName { id, rows: rows.into_iter() }))
    }

    /// One array for all columns: that of the value, or of structs; of nothing for tags.
    fn array(&self) -> Result<ArrayRef, ArrowError> {
        match self.columns.as_slice() {
            [] => Ok(Arc::new(NullArray::new(self.rows))),
            [(part, _, array)] if part == VALUE => Ok(Arc::clone(array)),
            columns => {
                let field = |(part, field, _): &(String, &Field, &ArrayRef)| {
                    (*field).clone().with_name(part.as_str()).with_nullable(true)
                };
                let fields: Fields = columns.iter().map(field).collect();
                let arrays = columns.iter().map(|(_, _, array)| Arc::clone(array)).collect();
                let made = StructArray::try_new_with_length(fields, arrays, None, self.rows);
                Ok(Arc::new(made.map_err(ArrowError::batch)?))
            }
        }
    }

    /// The component in the world; one that was described at run time is registered where it is missing.
    fn known(&self, world: &mut World) -> Result<ComponentId, ArrowError> {
        if let Some(id) = world.components().by_name(&self.component) {
            return Ok(id);
        }
        let unknown = || ArrowError::UnknownComponent { component: self.component.clone() };
        let mut schema = Schema::new(self.component.clone()).storage(
            match self.storage.as_deref().ok_or_else(unknown)? {
                "Sparse" => StorageKind::Sparse,
                "Stable" => StorageKind::Stable,
                _ => StorageKind::Table,
            },
        );
        for (part, field, _) in &self.columns {
            let scalar = field_type(field).ok_or_else(|| {
                ArrowError::batch(format_args!("no field has the type of `{}`", field.name()))
            });
            schema = schema.field(field_name(part).to_owned(), scalar?);
        }
        world.register_dynamic(schema).map_err(ArrowError::batch)
    }

    /// The fields of the component that have columns.
    fn fields(
        &self,
        world: &World,
        id: ComponentId,
    ) -> Result<Vec<(String, FieldKind, &ArrayRef)>, ArrowError> {
        let info = world.components().get_info(id);
        let info = info.ok_or_else(|| ArrowError::UnknownComponent { component: self.component.clone() })?;
        if info.schema().is_none() && !info.has_default() {
            let component = info.name();
            return Err(ArrowError::batch(format_args!(
                "`{component}` has no default value: add its type with `ArrowTypes::with`, or derive `Default`"
            )));
        }
        let mut fields = Vec::new();
        for (part, _, array) in &self.columns {
            let name = field_name(part);
            let found = info.named_fields().find(|field| field.name == name);
            let found = found.ok_or_else(|| {
                ArrowError::batch(format_args!("`{}` has no field `{name}`", self.component))
            })?;
            fields.push((name.to_owned(), found.kind, *array));
        }
        Ok(fields)
    }
}

/// The name of the field behind a column: a component with one field without a name is one value.
fn field_name(part: &str) -> &str {
    if part == VALUE { "0" } else { part }
}

fn field_type(field: &Field) -> Option<FieldType> {
    Some(match field.data_type() {
        DataType::Boolean => FieldType::Bool,
        DataType::Float32 => FieldType::F32,
        DataType::Float64 => FieldType::F64,
        DataType::UInt8 => FieldType::U8,
        DataType::UInt16 => FieldType::U16,
        DataType::UInt32 => FieldType::U32,
        DataType::UInt64 if field.metadata().get(TYPE).is_some_and(|kind| kind == ENTITY) => {
            FieldType::Entity
        }
        DataType::UInt64 => FieldType::U64,
        DataType::Int8 => FieldType::I8,
        DataType::Int16 => FieldType::I16,
        DataType::Int32 => FieldType::I32,
        DataType::Int64 => FieldType::I64,
        _ => return None,
    })
}

/// A field's value.
enum FieldValue {
    Scalar(Value),
    Text(String),
}

fn read_field(cell: Cell<'_>, kind: FieldKind, map: Option<&EntityMap>) -> Result<FieldValue, ValueError> {
    let Cell { array, row } = cell;
    let wrong = || ValueError(format!("a column of type {} does not fit the field", array.data_type()));
    if array.is_null(row) {
        return Err(ValueError("one field is null and another is not".into()));
    }
    let FieldKind::Scalar(scalar) = kind else {
        return cell.text().map(|text| FieldValue::Text(text.to_owned())).ok_or_else(wrong);
    };
    macro_rules! number {
        ($type:ty) => {
            array.as_primitive_opt::<$type>().map(|numbers| numbers.value(row).into())
        };
    }
    let value: Option<Value> = match scalar {
        FieldType::Bool => array.as_boolean_opt().map(|bits| bits.value(row).into()),
        FieldType::F32 => number!(Float32Type),
        FieldType::F64 => number!(Float64Type),
        FieldType::U8 => number!(UInt8Type),
        FieldType::U16 => number!(UInt16Type),
        FieldType::U32 => number!(UInt32Type),
        FieldType::U64 => number!(UInt64Type),
        FieldType::I8 => number!(Int8Type),
        FieldType::I16 => number!(Int16Type),
        FieldType::I32 => number!(Int32Type),
        FieldType::I64 => number!(Int64Type),
        FieldType::Entity => {
            let told =
                array.as_primitive_opt::<UInt64Type>().and_then(|ids| Entity::from_bits(ids.value(row)));
            let here = |told| map.map_or(told, |map| map.get(told).unwrap_or(Entity::PLACEHOLDER));
            told.map(|told| Value::Entity(here(told)))
        }
        _ => None,
    };
    value.map(FieldValue::Scalar).ok_or_else(wrong)
}

/// Values of fields by name, row by row.
struct ByName {
    id: ComponentId,
    rows: std::vec::IntoIter<Option<Vec<(String, FieldValue)>>>,
}

impl Rows for ByName {
    fn insert_next(&mut self, world: &mut World, entity: Entity) {
        let Some(fields) = self.rows.next().flatten() else { return };
        let id = self.id;
        world.commands().queue(move |world: &mut World| {
            world.insert_default(entity, id)?;
            for (name, value) in fields {
                match value {
                    FieldValue::Scalar(value) => world.set_field(entity, id, &name, value)?,
                    FieldValue::Text(text) => world.set_field_text(entity, id, &name, text)?,
                }
            }
            Ok::<(), phalanx::world::FieldError>(())
        });
    }
}
