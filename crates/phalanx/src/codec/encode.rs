//! From values to bytes, with a shape that grows while values are written.
//!
//! Each part of a value has its node of the shape. The first value gives the node its type; a later one that does not
//! agree halts the run: the node becomes [`Shape::Any`], and the writer of the run begins anew, with the shape as it
//! is by then. That happens once per node at most, and only for types that write themselves in several ways.

use phalanx_store::ENTITY_NEWTYPE;
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::reader::zigzag;
use super::shape::{Name, Shape};
use super::tagged::put_tagged;
use super::{CodecError, Data, MAX_DEPTH, ToData, put_entity, put_text, put_varint};

/// Why a run of values halts.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A value contradicts the shape, which is wider now: begin the run again.
    Again,
    /// A value contradicts the shape of the node that is being written.
    Contradiction,
    Failed(CodecError),
}

impl std::fmt::Display for Halt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Again | Self::Contradiction => f.write_str("a value has another shape than those before"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Halt {}

impl serde::ser::Error for Halt {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Failed(CodecError::new(message))
    }
}

/// How values are asked to write themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Compact,
    /// As for a readable format.
    Readable,
}

/// Where a part lies, and how it is written.
#[derive(Clone, Copy)]
struct At {
    depth: u32,
    form: Form,
}

impl At {
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// Writes a value. What was written is not complete when it halts.
#[inline]
pub(crate) fn encode<T: Serialize + ?Sized>(
    value: &T,
    form: Form,
    shape: &mut Shape,
    out: &mut Vec<u8>,
) -> Result<(), Halt> {
    encode_at(value, shape, out, At { depth: 0, form })
}

#[inline]
fn encode_at<T: Serialize + ?Sized>(
    value: &T,
    shape: &mut Shape,
    out: &mut Vec<u8>,
    at: At,
) -> Result<(), Halt> {
    if at.depth > MAX_DEPTH {
        return Err(Halt::Failed(CodecError::new("values lie in each other too deeply to be saved")));
    }
    if matches!(shape, Shape::Any) {
        return encode_tagged(value, out, at.form);
    }
    match value.serialize(Encoder { out, shape: &mut *shape, at }) {
        Err(Halt::Contradiction) => {
            *shape = Shape::Any;
            Err(Halt::Again)
        }
        done => done,
    }
}

#[cold]
fn encode_tagged<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>, form: Form) -> Result<(), Halt> {
    let data = value.serialize(ToData::new(form == Form::Readable)).map_err(Halt::Failed)?;
    put_tagged(out, &data);
    Ok(())
}

/// Writes a struct whose fields are known at run time.
pub(crate) fn encode_fields<'v, T: Serialize + 'v>(
    fields: impl ExactSizeIterator<Item = (&'v str, T)>,
    form: Form,
    shape: &mut Shape,
    out: &mut Vec<u8>,
) -> Result<(), Halt> {
    if matches!(shape, Shape::Unknown) {
        *shape = Shape::Struct(Vec::new());
    }
    let Shape::Struct(parts) = shape else { return Err(Halt::Contradiction) };
    let fresh = parts.is_empty();
    for (at, (name, value)) in fields.enumerate() {
        if fresh {
            parts.push((Name::Owned(name.to_owned()), Shape::Unknown));
        }
        encode_at(&value, &mut parts[at].1, out, At { depth: 1, form })?;
    }
    Ok(())
}

struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    shape: &'a mut Shape,
    at: At,
}

impl<'a> Encoder<'a> {
    /// The first value of a node, or one of another type than those before.
    #[cold]
    fn fresh(&mut self, shape: Shape) -> Result<(), Halt> {
        if !matches!(self.shape, Shape::Unknown) {
            return Err(Halt::Contradiction);
        }
        *self.shape = shape;
        Ok(())
    }

    fn option(&mut self) -> Result<&mut Shape, Halt> {
        if matches!(self.shape, Shape::Unknown) {
            *self.shape = Shape::Option(Box::default());
        }
        match self.shape {
            Shape::Option(inner) => Ok(inner),
            _ => Err(Halt::Contradiction),
        }
    }

