//! The compact form of a save: a head, and blocks of columns.
//!
//! What is written here goes into a format of serde that is not readable, as a list of byte strings, or into a file.
//! Both ways the bytes are the same.

use hashbrown::HashMap;
use phalanx_store::{BLOCK_ROWS, DirectoryState, SlotState};

use super::chunk::{Chunks, Key, Part, write_entities};
use super::error::LoadError;
use super::image::{
    ComponentImage, FIELD_TYPES, GroupImage, Image, KeptImage, MessageImage, ResourceImage, STORAGE,
    SetImage, TableImage,
};
use super::plan::Plan;
use crate::codec::{CodecError, Reader, ValueSource, put_text, put_varint, write_block};
use crate::messages::ChannelState;

/// The version of the form.
const FORM: u64 = 1;

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 parts")
}

impl Plan<'_> {
    /// The keys of all pieces, in the order in which they are written.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Part::Head.block(0)];
        let mut add = |part: Part, rows: usize| {
            keys.extend((0..rows.div_ceil(BLOCK_ROWS)).map(|block| part.block(block)));
        };
        add(Part::Slots, self.directory.slots.len());
        add(Part::Free, self.directory.free.len());
        for (at, table) in self.tables.iter().enumerate() {
            add(Part::Owners(number(at)), table.entities.len());
            for column in 0..table.components.len() {
                add(Part::Column(number(at), number(column)), table.entities.len());
            }
        }
        for (at, set) in self.sets.iter().enumerate() {
            add(Part::SetOwners(number(at)), set.entities.len());
            add(Part::SetColumn(number(at)), set.entities.len());
        }
        for (at, group) in self.groups.iter().enumerate() {
            add(Part::GroupOrder(number(at)), group.order.as_ref().map_or(0, Vec::len));
        }
        (0..self.resources.len()).for_each(|at| add(Part::Resource(number(at)), 1));
        for (at, (_, _, state)) in self.messages.iter().enumerate() {
            // All at once: a channel is short.
            add(Part::Messages(number(at)), state.len.min(1));
        }
        for (at, kept) in self.kept.iter().enumerate() {
            add(Part::KeptOwners(number(at)), kept.values.len());
            add(Part::KeptValues(number(at)), kept.values.len());
        }
        keys
    }

    /// The bytes of a piece, without its key.
    pub(super) fn piece(&self, key: Key) -> Result<Vec<u8>, CodecError> {
        fn rows<T>(all: &[T], key: Key) -> &[T] {
            let start = key.block as usize * BLOCK_ROWS;
            &all[start..all.len().min(start + BLOCK_ROWS)]
        }
        let entities = |all| {
            let mut out = Vec::new();
            write_entities(rows(all, key), &mut out);
            Ok(out)
        };
        let values = |component: usize, all| {
            let rows = rows(all, key);
            let block = write_block(rows.len(), |sink| self.write_values(component, rows, sink));
            let name = self.components[component].info.name();
            block.map_err(|error| error.within(format_args!("component `{name}`")))
        };
        match key.part {
            Part::Head => Ok(self.head()),
            Part::Slots => Ok(write_slots(rows(&self.directory.slots, key))),
            Part::Free => {
                let mut out = Vec::new();
                let free = rows(&self.directory.free, key);
                put_varint(&mut out, free.len() as u64);
                free.iter().for_each(|&index| put_varint(&mut out, index.into()));
                Ok(out)
            }
            Part::Owners(at) => entities(&self.tables[at as usize].entities),
            Part::Column(at, column) => {
                let table = &self.tables[at as usize];
                values(table.components[column as usize], &table.entities)
            }
            Part::SetOwners(at) => entities(&self.sets[at as usize].entities),
            Part::SetColumn(at) => {
                let set = &self.sets[at as usize];
                values(set.component, &set.entities)
            }
            Part::GroupOrder(at) => entities(self.groups[at as usize].order.as_deref().unwrap_or_default()),
            Part::Resource(at) => {
                let (name, saving) = &self.resources[at as usize];
                let block = write_block(1, |sink| (saving.write)(&self.world.resources, sink));
                block.map_err(|error| error.within(format_args!("resource `{name}`")))
            }
            Part::Messages(at) => {
                let (name, saving, state) = &self.messages[at as usize];
                let block = write_block(state.len, |sink| (saving.write)(&self.world.messages, sink));
                block.map_err(|error| error.within(format_args!("message `{name}`")))
            }
            Part::KeptOwners(at) => {
                let kept = rows(&self.kept[at as usize].values, key);
                let mut out = Vec::new();
                let owners: Vec<_> = kept.iter().map(|(entity, _)| *entity).collect();
                write_entities(&owners, &mut out);
                Ok(out)
            }
            Part::KeptValues(at) => {
                let kept = rows(&self.kept[at as usize].values, key);
                write_block(kept.len(), |sink| kept.iter().try_for_each(|(_, data)| sink.push(data)))
            }
        }
    }

    fn head(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, FORM);
        put_list(&mut out, &self.components, |out, component| {
            put_text(out, component.info.name());
            put_varint(out, component.version.into());
            let storage = STORAGE.iter().position(|(kind, _)| *kind == component.info.storage());
            put_varint(out, storage.unwrap_or(0) as u64);
            out.push(u8::from(component.info.schema().is_some()));
            if let Some(schema) = component.info.schema() {
                let fields: Vec<_> = schema.iter().collect();
                put_list(out, &fields, |out, (name, field)| {
                    put_text(out, name);
                    let number = FIELD_TYPES.iter().position(|known| known == field);
                    put_varint(out, number.unwrap_or(0) as u64);
                });
            }
        });
        put_list(&mut out, &self.pools, |out, pool| put_text(out, pool));
        put_varint(&mut out, self.directory.slots.len() as u64);
        put_varint(&mut out, self.directory.free.len() as u64);
        put_list(&mut out, &self.tables, |out, table| {
            put_varint(out, table.pool as u64);
            put_numbers(out, &table.components);
            put_varint(out, table.entities.len() as u64);
        });
        put_list(&mut out, &self.sets, |out, set| {
            put_varint(out, set.component as u64);
            put_varint(out, set.entities.len() as u64);
            put_list(out, &set.holes, |out, hole| put_varint(out, (*hole).into()));
        });
        put_list(&mut out, &self.groups, |out, group| {
            put_numbers(out, &group.owned);
            put_numbers(out, &group.seen);
            put_numbers(out, &group.without);
            // One more than the members; nothing where owned sets tell the order.
            put_varint(out, group.order.as_ref().map_or(0, |order| order.len() as u64 + 1));
        });
        put_list(&mut out, &self.resources, |out, (name, saving)| {
            put_text(out, name);
            put_varint(out, saving.version.into());
        });
        put_list(&mut out, &self.messages, |out, (name, saving, state)| {
            put_text(out, name);
            put_varint(out, saving.version.into());
            put_varint(out, state.first);
            put_varint(out, state.len as u64);
            put_list(out, &state.ends, |out, end| put_varint(out, *end));
            put_varint(out, state.keep as u64);
        });
        put_list(&mut out, &self.kept, |out, kept| {
            put_text(out, kept.name);
            put_varint(out, kept.version.into());
            out.push(u8::from(kept.readable));
            put_varint(out, kept.values.len() as u64);
        });
        let left_out: Vec<&str> = self.report.names().collect();
        put_list(&mut out, &left_out, |out, name| put_text(out, name));
        out
    }
}

