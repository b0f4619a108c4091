//! A file that grows by a batch per frame, with a column `tick`.
//!
//! All batches of a file have one schema: that of the first frame, and what [`History::with_schema`] adds to it. A component
//! that comes later and is in neither is named and left out; one that is gone, or not there yet, is null. Enums are texts, because the dictionaries of batches in one file must be equal.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, ListArray, RecordBatch, StructArray, UInt64Array, new_null_array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use phalanx::World;

use crate::error::ArrowError;
use crate::export::{Export, Exported, LeftOut};
use crate::names::{COMPONENT, ENTITY_COLUMN, TICK_COLUMN};

/// What a history is written to.
enum Sink<W: Write + Send> {
    Stream(StreamWriter<W>),
    File(FileWriter<W>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::arrow::ArrowWriter<W>>),
}

#[derive(Clone, Copy)]
enum Form {
    Stream,
    File,
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Frames of a world, one after the other in one file.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx_arrow::{ArrowTypes, Export, History};
///
/// #[derive(Component)]
/// #[component(layout = "soa")]
/// struct Speed { now: f32 }
///
/// let mut world = World::new();
/// world.spawn(Speed { now: 1.0 });
/// let types = ArrowTypes::new();
/// let mut file = Vec::new();
/// let mut history = History::stream(&mut file, Export::new(&types));
/// for frame in 0..3 {
///     history.append_at(&world, frame).unwrap();
/// }
/// history.finish().unwrap();
/// let batches = phalanx_arrow::read_stream(file.as_slice()).unwrap();
/// assert_eq!(batches.len(), 3);
/// assert_eq!(batches[2].schema().field(0).name(), "tick");
/// ```
pub struct History<'t, W: Write + Send> {
    export: Export<'t>,
    form: Form,
    out: Option<W>,
    sink: Option<(SchemaRef, Sink<W>)>,
    frames: u64,
    /// Columns that may be missing in the first frame.
    expected: Vec<FieldRef>,
}

impl<'t, W: Write + Send> History<'t, W> {
    fn new(out: W, export: Export<'t>, form: Form) -> Self {
        Self {
            export: export.dictionaries(false),
            form,
            out: Some(out),
            sink: None,
            frames: 0,
            expected: Vec::new(),
        }
    }

    /// An IPC stream, which can be read while it grows.
    pub fn stream(out: W, export: Export<'t>) -> Self {
        Self::new(out, export, Form::Stream)
    }

    /// An IPC file.
    pub fn file(out: W, export: Export<'t>) -> Self {
        Self::new(out, export, Form::File)
    }

    /// A Parquet file.
    #[cfg(feature = "parquet")]
    pub fn parquet(out: W, export: Export<'t>) -> Self {
        Self::new(out, export, Form::Parquet)
    }

    /// The history has these columns, too, from its first frame on, whether a component is there by then or not. A schema
    /// comes from an export of a world that has one of each, with a value in each `Option`: nothing has no type.
    ///
    /// ```
    /// use phalanx::prelude::*;
    /// use phalanx_arrow::{ArrowTypes, Export, History, record_batches};
    ///
    /// #[derive(Component)]
    /// #[component(layout = "soa")]
    /// struct Burning { since: u32 }
    ///
    /// let types = ArrowTypes::new();
    /// let mut sample = World::new();
    /// sample.spawn(Burning { since: 0 });
    /// let schema = record_batches(&sample, &types).unwrap().schema;
    ///
    /// let mut world = World::new();
    /// let house = world.spawn_empty().id();
    /// let mut file = Vec::new();
    /// let mut history = History::stream(&mut file, Export::new(&types)).with_schema(&schema);
    /// history.append_at(&world, 0).unwrap();
    /// world.entity_mut(house).insert(Burning { since: 1 });
    /// assert_eq!(history.append_at(&world, 1).unwrap(), []);
    /// history.finish().unwrap();
    /// let frames = phalanx_arrow::read_stream(file.as_slice()).unwrap();
    /// let nulls = |frame: usize| frames[frame].column_by_name("Burning.since").unwrap().null_count();
    /// assert_eq!((nulls(0), nulls(1)), (1, 0));
    /// ```
    #[must_use]
    pub fn with_schema(mut self, schema: &Schema) -> Self {
        for field in schema.fields().iter().filter(|field| {
            field.metadata().contains_key(COMPONENT)
                || ![TICK_COLUMN, ENTITY_COLUMN].contains(&field.name().as_str())
        }) {
            let kind = match field.data_type() {
                // Enums are texts in histories.
                DataType::Dictionary(_, values) => values.as_ref().clone(),
                other => other.clone(),
            };
            let expected = field.as_ref().clone().with_data_type(relaxed(&kind)).with_nullable(true);
            self.expected.push(Arc::new(expected));
        }
        self
    }

    /// How many frames were appended.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Appends a frame, with the tick of the world. Tells what could not be exported.
    ///
    /// # Errors
    /// When the output fails, or a column changed its type.
    pub fn append(&mut self, world: &World) -> Result<Vec<LeftOut>, ArrowError> {
        self.append_at(world, world.read_change_tick().get())
    }

