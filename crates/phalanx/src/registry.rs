//! The components a world knows: ids, names, columns, requirements.
//!
//! A component is registered when it is first used, or by [`World::register_component`](crate::World::register_component);
//! its id is a number that is good for that world alone. Names are unique in a world, for typed and run-time
//! components alike.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Component)]
//! struct Health(f32);
//!
//! let mut world = World::new();
//! let id = world.register_component::<Health>();
//! assert_eq!(world.component_id::<Health>(), Some(id));
//! assert!(world.components().get_info(id).unwrap().name().ends_with("Health"));
//! ```

// Ids are given in order of registration, from 0, by each world for itself. A typed component finds its
// id through the process-wide id of its first column: one array read, no hash. Names are unique in a
// world, for typed and run-time components alike.
//
// Registering never half-happens: when a component or one that it requires cannot be registered, the
// registry is as it was before.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt;

use hashbrown::{Equivalent, HashMap};
use phalanx_store::{AnyColId, ColId, Duplicate, ErasedColumn, Init, Tick};

use crate::capture::{Capture, ColumnCapture, Copying};
use crate::component::{AnyComponent, Attached, Copier, DeclareSet, Descriptor, Layout, Track};
use crate::fields::{FieldKind, NamedField, ValueField, WholeValue};
use crate::schema::{Schema, SchemaError, StorageKind};
use crate::signature::Signature;
use crate::steps;
use crate::value::FieldType;

mod dynamic;
mod required;

/// The id of a component in one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(u32);

impl ComponentId {
    /// The id as an array position.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 components"))
    }
}

/// One column of a component.
#[derive(Clone, Debug)]
pub struct FieldInfo {
    pub(crate) name: Cow<'static, str>,
    pub(crate) column: AnyColId,
    pub(crate) scalar: Option<FieldType>,
}

impl FieldInfo {
    /// The field's name; empty for the single column of a tag or whole component.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column that holds the field.
    pub fn column(&self) -> AnyColId {
        self.column
    }

    /// The field's type, when it is one that values of run-time components can have.
    pub fn scalar(&self) -> Option<FieldType> {
        self.scalar
    }
}

/// What a world knows of one component.
#[derive(Debug)]
pub struct ComponentInfo {
    id: ComponentId,
    name: Cow<'static, str>,
    layout: Layout,
    track: Track,
    fields: Vec<FieldInfo>,
    /// Positions in `fields`, by name.
    index: HashMap<Cow<'static, str>, usize>,
    columns: Vec<AnyColId>,
    required: Vec<(ComponentId, Init)>,
    schema: Option<Schema>,
    /// How the zero values of a run-time component are made, or the default value of a type that has one.
    defaults: Vec<Init>,
    storage: StorageKind,
    set: Option<DeclareSet>,
    /// The fields of a whole value, and how they are reached.
    value: Option<WholeValue>,
    attached: Vec<Attached>,
    /// What can be done with the values of each field.
    captures: Vec<ColumnCapture>,
    type_id: Option<TypeId>,
    any: Option<ErasedColumn>,
    /// Whether values are written in place without naming their type.
    in_place: bool,
    #[cfg(feature = "serde")]
    saving: Option<crate::component::ComponentSaving>,
}

impl ComponentInfo {
    /// The component's id.
    pub fn id(&self) -> ComponentId {
        self.id
    }

    /// The component's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How values are laid out.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// How writes are tracked.
    pub fn track(&self) -> Track {
        self.track
    }

    /// The fields in order of declaration; a whole component has one without a name.
    pub fn fields(&self) -> &[FieldInfo] {
        &self.fields
    }

    /// The field with this name, found at once however many there are.
    pub fn field(&self, name: &str) -> Option<&FieldInfo> {
        self.index.get(&Named(name)).map(|&at| &self.fields[at])
    }

