//! A world becomes record batches.
//!
//! Rows come table by table, as queries visit them, then entities without a row. Columns of fields (`layout = "soa"`,
//! and components described at run time) are copied slice by slice: one `memcpy` per table and column. Arrow owns its
//! buffers and a world owns its columns, so nothing is shared without a copy here; see `checkpoint` for that. Whole components are written value by
//! value, by their `Serialize` where their type is listed, else field by field by name.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use arrow_schema::{Field, Schema, SchemaRef};
use phalanx::component::Layout;
use phalanx::fields::FieldKind;
use phalanx::query::{DynamicQuery, DynamicTable};
use phalanx::registry::{ComponentId, ComponentInfo};
use phalanx::value::FieldType;
use phalanx::{Entity, World};

use crate::column::{Column, Values};
use crate::copy::copy_columns;
use crate::error::{ArrowError, ValueError};
use crate::names::{self, COMPONENT, ENTITY_COLUMN, FIELD, PRESENCE, SCHEMA, TICK, VALUE, VERSION};
use crate::types::{ArrowTypes, TypeEntry};

/// What is exported, and how.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx_arrow::{ArrowTypes, Export};
///
/// #[derive(Component)]
/// #[component(layout = "soa")]
/// struct Position { x: f32, y: f32 }
///
/// let mut world = World::new();
/// world.spawn(Position { x: 1.0, y: 2.0 });
/// world.spawn_empty();
/// let exported = Export::new(&ArrowTypes::new()).run(&world).unwrap();
/// let batch = &exported.batches[0];
/// assert_eq!(batch.num_rows(), 2);
/// assert_eq!(batch.column_by_name("Position.x").unwrap().null_count(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Export<'t> {
    pub(crate) types: &'t ArrowTypes,
    pub(crate) query: DynamicQuery,
    components: Option<Vec<ComponentId>>,
    batch_rows: usize,
    pub(crate) entities: bool,
    pub(crate) dictionaries: bool,
}

/// What an export gave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The schema of all batches.
    pub schema: SchemaRef,
    /// The rows; none if nothing matched.
    pub batches: Vec<RecordBatch>,
    /// What could not be exported.
    pub left_out: Vec<LeftOut>,
}

impl Exported {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// A component, or a field of one, that was not exported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The component's name.
    pub component: String,
    /// The field; empty where the whole component is left out.
    pub field: String,
    /// Why.
    pub reason: String,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { component, field, reason } = self;
        let dot = if field.is_empty() { "" } else { "." };
        write!(f, "`{component}{dot}{field}` is not exported: {reason}")
    }
}

/// All entities of a world, with all components that can be exported.
///
/// # Errors
/// When Arrow refuses the columns, which is a defect.
pub fn record_batches(world: &World, types: &ArrowTypes) -> Result<Exported, ArrowError> {
    Export::new(types).run(world)
}

impl<'t> Export<'t> {
    /// All entities and components, in batches of at most 1,048,576 rows.
    pub fn new(types: &'t ArrowTypes) -> Self {
        let query = DynamicQuery::default();
        Self { types, query, components: None, batch_rows: 1 << 20, entities: true, dictionaries: true }
    }

    /// Only entities that a query matches.
    #[must_use]
    pub fn matching(mut self, query: DynamicQuery) -> Self {
        self.query = query;
        self
    }

    /// Only these components.
    #[must_use]
    pub fn components(mut self, ids: impl IntoIterator<Item = ComponentId>) -> Self {
        self.components = Some(ids.into_iter().collect());
        self
    }

