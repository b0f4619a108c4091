//! The plan of a set: how values of one type go in and out, worked out and checked once.
//!
//! A plan is made for one type of values, and for one set of one store. It is kept without that type, so that the plans
//! of many sets fit in one array; what is asked for each value is whether store and type are the right ones.

use std::any::TypeId;
use std::fmt;

use super::pinned::SetAddress;
use super::{SetId, SparseSet};
use crate::column_id::AnyColId;
use crate::plan::{PlanError, distinct_columns};
use crate::store::Store;
use crate::table_columns::{ColumnList, ColumnPlace, Columns};
use crate::values::Values;

/// How values go in and out of one set.
#[derive(Clone)]
pub struct SetPlan {
    store: u64,
    /// The set, which lives as long as its store.
    at: SetAddress,
    /// The first of the columns, found without going through the list: most sets have no other.
    first: Option<ColumnPlace>,
    /// The columns of the values, all of them there.
    slots: Box<ColumnList>,
    values: TypeId,
    pub(super) set: SetId,
    /// The number of the column of the only value; no column's where there are several.
    lone: u32,
    /// The same, if the plan is open; no column's otherwise.
    open: u32,
}

/// The number of no column.
const NO_COLUMN: u32 = u32::MAX;

impl SetPlan {
    /// A plan for no values of no store, to stand where there is none.
    pub fn closed() -> Self {
        /// The values of no component.
        struct Nothing;
        Self {
            store: 0,
            at: SetAddress::none(),
            first: None,
            slots: Box::default(),
            values: TypeId::of::<Nothing>(),
            set: SetId(u32::MAX),
            lone: NO_COLUMN,
            open: NO_COLUMN,
        }
    }

    /// Sets whether [`SetPlan::is_open_for`] the column of its only value. A new plan is not.
    pub fn set_open(&mut self, open: bool) {
        self.open = if open { self.lone } else { NO_COLUMN };
    }

    /// Whether the plan is open, and for values of this column alone: one comparison, which also tells that the plan
    /// is the right one.
    #[inline(always)]
    pub fn is_open_for(&self, column: AnyColId) -> bool {
        self.open == column.number()
    }

    /// The set.
    pub fn set(&self) -> SetId {
        self.set
    }

    /// Where the columns of the values are.
    ///
    /// # Safety
    /// The plan is for `V`.
    #[inline(always)]
    pub(super) unsafe fn pointers<V: Values>(&self) -> V::Pointers {
        // SAFETY: forwarded: a column was found for each value of `V` (I7), and the list keeps all of them where they are (I3).
        unsafe {
            match &self.first {
                Some(first) if V::COLUMNS == 1 => V::pointers(&mut Columns::one(first)),
                _ => V::pointers(&mut self.slots.exactly(V::COLUMNS)),
            }
        }
    }

    /// The set.
    ///
    /// # Safety
    /// The plan is of a store that is borrowed exclusively for `'s`. Whatever else of that store is used meanwhile is not
    /// the set.
    #[inline(always)]
    pub(super) unsafe fn set_mut<'s>(&self) -> &'s mut SparseSet {
        // SAFETY: forwarded: the set lives as long as its store, where it is (I10).
        unsafe { self.at.get_mut() }
    }
}

impl fmt::Debug for SetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetPlan").field("set", &self.set).finish_non_exhaustive()
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
        self.expect_writable(set);
        let table = self.set(set).table;
        let columns = &self.tables[table.index()];
        let value_columns = distinct_columns::<V>(ids)?;
        if let Some(&column) = value_columns.iter().find(|&&column| !columns.has(column)) {
            return Err(PlanError::ColumnMismatch(column));
        }
        let mut optional = Vec::new();
        V::optional(&mut optional);
        if let Some(at) = optional.iter().position(|&may_lack| may_lack) {
            return Err(PlanError::ColumnMismatch(value_columns[at]));
        }
        if let Some(column) = columns.ids().find(|column| !value_columns.contains(column)) {
            return Err(PlanError::Unfilled(column));
        }
        let slots = columns.select(&value_columns);
        Ok(SetPlan {
            store: self.id,
            at: self.sets[set.index()].address(),
            first: slots.first(),
            slots: Box::new(slots),
            values: TypeId::of::<V>(),
            set,
            lone: V::lone(ids).map_or(NO_COLUMN, AnyColId::number),
            open: NO_COLUMN,
        })
    }

    #[inline(always)]
    pub(super) fn expect_set_plan<V: Values>(&self, plan: &SetPlan, ids: V::Ids) {
        let fits = match V::lone(ids) {
            // A column holds one type (I1), so that the only column tells as much as the type of the values.
            Some(column) => plan.is_open_for(column) || plan.lone == column.number(),
            None => plan.values == TypeId::of::<V>(),
        };
        assert!(
            fits && plan.store == self.id,
            "a set plan serves only the store and the values it was made for"
        );
    }
}
