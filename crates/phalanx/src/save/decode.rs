//! From what a save says to values: everything that can fail, before any world is touched.
//!
//! First the parts are compared with each other: which entities are alive, where each stands, and that it stands there
//! once. Then values are read, as their types, after the migrations that lead to these. All of the user's `Deserialize`
//! runs here.

use hashbrown::HashSet;
use phalanx_store::{ColId, Entity, Existing, SlotState, Tick};
use serde::de::DeserializeOwned;

use super::error::LoadError;
use super::image::{ComponentImage, GroupImage, Image, KeptImage, MessageImage, ResourceImage};
use super::kept::KeptComponent;
use super::migration::{Migration, Path};
use super::registry::{ComponentEntry, SaveRegistry};
use crate::codec::{CodecError, Data, ValueSource, from_data};
use crate::component::LoadedColumns;
use crate::messages::LoadedChannel;
use crate::registry::Components;
use crate::resources::LoadedResource;
use crate::schema::Schema;
use crate::value::FieldType;

/// A save whose values were read.
pub(super) struct Decoded {
    pub(super) components: Vec<Resolved>,
    pub(super) pools: Vec<String>,
    pub(super) directory: phalanx_store::DirectoryState,
    pub(super) tables: Vec<DecodedTable>,
    pub(super) sets: Vec<DecodedSet>,
    pub(super) groups: Vec<GroupImage>,
    pub(super) resources: Vec<Box<dyn LoadedResource>>,
    pub(super) messages: Vec<Box<dyn LoadedChannel>>,
    pub(super) kept: Vec<KeptComponent>,
    /// Values of components that were kept, and are known again.
    pub(super) late: Vec<DecodedSet>,
}

/// What a component of a save is in this program.
pub(super) enum Resolved {
    Typed { entry: ComponentEntry, name: String },
    Dynamic(Schema),
    Unknown { name: String },
}

impl Resolved {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Typed { name, .. } | Self::Unknown { name } => name,
            Self::Dynamic(schema) => schema.name(),
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

pub(super) struct DecodedTable {
    pub(super) pool: usize,
    /// Positions among the components, unknown ones left out.
    pub(super) components: Vec<usize>,
    pub(super) entities: Vec<Entity>,
    /// Beside `components`.
    pub(super) columns: Vec<LoadedColumns>,
}

pub(super) struct DecodedSet {
    pub(super) component: usize,
    pub(super) entities: Vec<Entity>,
    pub(super) holes: Vec<u32>,
    pub(super) column: LoadedColumns,
}

/// Reads the values of a save. `now` is the tick of values that remember it.
pub(super) fn decode(image: Image, registry: &SaveRegistry, now: Tick) -> Result<Decoded, LoadError> {
    check(&image)?;
    Decoder { registry, now, scratch: Components::default(), resolved: Vec::new(), paths: Vec::new() }
        .run(image)
}

struct Decoder<'r> {
    registry: &'r SaveRegistry,
    now: Tick,
    /// Knows the columns of components that are described at run time.
    scratch: Components,
    resolved: Vec<Resolved>,
    paths: Vec<Vec<&'r Migration>>,
}

