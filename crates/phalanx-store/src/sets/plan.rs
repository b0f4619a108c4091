//! The plan of a set: how values of one type go in and out, worked out and checked once.
//!
//! A plan is made for one type of values, and for one set of one store. It is kept without that type, so that the plans
//! of many sets fit in one array; what is asked for each value is whether store and type are the right ones.

use std::any::TypeId;
use std::ptr::NonNull;

use super::{SetId, SparseSet};
use crate::column_id::AnyColId;
use crate::headers::ColumnRef;
use crate::place::TableId;
use crate::plan::{PlanError, distinct_leaves, slots};
use crate::store::Store;
use crate::values::Values;

/// How values go in and out of one set.
#[derive(Clone, Debug)]
pub struct SetPlan {
    store: u64,
    /// Sets are never dropped, so this lives as long as the store, and so do the columns.
    pub(super) set: NonNull<SparseSet>,
    /// The column of the first leaf, which most values have alone.
    first: ColumnRef,
    leaves: Box<Leaves>,
    /// The number of the column of the values' only leaf; no column's where there are several.
    lone: u32,
    id: SetId,
    pub(super) table: TableId,
    pub(super) stable: bool,
}

/// The number of no column.
const NO_COLUMN: u32 = u32::MAX;

/// What a plan knows of values with several leaves; apart, so that the rest fits in a line of memory.
#[derive(Clone, Debug)]
struct Leaves {
    values: TypeId,
    columns: Box<[ColumnRef]>,
}

// SAFETY: a plan only points at sets and headers, which are reached through the store that made it (I7).
unsafe impl Send for SetPlan {}
// SAFETY: as above.
unsafe impl Sync for SetPlan {}

impl SetPlan {
    /// A plan for no values of no store, to stand where there is none.
    pub fn closed() -> Self {
        /// Nobody's values.
        struct Nothing;
        Self {
            store: 0,
            set: NonNull::dangling(),
            first: ColumnRef::ABSENT,
            leaves: Box::new(Leaves { values: TypeId::of::<Nothing>(), columns: Box::default() }),
            lone: NO_COLUMN,
            id: SetId(u32::MAX),
            table: TableId::DEAD,
            stable: false,
        }
    }

    /// The set.
    pub fn set(&self) -> SetId {
        self.id
    }

    /// The base pointers of the leaves' columns.
    ///
    /// # Safety
    /// The plan is for `V`, and its store lives.
    #[inline(always)]
    pub(super) unsafe fn pointers<V: Values>(&self) -> V::Pointers {
        debug_assert_eq!(self.leaves.columns.len(), V::LEAVES);
        let slots = if V::LEAVES == 1 { std::slice::from_ref(&self.first) } else { &*self.leaves.columns };
        // SAFETY: a slot per leaf, each a column of the set, whose table lives as long as the store (I1, I7).
        unsafe {
            for at in 0..V::LEAVES {
                std::hint::assert_unchecked(!slots.get_unchecked(at).is_absent());
            }
            V::pointers(&mut slots.iter())
        }
    }
}

impl Store {
    /// How values of `V` go in and out of a set, checked once.
    ///
    /// # Errors
    /// When the columns of `V` are not exactly those of the set.
    ///
    /// # Panics
    /// When the set is that of a group's members.
    pub fn set_plan<V: Values>(&self, set: SetId, ids: V::Ids) -> Result<SetPlan, PlanError> {
        let SparseSet { table, stable, of_group, .. } = *self.set(set);
        assert!(!of_group, "only groups write the set of their members");
        let columns = &self.tables[table.index()];
        let leaves = distinct_leaves::<V>(ids)?;
        if let Some(&column) = leaves.iter().find(|&&column| !columns.has(column)) {
            return Err(PlanError::Misplaced(column));
        }
        let mut optional = Vec::new();
        V::optional(&mut optional);
        if let Some(at) = optional.iter().position(|&may_lack| may_lack) {
            return Err(PlanError::Misplaced(leaves[at]));
        }
        if let Some(column) = columns.ids().find(|column| !leaves.contains(column)) {
            return Err(PlanError::Unfilled(column));
        }
        let columns = slots(columns, &leaves);
        Ok(SetPlan {
            store: self.id,
            set: self.sets[set.index()].0,
            first: columns.first().copied().unwrap_or(ColumnRef::ABSENT),
            leaves: Box::new(Leaves { values: TypeId::of::<V>(), columns }),
            lone: V::lone(ids).map_or(NO_COLUMN, AnyColId::number),
            id: set,
            table,
            stable,
        })
    }

    #[inline(always)]
    pub(super) fn expect_set_plan<V: Values>(&self, plan: &SetPlan, ids: V::Ids) {
        let fits = match V::lone(ids) {
            // A column holds one type (I1), so that the only column tells as much as the type of the values.
            Some(column) => plan.lone == column.number(),
            None => plan.leaves.values == TypeId::of::<V>(),
        };
        assert!(
            fits && plan.store == self.id,
            "a set plan serves only the store and the values it was made for"
        );
    }
}
