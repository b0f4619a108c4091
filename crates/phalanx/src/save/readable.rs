//! The readable form of a save: rows with names.
//!
//! ```text
//!   { "phalanx": 1,
//!     "components": [ { "name": "game.Health", "version": 2, "storage": "table", "type": "{ current: f32 }" } ],
//!     "tables": [ { "components": ["game.Health"],
//!                   "rows": [ { "entity": "0v0", "values": { "game.Health": { "current": 7.5 } } } ] } ], .. }
//! ```
//!
//! Lists keep their order, which is that of the world. A table, a set or a resource becomes a tree when its turn comes,
//! so that a save never needs memory for all of a world. What is read is a tree as a whole.

use phalanx_store::{DirectoryState, Entity, SlotState};
use serde::ser::{Error as _, Serialize, SerializeSeq, SerializeStruct, Serializer};

use super::error::LoadError;
use super::image::{
    ComponentImage, FIELD_TYPES, GroupImage, Image, KeptImage, MessageImage, ResourceImage, STORAGE,
    SetImage, TableImage,
};
use super::plan::{Plan, id};
use crate::codec::{CodecError, Data, FromData, Halt, Shape, ValueSink, ValueSource};
use crate::messages::ChannelState;

/// The version of the form.
const FORM: i64 = 1;

/// A world to be written with names.
pub(super) struct Document<'p>(pub(super) &'p Plan<'p>);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.0;
        let mut document = serializer.serialize_struct("World", 11)?;
        document.serialize_field("phalanx", &FORM)?;
        let left_out: Vec<&str> = plan.report.names().collect();
        document.serialize_field("not_saved", &left_out)?;
        document.serialize_field("components", &Each(plan.components.len(), |at| plan.component(at)))?;
        document.serialize_field("pools", &plan.pools)?;
        document.serialize_field("slots", &plan.slots())?;
        document.serialize_field("tables", &Each(plan.tables.len(), |at| plan.table(at)))?;
        document.serialize_field("sets", &Each(plan.sets.len(), |at| plan.set(at)))?;
        document.serialize_field("groups", &Each(plan.groups.len(), |at| Ok(plan.group(at))))?;
        document.serialize_field("resources", &Each(plan.resources.len(), |at| plan.resource(at)))?;
        document.serialize_field("messages", &Each(plan.messages.len(), |at| plan.channel(at)))?;
        document.serialize_field("kept", &Each(plan.kept.len(), |at| Ok(plan.kept(at))))?;
        document.end()
    }
}

/// A list whose items are made one by one.
struct Each<F>(usize, F);