    /// The shape of what a variant holds; its number is written.
    fn variant(self, name: &'static str) -> Result<Self, Halt> {
        let Self { out, shape, at } = self;
        if matches!(shape, Shape::Unknown) {
            *shape = Shape::Enum(Vec::new());
        }
        let Shape::Enum(variants) = shape else { return Err(Halt::Contradiction) };
        let number = variants.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            variants.push((Name::Borrowed(name), Shape::Unknown));
            variants.len() - 1
        });
        put_varint(out, number as u64);
        Ok(Self { out, shape: &mut variants[number].1, at })
    }

    fn tuple(self) -> Result<Tuple<'a>, Halt> {
        let Self { out, shape, at } = self;
        let fresh = matches!(shape, Shape::Unknown);
        if fresh {
            *shape = Shape::Tuple(Vec::new());
        }
        match shape {
            Shape::Tuple(parts) => Ok(Tuple { out, parts, next: 0, fresh, at: at.deeper() }),
            _ => Err(Halt::Contradiction),
        }
    }

    fn fields(self) -> Result<Fields<'a>, Halt> {
        let Self { out, shape, at } = self;
        let fresh = matches!(shape, Shape::Unknown);
        if fresh {
            *shape = Shape::Struct(Vec::new());
        }
        match shape {
            Shape::Struct(parts) => Ok(Fields { out, parts, next: 0, fresh, at: at.deeper() }),
            _ => Err(Halt::Contradiction),
        }
    }
}

macro_rules! plain {
    ($($method:ident($type:ty) $shape:ident |$out:ident, $value:ident| $put:expr;)*) => {
        $(#[inline]
        fn $method(mut self, $value: $type) -> Result<(), Halt> {
            if !matches!(self.shape, Shape::$shape) {
                self.fresh(Shape::$shape)?;
            }
            let $out = self.out;
            $put;
            Ok(())
        })*
    };
}

impl<'a> Serializer for Encoder<'a> {
    type Ok = ();
    type Error = Halt;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Tuple<'a>;
    type SerializeTupleStruct = Tuple<'a>;
    type SerializeTupleVariant = Tuple<'a>;
    type SerializeMap = Elements<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    plain! {
        serialize_bool(bool) Bool |out, value| out.push(u8::from(value));
        serialize_i8(i8) I8 |out, value| out.push(value.cast_unsigned());
        serialize_i16(i16) I16 |out, value| put_varint(out, zigzag(value.into()));
        serialize_i32(i32) I32 |out, value| put_varint(out, zigzag(value.into()));
        serialize_i64(i64) I64 |out, value| put_varint(out, zigzag(value));
        serialize_u8(u8) U8 |out, value| out.push(value);
        serialize_u16(u16) U16 |out, value| put_varint(out, value.into());
        serialize_u32(u32) U32 |out, value| put_varint(out, value.into());
        serialize_u64(u64) U64 |out, value| put_varint(out, value);
        serialize_f32(f32) F32 |out, value| out.extend_from_slice(&value.to_le_bytes());
        serialize_f64(f64) F64 |out, value| out.extend_from_slice(&value.to_le_bytes());
        serialize_char(char) Char |out, value| put_varint(out, u32::from(value).into());
        serialize_str(&str) Text |out, value| put_text(out, value);
        serialize_bytes(&[u8]) Bytes |out, value| {
            put_varint(out, value.len() as u64);
            out.extend_from_slice(value);
        };
    }

    fn serialize_none(mut self) -> Result<(), Halt> {
        self.option()?;
        self.out.push(0);
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), Halt> {
        self.option()?;
        self.out.push(1);
        let Shape::Option(inner) = self.shape else { return Err(Halt::Contradiction) };
        encode_at(value, inner, self.out, self.at.deeper())
    }
    fn serialize_unit(mut self) -> Result<(), Halt> {
        if matches!(self.shape, Shape::Unit) { Ok(()) } else { self.fresh(Shape::Unit) }
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Halt> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Halt> {
        self.variant(name)?.serialize_unit()
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Halt> {
        if name != ENTITY_NEWTYPE {
            return encode_at(value, self.shape, self.out, self.at.deeper());
        }
        let bits = value.serialize(ToData::new(false)).map_err(Halt::Failed)?;
        let bits = match bits {
            Data::Int(bits) => Some(bits.cast_unsigned()),
            Data::UInt(bits) => Some(bits),
            _ => None,
        };
        let entity = bits.and_then(phalanx_store::Entity::from_bits);
        let entity =
            entity.ok_or_else(|| Halt::Failed(CodecError::new("an entity is written as its bits")))?;
        if !matches!(self.shape, Shape::Entity) {
            self.fresh(Shape::Entity)?;
        }
        put_entity(self.out, entity);
        Ok(())
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Halt> {
        let Self { out, shape, at } = self.variant(name)?;
        encode_at(value, shape, out, at.deeper())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'a>, Halt> {
        if *self.shape == Shape::Unknown {
            *self.shape = Shape::List(Box::default());
        }
        match self.shape {
            Shape::List(_) => Ok(Elements::new(self.out, self.shape, self.at)),
            _ => Err(Halt::Contradiction),
        }
    }
    fn serialize_tuple(self, _: usize) -> Result<Tuple<'a>, Halt> {
        self.tuple()
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Tuple<'a>, Halt> {
        self.tuple()
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Tuple<'a>, Halt> {
        self.variant(name)?.tuple()
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Elements<'a>, Halt> {
        if *self.shape == Shape::Unknown {
            *self.shape = Shape::Map(Box::default());
        }
        match self.shape {
            Shape::Map(_) => Ok(Elements::new(self.out, self.shape, self.at)),
            _ => Err(Halt::Contradiction),
        }
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'a>, Halt> {
        self.fields()
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Fields<'a>, Halt> {
        self.variant(name)?.fields()
    }
    fn is_human_readable(&self) -> bool {
        self.at.form == Form::Readable
    }
}

/// The elements of a list, or the keys and values of a map. Their number stands before them, and they take one byte
/// each at least, padded at the end where they take less.
struct Elements<'a> {
    out: &'a mut Vec<u8>,
    shape: &'a mut Shape,
    inner: Vec<u8>,
    count: u64,
    at: At,
}

impl<'a> Elements<'a> {
    fn new(out: &'a mut Vec<u8>, shape: &'a mut Shape, at: At) -> Self {
        Self { out, shape, inner: Vec::new(), count: 0, at: at.deeper() }
    }