    /// As [`History::append`], with a time of your own.
    ///
    /// # Errors
    /// When the output fails, or a column changed its type.
    pub fn append_at(&mut self, world: &World, tick: u64) -> Result<Vec<LeftOut>, ArrowError> {
        let Exported { schema, batches, mut left_out } = self.export.run(world)?;
        if self.sink.is_none() {
            let out = self.out.take().ok_or_else(|| ArrowError::file("the history failed to begin"))?;
            let mut fields = vec![Arc::new(Field::new(TICK_COLUMN, DataType::UInt64, false))];
            let is_new = |field: &&FieldRef| schema.field_with_name(field.name()).is_err();
            let expected = |field: &FieldRef| self.expected.iter().find(|known| known.name() == field.name());
            let first = |field: &FieldRef| {
                let kind = relaxed(field.data_type());
                expected(field).cloned().unwrap_or(Arc::new(field.as_ref().clone().with_data_type(kind)))
            };
            fields.extend(schema.fields().iter().map(first));
            fields.extend(self.expected.iter().filter(is_new).cloned());
            let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
            self.sink = Some((schema.clone(), begin(out, self.form, &schema)?));
        }
        let (known, sink) = self.sink.as_mut().expect("begun above");
        for field in schema.fields() {
            if known.field_with_name(field.name()).is_err() {
                left_out.push(LeftOut {
                    component: field.metadata().get(COMPONENT).cloned().unwrap_or_default(),
                    field: field.name().clone(),
                    reason: "the first frame of the history had no such column: name it with `with_schema`"
                        .into(),
                });
            }
        }
        for batch in &batches {
            sink.write(&fit(known, batch, tick)?)?;
        }
        self.frames += 1;
        Ok(left_out)
    }

    /// Ends the file. Without a frame nothing is written.
    ///
    /// # Errors
    /// When the output fails.
    pub fn finish(self) -> Result<(), ArrowError> {
        match self.sink {
            None => Ok(()),
            Some((_, Sink::Stream(mut writer))) => writer.finish().map_err(ArrowError::file),
            Some((_, Sink::File(mut writer))) => writer.finish().map_err(ArrowError::file),
            #[cfg(feature = "parquet")]
            Some((_, Sink::Parquet(writer))) => writer.close().map(|_| ()).map_err(ArrowError::file),
        }
    }
}

fn begin<W: Write + Send>(out: W, form: Form, schema: &SchemaRef) -> Result<Sink<W>, ArrowError> {
    Ok(match form {
        Form::Stream => Sink::Stream(StreamWriter::try_new(out, schema).map_err(ArrowError::file)?),
        Form::File => Sink::File(FileWriter::try_new(out, schema).map_err(ArrowError::file)?),
        #[cfg(feature = "parquet")]
        Form::Parquet => {
            let properties = Some(crate::files::parquet_properties());
            let writer = parquet::arrow::ArrowWriter::try_new(out, schema.clone(), properties);
            Sink::Parquet(Box::new(writer.map_err(ArrowError::file)?))
        }
    })
}

impl<W: Write + Send> Sink<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::Stream(writer) => writer.write(batch).map_err(ArrowError::file),
            Self::File(writer) => writer.write(batch).map_err(ArrowError::file),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.write(batch).map_err(ArrowError::file),
        }
    }
}

/// A batch with the columns of the history.
fn fit(schema: &SchemaRef, batch: &RecordBatch, tick: u64) -> Result<RecordBatch, ArrowError> {
    let rows = batch.num_rows();
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_value(tick, rows))];
    for field in schema.fields().iter().skip(1) {
        arrays.push(match batch.column_by_name(field.name()) {
            Some(array) => relaxed_array(array),
            None if field.is_nullable() => new_null_array(field.data_type(), rows),
            None => return Err(ArrowError::batch(format_args!("column `{}` is missing", field.name()))),
        });
    }
    RecordBatch::try_new(schema.clone(), arrays).map_err(ArrowError::batch)
}

/// The type with nulls allowed within lists and structs: whether there are any depends on the frame.
fn relaxed(kind: &DataType) -> DataType {
    let within = |field: &FieldRef| {
        let kind = relaxed(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(kind).with_nullable(true))
    };
    match kind {
        DataType::List(field) => DataType::List(within(field)),
        DataType::FixedSizeList(field, len) => DataType::FixedSizeList(within(field), *len),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(within).collect()),
        other => other.clone(),
    }
}

/// The same values with the [`relaxed`] type.
fn relaxed_array(array: &ArrayRef) -> ArrayRef {
    let nulls = array.nulls().cloned();
    match relaxed(array.data_type()) {
        DataType::List(field) => {
            let list = array.as_list::<i32>();
            let values = relaxed_array(list.values());
            Arc::new(ListArray::new(field, list.offsets().clone(), values, nulls))
        }
        DataType::FixedSizeList(field, len) => {
            let values = relaxed_array(array.as_fixed_size_list().values());
            Arc::new(FixedSizeListArray::new(field, len, values, nulls))
        }
        DataType::Struct(fields) if !fields.is_empty() => {
            let columns = array.as_struct().columns().iter().map(relaxed_array).collect();
            Arc::new(StructArray::new(fields, columns, nulls))
        }
        _ => Arc::clone(array),
    }
}
