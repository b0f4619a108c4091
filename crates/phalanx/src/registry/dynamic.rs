//! Components registered at run time, from a schema.
//!
//! Each field gets a column that the process knows by schema name, field name and type, so that worlds
//! with equal schemas share column ids and registering in ever new worlds does not use ids up.

use std::borrow::Cow;
use std::fmt::Debug;

use phalanx_store::{AnyColId, Col, ColId, Duplicate, Entity, Init};

use super::{ComponentId, ComponentInfo, Components, FieldInfo, RegisterError, index_of};
use crate::capture::{Capture, ColumnCapture, Copying, Digest, DigestHasher, Digestible, Shown};
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
        let mut captures = Vec::new();
        for (name, scalar) in schema.iter() {
            let (column, init, capture) = scalar_column(schema.name(), name, scalar);
            captures.push(capture);
            fields.push(FieldInfo { name: Cow::Owned(name.to_owned()), column, scalar: Some(scalar) });
            inits.push(init);
        }
        if fields.is_empty() {
            let column = ColId::<()>::named(schema.name());
            fields.push(FieldInfo { name: Cow::Borrowed(""), column: column.any(), scalar: None });
            inits.push(Init::new(column, |_| Col(())));
            captures.push(scalar_capture(column));
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
            value: None,
            storage: schema.storage_kind(),
            set: match schema.storage_kind() {
                StorageKind::Table => None,
                StorageKind::Sparse => Some(|store, columns| (store.declare_set(columns), None)),
                StorageKind::Stable => Some(|store, columns| (store.declare_stable_set(columns), None)),
            },
            schema: Some(schema),
            attached: Vec::new(),
            captures,
            type_id: None,
            any: None,
            in_place: false,
            #[cfg(feature = "serde")]
            saving: None,
        })
    }
}

/// What can be done with a column of scalars: everything.
fn scalar_capture<T: Copy + Digestible + Debug + Send + Sync + 'static>(id: ColId<T>) -> ColumnCapture {
    let digest = |value: &T, hasher: &mut DigestHasher| {
        value.digest(hasher);
        true
    };
    let show = |value: &T, fields: &mut Vec<Shown>| {
        let digest = Some(Digest::of(value));
        fields.push(Shown { digest, text: Some(format!("{value:?}")), ..Shown::unknown::<T>("") });
    };
    let copying = Copying::By(Duplicate::bytes());
    ColumnCapture::new(id, Capture::none().copying(copying).digesting(digest, show))
}

fn scalar_column(schema: &str, field: &str, scalar: FieldType) -> (AnyColId, Init, ColumnCapture) {
    fn column<T: Scalar + Digestible + Debug>(name: &str) -> (AnyColId, Init, ColumnCapture) {
        let id = ColId::<T>::named(name);
        (id.any(), Init::new(id, |_| Col(T::ZERO)), scalar_capture(id))
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
