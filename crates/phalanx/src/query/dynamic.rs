//! Queries built at run time, from component ids.
//!
//! A [`DynamicQuery`] is a filter by itself, a small value that can be kept and combined; what it matches
//! is kept by the world, once for all equal filters, however they were put together. Tables give their
//! columns by component and field name, checked by type. Which components are sparse is not known here: the
//! world asks for the part that archetypes decide, and looks the rest up entity by entity.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use phalanx_store::{AnyColId, ColId, Entity, Store, TableId};

use super::condition::Filter;
use crate::component::Layout;
use crate::fields::column_values;
use crate::registry::{ComponentId, ComponentInfo, Components};
use crate::signature::Signature;
use crate::value::Value;

/// Collects what a query built at run time asks for.
#[derive(Clone, Debug, Default)]
pub struct QueryBuilder {
    query: DynamicQuery,
}

impl QueryBuilder {
    /// An empty builder, which asks for nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Entities must have this component.
    #[must_use]
    pub fn with(self, id: ComponentId) -> Self {
        Self { query: self.query.and([id]) }
    }

    /// Entities must lack this component.
    #[must_use]
    pub fn without(self, id: ComponentId) -> Self {
        Self { query: self.query.not([id]) }
    }

    /// Entities may have this component or lack it: if it disables entities, they are visited.
    #[must_use]
    pub fn allow(self, id: ComponentId) -> Self {
        Self { query: self.query.allow([id]) }
    }

    /// Entities must have at least one of these components; none at all asks for nothing.
    #[must_use]
    pub fn any_of(self, ids: impl IntoIterator<Item = ComponentId>) -> Self {
        Self { query: self.query.any_of(ids) }
    }

    /// The query.
    pub fn build(self) -> DynamicQuery {
        self.query
    }
}

/// A query built at run time.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let hp = world.register_dynamic(Schema::new("hp").field("current", FieldType::I32))?;
/// let mut orc = world.spawn_empty();
/// orc.insert_dynamic(hp, &[("current", 10.into())])?;
/// let query = world.query_builder().with(hp).build();
/// for table in query.tables(&world) {
///     let current: &[i32] = table.column(hp, "current")?;
///     assert_eq!(current, [10]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicQuery {
    all: Signature,
    none: Signature,
    any_of: Vec<Signature>,
    /// Mentioned without being asked for.
    allowed: Signature,
    filter: Filter,
}

impl Default for DynamicQuery {
    fn default() -> Self {
        Self::new(Signature::empty(), Signature::empty(), Vec::new())
    }
}

impl DynamicQuery {
    fn new(all: Signature, none: Signature, any_of: Vec<Signature>) -> Self {
        let filter = Filter::from_parts(all.clone(), none.clone(), &any_of);
        Self { all, none, any_of, allowed: Signature::empty(), filter }
    }

    /// This query, for entities that have these components as well.
    #[must_use]
    pub fn and(&self, ids: impl IntoIterator<Item = ComponentId>) -> Self {
        self.derived(self.all.union(&Signature::from_ids(ids)), self.none.clone(), self.any_of.clone())
    }

    /// This query, for entities that lack these components.
    #[must_use]
    pub fn not(&self, ids: impl IntoIterator<Item = ComponentId>) -> Self {
        self.derived(self.all.clone(), self.none.union(&Signature::from_ids(ids)), self.any_of.clone())
    }

    /// This query, for entities that have at least one of these components; none at all asks for nothing.
    #[must_use]
    pub fn any_of(&self, ids: impl IntoIterator<Item = ComponentId>) -> Self {
        let group = Signature::from_ids(ids);
        let mut any_of = self.any_of.clone();
        if !group.is_empty() {
            any_of.push(group);
        }
        self.derived(self.all.clone(), self.none.clone(), any_of)
    }

    /// This query, for entities with and without these components: if they disable entities, they are visited.
    #[must_use]
    pub fn allow(&self, ids: impl IntoIterator<Item = ComponentId>) -> Self {
        Self { allowed: self.allowed.union(&Signature::from_ids(ids)), ..self.clone() }
    }

    fn derived(&self, all: Signature, none: Signature, any_of: Vec<Signature>) -> Self {
        Self { allowed: self.allowed.clone(), ..Self::new(all, none, any_of) }
    }

