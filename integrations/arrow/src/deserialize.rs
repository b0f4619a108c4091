//! Rows of arrays become values, by their own `Deserialize`.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::error::ValueError;

/// One value: an array and a row of it. Texts are not lent, because elements of lists live in arrays of their own.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub(crate) array: &'a dyn Array,
    pub(crate) row: usize,
}

impl IntoDeserializer<'_, ValueError> for Cell<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'a> Cell<'a> {
    /// Whether there is no value: a null, or a column that has none at all.
    fn is_null(self) -> bool {
        matches!(self.array.data_type(), DataType::Null) || self.array.is_null(self.row)
    }

    /// The position that a key of a dictionary tells.
    fn position(self) -> Option<usize> {
        let Self { array, row } = self;
        match array.data_type() {
            DataType::Int8 => usize::try_from(array.as_primitive::<Int8Type>().value(row)).ok(),
            DataType::Int16 => usize::try_from(array.as_primitive::<Int16Type>().value(row)).ok(),
            DataType::Int32 => usize::try_from(array.as_primitive::<Int32Type>().value(row)).ok(),
            DataType::Int64 => usize::try_from(array.as_primitive::<Int64Type>().value(row)).ok(),
            DataType::UInt8 => Some(array.as_primitive::<UInt8Type>().value(row).into()),
            DataType::UInt16 => Some(array.as_primitive::<UInt16Type>().value(row).into()),
            DataType::UInt32 => usize::try_from(array.as_primitive::<UInt32Type>().value(row)).ok(),
            DataType::UInt64 => usize::try_from(array.as_primitive::<UInt64Type>().value(row)).ok(),
            _ => None,
        }
    }

    /// The text of a string, or of a dictionary of strings.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self.array.data_type() {
            DataType::Utf8 => Some(self.array.as_string::<i32>().value(self.row)),
            DataType::LargeUtf8 => Some(self.array.as_string::<i64>().value(self.row)),
            DataType::Utf8View => Some(self.array.as_string_view().value(self.row)),
            DataType::Dictionary(..) => {
                let dictionary = self.array.as_any_dictionary_opt()?;
                let row = Cell { array: dictionary.keys(), row: self.row }.position()?;
                Cell { array: dictionary.values(), row }.text()
            }
            _ => None,
        }
    }

    /// The elements of a list of any kind. Those of this row only.
    fn list(self) -> Option<ArrayRef> {
        match self.array.data_type() {
            DataType::FixedSizeList(..) => Some(self.array.as_fixed_size_list().value(self.row)),
            DataType::List(_) => Some(self.array.as_list::<i32>().value(self.row)),
            DataType::LargeList(_) => Some(self.array.as_list::<i64>().value(self.row)),
            _ => None,
        }
    }

    fn children(self) -> impl Iterator<Item = (&'a str, Cell<'a>)> {
        let (array, row) = (self.array.as_struct(), self.row);
        let columns = array.columns().iter().map(move |column| Cell { array: column, row });
        array.column_names().into_iter().zip(columns)
    }
}

impl<'de> Deserializer<'de> for Cell<'_> {
    type Error = ValueError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let Self { array, row } = self;
        if self.is_null() {
            return visitor.visit_unit();
        }
        match array.data_type() {
            DataType::Boolean => visitor.visit_bool(array.as_boolean().value(row)),
            DataType::Float32 => visitor.visit_f32(array.as_primitive::<Float32Type>().value(row)),
            DataType::Float64 => visitor.visit_f64(array.as_primitive::<Float64Type>().value(row)),
            DataType::UInt8 => visitor.visit_u8(array.as_primitive::<UInt8Type>().value(row)),
            DataType::UInt16 => visitor.visit_u16(array.as_primitive::<UInt16Type>().value(row)),
            DataType::UInt32 => visitor.visit_u32(array.as_primitive::<UInt32Type>().value(row)),
            DataType::UInt64 => visitor.visit_u64(array.as_primitive::<UInt64Type>().value(row)),
            DataType::Int8 => visitor.visit_i8(array.as_primitive::<Int8Type>().value(row)),
            DataType::Int16 => visitor.visit_i16(array.as_primitive::<Int16Type>().value(row)),
            DataType::Int32 => visitor.visit_i32(array.as_primitive::<Int32Type>().value(row)),
            DataType::Int64 => visitor.visit_i64(array.as_primitive::<Int64Type>().value(row)),
            DataType::Binary => visitor.visit_bytes(array.as_binary::<i32>().value(row)),
            DataType::LargeBinary => visitor.visit_bytes(array.as_binary::<i64>().value(row)),
            DataType::Struct(_) => visitor.visit_map(MapDeserializer::new(self.children())),
            other => match (self.text(), self.list()) {
                (Some(text), _) => visitor.visit_str(text),
                (_, Some(list)) => {
                    let elements = (0..list.len()).map(|row| Cell { array: &list, row });
                    visitor.visit_seq(SeqDeserializer::new(elements))
                }
                _ => Err(ValueError(format!("columns of type {other} cannot be read"))),
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        if !matches!(self.array.data_type(), DataType::Struct(_)) {
            return self.deserialize_any(visitor);
        }
        // By name, because a file may have brought the columns into another order.
        let mut fields: Vec<(usize, Cell<'_>)> = Vec::new();
        for (name, cell) in self.children() {
            fields.push((name.parse().map_err(|_| ValueError(format!("no field `{name}`")))?, cell));
        }
        fields.sort_by_key(|(at, _)| *at);
        visitor.visit_seq(SeqDeserializer::new(fields.into_iter().map(|(_, cell)| cell)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let text = self.text().filter(|_| !self.is_null());
        let text = text.ok_or_else(|| ValueError("a variant must be a text".into()))?;
        visitor.visit_enum(StrDeserializer::<ValueError>::new(text))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple map struct identifier ignored_any
    }
}