    /// At most so many rows per batch.
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows.max(1);
        self
    }

    /// Whether there is a column of entity ids.
    #[must_use]
    pub fn entities(mut self, wanted: bool) -> Self {
        self.entities = wanted;
        self
    }

    /// Whether enums are dictionaries, as by default, or texts.
    #[must_use]
    pub fn dictionaries(mut self, wanted: bool) -> Self {
        self.dictionaries = wanted;
        self
    }

    /// Exports a world.
    ///
    /// # Errors
    /// When Arrow refuses the columns, which is a defect.
    pub fn run(&self, world: &World) -> Result<Exported, ArrowError> {
        let tables: Vec<DynamicTable<'_>> = self.query.tables(world).collect();
        let in_tables: usize = tables.iter().map(DynamicTable::len).sum();
        let rowless: Vec<Entity> = if in_tables == self.query.count(world) {
            Vec::new()
        } else {
            let mut all: Vec<Entity> = self.query.entities(world).collect();
            let mut seen: Vec<Entity> = tables.iter().flat_map(|table| table.entities()).copied().collect();
            seen.sort_unstable();
            all.retain(|entity| seen.binary_search(entity).is_err());
            all
        };
        let rows = Rows { world, tables, rowless, count: 0 }.counted();
        let mut out = Columns::new(rows.count, self.dictionaries);
        if self.entities {
            out.entities(rows.runs().map(|(entities, _)| entities))?;
        }
        for (info, column) in self.chosen(world) {
            self.component(&rows, info, column, &mut out);
        }
        out.metadata.insert(TICK.to_owned(), world.read_change_tick().get().to_string());
        out.finish(rows.count, self.batch_rows)
    }

    /// The components to be exported, with the names of their columns.
    pub(crate) fn chosen<'w>(&self, world: &'w World) -> Vec<(&'w ComponentInfo, &'w str)> {
        let infos: Vec<&ComponentInfo> = match &self.components {
            Some(ids) => ids.iter().filter_map(|&id| world.components().get_info(id)).collect(),
            None => world.components().iter().collect(),
        };
        let full: Vec<&str> = infos.iter().map(|info| info.name()).collect();
        let short = names::short(&full);
        infos.into_iter().zip(short).collect()
    }

    fn component(&self, rows: &Rows<'_>, info: &ComponentInfo, column: &str, out: &mut Columns) {
        let mut left_out = |field: &str, reason: String| {
            let (component, field) = (info.name().to_owned(), field.to_owned());
            out.left_out.push(LeftOut { component, field, reason });
        };
        let source = Source::of(info, self.types, &mut left_out);
        let Some(source) = source else { return };
        let mut part = Part::default();
        let filled = source.fill(rows, info, &mut part).and_then(|()| {
            if part.present_rows == 0 {
                return Ok(());
            }
            out.part(info, column, part)?;
            if let Some(entry) = self.types.get(info.name()) {
                out.metadata.insert(format!("{VERSION}{}", info.name()), entry.version.to_string());
            }
            Ok(())
        });
        if let Err(ValueError(reason)) = filled {
            let (component, field) = (info.name().to_owned(), String::new());
            out.left_out.push(LeftOut { component, field, reason });
        }
    }
}

/// The entities of an export, in order.
struct Rows<'w> {
    world: &'w World,
    tables: Vec<DynamicTable<'w>>,
    /// Entities that are in no table.
    rowless: Vec<Entity>,
    count: usize,
}

impl<'w> Rows<'w> {
    fn counted(mut self) -> Self {
        self.count = self.runs().map(|(entities, _)| entities.len()).sum();
        self
    }

    /// Runs of entities; those of a table have the same components, sparse ones excepted.
    fn runs(&self) -> impl Iterator<Item = (&[Entity], Option<&DynamicTable<'w>>)> {
        let tables = self.tables.iter().map(|table| (table.entities(), Some(table)));
        tables.chain([(self.rowless.as_slice(), None)])
    }
}

/// The values of one component, and which rows have it.
#[derive(Default)]
pub(crate) struct Part {
    present: Option<BooleanBufferBuilder>,
    pub(crate) present_rows: usize,
    rows: usize,
    pub(crate) root: Column,
}

impl Part {
    pub(crate) fn note(&mut self, count: usize, here: bool) {
        if !here && self.present.is_none() {
            let mut present = BooleanBufferBuilder::new(self.rows + count);
            present.append_n(self.rows, true);
            self.present = Some(present);
        }
        if let Some(present) = &mut self.present {
            present.append_n(count, here);
        }
        self.rows += count;
        self.present_rows += if here { count } else { 0 };
    }

    pub(crate) fn absent(&mut self, count: usize) {
        self.root.push_nulls(count);
        self.note(count, false);
    }
}

