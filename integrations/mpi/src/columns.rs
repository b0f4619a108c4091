//! Rows of many entities, as runs within tables, so that columns are copied slice by slice.
//!
//! ```text
//!   entities   7 8 9 4 | 3        three rows of one table side by side, one row of it, one of another table
//!   runs       [2..5] [9..10] | [0..1]
//!   plain      all of x, then all of y, each from the slices of the runs
//! ```
//!
//! Each entity is looked up once, whatever number of components is asked for. A plain component whose fields are columns
//! travels field by field; the receiver puts values together again. That its bytes are the fields in their order follows
//! from `Pod`: `repr(C)`, and no byte between fields.

use std::ops::Range;

use bytemuck::{Pod, cast_slice};
use phalanx::ComponentId;
use phalanx::component::Layout;
use phalanx::prelude::*;
use phalanx::query::DynamicTable;
use phalanx::registry::ComponentInfo;
use phalanx::save::SavedComponent;

use crate::error::ClusterError;
use crate::ids::GlobalId;
use crate::types::{pack_presence, read_presence};
use crate::wire::{Reader, mix, put_bytes};

/// The rows of a list of entities, in its order.
pub(crate) struct Rows<'w> {
    pub(crate) world: &'w World,
    pub(crate) entities: &'w [Entity],
    tables: Vec<DynamicTable<'w>>,
    /// A table, and rows of it.
    runs: Vec<(usize, Range<usize>)>,
}

/// The bytes of one column in each table; none where the table lacks it.
type Columns<'w> = Vec<Option<&'w [u8]>>;

impl<'w> Rows<'w> {
    /// The rows of entities that all have a [`GlobalId`].
    pub(crate) fn of(world: &'w World, entities: &'w [Entity]) -> Self {
        let mut rows = Self { world, entities, tables: Vec::new(), runs: Vec::new() };
        let Some(id) = world.component_id::<GlobalId>() else { return rows };
        rows.tables = world.query_builder().with(id).build().tables(world).collect();
        let first = |table: &DynamicTable<'_>| world.entity(table.entities()[0]).location();
        let starts: Vec<_> = rows.tables.iter().map(first).collect();
        let mut table = 0;
        for &entity in entities {
            let here = world.entity(entity).location();
            let is_in = |at: usize| {
                let rows = starts[at].table_row..starts[at].table_row + rows.tables[at].len();
                starts[at].archetype_id == here.archetype_id && rows.contains(&here.table_row)
            };
            if !is_in(table) {
                table =
                    (0..starts.len()).find(|&at| is_in(at)).expect("who has an id is in a table with ids");
            }
            let row = here.table_row - starts[table].table_row;
            match rows.runs.last_mut() {
                Some((last, run)) if *last == table && run.end == row => run.end += 1,
                _ => rows.runs.push((table, row..row + 1)),
            }
        }
        rows
    }

    /// The columns of a component, with the size of their values; none where it is not kept in columns of plain values.
    fn plain_columns<C: Pod + Send + Sync>(&self, info: &ComponentInfo) -> Option<Vec<(Columns<'w>, usize)>> {
        if info.is_sparse() {
            return None;
        }
        if info.layout() != Layout::Fields {
            let column = |table: &DynamicTable<'w>| table.column::<C>(info.id(), "").ok().map(cast_slice);
            return Some(vec![(self.tables.iter().map(column).collect(), size_of::<C>())]);
        }
        let mut columns = Vec::new();
        for field in info.fields() {
            let (name, scalar) = (field.name(), field.scalar()?);
            let size = scalar_size(scalar)?;
            let column = |table: &DynamicTable<'w>| scalar_column(table, info.id(), name, scalar);
            columns.push((self.tables.iter().map(column).collect(), size));
        }
        (columns.iter().map(|(_, size)| size).sum::<usize>() == size_of::<C>()).then_some(columns)
    }

    fn present(&self, columns: &Columns<'w>) -> Vec<bool> {
        let mut present = Vec::with_capacity(self.entities.len());
        for (table, run) in &self.runs {
            present.resize(present.len() + run.len(), columns[*table].is_some());
        }
        present
    }
}

