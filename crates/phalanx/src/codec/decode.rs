//! From bytes to values, guided by their shape.
//!
//! Since the shape has names, fields are found by name: a type may have got or lost some, as far as its own
//! `Deserialize` allows. A struct with the same fields as then is read by position. Each part that is read counts
//! against an allowance that follows from the length of the bytes: parts that take no bytes cannot be claimed without
//! end.

use phalanx_store::ENTITY_NEWTYPE;
use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::reader::unzigzag;
use super::tagged::read_char;
use super::tree::{read_tree, skip_padding};
use super::{CodecError, FromTagged, MAX_DEPTH, Name, Reader, Shape};

/// What the values of a block may cost, and what was found about its shape.
#[derive(Clone, Default)]
pub(crate) struct Budget {
    /// How many parts may still be read.
    pub(crate) parts: u64,
    /// Fields of the shape and of a type that have the same names, by their places in memory.
    same: Option<(usize, usize, usize)>,
}

impl Budget {
    /// For a new shape.
    pub(crate) fn new(parts: u64) -> Self {
        Self { parts, same: None }
    }

    /// Counts one more part.
    #[inline]
    pub(super) fn take(&mut self, reader: &Reader<'_>) -> Result<(), CodecError> {
        match self.parts.checked_sub(1) {
            Some(left) => {
                self.parts = left;
                Ok(())
            }
            None => Err(reader.error("more values than so few bytes can hold")),
        }
    }

    /// Whether fields have these names, in this order. The answer is kept: most blocks have values of one type.
    #[inline]
    fn has_names(&mut self, parts: &[(Name, Shape)], fields: &'static [&'static str]) -> bool {
        let key = (parts.as_ptr().addr(), fields.as_ptr().addr(), fields.len());
        if self.same == Some(key) {
            return true;
        }
        let same = parts.iter().map(|(name, _)| &**name).eq(fields.iter().copied());
        if same && !parts.is_empty() {
            self.same = Some(key);
        }
        same
    }
}

/// Reads a value.
pub(crate) fn decode<'de, T: Deserialize<'de>>(
    reader: &mut Reader<'_>,
    shape: &Shape,
    budget: &mut Budget,
) -> Result<T, CodecError> {
    T::deserialize(Decoder { reader, shape, budget, depth: 0 })
}

struct Decoder<'a, 'b> {
    reader: &'a mut Reader<'b>,
    shape: &'a Shape,
    budget: &'a mut Budget,
    depth: u32,
}

impl<'b> Decoder<'_, 'b> {
    fn part<'s>(&'s mut self, shape: &'s Shape) -> Decoder<'s, 'b> {
        Decoder { reader: self.reader, shape, budget: self.budget, depth: self.depth + 1 }
    }

    /// Counts one more part.
    #[inline]
    fn count_part(&mut self) -> Result<(), CodecError> {
        self.budget.take(self.reader)?;
        if self.depth > 2 * MAX_DEPTH {
            return Err(self.reader.error("values lie in each other too deeply"));
        }
        Ok(())
    }

    fn bytes(&mut self) -> Result<Vec<u8>, CodecError> {
        let len = self.reader.count()?;
        Ok(self.reader.take(len)?.to_vec())
    }

    /// Reads the number of elements, lets them be read, and skips what pads them.
    fn elements<T>(mut self, read: impl FnOnce(Self, usize) -> Result<T, CodecError>) -> Result<T, CodecError>
    where
        Self: Sized,
    {
        self.count_part()?;
        let count = self.reader.count()?;
        read(self, count)
    }

    fn fields<'s>(self, parts: &'s [(Name, Shape)]) -> NamedParts<'s, 'b>
    where
        Self: 's,
    {
        NamedParts { decoder: self, parts, at: 0 }
    }
}

/// Where a type asks for the number that is there, the shape is not asked for anything else.
macro_rules! numbers {
    ($($method:ident $shape:ident $visit:ident |$reader:ident| $read:expr;)*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, CodecError> {
            if !matches!(self.shape, Shape::$shape) {
                return self.deserialize_any(visitor);
            }
            self.count_part()?;
            let $reader = self.reader;
            visitor.$visit($read)
        })*
    };
}