    /// The query that also asks for the lack of those components which disable entities and are not mentioned.
    pub(crate) fn enabled(&self, components: &Components) -> Cow<'_, Self> {
        let disabling = components.disabling().iter().filter_map(|(key, _)| components.by_key(*key));
        let mentions = |id: &ComponentId| {
            [&self.all, &self.none, &self.allowed].into_iter().chain(&self.any_of).any(|ids| ids.has(*id))
        };
        let unmentioned: Vec<ComponentId> = disabling.filter(|id| !mentions(id)).collect();
        if unmentioned.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(self.not(unmentioned)) }
    }

    /// What the query asks for, in normal form.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The components that every match has.
    pub(crate) fn required(&self) -> &Signature {
        &self.all
    }

    /// The part of the query that archetypes decide, when it asks for some of these sparse components; `None` when
    /// they decide all of it.
    pub(crate) fn table_part(&self, sparse: &Signature) -> Option<Self> {
        let asks = |ids: &Signature| ids.overlaps(sparse);
        if !asks(&self.all) && !asks(&self.none) && !self.any_of.iter().any(asks) {
            return None;
        }
        // A choice with a sparse component in it may be met by entities of any archetype.
        let any_of = self.any_of.iter().filter(|ids| !asks(ids)).cloned().collect();
        Some(Self::new(self.all.difference(sparse), self.none.difference(sparse), any_of))
    }

    /// Whether an entity matches, of which `has` tells the components.
    pub(crate) fn holds(&self, has: impl Fn(ComponentId) -> bool) -> bool {
        self.all.iter().all(&has)
            && !self.none.iter().any(&has)
            && self.any_of.iter().all(|ids| ids.iter().any(&has))
    }
}

/// Why a table has no such column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnError {
    /// The table's archetype lacks the component.
    NoComponent {
        /// The component asked for, by name where it is known.
        component: String,
    },
    /// The component lives in a sparse set.
    Sparse {
        /// The component's name.
        component: String,
    },
    /// The component has no such field.
    UnknownField {
        /// The component's name.
        component: String,
        /// The field asked for.
        field: String,
    },
    /// The column holds another type.
    WrongType {
        /// The component's name.
        component: String,
        /// The field asked for.
        field: String,
        /// The type that the column holds.
        holds: &'static str,
        /// The type asked for.
        asked: &'static str,
    },
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoComponent { component } => {
                write!(f, "this table has no `{component}`: ask for it with `with`")
            }
            Self::Sparse { component } => {
                write!(
                    f,
                    "`{component}` lives in a sparse set, not in tables: use `get_field` or `sparse_runs`"
                )
            }
            Self::UnknownField { component, field } => write!(f, "`{component}` has no field `{field}`"),
            Self::WrongType { component, field, holds, asked } => {
                write!(f, "column `{field}` of `{component}` holds {holds}, not {asked}")
            }
        }
    }
}

impl std::error::Error for ColumnError {}

/// Why a table that lacks a component has none of its columns.
fn lacking(info: &ComponentInfo) -> ColumnError {
    let component = info.name().to_owned();
    if info.is_sparse() { ColumnError::Sparse { component } } else { ColumnError::NoComponent { component } }
}

/// The column of a field, in a table of which `has` tells the columns.
pub(crate) fn find_column<T: Send + Sync + 'static>(
    components: &Components,
    has: impl FnOnce(AnyColId) -> bool,
    component: ComponentId,
    field: &str,
) -> Result<ColId<T>, ColumnError> {
    let Some(info) = components.get_info(component) else {
        return Err(ColumnError::NoComponent { component: format!("{component:?}") });
    };
    let name = || info.name().to_owned();
    // A whole component has one column, without a name of its own.
    let found = if info.layout() == Layout::Fields {
        info.field(field)
    } else {
        info.field("").filter(|_| field.is_empty())
    };
    let Some(found) = found else {
        return Err(ColumnError::UnknownField { component: name(), field: field.to_owned() });
    };
    let column: AnyColId = found.column();
    if !has(column) {
        return Err(lacking(info));
    }
    column.typed::<T>().ok_or_else(|| ColumnError::WrongType {
        component: name(),
        field: field.to_owned(),
        holds: column.type_name(),
        asked: std::any::type_name::<T>(),
    })
}

