//! From bytes that say what they hold to values: the deserializer of the tagged form.
//!
//! Values come from formats that know less than Rust: in JSON an `f32` may be an integer, bytes a list, the keys of a map
//! texts. The type that is read says what it expects, and gets that wherever the bytes mean it.

use phalanx_store::ENTITY_NEWTYPE;
use serde::de::value::{SeqDeserializer, StrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use super::reader::unzigzag;
use super::tagged::{Tag, kind, put_tagged, read_char, skip_tagged};
use super::{CodecError, Data, MAX_DEPTH, Reader};

/// Reads a value of a tree.
pub(crate) fn from_data<'de, T: Deserialize<'de>>(data: &Data, readable: bool) -> Result<T, CodecError> {
    let mut bytes = Vec::new();
    put_tagged(&mut bytes, data);
    T::deserialize(FromTagged::new(&mut Reader::new(&bytes), readable))
}

/// Reads the value that comes next.
pub(crate) struct FromTagged<'a, 'b> {
    reader: &'a mut Reader<'b>,
    readable: bool,
    /// Whether it is the key of a map, which may be a text where it was a number.
    is_key: bool,
    depth: u32,
}

impl<'a, 'b> FromTagged<'a, 'b> {
    /// `readable`: whether the value comes from a readable format.
    pub(crate) fn new(reader: &'a mut Reader<'b>, readable: bool) -> Self {
        Self { reader, readable, is_key: false, depth: 0 }
    }

    /// As [`FromTagged::new`], for a value that lies within others.
    pub(super) fn at_depth(reader: &'a mut Reader<'b>, readable: bool, depth: u32) -> Self {
        Self { reader, readable, is_key: false, depth }
    }

    #[inline]
    fn peek(&self) -> Option<Tag> {
        self.reader.peek().and_then(Tag::of)
    }

    #[inline]
    fn tag(&mut self) -> Result<Tag, CodecError> {
        let byte = self.reader.byte()?;
        Tag::of(byte).ok_or_else(|| self.reader.error(format_args!("{byte} is no kind of value")))
    }

    #[inline]
    fn deeper(self) -> Result<Self, CodecError> {
        if self.depth > 2 * MAX_DEPTH {
            return Err(self.reader.error("values lie in each other too deeply"));
        }
        Ok(Self { depth: self.depth + 1, is_key: false, ..self })
    }

    fn seq<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        let mut elements = Elements::new(self.deeper()?)?;
        let value = visitor.visit_seq(&mut elements)?;
        elements.finish("elements of a list that the type does not read")?;
        Ok(value)
    }

    fn map<'de, V: Visitor<'de>>(self, visitor: V, pairs: bool) -> Result<V::Value, CodecError> {
        let mut entries = Entries { elements: Elements::new(self.deeper()?)?, pairs, name: None };
        let value = visitor.visit_map(&mut entries)?;
        entries.elements.finish("entries of a map that the type does not read")?;
        Ok(value)
    }

    /// A number that stands as a text, because it is none or the key of a map: what to do instead of reading one.
    #[cold]
    fn text_as_number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.reader.byte()?;
        let text = self.reader.text()?;
        match text {
            "NaN" => return visitor.visit_f64(f64::NAN),
            "inf" => return visitor.visit_f64(f64::INFINITY),
            "-inf" => return visitor.visit_f64(f64::NEG_INFINITY),
            _ => {}
        }
        match text.strip_prefix("NaN:").and_then(nan) {
            Some(Data::F32(value)) => return visitor.visit_f32(value),
            Some(Data::F64(value)) => return visitor.visit_f64(value),
            _ => {}
        }
        if self.is_key {
            if let Ok(value) = text.parse() {
                return visitor.visit_i64(value);
            }
            if let Ok(value) = text.parse() {
                return visitor.visit_u64(value);
            }
            if let Ok(value) = text.parse() {
                return visitor.visit_f64(value);
            }
        }
        visitor.visit_str(text)
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

/// The bytes of a list of small numbers, if it is one.
fn list_of_bytes(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    (reader.byte().ok().and_then(Tag::of) == Some(Tag::List)).then_some(())?;
    for _ in 0..reader.count().ok()? {
        let mut tag = Tag::of(reader.byte().ok()?)?;
        while tag == Tag::Some {
            tag = Tag::of(reader.byte().ok()?)?;
        }
        (tag == Tag::Int).then_some(())?;
        bytes.push(u8::try_from(unzigzag(reader.varint().ok()?)).ok()?);
    }
    Some(bytes)
}

/// Whether a list has nothing but lists of two.
fn is_list_of_pairs(mut reader: Reader<'_>) -> Result<bool, CodecError> {
    reader.byte()?;
    for _ in 0..reader.count()? {
        if Tag::of(reader.byte()?) != Some(Tag::List) || reader.count()? != 2 {
            return Ok(false);
        }
        skip_tagged(&mut reader)?;
        skip_tagged(&mut reader)?;
    }
    Ok(true)
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
            match self.peek() {
                Some(Tag::Text) => self.text_as_number(visitor),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for FromTagged<'_, '_> {
    type Error = CodecError;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, CodecError> {
        let reader = match self.tag()? {
            Tag::Some => return visitor.visit_some(self.deeper()?),
            Tag::List => return self.seq(visitor),
            Tag::Map => return self.map(visitor, false),
            Tag::Null => return visitor.visit_unit(),
            Tag::False => return visitor.visit_bool(false),
            Tag::True => return visitor.visit_bool(true),
            Tag::F64 => return visitor.visit_f64(f64::from_le_bytes(self.reader.array()?)),
            Tag::Text => return visitor.visit_str(self.reader.text()?),
            Tag::Int => return visitor.visit_i64(unzigzag(self.reader.varint()?)),
            Tag::UInt => return visitor.visit_u64(self.reader.varint()?),
            Tag::F32 => return visitor.visit_f32(f32::from_le_bytes(self.reader.array()?)),
            Tag::Char => return visitor.visit_char(read_char(self.reader)?),
            Tag::Bytes => {
                let count = self.reader.count()?;
                return visitor.visit_byte_buf(self.reader.take(count)?.to_vec());
            }
            Tag::Entity => self.reader,
        };
        let entity = reader.entity()?;
        if self.readable {
            visitor.visit_string(entity.to_string())
        } else {
            visitor.visit_u64(entity.to_bits())
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        if !self.is_key || self.peek() != Some(Tag::Text) {
            return self.deserialize_any(visitor);
        }
        self.reader.byte()?;
        match self.reader.text()? {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            text => visitor.visit_str(text),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        if self.peek() == Some(Tag::Entity) {
            self.reader.byte()?;
            return visitor.visit_string(self.reader.entity()?.to_string());
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        let mut ahead = self.reader.clone();
        match list_of_bytes(&mut ahead) {
            Some(bytes) => {
                *self.reader = ahead;
                visitor.visit_byte_buf(bytes)
            }
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.peek() {
            Some(Tag::Null) => {
                self.reader.byte()?;
                visitor.visit_none()
            }
            Some(Tag::Some) => self.deserialize_any(visitor),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        match self.peek() {
            Some(Tag::Entity) if name == ENTITY_NEWTYPE => {
                self.reader.byte()?;
                visitor.visit_u64(self.reader.entity()?.to_bits())
            }
            Some(Tag::Text) if name == ENTITY_NEWTYPE => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        if self.peek() != Some(Tag::Bytes) {
            return self.deserialize_any(visitor);
        }
        self.reader.byte()?;
        let count = self.reader.count()?;
        let bytes = self.reader.take(count)?.iter().copied();
        visitor.visit_seq(SeqDeserializer::<_, CodecError>::new(bytes))
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
        if self.peek() == Some(Tag::List) && is_list_of_pairs(self.reader.clone())? {
            self.reader.byte()?;
            return self.map(visitor, true);
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        let tag = self.tag()?;
        let content = match tag {
            Tag::Text => false,
            Tag::Map if self.reader.count()? == 1 && self.tag()? == Tag::Text => true,
            tag => return Err(CodecError::invalid_type(Unexpected::Other(kind(tag)), &visitor)),
        };
        let name = self.reader.text()?;
        visitor.visit_enum(Variant { name, content: if content { Some(self.deeper()?) } else { None } })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        skip_tagged(self.reader)?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char unit unit_struct struct identifier
    }

    fn is_human_readable(&self) -> bool {
        self.readable
    }
}

struct Elements<'a, 'b> {
    of: FromTagged<'a, 'b>,
    left: usize,
    at: usize,
}

impl<'a, 'b> Elements<'a, 'b> {
    fn new(of: FromTagged<'a, 'b>) -> Result<Self, CodecError> {
        let left = of.reader.count()?;
        Ok(Self { of, left, at: 0 })
    }

    fn next(&mut self) -> FromTagged<'_, 'b> {
        FromTagged { reader: self.of.reader, readable: self.of.readable, is_key: false, depth: self.of.depth }
    }

    fn finish(&self, message: &str) -> Result<(), CodecError> {
        if self.left > 0 { Err(self.of.reader.error(message)) } else { Ok(()) }
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, '_> {
    type Error = CodecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let at = self.at;
        self.at += 1;
        let value = seed.deserialize(self.next());
        value.map(Some).map_err(|error| error.within(format_args!("element {at}")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

struct Entries<'a, 'b> {
    elements: Elements<'a, 'b>,
    /// Whether each entry is a list of two.
    pairs: bool,
    name: Option<&'b str>,
}

impl<'de> MapAccess<'de> for &mut Entries<'_, '_> {
    type Error = CodecError;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, CodecError> {
        if self.elements.left == 0 {
            return Ok(None);
        }
        self.elements.left -= 1;
        if self.pairs {
            self.elements.of.reader.take(2)?;
        }
        let key = FromTagged { is_key: true, ..self.elements.next() };
        self.name = None;
        if key.peek() == Some(Tag::Text) {
            let mut ahead = key.reader.clone();
            ahead.byte()?;
            self.name = Some(ahead.text()?);
        }
        let key = FromTagged { is_key: true, ..self.elements.next() };
        seed.deserialize(key).map(Some)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, CodecError> {
        let name = self.name;
        let value = seed.deserialize(self.elements.next());
        value.map_err(|error| match name {
            Some(name) => error.within(format_args!("field `{name}`")),
            None => error,
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.left)
    }
}

struct Variant<'a, 'b> {
    name: &'b str,
    content: Option<FromTagged<'a, 'b>>,
}

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = CodecError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), CodecError> {
        let name: StrDeserializer<'_, CodecError> = self.name.into_deserializer();
        let value = seed.deserialize(name)?;
        Ok((value, self))
    }
}

impl<'a, 'b> Variant<'a, 'b> {
    fn content(self) -> Result<FromTagged<'a, 'b>, CodecError> {
        let Self { name, content } = self;
        content.ok_or_else(|| CodecError::new(format_args!("variant `{name}` holds nothing")))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = CodecError;

    fn unit_variant(self) -> Result<(), CodecError> {
        let Some(content) = self.content else { return Ok(()) };
        match Tag::of(content.reader.byte()?) {
            Some(Tag::Null) => Ok(()),
            _ => Err(CodecError::new(format_args!("variant `{}` holds a value", self.name))),
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