/// How the values of a component are reached.
pub(crate) enum Source {
    /// Without values.
    Tag,
    /// Each field is a column of the table.
    Fields(Vec<(String, Option<FieldType>)>),
    /// By the type.
    Typed(TypeEntry),
    /// Field by field, by name; text where there is no scalar type.
    Named(Vec<(String, Option<FieldType>)>),
}

impl Source {
    pub(crate) fn of(
        info: &ComponentInfo,
        types: &ArrowTypes,
        left_out: &mut dyn FnMut(&str, String),
    ) -> Option<Self> {
        if info.layout() == Layout::Tag {
            return Some(Self::Tag);
        }
        let mut known = Vec::new();
        let mut others = Vec::new();
        for field in info.named_fields() {
            match field.kind {
                FieldKind::Scalar(scalar) => known.push((field.name.to_owned(), Some(scalar))),
                FieldKind::Text => known.push((field.name.to_owned(), None)),
                _ => others.push((field.name, field.type_name)),
            }
        }
        let by_fields = info.layout() == Layout::Fields && others.is_empty() && !known.is_empty();
        if by_fields && !known.iter().any(|(name, _)| name.contains('.')) {
            return Some(if info.is_sparse() { Self::Named(known) } else { Self::Fields(known) });
        }
        if let Some(entry) = types.get(info.name()) {
            return Some(Self::Typed(entry));
        }
        let advice = "add the type with `ArrowTypes::with`";
        for (field, type_name) in others {
            left_out(field, format!("{type_name} is neither a number nor a text: {advice}"));
        }
        if known.is_empty() {
            left_out("", format!("it has no fields by name: {advice}"));
            return None;
        }
        Some(Self::Named(known))
    }

    fn fill(&self, rows: &Rows<'_>, info: &ComponentInfo, part: &mut Part) -> Result<(), ValueError> {
        if let Self::Fields(fields) | Self::Named(fields) = self {
            let columns = part.root.fields()?;
            for (name, scalar) in fields {
                let mut column = Column::default();
                if let Some(scalar) = scalar {
                    column.reserve(rows.count, *scalar);
                }
                columns.push((name.clone().into(), column));
            }
        }
        for (entities, table) in rows.runs() {
            match (self, table) {
                (Self::Fields(fields), Some(table)) => copy_columns(table, info.id(), fields, part)?,
                (Self::Fields(_), None) => part.absent(entities.len()),
                _ => self.one_by_one(rows.world, entities, info, part)?,
            }
        }
        Ok(())
    }

    /// Value by value. Entities of a table without the component are passed over together.
    fn one_by_one(
        &self,
        world: &World,
        entities: &[Entity],
        info: &ComponentInfo,
        part: &mut Part,
    ) -> Result<(), ValueError> {
        for (at, &entity) in entities.iter().enumerate() {
            let here = match self {
                Self::Tag => {
                    let here = has(world, entity, info.id());
                    if here {
                        part.root.push_unit()?;
                    }
                    here
                }
                Self::Typed(entry) => (entry.write)(world, entity, &mut part.root)?,
                Self::Fields(fields) | Self::Named(fields) => {
                    has(world, entity, info.id()) && {
                        by_name(world, entity, info.id(), fields, &mut part.root)?;
                        true
                    }
                }
            };
            if here {
                part.note(1, true);
            } else if info.is_sparse() {
                part.absent(1);
            } else {
                part.absent(entities.len() - at);
                break;
            }
        }
        Ok(())
    }
}

fn has(world: &World, entity: Entity, id: ComponentId) -> bool {
    world.get_entity(entity).is_ok_and(|entity| entity.contains_id(id))
}

fn by_name(
    world: &World,
    entity: Entity,
    id: ComponentId,
    fields: &[(String, Option<FieldType>)],
    root: &mut Column,
) -> Result<(), ValueError> {
    let fail = |error: phalanx::world::FieldError| ValueError(error.to_string());
    for ((name, scalar), (_, column)) in fields.iter().zip(root.fields()?) {
        match scalar {
            Some(_) => column.push_value(world.get_field(entity, id, name).map_err(fail)?)?,
            None => column.push_text(world.get_field_text(entity, id, name).map_err(fail)?)?,
        }
    }
    root.end_row();
    Ok(())
}

