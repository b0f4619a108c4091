//! The readable form of a save: rows with names.
//!
//! ```text
//!   { "phalanx": 1,
//!     "components": [ { "name": "game.Health", "version": 2, "storage": "table", "type": "{ current: f32 }" } ],
//!     "tables": [ { "components": ["game.Health"],
//!                   "rows": [ { "entity": "0v0", "values": { "game.Health": { "current": 7.5 } } } ] } ], .. }
//! ```
//!
//! Lists keep their order, which is that of the world. Writing is in `write`. What is read stands in one
//! piece of memory, as bytes that say what they hold (`place`), and values are read from there: no tree is made.

use std::sync::Arc;

use phalanx_store::{DirectoryState, Entity, SlotState};

use super::error::LoadError;
use super::image::{
    ComponentImage, FIELD_TYPES, GroupImage, Image, KeptImage, MessageImage, ResourceImage, STORAGE,
    SetImage, TableImage,
};
use crate::codec::ValueSource;
use crate::messages::ChannelState;
use place::{Map, Place};

pub(super) use write::Document;

mod place;
mod write;

/// The version of the form.
const FORM: i64 = 1;

/// Reads a readable save, as bytes that say what they hold.
pub(super) fn read(document: Vec<u8>) -> Result<Image, LoadError> {
    let document: Arc<[u8]> = document.into();
    read_document(&document).map_err(|error| error.somewhere_in("the save"))
}

fn read_document(document: &Arc<[u8]>) -> Result<Image, LoadError> {
    let mut root = Place::root(document).map()?;
    let form: i64 = root.read("phalanx", Place::plain)?;
    if form != FORM {
        let message = format_args!("form {form} of saves, but only {FORM} is known here");
        return Err(LoadError::invalid("phalanx", message));
    }
    root.optional("not_saved");
    let components = root.read("components", |place| place.list(read_component))?;
    let names: Vec<String> = components.iter().map(|component| component.name.clone()).collect();
    let pools: Vec<String> = root.read("pools", Place::plain)?;
    let tables =
        root.read("tables", |place| place.list(|place| read_table(document, place, &names, &pools)))?;
    let image = Image {
        directory: root.read("slots", |place| read_slots(place, &tables))?,
        sets: root.read("sets", |place| place.list(|place| read_set(document, place, &names)))?,
        groups: root.read("groups", |place| place.list(|place| read_group(place, &names)))?,
        resources: root.read("resources", |place| place.list(|place| read_resource(document, place)))?,
        messages: root.read("messages", |place| place.list(|place| read_channel(document, place)))?,
        kept: root.read("kept", |place| place.list(|place| read_kept(document, place)))?,
        components,
        pools,
        tables,
    };
    root.finish()?;
    Ok(image)
}

fn name_and_version(map: &mut Map<'_>) -> Result<(String, u32), LoadError> {
    Ok((map.read("name", Place::plain)?, map.read("version", Place::plain)?))
}

fn read_component(place: Place<'_>) -> Result<ComponentImage, LoadError> {
    let mut map = place.map()?;
    let (name, version) = name_and_version(&mut map)?;
    let storage: String = map.read("storage", Place::plain)?;
    let Some(&(storage, _)) = STORAGE.iter().find(|(_, known)| *known == storage) else {
        return Err(LoadError::invalid("storage", format_args!("`{storage}` is no kind of storage")));
    };
    map.optional("type");
    let fields = map.read_optional("fields", |fields| {
        fields.list(|pair| {
            let (name, field): (String, String) = pair.plain()?;
            let found = FIELD_TYPES.iter().find(|known| known.to_string() == field);
            let found = found.ok_or_else(|| LoadError::invalid("", format_args!("`{field}` is no type")))?;
            Ok((name, *found))
        })
    })?;
    map.finish()?;
    Ok(ComponentImage { name, version, storage, fields })
}

fn read_table(
    document: &Arc<[u8]>,
    place: Place<'_>,
    names: &[String],
    pools: &[String],
) -> Result<TableImage, LoadError> {
    let mut map = place.map()?;
    let pool = map.read_optional("pool", |pool| pool.one_of(pools))?.map_or(0, |pool| pool + 1);
    let components = map.read("components", |place| place.list(|name| name.one_of(names)))?;
    let columns_named: Vec<&str> = components.iter().map(|&component| &*names[component]).collect();
    let mut columns: Vec<Vec<usize>> = components.iter().map(|_| Vec::new()).collect();
    let entities = map.read("rows", |place| {
        place.list(|row| {
            let [entity, values] = row.fields(["entity", "values"])?;
            let entity = entity.plain::<Entity>().map_err(|error| error.inside("entity"))?;
            let read = values.columns(&columns_named, &mut columns);
            read.map_err(|error| error.inside("values"))?;
            Ok(entity)
        })
    })?;
    map.finish()?;
    let columns = columns.into_iter().map(|starts| ValueSource::document(document, starts)).collect();
    Ok(TableImage { pool, components, entities, columns })
}

