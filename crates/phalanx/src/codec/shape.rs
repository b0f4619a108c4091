//! What bytes mean: the types and names of the values that were written.
//!
//! A shape is found while values are written, by looking at them: what a value does not show (the elements of an empty
//! list, the variants that no value has) stays unknown, and no value needs it. Where values contradict each other, because
//! their type writes itself now so and now otherwise, the shape is [`Shape::Any`], and each value says what it is.

use std::borrow::Cow;
use std::fmt;

use super::reader::Reader;
use super::{CodecError, MAX_DEPTH, put_text, put_varint};

/// The name of a field or a variant.
pub(crate) type Name = Cow<'static, str>;

/// The type of values, as they showed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    /// No value was seen.
    #[default]
    Unknown,
    /// Each value says what it is.
    Any,
    Unit,
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Char,
    Text,
    Bytes,
    Entity,
    Option(Box<Shape>),
    List(Box<Shape>),
    Map(Box<(Shape, Shape)>),
    Tuple(Vec<Shape>),
    Struct(Vec<(Name, Shape)>),
    /// The variants that were seen, in the order they came.
    Enum(Vec<(Name, Shape)>),
}

/// The shapes without parts, by their number.
const PLAIN: [Shape; 18] = [
    Shape::Unknown,
    Shape::Any,
    Shape::Unit,
    Shape::Bool,
    Shape::I8,
    Shape::I16,
    Shape::I32,
    Shape::I64,
    Shape::U8,
    Shape::U16,
    Shape::U32,
    Shape::U64,
    Shape::F32,
    Shape::F64,
    Shape::Char,
    Shape::Text,
    Shape::Bytes,
    Shape::Entity,
];

impl Shape {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let named = |out: &mut Vec<u8>, parts: &[(Name, Shape)]| {
            put_varint(out, parts.len() as u64);
            for (name, shape) in parts {
                put_text(out, name);
                shape.write(out);
            }
        };
        match self {
            Self::Option(inner) => {
                out.push(32);
                inner.write(out);
            }
            Self::List(inner) => {
                out.push(33);
                inner.write(out);
            }
            Self::Map(inner) => {
                out.push(34);
                inner.0.write(out);
                inner.1.write(out);
            }
            Self::Tuple(parts) => {
                out.push(35);
                put_varint(out, parts.len() as u64);
                parts.iter().for_each(|part| part.write(out));
            }
            Self::Struct(parts) => {
                out.push(36);
                named(out, parts);
            }
            Self::Enum(parts) => {
                out.push(37);
                named(out, parts);
            }
            plain => {
                let number = (0u8..).zip(&PLAIN).find(|(_, shape)| *shape == plain);
                out.push(number.map_or(0, |(number, _)| number));
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, CodecError> {
        Self::read_at(reader, 0)
    }

    fn read_at(reader: &mut Reader<'_>, depth: u32) -> Result<Self, CodecError> {
        if depth > MAX_DEPTH {
            return Err(reader.error("types lie in each other too deeply"));
        }
        let read = |reader: &mut Reader<'_>| Self::read_at(reader, depth + 1);
        let named = |reader: &mut Reader<'_>| {
            let mut parts: Vec<(Name, Shape)> = Vec::new();
            for _ in 0..reader.count()? {
                let name = Cow::Owned(reader.text()?.to_owned());
                parts.push((name, read(reader)?));
            }
            Ok::<_, CodecError>(parts)
        };
        Ok(match reader.byte()? {
            32 => Self::Option(Box::new(read(reader)?)),
            33 => Self::List(Box::new(read(reader)?)),
            34 => Self::Map(Box::new((read(reader)?, read(reader)?))),
            35 => {
                let mut parts = Vec::new();
                for _ in 0..reader.count()? {
                    parts.push(read(reader)?);
                }
                Self::Tuple(parts)
            }
            36 => Self::Struct(named(reader)?),
            37 => Self::Enum(named(reader)?),
            number => match PLAIN.get(usize::from(number)) {
                Some(plain) => plain.clone(),
                None => return Err(reader.error(format_args!("{number} is no type"))),
            },
        })
    }
}

/// As Rust would write it, nearly.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, parts: &[(Name, Shape)], between: &str| {
            for (at, (name, shape)) in parts.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { between })?;
                match shape {
                    Self::Unit if between == " | " => write!(f, "{name}")?,
                    shape => write!(f, "{name}: {shape}")?,
                }
            }
            Ok(())
        };
        match self {
            Self::Unknown => f.write_str("_"),
            Self::Any => f.write_str("any"),
            Self::Unit => f.write_str("()"),
            Self::Bool => f.write_str("bool"),
            Self::I8 => f.write_str("i8"),
            Self::I16 => f.write_str("i16"),
            Self::I32 => f.write_str("i32"),
            Self::I64 => f.write_str("i64"),
            Self::U8 => f.write_str("u8"),
            Self::U16 => f.write_str("u16"),
            Self::U32 => f.write_str("u32"),
            Self::U64 => f.write_str("u64"),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
            Self::Char => f.write_str("char"),
            Self::Text => f.write_str("text"),
            Self::Bytes => f.write_str("bytes"),
            Self::Entity => f.write_str("Entity"),
            Self::Option(inner) => write!(f, "Option<{inner}>"),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::Map(inner) => write!(f, "[{} -> {}]", inner.0, inner.1),
            Self::Tuple(parts) => {
                f.write_str("(")?;
                for (at, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Self::Struct(parts) => {
                f.write_str("{ ")?;
                joined(f, parts, ", ")?;
                f.write_str(" }")
            }
            Self::Enum(parts) => joined(f, parts, " | "),
        }
    }
}
