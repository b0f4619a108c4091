//! The shape of a component that is registered at run time: a name, and named fields of scalar types.
//!
//! A schema is put together by chained calls and checked as a whole by [`Schema::validate`], which the
//! world calls when the schema is registered; until then it may hold names that are empty or repeated.
//! Fields keep the order they were declared in, which is the order of their columns; the index by name
//! points at the first field of that name. A schema without fields is a tag.
//! This file knows neither ids nor columns.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use hashbrown::HashMap;

pub use crate::value::FieldType;

/// Where the values of a component are kept.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// world.register_dynamic(Schema::new("stunned").field("left", FieldType::F32).storage(StorageKind::Sparse))?;
/// # Ok::<(), phalanx::RegisterError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageKind {
    /// In the table of their entity.
    #[default]
    Table,
    /// In a sparse set.
    Sparse,
    /// In a sparse set whose rows stay where they are when others go.
    Stable,
}

/// The description of a run-time component.
///
/// ```
/// # use phalanx::prelude::*;
/// let schema = Schema::new("hp").field("current", FieldType::I32).field("max", FieldType::I32);
/// let mut world = World::new();
/// let hp = world.register_dynamic(schema)?;
/// assert_eq!(world.register_dynamic(Schema::new("hp").field("current", FieldType::I32).field("max", FieldType::I32))?, hp);
/// # Ok::<(), phalanx::RegisterError>(())
/// ```
#[derive(Clone)]
pub struct Schema {
    name: Cow<'static, str>,
    storage: StorageKind,
    fields: Vec<(Cow<'static, str>, FieldType)>,
    index: HashMap<Cow<'static, str>, usize>,
}

impl Schema {
    /// A schema without fields yet. One that gets none is that of a tag.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), storage: StorageKind::Table, fields: Vec::new(), index: HashMap::new() }
    }

    /// Says where values are kept; in tables by default.
    #[must_use]
    pub fn storage(mut self, storage: StorageKind) -> Self {
        self.storage = storage;
        self
    }

    /// Adds a field after those declared so far.
    #[must_use]
    pub fn field(mut self, name: impl Into<Cow<'static, str>>, field_type: FieldType) -> Self {
        let name = name.into();
        self.index.entry(name.clone()).or_insert(self.fields.len());
        self.fields.push((name, field_type));
        self
    }

    /// Adds fields, each with its own type.
    #[must_use]
    pub fn fields<N: Into<Cow<'static, str>>>(
        self,
        fields: impl IntoIterator<Item = (N, FieldType)>,
    ) -> Self {
        fields.into_iter().fold(self, |schema, (name, field_type)| schema.field(name, field_type))
    }

    /// Adds fields that all have one type.
    #[must_use]
    pub fn uniform<N: Into<Cow<'static, str>>>(
        self,
        field_type: FieldType,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        names.into_iter().fold(self, |schema, name| schema.field(name, field_type))
    }

    /// Adds `f64` fields: the shorthand when only the names matter.
    #[must_use]
    pub fn f64s<N: Into<Cow<'static, str>>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.uniform(FieldType::F64, names)
    }

    /// Checks that every name is there, and each field name once.
    ///
    /// # Errors
    /// The first thing that is wrong, in declaration order.
    pub fn validate(&self) -> Result<(), SchemaError> {
        if self.name.is_empty() {
            return Err(SchemaError::EmptyName);
        }
        for (position, (name, _)) in self.fields.iter().enumerate() {
            if name.is_empty() {
                return Err(SchemaError::EmptyFieldName { schema: self.name.to_string(), position });
            }
            if self.index[name] != position {
                return Err(SchemaError::DuplicateField {
                    schema: self.name.to_string(),
                    field: name.to_string(),
                });
            }
        }
        Ok(())
    }

    /// The name of the component.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where values are kept.
    pub fn storage_kind(&self) -> StorageKind {
        self.storage
    }

    /// The fields with their types, in declaration order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, FieldType)> + Clone {
        self.fields.iter().map(|(name, field_type)| (&**name, *field_type))
    }

    /// The names of the fields, in declaration order.
    pub fn field_names(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.fields.iter().map(|(name, _)| &**name)
    }

    /// The position of a field, or `None` when there is none of that name. O(1).
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// The type of a field, or `None` when there is none of that name. O(1).
    pub fn field_type(&self, name: &str) -> Option<FieldType> {
        self.field_index(name).map(|position| self.fields[position].1)
    }

    /// How many fields there are.
    #[allow(clippy::len_without_is_empty, reason = "a schema without fields is called a tag")]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no fields.
    pub fn is_tag(&self) -> bool {
        self.fields.is_empty()
    }
}