/// The rows of a set: the entities, and where their values begin.
fn read_rows(place: Place<'_>) -> Result<(Vec<Entity>, Vec<usize>), LoadError> {
    let rows = place.list(|row| {
        let [entity, value] = row.fields(["entity", "value"])?;
        Ok((entity.plain::<Entity>().map_err(|error| error.inside("entity"))?, value.start()))
    })?;
    Ok(rows.into_iter().unzip())
}

fn read_set(document: &Arc<[u8]>, place: Place<'_>, names: &[String]) -> Result<SetImage, LoadError> {
    let mut map = place.map()?;
    let component = map.read("component", |name| name.one_of(names))?;
    let (entities, values) = map.read("rows", read_rows)?;
    let holes = map.read("holes", Place::plain)?;
    map.finish()?;
    Ok(SetImage { component, entities, holes, column: ValueSource::document(document, values) })
}

fn read_group(place: Place<'_>, names: &[String]) -> Result<GroupImage, LoadError> {
    let mut map = place.map()?;
    let mut named = |field: &'static str| map.read(field, |place| place.list(|name| name.one_of(names)));
    let (owned, seen, without) = (named("own")?, named("get")?, named("without")?);
    let order = map.read_optional("order", Place::plain)?;
    map.finish()?;
    Ok(GroupImage { owned, seen, without, order })
}

fn read_resource(document: &Arc<[u8]>, place: Place<'_>) -> Result<ResourceImage, LoadError> {
    let mut map = place.map()?;
    let (name, version) = name_and_version(&mut map)?;
    map.optional("type");
    let start = map.read("value", |value| Ok(value.start()))?;
    map.finish()?;
    Ok(ResourceImage { name, version, value: ValueSource::document(document, vec![start]) })
}

fn read_channel(document: &Arc<[u8]>, place: Place<'_>) -> Result<MessageImage, LoadError> {
    let mut map = place.map()?;
    let (name, version) = name_and_version(&mut map)?;
    let (first, ends) = (map.read("first", Place::plain)?, map.read("ends", Place::plain)?);
    let keep = map.read("keep", Place::plain)?;
    let values = map.read("values", |place| place.list(|value| Ok(value.start())))?;
    map.finish()?;
    let state = ChannelState { first, len: values.len(), ends, keep };
    Ok(MessageImage { name, version, state, values: ValueSource::document(document, values) })
}

fn read_kept(document: &Arc<[u8]>, place: Place<'_>) -> Result<KeptImage, LoadError> {
    let mut map = place.map()?;
    let (name, version) = name_and_version(&mut map)?;
    let readable = map.read("readable", Place::plain)?;
    let (entities, values) = map.read("rows", read_rows)?;
    map.finish()?;
    Ok(KeptImage { name, version, readable, entities, values: ValueSource::document(document, values) })
}

/// The living entities follow from the rows; together with the others they are all slots, each once.
fn read_slots(place: Place<'_>, tables: &[TableImage]) -> Result<DirectoryState, LoadError> {
    let mut map = place.map()?;
    let count: u32 = map.read("count", Place::plain)?;
    let free: Vec<Entity> = map.read("free", Place::plain)?;
    let retired: Vec<u32> = map.read("retired", Place::plain)?;
    let rowless: Vec<Entity> = map.read("without_row", Place::plain)?;
    map.finish()?;
    let alive = tables.iter().flat_map(|table| &table.entities).chain(&rowless);
    let mut slots: Vec<(u32, SlotState)> =
        alive.map(|entity| (entity.index(), SlotState::Alive(entity.generation()))).collect();
    slots.extend(free.iter().map(|entity| (entity.index(), SlotState::Free(entity.generation()))));
    slots.extend(retired.iter().map(|&index| (index, SlotState::Retired)));
    slots.sort_by_key(|(index, _)| *index);
    if let Some(pair) = slots.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(LoadError::invalid("", format_args!("slot {} is there twice", pair[0].0)));
    }
    let complete = slots.len() == count as usize && slots.last().is_none_or(|(last, _)| *last < count);
    if !complete {
        return Err(LoadError::invalid("", format_args!("{count} slots claimed, {} found", slots.len())));
    }
    let free = free.iter().map(|entity| entity.index()).collect();
    Ok(DirectoryState { slots: slots.into_iter().map(|(_, slot)| slot).collect(), free })
}
