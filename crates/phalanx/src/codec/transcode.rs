//! Values that were written as bytes, handed on to a readable format.
//!
//! A readable save goes the same way as a compact one: values become bytes and a shape, a column at a time. From there they
//! are given to the format, part by part, exactly as the tree of the value ([`Data`]) would be, but no tree is made.

use std::cell::Cell;

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::reader::unzigzag;
use super::tagged::{read_char, read_tagged};
use super::tree::{read_tree, skip_padding};
use super::{Budget, CodecError, Data, Reader, Shape};

/// Values of one type as bytes, to be handed on one after the other.
pub(crate) struct Run {
    shape: Shape,
    bytes: Vec<u8>,
    at: Cell<usize>,
}

impl Run {
    pub(super) fn new(shape: Shape, bytes: Vec<u8>) -> Self {
        Self { shape, bytes, at: Cell::new(0) }
    }
}

/// As serialization, the next value: each one is asked for once.
impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Part { shape: &self.shape, run: self }.serialize(serializer)
    }
}

/// The part of a value that comes next.
struct Part<'r> {
    shape: &'r Shape,
    run: &'r Run,
}

impl<'r> Part<'r> {
    fn part(&self, shape: &'r Shape) -> Self {
        Self { shape, run: self.run }
    }

    /// Reads bytes, and goes on behind them.
    #[inline]
    fn read<T, E: Error>(&self, read: impl FnOnce(&mut Reader<'r>) -> Result<T, CodecError>) -> Result<T, E> {
        let mut reader = Reader::at(&self.run.bytes, self.run.at.get());
        let value = read(&mut reader).map_err(E::custom)?;
        self.run.at.set(reader.position());
        Ok(value)
    }

    /// Reads the padding behind elements which take no bytes.
    fn end_of<E: Error>(&self, start: usize, count: usize) -> Result<(), E> {
        self.read(|reader| skip_padding(reader, start, count))
    }
}

/// Whether values of this shape can be keys of maps in readable formats; `None` where each value says so.
fn is_plain_key(shape: &Shape) -> Option<bool> {
    match shape {
        Shape::Text | Shape::Char | Shape::Bool | Shape::Entity => Some(true),
        Shape::I8 | Shape::I16 | Shape::I32 | Shape::I64 => Some(true),
        Shape::U8 | Shape::U16 | Shape::U32 | Shape::U64 => Some(true),
        Shape::Any | Shape::Enum(_) | Shape::Unknown => None,
        _ => Some(false),
    }
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.shape {
            Shape::Unknown => Err(S::Error::custom("a value whose type was never seen")),
            Shape::Any => self.read(|reader| read_tagged(reader, 0))?.serialize(serializer),
            Shape::Unit => serializer.serialize_unit(),
            Shape::Bool => serializer.serialize_bool(self.read(Reader::byte)? != 0),
            Shape::I8 => serializer.serialize_i64(self.read(Reader::byte)?.cast_signed().into()),
            Shape::I16 | Shape::I32 | Shape::I64 => {
                serializer.serialize_i64(unzigzag(self.read(Reader::varint)?))
            }
            Shape::U8 => serializer.serialize_i64(self.read(Reader::byte)?.into()),
            Shape::U16 | Shape::U32 | Shape::U64 => {
                let value = self.read(Reader::varint)?;
                match i64::try_from(value) {
                    Ok(value) => serializer.serialize_i64(value),
                    Err(_) => serializer.serialize_u64(value),
                }
            }
            Shape::F32 => {
                let value = f32::from_le_bytes(self.read(Reader::array)?);
                if value.is_finite() && serializer.is_human_readable() {
                    return serializer.serialize_f32(value);
                }
                Data::F32(value).serialize(serializer)
            }
            Shape::F64 => {
                let value = f64::from_le_bytes(self.read(Reader::array)?);
                if value.is_finite() && serializer.is_human_readable() {
                    return serializer.serialize_f64(value);
                }
                Data::F64(value).serialize(serializer)
            }
            Shape::Char => serializer.serialize_char(self.read(read_char)?),
            Shape::Text => serializer.serialize_str(self.read(Reader::text)?),
            Shape::Bytes => serializer.serialize_bytes(self.read(|reader| {
                let count = reader.count()?;
                reader.take(count)
            })?),
            Shape::Entity => self.read(Reader::entity)?.serialize(serializer),
            Shape::Option(inner) => match self.read(Reader::byte)? {
                0 => serializer.serialize_unit(),
                _ => serializer.serialize_some(&self.part(inner)),
            },
            Shape::List(element) => {
                let count = self.read(Reader::count)?;
                let start = self.run.at.get();
                let mut list = serializer.serialize_seq(Some(count))?;
                for _ in 0..count {
                    list.serialize_element(&self.part(element))?;
                }
                self.end_of(start, count)?;
                list.end()
            }
            Shape::Map(entry) => self.map(entry, serializer),
            Shape::Tuple(parts) => {
                let mut list = serializer.serialize_seq(Some(parts.len()))?;
                for part in parts {
                    list.serialize_element(&self.part(part))?;
                }
                list.end()
            }
            Shape::Struct(parts) => {
                let mut map = serializer.serialize_map(Some(parts.len()))?;
                for (name, part) in parts {
                    map.serialize_entry(&**name, &self.part(part))?;
                }
                map.end()
            }
            Shape::Enum(variants) => {
                let at: usize = self.read(Reader::number)?;
                let (name, content) =
                    variants.get(at).ok_or_else(|| S::Error::custom("a variant that was never seen"))?;
                if matches!(content, Shape::Unit) {
                    return serializer.serialize_str(name);
                }
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(&**name, &self.part(content))?;
                map.end()
            }
        }
    }
}

impl<'r> Part<'r> {
    fn map<S: Serializer>(&self, entry: &'r (Shape, Shape), serializer: S) -> Result<S::Ok, S::Error> {
        let before = self.run.at.get();
        let count = self.read(Reader::count)?;
        let start = self.run.at.get();
        let plain = if count == 0 { Some(true) } else { is_plain_key(&entry.0) };
        match plain {
            None => {
                self.run.at.set(before);
                let mut budget = Budget::new(u64::MAX);
                let data = self.read(|reader| read_tree(reader, self.shape, &mut budget))?;
                data.serialize(serializer)
            }
            Some(false) if serializer.is_human_readable() => {
                let mut list = serializer.serialize_seq(Some(count))?;
                for _ in 0..count {
                    list.serialize_element(&(self.part(&entry.0), self.part(&entry.1)))?;
                }
                self.end_of(start, count)?;
                list.end()
            }
            Some(_) => {
                let mut map = serializer.serialize_map(Some(count))?;
                for _ in 0..count {
                    map.serialize_entry(&self.part(&entry.0), &self.part(&entry.1))?;
                }
                self.end_of(start, count)?;
                map.end()
            }
        }
    }
}
