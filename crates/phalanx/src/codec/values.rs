//! Runs of values of one type: where they are written to, and what they are read from.
//!
//! A compact run is cut into blocks, each of which stands alone: how many values there are, their shape, their bytes.
//! Values of a readable document say each what they hold. Code that writes or reads values does not ask which it is.
//!
//! ```text
//!   block   | count | shape | value | value | ...
//! ```

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, Serializer};

use super::encode::Form;
use super::tagged::{put_tagged, read_tagged};
use super::transcode::Run;
use super::tree::read_tree;
use super::{
    Budget, CodecError, Data, FromTagged, Halt, Reader, Shape, decode, encode, encode_fields, put_varint,
};
use crate::value::Value;

/// Takes values one after the other.
pub(crate) struct ValueSink<'a> {
    form: Form,
    shape: &'a mut Shape,
    out: &'a mut Vec<u8>,
}

impl ValueSink<'_> {
    #[inline]
    pub(crate) fn push<T: Serialize>(&mut self, value: &T) -> Result<(), Halt> {
        encode(value, self.form, self.shape, self.out)
    }

    /// A value of a component that is described at run time.
    pub(crate) fn push_fields(&mut self, fields: &[(&str, Value)]) -> Result<(), Halt> {
        let each = fields.iter().map(|&(name, value)| (name, Plain(value)));
        encode_fields(each, self.form, self.shape, self.out)
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

/// Writes values: `write` is called with a sink for them, perhaps several times.
fn write_values(
    form: Form,
    mut write: impl FnMut(&mut ValueSink<'_>) -> Result<(), Halt>,
) -> Result<(Shape, Vec<u8>), CodecError> {
    let mut shape = Shape::Unknown;
    for round in 0..=RESTARTS {
        if round == RESTARTS {
            shape = Shape::Any;
        }
        let mut out = Vec::new();
        match write(&mut ValueSink { form, shape: &mut shape, out: &mut out }) {
            Ok(()) => return Ok((shape, out)),
            Err(Halt::Again) => {}
            Err(Halt::Contradiction) => shape = Shape::Any,
            Err(Halt::Failed(error)) => return Err(error),
        }
    }
    Err(CodecError::new("values contradict each other's types"))
}

/// Writes a block.
pub(crate) fn write_block(
    count: usize,
    write: impl FnMut(&mut ValueSink<'_>) -> Result<(), Halt>,
) -> Result<Vec<u8>, CodecError> {
    let (shape, mut values) = write_values(Form::Compact, write)?;
    let mut block = Vec::with_capacity(values.len() + 32);
    put_varint(&mut block, count as u64);
    shape.write(&mut block);
    block.append(&mut values);
    if count > FREE_ROWS && block.len() < count {
        block.resize(count, 0);
    }
    Ok(block)
}

/// Writes values for a readable format.
pub(crate) fn write_run(
    write: impl FnMut(&mut ValueSink<'_>) -> Result<(), Halt>,
) -> Result<Run, CodecError> {
    let (shape, bytes) = write_values(Form::Readable, write)?;
    Ok(Run::new(shape, bytes))
}

/// The type of values, as far as they show it. One value tells enough, and it may not even agree with itself.
pub(crate) fn shape_of(write: impl FnOnce(&mut ValueSink<'_>) -> Result<(), Halt>) -> Shape {
    let (mut shape, mut out) = (Shape::Unknown, Vec::new());
    let _ = write(&mut ValueSink { form: Form::Compact, shape: &mut shape, out: &mut out });
    shape
}

/// Gives values one after the other.
#[derive(Clone)]
pub(crate) enum ValueSource {
    Compact(Blocks),
    /// Values that say what they hold, and where each begins.
    Tagged {
        bytes: Arc<[u8]>,
        starts: std::vec::IntoIter<usize>,
        readable: bool,
    },
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
    budget: Budget,
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
            budget: Budget::default(),
        })
    }

    pub(crate) fn tree(values: &[Data], readable: bool) -> Self {
        let mut bytes = Vec::new();
        let starts = values.iter().map(|value| {
            let start = bytes.len();
            put_tagged(&mut bytes, value);
            start
        });
        let starts: Vec<usize> = starts.collect();
        Self::Tagged { bytes: bytes.into(), starts: starts.into_iter(), readable }
    }

    /// Values of a document that was read.
    pub(crate) fn document(bytes: &Arc<[u8]>, starts: Vec<usize>) -> Self {
        Self::Tagged { bytes: Arc::clone(bytes), starts: starts.into_iter(), readable: true }
    }

    /// The next value.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<T, CodecError> {
        match self {
            Self::Compact(blocks) => blocks.next(decode),
            Self::Tagged { bytes, starts, readable } => {
                let start = starts.next().ok_or_else(|| CodecError::new("a value is missing"))?;
                T::deserialize(FromTagged::new(&mut Reader::at(bytes, start), *readable))
            }
        }
    }

    /// The next value, as a tree.
    pub(crate) fn next_tree(&mut self) -> Result<Data, CodecError> {
        match self {
            Self::Compact(blocks) => blocks.next(read_tree),
            Self::Tagged { bytes, starts, .. } => {
                let start = starts.next().ok_or_else(|| CodecError::new("a value is missing"))?;
                read_tagged(&mut Reader::at(bytes, start), 0)
            }
        }
    }

    /// Whether trees come from a readable format.
    pub(crate) fn is_readable(&self) -> bool {
        matches!(self, Self::Tagged { readable: true, .. })
    }

    /// Refuses values that were not asked for.
    pub(crate) fn finish(&mut self) -> Result<(), CodecError> {
        match self {
            Self::Compact(blocks) => {
                blocks.end_block()?;
                match blocks.blocks.next() {
                    None => Ok(()),
                    Some(_) => Err(CodecError::new("more values than there are rows")),
                }
            }
            Self::Tagged { starts, .. } if starts.len() == 0 => Ok(()),
            Self::Tagged { .. } => Err(CodecError::new("more values than there are rows")),
        }
    }
}

impl Blocks {
    fn next<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'_>, &Shape, &mut Budget) -> Result<T, CodecError>,
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
            self.budget = Budget::new(4096 + 16 * self.bytes.len() as u64);
        }
        let mut reader = Reader::at(&self.bytes, self.at);
        // A row without bytes has its parts all the same; how many rows there are is known from elsewhere.
        self.budget.parts += 64;
        let value = read(&mut reader, &self.shape, &mut self.budget)?;
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
