//! A checkpoint becomes record batches: one per block of up to 1,024 rows, whose numbers are not copied.
//!
//! ```text
//!   checkpoint   table ─▶ block ─▶ Arc of the values of a field ◀─┐
//!   batch        column ─▶ buffer ────────────────────────────────┘   one reference count, no byte is moved
//! ```
//!
//! Columns of numbers (`layout = "soa"`, and components described at run time) are shared: a batch keeps its blocks, and the
//! world goes on. What Arrow keeps in another form is copied: `bool` as bits, texts, ids, whole components by their
//! `Serialize`. Those columns are made for all rows at once, so that batches share their dictionaries.

use std::sync::Arc;

use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch, RecordBatchOptions, new_null_array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use bytemuck::Pod;
use bytes::Bytes;
use phalanx::registry::ComponentInfo;
use phalanx::value::FieldType;
use phalanx::world::{Checkpoint, CheckpointTable, SharedRows};
use phalanx::{Entity, World};

use crate::column::Column;
use crate::error::{ArrowError, ValueError};
use crate::export::{Columns, Export, Exported, LeftOut, Part, Source, describe};
use crate::names::{TICK, VALUE, VERSION};

/// Some rows of a checkpoint.
struct Block<'c> {
    table: CheckpointTable<'c>,
    at: usize,
    entities: Vec<Entity>,
}

/// A column of all batches.
enum Pieces {
    /// An array per block.
    Shared(Vec<ArrayRef>),
    /// One for all, of which each batch has a slice.
    Whole(ArrayRef),
}

impl Export<'_> {
    /// Exports a checkpoint of a world, in a batch per block of up to 1,024 rows ([`Export::batch_rows`] does not count).
    /// Columns of numbers are those of the checkpoint itself, and are not copied.
    ///
    /// Sparse components are named in [`Exported::left_out`], and so are whole components whose types are not listed: a
    /// checkpoint does not know their fields. Entities without a row in a table are not among the rows.
    ///
    /// ```
    /// use phalanx::prelude::*;
    /// use phalanx_arrow::{ArrowTypes, Export};
    ///
    /// #[derive(Component, Clone)]
    /// #[component(layout = "soa")]
    /// struct Position { x: f32, y: f32 }
    ///
    /// let mut world = World::new();
    /// world.spawn(Position { x: 1.0, y: 2.0 });
    /// let then = world.checkpoint();
    /// let exported = Export::new(&ArrowTypes::new()).run_checkpoint(&world, &then).unwrap();
    /// assert_eq!(exported.batches[0].num_columns(), 3);
    /// ```
    ///
    /// # Errors
    /// When the checkpoint is another world's, or the query asks for sparse components.
    pub fn run_checkpoint(&self, world: &World, checkpoint: &Checkpoint) -> Result<Exported, ArrowError> {
        let mut blocks = Vec::new();
        for table in checkpoint.tables(world).map_err(ArrowError::batch)? {
            let sparse = || ArrowError::batch("the query asks for sparse components, which no table has");
            if table.matches(&self.query).ok_or_else(sparse)? {
                let block = |at| Block { table, at, entities: table.entities(at).collect() };
                blocks.extend((0..table.blocks()).map(block).filter(|block| !block.entities.is_empty()));
            }
        }
        let rows = blocks.iter().map(|block| block.entities.len()).sum();
        let mut out = Columns::new(rows, self.dictionaries);
        let mut columns: Vec<(Field, Pieces)> = Vec::new();
        if self.entities {
            out.entities(blocks.iter().map(|block| block.entities.as_slice()))?;
            take_whole(&mut out, &mut columns);
        }
        for (info, column) in self.chosen(world) {
            if let Err(ValueError(reason)) = self.blocks_of(&blocks, info, column, &mut out, &mut columns) {
                out.left_out.push(LeftOut {
                    component: info.name().to_owned(),
                    field: String::new(),
                    reason,
                });
            }
        }
        out.metadata.insert(TICK.to_owned(), checkpoint.tick().get().to_string());
        finish(&blocks, columns, out)
    }

    /// Adds the columns of a component.
    fn blocks_of(
        &self,
        blocks: &[Block<'_>],
        info: &ComponentInfo,
        name: &str,
        out: &mut Columns,
        columns: &mut Vec<(Field, Pieces)>,
    ) -> Result<(), ValueError> {
        if info.is_sparse() {
            return Err(ValueError("it is sparse, and has no rows in tables: export the world".into()));
        }
        if !blocks.iter().any(|block| block.table.contains(info.id())) {
            return Ok(());
        }
        let mut left_out = Vec::new();
        let source = Source::of(info, self.types, &mut |field, reason| {
            let (component, field) = (info.name().to_owned(), field.to_owned());
            left_out.push(LeftOut { component, field, reason });
        });
        out.left_out.append(&mut left_out);
        match source {
            None => return Ok(()),
            Some(Source::Fields(fields)) => {
                let is_single = fields.len() == 1 && fields[0].0 == "0";
                for (field, scalar) in fields {
                    let (part, title) = match is_single {
                        true => (VALUE.to_owned(), name.to_owned()),
                        false => (field.clone(), format!("{name}.{field}")),
                    };
                    let made = column_of(blocks, info, &field, scalar, &title)?;
                    columns.extend(made.map(|(column, pieces)| (describe(column, info, part), pieces)));
                }
            }
            Some(Source::Named(_)) => {
                return Err(ValueError(
                    "a checkpoint does not know its fields: add the type with `ArrowTypes::with`".into(),
                ));
            }
            Some(source) => {
                let mut part = Part::default();
                for block in blocks {
                    let rows = block.entities.len();
                    if !block.table.contains(info.id()) {
                        part.absent(rows);
                        continue;
                    }
                    match &source {
                        Source::Typed(entry) => {
                            (entry.write_block)(&block.table, info.id(), block.at, &mut part.root)?
                        }
                        _ => (0..rows).try_for_each(|_| part.root.push_unit())?,
                    }
                    part.note(rows, true);
                }
                out.part(info, name, part)?;
                take_whole(out, columns);
            }
        }
        if let Some(entry) = self.types.get(info.name()) {
            out.metadata.insert(format!("{VERSION}{}", info.name()), entry.version.to_string());
        }
        Ok(())
    }
}