fn put_list<T>(out: &mut Vec<u8>, list: &[T], mut put: impl FnMut(&mut Vec<u8>, &T)) {
    put_varint(out, list.len() as u64);
    list.iter().for_each(|item| put(out, item));
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[usize]) {
    put_list(out, numbers, |out, number| put_varint(out, *number as u64));
}

fn write_slots(slots: &[SlotState]) -> Vec<u8> {
    let mut out = Vec::new();
    put_list(&mut out, slots, |out, slot| {
        let (state, generation) = match slot {
            SlotState::Alive(generation) => (0, *generation),
            SlotState::Free(generation) => (1, *generation),
            SlotState::Retired => (2, 0),
        };
        put_varint(out, u64::from(generation) << 2 | state);
    });
    out
}

fn read_slots(reader: &mut Reader<'_>, slots: &mut Vec<SlotState>) -> Result<(), CodecError> {
    for _ in 0..reader.count()? {
        let slot = reader.varint()?;
        let generation = u32::try_from(slot >> 2);
        slots.push(match (slot & 3, generation) {
            (0, Ok(generation)) => SlotState::Alive(generation),
            (1, Ok(generation)) => SlotState::Free(generation),
            (2, Ok(0)) => SlotState::Retired,
            _ => return Err(reader.error("not a slot")),
        });
    }
    reader.finish()
}