/// Rows of a table that a dynamic query matches, or of a sparse set, side by side.
#[derive(Clone, Copy)]
pub struct DynamicTable<'w> {
    pub(crate) store: &'w Store,
    pub(crate) components: &'w Components,
    pub(crate) table: TableId,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl<'w> DynamicTable<'w> {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row; tables without rows are not visited.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn rows(&self) -> Range<usize> {
        self.start..self.start + self.len
    }

    /// The entities of the rows.
    pub fn entities(&self) -> &'w [Entity] {
        &self.store.table_entities(self.table)[self.rows()]
    }

    /// A column, by component and field; the field of a whole component is `""`.
    ///
    /// # Errors
    /// When the table lacks the component, the component lacks the field, or the field is not a `T`.
    pub fn column<T: Send + Sync + 'static>(
        &self,
        component: ComponentId,
        field: &str,
    ) -> Result<&'w [T], ColumnError> {
        let has = |column| self.store.table_has(self.table, column);
        let id = find_column::<T>(self.components, has, component, field)?;
        Ok(self.store.column_rows(self.table, id, self.rows()).expect("the table was asked just now"))
    }

    /// Appends the values of a field that is a number, a bool or an entity, one for each of `rows` and in their order.
    /// The field may have a column of its own or be a part of whole values. For tools that look at many rows: component and
    /// field are looked up once, and no entity is.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health { current: f32, max: f32 }
    ///
    /// let mut world = World::new();
    /// let id = world.register_component::<Health>();
    /// for n in 0..3_u8 {
    ///     world.spawn(Health { current: n.into(), max: 10.0 });
    /// }
    /// let query = world.query_builder().with(id).build();
    /// let table = query.tables(&world).next().unwrap();
    /// let mut values = Vec::new();
    /// table.field_values(id, "current", [2, 0], &mut values).unwrap();
    /// assert_eq!(values, [Value::F32(2.0), Value::F32(0.0)]);
    /// ```
    ///
    /// # Errors
    /// When the table lacks the component, the component lacks the field, or the field is not a scalar.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn field_values(
        &self,
        component: ComponentId,
        field: &str,
        rows: impl IntoIterator<Item = usize>,
        out: &mut Vec<Value>,
    ) -> Result<(), ColumnError> {
        let Some(info) = self.components.get_info(component) else {
            return Err(ColumnError::NoComponent { component: format!("{component:?}") });
        };
        let name = || info.name().to_owned();
        let column = if info.layout() == Layout::Fields {
            info.field(field).map(|found| (found.column(), 0))
        } else {
            let at = info.named_fields().position(|known| known.name == field);
            at.and_then(|at| Some((*info.columns().first()?, at)))
        };
        let Some((column, at)) = column else {
            return Err(ColumnError::UnknownField { component: name(), field: field.to_owned() });
        };
        if !self.store.table_has(self.table, column) {
            return Err(lacking(info));
        }
        let mut rows = rows.into_iter();
        let all_scalar = match info.value() {
            None => column_values(self.store, (self.table, column), self.rows(), &mut rows, out),
            Some(value) => value.values(self.store, (self.table, column), self.rows(), &mut rows, at, out),
        };
        if all_scalar {
            return Ok(());
        }
        let holds =
            info.named_fields().find(|known| known.name == field).map_or("?", |known| known.type_name);
        let asked = "a number, a bool or an entity";
        Err(ColumnError::WrongType { component: name(), field: field.to_owned(), holds, asked })
    }
}

/// Rows of a table that a dynamic query matches, to be written one column at a time.
pub struct DynamicTableMut<'w> {
    pub(crate) store: &'w mut Store,
    pub(crate) components: &'w Components,
    pub(crate) table: TableId,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl DynamicTableMut<'_> {
    /// The table, to be read.
    pub fn as_ref(&self) -> DynamicTable<'_> {
        DynamicTable {
            store: self.store,
            components: self.components,
            table: self.table,
            start: self.start,
            len: self.len,
        }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row; tables without rows are not visited.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A column, to be written; see [`DynamicTable::column`]. All rows count as changed.
    ///
    /// # Errors
    /// As for [`DynamicTable::column`].
    pub fn column_mut<T: Send + Sync + 'static>(
        &mut self,
        component: ComponentId,
        field: &str,
    ) -> Result<&mut [T], ColumnError> {
        let has = |column| self.store.table_has(self.table, column);
        let id = find_column::<T>(self.components, has, component, field)?;
        let rows = self.as_ref().rows();
        if let Some(changed) = self.components.info(component).changed_column() {
            let now = self.store.tick();
            let ticks = self.store.column_mut(self.table, changed);
            ticks.expect("ticks stand beside the values")[rows.clone()].fill(now);
        }
        let column = self.store.column_mut(self.table, id).expect("the table was asked just now");
        Ok(&mut column[rows])
    }
}
