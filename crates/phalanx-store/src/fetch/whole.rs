//! The terms over whole entities: all that one has, whatever columns there are, and the table it is in.
//!
//! [`WholeRow`] and [`WholeRowMut`] reach every column but some, which are their ids. They name no column that a table
//! must have, so they visit every table; what an entity has is looked up when it is asked for, through its cell. A lock
//! takes the flags of all these columns. The use is reported as one of a column that no table has, with the list
//! of those that are left out.

use super::sealed::Sealed;
use super::{Access, DenseFetch, EntityIds, Fetch, Known, ReadFetch};
use crate::column_id::{AnyColId, ColCell};
use crate::entity::Entity;
use crate::entity_cells::{EntityCell, EntityPeek};
use crate::location::TableId;
use crate::store::Store;
use crate::tick::Tick;

/// All of an entity but some columns, for reading.
pub struct WholeRow;
/// All of an entity but some columns, for reading and writing.
pub struct WholeRowMut;
/// The table that each row is in.
pub struct TableOf;

/// What a column of everything would hold: it has an id to be named by, and is in no table.
struct EveryColumn;
static EVERY_COLUMN: ColCell<EveryColumn> = ColCell::new();

/// A store, the tick that is written, the columns left out, and where the entities of tables are.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct WholeCells {
    store: *const Store,
    now: Tick,
    except: &'static [AnyColId],
    entities: <EntityIds as Fetch>::Cells,
}

/// The same, with the entities of one table.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct WholePtrs {
    cells: WholeCells,
    entities: <EntityIds as Fetch>::Ptrs,
}

macro_rules! whole_term {
    ($term:ident, writes: $writes:expr, $cell:ident) => {
        impl Sealed for $term {}
        // SAFETY: the cell of an entity reaches all columns but those left out, which is what is reported; every place is found,
        // and entities are never written through a fetch.
        unsafe impl Fetch for $term {
            type Ids = &'static [AnyColId];
            type Item<'a> = $cell<'a>;
            type Slices<'a> = &'a [Entity];
            type ReadOnly = WholeRow;
            type Cells = WholeCells;
            type Ptrs = WholePtrs;
            type SparseRows = ();
            const DENSE: bool = true;
            const WRITES: bool = $writes;
            const TABLELESS: bool = true;

            #[inline]
            fn visit(ids: Self::Ids, report: &mut dyn FnMut(Access)) {
                report(Access {
                    column: EVERY_COLUMN.id().any(),
                    writes: $writes,
                    optional: true,
                    in_set: false,
                    copies: false,
                    whole: Some(ids),
                });
            }
            #[inline]
            fn cells(store: &Store, ids: Self::Ids, now: Tick) -> WholeCells {
                WholeCells { store, now, except: ids, entities: EntityIds::cells(store, (), now) }
            }
            #[inline]
            unsafe fn find(cells: WholeCells, table: usize) -> Option<WholePtrs> {
                // SAFETY: forwarded: the store has this table.
                Some(WholePtrs { cells, entities: unsafe { EntityIds::find(cells.entities, table) }? })
            }
            #[inline]
            fn rowless(ptrs: WholePtrs, entity: &Entity) -> WholePtrs {
                WholePtrs { entities: EntityIds::rowless(ptrs.entities, entity), ..ptrs }
            }
            #[inline]
            unsafe fn sparse_rows(_: WholePtrs, _: Entity, _: Known) -> Option<()> {
                Some(())
            }
            #[inline]
            unsafe fn item<'a>(ptrs: WholePtrs, row: usize, (): ()) -> $cell<'a> {
                // SAFETY: forwarded: the store lives and stands still for `'a`, and the row has its entity (I5, I10), which is
                // alive. The caller grants access to the reported columns of the entity for `'a`, and to no other item of it if
                // one of the two writes (I6, I8).
                unsafe {
                    let entity = EntityIds::item(ptrs.entities, row, ());
                    $cell::new(&*ptrs.cells.store, entity, ptrs.cells.now, ptrs.cells.except)
                }
            }
            #[inline]
            unsafe fn slices<'a>(ptrs: WholePtrs, start: usize, len: usize) -> &'a [Entity] {
                // SAFETY: forwarded: the entities of the same rows.
                unsafe { EntityIds::slices(ptrs.entities, start, len) }
            }
        }
        // SAFETY: each row of a table has its entity.
        unsafe impl DenseFetch for $term {}
    };
}
whole_term!(WholeRow, writes: false, EntityPeek);
whole_term!(WholeRowMut, writes: true, EntityCell);
// SAFETY: reports a read.
unsafe impl ReadFetch for WholeRow {}

impl Sealed for TableOf {}
// SAFETY: reaches no values, only the directory, which stands still while rows are borrowed; every place is found.
unsafe impl Fetch for TableOf {
    type Ids = ();
    type Item<'a> = TableId;
    type Slices<'a> = TableId;
    type ReadOnly = Self;
    /// The directory: a walk along a set does not say which table a row's entity is in.
    type Cells = (*const Store, <EntityIds as Fetch>::Cells);
    type Ptrs = (*const Store, <EntityIds as Fetch>::Ptrs, usize);
    type SparseRows = ();
    const DENSE: bool = true;
    const WRITES: bool = false;
    const TABLELESS: bool = true;

    #[inline(always)]
    fn visit((): (), _: &mut dyn FnMut(Access)) {}
    #[inline]
    fn cells(store: &Store, (): (), now: Tick) -> Self::Cells {
        (store, EntityIds::cells(store, (), now))
    }
    #[inline]
    unsafe fn find((store, entities): Self::Cells, table: usize) -> Option<Self::Ptrs> {
        // SAFETY: forwarded: the store has this table.
        Some((store, unsafe { EntityIds::find(entities, table) }?, table))
    }
    #[inline]
    fn rowless((store, entities, _): Self::Ptrs, entity: &Entity) -> Self::Ptrs {
        (store, EntityIds::rowless(entities, entity), TableId::ROWLESS.index())
    }
    #[inline]
    unsafe fn sparse_rows(_: Self::Ptrs, _: Entity, _: Known) -> Option<()> {
        Some(())
    }
    #[inline]
    unsafe fn item<'a>((store, entities, _): Self::Ptrs, row: usize, (): ()) -> Self::Item<'a> {
        // SAFETY: forwarded: the store lives and stands still, and the row has its entity (I5, I10).
        unsafe { (*store).locate(EntityIds::item(entities, row, ())) }
            .map_or(TableId::ROWLESS, |location| location.table)
    }
    #[inline]
    unsafe fn slices<'a>((_, _, table): Self::Ptrs, _: usize, _: usize) -> Self::Slices<'a> {
        TableId::from_index(table)
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for TableOf {}
// SAFETY: all rows of a run are in one table.
unsafe impl DenseFetch for TableOf {}