/// Reads pieces of a compact save.
pub(super) fn read(mut chunks: Chunks) -> Result<Image, LoadError> {
    let bytes = chunks.take(Part::Head.block(0))?;
    let mut reader = Reader::new(&bytes);
    let head = Head::read(&mut reader).and_then(|head| reader.finish().map(|()| head));
    let head = head.map_err(|error| LoadError::invalid(Part::Head, error))?;
    let image = head.image(&mut chunks)?;
    chunks.finish()?;
    Ok(image)
}

/// How many rows each part has that a head lists, itself excepted.
pub(super) fn parts_of(head: &[u8]) -> Result<HashMap<Part, u64>, LoadError> {
    let head = Head::read(&mut Reader::new(head)).map_err(|error| LoadError::invalid(Part::Head, error))?;
    let mut parts = HashMap::new();
    let mut add = |part: Part, rows: u64| {
        parts.insert(part, rows);
    };
    add(Part::Slots, head.slots);
    add(Part::Free, head.free);
    for (at, (_, components, rows)) in (0u32..).zip(&head.tables) {
        add(Part::Owners(at), *rows);
        (0u32..).zip(components).for_each(|(column, _)| add(Part::Column(at, column), *rows));
    }
    for (at, (_, rows, _)) in (0u32..).zip(&head.sets) {
        add(Part::SetOwners(at), *rows);
        add(Part::SetColumn(at), *rows);
    }
    for (at, (_, order)) in (0u32..).zip(&head.groups) {
        add(Part::GroupOrder(at), order.saturating_sub(1));
    }
    (0u32..).zip(&head.resources).for_each(|(at, _)| add(Part::Resource(at), 1));
    for (at, (_, _, state)) in (0u32..).zip(&head.messages) {
        add(Part::Messages(at), (state.len as u64).min(1));
    }
    for (at, (_, _, _, rows)) in (0u32..).zip(&head.kept) {
        add(Part::KeptOwners(at), *rows);
        add(Part::KeptValues(at), *rows);
    }
    Ok(parts)
}

/// The head: an image without entities and values, and how many of them there are.
struct Head {
    components: Vec<ComponentImage>,
    pools: Vec<String>,
    slots: u64,
    free: u64,
    tables: Vec<(usize, Vec<usize>, u64)>,
    sets: Vec<(usize, u64, Vec<u32>)>,
    groups: Vec<(GroupImage, u64)>,
    resources: Vec<(String, u32)>,
    messages: Vec<(String, u32, ChannelState)>,
    kept: Vec<(String, u32, bool, u64)>,
}

fn list<T>(
    reader: &mut Reader<'_>,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, CodecError>,
) -> Result<Vec<T>, CodecError> {
    let mut list = Vec::new();
    for _ in 0..reader.count()? {
        list.push(read(reader)?);
    }
    Ok(list)
}

fn text(reader: &mut Reader<'_>) -> Result<String, CodecError> {
    reader.text().map(str::to_owned)
}

fn index(reader: &mut Reader<'_>) -> Result<u32, CodecError> {
    reader.number()
}

fn long(reader: &mut Reader<'_>) -> Result<u64, CodecError> {
    reader.varint()
}

fn flag(reader: &mut Reader<'_>) -> Result<bool, CodecError> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        byte => Err(reader.error(format_args!("{byte} is no flag"))),
    }
}

/// Positions below `end`.
fn positions(reader: &mut Reader<'_>, end: usize) -> Result<Vec<usize>, CodecError> {
    list(reader, |reader| position(reader, end))
}

fn position(reader: &mut Reader<'_>, end: usize) -> Result<usize, CodecError> {
    let at: usize = reader.number()?;
    if at < end { Ok(at) } else { Err(reader.error(format_args!("{at} is not below {end}"))) }
}

