//! The pieces of a compact save, each with a key that says what it is.
//!
//! ```text
//!   head                        names, versions, tables, sets, groups: everything but values and entities
//!   slots, free                 the entity directory, 1,024 slots each
//!   owners, column              the entities of a table's rows, and the values of one component: a block each
//!   ...
//! ```
//!
//! A piece stands alone: it can be checked, left out where it did not change, and read without the others.

use std::collections::BTreeMap;

use phalanx_store::{BLOCK_ROWS, Entity};

use super::error::LoadError;
use crate::codec::{CodecError, Reader, put_varint};

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    Head,
    /// The state of slots.
    Slots,
    /// The free list.
    Free,
    /// The entities of a table's rows.
    Owners(u32),
    /// The values of the n-th component of a table.
    Column(u32, u32),
    SetOwners(u32),
    SetColumn(u32),
    GroupOrder(u32),
    Resource(u32),
    Messages(u32),
    KeptOwners(u32),
    KeptValues(u32),
}

/// What a piece is, and which block of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) part: Part,
    pub(super) block: u32,
}

impl Part {
    pub(super) fn block(self, block: usize) -> Key {
        Key { part: self, block: u32::try_from(block).expect("fewer than 2^32 blocks") }
    }

    fn numbers(self) -> (u8, u32, u32) {
        match self {
            Self::Head => (0, 0, 0),
            Self::Slots => (1, 0, 0),
            Self::Free => (2, 0, 0),
            Self::Owners(table) => (3, table, 0),
            Self::Column(table, at) => (4, table, at),
            Self::SetOwners(set) => (5, set, 0),
            Self::SetColumn(set) => (6, set, 0),
            Self::GroupOrder(group) => (7, group, 0),
            Self::Resource(at) => (8, at, 0),
            Self::Messages(at) => (9, at, 0),
            Self::KeptOwners(at) => (10, at, 0),
            Self::KeptValues(at) => (11, at, 0),
        }
    }

    fn from_numbers(kind: u8, a: u32, b: u32) -> Option<Self> {
        let part = match kind {
            0 => Self::Head,
            1 => Self::Slots,
            2 => Self::Free,
            3 => Self::Owners(a),
            4 => Self::Column(a, b),
            5 => Self::SetOwners(a),
            6 => Self::SetColumn(a),
            7 => Self::GroupOrder(a),
            8 => Self::Resource(a),
            9 => Self::Messages(a),
            10 => Self::KeptOwners(a),
            11 => Self::KeptValues(a),
            _ => return None,
        };
        (part.numbers() == (kind, a, b)).then_some(part)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Head => write!(f, "the head"),
            Self::Slots => write!(f, "the entity slots"),
            Self::Free => write!(f, "the free list"),
            Self::Owners(table) => write!(f, "the entities of table {table}"),
            Self::Column(table, at) => write!(f, "column {at} of table {table}"),
            Self::SetOwners(set) => write!(f, "the entities of set {set}"),
            Self::SetColumn(set) => write!(f, "the values of set {set}"),
            Self::GroupOrder(group) => write!(f, "the order of group {group}"),
            Self::Resource(at) => write!(f, "resource {at}"),
            Self::Messages(at) => write!(f, "the messages of channel {at}"),
            Self::KeptOwners(at) => write!(f, "the entities of unknown component {at}"),
            Self::KeptValues(at) => write!(f, "the values of unknown component {at}"),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "block {} of {}", self.block, self.part)
    }
}

impl Key {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let (kind, a, b) = self.part.numbers();
        out.push(kind);
        [a, b, self.block].into_iter().for_each(|number| put_varint(out, number.into()));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        let kind = reader.byte()?;
        let (a, b, block) = (reader.number()?, reader.number()?, reader.number()?);
        let part = Part::from_numbers(kind, a, b);
        Ok(Self { part: part.ok_or_else(|| reader.error("no part of a save has this number"))?, block })
    }
}

/// The pieces of a save that was read, until each was used.
#[derive(Default)]
pub(super) struct Chunks(BTreeMap<Key, Vec<u8>>);

impl Chunks {
    /// Adds a piece: its key, and what follows.
    pub(super) fn add(&mut self, at: usize, bytes: &[u8]) -> Result<(), LoadError> {
        let mut reader = Reader::new(bytes);
        let key =
            Key::read(&mut reader).map_err(|error| LoadError::invalid(format_args!("piece {at}"), error))?;
        self.insert(key, bytes[reader.position()..].to_vec())
    }

    pub(super) fn insert(&mut self, key: Key, bytes: Vec<u8>) -> Result<(), LoadError> {
        if self.0.insert(key, bytes).is_some() {
            return Err(LoadError::invalid(key, "it occurs twice"));
        }
        Ok(())
    }

    pub(super) fn take(&mut self, key: Key) -> Result<Vec<u8>, LoadError> {
        self.0.remove(&key).ok_or_else(|| LoadError::invalid(key, "it is missing"))
    }

    /// All blocks of a part with `count` rows.
    pub(super) fn blocks(&mut self, part: Part, count: u64) -> Result<Vec<Vec<u8>>, LoadError> {
        // One after the other: a count that is only claimed ends at the first block that is missing.
        let mut blocks = Vec::new();
        for block in 0..count.div_ceil(BLOCK_ROWS as u64) {
            let key = u32::try_from(block).map(|block| Key { part, block });
            blocks.push(self.take(key.map_err(|_| LoadError::invalid(part, "it has too many rows"))?)?);
        }
        Ok(blocks)
    }

    /// The entities of a part with `count` rows.
    pub(super) fn entities(&mut self, part: Part, count: u64) -> Result<Vec<Entity>, LoadError> {
        let mut entities = Vec::new();
        for bytes in self.blocks(part, count)? {
            let mut reader = Reader::new(&bytes);
            read_entities(&mut reader, &mut entities).map_err(|error| LoadError::invalid(part, error))?;
        }
        if entities.len() as u64 != count {
            let found = entities.len();
            return Err(LoadError::invalid(part, format_args!("{count} entities claimed, {found} found")));
        }
        Ok(entities)
    }

    /// Refuses pieces that were not asked for.
    pub(super) fn finish(&self) -> Result<(), LoadError> {
        match self.0.keys().next() {
            Some(key) => Err(LoadError::invalid(key, "nothing else in the save speaks of it")),
            None => Ok(()),
        }
    }
}

/// Writes entities: how far each index is from the one expected, and the generation.
pub(super) fn write_entities(entities: &[Entity], out: &mut Vec<u8>) {
    put_varint(out, entities.len() as u64);
    let mut expected = 0i64;
    for entity in entities {
        let (index, step) = (i64::from(entity.index()), i64::from(entity.index()) - expected);
        put_varint(out, (step << 1 ^ step >> 63).cast_unsigned());
        put_varint(out, entity.generation().into());
        expected = index + 1;
    }
}

fn read_entities(reader: &mut Reader<'_>, entities: &mut Vec<Entity>) -> Result<(), CodecError> {
    let mut expected = 0i64;
    for _ in 0..reader.count()? {
        let step: u64 = reader.varint()?;
        let step = (step >> 1).cast_signed() ^ -(step & 1).cast_signed();
        let index = expected.checked_add(step).and_then(|index| u32::try_from(index).ok());
        let generation: u32 = reader.number()?;
        let entity = index.and_then(|index| super::plan::id(index, generation));
        entities.push(entity.ok_or_else(|| reader.error("not an entity"))?);
        expected = i64::from(index.unwrap_or(0)) + 1;
    }
    reader.finish()
}