// The index follows from the fields, and its order in memory means nothing: it is neither compared nor shown.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.storage == other.storage && self.fields == other.fields
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("name", &self.name)
            .field("storage", &self.storage)
            .field("fields", &self.fields)
            .finish()
    }
}

/// Why a [`Schema`] cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema has no name.
    EmptyName,
    /// A field has no name.
    #[non_exhaustive]
    EmptyFieldName {
        /// The name of the schema.
        schema: String,
        /// The position of the field, from 0.
        position: usize,
    },
    /// Two fields have the same name.
    #[non_exhaustive]
    DuplicateField {
        /// The name of the schema.
        schema: String,
        /// The name both fields have.
        field: String,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyName => {
                write!(f, "a schema has an empty name; give it one that is unique in the world")
            }
            Self::EmptyFieldName { schema, position } => {
                write!(f, "field {position} of schema `{schema}` has an empty name; give it one")
            }
            Self::DuplicateField { schema, field } => {
                write!(f, "schema `{schema}` has two fields named `{field}`; rename or remove one")
            }
        }
    }
}

impl Error for SchemaError {}

#[cfg(test)]
mod tests {
    use super::*;
    use FieldType::{F32, F64, I32};

    // O-054, O-057, O-058, O-059.
    #[test]
    fn fields_keep_their_order_and_are_found_by_name() {
        let schema = Schema::new("hp").field("max", I32).field("current", F32).field(String::from("a"), I32);
        assert_eq!(schema.validate(), Ok(()));
        assert_eq!(schema.name(), "hp");
        assert_eq!(schema.field_names().collect::<Vec<_>>(), ["max", "current", "a"]);
        assert_eq!(schema.iter().collect::<Vec<_>>(), [("max", I32), ("current", F32), ("a", I32)]);
        assert_eq!(schema.field_index("current"), Some(1));
        assert_eq!(schema.field_type("current"), Some(F32));
        assert_eq!((schema.field_index("min"), schema.field_type("min")), (None, None));
        assert_eq!((schema.len(), schema.is_tag()), (3, false));
    }

    // O-055.
    #[test]
    fn names_alone_make_fields_of_one_type() {
        let spelled = Schema::new("p").fields([("x", F64), ("y", F64)]);
        assert_eq!(Schema::new("p").f64s(["x", "y"]), spelled);
        assert_eq!(Schema::new("p").uniform(F64, ["x", "y"]), spelled);
        assert_ne!(Schema::new("p").uniform(F32, ["x", "y"]), spelled);
        let owned = vec![String::from("x"), String::from("y")];
        assert_eq!(Schema::new(String::from("p")).f64s(owned), spelled);
    }

    // O-066.
    #[test]
    fn a_schema_without_fields_is_a_tag() {
        let tag = Schema::new("frozen");
        assert_eq!(tag.validate(), Ok(()));
        assert_eq!((tag.len(), tag.is_tag()), (0, true));
        assert_eq!(tag, Schema::new("frozen"));
    }

    #[test]
    fn schemas_differ_by_name_order_and_type() {
        let schema = Schema::new("p").fields([("x", F32), ("y", F64)]);
        assert_eq!(schema, schema.clone());
        assert_ne!(schema, Schema::new("q").fields([("x", F32), ("y", F64)]));
        assert_ne!(schema, Schema::new("p").fields([("y", F64), ("x", F32)]));
        assert_ne!(schema, Schema::new("p").fields([("x", F64), ("y", F64)]));
    }

    #[test]
    fn empty_schema_name_is_refused() {
        let error = Schema::new("").field("x", F32).validate().expect_err("the name is empty");
        assert_eq!(error, SchemaError::EmptyName);
    }

    #[test]
    fn empty_field_name_is_refused_with_its_schema_and_position() {
        let error = Schema::new("p").f64s(["x", ""]).validate().expect_err("a field name is empty");
        assert_eq!(error, SchemaError::EmptyFieldName { schema: "p".into(), position: 1 });
        assert_eq!(error.to_string(), "field 1 of schema `p` has an empty name; give it one");
    }

    #[test]
    fn repeated_field_name_is_refused_with_its_schema_and_name() {
        let schema = Schema::new("p").f64s(["x", "y", "z"]).field("y", F32);
        let error = schema.validate().expect_err("y is there twice");
        assert_eq!(error, SchemaError::DuplicateField { schema: "p".into(), field: "y".into() });
        assert_eq!(error.to_string(), "schema `p` has two fields named `y`; rename or remove one");
        assert_eq!(schema.field_type("y"), Some(F64), "the first of a name is found");
    }

    #[test]
    fn debug_shows_fields_in_declaration_order() {
        let shown = format!("{:?}", Schema::new("p").f64s(["b", "a"]));
        assert_eq!(shown, r#"Schema { name: "p", storage: Table, fields: [("b", F64), ("a", F64)] }"#);
    }
}
