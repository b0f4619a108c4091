//! From trees to values: the deserializer that reads a [`Data`].
//!
//! Trees come from formats that know less than Rust: in JSON an `f32` may be an integer, bytes a list, the keys of a map
//! texts. The type that is read says what it expects, and gets that wherever the tree means it.

use phalanx_store::ENTITY_NEWTYPE;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use super::{CodecError, Data};

/// Reads a tree.
pub(crate) struct FromData {
    data: Data,
    readable: bool,
    /// Whether it is the key of a map, which may be a text where it was a number.
    is_key: bool,
}

impl FromData {
    /// `readable`: whether the tree comes from a readable format.
    pub(crate) fn new(data: Data, readable: bool) -> Self {
        Self { data, readable, is_key: false }
    }

    fn with(&self, data: Data) -> Self {
        Self { data, readable: self.readable, is_key: false }
    }

    fn seq(self, list: Vec<Data>) -> Elements {
        Elements { readable: self.readable, list: list.into_iter(), at: 0 }
    }

    fn map(self, entries: Vec<(Data, Data)>) -> Entries {
        Entries { readable: self.readable, entries: entries.into_iter(), value: None }
    }

    fn wrong<'de, V: Visitor<'de>>(&self, visitor: &V) -> CodecError {
        CodecError::invalid_type(Unexpected::Other(self.data.kind()), visitor)
    }

    /// A number that stands as a text: as the key of a map, or because it is none.
    fn number(&self) -> Option<Data> {
        let Data::Text(text) = &self.data else { return None };
        match text.as_str() {
            "NaN" => return Some(Data::F64(f64::NAN)),
            "inf" => return Some(Data::F64(f64::INFINITY)),
            "-inf" => return Some(Data::F64(f64::NEG_INFINITY)),
            text => {
                if let Some(bits) = text.strip_prefix("NaN:") {
                    return nan(bits);
                }
            }
        }
        if !self.is_key {
            return None;
        }
        let int = text.parse().map(Data::Int).ok();
        int.or_else(|| text.parse().map(Data::UInt).ok()).or_else(|| text.parse().map(Data::F64).ok())
    }
}