impl Decoder<'_> {
    fn run(mut self, image: Image) -> Result<Decoded, LoadError> {
        for component in &image.components {
            self.resolve(component)?;
        }
        let mut kept = Vec::new();
        let mut tables = Vec::new();
        for table in image.tables {
            let (mut components, mut columns) = (Vec::new(), Vec::new());
            for (&component, source) in table.components.iter().zip(table.columns) {
                if self.resolved[component].is_unknown() {
                    kept.push(self.keep(&image.components[component], &table.entities, source)?);
                    continue;
                }
                columns.push(self.column(component, &table.entities, source)?);
                components.push(component);
            }
            let (pool, entities) = (table.pool, table.entities);
            tables.push(DecodedTable { pool, components, entities, columns });
        }
        let mut sets = Vec::new();
        for set in image.sets {
            if self.resolved[set.component].is_unknown() {
                kept.push(self.keep(&image.components[set.component], &set.entities, set.column)?);
                continue;
            }
            let column = self.column(set.component, &set.entities, set.column)?;
            sets.push(DecodedSet {
                component: set.component,
                entities: set.entities,
                holes: set.holes,
                column,
            });
        }
        let mut late = Vec::new();
        for once_kept in image.kept {
            self.once_kept(once_kept, &mut late, &mut kept)?;
        }
        let resources = image.resources.into_iter().map(|resource| self.resource(resource));
        let messages = image.messages.into_iter().map(|message| self.message(message));
        Ok(Decoded {
            resources: resources.collect::<Result<_, _>>()?,
            messages: messages.collect::<Result<_, _>>()?,
            components: self.resolved,
            pools: image.pools,
            directory: image.directory,
            tables,
            sets,
            groups: image.groups,
            kept,
            late,
        })
    }

    fn resolve(&mut self, component: &ComponentImage) -> Result<(), LoadError> {
        let Path { name, version, migrations } = self.registry.path(&component.name, component.version);
        let resolved = match (self.registry.find_component(&name), &component.fields) {
            (Some(entry), _) if entry.saving.version == version => {
                // A name that two types claim is found here, not when the world is made.
                (entry.register)(&mut self.scratch)
                    .map_err(|error| LoadError::invalid(format_args!("component `{name}`"), error))?;
                Resolved::Typed { entry, name }
            }
            (Some(entry), _) => {
                return Err(LoadError::Version { name, saved: version, current: entry.saving.version });
            }
            (None, Some(fields)) => {
                let schema = Schema::new(name.clone()).storage(component.storage);
                let schema = schema.fields(fields.iter().cloned());
                self.scratch
                    .register_schema(schema.clone())
                    .map_err(|error| LoadError::invalid(format_args!("component `{name}`"), error))?;
                Resolved::Dynamic(schema)
            }
            (None, None) if self.registry.keeps_unknown() => {
                Resolved::Unknown { name: component.name.clone() }
            }
            (None, None) => return Err(LoadError::Unknown { kind: "component", name }),
        };
        self.resolved.push(resolved);
        self.paths.push(migrations);
        Ok(())
    }

    /// Reads the values of a component, one for each entity.
    fn column(
        &self,
        component: usize,
        entities: &[Entity],
        source: ValueSource,
    ) -> Result<LoadedColumns, LoadError> {
        let (resolved, migrations) = (&self.resolved[component], &self.paths[component]);
        let place = |at: usize| match entities.get(at) {
            Some(entity) => format!("`{}` of entity {entity}", resolved.name()),
            None => format!("`{}` behind its last entity", resolved.name()),
        };
        let fail = |(at, error): (usize, CodecError)| LoadError::value(place(at), &error);
        let of_lists = matches!(resolved, Resolved::Typed { entry, .. } if entry.saving.of_lists);
        let mut source = migrated(source, entities.len(), migrations, of_lists).map_err(fail)?;
        match resolved {
            Resolved::Typed { entry, .. } => {
                (entry.saving.read)(&mut source, entities.len(), self.now).map_err(fail)
            }
            Resolved::Dynamic(schema) => self.dynamic(schema, entities.len(), &mut source).map_err(fail),
            Resolved::Unknown { .. } => Ok(LoadedColumns::default()),
        }
    }

    fn dynamic(
        &self,
        schema: &Schema,
        count: usize,
        source: &mut ValueSource,
    ) -> Result<LoadedColumns, (usize, CodecError)> {
        let id = self.scratch.by_name(schema.name());
        let info = id.map(|id| self.scratch.info(id)).expect("the schema was registered before");
        let (mut loaded, readable) = (LoadedColumns::default(), source.is_readable());
        for row in 0..count {
            let mut tree = source.next_tree().map_err(|error| (row, error))?;
            if schema.is_tag() {
                let column: ColId<()> = info.columns()[0].typed().expect("a tag has a column of nothing");
                loaded.push(0, column, (), Existing::Replace);
            }
            for (at, (name, field)) in schema.iter().enumerate() {
                let value = tree.take(name);
                let read = value.ok_or_else(|| CodecError::new(format_args!("field `{name}` is missing")));
                let column = info.columns()[at];
                let pushed = read.and_then(|value| {
                    push_scalar(field, column, &value, readable, |put| put.put(&mut loaded, at))
                });
                pushed.map_err(|error| (row, error.within(format_args!("field `{name}`"))))?;
            }
        }
        source.finish().map_err(|error| (count, error))?;
        Ok(loaded)
    }

    fn keep(
        &self,
        component: &ComponentImage,
        entities: &[Entity],
        mut source: ValueSource,
    ) -> Result<KeptComponent, LoadError> {
        let (name, version) = (component.name.clone(), component.version);
        let readable = source.is_readable();
        let values = trees(&name, entities, &mut source)?;
        Ok(KeptComponent { name, version, values, readable })
    }

    fn once_kept(
        &mut self,
        image: KeptImage,
        late: &mut Vec<DecodedSet>,
        kept: &mut Vec<KeptComponent>,
    ) -> Result<(), LoadError> {
        let KeptImage { name, version, readable, entities, mut values } = image;
        let values = trees(&name, &entities, &mut values)?;
        let known = self.registry.path(&name, version).name;
        if self.registry.find_component(&known).is_none() {
            kept.push(KeptComponent { name, version, values, readable });
            return Ok(());
        }
        let (storage, fields) = (crate::schema::StorageKind::Table, None);
        self.resolve(&ComponentImage { name, version, storage, fields })?;
        let component = self.resolved.len() - 1;
        let trees: Vec<Data> = values.into_iter().map(|(_, value)| value).collect();
        let column = self.column(component, &entities, ValueSource::tree(&trees, readable))?;
        late.push(DecodedSet { component, entities, holes: Vec::new(), column });
        Ok(())
    }

    fn resource(&self, image: ResourceImage) -> Result<Box<dyn LoadedResource>, LoadError> {
        let Path { name, version, migrations } = self.registry.path(&image.name, image.version);
        let saving = self.registry.find_resource(&name);
        let saving = saving.ok_or_else(|| LoadError::Unknown { kind: "resource", name: name.clone() })?;
        if saving.version != version {
            return Err(LoadError::Version { name, saved: version, current: saving.version });
        }
        let value = migrated(image.value, 1, &migrations, false).map_err(|(_, error)| error);
        let value = value.and_then(|mut value| (saving.read)(&mut value));
        value.map_err(|error| LoadError::value(format_args!("resource `{name}`"), &error))
    }

    fn message(&self, image: MessageImage) -> Result<Box<dyn LoadedChannel>, LoadError> {
        let Path { name, version, migrations } = self.registry.path(&image.name, image.version);
        let saving = self.registry.find_message(&name);
        let saving = saving.ok_or_else(|| LoadError::Unknown { kind: "message", name: name.clone() })?;
        if saving.version != version {
            return Err(LoadError::Version { name, saved: version, current: saving.version });
        }
        let fail = |(at, error): (usize, CodecError)| {
            LoadError::value(format_args!("message {at} of `{name}`"), &error)
        };
        let mut values = migrated(image.values, image.state.len, &migrations, false).map_err(fail)?;
        (saving.read)(&image.state, &mut values).map_err(fail)
    }
}

