//! What a type tells a world about itself when it is registered.
//!
//! `AnyComponent::describe` fills a [`Descriptor`]; the registry reads it once per world. Nothing here runs
//! per entity, so plain vectors and boxes are fine.

use std::any::{Any, TypeId};
use std::borrow::Cow;

use super::AnyComponent;
use crate::capture::{Capture, ColumnCapture};
use crate::fields::{DebugFn, Fields, ValueField, WholeValue};
use crate::registry::ComponentId;
use crate::registry::{Components, RegisterError};
use crate::schema::StorageKind;
use crate::storage::Storage;
use phalanx_store::{AnyColId, ColId, ErasedColumn, Init, SetId, SetPlan, Store, Tick};

/// How a component is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// A type without data: presence only.
    Tag,
    /// One column of whole values.
    Whole,
    /// One column per field.
    Fields,
}

/// How precisely writes to a component are remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Track {
    /// Not at all.
    None,
    /// The tick of the last write per block of 1,024 rows.
    #[default]
    Block,
    /// Per block, and for each row when it was added and when it was last changed.
    Row,
}

/// One column of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDescriptor {
    /// The field's name; empty for the single column of a tag or whole component.
    pub name: Cow<'static, str>,
    /// The column.
    pub column: AnyColId,
}

/// A component that is added when it is missing, and how its value is made.
pub struct Requirement {
    pub(crate) register: fn(&mut Components) -> Result<ComponentId, RegisterError>,
    pub(crate) init: Init,
}

/// The description of a component type, filled by `AnyComponent::describe`.
pub struct Descriptor {
    pub(crate) name: Cow<'static, str>,
    pub(crate) layout: Layout,
    pub(crate) track: Track,
    pub(crate) fields: Vec<FieldDescriptor>,
    pub(crate) ticks: Option<(AnyColId, AnyColId)>,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) storage: StorageKind,
    pub(crate) set: Option<DeclareSet>,
    pub(crate) value: Option<WholeValue>,
    pub(crate) default: Option<Init>,
    pub(crate) attached: Vec<Attached>,
    /// In the order of the fields' columns.
    pub(crate) captures: Vec<ColumnCapture>,
    pub(crate) type_id: Option<TypeId>,
    /// How values that are kept whole are reached without naming their type.
    pub(crate) any: Option<ErasedColumn>,
    /// Whether these are written in place.
    pub(crate) in_place: bool,
    #[cfg(feature = "serde")]
    pub(crate) saving: Option<super::ComponentSaving>,
}

/// Something that a component declares, and that code above the registry understands.
pub(crate) type Attached = Box<dyn Any + Send + Sync>;

/// Declares a sparse component's set to a store, and plans how values of a Rust type go in and out.
pub(crate) type DeclareSet = fn(&mut Store, &[AnyColId]) -> (SetId, Option<SetPlan>);

impl Descriptor {
    pub(crate) fn new() -> Self {
        Self {
            name: Cow::Borrowed(""),
            layout: Layout::Whole,
            track: Track::Block,
            fields: Vec::new(),
            ticks: None,
            requirements: Vec::new(),
            storage: StorageKind::Table,
            set: None,
            value: None,
            default: None,
            attached: Vec::new(),
            captures: Vec::new(),
            type_id: None,
            any: None,
            in_place: false,
            #[cfg(feature = "serde")]
            saving: None,
        }
    }

    /// Sets the name, which must be unique in a world.
    pub fn name(&mut self, name: impl Into<Cow<'static, str>>) -> &mut Self {
        self.set_name(name.into());
        self
    }

    #[inline(never)]
    fn set_name(&mut self, name: Cow<'static, str>) {
        self.name = name;
    }

    /// Declares a type without data, with the column that marks its presence.
    pub fn tag(&mut self, column: AnyColId) -> &mut Self {
        self.layout = Layout::Tag;
        self.push("", column)
    }

    /// Declares one column of whole values.
    pub fn whole(&mut self, column: AnyColId) -> &mut Self {
        self.layout = Layout::Whole;
        self.push("", column)
    }

    /// Declares that values are kept whole, in this column, so that they can be lent without naming their type.
    pub fn any<C: Send + Sync + 'static>(&mut self, column: ColId<C>) -> &mut Self {
        self.in_place = true;
        self.any_shared(column)
    }

    /// As [`Descriptor::any`], of values that are lent to be read and never written in place.
    pub fn any_shared<C: Send + Sync + 'static>(&mut self, column: ColId<C>) -> &mut Self {
        self.any = Some(ErasedColumn::of(column));
        self
    }

    /// Declares the next field and its column.
    pub fn field(&mut self, name: impl Into<Cow<'static, str>>, column: AnyColId) -> &mut Self {
        self.layout = Layout::Fields;
        self.push(name, column)
    }

    /// Tells which fields a whole value has, in the order of [`Fields`], and how a value is printed, if it can be.
    pub fn value<C: Fields>(&mut self, fields: &[ValueField], debug: Option<DebugFn>) -> &mut Self {
        self.set_value(WholeValue::of::<C>(fields, debug));
        self
    }

    #[inline(never)]
    fn set_value(&mut self, value: WholeValue) {
        self.value = Some(value);
    }

    /// Tells how a value is made from nothing, if it can be.
    pub fn default_value(&mut self, init: Option<Init>) -> &mut Self {
        self.default = init;
        self
    }

    /// Sets how writes are tracked.
    pub fn track(&mut self, track: Track) -> &mut Self {
        self.track = track;
        self
    }

    /// Declares the two columns of row ticks, which implies [`Track::Row`].
    pub fn row_ticks(&mut self, added: AnyColId, changed: AnyColId) -> &mut Self {
        self.track = Track::Row;
        self.ticks = Some((added, changed));
        self
    }

    /// Tells what can be done with the values of the next column, in the order in which columns were declared.
    pub fn capture<T: Send + Sync + 'static>(&mut self, column: ColId<T>, capture: Capture<T>) -> &mut Self {
        self.push_capture(ColumnCapture::new(column, capture));
        self
    }

    #[inline(never)]
    fn push_capture(&mut self, capture: ColumnCapture) {
        self.captures.push(capture);
    }

    /// Declares that the component lives where `C::Storage` says.
    pub fn storage<C: AnyComponent>(&mut self) -> &mut Self {
        if let Some((storage, declare)) = C::Storage::declaration::<C>() {
            self.storage = storage;
            self.set = Some(declare);
        }
        self
    }

    /// Declares that values of the component are saved.
    #[cfg(feature = "serde")]
    pub fn saved<C: super::Saved>(&mut self) -> &mut Self {
        self.saving = Some(super::ComponentSaving::of::<C>());
        self
    }

    /// Requires `C` beside this component; `make` gives its value where it is missing.
    pub fn require<C: AnyComponent>(&mut self, make: fn() -> C) -> &mut Self {
        self.requirements.push(Requirement {
            register: Components::register::<C>,
            init: Init::new(C::column_ids(), move |now: Tick| make().into_column_values(now)),
        });
        self
    }

    /// Attaches a declaration that the registry only keeps, such as the hooks of the component.
    pub fn attach<T: Any + Send + Sync>(&mut self, declaration: T) -> &mut Self {
        self.attached.push(Box::new(declaration));
        self
    }

    fn push(&mut self, name: impl Into<Cow<'static, str>>, column: AnyColId) -> &mut Self {
        self.fields.push(FieldDescriptor { name: name.into(), column });
        self
    }
}
