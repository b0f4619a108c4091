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
//! - **I3 Memory.** A column's data was allocated for its type and the table's capacity, from the store's slab or the
//!   global allocator, and nothing else uses it: the pointer is aligned, and has room for as many rows. Where values have
//!   a size, one tick for each block of that capacity precedes the data, and none for others; where they have none, there
//!   is no memory, and no tick before it. The entities of a table's rows are such a column as well. The cell of (column,
//!   table) holds the same pointer as the `Column`. A `Column` stays where it is, in a record that lives as long as a
//!   list of its columns does.
//! - **I4 Column index.** Every column has a cell per table; it is null exactly when the table lacks the column. A column
//!   that is in a table has cells of its own. Every table has a meta, and so have the two ids that name none: that of the
//!   rowless, which have no row, and that of dead entities. Neither of these has columns.
//! - **I5 Locations.** A living entity has a slot in the directory. If it has a row, it is found at exactly that row: the
//!   directory and the table's entities agree, rows are in range, distinct entities have distinct rows; the entity of
//!   each row of a table that is no set's is alive. The free list names each free slot once, and no other. No living
//!   entity has the last generation, so that ending it yields a generation that no id has.
//! - **I6 Queries.** A fresh prepared query names no column twice if a use writes, unless the other one is copied
//!   before, of the same entity; it visits no table twice, and each of its tables has the columns that it cannot do
//!   without, as has the place of the rowless, if it visits them. A view that writes yields each row at most once at a
//!   time: rows of one table in their order, each in one chunk; rows of a set that drives, once each; single entities
//!   while no other item of the same entity is alive.
//! - **I7 Plans.** A fresh edge fills every column of its target exactly once, and says of every column of its source
//!   where the value goes; its lists of columns and of ids have one order, with one entry for each column of its values,
//!   no two of its values or functions have a column in common, and its tables live, but for the place of the rowless. A
//!   set plan names all columns of its set; it is known by the id of its store, since sets and their tables live as long
//!   as the store.
//! - **I8 Sessions.** While a lock lives, no other lock of the session writes its columns, or uses those it writes, in a
//!   table that both reach. Flags keep locks apart by columns. A column that is split has several locks, each in the tables
//!   of its query, and views of such a lock stay in these; two of the locks have no table in common if one of them writes.
//!   Columns of sets are never split. A session that can write borrows the store exclusively. What is made of a view has no
//!   more access than the view had.
//! - **I9 Slots.** A slot is written only through `&mut Slots`, or under its writing flag in a session that borrows
//!   the slots exclusively. In a session of one thread, no other thread takes flags.
//! - **I10 Sets.** The pages of a sparse set and the rows of its table point at each other: each row's entity is
//!   found at that row, is alive, and is in the set once. A set lives as long as its store, in one place of its list, and
//!   its table has all columns that are said to be the set's.
//! - **I11 Holes.** The table of a stable set lists its holes, each once: the rows whose owner is the placeholder, which
//!   is never alive. The values of a hole are neither read nor dropped, and no page points there. No other table has
//!   holes. Whole columns and slices are lent only where no hole is among the rows; queries reach rows of sets through
//!   pages, or along a set that drives them, by its owners; groups reach them by position (I13). Queries visit no set's
//!   table.
//! - **I12 Spawn cursors.** While a line of the cursors has the key of a bundle and its values, its table lives, its
//!   pointers are the data pointers of the values' columns there, and the values fill every column of the table. Its exit
//!   is that table as long as the store has no sets, in which entities could be as well; otherwise it is nowhere.
//! - **I13 Groups.** The members of a group are in each set that it needs. Where it owns sets, members are the first rows
//!   of each of these, in one order, and none of the sets has holes; a set has one owner at most. Where it owns none,
//!   members are the rows of a set without columns, which only this group writes, and no group names.
//! - **I14 Fetches.** A fetch is what its constants say: `DENSE`, in a row of a visited table nothing is missed,
//!   whichever entity it is of, and slices can be lent (rows may still be skipped because of their ticks); `ROWED`, it is
//!   present in no place without rows; `TABLELESS`, its pointers lead to no column of the visited table, and it is found in
//!   any; `IN_SETS`, only entities of some set are found; `SETS_ALONE`, all that it reaches is found in the pages of sets or
//!   by the id of the entity; `SINGLE`, `visit` reports one column, and no other is reached; `MARKS`, `mark` writes ticks;
//!   not `WRITES`, it only reads; not `FAR`, no row of another entity is reached. Where `is_marked` says so, `item` marks
//!   nothing; `rowless` leaves that answer as it is. `Cells`, `Ptrs` and `SparseRows` are pointers into the fetch's store,
//!   ids, ticks and numbers, which may be used on any thread; sparse rows of no size are units.
//! - **I15 Images.** Each change of the owner of a row, each row that comes and each that goes marks the block of the owners
//!   with the store's tick. The clock only rises; where it is set back, the base is forgotten, or the store becomes equal to
//!   another image, its new base. So a block of owners whose tick is before the base's, and which has as many rows, is as in
//!   the base. The directory counts the entities that die or come to be without a row; if it counts none since the base, and
//!   all owners are as in the base, so are all slots. In an image each block holds a value for each of its entities, and every
//!   slot is either that of an entity in a row or listed; an image is made by its store alone. Of a tag that is not `Copy` it
//!   holds a value of each table with rows, from which the user's function makes as many as a restore adds to those there.
//! - **I16 Levels.** No family of a tree names its parent as a child. The levels of a tree name each index of an entity as
//!   a child at most once, and no entity as parent and child of one level. The parts of a level that exist at once name
//!   different children.
//! - **I17 Boxed values.** The type id beside a boxed value is that of the value's type.
//!
//! "Fresh" means made by the same store since it last dropped a table, which one comparison of stamps tells: a stamp is
//! given once in the life of the process.
//! References exist only at the edge of the crate: inside, rows are reached through raw pointers.

