//! A column that grows: slices are copied as a whole, values one by one, and nulls wherever something is absent.
//!
//! The type is found out from the first value. A column without nulls has no validity bits, so that copying a slice is
//! one `memcpy`.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, ListArray, StringArray, StructArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use phalanx::Entity;
use phalanx::value::Value;

use crate::error::ValueError;
use crate::names::{ENTITY, TYPE};

/// The values of a column, and which of them are null.
#[derive(Default)]
pub(crate) struct Column {
    len: usize,
    /// Absent while no row is null.
    valid: Option<BooleanBufferBuilder>,
    /// Whether rows can be null although their component is there: the field is an `Option`.
    pub(crate) optional: bool,
    pub(crate) values: Values,
}

/// The values, by type. A null has a zero in its place.
#[derive(Default)]
pub(crate) enum Values {
    /// No row had a value yet.
    #[default]
    Unknown,
    /// Values without content.
    Unit,
    F32(Vec<f32>),
    F64(Vec<f64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    Bool(BooleanBufferBuilder),
    Entity(Vec<u64>),
    /// Text or bytes, and where each ends.
    Text(Vec<i32>, Vec<u8>),
    Bytes(Vec<i32>, Vec<u8>),
    /// Variants that hold nothing, and their names.
    Variant(Vec<i32>, Vec<Cow<'static, str>>),
    Struct(Vec<(Cow<'static, str>, Column)>),
    /// Arrays of one length.
    Fixed(usize, Box<Column>),
    /// Lists, and where each ends.
    List(Vec<i32>, Box<Column>),
}

/// Types that lie in a column as they are.
pub(crate) trait Plain: Copy + Default {
    /// The vector of a column, which becomes one of this type if it has none yet.
    fn vector(values: &mut Values, len: usize) -> Option<&mut Vec<Self>>;
}

macro_rules! plain {
    ($($variant:ident $type:ty),*) => {
        $(impl Plain for $type {
            fn vector(values: &mut Values, len: usize) -> Option<&mut Vec<Self>> {
                if matches!(values, Values::Unknown) {
                    *values = Values::$variant(vec![Self::default(); len]);
                }
                match values {
                    Values::$variant(vector) => Some(vector),
                    _ => None,
                }
            }
        })*
    };
}
plain!(F32 f32, F64 f64, U8 u8, U16 u16, U32 u32, I8 i8, I16 i16, I32 i32, I64 i64);

impl Plain for u64 {
    fn vector(values: &mut Values, len: usize) -> Option<&mut Vec<Self>> {
        if matches!(values, Values::Unknown) {
            *values = Values::U64(vec![0; len]);
        }
        match values {
            // Bits of entities come as numbers after the column learned what they are.
            Values::U64(vector) | Values::Entity(vector) => Some(vector),
            _ => None,
        }
    }
}

pub(crate) fn end_of(bytes: usize) -> Result<i32, ValueError> {
    let message = "more than 2 GiB in one column: export a part of the world at a time";
    i32::try_from(bytes).map_err(|_| ValueError(message.into()))
}

impl Column {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn reserve(&mut self, rows: usize, like: phalanx::value::FieldType) {
        use phalanx::value::FieldType as F;
        debug_assert_eq!(self.len, 0);
        self.values = match like {
            F::F32 => Values::F32(Vec::with_capacity(rows)),
            F::F64 => Values::F64(Vec::with_capacity(rows)),
            F::U8 => Values::U8(Vec::with_capacity(rows)),
            F::U16 => Values::U16(Vec::with_capacity(rows)),
            F::U32 => Values::U32(Vec::with_capacity(rows)),
            F::U64 => Values::U64(Vec::with_capacity(rows)),
            F::I8 => Values::I8(Vec::with_capacity(rows)),
            F::I16 => Values::I16(Vec::with_capacity(rows)),
            F::I32 => Values::I32(Vec::with_capacity(rows)),
            F::I64 => Values::I64(Vec::with_capacity(rows)),
            F::Bool => Values::Bool(BooleanBufferBuilder::new(rows)),
            F::Entity => Values::Entity(Vec::with_capacity(rows)),
            _ => Values::Unknown,
        };
    }

    /// `count` rows more hold values.
    fn grow(&mut self, count: usize) {
        self.len += count;
        if let Some(valid) = &mut self.valid {
            valid.append_n(count, true);
        }
    }

    fn mixed<T>(&self) -> Result<T, ValueError> {
        Err(ValueError("its values are of several types, and a column has one".into()))
    }

    /// Copies a slice.
    pub(crate) fn extend<T: Plain>(&mut self, slice: &[T]) -> Result<(), ValueError> {
        let Some(vector) = T::vector(&mut self.values, self.len) else { return self.mixed() };
        vector.extend_from_slice(slice);
        self.grow(slice.len());
        Ok(())
    }

    pub(crate) fn push<T: Plain>(&mut self, value: T) -> Result<(), ValueError> {
        self.extend(&[value])
    }

    pub(crate) fn extend_bools(&mut self, slice: &[bool]) -> Result<(), ValueError> {
        if matches!(self.values, Values::Unknown) {
            let mut bits = BooleanBufferBuilder::new(self.len + slice.len());
            bits.append_n(self.len, false);
            self.values = Values::Bool(bits);
        }
        let Values::Bool(bits) = &mut self.values else { return self.mixed() };
        bits.append_slice(slice);
        self.grow(slice.len());
        Ok(())
    }

    /// From now on numbers are the bits of entities.
    pub(crate) fn expect_entities(&mut self) {
        if matches!(self.values, Values::Unknown) {
            self.values = Values::Entity(vec![0; self.len]);
        }
    }

    pub(crate) fn extend_entities(&mut self, entities: &[Entity]) -> Result<(), ValueError> {
        self.expect_entities();
        let Values::Entity(vector) = &mut self.values else { return self.mixed() };
        vector.extend(entities.iter().map(|entity| entity.to_bits()));
        self.grow(entities.len());
        Ok(())
    }

    pub(crate) fn push_value(&mut self, value: Value) -> Result<(), ValueError> {
        match value {
            Value::F32(value) => self.push(value),
            Value::F64(value) => self.push(value),
            Value::U8(value) => self.push(value),
            Value::U16(value) => self.push(value),
            Value::U32(value) => self.push(value),
            Value::U64(value) => self.push(value),
            Value::I8(value) => self.push(value),
            Value::I16(value) => self.push(value),
            Value::I32(value) => self.push(value),
            Value::I64(value) => self.push(value),
            Value::Bool(value) => self.extend_bools(&[value]),
            Value::Entity(value) => self.extend_entities(&[value]),
            other => Err(ValueError(format!("{} has no column type", other.field_type()))),
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) -> Result<(), ValueError> {
        if matches!(self.values, Values::Unknown) {
            self.values = Values::Text(vec![0; self.len + 1], Vec::new());
        }
        let Values::Text(ends, bytes) = &mut self.values else { return self.mixed() };
        ends.push(end_of(bytes.len() + text.len())?);
        bytes.extend_from_slice(text.as_bytes());
        self.grow(1);
        Ok(())
    }

    pub(crate) fn push_bytes(&mut self, more: &[u8]) -> Result<(), ValueError> {
        if matches!(self.values, Values::Unknown) {
            self.values = Values::Bytes(vec![0; self.len + 1], Vec::new());
        }
        let Values::Bytes(ends, bytes) = &mut self.values else { return self.mixed() };
        ends.push(end_of(bytes.len() + more.len())?);
        bytes.extend_from_slice(more);
        self.grow(1);
        Ok(())
    }

    pub(crate) fn push_variant(&mut self, name: &'static str) -> Result<(), ValueError> {
        if matches!(self.values, Values::Unknown) {
            self.values = Values::Variant(vec![0; self.len], Vec::new());
        }
        let Values::Variant(keys, names) = &mut self.values else { return self.mixed() };
        let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(Cow::Borrowed(name));
            names.len() - 1
        });
        keys.push(end_of(at)?);
        self.grow(1);
        Ok(())
    }

    pub(crate) fn push_unit(&mut self) -> Result<(), ValueError> {
        if matches!(self.values, Values::Unknown) {
            self.values = Values::Unit;
        }
        if !matches!(self.values, Values::Unit) {
            return self.mixed();
        }
        self.grow(1);
        Ok(())
    }

    /// Appends nulls.
    pub(crate) fn push_nulls(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let len = self.len;
        let valid = self.valid.get_or_insert_with(|| {
            let mut valid = BooleanBufferBuilder::new(len + count);
            valid.append_n(len, true);
            valid
        });
        valid.append_n(count, false);
        self.len += count;
        self.values.push_zeros(count, self.len);
    }

    /// Whether the last row is null.
    pub(crate) fn ends_in_null(&self) -> bool {
        self.valid.as_ref().is_some_and(|valid| !valid.get_bit(self.len - 1))
    }

    /// The struct that the column holds, or becomes.
    pub(crate) fn fields(&mut self) -> Result<&mut Vec<(Cow<'static, str>, Column)>, ValueError> {
        if matches!(self.values, Values::Unknown) {
            self.values = Values::Struct(Vec::new());
        }
        match &mut self.values {
            Values::Struct(fields) => Ok(fields),
            _ => Err(ValueError("its values are of several types, and a column has one".into())),
        }
    }

    /// The elements of arrays of this length.
    pub(crate) fn fixed(&mut self, size: usize) -> Result<&mut Column, ValueError> {
        if matches!(self.values, Values::Unknown) {
            let mut elements = Column::default();
            elements.push_nulls(self.len * size);
            self.values = Values::Fixed(size, Box::new(elements));
        }
        match &mut self.values {
            Values::Fixed(known, elements) if *known == size => Ok(elements),
            _ => Err(ValueError("its arrays have several lengths, and a column has one".into())),
        }
    }

    /// The elements of lists.
    pub(crate) fn elements(&mut self) -> Result<(&mut Vec<i32>, &mut Column), ValueError> {
        if matches!(self.values, Values::Unknown) {
            self.values = Values::List(vec![0; self.len + 1], Box::default());
        }
        match &mut self.values {
            Values::List(ends, elements) => Ok((ends, elements)),
            _ => Err(ValueError("its values are of several types, and a column has one".into())),
        }
    }

    /// One row more was written through [`Column::fields`], [`Column::fixed`] or [`Column::elements`].
    pub(crate) fn end_row(&mut self) {
        self.grow(1);
    }

    /// As [`Column::end_row`], for several rows.
    pub(crate) fn end_rows(&mut self, count: usize) {
        self.grow(count);
    }

    /// The column as an array, and the field that describes it.
    pub(crate) fn finish(
        self,
        name: &str,
        dictionaries: bool,
    ) -> Result<Option<(Field, ArrayRef)>, ValueError> {
        let Self { len, valid, values, optional } = self;
        let nulls = valid.map(|mut valid| NullBuffer::new(valid.finish()));
        let nullable = optional || nulls.is_some();
        let is_entity = matches!(values, Values::Entity(_));
        let Some(array) = values.finish(len, nulls, dictionaries)? else { return Ok(None) };
        let mut field = Field::new(name, array.data_type().clone(), nullable);
        if is_entity {
            field = field.with_metadata([(TYPE.to_owned(), ENTITY.to_owned())].into());
        }
        Ok(Some((field, array)))
    }
}

impl Values {
    /// Makes room for nulls; the column has `len` rows with them.
    fn push_zeros(&mut self, count: usize, len: usize) {
        match self {
            Self::Unknown | Self::Unit => {}
            Self::F32(values) => values.resize(len, 0.0),
            Self::F64(values) => values.resize(len, 0.0),
            Self::U8(values) => values.resize(len, 0),
            Self::U16(values) => values.resize(len, 0),
            Self::U32(values) => values.resize(len, 0),
            Self::U64(values) | Self::Entity(values) => values.resize(len, 0),
            Self::I8(values) => values.resize(len, 0),
            Self::I16(values) => values.resize(len, 0),
            Self::I32(values) => values.resize(len, 0),
            Self::I64(values) => values.resize(len, 0),
            Self::Bool(values) => values.append_n(count, false),
            Self::Variant(keys, _) => keys.resize(len, 0),
            Self::Text(ends, _) | Self::Bytes(ends, _) | Self::List(ends, _) => {
                let end = ends.last().copied().unwrap_or(0);
                ends.resize(len + 1, end);
            }
            Self::Struct(fields) => fields.iter_mut().for_each(|(_, field)| field.push_nulls(count)),
            Self::Fixed(size, elements) => elements.push_nulls(count * *size),
        }
    }

    /// The values as an array; `None` where no row had any.
    fn finish(
        self,
        len: usize,
        nulls: Option<NullBuffer>,
        dictionaries: bool,
    ) -> Result<Option<ArrayRef>, ValueError> {
        let fail = |error: arrow_schema::ArrowError| ValueError(error.to_string());
        Ok(Some(match self {
            Self::Unknown | Self::Unit => return Ok(None),
            Self::F32(values) => Arc::new(Float32Array::new(ScalarBuffer::from(values), nulls)),
            Self::F64(values) => Arc::new(Float64Array::new(ScalarBuffer::from(values), nulls)),
            Self::U8(values) => Arc::new(UInt8Array::new(ScalarBuffer::from(values), nulls)),
            Self::U16(values) => Arc::new(UInt16Array::new(ScalarBuffer::from(values), nulls)),
            Self::U32(values) => Arc::new(UInt32Array::new(ScalarBuffer::from(values), nulls)),
            Self::U64(values) | Self::Entity(values) => {
                Arc::new(UInt64Array::new(ScalarBuffer::from(values), nulls))
            }
            Self::I8(values) => Arc::new(Int8Array::new(ScalarBuffer::from(values), nulls)),
            Self::I16(values) => Arc::new(Int16Array::new(ScalarBuffer::from(values), nulls)),
            Self::I32(values) => Arc::new(Int32Array::new(ScalarBuffer::from(values), nulls)),
            Self::I64(values) => Arc::new(Int64Array::new(ScalarBuffer::from(values), nulls)),
            Self::Bool(mut bits) => Arc::new(BooleanArray::new(bits.finish(), nulls)),
            Self::Text(ends, bytes) => {
                let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
                Arc::new(StringArray::try_new(ends, Buffer::from_vec(bytes), nulls).map_err(fail)?)
            }
            Self::Bytes(ends, bytes) => {
                let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
                Arc::new(BinaryArray::try_new(ends, Buffer::from_vec(bytes), nulls).map_err(fail)?)
            }
            Self::Variant(keys, names) if dictionaries => {
                let keys = Int32Array::new(ScalarBuffer::from(keys), nulls);
                let names = Arc::new(StringArray::from_iter_values(names));
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, names).map_err(fail)?)
            }
            Self::Variant(keys, names) => {
                let present = |at: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(at));
                let name = |(at, key): (usize, i32)| {
                    let key = usize::try_from(key).unwrap_or_default();
                    present(at).then(|| names[key].as_ref())
                };
                Arc::new(keys.into_iter().enumerate().map(name).collect::<StringArray>())
            }
            Self::Struct(fields) => {
                let mut described = Vec::new();
                let mut arrays = Vec::new();
                for (name, field) in fields {
                    if let Some((field, array)) = field.finish(&name, dictionaries)? {
                        described.push(field);
                        arrays.push(array);
                    }
                }
                let fields = Fields::from(described);
                Arc::new(StructArray::try_new_with_length(fields, arrays, nulls, len).map_err(fail)?)
            }
            Self::Fixed(size, elements) => {
                let Some((field, array)) = elements.finish("item", dictionaries)? else { return Ok(None) };
                let list = FixedSizeListArray::try_new(Arc::new(field), end_of(size)?, array, nulls);
                Arc::new(list.map_err(fail)?)
            }
            Self::List(ends, elements) => {
                let found = elements.finish("item", dictionaries)?;
                // Lists that are all empty have elements of no type.
                let (field, array) = found.unwrap_or_else(|| {
                    let none: ArrayRef = Arc::new(arrow_array::NullArray::new(0));
                    (Field::new("item", DataType::Null, true), none)
                });
                let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
                Arc::new(ListArray::try_new(Arc::new(field), ends, array, nulls).map_err(fail)?)
            }
        }))
    }
}