impl<'de> Deserializer<'de> for Decoder<'_, '_> {
    type Error = CodecError;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, CodecError> {
        self.count_part()?;
        match self.shape {
            Shape::Unknown => Err(self.reader.error("a value whose type was never seen")),
            Shape::Any => FromTagged::at_depth(self.reader, false, self.depth).deserialize_any(visitor),
            Shape::Unit => visitor.visit_unit(),
            Shape::Bool => match self.reader.byte()? {
                0 => visitor.visit_bool(false),
                1 => visitor.visit_bool(true),
                byte => Err(self.reader.error(format_args!("{byte} is no bool"))),
            },
            Shape::I8 => visitor.visit_i8(self.reader.byte()?.cast_signed()),
            Shape::I16 | Shape::I32 | Shape::I64 => visitor.visit_i64(unzigzag(self.reader.varint()?)),
            Shape::U8 => visitor.visit_u8(self.reader.byte()?),
            Shape::U16 | Shape::U32 | Shape::U64 => visitor.visit_u64(self.reader.varint()?),
            Shape::F32 => visitor.visit_f32(f32::from_le_bytes(self.reader.array()?)),
            Shape::F64 => visitor.visit_f64(f64::from_le_bytes(self.reader.array()?)),
            Shape::Char => visitor.visit_char(read_char(self.reader)?),
            Shape::Text => visitor.visit_str(self.reader.text()?),
            Shape::Bytes => visitor.visit_byte_buf(self.bytes()?),
            Shape::Entity => visitor.visit_u64(self.reader.entity()?.to_bits()),
            Shape::Option(inner) => match self.reader.byte()? {
                0 => visitor.visit_none(),
                1 => visitor.visit_some(self.part(inner)),
                byte => Err(self.reader.error(format_args!("{byte} is no option"))),
            },
            Shape::List(element) => self.elements(|decoder, count| {
                let start = decoder.reader.position();
                let mut elements = Elements { decoder, shape: element, left: count };
                let value = visitor.visit_seq(&mut elements)?;
                elements.skip_rest()?;
                skip_padding(elements.decoder.reader, start, count)?;
                Ok(value)
            }),
            Shape::Map(entry) => self.elements(|decoder, count| {
                let start = decoder.reader.position();
                let mut entries = Entries { decoder, shape: entry, left: count };
                let value = visitor.visit_map(&mut entries)?;
                if entries.left > 0 {
                    return Err(entries.decoder.reader.error("entries of a map that the type does not read"));
                }
                skip_padding(entries.decoder.reader, start, count)?;
                Ok(value)
            }),
            Shape::Tuple(parts) => {
                let mut tuple = Parts { decoder: self, parts: parts.iter() };
                let value = visitor.visit_seq(&mut tuple)?;
                if tuple.parts.len() > 0 {
                    return Err(tuple.decoder.reader.error("parts of a tuple that the type does not read"));
                }
                Ok(value)
            }
            Shape::Struct(parts) => {
                let mut fields = self.fields(parts);
                let value = visitor.visit_map(&mut fields)?;
                fields.finish()?;
                Ok(value)
            }
            Shape::Enum(_) => self.deserialize_enum("", &[], visitor),
        }
    }

