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
//!   count.
//! - **I3 Memory.** A column's data pointer is aligned, has room for the table's capacity, and is preceded by one
//!   tick per block, where values have a size; before the room for ticks, which the capacity tells, a large column has a word that
//!   leads to the beginning of its allocation. The lane cell of (column, table) holds the same pointer. A column's
//!   header stays where it is until its table is dropped.
//! - **I4 Lanes.** Every lane has a cell per table; it is null exactly when the table lacks the column. A column that is
//!   in a table has a lane of its own. The rowless and the dead have no columns.
//! - **I5 Places.** An entity with a row is found at exactly that row: the directory and the table's entities
//!   agree, rows are in range, distinct entities have distinct rows.
//! - **I6 Queries.** A fresh prepared query names no column twice if a use writes, visits no table twice, and each
//!   of its tables has the columns. A view yields each row at most once, unless it only reads.
//! - **I7 Plans.** A fresh edge fills every column of its target exactly once and leaves no column of its source open;
//!   its tables live, and so do the headers it refers to.
//! - **I8 Sessions.** While a lock lives, no other lock of the session writes its columns, or uses those it writes.
//! - **I9 Slots.** A slot is written only through `&mut Slots`, or under its writing flag in a session that borrows
//!   the slots exclusively.
//! - **I10 Sets.** The pages of a sparse set and the rows of its table point at each other: each row's entity is
//!   found at that row, is alive, and is in the set once.
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
//!
//! "Fresh" means made by the same store since it last dropped a table, which one comparison of stamps tells.
//! References exist only at the edge of the crate: inside, rows are reached through raw pointers.

mod bulk;
mod check;
mod column;
mod column_id;
mod columns;
mod entities;
mod entity;
mod fetch;
mod flags;
mod headers;
mod lanes;
mod leaving;
mod panics;
mod place;
mod plan;
mod prepared;
mod rows;
mod seat;
mod sets;
mod shared;
mod slab;
mod slots;
mod spawn_cursor;
mod stamp;
mod store;
mod sync;
mod table;
mod tick;
mod tuples;
mod values;
mod view;

pub use column::BLOCK_ROWS;
pub use column_id::{AnyColId, ColCell, ColId};
pub use entities::{Entities, Exhausted, Rowless};
pub use entity::Entity;
pub use fetch::{
    Access, DenseFetch, Ents, Fetch, HasCol, HasSet, InSet, Member, NotMember, Now, Opt, R, ReadFetch,
    RowTick, SetFetch, W, Wn,
};
pub use flags::{Borrow, BorrowFlags};
pub use headers::TableShape;
#[doc(hidden)]
pub use panics::FirstPanic;
pub use place::{Place, Row, TableId};
pub use plan::{Edge, Init, PlanError};
pub use prepared::{Admission, Alias, Prepared};
pub use rows::{NotInserted, OpenColumn};
pub use seat::{Seat, SeatReader};
#[doc(hidden)]
pub use sets::page_lookups_for_tests;
pub use sets::{GroupGone, GroupTerms, Members, PAGE_ENTRIES, SetGroupId, SetId, SetPlan, SetWriter};
pub use shared::{Conflict, Locked, Shared};
pub use slots::{SharedSlots, SlotMut, SlotRef, Slots};
pub use spawn_cursor::VacantRow;
pub use stamp::{RowTicks, Stamp, Tracking, Untracked};
pub use store::Store;
pub use tick::Tick;
pub use values::{Col, Existing, Keep, LeafSink, Maybe, Values};
pub use view::{Chunk, ChunkRows, Chunks, Lead, Many, Rows, Sets, View};
