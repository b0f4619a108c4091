//! Components registered at run time, from a schema.
//!
//! Each field gets a column that the process knows by schema name, field name and type, so that worlds
//! with equal schemas share column ids and registering in ever new worlds does not use ids up.

use std::borrow::Cow;

use phalanx_store::{AnyColId, Col, ColId, Entity, Init};

use super::{ComponentId, ComponentInfo, Components, FieldInfo, RegisterError, index_of};
use crate::component::{Layout, Track};
use crate::schema::{Schema, StorageKind};
use crate::value::{FieldType, Scalar};

impl Components {
    /// Registers a run-time component. The same schema again gives the same id.
    ///
    /// # Errors
    /// When the schema is wrong, or its name is taken by another component or another schema.
    pub fn register_schema(&mut self, schema: Schema) -> Result<ComponentId, RegisterError> {
        schema.validate()?;
        if let Some(id) = self.by_name(schema.name()) {
            return match self.info(id).schema() {
                Some(known) if *known == schema => Ok(id),
                Some(_) => Err(RegisterError::OtherSchema { name: schema.name().to_owned() }),
                None => Err(RegisterError::NameTaken { name: schema.name().to_owned() }),
            };
        }
        let mut fields = Vec::new();
        let mut inits = Vec::new();
        for (name, scalar) in schema.iter() {
            let (column, init) = scalar_column(schema.name(), name, scalar);
            fields.push(FieldInfo { name: Cow::Owned(name.to_owned()), column, scalar: Some(scalar) });
            inits.push(init);
        }
        if fields.is_empty() {
            let column = ColId::<()>::named(schema.name());
            fields.push(FieldInfo { name: Cow::Borrowed(""), column: column.any(), scalar: None });
            inits.push(Init::new(column, |_| Col(())));
        }
        self.insert(ComponentInfo {
            id: ComponentId::from_index(self.len()),
            name: Cow::Owned(schema.name().to_owned()),
            layout: if schema.is_tag() { Layout::Tag } else { Layout::Fields },
            track: Track::Block,
            columns: fields.iter().map(|field| field.column).collect(),
            index: index_of(&fields),
            fields,
            required: Vec::new(),
            defaults: inits,
            storage: schema.storage_kind(),
            set: match schema.storage_kind() {
                StorageKind::Table => None,
                StorageKind::Sparse => Some(|store, columns| (store.declare_set(columns), None)),
                StorageKind::Stable => Some(|store, columns| (store.declare_stable_set(columns), None)),
            },
            schema: Some(schema),
        })
    }
}

fn scalar_column(schema: &str, field: &str, scalar: FieldType) -> (AnyColId, Init) {
    fn column<T: Scalar>(name: &str) -> (AnyColId, Init) {
        let id = ColId::<T>::named(name);
        (id.any(), Init::new(id, |_| Col(T::ZERO)))
    }
    // No name can contain the separator by accident and mean another field.
    let name = format!("{schema}\0{field}");
    match scalar {
        FieldType::F32 => column::<f32>(&name),
        FieldType::F64 => column::<f64>(&name),
        FieldType::U8 => column::<u8>(&name),
        FieldType::U16 => column::<u16>(&name),
        FieldType::U32 => column::<u32>(&name),
        FieldType::U64 => column::<u64>(&name),
        FieldType::I8 => column::<i8>(&name),
        FieldType::I16 => column::<i16>(&name),
        FieldType::I32 => column::<i32>(&name),
        FieldType::I64 => column::<i64>(&name),
        FieldType::Bool => column::<bool>(&name),
        FieldType::Entity => column::<Entity>(&name),
    }
}
