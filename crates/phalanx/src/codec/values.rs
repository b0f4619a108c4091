//! Runs of values of one type: where they are written to, and what they are read from.
//!
//! A compact run is cut into blocks, each of which stands alone: how many values there are, their shape, their bytes.
//! A readable run is a list of trees. Whoever writes or reads values does not ask which it is.
//!
//! ```text
//!   block   | count | shape | value | value | ...
//! ```

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, Serializer};

use super::tree::read_tree;
use super::{
    CodecError, Data, FromData, Halt, Reader, Shape, ToData, decode, encode, encode_fields, put_varint,
};
use crate::value::Value;

/// Takes values one after the other.
pub(crate) enum ValueSink<'a> {
    Compact {
        shape: &'a mut Shape,
        out: &'a mut Vec<u8>,
    },
    Readable {
        /// What the values showed, for the reader's information.
        shape: &'a mut Shape,
        out: &'a mut Vec<Data>,
    },
}

impl ValueSink<'_> {
    pub(crate) fn push<T: Serialize>(&mut self, value: &T) -> Result<(), Halt> {
        match self {
            Self::Compact { shape, out } => encode(value, shape, out),
            Self::Readable { shape, out } => {
                if out.is_empty() {
                    // One value tells enough, and it may not even agree with itself.
                    let _ = encode(value, shape, &mut Vec::new());
                }
                out.push(value.serialize(ToData::new(true)).map_err(Halt::Failed)?);
                Ok(())
            }
        }
    }

    /// A value of a component that is described at run time.
    pub(crate) fn push_fields(&mut self, fields: &[(&str, Value)]) -> Result<(), Halt> {
        let each = fields.iter().map(|&(name, value)| (name, Plain(value)));
        match self {
            Self::Compact { shape, out } => encode_fields(each, shape, out),
            Self::Readable { shape, out } => {
                encode_fields(each.clone(), shape, &mut Vec::new())?;
                let mut tree = Vec::new();
                for (name, value) in each {
                    tree.push((name, value.serialize(ToData::new(true)).map_err(Halt::Failed)?));
                }
                out.push(Data::map(tree));
                Ok(())
            }
        }
    }
}

/// A scalar, written as what it is.
#[derive(Clone, Copy)]
struct Plain(Value);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::F32(value) => serializer.serialize_f32(value),
            Value::F64(value) => serializer.serialize_f64(value),
            Value::U8(value) => serializer.serialize_u8(value),
            Value::U16(value) => serializer.serialize_u16(value),
            Value::U32(value) => serializer.serialize_u32(value),
            Value::U64(value) => serializer.serialize_u64(value),
            Value::I8(value) => serializer.serialize_i8(value),
            Value::I16(value) => serializer.serialize_i16(value),
            Value::I32(value) => serializer.serialize_i32(value),
            Value::I64(value) => serializer.serialize_i64(value),
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Entity(value) => value.serialize(serializer),
        }
    }
}

/// How often a run may begin anew because its values contradict each other, before each of them says what it is.
const RESTARTS: usize = 16;

/// How many values a block may have that take no bytes. Where there are more, each has one, at the end of the block.
const FREE_ROWS: usize = 1 << 16;