/// Moves the columns that were made for all rows.
fn take_whole(out: &mut Columns, columns: &mut Vec<(Field, Pieces)>) {
    columns.extend(out.fields.drain(..).zip(out.arrays.drain(..).map(Pieces::Whole)));
}

/// The values of a field in all blocks: shared where Arrow keeps them as they lie there.
fn column_of(
    blocks: &[Block<'_>],
    info: &ComponentInfo,
    field: &str,
    scalar: Option<FieldType>,
    title: &str,
) -> Result<Option<(Field, Pieces)>, ValueError> {
    macro_rules! shared {
        ($($scalar:ident $arrow:ty),*) => {
            match scalar {
                $(Some(FieldType::$scalar) => return shared_column::<$arrow>(blocks, info, field, title).map(Some),)*
                _ => {}
            }
        };
    }
    shared!(F32 Float32Type, F64 Float64Type, U8 UInt8Type, U16 UInt16Type, U32 UInt32Type);
    shared!(U64 UInt64Type, I8 Int8Type, I16 Int16Type, I32 Int32Type, I64 Int64Type);
    let mut column = Column::default();
    for block in blocks {
        match scalar {
            Some(FieldType::Bool) => match rows::<bool>(block, info, field)? {
                Some(rows) => column.extend_bools(&rows)?,
                None => column.push_nulls(block.entities.len()),
            },
            Some(FieldType::Entity) => match rows::<Entity>(block, info, field)? {
                Some(rows) => column.extend_entities(&rows)?,
                None => column.push_nulls(block.entities.len()),
            },
            _ => match rows::<String>(block, info, field)? {
                Some(rows) => rows.iter().try_for_each(|text| column.push_text(text))?,
                None => column.push_nulls(block.entities.len()),
            },
        }
    }
    Ok(column.finish(title, false)?.map(|(field, array)| (field, Pieces::Whole(array))))
}

/// The values of a field in a block; `None` where its entities lack the component.
fn rows<T: Send + Sync + 'static>(
    block: &Block<'_>,
    info: &ComponentInfo,
    field: &str,
) -> Result<Option<SharedRows<T>>, ValueError> {
    if !block.table.contains(info.id()) {
        return Ok(None);
    }
    block.table.column(info.id(), field, block.at).map(Some).map_err(|error| ValueError(error.to_string()))
}

/// Values of a checkpoint as the bytes that they are.
struct Owner<T>(SharedRows<T>);

impl<T: Pod + Send + Sync> AsRef<[u8]> for Owner<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

fn shared_column<A: ArrowPrimitiveType>(
    blocks: &[Block<'_>],
    info: &ComponentInfo,
    field: &str,
    title: &str,
) -> Result<(Field, Pieces), ValueError>
where
    A::Native: Pod + Send + Sync,
{
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(blocks.len());
    for block in blocks {
        arrays.push(match rows::<A::Native>(block, info, field)? {
            Some(rows) => {
                let len = rows.len();
                let buffer = Buffer::from(Bytes::from_owner(Owner(rows)));
                Arc::new(PrimitiveArray::<A>::new(ScalarBuffer::new(buffer, 0, len), None))
            }
            None => new_null_array(&A::DATA_TYPE, block.entities.len()),
        });
    }
    Ok((Field::new(title, A::DATA_TYPE, true), Pieces::Shared(arrays)))
}

fn finish(blocks: &[Block<'_>], columns: Vec<(Field, Pieces)>, out: Columns) -> Result<Exported, ArrowError> {
    let (fields, pieces): (Vec<Field>, Vec<Pieces>) = columns.into_iter().unzip();
    let schema = Arc::new(Schema::new_with_metadata(fields, out.metadata));
    let mut batches = Vec::with_capacity(blocks.len());
    let mut start = 0;
    for (at, block) in blocks.iter().enumerate() {
        let rows = block.entities.len();
        let piece = |pieces: &Pieces| match pieces {
            Pieces::Shared(arrays) => Arc::clone(&arrays[at]),
            Pieces::Whole(array) => array.slice(start, rows),
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let arrays = pieces.iter().map(piece).collect();
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options);
        batches.push(batch.map_err(ArrowError::batch)?);
        start += rows;
    }
    Ok(Exported { schema, batches, left_out: out.left_out })
}
