//! What a save says, in whatever format it came: names, entities and runs of values that were not looked at yet.
//!
//! The formats are read into this, and `decode` and `build` make a world of it. Positions among the components are
//! checked when the image is made; nothing else is.

use phalanx_store::{DirectoryState, Entity};

use crate::codec::ValueSource;
use crate::messages::ChannelState;
use crate::schema::StorageKind;
use crate::value::FieldType;

/// What a save says.
#[derive(Clone, Default)]
pub(super) struct Image {
    pub(super) components: Vec<ComponentImage>,
    pub(super) pools: Vec<String>,
    pub(super) directory: DirectoryState,
    pub(super) tables: Vec<TableImage>,
    pub(super) sets: Vec<SetImage>,
    pub(super) groups: Vec<GroupImage>,
    pub(super) resources: Vec<ResourceImage>,
    pub(super) messages: Vec<MessageImage>,
    pub(super) kept: Vec<KeptImage>,
}

#[derive(Clone)]
pub(super) struct ComponentImage {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) storage: StorageKind,
    /// The fields of a component that was described at run time.
    pub(super) fields: Option<Vec<(String, FieldType)>>,
}

#[derive(Clone)]
pub(super) struct TableImage {
    /// The position among the pools plus one; 0 for General.
    pub(super) pool: usize,
    pub(super) components: Vec<usize>,
    pub(super) entities: Vec<Entity>,
    /// Beside `components`.
    pub(super) columns: Vec<ValueSource>,
}

#[derive(Clone)]
pub(super) struct SetImage {
    pub(super) component: usize,
    pub(super) entities: Vec<Entity>,
    pub(super) holes: Vec<u32>,
    pub(super) column: ValueSource,
}

#[derive(Clone)]
pub(super) struct GroupImage {
    pub(super) owned: Vec<usize>,
    pub(super) seen: Vec<usize>,
    pub(super) without: Vec<usize>,
    pub(super) order: Option<Vec<Entity>>,
}

#[derive(Clone)]
pub(super) struct ResourceImage {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) value: ValueSource,
}

#[derive(Clone)]
pub(super) struct MessageImage {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) state: ChannelState,
    pub(super) values: ValueSource,
}

#[derive(Clone)]
pub(super) struct KeptImage {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) readable: bool,
    pub(super) entities: Vec<Entity>,
    pub(super) values: ValueSource,
}

/// The names of storage kinds, by their numbers.
pub(super) const STORAGE: [(StorageKind, &str); 3] =
    [(StorageKind::Table, "table"), (StorageKind::Sparse, "sparse"), (StorageKind::Stable, "stable")];

/// The types of fields that are described at run time, by their numbers.
pub(super) const FIELD_TYPES: [FieldType; 12] = [
    FieldType::F32,
    FieldType::F64,
    FieldType::U8,
    FieldType::U16,
    FieldType::U32,
    FieldType::U64,
    FieldType::I8,
    FieldType::I16,
    FieldType::I32,
    FieldType::I64,
    FieldType::Bool,
    FieldType::Entity,
];