fn scalar_size(scalar: FieldType) -> Option<usize> {
    match scalar {
        FieldType::U8 | FieldType::I8 => Some(1),
        FieldType::U16 | FieldType::I16 => Some(2),
        FieldType::F32 | FieldType::U32 | FieldType::I32 => Some(4),
        FieldType::F64 | FieldType::U64 | FieldType::I64 => Some(8),
        _ => None,
    }
}

fn scalar_column<'w>(
    table: &DynamicTable<'w>,
    id: ComponentId,
    field: &str,
    scalar: FieldType,
) -> Option<&'w [u8]> {
    macro_rules! bytes {
        ($type:ty) => {
            table.column::<$type>(id, field).ok().map(cast_slice)
        };
    }
    match scalar {
        FieldType::U8 => bytes!(u8),
        FieldType::I8 => bytes!(i8),
        FieldType::U16 => bytes!(u16),
        FieldType::I16 => bytes!(i16),
        FieldType::F32 => bytes!(f32),
        FieldType::U32 => bytes!(u32),
        FieldType::I32 => bytes!(i32),
        FieldType::F64 => bytes!(f64),
        FieldType::U64 => bytes!(u64),
        FieldType::I64 => bytes!(i64),
        _ => None,
    }
}

/// The sizes of the parts in which values of a plain component travel. It follows from the type, so all ranks agree.
fn part_sizes<C: SavedComponent + Pod>(world: &mut World) -> Vec<usize> {
    let id = world.register_component::<C>();
    let info = world.components().get_info(id).expect("registered just now");
    if info.layout() != Layout::Fields || info.is_sparse() {
        return vec![size_of::<C>()];
    }
    let sizes: Option<Vec<usize>> =
        info.fields().iter().map(|field| field.scalar().and_then(scalar_size)).collect();
    sizes.filter(|sizes| sizes.iter().sum::<usize>() == size_of::<C>()).unwrap_or(vec![size_of::<C>()])
}

pub(crate) fn pack_plain<C: SavedComponent + Pod>(rows: &Rows<'_>, out: &mut Vec<u8>) {
    let info =
        rows.world.components().component_id::<C>().and_then(|id| rows.world.components().get_info(id));
    let Some(info) = info else { return pack_presence(&vec![false; rows.entities.len()], out) };
    let Some(columns) = rows.plain_columns::<C>(info) else {
        return pack_each::<C>(rows, out, |value, out| out.extend_from_slice(bytemuck::bytes_of(value)));
    };
    pack_presence(&rows.present(&columns[0].0), out);
    for (column, size) in &columns {
        for (table, run) in &rows.runs {
            if let Some(bytes) = column[*table] {
                out.extend_from_slice(&bytes[run.start * size..run.end * size]);
            }
        }
    }
}

pub(crate) fn pack_saved<C: SavedComponent>(rows: &Rows<'_>, out: &mut Vec<u8>) {
    let mut scratch = Vec::new();
    let mut values = Vec::new();
    let present: Vec<bool> =
        each_saved::<C>(rows, &mut scratch, &mut |_, bytes| put_bytes(&mut values, bytes));
    pack_presence(&present, out);
    out.append(&mut values);
}

fn pack_each<C: SavedComponent>(rows: &Rows<'_>, out: &mut Vec<u8>, put: fn(&C, &mut Vec<u8>)) {
    let mut present = Vec::with_capacity(rows.entities.len());
    let mut values = Vec::with_capacity(rows.entities.len() * size_of::<C>());
    for &entity in rows.entities {
        let row = rows.world.get::<C>(entity);
        present.push(row.is_some());
        if let Some(row) = row {
            C::with_value(row, &mut |value| put(value, &mut values));
        }
    }
    pack_presence(&present, out);
    out.append(&mut values);
}