/// The values after migrations; where values are lists, these are of their elements.
fn migrated(
    mut source: ValueSource,
    count: usize,
    migrations: &[&Migration],
    of_lists: bool,
) -> Result<ValueSource, (usize, CodecError)> {
    if migrations.is_empty() {
        return Ok(source);
    }
    let readable = source.is_readable();
    let mut values = Vec::new();
    for at in 0..count {
        let mut value = source.next_tree().map_err(|error| (at, error))?;
        let parts = match &mut value {
            Data::List(elements) if of_lists => &mut elements[..],
            whole => std::slice::from_mut(whole),
        };
        for part in parts {
            for migration in migrations {
                migration.apply(part).map_err(|error| (at, CodecError::new(error)))?;
            }
        }
        values.push(value);
    }
    source.finish().map_err(|error| (count, error))?;
    Ok(ValueSource::tree(&values, readable))
}

fn trees(
    name: &str,
    entities: &[Entity],
    source: &mut ValueSource,
) -> Result<Vec<(Entity, Data)>, LoadError> {
    let mut values = Vec::new();
    for &entity in entities {
        let value = source.next_tree();
        let place = format_args!("`{name}` of entity {entity}");
        values.push((entity, value.map_err(|error| LoadError::value(place, &error))?));
    }
    source.finish().map_err(|error| LoadError::value(format_args!("`{name}`"), &error))?;
    Ok(values)
}

/// A scalar with its column.
trait Put {
    fn put(self: Box<Self>, loaded: &mut LoadedColumns, at: usize);
}

impl<T: Send + Sync + 'static> Put for (ColId<T>, T) {
    fn put(self: Box<Self>, loaded: &mut LoadedColumns, at: usize) {
        loaded.push(at, self.0, self.1, Existing::Replace);
    }
}

fn push_scalar(
    field: FieldType,
    column: phalanx_store::AnyColId,
    value: &Data,
    readable: bool,
    put: impl FnOnce(Box<dyn Put>),
) -> Result<(), CodecError> {
    fn read<T: DeserializeOwned + Send + Sync + 'static>(
        column: phalanx_store::AnyColId,
        value: &Data,
        readable: bool,
    ) -> Result<Box<dyn Put>, CodecError> {
        let column: ColId<T> = column.typed().expect("a field has a column of its type");
        Ok(Box::new((column, from_data::<T>(value, readable)?)))
    }
    let read = match field {
        FieldType::F32 => read::<f32>(column, value, readable),
        FieldType::F64 => read::<f64>(column, value, readable),
        FieldType::U8 => read::<u8>(column, value, readable),
        FieldType::U16 => read::<u16>(column, value, readable),
        FieldType::U32 => read::<u32>(column, value, readable),
        FieldType::U64 => read::<u64>(column, value, readable),
        FieldType::I8 => read::<i8>(column, value, readable),
        FieldType::I16 => read::<i16>(column, value, readable),
        FieldType::I32 => read::<i32>(column, value, readable),
        FieldType::I64 => read::<i64>(column, value, readable),
        FieldType::Bool => read::<bool>(column, value, readable),
        FieldType::Entity => read::<Entity>(column, value, readable),
    };
    put(read?);
    Ok(())
}