    /// The fields that tools can name: those with a column of their own, or the parts of a whole value. Up to 64 of
    /// these are listed; arrays and tuples are taken apart, enums and packed structs have none.
    pub fn named_fields(&self) -> impl Iterator<Item = NamedField<'_>> {
        let columns = self.fields.iter().filter(|_| self.layout == Layout::Fields).map(|field| NamedField {
            name: field.name(),
            type_name: field.column.type_name(),
            kind: field.scalar.map_or_else(|| text_or_other(field.column), FieldKind::Scalar),
        });
        let parts = self.value.iter().flat_map(|value| &value.fields).map(ValueField::named);
        columns.chain(parts)
    }

    /// Whether values can be made from nothing: those of tags, run-time components, and types with `Default`.
    pub fn has_default(&self) -> bool {
        !self.defaults.is_empty()
    }

    pub(crate) fn value(&self) -> Option<&WholeValue> {
        self.value.as_ref()
    }

    /// All columns: those of the fields, then those of row ticks.
    pub fn columns(&self) -> &[AnyColId] {
        &self.columns
    }

    /// The column of the ticks at which each row was last written, where the component keeps them.
    pub(crate) fn changed_column(&self) -> Option<ColId<Tick>> {
        self.columns.last().filter(|_| self.track == Track::Row)?.typed()
    }

    /// The columns of the ticks at which each row received the component and was last written, where it keeps them.
    pub(crate) fn tick_columns(&self) -> Option<(ColId<Tick>, ColId<Tick>)> {
        let added = self.columns.len().checked_sub(2).filter(|_| self.track == Track::Row)?;
        Some((self.columns[added].typed()?, self.changed_column()?))
    }

    /// The required components, nearest first, directly required ones only.
    pub fn required(&self) -> impl Iterator<Item = ComponentId> + '_ {
        self.required.iter().map(|(id, _)| *id)
    }

    /// The schema of a component that was registered at run time.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// Where values are kept.
    pub fn storage(&self) -> StorageKind {
        self.storage
    }

    /// Whether the component lives in a sparse set.
    pub fn is_sparse(&self) -> bool {
        self.set.is_some()
    }

    /// What can be done with the values of each field, in their order; shorter where nothing was given.
    pub(crate) fn captures(&self) -> &[ColumnCapture] {
        &self.captures
    }

    /// The Rust type, of a component that has one.
    pub fn type_id(&self) -> Option<TypeId> {
        self.type_id
    }

    /// How values are read without naming their type, where they are kept whole.
    pub(crate) fn any_access(&self) -> Option<ErasedColumn> {
        self.any
    }

    /// As [`ComponentInfo::any_access`], to write them in place.
    pub(crate) fn any_access_mut(&self) -> Option<ErasedColumn> {
        self.any.filter(|_| self.in_place)
    }

    /// How values are saved, where they are.
    #[cfg(feature = "serde")]
    pub(crate) fn saving(&self) -> Option<crate::component::ComponentSaving> {
        self.saving
    }

    pub(crate) fn declare_set(&self) -> Option<DeclareSet> {
        self.set
    }

    /// What the component declares of a type, for code that understands it.
    pub(crate) fn attached<T: Any>(&self) -> Option<&T> {
        self.attached.iter().find_map(|declaration| declaration.downcast_ref())
    }

    /// How a run-time component's zero values are made, column by column, or a type's default value.
    pub(crate) fn defaults(&self) -> &[Init] {
        &self.defaults
    }
}

