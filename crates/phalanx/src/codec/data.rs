//! A value as a tree that says by itself what it holds.
//!
//! Structs are maps from the names of their fields; a variant of an enum is its name, or a map from its name to what it
//! holds. This is what migrations change, and what readable formats are given. There, numbers that are none (`NaN`,
//! infinities) are texts, and maps whose keys are not plain are lists of pairs, because JSON has neither.

use std::fmt;

use phalanx_store::Entity;
use serde::de::{Deserialize, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A value as a tree.
///
/// ```
/// use phalanx::save::Data;
///
/// let health = Data::map([("current", Data::from(7.5)), ("max", Data::from(10))]);
/// assert_eq!(health.get("max"), Some(&Data::Int(10)));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data {
    /// Nothing: `()`, a unit struct, or `None`.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above those of [`Data::Int`].
    UInt(u64),
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
    /// A `char`.
    Char(char),
    /// A text, or a variant of an enum that holds nothing.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An entity.
    Entity(Entity),
    /// `Some`.
    Some(Box<Data>),
    /// A sequence, a tuple or a tuple struct.
    List(Vec<Data>),
    /// A map, a struct, or a variant of an enum with what it holds.
    Map(Vec<(Data, Data)>),
}

impl Data {
    /// A map from texts, as structs are.
    pub fn map<N: Into<String>>(fields: impl IntoIterator<Item = (N, Data)>) -> Self {
        Self::Map(fields.into_iter().map(|(name, value)| (Self::Text(name.into()), value)).collect())
    }

    /// A field of a struct, or the value of a key that is a text.
    pub fn get(&self, name: &str) -> Option<&Data> {
        match self {
            Self::Map(entries) => entries.iter().find(|(key, _)| key.is_text(name)).map(|(_, value)| value),
            Self::Some(inner) => inner.get(name),
            _ => None,
        }
    }

    /// As [`Data::get`], to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Data> {
        match self {
            Self::Map(entries) => {
                entries.iter_mut().find(|(key, _)| key.is_text(name)).map(|(_, value)| value)
            }
            Self::Some(inner) => inner.get_mut(name),
            _ => None,
        }
    }

    /// Sets a field, and returns what it was. Does nothing to what is no map.
    pub fn set(&mut self, name: &str, value: impl Into<Data>) -> Option<Data> {
        if let Some(field) = self.get_mut(name) {
            return Some(std::mem::replace(field, value.into()));
        }
        if let Self::Map(entries) = self {
            entries.push((Self::Text(name.to_owned()), value.into()));
        }
        None
    }

    /// Takes a field away.
    pub fn take(&mut self, name: &str) -> Option<Data> {
        let Self::Map(entries) = self else { return None };
        let at = entries.iter().position(|(key, _)| key.is_text(name))?;
        Some(entries.remove(at).1)
    }

    /// The number, whatever its type.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "as near as an `f64` comes")]
            Self::Int(value) => Some(*value as f64),
            #[expect(clippy::cast_precision_loss, reason = "as near as an `f64` comes")]
            Self::UInt(value) => Some(*value as f64),
            Self::F32(value) => Some(f64::from(*value)),
            Self::F64(value) => Some(*value),
            Self::Some(inner) => inner.as_f64(),
            _ => None,
        }
    }

    /// The integer.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Some(inner) => inner.as_i64(),
            _ => None,
        }
    }

    /// The text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Some(inner) => inner.as_str(),
            _ => None,
        }
    }

    /// The elements of a list.
    pub fn as_list(&self) -> Option<&[Data]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// The entries of a map.
    pub fn as_map(&self) -> Option<&[(Data, Data)]> {
        match self {
            Self::Map(entries) => Some(entries),
            _ => None,
        }
    }

    fn is_text(&self, name: &str) -> bool {
        matches!(self, Self::Text(text) if text == name)
    }

    /// Whether readable formats can have it as the key of a map.
    fn is_plain_key(&self) -> bool {
        matches!(
            self,
            Self::Text(_) | Self::Int(_) | Self::UInt(_) | Self::Char(_) | Self::Bool(_) | Self::Entity(_)
        )
    }
}