    fn finish(mut self) {
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        put_varint(self.out, self.count);
        if self.inner.len() < count {
            self.inner.resize(count, 0);
        }
        self.out.append(&mut self.inner);
    }
}

impl SerializeSeq for Elements<'_> {
    type Ok = ();
    type Error = Halt;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Halt> {
        let Shape::List(element) = self.shape else { return Err(Halt::Contradiction) };
        self.count += 1;
        encode_at(value, element, &mut self.inner, self.at)
    }
    fn end(self) -> Result<(), Halt> {
        self.finish();
        Ok(())
    }
}

impl SerializeMap for Elements<'_> {
    type Ok = ();
    type Error = Halt;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Halt> {
        let Shape::Map(entry) = self.shape else { return Err(Halt::Contradiction) };
        self.count += 1;
        encode_at(key, &mut entry.0, &mut self.inner, self.at)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Halt> {
        let Shape::Map(entry) = self.shape else { return Err(Halt::Contradiction) };
        encode_at(value, &mut entry.1, &mut self.inner, self.at)
    }
    fn end(self) -> Result<(), Halt> {
        self.finish();
        Ok(())
    }
}

/// The parts of a tuple: as many in every value.
struct Tuple<'a> {
    out: &'a mut Vec<u8>,
    parts: &'a mut Vec<Shape>,
    next: usize,
    fresh: bool,
    at: At,
}

impl Tuple<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Halt> {
        if self.fresh {
            self.parts.push(Shape::Unknown);
        }
        let part = self.parts.get_mut(self.next).ok_or(Halt::Contradiction)?;
        self.next += 1;
        encode_at(value, part, self.out, self.at)
    }

    fn finish(&self) -> Result<(), Halt> {
        if self.next == self.parts.len() { Ok(()) } else { Err(Halt::Contradiction) }
    }
}

macro_rules! parts {
    ($($trait:ident :: $method:ident)*) => {
        $(impl $trait for Tuple<'_> {
            type Ok = ();
            type Error = Halt;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Halt> {
                self.push(value)
            }
            fn end(self) -> Result<(), Halt> {
                self.finish()
            }
        })*
    };
}
parts! {
    SerializeTuple::serialize_element SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field
}

/// The fields of a struct: the same names in every value.
struct Fields<'a> {
    out: &'a mut Vec<u8>,
    parts: &'a mut Vec<(Name, Shape)>,
    next: usize,
    fresh: bool,
    at: At,
}

impl Fields<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Halt> {
        if self.fresh {
            self.parts.push((Name::Borrowed(name), Shape::Unknown));
        }
        let (known, part) = self.parts.get_mut(self.next).ok_or(Halt::Contradiction)?;
        // Most often it is the same text in memory.
        if !std::ptr::eq::<str>(&**known, name) && known != name {
            return Err(Halt::Contradiction);
        }
        self.next += 1;
        match encode_at(value, part, self.out, self.at) {
            Err(Halt::Failed(error)) => Err(Halt::Failed(error.within(format_args!("field `{name}`")))),
            done => done,
        }
    }

    fn finish(&self) -> Result<(), Halt> {
        if self.next == self.parts.len() { Ok(()) } else { Err(Halt::Contradiction) }
    }
}

macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl $trait for Fields<'_> {
            type Ok = ();
            type Error = Halt;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Halt> {
                self.push(name, value)
            }
            fn end(self) -> Result<(), Halt> {
                self.finish()
            }
        })*
    };
}
fields!(SerializeStruct SerializeStructVariant);
