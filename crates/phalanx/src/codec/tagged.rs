//! Trees as bytes that say what they hold: for values whose shapes contradict each other.
//!
//! One byte tells the kind, as in [`Data`], and its content follows.

use super::reader::{Reader, unzigzag, zigzag};
use super::{CodecError, Data, MAX_DEPTH, put_entity, put_text, put_varint};

pub(super) fn put_tagged(out: &mut Vec<u8>, data: &Data) {
    match data {
        Data::Null => out.push(0),
        Data::Bool(value) => out.push(1 + u8::from(*value)),
        Data::Int(value) => {
            out.push(3);
            put_varint(out, zigzag(*value));
        }
        Data::UInt(value) => {
            out.push(4);
            put_varint(out, *value);
        }
        Data::F32(value) => {
            out.push(5);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Data::F64(value) => {
            out.push(6);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Data::Char(value) => {
            out.push(7);
            put_varint(out, u32::from(*value).into());
        }
        Data::Text(text) => {
            out.push(8);
            put_text(out, text);
        }
        Data::Bytes(bytes) => {
            out.push(9);
            put_varint(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        Data::Entity(entity) => {
            out.push(10);
            put_entity(out, *entity);
        }
        Data::Some(inner) => {
            out.push(11);
            put_tagged(out, inner);
        }
        Data::List(list) => {
            out.push(12);
            put_varint(out, list.len() as u64);
            list.iter().for_each(|element| put_tagged(out, element));
        }
        Data::Map(entries) => {
            out.push(13);
            put_varint(out, entries.len() as u64);
            for (key, value) in entries {
                put_tagged(out, key);
                put_tagged(out, value);
            }
        }
    }
}

pub(super) fn read_tagged(reader: &mut Reader<'_>, depth: u32) -> Result<Data, CodecError> {
    if depth > 2 * MAX_DEPTH {
        return Err(reader.error("values lie in each other too deeply"));
    }
    Ok(match reader.byte()? {
        0 => Data::Null,
        1 => Data::Bool(false),
        2 => Data::Bool(true),
        3 => Data::Int(unzigzag(reader.varint()?)),
        4 => Data::UInt(reader.varint()?),
        5 => Data::F32(f32::from_le_bytes(reader.array()?)),
        6 => Data::F64(f64::from_le_bytes(reader.array()?)),
        7 => Data::Char(read_char(reader)?),
        8 => Data::Text(reader.text()?.to_owned()),
        9 => {
            let len = reader.count()?;
            Data::Bytes(reader.take(len)?.to_vec())
        }
        10 => Data::Entity(reader.entity()?),
        11 => Data::Some(Box::new(read_tagged(reader, depth + 1)?)),
        12 => {
            let mut list = Vec::new();
            for _ in 0..reader.count()? {
                list.push(read_tagged(reader, depth + 1)?);
            }
            Data::List(list)
        }
        13 => {
            let mut entries = Vec::new();
            for _ in 0..reader.count()? {
                entries.push((read_tagged(reader, depth + 1)?, read_tagged(reader, depth + 1)?));
            }
            Data::Map(entries)
        }
        kind => return Err(reader.error(format_args!("{kind} is no kind of value"))),
    })
}

pub(super) fn read_char(reader: &mut Reader<'_>) -> Result<char, CodecError> {
    let number: u32 = reader.number()?;
    char::from_u32(number).ok_or_else(|| reader.error(format_args!("{number} is no char")))
}
