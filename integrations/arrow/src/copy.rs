//! Columns of a world's tables become columns of batches, slice by slice.

use phalanx::Entity;
use phalanx::query::DynamicTable;
use phalanx::registry::ComponentId;
use phalanx::value::FieldType;

use crate::column::Column;
use crate::error::ValueError;
use crate::export::Part;

/// Copies the columns of a table, or as many nulls where it lacks the component.
pub(crate) fn copy_columns(
    table: &DynamicTable<'_>,
    id: ComponentId,
    fields: &[(String, Option<FieldType>)],
    part: &mut Part,
) -> Result<(), ValueError> {
    for ((name, scalar), (_, column)) in fields.iter().zip(part.root.fields()?) {
        if copy_column(table, id, name, *scalar, column)?.is_none() {
            part.absent(table.len());
            return Ok(());
        }
    }
    part.root.end_rows(table.len());
    part.note(table.len(), true);
    Ok(())
}

/// Copies one column; `None` when the table lacks it.
fn copy_column(
    table: &DynamicTable<'_>,
    id: ComponentId,
    field: &str,
    scalar: Option<FieldType>,
    column: &mut Column,
) -> Result<Option<()>, ValueError> {
    macro_rules! copied {
        ($type:ty) => {
            match table.column::<$type>(id, field) {
                Ok(slice) => column.extend(slice)?,
                Err(_) => return Ok(None),
            }
        };
    }
    match scalar {
        Some(FieldType::F32) => copied!(f32),
        Some(FieldType::F64) => copied!(f64),
        Some(FieldType::U8) => copied!(u8),
        Some(FieldType::U16) => copied!(u16),
        Some(FieldType::U32) => copied!(u32),
        Some(FieldType::U64) => copied!(u64),
        Some(FieldType::I8) => copied!(i8),
        Some(FieldType::I16) => copied!(i16),
        Some(FieldType::I32) => copied!(i32),
        Some(FieldType::I64) => copied!(i64),
        Some(FieldType::Bool) => match table.column::<bool>(id, field) {
            Ok(slice) => column.extend_bools(slice)?,
            Err(_) => return Ok(None),
        },
        Some(FieldType::Entity) => match table.column::<Entity>(id, field) {
            Ok(slice) => column.extend_entities(slice)?,
            Err(_) => return Ok(None),
        },
        _ => match table.column::<String>(id, field) {
            Ok(texts) => texts.iter().try_for_each(|text| column.push_text(text))?,
            Err(_) => return Ok(None),
        },
    }
    Ok(Some(()))
}