/// Cells of the column index that cost nothing, and how many more each thing in the save allows.
const FREE_CELLS: usize = 1 << 16;
const CELLS_EACH: usize = 64;

/// Compares the parts of a save with each other.
fn check(image: &Image) -> Result<(), LoadError> {
    let mut names = HashSet::new();
    for component in &image.components {
        if !names.insert(&component.name) {
            let place = format_args!("component `{}`", component.name);
            return Err(LoadError::invalid(place, "it is listed twice"));
        }
    }
    let mut pools = HashSet::new();
    if let Some(pool) = image.pools.iter().find(|pool| !pools.insert(*pool)) {
        return Err(LoadError::invalid(format_args!("pool `{pool}`"), "it is listed twice"));
    }
    let is_alive = |entity: Entity| {
        let slot = image.directory.slots.get(entity.index() as usize);
        slot == Some(&SlotState::Alive(entity.generation()))
    };
    let mut standing = Once::new(image.directory.slots.len());
    let mut shapes = HashSet::new();
    let mut things = image.directory.slots.len();
    for (at, table) in image.tables.iter().enumerate() {
        let invalid = |message: String| Err(LoadError::invalid(format_args!("table {at}"), message));
        let mut sorted = table.components.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return invalid(format!("`{}` is listed twice", image.components[pair[0]].name));
        }
        things += sorted.len();
        if !shapes.insert((table.pool, sorted)) {
            return invalid("its components were those of another table".to_owned());
        }
        for &entity in &table.entities {
            if !is_alive(entity) {
                return invalid(format!("entity {entity} has a row, but is not alive"));
            }
            if !standing.is_new(entity) {
                return invalid(format!("entity {entity} has a row already"));
            }
        }
    }
    if image.tables.len().saturating_mul(image.components.len()) > FREE_CELLS + CELLS_EACH * things {
        return Err(LoadError::invalid("the tables", "there are too many for so few entities"));
    }
    let in_tables: HashSet<usize> =
        image.tables.iter().flat_map(|table| &table.components).copied().collect();
    let mut listed = HashSet::new();
    for (at, set) in image.sets.iter().enumerate() {
        let name = &image.components[set.component].name;
        let invalid =
            |message: String| Err(LoadError::invalid(format_args!("set {at} of `{name}`"), message));
        if !listed.insert(set.component) {
            return invalid("the component has a set already".to_owned());
        }
        if in_tables.contains(&set.component) {
            return invalid("the component is in tables as well".to_owned());
        }
        check_members(&set.entities, &is_alive, image.directory.slots.len()).or_else(invalid)?;
        let rows = set.entities.len() + set.holes.len();
        let mut holes = set.holes.clone();
        holes.sort_unstable();
        if holes.windows(2).any(|pair| pair[0] == pair[1])
            || holes.last().is_some_and(|&row| row as usize >= rows)
        {
            return invalid("its holes are not rows of it".to_owned());
        }
    }
    if let Some(message) = image.messages.iter().find(|message| !message.state.is_valid()) {
        let place = format_args!("message `{}`", message.name);
        return Err(LoadError::invalid(place, "the numbers of messages and frames do not fit together"));
    }
    for kept in &image.kept {
        check_members(&kept.entities, &is_alive, image.directory.slots.len()).map_err(|message| {
            LoadError::invalid(format_args!("unknown component `{}`", kept.name), message)
        })?;
    }
    let mut singles = HashSet::new();
    let resources = image.resources.iter().map(|resource| ("resource", &resource.name));
    let channels = image.messages.iter().map(|message| ("message", &message.name));
    for (kind, name) in resources.chain(channels) {
        if !singles.insert((kind, name)) {
            return Err(LoadError::invalid(format_args!("{kind} `{name}`"), "it is listed twice"));
        }
    }
    Ok(())
}

fn check_members(entities: &[Entity], is_alive: &dyn Fn(Entity) -> bool, slots: usize) -> Result<(), String> {
    let mut members = Once::new(slots);
    for &entity in entities {
        if !is_alive(entity) {
            return Err(format!("entity {entity} is not alive"));
        }
        if !members.is_new(entity) {
            return Err(format!("entity {entity} is there twice"));
        }
    }
    Ok(())
}

/// Which entities came by.
struct Once(Vec<u64>);

impl Once {
    fn new(slots: usize) -> Self {
        Self(vec![0; slots.div_ceil(64)])
    }

    /// Whether the entity, which has a slot, comes for the first time.
    fn is_new(&mut self, entity: Entity) -> bool {
        let (word, bit) = (entity.index() as usize / 64, entity.index() % 64);
        let before = self.0[word];
        self.0[word] |= 1 << bit;
        before & (1 << bit) == 0
    }
}
