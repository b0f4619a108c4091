//! Values become rows of a [`Column`], by their own `Serialize`.
//!
//! Structs become structs, tuples and arrays lists of a fixed size, sequences lists, variants without content names.
//! What has no place in a column is refused in words: variants with content, maps, numbers of 128 bits.

use std::borrow::Cow;

use phalanx_store::ENTITY_NEWTYPE;
use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct, Serializer,
};

use crate::column::{Column, end_of};
use crate::error::ValueError;

type Done = Result<(), ValueError>;

fn refused<T>(what: &str) -> Result<T, ValueError> {
    Err(ValueError(format!("{what} have no column type")))
}

macro_rules! plain {
    ($($method:ident $type:ty),*) => {
        $(fn $method(self, value: $type) -> Done {
            self.push(value)
        })*
    };
}

impl<'c> Serializer for &'c mut Column {
    type Ok = ();
    type Error = ValueError;
    type SerializeSeq = ListRow<'c>;
    type SerializeTuple = FixedRow<'c>;
    type SerializeTupleStruct = StructRow<'c>;
    type SerializeTupleVariant = Impossible<(), ValueError>;
    type SerializeMap = Impossible<(), ValueError>;
    type SerializeStruct = StructRow<'c>;
    type SerializeStructVariant = Impossible<(), ValueError>;

    plain!(serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64);
    plain!(serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64);
    plain!(serialize_f32 f32, serialize_f64 f64);

    fn is_human_readable(&self) -> bool {
        false
    }
    fn serialize_bool(self, value: bool) -> Done {
        self.extend_bools(&[value])
    }
    fn serialize_char(self, value: char) -> Done {
        self.push_text(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, value: &str) -> Done {
        self.push_text(value)
    }
    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.push_bytes(value)
    }
    fn serialize_none(self) -> Done {
        self.optional = true;
        self.push_nulls(1);
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.optional = true;
        value.serialize(&mut *self)?;
        if self.ends_in_null() { refused("options of options") } else { Ok(()) }
    }
    fn serialize_unit(self) -> Done {
        self.push_unit()
    }
    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.push_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.push_variant(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Done {
        if name == ENTITY_NEWTYPE {
            self.expect_entities();
        }
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Done {
        refused(&format!("variants with content (`{name}::{variant}`)"))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<ListRow<'c>, ValueError> {
        self.elements()?;
        Ok(ListRow(self))
    }
    fn serialize_tuple(self, len: usize) -> Result<FixedRow<'c>, ValueError> {
        if len == 0 {
            return refused("empty arrays");
        }
        self.fixed(len)?;
        Ok(FixedRow(self, len))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<StructRow<'c>, ValueError> {
        self.fields()?;
        Ok(StructRow { column: self, at: 0 })
    }
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, ValueError> {
        refused(&format!("variants with content (`{name}::{variant}`)"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, ValueError> {
        refused("maps")
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<StructRow<'c>, ValueError> {
        self.fields()?;
        Ok(StructRow { column: self, at: 0 })
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, ValueError> {
        refused(&format!("variants with content (`{name}::{variant}`)"))
    }
}

/// One row of a column of structs.
pub(crate) struct StructRow<'c> {
    column: &'c mut Column,
    /// The next field, where all come in order.
    at: usize,
}

impl StructRow<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: Cow<'static, str>, value: &T) -> Done {
        let rows = self.column.len();
        let fields = self.column.fields()?;
        let in_order = fields.get(self.at).is_some_and(|(known, _)| *known == name);
        if !in_order {
            self.at = fields.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                let mut field = Column::default();
                field.push_nulls(rows);
                fields.push((name.clone(), field));
                fields.len() - 1
            });
        }
        let (_, field) = &mut fields[self.at];
        self.at += 1;
        value.serialize(field).map_err(|error| ValueError(format!("field `{name}`: {error}")))
    }

    fn end(self) -> Done {
        let rows = self.column.len() + 1;
        for (_, field) in self.column.fields()? {
            // A field that was left out.
            let missing = rows.saturating_sub(field.len());
            field.optional |= missing > 0;
            field.push_nulls(missing);
        }
        self.column.end_row();
        Ok(())
    }
}

impl SerializeStruct for StructRow<'_> {
    type Ok = ();
    type Error = ValueError;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
        self.field(Cow::Borrowed(name), value)
    }
    fn end(self) -> Done {
        StructRow::end(self)
    }
}

impl SerializeTupleStruct for StructRow<'_> {
    type Ok = ();
    type Error = ValueError;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        const NAMES: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];
        let name = NAMES.get(self.at).map_or_else(|| self.at.to_string().into(), |name| Cow::Borrowed(*name));
        self.field(name, value)
    }
    fn end(self) -> Done {
        StructRow::end(self)
    }
}

/// One row of a column of arrays.
pub(crate) struct FixedRow<'c>(&'c mut Column, usize);

impl SerializeTuple for FixedRow<'_> {
    type Ok = ();
    type Error = ValueError;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(self.0.fixed(self.1)?)
    }
    fn end(self) -> Done {
        self.0.end_row();
        Ok(())
    }
}

/// One row of a column of lists.
pub(crate) struct ListRow<'c>(&'c mut Column);

impl SerializeSeq for ListRow<'_> {
    type Ok = ();
    type Error = ValueError;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(self.0.elements()?.1)
    }
    fn end(self) -> Done {
        let (ends, elements) = self.0.elements()?;
        ends.push(end_of(elements.len())?);
        self.0.end_row();
        Ok(())
    }
}