/// The number with these bits, if it is none.
fn nan(bits: &str) -> Option<Data> {
    match bits.len() {
        8 => {
            let value = f32::from_bits(u32::from_str_radix(bits, 16).ok()?);
            value.is_nan().then_some(Data::F32(value))
        }
        16 => {
            let value = f64::from_bits(u64::from_str_radix(bits, 16).ok()?);
            value.is_nan().then_some(Data::F64(value))
        }
        _ => None,
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
            match self.number() {
                Some(number) => self.with(number).deserialize_any(visitor),
                None => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for FromData {
    type Error = CodecError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.data {
            Data::Null => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(value),
            Data::Int(value) => visitor.visit_i64(value),
            Data::UInt(value) => visitor.visit_u64(value),
            Data::F32(value) => visitor.visit_f32(value),
            Data::F64(value) => visitor.visit_f64(value),
            Data::Char(value) => visitor.visit_char(value),
            Data::Text(text) => visitor.visit_string(text),
            Data::Bytes(bytes) => visitor.visit_byte_buf(bytes),
            Data::Entity(entity) if self.readable => visitor.visit_string(entity.to_string()),
            Data::Entity(entity) => visitor.visit_u64(entity.to_bits()),
            Data::Some(inner) => visitor.visit_some(Self::new(*inner, self.readable)),
            Data::List(list) => visitor.visit_seq(Self::new(Data::Null, self.readable).seq(list)),
            Data::Map(entries) => visitor.visit_map(Self::new(Data::Null, self.readable).map(entries)),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match &self.data {
            Data::Text(text) if self.is_key && text == "true" => visitor.visit_bool(true),
            Data::Text(text) if self.is_key && text == "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.data {
            Data::Entity(entity) => visitor.visit_string(entity.to_string()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        if let Data::List(list) = &self.data {
            let byte = |data: &Data| data.as_i64().and_then(|value| u8::try_from(value).ok());
            if let Some(bytes) = list.iter().map(byte).collect::<Option<Vec<u8>>>() {
                return visitor.visit_byte_buf(bytes);
            }
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.data {
            Data::Null => visitor.visit_none(),
            Data::Some(inner) => visitor.visit_some(Self::new(*inner, self.readable)),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        match &self.data {
            Data::Entity(entity) if name == ENTITY_NEWTYPE => visitor.visit_u64(entity.to_bits()),
            Data::Text(text) if name == ENTITY_NEWTYPE => visitor.visit_str(text),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.data {
            Data::Bytes(bytes) => {
                let list = bytes.into_iter().map(Data::from).collect();
                visitor.visit_seq(Self::new(Data::Null, self.readable).seq(list))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        let Data::List(list) = self.data else { return self.deserialize_any(visitor) };
        let pairs = list.iter().all(|pair| pair.as_list().is_some_and(|pair| pair.len() == 2));
        let empty = Self::new(Data::Null, self.readable);
        if !pairs {
            return visitor.visit_seq(empty.seq(list));
        }
        let mut entries = Vec::new();
        for pair in list {
            if let Data::List(pair) = pair {
                let mut pair = pair.into_iter();
                entries.extend(pair.next().zip(pair.next()));
            }
        }
        visitor.visit_map(empty.map(entries))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        let readable = self.readable;
        match self.data {
            Data::Text(name) => visitor.visit_enum(Variant { name, content: None, readable }),
            Data::Map(mut entries) if entries.len() == 1 => match entries.pop() {
                Some((Data::Text(name), content)) => {
                    visitor.visit_enum(Variant { name, content: Some(content), readable })
                }
                _ => Err(Self::new(Data::Map(entries), readable).wrong(&visitor)),
            },
            data => Err(Self::new(data, readable).wrong(&visitor)),
        }
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char unit unit_struct struct identifier ignored_any
    }

    fn is_human_readable(&self) -> bool {
        self.readable
    }
}

struct Elements {
    readable: bool,
    list: std::vec::IntoIter<Data>,
    at: usize,
}

impl<'de> SeqAccess<'de> for Elements {
    type Error = CodecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        let Some(data) = self.list.next() else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        let value = seed.deserialize(FromData::new(data, self.readable));
        value.map(Some).map_err(|error| error.within(format_args!("element {at}")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.list.len())
    }
}

struct Entries {
    readable: bool,
    entries: std::vec::IntoIter<(Data, Data)>,
    value: Option<(Option<String>, Data)>,
}

impl<'de> MapAccess<'de> for Entries {
    type Error = CodecError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, CodecError> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key.as_str().map(str::to_owned), value));
        seed.deserialize(FromData { data: key, readable: self.readable, is_key: true }).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, CodecError> {
        let (name, value) =
            self.value.take().ok_or_else(|| CodecError::new("a value was asked for before its key"))?;
        let value = seed.deserialize(FromData::new(value, self.readable));
        value.map_err(|error| match name {
            Some(name) => error.within(format_args!("field `{name}`")),
            None => error,
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

struct Variant {
    name: String,
    content: Option<Data>,
    readable: bool,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = CodecError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), CodecError> {
        let name: StrDeserializer<'_, CodecError> = self.name.as_str().into_deserializer();
        let value = seed.deserialize(name)?;
        Ok((value, self))
    }
}

impl Variant {
    fn content(self) -> Result<FromData, CodecError> {
        let Self { name, content, readable } = self;
        let content =
            content.ok_or_else(|| CodecError::new(format_args!("variant `{name}` holds nothing")))?;
        Ok(FromData::new(content, readable))
    }
}

impl<'de> VariantAccess<'de> for Variant {
    type Error = CodecError;

    fn unit_variant(self) -> Result<(), CodecError> {
        match self.content {
            None | Some(Data::Null) => Ok(()),
            Some(_) => Err(CodecError::new(format_args!("variant `{}` holds a value", self.name))),
        }
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, CodecError> {
        seed.deserialize(self.content()?)
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, CodecError> {
        self.content()?.deserialize_seq(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.content()?.deserialize_any(visitor)
    }
}
