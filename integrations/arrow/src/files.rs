//! IPC streams, IPC files, and Parquet files.

use std::io::{Read, Seek, Write};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};

use crate::error::ArrowError;
use crate::export::Exported;

/// Writes an IPC stream (`.arrows`), which can be read while it is written.
///
/// # Errors
/// When the output fails.
pub fn write_stream(out: impl Write, exported: &Exported) -> Result<(), ArrowError> {
    let mut writer = StreamWriter::try_new(out, &exported.schema).map_err(ArrowError::file)?;
    exported.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(ArrowError::file)?;
    writer.finish().map_err(ArrowError::file)
}

/// Writes an IPC file (`.arrow`), which can be read in any order.
///
/// # Errors
/// When the output fails.
pub fn write_file(out: impl Write, exported: &Exported) -> Result<(), ArrowError> {
    let mut writer = FileWriter::try_new(out, &exported.schema).map_err(ArrowError::file)?;
    exported.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(ArrowError::file)?;
    writer.finish().map_err(ArrowError::file)
}

/// Reads an IPC stream.
///
/// # Errors
/// When the input is damaged.
pub fn read_stream(input: impl Read) -> Result<Vec<RecordBatch>, ArrowError> {
    let reader = StreamReader::try_new(input, None).map_err(ArrowError::file)?;
    reader.collect::<Result<_, _>>().map_err(ArrowError::file)
}

/// Reads an IPC file.
///
/// # Errors
/// When the input is damaged.
pub fn read_file(input: impl Read + Seek) -> Result<Vec<RecordBatch>, ArrowError> {
    let reader = FileReader::try_new(input, None).map_err(ArrowError::file)?;
    reader.collect::<Result<_, _>>().map_err(ArrowError::file)
}

/// How Parquet files are written: compressed with Snappy.
#[cfg(feature = "parquet")]
pub(crate) fn parquet_properties() -> parquet::file::properties::WriterProperties {
    let snappy = parquet::basic::Compression::SNAPPY;
    parquet::file::properties::WriterProperties::builder().set_compression(snappy).build()
}

/// Writes a Parquet file.
///
/// # Errors
/// When the output fails.
#[cfg(feature = "parquet")]
pub fn write_parquet(out: impl Write + Send, exported: &Exported) -> Result<(), ArrowError> {
    let schema = exported.schema.clone();
    let writer = parquet::arrow::ArrowWriter::try_new(out, schema, Some(parquet_properties()));
    let mut writer = writer.map_err(ArrowError::file)?;
    exported.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(ArrowError::file)?;
    writer.close().map(|_| ()).map_err(ArrowError::file)
}

/// Reads a Parquet file.
///
/// # Errors
/// When the input is damaged.
#[cfg(feature = "parquet")]
pub fn read_parquet(input: std::fs::File) -> Result<Vec<RecordBatch>, ArrowError> {
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(input);
    let reader = reader.and_then(|builder| builder.build()).map_err(ArrowError::file)?;
    reader.collect::<Result<_, _>>().map_err(ArrowError::file)
}