/// The columns of an export.
pub(crate) struct Columns {
    pub(crate) fields: Vec<Field>,
    pub(crate) arrays: Vec<ArrayRef>,
    pub(crate) metadata: HashMap<String, String>,
    pub(crate) left_out: Vec<LeftOut>,
    rows: usize,
    dictionaries: bool,
}

impl Columns {
    pub(crate) fn new(rows: usize, dictionaries: bool) -> Self {
        let (fields, arrays, left_out) = (Vec::new(), Vec::new(), Vec::new());
        Self { fields, arrays, metadata: HashMap::new(), left_out, rows, dictionaries }
    }

    pub(crate) fn entities<'e>(
        &mut self,
        runs: impl Iterator<Item = &'e [Entity]>,
    ) -> Result<(), ArrowError> {
        let mut ids = Column::default();
        ids.reserve(self.rows, FieldType::Entity);
        for entities in runs {
            ids.extend_entities(entities).map_err(ArrowError::batch)?;
        }
        let (field, array) =
            ids.finish(ENTITY_COLUMN, false).map_err(ArrowError::batch)?.expect("ids have a type");
        self.fields.push(field);
        self.arrays.push(array);
        Ok(())
    }

    /// Adds the columns of a component.
    pub(crate) fn part(&mut self, info: &ComponentInfo, name: &str, part: Part) -> Result<(), ValueError> {
        let Part { present, rows, root, .. } = part;
        let (optional, single) = (root.optional, ["0"]);
        let mut columns: Vec<(String, Column)> = Vec::new();
        match root.values {
            // A struct with one field that has no name is one value.
            Values::Struct(fields) if fields.iter().map(|(name, _)| &**name).eq(single) => {
                columns.extend(fields.into_iter().map(|(_, column)| (VALUE.to_owned(), column)));
            }
            Values::Struct(fields) => {
                columns.extend(fields.into_iter().map(|(name, column)| (name.into_owned(), column)));
            }
            _ => columns.push((VALUE.to_owned(), root)),
        }
        let can_be_null = |(_, column): &(String, Column)| {
            column.optional || optional || matches!(column.values, Values::Unit | Values::Unknown)
        };
        let needs_presence = columns.iter().all(can_be_null);
        let mut made = Vec::new();
        for (field, column) in columns {
            let title = match field.as_str() {
                VALUE if needs_presence => format!("{name}.0"),
                VALUE => name.to_owned(),
                field => format!("{name}.{field}"),
            };
            if let Some((described, array)) = column.finish(&title, self.dictionaries)? {
                made.push((described, field, array));
            }
        }
        if needs_presence {
            let mut bits = present.unwrap_or_else(|| {
                let mut all = BooleanBufferBuilder::new(rows);
                all.append_n(rows, true);
                all
            });
            let array: ArrayRef = Arc::new(BooleanArray::new(bits.finish(), None));
            let described = Field::new(name, array.data_type().clone(), false);
            made.insert(0, (described, PRESENCE.to_owned(), array));
        }
        for (described, field, array) in made {
            self.fields.push(describe(described, info, field));
            self.arrays.push(array);
        }
        Ok(())
    }

    fn finish(self, rows: usize, batch_rows: usize) -> Result<Exported, ArrowError> {
        debug_assert_eq!(rows, self.rows);
        let schema = Arc::new(Schema::new_with_metadata(self.fields, self.metadata));
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
        let whole = RecordBatch::try_new_with_options(schema.clone(), self.arrays, &options);
        let whole = whole.map_err(ArrowError::batch)?;
        let starts = (0..rows).step_by(batch_rows);
        let batches = starts.map(|start| whole.slice(start, batch_rows.min(rows - start))).collect();
        Ok(Exported { schema, batches, left_out: self.left_out })
    }
}

/// A column with what is known of its component.
pub(crate) fn describe(column: Field, info: &ComponentInfo, field: String) -> Field {
    let mut metadata = column.metadata().clone();
    metadata.insert(COMPONENT.to_owned(), info.name().to_owned());
    metadata.insert(FIELD.to_owned(), field);
    if let Some(schema) = info.schema() {
        metadata.insert(SCHEMA.to_owned(), format!("{:?}", schema.storage_kind()));
    }
    column.with_nullable(true).with_metadata(metadata)
}