impl<F: Fn(usize) -> Result<Data, CodecError>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0))?;
        for at in 0..self.0 {
            list.serialize_element(&(self.1)(at).map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

/// An entity as readable formats have it.
fn entity(entity: Entity) -> Data {
    Data::Text(entity.to_string())
}

fn list<T>(items: &[T], each: impl FnMut(&T) -> Data) -> Data {
    Data::List(items.iter().map(each).collect())
}

/// What a run of values is, and the values.
fn values(
    write: impl FnOnce(&mut ValueSink<'_>) -> Result<(), Halt>,
) -> Result<(Shape, Vec<Data>), CodecError> {
    let (mut shape, mut out) = (Shape::Unknown, Vec::new());
    match write(&mut ValueSink::Readable { shape: &mut shape, out: &mut out }) {
        Ok(()) => Ok((shape, out)),
        Err(Halt::Failed(error)) => Err(error),
        Err(halt) => Err(CodecError::new(halt)),
    }
}

impl Plan<'_> {
    fn component_name(&self, component: usize) -> &str {
        self.components[component].info.name()
    }

    fn names(&self, components: &[usize]) -> Data {
        list(components, |&component| Data::from(self.component_name(component)))
    }

    fn component_values(
        &self,
        component: usize,
        entities: &[Entity],
    ) -> Result<(Shape, Vec<Data>), CodecError> {
        let name = self.component_name(component);
        let written = values(|sink| self.write_values(component, entities, sink));
        written.map_err(|error| error.within(format_args!("component `{name}`")))
    }

    fn component(&self, at: usize) -> Result<Data, CodecError> {
        let component = &self.components[at];
        let mut fields = vec![
            ("name", Data::from(component.info.name())),
            ("version", component.version.into()),
            ("storage", storage_name(component.info.storage())),
        ];
        if let Some(schema) = component.info.schema() {
            let each: Vec<_> = schema.iter().collect();
            let pair = |(name, field): &(&str, _)| {
                Data::List(vec![Data::from(*name), Data::Text(format!("{field}"))])
            };
            fields.push(("fields", list(&each, pair)));
            return Ok(Data::map(fields));
        }
        let tables = self.tables.iter().filter(|table| table.components.contains(&at));
        let sets = self.sets.iter().filter(|set| set.component == at);
        let first = tables.map(|table| &table.entities).chain(sets.map(|set| &set.entities));
        if let Some(first) = first.flatten().next() {
            let (shape, _) = self.component_values(at, &[*first])?;
            fields.push(("type", Data::Text(shape.to_string())));
        }
        Ok(Data::map(fields))
    }

    fn slots(&self) -> Data {
        let free = self.directory.free.iter().filter_map(|&index| {
            let slot = self.directory.slots.get(index as usize);
            let Some(SlotState::Free(generation)) = slot else { return None };
            id(index, *generation).map(entity)
        });
        let retired = (0u32..).zip(&self.directory.slots).filter(|(_, slot)| **slot == SlotState::Retired);
        Data::map([
            ("count", Data::from(self.directory.slots.len() as u64)),
            ("free", Data::List(free.collect())),
            ("retired", Data::List(retired.map(|(index, _)| index.into()).collect())),
            ("without_row", list(&self.rowless(), |&rowless| entity(rowless))),
        ])
    }

    fn table(&self, at: usize) -> Result<Data, CodecError> {
        let table = &self.tables[at];
        let mut columns = Vec::new();
        for &component in &table.components {
            let (_, values) = self.component_values(component, &table.entities)?;
            columns.push((self.component_name(component), values.into_iter()));
        }
        let mut rows = Vec::new();
        for &owner in &table.entities {
            let values = columns.iter_mut().filter_map(|(name, values)| Some((*name, values.next()?)));
            let values = Data::map(values.collect::<Vec<_>>());
            rows.push(Data::map([("entity", entity(owner)), ("values", values)]));
        }
        let mut fields = Vec::new();
        if let Some(pool) = table.pool.checked_sub(1) {
            fields.push(("pool", Data::from(self.pools[pool])));
        }
        fields.push(("components", self.names(&table.components)));
        fields.push(("rows", Data::List(rows)));
        Ok(Data::map(fields))
    }

    fn set(&self, at: usize) -> Result<Data, CodecError> {
        let set = &self.sets[at];
        let (_, values) = self.component_values(set.component, &set.entities)?;
        let row = |(owner, value): (&Entity, Data)| Data::map([("entity", entity(*owner)), ("value", value)]);
        Ok(Data::map([
            ("component", Data::from(self.component_name(set.component))),
            ("rows", Data::List(set.entities.iter().zip(values).map(row).collect())),
            ("holes", list(&set.holes, |&hole| hole.into())),
        ]))
    }

    fn group(&self, at: usize) -> Data {
        let group = &self.groups[at];
        let mut fields = vec![
            ("own", self.names(&group.owned)),
            ("get", self.names(&group.seen)),
            ("without", self.names(&group.without)),
        ];
        if let Some(order) = &group.order {
            fields.push(("order", list(order, |&member| entity(member))));
        }
        Data::map(fields)
    }

    fn resource(&self, at: usize) -> Result<Data, CodecError> {
        let (name, saving) = &self.resources[at];
        let written = values(|sink| (saving.write)(&self.world.resources, sink));
        let (shape, mut written) =
            written.map_err(|error| error.within(format_args!("resource `{name}`")))?;
        Ok(Data::map([
            ("name", Data::from(&**name)),
            ("version", saving.version.into()),
            ("type", Data::Text(shape.to_string())),
            ("value", written.pop().unwrap_or(Data::Null)),
        ]))
    }

    fn channel(&self, at: usize) -> Result<Data, CodecError> {
        let (name, saving, state) = &self.messages[at];
        let written = values(|sink| (saving.write)(&self.world.messages, sink));
        let (_, written) = written.map_err(|error| error.within(format_args!("message `{name}`")))?;
        Ok(Data::map([
            ("name", Data::from(&**name)),
            ("version", saving.version.into()),
            ("first", state.first.into()),
            ("ends", list(&state.ends, |&end| end.into())),
            ("keep", (state.keep as u64).into()),
            ("values", Data::List(written)),
        ]))
    }

    fn kept(&self, at: usize) -> Data {
        let kept = &self.kept[at];
        let row = |(owner, value): &(Entity, &Data)| {
            Data::map([("entity", entity(*owner)), ("value", (*value).clone())])
        };
        Data::map([
            ("name", Data::from(kept.name)),
            ("version", kept.version.into()),
            ("readable", kept.readable.into()),
            ("rows", list(&kept.values, row)),
        ])
    }
}

fn storage_name(kind: crate::schema::StorageKind) -> Data {
    let name = STORAGE.iter().find(|(known, _)| *known == kind);
    Data::from(name.map_or("table", |(_, name)| *name))
}

/// A part of a save that is read, with the way to it.
struct Place {
    path: String,
    data: Data,
}

impl Place {
    fn error<T>(&self, message: impl std::fmt::Display) -> Result<T, LoadError> {
        Err(LoadError::invalid(&self.path, message))
    }

    fn at(&self, name: &str, data: Data) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { path, data }
    }

    /// A field that may be missing.
    fn optional(&mut self, name: &str) -> Result<Option<Self>, LoadError> {
        match &mut self.data {
            Data::Map(_) => Ok(self.data.take(name).map(|data| self.at(name, data))),
            other => {
                let kind = other.kind();
                self.error(format_args!("a map was expected, not {kind}"))
            }
        }
    }

    fn field(&mut self, name: &str) -> Result<Self, LoadError> {
        match self.optional(name)? {
            Some(field) => Ok(field),
            None => self.error(format_args!("`{name}` is missing")),
        }
    }

    /// Refuses fields that nobody asked for.
    fn finish(&self) -> Result<(), LoadError> {
        match self.data.as_map().and_then(|entries| entries.first()) {
            Some((key, _)) => {
                let key = key.as_str().unwrap_or("a key").to_owned();
                self.error(format_args!("`{key}` means nothing here, or is there twice"))
            }
            None => Ok(()),
        }
    }

    fn list<T>(self, mut each: impl FnMut(Self) -> Result<T, LoadError>) -> Result<Vec<T>, LoadError> {
        let Data::List(list) = self.data else {
            return self.error(format_args!("a list was expected, not {}", self.data.kind()));
        };
        let mut items = Vec::new();
        for (at, data) in list.into_iter().enumerate() {
            items.push(each(Self { path: format!("{}[{at}]", self.path), data })?);
        }
        Ok(items)
    }

    /// A value of a plain type.
    fn plain<T: serde::de::DeserializeOwned>(self) -> Result<T, LoadError> {
        let Self { path, data } = self;
        T::deserialize(FromData::new(data, true)).map_err(|error| LoadError::invalid(path, error))
    }

    /// The number of an id that is named.
    fn one_of(self, names: &[String]) -> Result<usize, LoadError> {
        let path = self.path.clone();
        let name: String = self.plain()?;
        let at = names.iter().position(|known| *known == name);
        at.ok_or_else(|| LoadError::invalid(path, format_args!("`{name}` is not listed above")))
    }
}

/// Reads the tree of a readable save.
pub(super) fn read(data: Data) -> Result<Image, LoadError> {
    let mut root = Place { path: String::new(), data };
    if root.data.as_map().is_none() {
        return Err(LoadError::invalid("the save", format_args!("it is {}, not a map", root.data.kind())));
    }
    let form: i64 = root.field("phalanx")?.plain()?;
    if form != FORM {
        let message = format_args!("form {form} of saves, but only {FORM} is known here");
        return Err(LoadError::invalid("phalanx", message));
    }
    root.optional("not_saved")?;
    let components = root.field("components")?.list(read_component)?;
    let names: Vec<String> = components.iter().map(|component| component.name.clone()).collect();
    let pools: Vec<String> = root.field("pools")?.plain()?;
    let slots = root.field("slots")?;
    let tables = root.field("tables")?.list(|place| read_table(place, &names, &pools))?;
    let image = Image {
        directory: read_slots(slots, &tables)?,
        sets: root.field("sets")?.list(|place| read_set(place, &names))?,
        groups: root.field("groups")?.list(|place| read_group(place, &names))?,
        resources: root.field("resources")?.list(read_resource)?,
        messages: root.field("messages")?.list(read_channel)?,
        kept: root.field("kept")?.list(read_kept)?,
        components,
        pools,
        tables,
    };
    root.finish()?;
    Ok(image)
}

fn read_component(mut place: Place) -> Result<ComponentImage, LoadError> {
    let (name, version) = (place.field("name")?.plain()?, place.field("version")?.plain()?);
    let storage: String = place.field("storage")?.plain()?;
    let Some(&(storage, _)) = STORAGE.iter().find(|(_, known)| *known == storage) else {
        return place.error(format_args!("`{storage}` is no kind of storage"));
    };
    place.optional("type")?;
    let fields = place.optional("fields")?.map(|fields| {
        fields.list(|pair| {
            let path = pair.path.clone();
            let (name, field): (String, String) = pair.plain()?;
            let found = FIELD_TYPES.iter().find(|known| known.to_string() == field);
            let found =
                found.ok_or_else(|| LoadError::invalid(path, format_args!("`{field}` is no type")))?;
            Ok((name, *found))
        })
    });
    place.finish()?;
    Ok(ComponentImage { name, version, storage, fields: fields.transpose()? })
}

fn read_table(mut place: Place, names: &[String], pools: &[String]) -> Result<TableImage, LoadError> {
    let pool = match place.optional("pool")? {
        Some(pool) => pool.one_of(pools)? + 1,
        None => 0,
    };
    let components = place.field("components")?.list(|name| name.one_of(names))?;
    let mut columns: Vec<Vec<Data>> = components.iter().map(|_| Vec::new()).collect();
    let entities = place.field("rows")?.list(|mut row| {
        let owner: Entity = row.field("entity")?.plain()?;
        let mut values = row.field("values")?;
        for (&component, column) in components.iter().zip(&mut columns) {
            column.push(values.field(&names[component])?.data);
        }
        values.finish()?;
        row.finish()?;
        Ok(owner)
    })?;
    place.finish()?;
    let columns = columns.into_iter().map(|column| ValueSource::tree(column, true)).collect();
    Ok(TableImage { pool, components, entities, columns })
}

/// The rows of a set: who, and what.
fn read_rows(place: Place) -> Result<(Vec<Entity>, Vec<Data>), LoadError> {
    let rows = place.list(|mut row| {
        let read = (row.field("entity")?.plain::<Entity>()?, row.field("value")?.data);
        row.finish()?;
        Ok(read)
    })?;
    Ok(rows.into_iter().unzip())
}

fn read_set(mut place: Place, names: &[String]) -> Result<SetImage, LoadError> {
    let component = place.field("component")?.one_of(names)?;
    let (entities, values) = read_rows(place.field("rows")?)?;
    let holes = place.field("holes")?.plain()?;
    place.finish()?;
    Ok(SetImage { component, entities, holes, column: ValueSource::tree(values, true) })
}

fn read_group(mut place: Place, names: &[String]) -> Result<GroupImage, LoadError> {
    let mut named = |field: &str| place.field(field)?.list(|name| name.one_of(names));
    let (owned, seen, without) = (named("own")?, named("get")?, named("without")?);
    let order = place.optional("order")?.map(Place::plain).transpose()?;
    place.finish()?;
    Ok(GroupImage { owned, seen, without, order })
}

fn read_resource(mut place: Place) -> Result<ResourceImage, LoadError> {
    let (name, version) = (place.field("name")?.plain()?, place.field("version")?.plain()?);
    place.optional("type")?;
    let value = ValueSource::tree(vec![place.field("value")?.data], true);
    place.finish()?;
    Ok(ResourceImage { name, version, value })
}

fn read_channel(mut place: Place) -> Result<MessageImage, LoadError> {
    let (name, version) = (place.field("name")?.plain()?, place.field("version")?.plain()?);
    let (first, ends) = (place.field("first")?.plain()?, place.field("ends")?.plain()?);
    let keep = place.field("keep")?.plain()?;
    let values = place.field("values")?.list(|value| Ok(value.data))?;
    place.finish()?;
    let state = ChannelState { first, len: values.len(), ends, keep };
    Ok(MessageImage { name, version, state, values: ValueSource::tree(values, true) })
}

fn read_kept(mut place: Place) -> Result<KeptImage, LoadError> {
    let (name, version) = (place.field("name")?.plain()?, place.field("version")?.plain()?);
    let readable = place.field("readable")?.plain()?;
    let (entities, values) = read_rows(place.field("rows")?)?;
    place.finish()?;
    Ok(KeptImage { name, version, readable, entities, values: ValueSource::tree(values, true) })
}

/// Who is alive follows from the rows; together with the others they are all slots, each once.
fn read_slots(mut place: Place, tables: &[TableImage]) -> Result<DirectoryState, LoadError> {
    let count: u32 = place.field("count")?.plain()?;
    let free: Vec<Entity> = place.field("free")?.plain()?;
    let retired: Vec<u32> = place.field("retired")?.plain()?;
    let rowless: Vec<Entity> = place.field("without_row")?.plain()?;
    place.finish()?;
    let alive = tables.iter().flat_map(|table| &table.entities).chain(&rowless);
    let mut slots: Vec<(u32, SlotState)> =
        alive.map(|entity| (entity.index(), SlotState::Alive(entity.generation()))).collect();
    slots.extend(free.iter().map(|entity| (entity.index(), SlotState::Free(entity.generation()))));
    slots.extend(retired.iter().map(|&index| (index, SlotState::Retired)));
    slots.sort_by_key(|(index, _)| *index);
    if let Some(pair) = slots.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return place.error(format_args!("slot {} is there twice", pair[0].0));
    }
    let complete = slots.len() == count as usize && slots.last().is_none_or(|(last, _)| *last < count);
    if !complete {
        return place.error(format_args!("{count} slots claimed, {} found", slots.len()));
    }
    let free = free.iter().map(|entity| entity.index()).collect();
    Ok(DirectoryState { slots: slots.into_iter().map(|(_, slot)| slot).collect(), free })
}
