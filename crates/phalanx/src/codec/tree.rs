//! Bytes as trees, guided by their shape: for values of an older version, and for unknown ones.
//!
//! The same bytes that become a value of a type elsewhere become a [`Data`] here. The budget is that of `decode`.

use super::reader::{Reader, unzigzag};
use super::shape::Shape;
use super::tagged::{read_char, read_tagged};
use super::{Budget, CodecError, Data, MAX_DEPTH};

/// Reads a value as a tree.
pub(super) fn read_tree(
    reader: &mut Reader<'_>,
    shape: &Shape,
    budget: &mut Budget,
) -> Result<Data, CodecError> {
    read(reader, shape, budget, 0)
}

fn read(reader: &mut Reader<'_>, shape: &Shape, budget: &mut Budget, depth: u32) -> Result<Data, CodecError> {
    budget.take(reader)?;
    if depth > 2 * MAX_DEPTH {
        return Err(reader.error("values lie in each other too deeply"));
    }
    let text = |name: &str| Data::Text(name.to_owned());
    Ok(match shape {
        Shape::Unknown => return Err(reader.error("a value whose type was never seen")),
        Shape::Any => read_tagged(reader, depth)?,
        Shape::Unit => Data::Null,
        Shape::Bool => match reader.byte()? {
            0 => Data::Bool(false),
            1 => Data::Bool(true),
            byte => return Err(reader.error(format_args!("{byte} is no bool"))),
        },
        Shape::I8 => Data::from(reader.byte()?.cast_signed()),
        Shape::I16 | Shape::I32 | Shape::I64 => Data::from(unzigzag(reader.varint()?)),
        Shape::U8 => Data::from(reader.byte()?),
        Shape::U16 | Shape::U32 | Shape::U64 => Data::from(reader.varint()?),
        Shape::F32 => Data::F32(f32::from_le_bytes(reader.array()?)),
        Shape::F64 => Data::F64(f64::from_le_bytes(reader.array()?)),
        Shape::Char => Data::Char(read_char(reader)?),
        Shape::Text => text(reader.text()?),
        Shape::Bytes => {
            let len = reader.count()?;
            Data::Bytes(reader.take(len)?.to_vec())
        }
        Shape::Entity => Data::Entity(reader.entity()?),
        Shape::Option(inner) => match reader.byte()? {
            0 => Data::Null,
            1 => Data::Some(Box::new(read(reader, inner, budget, depth + 1)?)),
            byte => return Err(reader.error(format_args!("{byte} is no option"))),
        },
        Shape::List(element) => {
            let count = reader.count()?;
            let start = reader.position();
            let mut list = Vec::new();
            for _ in 0..count {
                list.push(read(reader, element, budget, depth + 1)?);
            }
            skip_padding(reader, start, count)?;
            Data::List(list)
        }
        Shape::Map(entry) => {
            let count = reader.count()?;
            let start = reader.position();
            let mut entries = Vec::new();
            for _ in 0..count {
                let key = read(reader, &entry.0, budget, depth + 1)?;
                entries.push((key, read(reader, &entry.1, budget, depth + 1)?));
            }
            skip_padding(reader, start, count)?;
            Data::Map(entries)
        }
        Shape::Tuple(parts) => {
            let mut list = Vec::new();
            for part in parts {
                list.push(read(reader, part, budget, depth + 1)?);
            }
            Data::List(list)
        }
        Shape::Struct(parts) => {
            let mut entries = Vec::new();
            for (name, part) in parts {
                entries.push((text(name), read(reader, part, budget, depth + 1)?));
            }
            Data::Map(entries)
        }
        Shape::Enum(variants) => {
            let at: usize = reader.number()?;
            let (name, content) = variants
                .get(at)
                .ok_or_else(|| reader.error(format_args!("{at} is no variant of the enum")))?;
            match content {
                Shape::Unit => text(name),
                content => Data::map([(&**name, read(reader, content, budget, depth + 1)?)]),
            }
        }
    })
}

/// Passes over the bytes that pad elements which take none.
pub(super) fn skip_padding(reader: &mut Reader<'_>, start: usize, count: usize) -> Result<(), CodecError> {
    let used = reader.position() - start;
    if used < count && reader.take(count - used)?.iter().any(|&byte| byte != 0) {
        return Err(reader.error("padding that is not zero"));
    }
    Ok(())
}
