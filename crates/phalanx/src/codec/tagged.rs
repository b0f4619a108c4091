//! Trees as bytes that say what they hold: for values whose shapes contradict each other.
//!
//! One byte tells the kind, as in [`Data`], and its content follows.

use super::reader::{Reader, unzigzag, zigzag};
use super::{CodecError, Data, MAX_DEPTH, put_entity, put_text, put_varint};

/// The kinds of values, by their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    Null = 0,
    False = 1,
    True = 2,
    Int = 3,
    UInt = 4,
    F32 = 5,
    F64 = 6,
    Char = 7,
    Text = 8,
    Bytes = 9,
    Entity = 10,
    Some = 11,
    List = 12,
    Map = 13,
}

impl Tag {
    #[inline]
    pub(super) fn of(byte: u8) -> Option<Self> {
        const ALL: [Tag; 14] = [
            Tag::Null,
            Tag::False,
            Tag::True,
            Tag::Int,
            Tag::UInt,
            Tag::F32,
            Tag::F64,
            Tag::Char,
            Tag::Text,
            Tag::Bytes,
            Tag::Entity,
            Tag::Some,
            Tag::List,
            Tag::Map,
        ];
        ALL.get(usize::from(byte)).copied()
    }
}

/// What it is, for messages.
pub(super) fn kind(tag: Tag) -> &'static str {
    match tag {
        Tag::Null => "nothing",
        Tag::False | Tag::True => "a bool",
        Tag::Int | Tag::UInt => "an integer",
        Tag::F32 | Tag::F64 => "a number",
        Tag::Char => "a char",
        Tag::Text => "a text",
        Tag::Bytes => "bytes",
        Tag::Entity => "an entity",
        Tag::Some => "an option",
        Tag::List => "a list",
        Tag::Map => "a map",
    }
}

/// The beginning of a value: what it is, and how many parts it has.
pub(crate) enum Token<'b> {
    Text(&'b str),
    List(usize),
    Map(usize),
    Other(&'static str),
}

impl Token<'_> {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => kind(Tag::Text),
            Self::List(_) => kind(Tag::List),
            Self::Map(_) => kind(Tag::Map),
            Self::Other(kind) => kind,
        }
    }
}

/// Reads the beginning of a value; of one that is no text, list or map, nothing but what it is.
pub(crate) fn read_token<'b>(reader: &mut Reader<'b>) -> Result<Token<'b>, CodecError> {
    let byte = reader.byte()?;
    Ok(match Tag::of(byte) {
        Some(Tag::Text) => Token::Text(reader.text()?),
        Some(Tag::List) => Token::List(reader.count()?),
        Some(Tag::Map) => Token::Map(reader.count()?),
        Some(tag) => Token::Other(kind(tag)),
        None => return Err(reader.error(format_args!("{byte} is no kind of value"))),
    })
}

/// Passes over a value.
pub(crate) fn skip_tagged(reader: &mut Reader<'_>) -> Result<(), CodecError> {
    let mut left = 1u64;
    while left > 0 {
        left -= 1;
        let byte = reader.byte()?;
        match Tag::of(byte) {
            Some(Tag::Null | Tag::False | Tag::True) => {}
            Some(Tag::Int | Tag::UInt | Tag::Char) => {
                reader.varint()?;
            }
            Some(Tag::F32) => {
                reader.array::<4>()?;
            }
            Some(Tag::F64) => {
                reader.array::<8>()?;
            }
            Some(Tag::Text | Tag::Bytes) => {
                let count = reader.count()?;
                reader.take(count)?;
            }
            Some(Tag::Entity) => {
                reader.varint()?;
                reader.varint()?;
            }
            Some(Tag::Some) => left += 1,
            Some(Tag::List) => left += reader.count()? as u64,
            Some(Tag::Map) => left += 2 * reader.count()? as u64,
            None => return Err(reader.error(format_args!("{byte} is no kind of value"))),
        }
    }
    Ok(())
}

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
