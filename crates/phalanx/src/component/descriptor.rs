//! What a type tells a world about itself when it is registered.
//!
//! `AnyComponent::describe` fills a [`Descriptor`]; the registry reads it once per world. Nothing here runs
//! per entity, so plain vectors and boxes are fine.

use std::borrow::Cow;

use super::AnyComponent;
use crate::registry::ComponentId;
use crate::registry::{Components, RegisterError};
use crate::schema::StorageKind;
use crate::storage::Storage;
use phalanx_store::{AnyColId, Init, SetId, SetPlan, Store, Tick};

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

/// A component that comes along when it is missing, and how its value is made.
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
}

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
        }
    }

    /// Sets the name, which must be unique in a world.
    pub fn name(&mut self, name: impl Into<Cow<'static, str>>) -> &mut Self {
        self.name = name.into();
        self
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

    /// Declares the next field and its column.
    pub fn field(&mut self, name: impl Into<Cow<'static, str>>, column: AnyColId) -> &mut Self {
        self.layout = Layout::Fields;
        self.push(name, column)
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

    /// Declares that the component lives where `C::Storage` says.
    pub fn storage<C: AnyComponent>(&mut self) -> &mut Self {
        if C::Storage::SPARSE {
            self.storage = if C::Storage::STABLE { StorageKind::Stable } else { StorageKind::Sparse };
            self.set = Some(|store, columns| {
                let set = if C::Storage::STABLE {
                    store.declare_stable_set(columns)
                } else {
                    store.declare_set(columns)
                };
                let plan = store.set_plan::<C::Leaves>(set, C::leaf_ids());
                (set, Some(plan.expect("a component's leaves are its columns")))
            });
        }
        self
    }

    /// Requires `C` beside this component; `make` gives its value where it is missing.
    pub fn require<C: AnyComponent>(&mut self, make: fn() -> C) -> &mut Self {
        self.requirements.push(Requirement {
            register: Components::register::<C>,
            init: Init::new(C::leaf_ids(), move |now: Tick| make().into_leaves(now)),
        });
        self
    }

    fn push(&mut self, name: impl Into<Cow<'static, str>>, column: AnyColId) -> &mut Self {
        self.fields.push(FieldDescriptor { name: name.into(), column });
        self
    }
}