/// Writes a block: `write` is called with a sink for the values, perhaps several times.
pub(crate) fn write_block(
    count: usize,
    mut write: impl FnMut(&mut ValueSink<'_>) -> Result<(), Halt>,
) -> Result<Vec<u8>, CodecError> {
    let mut shape = Shape::Unknown;
    for round in 0..=RESTARTS {
        if round == RESTARTS {
            shape = Shape::Any;
        }
        let mut values = Vec::new();
        match write(&mut ValueSink::Compact { shape: &mut shape, out: &mut values }) {
            Ok(()) => {
                let mut block = Vec::with_capacity(values.len() + 32);
                put_varint(&mut block, count as u64);
                shape.write(&mut block);
                block.append(&mut values);
                if count > FREE_ROWS && block.len() < count {
                    block.resize(count, 0);
                }
                return Ok(block);
            }
            Err(Halt::Again) => {}
            Err(Halt::Contradiction) => shape = Shape::Any,
            Err(Halt::Failed(error)) => return Err(error),
        }
    }
    Err(CodecError::new("values contradict each other's types"))
}

/// Gives values one after the other.
#[derive(Clone)]
pub(crate) enum ValueSource {
    Compact(Blocks),
    Tree { values: std::vec::IntoIter<Data>, readable: bool },
}

/// The values of several blocks.
#[derive(Clone)]
pub(crate) struct Blocks {
    blocks: std::vec::IntoIter<Vec<u8>>,
    bytes: Vec<u8>,
    at: usize,
    /// How many values the present block has, and how many are left.
    count: u64,
    left: u64,
    shape: Shape,
    allowance: u64,
}

impl ValueSource {
    pub(crate) fn blocks(blocks: Vec<Vec<u8>>) -> Self {
        Self::Compact(Blocks {
            blocks: blocks.into_iter(),
            bytes: Vec::new(),
            at: 0,
            count: 0,
            left: 0,
            shape: Shape::Unknown,
            allowance: 0,
        })
    }

    pub(crate) fn tree(values: Vec<Data>, readable: bool) -> Self {
        Self::Tree { values: values.into_iter(), readable }
    }

    /// The next value.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<T, CodecError> {
        match self {
            Self::Compact(blocks) => blocks.next(|reader, shape, allowance| decode(reader, shape, allowance)),
            Self::Tree { values, readable } => {
                let data = values.next().ok_or_else(|| CodecError::new("a value is missing"))?;
                T::deserialize(FromData::new(data, *readable))
            }
        }
    }

    /// The next value, as a tree.
    pub(crate) fn next_tree(&mut self) -> Result<Data, CodecError> {
        match self {
            Self::Compact(blocks) => blocks.next(read_tree),
            Self::Tree { values, .. } => values.next().ok_or_else(|| CodecError::new("a value is missing")),
        }
    }

    /// Whether trees come from a readable format.
    pub(crate) fn is_readable(&self) -> bool {
        matches!(self, Self::Tree { readable: true, .. })
    }

    /// Refuses values that nobody asked for.
    pub(crate) fn finish(&mut self) -> Result<(), CodecError> {
        match self {
            Self::Compact(blocks) => {
                blocks.end_block()?;
                match blocks.blocks.next() {
                    None => Ok(()),
                    Some(_) => Err(CodecError::new("more values than there are rows")),
                }
            }
            Self::Tree { values, .. } if values.len() == 0 => Ok(()),
            Self::Tree { .. } => Err(CodecError::new("more values than there are rows")),
        }
    }
}

impl Blocks {
    fn next<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'_>, &Shape, &mut u64) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        while self.left == 0 {
            self.end_block()?;
            self.bytes = self.blocks.next().ok_or_else(|| CodecError::new("a value is missing"))?;
            let mut reader = Reader::new(&self.bytes);
            self.count = reader.varint()?;
            if self.count > FREE_ROWS as u64 && self.count > self.bytes.len() as u64 {
                return Err(reader.error(format_args!(
                    "{} values in {} bytes",
                    self.count,
                    self.bytes.len()
                )));
            }
            self.left = self.count;
            self.shape = Shape::read(&mut reader)?;
            self.at = reader.position();
            self.allowance = 4096 + 16 * self.bytes.len() as u64;
        }
        let mut reader = Reader::at(&self.bytes, self.at);
        // A row without bytes has its parts all the same; how many rows there are is known from elsewhere.
        self.allowance += 64;
        let value = read(&mut reader, &self.shape, &mut self.allowance)?;
        self.left -= 1;
        self.at = reader.position();
        Ok(value)
    }

    fn end_block(&mut self) -> Result<(), CodecError> {
        if self.left > 0 {
            return Err(CodecError::new("more values than there are rows"));
        }
        let mut reader = Reader::at(&self.bytes, self.at);
        let padded = self.count > FREE_ROWS as u64 && self.bytes.len() as u64 == self.count;
        while padded && reader.left() > 0 && reader.byte()? == 0 {}
        reader.finish()
    }
}
