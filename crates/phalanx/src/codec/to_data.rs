//! From values to trees: the serializer that makes a [`Data`].
//!
//! Names of structs are left out, those of fields and variants kept. Values can ask what the format is:
//! types that look different in readable formats do so here, too.

use std::fmt::Display;

use phalanx_store::{ENTITY_NEWTYPE, Entity};
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::{CodecError, Data, MAX_DEPTH};

/// Makes a tree of a value.
#[derive(Clone, Copy)]
pub(crate) struct ToData {
    pub(crate) readable: bool,
    depth: u32,
}

impl ToData {
    pub(crate) fn new(readable: bool) -> Self {
        Self { readable, depth: 0 }
    }

    fn deeper(self) -> Result<Self, CodecError> {
        if self.depth >= MAX_DEPTH {
            return Err(CodecError::new("values lie in each other too deeply to be saved"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

/// The parts of a value, until it is complete.
pub(crate) struct Parts {
    with: ToData,
    list: Vec<Data>,
    entries: Vec<(Data, Data)>,
    key: Option<Data>,
    variant: Option<&'static str>,
}

impl Parts {
    fn new(with: ToData, variant: Option<&'static str>) -> Result<Self, CodecError> {
        Ok(Self { with: with.deeper()?, list: Vec::new(), entries: Vec::new(), key: None, variant })
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.list.push(value.serialize(self.with)?);
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), CodecError> {
        let value =
            value.serialize(self.with).map_err(|error| error.within(format_args!("field `{name}`")))?;
        self.entries.push((Data::Text(name.to_owned()), value));
        Ok(())
    }

    fn list(self) -> Data {
        variant(self.variant, Data::List(self.list))
    }

    fn map(self) -> Data {
        variant(self.variant, Data::Map(self.entries))
    }
}

fn variant(name: Option<&'static str>, content: Data) -> Data {
    match name {
        Some(name) => Data::map([(name, content)]),
        None => content,
    }
}

macro_rules! plain {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, value: $type) -> Result<Data, CodecError> {
            Ok(value.into())
        })*
    };
}

impl Serializer for ToData {
    type Ok = Data;
    type Error = CodecError;
    type SerializeSeq = Parts;
    type SerializeTuple = Parts;
    type SerializeTupleStruct = Parts;
    type SerializeTupleVariant = Parts;
    type SerializeMap = Parts;
    type SerializeStruct = Parts;
    type SerializeStructVariant = Parts;

    plain! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_f32(f32) serialize_f64(f64) serialize_char(char) serialize_str(&str)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Data, CodecError> {
        Ok(Data::Bytes(value.to_vec()))
    }
    fn serialize_none(self) -> Result<Data, CodecError> {
        Ok(Data::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Data, CodecError> {
        Ok(Data::Some(Box::new(value.serialize(self.deeper()?)?)))
    }
    fn serialize_unit(self) -> Result<Data, CodecError> {
        Ok(Data::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Data, CodecError> {
        Ok(Data::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Data, CodecError> {
        Ok(Data::Text(name.to_owned()))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Data, CodecError> {
        if name == ENTITY_NEWTYPE {
            let bits = match value.serialize(self)? {
                Data::Int(bits) => u64::try_from(bits).ok(),
                Data::UInt(bits) => Some(bits),
                _ => None,
            };
            let entity = bits.and_then(Entity::from_bits);
            return entity
                .map(Data::Entity)
                .ok_or_else(|| CodecError::new("an entity is written as its bits"));
        }
        value.serialize(self.deeper()?)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Data, CodecError> {
        Ok(variant(Some(name), value.serialize(self.deeper()?)?))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Parts, CodecError> {
        Parts::new(self, None)
    }
    fn serialize_tuple(self, _: usize) -> Result<Parts, CodecError> {
        Parts::new(self, None)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts, CodecError> {
        Parts::new(self, None)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Parts, CodecError> {
        Parts::new(self, Some(name))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Parts, CodecError> {
        Parts::new(self, None)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts, CodecError> {
        Parts::new(self, None)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Parts, CodecError> {
        Parts::new(self, Some(name))
    }
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<Data, CodecError> {
        Ok(Data::Text(value.to_string()))
    }
    fn is_human_readable(&self) -> bool {
        self.readable
    }
}

macro_rules! elements {
    ($($trait:ident :: $method:ident)*) => {
        $(impl $trait for Parts {
            type Ok = Data;
            type Error = CodecError;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
                self.push(value)
            }
            fn end(self) -> Result<Data, CodecError> {
                Ok(self.list())
            }
        })*
    };
}
elements! {
    SerializeSeq::serialize_element SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field
}

macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl $trait for Parts {
            type Ok = Data;
            type Error = CodecError;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), CodecError> {
                self.field(name, value)
            }
            fn end(self) -> Result<Data, CodecError> {
                Ok(self.map())
            }
        })*
    };
}
fields!(SerializeStruct SerializeStructVariant);

impl SerializeMap for Parts {
    type Ok = Data;
    type Error = CodecError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CodecError> {
        self.key = Some(key.serialize(self.with)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        let key = self.key.take().ok_or_else(|| CodecError::new("a map gives a value without its key"))?;
        self.entries.push((key, value.serialize(self.with)?));
        Ok(())
    }
    fn end(self) -> Result<Data, CodecError> {
        Ok(self.map())
    }
}
