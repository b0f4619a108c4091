//! Worlds of Phalanx as Arrow record batches, for every engine that reads Arrow or Parquet, and back.
//!
//! ```text
//!   World ── Export ──▶ RecordBatch ──▶ IPC stream, IPC file, Parquet (feature `parquet`)
//!     ▲                     │  ▲
//!     └────── Import ◀──────┘  └── History: one batch per frame, with a column `tick`
//!   Checkpoint ── Export::run_checkpoint ──▶ RecordBatch, whose numbers are those of the checkpoint
//! ```
//!
//! A column per field, null where an entity lacks the component, entity ids as numbers; the tick of the world and the
//! versions of components are metadata of the schema ([`names`]). What cannot be exported is named in
//! [`Exported::left_out`].
#![forbid(unsafe_code)]

mod checkpoint;
mod column;
mod copy;
mod deserialize;
mod error;
mod export;
mod files;
mod history;
mod import;
pub mod names;
mod serialize;
mod types;
mod world;

/// The page of the guide, whose programs are tests.
#[cfg(all(doctest, feature = "parquet"))]
#[doc = include_str!("../../../docs/guide/arrow.md")]
struct Guide;

pub use error::ArrowError;
pub use export::{Export, Exported, LeftOut, record_batches};
pub use files::{read_file, read_stream, write_file, write_stream};
#[cfg(feature = "parquet")]
pub use files::{read_parquet, write_parquet};
pub use history::History;
pub use import::{Import, spawn_from};
pub use types::ArrowTypes;
pub use world::ArrowWorld;
