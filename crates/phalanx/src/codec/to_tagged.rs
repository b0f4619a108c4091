//! From any format that describes itself to bytes that say what they hold.
//!
//! What a readable save says is written down as it comes, without a tree in between. How many elements a list has is
//! known at its end: the number has a byte before them, and more of them are moved for where that is not enough.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::reader::zigzag;
use super::tagged::Tag;
use super::{CodecError, MAX_DEPTH, put_text, put_varint};

/// Writes the value that a deserializer gives.
pub(crate) fn to_tagged<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let mut out = Vec::new();
    ToTagged { out: &mut out, depth: 0 }.deserialize(deserializer)?;
    Ok(out)
}

struct ToTagged<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
}

impl ToTagged<'_> {
    fn part(&mut self) -> ToTagged<'_> {
        ToTagged { out: self.out, depth: self.depth + 1 }
    }

    fn tag(&mut self, tag: Tag) {
        self.out.push(tag as u8);
    }

    /// The place of a number of elements that is not known yet.
    fn open(&mut self, tag: Tag) -> usize {
        self.tag(tag);
        self.out.push(0);
        self.out.len() - 1
    }

    /// Writes that number.
    fn close(&mut self, at: usize, count: u64) {
        if let Ok(short @ 0..0x80) = u8::try_from(count) {
            self.out[at] = short;
            return;
        }
        let mut number = Vec::new();
        put_varint(&mut number, count);
        self.out.splice(at..=at, number);
    }
}

impl<'de> DeserializeSeed<'de> for ToTagged<'_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth > 2 * MAX_DEPTH {
            return Err(D::Error::custom(CodecError::new("values lie in each other too deeply")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ToTagged<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<(), E> {
        self.tag(if value { Tag::True } else { Tag::False });
        Ok(())
    }
    fn visit_i64<E: Error>(mut self, value: i64) -> Result<(), E> {
        self.tag(Tag::Int);
        put_varint(self.out, zigzag(value));
        Ok(())
    }
    fn visit_u64<E: Error>(mut self, value: u64) -> Result<(), E> {
        if let Ok(value) = i64::try_from(value) {
            return self.visit_i64(value);
        }
        self.tag(Tag::UInt);
        put_varint(self.out, value);
        Ok(())
    }
    fn visit_f32<E: Error>(mut self, value: f32) -> Result<(), E> {
        self.tag(Tag::F32);
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }
    fn visit_f64<E: Error>(mut self, value: f64) -> Result<(), E> {
        self.tag(Tag::F64);
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }
    fn visit_char<E: Error>(mut self, value: char) -> Result<(), E> {
        self.tag(Tag::Char);
        put_varint(self.out, u32::from(value).into());
        Ok(())
    }
    fn visit_str<E: Error>(mut self, value: &str) -> Result<(), E> {
        self.tag(Tag::Text);
        put_text(self.out, value);
        Ok(())
    }
    fn visit_bytes<E: Error>(mut self, value: &[u8]) -> Result<(), E> {
        self.tag(Tag::Bytes);
        put_varint(self.out, value.len() as u64);
        self.out.extend_from_slice(value);
        Ok(())
    }
    fn visit_unit<E: Error>(mut self) -> Result<(), E> {
        self.tag(Tag::Null);
        Ok(())
    }
    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }
    fn visit_some<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.tag(Tag::Some);
        self.part().deserialize(deserializer)
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.part().deserialize(deserializer)
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let (at, mut count) = (self.open(Tag::List), 0);
        while seq.next_element_seed(self.part())?.is_some() {
            count += 1;
        }
        self.close(at, count);
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let (at, mut count) = (self.open(Tag::Map), 0);
        while map.next_key_seed(self.part())?.is_some() {
            map.next_value_seed(self.part())?;
            count += 1;
        }
        self.close(at, count);
        Ok(())
    }
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<(), A::Error> {
        let (name, content): (String, _) = data.variant()?;
        content.unit_variant()?;
        self.visit_str(&name)
    }
}
