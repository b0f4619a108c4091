//! A file that grows by a batch per frame, with a column `tick`.
//!
//! All batches of a file have one schema: that of the first frame. A component that comes later is named and left out;
//! one that is gone is null. Enums are texts, because the dictionaries of batches in one file must be equal.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array, new_null_array};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use phalanx::World;

use crate::error::ArrowError;
use crate::export::{Export, Exported, LeftOut};
use crate::names::{COMPONENT, TICK_COLUMN};

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
}

impl<'t, W: Write + Send> History<'t, W> {
    fn new(out: W, export: Export<'t>, form: Form) -> Self {
        Self { export: export.dictionaries(false), form, out: Some(out), sink: None, frames: 0 }
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

    /// How many frames were appended.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Appends a frame, with the tick of the world. Tells what could not be exported.
    ///
    /// # Errors
    /// When the output fails, or a column changed its type.
    pub fn append(&mut self, world: &World) -> Result<Vec<LeftOut>, ArrowError> {
        self.append_at(world, world.tick().get())
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
            fields.extend(schema.fields().iter().cloned());
            let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
            self.sink = Some((schema.clone(), begin(out, self.form, &schema)?));
        }
        let (known, sink) = self.sink.as_mut().expect("begun above");
        for field in schema.fields() {
            if known.field_with_name(field.name()).is_err() {
                left_out.push(LeftOut {
                    component: field.metadata().get(COMPONENT).cloned().unwrap_or_default(),
                    field: field.name().clone(),
                    reason: "the first frame of the history had no such column".into(),
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

/// A batch with the columns of the first frame.
fn fit(schema: &SchemaRef, batch: &RecordBatch, tick: u64) -> Result<RecordBatch, ArrowError> {
    let rows = batch.num_rows();
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_value(tick, rows))];
    for field in schema.fields().iter().skip(1) {
        arrays.push(match batch.column_by_name(field.name()) {
            Some(array) => Arc::clone(array),
            None if field.is_nullable() => new_null_array(field.data_type(), rows),
            None => return Err(ArrowError::batch(format_args!("column `{}` is missing", field.name()))),
        });
    }
    RecordBatch::try_new(schema.clone(), arrays).map_err(ArrowError::batch)
}