/// Writes each value into the same memory, and tells which rows have one.
fn each_saved<C: SavedComponent>(
    rows: &Rows<'_>,
    scratch: &mut Vec<u8>,
    f: &mut dyn FnMut(usize, &[u8]),
) -> Vec<bool> {
    let mut present = Vec::with_capacity(rows.entities.len());
    for (at, &entity) in rows.entities.iter().enumerate() {
        let row = rows.world.get::<C>(entity);
        present.push(row.is_some());
        let Some(row) = row else { continue };
        C::with_value(row, &mut |value| {
            let mut bytes = std::mem::take(scratch);
            bytes.clear();
            *scratch = postcard::to_extend(value, bytes).unwrap_or_else(|error| {
                panic!("a `{}` cannot be sent: {error}", std::any::type_name::<C>());
            });
        });
        f(at, scratch);
    }
    present
}

/// Adds bytes to a hash.
fn absorb(hash: &mut u64, bytes: &[u8]) {
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        *hash = mix(*hash ^ u64::from_le_bytes(word)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
}

/// A number per row that differs where values do: 0 for rows without a value. The same on every rank.
pub(crate) fn hash_plain<C: SavedComponent + Pod>(rows: &Rows<'_>, hashes: &mut [u64]) {
    hashes.fill(0);
    let info =
        rows.world.components().component_id::<C>().and_then(|id| rows.world.components().get_info(id));
    let Some(info) = info else { return };
    let Some(columns) = rows.plain_columns::<C>(info) else {
        for (hash, &entity) in hashes.iter_mut().zip(rows.entities) {
            if let Some(row) = rows.world.get::<C>(entity) {
                *hash = 1;
                C::with_value(row, &mut |value| absorb(hash, bytemuck::bytes_of(value)));
            }
        }
        return;
    };
    for (column, size) in &columns {
        let mut left = &mut *hashes;
        for (table, run) in &rows.runs {
            let (here, rest) = left.split_at_mut(run.len());
            left = rest;
            let Some(bytes) = column[*table] else { continue };
            let values = bytes[run.start * size..run.end * size].chunks((*size).max(1));
            for (hash, value) in here.iter_mut().zip(values) {
                *hash += u64::from(*hash == 0);
                absorb(hash, value);
            }
        }
    }
}

/// As [`hash_plain`].
pub(crate) fn hash_saved<C: SavedComponent>(rows: &Rows<'_>, hashes: &mut [u64]) {
    hashes.fill(0);
    let mut scratch = Vec::new();
    each_saved::<C>(rows, &mut scratch, &mut |at, bytes| {
        hashes[at] = 1;
        absorb(&mut hashes[at], bytes);
    });
}

/// The values of rows; none where a row has no value.
pub(crate) fn read_plain<C: SavedComponent + Pod>(
    world: &mut World,
    reader: &mut Reader<'_>,
    rows: usize,
) -> Result<Vec<Option<C>>, ClusterError> {
    let present = read_presence(reader, rows)?;
    let count = present.iter().filter(|present| **present).count();
    let mut values = vec![C::zeroed(); count];
    let mut offset = 0;
    for size in part_sizes::<C>(world) {
        let len = count.checked_mul(size).ok_or_else(|| reader.error("more rows than memory holds"))?;
        let column = reader.take(len)?;
        for (value, bytes) in values.iter_mut().zip(column.chunks_exact(size.max(1))) {
            bytemuck::bytes_of_mut(value)[offset..offset + size].copy_from_slice(bytes);
        }
        offset += size;
    }
    let mut values = values.into_iter();
    Ok(present.into_iter().map(|here| if here { values.next() } else { None }).collect())
}

/// As [`read_plain`], of values that were written by their `Serialize`.
pub(crate) fn read_saved<C: SavedComponent>(
    reader: &mut Reader<'_>,
    rows: usize,
) -> Result<Vec<Option<C>>, ClusterError> {
    let present = read_presence(reader, rows)?;
    let name = std::any::type_name::<C>();
    let read = |here: bool| {
        let bytes = here.then(|| reader.bytes()).transpose()?;
        let value = bytes.map(|bytes| postcard::from_bytes(bytes)).transpose();
        value.map_err(|error| reader.error(format_args!("a `{name}`: {error}")))
    };
    present.into_iter().map(read).collect()
}