macro_rules! from_value {
    ($($from:ty => |$value:ident| $data:expr;)*) => {
        $(impl From<$from> for Data {
            fn from($value: $from) -> Self {
                $data
            }
        })*
    };
}
from_value! {
    bool => |value| Self::Bool(value);
    i8 => |value| Self::Int(value.into());
    i16 => |value| Self::Int(value.into());
    i32 => |value| Self::Int(value.into());
    i64 => |value| Self::Int(value);
    u8 => |value| Self::Int(value.into());
    u16 => |value| Self::Int(value.into());
    u32 => |value| Self::Int(value.into());
    u64 => |value| i64::try_from(value).map_or(Self::UInt(value), Self::Int);
    f32 => |value| Self::F32(value);
    f64 => |value| Self::F64(value);
    char => |value| Self::Char(value);
    &str => |value| Self::Text(value.to_owned());
    String => |value| Self::Text(value);
    Entity => |value| Self::Entity(value);
    Vec<Data> => |value| Self::List(value);
}

/// A number that JSON has no word for.
pub(super) fn unusual(value: f64, bits: impl fmt::LowerHex, quiet: bool) -> Option<String> {
    match value {
        value if value.is_finite() => None,
        f64::INFINITY => Some("inf".to_owned()),
        f64::NEG_INFINITY => Some("-inf".to_owned()),
        _ if quiet => Some("NaN".to_owned()),
        _ => Some(format!("NaN:{bits:x}")),
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let readable = serializer.is_human_readable();
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::UInt(value) => serializer.serialize_u64(*value),
            Self::F32(value) => {
                let quiet = value.to_bits() == f32::NAN.to_bits();
                match unusual((*value).into(), value.to_bits(), quiet) {
                    Some(text) if readable => serializer.serialize_str(&text),
                    _ => serializer.serialize_f32(*value),
                }
            }
            Self::F64(value) => {
                let quiet = value.to_bits() == f64::NAN.to_bits();
                match unusual(*value, value.to_bits(), quiet) {
                    Some(text) if readable => serializer.serialize_str(&text),
                    _ => serializer.serialize_f64(*value),
                }
            }
            Self::Char(value) => serializer.serialize_char(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Self::Entity(entity) => entity.serialize(serializer),
            Self::Some(inner) => serializer.serialize_some(inner),
            Self::List(list) => serializer.collect_seq(list),
            Self::Map(entries) if readable && !entries.iter().all(|(key, _)| key.is_plain_key()) => {
                let mut list = serializer.serialize_seq(Some(entries.len()))?;
                for (key, value) in entries {
                    list.serialize_element(&(key, value))?;
                }
                list.end()
            }
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Int(value))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Data, E> {
        Ok(value.into())
    }
    fn visit_f32<E: Error>(self, value: f32) -> Result<Data, E> {
        Ok(Data::F32(value))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Data, E> {
        Ok(Data::F64(value))
    }
    fn visit_char<E: Error>(self, value: char) -> Result<Data, E> {
        Ok(Data::Char(value))
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Data, E> {
        Ok(Data::Text(value.to_owned()))
    }
    fn visit_string<E: Error>(self, value: String) -> Result<Data, E> {
        Ok(Data::Text(value))
    }
    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<Data, E> {
        Ok(Data::Bytes(value.to_vec()))
    }
    fn visit_byte_buf<E: Error>(self, value: Vec<u8>) -> Result<Data, E> {
        Ok(Data::Bytes(value))
    }
    fn visit_unit<E: Error>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }
    fn visit_none<E: Error>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Ok(Data::Some(Box::new(Data::deserialize(deserializer)?)))
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Data::deserialize(deserializer)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data, A::Error> {
        // Not as many as the format promises: what is there counts.
        let mut list = Vec::new();
        while let Some(element) = seq.next_element()? {
            list.push(element);
        }
        Ok(Data::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Data::Map(entries))
    }
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Data, A::Error> {
        let (name, content): (String, _) = data.variant()?;
        content.unit_variant()?;
        Ok(Data::Text(name))
    }
}