/// Why a component cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another component has the name.
    NameTaken {
        /// The name that two components claim.
        name: String,
    },
    /// A schema of the same name is registered with other fields.
    OtherSchema {
        /// The schema's name.
        name: String,
    },
    /// The schema itself is wrong.
    Schema(SchemaError),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { name } => write!(
                f,
                "another component is registered as `{name}`: give one of them a name with #[component(name = \"..\")]"
            ),
            Self::OtherSchema { name } => {
                write!(
                    f,
                    "`{name}` is registered with other fields: use the registered schema or another name"
                )
            }
            Self::Schema(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RegisterError {}

impl From<SchemaError> for RegisterError {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

/// Why a component cannot be made to require another one at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequiredComponentsError {
    /// It requires the other one already.
    Duplicate {
        /// The component's name.
        component: String,
        /// The name of the one to be required.
        required: String,
    },
    /// The other one requires it.
    Cycle {
        /// The component's name.
        component: String,
        /// The name of the one to be required.
        required: String,
    },
    /// The component was spawned, inserted or removed before.
    InUse {
        /// The component's name.
        component: String,
    },
    /// A component cannot be registered.
    Register(RegisterError),
}

impl fmt::Display for RequiredComponentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { component, required } => {
                write!(f, "`{component}` requires `{required}` already: register the requirement once")
            }
            Self::Cycle { component, required } => {
                write!(f, "`{component}` cannot require `{required}`, which requires it: drop one of the two")
            }
            Self::InUse { component } => write!(
                f,
                "`{component}` was used before, so entities may lack what it is to require: register requirements \
                 before the first entity gets it"
            ),
            Self::Register(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RequiredComponentsError {}

/// The components of one world.
#[derive(Default)]
pub struct Components {
    infos: Vec<ComponentInfo>,
    /// Indexed by a component's first column: its id plus one.
    by_column: Vec<u32>,
    by_name: HashMap<String, ComponentId>,
    sparse: Signature,
    /// The components that hide their entities from queries which do not mention them: first column and name.
    disabling: Vec<(AnyColId, &'static str)>,
}

impl Components {
    /// How many components are registered.
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Whether no component is registered.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    /// All components, in order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &ComponentInfo> {
        self.infos.iter()
    }

    /// What is known of a component.
    pub fn get_info(&self, id: ComponentId) -> Option<&ComponentInfo> {
        self.infos.get(id.index())
    }

    pub(crate) fn info(&self, id: ComponentId) -> &ComponentInfo {
        self.get_info(id).expect("an id of this world names a registered component")
    }

    /// The component registered under a name.
    pub fn by_name(&self, name: &str) -> Option<ComponentId> {
        self.by_name.get(&Named(name)).copied()
    }

    /// The name of a component.
    pub fn get_name(&self, id: ComponentId) -> Option<&str> {
        self.get_info(id).map(ComponentInfo::name)
    }

    /// The id of a typed component, if it is registered.
    #[inline]
    pub fn component_id<C: AnyComponent>(&self) -> Option<ComponentId> {
        self.by_key(C::key())
    }

    /// The id of the component of this type, if it is registered. Looks at all of them.
    pub fn get_id(&self, type_id: TypeId) -> Option<ComponentId> {
        self.infos.iter().find(|info| info.type_id == Some(type_id)).map(ComponentInfo::id)
    }

    /// The components that live in sparse sets.
    pub(crate) fn sparse(&self) -> &Signature {
        &self.sparse
    }

    /// The components that hide their entities from queries which do not mention them: first column and name.
    pub(crate) fn disabling(&self) -> &[(AnyColId, &'static str)] {
        &self.disabling
    }

    /// Lets a component hide its entities; false when it does already.
    pub(crate) fn add_disabling(&mut self, id: ComponentId, name: &'static str) -> bool {
        let key = self.info(id).columns()[0];
        let is_new = self.disabling.iter().all(|(known, _)| *known != key);
        if is_new {
            self.disabling.push((key, name));
        }
        is_new
    }

    /// The component that a column belongs to.
    pub(crate) fn of_column(&self, column: AnyColId) -> Option<&ComponentInfo> {
        self.infos.iter().find(|info| info.columns.contains(&column))
    }

    #[inline]
    pub(crate) fn by_key(&self, key: AnyColId) -> Option<ComponentId> {
        match self.by_column.get(key.index()) {
            None | Some(0) => None,
            Some(id) => Some(ComponentId(id - 1)),
        }
    }

    /// Registers a typed component and those it requires, and returns its id, the same in every call.
    ///
    /// # Errors
    /// When another component has one of the names.
    pub fn register<C: AnyComponent>(&mut self) -> Result<ComponentId, RegisterError> {
        match self.component_id::<C>() {
            Some(id) => Ok(id),
            None => self.register_new(about::<C>),
        }
    }

    fn register_new(&mut self, about: fn(&mut Descriptor)) -> Result<ComponentId, RegisterError> {
        let mut descriptor = Descriptor::new();
        about(&mut descriptor);
        self.add_or_forget(descriptor)
    }

    /// As `add`; after an error nothing has changed.
    fn add_or_forget(&mut self, descriptor: Descriptor) -> Result<ComponentId, RegisterError> {
        let before = self.len();
        self.add(descriptor).inspect_err(|_| self.forget_after(before))
    }

    /// Says how values of a whole component are copied.
    pub(crate) fn set_copy<T: 'static>(&mut self, id: ComponentId, copy: Duplicate<T>) {
        let info = &mut self.infos[id.index()];
        if let Some(changed) = info.captures.first().and_then(|capture| capture.0.with_copy(&copy)) {
            info.captures[0] = changed;
        }
    }

    fn add(&mut self, descriptor: Descriptor) -> Result<ComponentId, RegisterError> {
        let fields: Vec<FieldInfo> = descriptor.fields.into_iter().map(field_info).collect();
        let ticks = descriptor.ticks.into_iter().flat_map(|(added, changed)| [added, changed]);
        let tick = |column: AnyColId| {
            let copying = Copying::By(Duplicate::bytes());
            let capture = Capture::<Tick>::none().copying(copying).without_digest();
            ColumnCapture::new(column.typed().expect("row ticks are ticks"), capture)
        };
        let mut captures = descriptor.captures;
        if captures.len() == fields.len() {
            captures.extend(ticks.clone().map(tick));
        }
        let changed = descriptor.ticks.map(|(_, changed)| changed.typed().expect("row ticks are ticks"));
        // Tags have no value that could be written.
        let marks = descriptor.track != Track::None && descriptor.layout != Layout::Tag;
        let any = descriptor.any.map(|column| column.marking(marks, changed));
        let info = ComponentInfo {
            id: ComponentId::from_index(self.len()),
            name: descriptor.name,
            layout: descriptor.layout,
            track: descriptor.track,
            columns: fields.iter().map(|field| field.column).chain(ticks).collect(),
            index: index_of(&fields),
            fields,
            required: Vec::new(),
            schema: None,
            defaults: descriptor.default.into_iter().collect(),
            value: descriptor.value,
            storage: descriptor.storage,
            set: descriptor.set,
            attached: descriptor.attached,
            captures,
            type_id: descriptor.type_id,
            any,
            in_place: descriptor.in_place,
            #[cfg(feature = "serde")]
            saving: descriptor.saving,
        };
        let id = self.insert(info)?;
        // The component is known by now, so a cycle of requirements ends here.
        for requirement in descriptor.requirements {
            let required = (requirement.register)(self)?;
            self.infos[id.index()].required.push((required, requirement.init));
        }
        Ok(id)
    }

    fn insert(&mut self, info: ComponentInfo) -> Result<ComponentId, RegisterError> {
        if self.by_name.contains_key(info.name()) {
            return Err(RegisterError::NameTaken { name: info.name().to_owned() });
        }
        let (id, key) = (info.id, info.columns[0].index());
        if self.by_column.len() <= key {
            self.by_column.resize(key + 1, 0);
        }
        self.by_column[key] = id.0 + 1;
        self.by_name.insert(info.name().to_owned(), id);
        if info.is_sparse() {
            self.sparse = self.sparse.with(id);
        }
        self.infos.push(info);
        Ok(id)
    }

    fn forget_after(&mut self, count: usize) {
        for info in self.infos.drain(count..) {
            self.by_column[info.columns[0].index()] = 0;
            self.by_name.remove(info.name());
            self.sparse = self.sparse.without(info.id);
        }
    }
}

/// Tells all about a type.
fn about<C: AnyComponent>(descriptor: &mut Descriptor) {
    C::describe(descriptor);
    descriptor.storage::<C>();
    descriptor.attach(Copier::of::<C>());
    descriptor.type_id = Some(TypeId::of::<C>());
}

/// A name that is looked for. Comparing it with one that is known is a step.
#[derive(Hash)]
struct Named<'a>(&'a str);

impl<K: AsRef<str>> Equivalent<K> for Named<'_> {
    fn equivalent(&self, known: &K) -> bool {
        steps::count();
        self.0 == known.as_ref()
    }
}

/// The positions of fields by name.
fn index_of(fields: &[FieldInfo]) -> HashMap<Cow<'static, str>, usize> {
    fields.iter().enumerate().map(|(at, field)| (field.name.clone(), at)).collect()
}

/// The kind of a column that holds no scalar.
fn text_or_other(column: AnyColId) -> FieldKind {
    match FieldKind::of_id(column.type_id()) {
        FieldKind::Text => FieldKind::Text,
        _ => FieldKind::Other,
    }
}

fn field_info(field: crate::component::FieldDescriptor) -> FieldInfo {
    FieldInfo { scalar: FieldType::of_id(field.column.type_id()), name: field.name, column: field.column }
}