impl Head {
    fn read(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let form = reader.varint()?;
        if form != FORM {
            return Err(reader.error(format_args!("form {form} of saves, but only {FORM} is known here")));
        }
        let components = list(reader, |reader| {
            let (name, version) = (text(reader)?, reader.number()?);
            let storage = STORAGE[position(reader, STORAGE.len())?].0;
            let fields = flag(reader)?.then(|| {
                list(reader, |reader| Ok((text(reader)?, FIELD_TYPES[position(reader, FIELD_TYPES.len())?])))
            });
            Ok(ComponentImage { name, version, storage, fields: fields.transpose()? })
        })?;
        let end = components.len();
        let pools = list(reader, text)?;
        Ok(Self {
            slots: reader.varint()?,
            free: reader.varint()?,
            tables: list(reader, |reader| {
                let pool = position(reader, pools.len() + 1)?;
                Ok((pool, positions(reader, end)?, reader.varint()?))
            })?,
            sets: list(reader, |reader| {
                Ok((position(reader, end)?, reader.varint()?, list(reader, index)?))
            })?,
            groups: list(reader, |reader| {
                let (owned, seen) = (positions(reader, end)?, positions(reader, end)?);
                let without = positions(reader, end)?;
                Ok((GroupImage { owned, seen, without, order: None }, reader.varint()?))
            })?,
            resources: list(reader, |reader| Ok((text(reader)?, reader.number()?)))?,
            messages: list(reader, |reader| {
                let (name, version) = (text(reader)?, reader.number()?);
                let (first, len) = (reader.varint()?, reader.number()?);
                let (ends, keep) = (list(reader, long)?, reader.number()?);
                Ok((name, version, ChannelState { first, len, ends, keep }))
            })?,
            kept: list(reader, |reader| {
                Ok((text(reader)?, reader.number()?, flag(reader)?, reader.varint()?))
            })?,
            components,
            pools,
        })
        .and_then(|head| list(reader, text).map(|_| head))
    }

    fn image(self, chunks: &mut Chunks) -> Result<Image, LoadError> {
        let mut image = Image {
            components: self.components,
            pools: self.pools,
            directory: directory(chunks, self.slots, self.free)?,
            ..Image::default()
        };
        for (at, (pool, components, count)) in (0u32..).zip(self.tables) {
            let entities = chunks.entities(Part::Owners(at), count)?;
            let columns = (0u32..)
                .zip(&components)
                .map(|(column, _)| Ok(ValueSource::blocks(chunks.blocks(Part::Column(at, column), count)?)));
            let columns = columns.collect::<Result<_, LoadError>>()?;
            image.tables.push(TableImage { pool, components, entities, columns });
        }
        for (at, (component, count, holes)) in (0u32..).zip(self.sets) {
            let entities = chunks.entities(Part::SetOwners(at), count)?;
            let column = ValueSource::blocks(chunks.blocks(Part::SetColumn(at), count)?);
            image.sets.push(SetImage { component, entities, holes, column });
        }
        for (at, (mut group, order)) in (0u32..).zip(self.groups) {
            if let Some(members) = order.checked_sub(1) {
                group.order = Some(chunks.entities(Part::GroupOrder(at), members)?);
            }
            image.groups.push(group);
        }
        for (at, (name, version)) in (0u32..).zip(self.resources) {
            let value = ValueSource::blocks(chunks.blocks(Part::Resource(at), 1)?);
            image.resources.push(ResourceImage { name, version, value });
        }
        for (at, (name, version, state)) in (0u32..).zip(self.messages) {
            let values = chunks.blocks(Part::Messages(at), (state.len as u64).min(1))?;
            image.messages.push(MessageImage { name, version, state, values: ValueSource::blocks(values) });
        }
        for (at, (name, version, readable, count)) in (0u32..).zip(self.kept) {
            let entities = chunks.entities(Part::KeptOwners(at), count)?;
            let values = ValueSource::blocks(chunks.blocks(Part::KeptValues(at), count)?);
            image.kept.push(KeptImage { name, version, readable, entities, values });
        }
        Ok(image)
    }
}

fn directory(chunks: &mut Chunks, slots: u64, free: u64) -> Result<DirectoryState, LoadError> {
    let mut directory = DirectoryState::default();
    for bytes in chunks.blocks(Part::Slots, slots)? {
        let read = read_slots(&mut Reader::new(&bytes), &mut directory.slots);
        read.map_err(|error| LoadError::invalid(Part::Slots, error))?;
    }
    for bytes in chunks.blocks(Part::Free, free)? {
        let mut reader = Reader::new(&bytes);
        let read = list(&mut reader, index).and_then(|list| reader.finish().map(|()| list));
        directory.free.extend(read.map_err(|error| LoadError::invalid(Part::Free, error))?);
    }
    for (part, claimed, found) in
        [(Part::Slots, slots, directory.slots.len()), (Part::Free, free, directory.free.len())]
    {
        if claimed != found as u64 {
            return Err(LoadError::invalid(part, format_args!("{claimed} slots claimed, {found} found")));
        }
    }
    Ok(directory)
}