    numbers! {
        deserialize_i16 I16 visit_i64 |reader| unzigzag(reader.varint()?);
        deserialize_i32 I32 visit_i64 |reader| unzigzag(reader.varint()?);
        deserialize_i64 I64 visit_i64 |reader| unzigzag(reader.varint()?);
        deserialize_u8 U8 visit_u8 |reader| reader.byte()?;
        deserialize_u16 U16 visit_u64 |reader| reader.varint()?;
        deserialize_u32 U32 visit_u64 |reader| reader.varint()?;
        deserialize_u64 U64 visit_u64 |reader| reader.varint()?;
        deserialize_f32 F32 visit_f32 |reader| f32::from_le_bytes(reader.array()?);
        deserialize_f64 F64 visit_f64 |reader| f64::from_le_bytes(reader.array()?);
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.shape {
            Shape::Option(_) | Shape::Unit => self.deserialize_any(visitor),
            Shape::Any => FromTagged::at_depth(self.reader, false, self.depth).deserialize_option(visitor),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        match self.shape {
            Shape::Any => {
                FromTagged::at_depth(self.reader, false, self.depth).deserialize_newtype_struct(name, visitor)
            }
            _ if name == ENTITY_NEWTYPE => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        match self.shape {
            Shape::Any => {
                FromTagged::at_depth(self.reader, false, self.depth).deserialize_struct(name, fields, visitor)
            }
            Shape::Struct(parts) if self.budget.has_names(parts, fields) => {
                self.count_part()?;
                let mut fields = self.fields(parts);
                let value = visitor.visit_seq(&mut fields)?;
                fields.finish()?;
                Ok(value)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.count_part()?;
        match self.shape {
            Shape::Enum(variants) => {
                let at: usize = self.reader.number()?;
                let (name, shape) = variants
                    .get(at)
                    .ok_or_else(|| self.reader.error(format_args!("{at} is no variant of the enum")))?;
                visitor.visit_enum(Variant { name, decoder: self.part(shape) })
            }
            Shape::Any => {
                FromTagged::at_depth(self.reader, false, self.depth).deserialize_enum(name, names, visitor)
            }
            Shape::Text => {
                let name: StrDeserializer<'_, CodecError> = self.reader.text()?.into_deserializer();
                visitor.visit_enum(name)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.shape {
            Shape::Any => FromTagged::at_depth(self.reader, false, self.depth).deserialize_byte_buf(visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        // As a tree, which reads all of it.
        read_tree(self.reader, self.shape, self.budget)?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i128 u128 char str string
        unit unit_struct seq tuple tuple_struct map identifier
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

struct Elements<'a, 'b> {
    decoder: Decoder<'a, 'b>,
    shape: &'a Shape,
    left: usize,
}

impl Elements<'_, '_> {
    fn skip_rest(&mut self) -> Result<(), CodecError> {
        if self.left > 0 {
            return Err(self.decoder.reader.error("elements of a list that the type does not read"));
        }
        Ok(())
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
        let shape = self.shape;
        seed.deserialize(self.decoder.part(shape)).map(Some)
    }
}

struct Entries<'a, 'b> {
    decoder: Decoder<'a, 'b>,
    shape: &'a (Shape, Shape),
    left: usize,
}

impl<'de> MapAccess<'de> for &mut Entries<'_, '_> {
    type Error = CodecError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, CodecError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let shape = self.shape;
        seed.deserialize(self.decoder.part(&shape.0)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, CodecError> {
        let shape = self.shape;
        seed.deserialize(self.decoder.part(&shape.1))
    }
}

struct Parts<'a, 'b> {
    decoder: Decoder<'a, 'b>,
    parts: std::slice::Iter<'a, Shape>,
}

impl<'de> SeqAccess<'de> for &mut Parts<'_, '_> {
    type Error = CodecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        match self.parts.next() {
            Some(shape) => seed.deserialize(self.decoder.part(shape)).map(Some),
            None => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.parts.len())
    }
}

struct NamedParts<'a, 'b> {
    decoder: Decoder<'a, 'b>,
    parts: &'a [(Name, Shape)],
    at: usize,
}

impl NamedParts<'_, '_> {
    fn finish(&self) -> Result<(), CodecError> {
        if self.at < self.parts.len() {
            return Err(self.decoder.reader.error("fields of a struct that the type does not read"));
        }
        Ok(())
    }

    fn value<'de, T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, CodecError> {
        let parts = self.parts;
        let Some((name, shape)) = parts.get(self.at) else {
            return Err(CodecError::new("a value was asked for behind the last field"));
        };
        self.at += 1;
        let value = seed.deserialize(self.decoder.part(shape));
        value.map_err(|error| error.within(format_args!("field `{name}`")))
    }
}

impl<'de> SeqAccess<'de> for &mut NamedParts<'_, '_> {
    type Error = CodecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        if self.at == self.parts.len() { Ok(None) } else { self.value(seed).map(Some) }
    }
}

impl<'de> MapAccess<'de> for &mut NamedParts<'_, '_> {
    type Error = CodecError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, CodecError> {
        match self.parts.get(self.at) {
            Some((name, _)) => {
                let name: StrDeserializer<'_, CodecError> = (&**name).into_deserializer();
                seed.deserialize(name).map(Some)
            }
            None => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, CodecError> {
        self.value(seed)
    }
}

struct Variant<'a, 'b> {
    name: &'a str,
    decoder: Decoder<'a, 'b>,
}

impl<'de, 'a, 'b> EnumAccess<'de> for Variant<'a, 'b> {
    type Error = CodecError;
    type Variant = Decoder<'a, 'b>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), CodecError> {
        let name: StrDeserializer<'_, CodecError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.decoder))
    }
}

impl<'de> VariantAccess<'de> for Decoder<'_, '_> {
    type Error = CodecError;

    fn unit_variant(self) -> Result<(), CodecError> {
        <()>::deserialize(self)
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, CodecError> {
        seed.deserialize(self)
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.deserialize_struct("", fields, visitor)
    }
}
