//! The memory of Phalanx: entities, columns, tables, sparse sets and borrow flags.
//!
//! This is the only crate of the workspace with unsafe code. Its public functions are safe and sound
//! whatever safe code calls them with; everything that must hold for that is listed here, and each unsafe
//! block says which of it it relies on.
//!
//! - **I1 Types.** A column id stands for one `Send + Sync + 'static` type for the life of the process, and a
//!   [`ColId<T>`] is made only for a column of `T`.
//! - **I2 Rows.** In each table, rows below its length hold initialised values in every column, but for the holes of
//!   I11; rows from there on hold nothing that will be read, except values that one operation is about to drop or to
//!   commit.
//! - **I3 Memory.** A column's data pointer is aligned, and has room for the table's capacity. Where values have a size,
//!   one tick per block precedes the data; where they have none, there is no memory, and no tick before it. The cell of
//!   (column, table) holds the same pointer. A `Column` stays where it is, in a record that lives as long as a plan leads
//!   there.
//! - **I4 Column index.** Every column has a cell per table; it is null exactly when the table lacks the column. A column
//!   that is in a table has cells of its own. Every table, and each of the two that are none, has a meta. The rowless and
//!   the dead have no columns.
//! - **I5 Locations.** An entity with a row is found at exactly that row: the directory and the table's entities
//!   agree, rows are in range, distinct entities have distinct rows. No living entity has the last generation, so that
//!   ending it yields a generation that no id has.
//! - **I6 Queries.** A fresh prepared query names no column twice if a use writes, visits no table twice, and each
//!   of its tables has the columns. A view yields each row at most once, unless it only reads: rows of one table in their
//!   order, each in one chunk; rows of a set that drives, once each; single entities while no other item is alive.
//! - **I7 Plans.** A fresh edge fills every column of its target exactly once and leaves no column of its source open;
//!   its tables live. A set plan is known by the id of its store, since sets and their tables live as long as the store.
//! - **I8 Sessions.** While a lock lives, no other lock of the session writes its columns, or uses those it writes, in a
//!   table that both reach. Flags keep locks apart by columns; of a column that is split, each lock has the tables of its
//!   query, as no other lock does if one of the two writes, and its views stay in them. Columns of sets are never split.
//!   A session that writes borrows the store exclusively.
//! - **I9 Slots.** A slot is written only through `&mut Slots`, or under its writing flag in a session that borrows
//!   the slots exclusively.
//! - **I10 Sets.** The pages of a sparse set and the rows of its table point at each other: each row's entity is
//!   found at that row, is alive, and is in the set once. A set lives as long as its store, at one address.
//! - **I11 Holes.** The table of a stable set lists its holes, each once: the rows whose owner is the placeholder, which
//!   is never alive. A hole's values are read by nobody and dropped by nobody, and no page leads there. No other table has
//!   holes. Whole columns and slices are lent only where no hole is among the rows; queries reach rows of sets through
//!   pages alone, and visit no set's table.
//! - **I12 Spawn cursors.** While a line of the cursors has the key of a bundle and its values, its table lives, its
//!   pointers are the data pointers of the values' columns there, and the values fill every column of the table. Its exit
//!   is that table, where no entity is in a set because there is none, or nowhere.
//! - **I13 Groups.** The members of a group are in each set that it needs. Where it owns sets, members are the first rows
//!   of each of these, in one order, and none of the sets has holes; a set has one owner at most. Where it owns none,
//!   members are the rows of a set without columns, which only groups write.
//! - **I14 Fetches.** A fetch is what its constants say: `DENSE`, no row of a visited table is passed over, nothing is
//!   missed in sets, and slices can be lent; `ROWED`, it is present in no place without rows; `TABLELESS`, it reaches no column of the visited table;
//!   `IN_SETS`, only entities of some set are found; `MARKS`, `mark` writes ticks.
//! - **I15 Images.** Whoever writes, adds or takes away the owner of a row marks the block of the owners with the store's
//!   tick. The clock only rises; who sets it back forgets the base, or makes the store equal to another one. So a block of
//!   owners whose tick is before the base's, and which has as many rows, is as in the base. In an image each block holds
//!   a value for each of its entities, and every slot is in a row or listed; an image is made by its store alone.
//!
//! "Fresh" means made by the same store since it last dropped a table, which one comparison of stamps tells: a stamp is
//! given once in the life of the process.
//! References exist only at the edge of the crate: inside, rows are reached through raw pointers.

mod bulk;
mod cached_location;
mod check;
mod column;
mod column_id;
mod column_index;
mod column_value;
mod columns;
mod duplicate;
mod entities;
mod entity;
mod entity_cells;
#[cfg(feature = "serde")]
mod entity_serde;
mod fetch;
mod flags;
mod image;
mod leaving;
mod location;
mod panics;
mod plan;
mod prepared;
mod rows;
mod sets;
mod shared;
mod slab;
mod slots;
mod spawn_cursor;
mod split;
mod stamp;
mod store;
mod sync;
mod table;
mod table_columns;
mod tick;
mod tuples;
mod values;
mod view;

pub use cached_location::{CachedLocation, LocationReader};
pub use column::BLOCK_ROWS;
pub use column_id::{AnyColId, ColCell, ColId};
pub use duplicate::Duplicate;
pub use entities::{ClaimError, DirectoryError, DirectoryState, Entities, Exhausted, Rowless, SlotState};
pub use entity::Entity;
pub use entity_cells::{CellError, EntityCell};
#[cfg(feature = "serde")]
pub use entity_serde::{ENTITY_NEWTYPE, EntityMap, entity_map_scope};
pub use fetch::{
    Access, DenseFetch, EntityIds, Fetch, HasCol, HasSet, InSet, Member, NotMember, Now, OneOf, Opt, Read,
    ReadFetch, RowTick, SetFetch, Write, WriteUntracked,
};
pub use flags::{Borrow, BorrowFlags};
pub use image::{ColumnCopy, Copies, Image, ImageStats, Leftovers, NoCopy, NotRestored, Restoring};
pub use location::{EntityLocation, Row, TableId};
#[doc(hidden)]
pub use panics::FirstPanic;
pub use plan::{Edge, Init, PlanError};
pub use prepared::{Admission, Alias, Prepared};
pub use rows::{NotInserted, OpenColumn};
#[doc(hidden)]
pub use sets::page_lookups_for_tests;
pub use sets::{GroupGone, GroupTerms, Members, PAGE_ENTRIES, SetGroupId, SetId, SetPlan, SetWriter};
pub use shared::{Conflict, Locked, Shared};
pub use slots::{SharedSlots, SlotMut, SlotRef, Slots};
pub use spawn_cursor::VacantRow;
pub use stamp::{RowTicks, Stamp, Tracking, Untracked};
pub use store::Store;
pub use table_columns::TableShape;
pub use tick::Tick;
pub use values::{Col, ColumnSink, Existing, Keep, Maybe, Values};
pub use view::{
    Chunk, ChunkRows, Chunks, DriverChoice, Grant, Many, NoRow, NotGranted, Places, Rows, Sets, Unique, View,
};