mod boxed_value;
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
pub mod sorting;
mod spawn_cursor;
mod split;
mod stamp;
mod steps;
mod store;
mod sync;
mod table;
mod table_columns;
mod tick;
mod tuples;
mod values;
mod view;

pub use boxed_value::BoxedValue;
pub use cached_location::{CachedLocation, LocationReader};
pub use column::BLOCK_ROWS;
pub use column_id::{AnyColId, ColCell, ColId, ThreadSafe};
pub use column_value::{ErasedColumn, ErasedRows};
pub use duplicate::Duplicate;
pub use entities::{ClaimError, DirectoryError, DirectoryState, Entities, Exhausted, Rowless, SlotState};
pub use entity::Entity;
pub use entity_cells::{CellError, EntityCell, EntityPeek};
#[cfg(feature = "serde")]
pub use entity_serde::{ENTITY_NEWTYPE, EntityMap, entity_map_scope};
pub use fetch::{
    Access, DenseFetch, EntityIds, Fetch, HasCol, HasSet, InSet, Link, Member, NotMember, Now, OneOf, Opt,
    Read, ReadFetch, RowTick, SetFetch, SpawnTick, TableOf, Via, WholeRow, WholeRowMut, Write,
    WriteUntracked,
};
pub use flags::{Borrow, BorrowFlags};
pub use image::{
    ColumnCopy, Copies, Image, ImageStats, Leftovers, NoCopy, NotRestored, Restoring, Rewritten, SharedRows,
};
pub use location::{EntityLocation, Row, TableId};
#[doc(hidden)]
pub use panics::FirstPanic;
pub use plan::{Edge, Init, PlanError};
pub use prepared::{Admission, Alias, Prepared, Preparing};
pub use rows::{ColumnRows, NotInserted, OpenColumn};
#[doc(hidden)]
pub use sets::page_lookups_for_tests;
pub use sets::{
    GroupGone, GroupTerms, Members, PAGE_ENTRIES, SetGroupId, SetId, SetPlan, SetValues, SetWriter,
};
pub use shared::{Conflict, InUse, Locked, Shared};
pub use slots::{SharedSlots, SlotMut, SlotRef, Slots};
pub use spawn_cursor::VacantRow;
pub use stamp::{RowTicks, Stamp, Tracking, Untracked};
#[doc(hidden)]
pub use steps::rows_looked_at_for_tests;
pub use store::Store;
pub use table_columns::TableShape;
pub use tick::Tick;
pub use values::{Col, ColumnSink, Existing, Keep, Maybe, Values};
pub use view::{
    Chunk, ChunkRows, Chunks, Descent, DriverChoice, Grant, LevelPart, Levels, Many, NoRow, NotGranted,
    Places, Rows, Sets, Unique, View,
};
